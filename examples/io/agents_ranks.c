/* SPDX-License-Identifier: MIT */
#include "gpuopt/group.h"
#include "examples/io/agents_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/agents_parts.h"

typedef struct network {
    simulation s;
    gpuopt_group *group;
    int32_t rank, ranks;
    int32_t *height, *depth; /* [parts] in the pseudo-tree */
    int32_t heights, depths; /* the largest of each, plus 1 */
    message **out;           /* [ranks] the tables of this round's UTIL messages, a list for each rank */
    int32_t *sent;           /* [ranks][ranks] how many tables go from where to where */
} network;

/* The announcement of a table. */
typedef struct head {
    int32_t to, via, position, arity;
    uint64_t size;
} head;

static int32_t rank_of(const network *n, const part *p) { return p->agent % n->ranks; }
static int is_mine(const network *n, const part *p) { return rank_of(n, p) == n->rank; }

/* ---- The graph, common to all ranks ---- */

static void measure_tree(network *n) {
    int32_t k;
    for (k = 0; k < n->s.parts; k++) {
        int32_t up = n->s.part[k].up;
        n->depth[k] = up < 0 ? 0 : n->depth[up] + 1;
        if (n->depth[k] >= n->depths) n->depths = n->depth[k] + 1;
    }
    for (k = n->s.parts - 1; k >= 0; k--) {
        int32_t up = n->s.part[k].up;
        if (up >= 0 && n->height[up] <= n->height[k]) n->height[up] = n->height[k] + 1;
        if (n->height[k] >= n->heights) n->heights = n->height[k] + 1;
    }
}

/* ---- Upwards: UTIL ---- */

/* Delivers the tables of a UTIL message, or puts them in the list for their rank. */
static void post(network *n, message *tables) {
    int32_t rank = rank_of(n, &n->s.part[tables->via]);
    message **at = &n->out[rank];
    if (rank == n->rank) {
        deliver(&n->s, tables);
        return;
    }
    count_util(n->s.answer, tables);
    while (*at) at = &(*at)->next;
    *at = tables;
}

static gpuopt_status send_table(network *n, int32_t rank) {
    message *m = n->out[rank];
    uint64_t names = sizeof *m->name * (uint64_t)m->arity;
    head h;
    gpuopt_status status;
    memset(&h, 0, sizeof h);
    h.to = m->to;
    h.via = m->via;
    h.position = m->position;
    h.arity = m->arity;
    h.size = m->size;
    status = gpuopt_group_send(n->group, GPUOPT_HOST, rank, &h, sizeof h);
    if (!status) status = gpuopt_group_send(n->group, GPUOPT_HOST, rank, m->name, names);
    if (!status) status = gpuopt_group_send(n->group, m->memory->where, rank, m->bytes, m->size);
    n->out[rank] = m->next;
    m->next = NULL;
    free_messages(m);
    return status;
}

/* Data from another process are checked before use; the library checks the packed table. */
static int is_sound(const network *n, const head *h) {
    return h->to >= 0 && h->to < n->s.parts && h->via >= 0 && h->via < n->s.parts && is_mine(n, &n->s.part[h->via]) &&
           h->arity >= 0 && h->arity <= n->s.desc->variables && h->position >= 0 && h->size > 0;
}
static int are_variables(const network *n, const message *m) {
    int32_t k;
    for (k = 0; k < m->arity; k++)
        if (m->name[k] < 0 || m->name[k] >= n->s.desc->variables) return 0;
    return 1;
}

static gpuopt_status receive_table(network *n, int32_t rank) {
    head h;
    message *m;
    gpuopt_status status = gpuopt_group_receive(n->group, GPUOPT_HOST, rank, &h, sizeof h);
    if (status) return status;
    if (!is_sound(n, &h)) return GPUOPT_ERROR_ARGUMENT;
    m = calloc(1, sizeof *m);
    if (!m) return GPUOPT_ERROR_MEMORY;
    m->to = h.to;
    m->via = h.via;
    m->position = h.position;
    m->arity = h.arity;
    m->size = h.size;
    m->name = malloc(sizeof *m->name * ((size_t)m->arity + 1));
    m->memory = n->s.memory;
    m->bytes = h.size <= SIZE_MAX ? m->memory->allocate((size_t)h.size) : NULL;
    if (!m->name || !m->bytes) status = GPUOPT_ERROR_MEMORY;
    if (!status)
        status = gpuopt_group_receive(n->group, GPUOPT_HOST, rank, m->name, sizeof *m->name * (uint64_t)m->arity);
    if (!status) status = gpuopt_group_receive(n->group, m->memory->where, rank, m->bytes, m->size);
    if (!status && !are_variables(n, m)) status = GPUOPT_ERROR_ARGUMENT;
    if (status) free_messages(m);
    else deliver(&n->s, m);
    return status;
}

