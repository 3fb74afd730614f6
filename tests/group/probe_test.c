/* SPDX-License-Identifier: MIT
 *
 * Probing shared by ranks over the binaries. Every rank receives, bit for bit, the results found without a group, and
 * they hold in every solution. If one rank refuses a call, or lacks memory for it, all ranks return the same status. A
 * lost rank counts, too.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/propagate/probe.h"

enum { ROOM = 4 * MOST * MOST };

/* The input of the ranks of a test, and the results of each. */
typedef struct work {
    const gpuopt_propagator_desc *desc;
    int64_t capacity; /* for implications, and for equivalences */
    int32_t count;
    const int32_t *col; /* to be probed */
    int wrong;          /* a number for the fault that rank `culprit` makes */
    int culprit;
    found *found; /* [MAX_RANKS] */
    long *allocations;
} work;

static found new_found(void) {
    found f = {GPUOPT_INIT(gpuopt_propagator_probe_info), GPUOPT_INIT(gpuopt_propagator_probe_bounds),
               GPUOPT_INIT(gpuopt_propagator_probe_implications), GPUOPT_INIT(gpuopt_propagator_probe_equivalences)};
    f.bounds.capacity = f.implications.capacity = f.equivalences.capacity = ROOM;
    f.bounds.col = calloc(ROOM, sizeof(int32_t));
    f.bounds.lb = calloc(ROOM, sizeof(double)), f.bounds.ub = calloc(ROOM, sizeof(double));
    f.implications.binary = calloc(ROOM, sizeof(int32_t)), f.implications.outcome = calloc(ROOM, sizeof(int32_t));
    f.implications.start = calloc(ROOM, sizeof(int64_t)), f.implications.col = calloc(ROOM, sizeof(int32_t));
    f.implications.lb = calloc(ROOM, sizeof(double)), f.implications.ub = calloc(ROOM, sizeof(double));
    f.equivalences.col = calloc(ROOM, sizeof(int32_t)), f.equivalences.other = calloc(ROOM, sizeof(int32_t));
    f.equivalences.opposite = calloc(ROOM, 1);
    return f;
}

static gpuopt_propagator_probe_desc probe_desc(const work *w, gpuopt_group *group) {
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    desc.nodes = 4; /* so that a pass has several pieces */
    desc.implications = desc.equivalences = w->capacity;
    desc.group = group;
    return desc;
}

/* ---- What is found ---- */

/* The same calls with a group and without one. Returns whether all succeeded. */
static int runs(gpuopt_context *context, gpuopt_group *group, const work *w, found *f) {
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    gpuopt_propagator_probe_desc desc = probe_desc(w, group);
    int good = !gpuopt_propagator_create(context, w->desc, NULL, &base) && !gpuopt_propagator_round(base, 3, NULL) &&
               !gpuopt_propagator_probe_create(base, &desc, NULL, &probe);
    good = good && !gpuopt_propagator_probe_run(probe, 0, w->col, ROUNDS, &f->info); /* no binary, or all */
    good = good && !gpuopt_propagator_probe_run(probe, w->count, w->col, ROUNDS, &f->info) &&
           !gpuopt_propagator_probe_get_bounds(probe, &f->bounds) &&
           !gpuopt_propagator_probe_get_implications(probe, &f->implications) &&
           !gpuopt_propagator_probe_get_equivalences(probe, &f->equivalences);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
    return good;
}

static void finds(rank *r) {
    const work *w = r->all->data;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    EXPECT(r, runs(r->context, r->group, w, &w->found[r->number]));
}

static void same_bits(void **state) {
    static double point[POINTS][MOST];
    uint64_t seed = 41;
    int ranks, trial, r, implied = 0, equivalent = 0, infeasible = 0;
    (void)state;
    for (ranks = 1; ranks <= 5; ranks++)
        for (trial = 0; trial < test_times(40, 4); trial++) {
            gpuopt_context *context = test_context(NULL), *cpu = test_plain_context();
            mip m = draw_model(&seed);
            gpuopt_propagator_desc desc = mip_propagator_desc(&m);
            const int32_t cols = m.matrix.cols;
            int32_t col[MOST], k;
            double lb[MOST], ub[MOST];
            found alone = new_found(), each[MAX_RANKS];
            work w = {&desc, ROOM, trial % 3 ? 0 : cols, trial % 3 ? NULL : col, 0, 0, each, NULL};
            for (k = 0; k < cols; k++) col[k] = (k * 3 + trial) % cols;
            if (cols % 3 == 0) w.col = NULL, w.count = 0; /* then these are not all different */
            for (r = 0; r < ranks; r++) each[r] = new_found();
            assert_true(runs(context, NULL, &w, &alone));
            ranks_run(ranks, finds, &w);
            for (r = 0; r < ranks; r++) check_same_found(&alone, &each[r]);
            problem_run(cpu, &desc, 3, lb, ub);
            check_points(&each[0], enumerate(&m, lb, ub, point), point);
            implied += each[0].info.implications > 0;
            equivalent += each[0].info.equivalences > 0;
            infeasible += each[0].info.outcome == GPUOPT_INFEASIBLE;
            free_found(&alone);
            for (r = 0; r < ranks; r++) free_found(&each[r]);
            mip_free(&m);
            gpuopt_context_destroy(cpu);
            gpuopt_context_destroy(context);
        }
    assert_true(implied > 0 && (test_times(1, 0) == 0 || (equivalent > 0 && infeasible > 0)));
}

