/* SPDX-License-Identifier: MIT
 *
 * gpuopt, many small linear programs and many small knapsacks in one call.
 *
 * A layer over gpuopt.h: a minor version may change what is here, and the change log says so.
 */
#ifndef GPUOPT_BATCH_H
#define GPUOPT_BATCH_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Many small linear programs ----------------------------------------------------------------------------------- *
 * Independent linear programs of one shape, each with its own data, solved in one call: on the GPU a block works on
 * each from its data to its verdict, on the CPU a thread.
 *
 *     gpuopt_simplex_batch_create(context, &shape, NULL, &batch);
 *     gpuopt_simplex_batch_load(batch, GPUOPT_HOST, &programs);             // the numbers of up to batch_size programs
 *     gpuopt_simplex_batch_iterate(batch, INT64_MAX, &info);                // info.optimal, info.infeasible, ...
 *     gpuopt_simplex_batch_get(batch, GPUOPT_HOST, 0, count, &report);      // what is asked for of each
 *
 * Shape      Rows, columns, and either dense matrices or one sparsity pattern for all.
 * Method     The simplex method with bounded variables on a dense tableau, which on the GPU is in shared memory if it
 *            fits (as rows * cols up to about 24,000 do on an H100): scales by powers of two, the basis of the
 *            activities first, devex pricing. Where that basis is not feasible, the dual method comes first, with the
 *            long-step ratio test (Maros 2003); columns whose reduced cost has the wrong sign go to their other bound
 *            or, if they have none, count with cost 0. The primal method does the rest, with Harris' ratio test; where
 *            the dual one gets nowhere, a primal phase 1, too, which minimises the sum of infeasibilities. Prices or
 *            bounds are perturbed when nothing moves, and in the primal method Bland's rule takes over at last.
 * Verdicts   are about the original data: OPTIMAL if x and its A x violate no bound or side by more than
 *            primal_tolerance * max(1, |bound|), and no reduced cost has the wrong sign by more than dual_tolerance *
 *            max(1, |cost|), by these numbers and by those of the scaled program, and primal and dual objective differ
 *            by at most dual_tolerance * max(1, |objective|), where a reduced cost that names an infinite bound counts
 *            as 0; unlike a single handle, it does not refine beyond that. INFEASIBLE and UNBOUNDED are proven as by
 *            gpuopt_simplex_iterate, with vectors that meet what _get_proof say of theirs, but for rows along a ray,
 *            which move by so little that 1e18 of the objective is gained within primal_tolerance. IMPRECISE: rounding
 *            allows none of these; a handle of its own may settle the program.
 * Bits       A program's results depend on its own data, the descriptor, and the iterations that each call does: not on
 *            the other programs, on how many there are, on the number of threads, or on the backend. The CPU and the
 *            GPU give the same bits. One that goes on after a limit may come to another optimal point than in one call.
 * Memory     Room for what _load is given, 25 (rows + cols) + 24 bytes a program, 16 bytes a nonzero of the shape (on
 *            the GPU also in host memory); and for each thread, or for each block where they do not fit into shared
 *            memory, 8 rows * cols for the tableau and about 110 (rows + cols).
 * Cost       Of a pivot: 16 rows * cols bytes moved, and five to eight barriers of a block. Of a call's beginning and
 *            end on a program: a few products with A; of going on with one, also a pivot for each column in its
 *            basis.
 * Group      With a group in the descriptor its ranks share the programs. Each makes a handle like the others' and
 *            gives all programs to each _load; of P ranks each reads and solves a block of about count / P of them, and
 *            _iterate and _get tell it about all: the same bits as without a group, whatever the ranks' backends.
 *            Calls are collective, as the group's own are, but for _get_info and _destroy. They compare the
 *            shapes, counts, iterations, and which arrays there are; that the numbers are the same is the host's duty
 *            (gpuopt_group_agree), and that the costly programs are not all in one block. What is refused or runs out
 *            of memory on one rank returns the same status on all, and the group goes on; after a DEVICE error on one
 *            the others return PEER. A stop hook ends the share of its rank. Arrays are in host memory (DEVICE:
 *            UNSUPPORTED). Results go to the other ranks in pieces of up to 1 MiB, for which each has room: at most
 *            P + 1 MiB. The group is not needed by _get_info and _destroy. */

