/* SPDX-License-Identifier: MIT
 *
 * Random dense problems: Tables 5 and 9, Figure 9.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/lp_check.h"
#include "tests/bench/simplex_peers.h"
#include "tests/papers/basis.h"

typedef struct cell {
    revised_result r; /* of a run; iterations 0: there is none */
    double update;    /* seconds an iteration */
    double total;     /* seconds, if the run is whole; else of an iteration, times the iterations of a whole one */
    int estimate;
} cell;
typedef struct results {
    cell cell[SIZES][WAYS][MACHINES];
    int64_t iterations[SIZES]; /* of a whole run; 0: there is none */
    int runs, other_iterations, other_objectives, certified, bad_certificates, peers, bad_peers;
    double peer_error; /* sum of the relative differences from CLP */
} results;

/* ---- What is run ---- */

/* Seconds after which a run is stopped; 0: it is left out. Without --quick the CPU's runs are in some sizes only. */
static double limit_of(const study *s, int32_t m, int way, int machine) {
    if (!context_of(s, machine)) return 0;
    if (s->p.quick) return machine == 2 ? 1 : machine == 1 ? .05 : .15;
    if (machine == 2) return way == PFI ? .5 : way == PROPOSED || way == DEFERRED ? 5 : 1;
    if (m != 500 && m % 2000 != 0 && m != 1000) return 0;
    return way == PFI && m > 1000 ? 0 : .4;
}

/* x and the duals prove each other optimal, in long double: the oracle for sizes that take CLP too long. */
static void certify(results *all, const mip *model, const double *x, const double *dual) {
    double primal = lp_primal_violation(model, x), dually = lp_dual_violation(model, x, dual);
    all->certified++;
    if (primal < 1e-9 && dually < 1e-9) return;
    all->bad_certificates++;
    printf("m = %d: the optimum violates a row or bound by %g, or a reduced cost by %g\n", (int)model->columns.rows,
           primal, dually);
}

/* CLP's point may violate a row by its tolerance, each of which is worth its dual; likewise its reduced costs. */
static void compare_with_peer(results *all, const mip *model, double objective, const double *x, const double *dual) {
    const clp_job job = {model, 0, 0, 60};
    figures clp = clp_run(&job);
    double error = fabs(objective - clp.objective), most = 1e-9 * fabs(objective);
    int32_t k;
    if (strcmp(clp.status, "over limit") == 0) return;
    for (k = 0; k < model->columns.rows; k++) most += clp.primal * fabs(dual[k]) + clp.dual * fabs(x[k]);
    all->peers++;
    all->peer_error += error / fabs(objective);
    if (error < most) return;
    all->bad_peers++;
    printf("m = %d: the optimum is %.12g, and CLP's, %s, is %.12g\n", (int)model->columns.rows, objective, clp.status,
           clp.objective);
}

static void run_cell(study *s, results *all, int k, int way, int machine, const mip *model, dense_device *device,
                     double *objective) {
    cell *c = &all->cell[k][way][machine];
    int32_t m = model->columns.rows;
    revised_task task = {0};
    double *point = calloc((size_t)(2 * m), sizeof *point);
    task.model = model;
    task.context = context_of(s, machine);
    task.threads = threads_of(s, machine);
    task.technique = technique_of[way];
    task.dense = 1;
    task.device = machine == 2 ? device : NULL;
    task.limit = limit_of(s, m, way, machine);
    memset(c, 0, sizeof *c);
    c->update = c->total = NAN;
    if (!point || !(task.limit > 0)) {
        free(point);
        return;
    }
    c->r = revised_solve(&task, point, point + m);
    if (c->r.status == REVISED_FAILED) s->failed++;
    c->update = c->r.per_update;
    if (c->r.status == REVISED_OPTIMAL) {
        all->runs++;
        if (!all->iterations[k]) {
            all->iterations[k] = c->r.iterations;
            *objective = c->r.objective;
            certify(all, model, point, point + m);
            if (m <= 1000) compare_with_peer(all, model, c->r.objective, point, point + m);
        }
        all->other_iterations += c->r.iterations != all->iterations[k];
        all->other_objectives += !(fabs(c->r.objective - *objective) < 1e-9 * fabs(*objective));
    }
    free(point);
}

/* Fills `total`: of a run that a limit ended, an iteration's seconds times the iterations of a whole one. */
static void estimate(results *all, int k) {
    int way, machine;
    for (way = 0; way < WAYS; way++)
        for (machine = 0; machine < MACHINES; machine++) {
            cell *c = &all->cell[k][way][machine];
            if (!c->r.iterations) continue;
            c->estimate = c->r.status != REVISED_OPTIMAL;
            c->total = c->r.seconds;
            if (c->estimate)
                c->total *= all->iterations[k] ? (double)all->iterations[k] / (double)c->r.iterations : NAN;
        }
}

