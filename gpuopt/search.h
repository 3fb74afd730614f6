/* SPDX-License-Identifier: MIT
 *
 * gpuopt, inside a tree search: trails, batches of nodes, probing, steps of the dual simplex method, cuts, children of
 * a basis.
 *
 * A layer over gpuopt.h: a minor version may change what is here, and the change log says so.
 */
#ifndef GPUOPT_SEARCH_H
#define GPUOPT_SEARCH_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Sharing work in a group -------------------------------------------------------------------------------------- *
 * The descriptors of batches, probing and children can name a group. Its ranks then share the items of each call:
 * nodes, binaries or children. doc/groups.md has the method. The Group paragraphs below add what is special to each.
 *
 * Items      Every rank creates its own handle, on its own base or root, and passes all items to each call. With P
 *            ranks, each rank runs about one item in P and receives the results of all.
 * Calls      The calls named below are collective, as the group's own are. They compare what is listed there. The
 *            caller must ensure that everything else is the same on all ranks (see gpuopt_group_agree).
 * Errors     If a call is refused or runs out of memory on one rank, it returns the same status on all ranks, and the
 *            group remains usable. After a DEVICE error on one rank the others return PEER.
 * stop       A stop hook ends only the share of its own rank. */

/* ---- Propagation in a tree search --------------------------------------------------------------------------------- *
 * A propagator with a trail (trail_capacity) records every change of a bound, whether the caller made it or a row
 * implied it. A caller that branches can list the changes, undo them, and ask for their reasons:
 *
 *     gpuopt_propagator_push(p, &start);                                        // a level: a node's child
 *     gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &col, NULL, &ub);         // the decision
 *     gpuopt_propagator_round(p, 1000, &info);
 *     gpuopt_propagator_get_changes(p, GPUOPT_HOST, start, &changes);           // what it led to
 *     gpuopt_propagator_pop(p, 1);                                              // back
 *
 * Trail      Changes have positions 0, 1, ... in the order in which they were made. Changes of one JACOBI round are
 *            ordered by column, the lower bound before the upper one. Level 0 holds the bounds from _create. The trail
 *            has a fixed capacity. If a round does not fit, _round returns the outcome FULL; if bounds do not fit, the
 *            calls that set them return GPUOPT_ERROR_MEMORY. The bounds are then as before that round or call; with
 *            GAUSS_SEIDEL, as before the bound that did not fit. The caller can then pop, or empty the trail with
 *            _commit.
 * Cost       CPU: making or undoing a change costs the entries of its column. _round looks only at rows that a changed
 *            bound can affect; for this it keeps the activities of the rows and updates them. No call costs time for
 *            all rows, columns or nonzeros, with three exceptions: the first _round, a _round after so many changes
 *            that a full pass is faster, and a _round after a _pop to a level that began without such a fixpoint.
 *            CUDA: _round evaluates the rows of the columns that changed (all rows if many changed) and all added rows.
 *            It evaluates all rows after a _pop to a level that began without a fixpoint, after sides or rows have
 *            changed, and after FULL. To record a round it evaluates the rows that may have moved a bound once more; if
 *            more than 4096 bounds moved, it also looks at all columns. Setting bounds and _pop launch one block, which
 *            suits few changes. They wait for the device only if the trail may be too short for the bounds. _push and
 *            _get_trail wait only if bounds, sides or rows were set, or rounds enqueued, since the last call that
 *            waited.
 * Rows       Cuts, conflicts or an objective cutoff can be added as rows, within the capacity that _create reserves
 *            (desc->spare). Added rows are numbered from matrix.rows on. Rows and sides belong to no level: _pop keeps
 *            them, and re-evaluates those that changed during the popped levels.
 * Backend    JACOBI: CPU and CUDA have the same trails, with the same rows and premises, unless a call that sets bounds
 *            lists a column twice. The CPU then records both changes, CUDA only the last. */

/* Opens a level. *start (start may be NULL) is set to the position of the level's first change. STATE: there is no
 * trail. MEMORY: there are already trail_capacity levels. Cost O(1). */
GPUOPT_API gpuopt_status gpuopt_propagator_push(gpuopt_propagator *propagator, int64_t *start);
/* Closes the latest `levels` levels and undoes their changes. Proven infeasibility, and the set of rows still to be
 * evaluated, are again as at the _push. ARGUMENT: levels is negative, or more than there are. */
GPUOPT_API gpuopt_status gpuopt_propagator_pop(gpuopt_propagator *propagator, int32_t levels);
/* Empties the trail and keeps the bounds: they become those of level 0. Positions start at 0 again, and earlier changes
 * can no longer be explained. STATE: there is no trail. Cost O(changes + rows still to be evaluated). */
GPUOPT_API gpuopt_status gpuopt_propagator_commit(gpuopt_propagator *propagator);

/* The size of a trail. */
typedef struct gpuopt_propagator_trail {
    size_t struct_size;  /* sizeof(gpuopt_propagator_trail) */
    int32_t levels;      /* open levels */
    int64_t changes;     /* in the trail */
    int64_t level_start; /* the position at which the latest level begins; 0 at level 0 */
} gpuopt_propagator_trail;
/* Fills `trail`. Without a trail all members are 0. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_trail(gpuopt_propagator *propagator, gpuopt_propagator_trail *trail);

/* A part of a trail. Each array is [capacity] or NULL. */
typedef struct gpuopt_propagator_changes {
    size_t struct_size; /* sizeof(gpuopt_propagator_changes) */
    int64_t capacity;   /* set by the caller: the most changes that are written */
    int64_t count;      /* filled in: changes from the given position on, whatever the capacity */
    int32_t *col;       /* the column */
    uint8_t *upper;     /* 1: its upper bound changed; 0: its lower bound */
    /* Before and after, infinite ones as IEEE infinities. Equal if the caller fixed the column at its old bound. */
    double *old_bound, *new_bound;
    /* The row that implies the new bound; with JACOBI, the lowest such row of that round. -1: the caller set the
     * bound. */
    int32_t *row;
} gpuopt_propagator_changes;
/* Reads the changes from position `from` on: their count, and the first `capacity` of them into arrays in the memory
 * that `where` names. A bound that moved more than once is listed each time. ARGUMENT: from is negative or beyond the
 * end. STATE: there is no trail. Cost O(changes read). CUDA, host memory: one copy brings only the changes that were
 * not read before; no copy is needed if the last _round found at most 256. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_changes(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                       int64_t from, gpuopt_propagator_changes *changes);

/* Why a bound changed, or why there is no solution. */
typedef struct gpuopt_propagator_reason {
    size_t struct_size; /* sizeof(gpuopt_propagator_reason) */
    int64_t capacity;   /* set by the caller: length of premises */
    int64_t count;      /* filled in, like the rest: number of premises, whatever the capacity */
    int64_t *premises;  /* [capacity] or NULL: positions of changes, ascending; unspecified if count is larger */
    int32_t row;        /* the row; -1: the caller set the bound, or the bounds of a column cross */
    int32_t col;        /* of a change: its column; of infeasibility: the column whose bounds cross, or -1 */
} gpuopt_propagator_reason;
/* Explains the change at position `change`; -1: the present infeasibility. The reason's row implies the new bound, or
 * has no solution, with the bounds that the premises set and the bounds of level 0 for all others. If the bounds of a
 * column cross, the premises are the changes that set them. Premises that one pass finds unnecessary are left out. All
 * arrays are in host memory. ARGUMENT: there is no such change. STATE: there is no trail; the row was changed or
 * removed after it implied the bound; or change is -1 and the outcome is not INFEASIBLE. Cost: the entries of the row,
 * and for each entry the changes of its bound. CUDA: also copying the row, and the part of the trail not yet read, to
 * host memory. */
