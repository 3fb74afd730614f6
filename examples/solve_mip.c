/* SPDX-License-Identifier: MIT
 *
 * Solves a mixed-integer program by branch and bound. The root is probed and strengthened by cuts. Each node is
 * propagated, and its relaxation is solved by the dual simplex method from its parent's basis. Strong branching and the
 * effects of earlier branching select the column to branch on; dives look for solutions. Threads take nodes from one
 * queue.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/solve_mip.c examples/mip_*.c examples/common.c examples/interrupt.c examples/io/m*.c \
 *         examples/io/lp_*.c examples/io/names.c examples/io/text.c examples/io/generate.cpp gpuopt_impl/gpuopt.c \
 *         -pthread -lz -llzma -lstdc++ -lm -o solve_mip
 * Also reads: *.mps *.mps.gz *.mps.xz
 * Try: examples/models/lotsizing.mps --backend cpu
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/lp_check.h"
#include "examples/mip_search.h"

static const char usage[] =
    "usage: solve_mip MODEL [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input)\n"
    "  --threads N        threads that search, each at a node of its own (1)\n"
    "  --batch N          relaxations of up to N open nodes are solved in one call, before one is searched (1)\n"
    "  --backend B        cpu, cuda or auto: the CPU (auto)\n"
    "  --solution FILE    write \"name value\" for each column, if there is a solution\n"
    "  --time S           the same as --seconds S; without either S is 600\n" USAGE_SHARED "status:\n"
    "  optimal            no solution is better by more than 1e-9, relative above 1; integers are integers; rows "
    "whose\n"
    "                     columns and numbers are all integers hold exactly, others to 1e-9 of the sum of their terms\n"
    "  infeasible, unbounded\n"
    "  feasible, limit    stopped, or rounding allowed no verdict: with a solution, without one\n"
    "exit status: 0 optimal, 1 infeasible or unbounded, 2 bad input or a failed write, 3 anything else\n";

typedef struct options {
    const char *model, *backend, *solution;
    int64_t threads, batch;
    int json;
} options;

/* See parse_options(). */
static const char *const values[] = {"backend", "solution", "time", "batch", "threads", NULL};

static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    char *end;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    if (strcmp(name, "time") == 0) {
        double seconds = strtod(value, &end);
        interrupt_limit(seconds);
        return end != value && !*end && seconds > 0;
    }
    if (strcmp(name, "batch") == 0) return whole_number(value, MOST_BATCH, &o->batch);
    if (strcmp(name, "threads") == 0) return whole_number(value, MOST_THREADS, &o->threads);
    return 0;
}

/* ---- Dives ---- */

/* The column that a dive rounds next, and its value: towards the best solution, or up for the column nearest to that;
 * col -1: all are integers. */
static decision round_one(const worker *w, int guided) {
    decision d = {-1, 0, 0, 0};
    double least = HUGE_VAL;
    int32_t j;
    for (j = 0; j < w->model->matrix.cols; j++) {
        double f = w->x[j] - floor(w->x[j]);
        int up = !guided || w->best[j] > w->x[j];
        if (!is_fractional(w, j) || (up ? 1 - f : f) >= least) continue;
        least = up ? 1 - f : f;
        d = (decision){j, !up, up ? ceil(w->x[j]) : floor(w->x[j]), least};
    }
    return d;
}

static decision opposite(decision d) { return (decision){d.col, !d.upper, d.value + (d.upper ? 1 : -1), 1 - d.moved}; }

/* Goes to a child and solves its relaxation; if there is no better solution, returns. */
static int step_down(worker *w, decision d) {
    int32_t depth = w->depth;
    if (node_descend(w, d) && node_relax(w)) return 1;
    node_back(w, depth);
    return 0;
}

/* From the node down, rounding one column after the other, until there is a solution or none; leaves the node. */
static void dive(worker *w) {
    int64_t before = w->iterations, most = 1000 + (w->cutoff < HUGE_VAL ? before / 4 : before);
    int guided = w->cutoff < HUGE_VAL && w->nodes % 64 == 1;
    decision d = round_one(w, guided);
    while (d.col >= 0 && !w->late && w->iterations - before < most && !node_is_full(w) &&
           (step_down(w, d) || step_down(w, opposite(d))))
        d = round_one(w, guided);
    if (d.col < 0) take_integers(w);
    w->dives += w->iterations - before;
}

/* ---- The tree ---- */

/* The child to go to first: at times towards the best solution, else away from the root's optimum. */
static decision first_child(const worker *w, int32_t j) {
    double x = w->x[j], root = w->tree->root_x[j];
    double low = is_fractional(w, j) ? floor(x) : round(x) < w->ub[j] ? round(x) : round(x) - 1;
    int up = w->cutoff < HUGE_VAL && w->nodes % 64 < 32 ? w->best[j] > low : x > root || (x == root && x - low > 0.5);
    return (decision){j, !up, low + up, fabs(low + up - x)};
}

