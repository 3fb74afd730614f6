/* SPDX-License-Identifier: MIT */
#include "tests/simplex/textbook.h"

#include <math.h>
#include <string.h>

static const long double little = 1e-12L;

void textbook_load(textbook *t, const mip *model) {
    int32_t i, j, cols = model->columns.cols;
    int64_t e;
    memset(t, 0, sizeof *t);
    t->rows = model->columns.rows;
    t->both = cols + t->rows;
    for (j = 0; j < t->both; j++) {
        double low = j < cols ? model->lb[j] : model->lhs[j - cols];
        double high = j < cols ? model->ub[j] : model->rhs[j - cols];
        t->low[j] = low > -1e20 ? low : -HUGE_VALL;
        t->high[j] = high < 1e20 ? high : HUGE_VALL;
        if (j < cols) t->cost[j] = model->maximize ? -model->cost[j] : model->cost[j];
    }
    for (j = 0; j < cols; j++)
        for (e = model->columns.start[j]; e < model->columns.start[j + 1]; e++)
            t->a[model->columns.index[e]][j] = model->columns.value[e];
    for (i = 0; i < t->rows; i++) t->a[i][cols + i] = -1;
}

/* Gauss-Jordan elimination with partial pivoting of B (transposed: B') x = b, in place; 0: singular. */
static int solve(const textbook *t, int transposed, long double *b) {
    static long double m[TEXTBOOK_MOST][TEXTBOOK_MOST];
    int basic[TEXTBOOK_MOST], i, j, k, p, n = t->rows, count = 0;
    for (j = 0; j < t->both; j++)
        if (t->status[j] == GPUOPT_VARIABLE_BASIC) basic[count++] = j;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) m[i][j] = transposed ? t->a[j][basic[i]] : t->a[i][basic[j]];
    for (k = 0; k < n; k++) {
        long double swap;
        for (p = k, i = k + 1; i < n; i++)
            if (fabsl(m[i][k]) > fabsl(m[p][k])) p = i;
        if (!(fabsl(m[p][k]) > little)) return 0;
        for (j = 0; j < n; j++) swap = m[k][j], m[k][j] = m[p][j], m[p][j] = swap;
        swap = b[k], b[k] = b[p], b[p] = swap;
        for (i = 0; i < n; i++) {
            long double factor = m[i][k] / m[k][k];
            if (i == k || factor == 0) continue;
            for (j = k; j < n; j++) m[i][j] -= factor * m[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (k = 0; k < n; k++) b[k] /= m[k][k];
    return 1;
}

/* Values of the basic variables, in order, to their places. */
static void spread(const textbook *t, const long double *from, long double *to) {
    int j, count = 0;
    for (j = 0; j < t->both; j++)
        if (t->status[j] == GPUOPT_VARIABLE_BASIC) to[j] = from[count++];
}

int textbook_at(textbook *t, const uint8_t *status) {
    long double b[TEXTBOOK_MOST] = {0}, y[TEXTBOOK_MOST] = {0};
    int i, j, count = 0;
    memcpy(t->status, status, (size_t)t->both);
    for (j = 0; j < t->both; j++) {
        t->x[j] = status[j] == GPUOPT_VARIABLE_AT_LOWER   ? t->low[j]
                  : status[j] == GPUOPT_VARIABLE_AT_UPPER ? t->high[j]
                                                          : 0;
        for (i = 0; i < t->rows; i++) b[i] -= t->a[i][j] * t->x[j];
        if (status[j] == GPUOPT_VARIABLE_BASIC) y[count++] = t->cost[j];
    }
    if (!solve(t, 0, b) || !solve(t, 1, y)) return 0;
    spread(t, b, t->x);
    for (j = 0; j < t->both; j++) {
        t->d[j] = t->cost[j];
        for (i = 0; i < t->rows; i++) t->d[j] -= y[i] * t->a[i][j];
    }
    return 1;
}

long double textbook_objective(const textbook *t) {
    long double sum = 0;
    int j;
    for (j = 0; j < t->both; j++) sum += t->cost[j] * t->x[j];
    return sum;
}

int textbook_feasible(const textbook *t) {
    int j;
    for (j = 0; j < t->both; j++)
        if (t->x[j] < t->low[j] - little * (1 + fabsl(t->low[j])) ||
            t->x[j] > t->high[j] + little * (1 + fabsl(t->high[j])))
            return 0;
    return 1;
}

void textbook_column(const textbook *t, int q, long double *change) {
    long double b[TEXTBOOK_MOST];
    int i;
    for (i = 0; i < t->rows; i++) b[i] = -t->a[i][q];
    memset(change, 0, sizeof *change * (size_t)t->both);
    if (solve(t, 0, b)) spread(t, b, change);
}

int textbook_enter(const textbook *t, textbook_rule rule, int *direction) {
    int j, best = -1;
    for (j = 0; j < t->both; j++) {
        int up = t->status[j] != GPUOPT_VARIABLE_AT_UPPER && t->d[j] < -1e-9L;
        int down = t->status[j] != GPUOPT_VARIABLE_AT_LOWER && t->d[j] > 1e-9L;
        if (t->status[j] == GPUOPT_VARIABLE_BASIC || t->low[j] == t->high[j] || !(up || down)) continue;
        if (best >= 0 && (rule == TEXTBOOK_BLAND || fabsl(t->d[j]) <= fabsl(t->d[best]))) continue;
        best = j;
        *direction = up ? 1 : -1;
    }
    return best;
}

int textbook_leave(const textbook *t, textbook_rule rule, int q, int direction, int *to_upper, long double *step) {
    long double change[TEXTBOOK_MOST];
    int j, best = -1;
    textbook_column(t, q, change);
    *step = t->high[q] - t->low[q];
    if (*step < HUGE_VALL) best = q;
    for (j = 0; j < t->both; j++) {
        long double a = direction * change[j], slack = a > 0 ? t->high[j] - t->x[j] : t->x[j] - t->low[j], ratio;
        if (fabsl(a) < 1e-9L || slack == HUGE_VALL) continue;
        ratio = fmaxl(0, slack / fabsl(a));
        if (ratio > *step + little || (best == q && ratio >= *step)) continue;
        if (best >= 0 && ratio > *step - little && (rule == TEXTBOOK_BLAND || fabsl(a) <= fabsl(change[best])))
            continue;
        best = j;
        *step = ratio;
        *to_upper = a > 0;
    }
    return best;
}
