/* SPDX-License-Identifier: MIT
 *
 * See scip_branching.h. At a node the rule gives the LP with its cuts, bounds and basis to a handle that lives as long
 * as the tree, and both children of the candidates to one batch. What comes back is used in five ways: a node without a
 * feasible child is cut off, an infeasible side tightens a bound, gains feed SCIP's pseudo-costs, the best product
 * of gains branches, and the children inherit their proven bounds.
 *
 * node_budget.h decides how many candidates a node may have. Those with unreliable pseudo-costs come first. SCIP's own
 * rule takes over if there are none, or if no child raises the bound; it then finds our gains as its own.
 */
#include "examples/hosts/scip_branching.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/hosts/node_budget.h"
#include "examples/hosts/node_lp.h"
#include "examples/hosts/scip_implied.h"
#include "gpuopt.h"

#define RULE "gpuopt"
enum { RELIABLE = 5 };                /* observations on either side; as many as SCIP's rule asks for */
enum { KNOWN, EXPECTED, UNRELIABLE }; /* ranks: solved at this node; by reliable pseudo-costs; by unreliable ones */

typedef struct candidate {
    SCIP_VAR *var;
    int col, rank;   /* rank: what is solved first, see below */
    double value;    /* in the LP's solution */
    double expected; /* score by pseudo-costs, or by the children of an earlier LP of this node */
    double score;    /* by the children, if they were solved */
} candidate;

struct SCIP_BranchruleData {
    char *backend;
    int threads, iterations, propagate, solutions, fail;
    SCIP_Real share, worth;
    node_lp *lp;
    int failed;
    node_budget budget;
    scip_implied implied;
    SCIP_VAR **var;         /* [most_candidates] */
    double *cost, *lb, *ub; /* [most_cols] of the LP's columns */
    uint8_t *status;
    int *index; /* [most_cols] entries of a row */
    int most_cols;
    candidate *candidate; /* [most_candidates] */
    int *col;             /* [most_candidates] as node_lp_branch() takes them, and value */
    double *value;
    node_child *child; /* [2 most_candidates] */
    int most_candidates;
    long cut_off, tightened, branched, left, fed;
};

static void warn(void *scip, const char *message) { SCIPwarningMessage(scip, "%s\n", message); }

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
        if (!enlarge(&d->candidate, candidates, sizeof *d->candidate) ||
            !enlarge(&d->col, candidates, sizeof *d->col) || !enlarge(&d->var, candidates, sizeof *d->var) ||
            !enlarge(&d->value, candidates, sizeof *d->value) || !enlarge(&d->child, 2 * candidates, sizeof *d->child))
            return 0;
        d->most_candidates = candidates;
    }
    return 1;
}

/* A row's side without its constant. */
static double side(SCIP *scip, double value, double constant) {
    return SCIPisInfinity(scip, fabs(value)) ? copysign(HUGE_VAL, value) : value - constant;
}

/* Gives SCIP's LP to the handle. Returns the objective of its solution without SCIP's constant. */
static double give_lp(SCIP *scip, SCIP_BRANCHRULEDATA *d) {
    SCIP_COL **col;
    SCIP_ROW **row;
    int cols, rows;
    double objective = 0;
    if (SCIPgetLPColsData(scip, &col, &cols) != SCIP_OKAY || SCIPgetLPRowsData(scip, &row, &rows) != SCIP_OKAY)
        return 0;
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
                    side(scip, SCIProwGetLhs(row[i]), constant), side(scip, SCIProwGetRhs(row[i]), constant),
                    status_of(SCIProwGetBasisStatus(row[i])));
    }
    return objective;
}

/* By rank, then by score. */
static int compare(const void *first, const void *second) {
    const candidate *a = first, *b = second;
    if (a->rank != b->rank) return b->rank - a->rank;
    if (a->expected != b->expected) return a->expected > b->expected ? -1 : 1;
    return a->col - b->col;
}

