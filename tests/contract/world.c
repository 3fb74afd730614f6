/* SPDX-License-Identifier: MIT */
#include "tests/contract/world.h"

#include <string.h>

#define OK(call) assert_int_equal(call, GPUOPT_OK)

/* ---- A group of one rank ---- */

static gpuopt_status alone_gather(void *user, double seconds, gpuopt_memory_space where, const void *send,
                                  uint64_t bytes, void *receive) {
    (void)user, (void)seconds, (void)where;
    memcpy(receive, send, (size_t)bytes);
    return GPUOPT_OK;
}

static gpuopt_status alone_broadcast(void *user, double seconds, gpuopt_memory_space where, int32_t root, void *data,
                                     uint64_t bytes) {
    (void)user, (void)seconds, (void)where, (void)root, (void)data, (void)bytes;
    return GPUOPT_OK;
}

static gpuopt_status alone_send(void *user, double seconds, gpuopt_memory_space where, int32_t to, const void *data,
                                uint64_t bytes) {
    (void)user, (void)seconds, (void)where, (void)to, (void)data, (void)bytes;
    return GPUOPT_ERROR_PEER;
}

static gpuopt_status alone_receive(void *user, double seconds, gpuopt_memory_space where, int32_t from, void *data,
                                   uint64_t bytes) {
    (void)user, (void)seconds, (void)where, (void)from, (void)data, (void)bytes;
    return GPUOPT_ERROR_PEER;
}

static void alone_abort(void *user) { (void)user; }

/* ---- Problems ---- */

static const double program_value[4] = {1, 2, 3, 1}, program_cost[2] = {-1, -1}, program_rhs[2] = {4, 6};
const gpuopt_simplex_programs world_program = {.struct_size = sizeof(gpuopt_simplex_programs),
                                               .count = 1,
                                               .value = program_value,
                                               .cost = program_cost,
                                               .rhs = program_rhs};

static const int64_t item_weight[3] = {3, 4, 5}, item_profit[3] = {4, 5, 6}, item_capacity[1] = {8};
const gpuopt_knapsack_problems world_problem = {.struct_size = sizeof(gpuopt_knapsack_problems),
                                                .count = 1,
                                                .weight = item_weight,
                                                .profit = item_profit,
                                                .capacity = item_capacity};

static const int64_t basis_start[4] = {0, 1, 2, 3};
static const int32_t basis_index[3] = {0, 1, 2};
static const double basis_value[3] = {2, 4, 8};
const gpuopt_matrix world_basis = {3, 3, basis_start, basis_index, basis_value, GPUOPT_LAYOUT_CSC};

static world_descs world_describe(void) {
    static const uint8_t integer[8] = {1};
    static const int64_t class_begin[3] = {0, 2, 3};
    world_descs d;
    memset(&d, 0, sizeof d);
    d.propagator = GPUOPT_INIT(gpuopt_propagator_desc);
    families[PROPAGATOR].fill(&d.propagator, GPUOPT_LAYOUT_CSR, 0);
    d.propagator.integer = integer; /* column 0 is a binary */
    d.propagator.marking = GPUOPT_ON;
    d.propagator.trail_capacity = 64;
    d.nodes = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    d.nodes.nodes = 2;
    d.probe = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    d.probe.implications = d.probe.equivalences = 100;
    d.basis = GPUOPT_INIT(gpuopt_basis_desc);
    d.basis.m = 3;
    d.simplex = GPUOPT_INIT(gpuopt_simplex_desc);
    families[SIMPLEX].fill(&d.simplex, GPUOPT_LAYOUT_CSC, 0);
    d.root = d.simplex;
    d.root.algorithm = GPUOPT_ALGORITHM_DUAL;
    d.root.method = GPUOPT_METHOD_REVISED; /* required for children on a GPU */
    d.children = GPUOPT_INIT(gpuopt_simplex_children_desc);
    d.children.batch_size = 2;
    d.children.roots = 1;
    d.programs = GPUOPT_INIT(gpuopt_simplex_batch_desc);
    d.programs.batch_size = 1, d.programs.rows = d.programs.cols = 2;
    d.elimination = GPUOPT_INIT(gpuopt_elimination_desc);
    families[ELIMINATION].fill(&d.elimination, GPUOPT_LAYOUT_CSR, 0);
    d.relaxed = d.elimination;
    d.relaxed.policy = GPUOPT_POLICY_MINI_BUCKET;
    d.relaxed.z = 2;
    d.knapsack = GPUOPT_INIT(gpuopt_knapsack_desc);
    families[KNAPSACK].fill(&d.knapsack, GPUOPT_LAYOUT_CSR, 0);
    d.knapsacks = GPUOPT_INIT(gpuopt_knapsack_batch_desc);
    d.knapsacks.items = 3, d.knapsacks.count = 1;
    d.multidimensional = GPUOPT_INIT(gpuopt_knapsack_multidimensional_desc);
    d.multidimensional.items = 3, d.multidimensional.rows = 1;
    d.multidimensional.weight = item_weight, d.multidimensional.profit = item_profit;
    d.multidimensional.capacity = item_capacity;
    d.multidimensional.workers = 4;
    d.multiple_choice = GPUOPT_INIT(gpuopt_knapsack_multiple_choice_desc);
    d.multiple_choice.classes = 2, d.multiple_choice.begin = class_begin;
    d.multiple_choice.weight = item_weight, d.multiple_choice.profit = item_profit;
    d.multiple_choice.capacity = 8;
    d.transport = GPUOPT_INIT(gpuopt_transport);
    d.transport.count = 1;
    d.transport.all_gather = alone_gather, d.transport.broadcast = alone_broadcast;
    d.transport.send = alone_send, d.transport.receive = alone_receive, d.transport.abort = alone_abort;
    d.group = GPUOPT_INIT(gpuopt_group_desc);
    return d;
}

