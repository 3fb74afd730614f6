/* SPDX-License-Identifier: MIT
 *
 * Gives the verdict on a basis that another solver found for a linear program: optimal, infeasible or unbounded, each
 * proven on the data of the file, or the fault of the basis.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/certify_basis.c examples/common.c examples/interrupt.c examples/io/bas.c \
 *         examples/io/lp_*.c examples/io/m*.c examples/io/names.c examples/io/text.c examples/io/generate.cpp \
 *         gpuopt_impl/gpuopt.c -lz -llzma -lstdc++ -lm -o certify_basis
 * Try: examples/models/transport.mps examples/bases/transport.bas
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/common.h"
#include "examples/io/bas.h"
#include "examples/io/lp_check.h"

static const char usage[] =
    "usage: certify_basis MODEL BASIS [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input; integers are taken for continuous)\n"
    "  BASIS              a basis of it in the MPS format (XU, XL, UL, LL, BS, FR) or as HiGHS writes it\n"
    "  --tolerance T      for bounds and sides, relative above 1, and for reduced costs, 1e-12 to 1e-3 (1e-9)\n"
    "  --backend B        cpu, cuda or auto: the CPU (auto)\n"
    "  --solution FILE    write the point of the basis: \"name value reduced_cost\" for each column, then \"name "
    "activity\n"
    "                     dual\" for each row\n" USAGE_SHARED "In the JSON:\n"
    "  verdict            optimal, infeasible or unbounded: proven. undecided: the basis proves none of them.\n"
    "                     singular: it is no basis, for this arithmetic\n"
    "  objective          of the point of the basis\n"
    "  primal_violation   the most by which that is outside of a bound or side, and primal_worst: of which\n"
    "  dual_violation     the largest reduced cost of the wrong sign, and dual_worst: of which\n"
    "  primal_reached, dual_reached\n"
    "                     the least tolerances that would make it optimal\n"
    "  certificate        the margin of the proof of infeasible or unbounded, and what it takes for 0; see gpuopt.h\n"
    "  repairs            pivots that were made since the basis was too close to a singular one\n"
    "exit status: 0 optimal, 1 infeasible or unbounded, 2 bad input or a failed write, 3 anything else\n";

typedef struct options {
    const char *model, *basis, *backend, *solution;
    double tolerance;
    int json;
} options;

/* See parse_options(). */
static const char *const values[] = {"backend", "solution", "tolerance", NULL};

static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    char *end;
    if (!*name && !o->basis) return *(o->basis = value) != 0;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    if (strcmp(name, "tolerance")) return 0;
    o->tolerance = strtod(value, &end);
    return end != value && !*end && o->tolerance >= 1e-12 && o->tolerance <= 1e-3;
}

/* The largest violation, and the variable that it is of; -1: none. */
typedef struct worst {
    double violation;
    int32_t variable;
} worst;

typedef struct answer {
    const char *backend, *verdict;
    gpuopt_simplex_info info;
    double objective;
    worst primal, dual;
    int64_t repairs;
    double seconds;
    int unwritten; /* not 0: the solution could not be written */
} answer;

static void compare(worst *w, double violation, int32_t variable) {
    if (violation > w->violation) *w = (worst){violation, variable};
}

static void compare_primal(worst *w, double x, double low, double high, int32_t variable) {
    if (low > -1e20) compare(w, low - x, variable);
    if (high < 1e20) compare(w, x - high, variable);
}

/* A nonbasic variable, by its reduced cost in a minimisation. */
static void compare_dual(worst *w, double slope, double low, double high, int status, int32_t variable) {
    if (status == GPUOPT_VARIABLE_BASIC || low == high) return;
    if (status != GPUOPT_VARIABLE_AT_UPPER) compare(w, -slope, variable);
    if (status != GPUOPT_VARIABLE_AT_LOWER) compare(w, slope, variable);
}

