/* SPDX-License-Identifier: MIT */
#include "tests/basis/basis.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

/* ---- Bases ---- */

basis_model basis_new(int32_t m) {
    basis_model b;
    b.m = m;
    b.entry = zeroed((size_t)m * (size_t)m, sizeof *b.entry);
    b.start = zeroed((size_t)m + 1, sizeof *b.start);
    b.row = zeroed((size_t)m * (size_t)m, sizeof *b.row);
    b.val = zeroed((size_t)m * (size_t)m, sizeof *b.val);
    return b;
}

void basis_free(basis_model *b) {
    free(b->entry);
    free(b->start);
    free(b->row);
    free(b->val);
}

gpuopt_matrix basis_columns(basis_model *b) {
    gpuopt_matrix c;
    int64_t k = 0;
    int32_t i, j;
    for (j = 0; j < b->m; j++) {
        for (i = 0; i < b->m; i++)
            if (b->entry[(int64_t)j * b->m + i] != 0) {
                b->row[k] = i;
                b->val[k++] = b->entry[(int64_t)j * b->m + i];
            }
        b->start[j + 1] = k;
    }
    c.rows = c.cols = b->m;
    c.start = b->start;
    c.index = b->row;
    c.value = b->val;
    c.layout = GPUOPT_LAYOUT_CSC;
    return c;
}

static double draw(uint64_t *seed) { return 2 * test_random(seed) - 1; }

/* In [-1.5, -0.5] or [0.5, 1.5]: not near 0. */
static double draw_large(uint64_t *seed) {
    double x = draw(seed);
    return x < 0 ? x - 0.5 : x + 0.5;
}

