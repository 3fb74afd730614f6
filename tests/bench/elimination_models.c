/* SPDX-License-Identifier: MIT
 *
 * Whole models: exact elimination and mini-buckets, compared with other programs.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "examples/io/graphical.h"
#include "tests/bench/elimination_bench.h"
#include "tests/support/support.h"

static const char default_models[] =
    "spot5/54,spot5/503,spot5/29,spot5/404,spot5/505b,spot5/42b,spot5/408b,iscas89/c432,iscas89/c499,iscas89/c880,"
    "iscas89/s1423,iscas89/s386,coloring/queen5-5-3,coloring/myciel5g-3,random:20:10:0.3:1,random:20:10:0.3:2,"
    "random:20:10:0.3:3,random:20:10:0.3:4,random:20:10:0.3:5";

/* Additions and minima per second of one thread; decides which models are left out. */
#define CPU_SPEED 1e9

/* Milliseconds, 0: none. Goals are for one H200. The other programs' times (the search of toulbar2 1.3, FABE, on one
 * core each, and the paper's code) were taken on an H200 and its CPU. The paper's own time of the random models is the
 * average that it prints. */
static const struct {
    const char *model;
    double goal, whole_goal;
    const char *toulbar2, *fabe, *paper;
} others[] = {
    {"spot5/54", 0, 0, "9", "-", "24 (z 10: 37)"},
    {"spot5/503", 0, 0, "-", "-", "56 (z 13: 11113)"},
    {"spot5/29", 5, 100, "14", "800", "126 (z 14: 8058)"},
    {"spot5/404", 5, 100, "21", "370", "75 (z 20: 114)"},
    {"spot5/505b", 5, 100, "590", "2800", "297 (z 14: 19244)"},
    {"spot5/42b", 60, 0, "1380", "8700", "200 (z 14: 149050)"},
    {"spot5/408b", 90, 0, "430", "-", "177 (z 14: 6206)"},
    {"iscas89/c432", 5, 100, "140", "> 40000", "out of memory"},
    {"iscas89/c499", 5, 100, "30", "36000", "out of memory"},
    {"iscas89/c880", 5, 100, "70", "> 40000", "out of memory"},
    {"iscas89/s1423", 5, 100, "35", "13500", "out of memory"},
    {"coloring/queen5-5-3", 5, 0, "6500", "-", "-"},
    {"coloring/myciel5g-3", 25, 0, "840", "-", "-"},
    {"celar/CELAR6-SUB0", 0, 0, "20", "-", "163 (z 5: 111)"},
    {"random:20:10:0.3:", 2, 0, "-", "-", "8100"},
};

/* The paper's code; its costs have 32 bits. */
static const struct {
    const char *model;
    int32_t z;
    double milliseconds;
    int64_t bound;
} paper[] = {
    {"spot5/54", 10, 24, 37},           {"spot5/503", 13, 56, 11113},   {"spot5/29", 10, 43, 8055},
    {"spot5/29", 14, 126, 8058},        {"spot5/404", 10, 59, 106},     {"spot5/404", 15, 59, 112},
    {"spot5/404", 20, 75, 114},         {"spot5/505b", 14, 297, 19244}, {"spot5/42b", 10, 113, 135050},
    {"spot5/42b", 14, 200, 149050},     {"spot5/408b", 8, 167, 5162},   {"spot5/408b", 14, 177, 6206},
    {"celar/CELAR6-SUB0", 5, 163, 111},
};
static const double paper_goal = 20; /* times faster */

/* ---- Measuring ---- */

enum { ORDER, CREATE, ELIMINATE, ASSIGN, WHOLE, PHASES };

typedef struct subject {
    char name[NAME];
    graphical_model model;
    int64_t optimum; /* published; -1: none */
    int32_t *order, *value;
} subject;

typedef struct figures {
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment found;
    double milliseconds[PHASES]; /* medians */
    int left_out;
} figures;

static const char *const words[] = {"auto", "exact", "drop", "recompute", "slice", "stream", "mini-bucket"};

/* What a descriptor points to. */
typedef struct parts {
    gpuopt_elimination_order_search search;
    gpuopt_elimination_memory memory;
} parts;

