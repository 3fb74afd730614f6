/* SPDX-License-Identifier: MIT
 *
 * Many small linear programs shared by ranks. Every rank receives the results of each program, bit for bit as from a
 * handle without a group. If one rank refuses a call, or lacks memory for it, all ranks return the same status. A lost
 * rank counts, too.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/simplex/changes.h"
#include "tests/simplex/programs.h"

enum { MOST = 23 };

/* The input of the ranks of a test, and the results of each. */
typedef struct work {
    programs *all;
    int32_t count; /* programs that are loaded */
    int64_t iterations;
    int wrong; /* a number for the fault that rank `culprit` makes */
    int culprit;
    programs_report *found[MAX_RANKS], *part[MAX_RANKS]; /* of all, and of some from the second one on */
    gpuopt_simplex_batch_info info[MAX_RANKS][2];
    long *allocations; /* of a _create */
} work;

static programs *draw(uint64_t seed, int pattern) {
    mip *model = calloc(MOST, sizeof *model);
    int32_t k;
    for (k = 0; k < MOST; k++) {
        model[k] = changes_model(&seed, 5, 7);
        model[k].maximize = 0;
    }
    return programs_of(MOST, model, pattern, pattern ? GPUOPT_LAYOUT_CSC : GPUOPT_LAYOUT_CSR);
}

static gpuopt_simplex_batch_desc shape_of(const work *w, gpuopt_group *group) {
    gpuopt_simplex_batch_desc desc = w->all->desc;
    desc.group = group;
    return desc;
}

/* The second program and all later ones except the last. */
static int32_t within(const work *w) { return w->count > 2 ? w->count - 2 : 0; }

/* The same calls with a group and without one. Returns whether all succeeded. */
static int runs(gpuopt_context *context, gpuopt_group *group, const work *w, programs_report *found,
                programs_report *part, gpuopt_simplex_batch_info *info) {
    gpuopt_simplex_batch *many = NULL;
    gpuopt_simplex_batch_desc desc = shape_of(w, group);
    gpuopt_simplex_programs some = w->all->p;
    int good = !gpuopt_simplex_batch_create(context, &desc, NULL, &many);
    some.count = 1; /* which other programs then replace */
    good = good && !gpuopt_simplex_batch_load(many, GPUOPT_HOST, &some);
    some.count = w->count;
    good = good && !gpuopt_simplex_batch_load(many, GPUOPT_HOST, &some) &&
           !gpuopt_simplex_batch_get_info(many, &info[0]) && info[0].more == w->count &&
           !gpuopt_simplex_batch_iterate(many, 2, NULL) &&
           !gpuopt_simplex_batch_iterate(many, w->iterations, &info[0]) &&
           !gpuopt_simplex_batch_get_info(many, &info[1]) &&
           !gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, w->count, &found->r) &&
           !gpuopt_simplex_batch_get(many, GPUOPT_HOST, w->count > 0, within(w), &part->r);
    gpuopt_simplex_batch_destroy(many);
    return good;
}

/* ---- What is found ---- */

static void finds(rank *r) {
    work *w = (work *)r->all->data;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    EXPECT(r, runs(r->context, r->group, w, w->found[r->number], w->part[r->number], w->info[r->number]));
}

static void new_info(gpuopt_simplex_batch_info *info) {
    const gpuopt_simplex_batch_info empty = GPUOPT_INIT(gpuopt_simplex_batch_info);
    info[0] = info[1] = empty;
}

static void same_bits(void **state) {
    static const int32_t counts[] = {MOST, 2, 7, 1, 12, 3, 0, 5};
    int ranks, trial, r, verdicts = 0;
    (void)state;
    for (ranks = 1; ranks <= 5; ranks++)
        for (trial = 0; trial < test_times(8, 3); trial++) {
            gpuopt_context *context = test_context(NULL);
            programs *all = draw((uint64_t)(10 * ranks + trial), trial % 2);
            work *w = calloc(1, sizeof *w);
            gpuopt_simplex_batch_info info[2];
            programs_report *alone = programs_report_new(all, MOST), *part = programs_report_new(all, MOST);
            int32_t k;
            w->all = all;
            w->count = counts[trial];
            w->iterations = trial % 3 == 2 ? 1 : INT64_MAX;
            new_info(info);
            assert_true(runs(context, NULL, w, alone, part, info));
            for (r = 0; r < ranks; r++) {
                w->found[r] = programs_report_new(all, MOST), w->part[r] = programs_report_new(all, MOST);
                new_info(w->info[r]);
            }
            ranks_run(ranks, finds, w);
            for (r = 0; r < ranks; r++) {
                assert_true(programs_report_equal(all, alone, 0, w->found[r], 0, w->count));
                assert_true(programs_report_equal(all, part, 0, w->part[r], 0, within(w)));
                assert_memory_equal(info, w->info[r], sizeof info);
            }
            for (k = 0; k < w->count && w->iterations > 1; k++) {
                const char *fault = programs_fault(all, w->found[0], k, &verdicts);
                if (fault) fail_msg("program %d on %d ranks: %s", (int)k, ranks, fault);
            }
            for (r = 0; r < ranks; r++) programs_report_free(w->found[r]), programs_report_free(w->part[r]);
            programs_report_free(alone), programs_report_free(part);
            programs_free(all);
            free(w);
            gpuopt_context_destroy(context);
        }
    assert_true(verdicts & 1 << GPUOPT_OPTIMAL && verdicts & 1 << GPUOPT_INFEASIBLE);
}

