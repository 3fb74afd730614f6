/* SPDX-License-Identifier: MIT
 *
 * One bucket at a time, of any shape: few variables of many values, many of few, tables much larger than the part that
 * a thread or a block takes at once. Functions over any part of the message's scope, copies with evidence. Every entry
 * of the message is compared with plain loops.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/elimination/handle.h"

enum { MOST_SCOPE = 24, MOST_FUNCTIONS = 12 };

/* Variable 0 is eliminated, the last one is evidence, and the others are the scope of the message. */
typedef struct shape {
    int32_t variables, domain[MOST_SCOPE + 2];
    int64_t entries; /* of the message */
    int32_t functions;
} shape;

/* `most` entries at most; `values`: the most in a domain of the message. */
static shape draw_shape(uint64_t *seed, int64_t most, int32_t values) {
    shape s;
    int32_t wanted = (int32_t)test_random_int(seed, 1, MOST_SCOPE), v;
    memset(&s, 0, sizeof s);
    s.entries = 1;
    s.domain[0] =
        test_random_int(seed, 0, 3) ? (int32_t)test_random_int(seed, 1, 9) : (int32_t)test_random_int(seed, 10, 70);
    most /= s.domain[0];
    for (v = 1; v <= wanted; v++) {
        int32_t size = (int32_t)test_random_int(seed, test_random_int(seed, 0, 9) ? 2 : 1, values);
        if (s.entries * size > most) break;
        s.domain[v] = size;
        s.entries *= size;
    }
    s.domain[v] = (int32_t)test_random_int(seed, 1, 3);
    s.variables = v + 1;
    s.functions = (int32_t)test_random_int(seed, 1, MOST_FUNCTIONS);
    return s;
}

/* Functions of variable 0 and a random part of the others, with at most as many entries as the message, or 2^16. */
static model draw_bucket(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring,
                         const shape *s) {
    static const int64_t largest[] = {3, 18, 3000, 1000000, (int64_t)1 << 40};
    model m = model_make(type, semiring, s->variables, s->domain);
    int64_t most = largest[test_random_int(seed, 0, 4)], e;
    int32_t f, k, hard = test_random_int(seed, 0, 1) ? 0 : (int32_t)test_random_int(seed, 1, 30);
    double sign = semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    if (type == GPUOPT_COST_DOUBLE && most > 3000) most = 3000;
    m.scale = (double)most * s->functions;
    for (f = 0; f < s->functions; f++) {
        int32_t drawn[MOST_SCOPE + 2], scope[MOST_SCOPE + 2] = {0}, arity = 1;
        int64_t entries = s->domain[0], capacity = f == 0 ? s->entries * s->domain[0] * 3 : 65536;
        gpuopt_elimination_function *g;
        int large = (int)test_random_int(seed, 0, 1);
        draw_permutation(seed, s->variables, drawn);
        for (k = 0; k < s->variables; k++) {
            if (drawn[k] == 0 || entries * s->domain[drawn[k]] > capacity) continue;
            if (f > 0 && test_random_int(seed, 0, 2) > large) continue; /* the first one mentions all that is there */
            scope[arity++] = drawn[k];
            entries *= s->domain[drawn[k]];
        }
        if (arity > 1) { /* variable 0 anywhere in it */
            int32_t at = (int32_t)test_random_int(seed, 0, arity - 1);
            scope[0] = scope[at];
            scope[at] = 0;
        }
        g = model_add(&m, arity, scope, -1);
        for (e = 0; e < entries; e++) {
            double cost = sign * (double)test_random_int(seed, 0, most);
            if (type == GPUOPT_COST_DOUBLE)
                ((double *)g->value)[e] = test_random_int(seed, 0, 99) < hard ? (double)model_forbidden(&m) : cost / 8;
            else
                ((int64_t *)g->cost)[e] =
                    test_random_int(seed, 0, 99) < hard ? (sign < 0 ? INT64_MIN : INT64_MAX) : (int64_t)cost;
        }
    }
    return m;
}

/* An entry of the message, from the values of all variables except 0. */
static long double entry_at(const model *m, const int64_t (*stride)[MOST_SCOPE + 2], int32_t *value, uint64_t *count) {
    long double best = model_forbidden(m), scaled = 0;
    int32_t v, f, k;
    *count = 0;
    for (v = 0; v < m->domain[0]; v++) {
        long double sum = 0;
        value[0] = v;
        for (f = 0; f < m->functions; f++) {
            const gpuopt_elimination_function *g = &m->function[f];
            int64_t at = 0;
            for (k = 0; k < g->arity; k++) at += stride[f][k] * value[g->scope[k]];
            sum += entry_of(m, g->cost ? g->cost[at] : 0, g->value ? g->value[at] : 0);
        }
        if (isinf(sum)) continue;
        if (isinf(best) ||
            (m->semiring == GPUOPT_SEMIRING_MIN_SUM || m->semiring == GPUOPT_SEMIRING_MIN_COUNT ? sum < best
                                                                                                : sum > best)) {
            scaled *= isinf(best) ? 0 : expl(best - sum);
            best = sum;
            *count = 0;
        }
        scaled += m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? expl(sum - best) : 0;
        *count += sum <= best && sum >= best;
    }
    return m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP && !isinf(best) ? best + logl(scaled) : best;
}

