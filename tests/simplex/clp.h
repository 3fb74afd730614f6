/* SPDX-License-Identifier: MIT
 *
 * CLP as an oracle and a peer.
 */
#ifndef TESTS_SIMPLEX_CLP_H
#define TESTS_SIMPLEX_CLP_H

#include "examples/io/mip.h"

/* CLP's primal simplex method with tolerances of 1e-9, without presolve; where it gives up, the dual one, and IMPRECISE
 * if that does, too. A model that it calls unbounded is solved once more without costs: what is UNBOUNDED has a point. */
gpuopt_outcome clp_solve(const mip *model, double *objective);

#endif /* TESTS_SIMPLEX_CLP_H */