GPUOPT_API gpuopt_status gpuopt_propagator_explain(gpuopt_propagator *propagator, int64_t change,
                                                   gpuopt_propagator_reason *reason);

/* Adds rows: a matrix with the propagator's columns, and sides [rows->rows] as in the descriptor, in host memory. The
 * numbers of the new rows are written to row [rows->rows], unless it is NULL. ARGUMENT: as _create. MEMORY: they exceed
 * the spare rows or nonzeros. Cost O(cols + nonzeros added + rows added * levels), and at times O(nonzeros of all added
 * rows); CUDA: plus O(spare rows). */
GPUOPT_API gpuopt_status gpuopt_propagator_add_rows(gpuopt_propagator *propagator, const gpuopt_matrix *rows,
                                                    const double *lhs, const double *rhs, int32_t *row);
/* Removes `count` distinct added rows; rows added later reuse their numbers. Bounds that they implied stay. ARGUMENT: a
 * number does not refer to an added row, or is repeated. */
GPUOPT_API gpuopt_status gpuopt_propagator_remove_rows(gpuopt_propagator *propagator, int64_t count,
                                                       const int32_t *row);

/* Creates another state of the same model: a propagator that shares the original's matrix and settings. It begins with
 * the original's bounds, sides and added rows, at level 0 with an empty trail. `context` may be another context of the
 * same backend and device; another thread can then use the clone at the same time. With CUDA, the two contexts' streams
 * must belong to the same CUDA context, or to green contexts. The original must outlive the clone. Cost
 * O(rows + cols + spare nonzeros). Waits for the work that the original has enqueued. */
GPUOPT_API gpuopt_status gpuopt_propagator_clone(gpuopt_propagator *original, gpuopt_context *context,
                                                 gpuopt_memory_plan *plan, gpuopt_propagator **fork);

/* ---- A batch of nodes --------------------------------------------------------------------------------------------- *
 * Propagates many nodes of a search in one call. Each node is a list of bounds that differ from those of one
 * propagator, the base, which does not change:
 *
 *     gpuopt_propagator_batch_create(base, &desc, NULL, &batch);
 *     gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 1000, &results);      // outcome of each node, ...
 *     gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes);            // and what changed in it
 *
 * Result     A node gets the same bits, outcome and rounds as if gpuopt_propagator_set_bounds had set its bounds in the
 *            base, and _round had then propagated them. This holds with any number of threads and on the GPU.
 * Base       _run uses the base's bounds, sides and rows at the time of the call. While the base is INFEASIBLE, so is
 *            every node, with the base's row and column, after 0 rounds. The base must outlive its batches, which
 *            belong to its context. After a captured graph has replayed rounds of the base, make a call that changes
 *            the base before the next _run.
 * Cost       A node costs the entries of the columns that change, and the rows that these changes can affect; on the
 *            GPU also all added rows in each round. If the base is not at a fixpoint, each node also evaluates the rows
 *            that can still act in the base. The first _run after a change of the base costs one more pass over A on
 *            the GPU, and O(rows + cols) per thread on the CPU.
 * stop       The hook is called between nodes on the CPU, and between launches on the GPU. A _run has few launches:
 *            nodes that outgrow their memory are run again with more.
 * Group      See "Sharing work in a group". The results are the same bits as without a group, except nonzeros. _create,
 *            _run and _get_changes (unless `own` is set) are collective, and need the group; _destroy does not. They
 *            compare the bases' sizes and settings, the descriptor, count, start, rounds, and which arrays the report
 *            has. The caller must ensure that models, bounds, sides, rows and nodes are the same. Only the rank that
 *            runs a node reads and checks the bounds given to it, and keeps its changed columns until _get_changes
 *            collects them. Arrays are in host memory (DEVICE: UNSUPPORTED). */

/* Many nodes of one base, and the results of the latest _run. */
typedef struct gpuopt_propagator_batch gpuopt_propagator_batch;

/* The size of a batch. */
typedef struct gpuopt_propagator_batch_desc {
    size_t struct_size; /* sizeof(gpuopt_propagator_batch_desc) */
    int32_t nodes;      /* most nodes of a call, 1 to 65,536 */
    /* Most columns that a node may be given or change; a node with more ends with the outcome FULL; 0: any number. */
    int32_t node_columns;
    /* Limits two totals over all nodes of a call: the bounds that they are given, and the columns that change. At most
     * 2^31 - 1; 0: 32 per node. With a group the limit and its default count only the nodes that one rank runs. */
    int64_t changes;
    gpuopt_group *group; /* of the base's context: its ranks share the nodes, see Group; NULL: this context runs all */
} gpuopt_propagator_batch_desc;

/* Creates a batch. ARGUMENT: a member is out of range. UNSUPPORTED: the base's mode is GAUSS_SEIDEL, or its marking
 * OFF. Time O(nonzeros + rows + cols). */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_batch_desc *desc,
                                                        gpuopt_memory_plan *plan, gpuopt_propagator_batch **batch);
/* Destroys a batch; NULL is allowed. */
GPUOPT_API void gpuopt_propagator_batch_destroy(gpuopt_propagator_batch *batch);

/* Nodes to be propagated. All arrays are in the memory that the call's `where` names. */
typedef struct gpuopt_propagator_nodes {
    size_t struct_size; /* sizeof(gpuopt_propagator_nodes) */
    int32_t count;      /* nodes, 0 to the descriptor's */
    /* [count + 1], ascending from 0: entries start[k] to start[k + 1] - 1 of the next three arrays belong to node k. */
    const int64_t *start;
    const int32_t *col;    /* columns; distinct in each node */
    const double *lb, *ub; /* their bounds, tighter or looser than the base's; NULL: set to the base's */
} gpuopt_propagator_nodes;

