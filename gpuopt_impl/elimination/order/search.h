/* SPDX-License-Identifier: MIT
 *
 * The search for elimination orders: builds the interaction graph, runs the greedy heuristics, and improves the best
 * order by annealing and by rotations.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_ORDER_SEARCH_H
#define GPUOPT_IMPL_ELIMINATION_ORDER_SEARCH_H

#include "portfolio.h"

#include "../../common/matrix.h"

/* The input of the interaction graph: the scopes of the functions, in compressed rows. */
typedef struct gpuopt__elimination_scopes {
    int32_t variables, functions;
    const int32_t *domain; /* [variables] */
    const int64_t *start;  /* [functions + 1] */
    const int32_t *scope;  /* [start[functions]] */
    const uint8_t *fixed;  /* [variables] not 0: evidence, not in the graph */
} gpuopt__elimination_scopes;

typedef struct gpuopt__elimination_order_search {
    gpuopt__elimination_greedy greedy;
    gpuopt__elimination_tree tree;
    int64_t *of_start; /* [variables + 1] */
    int32_t *of;       /* [start[functions]] the functions of each variable */
    int32_t *vertex;   /* [variables] -1: not in the graph */
    int64_t *raw;      /* [variables + 1] the start of a vertex's neighbours before sorting */
    uint64_t adjacent_bytes;
    gpuopt__elimination_watch watch;
    int64_t moves; /* most moves to improve an order; INT64_MAX: any */
} gpuopt__elimination_order_search;

/* ---- Graph ---- */

/* Appends v's neighbours to the pool. */
static gpuopt_status gpuopt__elimination_graph_neighbours(gpuopt__elimination_order_search *search,
                                                          const gpuopt__elimination_scopes *scopes, int32_t v) {
    gpuopt__elimination_greedy *s = &search->greedy;
    int32_t variable = s->variable[v];
    int64_t k, e;
    s->mark[v] = v;
    for (k = search->of_start[variable]; k < search->of_start[variable + 1]; k++) {
        int32_t f = search->of[k];
        gpuopt_status status = gpuopt__elimination_greedy_reserve(s, scopes->start[f + 1] - scopes->start[f]);
        if (status) return status;
        for (e = scopes->start[f]; e < scopes->start[f + 1]; e++) {
            int32_t u = search->vertex[scopes->scope[e]];
            if (u < 0 || s->mark[u] == v) continue;
            s->mark[u] = v;
            s->pool[s->pool_used++] = u;
        }
    }
    return GPUOPT_OK;
}

/* Computes `missing` for the whole graph: the weight of all pairs of neighbours, less the weight of each triangle,
 * which is found once. */
static void gpuopt__elimination_graph_triangles(gpuopt__elimination_greedy *s, const uint64_t *weight,
                                                uint64_t *missing) {
    int32_t a, n = s->vertices;
    int64_t i, j;
    for (a = 0; a < n; a++) {
        uint64_t sum = 0;
        for (i = s->start[a]; i < s->start[a + 1]; i++) {
            missing[a] += weight[s->adjacent[i]] * sum;
            sum += weight[s->adjacent[i]];
        }
    }
    memset(s->mark, -1, sizeof(int32_t) * (size_t)n);
    for (a = 0; a < n; a++) {
        for (i = s->start[a]; i < s->start[a + 1]; i++) s->mark[s->adjacent[i]] = a;
        for (i = s->start[a + 1] - 1; i >= s->start[a] && s->adjacent[i] > a; i--) {
            int32_t b = s->adjacent[i];
            uint64_t sum = 0, product = weight[a] * weight[b];
            for (j = s->start[b + 1] - 1; j >= s->start[b] && s->adjacent[j] > b; j--) {
                int32_t c = s->adjacent[j];
                uint64_t all = s->mark[c] == a ? UINT64_MAX : 0; /* no branch: in dense graphs it is unpredictable */
                sum += weight[c] & all;
                missing[c] -= product & all;
            }
            missing[a] -= weight[b] * sum;
            missing[b] -= weight[a] * sum;
        }
    }
}

/* The same for dense graphs: each missing edge counts at the common neighbours of its ends. */
static void gpuopt__elimination_graph_gaps(gpuopt__elimination_greedy *s, const uint64_t *weight, uint64_t *missing) {
    int32_t a, b, n = s->vertices;
    int64_t i;
    memset(s->mark, -1, sizeof(int32_t) * (size_t)n);
    for (a = 0; a < n; a++) {
        for (i = s->start[a]; i < s->start[a + 1]; i++) s->mark[s->adjacent[i]] = a;
        for (b = a + 1; b < n; b++) {
            if (s->mark[b] == a) continue;
            for (i = s->start[b]; i < s->start[b + 1]; i++)
                if (s->mark[s->adjacent[i]] == a) missing[s->adjacent[i]] += weight[a] * weight[b];
        }
    }
}

