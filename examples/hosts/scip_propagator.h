/* SPDX-License-Identifier: MIT
 *
 * A propagator for SCIP: all linear constraints at once, by gpuopt on a GPU or on the cores, with reasons for SCIP's
 * conflict analysis. An example of the hook: SCIP spends a few per cent of its time on propagation, so there is little
 * to gain. It is off by default:
 *
 *     SCIP_CALL(SCIPincludeDefaultPlugins(scip));
 *     SCIP_CALL(SCIPincludePropGpuopt(scip));
 *     SCIP_CALL(SCIPsetIntParam(scip, "propagating/gpuopt/freq", 1));
 *     SCIP_CALL(SCIPsetStringParam(scip, "propagating/gpuopt/backend", "cuda"));
 */
#ifndef EXAMPLES_HOSTS_SCIP_PROPAGATOR_H
#define EXAMPLES_HOSTS_SCIP_PROPAGATOR_H

#ifdef GPUOPT_SCIP_PROTOTYPES
#include "tests/hosts/scip_prototypes.h"
#else
#include <scip/scip.h>
#include <scip/scipdefplugins.h>
#endif

SCIP_RETCODE SCIPincludePropGpuopt(SCIP *scip);
/* Prints one line of figures on stdout: calls, bounds found, conflicts, reasons given. */
void SCIPprintPropGpuopt(SCIP *scip);

#endif /* EXAMPLES_HOSTS_SCIP_PROPAGATOR_H */