/* Many linear programs of one shape. */
typedef struct gpuopt_simplex_batch gpuopt_simplex_batch;

/* What all programs have in common: bits of gpuopt_simplex_batch_desc.shared. */
typedef enum gpuopt_simplex_shared {
    GPUOPT_SHARED_MATRIX = 1, /* value [nonzeros] */
    GPUOPT_SHARED_COST = 2,   /* cost [cols] */
    GPUOPT_SHARED_LHS = 4,    /* lhs [rows] */
    GPUOPT_SHARED_RHS = 8,    /* rhs [rows] */
    GPUOPT_SHARED_LB = 16,    /* lb [cols] */
    GPUOPT_SHARED_UB = 32     /* ub [cols] */
} gpuopt_simplex_shared;

/* The shape of the programs, and how to solve them. */
typedef struct gpuopt_simplex_batch_desc {
    size_t struct_size;   /* sizeof(gpuopt_simplex_batch_desc) */
    int32_t batch_size;   /* most programs at a time, 1 to 65,536, on all ranks together */
    int32_t rows, cols;   /* 0 to 512, 0 to 8,192 */
    const int64_t *start; /* the pattern, as of gpuopt_matrix; NULL: dense, all rows * cols entries line after line */
    const int32_t *index; /* [start[lines]] */
    gpuopt_layout layout; /* of the pattern and of the values: lines are rows (0: CSR) or columns (CSC) */
    uint32_t shared;      /* a sum of gpuopt_simplex_shared: arrays of which there is one for all programs */
    int maximize;         /* not 0: maximise */
    double infinity;      /* a side or bound of this size or more is infinite; at least 1; 0: 1e20 */
    double primal_tolerance; /* 1e-12 to 1e-3; 0: 1e-9 */
    double dual_tolerance;   /* 1e-12 to 1e-3; 0: 1e-9 */
    double pivot_tolerance;  /* least |pivot| on the scaled program, 1e-14 to 0.5; 0: 1e-7 */
    int64_t iteration_limit; /* of a program over all calls, then its outcome is LIMIT; 0: none */
    gpuopt_group *group;     /* of the context: its ranks share the programs, see Group; NULL: this context has all */
} gpuopt_simplex_batch_desc;

/* The numbers of programs 0 to count - 1, one program after the other; an array that is shared is there once. All are
 * in the memory that the call's `where` says. */
typedef struct gpuopt_simplex_programs {
    size_t struct_size;  /* sizeof(gpuopt_simplex_programs) */
    int32_t count;       /* programs, 0 to the descriptor's copies */
    const double *value; /* [count][nonzeros] in the order of the pattern; finite, may be 0; NULL if there are none */
    const double *cost;  /* [count][cols], finite; NULL: 0 */
    const double *lhs;   /* [count][rows]; NULL: no left-hand sides */
    const double *rhs;   /* [count][rows], not below lhs; NULL: no right-hand sides */
    const double *lb;    /* [count][cols]; NULL: 0 */
    const double *ub;    /* [count][cols]; NULL: infinity. A column with lb > ub makes the program infeasible */
} gpuopt_simplex_programs;

/* Where the programs stand. */
typedef struct gpuopt_simplex_batch_info {
    size_t struct_size; /* sizeof(gpuopt_simplex_batch_info) */
    int32_t count;      /* programs that are loaded: the sum of the next six */
    int32_t more, optimal, infeasible, unbounded, limit, imprecise; /* how many have this outcome */
    int64_t iterations;                                             /* pivots and flips of all programs since _load */
} gpuopt_simplex_batch_info;

