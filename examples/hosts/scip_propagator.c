/* SPDX-License-Identifier: MIT
 *
 * See scip_propagator.h. The rows are the linear constraints of the presolved problem. The handle's level 0 has the
 * bounds of the root, level 1 those of the present node: what SCIP has changed is set, and the trail lists what rows
 * imply. Each implied bound goes to SCIP with the number of its row, which gives the reason when SCIP asks later.
 * If the rows have no solution, the trail's premises are the conflict.
 */
#include "examples/hosts/scip_propagator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt.h"
#include "gpuopt/search.h"

#define PROP "gpuopt"
enum { ROUNDS = 100, PER_CALL = 4096 }; /* most rounds of a call; bound changes or premises read at once */

struct SCIP_PropData {
    char *backend;
    int threads, failed;
    gpuopt_context *context;
    gpuopt_propagator *propagator;
    int rows, cols;
    SCIP_VAR **var; /* [cols] */
    int64_t *start; /* [rows + 1], a copy of the matrix for the reasons */
    int32_t *index;
    double *value, *lhs, *rhs;
    double *root_lb, *root_ub; /* [cols] of level 0, and of level 1 as the handle has them */
    double *lb, *ub;
    int32_t *col; /* scratch [cols], like the next two */
    double *new_lb, *new_ub;
    SCIP_Longint node; /* whose bounds level 1 has; -1: none */
    int32_t change_col[PER_CALL], change_row[PER_CALL];
    uint8_t change_upper[PER_CALL];
    double change_bound[PER_CALL];
    int64_t premise[PER_CALL];
    long calls, found, cutoffs, conflicts, reasons;
};

/* Gives up: SCIP goes on without. */
static void give_up(SCIP *scip, SCIP_PROPDATA *d, const char *what) {
    d->failed = 1;
    SCIPwarningMessage(scip, "gpuopt's propagator is not used any more: %s: %s\n", what,
                       gpuopt_context_last_error(d->context));
}

/* ---- The model ---- */

static void forget(SCIP_PROPDATA *d) {
    void *const array[] = {d->var,     d->start, d->index, d->value, d->lhs,    d->rhs,   d->root_lb,
                           d->root_ub, d->lb,    d->ub,    d->col,   d->new_lb, d->new_ub};
    gpuopt_propagator_destroy(d->propagator);
    gpuopt_context_destroy(d->context);
    d->propagator = NULL;
    d->context = NULL;
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) free(array[k]);
    d->var = NULL;
    d->start = NULL;
    d->index = NULL;
    d->col = NULL;
    d->value = d->lhs = d->rhs = d->root_lb = d->root_ub = d->lb = d->ub = d->new_lb = d->new_ub = NULL;
}

static double side_of(SCIP *scip, double value, double constant) {
    return SCIPisInfinity(scip, fabs(value)) ? copysign(HUGE_VAL, value) : value - constant;
}

/* Whether SCIPconsGetLhs() and its like know this kind of constraint. */
static int is_linear(SCIP_CONS *cons) {
    static const char *const kind[] = {"linear", "setppc", "logicor", "knapsack", "varbound"};
    const char *name = SCIPconshdlrGetName(SCIPconsGetHdlr(cons));
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
        if (strcmp(kind[k], name) == 0) return 1;
    return 0;
}

/* Adds a constraint as a row in the problem's own variables, unless it is not linear or has other variables. var and
 * value [cols] are scratch. */
