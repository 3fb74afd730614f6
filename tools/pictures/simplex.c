/* SPDX-License-Identifier: MIT
 *
 * The picture of doc/simplex.md shows one pivot: the vertices before and after it, and the ratio test that chooses it.
 * The library computes each number: the program runs the model of the page up to that step.
 */
#include <string.h>

#include "picture.h"

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

int main(void) {
    done(gpuopt_context_create(NULL, &context));
    simplex_picture();
    gpuopt_context_destroy(context);
    return 0;
}