static void shuffle(int32_t *order, int32_t m, uint64_t *seed) {
    int32_t i;
    for (i = 0; i < m; i++) order[i] = i;
    for (i = m - 1; i > 0; i--) {
        int32_t j = (int32_t)test_random_int(seed, 0, i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

basis_model basis_draw(basis_kind kind, int32_t m, uint64_t seed) {
    basis_model b = basis_new(m);
    int32_t i, j, k, *rows = zeroed((size_t)m, sizeof *rows), *cols = zeroed((size_t)m, sizeof *cols);
    double *at = b.entry;
    shuffle(rows, m, &seed);
    shuffle(cols, m, &seed);
    for (j = 0; j < m; j++) switch (kind) {
        case BASIS_SPARSE:
            for (k = 0; k < 3; k++) at[(int64_t)j * m + test_random_int(&seed, 0, m - 1)] = draw(&seed);
            at[(int64_t)j * m + rows[j]] = 3 * draw_large(&seed);
            break;
        case BASIS_TRIANGULAR:
            for (i = j + 1; i < m && i < j + 20; i++)
                if (test_random(&seed) < 0.3) at[(int64_t)cols[j] * m + rows[i]] = 0.3 * draw(&seed);
            at[(int64_t)cols[j] * m + rows[j]] = draw_large(&seed);
            break;
        case BASIS_SLACKS:
            if (cols[j] % 3) at[(int64_t)j * m + rows[j]] = cols[j] % 2 ? 1 : -1;
            else
                for (i = 0; i < m; i++) at[(int64_t)j * m + i] = draw(&seed);
            break;
        default:
            for (i = 0; i < m; i++) at[(int64_t)j * m + i] = draw(&seed);
            break;
        }
    if (kind == BASIS_SCALED)
        for (j = 0; j < m; j++)
            for (i = 0; i < m; i++) at[(int64_t)j * m + i] *= pow(10, rows[i] % 13 - 6 + cols[j] % 13 - 6);
    free(rows);
    free(cols);
    return b;
}

basis_model basis_hilbert(int32_t m) {
    basis_model b = basis_new(m);
    int32_t i, j;
    for (j = 0; j < m; j++)
        for (i = 0; i < m; i++) b.entry[(int64_t)j * m + i] = 1 / (double)(i + j + 1);
    return b;
}

/* ---- The reference ---- */

int basis_invert(const basis_model *b, long double *inverse) {
    int32_t m = b->m, i, j, k, n, *pivot_row = zeroed((size_t)m, sizeof *pivot_row);
    int32_t *pivot_col = zeroed((size_t)m, sizeof *pivot_col);
    char *row_done = zeroed((size_t)m, 1), *col_done = zeroed((size_t)m, 1);
    long double *a = zeroed((size_t)m * (size_t)m, sizeof *a); /* row after row; inverted in place */
    int regular = 1;
    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++) a[(int64_t)i * m + j] = b->entry[(int64_t)j * m + i];
    for (n = 0; n < m && regular; n++) {
        int32_t p = -1, q = -1;
        long double most = 0, inverse_pivot;
        for (i = 0; i < m; i++)
            for (j = 0; j < m; j++)
                if (!row_done[i] && !col_done[j] && fabsl(a[(int64_t)i * m + j]) > most) {
                    most = fabsl(a[(int64_t)i * m + j]);
                    p = i;
                    q = j;
                }
        if (p < 0) {
            regular = 0;
            break;
        }
        row_done[p] = col_done[q] = 1;
        pivot_row[n] = p;
        pivot_col[n] = q;
        inverse_pivot = 1 / a[(int64_t)p * m + q];
        for (j = 0; j < m; j++) a[(int64_t)p * m + j] *= inverse_pivot;
        a[(int64_t)p * m + q] = inverse_pivot;
        for (i = 0; i < m; i++) {
            long double factor = a[(int64_t)i * m + q];
            if (i == p || factor == 0) continue;
            a[(int64_t)i * m + q] = 0;
            for (j = 0; j < m; j++) a[(int64_t)i * m + j] -= factor * a[(int64_t)p * m + j];
        }
    }
    if (regular) /* row p holds row q of the inverse, and column q its column p */
        for (n = 0; n < m; n++)
            for (k = 0; k < m; k++)
                inverse[(int64_t)pivot_col[n] * m + pivot_row[k]] = a[(int64_t)pivot_row[n] * m + pivot_col[k]];
    free(a);
    free(pivot_row);
    free(pivot_col);
    free(row_done);
    free(col_done);
    return regular;
}

basis_scale basis_scale_of(const basis_model *b, const long double *inverse) {
    basis_scale s;
    int32_t m = b->m, i, j, k;
    size_t all = (size_t)m * (size_t)m;
    long double *product = zeroed(all, sizeof *product), *x = zeroed(all, sizeof *x);
    s.row = zeroed((size_t)m, sizeof *s.row);
    s.col = zeroed((size_t)m, sizeof *s.col);
    s.condition = 0;
    for (j = 0; j < m; j++)
        for (i = 0; i < m; i++) s.row[i] = fmaxl(s.row[i], fabsl(b->entry[(int64_t)j * m + i]));
    for (j = 0; j < m; j++)
        for (i = 0; i < m; i++) s.col[j] = fmaxl(s.col[j], fabsl(b->entry[(int64_t)j * m + i]) / s.row[i]);
    for (j = 0; j < m; j++)
        for (i = 0; i < m; i++) x[(int64_t)j * m + i] = fabsl(inverse[(int64_t)j * m + i]) * s.row[i] * s.col[j];
    for (i = 0; i < m; i++) /* product = |B| |X| */
        for (k = 0; k < m; k++) {
            long double a = fabsl(b->entry[(int64_t)k * m + i]) / s.row[i] / s.col[k];
            if (a == 0) continue;
            for (j = 0; j < m; j++) product[(int64_t)i * m + j] += a * x[(int64_t)k * m + j];
        }
    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++) {
            long double sum = 0;
            for (k = 0; k < m; k++) sum += x[(int64_t)i * m + k] * product[(int64_t)k * m + j];
            s.condition = fmaxl(s.condition, sum);
        }
    free(product);
    free(x);
    return s;
}

void basis_scale_free(basis_scale *s) {
    free(s->row);
    free(s->col);
}

long double basis_error(const basis_model *b, const basis_scale *s, const long double *inverse, const double *found) {
    int32_t m = b->m, i, j;
    long double error = 0;
    for (j = 0; j < m; j++)
        for (i = 0; i < m; i++) {
            long double e = fabsl(found[(int64_t)j * m + i] - inverse[(int64_t)j * m + i]) * s->row[i] * s->col[j];
            if (!(e <= error)) error = e;
        }
    return error;
}

double basis_check(gpuopt_basis *basis, const basis_model *b, double factor) {
    size_t all = (size_t)b->m * (size_t)b->m;
    long double *inverse = zeroed(all, sizeof *inverse), error, bound;
    double *found = zeroed(all, sizeof *found);
    basis_scale scale;
    assert_true(basis_invert(b, inverse));
    scale = basis_scale_of(b, inverse);
    assert_int_equal(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, found), GPUOPT_OK);
    error = basis_error(b, &scale, inverse, found);
    bound = factor * b->m * DBL_EPSILON * scale.condition;
    if (!(error <= bound))
        fail_msg("m = %d: the inverse is off by %Lg, more than %Lg (condition %Lg)", b->m, error, bound,
                 scale.condition);
    basis_scale_free(&scale);
    free(inverse);
    free(found);
    return (double)error;
}