static SCIP_RETCODE add_row(SCIP *scip, SCIP_PROPDATA *d, SCIP_CONS *cons, SCIP_VAR **var, double *value) {
    SCIP_Bool linear = FALSE;
    double lhs, rhs, constant = 0;
    int count;
    int64_t at = d->start[d->rows];
    if (!is_linear(cons)) return SCIP_OKAY;
    lhs = SCIPconsGetLhs(scip, cons, &linear);
    if (linear) rhs = SCIPconsGetRhs(scip, cons, &linear);
    if (linear) SCIP_CALL(SCIPgetConsNVars(scip, cons, &count, &linear));
    if (!linear || count > d->cols) return SCIP_OKAY;
    SCIP_CALL(SCIPgetConsVars(scip, cons, var, d->cols, &linear));
    if (linear) SCIP_CALL(SCIPgetConsVals(scip, cons, value, d->cols, &linear));
    if (!linear) return SCIP_OKAY;
    for (int k = 0; k < count; k++) {
        if (SCIPvarIsNegated(var[k])) { /* constant - x */
            constant += value[k] * SCIPvarGetNegationConstant(var[k]);
            var[k] = SCIPvarGetNegationVar(var[k]);
            value[k] = -value[k];
        }
        if (SCIPvarGetProbindex(var[k]) < 0) return SCIP_OKAY;
        d->index[at] = SCIPvarGetProbindex(var[k]);
        d->value[at++] = value[k];
    }
    d->lhs[d->rows] = side_of(scip, lhs, constant);
    d->rhs[d->rows] = side_of(scip, rhs, constant);
    d->start[++d->rows] = at;
    return SCIP_OKAY;
}

/* The arrays for so many columns, and for the rows of these constraints. */
static int enough_memory(SCIP *scip, SCIP_PROPDATA *d, SCIP_CONS **cons, int count) {
    int64_t nonzeros = 0;
    size_t cols = (size_t)d->cols + 1, rows = (size_t)count + 1;
    for (int k = 0; k < count; k++) {
        SCIP_Bool known = FALSE;
        int length = 0;
        if (is_linear(cons[k]) && SCIPgetConsNVars(scip, cons[k], &length, &known) == SCIP_OKAY && known)
            nonzeros += length;
    }
    d->var = malloc(cols * sizeof *d->var);
    d->start = calloc(rows, sizeof *d->start);
    d->index = malloc(((size_t)nonzeros + 1) * sizeof *d->index);
    d->value = malloc(((size_t)nonzeros + 1) * sizeof *d->value);
    d->lhs = malloc(rows * sizeof *d->lhs);
    d->rhs = malloc(rows * sizeof *d->rhs);
    d->root_lb = malloc(cols * sizeof *d->root_lb);
    d->root_ub = malloc(cols * sizeof *d->root_ub);
    d->lb = malloc(cols * sizeof *d->lb);
    d->ub = malloc(cols * sizeof *d->ub);
    d->col = malloc(cols * sizeof *d->col);
    d->new_lb = malloc(cols * sizeof *d->new_lb);
    d->new_ub = malloc(cols * sizeof *d->new_ub);
    return d->var && d->start && d->index && d->value && d->lhs && d->rhs && d->root_lb && d->root_ub && d->lb &&
           d->ub && d->col && d->new_lb && d->new_ub;
}

/* The handle for the rows. */
static gpuopt_status make_propagator(SCIP_PROPDATA *d, const uint8_t *integer) {
    gpuopt_context_desc where = GPUOPT_INIT(gpuopt_context_desc);
    gpuopt_propagator_desc desc = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_status status;
    where.threads = d->threads;
#ifdef EXAMPLE_WITH_CUDA
    if (strcmp(d->backend, "cuda") == 0) where.backend = gpuopt_backend_cuda();
#endif
    status = gpuopt_context_create(&where, &d->context);
    desc.matrix.rows = d->rows;
    desc.matrix.cols = d->cols;
    desc.matrix.start = d->start;
    desc.matrix.index = d->index;
    desc.matrix.value = d->value;
    desc.matrix.layout = GPUOPT_LAYOUT_CSR;
    desc.lhs = d->lhs;
    desc.rhs = d->rhs;
    desc.lb = d->root_lb;
    desc.ub = d->root_ub;
    desc.integer = integer;
    desc.marking = GPUOPT_ON;
    desc.trail_capacity = 16 * (int64_t)d->cols + 4096;
    return status ? status : gpuopt_propagator_create(d->context, &desc, NULL, &d->propagator);
}

