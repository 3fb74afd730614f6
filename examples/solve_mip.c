/* SPDX-License-Identifier: MIT
 *
 * Solves a mixed-integer program by branch and bound. Each node is propagated, its relaxation solved by the dual
 * simplex method from its parent's basis, and branched on a column chosen by strong branching and by what branching has
 * brought before; dives look for solutions.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/solve_mip.c examples/mip_*.c examples/common.c examples/io/m*.c examples/io/lp_*.c \
 *         examples/io/names.c examples/io/text.c examples/io/generate.cpp gpuopt_impl/gpuopt.c -lz -llzma -lstdc++ \
 *         -lm -o solve_mip
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
#include "examples/mip_queue.h"
#include "examples/mip_search.h"

static const char usage[] =
    "usage: solve_mip MODEL [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input)\n"
    "  --time S           seconds at most (600)\n"
    "  --backend B        cpu, cuda or auto: the CPU, since the GPU has no dual simplex method (auto)\n"
    "  --json             one line of JSON on stdout, nothing else\n"
    "  --help             print this and exit\n"
    "status:\n"
    "  optimal            no solution is better by more than 1e-9, relative above 1; integers are integers, and rows\n"
    "                     and bounds hold to 1e-8, relative above 1\n"
    "  infeasible, unbounded\n"
    "  feasible, limit    stopped in time, or rounding allowed no verdict: with a solution, without one\n"
    "exit status: 0 optimal, 1 infeasible or unbounded, 2 bad input or a failed write, 3 anything else\n";

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

static const double integrality = 1e-6, feasibility = 1e-8;

static double fraction(double x) { return x - floor(x); }
/* Of an integer column: whether its value in the relaxation is none. */
static int is_fractional(const search *s, int32_t j) {
    return s->model->integer[j] && fabs(s->now.x[j] - round(s->now.x[j])) > integrality;
}
static int is_open(const search *s, int32_t j) { return s->model->integer[j] && s->lb[j] < s->ub[j]; }

/* ---- Solutions ---- */

/* Only what is better than this solution is looked for from now on. */
static void new_best(search *s, const double *x, double objective) {
    const mip *m = s->model;
    double slack = 1e-9 * fmax(1, fabs(objective)), side, none = -HUGE_VAL;
    int64_t start[2] = {0, 0};
    gpuopt_matrix row = {1, m->matrix.cols, start, s->col, s->low, GPUOPT_LAYOUT_CSR};
    int32_t j;
    if (s->found && objective >= s->best_objective) return;
    s->found = 1;
    memmove(s->best, x, (size_t)m->matrix.cols * sizeof *x);
    s->best_objective = objective;
    s->cutoff = objective - fmax(slack, (1 - 1e-6) * s->unit);
    side = s->cutoff - m->offset;
    if (s->dual) search_ok(s, gpuopt_simplex_set_cutoff(s->lp, s->cutoff));
    if (s->cutoff_row >= 0) {
        search_ok(s, gpuopt_propagator_set_some_sides(s->propagator, GPUOPT_HOST, 1, &s->cutoff_row, &none, &side));
        return;
    }
    for (j = 0; j < m->matrix.cols; j++)
        if (m->cost[j] != 0) s->col[start[1]] = j, s->low[start[1]++] = m->cost[j];
    search_ok(s, gpuopt_propagator_add_rows(s->propagator, &row, &none, &side, &s->cutoff_row));
}

/* Whether x, whose integer columns have integer values, satisfies all rows and bounds of the model. */
static int is_solution(const mip *m, const double *x) {
    int32_t i, j;
    int64_t k;
    for (j = 0; j < m->matrix.cols; j++)
        if (x[j] < m->lb[j] - feasibility * fmax(1, fabs(m->lb[j])) ||
            x[j] > m->ub[j] + feasibility * fmax(1, fabs(m->ub[j])))
            return 0;
    for (i = 0; i < m->matrix.rows; i++) {
        long double sum = 0;
        for (k = m->matrix.start[i]; k < m->matrix.start[i + 1]; k++)
            sum += (long double)m->matrix.value[k] * x[m->matrix.index[k]];
        if (sum < m->lhs[i] - feasibility * fmax(1, fabs(m->lhs[i])) ||
            sum > m->rhs[i] + feasibility * fmax(1, fabs(m->rhs[i])))
            return 0;
    }
    return 1;
}

