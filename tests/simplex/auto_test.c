/* SPDX-License-Identifier: MIT
 *
 * Methods and algorithms that the library chooses: the choice, the known optimum, and parts of iterations by hand.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "tests/simplex/answer.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* A default handle uses `method`. Its memory equals the plan's and the memory of a handle that requests the method; and
 * it finds the optimum. */
static void takes(test_host *host, gpuopt_context *context, gpuopt_simplex_desc desc, gpuopt_simplex_method method,
                  double optimum) {
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan), by_name = GPUOPT_INIT(gpuopt_memory_plan);
    const uint64_t before = host->bytes[GPUOPT_HOST], on_device = host->bytes[GPUOPT_DEVICE];
    gpuopt_simplex *s;
    gpuopt_simplex_info info;
    assert_int_equal(desc.method, GPUOPT_METHOD_AUTO);
    must(gpuopt_simplex_create(context, &desc, &plan, &s));
    assert_true(host->bytes[GPUOPT_HOST] - before == plan.host_bytes);
    assert_true(host->bytes[GPUOPT_DEVICE] - on_device == plan.device_bytes);
    assert_int_equal(simplex_info(s).method, method);
    assert_int_equal(simplex_info(s).algorithm, GPUOPT_ALGORITHM_AUTO);
    info = simplex_iterate(s, 1000000);
    assert_int_equal(info.outcome, GPUOPT_OPTIMAL);
    assert_true(fabs(info.objective - optimum) <= 1e-9 * fmax(1, fabs(optimum)));
    gpuopt_simplex_destroy(s);
    desc.method = method;
    must(gpuopt_simplex_create(context, &desc, &by_name, NULL));
    assert_memory_equal(&plan, &by_name, sizeof plan);
    desc.method = method == GPUOPT_METHOD_REVISED ? GPUOPT_METHOD_TABLEAU : GPUOPT_METHOD_REVISED;
    s = simplex_create(context, &desc); /* the other one, by name */
    assert_int_equal(simplex_info(s).method, desc.method);
    gpuopt_simplex_destroy(s);
}

/* max sum of 10 columns up to 2, of which `count` are at most 1 by a row; dense if `a` is not NULL. */
static void takes_at(test_host *host, gpuopt_context *context, int32_t count, int dense, gpuopt_simplex_method method) {
    enum { N = 10 };
    double a[N * N] = {0}, ones[N], twos[N];
    mip m;
    gpuopt_simplex_desc desc;
    int32_t k;
    for (k = 0; k < N; k++) ones[k] = 1, twos[k] = 2, a[k * N + k] = k < count;
    m = model_of(N, N, a, ones, NULL, ones, NULL, twos);
    m.maximize = 1;
    desc = mip_simplex_desc(&m);
    if (dense) desc.matrix.start = NULL, desc.dense = a;
    takes(host, context, desc, method, 2 * N - count);
    mip_free(&m);
}

