/* SPDX-License-Identifier: MIT
 *
 * Checks a log of bound tightening: each new bound against its row and the bounds before it.
 */
#include <stdio.h>
#include <string.h>

#include "tests/check/check.h"

typedef struct state {
    program *p;
    int *first, *col, *entry; /* the rows: their columns, and where p->value has the coefficients */
} state;

static void take_rows(state *s, program *p) {
    int j, e;
    s->p = p;
    s->first = allocate((size_t)p->rows + 1, sizeof(int));
    s->col = allocate((size_t)p->start[p->cols], sizeof(int));
    s->entry = allocate((size_t)p->start[p->cols], sizeof(int));
    for (e = 0; e < p->start[p->cols]; e++) s->first[p->row[e] + 2]++;
    for (j = 0; j < p->rows; j++) s->first[j + 2] += s->first[j + 1];
    for (j = 0; j < p->cols; j++)
        for (e = p->start[j]; e < p->start[j + 1]; e++) {
            s->col[s->first[p->row[e] + 1]] = j;
            s->entry[s->first[p->row[e] + 1]++] = e;
        }
}

/* rest = rhs - (least activity of row i without column `skip`), or lhs - (greatest), times the row's scale. Returns the
 * coefficient of `skip`, NULL if it has none, or if there is no such side or activity. */
static const mpz_t *room(const state *s, int i, int skip, int greatest, mpq_t rest, int *known) {
    const program *p = s->p;
    const bound *side = &(greatest ? p->lower : p->upper)[p->cols + i];
    const mpz_t *own = NULL;
    mpq_t term;
    int k;
    *known = !side->infinite;
    mpq_init(term);
    mpq_set_z(term, p->scale[i]);
    mpq_mul(rest, side->value, term);
    for (k = s->first[i]; k < s->first[i + 1] && *known; k++) {
        const mpz_t *a = (const mpz_t *)&p->value[s->entry[k]];
        const bound *b = &((mpz_sgn(*a) > 0) != greatest ? p->lower : p->upper)[s->col[k]];
        if (s->col[k] == skip) {
            own = a;
            continue;
        }
        *known = !b->infinite;
        mpq_set_z(term, *a);
        mpq_mul(term, term, b->value);
        mpq_sub(rest, rest, term);
    }
    mpq_clear(term);
    return own;
}

static void round_to(mpq_t value, int upper) {
    if (upper) mpz_fdiv_q(mpq_numref(value), mpq_numref(value), mpq_denref(value));
    else mpz_cdiv_q(mpq_numref(value), mpq_numref(value), mpq_denref(value));
    mpz_set_ui(mpq_denref(value), 1);
}

/* "bound ROW COL upper|lower VALUE"; row -1: the column's own bound is rounded. */
static void check_bound(const state *s, words *w, long step) {
    program *p = s->p;
    int i = (int)whole(w, -1, p->rows - 2), j = (int)whole(w, 0, p->cols - 1), upper, known = 0, side;
    const mpz_t *a = NULL;
    mpq_t value, implied, coefficient;
    bound *b;
    mpq_inits(value, implied, coefficient, NULL);
    upper = strcmp(need(w), "upper") == 0;
    if ((!upper && !is(w, "lower")) || number(need(w), 0, value)) unknown(w);
    b = &(upper ? p->upper : p->lower)[j];
    for (side = 0; side < 2 && i >= 0 && !known; side++) {
        a = room(s, i, j, side, implied, &known);
        known = known && a && (mpz_sgn(*a) > 0) == (upper != side);
    }
    if (i < 0 && (known = !b->infinite)) mpq_set(implied, b->value);
    if (!known) refuse("step %ld: row %d implies no such bound of column %d", step, i, j);
    if (i >= 0) mpq_set_z(coefficient, *a), mpq_div(implied, implied, coefficient);
    if (p->integer[j]) round_to(implied, upper);
    if (upper ? mpq_cmp(value, implied) < 0 : mpq_cmp(value, implied) > 0)
        refuse("step %ld: row %d implies only %.17g for column %d", step, i, mpq_get_d(implied), j);
    if (!b->infinite && (upper ? mpq_cmp(value, b->value) >= 0 : mpq_cmp(value, b->value) <= 0)) return;
    b->infinite = 0;
    mpq_set(b->value, value);
}

/* "row ROW" cannot be satisfied, or "column COL" has bounds with nothing between them. */
static int check_end(const state *s, words *w, int is_row) {
    const program *p = s->p;
    int k = (int)whole(w, 0, is_row ? p->rows - 2 : p->cols - 1), side, known, crossed = 0;
    mpq_t rest, other;
    mpq_inits(rest, other, NULL);
    for (side = 0; side < 2 && is_row; side++) {
        room(s, k, -1, side, rest, &known);
        crossed |= known && mpq_sgn(rest) * (side ? -1 : 1) < 0;
    }
    if (!is_row && !p->lower[k].infinite && !p->upper[k].infinite) {
        mpq_set(rest, p->lower[k].value);
        mpq_set(other, p->upper[k].value);
        if (p->integer[k]) round_to(rest, 0), round_to(other, 1);
        crossed = mpq_cmp(rest, other) > 0;
    }
    if (!crossed) refuse("%s %d is not infeasible", is_row ? "row" : "column", k);
    return 1;
}

int check_propagation(program *p, words *w) {
    state s;
    long step = 0;
    int infeasible = 0, claimed = 0;
    take_rows(&s, p);
    while (next(w)) {
        if (is(w, "outcome")) claimed = strcmp(need(w), "infeasible") == 0;
        else if (is(w, "bound")) check_bound(&s, w, ++step);
        else if (is(w, "row")) infeasible = check_end(&s, w, 1);
        else if (is(w, "column")) infeasible = check_end(&s, w, 0);
        else unknown(w);
    }
    if (claimed && !infeasible) refuse("infeasible: no proof");
    printf("PROVEN: %ld bounds%s\n", step, infeasible ? ", and the model is infeasible" : "");
    return PROVEN;
}
