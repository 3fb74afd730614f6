/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target for linear programs: the input's bytes become a tiny model, a descriptor, and calls in any order.
 * The model has small integers, scaled by powers of two in rows and columns. The following must hold:
 *
 *   a plain model of the basis and of the counters agrees with the handle after every call;
 *   a second handle with only the accepted calls stays equal to the bit;
 *   a pivot or a flip accepts the result of the ratio test;
 *   changes of bounds, sides and costs leave the basis; refused calls and queries leave no trace;
 *   added rows and columns leave it, too; after a removal there are as many basic variables as rows;
 *   the verdict is that of an enumeration of all bases in integers, unless the scales make a model ambiguous;
 *     proofs, and the info's data of an optimum, hold in exact rationals; no bound is better than the optimum, and a
 *     basis is certified only with the enumeration's verdict;
 *   many small programs, here two, have the enumeration's verdict, a few iterations at a time;
 *   children of a basis have the verdicts and bounds of the enumeration, too, and leave the handle unchanged;
 *   steps allocate nothing that lasts, and nothing leaks.
 *
 * With: tests/fuzz/simplex_input.c tests/fuzz/simplex_answers.c
 * With: tests/simplex/brute.c tests/simplex/exact.c tests/simplex/exact_proof.c -lgmp
 * Longest input: 320
 */
#include <math.h>

#include "gpuopt/search.h"
#include "tests/fuzz/simplex_answers.h"
#include "tests/fuzz/simplex_input.h"

enum { OPERATIONS = 20 };

/* ---- Comparisons ---- */

static gpuopt_simplex_info info_of(gpuopt_simplex *handle) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    REQUIRE(gpuopt_simplex_get_info(handle, &info) == GPUOPT_OK);
    return info;
}

static void check_twin(fuzz *f) {
    gpuopt_simplex_info a, b;
    uint8_t basis[2][BOTH] = {{0}};
    double x[2][BOTH] = {{0}};
    int k;
    for (k = 0; k < 2; k++) REQUIRE(gpuopt_simplex_get_basis(f->handle[k], GPUOPT_HOST, basis[k]) == GPUOPT_OK);
    REQUIRE(memcmp(basis[0], basis[1], sizeof basis[0]) == 0);
    a = info_of(f->handle[0]), b = info_of(f->handle[1]);
    REQUIRE(memcmp(&a, &b, sizeof a) == 0);
    if (f->both % 2) return; /* reading the solution may rebuild: not always */
    for (k = 0; k < 2; k++)
        REQUIRE(gpuopt_simplex_get_solution(f->handle[k], GPUOPT_HOST,
                                            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                       .x = x[k],
                                                                       .activity = x[k] + MOST}) == GPUOPT_OK);
    REQUIRE(memcmp(x[0], x[1], sizeof x[0]) == 0);
}

/* A nonbasic variable that is fixed is at both bounds. */
static int same_status(const fuzz *f, int32_t j, uint8_t found) {
    int basic = f->plain[j] == GPUOPT_VARIABLE_BASIC;
    if (basic != (found == GPUOPT_VARIABLE_BASIC)) return 0;
    return basic || f->l[j] == f->u[j] || f->plain[j] == found;
}

static void check_plain(fuzz *f) {
    uint8_t basis[BOTH];
    gpuopt_simplex_info info;
    int32_t j;
    REQUIRE(gpuopt_simplex_get_basis(f->handle[0], GPUOPT_HOST, basis) == GPUOPT_OK);
    for (j = 0; j < f->both; j++) REQUIRE(same_status(f, j, basis[j]));
    info = info_of(f->handle[0]);
    REQUIRE(info.iterations == f->iterations && info.flips == f->flips);
    REQUIRE(isfinite(info.objective) && info.infeasibility >= 0 && info.phase >= 0 && info.phase <= 2);
}

/* A nonbasic variable's status after being set. */
static uint8_t given_way(const fuzz *f, int32_t j, uint8_t status) {
    int low = f->l[j] > -INFINITY, high = f->u[j] < INFINITY;
    if (status == GPUOPT_VARIABLE_BASIC) return status;
    if (!low && !high) return GPUOPT_VARIABLE_AT_ZERO;
    return high && (status == GPUOPT_VARIABLE_AT_UPPER || !low) ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER;
}

/* ---- Calls ---- */

