/* SPDX-License-Identifier: MIT
 *
 * A branching rule for SCIP: strong branching of a node's candidates in one batch, by gpuopt on a GPU or on the cores.
 *
 *     SCIP_CALL(SCIPincludeDefaultPlugins(scip));
 *     SCIP_CALL(SCIPincludeBranchruleGpuopt(scip));
 *     SCIP_CALL(SCIPsetStringParam(scip, "branching/gpuopt/backend", "cuda"));
 *
 * Parameters, all with the prefix branching/gpuopt/:
 *
 *     backend     cpu or cuda
 *     threads     of the cpu backend
 *     iterations  most iterations of a child
 *     propagate   most candidates of a node whose children SCIP propagates first; 0, the default: none
 *     solutions   that SCIP has before the rule begins: a higher bound cuts nothing off without one
 *     share       of the time, which the rule may always take; 1: all candidates of all nodes, whatever they cost
 *     worth       the most that a call may cost beyond that, in nodes; node_budget.h decides how much of it
 *
 * With share 1 the clock plays no part, and a run can be repeated exactly. If the device is lost, or there is none, the
 * rule warns once and SCIP goes on with its own.
 */
#ifndef EXAMPLES_HOSTS_SCIP_BRANCHING_H
#define EXAMPLES_HOSTS_SCIP_BRANCHING_H

#ifdef GPUOPT_SCIP_PROTOTYPES
#include "tests/hosts/scip_prototypes.h"
#else
#include <scip/scip.h>
#endif

SCIP_RETCODE SCIPincludeBranchruleGpuopt(SCIP *scip);
/* Prints one line of figures on stdout: calls, children, rows changed, seconds. */
void SCIPprintBranchruleGpuopt(SCIP *scip);

#endif /* EXAMPLES_HOSTS_SCIP_BRANCHING_H */
