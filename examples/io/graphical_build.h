/* SPDX-License-Identifier: MIT
 *
 * How the readers of .wcsp and .cfn files assemble a model, piece by piece.
 */
#ifndef EXAMPLES_IO_GRAPHICAL_BUILD_H
#define EXAMPLES_IO_GRAPHICAL_BUILD_H

#include "examples/io/graphical.h"

#define BUILDER_FORBIDDEN INT64_MAX /* a cost: forbidden, whatever the bound */

/* Begins all zero, except for the model. graphical_free frees its results. */
typedef struct builder {
    graphical_model *model;
    size_t variable_capacity, hidden_capacity, function_capacity;
    int64_t made; /* entries and tuples that are not in the file */
    int too_low;  /* not 0: a sum was too low to represent */
} builder;

enum { BUILDER_MADE = 1 << 25 }; /* the most of these, some hundred MB */

/* Adds a variable: a hidden one beside another variable or, with beside = -1, the file's; the file's come first.
 * Returns its number, or -1: out of memory. */
int32_t builder_variable(builder *b, int32_t domain, int32_t beside);

/* Adds a function with a copy of the scope and capacity for that many tuples, or with tuples = -1 for `entries` of a
 * dense table; entries counts only then. The default cost is 0. Returns it, until the next one is added; NULL: out of
 * memory. */
gpuopt_elimination_function *builder_function(builder *b, int32_t arity, const int32_t *scope, int64_t tuples,
                                              int64_t entries);

/* Product of the domain sizes of a scope, or `most` + 1 if it is larger than that. */
int64_t builder_entries(const builder *b, int32_t arity, const int32_t *scope, int64_t most);

/* Gives `to` the costs of another function with the same arity and domain sizes. Returns 0, or -1: out of memory. */
int builder_copy_costs(const builder *b, gpuopt_elimination_function *to, const gpuopt_elimination_function *from);

/* The sum of two costs; FORBIDDEN if one of them is or if it does not fit. The second: x - y, where y is at most x. */
int64_t builder_add(builder *b, int64_t x, int64_t y);
int64_t builder_less(int64_t x, int64_t y);

/* Whether a cost of a function so far is negative. */
int builder_any_negative(const builder *b);

/* Makes all costs 0 or more, by a shift, and the sums from `bound` on forbidden. Returns 0, or the fault. */
const char *builder_finish(builder *b, int64_t bound);

#endif /* EXAMPLES_IO_GRAPHICAL_BUILD_H */
