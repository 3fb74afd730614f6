/* SPDX-License-Identifier: MIT */
#include "examples/io/agents.h"

#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/agents_parts.h"

/* ---- Upwards: UTIL ---- */

/* Adds up estimates; takes the maximum where a sum is meaningless. */
static void add_estimate(gpuopt_elimination_estimate *sum, const gpuopt_elimination_estimate *e) {
    if (e->policy > sum->policy) sum->policy = e->policy; /* from EXACT to MINI_BUCKET */
    if (e->bits > sum->bits) sum->bits = e->bits;
    if (e->width > sum->width) sum->width = e->width;
    if (e->z > sum->z) sum->z = e->z;
    if (e->sliced > sum->sliced) sum->sliced = e->sliced;
    if (e->slices > sum->slices) sum->slices = e->slices;
    if (e->largest > sum->largest) sum->largest = e->largest;
    if (e->memory.create_bytes > sum->memory.create_bytes) sum->memory.create_bytes = e->memory.create_bytes;
    sum->messages += e->messages;
    sum->entries += e->entries;
    sum->operations += e->operations;
    sum->memory.host_bytes += e->memory.host_bytes;
    sum->memory.device_bytes += e->memory.device_bytes;
}

/* Inserts a message at the position of its variable, after equal ones. */
static void deliver(part *to, message *m) {
    message **at = &to->inbox;
    while (*at && (*at)->position <= m->position) at = &(*at)->next;
    m->next = *at;
    *at = m;
}

/* Packs message `number` of the part and delivers it, if it leaves the part. */
static gpuopt_status send_up(simulation *s, part *p, int32_t number, part **to) {
    agents_answer *answer = s->answer;
    gpuopt_elimination_message_info info;
    gpuopt_status status;
    message *m;
    part *target;
    int32_t k, root;
    *to = NULL;
    gpuopt_desc_init(&info, sizeof info);
    status = gpuopt_elimination_message_get_info(p->elimination, number, &info);
    if (status || info.parent >= 0 || p->up < 0) return status;
    m = calloc(1, sizeof *m);
    if (!m) return GPUOPT_ERROR_MEMORY;
    m->arity = info.arity;
    m->position = s->position[p->name[info.variable]];
    m->name = malloc(sizeof *m->name * ((size_t)info.arity + 1));
    status = gpuopt_elimination_message_pack(p->elimination, number, 0, NULL, 0, &m->size);
    if (!status) m->bytes = malloc((size_t)m->size);
    if (!status && (!m->bytes || !m->name)) status = GPUOPT_ERROR_MEMORY;
    if (!status) status = gpuopt_elimination_message_pack(p->elimination, number, 0, m->bytes, m->size, &m->size);
    if (status) {
        free_message(m);
        return status;
    }
    for (k = 0; k < info.arity; k++) m->name[k] = p->name[info.scope[k]];
    for (root = p->up; s->part[root].up >= 0;) root = s->part[root].up;
    target = &s->part[meets_first(s, m->arity, m->name, root)];
    if (target->agent != p->agent) {
        uint64_t bytes = m->size + sizeof *m->name * (uint64_t)m->arity;
        answer->util_messages++;
        answer->util_bytes += bytes;
        if (bytes > answer->largest_bytes) answer->largest_bytes = bytes;
    }
    deliver(target, m);
    *to = target;
    return GPUOPT_OK;
}

static gpuopt_status eliminate(gpuopt_elimination *elimination, gpuopt_elimination_info *info) {
    gpuopt_status status = gpuopt_elimination_get_info(elimination, info);
    while (!status && info->outcome == GPUOPT_MORE) status = gpuopt_elimination_step(elimination, INT32_MAX, info);
    return status;
}

/* The time at which a part is done after this much work. */
static double finish(simulation *s, const part *p, double work) {
    double *busy = &s->busy[p->agent], done = (*busy > p->ready ? *busy : p->ready) + work;
    *busy = done;
    s->answer->work_seconds += work;
    if (done > s->answer->simulated_seconds) s->answer->simulated_seconds = done;
    return done;
}

/* Adds the result of a root: the components of a model are independent. */
static void add_root(simulation *s, const gpuopt_elimination_info *info) {
    gpuopt_elimination_info *sum = &s->answer->info;
    int64_t top = s->desc->top ? s->desc->top : INT64_MAX;
    if (info->outcome == GPUOPT_INFEASIBLE || sum->outcome == GPUOPT_INFEASIBLE || info->cost >= top - sum->cost) {
        sum->outcome = GPUOPT_INFEASIBLE;
        sum->count = 0;
        sum->count_overflow = 0;
        return;
    }
    sum->cost += info->cost;
    sum->value += info->value;
    if (info->count_overflow || (info->count && sum->count > (UINT64_MAX - 1) / info->count)) sum->count_overflow = 1;
    sum->count *= info->count;
}

