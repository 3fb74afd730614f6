/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#include "examples/wcsp_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const heuristics[] = {"best", "min-fill", "weighted-min-fill", "min-degree", NULL};

static int allocate_problem(problem *p, wcsp_answer *a) {
    size_t n = (size_t)p->model.variables + 1;
    p->fixed = malloc(sizeof(int32_t) * n);
    p->agent = malloc(sizeof(int32_t) * n);
    p->condition = malloc(sizeof(int32_t) * n);
    p->given = malloc(sizeof(int32_t) * n);
    p->order = malloc(sizeof(int32_t) * n);
    p->parent = malloc(sizeof(int32_t) * n);
    p->reduced = malloc(sizeof(int32_t) * n);
    a->value = calloc(n, sizeof(int32_t));
    return p->fixed && p->agent && p->condition && p->given && p->order && p->parent && p->reduced && a->value ? 0 : -1;
}

void free_problem(problem *p, wcsp_answer *a) {
    graphical_free(&p->model);
    graphical_merge_free(&p->merge);
    free(p->fixed);
    free(p->agent);
    free(p->condition);
    free(p->given);
    free(p->order);
    free(p->parent);
    free(p->reduced);
    free(a->value);
}

/* A task that does not fit the model's kind. */
static int check_task(const options *o, const graphical_model *model, task task, char *error, size_t error_size) {
    if (o->certificate && model->type == GPUOPT_COST_DOUBLE) {
        snprintf(error, error_size, "%s: --certificate is for whole costs", o->model);
        return -1;
    }
    if (o->certificate && model->rewritten) {
        snprintf(error, error_size, "%s: --certificate is for .wcsp files without functions in intention", o->model);
        return -1;
    }
    if (task == TASK_MIN || (task == TASK_LOGZ) == (model->type == GPUOPT_COST_DOUBLE)) return 0;
    snprintf(error, error_size, "%s: --task %s is for %s", o->model, o->task,
             task == TASK_LOGZ ? "factors (.uai)" : "whole costs (.wcsp, .cfn and generated models)");
    return -1;
}

void expand_values(const problem *p, int32_t *value) {
    if (p->merge.first) graphical_merge_expand(&p->merge, value);
}

/* Sets the descriptor's model: certificates are about the file's model, all else about the model with merged values. */
static int describe(const options *o, problem *p, const wcsp_answer *a) {
    gpuopt_elimination_desc *desc = &p->desc;
    const graphical_model *model = &p->model;
    if (!o->certificate && graphical_merge_values(model, p->fixed, a->task == TASK_COUNT, &p->merge) < 0) return -1;
    if (p->merge.first) model = &p->merge.model;
    desc->variables = model->variables;
    desc->domain = model->domain;
    desc->functions = model->functions;
    desc->function = model->function;
    desc->type = model->type;
    desc->top = model->top;
    return 0;
}

int load_problem(const options *o, problem *p, wcsp_answer *a, char *error, size_t error_size) {
    graphical_model *model = &p->model;
    gpuopt_elimination_desc *desc = &p->desc;
    int32_t k;
    int heuristic = choice(o->order, heuristics);
    if (graphical_load(o->model, o->hard, model, error, error_size)) return -1;
    if (allocate_problem(p, a)) {
        snprintf(error, error_size, "%s: out of memory", o->model);
        return -1;
    }
    if (check_task(o, model, a->task, error, error_size)) return -1;
    if (model->type == GPUOPT_COST_DOUBLE) graphical_take_logs(model, a->task == TASK_LOGZ ? 1 : -1);
    for (k = 0; k < model->variables; k++) p->fixed[k] = -1, p->agent[k] = graphical_named(model, k);
    if (o->evidence && graphical_read_evidence(o->evidence, model, p->fixed, error, error_size)) return -1;
    if (o->agents && strcmp(o->agents, "each") != 0 &&
        graphical_read_agents(o->agents, model, p->agent, error, error_size))
        return -1;
    gpuopt_desc_init(desc, sizeof *desc);
    gpuopt_desc_init(&p->search, sizeof p->search);
    gpuopt_desc_init(&p->memory, sizeof p->memory);
    desc->order_search = &p->search;
    desc->memory = &p->memory;
    if (heuristic < 0) {
        if (graphical_read_order(o->order, model, p->fixed, p->order, error, error_size)) return -1;
        desc->order = p->order;
    } else {
        p->search.heuristic = (gpuopt_elimination_heuristic)heuristic;
    }
    if (describe(o, p, a)) {
        snprintf(error, error_size, "%s: out of memory", o->model);
        return -1;
    }
    for (k = 0; k < model->variables; k++) {
        if (p->fixed[k] >= 0) {
            p->given[desc->evidence_count] = graphical_merge_find(&p->merge, k, p->fixed[k]);
            p->condition[desc->evidence_count++] = k;
        } else if (desc->order) {
            desc->order_count++;
        }
    }
    desc->evidence = p->condition;
    desc->semiring = a->task == TASK_LOGZ    ? GPUOPT_SEMIRING_LOG_SUM_EXP
                     : a->task == TASK_COUNT ? GPUOPT_SEMIRING_MIN_COUNT
                                             : GPUOPT_SEMIRING_MIN_SUM;
    p->search.restarts = (int32_t)o->restarts;
    p->search.seconds = o->order_seconds;
    p->search.work = o->order_work;
    p->search.seed = (uint64_t)o->seed;
    desc->policy = (gpuopt_elimination_policy)choice(o->policy, policies);
    desc->z = (int32_t)o->z;
    return 0;
}

