/* SPDX-License-Identifier: MIT
 *
 * Figures 9 and 10, Tables 4 and 5: single operations on the largest bucket; mini-buckets by their size z; what a run
 * spends its time on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "gpuopt/search.h"
#include "tests/papers/elimination.h"

enum { TOPOLOGIES = 3, MACHINES = 3, MOST_TABLES = 64, RUNS = 3 };

/* ---- Figure 9 ---- */

/* The tables of a model's largest bucket, with the values of their entries. */
typedef struct bucket {
    int32_t variables, functions;
    int32_t *domain;
    gpuopt_elimination_function function[MOST_TABLES];
    int64_t *own[MOST_TABLES]; /* costs of messages; NULL: a function of the model */
    int32_t variable;          /* to eliminate */
    double rows;               /* of the joined table */
} bucket;

static void stop_if(gpuopt_status status, const machine *on, const char *call) {
    if (!status) return;
    failed(on, "bucket", call, status);
    exit(EXIT_FAILED);
}

static void add_message(bucket *b, const machine *on, gpuopt_elimination *e, int32_t number,
                        const gpuopt_elimination_message_info *info) {
    gpuopt_elimination_function *f = &b->function[b->functions];
    int32_t *scope = malloc(sizeof *scope * ((size_t)info->arity + 1));
    int64_t *cost = malloc(sizeof *cost * (size_t)info->entries);
    memcpy(scope, info->scope, sizeof *scope * (size_t)info->arity);
    stop_if(gpuopt_elimination_message_get(e, GPUOPT_HOST, number, 0, cost, NULL, NULL), on, "message_get");
    f->arity = info->arity;
    f->scope = scope;
    f->tuples = -1;
    f->cost = cost;
    b->own[b->functions++] = cost;
}

/* Eliminates the subject in its order, and takes the functions and messages of the bucket with most rows. */
static void take_bucket(const machine *on, const subject *s, bucket *b) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_message_info info = GPUOPT_INIT(gpuopt_elimination_message_info);
    gpuopt_elimination *e = NULL;
    int32_t k, f, first;
    memset(b, 0, sizeof *b);
    b->variables = desc.variables = s->model.variables;
    b->domain = s->model.domain;
    desc.domain = s->model.domain;
    desc.functions = s->model.functions;
    desc.function = s->model.function;
    desc.order = s->order;
    desc.order_count = desc.variables;
    desc.policy = GPUOPT_POLICY_EXACT;
    stop_if(gpuopt_elimination_create(on->context, &desc, NULL, &e), on, "create");
    stop_if(gpuopt_elimination_step(e, INT32_MAX, NULL), on, "step");
    for (k = 0; k < desc.variables; k++) {
        stop_if(gpuopt_elimination_message_get_info(e, k, &info), on, "message_get_info");
        if ((double)info.entries * b->domain[info.variable] <= b->rows) continue;
        b->rows = (double)info.entries * b->domain[info.variable];
        b->variable = info.variable;
    }
    for (f = 0; f < desc.functions; f++) {
        const int32_t *scope = desc.function[f].scope;
        for (first = 0; s->order[first] != scope[0] && s->order[first] != scope[1];) first++;
        if (s->order[first] == b->variable && b->functions < MOST_TABLES)
            b->function[b->functions++] = desc.function[f];
    }
    for (k = 0; k < desc.variables; k++) {
        stop_if(gpuopt_elimination_message_get_info(e, k, &info), on, "message_get_info");
        if (info.parent == b->variable && b->functions < MOST_TABLES) add_message(b, on, e, k, &info);
    }
    gpuopt_elimination_destroy(e);
}

static void free_bucket(bucket *b) {
    int32_t f;
    for (f = 0; f < b->functions; f++)
        if (b->own[f]) {
            free((void *)b->function[f].scope);
            free(b->own[f]);
        }
}

/* Seconds of a step that joins these functions, or eliminates the variable from their join, or both; the median of
 * some. *table, if wanted: the message, as a function that the caller frees. */
