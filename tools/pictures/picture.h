/* SPDX-License-Identifier: MIT
 *
 * Graphviz sources of texts and lines at given places, for the pictures whose numbers the library computes.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
static inline void done(gpuopt_status status) {
    if (status) {
        fprintf(stderr, "pictures: %s: %s\n", gpuopt_status_string(status), gpuopt_context_last_error(context));
        exit(1);
    }
}

/* A number with at most two decimals; the perturbation of bounds is far below them. */
static inline const char *number(double value) {
    static char text[8][32];
    static int next;
    char *to = text[next = (next + 1) % 8];
    value = round(value * 100) / 100;
    snprintf(to, sizeof text[0], "%g", value == 0 ? 0 : value);
    return to;
}

/* Begins a picture whose nodes have fixed places, in inches, or that Graphviz lays out. */
static inline void begin(const char *name, int fixed) {
    printf("// Made by tools/pictures.sh.\n");
    printf("digraph %s {\n    %s; pad=0.2; bgcolor=white; fontname=\"Helvetica,Arial,sans-serif\"\n", name,
           fixed ? "layout=neato; splines=line" : "rankdir=TB; nodesep=0.12; ranksep=0.8");
    printf("    node [shape=%s, fontname=\"Helvetica,Arial,sans-serif\", fontsize=12, fontcolor=\"" INK "\"]\n",
           fixed ? "plaintext, margin=0, width=0, height=0" : "box, style=\"rounded,filled\", margin=\"0.08,0.04\"");
    printf("    edge [fontname=\"Helvetica,Arial,sans-serif\", fontsize=10, fontcolor=\"" INK "\", arrowsize=0.7]\n");
}

/* A text whose middle is at a place. */
static inline void text(double x, double y, const char *what, const char *style) {
    static int count;
    printf("    text%d [pos=\"%.3f,%.3f!\", label=%s, %s]\n", count++, x, y, what, style);
}

/* A line between two places. */
static inline void line(double x0, double y0, double x1, double y1, const char *style) {
    static int count;
    int k = count++;
    printf("    from%d [pos=\"%.3f,%.3f!\", shape=point, style=invis]\n", k, x0, y0);
    printf("    to%d [pos=\"%.3f,%.3f!\", shape=point, style=invis]\n", k, x1, y1);
    printf("    from%d -> to%d [%s]\n", k, k, style);
}

#endif
