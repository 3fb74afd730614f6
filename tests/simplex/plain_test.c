/* SPDX-License-Identifier: MIT
 *
 * Plain linear programs (plain.h) are OPTIMAL by every method and algorithm and from every start, with CLP's objective;
 * so are the same programs in one batch, and their children. Prints a table of verdicts for each kind.
 * GPUOPT_TEST_MODELS: how many of each kind, instead of the 40 of a run.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/clp.h"
#include "tests/simplex/plain.h"
#include "tests/simplex/programs.h"

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* How many models of this kind; on the emulated GPU models with 40 rows and more take seconds each. */
static int models_of(int kind) {
    const char *many = getenv("GPUOPT_TEST_MODELS");
    mip m = plain_model(kind, 1);
    const int large = m.columns.rows >= 40;
    mip_free(&m);
    if (many) return atoi(many);
    return test_emulated() ? 2 - large : test_times(40, 40);
}

/* ---- Counting ---- */

typedef struct tally {
    int optimal, imprecise, wrong; /* imprecise: without a verdict */
} tally;

static int faults; /* of the test */
static char first_fault[300];

static void note_fault(int kind, uint64_t seed, const char *how, const char *what) {
    if (faults++ == 0)
        snprintf(first_fault, sizeof first_fault, "%s %d, %s: %s", plain_name(kind), (int)seed, how, what);
}
static void expect_no_fault(void) {
    const int found = faults;
    faults = 0;
    if (found) fail_msg("%d answers are not right, first %s", found, first_fault);
}

/* Counts an outcome against CLP's; an optimum has CLP's objective to 1e-9, and `fault` (NULL: none). */
static void count_answer(tally *count, int kind, uint64_t seed, const char *how, int outcome, double objective,
                         gpuopt_outcome right, double optimum, const char *fault) {
    char text[200];
    snprintf(text, sizeof text, "%s %.17g, by CLP %s %.17g; %s", gpuopt_outcome_string((gpuopt_outcome)outcome),
             objective, gpuopt_outcome_string(right), optimum, fault ? fault : "");
    if (outcome == GPUOPT_IMPRECISE || outcome == GPUOPT_MORE) count->imprecise++;
    else if (outcome != (int)right || fault ||
             (right == GPUOPT_OPTIMAL && !(fabs(objective - optimum) <= 1e-9 * fmax(1, fabs(optimum)))))
        count->wrong++;
    else {
        count->optimal += outcome == GPUOPT_OPTIMAL;
        return;
    }
    note_fault(kind, seed, how, text);
}

/* A row of a table: of each tally "optimal / without a verdict / wrong". */
static void print_row(const char *name, const char *method, const char *algorithm, const tally *count, int counts) {
    int k;
    print_message("| %s | %s | %s |", name, method, algorithm);
    for (k = 0; k < counts; k++) print_message(" %d / %d / %d |", count[k].optimal, count[k].imprecise, count[k].wrong);
    print_message("\n");
}

/* ---- One at a time ---- */

/* Methods and algorithms, and for each: from the slack basis, from the basis found with the other method, and the
 * verdict on that basis itself. */
enum { WAYS = 6, COLD = 0, WARM, CERTIFIED, STARTS };
static const char *const methods[] = {"tableau", "revised"}, *const algorithms[] = {"primal", "dual", "auto"};
static const char *const starts[] = {"cold", "warm", "certified"};

static void solve_one(gpuopt_context *context, const mip *m, int kind, uint64_t seed, int way, double optimum,
                      tally count[STARTS]) {
    static const gpuopt_simplex_algorithm algorithm[] = {GPUOPT_ALGORITHM_PRIMAL, GPUOPT_ALGORITHM_DUAL,
                                                         GPUOPT_ALGORITHM_AUTO};
    uint8_t *basis = calloc((size_t)m->columns.rows + (size_t)m->columns.cols, 1);
    int start;
    for (start = COLD; start < STARTS; start++) {
        gpuopt_simplex_desc desc = tableau_desc(m);
        gpuopt_simplex *simplex;
        char how[64];
        answer a;
        desc.method = (way + (start == WARM)) % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
        desc.algorithm = algorithm[way / 2];
        simplex = simplex_create(context, &desc);
        if (start != COLD) must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, basis));
        if (start == CERTIFIED) must(gpuopt_simplex_verify_basis(simplex, NULL));
        else simplex_iterate(simplex, INT64_MAX);
        a = answer_get(simplex, m);
        snprintf(how, sizeof how, "%s %s %s", methods[way % 2], algorithms[way / 2], starts[start]);
        count_answer(&count[start], kind, seed, how, a.info.outcome, a.info.objective, GPUOPT_OPTIMAL, optimum,
                     a.info.outcome == GPUOPT_OPTIMAL ? answer_fault(m, &a, 1e-9) : NULL);
        if (start == COLD) memcpy(basis, a.basis, (size_t)m->columns.rows + (size_t)m->columns.cols);
        answer_free(&a);
        gpuopt_simplex_destroy(simplex);
    }
    free(basis);
}

