/* SPDX-License-Identifier: MIT
 *
 * Solves a weighted CSP by agents that are processes: DPOP, or with --z ADPOP. Every process has the graph and the
 * tables of its own agents' functions; UTIL and VALUE messages go from process to process as packed bytes. It prints
 * the same as solve_wcsp --agents for simulated agents: the cost, the number of messages, and their bytes. With
 * --transport nccl MPI only starts the processes: each has a GPU, and on the CUDA backend UTIL messages go from device
 * memory to device memory.
 *
 * Build, from the repository's root, with mpicc or MPI's flags:
 *     mpicc -O2 -I. examples/mpi/dpop_mpi.c examples/common.c examples/interrupt.c examples/io/agents*.c \
 *         examples/io/cfn.c examples/io/global*.c examples/io/graphical*.c examples/io/names.c examples/io/t*.c \
 *         examples/io/uai.c examples/io/wcsp.c transports/gpuopt_mpi.c gpuopt_impl/gpuopt.c -lz -llzma -lm \
 *         -o dpop_mpi
 * With CUDA: also -DEXAMPLE_WITH_CUDA, transports/gpuopt_nccl.c, and the backend as in README.md.
 * Run: mpirun -n 4 ./dpop_mpi random:18:10:0.3:1
 */
#define _POSIX_C_SOURCE 200809L /* before the system's headers: _exit */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/common.h"
#include "examples/io/agents_ranks.h"
#include "examples/io/graphical.h"
#include "transports/gpuopt_mpi.h"

#ifdef EXAMPLE_WITH_CUDA
#include <cuda_runtime_api.h>

#include "transports/gpuopt_nccl.h"
#endif

static const char usage[] =
    "usage: dpop_mpi MODEL [options], by mpirun\n"
    "  MODEL              a file (.wcsp, .cfn, .uai), random:N:D:P1:SEED, scalefree:N:D:SEED or grid:N:D:SEED\n"
    "  --agents FILE      the agent of each variable, or lines VARIABLE AGENT; each: every variable has its own "
    "(each)\n"
    "                     agents are dealt to processes one by one\n"
    "  --z N              mini-buckets of at most N variables\n"
    "  --limit SECONDS    that a process waits for another one (60)\n"
    "  --transport T      mpi, or nccl: each process has a GPU of its machine, by its number there (mpi)\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one (auto)\n"
    "  --threads N        of the CPU backend, in each process (1)\n"
    "  --json             one line of JSON on stdout, nothing else\n"
    "  --log              print everything that the library reports, not only errors and warnings, on stderr\n"
    "  --version          print the version and exit\n"
    "  --help             print this and exit\n"
    "exit status of a process: 0 solved or bounded, 1 no solution, 2 bad input, 3 anything else, as a process that is\n"
    "                   lost, or has failed; mpirun returns that of one which is not 0\n";

static const char *const transports[] = {"mpi", "nccl", NULL};

typedef struct options {
    const char *model, *agents, *backend, *transport;
    int64_t z, limit, threads;
    int json;
} options;

/* See parse_options(). */
static const char *const values[] = {"seconds", "agents", "backend", "transport", "z", "limit", "threads", NULL};

static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "seconds") == 0) /* of all programs, but processes would not stop together */
        return fprintf(stderr, "there is no --seconds for processes: end them all by mpirun\n"), 0;
    if (strcmp(name, "agents") == 0) return *(o->agents = value) != 0;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "transport") == 0) return choice(o->transport = value, transports) >= 0;
    if (strcmp(name, "z") == 0) return whole_number(value, INT32_MAX, &o->z);
    if (strcmp(name, "limit") == 0) return whole_number(value, 1000000000, &o->limit);
    if (strcmp(name, "threads") == 0) return whole_number(value, 1024, &o->threads);
    return 0;
}

typedef struct problem {
    graphical_model model;
    int32_t *order, *parent, *agent, *fixed, *value; /* [variables] each */
    gpuopt_elimination_desc desc;
    agents_answer answer;
    int exact, permitted;
    int64_t cost; /* of the assignment; each function is looked up by its process */
    double real;  /* the same of a DOUBLE model */
    double seconds;
} problem;

