/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "tests/fuzz/propagate_tree.h"

#include <math.h>

#include "tests/fuzz/propagate_exact.h"

enum { STEPS = 48, LEVELS = 8, ADDED = 12, SPARE = 4, CHANGES = 4096, ROWS = MOST + SPARE };

typedef struct step {
    enum { BOUNDS, SIDES, ROUNDS } kind;
    int level, count, rounds, sides; /* sides: 1: lb is NULL, 2: ub is */
    int32_t item[MOST];              /* columns; rows by name: the matrix's, then added[] */
    double low[MOST], high[MOST];
} step;

typedef struct row {
    int64_t start[2];
    int32_t col[MOST];
    double val[MOST], lhs, rhs;
    int32_t number, slot; /* number: -1 from its removal on */
    int changed;
} row;

typedef struct search {
    fuzz *f;
    gpuopt_propagator_desc model;
    gpuopt_propagator *p, *twin, *original;
    step step[STEPS];
    int steps, levels, added;
    row row[MOST + ADDED]; /* by name */
    int64_t start[LEVELS + 1];
    double at_lb[LEVELS + 1][MOST], at_ub[LEVELS + 1][MOST], lb0[MOST], ub0[MOST], lb[MOST], ub[MOST];
    int32_t col[CHANGES], by[CHANGES];
    uint8_t upper[CHANGES];
    double was[CHANGES], is[CHANGES];
    int seen[CHANGES]; /* row.changed */
    int64_t changes;
} search;

static unsigned take(search *s) { return fuzz_take(&s->f->bytes); }
static int same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* ---- The twin ---- */

/* The names in the order of their numbers; a reused number has several. */
static int32_t names(const search *s, int32_t *name) {
    int32_t rows = s->model.matrix.rows, count, slot, k;
    for (count = 0; count < rows; count++) name[count] = count;
    for (slot = rows; slot < rows + SPARE; slot++)
        for (k = rows; k < rows + s->added; k++)
            if (s->row[k].slot == slot) name[count++] = k;
    return count;
}

static void repeat(search *s, const step *t) {
    int32_t name[MOST + ADDED], place[MOST + ADDED], item[MOST], count = names(s, name), k;
    for (k = 0; k < count; k++) place[name[k]] = k;
    if (t->kind == ROUNDS) REQUIRE(gpuopt_propagator_round(s->twin, t->rounds, NULL) == GPUOPT_OK);
    if (t->kind == BOUNDS)
        REQUIRE(gpuopt_propagator_set_bounds(s->twin, GPUOPT_HOST, t->count, t->item, t->sides == 1 ? NULL : t->low,
                                             t->sides == 2 ? NULL : t->high) == GPUOPT_OK);
    if (t->kind != SIDES) return;
    for (k = 0; k < t->count; k++) item[k] = place[t->item[k]];
    REQUIRE(gpuopt_propagator_set_sides(s->twin, GPUOPT_HOST, t->count, item, t->low, t->high) == GPUOPT_OK);
}

static void make_twin(search *s) {
    static int64_t start[MOST + ADDED + 1];
    static int32_t col[(MOST + ADDED) * MOST];
    static double val[(MOST + ADDED) * MOST], lhs[MOST + ADDED], rhs[MOST + ADDED];
    gpuopt_propagator_desc d = s->model;
    int32_t name[MOST + ADDED], i;
    int k;
    d.matrix.rows = names(s, name);
    for (i = 0; i < d.matrix.rows; i++) {
        const row *r = &s->row[name[i]];
        size_t length = (size_t)r->start[1];
        memcpy(col + start[i], r->col, sizeof *col * length);
        memcpy(val + start[i], r->val, sizeof *val * length);
        start[i + 1] = start[i] + (int64_t)length;
        lhs[i] = name[i] < s->model.matrix.rows ? s->f->lhs[i] : -INFINITY;
        rhs[i] = name[i] < s->model.matrix.rows ? s->f->rhs[i] : INFINITY;
    }
    d.matrix.start = start;
    d.matrix.index = col;
    d.matrix.value = val;
    d.lhs = lhs;
    d.rhs = rhs;
    d.trail_capacity = 0;
    d.spare = NULL;
    if (d.mode == GPUOPT_MODE_JACOBI) d.marking = GPUOPT_OFF;
    gpuopt_propagator_destroy(s->twin);
    REQUIRE(gpuopt_propagator_create(s->f->context, &d, NULL, &s->twin) == GPUOPT_OK);
    for (k = 0; k < s->steps; k++) repeat(s, &s->step[k]);
}

