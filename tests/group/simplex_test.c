/* SPDX-License-Identifier: MIT
 *
 * A tableau with columns split over the ranks of a group. Each rank's results equal, bit for bit and pivot by pivot,
 * those of a separate handle, and they are right by exact arithmetic.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/group/script.h"
#include "tests/simplex/answer.h"
#include "tests/simplex/exact.h"

typedef struct work {
    const gpuopt_simplex_desc *desc;
    const script_log *expected;
    int64_t step;
    int devices; /* over which the ranks of follows_by_peers() are spread; 1: as in rank_device() */
} work;

static void follows(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    script_log log;
    uint64_t before, on_device;
    gpuopt_simplex *simplex = NULL;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc.group = r->group;
    EXPECT(r, script_run(r->context, &desc, w->step, &log) == GPUOPT_OK);
    EXPECT(r, log.calls == w->expected->calls && log.size == w->expected->size);
    EXPECT(r, log.size == w->expected->size && memcmp(log.bytes, w->expected->bytes, log.size) == 0);
    script_free(&log);
    before = r->host.bytes[GPUOPT_HOST];
    on_device = r->host.bytes[GPUOPT_DEVICE];
    desc.method = GPUOPT_METHOD_AUTO;
    desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, &plan, NULL) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, &simplex) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_get_info(simplex, &info) == GPUOPT_OK);
    EXPECT(r, info.method == GPUOPT_METHOD_TABLEAU && info.algorithm == GPUOPT_ALGORITHM_PRIMAL);
    EXPECT(r, r->host.bytes[GPUOPT_HOST] - before == plan.host_bytes);
    EXPECT(r, r->host.bytes[GPUOPT_DEVICE] - on_device == plan.device_bytes);
    gpuopt_simplex_destroy(simplex);
}

/* Runs the script with one handle, checks its known properties, and then runs it on `ranks` ranks. */
static void compare(const mip *m, const gpuopt_simplex_desc *desc, int ranks, int64_t step) {
    gpuopt_context *context = test_context(NULL);
    script_log expected;
    work w = {desc, &expected, step, 1};
    assert_int_equal(script_run(context, desc, step, &expected), GPUOPT_OK);
    if (m->optimum_known) {
        assert_int_equal(expected.solved.outcome, GPUOPT_OPTIMAL);
        assert_true(fabs(expected.solved.objective - m->optimum) <= 1e-9 * fmax(1, fabs(m->optimum)));
    }
    ranks_run(ranks, follows, &w);
    script_free(&expected);
    gpuopt_context_destroy(context);
}

/* Columns: fewer than ranks; not a multiple of 8; shares that differ. */
static const char *const models[] = {"plant:40:1:0.5:1", "plant:10:10:1:2",   "plant:12:31:0.4:3", "plant:30:50:0.3:4",
                                     "shah:23:1",        "meyer:40:90:0.1:1", "plant:60:25:0.2:5"};
enum { MODELS = sizeof models / sizeof *models };

static void same_bits(void **state) {
    const int some = test_few() ? 5 : +MODELS, most = test_few() ? 3 : 5;
    int k, variant, tried = 0;
    (void)state;
    for (k = 0; k < some; k++) {
        mip m = model_load(models[k]);
        for (variant = 0; variant < VARIANTS; variant += test_few() ? 13 : 1) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex_rules rules;
            variant_set(&desc, variant);
            if (desc.method != GPUOPT_METHOD_TABLEAU) continue;
            rules = rules_of(&desc);
            desc.rules = &rules;
            if (tried % 3 == 0 && rules.deferred_pivots == 0) rules.deferred_pivots = 3;
            if (tried % 4 == 1) rules.rebuild_pivots = 7;
            compare(&m, &desc, 1 + tried % most, tried % 2 ? 1000000 : 1);
            tried++;
        }
        mip_free(&m);
    }
    assert_true(test_few() ? tried >= some : tried == MODELS * VARIANTS / 2);
}

/* ---- GPUs that see one another's memory ---- */

/* How often a rank's handles logged each way of exchange. */
typedef struct ways {
    int peers, host;
} ways;

static void listen(void *user, int level, const char *message) {
    ways *seen = user;
    (void)level;
    seen->peers += strstr(message, "exchange through peer memory") != NULL;
    seen->host += strstr(message, "exchange through host memory") != NULL;
}

/* As follows(), in a context with the library's own memory, which other ranks may access. */
static void follows_by_peers(rank *r) {
    const work *w = r->all->data;
    const int own = r->transport.count > 1 && test_on("cuda");
    gpuopt_context_desc with = test_context_desc(NULL);
    gpuopt_group_desc limit = GPUOPT_INIT(gpuopt_group_desc);
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_context *context = NULL;
    ways seen = {0, 0};
    script_log log = {0};
    with.user = &seen;
    with.log = listen;
    with.device = w->devices > 1 ? r->number % w->devices : rank_device(r->number);
    limit.time_limit = 60;
    EXPECT(r, gpuopt_context_create(&with, &context) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_create(context, &r->transport, &limit, &desc.group) == GPUOPT_OK);
    EXPECT(r, script_run(context, &desc, w->step, &log) == GPUOPT_OK);
    EXPECT(r, seen.peers == own && seen.host == 0);
    EXPECT(r, log.size == w->expected->size && memcmp(log.bytes, w->expected->bytes, log.size) == 0);
    script_free(&log);
    gpuopt_group_destroy(desc.group);
    gpuopt_context_destroy(context);
}

