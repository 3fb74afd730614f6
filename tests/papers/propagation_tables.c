/* SPDX-License-Identifier: MIT
 *
 * Paper 1: its tables and figures, from what was measured on all models.
 */
#include <math.h>
#include <string.h>

#include "tests/papers/propagation.h"

/* The paper's Table 1: V100, TITAN; cpu_omp on the Xeon and the i7. Rows: Set-1 to Set-8, all, which are public. */
enum { PEERS = 4, PUBLIC = SETS, ALL, ROWS };
static const double paper_speedup[ROWS][PEERS] = {
    [1] = {2.35, 1.47, .04, .48},   [2] = {6.60, 2.79, .11, 1.00},    [3] = {9.08, 3.00, .19, 1.53},
    [4] = {12.93, 3.94, .30, 1.90}, [5] = {19.03, 5.71, .43, 2.24},   [6] = {25.31, 6.79, .57, 2.30},
    [7] = {33.00, 8.11, .63, 2.00}, [8] = {43.92, 10.06, 1.15, 3.05}, [PUBLIC] = {7.42, 2.98, .14, 1.10}};
static const double paper_percentile[3][PEERS] = {
    {.83, .37, .01, .20}, {7.50, 3.35, .16, 1.28}, {51.65, 14.80, 1.22, 3.91}};
static const int paper_models[ROWS] = {0, 270, 129, 98, 91, 65, 57, 40, 36, 786};
static const char *const set_range[SETS] = {"",           "[1k, 10k)",   "[10k, 20k)",   "[20k, 40k)",
                                            "[40k, 80k)", "[80k, 160k)", "[160k, 320k)", "[320k, 640k)",
                                            "[640k, ...)"};

typedef struct study {
    const paper *p;
    const trial *trials;
    int count;
} study;

/* Models whose times are compared, as in section 4.1: those of a set, all public ones, or all. */
static int is_compared(const trial *t, int set) {
    return t->set > 0 && t->of[ONE_THREAD].agreement == SAME &&
           (set == ALL || (set == PUBLIC ? !t->generated : t->set == set));
}

/* Fills value[] with f(trial, k) of the models of a set in which it is known. */
static int gather(const study *s, int set, double (*f)(const trial *t, int k), int k, double *value) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        double x = is_compared(&s->trials[i], set) ? f(&s->trials[i], k) : NAN;
        if (!isnan(x)) value[count++] = x;
    }
    return count;
}

static double geometric(const study *s, int set, double (*f)(const trial *t, int k), int k) {
    double value[MOST_TRIALS];
    int count = gather(s, set, f, k, value);
    return count ? geometric_mean(value, count) : NAN;
}

static double speedup(const trial *t, int k) { return t->of[SEQUENTIAL].seconds / t->of[k].seconds; }
static double milliseconds(const trial *t, int k) { return 1e3 * t->of[k].seconds; }

/* The first two cells of a row: the set, and the number of models whose f(trial, k) is known, "public + generated". */
static void start_row(const study *s, table *t, int set, double (*f)(const trial *t, int k), int k) {
    int count[2] = {0, 0};
    for (int i = 0; i < s->count; i++)
        if (is_compared(&s->trials[i], set) && !isnan(f(&s->trials[i], k))) count[s->trials[i].generated]++;
    if (set < PUBLIC) table_text(t, "Set-%d %s", set, set_range[set]);
    else table_text(t, set == PUBLIC ? "All, public" : "All, with generated");
    table_text(t, count[1] ? "%d + %d" : "%d", count[0], count[1]);
}

static void dashes(table *t, int count) {
    while (count-- > 0) table_text(t, "-");
}

/* The cell of an empty place if the paper has no value for this row. */
static void paper_count(table *t, int count) { table_text(t, count ? "%d" : "-", count); }
static double paper_value(double value) { return value > 0 ? value : NAN; }

/* ---- Table 1, Figure 1 ---- */

static const technique shown[] = {PLAIN, PLAIN_THREADS, ONE_THREAD, THREADS, HOST, GRAPH, COOPERATIVE, AUTO};
enum { SHOWN = sizeof shown / sizeof *shown };
#define SHOWN_TITLES                                                                                                  \
    "Algorithm 1, 1 thread|Algorithm 1, threads|JACOBI, 1 thread|JACOBI, threads|GPU HOST|GPU GRAPH|GPU COOPERATIVE|" \
    "GPU AUTO"