/* Numbers the vertices by the size of their surroundings, within a factor of two. So a vertex has few neighbours with a
 * higher number, and triangles are found quickly. Variables with one value stay out of the graph, because they make no
 * table larger. */
static void gpuopt__elimination_graph_vertices(gpuopt__elimination_order_search *search,
                                               const gpuopt__elimination_scopes *scopes) {
    gpuopt__elimination_greedy *s = &search->greedy;
    int64_t *around = search->raw; /* not in use yet */
    int64_t k;
    int32_t v, f, level;
    memset(around, 0, sizeof(int64_t) * (size_t)scopes->variables);
    for (f = 0; f < scopes->functions; f++)
        for (k = scopes->start[f]; k < scopes->start[f + 1]; k++)
            around[scopes->scope[k]] += scopes->start[f + 1] - scopes->start[f];
    for (v = 0; v < scopes->variables; v++) search->vertex[v] = -1;
    for (level = 0; level < 64; level++)
        for (v = 0; v < scopes->variables; v++) {
            if (scopes->fixed[v] || scopes->domain[v] == 1) continue;
            if (search->vertex[v] >= 0 || (level < 63 && around[v] >> level > 1)) continue;
            s->variable[s->vertices] = v;
            s->size[s->vertices] = scopes->domain[v];
            s->weight[0][s->vertices] = 1;
            s->weight[1][s->vertices] = scopes->domain[v] < 65535 ? (uint64_t)scopes->domain[v] : 65535;
            search->vertex[v] = s->vertices++;
        }
}

static gpuopt_status gpuopt__elimination_graph_build(gpuopt__elimination_order_search *search,
                                                     const gpuopt__elimination_scopes *scopes) {
    gpuopt__elimination_greedy *s = &search->greedy;
    gpuopt_status status = GPUOPT_OK;
    int32_t v;
    int k;
    gpuopt__elimination_graph_vertices(search, scopes);
    gpuopt__transpose(scopes->functions, scopes->variables, scopes->start, scopes->scope, NULL, search->of_start,
                      search->of, NULL, NULL);
    memset(s->mark, -1, sizeof(int32_t) * (size_t)s->vertices);
    for (v = 0; v < s->vertices && !status; v++) {
        search->raw[v] = s->pool_used;
        status = gpuopt__elimination_graph_neighbours(search, scopes, v);
    }
    search->raw[s->vertices] = s->pool_used;
    if (status) return status;
    search->adjacent_bytes = sizeof(int32_t) * (uint64_t)s->pool_used;
    s->adjacent = (int32_t *)gpuopt__elimination_scratch_take(s->scratch, search->adjacent_bytes);
    if (!s->adjacent) return s->scratch->status;
    /* The graph is symmetric: its transpose is itself, with the lists in ascending order. */
    gpuopt__transpose(s->vertices, s->vertices, search->raw, s->pool, NULL, s->start, s->adjacent, NULL, NULL);
    for (k = 0; k < 2; k++) {
        memset(s->missing_0[k], 0, sizeof(uint64_t) * (size_t)s->vertices);
        if ((double)s->pool_used > 0.75 * s->vertices * s->vertices)
            gpuopt__elimination_graph_gaps(s, s->weight[k], s->missing_0[k]);
        else gpuopt__elimination_graph_triangles(s, s->weight[k], s->missing_0[k]);
    }
    return GPUOPT_OK;
}

/* ---- Search ---- */

static void gpuopt__elimination_search_cut(gpuopt__elimination_order_search *search, gpuopt__arena *arena,
                                           const gpuopt__elimination_scopes *scopes) {
    int32_t n = scopes->variables;
    search->of_start = (int64_t *)gpuopt__cut(arena, (int64_t)n + 1, sizeof(int64_t));
    search->of = (int32_t *)gpuopt__cut(arena, scopes->start[scopes->functions], sizeof(int32_t));
    search->vertex = (int32_t *)gpuopt__cut(arena, n, sizeof(int32_t));
    search->raw = (int64_t *)gpuopt__cut(arena, (int64_t)n + 1, sizeof(int64_t));
    gpuopt__elimination_greedy_cut(&search->greedy, arena, n);
    gpuopt__elimination_tree_cut(&search->tree, arena, n);
}

