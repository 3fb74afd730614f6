/* SPDX-License-Identifier: MIT
 *
 * Exact solutions of sparse linear systems: an LU factorization modulo the prime 2^62 - 57 with the pivots of least
 * Markowitz count, p-adic lifting (Dixon 1982), rational reconstruction, multiplication of the result by the matrix.
 */

#include "tests/check/check.h"

_Static_assert(sizeof(unsigned long) == 8, "GMP's unsigned long holds a digit");

#define P ((UINT64_C(1) << 62) - 57)
__extension__ typedef unsigned __int128 uint128;

static uint64_t times(uint64_t a, uint64_t b) { return (uint64_t)((uint128)a * b % P); }

static uint64_t minus(uint64_t a, uint64_t b) { return a >= b ? a - b : a + P - b; }

static uint64_t inverse(uint64_t a) {
    uint64_t power = 1, rest = P - 2;
    for (; rest; rest >>= 1, a = times(a, a))
        if (rest & 1) power = times(power, a);
    return power;
}

/* ---- Factors ---- */

typedef struct entry {
    int row;
    uint64_t value;
} entry;

typedef struct list {
    int count, room;
    entry *entry;
} list;

/* Step k has its pivot in row[k] and column[k]. */
typedef struct factors {
    int *row, *column;
    uint64_t *pivot;     /* [size] inverses of the pivots */
    list *lower, *upper; /* [size] the rest of the column: multiples of the pivot for rows without one; above it */
} factors;

static void put(list *l, int row, uint64_t value) {
    if (l->count == l->room) {
        l->room = 2 * l->room + 4;
        if (!(l->entry = realloc(l->entry, sizeof(entry) * (size_t)l->room))) end(BAD_INPUT, "out of memory");
    }
    l->entry[l->count++] = (entry){row, value};
}

static void subtract(uint64_t *from, const list *l, uint64_t times_of) {
    int k;
    for (k = 0; times_of && k < l->count; k++)
        from[l->entry[k].row] = minus(from[l->entry[k].row], times(times_of, l->entry[k].value));
}

static uint64_t rest(uint64_t of, const list *l, const uint64_t *x) {
    int k;
    for (k = 0; k < l->count; k++) of = minus(of, times(x[l->entry[k].row], l->entry[k].value));
    return of;
}

/* The column without a pivot that has entries in the fewest rows without one, before fill. */
static int choose_column(const square *b, const char *done, const char *pivoted) {
    const program *p = b->p;
    int best = -1, least = 0, j, k;
    for (j = 0; j < p->rows; j++) {
        int count = 0;
        for (k = p->start[b->variable[j]]; !done[j] && k < p->start[b->variable[j] + 1]; k++)
            count += !pivoted[p->row[k]];
        if (count == 0) count = p->rows;
        if (!done[j] && (best < 0 || count < least)) best = j, least = count;
    }
    return best;
}

int factorize(square *b) {
    const program *p = b->p;
    const size_t m = (size_t)p->rows;
    factors *f = b->factors = allocate(1, sizeof *f);
    char *done = allocate(m, 1), *pivoted = allocate(m, 1);
    int *count = allocate(m, sizeof(int)), step, i, j, k, r;
    uint64_t *x = allocate(m, sizeof *x);
    *f = (factors){allocate(m, sizeof(int)), allocate(m, sizeof(int)), allocate(m, sizeof(uint64_t)),
                   allocate(m, sizeof(list)), allocate(m, sizeof(list))};
    for (j = 0; j < p->rows; j++)
        for (k = p->start[b->variable[j]]; k < p->start[b->variable[j] + 1]; k++) count[p->row[k]]++;
    for (step = 0; step < p->rows; step++) {
        j = f->column[step] = choose_column(b, done, pivoted);
        done[j] = 1;
        for (k = p->start[b->variable[j]]; k < p->start[b->variable[j] + 1]; k++, count[i]--)
            x[i = p->row[k]] = mpz_fdiv_ui(p->exact[k], P);
        for (k = 0; k < step; k++) subtract(x, &f->lower[k], x[f->row[k]]);
        for (i = 0, r = -1; i < p->rows; i++)
            if (x[i] && !pivoted[i] && (r < 0 || count[i] < count[r])) r = i;
        if (r < 0) return -1;
        f->row[step] = r;
        f->pivot[step] = inverse(x[r]);
        for (i = 0; i < p->rows; x[i++] = 0)
            if (x[i] && pivoted[i]) put(&f->upper[step], i, x[i]);
            else if (x[i] && i != r) put(&f->lower[step], i, times(x[i], f->pivot[step]));
        pivoted[r] = 1;
    }
    return 0;
}