/* ---- What one rank does wrong ---- */

static void errs(rank *r) {
    const work *w = r->all->data;
    found *f = &w->found[r->number];
    const int errs = r->number == w->culprit;
    const int32_t bad[] = {0, 1000};
    gpuopt_propagator_probe_info info = f->info;
    gpuopt_propagator_probe_implications implications = f->implications;
    gpuopt_propagator_probe_equivalences equivalences = f->equivalences;
    gpuopt_propagator_probe_desc desc;
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    int wrong;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = probe_desc(w, r->group);
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, NULL, &base) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_probe_create(base, &desc, NULL, &probe) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_probe_get_implications(probe, &implications) == GPUOPT_ERROR_STATE);
    for (wrong = 1; wrong <= 5 && !r->fault[0]; wrong++) {
        if (errs && wrong == 5) info.struct_size = 3;
        EXPECT(r, gpuopt_propagator_probe_run(probe, errs && wrong == 1 ? 2 : 0, errs && wrong == 1 ? bad : NULL,
                                              !errs        ? 9
                                              : wrong == 2 ? 0
                                              : wrong == 3 ? 10
                                                           : 9,
                                              &info) == (wrong == 4 ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
        info.struct_size = sizeof info;
        if (wrong == 4) continue;
        EXPECT(r, strstr(r->host.error, "gpuopt_propagator_probe_run") != NULL);
        EXPECT(r, gpuopt_propagator_probe_get_bounds(probe, &f->bounds) == GPUOPT_ERROR_STATE);
    }
    EXPECT(r, gpuopt_propagator_probe_run(probe, 0, NULL, 9, &info) == GPUOPT_OK);
    if (errs) implications.lb = NULL;
    EXPECT(r, gpuopt_propagator_probe_get_implications(probe, &implications) == GPUOPT_ERROR_ARGUMENT);
    implications = f->implications;
    EXPECT(r, gpuopt_propagator_probe_get_implications(probe, &implications) == GPUOPT_OK);
    if (errs) equivalences.capacity = -1;
    EXPECT(r, gpuopt_propagator_probe_get_equivalences(probe, &equivalences) == GPUOPT_ERROR_ARGUMENT);
    equivalences.capacity = 1;
    EXPECT(r, gpuopt_propagator_probe_get_equivalences(probe, &equivalences) == GPUOPT_OK);
    /* Other bounds of the base on one rank. */
    if (errs) EXPECT(r, gpuopt_propagator_set_bounds(base, GPUOPT_HOST, 1, bad, NULL, (double[]){0}) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_probe_run(probe, 0, NULL, 9, &info) == GPUOPT_ERROR_ARGUMENT);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
}

/* In _create. */
static void errs_at_first(rank *r) {
    enum { LAST = 4 };
    const work *w = r->all->data;
    const int is_culprit = r->number == w->culprit;
    const gpuopt_status expected = w->wrong > LAST ? GPUOPT_ERROR_MEMORY : GPUOPT_ERROR_ARGUMENT;
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_propagator_probe_desc desc;
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    uint64_t before[2];
    long blocks, first;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = probe_desc(w, r->group);
    if (w->wrong == 1 && is_culprit) desc.nodes = 6;
    if (w->wrong == 2 && is_culprit) desc.nodes = 3;
    if (w->wrong == 3 && is_culprit) desc.implications++;
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, NULL, &base) == GPUOPT_OK);
    if (w->wrong > LAST && is_culprit) r->host.fail_at = r->host.allocations + w->wrong - LAST;
    blocks = r->host.live;
    EXPECT(r, gpuopt_propagator_probe_create(base, &desc, NULL, w->wrong == LAST && is_culprit ? NULL : &probe) ==
                  expected);
    EXPECT(r, !probe && r->host.live == blocks);
    /* And then without a fault, in as much memory as planned. */
    r->host.fail_at = 0;
    desc = probe_desc(w, r->group);
    EXPECT(r, gpuopt_propagator_probe_create(base, &desc, &plan, NULL) == GPUOPT_OK);
    memcpy(before, r->host.bytes, sizeof before);
    first = r->host.allocations;
    EXPECT(r, gpuopt_propagator_probe_create(base, &desc, NULL, &probe) == GPUOPT_OK);
    EXPECT(r, r->host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST] == plan.host_bytes);
    EXPECT(r, r->host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE] == plan.device_bytes);
    if (r->number == 0) *w->allocations = LAST + r->host.allocations - first;
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
}

