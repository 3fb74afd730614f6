/* SPDX-License-Identifier: MIT
 *
 * Bounds for branch and bound: at random partial assignments against all their completions, and in a search that finds
 * the optimum with them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        for (v = 0; v < desc->condition_count; v++) value[desc->condition[v]] = 0;
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
            recipe r;
            model m;
            if (model_kind[k].semiring == GPUOPT_SEMIRING_LOG_SUM_EXP) continue;
            random = seed * 13 + (uint64_t)k;
            r = recipe_draw(&random, model_kind[k].type, model_kind[k].semiring);
            r.variables = 6;
            r.functions = 20;
            r.arity = (int32_t)test_random_int(&random, 2, 4);
            r.largest /= 2;
            r.least /= 2;
            m = model_draw(&random, model_kind[k].type, model_kind[k].semiring, &r);
            desc = model_desc(&m);
            draw_permutation(&random, m.variables, order);
            desc.order = order;
            desc.order_count = (int32_t)test_random_int(&random, 1, m.variables);
            desc.condition = order + desc.order_count;
            desc.condition_count = (int32_t)test_random_int(&random, 0, m.variables - desc.order_count);
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
        if (bounds(s->m, s->best, bound[best])) continue; /* not better than what is known */
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
    desc.condition = &condition;
    desc.condition_count = 1;
    desc.copies = 2;
    elimination = handle_create(context, &desc, NULL);
    for (copy = 0; copy < 2; copy++)
        assert_int_equal(gpuopt_elimination_set_condition(elimination, GPUOPT_HOST, copy, &copy), GPUOPT_OK);
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bounds_hold),
    cmocka_unit_test(search_finds_the_optimum),
    cmocka_unit_test(bounds_of_copies),
};
TEST_MAIN(tests)
