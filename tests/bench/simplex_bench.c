/* SPDX-License-Identifier: MIT
 *
 * Times the simplex method, and CLP on the same data in the same program.
 *     simplex_bench BACKEND,... [options]      BACKEND: cpu (one thread) or cuda
 *       --models LIST   of names as mip_load knows them, or of files in GPUOPT_TEST_DATA as FOLDER/NAME or NAME
 *       --only LIST     of "tableau devex", ...: see the table below; "revised dual" is the dual method (CPU)
 *       --clp on|off|both  CLP's primal simplex method; its dual method if that exceeds the limit (on), or always
 *       --ratio TEST    harris, expand or textbook (harris)
 *       --limit S       limit of each in seconds, for CLP of processor time, which it checks rarely (60)
 *       --deferred K    of the ways that apply several pivots at once (the library chooses)
 *       --repeat N      the run with the median of the seconds of N; only one run if it takes over 30 s (1)
 *       --pages KIND    of the matrix in host memory: pageable, or locked (with CUDA)
 * Seconds are for create, with a separate column in ms, and for the iterations until the outcome is known, without
 * reading the model. us/it counts the iterations only, with bound flips, phase 1 and rebuilds. Violations are absolute,
 * on the model as it was read, in long double. TB/s (tableau only): the bytes that an iteration on dense data must
 * move, divided by us/it; a copy on an H200 moves 4.28. An immediate pivot reads and writes the tableau, 16 rows cols
 * bytes. A deferred pivot moves a K-th of that, and reads the collected pivots, on average K / 2 columns and rows.
 * Immediate pivots skip columns without an entry in the pivot row, so on sparse models the figure exceeds the moved
 * bytes. Every backend first solves a small model in each of the ways, so that no figure contains making a CUDA context
 * or loading its kernels. On the largest model the number of iterations is limited: to 3000, and to 300 immediate ones.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/common.h"
#include "tests/bench/simplex_run.h"
#include "tests/support/support.h"
#ifdef TEST_WITH_CUDA
#include <cuda_runtime.h>
#endif

static const char default_models[] =
    "shah:1000:1,shah:2000:1,plant:750:3750:.04:1,meyer:1250:6250:.04:1,meyer:2500:12500:.04:1,meyer:5000:25000:.04:1,"
    "netlib/qap12,netlib/dfl001,netlib/stocfor3,netlib/maros-r7,netlib/pilot,netlib/greenbea,netlib/d2q06c,"
    "netlib/25fv47,netlib/fit2d,netlib/80bau3b,netlib/truss,netlib/woodw,netlib/degen3,kennington/osa-07,"
    "kennington/ken-07,kennington/pds-02,kennington/cre-a";
static const char default_variants[] = "tableau devex,tableau steepest-edge,revised devex,revised steepest-edge";

static const char *const variant_names[] = {"tableau devex",
                                            "tableau devex immediate",
                                            "tableau dantzig",
                                            "tableau steepest-edge",
                                            "revised devex",
                                            "revised dantzig",
                                            "revised steepest-edge",
                                            "revised dual",
                                            NULL};
static const struct {
    gpuopt_simplex_method method;
    gpuopt_simplex_pricing pricing;
    int32_t deferred_pivots;
    gpuopt_simplex_algorithm algorithm;
} variants[] = {
    {GPUOPT_METHOD_TABLEAU, GPUOPT_PRICING_DEVEX, 0, GPUOPT_ALGORITHM_PRIMAL},
    {GPUOPT_METHOD_TABLEAU, GPUOPT_PRICING_DEVEX, 1, GPUOPT_ALGORITHM_PRIMAL},
    {GPUOPT_METHOD_TABLEAU, GPUOPT_PRICING_DANTZIG, 0, GPUOPT_ALGORITHM_PRIMAL},
    {GPUOPT_METHOD_TABLEAU, GPUOPT_PRICING_STEEPEST_EDGE, 1, GPUOPT_ALGORITHM_PRIMAL},
    {GPUOPT_METHOD_REVISED, GPUOPT_PRICING_DEVEX, 0, GPUOPT_ALGORITHM_PRIMAL},
    {GPUOPT_METHOD_REVISED, GPUOPT_PRICING_DANTZIG, 0, GPUOPT_ALGORITHM_PRIMAL},
    {GPUOPT_METHOD_REVISED, GPUOPT_PRICING_STEEPEST_EDGE, 0, GPUOPT_ALGORITHM_PRIMAL},
    {GPUOPT_METHOD_REVISED, GPUOPT_PRICING_DEVEX, 0, GPUOPT_ALGORITHM_DUAL},
};

enum { NAME = 256, MOST_REPEATS = 64 };
enum { CLP_OFF, CLP_ON, CLP_BOTH };

typedef struct options {
    const char *backends, *models, *only;
    int clp, locked, ratio;
    int64_t limit, repeat, deferred;
} options;

/* The next of the words between commas; 0: that was the last. */
static int next_word(const char **at, char *word) {
    size_t length = strcspn(*at, ",");
    if (!**at) return 0;
    snprintf(word, NAME, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return 1;
}

/* ---- The table ---- */

static void print_number(const char *format, int width, double value) {
    if (isnan(value)) printf(" %*s", width, "-");
    else printf(format, width, value);
}

static void print_head(void) {
    printf("%-24s %6s %6s %8s  %-32s %-10s %18s %10s %10s %9s %9s %8s %8s %6s\n", "model", "rows", "cols", "nonzeros",
           "who", "status", "objective", "iterations", "seconds", "create ms", "us/it", "primal", "dual", "TB/s");
}

static void print_line(const char *name, const mip *model, const figures *f) {
    double each = f->iterating / (double)f->iterations;
    if (f->iterations <= 0) each = NAN;
    printf("%-24s %6d %6d %8lld  %-32s %-10s", name, (int)model->columns.rows, (int)model->columns.cols,
           (long long)mip_nonzeros(model), f->who, f->status);
    print_number(" %*.12g", 18, f->objective);
    print_number(" %*.0f", 10, f->iterations < 0 ? NAN : (double)f->iterations);
    print_number(" %*.4f", 10, f->seconds);
    print_number(" %*.3f", 9, f->seconds > f->iterating ? 1e3 * (f->seconds - f->iterating) : NAN);
    print_number(" %*.2f", 9, 1e6 * each);
    print_number(" %*.1e", 8, f->primal);
    print_number(" %*.1e", 8, f->dual);
    print_number(" %*.3f", 6, f->bytes / each * 1e-12);
    printf("\n");
    fflush(stdout);
}

/* ---- Models ---- */

static int by_seconds(const void *a, const void *b) {
    double x = ((const figures *)a)->seconds, y = ((const figures *)b)->seconds;
    return (x > y) - (x < y);
}

static figures median_of(figures (*run)(const void *), const void *of, int64_t repeat) {
    figures f[MOST_REPEATS];
    double all = 0;
    int count = 0;
    do {
        f[count] = run(of);
        all += f[count].seconds;
    } while (++count < repeat && all < 30); /* which NaN, a failure, is not */
    qsort(f, (size_t)count, sizeof *f, by_seconds);
    return f[count / 2];
}

/* Iterations; 0: to the end. */
static int64_t cap_of(const char *model, int immediate) {
    if (strncmp(model, "meyer:5000:", 11)) return 0;
    return immediate ? 300 : 3000;
}

/* Completes the name of a file of GPUOPT_TEST_DATA. */
static int load(char *name, mip *model) {
    static const char *const folders[] = {"", "netlib/", "kennington/", "lp_large/"};
    char file[NAME + 32], error[1024];
    const char *path = NULL;
    size_t k;
    for (k = 0; k < sizeof folders / sizeof *folders && !path && !strchr(name, ':'); k++) {
        snprintf(file, sizeof file, "%s%s.mps.xz", folders[k], name);
        path = test_data(file);
    }
    if (path) snprintf(name, NAME, "%.*s", (int)strlen(file) - 7, file);
    if (mip_load(path ? path : name, model, error, sizeof error) == 0) {
        if (mip_columns(model) == 0) return 0;
        snprintf(error, sizeof error, "%s: out of memory", name);
        mip_free(model);
    }
    fprintf(stderr, "%s\n", error);
    return -1;
}

static void measure_clp(const char *name, const mip *model, const options *o) {
    clp_job j = {model, 0, cap_of(name, 0), (double)o->limit};
    figures f = median_of(clp_run, &j, o->repeat);
    print_line(name, model, &f);
    if (j.cap || (o->clp == CLP_ON && strcmp(f.status, "over limit"))) return;
    j.dual = 1;
    f = median_of(clp_run, &j, o->repeat);
    print_line(name, model, &f);
}

typedef struct machine {
    gpuopt_context *context;
    char backend[NAME];
} machine;

/* In all the ways asked for. */
static void measure(const char *name, const mip *model, const machine *on, const options *o, int warming) {
    const char *at = o->only;
    char word[NAME];
    while (next_word(&at, word)) {
        int variant = choice(word, variant_names);
        int32_t deferred = variants[variant].deferred_pivots;
        simplex_job j = {.context = on->context,
                         .backend = on->backend,
                         .name = word,
                         .model = model,
                         .method = variants[variant].method,
                         .algorithm = variants[variant].algorithm,
                         .pricing = variants[variant].pricing,
                         .ratio = (gpuopt_simplex_ratio)o->ratio,
                         .deferred = deferred ? deferred : (int32_t)o->deferred,
                         .warming = warming,
                         .limit = (double)o->limit,
                         .cap = cap_of(name, deferred == 1)};
        figures f = median_of(simplex_run, &j, warming ? 1 : o->repeat);
        if (!warming) print_line(name, model, &f);
    }
}

/* Locks the pages of the matrix, or unlocks them. */
static void lock_pages(const mip *model, int lock) {
#ifdef TEST_WITH_CUDA
    int32_t *index = (int32_t *)model->columns.index;
    double *value = (double *)model->columns.value;
    size_t entries = (size_t)model->columns.start[model->matrix.cols];
    int failed = lock ? cudaHostRegister(index, sizeof *index * entries, cudaHostRegisterDefault) ||
                            cudaHostRegister(value, sizeof *value * entries, cudaHostRegisterDefault)
                      : cudaHostUnregister(index) || cudaHostUnregister(value);
    if (failed) fprintf(stderr, "simplex_bench: pages cannot be locked\n"), exit(1);
#else
    (void)model, (void)lock;
    fprintf(stderr, "simplex_bench: locking pages takes CUDA\n"), exit(1);
#endif
}

static int measure_model(const char *asked, const machine *machines, int count, const options *o) {
    char name[NAME];
    mip model;
    figures f = figures_of("(reading)");
    double start = now();
    int k;
    snprintf(name, sizeof name, "%s", asked);
    if (load(name, &model)) return -1;
    f.seconds = now() - start;
    print_line(name, &model, &f);
    if (o->locked) lock_pages(&model, 1);
    for (k = 0; k < count; k++) measure(name, &model, &machines[k], o, 0);
    if (o->locked) lock_pages(&model, 0);
    if (o->clp != CLP_OFF) measure_clp(name, &model, o);
    for (k = 0; recorded_result(name, k, &f); k++) print_line(name, &model, &f);
    mip_free(&model);
    return 0;
}

/* ---- Running ---- */

/* Returns 0, or -1 if the text is invalid. */
static int parse(int argc, char **argv, options *o) {
    static const char *const switches[] = {"off", "on", "both", NULL}, *const pages[] = {"pageable", "locked", NULL};
    static const char *const ratios[] = {"harris", "expand", "textbook", NULL}; /* as gpuopt_simplex_ratio */
    const char *at;
    char word[NAME];
    int k, good = argc > 1 && argv[1][0] != '-';
    *o = (options){argc > 1 ? argv[1] : "", default_models, default_variants, CLP_ON, 0, 0, 60, 1, 0};
    for (k = 2; k < argc && good; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--models") == 0) good = *(o->models = value) != 0;
        else if (strcmp(argv[k], "--only") == 0) good = *(o->only = value) != 0;
        else if (strcmp(argv[k], "--clp") == 0) good = (o->clp = choice(value, switches)) >= 0;
        else if (strcmp(argv[k], "--pages") == 0) good = (o->locked = choice(value, pages)) >= 0;
        else if (strcmp(argv[k], "--ratio") == 0) good = (o->ratio = choice(value, ratios)) >= 0;
        else if (strcmp(argv[k], "--limit") == 0) good = whole_number(value, 1000000, &o->limit);
        else if (strcmp(argv[k], "--deferred") == 0) good = whole_number(value, 256, &o->deferred);
        else if (strcmp(argv[k], "--repeat") == 0) good = whole_number(value, MOST_REPEATS, &o->repeat);
        else good = 0;
    }
    for (at = o->only; good && next_word(&at, word);) good = choice(word, variant_names) >= 0;
    return good ? 0 : -1;
}

/* A context, warm. */
static int start_machine(const options *o, log_printer *printer, machine *m) {
    char small[NAME] = "plant:100:500:.1:1";
    const char *name;
    mip model;
    int failed;
    /* Loads every kernel with the context: otherwise they are loaded at their first use. */
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    if (strcmp(m->backend, "auto") == 0 || choice(m->backend, backends) < 0 ||
        open_context(m->backend, 0, 1, printer, &m->context, &name)) {
        fprintf(stderr, "simplex_bench: no backend %s here\n", m->backend);
        return -1;
    }
    failed = load(small, &model);
    if (failed) return failed;
    measure(small, &model, m, o, 1);
    mip_free(&model);
    return 0;
}

int main(int argc, char **argv) {
    options o;
    machine machines[4];
    log_printer printer = {"simplex_bench", 0};
    const char *at;
    char word[NAME];
    int count = 0, failed = 0;
    if (parse(argc, argv, &o)) {
        fprintf(stderr, "simplex_bench BACKEND,... [--models LIST] [--only LIST] [--clp on|off|both] [--limit S] "
                        "[--ratio harris|expand|textbook] [--deferred K] [--repeat N] [--pages pageable|locked]\n");
        return EXIT_BAD_INPUT;
    }
    for (at = o.backends; count < 4 && next_word(&at, machines[count].backend); count++)
        if (start_machine(&o, &printer, &machines[count])) return EXIT_BAD_INPUT;
    print_head();
    for (at = o.models; next_word(&at, word);) failed |= measure_model(word, machines, count, &o);
    while (count-- > 0) gpuopt_context_destroy(machines[count].context);
    return failed ? EXIT_BAD_INPUT : 0;
}
