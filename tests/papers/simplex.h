/* SPDX-License-Identifier: MIT
 *
 * The parts of the program for the simplex method: runs of all ways on all machines, tables, and what they must agree
 * on.
 */
#ifndef TESTS_PAPERS_SIMPLEX_H
#define TESTS_PAPERS_SIMPLEX_H

#include "gpuopt/search.h"
#include "tests/bench/simplex_run.h"
#include "tests/bench/split_model.h"
#include "tests/papers/paper.h"

#define PAPER_MACHINE "paper: 2 Xeon X5570, a Tesla S1070 of 4 GPUs"

/* A configuration of the simplex method. */
typedef struct way {
    const char *name;
    gpuopt_simplex_method method;
    gpuopt_simplex_pricing pricing;
    gpuopt_simplex_ratio ratio;
    gpuopt_switch perturbation;
    int32_t deferred;
} way;

/* The paper's own: tableau, steepest edge, EXPAND instead of a perturbation, each pivot applied at once. Ours: a
 * tableau with the library's defaults. */
enum { IMMEDIATE, DEFERRED, WAYS };
extern const way ways[WAYS];

/* Where a run is made: one CPU thread, all CPU threads, or 1, 2 or 4 ranks. */
enum { CPU_ONE, CPU_ALL, RANKS_1, RANKS_2, RANKS_4, PLACES, CLP = PLACES };
enum { RANKS = PLACES - RANKS_1 };
extern const int rank_counts[RANKS];

enum { CHECK_OPTIMUM, CHECK_VIOLATION, CHECK_THREADS, CHECK_RANKS, CHECK_NETLIB, CHECK_DENSITY, CHECKS };

/* A solved size, for the model of the time: the runs without proofs. */
typedef struct point {
    int rows, cols;
    figures found[WAYS][RANKS]; /* seconds: NaN if there is none */
} point;

enum { MOST_POINTS = 16 };

typedef struct study {
    paper p;
    split_machine on; /* of ranks: the GPUs, or else the CPU */
    int peers;        /* GPUs exchange through peer memory */
    int64_t cap;      /* iterations of each run, after which it counts as ended; 0: none */
    int cases[CHECKS], broken[CHECKS];
    point points[MOST_POINTS];
    int count; /* of points */
} study;

/* The limit in seconds of a run on a place, or by CLP: on the CPU short, so that the whole takes minutes. */
double limit_of(const study *s, int place);
/* Loads a linear program with its columns. Ends the program if it cannot. */
void load_program(const study *s, const char *name, mip *model);
/* Runs `w` on a place, for `limit` seconds and s->cap iterations at most. Where there is no such machine, the result's seconds are NaN. If the
 * run failed or passed the limit, they are NaN, too. Ranks are on GPUs, or with on_cpu on the CPU. */
figures solve_on(study *s, const mip *model, const way *w, int place, int on_cpu, double limit);
/* A run whose result was `whole`, but for the last iteration and the proof that the optimum is exact. The library tries
 * that proof up to PROVEN_ROWS rows; it takes a product with the inverse for each row. With more rows it is `whole`. */
enum { PROVEN_ROWS = 598 };
figures solve_unproven(study *s, const mip *model, const way *w, int place, int on_cpu, const figures *whole);
figures solve_clp(const study *s, const mip *model, int dual, double limit);

/* Fills a cell with the iterations of a run that ended. */
void put_iterations(table *t, const figures *f);

/* Counts a case of a check, with a message on stderr if it does not hold. */
void check(study *s, int which, int holds, const char *model, const char *what);
/* Checks the optimum and the violations of one result; `reference` is an optimum, NaN if none is known. */
void check_answer(study *s, const char *model, const figures *f, double reference, double tolerance);
/* Checks the places of one way against one another; found [PLACES]. */
void check_places(study *s, const char *model, const figures *found);

/* Print their tables. */
void print_sizes(study *s);     /* Fig. 2, and the points for print_model() */
void print_densities(study *s); /* Fig. 3, and the growth of density */
void print_model(study *s);     /* the model of the time, speed-ups */
void print_netlib(study *s);

#endif /* TESTS_PAPERS_SIMPLEX_H */
