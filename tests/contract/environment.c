/* SPDX-License-Identifier: MIT
 *
 * environment.h.
 */
#include "tests/contract/environment.h"

#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

/* ---- This thread's arithmetic ---- */

static double opaque(double x) {
    volatile double same = x;
    return same;
}

int environment(void) {
    double one = opaque(1), tiny = opaque(0x1p-60), sum = one + tiny, difference = one - tiny, opposite = -one - tiny;
    int flushes = opaque(DBL_MIN) * opaque(0.5) == 0;
    return (sum > 1) + 2 * (difference < 1) + 4 * (opposite < -1) + 8 * flushes;
}

int set_environment(int kind) {
    static const int mode[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
#if defined(__SSE2__)
    _MM_SET_FLUSH_ZERO_MODE(kind == 4 ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
    _MM_SET_DENORMALS_ZERO_MODE(kind == 4 ? _MM_DENORMALS_ZERO_ON : _MM_DENORMALS_ZERO_OFF);
#else
    if (kind == 4) return 0;
#endif
    return fesetround(mode[kind]) == 0;
}

void set_environment_everywhere(int kind) {
#ifdef _OPENMP
#pragma omp parallel num_threads(8)
    set_environment(kind);
#endif
    set_environment(kind);
}

/* ---- Models ---- */

environment_models model;

void make_environment_models(void) {
    static const int32_t pair[TABLES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    uint64_t random = 7;
    int i, j, k;
    for (j = 0; j < COLS; j++) {
        model.lb[j] = -test_random(&random) * 3;
        model.ub[j] = test_random(&random) * 5 + 1e-310; /* and a subnormal part in the results */
        model.cost[j] = test_random(&random) - 0.4;
    }
    for (i = 0; i < ROWS; i++) {
        for (k = 0; k < PER_ROW; k++) {
            model.index[i * PER_ROW + k] = (int32_t)((i * 7 + k * 8) % COLS);
            model.value[i * PER_ROW + k] = (double)test_random_int(&random, 1, 999) / 333.1 - 1.2;
        }
        model.start[i + 1] = model.start[i] + PER_ROW;
        model.lhs[i] = -2 - test_random(&random);
        model.rhs[i] = 1 + test_random(&random);
    }
    for (j = 0; j < BASIS; j++) {
        for (i = 0; i < BASIS; i++) {
            model.basis_index[j * BASIS + i] = i;
            model.basis_value[j * BASIS + i] = test_random(&random) / 3 + (i == j ? 4 : 0.01);
        }
        model.basis_start[j + 1] = model.basis_start[j] + BASIS;
        model.subnormal[j] = (double)test_random_int(&random, -9, 9) * 1e-310;
        for (k = 0; k < 3; k++) model.vector[k][j] = test_random(&random) + 0.01;
    }
    for (k = 0; k < TABLES; k++) {
        memcpy(model.scope[k], pair[k], sizeof model.scope[k]);
        for (j = 0; j < DOMAIN * DOMAIN; j++) model.table[k][j] = test_random(&random) * 3;
    }
    for (i = 0; i < ITEMS; i++) {
        model.weight[i] = test_random_int(&random, 1, 100000);
        model.profit[i] = model.weight[i] + 1000;
        model.capacity += model.weight[i];
    }
    model.capacity /= 3;
}

gpuopt_propagator_desc environment_propagator(void) {
    gpuopt_propagator_desc d = GPUOPT_INIT(gpuopt_propagator_desc);
    d.matrix = (gpuopt_matrix){ROWS, COLS, model.start, model.index, model.value, GPUOPT_LAYOUT_CSR};
    d.lhs = model.lhs, d.rhs = model.rhs, d.lb = model.lb, d.ub = model.ub;
    return d;
}

gpuopt_simplex_desc environment_program(void) {
    gpuopt_simplex_desc d = GPUOPT_INIT(gpuopt_simplex_desc);
    d.matrix = (gpuopt_matrix){ROWS, COLS, model.start, model.index, model.value, GPUOPT_LAYOUT_CSR};
    d.lhs = model.lhs, d.rhs = model.rhs, d.lb = model.lb, d.ub = model.ub, d.cost = model.cost;
    d.method = GPUOPT_METHOD_TABLEAU, d.algorithm = GPUOPT_ALGORITHM_PRIMAL;
    return d;
}

/* ---- A pass ---- */

void mix(pass *p, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    while (bytes-- > 0) p->hash = (p->hash ^ *byte++) * 1099511628211u;
}

static char host_locale[64];

void environment_begin(pass *p) {
    if (!setlocale(LC_ALL, "C.UTF-8")) setlocale(LC_ALL, "");
    snprintf(host_locale, sizeof host_locale, "%s", setlocale(LC_ALL, NULL));
    set_environment_everywhere(p->kind);
    p->environment = environment();
}

void environment_end(const pass *p, gpuopt_status status) {
    int now = environment();
    set_environment(0); /* cmocka computes, too */
    assert_int_equal(status, GPUOPT_OK);
    assert_int_equal(now, p->environment);
    assert_string_equal(setlocale(LC_ALL, NULL), host_locale);
}
