/* SPDX-License-Identifier: MIT */
#include "tests/propagate/tree.h"

#include <stdlib.h>

/* ---- Trails ---- */

int64_t tree_push(gpuopt_propagator *p) {
    int64_t start = -1;
    assert_int_equal(gpuopt_propagator_push(p, &start), GPUOPT_OK);
    assert_true(start >= 0);
    return start;
}

void tree_pop(gpuopt_propagator *p, int levels) { assert_int_equal(gpuopt_propagator_pop(p, levels), GPUOPT_OK); }

gpuopt_propagator_trail tree_trail(gpuopt_propagator *p) {
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    assert_int_equal(gpuopt_propagator_get_trail(p, &trail), GPUOPT_OK);
    return trail;
}

void tree_set(gpuopt_propagator *p, int32_t col, double lb, double ub) {
    assert_int_equal(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, &lb, &ub), GPUOPT_OK);
}

void tree_set_one(gpuopt_propagator *p, int32_t col, int upper, double bound) {
    assert_int_equal(
        gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, upper ? NULL : &bound, upper ? &bound : NULL), GPUOPT_OK);
}

int32_t tree_add(gpuopt_propagator *p, int32_t cols, int count, const int32_t *index, const double *value, double lhs,
                 double rhs) {
    const int64_t start[2] = {0, count};
    const gpuopt_matrix rows = {1, cols, start, index, value, GPUOPT_LAYOUT_CSR};
    int32_t row = -1;
    assert_int_equal(gpuopt_propagator_add_rows(p, &rows, &lhs, &rhs, &row), GPUOPT_OK);
    return row;
}

tree_change *tree_changes(gpuopt_propagator *p, int64_t from, int64_t *count) {
    gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
    tree_change *list = NULL;
    int64_t k;
    assert_int_equal(gpuopt_propagator_get_changes(p, GPUOPT_HOST, from, &c), GPUOPT_OK);
    *count = c.capacity = c.count;
    if (c.count == 0) return NULL;
    c.col = malloc(sizeof *c.col * (size_t)c.count);
    c.upper = malloc((size_t)c.count);
    c.old_bound = malloc(sizeof *c.old_bound * (size_t)c.count);
    c.new_bound = malloc(sizeof *c.new_bound * (size_t)c.count);
    c.row = malloc(sizeof *c.row * (size_t)c.count);
    list = malloc(sizeof *list * (size_t)c.count);
    assert_true(c.col && c.upper && c.old_bound && c.new_bound && c.row && list);
    assert_int_equal(gpuopt_propagator_get_changes(p, GPUOPT_HOST, from, &c), GPUOPT_OK);
    assert_int_equal(c.count, *count);
    for (k = 0; k < *count; k++) {
        assert_true(c.upper[k] <= 1);
        list[k] = (tree_change){c.col[k], c.upper[k], c.row[k], c.old_bound[k], c.new_bound[k]};
    }
    free(c.col);
    free(c.upper);
    free(c.old_bound);
    free(c.new_bound);
    free(c.row);
    return list;
}

gpuopt_status tree_explain(gpuopt_propagator *p, int64_t change, gpuopt_propagator_reason *reason, int64_t *premises,
                           int64_t capacity) {
    gpuopt_desc_init(reason, sizeof *reason);
    reason->premises = premises;
    reason->capacity = capacity;
    return gpuopt_propagator_explain(p, change, reason);
}

gpuopt_propagator_desc tree_desc(const mip *m, gpuopt_propagator_mode mode, gpuopt_propagator_precision precision) {
    static const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = TREE_ROWS, .nonzeros = TREE_NONZEROS};
    gpuopt_propagator_desc desc = mip_propagator_desc(m);
    desc.mode = mode;
    desc.precision = precision;
    desc.trail_capacity = TREE_TRAIL;
    desc.spare = &spare;
    return desc;
}

/* ---- Running ---- */

void tree_for_all(tree_test *test) {
    gpuopt_context *context = test_context(NULL);
    int mode, precision;
    for (mode = GPUOPT_MODE_JACOBI; mode <= (test_on("cuda") ? GPUOPT_MODE_JACOBI : GPUOPT_MODE_GAUSS_SEIDEL); mode++)
        for (precision = GPUOPT_PRECISION_FP64; precision <= GPUOPT_PRECISION_FP32; precision++)
            test(context, (gpuopt_propagator_mode)mode, (gpuopt_propagator_precision)precision);
    gpuopt_context_destroy(context);
}
