/* SPDX-License-Identifier: MIT
 *
 * See scip_branching.h. At a node the rule gives the LP with its cuts, bounds and basis to a handle that lives as long
 * as the tree, and both children of the candidates to one batch. What comes back is used in four ways: a node without a
 * feasible child is cut off, an infeasible side tightens a bound, gains feed SCIP's pseudo-costs, and the best product
 * of gains branches.
 *
 * How many candidates: all while the rule has taken less than its share of the time; otherwise those whose pseudo-costs
 * come from few observations, up to what the share allows; if there are none, SCIP's own rule decides.
 */
#include "examples/hosts/scip_branching.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/hosts/node_lp.h"
#include "gpuopt.h"

#define RULE "gpuopt"
enum { RELIABLE = 8, FEWEST = 4 };

struct SCIP_BranchruleData {
    char *backend;
    int threads, iterations;
    SCIP_Real share;
    node_lp *lp;
    int failed;
    double *cost, *lb, *ub; /* [most_cols] of the LP's columns */
    uint8_t *status;
    int *index; /* [most_cols] entries of a row */
    int most_cols;
    int *col, *order; /* [most_candidates], like the next two */
    double *value, *score;
    node_child *child; /* [2 most_candidates] */
    int most_candidates;
    node_lp_times sum; /* of handles that were closed */
    long cut_off, tightened, branched, left;
};

static void warn(void *scip, const char *message) { SCIPwarningMessage(scip, "%s\n", message); }

static void add_times(node_lp_times *sum, const node_lp_times *times) {
    sum->calls += times->calls;
    sum->children += times->children;
    sum->iterations += times->iterations;
    sum->rows_added += times->rows_added;
    sum->rows_removed += times->rows_removed;
    sum->handles += times->handles;
    sum->update += times->update;
    sum->branch += times->branch;
}

static void forget(SCIP_BRANCHRULEDATA *data) {
    if (data->lp) add_times(&data->sum, node_lp_cost(data->lp));
    node_lp_close(data->lp);
    data->lp = NULL;
}

static uint8_t status_of(SCIP_BASESTAT status) {
    return status == SCIP_BASESTAT_BASIC   ? GPUOPT_VARIABLE_BASIC
           : status == SCIP_BASESTAT_LOWER ? GPUOPT_VARIABLE_AT_LOWER
           : status == SCIP_BASESTAT_UPPER ? GPUOPT_VARIABLE_AT_UPPER
                                           : GPUOPT_VARIABLE_AT_ZERO;
}

static int enlarge(void *array_of, int count, size_t size) {
    void **array = array_of, *larger = realloc(*array, (size_t)count * size);
    if (larger) *array = larger;
    return larger != NULL;
}

/* Memory for so many columns and candidates. */
static int enough_memory(SCIP_BRANCHRULEDATA *d, int cols, int candidates) {
    if (cols > d->most_cols) {
        if (!enlarge(&d->cost, cols, sizeof *d->cost) || !enlarge(&d->lb, cols, sizeof *d->lb) ||
            !enlarge(&d->ub, cols, sizeof *d->ub) || !enlarge(&d->status, cols, sizeof *d->status) ||
            !enlarge(&d->index, cols, sizeof *d->index))
            return 0;
        d->most_cols = cols;
    }
    if (candidates > d->most_candidates) {
        if (!enlarge(&d->col, candidates, sizeof *d->col) || !enlarge(&d->order, candidates, sizeof *d->order) ||
            !enlarge(&d->value, candidates, sizeof *d->value) || !enlarge(&d->score, candidates, sizeof *d->score) ||
            !enlarge(&d->child, 2 * candidates, sizeof *d->child))
            return 0;
        d->most_candidates = candidates;
    }
    return 1;
}

/* Gives SCIP's LP to the handle. Returns the objective of its solution without SCIP's constant. */
static double give_lp(SCIP_BRANCHRULEDATA *d, SCIP_COL **col, int cols, SCIP_ROW **row, int rows) {
    double objective = 0;
    for (int j = 0; j < cols; j++) {
        d->cost[j] = SCIPcolGetObj(col[j]);
        d->lb[j] = SCIPcolGetLb(col[j]);
        d->ub[j] = SCIPcolGetUb(col[j]);
        d->status[j] = status_of(SCIPcolGetBasisStatus(col[j]));
        objective += d->cost[j] * SCIPcolGetPrimsol(col[j]);
    }
    node_lp_columns(d->lp, cols, d->cost, d->lb, d->ub, d->status);
    for (int i = 0; i < rows; i++) {
        SCIP_COL **entry = SCIProwGetCols(row[i]);
        int count = SCIProwGetNLPNonz(row[i]);
        double constant = SCIProwGetConstant(row[i]);
        for (int k = 0; k < count; k++) d->index[k] = SCIPcolGetLPPos(entry[k]);
        node_lp_row(d->lp, SCIProwGetIndex(row[i]), count, d->index, SCIProwGetVals(row[i]),
                    SCIProwGetLhs(row[i]) - constant, SCIProwGetRhs(row[i]) - constant,
                    status_of(SCIProwGetBasisStatus(row[i])));
    }
    return objective;
}