/* From a tenth of nonzeros on the tableau, on the GPU from a fiftieth on. */
static void methods(void **state) {
    const gpuopt_simplex_method few = test_on("cuda") ? GPUOPT_METHOD_TABLEAU : GPUOPT_METHOD_REVISED;
    static const struct {
        const char *name;
        int level; /* 0: sparse; 1: dense for the GPU; 2: dense */
    } models[] = {{"plant:100:150:0.001:3", 0}, {"plant:60:90:0.05:2", 1}, {"plant:30:20:0.5:1", 2}};
    test_host host;
    gpuopt_context *context = test_context(&host);
    gpuopt_simplex_desc nothing = GPUOPT_INIT(gpuopt_simplex_desc);
    int dense, k;
    (void)state;
    for (dense = 0; dense < 2; dense++) {
        takes_at(&host, context, 10, dense, GPUOPT_METHOD_TABLEAU);
        takes_at(&host, context, 9, dense, few);
        takes_at(&host, context, 2, dense, few);
        takes_at(&host, context, 1, dense, GPUOPT_METHOD_REVISED);
        takes_at(&host, context, 0, dense, GPUOPT_METHOD_REVISED);
    }
    takes(&host, context, nothing, GPUOPT_METHOD_REVISED, 0);
    for (k = test_emulated() ? 1 : 0; k < 3; k++) {
        mip m = model_load(models[k].name);
        const double share = (double)mip_nonzeros(&m) / m.columns.rows / m.columns.cols;
        assert_int_equal((share >= 0.02) + (share >= 0.1), models[k].level);
        takes(&host, context, mip_simplex_desc(&m),
              models[k].level == 2   ? GPUOPT_METHOD_TABLEAU
              : models[k].level == 1 ? few
                                     : GPUOPT_METHOD_REVISED,
              m.optimum);
        mip_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Children of a default handle: if its method does not support them, the log names the method that does. */
static void children(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    mip m = model_load("plant:10:12:0.5:1");
    gpuopt_simplex_desc desc = mip_simplex_desc(&m);
    gpuopt_simplex_children_desc children = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_simplex *root = simplex_create(context, &desc);
    gpuopt_simplex_children *batch = NULL;
    gpuopt_status status;
    (void)state;
    children.batch_size = 2;
    assert_int_equal(simplex_info(root).method, GPUOPT_METHOD_TABLEAU);
    status = gpuopt_simplex_children_create(root, &children, NULL, &batch);
    if (status) {
        assert_int_equal(status, GPUOPT_ERROR_UNSUPPORTED);
        assert_non_null(strstr(host.error, "GPUOPT_METHOD_REVISED"));
    }
    assert_true((status == GPUOPT_OK) == !test_on("cuda"));
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

/* One iteration of the primal method by its parts; 0: no variable enters. */
static int by_hand(gpuopt_simplex *s, gpuopt_simplex_entering *in, gpuopt_simplex_leaving *out) {
    must(gpuopt_simplex_price(s, in));
    if (in->variable < 0) return 0;
    must(gpuopt_simplex_ratio_test(s, in->variable, in->direction, out));
    if (out->flip) must(gpuopt_simplex_flip(s, in->variable, NULL));
    else if (out->variable < 0) return 0;
    else must(gpuopt_simplex_pivot(s, in->variable, out->variable, out->to_upper, NULL));
    return 1;
}

/* Parts of primal iterations are the same, to the bit, for a handle that is PRIMAL or chooses by itself. */
static void primal_parts(void **state) {
    static const char *const models[] = {"plant:20:30:0.4:5", "shah:12:1", "meyer:10:40:0.3:2", "plant:30:60:0.06:1"};
    gpuopt_context *context = test_context(NULL);
    int k, steps = 0;
    (void)state;
    for (k = 0; k < 8; k++) {
        mip m = model_load(models[k / 2]);
        gpuopt_simplex_desc desc = mip_simplex_desc(&m);
        gpuopt_simplex *chooses, *primal;
        answer one, other;
        int more = 1, step;
        desc.method = k % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        chooses = simplex_create(context, &desc);
        desc.algorithm = GPUOPT_ALGORITHM_PRIMAL;
        primal = simplex_create(context, &desc);
        for (step = 0; step < 1000 && more; step++) {
            gpuopt_simplex_entering in[2] = {GPUOPT_INIT(gpuopt_simplex_entering),
                                             GPUOPT_INIT(gpuopt_simplex_entering)};
            gpuopt_simplex_leaving out[2] = {GPUOPT_INIT(gpuopt_simplex_leaving), GPUOPT_INIT(gpuopt_simplex_leaving)};
            more = by_hand(chooses, &in[0], &out[0]);
            assert_int_equal(by_hand(primal, &in[1], &out[1]), more);
            assert_memory_equal(&in[0], &in[1], sizeof *in);
            assert_memory_equal(&out[0], &out[1], sizeof *out);
            steps += more;
        }
        assert_int_equal(more, 0);
        assert_int_equal(simplex_info(chooses).algorithm, GPUOPT_ALGORITHM_AUTO);
        assert_int_equal(simplex_info(primal).algorithm, GPUOPT_ALGORITHM_PRIMAL);
        one = answer_get(chooses, &m), other = answer_get(primal, &m);
        one.info.algorithm = GPUOPT_ALGORITHM_PRIMAL;
        assert_true(answer_equal(&m, &one, &other));
        answer_free(&one), answer_free(&other);
        assert_int_equal(simplex_iterate(chooses, 1000).outcome, GPUOPT_OPTIMAL);
        if (m.optimum_known)
            assert_true(fabs(simplex_info(chooses).objective - m.optimum) <= 1e-9 * fmax(1, fabs(m.optimum)));
        gpuopt_simplex_destroy(chooses);
        gpuopt_simplex_destroy(primal);
        mip_free(&m);
    }
    assert_true(steps > 100);
    gpuopt_context_destroy(context);
}

/* min 2 x + 3 y, x + y >= 4, x + 3 y >= 6, x - y <= 1: 9.5 at (2.5, 1.5). The slack basis is dual feasible. */
static void dual_parts(void **state) {
    static const double a[] = {1, 1, 1, 3, 1, -1}, cost[] = {2, 3}, lhs[] = {4, 6, -INFINITY};
    static const double rhs[] = {INFINITY, INFINITY, 1};
    gpuopt_context *context = test_context(NULL);
    mip m = model_of(3, 2, a, cost, lhs, rhs, NULL, NULL);
    gpuopt_simplex_desc desc = mip_simplex_desc(&m);
    gpuopt_simplex *s = simplex_create(context, &desc);
    gpuopt_simplex_info info;
    int pivots = 0;
    (void)state;
    for (;; pivots++) {
        gpuopt_simplex_dual_leaving out = GPUOPT_INIT(gpuopt_simplex_dual_leaving);
        gpuopt_simplex_dual_entering in = GPUOPT_INIT(gpuopt_simplex_dual_entering);
        must(gpuopt_simplex_dual_price(s, &out));
        if (out.variable < 0) break;
        must(gpuopt_simplex_dual_ratio_test(s, out.variable, &in));
        assert_true(in.variable >= 0 && pivots < 10);
        must(gpuopt_simplex_dual_pivot(s, out.variable, in.variable, NULL));
    }
    info = simplex_iterate(s, 100);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == 9.5);
    assert_true(pivots > 0 && info.iterations == pivots && info.dual_iterations == pivots);
    gpuopt_simplex_destroy(s);
    s = simplex_create(context, &desc); /* whole iterations are the dual method's, too */
    info = simplex_iterate(s, 100);
    assert_true(info.outcome == GPUOPT_OPTIMAL && info.objective == 9.5);
    assert_true(info.dual_iterations > 0 && info.iterations == info.dual_iterations);
    gpuopt_simplex_destroy(s);
    mip_free(&m);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(methods),
    cmocka_unit_test(children),
    cmocka_unit_test(primal_parts),
    cmocka_unit_test(dual_parts),
};
TEST_MAIN(tests)
