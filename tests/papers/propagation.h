/* SPDX-License-Identifier: MIT
 *
 * Paper 1: Sofranac, Gleixner, Pokutta: Accelerating Domain Propagation: an Efficient GPU-Parallel Algorithm over Sparse
 * Matrices (2020). Shared by the files of the program that prints its tables.
 */
#ifndef TESTS_PAPERS_PROPAGATION_H
#define TESTS_PAPERS_PROPAGATION_H

#include "examples/io/mip.h"
#include "tests/papers/paper.h"

enum {
    SETS = 9,    /* the paper's Set-1 to Set-8; 0: less than 1000 rows and columns, of which no times are compared */
    ORDERS = 5,  /* permutations of the rows and columns */
    LIMIT = 100, /* rounds, as in the paper */
    MOST_TRIALS = 128
};

/* Ways to propagate a model. The plain ones are propagation_plain.c, the others the library's. */
typedef enum technique {
    SEQUENTIAL,    /* GAUSS_SEIDEL, the paper's cpu_seq: the baseline */
    PLAIN,         /* Algorithm 1 without the library, one thread */
    PLAIN_THREADS, /* the paper's cpu_omp */
    ONE_THREAD,    /* JACOBI */
    THREADS,
    HOST,
    GRAPH,
    COOPERATIVE,
    AUTO,
    SINGLE_CPU, /* FP32: JACOBI on one thread */
    SINGLE_GPU, /* FP32, HOST */
    TECHNIQUES
} technique;

/* Whether a run ended where the sequential one did. */
typedef enum agreement { NOT_RUN, SAME, OTHER, AT_LIMIT, REFUSED } agreement;

/* What one technique did with one model. */
typedef struct measured {
    double seconds; /* a handle's first call, without its creation: the median over handles; NaN: not run */
    gpuopt_outcome outcome;
    int rounds;
    int refused; /* the model's numbers are outside the range of single precision */
    agreement agreement;
    double *lb, *ub; /* [cols], or NULL once they are compared */
} measured;

/* A model, and what was measured on it. */
typedef struct trial {
    const char *name;
    int set, generated;
    double rows, cols, nonzeros;
    int is_short; /* single precision represents every coefficient exactly */
    measured of[TECHNIQUES];
    double permuted[2][ORDERS]; /* time relative to the original order: sequential, GPU AUTO */
    agreement permuted_agreement[2][ORDERS];
    double quiet; /* seconds of a round that changes nothing: GPU HOST */
} trial;

/* ---- Models ---- */

/* Fills name[] with the paths or generators ("gen:...") of all models. Returns their number. */
int propagation_models(const paper *p, char (*name)[NAME], int most);
/* The paper's section 4.1: the set of a model by its larger dimension. */
int propagation_set(const mip *model);
/* A model with the rows and the columns in random orders: column[j] is the new place of column j, and must hold
 * [cols]. */
mip propagation_permuted(const mip *model, uint64_t seed, int32_t *column);

/* ---- Measuring ---- */

extern const char *const propagation_title[TECHNIQUES];
/* Propagates with a technique, and leaves the bounds in m->lb and m->ub [cols]. Ends the program after an error. */
measured propagation_run(const paper *p, const mip *model, technique t);
void propagation_drop(measured *m); /* frees the bounds */
/* Seconds of a round that evaluates every row and changes nothing, by JACOBI; NaN: there is no machine, or the model
 * does not converge. */
double propagation_quiet(const machine *on, const mip *model);
/* Whether |a - b| <= absolute + 1e-5 |b| for every bound; in the paper's section 4.3 `absolute` is 1e-8. place: where
 * column j of `a` is in `b`; NULL: in the same place. */
int propagation_close(const measured *a, const measured *b, double absolute, int32_t cols, const int32_t *place);

/* ---- Algorithm 1 in plain double precision, propagation_plain.c ---- */

typedef struct plain plain;
plain *plain_new(const mip *model);
/* Up to `limit` rounds on the bounds lb and ub [cols]. With one thread this is the paper's cpu_seq, with more its
 * cpu_omp. Returns MORE, CONVERGED or INFEASIBLE. */
gpuopt_outcome plain_run(plain *s, int threads, int limit, double *lb, double *ub, int *rounds);
void plain_free(plain *s);

/* ---- Tables ---- */

void propagation_tables(const paper *p, const trial *trials, int count);
void propagation_shapes(const paper *p);

#endif /* TESTS_PAPERS_PROPAGATION_H */