/* Whether the caller has asked to stop, or time is up. */
static int gpuopt__elimination_search_ends(gpuopt__elimination_order_search *search) {
    return gpuopt__elimination_watch_ends(&search->watch, 1);
}

/* Whether to run the greedy heuristics again, for the time r; restarts 0: see base/tuning.h. */
static int gpuopt__elimination_search_restarts(const gpuopt__elimination_greedy *s, int32_t restarts, int32_t r,
                                               const gpuopt__elimination_order_score *score) {
    if (restarts > 0 || r == 0) return r == 0 || r < restarts;
    return r < GPUOPT__ELIMINATION_RESTARTS && score->operations > GPUOPT__ELIMINATION_RESTARTS_FROM * s->vertices &&
           score->operations < GPUOPT__ELIMINATION_RESTARTS_TO;
}

/* The best order of all restarts, of one heuristic or of all, into greedy.best. The first restart breaks ties by the
 * lower number, the others by the seed. The stop hook is called once there is an order. */
static gpuopt_status gpuopt__elimination_search_greedily(gpuopt__elimination_order_search *search,
                                                         gpuopt_elimination_heuristic heuristic, int32_t restarts,
                                                         uint64_t seed, gpuopt__elimination_order_score *score) {
    gpuopt__elimination_greedy *s = &search->greedy;
    int32_t r, v, h;
    int found = 0, equal = 1; /* by domain sizes: whether the two kinds of min-fill are the same */
    for (v = 1; v < s->vertices; v++) equal &= s->size[v] == s->size[0];
    for (r = 0; gpuopt__elimination_search_restarts(s, restarts, r, score); r++)
        for (h = GPUOPT_HEURISTIC_MIN_FILL; h <= GPUOPT_HEURISTIC_MIN_DEGREE; h++) {
            gpuopt__elimination_order_score got;
            uint64_t stream = ((uint64_t)r * 4 + (uint64_t)h) << 32;
            gpuopt_status status;
            int better;
            if (heuristic != GPUOPT_HEURISTIC_BEST && (int)heuristic != h) continue;
            if (equal && r == 0 && heuristic == GPUOPT_HEURISTIC_BEST && h == GPUOPT_HEURISTIC_WEIGHTED_MIN_FILL)
                continue; /* the same ties as well */
            if (found && gpuopt__elimination_search_ends(search)) return GPUOPT_OK;
            for (v = 0; v < s->vertices; v++)
                s->tie[v] = r ? (uint32_t)(gpuopt__random(seed, stream + (uint64_t)v) * 4294967296.0)
                              : (uint32_t)s->variable[v];
            status = gpuopt__elimination_greedy_run(s, (gpuopt_elimination_heuristic)h, found ? score : NULL,
                                                    &search->watch, &got, &better);
            if (status) return status;
            if (!better) continue;
            found = 1;
            *score = got;
            memcpy(s->best, s->order, sizeof(int32_t) * (size_t)s->vertices);
        }
    return GPUOPT_OK;
}

/* BEST: improves greedy.best by rounds of rotations. The time is short if the elimination itself is short. Small cores
 * are searched more thoroughly; large cores offer more to find. */
static gpuopt_status gpuopt__elimination_search_rotations(gpuopt__elimination_order_search *search, uint64_t seed,
                                                          gpuopt__elimination_order_score *score) {
    static const double share[GPUOPT__ELIMINATION_ROTATIONS] = {1e-4, 1e-6},
                        heat[GPUOPT__ELIMINATION_ROTATIONS] = {1, 0.1};
    gpuopt__elimination_greedy *s = &search->greedy;
    int32_t r;
    for (r = 0; r < GPUOPT__ELIMINATION_ROTATIONS && score->operations <= 1e290;
         r++) { /* beyond this, sums could be infinite */
        int64_t moves =
            score->operations < GPUOPT__ELIMINATION_MOVES_MANY_FROM
                ? GPUOPT__ELIMINATION_MOVES_FEW + (int64_t)(score->operations / GPUOPT__ELIMINATION_MOVES_OPERATIONS)
                : GPUOPT__ELIMINATION_MOVES_MANY;
        gpuopt__elimination_order_score found = *score;
        gpuopt_status status;
        if (gpuopt__elimination_search_ends(search)) return GPUOPT_OK;
        memcpy(s->order, s->best, sizeof(int32_t) * (size_t)s->vertices);
        status = gpuopt__elimination_rotate_round(&search->tree, share[r], heat[r], moves,
                                                  seed + ((uint64_t)(uint32_t)r << 32), s->order, &found);
        if (status) return status;
        if (!gpuopt__elimination_score_better(&found, score)) continue;
        *score = found;
        memcpy(s->best, s->order, sizeof(int32_t) * (size_t)s->vertices);
    }
    return GPUOPT_OK;
}

