/* SPDX-License-Identifier: MIT
 *
 * One model through elimination and through agents, timed and checked.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/io/agents.h"
#include "tests/papers/elimination.h"

/* ---- Checks ---- */

static const char *const statements[CHECKS] = {
    "all backends find the same optimum or bound",
    "agents find what one handle finds, with n - 1 UTIL messages",
    "assignments have the costs that are reported, none below its bound",
    "bounds are at most the published optimum",
    "exact elimination finds the published optimum",
    "the paper's example: width, mini-buckets, row numbers",
};
static long cases[CHECKS], failures[CHECKS];

void check(int which, int holds, const char *where) {
    cases[which]++;
    if (holds) return;
    failures[which]++;
    fprintf(stderr, "%s: this does not hold: %s\n", where, statements[which]);
}

int checks_hold(void) {
    int which, good = 1;
    puts("");
    for (which = 0; which < CHECKS; which++) {
        if (failures[which])
            printf("check: %s: FAILS in %ld of %ld cases\n", statements[which], failures[which], cases[which]);
        else if (cases[which]) printf("check: %s: holds (%ld cases)\n", statements[which], cases[which]);
        good &= !failures[which];
    }
    return good;
}

static void must(gpuopt_status status, const machine *on, const char *name, const char *call) {
    if (!status) return;
    failed(on, name, call, status);
    exit(EXIT_FAILED);
}

/* ---- Models ---- */

/* A grid of four columns: node k, its right and its lower neighbour; costs from 0 to 100. */
static void make_strip(const char *name, graphical_model *m) {
    int nodes, values, seed, k, other;
    uint64_t state;
    memset(m, 0, sizeof *m);
    if (sscanf(name, "strip:%d:%d:%d", &nodes, &values, &seed) != 3) exit(EXIT_BAD_INPUT);
    m->variables = nodes;
    m->max_domain = values;
    m->domain = malloc(sizeof *m->domain * (size_t)nodes);
    m->function = calloc(2 * (size_t)nodes, sizeof *m->function);
    state = (uint64_t)seed;
    for (k = 0; k < nodes; k++) m->domain[k] = values;
    for (k = 0; k < nodes; k++)
        for (other = 1; other <= 4; other += 3) {
            gpuopt_elimination_function *f = &m->function[m->functions];
            int32_t *scope;
            int64_t *cost, entries = (int64_t)values * values, at;
            if (k + other >= nodes || (other == 1 && k % 4 == 3)) continue;
            scope = malloc(2 * sizeof *scope);
            cost = malloc(sizeof *cost * (size_t)entries);
            scope[0] = k;
            scope[1] = k + other;
            for (at = 0; at < entries; at++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                cost[at] = (int64_t)((state >> 33) % 101);
            }
            f->arity = 2;
            f->tuples = -1;
            f->scope = scope;
            f->cost = cost;
            m->functions++;
        }
}

uint64_t paper_memory(const paper *p) {
    const uint64_t whole = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGE_SIZE);
    const uint64_t most = p->quick ? (uint64_t)1 << 30 : (uint64_t)32 << 30; /* the paper's 32 GB */
    return whole / 2 < most ? whole / 2 : most;
}

/* What a descriptor points to. */
typedef struct settings {
    gpuopt_elimination_order_search search;
    gpuopt_elimination_memory memory;
} settings;

static gpuopt_elimination_desc describe(const paper *p, const machine *on, const subject *s, int32_t z, settings *at) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_desc_init(&at->search, sizeof at->search);
    gpuopt_desc_init(&at->memory, sizeof at->memory);
    desc.variables = s->model.variables;
    desc.domain = s->model.domain;
    desc.functions = s->model.functions;
    desc.function = s->model.function;
    desc.top = s->model.top;
    desc.policy = z ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_AUTO;
    desc.z = z;
    desc.memory = &at->memory;
    if (!on->cuda) at->memory.bytes = paper_memory(p);
    return desc;
}

