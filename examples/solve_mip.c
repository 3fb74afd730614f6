/* SPDX-License-Identifier: MIT
 *
 * Solves a mixed-integer program by branch and bound. Each node is propagated, its relaxation solved by the dual simplex
 * method from its parent's basis, and branched on a column chosen by strong branching and by what branching has brought
 * before; dives look for solutions, and the reasons of infeasible nodes become rows. Read search_tree() and visit().
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/solve_mip.c examples/common.c examples/io/m*.c examples/io/lp_*.c examples/io/names.c \
 *         examples/io/text.c examples/io/generate.cpp gpuopt_impl/gpuopt.c -lz -llzma -lstdc++ -lm -o solve_mip
 * Also reads: *.mps *.mps.gz *.mps.xz
 * Try: examples/models/lotsizing.mps --backend cpu
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "examples/io/lp_check.h"

static const char usage[] =
    "usage: solve_mip MODEL [--time S] [--backend B] [--json] [--help]\n"
    "MODEL: an MPS file (also by gzip; -: standard input). S: seconds at most (600). B: cpu, cuda or auto: the CPU, "
    "since\n"
    "the GPU has no dual simplex method (auto). --json: one line of JSON on stdout, nothing else. The status is "
    "optimal:\n"
    "no solution is better by more than 1e-9, relative above 1, and rows and bounds hold to 1e-6; infeasible; "
    "unbounded;\n"
    "feasible, limit: stopped in time, or rounding allowed no verdict: with a solution, without one.\n"
    "Exit status: 0 optimal, 1 infeasible or unbounded, 2 bad input or a failed write, 3 anything else\n";

/* Branchings after which a column is not tried; columns tried at once; room for reasons, and their most columns. */
enum { RELIABLE = 8, AT_ONCE = 8, LEARNED = 1000, LONGEST = 30 };
static const double integrality = 1e-6;

typedef struct decision {
    int32_t col, upper; /* 1: its upper bound becomes `value`, 0: its lower one */
    double value;
} decision;

/* An open node: the decisions that lead to it, and its parent's basis. The open nodes are a leftist heap. */
typedef struct node {
    struct node *left, *right;
    double bound, moved; /* no solution in it is better; how far the last decision is from the parent's optimum */
    int32_t rank, depth;
    uint8_t *basis;
    decision path[];
} node;

/* What branching has brought: the objective's rise per unit that a column moved down (0), up (1), over so many nodes. */
typedef struct history {
    double rise[2];
    int32_t count[2];
} history;

typedef struct candidate {
    int32_t col;
    double score;
} candidate;

typedef struct search {
    const mip *model;          /* minimised */
    int dual, late, unbounded; /* no dual method on the GPU; the deadline has passed; any solution proves that it is */
    double deadline, given_up; /* the least bound of parts on which rounding allowed no verdict; HUGE_VAL: none */
    gpuopt_status status;      /* the first that was not OK; it ends the search */
    gpuopt_propagator *propagator; /* its level 0 is what holds everywhere */
    gpuopt_simplex *lp;            /* has the propagator's bounds */
    gpuopt_simplex_batch *batch;
    node *open;
    int64_t nodes, iterations, seen, tries, dives; /* of the iterations: lp's, those of strong branching, of dives */

    double *lb, *ub, *x, *slope, objective; /* [n] the node's bounds, its relaxation's optimum and reduced costs */
    gpuopt_outcome outcome;                 /* OPTIMAL; if it is not, the objective is a bound */
    size_t basis_size;

    int found, changed; /* a solution; the cutoff since level 0, so that its row explains nothing */
    double *best, best_objective, unit, cutoff; /* better objectives are below the cutoff; all are multiples of unit */
    int32_t n, cutoff_row, learned, *learned_row; /* columns; the propagator's rows: from the cutoff, from reasons */

    history *history, all; /* [n], of all columns together */
    candidate *candidate;  /* [n] */
    int32_t *col;          /* [n] lists: columns and two numbers each */
    double *low, *high;
    uint8_t *mark;    /* [n + trail.capacity] */
    int64_t *premise; /* [2 n] */
    gpuopt_propagator_changes trail;
    void *memory[32];
    int blocks;
} search;

