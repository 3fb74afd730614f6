/* SPDX-License-Identifier: MIT
 *
 * Factors of a basis. Solves are checked by residuals in long double against the columns themselves, ranks against an
 * elimination in integers modulo a prime. Whole inverses of unimodular matrices, which are integers, are checked digit
 * by digit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt_impl/simplex/factor/make.h"
#include "tests/support/support.h"

static uint64_t seed;
static uint32_t draw(uint32_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* A matrix by columns, a head, and the engine's arrays for it. */
typedef struct problem {
    int32_t rows, cols;
    int64_t *start;
    int32_t *row, *head;
    double *value;
    gpuopt__simplex_factor f;
    gpuopt__simplex_etas etas;
    void *etas_block;
    double *x, *scratch;
} problem;

static problem new_problem(int32_t rows, int32_t cols, int32_t most) {
    problem p = {.rows = rows, .cols = cols};
    gpuopt__arena arena = {NULL, 0};
    p.start = calloc((size_t)cols + 1, sizeof *p.start);
    p.row = calloc((size_t)rows * (size_t)cols + 1, sizeof *p.row);
    p.value = calloc((size_t)rows * (size_t)cols + 1, sizeof *p.value);
    p.head = calloc((size_t)rows, sizeof *p.head);
    p.x = calloc((size_t)rows, sizeof *p.x);
    p.scratch = calloc((size_t)rows, sizeof *p.scratch);
    gpuopt__simplex_etas_cut(&arena, rows, most, &p.etas);
    p.etas_block = arena.base = malloc((size_t)arena.used);
    arena.used = 0;
    gpuopt__simplex_etas_cut(&arena, rows, most, &p.etas);
    return p;
}

static void set_capacity(problem *p, int64_t capacity) {
    gpuopt__arena arena = {NULL, 0};
    free(p->f.block);
    p->f.block = arena.base = malloc((size_t)gpuopt__simplex_factor_bytes(p->rows, capacity));
    assert_non_null(arena.base);
    gpuopt__simplex_factor_cut(&arena, p->rows, capacity, &p->f);
    gpuopt__simplex_factor_unit(&p->f, p->rows);
}

static void free_problem(problem *p) {
    free(p->start), free(p->row), free(p->value), free(p->head), free(p->x), free(p->scratch);
    free(p->f.block), free(p->etas_block);
}

static void add_entry(problem *p, int32_t col, int32_t row, double value) {
    p->row[p->start[col + 1]] = row;
    p->value[p->start[col + 1]++] = value;
}

/* Random columns, about `entries` in each, of integers from -9 to 9. */
static void fill(problem *p, int32_t entries) {
    int32_t i, j;
    for (j = 0; j < p->cols; j++) {
        p->start[j + 1] = p->start[j];
        for (i = 0; i < p->rows; i++)
            if (draw((uint32_t)p->rows) < (uint32_t)entries) add_entry(p, j, i, (double)draw(19) - 9);
    }
}

/* Factors, with more capacity until there is enough. */
static int32_t make(problem *p, double least, int by_rows, int32_t *position) {
    gpuopt__simplex_factor_basis b = {p->start, p->row, p->value, p->cols, p->head};
    int64_t capacity = p->rows + 2;
    for (;; capacity *= 2) {
        int32_t singular;
        set_capacity(p, capacity);
        singular = gpuopt__simplex_factor_make(&p->f, &b, least, by_rows, position);
        if (singular >= 0) return singular;
        assert_true(capacity <= 2 * ((int64_t)p->rows + 1) * (p->rows + 1)); /* a dense basis fits */
    }
}

/* sum[i] += by * column of a variable; and the sum of the absolute values. */
static void add_column(const problem *p, int32_t variable, long double by, long double *sum, long double *size) {
    int64_t e;
    if (variable >= p->cols) {
        sum[variable - p->cols] += by;
        size[variable - p->cols] += fabsl(by);
        return;
    }
    for (e = p->start[variable]; e < p->start[variable + 1]; e++) {
        sum[p->row[e]] += by * (long double)p->value[e];
        size[p->row[e]] += fabsl(by * (long double)p->value[e]);
    }
}

