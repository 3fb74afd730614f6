/* SPDX-License-Identifier: MIT
 *
 * The search for an order with a budget: several annealings, from the greedy order and from the best sweep or
 * dissection, then from the best so far. Each is independent and has its share of the budget, so that they can run side
 * by side.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_PORTFOLIO_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_PORTFOLIO_H

#ifdef GPUOPT__OPENMP
#include <omp.h>
#endif

#include "anneal.h"
#include "dissect.h"
#include "rotate.h"
#include "sweep.h"
#include "watch.h"

/* One annealing run. */
typedef struct gpuopt__elimination_chain {
    int from_row;      /* begins with the order of the best sweep */
    int32_t hot, cold; /* temperatures: log2 of their multiples of 1 / LOG_UNIT, in LOG_UNIT */
    int32_t cap;       /* cap of the run's tree */
    uint64_t seed;
    int64_t moves, step; /* most moves; moves at a temperature, for each inner node */
    int32_t *order;      /* [vertices] the order to begin with; then the result */
} gpuopt__elimination_chain;

typedef struct gpuopt__elimination_portfolio {
    gpuopt__elimination_watch *watch;
    gpuopt__elimination_cover cover;
    gpuopt__elimination_logs logs;
    gpuopt__elimination_sweep sweep;
    gpuopt__elimination_anneal *anneal; /* [threads] */
    gpuopt__elimination_chain *chain;   /* [chains] */
    int32_t *orders;                    /* [chains][vertices] */
    int32_t *raw;                       /* [vertices] the best sweep or dissection, if `has_raw` */
    int has_raw, raw_is_row;            /* raw_is_row: raw is a sweep */
    gpuopt__elimination_order_score raw_score;
    int32_t threads, chains, rounds;
    int popcnt;          /* as in anneal */
    int64_t moves;       /* moves of all chains together; INT64_MAX: any */
    int32_t finished;    /* threads that have finished their chains */
    double begun, share; /* when the round began, and its seconds; HUGE_VAL: any */
} gpuopt__elimination_portfolio;

/* ---- One annealing ---- */

/* Cools down from `hot` to `cold` as the share of the budget is used up; end: in the search's seconds. asks: whether
 * this is the caller's thread. A chain that begins too late leaves its order unchanged. */
static void gpuopt__elimination_portfolio_anneal(gpuopt__elimination_portfolio *p, gpuopt__elimination_anneal *a,
                                                 const gpuopt__elimination_chain *chain, double end, int asks) {
    const int64_t step = chain->step * (int64_t)(a->nodes - a->leaves);
    const double start = gpuopt__elimination_watch_seconds(p->watch, asks);
    int64_t done = 0, moves, left;
    int32_t temperature;
    if (!(start < end) || gpuopt__elimination_watch_has_ended(p->watch)) return;
    a->random = (chain->seed + 1) * 0x9E3779B97F4A7C15u | 1;
    a->best_cost = INT32_MAX;
    a->cap = chain->cap;
    if (chain->from_row) gpuopt__elimination_anneal_from_row(a, p->sweep.best);
    else gpuopt__elimination_anneal_from_order(a, chain->order);
    gpuopt__elimination_anneal_keep(a);
    for (; done < chain->moves; done += moves) {
        const double now = gpuopt__elimination_watch_seconds(p->watch, asks);
        int32_t used = chain->moves < INT64_MAX ? (int32_t)((double)done / (double)chain->moves * 1024) : 0;
        if (!(now < end) || gpuopt__elimination_watch_ends(p->watch, asks)) break;
        if (end < HUGE_VAL && (now - start) / (end - start) * 1024 > used)
            used = (int32_t)((now - start) / (end - start) * 1024);
        moves = chain->moves - done < step ? chain->moves - done : step;
        temperature = (int32_t)gpuopt__elimination_power_of_two(
            &p->logs, chain->hot - (int32_t)((int64_t)(chain->hot - chain->cold) * used / 1024));
        for (left = moves; left > 0; left -= GPUOPT__ELIMINATION_ANNEAL_LOOK) {
            if (left < moves && gpuopt__elimination_watch_ends(p->watch, asks)) break;
            gpuopt__elimination_anneal_try(
                a, left < GPUOPT__ELIMINATION_ANNEAL_LOOK ? left : GPUOPT__ELIMINATION_ANNEAL_LOOK, temperature);
        }
        gpuopt__elimination_anneal_keep(a);
    }
    gpuopt__elimination_anneal_order(a, chain->order);
}

