/* SPDX-License-Identifier: MIT
 *
 * Bounds for branch and bound. At random partial assignments they are compared with all completions, one and many at a
 * time. Their increases are checked, and a search finds the optimum with them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/elimination/handle.h"
enum { MOST_DOMAIN = 8 };

static void bounds_at(gpuopt_elimination *elimination, const model *m, int32_t copy, int32_t variable,
                      const int32_t *value, long double *bound) {
    int64_t cost[MOST_DOMAIN];
    double real[MOST_DOMAIN];
    int32_t v;
    assert_int_equal(gpuopt_elimination_get_bounds(elimination, GPUOPT_HOST, copy, variable, 0, 1, value,
                                                   m->type == GPUOPT_COST_INT64 ? cost : NULL,
                                                   m->type == GPUOPT_COST_DOUBLE ? real : NULL),
                     GPUOPT_OK);
    for (v = 0; v < m->domain[variable]; v++)
        bound[v] = entry_of(m, m->type == GPUOPT_COST_INT64 ? cost[v] : 0, m->type == GPUOPT_COST_DOUBLE ? real[v] : 0);
}

/* Checks every variable of the order at a random assignment. Variables that were eliminated before it do not matter. */
static const char *bounds_fault(gpuopt_elimination *elimination, const model *m, const gpuopt_elimination_desc *desc,
                                uint64_t *seed, int exact, long *loose) {
    int32_t value[MODEL_VARIABLES], k, v;
    long double bound[MOST_DOMAIN];
    for (k = 0; k < desc->order_count; k++) {
        for (v = 0; v < m->variables; v++) value[v] = (int32_t)test_random_int(seed, 0, m->domain[v] - 1);
        for (v = 0; v < desc->evidence_count; v++) value[desc->evidence[v]] = 0;
        bounds_at(elimination, m, 0, desc->order[k], value, bound);
        for (v = 0; v < m->domain[desc->order[k]]; v++) {
            brute b;
            value[desc->order[k]] = v;
            b = brute_force(m, desc->order, k, value, NULL);
            if (exact && !close_to(m, bound[v], b.best)) return "a bound that is exact";
            if (!bounds(m, bound[v], b.best)) return "a bound";
            *loose += !close_to(m, bound[v], b.best);
        }
    }
    return NULL;
}

static void bounds_hold(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k;
    uint64_t seed, random;
    long loose = 0, none = 0;
    (void)state;
    for (seed = 1; seed <= 80; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            int mini, most = model_kind[k].semiring == GPUOPT_SEMIRING_MIN_COUNT ? 1 : 2;
            gpuopt_elimination_desc desc;
            model m;
            if (model_kind[k].semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) continue;
            random = seed * 13 + (uint64_t)k;
            m = model_draw_crowded(&random, k, 6, 20, 2, 4, order, &desc);
            desc.order_count = (int32_t)test_random_int(&random, 1, m.variables);
            desc.evidence = order + desc.order_count;
            desc.evidence_count = (int32_t)test_random_int(&random, 0, m.variables - desc.order_count);
            for (mini = 0; mini < most; mini++) {
                gpuopt_elimination *elimination;
                desc.policy = mini ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_EXACT;
                desc.z = mini ? 2 : 0;
                elimination = handle_create(context, &desc, &host);
                handle_finish(elimination, 8);
                must_not(bounds_fault(elimination, &m, &desc, &random, !mini, mini ? &loose : &none), &m, seed);
                gpuopt_elimination_destroy(elimination);
            }
            model_free(&m);
        }
    assert_true(loose > 100 && none == 0);
    gpuopt_context_destroy(context);
}

/* ---- Branch and bound ---- */

typedef struct search {
    gpuopt_elimination *elimination;
    const model *m;
    const int32_t *order;
    int32_t value[MODEL_VARIABLES];
    long double best;
    long leaves, nodes;
} search;

/* Sets order[depth]; the variables after it are set. Values with the best bound come first. */
static void branch(search *s, int32_t depth) {
    long double bound[MOST_DOMAIN], sum;
    int32_t tried[MOST_DOMAIN] = {0}, v, best, domain, round;
    if (depth < 0) {
        sum = model_sum(s->m, s->value);
        if (s->m->semiring == GPUOPT_SEMIRING_MAX_SUM ? sum > s->best : sum < s->best) s->best = sum;
        s->leaves++;
        return;
    }
    s->nodes++;
    domain = s->m->domain[s->order[depth]];
    bounds_at(s->elimination, s->m, 0, s->order[depth], s->value, bound);
    for (round = 0; round < domain; round++) {
        for (best = -1, v = 0; v < domain; v++)
            if (!tried[v] &&
                (best < 0 || (bounds(s->m, bound[v], bound[best]) && !close_to(s->m, bound[v], bound[best]))))
                best = v;
        tried[best] = 1;
        if (bounds(s->m, s->best, bound[best])) continue; /* not better than the best so far */
        s->value[s->order[depth]] = best;
        branch(s, depth - 1);
    }
}