static void one_at_a_time(void **state) {
    gpuopt_context *context = test_context(NULL);
    int kind, way;
    uint64_t seed;
    (void)state;
    print_message("| models | method | algorithm | cold | warm, other method | certified |\n");
    for (kind = 0; kind < PLAIN_KINDS; kind++) {
        tally count[WAYS][STARTS];
        const int models = models_of(kind);
        memset(count, 0, sizeof count);
        for (seed = 1; seed <= (uint64_t)models; seed++) {
            mip m = plain_model(kind, seed);
            double optimum;
            assert_int_equal(clp_solve(&m, &optimum), GPUOPT_OPTIMAL);
            for (way = 0; way < WAYS; way++) solve_one(context, &m, kind, seed, way, optimum, count[way]);
            mip_free(&m);
        }
        for (way = 0; way < WAYS; way++)
            print_row(plain_name(kind), methods[way % 2], algorithms[way / 2], count[way], STARTS);
    }
    gpuopt_context_destroy(context);
    expect_no_fault();
}

/* ---- Many in one batch ---- */

static void in_one_batch(void **state) {
    gpuopt_context *context = test_context(NULL);
    int kind;
    (void)state;
    for (kind = 0; kind < PLAIN_KINDS; kind++) {
        const int32_t models = models_of(kind);
        mip *model = calloc((size_t)models, sizeof *model);
        tally count = {0, 0, 0};
        programs *all;
        programs_report *r;
        gpuopt_simplex_batch *many;
        int32_t k;
        for (k = 0; k < models; k++) model[k] = plain_model(kind, (uint64_t)k + 1);
        all = programs_of(models, model, 1, GPUOPT_LAYOUT_CSC);
        many = programs_create(context, all);
        must(gpuopt_simplex_batch_iterate(many, INT64_MAX, NULL));
        r = programs_get(many, all);
        for (k = 0; k < models; k++) {
            double optimum;
            const gpuopt_outcome right = clp_solve(&model[k], &optimum);
            const char *fault = NULL;
            if (r->r.outcome[k] == GPUOPT_OPTIMAL) fault = programs_fault_beside(all, r, k, right, optimum);
            count_answer(&count, kind, (uint64_t)k + 1, "many", r->r.outcome[k], r->r.objective[k], right, optimum,
                         fault);
        }
        print_row(plain_name(kind), "many", "", &count, 1);
        programs_report_free(r);
        gpuopt_simplex_batch_destroy(many);
        programs_free(all);
    }
    gpuopt_context_destroy(context);
    expect_no_fault();
}

/* ---- Children ---- */

enum { EACH = 24 };

/* Of a root by the way of its number (children_root_desc). The GPU gives up children with costs that call for the
 * primal method, so there are no changes of costs there. */
static void children_of(gpuopt_context *context, int kind, uint64_t seed, tally *count, int *feasible) {
    mip m = plain_model(kind, seed);
    const int changes = CHILDREN_BOUNDS | CHILDREN_SIDES | (test_on("cuda") ? 0 : CHILDREN_COSTS);
    const int32_t asked = test_emulated() ? 6 : EACH;
    gpuopt_simplex_desc desc = children_root_desc(&m, (int)seed);
    gpuopt_simplex *root = simplex_create(context, &desc);
    gpuopt_simplex_children *batch = children_batch(root, asked, 0, GPUOPT_ON_PIVOT_LIMIT_REFACTOR);
    children_report *r = children_report_new(&m, asked);
    double *x = calloc((size_t)m.columns.cols, sizeof *x);
    children *all;
    int32_t k;
    simplex_iterate(root, INT64_MAX);
    must(gpuopt_simplex_get_solution(
        root, GPUOPT_HOST, &(gpuopt_simplex_solution){.struct_size = sizeof(gpuopt_simplex_solution), .x = x}));
    all = plain_children(kind, &m, x, seed, asked, changes);
    must(gpuopt_simplex_children_run(batch, GPUOPT_HOST, &all->c, 100000, &r->r));
    for (k = 0; k < asked; k++) {
        double optimum;
        const gpuopt_outcome right = children_by_clp(&m, all, k, &optimum);
        char how[32];
        snprintf(how, sizeof how, "child %d", (int)k);
        *feasible += right == GPUOPT_OPTIMAL;
        count_answer(count, kind, seed, how, r->outcome[k], r->objective[k], right, optimum,
                     right == GPUOPT_OPTIMAL && !(r->bound[k] <= optimum + 1e-9 * fmax(1, fabs(optimum)))
                         ? "a bound beyond the optimum"
                         : NULL);
    }
    gpuopt_simplex_children_destroy(batch);
    gpuopt_simplex_destroy(root);
    children_report_free(r);
    free(all);
    free(x);
    mip_free(&m);
}

static void children_of_a_root(void **state) {
    gpuopt_context *context = test_context(NULL);
    int kind;
    uint64_t seed;
    (void)state;
    for (kind = 0; kind < PLAIN_KINDS; kind++) {
        const int models = models_of(kind);
        tally count = {0, 0, 0};
        int feasible = 0;
        for (seed = 1; seed <= (uint64_t)models; seed++) children_of(context, kind, seed, &count, &feasible);
        print_row(plain_name(kind), "children", "", &count, 1);
        assert_true(feasible > (test_emulated() ? 0 : models * EACH / 4));
    }
    gpuopt_context_destroy(context);
    expect_no_fault();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_at_a_time),
    cmocka_unit_test(in_one_batch),
    cmocka_unit_test(children_of_a_root),
};
TEST_MAIN(tests)
