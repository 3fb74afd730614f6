/* SPDX-License-Identifier: MIT */
#include "tests/simplex/plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum form { TRANSPORT, NETWORK, MARKOV, BLEND };
static const struct {
    const char *name;
    enum form form;
    int32_t first, second; /* plants and towns; nodes; states; goods and bins */
    int unit;              /* data are multiples of 1 / unit */
} plain[PLAIN_KINDS] = {{"transport3x3", TRANSPORT, 3, 3, 10},      {"transport6x8", TRANSPORT, 6, 8, 100},
                        {"transport20x20", TRANSPORT, 20, 20, 100}, {"network12", NETWORK, 12, 0, 10},
                        {"network60", NETWORK, 60, 0, 100},         {"markov5", MARKOV, 5, 0, 100},
                        {"markov12", MARKOV, 12, 0, 100},           {"blend5x3", BLEND, 5, 3, 10}};

const char *plain_name(int kind) { return plain[kind].name; }

/* ---- Models ---- */

enum { MOST_ROWS = 60, MOST_COLS = 400 };
typedef struct draft {
    uint64_t seed;
    int32_t rows, cols;
    double a[MOST_ROWS * MOST_COLS], cost[MOST_COLS], ub[MOST_COLS], side[MOST_ROWS]; /* equations */
} draft;

static int draw(draft *d, int least, int most) { return (int)test_random_int(&d->seed, least, most); }

static void resize(draft *d, int32_t rows, int32_t cols, int least_cost, int most_cost) {
    int32_t j;
    assert_true(rows <= MOST_ROWS && cols <= MOST_COLS);
    d->rows = rows, d->cols = cols;
    for (j = 0; j < cols; j++) d->cost[j] = draw(d, least_cost, most_cost), d->ub[j] = no_bound;
}

/* A decimal is the double next to it: one division of integers. */
static double decimal(int units, int unit) { return (double)units / unit; }

static double *entry(draft *d, int32_t i, int32_t j) { return &d->a[i * d->cols + j]; }

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Cuts `whole` units into `parts` parts, none of them 0. */
static void divide(draft *d, int whole, int32_t parts, int *part) {
    int cut[MOST_ROWS + 1];
    int32_t k, n = 1;
    assert_true(parts <= whole);
    cut[0] = 0;
    while (n < parts) {
        cut[n] = draw(d, 1, whole - 1);
        for (k = 1; k < n && cut[k] != cut[n]; k++) continue;
        n += k == n;
    }
    qsort(cut, (size_t)parts, sizeof *cut, ascending);
    for (k = 0; k < parts; k++) part[k] = (k + 1 < parts ? cut[k + 1] : whole) - cut[k];
}

static void transport(draft *d, int32_t plants, int32_t towns, int unit) {
    int demand[MOST_ROWS], supply, total = 0;
    int32_t i, j;
    resize(d, plants + towns, plants * towns, 1, 20);
    for (i = 0; i < plants; i++) {
        supply = draw(d, 1, 3 * unit);
        total += supply;
        d->side[i] = decimal(supply, unit);
    }
    divide(d, total, towns, demand);
    for (j = 0; j < towns; j++) d->side[plants + j] = decimal(demand[j], unit);
    for (i = 0; i < plants; i++)
        for (j = 0; j < towns; j++) *entry(d, i, i * towns + j) = *entry(d, plants + j, i * towns + j) = 1;
}

/* A circle of arcs, and two more for each node. */
static void network(draft *d, int32_t nodes, int unit) {
    int32_t k, j, from, to;
    int total = 0, balance;
    resize(d, nodes, 3 * nodes, 1, 9);
    for (j = 0; j < d->cols; j++) {
        int again;
        do {
            from = j < nodes ? j : draw(d, 0, nodes - 1);
            to = j < nodes ? (j + 1) % nodes : draw(d, 0, nodes - 1);
            again = from == to;
            for (k = 0; k < j; k++) again |= *entry(d, from, k) > 0 && *entry(d, to, k) < 0;
        } while (again);
        *entry(d, from, j) = 1;
        *entry(d, to, j) = -1;
    }
    for (k = 0; k < nodes; k++) {
        balance = k + 1 < nodes ? draw(d, -50, 50) : -total;
        total += balance;
        d->side[k] = decimal(balance, unit);
    }
}

/* The stationary distribution, of which there is one. */
static void markov(draft *d, int32_t states, int unit) {
    int chance[MOST_ROWS];
    int32_t i, j;
    resize(d, states + 1, states, -5, 5);
    for (i = 0; i < states; i++) {
        divide(d, unit, states, chance);
        for (j = 0; j < states; j++) *entry(d, j, i) = decimal(chance[j] - (i == j ? unit : 0), unit);
        *entry(d, states, i) = 1;
    }
    d->side[states] = 1;
}

