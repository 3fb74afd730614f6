/* SPDX-License-Identifier: MIT
 *
 * The search for an order with a budget: several annealings, from the greedy order and from the best sweep, then from
 * the best so far. Each is on its own and has its share of the budget, so that they can run side by side.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_PORTFOLIO_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_PORTFOLIO_H

#ifdef _OPENMP
#include <omp.h>
#endif

#include "order_anneal.h"
#include "order_rotate.h"
#include "order_sweep.h"
#include "order_watch.h"

/* One annealing. */
typedef struct gpuopt__elimination_chain {
    int from_row;      /* begins with the best sweep */
    int32_t hot, cold; /* temperatures: log2 of their multiples of 1 / LOG_UNIT, in LOG_UNIT */
    int32_t cap;       /* of its tree */
    uint64_t seed;
    int64_t moves, step; /* at most; at a temperature, for each inner node */
    int32_t *order;      /* [vertices] where it begins; then what it found */
} gpuopt__elimination_chain;

typedef struct gpuopt__elimination_portfolio {
    gpuopt__elimination_watch *watch;
    gpuopt__elimination_cover cover;
    gpuopt__elimination_logs logs;
    gpuopt__elimination_sweep sweep;
    gpuopt__elimination_anneal *anneal; /* [threads] */
    gpuopt__elimination_chain *chain;   /* [chains] */
    int32_t *orders;                    /* [chains][vertices] */
    int32_t threads, chains, rounds;
    int popcnt;          /* as in anneal */
    int64_t moves;       /* of all chains together; INT64_MAX: any */
    int32_t finished;    /* threads that have run their chains */
    double begun, share; /* when the round began, and its seconds; HUGE_VAL: any */
} gpuopt__elimination_portfolio;

/* ---- One annealing ---- */

/* Cools down from `hot` to `cold`, as the share of the budget that is used says; end: in the search's seconds. asks:
 * whether this is the caller's thread. A chain that comes too late leaves its order as it is. */
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

/* What orders are compared by: log2 of the operations times the entries of the largest message. An order with a
 * smaller table may take a few more operations, and the other way round. */
static double gpuopt__elimination_portfolio_cost(const gpuopt__elimination_order_score *score) {
    if (!(score->operations <= DBL_MAX)) return HUGE_VAL;
    return (double)gpuopt__elimination_log2(score->operations) + gpuopt__elimination_log2(score->largest);
}

static int gpuopt__elimination_portfolio_better(const gpuopt__elimination_order_score *a,
                                                const gpuopt__elimination_order_score *b) {
    double of_a = gpuopt__elimination_portfolio_cost(a), of_b = gpuopt__elimination_portfolio_cost(b);
    return of_a != of_b ? of_a < of_b : a->operations < b->operations;
}

/* Prepares the chains of a round. In the first one half of them begin with the sweep, later all with the best order. */
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
        gpuopt__elimination_chain *chain = &p->chain[k];
        chain->from_row = round == 0 && k % 2 == 1 && p->sweep.best_cost < INT32_MAX;
        chain->hot = little ? GPUOPT__ELIMINATION_WARM : hot[round > 0][k % 4];
        chain->cold = GPUOPT__ELIMINATION_COLD;
        chain->step = little ? 2 : GPUOPT__ELIMINATION_ANNEAL_STEP;
        chain->cap = INT32_MAX;
        if (round > 0 && k % 2 == 1) /* what else would be the largest join shall shrink */
            chain->cap = gpuopt__elimination_log2(score->largest) - 2 * GPUOPT__ELIMINATION_LOG_UNIT;
        chain->seed = seed + (uint64_t)round * 1000003 + (uint64_t)k * 7919;
        chain->moves = p->moves < INT64_MAX ? p->moves / ((int64_t)p->rounds * p->chains) : INT64_MAX;
        memcpy(chain->order, order, sizeof(int32_t) * (size_t)p->cover.vertices);
    }
}

/* Thread 0 has run its chains: it asks the host, for the time, too, until the others have run theirs. */
static void gpuopt__elimination_portfolio_wait(gpuopt__elimination_portfolio *p, int32_t others) {
    volatile int32_t pause;
    int32_t finished = 0;
    while (!gpuopt__elimination_watch_ends(p->watch, 1)) {
#ifdef _OPENMP
#pragma omp atomic read
#endif
        finished = p->finished;
        if (finished == others) return;
        for (pause = 0; pause < GPUOPT__ELIMINATION_WAIT_LOOK; pause++) {}
    }
}

/* Thread `thread` of `team` runs its chains: those of a team of any size end in time. Thread 0 is the caller's. */
static void gpuopt__elimination_portfolio_thread(gpuopt__elimination_portfolio *p, int32_t thread, int32_t team) {
    const int32_t waves = (p->chains + team - 1) / team;
    int32_t k;
    gpuopt__environment_scope scope;
    memset(&scope, 0, sizeof scope); /* compilers do not see that it is set where it is used */
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
#ifdef _OPENMP
#pragma omp atomic
#endif
    p->finished++;
}

