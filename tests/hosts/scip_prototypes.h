/* SPDX-License-Identifier: MIT
 *
 * The parts of SCIP's interface that examples/hosts/scip_branching.c and its test use, for the shared library of SCIP 10
 * where its headers are missing, as in PyPI's pyscipopt. Written from SCIP's documentation.
 */
#ifndef TESTS_HOSTS_SCIP_PROTOTYPES_H
#define TESTS_HOSTS_SCIP_PROTOTYPES_H

typedef struct Scip SCIP;
typedef struct SCIP_Branchrule SCIP_BRANCHRULE;
typedef struct SCIP_BranchruleData SCIP_BRANCHRULEDATA;
typedef struct SCIP_Var SCIP_VAR;
typedef struct SCIP_Col SCIP_COL;
typedef struct SCIP_Row SCIP_ROW;
typedef struct SCIP_Node SCIP_NODE;
typedef double SCIP_Real;
typedef unsigned int SCIP_Bool;
typedef long long SCIP_Longint;
typedef enum SCIP_Retcode { SCIP_OKAY = 1, SCIP_ERROR = 0, SCIP_NOMEMORY = -1, SCIP_PLUGINNOTFOUND = -12 } SCIP_RETCODE;
typedef enum SCIP_Result {
    SCIP_DIDNOTRUN = 1,
    SCIP_CUTOFF = 7,
    SCIP_REDUCEDDOM = 10,
    SCIP_BRANCHED = 13
} SCIP_RESULT;
typedef enum SCIP_BaseStat {
    SCIP_BASESTAT_LOWER = 0,
    SCIP_BASESTAT_BASIC,
    SCIP_BASESTAT_UPPER,
    SCIP_BASESTAT_ZERO
} SCIP_BASESTAT;

#define TRUE 1
#define FALSE 0
#define SCIP_DECL_BRANCHEXECLP(x) \
    SCIP_RETCODE x(SCIP *scip, SCIP_BRANCHRULE *branchrule, SCIP_Bool allowaddcons, SCIP_RESULT *result)
#define SCIP_DECL_BRANCHFREE(x) SCIP_RETCODE x(SCIP *scip, SCIP_BRANCHRULE *branchrule)
#define SCIP_DECL_BRANCHINITSOL(x) SCIP_RETCODE x(SCIP *scip, SCIP_BRANCHRULE *branchrule)
#define SCIP_DECL_BRANCHEXITSOL(x) SCIP_RETCODE x(SCIP *scip, SCIP_BRANCHRULE *branchrule)
#define SCIP_CALL(x)                               \
    do {                                           \
        SCIP_RETCODE retcode_ = (x);               \
        if (retcode_ != SCIP_OKAY) return retcode_; \
    } while (0)

SCIP_RETCODE SCIPcreate(SCIP **scip);
SCIP_RETCODE SCIPfree(SCIP **scip);
SCIP_RETCODE SCIPincludeDefaultPlugins(SCIP *scip);
SCIP_RETCODE SCIPreadProb(SCIP *scip, const char *file, const char *extension);
SCIP_RETCODE SCIPsolve(SCIP *scip);
SCIP_RETCODE SCIPsetIntParam(SCIP *scip, const char *name, int value);
SCIP_RETCODE SCIPsetRealParam(SCIP *scip, const char *name, SCIP_Real value);
SCIP_RETCODE SCIPsetBoolParam(SCIP *scip, const char *name, SCIP_Bool value);
SCIP_RETCODE SCIPsetStringParam(SCIP *scip, const char *name, const char *value);
SCIP_RETCODE SCIPaddIntParam(SCIP *scip, const char *name, const char *text, int *value, SCIP_Bool advanced, int start,
                             int least, int most, SCIP_RETCODE (*changed)(SCIP *, void *), void *data);
SCIP_RETCODE SCIPaddRealParam(SCIP *scip, const char *name, const char *text, SCIP_Real *value, SCIP_Bool advanced,
                              SCIP_Real start, SCIP_Real least, SCIP_Real most,
                              SCIP_RETCODE (*changed)(SCIP *, void *), void *data);
SCIP_RETCODE SCIPaddStringParam(SCIP *scip, const char *name, const char *text, char **value, SCIP_Bool advanced,
                                const char *start, SCIP_RETCODE (*changed)(SCIP *, void *), void *data);
int SCIPgetStatus(SCIP *scip);
SCIP_Real SCIPgetDualbound(SCIP *scip);
SCIP_Real SCIPgetPrimalbound(SCIP *scip);
SCIP_Longint SCIPgetNTotalNodes(SCIP *scip);
SCIP_Real SCIPgetSolvingTime(SCIP *scip);
SCIP_Real SCIPinfinity(SCIP *scip);
void SCIPwarningMessage(SCIP *scip, const char *format, ...);