/* ---- Handles ---- */

gpuopt_basis *basis_create(gpuopt_context *context, int32_t m, gpuopt_basis_technique technique, int32_t deferred) {
    gpuopt_basis_desc desc;
    gpuopt_basis *basis = NULL;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.m = m;
    desc.technique = technique;
    desc.deferred_updates = deferred;
    assert_int_equal(gpuopt_basis_create(context, &desc, NULL, &basis), GPUOPT_OK);
    return basis;
}

gpuopt_basis_info basis_info(gpuopt_basis *basis) {
    gpuopt_basis_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_basis_get_info(basis, &info), GPUOPT_OK);
    return info;
}

gpuopt_status basis_replace(gpuopt_basis *basis, basis_model *b, int32_t position, const double *column) {
    gpuopt_basis_info info;
    gpuopt_status status;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, column, NULL), GPUOPT_OK);
    status = gpuopt_basis_update(basis, GPUOPT_HOST, position, NULL, &info);
    if (!status) memcpy(b->entry + (int64_t)position * b->m, column, sizeof *column * (size_t)b->m);
    return status;
}

void basis_enqueue_random(gpuopt_basis *basis, basis_model *b, int32_t count, uint64_t *seed) {
    int32_t m = b->m, k, n = 0, position, *row = zeroed((size_t)m, sizeof *row),
            *order = zeroed((size_t)m, sizeof *row);
    double *val = zeroed((size_t)m, sizeof *val), *alpha = zeroed((size_t)m, sizeof *alpha), most = 0, *column;
    shuffle(order, m, seed);
    for (k = 0; k < count; k++) {
        row[k] = order[k];
        val[k] = draw_large(seed);
    }
    assert_int_equal(gpuopt_basis_ftran(basis, GPUOPT_HOST, count, row, val, alpha), GPUOPT_OK);
    for (k = 0; k < m; k++) most = fmax(most, fabs(alpha[k]));
    for (k = 0; k < m; k++)
        if (fabs(alpha[k]) >= 0.1 * most) order[n++] = k;
    assert_true(n > 0);
    position = order[test_random_int(seed, 0, n - 1)];
    assert_int_equal(gpuopt_basis_update(basis, GPUOPT_HOST, position, NULL, NULL), GPUOPT_OK);
    column = b->entry + (int64_t)position * m;
    memset(column, 0, sizeof *column * (size_t)m);
    for (k = 0; k < count; k++) column[row[k]] = val[k];
    free(row);
    free(order);
    free(val);
    free(alpha);
}
