/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "tests/bench/split_model.h"

#include <math.h>

#include "examples/common.h"

enum { EXCHANGES = 100 /* at once */, LONG = 20000 /* doubles */ };

/* ---- Exchanges ---- */

/* Seconds of a broadcast of `doubles` doubles, or with 0 an all-gather of the data of pricing: the least of 20
 * means. */
static gpuopt_status exchange(split_rank *r, int32_t doubles, double *seconds) {
    static _Thread_local double data[LONG], all[8 * MOST_RANKS];
    gpuopt_status status = gpuopt_group_agree(r->group, NULL, 0);
    int k, batch;
    *seconds = HUGE_VAL;
    for (batch = 0; batch < 20 && !status; batch++) {
        const double start = now();
        for (k = 0; k < EXCHANGES && !status; k++)
            status = doubles ? gpuopt_group_broadcast(r->group, GPUOPT_HOST, k % r->count, data,
                                                      sizeof *data * (uint64_t)doubles)
                             : gpuopt_group_all_gather(r->group, GPUOPT_HOST, data, 64, all, sizeof all, NULL);
        *seconds = fmin(*seconds, (now() - start) / EXCHANGES);
    }
    return status;
}

static gpuopt_status run_exchanges(split_rank *r) {
    split_constants *c = r->job;
    double gather, near, far;
    gpuopt_status status = exchange(r, 0, &gather);
    if (!status) status = exchange(r, 1, &near);
    if (!status) status = exchange(r, LONG, &far);
    if (status || r->rank > 0) return status;
    c->gather = gather;
    c->broadcast = near;
    c->per_byte = fmax(far - near, 0) / (8.0 * (LONG - 1));
    return GPUOPT_OK;
}

int split_exchanges(const split_machine *on, split_constants *c) { return split_run(on, 2, run_exchanges, c, NULL); }

/* ---- The model ---- */

static void terms(double m, double n, double ranks, double term[COSTS]) {
    term[0] = 1;
    term[1] = m;
    term[2] = n / ranks;
    term[3] = m * n / ranks;
}

double split_predicted(const split_constants *c, double m, double n, double ranks) {
    const double *cost = ranks > 1 ? c->among : c->alone;
    double term[COSTS], sum = 0;
    int k;
    terms(m, n, ranks, term);
    for (k = 0; k < COSTS; k++) sum += cost[k] * term[k];
    return sum + (ranks > 2 && !c->peers ? log2(ranks / 2) * (c->gather + c->broadcast + c->per_byte * 8 * m) : 0);
}

/* The costs >= 0 that minimise the sum of the squares of sum(cost * row) - 1, one cost after the other until they
 * stay. */
static void least_squares(int count, double row[MOST_KNOWN][COSTS], double cost[COSTS]) {
    double product[COSTS][COSTS + 1] = {{0}}; /* of the columns with one another, and with 1 */
    int pass, i, j, k;
    for (k = 0; k < count; k++)
        for (i = 0; i < COSTS; i++)
            for (j = 0; j <= COSTS; j++) product[i][j] += row[k][i] * (j < COSTS ? row[k][j] : 1);
    for (i = 0; i < COSTS; i++) cost[i] = 0;
    for (pass = 0; pass < 100000; pass++)
        for (i = 0; i < COSTS; i++) {
            double rest = product[i][COSTS];
            for (j = 0; j < COSTS; j++) rest -= j == i ? 0 : product[i][j] * cost[j];
            cost[i] = fmax(rest / product[i][i], 0);
        }
}

void split_fit(int count, const int (*size)[2], const double *time, int ranks, split_constants *c) {
    double row[MOST_KNOWN][COSTS];
    int k, i;
    for (k = 0; k < count; k++) {
        terms(size[k][0], size[k][1], ranks, row[k]);
        for (i = 0; i < COSTS; i++) row[k][i] /= time[k];
    }
    least_squares(count, row, ranks > 1 ? c->among : c->alone);
}

double correlation(int count, const double *x, const double *y) {
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    int k;
    for (k = 0; k < count; k++) mx += x[k] / count, my += y[k] / count;
    for (k = 0; k < count; k++) {
        xx += (x[k] - mx) * (x[k] - mx);
        yy += (y[k] - my) * (y[k] - my);
        xy += (x[k] - mx) * (y[k] - my);
    }
    return xy / sqrt(xx * yy);
}
