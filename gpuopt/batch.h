/* SPDX-License-Identifier: MIT
 *
 * gpuopt, many small linear programs and many small knapsacks in one call.
 *
 * A layer over gpuopt.h. A minor version may change it; the change log lists such changes.
 */
#ifndef GPUOPT_BATCH_H
#define GPUOPT_BATCH_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Many small linear programs ----------------------------------------------------------------------------------- *
 * Solves many independent linear programs of one shape, each with its own data, in one call. Each program is solved
 * from start to end by one block on the GPU, or by one thread on the CPU.
 *
 *     gpuopt_simplex_batch_create(context, &shape, NULL, &batch);
 *     gpuopt_simplex_batch_load(batch, GPUOPT_HOST, &programs);             // the numbers of up to batch_size programs
 *     gpuopt_simplex_batch_iterate(batch, INT64_MAX, &info);                // info.optimal, info.infeasible, ...
 *     gpuopt_simplex_batch_get(batch, GPUOPT_HOST, 0, count, &report);      // the results you ask for
 *
 * Shape      The number of rows and columns, and either dense matrices or one sparsity pattern for all programs.
 * Method     The simplex method with bounded variables on a dense tableau, with scaling by powers of two and devex
 *            pricing, from the slack basis. On the GPU the tableau is kept in shared memory if it fits: on an H100, up
 *            to rows * cols of about 24,000. If the slack basis is infeasible, the dual method runs first, with the
 *            long-step ratio test (Maros 2003). In the dual method, a column whose reduced cost has the wrong sign
 *            moves to its other bound; if it has none, its reduced cost counts as 0. The primal method does the rest,
 *            with Harris' ratio test. If the dual method stalls, the primal method also does a phase 1, which minimises
 *            the sum of infeasibilities. When iterations make no progress, the dual method perturbs reduced costs and
 *            the primal method perturbs bounds. As a last resort, the primal method uses Bland's rule.
 * Outcomes   are about the original data.
 *            OPTIMAL: x and A x violate no bound or side by more than tolerances.primal * max(1, |bound|). No reduced
 *            cost, computed from the original data or from the scaled program, has the wrong sign by more than
 *            tolerances.dual * max(1, |cost|). The primal and dual objectives differ by at most tolerances.dual *
 *            max(1, |objective|); in this difference, a reduced cost that refers to an infinite bound counts as 0.
 *            Unlike a single handle, a batch does not refine the solution further.
 *            INFEASIBLE, UNBOUNDED: proven as by gpuopt_simplex_iterate, with vectors as in gpuopt_simplex_proof. Only
 *            the limit for rows along a ray differs: the objective gains 1e18 before any row moves towards a finite
 *            side by more than tolerances.primal.
 *            IMPRECISE: rounding allows none of these. A single handle may still settle the program.
 * Bits       A program's results depend on its own data, the descriptor, and the iterations of each call. They do not
 *            depend on the other programs, their number, the number of threads, or the backend: CPU and GPU give the
 *            same bits. A program solved in several calls may reach another optimal point than in one call.
 * Memory     The size of the arrays given to _load, and 25 (rows + cols) + 24 bytes a program. The shape takes 16 bytes
 *            a nonzero, on the GPU in host memory as well. Solving takes 8 rows * cols bytes for the tableau and about
 *            110 (rows + cols) bytes: once for each thread on the CPU, and once for each block on the GPU unless they
 *            fit into shared memory.
 * Cost       A pivot moves 16 rows * cols bytes and takes five to eight barriers of a block. For each program a call
 *            begins and ends with a few products with A. Resuming a program also takes a pivot for each column in its
 *            basis.
 * Group      If the descriptor names a group, its ranks share the programs. Every rank creates the same handle and
 *            passes all programs to _load. Each of P ranks reads and solves a block of about count / P programs.
 *            _iterate and _get give every rank the results of all, with the same bits as without a group, whatever the
 *            ranks' backends. All calls are collective except _get_info and _destroy, which do not need the group.
 *            Collective calls compare the shapes, the counts, the iterations, and which arrays are present. The caller
 *            must ensure that the numbers are the same (see gpuopt_group_agree), and that the costly programs are not
 *            all in one block. If one rank refuses its arguments or runs out of memory, all ranks return the same
 *            status, and the group remains usable. After a DEVICE error on one rank, the others return PEER. A stop
 *            hook ends only its own rank's share. Arrays must be in host memory (DEVICE: UNSUPPORTED). Results are
 *            exchanged in messages of up to 1 MiB, for which each rank takes at most (P + 1) MiB. */