static int ok(search *s, gpuopt_status status) {
    if (!s->status) s->status = status;
    return !s->status;
}
static double fraction(double x) { return x - floor(x); }
static int is_fractional(const search *s, int32_t j) {
    return s->model->integer[j] && fabs(s->x[j] - round(s->x[j])) > integrality;
}
static int is_open(const search *s, int32_t j) { return s->model->integer[j] && s->lb[j] < s->ub[j]; }

/* ---- Bounds: the propagator's, and with them the relaxation's ---- */

static gpuopt_propagator_trail where(search *s) {
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    ok(s, gpuopt_propagator_get_trail(s->propagator, &trail));
    return trail;
}

/* Where propagation has failed: follows its reasons back to the bounds that decisions set. If all are of binaries, a row
 * says that not all of them hold. */
static void learn(search *s) {
    gpuopt_propagator_changes *t = &s->trail;
    gpuopt_propagator_reason reason = GPUOPT_INIT(gpuopt_propagator_reason);
    int64_t at, k, start[2] = {0, 0};
    gpuopt_matrix row = {1, s->n, start, s->col, s->low, GPUOPT_LAYOUT_CSR};
    double side = -1, none = -HUGE_VAL;
    if (s->learned == LEARNED || s->changed) return;
    if (!ok(s, gpuopt_propagator_get_changes(s->propagator, GPUOPT_HOST, 0, t))) return;
    reason.capacity = 2 * (int64_t)s->n, reason.premises = s->premise;
    memset(s->mark, 0, (size_t)t->count);
    for (at = t->count; at >= 0; at--) {
        int32_t j = at < t->count ? t->col[at] : -1;
        if (j >= 0 && !s->mark[at]) continue;
        s->mark[at] = 0;
        if (j < 0 || t->row[at] >= 0) {
            if (!ok(s, gpuopt_propagator_explain(s->propagator, j < 0 ? -1 : at, &reason))) return;
            for (k = 0; k < reason.count; k++) s->mark[s->premise[k]] = 1;
            continue;
        }
        if (start[1] == LONGEST || !s->model->integer[j] || s->model->lb[j] != 0 || s->model->ub[j] != 1) break;
        s->col[start[1]] = j;
        s->low[start[1]++] = t->upper[at] ? -1 : 1;
        side += !t->upper[at];
    }
    if (at < 0 && start[1] > 0)
        ok(s, gpuopt_propagator_add_rows(s->propagator, &row, &none, &side, &s->learned_row[s->learned++]));
    memset(s->mark, 0, (size_t)t->count);
}

/* Closes so many levels, and gives the relaxation the bounds that have changed from a position of the trail on. */
static void follow(search *s, int64_t from, int32_t levels) {
    int32_t j, k, count = 0;
    if (!ok(s, gpuopt_propagator_get_changes(s->propagator, GPUOPT_HOST, from, &s->trail))) return;
    for (k = 0; k < s->trail.count; k++) {
        if (!s->mark[j = s->trail.col[k]]) s->col[count++] = j;
        s->mark[j] = 1;
    }
    for (k = 0; k < count; k++) s->mark[s->col[k]] = 0;
    if (levels > 0 && !ok(s, gpuopt_propagator_pop(s->propagator, levels))) return;
    if (!ok(s, gpuopt_propagator_get_some_bounds(s->propagator, GPUOPT_HOST, count, s->col, s->low, s->high))) return;
    for (k = 0; k < count; k++) s->lb[s->col[k]] = s->low[k], s->ub[s->col[k]] = s->high[k];
    if (s->lp) ok(s, gpuopt_simplex_set_some_bounds(s->lp, GPUOPT_HOST, count, s->col, s->low, s->high));
}

/* Sets bounds of some columns, and propagates them. Returns whether there may be a better solution, as others below. */
static int tighten(search *s, int64_t count, const int32_t *col, const double *lb, const double *ub) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    int64_t from = where(s).changes;
    ok(s, gpuopt_propagator_set_some_bounds(s->propagator, GPUOPT_HOST, count, col, lb, ub));
    if (s->status || !ok(s, gpuopt_propagator_round(s->propagator, 100, &info))) return 0;
    if (info.outcome == GPUOPT_INFEASIBLE) learn(s);
    else follow(s, from, 0);
    return info.outcome != GPUOPT_INFEASIBLE && !s->status;
}

