/* SPDX-License-Identifier: MIT
 *
 * growing.h.
 */
#include "gpuopt/search.h"
#include "tests/simplex/growing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/changes.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

mip growing_mip(const growing *g) {
    double *a = calloc(ROOM * ROOM, sizeof *a);
    int32_t i;
    mip m;
    for (i = 0; i < g->rows; i++) memcpy(a + (size_t)i * (size_t)g->cols, g->a[i], sizeof *a * (size_t)g->cols);
    m = model_of(g->rows, g->cols, a, g->cost, g->lhs, g->rhs, g->lb, g->ub);
    m.maximize = g->maximize;
    free(a);
    return m;
}

growing growing_of(const mip *m) {
    growing g;
    int32_t i, j;
    int64_t e;
    memset(&g, 0, sizeof g);
    g.rows = m->columns.rows;
    g.cols = m->columns.cols;
    g.maximize = m->maximize;
    for (j = 0; j < g.cols; j++) {
        for (e = m->columns.start[j]; e < m->columns.start[j + 1]; e++)
            g.a[m->columns.index[e]][j] = m->columns.value[e];
        g.cost[j] = m->cost[j];
        g.lb[j] = m->lb[j];
        g.ub[j] = m->ub[j];
    }
    for (i = 0; i < g.rows; i++) g.lhs[i] = m->lhs[i], g.rhs[i] = m->rhs[i];
    return g;
}

static void draw_interval(uint64_t *seed, double *low, double *high) {
    int kind = (int)test_random_int(seed, 0, 9);
    *low = kind == 0 || kind == 1 ? -INFINITY : (double)test_random_int(seed, -9, 9);
    *high = kind == 0 || kind == 2 ? INFINITY : (isinf(*low) ? 0 : *low) + (double)test_random_int(seed, 0, 12);
}

const gpuopt_matrix *growing_matrix(growing_lines *l, const growing *g, int by_rows, int32_t first,
                                    gpuopt_layout layout) {
    int32_t row = by_rows ? first : 0, col = by_rows ? 0 : first, i, j;
    int csr = layout == GPUOPT_LAYOUT_CSR;
    int64_t count = 0;
    l->matrix.rows = g->rows - row;
    l->matrix.cols = g->cols - col;
    l->matrix.start = l->start;
    l->matrix.index = l->index;
    l->matrix.value = l->value;
    l->matrix.layout = layout;
    for (i = 0; i < (csr ? l->matrix.rows : l->matrix.cols); i++) {
        l->start[i] = count;
        for (j = 0; j < (csr ? l->matrix.cols : l->matrix.rows); j++) {
            double value = csr ? g->a[row + i][col + j] : g->a[row + j][col + i];
            if (value == 0) continue;
            l->index[count] = j;
            l->value[count++] = value;
        }
    }
    l->start[i] = count;
    return &l->matrix;
}

void growing_add(uint64_t *seed, gpuopt_simplex *s, growing *g, int by_rows, int32_t count) {
    int32_t k, j, first = by_rows ? g->rows : g->cols;
    gpuopt_layout layout = (gpuopt_layout)test_random_int(seed, 0, 1);
    growing_lines l;
    for (k = first; k < first + count; k++) {
        for (j = 0; j < (by_rows ? g->cols : g->rows); j++)
            *(by_rows ? &g->a[k][j] : &g->a[j][k]) =
                test_random_int(seed, 0, 2) ? (double)test_random_int(seed, -9, 9) : 0;
        if (by_rows) draw_interval(seed, &g->lhs[k], &g->rhs[k]);
        else draw_interval(seed, &g->lb[k], &g->ub[k]), g->cost[k] = (double)test_random_int(seed, -9, 9);
    }
    if (by_rows) g->rows += count;
    else g->cols += count;
    growing_matrix(&l, g, by_rows, first, layout);
    if (by_rows) must(gpuopt_simplex_add_rows(s, &l.matrix, g->lhs + first, g->rhs + first));
    else must(gpuopt_simplex_add_cols(s, &l.matrix, g->cost + first, g->lb + first, g->ub + first));
}

void growing_take_out(growing *g, int by_rows, int32_t at) {
    int32_t i;
    if (by_rows) {
        for (i = at; i + 1 < g->rows; i++) {
            memcpy(g->a[i], g->a[i + 1], sizeof g->a[i]);
            g->lhs[i] = g->lhs[i + 1];
            g->rhs[i] = g->rhs[i + 1];
        }
        g->rows--;
        return;
    }
    for (i = 0; i < g->rows; i++) memmove(&g->a[i][at], &g->a[i][at + 1], sizeof(double) * (size_t)(g->cols - at - 1));
    for (i = at; i + 1 < g->cols; i++) {
        g->cost[i] = g->cost[i + 1];
        g->lb[i] = g->lb[i + 1];
        g->ub[i] = g->ub[i + 1];
    }
    g->cols--;
}

void growing_remove(uint64_t *seed, gpuopt_simplex *s, growing *g, int by_rows, int32_t count) {
    int32_t list[ROOM], k, left = by_rows ? g->rows : g->cols, all = left;
    for (k = 0; k < left; k++) list[k] = k;
    for (k = 0; k < count; k++) { /* distinct, in any order */
        int32_t at = (int32_t)test_random_int(seed, k, all - 1), kept = list[k];
        list[k] = list[at];
        list[at] = kept;
    }
    must(by_rows ? gpuopt_simplex_remove_rows(s, count, list) : gpuopt_simplex_remove_cols(s, count, list));
    for (k = all - 1; k >= 0; k--) {
        int32_t n, gone = 0;
        for (n = 0; n < count; n++) gone |= list[n] == k;
        if (gone) growing_take_out(g, by_rows, k);
    }
}

double growing_inverse_error(gpuopt_simplex *s, const growing *g) {
    int32_t head[ROOM], i, p;
    double column[ROOM], worst = 0;
    if (g->rows == 0) return 0;
    must(gpuopt_simplex_get_basic_variables(s, GPUOPT_HOST, head));
    for (p = 0; p < g->rows; p++) {
        for (i = 0; i < g->rows; i++)
            column[i] = head[p] < g->cols ? g->a[i][head[p]] : -(double)(head[p] - g->cols == i);
        must(gpuopt_simplex_ftran(s, GPUOPT_HOST, 1, column));
        for (i = 0; i < g->rows; i++) worst = fmax(worst, fabs(column[i] - (i == p)));
    }
    return worst;
}

gpuopt_simplex_desc growing_desc(const mip *m, int32_t most, gpuopt_spare *spare) {
    gpuopt_simplex_desc desc = tableau_desc(m);
    *spare = GPUOPT_INIT(gpuopt_spare);
    spare->rows = most - m->columns.rows;
    spare->cols = most - m->columns.cols;
    spare->nonzeros = (int64_t)most * most;
    desc.spare = spare;
    return desc;
}

void growing_change(uint64_t *seed, gpuopt_simplex *s, growing *g, int32_t most) {
    int kind = (int)test_random_int(seed, 0, 5), by_rows = kind & 1;
    int32_t present = by_rows ? g->rows : g->cols, count = (int32_t)test_random_int(seed, 0, 2);
    if (kind >= 4) {
        mip m = growing_mip(g);
        changes_make(seed, s, &m);
        *g = growing_of(&m);
        mip_free(&m);
    } else if (kind < 2 && present + count <= most) growing_add(seed, s, g, by_rows, count);
    else if (present > count) growing_remove(seed, s, g, by_rows, count);
}