static void same_bits_by_peers(void **state) {
    int k, variant, tried = 0;
    (void)state;
    for (k = 0; k < MODELS; k += test_few() ? 2 : 1) {
        mip m = model_load(models[k]);
        for (variant = k % 3; variant < VARIANTS; variant += test_few() ? 29 : 1) {
            gpuopt_context *context = test_context(NULL);
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex_rules rules;
            script_log expected;
            work w = {&desc, &expected, tried % 2 ? 1000000 : 1, 1};
            /* An emulated device has three multiprocessors, each for one rank. */
            const int ranks = 2 + tried % (test_emulated() ? 4 : 3);
            if (test_emulated() && (ranks > 3 || tried % 2)) w.devices = 2;
            variant_set(&desc, variant);
            if (desc.method == GPUOPT_METHOD_TABLEAU) {
                rules = rules_of(&desc);
                desc.rules = &rules;
                if (tried % 3 == 0 && rules.deferred_pivots == 0) rules.deferred_pivots = 3;
                if (tried % 4 == 1) rules.rebuild_pivots = 7;
                assert_int_equal(script_run(context, &desc, w.step, &expected), GPUOPT_OK);
                ranks_run(ranks, follows_by_peers, &w);
                script_free(&expected);
                tried++;
            }
            gpuopt_context_destroy(context);
        }
        mip_free(&m);
    }
    assert_true(tried >= (test_few() ? 3 : 5));
}

/* Memory of the caller's hooks is not shared: the other way. */
static void goes_through_host_memory(rank *r) {
    const work *w = r->all->data;
    test_host host;
    gpuopt_context_desc with = test_context_desc(&host);
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_context *context = NULL;
    gpuopt_simplex *simplex = NULL;
    EXPECT(r, gpuopt_context_create(&with, &context) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_create(context, &r->transport, NULL, &desc.group) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_create(context, &desc, NULL, &simplex) == GPUOPT_OK);
    EXPECT(r, !test_on("cuda") || strstr(host.info, "exchange through host memory: memory comes from the caller's"));
    gpuopt_simplex_destroy(simplex);
    gpuopt_group_destroy(desc.group);
    gpuopt_context_destroy(context);
}

static void through_host_memory(void **state) {
    mip m = model_load("plant:12:31:0.4:3");
    gpuopt_simplex_desc desc = tableau_desc(&m);
    const work w = {&desc, NULL, 1, 1};
    (void)state;
    ranks_run(2, goes_through_host_memory, &w);
    mip_free(&m);
}

/* ---- Without rows ---- */

static void is_at_bounds(rank *r) {
    gpuopt_simplex_desc desc = tableau_desc(r->all->data);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex *simplex = NULL;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc.group = r->group;
    EXPECT(r, gpuopt_simplex_create(r->context, &desc, NULL, &simplex) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 1000, &info) == GPUOPT_OK);
    EXPECT(r, info.outcome == GPUOPT_OPTIMAL && info.objective == -1 - 3 - 5 - 7);
    gpuopt_simplex_destroy(simplex);
}

