/* SPDX-License-Identifier: MIT
 *
 * simplex_answers.h.
 */
#include "gpuopt/search.h"
#include "gpuopt/batch.h"
#include "tests/fuzz/simplex_answers.h"

#include <math.h>

#include "tests/simplex/exact.h"

static double infinite(double bound) { return fabs(bound) < INFINITY ? bound : copysign(1e30, bound); }

mip answers_model(fuzz *f, int scaled, double (*bounds)[BOTH]) {
    mip m;
    int32_t k;
    memset(&m, 0, sizeof m);
    m.columns = (gpuopt_matrix){f->rows, f->cols, f->start, f->index, f->value, GPUOPT_LAYOUT_CSC};
    m.cost = f->cost, m.lb = f->lb, m.ub = f->ub, m.lhs = f->lhs, m.rhs = f->rhs;
    m.maximize = f->desc.maximize;
    m.offset = f->desc.offset;
    if (!scaled) return m;
    m.columns.value = f->scaled_value;
    for (k = 0; k < f->both; k++) bounds[0][k] = infinite(f->l[k]), bounds[1][k] = infinite(f->u[k]);
    m.cost = f->c, m.lb = bounds[0], m.ub = bounds[1], m.lhs = bounds[0] + f->cols, m.rhs = bounds[1] + f->cols;
    return m;
}

/* The margin is positive, and the largest entry between 1 and 2. */
static void check_certificate(const gpuopt_simplex_info *info, const double *entry, int32_t count) {
    double largest = 0;
    int32_t k;
    for (k = 0; k < count; k++) largest = fmax(largest, fabs(entry[k]));
    REQUIRE(largest >= 1 && largest <= 2);
    REQUIRE(info->certificate_margin > 0);
}

static void check_farkas(fuzz *f, const mip *scaled, const gpuopt_simplex_info *info) {
    double y[MOST], low[MOST];
    REQUIRE(gpuopt_simplex_get_proof(
                f->handle[0], GPUOPT_HOST,
                &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = y}) == GPUOPT_OK);
    REQUIRE(gpuopt_simplex_get_proof(
                f->handle[0], GPUOPT_HOST,
                &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas_low = low}) == GPUOPT_OK);
    check_certificate(info, y, f->rows);
    REQUIRE(exact_farkas_margin(scaled, y, low, 1e24) >= info->certificate_margin);
}

static void check_ray(fuzz *f, const mip *scaled, const gpuopt_simplex_info *info) {
    double ray[MOST], low[MOST];
    REQUIRE(gpuopt_simplex_get_proof(
                f->handle[0], GPUOPT_HOST,
                &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = ray}) == GPUOPT_OK);
    REQUIRE(gpuopt_simplex_get_proof(
                f->handle[0], GPUOPT_HOST,
                &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray_low = low}) == GPUOPT_OK);
    check_certificate(info, ray, f->cols);
    REQUIRE(exact_ray_gain(scaled, ray, low) >= info->certificate_margin);
    /* The residual is in units of the scaled row. */
    if (f->rules.scaling == GPUOPT_OFF) REQUIRE(exact_ray_wrong(scaled, ray, low) <= info->certificate_residual);
    REQUIRE(exact_ray_wrong(scaled, ray, low) <= 1e-20 * f->largest);
}

/* The exact quality of the present point, in rationals; rounding of the info's numbers, and of the limits, is some
 * 1e-16. */
static void check_primal(fuzz *f, const mip *scaled, const gpuopt_simplex_info *info) {
    double x[MOST], low[MOST], reached;
    REQUIRE(gpuopt_simplex_get_solution(
                f->handle[0], GPUOPT_HOST,
                &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}) == GPUOPT_OK);
    REQUIRE(gpuopt_simplex_get_solution(
                f->handle[0], GPUOPT_HOST,
                &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x_low = low}) == GPUOPT_OK);
    reached = exact_primal_reached(scaled, x, low);
    REQUIRE(reached <= 1e-9 * (1 + 1e-12));
    REQUIRE(info->primal_reached <= 1e-9 && fabs(reached - info->primal_reached) <= 1e-12 * reached + 1e-20);
}

static void check_dual(fuzz *f, const mip *scaled) {
    double y[MOST], low[MOST];
    uint8_t basis[BOTH];
    REQUIRE(gpuopt_simplex_get_solution(
                f->handle[0], GPUOPT_HOST,
                &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .dual = y}) == GPUOPT_OK);
    REQUIRE(gpuopt_simplex_get_solution(f->handle[0], GPUOPT_HOST,
                                        &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                   .dual_low = low}) == GPUOPT_OK);
    REQUIRE(gpuopt_simplex_get_basis(f->handle[0], GPUOPT_HOST, basis) == GPUOPT_OK);
    REQUIRE(exact_dual_reached(scaled, y, low, basis) <= 1e-9 * (1 + 1e-12));
}