static SCIP_DECL_PROPINITSOL(begin) {
    SCIP_PROPDATA *d = SCIPpropGetData(prop);
    SCIP_CONS **cons = SCIPgetConss(scip);
    const int count = SCIPgetNConss(scip);
    SCIP_VAR **var = NULL;
    double *value = NULL;
    uint8_t *integer = NULL;
    SCIP_RETCODE code = SCIP_OKAY;
    if (d->failed || SCIPpropGetFreq(prop) < 0) return SCIP_OKAY;
    d->cols = SCIPgetNVars(scip);
    d->rows = 0;
    d->node = -1;
    var = malloc(((size_t)d->cols + 1) * sizeof *var);
    value = malloc(((size_t)d->cols + 1) * sizeof *value);
    integer = malloc((size_t)d->cols + 1);
    if (!var || !value || !integer || !enough_memory(scip, d, cons, count)) code = SCIP_NOMEMORY;
    for (int j = 0; j < d->cols && code == SCIP_OKAY; j++) {
        d->var[j] = SCIPgetVars(scip)[j];
        d->root_lb[j] = side_of(scip, SCIPvarGetLbGlobal(d->var[j]), 0);
        d->root_ub[j] = side_of(scip, SCIPvarGetUbGlobal(d->var[j]), 0);
        integer[j] = SCIPvarIsIntegral(d->var[j]) != 0;
    }
    for (int k = 0; k < count && code == SCIP_OKAY; k++) code = add_row(scip, d, cons[k], var, value);
    if (code == SCIP_OKAY && make_propagator(d, integer)) give_up(scip, d, "creating it");
    if (code == SCIP_NOMEMORY) give_up(scip, d, "out of memory"), code = SCIP_OKAY;
    free(var);
    free(value);
    free(integer);
    return code;
}

static SCIP_DECL_PROPEXITSOL(end) {
    (void)scip;
    (void)restart;
    forget(SCIPpropGetData(prop));
    return SCIP_OKAY;
}

/* ---- Propagation ---- */

/* Brings level 1 to SCIP's present bounds. *from receives where the changes of this call begin. MEMORY: the trail is
 * full. */
static gpuopt_status follow(SCIP *scip, SCIP_PROPDATA *d, int64_t *from) {
    const SCIP_Longint node = SCIPnodeGetNumber(SCIPgetCurrentNode(scip));
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    gpuopt_status status = GPUOPT_OK;
    int fresh = node != d->node, count = 0;
    for (int j = 0; j < d->cols && !fresh; j++) /* in probing, bounds come back */
        fresh = SCIPvarGetLbLocal(d->var[j]) < d->lb[j] - 1e-9 || SCIPvarGetUbLocal(d->var[j]) > d->ub[j] + 1e-9;
    if (fresh) {
        if (d->node >= 0) status = gpuopt_propagator_pop(d->propagator, 1);
        d->node = -1;
        if (!status) status = gpuopt_propagator_push(d->propagator, NULL);
        if (status) return status;
        d->node = node;
        memcpy(d->lb, d->root_lb, sizeof *d->lb * (size_t)d->cols);
        memcpy(d->ub, d->root_ub, sizeof *d->ub * (size_t)d->cols);
    }
    status = gpuopt_propagator_get_trail(d->propagator, &trail);
    *from = trail.changes;
    for (int j = 0; j < d->cols; j++) {
        const double lb = side_of(scip, SCIPvarGetLbLocal(d->var[j]), 0);
        const double ub = side_of(scip, SCIPvarGetUbLocal(d->var[j]), 0);
        if (lb <= d->lb[j] && ub >= d->ub[j]) continue;
        d->col[count] = j;
        d->new_lb[count] = d->lb[j] = fmax(lb, d->lb[j]);
        d->new_ub[count++] = d->ub[j] = fmin(ub, d->ub[j]);
    }
    if (!status && count > 0)
        status = gpuopt_propagator_set_bounds(d->propagator, GPUOPT_HOST, count, d->col, d->new_lb, d->new_ub);
    return status;
}