static double time_step(const machine *on, const bucket *b, int32_t functions,
                        const gpuopt_elimination_function *function, int eliminates,
                        gpuopt_elimination_function *table) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    gpuopt_elimination_message_info info = GPUOPT_INIT(gpuopt_elimination_message_info);
    gpuopt_elimination *e = NULL;
    double seconds[RUNS];
    int k;
    desc.variables = b->variables;
    desc.domain = b->domain;
    desc.functions = functions;
    desc.function = function;
    desc.policy = GPUOPT_POLICY_EXACT;
    desc.order = &b->variable;
    desc.order_count = eliminates;
    desc.messages = &messages;
    messages.join_rest = !eliminates;
    stop_if(gpuopt_elimination_create(on->context, &desc, NULL, &e), on, "create");
    for (k = -1; k < RUNS; k++) {
        double start;
        stop_if(gpuopt_elimination_set_evidence(e, GPUOPT_HOST, 0, NULL), on, "set_evidence");
        stop_if(gpuopt_context_wait(on->context), on, "wait");
        start = now();
        stop_if(gpuopt_elimination_step(e, INT32_MAX, NULL), on, "step");
        stop_if(gpuopt_context_wait(on->context), on, "wait");
        if (k >= 0) seconds[k] = now() - start;
    }
    if (table) {
        bucket one;
        memset(&one, 0, sizeof one);
        stop_if(gpuopt_elimination_message_get_info(e, 0, &info), on, "message_get_info");
        add_message(&one, on, e, 0, &info);
        *table = one.function[0];
    }
    gpuopt_elimination_destroy(e);
    return median(seconds, RUNS);
}

static int same_table(const gpuopt_elimination_function *a, const gpuopt_elimination_function *b, const bucket *of) {
    int64_t entries = 1;
    int32_t k;
    if (a->arity != b->arity || memcmp(a->scope, b->scope, sizeof *a->scope * (size_t)a->arity)) return 0;
    for (k = 0; k < a->arity; k++) entries *= of->domain[a->scope[k]];
    return memcmp(a->cost, b->cost, sizeof *a->cost * (size_t)entries) == 0;
}

static void free_table(gpuopt_elimination_function *f) {
    free((void *)f->scope);
    free((void *)f->cost);
}

/* The instance of the largest n whose joined tables have at most 10^7 rows (--quick: 10^5). */
static void load_widest(const paper *p, const char *pattern, int most, int seed, char *name, subject *s) {
    for (;; most--) {
        snprintf(name, NAME, pattern, most, seed);
        if (subject_load(p, name, 0, s)) exit(EXIT_FAILED);
        if (induced_width(s) < (p->quick ? 5 : 7)) return;
        subject_free(s);
    }
}

static void operations_table(const paper *p) {
    static const struct {
        const char *topology, *pattern;
        int most; /* of n, or its square root */
        double aggregate, eliminate;
    } kinds[] = {{"random", "random:%d:10:0.3:%d", 20, 613, NAN},
                 {"scale-free", "scalefree:%d:10:%d", 60, 363, 911},
                 {"grid", "grid:%d:10:%d", 8, NAN, 830}};
    enum { AGGREGATE, ELIMINATES, FUSED, OPERATIONS };
    static const char *const words[] = {"aggregation", "elimination", "both, in one kernel"};
    const int instances = p->quick ? 2 : 3;
    table t;
    int kind, seed, k, what;
    table_start(&t, p, "paper3_fig9",
                "Figure 9: the operations on the largest bucket of an instance, of at most 10^7 rows (--quick: 10^5), "
                "seconds; means over three instances (--quick: two). The paper prints the least and the greatest of "
                "each row's speed-ups; paper: Opteron "
                "6276, GTX Titan.",
                "network|operation|joined rows|CPU|threads|GPU|faster: threads|faster: GPU|paper faster: GPU");
    for (kind = 0; kind < TOPOLOGIES; kind++) {
        double seconds[OPERATIONS][MACHINES] = {{0}}, rows = 0;
        for (seed = 1; seed <= instances; seed++) {
            gpuopt_elimination_function first[2];
            char name[NAME];
            bucket b;
            subject s;
            load_widest(p, kinds[kind].pattern, kinds[kind].most, seed, name, &s);
            take_bucket(p->all, &s, &b);
            rows += b.rows / instances;
            for (k = 0; k < p->count; k++) {
                const machine *on = &p->machines[k];
                gpuopt_elimination_function joined, projected, both;
                seconds[AGGREGATE][k] += time_step(on, &b, b.functions, b.function, 0, &joined);
                seconds[ELIMINATES][k] += time_step(on, &b, 1, &joined, 1, &projected);
                seconds[FUSED][k] += time_step(on, &b, b.functions, b.function, 1, &both);
                check(EQUAL, same_table(&projected, &both, &b), name);
                if (k == 0) {
                    first[0] = joined;
                    first[1] = both;
                } else {
                    check(EQUAL, same_table(&joined, &first[0], &b) && same_table(&both, &first[1], &b), name);
                    free_table(&joined);
                    free_table(&both);
                }
                free_table(&projected);
            }
            free_table(&first[0]);
            free_table(&first[1]);
            free_bucket(&b);
            subject_free(&s);
        }
        for (what = 0; what < OPERATIONS; what++) {
            const double one = seconds[what][0];
            table_text(&t, "%s", kinds[kind].topology);
            table_text(&t, "%s", words[what]);
            table_number(&t, rows);
            for (k = 0; k < MACHINES; k++) table_number(&t, k < p->count ? seconds[what][k] / instances : NAN);
            for (k = 1; k < MACHINES; k++) table_number(&t, k < p->count ? one / seconds[what][k] : NAN);
            table_number(&t, what == AGGREGATE    ? kinds[kind].aggregate
                             : what == ELIMINATES ? kinds[kind].eliminate
                                                  : NAN);
        }
    }
    table_end(&t);
}

