/* SPDX-License-Identifier: MIT
 *
 * The pictures of one step that doc/simplex.md, doc/elimination.md and doc/knapsack.md begin with, as Graphviz sources.
 * The library computes each number: it runs the model of the page's program up to that step. tools/pictures.sh builds
 * and runs this. Usage: pictures simplex | elimination | knapsack
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt.h"
#include "gpuopt/search.h"

#define INK "#1c2330"
#define LINE "#5a6270"
#define BLUE "#d3e6fb"
#define GREEN "#d5efd0"
#define AMBER "#ffe8b8"
#define GREY "#e6e9ee"
#define RED "#b5443c"

static gpuopt_context *context;

/* Ends the program unless a call worked. */
static void done(gpuopt_status status) {
    if (status) {
        fprintf(stderr, "pictures: %s: %s\n", gpuopt_status_string(status), gpuopt_context_last_error(context));
        exit(1);
    }
}

/* A number with at most two decimals; the perturbation of bounds is far below them. */
static const char *number(double value) {
    static char text[8][32];
    static int next;
    char *to = text[next = (next + 1) % 8];
    value = round(value * 100) / 100;
    snprintf(to, sizeof text[0], "%g", value == 0 ? 0 : value);
    return to;
}

/* Begins a picture whose nodes have fixed places, in inches, or that Graphviz lays out. */
static void begin(const char *name, int fixed) {
    printf("// Made by tools/pictures.c. Draw it with tools/pictures.sh.\n");
    printf("digraph %s {\n    %s; pad=0.2; bgcolor=white; fontname=\"Helvetica,Arial,sans-serif\"\n", name,
           fixed ? "layout=neato; splines=line" : "rankdir=TB; nodesep=0.12; ranksep=0.8");
    printf("    node [shape=%s, fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, fontcolor=\"" INK "\"]\n",
           fixed ? "plaintext, margin=0, width=0, height=0" : "box, style=\"rounded,filled\", margin=\"0.08,0.04\"");
    printf("    edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, fontcolor=\"" INK "\", arrowsize=0.7]\n");
}

/* A text whose middle is at a place. */
static void text(double x, double y, const char *what, const char *style) {
    static int count;
    printf("    text%d [pos=\"%.3f,%.3f!\", label=%s, %s]\n", count++, x, y, what, style);
}

/* A line between two places. */
static void line(double x0, double y0, double x1, double y1, const char *style) {
    static int count;
    int k = count++;
    printf("    from%d [pos=\"%.3f,%.3f!\", shape=point, style=invis]\n", k, x0, y0);
    printf("    to%d [pos=\"%.3f,%.3f!\", shape=point, style=invis]\n", k, x1, y1);
    printf("    from%d -> to%d [%s]\n", k, k, style);
}

/* ---- One pivot ---- */

enum { ROWS = 3, COLS = 2 };
static const char *const row_text[ROWS] = {"x + 2 y &le; 12", "x + y &le; 8", "3 x + y &le; 18"};

/* Where a point of the plane is in the picture. */
static double across(double x) { return 0.5 + 0.52 * x; }
static double up(double y) { return 0.35 + 0.52 * y; }