/* Finds the worst columns and rows. solution: the file to write; NULL: none. */
static gpuopt_status inspect(gpuopt_simplex *simplex, const mip *m, const char *solution, answer *a) {
    size_t rows = (size_t)m->columns.rows, cols = (size_t)m->columns.cols;
    double *x = calloc(2 * (rows + cols) + 1, sizeof *x), *slope = x ? x + cols : NULL, sign = m->maximize ? -1 : 1;
    double *activity = x ? slope + cols : NULL, *dual = x ? activity + rows : NULL;
    uint8_t *status = calloc(rows + cols + 1, 1);
    gpuopt_status result = x && status ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    int32_t k, n = m->columns.cols;
    if (!result)
        result = gpuopt_simplex_get_solution(simplex, GPUOPT_HOST,
                                             &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                                        .x = x,
                                                                        .reduced_cost = slope,
                                                                        .activity = activity,
                                                                        .dual = dual});
    if (!result) result = gpuopt_simplex_get_basis(simplex, GPUOPT_HOST, status); /* repaired, it may be */
    for (k = 0; !result && k < n; k++) {
        compare_primal(&a->primal, x[k], m->lb[k], m->ub[k], k);
        compare_dual(&a->dual, sign * slope[k], m->lb[k], m->ub[k], status[k], k);
    }
    for (k = 0; !result && k < m->columns.rows; k++) {
        compare_primal(&a->primal, activity[k], m->lhs[k], m->rhs[k], n + k);
        compare_dual(&a->dual, sign * dual[k], m->lhs[k], m->rhs[k], status[n + k], n + k);
    }
    if (!result) a->objective = lp_objective(m, x);
    if (!result && solution) {
        FILE *file = fopen(solution, "w");
        if (file) print_pairs(file, m->col_name, 'x', n, x, slope);
        if (file) print_pairs(file, m->row_name, 'r', m->columns.rows, activity, dual);
        a->unwritten = close_written(file, solution);
    }
    free(x);
    free(status);
    return result;
}

static gpuopt_status certify(const options *o, const mip *model, const uint8_t *basis, answer *a) {
    gpuopt_simplex_desc desc = mip_simplex_desc(model);
    gpuopt_simplex_tolerances tolerances = GPUOPT_INIT(gpuopt_simplex_tolerances);
    gpuopt_context *context = NULL;
    gpuopt_simplex *simplex = NULL;
    log_printer printer = {o->model, 0};
    gpuopt_status status = open_context(o->backend, 0, 1, &printer, &context, &a->backend);
    desc.method = GPUOPT_METHOD_REVISED;
    desc.tolerances = &tolerances;
    tolerances.primal = tolerances.dual = o->tolerance;
    if (!status) status = gpuopt_simplex_create(context, &desc, NULL, &simplex);
    a->seconds = now();
    if (!status) status = gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis);
    if (status == GPUOPT_ERROR_NUMERIC) { /* the log has named a variable */
        a->verdict = "singular";
        status = GPUOPT_OK;
    } else if (!status) {
        status = gpuopt_simplex_verify_basis(simplex, &a->info);
        a->verdict = a->info.outcome == GPUOPT_MORE ? "undecided" : gpuopt_outcome_string(a->info.outcome);
        a->repairs = a->info.iterations;
        a->seconds = now() - a->seconds;
        if (!status) status = inspect(simplex, model, o->solution, a);
    }
    gpuopt_simplex_destroy(simplex);
    gpuopt_context_destroy(context);
    return status;
}

/* ---- The program ---- */

static void print_variable(const mip *m, int32_t variable) {
    int32_t n = m->columns.cols;
    printf("%s ", variable < n ? "column" : "row");
    if (variable < n) print_name(stdout, m->col_name, 'x', variable);
    else print_name(stdout, m->row_name, 'r', variable - n);
}

static void print_worst(const char *name, const mip *m, const worst *w) {
    printf(", \"%s\": ", name);
    if (w->variable < 0) printf("null");
    else
        print_json_string(w->variable < m->columns.cols ? m->col_name[w->variable]
                                                        : m->row_name[w->variable - m->columns.cols]);
}

