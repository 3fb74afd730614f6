/* SPDX-License-Identifier: MIT
 *
 * Probing. Small integer models are enumerated: what a pass finds must hold in every solution. And it must be just what
 * follows from single propagators on the CPU, one for each probe, compared here in a way of its own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/batch.h"

enum { MOST = 10, POINTS = 4096, ROUNDS = 1000 };

/* ---- Models ---- */

/* Up to MOST integer columns, most of them binary, and rows of the kinds that probing is about; all numbers are small
 * integers. */
static mip draw_model(uint64_t *seed) {
    int32_t cols = (int32_t)test_random_int(seed, 3, MOST), rows = (int32_t)test_random_int(seed, 2, 12), i, j;
    int wide = 0;
    mip m = problem_new(cols, rows, rows * cols);
    for (j = 0; j < cols; j++) {
        int64_t low = 0, high = 1;
        if (wide < 2 && test_random_int(seed, 0, 4) == 0) low = test_random_int(seed, -2, 1), high = low + 3, wide++;
        problem_col(&m, j, (double)low, (double)high, 1);
    }
    for (i = 0; i < rows; i++) {
        int32_t entries = (int32_t)test_random_int(seed, 2, cols < 4 ? cols : 4), taken = 0;
        int kind = (int)test_random_int(seed, 0, 4);
        int64_t side = test_random_int(seed, -1, 2);
        problem_row(&m,
                    kind == 1 || kind == 3 ? 1
                    : kind == 4            ? (double)side
                                           : -INFINITY,
                    kind == 0 || kind == 3 ? 1
                    : kind == 1            ? INFINITY
                    : kind == 2            ? (double)side
                                           : (double)side + 1);
        for (j = 0; j < cols && taken < entries; j++) {
            if (test_random_int(seed, 0, cols - 1 - j) >= entries - taken) continue;
            taken++;
            if (kind == 0 || kind == 1 || kind == 3) problem_entry(&m, j, 1); /* packing, covering, partitioning */
            else
                problem_entry(
                    &m, j,
                    (double)(test_random_int(seed, 0, 1) ? test_random_int(seed, 1, 3) : -test_random_int(seed, 1, 3)));
        }
        if (kind == 3) m.lhs[i] = m.rhs[i] = 1;
    }
    return m;
}

/* All solutions within these bounds, [count][cols]. Sums of small integers are exact. */
static int32_t enumerate(const mip *m, const double *lb, const double *ub, double (*point)[MOST]) {
    int32_t cols = m->matrix.cols, count = 0, i, j;
    double x[MOST];
    int64_t k;
    for (j = 0; j < cols; j++) {
        if (lb[j] > ub[j]) return 0;
        x[j] = lb[j];
    }
    for (;;) {
        for (i = 0; i < m->matrix.rows; i++) {
            double sum = 0;
            for (k = m->matrix.start[i]; k < m->matrix.start[i + 1]; k++)
                sum += m->matrix.value[k] * x[m->matrix.index[k]];
            if (sum < m->lhs[i] || sum > m->rhs[i]) break;
        }
        if (i == m->matrix.rows) {
            assert_true(count < POINTS);
            memcpy(point[count++], x, sizeof x);
        }
        for (j = 0; j < cols && x[j] == ub[j]; j++) x[j] = lb[j];
        if (j == cols) return count;
        x[j]++;
    }
}

/* ---- Results ---- */

typedef struct found {
    gpuopt_propagator_probe_info info;
    gpuopt_propagator_probe_bounds bounds;
    gpuopt_propagator_probe_implications implications;
    gpuopt_propagator_probe_equivalences equivalences;
} found;

static gpuopt_propagator_probe *make_probe(gpuopt_propagator *base, int32_t nodes, int64_t changes, int64_t room) {
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe *probe;
    desc.nodes = nodes;
    desc.changes = changes;
    desc.implications = desc.equivalences = room;
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, &probe), GPUOPT_OK);
    return probe;
}

