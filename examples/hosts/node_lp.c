/* SPDX-License-Identifier: MIT
 *
 * See node_lp.h.
 */
#define _POSIX_C_SOURCE 200809L
#include "examples/hosts/node_lp.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpuopt.h"
#include "gpuopt/search.h"

/* A row of the node or of the handle. */
typedef struct row {
    int id, count;
    int64_t first; /* of the node: where its entries are */
    uint64_t hash; /* of the entries */
    double lhs, rhs;
    uint8_t status;
} row;

struct node_lp {
    void (*warn)(void *user, const char *message);
    void *user;
    int failed;
    int64_t fail; /* for tests: the call that fails */
    pthread_t opener;
    int opening; /* the thread is to be joined */
    atomic_int ready;
    gpuopt_context_desc desc;
    gpuopt_status opened;
    gpuopt_context *context;
    gpuopt_simplex *simplex;
    gpuopt_simplex_children *children;
    int32_t batch_size;
    /* The node as given. */
    int cols, rows, most_rows;
    const double *cost, *lb, *ub;
    const uint8_t *col_status;
    row *row;
    int64_t nonzeros, most_nonzeros;
    int32_t *index;
    double *value;
    /* The handle's columns and rows, in its order. */
    int have_cols, have_rows;
    double *have_cost, *have_lb, *have_ub;
    row *have;
    int32_t *list; /* scratch, like the next three: of columns or rows, as many as the larger number */
    double *low, *high;
    uint8_t *status;    /* [cols + rows] */
    int64_t most_lines; /* of the last seven arrays */
    int *place;         /* [most id + 1] position of the row in the node, or -1 */
    int most_id;
    int64_t *start; /* of the children, like the next three: where their bounds begin */
    int32_t *outcome, *iterations;
    double *bound;
    int32_t *branch_col; /* their bounds */
    double *branch_lb, *branch_ub;
    int64_t most_bounds;
    /* As node_lp_implied() received them. */
    int implied;
    const int64_t *implied_start;
    const int *implied_col;
    const double *implied_lb, *implied_ub;
    node_lp_times times;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Warns once, and gives up for good. */
static int give_up(node_lp *lp, const char *what, gpuopt_status status) {
    char text[512];
    if (lp->failed) return -1;
    lp->failed = 1;
    snprintf(text, sizeof text, "gpuopt is not used any more: %s: %s. %s", what, gpuopt_status_string(status),
             gpuopt_context_last_error(lp->context));
    lp->warn(lp->user, text);
    return -1;
}

/* Enlarges an array to `count` elements. */
static int enlarge(node_lp *lp, void *array_of, int64_t count, size_t size) {
    void **array = array_of, *larger = realloc(*array, (size_t)count * size);
    if (!larger) return give_up(lp, "keeping the node's program", GPUOPT_ERROR_MEMORY);
    *array = larger;
    return 0;
}
#define ENLARGE(array, count) enlarge(lp, &lp->array, count, sizeof *lp->array)

static void *open_context(void *argument) {
    node_lp *lp = argument;
    lp->opened = gpuopt_context_create(&lp->desc, &lp->context);
    atomic_store(&lp->ready, 1);
    return NULL;
}

/* Waits for the context. */
static int opened(node_lp *lp) {
    if (lp->opening) pthread_join(lp->opener, NULL);
    lp->opening = 0;
    return lp->opened ? give_up(lp, "opening a context", lp->opened) : 0;
}

node_lp *node_lp_open(const char *backend, int threads, void (*warn)(void *user, const char *message), void *user) {
    node_lp *lp = calloc(1, sizeof *lp);
    if (!lp) return warn(user, "gpuopt is not used: out of memory"), (node_lp *)NULL;
    lp->warn = warn;
    lp->user = user;
    gpuopt_desc_init(&lp->desc, sizeof lp->desc);
    lp->desc.threads = threads;
    if (strcmp(backend, "cuda") == 0) {
#ifdef EXAMPLE_WITH_CUDA
        lp->desc.backend = gpuopt_backend_cuda();
#else
        return warn(user, "gpuopt is not used: built without CUDA"), free(lp), (node_lp *)NULL;
#endif
    }
    lp->opening = pthread_create(&lp->opener, NULL, open_context, lp) == 0;
    if (!lp->opening) open_context(lp);
    return lp;
}

static void drop_handle(node_lp *lp) {
    gpuopt_simplex_children_destroy(lp->children);
    gpuopt_simplex_destroy(lp->simplex);
    lp->children = NULL;
    lp->simplex = NULL;
    lp->have_rows = 0;
}

void node_lp_close(node_lp *lp) {
    if (!lp) return;
    if (lp->opening) pthread_join(lp->opener, NULL);
    drop_handle(lp);
    gpuopt_context_destroy(lp->context);
    void *const array[] = {lp->row,        lp->index,      lp->value,     lp->have_cost, lp->have_lb,
                           lp->have_ub,    lp->have,       lp->list,      lp->low,       lp->high,
                           lp->status,     lp->place,      lp->start,     lp->bound,     lp->outcome,
                           lp->iterations, lp->branch_col, lp->branch_lb, lp->branch_ub};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) free(array[k]);
    free(lp);
}