static void solve(problem *p, int transposed) {
    if (transposed) {
        gpuopt__simplex_etas_btran(&p->etas, p->x);
        gpuopt__simplex_factor_btran(&p->f, p->x, p->scratch);
    } else {
        gpuopt__simplex_factor_ftran(&p->f, p->x, p->scratch);
        gpuopt__simplex_etas_ftran(&p->etas, p->x);
    }
}

/* The largest backward error of both solves with a random sparse vector, and with a full one. head: by positions. */
static double backward_error(problem *p) {
    long double *sum = calloc((size_t)p->rows, sizeof *sum), *size = calloc((size_t)p->rows, sizeof *size), worst = 0;
    double *b = calloc((size_t)p->rows, sizeof *b);
    int32_t i, full;
    for (full = 0; full < 4; full++) {
        for (i = 0; i < p->rows; i++) b[i] = full & 1 || draw((uint32_t)p->rows) < 2 ? (double)draw(2001) - 1000 : 0;
        memcpy(p->x, b, sizeof *b * (size_t)p->rows);
        solve(p, full & 2);
        for (i = 0; i < p->rows; i++) sum[i] = -b[i], size[i] = fabs(b[i]) + 1e-9;
        for (i = 0; i < p->rows && !(full & 2); i++) add_column(p, p->head[i], p->x[i], sum, size);
        for (i = 0; i < p->rows && full & 2; i++) {
            int64_t e;
            const int32_t j = p->head[i];
            if (j >= p->cols) {
                sum[i] += p->x[j - p->cols];
                size[i] += fabs(p->x[j - p->cols]);
            } else
                for (e = p->start[j]; e < p->start[j + 1]; e++) {
                    sum[i] += (long double)p->value[e] * p->x[p->row[e]];
                    size[i] += fabsl((long double)p->value[e] * p->x[p->row[e]]);
                }
        }
        for (i = 0; i < p->rows; i++) {
            long double largest = 0;
            int32_t k;
            for (k = 0; k < p->rows; k++) largest = size[k] > largest ? size[k] : largest;
            assert_true(isfinite(p->x[i]));
            if (fabsl(sum[i]) / largest > worst) worst = fabsl(sum[i]) / largest;
        }
    }
    free(sum), free(size), free(b);
    return (double)worst;
}

/* ---- The oracle of ranks ---- */

enum { PRIME = 1000003 };

static int64_t power(int64_t x, int64_t n) {
    int64_t y = 1;
    for (; n > 0; n /= 2, x = x * x % PRIME)
        if (n & 1) y = y * x % PRIME;
    return y;
}

/* The rank of the head's columns modulo a prime. */
static int32_t rank_of(const problem *p) {
    const int32_t n = p->rows;
    int64_t *a = calloc((size_t)n * (size_t)n, sizeof *a), e;
    int32_t i, j, k, rank = 0;
    for (j = 0; j < n; j++)
        if (p->head[j] >= p->cols) a[(p->head[j] - p->cols) * (int64_t)n + j] = 1;
        else
            for (e = p->start[p->head[j]]; e < p->start[p->head[j] + 1]; e++)
                a[p->row[e] * (int64_t)n + j] = ((int64_t)p->value[e] + PRIME) % PRIME;
    for (j = 0; j < n; j++) {
        for (i = rank; i < n && a[i * (int64_t)n + j] == 0;) i++;
        if (i == n) continue;
        for (k = 0; k < n; k++) {
            int64_t kept = a[i * (int64_t)n + k];
            a[i * (int64_t)n + k] = a[rank * (int64_t)n + k];
            a[rank * (int64_t)n + k] = kept;
        }
        for (i = rank + 1; i < n; i++) {
            int64_t factor = a[i * (int64_t)n + j] * power(a[rank * (int64_t)n + j], PRIME - 2) % PRIME;
            for (k = j; k < n && factor; k++)
                a[i * (int64_t)n + k] = (a[i * (int64_t)n + k] + (PRIME - factor) * a[rank * (int64_t)n + k]) % PRIME;
        }
        rank++;
    }
    free(a);
    return rank;
}