static void back(search *s, int32_t levels) {
    while (!s->status && where(s).levels > levels) follow(s, where(s).level_start, 1);
    if (levels == 0) s->changed = 0;
}

static int descend(search *s, decision d) {
    return ok(s, gpuopt_propagator_push(s->propagator, NULL)) &&
           tighten(s, 1, &d.col, d.upper ? NULL : &d.value, d.upper ? &d.value : NULL);
}

/* Goes to a node: by its last decision from its parent, or by all of them from the root. */
static int enter(search *s, const node *n, int from_parent) {
    int32_t k, count = 0;
    gpuopt_status status = gpuopt_simplex_set_basis(s->lp, GPUOPT_HOST, n->basis);
    if (status != GPUOPT_ERROR_NUMERIC) ok(s, status); /* too close to a singular one: then from the present one */
    if (from_parent && 2 * where(s).changes < s->trail.capacity) return descend(s, n->path[n->depth - 1]);
    back(s, 0);
    if (s->status || !ok(s, gpuopt_propagator_push(s->propagator, NULL))) return 0;
    for (k = n->depth - 1; k >= 0; k--) { /* of several decisions on a side of a column the last one is the tightest */
        const decision *d = &n->path[k];
        if (d->upper) s->ub[d->col] = fmin(s->ub[d->col], d->value);
        else s->lb[d->col] = fmax(s->lb[d->col], d->value);
        if (!s->mark[d->col]) s->col[count++] = d->col;
        s->mark[d->col] = 1;
    }
    for (k = 0; k < count; k++) {
        s->mark[s->col[k]] = 0;
        s->low[k] = s->lb[s->col[k]];
        s->high[k] = s->ub[s->col[k]];
    }
    return tighten(s, count, s->col, s->low, s->high);
}

/* Solves the relaxation. */
static int relax(search *s) {
    gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
    do {
        if (!ok(s, gpuopt_simplex_iterate(s->lp, 200, &info))) return 0;
        s->late |= now() > s->deadline;
    } while (info.outcome == GPUOPT_MORE && !s->late);
    s->iterations += info.iterations - s->seen;
    s->seen = info.iterations;
    s->outcome = info.outcome, s->objective = info.objective;
    if (info.outcome == GPUOPT_MORE || info.outcome == GPUOPT_INFEASIBLE || info.outcome == GPUOPT_CUTOFF) return 0;
    if (info.outcome != GPUOPT_OPTIMAL) ok(s, gpuopt_simplex_get_bound(s->lp, &s->objective));
    return ok(s, gpuopt_simplex_get_solution(s->lp, GPUOPT_HOST, s->x, s->slope, NULL, NULL)) &&
           s->objective < s->cutoff;
}

/* ---- Solutions ---- */

/* Takes the relaxation's optimum with its integer columns rounded as a solution, if it is one. */
static int take_rounded(search *s) {
    double violation, side, none = -HUGE_VAL;
    int32_t j;
    for (j = 0; j < s->n; j++) s->high[j] = s->model->integer[j] ? round(s->x[j]) : s->x[j];
    violation = lp_primal_violation(s->model, s->high);
    if (!ok(s, isnan(violation) ? GPUOPT_ERROR_MEMORY : GPUOPT_OK) || violation > 1e-6) return 0;
    if (s->found && lp_objective(s->model, s->high) >= s->best_objective) return 1;
    s->found = s->changed = 1;
    memcpy(s->best, s->high, (size_t)s->n * sizeof *s->best);
    s->best_objective = lp_objective(s->model, s->best);
    s->cutoff = s->best_objective - fmax(1e-9 * fmax(1, fabs(s->best_objective)), (1 - 1e-6) * s->unit);
    side = s->cutoff - s->model->offset;
    if (s->dual) ok(s, gpuopt_simplex_set_cutoff(s->lp, s->cutoff));
    return ok(s, gpuopt_propagator_set_some_sides(s->propagator, GPUOPT_HOST, 1, &s->cutoff_row, &none, &side));
}

