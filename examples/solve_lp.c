/* SPDX-License-Identifier: MIT
 *
 * Solves a linear program with the simplex method: reads an MPS file or builds a generated model, and iterates in a
 * loop as a caller would. Prints the result, and checks it against the model.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/solve_lp.c examples/common.c examples/interrupt.c examples/ranks.c \
 *         examples/io/certificate.c examples/io/m*.c examples/io/lp_*.c examples/io/names.c examples/io/text.c \
 *         examples/io/generate.cpp transports/gpuopt_threads.c gpuopt_impl/gpuopt.c -pthread -lz -llzma -lstdc++ -lm \
 *         -o solve_lp
 * Reads: *.mps+continuous *.mps.gz+continuous *.mps.xz+continuous shah:* meyer:* plant:*
 * Try: shah:1000:1
 * Try: meyer:750:3750:0.04:1
 * Try: plant:500:1000:0.05:1
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "examples/common.h"
#include "examples/io/certificate.h"
#include "examples/io/lp_check.h"
#include "examples/io/mip.h"
#include "examples/ranks.h"

static const char usage[] =
    "usage: solve_lp MODEL [options]\n"
    "  MODEL              an MPS file (also by gzip; -: standard input; integers are taken for continuous), or one of\n"
    "                     shah:M:SEED, meyer:M:N:DENSITY:SEED, plant:M:N:DENSITY:SEED\n"
    "  --method M         tableau, revised, or auto: tableau for dense models (auto)\n"
    "  --algorithm A      primal, dual, or auto: dual where the basis is dual feasible and not primal feasible "
    "(primal)\n"
    "  --pricing P        devex, dantzig or steepest-edge; of the primal method, the dual one has steepest-edge "
    "(devex)\n"
    "  --ratio R          harris, expand or textbook (harris)\n"
    "  --technique T      deferred: several pivots are applied at once; immediate; or how many, 1 to 256 (deferred)\n"
    "  --backend B        cpu, cuda or auto: cuda where there is one and the model is large enough (auto)\n"
    "  --threads N        of the CPU backend (1), in each rank\n"
    "  --ranks N          1 to 64 ranks of a group share the tableau, each a block of its columns; they are threads,\n"
    "                     with CUDA all on GPU 0; no --certificate, --algorithm primal (1)\n"
    "  --gpus N           with as many ranks or more: rank r works on GPU r modulo N\n"
    "  --iterations N     at most so many (no limit)\n"
    "  --max              maximise, whatever the file says\n"
    "  --solution FILE    write \"name value reduced_cost\" for each column, then \"name activity dual\" for each row\n"
    "  --certificate FILE write the answer with what proves it, for the checker in tests/check "
    "(doc/checking.md)\n" USAGE_SHARED
    "exit status: 0 optimal, 1 infeasible or unbounded, 2 bad input or a failed write,\n"
    "             3 stopped early, imprecise (no answer within the tolerances), or anything else\n";

typedef struct options {
    const char *model, *backend, *method, *algorithm, *pricing, *ratio, *technique, *solution, *certificate;
    int64_t threads, ranks, gpus, iterations;
    int json, max;
} options;

/* As in gpuopt.h. */
static const char *const methods[] = {"auto", "tableau", "revised", NULL};
static const char *const algorithms[] = {"auto", "primal", "dual", NULL};
static const char *const pricings[] = {"devex", "dantzig", "steepest-edge", NULL};
static const char *const ratios[] = {"harris", "expand", "textbook", NULL};

/* From this many rows on a pivot is faster on the GPU, where it takes some microseconds for any size, than on a CPU
 * core. */
static const int32_t cuda_from_rows = 1000;

/* ---- Command line ---- */

/* K of --technique; 0: the library chooses, -1: a bad value. */
static int deferred_pivots(const char *technique) {
    static const char *const words[] = {"deferred", "immediate", NULL};
    int64_t pivots = choice(technique, words); /* K = 0 and 1 */
    return pivots >= 0 || whole_number(technique, 256, &pivots) ? (int)pivots : -1;
}

/* See parse_options(). */
static const char *const values[] = {"backend",   "method",      "algorithm", "pricing", "ratio",
                                     "technique", "threads",     "ranks",     "gpus",    "iterations",
                                     "solution",  "certificate", NULL};
static const char *const flags[] = {"max", NULL};