/* After a refused part of an iteration. With NUMERIC it may have done a rebuild that was due; then the twin does it in
 * its next part. */
static void refused(fuzz *f, gpuopt_status status) {
    gpuopt_simplex_entering entering = GPUOPT_INIT(gpuopt_simplex_entering);
    int k;
    if (status != GPUOPT_ERROR_NUMERIC) check_twin(f);
    for (k = 0; k < 2; k++) REQUIRE(gpuopt_simplex_price(f->handle[k], &entering) == GPUOPT_OK);
}

static void pivoted(fuzz *f, int32_t entering, int32_t leaving, int to_upper) {
    REQUIRE(f->plain[entering] != GPUOPT_VARIABLE_BASIC && f->plain[leaving] == GPUOPT_VARIABLE_BASIC);
    REQUIRE(!isinf(to_upper ? f->u[leaving] : f->l[leaving]));
    f->plain[entering] = GPUOPT_VARIABLE_BASIC;
    f->plain[leaving] = to_upper ? GPUOPT_VARIABLE_AT_UPPER : GPUOPT_VARIABLE_AT_LOWER;
    f->iterations++;
}

static void flipped(fuzz *f, int32_t variable) {
    REQUIRE(!isinf(f->l[variable]) && !isinf(f->u[variable]) && f->l[variable] < f->u[variable]);
    REQUIRE(f->plain[variable] == GPUOPT_VARIABLE_AT_LOWER || f->plain[variable] == GPUOPT_VARIABLE_AT_UPPER);
    f->plain[variable] = (uint8_t)(GPUOPT_VARIABLE_AT_LOWER + GPUOPT_VARIABLE_AT_UPPER - f->plain[variable]);
    f->iterations++, f->flips++;
}

static void call_pivot(fuzz *f) {
    int32_t entering = (int32_t)(input_take(f) % (BOTH + 2)) - 1, leaving = (int32_t)(input_take(f) % (BOTH + 2)) - 1;
    int up = input_take(f) & 1;
    gpuopt_status status = gpuopt_simplex_pivot(f->handle[0], entering, leaving, up, NULL);
    REQUIRE(status == GPUOPT_OK || status == GPUOPT_ERROR_ARGUMENT || status == GPUOPT_ERROR_NUMERIC);
    if (status) {
        refused(f, status);
        return;
    }
    pivoted(f, entering, leaving, up);
    REQUIRE(gpuopt_simplex_pivot(f->handle[1], entering, leaving, up, NULL) == GPUOPT_OK);
}

static void call_flip(fuzz *f) {
    int32_t variable = (int32_t)(input_take(f) % (BOTH + 2)) - 1;
    gpuopt_status status = gpuopt_simplex_flip(f->handle[0], variable, NULL);
    REQUIRE(status == GPUOPT_OK || status == GPUOPT_ERROR_ARGUMENT);
    if (status) {
        refused(f, status);
        return;
    }
    flipped(f, variable);
    REQUIRE(gpuopt_simplex_flip(f->handle[1], variable, NULL) == GPUOPT_OK);
}

/* One candidate, the ratio test, and its result; on both handles. */
static void call_step(fuzz *f) {
    unsigned which = input_take(f);
    int k;
    int32_t entering = -1, leaving = -1, found[2];
    gpuopt_simplex_leaving l[2] = {GPUOPT_INIT(gpuopt_simplex_leaving), GPUOPT_INIT(gpuopt_simplex_leaving)};
    gpuopt_simplex_candidate list[2][MOST];
    memset(list, 0, sizeof list);
    for (k = 0; k < 2; k++) {
        gpuopt_simplex *h = f->handle[k];
        REQUIRE(gpuopt_simplex_candidates(h, MOST, list[k], &found[k]) == GPUOPT_OK);
        REQUIRE(found[k] <= f->cols && (k == 0 || found[0] == found[1]));
        if (found[k] == 0) continue;
        entering = list[k][which % (unsigned)found[k]].variable;
        REQUIRE(f->plain[entering] != GPUOPT_VARIABLE_BASIC);
        REQUIRE(gpuopt_simplex_ratio_test(h, entering, list[k][which % (unsigned)found[k]].direction, &l[k]) ==
                GPUOPT_OK);
        leaving = l[k].variable;
        REQUIRE(l[k].step >= 0 && (leaving < 0 || !l[k].flip) && (!l[k].unsafe || leaving < 0));
        if (l[k].flip) REQUIRE(gpuopt_simplex_flip(h, entering, NULL) == GPUOPT_OK);
        else if (leaving >= 0) REQUIRE(gpuopt_simplex_pivot(h, entering, leaving, l[k].to_upper, NULL) == GPUOPT_OK);
    }
    REQUIRE(memcmp(list[0], list[1], sizeof list[0]) == 0 && memcmp(&l[0], &l[1], sizeof l[0]) == 0);
    if (entering < 0) return;
    if (l[0].flip) flipped(f, entering);
    else if (leaving >= 0) pivoted(f, entering, leaving, l[0].to_upper);
}

