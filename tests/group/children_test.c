/* SPDX-License-Identifier: MIT
 *
 * Batches of children shared by ranks. Every rank receives the results of each child, bit for bit as in a batch without
 * a group. If one rank refuses a call, or lacks memory for it, all ranks return the same status. A lost rank counts,
 * too.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/simplex/changes.h"
#include "tests/simplex/children.h"

/* The input of the ranks of a test, and the results of each. */
typedef struct work {
    const mip *m;
    const gpuopt_simplex_desc *desc;
    const children *first, *second; /* of two runs */
    int32_t copies;
    int64_t iterations; /* of the root, unless it stays `at_slack`, and of each child */
    int wrong;          /* a number for the fault that rank `culprit` makes */
    int culprit;
    int32_t branches; /* columns to branch on: the first ones */
    children_report *found[MAX_RANKS][3];
    long *allocations; /* of a _create */
    int at_slack;
} work;

static gpuopt_simplex_children_desc batch_desc(const work *w, gpuopt_group *group) {
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    desc.batch_size = w->copies;
    desc.changes = 9 * (int64_t)w->copies;
    desc.with_basis = desc.with_x = desc.with_farkas = 1;
    desc.group = group;
    return desc;
}

/* The same calls with a group and without one: two runs of children, and strong branching. Returns whether all
 * succeeded. */
static int runs(gpuopt_context *context, gpuopt_group *group, const work *w, children_report *const *found) {
    static const int32_t col[] = {0, 1, 2, 3};
    gpuopt_simplex *root = NULL;
    gpuopt_simplex_children *batch = NULL;
    gpuopt_simplex_children_desc desc = batch_desc(w, group);
    int good = !gpuopt_simplex_create(context, w->desc, NULL, &root) &&
               (w->at_slack || !gpuopt_simplex_iterate(root, w->iterations, NULL)) &&
               !gpuopt_simplex_children_create(root, &desc, NULL, &batch);
    good = good && !gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->first->c, w->iterations, &found[0]->r) &&
           !gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->second->c, w->iterations, &found[1]->r) &&
           !gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, w->branches, NULL, col, NULL, w->iterations,
                                                  &found[2]->r);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    return good;
}

/* ---- What is found ---- */

static void finds(rank *r) {
    const work *w = r->all->data;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    EXPECT(r, runs(r->context, r->group, w, w->found[r->number]));
}

static children_report *const *reports(const work *w, children_report **to) {
    to[0] = children_report_new(w->m, w->first->c.count);
    to[1] = children_report_new(w->m, w->second->c.count);
    to[2] = children_report_new(w->m, 2 * w->branches);
    return to;
}

/* Runs on `ranks` ranks, and compares with one context alone. */
static void check_same(work *w, int ranks) {
    gpuopt_context *context = test_context(NULL);
    children_report *alone[3];
    int r, k;
    assert_true(runs(context, NULL, w, reports(w, alone)));
    for (r = 0; r < ranks; r++) reports(w, w->found[r]);
    ranks_run(ranks, finds, w);
    for (r = 0; r < ranks; r++)
        for (k = 0; k < 3; k++) {
            if (!children_report_equal(w->m, alone[k], w->found[r][k]))
                fail_msg("run %d on rank %d of %d: other results than without a group", k, r, ranks);
            if (r > 0) children_report_free(w->found[r][k]);
        }
    for (k = 0; k < 3; k++) children_report_free(alone[k]);
    gpuopt_context_destroy(context);
}

static void free_found(const work *w) {
    int k;
    for (k = 0; k < 3; k++) children_report_free(w->found[0][k]);
}

static void same_bits(void **state) {
    static const int32_t counts[] = {25, 2, 3, 1, 4, 7, 12, 0};
    uint64_t seed = 31;
    int ranks, trial, verdicts = 0;
    (void)state;
    for (ranks = 1; ranks <= 5; ranks++)
        for (trial = 0; trial < test_times(8, 3); trial++) {
            mip m = changes_model(&seed, (int32_t)test_random_int(&seed, 1, 8), (int32_t)test_random_int(&seed, 4, 9));
            gpuopt_simplex_desc desc = children_root_desc(&m, 3 * trial + ranks);
            children *first = children_draw(&seed, &m, counts[trial], 1 + trial % 7);
            children *second = children_draw(&seed, &m, 20, CHILDREN_BOUNDS | CHILDREN_COSTS);
            work w = {&m, &desc, first, second, 25, 100000, 0, 0, trial % 5, {{NULL}}, NULL, 0};
            int32_t k;
            if (trial % 3 == 1) w.iterations = 2;
            check_same(&w, ranks);
            for (k = 0; k < counts[trial]; k++) {
                const char *fault = children_fault(&m, first, w.found[0][0], k, &verdicts);
                if (fault) fail_msg("trial %d on %d ranks, child %d: %s", trial, ranks, (int)k, fault);
            }
            free_found(&w);
            free(first), free(second);
            mip_free(&m);
        }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE);
}

