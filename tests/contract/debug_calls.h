/* SPDX-License-Identifier: MIT
 *
 * Every public call on a context or a handle, as a table; debug_test.c makes these calls while another call is in
 * progress.
 */
#ifndef TESTS_CONTRACT_DEBUG_CALLS_H
#define TESTS_CONTRACT_DEBUG_CALLS_H

#include "tests/contract/world.h"

/* Every call that takes a context or a handle, except calls that destroy one, without arrays that a refused call does
 * not need. m: handles that it makes. */
#define H GPUOPT_HOST
#define CALLS(X)                                                                                          \
    X(gpuopt_context_wait, c)                                                                             \
    X(gpuopt_propagator_create, c, &d->propagator, NULL, &m->propagator)                                  \
    X(gpuopt_propagator_round, w->propagator, 3, NULL)                                                    \
    X(gpuopt_propagator_get_info, w->propagator, NULL)                                                    \
    X(gpuopt_propagator_get_bounds, w->propagator, H, 0, NULL, NULL, NULL)                                \
    X(gpuopt_propagator_set_bounds, w->propagator, H, 0, NULL, NULL, NULL)                                \
    X(gpuopt_propagator_set_sides, w->propagator, H, 0, NULL, NULL, NULL)                                 \
    X(gpuopt_propagator_get_rows, w->propagator, H, NULL)                                                 \
    X(gpuopt_propagator_device_view, w->propagator, NULL)                                                 \
    X(gpuopt_propagator_push, w->propagator, NULL)                                                        \
    X(gpuopt_propagator_pop, w->propagator, 1)                                                            \
    X(gpuopt_propagator_commit, w->propagator)                                                            \
    X(gpuopt_propagator_get_trail, w->propagator, NULL)                                                   \
    X(gpuopt_propagator_get_changes, w->propagator, H, 0, NULL)                                           \
    X(gpuopt_propagator_explain, w->propagator, 0, NULL)                                                  \
    X(gpuopt_propagator_add_rows, w->propagator, NULL, NULL, NULL, NULL)                                  \
    X(gpuopt_propagator_remove_rows, w->propagator, 0, NULL)                                              \
    X(gpuopt_propagator_clone, w->propagator, c, NULL, &m->propagator)                                    \
    X(gpuopt_propagator_batch_create, w->propagator, &d->nodes, NULL, &m->nodes)                          \
    X(gpuopt_propagator_batch_run, w->nodes, H, NULL, 1, NULL)                                            \
    X(gpuopt_propagator_batch_get_changes, w->nodes, H, NULL)                                             \
    X(gpuopt_propagator_batch_get_bounds, w->nodes, H, 0, NULL, NULL, NULL)                               \
    X(gpuopt_propagator_probe_create, w->propagator, &d->probe, NULL, &m->probe)                          \
    X(gpuopt_propagator_probe_run, w->probe, 0, NULL, 1, NULL)                                            \
    X(gpuopt_propagator_probe_get_bounds, w->probe, NULL)                                                 \
    X(gpuopt_propagator_probe_get_implications, w->probe, NULL)                                           \
    X(gpuopt_propagator_probe_get_equivalences, w->probe, NULL)                                           \
    X(gpuopt_basis_create, c, &d->basis, NULL, &m->basis)                                                 \
    X(gpuopt_basis_load, w->basis, &world_basis)                                                          \
    X(gpuopt_basis_ftran, w->basis, H, 0, NULL, NULL, NULL)                                               \
    X(gpuopt_basis_btran, w->basis, H, 0, NULL, NULL)                                                     \
    X(gpuopt_basis_update, w->basis, H, 0, NULL, NULL)                                                    \
    X(gpuopt_basis_get_info, w->basis, NULL)                                                              \
    X(gpuopt_basis_get_inverse, w->basis, H, NULL)                                                        \
    X(gpuopt_basis_get_drift, w->basis, NULL, 0, NULL)                                                    \
    X(gpuopt_simplex_create, c, &d->simplex, NULL, &m->simplex)                                           \
    X(gpuopt_simplex_iterate, w->simplex, 1000, NULL)                                                     \
    X(gpuopt_simplex_get_info, w->simplex, NULL)                                                          \
    X(gpuopt_simplex_price, w->simplex, NULL)                                                             \
    X(gpuopt_simplex_candidates, w->simplex, 1, NULL, NULL)                                               \
    X(gpuopt_simplex_ratio_test, w->simplex, 0, 1, NULL)                                                  \
    X(gpuopt_simplex_pivot, w->simplex, 0, 3, 1, NULL)                                                    \
    X(gpuopt_simplex_flip, w->simplex, 0, NULL)                                                           \
    X(gpuopt_simplex_rebuild, w->simplex, 1, NULL)                                                        \
    X(gpuopt_simplex_get_basis, w->simplex, H, NULL)                                                      \
    X(gpuopt_simplex_set_basis, w->simplex, H, NULL)                                                      \
    X(gpuopt_simplex_set_bounds, w->simplex, H, 0, NULL, NULL, NULL)                                      \
    X(gpuopt_simplex_set_sides, w->simplex, H, 0, NULL, NULL, NULL)                                       \
    X(gpuopt_simplex_set_costs, w->simplex, H, 0, NULL, NULL)                                             \
    X(gpuopt_simplex_get_solution, w->simplex, H, NULL)                                                   \
    X(gpuopt_simplex_get_proof, w->simplex, H, NULL)                                                      \
    X(gpuopt_simplex_dual_price, w->root, NULL)                                                           \
    X(gpuopt_simplex_dual_ratio_test, w->root, 0, NULL)                                                   \
    X(gpuopt_simplex_dual_pivot, w->root, 0, 0, NULL)                                                     \
    X(gpuopt_simplex_add_rows, w->simplex, NULL, NULL, NULL)                                              \
    X(gpuopt_simplex_remove_rows, w->simplex, 0, NULL)                                                    \
    X(gpuopt_simplex_add_cols, w->simplex, NULL, NULL, NULL, NULL)                                        \
    X(gpuopt_simplex_remove_cols, w->simplex, 0, NULL)                                                    \
    X(gpuopt_simplex_set_cutoff, w->simplex, 0)                                                           \
    X(gpuopt_simplex_get_bound, w->simplex, NULL)                                                         \
    X(gpuopt_simplex_verify_basis, w->simplex, NULL)                                                      \
    X(gpuopt_simplex_get_basic_variables, w->simplex, H, NULL)                                            \
    X(gpuopt_simplex_ftran, w->simplex, H, 0, NULL)                                                       \
    X(gpuopt_simplex_btran, w->simplex, H, 0, NULL)                                                       \
    X(gpuopt_simplex_get_tableau_rows, w->simplex, H, 0, NULL, NULL)                                      \
    X(gpuopt_simplex_children_create, w->root, &d->children, NULL, &m->children)                          \
    X(gpuopt_simplex_children_run, w->children, H, NULL, 1, NULL)                                         \
    X(gpuopt_simplex_children_set_roots, w->children, H, NULL)                                            \
    X(gpuopt_simplex_children_strong_branch, w->children, H, 0, NULL, NULL, NULL, 1, NULL)                \
    X(gpuopt_simplex_batch_create, c, &d->programs, NULL, &m->programs)                                   \
    X(gpuopt_simplex_batch_load, w->programs, H, &world_program)                                          \
    X(gpuopt_simplex_batch_iterate, w->programs, 1, NULL)                                                 \
    X(gpuopt_simplex_batch_get_info, w->programs, NULL)                                                   \
    X(gpuopt_simplex_batch_get, w->programs, H, 0, 0, NULL)                                               \
    X(gpuopt_elimination_order, c, &d->elimination, NULL, NULL, NULL)                                     \
    X(gpuopt_elimination_create, c, &d->elimination, NULL, &m->elimination)                               \
    X(gpuopt_elimination_step, w->elimination, 1, NULL)                                                   \
    X(gpuopt_elimination_get_info, w->elimination, 0, NULL)                                               \
    X(gpuopt_elimination_assign, w->elimination, H, 0, NULL, NULL)                                        \
    X(gpuopt_elimination_set_evidence, w->elimination, H, 0, NULL)                                        \
    X(gpuopt_elimination_get_bounds, w->elimination, H, 0, 0, 0, 0, NULL, NULL, NULL)                     \
    X(gpuopt_elimination_message_get_info, w->elimination, 0, NULL)                                       \
    X(gpuopt_elimination_message_get, w->elimination, H, 0, 0, NULL, NULL, NULL)                          \
    X(gpuopt_elimination_message_device_view, w->elimination, 0, 0, NULL)                                 \
    X(gpuopt_elimination_message_pack, w->elimination, H, 0, 0, NULL, 0, NULL)                            \
    X(gpuopt_elimination_message_inspect, c, H, w->message, w->message_size, NULL)                        \
    X(gpuopt_elimination_message_unpack, c, 0, w->message, w->message_size, NULL, NULL, NULL, NULL, NULL) \
    X(gpuopt_elimination_shift_costs, c, &d->relaxed, 1, &m->shifted)                                     \
    X(gpuopt_elimination_cost_shifting_get_info, w->shifted, NULL)                                        \
    X(gpuopt_elimination_cost_shifting_get_desc, w->shifted, NULL)                                        \
    X(gpuopt_elimination_preprocess, c, &d->elimination, 0, 0, &m->reduced)                               \
    X(gpuopt_elimination_preprocessing_get_info, w->reduced, NULL)                                        \
    X(gpuopt_elimination_preprocessing_get_desc, w->reduced, NULL)                                        \
    X(gpuopt_elimination_preprocessing_postsolve, w->reduced, NULL, NULL)                                 \
    X(gpuopt_knapsack_create, c, &d->knapsack, NULL, &m->knapsack)                                        \
    X(gpuopt_knapsack_expand, w->knapsack, 0, 0, NULL)                                                    \
    X(gpuopt_knapsack_get_info, w->knapsack, NULL)                                                        \
    X(gpuopt_knapsack_set_incumbent, w->knapsack, H, 0, NULL)                                             \
    X(gpuopt_knapsack_get_items, w->knapsack, H, NULL, NULL, NULL)                                        \
    X(gpuopt_knapsack_pack, w->knapsack, -1, 1, NULL, 0, NULL)                                            \
    X(gpuopt_knapsack_unpack, w->knapsack, NULL, 0, 0)                                                    \
    X(gpuopt_knapsack_split, w->knapsack, 1, NULL, 0, NULL)                                               \
    X(gpuopt_knapsack_take_share, w->knapsack, 0, 1)                                                      \
    X(gpuopt_knapsack_batch_create, c, &d->knapsacks, NULL, &m->knapsacks)                                \
    X(gpuopt_knapsack_batch_run, w->knapsacks, H, &world_problem, NULL)                                   \
    X(gpuopt_knapsack_multidimensional_create, c, &d->multidimensional, NULL, &m->multidimensional)       \
    X(gpuopt_knapsack_multidimensional_run, w->multidimensional, 0, 0, NULL)                              \
    X(gpuopt_knapsack_multidimensional_get_info, w->multidimensional, NULL)                               \
    X(gpuopt_knapsack_multidimensional_set_incumbent, w->multidimensional, H, NULL)                       \
    X(gpuopt_knapsack_multidimensional_get_items, w->multidimensional, H, NULL, NULL)                     \
    X(gpuopt_knapsack_multiple_choice_create, c, &d->multiple_choice, NULL, &m->multiple_choice)          \
    X(gpuopt_knapsack_multiple_choice_run, w->multiple_choice, 0, 0, NULL)                                \
    X(gpuopt_knapsack_multiple_choice_get_info, w->multiple_choice, NULL)                                 \
    X(gpuopt_knapsack_multiple_choice_set_incumbent, w->multiple_choice, H, NULL)                         \
    X(gpuopt_knapsack_multiple_choice_get_items, w->multiple_choice, H, NULL, NULL)                       \
    X(gpuopt_group_create, c, &d->transport, NULL, &m->group)                                             \
    X(gpuopt_group_get_info, w->group, NULL)                                                              \
    X(gpuopt_group_agree, w->group, NULL, 0)                                                              \
    X(gpuopt_group_broadcast, w->group, H, 0, NULL, 0)                                                    \
    X(gpuopt_group_all_gather, w->group, H, NULL, 0, NULL, 0, NULL)                                       \
    X(gpuopt_group_all_reduce, w->group, GPUOPT_REDUCE_SUM, 0, NULL, NULL)                                \
    X(gpuopt_group_send, w->group, H, 0, NULL, 0)                                                         \
    X(gpuopt_group_receive, w->group, H, 0, NULL, 0)                                                      \
    X(gpuopt_group_abort, w->group)
