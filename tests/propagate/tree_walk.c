/* SPDX-License-Identifier: MIT */
#include "tests/propagate/tree_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* ---- The twin ---- */

int32_t walk_slot(const walk *w, int32_t name) { return name < MODEL_ROWS ? name : w->added[name - MODEL_ROWS].slot; }

/* The twin's rows: the matrix's, then the added rows by number, which is the order of a sequential sweep. */
static int32_t twin_rows(const walk *w, int32_t *name) {
    int32_t count = 0, slot, k;
    for (k = 0; k < MODEL_ROWS; k++) name[count++] = k;
    for (slot = MODEL_ROWS; slot < MODEL_ROWS + TREE_ROWS; slot++)
        for (k = 0; k < w->added_count; k++)
            if (w->added[k].slot == slot) name[count++] = MODEL_ROWS + k;
    return count;
}

static void repeat(walk *w, const walk_step *s, const int32_t *twin_row) {
    int32_t row[WALK_COLS], k;
    if (s->kind == WALK_ROUNDS) problem_round(w->twin, s->rounds);
    if (s->kind == WALK_BOUNDS)
        assert_int_equal(gpuopt_propagator_set_bounds(w->twin, GPUOPT_HOST, s->count, s->item, s->no_lb ? NULL : s->low,
                                                      s->no_ub ? NULL : s->high),
                         GPUOPT_OK);
    if (s->kind == WALK_SIDES) {
        for (k = 0; k < s->count; k++) row[k] = twin_row[s->item[k]];
        assert_int_equal(gpuopt_propagator_set_sides(w->twin, GPUOPT_HOST, s->count, row, s->low, s->high), GPUOPT_OK);
    }
}

static void find_twin_rows(const walk *w, int32_t *twin_row) {
    int32_t name[MODEL_ROWS + WALK_ADDED], count = twin_rows(w, name), k;
    for (k = 0; k < count; k++) twin_row[name[k]] = k;
}

/* Creates the twin and repeats all steps of the walk on it. */
static void make_twin(walk *w) {
    int32_t name[MODEL_ROWS + WALK_ADDED], twin_row[MODEL_ROWS + WALK_ADDED], count = twin_rows(w, name), i;
    mip m = problem_new(WALK_COLS, count, (int64_t)count * WALK_COLS);
    gpuopt_propagator_desc desc = w->desc;
    int k;
    for (i = 0; i < count; i++) {
        const gpuopt_matrix *a = &w->model.matrix;
        const walk_added *r = &w->added[name[i] < MODEL_ROWS ? 0 : name[i] - MODEL_ROWS];
        int64_t j;
        if (name[i] >= MODEL_ROWS) {
            problem_row(&m, -INFINITY, INFINITY);
            for (j = 0; j < r->length; j++) problem_entry(&m, r->index[j], r->value[j]);
        } else {
            problem_row(&m, w->model.lhs[i], w->model.rhs[i]);
            for (j = a->start[i]; j < a->start[i + 1]; j++) problem_entry(&m, a->index[j], a->value[j]);
        }
    }
    desc.matrix = m.matrix;
    desc.lhs = m.lhs;
    desc.rhs = m.rhs;
    desc.trail_capacity = 0;
    desc.spare = NULL;
    if (desc.mode == GPUOPT_MODE_JACOBI) desc.marking = GPUOPT_OFF;
    gpuopt_propagator_destroy(w->twin);
    w->twin = problem_create(w->plain, &desc);
    mip_free(&m);
    find_twin_rows(w, twin_row);
    for (k = 0; k < w->steps; k++) repeat(w, &w->step[k], twin_row);
}

/* Has the twin do one more step. */
static void follow(walk *w) {
    int32_t twin_row[MODEL_ROWS + WALK_ADDED];
    find_twin_rows(w, twin_row);
    repeat(w, &w->step[w->steps - 1], twin_row);
}

static walk_step *new_step(walk *w, int kind) {
    walk_step *s = &w->step[w->steps++];
    assert_true(w->steps < WALK_STEPS);
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->level = w->levels;
    return s;
}

