/* SPDX-License-Identifier: MIT
 *
 * Functions that count values or add them up.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/elimination/globals.h"

/* ---- Random draws, texts ---- */

static uint64_t state = 1;

int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 33) % n;
}

void put_text(char *text, const char *format, ...) {
    va_list arguments;
    size_t used = strlen(text);
    va_start(arguments, format);
    vsnprintf(text + used, TEXT - used, format, arguments);
    va_end(arguments);
}

static const char *const metrics[] = {"hard", "lin", "quad", "var", "dec", "wdec"};
static const char *const comparators[] = {"==", "<=", "<", "!=", ">", ">="};

/* A number of costs as .cfn files have it. */
void put_cost(char *text, int cost) {
    put_text(text, " %s%d.%02d", cost < 0 ? "-" : "", abs(cost) / 100, abs(cost) % 100);
}

void metric_and_cost(instance *p, int metric) {
    static const int costs[] = {3, 7, 50, TOP};
    p->metric = metric;
    p->cost = costs[below(4)];
    put_text(p->wcsp, " %s %d", metrics[metric], p->cost);
    put_text(p->cfn, " metric: %s cost:", metrics[metric]);
    put_cost(p->cfn, p->cost);
}

/* Some values of the largest domain, in order. */
static void draw_values(instance *p) {
    int v;
    p->listed[0] = 0;
    for (v = 0; v < p->d; v++)
        if (below(2)) p->lists[0][p->listed[0]++] = v;
}

static void put_values(instance *p) {
    int k;
    put_text(p->wcsp, " %d", p->listed[0]);
    put_text(p->cfn, " values: [");
    for (k = 0; k < p->listed[0]; k++) {
        put_text(p->wcsp, " %d", p->lists[0][k]);
        put_text(p->cfn, " %d", p->lists[0][k]);
    }
    put_text(p->cfn, " ]");
}

static int is_listed(const instance *p, int value) {
    int k, found = 0;
    for (k = 0; k < p->listed[0]; k++) found |= p->lists[0][k] == value;
    return found;
}

static int occurrences(const int *value, int first, int last, int v) {
    int k, count = 0;
    for (k = first; k < last; k++) count += value[k] == v;
    return count;
}

int larger(int a, int b) { return a > b ? a : b; }

static int priced(const instance *p, int gap) {
    if (gap == 0) return 0;
    return p->metric == HARD ? p->cost : p->metric == QUAD ? p->cost * gap * gap : p->cost * gap;
}

static int gap_of(const instance *p, int sum, int to) {
    switch (p->comparator) {
    case 0: return abs(sum - to);
    case 1: return larger(0, sum - to);
    case 2: return larger(0, sum - to + 1);
    case 3: return sum == to;
    case 4: return larger(0, to - sum + 1);
    default: return larger(0, to - sum);
    }
}

static int outside(int count, int low, int high) { return larger(0, larger(low - count, count - high)); }

/* ---- The functions: each draws its parameters, and prices an assignment ---- */

static void draw_salldiff(instance *p) { metric_and_cost(p, below(2) ? VAR : DEC); }
static void draw_walldiff(instance *p) { metric_and_cost(p, below(3)); }
static void draw_var(instance *p) { metric_and_cost(p, VAR); }
static int alldiff(const instance *p, const int *value) {
    int v, cost = 0;
    for (v = 0; v < p->d; v++) {
        int count = occurrences(value, 0, p->n, v);
        if (p->metric == DEC) cost += p->cost * count * (count - 1) / 2;
        else cost += priced(p, larger(0, count - 1));
    }
    return cost;
}