SCIP_RETCODE SCIPincludeBranchruleBasic(SCIP *scip, SCIP_BRANCHRULE **rule, const char *name, const char *text,
                                        int priority, int most_depth, SCIP_Real most_distance,
                                        SCIP_BRANCHRULEDATA *data);
SCIP_RETCODE SCIPsetBranchruleExecLp(SCIP *scip, SCIP_BRANCHRULE *rule,
                                     SCIP_RETCODE (*run)(SCIP *, SCIP_BRANCHRULE *, SCIP_Bool, SCIP_RESULT *));
SCIP_RETCODE SCIPsetBranchruleFree(SCIP *scip, SCIP_BRANCHRULE *rule, SCIP_RETCODE (*run)(SCIP *, SCIP_BRANCHRULE *));
SCIP_RETCODE SCIPsetBranchruleExitsol(SCIP *scip, SCIP_BRANCHRULE *rule,
                                      SCIP_RETCODE (*run)(SCIP *, SCIP_BRANCHRULE *));
SCIP_BRANCHRULE *SCIPfindBranchrule(SCIP *scip, const char *name);
SCIP_Real SCIPbranchruleGetTime(SCIP_BRANCHRULE *rule);
SCIP_BRANCHRULEDATA *SCIPbranchruleGetData(SCIP_BRANCHRULE *rule);

SCIP_RETCODE SCIPgetLPBranchCands(SCIP *scip, SCIP_VAR ***var, SCIP_Real **value, SCIP_Real **fraction, int *count,
                                  int *priority_count, int *implied_count);
SCIP_RETCODE SCIPgetLPColsData(SCIP *scip, SCIP_COL ***col, int *count);
SCIP_RETCODE SCIPgetLPRowsData(SCIP *scip, SCIP_ROW ***row, int *count);
SCIP_Bool SCIPallColsInLP(SCIP *scip);
SCIP_Bool SCIPisLPSolBasic(SCIP *scip);
SCIP_Real SCIPgetLPObjval(SCIP *scip);
SCIP_Real SCIPgetCutoffbound(SCIP *scip);
int SCIPgetDepth(SCIP *scip);
SCIP_Real SCIPcolGetObj(SCIP_COL *col);
SCIP_Real SCIPcolGetLb(SCIP_COL *col);
SCIP_Real SCIPcolGetUb(SCIP_COL *col);
SCIP_Real SCIPcolGetPrimsol(SCIP_COL *col);
SCIP_BASESTAT SCIPcolGetBasisStatus(SCIP_COL *col);
SCIP_VAR *SCIPcolGetVar(SCIP_COL *col);
int SCIPcolGetLPPos(SCIP_COL *col);
int SCIPcolGetIndex(SCIP_COL *col);
SCIP_COL *SCIPvarGetCol(SCIP_VAR *var);
int SCIProwGetIndex(SCIP_ROW *row);
int SCIProwGetNLPNonz(SCIP_ROW *row);
SCIP_COL **SCIProwGetCols(SCIP_ROW *row);
SCIP_Real *SCIProwGetVals(SCIP_ROW *row);
SCIP_Real SCIProwGetConstant(SCIP_ROW *row);
SCIP_Real SCIProwGetLhs(SCIP_ROW *row);
SCIP_Real SCIProwGetRhs(SCIP_ROW *row);
SCIP_BASESTAT SCIProwGetBasisStatus(SCIP_ROW *row);
SCIP_RETCODE SCIPtightenVarLb(SCIP *scip, SCIP_VAR *var, SCIP_Real bound, SCIP_Bool force, SCIP_Bool *infeasible,
                              SCIP_Bool *tightened);
SCIP_RETCODE SCIPtightenVarUb(SCIP *scip, SCIP_VAR *var, SCIP_Real bound, SCIP_Bool force, SCIP_Bool *infeasible,
                              SCIP_Bool *tightened);
SCIP_RETCODE SCIPupdateVarPseudocost(SCIP *scip, SCIP_VAR *var, SCIP_Real change, SCIP_Real gain, SCIP_Real weight);
SCIP_Real SCIPgetVarPseudocostScore(SCIP *scip, SCIP_VAR *var, SCIP_Real value);
SCIP_Real SCIPgetVarPseudocostCountCurrentRun(SCIP *scip, SCIP_VAR *var, int direction);
SCIP_Real SCIPgetBranchScore(SCIP *scip, SCIP_VAR *var, SCIP_Real down, SCIP_Real up);
SCIP_RETCODE SCIPupdateLocalLowerbound(SCIP *scip, SCIP_Real bound);
SCIP_RETCODE SCIPbranchVarVal(SCIP *scip, SCIP_VAR *var, SCIP_Real value, SCIP_NODE **down, SCIP_NODE **equal,
                              SCIP_NODE **up);

#endif /* TESTS_HOSTS_SCIP_PROTOTYPES_H */
