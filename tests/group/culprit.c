/* SPDX-License-Identifier: MIT */
#include "tests/group/culprit.h"

static const double limit = 1;

/* ---- Contexts ---- */

void culprit_prepare(culprit_context *own) { own->desc = test_context_desc(&own->host); }

void culprit_open(rank *r, culprit_context *own) {
    gpuopt_group_desc desc = GPUOPT_INIT(gpuopt_group_desc);
    own->context = NULL;
    own->group = NULL;
    EXPECT(r, gpuopt_context_create(&own->desc, &own->context) == GPUOPT_OK);
    EXPECT(r, gpuopt_group_create(own->context, &r->transport, &desc, &own->group) == GPUOPT_OK);
}

void culprit_close(rank *r, culprit_context *own) {
    gpuopt_group_destroy(own->group);
    gpuopt_context_destroy(own->context);
    EXPECT(r, own->host.live == 0);
}

static _Thread_local int asked, stop_at;
static int stops(void *user) { return (void)user, ++asked == stop_at; }

void culprit_stops(const rank *r, culprit_context *own, int at) {
    asked = 0;
    stop_at = at;
    if (r->number == CULPRIT) own->desc.stop = stops;
}

int culprit_asked(void) { return asked; }

/* ---- Lost ranks ---- */

void culprit_join(rank *r, int way) {
    uint8_t byte = 0, bytes[MAX_RANKS];
    EXPECT(r, r->transport.all_gather(r->transport.user, 20, GPUOPT_HOST, &byte, 1, bytes) == GPUOPT_OK);
    EXPECT(r, rank_join(r, way == CULPRIT_ABORTS ? 60 : limit) == GPUOPT_OK);
}

int culprit_gets_lost(rank *r, int way, double *start) {
    *start = seconds_now();
    if (r->number != CULPRIT) return 1;
    if (way == CULPRIT_LATE) seconds_wait(2 * limit);
    if (way == CULPRIT_ABORTS) gpuopt_group_abort(r->group);
    return way != CULPRIT_GONE;
}

void culprit_noticed(rank *r, double start) { EXPECT(r, seconds_now() - start < 3 * limit + 8); }

/* ---- Transports ---- */

gpuopt_status culprit_join_faulty(rank *r, int number, rank_faulty *f, double *start) {
    *start = seconds_now();
    if (r->number == CULPRIT) rank_make_faulty(r, number, f);
    return rank_join(r, 60);
}

void culprit_leave_faulty(rank *r, gpuopt_status last, double start) {
    EXPECT(r, last == GPUOPT_ERROR_PEER);
    EXPECT(r, seconds_now() - start < 30);
    gpuopt_group_destroy(r->group); /* before its transport goes */
    r->group = NULL;
}