/* Where _run writes its results. Each array is [nodes] or NULL, in the memory that `where` names. */
typedef struct gpuopt_propagator_node_report {
    size_t struct_size;      /* sizeof(gpuopt_propagator_node_report) */
    int32_t *outcome;        /* a gpuopt_outcome: MORE, CONVERGED, INFEASIBLE, LIMIT or FULL */
    int32_t *rounds;         /* as in gpuopt_propagator_info, like the next two */
    int32_t *infeasible_row; /* of an INFEASIBLE node: the row that has no solution, or -1 */
    int32_t *infeasible_col; /* or the column whose bounds cross, or -1 */
    int64_t *changed;        /* bounds moved by rows; 0 if FULL */
    int32_t *columns;        /* columns whose bounds end up different from the base's; 0 if INFEASIBLE or FULL */
    int64_t *nonzeros;       /* in the rows that were evaluated; depends on the backend */
    int32_t *rank;           /* with a group: the rank that ran the node; else not written */
} gpuopt_propagator_node_report;

/* Propagates each node by at most `rounds` (at least 1) rounds, and waits for the result; a report in device memory is
 * written in stream order. Rounds, also for the round limit, are counted from the node's bounds. A node with the
 * outcome MORE has had `rounds` rounds, or none if the stop hook ended the call before its turn. In the latter case it
 * has no changes and must be passed again. FULL: the node exceeds node_columns; run it in a batch without that limit,
 * or in a propagator. ARGUMENT: a count, start or column is out of range, or gpuopt_propagator_set_bounds would refuse
 * a bound. Device memory is checked, too. If a column is repeated within a node, which is not checked, one of its
 * bounds counts. MEMORY: the nodes are given more bounds than the descriptor allows (in device memory: ARGUMENT). After
 * an error there are no changes to read. */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_run(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                     const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                     const gpuopt_propagator_node_report *report);

/* The columns whose bounds end up different from the base's. Each array is NULL or in the memory that `where` names. */
typedef struct gpuopt_propagator_node_changes {
    size_t struct_size; /* sizeof(gpuopt_propagator_node_changes) */
    int64_t capacity;   /* set by the caller: length of the last three arrays */
    int64_t count;      /* filled in: columns of all nodes together, whatever the capacity */
    int64_t *start;     /* [nodes of the _run + 1]: entries start[k] to start[k + 1] - 1 belong to node k */
    int32_t *col;       /* [capacity]: the columns, ascending in each node */
    double *lb, *ub;    /* [capacity]: both bounds of each, as gpuopt_propagator_get_bounds returns them */
    int own;            /* with a group: not 0: only this rank's nodes; others count as unchanged, and are not asked */
} gpuopt_propagator_node_changes;
/* Reads the changes of all nodes of the latest _run: count and start, and the first `capacity` of the columns.
 * INFEASIBLE and FULL nodes have none. MEMORY: there are more changes than the descriptor allows; count is filled in,
 * and the nodes must be split over several calls. STATE: there was no _run, or it failed. With a group: MEMORY, too, if
 * one rank (with `own`: this one) has too many; capacity, and which arrays are NULL, may differ between ranks; each
 * rank sends the others 20 bytes per column. */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_changes(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                             gpuopt_propagator_node_changes *changes);
/* Reads all bounds of `count` nodes of the latest _run: node [count], lb and ub [count][cols], all in the memory that
 * `where` names; lb or ub may be NULL. node NULL: the first `count` nodes. A node without changes has the base's
 * bounds. ARGUMENT: a count, or a node in host memory, is out of range; a node in device memory gives NaN. MEMORY: as
 * _get_changes. STATE: there was no _run, it failed, or the base has changed since. Cost O(count * cols). With a group:
 * only of nodes that this rank ran (another's: ARGUMENT); node NULL: the first `count` of these. */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_bounds(gpuopt_propagator_batch *batch, gpuopt_memory_space where,
                                                            int64_t count, const int32_t *node, double *lb, double *ub);

/* ---- Probing ------------------------------------------------------------------------------------------------------ *
 * Propagates each of many binaries at 0 and at 1, and compares the two results. This finds bounds that hold in either
 * case, implications of either value, and pairs of equivalent binaries. A binary is an integer column whose bounds in
 * the base are 0 and 1.
 *
 *     gpuopt_propagator_probe_create(base, &desc, NULL, &probe);
 *     gpuopt_propagator_probe_run(probe, 0, NULL, 1000, &info);                 // all binaries
 *     gpuopt_propagator_probe_get_bounds(probe, &bounds);                       // their count; and again, with arrays
 *     gpuopt_propagator_set_bounds(base, GPUOPT_HOST, bounds.count, bounds.col, bounds.lb, bounds.ub);
 *
 * Pass       A call is one pass: every probe begins with the bounds of the base, which does not change. So the results
 *            depend neither on the order of the probes nor on threads, and are the same bits on the CPU and the GPU. To
 *            find more, set the new bounds in the base, propagate, and probe again until a pass finds nothing.
 * Validity   The results hold for every point within the base's bounds that satisfies all rows, with the probed
 *            binaries at 0 or 1. As in propagation, no such point is cut off.
 * stop       The hook is called as in batches, and between them. A hook that always asks to stop may end a call before
 *            the first binary.
 * Group      See "Sharing work in a group". The results are the same bits as without a group. Each rank probes one
 *            block of the binaries. _create, _run, _get_implications and _get_equivalences are collective, and need the
 *            group; _get_bounds and _destroy do not. They compare the bases' sizes, settings and bounds, the
 *            descriptor, the binaries, rounds, capacities, and which arrays are given. The caller must ensure that the
 *            rows are the same. If a stop hook ends the block of its rank, the results of later ranks are left out.
 *            Each rank reserves memory for all implications and equivalences that are kept. A rank that has found
 *            bounds sends 16 bytes per column. */

/* Probing of one base, and the results of the latest _run. */
typedef struct gpuopt_propagator_probe gpuopt_propagator_probe;

/* How much probing can hold. */
typedef struct gpuopt_propagator_probe_desc {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_desc) */
    /* Probes that run concurrently, two for each binary: an even number of 2 to 65,536; 0: 65,536, or fewer if there
     * are fewer columns. */
    int32_t nodes;
    /* Columns that change in these together; at least 2 for each column of the base; 0: that, or 32 per probe if that
     * is more. If more columns change, fewer probes run concurrently. */
    int64_t changes;
    int64_t implications; /* the most that are kept; 0: they are only counted */
    int64_t equivalences; /* likewise */
    gpuopt_group *group;  /* of the base's context: its ranks share the binaries, see Group; NULL: it probes all */
} gpuopt_propagator_probe_desc;