/* How many candidates the rule may afford now. */
static int affordable(SCIP *scip, SCIP_BRANCHRULEDATA *d, int candidates) {
    node_lp_times t = d->sum;
    double spent, per_child, per_call, left;
    if (d->lp) add_times(&t, node_lp_cost(d->lp));
    spent = t.update + t.branch;
    if (t.calls == 0) return candidates;
    per_call = t.update / (double)t.calls;
    per_child = t.branch / (double)t.children;
    left = d->share * SCIPgetSolvingTime(scip) + 0.5 - spent - per_call;
    return left <= 0 ? 0 : left > 2 * per_child * candidates ? candidates : (int)(left / (2 * per_child));
}

/* Chooses `most` candidates at most and puts their numbers into d->order: all of them if there are so few, else those
 * with the best pseudo-costs among the unreliable ones. */
static int choose(SCIP *scip, SCIP_BRANCHRULEDATA *d, SCIP_VAR **var, const double *value, int count, int most) {
    int chosen = 0;
    for (int k = 0; k < count; k++) {
        double down = SCIPgetVarPseudocostCountCurrentRun(scip, var[k], 0);
        double up = SCIPgetVarPseudocostCountCurrentRun(scip, var[k], 1), score;
        int at;
        if (most < count && fmin(down, up) >= RELIABLE) continue;
        score = SCIPgetVarPseudocostScore(scip, var[k], value[k]);
        for (at = chosen < most ? chosen++ : most; at > 0 && score > d->score[at - 1]; at--)
            if (at < most) d->score[at] = d->score[at - 1], d->order[at] = d->order[at - 1];
        if (at < most) d->score[at] = score, d->order[at] = k;
    }
    return chosen;
}

/* Uses what the children said. */
static SCIP_RETCODE use(SCIP *scip, SCIP_BRANCHRULEDATA *d, SCIP_VAR **var, const double *value, int chosen,
                        double objective, double constant, SCIP_RESULT *result) {
    double best_score = -1, bound = -HUGE_VAL;
    int best = -1;
    for (int q = 0; q < chosen; q++) {
        const node_child *child = d->child + 2 * q;
        double down = child[0].infeasible ? HUGE_VAL : child[0].bound, up = child[1].infeasible ? HUGE_VAL : child[1].bound;
        if (child[0].infeasible && child[1].infeasible) {
            d->cut_off++;
            *result = SCIP_CUTOFF;
            return SCIP_OKAY;
        }
        bound = fmax(bound, fmin(down, up));
    }
    for (int q = 0; q < chosen; q++) {
        const node_child *child = d->child + 2 * q;
        SCIP_VAR *v = var[d->order[q]];
        double x = value[d->order[q]];
        SCIP_Bool infeasible = FALSE, tightened = FALSE;
        if (child[0].infeasible) SCIP_CALL(SCIPtightenVarLb(scip, v, ceil(x), TRUE, &infeasible, &tightened));
        if (child[1].infeasible) SCIP_CALL(SCIPtightenVarUb(scip, v, floor(x), TRUE, &infeasible, &tightened));
        if (infeasible) {
            *result = SCIP_CUTOFF;
            return SCIP_OKAY;
        }
        if (tightened) d->tightened++, *result = SCIP_REDUCEDDOM;
    }
    for (int q = 0; q < chosen; q++) {
        const node_child *child = d->child + 2 * q;
        SCIP_VAR *v = var[d->order[q]];
        double x = value[d->order[q]], gain[2], score;
        for (int side = 0; side < 2; side++) {
            gain[side] = fmax(child[side].bound - objective, 0);
            if (!isfinite(gain[side])) gain[side] = 0;
            if (!child[side].infeasible)
                SCIP_CALL(SCIPupdateVarPseudocost(scip, v, (side ? ceil(x) : floor(x)) - x, gain[side], 1.0));
        }
        score = SCIPgetBranchScore(scip, v, gain[0], gain[1]);
        if (score > best_score) best_score = score, best = q;
    }
    if (*result == SCIP_REDUCEDDOM) return SCIP_OKAY;
    if (isfinite(bound) && bound > objective) SCIP_CALL(SCIPupdateLocalLowerbound(scip, bound + constant));
    d->branched++;
    SCIP_CALL(SCIPbranchVarVal(scip, var[d->order[best]], value[d->order[best]], NULL, NULL, NULL));
    *result = SCIP_BRANCHED;
    return SCIP_OKAY;
}