/* One iteration of the dual method, by its parts; on both handles. Handles with the algorithm PRIMAL refuse. */
static void call_dual_step(fuzz *f) {
    const int32_t other = (int32_t)(input_take(f) % (2 * BOTH)); /* often the variable that the ratio test names */
    gpuopt_status status[2] = {GPUOPT_OK, GPUOPT_OK};
    int32_t variable[2] = {-1, -1};
    int k;
    for (k = 0; k < 2; k++) {
        gpuopt_simplex_dual_leaving out = GPUOPT_INIT(gpuopt_simplex_dual_leaving);
        gpuopt_simplex_dual_entering in = GPUOPT_INIT(gpuopt_simplex_dual_entering);
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        status[k] = gpuopt_simplex_dual_price(f->handle[k], &out);
        REQUIRE((status[k] == GPUOPT_ERROR_STATE) == (f->desc.algorithm == GPUOPT_ALGORITHM_PRIMAL));
        if (status[k] || out.variable < 0) continue;
        status[k] = gpuopt_simplex_dual_ratio_test(f->handle[k], out.variable, &in);
        REQUIRE(status[k] == GPUOPT_OK);
        variable[k] = other < f->both ? other : in.variable;
        if (variable[k] < 0) continue;
        status[k] = gpuopt_simplex_dual_pivot(f->handle[k], out.variable, variable[k], &info);
        REQUIRE(status[k] == GPUOPT_OK || status[k] == GPUOPT_ERROR_NUMERIC ||
                (status[k] == GPUOPT_ERROR_ARGUMENT && variable[k] != in.variable));
        if (k == 0 && status[k] == GPUOPT_OK) f->iterations++;
        REQUIRE(status[k] || info.iterations == f->iterations);
    }
    REQUIRE(status[0] == status[1] && variable[0] == variable[1]);
    REQUIRE(gpuopt_simplex_get_basis(f->handle[0], GPUOPT_HOST, f->plain) == GPUOPT_OK);
}

static void call_set_basis(fuzz *f) {
    uint8_t status[BOTH];
    int32_t j, basic = 0;
    int unknown = 0;
    gpuopt_status result;
    for (j = 0; j < f->both; j++) {
        unsigned t = input_take(f);
        status[j] = t % 8 > 4 && t < 250 ? f->plain[j] : (uint8_t)(t < 250 ? t % 4 : t);
        unknown |= status[j] > GPUOPT_VARIABLE_AT_ZERO;
        basic += status[j] == GPUOPT_VARIABLE_BASIC;
    }
    result = gpuopt_simplex_set_basis(f->handle[0], GPUOPT_HOST, status);
    REQUIRE((result == GPUOPT_ERROR_ARGUMENT) == (unknown || basic != f->rows));
    REQUIRE(result == GPUOPT_OK || result == GPUOPT_ERROR_ARGUMENT || result == GPUOPT_ERROR_NUMERIC);
    if (result) return;
    for (j = 0; j < f->both; j++) f->plain[j] = given_way(f, j, status[j]);
    REQUIRE(gpuopt_simplex_set_basis(f->handle[1], GPUOPT_HOST, status) == GPUOPT_OK);
}

static void call_iterate(fuzz *f) {
    int64_t most = 1 + input_take(f) % 6;
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    int k;
    for (k = 0; k < 2; k++) REQUIRE(gpuopt_simplex_iterate(f->handle[k], most, &info) == GPUOPT_OK);
    REQUIRE(info.iterations <= f->iterations + most && info.flips - f->flips <= info.iterations - f->iterations);
    f->iterations = info.iterations;
    f->flips = info.flips;
    REQUIRE(gpuopt_simplex_get_basis(f->handle[0], GPUOPT_HOST, f->plain) == GPUOPT_OK);
}

