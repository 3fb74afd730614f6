/* SPDX-License-Identifier: MIT */
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

gpuopt_elimination *handle_create(gpuopt_context *context, const gpuopt_elimination_desc *desc, const test_host *host) {
    gpuopt_elimination *elimination = NULL;
    gpuopt_status status = gpuopt_elimination_create(context, desc, NULL, &elimination);
    if (status) fail_msg("create: %s: %s", gpuopt_status_string(status), host ? host->error : "");
    return elimination;
}

gpuopt_elimination_info handle_info(gpuopt_elimination *elimination, int32_t copy) {
    gpuopt_elimination_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_elimination_get_info(elimination, copy, &info), GPUOPT_OK);
    return info;
}

gpuopt_elimination_info handle_finish(gpuopt_elimination *elimination, int32_t at_once) {
    gpuopt_elimination_info info = handle_info(elimination, 0);
    int64_t calls = 0;
    while (info.outcome == GPUOPT_MORE) {
        assert_int_equal(gpuopt_elimination_step(elimination, at_once, &info), GPUOPT_OK);
        assert_true(calls++ <= info.steps);
    }
    assert_true(info.eliminated == info.steps);
    return info;
}

gpuopt_elimination_message_info handle_message(gpuopt_elimination *elimination, int32_t message) {
    gpuopt_elimination_message_info info;
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(gpuopt_elimination_message_get_info(elimination, message, &info), GPUOPT_OK);
    return info;
}

static int retains(const gpuopt_elimination_desc *desc) {
    return !desc->memory || desc->memory->retain_messages != GPUOPT_OFF;
}

answer handle_answer(gpuopt_context *context, gpuopt_elimination_desc *desc, const test_host *host, int32_t at_once,
                     int32_t *order) {
    gpuopt_elimination *elimination;
    answer a;
    memset(&a, 0, sizeof a);
    gpuopt_desc_init(&a.estimate, sizeof a.estimate);
    gpuopt_desc_init(&a.assignment, sizeof a.assignment);
    if (desc->order) memcpy(order, desc->order, (size_t)desc->order_count * sizeof *order);
    else assert_int_equal(gpuopt_elimination_order(context, desc, order, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_order(context, desc, NULL, NULL, &a.estimate), GPUOPT_OK);
    elimination = handle_create(context, desc, host);
    a.info = handle_finish(elimination, at_once);
    if (desc->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP && retains(desc))
        assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, a.value, &a.assignment), GPUOPT_OK);
    else a.assignment.struct_size = 0;
    gpuopt_elimination_destroy(elimination);
    return a;
}

static gpuopt_memory_space tables_in(void) { return test_on("cuda") ? GPUOPT_DEVICE : GPUOPT_HOST; }

uint64_t handle_planned(const gpuopt_elimination_estimate *e) {
    return test_on("cuda") ? e->memory.device_bytes : e->memory.host_bytes;
}

gpuopt_status handle_plan(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                          gpuopt_elimination_estimate *e) {
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_status status;
    gpuopt_desc_init(e, sizeof *e);
    status = gpuopt_elimination_order(context, desc, NULL, NULL, e);
    assert_int_equal(gpuopt_elimination_create(context, desc, &plan, NULL), status);
    if (!status) assert_memory_equal(&plan, &e->memory, sizeof plan);
    return status;
}

answer handle_measured(gpuopt_context *context, test_host *host, const gpuopt_elimination_desc *desc) {
    uint64_t before[2];
    long live = host->live, allocations;
    gpuopt_elimination *elimination;
    answer a;
    int where;
    memset(&a, 0, sizeof a);
    gpuopt_desc_init(&a.assignment, sizeof a.assignment);
    assert_int_equal(handle_plan(context, desc, &a.estimate), GPUOPT_OK);
    assert_int_equal(host->live, live);
    for (where = 0; where < 2; where++) before[where] = host->peak[where] = host->bytes[where];
    elimination = handle_create(context, desc, host);
    assert_int_equal(host->bytes[GPUOPT_HOST] - before[GPUOPT_HOST], a.estimate.memory.host_bytes);
    assert_int_equal(host->bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], a.estimate.memory.device_bytes);
    assert_true(host->peak[GPUOPT_HOST] - before[GPUOPT_HOST] <=
                a.estimate.memory.host_bytes + a.estimate.memory.create_bytes);
    assert_true(host->peak[GPUOPT_DEVICE] - before[GPUOPT_DEVICE] <= a.estimate.memory.device_bytes);
    if (desc->memory && desc->memory->bytes)
        assert_true(host->bytes[tables_in()] - before[tables_in()] <= desc->memory->bytes);
    allocations = host->allocations;
    a.info = handle_finish(elimination, 1000);
    if (retains(desc) && desc->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP)
        assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, a.value, &a.assignment), GPUOPT_OK);
    else a.assignment.struct_size = 0;
    assert_int_equal(host->allocations, allocations);
    gpuopt_elimination_destroy(elimination);
    assert_int_equal(host->live, live);
    for (where = 0; where < 2; where++) assert_true(host->bytes[where] == before[where]);
    return a;
}