/* ---- Memory ---- */

static void gpuopt__elimination_portfolio_cut(gpuopt__elimination_portfolio *p, gpuopt__arena *arena) {
    int32_t k;
    p->anneal = (gpuopt__elimination_anneal *)gpuopt__cut(arena, p->threads, sizeof *p->anneal);
    p->chain = (gpuopt__elimination_chain *)gpuopt__cut(arena, p->chains, sizeof *p->chain);
    p->orders = (int32_t *)gpuopt__cut(arena, (int64_t)p->chains * p->cover.vertices, sizeof(int32_t));
    p->raw = (int32_t *)gpuopt__cut(arena, p->cover.vertices, sizeof(int32_t));
    p->sweep.cover = &p->cover;
    p->sweep.logs = &p->logs;
    gpuopt__elimination_sweep_cut(&p->sweep, arena);
    for (k = 0; k < p->threads; k++) {
        gpuopt__elimination_anneal a;
        memset(&a, 0, sizeof a);
        a.cover = &p->cover;
        a.logs = &p->logs;
        a.leaves = p->cover.cliques;
        a.nodes = 2 * p->cover.cliques - 1;
        a.popcnt = p->popcnt;
        gpuopt__elimination_anneal_cut(&a, arena);
        if (arena->base) p->anneal[k] = a;
    }
    for (k = 0; k < p->chains && arena->base; k++) p->chain[k].order = p->orders + (int64_t)k * p->cover.vertices;
}

/* ---- Rounds ---- */

/* Prepares the chains of a round. In the first round half of them begin with p->raw, or a sweep; later all begin with
 * the best order. */
static void gpuopt__elimination_portfolio_prepare(gpuopt__elimination_portfolio *p, int32_t round, uint64_t seed,
                                                  const int32_t *order, const gpuopt__elimination_order_score *score) {
    /* 1.5, 0.5, 1, 1; then 0.5, 0.25, 0.75, 0.35, as logarithms of 1 / LOG_UNIT */
    static const int32_t hot[2][4] = {{10839, 9216, 10240, 10240}, {9216, 8192, 9815, 8689}};
    const int little = p->rounds == 1;
    int32_t k;
    p->begun = gpuopt__elimination_watch_seconds(p->watch, 1);
    p->share =
        little || !(p->watch->seconds < HUGE_VAL) ? HUGE_VAL : (p->watch->seconds - p->begun) / (p->rounds - round);
    for (k = 0; k < p->chains; k++) {
        const int other = round == 0 && k % 2 == 1; /* begins with a sweep or a dissection, not with the best order */
        gpuopt__elimination_chain *chain = &p->chain[k];
        chain->from_row = other && (p->raw_is_row || !p->has_raw) && p->sweep.best_cost < INT32_MAX;
        chain->hot = little ? GPUOPT__ELIMINATION_WARM : hot[round > 0][k % 4];
        chain->cold = GPUOPT__ELIMINATION_COLD;
        chain->step = little ? 2 : GPUOPT__ELIMINATION_ANNEAL_STEP;
        chain->cap = INT32_MAX;
        if (round > 0 && k % 2 == 1) /* the largest join would otherwise be the limit: lower it */
            chain->cap = gpuopt__elimination_log2(score->largest) - 2 * GPUOPT__ELIMINATION_LOG_UNIT;
        chain->seed = seed + (uint64_t)round * 1000003 + (uint64_t)k * 7919;
        chain->moves = little || p->moves == INT64_MAX ? p->moves : p->moves / ((int64_t)p->rounds * p->chains);
        memcpy(chain->order, other && p->has_raw ? p->raw : order, sizeof(int32_t) * (size_t)p->cover.vertices);
    }
}