/* ---- Comparing ---- */

static void check_trail(walk *w) {
    gpuopt_propagator_trail trail = tree_trail(w->p);
    assert_int_equal(trail.levels, w->levels);
    assert_int_equal(trail.level_start, w->level_start[w->levels]);
    assert_int_equal(trail.changes, w->changes);
}

/* Both have these bounds; a lower bound above the upper one is shown equal to it, unless the model is infeasible. */
static void check_bounds(walk *w) {
    double lb[WALK_COLS], ub[WALK_COLS];
    int32_t j;
    problem_bounds(w->p, lb, ub);
    for (j = 0; j < WALK_COLS; j++)
        if (!same(ub[j], w->ub[j]) || (!same(lb[j], w->lb[j]) && !(w->lb[j] > w->ub[j] && same(lb[j], ub[j]))))
            fail_msg("column %d is in [%.17g, %.17g], by its changes in [%.17g, %.17g]", j, lb[j], ub[j], w->lb[j],
                     w->ub[j]);
    model_check_same_bounds(w->p, w->twin, WALK_COLS);
}

/* Reads the changes since the last call and makes them in lb and ub. */
static void take_changes(walk *w) {
    int64_t count, k;
    tree_change *list = tree_changes(w->p, w->changes, &count);
    for (k = 0; k < count; k++) {
        double *bound = list[k].upper ? w->ub : w->lb;
        assert_in_range(list[k].col, 0, WALK_COLS - 1);
        assert_true(list[k].row >= -1 && list[k].row < MODEL_ROWS + TREE_ROWS);
        assert_true(list[k].row < 0 || w->row[list[k].row].present);
        if (!same(list[k].old_bound, bound[list[k].col]))
            fail_msg("change %ld: bound %d of column %d was %.17g, not %.17g", (long)(w->changes + k), list[k].upper,
                     list[k].col, bound[list[k].col], list[k].old_bound);
        bound[list[k].col] = list[k].new_bound;
        assert_true(w->changes + k < WALK_CHANGES);
        w->seen[w->changes + k] = list[k].row < 0 ? 0 : w->row[list[k].row].changed;
        w->change[w->changes + k] = list[k];
    }
    w->changes += count;
    free(list);
}

void walk_check_changes(walk *w) {
    int64_t from = w->changes > 0 ? test_random_int(&w->seed, 0, w->changes) : 0, count, k;
    tree_change *list = tree_changes(w->p, from, &count);
    assert_int_equal(count, w->changes - from);
    for (k = 0; k < count; k++) {
        const tree_change *c = &w->change[from + k];
        assert_true(list[k].col == c->col && list[k].upper == c->upper && list[k].row == c->row);
        assert_true(same(list[k].old_bound, c->old_bound) && same(list[k].new_bound, c->new_bound));
    }
    free(list);
}

static void check_all(walk *w) {
    check_trail(w);
    check_bounds(w);
}

/* ---- Calls ---- */

void walk_push(walk *w) {
    w->levels++;
    assert_true(w->levels <= WALK_LEVELS);
    w->level_start[w->levels] = tree_push(w->p);
    assert_int_equal(w->level_start[w->levels], w->changes);
    memcpy(w->level_lb[w->levels], w->lb, sizeof w->lb);
    memcpy(w->level_ub[w->levels], w->ub, sizeof w->ub);
    w->level_outcome[w->levels] = w->outcome;
    check_all(w);
}

/* Sides set in the levels stay, and are set after everything else. */
void walk_pop(walk *w, int levels) {
    static walk_step later[WALK_STEPS]; /* too large for the stack */
    int level = w->levels - levels, k, kept = 0, laters = 0;
    tree_pop(w->p, levels);
    for (k = 0; k < w->steps; k++)
        if (w->step[k].level <= level) w->step[kept++] = w->step[k];
        else if (w->step[k].kind == WALK_SIDES) later[laters++] = w->step[k];
    for (k = 0; k < laters; k++) later[k].level = level, w->step[kept++] = later[k];
    w->steps = kept;
    if (levels > 0) {
        w->changes = w->level_start[level + 1];
        memcpy(w->lb, w->level_lb[level + 1], sizeof w->lb);
        memcpy(w->ub, w->level_ub[level + 1], sizeof w->ub);
        w->outcome = laters > 0 ? GPUOPT_MORE : w->level_outcome[level + 1];
    }
    w->levels = level;
    make_twin(w);
    check_all(w);
}