void answers_verdict(fuzz *f) {
    double bounds[2][BOTH], y[MOST];
    mip plain = answers_model(f, 0, NULL), scaled = answers_model(f, 1, bounds);
    brute_answer expected = brute_solve(&plain);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    double sign = f->desc.maximize ? -1 : 1;
    REQUIRE(gpuopt_simplex_iterate(f->handle[0], INT64_MAX, &info) == GPUOPT_OK);
    if (info.outcome == GPUOPT_CUTOFF) {
        double bound = 0;
        REQUIRE(gpuopt_simplex_get_bound(f->handle[0], &bound) == GPUOPT_OK);
        REQUIRE(sign * bound >= -9 * 2); /* no cutoff is smaller */
        REQUIRE(gpuopt_simplex_set_cutoff(f->handle[0], sign * HUGE_VAL) == GPUOPT_OK);
        REQUIRE(gpuopt_simplex_iterate(f->handle[0], INT64_MAX, &info) == GPUOPT_OK);
    }
    REQUIRE(f->wide || info.outcome == expected.outcome);
    if (info.outcome == GPUOPT_INFEASIBLE) check_farkas(f, &scaled, &info);
    else
        REQUIRE(gpuopt_simplex_get_proof(f->handle[0], GPUOPT_HOST,
                                         &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof),
                                                                 .farkas = y}) == GPUOPT_ERROR_STATE);
    if (info.outcome == GPUOPT_UNBOUNDED) check_ray(f, &scaled, &info);
    else
        REQUIRE(gpuopt_simplex_get_proof(f->handle[0], GPUOPT_HOST,
                                         &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof),
                                                                 .ray = y}) == GPUOPT_ERROR_STATE);
    if (info.outcome == GPUOPT_OPTIMAL || info.outcome == GPUOPT_UNBOUNDED) check_primal(f, &scaled, &info);
    if (info.outcome == GPUOPT_OPTIMAL) check_dual(f, &scaled);
    if (info.outcome == GPUOPT_IMPRECISE) return;
    if (info.outcome != expected.outcome) {
        REQUIRE(info.outcome != GPUOPT_INFEASIBLE && (info.primal_reached > 0 || info.dual_reached > 0));
        return;
    }
    if (info.outcome == GPUOPT_OPTIMAL)
        REQUIRE(fabs(info.objective - expected.objective) <= 1e-7 * fmax(1, fabs(expected.objective)));
}

/* ---- Several programs at once ---- */

