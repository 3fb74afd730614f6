/* SPDX-License-Identifier: MIT
 *
 * gpuopt, multidimensional and multiple-choice knapsacks.
 *
 * A layer over gpuopt.h. A minor version may change it; the change log lists such changes.
 */
#ifndef GPUOPT_KNAPSACK_VARIANTS_H
#define GPUOPT_KNAPSACK_VARIANTS_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Knapsack: several constraints -------------------------------------------------------------------------------- *
 * The multidimensional knapsack: max p x subject to W x <= C, x in {0, 1}^n, with up to 30 rows, exactly, in integers.
 *
 *     gpuopt_knapsack_multidimensional_create(context, &desc, NULL, &knapsack);
 *     while (info.outcome == GPUOPT_MORE)                                  // your loop
 *         if (gpuopt_knapsack_multidimensional_run(knapsack, 1 << 26, 0, &info)) ...
 *     gpuopt_knapsack_multidimensional_get_items(knapsack, GPUOPT_HOST, copies, &profit);
 *
 * Method  Depth-first branch and bound by many workers, which share their open nodes. Bounds are Lagrangian; their
 *         multipliers are the duals of the linear relaxation and of variations of it. Items are in the order of their
 *         reduced costs, largest first. Items that the first solution and the bound settle are fixed. After Freville:
 *         The Multidimensional 0-1 Knapsack Problem: An Overview (2004); for the order, Vimont, Boussier, Vasquez:
 *         Reduced Costs Propagation in an Efficient Implicit Enumeration for the 01 Multidimensional Knapsack Problem
 *         (2008). doc/knapsack.md has the figures.
 * Memory  Each worker takes 16 numbers of 8 bytes (up to 8 rows), 32 (up to 20) or 48. It also takes 3 bits an item, in
 *         whole 64-bit words, and another 12 bytes. On the GPU this is device memory. It never grows.
 * Bits    With the same number of workers, counts and item sets are the same on every backend, with any number of
 *         threads, and however the work is divided between calls. */

/* A search of a multidimensional knapsack. */
typedef struct gpuopt_knapsack_multidimensional gpuopt_knapsack_multidimensional;

/* A problem, and how it is searched. */
typedef struct gpuopt_knapsack_multidimensional_desc {
    size_t struct_size;      /* sizeof(gpuopt_knapsack_multidimensional_desc) */
    int32_t items;           /* n, 0 to 4096 */
    int32_t rows;            /* constraints, 0 to 30 */
    const int64_t *weight;   /* [rows][items] 0 or more */
    const int64_t *profit;   /* [items] 0 or more */
    const int64_t *capacity; /* [rows] 0 or more */
    /* Parts that the search is divided into, up to 2^20, rounded up to a power of two; 0: 65,536. Choose more than the
     * machine has threads, and on a GPU many more. */
    int32_t workers;
    int64_t node_limit; /* nodes in the handle's life, after which a call ends with LIMIT; 0: no limit */
} gpuopt_knapsack_multidimensional_desc;

/* Creates a search: solves linear relaxations, finds a first solution, and fixes items. If that settles the problem,
 * the outcome is OPTIMAL at once. ARGUMENT: a member is out of range; the log says which number is negative. NUMERIC:
 * the profits, or the weights in a row, of all items that fit every row exceed 2^58 in total. Cost: O(rows (items +
 * rows)) a pivot in up to 26 linear programs, each with about as many pivots as items; and O(items^2). This work is
 * done on the CPU side, and the stop hook cannot interrupt it. Meanwhile it takes up to the plan's create_bytes more of
 * host memory. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_create(gpuopt_context *context,
                                                                 const gpuopt_knapsack_multidimensional_desc *desc,
                                                                 gpuopt_memory_plan *plan,
                                                                 gpuopt_knapsack_multidimensional **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_multidimensional_destroy(gpuopt_knapsack_multidimensional *knapsack);

/* The state of a search. */
typedef struct gpuopt_knapsack_multidimensional_info {
    size_t struct_size;     /* sizeof(gpuopt_knapsack_multidimensional_info) */
    gpuopt_outcome outcome; /* MORE; OPTIMAL: primal_bound is the optimum; LIMIT: node_limit */
    int32_t free_items;     /* items that _create left undecided */
    int32_t busy;           /* workers that have a node */
    int64_t nodes;          /* visited; each is an item, or the end, with all items of larger reduced cost decided */
    int64_t rounds;         /* in each, every worker visits up to 128 nodes; between rounds they share nodes */
    int64_t primal_bound;   /* the profit of the incumbent */
    int64_t dual_bound;     /* no solution has more profit: the best bound of _create; at the end, primal_bound */
} gpuopt_knapsack_multidimensional_info;

