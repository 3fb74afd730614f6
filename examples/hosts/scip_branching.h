/* SPDX-License-Identifier: MIT
 *
 * A branching rule for SCIP: strong branching of a node's candidates in one batch, by gpuopt on a GPU or on the cores.
 *
 *     SCIP_CALL(SCIPincludeDefaultPlugins(scip));
 *     SCIP_CALL(SCIPincludeBranchruleGpuopt(scip));
 *     SCIP_CALL(SCIPsetStringParam(scip, "branching/gpuopt/backend", "cuda"));
 *
 * Parameters, all with the prefix branching/gpuopt/: backend (cpu or cuda), threads (of the cpu), iterations (most per
 * child), share (of the solving time that the rule may take).
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
