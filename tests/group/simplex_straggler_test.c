/* SPDX-License-Identifier: MIT
 *
 * A tableau shared by ranks with GPUs that see one another's memory. One rank fails, or is late, when the others'
 * kernels already wait for its messages.
 */
#include <string.h>

#include "tests/group/ranks.h"
#include "tests/simplex/answer.h"

typedef struct work {
    const gpuopt_simplex_desc *desc;
    int late;
} work;

enum { CULPRIT = 1 };

static const double limit = 1;

/* A transport that fails, or pauses, at the end of one exchange, when the other ranks have already continued. */
typedef struct straggler {
    gpuopt_transport inner;
    int left;
    double pause; /* seconds; 0: fails */
} straggler;

static gpuopt_status straggle(void *user, double seconds, gpuopt_memory_space where, const void *send, uint64_t bytes,
                              void *receive) {
    straggler *f = user;
    gpuopt_status status = f->inner.all_gather(f->inner.user, seconds, where, send, bytes, receive);
    if (status || f->left-- != 0) return status;
    if (f->pause == 0) return GPUOPT_ERROR_PEER;
    seconds_wait(f->pause);
    return GPUOPT_OK;
}
static gpuopt_status straggler_broadcast(void *user, double seconds, gpuopt_memory_space where, int32_t root,
                                         void *data, uint64_t bytes) {
    straggler *f = user;
    return f->inner.broadcast(f->inner.user, seconds, where, root, data, bytes);
}
static gpuopt_status straggler_send(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                                    uint64_t bytes) {
    straggler *f = user;
    return f->inner.send(f->inner.user, seconds, where, to, data, bytes);
}
static gpuopt_status straggler_receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                                       uint64_t bytes) {
    straggler *f = user;
    return f->inner.receive(f->inner.user, seconds, where, from, data, bytes);
}
static void straggler_abandon(void *user) {
    straggler *f = user;
    f->inner.abort(f->inner.user);
}

static void listen(void *user, int level, const char *message) {
    (void)level;
    ((int *)user)[0] += strstr(message, "has waited in vain for another's message") != NULL;
    ((int *)user)[1] += strstr(message, "finds another's handle gone") != NULL;
}

/* At the culprit's exchange number 1 of an _iterate, the meeting before the launch: 0 is the comparison of arguments.
 * All ranks return PEER, and their contexts work. */
static void straggles(rank *r) {
    const work *w = r->all->data;
    gpuopt_context_desc with = test_context_desc(NULL);
    gpuopt_group_desc group = GPUOPT_INIT(gpuopt_group_desc);
    gpuopt_simplex_desc desc = *w->desc;
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_context *context = NULL;
    gpuopt_simplex *simplex = NULL;
    straggler f = {r->transport, -1, w->late ? 3 * limit : 0};
    gpuopt_status status;
    double start;
    int reports[2] = {0, 0}; /* its log messages about that */
    with.user = reports;
    with.log = listen;
    group.time_limit = limit;
    if (r->number == CULPRIT) {
        r->transport.user = &f;
        r->transport.all_gather = straggle;
        r->transport.broadcast = straggler_broadcast;
        r->transport.send = straggler_send;
        r->transport.receive = straggler_receive;
        r->transport.abort = straggler_abandon;
    }
    EXPECT(r, gpuopt_context_create(&with, &context) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_create(context, &r->transport, &group, &desc.group) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_create(context, &desc, NULL, &simplex) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 7, &info) == GPUOPT_OK);
    start = seconds_now();
    f.left = 1;
    status = gpuopt_simplex_iterate(simplex, 7, &info);
    if (!status) status = gpuopt_simplex_get_info(simplex, &info);
    EXPECT(r, status == GPUOPT_ERROR_PEER);
    /* Whom it fails for may find it gone before they launch. */
    EXPECT(r, !test_on("cuda") || r->number == CULPRIT || reports[0] + reports[1] == 1);
    EXPECT(r, !test_on("cuda") || r->number == CULPRIT || !w->late || reports[0] == 1);
    EXPECT(r, seconds_now() - start < 4 * limit + 8);
    gpuopt_simplex_destroy(simplex);
    gpuopt_group_destroy(desc.group);
    desc.group = NULL;
    EXPECT(r, gpuopt_simplex_create(context, &desc, NULL, &simplex) == GPUOPT_OK);
    EXPECT(r, gpuopt_simplex_iterate(simplex, 1000000, &info) == GPUOPT_OK && info.outcome == GPUOPT_OPTIMAL);
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
}

static void run(int ranks, int late) {
    mip m = model_load("plant:40:60:0.3:4");
    const gpuopt_simplex_desc desc = tableau_desc(&m);
    const work w = {&desc, late};
    ranks_run(ranks, straggles, &w);
    mip_free(&m);
}

static void fails(void **state) {
    (void)state;
    run(2, 0);
    run(3, 0);
}

static void is_late(void **state) {
    (void)state;
    run(3, 1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fails),
    cmocka_unit_test(is_late),
};

TEST_MAIN(tests)