/* ---- Lost ranks, and little capacity ---- */

/* The culprit's transport fails at exchange `wrong`, at any place: no rank waits, and all receive PEER. */
static void is_cut_off(rank *r) {
    const work *w = r->all->data;
    found *f = &w->found[r->number];
    rank_faulty faulty;
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    gpuopt_propagator_probe_desc desc;
    gpuopt_status status;
    if (r->number == w->culprit) rank_make_faulty(r, w->wrong, &faulty);
    status = rank_join(r, 60);
    desc = probe_desc(w, r->group);
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, NULL, &base) == GPUOPT_OK);
    if (!status) status = gpuopt_propagator_probe_create(base, &desc, NULL, &probe);
    if (!status) status = gpuopt_propagator_probe_run(probe, 0, NULL, 9, &f->info);
    if (!status) status = gpuopt_propagator_probe_get_implications(probe, &f->implications);
    if (!status) status = gpuopt_group_agree(r->group, NULL, 0); /* a rank that had all before the other was cut off */
    EXPECT(r, status == GPUOPT_ERROR_PEER);
    gpuopt_propagator_probe_destroy(probe);
    EXPECT(r, gpuopt_propagator_round(base, 1, NULL) == GPUOPT_OK);
    gpuopt_propagator_destroy(base);
    gpuopt_group_destroy(r->group);
    r->group = NULL; /* before `faulty` goes */
}

/* A rank that comes too late. */
static void is_late(rank *r) {
    const work *w = r->all->data;
    found *f = &w->found[r->number];
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    gpuopt_propagator_probe_desc desc;
    EXPECT(r, rank_join(r, 0.5) == GPUOPT_OK);
    desc = probe_desc(w, r->group);
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, NULL, &base) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_probe_create(base, &desc, NULL, &probe) == GPUOPT_OK);
    if (r->number == w->culprit) seconds_wait(1);
    EXPECT(r, gpuopt_propagator_probe_run(probe, 0, NULL, 9, &f->info) == GPUOPT_ERROR_PEER);
    EXPECT(r, gpuopt_propagator_probe_get_bounds(probe, &f->bounds) == GPUOPT_ERROR_STATE);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
}

static void has_little_capacity(rank *r) {
    const work *w = r->all->data;
    found *f = &w->found[r->number];
    gpuopt_propagator *base = NULL;
    gpuopt_propagator_probe *probe = NULL;
    gpuopt_propagator_probe_desc desc;
    EXPECT(r, rank_join(r, 60) == GPUOPT_OK);
    desc = probe_desc(w, r->group);
    desc.implications = desc.equivalences = 1;
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, NULL, &base) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_probe_create(base, &desc, NULL, &probe) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_probe_run(probe, 0, NULL, 9, &f->info) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_probe_get_implications(probe, &f->implications) == GPUOPT_ERROR_MEMORY);
    EXPECT(r, f->implications.count == f->info.implications && f->implications.count > 1);
    gpuopt_propagator_probe_destroy(probe);
    gpuopt_propagator_destroy(base);
}

static void refused_and_lost(void **state) {
    /* x0 + ... + x7 <= 1: each binary at 1 fixes the others. */
    static const int64_t start[] = {0, 8};
    static const int32_t index[] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1}, zeros[8];
    static const uint8_t integer[] = {1, 1, 1, 1, 1, 1, 1, 1};
    gpuopt_propagator_desc desc = GPUOPT_INIT(gpuopt_propagator_desc);
    found each[MAX_RANKS];
    long last = 5;
    work w = {&desc, ROOM, 0, NULL, 0, 0, each, &last};
    int r;
    (void)state;
    desc.matrix.rows = 1, desc.matrix.cols = 8;
    desc.matrix.start = start, desc.matrix.index = index, desc.matrix.value = ones;
    desc.rhs = ones, desc.lb = zeros, desc.ub = ones, desc.integer = integer;
    desc.marking = GPUOPT_ON;
    for (r = 0; r < 3; r++) each[r] = new_found();
    for (w.culprit = 0; w.culprit < 3; w.culprit++) ranks_run(3, errs, &w);
    for (w.wrong = 1; w.wrong <= last; w.wrong++) {
        w.culprit = w.wrong % 3;
        ranks_run(3, errs_at_first, &w);
    }
    assert_true(last > 5);
    for (w.culprit = 0; w.culprit < 3; w.culprit += 2) ranks_run(3, is_late, &w);
    w.culprit = 1;
    for (w.wrong = 0; w.wrong < 24; w.wrong++) ranks_run(3, is_cut_off, &w);
    ranks_run(3, has_little_capacity, &w);
    for (r = 0; r < 3; r++) free_found(&each[r]);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(refused_and_lost)};
TEST_MAIN(tests)
