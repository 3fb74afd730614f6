/* SPDX-License-Identifier: MIT
 *
 * Paper 1: propagation of one model by one technique, and the time that it takes. Each repetition has a handle of its
 * own and makes one call: a handle that has seen its bounds before has rows without changes, which it would skip.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/papers/propagation.h"

const char *const propagation_title[TECHNIQUES] = {
    [SEQUENTIAL] = "sequential",
    [PLAIN] = "Algorithm 1, 1 thread",
    [PLAIN_THREADS] = "Algorithm 1, threads",
    [ONE_THREAD] = "JACOBI, 1 thread",
    [THREADS] = "JACOBI, threads",
    [HOST] = "GPU HOST",
    [GRAPH] = "GPU GRAPH",
    [COOPERATIVE] = "GPU COOPERATIVE",
    [AUTO] = "GPU AUTO",
    [SINGLE_CPU] = "FP32, 1 thread",
    [SINGLE_GPU] = "GPU FP32",
};

/* Repetitions end when they are so many, or have taken this many seconds with the creation of their handles. */
enum { REPEATS = 5 };
static double patience(const paper *p) { return p->quick ? .05 : .15; }

static const machine *machine_of(const paper *p, technique t) {
    switch (t) {
    case SEQUENTIAL:
    case ONE_THREAD:
    case SINGLE_CPU: return p->one;
    case THREADS: return p->all;
    default: return p->gpu;
    }
}

/* The drivers evaluate all rows in every round, as the paper's do, and AUTO those that the library's default takes. */
static gpuopt_propagator_desc describe(const mip *model, technique t) {
    gpuopt_propagator_desc desc = mip_propagator_desc(model);
    desc.round_limit = LIMIT;
    if (t == SEQUENTIAL) desc.mode = GPUOPT_MODE_GAUSS_SEIDEL;
    if (t == HOST || t == SINGLE_GPU) desc.driver = GPUOPT_DRIVER_HOST;
    if (t == GRAPH) desc.driver = GPUOPT_DRIVER_GRAPH;
    if (t == COOPERATIVE) desc.driver = GPUOPT_DRIVER_COOPERATIVE;
    if (desc.driver != GPUOPT_DRIVER_AUTO) desc.marking = GPUOPT_OFF;
    if (t == SINGLE_CPU || t == SINGLE_GPU) desc.precision = GPUOPT_PRECISION_FP32;
    return desc;
}

static void stop_unless(int good, const paper *p, const char *what, gpuopt_status status) {
    if (good) return;
    fprintf(stderr, "%s: %s: %s\n", p->name, what, gpuopt_status_string(status));
    exit(EXIT_FAILED);
}

static double *take_bounds(const paper *p, int32_t cols) {
    double *memory = malloc(((size_t)cols + 1) * sizeof *memory);
    stop_unless(memory != NULL, p, "bounds", GPUOPT_ERROR_MEMORY);
    return memory;
}

static measured nothing_measured(void) {
    measured m;
    memset(&m, 0, sizeof m);
    m.seconds = NAN;
    return m;
}

/* The bounds as the library sees them. */
static void copy_bounds(const mip *model, measured *m) {
    for (int32_t j = 0; j < model->matrix.cols; j++) {
        m->lb[j] = model->lb[j] <= -1e20 ? -INFINITY : model->lb[j];
        m->ub[j] = model->ub[j] >= 1e20 ? INFINITY : model->ub[j];
    }
}

static measured run_plain(const paper *p, const mip *model, technique t) {
    plain *s = plain_new(model);
    measured m = nothing_measured();
    double times[REPEATS], start = now();
    int runs = 0;
    m.lb = take_bounds(p, model->matrix.cols);
    m.ub = take_bounds(p, model->matrix.cols);
    do {
        copy_bounds(model, &m);
        double from = now();
        m.outcome = plain_run(s, t == PLAIN ? 1 : p->threads, LIMIT, m.lb, m.ub, &m.rounds);
        times[runs++] = now() - from;
    } while (runs < REPEATS && now() - start < patience(p));
    plain_free(s);
    m.seconds = median(times, runs);
    return m;
}

