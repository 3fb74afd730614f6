/* SPDX-License-Identifier: MIT
 *
 * Solves a weighted CSP or another graphical model by bucket elimination: reads a .wcsp, .cfn or .uai file or builds a
 * model, and eliminates in a loop as a caller would. Prints the result, and checks the assignment against the model.
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/solve_wcsp.c examples/wcsp_[gopr]*.c examples/co*.c examples/interrupt.c examples/ranks.c \
 *         examples/io/agents*.c examples/io/c*.c examples/io/global*.c examples/io/graphical*.c examples/io/names.c \
 *         examples/io/t*.c examples/io/uai.c examples/io/wcsp.c transports/gpuopt_threads.c gpuopt_impl/gpuopt.c \
 *         -pthread -lz -llzma -lm -o solve_wcsp
 * Reads: *.wcsp *.wcsp.gz *.wcsp.xz *.cfn *.cfn.gz *.cfn.xz *.uai *.uai.gz *.uai.xz random:* scalefree:* grid:*
 * Try: random:18:10:0.3:1
 * Try: random:18:10:0.3:1 --z 3
 * Try: random:18:10:0.3:1 --z 3 --relax 10
 * Try: random:18:10:0.3:1 --plan
 * Try: grid:10:4:1
 * Try: grid:10:4:1 --z 3
 * Try: grid:10:4:1 --reduce
 * Try: scalefree:30:4:1 --agents each --backend cpu
 * Try: random:18:10:0.3:1 --ranks 2 --backend cpu
 * Try: random:20:10:0.3:1 --backend cuda
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/common.h"
#include "examples/counted.h"
#include "examples/io/certificate.h"
#include "examples/ranks.h"
#include "examples/wcsp_greedy.h"
#include "examples/wcsp_problem.h"
#include "examples/wcsp_report.h"

/* ---- The loop ---- */

/* Eliminates one variable at a time on a terminal, and overwrites a line of progress. Otherwise all variables are
 * eliminated in one call, which is faster: independent buckets are computed together. */
static gpuopt_status eliminate(gpuopt_elimination *elimination, const options *o, wcsp_answer *a) {
    int watched = !o->json && o->ranks == 1 && progress_is_seen();
    double start = now();
    gpuopt_status status = gpuopt_elimination_get_info(elimination, 0, &a->info);
    while (!status && a->info.outcome == GPUOPT_MORE) {
        status = gpuopt_elimination_step(elimination, watched ? 1 : INT32_MAX, &a->info);
        if (!watched || interrupted(NULL)) break; /* if it is not done, it was stopped */
        progress("%lld of %lld eliminations, the last one of variable %d, %.1f s", (long long)a->info.eliminated,
                 (long long)a->info.steps, (int)a->info.variable, now() - start);
    }
    progress_end();
    a->eliminate_seconds = now() - start;
    return status;
}

static int write_certificate(const options *o, const problem *p, const wcsp_answer *a,
                             gpuopt_elimination *elimination) {
    gpuopt_outcome outcome = a->exact && a->assigned          ? GPUOPT_OPTIMAL
                             : a->info.outcome == GPUOPT_MORE ? GPUOPT_LIMIT
                                                              : a->info.outcome;
    if (outcome == GPUOPT_LIMIT) elimination = NULL; /* there are not all messages */
    return certificate_elimination(o->certificate, elimination, &p->desc, p->given, outcome, a->info.cost, a->cost,
                                   a->assigned ? a->value : NULL);
}

/* Takes an assignment of the eliminated model: maps it back if that is a reduced model. */
static gpuopt_status take_values(problem *p, const int32_t *value, wcsp_answer *a) {
    gpuopt_status status = GPUOPT_OK;
    a->assigned = 1;
    if (p->reduction) status = gpuopt_elimination_preprocessing_postsolve(p->reduction, value, a->value);
    else memcpy(a->value, value, sizeof *value * (size_t)p->model.variables);
    if (!status) expand_values(p, a->value);
    return status;
}