/* Takes the relaxation's optimum with its integer columns rounded as a solution, if it is one. */
static int take_rounded(search *s) {
    const mip *m = s->model;
    int32_t j;
    for (j = 0; j < m->matrix.cols; j++) s->high[j] = m->integer[j] ? round(s->now.x[j]) : s->now.x[j];
    if (!is_solution(m, s->high)) return 0;
    new_best(s, s->high, lp_objective(m, s->high));
    return 1;
}

/* The same, with what is best for the other columns; leaves the node. */
static int take_integers(search *s) {
    int32_t j, count = 0;
    if (take_rounded(s)) return 1;
    for (j = 0; j < s->model->matrix.cols; j++)
        if (is_open(s, j)) s->col[count] = j, s->low[count++] = round(s->now.x[j]);
    return node_push(s) && node_tighten(s, count, s->col, s->low, s->low) && node_relax(s) && take_rounded(s);
}

/* ---- Dives ---- */

/* The column that a dive rounds next, and where to: towards the best solution, or up where it is nearest to that; col
 * -1: all are integers. */
static decision round_one(const search *s, int guided) {
    decision d = {-1, 0, 0, 0};
    double least = HUGE_VAL;
    int32_t j;
    for (j = 0; j < s->model->matrix.cols; j++) {
        double f = fraction(s->now.x[j]);
        int up = !guided || s->best[j] > s->now.x[j];
        if (!is_fractional(s, j) || (up ? 1 - f : f) >= least) continue;
        least = up ? 1 - f : f;
        d = (decision){j, !up, up ? ceil(s->now.x[j]) : floor(s->now.x[j]), least};
    }
    return d;
}

static decision opposite(decision d) {
    d.value += d.upper ? 1 : -1;
    d.upper = !d.upper;
    d.moved = 1 - d.moved;
    return d;
}

/* Goes to a child and solves its relaxation; where there is no better solution, comes back. */
static int step_down(search *s, decision d) {
    int32_t levels = s->levels, depth = s->depth;
    if (node_descend(s, d) && node_relax(s)) return 1;
    node_back(s, levels, depth);
    return 0;
}

/* From the node down, rounding one column after the other, until there is a solution or none; and back. */
static void dive(search *s, int guided) {
    int32_t levels = s->levels, depth = s->depth;
    int64_t before = s->iterations, most = 1000 + before / 4;
    double bound = s->bound;
    relaxation_copy(s, &s->kept, &s->now);
    while (!s->late && s->iterations - before < most && !node_is_full(s)) {
        decision d = round_one(s, guided);
        if (d.col < 0) {
            take_integers(s);
            break;
        }
        if (!step_down(s, d) && !step_down(s, opposite(d))) break;
    }
    s->bound = bound;
    s->dives += s->iterations - before;
    node_return(s, levels, depth);
}

/* ---- Branching ---- */

/* Strong branching: how much the objective rises at least in both children of a column, found by so many iterations
 * each; HUGE_VAL: there is no better solution in it. */
static void try_children(search *s, int32_t j, int64_t iterations, double rise[2]) {
    int up;
    for (up = 0; up < 2; up++) {
        gpuopt_simplex_info info = GPUOPT_INIT(gpuopt_simplex_info);
        double bound = up ? ceil(s->now.x[j]) : floor(s->now.x[j]), objective;
        search_ok(s, gpuopt_simplex_set_some_bounds(s->lp, GPUOPT_HOST, 1, &j, up ? &bound : NULL, up ? NULL : &bound));
        search_ok(s, gpuopt_simplex_iterate(s->lp, iterations, &info));
        objective = info.objective;
        if (info.outcome != GPUOPT_OPTIMAL) search_ok(s, gpuopt_simplex_get_bound(s->lp, &objective));
        if (info.outcome == GPUOPT_INFEASIBLE || info.outcome == GPUOPT_CUTOFF || objective >= s->cutoff)
            objective = HUGE_VAL;
        rise[up] = fmax(0, objective - s->now.objective);
        s->tries += info.iterations - s->iterations;
        s->iterations = info.iterations;
        search_ok(s, gpuopt_simplex_set_some_bounds(s->lp, GPUOPT_HOST, 1, &j, &s->lb[j], &s->ub[j]));
        node_set_basis(s, s->now.basis);
    }
}