static void run_size(study *s, results *all, int k) {
    char name[64], error[NAME];
    dense_device *device = NULL;
    mip model;
    int way, machine;
    double objective = NAN;
    snprintf(name, sizeof name, "shah:%d:1", (int)size_of(s, k));
    if (mip_generate_lp(name, &model, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        s->failed++;
        return;
    }
    if (s->has_gpu) device = dense_open(&s->gpu, &model);
    if (s->has_gpu && !device) printf("m = %d: the CPU prices, since there is no cuBLAS\n", (int)size_of(s, k));
    if (k == 0) run_cell(s, all, k, DEFERRED, 2, &model, device, &objective); /* a GPU loads kernels at first use */
    for (machine = MACHINES - 1; machine >= 0; machine--)
        for (way = WAYS - 1; way >= 0; way--) run_cell(s, all, k, way, machine, &model, device, &objective);
    estimate(all, k);
    dense_close(device);
    mip_free(&model);
}

/* ---- Tables ---- */

static void print_table5(const study *s, const results *all) {
    char title[2 * NAME], columns[NAME];
    int k, way, machine;
    table t;
    snprintf(
        title, sizeof title,
        "Table 5. Random dense problems, m = n. %s. Update: milliseconds an iteration, by the CPU's clock with the "
        "GPU idle before and after; total: seconds. ~: estimated from the first iterations%s",
        PAPER_HARDWARE, s->p.quick ? "; a twentieth of the paper's sizes" : "; the CPU in some sizes, PFI up to 1000");
    snprintf(columns, sizeof columns,
             "m|technique|paper iterations|iterations|paper update|CPU update|CPU:%d update|GPU update|"
             "paper total|CPU total|CPU:%d total|GPU total",
             s->p.threads, s->p.threads);
    table_start(&t, &s->p, "paper2_table5", title, columns);
    for (k = 0; k < SIZES; k++)
        for (way = 0; way < WAYS; way++) {
            table_text(&t, "%d", (int)size_of(s, k));
            table_text(&t, "%s", way_name[way]);
            table_count(&t, way == DEFERRED ? 0 : table5[k].iterations);
            table_count(&t, all->iterations[k]);
            table_number(&t, way == DEFERRED ? NAN : 1e3 * table5[k].update[way]);
            for (machine = 0; machine < MACHINES; machine++) table_number(&t, 1e3 * all->cell[k][way][machine].update);
            table_number(&t, way == DEFERRED ? NAN : table5[k].total[way]);
            for (machine = 0; machine < MACHINES; machine++)
                table_estimate(&t, all->cell[k][way][machine].total, all->cell[k][way][machine].estimate);
        }
    table_end(&t);
}

/* By how many percent `slow` takes longer. */
static double speedup(double slow, double fast) { return 100 * (slow / fast - 1); }

static double value_of(const results *all, int k, int way, int machine, int total) {
    const cell *c = &all->cell[k][way][machine];
    return total ? c->total : c->update;
}

static void print_figure9(const study *s, const results *all, int total) {
    static const char *const who[] = {"paper", "CPU", "GPU"};
    char columns[2 * NAME] = "m", title[NAME];
    size_t length = 1;
    int k, way, w;
    table t;
    for (w = 0; w < 3; w++)
        for (way = 1; way < (w ? WAYS : PAPERS); way++)
            length += (size_t)snprintf(columns + length, sizeof columns - length, "|%s %s", who[w], way_name[way]);
    snprintf(title, sizeof title, "Figure 9%c. Speed-up over PFI, percent: %s", total ? 'b' : 'a',
             total ? "total time" : "update");
    table_start(&t, &s->p, total ? "paper2_fig9b" : "paper2_fig9a", title, columns);
    for (k = 0; k < SIZES; k++) {
        const paper_random *p = &table5[k];
        table_text(&t, "%d", (int)size_of(s, k));
        for (way = 1; way < PAPERS; way++)
            table_number(&t, total ? speedup(p->total[PFI], p->total[way]) : speedup(p->update[PFI], p->update[way]));
        for (w = 0; w < 2; w++)
            for (way = 1; way < WAYS; way++)
                table_number(&t, speedup(value_of(all, k, PFI, 2 * w, total), value_of(all, k, way, 2 * w, total)));
    }
    table_end(&t);
}

/* The mean over the sizes from 2000 on that have both. */
static double mean_speedup(const results *all, int way, int machine, int total) {
    double value[SIZES];
    int k, count = 0;
    for (k = 3; k < SIZES; k++) {
        value[count] = speedup(value_of(all, k, way, machine, total), value_of(all, k, PROPOSED, machine, total));
        if (!isnan(value[count])) count++;
    }
    return count ? mean(value, count) : NAN;
}

static void print_table9(const study *s, const results *all) {
    char title[NAME], columns[NAME];
    int way, total, machine;
    table t;
    snprintf(title, sizeof title, "Table 9. Speed-up of PROPOSED, percent, mean over m >= %d. %s", (int)size_of(s, 3),
             PAPER_HARDWARE);
    snprintf(columns, sizeof columns,
             "over|paper update|CPU update|CPU:%d update|GPU update|paper total|CPU total|CPU:%d total|GPU total",
             s->p.threads, s->p.threads);
    table_start(&t, &s->p, "paper2_table9", title, columns);
    for (way = 0; way < WAYS; way++) {
        if (way == PROPOSED) continue;
        table_text(&t, "%s", way_name[way]);
        for (total = 0; total < 2; total++) {
            table_number(&t, way == DEFERRED ? NAN : table9[way][total]);
            for (machine = 0; machine < MACHINES; machine++) table_number(&t, mean_speedup(all, way, machine, total));
        }
    }
    table_end(&t);
}

void print_random(study *s) {
    static results all;
    int k, whole = 0;
    for (k = 0; k < SIZES; k++) run_size(s, &all, k);
    for (k = 0; k < SIZES; k++) whole += all.iterations[k] > 0;
    print_table5(s, &all);
    print_figure9(s, &all, 0);
    print_figure9(s, &all, 1);
    print_table9(s, &all);
    check(s, "all techniques and machines take the same number of iterations", all.runs - whole, all.other_iterations);
    check(s, "all find the same optimum, to 1e-9", all.runs - whole, all.other_objectives);
    check(s, "the optimum of a size has a dual solution that proves it", all.certified, all.bad_certificates);
    check(s, "CLP finds the same optimum, within its tolerances", all.peers, all.bad_peers);
    if (all.peers)
        printf("Mean difference from CLP: %.2g%%; in the paper, from GLPK: 2.02e-15%%\n",
               100 * all.peer_error / all.peers);
}