#define PEER_TITLES "paper: V100|paper: TITAN|paper: cpu_omp, Xeon|paper: cpu_omp, i7"

static void print_row(const study *s, table *t, int set) {
    start_row(s, t, set, milliseconds, SEQUENTIAL);
    table_number(t, geometric(s, set, milliseconds, SEQUENTIAL));
    for (int k = 0; k < SHOWN; k++) table_number(t, geometric(s, set, speedup, shown[k]));
    paper_count(t, paper_models[set]);
    for (int k = 0; k < PEERS; k++) table_number(t, paper_value(paper_speedup[set][k]));
}

/* Plain arithmetic as the baseline, as in the paper. */
static void print_over_plain(const study *s, table *t) {
    double plain = geometric(s, PUBLIC, speedup, PLAIN);
    table_text(t, "All, public: over Algorithm 1, 1 thread");
    table_text(t, "-");
    table_number(t, geometric(s, PUBLIC, milliseconds, PLAIN));
    for (int k = 0; k < SHOWN; k++) table_number(t, geometric(s, PUBLIC, speedup, shown[k]) / plain);
    dashes(t, 1 + PEERS);
}

static void print_percentile(const study *s, table *t, const char *name, double percent, const double *of_paper) {
    double value[MOST_TRIALS];
    table_text(t, "%s", name);
    dashes(t, 2);
    for (int k = 0; k < SHOWN; k++) {
        int count = gather(s, ALL, speedup, shown[k], value);
        table_number(t, count ? percentile(value, count, percent) : NAN);
    }
    dashes(t, 1);
    for (int k = 0; k < PEERS; k++) table_number(t, of_paper[k]);
}

/* In the paper V100 wins from the 7th percentile on, and the i7 from the 41st. */
static void print_wins(const study *s, table *t) {
    const double of_paper[PEERS] = {93, NAN, NAN, 59};
    double value[MOST_TRIALS];
    table_text(t, "faster, %% of models");
    dashes(t, 2);
    for (int k = 0; k < SHOWN; k++) {
        int count = gather(s, ALL, speedup, shown[k], value), wins = 0;
        for (int i = 0; i < count; i++) wins += value[i] > 1;
        table_number(t, count ? 100. * wins / count : NAN);
    }
    dashes(t, 1);
    for (int k = 0; k < PEERS; k++) table_number(t, of_paper[k]);
}

static void table_1(const study *s) {
    table t;
    char title[2048];
    snprintf(
        title, sizeof title,
        "Table 1, Figure 1a. Geometric means of speed-ups over `sequential` (GAUSS_SEIDEL, the paper's cpu_seq), in "
        "double precision; the paper's sets by rows and columns; \"2 + 3\": 2 public, 3 generated models, which "
        "percentiles include. Threads: "
        "%d. \"Algorithm 1\" is the paper's without this library, with threads its cpu_omp. HOST, GRAPH, "
        "COOPERATIVE: all rows in all rounds; AUTO: the default. Paper: gpu_atomic (HOST) on Tesla V100 PCIe and "
        "Titan RTX, cpu_omp with 24 threads of a Xeon Gold 6246 and 8 of an i7-9700K, over cpu_seq on that Xeon.",
        s->p->threads);
    table_start(&t, s->p, "paper1_table1", title,
                "set|models|baseline, ms|" SHOWN_TITLES "|paper: models|" PEER_TITLES);
    for (int set = 1; set < ROWS; set++) print_row(s, &t, set);
    print_over_plain(s, &t);
    print_percentile(s, &t, "5%", 5, paper_percentile[0]);
    print_percentile(s, &t, "50%", 50, paper_percentile[1]);
    print_percentile(s, &t, "95%", 95, paper_percentile[2]);
    print_wins(s, &t);
    table_end(&t);
}

static void figure_1b(const study *s) {
    table t;
    double value[MOST_TRIALS];
    table_start(
        &t, s->p, "paper1_fig1b",
        "Figure 1b. Speed-ups over `sequential` of all models, in ascending order: the value at each percentile. "
        "Paper: as in Table 1, which has three of them.",
        "percent of the models|" SHOWN_TITLES "|" PEER_TITLES);
    for (int percent = 0; percent <= 100; percent += 5) {
        const double *of_paper = percent == 5    ? paper_percentile[0]
                                 : percent == 50 ? paper_percentile[1]
                                 : percent == 95 ? paper_percentile[2]
                                                 : NULL;
        table_text(&t, "%d", percent);
        for (int k = 0; k < SHOWN; k++) {
            int count = gather(s, ALL, speedup, shown[k], value);
            table_number(&t, count ? percentile(value, count, percent) : NAN);
        }
        for (int k = 0; k < PEERS; k++) table_number(&t, of_paper ? of_paper[k] : NAN);
    }
    table_end(&t);
}