/* Thread 0 has finished its chains. It calls the caller's hooks, for stopping and time, until the others are done. */
static void gpuopt__elimination_portfolio_wait(gpuopt__elimination_portfolio *p, int32_t others) {
    volatile int32_t pause;
    int32_t finished = 0;
    while (!gpuopt__elimination_watch_ends(p->watch, 1)) {
#ifdef GPUOPT__OPENMP
#pragma omp atomic read
#endif
        finished = p->finished;
        if (finished == others) return;
        for (pause = 0; pause < GPUOPT__ELIMINATION_WAIT_LOOK;) pause = pause + 1;
    }
}

/* Thread `thread` of `team` runs its chains; they end in time for a team of any size. Thread 0 is the caller's. */
static void gpuopt__elimination_portfolio_thread(gpuopt__elimination_portfolio *p, int32_t thread, int32_t team) {
    const int32_t waves = (p->chains + team - 1) / team;
    int32_t k;
    gpuopt__environment_scope scope;
    memset(&scope, 0, sizeof scope); /* avoids a false warning about an uninitialised variable */
    gpuopt__environment_enter(&scope);
    for (k = thread; k < p->chains; k += team) {
        double end = p->share < HUGE_VAL ? p->begun + p->share * (k / team + 1) / waves : HUGE_VAL;
        gpuopt__elimination_portfolio_anneal(p, &p->anneal[thread], &p->chain[k], end, thread == 0);
    }
    gpuopt__environment_leave(&scope);
    if (thread == 0) {
        if (p->watch->context->desc.stop || p->watch->seconds < HUGE_VAL)
            gpuopt__elimination_portfolio_wait(p, team - 1);
        return;
    }
#ifdef GPUOPT__OPENMP
#pragma omp atomic
#endif
    p->finished++;
}

static void gpuopt__elimination_portfolio_run(gpuopt__elimination_portfolio *p) {
    p->finished = 0;
#ifdef GPUOPT__OPENMP
    if (p->threads > 1) {
#pragma omp parallel num_threads(gpuopt__team(p->watch->context, p->threads))
        gpuopt__elimination_portfolio_thread(p, omp_get_thread_num(), omp_get_num_threads());
        return;
    }
#endif
    gpuopt__elimination_portfolio_thread(p, 0, 1);
}

/* Keeps a chain's order, or another order, if it is better. */
static gpuopt_status gpuopt__elimination_portfolio_keep(gpuopt__elimination_tree *tree, const int32_t *found,
                                                        int32_t *order, gpuopt__elimination_order_score *score) {
    gpuopt__elimination_order_score got;
    gpuopt_status status = gpuopt__elimination_tree_build(tree, found, score, &got);
    if (status || !gpuopt__elimination_score_better(&got, score)) return status;
    *score = got;
    memcpy(order, found, sizeof(int32_t) * (size_t)tree->graph->vertices);
    return GPUOPT_OK;
}

/* ---- Other beginnings ---- */

/* The number of scans equivalent to `moves`. */
static int64_t gpuopt__elimination_portfolio_scans(int64_t moves) {
    return moves < INT64_MAX / GPUOPT__ELIMINATION_SWEEP_SCANS ? moves * GPUOPT__ELIMINATION_SWEEP_SCANS : INT64_MAX;
}

