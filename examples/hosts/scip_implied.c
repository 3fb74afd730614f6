/* SPDX-License-Identifier: MIT
 *
 * See scip_implied.h.
 */
#include "examples/hosts/scip_implied.h"

#include <math.h>
#include <stdlib.h>

static const double LEAST_CHANGE = 1e-6;

static int enlarge(void *array_of, int count, size_t size) {
    void **array = array_of, *larger = realloc(*array, (size_t)count * size);
    if (larger) *array = larger;
    return larger != NULL;
}

static SCIP_RETCODE add(scip_bounds *b, int col, double lb, double ub) {
    if (b->count == b->capacity) {
        int capacity = 2 * b->capacity + 1024;
        if (!enlarge(&b->col, capacity, sizeof *b->col) || !enlarge(&b->lb, capacity, sizeof *b->lb) ||
            !enlarge(&b->ub, capacity, sizeof *b->ub))
            return SCIP_NOMEMORY;
        b->capacity = capacity;
    }
    b->col[b->count] = col;
    b->lb[b->count] = lb;
    b->ub[b->count++] = ub;
    return SCIP_OKAY;
}

void scip_implied_free(scip_implied *implied) {
    free(implied->bounds.col), free(implied->bounds.lb), free(implied->bounds.ub);
    free(implied->both.col), free(implied->both.lb), free(implied->both.ub);
    free(implied->start);
    free(implied->infeasible);
}

/* One child. */
static SCIP_RETCODE propagate(SCIP *scip, scip_implied *implied, SCIP_VAR *var, int side, double value,
                              const double *lb, const double *ub) {
    SCIP_COL **col;
    SCIP_Bool cutoff;
    int cols, child = implied->children;
    SCIP_CALL(SCIPgetLPColsData(scip, &col, &cols));
    SCIP_CALL(SCIPnewProbingNode(scip));
    if (side == 0) SCIP_CALL(SCIPchgVarUbProbing(scip, var, floor(value)));
    else SCIP_CALL(SCIPchgVarLbProbing(scip, var, floor(value) + 1));
    SCIP_CALL(SCIPpropagateProbing(scip, 0, &cutoff, NULL));
    implied->infeasible[child] = cutoff;
    for (int j = 0; j < cols && !cutoff; j++) {
        double low = SCIPvarGetLbLocal(SCIPcolGetVar(col[j])), high = SCIPvarGetUbLocal(SCIPcolGetVar(col[j]));
        if (low > lb[j] + LEAST_CHANGE || high < ub[j] - LEAST_CHANGE)
            SCIP_CALL(add(&implied->bounds, j, fmax(low, lb[j]), fmin(high, ub[j])));
    }
    implied->start[++implied->children] = implied->bounds.count;
    implied->nodes++;
    implied->cut_off += cutoff;
    SCIP_CALL(SCIPbacktrackProbing(scip, 0));
    return SCIP_OKAY;
}

/* Bounds of the last two children that hold in both. Those of a child are in the order of the columns. */
static SCIP_RETCODE merge(scip_implied *implied, const double *lb, const double *ub) {
    const scip_bounds *b = &implied->bounds;
    int child = implied->children - 2;
    int64_t down = implied->start[child], up = implied->start[child + 1];
    if (implied->infeasible[child] || implied->infeasible[child + 1]) return SCIP_OKAY;
    while (down < implied->start[child + 1] && up < implied->start[child + 2]) {
        int j = b->col[down];
        if (j != b->col[up]) {
            if (j < b->col[up]) down++;
            else up++;
            continue;
        }
        double low = fmin(b->lb[down], b->lb[up]), high = fmax(b->ub[down++], b->ub[up++]);
        if (low > lb[j] + LEAST_CHANGE || high < ub[j] - LEAST_CHANGE) SCIP_CALL(add(&implied->both, j, low, high));
    }
    return SCIP_OKAY;
}

SCIP_RETCODE scip_implied_find(SCIP *scip, scip_implied *implied, int count, SCIP_VAR *const *var, const double *value,
                               const double *lb, const double *ub) {
    if (2 * count > implied->most_children) {
        if (!enlarge(&implied->start, 2 * count + 1, sizeof *implied->start) ||
            !enlarge(&implied->infeasible, 2 * count, sizeof *implied->infeasible))
            return SCIP_NOMEMORY;
        implied->most_children = 2 * count;
    }
    implied->children = implied->bounds.count = implied->both.count = 0;
    implied->start[0] = 0;
    SCIP_CALL(SCIPstartProbing(scip));
    for (int k = 0; k < count; k++) {
        SCIP_CALL(propagate(scip, implied, var[k], 0, value[k], lb, ub));
        SCIP_CALL(propagate(scip, implied, var[k], 1, value[k], lb, ub));
        SCIP_CALL(merge(implied, lb, ub));
    }
    SCIP_CALL(SCIPendProbing(scip));
    return SCIP_OKAY;
}