/* The ratio test of the variable that enters: how far each basic variable lets it go. */
static void ratio_table(gpuopt_simplex *simplex, const gpuopt_simplex_solution *at, const double *rhs, int entering,
                        int leaving, double reduced_cost) {
    int32_t basic[ROWS], position[ROWS] = {0, 1, 2};
    double entry[ROWS][COLS + ROWS];
    char table[4000];
    int used = 0, k;
    done(gpuopt_simplex_get_basic_variables(simplex, GPUOPT_HOST, basic));
    done(gpuopt_simplex_get_tableau_rows(simplex, GPUOPT_HOST, ROWS, position, entry[0]));
    used += snprintf(table + used, sizeof table - used,
                     "<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"6\" color=\"" LINE "\">"
                     "<tr><td bgcolor=\"" GREY "\">limit</td><td bgcolor=\"" GREY "\">left</td><td bgcolor=\"" GREY
                     "\">used by 1 of %s</td><td bgcolor=\"" GREY "\">ratio</td></tr>",
                     entering ? "y" : "x");
    for (k = 0; k < ROWS; k++) { /* basic + entry * entering is constant; a row's variable grows, a column's falls */
        int row = basic[k] - COLS;
        double rate = row >= 0 ? -entry[k][entering] : entry[k][entering];
        double left = row >= 0 ? rhs[row] - at->activity[row] : at->x[basic[k]];
        const char *colour = basic[k] == leaving ? AMBER : "white";
        char name[40];
        snprintf(name, sizeof name, "%s &ge; 0", basic[k] ? "y" : "x");
        used += snprintf(table + used, sizeof table - used,
                         "<tr><td bgcolor=\"%s\">%s</td><td bgcolor=\"%s\">%s</td><td bgcolor=\"%s\">%s</td>"
                         "<td bgcolor=\"%s\">%s</td></tr>",
                         colour, row >= 0 ? row_text[row] : name, colour, number(left), colour, number(rate), colour,
                         rate > 0 ? number(left / rate) : "none");
        if (rate > 0 && basic[k] != leaving) { /* where this limit would stop the move */
            double t = left / rate, x[COLS] = {at->x[0], at->x[1]};
            int i;
            x[entering] += t;
            for (i = 0; i < ROWS; i++)
                if (basic[i] < COLS) x[basic[i]] -= t * entry[i][entering];
            if (x[0] < 9 && x[1] < 7)
                printf("    other%d [pos=\"%.3f,%.3f!\", shape=circle, width=0.1, label=\"\", color=\"" LINE
                       "\", style=filled, fillcolor=white]\n",
                       k, across(x[0]), up(x[1]));
        }
    }
    snprintf(table + used, sizeof table - used, "</table>>");
    text(7.55, up(3.6), table, "fontsize=12");
    snprintf(table, sizeof table, "\"%s enters: one unit of it gains %s\"", entering ? "y" : "x", number(reduced_cost));
    text(7.55, up(6.1), table, "fontsize=14");
}

