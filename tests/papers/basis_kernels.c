/* SPDX-License-Identifier: MIT
 *
 * Updates alone: Tables 4, 6 and 7, Figure 8, and the time of a copy beside.
 */
#include <math.h>
#include <string.h>

#include "tests/bench/basis_job.h"
#include "tests/papers/basis.h"

enum { SAMPLES = 25, SAMPLES_OF_PFI = 5, BLOCKS = 8 };
static const int threads_of_block[BLOCKS] = {32, 64, 128, 256, 384, 512, 672, 1024};

/* One size on the GPU. */
typedef struct kernels {
    double copy;              /* seconds */
    double update[WAYS];      /* seconds, one behind another */
    update_steps steps[WAYS]; /* count 0: there are none */
    double column[BLOCKS];    /* seconds of COLUMN's step 2 by threads of a block */
} kernels;

/* The CPU alone has small sizes. */
static int32_t kernel_size(const study *s, int k) { return s->has_gpu ? size_of(s, k) : table5[k].m / 20; }

/* ---- What is measured ---- */

static void measure_steps(const study *s, job *j, kernels *k, int way) {
    int n, samples = way == PFI ? SAMPLES_OF_PFI : SAMPLES;
    if (!s->has_gpu) return;
    if (steps_time(&s->gpu, j->basis, j->position[0], j->alpha[0], samples, &k->steps[way])) k->steps[way].count = 0;
    for (n = 0; way == COLUMN && n < BLOCKS; n++)
        k->column[n] =
            steps_time_with(&s->gpu, j->basis, j->position[0], j->alpha[0], j->m, threads_of_block[n], SAMPLES);
}

static void measure_size(const study *s, kernels *k, int32_t m, gpuopt_context *context) {
    size_t bytes = sizeof(double) * (size_t)m * (size_t)m;
    job j = job_prepare(context, s->has_gpu, m);
    int way, n;
    memset(k, 0, sizeof *k);
    for (n = 0; n < BLOCKS; n++) k->column[n] = NAN;
    j.from = job_place(&j, NULL, bytes);
    j.to = job_place(&j, NULL, bytes);
    k->copy = 1e-6 * job_measure(job_copy, &j);
    job_drop(&j, j.from);
    job_drop(&j, j.to);
    for (way = 0; way < WAYS; way++) {
        k->update[way] = NAN;
        if (way == PFI && !s->has_gpu && m > 200) continue;
        j.basis = job_create(&j, (int)technique_of[way], 0);
        if (!j.basis) continue;
        k->update[way] = 1e-6 * job_measure(job_update, &j);
        measure_steps(s, &j, k, way);
        gpuopt_basis_destroy(j.basis);
    }
    job_finish(&j);
}

/* ---- Tables ---- */

/* tests/bench/results/basis.md, 2026-11-21, us on an H200: with the block sizes of Table 4, and one element loaded at a
 * time. */
static const double column_before[SIZES] = {89.6, 175, 255, 360, 942, 1142, 1356, 1518, 1712, 1954, 2102, 2353};

static void print_updates(const study *s, const kernels *all) {
    char title[2 * NAME];
    int k, way;
    table t;
    snprintf(
        title, sizeof title,
        "Updates alone, microseconds each, one behind another, on %s. copy: of the matrix; COLUMN before: recorded on "
        "an H200 with the block sizes of Table 4",
        s->has_gpu ? s->gpu.name : "the CPU with one thread");
    table_start(&t, &s->p, "paper2_updates", title,
                "m|copy|PFI|MPFI|COLUMN before|COLUMN|ELEMENT|MODIFIED|PROPOSED|DEFERRED");
    for (k = 0; k < SIZES; k++) {
        table_text(&t, "%d", (int)kernel_size(s, k));
        table_number(&t, 1e6 * all[k].copy);
        for (way = 0; way < WAYS; way++) {
            if (way == COLUMN) table_number(&t, s->p.quick || !s->has_gpu ? NAN : column_before[k]);
            table_number(&t, 1e6 * all[k].update[way]);
        }
    }
    table_end(&t);
}

static void print_blocks(const study *s, const kernels *all) {
    int k, n;
    table t;
    table_start(&t, &s->p, "paper2_fig8",
                "Table 4 and Figure 8. Step 2 of COLUMN, microseconds by threads of a block. The paper's figure has no "
                "numbers; Table 4 has its choice. -: too many registers. " PAPER_HARDWARE,
                "m|paper threads|GPU threads|GPU blocks|32|64|128|256|384|512|672|1024");
    for (k = 0; k < SIZES; k++) {
        const update_steps *steps = &all[k].steps[COLUMN];
        int32_t m = table5[k].m;
        table_text(&t, "%d", (int)kernel_size(s, k));
        table_text(&t, "%d", m <= 3000 ? 128 : m <= 4000 ? 256 : 384);
        table_count(&t, steps->count ? steps->step[steps->count - 1].threads : 0);
        table_count(&t, steps->count ? steps->step[steps->count - 1].blocks : 0);
        for (n = 0; n < BLOCKS; n++) table_number(&t, 1e6 * all[k].column[n]);
    }
    table_end(&t);
}

