/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target for propagation: the input's bytes become a model, valid or not, and then a sequence of calls,
 * good and refused. It also traps if a result breaks a promise of gpuopt.h. There are two handles of every model, the
 * second one with the other marking (JACOBI) and run round by round: both must give the same bits. A plain model of
 * their state gives the expected effect of each call that sets data, and a fresh handle with that state must reach the
 * same verdict. Half of the models have a planted feasible point, which no call may cut off, not even by a unit in the
 * last place. A model reported as infeasible must be infeasible in exact arithmetic. Some inputs search a tree instead,
 * or run batches of nodes and probe: see propagate_tree.h and propagate_nodes.h.
 *
 * With: tests/fuzz/propagate_input.c tests/fuzz/propagate_exact.c tests/fuzz/propagate_nodes.c
 * With: tests/fuzz/propagate_tree.c -lgmp
 * Longest input: 4096 (a model of 24 by 24 with a dozen calls takes about 2000)
 */
#include <float.h>
#include <math.h>

#include "tests/fuzz/propagate_exact.h"
#include "tests/fuzz/propagate_nodes.h"
#include "tests/fuzz/propagate_tree.h"

enum { ROUNDS = 20, OPERATIONS = 12 };

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }
static int rarely(fuzz *f) { return fuzz_rarely(&f->bytes); }

/* ---- What must hold ---- */

/* Reads the bounds, which must be the same in both handles. */
static void read_bounds(fuzz *f, double *lb, double *ub) {
    double lb_two[MOST], ub_two[MOST];
    size_t bytes = sizeof *lb * (size_t)f->desc.matrix.cols;
    int32_t j;
    REQUIRE(gpuopt_propagator_get_bounds(f->one, GPUOPT_HOST, 0, NULL, lb, ub) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_get_bounds(f->two, GPUOPT_HOST, 0, NULL, lb_two, ub_two) == GPUOPT_OK);
    REQUIRE(memcmp(lb, lb_two, bytes) == 0 && memcmp(ub, ub_two, bytes) == 0);
    for (j = 0; j < f->desc.matrix.cols; j++) /* infinite bounds must be IEEE infinities */
        REQUIRE((isinf(lb[j]) || fabs(lb[j]) < f->infinity) && (isinf(ub[j]) || fabs(ub[j]) < f->infinity));
}

static void check_bounds(const fuzz *f, const double *lb, const double *ub, const gpuopt_propagator_info *info) {
    int64_t moved = 0;
    int32_t j;
    for (j = 0; j < f->desc.matrix.cols; j++) {
        double was = f->seen_lb[j], size = fmax(fabs(was), fabs(lb[j])), least;
        /* A lower bound that exceeds the upper one by at most this is returned as the upper one. */
        double hidden = fmax(f->feasibility, 0x1p-47 * size);
        REQUIRE(!isnan(lb[j]) && !isnan(ub[j]));
        REQUIRE(lb[j] <= ub[j] || info->outcome == GPUOPT_INFEASIBLE);
        REQUIRE(ub[j] <= f->seen_ub[j]);
        /* If it fell, the upper bound has moved below it, within the tolerance. */
        REQUIRE(lb[j] >= was || (lb[j] == ub[j] && was - lb[j] <= hidden));
        /* If it rose from the upper bound, it need not have moved either: the upper bound has moved below it by more
         * than the tolerance, and the column is infeasible. */
        least = was == f->seen_ub[j] ? hidden : 0;
        moved += (ub[j] != f->seen_ub[j]) + (lb[j] - was > least);
        if (!f->planted) continue;
        REQUIRE(lb[j] <= f->x[j] && f->x[j] <= ub[j]);
    }
    REQUIRE(moved <= info->changed);
}

static void check_info(const fuzz *f, const gpuopt_propagator_info *info, int32_t asked) {
    int32_t limit = f->desc.round_limit;
    REQUIRE(info->rounds >= 0 && info->rounds <= asked);
    REQUIRE(info->nonzeros >= 0 && info->changed >= 0);
    REQUIRE(f->desc.mode == GPUOPT_MODE_GAUSS_SEIDEL || info->nonzeros <= info->rounds * f->start[f->desc.matrix.rows]);
    REQUIRE((info->outcome == GPUOPT_INFEASIBLE) == (info->infeasible_row >= 0 || info->infeasible_col >= 0));
    REQUIRE(info->infeasible_row >= -1 && info->infeasible_row < f->desc.matrix.rows);
    REQUIRE(info->infeasible_col >= -1 && info->infeasible_col < f->desc.matrix.cols);
    REQUIRE(limit == 0 || f->since_set + info->rounds <= limit);
    REQUIRE(info->outcome != GPUOPT_LIMIT || f->since_set + info->rounds == limit);
    REQUIRE(info->outcome != GPUOPT_MORE || info->rounds == asked);
    REQUIRE(f->outcome != GPUOPT_INFEASIBLE || (info->outcome == GPUOPT_INFEASIBLE && info->rounds == 0));
    REQUIRE(f->outcome != GPUOPT_CONVERGED || info->changed == 0);
    REQUIRE(!f->planted || info->outcome != GPUOPT_INFEASIBLE);
}

