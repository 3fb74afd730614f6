/* SPDX-License-Identifier: MIT
 *
 * gpuopt, multidimensional and multiple-choice knapsacks.
 *
 * A layer over gpuopt.h: a minor version may change what is here, and the change log says so.
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
 *     gpuopt_knapsack_multidimensional_get_items(knapsack, GPUOPT_HOST, taken, &profit);
 *
 * Method  Depth-first branch and bound by many workers, who share their open nodes. Bounds are Lagrangian, with the
 *         duals of the linear relaxation and of variations of it as multipliers; the items are in the order of their
 *         reduced costs, largest first, and those that the first solution and the bound settle are fixed. After
 *         Freville: The Multidimensional 0-1 Knapsack Problem: An Overview (2004), and for the order Vimont, Boussier,
 *         Vasquez: Reduced Costs Propagation in an Efficient Implicit Enumeration for the 01 Multidimensional Knapsack
 *         Problem (2008). doc/knapsack.md has the figures.
 * Memory  For each worker 8 bytes for each of 16 numbers (up to 8 rows), 32 (up to 20) or 48, 3 bits for each item in
 *         whole words, and 12 more, in host memory or on the GPU there. It never grows.
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
    /* Parts that the search is divided into, up to 2^20, raised to a power of two; 0: 65,536. More than the machine has
     * threads, and on a GPU many more. */
    int32_t workers;
    int64_t node_limit; /* nodes in the handle's life, after which a call ends with LIMIT; 0: no limit */
} gpuopt_knapsack_multidimensional_desc;

/* Creates a search: solves linear relaxations, finds a first solution, and fixes items. If that settles the problem,
 * the outcome is OPTIMAL at once. ARGUMENT: a member is out of range; for a negative number the log names it. NUMERIC:
 * of the items that fit all rows, the profits or the weights of a row are more than 2^58 together. Cost: on the host,
 * not interrupted by the stop hook, for up to 26 linear programs O(rows (items + rows)) a pivot each, with about as
 * many pivots as items; and O(items^2). Meanwhile it takes up to the plan's create_bytes more of host memory. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_create(gpuopt_context *context,
                                                                 const gpuopt_knapsack_multidimensional_desc *desc,
                                                                 gpuopt_memory_plan *plan,
                                                                 gpuopt_knapsack_multidimensional **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_multidimensional_destroy(gpuopt_knapsack_multidimensional *knapsack);

/* Where the search stands. */
typedef struct gpuopt_knapsack_multidimensional_info {
    size_t struct_size;     /* sizeof(gpuopt_knapsack_multidimensional_info) */
    gpuopt_outcome outcome; /* MORE; OPTIMAL: primal_bound is the optimum; LIMIT: node_limit */
    int32_t free_items;     /* that _create left undecided */
    int32_t busy;           /* workers with a node */
    int64_t nodes;          /* that were visited: an item, or the end, with all items of larger reduced cost decided */
    int64_t rounds;         /* of all workers, each of up to 128 nodes; between them they share */
    int64_t primal_bound;   /* the profit of the best solution known */
    int64_t dual_bound;     /* no solution has more: the best bound of _create, and primal_bound at the end */
} gpuopt_knapsack_multidimensional_info;

/* Searches until at least `nodes` nodes have been visited, or `rounds` rounds made, or the search ends (0: no such
 * limit). A round is never divided, so `nodes` and node_limit may be exceeded by up to 128 nodes a worker. Fills *info,
 * which may be NULL. The stop hook is asked after each round; if it stops the call, the next one goes on to the same
 * result. Waits for the device after each round. ARGUMENT: a negative number. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_run(gpuopt_knapsack_multidimensional *knapsack, int64_t nodes,
                                                              int32_t rounds,
                                                              gpuopt_knapsack_multidimensional_info *info);
/* Fills *info with where the search stands. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_get_info(gpuopt_knapsack_multidimensional *knapsack,
                                                                   gpuopt_knapsack_multidimensional_info *info);
/* Tells the search of a solution, at any time: taken [items] in memory `where`, nonzero for its items. It is kept if it
 * is better. ARGUMENT: the items are too heavy, which is also checked in device memory. Cost: O(rows items) on the
 * host. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_set_incumbent(gpuopt_knapsack_multidimensional *knapsack,
                                                                        gpuopt_memory_space where,
                                                                        const uint8_t *taken);
/* Returns the best solution known, at any time: taken [items] as 1 and 0 in memory `where`, and its profit, one number
 * in host memory. Either may be NULL. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multidimensional_get_items(gpuopt_knapsack_multidimensional *knapsack,
                                                                    gpuopt_memory_space where, uint8_t *taken,
                                                                    int64_t *profit);

/* ---- Knapsack: one item of each class ----------------------------------------------------------------------------- *
 * The multiple-choice knapsack: items are in classes, of each of which exactly one is taken, or at most one, with the
 * most profit within an integer capacity, exactly.
 *
 *     gpuopt_knapsack_multiple_choice_create(context, &desc, NULL, &knapsack);
 *     while (info.outcome == GPUOPT_MORE)                                  // your loop
 *         if (gpuopt_knapsack_multiple_choice_run(knapsack, 1 << 24, 0, &info)) ...
 *     gpuopt_knapsack_multiple_choice_get_items(knapsack, GPUOPT_HOST, chosen, &profit);
 *
 * Method  Dynamic programming over a list of states, weight and profit of what classes have decided so far, which
 *         begins at the solution of the linear relaxation and takes one class more in each step, those around the break
 *         item first. States are dropped that another one dominates, or whose bound does not beat the best solution;
 *         each state gives a solution as well. After Pisinger: A Minimal Algorithm for the Multiple-Choice Knapsack
 *         Problem (1995); the bound is Dantzig's, over the classes that are left. doc/knapsack.md says more.
 * Memory  72 bytes of host memory for each state that fits a list. Lists whose size was given never grow; those of
 *         default size double when states do not fit, up to 2^26 states (4.8 GB, and while they grow half as much
 *         again), as long as the context's allocator has memory. When they cannot grow, the outcome is FULL, and the
 *         next call tries again. On the GPU also device memory, if a step from a full list may make 2^18 states: 48
 *         bytes for each that fits a list, and up to 270 MB for the heaps by which lists are merged; where there is
 *         none to grow, steps that no longer fit are made on the host.
 * Where   The lists are in host memory. On the CPU, steps that make 2^15 states or more are divided among the
 *         context's threads. On the GPU, those that make 2^18 or more (states times items that may be of use) are
 *         copied to the device and back; shorter ones take less time on the host, and are made there by one thread.
 *         Vectors may be in device memory.
 * Bits    With lists that are large enough, bounds, counts and items are the same on every machine and backend, with
 *         any number of threads, and however the work is divided between calls. */

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
    int64_t states;        /* that fit a list, up to 2^31; 0: 2^16, and it grows, see Memory above */
    int64_t state_limit;   /* states expanded in the handle's life, after which a call ends with LIMIT; 0: no limit */
} gpuopt_knapsack_multiple_choice_desc;

