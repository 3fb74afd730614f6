/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "examples/io/agents_parts.h"

#include <stdlib.h>
#include <string.h>

#include "examples/common.h"

/* ---- Memory ---- */

gpuopt_status agents_allocate(simulation *s) {
    size_t n = (size_t)s->desc->variables + 1;
    s->part = calloc(n, sizeof *s->part);
    s->part_of = malloc(sizeof *s->part_of * n);
    s->position = malloc(sizeof *s->position * n);
    s->owned = malloc(sizeof *s->owned * n);
    s->local = malloc(sizeof *s->local * n);
    s->functions = malloc(sizeof *s->functions * ((size_t)s->desc->functions + 1));
    s->of_part = calloc(n + 1, sizeof *s->of_part);
    s->busy = calloc(n, sizeof *s->busy);
    s->need = calloc(n, sizeof *s->need);
    return s->part && s->part_of && s->position && s->owned && s->local && s->functions && s->of_part && s->busy &&
                   s->need
               ? GPUOPT_OK
               : GPUOPT_ERROR_MEMORY;
}

void agents_release(simulation *s) {
    int32_t k;
    for (k = 0; k < s->parts; k++) {
        part *p = &s->part[k];
        gpuopt_elimination_destroy(p->elimination);
        free_messages(p->inbox);
        free(p->name);
        free(s->need[k].name);
    }
    free(s->part);
    free(s->part_of);
    free(s->position);
    free(s->owned);
    free(s->local);
    free(s->functions);
    free(s->of_part);
    free(s->busy);
    free(s->need);
}

/* ---- Division of work ---- */

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Counts the agents that own a variable, and numbers the parts' agents from 0. */
static gpuopt_status number_agents(simulation *s) {
    int32_t *number = malloc(sizeof *number * ((size_t)s->parts + 1)), count = 0, k;
    if (!number) return GPUOPT_ERROR_MEMORY;
    for (k = 0; k < s->parts; k++) number[k] = s->part[k].agent;
    qsort(number, (size_t)s->parts, sizeof *number, by_number);
    for (k = 0; k < s->parts; k++)
        if (k == 0 || number[k] != number[count - 1]) number[count++] = number[k];
    for (k = 0; k < s->parts; k++) {
        int32_t *found = bsearch(&s->part[k].agent, number, (size_t)count, sizeof *number, by_number);
        s->part[k].agent = (int32_t)(found - number);
    }
    s->answer->agents = count;
    free(number);
    return GPUOPT_OK;
}

gpuopt_status make_parts(simulation *s, const int32_t *parent, const int32_t *agent) {
    const gpuopt_elimination_desc *desc = s->desc;
    int32_t k, v;
    int64_t at = 0;
    for (v = 0; v < desc->variables; v++) {
        s->part_of[v] = s->local[v] = -1;
        s->position[v] = INT32_MAX;
    }
    for (k = desc->order_count - 1; k >= 0; k--) {
        int32_t up;
        v = desc->order[k];
        s->position[v] = k;
        up = parent[v] >= 0 ? s->part_of[parent[v]] : -1;
        if (up >= 0 && agent[v] == agent[parent[v]] && desc->policy != GPUOPT_POLICY_MINI_BUCKET) {
            s->part_of[v] = up;
        } else {
            s->part[s->parts].agent = agent[v];
            s->part[s->parts].up = up;
            s->part_of[v] = s->parts++;
        }
        s->part[s->part_of[v]].own++;
    }
    if (s->parts == 0) s->part[s->parts++].up = -1; /* all variables have evidence: one part adds up the constants */
    for (k = 0; k < s->parts; k++) {
        s->part[k].first = at;
        at += s->part[k].own;
        s->part[k].own = 0;
    }
    for (k = 0; k < desc->order_count; k++) {
        part *p = &s->part[s->part_of[desc->order[k]]];
        s->owned[p->first + p->own++] = desc->order[k];
    }
    return number_agents(s);
}

int32_t meets_first(const simulation *s, int32_t arity, const int32_t *variable, int32_t otherwise) {
    int32_t k, best = -1;
    for (k = 0; k < arity; k++)
        if (best < 0 || s->position[variable[k]] < s->position[best]) best = variable[k];
    return best >= 0 && s->part_of[best] >= 0 ? s->part_of[best] : otherwise;
}