static gpuopt_status solve_centrally(gpuopt_context *context, const options *o, problem *p, wcsp_answer *a) {
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_assignment found;
    gpuopt_status status = gpuopt_elimination_order(context, &p->desc, NULL, NULL, &a->estimate);
    gpuopt_desc_init(&found, sizeof found);
    if (!status) status = gpuopt_elimination_create(context, &p->desc, NULL, &elimination);
    if (!status && p->desc.evidence_count > 0)
        status = gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, 0, p->given);
    if (!status) status = eliminate(elimination, o, a);
    a->exact = a->info.outcome == GPUOPT_OPTIMAL;
    a->info.cost += a->reduction.offset;
    if (!status && a->task != TASK_LOGZ && a->info.outcome != GPUOPT_INFEASIBLE && a->info.outcome != GPUOPT_MORE) {
        status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, p->reduced, &found);
        if (!status && found.outcome != GPUOPT_INFEASIBLE && found.outcome != GPUOPT_MORE)
            status = take_values(p, p->reduced, a);
        a->exact = found.outcome == GPUOPT_OPTIMAL; /* mini-buckets, too, when the bounds meet */
        a->cost = found.cost + a->reduction.offset;
        a->real = found.value;
    }
    if (!status && o->certificate) {
        /* With mini-buckets there are several messages a variable, with slices the last slice's, and else none. */
        int whole = a->estimate.policy == GPUOPT_POLICY_EXACT || a->estimate.policy == GPUOPT_POLICY_STREAM;
        a->unwritten = write_certificate(o, p, a, whole ? elimination : NULL);
    }
    gpuopt_elimination_destroy(elimination);
    return status;
}

/* Shifts costs between mini-buckets, and eliminates the resulting relaxation. An assignment follows from its bounds. */
static gpuopt_status solve_relaxed(gpuopt_context *context, const options *o, problem *p, wcsp_answer *a) {
    const double start = now();
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    int found = 0, permitted;
    gpuopt_status status = gpuopt_elimination_order(context, &p->desc, NULL, NULL, &a->estimate);
    if (!status) status = gpuopt_elimination_shift_costs(context, &p->desc, (int32_t)o->relax, &relaxation);
    if (!status) status = gpuopt_elimination_cost_shifting_get_info(relaxation, &a->relaxation);
    if (!status) status = gpuopt_elimination_cost_shifting_get_desc(relaxation, &desc);
    a->relax_seconds = now() - start;
    if (!status) status = gpuopt_elimination_create(context, &desc, NULL, &elimination);
    if (!status && desc.evidence_count > 0)
        status = gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, 0, p->given);
    if (!status) status = eliminate(elimination, o, a);
    a->bound = a->info.value;
    if (!status && a->info.outcome == GPUOPT_MORE) { /* stopped: the bound is the result of shifting costs */
        a->unknown = a->relaxation.outcome == GPUOPT_MORE;
        a->info.cost = a->relaxation.cost + a->reduction.offset;
        a->info.value = a->relaxation.value;
        a->bound = a->info.value + (p->desc.type == GPUOPT_COST_INT64 ? (double)a->reduction.offset : 0);
    } else if (!status && p->desc.type == GPUOPT_COST_INT64) {
        const int64_t scale = a->relaxation.scale, cost = a->info.cost;
        a->bound = (double)cost / (double)scale + (double)a->reduction.offset;
        a->info.cost = cost / scale + (cost % scale > 0) + a->reduction.offset; /* costs are whole */
    }
    for (int32_t k = 0; k < p->desc.evidence_count; k++) p->reduced[p->desc.evidence[k]] = p->given[k];
    if (!status && a->info.outcome != GPUOPT_INFEASIBLE && a->info.outcome != GPUOPT_MORE)
        status = greedy_values(elimination, &desc, a->relaxation.original, p->reduced, &found);
    if (!status && found) {
        status = take_values(p, p->reduced, a);
        graphical_cost(&p->model, a->value, &permitted, &a->cost, &a->real);
        a->assigned = permitted;
        a->exact = permitted && (p->desc.type == GPUOPT_COST_INT64 ? a->cost == a->info.cost
                                                                   : a->relaxation.outcome == GPUOPT_OPTIMAL);
    }
    a->relaxation.original = NULL;
    gpuopt_elimination_destroy(elimination);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    return status;
}