static void search_finds_the_optimum(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], k, z;
    uint64_t seed, random;
    long nodes[2] = {0, 0};
    (void)state;
    for (seed = 1; seed <= 60; seed++)
        for (k = 0; k < MODEL_SEARCHED; k++) {
            gpuopt_elimination_desc desc;
            recipe r;
            model m;
            brute b;
            random = seed * 23 + (uint64_t)k;
            r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            r.variables = r.functions = 8;
            r.fractions = 0;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            desc = model_desc(&m);
            assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
            desc.order = order;
            desc.order_count = m.variables;
            b = brute_force(&m, order, m.variables, NULL, NULL);
            for (z = 0; z <= 3; z += 3) {
                search s;
                memset(&s, 0, sizeof s);
                desc.policy = z ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_EXACT;
                desc.z = z;
                s.elimination = handle_create(context, &desc, &host);
                s.m = &m;
                s.order = order;
                s.best = model_forbidden(&m);
                handle_finish(s.elimination, 100);
                branch(&s, m.variables - 1);
                if (!close_to(&m, s.best, b.best)) must_not("the search's optimum", &m, seed);
                if (z == 0 && s.leaves != b.feasible) must_not("exact bounds lead astray", &m, seed);
                nodes[z > 0] += s.nodes;
                gpuopt_elimination_destroy(s.elimination);
            }
            model_free(&m);
        }
    assert_true(nodes[1] > nodes[0]);
    gpuopt_context_destroy(context);
}

/* Copies have bounds of their own. */
static void bounds_of_copies(void **state) {
    gpuopt_context *context = test_context(NULL);
    static const int32_t order[] = {0, 1}, condition = 2;
    gpuopt_elimination *elimination;
    gpuopt_elimination_desc desc;
    int32_t value[3] = {0}, copy;
    long double bound[2];
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 3, NULL);
    (void)state;
    model_add_distance(&m, 0, 1, 5);
    model_add_distance(&m, 1, 2, 7);
    desc = model_desc(&m);
    desc.order = order;
    desc.order_count = 2;
    desc.evidence = &condition;
    desc.evidence_count = 1;
    desc.batch_size = 2;
    elimination = handle_create(context, &desc, NULL);
    for (copy = 0; copy < 2; copy++)
        assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, copy, &copy), GPUOPT_OK);
    handle_finish(elimination, 1);
    for (copy = 0; copy < 2; copy++) {
        bounds_at(elimination, &m, copy, 1, value, bound);
        assert_int_equal(bound[copy], 0);
        assert_int_equal(bound[1 - copy], 7);
        value[1] = 1;
        bounds_at(elimination, &m, copy, 0, value, bound);
        assert_int_equal(bound[0], 5 + 7 * (1 - copy));
        assert_int_equal(bound[1], 7 * (1 - copy));
    }
    gpuopt_elimination_destroy(elimination);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Many partial assignments ---- */

/* Looks up `count` partial assignments at once, in either memory; the rows of bound have MOST_DOMAIN entries. */
static gpuopt_status look_up(gpuopt_elimination *e, const model *m, gpuopt_memory_space where, int32_t variable,
                             int increase, int64_t count, const int32_t *value, long double (*bound)[MOST_DOMAIN]) {
    const int32_t domain = m->domain[variable];
    const size_t bytes = sizeof(int64_t) * (size_t)count * (size_t)domain,
                 value_bytes = sizeof(int32_t) * (size_t)count * (size_t)m->variables;
    int64_t *cost = malloc(2 * bytes + 1);
    double *real = (double *)(void *)(cost + count * domain);
    char *device = where == GPUOPT_DEVICE ? test_device_allocate(bytes + value_bytes) : NULL;
    void *target = device ? device : m->type == GPUOPT_COST_INT64 ? (void *)cost : (void *)real;
    gpuopt_status status;
    int64_t i, v;
    memset(cost, 0x55, 2 * bytes + 1);
    if (device) test_device_copy(device + bytes, value, value_bytes);
    status = gpuopt_elimination_get_bounds(
        e, where, 0, variable, increase, count, device ? (int32_t *)(void *)(device + bytes) : value,
        m->type == GPUOPT_COST_INT64 ? target : NULL, m->type == GPUOPT_COST_DOUBLE ? target : NULL);
    if (device) {
        test_device_copy(m->type == GPUOPT_COST_INT64 ? (void *)cost : (void *)real, device, bytes);
        test_device_release(device);
    }
    for (i = 0; !status && i < count; i++)
        for (v = 0; v < domain; v++)
            bound[i][v] = entry_of(m, m->type == GPUOPT_COST_INT64 ? cost[i * domain + v] : 0,
                                   m->type == GPUOPT_COST_DOUBLE ? real[i * domain + v] : 0);
    free(cost);
    return status;
}