static gpuopt_elimination_desc describe(const subject *s, const machine *on, const options *o, int32_t z, parts *p) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_desc_init(&p->search, sizeof p->search);
    gpuopt_desc_init(&p->memory, sizeof p->memory);
    desc.variables = s->model.variables;
    desc.domain = s->model.domain;
    desc.functions = s->model.functions;
    desc.function = s->model.function;
    desc.type = s->model.type;
    desc.top = s->model.top;
    desc.policy = z ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_AUTO;
    desc.z = z;
    if (z) { /* if z limits the work, a long search for an order takes most of the time */
        desc.order_search = &p->search;
        p->search.heuristic = GPUOPT_HEURISTIC_MIN_FILL;
        p->search.restarts = 1;
    }
    desc.memory = &p->memory;
    if (!on->cuda) p->memory.bytes = (uint64_t)o->memory << 30;
    return desc;
}

/* Seconds from the model to its answer. */
static int run_once(subject *s, const machine *on, const options *o, int32_t z, figures *f, double *seconds) {
    parts p;
    gpuopt_elimination_desc desc = describe(s, on, o, z, &p);
    gpuopt_elimination *elimination = NULL;
    gpuopt_status status;
    const char *call = "order";
    double start = now(), at[PHASES];
    status = gpuopt_elimination_order(on->context, &desc, s->order, NULL, &f->estimate);
    at[ORDER] = now();
    f->left_out = !status && !on->cuda && f->estimate.operations > CPU_SPEED * (double)on->threads * (double)o->limit;
    if (f->left_out) return 0;
    desc.order = s->order;
    desc.order_count = desc.variables;
    if (!status) status = gpuopt_elimination_create(on->context, &desc, NULL, &elimination), call = "create";
    at[CREATE] = now();
    if (!status) status = gpuopt_elimination_step(elimination, INT32_MAX, &f->info), call = "step";
    at[ELIMINATE] = now();
    if (!status) status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, s->value, &f->found), call = "assign";
    at[ASSIGN] = now();
    gpuopt_elimination_destroy(elimination);
    at[WHOLE] = now();
    if (status) return failed(on, s->name, call, status);
    seconds[ORDER] = at[ORDER] - start;
    seconds[CREATE] = at[CREATE] - at[ORDER];
    seconds[ELIMINATE] = at[ELIMINATE] - at[CREATE];
    seconds[ASSIGN] = at[ASSIGN] - at[ELIMINATE];
    seconds[WHOLE] = at[WHOLE] - start;
    return 0;
}

/* One run to warm up. If it is long, it is the only one. */
static int measure(subject *s, const machine *on, const options *o, int32_t z, figures *f) {
    double seconds[PHASES], all[PHASES][MOST_REPEATS], spent = 0;
    int runs = 0, k;
    memset(f, 0, sizeof *f);
    gpuopt_desc_init(&f->estimate, sizeof f->estimate);
    gpuopt_desc_init(&f->info, sizeof f->info);
    gpuopt_desc_init(&f->found, sizeof f->found);
    if (run_once(s, on, o, z, f, seconds)) return -1;
    if (f->left_out) return 0;
    do {
        if (seconds[WHOLE] < 10 && run_once(s, on, o, z, f, seconds)) return -1;
        for (k = 0; k < PHASES; k++) all[k][runs] = seconds[k];
        spent += seconds[WHOLE];
    } while (++runs < o->repeat && spent < 30);
    for (k = 0; k < PHASES; k++) f->milliseconds[k] = 1e3 * median(all[k], runs);
    return 0;
}

/* "ok", or the error in the answer. */
static const char *verdict(const subject *s, const figures *f, int32_t z) {
    int64_t cost;
    double real;
    int permitted, bounded = f->estimate.policy == GPUOPT_POLICY_MINI_BUCKET;
    if (z ? !bounded : bounded) return "WRONG: not the policy";
    if (f->found.outcome != GPUOPT_INFEASIBLE) {
        graphical_cost(&s->model, s->value, &permitted, &cost, &real);
        if (!permitted || cost != f->found.cost) return "WRONG: not the assignment's cost";
        if (f->info.cost > cost || (s->optimum >= 0 && cost < s->optimum)) return "WRONG: bounds that cross";
    } else if (!bounded) return "WRONG: infeasible";
    if (s->optimum >= 0 && f->info.cost > s->optimum) return "WRONG: above the optimum";
    if (bounded) return "ok";
    if (f->found.outcome != GPUOPT_OPTIMAL || f->info.cost != f->found.cost) return "WRONG: bounds differ";
    if (s->optimum < 0) return "bounds agree";
    return f->info.cost == s->optimum ? "ok" : "WRONG: not the optimum";
}

