/* SPDX-License-Identifier: MIT
 *
 * Thousands of small random models, for every semiring and both cost types, every heuristic and random orders. The
 * answer, the assignment and the width of the stored costs are compared with all assignments.
 */
#include <math.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"

/* The structs that a descriptor points to. */
typedef struct options {
    gpuopt_elimination_order_search search;
    gpuopt_elimination_memory memory;
    gpuopt_elimination_messages messages;
} options;

/* Draws members of the descriptor that do not change the answer. */
static void draw_way(uint64_t *seed, gpuopt_elimination_desc *desc, options *o, int32_t *order) {
    gpuopt_desc_init(&o->search, sizeof o->search);
    gpuopt_desc_init(&o->memory, sizeof o->memory);
    gpuopt_desc_init(&o->messages, sizeof o->messages);
    desc->order_search = &o->search;
    desc->memory = &o->memory;
    desc->messages = &o->messages;
    o->search.heuristic = (gpuopt_elimination_heuristic)test_random_int(seed, 0, 3);
    o->search.seed = (uint64_t)test_random_int(seed, 0, 1000);
    o->search.restarts = (int32_t)test_random_int(seed, 0, 3);
    desc->policy = test_random_int(seed, 0, 1) ? GPUOPT_POLICY_EXACT : GPUOPT_POLICY_AUTO;
    o->memory.retain_messages = (gpuopt_switch)test_random_int(seed, 0, 2);
    o->messages.join_rest = (int)test_random_int(seed, 0, 1);
    if (test_random_int(seed, 0, 1)) return;
    draw_permutation(seed, desc->variables, order);
    desc->order = order;
    desc->order_count = desc->variables;
}

/* The value phase has only one answer, because in eighths no sum is rounded. */
static const char *value_fault(const model *m, const brute *b, const answer *a, const recipe *r) {
    if (!b->feasible || m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP || !a->assignment.struct_size || r->fractions)
        return NULL;
    if (a->assignment.outcome != GPUOPT_OPTIMAL) return NULL; /* without keep */
    return memcmp(a->value, b->value, (size_t)m->variables * sizeof *b->value) ? "another optimal assignment" : NULL;
}

static const char *estimate_fault(const model *m, const answer *a, const int32_t *order, int join_rest) {
    subtree *trees = subtrees_make(m, order, m->variables, NULL);
    int32_t width = 0, inputs = 1, roots = 0, height = 0, k, v;
    long double entries = 0, largest = 0, operations = 0;
    for (k = 0; k < m->variables; k++) {
        int32_t arity = 0;
        long double size = 1;
        for (v = 0; v < m->variables; v++) {
            arity += trees[k].separator[v];
            if (trees[k].separator[v]) size *= m->domain[v];
        }
        if (arity > width) width = arity;
        if (trees[k].inputs > inputs) inputs = trees[k].inputs;
        roots += arity == 0;
        entries += size;
        largest = fmaxl(largest, size);
        operations += size * m->domain[order[k]] * (trees[k].inputs ? trees[k].inputs : 1);
        if (trees[k].height > height) height = trees[k].height;
    }
    subtrees_free(trees, m->variables);
    for (k = 0; k < m->functions; k++) roots += m->function[k].arity == 0; /* functions left over in the end */
    if (join_rest && roots > inputs) inputs = roots;
    if (a->estimate.bits != brute_bits(m, inputs)) return "the bits of a cost";
    if (a->estimate.width != width) return "the width";
    if (a->estimate.slices != 1 || a->estimate.sliced != 0 || a->estimate.z != 0) return "slices of an exact run";
    if (a->estimate.policy != GPUOPT_POLICY_EXACT) return "the policy";
    if (a->estimate.messages != m->variables + join_rest) return "the messages";
    if (join_rest) return NULL; /* the remaining functions add up to one table */
    if (a->estimate.levels != height) return "the levels";
    if (fabsl(a->estimate.entries - entries) > 0 || fabsl(a->estimate.largest - largest) > 0) return "the entries";
    return fabsl(a->estimate.operations - operations) > 0 ? "the operations" : NULL;
}

static void check(gpuopt_context *context, const test_host *host, gpuopt_elimination_cost type,
                  gpuopt_elimination_semiring semiring) {
    int32_t order[MODEL_VARIABLES], used[MODEL_VARIABLES];
    uint64_t seed, state;
    int feasible = 0, bits[65] = {0}, models = test_times(3000, 500);
    for (seed = 1; seed <= (uint64_t)models; seed++) {
        recipe r;
        model m;
        gpuopt_elimination_desc desc;
        options o;
        answer a;
        brute b;
        state = seed * 1000003 + (uint64_t)semiring * 10 + (uint64_t)type;
        r = recipe_draw(&state, type, semiring);
        m = model_draw(&state, type, semiring, &r);
        desc = model_desc(&m);
        draw_way(&state, &desc, &o, order);
        a = handle_answer(context, &desc, host, (int32_t)test_random_int(&state, 1, 9), used);
        b = brute_force(&m, used, m.variables, NULL, NULL);
        must_not(answer_fault(&m, &b, &a, 1), &m, seed);
        must_not(value_fault(&m, &b, &a, &r), &m, seed);
        must_not(estimate_fault(&m, &a, used, o.messages.join_rest), &m, seed);
        feasible += b.feasible;
        bits[a.estimate.bits]++;
        model_free(&m);
    }
    assert_true(feasible > models / 2 && feasible < models);
    if (type == GPUOPT_COST_INT64 && models >= 500)
        assert_true(bits[8] > 20 && bits[16] > 20 && bits[32] > 20 && bits[64] > 20);
}