/* The tables of a round, in the order of senders, then of receivers. */
static gpuopt_status exchange(network *n) {
    int32_t from, to, k, *own = n->sent + (int64_t)n->rank * n->ranks;
    int32_t *count = malloc(sizeof *count * (size_t)n->ranks);
    uint64_t row = sizeof *own * (uint64_t)n->ranks;
    gpuopt_status status;
    if (!count) return GPUOPT_ERROR_MEMORY;
    for (to = 0; to < n->ranks; to++) {
        const message *m;
        count[to] = 0;
        for (m = n->out[to]; m; m = m->next) count[to]++;
    }
    status = gpuopt_group_all_gather(n->group, GPUOPT_HOST, count, row, n->sent, row * (uint64_t)n->ranks, NULL);
    free(count);
    for (from = 0; from < n->ranks && !status; from++)
        for (to = 0; to < n->ranks && !status; to++)
            for (k = n->sent[(int64_t)from * n->ranks + to]; k > 0 && !status; k--)
                if (from == n->rank) status = send_table(n, to);
                else if (to == n->rank) status = receive_table(n, from);
    return status;
}

static gpuopt_status work_up(network *n, part *p) {
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_info info;
    double start = now();
    message *tables = NULL;
    gpuopt_status status = eliminate_part(&n->s, p, &estimate, &info, &start);
    if (!status) status = make_util(&n->s, p, estimate.messages, &tables);
    if (status) free_messages(tables);
    else if (tables) post(n, tables);
    n->s.answer->work_seconds += now() - start;
    return status;
}

static gpuopt_status go_up(network *n) {
    int32_t h, k;
    gpuopt_status status = GPUOPT_OK;
    for (h = 0; h < n->heights && !status; h++) {
        for (k = n->s.parts - 1; k >= 0 && !status; k--)
            if (n->height[k] == h && is_mine(n, &n->s.part[k])) status = work_up(n, &n->s.part[k]);
        if (!status) status = exchange(n);
    }
    return status;
}

/* Puts the ranks' answers together. */
static gpuopt_status add_up(network *n) {
    typedef struct half {
        agents_answer answer;
        int exact;
    } half;
    half own, *all = malloc(sizeof *all * (size_t)n->ranks);
    agents_answer *sum = n->s.answer;
    int32_t r;
    gpuopt_status status;
    if (!all) return GPUOPT_ERROR_MEMORY;
    memset(&own, 0, sizeof own);
    own.answer = *sum;
    own.exact = n->s.exact;
    status =
        gpuopt_group_all_gather(n->group, GPUOPT_HOST, &own, sizeof own, all, sizeof own * (uint64_t)n->ranks, NULL);
    if (!status) *sum = all[0].answer; /* in the order of ranks, so that all of them have the same bits */
    for (r = 0; r < n->ranks && !status; r++) {
        const agents_answer *a = &all[r].answer;
        if (!all[r].exact) n->s.exact = 0;
        if (r == 0) continue;
        sum->eliminate_seconds += a->eliminate_seconds;
        add_estimate(&sum->estimate, &a->estimate);
        add_root(&n->s, &sum->info, &a->info);
    }
    /* The remaining counts are this rank's own, until share(). */
    sum->util_messages = own.answer.util_messages;
    sum->util_bytes = own.answer.util_bytes;
    sum->largest_bytes = own.answer.largest_bytes;
    sum->work_seconds = own.answer.work_seconds;
    if (sum->info.outcome == GPUOPT_OPTIMAL && !n->s.exact) sum->info.outcome = GPUOPT_CONVERGED;
    free(all);
    return status;
}

/* ---- Downwards: VALUE ---- */