/* The seconds of a step of the paper: of all operations that belong to it. *occupancy: of the longest. */
static double seconds_of(const paper_step *step, const update_steps *steps, double *occupancy) {
    int k, last = step->last < 0 ? steps->count + step->last : step->last;
    int first = step->first < 0 ? steps->count + step->first : step->first;
    double seconds = 0, most = 0;
    *occupancy = NAN;
    if (!steps->count || last >= steps->count) return NAN;
    for (k = first; k <= last; k++) {
        seconds += steps->step[k].seconds;
        if (steps->step[k].seconds > most) {
            most = steps->step[k].seconds;
            *occupancy = 100 * steps->step[k].occupancy;
        }
    }
    return seconds;
}

static void print_table6(const study *s, const kernels *all) {
    int k, n;
    table t;
    table_start(&t, &s->p, "paper2_table6",
                "Table 6. Steps, microseconds each, mean over the sizes. " PAPER_HARDWARE
                ". GPU: each step alone, 25 times (PFI: 5) in one launch. The CPU has no steps",
                "technique|step|what|complexity|paper|GPU|paper share|GPU share");
    for (n = 0; n < STEPS; n++) {
        const paper_step *step = &steps_of_paper[n];
        double value[SIZES], occupancy, of_all = 0, of_paper = 0;
        int other, size;
        for (k = 0; k < SIZES; k++) value[k] = seconds_of(step, &all[k].steps[step->way], &occupancy);
        for (other = 0; other < STEPS; other++) {
            if (steps_of_paper[other].way != step->way) continue;
            of_paper += steps_of_paper[other].seconds;
            for (size = 0; size < SIZES; size++)
                of_all += seconds_of(&steps_of_paper[other], &all[size].steps[step->way], &occupancy) / SIZES;
        }
        table_text(&t, "%s", way_name[step->way]);
        table_text(&t, "%d", step->number);
        table_text(&t, "%s", step->what);
        table_text(&t, "%s", step->complexity);
        table_number(&t, 1e6 * step->seconds);
        table_number(&t, 1e6 * mean(value, SIZES));
        table_number(&t, 100 * step->seconds / of_paper);
        table_number(&t, 100 * mean(value, SIZES) / of_all);
    }
    table_end(&t);
}

static void print_table7(const study *s, const kernels *all) {
    const kernels *largest = &all[SIZES - 1];
    const double m = kernel_size(s, SIZES - 1);
    char title[2 * NAME];
    int n;
    table t;
    snprintf(title, sizeof title,
             "Table 7. Use of the GPU by a step, m = %.0f; the paper's are means over the sizes. %s. Activity and "
             "instructions are a profiler's; here: the share of a copy's speed, and GFLOP/s",
             m, PAPER_HARDWARE);
    table_start(&t, &s->p, "paper2_table7", title,
                "technique|step|what|paper occupancy %|paper activity %|paper instructions|paper FLOP %|"
                "GPU occupancy %|GPU GB/s|GPU % of copy|GPU GFLOP/s");
    for (n = 0; n < STEPS; n++) {
        const paper_step *step = &steps_of_paper[n];
        double occupancy, seconds = seconds_of(step, &largest->steps[step->way], &occupancy);
        double bytes = step->moved ? 8 * m * m * step->moved : NAN;
        double operations = step->number == 3 && step->way == PFI ? 2 * m * m * m : m * m * step->computed;
        table_text(&t, "%s", way_name[step->way]);
        table_text(&t, "%d", step->number);
        table_text(&t, "%s", step->what);
        table_number(&t, step->occupancy);
        table_number(&t, step->activity);
        table_number(&t, step->warp);
        table_number(&t, step->flops);
        table_number(&t, occupancy);
        table_number(&t, 1e-9 * bytes / seconds);
        table_number(&t, 100 * bytes / (16 * m * m) * largest->copy / seconds);
        table_number(&t, operations > 0 ? 1e-9 * operations / seconds : NAN);
    }
    table_end(&t);
}

void print_kernels(study *s) {
    static kernels all[SIZES];
    gpuopt_context *context = context_of(s, s->has_gpu ? 2 : 0);
    int k, n, missing = 0;
    for (k = 0; k < SIZES; k++) measure_size(s, &all[k], kernel_size(s, k), context);
    print_updates(s, all);
    print_blocks(s, all);
    print_table6(s, all);
    print_table7(s, all);
    for (k = 0; k < SIZES; k++)
        for (n = 0; n < WAYS; n++) missing += all[k].steps[n].count == 0;
    if (s->has_gpu && missing) printf("%d updates on the GPU could not be taken apart\n", missing);
}
