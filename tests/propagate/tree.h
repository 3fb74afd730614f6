/* SPDX-License-Identifier: MIT
 *
 * Shared by the tests of propagation in a tree search: reading a trail, and a check of its reasons that shares no code
 * with the library.
 */
#ifndef TESTS_PROPAGATE_TREE_H
#define TESTS_PROPAGATE_TREE_H

#include "gpuopt/search.h"
#include "tests/propagate/model.h"

/* ---- Trails ---- */

typedef struct tree_change {
    int32_t col, upper, row;
    double old_bound, new_bound;
} tree_change;

/* The calls, which must succeed. */
int64_t tree_push(gpuopt_propagator *p);
void tree_pop(gpuopt_propagator *p, int levels);
gpuopt_propagator_trail tree_trail(gpuopt_propagator *p);
void tree_set(gpuopt_propagator *p, int32_t col, double lb, double ub);
void tree_set_one(gpuopt_propagator *p, int32_t col, int upper, double bound);
/* Adds the row  lhs <= sum of value[k] x[index[k]] <= rhs  and returns its number. */
int32_t tree_add(gpuopt_propagator *p, int32_t cols, int count, const int32_t *index, const double *value, double lhs,
                 double rhs);
/* The changes from a position on, to be freed; NULL if there are none. */
tree_change *tree_changes(gpuopt_propagator *p, int64_t from, int64_t *count);
/* Premises of a change, or of infeasibility (-1), at most `capacity`; returns the status. */
gpuopt_status tree_explain(gpuopt_propagator *p, int64_t change, gpuopt_propagator_reason *reason, int64_t *premises,
                           int64_t capacity);

/* A model's descriptor with a trail and spare rows. */
enum { TREE_TRAIL = 100000, TREE_ROWS = 24, TREE_NONZEROS = TREE_ROWS * MODEL_COLS };
gpuopt_propagator_desc tree_desc(const mip *m, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision);

/* ---- Exact arithmetic (tree_exact.c, with GMP) ---- */

/* A row in the library's form: with FP32 its coefficients are rounded. */
typedef struct tree_row {
    int64_t length;
    const int32_t *index;
    const double *value;
    double lhs, rhs;
    int single;
} tree_row;

/* Whether the row with these bounds (infinite bounds are IEEE's) implies that column col is at most (upper) or at least
 * `bound`. For an integer column this need only hold for integers. */
int tree_implied(const tree_row *row, const double *lb, const double *ub, const uint8_t *integer, int32_t col,
                 int upper, double bound);
/* Whether no x within these bounds satisfies the row. */
int tree_empty(const tree_row *row, const double *lb, const double *ub);

/* ---- Running ---- */

/* Calls a test in the modes of the backend and in both precisions, in one context. */
typedef void tree_test(gpuopt_context *context, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision);
void tree_for_all(tree_test *test);
/* Defines the cmocka test `name`, which calls check_name() for all. */
#define TREE_TEST(name) \
    static void name(void **state) { (void)state, tree_for_all(check_##name); }

#endif /* TESTS_PROPAGATE_TREE_H */