/* ---- Figure 10 and Table 5 ---- */

/* Table 5, z = 2 to 10: Tesla M2075, GTX Titan, GTX Titan X; -1: out of memory. */
static const double devices[TOPOLOGIES][9][3] = {{{.21, .28, .60},
                                                  {1.42, 1.99, 3.25},
                                                  {10.7, 11.6, 16.1},
                                                  {60.6, 49.8, 66.4},
                                                  {144, 145, 223},
                                                  {198, 207, 392},
                                                  {198, 235, 645},
                                                  {197, 234, 620},
                                                  {199, 233, 628}},
                                                 {{.27, .43, .57},
                                                  {1.48, 2.42, 1.61},
                                                  {12.2, 7.46, 12.0},
                                                  {59.3, 51.3, 66.8},
                                                  {163, 159, 285},
                                                  {208, 244, 435},
                                                  {211, 274, 627},
                                                  {-1, -1, -1},
                                                  {-1, -1, -1}},
                                                 {{.22, .85, .49},
                                                  {1.54, 3.05, 2.80},
                                                  {21.9, 29.1, 33.0},
                                                  {117, 150, 232},
                                                  {117, 143, 237},
                                                  {117, 152, 235},
                                                  {118, 153, 241},
                                                  {115, 156, 238},
                                                  {117, 155, 235}}};

static void mini_bucket_row(const paper *p, table *t, subject *s, int z, const double *paper_faster) {
    const double limit = p->quick ? .3 : 15;
    double seconds[2][MACHINES];
    outcome one;
    int k, known = 0;
    memset(&one, 0, sizeof one);
    for (k = 0; k < MACHINES; k++) seconds[0][k] = seconds[1][k] = NAN;
    for (k = 0; k < p->count; k++) {
        const machine *on = &p->machines[k];
        outcome o = subject_eliminate(p, on, s, z, 0, k ? limit / 2 : limit);
        if (!o.done) continue;
        seconds[0][k] = o.seconds;
        check(EQUAL, !known || (o.cost == one.cost && o.upper == one.upper), s->name);
        if (!known) one = o, known = 1;
        if (foreseen(on, o.estimate.operations) + o.estimate.entries * o.estimate.bits / 8 / 4e8 >
            (p->quick ? .1 : 1.5))
            continue;
        o = subject_agents(p, on, s, z);
        if (!o.done) continue;
        seconds[1][k] = o.seconds;
        check(AGENTS, o.cost == one.cost && o.upper == one.upper, s->name);
    }
    table_text(t, "%d", z);
    if (known) {
        table_number(t, one.estimate.operations);
        table_text(t, "%lld", (long long)one.cost);
        table_text(t, "%lld", (long long)one.upper);
    } else {
        for (k = 0; k < 3; k++) table_text(t, "-");
    }
    for (k = 0; k < MACHINES; k++) table_number(t, seconds[0][k]);
    table_number(t, seconds[0][0] / seconds[0][2]);
    for (k = 0; k < MACHINES; k++) table_number(t, seconds[1][k]);
    table_number(t, seconds[1][0] / seconds[1][2]);
    for (k = 0; k < 3; k++)
        if (paper_faster[k] < 0) table_text(t, "oom");
        else table_number(t, paper_faster[k]);
}