static int take(void *options_of, const char *name, const char *value) {
    options *o = options_of;
    if (strcmp(name, "backend") == 0) return choice(o->backend = value, backends) >= 0;
    if (strcmp(name, "method") == 0) return choice(o->method = value, methods) >= 0;
    if (strcmp(name, "algorithm") == 0) return choice(o->algorithm = value, algorithms) >= 0;
    if (strcmp(name, "pricing") == 0) return choice(o->pricing = value, pricings) >= 0;
    if (strcmp(name, "ratio") == 0) return choice(o->ratio = value, ratios) >= 0;
    if (strcmp(name, "technique") == 0) return deferred_pivots(o->technique = value) >= 0;
    if (strcmp(name, "threads") == 0) return whole_number(value, 1000000000, &o->threads);
    if (strcmp(name, "ranks") == 0) return whole_number(value, MOST_RANKS, &o->ranks);
    if (strcmp(name, "gpus") == 0) return whole_number(value, MOST_RANKS, &o->gpus);
    if (strcmp(name, "iterations") == 0) return whole_number(value, INT64_MAX, &o->iterations);
    if (strcmp(name, "solution") == 0) return *(o->solution = value) != 0;
    if (strcmp(name, "certificate") == 0) return *(o->certificate = value) != 0;
    if (strcmp(name, "max") == 0) return o->max = 1;
    return 0;
}

static int parse(int argc, char **argv, options *o) {
    memset(o, 0, sizeof *o);
    o->backend = "auto";
    o->method = "auto";
    o->algorithm = "primal";
    o->pricing = "devex";
    o->ratio = "harris";
    o->technique = "deferred";
    o->threads = o->ranks = 1;
    if (parse_options(argc, argv, usage, values, flags, take, o, &o->model, &o->json)) return -1;
    if (o->gpus > 0) {
        if (strcmp(o->backend, "cpu") == 0) {
            fprintf(stderr, "--gpus does not go with --backend cpu\n");
            return -1;
        }
        o->backend = "cuda";
        if (o->ranks < o->gpus) o->ranks = o->gpus;
    }
    if (o->ranks == 1) return 0;
    if (o->certificate || strcmp(o->algorithm, algorithms[GPUOPT_ALGORITHM_PRIMAL]) ||
        strcmp(o->method, methods[GPUOPT_METHOD_REVISED]) == 0) {
        fprintf(stderr, "--ranks does not go with --certificate, --method revised, --algorithm dual or auto\n");
        return -1;
    }
    if (strcmp(o->backend, "auto") == 0) o->backend = "cpu";
    return 0;
}

/* ---- Results ---- */

/* The vectors, with the lengths that gpuopt.h gives, and their proofs on the model. */
typedef struct answer {
    gpuopt_simplex_info info;
    const char *backend, *stopped; /* stopped: the cause, in words */
    double *x, *reduced_cost, *activity, *dual, *farkas, *ray;
    double objective, bound, primal_violation, dual_violation; /* bound: if it was stopped; no solution is better */
    lp_proof proof;                                            /* of INFEASIBLE and UNBOUNDED */
    int unwritten;                                             /* not 0: the certificate could not be written */
    double seconds, read_seconds;
} answer;

static int allocate_answer(const mip *model, answer *a) {
    size_t m = (size_t)model->columns.rows + 1, n = (size_t)model->columns.cols + 1;
    a->x = calloc(n, sizeof(double));
    a->reduced_cost = calloc(n, sizeof(double));
    a->ray = calloc(n, sizeof(double));
    a->activity = calloc(m, sizeof(double));
    a->dual = calloc(m, sizeof(double));
    a->farkas = calloc(m, sizeof(double));
    return a->x && a->reduced_cost && a->ray && a->activity && a->dual && a->farkas ? 0 : -1;
}

static void free_answer(answer *a) {
    free(a->x);
    free(a->reduced_cost);
    free(a->ray);
    free(a->activity);
    free(a->dual);
    free(a->farkas);
}

/* Whether x is feasible. */
static int has_objective(const answer *a) {
    int unfinished = a->info.outcome == GPUOPT_LIMIT || a->info.outcome == GPUOPT_IMPRECISE;
    return a->info.outcome == GPUOPT_OPTIMAL || (unfinished && a->info.phase == 2);
}

static int write_solution(const char *path, const mip *model, const answer *a) {
    FILE *file = fopen(path, "w");
    if (file) print_pairs(file, model->col_name, 'x', model->columns.cols, a->x, a->reduced_cost);
    if (file) print_pairs(file, model->row_name, 'r', model->columns.rows, a->activity, a->dual);
    return close_written(file, path);
}