/* ---- Ranks ---- */

typedef struct shared_task {
    gpuopt_context *context; /* of rank 0 */
    const options *o;
    problem *p;
    wcsp_answer *a;
    counter *counter;
} shared_task;

/* The other ranks take the model from rank 0; their answers are the same, and are not read. */
static gpuopt_status solve_as_rank(int rank, const gpuopt_transport *transport, void *task_of) {
    const shared_task *t = task_of;
    problem p = *t->p;
    wcsp_answer other, *a = t->a;
    gpuopt_context *context = rank ? NULL : t->context;
    gpuopt_group_desc group = GPUOPT_INIT(gpuopt_group_desc);
    log_printer printer = {t->o->model, 1};
    const char *backend;
    gpuopt_status status = GPUOPT_OK;
    memset(&other, 0, sizeof other);
    gpuopt_desc_init(&other.estimate, sizeof other.estimate);
    gpuopt_desc_init(&other.info, sizeof other.info);
    if (rank) {
        a = &other;
        other.task = t->a->task;
        p.reduction = NULL;
        other.value = calloc((size_t)p.model.variables + 1, sizeof *other.value);
        p.reduced = calloc((size_t)p.model.variables + 1, sizeof *p.reduced); /* each rank has its values in its own
                                                                               * array */
        if (!other.value || !p.reduced) status = GPUOPT_ERROR_MEMORY;
        if (!status) status = open_context("cpu", 0, (int)t->o->threads, &printer, &context, &backend);
    }
    group.time_limit = 1e9; /* a thread that cannot continue abandons the others */
    if (!status) status = gpuopt_group_create(context, transport, &group, &p.desc.group);
    if (rank == 0) count_from_now(t->counter); /* without the group, which is not part of the plan */
    if (!status) status = solve_centrally(context, t->o, &p, a);
    gpuopt_group_destroy(p.desc.group);
    if (rank) {
        gpuopt_context_destroy(context);
        free(p.reduced);
        free(other.value);
    }
    return status;
}

static gpuopt_status solve_by_agents(gpuopt_context *context, const options *o, problem *p, wcsp_answer *a) {
    gpuopt_status status = agents_solve(context, &p->desc, p->parent, p->fixed, p->agent, a->value, &a->agents);
    int permitted;
    a->distributed = 1;
    a->estimate = a->agents.estimate;
    a->info = a->agents.info;
    a->eliminate_seconds = a->agents.eliminate_seconds;
    a->exact = a->info.outcome == GPUOPT_OPTIMAL;
    if (!status && a->agents.assigned) {
        expand_values(p, a->value);
        graphical_cost(&p->model, a->value, &permitted, &a->cost, &a->real);
        a->assigned = permitted;
        a->exact |= permitted && p->desc.type == GPUOPT_COST_INT64 && a->cost == a->info.cost;
    }
    if (!status && o->certificate) a->unwritten = write_certificate(o, p, a, NULL);
    return status;
}

/* Goes on with the reduced model. */
static gpuopt_status reduce(gpuopt_context *context, problem *p, wcsp_answer *a) {
    const double start = now();
    gpuopt_status status = gpuopt_elimination_preprocess(context, &p->desc, 0, 0, &p->reduction);
    if (!status) status = gpuopt_elimination_preprocessing_get_info(p->reduction, &a->reduction);
    if (!status) status = gpuopt_elimination_preprocessing_get_desc(p->reduction, &p->desc);
    a->reduced_functions = p->desc.functions;
    a->reduce_seconds = now() - start;
    return status;
}