static void remember(search *s, int32_t j, int up, double rise, double moved) {
    if (rise >= HUGE_VAL || moved < integrality) return;
    s->history[j].rise[up] += rise / moved;
    s->history[j].count[up]++;
    s->all.rise[up] += rise / moved;
    s->all.count[up]++;
}

/* The rise to be expected. */
static double expected(const search *s, int32_t j, int up) {
    const history *h = s->history[j].count[up] ? &s->history[j] : &s->all;
    double f = fraction(s->now.x[j]);
    return (h->count[up] ? h->rise[up] / h->count[up] : 1) * (up ? 1 - f : f);
}

static double score_of(double down, double up) { return fmax(down, 1e-6) * fmax(up, 1e-6); }

typedef struct candidate {
    int32_t col;
    double score;
} candidate;

static int by_score(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score) - (x->score > y->score) : (x->col > y->col) - (x->col < y->col);
}

enum { CLOSED, AGAIN, BRANCH, INTEGRAL }; /* what becomes of a node; AGAIN: its bounds are tighter now */

/* Chooses a column to branch on. */
static int choose(search *s, int32_t *col) {
    enum { RELIABLE = 8, PATIENCE = 8 };
    int32_t n = s->model->matrix.cols, count = 0, j, k, unchanged = 0;
    candidate *list = malloc((size_t)(n + 1) * sizeof *list);
    double best = -1;
    int64_t limit = 20 + 2 * (s->iterations - s->tries) / (s->nodes + 1);
    int result = BRANCH;
    if (!list) {
        search_ok(s, GPUOPT_ERROR_MEMORY);
        return CLOSED;
    }
    for (j = 0; j < n; j++)
        if (is_fractional(s, j)) list[count++] = (candidate){j, score_of(expected(s, j, 0), expected(s, j, 1))};
    qsort(list, (size_t)count, sizeof *list, by_score);
    if (count == 0) result = INTEGRAL;
    for (k = 0; k < count && unchanged < PATIENCE && result == BRANCH && !s->status; k++) {
        const history *h = &s->history[j = list[k].col];
        double score = list[k].score, rise[2], f = fraction(s->now.x[j]);
        if ((h->count[0] < RELIABLE || h->count[1] < RELIABLE) && s->tries < s->iterations / 2 + 10000) {
            try_children(s, j, limit < 100 ? limit : 100, rise);
            remember(s, j, 0, rise[0], f);
            remember(s, j, 1, rise[1], 1 - f);
            score = score_of(rise[0], rise[1]);
            if (rise[0] >= HUGE_VAL || rise[1] >= HUGE_VAL) {
                double lb = rise[0] >= HUGE_VAL ? ceil(s->now.x[j]) : s->lb[j];
                double ub = rise[1] >= HUGE_VAL ? floor(s->now.x[j]) : s->ub[j];
                result = lb <= ub && node_tighten(s, 1, &j, &lb, &ub) ? AGAIN : CLOSED;
            }
        }
        unchanged++;
        if (score > best) best = score, *col = j, unchanged = 0;
        s->late |= now() > s->deadline;
        if (s->late) break;
    }
    free(list);
    return result;
}

/* Tightens integer columns whose distance from a relaxation's optimum would cost more than the cutoff allows. Returns
 * how many bounds, or -1: there is no better solution. */
static int tighten_by_cost(search *s, const relaxation *r) {
    int32_t j, count = 0;
    if (!s->found || r->outcome != GPUOPT_OPTIMAL) return 0;
    for (j = 0; j < s->model->matrix.cols; j++) {
        double slope = r->slope[j], step = (s->cutoff - r->objective) / fabs(slope) + integrality;
        double lb = slope < 0 ? ceil(r->x[j] - step) : s->lb[j], ub = slope > 0 ? floor(r->x[j] + step) : s->ub[j];
        if (!is_open(s, j) || fabs(slope) < 1e-9 || (lb <= s->lb[j] && ub >= s->ub[j])) continue;
        s->col[count] = j;
        s->low[count] = fmax(lb, s->lb[j]);
        s->high[count++] = fmin(ub, s->ub[j]);
    }
    return count > 0 && !node_tighten(s, count, s->col, s->low, s->high) ? -1 : count;
}

