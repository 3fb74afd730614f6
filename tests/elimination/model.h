/* SPDX-License-Identifier: MIT
 *
 * Graphical models for the tests: made by hand or drawn at random, and evaluated directly on the given functions.
 */
#ifndef TESTS_ELIMINATION_MODEL_H
#define TESTS_ELIMINATION_MODEL_H

#include "gpuopt.h"

enum { MODEL_VARIABLES = 16 }; /* of a model that is drawn or enumerated */

/* Owns its arrays, and its functions' arrays. */
typedef struct model {
    int32_t variables, functions;
    int32_t *domain;
    gpuopt_elimination_function *function;
    gpuopt_elimination_cost type;
    gpuopt_elimination_semiring semiring;
    int64_t top;
    double scale; /* of drawn costs: the reference for rounding */
} model;

/* The semirings with their cost types. The first MODEL_BOUNDED have mini-buckets, and the first MODEL_SEARCHED of
 * these also have assignments. */
enum { MODEL_SEARCHED = 4, MODEL_BOUNDED, MODEL_KINDS };
extern const struct model_kind {
    gpuopt_elimination_cost type;
    gpuopt_elimination_semiring semiring;
} model_kind[MODEL_KINDS];

/* domain NULL: all variables binary. */
model model_make(gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring, int32_t variables,
                 const int32_t *domain);
void model_free(model *m);
/* Adds a function of zeros: dense with tuples == -1, else a list with capacity for `tuples` tuples. Valid until the
 * next call. */
gpuopt_elimination_function *model_add(model *m, int32_t arity, const int32_t *scope, int64_t tuples);
/* Sets one entry of a function: its cost or its value, by the type of the model. */
void model_set(const model *m, gpuopt_elimination_function *f, int64_t entry, double cost);
/* Adds a function with the cost difference * |x - y|, x and y variables. */
void model_add_distance(model *m, int32_t x, int32_t y, int64_t difference);
/* A copy in which variables with fixed[v] >= 0 have that value only. */
model model_restricted(const model *m, const int32_t *fixed);

int64_t model_entries(const model *m, const int32_t *scope, int32_t arity);
/* Every variable in the order of the model; order and all else at the defaults. */
gpuopt_elimination_desc model_desc(const model *m);

/* The value of forbidden entries and assignments: infinite, with the sign that is never chosen. */
long double model_forbidden(const model *m);
/* A function's entry at value [variables]; long double holds every int64 and every double. */
long double model_entry(const model *m, int32_t function, const int32_t *value);
long double model_sum(const model *m, const int32_t *value);

/* The parameters of random models; the numbers are upper limits. */
typedef struct recipe {
    int32_t variables, domain, arity, functions;
    int64_t least, largest; /* costs; DOUBLE: in eighths */
    int forbidden;          /* entries in 100 */
    int top;                /* not 0: a top that sums may reach */
    int fractions;          /* DOUBLE: not in eighths, so that sums are rounded */
    int counts;             /* MIN_COUNT: dense functions with counts up to this; 0: without */
} recipe;

recipe recipe_draw(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring);
/* At least one variable; at most `recipe.variables`, and at most 20000 assignments. */
model model_draw(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring, const recipe *r);
/* A model of kind k with many overlapping functions, and its descriptor. Sums fit 63 bits even in parts of a cost. The
 * descriptor's order, drawn as well, contains all variables: order [MODEL_VARIABLES]. */
model model_draw_crowded(uint64_t *seed, int32_t k, int32_t variables, int32_t functions, int32_t least_arity,
                         int32_t arity, int32_t *order, gpuopt_elimination_desc *desc);
/* A function over every pair of variables, with domains of `values` to values + 3: the tables dwarf everything else. */
model model_dense(uint64_t *seed, gpuopt_elimination_cost type, gpuopt_elimination_semiring semiring, int32_t variables,
                  int32_t values);
void draw_permutation(uint64_t *seed, int32_t count, int32_t *permutation);

void model_print(const model *m); /* to the standard error output, for a test that fails */

#endif /* TESTS_ELIMINATION_MODEL_H */