void share_functions(simulation *s) {
    const gpuopt_elimination_desc *desc = s->desc;
    int32_t k;
    for (k = 0; k < desc->functions; k++)
        s->of_part[meets_first(s, desc->function[k].arity, desc->function[k].scope, 0) + 1]++;
    for (k = 0; k < s->parts; k++) s->of_part[k + 1] += s->of_part[k];
    for (k = desc->functions - 1; k >= 0; k--) { /* from the back: of_part[p + 1] goes down to where p begins */
        int32_t p = meets_first(s, desc->function[k].arity, desc->function[k].scope, 0);
        s->functions[--s->of_part[p + 1]] = k;
    }
    for (k = 0; k < s->parts; k++) s->of_part[k] = s->of_part[k + 1];
    s->of_part[s->parts] = desc->functions;
}

/* Notes that the part needs this variable. Returns 1, 0 if that was noted before, or -1 without memory. */
static int add_need(needs *n, int32_t variable) {
    int32_t k;
    for (k = 0; k < n->count; k++)
        if (n->name[k] == variable) return 0;
    if (n->count == n->capacity) {
        int32_t *more = realloc(n->name, sizeof *more * (size_t)(2 * n->capacity + 8));
        if (!more) return -1;
        n->name = more;
        n->capacity = 2 * n->capacity + 8;
    }
    n->name[n->count++] = variable;
    return 1;
}

gpuopt_status find_needs(simulation *s) {
    const gpuopt_elimination_desc *desc = s->desc;
    int32_t f, k, p;
    for (f = 0; f < desc->functions; f++) {
        int32_t first = meets_first(s, desc->function[f].arity, desc->function[f].scope, -1);
        for (k = 0; k < desc->function[f].arity; k++) {
            int32_t v = desc->function[f].scope[k], added = 1;
            if (s->part_of[v] < 0) continue; /* it has evidence */
            for (p = first; p >= 0 && p != s->part_of[v] && added == 1; p = s->part[p].up)
                added = add_need(&s->need[p], v);
            if (added < 0) return GPUOPT_ERROR_MEMORY;
        }
    }
    return GPUOPT_OK;
}

/* ---- The model of a part ---- */

void free_draft(draft *d) {
    free(d->function);
    free(d->message);
    free(d->numbers);
    free(d->domain);
    free(d->order);
    free(d->condition);
    free(d->given);
}

/* Adds the variables that the part does not have yet; room: the size of p->name. */
static int add_names(simulation *s, part *p, int32_t count, const int32_t *variable, int64_t *capacity) {
    int32_t k;
    for (k = 0; k < count; k++) {
        if (s->local[variable[k]] >= 0) continue;
        if (p->variables == *capacity) {
            int32_t *more = realloc(p->name, sizeof *more * (size_t)(2 * *capacity + 16));
            if (!more) return -1;
            p->name = more;
            *capacity = 2 * *capacity + 16;
        }
        s->local[variable[k]] = 0; /* any number: marks it as known */
        p->name[p->variables++] = variable[k];
    }
    return 0;
}

/* The next table of the list that is for this part, from m on; NULL: none. */
static const message *for_part(const simulation *s, const part *p, const message *m) {
    while (m && m->to != p - s->part) m = m->next;
    return m;
}

/* A scope in the numbers of the handle under construction, appended to `numbers`. */
static const int32_t *in_numbers(const simulation *s, int32_t arity, const int32_t *scope, int32_t *numbers,
                                 int64_t *used) {
    int32_t *to = numbers + *used, j;
    for (j = 0; j < arity; j++) to[j] = s->local[scope[j]];
    *used += arity;
    return to;
}