/* Creates a probing handle, which contains a batch. ARGUMENT: a member is out of range. UNSUPPORTED: as
 * gpuopt_propagator_batch_create. The base must outlive it. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_probe_desc *desc,
                                                        gpuopt_memory_plan *plan, gpuopt_propagator_probe **probe);
/* Destroys it; NULL is allowed. */
GPUOPT_API void gpuopt_propagator_probe_destroy(gpuopt_propagator_probe *probe);

/* What a pass found. */
typedef struct gpuopt_propagator_probe_info {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_info) */
    /* INFEASIBLE: there is no solution. Either a binary can be neither 0 nor 1, or the bounds of a column that hold in
     * every solution cross; probing went on nevertheless. Else CONVERGED: all binaries were probed; MORE: the stop hook
     * ended the call. */
    gpuopt_outcome outcome;
    int32_t probed;           /* binaries, each at both values */
    int32_t infeasible;       /* probes without a solution */
    int32_t unfinished;       /* probes that ended before a fixpoint; what they had implied by then counts */
    int32_t infeasible_col;   /* INFEASIBLE: the first such binary or column; else -1 */
    int32_t fixings;          /* columns that are fixed by the bounds of _get_bounds */
    int32_t bounds;           /* columns for which _get_bounds returns bounds, including the fixed ones */
    int64_t implications;     /* pairs of a feasible probe and another column whose bounds it tightens */
    int64_t implied_binaries; /* of these, the pairs whose column is a binary that the probe fixes */
    int64_t equivalences;     /* pairs, as _get_equivalences returns them */
} gpuopt_propagator_probe_info;

/* Probes the binaries among `count` distinct columns col [count], in host memory, in this order; col NULL: all
 * binaries, in ascending order. Each probe does at most `rounds` (at least 1) rounds. info may be NULL. If the stop
 * hook ended the call, the first info.probed binaries have been probed; pass the others to another call. ARGUMENT: a
 * number is out of range, or count exceeds the number of columns. After an error there are no results. Cost: a batch of
 * two nodes per binary, and O(columns that change). */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_run(gpuopt_propagator_probe *probe, int32_t count, const int32_t *col,
                                                     int32_t rounds, gpuopt_propagator_probe_info *info);

/* Bounds that hold in every solution, of columns whose bounds in the base differ. Each array is in host memory, or
 * NULL. */
typedef struct gpuopt_propagator_probe_bounds {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_bounds) */
    int64_t capacity;   /* set by the caller: length of the arrays */
    int64_t count;      /* filled in, whatever the capacity */
    int32_t *col;       /* [capacity]: the columns, ascending */
    double *lb, *ub;    /* [capacity]: both bounds of each */
} gpuopt_propagator_probe_bounds;
/* Reads, over all probed binaries, the bounds implied by both values, or by the only feasible value. STATE: there was
 * no _run, or it failed. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_bounds(gpuopt_propagator_probe *probe,
                                                            gpuopt_propagator_probe_bounds *bounds);

/* What each probe implies. Each array is in host memory, or NULL. */
typedef struct gpuopt_propagator_probe_implications {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_implications) */
    int64_t capacity;   /* set by the caller: length of the last three arrays */
    int64_t count;      /* filled in, whatever the capacity */
    int32_t *binary;    /* [probed]: binary k; probe 2k set it to 0, probe 2k + 1 to 1 */
    int32_t *outcome;   /* [2 probed]: of each probe, as in gpuopt_propagator_node_report */
    int64_t *start;     /* [2 probed + 1]: entries start[p] to start[p + 1] - 1 belong to probe p */
    int32_t *col;       /* [capacity]: other columns, ascending in each probe */
    double *lb, *ub;    /* [capacity]: both bounds of each, if the binary has the value */
} gpuopt_propagator_probe_implications;
/* Reads the implications. An INFEASIBLE probe has none. MEMORY: there are more than the descriptor allows; all but the
 * last three arrays are filled in. STATE: as _get_bounds. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_implications(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_implications *implications);

/* Pairs of binaries that are equal or opposite in every solution. Each array is in host memory, or NULL. */
typedef struct gpuopt_propagator_probe_equivalences {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_equivalences) */
    int64_t capacity;   /* set by the caller: length of the arrays */
    int64_t count;      /* filled in, whatever the capacity */
    int32_t *col;       /* [capacity]: the probed binary, in the order of the probes */
    int32_t *other;     /* [capacity]: a binary that both of its values fix, ascending for each probed binary */
    uint8_t *opposite;  /* [capacity]: 1: other = 1 - col; 0: other = col */
} gpuopt_propagator_probe_equivalences;
/* Reads the pairs. A pair that is found from both of its binaries is listed twice. MEMORY: there are more than the
 * descriptor allows; the count is filled in. STATE: as _get_bounds. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_equivalences(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_equivalences *equivalences);

/* ---- Basis inverse ----------------------------------------------------------------------------------------------- */

/* How far an inverse has drifted from the true inverse of B. */
typedef struct gpuopt_basis_drift {
    size_t struct_size; /* sizeof(gpuopt_basis_drift) */
    double estimate;    /* max_i |(B^-1 (B e))_i - e_i|, where e is a fixed vector of ones and minus ones */
    double norm;        /* max_ij |(B^-1 B - I)_ij|; -1: not computed */
} gpuopt_basis_drift;
/* Measures the drift, and changes nothing. columns: the caller's B, m x m. exact not 0: computes the norm, too. Time
 * O(m^2), with exact O(m * nonzeros). Waits. */
GPUOPT_API gpuopt_status gpuopt_basis_get_drift(gpuopt_basis *basis, const gpuopt_matrix *columns, int exact,
                                                gpuopt_basis_drift *drift);

/* ---- Linear programs --------------------------------------------------------------------------------------------- */

/* One of a list of candidates to enter the basis. No member will be added. */
typedef struct gpuopt_simplex_candidate {
    int32_t variable;    /* nonbasic, improves the objective of the present phase */
    int32_t direction;   /* as in gpuopt_simplex_entering, like the next two */
    double reduced_cost; /* scaled */
    double score;        /* what the list is sorted by */
} gpuopt_simplex_candidate;

/* Lists up to `count` (at least 1) variables that could enter in candidates [count], and sets *found to their number.
 * The first is the one that _price chooses; the others follow by descending score. Moves nothing. Runs on the CPU: time
 * O(cols), and at most O(cols * count) to sort. */
GPUOPT_API gpuopt_status gpuopt_simplex_candidates(gpuopt_simplex *simplex, int32_t count,
                                                   gpuopt_simplex_candidate *candidates, int32_t *found);