static void draw_bounds(instance *p, int metric) {
    int v;
    metric_and_cost(p, metric);
    for (v = 0, p->rows = 0; v < p->d; v++) {
        int *row = p->row[p->rows];
        if (below(3) == 0) continue;
        p->rows++;
        row[0] = v;
        row[1] = below(3);
        row[2] = row[1] + below(3);
        row[3] = below(4);
        row[4] = below(4);
    }
    put_text(p->wcsp, " %d", p->rows);
    put_text(p->cfn, " bounds: [");
    for (v = 0; v < p->rows; v++) {
        const int *row = p->row[v];
        put_text(p->wcsp, " %d %d %d", row[0], row[1], row[2]);
        put_text(p->cfn, " [%d %d %d", row[0], row[1], row[2]);
        if (metric == WDEC) {
            put_text(p->wcsp, " %d %d", row[3], row[4]);
            put_cost(p->cfn, row[3]);
            put_cost(p->cfn, row[4]);
        }
        put_text(p->cfn, "]");
    }
    put_text(p->cfn, "]");
}
static void draw_sgcc(instance *p) { draw_bounds(p, VAR + below(3)); }
static void draw_sgccdp(instance *p) { draw_bounds(p, VAR); }
static void draw_wgcc(instance *p) { draw_bounds(p, below(3)); }
static int within_bounds(const instance *p, const int *value, int first, int last) {
    int k, cost = 0;
    for (k = 0; k < p->rows; k++)
        cost += priced(p, outside(occurrences(value, first, last, p->row[k][0]), p->row[k][1], p->row[k][2]));
    return cost;
}
static int wgcc(const instance *p, const int *value) { return within_bounds(p, value, 0, p->n); }
static int sgcc(const instance *p, const int *value) {
    int k, shortage = 0, excess = 0, weighted = 0, lows = 0, highs = 0;
    for (k = 0; k < p->rows; k++) {
        const int *row = p->row[k];
        int count = occurrences(value, 0, p->n, row[0]), less = larger(0, row[1] - count),
            more = larger(0, count - row[2]);
        shortage += less;
        excess += more;
        weighted += less * row[3] + more * row[4];
        lows += row[1];
        highs += row[2];
    }
    if (p->metric == WDEC) return weighted;
    if (p->metric == DEC) return p->cost * (shortage + excess);
    if (lows > p->n || (p->rows == p->d && highs < p->n)) return TOP;
    return p->cost * larger(shortage, excess);
}

static int wsame(const instance *p, const int *value) {
    int v, cost = 0;
    for (v = 0; v < p->d; v++)
        cost += priced(p, abs(occurrences(value, 0, p->n / 2, v) - occurrences(value, p->n / 2, p->n, v)));
    return cost;
}
static int wsamegcc(const instance *p, const int *value) {
    return wsame(p, value) + within_bounds(p, value, 0, p->n / 2) + within_bounds(p, value, p->n / 2, p->n);
}

static void draw_ssame(instance *p) {
    int k;
    for (k = 0; k < p->n; k++) { /* shuffled */
        int at = below(k + 1);
        p->place[k] = p->place[at];
        p->place[at] = k;
    }
    p->metric = LIN;
    p->cost = 1 + below(9);
    put_text(p->wcsp, " %d %d %d", p->cost, p->n / 2, p->n / 2);
    put_text(p->cfn, " cost:");
    put_cost(p->cfn, p->cost);
    for (k = 0; k < p->n; k++) {
        if (k % (p->n / 2) == 0) put_text(p->cfn, k ? "] vars2: [" : " vars1: [");
        put_text(p->wcsp, " %d", p->place[k]);
        put_text(p->cfn, k % 2 ? " v%d" : " %d", p->place[k]);
    }
    put_text(p->cfn, "]");
}
static int ssame(const instance *p, const int *value) {
    int moved[MOST], k;
    for (k = 0; k < p->n; k++) moved[k] = value[p->place[k]];
    return wsame(p, moved) / 2; /* as many are missing as there are too many */
}