/* Many linear programs of one shape. */
typedef struct gpuopt_simplex_batch gpuopt_simplex_batch;

/* The arrays that all programs share: bits of gpuopt_simplex_batch_desc.shared. */
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
    int32_t batch_size;   /* most programs in one _load, on all ranks together: 1 to 65,536 */
    int32_t rows, cols;   /* 0 to 512, 0 to 8,192 */
    const int64_t *start; /* the pattern, as in gpuopt_matrix; NULL: dense, all rows * cols entries, line by line */
    const int32_t *index; /* [start[lines]], none twice in a line */
    gpuopt_layout layout; /* of the pattern and the values: lines are rows (0: CSR) or columns (CSC) */
    uint32_t shared;      /* a sum of gpuopt_simplex_shared constants: the arrays that all programs share */
    int maximize;         /* not 0: maximise */
    double infinity;      /* sides and bounds of at least this size are infinite; at least 1; 0: 1e20 */
    const gpuopt_simplex_tolerances *tolerances; /* pivot: least |pivot| in the scaled program; NULL: the defaults */
    int64_t iteration_limit; /* per program, over all calls; then its outcome is LIMIT; 0: no limit */
    gpuopt_group *group; /* of this context, whose ranks share the programs, see Group; NULL: this context has all */
} gpuopt_simplex_batch_desc;

/* The numbers of programs 0 to count - 1, one program after the other; a shared array is given once. All arrays are in
 * the memory that `where` names. */
typedef struct gpuopt_simplex_programs {
    size_t struct_size;  /* sizeof(gpuopt_simplex_programs) */
    int32_t count;       /* programs, 0 to the descriptor's batch_size */
    const double *value; /* [count][nonzeros] in the pattern's order; finite, may be 0; NULL if there are none */
    const double *cost;  /* [count][cols], finite; NULL: 0 */
    const double *lhs;   /* [count][rows]; NULL: no left-hand sides */
    const double *rhs;   /* [count][rows], at least lhs; NULL: no right-hand sides */
    const double *lb;    /* [count][cols]; NULL: 0 */
    const double *ub;    /* [count][cols]; NULL: infinity. A column with lb > ub makes the program infeasible */
} gpuopt_simplex_programs;

/* The state of the programs. */
typedef struct gpuopt_simplex_batch_info {
    size_t struct_size; /* sizeof(gpuopt_simplex_batch_info) */
    int32_t count;      /* programs loaded: the sum of the next six members */
    int32_t more, optimal, infeasible, unbounded, limit, imprecise; /* programs with this outcome */
    int64_t iterations; /* pivots and bound flips of all programs since _load */
} gpuopt_simplex_batch_info;