static void print_json(const options *o, const mip *model, const answer *a) {
    int proof = a->info.outcome == GPUOPT_INFEASIBLE || a->info.outcome == GPUOPT_UNBOUNDED,
        solved = a->info.crossing < 0;
    printf("{\"model\": ");
    print_json_string(o->model);
    printf(", \"backend\": \"%s\", \"threads\": %d, \"ranks\": %d, \"method\": \"%s\", \"algorithm\": \"%s\"",
           a->backend, (int)o->threads, (int)o->ranks, methods[a->info.method], o->algorithm);
    printf(", \"pricing\": \"%s\", \"ratio\": \"%s\"", o->pricing, o->ratio);
    printf(", \"deferred_pivots\": %d, \"maximize\": %s", (int)a->info.deferred_pivots,
           model->maximize ? "true" : "false");
    printf(", \"rows\": %d, \"cols\": %d, \"nonzeros\": %lld", (int)model->columns.rows, (int)model->columns.cols,
           (long long)mip_nonzeros(model));
    printf(", \"status\": \"%s\"", gpuopt_outcome_string(a->info.outcome));
    if (a->info.certainty) printf(", \"certainty\": \"%s\"", gpuopt_certainty_string(a->info.certainty));
    else printf(", \"certainty\": null");
    print_json_number("backward_error", a->info.backward_error, a->info.backward_error >= 0);
    print_json_number("objective", a->objective, has_objective(a));
    if (a->info.outcome == GPUOPT_LIMIT) print_json_number("bound", a->bound, 1);
    print_json_number("planted_optimum", model->optimum, model->optimum_known);
    printf(
        ", \"iterations\": %lld, \"dual_iterations\": %lld, \"flips\": %lld, \"rebuilds\": %lld, \"refactorizations\": "
        "%lld",
        (long long)a->info.iterations, (long long)a->info.dual_iterations, (long long)a->info.flips,
        (long long)a->info.rebuilds, (long long)a->info.refactorizations);
    print_json_number("primal_violation", a->primal_violation, solved);
    print_json_number("dual_violation", a->dual_violation, solved);
    print_json_number("primal_reached", a->info.primal_reached, a->info.primal_reached >= 0);
    print_json_number("dual_reached", a->info.dual_reached, a->info.dual_reached >= 0);
    if (proof) {
        printf(", \"certificate\": {\"margin\": ");
        print_json_value(a->proof.margin);
        print_json_number("residual", a->proof.residual, 1);
        printf("}");
    } else printf(", \"certificate\": null");
    printf(", \"seconds\": %.9f, \"read_seconds\": %.6f}\n", a->seconds, a->read_seconds);
}

static void print_head(const options *o, const mip *model, const answer *a) {
    int j, integers = 0;
    for (j = 0; j < model->columns.cols; j++) integers += model->integer[j] != 0;
    printf("%s: %s; %d rows, %d columns, %lld nonzeros; read in %.3g s\n", o->model,
           model->maximize ? "maximise" : "minimise", (int)model->columns.rows, (int)model->columns.cols,
           (long long)mip_nonzeros(model), a->read_seconds);
    if (integers) printf("Its %d integer columns are taken for continuous ones: the LP relaxation.\n", integers);
}

static const char *how_certain(gpuopt_certainty certainty) {
    switch (certainty) {
    case GPUOPT_CERTAINTY_EXACT: return "the basis is proven optimal in exact arithmetic";
    case GPUOPT_CERTAINTY_ROUNDING: return "exact but for rounding of the data";
    default: return "within the tolerances";
    }
}