static void draw_range(instance *p) {
    p->low = below(p->n + 1);
    p->high = p->low + below(p->n + 1 - p->low);
}
static void draw_samong(instance *p) {
    metric_and_cost(p, VAR);
    draw_range(p);
    put_text(p->wcsp, " %d %d", p->low, p->high);
    put_text(p->cfn, " min: %d max: %d", p->low, p->high);
    draw_values(p);
    put_values(p);
}
static void draw_wamong(instance *p) {
    metric_and_cost(p, below(3));
    draw_values(p);
    put_values(p);
    draw_range(p);
    put_text(p->wcsp, " %d %d", p->low, p->high);
    put_text(p->cfn, " min: %d max: %d", p->low, p->high);
}
static int listed_among(const instance *p, const int *value, int variables) {
    int k, count = 0;
    for (k = 0; k < variables; k++) count += is_listed(p, value[k]);
    return count;
}
static int among(const instance *p, const int *value) {
    return priced(p, outside(listed_among(p, value, p->n), p->low, p->high));
}
static void draw_wvaramong(instance *p) {
    metric_and_cost(p, HARD);
    draw_values(p);
    put_values(p);
}
static int wvaramong(const instance *p, const int *value) {
    return listed_among(p, value, p->n - 1) == value[p->n - 1] ? 0 : p->cost;
}

static void draw_compare(instance *p, int metric, int most) {
    metric_and_cost(p, metric);
    p->comparator = below(6);
    put_text(p->wcsp, " %s", comparators[p->comparator]);
    put_text(p->cfn, " comparator: \"%s\"", comparators[p->comparator]);
    if (most == 0) return;
    p->to = below(most);
    put_text(p->wcsp, " %d", p->to);
    put_text(p->cfn, " to: %d", p->to);
}
static int sum_of(const int *value, int variables) {
    int k, sum = 0;
    for (k = 0; k < variables; k++) sum += value[k];
    return sum;
}
static void draw_wsum(instance *p) { draw_compare(p, below(3), 3 * p->n); }
static int wsum(const instance *p, const int *value) { return priced(p, gap_of(p, sum_of(value, p->n), p->to)); }
static void draw_wvarsum(instance *p) { draw_compare(p, HARD, 0); }
static int wvarsum(const instance *p, const int *value) {
    return priced(p, gap_of(p, sum_of(value, p->n - 1), value[p->n - 1]));
}
static void draw_woverlap(instance *p) { draw_compare(p, below(3), p->n / 2 + 1); }
static int woverlap(const instance *p, const int *value) {
    int k, count = 0;
    for (k = 0; k < p->n / 2; k++) count += value[k] == value[k + p->n / 2] && value[k] != 0;
    return priced(p, gap_of(p, count, p->to));
}

const kind counting_kinds[] = {
    {"salldiff", draw_salldiff, alldiff, 0, 0, 0, 1},
    {"salldiffdp", draw_var, alldiff, 0, 0, 0, 1},
    {"walldiff", draw_walldiff, alldiff, 0, 0, 0, 1},
    {"sgcc", draw_sgcc, sgcc, 0, 0, 0, 1},
    {"sgccdp", draw_sgccdp, wgcc, 0, 0, 0, 1},
    {"wgcc", draw_wgcc, wgcc, 0, 0, 0, 1},
    {"wsame", draw_walldiff, wsame, -2, 0, 0, 1},
    {"wsamegcc", draw_wgcc, wsamegcc, -2, 0, 0, 1},
    {"ssame", draw_ssame, ssame, -2, 0, 0, 1},
    {"samong", draw_samong, among, 0, 0, 0, 1},
    {"samongdp", draw_samong, among, 0, 0, 0, 1},
    {"wamong", draw_wamong, among, 0, 0, 0, 1},
    {"wvaramong", draw_wvaramong, wvaramong, 0, 0, 0, 1},
    {"wsum", draw_wsum, wsum, 0, 0, 0, 1},
    {"wvarsum", draw_wvarsum, wvarsum, 0, 0, 0, 1},
    {"woverlap", draw_woverlap, woverlap, -2, 0, 0, 1},
    {NULL, NULL, NULL, 0, 0, 0, 0},
};
