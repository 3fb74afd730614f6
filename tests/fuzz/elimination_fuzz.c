/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target over an elimination's life: the input's bytes become a small model and a descriptor, then calls in
 * and out of order. Answers, relaxations' bounds and reductions are compared with all assignments. Some descriptors
 * have one fault, which must be refused. Packed messages are damaged, and must be refused; with a corrected checksum
 * they may instead unpack into the memory that they declare.
 *
 * With: tests/fuzz/elimination_input.c tests/fuzz/elimination_messages.c tests/elimination/model.c
 * With: tests/elimination/brute.c tests/elimination/handle.c tests/support/support.c tests/support/backends.c -lcmocka
 * Longest input: 4096
 */
#include <float.h>
#include <math.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/fuzz/elimination_input.h"
#include "tests/fuzz/elimination_messages.h"

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }
static int rarely(fuzz *f) { return fuzz_rarely(&f->bytes); }

/* ---- Plans ---- */

/* Whether a valid descriptor may have this status. */
static int expected(const fuzz *f, gpuopt_status status) {
    const gpuopt_elimination_desc *d = &f->desc;
    if (status == GPUOPT_ERROR_NUMERIC) return 3 * f->sizes >= (d->type == GPUOPT_COST_INT64 ? 0x1p63L : DBL_MAX);
    if (status != GPUOPT_ERROR_UNSUPPORTED) return status == GPUOPT_OK;
    return f->memory.bytes || d->policy == GPUOPT_POLICY_STREAM ||
           (d->batch_size > 1 && d->policy == GPUOPT_POLICY_SLICE) ||
           (d->semiring == GPUOPT_SEMIRING_MIN_COUNT && d->policy == GPUOPT_POLICY_MINI_BUCKET);
}

/* The order found has all variables that are not evidence; given as an input, it makes the same plan. */
static void check_order(fuzz *f) {
    int32_t order[VARIABLES], parent[VARIABLES], seen[VARIABLES] = {0}, n = f->desc.variables, k;
    gpuopt_elimination_estimate e;
    gpuopt_elimination_desc desc = f->desc;
    gpuopt_desc_init(&e, sizeof e);
    REQUIRE(gpuopt_elimination_order(f->context, &desc, order, parent, &e) == GPUOPT_OK);
    REQUIRE(memcmp(&e.policy, &f->estimate.policy,
                   offsetof(gpuopt_elimination_estimate, memory) - offsetof(gpuopt_elimination_estimate, policy)) == 0);
    f->count = desc.order ? desc.order_count : n - desc.evidence_count;
    for (k = 0; k < desc.evidence_count; k++) seen[desc.evidence[k]] = 1;
    for (k = 0; k < n; k++) {
        REQUIRE(k < f->count ? order[k] >= 0 && order[k] < n && !seen[order[k]]++ : order[k] == -1);
        REQUIRE(parent[k] >= -1 && parent[k] < n && parent[k] != k);
        f->eliminated[k] = order[k];
        REQUIRE(!desc.order || k >= f->count || order[k] == desc.order[k]);
    }
    desc.order = order;
    desc.order_count = f->count;
    REQUIRE(gpuopt_elimination_order(f->context, &desc, NULL, NULL, &e) == GPUOPT_OK);
    REQUIRE(e.policy == f->estimate.policy && e.messages == f->estimate.messages && e.width == f->estimate.width);
    REQUIRE(!(e.operations < f->estimate.operations) && !(e.operations > f->estimate.operations));
}

static void check_refusal(fuzz *f) {
    uint64_t before = f->host.live;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_status status = gpuopt_elimination_create(f->context, &f->desc, &plan, NULL);
    REQUIRE(status == GPUOPT_ERROR_ARGUMENT || status == GPUOPT_ERROR_NUMERIC || status == GPUOPT_ERROR_UNSUPPORTED);
    REQUIRE(gpuopt_elimination_create(f->context, &f->desc, NULL, &f->e) == status && !f->e);
    REQUIRE(gpuopt_elimination_order(f->context, &f->desc, NULL, NULL, &f->estimate) == status);
    REQUIRE(f->host.live == before);
}

