/* SPDX-License-Identifier: MIT
 *
 * Bases of linear programs in files of other solvers.
 */
#ifndef EXAMPLES_IO_BAS_H
#define EXAMPLES_IO_BAS_H

#include "examples/io/mip.h"

/* Reads a basis of the model, which has names, into status [cols + rows], a gpuopt_simplex_variable each, and returns
 * 0. On failure it fills `error` with the file, the line, and the fault, and returns -1. The file may be a pipe, and
 * compressed by gzip, as for mip_read_mps(). The file and the model cannot both be standard input.
 *
 * Either the MPS format, in words or, where that fails, in the columns of fixed format; CLP, CPLEX and old GLPK write
 * it. Rows are basic and columns at their lower bounds except for these lines:
 *     XU column row     the column is basic, the row at its right-hand side
 *     XL column row     the column is basic, the row at its left-hand side
 *     UL, LL name       a column, or a row, is at its upper or lower bound
 *     BS name           it is basic
 *     FR name           it is nonbasic at 0, as is a column in CLP's line "BS name _dummy_ value"
 * A value may follow, after a name that stands for no name (CLP's VALUES); it is not used.
 *
 * Or the format of HiGHS: the first line is "HiGHS v1" or "HiGHS_basis_file v2"; then 0, 1, 2, 3 is at the lower bound,
 * basic, at the upper bound, at 0; 4 is nonbasic, here at the lower bound.
 *
 * There must be as many basic variables as rows. Names lose their spaces, as in mip_read_mps(). */
int bas_read(const char *path, const mip *model, uint8_t *status, char *error, size_t error_size);

#endif /* EXAMPLES_IO_BAS_H */
