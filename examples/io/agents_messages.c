/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "examples/io/agents_parts.h"

/* ---- Memory ---- */

const agents_memory agents_host = {GPUOPT_HOST, malloc, free};

void free_messages(message *list) {
    while (list) {
        message *next = list->next;
        if (list->bytes) list->memory->release(list->bytes);
        free(list->name);
        free(list);
        list = next;
    }
}

/* ---- UTIL messages ---- */

void count_util(agents_answer *answer, const message *tables) {
    uint64_t bytes = 0;
    for (; tables; tables = tables->next) bytes += tables->size + sizeof *tables->name * (uint64_t)tables->arity;
    answer->util_messages++;
    answer->util_bytes += bytes;
    if (bytes > answer->largest_bytes) answer->largest_bytes = bytes;
}

void deliver(simulation *s, message *tables) {
    while (tables) {
        message *next = tables->next, **at = &s->part[tables->via].inbox;
        while (*at && (*at)->position <= tables->position) at = &(*at)->next;
        tables->next = *at;
        *at = tables;
        tables = next;
    }
}

/* Packs message `number` of the part; *packed is NULL if it does not leave the part. */
static gpuopt_status pack_message(const simulation *s, const part *p, int32_t number, message **packed) {
    gpuopt_elimination_message_info info;
    gpuopt_status status;
    message *m;
    int32_t k, root;
    *packed = NULL;
    gpuopt_desc_init(&info, sizeof info);
    status = gpuopt_elimination_message_get_info(p->elimination, number, &info);
    if (status || info.parent >= 0 || p->up < 0) return status;
    m = calloc(1, sizeof *m);
    if (!m) return GPUOPT_ERROR_MEMORY;
    m->memory = s->memory;
    m->arity = info.arity;
    m->position = s->position[p->name[info.variable]];
    m->name = malloc(sizeof *m->name * ((size_t)info.arity + 1));
    status = gpuopt_elimination_message_pack(p->elimination, m->memory->where, number, 0, NULL, 0, &m->size);
    if (!status) m->bytes = m->memory->allocate((size_t)m->size);
    if (!status && (!m->bytes || !m->name)) status = GPUOPT_ERROR_MEMORY;
    if (!status)
        status =
            gpuopt_elimination_message_pack(p->elimination, m->memory->where, number, 0, m->bytes, m->size, &m->size);
    if (status) {
        free_messages(m);
        return status;
    }
    for (k = 0; k < info.arity; k++) m->name[k] = p->name[info.scope[k]];
    for (root = p->up; s->part[root].up >= 0;) root = s->part[root].up;
    m->to = meets_first(s, m->arity, m->name, root);
    *packed = m;
    return GPUOPT_OK;
}

gpuopt_status make_util(const simulation *s, part *p, int32_t messages, message **tables) {
    message **at = &p->inbox, **end = tables, *m;
    gpuopt_status status = GPUOPT_OK;
    int32_t k;
    *tables = NULL;
    while (*at) {
        if ((*at)->to == p - s->part) {
            at = &(*at)->next;
            continue;
        }
        *end = *at; /* forwarded */
        *at = (*end)->next;
        end = &(*end)->next;
        *end = NULL;
    }
    for (k = 0; k < messages && !status; k++) {
        status = pack_message(s, p, k, &m);
        *end = m;
        if (m) end = &m->next;
    }
    for (m = *tables; m; m = m->next) m->via = p->up;
    free_messages(p->inbox);
    p->inbox = NULL;
    return status;
}
