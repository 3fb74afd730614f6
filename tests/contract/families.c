/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "tests/contract/families.h"

#include <math.h>
#include <string.h>

/* Wrappers with untyped handles, descriptors and infos around a family's calls of one shape. */
#define WRAP(NAME)                                                                                       \
    _Static_assert(sizeof(gpuopt_##NAME##_desc) <= LARGEST_STRUCT, "LARGEST_STRUCT");                    \
    _Static_assert(sizeof(gpuopt_##NAME##_info) <= LARGEST_STRUCT, "LARGEST_STRUCT");                    \
    static gpuopt_status NAME##_plan_and_create(gpuopt_context *c, const void *d, gpuopt_memory_plan *p, \
                                                void **handle) {                                         \
        gpuopt_##NAME *made = NULL;                                                                      \
        gpuopt_status status = gpuopt_##NAME##_create(c, d, p, handle ? &made : NULL);                   \
        if (handle) *handle = made;                                                                      \
        return status;                                                                                   \
    }                                                                                                    \
    static gpuopt_status NAME##_plan(gpuopt_context *c, const void *d, gpuopt_memory_plan *p) {          \
        return NAME##_plan_and_create(c, d, p, NULL);                                                    \
    }                                                                                                    \
    static gpuopt_status NAME##_create(gpuopt_context *c, const void *d, void **handle) {                \
        return NAME##_plan_and_create(c, d, NULL, handle);                                               \
    }                                                                                                    \
    static void NAME##_destroy(void *handle) { gpuopt_##NAME##_destroy(handle); }
#define INFO(NAME) \
    static gpuopt_status NAME##_get_info(void *handle, void *info) { return gpuopt_##NAME##_get_info(handle, info); }
#define OUTCOME(NAME) \
    static gpuopt_outcome NAME##_outcome(const void *info) { return ((const gpuopt_##NAME##_info *)info)->outcome; }

WRAP(propagator)
WRAP(basis)
WRAP(simplex)
WRAP(elimination)
WRAP(knapsack)
INFO(propagator)
INFO(basis)
INFO(simplex)
INFO(knapsack)
static gpuopt_status elimination_get_info(void *handle, void *info) {
    return gpuopt_elimination_get_info(handle, 0, info);
}
OUTCOME(propagator)
OUTCOME(simplex)
OUTCOME(elimination)
OUTCOME(knapsack)

/* ---- Propagation: x[0] <= 1 and x[j] <= x[j - 1]; a Jacobi round carries the bound one column further ---- */

enum { CHAIN = 8 };
static const double chain_answer[CHAIN] = {1, 1, 1, 1, 1, 1, 1, 1};

static void propagator_fill(void *to, gpuopt_layout layout, int crossing) {
    static int64_t row_start[CHAIN], col_start[CHAIN + 1];
    static int32_t row_index[2 * CHAIN], col_index[2 * CHAIN];
    static double row_value[2 * CHAIN], col_value[2 * CHAIN];
    static double rhs[CHAIN - 1], lb[CHAIN], ub[CHAIN];
    gpuopt_propagator_desc *d = to;
    int32_t i, k = 0;
    for (i = 0; i < CHAIN - 1; i++) { /* row i: x[i + 1] - x[i] <= 0 */
        row_start[i + 1] = 2 * (i + 1);
        row_index[2 * i] = i, row_value[2 * i] = -1;
        row_index[2 * i + 1] = i + 1, row_value[2 * i + 1] = 1;
        rhs[i] = 0;
    }
    for (i = 0; i < CHAIN; i++) {
        if (i > 0) col_index[k] = i - 1, col_value[k++] = 1;
        if (i < CHAIN - 1) col_index[k] = i, col_value[k++] = -1;
        col_start[i + 1] = k;
        lb[i] = crossing && i == 3 ? 20 : 0;
        ub[i] = i == 0 ? 1 : 10;
    }
    d->matrix = layout == GPUOPT_LAYOUT_CSR
                    ? (gpuopt_matrix){CHAIN - 1, CHAIN, row_start, row_index, row_value, GPUOPT_LAYOUT_CSR}
                    : (gpuopt_matrix){CHAIN - 1, CHAIN, col_start, col_index, col_value, GPUOPT_LAYOUT_CSC};
    d->rhs = rhs;
    d->lb = lb;
    d->ub = ub;
}

static gpuopt_status propagator_work(void *handle, int all, void *info) {
    return gpuopt_propagator_round(handle, all ? 100 : 1, info);
}

static gpuopt_status propagator_read(void *handle, gpuopt_memory_space where, void *answer) {
    return gpuopt_propagator_get_bounds(handle, where, 0, NULL, NULL, answer);
}

static const double chain_lb[CHAIN];
static gpuopt_status propagator_write(void *handle, gpuopt_memory_space where, const void *vector) {
    return gpuopt_propagator_set_bounds(handle, where, 0, NULL, vector, NULL);
}

/* ---- Basis inverse: rows (2, 0, 0), (0, 4, 0), (2, 0, 8); the update replaces column 1 by (1, 1, 0)' ---- */

static const double basis_answer[9] = {0.5, -0.5, 0, 0, 1, 0, -0.125, 0.125, 0.125};

static void basis_fill(void *to, gpuopt_layout layout, int crossing) {
    (void)layout, (void)crossing;
    ((gpuopt_basis_desc *)to)->m = 3;
}

static gpuopt_status basis_load(void *handle, gpuopt_layout layout) {
    static const int64_t row_start[] = {0, 1, 2, 4}, col_start[] = {0, 2, 3, 4};
    static const int32_t row_index[] = {0, 1, 0, 2}, col_index[] = {0, 2, 1, 2};
    static const double row_value[] = {2, 4, 2, 8}, col_value[] = {2, 2, 4, 8};
    const gpuopt_matrix b = layout == GPUOPT_LAYOUT_CSR
                                ? (gpuopt_matrix){3, 3, row_start, row_index, row_value, layout}
                                : (gpuopt_matrix){3, 3, col_start, col_index, col_value, layout};
    return gpuopt_basis_load(handle, &b);
}

static const double basis_column[3] = {1, 1, 0};
static gpuopt_status basis_write(void *handle, gpuopt_memory_space where, const void *vector) {
    return gpuopt_basis_ftran(handle, where, 0, NULL, vector, NULL);
}

static gpuopt_status basis_work(void *handle, int all, void *info) {
    gpuopt_status status = gpuopt_basis_ftran(handle, GPUOPT_HOST, 0, NULL, basis_column, NULL);
    (void)all;
    return status ? status : gpuopt_basis_update(handle, GPUOPT_HOST, 1, NULL, info);
}

static gpuopt_status basis_read(void *handle, gpuopt_memory_space where, void *answer) {
    return gpuopt_basis_get_inverse(handle, where, answer);
}

/* A basis has no outcome to reach: it is done after its update. */
static gpuopt_outcome basis_outcome(const void *info) {
    return ((const gpuopt_basis_info *)info)->updates > 0 ? GPUOPT_OPTIMAL : GPUOPT_MORE;
}

/* ---- Linear programs: Chvatal (1983), page 13: x = (2, 0, 1), objective 13 ---- */

static const double lp_answer[3] = {2, 0, 1};
static const uint8_t slack_basis[6] = {GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_LOWER,
                                       GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_BASIC,    GPUOPT_VARIABLE_BASIC};

static void simplex_fill(void *to, gpuopt_layout layout, int crossing) {
    static const int64_t start[] = {0, 3, 6, 9};
    static const int32_t index[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
    static const double by_rows[] = {2, 3, 1, 4, 1, 2, 3, 4, 2}, by_columns[] = {2, 4, 3, 3, 1, 4, 1, 2, 2};
    static const double cost[] = {5, 4, 3}, rhs[] = {5, 11, 8}, no_ub[] = {1e20, 1e20, 1e20},
                        low_ub[] = {1e20, -1, 1e20};
    static const gpuopt_simplex_rules rules = {.struct_size = sizeof rules, .deferred_pivots = 1, .rebuild_pivots = 1};
    gpuopt_simplex_desc *d = to;
    d->matrix.rows = d->matrix.cols = 3;
    d->matrix.start = start;
    d->matrix.index = index;
    d->matrix.value = layout == GPUOPT_LAYOUT_CSR ? by_rows : by_columns;
    d->matrix.layout = layout;
    d->cost = cost;
    d->maximize = 1;
    d->rhs = rhs;
    d->ub = crossing ? low_ub : no_ub;
    d->method = GPUOPT_METHOD_TABLEAU;
    d->algorithm = GPUOPT_ALGORITHM_PRIMAL;
    d->rules = &rules;
}

static gpuopt_status simplex_work(void *handle, int all, void *info) {
    return gpuopt_simplex_iterate(handle, all ? 1000 : 1, info);
}

static gpuopt_status simplex_read(void *handle, gpuopt_memory_space where, void *answer) {
    return gpuopt_simplex_get_solution(
        handle, where, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = answer});
}

static gpuopt_status simplex_write(void *handle, gpuopt_memory_space where, const void *vector) {
    return gpuopt_simplex_set_basis(handle, where, vector);
}

/* ---- Graphical models: a path of six variables with three values; neighbours must differ. Value v costs v, but 4 for
 * the first variable ---- */

enum { PATH = 6, VALUES = 3 };
static const int32_t path_answer[PATH] = {0, 1, 0, 1, 0, 1}; /* cost 3; all others cost 4 and more */
static const int32_t no_condition[1] = {0};

static void elimination_fill(void *to, gpuopt_layout layout, int crossing) {
    static int32_t domain[PATH], scope[PATH - 1][2], order[PATH];
    static const int32_t variable[PATH] = {0, 1, 2, 3, 4, 5};
    static int64_t differ[VALUES * VALUES];
    static const int64_t unary[VALUES] = {0, 1, 2}, first[VALUES] = {0, 4, 4};
    static gpuopt_elimination_function function[2 * PATH - 1];
    gpuopt_elimination_desc *d = to;
    int32_t v;
    (void)layout, (void)crossing;
    for (v = 0; v < VALUES * VALUES; v++) differ[v] = v / VALUES == v % VALUES ? INT64_MAX : 0;
    for (v = 0; v < PATH; v++) {
        domain[v] = VALUES;
        order[v] = PATH - 1 - v;
        memset(&function[v], 0, sizeof *function);
        function[v].arity = 1;
        function[v].scope = &variable[v];
        function[v].tuples = -1;
        function[v].cost = v == 0 ? first : unary; /* value 0 for the first variable: one optimum */
    }
    for (v = 0; v < PATH - 1; v++) {
        scope[v][0] = v, scope[v][1] = v + 1;
        function[PATH + v] = function[0];
        function[PATH + v].arity = 2;
        function[PATH + v].scope = scope[v];
        function[PATH + v].cost = differ;
    }
    d->variables = PATH;
    d->domain = domain;
    d->functions = 2 * PATH - 1;
    d->function = function;
    d->order = order;
    d->order_count = PATH;
}

static gpuopt_status elimination_work(void *handle, int all, void *info) {
    return gpuopt_elimination_step(handle, all ? PATH : 1, info);
}

static gpuopt_status elimination_read(void *handle, gpuopt_memory_space where, void *answer) {
    gpuopt_elimination_assignment found = GPUOPT_INIT(gpuopt_elimination_assignment);
    return gpuopt_elimination_assign(handle, where, 0, answer, &found);
}

static gpuopt_status elimination_write(void *handle, gpuopt_memory_space where, const void *vector) {
    return gpuopt_elimination_set_evidence(handle, where, 0, vector);
}

/* ---- Knapsacks: eight items, one of whose 256 sets is best ---- */

enum { ITEMS = 8 };
/* p = 15 100 90 60 40 15 10 1, w = 2 20 20 30 40 30 60 10, C = 102: profit 280 by items 0, 1, 2, 3, 5. */
static const int64_t knapsack_answer[ITEMS] = {1, 1, 1, 1, 0, 1, 0, 0};
static const int64_t one_item[ITEMS] = {1, 0, 0, 0, 0, 0, 0, 0};

static void knapsack_fill(void *to, gpuopt_layout layout, int crossing) {
    static const int64_t profit[ITEMS] = {15, 100, 90, 60, 40, 15, 10, 1},
                         weight[ITEMS] = {2, 20, 20, 30, 40, 30, 60, 10};
    gpuopt_knapsack_desc *d = to;
    (void)layout, (void)crossing;
    d->items = ITEMS;
    d->profit = profit;
    d->weight = weight;
    d->capacity = 102;
    d->search = GPUOPT_SEARCH_BREADTH; /* the other search settles so small a problem in one step */
}

static gpuopt_status knapsack_work(void *handle, int all, void *info) {
    return gpuopt_knapsack_expand(handle, 0, all ? 0 : 1, info);
}

static gpuopt_status knapsack_read(void *handle, gpuopt_memory_space where, void *answer) {
    return gpuopt_knapsack_get_items(handle, where, answer, NULL, NULL);
}

static gpuopt_status knapsack_write(void *handle, gpuopt_memory_space where, const void *vector) {
    return gpuopt_knapsack_set_incumbent(handle, where, 15, vector);
}

#define CALLS(NAME, LOAD)                                                                               \
    NAME##_fill, NAME##_plan, NAME##_create, NAME##_plan_and_create, NAME##_destroy, LOAD, NAME##_work, \
        NAME##_get_info, NAME##_outcome, NAME##_read, NAME##_write
#define SIZES(NAME) sizeof(gpuopt_##NAME##_desc), sizeof(gpuopt_##NAME##_info)

const family families[] = {
    [PROPAGATOR] = {"propagator", "round", SIZES(propagator), 0, 1, 1, 1, sizeof chain_answer, chain_answer, 1e-9,
                    CALLS(propagator, NULL), chain_lb, sizeof chain_lb},
    [BASIS] = {"basis", "update", SIZES(basis), 0, 1, 0, 0, sizeof basis_answer, basis_answer, 1e-15,
               CALLS(basis, basis_load), basis_column, sizeof basis_column},
    [SIMPLEX] = {"simplex", "iterate", SIZES(simplex), 1, 1, 1, 1, sizeof lp_answer, lp_answer, 1e-9,
                 CALLS(simplex, NULL), slack_basis, sizeof slack_basis},
    [ELIMINATION] = {"elimination", "step", SIZES(elimination), 0, 0, 0, 1, sizeof path_answer, path_answer, 0,
                     CALLS(elimination, NULL), no_condition, sizeof no_condition},
    [KNAPSACK] = {"knapsack", "expand", SIZES(knapsack), 1, 0, 0, 1, sizeof knapsack_answer, knapsack_answer, 0,
                  CALLS(knapsack, NULL), one_item, sizeof one_item},
};
const int family_count = sizeof families / sizeof *families;

anything sized(size_t size) {
    anything result;
    memset(&result, 0, sizeof result);
    gpuopt_desc_init(&result, size);
    return result;
}

anything described(const family *f, gpuopt_layout layout, int crossing) {
    anything desc = sized(f->desc_size);
    f->fill(&desc, layout, crossing);
    return desc;
}

int family_agrees(const family *f, const void *answer) {
    size_t k;
    if (f->tolerance == 0) return memcmp(answer, f->answer, f->answer_bytes) == 0;
    for (k = 0; k < f->answer_bytes / sizeof(double); k++) {
        double found, wanted;
        memcpy(&found, (const char *)answer + k * sizeof found, sizeof found);
        memcpy(&wanted, (const char *)f->answer + k * sizeof wanted, sizeof wanted);
        if (!(fabs(found - wanted) <= f->tolerance)) return 0;
    }
    return 1;
}
