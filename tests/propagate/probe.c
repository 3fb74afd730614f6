/* SPDX-License-Identifier: MIT */
#include "tests/propagate/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Models ---- */

mip draw_model(uint64_t *seed) {
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

int32_t enumerate(const mip *m, const double *lb, const double *ub, double (*point)[MOST]) {
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

gpuopt_propagator_probe *make_probe(gpuopt_propagator *base, int32_t nodes, int64_t changes, int64_t capacity) {
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe *probe;
    desc.nodes = nodes;
    desc.changes = changes;
    desc.implications = desc.equivalences = capacity;
    assert_int_equal(gpuopt_propagator_probe_create(base, &desc, NULL, &probe), GPUOPT_OK);
    return probe;
}

found read_all(gpuopt_propagator_probe *probe, const gpuopt_propagator_probe_info *info) {
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

found run_probe(gpuopt_propagator_probe *probe, int32_t count, const int32_t *col) {
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    test_forbid_allocation(1);
    assert_int_equal(gpuopt_propagator_probe_run(probe, count, col, ROUNDS, &info), GPUOPT_OK);
    test_forbid_allocation(0);
    return read_all(probe, &info);
}

void free_found(found *f) {
    free(f->bounds.col), free(f->bounds.lb), free(f->bounds.ub);
    free(f->implications.binary), free(f->implications.outcome), free(f->implications.start);
    free(f->implications.col), free(f->implications.lb), free(f->implications.ub);
    free(f->equivalences.col), free(f->equivalences.other), free(f->equivalences.opposite);
}

void check_same_found(const found *a, const found *b) {
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

void check_points(const found *f, int32_t count, double (*point)[MOST]) {
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
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, &value, &value), GPUOPT_OK);
    s.outcome = problem_round(p, ROUNDS).outcome;
    problem_bounds(p, s.lb, s.ub);
    gpuopt_propagator_destroy(p);
    return s;
}

void check_alone(gpuopt_context *cpu, const gpuopt_propagator_desc *desc, int base_rounds, const found *f,
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