static void print_words(const mip *model, const answer *a) {
    const gpuopt_simplex_info *info = &a->info;
    if (info->crossing >= 0) {
        printf("Infeasible: the bounds of column ");
        print_name(stdout, model->col_name, 'x', info->crossing);
        printf(" cross by %.3g.\n", a->proof.margin);
        return;
    }
    switch (info->outcome) {
    case GPUOPT_OPTIMAL:
        printf("Optimal: the objective is %.12g; %s.\n", a->objective, how_certain(info->certainty));
        break;
    case GPUOPT_INFEASIBLE: printf("Infeasible: no point satisfies all rows and bounds.\n"); break;
    case GPUOPT_UNBOUNDED: printf("Unbounded: the objective improves without end.\n"); break;
    case GPUOPT_IMPRECISE:
        printf(
            "Imprecise: no answer within the tolerances; in phase %d: objective %.12g, sum of infeasibilities %.3g.\n",
            (int)info->phase, a->objective, info->infeasibility);
        if (info->primal_reached >= 0)
            printf("The point would be optimal with the tolerances %.3g for rows and bounds, %.3g for reduced costs.\n",
                   info->primal_reached, info->dual_reached);
        break;
    default:
        printf("Stopped %s in phase %d: objective %.12g, sum of infeasibilities %.3g.\n", a->stopped, (int)info->phase,
               a->objective, info->infeasibility);
        if (isfinite(a->bound)) printf("No solution is better than %.12g.\n", a->bound);
    }
    if (model->optimum_known) printf("The planted optimum is %.12g.\n", model->optimum);
    printf("%lld iterations (%lld of them bound flips, %lld rebuilds, %lld refactorizations) of the %s method on %s in "
           "%.3g "
           "s.\n",
           (long long)info->iterations, (long long)info->flips, (long long)info->rebuilds,
           (long long)info->refactorizations, methods[a->info.method], a->backend, a->seconds);
    printf("Checked on the model: ");
    if (info->outcome == GPUOPT_INFEASIBLE)
        printf("the certificate's margin is %.3g (relative), the largest dropped coefficient %.3g.\n", a->proof.margin,
               a->proof.residual);
    else if (info->outcome == GPUOPT_UNBOUNDED)
        printf("along the ray the objective gains %.3g, and rows and bounds are violated by %.3g.\n", a->proof.margin,
               a->proof.residual);
    else
        printf("rows and bounds are violated by at most %.3g, the signs of reduced costs by %.3g.\n",
               a->primal_violation, a->dual_violation);
}

/* ---- The loop ---- */

/* On a terminal, in pieces of about a tenth of a second, with a progress line; otherwise, and with ranks, in one call,
 * with fewer exchanges with a GPU. If that call leaves more to do, it was stopped: ranks stop together. */
static gpuopt_status iterate(gpuopt_simplex *simplex, const options *o, answer *a) {
    int watched = !o->json && o->ranks == 1 && progress_is_seen();
    int64_t piece = watched ? 16 : INT64_MAX;
    gpuopt_status status;
    gpuopt_desc_init(&a->info, sizeof a->info);
    do {
        double start = now(), taken;
        status = gpuopt_simplex_iterate(simplex, piece, &a->info);
        taken = now() - start;
        a->seconds += taken;
        if (!watched || status) break;
        if (taken < 0.05) piece *= 2;
        else if (taken > 0.2 && piece > 1) piece /= 2;
        progress("iteration %lld, phase %d, objective %.8g, infeasibility %.3g, %.1f s", (long long)a->info.iterations,
                 (int)a->info.phase, a->info.objective, a->info.infeasibility, a->seconds);
    } while (a->info.outcome == GPUOPT_MORE && !interrupted(NULL));
    progress_end();
    a->stopped = a->info.outcome == GPUOPT_LIMIT ? "at the limit of iterations" : interrupt_cause();
    if (!status && a->info.outcome == GPUOPT_MORE) a->info.outcome = GPUOPT_LIMIT;
    return status;
}

/* Gets the vectors, and checks them on the original data. */
static gpuopt_status take_answer(gpuopt_simplex *simplex, const mip *model, answer *a) {
    gpuopt_status status =
        gpuopt_simplex_get_solution(simplex, GPUOPT_HOST,
                                    &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution),
                                                               .x = a->x,
                                                               .reduced_cost = a->reduced_cost,
                                                               .activity = a->activity,
                                                               .dual = a->dual});
    if (!status && a->info.outcome == GPUOPT_INFEASIBLE)
        status = gpuopt_simplex_get_proof(
            simplex, GPUOPT_HOST,
            &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = a->farkas});
    if (!status && a->info.outcome == GPUOPT_UNBOUNDED)
        status = gpuopt_simplex_get_proof(
            simplex, GPUOPT_HOST, &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = a->ray});
    if (!status && a->info.outcome == GPUOPT_LIMIT) status = gpuopt_simplex_get_bound(simplex, &a->bound);
    if (status) return status;
    a->objective = lp_objective(model, a->x);
    a->primal_violation = lp_primal_violation(model, a->x);
    a->dual_violation = lp_dual_violation(model, a->x, a->dual);
    if (a->info.outcome == GPUOPT_INFEASIBLE) a->proof = lp_farkas(model, a->farkas);
    if (a->info.crossing >= 0) a->proof = lp_crossing(model, a->info.crossing);
    if (a->info.outcome == GPUOPT_UNBOUNDED) a->proof = lp_ray(model, a->ray);
    return GPUOPT_OK;
}