/* Everything that the latest pass found; to be freed with free_found. */
static found read_all(gpuopt_propagator_probe *probe, const gpuopt_propagator_probe_info *info) {
    found f = {*info, GPUOPT_INIT(gpuopt_propagator_probe_bounds), GPUOPT_INIT(gpuopt_propagator_probe_implications),
               GPUOPT_INIT(gpuopt_propagator_probe_equivalences)};
    size_t n;
    assert_int_equal(gpuopt_propagator_probe_get_bounds(probe, &f.bounds), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_probe_get_implications(probe, &f.implications), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_probe_get_equivalences(probe, &f.equivalences), GPUOPT_OK);
    assert_int_equal(f.bounds.count, info->bounds);
    assert_int_equal(f.implications.count, info->implications);
    assert_int_equal(f.equivalences.count, info->equivalences);
    n = (size_t)(f.bounds.capacity = f.bounds.count) + 1;
    f.bounds.col = malloc(sizeof(int32_t) * n), f.bounds.lb = malloc(sizeof(double) * n),
    f.bounds.ub = malloc(sizeof(double) * n);
    n = (size_t)(f.implications.capacity = f.implications.count) + 1;
    f.implications.col = malloc(sizeof(int32_t) * n), f.implications.lb = malloc(sizeof(double) * n),
    f.implications.ub = malloc(sizeof(double) * n);
    n = 2 * (size_t)info->probed + 1;
    f.implications.binary = malloc(sizeof(int32_t) * n), f.implications.outcome = malloc(sizeof(int32_t) * n),
    f.implications.start = malloc(sizeof(int64_t) * n);
    n = (size_t)(f.equivalences.capacity = f.equivalences.count) + 1;
    f.equivalences.col = malloc(sizeof(int32_t) * n), f.equivalences.other = malloc(sizeof(int32_t) * n),
    f.equivalences.opposite = malloc(n);
    assert_int_equal(gpuopt_propagator_probe_get_bounds(probe, &f.bounds), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_probe_get_implications(probe, &f.implications), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_probe_get_equivalences(probe, &f.equivalences), GPUOPT_OK);
    return f;
}

static found run(gpuopt_propagator_probe *probe, int32_t count, const int32_t *col) {
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    test_forbid_allocation(1);
    assert_int_equal(gpuopt_propagator_probe_run(probe, count, col, ROUNDS, &info), GPUOPT_OK);
    test_forbid_allocation(0);
    return read_all(probe, &info);
}

static void free_found(found *f) {
    free(f->bounds.col), free(f->bounds.lb), free(f->bounds.ub);
    free(f->implications.binary), free(f->implications.outcome), free(f->implications.start);
    free(f->implications.col), free(f->implications.lb), free(f->implications.ub);
    free(f->equivalences.col), free(f->equivalences.other), free(f->equivalences.opposite);
}

static void check_same(const found *a, const found *b) {
    size_t bounds = (size_t)a->info.bounds, implications = (size_t)a->info.implications,
           equivalences = (size_t)a->info.equivalences, probes = 2 * (size_t)a->info.probed;
    assert_memory_equal(&a->info, &b->info, sizeof a->info);
    assert_memory_equal(a->bounds.col, b->bounds.col, sizeof(int32_t) * bounds);
    assert_memory_equal(a->bounds.lb, b->bounds.lb, sizeof(double) * bounds);
    assert_memory_equal(a->bounds.ub, b->bounds.ub, sizeof(double) * bounds);
    assert_memory_equal(a->implications.binary, b->implications.binary, sizeof(int32_t) * probes / 2);
    assert_memory_equal(a->implications.outcome, b->implications.outcome, sizeof(int32_t) * probes);
    assert_memory_equal(a->implications.start, b->implications.start, sizeof(int64_t) * (probes + 1));
    assert_memory_equal(a->implications.col, b->implications.col, sizeof(int32_t) * implications);
    assert_memory_equal(a->implications.lb, b->implications.lb, sizeof(double) * implications);
    assert_memory_equal(a->implications.ub, b->implications.ub, sizeof(double) * implications);
    assert_memory_equal(a->equivalences.col, b->equivalences.col, sizeof(int32_t) * equivalences);
    assert_memory_equal(a->equivalences.other, b->equivalences.other, sizeof(int32_t) * equivalences);
    assert_memory_equal(a->equivalences.opposite, b->equivalences.opposite, equivalences);
}

