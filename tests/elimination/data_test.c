/* SPDX-License-Identifier: MIT
 *
 * Real models: SPOT5, ISCAS 89, frequency assignment, colourings, pedigrees, with the optima, numbers of optimal
 * assignments and partition functions that other solvers found; bounds by mini-buckets. Times are printed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpuopt/search.h"
#include "examples/io/graphical.h"
#include "tests/support/support.h"

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Backends for a model: models that take more than some seconds or 2 GB on a CPU run only on the GPU. */
enum { ANYWHERE, ON_CUDA, NOWHERE };

static const struct {
    const char *file;
    int64_t optimum;
    uint64_t count; /* of optimal assignments; 0: not known */
    int exact, counts;
} known[] = {
    {"spot5/54.wcsp", 37, 216, ANYWHERE, ANYWHERE},
    {"spot5/503.wcsp", 11113, 201804742656000, ANYWHERE, ANYWHERE},
    {"spot5/29.wcsp", 8059, 2700, ANYWHERE, ANYWHERE},
    {"spot5/404.wcsp", 114, 1415040, ANYWHERE, ANYWHERE},
    {"spot5/tb2_404.wcsp", 114, 0, ANYWHERE, NOWHERE},
    {"spot5/505b.wcsp", 21251, 0, ANYWHERE, NOWHERE},
    {"spot5/42b.wcsp", 155050, 0, ON_CUDA, NOWHERE},
    {"spot5/408b.wcsp", 6225, 0, ON_CUDA, NOWHERE},
    {"iscas89/s386.wcsp", 29, 2, ANYWHERE, ANYWHERE},
    {"iscas89/c499.wcsp", 111, 32, ANYWHERE, ANYWHERE},
    {"iscas89/c880.wcsp", 162, 32, ANYWHERE, ANYWHERE},
    {"iscas89/s1423.wcsp", 231, 256, ANYWHERE, ANYWHERE},
    {"iscas89/c432.wcsp", 101, 32, ANYWHERE, ANYWHERE},
    {"coloring/GEOM40-2.wcsp", 22, 12800, ANYWHERE, ANYWHERE},
    {"coloring/GEOM40-3.wcsp", 7, 90046080, ANYWHERE, ANYWHERE},
    {"coloring/queen5-5-3.wcsp", 29, 0, ON_CUDA, NOWHERE},
    {"coloring/myciel5g-3.wcsp", 16, 0, ON_CUDA, NOWHERE},
    {"celar/CELAR6-SUB0.wcsp", 159, 0, ON_CUDA, NOWHERE},
    {"small/4queens.wcsp", 0, 0, ANYWHERE, NOWHERE},
    {"small/8queens.wcsp", 0, 92, ANYWHERE, ANYWHERE},
    {"small/example.wcsp", 27, 0, ANYWHERE, NOWHERE},
    {"small/rep_0_x_10.wcsp", 124, 0, ANYWHERE, NOWHERE},
    {"small/zebra.wcsp", 0, 0, ANYWHERE, NOWHERE},
};
enum { KNOWN = sizeof known / sizeof *known };

static int runs_here(int where) { return where == ANYWHERE || (where == ON_CUDA && test_on("cuda")); }

static void load(const char *file, graphical_model *m) {
    char path[256], error[512];
    const char *found;
    snprintf(path, sizeof path, "wcsp/%s", file);
    found = test_data(path);
    if (!found) fail_msg("%s is missing", path);
    if (graphical_load(found, 0, m, error, sizeof error)) fail_msg("%s", error);
}

static gpuopt_elimination_desc desc_of(const graphical_model *m, gpuopt_elimination_semiring semiring) {
    gpuopt_elimination_desc desc;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.type = m->type;
    desc.semiring = semiring;
    desc.top = m->top;
    return desc;
}

/* ---- One run ---- */

typedef struct run {
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment assignment;
    int32_t *value; /* [variables] */
} run;