static SCIP_DECL_BRANCHEXECLP(branch_lp) {
    SCIP_BRANCHRULEDATA *d = SCIPbranchruleGetData(branchrule);
    SCIP_VAR **var;
    SCIP_COL **col;
    SCIP_ROW **row;
    SCIP_Real *value, *fraction;
    int candidates, first, implied, cols, rows, chosen;
    double objective, constant;
    (void)allowaddcons;
    *result = SCIP_DIDNOTRUN;
    if (d->failed || !SCIPisLPSolBasic(scip) || !SCIPallColsInLP(scip)) return SCIP_OKAY;
    SCIP_CALL(SCIPgetLPBranchCands(scip, &var, &value, &fraction, &candidates, &first, &implied));
    SCIP_CALL(SCIPgetLPColsData(scip, &col, &cols));
    SCIP_CALL(SCIPgetLPRowsData(scip, &row, &rows));
    if (first > 0) candidates = first; /* those of the highest priority */
    if (candidates == 0 || rows == 0) return SCIP_OKAY;
    if (!d->lp && !(d->lp = node_lp_open(d->backend, d->threads, warn, scip))) d->failed = 1;
    if (!d->failed && !enough_memory(d, cols, candidates)) d->failed = 1, warn(scip, "gpuopt: out of memory");
    if (d->failed) return SCIP_OKAY;
    chosen = affordable(scip, d, candidates);
    chosen = chosen < FEWEST && chosen < candidates ? 0 : choose(scip, d, var, value, candidates, chosen);
    if (chosen == 0) {
        d->left++;
        return SCIP_OKAY;
    }
    for (int q = 0; q < chosen; q++) {
        d->col[q] = SCIPcolGetLPPos(SCIPvarGetCol(var[d->order[q]]));
        d->value[q] = value[d->order[q]];
    }
    objective = give_lp(d, col, cols, row, rows);
    constant = SCIPgetLPObjval(scip) - objective;
    if (node_lp_branch(d->lp, chosen, d->col, d->value, SCIPgetCutoffbound(scip) - constant, d->iterations, d->child)) {
        d->failed = 1;
        forget(d);
        return SCIP_OKAY;
    }
    return use(scip, d, var, value, chosen, objective, constant, result);
}

static SCIP_DECL_BRANCHEXITSOL(end_search) {
    (void)scip;
    forget(SCIPbranchruleGetData(branchrule));
    return SCIP_OKAY;
}

static SCIP_DECL_BRANCHFREE(free_rule) {
    SCIP_BRANCHRULEDATA *d = SCIPbranchruleGetData(branchrule);
    void *array[10];
    (void)scip;
    forget(d);
    array[0] = d->cost, array[1] = d->lb, array[2] = d->ub, array[3] = d->status, array[4] = d->index;
    array[5] = d->col, array[6] = d->order, array[7] = d->value, array[8] = d->score, array[9] = d->child;
    for (int k = 0; k < 10; k++) free(array[k]);
    free(d);
    return SCIP_OKAY;
}

SCIP_RETCODE SCIPincludeBranchruleGpuopt(SCIP *scip) {
    SCIP_BRANCHRULEDATA *d = calloc(1, sizeof *d);
    SCIP_BRANCHRULE *rule;
    if (!d) return SCIP_NOMEMORY;
    SCIP_CALL(SCIPincludeBranchruleBasic(scip, &rule, RULE, "strong branching in batches", 1000000, -1, 1.0, d));
    SCIP_CALL(SCIPsetBranchruleExecLp(scip, rule, branch_lp));
    SCIP_CALL(SCIPsetBranchruleExitsol(scip, rule, end_search));
    SCIP_CALL(SCIPsetBranchruleFree(scip, rule, free_rule));
    SCIP_CALL(SCIPaddStringParam(scip, "branching/" RULE "/backend", "cpu or cuda", &d->backend, FALSE, "cpu", NULL,
                                 NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "branching/" RULE "/threads", "threads of the cpu backend", &d->threads, FALSE, 1,
                              1, 1024, NULL, NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "branching/" RULE "/iterations", "most iterations of a child", &d->iterations,
                              FALSE, 100, 1, 1000000, NULL, NULL));
    SCIP_CALL(SCIPaddRealParam(scip, "branching/" RULE "/share", "share of the solving time that the rule may take",
                               &d->share, FALSE, 0.5, 0.0, 1.0, NULL, NULL));
    return SCIP_OKAY;
}

void SCIPprintBranchruleGpuopt(SCIP *scip) {
    SCIP_BRANCHRULE *rule = SCIPfindBranchrule(scip, RULE);
    const SCIP_BRANCHRULEDATA *d = rule ? SCIPbranchruleGetData(rule) : NULL;
    node_lp_times t;
    if (!d) return;
    t = d->sum;
    if (d->lp) add_times(&t, node_lp_cost(d->lp));
    printf("gpuopt: %lld calls, %lld children, %lld iterations, %lld handles, %lld rows added, %lld removed, "
           "%.3f s update, %.3f s children, %ld cut off, %ld tightened, %ld branched, %ld left to SCIP%s\n",
           (long long)t.calls, (long long)t.children, (long long)t.iterations, (long long)t.handles,
           (long long)t.rows_added, (long long)t.rows_removed, t.update, t.branch, d->cut_off, d->tightened,
           d->branched, d->left, d->failed ? ", failed" : "");
}