/* The results that _get writes. Each array is NULL or in the memory that `where` names. */
typedef struct gpuopt_simplex_batch_report {
    size_t struct_size;  /* sizeof(gpuopt_simplex_batch_report) */
    int32_t *outcome;    /* [count] a gpuopt_outcome: MORE, OPTIMAL, INFEASIBLE, UNBOUNDED, LIMIT, IMPRECISE */
    int32_t *iterations; /* [count] since _load */
    double *objective;   /* [count] at x */
    double *x;           /* [count][cols] the program's present point */
    double *dual;        /* [count][rows] as in gpuopt_simplex_solution; 0 if INFEASIBLE or UNBOUNDED */
    double *farkas;      /* [count][rows] as in gpuopt_simplex_proof if INFEASIBLE (0 if bounds cross), else 0 */
    double *farkas_low;  /* [count][rows] low words of farkas */
    double *ray;         /* [count][cols] as in gpuopt_simplex_proof if UNBOUNDED, else 0 */
    double *ray_low;     /* [count][cols] low words of ray */
    uint8_t *basis;      /* [count][cols + rows] as from gpuopt_simplex_get_basis */
    int32_t *certainty;  /* [count] a gpuopt_certainty: TOLERANCE if OPTIMAL, else NONE */
} gpuopt_simplex_batch_report;

/* Creates a handle without programs. ARGUMENT: a value is out of the ranges above; the log says which. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_create(gpuopt_context *context, const gpuopt_simplex_batch_desc *desc,
                                                     gpuopt_memory_plan *plan, gpuopt_simplex_batch **batch);
/* Destroys a handle; NULL is allowed. */
GPUOPT_API void gpuopt_simplex_batch_destroy(gpuopt_simplex_batch *batch);

/* Replaces the programs by new ones, each at the slack basis. Copies the arrays, and waits for that. ARGUMENT: count is
 * out of range, value is NULL though there are nonzeros, or a number is not as gpuopt_simplex_programs requires, in
 * device memory, too. After such a number, or DEVICE, the handle has no programs. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_load(gpuopt_simplex_batch *batch, gpuopt_memory_space where,
                                                   const gpuopt_simplex_programs *programs);
/* Does up to `iterations` (>= 1) pivots and bound flips of each program whose outcome is MORE, and waits. info may be
 * NULL. A program that is not finished continues from its basis in the next call. The stop hook is called between
 * programs on the CPU, and not on the GPU; programs not yet started then stay as they are. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_iterate(gpuopt_simplex_batch *batch, int64_t iterations,
                                                      gpuopt_simplex_batch_info *info);
/* Fills `info`. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_get_info(gpuopt_simplex_batch *batch, gpuopt_simplex_batch_info *info);
/* Gets the results of programs first to first + count - 1. Before a program's first iteration its arrays are 0.
 * ARGUMENT: there are no such programs. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_get(gpuopt_simplex_batch *batch, gpuopt_memory_space where, int32_t first,
                                                  int32_t count, const gpuopt_simplex_batch_report *report);

/* ---- Knapsack: a batch of small ones ------------------------------------------------------------------------------ *
 * Solves many small knapsacks in one call, as pricing in column generation needs: max p x subject to w x <= C,
 * 0 <= x <= copies_max, x integer, exactly, in integers. All have the same number of items. Weights, profits,
 * capacities and copies_max may each differ between knapsacks, or be shared by all.
 *
 *     gpuopt_knapsack_batch_create(context, &desc, NULL, &batch);
 *     gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &problems, &report);    // outcome, profit, copies of each
 *
 * Method     Depth-first branch and bound with Dantzig's bound, one thread per knapsack, after Horowitz, Sahni:
 *            Computing Partitions with Applications to the Knapsack Problem (1974), and for several copies Martello,
 *            Toth: Knapsack Problems (1990). doc/knapsack.md says which instances are hard.
 * Doubles    If profits are doubles, such as the duals y of a linear program, the caller scales them to integers p. Use
 *            p instead of y as the duals from then on, and bounds remain proven. Farley's bound is the sum of
 *            demand * p, divided by the largest dual_bound / cost of any knapsack, so the scale cancels. See
 *            examples/cutting_stock.c.
 * Bits       Results and node counts are the same on every backend, with any number of threads. Of several solutions
 *            with the same profit, the same one is always returned.
 * stop       The hook is called between knapsacks on the CPU, and not on the GPU; there, node_limit bounds the time. */