static const char *bucket_fault(gpuopt_elimination *elimination, const model *m, int32_t copies, const int32_t *at) {
    static int64_t stride[MOST_FUNCTIONS][MOST_SCOPE + 2];
    gpuopt_elimination_message_info info = handle_message(elimination, 0);
    int64_t *cost = malloc((size_t)info.entries * sizeof *cost), e;
    double *real = malloc((size_t)info.entries * sizeof *real);
    uint64_t *count = malloc((size_t)info.entries * sizeof *count), expected;
    int32_t value[MOST_SCOPE + 2] = {0}, copy, f, k;
    const char *fault = NULL;
    assert_true(cost && real && count);
    for (f = 0; f < m->functions; f++)
        for (k = m->function[f].arity - 1; k >= 0; k--)
            stride[f][k] =
                k == m->function[f].arity - 1 ? 1 : stride[f][k + 1] * m->domain[m->function[f].scope[k + 1]];
    for (copy = 0; copy < copies && !fault; copy++) {
        assert_int_equal(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, 0, copy,
                                                        m->type == GPUOPT_COST_INT64 ? cost : NULL,
                                                        m->type == GPUOPT_COST_DOUBLE ? real : NULL,
                                                        m->semiring == GPUOPT_SEMIRING_MIN_COUNT ? count : NULL),
                         GPUOPT_OK);
        memset(value, 0, sizeof value);
        value[m->variables - 1] = at[copy];
        for (e = 0; e < info.entries && !fault; e++) {
            long double best = entry_at(m, (const int64_t(*)[MOST_SCOPE + 2]) stride, value, &expected);
            if (!close_to(m, entry_of(m, m->type == GPUOPT_COST_INT64 ? cost[e] : 0, m->type ? real[e] : 0), best))
                fault = "an entry";
            else if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT && !isinf(best) && count[e] != expected)
                fault = "a count";
            if (fault) print_message("copy %d, entry %lld of %lld\n", (int)copy, (long long)e, (long long)info.entries);
            for (k = info.arity - 1; k >= 0; k--) {
                if (++value[info.scope[k]] < m->domain[info.scope[k]]) break;
                value[info.scope[k]] = 0;
            }
        }
    }
    free(cost);
    free(real);
    free(count);
    return fault;
}

static void check(gpuopt_context *context, const test_host *host, uint64_t seed, int64_t most, int32_t values) {
    static const int32_t first = 0;
    const char *fault;
    int32_t k;
    for (k = 0; k < MODEL_KINDS; k++) {
        uint64_t random = seed * 10 + k;
        shape s = draw_shape(&random, most, values);
        model m = draw_bucket(&random, model_kind[k].type, model_kind[k].semiring, &s);
        int32_t condition = s.variables - 1, at[3] = {0}, copy;
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination *elimination;
        desc.order = &first;
        desc.order_count = 1;
        desc.evidence = &condition;
        desc.evidence_count = 1;
        desc.batch_size = (int32_t)test_random_int(&random, 1, 3);
        desc.policy = GPUOPT_POLICY_EXACT;
        elimination = handle_create(context, &desc, host);
        for (copy = 0; copy < desc.batch_size; copy++) {
            at[copy] = (int32_t)test_random_int(&random, 0, s.domain[condition] - 1);
            assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, copy, &at[copy]), GPUOPT_OK);
        }
        handle_finish(elimination, 1);
        fault = bucket_fault(elimination, &m, desc.batch_size, at);
        if (fault) {
            for (copy = 0; copy < s.variables; copy++) print_message("%d ", (int)s.domain[copy]);
            fail_msg("%s: seed %llu, kind %d, domains of %d variables, %d functions", fault, (unsigned long long)seed,
                     (int)k, (int)s.variables, (int)m.functions);
        }
        gpuopt_elimination_destroy(elimination);
        model_free(&m);
    }
}

static void buckets(int runs, int64_t most, int32_t values) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    uint64_t seed;
    if (test_few()) runs = (runs + 1) / 2;
    if (!test_on("cuda")) runs = (runs + 1) / 2; /* a CPU has one way for all of these shapes */
    for (seed = 1; seed <= (uint64_t)runs; seed++) check(context, &host, seed, most, values);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void binary_variables(void **state) {
    (void)state;
    buckets(20, 100000, 2);
}

static void few_values(void **state) {
    (void)state;
    buckets(30, 50000, 5);
}

static void tens_of_values(void **state) {
    (void)state;
    buckets(30, 50000, 60);
}

static void thousands_of_values(void **state) {
    (void)state;
    buckets(15, 100000, 5000);
}

/* Large enough for functions to be added up beforehand. */
static void large_tables(void **state) {
    (void)state;
    buckets(5, 1500000, 4);
    buckets(2, 3000000, 30);
}

/* ---- Messages in a large bucket ---- */

