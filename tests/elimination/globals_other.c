/* SPDX-License-Identifier: MIT
 *
 * Knapsacks, maxima, automata, cliques, and arithmetic.
 */
#include <stdlib.h>

#include "tests/elimination/globals.h"

static void draw_knapsack(instance *p) {
    int k;
    p->to = below(9) - 2;
    put_text(p->wcsp, " %d", p->to);
    put_text(p->cfn, " capacity: %d weights: [", p->to);
    for (k = 0; k < p->n; k++) {
        p->place[k] = below(6) + 1;
        if (below(4) == 0) p->place[k] = -p->place[k];
        put_text(p->wcsp, " %d", p->place[k]);
        put_text(p->cfn, " %d", p->place[k]);
    }
    put_text(p->cfn, " ]");
}
static int knapsack(const instance *p, const int *value) {
    int k, sum = 0;
    for (k = 0; k < p->n; k++) sum += p->place[k] * value[k];
    return sum >= p->to ? 0 : TOP;
}

static void draw_max(instance *p) {
    int k, v;
    p->cost = below(9);
    for (k = 0, p->rows = 0; k < p->n; k++) {
        for (v = 0; v < p->size[k] && p->rows < 60; v++) {
            int *row = p->row[p->rows];
            if (below(2)) continue;
            row[0] = k;
            row[1] = v;
            row[2] = below(9);
            p->rows++;
        }
    }
    put_text(p->wcsp, " %d %d", p->cost, p->rows);
    put_text(p->cfn, " defaultcost:");
    put_cost(p->cfn, p->cost);
    put_text(p->cfn, " tuples: [");
    for (k = 0; k < p->rows; k++) {
        put_text(p->wcsp, " %d %d %d", p->row[k][0], p->row[k][1], p->row[k][2]);
        put_text(p->cfn, k % 2 ? " [%d %d" : " [v%d %d", p->row[k][0], p->row[k][1]);
        put_cost(p->cfn, p->row[k][2]);
        put_text(p->cfn, "]");
    }
    put_text(p->cfn, "]");
}
static int max_cost(const instance *p, const int *value) {
    int most = 0, k, r;
    for (k = 0; k < p->n; k++) {
        int cost = p->cost;
        for (r = 0; r < p->rows; r++)
            if (p->row[r][0] == k && p->row[r][1] == value[k]) cost = p->row[r][2];
        most = larger(most, cost);
    }
    return most;
}

/* row: from, value, to, cost; lists: costs of starting and ending in each state, or TOP. */
static void draw_states(instance *p, int weighted) {
    static const char *const tag[] = {"starts", "ends"};
    int from, v, k, s;
    p->states = 1 + below(3);
    put_text(p->wcsp, " %d", p->states);
    put_text(p->cfn, " nb_states: %d", p->states);
    for (k = 0; k < 2; k++) {
        for (s = 0, p->listed[k] = 0; s < p->states; s++) {
            p->lists[k][s] = (weighted || k == 1 ? below(2) : s == 0) || s == p->states - 1 - k * s ? below(6) : TOP;
            if (!weighted) p->lists[k][s] = k == 0 ? (s == 0 ? 0 : TOP) : p->lists[k][s] < TOP ? 0 : TOP;
            p->listed[k] += p->lists[k][s] < TOP;
        }
        put_text(p->wcsp, " %d", p->listed[k]);
        put_text(p->cfn, " %s: [", tag[k]);
        for (s = 0; s < p->states; s++) {
            if (p->lists[k][s] == TOP) continue;
            put_text(p->wcsp, weighted ? " %d %d" : " %d", s, p->lists[k][s]);
            put_text(p->cfn, " [%d", s);
            if (weighted) put_cost(p->cfn, p->lists[k][s]);
            put_text(p->cfn, "]");
        }
        put_text(p->cfn, "]");
    }
    for (from = 0, p->rows = 0; from < p->states; from++) {
        for (v = 0; v < p->d; v++) {
            for (s = weighted ? 0 : below(p->states); s < p->states && p->rows < 64; s++) {
                int *row = p->row[p->rows];
                if (below(2)) continue;
                row[0] = from;
                row[1] = v;
                row[2] = s;
                row[3] = weighted ? below(6) : 0;
                p->rows++;
                if (!weighted) break;
            }
        }
    }
    put_text(p->wcsp, " %d", p->rows);
    put_text(p->cfn, " transitions: [");
    for (k = 0; k < p->rows; k++) {
        const int *row = p->row[k];
        put_text(p->wcsp, " %d %d %d", row[0], row[1], row[2]);
        put_text(p->cfn, " [%d %d %d", row[0], row[1], row[2]);
        if (weighted) put_text(p->wcsp, " %d", row[3]);
        if (weighted) put_cost(p->cfn, row[3]);
        put_text(p->cfn, "]");
    }
    put_text(p->cfn, "]");
}
static void draw_wregular(instance *p) {
    p->cost = TOP; /* of another value */
    draw_states(p, 1);
}
static void draw_sregular(instance *p) {
    metric_and_cost(p, VAR);
    draw_states(p, 0);
}
/* The least cost of all runs from a state at a place. */
static int least_run(const instance *p, const int *value, int k, int s) {
    int least = TOP, r;
    if (k == p->n) return p->lists[1][s];
    for (r = 0; r < p->rows; r++) {
        const int *row = p->row[r];
        int cost = row[1] == value[k] ? row[3] : p->cost;
        if (row[0] != s || cost >= TOP) continue;
        cost += least_run(p, value, k + 1, row[2]);
        if (cost < least) least = cost;
    }
    return least;
}
static int regular(const instance *p, const int *value) {
    int least = TOP, s;
    for (s = 0; s < p->states; s++) {
        int cost = p->lists[0][s] == TOP ? TOP : p->lists[0][s] + least_run(p, value, 0, s);
        if (cost < least) least = cost;
    }
    return least;
}