static void create(fuzz *f) {
    uint64_t before = f->host.live;
    gpuopt_status planned = gpuopt_elimination_order(f->context, &f->desc, NULL, NULL, &f->estimate);
    REQUIRE(f->host.live == before && expected(f, planned));
    if (!planned) check_order(f);
    if (rarely(f)) {
        f->host.failing = 1 + take(f) % 16;
        REQUIRE(gpuopt_elimination_create(f->context, &f->desc, NULL, &f->e) != GPUOPT_OK || f->host.failing > 0);
        gpuopt_elimination_destroy(f->e);
        f->host.failing = 0;
        REQUIRE(f->host.live == before);
    }
    REQUIRE(gpuopt_elimination_create(f->context, &f->desc, NULL, &f->e) == planned && (!planned == (f->e != NULL)));
    REQUIRE(f->host.live == before + (planned ? 0 : f->estimate.memory.host_bytes));
    REQUIRE(planned || !f->memory.bytes || f->estimate.memory.host_bytes <= f->memory.bytes);
}

/* ---- Answers ---- */

static int exact(const fuzz *f) { return f->estimate.policy != GPUOPT_POLICY_MINI_BUCKET; }

static void hold(const fuzz *f, const char *fault) {
    if (!fault) return;
    model_print(&f->m);
    fprintf(stderr, "does not hold: %s\n", fault);
    __builtin_trap();
}

/* Bounds at a random assignment that agrees with the copy's conditions. */
static void check_bounds(fuzz *f, int32_t copy) {
    int32_t value[VARIABLES], k, v, p = f->count ? (int32_t)take(f) % f->count : 0, variable = f->eliminated[p];
    int64_t cost[DOMAIN];
    double real[DOMAIN];
    gpuopt_status status, allowed = GPUOPT_OK;
    memcpy(value, f->fixed[copy], sizeof value);
    for (k = 0; k < f->m.variables - f->desc.evidence_count; k++)
        value[f->permutation[k]] = (int32_t)take(f) % f->m.domain[f->permutation[k]];
    if (f->count == 0) variable = 0, allowed = GPUOPT_ERROR_ARGUMENT;
    else if (f->estimate.policy == GPUOPT_POLICY_SLICE || f->m.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP)
        allowed = GPUOPT_ERROR_UNSUPPORTED;
    else if (f->memory.retain_messages == GPUOPT_OFF || f->estimate.policy == GPUOPT_POLICY_DROP ||
             f->estimate.policy == GPUOPT_POLICY_RECOMPUTE)
        allowed = GPUOPT_ERROR_STATE;
    status = gpuopt_elimination_get_bounds(f->e, GPUOPT_HOST, copy, variable, 0, 1, value, cost, real);
    /* A sliced variable may be reported as one that is not eliminated. */
    REQUIRE(status == allowed || (status == GPUOPT_ERROR_ARGUMENT && f->estimate.policy == GPUOPT_POLICY_SLICE));
    for (v = 0; !status && v < f->m.domain[variable]; v++) {
        long double bound = entry_of(&f->m, f->m.type == GPUOPT_COST_INT64 ? cost[v] : 0,
                                     f->m.type == GPUOPT_COST_DOUBLE ? real[v] : 0);
        brute b;
        value[variable] = v;
        b = brute_force(&f->m, f->eliminated, p, value, NULL);
        if (exact(f) ? !close_to(&f->m, bound, b.best) : !bounds(&f->m, bound, b.best)) hold(f, "a bound");
    }
}

/* For an order that leaves variables over: the best completion of their given values. */
static void check_completion(const fuzz *f, const brute *b, const answer *a) {
    long double cost;
    REQUIRE(a->info.outcome == GPUOPT_CONVERGED || (a->info.outcome == GPUOPT_INFEASIBLE && !b->feasible));
    if (!a->assignment.struct_size) return;
    if (!b->feasible || !exact(f)) {
        REQUIRE(b->feasible || a->assignment.outcome == GPUOPT_INFEASIBLE);
        return;
    }
    REQUIRE(a->assignment.outcome == GPUOPT_OPTIMAL);
    cost = f->m.type == GPUOPT_COST_DOUBLE ? (long double)a->assignment.value : (long double)a->assignment.cost;
    if (!close_to(&f->m, cost, b->best)) hold(f, "a completion's cost");
    if (!close_to(&f->m, model_sum(&f->m, a->value), b->best)) hold(f, "a completion");
}

