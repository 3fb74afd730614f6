/* SPDX-License-Identifier: MIT */
#include "examples/io/lp_check.h"

#include <math.h>
#include <stdlib.h>

static const double no_bound = 1e20;

/* NaN, once it is there, stays. */
static double larger(double a, long double b) { return isnan(a) || b <= a ? a : (double)b; }

/* A x [rows], to be freed, or NULL. */
static long double *activities(const mip *model, const double *x) {
    const gpuopt_matrix *a = &model->columns;
    long double *sum = calloc((size_t)a->rows + 1, sizeof *sum);
    int32_t j;
    int64_t k;
    for (j = 0; sum && j < a->cols; j++)
        for (k = a->start[j]; k < a->start[j + 1]; k++) sum[a->index[k]] += (long double)a->value[k] * x[j];
    return sum;
}

static long double dot_column(const gpuopt_matrix *a, int32_t j, const double *y) {
    long double sum = 0;
    int64_t k;
    for (k = a->start[j]; k < a->start[j + 1]; k++) sum += (long double)a->value[k] * y[a->index[k]];
    return sum;
}

double lp_objective(const mip *model, const double *x) {
    long double sum = model->offset;
    int32_t j;
    for (j = 0; model->cost && j < model->columns.cols; j++) sum += (long double)model->cost[j] * x[j];
    return (double)sum;
}

static double outside(double worst, long double value, double low, double high) {
    if (low > -no_bound) worst = larger(worst, low - value);
    if (high < no_bound) worst = larger(worst, value - high);
    return worst;
}

double lp_primal_violation(const mip *model, const double *x) {
    long double *activity = activities(model, x);
    double worst = activity ? 0 : NAN;
    int32_t k;
    for (k = 0; activity && k < model->columns.cols; k++) worst = outside(worst, x[k], model->lb[k], model->ub[k]);
    for (k = 0; activity && k < model->columns.rows; k++)
        worst = outside(worst, activity[k], model->lhs[k], model->rhs[k]);
    free(activity);
    return worst;
}

/* `cost` is the reduced cost, of a minimisation, of a value between the two. */
static double calls_for_change(double worst, long double cost, long double value, double low, double high) {
    long double capacity = HUGE_VALL;
    if (cost > 0 && low > -no_bound) capacity = fmaxl(0, value - low);
    if (cost < 0 && high < no_bound) capacity = fmaxl(0, high - value);
    return larger(worst, capacity < fabsl(cost) ? capacity : fabsl(cost));
}

double lp_dual_violation(const mip *model, const double *x, const double *dual) {
    const gpuopt_matrix *a = &model->columns;
    long double *activity = activities(model, x), sense = model->maximize ? -1 : 1;
    double worst = activity ? 0 : NAN;
    int32_t k;
    for (k = 0; activity && k < a->cols; k++) {
        long double cost = sense * ((model->cost ? model->cost[k] : 0) - dot_column(a, k, dual));
        worst = calls_for_change(worst, cost, x[k], model->lb[k], model->ub[k]);
    }
    for (k = 0; activity && k < a->rows; k++)
        worst = calls_for_change(worst, sense * dual[k], activity[k], model->lhs[k], model->rhs[k]);
    free(activity);
    return worst;
}

static int has_entries(const gpuopt_matrix *columns, int32_t row) {
    int64_t at, found = 0;
    for (at = 0; at < columns->start[columns->cols]; at++) found += columns->index[at] == row;
    return found > 0;
}

lp_proof lp_farkas(const mip *model, const double *y) {
    const gpuopt_matrix *a = &model->columns;
    long double gap = 0;
    double residual = 0, scale = 0, largest = 0;
    int32_t k, first = 0;
    int64_t at;
    for (at = 0; at < a->start[a->cols]; at++)
        scale = larger(scale, fabsl((long double)a->value[at] * y[a->index[at]]));
    for (k = 0; k < a->rows; k++) {
        if (fabs(y[k]) > largest) first = k;
        largest = larger(largest, fabs(y[k]));
    }
    /* An empty row may be the proof by itself, and products be nothing but rounding. */
    if (a->rows > 0 && !has_entries(a, first)) scale = larger(scale, largest);
    for (k = 0; k < a->cols; k++) {
        long double weight = dot_column(a, k, y);
        double bound = weight > 0 ? model->lb[k] : model->ub[k];
        if (fabs(bound) < no_bound) gap += weight * bound;
        else residual = larger(residual, fabsl(weight) / scale);
    }
    for (k = 0; k < a->rows; k++) {
        double side = y[k] > 0 ? model->rhs[k] : model->lhs[k];
        if (fabs(side) < no_bound) gap -= (long double)y[k] * side;
        else residual = larger(residual, fabs(y[k]) / largest);
    }
    return (lp_proof){(double)(gap / scale), residual};
}

lp_proof lp_crossing(const mip *model, int32_t col) { return (lp_proof){model->lb[col] - model->ub[col], 0}; }

/* How far a direction moves towards a finite end of its interval. */
static double towards(double worst, long double direction, double low, double high) {
    if (direction > 0 && high < no_bound) worst = larger(worst, direction);
    if (direction < 0 && low > -no_bound) worst = larger(worst, -direction);
    return worst;
}

lp_proof lp_ray(const mip *model, const double *ray) {
    long double *activity = activities(model, ray), gain = 0;
    double residual = activity ? 0 : NAN, norm = 0;
    int32_t k;
    for (k = 0; k < model->columns.cols; k++) {
        norm = larger(norm, fabs(ray[k]));
        residual = towards(residual, ray[k], model->lb[k], model->ub[k]);
        if (model->cost) gain += (long double)model->cost[k] * ray[k];
    }
    for (k = 0; activity && k < model->columns.rows; k++)
        residual = towards(residual, activity[k], model->lhs[k], model->rhs[k]);
    free(activity);
    return (lp_proof){(double)((model->maximize ? gain : -gain) / norm), residual / norm};
}