/* Sweeps, for an eighth of the time and of the moves at most. The best one becomes p->raw. */
static gpuopt_status gpuopt__elimination_portfolio_sweeps(gpuopt__elimination_portfolio *p,
                                                          gpuopt__elimination_tree *tree, int32_t tries,
                                                          uint64_t seed) {
    const double begun = gpuopt__elimination_watch_seconds(p->watch, 1);
    gpuopt__elimination_sweep *s = &p->sweep;
    gpuopt__elimination_anneal *a = &p->anneal[0];
    int32_t k = 0;
    s->watch = p->watch;
    s->end = begun + (p->watch->seconds - begun) / 8;
    s->most_scans = gpuopt__elimination_portfolio_scans(p->moves / 8);
    gpuopt__elimination_sweep_begin(s);
    while (k < tries && gpuopt__elimination_sweep_try(s, k, seed)) k++;
    if (p->rounds > 1 && p->moves < INT64_MAX) p->moves -= s->scans / GPUOPT__ELIMINATION_SWEEP_SCANS;
    if (s->best_cost == INT32_MAX) return GPUOPT_OK;
    a->best_cost = INT32_MAX;
    gpuopt__elimination_anneal_from_row(a, s->best);
    gpuopt__elimination_anneal_keep(a);
    gpuopt__elimination_anneal_order(a, p->orders);
    return gpuopt__elimination_portfolio_keep(tree, p->orders, p->raw, &p->raw_score);
}

/* Dissections, up to `tries`, likewise; alone: with all of the time and the moves, since no search follows. */
static gpuopt_status gpuopt__elimination_portfolio_dissect(gpuopt__elimination_portfolio *p,
                                                           gpuopt__elimination_tree *tree, int alone, int32_t tries,
                                                           uint64_t seed, int32_t *order,
                                                           gpuopt__elimination_order_score *score) {
    const double begun = gpuopt__elimination_watch_seconds(p->watch, 1);
    const int little = p->rounds == 1;
    gpuopt__elimination_flow flow;
    int64_t scans = 0;
    gpuopt_status status;
    memset(&flow, 0, sizeof flow);
    flow.watch = p->watch;
    flow.end_at = begun + (p->watch->seconds - begun) / (alone ? 1 : 8);
    flow.most_scans = little ? GPUOPT__ELIMINATION_DISSECT_SCANS
                             : gpuopt__elimination_portfolio_scans(alone ? p->moves : p->moves / 8);
    status = gpuopt__elimination_dissect(tree, p->cover.block ? &p->cover : NULL, &flow, tries,
                                         little ? seed : seed + 65536, order, score, &scans);
    if (!little && p->moves < INT64_MAX) p->moves -= scans / GPUOPT__ELIMINATION_SWEEP_SCANS;
    return status;
}

/* Finds p->raw by the numbers of the variables, and by sweeps and dissections if requested. An order that is worse than
 * the known one by 2^20 or more, both in operations and in the largest message, is no better start. */
static gpuopt_status gpuopt__elimination_portfolio_begin(gpuopt__elimination_portfolio *p,
                                                         gpuopt__elimination_tree *tree, int32_t sweeps,
                                                         int32_t dissections, uint64_t seed,
                                                         const gpuopt__elimination_order_score *score) {
    gpuopt__elimination_order_score swept;
    gpuopt_status status = GPUOPT_OK;
    p->raw_score = *score;
    p->raw_score.operations *= 1048576;
    p->raw_score.largest *= 1048576;
    swept = p->raw_score;
    if (sweeps > 0) status = gpuopt__elimination_portfolio_sweeps(p, tree, sweeps, seed);
    p->has_raw = p->raw_is_row = p->raw_score.operations != swept.operations;
    swept = p->raw_score;
    if (!status) status = gpuopt__elimination_portfolio_dissect(p, tree, 0, dissections, seed, p->raw, &p->raw_score);
    if (p->raw_score.operations == swept.operations && p->raw_score.largest == swept.largest) return status;
    p->has_raw = 1;
    p->raw_is_row = 0;
    return status;
}

/* ---- Search ---- */