/* ---- Tests ---- */

/* Some of the structural columns, and unit columns of different rows, in any order. */
static void draw_head(problem *p, uint32_t units_of_ten) {
    int32_t i, j = 0;
    for (i = 0; i < p->rows; i++) p->head[i] = draw(10) < units_of_ten ? p->cols + i : j++;
    for (i = p->rows - 1; i > 0; i--) {
        int32_t k = (int32_t)draw((uint32_t)i + 1), kept = p->head[i];
        p->head[i] = p->head[k];
        p->head[k] = kept;
    }
}

/* Columns that the factors leave out, and unit columns instead, so that head is the basis of the factors. */
static void repair(problem *p, const int32_t *position, int by_rows) {
    int32_t *head = calloc((size_t)p->rows, sizeof *head), i, k, left = 0;
    uint8_t *has = calloc((size_t)p->rows, 1);
    for (i = 0; i < p->rows; i++) head[i] = -1;
    for (i = 0; i < p->rows; i++) left += position[i] < 0;
    for (i = 0; i < p->rows; i++)
        if (position[i] >= 0) head[position[i]] = p->head[i];
    for (k = p->rows - left; k < p->rows; k++) { /* the last steps are theirs */
        assert_true(p->f.position[k] >= 0 && head[p->f.position[k]] < 0);
        assert_true(!by_rows || p->f.position[k] == p->f.row[k]);
        head[p->f.position[k]] = p->cols + p->f.row[k];
    }
    for (i = 0; i < p->rows; i++) assert_true(!has[p->f.row[i]]++);
    memcpy(p->head, head, sizeof *head * (size_t)p->rows);
    free(head), free(has);
}

static void random_bases_and_their_ranks(void **state) {
    static const int32_t sizes[] = {1, 2, 3, 5, 8, 20, 60};
    int32_t trial, found_singular = 0, found_regular = 0;
    (void)state;
    for (trial = 0; trial < 420; trial++) {
        const int32_t rows = sizes[trial % 7], entries = 1 + (int32_t)draw((uint32_t)(trial % 3 ? 4 : rows));
        problem p = new_problem(rows, rows, 1);
        int32_t *position = calloc((size_t)rows, sizeof *position), singular, by_rows = trial & 1;
        seed = 77 + (uint64_t)trial;
        fill(&p, entries);
        draw_head(&p, draw(6));
        if (trial % 5 == 0 && rows > 2 && p.head[0] < rows && p.head[1] < rows) { /* a column twice */
            p.head[1] = p.head[0];
        }
        singular = make(&p, 1e-9, by_rows, position);
        assert_int_equal(rows - singular, rank_of(&p));
        found_singular += singular > 0, found_regular += singular == 0;
        repair(&p, position, by_rows);
        assert_int_equal(rank_of(&p), rows);
        assert_true(backward_error(&p) < 1e-12);
        free(position);
        free_problem(&p);
    }
    assert_true(found_singular > 50 && found_regular > 50);
}