static void mini_bucket_tables(const paper *p) {
    static const struct {
        const char *name, *title, *full, *quick;
    } kinds[] = {{"paper3_fig10a", "Figure 10a, Table 5: mini-buckets, random networks, n = 20, d = 25, p1 = 0.3",
                  "random:20:25:0.3:1", "random:20:6:0.3:1"},
                 {"paper3_fig10b", "Figure 10b, Table 5: mini-buckets, scale-free networks, n = 20, d = 25",
                  "scalefree:20:25:1", "scalefree:20:6:1"},
                 {"paper3_fig10c", "Figure 10c, Table 5: mini-buckets, grids, sqrt(n) = 10, d = 25", "grid:10:25:1",
                  "grid:10:6:1"}};
    int kind, z;
    for (kind = 0; kind < TOPOLOGIES; kind++) {
        char title[512];
        subject s;
        table t;
        snprintf(title, sizeof title,
                 "%s (--quick: d = 6); one instance in the order of its numbers, whose width is nearer to the paper's "
                 "than that of min-fill; seconds; -: it would take some seconds (--quick: 0.3 s) or does not fit; "
                 "paper: the speed-ups of three devices.",
                 kinds[kind].title);
        if (subject_load(p, p->quick ? kinds[kind].quick : kinds[kind].full, 0, &s)) return;
        subject_number(p, &s);
        table_start(&t, p, kinds[kind].name, title,
                    "z|operations|bound|upper|MBE CPU|threads|GPU|faster|ADPOP CPU|threads|GPU|faster|"
                    "paper Tesla M2075|paper Titan|paper Titan X");
        for (z = 2; z <= 10; z++) mini_bucket_row(p, &t, &s, z, devices[kind][z - 2]);
        table_end(&t);
        subject_free(&s);
    }
}

/* ---- Figure 10d ---- */

static void shares_table(const paper *p) {
    static const char *const full[] = {"random:20:25:0.3:1", "scalefree:20:25:1", "grid:10:25:1"};
    static const char *const quick[] = {"random:20:6:0.3:1", "scalefree:20:6:1", "grid:10:6:1"};
    static const char *const paper_shares[] = {"36 to 55%", "18 to 34%", "8 to 18%"};
    table t;
    int z, k, kind, phase, run;
    table_start(&t, p, "paper3_fig10d",
                "Figure 10d: shares of a run's time, means over the three networks above, in percent; create: "
                "allocation, and the functions to the device; assign: the value phase. The paper's share of allocation "
                "and transfer is over three devices.",
                "z|machine|plan|create|eliminate|assign|paper allocation, transfer");
    for (z = 4; z <= 8; z += 2)
        for (k = 0; k < p->count; k++) {
            double share[PHASES] = {0};
            int networks = 0;
            for (kind = 0; kind < TOPOLOGIES; kind++) {
                subject s;
                outcome o;
                double best = INFINITY, taken[PHASES];
                if (subject_load(p, p->quick ? quick[kind] : full[kind], 0, &s)) return;
                subject_number(p, &s);
                for (run = 0; run < RUNS; run++) {
                    o = subject_eliminate(p, &p->machines[k], &s, z, 0, p->quick ? .1 : 3);
                    if (o.done && o.seconds < best) best = o.seconds, memcpy(taken, o.phase, sizeof taken);
                }
                for (phase = 0; phase < PHASES && isfinite(best); phase++) share[phase] += 100 * taken[phase] / best;
                networks += isfinite(best) != 0;
                subject_free(&s);
            }
            table_text(&t, "%d", z);
            table_text(&t, "%s", p->machines[k].name);
            for (phase = 0; phase < PHASES; phase++) table_number(&t, networks ? share[phase] / networks : NAN);
            table_text(&t, "%s", paper_shares[z / 2 - 2]);
        }
    table_end(&t);
}

void kernel_figures(const paper *p) {
    operations_table(p);
    mini_bucket_tables(p);
    shares_table(p);
}