static void check_copy(fuzz *f, int32_t copy) {
    int32_t n = f->m.variables, k, left = n - f->desc.evidence_count - f->count;
    gpuopt_status status, allowed = GPUOPT_OK;
    brute b;
    answer a;
    memset(&a, 0, sizeof a);
    gpuopt_desc_init(&a.info, sizeof a.info);
    gpuopt_desc_init(&a.assignment, sizeof a.assignment);
    memcpy(a.value, f->fixed[copy], sizeof f->fixed[copy]);
    for (k = f->count; k < n - f->desc.evidence_count; k++)
        a.value[f->permutation[k]] = (int32_t)take(f) % f->m.domain[f->permutation[k]];
    b = brute_force(&f->m, f->eliminated, f->count, a.value, NULL);
    REQUIRE(gpuopt_elimination_get_info(f->e, copy, &a.info) == GPUOPT_OK);
    REQUIRE(a.info.eliminated == a.info.steps);
    if (f->m.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) allowed = GPUOPT_ERROR_UNSUPPORTED;
    else if (f->memory.retain_messages == GPUOPT_OFF) allowed = GPUOPT_ERROR_STATE;
    status = gpuopt_elimination_assign(f->e, GPUOPT_HOST, copy, a.value, &a.assignment);
    REQUIRE(status == allowed);
    if (status) a.assignment.struct_size = 0;
    if (left > 0) check_completion(f, &b, &a);
    else hold(f, answer_fault(&f->m, &b, &a, exact(f)));
    if (status || a.assignment.outcome == GPUOPT_INFEASIBLE) return;
    for (k = n - f->desc.evidence_count; k < n; k++)
        REQUIRE(a.value[f->permutation[k]] == f->fixed[copy][f->permutation[k]]);
    if (f->m.type == GPUOPT_COST_INT64 && f->estimate.policy <= GPUOPT_POLICY_RECOMPUTE)
        REQUIRE(memcmp(a.value, b.value, sizeof *a.value * (size_t)n) == 0); /* the smallest of equal assignments */
}

/* ---- Relaxations ---- */

/* The relaxation's bound, the handle of its descriptor, and an assignment's cost in it. */
static void check_relaxed(fuzz *f, gpuopt_elimination_cost_shifting *relaxation) {
    gpuopt_elimination_cost_shifting_info info;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_info found;
    gpuopt_elimination *e = NULL;
    const int doubles = f->m.type == GPUOPT_COST_DOUBLE;
    int32_t value[VARIABLES] = {0};
    long double bound;
    brute b;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&found, sizeof found);
    REQUIRE(gpuopt_elimination_cost_shifting_get_info(relaxation, &info) == GPUOPT_OK);
    REQUIRE(gpuopt_elimination_cost_shifting_get_desc(relaxation, &desc) == GPUOPT_OK);
    REQUIRE(info.variables == desc.variables && info.scale >= 1);
    b = brute_force(&f->m, f->eliminated, f->count, value, NULL);
    bound = info.outcome == GPUOPT_INFEASIBLE ? model_forbidden(&f->m)
            : doubles                         ? (long double)info.value
                                              : (long double)info.cost;
    if (!bounds(&f->m, bound, b.best)) hold(f, "a relaxation's bound");
    if (info.outcome == GPUOPT_OPTIMAL && !close_to(&f->m, bound, b.best)) hold(f, "a relaxation's optimum");
    if (gpuopt_elimination_create(f->context, &desc, NULL,
                                  &e)) { /* with a limit: the best so far need not be the last */
        REQUIRE(desc.memory->bytes);
        return;
    }
    REQUIRE(gpuopt_elimination_step(e, INT32_MAX, &found) == GPUOPT_OK);
    REQUIRE((found.outcome == GPUOPT_INFEASIBLE) == (info.outcome == GPUOPT_INFEASIBLE));
    gpuopt_elimination_destroy(e);
}

static void relax(fuzz *f) {
    const gpuopt_elimination_desc *d = &f->desc;
    const uint64_t before = f->host.live;
    const int whole = f->count + d->evidence_count == d->variables && copies_of(f) == 1 && !f->messages.join_rest;
    const int defined = f->m.semiring == GPUOPT_SEMIRING_MIN_SUM || f->m.semiring == GPUOPT_SEMIRING_MAX_SUM;
    gpuopt_elimination_desc desc = f->desc;
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    gpuopt_status status;
    const int failing = rarely(f);
    desc.policy = GPUOPT_POLICY_MINI_BUCKET;
    desc.z = 1 + (int32_t)take(f) % VARIABLES;
    if (failing) f->host.failing = 1 + take(f) % 64;
    status = gpuopt_elimination_shift_costs(f->context, &desc, (int32_t)take(f) % 8, &relaxation);
    REQUIRE(!status == (relaxation != NULL));
    if (status == GPUOPT_ERROR_MEMORY) REQUIRE(failing);
    else
        REQUIRE(status == GPUOPT_OK || (status == GPUOPT_ERROR_UNSUPPORTED && (!whole || !defined || f->memory.bytes)));
    f->host.failing = 0;
    if (!status) REQUIRE(whole && defined);
    if (!status) check_relaxed(f, relaxation);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    REQUIRE(f->host.live == before);
}