/* A product of elementary matrices has determinant 1, so its inverse has determinant 1 and integer entries. */
static void inverses_of_unimodular_matrices_are_integers(void **state) {
    int32_t trial, i, j, k;
    (void)state;
    for (trial = 0; trial < 40; trial++) {
        const int32_t n = 4 + trial;
        problem p = new_problem(n, n, 1);
        double *a = calloc((size_t)n * (size_t)n, sizeof *a), *inverse = calloc((size_t)n * (size_t)n, sizeof *a);
        int32_t ops;
        seed = 5 + (uint64_t)trial;
        for (i = 0; i < n; i++) a[i * n + i] = inverse[i * n + i] = 1;
        for (ops = 0; ops < 2 * n; ops++) { /* column j of a += by * column i; row i of the inverse -= by * row j */
            double by = (double)draw(5) - 2;
            i = (int32_t)draw((uint32_t)n), j = (int32_t)draw((uint32_t)n);
            for (k = 0; k < n && i != j; k++) {
                a[k * n + j] += by * a[k * n + i];
                inverse[i * n + k] -= by * inverse[j * n + k];
            }
        }
        for (j = 0; j < n; j++) {
            p.head[j] = j;
            p.start[j + 1] = p.start[j];
            for (i = 0; i < n; i++)
                if (a[i * n + j] != 0) add_entry(&p, j, i, a[i * n + j]);
        }
        assert_int_equal(make(&p, 1e-9, 0, NULL), 0);
        for (k = 0; k < 2 * n; k++) {
            memset(p.x, 0, sizeof *p.x * (size_t)n);
            p.x[k % n] = 1;
            solve(&p, k >= n);
            for (i = 0; i < n; i++) {
                const double exact = k < n ? inverse[i * n + k] : inverse[(k - n) * n + i];
                assert_true(fabs(p.x[i] - exact) <= 1e-7 * (1 + fabs(exact)));
            }
        }
        free(a), free(inverse);
        free_problem(&p);
    }
}

/* A matrix that is triangular after permuting rows and columns has no fill, and one pivot for each entry of the
 * diagonal; no entry goes to L. */
static void triangular_bases_have_no_fill(void **state) {
    int32_t trial;
    (void)state;
    for (trial = 0; trial < 30; trial++) {
        const int32_t n = 200;
        problem p = new_problem(n, n, 1);
        int32_t order[200], i, j, k;
        seed = 900 + (uint64_t)trial;
        for (i = 0; i < n; i++) order[i] = i;
        for (i = n - 1; i > 0; i--) k = (int32_t)draw((uint32_t)i + 1), j = order[i], order[i] = order[k], order[k] = j;
        for (j = 0; j < n; j++) {
            p.head[(j * 7 + 3) % n] = j;
            p.start[j + 1] = p.start[j];
            for (i = 0; i < j; i++)
                if (draw(40) == 0) add_entry(&p, j, order[i], (double)draw(9) + 1);
            add_entry(&p, j, order[j], trial % 2 ? 1e-3 : 2);
        }
        assert_int_equal(make(&p, 1e-9, 0, NULL), 0);
        assert_true(p.f.u.start[n] + p.f.l.start[p.f.steps] == p.start[n] - n);
        assert_int_equal(p.f.steps, 0);
        free_problem(&p);
    }
}

/* Pivots beside the factors, as many as fit, then new factors, repeatedly: the error stays small, and the factors of
 * the last basis agree with the pivots. */