/* Creates a search: leaves out dominated items, solves the linear relaxation, and finds a first solution. If that
 * settles the problem, the outcome is OPTIMAL at once, or INFEASIBLE: the lightest items are too heavy, or a class of
 * which one is to be taken has none. ARGUMENT: a member is out of range, or begin decreases; for a negative weight the
 * log names the item. NUMERIC: of the items that fit by themselves, the largest weights of the classes, or the largest
 * sizes of profits, are more than 2^60 together. Cost: O(items log items) on the host, not interrupted by the stop
 * hook. Meanwhile it takes up to the plan's create_bytes more of host memory. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_create(gpuopt_context *context,
                                                                const gpuopt_knapsack_multiple_choice_desc *desc,
                                                                gpuopt_memory_plan *plan,
                                                                gpuopt_knapsack_multiple_choice **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_multiple_choice_destroy(gpuopt_knapsack_multiple_choice *knapsack);

/* Where the search stands. Counts are over the handle's life, without those of recovering items. */
typedef struct gpuopt_knapsack_multiple_choice_info {
    size_t struct_size; /* sizeof(gpuopt_knapsack_multiple_choice_info) */
    /* MORE; OPTIMAL: primal_bound is the optimum; INFEASIBLE: there is no solution; LIMIT: state_limit; FULL: the
     * states of the next step do not fit. */
    gpuopt_outcome outcome;
    int32_t level;        /* classes decided */
    int32_t levels;       /* classes to be decided at most: those with a choice */
    int64_t expanded;     /* states that were expanded: each with every item of a class that may be of use */
    int64_t steps;        /* classes expanded; one without a choice left does not count */
    int64_t alive;        /* states in the list now */
    int64_t peak;         /* the most after a step */
    int64_t states;       /* that fit a list now */
    int64_t primal_bound; /* the profit of the best solution known; INFEASIBLE: 0 */
    int64_t dual_bound;   /* no solution has more: the linear relaxation's bound, and primal_bound at the end */
} gpuopt_knapsack_multiple_choice_info;

/* Decides class after class, until at least `states` states have been expanded, or `steps` steps made, or the search
 * ends (0: no such limit). A step is never divided, so `states` and state_limit may be exceeded by a list. Fills *info,
 * which may be NULL. The stop hook is asked after each step; if it stops the call, the next one goes on to the same
 * result. After FULL, a call tries the step again. ARGUMENT: a negative number.
 * Cost: O(s n log n) a step, for s states and the class's n items that may be of use; a step whose states turn out not
 * to fit is made again in longer lists. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_run(gpuopt_knapsack_multiple_choice *knapsack, int64_t states,
                                                             int32_t steps, gpuopt_knapsack_multiple_choice_info *info);
/* Fills *info with where the search stands. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_get_info(gpuopt_knapsack_multiple_choice *knapsack,
                                                                  gpuopt_knapsack_multiple_choice_info *info);
/* Tells the search of a solution, at any time: chosen [classes] in memory `where`, the item of each class (an index
 * into the descriptor's arrays), or -1 for none with at_most_one. It is kept if it is better. ARGUMENT: an item is not
 * of its class, or they are too heavy, which is also checked in device memory. Cost: O(classes) on the host. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_set_incumbent(gpuopt_knapsack_multiple_choice *knapsack,
                                                                       gpuopt_memory_space where,
                                                                       const int32_t *chosen);
/* Returns the best solution known, at any time: chosen [classes], as above, in memory `where`, and its profit, one
 * number in host memory. Either may be NULL. A state carries only its last 64 bits of decisions; earlier ones are
 * recovered by going through the levels again, in memory that the handle has: usually about twice as many states as the
 * search expanded; where lists outgrow the handle's on the way, which has not been seen, as many as the search's for
 * each 64 bits of decisions. The stop hook is not asked. STATE: INFEASIBLE. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multiple_choice_get_items(gpuopt_knapsack_multiple_choice *knapsack,
                                                                   gpuopt_memory_space where, int32_t *chosen,
                                                                   int64_t *profit);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_KNAPSACK_VARIANTS_H */
