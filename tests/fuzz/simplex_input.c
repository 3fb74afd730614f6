/* SPDX-License-Identifier: MIT
 *
 * simplex_input.h.
 */
#include "tests/fuzz/simplex_input.h"

#include <math.h>

unsigned input_take(fuzz *f) { return fuzz_take(&f->bytes); }
int input_whole(fuzz *f) { return (int)(input_take(f) % 19) - 9; }

void input_interval(fuzz *f, double *low, double *high) {
    unsigned kind = input_take(f) % 8;
    int a = input_whole(f), b = input_whole(f);
    *low = kind == 1 || kind == 3 ? -INFINITY : kind >= 6 ? 0 : a < b ? a : b;
    *high = kind == 2 || kind == 3 ? INFINITY : kind == 0 ? *low : kind >= 6 ? abs(b) + 1 : a < b ? b : a;
}

void input_make(fuzz *f) {
    gpuopt_simplex_desc *d = &f->desc;
    int row_exponent[MOST] = {0}, col_exponent[MOST] = {0}, wide = f->wide = input_take(f) % 3 == 0, i, j;
    int64_t e = 0;
    f->rows = (int32_t)(input_take(f) % (MOST + 1));
    f->cols = (int32_t)(input_take(f) % (MOST + 1));
    f->both = f->rows + f->cols;
    f->largest = 1;
    for (i = 0; i < f->rows; i++) {
        input_interval(f, &f->lhs[i], &f->rhs[i]);
        if (wide) row_exponent[i] = (int)(input_take(f) % 41) - 20;
        f->exponent[f->cols + i] = row_exponent[i];
        f->l[f->cols + i] = ldexp(f->lhs[i], row_exponent[i]);
        f->u[f->cols + i] = ldexp(f->rhs[i], row_exponent[i]);
    }
    for (j = 0; j < f->cols; j++) {
        input_interval(f, &f->lb[j], &f->ub[j]);
        f->cost[j] = input_whole(f);
        if (wide) col_exponent[j] = (int)(input_take(f) % 41) - 20;
        f->exponent[j] = -col_exponent[j];
        f->l[j] = ldexp(f->lb[j], -col_exponent[j]);
        f->u[j] = ldexp(f->ub[j], -col_exponent[j]);
        f->c[j] = ldexp(f->cost[j], col_exponent[j]);
        for (i = 0; i < f->rows; i++) {
            int v = input_take(f) % 3 ? input_whole(f) : 0;
            if (v == 0) continue;
            f->index[e] = i;
            f->value[e] = v;
            f->scaled_value[e++] = f->a[i][j] = ldexp(v, row_exponent[i] + col_exponent[j]);
            f->largest = fmax(f->largest, fabs(f->a[i][j]));
        }
        f->start[j + 1] = e;
    }
    gpuopt_desc_init(d, sizeof *d);
    gpuopt_desc_init(&f->rules, sizeof f->rules);
    gpuopt_desc_init(&f->spare, sizeof f->spare);
    d->rules = &f->rules;
    d->spare = &f->spare;
    d->matrix = (gpuopt_matrix){f->rows, f->cols, f->start, f->index, f->scaled_value, GPUOPT_LAYOUT_CSC};
    d->cost = f->c, d->lb = f->l, d->ub = f->u, d->lhs = f->l + f->cols, d->rhs = f->u + f->cols;
    d->maximize = input_take(f) & 1;
    d->offset = input_take(f) % 5;
    d->method = (gpuopt_simplex_method)(1 + input_take(f) % 2);
    f->rules.pricing = (gpuopt_simplex_pricing)(input_take(f) % 3);
    f->rules.ratio = (gpuopt_simplex_ratio)(input_take(f) % 3);
    f->rules.perturbation = (gpuopt_switch)(input_take(f) % 3);
    f->rules.scaling = wide ? GPUOPT_DEFAULT : (gpuopt_switch)(input_take(f) % 3);
    f->rules.seed = input_take(f);
    f->rules.deferred_pivots = (int32_t)(input_take(f) % 6);
    f->rules.rebuild_pivots = (int32_t)(input_take(f) % 8);
    d->algorithm = (gpuopt_simplex_algorithm)((input_take(f) + 1) % 3);
    f->rules.dual_pricing = (gpuopt_simplex_dual_pricing)(input_take(f) % 3);
    f->spare.rows = MOST - f->rows;
    f->spare.cols = MOST - f->cols;
    f->spare.nonzeros = MOST * MOST - e;
}
