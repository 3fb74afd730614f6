/* SPDX-License-Identifier: MIT
 *
 * Many small linear programs without rows, columns or entries, of the largest shapes, and of shapes too large for
 * shared memory.
 */
#include <stdlib.h>

#include "tests/simplex/programs.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* No rows, no columns, neither, no entries; the largest number of rows, and of columns. */
static void extreme_shapes(void **state) {
    static const int32_t shape[][3] = {{0, 4, 0}, {4, 0, 0}, {0, 0, 0}, {3, 3, 0}, {512, 3, 1}, {2, 8192, 1}};
    gpuopt_context *context = test_context(NULL);
    int s, k;
    (void)state;
    for (s = 0; s < 6; s++) {
        const int32_t rows = shape[s][0], cols = shape[s][1];
        const int64_t nonzeros = shape[s][2] ? (rows > cols ? rows : cols) : 0;
        int64_t *start = calloc((size_t)rows + 2, sizeof *start);
        int32_t *index = calloc((size_t)nonzeros + 1, sizeof *index), outcome[2];
        double *numbers = calloc((size_t)nonzeros * 2 + (size_t)cols * 2 + (size_t)rows * 2 + 1, sizeof *numbers);
        double objective[2];
        gpuopt_simplex_batch_desc desc = GPUOPT_INIT(gpuopt_simplex_batch_desc);
        gpuopt_simplex_programs p = GPUOPT_INIT(gpuopt_simplex_programs);
        gpuopt_simplex_batch_report r = GPUOPT_INIT(gpuopt_simplex_batch_report);
        gpuopt_simplex_batch *many;
        double *value = numbers, *cost = value + 2 * nonzeros, *rhs = cost + 2 * cols;
        /* a line of 1s: each row r has the column r % cols, or each column j the row j % rows */
        for (k = 0; k < nonzeros; k++) value[k] = value[nonzeros + k] = 1;
        for (k = 0; shape[s][2] && k < rows; k++) {
            const int32_t each = cols > rows ? cols / rows : 1;
            int32_t e;
            start[k + 1] = start[k] + each;
            for (e = 0; e < each; e++) index[start[k] + e] = cols > rows ? k + e * rows : k % cols;
        }
        for (k = 0; k < cols; k++) cost[k] = -1, cost[cols + k] = k == 1 ? -1 : 1;
        for (k = 0; k < 2 * rows; k++) rhs[k] = k % rows + 1;
        desc.batch_size = 2;
        desc.rows = rows, desc.cols = cols;
        desc.start = start, desc.index = index;
        p.count = 2;
        p.value = value, p.cost = cost, p.rhs = rhs;
        r.outcome = outcome, r.objective = objective;
        must(gpuopt_simplex_batch_create(context, &desc, NULL, &many));
        must(gpuopt_simplex_batch_load(many, GPUOPT_HOST, &p));
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        must(gpuopt_simplex_batch_get(many, GPUOPT_HOST, 0, 2, &r));
        if (!shape[s][2]) {
            for (k = 0; k < 2; k++) assert_int_equal(outcome[k], cols > 0 ? GPUOPT_UNBOUNDED : GPUOPT_OPTIMAL);
        } else { /* each column's or row's own bound: x_j <= j + 1; or the sum of columns of one parity <= 1, 2 */
            assert_int_equal(outcome[0], GPUOPT_OPTIMAL);
            assert_int_equal(outcome[1], GPUOPT_OPTIMAL);
            assert_true(objective[0] == (cols == 3 ? -6 : -3));
            assert_true(objective[1] == -2);
        }
        gpuopt_simplex_batch_destroy(many);
        free(start), free(index), free(numbers);
    }
    gpuopt_context_destroy(context);
}

/* Tableaux that do not fit into shared memory, and vectors that do not either: bits of the CPU. */
static void beyond_shared_memory(void **state) {
    static const int32_t shape[][2] = {{200, 150}, {3, 2500}, {512, 20}};
    gpuopt_context *context = test_context(NULL), *cpu;
    uint64_t seed = 1;
    int s, k;
    (void)state;
    must(gpuopt_context_create(NULL, &cpu));
    for (s = 0; s < 3; s++) {
        const int32_t rows = shape[s][0], cols = shape[s][1], count = test_emulated() ? 1 : 4;
        mip *model = calloc((size_t)count, sizeof *model);
        programs *all;
        gpuopt_simplex_batch *many[2];
        programs_report *r[2];
        for (k = 0; k < count; k++) {
            double *a = calloc((size_t)rows * (size_t)cols, sizeof *a), *c = calloc((size_t)cols, sizeof *c),
                   *rhs = calloc((size_t)rows, sizeof *rhs);
            int32_t i, j;
            for (i = 0; i < rows; i++) {
                rhs[i] = 10 + test_random(&seed);
                for (j = 0; j < cols; j++)
                    if ((i + j) % 3 == 0) a[(size_t)i * (size_t)cols + (size_t)j] = 0.1 + test_random(&seed);
            }
            for (j = 0; j < cols; j++) c[j] = -test_random(&seed);
            model[k] = model_of(rows, cols, a, c, NULL, rhs, NULL, NULL);
            free(a), free(c), free(rhs);
        }
        all = programs_of(count, model, 1, GPUOPT_LAYOUT_CSC);
        for (k = 0; k < 2; k++) {
            many[k] = programs_create(k ? cpu : context, all);
            must(gpuopt_simplex_batch_iterate(many[k], test_emulated() ? 12 : INT64_MAX, NULL));
            r[k] = programs_get(many[k], all);
            gpuopt_simplex_batch_destroy(many[k]);
        }
        if (!programs_report_equal(all, r[0], 0, r[1], 0, count)) fail_msg("shape %d: not the CPU's bits", s);
        if (!test_emulated()) assert_int_equal(r[0]->r.outcome[0], GPUOPT_OPTIMAL);
        programs_report_free(r[0]);
        programs_report_free(r[1]);
        programs_free(all);
    }
    gpuopt_context_destroy(cpu);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(extreme_shapes), cmocka_unit_test(beyond_shared_memory)};

TEST_MAIN(tests)