/* Solves the relaxation of the node, and chooses a column to branch on; CLOSED: there is no better solution in it. */
static int32_t solve_node(worker *w) {
    double parent = w->bound;
    int32_t col;
    w->nodes++;
    tree_adopt(w);
    do {
        if (node_is_full(w) && !node_pack(w)) return CLOSED;
        if (!whole_may_hold(w->tree->whole, w->model, w->lb, w->ub) || !node_relax(w)) return CLOSED;
        if (w->depth > 0 && parent > -HUGE_VAL && w->outcome == GPUOPT_OPTIMAL) {
            decision d = w->path[w->depth - 1].d; /* that led here */
            pthread_mutex_lock(&w->tree->lock);
            branch_remember(w->tree, d.col, !d.upper, w->bound - parent, d.moved);
            pthread_mutex_unlock(&w->tree->lock);
        }
        parent = -HUGE_VAL;
        col = w->outcome == GPUOPT_OPTIMAL ? tighten_by_cost(w, w->objective, w->x, w->slope) : 0;
        if (col != CLOSED) col = col > 0 ? AGAIN : branch_choose(w);
    } while (col == AGAIN && !w->late);
    return col == AGAIN ? CLOSED : col;
}

/* Puts the children of the node into the tree, or continues with one of them. Returns whether it does. */
static int branch(worker *w, int32_t col) {
    int integral = col == INTEGRAL, taken = integral && take_rounded(w);
    int dives = w->nodes % 32 == 1 && 4 * w->dives <= w->iterations + 10000;
    decision d;
    if (col == CLOSED || w->bound >= w->cutoff) return 0;
    if (integral) col = settle_uncertain(w, taken);
    if (col == CLOSED) return 0;
    d = first_child(w, col);
    tree_put(w, opposite(d));
    if (!integral && !dives && !node_is_full(w)) return node_descend(w, d);
    tree_put(w, d);
    if (integral && !taken) take_integers(w);
    else if (dives) dive(w);
    return 0;
}

/* When time is up, the rest of the node is not searched. */
static void lose(worker *w) {
    if (w->late) w->given_up = fmin(w->given_up, w->bound);
}

static void show_progress(worker *w) {
    tree *t = w->tree;
    double sign = t->sign, bound;
    char best[40] = "no solution";
    size_t open;
    if (!w->shows) return;
    pthread_mutex_lock(&t->lock);
    if (t->found) snprintf(best, sizeof best, "solution %.8g", sign * t->best_objective);
    open = t->count;
    bound = sign * fmin(w->bound, open > 0 ? t->node[0]->bound : HUGE_VAL);
    pthread_mutex_unlock(&t->lock);
    progress("%lld nodes, %zu open, %s, bound %.8g, %.1f s", (long long)w->nodes, open, best, bound, now() - t->start);
}

/* The search: the next node is a child of the present one or, when there is none, the open one with the best bound. */
static void *search(void *worker_of) {
    worker *w = worker_of;
    const tree *t = w->tree;
    open_node *next;
    while ((next = tree_take(w)) != NULL) {
        int inside = 1;
        show_progress(w);
        if (w->at_once > 1 && !next->solved && nodes_solve(w, next)) continue;
        w->bound = next->before;
        node_back(w, 0);
        tree_adopt(w);
        if (w->cutoff < w->known) /* at level 0, the consequences of the cutoff and the root's reduced costs */
            inside = tighten_by_cost(w, t->root_objective, t->root_x, t->root_slope) >= 0 &&
                     worker_ok(w, gpuopt_propagator_commit(w->propagator));
        w->known = w->cutoff;
        inside = inside && next->bound < w->cutoff && node_enter(w, next);
        free(next);
        while (inside && !w->late && !w->status && !(t->unbounded && w->cutoff < HUGE_VAL))
            inside = branch(w, solve_node(w)), show_progress(w);
        lose(w);
    }
    return NULL;
}

/* ---- The program ---- */

/* A thread but the first: goes from the root's bounds to the queue. */
static void *join_search(void *worker_of) {
    worker *w = worker_of;
    return worker_open(w, w->tree, 0) || w->status ? search(w) : NULL;
}

/* Solves the root and, if that is not all, the tree below it. */
static void solve(tree *t, worker *w, int32_t threads) {
    size_t bytes = (size_t)t->model->matrix.cols * sizeof(double);
    int32_t col, k;
    if (!worker_open(w, t, 1) || !node_relax(w) || (w->outcome == GPUOPT_OPTIMAL && !node_cut(w))) {
        lose(w);
        t->status = w->status;
        return;
    }
    t->unbounded = w->outcome == GPUOPT_UNBOUNDED;
    if (t->unbounded) node_forget_costs(w);
    col = solve_node(w);
    t->root_objective = w->objective;
    memcpy(t->root_x, w->x, bytes);
    if (w->outcome == GPUOPT_OPTIMAL) memcpy(t->root_slope, w->slope, bytes);
    branch(w, col); /* its children are in the queue now */
    lose(w);
    node_back(w, 0);
    worker_ok(w, gpuopt_propagator_commit(w->propagator));
    memcpy(t->lb, w->lb, bytes);
    memcpy(t->ub, w->ub, bytes);
    for (k = 1; k < threads; k++) w[k].runs = pthread_create(&w[k].thread, NULL, join_search, &w[k]) == 0;
    search(w);
    for (k = 1; k < threads; k++)
        if (w[k].runs) pthread_join(w[k].thread, NULL);
}

