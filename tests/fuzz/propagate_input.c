/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/propagate_input.h"

#include <float.h>
#include <math.h>

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }
static int rarely(fuzz *f) { return fuzz_rarely(&f->bytes); }

static double value(fuzz *f) {
    static const double table[] = {0,    1,       -1,      0.5,   1e-9,  1e-6,   -1e-6,       1e-300,   4.9e-324,  1e9,
                                   1e15, 9.9e19,  -9.9e19, 1e20,  -1e20, 1e100,  -1e100,      INFINITY, -INFINITY, NAN,
                                   3e38, 1.2e-38, -0.0,    1e300, 1e8,   0x1p53, 0x1.8p-1030, 1.0 / 3};
    unsigned tag = take(f), k;
    double raw;
    unsigned char bytes[sizeof raw];
    if (tag < 100) return (double)((int)take(f) - 128);
    if (tag < 160) return ((int)take(f) - 128) * 0.1;
    if (tag < 240) return table[tag % (sizeof table / sizeof *table)];
    for (k = 0; k < sizeof raw; k++) bytes[k] = (unsigned char)take(f);
    memcpy(&raw, bytes, sizeof raw);
    return raw;
}

static double slack(fuzz *f) {
    static const double table[] = {0, 0, 0.125, 0.1, 1, 3.7, 50, INFINITY};
    return table[take(f) % 8];
}

int input_valid_pair(const fuzz *f, double low, double high) { return low < f->infinity && high > -f->infinity; }

static void clean_pair(const fuzz *f, double *low, double *high) {
    if (f->dirty) return;
    if (!(*low < f->infinity)) *low = -INFINITY;
    if (!(*high > -f->infinity)) *high = INFINITY;
}

void input_bounds(fuzz *f, int32_t col, double *lb, double *ub) {
    *lb = f->planted ? f->x[col] - slack(f) : value(f);
    *ub = f->planted ? f->x[col] + slack(f) : value(f);
    clean_pair(f, lb, ub);
}

void input_sides(fuzz *f, int32_t row, double *lhs, double *rhs) {
    int64_t k;
    double activity = 0; /* exact: small integers times eighths */
    for (k = f->start[row]; f->planted && k < f->start[row + 1]; k++) activity += f->val[k] * f->x[f->col[k]];
    *lhs = f->planted ? activity - slack(f) : value(f);
    *rhs = f->planted ? activity + slack(f) : value(f);
    clean_pair(f, lhs, rhs);
    if (!f->dirty && *lhs > *rhs) *lhs = *rhs;
    clean_pair(f, lhs, rhs);
}

double input_coefficient(fuzz *f) {
    double low = f->desc.precision == GPUOPT_PRECISION_FP32 ? (double)FLT_MIN : 0;
    double high = f->desc.precision == GPUOPT_PRECISION_FP32 ? (double)FLT_MAX : DBL_MAX, a;
    if (f->planted) return (double)(1 + take(f) % 8 * (take(f) % 143)) * (take(f) % 2 ? 1 : -1); /* at most 1000 */
    a = value(f);
    return f->dirty || (fabs(a) > low && fabs(a) <= high) ? a : 1;
}

void *input_own(fuzz *f, const void *from, int64_t count, size_t size) {
    void *copy = malloc(count > 0 ? (size_t)count * size : 1);
    if (count > 0) memcpy(copy, from, (size_t)count * size);
    return f->owned[f->owned_count++] = copy;
}

void input_disown(fuzz *f) {
    while (f->owned_count > 0) free(f->owned[--f->owned_count]);
}

static double make_tolerance(fuzz *f, double most) {
    double t = take(f) % 4 ? 0 : value(f);
    return f->dirty || (t >= 0 && t <= most) ? t : 0;
}

