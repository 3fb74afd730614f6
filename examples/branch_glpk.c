/* SPDX-License-Identifier: MIT
 *
 * Solves a mixed-integer program with GLPK's branch and cut, and propagates at each of its nodes. Branching decisions
 * go to a propagator with a trail, implied bounds go back to GLPK, and nodes without a better solution are pruned.
 *
 * Build, from the repository's root, with GLPK (Debian: libglpk-dev):
 *     cc -O2 -I. examples/branch_glpk.c examples/branch_node.c examples/mip_lattice.c examples/mip_whole.c \
 *         examples/common.c examples/interrupt.c examples/io/m*.c examples/io/lp_models.c examples/io/names.c \
 *         examples/io/text.c examples/io/generate.cpp gpuopt_impl/gpuopt.c -lglpk -lz -llzma -lstdc++ -lm \
 *         -o branch_glpk
 * Also reads: *.mps *.mps.gz *.mps.xz
 * Needs: glpk.h
 * Try: examples/models/lotsizing.mps --log --backend cpu
 * Try: examples/models/lotsizing.mps --without
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/branch_node.h"
#include "examples/common.h"
#include "examples/mip_whole.h"

static const char usage[] =
    "usage: branch_glpk MODEL [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input)\n"
    "  --without          GLPK alone\n"
    "  --cuts             GLPK's Gomory, mixed-integer rounding, cover and clique cuts, too\n"
    "  --log              print each change and each infeasible node with its reason on stderr: the row, and the\n"
    "                     bounds that it had\n"
    "  --backend B        cpu, cuda or auto: the CPU, since one node at a time is no work for a GPU (auto)\n"
    "  --solution FILE    write \"name value\" for each column, if there is a solution\n" USAGE_SHARED
    "                     without --seconds S is 60\n"
    "exit status: 0 optimal, 1 infeasible or unbounded, 2 bad input or a failed write,\n"
    "             3 stopped at the limit, or anything else\n";

typedef struct options {
    const char *model, *backend, *solution;
    int json, without, cuts, log;
} options;

/* See parse_options(). */
static const char *const values[] = {"backend", "solution", NULL};
static const char *const flags[] = {"without", "cuts", "log", NULL};

static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "without") == 0) return o->without = 1;
    if (strcmp(name, "cuts") == 0) return o->cuts = 1;
    if (strcmp(name, "log") == 0) return o->log = 1;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    return 0;
}

/* ---- The model for GLPK ---- */

static int kind_of(double lower, double upper) {
    int below = lower > -1e20, above = upper < 1e20;
    return lower == upper ? GLP_FX : below && above ? GLP_DB : below ? GLP_LO : above ? GLP_UP : GLP_FR;
}

/* 1: bounds cross. GLPK requires integer bounds for integer columns. */
static int add_columns(glp_prob *problem, const mip *m) {
    int j;
    if (m->matrix.cols > 0) glp_add_cols(problem, m->matrix.cols); /* it refuses 0 */
    for (j = 0; j < m->matrix.cols; j++) {
        double lb = m->lb[j], ub = m->ub[j];
        if (m->integer && m->integer[j]) {
            glp_set_col_kind(problem, j + 1, GLP_IV);
            lb = ceil(lb - 1e-9);
            ub = floor(ub + 1e-9);
        }
        if (lb > ub) return 1;
        glp_set_col_bnds(problem, j + 1, kind_of(lb, ub), lb, ub);
        if (m->cost) glp_set_obj_coef(problem, j + 1, m->cost[j]);
    }
    return 0;
}

/* The model with one more row, without entries, by which node_callback() prunes. 1: bounds cross; -1: out of memory, or
 * too many entries for GLPK. */