#define DESTROYS(X)                                                  \
    X(gpuopt_propagator_destroy, w->propagator)                      \
    X(gpuopt_propagator_batch_destroy, w->nodes)                     \
    X(gpuopt_propagator_probe_destroy, w->probe)                     \
    X(gpuopt_basis_destroy, w->basis)                                \
    X(gpuopt_simplex_destroy, w->simplex)                            \
    X(gpuopt_simplex_children_destroy, w->children)                  \
    X(gpuopt_simplex_batch_destroy, w->programs)                     \
    X(gpuopt_elimination_destroy, w->elimination)                    \
    X(gpuopt_elimination_cost_shifting_destroy, w->shifted)          \
    X(gpuopt_elimination_preprocessing_destroy, w->reduced)          \
    X(gpuopt_knapsack_destroy, w->knapsack)                          \
    X(gpuopt_knapsack_batch_destroy, w->knapsacks)                   \
    X(gpuopt_knapsack_multidimensional_destroy, w->multidimensional) \
    X(gpuopt_knapsack_multiple_choice_destroy, w->multiple_choice)   \
    X(gpuopt_group_destroy, w->group)                                \
    X(gpuopt_context_destroy, c)

#define DEFINE_CALL(name, ...)                                   \
    static gpuopt_status call_##name(const world *w, world *m) { \
        const world_descs *d = &w->desc;                         \
        gpuopt_context *c = w->context;                          \
        (void)d, (void)c, (void)m;                               \
        return name(__VA_ARGS__);                                \
    }
#define DEFINE_DESTROY(name, handle)                             \
    static gpuopt_status call_##name(const world *w, world *m) { \
        gpuopt_context *c = w->context;                          \
        (void)c, (void)m;                                        \
        name(handle);                                            \
        return GPUOPT_ERROR_STATE;                               \
    }
CALLS(DEFINE_CALL)
DESTROYS(DEFINE_DESTROY)

typedef struct named_call {
    const char *name;
    gpuopt_status (*call)(const world *w, world *m); /* a _destroy, which has no status, returns STATE here */
} named_call;
#define NAMED(name, ...) {#name, call_##name},
static const named_call calls[] = {CALLS(NAMED) DESTROYS(NAMED)};
static const int call_count = sizeof calls / sizeof *calls;

#endif /* TESTS_CONTRACT_DEBUG_CALLS_H */