static void gpuopt__elimination_portfolio_run(gpuopt__elimination_portfolio *p) {
    p->finished = 0;
#ifdef _OPENMP
    if (p->threads > 1) {
#pragma omp parallel num_threads(p->threads)
        gpuopt__elimination_portfolio_thread(p, omp_get_thread_num(), omp_get_num_threads());
        return;
    }
#endif
    gpuopt__elimination_portfolio_thread(p, 0, 1);
}

/* Sweeps, for an eighth of the time and of the moves at most, from which they are taken. */
static void gpuopt__elimination_portfolio_sweeps(gpuopt__elimination_portfolio *p, uint64_t seed) {
    const double begun = gpuopt__elimination_watch_seconds(p->watch, 1);
    gpuopt__elimination_sweep *s = &p->sweep;
    int32_t k = 0;
    s->watch = p->watch;
    s->end = begun + (p->watch->seconds - begun) / 8;
    s->most_scans = p->moves / 8 < INT64_MAX / 8 / GPUOPT__ELIMINATION_SWEEP_SCANS
                        ? p->moves / 8 * GPUOPT__ELIMINATION_SWEEP_SCANS
                        : INT64_MAX;
    gpuopt__elimination_sweep_begin(s);
    while (k < GPUOPT__ELIMINATION_SWEEPS && gpuopt__elimination_sweep_try(s, k, seed)) k++;
    if (p->moves < INT64_MAX) p->moves -= s->scans / GPUOPT__ELIMINATION_SWEEP_SCANS;
}

/* Keeps a chain's order, or another, if it is better. */
static gpuopt_status gpuopt__elimination_portfolio_keep(gpuopt__elimination_tree *tree, const int32_t *found,
                                                        int32_t *order, gpuopt__elimination_order_score *score) {
    gpuopt__elimination_order_score got;
    gpuopt_status status = gpuopt__elimination_tree_build(tree, found, &got);
    if (status || !gpuopt__elimination_portfolio_better(&got, score)) return status;
    *score = got;
    memcpy(order, found, sizeof(int32_t) * (size_t)tree->graph->vertices);
    return GPUOPT_OK;
}

/* Improves an order of the graph's vertices, and its score. little: one short annealing, as without a budget; else
 * sweeps and rounds of chains, within `moves` (INT64_MAX: any) and the watch's seconds. threads: to use at most. */
static gpuopt_status gpuopt__elimination_portfolio_search(gpuopt__elimination_tree *tree,
                                                          gpuopt__elimination_watch *watch, int little, int64_t moves,
                                                          int32_t threads, uint64_t seed, int32_t *order,
                                                          gpuopt__elimination_order_score *score) {
    gpuopt__elimination_portfolio p;
    gpuopt__elimination_scratch *scratch = tree->graph->scratch;
    gpuopt__arena arena = {NULL, 0};
    void *block = NULL;
    int32_t round, k;
    gpuopt_status status;
#ifndef _OPENMP
    threads = 1;
#endif
    memset(&p, 0, sizeof p);
    p.watch = watch;
    p.moves = moves;
    p.popcnt = gpuopt__elimination_has_popcnt();
    p.rounds = little ? 1 : GPUOPT__ELIMINATION_ANNEAL_ROUNDS;
    p.chains = little ? 1 : GPUOPT__ELIMINATION_ANNEAL_CHAINS;
    if (moves == INT64_MAX && threads > p.chains) p.chains = threads;
    p.threads = threads < p.chains ? threads : p.chains;
    p.sweep.best_cost = INT32_MAX;
    status = gpuopt__elimination_cover_make(&p.cover, tree->graph, order);
    if (!status && p.cover.firsts == p.cover.vertices) /* nothing is left */
        status = gpuopt__elimination_portfolio_keep(tree, p.cover.first, order, score);
    if (!status && p.cover.cliques > 1) {
        gpuopt__elimination_logs_make(&p.logs);
        p.sweep.cover = &p.cover;
        gpuopt__elimination_sweep_members(&p.sweep, 0);
        gpuopt__elimination_portfolio_cut(&p, &arena);
        block = gpuopt__elimination_scratch_block(scratch, &arena);
        status = scratch->status;
    }
    if (block) {
        gpuopt__elimination_portfolio_cut(&p, &arena);
        if (!little) gpuopt__elimination_portfolio_sweeps(&p, seed);
        for (round = 0; round < p.rounds && !status && !gpuopt__elimination_watch_has_ended(watch); round++) {
            gpuopt__elimination_portfolio_prepare(&p, round, seed, order, score);
            gpuopt__elimination_portfolio_run(&p);
            for (k = 0; k < p.chains && !status; k++)
                status = gpuopt__elimination_portfolio_keep(tree, p.chain[k].order, order, score);
        }
    }
    gpuopt__elimination_scratch_give(scratch, block, arena.used);
    gpuopt__elimination_cover_free(&p.cover);
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_PORTFOLIO_H */