/* Gives SCIP the bounds that rows have implied since position `from`. */
static SCIP_RETCODE take_over(SCIP *scip, SCIP_PROP *prop, int64_t from, SCIP_RESULT *result) {
    SCIP_PROPDATA *d = SCIPpropGetData(prop);
    gpuopt_propagator_changes changes = GPUOPT_INIT(gpuopt_propagator_changes);
    changes.capacity = PER_CALL;
    changes.col = d->change_col;
    changes.row = d->change_row;
    changes.upper = d->change_upper;
    changes.new_bound = d->change_bound;
    do {
        if (gpuopt_propagator_get_changes(d->propagator, GPUOPT_HOST, from, &changes)) {
            give_up(scip, d, "reading changes");
            return SCIP_OKAY;
        }
        for (int k = 0; k < changes.count && k < PER_CALL; k++) {
            const int j = d->change_col[k];
            SCIP_Bool infeasible = FALSE, tightened = FALSE;
            if (d->change_row[k] < 0) continue; /* one that SCIP had made */
            if (d->change_upper[k]) {
                d->ub[j] = d->change_bound[k];
                SCIP_CALL(SCIPinferVarUbProp(scip, d->var[j], d->ub[j], prop, d->change_row[k], TRUE, &infeasible,
                                             &tightened));
            } else {
                d->lb[j] = d->change_bound[k];
                SCIP_CALL(SCIPinferVarLbProp(scip, d->var[j], d->lb[j], prop, d->change_row[k], TRUE, &infeasible,
                                             &tightened));
            }
            if (tightened) d->found++, *result = SCIP_REDUCEDDOM;
            if (infeasible) {
                *result = SCIP_CUTOFF;
                return SCIP_OKAY;
            }
        }
        from += PER_CALL;
    } while (changes.count > PER_CALL);
    return SCIP_OKAY;
}

/* The premises of the infeasibility are a conflict: SCIP has all their bounds by now. */
static SCIP_RETCODE analyze(SCIP *scip, SCIP_PROPDATA *d) {
    gpuopt_propagator_reason reason = GPUOPT_INIT(gpuopt_propagator_reason);
    gpuopt_propagator_changes change = GPUOPT_INIT(gpuopt_propagator_changes);
    reason.capacity = PER_CALL;
    reason.premises = d->premise;
    if (!SCIPisConflictAnalysisApplicable(scip) || gpuopt_propagator_explain(d->propagator, -1, &reason) ||
        reason.count > PER_CALL)
        return SCIP_OKAY;
    SCIP_CALL(SCIPinitConflictAnalysis(scip, SCIP_CONFTYPE_PROPAGATION, FALSE));
    change.capacity = 1;
    change.col = d->change_col;
    change.upper = d->change_upper;
    for (int64_t k = 0; k < reason.count; k++) {
        if (gpuopt_propagator_get_changes(d->propagator, GPUOPT_HOST, d->premise[k], &change)) return SCIP_OKAY;
        if (d->change_upper[0]) SCIP_CALL(SCIPaddConflictUb(scip, d->var[d->change_col[0]], NULL));
        else SCIP_CALL(SCIPaddConflictLb(scip, d->var[d->change_col[0]], NULL));
    }
    SCIP_CALL(SCIPanalyzeConflict(scip, 0, NULL));
    d->conflicts++;
    return SCIP_OKAY;
}