/* Sorts the candidates. rank [3] receives how many have each rank, *known the best score of the known ones. */
static SCIP_RETCODE sort(SCIP *scip, SCIP_BRANCHRULEDATA *d, SCIP_VAR **var, const double *value, int count, int *rank,
                         double *known) {
    for (int k = 0; k < count; k++) {
        candidate *c = &d->candidate[k];
        double down, up, lp;
        c->var = var[k];
        c->value = value[k];
        c->col = SCIPcolGetLPPos(SCIPvarGetCol(var[k]));
        if (SCIPgetVarStrongbranchNode(scip, var[k]) == SCIPgetNNodes(scip)) {
            SCIP_CALL(SCIPgetVarStrongbranchLast(scip, var[k], &down, &up, NULL, NULL, NULL, &lp));
            c->rank = KNOWN;
            c->expected = SCIPgetBranchScore(scip, var[k], fmax(down - lp, 0), fmax(up - lp, 0));
            *known = fmax(*known, c->expected);
        } else {
            int few = SCIPgetVarPseudocostCountCurrentRun(scip, var[k], SCIP_BRANCHDIR_DOWNWARDS) < RELIABLE ||
                      SCIPgetVarPseudocostCountCurrentRun(scip, var[k], SCIP_BRANCHDIR_UPWARDS) < RELIABLE;
            c->rank = few ? UNRELIABLE : EXPECTED;
            c->expected = SCIPgetVarPseudocostScore(scip, var[k], value[k]);
        }
        rank[c->rank]++;
    }
    qsort(d->candidate, (size_t)count, sizeof *d->candidate, compare);
    return SCIP_OKAY;
}

/* Solves the children of the candidates from `first` to last - 1. SCIP propagates the most promising ones before.
 * *failed receives what node_lp_branch() returns. A call that makes a handle does not show what others cost. */
static SCIP_RETCODE solve(SCIP *scip, SCIP_BRANCHRULEDATA *d, int first, int last, double cutoff, int *failed) {
    const int64_t handles = node_lp_cost(d->lp)->handles;
    scip_implied *implied = &d->implied;
    double begin = SCIPgetSolvingTime(scip);
    int count = last - first, most = first == 0 ? d->propagate : 0;
    for (int k = 0; k < count; k++) {
        d->var[k] = d->candidate[first + k].var;
        d->col[k] = d->candidate[first + k].col;
        d->value[k] = d->candidate[first + k].value;
    }
    if (most > 0) {
        SCIP_CALL(scip_implied_find(scip, implied, count < most ? count : most, d->var, d->value, d->lb, d->ub));
        node_lp_implied(d->lp, implied->children, implied->start, implied->bounds.col, implied->bounds.lb,
                        implied->bounds.ub);
    }
    *failed = node_lp_branch(d->lp, count, d->col, d->value, cutoff, d->iterations, d->child + 2 * first);
    for (int k = 0; most > 0 && k < implied->children; k++)
        if (implied->infeasible[k]) d->child[k].infeasible = 1;
    if (handles != node_lp_cost(d->lp)->handles) count = 0;
    node_budget_call(&d->budget, count, SCIPgetSolvingTime(scip) - begin);
    return SCIP_OKAY;
}

/* Turns the children's bounds into gains, scores and pseudo-costs, and learns how good the pseudo-costs were. *most
 * receives the largest gain. */