void input_make(fuzz *f) {
    gpuopt_propagator_desc *d = &f->desc;
    gpuopt_propagator_tolerances *t = &f->tolerances;
    int32_t i, j, rows = (int32_t)(take(f) % (MOST + 1)), cols = (int32_t)(take(f) % (MOST + 1));
    unsigned kind = take(f), density = take(f) / 2;
    gpuopt_desc_init(d, sizeof *d);
    f->planted = kind % 2;
    f->dirty = !f->planted && kind % 8 == 0;
    gpuopt_desc_init(t, sizeof *t);
    d->tolerances = t;
    if (kind & 16) gpuopt_propagator_tolerances_tune(t, (gpuopt_propagator_settings)(take(f) % 4));
    else
        t->feasibility = make_tolerance(f, 0.1), t->integrality = make_tolerance(f, 0.4),
        t->least_change = make_tolerance(f, 1e9), t->least_change_relative = make_tolerance(f, 1),
        t->huge_value = make_tolerance(f, 1e100);
    if (!f->dirty && t->huge_value < 1) t->huge_value = 0;
    if (kind & 32) d->infinity = f->planted ? 1e9 : fabs(value(f));
    if (!f->dirty && !(d->infinity >= 1)) d->infinity = 0;
    d->round_limit = (int32_t)(kind & 64 ? take(f) % 8 : 0);
    d->precision = (gpuopt_propagator_precision)(take(f) % 4 == 3);
    d->mode = (gpuopt_propagator_mode)(take(f) % 4 == 3);
    d->marking = (gpuopt_switch)(take(f) % 3);
    if (f->dirty && rarely(f)) d->mode = (gpuopt_propagator_mode)(int)take(f);
    f->infinity = d->infinity > 0 ? d->infinity : 1e20;
    f->feasibility = t->feasibility > 0 ? t->feasibility : 1e-6;
    f->integrality = t->integrality > 0 ? t->integrality : 1e-6;
    for (j = 0; j < cols; j++) {
        f->integer[j] = (uint8_t)(take(f) % 2);
        f->x[j] = f->integer[j] ? (double)((int)take(f) - 128) : ((int)take(f) - 128) * 0.125;
        input_bounds(f, j, &f->lb[j], &f->ub[j]);
        if (f->binaries && f->integer[j] && take(f) % 2) f->x[j] = take(f) % 2, f->lb[j] = 0, f->ub[j] = 1;
    }
    for (i = 0; i < rows; i++) {
        int64_t k = f->start[i];
        for (j = 0; j < cols; j++)
            if (take(f) <= density) f->col[k] = j, f->val[k++] = input_coefficient(f);
        f->start[i + 1] = k;
        input_sides(f, i, &f->lhs[i], &f->rhs[i]);
    }
    for (i = 0; f->dirty && i <= rows; i++)
        if (rarely(f)) f->start[i] = (int)(take(f) % MOST) - 2;
    if (f->dirty && f->start[rows] > 0 && rarely(f)) f->col[take(f) % f->start[rows]] = (int32_t)take(f) - 128;
    d->matrix.rows = rows;
    d->matrix.cols = cols;
    d->matrix.start = (const int64_t *)input_own(f, f->start, rows + 1, sizeof *f->start);
    d->matrix.index = (const int32_t *)input_own(f, f->col, f->start[rows], sizeof *f->col);
    d->matrix.value = (const double *)input_own(f, f->val, f->start[rows], sizeof *f->val);
    for (i = 0; kind & 128 && i < rows; i++) f->lhs[i] = -INFINITY;
    d->lhs = kind & 128 ? NULL : (const double *)input_own(f, f->lhs, rows, sizeof *f->lhs);
    d->rhs = (const double *)input_own(f, f->rhs, rows, sizeof *f->rhs);
    d->lb = (const double *)input_own(f, f->lb, cols, sizeof *f->lb);
    d->ub = f->dirty && rarely(f) ? NULL : (const double *)input_own(f, f->ub, cols, sizeof *f->ub);
    d->integer = (const uint8_t *)input_own(f, f->integer, cols, 1);
    if (f->dirty && rarely(f)) d->matrix.rows = -d->matrix.rows;
    if (f->dirty && rarely(f)) d->struct_size = offsetof(gpuopt_propagator_desc, infinity);
}