/* The matrix, sides and bounds as the handles have them. */
static gpuopt_propagator_desc as_it_stands(fuzz *f, const double *lb, const double *ub) {
    gpuopt_propagator_desc d = f->desc;
    d.matrix.start = f->start;
    d.matrix.index = f->col;
    d.matrix.value = f->val;
    d.lhs = f->lhs;
    d.rhs = f->rhs;
    d.lb = lb;
    d.ub = ub;
    d.integer = f->integer;
    return d;
}

/* Whether a term may be beyond huge_value. The term is infinite then, and with a smaller bound, finite. */
static int has_huge_terms(const fuzz *f) {
    double huge = f->tolerances.huge_value > 0 ? f->tolerances.huge_value : 1e100;
    int64_t k;
    for (k = 0; k < f->start[f->desc.matrix.rows]; k++)
        if (fabs(f->val[k]) * f->infinity >= huge) return 1;
    return 0;
}

/* A fresh handle with these bounds reaches the same verdict, and moves no bound at a fixpoint. */
static void check_fresh(fuzz *f, const double *lb, const double *ub) {
    gpuopt_propagator_desc d = as_it_stands(f, lb, ub);
    gpuopt_propagator *fresh;
    gpuopt_propagator_info info;
    double new_lb[MOST], new_ub[MOST];
    size_t bytes = sizeof *lb * (size_t)d.matrix.cols;
    d.round_limit = 0;
    if (f->outcome != GPUOPT_CONVERGED && f->outcome != GPUOPT_INFEASIBLE) return;
    if (has_huge_terms(f)) return;
    gpuopt_desc_init(&info, sizeof info);
    REQUIRE(gpuopt_propagator_create(f->context, &d, NULL, &fresh) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_round(fresh, 1, &info) == GPUOPT_OK && info.outcome == f->outcome);
    REQUIRE(gpuopt_propagator_get_bounds(fresh, GPUOPT_HOST, 0, NULL, new_lb, new_ub) == GPUOPT_OK);
    REQUIRE(f->outcome == GPUOPT_INFEASIBLE ||
            (info.changed == 0 && !memcmp(lb, new_lb, bytes) && !memcmp(ub, new_ub, bytes)));
    gpuopt_propagator_destroy(fresh);
}

/* An exact sweep over the rows finds at least as much as a round. */
static void check_infeasible(fuzz *f, const gpuopt_propagator_info *info) {
    gpuopt_propagator_desc d = as_it_stands(f, f->seen_lb, f->seen_ub);
    int32_t j, met = 0;
    if (info->outcome != GPUOPT_INFEASIBLE || f->outcome == GPUOPT_INFEASIBLE || info->rounds > 4) return;
    if (d.matrix.rows > 6 || d.matrix.cols > 6 || d.precision != GPUOPT_PRECISION_FP64) return;
    for (j = 0; j < d.matrix.cols; j++) met |= f->seen_lb[j] == f->seen_ub[j]; /* they may have crossed */
    REQUIRE(met ||
            propagate_exactly_empty(&d.matrix, d.lhs, d.rhs, d.lb, d.ub, d.integer, f->infinity, info->rounds + 1));
}

static void run_rounds(fuzz *f, int32_t asked) {
    gpuopt_propagator_info info, part, sum;
    double lb[MOST], ub[MOST];
    int32_t r;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&part, sizeof part);
    memset(&sum, 0, sizeof sum);
    REQUIRE(gpuopt_propagator_round(f->one, asked, &info) == GPUOPT_OK);
    for (r = 0; r < asked && (r == 0 || part.outcome == GPUOPT_MORE); r++) {
        REQUIRE(gpuopt_propagator_round(f->two, 1, &part) == GPUOPT_OK);
        sum.rounds += part.rounds;
        sum.changed += part.changed;
    }
    REQUIRE(part.outcome == info.outcome && sum.rounds == info.rounds && sum.changed == info.changed);
    REQUIRE(part.infeasible_row == info.infeasible_row && part.infeasible_col == info.infeasible_col);
    REQUIRE(gpuopt_propagator_get_info(f->one, &part) == GPUOPT_OK && memcmp(&part, &info, sizeof info) == 0);
    check_info(f, &info, asked);
    read_bounds(f, lb, ub);
    check_bounds(f, lb, ub, &info);
    check_infeasible(f, &info);
    f->since_set += info.rounds;
    f->outcome = info.outcome;
    check_fresh(f, lb, ub);
}