/* ---- The tree ---- */

/* A column to branch on where the relaxation's integers are no solution, or no proof; -1: all are fixed. */
static int32_t any_open(const search *s) {
    int32_t j, best = -1;
    for (j = 0; j < s->model->matrix.cols; j++)
        if (is_open(s, j) &&
            (best < 0 || fabs(s->now.x[j] - round(s->now.x[j])) > fabs(s->now.x[best] - round(s->now.x[best]))))
            best = j;
    return best;
}

/* Where the relaxation has only integers: takes them. Returns a column to branch on, or -1: the node is solved. */
static int32_t finish(search *s) {
    int32_t levels = s->levels, depth = s->depth, col;
    double bound = s->bound;
    int taken;
    relaxation_copy(s, &s->kept, &s->now);
    taken = take_integers(s);
    s->bound = bound;
    if (s->kept.outcome == GPUOPT_OPTIMAL && s->kept.objective >= s->cutoff) return -1;
    node_return(s, levels, depth);
    col = any_open(s);
    if (col < 0 && !(taken && s->now.outcome == GPUOPT_OPTIMAL)) s->given_up = fmin(s->given_up, bound);
    return col;
}

/* Solves the node, or returns a column to branch on; -1: there is no better solution in it. */
static int32_t work(search *s) {
    int32_t col = -1, last = s->depth - 1; /* the decision that led here */
    double parent = s->bound;
    int result;
    do {
        if (!node_relax(s)) return -1;
        if (last >= 0 && parent > -HUGE_VAL && s->now.outcome == GPUOPT_OPTIMAL)
            remember(s, s->path[last].col, !s->path[last].upper, s->now.objective - parent, s->path[last].moved);
        last = -1;
        if (tighten_by_cost(s, &s->now) < 0) return -1;
        result = choose(s, &col);
    } while (result == AGAIN && !s->late);
    if (s->nodes == 1) relaxation_copy(s, &s->root, &s->now);
    if (result == BRANCH && s->nodes % 32 == 1 && 4 * s->dives <= s->iterations + 10000)
        dive(s, s->found && s->nodes % 64 == 1);
    if (result == INTEGRAL) col = finish(s);
    return result == CLOSED || s->now.objective >= s->cutoff ? -1 : col;
}

/* The child to go to first: towards the best solution, or away from the root's optimum. */
static decision first_child(const search *s, int32_t j) {
    double x = s->now.x[j], low = is_fractional(s, j) ? floor(x) : round(x) < s->ub[j] ? round(x) : round(x) - 1;
    int up = s->found ? s->best[j] > low : x > s->root.x[j] || (x == s->root.x[j] && x - low > 0.5);
    return (decision){j, !up, low + up, fabs(low + up - x)};
}

/* Sets at level 0 what the cutoff and the root's reduced costs imply. */
static int use_cutoff_at_root(search *s) {
    node_back(s, 0, 0);
    return tighten_by_cost(s, &s->root) >= 0 && search_ok(s, gpuopt_propagator_keep(s->propagator));
}

/* The search: the next node is a child of the present one or, when there is none, the open one with the best bound. */
static void search_tree(search *s, node_queue *q) {
    int inside = 1;          /* at a node, at first the root */
    double known = HUGE_VAL; /* the cutoff whose consequences hold at level 0 */
    while (!s->status && !s->late && !(s->unbounded && s->found)) {
        int32_t col = -1;
        if (!inside) {
            open_node *next = queue_take(q);
            if (!next || next->bound >= s->cutoff) {
                free(next);
                return;
            }
            s->bound = next->bound;
            inside =
                (s->cutoff >= known || use_cutoff_at_root(s)) && node_enter(s, next->path, next->depth, next->basis);
            known = s->cutoff;
            free(next);
        }
        s->nodes++;
        if (inside) col = work(s);
        if (col >= 0) {
            decision d = first_child(s, col);
            queue_put(q, s, opposite(d));
            inside = node_is_full(s) ? node_descend_anew(s, d) : node_descend(s, d);
        } else inside = 0;
    }
}

/* ---- The program ---- */

typedef struct summary {
    const char *backend, *status;
    double objective, bound, seconds;
    int64_t nodes, iterations;
} summary;