/* Sends or receives the values that a part needs: pairs of variable and value. room [2 * variables]. */
static gpuopt_status pass_values(network *n, int32_t number, int32_t *capacity, int32_t *value) {
    const part *p = &n->s.part[number];
    const needs *need = &n->s.need[number];
    agents_answer *answer = n->s.answer;
    int32_t from = p->up < 0 ? -1 : rank_of(n, &n->s.part[p->up]), to = rank_of(n, p), k;
    uint64_t bytes = 2 * sizeof *capacity * (uint64_t)need->count;
    gpuopt_status status;
    if (from < 0 || from == to || (n->rank != from && n->rank != to)) return GPUOPT_OK;
    if (n->rank == from) {
        for (k = 0; k < need->count; k++) {
            capacity[2 * k] = need->name[k];
            capacity[2 * k + 1] = value[need->name[k]];
        }
        answer->value_messages++;
        answer->value_bytes += bytes;
        if (bytes > answer->largest_bytes) answer->largest_bytes = bytes;
        return gpuopt_group_send(n->group, GPUOPT_HOST, to, capacity, bytes);
    }
    status = gpuopt_group_receive(n->group, GPUOPT_HOST, from, capacity, bytes);
    for (k = 0; k < need->count && !status; k++) {
        int32_t v = capacity[2 * k];
        if (v < 0 || v >= n->s.desc->variables || n->s.part_of[v] < 0) return GPUOPT_ERROR_ARGUMENT;
        value[v] = capacity[2 * k + 1];
    }
    return status;
}

static gpuopt_status work_down(network *n, const part *p, int32_t *capacity, int32_t *value) {
    gpuopt_elimination_assignment found;
    double start = now();
    int32_t k;
    gpuopt_status status;
    gpuopt_desc_init(&found, sizeof found);
    for (k = 0; k < p->variables; k++) capacity[k] = value[p->name[k]];
    status = gpuopt_elimination_assign(p->elimination, GPUOPT_HOST, 0, capacity, &found);
    if (status) return status;
    if (found.outcome == GPUOPT_INFEASIBLE) n->s.answer->assigned = 0;
    else
        for (k = 0; k < p->variables; k++) value[p->name[k]] = capacity[k];
    n->s.answer->work_seconds += now() - start;
    return GPUOPT_OK;
}

static gpuopt_status go_down(network *n, int32_t *capacity, int32_t *value) {
    int32_t d, k;
    gpuopt_status status = GPUOPT_OK;
    for (d = 0; d < n->depths && !status; d++) {
        for (k = 0; k < n->s.parts && !status; k++)
            if (n->depth[k] == d) status = pass_values(n, k, capacity, value);
        for (k = 0; k < n->s.parts && !status; k++)
            if (n->depth[k] == d && is_mine(n, &n->s.part[k])) status = work_down(n, &n->s.part[k], capacity, value);
    }
    return status;
}

/* Gives every rank the values that each has decided, and the sums of the counts. */
static gpuopt_status share(network *n, int32_t *value) {
    agents_answer *a = n->s.answer;
    const gpuopt_elimination_desc *desc = n->s.desc;
    int64_t largest = (int64_t)a->largest_bytes, assigned = a->assigned;
    int64_t count[4], *all = malloc(sizeof *all * ((size_t)desc->variables + 1));
    int32_t v;
    gpuopt_status status;
    if (!all) return GPUOPT_ERROR_MEMORY;
    count[0] = a->util_messages;
    count[1] = a->value_messages;
    count[2] = (int64_t)a->util_bytes;
    count[3] = (int64_t)a->value_bytes;
    for (v = 0; v < desc->variables; v++) {
        int32_t p = n->s.part_of[v];
        all[v] = p < 0 || is_mine(n, &n->s.part[p]) ? value[v] : 0;
    }
    status = gpuopt_group_all_reduce(n->group, GPUOPT_REDUCE_SUM, 4, count, NULL);
    if (!status) status = gpuopt_group_all_reduce(n->group, GPUOPT_REDUCE_MAX, 1, &largest, NULL);
    if (!status) status = gpuopt_group_all_reduce(n->group, GPUOPT_REDUCE_MIN, 1, &assigned, NULL);
    if (!status) status = gpuopt_group_all_reduce(n->group, GPUOPT_REDUCE_SUM, 1, NULL, &a->work_seconds);
    if (!status) status = gpuopt_group_all_reduce(n->group, GPUOPT_REDUCE_MAX, desc->variables, all, NULL);
    for (v = 0; v < desc->variables && !status; v++) value[v] = (int32_t)all[v];
    a->util_messages = count[0];
    a->value_messages = count[1];
    a->util_bytes = (uint64_t)count[2];
    a->value_bytes = (uint64_t)count[3];
    a->largest_bytes = (uint64_t)largest;
    a->assigned = (int)assigned;
    free(all);
    return status;
}

