/* SPDX-License-Identifier: MIT
 *
 * The other half of cutting_stock.c: knapsacks, and integer solutions from the master's.
 */
#include "examples/cutting_round.h"

#include <math.h>
#include <string.h>

#include "examples/interrupt.h"

gpuopt_status solve_master(cutter *c) {
    gpuopt_status status;
    do status = gpuopt_simplex_iterate(c->master, 1000000, &c->info);
    while (!status && c->info.outcome == GPUOPT_MORE && !interrupted(NULL));
    return status;
}

int32_t know(cutter *c, int32_t stock, const int32_t *cut) {
    const size_t bytes = sizeof *cut * (size_t)c->model.pieces;
    patterns *p = &c->known;
    int32_t k;
    for (k = 0; k < p->count; k++)
        if (p->stock[k] == stock && memcmp(p->cut + (size_t)k * (size_t)c->model.pieces, cut, bytes) == 0) return k;
    if (k == MOST_COLUMNS) return -1;
    p->stock[k] = stock;
    memcpy(p->cut + (size_t)k * (size_t)c->model.pieces, cut, bytes);
    return p->count++;
}

/* ---- Knapsacks ---- */

/* Values and numbers of pieces are the set's, at its first stock. */
gpuopt_status solve_knapsacks(cutter *c, int32_t sets) {
    const cutting_model *m = &c->model;
    const size_t pieces = (size_t)m->pieces, stocks = (size_t)m->stocks;
    gpuopt_knapsack_problems p;
    gpuopt_knapsack_report r;
    size_t set, k;
    gpuopt_desc_init(&p, sizeof p);
    gpuopt_desc_init(&r, sizeof r);
    for (set = 0; set < (size_t)sets; set++)
        for (k = 0; k < stocks; k++) {
            const size_t to = (set * stocks + k) * pieces, from = set * stocks * pieces;
            c->capacity[set * stocks + k] = m->stock_length[k];
            if (k) memcpy(c->value + to, c->value + from, sizeof *c->value * pieces);
            if (k) memcpy(c->most + to, c->most + from, sizeof *c->most * pieces);
        }
    p.count = sets * m->stocks;
    p.weight = m->length;
    p.profit = c->value;
    p.copies_max = c->most;
    p.capacity = c->capacity;
    p.profit_stride = p.copies_max_stride = m->pieces;
    p.capacity_stride = 1;
    r.primal_bound = c->worth;
    r.dual_bound = c->at_most;
    r.copies = c->taken;
    c->priced += p.count;
    return gpuopt_knapsack_batch_run(c->batch, GPUOPT_HOST, &p, &r);
}

void set_values(cutter *c, int32_t set, const double *y, const int64_t *wanted) {
    const cutting_model *m = &c->model;
    const size_t at = (size_t)set * (size_t)m->stocks * (size_t)m->pieces;
    int64_t longest = 0;
    double sum = 0;
    int32_t i;
    for (i = 0; i < m->stocks; i++) longest = m->stock_length[i] > longest ? m->stock_length[i] : longest;
    for (i = 0; i < m->pieces; i++) {
        c->most[at + (size_t)i] = (int32_t)least(wanted[i], longest / m->length[i]);
        if (y[i] > 0) sum += y[i] * (c->most[at + (size_t)i] + 1e-3);
    }
    for (i = 0; i < m->pieces; i++) c->value[at + (size_t)i] = y[i] > 0 ? (int64_t)(y[i] / sum * 0x1p42) : 0;
}

/* ---- Rounding ---- */

/* How often a pattern can be used before it has pieces that are no longer wanted. */
static int64_t uses(const cutter *c, int pass, const int32_t *cut) {
    int64_t most = INT64_MAX;
    int32_t i;
    for (i = 0; i < c->model.pieces; i++)
        if (cut[i]) most = least(most, c->rest[pass][i] / cut[i]);
    return most == INT64_MAX ? 0 : most;
}

static void use(cutter *c, int pass, int32_t column, int64_t times) {
    const int32_t *cut = c->known.cut + (size_t)column * (size_t)c->model.pieces;
    int32_t i;
    c->used[pass][column] += times;
    for (i = 0; i < c->model.pieces; i++) c->rest[pass][i] -= least(c->rest[pass][i], times * cut[i]);
}

/* The master's solution rounded down, and up from some fraction on if no unwanted piece is cut. */
static void round_master(cutter *c, int pass, int32_t columns) {
    const double up_from = 1 - 0.18 * (pass % WAYS);
    int32_t k;
    memcpy(c->rest[pass], c->model.demand, sizeof c->rest[pass]);
    for (k = 0; k < columns; k++) use(c, pass, k, (int64_t)(c->x[k] + 1e-9));
    for (k = 0; k < columns; k++) {
        const int32_t *cut = c->known.cut + (size_t)k * (size_t)c->model.pieces;
        if (c->x[k] - floor(c->x[k] + 1e-9) >= up_from && uses(c, pass, cut) > 0) use(c, pass, k, 1);
    }
}