static void simplex_picture(void) {
    const int64_t start[] = {0, 2, 4, 6};
    const int32_t index[] = {0, 1, 0, 1, 0, 1};
    const double value[] = {1, 2, 1, 1, 3, 1}, rhs[] = {12, 8, 18}, cost[] = {5, 4};
    double x[COLS], reduced_cost[COLS], activity[ROWS], point[3][COLS], objective[3];
    char label[200];
    gpuopt_simplex *simplex = NULL;
    gpuopt_simplex_desc model = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    gpuopt_simplex_solution at = GPUOPT_INIT(gpuopt_simplex_solution);
    gpuopt_simplex_entering in = GPUOPT_INIT(gpuopt_simplex_entering);
    gpuopt_simplex_leaving out = GPUOPT_INIT(gpuopt_simplex_leaving);
    int k;

    model.matrix.rows = ROWS;
    model.matrix.cols = COLS;
    model.matrix.start = start;
    model.matrix.index = index;
    model.matrix.value = value;
    model.rhs = rhs;
    model.cost = cost;
    model.maximize = 1;
    at.x = x;
    at.reduced_cost = reduced_cost;
    at.activity = activity;
    done(gpuopt_simplex_create(context, &model, NULL, &simplex));

    begin("pivot", 1);
    printf("    origin [pos=\"0,0!\", shape=point, width=0, style=invis]\n"); /* the lower left end of the picture */
    printf("    _background=\"c 7 -#eef4fb C 7 -#eef4fb P 5");
    printf(" %.1f %.1f", 72 * across(0), 72 * up(0));
    printf(" %.1f %.1f", 72 * across(6), 72 * up(0));
    printf(" %.1f %.1f", 72 * across(5), 72 * up(3));
    printf(" %.1f %.1f", 72 * across(4), 72 * up(4));
    printf(" %.1f %.1f\"\n", 72 * across(0), 72 * up(6));
    for (k = 0; k < 3; k++) { /* at the slack basis, and after each of two pivots */
        if (k) done(gpuopt_simplex_iterate(simplex, 1, &info));
        done(gpuopt_simplex_get_solution(simplex, GPUOPT_HOST, &at));
        done(gpuopt_simplex_get_info(simplex, &info));
        memcpy(point[k], x, sizeof x);
        objective[k] = info.objective;
        if (k != 1) continue;
        done(gpuopt_simplex_price(simplex, &in));
        done(gpuopt_simplex_ratio_test(simplex, in.variable, in.direction, &out));
        ratio_table(simplex, &at, rhs, in.variable, out.variable, reduced_cost[in.variable]);
    }
    line(across(0), up(0), across(8.8), up(0), "color=\"" LINE "\"");
    line(across(0), up(0), across(0), up(7.2), "color=\"" LINE "\"");
    text(across(8.8) + 0.12, up(0), "\"x\"", "fontsize=14");
    text(across(0), up(7.2) + 0.14, "\"y\"", "fontsize=14");
    line(across(-0.4), up(6.2), across(7.4), up(2.3), "dir=none, color=\"" LINE "\"");
    line(across(1.2), up(6.8), across(8.3), up(-0.3), "dir=none, color=\"" LINE "\"");
    line(across(6.15), up(-0.45), across(3.75), up(6.75), "dir=none, color=\"" LINE "\"");
    text(across(8.4), up(1.85), "<x + 2 y &le; 12>", "fontcolor=\"" LINE "\"");
    text(across(1.1), up(7.1), "<x + y &le; 8>", "fontcolor=\"" LINE "\"");
    text(across(4.0), up(7.1), "<3 x + y &le; 18>", "fontcolor=\"" LINE "\"");
    for (k = 0; k < 3; k++)
        printf("    vertex%d [pos=\"%.3f,%.3f!\", shape=circle, width=0.13, label=\"\", style=filled, color=\"%s\", "
               "fillcolor=\"%s\"]\n",
               k, across(point[k][0]), up(point[k][1]), k ? RED : LINE, k ? RED : LINE);
    printf("    vertex0 -> vertex1 [color=\"" LINE "\", penwidth=3]\n");
    printf("    vertex1 -> vertex2 [color=\"" RED "\", penwidth=3]\n");
    text(across(0.9), up(0.4), "\"objective 0\"", "fontcolor=\"" INK "\"");
    snprintf(label, sizeof label, "\"%s\"", number(objective[1]));
    text(across(6.55), up(0.45), label, "fontsize=14");
    snprintf(label, sizeof label, "\"%s\"", number(objective[2]));
    text(across(5.75), up(3.2), label, "fontsize=14");
    snprintf(label, sizeof label, "<the smallest ratio, %s, stops the move: %s + %s &middot; %s = %s>",
             number(point[2][in.variable] - point[1][in.variable]), number(objective[1]),
             number(point[2][in.variable] - point[1][in.variable]),
             number((objective[2] - objective[1]) / (point[2][in.variable] - point[1][in.variable])),
             number(objective[2]));
    text(7.55, up(1.1), label, "fontsize=12");
    printf("}\n");
    gpuopt_simplex_destroy(simplex);
}

/* ---- One variable eliminated ---- */

enum { STATIONS = 4, CHANNELS = 3, PAIRS = 5 };
static const int32_t pair[PAIRS][2] = {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}};
static const double place[STATIONS][2] = {{0.35, 1.9}, {1.35, 2.7}, {1.35, 1.1}, {2.35, 1.9}};

