/* SPDX-License-Identifier: MIT
 *
 * Checks a log of bound tightening: each new bound against its row and the bounds before it.
 */

#include "tests/check/check.h"

static void take_rows(program *p) {
    int j, e;
    p->first = allocate(p->rows, sizeof(int));
    p->next = allocate(p->start[p->cols], sizeof(int));
    p->column = allocate(p->start[p->cols], sizeof(int));
    for (j = 0; j < p->rows; j++) p->first[j] = -1;
    for (j = 0; j < p->cols; j++)
        for (e = p->start[j]; e < p->start[j + 1]; e++) {
            p->column[e] = j;
            p->next[e] = p->first[p->row[e]];
            p->first[p->row[e]] = e;
        }
}

/* Whether row i cannot be satisfied within the bounds. If `open` is not negative, that column's bound on the side
 * `open_side` is not a possible value. */
static int impossible(const program *p, int i, int open, int open_side) {
    int side, e, found = 0;
    mpq_t sum, a, b;
    mpq_inits(sum, a, b, NULL);
    for (side = LOWER; side <= UPPER && !found; side++) { /* with the greatest activity, and with the least */
        double bound = p->bound[side][p->cols + i];
        int beyond = 0; /* the activity is not a possible value */
        if (isinf(bound)) continue;
        mpq_set_d(sum, -bound);
        for (e = p->first[i]; e >= 0 && isfinite(bound); e = p->next[e]) {
            int at = (p->value[e] > 0) == (side == LOWER) ? UPPER : LOWER;
            bound = p->bound[at][p->column[e]];
            beyond |= p->column[e] == open && at == open_side;
            mpq_set_d(a, p->value[e]);
            mpq_set_d(b, isinf(bound) ? 0 : bound);
            mpq_mul(a, a, b);
            mpq_add(sum, sum, a);
        }
        found = isfinite(bound) && mpq_sgn(sum) * (side == LOWER ? -1 : 1) + beyond > 0;
    }
    mpq_clears(sum, a, b, NULL);
    return found;
}

/* "bound ROW COL upper|lower VALUE"; row -1: the column's own bound is rounded. The bound is implied if the row cannot
 * be satisfied beyond it. */
static void check_bound(program *p, words *w, long step) {
    int i = (int)whole(w, -1, p->rows - 2), j = (int)whole(w, 0, p->cols - 1), upper, integer, proven;
    double value, *bound, *other, before;
    upper = strcmp(need(w), "upper") == 0;
    if (!upper && !is(w, "lower")) unknown(w);
    value = number(w);
    integer = p->integer[j] && fabs(value) < 0x1p53; /* beyond, the next integer may not be a double */
    bound = &p->bound[upper][j];
    other = &p->bound[!upper][j];
    before = *other;
    *other = !integer ? value : upper ? floor(value) + 1 : ceil(value) - 1;
    if (i < 0) proven = upper ? *other > *bound : *other < *bound;
    else proven = impossible(p, i, integer ? -1 : j, !upper);
    *other = before;
    if (!proven) end(REFUSED, "step %ld: row %d does not imply this bound of column %d", step, i, j);
    *bound = upper ? fmin(*bound, value) : fmax(*bound, value);
}

void check_propagation(program *p, words *w) {
    const char *outcome = "";
    long step = 0;
    int infeasible = 0, j;
    take_rows(p);
    while (next(w)) {
        if (is(w, "outcome")) outcome = need(w);
        else if (is(w, "bound")) check_bound(p, w, ++step);
        else if (is(w, "row")) infeasible |= impossible(p, (int)whole(w, 0, p->rows - 2), -1, 0);
        else if (!is(w, "column")) unknown(w);
        else if (j = (int)whole(w, 0, p->cols - 1), p->bound[LOWER][j] > p->bound[UPPER][j]) infeasible = 1;
    }
    if (strcmp(outcome, "infeasible") == 0 && !infeasible) end(REFUSED, "infeasible: no proof");
    end(PROVEN, "%ld bounds%s", step, infeasible ? ", and the model is infeasible" : "");
}
