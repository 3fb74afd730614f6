/* SPDX-License-Identifier: MIT
 *
 * How much strong branching pays at a node. A call is worth its time if the nodes that it saves would cost more. Two
 * measurements decide: what calls and nodes have cost, and how much worse the pseudo-costs' choice would have been.
 *
 *     node_budget_enter(&budget, now);                          // at each node that is to be branched on
 *     most = node_budget_most(&budget, candidates, unreliable); // how many of them to solve; 0: leave the node alone
 *     ...
 *     node_budget_call(&budget, solved, seconds);               // what the call took,
 *     node_budget_learn(&budget, ratio);                        // and what it found
 *     node_budget_leave(&budget, now);
 */
#ifndef EXAMPLES_HOSTS_NODE_BUDGET_H
#define EXAMPLES_HOSTS_NODE_BUDGET_H

typedef struct node_budget {
    /* Set by the caller: the share of the time that calls may always take (1: no limit); the most that a call may cost
     * beyond that, in nodes; and when the solver began. */
    double share, worth, start;
    double entered, left, spent;          /* seconds: when the latest node began and ended; of all calls together */
    double nodes, between;                /* recent nodes, and the seconds between them without the calls */
    double calls, size, size2, time, mix; /* sums over recent calls, for a straight line through their times */
    double ratio;                         /* recent mean of node_budget_learn() */
} node_budget;

void node_budget_enter(node_budget *budget, double now);
int node_budget_most(const node_budget *budget, int candidates, int unreliable);
/* candidates: that were solved; 0: the call does not show what others cost. */
void node_budget_call(node_budget *budget, int candidates, double seconds);
/* ratio: the bound's rise by the candidate that pseudo-costs would have taken, divided by that of the best one. */
void node_budget_learn(node_budget *budget, double ratio);
void node_budget_leave(node_budget *budget, double now);

#endif /* EXAMPLES_HOSTS_NODE_BUDGET_H */