/* A graph of stations [from, STATIONS), moved to the right; a pair of `bold` is drawn in red. */
static void graph(const char *name, int from, double right, int bold_a, int bold_b, int gone) {
    int k;
    for (k = from; k < STATIONS; k++)
        printf("    %s%d [pos=\"%.3f,%.3f!\", shape=circle, width=0.42, fixedsize=true, label=\"%d\", style=filled, "
               "fontsize=14, color=\"" LINE "\", fillcolor=\"%s\"]\n",
               name, k, right + place[k][0], place[k][1], k, k == gone ? AMBER : "white");
    for (k = 0; k < PAIRS; k++) {
        int a = pair[k][0], b = pair[k][1], bold = a == gone || (a == bold_a && b == bold_b);
        if (a < from) continue;
        printf("    %s%d -> %s%d [dir=none, color=\"%s\", penwidth=%d]\n", name, a, name, b, bold ? RED : LINE,
               bold ? 3 : 1);
    }
}

/* A table of costs by channels, as many rows as given; the entries of the example are amber. */
static void cost_table(double x, double y, const char *title, const char *side, int rows, const int64_t *cost,
                       int row_marked, int col_marked) {
    char label[4000];
    int used = 0, i, j;
    used += snprintf(label + used, sizeof label - used,
                     "<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"5\" color=\"" LINE
                     "\"><tr><td border=\"0\" colspan=\"4\">%s</td></tr><tr><td border=\"0\">%s</td>",
                     title, side);
    for (j = 0; j < CHANNELS; j++)
        used +=
            snprintf(label + used, sizeof label - used, "<td border=\"0\"><font color=\"" LINE "\">%d</font></td>", j);
    for (i = 0; i < rows; i++) {
        used += snprintf(label + used, sizeof label - used, "</tr><tr><td border=\"0\"><font color=\"" LINE "\">");
        used += snprintf(label + used, sizeof label - used, rows > 1 ? "%d</font></td>" : " </font></td>", i);
        for (j = 0; j < CHANNELS; j++)
            used +=
                snprintf(label + used, sizeof label - used, "<td width=\"24\" bgcolor=\"%s\">%d</td>",
                         (row_marked < 0 || i == row_marked) && (col_marked < 0 || j == col_marked) ? AMBER : "white",
                         (int)cost[i * CHANNELS + j]);
    }
    snprintf(label + used, sizeof label - used, "</tr></table>>");
    text(x, y, label, "fontsize=12");
}

static void elimination_picture(void) {
    const int32_t domain[] = {3, 3, 3, 3}, scope[] = {0, 1, 2, 3};
    const int64_t fee[][3] = {{0, 2, 1}, {1, 0, 2}, {0, 1, 3}, {2, 0, 0}}, interference[] = {4, 1, 0, 1, 4, 1, 0, 1, 4};
    enum { FIRST = 1, SECOND = 0 }; /* the channels of the entry that the picture explains */
    int64_t cost[CHANNELS * CHANNELS];
    char label[400];
    gpuopt_elimination *elimination = NULL;
    gpuopt_elimination_function function[STATIONS + PAIRS] = {{0}};
    gpuopt_elimination_desc model = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_message_info message = GPUOPT_INIT(gpuopt_elimination_message_info);
    int32_t k;

    for (k = 0; k < STATIONS + PAIRS; k++) {
        function[k].arity = k < STATIONS ? 1 : 2;
        function[k].scope = k < STATIONS ? &scope[k] : pair[k - STATIONS];
        function[k].cost = k < STATIONS ? fee[k] : interference;
    }
    model.variables = STATIONS;
    model.domain = domain;
    model.functions = STATIONS + PAIRS;
    model.function = function;
    done(gpuopt_elimination_create(context, &model, NULL, &elimination));
    done(gpuopt_elimination_step(elimination, 1, &info));
    done(gpuopt_elimination_message_get_info(elimination, 0, &message));
    done(gpuopt_elimination_message_get(elimination, GPUOPT_HOST, 0, 0, cost, NULL, NULL));
    if (info.variable != 0 || message.arity != 2 || message.scope[0] != 1 || message.scope[1] != 2) {
        fprintf(stderr, "pictures: the picture is of station 0 going first, with a message over 1 and 2\n");
        exit(1);
    }

    begin("elimination", 1);
    graph("before", 0, 0, -1, -1, 0);
    text(1.35, 3.35, "\"the model\"", "fontsize=14");
    text(4.35, 4.75, "\"the bucket of station 0\"", "fontsize=14");
    cost_table(4.35, 4.15, "fee of 0", " ", 1, fee[0], -1, -1);
    cost_table(4.35, 2.75, "interference of 0 and 1", "1 \\ 0", 3, interference, FIRST, -1);
    cost_table(4.35, 0.95, "interference of 0 and 2", "2 \\ 0", 3, interference, SECOND, -1);
    text(7.35, 3.35, "\"the message\"", "fontsize=14");
    cost_table(7.35, 1.95, "least sum over the channels of 0", "1 \\ 2", 3, cost, FIRST, SECOND);
    snprintf(label, sizeof label, "<%d = min (%d + %d + %d,  %d + %d + %d,  %d + %d + %d)>",
             (int)cost[FIRST * CHANNELS + SECOND], (int)fee[0][0], (int)interference[FIRST * CHANNELS],
             (int)interference[SECOND * CHANNELS], (int)fee[0][1], (int)interference[FIRST * CHANNELS + 1],
             (int)interference[SECOND * CHANNELS + 1], (int)fee[0][2], (int)interference[FIRST * CHANNELS + 2],
             (int)interference[SECOND * CHANNELS + 2]);
    text(7.35, 0.75, label, "fontsize=12");
    graph("after", 1, 8.45, 1, 2, -1);
    text(10.3, 3.35, "\"what is left\"", "fontsize=14");
    line(2.75, 1.9, 3.2, 1.9, "color=\"" LINE "\", penwidth=2");
    line(5.45, 1.9, 5.9, 1.9, "color=\"" LINE "\", penwidth=2");
    line(8.9, 1.9, 9.3, 1.9, "color=\"" LINE "\", penwidth=2");
    printf("}\n");
    gpuopt_elimination_destroy(elimination);
}

