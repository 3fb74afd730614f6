/* SPDX-License-Identifier: MIT
 *
 * Usage: propagation [--quick] [--data FOLDER] [--dat FOLDER] [--threads N]
 *
 * Paper 1: Sofranac, Gleixner, Pokutta: Accelerating Domain Propagation (2020). Propagates public and generated models
 * with every technique, checks that they agree, and prints the paper's tables and figures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/papers/propagation.h"

/* A statement that must hold in every case. */
typedef struct check {
    const char *what;
    int cases, faults;
} check;

/* Counts a case, and prints a message if it does not hold. */
static void check_case(check *c, int holds, const char *model, const char *technique) {
    c->cases++;
    if (holds) return;
    c->faults++;
    fprintf(stderr, "%s, %s: not so: %s\n", model, technique, c->what);
}

static check same_bits = {"JACOBI returns the same bits with any threads and any driver", 0, 0},
             same_bits_single = {"FP32 returns the same bits on the GPU as on the CPU", 0, 0},
             same_fixpoint = {"JACOBI ends in the fixpoint of GAUSS_SEIDEL where both converge", 0, 0},
             same_plain = {"so does Algorithm 1 without the library, up to 1e-6 + 1e-5 of a bound's size", 0, 0},
             same_permuted = {"so do models with permuted rows and columns, up to as much", 0, 0},
             feasible = {"models that have solutions are not INFEASIBLE", 0, 0},
             cascade = {"a cascade of n columns takes n rounds of JACOBI, at most 2 of GAUSS_SEIDEL", 0, 0};
static check *const checks[] = {&same_bits,     &same_bits_single, &same_fixpoint, &same_plain,
                                &same_permuted, &feasible,         &cascade};

/* Whether a run ended in the fixpoint of another one; the second may have its columns at other places. */
static agreement compare(const measured *want, const measured *got, int32_t cols, const int32_t *place) {
    if (got->refused) return REFUSED;
    if (isnan(got->seconds)) return NOT_RUN;
    if (want->outcome == GPUOPT_LIMIT || got->outcome == GPUOPT_LIMIT || got->outcome == GPUOPT_MORE) return AT_LIMIT;
    return want->outcome == got->outcome && propagation_close(want, got, 1e-8, cols, place) ? SAME : OTHER;
}

/* The same with a weaker test. Where a bound just fails to move by the least change, 1e-9, another one depends on it by
 * a large coefficient: the order of the rows decides, and the paper's test may not hold. */
static int is_near(const measured *want, const measured *got, int32_t cols, const int32_t *place) {
    return want->outcome == got->outcome && propagation_close(want, got, 1e-6, cols, place);
}

static int equal_bits(const measured *a, const measured *b, int32_t cols) {
    size_t bytes = sizeof(double) * (size_t)cols;
    return a->outcome == b->outcome && a->rounds == b->rounds && memcmp(a->lb, b->lb, bytes) == 0 &&
           memcmp(a->ub, b->ub, bytes) == 0;
}

/* The run whose bits a run must have, or itself. */
static technique model_of(technique t) {
    return t == SINGLE_GPU ? SINGLE_CPU : t >= ONE_THREAD && t <= AUTO ? ONE_THREAD : t;
}

static void run_all(const paper *p, const mip *model, trial *t) {
    const int32_t cols = model->matrix.cols;
    for (int k = 0; k < TECHNIQUES; k++) {
        measured *m = &t->of[k], *like = &t->of[model_of(k)];
        const char *title = propagation_title[k];
        *m = propagation_run(p, model, k);
        m->agreement = compare(&t->of[SEQUENTIAL], m, cols, NULL);
        if (isnan(m->seconds)) continue;
        /* FP32 rounds coefficients, which can make a model infeasible. */
        if (k < SINGLE_CPU) check_case(&feasible, m->outcome != GPUOPT_INFEASIBLE, t->name, title);
        if (like != m && !isnan(like->seconds))
            check_case(k == SINGLE_GPU ? &same_bits_single : &same_bits, equal_bits(like, m, cols), t->name, title);
        if (m->agreement == AT_LIMIT || k == SEQUENTIAL || k >= SINGLE_CPU) continue;
        if (k <= PLAIN_THREADS) check_case(&same_plain, is_near(&t->of[SEQUENTIAL], m, cols, NULL), t->name, title);
        else check_case(&same_fixpoint, m->agreement == SAME, t->name, title);
    }
}

