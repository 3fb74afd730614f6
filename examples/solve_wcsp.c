/* SPDX-License-Identifier: MIT
 *
 * Solves a weighted CSP or another graphical model by bucket elimination: reads a .wcsp, .cfn or .uai file or builds a
 * model, and eliminates in a loop as a caller would. Prints the result, and checks the assignment against the model.
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/solve_wcsp.c examples/wcsp_[gpr]*.c examples/co*.c examples/interrupt.c examples/ranks.c \
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

static const char usage[] =
    "usage: solve_wcsp MODEL [options]\n"
    "  MODEL              a file (.wcsp, .cfn, .uai, compressed as .gz or .xz or not; -: .wcsp from standard input),\n"
    "                     random:N:D:P1:SEED, scalefree:N:D:SEED or grid:N:D:SEED\n"
    "  --hard P           of generated models: the share of each table that is forbidden, 0 to 1 (0)\n"
    "  --evidence FILE    values that some variables have, as in UAI: COUNT VARIABLE VALUE...\n"
    "  --task T           min: the least cost (of .uai: -ln of the factors); count: how many assignments have it\n"
    "                     (.wcsp, .cfn); logz: ln of the sum over all assignments (.uai)                          "
    "(min)\n"
    "  --order O          best, min-fill, weighted-min-fill, min-degree, or a file: the variables, first one first\n"
    "                     (best: of all three)\n"
    "  --restarts N       of each of these, with other ties (1; 8 if the elimination is large)\n"
    "  --order-seconds S  time to search for a better order, of best (0: some milliseconds)\n"
    "  --order-work N     the same in moves of annealing, some millions a second: the same order every time\n"
    "  --seed N           of the ties (0)\n"
    "  --policy P         auto: the first of the others that fits; exact, drop, recompute, slice, stream,\n"
    "                     mini-bucket (auto)\n"
    "  --z N              mini-buckets of at most N variables\n"
    "  --relax N          mini-buckets with costs shifted between them N times, for a better bound\n"
    "  --memory BYTES     of the device, on the CPU of the host, with K, M, G, T for powers of 1024\n"
    "                     (what is free; CPU: three quarters of what there is)\n"
    "  --plan             solve nothing: print the memory, operations and widths of each policy\n"
    "  --reduce           reduce the model first: forbidden, dominated and costly values, functional variables,\n"
    "                     those with one or two neighbours\n"
    "  --agents FILE      distributed, simulated: the agent of each variable, or lines VARIABLE AGENT; the word\n"
    "                     each: every variable of the file has its own\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one (auto)\n"
    "  --threads N        of the CPU backend (1), in each rank\n"
    "  --ranks N          1 to 64 ranks of a group share the model, each some values of some variables; they are\n"
    "                     threads, each on the CPU with as much memory as --memory says; no --agents,\n"
    "                     --certificate (1)\n"
    "  --solution FILE    write \"variable value\" for each variable, both numbered from 0\n"
    "  --certificate FILE write the answer with what proves it, for the checker in tests/check (doc/checking.md);\n"
    "                     .wcsp without functions in intention\n" USAGE_SHARED
    "exit status: 0 solved or bounded, 1 no solution, 2 bad input or a failed write, 3 stopped early, or anything "
    "else\n";

/* ---- Command line ---- */

/* A whole number with K, M, G or T behind it. */
static int bytes(const char *word, int64_t *value) {
    static const char units[] = "kmgt";
    char digits[32], *rest;
    size_t length = strlen(word);
    const char *unit;
    int shift = 0;
    if (length == 0 || length >= sizeof digits) return 0;
    memcpy(digits, word, length + 1);
    unit = strchr(units, digits[length - 1] | 0x20);
    if (unit) {
        shift = 10 * (int)(unit - units + 1);
        digits[length - 1] = 0;
    }
    rest = digits;
    return whole_number(rest, INT64_MAX >> shift, value) && (*value <<= shift, 1);
}

static int number_up_to(const char *word, double most, double *value) {
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == 0 && *value >= 0 && *value <= most;
}

/* See parse_options(). */
static const char *const values[] = {"backend",  "task",          "policy",      "order",   "evidence",
                                     "agents",   "solution",      "certificate", "threads", "ranks",
                                     "restarts", "order-seconds", "order-work",  "seed",    "z",
                                     "relax",    "memory",        "hard",        NULL};