/* One handle's call. Returns its seconds, or NaN if there can be no such handle. */
static double run_handle(const paper *p, const machine *on, const gpuopt_propagator_desc *desc, measured *m) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *handle = NULL;
    gpuopt_status status;
    double start;
    if ((status = gpuopt_propagator_create(on->context, desc, NULL, &handle)) != GPUOPT_OK) {
        m->refused = desc->precision == GPUOPT_PRECISION_FP32 && status == GPUOPT_ERROR_ARGUMENT;
        stop_unless(m->refused || status == GPUOPT_ERROR_UNSUPPORTED, p, "gpuopt_propagator_create", status);
        return NAN;
    }
    gpuopt_context_wait(on->context);
    start = now();
    status = gpuopt_propagator_round(handle, LIMIT, &info);
    start = now() - start;
    stop_unless(status == GPUOPT_OK, p, "gpuopt_propagator_round", status);
    status = gpuopt_propagator_get_bounds(handle, GPUOPT_HOST, 0, NULL, m->lb, m->ub);
    stop_unless(status == GPUOPT_OK, p, "gpuopt_propagator_get_bounds", status);
    gpuopt_propagator_destroy(handle);
    m->outcome = info.outcome;
    m->rounds = info.rounds;
    return start;
}

measured propagation_run(const paper *p, const mip *model, technique t) {
    machine *on = (machine *)machine_of(p, t);
    gpuopt_propagator_desc desc = describe(model, t);
    measured m = nothing_measured();
    double times[REPEATS], start = now();
    int runs = 0;
    if (t == PLAIN || t == PLAIN_THREADS) return run_plain(p, model, t);
    if (!on) return m;
    m.lb = take_bounds(p, model->matrix.cols);
    m.ub = take_bounds(p, model->matrix.cols);
    on->printer.quiet = desc.precision == GPUOPT_PRECISION_FP32; /* that coefficients are rounded is known */
    /* The first handle on a GPU loads the kernels. */
    if (on->cuda) run_handle(p, on, &desc, &m);
    do {
        times[runs] = run_handle(p, on, &desc, &m);
        if (isnan(times[runs])) break;
        runs++;
    } while (runs < REPEATS && now() - start < patience(p));
    on->printer.quiet = 0;
    if (runs > 0) m.seconds = median(times, runs);
    else propagation_drop(&m);
    return m;
}

void propagation_drop(measured *m) {
    free(m->lb);
    free(m->ub);
    m->lb = m->ub = NULL;
}

double propagation_quiet(const machine *on, const mip *model) {
    gpuopt_propagator_desc desc = describe(model, HOST);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    gpuopt_propagator *handle = NULL;
    double seconds = NAN;
    int rounds = on && on->cuda ? 50 : 3, k;
    if (!on || gpuopt_propagator_create(on->context, &desc, NULL, &handle)) return NAN;
    if (gpuopt_propagator_round(handle, LIMIT, &info) == GPUOPT_OK && info.outcome == GPUOPT_CONVERGED) {
        double start = now();
        for (k = 0; k < rounds; k++) gpuopt_propagator_round(handle, 1, NULL);
        gpuopt_context_wait(on->context);
        seconds = (now() - start) / rounds;
    }
    gpuopt_propagator_destroy(handle);
    return seconds;
}

static int is_close(double a, double b, double absolute) {
    if (isinf(a) || isinf(b)) return a == b;
    return fabs(a - b) <= absolute + 1e-5 * fabs(b);
}

int propagation_close(const measured *a, const measured *b, double absolute, int32_t cols, const int32_t *place) {
    for (int32_t j = 0; j < cols; j++) {
        int32_t at = place ? place[j] : j;
        if (!is_close(a->lb[j], b->lb[at], absolute) || !is_close(a->ub[j], b->ub[at], absolute)) return 0;
    }
    return 1;
}