/* The expected value of a caller's upper bound when read back; a lower bound is the negated one of the negated
 * column. */
static double stored(const fuzz *f, int32_t col, double ub) {
    double whole = floor(ub + fmax(f->integrality, 0x1p-50 * fabs(ub)));
    if (f->integer[col] && floor(ub) < ub && fabs(whole) < f->infinity && ub < f->infinity) ub = whole;
    if (ub >= f->infinity) return INFINITY;
    if (f->desc.precision == GPUOPT_PRECISION_FP32) {
        float single = ub > FLT_MAX ? INFINITY : ub < -FLT_MAX ? -FLT_MAX : (float)ub;
        ub = single < ub ? nextafterf(single, INFINITY) : single;
        if (ub >= f->infinity) return INFINITY;
    }
    return ub + 0.0;
}

/* Each bound that was set equals the plain model's, or one of several if the column is listed twice. Other bounds are
 * unchanged, or as the caller would see them after crossing. */
static void check_set(const fuzz *f, int32_t count, const int32_t *col, const double *lb, const double *ub,
                      const double *after_lb, const double *after_ub) {
    int32_t j, k;
    for (j = 0; j < f->desc.matrix.cols; j++) {
        double was = f->outcome == GPUOPT_INFEASIBLE ? after_lb[j] : f->seen_lb[j];
        int lb_good = !lb && after_lb[j] == was, ub_good = !ub && after_ub[j] == f->seen_ub[j], listed = 0;
        for (k = 0; k < count; k++) {
            if (col[k] != j) continue;
            listed = 1;
            lb_good |= lb && after_lb[j] == -stored(f, j, -lb[k]);
            lb_good |= !lb && after_lb[j] == stored(f, j, ub[k]); /* listed twice, see the header */
            ub_good |= ub && after_ub[j] == stored(f, j, ub[k]);
        }
        if (!listed) lb_good = after_lb[j] == was, ub_good = after_ub[j] == f->seen_ub[j];
        /* A lower bound that has crossed is shown as the upper one, unless another column proves infeasibility. */
        lb_good |= after_lb[j] == after_ub[j] || (f->seen_lb[j] == f->seen_ub[j] && after_lb[j] > after_ub[j]);
        REQUIRE(lb_good && ub_good);
    }
}