/* ---- What must hold ---- */

static row *numbered(search *s, int32_t number) {
    int32_t k;
    if (number < s->model.matrix.rows) return &s->row[number];
    for (k = s->model.matrix.rows; s->row[k].number != number; k++) REQUIRE(k + 1 < s->model.matrix.rows + s->added);
    return &s->row[k];
}

static void check(search *s) {
    gpuopt_propagator_trail trail = GPUOPT_INIT(gpuopt_propagator_trail);
    double lb[MOST], ub[MOST], twin_lb[MOST], twin_ub[MOST];
    int32_t j, cols = s->model.matrix.cols;
    REQUIRE(gpuopt_propagator_get_trail(s->p, &trail) == GPUOPT_OK);
    REQUIRE(trail.changes == s->changes && trail.levels == s->levels && trail.level_start == s->start[s->levels]);
    REQUIRE(gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 0, NULL, lb, ub) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_get_bounds(s->twin, GPUOPT_HOST, 0, NULL, twin_lb, twin_ub) == GPUOPT_OK);
    REQUIRE(!memcmp(lb, twin_lb, sizeof *lb * (size_t)cols) && !memcmp(ub, twin_ub, sizeof *ub * (size_t)cols));
    for (j = 0; j < cols; j++) {
        REQUIRE(same(ub[j], s->ub[j]));
        REQUIRE(same(lb[j], s->lb[j]) || (s->lb[j] >= s->ub[j] && same(lb[j], ub[j])));
        REQUIRE(!s->f->planted || (lb[j] <= s->f->x[j] && s->f->x[j] <= ub[j]));
    }
}

/* Takes over the changes since the last time. */
static void read_changes(search *s) {
    gpuopt_propagator_changes c = GPUOPT_INIT(gpuopt_propagator_changes);
    int64_t at = s->changes;
    c.capacity = CHANGES - at;
    c.col = s->col + at;
    c.upper = s->upper + at;
    c.old_bound = s->was + at;
    c.new_bound = s->is + at;
    c.row = s->by + at;
    REQUIRE(gpuopt_propagator_get_changes(s->p, GPUOPT_HOST, at, &c) == GPUOPT_OK && c.count <= c.capacity);
    for (s->changes += c.count; at < s->changes; at++) {
        double *bound = s->upper[at] ? s->ub : s->lb;
        REQUIRE(s->col[at] >= 0 && s->col[at] < s->model.matrix.cols && s->by[at] >= -1);
        REQUIRE(same(s->was[at], bound[s->col[at]]));
        bound[s->col[at]] = s->is[at];
        s->seen[at] = s->by[at] < 0 ? 0 : numbered(s, s->by[at])->changed;
    }
}

/* The reason of a change, or of infeasibility (-1), in exact arithmetic. */
static void explain(search *s, int64_t change) {
    static int64_t premise[2 * MOST];
    gpuopt_propagator_reason reason = GPUOPT_INIT(gpuopt_propagator_reason);
    double lb[MOST], ub[MOST], val[MOST];
    gpuopt_status status;
    const row *r;
    int64_t k;
    reason.premises = premise;
    reason.capacity = 2 * MOST;
    status = gpuopt_propagator_explain(s->p, change, &reason);
    if (change >= 0 && s->by[change] >= 0) {
        int32_t n = s->by[change], i;
        int present = n < s->model.matrix.rows;
        for (i = s->model.matrix.rows; i < s->model.matrix.rows + s->added; i++) present |= s->row[i].number == n;
        if (!present || numbered(s, n)->changed != s->seen[change]) {
            REQUIRE(status == GPUOPT_ERROR_STATE);
            return;
        }
    }
    REQUIRE(status == GPUOPT_OK && reason.count >= 0 && reason.count <= 2 * MOST);
    memcpy(lb, s->lb0, sizeof lb);
    memcpy(ub, s->ub0, sizeof ub);
    for (k = 0; k < reason.count; k++) {
        REQUIRE(premise[k] >= (k ? premise[k - 1] + 1 : 0) && premise[k] < (change < 0 ? s->changes : change));
        (s->upper[premise[k]] ? ub : lb)[s->col[premise[k]]] = s->is[premise[k]];
    }
    REQUIRE(change < 0 || (reason.row == s->by[change] && reason.col == s->col[change]));
    if (reason.row < 0) {
        REQUIRE(change >= 0 ? reason.count == 0 : lb[reason.col] > ub[reason.col]);
        return;
    }
    r = numbered(s, reason.row);
    for (k = 0; k < r->start[1]; k++)
        val[k] = s->model.precision == GPUOPT_PRECISION_FP32 ? (double)(float)r->val[k] : r->val[k];
    {
        const gpuopt_matrix m = {1, s->model.matrix.cols, r->start, r->col, val, GPUOPT_LAYOUT_CSR};
        REQUIRE(change >= 0 ? propagate_exactly_implied(&m, r->lhs, r->rhs, lb, ub, s->f->integer, s->f->infinity,
                                                        s->col[change], s->upper[change], s->is[change])
                            : propagate_exactly_violated(&m, r->lhs, r->rhs, lb, ub, s->f->infinity));
    }
}