/* ---- What must hold ---- */

/* Every point that is in the base's bounds and satisfies the rows satisfies what was found. */
static void check_points(const found *f, int32_t count, double (*point)[MOST]) {
    int32_t n, p;
    int64_t k;
    if (f->info.outcome == GPUOPT_INFEASIBLE) assert_int_equal(count, 0);
    for (n = 0; n < count; n++) {
        const double *x = point[n];
        for (k = 0; k < f->bounds.count; k++)
            assert_true(f->bounds.lb[k] <= x[f->bounds.col[k]] && x[f->bounds.col[k]] <= f->bounds.ub[k]);
        for (k = 0; k < f->equivalences.count; k++)
            assert_true(x[f->equivalences.other[k]] ==
                        (f->equivalences.opposite[k] ? 1 - x[f->equivalences.col[k]] : x[f->equivalences.col[k]]));
        for (p = 0; p < 2 * f->info.probed; p++) {
            if (x[f->implications.binary[p / 2]] != p % 2) continue;
            assert_int_not_equal(f->implications.outcome[p], GPUOPT_INFEASIBLE);
            for (k = f->implications.start[p]; k < f->implications.start[p + 1]; k++)
                assert_true(f->implications.lb[k] <= x[f->implications.col[k]] &&
                            x[f->implications.col[k]] <= f->implications.ub[k]);
        }
    }
}

/* Bounds of all columns after one probe. */
typedef struct side {
    gpuopt_outcome outcome;
    double lb[MOST], ub[MOST];
} side;

static side probe_alone(gpuopt_context *cpu, const gpuopt_propagator_desc *desc, int base_rounds, int32_t col,
                        double value) {
    gpuopt_propagator *p = problem_create(cpu, desc);
    side s;
    if (base_rounds) problem_round(p, base_rounds);
    assert_int_equal(gpuopt_propagator_set_some_bounds(p, GPUOPT_HOST, 1, &col, &value, &value), GPUOPT_OK);
    s.outcome = problem_round(p, ROUNDS).outcome;
    problem_bounds(p, s.lb, s.ub);
    gpuopt_propagator_destroy(p);
    return s;
}