void answers_batch(fuzz *f) {
    enum { CHILDREN = 3 };
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex_child_list c = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    const unsigned how = input_take(f);
    const int64_t iterations = 1 + how % 40;
    int64_t start[3][CHILDREN + 1] = {{0}};
    int32_t index[3][CHILDREN], outcome[2][CHILDREN], count[3] = {0};
    double low[3][CHILDREN], high[3][CHILDREN], bound[2][CHILDREN], objective[2][CHILDREN];
    brute_answer expected[CHILDREN];
    int k, n;
    if (f->rows == 0 || f->cols == 0) return;
    for (k = 0; k < CHILDREN; k++) {
        const int kind = (int)(input_take(f) % 3), first = kind == 1 ? f->cols : 0;
        const int32_t at = (int32_t)(input_take(f) % (unsigned)(kind == 1 ? f->rows : f->cols));
        double *const values[] = {kind == 1 ? f->lhs : f->lb, kind == 1 ? f->rhs : f->ub, f->cost};
        double old[3], new_low = 0, new_high = 0;
        mip plain;
        for (n = 0; n < 3; n++) {
            if (n < 2 || kind == 2) old[n] = values[n][at];
            start[n][k] = count[n];
        }
        if (kind == 2) new_low = input_whole(f);
        else input_interval(f, &new_low, &new_high);
        n = count[kind]++;
        index[kind][n] = at;
        low[kind][n] = ldexp(new_low, kind == 2 ? -f->exponent[at] : f->exponent[first + at]);
        high[kind][n] = ldexp(new_high, f->exponent[first + at]);
        if (kind == 2) values[2][at] = new_low;
        else values[0][at] = new_low, values[1][at] = new_high;
        plain = answers_model(f, 0, NULL);
        expected[k] = brute_solve(&plain);
        if (kind == 2) values[2][at] = old[2];
        else values[0][at] = old[0], values[1][at] = old[1];
    }
    for (n = 0; n < 3; n++) start[n][CHILDREN] = count[n];
    desc.batch_size = c.count = CHILDREN;
    desc.pivots = (int32_t)(how / 40 % 4); /* 0: as many as anyone needs */
    desc.on_pivot_limit = how & 1 ? GPUOPT_ON_PIVOT_LIMIT_REFACTOR : GPUOPT_ON_PIVOT_LIMIT_END;
    c.start = start[0], c.col = index[0], c.lb = low[0], c.ub = high[0];
    c.side_start = start[1], c.row = index[1], c.lhs = low[1], c.rhs = high[1];
    c.cost_start = start[2], c.cost_col = index[2], c.cost = low[2];
    for (k = 0; k < 2; k++) {
        gpuopt_simplex_children *batch;
        report.outcome = outcome[k], report.bound = bound[k], report.objective = objective[k];
        REQUIRE(gpuopt_simplex_children_create(f->handle[k], &desc, NULL, &batch) == GPUOPT_OK);
        REQUIRE(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &c, iterations, &report) == GPUOPT_OK);
        gpuopt_simplex_children_destroy(batch);
    }
    for (k = 0; k < CHILDREN; k++) {
        const double sign = f->desc.maximize ? -1 : 1, size = fmax(1, fabs(expected[k].objective));
        REQUIRE(outcome[0][k] == outcome[1][k]);
        REQUIRE(!isnan(bound[0][k]));
        if (f->wide) continue;
        if (outcome[0][k] == GPUOPT_OPTIMAL || outcome[0][k] == GPUOPT_INFEASIBLE || outcome[0][k] == GPUOPT_UNBOUNDED)
            REQUIRE(outcome[0][k] == (int32_t)expected[k].outcome);
        if (expected[k].outcome != GPUOPT_OPTIMAL) continue;
        REQUIRE(sign * bound[0][k] <= sign * expected[k].objective);
        if (outcome[0][k] == GPUOPT_OPTIMAL) REQUIRE(fabs(objective[0][k] - expected[k].objective) <= 1e-9 * size);
    }
}

void answers_many(fuzz *f) {
    enum { PROGRAMS = 2 };
    gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_simplex_programs p = GPUOPT_INIT(gpuopt_simplex_programs);
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_batch_report report = GPUOPT_INIT(gpuopt_simplex_batch_report);
    gpuopt_simplex_batch *many;
    double number[6][PROGRAMS * MOST * MOST], objective[PROGRAMS];
    const double *const plain[] = {f->value, f->cost, f->lhs, f->rhs, f->lb, f->ub};
    const double *const scaled[] = {f->scaled_value, f->c, f->l + f->cols, f->u + f->cols, f->l, f->u};
    const size_t entries = (size_t)f->start[f->cols], rows = (size_t)f->rows, cols = (size_t)f->cols;
    const size_t length[] = {entries, cols, rows, rows, cols, cols};
    const mip whole_numbers = answers_model(f, 0, NULL);
    const brute_answer expected = brute_solve(&whole_numbers);
    const int64_t each = 1 + input_take(f) % 9;
    int32_t outcome[PROGRAMS];
    int k, calls = 0;
    for (k = 0; k < 6; k++) {
        memcpy(number[k], plain[k], sizeof(double) * length[k]);
        memcpy(number[k] + length[k], scaled[k], sizeof(double) * length[k]);
    }
    desc.batch_size = p.count = PROGRAMS;
    desc.rows = f->rows, desc.cols = f->cols;
    desc.start = f->start, desc.index = f->index;
    desc.layout = GPUOPT_LAYOUT_CSC;
    desc.maximize = f->desc.maximize;
    p.value = number[0], p.cost = number[1], p.lhs = number[2], p.rhs = number[3], p.lb = number[4], p.ub = number[5];
    report.outcome = outcome, report.objective = objective;
    REQUIRE(gpuopt_simplex_batch_create(f->context, &desc, NULL, &many) == GPUOPT_OK);
    REQUIRE(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &p) == GPUOPT_OK);
    do REQUIRE(gpuopt_simplex_batch_iterate(many, each, &info) == GPUOPT_OK && calls++ < 10000);
    while (info.more > 0);
    REQUIRE(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, PROGRAMS, &report) == GPUOPT_OK);
    gpuopt_simplex_batch_destroy(many);
    for (k = 0; k < (f->wide ? 1 : PROGRAMS); k++) {
        REQUIRE(outcome[k] == (int32_t)expected.outcome);
        if (expected.outcome == GPUOPT_OPTIMAL)
            REQUIRE(fabs(objective[k] + f->desc.offset - expected.objective) <=
                    1e-9 * fmax(1, fabs(expected.objective)));
    }
}