/* A candidate to leave the basis in the dual method. */
typedef struct gpuopt_simplex_dual_leaving {
    size_t struct_size;   /* sizeof(gpuopt_simplex_dual_leaving) */
    int32_t variable;     /* basic, outside its bounds; -1: none, or the outcome is already known */
    int32_t to_upper;     /* not 0: it is above its upper bound and leaves there; else at its lower bound */
    double infeasibility; /* by how much it is outside, scaled, > 0 */
    double score;         /* infeasibility^2 / weight */
} gpuopt_simplex_dual_leaving;

/* A candidate to enter the basis in the dual method. */
typedef struct gpuopt_simplex_dual_entering {
    size_t struct_size; /* sizeof(gpuopt_simplex_dual_entering) */
    int32_t variable;   /* nonbasic, blocks; -1: none, or see `unsafe` */
    int32_t flips;      /* nonbasic variables that the step passes: _dual_pivot moves them to their other bounds */
    /* Of the reduced costs, scaled, >= 0. Infinite: nothing blocks. As far as this basis is accurate, no point is then
     * feasible; _iterate proves it or goes on. */
    double step;
    double pivot; /* the entry in the pivot row, scaled */
    /* Not 0: _dual_pivot would refuse the entry of the blocking variable, `pivot`, as too small; variable is -1. Let
     * another variable leave, or call _rebuild with refactor. */
    int32_t unsafe;
} gpuopt_simplex_dual_entering;

/* One iteration of the dual method by hand: _dual_price, _dual_ratio_test, then _dual_pivot. These calls need a handle
 * whose algorithm is DUAL or AUTO (else STATE), and can be mixed with _iterate and the parts of the primal method.
 *
 * The first of these calls, and the first after any change, makes the basis dual feasible; there is no phase 1.
 * Variables with two bounds flip; other reduced costs of the wrong sign become 0 by shifting their costs, which the
 * primal method undoes. If a rebuild is due, the next of these calls performs it first.
 *
 * If no variable leaves, or nothing blocks the leaving one, call _iterate for the outcome; it does no iteration if
 * nothing is left to do. While bounds cross, or after OPTIMAL, INFEASIBLE, UNBOUNDED or IMPRECISE, _dual_price finds no
 * variable, and the other two return STATE. NUMERIC: the basis is too close to a singular one. */

/* Chooses the variable to leave by dual_pricing, and fills `leaving`. */
GPUOPT_API gpuopt_status gpuopt_simplex_dual_price(gpuopt_simplex *simplex, gpuopt_simplex_dual_leaving *leaving);
/* Chooses the variable to enter for the basic variable `leaving` by the dual ratio test with long steps, and fills
 * `entering`. ARGUMENT: `leaving` is not basic, or is within its bounds. */
GPUOPT_API gpuopt_status gpuopt_simplex_dual_ratio_test(gpuopt_simplex *simplex, int32_t leaving,
                                                        gpuopt_simplex_dual_entering *entering);
/* Exchanges the basic variable `leaving`, which goes to the bound that it violates, and `entering`. If _dual_ratio_test
 * chooses that variable, those that its step passes flip. With another choice none flips, and reduced costs that would
 * get the wrong sign become 0 by shifting their costs. info may be NULL. ARGUMENT: as _dual_ratio_test; `entering` is
 * not nonbasic, or its reduced cost does not become 0 in the direction of the step. NUMERIC: the pivot is below
 * tolerances.pivot, or its values in the row and in the column still differ after the inverse was recomputed. */
GPUOPT_API gpuopt_status gpuopt_simplex_dual_pivot(gpuopt_simplex *simplex, int32_t leaving, int32_t entering,
                                                   gpuopt_simplex_info *info);

/* The next four calls add rows (cuts) and columns (pricing), and remove them. Their number is limited by the
 * descriptor's spare; removing frees capacity.
 *
 * The basis, its inverse, the scales of the old rows and columns, and the weights stay, unless a removal needs a pivot.
 * A new row or column gets a scale of its own. If its entries differ widely from the first ones, the outcome may be
 * IMPRECISE where a new handle, which scales the whole model, would succeed. x and duals are recomputed when they are
 * needed, and the outcome is MORE again. From then on arrays of [rows] and [cols] have the new lengths. Batches over
 * the handle remain usable.
 *
 * All arrays are in host memory. Refused calls change nothing. CUDA: each call also takes time O(nonzeros), since the
 * model is changed in host memory and copied to the device. UNSUPPORTED: with a group; CUDA: the handle has no spare
 * rows, columns or nonzeros, also for _remove_rows and _remove_cols. */

/* Adds rows: a matrix with the handle's columns, and sides [rows->rows] as in the descriptor. They come after the
 * present rows. Their activities are basic, so a dual feasible basis stays dual feasible. ARGUMENT: as _create. MEMORY:
 * they exceed the spare capacity. NUMERIC: a value would overflow or lose digits in its scales.
 * Cost: REVISED on the CPU makes new factors when they are next needed. Else the inverse gets a border: for each
 * nonzero in a basic column O(rows), TABLEAU O(cols), and one copy of the inverse or tableau (with deferred pivots:
 * applying them). STEEPEST_EDGE: also a product with the inverse and A for each row, and so in _remove_rows. */
GPUOPT_API gpuopt_status gpuopt_simplex_add_rows(gpuopt_simplex *simplex, const gpuopt_matrix *rows, const double *lhs,
                                                 const double *rhs);
/* Removes `count` distinct rows; the numbers of later rows move down. A row whose activity is nonbasic, at one of its
 * sides, is first made basic by a pivot on the largest entry: the basis may then be neither primal nor dual feasible.
 * Otherwise both properties are kept. ARGUMENT: there is no such row, or it is repeated. Time: copying the inverse or
 * tableau (or making new factors), and the pivots. */
GPUOPT_API gpuopt_status gpuopt_simplex_remove_rows(gpuopt_simplex *simplex, int64_t count, const int32_t *row);
/* Adds columns: a matrix with the handle's rows, and cost, lb and ub [cols->cols] as in the descriptor. They come after
 * the present columns, so the numbers of the rows' activities move up. They are nonbasic at a bound as after _create:
 * if that is 0, a primal feasible basis stays primal feasible. Errors as _add_rows. Time O(nonzeros) of the model;
 * TABLEAU or STEEPEST_EDGE: also a product with the inverse for each column. */
GPUOPT_API gpuopt_status gpuopt_simplex_add_cols(gpuopt_simplex *simplex, const gpuopt_matrix *cols, const double *cost,
                                                 const double *lb, const double *ub);