static void free_problem(problem *p) {
    graphical_free(&p->model);
    free(p->order);
    free(p->parent);
    free(p->agent);
    free(p->fixed);
    free(p->value);
}

/* Returns 0, or -1 and the error. */
static int load(const options *o, problem *p, char *error, size_t error_size) {
    size_t n, k;
    if (graphical_load(o->model, 0, &p->model, error, error_size)) return -1;
    if (p->model.type == GPUOPT_COST_DOUBLE) graphical_take_logs(&p->model, -1);
    n = (size_t)p->model.variables;
    p->order = malloc(sizeof *p->order * (n + 1));
    p->parent = malloc(sizeof *p->parent * (n + 1));
    p->agent = malloc(sizeof *p->agent * (n + 1));
    p->fixed = malloc(sizeof *p->fixed * (n + 1));
    p->value = calloc(n + 1, sizeof *p->value);
    if (!p->order || !p->parent || !p->agent || !p->fixed || !p->value) {
        snprintf(error, error_size, "%s: out of memory", o->model);
        return -1;
    }
    for (k = 0; k < n; k++) p->agent[k] = graphical_named(&p->model, (int32_t)k), p->fixed[k] = -1;
    if (strcmp(o->agents, "each") != 0 && graphical_read_agents(o->agents, &p->model, p->agent, error, error_size))
        return -1;
    gpuopt_desc_init(&p->desc, sizeof p->desc);
    p->desc.variables = p->model.variables;
    p->desc.domain = p->model.domain;
    p->desc.functions = p->model.functions;
    p->desc.function = p->model.function;
    p->desc.type = p->model.type;
    p->desc.top = p->model.top;
    p->desc.policy = o->z ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_AUTO;
    p->desc.z = (int32_t)o->z;
    return 0;
}

/* All processes have read the same graph, and have the same options. */
static gpuopt_status agree(gpuopt_group *group, const problem *p) {
    uint64_t row = sizeof(int32_t) * (uint64_t)p->model.variables;
    int32_t *scopes, f, k;
    int64_t number[4];
    uint64_t count = 0;
    gpuopt_status status;
    number[0] = p->desc.type;
    number[1] = p->desc.top;
    number[2] = p->desc.policy;
    number[3] = p->desc.z;
    status = gpuopt_group_agree(group, number, sizeof number);
    if (!status) status = gpuopt_group_agree(group, p->model.domain, row);
    if (!status) status = gpuopt_group_agree(group, p->agent, row);
    if (status) return status;
    for (f = 0; f < p->model.functions; f++) count += (uint64_t)p->model.function[f].arity + 1;
    scopes = malloc(sizeof *scopes * (size_t)(count + 1));
    if (!scopes) return GPUOPT_ERROR_MEMORY;
    for (f = 0, count = 0; f < p->model.functions; f++) {
        scopes[count++] = p->model.function[f].arity;
        for (k = 0; k < p->model.function[f].arity; k++) scopes[count++] = p->model.function[f].scope[k];
    }
    status = gpuopt_group_agree(group, scopes, sizeof *scopes * count);
    free(scopes);
    return status;
}

/* Process 0 finds the order and with it the pseudo-tree, and sends them to the others. If it cannot, the others notice
 * that the group is broken. */
static gpuopt_status find_tree(gpuopt_context *context, gpuopt_group *group, int rank, problem *p) {
    uint64_t row = sizeof(int32_t) * (uint64_t)p->model.variables;
    gpuopt_status status = GPUOPT_OK;
    if (rank == 0) status = gpuopt_elimination_order(context, &p->desc, p->order, p->parent, NULL);
    if (!status) status = gpuopt_group_broadcast(group, GPUOPT_HOST, 0, p->order, row);
    if (!status) status = gpuopt_group_broadcast(group, GPUOPT_HOST, 0, p->parent, row);
    p->desc.order = p->order;
    p->desc.order_count = p->model.variables;
    return status;
}