/* What was found is what follows from single propagators. */
static void check_alone(gpuopt_context *cpu, const gpuopt_propagator_desc *desc, int base_rounds, const found *f,
                        const double *lb, const double *ub) {
    int32_t cols = desc->matrix.cols, j, b, probed = 0, infeasible = 0, bounds = 0, fixings = 0;
    int64_t implications = 0, equivalences = 0, implied = 0;
    int hopeless = 0, v;
    double low[MOST], high[MOST];
    memcpy(low, lb, sizeof low), memcpy(high, ub, sizeof high);
    for (b = 0; b < cols; b++) {
        side s[2];
        if (lb[b] != 0 || ub[b] != 1) continue;
        assert_int_equal(f->implications.binary[probed], b);
        for (v = 0; v < 2; v++) {
            s[v] = probe_alone(cpu, desc, base_rounds, b, v);
            assert_int_equal(f->implications.outcome[2 * probed + v], (int)s[v].outcome);
            assert_int_equal(f->implications.start[2 * probed + v], implications);
            infeasible += s[v].outcome == GPUOPT_INFEASIBLE;
            for (j = 0; j < cols && s[v].outcome != GPUOPT_INFEASIBLE; j++) {
                if (j == b || (s[v].lb[j] == lb[j] && s[v].ub[j] == ub[j])) continue;
                assert_true(implications < f->implications.count);
                assert_int_equal(f->implications.col[implications], j);
                assert_true(f->implications.lb[implications] == s[v].lb[j]);
                assert_true(f->implications.ub[implications] == s[v].ub[j]);
                implied += lb[j] == 0 && ub[j] == 1;
                implications++;
            }
        }
        probed++;
        for (j = 0; j < cols; j++) {
            int no[2] = {s[0].outcome == GPUOPT_INFEASIBLE, s[1].outcome == GPUOPT_INFEASIBLE};
            if (no[0] && no[1]) hopeless = 1;
            else {
                low[j] = fmax(low[j], no[0] ? s[1].lb[j] : no[1] ? s[0].lb[j] : fmin(s[0].lb[j], s[1].lb[j]));
                high[j] = fmin(high[j], no[0] ? s[1].ub[j] : no[1] ? s[0].ub[j] : fmax(s[0].ub[j], s[1].ub[j]));
            }
            if (no[0] || no[1] || j == b || lb[j] != 0 || ub[j] != 1) continue;
            if (s[0].lb[j] != s[0].ub[j] || s[1].lb[j] != s[1].ub[j] || s[0].lb[j] == s[1].lb[j]) continue;
            assert_true(equivalences < f->equivalences.count);
            assert_int_equal(f->equivalences.col[equivalences], b);
            assert_int_equal(f->equivalences.other[equivalences], j);
            assert_int_equal(f->equivalences.opposite[equivalences], s[1].lb[j] == 0);
            equivalences++;
        }
    }
    for (j = 0; j < cols; j++) {
        if (low[j] == lb[j] && high[j] == ub[j]) continue;
        hopeless |= low[j] > high[j];
        assert_int_equal(f->bounds.col[bounds], j);
        assert_true(f->bounds.lb[bounds] == low[j] && f->bounds.ub[bounds] == high[j]);
        fixings += low[j] >= high[j];
        bounds++;
    }
    assert_int_equal(f->info.probed, probed);
    assert_int_equal(f->info.infeasible, infeasible);
    assert_int_equal(f->info.unfinished, 0);
    assert_int_equal(f->info.outcome, hopeless ? GPUOPT_INFEASIBLE : GPUOPT_CONVERGED);
    assert_int_equal(f->info.bounds, bounds);
    assert_int_equal(f->info.fixings, fixings);
    assert_int_equal(f->info.implications, implications);
    assert_int_equal(f->info.implied_binaries, implied);
    assert_int_equal(f->info.equivalences, equivalences);
}

/* ---- Tests ---- */

