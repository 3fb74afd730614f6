/* SPDX-License-Identifier: MIT
 *
 * A random walk of a propagator with a trail, compared with a twin: a propagator without a trail that makes the same
 * calls. When the walk goes back, the twin is created again and makes only the remaining calls. Added rows are in the
 * twin's matrix from the start, with free sides while they do not exist. After every call both must agree, bit by bit.
 * The twin runs on one thread of the CPU and, in JACOBI mode, evaluates all rows in all rounds (marking OFF).
 */
#ifndef TESTS_PROPAGATE_TREE_WALK_H
#define TESTS_PROPAGATE_TREE_WALK_H

#include "tests/propagate/tree.h"

enum {
    WALK_CHANGES = 60000,
    WALK_STEPS = 400,
    WALK_LEVELS = 64,
    WALK_ADDED = 96,
    WALK_FORKS = 4,
    WALK_COLS = MODEL_COLS
};

/* The data that a call sets. Rows have names: the matrix's first, then added rows in the order of their first use. */
typedef struct walk_step {
    enum { WALK_BOUNDS, WALK_SIDES, WALK_ROUNDS } kind;
    int level, count, rounds;
    int no_lb, no_ub;        /* bounds: an array that is NULL */
    int32_t item[WALK_COLS]; /* [count]: columns or names of rows */
    double low[WALK_COLS], high[WALK_COLS];
} walk_step;

typedef struct walk_added {
    int32_t number; /* the row's, -1 from its removal on */
    int32_t slot;   /* the number that it has, or had */
    int length;
    int32_t index[WALK_COLS];
    double value[WALK_COLS];
} walk_added;

/* A row of the trail's handle, by number. */
typedef struct walk_row {
    tree_row row;
    int present;
    int changed; /* times that it was added, removed or given other sides */
} walk_row;

typedef struct walk {
    gpuopt_context *context, *plain; /* the trail's, and the twin's */
    mip model;
    double x[WALK_COLS]; /* the point around which the rows are drawn; decisions need not respect it */
    gpuopt_propagator_desc desc;
    gpuopt_propagator *p, *twin, *original[WALK_FORKS];
    int originals, data;
    uint64_t seed;

    walk_step step[WALK_STEPS];
    int steps;
    walk_added added[WALK_ADDED];
    int added_count;
    walk_row row[MODEL_ROWS + TREE_ROWS];

    int levels;
    int64_t level_start[WALK_LEVELS + 1];                                              /* [0] is 0 */
    double level_lb[WALK_LEVELS + 1][WALK_COLS], level_ub[WALK_LEVELS + 1][WALK_COLS]; /* as read before the push */
    gpuopt_outcome level_outcome[WALK_LEVELS + 1];
    double lb0[WALK_COLS], ub0[WALK_COLS], lb[WALK_COLS],
        ub[WALK_COLS]; /* level 0; now, if they cross both as they are */
    tree_change change[WALK_CHANGES];
    int seen[WALK_CHANGES]; /* walk_row.changed of the change's row */
    int64_t changes;
    gpuopt_propagator_info info;
    gpuopt_outcome outcome; /* MORE again after a change */

    int check_rows;
    long explained, premises, infeasible, lowest, full, refused; /* numbers of checks */
} walk;

/* Data of the model: small integers; decimals; rows of different magnitudes. */
enum { WALK_INTEGERS, WALK_DECIMALS, WALK_MAGNITUDES, WALK_DATA };

typedef struct walk_options {
    int32_t round_limit;
    int64_t trail_capacity; /* 0: TREE_TRAIL */
    int check_rows;         /* one JACOBI round in this many is checked for the lowest rows; 0: none */
} walk_options;

/* options may be NULL: all 0. */
walk *walk_begin(gpuopt_context *context, uint64_t seed, int data, gpuopt_propagator_mode mode,
                 gpuopt_propagator_precision precision, const walk_options *options);
void walk_end(walk *w);

/* Calls, made in both and compared. */
void walk_push(walk *w);
void walk_pop(walk *w, int levels);
void walk_keep(walk *w);
void walk_fork(walk *w, gpuopt_context *context);
void walk_set_bounds(walk *w, int count, const int32_t *col, const double *lb, const double *ub, int no_lb, int no_ub);
void walk_set_sides(walk *w, int count, const int32_t *name, const double *lhs, const double *rhs);
void walk_add_row(walk *w, int length, const int32_t *index, const double *value, double lhs, double rhs);
void walk_remove_row(walk *w, int32_t name);
void walk_round(walk *w, int rounds);
/* Checks that the trail still has the changes that were read after each call. */
void walk_check_changes(walk *w);
/* The number of the row with this name; of a removed row, its former number. */
int32_t walk_slot(const walk *w, int32_t name);

/* ---- tree_draw.c ---- */

/* A random step; rows: also steps that add, remove or change rows. */
void walk_any(walk *w, int rows);
/* Turns small integers into the data that w->data selects. */
void walk_change_data(walk *w);

/* ---- tree_reasons.c ---- */

/* Checks the premises of a change, or of infeasibility (-1). */
void walk_explain(walk *w, int64_t change);
/* Checks that each of these changes by a JACOBI round with the bounds lb and ub names the lowest row that implies
 * it. */
void walk_check_lowest(walk *w, const double *lb, const double *ub, int64_t from, int64_t to);

#endif /* TESTS_PROPAGATE_TREE_WALK_H */
