/* SPDX-License-Identifier: MIT
 *
 * See node_budget.h. A tree of N nodes in which every branching raises the bound by r times as much has about N^(1/r)
 * nodes: the depth grows by 1 / r. So a call at a node may cost N^(1/r - 1) - 1 times what the node costs. N is taken
 * as 500. A call also spares the solver its own strong branching of candidates with unreliable pseudo-costs.
 */
#include "examples/hosts/node_budget.h"

#include <math.h>

static const double KEPT = 0.95;                /* of the sums, at each node or call */
static const double LOG_NODES = 6.2;            /* ln 500 */
static const double OWN_COST = 0.25;            /* what the solver's strong branching of a candidate costs, in nodes */
static const double FIRST_SECONDS = 0.25;       /* that calls may always take, to begin with */
static const double ROOT = 0.1;                 /* of the time before the first call, as the cost of a node */
enum { MOST_OWN = 16, FEWEST = 4, FIRST = 16 }; /* candidates: the solver's own, the least and the first of our calls */

void node_budget_enter(node_budget *budget, double now) {
    budget->entered = now;
    if (budget->left == 0) return;
    budget->nodes = KEPT * budget->nodes + 1;
    budget->between = KEPT * budget->between + now - budget->left;
}

void node_budget_leave(node_budget *budget, double now) { budget->left = now; }

/* The straight line fixed + each * candidates through the times of the recent calls. */
static void fit(const node_budget *budget, double *fixed, double *each) {
    double size = budget->size / budget->calls, time = budget->time / budget->calls;
    double variance = budget->size2 / budget->calls - size * size, slope = 0.5 * time / size;
    if (variance > 0.01 * size * size) slope = (budget->mix / budget->calls - size * time) / variance;
    *each = fmin(fmax(slope, 0.05 * time / size), time / size);
    *fixed = time - *each * size;
}

int node_budget_most(const node_budget *budget, int candidates, int unreliable) {
    double fixed, each, worth, most, allowed, elapsed = budget->entered - budget->start;
    double node = budget->nodes > 0 ? budget->between / budget->nodes : ROOT * elapsed;
    if (budget->share >= 1) return candidates;
    if (budget->calls == 0) return candidates < FIRST ? candidates : FIRST;
    fit(budget, &fixed, &each);
    worth = fmin(exp(LOG_NODES * (1 / budget->ratio - 1)) - 1, budget->worth);
    worth += OWN_COST * (unreliable < MOST_OWN ? unreliable : MOST_OWN);
    allowed = fmax(worth * node, budget->share * elapsed + FIRST_SECONDS - budget->spent);
    if (allowed <= fixed) return 0;
    most = (allowed - fixed) / each;
    return most >= candidates ? candidates : most < FEWEST ? 0 : (int)most;
}

void node_budget_call(node_budget *budget, int candidates, double seconds) {
    budget->spent += seconds;
    if (candidates == 0) return;
    budget->calls = KEPT * budget->calls + 1;
    budget->size = KEPT * budget->size + candidates;
    budget->size2 = KEPT * budget->size2 + (double)candidates * candidates;
    budget->time = KEPT * budget->time + seconds;
    budget->mix = KEPT * budget->mix + candidates * seconds;
}

void node_budget_learn(node_budget *budget, double ratio) {
    ratio = fmin(fmax(ratio, 0.5), 1);
    budget->ratio = budget->ratio == 0 ? ratio : KEPT * budget->ratio + (1 - KEPT) * ratio;
}