/* Uses the pattern of the stock with the most value for its cost. For a piece without value, uses its first column. */
static void fill_one(cutter *c, int pass, int32_t set, const double *y) {
    const cutting_model *m = &c->model;
    const int32_t *cut = NULL;
    int32_t k, i, column = -1, best = 0;
    double most = 0;
    for (k = 0; k < m->stocks; k++) {
        const int32_t *of_stock = c->taken + (size_t)(set * m->stocks + k) * (size_t)m->pieces;
        double sum = 0;
        for (i = 0; i < m->pieces; i++) sum += y[i] * of_stock[i];
        if (sum / (double)m->cost[k] > most) most = sum / (double)m->cost[k], cut = of_stock, best = k;
    }
    if (cut && uses(c, pass, cut) > 0) column = know(c, best, cut);
    if (column >= 0) use(c, pass, column, uses(c, pass, cut));
    else {
        for (i = 0; c->rest[pass][i] == 0; i++) continue;
        use(c, pass, i, 1);
    }
}

/* Cuts the remaining demand by the first patterns, each of which has one piece only. */
static void fill_rest(cutter *c, int pass) {
    int32_t i;
    for (i = 0; i < c->model.pieces; i++) {
        const int64_t each = c->known.cut[(size_t)i * (size_t)c->model.pieces + (size_t)i];
        if (c->rest[pass][i] > 0) use(c, pass, i, (c->rest[pass][i] + each - 1) / each);
    }
}

static int cuts_all(const cutter *c, int pass) {
    int32_t i;
    for (i = 0; i < c->model.pieces; i++)
        if (c->rest[pass][i] > 0) return 0;
    return 1;
}

/* All passes at the same time: in each step each of them uses a pattern. */
gpuopt_status round_all(cutter *c) {
    const cutting_model *m = &c->model;
    const int32_t columns = c->known.count;
    double y[2][CUTTING_PIECES];
    int32_t set, sets = 1, i, k;
    int pass, of_set[PASSES];
    gpuopt_status status = solve_master(c);
    if (!status && c->info.outcome == GPUOPT_OPTIMAL) /* else x belongs to an optimum with fewer columns, or is 0 */
        status = gpuopt_simplex_get_solution(
            c->master, GPUOPT_HOST,
            &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = c->x, .dual = c->y});
    for (i = 0; i < m->pieces; i++) y[0][i] = (double)m->length[i], y[1][i] = c->y[i] + 1e-6 * (double)m->length[i];
    for (pass = 0; pass < PASSES; pass++) round_master(c, pass, columns);
    while (!status && sets > 0) {
        for (sets = 0, pass = 0; pass < PASSES; pass++)
            if (!cuts_all(c, pass)) of_set[sets++] = pass;
        for (set = 0; set < sets; set++) set_values(c, set, y[of_set[set] / WAYS], c->rest[of_set[set]]);
        if (sets > 0) status = solve_knapsacks(c, sets);
        if (interrupted(NULL)) break; /* some of them may have had no turn */
        for (set = 0; set < sets && !status; set++) fill_one(c, of_set[set], set, y[of_set[set] / WAYS]);
    }
    for (pass = 0; pass < PASSES && !status; pass++) fill_rest(c, pass);
    c->cost = INT64_MAX;
    for (pass = 0; pass < PASSES && !status; pass++) {
        int64_t cost = 0;
        for (k = 0; k < c->known.count; k++) cost += c->used[pass][k] * m->cost[c->known.stock[k]];
        if (cost < c->cost) c->cost = cost, c->best = pass;
    }
    return status;
}

int is_solution(const cutter *c) {
    const cutting_model *m = &c->model;
    int64_t cut[CUTTING_PIECES] = {0}, cost = 0;
    int32_t k, i;
    for (k = 0; k < c->known.count; k++) {
        int64_t length = 0;
        for (i = 0; i < m->pieces && c->used[c->best][k] > 0; i++) {
            const int32_t times = c->known.cut[(size_t)k * (size_t)m->pieces + (size_t)i];
            length += m->length[i] * times;
            cut[i] += c->used[c->best][k] * times;
        }
        cost += c->used[c->best][k] * m->cost[c->known.stock[k]];
        if (length > m->stock_length[c->known.stock[k]]) return 0;
    }
    for (i = 0; i < m->pieces; i++)
        if (cut[i] < m->demand[i]) return 0;
    return cost == c->cost && c->bound <= cost;
}