/* ---- Calls ---- */

static step *new_step(search *s, int kind) {
    step *t = &s->step[s->steps++];
    memset(t, 0, sizeof *t);
    t->kind = kind;
    t->level = s->levels;
    return t;
}

static void push(search *s) {
    REQUIRE(gpuopt_propagator_push(s->p, &s->start[++s->levels]) == GPUOPT_OK);
    REQUIRE(s->start[s->levels] == s->changes);
    memcpy(s->at_lb[s->levels], s->lb, sizeof s->lb);
    memcpy(s->at_ub[s->levels], s->ub, sizeof s->ub);
}

static void pop(search *s, int levels) {
    static step later[STEPS];
    int level = s->levels - levels, k, kept = 0, laters = 0;
    REQUIRE(gpuopt_propagator_pop(s->p, levels) == GPUOPT_OK);
    s->changes = s->start[level + 1];
    memcpy(s->lb, s->at_lb[level + 1], sizeof s->lb);
    memcpy(s->ub, s->at_ub[level + 1], sizeof s->ub);
    for (k = 0; k < s->steps; k++)
        if (s->step[k].level <= level) s->step[kept++] = s->step[k];
        else if (s->step[k].kind == SIDES) later[laters++] = s->step[k];
    for (k = 0; k < laters; k++) later[k].level = level, s->step[kept++] = later[k];
    s->steps = kept;
    s->levels = level;
    make_twin(s);
}

/* Commits, or continues on a fork in place of the original. */
static void flatten(search *s, int fork) {
    int k;
    if (!fork) REQUIRE(gpuopt_propagator_commit(s->p) == GPUOPT_OK);
    else {
        s->original = s->p;
        REQUIRE(gpuopt_propagator_clone(s->original, s->f->context, NULL, &s->p) == GPUOPT_OK);
    }
    for (k = 0; k < s->steps; k++) s->step[k].level = 0;
    memcpy(s->lb0, s->lb, sizeof s->lb);
    memcpy(s->ub0, s->ub, sizeof s->ub);
    s->levels = 0;
    s->changes = 0;
}

static void set_bounds(search *s) {
    int32_t cols = s->model.matrix.cols, k, l, first = (int32_t)take(s) % cols, count = 1 + (int32_t)take(s) % 3;
    step *t = new_step(s, BOUNDS);
    gpuopt_status status;
    int valid = 1;
    t->sides = (int)take(s) % 4;
    for (k = 0, l = first; k < count && l < cols; k++, l += 1 + (int32_t)take(s) % 4) { /* no column twice */
        t->item[t->count] = l;
        input_bounds(s->f, l, &t->low[t->count], &t->high[t->count]);
        valid &= input_valid_pair(s->f, t->sides == 1 ? -INFINITY : t->low[t->count],
                                  t->sides == 2 ? INFINITY : t->high[t->count]);
        t->count++;
    }
    status = gpuopt_propagator_set_bounds(s->p, GPUOPT_HOST, t->count, t->item, t->sides == 1 ? NULL : t->low,
                                          t->sides == 2 ? NULL : t->high);
    REQUIRE(valid ? status == GPUOPT_OK || status == GPUOPT_ERROR_MEMORY : status == GPUOPT_ERROR_ARGUMENT);
    REQUIRE(status != GPUOPT_ERROR_MEMORY || s->changes + 2 * t->count > s->model.trail_capacity);
    if (status) s->steps--;
    else repeat(s, t);
    read_changes(s);
}

