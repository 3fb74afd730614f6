/* SPDX-License-Identifier: MIT */
#include "tests/simplex/brute.h"

#include <math.h>
#include <string.h>

enum { BOTH = 2 * BRUTE_MOST };
static const int64_t none = INT64_MAX; /* minus it below */

/* min cost'x, [A -I] (x, r) = 0 within bounds; a [rows][cols + rows] with the -I in it. */
typedef struct tiny {
    int rows, both;
    int64_t a[BRUTE_MOST][BOTH], cost[BOTH], low[BOTH], high[BOTH];
    int found;
    double best;
} tiny;

/* Solves B xb = b, xb_i = num[i] / den with den > 0; 0: singular. Fraction-free Gauss-Jordan elimination (Bareiss). */
static int solve(int m, int64_t b[BRUTE_MOST][BRUTE_MOST + 1], int64_t *num, int64_t *den) {
    int64_t last = 1, swap;
    int k, i, j, p;
    for (k = 0; k < m; k++) {
        for (p = k; p < m && b[p][k] == 0; p++) continue;
        if (p == m) return 0;
        for (j = 0; j <= m && p != k; j++) swap = b[k][j], b[k][j] = b[p][j], b[p][j] = swap;
        for (i = 0; i < m; i++)
            for (j = m; i != k && j >= 0; j--)
                if (j != k) b[i][j] = (b[k][k] * b[i][j] - b[i][k] * b[k][j]) / last;
        for (i = 0; i < m; i++)
            if (i != k) b[i][k] = 0;
        last = b[k][k];
    }
    for (i = 0; i < m; i++) num[i] = last < 0 ? -b[i][m] : b[i][m];
    *den = last < 0 ? -last : last;
    return 1;
}

/* The basic solution of these basic variables, the others at the upper bounds where `upper` has their bit. */
static void look_at(tiny *t, const int *basic, const int64_t *value) {
    int64_t b[BRUTE_MOST][BRUTE_MOST + 1], num[BRUTE_MOST] = {0}, den = 1, objective = 0;
    int i, j;
    for (i = 0; i < t->rows; i++) {
        b[i][t->rows] = 0;
        for (j = 0; j < t->both; j++) b[i][t->rows] -= t->a[i][j] * value[j];
        for (j = 0; j < t->rows; j++) b[i][j] = t->a[i][basic[j]];
    }
    if (!solve(t->rows, b, num, &den)) return;
    for (i = 0; i < t->rows; i++) {
        if (t->low[basic[i]] != -none && num[i] < t->low[basic[i]] * den) return;
        if (t->high[basic[i]] != none && num[i] > t->high[basic[i]] * den) return;
        objective += t->cost[basic[i]] * num[i];
    }
    for (j = 0; j < t->both; j++) objective += t->cost[j] * value[j] * den;
    if (!t->found || (double)objective / (double)den < t->best) t->best = (double)objective / (double)den;
    t->found = 1;
}

/* All bounds of the nonbasic variables from `from` on. */
static void all_bounds(tiny *t, unsigned set, const int *basic, int from, int64_t *value) {
    int64_t low, high;
    for (; from < t->both && set >> from & 1; from++) value[from] = 0;
    if (from == t->both) {
        look_at(t, basic, value);
        return;
    }
    low = t->low[from];
    high = t->high[from];
    if (low != -none && high != none && low > high) return;
    if (low == -none && high == none) low = high = 0;
    value[from] = low;
    if (low != -none) all_bounds(t, set, basic, from + 1, value);
    value[from] = high;
    if (high != none && high != low) all_bounds(t, set, basic, from + 1, value);
}

static void minimise(tiny *t) {
    unsigned set;
    t->found = 0;
    for (set = 0; set < 1u << t->both; set++) {
        int64_t value[BOTH] = {0};
        int basic[BOTH] = {0}, count = 0, j;
        for (j = 0; j < t->both; j++)
            if (set >> j & 1) basic[count++] = j;
        if (count == t->rows) all_bounds(t, set, basic, 0, value);
    }
}

/* direction: the recession cone in the unit box. */
static void fill(tiny *t, const mip *m, int direction) {
    int64_t e;
    int j, cols = m->columns.cols;
    memset(t, 0, sizeof *t);
    t->rows = m->columns.rows;
    t->both = cols + t->rows;
    for (j = 0; j < cols; j++)
        for (e = m->columns.start[j]; e < m->columns.start[j + 1]; e++)
            t->a[m->columns.index[e]][j] = (int64_t)m->columns.value[e];
    for (j = 0; j < t->rows; j++) t->a[j][cols + j] = -1;
    for (j = 0; j < t->both; j++) {
        double low = j < cols ? m->lb[j] : m->lhs[j - cols], high = j < cols ? m->ub[j] : m->rhs[j - cols];
        if (j < cols) t->cost[j] = (int64_t)(m->maximize ? -m->cost[j] : m->cost[j]);
        t->low[j] = low <= -1e20 ? -none : direction ? 0 : (int64_t)low;
        t->high[j] = high >= 1e20 ? none : direction ? 0 : (int64_t)high;
        if (direction && j < cols && t->low[j] == -none) t->low[j] = -1;
        if (direction && j < cols && t->high[j] == none) t->high[j] = 1;
    }
}

brute_answer brute_solve(const mip *model) {
    brute_answer answer = {GPUOPT_INFEASIBLE, 0};
    tiny t;
    fill(&t, model, 0);
    minimise(&t);
    if (!t.found) return answer;
    answer.outcome = GPUOPT_OPTIMAL;
    answer.objective = (model->maximize ? -t.best : t.best) + model->offset;
    fill(&t, model, 1);
    minimise(&t);
    if (t.best < 0) answer.outcome = GPUOPT_UNBOUNDED;
    return answer;
}