/* Points that take more than one message of a rank. */
static void long_reports(void **state) {
    uint64_t seed = 7;
    mip m = children_cover(3, 4, 2500);
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    children *all = children_draw(&seed, &m, 131, CHILDREN_BOUNDS);
    work w = {&m, &desc, all, all, 131, 100000, 0, 0, 1, {{NULL}}, NULL, 0};
    (void)state;
    if (!test_on("cuda")) check_same(&w, 2); /* slow on the emulated GPU, and alike on all backends */
    if (!test_on("cuda")) free_found(&w);
    free(all);
    mip_free(&m);
}

/* Two children of a root with a sparse inverse. On the GPU a single child would not justify its product with its
 * transpose, and this changes the weights, and so the pivots. */
static void same_pivots(void **state) {
    uint64_t seed = 5;
    mip m = children_cover(4, 32, 96);
    gpuopt_simplex_desc desc = children_root_desc(&m, 0);
    children *all = children_draw(&seed, &m, 2, CHILDREN_BOUNDS | CHILDREN_COSTS);
    work w = {&m, &desc, all, all, 2, 100000, 0, 0, 1, {{NULL}}, NULL, 1};
    (void)state;
    check_same(&w, 2);
    free_found(&w);
    free(all);
    mip_free(&m);
}

/* ---- What one rank does wrong ---- */

/* A root at its optimum, and a batch on it. */
static gpuopt_simplex_children *make(rank *r, gpuopt_simplex **root) {
    const work *w = r->all->data;
    gpuopt_simplex_children_desc desc = batch_desc(w, r->group);
    gpuopt_simplex_children *batch = NULL;
    EXPECT(r, gpuopt_simplex_create(r->context, w->desc, NULL, root) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(*root, 100000, NULL) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_children_create(*root, &desc, NULL, &batch) == GPUOPT_OK);
    return batch;
}

enum { WRONGS = 14, BAD_COL = 12, TOO_MANY = 13, ON_DEVICE = 9 };

/* A call in which the culprit errs. */
static gpuopt_status err(rank *r, gpuopt_simplex_children *batch, int wrong) {
    static const int32_t col[] = {0, 1}, bad[] = {0, 1000}, other[] = {0, 2};
    const work *w = r->all->data;
    children *all = malloc(sizeof *all);
    gpuopt_simplex_child_list c = w->first->c;
    gpuopt_simplex_child_report report = w->found[r->number][0]->r;
    const int errs = r->number == w->culprit;
    gpuopt_memory_space where = GPUOPT_HOST;
    int64_t iterations = 50;
    gpuopt_status status;
    *all = *w->first;
    c.start = all->start[0], c.col = all->index[0], c.lb = all->low[0], c.ub = all->high[0];
    if (errs && wrong == 1) c.count--;
    if (errs && wrong == 2) iterations = 0;
    if (errs && wrong == 3) iterations = 51;
    if (errs && wrong == 4) report.x = NULL;
    if (errs && wrong == 5) report.bound = NULL;
    if (errs && wrong == 6) all->high[0][0] += 1; /* a number of a child that only one rank runs */
    if (errs && wrong == 7) all->index[0][0] = 1000;
    if (errs && wrong == 8) report.struct_size = 3;
    if (errs && wrong == ON_DEVICE) where = GPUOPT_DEVICE;
    if (errs && wrong == 10) c.struct_size = 3;
    if (wrong == TOO_MANY && errs) all->start[0][c.count] += 1000;
    if (wrong == 11 || wrong == BAD_COL)
        status = gpuopt_simplex_children_strong_branch(batch, GPUOPT_HOST, 2, NULL,
                                                       !errs         ? col
                                                       : wrong == 11 ? other
                                                                     : bad,
                                                       NULL, 9, &report);
    else status = gpuopt_simplex_children_run(batch, where, errs && wrong == 14 ? NULL : &c, iterations, &report);
    free(all);
    return status;
}