/* Forgets the tables of the functions of others. */
static gpuopt_status keep_own(int rank, int ranks, problem *p) {
    int32_t *owner = malloc(sizeof *owner * ((size_t)p->model.functions + 1)), f;
    gpuopt_status status =
        owner ? agents_deal(&p->desc, p->parent, p->agent, (int32_t)ranks, owner) : GPUOPT_ERROR_MEMORY;
    for (f = 0; f < p->model.functions && !status; f++) {
        gpuopt_elimination_function *own = &p->model.function[f];
        if (owner[f] == rank) continue;
        free((void *)own->tuple);
        free((void *)own->cost);
        free((void *)own->value);
        own->tuple = NULL;
        own->cost = NULL;
        own->value = NULL;
        own->tuples = 0;       /* no cost but the default, */
        own->default_cost = 0; /* which is nothing */
        own->default_value = 0;
    }
    free(owner);
    return status;
}

/* Looks the assignment up: each process in its own functions, then the sum. */
static gpuopt_status check(gpuopt_group *group, problem *p) {
    int permitted;
    int64_t allowed;
    gpuopt_status status;
    graphical_cost(&p->model, p->value, &permitted, &p->cost, &p->real);
    allowed = permitted;
    status = gpuopt_group_all_reduce(group, GPUOPT_REDUCE_MIN, 1, &allowed, NULL);
    if (!status) status = gpuopt_group_all_reduce(group, GPUOPT_REDUCE_SUM, 1, &p->cost, NULL);
    if (!status) status = gpuopt_group_all_reduce(group, GPUOPT_REDUCE_SUM, 1, NULL, &p->real);
    p->permitted = allowed && (p->model.top == 0 || p->cost < p->model.top);
    return status;
}

static gpuopt_status solve(gpuopt_context *context, gpuopt_group *group, const agents_memory *memory, int rank,
                           int ranks, problem *p) {
    double start = now();
    gpuopt_status status = agree(group, p);
    if (!status) status = find_tree(context, group, rank, p);
    if (!status) status = keep_own(rank, ranks, p);
    if (!status)
        status =
            agents_solve_ranks(context, group, memory, &p->desc, p->parent, p->fixed, p->agent, p->value, &p->answer);
    if (!status && p->answer.assigned) status = check(group, p);
    p->seconds = now() - start;
    return status;
}

/* Whether the answer contradicts itself; sets p->exact. */
static int is_wrong(problem *p) {
    const gpuopt_elimination_info *info = &p->answer.info;
    int whole = p->model.type == GPUOPT_COST_INT64;
    double slack = 1e-9 * (1 + fabs(info->value) + fabs(p->real));
    p->exact = info->outcome == GPUOPT_OPTIMAL;
    if (!p->answer.assigned || !p->permitted) return p->exact;
    if (whole ? p->cost < info->cost : p->real < info->value - slack) return 1;
    if (whole && p->cost == info->cost) p->exact = 1;
    return p->exact && (whole ? p->cost != info->cost : p->real > info->value + slack);
}

/* ---- Results ---- */

/* A cost, in the units of the model's file. */
static void print_cost(const graphical_model *m, const char *before, int64_t cost, double real, int digits) {
    char text[GRAPHICAL_COST_TEXT];
    printf("%s", before);
    if (m->type == GPUOPT_COST_INT64) {
        graphical_cost_text(m, cost, text);
        printf("%s", text);
    } else if (digits == 17) {
        print_json_value(real);
    } else {
        printf("%.*g", digits, real);
    }
}