/* ---- Judging ---- */

long double entry_of(const model *m, int64_t cost, double value) {
    if (m->type == GPUOPT_COST_DOUBLE) return value;
    if (m->semiring == GPUOPT_SEMIRING_MAX_SUM) return cost == INT64_MIN ? model_forbidden(m) : (long double)cost;
    return cost == INT64_MAX ? model_forbidden(m) : (long double)cost;
}

long double cost_of_info(const model *m, const gpuopt_elimination_info *info) {
    if (info->outcome == GPUOPT_INFEASIBLE) return model_forbidden(m);
    return m->type == GPUOPT_COST_DOUBLE ? (long double)info->value : (long double)info->cost;
}

int close_to(const model *m, long double a, long double b) {
    if (isinf(a) || isinf(b)) return isinf(a) && isinf(b) && (a > 0) == (b > 0);
    if (m->type == GPUOPT_COST_INT64) return a >= b && a <= b;
    return fabsl(a - b) <= 1e-14L * m->scale + 1e-11L * fmaxl(1, fmaxl(fabsl(a), fabsl(b)));
}

int bounds(const model *m, long double a, long double b) {
    if (close_to(m, a, b)) return 1;
    return m->semiring == GPUOPT_SEMIRING_MAX_SUM || m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? a >= b : a <= b;
}

static const char *assignment_fault(const model *m, const brute *b, const answer *a, int exact) {
    long double cost, claimed;
    int32_t v;
    if (a->assignment.outcome == GPUOPT_INFEASIBLE) return exact ? "no assignment, though there is one" : NULL;
    if (exact && a->assignment.outcome != GPUOPT_OPTIMAL) return "the assignment is not called optimal";
    if (a->assignment.outcome != GPUOPT_OPTIMAL && a->assignment.outcome != GPUOPT_CONVERGED) return "assign's outcome";
    for (v = 0; v < m->variables; v++)
        if (a->value[v] < 0 || a->value[v] >= m->domain[v]) return "a value is out of its domain";
    cost = model_sum(m, a->value);
    claimed = m->type == GPUOPT_COST_DOUBLE ? (long double)a->assignment.value : (long double)a->assignment.cost;
    if (!close_to(m, cost, claimed)) return "the assignment's cost is another";
    if (a->assignment.outcome == GPUOPT_OPTIMAL && !close_to(m, cost, b->best)) return "the assignment is not optimal";
    if (!bounds(m, b->best, cost)) return "the assignment is better than the optimum";
    return NULL;
}

const char *answer_fault(const model *m, const brute *b, const answer *a, int exact) {
    long double cost = cost_of_info(m, &a->info);
    if (exact && a->info.outcome != (b->feasible ? GPUOPT_OPTIMAL : GPUOPT_INFEASIBLE)) return "the outcome";
    if (!exact && a->info.outcome != GPUOPT_CONVERGED && a->info.outcome != GPUOPT_INFEASIBLE)
        exact = a->info.outcome == GPUOPT_OPTIMAL; /* nothing was split */
    if (a->info.outcome == GPUOPT_MORE) return "the outcome of a run that has ended";
    if (exact && !close_to(m, cost, b->best)) return "the optimum";
    if (!bounds(m, cost, b->best)) return "the bound is none";
    if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT) {
        if (a->info.count != (b->feasible ? b->count : 0)) return "the count";
        if (a->info.count_overflow) return "the count is said to overflow";
    }
    if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP || !a->assignment.struct_size) return NULL;
    if (!b->feasible) return a->assignment.outcome == GPUOPT_INFEASIBLE ? NULL : "an assignment, though there is none";
    return assignment_fault(m, b, a, exact);
}

void must_not(const char *fault, const model *m, uint64_t seed) {
    if (!fault) return;
    model_print(m);
    fail_msg("%s (seed %llu)", fault, (unsigned long long)seed);
}

uint8_t *handle_pack(gpuopt_elimination *elimination, int32_t message, uint64_t *size) {
    uint8_t *bytes;
    assert_int_equal(gpuopt_elimination_message_pack(elimination, GPUOPT_HOST, message, 0, NULL, 0, size), GPUOPT_OK);
    bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(gpuopt_elimination_message_pack(elimination, GPUOPT_HOST, message, 0, bytes, *size - 1, size),
                     GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_message_pack(elimination, GPUOPT_HOST, message, 0, bytes, *size, size),
                     GPUOPT_OK);
    return bytes;
}