static void errs(rank *r) {
    const work *w = r->all->data;
    children_report *found = w->found[r->number][0];
    gpuopt_simplex *root = NULL;
    gpuopt_simplex_children *batch;
    int wrong;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    batch = make(r, &root);
    for (wrong = 1; wrong <= WRONGS && !r->fault[0]; wrong++) {
        const gpuopt_status expected = wrong == ON_DEVICE  ? GPUOPT_ERROR_UNSUPPORTED
                                       : wrong == TOO_MANY ? GPUOPT_ERROR_MEMORY
                                                           : GPUOPT_ERROR_ARGUMENT;
        int32_t k;
        for (k = 0; k < found->count; k++) found->outcome[k] = -77;
        EXPECT(r, err(r, batch, wrong) == expected);
        EXPECT(r, strstr(r->host.error, "gpuopt_simplex_children_") != NULL);
        for (k = 0; k < found->count; k++) EXPECT(r, found->outcome[k] == -77);
        EXPECT(r, gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->first->c, 50, &found->r) == GPUOPT_OK);
        EXPECT(r, gpuopt_group_agree(r->group, found->objective, sizeof(double) * (size_t)found->count) == GPUOPT_OK);
    }
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
}

/* In _create. */
static void errs_at_first(rank *r) {
    enum { LAST = 6 };
    static const gpuopt_simplex_tolerances loose = {.struct_size = sizeof loose, .primal = 1e-8};
    const work *w = r->all->data;
    gpuopt_simplex_desc model = *w->desc;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_simplex *root = NULL;
    gpuopt_simplex_children *batch = NULL;
    gpuopt_simplex_children_desc desc;
    gpuopt_status status, expected = w->wrong > LAST ? GPUOPT_ERROR_MEMORY : GPUOPT_ERROR_ARGUMENT;
    const int is_culprit = r->number == w->culprit;
    uint64_t before[2];
    long blocks, first;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = batch_desc(w, r->group);
    if (w->wrong == 1 && is_culprit) desc.batch_size++;
    if (w->wrong == 2 && is_culprit) desc.batch_size = 0;
    if (w->wrong == 3 && is_culprit) desc.pivots = 17;
    if (w->wrong == 4 && is_culprit) model.tolerances = &loose;
    if (w->wrong == 5 && is_culprit) desc.changes++;
    EXPECT(r, gpuopt_simplex_create(r->context, &model, NULL, &root) == GPUOPT_OK);
    if (w->wrong > LAST && is_culprit) r->host.fail_at = r->host.allocations + w->wrong - LAST;
    blocks = r->host.live;
    status = gpuopt_simplex_children_create(root, &desc, NULL, w->wrong == LAST && is_culprit ? NULL : &batch);
    EXPECT(r, status == expected);
    EXPECT(r, !batch && r->host.live == blocks);
    gpuopt_simplex_destroy(root);
    /* And then without a fault, in as much memory as planned. */
    r->host.fail_at = 0;
    desc = batch_desc(w, r->group);
    EXPECT(r, gpuopt_simplex_create(r->context, w->desc, NULL, &root) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_children_create(root, &desc, &plan, NULL) == GPUOPT_OK);
    memcpy(before, r->host.bytes, sizeof before);
    first = r->host.allocations;
    EXPECT(r, gpuopt_simplex_children_create(root, &desc, NULL, &batch) == GPUOPT_OK);
    EXPECT(r, r->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST] == plan.host_bytes);
    EXPECT(r, r->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE] == plan.device_bytes);
    if (r->number == 0) *w->allocations = LAST + r->host.allocations - first;
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
}

/* A work on a small model with 17 children. */
static work small_work(mip *m, gpuopt_simplex_desc *desc, int ranks) {
    work w = {m, desc, NULL, NULL, 17, 100000, 0, 0, 2, {{NULL}}, NULL, 0};
    uint64_t seed = 99;
    int r;
    *m = children_cover(5, 12, 20);
    *desc = children_root_desc(m, 0);
    do { /* until the first child is given a bound */
        free((void *)w.first);
        w.first = w.second = children_draw(&seed, m, 17, CHILDREN_BOUNDS);
    } while (w.first->start[0][1] == 0);
    for (r = 0; r < ranks; r++) reports(&w, w.found[r]);
    return w;
}

static void free_small(work *w, mip *m, int ranks) {
    int r, k;
    for (r = 0; r < ranks; r++)
        for (k = 0; k < 3; k++) children_report_free(w->found[r][k]);
    free((void *)w->first);
    mip_free(m);
}

static void refused(void **state) {
    gpuopt_simplex_desc desc;
    mip m;
    work w = small_work(&m, &desc, 3);
    long last = 7;
    (void)state;
    w.allocations = &last;
    for (w.culprit = 0; w.culprit < 3; w.culprit++) ranks_run(3, errs, &w);
    for (w.wrong = 1; w.wrong <= last; w.wrong++) {
        w.culprit = w.wrong % 3;
        ranks_run(3, errs_at_first, &w);
    }
    assert_true(last > 7);
    free_small(&w, &m, 3);
}