/* ---- One level expanded ---- */

enum { ITEMS = 8, MOST_NODES = 32, MOST_BYTES = 65536 };
typedef struct {
    int64_t residual, profit;
} node;

static int64_t read_integer(const unsigned char *from, int bytes) {
    uint64_t value = 0;
    while (bytes--) value = value << 8 | from[bytes];
    return (int64_t)value;
}

/* The nodes of the pool, all of one level, from their packed bytes (doc/knapsack.md). Returns how many. */
static int nodes_of(gpuopt_knapsack *knapsack, node *to) {
    static unsigned char bytes[MOST_BYTES];
    uint64_t size;
    int64_t lists, nodes, decisions, k;
    const unsigned char *at;
    done(gpuopt_knapsack_pack(knapsack, -1, 0, bytes, sizeof bytes, &size));
    lists = read_integer(bytes + 8, 4);
    nodes = read_integer(bytes + 24, 8);
    decisions = read_integer(bytes + 64, 8);
    at = bytes + 80 + ITEMS + 40 * lists + 4 * decisions;
    if (lists != 1 || nodes > MOST_NODES || (uint64_t)(at - bytes) + 20 * (uint64_t)nodes != size) {
        fprintf(stderr, "pictures: packed nodes are not as expected\n");
        exit(1);
    }
    for (k = 0; k < nodes; k++, at += 20) to[k] = (node){read_integer(at, 8), read_integer(at + 8, 8)};
    return (int)nodes;
}

static int contains(const node *in, int count, node what) {
    while (count--)
        if (in[count].residual == what.residual && in[count].profit == what.profit) return 1;
    return 0;
}

/* Whether another child weighs no more and has no less profit. */
static int dominated(const node *child, int count, int which) {
    int k;
    for (k = 0; k < count; k++)
        if (k != which && child[k].residual >= child[which].residual && child[k].profit >= child[which].profit)
            return 1;
    return 0;
}

static void show_node(const char *name, int k, node what, const char *colour, const char *more) {
    printf("    %s%d [label=<residual %d<br/>profit %d%s>, color=\"" LINE "\", fillcolor=\"%s\"]\n", name, k,
           (int)what.residual, (int)what.profit, more, colour);
}