/* The same, with what is best for the other columns; leaves the node. */
static int take_integers(search *s) {
    int32_t j, count = 0;
    if (take_rounded(s)) return 1;
    for (j = 0; j < s->n; j++)
        if (is_open(s, j)) s->col[count] = j, s->low[count++] = round(s->x[j]);
    return ok(s, gpuopt_propagator_push(s->propagator, NULL)) && tighten(s, count, s->col, s->low, s->low) &&
           relax(s) && take_rounded(s);
}

/* Rounds one column after the other towards the best solution, or up; where that fails, the other way. */
static void dive(search *s, int guided) {
    int64_t before = s->iterations, most = 1000 + before / 4;
    while (!s->late && !s->status && s->iterations - before < most && 2 * where(s).changes < s->trail.capacity) {
        decision d = {-1, 0, 0};
        double least = HUGE_VAL;
        int32_t j, levels = where(s).levels;
        for (j = 0; j < s->n; j++) {
            int up = !guided || s->best[j] > s->x[j];
            double moved = up ? ceil(s->x[j]) - s->x[j] : fraction(s->x[j]);
            if (!is_fractional(s, j) || moved >= least) continue;
            least = moved;
            d = (decision){j, !up, up ? ceil(s->x[j]) : floor(s->x[j])};
        }
        if (d.col < 0) {
            take_integers(s);
            break;
        }
        if (descend(s, d) && relax(s)) continue;
        back(s, levels);
        if (!descend(s, (decision){d.col, !d.upper, d.value + (d.upper ? 1 : -1)}) || !relax(s)) break;
    }
    s->dives += s->iterations - before;
}

/* ---- Branching ---- */

static void remember(search *s, int32_t j, int up, double rise, double moved) {
    history *h[] = {&s->history[j], &s->all};
    int k;
    for (k = 0; k < 2 && rise < HUGE_VAL && moved >= integrality; k++) {
        h[k]->rise[up] += fmax(0, rise) / moved;
        h[k]->count[up]++;
    }
}

/* How good it is to branch on a column whose objective rises so much, NULL: as is to be expected. */
static double score(const search *s, int32_t j, const double *rise) {
    double product = 1, f = fraction(s->x[j]);
    int up;
    for (up = 0; up < 2; up++) {
        const history *h = s->history[j].count[up] ? &s->history[j] : &s->all;
        double expected = (h->count[up] ? h->rise[up] / h->count[up] : 1) * (up ? 1 - f : f);
        product *= fmax(rise ? rise[up] : expected, 1e-6);
    }
    return product;
}

static int by_score(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x->col > y->col) - (x->col < y->col);
}

enum { CLOSED, AGAIN, BRANCH, INTEGRAL }; /* what becomes of a node; AGAIN: its bounds are tighter now */

/* Strong branching: how much the objective rises in both children of each column within few iterations; HUGE_VAL: there
 * is no better solution in it, and the column's other bound is set. Children 2 k and 2 k + 1 go down and up. */