static gpuopt_status solve(const options *o, problem *p, wcsp_answer *a) {
    gpuopt_context *context = NULL;
    gpuopt_memory_space where;
    counter counter;
    gpuopt_status status;
    double start;
    memset(&counter, 0, sizeof counter);
    counter.printer.name = o->model;
    status = open_counted_context(o->backend, (int)o->threads, &counter, &context, &a->backend);
    where = !status && strcmp(a->backend, "cuda") == 0 ? GPUOPT_DEVICE : GPUOPT_HOST;
    p->memory.host_bytes = most_host_memory();
    p->memory.bytes = o->memory              ? (uint64_t)o->memory
                      : where == GPUOPT_HOST ? p->memory.host_bytes / (uint64_t)o->ranks
                                             : 0;
    start = now();
    if (!status && o->reduce) status = reduce(context, p, a);
    if (!status && (o->agents || !p->desc.order)) /* if there is an order, only agents need more: the tree */
        status = gpuopt_elimination_order(context, &p->desc, p->desc.order ? NULL : p->order,
                                          o->agents ? p->parent : NULL, NULL);
    a->order_seconds = now() - start - a->reduce_seconds;
    if (!status && !p->desc.order) {
        p->desc.order = p->order;
        p->desc.order_count = p->desc.variables - p->desc.evidence_count;
    }
    count_from_now(&counter);
    if (!status && o->plan) {
        status = plan_policies(context, p, &counter.printer, a);
    } else if (!status && o->ranks > 1) {
        shared_task t = {context, o, p, a, &counter};
        status = ranks_work((int)o->ranks, solve_as_rank, &t);
    } else if (!status) {
        status = o->agents  ? solve_by_agents(context, o, p, a)
                 : o->relax ? solve_relaxed(context, o, p, a)
                            : solve_centrally(context, o, p, a);
    }
    a->unknown |= a->info.outcome == GPUOPT_MORE && !o->relax;
    if (!a->exact && a->info.outcome != GPUOPT_INFEASIBLE) a->stopped = interrupt_cause();
    a->seconds = now() - start;
    a->peak = counted_peak(&counter, where);
    a->peak_predicted = where == GPUOPT_DEVICE ? a->estimate.memory.device_bytes
                                               : a->estimate.memory.host_bytes + a->estimate.memory.create_bytes;
    gpuopt_elimination_preprocessing_destroy(p->reduction);
    close_counted_context(&counter, context);
    return status;
}

/* ---- Results ---- */

static int run(const options *o, problem *p, wcsp_answer *a) {
    gpuopt_status status = solve(o, p, a);
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
        /* The log has the fault of the model. */
        return status == GPUOPT_ERROR_ARGUMENT || status == GPUOPT_ERROR_NUMERIC ? EXIT_BAD_INPUT : EXIT_FAILED;
    }
    if (o->plan) {
        if (o->json) print_plans_json(&p->model, a);
        else print_plans(&p->model, a);
        return 0;
    }
    if (check_answer(o, p, a)) return EXIT_FAILED;
    if (o->json) print_json(&p->model, a);
    else print_words(&p->model, a);
    if (o->solution && a->assigned && graphical_write_solution(o->solution, &p->model, a->value)) return EXIT_BAD_INPUT;
    if (a->unwritten) return EXIT_BAD_INPUT;
    return a->info.outcome == GPUOPT_INFEASIBLE ? EXIT_INFEASIBLE : a->stopped ? EXIT_FAILED : 0;
}

int main(int argc, char **argv) {
    options o;
    problem p;
    wcsp_answer a;
    char error[1024];
    int result = EXIT_BAD_INPUT;
    if (parse_command_line(argc, argv, &o)) return EXIT_BAD_INPUT;
    memset(&p, 0, sizeof p);
    memset(&a, 0, sizeof a);
    gpuopt_desc_init(&a.estimate, sizeof a.estimate);
    gpuopt_desc_init(&a.info, sizeof a.info);
    gpuopt_desc_init(&a.reduction, sizeof a.reduction);
    gpuopt_desc_init(&a.relaxation, sizeof a.relaxation);
    a.model = o.model;
    a.threads = (int)o.threads;
    a.ranks = (int)o.ranks;
    a.task = (task)choice(o.task, tasks);
    a.read_seconds = now();
    if (load_problem(&o, &p, &a, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
    } else {
        a.read_seconds = now() - a.read_seconds;
        interrupt_catch();
        result = run(&o, &p, &a);
    }
    free_problem(&p, &a);
    return finish_output(result);
}
