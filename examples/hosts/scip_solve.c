/* SPDX-License-Identifier: MIT
 *
 * SCIP alone, or with the branching rule of scip_branching.c and the propagator of scip_propagator.c, to compare them.
 * Prints bounds, nodes, seconds in all and in branching rules, and the simplex iterations of SCIP's strong branching.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/hosts/scip_branching.h"
#include "examples/hosts/scip_propagator.h"

/* Sets "name=value" by the form of the value: TRUE, 1, 1L (a SCIP_Longint), 1.0, or a text. */
static SCIP_RETCODE set(SCIP *scip, char *text) {
    char *value = strchr(text, '=');
    if (!value) return SCIP_ERROR;
    *value++ = 0;
    if (strcmp(value, "TRUE") == 0 || strcmp(value, "FALSE") == 0) return SCIPsetBoolParam(scip, text, *value == 'T');
    if (strspn(value, "-0123456789") == strlen(value)) return SCIPsetIntParam(scip, text, atoi(value));
    if (strspn(value, "-0123456789L") == strlen(value)) return SCIPsetLongintParam(scip, text, atoll(value));
    if (strspn(value, "-+.e0123456789") == strlen(value)) return SCIPsetRealParam(scip, text, atof(value));
    return SCIPsetStringParam(scip, text, value);
}

/* Seconds in a branching rule. */
static double seconds_in(SCIP *scip, const char *name) {
    SCIP_BRANCHRULE *rule = SCIPfindBranchrule(scip, name);
    return rule ? SCIPbranchruleGetTime(rule) : 0;
}

static SCIP_RETCODE solve(SCIP *scip, int argc, char **argv) {
    SCIP_CALL(SCIPincludeDefaultPlugins(scip));
    if (strcmp(argv[2], "alone") != 0) {
        SCIP_CALL(SCIPincludeBranchruleGpuopt(scip));
        SCIP_CALL(SCIPincludePropGpuopt(scip));
        SCIP_CALL(SCIPsetStringParam(scip, "branching/gpuopt/backend", argv[2]));
        SCIP_CALL(SCIPsetStringParam(scip, "propagating/gpuopt/backend", argv[2]));
    }
    SCIP_CALL(SCIPsetIntParam(scip, "display/verblevel", 1));
    SCIP_CALL(SCIPreadProb(scip, argv[1], NULL));
    for (int k = 3; k < argc; k++) SCIP_CALL(set(scip, argv[k]));
    SCIP_CALL(SCIPsolve(scip));
    printf("%s %s: primal %.12g dual %.12g nodes %lld seconds %.3f branching %.3f strong %lld\n", argv[1], argv[2],
           SCIPgetPrimalbound(scip), SCIPgetDualbound(scip), (long long)SCIPgetNTotalNodes(scip),
           SCIPgetSolvingTime(scip), seconds_in(scip, "relpscost") + seconds_in(scip, "gpuopt"),
           (long long)SCIPgetNStrongbranchLPIterations(scip));
    SCIPprintBranchruleGpuopt(scip);
    SCIPprintPropGpuopt(scip);
    return SCIP_OKAY;
}

int main(int argc, char **argv) {
    SCIP *scip = NULL;
    SCIP_RETCODE code;
    if (argc < 3) {
        fputs("usage: scip_solve MODEL alone|cpu|cuda [NAME=VALUE ...]\n", stderr);
        return 2;
    }
    code = SCIPcreate(&scip);
    if (code == SCIP_OKAY) code = solve(scip, argc, argv);
    if (scip) SCIPfree(&scip);
    return code == SCIP_OKAY ? 0 : 3;
}
