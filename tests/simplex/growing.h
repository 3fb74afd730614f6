/* SPDX-License-Identifier: MIT
 *
 * A small dense model with rows and columns that are added and removed, beside a handle with the same changes.
 */
#ifndef TESTS_SIMPLEX_GROWING_H
#define TESTS_SIMPLEX_GROWING_H

#include "tests/simplex/answer.h"

enum { ROOM = 40 };
typedef struct growing {
    int32_t rows, cols;
    int maximize;
    double a[ROOM][ROOM], cost[ROOM], lhs[ROOM], rhs[ROOM], lb[ROOM], ub[ROOM];
} growing;

mip growing_mip(const growing *g);
growing growing_of(const mip *m);

/* Rows first .. rows - 1, or columns, of the model as a matrix of either layout. */
typedef struct growing_lines {
    gpuopt_matrix matrix;
    int64_t start[ROOM + 1];
    int32_t index[ROOM * ROOM];
    double value[ROOM * ROOM];
} growing_lines;
const gpuopt_matrix *growing_matrix(growing_lines *l, const growing *g, int by_rows, int32_t first,
                                    gpuopt_layout layout);
/* Removes a row or column from the model alone. */
void growing_take_out(growing *g, int by_rows, int32_t at);

/* With spare capacity for `most` rows and columns in all, which `spare` describes. */
gpuopt_simplex_desc growing_desc(const mip *m, int32_t most, gpuopt_spare *spare);
/* Adds, or removes, `count` rows or columns at random. */
void growing_add(uint64_t *seed, gpuopt_simplex *s, growing *g, int by_rows, int32_t count);
void growing_remove(uint64_t *seed, gpuopt_simplex *s, growing *g, int by_rows, int32_t count);
/* Adds, removes or changes. */
void growing_change(uint64_t *seed, gpuopt_simplex *s, growing *g, int32_t most);
/* The largest entry of B^-1 B - I, by the calls for solves on the CPU's data. */
double growing_inverse_error(gpuopt_simplex *s, const growing *g);

#endif /* TESTS_SIMPLEX_GROWING_H */
