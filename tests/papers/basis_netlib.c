/* SPDX-License-Identifier: MIT
 *
 * Public models: Tables 3, 8 and 10, Figure 10; and small models whose optima are known.
 */
#include <math.h>
#include <string.h>

#include "tests/papers/basis.h"

typedef struct cell {
    revised_result r;
    double update, total; /* seconds: of an iteration; of the whole, or of an iteration times the paper's iterations */
    int estimate;
} cell;

/* file NULL: generated, or not at hand. paper NULL: a small model, to be solved to the optimum. */
typedef struct source {
    const char *name, *file;
    double optimum;
    const paper_netlib *paper;
} source;
enum { SMALL = 11, SOURCES = MODELS + SMALL };
static const source sources[SOURCES] = {{"fit2p", NULL, NAN, &table8[0]},
                                        {"maros-r7", "netlib/maros-r7.mps", 1497185.166479644, &table8[1]},
                                        {"qap12", "netlib/qap12.mps", 522.8943505590605, &table8[2]},
                                        {"dfl001", "netlib/dfl001.mps", 11266396.04667139, &table8[3]},
                                        {"qap15", NULL, NAN, &table8[4]},
                                        {"stocfor3", "netlib/stocfor3.mps", -39976.78394364959, &table8[5]},
                                        {"plant:60:120:0.3:1", NULL, NAN, NULL}, /* the generator knows the optimum */
                                        {"plant:90:60:0.2:2", NULL, NAN, NULL},
                                        {"plant:120:200:0.1:3", NULL, NAN, NULL},
                                        {"afiro", "netlib/afiro.mps", -464.7531428571428, NULL},
                                        {"kb2", "netlib/kb2.mps", -1749.900129906206, NULL},
                                        {"adlittle", "netlib/adlittle.mps", 225494.9631623803, NULL},
                                        {"share2b", "netlib/share2b.mps", -415.7322407414194, NULL},
                                        {"brandy", "netlib/brandy.mps", 1518.509896488128, NULL},
                                        {"israel", "netlib/israel.mps", -896644.8218630457, NULL},
                                        {"e226", "netlib/e226.mps", -11.6389290663706, NULL},
                                        {"scfxm1", "netlib/scfxm1.mps", 18416.75902834895, NULL}};

typedef struct results {
    int rows[SOURCES], cols[SOURCES], entries[SOURCES]; /* 0: not at hand */
    int64_t iterations[SOURCES];                        /* of the first whole run; 0: none */
    cell cell[SOURCES][WAYS][MACHINES];
    int solved, wrong;
    double error; /* the largest relative one */
} results;

/* The tables have the paper's models, with --quick the small ones. */
static int is_row(const study *s, int k) { return (sources[k].paper == NULL) == s->p.quick; }

/* ---- What is run ---- */

/* Seconds after which a run is stopped; 0: it is left out. */
static double limit_of(const study *s, const source *of, int32_t m, int way, int machine) {
    if (!context_of(s, machine)) return 0;
    if (!of->paper) return machine == 1 ? .05 : way == PFI && machine == 0 && m > 120 ? 0 : 20;
    if (way == PFI) return 0; /* the paper leaves it out, too */
    if (machine == 2) return m < 3150 ? 6 : 1.2;
    return m > 7000 || (m > 4000 && way != PROPOSED && way != DEFERRED) ? 0 : .3;
}

static revised_result solve(const study *s, const mip *model, int way, int machine, double limit) {
    revised_task task = {0};
    task.model = model;
    task.context = context_of(s, machine);
    task.threads = threads_of(s, machine);
    task.technique = technique_of[way];
    task.limit = limit;
    return revised_solve(&task, NULL, NULL);
}

static void compare(results *all, const char *name, const revised_result *r, double optimum) {
    double error = fabs(r->objective - optimum) / fmax(1, fabs(optimum));
    all->solved++;
    if (error > all->error) all->error = error;
    if (error < 1e-6) return;
    all->wrong++;
    printf("%s: %.10g is no optimum; that is %.10g\n", name, r->objective, optimum);
}