/* ---- Section 2.2: the price of parallelism ---- */

static double rounds(const trial *t, int k) { return t->of[k].rounds; }
static double more_rounds(const trial *t, int k) { return (double)t->of[k].rounds / t->of[SEQUENTIAL].rounds; }

static void rounds_row(const study *s, table *t, const char *name, int technique) {
    double one[MOST_TRIALS], many[MOST_TRIALS], factor[MOST_TRIALS];
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const trial *of = &s->trials[i];
        if (of->of[technique].agreement != SAME) continue;
        one[count] = rounds(of, SEQUENTIAL);
        many[count] = rounds(of, technique);
        factor[count++] = more_rounds(of, technique);
    }
    table_text(t, "%s", name);
    table_text(t, "%d", count);
    table_number(t, count ? mean(one, count) : NAN);
    table_number(t, count ? mean(many, count) : NAN);
    table_number(t, count ? mean(many, count) / mean(one, count) : NAN);
    table_number(t, count ? geometric_mean(factor, count) : NAN);
    table_number(t, count ? percentile(factor, count, 100) : NAN);
}

static void section_2_2(const study *s) {
    const double of_paper[] = {893, 3.1, 4.4, 1.4, NAN, 22};
    table t;
    table_start(
        &t, s->p, "paper1_rounds",
        "Section 2.2. Rounds of sequential and of parallel propagation, of all models, small ones too, where both "
        "end in the same fixpoint. JACOBI takes the same rounds on the CPU and on the GPU. Paper: its programs "
        "on MIPLIB 2017.",
        "parallel|models|rounds sequential|rounds parallel|quotient|geometric mean of factors|largest factor");
    rounds_row(s, &t, "JACOBI", ONE_THREAD);
    rounds_row(s, &t, "Algorithm 1, threads", PLAIN_THREADS);
    table_text(&t, "paper: gpu_atomic");
    for (int k = 0; k < 6; k++) table_number(&t, of_paper[k]);
    table_end(&t);
}

/* ---- Sections 4.1 and 4.5: fixpoints ---- */

static void print_counts(table *t, const char *name, const int count[REFUSED + 1]) {
    int all = 0;
    for (int a = SAME; a <= REFUSED; a++) all += count[a];
    table_text(t, "%s", name);
    table_text(t, all ? "%d" : "-", all);
    for (int a = SAME; a <= REFUSED; a++) table_text(t, all ? "%d" : "-", count[a]);
}

static void fixpoints_row(const study *s, table *t, const char *name, int technique) {
    int count[REFUSED + 1] = {0};
    for (int i = 0; i < s->count; i++) count[s->trials[i].of[technique].agreement]++;
    print_counts(t, name, count);
}

static void permuted_row(const study *s, table *t, const char *name, int k) {
    int count[REFUSED + 1] = {0};
    for (int i = 0; i < s->count; i++)
        for (int order = 0; order < ORDERS; order++) count[s->trials[i].permuted_agreement[k][order]]++;
    print_counts(t, name, count);
}

