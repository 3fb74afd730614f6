/* SPDX-License-Identifier: MIT
 *
 * Several roots of one model, for batches of their children.
 */
#ifndef TESTS_SIMPLEX_CHILDREN_ROOTS_H
#define TESTS_SIMPLEX_CHILDREN_ROOTS_H

#include "tests/simplex/children.h"

enum { ROOTS = 5, EACH = 6, COUNT = (ROOTS + 1) * EACH };

/* Roots of a model: the arrays that a batch gets, and the models themselves. Number ROOTS is the handle. */
typedef struct roots {
    gpuopt_simplex_root_list list;
    mip m[ROOTS + 1];
    uint8_t *basis;
    double *lb, *ub, *lhs, *rhs;
} roots;

/* Zeroed memory, to be freed. */
void *roots_array(size_t count, size_t size);

/* Each root has some changes of bounds and sides, and the basis that a handle reaches in a few iterations or at the
 * end. */
roots *roots_draw(gpuopt_context *context, const gpuopt_simplex_desc *desc, uint64_t *seed, const mip *m, int kinds);
void roots_free(roots *r);

/* A new handle that is root k. */
gpuopt_simplex *roots_alone(gpuopt_context *context, const gpuopt_simplex_desc *desc, const roots *r, int32_t k);

/* A batch for COUNT children of ROOTS roots. */
gpuopt_simplex_children *roots_batch(gpuopt_simplex *handle, int32_t pivots, gpuopt_simplex_on_pivot_limit when_full);

static inline void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

#endif /* TESTS_SIMPLEX_CHILDREN_ROOTS_H */
