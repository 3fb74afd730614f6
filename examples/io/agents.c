/* SPDX-License-Identifier: MIT */
#include "examples/io/agents.h"

#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/agents_parts.h"

/* ---- Upwards: UTIL ---- */

/* The time at which a part is done after this much work. */
static double finish(simulation *s, const part *p, double work) {
    double *busy = &s->busy[p->agent], done = (*busy > p->ready ? *busy : p->ready) + work;
    *busy = done;
    s->answer->work_seconds += work;
    if (done > s->answer->simulated_seconds) s->answer->simulated_seconds = done;
    return done;
}

/* Makes the handle of the part, eliminates, and sends the UTIL message. */
static gpuopt_status work_up(simulation *s, part *p) {
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_info info;
    double start = now(), done;
    part *up = p->up < 0 ? NULL : &s->part[p->up];
    message *tables = NULL;
    gpuopt_status status = eliminate_part(s, p, &estimate, &info, &start);
    if (!status) status = make_util(s, p, estimate.messages, &tables);
    done = finish(s, p, now() - start);
    if (status || !up) {
        free_messages(tables);
        return status;
    }
    if (up->agent != p->agent) count_util(s->answer, tables);
    if (done > up->ready) up->ready = done;
    deliver(s, tables);
    return GPUOPT_OK;
}

/* ---- Downwards: VALUE ---- */

/* Finds the values of the part's own variables from the values decided before. room [2 * variables]. */
static gpuopt_status work_down(simulation *s, part *p, int32_t *capacity, int32_t *value) {
    agents_answer *answer = s->answer;
    gpuopt_elimination_assignment found;
    gpuopt_status status;
    double start = now();
    int32_t k;
    gpuopt_desc_init(&found, sizeof found);
    for (k = 0; k < p->variables; k++) capacity[k] = value[p->name[k]];
    status = gpuopt_elimination_assign(p->elimination, GPUOPT_HOST, 0, capacity, &found);
    if (status) return status;
    if (found.outcome == GPUOPT_MORE) answer->info.outcome = GPUOPT_CONVERGED; /* stopped: there is no assignment */
    if (found.outcome == GPUOPT_MORE || found.outcome == GPUOPT_INFEASIBLE) answer->assigned = 0;
    else
        for (k = 0; k < p->variables; k++) value[p->name[k]] = capacity[k];
    if (p->up >= 0 && s->part[p->up].agent != p->agent) {
        uint64_t bytes = 2 * sizeof(int32_t) * (uint64_t)s->need[p - s->part].count;
        answer->value_messages++;
        answer->value_bytes += bytes;
        if (bytes > answer->largest_bytes) answer->largest_bytes = bytes;
    }
    if (p->up >= 0 && s->part[p->up].ready > p->ready) p->ready = s->part[p->up].ready;
    p->ready = finish(s, p, now() - start);
    return GPUOPT_OK;
}

/* ---- All ---- */

gpuopt_status agents_solve(gpuopt_context *context, const gpuopt_elimination_desc *desc, const int32_t *parent,
                           const int32_t *fixed, const int32_t *agent, int32_t *value, agents_answer *answer) {
    int32_t *capacity = malloc(sizeof *capacity * ((size_t)desc->variables + 1)), k;
    simulation s;
    gpuopt_status status;
    memset(answer, 0, sizeof *answer);
    memset(&s, 0, sizeof s);
    s.context = context;
    s.desc = desc;
    s.fixed = fixed;
    s.memory = &agents_host;
    s.answer = answer;
    s.model = desc->messages && desc->messages->model ? desc->messages->model : 1;
    s.exact = 1;
    answer->info.count = 1;
    answer->info.outcome = GPUOPT_OPTIMAL;
    status = capacity ? agents_allocate(&s) : GPUOPT_ERROR_MEMORY;
    if (!status) status = make_parts(&s, parent, agent);
    if (!status) share_functions(&s);
    if (!status) status = find_needs(&s);
    answer->parts = s.parts;
    for (k = s.parts - 1; k >= 0 && !status && !interrupted(NULL); k--) status = work_up(&s, &s.part[k]);
    if (k >= 0) answer->info.outcome = GPUOPT_MORE;
    if (answer->info.outcome == GPUOPT_OPTIMAL && !s.exact) answer->info.outcome = GPUOPT_CONVERGED;
    answer->assigned = answer->info.outcome != GPUOPT_INFEASIBLE && answer->info.outcome != GPUOPT_MORE &&
                       desc->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP;
    for (k = 0; k < desc->variables; k++) value[k] = fixed[k] < 0 ? 0 : fixed[k];
    for (k = 0; k < s.parts && !status && answer->assigned; k++) status = work_down(&s, &s.part[k], capacity, value);
    agents_release(&s);
    free(capacity);
    return status;
}