static void draw_sides(search *s, const row *r, double *lhs, double *rhs) {
    fuzz *f = s->f;
    int64_t k, keep = f->start[MOST];
    /* input_sides() draws for a row of the model: this one replaces the last. */
    static int32_t col[MOST * MOST];
    static double val[MOST * MOST];
    memcpy(col, f->col, sizeof col);
    memcpy(val, f->val, sizeof val);
    {
        int64_t before = f->start[MOST - 1];
        f->start[MOST - 1] = 0;
        f->start[MOST] = r->start[1];
        for (k = 0; k < r->start[1]; k++) f->col[k] = r->col[k], f->val[k] = r->val[k];
        input_sides(f, MOST - 1, lhs, rhs);
        f->start[MOST - 1] = before;
    }
    f->start[MOST] = keep;
    memcpy(f->col, col, sizeof col);
    memcpy(f->val, val, sizeof val);
}

static int valid_sides(const search *s, double lhs, double rhs) {
    return input_valid_pair(s->f, lhs, rhs) && !(lhs > rhs) && !isnan(lhs) && !isnan(rhs);
}

static void take_sides(search *s, int32_t name, double lhs, double rhs) {
    step *t = new_step(s, SIDES);
    t->count = 1;
    t->item[0] = name;
    t->low[0] = s->row[name].lhs = lhs;
    t->high[0] = s->row[name].rhs = rhs;
    s->row[name].changed++;
}