static void print_json(const options *o, const problem *p, int ranks) {
    const agents_answer *a = &p->answer;
    const graphical_model *m = &p->model;
    int solved = a->info.outcome != GPUOPT_INFEASIBLE;
    /* If costs are negated, their lower bound is an upper bound. */
    const char *bound = m->maximised ? ", \"upper_bound\": " : ", \"lower_bound\": ";
    const char *found = m->maximised ? ", \"lower_bound\": " : ", \"upper_bound\": ";
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"ranks\": %d, \"status\": \"%s\"", ranks, !solved ? "infeasible" : p->exact ? "optimal" : "bounded");
    if (solved) print_cost(m, bound, a->info.cost, a->info.value, 17);
    if (solved && a->assigned && p->permitted) print_cost(m, found, p->cost, p->real, 17);
    printf(", \"agents\": %d, \"parts\": %d, \"util_messages\": %lld, \"value_messages\": %lld", (int)a->agents,
           (int)a->parts, (long long)a->util_messages, (long long)a->value_messages);
    printf(", \"util_bytes\": %llu, \"value_bytes\": %llu, \"message_bytes\": %llu, \"largest_message\": %llu",
           (unsigned long long)a->util_bytes, (unsigned long long)a->value_bytes,
           (unsigned long long)(a->util_bytes + a->value_bytes), (unsigned long long)a->largest_bytes);
    printf(", \"work_seconds\": %.6f, \"seconds\": %.6f}\n", a->work_seconds, p->seconds);
}

static void print_words(const options *o, const problem *p, int ranks) {
    const agents_answer *a = &p->answer;
    const char *least = p->model.maximised ? "value at most " : "cost at least ";
    printf("%s: ", o->model);
    if (a->info.outcome == GPUOPT_INFEASIBLE) {
        printf("no assignment is permitted");
    } else {
        print_cost(&p->model, p->exact ? "cost " : least, a->info.cost, a->info.value, 15);
        if (p->exact && p->model.type == GPUOPT_COST_INT64) printf(", optimal");
    }
    if (!p->exact && a->assigned && p->permitted) print_cost(&p->model, ", found ", p->cost, p->real, 15);
    printf("\n%d agents in %d processes: %lld UTIL messages (%llu bytes), %lld VALUE messages (%llu bytes), %.3f s\n",
           (int)a->agents, ranks, (long long)a->util_messages, (unsigned long long)a->util_bytes,
           (long long)a->value_messages, (unsigned long long)a->value_bytes, p->seconds);
}

/* ---- How processes reach one another ---- */

/* The number of this process's GPU: processes of a machine take its GPUs in turn. */
static int device_of(const options *o) {
    int device = 0;
#ifdef EXAMPLE_WITH_CUDA
    MPI_Comm machine;
    int devices = 0, number = 0;
    if (strcmp(o->transport, "nccl") != 0 || cudaGetDeviceCount(&devices) || devices < 1 ||
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine))
        return 0;
    MPI_Comm_rank(machine, &number);
    MPI_Comm_free(&machine);
    device = number % devices;
    cudaSetDevice(device); /* for allocate_on_device() */
#else
    (void)o;
#endif
    return device;
}

#ifdef EXAMPLE_WITH_CUDA
static void *allocate_on_device(size_t bytes) {
    void *memory = NULL;
    return cudaMalloc(&memory, bytes) == cudaSuccess ? memory : NULL;
}
static void release_on_device(void *memory) { cudaFree(memory); }

/* Process 0 makes a name for the set of processes, which MPI carries to the others. */
static gpuopt_status open_nccl(const options *o, int device, gpuopt_transport *transport) {
    unsigned char id[GPUOPT_NCCL_ID] = {0};
    int rank, count, made = 0;
    gpuopt_status status = GPUOPT_ERROR_PEER;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (rank == 0) made = gpuopt_nccl_unique_id(id) == GPUOPT_OK;
    MPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (made) status = gpuopt_nccl_open(id, rank, count, device, (double)o->limit, transport);
    if (status) fprintf(stderr, "process %d: %s\n", rank, gpuopt_nccl_error());
    return status;
}
#endif

static gpuopt_status open_transport(const options *o, int device, gpuopt_transport *transport) {
    if (strcmp(o->transport, "mpi") == 0) return gpuopt_mpi_open(MPI_COMM_WORLD, transport);
#ifdef EXAMPLE_WITH_CUDA
    return open_nccl(o, device, transport);
#else
    (void)device;
    fprintf(stderr, "this program was built without CUDA\n");
    return GPUOPT_ERROR_UNSUPPORTED;
#endif
}