static void call_rebuild(fuzz *f) {
    int reinvert = input_take(f) & 1, k;
    for (k = 0; k < 2; k++) REQUIRE(gpuopt_simplex_rebuild(f->handle[k], reinvert, NULL) == GPUOPT_OK);
}

static void call_ratio(fuzz *f) {
    int32_t variable = (int32_t)(input_take(f) % (BOTH + 2)) - 1;
    int direction = (int)(input_take(f) % 4) - 2;
    gpuopt_simplex_leaving leaving = GPUOPT_INIT(gpuopt_simplex_leaving);
    const int64_t before = info_of(f->handle[0]).rebuilds;
    gpuopt_status status = gpuopt_simplex_ratio_test(f->handle[0], variable, direction, &leaving);
    REQUIRE(status == GPUOPT_OK || status == GPUOPT_ERROR_ARGUMENT);
    /* A rebuild that is due restores a bound that a pivot has moved slightly: then the variable may be fixed. */
    if (info_of(f->handle[0]).rebuilds > before) status = GPUOPT_OK;
    refused(f, status ? status : GPUOPT_ERROR_NUMERIC);
}

/* ---- Changes, bounds, certificates ---- */

/* Basic variables stay; others are at one of their present bounds. */
static void changed(fuzz *f) {
    uint8_t basis[BOTH];
    int32_t j;
    REQUIRE(gpuopt_simplex_get_basis(f->handle[0], GPUOPT_HOST, basis) == GPUOPT_OK);
    for (j = 0; j < f->both; j++) {
        int crosses = f->l[j] > f->u[j];
        REQUIRE((basis[j] == GPUOPT_VARIABLE_BASIC) == (f->plain[j] == GPUOPT_VARIABLE_BASIC));
        REQUIRE(crosses || basis[j] != GPUOPT_VARIABLE_AT_LOWER || !isinf(f->l[j]));
        REQUIRE(crosses || basis[j] != GPUOPT_VARIABLE_AT_UPPER || !isinf(f->u[j]));
        if (!crosses && basis[j] != GPUOPT_VARIABLE_BASIC && f->plain[j] != GPUOPT_VARIABLE_AT_ZERO)
            REQUIRE(f->l[j] == f->u[j] || basis[j] == given_way(f, j, f->plain[j]));
    }
    memcpy(f->plain, basis, sizeof basis);
}