static int is_proof(const answer *a) {
    return a->info.outcome == GPUOPT_INFEASIBLE || a->info.outcome == GPUOPT_UNBOUNDED;
}

static void print_json(const options *o, const mip *m, const answer *a) {
    int known = strcmp(a->verdict, "singular") != 0;
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"basis\": ");
    print_json_string(o->basis);
    printf(", \"backend\": \"%s\", \"verdict\": \"%s\"", a->backend, a->verdict);
    print_json_number("objective", a->objective, known);
    print_json_number("primal_violation", a->primal.violation, known);
    print_worst("primal_worst", m, &a->primal);
    print_json_number("dual_violation", a->dual.violation, known);
    print_worst("dual_worst", m, &a->dual);
    print_json_number("primal_reached", a->info.primal_reached, known && a->info.primal_reached >= 0);
    print_json_number("dual_reached", a->info.dual_reached, known && a->info.dual_reached >= 0);
    if (is_proof(a)) {
        printf(", \"certificate\": {\"margin\": ");
        print_json_value(a->info.certificate_margin);
        print_json_number("residual", a->info.certificate_residual, 1);
        printf("}");
    } else printf(", \"certificate\": null");
    printf(", \"repairs\": %lld, \"seconds\": %.6f}\n", (long long)a->repairs, a->seconds);
}

static void print_words(const mip *m, const answer *a) {
    printf("%s\n", a->verdict);
    if (strcmp(a->verdict, "singular") == 0) return;
    printf("objective %.17g\n", a->objective);
    printf("rows and bounds are violated by at most %.3g", a->primal.violation);
    if (a->primal.variable >= 0) printf(", by "), print_variable(m, a->primal.variable);
    printf("\nreduced costs of the wrong sign are at most %.3g", a->dual.violation);
    if (a->dual.variable >= 0) printf(", of "), print_variable(m, a->dual.variable);
    printf("\n");
    if (is_proof(a))
        printf("the proof's margin is %.3g, its residual %.3g\n", a->info.certificate_margin,
               a->info.certificate_residual);
    if (a->repairs) printf("%lld pivots repaired a basis close to a singular one\n", (long long)a->repairs);
}

static int run(const options *o, const mip *model) {
    answer a = {.primal = {0, -1}, .dual = {0, -1}, .info = GPUOPT_INIT(gpuopt_simplex_info)};
    uint8_t *basis = calloc((size_t)model->matrix.rows + (size_t)model->matrix.cols + 1, 1);
    char error[1024];
    gpuopt_status status = basis ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    int bad = !status && bas_read(o->basis, model, basis, error, sizeof error);
    if (bad) fprintf(stderr, "%s\n", error);
    else if (!status) status = certify(o, model, basis, &a);
    free(basis);
    if (bad) return EXIT_BAD_INPUT;
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
        return status == GPUOPT_ERROR_ARGUMENT ? EXIT_BAD_INPUT : EXIT_FAILED; /* the log has named the place */
    }
    if (o->json) print_json(o, model, &a);
    else print_words(model, &a);
    if (a.unwritten) return EXIT_BAD_INPUT;
    return a.info.outcome == GPUOPT_OPTIMAL ? 0 : is_proof(&a) ? EXIT_INFEASIBLE : EXIT_FAILED;
}

int main(int argc, char **argv) {
    options o = {.backend = "auto", .tolerance = 1e-9};
    mip model;
    char error[1024];
    int result;
    if (parse_options(argc, argv, usage, values, NULL, take, &o, &o.model, &o.json)) return EXIT_BAD_INPUT;
    if (!o.basis) {
        fprintf(stderr, "no basis\n%s", usage);
        return EXIT_BAD_INPUT;
    }
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    interrupt_catch();
    if (mip_columns(&model)) fprintf(stderr, "%s: out of memory\n", o.model), result = EXIT_FAILED;
    else result = run(&o, &model);
    mip_free(&model);
    return finish_output(result);
}