gpuopt_status make_draft(simulation *s, part *p, draft *d) {
    const gpuopt_elimination_desc *desc = s->desc;
    int64_t from = s->of_part[p - s->part], own = s->of_part[p - s->part + 1] - from, capacity = 0, arities = 0,
            used = 0;
    const message *m;
    int32_t k;
    int failed = add_names(s, p, p->own, s->owned + p->first, &capacity);
    d->functions = (int32_t)own;
    for (m = for_part(s, p, p->inbox); m; m = for_part(s, p, m->next)) d->messages++;
    d->function = calloc((size_t)d->functions + 1, sizeof *d->function);
    d->message = calloc((size_t)d->messages + 1, sizeof *d->message);
    if (!d->function || !d->message) return GPUOPT_ERROR_MEMORY;
    for (k = 0; k < own; k++) d->function[k] = desc->function[s->functions[from + k]];
    for (k = 0; k < own && !failed; k++) {
        failed = add_names(s, p, d->function[k].arity, d->function[k].scope, &capacity);
        arities += d->function[k].arity;
    }
    for (m = for_part(s, p, p->inbox), k = 0; m && !failed; m = for_part(s, p, m->next), k++) {
        const gpuopt_elimination_packed packed = {m->bytes, m->size, m->memory->where, m->arity, m->name};
        d->message[k] = packed;
        failed = add_names(s, p, m->arity, m->name, &capacity);
        arities += m->arity;
    }
    d->numbers = malloc(sizeof *d->numbers * ((size_t)arities + 1));
    d->domain = malloc(sizeof *d->domain * ((size_t)p->variables + 1));
    d->order = malloc(sizeof *d->order * ((size_t)p->own + 1));
    d->condition = malloc(sizeof *d->condition * ((size_t)p->variables + 1));
    d->given = malloc(sizeof *d->given * ((size_t)p->variables + 1));
    if (failed || !d->numbers || !d->domain || !d->order || !d->condition || !d->given) return GPUOPT_ERROR_MEMORY;
    if (p->variables > 0) qsort(p->name, (size_t)p->variables, sizeof *p->name, by_number);
    for (k = 0; k < p->variables; k++) {
        int32_t v = p->name[k];
        s->local[v] = k;
        d->domain[k] = desc->domain[v];
        if (s->fixed[v] < 0) continue;
        d->condition[d->conditions] = k;
        d->given[d->conditions++] = s->fixed[v];
    }
    for (k = 0; k < p->own; k++) d->order[k] = s->local[s->owned[p->first + k]];
    for (k = 0; k < d->functions; k++)
        d->function[k].scope = in_numbers(s, d->function[k].arity, d->function[k].scope, d->numbers, &used);
    for (k = 0; k < d->messages; k++)
        d->message[k].scope = in_numbers(s, d->message[k].arity, d->message[k].scope, d->numbers, &used);
    for (k = 0; k < p->variables; k++) s->local[p->name[k]] = -1;
    return GPUOPT_OK;
}

/* ---- The work of a part ---- */

void add_estimate(gpuopt_elimination_estimate *sum, const gpuopt_elimination_estimate *e) {
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

static gpuopt_status eliminate(gpuopt_elimination *elimination, gpuopt_elimination_info *info) {
    gpuopt_status status = gpuopt_elimination_get_info(elimination, 0, info);
    while (!status && info->outcome == GPUOPT_MORE) status = gpuopt_elimination_step(elimination, INT32_MAX, info);
    return status;
}

void add_root(const simulation *s, gpuopt_elimination_info *sum, const gpuopt_elimination_info *info) {
    const int64_t top = s->desc->top;
    if (info->outcome == GPUOPT_INFEASIBLE || sum->outcome == GPUOPT_INFEASIBLE ||
        (top && info->cost >= top - sum->cost)) {
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

gpuopt_status eliminate_part(simulation *s, part *p, gpuopt_elimination_estimate *estimate,
                             gpuopt_elimination_info *info, double *start) {
    gpuopt_elimination_desc desc = *s->desc;
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    draft d;
    double planning, eliminating;
    gpuopt_status status;
    memset(&d, 0, sizeof d);
    gpuopt_desc_init(estimate, sizeof *estimate);
    gpuopt_desc_init(info, sizeof *info);
    status = make_draft(s, p, &d);
    desc.variables = p->variables;
    desc.domain = d.domain;
    desc.functions = d.functions;
    desc.function = d.function;
    messages.packed = d.message;
    messages.count = d.messages;
    messages.model = s->model;
    desc.messages = &messages;
    desc.order = d.order;
    desc.order_count = p->own;
    desc.evidence = d.condition;
    desc.evidence_count = d.conditions;
    planning = now();
    if (!status) status = gpuopt_elimination_order(s->context, &desc, NULL, NULL, estimate);
    *start += now() - planning;
    if (!status) status = gpuopt_elimination_create(s->context, &desc, NULL, &p->elimination);
    if (!status && d.conditions > 0) status = gpuopt_elimination_set_evidence(p->elimination, GPUOPT_HOST, 0, d.given);
    free_draft(&d);
    eliminating = now();
    if (!status) status = eliminate(p->elimination, info);
    s->answer->eliminate_seconds += now() - eliminating;
    if (status) return status;
    add_estimate(&s->answer->estimate, estimate);
    if (p->up < 0) add_root(s, &s->answer->info, info);
    if (estimate->messages != p->own) s->exact = 0;
    return GPUOPT_OK;
}
