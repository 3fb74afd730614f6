/* SPDX-License-Identifier: MIT
 *
 * CLP as an oracle and a peer.
 */
#ifndef TESTS_SIMPLEX_CLP_H
#define TESTS_SIMPLEX_CLP_H

#include "examples/io/mip.h"

/* CLP's primal simplex method with tolerances of 1e-9, without presolve. A model that is both primal and dual
 * infeasible may come out as either INFEASIBLE or UNBOUNDED. */
gpuopt_outcome clp_solve(const mip *model, double *objective);

#endif /* TESTS_SIMPLEX_CLP_H */