/* ---- What one rank does wrong ---- */

static gpuopt_simplex_batch *make(rank *r) {
    const work *w = r->all->data;
    gpuopt_simplex_batch_desc desc = shape_of(w, r->group);
    gpuopt_simplex_batch *many = NULL;
    EXPECT(r, gpuopt_simplex_batch_create(r->context, &desc, NULL, &many) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_batch_load(many, GPUOPT_HOST, &w->all->p) == GPUOPT_OK);
    return many;
}

enum { WRONGS = 15, NUMBER = 8, ON_DEVICE = 3 };

/* A call in which the culprit errs; NUMBER: in the numbers of the last program, which only the last rank reads. */
static gpuopt_status err(rank *r, gpuopt_simplex_batch *many, int wrong) {
    const work *w = r->all->data;
    const programs *all = w->all;
    const size_t values = (size_t)all->nonzeros * MOST;
    gpuopt_simplex_programs p = all->p;
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_batch_report report = w->found[r->number]->r;
    const int errs = r->number == w->culprit;
    double *value = malloc(sizeof *value * values);
    gpuopt_status status;
    memcpy(value, p.value, sizeof *value * values);
    p.value = value;
    if (errs && wrong == 1) p.count--;
    if (errs && wrong == 2) p.count = MOST + 1;
    if (errs && wrong == 4) p.lb = NULL;
    if (errs && wrong == 5) p.value = NULL;
    if (errs && wrong == 6) p.struct_size = 3;
    if (wrong == NUMBER) value[values - 1] = INFINITY;
    if (wrong <= NUMBER)
        status = gpuopt_simplex_batch_load(many, errs && wrong == ON_DEVICE ? GPUOPT_DEVICE : GPUOPT_HOST,
                                           errs && wrong == 7 ? NULL : &p);
    else if (wrong <= 11) {
        if (errs && wrong == 11) info.struct_size = 3;
        status = gpuopt_simplex_batch_iterate(many, !errs ? 5 : wrong == 9 ? 0 : wrong == 10 ? 6 : 5, &info);
    } else {
        if (errs && wrong == 14) report.ray = NULL;
        status = gpuopt_simplex_batch_get(many, GPUOPT_HOST, errs && wrong == 12, errs && wrong == 13 ? MOST : 5,
                                          errs && wrong == 15 ? NULL : &report);
    }
    free(value);
    return status;
}

static void errs(rank *r) {
    const work *w = r->all->data;
    programs_report *found = w->found[r->number];
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_batch *many;
    int wrong;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    many = make(r);
    for (wrong = 1; wrong <= WRONGS && !r->fault[0]; wrong++) {
        found->r.outcome[0] = -77;
        EXPECT(r, err(r, many, wrong) == (wrong == ON_DEVICE ? GPUOPT_ERROR_UNSUPPORTED : GPUOPT_ERROR_ARGUMENT));
        EXPECT(r, strstr(r->host.error, "gpuopt_simplex_batch_") != NULL);
        EXPECT(r, found->r.outcome[0] == -77);
        EXPECT(r, gpuopt_simplex_batch_get_info(many, &info) == GPUOPT_OK);
        EXPECT(r, info.count == (wrong == NUMBER ? 0 : MOST)); /* the earlier programs stay, except with bad numbers */
        if (wrong == NUMBER) EXPECT(r, gpuopt_simplex_batch_load(many, GPUOPT_HOST, &w->all->p) == GPUOPT_OK);
        EXPECT(r, gpuopt_simplex_batch_iterate(many, 1, &info) == GPUOPT_OK);
        EXPECT(r, gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, MOST, &found->r) == GPUOPT_OK);
    }
    gpuopt_simplex_batch_destroy(many);
}

