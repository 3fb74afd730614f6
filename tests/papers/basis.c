/* SPDX-License-Identifier: MIT
 *
 * Paper 2: basis updates. See basis.h; tests/papers/run.sh describes the options.
 */
#include "tests/papers/basis.h"

#include <math.h>

const gpuopt_basis_technique technique_of[WAYS] = {GPUOPT_TECHNIQUE_PFI,
                                                   GPUOPT_TECHNIQUE_MPFI,
                                                   GPUOPT_TECHNIQUE_COLUMN,
                                                   GPUOPT_TECHNIQUE_ELEMENT,
                                                   GPUOPT_TECHNIQUE_ELEMENT_MODIFIED,
                                                   GPUOPT_TECHNIQUE_ELEMENT_PROPOSED,
                                                   GPUOPT_TECHNIQUE_DEFERRED};
const char *const way_name[WAYS] = {"PFI", "MPFI", "COLUMN", "ELEMENT", "MODIFIED", "PROPOSED", "DEFERRED"};

void check(study *s, const char *what, int cases, int bad) {
    if (!bad) printf("check: %s holds (%d cases)\n", what, cases);
    else printf("check: %s FAILS (%d of %d cases)\n", what, bad, cases);
    fflush(stdout);
    s->failed += bad != 0;
}

void table_estimate(table *t, double value, int estimate) {
    if (!estimate || isnan(value)) table_number(t, value);
    else table_text(t, value >= 100 ? "~%.0f" : "~%.3g", value);
}

void table_count(table *t, int64_t value) {
    if (value > 0) table_text(t, "%lld", (long long)value);
    else table_text(t, "-");
}

gpuopt_context *context_of(const study *s, int machine) {
    if (machine == 2) return s->has_gpu ? s->gpu.context : NULL;
    return s->p.machines[machine].context;
}

int threads_of(const study *s, int machine) { return machine == 0 ? 1 : s->p.threads; }

int32_t size_of(const study *s, int k) { return s->p.quick ? table5[k].m / 20 : table5[k].m; }

static double matrices(const study *s, int machine, int way, int32_t m) {
    gpuopt_basis_desc desc = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_context *context = context_of(s, machine);
    desc.m = m;
    desc.technique = technique_of[way];
    if (!context || gpuopt_basis_create(context, &desc, &plan, NULL)) return NAN;
    return (double)(machine == 2 ? plan.device_bytes : plan.host_bytes) / 8 / m / m;
}

void print_memory(study *s) {
    static const double of_paper[WAYS] = {3, 2, 1, 2, 1, 1, NAN};
    const int32_t m = size_of(s, SIZES - 1);
    char title[NAME];
    table t;
    int way;
    snprintf(title, sizeof title, "Table 2. Memory in m x m matrices of doubles, vectors included, m = %d", (int)m);
    table_start(&t, &s->p, "paper2_table2", title, "technique|paper|CPU|GPU");
    for (way = 0; way < WAYS; way++) {
        table_text(&t, "%s", way_name[way]);
        table_number(&t, of_paper[way]);
        table_number(&t, matrices(s, 0, way, m));
        table_number(&t, matrices(s, 2, way, m));
    }
    table_end(&t);
}

int main(int argc, char **argv) {
    static study s;
    double begin, random, kernels;
    int result = paper_open(&s.p, argc, argv);
    if (result) return result;
    s.has_gpu = s.p.gpu && own_gpu_open(&s.gpu) == 0;
    print_memory(&s);
    begin = now();
    print_random(&s);
    random = now();
    print_kernels(&s);
    kernels = now();
    print_netlib(&s);
    printf("\nSeconds: random problems %.0f, updates alone %.0f, public problems %.0f\n", random - begin,
           kernels - random, now() - kernels);
    if (s.has_gpu) own_gpu_close(&s.gpu);
    paper_close(&s.p);
    if (s.failed) fprintf(stderr, "%s: %d checks fail\n", s.p.name, s.failed);
    return finish_output(s.failed ? EXIT_FAILED : 0);
}
