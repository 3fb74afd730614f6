/* SPDX-License-Identifier: MIT */
#include "tests/group/nodes.h"

#include <stdlib.h>

gpuopt_propagator_batch_desc nodes_desc(const rank *r) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    desc.nodes = w->most;
    desc.changes = w->changes;
    desc.group = r->group;
    return desc;
}

void nodes_make(rank *r, gpuopt_propagator **base, gpuopt_propagator_batch **batch) {
    const nodes_work *w = r->all->data;
    gpuopt_propagator_batch_desc desc = nodes_desc(r);
    *base = NULL, *batch = NULL;
    EXPECT(r, gpuopt_propagator_create(r->context, w->desc, NULL, base) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_round(*base, 100, NULL) == GPUOPT_OK);
    EXPECT(r, gpuopt_propagator_batch_create(*base, &desc, NULL, batch) == GPUOPT_OK);
}

gpuopt_propagator_node_report nodes_report(rank *r) {
    const nodes_work *w = r->all->data;
    node_results *found = &w->found[r->number];
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    report.outcome = found->outcome;
    report.rounds = found->rounds;
    report.infeasible_row = found->row;
    report.infeasible_col = found->col;
    report.changed = found->changed;
    report.columns = found->columns;
    report.nonzeros = found->nonzeros;
    report.rank = w->ran_by[r->number];
    return report;
}

nodes_work *nodes_work_new(const gpuopt_propagator_desc *desc, node_list *list) {
    nodes_work *w = calloc(1, sizeof *w);
    w->desc = desc;
    w->list = list;
    w->most = 60;
    w->changes = 60 * 40;
    w->rounds = 100;
    w->found = calloc(MAX_RANKS, sizeof *w->found);
    w->ran_by = calloc(MAX_RANKS, sizeof *w->ran_by);
    return w;
}

void nodes_work_free(nodes_work *w) {
    free(w->found), free(w->ran_by);
    free(w);
}

mip nodes_draw(uint64_t *seed, node_list *list, int32_t nodes) {
    static const model_shape shape = {30, 40, 12, 0};
    mip m = model_draw(&shape, seed);
    gpuopt_propagator_desc desc = mip_propagator_desc(&m);
    gpuopt_context *cpu = test_plain_context();
    double lb[40], ub[40];
    problem_run(cpu, &desc, 100, lb, ub);
    draw_nodes(list, nodes, 0, GIVEN, m.matrix.cols, lb, ub, seed);
    gpuopt_context_destroy(cpu);
    return m;
}
