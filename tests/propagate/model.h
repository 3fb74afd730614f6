/* SPDX-License-Identifier: MIT
 *
 * Hand-made models for several tests of propagation, and checks on them.
 */
#ifndef TESTS_PROPAGATE_MODEL_H
#define TESTS_PROPAGATE_MODEL_H

#include "tests/propagate/problem.h"

/* The rows of a dense matrix a [rows][cols], without its zeros; all columns have the same bounds. */
mip model_dense(int32_t rows, int32_t cols, const double *a, const double *lhs, const double *rhs, double lb, double ub,
                int integer);

/* x0 + x1 <= 4,  x1 - x2 >= 1  over [0, 10]^3. First x0 <= 4, x1 <= 4, x1 >= 1, x2 <= 9; then x0 <= 3 (from x1 >= 1),
 * x2 <= 3 (from x1 <= 4); then nothing. A sequential sweep has x2 <= 3 in the first round already. */
mip model_small(void);
extern const double model_small_lb[3], model_small_ub[3]; /* its fixpoint */

/* One row  lhs <= x <= rhs  on one column. */
mip model_one_column(double lb, double ub, double lhs, double rhs);

/* x0 + x1 <= 2,  x0 + x1 >= 3,  free,  x0 - x1 >= 2  over [0, 1]^2: rows 1 and 3 have no solution. */
mip model_infeasible(void);

/* A model with small integers everywhere, around a point x that satisfies every row. */
enum { MODEL_ROWS = 50, MODEL_COLS = 40, MODEL_MANY = 2000 }; /* MANY rounds are enough for a fixpoint */
mip model_random(uint64_t seed, double *x);

/* A random model of this shape, around a point that satisfies most rows. */
typedef struct model_shape {
    int rows, cols, longest; /* the largest row length */
    int trials;              /* models that a test draws */
} model_shape;
mip model_draw(const model_shape *s, uint64_t *seed);

/* The bounds of the handle have the same bits as these, or as another handle's. */
void model_check_bounds(gpuopt_propagator *p, int32_t cols, const double *lb, const double *ub);
void model_check_same_bounds(gpuopt_propagator *a, gpuopt_propagator *b, int32_t cols);
/* A handle of the small model reaches its fixpoint, in three rounds. */
void model_check_fixpoint(gpuopt_propagator *p);

/* The same for a new handle: of this descriptor of the small model; in this context, after any refusals. */
void model_check_works(gpuopt_context *context, const gpuopt_propagator_desc *desc);
void model_check_context(gpuopt_context *context);
/* Both results agree, except for the count of nonzeros, which depends on marking. */
void model_check_same_info(gpuopt_propagator_info a, gpuopt_propagator_info b);
/* Runs p and a new handle with p's bounds and the descriptor's sides; both must have the same results. Returns how many
 * bounds moved. JACOBI: the same bits, after any number of rounds. SEQUENTIAL: the same fixpoint, within tolerances. */
int64_t model_check_like_fresh(gpuopt_context *context, gpuopt_propagator *p, gpuopt_propagator_desc desc, int rounds);

/* Calls a test with a descriptor of the model for every variant of the backend; frees the model. */
typedef void model_test(gpuopt_context *context, gpuopt_propagator_desc desc);
void model_for_variants(model_test *test, mip m);
/* Defines the cmocka test `name`, which calls check_name() for every variant. */
#define MODEL_VARIANTS_TEST(name, m) \
    static void name(void **state) { (void)state, model_for_variants(check_##name, m); }

/* The contents of *state in a MODEL_TEST: a watched caller, its context, the small model, and a descriptor of it
 * without the optional array `integer`. After the test everything must have been released. */
typedef struct model_host {
    test_host host;
    gpuopt_context *context;
    mip model;
    gpuopt_propagator_desc desc;
} model_host;
int model_setup(void **state);
int model_teardown(void **state);
#define MODEL_TEST(test) cmocka_unit_test_setup_teardown(test, model_setup, model_teardown)

#endif /* TESTS_PROPAGATE_MODEL_H */