static void section_4_1(const study *s) {
    static const struct {
        const char *name;
        int count[REFUSED + 1];
    } of_paper[] = {{"paper: gpu_atomic", {0, 893, 64, 30}},
                    {"paper: gpu_atomic, single precision", {0, 842, 27, 118}},
                    {"paper: gpu_atomic, --use_fast_math", {0, 736, 28, 223}}};
    table t;
    table_start(
        &t, s->p, "paper1_fixpoints",
        "Sections 4.1 and 4.5. Where runs end, against the sequential one: all bounds equal up to 1e-8 + 1e-5 of "
        "their size; not all; the limit of 100 rounds. Refused: a number of the model is outside the range of "
        "single precision. With generated models. Paper: Tesla V100.",
        "runs|number|same fixpoint|other fixpoint|round limit|refused");
    fixpoints_row(s, &t, "JACOBI", ONE_THREAD);
    fixpoints_row(s, &t, "JACOBI, GPU AUTO", AUTO);
    fixpoints_row(s, &t, "JACOBI FP32", SINGLE_CPU);
    fixpoints_row(s, &t, "JACOBI FP32, GPU", SINGLE_GPU);
    fixpoints_row(s, &t, "Algorithm 1, 1 thread", PLAIN);
    fixpoints_row(s, &t, "Algorithm 1, threads", PLAIN_THREADS);
    permuted_row(s, &t, "GAUSS_SEIDEL, five orders", 0);
    permuted_row(s, &t, "JACOBI, GPU AUTO, five orders", 1);
    for (size_t k = 0; k < sizeof of_paper / sizeof *of_paper; k++) {
        print_counts(&t, of_paper[k].name, of_paper[k].count);
    }
    table_end(&t);
}

/* ---- Figures 2, 5 and 6 ---- */

/* Where single precision ends in the same fixpoint. */
static double single_speedup(const trial *t, int k) {
    return t->of[SINGLE_CPU].agreement == SAME ? speedup(t, k) : NAN;
}

static void figure_2(const study *s) {
    const technique by[] = {ONE_THREAD, SINGLE_CPU, HOST, SINGLE_GPU};
    const double of_paper[] = {7.42, 7.27, 8.54, 2.98, 3.63};
    table t;
    table_start(
        &t, s->p, "paper1_fig2",
        "Figure 2. Speed-ups over `sequential` (double precision) of double and single precision, geometric "
        "means over models with the same fixpoint in both. Single precision here: matrix and bounds; sums are double. "
        "Paper: Tesla V100 and Titan RTX.",
        "set|models|JACOBI, 1 thread|FP32, 1 thread|GPU HOST|GPU HOST, FP32|paper: V100|paper: V100, single|"
        "paper: V100, fast math|paper: TITAN|paper: TITAN, single");
    for (int set = 1; set < ROWS; set++) {
        start_row(s, &t, set, single_speedup, ONE_THREAD);
        for (int k = 0; k < 4; k++) table_number(&t, geometric(s, set, single_speedup, by[k]));
        for (int k = 0; k < 5; k++) {
            int in_table_1 = k == 0 || k == 3;
            table_number(&t, set == PUBLIC ? of_paper[k] : in_table_1 ? paper_value(paper_speedup[set][k / 3]) : NAN);
        }
    }
    table_end(&t);
}

static double order_of(const trial *t, int k) { return t->permuted[k / ORDERS][k % ORDERS]; }

static void figure_5(const study *s) {
    table t;
    table_start(
        &t, s->p, "paper1_fig5",
        "Figure 5. Time with rows and columns in five random orders, relative to their own order: geometric means "
        "over models of at most 2e6 nonzeros. Largest difference: of the six orders. Paper: Titan RTX.",
        "set|models|sequential, 1|2|3|4|5|largest difference, %|GPU AUTO, 1|2|3|4|5|largest difference, %|"
        "paper: largest difference, %");
    for (int set = 1; set < ROWS; set++) {
        double least = 1, most = 1;
        start_row(s, &t, set, order_of, 0);
        for (int k = 0; k < 2 * ORDERS; k++) {
            double value = geometric(s, set, order_of, k);
            if (k % ORDERS == 0) least = most = 1;
            least = fmin(least, value);
            most = fmax(most, value);
            table_number(&t, value);
            if (k % ORDERS == ORDERS - 1) table_number(&t, isnan(value) ? NAN : 100 * (most / least - 1));
        }
        table_number(&t, set == PUBLIC ? 4.3 : NAN);
    }
    table_end(&t);
}

static double host_over_graph(const trial *t, int k) { return t->of[GRAPH].seconds / t->of[HOST].seconds + 0 * k; }

