/* SPDX-License-Identifier: MIT
 *
 * The readers of .wcsp and .cfn files on functions in intention: random small models with one such function and a cost
 * for each value, written in both formats, read, and eliminated. The optimum and the number of optima are those of all
 * assignments, priced by each function's definition; and, where it is installed, toulbar2's. Scopes are small enough
 * for one table and large enough for hidden variables.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/io/graphical.h"
#include "tests/support/support.h"

enum { TOP = 1000, MOST = 8, TEXT = 16384 };

typedef struct instance {
    int n, d, size[MOST]; /* variables, the largest domain, the domains */
    int unary[MOST][MOST];
    int metric, comparator, cost, low, high, to, states, lists[2][MOST], listed[2], rows, row[64][5], place[MOST];
    char wcsp[TEXT], cfn[TEXT]; /* the parameters in both formats */
} instance;

/* ---- Random draws, texts ---- */

static uint64_t state = 1;

static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 33) % n;
}

static void say(char *text, const char *format, ...) {
    va_list arguments;
    size_t used = strlen(text);
    va_start(arguments, format);
    vsnprintf(text + used, TEXT - used, format, arguments);
    va_end(arguments);
}

static const char *const metrics[] = {"hard", "lin", "quad", "var", "dec", "wdec"};
enum { HARD, LIN, QUAD, VAR, DEC, WDEC };
static const char *const comparators[] = {"==", "<=", "<", "!=", ">", ">="};

/* A number of costs as .cfn files have it. */
static void say_cost(char *text, int cost) {
    say(text, " %s%d.%02d", cost < 0 ? "-" : "", abs(cost) / 100, abs(cost) % 100);
}

static void metric_and_cost(instance *p, int metric) {
    static const int costs[] = {3, 7, 50, TOP};
    p->metric = metric;
    p->cost = costs[below(4)];
    say(p->wcsp, " %s %d", metrics[metric], p->cost);
    say(p->cfn, " metric: %s cost:", metrics[metric]);
    say_cost(p->cfn, p->cost);
}

/* Some values of the largest domain, in order. */
static void draw_values(instance *p) {
    int v;
    p->listed[0] = 0;
    for (v = 0; v < p->d; v++)
        if (below(2)) p->lists[0][p->listed[0]++] = v;
}

static void say_values(instance *p) {
    int k;
    say(p->wcsp, " %d", p->listed[0]);
    say(p->cfn, " values: [");
    for (k = 0; k < p->listed[0]; k++) {
        say(p->wcsp, " %d", p->lists[0][k]);
        say(p->cfn, " %d", p->lists[0][k]);
    }
    say(p->cfn, " ]");
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

static int larger(int a, int b) { return a > b ? a : b; }

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
    say(p->wcsp, " %d", p->rows);
    say(p->cfn, " bounds: [");
    for (v = 0; v < p->rows; v++) {
        const int *row = p->row[v];
        say(p->wcsp, " %d %d %d", row[0], row[1], row[2]);
        say(p->cfn, " [%d %d %d", row[0], row[1], row[2]);
        if (metric == WDEC) {
            say(p->wcsp, " %d %d", row[3], row[4]);
            say_cost(p->cfn, row[3]);
            say_cost(p->cfn, row[4]);
        }
        say(p->cfn, "]");
    }
    say(p->cfn, "]");
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
    say(p->wcsp, " %d %d %d", p->cost, p->n / 2, p->n / 2);
    say(p->cfn, " cost:");
    say_cost(p->cfn, p->cost);
    for (k = 0; k < p->n; k++) {
        if (k % (p->n / 2) == 0) say(p->cfn, k ? "] vars2: [" : " vars1: [");
        say(p->wcsp, " %d", p->place[k]);
        say(p->cfn, k % 2 ? " v%d" : " %d", p->place[k]);
    }
    say(p->cfn, "]");
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
    say(p->wcsp, " %d %d", p->low, p->high);
    say(p->cfn, " min: %d max: %d", p->low, p->high);
    draw_values(p);
    say_values(p);
}
static void draw_wamong(instance *p) {
    metric_and_cost(p, below(3));
    draw_values(p);
    say_values(p);
    draw_range(p);
    say(p->wcsp, " %d %d", p->low, p->high);
    say(p->cfn, " min: %d max: %d", p->low, p->high);
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
    say_values(p);
}
static int wvaramong(const instance *p, const int *value) {
    return listed_among(p, value, p->n - 1) == value[p->n - 1] ? 0 : p->cost;
}