static const char *const flags[] = {"reduce", "plan", NULL};

static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "task") == 0) return choice(o->task = value, tasks) >= 0;
    if (strcmp(name, "policy") == 0) return choice(o->policy = value, policies) >= 0;
    if (strcmp(name, "order") == 0) return *(o->order = value) != 0;
    if (strcmp(name, "evidence") == 0) return *(o->evidence = value) != 0;
    if (strcmp(name, "reduce") == 0) return o->reduce = 1;
    if (strcmp(name, "agents") == 0) return *(o->agents = value) != 0;
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    if (strcmp(name, "certificate") == 0) return *(o->certificate = value) != 0;
    if (strcmp(name, "threads") == 0) return whole_number(value, 1024, &o->threads);
    if (strcmp(name, "ranks") == 0) return whole_number(value, MOST_RANKS, &o->ranks);
    if (strcmp(name, "restarts") == 0) return whole_number(value, 1000000, &o->restarts);
    if (strcmp(name, "order-seconds") == 0) return number_up_to(value, 1e9, &o->order_seconds);
    if (strcmp(name, "order-work") == 0) return whole_number(value, INT64_MAX / 2, &o->order_work);
    if (strcmp(name, "seed") == 0) return strcmp(value, "0") == 0 || whole_number(value, INT64_MAX, &o->seed);
    if (strcmp(name, "z") == 0) return whole_number(value, INT32_MAX, &o->z);
    if (strcmp(name, "relax") == 0) return whole_number(value, 1000000, &o->relax);
    if (strcmp(name, "plan") == 0) return o->plan = 1;
    if (strcmp(name, "memory") == 0) return bytes(value, &o->memory);
    if (strcmp(name, "hard") == 0) return number_up_to(value, 1, &o->hard);
    return 0;
}

/* Returns 0, or prints the fault and returns -1. */
static int parse(int argc, char **argv, options *o) {
    memset(o, 0, sizeof *o);
    o->backend = o->policy = "auto";
    o->order = "best";
    o->task = "min";
    o->threads = o->ranks = 1;
    if (parse_options(argc, argv, usage, values, flags, parse_option, o, &o->model, &o->json)) return -1;
    if ((o->z || o->relax) && strcmp(o->policy, "auto") == 0) o->policy = "mini-bucket";
    if ((o->z || o->relax) && strcmp(o->policy, "mini-bucket") != 0) {
        fprintf(stderr, "%s is for --policy mini-bucket, not for %s\n", o->z ? "--z" : "--relax", o->policy);
        return -1;
    }
    if (o->relax && (choice(o->task, tasks) != TASK_MIN || o->agents || o->certificate)) {
        fprintf(stderr, "--relax is for --task min, and not for --agents or --certificate\n");
        return -1;
    }
    if (o->plan && (o->relax || o->agents || o->certificate || o->solution)) {
        fprintf(stderr, "--plan solves nothing: it is not for --relax, --agents, --certificate or --solution\n");
        return -1;
    }
    if ((o->order_seconds > 0 || o->order_work) && strcmp(o->order, "best") != 0) {
        fprintf(stderr, "--order-seconds and --order-work are for --order best, not for %s\n", o->order);
        return -1;
    }
    if (o->agents && strcmp(o->policy, "slice") == 0) {
        fprintf(stderr, "--policy slice is not for --agents: their messages would be those of one slice\n");
        return -1;
    }
    if (o->ranks > 1 && (o->agents || o->certificate || o->relax || o->plan || strcmp(o->backend, "cuda") == 0)) {
        fprintf(stderr, "--ranks does not go with --agents, --certificate, --relax, --plan or --backend cuda\n");
        return -1;
    }
    if (o->ranks > 1) o->backend = "cpu";
    if (o->reduce && (o->agents || o->certificate)) {
        fprintf(stderr, "--reduce is not for --agents or --certificate: they are about the model as it is\n");
        return -1;
    }
    if (o->certificate && choice(o->task, tasks) != TASK_MIN) {
        fprintf(stderr, "--certificate is for --task min\n");
        return -1;
    }
    return 0;
}

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
    if (parse(argc, argv, &o)) return EXIT_BAD_INPUT;
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
