/* SPDX-License-Identifier: MIT
 *
 * The parts of SCIP's interface that examples/hosts/scip_*.c use, for the shared library of SCIP 10
 * where its headers are missing, as in PyPI's pyscipopt. Written from SCIP's documentation.
 */
#ifndef TESTS_HOSTS_SCIP_PROTOTYPES_H
#define TESTS_HOSTS_SCIP_PROTOTYPES_H

typedef struct Scip SCIP;
typedef struct SCIP_Branchrule SCIP_BRANCHRULE;
typedef struct SCIP_BranchruleData SCIP_BRANCHRULEDATA;
typedef struct SCIP_Prop SCIP_PROP;
typedef struct SCIP_PropData SCIP_PROPDATA;
typedef struct SCIP_Cons SCIP_CONS;
typedef struct SCIP_Conshdlr SCIP_CONSHDLR;
typedef struct SCIP_BdChgIdx SCIP_BDCHGIDX;
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
    SCIP_DIDNOTFIND = 3,
    SCIP_CUTOFF = 7,
    SCIP_REDUCEDDOM = 10,
    SCIP_BRANCHED = 13,
    SCIP_SUCCESS = 17
} SCIP_RESULT;
typedef enum SCIP_BaseStat {
    SCIP_BASESTAT_LOWER = 0,
    SCIP_BASESTAT_BASIC,
    SCIP_BASESTAT_UPPER,
    SCIP_BASESTAT_ZERO
} SCIP_BASESTAT;
typedef enum SCIP_BranchDir { SCIP_BRANCHDIR_DOWNWARDS = 0, SCIP_BRANCHDIR_UPWARDS } SCIP_BRANCHDIR;
typedef enum SCIP_BoundType { SCIP_BOUNDTYPE_LOWER = 0, SCIP_BOUNDTYPE_UPPER } SCIP_BOUNDTYPE;
typedef enum SCIP_ConflictType { SCIP_CONFTYPE_PROPAGATION = 1 } SCIP_CONFTYPE;
typedef unsigned int SCIP_PROPTIMING;

#define SCIP_PROPTIMING_BEFORELP 1u
#define TRUE 1
#define FALSE 0
#define SCIP_DECL_BRANCHEXECLP(x) \
    SCIP_RETCODE x(SCIP *scip, SCIP_BRANCHRULE *branchrule, SCIP_Bool allowaddcons, SCIP_RESULT *result)
#define SCIP_DECL_BRANCHFREE(x) SCIP_RETCODE x(SCIP *scip, SCIP_BRANCHRULE *branchrule)
#define SCIP_DECL_BRANCHINIT(x) SCIP_RETCODE x(SCIP *scip, SCIP_BRANCHRULE *branchrule)
#define SCIP_DECL_PROPEXEC(x) \
    SCIP_RETCODE x(SCIP *scip, SCIP_PROP *prop, SCIP_PROPTIMING proptiming, SCIP_RESULT *result)
#define SCIP_DECL_PROPRESPROP(x)                                                                             \
    SCIP_RETCODE x(SCIP *scip, SCIP_PROP *prop, SCIP_VAR *infervar, int inferinfo, SCIP_BOUNDTYPE boundtype, \
                   SCIP_BDCHGIDX *bdchgidx, SCIP_Real relaxedbd, SCIP_RESULT *result)
#define SCIP_DECL_PROPINITSOL(x) SCIP_RETCODE x(SCIP *scip, SCIP_PROP *prop)
#define SCIP_DECL_PROPEXITSOL(x) SCIP_RETCODE x(SCIP *scip, SCIP_PROP *prop, SCIP_Bool restart)
#define SCIP_DECL_PROPFREE(x) SCIP_RETCODE x(SCIP *scip, SCIP_PROP *prop)
#define SCIP_CALL(x)                                \
    do {                                            \
        SCIP_RETCODE retcode_ = (x);                \
        if (retcode_ != SCIP_OKAY) return retcode_; \
    } while (0)

SCIP_RETCODE SCIPcreate(SCIP **scip);
SCIP_RETCODE SCIPfree(SCIP **scip);
SCIP_RETCODE SCIPincludeDefaultPlugins(SCIP *scip);
SCIP_RETCODE SCIPreadProb(SCIP *scip, const char *file, const char *extension);
SCIP_RETCODE SCIPsolve(SCIP *scip);
SCIP_RETCODE SCIPsetIntParam(SCIP *scip, const char *name, int value);
SCIP_RETCODE SCIPsetLongintParam(SCIP *scip, const char *name, SCIP_Longint value);
SCIP_RETCODE SCIPsetRealParam(SCIP *scip, const char *name, SCIP_Real value);
SCIP_RETCODE SCIPsetBoolParam(SCIP *scip, const char *name, SCIP_Bool value);
SCIP_RETCODE SCIPsetStringParam(SCIP *scip, const char *name, const char *value);
SCIP_RETCODE SCIPaddIntParam(SCIP *scip, const char *name, const char *text, int *value, SCIP_Bool advanced, int start,
                             int least, int most, SCIP_RETCODE (*changed)(SCIP *, void *), void *data);
