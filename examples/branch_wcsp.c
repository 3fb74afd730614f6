/* SPDX-License-Identifier: MIT
 *
 * Solves a weighted CSP or another graphical model that is too wide for elimination: by depth-first branch and bound
 * over the elimination tree, with bounds by mini-buckets whose costs have been shifted, many nodes in each look-up. It
 * ends with the proven optimum, and checks the assignment against the model.
 *
 * Build, from the repository's root; -fopenmp adds threads:
 *     cc -O2 -I. examples/branch_wcsp.c examples/wcsp_tree.c examples/common.c examples/io/c*.c examples/io/global*.c \
 *         examples/io/graphical*.c examples/io/names.c examples/io/t*.c examples/io/uai.c examples/io/wcsp.c \
 *         gpuopt_impl/gpuopt.c -lz -llzma -lm -o branch_wcsp
 * Also reads: *.wcsp *.wcsp.gz *.wcsp.xz *.cfn *.cfn.gz *.cfn.xz *.uai *.uai.gz *.uai.xz random:* scalefree:* grid:*
 * Try: random:30:5:0.25:1 --z 7 --backend cpu
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/wcsp_tree.h"

static const char usage[] =
    "usage: branch_wcsp MODEL [options]\n"
    "  MODEL         a file (.wcsp, .cfn, .uai, compressed as .gz or .xz or not; -: .wcsp from standard input),\n"
    "                random:N:D:P1:SEED, scalefree:N:D:SEED or grid:N:D:SEED; of .uai, -ln of each factor, rounded to\n"
    "                millionths, is the cost\n"
    "  --z N         mini-buckets of at most N variables (what fits into 8 MiB)\n"
    "  --relax N     shift costs between mini-buckets N times (10)\n"
    "  --order-work N moves of annealing for the order (1000000)\n"
    "  --batch N     nodes in a look-up at most (64, on the GPU 2048)\n"
    "  --cache N     2^N solved states are remembered, 24 bytes each (22)\n"
    "  --seconds S   of searching, at most; then what is known is printed (no limit)\n"
    "  --backend B   cpu, cuda or auto: cuda where there is one (auto)\n"
    "  --threads N   of the CPU backend (1)\n"
    "  --json        one line of JSON on stdout, nothing else\n"
    "  --help        print this and exit\n"
    "exit status: 0 solved, or stopped with bounds, 1 no solution, 2 bad input or a failed write, 3 anything else\n";

typedef struct options {
    const char *model, *backend;
    int64_t z, relax, order_work, batch, cache, threads;
    double seconds;
    int json;
} options;

/* Returns 1 if the option was taken, 0 for a bad value, -1 if there is no such option. */
static int parse_option(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    char *end;
    if (strcmp(name, "--backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "--z") == 0) return whole_number(value, INT32_MAX, &o->z);
    if (strcmp(name, "--relax") == 0)
        return strcmp(value, "0") == 0 ? (o->relax = 0, 1) : whole_number(value, 1000000, &o->relax);
    if (strcmp(name, "--order-work") == 0) return whole_number(value, INT64_MAX / 2, &o->order_work);
    if (strcmp(name, "--batch") == 0) return whole_number(value, 1 << 20, &o->batch);
    if (strcmp(name, "--cache") == 0) return whole_number(value, 36, &o->cache);
    if (strcmp(name, "--threads") == 0) return whole_number(value, 1024, &o->threads);
    if (strcmp(name, "--seconds") == 0)
        return o->seconds = strtod(value, &end), end != value && !*end && o->seconds > 0;
    return -1;
}

/* What is known about a state of a level: how far its optimum is above its bound, or at least is. */
enum { EXACT = -1, AT_LEAST = -2 };
typedef struct memory {
    uint64_t number;
    int32_t level; /* -1: nothing */
    int32_t kind;  /* EXACT or AT_LEAST; else it is being solved, as the state of this number */
    int64_t excess;
} memory;

typedef struct search {
    graphical_model model;
    tree tree;
    gpuopt_context *context;
    gpuopt_elimination *elimination; /* of the relaxation: its variables are copies of the model's */
    int32_t *first_copy, *copies;    /* [variables] of each; a variable's follow one another */
    int32_t relaxed, z;              /* variables of the relaxation; of a mini-bucket at most */
    int32_t *row;                    /* [batch][relaxed] what is looked up */
    int64_t *copy_rise;              /* [batch][values] */
    memory *cache;
    uint64_t mask; /* entries of the cache - 1 */
    int64_t nodes, bounds, calls, recalled;
    double deadline;
    int stopped;          /* by the deadline, or for good: */
    gpuopt_status status; /* of the look-ups */
    /* The answer: costs are the model's, times scale those of the relaxation. */
    int32_t *incumbent; /* [variables] */
    int64_t lower, upper, scale;
    int feasible, proven;
    double unit, start; /* a cost of 1 in the file's terms (.uai), or 1 */
    int json;
} search;

static void say(const search *s, const char *what, int64_t cost) {
    char text[GRAPHICAL_COST_TEXT];
    if (s->json) return;
    if (s->unit == 1) graphical_cost_text(&s->model, cost, text);
    else snprintf(text, sizeof text, "%.6f", (double)cost * s->unit);
    printf("%8.2f s  %-10s %s  (%lld nodes)\n", now() - s->start, what, text, (long long)s->nodes);
    fflush(stdout);
}

/* Takes an assignment if it is the best so far. */
static void take(search *s, const int32_t *value) {
    int permitted;
    int64_t cost;
    double real;
    graphical_cost(&s->model, value, &permitted, &cost, &real);
    if (!permitted || (s->feasible && cost >= s->upper)) return;
    memcpy(s->incumbent, value, sizeof *value * (size_t)s->model.variables);
    s->feasible = 1;
    s->upper = cost;
    say(s, "incumbent", cost);
}

/* ---- The search ---- */

static uint64_t number_of(const tree_level *l, int32_t i) {
    uint64_t number = 0;
    for (int32_t k = 0; k < l->width; k++) number += l->unit[k] * (uint64_t)l->state[(int64_t)i * l->width + k];
    return number;
}

static memory *recall(const search *s, int32_t level, uint64_t number) {
    uint64_t h = (number * 0x9E3779B97F4A7C15u + (uint64_t)level) * 0xBF58476D1CE4E5B9u;
    return &s->cache[(h ^ h >> 32) & s->mask];
}

/* Looks up what the bounds of `count` open states rise by with each value of their variable: one call for each of its
 * copies. Only the values of the context are read. */
static void look_up(search *s, int32_t variable, int32_t count) {
    tree_level *l = &s->tree.level[variable];
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < l->width; k++) {
            const int32_t of = l->context[k], value = l->state[(int64_t)l->open[i] * l->width + k];
            int32_t *at = s->row + (int64_t)i * s->relaxed + s->first_copy[of];
            for (int32_t c = 0; c < s->copies[of]; c++) at[c] = value;
        }
    for (int32_t c = 0; c < s->copies[variable] && !s->status; c++) {
        int64_t *rise = c == 0 ? l->rise : s->copy_rise;
        s->status = gpuopt_elimination_get_bounds(s->elimination, GPUOPT_HOST, 0, s->first_copy[variable] + c, 1, count,
                                                  s->row, rise, NULL);
        for (int64_t k = 0; c > 0 && k < (int64_t)count * l->values; k++)
            l->rise[k] = l->rise[k] == INT64_MAX || rise[k] == INT64_MAX ? INT64_MAX : l->rise[k] + rise[k];
        s->calls++;
        s->bounds += (int64_t)count * l->values;
    }
    s->nodes += count;
    if (s->status || now() > s->deadline) s->stopped = 1;
}

/* Sorts the values of an open state that may lead below its limit. */
static void sort_values(tree_level *l, int32_t i) {
    const int64_t *rise = l->rise + (int64_t)i * l->values;
    int32_t *sorted = l->sorted + (int64_t)i * (l->values + 1), found = 0, v, k;
    for (v = 0; v < l->values; v++) {
        if (rise[v] >= l->excess[l->open[i]]) continue;
        for (k = found++; k > 0 && rise[sorted[k - 1]] > rise[v]; k--) sorted[k] = sorted[k - 1];
        sorted[k] = v;
    }
    sorted[found] = -1;
    l->next[i] = 0;
}

/* Picks successors of the open states, best values first, until the batch is full. Returns their number. */
static int32_t pick(tree_level *l, int32_t open, int32_t batch) {
    int32_t picked = 0, before = -1, i;
    while (picked < batch && picked > before)
        for (before = picked, i = 0; i < open && picked < batch; i++) {
            const int32_t v = l->sorted[(int64_t)i * (l->values + 1) + l->next[i]];
            if (v < 0 || l->rise[(int64_t)i * l->values + v] >= l->excess[l->open[i]]) continue;
            l->next[i]++;
            l->owner[picked] = l->open[i];
            l->value[picked] = v;
            l->sum[picked++] = l->rise[(int64_t)i * l->values + v];
        }
    return picked;
}

/* Makes the state of a level below that follows from state i and a value. */
static void follow(const tree_level *l, int32_t i, int32_t value, tree_level *below, int32_t to) {
    for (int32_t k = 0; k < below->width; k++)
        below->state[(int64_t)to * below->width + k] =
            below->from[k] < 0 ? value : l->state[(int64_t)i * l->width + below->from[k]];
}

/* Sets aside the states that are known, or equal to another one, and lists the others as open. */
static int32_t list_open(search *s, int32_t variable, int32_t count, int again) {
    tree_level *l = &s->tree.level[variable];
    int32_t open = 0;
    for (int32_t i = 0; i < count; i++) {
        l->excess[i] = l->limit[i];
        l->best[i] = l->twin[i] = -1;
        if (l->unit && !again) {
            const uint64_t number = number_of(l, i);
            memory *m = recall(s, variable, number);
            if (m->level == variable && m->number == number) {
                if (m->kind >= 0) {
                    l->twin[i] = m->kind;
                    if (l->limit[m->kind] < l->limit[i]) l->limit[m->kind] = l->excess[m->kind] = l->limit[i];
                } else if (m->kind == EXACT || m->excess >= l->limit[i]) {
                    if (m->excess < l->limit[i]) l->excess[i] = m->excess;
                    l->twin[i] = i;
                    s->recalled++;
                }
            }
            if (l->twin[i] >= 0) continue;
            *m = (memory){number, variable, i, 0};
        }
        l->open[open++] = i;
    }
    return open;
}

/* Solves what is below `count` states of a variable. excess[i]: by how much the least cost of a completion of state i is
 * above its bound, if that is less than limit[i]; else limit[i]. Since the bound is a sum over the tree, excess is the
 * least sum, over the values, of what the bound rises by and of the excess of each branch below. again: do not believe
 * what is remembered, for best [count] is wanted. */
static void solve(search *s, int32_t variable, int32_t count, int again) {
    tree_level *l = &s->tree.level[variable];
    int32_t open = list_open(s, variable, count, again), picked, below, i, j, n;
    if (open > 0) look_up(s, variable, open);
    for (i = 0; i < open && !s->stopped; i++) sort_values(l, i);
    while (!s->stopped && (picked = pick(l, open, s->tree.batch)) > 0) {
        for (below = l->first_child; below >= 0 && !s->stopped; below = s->tree.level[below].next_sibling) {
            tree_level *b = &s->tree.level[below];
            for (j = n = 0; j < picked; j++) {
                const int32_t from = l->owner[j];
                if (l->sum[j] >= l->excess[from]) continue;
                follow(l, from, l->value[j], b, n);
                b->limit[n++] = l->excess[from] - l->sum[j];
            }
            if (n > 0) solve(s, below, n, 0);
            for (j = n = 0; j < picked; j++)
                if (l->sum[j] < l->excess[l->owner[j]]) l->sum[j] += b->excess[n++];
        }
        for (j = 0; j < picked && !s->stopped; j++)
            if (l->sum[j] < l->excess[l->owner[j]])
                l->excess[l->owner[j]] = l->sum[j], l->best[l->owner[j]] = l->value[j];
    }
    for (i = 0; i < open; i++) {
        const int32_t of = l->open[i];
        if (l->unit && !s->stopped) {
            const uint64_t number = number_of(l, of);
            *recall(s, variable, number) =
                (memory){number, variable, l->excess[of] < l->limit[of] ? EXACT : AT_LEAST, l->excess[of]};
        }
    }
    for (i = 0; i < count; i++)
        if (l->twin[i] >= 0 && l->excess[l->twin[i]] < l->excess[i]) l->excess[i] = l->excess[l->twin[i]];
}

/* Goes down the tree along the best values; the limit of state 0 is above its excess. */
static void read_answer(search *s, int32_t variable, int32_t *value) {
    tree_level *l = &s->tree.level[variable];
    int32_t below;
    solve(s, variable, 1, 1);
    value[variable] = l->best[0] < 0 ? 0 : l->best[0];
    for (below = l->first_child; below >= 0; below = s->tree.level[below].next_sibling) {
        follow(l, 0, value[variable], &s->tree.level[below], 0);
        s->tree.level[below].limit[0] = l->limit[0];
        read_answer(s, below, value);
    }
}

/* Searches for an assignment whose cost is less than `most` above the bound `root`, both the relaxation's, then for one
 * less than a larger amount, and so on: what is far above the optimum is looked at only if all that is nearer has been
 * in vain. Each round proves a lower bound. */
static void deepen(search *s, int64_t root, int64_t most) {
    int64_t limit = most / 64 > s->scale ? most / 64 : s->scale, excess = 0;
    int32_t r, *value = calloc((size_t)s->tree.levels + 1, sizeof *value);
    if (!value) s->status = GPUOPT_ERROR_MEMORY;
    for (; value && !s->proven; limit += limit / 4) {
        if (limit > most) limit = most;
        for (excess = 0, r = s->tree.root; r >= 0 && excess < limit; r = s->tree.level[r].next_sibling) {
            s->tree.level[r].limit[0] = limit - excess;
            solve(s, r, 1, 0);
            excess += s->tree.level[r].excess[0];
        }
        if (s->stopped) break;
        if (excess < limit) { /* the optimum */
            s->deadline = HUGE_VAL;
            for (r = s->tree.root; r >= 0; r = s->tree.level[r].next_sibling) {
                s->tree.level[r].limit[0] = limit;
                read_answer(s, r, value);
            }
            take(s, value);
        }
        s->lower = (root + excess + s->scale - 1) / s->scale;
        s->proven = excess < limit || limit == most;
        if (s->proven) s->lower = s->upper;
        else say(s, "at least", s->lower);
    }
    free(value);
}

/* ---- Before the search ---- */

/* Makes costs of the factors of a .uai file. Returns -1 if there is no memory. */
static int round_factors(search *s) {
    graphical_model *m = &s->model;
    if (m->type == GPUOPT_COST_INT64) return 0;
    graphical_take_logs(m, -1);
    m->type = GPUOPT_COST_INT64;
    s->unit = 1e-6;
    for (int32_t k = 0; k < m->functions; k++) {
        gpuopt_elimination_function *f = &m->function[k];
        int64_t entries = f->tuples < 0 ? 1 : f->tuples, *cost;
        for (int32_t i = 0; f->tuples < 0 && i < f->arity; i++) entries *= m->domain[f->scope[i]];
        f->cost = cost = malloc(sizeof *cost * (size_t)entries + 1);
        if (!cost) return -1;
        for (int64_t i = 0; i < entries; i++)
            cost[i] = f->value[i] < HUGE_VAL ? llround(f->value[i] / s->unit) : INT64_MAX;
        f->default_cost = f->default_value < HUGE_VAL ? llround(f->default_value / s->unit) : INT64_MAX;
    }
    return 0;
}

/* More than any assignment costs. */
static int64_t above_all(const graphical_model *m) {
    int64_t sum = 1, most;
    for (int32_t k = 0; k < m->functions; k++) {
        const gpuopt_elimination_function *f = &m->function[k];
        int64_t entries = f->tuples < 0 ? 1 : f->tuples;
        for (int32_t i = 0; f->tuples < 0 && i < f->arity; i++) entries *= m->domain[f->scope[i]];
        most = f->tuples < 0 || f->default_cost == INT64_MAX ? INT64_MIN : f->default_cost;
        for (int64_t i = 0; i < entries; i++)
            if (f->cost[i] < INT64_MAX && f->cost[i] > most) most = f->cost[i];
        if (most > INT64_MIN) sum += most;
    }
    return m->top > 0 && m->top < sum ? m->top : sum;
}

/* Finds an order of elimination and makes the tree, and what else the search needs before there is a relaxation. */
static gpuopt_status prepare(search *s, const options *o, gpuopt_elimination_desc *desc, int32_t *order) {
    const graphical_model *m = &s->model;
    gpuopt_elimination_estimate estimate = GPUOPT_INIT(gpuopt_elimination_estimate);
    gpuopt_status status;
    desc->variables = m->variables;
    desc->domain = m->domain;
    desc->functions = m->functions;
    desc->function = m->function;
    desc->top = m->top;
    desc->order_work = o->order_work;
    status = gpuopt_elimination_order(s->context, desc, order, NULL, NULL);
    if (status) return status;
    desc->order = order;
    desc->order_count = m->variables;
    desc->order_work = 0;
    desc->policy = GPUOPT_POLICY_MINI_BUCKET;
    desc->z = (int32_t)o->z;
    if (o->z == 0) desc->memory_limit = (uint64_t)8 << 20;
    status = gpuopt_elimination_order(s->context, desc, NULL, NULL, &estimate);
    desc->memory_limit = 0;
    s->z = desc->z = estimate.z;
    if (!status && tree_make(&s->tree, m, order, (int32_t)o->batch)) status = GPUOPT_ERROR_MEMORY;
    return status;
}

/* Eliminates a model of which `original` says which variable each of its variables is a copy of (NULL: itself), and takes
 * the assignment that comes out. */
static gpuopt_status eliminate(search *s, const gpuopt_elimination_desc *desc, const int32_t *original,
                               gpuopt_elimination_info *info) {
    int32_t *value = calloc((size_t)desc->variables + 1, sizeof *value),
            *own = calloc((size_t)s->model.variables + 1, sizeof *own), k;
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_status status = value && own ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    gpuopt_elimination_destroy(s->elimination);
    s->elimination = NULL;
    if (!status) status = gpuopt_elimination_create(s->context, desc, &s->elimination);
    if (!status) status = gpuopt_elimination_step(s->elimination, INT32_MAX, info);
    if (!status) status = gpuopt_elimination_assign(s->elimination, GPUOPT_HOST, 0, value, &found);
    for (k = 0; !status && k < desc->variables; k++) own[original ? original[k] : k] = value[k];
    if (!status && found.outcome != GPUOPT_INFEASIBLE) take(s, own);
    free(value);
    free(own);
    return status;
}

/* Eliminates with mini-buckets, then shifts costs between them, and searches with the bounds that come of it. */
static gpuopt_status branch(search *s, const options *o) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc), relaxed = desc;
    gpuopt_elimination_relaxation_info bound = GPUOPT_INIT(gpuopt_elimination_relaxation_info);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_relaxation *relaxation = NULL;
    const size_t n = (size_t)s->model.variables + 1, batch = (size_t)o->batch;
    int32_t *order = calloc(n, sizeof *order), k;
    gpuopt_status status;
    s->incumbent = calloc(n, sizeof *s->incumbent);
    s->first_copy = calloc(n, sizeof *s->first_copy);
    s->copies = calloc(n, sizeof *s->copies);
    s->cache = malloc(sizeof *s->cache << o->cache);
    s->copy_rise = calloc(batch * (size_t)(s->model.max_domain + 1), sizeof *s->copy_rise);
    s->mask = ((uint64_t)1 << o->cache) - 1;
    status = order && s->incumbent && s->first_copy && s->copies && s->cache && s->copy_rise ? GPUOPT_OK
                                                                                             : GPUOPT_ERROR_MEMORY;
    for (uint64_t i = 0; s->cache && i <= s->mask; i++) s->cache[i].level = -1;
    if (!status) status = prepare(s, o, &desc, order);
    if (!status) status = eliminate(s, &desc, NULL, &info);
    if (!status && s->feasible && s->upper > 0) desc.top = s->upper; /* less is wanted */
    if (!status) status = gpuopt_elimination_relax(s->context, &desc, (int32_t)o->relax, &relaxation);
    if (!status) status = gpuopt_elimination_relaxation_get_info(relaxation, &bound);
    if (!status) status = gpuopt_elimination_relaxation_get_desc(relaxation, &relaxed);
    if (!status) status = eliminate(s, &relaxed, bound.original, &info);
    if (!status) {
        s->relaxed = bound.variables;
        s->scale = bound.scale;
        s->lower = bound.cost;
        s->row = calloc(batch * (size_t)s->relaxed + 1, sizeof *s->row);
        for (k = s->relaxed - 1; k >= 0; k--) s->first_copy[bound.original[k]] = k, s->copies[bound.original[k]]++;
        if (!s->row) status = GPUOPT_ERROR_MEMORY;
    }
    s->proven = !status && (info.outcome == GPUOPT_INFEASIBLE || (s->feasible && s->lower >= s->upper));
    if (!status && !s->proven) {
        const int64_t most = (s->feasible ? s->upper : above_all(&s->model)) - 1;
        say(s, "at least", s->lower);
        s->deadline = now() + o->seconds;
        deepen(s, info.cost, most * s->scale - info.cost + 1);
        status = s->status;
    }
    if (s->proven && s->feasible) s->lower = s->upper;
    gpuopt_elimination_relaxation_destroy(relaxation);
    free(order);
    return status;
}