enum { MANY = 700 }; /* enough for threads */

/* All bounds of one variable: each equals a separate look-up's, and the increases are right. above: the variable that
 * is eliminated next, or -1. */
static const char *many_fault(gpuopt_elimination *e, const model *m, gpuopt_memory_space where, int32_t variable,
                              int32_t above, const int32_t *value, int64_t count, long *finite) {
    static long double bound[MANY][MOST_DOMAIN], before[MANY][MOST_DOMAIN], rise[MANY][MOST_DOMAIN];
    long double alone[MOST_DOMAIN];
    int64_t i, v;
    if (look_up(e, m, where, variable, 0, count, value, bound) || look_up(e, m, where, variable, 1, count, value, rise))
        return "a look-up of many";
    if (above >= 0 && look_up(e, m, where, above, 0, count, value, before)) return "a look-up of the variable before";
    for (i = 0; i < count; i++) {
        if (i < 3) bounds_at(e, m, 0, variable, value + i * m->variables, alone);
        for (v = 0; v < m->domain[variable]; v++) {
            long double from = above >= 0 ? before[i][value[i * m->variables + above]] : 0;
            if (i < 3 && bound[i][v] != alone[v]) return "the same bound alone";
            if (above < 0) continue;
            if (from == model_forbidden(m) || bound[i][v] == model_forbidden(m)) continue;
            if (rise[i][v] == model_forbidden(m)) return "what a permitted bound rises by";
            if (m->type == GPUOPT_COST_INT64 ? from + rise[i][v] != bound[i][v]
                                             : !close_to(m, from + rise[i][v], bound[i][v]))
                return "what a bound rises by";
            if (m->type == GPUOPT_COST_INT64 &&
                (m->semiring == GPUOPT_SEMIRING_MAX_SUM ? rise[i][v] > 0 : rise[i][v] < 0))
                return "the direction in which a bound moves";
            *finite += rise[i][v] != 0;
        }
    }
    return NULL;
}

static void many_at_once(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], *value = malloc(sizeof(int32_t) * MANY * MODEL_VARIABLES), k, v;
    uint64_t seed, random;
    long moved = 0;
    (void)state;
    for (seed = 1; seed <= 12; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            const int mini = model_kind[k].semiring != GPUOPT_SEMIRING_MIN_COUNT && seed % 3 > 0;
            const int64_t count = seed % 4 == 0 ? MANY : seed;
            gpuopt_elimination_desc desc;
            gpuopt_elimination *e;
            model m;
            int64_t i;
            if (model_kind[k].semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) continue;
            random = seed * 17 + (uint64_t)k;
            m = model_draw_crowded(&random, k, 8, 20, 1, 4, order, &desc);
            desc.order_count = (int32_t)test_random_int(&random, 1, m.variables);
            desc.evidence = order + desc.order_count;
            desc.evidence_count = (int32_t)test_random_int(&random, 0, m.variables - desc.order_count);
            desc.policy = mini ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_EXACT;
            desc.z = mini ? 2 : 0;
            e = handle_create(context, &desc, &host);
            handle_finish(e, 8);
            for (i = 0; i < count; i++) {
                for (v = 0; v < m.variables; v++)
                    value[i * m.variables + v] = (int32_t)test_random_int(&random, 0, m.domain[v] - 1);
                for (v = 0; v < desc.evidence_count; v++) value[i * m.variables + desc.evidence[v]] = 99;
            }
            for (v = 0; v < desc.order_count; v++) {
                const int32_t above = v + 1 < desc.order_count ? order[v + 1] : -1;
                must_not(many_fault(e, &m, GPUOPT_HOST, order[v], above, value, count, &moved), &m, seed);
                if (test_on("cuda"))
                    must_not(many_fault(e, &m, GPUOPT_DEVICE, order[v], above, value, count, &moved), &m, seed);
            }
            gpuopt_elimination_destroy(e);
            model_free(&m);
        }
    assert_true(moved > 1000);
    free(value);
    gpuopt_context_destroy(context);
}

