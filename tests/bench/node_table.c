/* SPDX-License-Identifier: MIT */
#include "tests/bench/node_table.h"

#include <math.h>
#include <stdio.h>

static void count(node_total *t, double value, const char *model) {
    if (t->count++ > 0 && value <= t->most) return;
    t->most = value;
    snprintf(t->where, sizeof t->where, "%s", model);
}

static void count_ratios(node_total *t, const double us[ENGINES], const char *model) {
    int e;
    for (e = 0; us[PEER] > 0 && e < PEER; e++) {
        t[e].logs += log(us[e] / us[PEER]);
        count(&t[e], us[e] / us[PEER], model);
    }
}

static void print_times(const double us[ENGINES], int nodes) {
    if (nodes == 0) printf(" |%10s%10s%10s%7s%7s", "-", "-", "-", "-", "-");
    else
        printf(" |%10.2f%10.2f%10.2f%7.2f%7.2f", us[JACOBI], us[GAUSS_SEIDEL], us[PEER], us[JACOBI] / us[PEER],
               us[GAUSS_SEIDEL] / us[PEER]);
}

void node_print_head(void) {
    printf("%-28s%8s%8s%9s |%44s |%44s |%16s |%14s | left\n", "", "", "", "",
           "probe us                              ratio ", "dive us a node                        ratio ",
           "after us     ", "disagree   ");
    printf("%-28s%8s%8s%9s", "model", "rows", "cols", "nonzeros");
    printf(" |%10s%10s%10s%7s%7s |%10s%10s%10s%7s%7s", "jacobi", "gauss-s.", "work list", "jac.", "g.-s.", "jacobi",
           "gauss-s.", "work list", "jac.", "g.-s.");
    printf(" |%8s%8s |%4s%4s%6s |%5s\n", "jacobi", "g.-s.", "w.l.", "each", "nodes", "out");
}

void node_print(const char *name, const mip *model, const node_figures *found, node_totals *totals) {
    int e;
    printf("%-28s%8d%8d%9lld", name, (int)model->matrix.rows, (int)model->matrix.cols, (long long)mip_nonzeros(model));
    print_times(found->probe_us, found->probes);
    print_times(found->dive_us, found->nodes);
    if (found->afters) printf(" |%8.2f%8.2f", found->after_us[JACOBI], found->after_us[GAUSS_SEIDEL]);
    else printf(" |%8s%8s", "-", "-");
    printf(" |%4d%4d%6d |%5d\n", found->disagree_peer, found->disagree_modes, found->probes + found->nodes,
           found->unfinished);
    fflush(stdout);
    count_ratios(totals->probe, found->probe_us, name);
    count_ratios(totals->dive, found->dive_us, name);
    for (e = 0; found->afters && e < PEER; e++) count(&totals->after[e], found->after_us[e], name);
}

static const char *const mode_name[PEER] = {"jacobi", "gauss-seidel"};

static void print_ratios(const char *what, const node_total *t) {
    int e;
    for (e = 0; e < PEER; e++)
        if (t[e].count)
            printf("%-5s %-11s %3d models: ratio %.2f (geometric mean), %.2f at most (%s)\n", what, mode_name[e],
                   t[e].count, exp(t[e].logs / t[e].count), t[e].most, t[e].where);
}

void node_print_totals(const node_totals *totals) {
    int e;
    print_ratios("probe", totals->probe);
    print_ratios("dive", totals->dive);
    for (e = 0; e < PEER; e++)
        if (totals->after[e].count)
            printf("after %-11s %3d models: %.2f us more at most (%s)\n", mode_name[e], totals->after[e].count,
                   totals->after[e].most, totals->after[e].where);
}