/* Removes `count` distinct columns; the numbers of later columns move down. A basic column first leaves the basis by a
 * pivot on the largest entry of its row: the basis may then be neither primal nor dual feasible. ARGUMENT: there is no
 * such column, or it is repeated. Time O(nonzeros), and the pivots; TABLEAU: also copying it. */
GPUOPT_API gpuopt_status gpuopt_simplex_remove_cols(gpuopt_simplex *simplex, int64_t count, const int32_t *col);

/* Sets a cutoff for the dual method, which stays until it is set again. Once the bound of _get_bound reaches it,
 * iterating ends with CUTOFF. Iterating may also end with another outcome: the primal method ignores the cutoff, and
 * shifted costs can keep the bound of the dual method away from it. HUGE_VAL (maximising: -HUGE_VAL): no cutoff. If the
 * outcome is CUTOFF, it is MORE again. ARGUMENT: NaN. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_cutoff(gpuopt_simplex *simplex, double cutoff);
/* Gets a bound that no solution beats, with infinite bounds of columns taken for 1e24. It comes from the duals of the
 * present basis on the original data, minus the most that rounding could have added. If the basis is dual feasible, it
 * is close to the objective; else it may be useless, down to -infinity (maximising: up to infinity). INFEASIBLE:
 * infinity (maximising: -infinity). Time: a few products with the inverse and with A. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_bound(gpuopt_simplex *simplex, double *bound);
/* Determines the outcome of the basis as it is, for example one from another solver or the caller's own. Pivots only to
 * repair a basis that is too close to a singular one. x and duals are recomputed from the original data, and the
 * perturbation of bounds is removed. OPTIMAL, within the tolerances, INFEASIBLE and UNBOUNDED are proven as by
 * _iterate; else the outcome is MORE, and info has the violations of the point. info may be NULL. Time: a rebuild, plus
 * some products with the inverse for each violated bound (in phase 1) or reduced cost. */
GPUOPT_API gpuopt_status gpuopt_simplex_verify_basis(gpuopt_simplex *simplex, gpuopt_simplex_info *info);

/* The next four calls solve with the basis, for cuts and the caller's own methods: in the units of the caller's model,
 * with the present inverse, without refinement. B [rows][rows] has the columns of the basic variables in the order of
 * _get_basic_variables: the column of A, and for the slack of row i -e_i, since A x - activity = 0. None of
 * the calls moves anything. ARGUMENT: a negative count, or a position out of range. */

/* Gets the basic variable of each position: head [rows]. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_basic_variables(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                            int32_t *head);
/* x = B^-1 x for each of `count` right-hand sides in x [count][rows]; the results are by position. Time O(rows^2) each;
 * with factors O(rows), plus the entries of the factors that the vector meets. */
GPUOPT_API gpuopt_status gpuopt_simplex_ftran(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                              double *x);
/* y = B^-T y, likewise for values y [count][rows] by position; the results are by row. */
GPUOPT_API gpuopt_status gpuopt_simplex_btran(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                              double *y);
/* Gets tableau rows, here rows of B^-1 [A -I]: rows [count][cols + rows] for the positions position [count], which are
 * in host memory. Entries of basic variables are 0 or 1 up to rounding. Time O(rows^2 + nonzeros) each, or that of
 * _btran. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_tableau_rows(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                         int64_t count, const int32_t *position, double *rows);

/* ---- Children of one basis, or of several ------------------------------------------------------------------------- *
 * Solves many linear programs in one call, for example the children of a node or strong branching. Each differs from
 * the program of one handle, the root, in some bounds, sides or costs, and begins at the root's basis. A tree search
 * can also pass many open nodes, each with its own bounds, sides and basis, and solve the children of all in one call.
 *
 *     gpuopt_simplex_children_create(root, &desc, NULL, &children);
 *     gpuopt_simplex_children_run(children, GPUOPT_HOST, &list, 500, &report);   // outcome, bound, ... of each
 *     gpuopt_simplex_children_strong_branch(children, GPUOPT_HOST, count, NULL, col, x, 50, &report);   // both sides
 *
 *     gpuopt_simplex_children_set_roots(children, GPUOPT_HOST, &nodes);          // desc.roots: other bases and bounds
 *     list.root = node_of_child;                                                 // and children of those
 *
 * Root       _run uses the root's model and basis, preferably an optimum, at the time of the call, and changes neither.
 *            Rows and columns may be added or removed between calls (see _add_rows etc.). The root must outlive its
 *            batches, which belong to its context. Its inverse is shared: _run applies the root's deferred pivots and
 *            computes its dual weights, so later results of the root can differ in the last bits.
 * Method     The dual simplex method, on both backends, with the root's tolerances, dual_pricing and seed. CPU: the
 *            root's `algorithm` if that is DUAL, else AUTO.
 * Roots      A root of _set_roots has the handle's model and costs, and its own basis, bounds and sides. Its children
 *            are as in a batch of its own, over a new handle of the same model after _set_bounds, _set_sides,
 *            _set_costs and _set_basis. If a row, such as a local cut, belongs to another node, give it infinite sides
 *            here. CPU: the same bits as in that batch. CUDA: the same outcomes, up to rounding.
 * CPU        A child does the pivots that the root would do after _set_bounds, _set_sides and _set_costs with the
 *            child's lists, with any number of threads. It ends with the first point whose violations are within the
 *            tolerances, as on the GPU; _iterate would go on to refine that point. INFEASIBLE and UNBOUNDED are proven
 *            as by _iterate. REVISED: children read the root's factors; each thread keeps the pivots of its child and,
 *            if they are many, its own factors. TABLEAU: each thread has its own tableau, restored after each child.
 * CUDA       The root must be REVISED; AUTO chooses TABLEAU for dense models. A block works on a child from beginning
 *            to end. It only reads the root's inverse and keeps the child's pivots beside it; with REFACTOR it merges
 *            them into its own inverse. The same rules choose the pivots, in the device's own order of sums, with ties
 *            broken by the lowest index. A child's result depends only on the root, its own lists and the descriptor.
 *            OPTIMAL is by tolerance, on the original data, without the further refinement of _iterate. No bound or
 *            side is violated by more than tolerances.primal * max(1, |bound|). No reduced cost has the wrong sign by
 *            more than tolerances.dual * max(1, |cost|). The two objectives differ by at most
 *            tolerances.dual * max(1, |objective|), where a reduced cost towards an infinite bound counts as 0.
 *            INFEASIBLE is proven as by _iterate. UNBOUNDED is not detected: such a child is IMPRECISE, as is one that
 *            runs out of safe pivots. Solve it in a handle.
 * Bounds     Bounds are proven as by _get_bound, whatever the outcome, even for a child that was stopped half way.
 *            CUDA: a column without a bound may count with a bound that a row implies, instead of 1e24.
 * Cutoff     The root's cutoff (_set_cutoff) at the time of _run applies: a child whose bound has reached it is CUTOFF.
 *            As in a single handle, the child may also end with another outcome.
 * Group      See "Sharing work in a group". The handle is the only root (with `roots`: UNSUPPORTED), and must have had
 *            the same calls on each rank. The results are the same bits as without a group if all ranks use one backend
 *            and, on the GPU, devices of one kind. All calls but _destroy are collective and need the group. They
 *            compare the roots' sizes, settings, bounds, costs and statuses, the descriptor, the children, and which
 *            arrays the report has. The caller must ensure that the matrices are the same. If a rank runs out of
 *            memory, reports are unspecified. Arrays are in host memory (DEVICE: UNSUPPORTED). Each rank sends its
 *            reports in pieces of up to 1 MiB, and reserves memory for one piece to send and one from every rank: at
 *            most (P + 1) MiB. */