static void set_sides(search *s) {
    int32_t name = (int32_t)take(s) % (s->model.matrix.rows + s->added);
    row *r = &s->row[name];
    double lhs, rhs;
    gpuopt_status status;
    draw_sides(s, r, &lhs, &rhs);
    if (r->number < 0) return;
    status = gpuopt_propagator_set_sides(s->p, GPUOPT_HOST, 1, &r->number, &lhs, &rhs);
    REQUIRE(status == (valid_sides(s, lhs, rhs) ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
    if (status) return;
    take_sides(s, name, lhs, rhs);
    repeat(s, &s->step[s->steps - 1]);
}

static void add_row(search *s) {
    int32_t name = s->model.matrix.rows + s->added, j, cols = s->model.matrix.cols, present = 0;
    row *r = &s->row[name];
    gpuopt_matrix m = {1, cols, r->start, r->col, r->val, GPUOPT_LAYOUT_CSR};
    unsigned density = take(s);
    double lhs, rhs;
    gpuopt_status status;
    memset(r, 0, sizeof *r);
    for (j = 0; j < cols; j++)
        if (take(s) <= density) r->col[r->start[1]] = j, r->val[r->start[1]++] = input_coefficient(s->f);
    draw_sides(s, r, &lhs, &rhs);
    for (j = s->model.matrix.rows; j < name; j++) present += s->row[j].number >= 0;
    r->number = -1;
    status = gpuopt_propagator_add_rows(s->p, &m, &lhs, &rhs, &r->number);
    if (!valid_sides(s, lhs, rhs)) REQUIRE(status == GPUOPT_ERROR_ARGUMENT);
    else REQUIRE(status == (present == SPARE ? GPUOPT_ERROR_MEMORY : GPUOPT_OK));
    if (status) return;
    REQUIRE(r->number >= s->model.matrix.rows && r->number < s->model.matrix.rows + SPARE);
    for (j = s->model.matrix.rows; j < name; j++) {
        REQUIRE(s->row[j].number != r->number);
        if (s->row[j].slot == r->number && s->row[j].changed >= r->changed) r->changed = s->row[j].changed;
    }
    r->slot = r->number;
    s->added++;
    take_sides(s, name, lhs, rhs);
    make_twin(s);
}

static void remove_row(search *s) {
    int32_t name = s->model.matrix.rows + (s->added > 0 ? (int32_t)take(s) % s->added : 0);
    row *r = &s->row[name];
    if (s->added == 0 || r->number < 0) return;
    REQUIRE(gpuopt_propagator_remove_rows(s->p, 1, &r->number) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_remove_rows(s->p, 1, &r->number) == GPUOPT_ERROR_ARGUMENT);
    take_sides(s, name, -INFINITY, INFINITY);
    repeat(s, &s->step[s->steps - 1]);
    r->number = -1;
}

/* Returns 0 if the search cannot continue: a sweep has stopped in the middle. */
static int run(search *s, int rounds) {
    gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info), twin = info;
    int32_t name[MOST + ADDED];
    int64_t from = s->changes;
    step *t = new_step(s, ROUNDS);
    REQUIRE(gpuopt_propagator_round(s->p, rounds, &info) == GPUOPT_OK);
    read_changes(s);
    REQUIRE(s->changes - from == info.changed);
    for (; from < s->changes; from++) {
        REQUIRE(s->by[from] >= 0);
        explain(s, from);
    }
    t->rounds = info.outcome == GPUOPT_FULL ? info.rounds : rounds;
    if (info.outcome == GPUOPT_FULL && s->model.mode == GPUOPT_MODE_GAUSS_SEIDEL) return 0;
    if (t->rounds == 0) {
        s->steps--;
        return 1;
    }
    REQUIRE(gpuopt_propagator_round(s->twin, t->rounds, &twin) == GPUOPT_OK);
    REQUIRE(info.rounds == twin.rounds && info.changed == twin.changed && info.infeasible_col == twin.infeasible_col);
    REQUIRE(info.outcome == twin.outcome || info.outcome == GPUOPT_FULL);
    REQUIRE((info.infeasible_row < 0) == (twin.infeasible_row < 0));
    names(s, name);
    if (info.infeasible_row >= 0)
        REQUIRE(info.infeasible_row == (name[twin.infeasible_row] < s->model.matrix.rows
                                            ? name[twin.infeasible_row]
                                            : s->row[name[twin.infeasible_row]].slot));
    if (info.outcome == GPUOPT_INFEASIBLE) explain(s, -1);
    return 1;
}

void tree_search(fuzz *f, gpuopt_propagator_desc model) {
    static search state; /* too large for a sanitizer's stack */
    static const gpuopt_spare spare = {.struct_size = sizeof spare, .rows = SPARE, .nonzeros = SPARE * MOST};
    search *s = &state;
    int32_t i, j;
    memset(s, 0, sizeof *s);
    s->f = f;
    if (model.matrix.rows == 0 || model.matrix.cols == 0) return;
    for (j = 0; j < model.matrix.cols; j++)
        if (!(model.lb[j] <= model.ub[j])) return; /* bounds that cross within the tolerance cannot be read */
    model.marking = GPUOPT_DEFAULT;
    model.trail_capacity = take(s) % 4 ? 1000 : LEVELS + take(s) % 32; /* push needs a capacity of at least the number
                                                                        * of levels */
    model.spare = &spare;
    s->model = model;
    for (i = 0; i < model.matrix.rows; i++) {
        row *r = &s->row[i];
        r->start[1] = f->start[i + 1] - f->start[i];
        memcpy(r->col, f->col + f->start[i], sizeof *r->col * (size_t)r->start[1]);
        memcpy(r->val, f->val + f->start[i], sizeof *r->val * (size_t)r->start[1]);
        r->lhs = f->lhs[i];
        r->rhs = f->rhs[i];
        r->number = r->slot = i;
    }
    REQUIRE(gpuopt_propagator_create(f->context, &model, NULL, &s->p) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_get_bounds(s->p, GPUOPT_HOST, 0, NULL, s->lb, s->ub) == GPUOPT_OK);
    memcpy(s->lb0, s->lb, sizeof s->lb);
    memcpy(s->ub0, s->ub, sizeof s->ub);
    make_twin(s);
    while (f->bytes.size > 0 && s->steps < STEPS - 1) {
        unsigned choice = take(s) % 16;
        if (choice < 3) set_bounds(s);
        else if (choice < 4) set_sides(s);
        else if (choice < 5 && s->added < ADDED) add_row(s);
        else if (choice < 6) remove_row(s);
        else if (choice < 8 && s->levels < LEVELS) push(s);
        else if (choice < 10 && s->levels > 0) pop(s, 1 + (int)take(s) % s->levels);
        else if (choice == 10) flatten(s, take(s) % 2 && !s->original);
        else if (choice == 11 && s->changes > 0) explain(s, (int64_t)take(s) % s->changes);
        else if (!run(s, 1 + (int)take(s) % (choice == 15 ? 20 : 3))) break;
        if (s->changes > CHANGES - 1100) break;
        check(s);
    }
    gpuopt_propagator_destroy(s->twin);
    gpuopt_propagator_destroy(s->p);
    gpuopt_propagator_destroy(s->original);
}