static void draw_compare(instance *p, int metric, int most) {
    metric_and_cost(p, metric);
    p->comparator = below(6);
    say(p->wcsp, " %s", comparators[p->comparator]);
    say(p->cfn, " comparator: \"%s\"", comparators[p->comparator]);
    if (most == 0) return;
    p->to = below(most);
    say(p->wcsp, " %d", p->to);
    say(p->cfn, " to: %d", p->to);
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

static void draw_knapsack(instance *p) {
    int k;
    p->to = below(9) - 2;
    say(p->wcsp, " %d", p->to);
    say(p->cfn, " capacity: %d weights: [", p->to);
    for (k = 0; k < p->n; k++) {
        p->place[k] = below(6) + 1;
        if (below(4) == 0) p->place[k] = -p->place[k];
        say(p->wcsp, " %d", p->place[k]);
        say(p->cfn, " %d", p->place[k]);
    }
    say(p->cfn, " ]");
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
    say(p->wcsp, " %d %d", p->cost, p->rows);
    say(p->cfn, " defaultcost:");
    say_cost(p->cfn, p->cost);
    say(p->cfn, " tuples: [");
    for (k = 0; k < p->rows; k++) {
        say(p->wcsp, " %d %d %d", p->row[k][0], p->row[k][1], p->row[k][2]);
        say(p->cfn, k % 2 ? " [%d %d" : " [v%d %d", p->row[k][0], p->row[k][1]);
        say_cost(p->cfn, p->row[k][2]);
        say(p->cfn, "]");
    }
    say(p->cfn, "]");
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
    say(p->wcsp, " %d", p->states);
    say(p->cfn, " nb_states: %d", p->states);
    for (k = 0; k < 2; k++) {
        for (s = 0, p->listed[k] = 0; s < p->states; s++) {
            p->lists[k][s] = (weighted || k == 1 ? below(2) : s == 0) || s == p->states - 1 - k * s ? below(6) : TOP;
            if (!weighted) p->lists[k][s] = k == 0 ? (s == 0 ? 0 : TOP) : p->lists[k][s] < TOP ? 0 : TOP;
            p->listed[k] += p->lists[k][s] < TOP;
        }
        say(p->wcsp, " %d", p->listed[k]);
        say(p->cfn, " %s: [", tag[k]);
        for (s = 0; s < p->states; s++) {
            if (p->lists[k][s] == TOP) continue;
            say(p->wcsp, weighted ? " %d %d" : " %d", s, p->lists[k][s]);
            say(p->cfn, " [%d", s);
            if (weighted) say_cost(p->cfn, p->lists[k][s]);
            say(p->cfn, "]");
        }
        say(p->cfn, "]");
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
    say(p->wcsp, " %d", p->rows);
    say(p->cfn, " transitions: [");
    for (k = 0; k < p->rows; k++) {
        const int *row = p->row[k];
        say(p->wcsp, " %d %d %d", row[0], row[1], row[2]);
        say(p->cfn, " [%d %d %d", row[0], row[1], row[2]);
        if (weighted) say(p->wcsp, " %d", row[3]);
        if (weighted) say_cost(p->cfn, row[3]);
        say(p->cfn, "]");
    }
    say(p->cfn, "]");
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
    say(p->wcsp, " 1");
    say(p->cfn, " rhs: 1 values: [");
    for (k = 0; k < p->n; k++) {
        int count = 0;
        say(p->cfn, "[");
        for (v = 0; v < p->size[k]; v++) count += p->row[k][v] = below(2);
        say(p->wcsp, " %d", count);
        for (v = 0; v < p->size[k]; v++) {
            if (!p->row[k][v]) continue;
            say(p->wcsp, " %d", v);
            say(p->cfn, " %d", v);
        }
        say(p->cfn, "]");
    }
    say(p->cfn, "]");
}
static int clique(const instance *p, const int *value) {
    int k, count = 0;
    for (k = 0; k < p->n; k++) count += p->row[k][value[k]];
    return count <= 1 ? 0 : TOP;
}

static void draw_arithmetic(instance *p) {
    p->low = below(5) - 2;
    p->high = below(4);
    say(p->wcsp, " %d %d", p->low, p->high);
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
    say(p->wcsp, " %d %d %d", p->low, p->high, p->cost);
}
static int apart(const instance *p, const int *v) { return v[0] >= v[1] + p->high || v[1] >= v[0] + p->low; }
static int disj(const instance *p, const int *v) { return apart(p, v) ? 0 : p->cost; }
static void draw_sdisj(instance *p) {
    int k;
    p->low = below(4);
    p->high = below(4);
    for (k = 0; k < 4; k++) p->place[k] = k < 2 ? below(p->size[k] + 1) : 1 + below(9);
    say(p->wcsp, " %d %d %d %d %d %d", p->low, p->high, p->place[0], p->place[1], p->place[2], p->place[3]);
}
static int sdisj(const instance *p, const int *v) {
    const int *last = p->place;
    if (v[0] > last[0] || v[1] > last[1]) return TOP;
    if (v[0] < last[0] && v[1] < last[1] && !apart(p, v)) return TOP;
    return (v[0] == last[0] ? last[2] : 0) + (v[1] == last[1] ? last[3] : 0);
}

/* ---- All of them ---- */

typedef struct kind {
    const char *name;
    void (*draw)(instance *p);
    int (*cost)(const instance *p, const int *value);
    int variables; /* 0: any number; 2: two; -2: an even number */
    int values;    /* 0: any number */
    int wcsp_only; /* in .cfn only with whole costs */
    int toulbar2;  /* 0: it wants more of the model than this test writes */
} kind;

static const kind kinds[] = {
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
};

/* large: more tuples than become one table */
static void draw_instance(const kind *of, int large, instance *p) {
    int k, v, tuples;
    do {
        memset(p, 0, sizeof *p);
        p->n = of->variables == 2 ? 2 : large ? 6 + below(2) : 2 + below(3);
        if (of->variables == -2) p->n = p->n / 2 * 2;
        for (k = 0, tuples = 1; k < p->n; k++) {
            p->size[k] = of->values ? of->values : large ? 3 + below(3) : 2 + below(3);
            if (of->variables == -2 && k > 0) p->size[k] = p->size[0]; /* toulbar2 asks for that */
            p->d = larger(p->d, p->size[k]);
            tuples *= p->size[k];
            for (v = 0; v < p->size[k]; v++) p->unary[k][v] = below(10);
        }
    } while (large && !of->values && of->variables != 2 && (tuples <= 4096 || tuples > 40000));
    of->draw(p);
}

static void write_wcsp(const kind *of, const instance *p, char *text) {
    int k, v;
    *text = 0;
    say(text, "random %d %d %d %d\n", p->n, p->d, p->n + 1, TOP);
    for (k = 0; k < p->n; k++) say(text, "%d ", p->size[k]);
    for (k = 0; k < p->n; k++) {
        say(text, "\n1 %d 0 %d", k, p->size[k]);
        for (v = 0; v < p->size[k]; v++) say(text, " %d %d", v, p->unary[k][v]);
    }
    say(text, "\n%d", p->n);
    for (k = 0; k < p->n; k++) say(text, " %d", k);
    say(text, " -1 %s%s\n", of->name, p->wcsp);
}

static void write_cfn(const kind *of, const instance *p, char *text) {
    int k, v;
    *text = 0;
    say(text, "{problem: {name: random mustbe: <%d.%02d}\nvariables: {", TOP / 100, TOP % 100);
    for (k = 0; k < p->n; k++) say(text, "v%d: %d ", k, p->size[k]);
    say(text, "}\nfunctions: {\n");
    for (k = 0; k < p->n; k++) {
        say(text, "u%d: {scope: [v%d] costs: [", k, k);
        for (v = 0; v < p->size[k]; v++) say_cost(text, p->unary[k][v]);
        say(text, "]}\n");
    }
    say(text, "g: {scope: [");
    for (k = 0; k < p->n; k++) say(text, k % 2 ? " %d" : " v%d", k);
    say(text, "] type: \"%s\" params: {%s}}}}\n", of->name, p->cfn);
}

/* ---- Answers ---- */

static int total(const kind *of, const instance *p, const int *value) {
    int cost = of->cost(p, value), k;
    for (k = 0; k < p->n; k++) cost += p->unary[k][value[k]];
    return cost < TOP ? cost : TOP;
}

/* The least cost of all assignments, or TOP, and how many have it. */
static int best_of_all(const kind *of, const instance *p, uint64_t *count) {
    int value[MOST] = {0}, best = TOP, k, cost;
    *count = 0;
    do {
        cost = total(of, p, value);
        if (cost < best) best = cost, *count = 0;
        *count += cost == best && cost < TOP;
        for (k = p->n - 1; k >= 0 && ++value[k] == p->size[k]; k--) value[k] = 0;
    } while (k >= 0);
    return best;
}

static void load(const char *suffix, const char *text, graphical_model *m, char path[64]) {
    char error[1024];
    FILE *file;
    snprintf(path, 64, "/tmp/gpuopt-globals-%ld%s", (long)getpid(), suffix);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    if (graphical_load(path, 0, m, error, sizeof error)) fail_msg("%s\n%s", error, text);
}

static void check_model(const kind *of, const instance *p, const graphical_model *m, int best, uint64_t count,
                        const char *text) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_elimination *e = NULL;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment found;
    int32_t *value = calloc((size_t)m->variables + 1, sizeof *value), k;
    int given[MOST];
    assert_non_null(value);
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&found, sizeof found);
    assert_int_equal(m->variables - m->hidden, p->n);
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.semiring = GPUOPT_SEMIRING_MIN_COUNT;
    desc.top = m->top;
    assert_int_equal(gpuopt_elimination_create(context, &desc, &e), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_step(e, INT32_MAX, &info), GPUOPT_OK);
    if (info.outcome != (best < TOP ? GPUOPT_OPTIMAL : GPUOPT_INFEASIBLE) ||
        (best < TOP && (info.cost + m->shift != best || info.count != count)))
        fail_msg("cost %lld, %llu times, where all assignments say %d, %llu times\n%s",
                 (long long)(info.cost + m->shift), (unsigned long long)info.count, best, (unsigned long long)count,
                 text);
    if (best < TOP) {
        assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &found), GPUOPT_OK);
        for (k = 0; k < p->n; k++) given[k] = value[k];
        assert_int_equal(total(of, p, given), best);
    }
    gpuopt_elimination_destroy(e);
    gpuopt_context_destroy(context);
    free(value);
}

