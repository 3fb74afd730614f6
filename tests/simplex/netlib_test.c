/* SPDX-License-Identifier: MIT
 *
 * Real models: the NETLIB set by both methods, with the published optima and small violations on the model itself. Its
 * infeasible companions, with a proof; on the GPU some of Kennington's. Prints each model's time and iterations.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/index.h"

enum { MOST = 64 };

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The reference has lost the last four digits of etamacro: NETLIB's readme has 755.7152333 (7). */
static double tolerance_of(const char *name) { return strcmp(name, "etamacro") == 0 ? 1e-7 : 1e-8; }

/* Returns 1 and prints the reason if the answer is wrong. */
static int run(gpuopt_context *context, const mip *m, const index_entry *e, gpuopt_simplex_method method) {
    gpuopt_simplex_desc desc = tableau_desc(m);
    gpuopt_simplex_info info;
    double start = seconds();
    const char *fault;
    desc.method = method;
    fault = answer_try(context, &desc, m, e->outcome, e->objective, tolerance_of(e->name), &info);
    printf("%-10s %-7s %5d x %-6d %6lld iterations, %2lld rebuilds, %lld refactorizations, %8.3f s  %s\n", e->name,
           method == GPUOPT_METHOD_TABLEAU ? "tableau" : "revised", (int)m->columns.rows, (int)m->columns.cols,
           (long long)info.iterations, (long long)info.rebuilds, (long long)info.refactorizations, seconds() - start,
           fault ? fault : "ok");
    fflush(stdout);
    return fault != NULL;
}

/* The most rows for each method, so that the CPU takes half a minute in all. Smaller models that take 10 to 60
 * seconds are left out, too. */
typedef struct limits {
    int rows[2];                /* by method */
    const char *left_out[2][3]; /* ... by name */
} limits;

static int wanted(const index_entry *e, const limits *l, int method) {
    int k;
    for (k = 0; k < 3 && l->left_out[method][k]; k++)
        if (strcmp(l->left_out[method][k], e->name) == 0) return 0;
    return e->rows <= l->rows[method];
}

static void run_folder(const char *folder, const limits *l) {
    index_entry entry[MOST];
    int count = index_read(folder, entry, MOST), k, method, wrong = 0, left_out = 0;
    gpuopt_context *context;
    if (!count) skip();
    context = test_context(NULL);
    for (k = 0; k < count; k++) {
        mip m;
        if (!wanted(&entry[k], l, 0) && !wanted(&entry[k], l, 1)) {
            left_out += 2;
            continue;
        }
        m = model_file(folder, entry[k].name);
        for (method = 0; method < 2; method++) {
            if (wanted(&entry[k], l, method))
                wrong += run(context, &m, &entry[k], method ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU);
            else left_out++;
        }
        mip_free(&m);
    }
    if (left_out)
        printf("SKIPPED: %d of %d runs of %s: too large for the time of a test on backend %s\n", left_out, 2 * count,
               folder, test_backend_name);
    gpuopt_context_destroy(context);
    assert_int_equal(wrong, 0);
}

static void netlib(void **state) {
    static const limits cpu = {{1500, 2300}, {{"truss", "pilot", "woodw"}, {NULL}}},
                        cuda = {{3200, 20000}, {{NULL}, {NULL}}};
    (void)state;
    run_folder("netlib", test_on("cuda") ? &cuda : &cpu);
}

static void netlib_infeasible(void **state) {
    static const limits cpu = {{3100, 3100}, {{"greenbea"}, {NULL}}}, cuda = {{3100, 3100}, {{NULL}, {NULL}}};
    (void)state;
    run_folder("netlib_infeas", test_on("cuda") ? &cuda : &cpu);
}

static void kennington(void **state) {
    static const limits cpu = {{0, 0}, {{NULL}, {NULL}}}, cuda = {{0, 4000}, {{NULL}, {NULL}}};
    (void)state;
    run_folder("kennington", test_on("cuda") ? &cuda : &cpu);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(netlib),
    cmocka_unit_test(netlib_infeasible),
    cmocka_unit_test(kennington),
};
TEST_MAIN(tests)