static void run_permuted(const paper *p, const mip *model, trial *t) {
    const technique by[2] = {SEQUENTIAL, AUTO};
    int32_t *place = malloc(sizeof *place * ((size_t)model->matrix.cols + 1));
    if (!place) abort();
    for (int order = 0; order < ORDERS; order++) {
        mip other = propagation_permuted(model, (uint64_t)order + 1, place);
        for (int k = 0; k < 2; k++) {
            const measured *own = &t->of[SEQUENTIAL];
            measured m = propagation_run(p, &other, by[k]);
            agreement a = compare(own, &m, model->matrix.cols, place);
            t->permuted[k][order] = m.seconds / t->of[by[k]].seconds;
            t->permuted_agreement[k][order] = a;
            if (a == SAME || a == OTHER)
                check_case(&same_permuted, is_near(own, &m, model->matrix.cols, place), t->name,
                           propagation_title[by[k]]);
            propagation_drop(&m);
        }
        mip_free(&other);
    }
    free(place);
}

/* Reads or generates models name[0], ..., several at a time: this takes longer than to propagate them. */
static void load(const paper *p, char (*name)[NAME], mip *model, int count) {
    int k, failed = 0;
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 1) reduction(+ : failed)
    for (k = 0; k < count; k++) {
        char error[512] = "out of memory";
        if (mip_load(name[k], &model[k], error, sizeof error) || mip_rows(&model[k])) {
            fprintf(stderr, "%s: %s\n", p->name, error);
            failed++;
        }
    }
    if (failed) exit(EXIT_BAD_INPUT);
}

static void run_model(const paper *p, const char *name, const mip *model, trial *t) {
    memset(t, 0, sizeof *t);
    t->name = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    t->set = propagation_set(model);
    t->generated = strncmp(name, "gen:", 4) == 0;
    t->rows = model->matrix.rows;
    t->cols = model->matrix.cols;
    t->nonzeros = (double)mip_nonzeros(model);
    t->is_short = 1;
    for (int64_t k = 0; k < mip_nonzeros(model); k++)
        if ((double)(float)model->matrix.value[k] != model->matrix.value[k]) t->is_short = 0;
    run_all(p, model, t);
    for (int k = 0; k < ORDERS; k++) t->permuted[0][k] = t->permuted[1][k] = NAN;
    if (t->set > 0 && t->nonzeros <= 2e6) run_permuted(p, model, t);
    t->quiet = propagation_quiet(p->gpu, model);
    for (int k = 0; k < TECHNIQUES; k++) propagation_drop(&t->of[k]);
}

/* Returns the seconds of reading and generating the models. */
static double run_models(const paper *p, char (*name)[NAME], int count, trial *trials) {
    enum { BATCH = 16 };
    mip model[BATCH];
    double reading = 0;
    for (int first = 0; first < count; first += BATCH) {
        int some = count - first < BATCH ? count - first : BATCH;
        reading -= now();
        load(p, name + first, model, some);
        reading += now();
        for (int k = 0; k < some; k++) {
            run_model(p, name[first + k], &model[k], &trials[first + k]);
            mip_free(&model[k]);
        }
    }
    return reading;
}

/* The worst case of section 2.2. */
static void run_cascade(const paper *p) {
    mip model;
    char error[512];
    measured one, other;
    if (mip_load("gen:cascade,90", &model, error, sizeof error)) exit(EXIT_FAILED);
    one = propagation_run(p, &model, SEQUENTIAL);
    other = propagation_run(p, &model, ONE_THREAD);
    check_case(&cascade, one.outcome == GPUOPT_CONVERGED && one.rounds <= 2, "gen:cascade,90", "GAUSS_SEIDEL");
    check_case(&cascade, other.outcome == GPUOPT_CONVERGED && other.rounds == 90, "gen:cascade,90", "JACOBI");
    propagation_drop(&one);
    propagation_drop(&other);
    mip_free(&model);
}

/* Prints a line for each check. Returns the exit status. */
static int print_checks(void) {
    int result = 0;
    printf("\n");
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        const check *c = checks[k];
        if (c->cases == 0) printf("check: %s: no case here\n", c->what);
        else if (c->faults == 0) printf("check: %s: holds (%d cases)\n", c->what, c->cases);
        else printf("check: %s: FAILS in %d of %d cases\n", c->what, c->faults, c->cases);
        if (c->faults > 0) result = EXIT_FAILED;
    }
    return result;
}

int main(int argc, char **argv) {
    static char name[MOST_TRIALS][NAME];
    static trial trials[MOST_TRIALS];
    paper p;
    int status = paper_open(&p, argc, argv), count;
    double start = now(), reading;
    if (status) return status;
    count = propagation_models(&p, name, MOST_TRIALS);
    reading = run_models(&p, name, count, trials);
    run_cascade(&p);
    propagation_tables(&p, trials, count);
    propagation_shapes(&p);
    status = print_checks();
    printf("\n%.0f s, of which %.0f s took reading and generating the models\n", now() - start, reading);
    paper_close(&p);
    return finish_output(status);
}