static int try_children(search *s, int32_t count, const int32_t *list, double (*rise)[2]) {
    int32_t k, col[2 * AT_ONCE], outcome[2 * AT_ONCE] = {0}, steps[2 * AT_ONCE] = {0}, tighter = 0;
    double objective[2 * AT_ONCE] = {0}, lb[2 * AT_ONCE], ub[2 * AT_ONCE];
    int64_t start[2 * AT_ONCE + 1] = {0}, limit = 20 + 2 * (s->iterations - s->tries) / (s->nodes + 1);
    gpuopt_simplex_children children = GPUOPT_INIT(gpuopt_simplex_children);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    for (k = 0; k < 2 * count; k++) {
        start[k + 1] = k + 1, col[k] = list[k / 2];
        lb[k] = k % 2 ? floor(s->x[col[k]]) + 1 : s->lb[col[k]];
        ub[k] = k % 2 ? s->ub[col[k]] : floor(s->x[col[k]]);
    }
    children.count = 2 * count, children.start = start;
    children.col = col, children.lb = lb, children.ub = ub;
    report.outcome = outcome, report.iterations = steps, report.objective = objective;
    if (!ok(s, gpuopt_simplex_batch_run(s->batch, GPUOPT_HOST, &children, limit < 100 ? limit : 100, &report)))
        return CLOSED;
    for (k = 0; k < 2 * count; k++) {
        int32_t j = col[k], up = k % 2, closed = outcome[k] == GPUOPT_INFEASIBLE || outcome[k] == GPUOPT_CUTOFF;
        closed |= outcome[k] == GPUOPT_OPTIMAL && objective[k] >= s->cutoff;
        rise[k / 2][up] = closed ? HUGE_VAL : isnan(objective[k]) ? 0 : fmax(0, objective[k] - s->objective);
        remember(s, j, up, rise[k / 2][up], up ? 1 - fraction(s->x[j]) : fraction(s->x[j]));
        s->tries += steps[k], s->iterations += steps[k];
        if (!closed) continue;
        if (up && rise[k / 2][0] == HUGE_VAL) return CLOSED;
        col[tighter] = j;
        lb[tighter] = up ? s->lb[j] : floor(s->x[j]) + 1;
        ub[tighter++] = up ? floor(s->x[j]) : s->ub[j];
    }
    return tighter == 0 ? BRANCH : tighten(s, tighter, col, lb, ub) ? AGAIN : CLOSED;
}

/* Chooses a column: tries those that history recommends most but knows too little about, while that finds better ones. */
static int choose(search *s, int32_t *col) {
    int32_t count = 0, j, k = 0, i;
    double best = -1;
    int better = 1, result = BRANCH;
    for (j = 0; j < s->n; j++)
        if (is_fractional(s, j)) s->candidate[count++] = (candidate){j, score(s, j, NULL)};
    qsort(s->candidate, (size_t)count, sizeof *s->candidate, by_score);
    while (k < count && better && result == BRANCH && !s->late) {
        int32_t list[AT_ONCE], tried = 0;
        double rise[AT_ONCE][2], value;
        for (better = 0; k < count && tried < AT_ONCE; k++) {
            const history *h = &s->history[j = s->candidate[k].col];
            if ((h->count[0] < RELIABLE || h->count[1] < RELIABLE) && s->tries < s->iterations / 2 + 10000)
                list[tried++] = j;
            else if (s->candidate[k].score > best) best = s->candidate[k].score, *col = j, better = 1;
        }
        if (tried > 0) result = try_children(s, tried, list, rise);
        for (i = 0; i < tried && result == BRANCH; i++)
            if ((value = score(s, list[i], rise[i])) > best) best = value, *col = list[i], better = 1;
        s->late |= now() > s->deadline;
    }
    return count > 0 ? result : INTEGRAL;
}

/* Tightens integer columns whose distance from the relaxation's optimum would cost more than the cutoff allows. */
static int tighten_by_cost(search *s) {
    int32_t j, count = 0;
    for (j = 0; s->found && s->outcome == GPUOPT_OPTIMAL && j < s->n; j++) {
        double slope = s->slope[j], step = (s->cutoff - s->objective) / fabs(slope) + integrality;
        double lb = slope < 0 ? ceil(s->x[j] - step) : s->lb[j], ub = slope > 0 ? floor(s->x[j] + step) : s->ub[j];
        if (!is_open(s, j) || fabs(slope) < 1e-9 || (lb <= s->lb[j] && ub >= s->ub[j])) continue;
        s->col[count] = j;
        s->low[count] = fmax(lb, s->lb[j]);
        s->high[count++] = fmin(ub, s->ub[j]);
    }
    return count == 0 || tighten(s, count, s->col, s->low, s->high);
}

/* ---- The tree ---- */

/* Of two heaps one, with the node of the least bound on top, the deeper one of equals. */
static node *merge(node *a, node *b) {
    node *top = a, *other = b;
    if (!a || !b) return a ? a : b;
    if (b->bound < a->bound || (b->bound == a->bound && b->depth > a->depth)) top = b, other = a;
    other = merge(top->right, other);
    top->right = other;
    if (!top->left || top->left->rank < other->rank) top->right = top->left, top->left = other;
    top->rank = top->right ? top->right->rank + 1 : 1;
    return top;
}

