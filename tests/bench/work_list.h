/* SPDX-License-Identifier: MIT
 *
 * A plain work list for propagation in a tree, for comparison. It has activities that are updated with each bound, a
 * queue of rows, and a trail of old bounds. It works in double precision, without reasons and without any care for
 * rounding.
 */
#ifndef TESTS_BENCH_WORK_LIST_H
#define TESTS_BENCH_WORK_LIST_H

#include "examples/io/mip.h"

typedef struct work_list work_list;

/* Begins with these bounds [cols], which are taken for a fixpoint. The model must have its rows, and outlive the work
 * list. NULL: out of memory. */
work_list *work_list_create(const mip *model, const double *lb, const double *ub);
void work_list_destroy(work_list *w);
/* Sets a bound, and queues the rows in which it may have an effect. */
void work_list_set(work_list *w, int32_t col, int upper, double bound);
/* Takes rows from the queue until it is empty (CONVERGED), or one is INFEASIBLE, or `most` have been taken (MORE). */
gpuopt_outcome work_list_run(work_list *w, int64_t most);
/* The number of changes of bounds that were made and not undone; and a function that undoes all but the first
 * `changes`. */
int64_t work_list_changes(const work_list *w);
void work_list_undo(work_list *w, int64_t changes);
/* Sums all activities again: after bounds of 1e19 have come and gone they may be off by thousands. */
void work_list_sum(work_list *w);
/* The present bounds [cols]. */
const double *work_list_lb(const work_list *w);
const double *work_list_ub(const work_list *w);

#endif /* TESTS_BENCH_WORK_LIST_H */