/* transport: NULL, or one of several ranks', each of which makes the same calls. */
static gpuopt_status solve(const options *o, const mip *model, const gpuopt_transport *transport, answer *a) {
    gpuopt_simplex_desc desc = mip_simplex_desc(model);
    gpuopt_simplex_rules rules = GPUOPT_INIT(gpuopt_simplex_rules);
    gpuopt_context *context = NULL;
    gpuopt_simplex *simplex = NULL;
    gpuopt_status status;
    log_printer printer = {o->model, 0};
    desc.method = (gpuopt_simplex_method)choice(o->method, methods);
    desc.algorithm = (gpuopt_simplex_algorithm)choice(o->algorithm, algorithms);
    desc.rules = &rules;
    rules.pricing = (gpuopt_simplex_pricing)choice(o->pricing, pricings);
    rules.ratio = (gpuopt_simplex_ratio)choice(o->ratio, ratios);
    rules.deferred_pivots = deferred_pivots(o->technique);
    desc.iteration_limit = o->iterations;
    status = open_context_on(transport && o->gpus > 0 ? (int)(transport->rank % o->gpus) : 0, o->backend,
                             model->columns.rows >= cuda_from_rows, (int)o->threads, &printer, &context, &a->backend);
    if (!status && transport) status = gpuopt_group_create(context, transport, NULL, &desc.group);
    if (!status) {
        a->seconds = now();
        status = gpuopt_simplex_create(context, &desc, NULL, &simplex);
        a->seconds = now() - a->seconds;
    }
    if (!status) status = iterate(simplex, o, a);
    if (!status) status = take_answer(simplex, model, a);
    if (!status && o->certificate) a->unwritten = certificate_lp(o->certificate, simplex, &desc);
    gpuopt_simplex_destroy(simplex);
    gpuopt_group_destroy(desc.group);
    gpuopt_context_destroy(context);
    return status;
}

/* ---- Ranks ---- */

typedef struct task {
    const options *o;
    const mip *model;
    answer *a;
} task;

/* The answers of all other ranks are the same, and are not read. */
static gpuopt_status solve_as_rank(int rank, const gpuopt_transport *transport, void *task_of) {
    const task *t = task_of;
    gpuopt_status status = GPUOPT_ERROR_MEMORY;
    answer same;
    if (rank == 0) return solve(t->o, t->model, transport, t->a);
    memset(&same, 0, sizeof same);
    if (!allocate_answer(t->model, &same)) status = solve(t->o, t->model, transport, &same);
    free_answer(&same);
    return status;
}

static gpuopt_status solve_by_ranks(const options *o, const mip *model, answer *a) {
    task t = {o, model, a};
    return ranks_work((int)o->ranks, solve_as_rank, &t);
}

static int run(const options *o, mip *model, answer *a) {
    gpuopt_status status = GPUOPT_OK;
    if (o->max) model->maximize = 1;
    a->backend = "cpu";
    if (mip_columns(model) || allocate_answer(model, a)) status = GPUOPT_ERROR_MEMORY;
    if (!status && !o->json) print_head(o, model, a);
    if (!status) status = o->ranks > 1 ? solve_by_ranks(o, model, a) : solve(o, model, NULL, a);
    if (status) {
        fprintf(stderr, "%s: %s\n", o->model, gpuopt_status_string(status));
        return status == GPUOPT_ERROR_ARGUMENT ? EXIT_BAD_INPUT : EXIT_FAILED; /* the log has the reason */
    }
    if (o->json) print_json(o, model, a);
    else print_words(model, a);
    if (o->solution && a->info.outcome != GPUOPT_INFEASIBLE && write_solution(o->solution, model, a))
        return EXIT_BAD_INPUT;
    if (a->unwritten) return EXIT_BAD_INPUT;
    if (a->info.outcome == GPUOPT_OPTIMAL) return 0;
    return a->info.outcome == GPUOPT_INFEASIBLE || a->info.outcome == GPUOPT_UNBOUNDED ? EXIT_INFEASIBLE : EXIT_FAILED;
}

int main(int argc, char **argv) {
    options o;
    mip model;
    answer a;
    char error[1024];
    int result;
    if (parse(argc, argv, &o)) return EXIT_BAD_INPUT;
    memset(&a, 0, sizeof a);
    a.read_seconds = now();
    if (mip_load(o.model, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_BAD_INPUT;
    }
    a.read_seconds = now() - a.read_seconds;
    interrupt_catch();
    result = run(&o, &model, &a);
    free_answer(&a);
    mip_free(&model);
    return finish_output(result);
}