/* What toulbar2 says of the file: the optimum, or TOP. */
static int ask_toulbar2(const char *path) {
    char command[128], line[512];
    int optimum = -1;
    FILE *pipe;
    snprintf(command, sizeof command, "toulbar2 %s 2>&1", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe)) {
        if (strncmp(line, "No solution", 11) == 0) optimum = TOP;
        if (strncmp(line, "Optimum: ", 9) == 0) optimum = atoi(line + 9);
    }
    pclose(pipe);
    return optimum;
}

static void test_functions_in_intention(void **unused) {
    static char text[TEXT];
    int others = system("command -v toulbar2 >/dev/null 2>&1") == 0, asked = 0, with_hidden = 0, large, times, best;
    char path[64];
    graphical_model m;
    uint64_t count;
    instance p;
    size_t k;
    (void)unused;
    for (k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int hidden = 0;
        for (large = 0; large < (kinds[k].variables == 2 ? 1 : 2); large++) {
            for (times = large ? 4 : 20; times > 0; times--) {
                draw_instance(&kinds[k], large, &p);
                best = best_of_all(&kinds[k], &p, &count);
                write_wcsp(&kinds[k], &p, text);
                load(".wcsp", text, &m, path);
                hidden |= m.hidden > 0;
                assert_true(m.hidden == 0 || large);
                check_model(&kinds[k], &p, &m, best, count, text);
                graphical_free(&m);
                if (others && kinds[k].toulbar2 && times % 4 == 0) {
                    int answer = ask_toulbar2(path);
                    if (answer != best) fail_msg("toulbar2 says %d, not %d\n%s", answer, best, text);
                    asked++;
                }
                remove(path);
                if (kinds[k].wcsp_only) continue;
                write_cfn(&kinds[k], &p, text);
                load(".cfn", text, &m, path);
                check_model(&kinds[k], &p, &m, best, count, text);
                graphical_free(&m);
                remove(path);
            }
        }
        /* Small tables, and pairs, stay what they are. */
        if (kinds[k].variables == 2 || kinds[k].values > 0 || strcmp(kinds[k].name, "clique") == 0)
            assert_false(hidden);
        with_hidden += hidden;
    }
    assert_in_range(with_hidden, 18, 21); /* of 21 that may have them */
    if (others) printf("toulbar2 was asked %d times\n", asked);
    else printf("SKIPPED: what toulbar2 says (it is not installed)\n");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions_in_intention)};
TEST_MAIN(tests)