static const char *status_of(const search *s) {
    if (s->unbounded && s->found) return "unbounded";
    if (s->late || s->given_up < HUGE_VAL) return s->found ? "feasible" : "limit";
    return s->found ? "optimal" : "infeasible";
}

static void solve(search *s, const mip *model, double sign, gpuopt_context *context, const options *o, summary *r) {
    node_queue q = {NULL, 0, 0};
    double bound;
    open_node *next;
    r->seconds = now();
    if (search_open(s, model, context, strcmp(r->backend, "cpu") == 0, r->seconds + (double)o->time))
        search_tree(s, &q);
    bound = s->unbounded ? -HUGE_VAL : s->late ? fmin(s->bound, s->given_up) : s->given_up;
    r->seconds = now() - r->seconds;
    r->status = status_of(s);
    r->nodes = s->nodes;
    r->iterations = s->iterations;
    while ((next = queue_take(&q)) != NULL) {
        if (s->late) bound = fmin(bound, next->bound);
        free(next);
    }
    free(q.node);
    r->objective = s->found && !s->unbounded ? sign * s->best_objective : NAN;
    r->bound = sign * fmin(bound, s->best_objective);
}

static void print_number(const char *name, double value) {
    if (isfinite(value)) printf(", \"%s\": %.12g", name, value);
    else printf(", \"%s\": null", name);
}

static void report(const options *o, const summary *r) {
    if (o->json) {
        printf("{\"model\": ");
        print_json_string(o->model);
        printf(", \"backend\": \"%s\", \"status\": \"%s\"", r->backend, r->status);
        print_number("objective", r->objective);
        print_number("bound", r->bound);
        printf(", \"nodes\": %lld, \"lp_iterations\": %lld, \"seconds\": %.6f}\n", (long long)r->nodes,
               (long long)r->iterations, r->seconds);
        return;
    }
    printf("%s", r->status);
    if (isfinite(r->objective)) printf(", objective %.12g", r->objective);
    if (isfinite(r->bound)) printf(", bound %.12g", r->bound);
    printf("; %lld nodes, %lld simplex iterations on %s in %.3g s\n", (long long)r->nodes, (long long)r->iterations,
           r->backend, r->seconds);
}

/* Makes it a minimisation, with all arrays. */
static int prepare(mip *m) {
    int32_t j;
    if (!m->cost) m->cost = calloc((size_t)m->matrix.cols + 1, sizeof *m->cost);
    if (!m->integer) m->integer = calloc((size_t)m->matrix.cols + 1, 1);
    if (!m->cost || !m->integer || mip_rows(m) || mip_columns(m)) return -1;
    for (j = 0; m->maximize && j < m->matrix.cols; j++) m->cost[j] = -m->cost[j];
    if (m->maximize) m->offset = -m->offset;
    m->maximize = 0;
    return 0;
}

static int run(const options *o, const mip *model, double sign) {
    static const char *const words[] = {"optimal", "infeasible", "unbounded", NULL};
    gpuopt_context *context = NULL;
    speaker speaker = {o->model, 0};
    search s;
    summary r;
    memset(&r, 0, sizeof r);
    memset(&s, 0, sizeof s);
    s.status = open_context(o->backend, 0, 1, &speaker, &context, &r.backend);
    if (!s.status) solve(&s, model, sign, context, o, &r);
    search_close(&s);
    gpuopt_context_destroy(context);
    if (s.status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(s.status));
        return s.status == GPUOPT_ERROR_ARGUMENT ? EXIT_BAD_INPUT : EXIT_FAILED; /* the log has named the place */
    }
    report(o, &r);
    switch (choice(r.status, words)) {
    case 0: return 0;
    case 1:
    case 2: return EXIT_INFEASIBLE;
    default: return EXIT_FAILED;
    }
}

int main(int argc, char **argv) {
    options o = {.backend = "auto", .time = 600};
    mip model;
    char error[1024];
    int result = EXIT_FAILED, sign;
    if (parse_words(argc, argv, usage, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    sign = model.maximize ? -1 : 1;
    if (prepare(&model)) fprintf(stderr, "%s: out of memory\n", o.model);
    else result = run(&o, &model, sign);
    mip_free(&model);
    return finish_output(result);
}