static void set_bounds(fuzz *f, int all) {
    int32_t col[MOST], k, cols = f->desc.matrix.cols, count = all ? cols : (int32_t)take(f) % (cols + 1);
    double lb[MOST], ub[MOST], after_lb[MOST], after_ub[MOST], *own_lb, *own_ub;
    int valid = 1, twice, sides = (int)take(f) % 4;
    for (k = 0; k < count; k++) {
        col[k] = all ? k : (int32_t)take(f) % cols;
        input_bounds(f, col[k], &lb[k], &ub[k]);
        valid &= input_valid_pair(f, sides == 1 ? -INFINITY : lb[k], sides == 2 ? INFINITY : ub[k]);
    }
    own_lb = (double *)input_own(f, lb, count, sizeof *lb);
    own_ub = (double *)input_own(f, ub, count, sizeof *ub);
    input_own(f, col, count, sizeof *col);
    if (sides == 1) own_lb = NULL;
    if (sides == 2) own_ub = NULL;
    for (twice = 0; twice < 2; twice++) {
        gpuopt_propagator *p = twice ? f->two : f->one;
        gpuopt_status status =
            all ? gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 0, NULL, own_lb, own_ub)
                : gpuopt_propagator_set_bounds(p, GPUOPT_HOST, count, (int32_t *)f->owned[2], own_lb, own_ub);
        REQUIRE(status == (valid ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
    }
    read_bounds(f, after_lb, after_ub);
    if (valid && count > 0) {
        check_set(f, count, col, own_lb, own_ub, after_lb, after_ub);
        f->since_set = 0;
        f->outcome = GPUOPT_MORE;
    } else
        REQUIRE(!memcmp(after_lb, f->seen_lb, sizeof *lb * (size_t)cols) &&
                !memcmp(after_ub, f->seen_ub, sizeof *ub * (size_t)cols));
}

static void set_sides(fuzz *f) {
    int32_t row[MOST], k, rows = f->desc.matrix.rows, count = 0;
    double lhs[MOST], rhs[MOST];
    int valid = 1;
    for (k = 0; k < rows; k++) {
        if (take(f) % 2) continue;
        input_sides(f, row[count] = k, &lhs[count], &rhs[count]);
        valid &= input_valid_pair(f, lhs[count], rhs[count]) && !(lhs[count] > rhs[count]);
        count++;
    }
    for (k = 0; k < 2; k++)
        REQUIRE(gpuopt_propagator_set_sides(k ? f->two : f->one, GPUOPT_HOST, count, row, lhs, rhs) ==
                (valid ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
    for (k = 0; valid && k < count; k++) f->lhs[row[k]] = lhs[k], f->rhs[row[k]] = rhs[k];
    if (valid && count > 0) f->since_set = 0, f->outcome = GPUOPT_MORE;
}

static void get_rows(fuzz *f) {
    double min[MOST], max[MOST];
    int32_t min_infinite[MOST], max_infinite[MOST], i;
    uint8_t status[MOST];
    gpuopt_propagator_row_report report = {sizeof report, min, max, min_infinite, max_infinite, status};
    REQUIRE(gpuopt_propagator_get_rows(f->one, GPUOPT_HOST, &report) == GPUOPT_OK);
    for (i = 0; i < f->desc.matrix.rows; i++) {
        int64_t length = f->start[i + 1] - f->start[i];
        REQUIRE(isfinite(min[i]) && isfinite(max[i]) && status[i] < 8);
        REQUIRE(min_infinite[i] >= 0 && min_infinite[i] <= length && max_infinite[i] >= 0 && max_infinite[i] <= length);
        REQUIRE(!f->planted || !(status[i] & GPUOPT_ROW_INFEASIBLE));
    }
}

static void operate(fuzz *f) {
    int k;
    for (k = 0; k < OPERATIONS && f->bytes.size > 0; k++) {
        unsigned choice = take(f) % 8;
        read_bounds(f, f->seen_lb, f->seen_ub);
        if (choice == 4 && f->desc.matrix.cols > 0) set_bounds(f, 0);
        else if (choice == 5) set_bounds(f, 1);
        else if (choice == 6) set_sides(f);
        else if (choice == 7) get_rows(f);
        else run_rounds(f, 1 + (int32_t)(take(f) % ROUNDS));
        input_disown(f);
    }
}

/* ---- A life ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz state; /* static, since it is too large for a sanitizer's stack; cleared below */
    fuzz *f = &state;
    fuzz_host host = {0, 0, 0};
    gpuopt_context *context;
    gpuopt_memory_plan plan;
    gpuopt_status planned, status;
    uint64_t before;
    int kind = size > 0 ? data[size - 1] % 4 : 0, tree = kind == 3, nodes = kind == 2;
    memset(f, 0, sizeof *f);
    f->binaries = nodes;
    f->bytes.data = data;
    f->bytes.size = size;
    input_make(f);
    gpuopt_desc_init(&plan, sizeof plan);
    context = f->context = fuzz_context(&host);
    before = host.live;
    planned = gpuopt_propagator_create(context, &f->desc, &plan, NULL);
    REQUIRE(host.live == before);
    if (rarely(f)) {
        host.failing = 1 + take(f) % 2;
        status = gpuopt_propagator_create(context, &f->desc, NULL, &f->one);
        REQUIRE(status < 0 && !f->one && host.live == before);
        host.failing = 0;
    }
    status = gpuopt_propagator_create(context, &f->desc, NULL, &f->one);
    REQUIRE(status == planned && (status == GPUOPT_OK) == (f->one != NULL));
    REQUIRE(status == GPUOPT_OK || status == GPUOPT_ERROR_ARGUMENT || status == GPUOPT_ERROR_UNSUPPORTED);
    REQUIRE(f->dirty || status == (f->desc.mode == GPUOPT_MODE_GAUSS_SEIDEL && f->desc.marking == GPUOPT_OFF
                                       ? GPUOPT_ERROR_UNSUPPORTED
                                       : GPUOPT_OK));
    if (status == GPUOPT_OK) {
        REQUIRE(host.live == before + plan.host_bytes);
        if (f->desc.mode == GPUOPT_MODE_JACOBI)
            f->desc.marking = f->desc.marking == GPUOPT_OFF ? GPUOPT_ON : GPUOPT_OFF;
        REQUIRE(gpuopt_propagator_create(context, &f->desc, NULL, &f->two) == GPUOPT_OK);
        input_disown(f); /* the library has copied them */
        if (tree && !f->dirty) tree_search(f, as_it_stands(f, f->lb, f->ub));
        else if (nodes && !f->dirty && f->desc.mode == GPUOPT_MODE_JACOBI) many_nodes(f, as_it_stands(f, f->lb, f->ub));
        else operate(f);
    }
    input_disown(f);
    gpuopt_propagator_destroy(f->two);
    gpuopt_propagator_destroy(f->one);
    REQUIRE(host.live == before);
    fuzz_context_end(context, &host);
    return 0;
}