/* ---- Reductions ---- */

/* With random values of the untouchable variables, the best completion has the same cost in the reduced model as in the
 * model. It maps back to an assignment of the model. */
static void check_reduced(fuzz *f, gpuopt_elimination_preprocessing *reduction) {
    gpuopt_elimination_preprocessing_info info;
    gpuopt_elimination_desc desc;
    gpuopt_memory_plan plan;
    gpuopt_status status;
    int32_t value[VARIABLES] = {0}, reduced[VARIABLES] = {0}, lifted[VARIABLES], free_of[VARIABLES] = {0}, k;
    model small = f->m;
    brute b, s;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&plan, sizeof plan);
    REQUIRE(gpuopt_elimination_preprocessing_get_info(reduction, &info) == GPUOPT_OK);
    REQUIRE(gpuopt_elimination_preprocessing_get_desc(reduction, &desc) == GPUOPT_OK);
    REQUIRE(info.variables == desc.variables && desc.variables <= f->m.variables && desc.order_count <= f->count);
    status = gpuopt_elimination_create(f->context, &desc, &plan, NULL);
    REQUIRE(status != GPUOPT_ERROR_ARGUMENT && status != GPUOPT_ERROR_MEMORY);
    REQUIRE(status != GPUOPT_ERROR_NUMERIC || f->m.type == GPUOPT_COST_DOUBLE);
    small.variables = desc.variables;
    small.domain = (int32_t *)(uintptr_t)desc.domain;
    small.functions = desc.functions;
    small.function = (gpuopt_elimination_function *)(uintptr_t)desc.function;
    small.top = desc.top;
    for (k = 0; k < desc.order_count; k++) free_of[desc.order[k]] = 1;
    for (k = 0; k < desc.variables; k++) {
        if (free_of[k]) continue;
        REQUIRE(desc.domain[k] == f->m.domain[info.original[k]]);
        reduced[k] = value[info.original[k]] = (int32_t)take(f) % desc.domain[k];
    }
    b = brute_force(&f->m, f->eliminated, f->count, value, NULL);
    s = brute_force(&small, desc.order, desc.order_count, reduced, NULL);
    if (b.feasible != s.feasible || !close_to(&f->m, b.best, s.best + info.offset)) hold(f, "a reduction's optimum");
    if (f->m.semiring == GPUOPT_SEMIRING_MIN_COUNT && b.feasible && b.count != s.count) hold(f, "a reduction's count");
    if (f->m.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP || !s.feasible) return;
    for (k = 0; k < desc.order_count; k++) reduced[desc.order[k]] = s.value[desc.order[k]];
    REQUIRE(gpuopt_elimination_preprocessing_postsolve(reduction, reduced, lifted) == GPUOPT_OK);
    if (!close_to(&f->m, model_sum(&f->m, lifted), b.best)) hold(f, "a lifted assignment");
}

static void reduce(fuzz *f) {
    const uint64_t before = f->host.live;
    gpuopt_elimination_desc desc = f->desc;
    gpuopt_elimination_preprocessing *reduction = NULL;
    gpuopt_status status;
    const int failing = rarely(f);
    const uint32_t rules = take(f) % 128;
    const int64_t work = take(f) % 4 ? 0 : 1 + (int64_t)take(f);
    desc.order = f->eliminated;
    desc.order_count = f->count;
    if (failing) f->host.failing = 1 + take(f) % 64;
    status = gpuopt_elimination_preprocess(f->context, &desc, rules, work, &reduction);
    REQUIRE(!status == (reduction != NULL));
    REQUIRE(!status || (failing && status == GPUOPT_ERROR_MEMORY));
    f->host.failing = 0;
    if (!status) check_reduced(f, reduction);
    gpuopt_elimination_preprocessing_destroy(reduction);
    REQUIRE(f->host.live == before);
}

/* ---- A life ---- */