/* Searches until at least `nodes` nodes have been visited, or `rounds` rounds made, or the search ends (0: no such
 * limit). A round is never divided, so `nodes` and node_limit may be exceeded by up to 128 nodes a worker. info may be
 * NULL. The stop hook is called after each round; if it ends the call, the next one goes on to the same result. Waits
 * for the device after each round. ARGUMENT: a negative number. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_run(gpuopt_knapsack_multidimensional *knapsack, int64_t nodes,
                                                              int32_t rounds,
                                                              gpuopt_knapsack_multidimensional_info *info);
/* Fills `info`. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_get_info(gpuopt_knapsack_multidimensional *knapsack,
                                                                   gpuopt_knapsack_multidimensional_info *info);
/* Offers a solution to the search; may be called at any time. copies [items]: 1 for its items, else 0. The solution
 * becomes the incumbent if it is better. ARGUMENT: a number is neither 0 nor 1, or the items are too heavy, in device
 * memory, too. Cost: O(rows items) on the CPU side. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_set_incumbent(gpuopt_knapsack_multidimensional *knapsack,
                                                                        gpuopt_memory_space where,
                                                                        const int64_t *copies);
/* Returns the incumbent, at any time: copies [items], 1 and 0, and its profit, one number in host memory. Either may
 * be NULL. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_get_items(gpuopt_knapsack_multidimensional *knapsack,
                                                                    gpuopt_memory_space where, int64_t *copies,
                                                                    int64_t *profit);

/* ---- Knapsack: one item of each class ----------------------------------------------------------------------------- *
 * The multiple-choice knapsack: items are in classes, and exactly one item of each class is taken, or at most one.
 * Finds the most profit within an integer capacity, exactly.
 *
 *     gpuopt_knapsack_multiple_choice_create(context, &desc, NULL, &knapsack);
 *     while (info.outcome == GPUOPT_MORE)                                  // your loop
 *         if (gpuopt_knapsack_multiple_choice_run(knapsack, 1 << 24, 0, &info)) ...
 *     gpuopt_knapsack_multiple_choice_get_items(knapsack, GPUOPT_HOST, chosen, &profit);
 *
 * Method  Dynamic programming over a list of states. A state is the weight and profit of the decisions made so far. The
 *         list begins at the solution of the linear relaxation. Each step decides one more class; classes around the
 *         break item come first. A state is dropped if another one dominates it, or if its bound does not beat the
 *         incumbent, the best solution known. Each state also gives a solution. After Pisinger: A Minimal Algorithm for
 *         the Multiple-Choice Knapsack Problem (1995). The bound is Dantzig's, over the undecided classes.
 *         doc/knapsack.md has more.
 * Memory  Each state that fits a list takes 72 bytes of host memory. Lists whose size was given never grow. Lists of
 *         default size double when states do not fit, as long as the context's allocator has memory: up to 2^26 states
 *         (4.8 GB, and half as much again while they grow). When they cannot grow, the outcome is FULL, and the next
 *         call tries again. On the GPU, device memory is taken as well if a step from a full list may make 2^18 states:
 *         48 bytes for each state that fits a list, and up to 270 MB for the heaps that merge lists. If device memory
 *         cannot grow, steps that no longer fit it are made on the CPU side.
 * Where   Lists are in host memory. On the CPU, steps that make 2^15 states or more are divided among the context's
 *         threads. On the GPU, steps that make 2^18 or more (states times items that may be of use) are copied to the
 *         device and back. Shorter steps are faster on the CPU side, where one thread makes them. Vectors may be in
 *         device memory.
 * Bits    With lists that are large enough, bounds, counts and items are the same on every machine and backend. They do
 *         not depend on the number of threads, or on how the work is divided between calls. */

/* A search of a multiple-choice knapsack. */
typedef struct gpuopt_knapsack_multiple_choice gpuopt_knapsack_multiple_choice;