SCIP_RETCODE SCIPaddRealParam(SCIP *scip, const char *name, const char *text, SCIP_Real *value, SCIP_Bool advanced,
                              SCIP_Real start, SCIP_Real least, SCIP_Real most, SCIP_RETCODE (*changed)(SCIP *, void *),
                              void *data);
SCIP_RETCODE SCIPaddStringParam(SCIP *scip, const char *name, const char *text, char **value, SCIP_Bool advanced,
                                const char *start, SCIP_RETCODE (*changed)(SCIP *, void *), void *data);
int SCIPgetNSols(SCIP *scip);
int SCIPgetStatus(SCIP *scip);
SCIP_Real SCIPgetDualbound(SCIP *scip);
SCIP_Real SCIPgetPrimalbound(SCIP *scip);
SCIP_Longint SCIPgetNNodes(SCIP *scip);
SCIP_Longint SCIPgetNTotalNodes(SCIP *scip);
SCIP_Longint SCIPgetNStrongbranchLPIterations(SCIP *scip);
SCIP_Real SCIPgetSolvingTime(SCIP *scip);
SCIP_Real SCIPinfinity(SCIP *scip);
SCIP_Bool SCIPisInfinity(SCIP *scip, SCIP_Real value);
void SCIPwarningMessage(SCIP *scip, const char *format, ...);

SCIP_RETCODE SCIPincludeBranchruleBasic(SCIP *scip, SCIP_BRANCHRULE **rule, const char *name, const char *text,
                                        int priority, int most_depth, SCIP_Real most_distance,
                                        SCIP_BRANCHRULEDATA *data);
SCIP_RETCODE SCIPsetBranchruleExecLp(SCIP *scip, SCIP_BRANCHRULE *rule,
                                     SCIP_RETCODE (*run)(SCIP *, SCIP_BRANCHRULE *, SCIP_Bool, SCIP_RESULT *));
SCIP_RETCODE SCIPsetBranchruleFree(SCIP *scip, SCIP_BRANCHRULE *rule, SCIP_RETCODE (*run)(SCIP *, SCIP_BRANCHRULE *));
SCIP_RETCODE SCIPsetBranchruleInit(SCIP *scip, SCIP_BRANCHRULE *rule, SCIP_RETCODE (*run)(SCIP *, SCIP_BRANCHRULE *));
SCIP_BRANCHRULE *SCIPfindBranchrule(SCIP *scip, const char *name);
SCIP_Real SCIPbranchruleGetTime(SCIP_BRANCHRULE *rule);
SCIP_BRANCHRULEDATA *SCIPbranchruleGetData(SCIP_BRANCHRULE *rule);

SCIP_RETCODE SCIPgetLPBranchCands(SCIP *scip, SCIP_VAR ***var, SCIP_Real **value, SCIP_Real **fraction, int *count,
                                  int *priority_count, int *implied_count);
SCIP_RETCODE SCIPgetLPColsData(SCIP *scip, SCIP_COL ***col, int *count);
SCIP_RETCODE SCIPgetLPRowsData(SCIP *scip, SCIP_ROW ***row, int *count);
int SCIPgetNLPCols(SCIP *scip);
int SCIPgetNLPRows(SCIP *scip);
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
SCIP_Real SCIPgetVarPseudocostCountCurrentRun(SCIP *scip, SCIP_VAR *var, SCIP_BRANCHDIR direction);
SCIP_Longint SCIPgetVarStrongbranchNode(SCIP *scip, SCIP_VAR *var);
SCIP_RETCODE SCIPgetVarStrongbranchLast(SCIP *scip, SCIP_VAR *var, SCIP_Real *down, SCIP_Real *up,
                                        SCIP_Bool *down_valid, SCIP_Bool *up_valid, SCIP_Real *value,
                                        SCIP_Real *objective);
SCIP_RETCODE SCIPsetVarStrongbranchData(SCIP *scip, SCIP_VAR *var, SCIP_Real objective, SCIP_Real value, SCIP_Real down,
                                        SCIP_Real up, SCIP_Bool down_valid, SCIP_Bool up_valid, SCIP_Longint iterations,
                                        int most_iterations);
SCIP_Real SCIPgetBranchScore(SCIP *scip, SCIP_VAR *var, SCIP_Real down, SCIP_Real up);
SCIP_RETCODE SCIPupdateLocalLowerbound(SCIP *scip, SCIP_Real bound);
SCIP_RETCODE SCIPupdateNodeLowerbound(SCIP *scip, SCIP_NODE *node, SCIP_Real bound);
SCIP_RETCODE SCIPbranchVarVal(SCIP *scip, SCIP_VAR *var, SCIP_Real value, SCIP_NODE **down, SCIP_NODE **equal,
                              SCIP_NODE **up);