static void knapsack_picture(void) {
    const int64_t weight[] = {8, 2, 12, 12, 10, 5, 12, 11}, profit[] = {8, 4, 12, 13, 14, 9, 14, 12};
    enum { STEPS_BEFORE = 2 };
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_knapsack_desc problem = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack_info before = GPUOPT_INIT(gpuopt_knapsack_info), after = before;
    node parent[MOST_NODES], child[2 * MOST_NODES], kept[MOST_NODES];
    char more[40];
    int parents, keeps, k, i, prunings = 0, dominations = 0;

    problem.items = ITEMS;
    problem.weight = weight;
    problem.profit = profit;
    problem.capacity = 36;
    done(gpuopt_knapsack_create(context, &problem, NULL, &knapsack));
    done(gpuopt_knapsack_expand(knapsack, 0, STEPS_BEFORE, &before));
    parents = nodes_of(knapsack, parent);
    done(gpuopt_knapsack_expand(knapsack, 0, 1, &after));
    keeps = nodes_of(knapsack, kept);

    /* The step decides the item with which all kept nodes are children, changed ones among them. */
    for (k = 0; k < 2 * ITEMS; k++) {
        int64_t sign = k % 2 ? 1 : -1;
        int all = 1, flipped = 0;
        for (i = 0; i < parents; i++) {
            child[2 * i] = parent[i];
            child[2 * i + 1].residual = parent[i].residual + sign * weight[k / 2];
            child[2 * i + 1].profit = parent[i].profit - sign * profit[k / 2];
        }
        for (i = 0; i < keeps; i++) {
            all = all && contains(child, 2 * parents, kept[i]);
            flipped = flipped || !contains(parent, parents, kept[i]);
        }
        if (all && flipped) break;
    }
    begin("expansion", 0);
    printf("    label=<profit %d is known, and none exceeds %d; after this step %d and %d>; labelloc=t; fontsize=14; "
           "fontcolor=\"" INK "\"\n",
           (int)before.primal_bound, (int)before.dual_bound, (int)after.primal_bound, (int)after.dual_bound);
    for (i = 0; i < parents; i++) show_node("parent", i, parent[i], BLUE, "");
    for (i = 0; i < 2 * parents; i++) {
        const char *fate = "kept", *colour = GREEN;
        if (!contains(kept, keeps, child[i])) fate = dominated(child, 2 * parents, i) ? "dominated" : "pruned";
        if (!strcmp(fate, "dominated")) dominations++, colour = AMBER;
        if (!strcmp(fate, "pruned")) prunings++, colour = GREY;
        snprintf(more, sizeof more, "<br/><b>%s</b>", fate);
        show_node("child", i, child[i], colour, more);
        printf("    parent%d -> child%d [color=\"%s\"%s", i / 2, i, fate[0] == 'k' ? LINE : "#b9bfc9",
               i % 2 ? ", penwidth=2" : "");
        if (i < 2) printf(", label=\" %s item %d \"", k % 2 ? (i ? "drop" : "keep") : i ? "take" : "leave out", k / 2);
        printf("]\n");
    }
    printf("}\n");
    if (k == 2 * ITEMS || prunings != after.pruned - before.pruned ||
        dominations != after.dominated - before.dominated) {
        fprintf(stderr, "pictures: the library counts other children than the picture shows\n");
        exit(1);
    }
    gpuopt_knapsack_destroy(knapsack);
}

int main(int count, char **argument) {
    const char *which = count == 2 ? argument[1] : "";
    done(gpuopt_context_create(NULL, &context));
    if (!strcmp(which, "simplex")) simplex_picture();
    else if (!strcmp(which, "elimination")) elimination_picture();
    else if (!strcmp(which, "knapsack")) knapsack_picture();
    else {
        fprintf(stderr, "usage: pictures simplex | elimination | knapsack\n");
        return 2;
    }
    gpuopt_context_destroy(context);
    return 0;
}
