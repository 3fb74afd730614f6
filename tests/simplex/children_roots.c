/* SPDX-License-Identifier: MIT */
#include "tests/simplex/children_roots.h"

#include <stdlib.h>
#include <string.h>

void *roots_array(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

roots *roots_draw(gpuopt_context *context, const gpuopt_simplex_desc *desc, uint64_t *seed, const mip *m, int kinds) {
    const size_t rows = (size_t)m->columns.rows, cols = (size_t)m->columns.cols;
    children *changes = children_draw(seed, m, ROOTS, kinds);
    roots *r = roots_array(1, sizeof *r);
    int32_t k;
    r->basis = roots_array(ROOTS * (rows + cols), 1);
    r->lb = roots_array(ROOTS * cols, sizeof(double)), r->ub = roots_array(ROOTS * cols, sizeof(double));
    r->lhs = roots_array(ROOTS * rows, sizeof(double)), r->rhs = roots_array(ROOTS * rows, sizeof(double));
    for (k = 0; k < ROOTS; k++) {
        gpuopt_simplex *way = simplex_create(context, desc);
        const int64_t few = test_random_int(seed, 0, 9);
        r->m[k] = children_copy(m);
        children_change(changes, k, &r->m[k]);
        children_set(changes, k, way);
        if (few > 0) simplex_iterate(way, few < 5 ? few : 100000);
        must(gpuopt_simplex_get_basis(way, GPUOPT_HOST, r->basis + (size_t)k * (rows + cols)));
        memcpy(r->lb + (size_t)k * cols, r->m[k].lb, sizeof(double) * cols);
        memcpy(r->ub + (size_t)k * cols, r->m[k].ub, sizeof(double) * cols);
        memcpy(r->lhs + (size_t)k * rows, r->m[k].lhs, sizeof(double) * rows);
        memcpy(r->rhs + (size_t)k * rows, r->m[k].rhs, sizeof(double) * rows);
        gpuopt_simplex_destroy(way);
    }
    r->m[ROOTS] = children_copy(m);
    gpuopt_desc_init(&r->list, sizeof r->list);
    r->list.count = ROOTS;
    r->list.basis = r->basis;
    r->list.lb = r->lb, r->list.ub = r->ub;
    r->list.lhs = r->lhs, r->list.rhs = r->rhs;
    free(changes);
    return r;
}

void roots_free(roots *r) {
    int k;
    for (k = 0; k <= ROOTS; k++) children_free(&r->m[k]);
    free(r->basis), free(r->lb), free(r->ub), free(r->lhs), free(r->rhs), free(r);
}

gpuopt_simplex *roots_alone(gpuopt_context *context, const gpuopt_simplex_desc *desc, const roots *r, int32_t k) {
    const int32_t rows = r->m[k].columns.rows, cols = r->m[k].columns.cols;
    gpuopt_simplex *s = simplex_create(context, desc);
    must(gpuopt_simplex_set_bounds(s, GPUOPT_HOST, cols, NULL, r->m[k].lb, r->m[k].ub));
    must(gpuopt_simplex_set_sides(s, GPUOPT_HOST, rows, NULL, r->m[k].lhs, r->m[k].rhs));
    must(gpuopt_simplex_set_basis(s, GPUOPT_HOST, r->basis + (size_t)k * (size_t)(rows + cols)));
    return s;
}

gpuopt_simplex_children *roots_batch(gpuopt_simplex *handle, int32_t pivots, gpuopt_simplex_on_pivot_limit when_full) {
    gpuopt_simplex_children_desc desc = children_batch_desc(COUNT);
    gpuopt_simplex_children *batch;
    desc.pivots = pivots;
    desc.on_pivot_limit = when_full;
    desc.roots = ROOTS;
    must(gpuopt_simplex_children_create(handle, &desc, NULL, &batch));
    return batch;
}