/* ---- The answer ---- */

static void print_bound(const search *s, const char *name, int64_t cost, int known) {
    char text[GRAPHICAL_COST_TEXT] = "null";
    if (known && s->unit == 1) graphical_cost_text(&s->model, cost, text);
    else if (known) snprintf(text, sizeof text, "%.6f", (double)cost * s->unit);
    printf(", \"%s\": %s", name, text);
}

static void print_answer(const search *s, const options *o, const char *backend) {
    const char *status = !s->proven ? "bounded" : s->feasible ? "optimal" : "infeasible";
    const double seconds = now() - s->start;
    if (!s->json) {
        if (s->feasible) say(s, status, s->upper);
        else printf("%s\n", s->proven ? "No solution: every assignment is forbidden." : "No solution was found.");
        printf("Largest table of an exact elimination: 2^%.1f entries; mini-buckets of %d variables. %lld nodes, %lld "
               "bounds in %lld calls, %lld states remembered; %.3g s on %s.\n",
               s->tree.largest, (int)s->z, (long long)s->nodes, (long long)s->bounds, (long long)s->calls,
               (long long)s->recalled, seconds, backend);
        return;
    }
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"backend\": \"%s\", \"status\": \"%s\"", backend, status);
    if (s->model.maximised) print_bound(s, "lower_bound", s->upper, s->feasible);
    print_bound(s, s->model.maximised ? "upper_bound" : "lower_bound", s->lower, s->feasible || !s->proven);
    if (!s->model.maximised) print_bound(s, "upper_bound", s->upper, s->feasible);
    printf(
        ", \"z\": %d, \"log2_largest\": %.1f, \"nodes\": %lld, \"bounds\": %lld, \"calls\": %lld, \"recalled\": %lld, "
        "\"seconds\": %.6f}\n",
        (int)s->z, s->tree.largest, (long long)s->nodes, (long long)s->bounds, (long long)s->calls,
        (long long)s->recalled, seconds);
}

