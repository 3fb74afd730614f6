/* SPDX-License-Identifier: MIT
 *
 * Checks a log of bound tightening: each new bound against its row and the bounds before it.
 */

#include "tests/check/check.h"

typedef struct state {
    program *p;
    int *first, *entry, *col; /* row i has the entries entry[first[i]] to entry[first[i + 1] - 1] of p; their columns */
} state;

static void take_rows(state *s, program *p) {
    int j, e;
    *s = (state){p, allocate((size_t)p->rows + 2, sizeof(int)), allocate((size_t)p->start[p->cols], sizeof(int)),
                 allocate((size_t)p->start[p->cols], sizeof(int))};
    for (e = 0; e < p->start[p->cols]; e++) s->first[p->row[e] + 2]++;
    for (j = 0; j < p->rows; j++) s->first[j + 2] += s->first[j + 1];
    for (j = 0; j < p->cols; j++)
        for (e = p->start[j]; e < p->start[j + 1]; e++) {
            s->entry[s->first[p->row[e] + 1]] = e;
            s->col[s->first[p->row[e] + 1]++] = j;
        }
}

/* Whether row i cannot be satisfied within the bounds. If `open` is not negative, the lower bound of that column, or
 * its upper one, is not a possible value. */
static int impossible(const state *s, int i, int open, int open_lower) {
    const program *p = s->p;
    int k, greatest, found = 0;
    mpq_t sum, a, b;
    mpq_inits(sum, a, b, NULL);
    for (greatest = 0; greatest < 2 && !found; greatest++) { /* the least and the greatest activity */
        double side = (greatest ? p->lower : p->upper)[p->cols + i], bound = 0;
        int possible_at = 0;
        if (isinf(side)) continue;
        mpq_set_d(sum, -side);
        for (k = s->first[i]; k < s->first[i + 1] && isfinite(bound); k++) {
            int at_lower = (p->value[s->entry[k]] > 0) != greatest;
            bound = (at_lower ? p->lower : p->upper)[s->col[k]];
            if (s->col[k] == open && at_lower == open_lower) possible_at = 1;
            mpq_set_d(a, p->value[s->entry[k]]);
            mpq_set_d(b, isinf(bound) ? 0 : bound);
            mpq_mul(a, a, b);
            mpq_add(sum, sum, a);
        }
        found = isfinite(bound) && mpq_sgn(sum) * (greatest ? -1 : 1) + possible_at > 0;
    }
    mpq_clears(sum, a, b, NULL);
    return found;
}

/* "bound ROW COL upper|lower VALUE"; row -1: the column's own bound is rounded. It is implied if the row cannot be
 * satisfied beyond it. */
static void check_bound(const state *s, words *w, long step) {
    program *p = s->p;
    int i = (int)whole(w, -1, p->rows - 2), j = (int)whole(w, 0, p->cols - 1), upper, integer = p->integer[j], proven;
    double value, *bound, *other, before;
    upper = strcmp(need(w), "upper") == 0;
    if ((!upper && !is(w, "lower")) || !is_number(need(w), &value) || isinf(value)) unknown(w);
    bound = &(upper ? p->upper : p->lower)[j];
    other = &(upper ? p->lower : p->upper)[j];
    before = *other;
    *other = !integer ? value : upper ? floor(value) + 1 : ceil(value) - 1;
    if (i < 0) proven = upper ? *other > *bound : *other < *bound;
    else proven = impossible(s, i, integer ? -1 : j, upper);
    *other = before;
    if (!proven) end(REFUSED, "step %ld: row %d does not imply this bound of column %d", step, i, j);
    *bound = upper ? fmin(*bound, value) : fmax(*bound, value);
}

void check_propagation(program *p, words *w) {
    record r[] = {{.name = "outcome", .kind = 'w'}, {0}};
    state s;
    long step = 0;
    int infeasible = 0, k;
    take_rows(&s, p);
    while (read_records(w, r)) {
        if (is(w, "bound")) check_bound(&s, w, ++step);
        else if (is(w, "row")) infeasible |= impossible(&s, (int)whole(w, 0, p->rows - 2), -1, 0);
        else if (!is(w, "column")) unknown(w);
        else if (k = (int)whole(w, 0, p->cols - 1), p->lower[k] > p->upper[k]) infeasible = 1;
    }
    if (r->word && strcmp(r->word, "infeasible") == 0 && !infeasible) end(REFUSED, "infeasible: no proof");
    end(PROVEN, "%ld bounds%s", step, infeasible ? ", and the model is infeasible" : "");
}