void node_lp_fail(node_lp *lp, int64_t call) { lp->fail = call; }
int node_lp_ready(const node_lp *lp) { return atomic_load(&lp->ready); }
int node_lp_failed(const node_lp *lp) { return lp->failed; }
const node_lp_times *node_lp_cost(const node_lp *lp) { return &lp->times; }

void node_lp_columns(node_lp *lp, int cols, const double *cost, const double *lb, const double *ub,
                     const uint8_t *status) {
    lp->cols = cols;
    lp->cost = cost;
    lp->lb = lb;
    lp->ub = ub;
    lp->col_status = status;
    lp->rows = 0;
    lp->nonzeros = 0;
}

void node_lp_row(node_lp *lp, int id, int count, const int *col, const double *value, double lhs, double rhs,
                 uint8_t status) {
    uint64_t hash = 1469598103934665603u, bits;
    if (lp->failed) return;
    if (lp->rows == lp->most_rows) {
        int most = 2 * lp->most_rows + 64;
        if (ENLARGE(row, most)) return;
        lp->most_rows = most;
    }
    if (lp->nonzeros + count > lp->most_nonzeros) {
        int64_t most = 2 * (lp->nonzeros + count) + 1024;
        if (ENLARGE(index, most) || ENLARGE(value, most)) return;
        lp->most_nonzeros = most;
    }
    for (int k = 0; k < count; k++) {
        lp->index[lp->nonzeros] = col[k];
        lp->value[lp->nonzeros++] = value[k];
        memcpy(&bits, &value[k], sizeof bits);
        hash += (bits ^ (uint64_t)(uint32_t)col[k] * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu; /* in any order */
    }
    lp->row[lp->rows++] = (row){id, count, lp->nonzeros - count, hash, lhs, rhs, status};
}

/* ---- Keeping the handle in step ---- */

/* Arrays as long as the present columns and rows take. */
static int enlarge_all(node_lp *lp) {
    int64_t lines = (int64_t)lp->cols + lp->rows + lp->have_rows + 1;
    if (lines <= lp->most_lines) return 0;
    lines += lines / 2;
    if (ENLARGE(have_cost, lines) || ENLARGE(have_lb, lines) || ENLARGE(have_ub, lines) || ENLARGE(have, lines) ||
        ENLARGE(list, lines) || ENLARGE(low, lines) || ENLARGE(high, lines) || ENLARGE(status, lines))
        return -1;
    lp->most_lines = lines;
    return 0;
}

/* Notes where the node's rows are. */
static int find_places(node_lp *lp) {
    int most_id = 0;
    for (int i = 0; i < lp->rows; i++)
        if (lp->row[i].id > most_id) most_id = lp->row[i].id;
    for (int i = 0; i < lp->have_rows; i++)
        if (lp->have[i].id > most_id) most_id = lp->have[i].id;
    if (most_id >= lp->most_id) {
        if (ENLARGE(place, 2 * (int64_t)most_id + 1)) return -1;
        for (int i = 0; i <= 2 * most_id; i++) lp->place[i] = -1;
        lp->most_id = 2 * most_id + 1;
    }
    for (int i = 0; i < lp->rows; i++) lp->place[lp->row[i].id] = i;
    return 0;
}

/* Removes the handle's rows that the node does not have. */
static gpuopt_status remove_rows(node_lp *lp) {
    int gone = 0, left = 0;
    for (int i = 0; i < lp->have_rows; i++) {
        int at = lp->place[lp->have[i].id];
        if (at >= 0 && lp->row[at].hash == lp->have[i].hash && lp->row[at].count == lp->have[i].count)
            lp->have[left++] = lp->have[i];
        else lp->list[gone++] = i;
    }
    lp->have_rows = left;
    lp->times.rows_removed += gone;
    return gone > 0 ? gpuopt_simplex_remove_rows(lp->simplex, gone, lp->list) : GPUOPT_OK;
}

/* A handle for the columns and these rows, with spare rows for the cuts to come. */
static gpuopt_status make_handle(node_lp *lp, const gpuopt_matrix *rows) {
    gpuopt_simplex_desc desc = GPUOPT_INIT(gpuopt_simplex_desc);
    gpuopt_spare spare = GPUOPT_INIT(gpuopt_spare);
    desc.matrix = *rows;
    desc.cost = lp->cost;
    desc.lb = lp->lb;
    desc.ub = lp->ub;
    desc.lhs = lp->low;
    desc.rhs = lp->high;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = GPUOPT_ALGORITHM_DUAL;
    spare.rows = rows->rows / 2 + 64;
    spare.nonzeros = rows->start[rows->rows] + 16384;
    desc.spare = &spare;
    lp->have_cols = lp->cols;
    memcpy(lp->have_cost, lp->cost, sizeof *lp->cost * (size_t)lp->cols);
    memcpy(lp->have_lb, lp->lb, sizeof *lp->lb * (size_t)lp->cols);
    memcpy(lp->have_ub, lp->ub, sizeof *lp->ub * (size_t)lp->cols);
    lp->times.handles++;
    return gpuopt_simplex_create(lp->context, &desc, NULL, &lp->simplex);
}

/* Gives the handle the node's rows that it lacks; makes it first if there is none. */
static gpuopt_status add_rows(node_lp *lp) {
    gpuopt_matrix matrix;
    int64_t *start = malloc(sizeof *start * (size_t)(lp->rows + 1)), nonzeros = 0;
    int32_t *index = malloc(sizeof *index * (size_t)(lp->nonzeros + 1));
    double *value = malloc(sizeof *value * (size_t)(lp->nonzeros + 1));
    int added = 0;
    gpuopt_status status = start && index && value ? GPUOPT_OK : GPUOPT_ERROR_MEMORY;
    for (int i = 0; i < lp->have_rows; i++) lp->place[lp->have[i].id] = -1;
    for (int i = 0; i < lp->rows && !status; i++) {
        const row *r = &lp->row[i];
        if (lp->place[r->id] != i) continue;
        start[added] = nonzeros;
        memcpy(index + nonzeros, lp->index + r->first, sizeof *index * (size_t)r->count);
        memcpy(value + nonzeros, lp->value + r->first, sizeof *value * (size_t)r->count);
        nonzeros += r->count;
        lp->low[added] = r->lhs;
        lp->high[added] = r->rhs;
        lp->have[lp->have_rows + added++] = *r;
    }
    if (!status && (added > 0 || !lp->simplex)) {
        start[added] = nonzeros;
        matrix = (gpuopt_matrix){added, lp->cols, start, index, value, GPUOPT_LAYOUT_CSR};
        status =
            lp->simplex ? gpuopt_simplex_add_rows(lp->simplex, &matrix, lp->low, lp->high) : make_handle(lp, &matrix);
        lp->times.rows_added += added;
        lp->have_rows += status ? 0 : added;
    }
    free(start);
    free(index);
    free(value);
    return status;
}

/* Sets the bounds, costs and sides that differ, and the basis. */
static gpuopt_status set_numbers(node_lp *lp) {
    gpuopt_status status = GPUOPT_OK;
    int count = 0;
    for (int j = 0; j < lp->cols; j++)
        if (lp->lb[j] != lp->have_lb[j] || lp->ub[j] != lp->have_ub[j]) {
            lp->list[count] = j;
            lp->low[count] = lp->have_lb[j] = lp->lb[j];
            lp->high[count++] = lp->have_ub[j] = lp->ub[j];
        }
    if (count > 0) status = gpuopt_simplex_set_bounds(lp->simplex, GPUOPT_HOST, count, lp->list, lp->low, lp->high);
    if (status) return status;
    count = 0;
    for (int j = 0; j < lp->cols; j++)
        if (lp->cost[j] != lp->have_cost[j]) {
            lp->list[count] = j;
            lp->low[count++] = lp->have_cost[j] = lp->cost[j];
        }
    if (count > 0) status = gpuopt_simplex_set_costs(lp->simplex, GPUOPT_HOST, count, lp->list, lp->low);
    if (status) return status;
    for (int i = 0; i < lp->rows; i++) lp->place[lp->row[i].id] = i;
    memcpy(lp->status, lp->col_status, (size_t)lp->cols);
    count = 0;
    for (int i = 0; i < lp->have_rows; i++) {
        const row *r = &lp->row[lp->place[lp->have[i].id]];
        lp->status[lp->cols + i] = r->status;
        if (r->lhs == lp->have[i].lhs && r->rhs == lp->have[i].rhs) continue;
        lp->list[count] = i;
        lp->low[count] = lp->have[i].lhs = r->lhs;
        lp->high[count++] = lp->have[i].rhs = r->rhs;
    }
    if (count > 0) status = gpuopt_simplex_set_sides(lp->simplex, GPUOPT_HOST, count, lp->list, lp->low, lp->high);
    return status ? status : gpuopt_simplex_set_basis(lp->simplex, GPUOPT_HOST, lp->status);
}

/* Brings the handle to the node. */
static int follow(node_lp *lp) {
    gpuopt_status status = GPUOPT_OK;
    if (enlarge_all(lp) || find_places(lp)) return -1;
    if (lp->have_cols != lp->cols) drop_handle(lp);
    if (lp->simplex) status = remove_rows(lp);
    if (!status) status = add_rows(lp);
    if (status == GPUOPT_ERROR_MEMORY && lp->simplex) { /* the spare rows are used up */
        drop_handle(lp);
        find_places(lp);
        status = add_rows(lp);
    }
    if (!status) status = set_numbers(lp);
    for (int i = 0; i < lp->rows; i++) lp->place[lp->row[i].id] = -1;
    if (status == GPUOPT_ERROR_NUMERIC) return drop_handle(lp), 1;
    return status ? give_up(lp, "taking over the node's program", status) : 0;
}

/* ---- Branching ---- */

/* A batch of at least that many children, which have so many bounds together. */
static int make_children(node_lp *lp, int32_t count, int64_t bounds) {
    gpuopt_simplex_children_desc desc = GPUOPT_INIT(gpuopt_simplex_children_desc);
    gpuopt_status status;
    if (lp->children && count <= lp->batch_size && bounds <= lp->most_bounds) return 0;
    gpuopt_simplex_children_destroy(lp->children);
    lp->children = NULL;
    if (count > lp->batch_size) {
        int32_t most = count + count / 2 + 64;
        if (ENLARGE(start, most + 1) || ENLARGE(outcome, most) || ENLARGE(iterations, most) || ENLARGE(bound, most))
            return -1;
        lp->batch_size = most;
    }
    if (bounds > lp->most_bounds) {
        int64_t most = 2 * bounds + 64;
        if (ENLARGE(branch_col, most) || ENLARGE(branch_lb, most) || ENLARGE(branch_ub, most)) return -1;
        lp->most_bounds = most;
    }
    desc.batch_size = lp->batch_size;
    desc.changes = lp->most_bounds;
    desc.pivots = 64;
    desc.on_pivot_limit = GPUOPT_ON_PIVOT_LIMIT_REFACTOR;
    status = gpuopt_simplex_children_create(lp->simplex, &desc, NULL, &lp->children);
    return status ? give_up(lp, "making a batch of children", status) : 0;
}

void node_lp_implied(node_lp *lp, int children, const int64_t *start, const int *col, const double *lb,
                     const double *ub) {
    lp->implied = children;
    lp->implied_start = start;
    lp->implied_col = col;
    lp->implied_lb = lb;
    lp->implied_ub = ub;
}

/* Lists the children's bounds: the branch first, then what it implies. */
static void list_children(node_lp *lp, int count, const int *col, const double *value) {
    int64_t n = 0;
    for (int k = 0; k < 2 * count; k++) {
        int j = col[k / 2];
        int64_t own = n;
        lp->start[k] = n;
        lp->branch_col[n] = j;
        lp->branch_lb[n] = k % 2 ? floor(value[k / 2]) + 1 : lp->lb[j];
        lp->branch_ub[n++] = k % 2 ? lp->ub[j] : floor(value[k / 2]);
        if (k >= lp->implied) continue;
        for (int64_t i = lp->implied_start[k]; i < lp->implied_start[k + 1]; i++) {
            int64_t at = lp->implied_col[i] == j ? own : n++;
            lp->branch_col[at] = lp->implied_col[i];
            lp->branch_lb[at] = at == own ? fmax(lp->branch_lb[own], lp->implied_lb[i]) : lp->implied_lb[i];
            lp->branch_ub[at] = at == own ? fmin(lp->branch_ub[own], lp->implied_ub[i]) : lp->implied_ub[i];
        }
    }
    lp->start[2 * count] = n;
    lp->implied = 0;
}

int node_lp_branch(node_lp *lp, int count, const int *col, const double *value, double cutoff, int iterations,
                   node_child *child) {
    gpuopt_simplex_child_list list = GPUOPT_INIT(gpuopt_simplex_child_list);
    gpuopt_simplex_child_report report = GPUOPT_INIT(gpuopt_simplex_child_report);
    gpuopt_status status;
    double start = now(), middle;
    int64_t bounds;
    int followed;
    if (lp->failed || opened(lp)) return -1;
    if (lp->fail && lp->times.calls + 1 >= lp->fail) return give_up(lp, "a test", GPUOPT_ERROR_DEVICE);
    followed = follow(lp);
    if (followed) return followed;
    if (lp->implied > 2 * count) lp->implied = 2 * count;
    bounds = 2 * (int64_t)count + (lp->implied > 0 ? lp->implied_start[lp->implied] : 0);
    if (make_children(lp, 2 * count, bounds)) return -1;
    list_children(lp, count, col, value);
    list.count = 2 * count;
    list.start = lp->start;
    list.col = lp->branch_col;
    list.lb = lp->branch_lb;
    list.ub = lp->branch_ub;
    report.outcome = lp->outcome;
    report.iterations = lp->iterations;
    report.bound = lp->bound;
    middle = now();
    status = gpuopt_simplex_set_cutoff(lp->simplex, cutoff);
    if (!status) status = gpuopt_simplex_children_run(lp->children, GPUOPT_HOST, &list, iterations, &report);
    if (status) return give_up(lp, "strong branching", status);
    lp->times.calls++;
    lp->times.children += 2 * count;
    for (int k = 0; k < 2 * count; k++) {
        child[k].infeasible =
            lp->outcome[k] == GPUOPT_INFEASIBLE || lp->outcome[k] == GPUOPT_CUTOFF || lp->bound[k] >= cutoff;
        child[k].bound = isnan(lp->bound[k]) ? -HUGE_VAL : lp->bound[k];
        child[k].iterations = lp->iterations[k];
        lp->times.iterations += lp->iterations[k];
    }
    lp->times.update += middle - start;
    lp->times.branch += now() - middle;
    return 0;
}