/* In _create. */
static void errs_at_first(rank *r) {
    enum { LAST = 6 };
    const work *w = r->all->data;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    static const gpuopt_simplex_tolerances loose = {.struct_size = sizeof loose, .primal = 1e-8};
    gpuopt_simplex_batch *many = NULL;
    gpuopt_simplex_batch_desc desc;
    int32_t index[5 * 7];
    gpuopt_status status, expected = w->wrong > LAST ? GPUOPT_ERROR_MEMORY : GPUOPT_ERROR_ARGUMENT;
    const int is_culprit = r->number == w->culprit;
    uint64_t before[2];
    long blocks, first;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = shape_of(w, r->group);
    memcpy(index, desc.index, sizeof *index * (size_t)w->all->nonzeros);
    desc.index = index;
    if (w->wrong == 1 && is_culprit) desc.batch_size++;
    if (w->wrong == 2 && is_culprit) desc.batch_size = 0;
    if (w->wrong == 3 && is_culprit) desc.shared = GPUOPT_SHARED_COST;
    if (w->wrong == 4 && is_culprit) desc.tolerances = &loose;
    if (w->wrong == 5 && is_culprit) index[0] = desc.index[1], index[1] = w->all->desc.index[0];
    if (w->wrong > LAST && is_culprit) r->host.fail_at = r->host.allocations + w->wrong - LAST;
    blocks = r->host.live;
    status = gpuopt_simplex_batch_create(r->context, &desc, NULL, w->wrong == LAST && is_culprit ? NULL : &many);
    EXPECT(r, status == expected);
    EXPECT(r, !many && r->host.live == blocks);
    /* And then without a fault, in as much memory as planned. */
    r->host.fail_at = 0;
    desc = shape_of(w, r->group);
    EXPECT(r, gpuopt_simplex_batch_create(r->context, &desc, &plan, NULL) == GPUOPT_OK);
    memcpy(before, r->host.bytes, sizeof before);
    first = r->host.allocations;
    EXPECT(r, gpuopt_simplex_batch_create(r->context, &desc, NULL, &many) == GPUOPT_OK);
    EXPECT(r, r->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST] == plan.host_bytes);
    EXPECT(r, r->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE] == plan.device_bytes);
    if (r->number == 0) *w->allocations = LAST + r->host.allocations - first;
    gpuopt_simplex_batch_destroy(many);
}

static work *new_work(int ranks) {
    work *w = calloc(1, sizeof *w);
    int r;
    w->all = draw(3, 1);
    for (r = 0; r < ranks; r++) w->found[r] = programs_report_new(w->all, MOST);
    return w;
}

static void free_work(work *w, int ranks) {
    int r;
    for (r = 0; r < ranks; r++) programs_report_free(w->found[r]);
    programs_free(w->all);
    free(w);
}

static void refused(void **state) {
    work *w = new_work(3);
    long last = 7;
    (void)state;
    w->allocations = &last;
    for (w->culprit = 0; w->culprit < 3; w->culprit++) ranks_run(3, errs, w);
    for (w->wrong = 1; w->wrong <= last; w->wrong++) {
        w->culprit = w->wrong % 3;
        ranks_run(3, errs_at_first, w);
    }
    assert_true(last > 7);
    free_work(w, 3);
}

/* ---- Lost ranks ---- */

static void is_lost(rank *r) {
    const work *w = r->all->data;
    programs_report *found = w->found[r->number];
    gpuopt_simplex_batch_info info = GPUOPT_INIT(gpuopt_simplex_batch_info);
    gpuopt_simplex_batch *many;
    EXPECT(r, rank_join(r, w->wrong == 1 ? 0.5 : 60) == GPUOPT_OK);
    many = make(r);
    if (r->number == w->culprit) {
        if (w->wrong == 2) gpuopt_group_abort(r->group);
        else seconds_wait(1);
    }
    EXPECT(r, gpuopt_simplex_batch_iterate(many, 9, &info) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, MOST, &found->r) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_simplex_batch_load(many, GPUOPT_HOST, &w->all->p) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_simplex_batch_get_info(many, &info) == GPUOPT_OK);
    gpuopt_simplex_batch_destroy(many);
}

/* The culprit's transport fails at exchange `wrong`, at any place: no rank waits, and all receive PEER. */
static void is_cut_off(rank *r) {
    const work *w = r->all->data;
    programs_report *found = w->found[r->number];
    rank_faulty faulty;
    gpuopt_simplex_batch *many = NULL;
    gpuopt_simplex_batch_desc desc;
    gpuopt_status status;
    if (r->number == w->culprit) rank_make_faulty(r, w->wrong, &faulty);
    status = rank_join(r, 60);
    desc = shape_of(w, r->group);
    if (!status) status = gpuopt_simplex_batch_create(r->context, &desc, NULL, &many);
    if (!status) status = gpuopt_simplex_batch_load(many, GPUOPT_HOST, &w->all->p);
    if (!status) status = gpuopt_simplex_batch_iterate(many, 9, NULL);
    if (!status) status = gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, MOST, &found->r);
    if (!status) status = gpuopt_group_agree(r->group, NULL, 0); /* a rank that had all before the other was cut off */
    EXPECT(r, status == GPUOPT_ERROR_PEER);
    gpuopt_simplex_batch_destroy(many);
    gpuopt_group_destroy(r->group);
    r->group = NULL; /* before `faulty` goes */
}

static void lost(void **state) {
    work *w = new_work(3);
    (void)state;
    for (w->wrong = 1; w->wrong <= 2; w->wrong++)
        for (w->culprit = 0; w->culprit < 3; w->culprit += 2) ranks_run(3, is_lost, w);
    w->culprit = 1;
    for (w->wrong = 0; w->wrong < 16; w->wrong++) ranks_run(3, is_cut_off, w);
    free_work(w, 3);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(same_bits),
    cmocka_unit_test(refused),
    cmocka_unit_test(lost),
};
TEST_MAIN(tests)
