/* SPDX-License-Identifier: MIT
 *
 * CLP as an oracle and a peer.
 */
#ifndef TESTS_SIMPLEX_CLP_H
#define TESTS_SIMPLEX_CLP_H

#include "examples/io/mip.h"

/* CLP's primal simplex method with tolerances of 1e-9, without presolve; if it gives up, the dual method, and IMPRECISE
 * if that gives up, too. A model that CLP calls unbounded is solved again without costs, since UNBOUNDED requires a
 * point. */
gpuopt_outcome clp_solve(const mip *model, double *objective);

#endif /* TESTS_SIMPLEX_CLP_H */
