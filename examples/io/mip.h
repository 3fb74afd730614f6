/* SPDX-License-Identifier: MIT
 *
 * Mixed-integer programs for the examples, tests and benchmarks: from MPS files (through the CLP library's reader) and
 * from the generators that speed is measured on.
 */
#ifndef EXAMPLES_IO_MIP_H
#define EXAMPLES_IO_MIP_H

#include <stddef.h>

#include "gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mip {
    gpuopt_csr matrix;           /* arrays owned by the model, as all below */
    double *lhs, *rhs;           /* [rows], -1e20 and less / 1e20 and more: none */
    double *lb, *ub;             /* [cols] */
    uint8_t *integer;            /* [cols] */
    char **row_name, **col_name; /* [rows], [cols], or NULL: generated */
} mip;

/* Read a file (.mps, .mps.gz; fixed or free format) or build a generated model, and return 0; or fill `error` with the
 * file, the line where there is one, and what is wrong, and return -1 with nothing to free.
 * Generated: rand,M,N,LEN,SEED[,SLACK]  skew,M,N,LEN,SEED[,SLACK]  band,M,LEN,SEED[,SLACK]  cascade,N  twolines  cflp,K
 * emptyrows,E; band,8000000,8,1 has 64 million nonzeros. */
int mip_read_mps(const char *path, mip *model, char *error, size_t error_size);
int mip_generate(const char *name, mip *model, char *error, size_t error_size);
/* Either, by the prefix "gen:". */
int mip_load(const char *name, mip *model, char *error, size_t error_size);
void mip_free(mip *model);

/* The model as a propagator takes it; the arrays stay the model's. */
gpuopt_propagator_desc mip_propagator_desc(const mip *model);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_IO_MIP_H */