static int to_glpk(glp_prob *problem, const mip *m) {
    const size_t entries = (size_t)m->matrix.cols + 1; /* GLPK counts from 1 */
    int *col = malloc(sizeof *col * entries), crossing = add_columns(problem, m);
    double *value = malloc(sizeof *value * entries);
    int64_t k;
    int i;
    if (crossing || !col || !value || mip_nonzeros(m) > 500000000) {
        free(col);
        free(value);
        return crossing ? 1 : -1;
    }
    glp_set_obj_dir(problem, m->maximize ? GLP_MAX : GLP_MIN);
    glp_set_obj_coef(problem, 0, m->offset);
    glp_add_rows(problem, m->matrix.rows + 1);
    for (i = 0; i < m->matrix.rows; i++) {
        int64_t first = m->matrix.start[i], count = m->matrix.start[i + 1] - first;
        for (k = 0; k < count; k++)
            col[k + 1] = m->matrix.index[first + k] + 1, value[k + 1] = m->matrix.value[first + k];
        glp_set_mat_row(problem, i + 1, (int)count, col, value);
        glp_set_row_bnds(problem, i + 1, kind_of(m->lhs[i], m->rhs[i]), m->lhs[i], m->rhs[i]);
    }
    free(col);
    free(value);
    return 0;
}

/* ---- Solving and reporting ---- */

typedef struct summary {
    const char *backend, *status;
    double objective, seconds, processor;
    node_solver nodes;
} summary;

/* The relaxation, then the tree. Returns the status in words. */
static const char *solve(glp_prob *problem, const options *o, node_solver *solver) {
    glp_smcp simplex;
    glp_iocp search;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.tm_lim = 500; /* it calls no hook meanwhile */
    while (glp_simplex(problem, &simplex) == GLP_ETMLIM)
        if (interrupted(NULL)) return "limit";
    if (glp_get_status(problem) == GLP_NOFEAS) return "infeasible";
    if (glp_get_status(problem) != GLP_OPT) return glp_get_status(problem) == GLP_UNBND ? "unbounded" : "failed";
    glp_init_iocp(&search);
    search.msg_lev = GLP_MSG_OFF;
    if (o->cuts) search.gmi_cuts = search.mir_cuts = search.cov_cuts = search.clq_cuts = GLP_ON;
    search.cb_func = node_callback;
    search.cb_info = solver;
    switch (glp_intopt(problem, &search)) {
    case 0: break;
    case GLP_ESTOP: return "limit";
    default: return "failed";
    }
    return glp_mip_status(problem) == GLP_OPT ? "optimal" : "infeasible";
}

/* Processor time in the callback as a share of GLPK's own. */
static double share(const summary *s) {
    double others = s->processor - s->nodes.seconds;
    return others > 0 ? s->nodes.seconds / others : 0;
}

static int exit_status(const char *status) {
    static const char *const words[] = {"optimal", "infeasible", "unbounded", NULL};
    int k = choice(status, words);
    return k < 0 ? EXIT_FAILED : k == 0 ? 0 : EXIT_INFEASIBLE;
}

static void print_json(const options *o, const summary *s) {
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"backend\": \"%s\", \"status\": \"%s\"", s->backend, s->status);
    print_json_number("objective", s->objective, 1);
    if (isfinite(s->nodes.bound)) print_json_number("bound", s->nodes.bound, 1);
    printf(", \"nodes\": %lld, \"calls\": %lld, \"pruned\": %lld, \"tightened\": %lld", (long long)s->nodes.nodes,
           (long long)s->nodes.calls, (long long)s->nodes.pruned, (long long)s->nodes.tightened);
    printf(", \"seconds\": %.6f, \"processor_seconds\": %.6f, \"propagation_seconds\": %.6f, \"share\": %.4f}\n",
           s->seconds, s->processor, s->nodes.seconds, share(s));
}