/* A problem, and how it is searched. */
typedef struct gpuopt_knapsack_multiple_choice_desc {
    size_t struct_size;    /* sizeof(gpuopt_knapsack_multiple_choice_desc) */
    int32_t classes;       /* m, 0 to 2^26 */
    int32_t at_most_one;   /* 0: exactly one item of each class is taken; else one or none */
    const int64_t *begin;  /* [classes + 1] class c has the items begin[c] .. begin[c + 1] - 1; up to 2^28 in all */
    const int64_t *weight; /* [items] 0 or more */
    const int64_t *profit; /* [items] of any sign */
    int64_t capacity;      /* 0 or more */
    int64_t states;        /* states that fit a list, up to 2^31; 0: 2^16, and lists grow, see Memory */
    int64_t state_limit;   /* states expanded in the handle's life, after which a call ends with LIMIT; 0: no limit */
} gpuopt_knapsack_multiple_choice_desc;

/* Creates a search: removes dominated items, solves the linear relaxation, and finds a first solution. If that settles
 * the problem, the outcome is OPTIMAL at once, or INFEASIBLE: the lightest items are too heavy, or a class that needs
 * an item has none. ARGUMENT: a member is out of range, or begin decreases; for a negative weight the log names the
 * item. NUMERIC: summed over the classes, the largest weight, or the largest |profit|, of an item that fits alone
 * exceeds 2^60. Cost: O(items log items) on the CPU side, and the stop hook cannot interrupt it. Meanwhile it takes up
 * to the plan's create_bytes more of host memory. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_create(gpuopt_context *context,
                                                                const gpuopt_knapsack_multiple_choice_desc *desc,
                                                                gpuopt_memory_plan *plan,
                                                                gpuopt_knapsack_multiple_choice **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_multiple_choice_destroy(gpuopt_knapsack_multiple_choice *knapsack);

/* The state of a search. Counts are over the handle's life, without the work of recovering items. */
typedef struct gpuopt_knapsack_multiple_choice_info {
    size_t struct_size; /* sizeof(gpuopt_knapsack_multiple_choice_info) */
    /* MORE; OPTIMAL: primal_bound is the optimum; INFEASIBLE: there is no solution; LIMIT: state_limit; FULL: the
     * states of the next step do not fit. */
    gpuopt_outcome outcome;
    int32_t level;        /* classes decided */
    int32_t levels;       /* most classes to decide: those with a choice */
    int64_t expanded;     /* states expanded, each with every item of a class that may be of use */
    int64_t steps;        /* classes expanded; a class without a choice left does not count */
    int64_t alive;        /* states in the list now */
    int64_t peak;         /* the most states in the list after a step */
    int64_t states;       /* states that fit a list now */
    int64_t primal_bound; /* the profit of the incumbent; INFEASIBLE: 0 */
    int64_t dual_bound;   /* no solution has more profit: the linear relaxation's bound; at the end, primal_bound */
} gpuopt_knapsack_multiple_choice_info;

/* Decides class after class, until at least `states` states have been expanded, or `steps` steps made, or the search
 * ends (0: no such limit). A step is never divided, so `states` and state_limit may be exceeded by one list of states.
 * info may be NULL. The stop hook is called after each step; if it ends the call, the next one goes on to the same
 * result. After FULL, a call tries the step again. ARGUMENT: a negative number. Cost: O(s n log n) a step, for s states
 * and the class's n items that may be of use. A step whose states do not fit is repeated with longer lists. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_run(gpuopt_knapsack_multiple_choice *knapsack, int64_t states,
                                                             int32_t steps, gpuopt_knapsack_multiple_choice_info *info);
/* Fills `info`. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_get_info(gpuopt_knapsack_multiple_choice *knapsack,
                                                                  gpuopt_knapsack_multiple_choice_info *info);
/* Offers a solution to the search; may be called at any time. chosen [classes]: the item of each class, an index into
 * the descriptor's arrays; with at_most_one, -1 for none. The solution becomes the incumbent if it is better. ARGUMENT:
 * an item is not of its class, or the items are too heavy, in device memory, too. Cost: O(classes) on the CPU side. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_set_incumbent(gpuopt_knapsack_multiple_choice *knapsack,
                                                                       gpuopt_memory_space where,
                                                                       const int32_t *chosen);
/* Returns the incumbent, at any time: chosen [classes], as above, and its profit, one number in host memory. Either may
 * be NULL. A state carries only its last 64 bits of decisions. Earlier ones are recovered by going through the levels
 * again, in the handle's memory, usually with about twice as many states as the search expanded. In the worst case,
 * which has not been observed, lists outgrow the handle's. Then every 64 bits of decisions take as many states as the
 * search did. The stop hook is not called. STATE: INFEASIBLE. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_get_items(gpuopt_knapsack_multiple_choice *knapsack,
                                                                   gpuopt_memory_space where, int32_t *chosen,
                                                                   int64_t *profit);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_KNAPSACK_VARIANTS_H */
