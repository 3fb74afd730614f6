/* SPDX-License-Identifier: MIT
 *
 * Bases, solutions and proofs in host and in device memory: the same bytes, and without device memory a refusal that
 * changes nothing.
 */
#include <string.h>

#include "tests/simplex/answer.h"

enum { ROWS = 3, COLS = 4, BOTH = ROWS + COLS, MOST = BOTH * sizeof(double) };

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* kind 0: optimal, 1: infeasible, 2: unbounded, 3: infeasible since bounds cross. */
static mip model(int kind) {
    static const double a[] = {1, 2, 0, 1, 3, 1, 1, 0, 0, 1, -1, 2}, cost[] = {-1, -2, 1, -3};
    double rhs[] = {4, 9, 3}, lhs[] = {-no_bound, -no_bound, -no_bound}, ub[] = {5, 5, 5, 5};
    if (kind == 1) lhs[0] = rhs[0] = 100;
    if (kind == 2) ub[3] = rhs[0] = rhs[2] = no_bound;
    if (kind == 3) ub[2] = -1;
    return model_of(ROWS, COLS, a, cost, lhs, rhs, NULL, ub);
}

/* The vectors that a handle returns, by number; the status of the call. */
enum { VECTORS = 7 };
static gpuopt_status get(gpuopt_simplex *s, int vector, gpuopt_memory_space where, void *to) {
    switch (vector) {
    case 0: return gpuopt_simplex_get_basis(s, where, to);
    case 1:
        return gpuopt_simplex_get_solution(
            s, where, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = to});
    case 2:
        return gpuopt_simplex_get_solution(
            s, where, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .reduced_cost = to});
    case 3:
        return gpuopt_simplex_get_solution(
            s, where, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .activity = to});
    case 4:
        return gpuopt_simplex_get_solution(
            s, where, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .dual = to});
    case 5:
        return gpuopt_simplex_get_proof(
            s, where, &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas = to});
    default:
        return gpuopt_simplex_get_proof(
            s, where, &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .ray = to});
    }
}

static void check_refused(gpuopt_simplex *s, test_host *host, gpuopt_memory_space where, gpuopt_status expected) {
    static const char *const calls[VECTORS] = {"get_basis",    "get_solution", "get_solution", "get_solution",
                                               "get_solution", "get_proof",    "get_proof"};
    unsigned char found[MOST], painted[MOST];
    int k;
    memset(painted, 0x55, sizeof painted);
    for (k = 0; k < VECTORS; k++) {
        memcpy(found, painted, sizeof found);
        host->error[0] = 0;
        assert_int_equal(get(s, k, where, found), expected);
        assert_memory_equal(found, painted, sizeof found);
        assert_non_null(strstr(host->error, calls[k]));
    }
    assert_int_equal(gpuopt_simplex_set_basis(s, where, painted), expected);
    assert_non_null(strstr(host->error, "set_basis"));
}

/* All results, in device memory and in host memory; a wrong outcome is refused alike. */
static void check_same(gpuopt_simplex *s) {
    unsigned char *device = test_device_allocate(MOST);
    int k;
    for (k = 0; k < VECTORS; k++) {
        unsigned char here[MOST], there[MOST];
        gpuopt_status status;
        memset(here, 0x55, sizeof here);
        test_device_copy(device, here, MOST);
        status = get(s, k, GPUOPT_HOST, here);
        assert_int_equal(get(s, k, GPUOPT_DEVICE, device), status);
        test_device_copy(there, device, MOST);
        assert_memory_equal(here, there, MOST);
    }
    test_device_release(device);
}

/* A basis from device memory is checked, and has the same effect as from host memory. */
static void check_set_basis(gpuopt_context *context, const gpuopt_simplex_desc *desc, const mip *m,
                            const uint8_t *basis) {
    gpuopt_simplex *one = simplex_create(context, desc), *other = simplex_create(context, desc);
    uint8_t bad[BOTH], *device = test_device_allocate(BOTH);
    answer a, b;
    memcpy(bad, basis, sizeof bad);
    bad[COLS - 1] = 9;
    test_device_copy(device, bad, BOTH);
    assert_int_equal(gpuopt_simplex_set_basis(other, GPUOPT_DEVICE, device), GPUOPT_ERROR_ARGUMENT);
    test_device_copy(device, basis, BOTH);
    must(gpuopt_simplex_set_basis(one, GPUOPT_HOST, basis));
    must(gpuopt_simplex_set_basis(other, GPUOPT_DEVICE, device));
    a = answer_get(one, m);
    b = answer_get(other, m);
    assert_true(answer_equal(m, &a, &b));
    answer_free(&a);
    answer_free(&b);
    gpuopt_simplex_destroy(one);
    gpuopt_simplex_destroy(other);
    test_device_release(device);
}

static void host_or_device(void **state) {
    static const gpuopt_outcome outcomes[] = {GPUOPT_OPTIMAL, GPUOPT_INFEASIBLE, GPUOPT_UNBOUNDED, GPUOPT_INFEASIBLE};
    test_host host;
    gpuopt_context *context = test_context(&host);
    int kind, variant;
    (void)state;
    for (kind = 0; kind < 4; kind++)
        for (variant = 0; variant < 6; variant++) {
            mip m = model(kind);
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex *simplex;
            answer before, after;
            variant_set(&desc, variant);
            simplex = simplex_create(context, &desc);
            assert_int_equal(simplex_iterate(simplex, 100).outcome, outcomes[kind]);
            before = answer_get(simplex, &m);
            check_refused(simplex, &host, (gpuopt_memory_space)2, GPUOPT_ERROR_ARGUMENT);
            if (test_on("cuda")) {
                long allocations = host.allocations;
                check_same(simplex);
                assert_int_equal(host.allocations, allocations);
                check_set_basis(context, &desc, &m, before.basis);
            } else {
                check_refused(simplex, &host, GPUOPT_DEVICE, GPUOPT_ERROR_UNSUPPORTED);
            }
            after = answer_get(simplex, &m);
            assert_true(answer_equal(&m, &before, &after));
            answer_free(&before);
            answer_free(&after);
            gpuopt_simplex_destroy(simplex);
            mip_free(&m);
        }
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(host_or_device),
};
TEST_MAIN(tests)