static void close_transport(const options *o, gpuopt_transport *transport) {
#ifdef EXAMPLE_WITH_CUDA
    if (strcmp(o->transport, "nccl") == 0) {
        gpuopt_nccl_close(transport);
        return;
    }
#else
    (void)o;
#endif
    gpuopt_mpi_close(transport);
}

/* The memory of UTIL messages: on the GPU, if the transport takes them from there; NULL: host memory. */
static const agents_memory *memory_of(gpuopt_group *group) {
#ifdef EXAMPLE_WITH_CUDA
    static const agents_memory device = {GPUOPT_DEVICE, allocate_on_device, release_on_device};
    gpuopt_group_info info = GPUOPT_INIT(gpuopt_group_info);
    if (!gpuopt_group_get_info(group, &info) && info.device_memory) return &device;
#endif
    (void)group;
    return NULL;
}

/* One process's part. Returns its exit status; *lost: the group is broken, or was never made, so that other processes
 * may be gone. */
static int run(const options *o, int device, const gpuopt_transport *transport, int *lost) {
    gpuopt_context *context = NULL;
    gpuopt_group *group = NULL;
    gpuopt_group_desc desc;
    gpuopt_group_info info;
    const char *backend;
    char error[1024], name[64];
    log_printer printer;
    problem p;
    int result = EXIT_FAILED;
    gpuopt_status status;
    memset(&p, 0, sizeof p);
    memset(&printer, 0, sizeof printer);
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&desc, sizeof desc);
    desc.time_limit = (double)o->limit;
    snprintf(name, sizeof name, "process %d", (int)transport->rank);
    printer.name = name;
    status = open_context_on(device, o->backend, 1, (int)o->threads, &printer, &context, &backend);
    if (!status) status = gpuopt_group_create(context, transport, &desc, &group);
    if (status) transport->abort(transport->user);
    if (!status && load(o, &p, error, sizeof error)) {
        fprintf(stderr, "%s: %s\n", name, error);
        gpuopt_group_abort(group);
        result = EXIT_BAD_INPUT;
    } else if (!status) {
        status = solve(context, group, memory_of(group), transport->rank, transport->count, &p);
        if (status) gpuopt_group_abort(group);
        if (status == GPUOPT_ERROR_ARGUMENT || status == GPUOPT_ERROR_NUMERIC) result = EXIT_BAD_INPUT;
        if (!status && !is_wrong(&p)) {
            result = p.answer.info.outcome == GPUOPT_INFEASIBLE ? EXIT_INFEASIBLE : 0;
            if (transport->rank == 0) (o->json ? print_json : print_words)(o, &p, (int)transport->count);
        } else if (!status) {
            fprintf(stderr, "%s: the answer does not hold on the model\n", name);
        }
    }
    if (status) fprintf(stderr, "%s: %s\n", name, gpuopt_status_string(status));
    *lost = gpuopt_group_get_info(group, &info) != GPUOPT_OK || info.broken;
    free_problem(&p);
    gpuopt_group_destroy(group);
    gpuopt_context_destroy(context);
    return result;
}

int main(int argc, char **argv) {
    gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
    options o;
    int result, device, lost = 0;
    memset(&o, 0, sizeof o);
    o.limit = 60;
    o.transport = "mpi";
    o.agents = "each";
    o.backend = "auto";
    o.threads = 1;
    if (parse_options(argc, argv, usage, values, NULL, parse_option, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (MPI_Init(&argc, &argv)) return EXIT_FAILED;
    device = device_of(&o);
    if (open_transport(&o, device, &transport)) return EXIT_FAILED;
    result = finish_output(run(&o, device, &transport, &lost));
    close_transport(&o, &transport);
    if (lost) _exit(result); /* in MPI_Finalize this process might wait for lost processes, or they for it */
    MPI_Finalize();
    return result;
}