/* Random models; with room for all binaries at once, and for one at a time. */
static void random_models(void **state) {
    static double point[POINTS][MOST];
    gpuopt_context *context = test_context(NULL), *cpu = plain_context();
    uint64_t seed = 19;
    int trial, seen[8] = {0};
    int64_t bounds = 0, equivalences = 0, implications = 0, infeasible = 0;
    (void)state;
    for (trial = 0; trial < test_times(3000, 300); trial++) {
        mip m = draw_model(&seed);
        gpuopt_propagator_desc desc = mip_propagator_desc(&m);
        int base_rounds = trial % 4 ? 100 : 0; /* a base need not be at a fixpoint */
        gpuopt_propagator *base = problem_create(context, &desc);
        gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
        double lb[MOST], ub[MOST];
        if (base_rounds) info = problem_round(base, base_rounds);
        problem_bounds(base, lb, ub);
        if (info.outcome != GPUOPT_INFEASIBLE) {
            gpuopt_propagator_probe *probe = make_probe(base, 0, 0, 1000),
                                    *narrow = make_probe(base, 2 * (1 + trial % 3), 2 * m.matrix.cols, 1000);
            found f = run(probe, 0, NULL), again = run(narrow, 0, NULL);
            check_same(&f, &again);
            check_alone(cpu, &desc, base_rounds, &f, lb, ub);
            check_points(&f, enumerate(&m, lb, ub, point), point);
            seen[f.info.outcome]++;
            bounds += f.info.bounds, equivalences += f.info.equivalences;
            implications += f.info.implications, infeasible += f.info.infeasible;
            free_found(&f), free_found(&again);
            gpuopt_propagator_probe_destroy(probe);
            gpuopt_propagator_probe_destroy(narrow);
        }
        gpuopt_propagator_destroy(base);
        mip_free(&m);
    }
    print_message("CONVERGED %d, INFEASIBLE %d; %lld bounds, %lld equivalences, %lld implications, %lld infeasible\n",
                  seen[GPUOPT_CONVERGED], seen[GPUOPT_INFEASIBLE], (long long)bounds, (long long)equivalences,
                  (long long)implications, (long long)infeasible);
    assert_true(seen[GPUOPT_CONVERGED] && seen[GPUOPT_INFEASIBLE] && bounds && equivalences && infeasible);
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

/* y <= 3 + 7 x and y <= 10 - 5 x: y <= 10 of each row, but y <= 5 of either value. z = 1 - x, and w only if x = 0. The
 * last column is between 0 and 1, but no integer. */
static mip model_union(void) {
    mip m = problem_new(5, 4, 8);
    problem_col(&m, 0, 0, 1, 1);
    problem_col(&m, 1, 0, 20, 0);
    problem_col(&m, 2, 0, 1, 1);
    problem_col(&m, 3, 0, 1, 1);
    problem_col(&m, 4, 0, 1, 0);
    problem_row(&m, -INFINITY, 3), problem_entry(&m, 0, -7), problem_entry(&m, 1, 1);
    problem_row(&m, -INFINITY, 10), problem_entry(&m, 0, 5), problem_entry(&m, 1, 1);
    problem_row(&m, 1, 1), problem_entry(&m, 0, 1), problem_entry(&m, 2, 1);
    problem_row(&m, -INFINITY, 1), problem_entry(&m, 0, 1), problem_entry(&m, 3, 1);
    return m;
}

/* By hand: a bound of a continuous column, an equivalence, a choice of columns, and another pass after what was found. */
static void by_hand(void **state) {
    static const int32_t some[] = {3, 1, 0}; /* the second is no binary */
    gpuopt_context *context = test_context(NULL);
    mip m = model_union();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base = problem_create(context, &desc);
    gpuopt_propagator_probe *probe = make_probe(base, 0, 0, 100);
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    found f;
    (void)state;
    problem_round(base, 10);
    f = run(probe, 3, some);
    assert_int_equal(f.info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(f.info.probed, 2);
    assert_int_equal(f.implications.binary[0], 3);
    assert_int_equal(f.implications.binary[1], 0);
    assert_int_equal(f.info.bounds, 1);
    assert_int_equal(f.info.fixings, 0);
    assert_int_equal(f.bounds.col[0], 1);
    assert_true(f.bounds.lb[0] == 0 && f.bounds.ub[0] == 5);
    assert_int_equal(f.info.equivalences, 1);
    assert_int_equal(f.equivalences.col[0], 0);
    assert_int_equal(f.equivalences.other[0], 2);
    assert_int_equal(f.equivalences.opposite[0], 1);
    /* w = 0: nothing. w = 1: x = 0, y <= 3, z = 1. x = 0: y <= 3, z = 1. x = 1: y <= 5, z = 0, w = 0. */
    assert_int_equal(f.info.implications, 0 + 3 + 2 + 3);
    assert_int_equal(f.info.implied_binaries, 0 + 2 + 1 + 2);
    assert_int_equal(
        gpuopt_propagator_set_some_bounds(base, GPUOPT_HOST, f.bounds.count, f.bounds.col, f.bounds.lb, f.bounds.ub),
        GPUOPT_OK);
    free_found(&f);
    problem_round(base, 10);
    f = run(probe, 0, NULL);
    assert_int_equal(f.info.probed, 3);
    assert_int_equal(f.info.bounds, 0);
    assert_int_equal(f.info.unfinished, 0);
    free_found(&f);
    /* In one round only w = 0 ends at a fixpoint, where it begins. */
    assert_int_equal(gpuopt_propagator_probe_run(probe, 0, NULL, 1, &info), GPUOPT_OK);
    assert_int_equal(info.unfinished, 5);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* p and q are 1 if b = 0, r and s if b = 1; y >= p + q - 1 and y >= r + s - 1. In the same way each value of a wants y to
 * be 0. So there is no solution; but no probe of a or b meets both. */
static void crossing(void **state) {
    static const int32_t some[] = {0, 1};
    gpuopt_context *context = test_context(NULL);
    mip m = problem_new(11, 12, 28);
    gpuopt_propagator_desc desc;
    gpuopt_propagator *base;
    gpuopt_propagator_probe *probe;
    int32_t j;
    found f;
    (void)state;
    for (j = 0; j < 11; j++) problem_col(&m, j, 0, 1, 1); /* a, b, y, p, q, r, s, and the other four */
    for (j = 3; j < 5; j++) {
        problem_row(&m, 1, INFINITY), problem_entry(&m, 1, 1), problem_entry(&m, j, 1);
        problem_row(&m, 0, INFINITY), problem_entry(&m, 1, -1), problem_entry(&m, j + 2, 1);
        problem_row(&m, -INFINITY, 0), problem_entry(&m, 0, -1), problem_entry(&m, j + 4, 1);
        problem_row(&m, -INFINITY, 1), problem_entry(&m, 0, 1), problem_entry(&m, j + 6, 1);
    }
    for (j = 3; j < 11; j += 2) {
        problem_row(&m, j < 7 ? -1 : -INFINITY, j < 7 ? INFINITY : 0), problem_entry(&m, 2, 1);
        problem_entry(&m, j, -1), problem_entry(&m, j + 1, -1);
    }
    desc = mip_propagator_desc(&m);
    base = problem_create(context, &desc);
    probe = make_probe(base, 0, 0, 100);
    f = run(probe, 2, some);
    assert_int_equal(f.info.outcome, GPUOPT_INFEASIBLE);
    assert_int_equal(f.info.infeasible, 0);
    assert_int_equal(f.info.infeasible_col, 2);
    assert_int_equal(f.info.fixings, 0);
    assert_true(f.bounds.lb[0] == 1 && f.bounds.ub[0] == 0);
    free_found(&f);
    f = run(probe, 1, some);
    assert_int_equal(f.info.outcome, GPUOPT_CONVERGED);
    assert_true(f.bounds.lb[0] == 0 && f.bounds.ub[0] == 0);
    free_found(&f);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* Without room the counts are there, and the rest may still be read; a capacity cuts off. */
static void little_room(void **state) {
    gpuopt_context *context = test_context(NULL);
    mip m = model_union();
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_propagator *base = problem_create(context, &desc);
    gpuopt_propagator_probe *probe;
    gpuopt_propagator_probe_implications implications = GPUOPT_INIT(gpuopt_propagator_probe_implications);
    gpuopt_propagator_probe_equivalences equivalences = GPUOPT_INIT(gpuopt_propagator_probe_equivalences);
    int32_t binary[3], outcome[6], col[8];
    int64_t start[7];
    static const int64_t rooms[] = {0, 12, 13};
    size_t r;
    (void)state;
    problem_round(base, 10);
    implications.binary = binary, implications.outcome = outcome, implications.start = start, implications.col = col;
    /* The binaries are x, z and w: of the three, x and z imply 2 + 3 each, w none and 3. */
    for (r = 0; r < sizeof rooms / sizeof *rooms; r++) {
        gpuopt_status status = rooms[r] < 13 ? GPUOPT_ERROR_MEMORY : GPUOPT_OK;
        probe = make_probe(base, 0, 0, rooms[r]);
        assert_int_equal(gpuopt_propagator_probe_run(probe, 0, NULL, ROUNDS, NULL), GPUOPT_OK);
        memset(col, -1, sizeof col);
        implications.capacity = 3;
        assert_int_equal(gpuopt_propagator_probe_get_implications(probe, &implications), status);
        assert_int_equal(implications.count, 13);
        assert_int_equal(binary[2], 3);
        assert_int_equal(outcome[5], GPUOPT_CONVERGED);
        assert_int_equal(start[6], 13);
        assert_int_equal(start[1], 2);
        assert_int_equal(col[2], status ? -1 : 1); /* y, by x = 1 */
        assert_int_equal(col[3], -1);
        status = rooms[r] < 2 ? GPUOPT_ERROR_MEMORY : GPUOPT_OK;
        assert_int_equal(gpuopt_propagator_probe_get_equivalences(probe, &equivalences), status);
        assert_int_equal(equivalences.count, 2); /* from both ends */
        gpuopt_propagator_probe_destroy(probe);
    }
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* A stop hook that says so from its n-th call on. */
typedef struct stopper {
    int left;
} stopper;
static int stop(void *user) { return ((stopper *)user)->left-- <= 0; }

/* A pass that is stopped goes on where it ended, and finds the same. */
static void stopped(void **state) {
    enum { COLS = 40 };
    gpuopt_context_desc context_desc = test_context_desc(NULL);
    stopper host = {0};
    gpuopt_context *context;
    mip m = problem_new(COLS, COLS, 2 * COLS);
    gpuopt_propagator_desc desc;
    gpuopt_propagator *base;
    gpuopt_propagator_probe *probe;
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    int32_t col[COLS], j, at = 0, calls = 0;
    int64_t implications = 0;
    (void)state;
    for (j = 0; j < COLS; j++) problem_col(&m, col[j] = j, 0, 1, 1);
    for (j = 0; j + 1 < COLS; j++) problem_row(&m, -INFINITY, 0), problem_entry(&m, j, 1), problem_entry(&m, j + 1, -1);
    desc = mip_propagator_desc(&m);
    context_desc.stop = stop, context_desc.user = &host;
    context_desc.allocate = NULL, context_desc.release = NULL, context_desc.log = NULL;
    host.left = 1 << 30;
    assert_int_equal(gpuopt_context_create(&context_desc, &context), GPUOPT_OK);
    base = problem_create(context, &desc);
    problem_round(base, 10);
    probe = make_probe(base, 4, 0, 0);
    do {
        host.left = 5;
        assert_int_equal(gpuopt_propagator_probe_run(probe, COLS - at, col + at, ROUNDS, &info), GPUOPT_OK);
        assert_true(info.outcome == GPUOPT_MORE || at + info.probed == COLS);
        at += info.probed;
        implications += info.implications;
        assert_true(calls++ < 10 * COLS);
    } while (info.outcome == GPUOPT_MORE);
    assert_int_equal(info.outcome, GPUOPT_CONVERGED);
    assert_int_equal(at, COLS);
    assert_true(calls > 2);
    /* x[j] <= x[j + 1]: 0 goes down to all before, 1 up to all after. */
    assert_int_equal(implications, COLS * (COLS - 1));
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* What is wrong is refused, and probing works on. */
static void misuse(void **state) {
    model_host *h = *state;
    mip m = model_union();
    gpuopt_propagator_desc model = mip_propagator_desc(&m);
    gpuopt_propagator *base = problem_create(h->context, &model);
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe *probe;
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    gpuopt_propagator_probe_bounds bounds = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
    gpuopt_propagator_probe_implications implications = GPUOPT_INIT(gpuopt_propagator_probe_implications);
    gpuopt_propagator_probe_equivalences equivalences = GPUOPT_INIT(gpuopt_propagator_probe_equivalences);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    int32_t col[6] = {0, 1, 2, 5, 0, 0};
#define REFUSED(status, call) assert_int_equal(gpuopt_propagator_probe_##call, GPUOPT_ERROR_##status)
    REFUSED(ARGUMENT, create(NULL, &desc, &probe));
    REFUSED(ARGUMENT, create(base, NULL, &probe));
    REFUSED(ARGUMENT, create(base, &desc, NULL));
    REFUSED(ARGUMENT, plan(NULL, &desc, &plan));
    REFUSED(ARGUMENT, plan(base, &desc, NULL));
    desc.nodes = 3;
    REFUSED(ARGUMENT, create(base, &desc, &probe));
    desc.nodes = 65538;
    REFUSED(ARGUMENT, create(base, &desc, &probe));
    desc.nodes = 0, desc.changes = 9; /* less than 2 for each of the five columns */
    REFUSED(ARGUMENT, create(base, &desc, &probe));
    desc.changes = 0, desc.implications = -1;
    REFUSED(ARGUMENT, create(base, &desc, &probe));
    desc.implications = 0, desc.equivalences = -1;
    REFUSED(ARGUMENT, plan(base, &desc, &plan));
    desc.equivalences = 0;
    model.marking = GPUOPT_OFF;
    gpuopt_propagator_destroy(base);
    base = problem_create(h->context, &model);
    REFUSED(UNSUPPORTED, create(base, &desc, &probe));
    assert_null(probe);
    gpuopt_propagator_destroy(base);
    model.marking = GPUOPT_DEFAULT;
    base = problem_create(h->context, &model);
    problem_round(base, 10);
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, &probe), GPUOPT_OK);
    REFUSED(STATE, get_bounds(probe, &bounds));
    REFUSED(STATE, get_implications(probe, &implications));
    REFUSED(STATE, get_equivalences(probe, &equivalences));
    REFUSED(ARGUMENT, run(NULL, 0, NULL, 1, &info));
    REFUSED(ARGUMENT, run(probe, 0, NULL, 0, &info));
    REFUSED(ARGUMENT, run(probe, -1, NULL, 1, &info));
    REFUSED(ARGUMENT, run(probe, 6, col, 1, &info));
    REFUSED(ARGUMENT, run(probe, 4, col, 1, &info)); /* column 5 */
    info.struct_size = 0;
    REFUSED(ARGUMENT, run(probe, 3, col, 1, &info));
    REFUSED(STATE, get_bounds(probe, &bounds));
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_propagator_probe_run(probe, 3, col, ROUNDS, &info), GPUOPT_OK);
    assert_int_equal(info.probed, 2);
    REFUSED(ARGUMENT, get_bounds(NULL, &bounds));
    REFUSED(ARGUMENT, get_bounds(probe, NULL));
    REFUSED(ARGUMENT, get_implications(probe, NULL));
    REFUSED(ARGUMENT, get_equivalences(probe, NULL));
    bounds.capacity = implications.capacity = equivalences.capacity = -1;
    REFUSED(ARGUMENT, get_bounds(probe, &bounds));
    REFUSED(ARGUMENT, get_implications(probe, &implications));
    REFUSED(ARGUMENT, get_equivalences(probe, &equivalences));
    bounds.capacity = 0;
    assert_int_equal(gpuopt_propagator_probe_get_bounds(probe, &bounds), GPUOPT_OK);
    assert_int_equal(bounds.count, 1);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_probe_destroy(NULL);
    gpuopt_propagator_destroy(base);
    mip_free(&m);
}

/* Memory is as planned, and each allocation may fail. */
static void memory(void **state) {
    model_host *h = *state;
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_propagator *base = problem_create(h->context, &h->desc);
    gpuopt_propagator_probe *probe;
    uint64_t before[2];
    long blocks = h->host.live, first = h->host.allocations, k;
    desc.implications = 1000, desc.equivalences = 10;
    assert_int_equal(gpuopt_propagator_probe_plan(base, &desc, &plan), GPUOPT_OK);
    memcpy(before, h->host.bytes, sizeof before);
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, &probe), GPUOPT_OK);
    assert_int_equal(h->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
    assert_int_equal(h->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
    first = h->host.allocations - first;
    gpuopt_propagator_probe_destroy(probe);
    assert_int_equal(h->host.live, blocks);
    for (k = 1; k <= first; k++) {
        h->host.fail_at = h->host.allocations + k;
        assert_int_equal(gpuopt_propagator_probe_create(base, &desc, &probe), GPUOPT_ERROR_MEMORY);
        assert_null(probe);
        assert_int_equal(h->host.live, blocks);
    }
    h->host.fail_at = 0;
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, &probe), GPUOPT_OK);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(random_models),
    cmocka_unit_test(by_hand),
    cmocka_unit_test(crossing),
    cmocka_unit_test(little_room),
    cmocka_unit_test(stopped),
    MODEL_TEST(misuse),
    MODEL_TEST(memory),
};

TEST_MAIN(tests)