/* condition [desc->condition_count]. The caller frees the assignment. */
static run solve(gpuopt_context *context, const test_host *host, gpuopt_elimination_desc desc, const int32_t *condition,
                 const char *file, const char *what) {
    int32_t *order = malloc(((size_t)desc.variables + 1) * sizeof *order);
    gpuopt_elimination *elimination = NULL;
    double start = seconds(), ordered, created, end;
    gpuopt_status status;
    run r;
    memset(&r, 0, sizeof r);
    r.value = calloc((size_t)desc.variables + 1, sizeof *r.value);
    assert_true(order && r.value);
    gpuopt_desc_init(&r.estimate, sizeof r.estimate);
    gpuopt_desc_init(&r.info, sizeof r.info);
    gpuopt_desc_init(&r.assignment, sizeof r.assignment);
    assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
    ordered = seconds();
    desc.order = order;
    desc.order_count = desc.variables - desc.evidence_count;
    status = gpuopt_elimination_order(context, &desc, NULL, NULL, &r.estimate);
    if (!status) status = gpuopt_elimination_create(context, &desc, NULL, &elimination);
    if (status) fail_msg("%s, %s: %s", file, what, host->error);
    if (desc.evidence_count)
        assert_int_equal(gpuopt_elimination_set_evidence(elimination, GPUOPT_HOST, 0, condition), GPUOPT_OK);
    created = seconds();
    while (r.info.outcome == GPUOPT_MORE)
        assert_int_equal(gpuopt_elimination_step(elimination, INT32_MAX, &r.info), GPUOPT_OK);
    end = seconds();
    if (desc.semiring != GPUOPT_SEMIRING_LOG_SUM_EXP)
        assert_int_equal(gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, r.value, &r.assignment), GPUOPT_OK);
    gpuopt_elimination_destroy(elimination);
    free(order);
    printf("%-24s %-8s width %2d, %2d bits, %6lld slices, %8.1f MB, order %6.3f s, create %6.3f s, eliminate %7.3f s\n",
           file, what, (int)r.estimate.width, (int)r.estimate.bits, (long long)r.estimate.slices,
           1e-6 * (double)(r.estimate.memory.host_bytes + r.estimate.memory.device_bytes), ordered - start,
           created - ordered, end - created);
    fflush(stdout);
    return r;
}

/* The cost of the assignment on the model as it was read. */
static void check_assignment(const graphical_model *m, const run *r) {
    int permitted = 1;
    int64_t cost = 0;
    double real = 0;
    graphical_cost(m, r->value, &permitted, &cost, &real);
    assert_true(permitted);
    if (m->type == GPUOPT_COST_INT64) assert_true(cost == r->assignment.cost);
    else assert_true(fabs(real - r->assignment.value) <= 1e-9 * fabs(real));
}

