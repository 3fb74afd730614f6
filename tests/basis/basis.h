/* SPDX-License-Identifier: MIT
 *
 * Shared by the tests of the basis inverse: bases of several kinds, and reference inverses computed in extended
 * precision by Gauss-Jordan elimination with full pivoting.
 */
#ifndef TESTS_BASIS_BASIS_H
#define TESTS_BASIS_BASIS_H

#include "tests/support/support.h"

typedef enum basis_kind {
    BASIS_DENSE,      /* uniform in [-1, 1] */
    BASIS_SPARSE,     /* a permuted diagonal and three more entries per column */
    BASIS_TRIANGULAR, /* lower triangular with rows and columns shuffled */
    BASIS_SLACKS,     /* two thirds unit columns, the rest dense */
    BASIS_SCALED,     /* dense, with rows and columns scaled by powers of ten from 1e-6 to 1e6 */
    BASIS_KINDS
} basis_kind;

/* A basis that can be changed column by column. */
typedef struct basis_model {
    int32_t m;
    double *entry; /* [m][m], column after column */
    int64_t *start;
    int32_t *row;
    double *val;
} basis_model;

basis_model basis_new(int32_t m); /* zeros */
basis_model basis_draw(basis_kind kind, int32_t m, uint64_t seed);
basis_model basis_hilbert(int32_t m);
void basis_free(basis_model *b);
gpuopt_matrix basis_columns(basis_model *b); /* the nonzero entries; valid until the next call or change */

/* Computes inverse [m][m], row after row. Returns 0 if B is singular to working precision. */
int basis_invert(const basis_model *b, long double *inverse);

/* Scale factors that make the largest entries of B's rows and columns 1. Inverses are compared after this scaling. */
typedef struct basis_scale {
    long double *row, *col; /* [m] */
    long double condition;  /* max (|X| |B| |X|)_ij of the scaled matrices, where X is the inverse */
} basis_scale;
basis_scale basis_scale_of(const basis_model *b, const long double *inverse);
void basis_scale_free(basis_scale *s);
/* Returns max |found - inverse|, scaled. */
long double basis_error(const basis_model *b, const basis_scale *s, const long double *inverse, const double *found);

/* Checks that the scaled error of the handle's inverse is at most factor * m * eps * condition. Returns the error. */
double basis_check(gpuopt_basis *basis, const basis_model *b, double factor);

gpuopt_basis *basis_create(gpuopt_context *context, int32_t m, gpuopt_basis_technique technique, int32_t deferred);
gpuopt_basis_info basis_info(gpuopt_basis *basis);

/* Replaces column `position` of the handle's basis by column [m], by an FTRAN and an update with info. Returns the
 * status of the update; if it is GPUOPT_OK, the model changes too. */
gpuopt_status basis_replace(gpuopt_basis *basis, basis_model *b, int32_t position, const double *column);
/* Replaces a column by a random one with `count` entries, without info, in the handle and the model. The position is
 * random among positions with a pivot of at least a tenth of the largest. */
void basis_enqueue_random(gpuopt_basis *basis, basis_model *b, int32_t count, uint64_t *seed);

#endif /* TESTS_BASIS_BASIS_H */