/* Many children of one root. */
typedef struct gpuopt_simplex_children gpuopt_simplex_children;

/* What to do with a child once its `pivots` iterations are used up. */
typedef enum gpuopt_simplex_on_pivot_limit {
    GPUOPT_ON_PIVOT_LIMIT_END = 0, /* end it with the outcome FULL, and the bound and basis that it has reached */
    GPUOPT_ON_PIVOT_LIMIT_REFACTOR /* go on, with an inverse of its own */
} gpuopt_simplex_on_pivot_limit;

/* The size of a batch, and its options. */
typedef struct gpuopt_simplex_children_desc {
    size_t struct_size; /* sizeof(gpuopt_simplex_children_desc) */
    int32_t batch_size; /* most children of a call, 1 to 65,536, on all ranks together */
    int32_t pivots;     /* K: iterations that memory is reserved for in each child, 1 to 65,536; 0: 256 */
    int64_t changes;    /* most bounds, sides and costs of all children of a call together; 0: 8 per child */
    gpuopt_simplex_on_pivot_limit on_pivot_limit; /* 0: END */
    /* Not 0: reserves device memory so that a report in host memory can ask for basis, x, or farkas and farkas_low.
     * Only CUDA needs this, and only for reports in host memory. */
    int32_t with_basis, with_x, with_farkas;
    gpuopt_group *group; /* of the root's context: its ranks share the children, see Group; NULL: it runs all */
    int32_t roots;       /* most roots of _set_roots, 0 to 65,536; 0: the handle is the only root */
} gpuopt_simplex_children_desc;

/* Creates a batch. ARGUMENT: a member is out of range. UNSUPPORTED: the root is shared by a group; a group and `roots`;
 * CUDA: the root is a TABLEAU.
 * Memory: on the CPU about that of the root for each thread, with `roots` twice that. On both, 17 (rows + cols) bytes
 * of host memory for each of `roots`. On the GPU, in bytes:
 *   20 rows^2
 *   10 or more per nonzero, with each column's nonzeros rounded up to a multiple of 4; from 1,024 rows on as much
 *       again, with each row's nonzeros rounded up
 *   16 K rows + 8 min(K, 64) (rows + 64) + 104 (2 rows + cols) for each concurrent block; with REFACTOR 20 rows^2 more
 *   28 rows^2 + 74 rows + 38 cols for each of `roots`, or for as many as fit into 16 GiB; a call then takes the
 *       children of so many roots at a time
 * There are up to two blocks per multiprocessor, but fewer, down to one in all, if they would take more than 16 GiB
 * together. If only the core of the root's inverse is kept (doc/simplex.md), more blocks and roots fit. Spare rows
 * and columns of the root count like used ones; each column then counts with up to min(64, rows) nonzeros. */
GPUOPT_API gpuopt_status gpuopt_simplex_children_create(gpuopt_simplex *root, const gpuopt_simplex_children_desc *desc,
                                                        gpuopt_memory_plan *plan, gpuopt_simplex_children **children);
/* Destroys a batch; NULL is allowed. */
GPUOPT_API void gpuopt_simplex_children_destroy(gpuopt_simplex_children *children);

/* Other roots than the handle. All arrays are in the memory that the call's `where` names. */
typedef struct gpuopt_simplex_root_list {
    size_t struct_size;      /* sizeof(gpuopt_simplex_root_list) */
    int32_t count;           /* roots, 0 to the descriptor's */
    const uint8_t *basis;    /* [count][cols + rows] as of gpuopt_simplex_get_basis */
    const double *lb, *ub;   /* [count][cols]; NULL: the handle's, as they are now */
    const double *lhs, *rhs; /* [count][rows] likewise */
} gpuopt_simplex_root_list;
/* Sets the roots that children can name, until it is called again. It must be, once rows or columns of the handle were
 * added or removed. ARGUMENT: as _set_basis, _set_bounds and _set_sides. NUMERIC: a value would overflow or lose digits
 * in the handle's scales; or a basis is singular. MEMORY: count exceeds the descriptor's roots; CPU: factors do not
 * fit. STATE: the descriptor has no roots. After a singular basis, or if factors do not fit, no roots are set; else
 * those of before stay. Time: a factorisation of each basis; CUDA: pivots from the handle's or the slack basis. */
GPUOPT_API gpuopt_status gpuopt_simplex_children_set_roots(gpuopt_simplex_children *children, gpuopt_memory_space where,
                                                           const gpuopt_simplex_root_list *list);

/* Children to be solved. All arrays are in the memory that the call's `where` names. A `start` [count + 1] ascends from
 * 0: entries start[k] to start[k + 1] - 1 of the arrays after it belong to child k; NULL: no child has any. If a child
 * has several entries for one column or row, the last one counts. */
typedef struct gpuopt_simplex_child_list {
    size_t struct_size;        /* sizeof(gpuopt_simplex_child_list) */
    int32_t count;             /* children, 0 to the descriptor's batch_size */
    const int64_t *start;      /* of the bounds */
    const int32_t *col;        /* columns */
    const double *lb, *ub;     /* their bounds; NULL: those of the child's root */
    const int64_t *side_start; /* of the sides */
    const int32_t *row;        /* rows */
    const double *lhs, *rhs;   /* their sides */
    const int64_t *cost_start; /* of the costs */
    const int32_t *cost_col;   /* columns */
    const double *cost;        /* their costs */
    const int32_t *root;       /* [count] of _set_roots, or -1: the handle; NULL: all are of the handle */
} gpuopt_simplex_child_list;

