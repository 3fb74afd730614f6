/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method on real models: NETLIB from the slack basis by both engines, with the published optima; its
 * infeasible companions; and children of MIPLIB relaxations, one bound changed, against CLP. Prints each model's
 * iterations.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simplex/answer.h"
#include "tests/simplex/clp.h"
#include "tests/simplex/exact.h"
#include "tests/simplex/index.h"

enum { MOST = 64 };

static void must(gpuopt_status status) { assert_int_equal(status, GPUOPT_OK); }

/* The reference has lost the last four digits of etamacro: NETLIB's readme has 755.7152333 (7). */
static double tolerance_of(const char *name) { return strcmp(name, "etamacro") == 0 ? 1e-7 : 1e-8; }

static void run_folder(const char *folder, int most_rows) {
    index_entry entry[MOST];
    int count = index_read(folder, entry, MOST), k, way, wrong = 0, left_out = 0;
    int64_t all[2] = {0, 0}, dual[2] = {0, 0}; /* iterations with steepest edge, and devex */
    gpuopt_context *context;
    if (!count) skip();
    context = test_context(NULL);
    for (k = 0; k < count; k++) {
        mip m;
        if (entry[k].rows > most_rows) {
            left_out++;
            continue;
        }
        m = model_file(folder, entry[k].name);
        for (way = 0; way < 4; way++) {
            gpuopt_simplex_desc desc = tableau_desc(&m);
            gpuopt_simplex_rules rules;
            gpuopt_simplex_info info;
            const char *fault;
            desc.method = way % 2 ? GPUOPT_METHOD_REVISED : GPUOPT_METHOD_TABLEAU;
            desc.algorithm = GPUOPT_ALGORITHM_DUAL;
            rules = rules_of(&desc);
            desc.rules = &rules;
            rules.dual_pricing =
                way < 2 ? GPUOPT_DUAL_PRICING_STEEPEST_EDGE : GPUOPT_DUAL_PRICING_DEVEX; /* Dantzig is slow */
            fault = answer_try(context, &desc, &m, entry[k].outcome, entry[k].objective, tolerance_of(entry[k].name),
                               &info);
            printf("%-10s %-7s %-8s %5d x %-6d %6lld dual, %6lld primal iterations  %s\n", entry[k].name,
                   desc.method == GPUOPT_METHOD_REVISED ? "revised" : "tableau",
                   rules.dual_pricing ? "devex" : "steepest", entry[k].rows, entry[k].cols,
                   (long long)info.dual_iterations, (long long)(info.iterations - info.dual_iterations),
                   fault ? fault : "ok");
            fflush(stdout);
            wrong += fault != NULL;
            all[way / 2] += info.iterations;
            dual[way / 2] += info.dual_iterations;
        }
        mip_free(&m);
    }
    for (k = 0; k < 2; k++)
        printf("%s, %s: %lld of %lld iterations are the dual method's\n", folder, k ? "devex" : "steepest edge",
               (long long)dual[k], (long long)all[k]);
    assert_true(dual[0] >= 0.95 * (double)all[0]); /* phase 1 leaves little to the primal method */
    if (left_out) printf("SKIPPED: %d of %d models of %s: above %d rows\n", left_out, count, folder, most_rows);
    gpuopt_context_destroy(context);
    assert_int_equal(wrong, 0);
}

static void netlib(void **state) {
    (void)state;
    run_folder("netlib", 650);
}

static void netlib_infeasible(void **state) {
    (void)state;
    run_folder("netlib_infeas", 650);
}

/* ---- Children ---- */

