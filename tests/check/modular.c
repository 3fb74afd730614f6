/* SPDX-License-Identifier: MIT
 *
 * Exact solutions of sparse linear systems: an LU factorization modulo the prime 2^62 - 57 with the pivots of least
 * Markowitz count, p-adic lifting (Dixon 1982), rational reconstruction, multiplication of the result by the matrix.
 */
#include <stdlib.h>

#include "tests/check/check.h"

_Static_assert(sizeof(unsigned long) == 8, "GMP's unsigned long holds a digit");

#define P ((UINT64_C(1) << 62) - 57)
__extension__ typedef unsigned __int128 uint128;

static uint64_t times(uint64_t a, uint64_t b) {
    const uint64_t low = (UINT64_C(1) << 62) - 1;
    uint128 product = (uint128)a * b;
    uint128 once = (product & low) + 57 * (product >> 62);
    uint64_t twice = (uint64_t)(once & low) + 57 * (uint64_t)(once >> 62);
    return twice >= P ? twice - P : twice;
}

static uint64_t minus(uint64_t a, uint64_t b) { return a >= b ? a - b : a + P - b; }

static uint64_t inverse(uint64_t a) {
    uint64_t power = 1, rest = P - 2;
    for (; rest; rest >>= 1, a = times(a, a))
        if (rest & 1) power = times(power, a);
    return power;
}

/* ---- Factors ---- */

typedef struct list {
    int count, room, *index;
    uint64_t *value; /* [count], or NULL */
} list;

static void put(list *l, int index, uint64_t value, int valued) {
    if (l->count == l->room) {
        l->room = 2 * l->room + 4;
        l->index = realloc(l->index, sizeof(int) * (size_t)l->room);
        if (valued) l->value = realloc(l->value, sizeof(uint64_t) * (size_t)l->room);
        if (!l->index || (valued && !l->value)) bad_input("out of memory");
    }
    if (valued) l->value[l->count] = value;
    l->index[l->count++] = index;
}

static void drop(list *l, int at) {
    l->index[at] = l->index[--l->count];
    if (l->value) l->value[at] = l->value[l->count];
}

static int find(const list *l, int index) {
    int k = 0;
    while (l->index[k] != index) k++;
    return k;
}

/* Step k has its pivot in row[k] and column[k]. */
typedef struct factors {
    int *row, *column;
    uint64_t *pivot;  /* [size] inverses of the pivots */
    list *upper;      /* [size] the rest of the pivot row: columns, values */
    list *multiplier; /* [size] of the rows that the pivot row was subtracted from */
} factors;

/* The part of the matrix without pivots: its rows, and its columns without values; -1 entries: there is a pivot. */
typedef struct active {
    int size, *position;
    list *row, *column;
} active;

/* The line with the fewest entries, at least 1. */
static int shortest(const list *lines, int count) {
    int k, best = -1;
    for (k = 0; k < count; k++)
        if (lines[k].count >= 0 && (best < 0 || lines[k].count < lines[best].count)) best = k;
    return best;
}

/* The one of the crossing lines with the fewest entries. */
static int crossing(const list *line, const list *crossing) {
    int k, best = line->index[0];
    for (k = 1; k < line->count; k++)
        if (crossing[line->index[k]].count < crossing[best].count) best = line->index[k];
    return best;
}

/* Subtracts multiple * row r from row i, without their entries in the pivot column. */
static void subtract(active *a, int i, int r, uint64_t multiple, int pivot_column) {
    list *to = &a->row[i], *from = &a->row[r];
    int k;
    drop(to, find(to, pivot_column));
    for (k = 0; k < to->count; k++) a->position[to->index[k]] = k + 1;
    for (k = 0; k < from->count; k++) {
        int j = from->index[k];
        uint64_t term = times(multiple, from->value[k]);
        if (j == pivot_column) continue;
        if (a->position[j]) {
            to->value[a->position[j] - 1] = minus(to->value[a->position[j] - 1], term);
        } else {
            put(to, j, minus(0, term), 1);
            put(&a->column[j], i, 0, 0);
        }
    }
    for (k = to->count - 1; k >= 0; k--) {
        int j = to->index[k];
        a->position[j] = 0;
        if (to->value[k]) continue;
        drop(to, k);
        drop(&a->column[j], find(&a->column[j], i));
    }
}