/* Solves modulo P; rhs is used up. */
static void solve_modular(const square *b, int transposed, uint64_t *rhs, uint64_t *x) {
    const factors *f = b->factors;
    int k, m = b->p->rows;
    for (k = 0; k < m; k++)
        if (transposed) x[f->row[k]] = times(rest(rhs[f->column[k]], &f->upper[k], x), f->pivot[k]);
        else subtract(rhs, &f->lower[k], rhs[f->row[k]]);
    for (k = m - 1; k >= 0; k--)
        if (transposed) x[f->row[k]] = rest(x[f->row[k]], &f->lower[k], x);
        else subtract(rhs, &f->upper[k], x[f->column[k]] = times(rhs[f->row[k]], f->pivot[k]));
}

/* ---- Fractions ---- */

/* Looks for fractions of at most half as many digits as the modulus that have these residues, and for a common
 * denominator, which must not have more either. */
static int find_fractions(int count, mpz_t *residue, const mpz_t modulus, fractions *x) {
    const size_t half = mpz_sizeinbase(modulus, 2) / 2;
    mpz_t high, low, before, factor, q;
    int k;
    mpz_inits(high, low, before, factor, q, NULL);
    mpz_set_ui(x->den, 1);
    for (k = 0; k < count && mpz_sizeinbase(x->den, 2) < half; k++) {
        mpz_mul(low, residue[k], x->den);
        mpz_fdiv_r(low, low, modulus);
        mpz_set(high, modulus);
        mpz_set_ui(before, 0);
        mpz_set_ui(factor, 1);
        while (mpz_sizeinbase(low, 2) > half) { /* Euclid's algorithm: low = factor * residue * den, modulo modulus */
            mpz_tdiv_qr(q, high, high, low);
            mpz_swap(high, low);
            mpz_submul(before, q, factor);
            mpz_swap(before, factor);
        }
        mpz_abs(factor, factor);
        mpz_mul(x->den, x->den, factor);
    }
    if (k < count) return 0;
    mpz_fdiv_q_2exp(high, modulus, 1);
    for (k = 0; k < count; k++) {
        mpz_mul(x->num[k], residue[k], x->den);
        mpz_fdiv_r(x->num[k], x->num[k], modulus);
        if (mpz_cmp(x->num[k], high) > 0) mpz_sub(x->num[k], x->num[k], modulus);
    }
    return 1;
}

/* to -= B x, or B' x. */
static void subtract_product(const square *b, int transposed, mpz_t *x, mpz_t *to) {
    const program *p = b->p;
    int j, k;
    for (j = 0; j < p->rows; j++)
        for (k = p->start[b->variable[j]]; k < p->start[b->variable[j] + 1]; k++)
            if (transposed) mpz_submul(to[j], p->exact[k], x[p->row[k]]);
            else mpz_submul(to[p->row[k]], p->exact[k], x[j]);
}

fractions solve(const square *b, int transposed, mpz_t *rhs) {
    const int m = b->p->rows;
    fractions x = {zeros(m), {{0}}};
    mpz_t *left = zeros(m), *error = zeros(m), *residue = zeros(m), *digit = zeros(m), power;
    uint64_t *r = allocate((size_t)m, sizeof *r), *d = allocate((size_t)m, sizeof *d);
    int j, digits = 0, trial = 2, found = 0;
    mpz_init_set_ui(power, 1);
    mpz_init_set_ui(x.den, 1);
    for (j = 0; j < m; j++) mpz_set(left[j], rhs[j]);
    while (!found) {
        for (j = 0; j < m; j++) r[j] = mpz_fdiv_ui(left[j], P);
        solve_modular(b, transposed, r, d);
        for (j = 0; j < m; j++) {
            mpz_set_ui(digit[j], d[j]);
            mpz_addmul(residue[j], power, digit[j]);
        }
        subtract_product(b, transposed, digit, left);
        for (j = 0; j < m; j++) mpz_divexact_ui(left[j], left[j], P);
        mpz_mul_ui(power, power, P);
        if (++digits < trial) continue;
        trial += trial / 8 + 1;
        if (!(found = find_fractions(m, residue, power, &x))) continue;
        for (j = 0; j < m; j++) mpz_mul(error[j], rhs[j], x.den);
        subtract_product(b, transposed, x.num, error);
        for (j = 0; j < m; j++) found &= mpz_sgn(error[j]) == 0;
    }
    return x;
}