/* Goods are distributed over bins; separate columns count the bins' weights. */
static void blend(draft *d, int32_t goods, int32_t bins, int unit) {
    int32_t i, j;
    int total = 0;
    resize(d, goods + bins + 1, goods * bins + bins, 1, 9);
    for (i = 0; i < goods; i++) {
        const int weight = draw(d, 1, 99);
        total += weight;
        for (j = 0; j < bins; j++) {
            *entry(d, i, i * bins + j) = 1;
            *entry(d, goods + j, i * bins + j) = decimal(weight, unit);
            d->ub[i * bins + j] = 1;
        }
        d->side[i] = 1;
    }
    for (j = 0; j < bins; j++) {
        *entry(d, goods + j, goods * bins + j) = -1;
        *entry(d, goods + bins, goods * bins + j) = 1;
        d->cost[goods * bins + j] = 0;
    }
    d->side[goods + bins] = decimal(total, unit);
}

mip plain_model(int kind, uint64_t seed) {
    draft *d = calloc(1, sizeof *d);
    mip m;
    assert_non_null(d);
    d->seed = seed * 1000003 + (uint64_t)kind;
    switch (plain[kind].form) {
    case TRANSPORT: transport(d, plain[kind].first, plain[kind].second, plain[kind].unit); break;
    case NETWORK: network(d, plain[kind].first, plain[kind].unit); break;
    case MARKOV: markov(d, plain[kind].first, plain[kind].unit); break;
    case BLEND: blend(d, plain[kind].first, plain[kind].second, plain[kind].unit); break;
    }
    m = model_of(d->rows, d->cols, d->a, d->cost, d->side, d->side, NULL, d->ub);
    free(d);
    return m;
}

/* ---- Children ---- */

static void add_side(children *all, const mip *m, int kind, int64_t at, int32_t row, int units) {
    const int unit = plain[kind].unit;
    all->index[1][at] = row;
    all->low[1][at] = all->high[1][at] = decimal((int)lround(m->rhs[row] * unit) + units, unit);
}

/* Changes the sides of two rows, so that they still balance; a chain's only side may have any value. Returns how
 * many. */
static int change_sides(children *all, const mip *m, int kind, int64_t at, uint64_t *seed) {
    const int units = (int)test_random_int(seed, 1, 9);
    const int32_t first = plain[kind].first, rows = m->columns.rows;
    const int32_t row = (int32_t)test_random_int(seed, 0, first - 1);
    switch (plain[kind].form) {
    case TRANSPORT:
        add_side(all, m, kind, at, row, units);
        add_side(all, m, kind, at + 1, (int32_t)test_random_int(seed, first, rows - 1), units);
        return 2;
    case NETWORK:
        add_side(all, m, kind, at, row, units);
        add_side(all, m, kind, at + 1, (row + 1 + (int32_t)test_random_int(seed, 0, first - 2)) % first, -units);
        return 2;
    case MARKOV: add_side(all, m, kind, at, rows - 1, units); return 1;
    default: return 0;
    }
}

/* The next decimal below or above x for a column that is not at its lower bound. */
static int change_bound(children *all, const mip *m, int kind, int64_t at, const double *x, uint64_t *seed) {
    const int unit = plain[kind].unit;
    const int32_t cols = m->columns.cols;
    int32_t j = (int32_t)test_random_int(seed, 0, cols - 1), tries = 0;
    while (!(x[j] > m->lb[j] + 1.0 / unit) && tries++ < cols) j = (j + 1) % cols;
    if (tries > cols) return 0;
    all->index[0][at] = j;
    all->low[0][at] = m->lb[j], all->high[0][at] = m->ub[j];
    if (test_random_int(seed, 0, 1)) all->high[0][at] = decimal((int)lround(x[j] * unit) - 1, unit);
    else all->low[0][at] = decimal((int)lround(x[j] * unit) + 1, unit);
    return 1;
}

children *plain_children(int kind, const mip *m, const double *x, uint64_t seed, int32_t count, int changes) {
    children *all = children_new(count);
    int64_t at[3] = {0, 0, 0};
    int32_t k, e;
    int turn = 0, which;
    for (k = 0; k < count; k++) {
        for (which = 0; which < 3; which++) all->start[which][k] = at[which];
        do which = turn++ % 3;
        while (!(changes >> which & 1));
        if (which == 0) at[0] += change_bound(all, m, kind, at[0], x, &seed);
        if (which == 1) at[1] += change_sides(all, m, kind, at[1], &seed);
        for (e = 0; which == 2 && e < 3; e++, at[2]++) {
            all->index[2][at[2]] = (int32_t)test_random_int(&seed, 0, m->columns.cols - 1);
            all->low[2][at[2]] = (double)test_random_int(&seed, 0, 20);
        }
    }
    for (which = 0; which < 3; which++) all->start[which][count] = at[which];
    return all;
}
