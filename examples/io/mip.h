/* SPDX-License-Identifier: MIT
 *
 * Linear and mixed-integer programs for the examples, tests and benchmarks: from MPS files and from the generators of
 * the speed measurements.
 */
#ifndef EXAMPLES_IO_MIP_H
#define EXAMPLES_IO_MIP_H

#include <stddef.h>

#include "gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A by rows and by columns. A source gives one of them or both, and the other has start == NULL until requested; the
 * sizes are in both. All arrays belong to the model. */
typedef struct mip {
    gpuopt_matrix matrix;
    gpuopt_matrix columns;
    double *cost;                /* [cols], or NULL: 0 */
    double offset;               /* added to the objective */
    int maximize;                /* not 0: max */
    double *lhs, *rhs;           /* [rows], -1e20 and less / 1e20 and more: none */
    double *lb, *ub;             /* [cols] */
    uint8_t *integer;            /* [cols] */
    char **row_name, **col_name; /* [rows], [cols], or NULL: generated */
    int optimum_known;           /* of the linear program: the generator has planted it */
    double optimum;
} mip;

/* Read a file (.mps, .mps.gz, .mps.xz; fixed or free format) or build a generated model, and return 0. On failure they
 * fill `error` with the file, the line if there is one, and the fault, and return -1 with nothing to free.
 *
 * Files: a path, or - for standard input; either may be a pipe. Lines of any length; a byte order mark is skipped.
 * Semi-continuous columns, special ordered sets, quadratic terms and other parts beyond mixed-integer linear programs
 * are refused. As in CLP: integer columns between markers, without a card in BOUNDS, are 0 or 1. The objective's
 * constant is minus the right-hand side of its row. A negative UP without a lower bound makes that -infinity. Of
 * several free rows the first is the objective, the others are dropped; of several sets of sides, ranges or bounds the
 * first counts. OBJSENSE (MAX, MAXIMIZE, MIN, MINIMIZE) counts at any place. As in GLPK a word that begins with $, in
 * the third field or behind it, begins a comment, unless it is the name of a row or, in BOUNDS, of a column.
 * Names of fixed format lose their blanks; if two would then be equal, they have '_' instead. Refused: words behind a
 * section's name, which may be a data line that begins in the first column; sets with and without names in one section;
 * a file with different meanings in free and in fixed format.
 * Generated for propagation, by rows: rand,M,N,LEN,SEED[,SLACK]  skew,M,N,LEN,SEED[,SLACK]  band,M,LEN,SEED[,SLACK]
 * cascade,N  twolines  cflp,K  emptyrows,E  cover,N,NONZEROS,SEED; band,8000000,8,1 has 64 million nonzeros.
 * Linear programs, by columns: shah:M:SEED  meyer:M:N:DENSITY:SEED  plant:M:N:DENSITY:SEED, see lp_models.c. */
int mip_read_mps(const char *path, mip *model, char *error, size_t error_size);
int mip_generate(const char *name, mip *model, char *error, size_t error_size);
int mip_generate_lp(const char *name, mip *model, char *error, size_t error_size);
/* Any of them: by the prefix "gen:", by the prefix of a linear program, else a file. */
int mip_load(const char *name, mip *model, char *error, size_t error_size);
void mip_free(mip *model);

/* Make the form that is missing. Time and space O(nonzeros); -1: out of memory. */
int mip_rows(mip *model);
int mip_columns(mip *model);
int64_t mip_nonzeros(const mip *model);

/* The greatest unit that divides the objective's value in every solution, without its constant; 0: none was found.
 * Needs the rows. */
double mip_cost_unit(const mip *model);

/* Descriptors of the model: for a propagator, with its rows if there are any, else with its columns; and of its linear
 * relaxation for the simplex method, with its columns. The arrays still belong to the model. */
gpuopt_propagator_desc mip_propagator_desc(const mip *model);
gpuopt_simplex_desc mip_simplex_desc(const mip *model);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_IO_MIP_H */