static void pivots_follow_the_factors(void **state) {
    const int32_t rows = 80, cols = 200;
    problem p = new_problem(rows, cols, 20);
    int32_t round, k, i, pivots = 0;
    (void)state;
    seed = 4711;
    fill(&p, 5);
    for (i = 0; i < rows; i++) p.head[i] = cols + i;
    assert_int_equal(make(&p, 1e-9, 0, NULL), 0);
    for (round = 0; round < 30; round++) {
        double *before = calloc((size_t)rows, sizeof *before), largest = 0;
        for (k = 0; k < 200 && p.etas.count < p.etas.most; k++) {
            const int32_t enters = (int32_t)draw((uint32_t)cols);
            int32_t best = -1, basic = 0;
            int64_t e;
            for (i = 0; i < rows; i++) basic |= p.head[i] == enters;
            if (basic) continue;
            memset(p.x, 0, sizeof *p.x * (size_t)rows);
            for (e = p.start[enters]; e < p.start[enters + 1]; e++) p.x[p.row[e]] = p.value[e];
            solve(&p, 0);
            for (i = 0; i < rows; i++)
                if (fabs(p.x[i]) > 0.1 && (best < 0 || draw(3) == 0)) best = i;
            if (best < 0) continue;
            gpuopt__simplex_etas_add(&p.etas, rows, p.x, best);
            p.head[best] = enters;
            pivots++;
        }
        assert_true(backward_error(&p) < 1e-9);
        for (i = 0; i < rows; i++) p.x[i] = before[i] = (double)draw(100);
        solve(&p, round & 1);
        for (i = 0; i < rows; i++) {
            double kept = p.x[i];
            p.x[i] = before[i], before[i] = kept;
        }
        p.etas.count = 0;
        assert_int_equal(make(&p, 0, 0, NULL), 0);
        solve(&p, round & 1);
        for (i = 0; i < rows; i++) largest = gpuopt__max(largest, fabs(p.x[i]));
        for (i = 0; i < rows; i++) assert_true(fabs(p.x[i] - before[i]) <= 1e-6 * largest);
        assert_true(backward_error(&p) < 1e-11);
        free(before);
    }
    assert_true(pivots > 400);
    free_problem(&p);
}

/* With pivots of 1e-10 in places without other entries, `least` decides whether they count. */
static void small_entries_are_no_pivots(void **state) {
    problem p = new_problem(3, 3, 1);
    int32_t position[3];
    (void)state;
    for (int32_t j = 0; j < 3; j++) {
        p.head[j] = j;
        p.start[j + 1] = p.start[j];
        add_entry(&p, j, 2 - j, j == 1 ? 1e-10 : 1);
    }
    assert_int_equal(make(&p, 1e-9, 1, position), 1);
    assert_true(position[0] == 2 && position[1] == -1 && position[2] == 0);
    assert_int_equal(make(&p, 1e-14, 1, position), 0);
    assert_true(position[0] == 2 && position[1] == 1 && position[2] == 0);
    free_problem(&p);
}

/* Entries of all sizes: entries that would overflow are left out, and all others can be used. */
static void numbers_stay_finite(void **state) {
    int32_t trial, i, j, regular = 0;
    int64_t e;
    (void)state;
    for (trial = 0; trial < 20000; trial++) {
        const int32_t n = 3 + trial % 6;
        problem p = new_problem(n, n, 1);
        int32_t position[8];
        seed = 31 + (uint64_t)trial;
        for (j = 0; j < n; j++) {
            p.head[j] = j;
            p.start[j + 1] = p.start[j];
            for (i = 0; i < n; i++)
                if (draw(2))
                    add_entry(&p, j, i, ldexp(draw(2) ? 1.0 + draw(8) : -1.0 - draw(8), (int)draw(2040) - 1020));
        }
        regular += make(&p, 1e-9, trial & 1, position) == 0;
        for (e = 0; e < p.f.u.start[n]; e++) assert_true(isfinite(p.f.u.value[e]));
        for (e = 0; e < p.f.l.start[p.f.steps]; e++) assert_true(isfinite(p.f.l.value[e]));
        for (i = 0; i < n; i++) assert_true(isfinite(p.f.pivot[i]) && p.f.pivot[i] != 0);
        free_problem(&p);
    }
    assert_true(regular > 500 && regular < 19500);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bases_and_their_ranks),  cmocka_unit_test(inverses_of_unimodular_matrices_are_integers),
        cmocka_unit_test(triangular_bases_have_no_fill), cmocka_unit_test(pivots_follow_the_factors),
        cmocka_unit_test(small_entries_are_no_pivots),   cmocka_unit_test(numbers_stay_finite),
    };
    return test_main(argc, argv, __FILE__, tests, sizeof tests / sizeof *tests);
}