static void figure_6(const study *s) {
    const technique by[] = {HOST, GRAPH, COOPERATIVE, AUTO};
    table t;
    table_start(
        &t, s->p, "paper1_fig6",
        "Figure 6. Drivers: speed-ups over `sequential`, geometric means. HOST is the paper's cpu_loop, GRAPH "
        "stands for its gpu_loop, COOPERATIVE is its megakernel, which was its slowest. Paper: GeForce RTX 2080 "
        "SUPER.",
        "set|models|GPU HOST|GPU GRAPH|GPU COOPERATIVE|GPU AUTO|HOST: times as fast as GRAPH|"
        "paper: cpu_loop, times as fast as gpu_loop");
    for (int set = 1; set < ROWS; set++) {
        start_row(s, &t, set, speedup, HOST);
        for (int k = 0; k < 4; k++) table_number(&t, geometric(s, set, speedup, by[k]));
        table_number(&t, geometric(s, set, host_over_graph, 0));
        table_number(&t, set == PUBLIC ? 1.72 : NAN);
    }
    table_end(&t);
}

/* ---- Section 4.4: roofline ---- */

/* Of an H200: double-precision operations a second outside of its matrix units, each fused multiply-add two. */
#define PEAK 33.5e12
enum { FILTER_OPERATIONS = 14 }; /* for a nonzero, see doc/papers.md */

/* Bytes that a round must move: a nonzero's coefficient and column, both sides of a row, both bounds of a column. */
static double round_bytes(const trial *t, int single) {
    double coefficient = single || t->is_short ? 4 : 8;
    return t->nonzeros * (coefficient + 4) + 16 * t->rows + (single ? 8 : 16) * t->cols;
}
static double intensity(const trial *t, int single) { return FILTER_OPERATIONS * t->nonzeros / round_bytes(t, single); }
/* Percent of the attainable operations a second in a round that takes so many seconds. */
static double share(const trial *t, int single, double seconds) {
    return 100 * FILTER_OPERATIONS * t->nonzeros / seconds / fmin(PEAK, COPY_SPEED * intensity(t, single));
}
static double call_share(const trial *t, int single) {
    const measured *m = &t->of[single ? SINGLE_GPU : HOST];
    return share(t, single, m->seconds / m->rounds);
}
static double quiet_share(const trial *t, int k) { return share(t, 0, t->quiet) + 0 * k; }

static void roofline_row(const study *s, table *t, const char *name, double (*f)(const trial *t, int k), int single,
                         const double *of_paper) {
    double value[MOST_TRIALS];
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const trial *of = &s->trials[i];
        if (!is_compared(of, ALL) || of->nonzeros < (s->p->quick ? 25000 : 250000)) continue;
        value[count] = f(of, single);
        count += !isnan(value[count]);
    }
    table_text(t, "%s", name);
    table_text(t, "%d", count);
    table_number(t, count ? mean(value, count) : NAN);
    table_number(t, count ? percentile(value, count, 0) : NAN);
    table_number(t, count ? percentile(value, count, 100) : NAN);
    for (int k = 0; k < 3; k++) table_number(t, of_paper[k]);
}

static void roofline(const study *s) {
    const double of_paper[][3] = {
        {2.96, .26, 17.69}, {23.64, 1.5, 89.14}, {NAN, NAN, NAN}, {2.74, .18, 28.85}, {14.86, NAN, 68.9}};
    table t;
    char title[1024];
    snprintf(
        title, sizeof title,
        "Section 4.4: roofline, models of at least %s nonzeros. Intensity: operations of the filter a byte that a "
        "round must move. Share: of attainable operations a second, with 4.28 TB/s (a copy) and 33.5 T operations/s "
        "of an H200; of whole calls with HOST, and of a round that changes nothing. Paper: recorded by a profiler "
        "on a Tesla V100, 349 models.",
        s->p->quick ? "25,000 (paper: 250,000)" : "250,000");
    table_start(&t, s->p, "paper1_roofline", title,
                "quantity|models|average|least|largest|paper: average|paper: least|paper: largest");
    roofline_row(s, &t, "intensity", intensity, 0, of_paper[0]);
    roofline_row(s, &t, "share of attainable, call, %", call_share, 0, of_paper[1]);
    roofline_row(s, &t, "share of attainable, quiet round, %", quiet_share, 0, of_paper[2]);
    roofline_row(s, &t, "intensity, FP32", intensity, 1, of_paper[3]);
    roofline_row(s, &t, "share of attainable, call, FP32, %", call_share, 1, of_paper[4]);
    table_end(&t);
}

void propagation_tables(const paper *p, const trial *trials, int count) {
    const study s = {p, trials, count};
    table_1(&s);
    figure_1b(&s);
    section_2_2(&s);
    section_4_1(&s);
    figure_2(&s);
    figure_5(&s);
    figure_6(&s);
    roofline(&s);
}