/* Sets the subject's order to one run of min-fill, or to the variables as they are numbered. Returns the operations. */
static double take_order(const paper *p, subject *s, int numbered) {
    settings at;
    gpuopt_elimination_desc desc = describe(p, p->one, s, 0, &at);
    int32_t k;
    for (k = 0; k < desc.variables && numbered; k++) s->order[k] = k;
    at.search.heuristic = GPUOPT_HEURISTIC_MIN_FILL;
    at.search.restarts = 1;
    desc.order_search = &at.search;
    if (numbered) desc.order = s->order, desc.order_count = desc.variables;
    gpuopt_desc_init(&s->estimate, sizeof s->estimate);
    must(gpuopt_elimination_order(p->one->context, &desc, s->order, s->parent, &s->estimate), p->one, s->name, "order");
    return exact_operations(s);
}

void subject_number(const paper *p, subject *s) { take_order(p, s, 1); }

double exact_operations(const subject *s) {
    const double counted = s->estimate.policy_operations[GPUOPT_POLICY_EXACT];
    if (s->estimate.policy == GPUOPT_POLICY_EXACT) return s->estimate.operations;
    return counted > 0 ? counted : INFINITY;
}

int induced_width(const subject *s) {
    const int n = s->model.variables;
    char *near = calloc((size_t)n * (size_t)n, 1);
    int f, i, j, k, width = 0;
    for (f = 0; f < s->model.functions; f++) {
        const gpuopt_elimination_function *of = &s->model.function[f];
        for (i = 0; i < of->arity; i++)
            for (j = 0; j < of->arity; j++)
                if (i != j) near[of->scope[i] * n + of->scope[j]] = 1;
    }
    for (k = 0; k < n; k++) {
        const int v = s->order[k];
        int count = 0;
        for (i = 0; i < n; i++) count += near[v * n + i];
        if (count > width) width = count;
        for (i = 0; i < n; i++)
            for (j = 0; j < n && near[v * n + i]; j++)
                if (i != j && near[v * n + j]) near[i * n + j] = 1;
        for (i = 0; i < n; i++) near[i * n + v] = near[v * n + i] = 0;
    }
    free(near);
    return width;
}

int subject_load(const paper *p, const char *name, double hard, subject *s) {
    char path[4096], error[1024];
    double numbered;
    size_t n;
    int32_t k;
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    if (strncmp(name, "strip:", 6) == 0) {
        make_strip(name, &s->model);
    } else {
        snprintf(path, sizeof path, "%s/wcsp/%s.wcsp", p->data ? p->data : ".", name);
        if (graphical_load(strchr(name, ':') ? name : path, hard, &s->model, error, sizeof error)) {
            printf("%s is left out: %s\n", name, error);
            return -1;
        }
    }
    n = (size_t)s->model.variables + 1;
    s->order = malloc(n * sizeof *s->order);
    s->parent = malloc(n * sizeof *s->parent);
    s->value = malloc(n * sizeof *s->value);
    s->agent = malloc(n * sizeof *s->agent);
    s->fixed = malloc(n * sizeof *s->fixed);
    for (k = 0; k < s->model.variables; k++) s->agent[k] = k, s->fixed[k] = -1;
    numbered = take_order(p, s, 1);
    if (take_order(p, s, 0) > numbered) subject_number(p, s);
    return 0;
}

void subject_free(subject *s) {
    graphical_free(&s->model);
    free(s->order);
    free(s->parent);
    free(s->value);
    free(s->agent);
    free(s->fixed);
}

double foreseen(const machine *on, double operations) {
    return operations / (on->cuda ? 1.5e12 : 1.2e9 * (on->threads > 1 ? 0.7 * on->threads : 1));
}

/* ---- Runs ---- */

/* Looks the assignment up in the model. */
static void check_assignment(const subject *s, const outcome *o) {
    int permitted;
    int64_t cost;
    double ignored;
    if (!o->assigned) return;
    graphical_cost(&s->model, s->value, &permitted, &cost, &ignored);
    check(COSTS, permitted && cost == o->upper && o->cost <= cost && (!o->exact || o->cost == cost), s->name);
}