/* Where _run writes its results. Each array is NULL or in the memory that `where` names. */
typedef struct gpuopt_simplex_child_report {
    size_t struct_size;  /* sizeof(gpuopt_simplex_child_report) */
    int32_t *outcome;    /* [count] a gpuopt_outcome as of _iterate, or FULL; MORE: not decided within `iterations` */
    int32_t *iterations; /* [count] */
    double *bound;       /* [count] as of gpuopt_simplex_get_bound; costs a few products each on the CPU */
    double *objective;   /* [count] OPTIMAL: the optimum; else of the point that the child has reached, or NaN */
    uint8_t *basis;      /* [count][cols + rows] as of gpuopt_simplex_get_basis */
    double *x;           /* [count][cols] the point that the child has reached */
    double *farkas;      /* [count][rows] as of gpuopt_simplex_get_proof if INFEASIBLE, else 0 */
    double *farkas_low;  /* [count][rows] its low words */
    int32_t *certainty;  /* [count] a gpuopt_certainty: TOLERANCE if OPTIMAL, else NONE */
} gpuopt_simplex_child_report;

/* Does up to `iterations` (at least 1) iterations of each child, and waits for the results. The stop hook is called
 * between children on the CPU, and not on the GPU. Children not yet started have outcome MORE, 0 iterations and bound
 * NaN. ARGUMENT: a count or start is out of range, or _set_bounds, _set_sides or _set_costs would refuse an entry; also
 * in device memory. NUMERIC: a number would overflow or lose digits in the root's scales. MEMORY: there are more
 * entries than the descriptor allows. STATE: a child names a root, and none are set, or rows or columns of the handle
 * were added or removed since. Refused calls write nothing. */
GPUOPT_API gpuopt_status gpuopt_simplex_children_run(gpuopt_simplex_children *children, gpuopt_memory_space where,
                                                     const gpuopt_simplex_child_list *list, int64_t iterations,
                                                     const gpuopt_simplex_child_report *report);
/* Strong branching: as _run, with two children for each of `count` columns col [count], branched at value [count]. root
 * [count] has each column's root, as in a list of children; NULL: the handle. Child 2 k has ub = floor(value[k]) for
 * column col[k], and child 2 k + 1 has lb = floor(value[k]) + 1; a child whose bounds cross is INFEASIBLE. If a value
 * is within 1e-6 of an integer, both children are the root itself. value NULL: the handle's present point, as of
 * _get_solution. Pass the values of your own solution: the handle may be at another optimal vertex, or may have moved
 * since you set bounds. ARGUMENT, too: a value is not finite; value is NULL, and root is not. Uses 2 * count of the
 * descriptor's batch_size and changes. */
GPUOPT_API gpuopt_status gpuopt_simplex_children_strong_branch(gpuopt_simplex_children *children,
                                                               gpuopt_memory_space where, int32_t count,
                                                               const int32_t *root, const int32_t *col,
                                                               const double *value, int64_t iterations,
                                                               const gpuopt_simplex_child_report *report);

/* ---- Graphical models -------------------------------------------------------------------------------------------- */

/* Sets the evidence of a copy of the model: value [evidence_count], checked in either memory. All copies go back to the
 * state in which no variable is eliminated. ARGUMENT: there is no such copy, or a value is outside its domain. */
GPUOPT_API gpuopt_status gpuopt_elimination_set_evidence(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                         int32_t copy, const int32_t *value);

/* Computes bounds for branch and bound, after the last step, for `count` partial assignments at once. Exact without
 * mini-buckets. The tables stay in the backend's memory; `where` is the memory of value and of the bounds.
 *
 * value      [count][variables]: row i gives the values of the variables that are eliminated after `variable`, or left
 *            over. Other entries are ignored; variables with evidence have the copy's values.
 * bound      [count][domain of variable], with DOUBLE bound_value instead. Entry [i][v] is at most (MAX_SUM: at least)
 *            the cost of every assignment that gives `variable` the value v and agrees with value[i]. If variables are
 *            decided in the reverse order of their elimination, these are the bounds of all children of node i.
 *            Forbidden: INT64_MAX (MAX_SUM: INT64_MIN), or infinity.
 * increase   Not 0: returns by how much the bound of value[i] without `variable` rises with v: 0 or more (MAX_SUM: 0 or
 *            less; DOUBLE: up to rounding). Add the increases of all variables from the last one down to a node to the
 *            result of the elimination (gpuopt_elimination_info.cost): the sum is the node's bound. Increases of
 *            variables in different branches of the elimination tree are independent. The caller computes the sum, and
 *            checks whether it reaches top.
 * Errors     ARGUMENT: count is negative, `variable` is not eliminated, or a value that is read is outside its domain,
 *            in either memory; in this last case bounds may have been written. STATE: as _assign, or the policy is DROP
 *            or RECOMPUTE. UNSUPPORTED: LOG_SUM_EXP, SLICE, STREAM.
 * Cost       For each partial assignment O(functions + messages), with increase O(those of the variable's bucket), plus
 *            the domain size times the tables of the bucket. GPU, HOST: works in pieces of at least 64 partial
 *            assignments, and of up to 4 MiB where the tables take 64 MiB. DEVICE: one launch. Waits.
 * Bits       INT64: the same bits on every backend and for any count. */
GPUOPT_API gpuopt_status gpuopt_elimination_get_bounds(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                       int32_t copy, int32_t variable, int increase, int64_t count,
                                                       const int32_t *value, int64_t *bound, double *bound_value);

/* ---- Knapsacks --------------------------------------------------------------------------------------------------- */

/* Removes one of each `every` nodes (1: all) from the pool, across all its levels, and packs them. With 2, this hands
 * over a representative half of the work, unlike _pack, which takes nodes from one end. Otherwise as _pack with remove.
 * Cost: as _pack, plus O(nodes in the pool), on the GPU within its memory. ARGUMENT: every is less than 1, or capacity
 * is too small. */
GPUOPT_API gpuopt_status gpuopt_knapsack_split(gpuopt_knapsack *knapsack, int64_t every, void *bytes, uint64_t capacity,
                                               uint64_t *size);
/* Keeps one of each `parts` nodes, across all levels, and drops the others: the share of part 0 <= part < parts.
 * Handles of one problem, with pools of one size, hold the same nodes after the same calls, on any backend. If each of
 * `parts` handles then keeps a different part, they share the work without transferring any nodes. OPTIMAL and
 * dual_bound then refer only to the nodes that the handle holds; dropped nodes do not count as pruned. Cost: O(nodes in
 * the pool), on the GPU within its memory. ARGUMENT: parts is less than 1, or there is no such part. */
GPUOPT_API gpuopt_status gpuopt_knapsack_take_share(gpuopt_knapsack *knapsack, int64_t part, int64_t parts);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_SEARCH_H */