/* What _get is to write. Each array is NULL or in the memory that `where` says. */
typedef struct gpuopt_simplex_batch_report {
    size_t struct_size;  /* sizeof(gpuopt_simplex_batch_report) */
    int32_t *outcome;    /* [count] a gpuopt_outcome: MORE, OPTIMAL, INFEASIBLE, UNBOUNDED, LIMIT, IMPRECISE */
    int32_t *iterations; /* [count] since _load */
    double *objective;   /* [count] of x */
    double *x;           /* [count][cols] the point that the program has come to */
    double *dual;        /* [count][rows] as of _get_solution; 0 if INFEASIBLE or UNBOUNDED */
    double *farkas;      /* [count][rows] as of _get_proof if INFEASIBLE (0 if bounds cross), else 0 */
    double *farkas_low;  /* [count][rows] what rounding has taken from it */
    double *ray;         /* [count][cols] the direction of the proof if UNBOUNDED, else 0 */
    double *ray_low;     /* [count][cols] what rounding has taken from it */
    uint8_t *basis;      /* [count][cols + rows] as of gpuopt_simplex_get_basis */
    int32_t *certainty;  /* [count] a gpuopt_certainty: TOLERANCE if OPTIMAL, else NONE */
} gpuopt_simplex_batch_report;

/* Makes a handle, without programs. ARGUMENT: a value is out of the ranges above; the log says which. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_create(gpuopt_context *context, const gpuopt_simplex_batch_desc *desc,
                                                     gpuopt_memory_plan *plan, gpuopt_simplex_batch **batch);
/* Destroys a handle; NULL is allowed. */
GPUOPT_API void gpuopt_simplex_batch_destroy(gpuopt_simplex_batch *batch);

/* Takes new programs in place of the old ones, each at the basis of the activities; the arrays are copied, and waited
 * for. ARGUMENT: the count is out of range, value is NULL though there are nonzeros, or a number is not as
 * gpuopt_simplex_programs says, also in device memory; after such a number (or DEVICE) the handle has no programs. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_load(gpuopt_simplex_batch *batch, gpuopt_memory_space where,
                                                   const gpuopt_simplex_programs *programs);
/* Does up to `iterations` (>= 1) pivots and flips of each program that is MORE, and waits for that. Fills info if it is
 * not NULL. The stop hook is asked between programs on the CPU, and not on the GPU; programs that had no turn stay as
 * they are. A program that is stopped goes on from its basis. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_iterate(gpuopt_simplex_batch *batch, int64_t iterations,
                                                      gpuopt_simplex_batch_info *info);
/* Fills info for the programs as they stand. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_get_info(gpuopt_simplex_batch *batch, gpuopt_simplex_batch_info *info);
/* Gets what is asked for of programs first to first + count - 1. Before a program's first iteration its arrays are 0.
 * ARGUMENT: there are no such programs. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_get(gpuopt_simplex_batch *batch, gpuopt_memory_space where, int32_t first,
                                                  int32_t count, const gpuopt_simplex_batch_report *report);

/* ---- Knapsack: a batch of small ones ------------------------------------------------------------------------------ *
 * Solves many small knapsacks in one call, as pricing in column generation asks for: max p x subject to w x <= C,
 * 0 <= x <= upper, x integer, exactly, in integers. They have the same number of items; weights, profits, capacities
 * and numbers of copies are each knapsack's own, or the same for all.
 *
 *     gpuopt_knapsack_batch_create(context, &desc, NULL, &batch);
 *     gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &problems, &report);    // outcome, profit, copies of each
 *
 * Method     Depth-first branch and bound with Dantzig's bound, each knapsack by one thread, after Horowitz, Sahni:
 *            Computing Partitions with Applications to the Knapsack Problem (1974), and for several copies Martello,
 *            Toth: Knapsack Problems (1990). doc/knapsack.md says which instances are hard.
 * Doubles    Profits that are doubles, such as the duals y of a linear program, are scaled to integers by the host. Let
 *            these integers p, rather than y, be the duals from then on, and a bound stays proven: in Farley's, the sum
 *            of demand * p over the largest of all knapsacks' upper / cost, the scale cancels. examples/cutting_stock.c
 *            does so.
 * Bits       The same results and node counts on every backend, with any number of threads. Of several solutions of
 *            the same profit it is always the same one.
 * stop       is asked between knapsacks on the CPU, and not on the GPU, where node_limit bounds the time. */

