/* SPDX-License-Identifier: MIT
 *
 * A search of a multiple-choice knapsack. The search and its lists are on the CPU; a backend makes the steps.
 *
 *     calls.h    the public calls
 *     prepare.h  _create: useful items, the linear relaxation, the order of the classes
 *     search.h   the choice of the next step, and the loop of steps
 *     recover.h  the items of the best solution
 *     lists.h    the lists of states
 *     merge.h    a step, or a part of one (CPU and GPU)
 *     state.h    the arithmetic of a state (CPU and GPU)
 *
 * cpu/multiple_choice.h makes the parts of a step with several threads.
 */
#ifndef GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_HANDLE_H
#define GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_HANDLE_H

#include "../backend.h"
#include "merge.h"

enum {
    GPUOPT__KNAPSACK_CHOICE_LISTS = 3,       /* the search's, the next one, and one more to recover items */
    GPUOPT__KNAPSACK_CHOICE_FIRST = 1 << 16, /* states that fit at first */
    GPUOPT__KNAPSACK_CHOICE_CLASSES = 1 << 26
};
#define GPUOPT__KNAPSACK_CHOICE_ITEMS ((int64_t)1 << 28)
#define GPUOPT__KNAPSACK_CHOICE_MOST ((int64_t)1 << 26)   /* states to which lists grow by default */
#define GPUOPT__KNAPSACK_CHOICE_STATES ((int64_t)1 << 31) /* the most states that the caller may set */
#define GPUOPT__KNAPSACK_CHOICE_SUM ((int64_t)1 << 60)

/* An item of a class; or a step of a class along the hull of its items, from one to the next. */
typedef struct gpuopt__knapsack_choice_item {
    int64_t weight, profit;
    int32_t index; /* in the descriptor, -1: no item is taken; of a step: its class */
    int32_t to;    /* of a step: the item */
} gpuopt__knapsack_choice_item;

/* A step of the search, from one list to another. found: the result; a list holds k->limit states. */
typedef struct gpuopt__knapsack_choice_job {
    gpuopt__knapsack_choice_merge merge;
    gpuopt__knapsack_choice_found found;
    int from, to;
} gpuopt__knapsack_choice_job;

/* The handle. Weights and profits are divided by their greatest common divisors, except in the copy of the descriptor;
 * the lightest item of each class is subtracted from the class's items. */
struct gpuopt_knapsack_multiple_choice {
    gpuopt_context *context;
    gpuopt_knapsack_multiple_choice_desc desc; /* with the handle's own arrays: */
    int64_t *begin;                            /* [classes + 1] */
    int64_t *weight, *profit;                  /* [items] */
    gpuopt__knapsack_choice_item *item;        /* [items + classes] items that no other of the class dominates, by
                                                * weight */
    int32_t *first;                            /* [classes + 1] start of each class in `item` */
    int32_t *at;                               /* [classes] the item of the break solution */
    gpuopt__knapsack_choice_item *step;        /* [items] of all classes, by decreasing profit per weight */
    int32_t *step_from;                        /* [items] the item before the step */
    int32_t *head, *same;                      /* [classes] first step of a class; [items] and the next, -1: none */
    int32_t *next, *previous;  /* [items + 3] undecided classes' steps; 0, steps + 1: ends; steps + 2: the split */
    int32_t *order;            /* [classes] of the levels */
    uint8_t *bits, *pass_bits; /* [classes] bits that each level appends to words: in the search, in recovery */
    int32_t *chosen, *trial;   /* [classes] items of the descriptor; of `item`, scratch */
    gpuopt__knapsack_choice_option *option; /* [most of a class] of the level */
    int64_t most;                           /* useful items of a class, one more if none need be taken */
    int64_t base;                           /* profit of the lightest items */
    int64_t unit;                           /* of profits */
    int64_t residual;                       /* see the table */
    int64_t break_profit;                   /* of the break solution */
    int64_t lower, upper;                   /* compared with it */
    int64_t known;                          /* likewise, of `chosen` */
    int64_t lose;                           /* of the classes of later levels */
    gpuopt__knapsack_choice_state found;    /* the solution `lower`, if it is more than `known`: */
    int32_t found_level, found_steps;       /* decided classes, and steps after that */
    gpuopt__knapsack_choice_table table;    /* of the next level, if `ready` */
    int32_t steps, split;                   /* number of steps; the first step beyond the break solution */
    int32_t levels, level;
    int32_t options;                     /* of the next level, if ready */
    int64_t count, peak, expanded, made; /* states now; the most so far; expanded states; steps made */
    int64_t limit, grows_to;             /* states that fit a list, and the limit of its growth */
    int list;                            /* index of the list with the states */
    int infeasible, over, full, ready;
    gpuopt__knapsack_choice_list lists[GPUOPT__KNAPSACK_CHOICE_LISTS];
    void *states; /* their memory */
    void *engine; /* the backend's data */
};

#endif /* GPUOPT_IMPL_KNAPSACK_MULTIPLE_CHOICE_HANDLE_H */