/* From the last variable down to the first, the increases of the bounds add up to the cost of the whole assignment. */
static void rises_add_up(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int32_t order[MODEL_VARIABLES], value[MODEL_VARIABLES], v;
    uint64_t seed;
    long checked = 0;
    (void)state;
    for (seed = 1; seed <= 40; seed++) {
        uint64_t random = seed;
        recipe r = recipe_draw(&random, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM);
        gpuopt_elimination_desc desc;
        gpuopt_elimination_info info;
        gpuopt_elimination *e;
        long double bound[1][MOST_DOMAIN], sum;
        model m;
        r.forbidden = r.top = 0;
        m = model_draw(&random, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, &r);
        desc = model_desc(&m);
        draw_permutation(&random, m.variables, order);
        desc.order = order;
        desc.order_count = m.variables;
        desc.policy = GPUOPT_POLICY_MINI_BUCKET;
        desc.z = 2 + (int32_t)(seed % 2);
        for (v = 0; v < m.functions; v++)
            if (m.function[v].arity > desc.z) desc.z = m.function[v].arity;
        e = handle_create(context, &desc, &host);
        info = handle_finish(e, 100);
        sum = (long double)info.cost;
        for (v = 0; v < m.variables; v++) value[v] = (int32_t)test_random_int(&random, 0, m.domain[v] - 1);
        for (v = m.variables - 1; v >= 0; v--) {
            assert_int_equal(look_up(e, &m, GPUOPT_HOST, order[v], 1, 1, value, bound), GPUOPT_OK);
            sum += bound[0][value[order[v]]];
        }
        if (sum != model_sum(&m, value)) must_not("the sum of all rises", &m, seed);
        checked += m.variables > 2;
        gpuopt_elimination_destroy(e);
        model_free(&m);
    }
    assert_true(checked > 20);
    gpuopt_context_destroy(context);
}

/* More partial assignments than pass through the device's memory at a time, and a faulty one, refused by its number. */
static void pieces_and_refusals(void **state) {
    enum { COUNT = 20000, BAD = 11001 };
    test_host host;
    gpuopt_context *context = test_context(&host);
    static const int32_t order[] = {0, 1, 2};
    int32_t *value = calloc(COUNT, 3 * sizeof(int32_t)), k;
    int64_t *bound = malloc(sizeof(int64_t) * 2 * COUNT);
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 3, NULL);
    gpuopt_elimination_desc desc;
    gpuopt_elimination *e;
    long live, allocations;
    (void)state;
    model_add_distance(&m, 0, 1, 5);
    model_add_distance(&m, 1, 2, 7);
    desc = model_desc(&m);
    desc.order = order;
    desc.order_count = 3;
    e = handle_create(context, &desc, &host);
    handle_finish(e, 3);
    live = host.live, allocations = host.allocations;
    for (k = 0; k < COUNT; k++) value[3 * k] = -1, value[3 * k + 1] = k % 2, value[3 * k + 2] = k / 2 % 2;
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 0, COUNT, value, bound, NULL), GPUOPT_OK);
    for (k = 0; k < COUNT; k++) {
        const int64_t above = k % 2 == k / 2 % 2 ? 0 : 7;
        if (bound[2 * k] != above + 5 * (k % 2) || bound[2 * k + 1] != above + 5 * (1 - k % 2)) break;
    }
    assert_int_equal(k, COUNT);
    value[3 * BAD + 1] = 2;
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 1, COUNT, value, bound, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    assert_non_null(strstr(host.error, "gpuopt_elimination_get_bounds: partial assignment 11001 "));
    value[3 * BAD + 1] = -1;
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 0, COUNT, value, bound, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    value[3 * BAD + 1] = 0;
    value[3 * BAD + 2] = 2; /* is not read for the bound's increase */
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 1, COUNT, value, bound, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 1, 0, NULL, NULL, NULL), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 1, -1, value, bound, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(gpuopt_elimination_get_bounds(e, GPUOPT_HOST, 0, 0, 1, INT64_MAX / 8, value, bound, NULL),
                     GPUOPT_ERROR_ARGUMENT);
    assert_true(host.live == live && host.allocations == allocations);
    gpuopt_elimination_destroy(e);
    model_free(&m);
    free(value);
    free(bound);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bounds_hold),      cmocka_unit_test(search_finds_the_optimum),
    cmocka_unit_test(bounds_of_copies), cmocka_unit_test(many_at_once),
    cmocka_unit_test(rises_add_up),     cmocka_unit_test(pieces_and_refusals),
};
TEST_MAIN(tests)