static void eliminate(active *a, factors *f, int step, int r, int j) {
    list *row = &a->row[r], *column = &a->column[j];
    int k, at = find(row, j);
    f->row[step] = r;
    f->column[step] = j;
    f->pivot[step] = inverse(row->value[at]);
    for (k = 0; k < column->count; k++) {
        int i = column->index[k];
        uint64_t multiple;
        if (i == r) continue;
        multiple = times(a->row[i].value[find(&a->row[i], j)], f->pivot[step]);
        put(&f->multiplier[step], i, multiple, 1);
        subtract(a, i, r, multiple, j);
    }
    drop(row, at);
    for (k = 0; k < row->count; k++) drop(&a->column[row->index[k]], find(&a->column[row->index[k]], r));
    f->upper[step] = *row;
    row->count = column->count = -1;
}

int factorize(square *b) {
    const program *p = b->p;
    size_t m = (size_t)p->rows;
    factors *f = b->factors = allocate(1, sizeof *f);
    active a = {b->p->rows, allocate(m, sizeof(int)), allocate(m, sizeof(list)), allocate(m, sizeof(list))};
    int step, k, j;
    f->row = allocate(m, sizeof(int));
    f->column = allocate(m, sizeof(int));
    f->pivot = allocate(m, sizeof(uint64_t));
    f->upper = allocate(m, sizeof(list));
    f->multiplier = allocate(m, sizeof(list));
    for (j = 0; j < b->p->rows; j++)
        for (k = p->start[b->variable[j]]; k < p->start[b->variable[j] + 1]; k++) {
            uint64_t value = mpz_fdiv_ui(p->value[k], P);
            if (!value) continue;
            put(&a.row[p->row[k]], j, value, 1);
            put(&a.column[j], p->row[k], 0, 0);
        }
    for (step = 0; step < b->p->rows; step++) {
        int r = shortest(a.row, b->p->rows), c = shortest(a.column, b->p->rows);
        if (!a.row[r].count || !a.column[c].count) return -1;
        if (a.row[r].count <= a.column[c].count) c = crossing(&a.row[r], a.column);
        else r = crossing(&a.column[c], a.row);
        eliminate(&a, f, step, r, c);
    }
    return 0;
}

/* Solves modulo P; rhs is used up. */
static void solve_modular(const square *b, int transposed, uint64_t *rhs, uint64_t *x) {
    const factors *f = b->factors;
    int step, k;
    for (step = 0; step < b->p->rows; step++) {
        const list *l = transposed ? &f->upper[step] : &f->multiplier[step];
        uint64_t value = rhs[transposed ? f->column[step] : f->row[step]];
        if (transposed) x[f->row[step]] = value = times(value, f->pivot[step]);
        for (k = 0; value && k < l->count; k++) rhs[l->index[k]] = minus(rhs[l->index[k]], times(value, l->value[k]));
    }
    for (step = b->p->rows - 1; step >= 0; step--) {
        const list *l = transposed ? &f->multiplier[step] : &f->upper[step];
        uint64_t value = transposed ? x[f->row[step]] : rhs[f->row[step]];
        for (k = 0; k < l->count; k++) value = minus(value, times(x[l->index[k]], l->value[k]));
        if (transposed) x[f->row[step]] = value;
        else x[f->column[step]] = times(value, f->pivot[step]);
    }
}

/* ---- Fractions ---- */