/* Memory for small knapsacks that are solved together. */
typedef struct gpuopt_knapsack_batch gpuopt_knapsack_batch;

/* The size of a batch. */
typedef struct gpuopt_knapsack_batch_desc {
    size_t struct_size; /* sizeof(gpuopt_knapsack_batch_desc) */
    int32_t items;      /* n of each knapsack, 1 to 256; pad smaller knapsacks with zero-profit items */
    int32_t count;      /* most knapsacks in one call, 1 to 2^24 */
} gpuopt_knapsack_batch_desc;

/* Creates a batch. ARGUMENT: a member is out of range. On the GPU each knapsack takes 24 bytes an item and another 36
 * bytes, as buffers for arrays in host memory. Each thread takes another 40 bytes an item; there are up to 1024 threads
 * per multiprocessor. On the CPU a batch takes next to no memory. */
GPUOPT_API gpuopt_status gpuopt_knapsack_batch_create(gpuopt_context *context, const gpuopt_knapsack_batch_desc *desc,
                                                      gpuopt_memory_plan *plan, gpuopt_knapsack_batch **batch);
/* Destroys a batch; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_batch_destroy(gpuopt_knapsack_batch *batch);

/* The knapsacks to solve. All arrays are in the memory that `where` names. The entries of knapsack k begin at k times
 * the array's stride. A stride of 0 means that all knapsacks share the same entries. Otherwise a stride is at least the
 * descriptor's items (capacity: at least 1), and at most 2^27. */
typedef struct gpuopt_knapsack_problems {
    size_t struct_size;        /* sizeof(gpuopt_knapsack_problems) */
    int32_t count;             /* knapsacks, 0 to the descriptor's count */
    const int64_t *weight;     /* [items] per knapsack: 0 or more; items heavier than the capacity are not taken */
    const int64_t *profit;     /* [items] per knapsack: of any sign; items with 0 or less are not taken */
    const int64_t *capacity;   /* one per knapsack: 0 or more */
    const int32_t *copies_max; /* [items] per knapsack: most copies of each item, 0 or more; NULL: 1 */
    int64_t weight_stride, profit_stride, capacity_stride, copies_max_stride; /* see above */
    int64_t node_limit; /* nodes per knapsack, after which its outcome is LIMIT; 0: 2^20 */
} gpuopt_knapsack_problems;

/* The results of _run. Each array is NULL or in the memory that `where` names. */
typedef struct gpuopt_knapsack_report {
    size_t struct_size;    /* sizeof(gpuopt_knapsack_report) */
    int32_t *outcome;      /* [count] a gpuopt_outcome: OPTIMAL; LIMIT: node_limit; MORE: not started before the stop */
    int64_t *primal_bound; /* [count] profit of the best solution found */
    int64_t *dual_bound;   /* [count] no solution has more profit; OPTIMAL: primal_bound; MORE: 2^63 - 1 */
    int64_t *nodes;        /* [count] nodes searched */
    int32_t *copies;       /* [count][items] copies of each item in the best solution found */
} gpuopt_knapsack_report;

/* Solves the knapsacks, and waits. ARGUMENT: a member is out of range, or a capacity, weight or number of copies is
 * negative, in device memory, too. NUMERIC: a knapsack's profits exceed 2^63 - 1 in total, each item counted with as
 * many of its copies as fit alone. For a negative number or NUMERIC the log names the first such knapsack. A refused
 * call writes nothing. Cost: O(items^2) for each knapsack, and at worst O(items) a node. There may be exponentially
 * many nodes. */
GPUOPT_API gpuopt_status gpuopt_knapsack_batch_run(gpuopt_knapsack_batch *batch, gpuopt_memory_space where,
                                                   const gpuopt_knapsack_problems *problems,
                                                   const gpuopt_knapsack_report *report);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_BATCH_H */