static SCIP_RETCODE learn(SCIP *scip, SCIP_BRANCHRULEDATA *d, int solved, double objective, double constant,
                          double *most) {
    double best = 0, expected = -1, of_expected = 0;
    *most = fmax(SCIPgetCutoffbound(scip) - constant - objective, 0);
    if (*most > 1e20) *most = 0;
    for (int k = 0; k < 2 * solved; k++)
        if (!d->child[k].infeasible) *most = fmax(*most, d->child[k].bound - objective);
    for (int k = 0; k < solved; k++) {
        candidate *c = &d->candidate[k];
        double gain[2], lp = objective + constant;
        for (int side = 0; side < 2; side++) {
            const node_child *child = &d->child[2 * k + side];
            gain[side] = child->infeasible ? *most : fmax(child->bound - objective, 0);
            if (child->infeasible) continue;
            SCIP_CALL(SCIPupdateVarPseudocost(scip, c->var, floor(c->value) + side - c->value, gain[side], 1.0));
        }
        SCIP_CALL(SCIPsetVarStrongbranchData(scip, c->var, lp, c->value, lp + gain[0], lp + gain[1], TRUE, TRUE, 0,
                                             d->iterations));
        c->score = SCIPgetBranchScore(scip, c->var, gain[0], gain[1]);
        best = fmax(best, c->score);
        if (c->expected > expected) expected = c->expected, of_expected = c->score;
    }
    if (best > 0) node_budget_learn(&d->budget, sqrt(of_expected / best));
    return SCIP_OKAY;
}

/* Tightens a column's bounds at the node. *result is CUTOFF, or REDUCEDDOM if that changed something. */
static SCIP_RETCODE tighten(SCIP *scip, SCIP_BRANCHRULEDATA *d, SCIP_VAR *var, double lb, double ub,
                            SCIP_RESULT *result) {
    SCIP_Bool infeasible = FALSE, lower = FALSE, upper = FALSE;
    SCIP_CALL(SCIPtightenVarLb(scip, var, lb, TRUE, &infeasible, &lower));
    if (!infeasible) SCIP_CALL(SCIPtightenVarUb(scip, var, ub, TRUE, &infeasible, &upper));
    if (infeasible) d->cut_off++, *result = SCIP_CUTOFF;
    else if (lower || upper) d->tightened++, *result = SCIP_REDUCEDDOM;
    return SCIP_OKAY;
}

/* Uses infeasible children, and bounds that hold in both children of a candidate. *result is CUTOFF or REDUCEDDOM if
 * there are any. */
static SCIP_RETCODE reduce(SCIP *scip, SCIP_BRANCHRULEDATA *d, int solved, SCIP_RESULT *result) {
    const scip_bounds *both = &d->implied.both;
    SCIP_COL **col;
    int cols;
    for (int k = 0; k < solved && *result != SCIP_CUTOFF; k++) {
        const candidate *c = &d->candidate[k];
        int down = d->child[2 * k].infeasible, up = d->child[2 * k + 1].infeasible;
        if (down || up)
            SCIP_CALL(tighten(scip, d, c->var, down ? floor(c->value) + 1 : -SCIPinfinity(scip),
                              up ? floor(c->value) : SCIPinfinity(scip), result));
    }
    SCIP_CALL(SCIPgetLPColsData(scip, &col, &cols));
    for (int k = 0; k < both->count && *result != SCIP_CUTOFF; k++)
        SCIP_CALL(tighten(scip, d, SCIPcolGetVar(col[both->col[k]]), both->lb[k], both->ub[k], result));
    return SCIP_OKAY;
}

/* Branches on the best candidate: those that were not solved count by their pseudo-costs. */
static SCIP_RETCODE branch(SCIP *scip, SCIP_BRANCHRULEDATA *d, int count, int solved, double constant) {
    SCIP_NODE *node[2] = {NULL, NULL};
    double best_score = -1, bound = -HUGE_VAL;
    int best = 0;
    for (int k = 0; k < count; k++) {
        double score = k < solved ? d->candidate[k].score : d->candidate[k].expected;
        if (score > best_score) best_score = score, best = k;
    }
    for (int k = 0; k < solved; k++) bound = fmax(bound, fmin(d->child[2 * k].bound, d->child[2 * k + 1].bound));
    if (isfinite(bound)) SCIP_CALL(SCIPupdateLocalLowerbound(scip, bound + constant));
    SCIP_CALL(SCIPbranchVarVal(scip, d->candidate[best].var, d->candidate[best].value, &node[0], NULL, &node[1]));
    for (int side = 0; side < 2 && best < solved; side++)
        if (node[side] && isfinite(d->child[2 * best + side].bound))
            SCIP_CALL(SCIPupdateNodeLowerbound(scip, node[side], d->child[2 * best + side].bound + constant));
    d->branched++;
    return SCIP_OKAY;
}

