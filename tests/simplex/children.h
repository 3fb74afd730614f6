/* SPDX-License-Identifier: MIT
 *
 * Children of one basis for tests: random ones, the same changes made to a model and to a handle, and what a batch
 * reports about them against the simplex method in exact rationals.
 */
#ifndef TESTS_SIMPLEX_CHILDREN_H
#define TESTS_SIMPLEX_CHILDREN_H

#include "gpuopt/search.h"
#include "tests/simplex/answer.h"

enum { CHILDREN_MOST = 600, CHILDREN_ENTRIES = 3 * CHILDREN_MOST };

/* Children and their arrays. */
typedef struct children {
    gpuopt_simplex_child_list c;
    int64_t start[3][CHILDREN_MOST + 1];
    int32_t index[3][CHILDREN_ENTRIES];
    double low[3][CHILDREN_ENTRIES], high[2][CHILDREN_ENTRIES];
} children;

/* Kinds of changes: bounds, sides, costs. */
enum { CHILDREN_BOUNDS = 1, CHILDREN_SIDES = 2, CHILDREN_COSTS = 4 };

/* `count` children, whose changes are still to be filled in. */
children *children_new(int32_t count);
/* Makes `count` children with up to three changes of each of these kinds, of small whole numbers. */
children *children_draw(uint64_t *seed, const mip *m, int32_t count, int kinds);
/* Makes both children of each column at x; `count` is of the columns. */
children *children_branch(const mip *m, int32_t count, const int32_t *col, const double *x);

/* The changes of child k, to a model and to a handle. */
void children_change(const children *all, int32_t k, mip *m);
void children_set(const children *all, int32_t k, gpuopt_simplex *simplex);
/* A copy of a model whose bounds, sides and costs can be changed; mip_free is not for it, but children_free. */
mip children_copy(const mip *m);
void children_free(mip *copy);
/* CLP's result for child k: its outcome and objective. */
gpuopt_outcome children_by_clp(const mip *m, const children *all, int32_t k, double *objective);

/* ---- Roots and batches ---- */

/* The root's descriptor: on the CPU the method, the algorithm, K and the pricing go by the bits of `way`. */
gpuopt_simplex_desc children_root_desc(const mip *m, int way);
/* With capacity for nine changes a child, and for everything that a report may ask for. */
gpuopt_simplex_children_desc children_batch_desc(int32_t copies);
gpuopt_simplex_children *children_batch(gpuopt_simplex *root, int32_t copies, int32_t pivots,
                                        gpuopt_simplex_on_pivot_limit when_full);
/* Set covering, with costs that make fractional optima likely. */
mip children_cover(uint64_t seed, int32_t rows, int32_t cols);
/* The root's x [cols], and the columns [cols] at which it is fractional. Returns their number. */
int32_t children_fractional(gpuopt_simplex *root, const mip *m, int32_t *col, double *x);

/* What a batch reports, all of it. */
typedef struct children_report {
    gpuopt_simplex_child_report r;
    int32_t count;
    double cutoff; /* that the root has; NaN: none */
    int32_t outcome[CHILDREN_MOST], iterations[CHILDREN_MOST], certainty[CHILDREN_MOST];
    double bound[CHILDREN_MOST], objective[CHILDREN_MOST];
    uint8_t *basis;
    double *x, *farkas, *farkas_low;
} children_report;

children_report *children_report_new(const mip *m, int32_t count);
void children_report_free(children_report *r);
int children_report_equal(const mip *m, const children_report *a, const children_report *b); /* to the bit */

/* What is wrong about child k of m, in rationals; NULL: nothing. A child without a verdict (MORE, FULL, IMPRECISE) has
 * a bound, which must hold, and a basis; that of a CUTOFF has reached the cutoff. Adds 1 << outcome to *verdicts. */
const char *children_fault(const mip *m, const children *all, const children_report *r, int32_t k, int *verdicts);

/* Fails unless child k has CLP's outcome and objective, and a bound that holds. */
void children_agree_with_clp(const mip *m, const children *all, const children_report *r, int32_t k);
int children_is_verdict(int32_t outcome);
/* Whether child k is one that the GPU does not settle: unbounded by CLP. */
int children_left_unbounded(const mip *m, const children *all, const children_report *r, int32_t k);

#endif /* TESTS_SIMPLEX_CHILDREN_H */