static SCIP_DECL_PROPEXEC(propagate) {
    SCIP_PROPDATA *d = SCIPpropGetData(prop);
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
    int64_t from = 0;
    gpuopt_status status;
    (void)proptiming;
    *result = SCIP_DIDNOTRUN;
    if (d->failed || !d->propagator || d->rows == 0) return SCIP_OKAY;
    status = follow(scip, d, &from);
    if (status == GPUOPT_ERROR_MEMORY) { /* start over with an empty trail */
        d->lb[0] = HUGE_VAL;
        status = follow(scip, d, &from);
    }
    if (status || gpuopt_propagator_round(d->propagator, ROUNDS, &info)) {
        give_up(scip, d, "a step");
        return SCIP_OKAY;
    }
    d->calls++;
    *result = SCIP_DIDNOTFIND;
    SCIP_CALL(take_over(scip, prop, from, result));
    if (*result == SCIP_CUTOFF || info.outcome == GPUOPT_INFEASIBLE) {
        if (info.outcome == GPUOPT_INFEASIBLE && *result != SCIP_CUTOFF) SCIP_CALL(analyze(scip, d));
        d->cutoffs++;
        *result = SCIP_CUTOFF;
    }
    return SCIP_OKAY;
}

/* Why a row implied a bound: the bounds of its other columns that its activity had then. */
static SCIP_DECL_PROPRESPROP(explain) {
    SCIP_PROPDATA *d = SCIPpropGetData(prop);
    int lower = boundtype == SCIP_BOUNDTYPE_LOWER, of_lhs = 0;
    (void)relaxedbd;
    for (int64_t k = d->start[inferinfo]; k < d->start[inferinfo + 1]; k++)
        if (d->var[d->index[k]] == infervar) of_lhs = lower == (d->value[k] > 0);
    for (int64_t k = d->start[inferinfo]; k < d->start[inferinfo + 1]; k++) {
        SCIP_VAR *other = d->var[d->index[k]];
        if (other == infervar || d->value[k] == 0) continue;
        if (of_lhs == (d->value[k] > 0)) SCIP_CALL(SCIPaddConflictUb(scip, other, bdchgidx)); /* the largest activity */
        else SCIP_CALL(SCIPaddConflictLb(scip, other, bdchgidx));
    }
    d->reasons++;
    *result = SCIP_SUCCESS;
    return SCIP_OKAY;
}

/* ---- Registration ---- */

static SCIP_DECL_PROPFREE(free_data) {
    SCIP_PROPDATA *d = SCIPpropGetData(prop);
    (void)scip;
    forget(d);
    free(d);
    return SCIP_OKAY;
}

SCIP_RETCODE SCIPincludePropGpuopt(SCIP *scip) {
    SCIP_PROPDATA *d = calloc(1, sizeof *d);
    SCIP_PROP *prop;
    if (!d) return SCIP_NOMEMORY;
    SCIP_CALL(SCIPincludePropBasic(scip, &prop, PROP, "linear constraints in rounds", 1, -1, FALSE,
                                   SCIP_PROPTIMING_BEFORELP, propagate, d));
    SCIP_CALL(SCIPsetPropInitsol(scip, prop, begin));
    SCIP_CALL(SCIPsetPropExitsol(scip, prop, end));
    SCIP_CALL(SCIPsetPropResprop(scip, prop, explain));
    SCIP_CALL(SCIPsetPropFree(scip, prop, free_data));
    SCIP_CALL(
        SCIPaddStringParam(scip, "propagating/" PROP "/backend", "cpu or cuda", &d->backend, FALSE, "cpu", NULL, NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "propagating/" PROP "/threads", "threads of the cpu backend", &d->threads, FALSE, 1,
                              1, 1024, NULL, NULL));
    return SCIP_OKAY;
}

void SCIPprintPropGpuopt(SCIP *scip) {
    SCIP_PROP *prop = SCIPfindProp(scip, PROP);
    const SCIP_PROPDATA *d = prop ? SCIPpropGetData(prop) : NULL;
    if (d && d->calls > 0)
        printf("gpuopt's propagator: %ld calls, %ld bounds, %ld cutoffs, %ld conflicts, %ld reasons\n", d->calls,
               d->found, d->cutoffs, d->conflicts, d->reasons);
}