static void every_kind(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    int k, live = (int)host.live;
    (void)state;
    for (k = 0; k < MODEL_KINDS; k++) check(context, &host, model_kind[k].type, model_kind[k].semiring);
    assert_int_equal(host.live, live);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* ---- Found orders ---- */

/* The order is a permutation of the variables that are not evidence, parents agree with the sets, and the same seed
 * gives the same order. */
static void order_is_valid(void **state) {
    gpuopt_context *context = test_context(NULL);
    uint64_t seed, random;
    (void)state;
    for (seed = 1; seed <= (uint64_t)test_times(400, 400); seed++) {
        int32_t order[MODEL_VARIABLES], again[MODEL_VARIABLES], parent[MODEL_VARIABLES], condition[MODEL_VARIABLES], k,
            c;
        uint8_t conditioned[MODEL_VARIABLES] = {0}, seen[MODEL_VARIABLES] = {0};
        gpuopt_elimination_desc desc;
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        subtree *trees;
        recipe r;
        model m;
        int32_t count;
        random = seed;
        r = recipe_draw(&random, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM);
        m = model_draw(&random, GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, &r);
        desc = model_desc(&m);
        desc.order_search = &search;
        search.heuristic = (gpuopt_elimination_heuristic)test_random_int(&random, 0, 3);
        search.seed = seed;
        draw_permutation(&random, m.variables, condition);
        desc.evidence = condition;
        desc.evidence_count = (int32_t)test_random_int(&random, 0, m.variables);
        for (k = 0; k < desc.evidence_count; k++) conditioned[condition[k]] = 1;
        count = m.variables - desc.evidence_count;
        assert_int_equal(gpuopt_elimination_order(context, &desc, order, parent, NULL), GPUOPT_OK);
        assert_int_equal(gpuopt_elimination_order(context, &desc, again, NULL, NULL), GPUOPT_OK);
        assert_memory_equal(order, again, (size_t)m.variables * sizeof *order);
        for (k = 0; k < m.variables; k++) {
            if (k >= count) {
                assert_int_equal(order[k], -1);
                continue;
            }
            assert_true(order[k] >= 0 && order[k] < m.variables && !conditioned[order[k]] && !seen[order[k]]);
            seen[order[k]] = 1;
        }
        trees = subtrees_make(&m, order, count, conditioned);
        for (k = 0; k < count; k++) {
            for (c = k + 1; c < count && !trees[k].separator[order[c]]; c++) continue;
            assert_int_equal(parent[order[k]], c < count ? order[c] : -1);
        }
        subtrees_free(trees, count);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* On a tree the heuristics that never add an edge find width 1; on a circle, width 2. */
static void order_of_trees(void **state) {
    static const gpuopt_elimination_heuristic heuristic[] = {GPUOPT_HEURISTIC_BEST, GPUOPT_HEURISTIC_MIN_FILL,
                                                             GPUOPT_HEURISTIC_WEIGHTED_MIN_FILL,
                                                             GPUOPT_HEURISTIC_MIN_DEGREE};
    gpuopt_context *context = test_context(NULL);
    uint64_t random = 1;
    int k, v, circle;
    (void)state;
    for (k = 0; k < 4; k++)
        for (circle = 0; circle < 2; circle++) {
            gpuopt_elimination_estimate estimate;
            gpuopt_elimination_desc desc;
            gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
            model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, 1000, NULL);
            for (v = 1; v < m.variables; v++)
                model_add_distance(&m, v, circle ? v - 1 : (int32_t)test_random_int(&random, 0, v - 1), 1);
            if (circle) model_add_distance(&m, 0, m.variables - 1, 1);
            desc = model_desc(&m);
            desc.order_search = &search;
            search.heuristic = heuristic[k];
            gpuopt_desc_init(&estimate, sizeof estimate);
            assert_int_equal(gpuopt_elimination_order(context, &desc, NULL, NULL, &estimate), GPUOPT_OK);
            assert_int_equal(estimate.width, 1 + circle);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_kind),
    cmocka_unit_test(order_is_valid),
    cmocka_unit_test(order_of_trees),
};
TEST_MAIN(tests)
