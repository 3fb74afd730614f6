/* SPDX-License-Identifier: MIT */
#include "tests/papers/knapsack_study.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void instance_open(instance *of, const char *format, ...) {
    va_list values;
    double start;
    va_start(values, format);
    vsnprintf(of->name, sizeof of->name, format, values);
    va_end(values);
    if (search_load(of->name, &of->model)) exit(EXIT_FAILED);
    start = now();
    of->optimum = knapsack_by_programme(&of->model);
    of->programme_seconds = now() - start;
    if (of->optimum >= 0) return;
    fprintf(stderr, "%s: no memory\n", of->name);
    exit(EXIT_FAILED);
}

void instance_close(instance *of) { knapsack_free(&of->model); }

void check_case(check *of, int holds, const char *name, const char *text) {
    of->cases++;
    if (holds) return;
    of->wrong++;
    fprintf(stderr, "%s: %s\n", name, text);
}

gpuopt_knapsack_desc tree_options(const study *s) {
    gpuopt_knapsack_desc options = GPUOPT_INIT(gpuopt_knapsack_desc);
    options.search = GPUOPT_SEARCH_BREADTH;
    options.pool = s->pool;
    options.node_limit = s->limit;
    return options;
}

void search_one(study *s, const machine *on, const instance *of, const gpuopt_knapsack_desc *options,
                const step_hook *hook, double *seconds, gpuopt_knapsack_info *info) {
    gpuopt_knapsack_desc desc = *options;
    search_result r;
    *seconds = NAN;
    if (!on) return;
    desc.items = of->model.items;
    desc.weight = of->model.weight;
    desc.profit = of->model.profit;
    desc.capacity = of->model.capacity;
    if (search_run(on, of->name, &of->model, &desc, 1e9, hook, &r)) exit(EXIT_FAILED);
    *seconds = r.seconds - r.items_seconds;
    *info = r.info;
    if (r.info.outcome == GPUOPT_OPTIMAL)
        check_case(&s->optima, r.info.primal_bound == of->optimum, of->name, "another optimum");
    else
        check_case(&s->bounds,
                   r.info.outcome == GPUOPT_LIMIT && r.info.primal_bound <= of->optimum &&
                       of->optimum <= r.info.dual_bound,
                   of->name, "the optimum is not within the bounds");
}

void search_all(study *s, const instance *of, const gpuopt_knapsack_desc *options, const step_hook *hook,
                double seconds[WAYS], gpuopt_knapsack_info *info) {
    const paper *p = &s->paper;
    const machine *const on[WAYS] = {p->one, p->all, p->gpu, p->gpu};
    gpuopt_knapsack_desc desc = *options;
    gpuopt_knapsack_info other;
    int way;
    for (way = 0; way < WAYS; way++) {
        desc.search = way == GPU_HYBRID ? GPUOPT_SEARCH_HYBRID : GPUOPT_SEARCH_BREADTH;
        search_one(s, on[way], of, &desc, hook ? &hook[way] : NULL, &seconds[way], way ? &other : info);
        if (way == 0 || !on[way]) continue;
        check_case(&s->counts,
                   other.outcome == info->outcome && other.expanded == info->expanded && other.pruned == info->pruned &&
                       other.steps == info->steps && other.peak == info->peak &&
                       other.primal_bound == info->primal_bound && other.dual_bound == info->dual_bound,
                   of->name, "other counts or bounds on another machine");
    }
}
