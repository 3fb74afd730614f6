/* SPDX-License-Identifier: MIT
 *
 * Public models: all variants find the same bounds on all models of MIPLIB, with the same bits where the header
 * promises them. They refute the infeasible LPs that propagation can refute.
 */
#define _POSIX_C_SOURCE 200809L
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/propagate/problem.h"

enum { ROUNDS = 2000 };

typedef struct result {
    gpuopt_propagator_info info;
    double *lb, *ub;
} result;

static result run(gpuopt_context *context, const mip *m, const problem_variant *variant, int rounds) {
    gpuopt_propagator_desc desc = mip_propagator_desc(m);
    size_t bytes = sizeof(double) * ((size_t)m->matrix.cols + 1);
    result r = {.lb = malloc(bytes), .ub = malloc(bytes)};
    if (variant) problem_apply(variant, &desc);
    r.info = problem_run(context, &desc, rounds, r.lb, r.ub);
    return r;
}

static void free_result(result *r) {
    free(r->lb);
    free(r->ub);
}

/* Calls f for every model of a folder of the shared data; returns how many there were. */
static int for_each_model(const char *folder, void (*f)(const char *name, const mip *m, void *user), void *user) {
    const char *root = test_data_root(folder);
    char pattern[1024], error[1024];
    glob_t found;
    size_t k;
    int count;
    if (!root) {
        skip();
        return 0;
    }
    snprintf(pattern, sizeof pattern, "%s/%s/*.mps.xz", root, folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (k = 0; k < found.gl_pathc; k++) {
        const char *name = found.gl_pathv[k] + strlen(root) + 1;
        mip m;
        if (mip_load(test_data(name), &m, error, sizeof error)) fail_msg("%s: %s", name, error);
        f(name, &m, user);
        mip_free(&m);
    }
    count = (int)found.gl_pathc;
    globfree(&found);
    return count;
}

typedef struct contexts {
    gpuopt_context *plain, *tested;
    int refuted, stopped;
} contexts;

static void compare_bits(const char *name, const char *variant, const result *got, const result *want, int cols) {
    size_t bytes = sizeof(double) * (size_t)cols;
    if (got->info.outcome != want->info.outcome || got->info.rounds != want->info.rounds ||
        got->info.changed != want->info.changed || got->info.infeasible_row != want->info.infeasible_row ||
        got->info.infeasible_col != want->info.infeasible_col)
        fail_msg("%s, %s: %s after %d rounds and %lld changes, expected %s, %d, %lld", name, variant,
                 gpuopt_outcome_string(got->info.outcome), got->info.rounds, (long long)got->info.changed,
                 gpuopt_outcome_string(want->info.outcome), want->info.rounds, (long long)want->info.changed);
    if (memcmp(got->lb, want->lb, bytes) || memcmp(got->ub, want->ub, bytes))
        fail_msg("%s, %s: the bounds' bits differ", name, variant);
}

static void compare_bounds(const char *name, const char *variant, const result *got, const result *want, int cols) {
    int j;
    if (got->info.outcome != want->info.outcome)
        fail_msg("%s, %s: %s, expected %s", name, variant, gpuopt_outcome_string(got->info.outcome),
                 gpuopt_outcome_string(want->info.outcome));
    for (j = 0; j < cols && want->info.outcome == GPUOPT_CONVERGED; j++)
        if (!problem_close(got->lb[j], want->lb[j]) || !problem_close(got->ub[j], want->ub[j]))
            fail_msg("%s, %s: column %d in [%.17g, %.17g], expected [%.17g, %.17g]", name, variant, j, got->lb[j],
                     got->ub[j], want->lb[j], want->ub[j]);
}

static void check_variants(const char *name, const mip *m, void *user) {
    contexts *c = user;
    size_t count, v;
    const problem_variant *variant = problem_variants(&count);
    result want = run(c->plain, m, NULL, ROUNDS);
    for (v = 0; v < count; v++) {
        int sequential = variant[v].mode == GPUOPT_MODE_GAUSS_SEIDEL;
        result got = run(c->tested, m, &variant[v], ROUNDS);
        if (sequential) compare_bounds(name, variant[v].name, &got, &want, m->matrix.cols);
        else compare_bits(name, variant[v].name, &got, &want, m->matrix.cols);
        free_result(&got);
    }
    c->stopped += want.info.outcome == GPUOPT_MORE;
    c->refuted += want.info.outcome == GPUOPT_INFEASIBLE;
    free_result(&want);
}

static void miplib_gives_the_same_bounds(void **state) {
    contexts c = {test_plain_context(), test_context(NULL), 0, 0};
    int count;
    (void)state;
    count = for_each_model("miplib", check_variants, &c);
    assert_true(count >= 60);
    assert_int_equal(c.refuted, 0); /* they all have solutions */
    if (c.stopped) printf("%d of %d models were still moving after %d rounds\n", c.stopped, count, ROUNDS);
    gpuopt_context_destroy(c.plain);
    gpuopt_context_destroy(c.tested);
}

/* An infeasible LP must be refuted if the independent reference refutes it. */
static void check_refutation(const char *name, const mip *m, void *user) {
    contexts *c = user;
    size_t n = (size_t)m->matrix.cols, count, v, j;
    const problem_variant *variant = problem_variants(&count);
    long double *lb = malloc(sizeof *lb * (n + 1)), *ub = malloc(sizeof *ub * (n + 1));
    gpuopt_propagator_info want;
    for (j = 0; j < n; j++) lb[j] = fmax(m->lb[j], -1e20), ub[j] = fmin(m->ub[j], 1e20);
    want = problem_reference(m, 12, lb, ub);
    for (v = 0; v < count; v++) {
        result got = run(c->tested, m, &variant[v], 12);
        int refuted = got.info.outcome == GPUOPT_INFEASIBLE;
        if (refuted != (want.outcome == GPUOPT_INFEASIBLE) && (variant[v].mode == GPUOPT_MODE_JACOBI || !refuted))
            fail_msg("%s, %s: %s after %d rounds, the reference says %s after %d", name, variant[v].name,
                     gpuopt_outcome_string(got.info.outcome), got.info.rounds, gpuopt_outcome_string(want.outcome),
                     want.rounds);
        free_result(&got);
    }
    c->refuted += want.outcome == GPUOPT_INFEASIBLE;
    free(lb);
    free(ub);
}

static void infeasible_models_are_refuted(void **state) {
    contexts c = {NULL, test_context(NULL), 0, 0};
    int count;
    (void)state;
    count = for_each_model("netlib_infeas", check_refutation, &c);
    printf("%d of %d infeasible LPs are refuted by propagation\n", c.refuted, count);
    assert_true(c.refuted >= 3);
    gpuopt_context_destroy(c.tested);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(miplib_gives_the_same_bounds),
    cmocka_unit_test(infeasible_models_are_refuted),
};
TEST_MAIN(tests)