/* Finds num / den that is `residue` modulo `modulus` and much shorter than that, if there is one. */
static int reconstruct(const mpz_t residue, const mpz_t modulus, mpz_t num, mpz_t den) {
    mpz_t high, before, q;
    size_t half = mpz_sizeinbase(modulus, 2) / 2;
    mpz_init_set(high, modulus);
    mpz_inits(before, q, NULL);
    mpz_set(num, residue);
    mpz_set_ui(den, 1);
    while (mpz_sizeinbase(num, 2) > half) { /* Euclid's algorithm: num = den * residue modulo modulus */
        mpz_tdiv_qr(q, high, high, num);
        mpz_swap(high, num);
        mpz_submul(before, q, den);
        mpz_swap(before, den);
    }
    mpz_abs(den, den);
    mpz_clears(high, before, q, NULL);
    return mpz_sgn(num) && mpz_sizeinbase(num, 2) + mpz_sizeinbase(den, 2) + 60 < 2 * half;
}

/* num = den * residue modulo modulus, of least size. Returns whether it is much shorter than the modulus. */
static int numerator(const mpz_t residue, const mpz_t modulus, const mpz_t den, mpz_t num) {
    mpz_mul(num, residue, den);
    mpz_fdiv_r(num, num, modulus);
    if (mpz_sizeinbase(num, 2) + 1 >= mpz_sizeinbase(modulus, 2)) mpz_sub(num, num, modulus);
    return mpz_sizeinbase(num, 2) + mpz_sizeinbase(den, 2) + 60 < mpz_sizeinbase(modulus, 2);
}

/* Looks for a common denominator of the fractions with these residues, beginning with the one that x has. */
static int find_fractions(int count, mpz_t *residue, const mpz_t modulus, fractions *x) {
    mpz_t num, more;
    int k, found = 1;
    mpz_inits(num, more, NULL);
    for (k = 0; k < count && found; k++) {
        if (numerator(residue[k], modulus, x->den, num)) continue;
        mpz_fdiv_r(num, num, modulus);
        found = reconstruct(num, modulus, x->num[k], more);
        if (found) mpz_mul(x->den, x->den, more);
    }
    for (k = 0; k < count && found; k++) found = numerator(residue[k], modulus, x->den, x->num[k]);
    mpz_clears(num, more, NULL);
    return found;
}

/* to -= B x, or B' x; x NULL: times the digits. */
static void subtract_product(const square *b, int transposed, const mpz_t *x, const uint64_t *digit, mpz_t *to) {
    const program *p = b->p;
    int j, k;
    for (j = 0; j < p->rows; j++)
        for (k = p->start[b->variable[j]]; k < p->start[b->variable[j] + 1]; k++) {
            int from = transposed ? p->row[k] : j, at = transposed ? j : p->row[k];
            if (x) mpz_submul(to[at], p->value[k], x[from]);
            else mpz_submul_ui(to[at], p->value[k], digit[from]);
        }
}

fractions solve(const square *b, int transposed, const mpz_t *rhs) {
    const int m = b->p->rows;
    fractions x = {zeros(m), {{0}}};
    mpz_t *rest = zeros(m), *residue = zeros(m), power;
    uint64_t *r = allocate((size_t)m, sizeof *r), *digit = allocate((size_t)m, sizeof *digit);
    int j, digits = 0, trial = 2, found = 0;
    mpz_init_set_ui(power, 1);
    mpz_init_set_ui(x.den, 1);
    for (j = 0; j < m; j++) mpz_set(rest[j], rhs[j]);
    while (!found) {
        for (j = 0; j < m; j++) r[j] = mpz_fdiv_ui(rest[j], P);
        solve_modular(b, transposed, r, digit);
        subtract_product(b, transposed, NULL, digit, rest);
        for (j = 0; j < m; j++) {
            mpz_divexact_ui(rest[j], rest[j], P);
            mpz_addmul_ui(residue[j], power, digit[j]);
        }
        mpz_mul_ui(power, power, P);
        if (++digits < trial) continue;
        trial += trial / 8 + 1;
        found = find_fractions(m, residue, power, &x);
    }
    for (j = 0; j < m; j++) mpz_mul(rest[j], rhs[j], x.den);
    subtract_product(b, transposed, (const mpz_t *)x.num, NULL, rest);
    for (j = 0; j < m; j++) {
        if (mpz_sgn(rest[j])) refuse("the exact solution of the basis could not be verified");
        mpz_clears(rest[j], residue[j], NULL);
    }
    return x;
}