static void print_words(const summary *s) {
    printf("%s", s->status);
    if (exit_status(s->status) == EXIT_FAILED && interrupt_cause()) printf(" (stopped %s)", interrupt_cause());
    if (isfinite(s->objective)) printf(", objective %.12g", s->objective);
    if (isfinite(s->nodes.bound)) printf(", bound %.12g", s->nodes.bound);
    printf("; %lld nodes in %.3g s\n", (long long)s->nodes.nodes, s->seconds);
    if (s->nodes.propagator)
        printf("propagation on %s: %lld bounds tightened, %lld nodes pruned, in %.3g s, %.3g%% of GLPK's time\n",
               s->backend, (long long)s->nodes.tightened, (long long)s->nodes.pruned, s->nodes.seconds, 100 * share(s));
}

static int write_solution(const char *path, const mip *model, glp_prob *problem) {
    FILE *file = fopen(path, "w");
    int j;
    for (j = 0; file && j < model->matrix.cols; j++) {
        print_name(file, model->col_name, 'x', j);
        fprintf(file, " %.17g\n", glp_mip_col_val(problem, j + 1) + 0.0); /* no minus zero */
    }
    return close_written(file, path);
}

/* ---- The program ---- */

/* Rows with only integers, in exact arithmetic. 1: infeasible; -1: out of memory. */
static int tighten_rows(mip *model) {
    whole_rows whole = {NULL, NULL, 0};
    int result = model->integer ? whole_open(&whole, model) : 0;
    whole_close(&whole);
    return result;
}

static int run(const options *o, mip *model, summary *s) {
    gpuopt_propagator_desc desc;
    gpuopt_context *context = NULL;
    gpuopt_propagator *propagator = NULL;
    glp_prob *problem = glp_create_prob();
    gpuopt_status status = GPUOPT_OK;
    log_printer printer = {o->model, 0};
    node_options options;
    int result = EXIT_FAILED, made = mip_rows(model);
    if (!made && !o->without) made = tighten_rows(model);
    if (!made) made = to_glpk(problem, model);
    s->backend = "none";
    desc = node_desc(model, &options);
    if (!o->without) status = open_context(o->backend, 0, 1, &printer, &context, &s->backend);
    if (!o->without && !status) status = gpuopt_propagator_create(context, &desc, NULL, &propagator);
    if (status == GPUOPT_ERROR_ARGUMENT) result = EXIT_BAD_INPUT; /* the log has named the place in the model */
    if (made < 0 || (!status && node_open(&s->nodes, model, propagator, model->matrix.rows + 1)))
        status = GPUOPT_ERROR_MEMORY;
    if (!status) {
        s->nodes.log = o->log;
        s->nodes.shows = !o->json && progress_is_seen();
        s->nodes.start = s->seconds = now();
        s->processor = processor_seconds();
        s->status = made ? "infeasible" : solve(problem, o, &s->nodes);
        progress_end();
        s->seconds = now() - s->seconds;
        s->processor = processor_seconds() - s->processor;
        s->objective =
            glp_mip_status(problem) == GLP_OPT || glp_mip_status(problem) == GLP_FEAS ? glp_mip_obj_val(problem) : NAN;
        status = s->nodes.status;
    }
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
    } else {
        if (o->json) print_json(o, s);
        else print_words(s);
        result = exit_status(s->status);
        if (o->solution && isfinite(s->objective) && write_solution(o->solution, model, problem))
            result = EXIT_BAD_INPUT;
    }
    node_close(&s->nodes);
    gpuopt_propagator_destroy(propagator);
    gpuopt_context_destroy(context);
    glp_delete_prob(problem);
    return result;
}

int main(int argc, char **argv) {
    options o = {.backend = "auto"};
    summary s;
    mip model;
    char error[1024];
    int result;
    memset(&s, 0, sizeof s);
    s.nodes.bound = NAN;
    interrupt_limit(60);
    if (parse_options(argc, argv, usage, values, flags, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    interrupt_catch();
    glp_term_out(GLP_OFF);
    result = run(&o, &model, &s);
    mip_free(&model);
    glp_free_env();
    return finish_output(result);
}