enum { CORE = 21, LEAVES = 16, ALL = CORE + LEAVES };

/* A binary core with costs between variable 0 and each other variable, and leaves with three values on variable 0
 * and one or two others. Their messages are small and meet in the bucket of variable 0. Costs are eighths. */
static model draw_core(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring) {
    int32_t domain[ALL], v, arity;
    int64_t e;
    model m;
    for (v = 0; v < ALL; v++) domain[v] = v < CORE ? 2 : 3;
    m = model_make(type, semiring, ALL, domain);
    m.scale = 100.0 * ALL;
    for (v = 1; v < ALL; v++) {
        int32_t scope[4] = {v, 0, 0, 0};
        gpuopt_elimination_function *f;
        for (arity = 2; v >= CORE && arity < 4 && (arity == 2 || test_random_int(seed, 0, 1)); arity++) do
                scope[arity] = (int32_t)test_random_int(seed, 1, CORE - 1);
            while (arity == 3 && scope[3] == scope[2]);
        f = model_add(&m, arity, scope, -1);
        for (e = 0; e < model_entries(&m, scope, arity); e++) {
            double cost = (double)test_random_int(seed, 0, 100);
            model_set(&m, f, e, type == GPUOPT_COST_DOUBLE ? cost / 8 : cost);
        }
    }
    return m;
}

/* A leaf's function without the leaf, or the function of a core variable: [entry of the remaining scope]. */
static void reduce(const model *m, int32_t v, double *left) {
    const gpuopt_elimination_function *f = &m->function[v - 1]; /* the function of variable v */
    double sign = m->semiring == GPUOPT_SEMIRING_MAX_SUM ? -1 : 1;
    int32_t entries = 1 << (f->arity - 1), a, e;
    for (e = 0; v >= CORE && e < entries; e++) {
        double sum = 0, least = INFINITY;
        for (a = 0; a < 3; a++) {
            double cost = f->cost ? (double)f->cost[a * entries + e] : f->value[a * entries + e];
            least = fmin(least, sign * cost);
            sum += exp(cost);
        }
        left[e] = m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? log(sum) : least;
    }
    for (e = 0; v < CORE && e < 4; e++) left[e] = sign * (f->cost ? (double)f->cost[e] : f->value[e]);
}

/* Over all values of the core. */
static long double core_answer(const model *m) {
    static double left[ALL][8];
    long double scaled = 0;
    double best = INFINITY;
    int32_t v, k;
    int64_t core;
    for (v = 1; v < ALL; v++) reduce(m, v, left[v]);
    for (core = 0; core < (int64_t)1 << CORE; core++) {
        double total = 0;
        for (v = 1; v < ALL; v++) {
            const gpuopt_elimination_function *f = &m->function[v - 1];
            int32_t at = v < CORE ? (int32_t)(core >> v & 1) : 0;
            for (k = 1; k < f->arity; k++) at = at * 2 + (int32_t)(core >> f->scope[k] & 1);
            total += left[v][at];
        }
        if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) scaled += exp(total - 300);
        best = fmin(best, total);
    }
    if (m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) return 300 + logl(scaled);
    return m->semiring == GPUOPT_SEMIRING_MAX_SUM ? -best : best;
}

static void messages_meet(void **state) {
    static const int32_t at_once[] = {1, 7, 1000};
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[ALL], value[ALL], k, v, keep, s;
    (void)state;
    for (v = 0; v < ALL; v++) order[v] = v < LEAVES ? CORE + v : v - LEAVES;
    for (k = 0; k < MODEL_BOUNDED; k++) {
        uint64_t seed = 3 + (uint64_t)k;
        model m = draw_core(&seed, model_kind[k].type, model_kind[k].semiring);
        long double expected = core_answer(&m);
        for (keep = GPUOPT_ON; keep <= GPUOPT_OFF; keep++)
            for (s = 0; s < 3; s++) {
                gpuopt_elimination_desc desc = model_desc(&m);
                gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
                gpuopt_elimination *elimination;
                gpuopt_elimination_info info;
                gpuopt_elimination_assignment assignment;
                desc.order = order;
                desc.order_count = ALL;
                desc.memory = &memory;
                memory.retain_messages = (gpuopt_switch)keep;
                desc.policy = GPUOPT_POLICY_EXACT;
                elimination = handle_create(context, &desc, &host);
                info = handle_finish(elimination, at_once[s]);
                assert_true(close_to(&m, cost_of_info(&m, &info), expected));
                if (keep == GPUOPT_ON && m.semiring != GPUOPT_SEMIRING_LOG_SUM_EXP) {
                    gpuopt_desc_init(&assignment, sizeof assignment);
                    assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, &assignment),
                                     GPUOPT_OK);
                    assert_true(close_to(&m, model_sum(&m, value), expected));
                }
                gpuopt_elimination_destroy(elimination);
            }
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(binary_variables),    cmocka_unit_test(few_values),   cmocka_unit_test(tens_of_values),
    cmocka_unit_test(thousands_of_values), cmocka_unit_test(large_tables), cmocka_unit_test(messages_meet),
};
TEST_MAIN(tests)