static node *take_first(search *s) {
    node *first = s->open;
    if (first) s->open = merge(first->left, first->right);
    return first;
}

/* The child of a node by a decision; NULL: the root. */
static node *child(search *s, const node *of, decision d) {
    int32_t depth = of ? of->depth + 1 : 0;
    node *n = calloc(1, sizeof *n + (size_t)depth * sizeof d + s->basis_size);
    if (!n) return ok(s, GPUOPT_ERROR_MEMORY), NULL;
    *n = (node){.bound = s->objective, .rank = 1, .depth = depth, .basis = (uint8_t *)(n->path + depth)};
    if (!ok(s, gpuopt_simplex_get_basis(s->lp, GPUOPT_HOST, n->basis)) || !of) return n;
    n->bound = fmax(of->bound, s->objective);
    n->moved = fabs(d.value - s->x[d.col]);
    memcpy(n->path, of->path, (size_t)of->depth * sizeof d);
    n->path[of->depth] = d;
    return n;
}

/* Works on a node, and makes its children, the first one towards the best solution or the nearer one;
 * NULL: there is no better solution in it. */
static void visit(search *s, const node *n, int from_parent, node *to[2]) {
    int result, up = 0, optimal;
    int32_t j, col = -1, levels;
    node *down;
    double objective, low = 0;
    if (!enter(s, n, from_parent) || !relax(s)) return;
    levels = where(s).levels;
    optimal = s->outcome == GPUOPT_OPTIMAL;
    if (n->depth > 0 && optimal)
        remember(s, n->path[n->depth - 1].col, !n->path[n->depth - 1].upper, s->objective - n->bound, n->moved);
    while ((result = tighten_by_cost(s) ? choose(s, &col) : CLOSED) == AGAIN && !s->late)
        if (!relax(s)) return;
    if (s->late || result == CLOSED) return;
    optimal = s->outcome == GPUOPT_OPTIMAL;
    objective = s->objective;
    for (j = 0; j < s->n && result == INTEGRAL; j++) /* in case its integers are no solution, or no proof */
        if (is_open(s, j) && (col < 0 || fabs(s->x[j] - round(s->x[j])) > fabs(s->x[col] - round(s->x[col])))) col = j;
    if (col >= 0) {
        low = fmin(is_fractional(s, col) ? floor(s->x[col]) : round(s->x[col]), s->ub[col] - 1);
        up = s->x[col] - low > 0.5;
        to[0] = child(s, n, (decision){col, 1, low});
        to[1] = child(s, n, (decision){col, 0, low + 1});
    }
    if (result == INTEGRAL) {
        int taken = take_integers(s);
        if (col < 0 && !(optimal && taken)) s->given_up = fmin(s->given_up, fmax(n->bound, objective));
    } else if (s->nodes % 32 == 1 && 4 * s->dives <= s->iterations + 10000) dive(s, s->found && s->nodes % 64 == 1);
    back(s, levels);
    if (col >= 0 && s->found) up = s->best[col] > low;
    down = to[0];
    if (up) to[0] = to[1], to[1] = down;
    if (down && down->bound < s->cutoff && !s->late) return;
    free(to[0]), free(to[1]), to[0] = to[1] = NULL;
}

/* At level 0: makes room for reasons, and sets what a new cutoff implies. */
static int renew_root(search *s) {
    int changed = s->changed;
    back(s, 0);
    if (s->learned == LEARNED) ok(s, gpuopt_propagator_remove_rows(s->propagator, s->learned, s->learned_row));
    s->learned %= LEARNED;
    return !changed || (tighten(s, 0, NULL, NULL, NULL) && ok(s, gpuopt_propagator_keep(s->propagator)));
}

/* The search: the next node is a child of the present one or, when there is none, the open one with the best bound.
 * Returns what no solution is better than; HUGE_VAL: than the best one. */
