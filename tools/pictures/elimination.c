/* SPDX-License-Identifier: MIT
 *
 * The picture of doc/elimination.md shows the elimination of one variable: its bucket, the message, and what is left.
 * The library computes each number: the program runs the model of the page up to that step.
 */
#include "picture.h"

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

int main(void) {
    done(gpuopt_context_create(NULL, &context));
    elimination_picture();
    gpuopt_context_destroy(context);
    return 0;
}