/* Prints the answer, and returns the exit status. */
static int report(const options *o, const tree *t, const worker *w, double sign, double seconds) {
    double left = t->count > 0 ? t->node[0]->bound : HUGE_VAL; /* the least bound of the unsearched part */
    double objective = t->found && !t->unbounded ? sign * t->best_objective : NAN, bound;
    int64_t nodes = 0, iterations = 0, k;
    const char *status = t->found ? "optimal" : "infeasible";
    int result = t->found ? 0 : EXIT_INFEASIBLE;
    for (k = 0; k < o->threads; k++) {
        nodes += w[k].nodes;
        iterations += w[k].iterations;
        left = fmin(left, w[k].given_up);
    }
    if (t->unbounded && t->found) status = "unbounded", result = EXIT_INFEASIBLE;
    else if (left < t->cutoff) status = t->found ? "feasible" : "limit", result = EXIT_FAILED;
    bound = t->unbounded ? NAN : sign * fmin(left, t->best_objective);
    if (o->json) {
        printf("{\"model\": ");
        print_json_string(o->model);
        printf(", \"backend\": \"%s\", \"status\": \"%s\"", w->backend, status);
        print_json_number("objective", objective, 1);
        print_json_number("bound", bound, 1);
        printf(", \"nodes\": %lld, \"lp_iterations\": %lld, \"seconds\": %.6f}\n", (long long)nodes,
               (long long)iterations, seconds);
        return result;
    }
    printf("%s", status);
    if (result == EXIT_FAILED && interrupt_cause()) printf(" (stopped %s)", interrupt_cause());
    if (isfinite(objective)) printf(", objective %.12g", objective);
    if (isfinite(bound)) printf(", bound %.12g", bound);
    printf("; %lld nodes, %lld simplex iterations on %s in %.3g s\n", (long long)nodes, (long long)iterations,
           w->backend, seconds);
    return result;
}

static int write_solution(const char *path, const mip *model, const double *x) {
    FILE *file = fopen(path, "w");
    int32_t j;
    for (j = 0; file && j < model->matrix.cols; j++) {
        print_name(file, model->col_name, 'x', j);
        fprintf(file, " %.17g\n", x[j] + 0.0 /* no minus zero */);
    }
    return close_written(file, path);
}

static int run(const options *o, const mip *model, const whole_rows *whole, int infeasible, double sign) {
    tree t;
    worker *w = calloc((size_t)o->threads, sizeof *w);
    double start = now();
    int result = EXIT_FAILED;
    int32_t k;
    gpuopt_status status = w ? tree_open(&t, model, whole) : GPUOPT_ERROR_MEMORY;
    for (k = 0; !status && k < o->threads; k++) {
        w[k].given_up = HUGE_VAL;
        w[k].tree = &t;
        w[k].backend = o->backend;
        w[k].at_once = (int32_t)o->batch;
        w[k].printer.name = o->model;
    }
    t.infeasible = infeasible;
    t.sign = sign;
    t.start = start;
    if (!status) w[0].shows = !o->json && progress_is_seen();
    if (!status) solve(&t, w, (int32_t)o->threads), status = t.status;
    progress_end();
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
        if (status == GPUOPT_ERROR_ARGUMENT) result = EXIT_BAD_INPUT; /* the log has named the place */
    } else {
        result = report(o, &t, w, sign, now() - start);
        if (o->solution && t.found && write_solution(o->solution, model, t.best)) result = EXIT_BAD_INPUT;
    }
    for (k = 0; w && k < o->threads; k++) worker_close(&w[k]);
    if (w) tree_close(&t);
    free(w);
    return result;
}

int main(int argc, char **argv) {
    options o = {.backend = "auto", .threads = 1, .batch = 1};
    mip model;
    char error[1024];
    whole_rows whole;
    int result = EXIT_FAILED, sign, prepared;
    interrupt_limit(600);
    if (parse_options(argc, argv, usage, values, NULL, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    interrupt_catch();
    sign = model.maximize ? -1 : 1;
    prepared = mip_prepare(&model, &whole);
    if (prepared < 0) fprintf(stderr, "%s: out of memory\n", o.model);
    else result = run(&o, &model, &whole, prepared, sign);
    whole_close(&whole);
    mip_free(&model);
    return finish_output(result);
}