static void flatten(walk *w) {
    int k;
    for (k = 0; k < w->steps; k++) w->step[k].level = 0;
    memcpy(w->lb0, w->lb, sizeof w->lb);
    memcpy(w->ub0, w->ub, sizeof w->ub);
    w->levels = 0;
    w->changes = 0;
}

void walk_keep(walk *w) {
    assert_int_equal(gpuopt_propagator_commit(w->p), GPUOPT_OK);
    flatten(w);
    check_all(w);
}

void walk_fork(walk *w, gpuopt_context *context) {
    gpuopt_propagator *fork = NULL;
    assert_true(w->originals < WALK_FORKS);
    assert_int_equal(gpuopt_propagator_clone(w->p, context, NULL, &fork), GPUOPT_OK);
    assert_non_null(fork);
    w->original[w->originals++] = w->p;
    w->p = fork;
    flatten(w);
    check_all(w);
}

void walk_set_bounds(walk *w, int count, const int32_t *col, const double *lb, const double *ub, int no_lb, int no_ub) {
    walk_step *s = new_step(w, WALK_BOUNDS);
    gpuopt_status status;
    int64_t from = w->changes;
    s->count = count;
    s->no_lb = no_lb;
    s->no_ub = no_ub;
    memcpy(s->item, col, sizeof *col * (size_t)count);
    memcpy(s->low, lb, sizeof *lb * (size_t)count);
    memcpy(s->high, ub, sizeof *ub * (size_t)count);
    if (count == WALK_COLS) /* in their order */
        status = gpuopt_propagator_set_bounds(w->p, GPUOPT_HOST, 0, NULL, no_lb ? NULL : lb, no_ub ? NULL : ub);
    else status = gpuopt_propagator_set_bounds(w->p, GPUOPT_HOST, count, col, no_lb ? NULL : lb, no_ub ? NULL : ub);
    if (status == GPUOPT_ERROR_MEMORY) { /* nothing has changed */
        assert_true(w->changes + 2 * count > w->desc.trail_capacity);
        w->steps--, w->refused++;
        check_all(w);
        return;
    }
    assert_int_equal(status, GPUOPT_OK);
    w->outcome = GPUOPT_MORE;
    follow(w);
    for (take_changes(w); from < w->changes; from++) assert_int_equal(w->change[from].row, -1);
    check_all(w);
}

static void set_sides(walk *w, int count, const int32_t *name, const double *lhs, const double *rhs) {
    walk_step *s = new_step(w, WALK_SIDES);
    int k;
    s->count = count;
    for (k = 0; k < count; k++) {
        walk_row *row = &w->row[walk_slot(w, name[k])];
        s->item[k] = name[k];
        s->low[k] = row->row.lhs = lhs[k];
        s->high[k] = row->row.rhs = rhs[k];
        row->changed++;
    }
    w->outcome = GPUOPT_MORE;
}

void walk_set_sides(walk *w, int count, const int32_t *name, const double *lhs, const double *rhs) {
    int32_t row[WALK_COLS];
    int k;
    for (k = 0; k < count; k++) row[k] = walk_slot(w, name[k]);
    assert_int_equal(gpuopt_propagator_set_sides(w->p, GPUOPT_HOST, count, row, lhs, rhs), GPUOPT_OK);
    set_sides(w, count, name, lhs, rhs);
    follow(w);
    check_all(w);
}