/* Room for small knapsacks that are solved together. */
typedef struct gpuopt_knapsack_batch gpuopt_knapsack_batch;

/* A batch to be created. */
typedef struct gpuopt_knapsack_batch_desc {
    size_t struct_size; /* sizeof(gpuopt_knapsack_batch_desc) */
    int32_t items;      /* n of each knapsack, 1 to 256. One with fewer has others without profit */
    int32_t count;      /* most knapsacks of a call, 1 to 2^24 */
} gpuopt_knapsack_batch_desc;

/* Makes a batch. ARGUMENT: a member is out of range. Memory on the GPU: for each knapsack 24 bytes an item and 36 more,
 * for what is in host memory; and 40 bytes an item for each thread, of which there are up to 1024 a multiprocessor. On
 * the CPU next to none. */
GPUOPT_API gpuopt_status gpuopt_knapsack_batch_create(gpuopt_context *context, const gpuopt_knapsack_batch_desc *desc,
                                                      gpuopt_memory_plan *plan, gpuopt_knapsack_batch **batch);
/* Destroys a batch; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_batch_destroy(gpuopt_knapsack_batch *batch);

/* Knapsacks to be solved. All arrays are in the memory that the call's `where` says. Those of knapsack k begin at k
 * times the array's stride: 0 if all knapsacks have the same, else at least the descriptor's items (capacity: at least
 * 1), and at most 2^27. */
typedef struct gpuopt_knapsack_problems {
    size_t struct_size;        /* sizeof(gpuopt_knapsack_problems) */
    int32_t count;             /* knapsacks, 0 to the descriptor's */
    const int64_t *weight;     /* [items] of each: 0 or more; an item that is heavier than the capacity is not taken */
    const int64_t *profit;     /* [items] of each: any; an item with 0 or less is not taken */
    const int64_t *capacity;   /* one of each: 0 or more */
    const int32_t *copies_max; /* [items] of each: most copies, 0 or more; NULL: 1 of each item */
    int64_t weight_stride, profit_stride, capacity_stride, copies_max_stride; /* of these arrays, see above */
    int64_t node_limit; /* nodes of each knapsack, after which it ends with LIMIT; 0: 2^20 */
} gpuopt_knapsack_problems;

/* Where _run is to write what it found. Each array is NULL or in the memory that `where` says. */
typedef struct gpuopt_knapsack_report {
    size_t struct_size;    /* sizeof(gpuopt_knapsack_report) */
    int32_t *outcome;      /* [count] a gpuopt_outcome: OPTIMAL; LIMIT: node_limit; MORE: had no turn before the stop */
    int64_t *primal_bound; /* [count] profit of the best solution found */
    int64_t *dual_bound;   /* [count] no solution has more: OPTIMAL: the same; MORE: 2^63 - 1 */
    int64_t *nodes;        /* [count] nodes searched */
    int32_t *taken;        /* [count][items] copies of each item in the best solution found */
} gpuopt_knapsack_report;

/* Solves the knapsacks, and waits for that. ARGUMENT: a member is out of range; a capacity, a weight or a number of
 * copies is negative, also in device memory: the log names the first knapsack in which one is. NUMERIC: the profits of
 * all copies of a knapsack together, of each item as many as fit without others, exceed 2^63 - 1; likewise. Refused
 * calls write nothing. Cost: O(items^2) for each knapsack, and O(items) a node at worst, of which there may be
 * exponentially many. */
GPUOPT_API gpuopt_status gpuopt_knapsack_batch_run(gpuopt_knapsack_batch *batch, gpuopt_memory_space where,
                                                   const gpuopt_knapsack_problems *problems,
                                                   const gpuopt_knapsack_report *report);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_BATCH_H */