static void run_known(gpuopt_elimination_semiring semiring, const char *what) {
    test_host host;
    gpuopt_context *context;
    int k, left_out = 0, wanted = 0;
    if (!test_data_root("real models")) skip();
    context = test_context(&host);
    for (k = 0; k < KNOWN; k++) {
        int where = semiring == GPUOPT_SEMIRING_MIN_COUNT ? known[k].counts : known[k].exact;
        graphical_model m;
        run r;
        wanted += where != NOWHERE;
        if (!runs_here(where)) {
            left_out += where != NOWHERE;
            continue;
        }
        load(known[k].file, &m);
        r = solve(context, &host, desc_of(&m, semiring), NULL, known[k].file, what);
        assert_int_equal(r.info.outcome, GPUOPT_OPTIMAL);
        assert_int_equal(r.info.cost, known[k].optimum);
        if (semiring == GPUOPT_SEMIRING_MIN_COUNT)
            assert_true(r.info.count == known[k].count && !r.info.count_overflow);
        assert_int_equal(r.assignment.outcome, GPUOPT_OPTIMAL);
        assert_int_equal(r.assignment.cost, known[k].optimum);
        check_assignment(&m, &r);
        free(r.value);
        graphical_free(&m);
    }
    if (left_out)
        printf("SKIPPED: %d of %d models (%s): too large for the time of a test on backend %s\n", left_out, wanted,
               what, test_backend_name);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static void optima(void **state) {
    (void)state;
    run_known(GPUOPT_SEMIRING_MIN_SUM, "min");
}

static void counts(void **state) {
    (void)state;
    run_known(GPUOPT_SEMIRING_MIN_COUNT, "count");
}

/* ---- Small models of odd kinds ---- */

/* A line of expected.csv: FILE,LB=N UB=N count=N, or INF for the bounds, or an error. */
static void check_edge(gpuopt_context *context, const test_host *host, const char *line) {
    char file[64], path[96], bound[32];
    unsigned long long count;
    graphical_model m;
    run r;
    if (sscanf(line, "%63[^,],LB=%31[^ ] UB=%*s count=%llu", file, bound, &count) != 3) return;
    snprintf(path, sizeof path, "edge/%s", file);
    load(path, &m);
    r = solve(context, host, desc_of(&m, GPUOPT_SEMIRING_MIN_COUNT), NULL, path, "count");
    assert_true(r.info.count == count && !r.info.count_overflow);
    if (strcmp(bound, "INF") == 0) {
        assert_int_equal(r.info.outcome, GPUOPT_INFEASIBLE);
        assert_int_equal(r.assignment.outcome, GPUOPT_INFEASIBLE);
    } else {
        assert_int_equal(r.info.outcome, GPUOPT_OPTIMAL);
        assert_int_equal(r.info.cost, atoll(bound));
        assert_int_equal(r.assignment.cost, atoll(bound));
        check_assignment(&m, &r);
    }
    free(r.value);
    graphical_free(&m);
}

static void edges(void **state) {
    test_host host;
    gpuopt_context *context;
    const char *path = test_data("wcsp/edge/expected.csv");
    char line[512];
    int lines = 0;
    FILE *file;
    (void)state;
    if (!test_data_root("models of odd kinds")) skip();
    file = path ? fopen(path, "r") : NULL;
    assert_non_null(file);
    context = test_context(&host);
    while (fgets(line, sizeof line, file)) {
        check_edge(context, &host, line);
        lines++;
    }
    assert_true(lines >= 12);
    fclose(file);
    gpuopt_context_destroy(context);
}

/* ---- Partition functions ---- */

/* The reference has six digits after the point. */
static void sums(void **state) {
    static const struct {
        const char *file;
        int sign; /* 1: ln Z; -1: the most probable assignment, as a cost */
        double answer;
    } sum[] = {{"small/network.uai", 1, 375.791166},
               {"pedigree/pedigree1.uai", 1, -32.482958},
               {"edge/tiny_zero.uai", 1, -691.691818630},
               {"pedigree/pedigree1.uai", -1, 104.955409}};
    test_host host;
    gpuopt_context *context;
    size_t k;
    (void)state;
    if (!test_data_root("partition functions")) skip();
    context = test_context(&host);
    for (k = 0; k < sizeof sum / sizeof *sum; k++) {
        graphical_model m;
        run r;
        load(sum[k].file, &m);
        graphical_take_logs(&m, sum[k].sign);
        r = solve(context, &host, desc_of(&m, sum[k].sign > 0 ? GPUOPT_SEMIRING_LOG_SUM_EXP : GPUOPT_SEMIRING_MIN_SUM),
                  NULL, sum[k].file, sum[k].sign > 0 ? "ln Z" : "map");
        assert_int_equal(r.info.outcome, GPUOPT_OPTIMAL);
        if (fabs(r.info.value - sum[k].answer) > 1e-6) fail_msg("%.9f, not %.9f", r.info.value, sum[k].answer);
        if (sum[k].sign < 0) check_assignment(&m, &r);
        free(r.value);
        graphical_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* With one variable as evidence, the partition functions for all of its values add up to the whole one. */
static void conditions(void **state) {
    test_host host;
    gpuopt_context *context;
    graphical_model m;
    int32_t variable;
    (void)state;
    if (!test_data_root("conditioned partition functions")) skip();
    context = test_context(&host);
    load("pedigree/pedigree1.uai", &m);
    graphical_take_logs(&m, 1);
    for (variable = 0; variable < m.variables; variable += 97) {
        double total = -HUGE_VAL;
        int32_t value;
        for (value = 0; value < m.domain[variable]; value++) {
            gpuopt_elimination_desc desc = desc_of(&m, GPUOPT_SEMIRING_LOG_SUM_EXP);
            double larger;
            run r;
            desc.evidence = &variable;
            desc.evidence_count = 1;
            r = solve(context, &host, desc, &value, "pedigree/pedigree1.uai", "ln Z | x");
            free(r.value);
            if (r.info.outcome == GPUOPT_INFEASIBLE) continue;
            larger = fmax(total, r.info.value);
            total = larger + log(exp(total - larger) + exp(r.info.value - larger));
        }
        assert_true(fabs(total - -32.482958) <= 1e-6);
    }
    graphical_free(&m);
    gpuopt_context_destroy(context);
}

/* ---- Bounds ---- */

/* At most the optimum, at least `least`: half of the published result with the same z, for another order. */
static void bounds(void **state) {
    static const struct {
        const char *file;
        int32_t z;
        int64_t least, optimum;
    } bound[] = {{"spot5/54.wcsp", 5, 15, 37},
                 {"spot5/54.wcsp", 10, 18, 37},
                 {"spot5/503.wcsp", 5, 3500, 11113},
                 {"spot5/503.wcsp", 10, 5500, 11113},
                 {"spot5/29.wcsp", 3, 3500, 8059},
                 {"spot5/29.wcsp", 10, 4000, 8059},
                 {"spot5/404.wcsp", 5, 38, 114},
                 {"spot5/404.wcsp", 10, 53, 114},
                 {"spot5/42b.wcsp", 3, 29000, 155050},
                 {"spot5/42b.wcsp", 6, 47500, 155050},
                 {"spot5/505b.wcsp", 6, 5500, 21251},
                 {"spot5/505b.wcsp", 10, 7600, 21251},
                 {"spot5/408b.wcsp", 8, 2500, 6225},
                 {"spot5/tb2_505.wcsp", 8, 1, 21253},
                 {"celar/CELAR6-SUB0.wcsp", 4, 1, 159},
                 {"celar/CELAR6-SUB1-24.wcsp", 3, 1, 2656},
                 {"coloring/queen5-5-4.wcsp", 10, 1, 12},
                 {"iscas89/c432.wcsp", 12, 10, 101},
                 {"small/example.wcsp", 4, 1, 27}};
    test_host host;
    gpuopt_context *context;
    size_t k;
    (void)state;
    if (!test_data_root("bounds of real models")) skip();
    context = test_context(&host);
    for (k = 0; k < sizeof bound / sizeof *bound; k++) {
        gpuopt_elimination_desc desc;
        graphical_model m;
        char what[32];
        run r;
        load(bound[k].file, &m);
        desc = desc_of(&m, GPUOPT_SEMIRING_MIN_SUM);
        desc.policy = GPUOPT_POLICY_MINI_BUCKET;
        desc.z = bound[k].z;
        snprintf(what, sizeof what, "z = %d", (int)bound[k].z);
        r = solve(context, &host, desc, NULL, bound[k].file, what);
        printf("    %lld <= %lld <= %lld\n", (long long)r.info.cost, (long long)bound[k].optimum,
               r.assignment.outcome == GPUOPT_INFEASIBLE ? -1 : (long long)r.assignment.cost);
        assert_int_equal(r.info.outcome, r.info.cost < bound[k].optimum ? GPUOPT_CONVERGED : r.info.outcome);
        assert_true(r.info.cost >= bound[k].least && r.info.cost <= bound[k].optimum);
        if (r.assignment.outcome != GPUOPT_INFEASIBLE) {
            assert_true(r.assignment.cost >= bound[k].optimum);
            check_assignment(&m, &r);
        }
        free(r.value);
        graphical_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(optima), cmocka_unit_test(counts),     cmocka_unit_test(edges),
    cmocka_unit_test(sums),   cmocka_unit_test(conditions), cmocka_unit_test(bounds),
};
TEST_MAIN(tests)