/* Makes the handle of the part, eliminates, and sends the messages that come out. */
static gpuopt_status work_up(simulation *s, part *p) {
    gpuopt_elimination_desc desc = *s->desc;
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_info info;
    draft d;
    double start = now(), planning, done, eliminating;
    part **to = NULL;
    gpuopt_status status;
    int32_t k;
    memset(&d, 0, sizeof d);
    gpuopt_desc_init(&estimate, sizeof estimate);
    gpuopt_desc_init(&info, sizeof info);
    status = make_draft(s, p, &d);
    desc.variables = p->variables;
    desc.domain = d.domain;
    desc.functions = d.functions;
    desc.function = d.function;
    desc.order = d.order;
    desc.order_count = p->own;
    desc.condition = d.condition;
    desc.condition_count = d.conditions;
    desc.model = s->model;
    planning = now();
    if (!status) status = gpuopt_elimination_order(s->context, &desc, NULL, NULL, &estimate);
    start += now() - planning; /* the estimate is for the report and does not count as work */
    if (!status) status = gpuopt_elimination_create(s->context, &desc, &p->elimination);
    if (!status && d.conditions > 0) status = gpuopt_elimination_set_condition(p->elimination, GPUOPT_HOST, 0, d.given);
    free_draft(s, p, &d);
    eliminating = now();
    if (!status) status = eliminate(p->elimination, &info);
    s->answer->eliminate_seconds += now() - eliminating;
    if (!status && !(to = calloc((size_t)estimate.messages + 1, sizeof(part *)))) status = GPUOPT_ERROR_MEMORY;
    for (k = 0; k < estimate.messages && !status; k++) status = send_up(s, p, k, &to[k]);
    done = finish(s, p, now() - start);
    for (k = 0; k < estimate.messages && !status; k++)
        if (to[k] && done > to[k]->ready) to[k]->ready = done;
    free(to);
    free_inbox(p);
    if (status) return status;
    add_estimate(&s->answer->estimate, &estimate);
    if (p->up < 0) add_root(s, &info);
    if (estimate.messages != p->own) s->exact = 0;
    return GPUOPT_OK;
}

/* ---- Downwards: VALUE ---- */

/* Finds the values of the part's own variables from those that were decided before. room [2 * variables]. */
static gpuopt_status work_down(simulation *s, part *p, int32_t *room, int32_t *value) {
    agents_answer *answer = s->answer;
    gpuopt_elimination_assignment found;
    gpuopt_status status;
    double start = now();
    int32_t k, given = 0;
    gpuopt_desc_init(&found, sizeof found);
    for (k = 0; k < p->variables; k++) {
        int32_t v = p->name[k];
        room[k] = value[v];
        given += s->fixed[v] < 0 && s->part_of[v] != p - s->part;
    }
    status = gpuopt_elimination_assign(p->elimination, GPUOPT_HOST, 0, room, &found);
    if (status) return status;
    if (found.outcome == GPUOPT_INFEASIBLE) answer->assigned = 0;
    else
        for (k = 0; k < p->variables; k++) value[p->name[k]] = room[k];
    if (p->up >= 0 && s->part[p->up].agent != p->agent) {
        uint64_t bytes = 2 * sizeof(int32_t) * (uint64_t)given;
        answer->value_messages++;
        answer->value_bytes += bytes;
        if (bytes > answer->largest_bytes) answer->largest_bytes = bytes;
    }
    if (p->up >= 0 && s->part[p->up].ready > p->ready) p->ready = s->part[p->up].ready;
    p->ready = finish(s, p, now() - start);
    return GPUOPT_OK;
}

/* ---- All ---- */

static gpuopt_status allocate(simulation *s) {
    size_t n = (size_t)s->desc->variables + 1;
    s->part = calloc(n, sizeof *s->part);
    s->part_of = malloc(sizeof *s->part_of * n);
    s->position = malloc(sizeof *s->position * n);
    s->owned = malloc(sizeof *s->owned * n);
    s->local = malloc(sizeof *s->local * n);
    s->functions = malloc(sizeof *s->functions * ((size_t)s->desc->functions + 1));
    s->of_part = calloc(n + 1, sizeof *s->of_part);
    s->busy = calloc(n, sizeof *s->busy);
    return s->part && s->part_of && s->position && s->owned && s->local && s->functions && s->of_part && s->busy
               ? GPUOPT_OK
               : GPUOPT_ERROR_MEMORY;
}

static void release(simulation *s) {
    int32_t k;
    for (k = 0; k < s->parts; k++) {
        part *p = &s->part[k];
        gpuopt_elimination_destroy(p->elimination);
        free_inbox(p);
        free(p->name);
    }
    free(s->part);
    free(s->part_of);
    free(s->position);
    free(s->owned);
    free(s->local);
    free(s->functions);
    free(s->of_part);
    free(s->busy);
}

gpuopt_status agents_solve(gpuopt_context *context, const gpuopt_elimination_desc *desc, const int32_t *parent,
                           const int32_t *fixed, const int32_t *agent, int32_t *value, agents_answer *answer) {
    int32_t *room = malloc(sizeof *room * ((size_t)desc->variables + 1)), k;
    simulation s;
    gpuopt_status status;
    memset(answer, 0, sizeof *answer);
    memset(&s, 0, sizeof s);
    s.context = context;
    s.desc = desc;
    s.fixed = fixed;
    s.answer = answer;
    s.model = desc->model ? desc->model : 1;
    s.exact = 1;
    answer->info.count = 1;
    answer->info.outcome = GPUOPT_OPTIMAL;
    status = room ? allocate(&s) : GPUOPT_ERROR_MEMORY;
    if (!status) status = make_parts(&s, parent, agent);
    if (!status) share_functions(&s);
    answer->parts = s.parts;
    for (k = s.parts - 1; k >= 0 && !status; k--) status = work_up(&s, &s.part[k]);
    if (answer->info.outcome == GPUOPT_OPTIMAL && !s.exact) answer->info.outcome = GPUOPT_CONVERGED;
    answer->assigned = answer->info.outcome != GPUOPT_INFEASIBLE && desc->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP;
    for (k = 0; k < desc->variables; k++) value[k] = fixed[k] < 0 ? 0 : fixed[k];
    for (k = 0; k < s.parts && !status && answer->assigned; k++) status = work_down(&s, &s.part[k], room, value);
    release(&s);
    free(room);
    return status;
}