/* ---- Models ---- */

/* The optimum in GPUOPT_TEST_DATA/wcsp/index.csv; -1: none. */
static int64_t published_optimum(const char *name) {
    const char *path = test_data("wcsp/index.csv");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[1024];
    size_t length = strlen(name);
    int64_t optimum = -1;
    while (file && fgets(line, sizeof line, file)) {
        const char *at = line;
        int comma;
        if (strncmp(line, name, length) || strncmp(line + length, ".wcsp,", 6)) continue;
        for (comma = 0; comma < 5 && at; comma++) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
        if (at && *at != ',') optimum = strtoll(at, NULL, 10);
    }
    if (file) fclose(file);
    return optimum;
}

/* Returns 0, or prints why not and returns -1. */
static int load(const char *name, subject *s) {
    char file[NAME + 16], error[1024];
    const char *path;
    memset(s, 0, sizeof *s);
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(file, sizeof file, "wcsp/%s.wcsp", name);
    path = strchr(name, ':') ? NULL : test_data(file);
    if (!path && !strpbrk(name, ":.")) {
        fprintf(stderr, "%s: not in GPUOPT_TEST_DATA/wcsp\n", name);
        return -1;
    }
    if (graphical_load(path ? path : name, 0, &s->model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return -1;
    }
    s->optimum = path ? published_optimum(name) : -1;
    s->order = calloc((size_t)s->model.variables + 1, sizeof *s->order);
    s->value = calloc((size_t)s->model.variables + 1, sizeof *s->value);
    if (s->order && s->value) return 0;
    fprintf(stderr, "%s: out of memory\n", name);
    return -1;
}

static void unload(subject *s) {
    graphical_free(&s->model);
    free(s->order);
    free(s->value);
}

/* ---- Tables ---- */

static double planned_gigabytes(const machine *on, const gpuopt_elimination_estimate *e) {
    return 1e-9 * (double)(on->cuda ? e->memory.device_bytes : e->memory.host_bytes + e->memory.create_bytes);
}

static void print_bound(int known, int64_t cost) {
    if (known) printf(" %lld |", (long long)cost);
    else printf(" none |");
}

/* The columns that both tables have. */
static void print_figures(const figures *f) {
    int k;
    for (k = 0; k < PHASES; k++) printf(" %.*f |", f->milliseconds[k] < 10 ? 2 : 1, f->milliseconds[k]);
}

static void print_policy(const figures *f) {
    if (f->estimate.policy == GPUOPT_POLICY_SLICE) printf(" %lld slices |", (long long)f->estimate.slices);
    else printf(" %s |", words[f->estimate.policy]);
}

static int other_of(const char *name) {
    int k, count = (int)(sizeof others / sizeof *others);
    for (k = 0; k < count; k++) {
        size_t length = strlen(others[k].model);
        if (strncmp(name, others[k].model, others[k].model[length - 1] == ':' ? length : NAME) == 0) return k;
    }
    return -1;
}

/* The goal, whether it is met (on the GPU), and the other programs' times. */
static void print_others(const char *name, const machine *on, const figures *f) {
    int k = other_of(name), met;
    if (k < 0 || others[k].goal == 0 || !on->cuda) {
        printf(" |");
    } else {
        met = f->milliseconds[ELIMINATE] <= others[k].goal &&
              (others[k].whole_goal == 0 || f->milliseconds[WHOLE] <= others[k].whole_goal);
        printf(" %g", others[k].goal);
        if (others[k].whole_goal > 0) printf(" / %g", others[k].whole_goal);
        printf("%s |", met ? ": met" : ": **missed**");
    }
    printf(" %s | %s | %s |\n", k < 0 ? "-" : others[k].toulbar2, k < 0 ? "-" : others[k].fabe,
           k < 0 ? "-" : others[k].paper);
}

static int exact_row(subject *s, const machine *on, const options *o) {
    const gpuopt_elimination_estimate *e;
    const char *result;
    figures f;
    if (measure(s, on, o, 0, &f)) return -1;
    e = &f.estimate;
    printf("| %s | %s |", s->name, on->name);
    print_policy(&f);
    printf(" %d | %d | %d / %d | %.3g |", (int)e->width, (int)e->bits, (int)e->levels, (int)e->messages,
           planned_gigabytes(on, e));
    if (f.left_out) {
        printf(" left out: %.1e operations |\n", e->operations);
        return 0;
    }
    result = verdict(s, &f, 0);
    print_figures(&f);
    if (on->cuda) printf(" %.1f%% |", 100 * e->bytes_moved / (1e-3 * f.milliseconds[ELIMINATE]) / COPY_SPEED);
    else printf(" |");
    print_bound(1, f.info.cost);
    print_bound(f.found.outcome != GPUOPT_INFEASIBLE, f.found.cost);
    printf(" %s |", result);
    print_others(s->name, on, &f);
    fflush(stdout);
    return strncmp(result, "WRONG", 5) == 0 ? -1 : 0;
}

int exact_table(const machine *machines, int count, const options *o) {
    const char *at = o->models ? o->models : default_models;
    char word[NAME];
    int bad = 0, k;
    printf("\nExact elimination, ms. Goals: eliminate, or eliminate / whole.\n\n");
    printf(
        "| model | backend | policy | w | bits | levels / messages | GB | order | create | eliminate | assign | whole "
        "| share | lower | upper | answer | goal | toulbar2 | FABE | paper's code |\n"
        "|%s\n",
        " --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- "
        "| --- | --- |");
    while (next_word(&at, word)) {
        subject s;
        int loaded = load(word, &s) == 0;
        bad |= !loaded;
        for (k = 0; k < count && loaded; k++) bad |= exact_row(&s, &machines[k], o);
        unload(&s);
    }
    return bad ? -1 : 0;
}

static int mini_bucket_row(subject *s, const machine *on, const options *o, int which) {
    const gpuopt_elimination_estimate *e;
    const char *result;
    double faster, faster_whole;
    figures f;
    if (measure(s, on, o, paper[which].z, &f)) return -1;
    e = &f.estimate;
    printf("| %s | %d | %s | %d | %d / %d | %.3g |", s->name, (int)paper[which].z, on->name, (int)e->bits,
           (int)e->levels, (int)e->messages, planned_gigabytes(on, e));
    if (f.left_out) {
        printf(" left out: %.1e operations |\n", e->operations);
        return 0;
    }
    result = verdict(s, &f, paper[which].z);
    print_figures(&f);
    print_bound(f.info.outcome != GPUOPT_INFEASIBLE, f.info.cost);
    print_bound(f.found.outcome != GPUOPT_INFEASIBLE, f.found.cost);
    printf(" %s |", result);
    faster = paper[which].milliseconds / f.milliseconds[ELIMINATE];
    faster_whole = paper[which].milliseconds / f.milliseconds[WHOLE];
    printf(" %g | %lld | %.1f / %.1f |", paper[which].milliseconds, (long long)paper[which].bound, faster,
           faster_whole);
    if (!on->cuda) printf(" |\n");
    else if (f.info.cost < paper[which].bound) printf(" **a worse bound** |\n");
    else printf(" %s |\n", faster_whole >= paper_goal ? "met" : faster >= paper_goal ? "by eliminate" : "**missed**");
    fflush(stdout);
    return strncmp(result, "WRONG", 5) == 0 ? -1 : 0;
}

static int wanted(const options *o, const char *model) {
    const char *at = o->models;
    char word[NAME];
    while (at && next_word(&at, word))
        if (strcmp(word, model) == 0) return 1;
    return !at;
}

int mini_bucket_table(const machine *machines, int count, const options *o) {
    int which, k, bad = 0;
    subject s;
    printf("\nMini-buckets, ms; one run of min-fill finds the order. Goal: %g times faster than the paper's code "
           "(whole program), with a bound as good.\n\n",
           paper_goal);
    printf(
        "| model | z | backend | bits | levels / messages | GB | order | create | eliminate | assign | whole | bound | "
        "upper | answer | paper's ms | paper's bound | eliminate / whole times faster | goal |\n"
        "|%s\n",
        " --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- "
        "|");
    for (which = 0; which < (int)(sizeof paper / sizeof *paper); which++) {
        int loaded;
        if (!wanted(o, paper[which].model)) continue;
        loaded = load(paper[which].model, &s) == 0;
        bad |= !loaded;
        for (k = 0; k < count && loaded; k++) bad |= mini_bucket_row(&s, &machines[k], o, which);
        unload(&s);
    }
    return bad ? -1 : 0;
}

/* ---- Relaxations ---- */

/* A relaxation; its bound, and the processor's seconds that it took. */
static int relax_once(const gpuopt_elimination_desc *desc, const machine *on, int32_t iterations,
                      gpuopt_elimination_cost_shifting_info *info, double *seconds) {
    gpuopt_elimination_cost_shifting *relaxation = NULL;
    const double start = now();
    gpuopt_status status = gpuopt_elimination_shift_costs(on->context, desc, iterations, &relaxation);
    *seconds = now() - start;
    gpuopt_desc_init(info, sizeof *info);
    if (!status) status = gpuopt_elimination_cost_shifting_get_info(relaxation, info);
    gpuopt_elimination_cost_shifting_destroy(relaxation);
    if (status) fprintf(stderr, "%s\n", gpuopt_context_last_error(on->context));
    return status ? -1 : 0;
}

static int relaxed_row(subject *s, const machine *on, const options *o, int which) {
    static const int32_t iterations[] = {0, 10, 40};
    const int32_t z = paper[which].z;
    parts p;
    gpuopt_elimination_desc desc = describe(s, on, o, z, &p);
    gpuopt_elimination *plain = NULL;
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    int k, bad = 0;
    if (gpuopt_elimination_order(on->context, &desc, s->order, NULL, NULL)) return -1;
    desc.order = s->order;
    desc.order_count = s->model.variables;
    if (gpuopt_elimination_create(on->context, &desc, NULL, &plain)) return -1;
    bad = gpuopt_elimination_step(plain, INT32_MAX, NULL) ||
          gpuopt_elimination_assign(plain, GPUOPT_HOST, 0, s->value, &found);
    gpuopt_elimination_destroy(plain);
    if (bad) return -1;
    if (found.outcome != GPUOPT_INFEASIBLE) desc.top = found.cost + 1;
    printf("| %s | %d | %s |", s->name, (int)z, on->name);
    print_bound(found.outcome != GPUOPT_INFEASIBLE, found.cost);
    for (k = 0; k < 3 && !bad; k++) {
        gpuopt_elimination_cost_shifting_info info;
        double seconds;
        if (relax_once(&desc, on, iterations[k], &info, &seconds)) return -1;
        printf(" %lld (%.2f) | %.3g |", (long long)info.cost, info.value, seconds);
        fflush(stdout);
        bad = s->optimum >= 0 && info.cost > s->optimum;
    }
    printf(" %lld | %s |\n", (long long)s->optimum, bad ? "WRONG: above the optimum" : "ok");
    fflush(stdout);
    return bad ? -1 : 0;
}

int relaxed_table(const machine *machines, int count, const options *o) {
    int which, k, bad = 0;
    subject s;
    printf("\nRelaxations: bounds after shifting costs 0, 10 and 40 times, rounded and as they are, and seconds. One "
           "run of "
           "min-fill finds the order; top is one more than the cost of the assignment that mini-buckets find.\n\n"
           "| model | z | backend | upper | 0 | s | 10 | s | 40 | s | optimum | answer |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (which = 0; which < (int)(sizeof paper / sizeof *paper); which++) {
        int loaded;
        if (!wanted(o, paper[which].model)) continue;
        loaded = load(paper[which].model, &s) == 0;
        bad |= !loaded;
        for (k = 0; k < count && loaded; k++) bad |= relaxed_row(&s, &machines[k], o, which);
        unload(&s);
    }
    return bad ? -1 : 0;
}
