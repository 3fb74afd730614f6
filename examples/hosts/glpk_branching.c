/* SPDX-License-Identifier: MIT
 *
 * See glpk_branching.h. At a node the callback gives the LP with its cuts, bounds and basis to a handle that lives as
 * long as the tree, and both children of the candidates to one batch. The best product of gains branches. GLPK goes
 * into the child with the better bound first.
 *
 * An infeasible side is a bound that holds in the whole subtree. GLPK lets a callback tighten bounds before it solves a
 * node, and not where it branches. So the node branches on such a column if there is one: one child is empty, and the
 * other one receives all bounds that were proven.
 *
 * How many candidates: all while the callback has taken less than its share of the time; otherwise those whose
 * pseudo-costs come from few observations, up to what the share allows. Pseudo-costs score the other candidates. If
 * there is no time for any, GLPK's own rule chooses.
 */
#define _POSIX_C_SOURCE 200809L
#include "examples/hosts/glpk_branching.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/hosts/node_lp.h"
#include "gpuopt.h"

enum { RELIABLE = 8, KEPT = 20 };

/* Bounds proven at a node, in GLPK's data of the node: at most 256 bytes. */
typedef struct node_bounds {
    int32_t count;
    int32_t col[KEPT]; /* a column, or minus its number for an upper bound */
    double bound[KEPT];
} node_bounds;

/* Observed gains per unit of a column, downwards and upwards. */
typedef struct pseudo_cost {
    double sum[2];
    int count[2];
} pseudo_cost;

/* A fractional column. */
typedef struct candidate {
    int col; /* GLPK's number, from 1 */
    double value, score;
    double bound[2]; /* of the children, proven or estimated */
    int infeasible[2];
} candidate;