/* Whether a few children can be of use: all candidates may be known, and the others expected to be worse. */
static int useful(const SCIP_BRANCHRULEDATA *d, int unknown, int unreliable, double known) {
    return unreliable > 0 || known == 0 || (unknown > 0 && d->candidate[0].expected > known);
}

static SCIP_RETCODE run(SCIP *scip, SCIP_BRANCHRULEDATA *d, int count, const int *rank, double known,
                        SCIP_RESULT *result) {
    int unreliable = rank[UNRELIABLE], solved = 0, failed = 0, most = node_budget_most(&d->budget, count, unreliable);
    double objective, constant, cutoff, gain;
    if (most < count && !useful(d, unreliable + rank[EXPECTED], unreliable, known)) {
        *result = SCIP_BRANCHED;
        return branch(scip, d, count, 0, 0);
    }
    if (most == 0) {
        d->left++;
        return SCIP_OKAY;
    }
    objective = give_lp(scip, d);
    constant = SCIPgetLPObjval(scip) - objective;
    cutoff = SCIPgetCutoffbound(scip) - constant;
    while (solved < most && !failed) { /* the first calls of all are small ones that show the cost */
        int measured = d->budget.calls > 0;
        SCIP_CALL(solve(scip, d, solved, most, cutoff, &failed));
        solved = most;
        if (measured) break;
        most = node_budget_most(&d->budget, count, unreliable) + (d->budget.calls > 0 ? 0 : solved);
        most = most < count ? most : count;
    }
    if (failed) {
        d->failed = failed < 0;
        return SCIP_OKAY;
    }
    SCIP_CALL(learn(scip, d, solved, objective, constant, &gain));
    SCIP_CALL(reduce(scip, d, solved, result));
    if (*result != SCIP_DIDNOTRUN) return SCIP_OKAY;
    if (known == 0 && gain <= 1e-9 * fmax(1, fabs(objective))) {
        d->fed++;
        return SCIP_OKAY;
    }
    SCIP_CALL(branch(scip, d, count, solved, constant));
    *result = SCIP_BRANCHED;
    return SCIP_OKAY;
}

static SCIP_DECL_BRANCHEXECLP(branch_lp) {
    SCIP_BRANCHRULEDATA *d = SCIPbranchruleGetData(branchrule);
    SCIP_VAR **var;
    SCIP_Real *value, *fraction;
    int count, first, implied, rank[3] = {0, 0, 0};
    double known = 0;
    (void)allowaddcons;
    *result = SCIP_DIDNOTRUN;
    if (d->failed || !SCIPisLPSolBasic(scip) || !SCIPallColsInLP(scip)) return SCIP_OKAY;
    SCIP_CALL(SCIPgetLPBranchCands(scip, &var, &value, &fraction, &count, &first, &implied));
    if (first > 0) count = first; /* those of the highest priority */
    if (count < 2 || SCIPgetNLPRows(scip) == 0) return SCIP_OKAY;
    if (SCIPgetNSols(scip) < d->solutions && d->share < 1) { /* a higher bound cuts nothing off yet */
        d->left++;
        return SCIP_OKAY;
    }
    if (!enough_memory(d, SCIPgetNLPCols(scip), count)) {
        d->failed = 1;
        warn(scip, "gpuopt is not used: out of memory");
        return SCIP_OKAY;
    }
    SCIP_CALL(sort(scip, d, var, value, count, rank, &known));
    d->budget.share = d->share;
    d->budget.worth = d->worth;
    node_budget_enter(&d->budget, SCIPgetSolvingTime(scip));
    SCIP_CALL(run(scip, d, count, rank, known, result));
    node_budget_leave(&d->budget, SCIPgetSolvingTime(scip));
    return SCIP_OKAY;
}