static int read_model(const study *s, const source *of, mip *model) {
    char path[4096], error[NAME];
    int bad;
    if (!of->file) {
        bad = of->paper ? -1 : mip_generate_lp(of->name, model, error, sizeof error);
    } else {
        if (!s->p.data) {
            printf("%s is left out: there is no folder of public models\n", of->name);
            return -1;
        }
        snprintf(path, sizeof path, "%s/%s.xz", s->p.data, of->file);
        bad = mip_read_mps(path, model, error, sizeof error);
        if (bad) printf("%s is left out: %s\n", of->name, error);
    }
    if (!bad && mip_columns(model)) {
        mip_free(model);
        bad = -1;
    }
    return bad;
}

static void run_cell(study *s, results *all, int k, int way, int machine, const mip *model) {
    const source *of = &sources[k];
    cell *c = &all->cell[k][way][machine];
    const double limit = limit_of(s, of, model->columns.rows, way, machine);
    int64_t iterations;
    if (limit == 0) return;
    c->r = solve(s, model, way, machine, limit);
    if (c->r.status == REVISED_OPTIMAL) {
        compare(all, of->name, &c->r, model->optimum_known ? model->optimum : of->optimum);
        if (!all->iterations[k]) all->iterations[k] = c->r.iterations;
    } else if (c->r.status == REVISED_FAILED || (c->r.status != REVISED_UNSUPPORTED && !of->paper && machine != 1)) {
        printf("%s: %s: %s\n", of->name, way_name[way], revised_word(c->r.status));
        s->failed++;
    }
    if (!c->r.updates) return;
    iterations = of->paper ? of->paper->iterations[way == DEFERRED ? PROPOSED : way] : all->iterations[k];
    c->update = c->r.per_update;
    c->estimate = c->r.status != REVISED_OPTIMAL;
    c->total = c->r.seconds;
    if (c->estimate) c->total = iterations > 0 ? c->r.per_iteration * (double)iterations : NAN;
}

static void run_model(study *s, results *all, int k) {
    mip model;
    int way, machine;
    if ((s->p.quick && sources[k].paper) || read_model(s, &sources[k], &model)) return;
    all->rows[k] = model.columns.rows;
    all->cols[k] = model.columns.rows + model.columns.cols;
    all->entries[k] = (int)model.columns.start[model.columns.cols];
    for (machine = 0; machine < MACHINES; machine++)
        for (way = 0; way < WAYS; way++) run_cell(s, all, k, way, machine, &model);
    mip_free(&model);
}

/* ---- Tables ---- */

/* The paper's number of a technique, NaN: it has none. */
static double of_paper(const double *number, int way) { return number && way < PAPERS ? number[way] : NAN; }

static void print_table3(const study *s, const results *all) {
    int k;
    table t;
    table_start(&t, &s->p, "paper2_table3", "Table 3. Problems: rows, and columns with those of the rows",
                "model|paper m|paper n|paper size|m|n|size|entries");
    for (k = 0; k < SOURCES; k++) {
        const paper_netlib *p = sources[k].paper;
        if (!is_row(s, k)) continue;
        table_text(&t, "%s", sources[k].name);
        table_count(&t, p ? p->m : 0);
        table_count(&t, p ? p->n : 0);
        table_count(&t, p ? (int64_t)p->m * p->n : 0);
        table_count(&t, all->rows[k]);
        table_count(&t, all->cols[k]);
        table_count(&t, (int64_t)all->rows[k] * all->cols[k]);
        table_count(&t, all->entries[k]);
    }
    table_end(&t);
}

static void print_table8(const study *s, const results *all) {
    char title[2 * NAME], columns[NAME];
    int k, way, machine;
    table t;
    snprintf(title, sizeof title,
             "Table 8. Public problems. %s, with GLPK's simplex method; here that of tests/papers/revised.c. Update: "
             "milliseconds; total: seconds; ~: an iteration's seconds, in the first ones, times %s iterations",
             PAPER_HARDWARE, s->p.quick ? "the whole's" : "the paper's");
    snprintf(columns, sizeof columns,
             "model|technique|paper iterations|iterations|status|paper update|CPU update|CPU:%d update|GPU update|"
             "paper total|CPU total|CPU:%d total|GPU total",
             s->p.threads, s->p.threads);
    table_start(&t, &s->p, "paper2_table8", title, columns);
    for (k = 0; k < SOURCES; k++)
        for (way = PFI + 1; is_row(s, k) && way < WAYS; way++) {
            const paper_netlib *p = sources[k].paper;
            const cell *c = all->cell[k][way], *best = &c[s->has_gpu ? 2 : 0];
            table_text(&t, "%s", sources[k].name);
            table_text(&t, "%s", way_name[way]);
            table_count(&t, p && way < PAPERS ? p->iterations[way] : 0);
            table_count(&t, best->r.iterations);
            table_text(&t, "%s", best->r.updates ? revised_word(best->r.status) : "-");
            table_number(&t, 1e3 * of_paper(p ? p->update : NULL, way));
            for (machine = 0; machine < MACHINES; machine++) table_number(&t, 1e3 * c[machine].update);
            table_number(&t, of_paper(p ? p->total : NULL, way));
            for (machine = 0; machine < MACHINES; machine++) table_estimate(&t, c[machine].total, c[machine].estimate);
        }
    table_end(&t);
}

