/* SPDX-License-Identifier: MIT
 *
 * Multiple-choice knapsacks: the arithmetic of a state.
 *
 * The linear relaxation gives each class an item, except the break class, which lies between two: the break solution
 * takes the lighter one. A state describes the changes of a solution against the break solution, in the classes decided
 * so far: its additional weight and its additional profit. The other classes can then go up or down, along the upper
 * hulls of their items, in the order of profit per weight. The table lists these steps from the break solution on.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_STATE_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_STATE_H

#include "../search/bound.h"

enum { GPUOPT__KNAPSACK_CHOICE_STEPS = 24 }; /* the most steps in a table in either direction */

typedef struct gpuopt__knapsack_choice_state {
    int64_t weight, profit; /* more than the break solution's */
    uint64_t word;          /* the last decisions, or the state's origin: see recover.h */
} gpuopt__knapsack_choice_state;

/* States, by increasing weight and increasing profit. */
typedef struct gpuopt__knapsack_choice_list {
    int64_t *weight, *profit;
    uint64_t *word;
} gpuopt__knapsack_choice_list;

/* An item of a class, compared with the item of the break solution. */
typedef struct gpuopt__knapsack_choice_option {
    int64_t weight, profit;
    uint64_t code; /* among all items of the class */
} gpuopt__knapsack_choice_option;

/* The classes that stay undecided. */
typedef struct gpuopt__knapsack_choice_table {
    int32_t ups, downs; /* entries of each side, in this order; an entry without profit marks the end of the way up */
    /* Weight and profit of the steps before this one, negative for downs; and this step, not negative. */
    int64_t at[2 * GPUOPT__KNAPSACK_CHOICE_STEPS + 1], gain[2 * GPUOPT__KNAPSACK_CHOICE_STEPS + 1];
    int64_t weight[2 * GPUOPT__KNAPSACK_CHOICE_STEPS + 1], profit[2 * GPUOPT__KNAPSACK_CHOICE_STEPS + 1];
    int64_t residual; /* the capacity that the break solution leaves */
    int64_t goal;     /* the least profit to find, compared with the break solution's */
    int64_t lose;     /* the most weight that these classes can lose */
} gpuopt__knapsack_choice_table;

/* a b >= c d, for b >= 0 and d >= 1. */
GPUOPT_HD int gpuopt__knapsack_choice_reaches(int64_t a, int64_t b, int64_t c, int64_t d) {
    if (a >= 0 && c <= 0) return 1;
    if (a < 0 && c > 0) return 0;
    if (a >= 0) return gpuopt__knapsack_product_reaches((uint64_t)a, (uint64_t)b, (uint64_t)c, (uint64_t)d);
    return gpuopt__knapsack_product_reaches((uint64_t)-c, (uint64_t)d, (uint64_t)-a, (uint64_t)b);
}

/* Finds the step of which a fraction would fill this residual capacity. It is the last step up with predecessors that
 * weigh no more, or the last step down before which more weight must go. The table needs a step on that side. */
GPUOPT_HD int32_t gpuopt__knapsack_choice_seek(const gpuopt__knapsack_choice_table *t, int64_t residual) {
    int32_t low = residual >= 0 ? 0 : t->ups, high = residual >= 0 ? t->ups - 1 : t->ups + t->downs - 1;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (residual >= 0 ? t->at[middle] <= residual : t->at[middle] > residual) low = middle;
        else high = middle - 1;
    }
    return low;
}

/* Whether a state may lead to the goal: by Dantzig's bound or, if the table ends earlier, by the last step's. */
GPUOPT_HD int gpuopt__knapsack_choice_stays(const gpuopt__knapsack_choice_table *t, int64_t weight, int64_t profit) {
    const int64_t residual = t->residual - weight;
    int32_t s;
    if (residual + t->lose < 0) return 0;
    s = gpuopt__knapsack_choice_seek(t, residual);
    return gpuopt__knapsack_choice_reaches(residual - t->at[s], t->profit[s], t->goal - profit - t->gain[s],
                                           t->weight[s]);
}

/* The profit of the state's own solution: other classes go up as far as they can, or down as far as they must. *steps:
 * how many steps. INT64_MIN: the table ends earlier. */
GPUOPT_HD int64_t gpuopt__knapsack_choice_completed(const gpuopt__knapsack_choice_table *t, int64_t weight,
                                                    int64_t profit, int32_t *steps) {
    const int64_t residual = t->residual - weight;
    int32_t s;
    if (residual + t->lose < 0) return INT64_MIN;
    s = gpuopt__knapsack_choice_seek(t, residual);
    *steps = s;
    if (residual >= 0) return profit + t->gain[s];
    *steps = -(s - t->ups + 1);
    return t->at[s] - t->weight[s] <= residual ? profit + t->gain[s] - t->profit[s] : INT64_MIN;
}

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_STATE_H */