uint64_t most_host_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 * 3 : 0;
}

/* ---- Results ---- */

static int near(double a, double b) { return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)); }

int check_answer(const options *o, const problem *p, const wcsp_answer *a) {
    const char *fault = NULL;
    int64_t cost;
    double real;
    int permitted;
    int32_t k;
    if (!a->assigned) return 0;
    for (k = 0; k < p->model.variables && !fault; k++)
        if (a->value[k] < 0 || a->value[k] >= p->model.domain[k] || (p->fixed[k] >= 0 && a->value[k] != p->fixed[k]))
            fault = "a value is outside of its domain, or against the evidence";
    if (!fault) {
        int real_costs = p->model.type == GPUOPT_COST_DOUBLE;
        graphical_cost(&p->model, a->value, &permitted, &cost, &real);
        if (!permitted) fault = "the assignment is forbidden";
        else if (real_costs ? !near(real, a->real) : cost != a->cost) fault = "the assignment costs something else";
        else if (real_costs ? real < a->info.value && !near(real, a->info.value) : cost < a->info.cost)
            fault = "the assignment costs less than the lower bound";
        else if (a->exact && (real_costs ? !near(real, a->info.value) : cost != a->info.cost))
            fault = "the bounds differ, and should be proven equal";
    }
    if (fault) fprintf(stderr, "%s: the answer does not hold on the model: %s\n", o->model, fault);
    return fault ? -1 : 0;
}

/* ---- Plans ---- */

gpuopt_status plan_policies(gpuopt_context *context, problem *p, log_printer *printer, wcsp_answer *a) {
    const int count = sizeof a->plan / sizeof *a->plan;
    gpuopt_elimination_desc desc = p->desc;
    gpuopt_elimination_memory memory = *p->desc.memory;
    const uint64_t limit = memory.bytes;
    gpuopt_status status = GPUOPT_OK;
    int k;
    desc.memory = &memory;
    a->chosen = 0;
    for (k = 0; k < count && !status; k++) {
        wcsp_plan *plan = &a->plan[k];
        plan->estimate.struct_size = sizeof plan->estimate;
        desc.policy = (gpuopt_elimination_policy)k;
        /* These have one plan each, for any limit; the others' plans depend on it. */
        plan->limited = k != GPUOPT_POLICY_EXACT && k != GPUOPT_POLICY_DROP;
        memory.bytes = plan->limited ? limit : UINT64_MAX / 2;
        desc.z = k == GPUOPT_POLICY_MINI_BUCKET ? p->desc.z : 0;
        printer->quiet = 1; /* it logs policies that do not fit */
        status = gpuopt_elimination_order(context, &desc, NULL, NULL, &plan->estimate);
        printer->quiet = 0;
        plan->known = !status;
        if (status == GPUOPT_ERROR_UNSUPPORTED) status = GPUOPT_OK;
        if (!plan->known) continue;
        plan->bytes = plan->estimate.policy_bytes[plan->estimate.policy];
        plan->fits = plan->limited || !limit || plan->bytes <= limit;
    }
    if (a->plan[p->desc.policy].known && a->plan[p->desc.policy].fits)
        a->chosen = a->plan[p->desc.policy].estimate.policy;
    a->limit = limit;
    return status;
}