/* Each variable moves to its cheaper bound: with an even number to 0, others to 1. */
static void no_rows(void **state) {
    static const double cost[9] = {0, -1, 2, -3, 4, -5, 6, -7, 8}, lb[9] = {0}, ub[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    mip m = model_of(0, 9, NULL, cost, NULL, NULL, lb, ub);
    int ranks;
    (void)state;
    for (ranks = 1; ranks <= 3; ranks++) ranks_run(ranks, is_at_bounds, &m);
    mip_free(&m);
}

/* ---- Against exact arithmetic ---- */

typedef struct solved {
    const mip *m;
    const exact_answer *exact;
} solved;

static void is_right(rank *r) {
    const solved *w = r->all->data;
    gpuopt_simplex_desc desc = tableau_desc(w->m);
    script_log log;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc.group = r->group;
    EXPECT(r, script_run(r->context, &desc, 1000000, &log) == GPUOPT_OK);
    EXPECT(r, log.solved.outcome == w->exact->outcome);
    if (log.solved.outcome == GPUOPT_OPTIMAL)
        EXPECT(r, fabs(log.solved.objective - w->exact->objective) <= 1e-9 * fmax(1, fabs(w->exact->objective)));
    if (log.solved.outcome == GPUOPT_INFEASIBLE && log.proof)
        EXPECT(r, exact_farkas_margin(w->m, log.proof, log.proof_low, 1e24) > 0);
    if (log.solved.outcome == GPUOPT_UNBOUNDED && log.proof)
        EXPECT(r, exact_ray_gain(w->m, log.proof, log.proof_low) > 0);
    EXPECT(r, (log.proof != NULL) == (log.solved.outcome != GPUOPT_OPTIMAL));
    script_free(&log);
}

/* Small models with all kinds of rows and bounds; integers, so that many are degenerate. */
static mip draw(uint64_t *seed, int32_t rows, int32_t cols) {
    double a[20 * 30], cost[30], lhs[20], rhs[20], lb[30], ub[30];
    int32_t i, j;
    for (i = 0; i < rows * cols; i++) a[i] = test_random_int(seed, 0, 9) < 6 ? 0 : (double)test_random_int(seed, -3, 3);
    for (j = 0; j < cols; j++) {
        cost[j] = (double)test_random_int(seed, -2, 4);
        lb[j] = test_random_int(seed, 0, 9) ? 0 : -no_bound;
        ub[j] = test_random_int(seed, 0, 2) ? no_bound : (double)test_random_int(seed, 1, 5);
    }
    for (i = 0; i < rows; i++) {
        const int kind = (int)test_random_int(seed, 0, 5);
        rhs[i] = kind == 0 ? no_bound : (double)test_random_int(seed, 0, 12);
        lhs[i] = kind == 1 ? rhs[i] : kind < 3 ? rhs[i] >= no_bound ? 1 : rhs[i] - 2 : -no_bound;
    }
    return model_of(rows, cols, a, cost, lhs, rhs, lb, ub);
}

static void exact_outcomes(void **state) {
    uint64_t seed = 5;
    int k, of[GPUOPT_CUTOFF + 1] = {0}, few = test_few() ? 1 : 10;
    (void)state;
    for (k = 0; k < 12 * few; k++) {
        mip m = draw(&seed, (int32_t)test_random_int(&seed, 2, 12), (int32_t)test_random_int(&seed, 3, 30));
        const exact_answer exact = exact_solve(&m, NULL);
        const solved w = {&m, &exact};
        of[exact.outcome]++;
        ranks_run(2 + k % (test_few() ? 2 : 3), is_right, &w);
        mip_free(&m);
    }
    print_message("%d optimal, %d infeasible, %d unbounded\n", of[GPUOPT_OPTIMAL], of[GPUOPT_INFEASIBLE],
                  of[GPUOPT_UNBOUNDED]);
    assert_true(of[GPUOPT_OPTIMAL] >= few && of[GPUOPT_INFEASIBLE] >= few && of[GPUOPT_UNBOUNDED] >= few);
}

/* ---- Ranks with matrices that differ in tidiness ---- */

/* Each entry in two halves with a 0 before them, which tidying turns into the entry. block [3]: to be freed. */
static gpuopt_matrix in_halves(const gpuopt_matrix *m, void *block[3]) {
    const int32_t lines = m->layout == GPUOPT_LAYOUT_CSR ? m->rows : m->cols;
    int64_t *start = block[0] = calloc((size_t)lines + 1, sizeof *start), k;
    int32_t *index = block[1] = calloc(3 * (size_t)m->start[lines] + 1, sizeof *index), line;
    double *value = block[2] = calloc(3 * (size_t)m->start[lines] + 1, sizeof *value);
    const gpuopt_matrix halves = {m->rows, m->cols, start, index, value, m->layout};
    for (line = 0; line < lines; line++) start[line + 1] = 3 * m->start[line + 1];
    for (k = 0; k < 3 * m->start[lines]; k++) {
        index[k] = m->index[k / 3];
        value[k] = k % 3 ? m->value[k / 3] / 2 : 0;
    }
    return halves;
}

static void follows_in_halves(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_desc desc = *w->desc;
    script_log log;
    void *block[3] = {NULL, NULL, NULL};
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc.group = r->group;
    if (r->number % 2) desc.matrix = in_halves(&w->desc->matrix, block);
    EXPECT(r, script_run(r->context, &desc, w->step, &log) == GPUOPT_OK);
    EXPECT(r, log.size == w->expected->size && memcmp(log.bytes, w->expected->bytes, log.size) == 0);
    EXPECT(r, r->host.warnings == r->number % 2);
    script_free(&log);
    free(block[0]), free(block[1]), free(block[2]);
}

static void untidy_on_some_ranks(void **state) {
    mip m = model_load("plant:12:31:0.4:3");
    gpuopt_context *context = test_context(NULL);
    int layout;
    (void)state;
    assert_int_equal(mip_rows(&m), 0);
    for (layout = 0; layout < 2; layout++) {
        gpuopt_simplex_desc desc = tableau_desc(&m);
        script_log expected;
        work w = {&desc, &expected, 1000000, 1};
        desc.matrix = layout ? m.columns : m.matrix;
        assert_int_equal(script_run(context, &desc, w.step, &expected), GPUOPT_OK);
        ranks_run(3, follows_in_halves, &w);
        script_free(&expected);
    }
    gpuopt_context_destroy(context);
    mip_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(untidy_on_some_ranks), cmocka_unit_test(same_bits), cmocka_unit_test(same_bits_by_peers),
    cmocka_unit_test(through_host_memory),  cmocka_unit_test(no_rows),   cmocka_unit_test(exact_outcomes),
};

TEST_MAIN(tests)