struct glpk_branching {
    node_lp *lp;
    int iterations;
    double share, start;
    /* [most_cols + 1] of the node, like the next ones */
    int most_cols;
    double *cost, *lb, *ub, *entry;
    uint8_t *status;
    int *index, *position;
    double *value;
    node_child *child; /* [2 most_cols] */
    candidate *candidate;
    pseudo_cost *pseudo;
    pseudo_cost all; /* of all columns */
    long tightened, one_sided, branched, left;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void warn(void *branching, const char *message) {
    (void)branching;
    fprintf(stderr, "%s\n", message);
}

glpk_branching *glpk_branching_open(const char *backend, int threads, int iterations, double share) {
    glpk_branching *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->iterations = iterations;
    b->share = share;
    b->start = now();
    b->lp = node_lp_open(backend, threads, warn, b);
    return b;
}

static void free_arrays(glpk_branching *b) {
    void *array[] = {b->cost,  b->lb,       b->ub,    b->entry,     b->status, b->index,
                     b->value, b->position, b->child, b->candidate, b->pseudo};
    for (size_t k = 0; k < sizeof array / sizeof *array; k++) free(array[k]);
}

void glpk_branching_close(glpk_branching *b) {
    if (!b) return;
    node_lp_close(b->lp);
    free_arrays(b);
    free(b);
}

int glpk_branching_node_size(void) { return (int)sizeof(node_bounds); }

/* Memory for a model with so many columns. 0: there is none. GLPK does not add columns in the tree. */
static int enough_memory(glpk_branching *b, int cols) {
    size_t count = (size_t)cols + 1;
    if (cols == b->most_cols) return 1;
    free_arrays(b);
    b->cost = malloc(count * sizeof *b->cost);
    b->lb = malloc(count * sizeof *b->lb);
    b->ub = malloc(count * sizeof *b->ub);
    b->entry = malloc(count * sizeof *b->entry);
    b->status = malloc(count * sizeof *b->status);
    b->index = malloc(count * sizeof *b->index);
    b->position = malloc(count * sizeof *b->position);
    b->value = malloc(count * sizeof *b->value);
    b->child = malloc(2 * count * sizeof *b->child);
    b->candidate = malloc(count * sizeof *b->candidate);
    b->pseudo = calloc(count, sizeof *b->pseudo);
    b->most_cols = cols;
    return b->cost && b->lb && b->ub && b->entry && b->status && b->index && b->position && b->value && b->child &&
           b->candidate && b->pseudo;
}

static uint8_t status_of(int status) {
    return status == GLP_BS   ? GPUOPT_VARIABLE_BASIC
           : status == GLP_NU ? GPUOPT_VARIABLE_AT_UPPER
           : status == GLP_NF ? GPUOPT_VARIABLE_AT_ZERO
                              : GPUOPT_VARIABLE_AT_LOWER;
}

/* Gives GLPK's LP to the handle, to be minimised. Returns the objective of its solution without GLPK's constant. */
static double give_lp(glpk_branching *b, glp_prob *problem, double sign) {
    int cols = glp_get_num_cols(problem), rows = glp_get_num_rows(problem);
    double objective = 0;
    for (int j = 0; j < cols; j++) {
        b->cost[j] = sign * glp_get_obj_coef(problem, j + 1);
        b->lb[j] = glp_get_col_lb(problem, j + 1);
        b->ub[j] = glp_get_col_ub(problem, j + 1);
        b->status[j] = status_of(glp_get_col_stat(problem, j + 1));
        objective += b->cost[j] * glp_get_col_prim(problem, j + 1);
    }
    node_lp_columns(b->lp, cols, b->cost, b->lb, b->ub, b->status);
    for (int i = 1; i <= rows; i++) {
        int count = glp_get_mat_row(problem, i, b->index, b->entry);
        for (int k = 1; k <= count; k++) b->index[k]--;
        node_lp_row(b->lp, i, count, b->index + 1, b->entry + 1, glp_get_row_lb(problem, i), glp_get_row_ub(problem, i),
                    status_of(glp_get_row_stat(problem, i)));
    }
    return objective;
}

/* ---- Scores ---- */

static double distance(const candidate *c, int up) {
    return up ? ceil(c->value) - c->value : c->value - floor(c->value);
}

static void observe(pseudo_cost *p, int up, double gain) {
    p->sum[up] += gain;
    p->count[up]++;
}

/* The gain that pseudo-costs expect: of the column, or of all while it has none. */
static double expected(const glpk_branching *b, const candidate *c, int up) {
    const pseudo_cost *p = &b->pseudo[c->col];
    if (p->count[up] == 0) p = &b->all;
    return p->count[up] == 0 ? 1 : p->sum[up] / p->count[up] * distance(c, up);
}

static double product(double down, double up) { return fmax(down, 1e-6) * fmax(up, 1e-6); }

static int by_score(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    return a->score != b->score ? (a->score < b->score) - (a->score > b->score) : (a->col > b->col) - (a->col < b->col);
}

/* Lists the candidates with the expected gains as scores; those to be branched on strongly come first. Returns how many
 * these are. */
static int list(glpk_branching *b, glp_tree *tree, glp_prob *problem, int *candidates) {
    const node_lp_times *t = node_lp_cost(b->lp);
    double left = b->share * (now() - b->start) + 0.5 - t->update - t->branch;
    int cols = glp_get_num_cols(problem), count = 0, unreliable = 0, most;
    for (int j = 1; j <= cols; j++) {
        candidate *c = &b->candidate[count];
        if (!glp_ios_can_branch(tree, j)) continue;
        memset(c, 0, sizeof *c);
        c->col = j;
        c->value = glp_get_col_prim(problem, j);
        c->score = product(expected(b, c, 0), expected(b, c, 1));
        count++;
    }
    *candidates = count;
    if (t->calls > 0) left -= t->update / (double)t->calls;
    most = t->children == 0 ? count : left <= 0 ? 0 : (int)fmin(count, left / (2 * t->branch / (double)t->children));
    qsort(b->candidate, (size_t)count, sizeof *b->candidate, by_score);
    if (most == count) return count;
    for (int k = 0; k < count && unreliable < most; k++) {
        const pseudo_cost *p = &b->pseudo[b->candidate[k].col];
        if (p->count[0] < RELIABLE || p->count[1] < RELIABLE) {
            candidate swap = b->candidate[unreliable];
            b->candidate[unreliable++] = b->candidate[k];
            b->candidate[k] = swap;
        }
    }
    return unreliable;
}

/* Takes what strong branching found for the first `strong` candidates. */
static void take(glpk_branching *b, int strong, double objective) {
    for (int k = 0; k < strong; k++) {
        candidate *c = &b->candidate[k];
        double gain[2];
        for (int up = 0; up <= 1; up++) {
            const node_child *child = &b->child[2 * k + up];
            c->infeasible[up] = child->infeasible;
            c->bound[up] = child->bound;
            gain[up] = child->infeasible ? HUGE_VAL : fmax(child->bound - objective, 0);
            if (child->infeasible) continue;
            observe(&b->pseudo[c->col], up, gain[up] / distance(c, up));
            observe(&b->all, up, gain[up] / distance(c, up));
        }
        c->score = product(gain[0], gain[1]);
    }
}

/* ---- The callback ---- */

/* Keeps the proven bounds for the children. */
static void keep_bounds(glpk_branching *b, glp_tree *tree, int strong) {
    node_bounds *kept = glp_ios_node_data(tree, glp_ios_curr_node(tree));
    if (!kept) return;
    kept->count = 0;
    for (int k = 0; k < strong && kept->count < KEPT; k++) {
        const candidate *c = &b->candidate[k];
        if (c->infeasible[0] == c->infeasible[1]) continue;
        kept->col[kept->count] = c->infeasible[0] ? c->col : -c->col;
        kept->bound[kept->count++] = c->infeasible[0] ? ceil(c->value) : floor(c->value);
    }
}

static void branch(glpk_branching *b, glp_tree *tree) {
    glp_prob *problem = glp_ios_get_prob(tree);
    double sign = glp_get_obj_dir(problem) == GLP_MAX ? -1 : 1, objective, cutoff = HUGE_VAL;
    const candidate *best = NULL;
    int candidates, strong, up;
    if (!enough_memory(b, glp_get_num_cols(problem))) {
        warn(b, "gpuopt is not used any more: out of memory");
        node_lp_close(b->lp);
        b->lp = NULL;
        return;
    }
    strong = list(b, tree, problem, &candidates);
    if (strong == 0) {
        b->left++;
        return;
    }
    for (int k = 0; k < strong; k++) {
        b->position[k] = b->candidate[k].col - 1;
        b->value[k] = b->candidate[k].value;
    }
    objective = give_lp(b, problem, sign);
    if (glp_mip_status(problem) == GLP_FEAS) cutoff = sign * (glp_mip_obj_val(problem) - glp_get_obj_coef(problem, 0));
    if (node_lp_branch(b->lp, strong, b->position, b->value, cutoff, b->iterations, b->child)) return;
    take(b, strong, objective);
    keep_bounds(b, tree, strong);
    for (int k = 0; k < candidates; k++)
        if (!best || b->candidate[k].score > best->score) best = &b->candidate[k];
    if (best - b->candidate >= strong) { /* not branched on strongly */
        up = expected(b, best, 1) < expected(b, best, 0);
    } else {
        b->one_sided += best->infeasible[0] != best->infeasible[1];
        up = best->infeasible[0] || (!best->infeasible[1] && best->bound[1] < best->bound[0]);
    }
    b->branched++;
    glp_ios_branch_upon(tree, best->col, up ? GLP_UP_BRNCH : GLP_DN_BRNCH);
}

static int kind_of(double lb, double ub) {
    int below = lb > -1e300, above = ub < 1e300;
    return lb == ub ? GLP_FX : below && above ? GLP_DB : below ? GLP_LO : above ? GLP_UP : GLP_FR;
}

/* Tightens the bounds that were proven at the parent. In an empty child they cross: GLPK's own LP ends that one. */
static void tighten(glpk_branching *b, glp_tree *tree) {
    glp_prob *problem = glp_ios_get_prob(tree);
    int parent = glp_ios_up_node(tree, glp_ios_curr_node(tree));
    const node_bounds *kept = parent ? glp_ios_node_data(tree, parent) : NULL;
    for (int k = 0; kept && k < kept->count; k++) {
        int lower = kept->col[k] > 0, col = lower ? kept->col[k] : -kept->col[k];
        double lb = glp_get_col_lb(problem, col), ub = glp_get_col_ub(problem, col);
        if (lower ? lb >= kept->bound[k] : ub <= kept->bound[k]) continue;
        *(lower ? &lb : &ub) = kept->bound[k];
        if (lb > ub) continue;
        glp_set_col_bnds(problem, col, kind_of(lb, ub), lb, ub);
        b->tightened++;
    }
}

void glpk_branching_callback(glp_tree *tree, void *branching) {
    glpk_branching *b = branching;
    if (!b->lp || node_lp_failed(b->lp)) return;
    if (glp_ios_reason(tree) == GLP_IBRANCH) branch(b, tree);
    if (glp_ios_reason(tree) == GLP_IPREPRO) tighten(b, tree);
}

void glpk_branching_print(const glpk_branching *b, FILE *file) {
    static const node_lp_times none;
    const node_lp_times *t = b->lp ? node_lp_cost(b->lp) : &none;
    fprintf(
        file,
        "gpuopt: %lld calls, %lld children, %lld iterations, %lld handles, %lld rows added, %lld removed, %.3f s "
        "update, %.3f s children, %ld bounds tightened, %ld branches of one side, %ld branched, %ld left to GLPK%s\n",
        (long long)t->calls, (long long)t->children, (long long)t->iterations, (long long)t->handles,
        (long long)t->rows_added, (long long)t->rows_removed, t->update, t->branch, b->tightened, b->one_sided,
        b->branched, b->left, !b->lp || node_lp_failed(b->lp) ? ", failed" : "");
}
