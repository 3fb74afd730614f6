/* SPDX-License-Identifier: MIT
 *
 * Models of the examples for COIN-OR's solvers.
 */
#ifndef EXAMPLES_HOSTS_COIN_MODEL_HPP
#define EXAMPLES_HOSTS_COIN_MODEL_HPP

#include <cmath>
#include <cstdio>
#include <vector>

#include "CoinPackedMatrix.hpp"

#include "examples/io/mip.h"

/* Reads a model by mip_load() and gives it to load(columns, lb, ub, cost, lhs, rhs), with infinite bounds as
 * COIN_DBL_MAX. Returns the model, whose arrays belong to the caller; start is NULL: it was not read. */
template <class Load>
mip load_model(const char *name, Load load) {
    mip model = {};
    char error[1024];
    if (mip_load(name, &model, error, sizeof error) || mip_columns(&model)) {
        std::fprintf(stderr, "%s\n", error);
        model.columns.start = nullptr;
        return model;
    }
    int rows = model.columns.rows, cols = model.columns.cols;
    std::vector<CoinBigIndex> start(model.columns.start, model.columns.start + cols + 1);
    std::vector<double> cost((size_t)cols + 1);
    auto open = [](double *value, int count) {
        for (int k = 0; k < count; k++)
            if (std::fabs(value[k]) >= 1e20) value[k] = value[k] > 0 ? COIN_DBL_MAX : -COIN_DBL_MAX;
    };
    if (model.cost) cost.assign(model.cost, model.cost + cols);
    open(model.lb, cols), open(model.ub, cols), open(model.lhs, rows), open(model.rhs, rows);
    CoinPackedMatrix matrix(true, rows, cols, start[cols], model.columns.value, model.columns.index, start.data(),
                            nullptr);
    load(matrix, model.lb, model.ub, cost.data(), model.lhs, model.rhs);
    return model;
}

#endif /* EXAMPLES_HOSTS_COIN_MODEL_HPP */