/* Sets the conditions of a copy. A value outside its domain changes nothing. */
static void set_condition(fuzz *f, int32_t copy) {
    int32_t value[VARIABLES] = {0}, count = f->desc.evidence_count, k;
    gpuopt_elimination_info before, after;
    for (k = 0; k < count; k++) value[k] = (int32_t)take(f) % f->m.domain[f->desc.evidence[k]];
    if (count > 0 && rarely(f)) {
        value[count - 1] = take(f) % 2 ? -1 : f->m.domain[f->desc.evidence[count - 1]];
        gpuopt_desc_init(&before, sizeof before);
        gpuopt_desc_init(&after, sizeof after);
        REQUIRE(gpuopt_elimination_get_info(f->e, copy, &before) == GPUOPT_OK);
        REQUIRE(gpuopt_elimination_set_evidence(f->e, GPUOPT_HOST, copy, value) == GPUOPT_ERROR_ARGUMENT);
        REQUIRE(gpuopt_elimination_get_info(f->e, copy, &after) == GPUOPT_OK);
        REQUIRE(memcmp(&before, &after, sizeof after) == 0);
        return;
    }
    REQUIRE(gpuopt_elimination_set_evidence(f->e, GPUOPT_HOST, copy, count ? value : NULL) == GPUOPT_OK);
    for (k = 0; k < count; k++) f->fixed[copy][f->desc.evidence[k]] = value[k];
}

static void check_wrong_calls(fuzz *f) {
    gpuopt_elimination_info info;
    int32_t wrong = take(f) % 2 ? -1 : copies_of(f), value[VARIABLES] = {0};
    gpuopt_desc_init(&info, sizeof info);
    REQUIRE(gpuopt_elimination_step(f->e, 0, &info) == GPUOPT_ERROR_ARGUMENT);
    REQUIRE(gpuopt_elimination_get_info(f->e, wrong, &info) == GPUOPT_ERROR_ARGUMENT);
    REQUIRE(gpuopt_elimination_set_evidence(f->e, GPUOPT_HOST, wrong, value) == GPUOPT_ERROR_ARGUMENT);
    REQUIRE(gpuopt_elimination_assign(f->e, GPUOPT_HOST, wrong, value, NULL) == GPUOPT_ERROR_ARGUMENT);
    REQUIRE(gpuopt_elimination_message_get(f->e, GPUOPT_HOST, f->estimate.messages, 0, NULL, NULL, NULL) ==
            GPUOPT_ERROR_ARGUMENT);
    REQUIRE(gpuopt_elimination_message_pack(f->e, GPUOPT_HOST, -1, 0, NULL, 0, NULL) == GPUOPT_ERROR_ARGUMENT);
}

static void eliminate(fuzz *f) {
    gpuopt_elimination_info info;
    int64_t done;
    gpuopt_desc_init(&info, sizeof info);
    REQUIRE(gpuopt_elimination_get_info(f->e, 0, &info) == GPUOPT_OK);
    while (info.outcome == GPUOPT_MORE) {
        int32_t value[VARIABLES] = {0}, count = 1 + (int32_t)take(f) % (VARIABLES + 1);
        unsigned choice = take(f);
        if (choice % 8 == 7) REQUIRE(gpuopt_elimination_assign(f->e, GPUOPT_HOST, 0, value, NULL) != GPUOPT_OK);
        if (choice % 16 == 5) check_messages(f);
        if (choice >= 192) count = INT32_MAX;
        done = info.eliminated;
        REQUIRE(gpuopt_elimination_step(f->e, count, choice & 64 ? NULL : &info) == GPUOPT_OK);
        REQUIRE(gpuopt_elimination_get_info(f->e, 0, &info) == GPUOPT_OK);
        REQUIRE(info.eliminated == (done + count < info.steps ? done + count : info.steps));
    }
}

static void live(fuzz *f) {
    int32_t copy, round, rounds = 1 + (int32_t)take(f) % 3;
    for (round = 0; round < rounds; round++) {
        for (copy = 0; copy < copies_of(f); copy++)
            if (take(f) % 2) set_condition(f, copy);
        eliminate(f);
        if (rarely(f)) check_wrong_calls(f);
        for (copy = 0; copy < copies_of(f); copy++) check_copy(f, copy);
        check_messages(f);
        check_bounds(f, (int32_t)take(f) % copies_of(f));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz state;
    fuzz *f = &state;
    int spoiled;
    memset(f, 0, sizeof *f);
    f->bytes.data = data;
    f->bytes.size = size;
    f->context = fuzz_context(&f->host);
    gpuopt_desc_init(&f->estimate, sizeof f->estimate);
    spoiled = rarely(f);
    input_make(f);
    if (spoiled) {
        if (input_spoil(f)) check_refusal(f);
    } else {
        create(f);
        if (f->e) live(f);
        if (f->e && take(f) % 2) relax(f);
        if (f->e && take(f) % 2) reduce(f);
        gpuopt_elimination_destroy(f->e);
    }
    input_free(f);
    fuzz_context_end(f->context, &f->host);
    return 0;
}