static double search_tree(search *s, node *n) {
    double bound;
    int from_parent = 0;
    while (n && n->bound < s->cutoff && !s->status && !s->late && !(s->unbounded && s->found)) {
        node *to[2] = {NULL, NULL};
        s->nodes++;
        visit(s, n, from_parent, to);
        if (s->late) break;
        s->open = merge(s->open, to[1]);
        free(n), n = to[0];
        from_parent = n != NULL;
        if (!n && renew_root(s)) n = take_first(s);
    }
    for (bound = HUGE_VAL; n || (n = take_first(s)) != NULL; n = NULL) {
        if (s->late) bound = fmin(bound, n->bound);
        free(n);
    }
    return bound;
}

/* ---- The root ---- */

static void *array(search *s, int64_t count, size_t size) {
    s->memory[s->blocks] = calloc((size_t)count + 1, size);
    ok(s, s->memory[s->blocks] ? GPUOPT_OK : GPUOPT_ERROR_MEMORY);
    return s->memory[s->blocks++];
}

/* Makes the arrays and the handles, and solves the root's relaxation. Returns whether there may be a solution. */
static int open_search(search *s, gpuopt_context *context) {
    double **numbers[] = {&s->lb, &s->ub, &s->x, &s->slope, &s->best, &s->low, &s->high};
    int64_t n = s->n, most = 20 * n + 100000, start[2] = {0, 0};
    gpuopt_propagator_desc desc = mip_propagator_desc(s->model);
    gpuopt_simplex_desc lp = mip_simplex_desc(s->model);
    gpuopt_simplex_batch_desc batch = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    gpuopt_matrix cost = {1, s->n, start, s->col = array(s, n, sizeof *s->col), NULL, GPUOPT_LAYOUT_CSR};
    double none[2] = {-HUGE_VAL, HUGE_VAL};
    int32_t j;
    for (j = 0; j < (int32_t)(sizeof numbers / sizeof *numbers); j++) *numbers[j] = array(s, n, sizeof(double));
    s->basis_size = (size_t)n + (size_t)lp.matrix.rows;
    s->mark = array(s, n + most, 1);
    s->history = array(s, n, sizeof *s->history);
    s->candidate = array(s, n, sizeof *s->candidate);
    s->premise = array(s, 2 * n, sizeof *s->premise);
    s->learned_row = array(s, LEARNED, sizeof *s->learned_row);
    s->trail = GPUOPT_INIT(gpuopt_propagator_changes);
    s->trail.col = array(s, most, sizeof *s->trail.col);
    s->trail.row = array(s, most, sizeof *s->trail.row), s->trail.upper = array(s, most, 1);
    s->trail.capacity = desc.trail_capacity = most;
    gpuopt_propagator_desc_tune(&desc, GPUOPT_SETTINGS_SCIP); /* the relaxation finds small steps by itself */
    desc.feasibility_tolerance = 1e-9;                        /* that of the relaxation */
    desc.spare_rows = 1 + LEARNED;                            /* for the cutoff, and what is learned */
    desc.spare_nonzeros = n + LEARNED * LONGEST;
    if (s->status || !ok(s, gpuopt_propagator_create(context, &desc, &s->propagator))) return 0;
    for (j = 0; j < s->n; j++)
        if (s->model->cost[j] != 0) s->col[start[1]] = j, s->low[start[1]++] = s->model->cost[j];
    cost.value = s->low;
    ok(s, gpuopt_propagator_add_rows(s->propagator, &cost, &none[0], &none[1], &s->cutoff_row));
    ok(s, gpuopt_propagator_get_bounds(s->propagator, GPUOPT_HOST, s->lb, s->ub));
    s->unit = mip_cost_unit(s->model);
    if (s->status || !tighten(s, 0, NULL, NULL, NULL) || !ok(s, gpuopt_propagator_keep(s->propagator))) return 0;
    lp.lb = s->lb, lp.ub = s->ub;
    lp.method = GPUOPT_METHOD_REVISED;
    lp.algorithm = s->dual ? GPUOPT_ALGORITHM_AUTO : GPUOPT_ALGORITHM_PRIMAL;
    batch.copies = 2 * AT_ONCE;
    if (!ok(s, gpuopt_simplex_create(context, &lp, &s->lp)) || !relax(s) ||
        !ok(s, gpuopt_simplex_batch_create(s->lp, &batch, &s->batch)))
        return 0;
    s->unbounded = s->outcome == GPUOPT_UNBOUNDED;
    if (!s->unbounded) return 1;
    /* With rational data a model whose relaxation is unbounded is infeasible or unbounded, too (Meyer 1974). */
    for (j = 0; j < s->n; j++) s->col[j] = j, s->low[j] = 0;
    return ok(s, gpuopt_simplex_set_some_costs(s->lp, GPUOPT_HOST, n, s->col, s->low));
}