/* The graph's cover, if it is not too large, and memory for chains, if there is work for them. */
static gpuopt_status gpuopt__elimination_portfolio_prepare_cover(gpuopt__elimination_portfolio *p,
                                                                 gpuopt__elimination_tree *tree, int32_t *order,
                                                                 gpuopt__elimination_order_score *score,
                                                                 gpuopt__arena *arena, void **block) {
    gpuopt_status status;
    if (tree->graph->vertices > GPUOPT__ELIMINATION_COVER_VERTICES) return GPUOPT_OK;
    status = gpuopt__elimination_cover_make(&p->cover, tree->graph, order);
    if (!status && p->cover.firsts == p->cover.vertices) /* no vertex remains */
        status = gpuopt__elimination_portfolio_keep(tree, p->cover.first, order, score);
    if (status || p->cover.cliques < 2) return status;
    gpuopt__elimination_logs_make(&p->logs);
    p->sweep.cover = &p->cover;
    gpuopt__elimination_sweep_members(&p->sweep, 0);
    gpuopt__elimination_portfolio_cut(p, arena);
    *block = gpuopt__elimination_scratch_block(p->cover.scratch, arena);
    if (!*block) return p->cover.scratch->status;
    gpuopt__elimination_portfolio_cut(p, arena);
    return GPUOPT_OK;
}

/* Improves an order of the graph's vertices, and its score. little: one short annealing, as without a budget, and some
 * other beginnings if the elimination is long. Else these and rounds of chains, within `moves` (INT64_MAX: any) and the
 * watch's seconds. threads: the most to use. */
static gpuopt_status gpuopt__elimination_portfolio_search(gpuopt__elimination_tree *tree,
                                                          gpuopt__elimination_watch *watch, int little, int64_t moves,
                                                          int32_t threads, uint64_t seed, int32_t *order,
                                                          gpuopt__elimination_order_score *score) {
    /* without a budget: some tens of milliseconds, if the elimination itself takes much longer */
    const int begins = !little || score->operations > GPUOPT__ELIMINATION_RESTARTS_FROM * tree->graph->vertices;
    const int32_t sweeps = !little  ? GPUOPT__ELIMINATION_SWEEPS
                           : begins ? GPUOPT__ELIMINATION_SWEEPS_FEW
                                    : 0,
                  dissections = !little  ? GPUOPT__ELIMINATION_DISSECT_MANY
                                : begins ? GPUOPT__ELIMINATION_DISSECT_FEW
                                         : 0;
    gpuopt__elimination_portfolio p;
    gpuopt__elimination_scratch *scratch = tree->graph->scratch;
    gpuopt__arena arena = {NULL, 0};
    void *block = NULL;
    int32_t round, k;
    gpuopt_status status;
#ifndef GPUOPT__OPENMP
    threads = 1;
#endif
    memset(&p, 0, sizeof p);
    p.watch = watch;
    p.moves = moves;
    p.popcnt = gpuopt__elimination_has_popcnt();
    p.rounds = little ? 1 : GPUOPT__ELIMINATION_ANNEAL_ROUNDS;
    p.chains = !little ? GPUOPT__ELIMINATION_ANNEAL_CHAINS : begins ? 2 : 1;
    if (moves == INT64_MAX && threads > p.chains) p.chains = threads;
    p.threads = threads < p.chains ? threads : p.chains;
    p.sweep.best_cost = INT32_MAX;
    status = gpuopt__elimination_portfolio_prepare_cover(&p, tree, order, score, &arena, &block);
    if (!status && !block && p.cover.cliques == 0 && p.cover.firsts < tree->graph->vertices)
        status = gpuopt__elimination_portfolio_dissect(&p, tree, 1, dissections, seed, order, score);
    if (!status && block) {
        status = gpuopt__elimination_portfolio_begin(&p, tree, sweeps, dissections, seed, score);
        for (round = 0; round < p.rounds && !status && !gpuopt__elimination_watch_has_ended(watch); round++) {
            gpuopt__elimination_portfolio_prepare(&p, round, seed, order, score);
            if (round == 0 && p.has_raw) status = gpuopt__elimination_portfolio_keep(tree, p.raw, order, score);
            if (!status) gpuopt__elimination_portfolio_run(&p);
            for (k = 0; k < p.chains && !status; k++)
                status = gpuopt__elimination_portfolio_keep(tree, p.chain[k].order, order, score);
        }
    }
    gpuopt__elimination_scratch_give(scratch, block, arena.used);
    gpuopt__elimination_cover_free(&p.cover);
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_PORTFOLIO_H */