int main(int argc, char **argv) {
    options o = {0};
    search s = {0};
    speaker speaker = {"branch_wcsp", 0};
    const char *backend = NULL;
    char error[512];
    gpuopt_status status;
    o.backend = "auto";
    o.relax = 10;
    o.order_work = 1000000;
    o.cache = 22;
    o.threads = 1;
    o.seconds = HUGE_VAL;
    if (parse_words(argc, argv, usage, parse_option, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    s.json = o.json;
    s.unit = 1;
    s.start = now();
    if (graphical_load(o.model, 0, &s.model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    status = round_factors(&s) ? GPUOPT_ERROR_MEMORY
                               : open_context(o.backend, 1, (int)o.threads, &speaker, &s.context, &backend);
    if (o.batch == 0) o.batch = backend && strcmp(backend, "cuda") == 0 ? 2048 : 64;
    if (!status) status = branch(&s, &o);
    if (!status) print_answer(&s, &o, backend);
    else fprintf(stderr, "branch_wcsp: %s\n", gpuopt_status_string(status));
    gpuopt_elimination_destroy(s.elimination);
    gpuopt_context_destroy(s.context);
    tree_free(&s.tree);
    graphical_free(&s.model);
    free(s.incumbent);
    free(s.first_copy);
    free(s.copies);
    free(s.row);
    free(s.copy_rise);
    free(s.cache);
    return finish_output(status ? EXIT_FAILED : s.proven && !s.feasible ? EXIT_INFEASIBLE : 0);
}
