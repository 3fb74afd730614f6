/* SPDX-License-Identifier: MIT
 *
 * Exact solutions of sparse linear systems. The parts are an LU factorization modulo the prime 2^62 - 57 with the
 * pivots of least Markowitz count, p-adic lifting (Dixon 1982), rational reconstruction, and a check by multiplication.
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

/* The pivot is in this row and column. The column's other entries are multiples of the pivot: first `lowers` entries in
 * rows that receive their pivots later, then entries in rows that have one. */
typedef struct step {
    int row, column, lowers, count;
    uint64_t inverse; /* of the pivot */
    entry *entry;
} step;

static void subtract(uint64_t *from, const step *s, int first, int last, uint64_t factor) {
    for (; factor && first < last; first++)
        from[s->entry[first].row] = minus(from[s->entry[first].row], times(factor, s->entry[first].value));
}

static uint64_t rest(uint64_t of, const step *s, int first, int last, const uint64_t *x) {
    for (; first < last; first++) of = minus(of, times(x[s->entry[first].row], s->entry[first].value));
    return of;
}

/* The column without a pivot that has entries in the fewest rows without one, before fill. */
static int choose_column(const program *p, const char *done, const int *entries) {
    int best = -1, least = 0, j, k;
    for (j = 0; j < p->rows; j++) {
        int count = 0;
        for (k = p->start[p->basic[j]]; k < p->start[p->basic[j] + 1]; k++) count += entries[p->row[k]] > 0;
        if (count == 0) count = p->rows;
        if (!done[j] && (best < 0 || count < least)) best = j, least = count;
    }
    return best;
}

int factorize(program *p) {
    const int m = p->rows;
    char *done = allocate(m, 1);
    int *entries = allocate(m, sizeof(int)), i, j, k; /* in a row; 0: it has a pivot */
    uint64_t *x = allocate(m, sizeof *x);
    step *s = p->steps = allocate(m, sizeof *s), *before;
    for (j = 0; j < m; j++)
        for (k = p->start[p->basic[j]]; k < p->start[p->basic[j] + 1]; k++) entries[p->row[k]]++;
    for (; s < p->steps + m; s++) {
        j = s->column = choose_column(p, done, entries);
        done[j] = 1;
        for (k = p->start[p->basic[j]]; k < p->start[p->basic[j] + 1]; k++) x[p->row[k]] = mpz_fdiv_ui(p->exact[k], P);
        for (before = p->steps; before < s; before++) subtract(x, before, 0, before->lowers, x[before->row]);
        for (i = 0, s->row = -1; i < m; i++) {
            s->count += x[i] != 0;
            if (x[i] && entries[i] && (s->row < 0 || entries[i] < entries[s->row])) s->row = i;
        }
        if (s->row < 0) return -1;
        s->inverse = inverse(x[s->row]);
        s->entry = allocate(s->count--, sizeof(entry));
        for (i = 0, k = s->count; i < m; x[i++] = 0)
            if (x[i] && !entries[i]) s->entry[--k] = (entry){i, x[i]};
            else if (x[i] && i != s->row) s->entry[s->lowers++] = (entry){i, times(x[i], s->inverse)};
        entries[s->row] = 0;
    }
    return 0;
}

/* Solves modulo P; overwrites rhs. */
static void solve_modular(const program *p, int transposed, uint64_t *rhs, uint64_t *x) {
    const step *end = p->steps + p->rows, *s;
    for (s = p->steps; s < end; s++)
        if (transposed) x[s->row] = times(rest(rhs[s->column], s, s->lowers, s->count, x), s->inverse);
        else subtract(rhs, s, 0, s->lowers, rhs[s->row]);
    while (s-- > p->steps)
        if (transposed) x[s->row] = rest(x[s->row], s, 0, s->lowers, x);
        else subtract(rhs, s, s->lowers, s->count, x[s->column] = times(rhs[s->row], s->inverse));
}

/* ---- Fractions ---- */

/* Looks for fractions of at most half as many digits as the modulus that have these residues, with a common denominator
 * within the same limit. */
static int find_fractions(int count, mpz_t *residue, const mpz_t modulus, fractions *x) {
    const size_t half = mpz_sizeinbase(modulus, 2) / 2;
    mpz_t high, low, before, factor, q;
    int k, j;
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
    for (j = 0; j < count && k == count; j++) {
        mpz_mul(low, residue[j], x->den);
        mpz_fdiv_r(low, low, modulus);
        mpz_sub(high, low, modulus);
        mpz_set(x->num[j], mpz_cmpabs(low, high) < 0 ? low : high);
    }
    return k == count;
}

/* from -= B x, or B' x. */
static void subtract_product(const program *p, int transposed, mpz_t *x, mpz_t *from) {
    int j, e;
    for (j = 0; j < p->rows; j++)
        for (e = p->start[p->basic[j]]; e < p->start[p->basic[j] + 1]; e++)
            if (transposed) mpz_submul(from[j], p->exact[e], x[p->row[e]]);
            else mpz_submul(from[p->row[e]], p->exact[e], x[j]);
}

fractions solve(const program *p, int transposed, mpz_t *rhs) {
    const int m = p->rows;
    fractions x = {zeros(m), {{0}}};
    mpz_t *left = zeros(m), *error = zeros(m), *residue = zeros(m), *digit = zeros(m), power;
    uint64_t *r = allocate(m, sizeof *r), *d = allocate(m, sizeof *d);
    int j, digits = 0, trial = 2, found = 0;
    mpz_init_set_ui(power, 1);
    mpz_init_set_ui(x.den, 1);
    for (j = 0; j < m; j++) mpz_set(left[j], rhs[j]);
    while (!found) {
        for (j = 0; j < m; j++) r[j] = mpz_fdiv_ui(left[j], P);
        solve_modular(p, transposed, r, d);
        for (j = 0; j < m; j++) mpz_set_ui(digit[j], d[j]);
        for (j = 0; j < m; j++) mpz_addmul(residue[j], power, digit[j]);
        subtract_product(p, transposed, digit, left);
        for (j = 0; j < m; j++) mpz_divexact_ui(left[j], left[j], P);
        mpz_mul_ui(power, power, P);
        if (++digits < trial) continue;
        trial += trial / 8 + 1;
        if (!(found = find_fractions(m, residue, power, &x))) continue;
        for (j = 0; j < m; j++) mpz_mul(error[j], rhs[j], x.den);
        subtract_product(p, transposed, x.num, error);
        for (j = 0; j < m; j++) found &= mpz_sgn(error[j]) == 0;
    }
    return x;
}