/* BEST: improves greedy.best by annealing or other orders. little, moves: as in portfolio_search. */
static gpuopt_status gpuopt__elimination_search_annealing(gpuopt__elimination_order_search *search, int little,
                                                          int64_t moves, uint64_t seed,
                                                          gpuopt__elimination_order_score *score) {
    gpuopt__elimination_greedy *s = &search->greedy;
    if (gpuopt__elimination_search_ends(search)) return GPUOPT_OK;
    return gpuopt__elimination_portfolio_search(&search->tree, &search->watch, little, moves,
                                                s->scratch->context->desc.threads, seed, s->best, score);
}

/* Moves of the first annealing, which takes as long as a few greedy runs. If nothing follows, it is longer where the
 * elimination itself takes far more time. */
static int64_t gpuopt__elimination_search_little(const gpuopt__elimination_order_search *search,
                                                 const gpuopt__elimination_order_score *score) {
    if (search->moves > 0 || score->operations <= GPUOPT__ELIMINATION_RESTARTS_FROM * search->greedy.vertices)
        return GPUOPT__ELIMINATION_ANNEAL_MOVES;
    return GPUOPT__ELIMINATION_ANNEAL_MOVES_LONG;
}

/* BEST: a short search, and with a budget a second one for the rest of it. */
static gpuopt_status gpuopt__elimination_search_improve(gpuopt__elimination_order_search *search, uint64_t seed,
                                                        gpuopt__elimination_order_score *score) {
    const int64_t little = gpuopt__elimination_search_little(search, score);
    const int64_t left = search->moves < INT64_MAX ? search->moves - little : INT64_MAX;
    gpuopt_status status = gpuopt__elimination_search_annealing(search, 1, little, seed, score);
    if (!status) status = gpuopt__elimination_search_rotations(search, seed, score);
    if (status || left <= 0) return status;
    status = gpuopt__elimination_search_annealing(search, 0, left, seed, score);
    return status ? status : gpuopt__elimination_search_rotations(search, seed, score);
}

/* Searches for an order. Releases all scratch memory before it returns. Variables with one value come last. */
static gpuopt_status gpuopt__elimination_search_order(gpuopt__elimination_scratch *scratch,
                                                      const gpuopt__elimination_scopes *scopes,
                                                      const gpuopt_elimination_desc *d, int32_t *order) {
    gpuopt__elimination_order_search search;
    gpuopt__elimination_order_score score;
    gpuopt__arena arena = {NULL, 0};
    gpuopt__elimination_greedy *s = &search.greedy;
    void *block;
    int32_t v, count = 0;
    gpuopt_status status;
    memset(&search, 0, sizeof search);
    s->scratch = scratch;
    search.tree.graph = s;
    gpuopt__elimination_watch_begin(&search.watch, scratch->context, d->order_search->seconds);
    search.moves = d->order_search->work > 0 ? d->order_search->work : d->order_search->seconds > 0 ? INT64_MAX : 0;
    gpuopt__elimination_search_cut(&search, &arena, scopes);
    block = gpuopt__elimination_scratch_block(scratch, &arena);
    if (!block) return scratch->status;
    gpuopt__elimination_search_cut(&search, &arena, scopes);
    status = gpuopt__elimination_graph_build(&search, scopes);
    if (!status)
        status = gpuopt__elimination_search_greedily(&search, d->order_search->heuristic, d->order_search->restarts,
                                                     d->order_search->seed, &score);
    if (!status && d->order_search->heuristic == GPUOPT_HEURISTIC_BEST)
        status = gpuopt__elimination_search_improve(&search, d->order_search->seed, &score);
    for (; count < s->vertices && !status; count++) order[count] = s->variable[s->best[count]];
    for (v = 0; v < scopes->variables && !status; v++) {
        if (scopes->fixed[v] || scopes->domain[v] != 1) continue;
        order[count++] = v;
    }
    gpuopt__elimination_scratch_give(scratch, s->pool, sizeof(int32_t) * (uint64_t)s->pool_capacity);
    gpuopt__elimination_scratch_give(scratch, s->adjacent, search.adjacent_bytes);
    gpuopt__elimination_scratch_give(scratch, block, arena.used);
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_ORDER_SEARCH_H */