static void print_figure10(const study *s, const results *all) {
    int k, way, machine = s->has_gpu ? 2 : 0;
    table t;
    table_start(&t, &s->p, "paper2_fig10",
                s->has_gpu ? "Figure 10. Times, PROPOSED = 1, on the GPU"
                           : "Figure 10. Times, PROPOSED = 1, on the CPU",
                "model|technique|paper update|update|paper total|total");
    for (k = 0; k < SOURCES; k++)
        for (way = PFI + 1; is_row(s, k) && way < WAYS; way++) {
            const paper_netlib *p = sources[k].paper;
            const cell *c = &all->cell[k][way][machine], *one = &all->cell[k][PROPOSED][machine];
            table_text(&t, "%s", sources[k].name);
            table_text(&t, "%s", way_name[way]);
            table_number(&t, p ? of_paper(p->update, way) / p->update[PROPOSED] : NAN);
            table_number(&t, c->update / one->update);
            table_number(&t, p ? of_paper(p->total, way) / p->total[PROPOSED] : NAN);
            table_number(&t, c->total / one->total);
        }
    table_end(&t);
}

/* Of totals by the iteration, since the numbers of iterations differ. */
static double mean_speedup(const study *s, const results *all, int way, int machine, int total) {
    double value[SOURCES];
    int k, count = 0;
    for (k = 0; k < SOURCES; k++) {
        const cell *slow = &all->cell[k][way][machine], *fast = &all->cell[k][PROPOSED][machine];
        if (!is_row(s, k) || isnan(slow->update) || isnan(fast->update)) continue;
        value[count++] = total ? slow->r.per_iteration / fast->r.per_iteration : slow->update / fast->update;
    }
    return count ? 100 * (mean(value, count) - 1) : NAN;
}

static void print_table10(const study *s, const results *all) {
    char columns[NAME];
    int way, total, machine;
    table t;
    snprintf(columns, sizeof columns,
             "over|paper update|CPU update|CPU:%d update|GPU update|paper total|CPU total|CPU:%d total|GPU total",
             s->p.threads, s->p.threads);
    table_start(
        &t, &s->p, "paper2_table10",
        "Table 10. Speed-up of PROPOSED on public problems, percent, mean; totals by the iteration. " PAPER_HARDWARE,
        columns);
    for (way = PFI + 1; way < WAYS; way++) {
        if (way == PROPOSED) continue;
        table_text(&t, "%s", way_name[way]);
        for (total = 0; total < 2; total++) {
            table_number(&t, way == DEFERRED ? NAN : table10[way][total]);
            for (machine = 0; machine < MACHINES; machine++)
                table_number(&t, mean_speedup(s, all, way, machine, total));
        }
    }
    table_end(&t);
}

void print_netlib(study *s) {
    static results all;
    int k, way, machine;
    for (k = 0; k < SOURCES; k++)
        for (way = 0; way < WAYS; way++)
            for (machine = 0; machine < MACHINES; machine++)
                all.cell[k][way][machine].update = all.cell[k][way][machine].total = NAN;
    puts("");
    for (k = 0; k < SOURCES; k++) run_model(s, &all, k);
    print_table3(s, &all);
    print_table8(s, &all);
    print_figure10(s, &all);
    print_table10(s, &all);
    check(s, "published and planted optima are found, to 1e-6", all.solved, all.wrong);
    if (all.solved) printf("Largest relative error: %.2g; in the paper, on average: 3e-10 to 4e-9\n", all.error);
}