static void call_change(fuzz *f) {
    unsigned kind = input_take(f) % 3;
    int32_t end = kind == 1 ? f->rows : f->cols, at = (int32_t)(input_take(f) % (MOST + 1)),
            first = kind == 1 ? f->cols : 0;
    double low = 0, high = 0, scaled[2];
    gpuopt_status status = GPUOPT_OK;
    int k, fits = at < end;
    REQUIRE(gpuopt_simplex_get_basis(f->handle[0], GPUOPT_HOST, f->plain) == GPUOPT_OK); /* of fixed variables, too */
    if (kind == 2) low = input_whole(f);
    else input_interval(f, &low, &high);
    scaled[0] = !fits ? low : ldexp(low, kind == 2 ? -f->exponent[at] : f->exponent[first + at]);
    scaled[1] = !fits ? high : ldexp(high, f->exponent[first + at]);
    for (k = 0; k < 2 && (k == 0 || fits); k++) {
        gpuopt_simplex *h = f->handle[k];
        if (kind == 0) status = gpuopt_simplex_set_bounds(h, GPUOPT_HOST, 1, &at, &scaled[0], &scaled[1]);
        else if (kind == 1) status = gpuopt_simplex_set_sides(h, GPUOPT_HOST, 1, &at, &scaled[0], &scaled[1]);
        else status = gpuopt_simplex_set_costs(h, GPUOPT_HOST, 1, &at, &scaled[0]);
        REQUIRE(status == (fits ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
    }
    if (!fits) return;
    if (kind == 0) f->lb[at] = low, f->ub[at] = high;
    else if (kind == 1) f->lhs[at] = low, f->rhs[at] = high;
    else f->cost[at] = low, f->c[at] = scaled[0];
    if (kind < 2) f->l[first + at] = scaled[0], f->u[first + at] = scaled[1];
    changed(f);
}

/* ---- Rows and columns that come and go ---- */

/* The columns, from the dense matrix. */
static void gather(fuzz *f) {
    int32_t i, j;
    int64_t e = 0;
    f->both = f->rows + f->cols;
    f->largest = 1;
    for (j = 0; j < f->cols; j++) {
        for (i = 0; i < f->rows; i++) {
            if (f->a[i][j] == 0) continue;
            f->index[e] = i;
            f->value[e] = ldexp(f->a[i][j], f->exponent[j] - f->exponent[f->cols + i]);
            f->scaled_value[e++] = f->a[i][j];
            f->largest = fmax(f->largest, fabs(f->a[i][j]));
        }
        f->start[j + 1] = e;
    }
}

/* Moves the data of the variables from `first` on by one place, up or down. */
static void move_variables(fuzz *f, int32_t first, int up) {
    const int32_t from = up ? first : first + 1, to = up ? first + 1 : first, count = f->both - from;
    memmove(f->l + to, f->l + from, sizeof *f->l * (size_t)count);
    memmove(f->u + to, f->u + from, sizeof *f->u * (size_t)count);
    memmove(f->exponent + to, f->exponent + from, sizeof *f->exponent * (size_t)count);
    memmove(f->plain + to, f->plain + from, (size_t)count);
}

static void forget_line(fuzz *f, int by_rows, int32_t at) {
    int32_t i, j, rows = f->rows, cols = f->cols;
    double *const by_row[] = {f->lhs, f->rhs}, *const by_col[] = {f->lb, f->ub, f->cost, f->c};
    for (i = 0; i < rows; i++)
        for (j = 0; j < cols; j++) {
            int last = by_rows ? i + 1 == rows : j + 1 == cols;
            if ((by_rows ? i : j) >= at) f->a[i][j] = last ? 0 : f->a[i + by_rows][j + !by_rows];
        }
    for (i = 0; i < (by_rows ? 2 : 4); i++)
        for (j = at; j + 1 < (by_rows ? rows : cols); j++)
            (by_rows ? by_row : by_col)[i][j] = (by_rows ? by_row : by_col)[i][j + 1];
    move_variables(f, (by_rows ? cols : 0) + at, 0);
    if (by_rows) f->rows--;
    else f->cols--;
}

static void call_remove(fuzz *f) {
    const int by_rows = input_take(f) & 1;
    const int32_t at = (int32_t)(input_take(f) % (MOST + 1)), end = by_rows ? f->rows : f->cols;
    int32_t j, basic = 0;
    int k;
    for (k = 0; k < 2 && (k == 0 || at < end); k++) {
        gpuopt_status status = by_rows ? gpuopt_simplex_remove_rows(f->handle[k], 1, &at)
                                       : gpuopt_simplex_remove_cols(f->handle[k], 1, &at);
        REQUIRE(status == (at < end ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
    }
    if (at >= end) return;
    forget_line(f, by_rows, at);
    gather(f);
    REQUIRE(gpuopt_simplex_get_basis(f->handle[0], GPUOPT_HOST, f->plain) == GPUOPT_OK);
    for (j = 0; j < f->both; j++) basic += f->plain[j] == GPUOPT_VARIABLE_BASIC;
    REQUIRE(basic == f->rows);
}

/* Wide models receive no more lines: the existing scales stay, so that a basis can be nearly singular. */
static void call_add(fuzz *f) {
    const int by_rows = input_take(f) & 1;
    const int32_t at = by_rows ? f->rows : f->cols, across = by_rows ? f->cols : f->rows;
    const int32_t variable = by_rows ? f->both : f->cols;
    int64_t start[2] = {0, 0};
    int32_t index[MOST], j;
    double value[MOST], low, high, cost = input_whole(f);
    gpuopt_matrix line = {by_rows ? 1 : f->rows, by_rows ? f->cols : 1, start, index, value, GPUOPT_LAYOUT_CSR};
    int k, fits = at < MOST;
    if (!by_rows) line.layout = GPUOPT_LAYOUT_CSC;
    if (f->wide) return;
    input_interval(f, &low, &high);
    for (j = 0; j < across; j++) {
        int v = input_take(f) % 3 ? input_whole(f) : 0;
        if (v == 0) continue;
        index[start[1]] = j;
        value[start[1]++] = v;
    }
    for (k = 0; k < 2 && (k == 0 || fits); k++) {
        gpuopt_status status = by_rows ? gpuopt_simplex_add_rows(f->handle[k], &line, &low, &high)
                                       : gpuopt_simplex_add_cols(f->handle[k], &line, &cost, &low, &high);
        REQUIRE(status == (fits ? GPUOPT_OK : GPUOPT_ERROR_MEMORY));
    }
    if (!fits) return;
    move_variables(f, variable, 1);
    f->exponent[variable] = 0;
    f->l[variable] = low;
    f->u[variable] = high;
    f->plain[variable] = GPUOPT_VARIABLE_AT_LOWER;
    if (by_rows) f->lhs[at] = low, f->rhs[at] = high, f->rows++;
    else f->lb[at] = low, f->ub[at] = high, f->cost[at] = cost, f->c[at] = cost, f->cols++;
    for (j = 0; j < across; j++) *(by_rows ? &f->a[at][j] : &f->a[j][at]) = 0;
    for (j = 0; j < start[1]; j++) *(by_rows ? &f->a[at][index[j]] : &f->a[index[j]][at]) = value[j];
    gather(f);
    f->plain[variable] = by_rows ? GPUOPT_VARIABLE_BASIC : given_way(f, variable, GPUOPT_VARIABLE_AT_LOWER);
    changed(f);
}

/* Only queries the first handle; wide models may have an optimum that is infeasible without tolerances. */
static void call_bound(fuzz *f) {
    mip plain = answers_model(f, 0, NULL);
    brute_answer expected = brute_solve(&plain);
    double bound = 0, sign = f->desc.maximize ? -1 : 1;
    REQUIRE(gpuopt_simplex_get_bound(f->handle[0], &bound) == GPUOPT_OK);
    REQUIRE(!isnan(bound));
    if (expected.outcome == GPUOPT_OPTIMAL && (!f->wide || !isinf(bound)))
        REQUIRE(sign * bound <= sign * expected.objective + 1e-7 * fmax(1, fabs(expected.objective)) * f->wide);
}

static void call_certify(fuzz *f) {
    mip plain = answers_model(f, 0, NULL);
    brute_answer expected = brute_solve(&plain);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    int k;
    for (k = 0; k < 2; k++) REQUIRE(gpuopt_simplex_verify_basis(f->handle[k], &info) == GPUOPT_OK);
    REQUIRE(info.iterations == f->iterations);
    if (!f->wide && info.outcome != GPUOPT_MORE) REQUIRE(info.outcome == expected.outcome);
}

static void call_cutoff(fuzz *f) {
    double cutoff = input_whole(f);
    int k;
    for (k = 0; k < 2; k++) REQUIRE(gpuopt_simplex_set_cutoff(f->handle[k], cutoff) == GPUOPT_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const calls[])(fuzz *) = {call_pivot,   call_flip,    call_step,      call_step,    call_iterate,
                                            call_rebuild, call_ratio,   call_set_basis, call_change,  call_change,
                                            call_bound,   call_certify, call_cutoff,    call_iterate, answers_batch,
                                            call_add,     call_remove,  call_dual_step};
    fuzz f;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    uint64_t before;
    int n, k;
    memset(&f, 0, sizeof f);
    f.bytes.data = data;
    f.bytes.size = size;
    f.context = fuzz_context(&f.host);
    input_make(&f);
    for (k = 0; k < 2; k++) {
        before = f.host.live;
        REQUIRE(gpuopt_simplex_create(f.context, &f.desc, &plan, NULL) == GPUOPT_OK);
        REQUIRE(gpuopt_simplex_create(f.context, &f.desc, NULL, &f.handle[k]) == GPUOPT_OK);
        REQUIRE(f.host.live == before + plan.host_bytes);
    }
    before = f.host.live;
    for (k = 0; k < f.both; k++)
        f.plain[k] = k < f.cols ? given_way(&f, k, GPUOPT_VARIABLE_AT_LOWER) : GPUOPT_VARIABLE_BASIC;
    check_twin(&f);
    check_plain(&f);
    for (n = 0; n < OPERATIONS && f.bytes.size; n++) {
        unsigned which = input_take(&f);
        calls[which / 32 == 6 ? 15 + which % 2 : which % 15](&f); /* stored inputs keep their meaning */
        REQUIRE(f.host.live == before);
        check_twin(&f);
        check_plain(&f);
    }
    answers_verdict(&f);
    answers_many(&f);
    for (k = 0; k < 2; k++) gpuopt_simplex_destroy(f.handle[k]);
    fuzz_context_end(f.context, &f.host);
    return 0;
}