/* row[k]: for each value of variable k whether it is listed. */
static void draw_clique(instance *p) {
    int k, v;
    put_text(p->wcsp, " 1");
    put_text(p->cfn, " rhs: 1 values: [");
    for (k = 0; k < p->n; k++) {
        int count = 0;
        put_text(p->cfn, "[");
        for (v = 0; v < p->size[k]; v++) count += p->row[k][v] = below(2);
        put_text(p->wcsp, " %d", count);
        for (v = 0; v < p->size[k]; v++) {
            if (!p->row[k][v]) continue;
            put_text(p->wcsp, " %d", v);
            put_text(p->cfn, " %d", v);
        }
        put_text(p->cfn, "]");
    }
    put_text(p->cfn, "]");
}
static int clique(const instance *p, const int *value) {
    int k, count = 0;
    for (k = 0; k < p->n; k++) count += p->row[k][value[k]];
    return count <= 1 ? 0 : TOP;
}

static void draw_arithmetic(instance *p) {
    p->low = below(5) - 2;
    p->high = below(4);
    put_text(p->wcsp, " %d %d", p->low, p->high);
}
static int soft(const instance *p, int gap) { return gap <= p->high ? larger(0, gap) : TOP; }
static int at_least(const instance *p, const int *v) { return soft(p, v[1] + p->low - v[0]); }
static int above(const instance *p, const int *v) { return soft(p, v[1] + 1 + p->low - v[0]); }
static int at_most(const instance *p, const int *v) { return soft(p, v[0] - p->low - v[1]); }
static int beneath(const instance *p, const int *v) { return soft(p, v[0] - p->low + 1 - v[1]); }
static int equals(const instance *p, const int *v) { return soft(p, abs(v[1] + p->low - v[0])); }
static void draw_disj(instance *p) {
    p->low = below(4);
    p->high = below(4);
    p->cost = 1 + below(9);
    put_text(p->wcsp, " %d %d %d", p->low, p->high, p->cost);
}
static int apart(const instance *p, const int *v) { return v[0] >= v[1] + p->high || v[1] >= v[0] + p->low; }
static int disj(const instance *p, const int *v) { return apart(p, v) ? 0 : p->cost; }
static void draw_sdisj(instance *p) {
    int k;
    p->low = below(4);
    p->high = below(4);
    for (k = 0; k < 4; k++) p->place[k] = k < 2 ? below(p->size[k] + 1) : 1 + below(9);
    put_text(p->wcsp, " %d %d %d %d %d %d", p->low, p->high, p->place[0], p->place[1], p->place[2], p->place[3]);
}
static int sdisj(const instance *p, const int *v) {
    const int *last = p->place;
    if (v[0] > last[0] || v[1] > last[1]) return TOP;
    if (v[0] < last[0] && v[1] < last[1] && !apart(p, v)) return TOP;
    return (v[0] == last[0] ? last[2] : 0) + (v[1] == last[1] ? last[3] : 0);
}

const kind other_kinds[] = {
    {"knapsack", draw_knapsack, knapsack, 0, 2, 0, 0},
    {"max", draw_max, max_cost, 0, 0, 0, 1},
    {"smaxdp", draw_max, max_cost, 0, 0, 0, 1},
    {"wregular", draw_wregular, regular, 0, 0, 0, 1},
    {"sregular", draw_sregular, regular, 0, 0, 0, 1},
    {"sregulardp", draw_sregular, regular, 0, 0, 0, 1},
    {"clique", draw_clique, clique, 0, 0, 0, 0},
    {">=", draw_arithmetic, at_least, 2, 0, 1, 1},
    {">", draw_arithmetic, above, 2, 0, 1, 1},
    {"<=", draw_arithmetic, at_most, 2, 0, 1, 1},
    {"<", draw_arithmetic, beneath, 2, 0, 1, 1},
    {"=", draw_arithmetic, equals, 2, 0, 1, 1},
    {"disj", draw_disj, disj, 2, 0, 1, 1},
    {"sdisj", draw_sdisj, sdisj, 2, 0, 1, 1},
    {NULL, NULL, NULL, 0, 0, 0, 0},
};
