/* SPDX-License-Identifier: MIT
 *
 * Writes logs for the checker to read, by the simplest methods: bound tightening in rationals, and depth-first search
 * with a look-up of dominated nodes.
 *
 * Build: cc -O2 -I. tests/check/logs/write_log.c tests/check/text.c tests/check/mps.c -lgmp -lm -o \
 *     write_log
 * Usage: write_log propagation MODEL.mps | write_log knapsack MODEL, of at most 30 items
 */
#include "tests/check/check.h"

/* ---- Propagation ---- */

/* The double next to a rational, or the rational itself, on the side that cuts nothing off. */
static double outward(mpq_t value, int upper, int integer) {
    mpq_t again;
    double d;
    mpq_init(again);
    if (integer) {
        if (upper) mpz_fdiv_q(mpq_numref(value), mpq_numref(value), mpq_denref(value));
        else mpz_cdiv_q(mpq_numref(value), mpq_numref(value), mpq_denref(value));
        mpz_set_ui(mpq_denref(value), 1);
    }
    d = mpq_get_d(value);
    mpq_set_d(again, d);
    if (upper && mpq_cmp(again, value) < 0) d = nextafter(d, INFINITY);
    if (!upper && mpq_cmp(again, value) > 0) d = nextafter(d, -INFINITY);
    mpq_clear(again);
    return d;
}

/* Activity of row i at its least (sign 1) or greatest (-1), without column j; 0: infinite. */
static int activity(const program *p, int i, int j, int sign, mpq_t sum) {
    mpq_t term, other;
    int k, e;
    mpq_inits(term, other, NULL);
    mpq_set_ui(sum, 0, 1);
    for (k = 0; k < p->cols; k++)
        for (e = p->start[k]; e < p->start[k + 1]; e++) {
            const double bound = p->bound[p->value[e] * sign > 0 ? LOWER : UPPER][k];
            if (p->row[e] != i || k == j) continue;
            if (isinf(bound)) return 0;
            mpq_set_d(term, p->value[e]);
            mpq_set_d(other, bound);
            mpq_mul(term, term, other);
            mpq_add(sum, sum, term);
        }
    return 1;
}

/* The side that limits the least activity of row i (sign 1: its rhs) or the greatest one (-1: its lhs). Returns 0 if
 * there is none. */
static int side(const program *p, int i, int sign, mpq_t value) {
    const double bound = p->bound[sign > 0 ? UPPER : LOWER][p->cols + i];
    if (isfinite(bound)) mpq_set_d(value, bound);
    return isfinite(bound);
}

/* Tightens by one entry and one side of its row; returns whether a bound moved by more than 1e-3. */
static int tighten(program *p, int j, int e, int sign) {
    int i = p->row[e], upper = p->value[e] * sign > 0, moved;
    double *bound = &p->bound[upper][j];
    mpq_t rest, other;
    double d;
    mpq_inits(rest, other, NULL);
    if (!side(p, i, sign, rest) || !activity(p, i, j, sign, other)) return 0;
    mpq_sub(rest, rest, other);
    mpq_set_d(other, p->value[e]);
    mpq_div(rest, rest, other);
    d = outward(rest, upper, p->integer[j]);
    moved = (upper ? *bound - d : d - *bound) > 1e-3;
    if (moved) {
        printf("bound %d %d %s %a\n", i, j, upper ? "upper" : "lower", d);
        *bound = d;
    }
    return moved;
}

static int write_propagation(program *p) {
    mpq_t sum, rest;
    int i, j, e, sign, moved = 1, round, infeasible = -1;
    mpq_inits(sum, rest, NULL);
    printf("answer 1 propagation\n");
    for (round = 0; round < 50 && moved && infeasible < 0; round++) {
        for (i = moved = 0; i < p->rows - 1; i++)
            for (sign = -1; sign < 2; sign += 2)
                if (side(p, i, sign, rest) && activity(p, i, -1, sign, sum) && mpq_cmp(sum, rest) * sign > 0)
                    infeasible = i;
        for (j = 0; j < p->cols && infeasible < 0; j++)
            for (e = p->start[j]; e < p->start[j + 1]; e++)
                if (p->row[e] < p->rows - 1) moved |= tighten(p, j, e, 1) | tighten(p, j, e, -1);
    }
    if (infeasible >= 0) printf("row %d\n", infeasible);
    printf("outcome %s\n", infeasible >= 0 ? "infeasible" : "converged");
    return 0;
}

/* ---- Knapsacks ---- */

enum { ITEMS = 30, NODES = 1 << 20 };
static int items, nodes = 1;
static int64_t capacity, weight[ITEMS], profit[ITEMS], best;
static struct node {
    int depth, state; /* of a node that branched: 1 */
    int64_t weight, profit;
    uint32_t taken;
} node[NODES];
static uint32_t best_set;

/* Items in their order; first finds the best set, then writes the log. */
static void search(int k, int log) {
    struct node *n = &node[k];
    int64_t residual = capacity - n->weight, rest = 0;
    int j, left = nodes;
    for (j = n->depth; j < items; j++) rest += profit[j];
    if (residual >= 0 && n->profit > best) best = n->profit, best_set = n->taken;
    for (j = 0; log && j < nodes && residual >= 0; j++)
        if (node[j].state && node[j].depth == n->depth && j < k && node[j].weight <= n->weight &&
            node[j].profit >= n->profit) {
            printf("dominated %d %d\n", k, j);
            return;
        }
    if (residual < 0 || n->depth == items || (n->profit + rest <= best && rest == 0)) {
        if (log) printf("pruned %d\n", k);
        return;
    }
    if (nodes + 2 > NODES) end(BAD_INPUT, "too many nodes");
    nodes += 2;
    n->state = 1;
    node[left] = node[left + 1] = *n;
    node[left].state = node[left + 1].state = 0;
    node[left].depth = node[left + 1].depth = n->depth + 1;
    node[left + 1].weight += weight[n->depth];
    node[left + 1].profit += profit[n->depth];
    node[left + 1].taken |= (uint32_t)1 << n->depth;
    if (log) printf("branch %d %d %d %d\n", k, n->depth, left, left + 1);
    search(left, log);
    search(left + 1, log);
}

static int write_knapsack(words *w) {
    int64_t weighs = 0;
    int j, count = 0;
    items = (int)whole(w, 0, ITEMS);
    capacity = whole(w, 0, INT64_MAX);
    for (j = 0; j < items; j++) profit[j] = whole(w, 0, INT64_MAX), weight[j] = whole(w, 0, INT64_MAX);
    search(0, 0);
    for (j = 0; j < items; j++)
        if (best_set >> j & 1) weighs += weight[j], count++;
    printf("answer 1 knapsack\noutcome optimal\nprofit %lld\nweight %lld\nitems %d\n", (long long)best,
           (long long)weighs, count);
    for (j = 0; j < items; j++)
        if (best_set >> j & 1) printf("%d\n", j);
    printf("nodes %d\n", nodes);
    nodes = 1;
    memset(node, 0, sizeof node);
    search(0, 1);
    return 0;
}

int main(int argc, char **argv) {
    words w;
    if (argc != 3) return BAD_INPUT;
    if (strcmp(argv[1], "propagation") == 0) return write_propagation(read_mps(argv[2]));
    w = read_text(argv[2]);
    return write_knapsack(&w);
}