/* Opens the context, which a GPU takes a moment for, while SCIP is busy with presolving. */
static SCIP_DECL_BRANCHINIT(begin) {
    SCIP_BRANCHRULEDATA *d = SCIPbranchruleGetData(branchrule);
    memset(&d->budget, 0, sizeof d->budget);
    if (!d->lp && !d->failed) d->lp = node_lp_open(d->backend, d->threads, warn, scip);
    if (!d->lp) d->failed = 1;
    else node_lp_fail(d->lp, d->fail);
    return SCIP_OKAY;
}

static SCIP_DECL_BRANCHFREE(free_rule) {
    SCIP_BRANCHRULEDATA *d = SCIPbranchruleGetData(branchrule);
    void *array[10];
    (void)scip;
    node_lp_close(d->lp);
    array[0] = d->cost, array[1] = d->lb, array[2] = d->ub, array[3] = d->status, array[4] = d->index;
    array[5] = d->candidate, array[6] = d->col, array[7] = d->value, array[8] = d->child;
    array[9] = d->var;
    scip_implied_free(&d->implied);
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
    SCIP_CALL(SCIPsetBranchruleInit(scip, rule, begin));
    SCIP_CALL(SCIPsetBranchruleFree(scip, rule, free_rule));
    SCIP_CALL(
        SCIPaddStringParam(scip, "branching/" RULE "/backend", "cpu or cuda", &d->backend, FALSE, "cpu", NULL, NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "branching/" RULE "/threads", "threads of the cpu backend", &d->threads, FALSE, 1,
                              1, 1024, NULL, NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "branching/" RULE "/iterations", "most iterations of a child", &d->iterations,
                              FALSE, 100, 1, 1000000, NULL, NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "branching/" RULE "/propagate",
                              "most candidates of a node whose children SCIP propagates first", &d->propagate, FALSE, 0,
                              0, 1000000, NULL, NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "branching/" RULE "/solutions", "solutions that SCIP has before the rule begins",
                              &d->solutions, FALSE, 1, 0, 1000000, NULL, NULL));
    SCIP_CALL(SCIPaddRealParam(scip, "branching/" RULE "/share",
                               "share of the time that the rule may always take; 1: all candidates of all nodes",
                               &d->share, FALSE, 0.02, 0.0, 1.0, NULL, NULL));
    SCIP_CALL(SCIPaddRealParam(scip, "branching/" RULE "/worth", "the most that a call may cost beyond that, in nodes",
                               &d->worth, FALSE, 3.0, 0.0, 1000.0, NULL, NULL));
    SCIP_CALL(SCIPaddIntParam(scip, "branching/" RULE "/fail", "for tests: the call that loses the device; 0: none",
                              &d->fail, TRUE, 0, 0, 1000000, NULL, NULL));
    return SCIP_OKAY;
}

void SCIPprintBranchruleGpuopt(SCIP *scip) {
    SCIP_BRANCHRULE *rule = SCIPfindBranchrule(scip, RULE);
    const SCIP_BRANCHRULEDATA *d = rule ? SCIPbranchruleGetData(rule) : NULL;
    node_lp_times t = {0};
    if (!d) return;
    if (d->lp) t = *node_lp_cost(d->lp);
    printf("gpuopt: %lld calls, %lld children, %lld iterations, %lld handles, %lld rows added, %lld removed, "
           "%.3f s update, %.3f s children, %ld cut off, %ld tightened, %ld branched, %ld fed, %ld left to SCIP, "
           "%ld propagated, %ld of them infeasible, pseudo-costs %.2f%s\n",
           (long long)t.calls, (long long)t.children, (long long)t.iterations, (long long)t.handles,
           (long long)t.rows_added, (long long)t.rows_removed, t.update, t.branch, d->cut_off, d->tightened,
           d->branched, d->fed, d->left, d->implied.nodes, d->implied.cut_off, d->budget.ratio,
           d->failed ? ", failed" : "");
}
