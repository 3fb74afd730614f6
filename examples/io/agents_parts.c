/* SPDX-License-Identifier: MIT */
#include "examples/io/agents_parts.h"

#include <stdlib.h>

/* ---- Who does what ---- */

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Counts the agents among those that own a variable, and numbers the parts' agents from 0. */
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
        if (up >= 0 && agent[v] == agent[parent[v]]) {
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

/* ---- The model of a part ---- */

void free_draft(const simulation *s, const part *p, draft *d) {
    int64_t k; /* the part's own functions come first; their tables do not belong to the draft */
    for (k = s->of_part[p - s->part + 1] - s->of_part[p - s->part]; d->function && k < d->functions; k++) {
        free((void *)d->function[k].cost);
        free((void *)d->function[k].value);
        free((void *)d->function[k].count);
    }
    free(d->function);
    free(d->numbers);
    free(d->domain);
    free(d->order);
    free(d->condition);
    free(d->given);
}

void free_message(message *m) {
    if (m) free(m->name), free(m->bytes);
    free(m);
}

void free_inbox(part *p) {
    while (p->inbox) {
        message *next = p->inbox->next;
        free_message(p->inbox);
        p->inbox = next;
    }
}

/* The message's table as a dense function, with the names for a scope. */
static gpuopt_status unpack(const simulation *s, const message *m, gpuopt_elimination_function *f) {
    const gpuopt_elimination_desc *desc = s->desc;
    gpuopt_elimination_packed_info head;
    int32_t *ignored = malloc(sizeof *ignored * 2 * ((size_t)m->arity + 1)); /* the child's numbers, and domains */
    gpuopt_status status;
    gpuopt_desc_init(&head, sizeof head);
    f->arity = m->arity;
    f->scope = m->name;
    f->tuples = -1;
    status = ignored ? gpuopt_elimination_message_inspect(s->context, m->bytes, m->size, &head) : GPUOPT_ERROR_MEMORY;
    if (!status) {
        size_t entries = (size_t)head.entries;
        int64_t *cost = desc->type == GPUOPT_COST_INT64 ? malloc(entries * sizeof *cost) : NULL;
        double *value = desc->type == GPUOPT_COST_DOUBLE ? malloc(entries * sizeof *value) : NULL;
        uint64_t *count = desc->semiring == GPUOPT_SEMIRING_MIN_COUNT ? malloc(entries * sizeof *count) : NULL;
        f->cost = cost;
        f->value = value;
        f->count = count;
        if ((!cost && !value) || (!count && desc->semiring == GPUOPT_SEMIRING_MIN_COUNT)) status = GPUOPT_ERROR_MEMORY;
        else
            status = gpuopt_elimination_message_unpack(s->context, s->model, m->bytes, m->size, ignored,
                                                       ignored + m->arity, cost, value, count);
    }
    free(ignored);
    return status;
}

/* Adds those variables that the part does not have yet; room: the size of p->name. */
static int add_names(simulation *s, part *p, int32_t count, const int32_t *variable, int64_t *room) {
    int32_t k;
    for (k = 0; k < count; k++) {
        if (s->local[variable[k]] >= 0) continue;
        if (p->variables == *room) {
            int32_t *more = realloc(p->name, sizeof *more * (size_t)(2 * *room + 16));
            if (!more) return -1;
            p->name = more;
            *room = 2 * *room + 16;
        }
        s->local[variable[k]] = 0; /* any number: marks it as known */
        p->name[p->variables++] = variable[k];
    }
    return 0;
}

gpuopt_status make_draft(simulation *s, part *p, draft *d) {
    const gpuopt_elimination_desc *desc = s->desc;
    int64_t from = s->of_part[p - s->part], own = s->of_part[p - s->part + 1] - from, room = 0, arities = 0, used = 0;
    gpuopt_status status = GPUOPT_OK;
    const message *m;
    int32_t k, j;
    int failed = add_names(s, p, p->own, s->owned + p->first, &room);
    d->functions = (int32_t)own;
    for (m = p->inbox; m; m = m->next) d->functions++;
    d->function = calloc((size_t)d->functions + 1, sizeof *d->function);
    if (!d->function) return GPUOPT_ERROR_MEMORY;
    for (k = 0; k < own; k++) d->function[k] = desc->function[s->functions[from + k]];
    for (m = p->inbox; m && !status; m = m->next) status = unpack(s, m, &d->function[k++]);
    if (status) return status;
    for (k = 0; k < d->functions && !failed; k++) {
        failed = add_names(s, p, d->function[k].arity, d->function[k].scope, &room);
        arities += d->function[k].arity;
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
    for (k = 0; k < d->functions; k++) {
        int32_t *scope = d->numbers + used;
        for (j = 0; j < d->function[k].arity; j++) scope[j] = s->local[d->function[k].scope[j]];
        d->function[k].scope = scope;
        used += j;
    }
    for (k = 0; k < p->variables; k++) s->local[p->name[k]] = -1;
    return GPUOPT_OK;
}