/* ---- All ---- */

static gpuopt_status allocate_network(network *n) {
    size_t parts = (size_t)n->s.desc->variables + 1, ranks = (size_t)n->ranks;
    n->height = calloc(parts, sizeof *n->height);
    n->depth = calloc(parts, sizeof *n->depth);
    n->out = calloc(ranks, sizeof *n->out);
    n->sent = calloc(ranks * ranks, sizeof *n->sent);
    return n->height && n->depth && n->out && n->sent ? agents_allocate(&n->s) : GPUOPT_ERROR_MEMORY;
}

static void free_network(network *n) {
    int32_t k;
    for (k = 0; n->out && k < n->ranks; k++) free_messages(n->out[k]);
    free(n->height);
    free(n->depth);
    free(n->out);
    free(n->sent);
    agents_release(&n->s);
}

static gpuopt_status begin(network *n, const gpuopt_elimination_desc *desc, const int32_t *parent,
                           const int32_t *agent) {
    gpuopt_status status;
    n->s.desc = desc;
    status = allocate_network(n);
    if (!status) status = make_parts(&n->s, parent, agent);
    if (!status) share_functions(&n->s);
    return status;
}

gpuopt_status agents_deal(const gpuopt_elimination_desc *desc, const int32_t *parent, const int32_t *agent,
                          int32_t ranks, int32_t *rank) {
    agents_answer ignored;
    network n;
    gpuopt_status status;
    int32_t k;
    int64_t f;
    memset(&n, 0, sizeof n);
    memset(&ignored, 0, sizeof ignored);
    n.s.answer = &ignored;
    n.ranks = ranks;
    status = begin(&n, desc, parent, agent);
    for (k = 0; k < n.s.parts && !status; k++)
        for (f = n.s.of_part[k]; f < n.s.of_part[k + 1]; f++) rank[n.s.functions[f]] = rank_of(&n, &n.s.part[k]);
    free_network(&n);
    return status;
}

static gpuopt_status solve(network *n, const int32_t *parent, const int32_t *agent, int32_t *value) {
    const gpuopt_elimination_desc *desc = n->s.desc;
    int32_t *capacity = malloc(sizeof *capacity * (2 * (size_t)desc->variables + 1)), k;
    gpuopt_status status = capacity ? begin(n, desc, parent, agent) : GPUOPT_ERROR_MEMORY;
    if (!status) status = find_needs(&n->s);
    if (!status) measure_tree(n);
    n->s.answer->parts = n->s.parts;
    for (k = 0; k < desc->variables; k++) value[k] = n->s.fixed[k] < 0 ? 0 : n->s.fixed[k];
    if (!status) status = go_up(n);
    if (!status) status = add_up(n);
    n->s.answer->assigned =
        n->s.answer->info.outcome != GPUOPT_INFEASIBLE && desc->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP;
    if (!status && n->s.answer->assigned) status = go_down(n, capacity, value);
    if (!status) status = share(n, value);
    free(capacity);
    return status;
}

gpuopt_status agents_solve_ranks(gpuopt_context *context, gpuopt_group *group, const agents_memory *memory,
                                 const gpuopt_elimination_desc *desc, const int32_t *parent, const int32_t *fixed,
                                 const int32_t *agent, int32_t *value, agents_answer *answer) {
    gpuopt_group_info info;
    network n;
    gpuopt_status status;
    memset(answer, 0, sizeof *answer);
    memset(&n, 0, sizeof n);
    gpuopt_desc_init(&info, sizeof info);
    status = gpuopt_group_get_info(group, &info);
    if (status) return status;
    n.group = group;
    n.rank = info.rank;
    n.ranks = info.count;
    n.s.context = context;
    n.s.desc = desc;
    n.s.fixed = fixed;
    n.s.memory = memory ? memory : &agents_host;
    n.s.answer = answer;
    n.s.model = desc->messages && desc->messages->model ? desc->messages->model : 1;
    n.s.exact = 1;
    answer->info.count = 1;
    answer->info.outcome = GPUOPT_OPTIMAL;
    status = solve(&n, parent, agent, value);
    free_network(&n);
    if (status) gpuopt_group_abort(group);
    return status;
}