void walk_add_row(walk *w, int length, const int32_t *index, const double *value, double lhs, double rhs) {
    walk_added *r = &w->added[w->added_count];
    const int32_t name = MODEL_ROWS + w->added_count;
    walk_row *row;
    assert_true(w->added_count < WALK_ADDED && length <= WALK_COLS);
    r->length = length;
    memcpy(r->index, index, sizeof *index * (size_t)length);
    memcpy(r->value, value, sizeof *value * (size_t)length);
    r->number = r->slot = tree_add(w->p, WALK_COLS, length, index, value, lhs, rhs);
    assert_in_range(r->number, MODEL_ROWS, MODEL_ROWS + TREE_ROWS - 1);
    row = &w->row[r->number];
    assert_false(row->present);
    row->present = 1;
    row->row = (tree_row){length, r->index, r->value, lhs, rhs, w->desc.precision == GPUOPT_PRECISION_FP32};
    w->added_count++;
    set_sides(w, 1, &name, &lhs, &rhs);
    make_twin(w);
    check_all(w);
}

void walk_remove_row(walk *w, int32_t name) {
    const double none = -INFINITY, all = INFINITY;
    walk_added *r = &w->added[name - MODEL_ROWS];
    assert_int_equal(gpuopt_propagator_remove_rows(w->p, 1, &r->number), GPUOPT_OK);
    set_sides(w, 1, &name, &none, &all);
    w->row[r->number].present = 0;
    r->number = -1;
    follow(w);
    check_all(w);
}

/* A fresh handle with these bounds, sides and rows reaches the same verdict at once, and moves nothing. */
static void check_fresh(walk *w) {
    int32_t name[MODEL_ROWS + WALK_ADDED], count = twin_rows(w, name), i;
    mip m = problem_new(WALK_COLS, count, (int64_t)count * WALK_COLS);
    gpuopt_propagator_desc desc = w->desc;
    double lb[WALK_COLS], ub[WALK_COLS], after_lb[WALK_COLS], after_ub[WALK_COLS];
    gpuopt_propagator_info info;
    for (i = 0; i < MODEL_ROWS + TREE_ROWS; i++) {
        const tree_row *r = &w->row[i].row;
        int64_t j;
        if (!w->row[i].present) continue;
        problem_row(&m, r->lhs, r->rhs);
        for (j = 0; j < r->length; j++) problem_entry(&m, r->index[j], r->value[j]);
    }
    problem_bounds(w->p, lb, ub);
    desc.matrix = m.matrix;
    desc.lhs = m.lhs;
    desc.rhs = m.rhs;
    desc.lb = lb;
    desc.ub = ub;
    desc.round_limit = 0;
    info = problem_run(w->plain, &desc, 1, after_lb, after_ub);
    assert_int_equal(info.outcome, w->info.outcome);
    assert_true(info.outcome == GPUOPT_INFEASIBLE || info.changed == 0);
    if (info.changed == 0) {
        assert_memory_equal(lb, after_lb, sizeof lb);
        assert_memory_equal(ub, after_ub, sizeof ub);
    }
    mip_free(&m);
}

/* The twin makes the rounds one by one; each round's changes equal the trail's, in the header's order. */
static void compare_round(walk *w, int64_t from) {
    int32_t name[MODEL_ROWS + WALK_ADDED], k;
    gpuopt_propagator_info sum = w->info, one;
    double lb[WALK_COLS], ub[WALK_COLS];
    int check = w->check_rows && test_random_int(&w->seed, 1, w->check_rows) == 1;
    int64_t at = from;
    sum.rounds = 0;
    sum.changed = 0;
    do {
        problem_bounds(w->twin, lb, ub);
        one = problem_round(w->twin, 1);
        sum.rounds += one.rounds;
        sum.changed += one.changed;
        if (at + one.changed > w->changes)
            fail_msg("the twin's round %d moves %ld bounds, the trail has %ld changes more", sum.rounds,
                     (long)one.changed, (long)(w->changes - at));
        for (k = 0; k < one.changed; k++, at++) {
            const tree_change *c = &w->change[at];
            assert_true(c->row >= 0);
            if (w->desc.mode == GPUOPT_MODE_JACOBI && k > 0)
                assert_true(2 * c[-1].col + c[-1].upper < 2 * c->col + c->upper);
        }
        if (check && w->desc.mode == GPUOPT_MODE_JACOBI) walk_check_lowest(w, lb, ub, at - one.changed, at);
    } while (one.outcome == GPUOPT_MORE && sum.rounds < w->info.rounds);
    assert_int_equal(at, w->changes);
    if (w->info.outcome == GPUOPT_FULL) one.outcome = GPUOPT_FULL;
    sum.outcome = one.outcome;
    sum.infeasible_col = one.infeasible_col;
    twin_rows(w, name);
    sum.infeasible_row = one.infeasible_row < 0 ? -1 : walk_slot(w, name[one.infeasible_row]);
    model_check_same_info(w->info, sum);
}