/* ---- The program ---- */

typedef struct options {
    const char *model, *backend;
    int64_t time;
    int json;
} options;

/* See parse_words(). */
static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "--backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "--time") == 0) return whole_number(value, 100000000, &o->time);
    return -1;
}

static void print_number(const options *o, const char *name, double value) {
    if (isfinite(value)) printf(o->json ? ", \"%s\": %.12g" : ", %s %.12g", name, value);
    else if (o->json) printf(", \"%s\": null", name);
}

/* Solves the model, which was multiplied by `sign` to make it a minimisation. */
static int run(const options *o, const mip *model, double sign) {
    gpuopt_context *context = NULL;
    speaker speaker = {o->model, 0};
    const char *backend, *status;
    double bound = HUGE_VAL, seconds = now();
    search s = {.model = model, .n = model->matrix.cols, .deadline = seconds + (double)o->time, .given_up = HUGE_VAL};
    s.best_objective = s.cutoff = HUGE_VAL;
    s.status = open_context(o->backend, 0, 1, &speaker, &context, &backend);
    s.dual = !s.status && strcmp(backend, "cpu") == 0;
    if (!s.status && open_search(&s, context)) bound = search_tree(&s, child(&s, NULL, (decision){0, 0, 0}));
    else if (s.late) bound = -HUGE_VAL;
    while (s.blocks > 0) free(s.memory[--s.blocks]);
    gpuopt_simplex_batch_destroy(s.batch);
    gpuopt_simplex_destroy(s.lp);
    gpuopt_propagator_destroy(s.propagator);
    gpuopt_context_destroy(context);
    if (s.status) fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(s.status));
    if (s.status) return s.status == GPUOPT_ERROR_ARGUMENT ? EXIT_BAD_INPUT : EXIT_FAILED; /* the log names the place */
    bound = fmin(fmin(bound, s.given_up), s.best_objective);
    if (s.unbounded && s.found) status = "unbounded", s.best_objective = bound = HUGE_VAL;
    else if (s.late || s.given_up < HUGE_VAL) status = s.found ? "feasible" : "limit";
    else status = s.found ? "optimal" : "infeasible";
    if (o->json) printf("{\"model\": "), print_json_string(o->model);
    if (o->json) printf(", \"backend\": \"%s\", \"status\": \"%s\"", backend, status);
    else printf("%s", status);
    print_number(o, "objective", sign * s.best_objective);
    print_number(o, "bound", sign * bound);
    printf(o->json ? ", \"nodes\": %lld, \"lp_iterations\": %lld, \"seconds\": %.6f}\n"
                   : "; %lld nodes, %lld simplex iterations, %.3g s\n",
           (long long)s.nodes, (long long)s.iterations, now() - seconds);
    return strcmp(status, "optimal") == 0 ? 0 : status[0] == 'i' || status[0] == 'u' ? EXIT_INFEASIBLE : EXIT_FAILED;
}

int main(int argc, char **argv) {
    options o = {.backend = "auto", .time = 600};
    mip model;
    char error[1024];
    int result = EXIT_FAILED, sign;
    if (parse_words(argc, argv, usage, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (mip_load(o.model, &model, error, sizeof error)) fprintf(stderr, "%s\n", error), exit(EXIT_BAD_INPUT);
    sign = model.maximize ? -1 : 1;
    if (mip_minimize(&model)) fprintf(stderr, "%s: out of memory\n", o.model);
    else result = run(&o, &model, sign);
    mip_free(&model);
    return finish_output(result);
}