SCIP_RETCODE SCIPstartProbing(SCIP *scip);
SCIP_RETCODE SCIPnewProbingNode(SCIP *scip);
SCIP_RETCODE SCIPbacktrackProbing(SCIP *scip, int depth);
SCIP_RETCODE SCIPendProbing(SCIP *scip);
SCIP_RETCODE SCIPchgVarLbProbing(SCIP *scip, SCIP_VAR *var, SCIP_Real bound);
SCIP_RETCODE SCIPchgVarUbProbing(SCIP *scip, SCIP_VAR *var, SCIP_Real bound);
SCIP_RETCODE SCIPpropagateProbing(SCIP *scip, int most_rounds, SCIP_Bool *cutoff, SCIP_Longint *reductions);

SCIP_RETCODE SCIPincludePropBasic(SCIP *scip, SCIP_PROP **prop, const char *name, const char *text, int priority,
                                  int frequency, SCIP_Bool delay, SCIP_PROPTIMING timing, SCIP_DECL_PROPEXEC((*run)),
                                  SCIP_PROPDATA *data);
SCIP_RETCODE SCIPsetPropInitsol(SCIP *scip, SCIP_PROP *prop, SCIP_DECL_PROPINITSOL((*run)));
SCIP_RETCODE SCIPsetPropExitsol(SCIP *scip, SCIP_PROP *prop, SCIP_DECL_PROPEXITSOL((*run)));
SCIP_RETCODE SCIPsetPropFree(SCIP *scip, SCIP_PROP *prop, SCIP_DECL_PROPFREE((*run)));
SCIP_RETCODE SCIPsetPropResprop(SCIP *scip, SCIP_PROP *prop, SCIP_DECL_PROPRESPROP((*run)));
SCIP_PROP *SCIPfindProp(SCIP *scip, const char *name);
SCIP_PROPDATA *SCIPpropGetData(SCIP_PROP *prop);
int SCIPpropGetFreq(SCIP_PROP *prop);
SCIP_CONS **SCIPgetConss(SCIP *scip);
int SCIPgetNConss(SCIP *scip);
SCIP_CONSHDLR *SCIPconsGetHdlr(SCIP_CONS *cons);
const char *SCIPconshdlrGetName(SCIP_CONSHDLR *handler);
SCIP_Real SCIPconsGetLhs(SCIP *scip, SCIP_CONS *cons, SCIP_Bool *success);
SCIP_Real SCIPconsGetRhs(SCIP *scip, SCIP_CONS *cons, SCIP_Bool *success);
SCIP_RETCODE SCIPgetConsNVars(SCIP *scip, SCIP_CONS *cons, int *count, SCIP_Bool *success);
SCIP_RETCODE SCIPgetConsVars(SCIP *scip, SCIP_CONS *cons, SCIP_VAR **var, int capacity, SCIP_Bool *success);
SCIP_RETCODE SCIPgetConsVals(SCIP *scip, SCIP_CONS *cons, SCIP_Real *value, int capacity, SCIP_Bool *success);
SCIP_VAR **SCIPgetVars(SCIP *scip);
int SCIPgetNVars(SCIP *scip);
int SCIPvarGetProbindex(SCIP_VAR *var);
SCIP_Bool SCIPvarIsIntegral(SCIP_VAR *var);
SCIP_Bool SCIPvarIsNegated(SCIP_VAR *var);
SCIP_VAR *SCIPvarGetNegationVar(SCIP_VAR *var);
SCIP_Real SCIPvarGetNegationConstant(SCIP_VAR *var);
SCIP_Real SCIPvarGetLbGlobal(SCIP_VAR *var);
SCIP_Real SCIPvarGetUbGlobal(SCIP_VAR *var);
SCIP_Real SCIPvarGetLbLocal(SCIP_VAR *var);
SCIP_Real SCIPvarGetUbLocal(SCIP_VAR *var);
SCIP_NODE *SCIPgetCurrentNode(SCIP *scip);
SCIP_Longint SCIPnodeGetNumber(SCIP_NODE *node);
SCIP_RETCODE SCIPinferVarLbProp(SCIP *scip, SCIP_VAR *var, SCIP_Real bound, SCIP_PROP *prop, int info, SCIP_Bool force,
                                SCIP_Bool *infeasible, SCIP_Bool *tightened);
SCIP_RETCODE SCIPinferVarUbProp(SCIP *scip, SCIP_VAR *var, SCIP_Real bound, SCIP_PROP *prop, int info, SCIP_Bool force,
                                SCIP_Bool *infeasible, SCIP_Bool *tightened);
SCIP_Bool SCIPisConflictAnalysisApplicable(SCIP *scip);
SCIP_RETCODE SCIPinitConflictAnalysis(SCIP *scip, SCIP_CONFTYPE type, SCIP_Bool cutoff_involved);
SCIP_RETCODE SCIPaddConflictLb(SCIP *scip, SCIP_VAR *var, SCIP_BDCHGIDX *when);
SCIP_RETCODE SCIPaddConflictUb(SCIP *scip, SCIP_VAR *var, SCIP_BDCHGIDX *when);
SCIP_RETCODE SCIPanalyzeConflict(SCIP *scip, int valid_depth, SCIP_Bool *success);

#endif /* TESTS_HOSTS_SCIP_PROTOTYPES_H */