/* The fault of the handle's child, against CLP on the model with the bound changed. */
static const char *child_fault(gpuopt_simplex *simplex, const mip *m, int *verdicts) {
    answer child = answer_get(simplex, m);
    const char *fault = answer_fault(m, &child, 1e-9);
    double objective;
    gpuopt_outcome outcome = clp_solve(m, &objective);
    *verdicts |= 1 << outcome;
    if (child.info.outcome != outcome) fault = "another verdict than CLP's";
    if (!fault && outcome == GPUOPT_OPTIMAL && fabs(child.info.objective - objective) > 1e-7 * fmax(1, fabs(objective)))
        fault = "another objective than CLP's";
    if (!fault && outcome == GPUOPT_INFEASIBLE && m->columns.rows < 300) {
        double *low = calloc((size_t)m->columns.rows + 1, sizeof *low);
        must(gpuopt_simplex_get_proof(
            simplex, GPUOPT_HOST,
            &(gpuopt_simplex_proof){.struct_size = sizeof(gpuopt_simplex_proof), .farkas_low = low}));
        if (!(exact_farkas_margin(m, child.farkas, low, 1e24) > 0)) fault = "no proof in rationals";
        free(low);
    }
    answer_free(&child);
    return fault;
}

static int children_of(gpuopt_context *context, const char *name, int *verdicts) {
    mip m = model_file("miplib", name);
    gpuopt_simplex_desc desc = tableau_desc(&m);
    gpuopt_simplex *simplex;
    answer root;
    int wrong = 0, children = 0;
    int32_t j;
    int64_t iterations = 0;
    desc.method = GPUOPT_METHOD_REVISED;
    desc.algorithm = GPUOPT_ALGORITHM_AUTO;
    simplex = simplex_create(context, &desc);
    simplex_iterate(simplex, 1000000);
    root = answer_get(simplex, &m);
    assert_int_equal(root.info.outcome, GPUOPT_OPTIMAL);
    for (j = 0; j < m.columns.cols && children < 12; j++) {
        double lb = m.lb[j], ub = m.ub[j];
        int side;
        if (!m.integer[j] || fabs(root.x[j] - round(root.x[j])) <= 1e-6) continue;
        for (side = 0; side < 2; side++, children++) {
            int64_t before = simplex_info(simplex).iterations;
            const char *fault;
            m.lb[j] = side ? ceil(root.x[j]) : lb;
            m.ub[j] = side ? ub : floor(root.x[j]);
            must(gpuopt_simplex_set_basis(simplex, GPUOPT_HOST, root.basis));
            must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &j, &m.lb[j], &m.ub[j]));
            iterations += simplex_iterate(simplex, 1000000).iterations - before;
            fault = child_fault(simplex, &m, verdicts);
            if (fault) printf("%s, column %d, side %d: %s\n", name, (int)j, side, fault);
            wrong += fault != NULL;
        }
        m.lb[j] = lb;
        m.ub[j] = ub;
        must(gpuopt_simplex_set_bounds(simplex, GPUOPT_HOST, 1, &j, &lb, &ub));
    }
    printf("%-16s %d children, %.1f iterations each\n", name, children, (double)iterations / (children ? children : 1));
    fflush(stdout);
    answer_free(&root);
    gpuopt_simplex_destroy(simplex);
    mip_free(&m);
    return wrong;
}

static void miplib_children(void **state) {
    static const char *const names[] = {
        "50v-10",  "air05",   "bell5",        "binkar10_1", "csched008", "egout", "enigma",
        "eil33-2", "flugpl",  "gen-ip054",    "glass4",     "gt2",       "lseu",  "mas76",
        "misc07",  "mod008",  "noswot",       "p0033",      "p0201",     "pk1",   "rococoC10-001000",
        "stein27", "timtab1", "markshare_4_0"};
    gpuopt_context *context;
    int wrong = 0, verdicts = 0;
    size_t k;
    (void)state;
    if (!test_data("miplib/p0033.mps.xz")) skip();
    context = test_context(NULL);
    for (k = 0; k < sizeof names / sizeof *names; k++) wrong += children_of(context, names[k], &verdicts);
    gpuopt_context_destroy(context);
    assert_int_equal(wrong, 0);
    assert_int_equal(verdicts, 1 << GPUOPT_OPTIMAL | 1 << GPUOPT_INFEASIBLE);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(netlib),
    cmocka_unit_test(netlib_infeasible),
    cmocka_unit_test(miplib_children),
};
TEST_MAIN(tests)