outcome subject_plan(const paper *p, const machine *on, subject *s, int32_t z) {
    outcome o;
    settings at;
    gpuopt_elimination_desc desc = describe(p, on, s, z, &at);
    gpuopt_status status;
    memset(&o, 0, sizeof o);
    gpuopt_desc_init(&o.estimate, sizeof o.estimate);
    desc.order = s->order;
    desc.order_count = desc.variables;
    status = gpuopt_elimination_order(on->context, &desc, NULL, NULL, &o.estimate);
    if (status != GPUOPT_ERROR_MEMORY && status != GPUOPT_ERROR_UNSUPPORTED) must(status, on, s->name, "order");
    o.done = !status && (z || o.estimate.policy != GPUOPT_POLICY_MINI_BUCKET);
    return o;
}

outcome subject_eliminate(const paper *p, const machine *on, subject *s, int32_t z, int search, double limit) {
    outcome o;
    settings at;
    gpuopt_elimination_desc desc = describe(p, on, s, z, &at);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_elimination *elimination = NULL;
    int32_t *order = malloc(sizeof *order * ((size_t)s->model.variables + 1));
    gpuopt_status status;
    double start = now(), last = start;
    int k;
    memset(&o, 0, sizeof o);
    gpuopt_desc_init(&o.estimate, sizeof o.estimate);
    if (!search) desc.order = s->order, desc.order_count = desc.variables;
    status = gpuopt_elimination_order(on->context, &desc, order, NULL, &o.estimate);
    o.phase[PLAN] = now();
    desc.order = order;
    desc.order_count = desc.variables;
    o.late = foreseen(on, o.estimate.operations) > limit;
    if (!status && !o.late && (z || o.estimate.policy != GPUOPT_POLICY_MINI_BUCKET)) {
        status = gpuopt_elimination_create(on->context, &desc, NULL, &elimination);
        o.phase[CREATE] = now();
        if (!status) must(gpuopt_elimination_step(elimination, INT32_MAX, &info), on, s->name, "step");
        o.phase[ELIMINATE] = now();
        if (!status)
            must(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, s->value, &found), on, s->name, "assign");
        o.phase[ASSIGN] = now();
        o.done = !status;
    }
    gpuopt_elimination_destroy(elimination);
    o.seconds = now() - start;
    free(order);
    if (status != GPUOPT_ERROR_MEMORY && status != GPUOPT_ERROR_UNSUPPORTED) must(status, on, s->name, "create");
    for (k = 0; k < PHASES; k++) {
        const double end = o.phase[k];
        o.phase[k] -= last;
        last = end;
    }
    o.cost = info.outcome == GPUOPT_INFEASIBLE ? INT64_MAX : info.cost;
    o.exact = info.outcome == GPUOPT_OPTIMAL;
    o.assigned = found.outcome == GPUOPT_OPTIMAL || found.outcome == GPUOPT_CONVERGED;
    o.upper = found.cost;
    if (o.done) check_assignment(s, &o);
    return o;
}

outcome subject_agents(const paper *p, const machine *on, subject *s, int32_t z) {
    outcome o;
    settings at;
    gpuopt_elimination_desc desc = describe(p, on, s, z, &at);
    agents_answer answer;
    double ignored;
    int permitted;
    int32_t k, roots = 0;
    gpuopt_status status;
    desc.order = s->order;
    desc.order_count = desc.variables;
    if (!z) desc.policy = GPUOPT_POLICY_EXACT;
    memset(&o, 0, sizeof o);
    status = agents_solve(on->context, &desc, s->parent, s->fixed, s->agent, s->value, &answer);
    if (status == GPUOPT_ERROR_MEMORY || status == GPUOPT_ERROR_UNSUPPORTED) return o;
    must(status, on, s->name, "agents");
    o.done = 1;
    o.seconds = answer.simulated_seconds;
    o.cost = answer.info.outcome == GPUOPT_INFEASIBLE ? INT64_MAX : answer.info.cost;
    o.exact = answer.info.outcome == GPUOPT_OPTIMAL;
    o.assigned = answer.assigned;
    o.util_messages = answer.util_messages;
    o.estimate = answer.estimate;
    if (o.assigned) graphical_cost(&s->model, s->value, &permitted, &o.upper, &ignored);
    for (k = 0; k < desc.variables; k++) roots += s->parent[k] < 0;
    check(AGENTS, answer.util_messages == desc.variables - roots, s->name);
    check_assignment(s, &o);
    return o;
}
