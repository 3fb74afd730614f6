/* SPDX-License-Identifier: MIT
 *
 * The command line of solve_wcsp.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/ranks.h"
#include "examples/wcsp_problem.h"

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

int parse_command_line(int argc, char **argv, options *o) {
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