/* ---- Lost ranks ---- */

static void is_lost(rank *r) {
    const work *w = r->all->data;
    children_report *found = w->found[r->number][0];
    gpuopt_simplex *root = NULL;
    gpuopt_simplex_children *batch;
    double start;
    EXPECT(r, rank_join(r, w->wrong == 1 ? 0.5 : 60) == GPUOPT_OK);
    batch = make(r, &root);
    if (r->number == w->culprit) {
        if (w->wrong == 2) gpuopt_group_abort(r->group);
        else seconds_wait(1);
    }
    start = seconds_now();
    EXPECT(r, gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->first->c, 9, &found->r) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->first->c, 9, &found->r) == GPUOPT_ERROR_PEER);
    EXPECT(r, seconds_now() - start < 10);
    EXPECT(r, gpuopt_simplex_iterate(root, 9, NULL) == GPUOPT_OK);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
}

/* The culprit's transport fails at exchange `wrong`, at any place: no rank waits, and then all receive PEER. */
static void is_cut_off(rank *r) {
    const work *w = r->all->data;
    children_report *found = w->found[r->number][0];
    rank_faulty faulty;
    gpuopt_simplex *root = NULL;
    gpuopt_simplex_children *batch = NULL;
    gpuopt_simplex_children_desc desc;
    gpuopt_status status;
    if (r->number == w->culprit) rank_make_faulty(r, w->wrong, &faulty);
    status = rank_join(r, 60);
    EXPECT(r, gpuopt_simplex_create(r->context, w->desc, NULL, &root) == GPUOPT_OK);
    desc = batch_desc(w, r->group);
    if (!status) status = gpuopt_simplex_children_create(root, &desc, NULL, &batch);
    if (!status) status = gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->first->c, 9, &found->r);
    if (!status) status = gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->first->c, 9, &found->r);
    EXPECT(r, status == GPUOPT_ERROR_PEER);
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    gpuopt_group_destroy(r->group);
    r->group = NULL; /* before `faulty` goes */
}

static void lost(void **state) {
    gpuopt_simplex_desc desc;
    mip m;
    work w = small_work(&m, &desc, 3);
    (void)state;
    for (w.wrong = 1; w.wrong <= 2; w.wrong++)
        for (w.culprit = 0; w.culprit < 3; w.culprit += 2) ranks_run(3, is_lost, &w);
    w.culprit = 1;
    for (w.wrong = 0; w.wrong < 10; w.wrong++) ranks_run(3, is_cut_off, &w); /* two in _create, four in each run */
    free_small(&w, &m, 3);
}

/* ---- The stop hook ---- */

static int is_asked; /* set by the thread of rank 1; only its hook reads it */
static int stops(void *user) { return (void)user, is_asked; }

/* The hook of rank 1 requests a stop: its first child is solved, since the hook is not called before it, and the others
 * of its share are not. */
static void is_stopped(rank *r) {
    const work *w = r->all->data;
    children_report *found = w->found[r->number][0];
    test_host host;
    gpuopt_context_desc own = test_context_desc(&host);
    gpuopt_context *given = r->context;
    gpuopt_simplex *root = NULL;
    gpuopt_simplex_children *batch;
    int32_t k, untouched = 0;
    if (r->number == 1) own.stop = stops;
    EXPECT(r, gpuopt_context_create(&own, &r->context) == GPUOPT_OK);
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    batch = make(r, &root);
    if (r->number == 1) is_asked = 1; /* not before: the roots must be equal */
    EXPECT(r, gpuopt_simplex_children_run(batch, GPUOPT_HOST, &w->first->c, 100000, &found->r) == GPUOPT_OK);
    for (k = 0; k < found->count; k++) untouched += found->outcome[k] == GPUOPT_MORE && found->iterations[k] == 0;
    EXPECT(r, untouched == 4 || untouched == 5); /* of 17 children, 5 or 6 of which are that rank's */
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    gpuopt_group_destroy(r->group);
    gpuopt_context_destroy(r->context);
    EXPECT(r, host.live == 0);
    r->group = NULL;
    r->context = given;
}

static void stopped(void **state) {
    gpuopt_simplex_desc desc;
    mip m;
    work w = small_work(&m, &desc, 3);
    (void)state;
    is_asked = 0;
    if (test_on("cpu")) ranks_run(3, is_stopped, &w); /* on the GPU children do not call the hook */
    free_small(&w, &m, 3);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_bits), cmocka_unit_test(long_reports), cmocka_unit_test(same_pivots),
    cmocka_unit_test(refused),   cmocka_unit_test(lost),         cmocka_unit_test(stopped),
};
TEST_MAIN(tests)