/* One more round would make more changes than fit. (JACOBI: a sweep stops at a row.) */
static void check_full(walk *w, walk_step *s) {
    s->rounds = w->info.rounds;
    if (s->rounds == 0) w->steps--;
    assert_true(problem_round(w->twin, 1).changed > w->desc.trail_capacity - w->changes);
    make_twin(w);
    w->full++;
}

void walk_round(walk *w, int rounds) {
    walk_step *s = new_step(w, WALK_ROUNDS);
    gpuopt_propagator_info again = GPUOPT_INIT(gpuopt_propagator_info);
    int64_t from = w->changes;
    s->rounds = rounds;
    w->info = problem_round(w->p, rounds);
    assert_int_equal(gpuopt_propagator_get_info(w->p, &again), GPUOPT_OK);
    assert_memory_equal(&again, &w->info, sizeof again);
    take_changes(w);
    if (w->info.outcome != GPUOPT_FULL || w->info.rounds > 0) compare_round(w, from);
    if (w->info.outcome == GPUOPT_FULL) check_full(w, s);
    w->outcome = w->info.outcome;
    check_all(w);
    if (test_random_int(&w->seed, 0, 3) == 0 && (w->outcome == GPUOPT_CONVERGED || w->outcome == GPUOPT_INFEASIBLE))
        check_fresh(w);
    if (w->outcome == GPUOPT_INFEASIBLE) walk_explain(w, -1);
    for (; from < w->changes; from++)
        if (test_random_int(&w->seed, 0, 3) == 0) walk_explain(w, from);
}

/* ---- Beginning and ending ---- */

walk *walk_begin(gpuopt_context *context, uint64_t seed, int data, gpuopt_propagator_mode mode,
                 gpuopt_propagator_precision precision, const walk_options *options) {
    walk *w = calloc(1, sizeof *w);
    int32_t i;
    assert_non_null(w);
    w->context = context;
    assert_int_equal(gpuopt_context_create(NULL, &w->plain), GPUOPT_OK);
    w->seed = seed * 1000 + 7;
    w->data = data;
    w->model = model_random(seed, w->x);
    walk_change_data(w);
    w->desc = tree_desc(&w->model, mode, precision);
    if (options) {
        w->desc.round_limit = options->round_limit;
        if (options->trail_capacity > 0) w->desc.trail_capacity = options->trail_capacity;
        w->check_rows = options->check_rows;
    }
    w->p = problem_create(context, &w->desc);
    for (i = 0; i < MODEL_ROWS; i++) {
        const gpuopt_matrix *a = &w->model.matrix;
        w->row[i].present = 1;
        w->row[i].row = (tree_row){a->start[i + 1] - a->start[i],
                                   a->index + a->start[i],
                                   a->value + a->start[i],
                                   w->model.lhs[i],
                                   w->model.rhs[i],
                                   precision == GPUOPT_PRECISION_FP32};
    }
    problem_bounds(w->p, w->lb, w->ub);
    memcpy(w->lb0, w->lb, sizeof w->lb);
    memcpy(w->ub0, w->ub, sizeof w->ub);
    make_twin(w);
    check_all(w);
    return w;
}

void walk_end(walk *w) {
    gpuopt_propagator_destroy(w->twin);
    gpuopt_propagator_destroy(w->p);
    while (w->originals > 0) gpuopt_propagator_destroy(w->original[--w->originals]);
    gpuopt_context_destroy(w->plain);
    mip_free(&w->model);
    free(w);
}
