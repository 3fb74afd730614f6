/* SPDX-License-Identifier: MIT
 *
 * Tables 1 to 3: elimination and agents on random, scale-free and grid networks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/papers/elimination.h"

#define OOM (-1) /* the paper: out of memory */

enum { INSTANCES = 50, RANDOM, SCALE_FREE, GRID, STRIP, MACHINES = 3 };

/* A row of the paper: seconds, and how many times as fast the GPU is. */
typedef struct row {
    int n, d;
    double p1, width, be_cpu, be_gpu, be_faster, dpop_cpu, dpop_gpu, dpop_faster, cube;
} row;

static const row random_rows[] = {
    {10, 10, .3, 2.9, .084, .008, 10.5, .007, .001, 7.20, 1.802},
    {11, 10, .3, 3.2, .136, .010, 13.6, .013, .001, 13.0, 4.685},
    {12, 10, .3, 3.6, .309, .012, 25.7, .038, .001, 28.5, 9.754},
    {13, 10, .3, 4.3, 1.430, .018, 79.4, .232, .002, 116, 17.088},
    {14, 10, .3, 4.4, 2.466, .025, 98.6, .404, .003, 134, 27.474},
    {15, 10, .3, 5.3, 8.870, .056, 158, 1.874, .010, 187, OOM},
    {16, 10, .3, 5.8, 48.01, .280, 171, 10.32, .051, 202, OOM},
    {17, 10, .3, 6.4, 148.0, .739, 200, 33.49, .164, 204, OOM},
    {18, 10, .3, 7.5, 454.1, 2.081, 218, 174.4, .818, 213, OOM},
    {19, 10, .3, 8.0, 1083, 4.559, 237, 221.3, 1.419, 233, OOM},
    {20, 10, .3, 8.5, 1744, 8.099, 215, 710.0, 3.006, 236, OOM},
    {10, 5, .3, 3.0, .004, .008, .56, .001, .001, .80, .078},
    {10, 10, .3, 2.9, .084, .008, 10.5, .007, .001, 7.20, 1.802},
    {10, 25, .3, 2.8, .942, .017, 55.4, .092, .001, 92.3, 11.78},
    {10, 50, .3, 2.9, 46.92, .179, 262, 14.27, .049, 291, OOM},
    {10, 100, .3, 2.9, 177.8, .577, 308, 35.58, .119, 299, OOM},
    {10, 10, .2, 2.0, .003, .005, .62, .001, .001, .94, .065},
    {10, 10, .3, 2.9, .084, .008, 10.5, .007, .001, 7.20, 1.802},
    {10, 10, .4, 3.8, .489, .012, 40.7, .043, .001, 42.5, 6.232},
    {10, 10, .5, 4.5, 1.998, .019, 105, .260, .002, 130, 12.198},
    {10, 10, .6, 5.4, 10.74, .061, 176, 1.941, .011, 176, 27.353},
    {10, 10, .7, 5.9, 43.07, .210, 205, 10.61, .056, 189, 29.266},
    {10, 10, .8, 6.7, 182.8, .800, 228, 35.22, .165, 213, 41.984},
    {10, 10, .9, 7.6, 894.8, 3.853, 232, 281.37, 1.322, 211, OOM},
};
static const row scale_free_rows[] = {
    {10, 10, 0, 6.3, 22.99, .111, 207, 13.78, .064, 215, 3.401},
    {11, 10, 0, 6.0, 25.57, .120, 212, 13.21, .057, 211, 4.545},
    {12, 10, 0, 6.0, 55.26, .231, 212, 14.60, .072, 213, 21.31},
    {13, 10, 0, 5.9, 168.7, .776, 217, 37.61, .167, 225, OOM},
    {14, 10, 0, 6.9, 529.8, 2.293, 231, 86.32, .386, 223, OOM},
    {15, 10, 0, 8.2, 1973, 9.246, 213, 555.1, 2.441, 227, OOM},
    {16, 10, 0, 9.2, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
    {17, 10, 0, 9.5, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
    {18, 10, 0, 10, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
    {19, 10, 0, 11, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
    {20, 10, 0, 12, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
    {10, 5, 0, 6.8, 1.795, .024, 74.8, .290, .002, 145, 1.067},
    {10, 10, 0, 6.3, 22.99, .111, 207, 13.78, .064, 215, 3.401},
    {10, 25, 0, 6.6, 890.9, 3.262, 273, 127.9, .593, 216, OOM},
    {10, 50, 0, 6.4, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
    {10, 100, 0, 6.4, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
};
static const row grid_rows[] = {
    {5, 10, 0, 3.3, .983, .022, 44.7, .022, .001, 21.8, .482},
    {6, 10, 0, 3.7, .969, .029, 33.4, .022, .001, 22.6, 3.251},
    {7, 10, 0, 3.7, 1.416, .033, 42.9, .037, .001, 30.8, 3.058},
    {8, 10, 0, 3.6, 3.062, .065, 47.1, .041, .001, 29.6, 3.195},
    {9, 10, 0, 3.9, 4.630, .089, 52.0, .049, .001, 33.7, 3.714},
    {10, 10, 0, 4.0, 2.755, .080, 34.4, .054, .002, 31.7, 3.439},
    {11, 10, 0, 3.7, 6.134, .127, 48.3, .073, .002, 38.4, 3.081},
    {12, 10, 0, 3.8, 6.971, .144, 48.4, .089, .002, 38.7, 3.695},
    {13, 10, 0, 3.9, 7.137, .169, 42.2, .102, .003, 37.8, 5.345},
    {14, 10, 0, 4.0, 8.282, .152, 54.5, .127, .003, 39.7, 4.859},
    {15, 10, 0, 4.0, 12.43, .233, 53.3, .151, .004, 38.7, 6.082},
    {10, 5, 0, 3.7, .135, .061, 2.21, .001, .001, 1.00, .326},
    {10, 10, 0, 4.0, 2.755, .080, 34.4, .054, .002, 31.7, 3.439},
    {10, 25, 0, 3.9, 194.6, .776, 251, 2.930, .011, 266, 95.912},
    {10, 50, 0, 4.0, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
    {10, 100, 0, 4.0, OOM, OOM, NAN, OOM, OOM, NAN, OOM},
};

static void name_of(int topology, const row *r, int seed, char *name) {
    if (topology == RANDOM) snprintf(name, NAME, "random:%d:%d:%g:%d", r->n, r->d, r->p1, seed);
    if (topology == SCALE_FREE) snprintf(name, NAME, "scalefree:%d:%d:%d", r->n, r->d, seed);
    if (topology == GRID) snprintf(name, NAME, "grid:%d:%d:%d", r->n, r->d, seed);
    if (topology == STRIP) snprintf(name, NAME, "strip:%d:%d:%d", r->n * r->n, r->d, seed);
}

/* The runs of one method on one machine. */
typedef struct series {
    int count, closed, oom;
    double spent, foreseen, seconds[INSTANCES]; /* spent: by the clock, where it was foreseen to be that */
} series;

/* Whether the next instance is run: within the budget of the row, or the first one within the limit. */
static int goes_on(const paper *p, series *s, double expected, double limit) {
    const double budget = p->quick ? .03 : .2, likely = s->count ? expected * s->spent / s->foreseen : expected;
    if (!s->closed && s->spent + likely > (s->count ? budget : limit)) s->closed = 1;
    if (!s->closed) s->foreseen += expected;
    return !s->closed;
}

static void take(series *s, const outcome *o, double start) {
    s->spent += now() - start;
    if (!o->done) {
        s->closed = s->oom = 1;
        return;
    }
    s->seconds[s->count++] = o->seconds;
}

static void put(table *t, const series *s) {
    if (s->count) table_number(t, mean(s->seconds, s->count));
    else table_text(t, s->oom ? "oom" : "-");
}

static void put_paper(table *t, double value) {
    if (value == OOM) table_text(t, "oom");
    else table_number(t, value);
}

/* How many times as fast the second is, on the instances of both. */
static double faster(const series *a, const series *b) {
    const int common = a->count < b->count ? a->count : b->count;
    return common ? mean(a->seconds, common) / mean(b->seconds, common) : NAN;
}

/* All machines on one instance. */
static void run_instance(const paper *p, subject *s, series *be, series *dpop) {
    const double limit = p->quick ? .1 : 6, bytes = s->estimate.entries * s->estimate.bits / 8;
    int64_t cost = 0;
    int k, known = 0;
    for (k = 0; k < p->count; k++) {
        const machine *on = &p->machines[k];
        const double seconds = foreseen(on, exact_operations(s)), each = on->cuda ? 3e-4 : 2e-5;
        if (goes_on(p, &be[k], seconds + .002, k ? limit / 4 : limit)) {
            const double start = now();
            const outcome o = subject_eliminate(p, on, s, 0, 0, INFINITY);
            take(&be[k], &o, start);
            if (o.done) check(EQUAL, o.exact && (!known || o.cost == cost), s->name);
            if (o.done) cost = o.cost, known = 1;
        }
        if (!be[k].oom && goes_on(p, &dpop[k], seconds + bytes / 4e8 + each * s->model.variables, limit / 4)) {
            const double start = now();
            const outcome o = subject_agents(p, on, s, 0);
            take(&dpop[k], &o, start);
            if (o.done) check(AGENTS, o.exact && (!known || o.cost == cost), s->name);
            if (o.done) cost = o.cost, known = 1;
        }
    }
}

static void random_row(const paper *p, table *t, int topology, const row *r) {
    series be[MACHINES], dpop[MACHINES];
    double width = 0;
    int seed, k, going = 1;
    memset(be, 0, sizeof be);
    memset(dpop, 0, sizeof dpop);
    for (seed = 1; seed <= INSTANCES && going; seed++) {
        char name[NAME];
        subject s;
        name_of(topology, r, seed, name);
        if (subject_load(p, name, 0, &s)) return;
        width += (induced_width(&s) - width) / seed;
        run_instance(p, &s, be, dpop);
        subject_free(&s);
        going = topology < GRID; /* for the mean of the widths */
        for (k = 0; k < p->count; k++) going |= !be[k].closed || !dpop[k].closed;
    }
    table_text(t, "%d", r->n);
    table_text(t, "%d", r->d);
    if (topology == RANDOM) table_text(t, "%.1f", r->p1);
    table_text(t, "%d/%d/%d", be[0].count, be[1].count, be[2].count);
    table_number(t, width);
    table_number(t, r->width);
    for (k = 0; k < MACHINES; k++) put(t, &be[k]);
    table_number(t, faster(&be[0], &be[2]));
    put_paper(t, r->be_cpu);
    put_paper(t, r->be_gpu);
    put_paper(t, r->be_faster);
    for (k = 0; k < MACHINES; k++) put(t, &dpop[k]);
    table_number(t, faster(&dpop[0], &dpop[2]));
    put_paper(t, r->dpop_cpu);
    put_paper(t, r->dpop_gpu);
    put_paper(t, r->dpop_faster);
    put_paper(t, r->cube);
}

static void random_table(const paper *p, const char *name, const char *title, int topology, const row *rows,
                         int count) {
    char columns[1024];
    table t;
    int k;
    snprintf(columns, sizeof columns,
             "%s|d|%sinstances|w|paper w|BE CPU|BE %d threads|BE GPU|faster|paper BE CPU|paper BE GPU|paper faster|"
             "DPOP CPU|DPOP %d threads|DPOP GPU|faster|paper DPOP CPU|paper DPOP GPU|paper faster|paper CUBE",
             topology < GRID ? "n" : "sqrt(n)", topology == RANDOM ? "p1|" : "", p->threads, p->threads);
    table_start(&t, p, name, title, columns);
    for (k = 0; k < count; k++) random_row(p, &t, topology, &rows[k]);
    table_end(&t);
}

/* The tightness p2: how many instances have a solution, and what their elimination takes. */
static void tightness_table(const paper *p) {
    static const double tightness[] = {0, .1, .3, .5, .7, .9};
    const int instances = p->quick ? 10 : INSTANCES;
    table t;
    int which, seed, k;
    table_start(&t, p, "paper3_tightness",
                "Section 8.1, the tightness p2: random networks with n = 10, d = 10, p1 = 0.3, p2 of each table "
                "forbidden; seconds. The paper states p2 = 0.9 for all experiments.",
                "p2|instances|with a solution|BE CPU|BE threads|BE GPU");
    for (which = 0; which < 6; which++) {
        double seconds[MACHINES][INSTANCES];
        int solved = 0;
        for (seed = 1; seed <= instances; seed++) {
            char name[NAME];
            int64_t cost = 0;
            subject s;
            snprintf(name, sizeof name, "random:10:10:0.3:%d", seed);
            if (subject_load(p, name, tightness[which], &s)) return;
            for (k = 0; k < p->count; k++) {
                const outcome o = subject_eliminate(p, &p->machines[k], &s, 0, 0, INFINITY);
                check(EQUAL, o.done && (!k || o.cost == cost), name);
                cost = o.cost;
                seconds[k][seed - 1] = o.seconds;
            }
            solved += cost != INT64_MAX;
            subject_free(&s);
        }
        table_number(&t, tightness[which]);
        table_text(&t, "%d", instances);
        table_text(&t, "%d", solved);
        for (k = 0; k < MACHINES; k++) table_number(&t, k < p->count ? mean(seconds[k], instances) : NAN);
    }
    table_end(&t);
}

void random_tables(const paper *p) {
    random_table(
        p, "paper3_table1",
        "Table 1: random networks, seconds; means over the instances of the CPU with one thread / with threads "
        "/ the GPU, as many of 50 as take 0.2 s (--quick: 0.03 s), one at least; faster: the GPU over one "
        "thread, on the instances of both; the order (min-fill, or as numbered if that is better) is "
        "given; p2 = 0; paper: Opteron 6276, GTX Titan.",
        RANDOM, random_rows, sizeof random_rows / sizeof *random_rows);
    random_table(p, "paper3_table2", "Table 2: scale-free networks, likewise.", SCALE_FREE, scale_free_rows,
                 sizeof scale_free_rows / sizeof *scale_free_rows);
    random_table(
        p, "paper3_table3",
        "Table 3: grids of sqrt(n) x sqrt(n), likewise. A grid has the treewidth sqrt(n): the paper's w is not "
        "one of these.",
        GRID, grid_rows, sizeof grid_rows / sizeof *grid_rows);
    random_table(p, "paper3_table3_strip", "Table 3 again: n nodes in four columns, which gives the paper's w.", STRIP,
                 grid_rows, sizeof grid_rows / sizeof *grid_rows);
    tightness_table(p);
}