/* ---- Handles ---- */

void world_open(world *w, gpuopt_context *context) {
    world_descs *d = &w->desc;
    memset(w, 0, sizeof *w);
    w->context = context;
    *d = world_describe();
    OK(gpuopt_propagator_create(context, &d->propagator, NULL, &w->propagator));
    OK(gpuopt_propagator_push(w->propagator, NULL));
    OK(gpuopt_propagator_round(w->propagator, 2, NULL));
    OK(gpuopt_propagator_batch_create(w->propagator, &d->nodes, NULL, &w->nodes));
    OK(gpuopt_propagator_probe_create(w->propagator, &d->probe, NULL, &w->probe));
    OK(gpuopt_propagator_probe_run(w->probe, 0, NULL, 10, NULL));
    OK(gpuopt_basis_create(context, &d->basis, NULL, &w->basis));
    OK(gpuopt_basis_load(w->basis, &world_basis));
    OK(gpuopt_simplex_create(context, &d->simplex, NULL, &w->simplex));
    OK(gpuopt_simplex_create(context, &d->root, NULL, &w->root));
    OK(gpuopt_simplex_iterate(w->root, 1000, NULL));
    OK(gpuopt_simplex_children_create(w->root, &d->children, NULL, &w->children));
    OK(gpuopt_simplex_batch_create(context, &d->programs, NULL, &w->programs));
    OK(gpuopt_simplex_batch_load(w->programs, GPUOPT_HOST, &world_program));
    OK(gpuopt_elimination_create(context, &d->elimination, NULL, &w->elimination));
    OK(gpuopt_elimination_step(w->elimination, 100, NULL));
    OK(gpuopt_elimination_message_pack(w->elimination, GPUOPT_HOST, 0, 0, w->message, sizeof w->message,
                                       &w->message_size));
    OK(gpuopt_elimination_shift_costs(context, &d->relaxed, 1, &w->shifted));
    OK(gpuopt_elimination_preprocess(context, &d->elimination, 0, 0, &w->reduced));
    OK(gpuopt_knapsack_create(context, &d->knapsack, NULL, &w->knapsack));
    OK(gpuopt_knapsack_batch_create(context, &d->knapsacks, NULL, &w->knapsacks));
    OK(gpuopt_knapsack_multidimensional_create(context, &d->multidimensional, NULL, &w->multidimensional));
    OK(gpuopt_knapsack_multiple_choice_create(context, &d->multiple_choice, NULL, &w->multiple_choice));
    OK(gpuopt_group_create(context, &d->transport, &d->group, &w->group));
}

void world_close(world *w) {
    gpuopt_group_destroy(w->group);
    gpuopt_knapsack_multiple_choice_destroy(w->multiple_choice);
    gpuopt_knapsack_multidimensional_destroy(w->multidimensional);
    gpuopt_knapsack_batch_destroy(w->knapsacks);
    gpuopt_knapsack_destroy(w->knapsack);
    gpuopt_elimination_preprocessing_destroy(w->reduced);
    gpuopt_elimination_cost_shifting_destroy(w->shifted);
    gpuopt_elimination_destroy(w->elimination);
    gpuopt_simplex_batch_destroy(w->programs);
    gpuopt_simplex_children_destroy(w->children);
    gpuopt_simplex_destroy(w->root);
    gpuopt_simplex_destroy(w->simplex);
    gpuopt_basis_destroy(w->basis);
    gpuopt_propagator_probe_destroy(w->probe);
    gpuopt_propagator_batch_destroy(w->nodes);
    gpuopt_propagator_destroy(w->propagator);
}
