/* SPDX-License-Identifier: MIT
 *
 * struct_size: every call that takes a struct with a size refuses a struct shorter than in its first version, and one
 * with an unknown nonzero member. The call names the struct and changes nothing. A longer struct with zeros works.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt_impl/common/checks.h"
#include "tests/contract/world.h"

enum { ANY = 1 }; /* any status of the call for this handle */
#define ON_GPU (test_on("cuda") ? GPUOPT_OK : GPUOPT_ERROR_UNSUPPORTED)

/* NAME, the struct's type, the struct as the caller fills it or none, the status of the call, and the call with `s`. */
#define NONE NULL
#define CASES(X)                                                                                                       \
    X(plan_propagator, gpuopt_memory_plan, NONE, 0, gpuopt_propagator_create(c, &d->propagator, s, NULL))              \
    X(plan_clone, gpuopt_memory_plan, NONE, 0, gpuopt_propagator_clone(w->propagator, c, s, NULL))                     \
    X(plan_nodes, gpuopt_memory_plan, NONE, 0, gpuopt_propagator_batch_create(w->propagator, &d->nodes, s, NULL))      \
    X(plan_probe, gpuopt_memory_plan, NONE, 0, gpuopt_propagator_probe_create(w->propagator, &d->probe, s, NULL))      \
    X(plan_basis, gpuopt_memory_plan, NONE, 0, gpuopt_basis_create(c, &d->basis, s, NULL))                             \
    X(plan_simplex, gpuopt_memory_plan, NONE, 0, gpuopt_simplex_create(c, &d->simplex, s, NULL))                       \
    X(plan_children, gpuopt_memory_plan, NONE, 0, gpuopt_simplex_children_create(w->root, &d->children, s, NULL))      \
    X(plan_programs, gpuopt_memory_plan, NONE, 0, gpuopt_simplex_batch_create(c, &d->programs, s, NULL))               \
    X(plan_elimination, gpuopt_memory_plan, NONE, 0, gpuopt_elimination_create(c, &d->elimination, s, NULL))           \
    X(plan_knapsack, gpuopt_memory_plan, NONE, 0, gpuopt_knapsack_create(c, &d->knapsack, s, NULL))                    \
    X(plan_knapsacks, gpuopt_memory_plan, NONE, 0, gpuopt_knapsack_batch_create(c, &d->knapsacks, s, NULL))            \
    X(plan_multidimensional, gpuopt_memory_plan, NONE, 0,                                                              \
      gpuopt_knapsack_multidimensional_create(c, &d->multidimensional, s, NULL))                                       \
    X(plan_multiple_choice, gpuopt_memory_plan, NONE, 0,                                                               \
      gpuopt_knapsack_multiple_choice_create(c, &d->multiple_choice, s, NULL))                                         \
    X(propagator_desc, gpuopt_propagator_desc, &d->propagator, 0,                                                      \
      gpuopt_propagator_create(c, s, NULL, &h->propagator))                                                            \
    X(propagator_tolerances, gpuopt_propagator_tolerances, NONE, 0,                                                    \
      with_gpuopt_propagator_tolerances(c, d->propagator, s, &h->propagator))                                          \
    X(propagator_spare, gpuopt_spare, NONE, 0, with_gpuopt_propagator_spare(c, d->propagator, s, &h->propagator))      \
    X(propagator_round, gpuopt_propagator_info, NONE, 0, gpuopt_propagator_round(w->propagator, 1, s))                 \
    X(propagator_info, gpuopt_propagator_info, NONE, 0, gpuopt_propagator_get_info(w->propagator, s))                  \
    X(propagator_rows, gpuopt_propagator_row_report, NONE, 0,                                                          \
      gpuopt_propagator_get_rows(w->propagator, GPUOPT_HOST, s))                                                       \
    X(propagator_view, gpuopt_device_view, NONE, ON_GPU, gpuopt_propagator_device_view(w->propagator, s))              \
    X(propagator_trail, gpuopt_propagator_trail, NONE, 0, gpuopt_propagator_get_trail(w->propagator, s))               \
    X(propagator_changes, gpuopt_propagator_changes, NONE, 0,                                                          \
      gpuopt_propagator_get_changes(w->propagator, GPUOPT_HOST, 0, s))                                                 \
    X(propagator_reason, gpuopt_propagator_reason, NONE, 0, gpuopt_propagator_explain(w->propagator, 0, s))            \
    X(nodes_desc, gpuopt_propagator_batch_desc, &d->nodes, 0,                                                          \
      gpuopt_propagator_batch_create(w->propagator, s, NULL, &h->nodes))                                               \
    X(nodes_run, gpuopt_propagator_nodes, NONE, 0, gpuopt_propagator_batch_run(w->nodes, GPUOPT_HOST, s, 1, NULL))     \
    X(nodes_report, gpuopt_propagator_node_report, NONE, 0,                                                            \
      gpuopt_propagator_batch_run(w->nodes, GPUOPT_HOST, &no_nodes, 1, s))                                             \
    X(nodes_changes, gpuopt_propagator_node_changes, NONE, 0,                                                          \
      gpuopt_propagator_batch_get_changes(w->nodes, GPUOPT_HOST, s))                                                   \
    X(probe_desc, gpuopt_propagator_probe_desc, &d->probe, 0,                                                          \
      gpuopt_propagator_probe_create(w->propagator, s, NULL, &h->probe))                                               \
    X(probe_info, gpuopt_propagator_probe_info, NONE, 0, gpuopt_propagator_probe_run(w->probe, 0, NULL, 10, s))        \
    X(probe_bounds, gpuopt_propagator_probe_bounds, NONE, 0, gpuopt_propagator_probe_get_bounds(w->probe, s))          \
    X(probe_implications, gpuopt_propagator_probe_implications, NONE, 0,                                               \
      gpuopt_propagator_probe_get_implications(w->probe, s))                                                           \
    X(probe_equivalences, gpuopt_propagator_probe_equivalences, NONE, 0,                                               \
      gpuopt_propagator_probe_get_equivalences(w->probe, s))                                                           \
    X(basis_desc, gpuopt_basis_desc, &d->basis, 0, gpuopt_basis_create(c, s, NULL, &h->basis))                         \
    X(basis_update, gpuopt_basis_info, NONE, 0, gpuopt_basis_update(w->basis, GPUOPT_HOST, 1, unit, s))                \
    X(basis_info, gpuopt_basis_info, NONE, 0, gpuopt_basis_get_info(w->basis, s))                                      \
    X(basis_drift, gpuopt_basis_drift, NONE, 0, gpuopt_basis_get_drift(w->basis, &world_basis, 1, s))                  \
    X(simplex_desc, gpuopt_simplex_desc, &d->simplex, 0, gpuopt_simplex_create(c, s, NULL, &h->simplex))               \
    X(simplex_tolerances, gpuopt_simplex_tolerances, NONE, 0,                                                          \
      with_gpuopt_simplex_tolerances(c, d->simplex, s, &h->simplex))                                                   \
    X(simplex_rules, gpuopt_simplex_rules, NONE, 0, with_gpuopt_simplex_rules(c, d->simplex, s, &h->simplex))          \
    X(simplex_spare, gpuopt_spare, NONE, 0, with_gpuopt_simplex_spare(c, d->simplex, s, &h->simplex))                  \
    X(simplex_price, gpuopt_simplex_entering, NONE, 0, gpuopt_simplex_price(w->simplex, s))                            \
    X(simplex_ratio, gpuopt_simplex_leaving, NONE, 0, gpuopt_simplex_ratio_test(w->simplex, 0, 1, s))                  \
    X(simplex_pivot, gpuopt_simplex_info, NONE, ANY, gpuopt_simplex_pivot(w->simplex, 0, 0, 0, s))                     \
    X(simplex_flip, gpuopt_simplex_info, NONE, ANY, gpuopt_simplex_flip(w->simplex, 0, s))                             \
    X(simplex_rebuild, gpuopt_simplex_info, NONE, 0, gpuopt_simplex_rebuild(w->simplex, 1, s))                         \
    X(simplex_iterate, gpuopt_simplex_info, NONE, 0, gpuopt_simplex_iterate(w->root, 1, s))                            \
    X(simplex_info, gpuopt_simplex_info, NONE, 0, gpuopt_simplex_get_info(w->simplex, s))                              \
    X(simplex_verify, gpuopt_simplex_info, NONE, 0, gpuopt_simplex_verify_basis(w->root, s))                           \
    X(simplex_solution, gpuopt_simplex_solution, NONE, 0, gpuopt_simplex_get_solution(w->root, GPUOPT_HOST, s))        \
    X(simplex_proof, gpuopt_simplex_proof, NONE, 0, gpuopt_simplex_get_proof(w->root, GPUOPT_HOST, s))                 \
    X(dual_price, gpuopt_simplex_dual_leaving, NONE, 0, gpuopt_simplex_dual_price(w->root, s))                         \
    X(dual_ratio, gpuopt_simplex_dual_entering, NONE, ANY, gpuopt_simplex_dual_ratio_test(w->root, 0, s))              \
    X(dual_pivot, gpuopt_simplex_info, NONE, ANY, gpuopt_simplex_dual_pivot(w->root, 0, 0, s))                         \
    X(children_desc, gpuopt_simplex_children_desc, &d->children, 0,                                                    \
      gpuopt_simplex_children_create(w->root, s, NULL, &h->children))                                                  \
    X(children_list, gpuopt_simplex_child_list, NONE, 0,                                                               \
      gpuopt_simplex_children_run(w->children, GPUOPT_HOST, s, 1, NULL))                                               \
    X(children_roots, gpuopt_simplex_root_list, NONE, 0,                                                               \
      gpuopt_simplex_children_set_roots(w->children, GPUOPT_HOST, s))                                                  \
    X(children_report, gpuopt_simplex_child_report, NONE, 0,                                                           \
      gpuopt_simplex_children_run(w->children, GPUOPT_HOST, &no_children, 1, s))                                       \
    X(children_branch, gpuopt_simplex_child_report, NONE, 0,                                                           \
      gpuopt_simplex_children_strong_branch(w->children, GPUOPT_HOST, 0, NULL, NULL, NULL, 1, s))                      \
    X(programs_desc, gpuopt_simplex_batch_desc, &d->programs, 0,                                                       \
      gpuopt_simplex_batch_create(c, s, NULL, &h->programs))                                                           \
    X(programs_tolerances, gpuopt_simplex_tolerances, NONE, 0,                                                         \
      with_gpuopt_simplex_batch_tolerances(c, d->programs, s, &h->programs))                                           \
    X(programs_load, gpuopt_simplex_programs, &world_program, 0,                                                       \
      gpuopt_simplex_batch_load(w->programs, GPUOPT_HOST, s))                                                          \
    X(programs_iterate, gpuopt_simplex_batch_info, NONE, 0, gpuopt_simplex_batch_iterate(w->programs, 100, s))         \
    X(programs_info, gpuopt_simplex_batch_info, NONE, 0, gpuopt_simplex_batch_get_info(w->programs, s))                \
    X(programs_get, gpuopt_simplex_batch_report, NONE, 0, gpuopt_simplex_batch_get(w->programs, GPUOPT_HOST, 0, 1, s)) \
    X(elimination_desc, gpuopt_elimination_desc, &d->elimination, 0,                                                   \
      gpuopt_elimination_create(c, s, NULL, &h->elimination))                                                          \
    X(elimination_order, gpuopt_elimination_desc, &d->elimination, 0,                                                  \
      gpuopt_elimination_order(c, s, NULL, NULL, NULL))                                                                \
    X(elimination_order_search, gpuopt_elimination_order_search, NONE, 0,                                              \
      with_gpuopt_elimination_order_search(c, d->elimination, s, &h->elimination))                                     \
    X(elimination_memory, gpuopt_elimination_memory, NONE, 0,                                                          \
      with_gpuopt_elimination_memory(c, d->elimination, s, &h->elimination))                                           \
    X(elimination_messages, gpuopt_elimination_messages, NONE, 0,                                                      \
      with_gpuopt_elimination_messages(c, d->elimination, s, &h->elimination))                                         \
    X(elimination_shift, gpuopt_elimination_desc, &d->relaxed, 0,                                                      \
      gpuopt_elimination_shift_costs(c, s, 1, &h->shifted))                                                            \
    X(elimination_preprocess, gpuopt_elimination_desc, &d->elimination, 0,                                             \
      gpuopt_elimination_preprocess(c, s, 0, 0, &h->reduced))                                                          \
    X(elimination_estimate, gpuopt_elimination_estimate, NONE, 0,                                                      \
      gpuopt_elimination_order(c, &d->elimination, NULL, NULL, s))                                                     \
    X(elimination_step, gpuopt_elimination_info, NONE, 0, gpuopt_elimination_step(w->elimination, 1, s))               \
    X(elimination_info, gpuopt_elimination_info, NONE, 0, gpuopt_elimination_get_info(w->elimination, 0, s))           \
    X(elimination_assign, gpuopt_elimination_assignment, NONE, 0,                                                      \
      gpuopt_elimination_assign(w->elimination, GPUOPT_HOST, 0, value, s))                                             \
    X(message_info, gpuopt_elimination_message_info, NONE, 0,                                                          \
      gpuopt_elimination_message_get_info(w->elimination, 0, s))                                                       \
    X(message_view, gpuopt_device_view, NONE, ON_GPU, gpuopt_elimination_message_device_view(w->elimination, 0, 0, s)) \
    X(message_inspect, gpuopt_elimination_packed_info, NONE, 0,                                                        \
      gpuopt_elimination_message_inspect(c, GPUOPT_HOST, w->message, w->message_size, s))                              \
    X(shifted_info, gpuopt_elimination_cost_shifting_info, NONE, 0,                                                    \
      gpuopt_elimination_cost_shifting_get_info(w->shifted, s))                                                        \
    X(shifted_desc, gpuopt_elimination_desc, NONE, 0, gpuopt_elimination_cost_shifting_get_desc(w->shifted, s))        \
    X(reduced_info, gpuopt_elimination_preprocessing_info, NONE, 0,                                                    \
      gpuopt_elimination_preprocessing_get_info(w->reduced, s))                                                        \
    X(reduced_desc, gpuopt_elimination_desc, NONE, 0, gpuopt_elimination_preprocessing_get_desc(w->reduced, s))        \
    X(knapsack_desc, gpuopt_knapsack_desc, &d->knapsack, 0, gpuopt_knapsack_create(c, s, NULL, &h->knapsack))          \
    X(knapsack_expand, gpuopt_knapsack_info, NONE, 0, gpuopt_knapsack_expand(w->knapsack, 1, 0, s))                    \
    X(knapsack_info, gpuopt_knapsack_info, NONE, 0, gpuopt_knapsack_get_info(w->knapsack, s))                          \
    X(knapsacks_desc, gpuopt_knapsack_batch_desc, &d->knapsacks, 0,                                                    \
      gpuopt_knapsack_batch_create(c, s, NULL, &h->knapsacks))                                                         \
    X(knapsacks_run, gpuopt_knapsack_problems, &world_problem, 0,                                                      \
      gpuopt_knapsack_batch_run(w->knapsacks, GPUOPT_HOST, s, NULL))                                                   \
    X(knapsacks_report, gpuopt_knapsack_report, NONE, 0,                                                               \
      gpuopt_knapsack_batch_run(w->knapsacks, GPUOPT_HOST, &world_problem, s))                                         \
    X(multidimensional_desc, gpuopt_knapsack_multidimensional_desc, &d->multidimensional, 0,                           \
      gpuopt_knapsack_multidimensional_create(c, s, NULL, &h->multidimensional))                                       \
    X(multidimensional_run, gpuopt_knapsack_multidimensional_info, NONE, 0,                                            \
      gpuopt_knapsack_multidimensional_run(w->multidimensional, 1, 0, s))                                              \
    X(multidimensional_info, gpuopt_knapsack_multidimensional_info, NONE, 0,                                           \
      gpuopt_knapsack_multidimensional_get_info(w->multidimensional, s))                                               \
    X(multiple_choice_desc, gpuopt_knapsack_multiple_choice_desc, &d->multiple_choice, 0,                              \
      gpuopt_knapsack_multiple_choice_create(c, s, NULL, &h->multiple_choice))                                         \
    X(multiple_choice_run, gpuopt_knapsack_multiple_choice_info, NONE, 0,                                              \
      gpuopt_knapsack_multiple_choice_run(w->multiple_choice, 1, 0, s))                                                \
    X(multiple_choice_info, gpuopt_knapsack_multiple_choice_info, NONE, 0,                                             \
      gpuopt_knapsack_multiple_choice_get_info(w->multiple_choice, s))                                                 \
    X(transport, gpuopt_transport, &d->transport, 0, gpuopt_group_create(c, s, NULL, &h->group))                       \
    X(group_desc, gpuopt_group_desc, &d->group, 0, gpuopt_group_create(c, NULL, s, &h->group))                         \
    X(group_info, gpuopt_group_info, NONE, 0, gpuopt_group_get_info(w->group, s))

static const gpuopt_propagator_nodes no_nodes = {.struct_size = sizeof(gpuopt_propagator_nodes),
                                                 .start = (int64_t[1]){0}};
static const gpuopt_simplex_child_list no_children = {.struct_size = sizeof(gpuopt_simplex_child_list)};
static const double unit[3] = {0, 1, 0};
static int32_t value[8];

/* Creates a handle with a descriptor that points to the struct. */
#define PART(handle, member, type)                                                                         \
    static gpuopt_status with_##handle##_##member(gpuopt_context *c, handle##_desc desc, const type *part, \
                                                  handle **made) {                                         \
        desc.member = part;                                                                                \
        return handle##_create(c, &desc, NULL, made);                                                      \
    }
PART(gpuopt_propagator, tolerances, gpuopt_propagator_tolerances)
PART(gpuopt_propagator, spare, gpuopt_spare)
PART(gpuopt_simplex, tolerances, gpuopt_simplex_tolerances)
PART(gpuopt_simplex, rules, gpuopt_simplex_rules)
PART(gpuopt_simplex, spare, gpuopt_spare)
PART(gpuopt_simplex_batch, tolerances, gpuopt_simplex_tolerances)
PART(gpuopt_elimination, order_search, gpuopt_elimination_order_search)
PART(gpuopt_elimination, memory, gpuopt_elimination_memory)
PART(gpuopt_elimination, messages, gpuopt_elimination_messages)

/* Each case as two functions: one fills the struct, one makes the call. h: handles that the call creates. */
#define CALL(name, type, full, status, call)                 \
    static gpuopt_status name(world *w, world *h, void *s) { \
        const world_descs *d = &w->desc;                     \
        gpuopt_context *c = w->context;                      \
        (void)d, (void)c, (void)h;                           \
        return call;                                         \
    }                                                        \
    static const void *name##_full(const world *w) {         \
        const world_descs *d = &w->desc;                     \
        (void)d;                                             \
        return full;                                         \
    }                                                        \
    static int name##_status(void) { return status; }
CASES(CALL)

static const struct {
    const char *name, *type;
    size_t size;
    const void *(*full)(const world *);
    gpuopt_status (*call)(world *, world *, void *);
    int (*status)(void);
} cases[] = {
#define CASE(name, type, full, status, call) {#name, #type, sizeof(type), name##_full, name, name##_status},
    CASES(CASE)};
enum { COUNT = sizeof cases / sizeof *cases, SURPLUS = 16 };

/* Makes case k's call with a struct of `size` bytes, the last of them `last`, in a block of just that size. Returns
 * whether the call left the struct alone. */
static int make(world *w, int k, size_t size, unsigned char last, gpuopt_status *status) {
    const size_t block_size = size > sizeof size ? size : sizeof size, known = cases[k].size;
    const void *full = cases[k].full(w);
    unsigned char *block = calloc(1, block_size), *before = malloc(block_size);
    world made;
    int same;
    assert_true(block && before);
    memset(&made, 0, sizeof made);
    if (full) memcpy(block, full, block_size < known ? block_size : known);
    memcpy(block, &size, sizeof size);
    if (last) block[size - 1] = last;
    memcpy(before, block, block_size);
    *status = cases[k].call(w, &made, block);
    world_close(&made);
    same = memcmp(block, before, block_size) == 0;
    assert_memory_equal(block, &size, sizeof size);
    free(block);
    free(before);
    return same;
}

static void check_works(world *w, test_host *host, int k, size_t size) {
    const int expected = cases[k].status();
    gpuopt_status status;
    host->error[0] = '\0';
    make(w, k, size, 0, &status);
    if ((expected != ANY && (int)status != expected) || strstr(host->error, "struct_size"))
        fail_msg("%s: size %zu: status %d: %s", cases[k].name, size, (int)status, host->error);
}

static void check_refused(world *w, test_host *host, int k, size_t size, unsigned char last, const char *words) {
    char begins[160];
    gpuopt_status status;
    const long live = host->live;
    const int same = make(w, k, size, last, &status);
    snprintf(begins, sizeof begins, "%s: struct_size is %zu%s", cases[k].type, size, words);
    if (status != GPUOPT_ERROR_ARGUMENT || !same || host->live != live || !strstr(host->error, begins) ||
        strncmp(host->error, "gpuopt_", 7) != 0)
        fail_msg("%s: size %zu: status %d, %s: %s", cases[k].name, size, (int)status, same ? "same" : "changed",
                 host->error);
}

static void sizes(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    world w;
    int k;
    (void)state;
    world_open(&w, context);
    for (k = 0; k < COUNT; k++) {
        const size_t size = cases[k].size;
        char words[192];
        snprintf(words, sizeof words, ", but its first version has %zu bytes; begin with GPUOPT_INIT(%s)", size,
                 cases[k].type);
        check_refused(&w, &host, k, 0, 0, words);
        check_refused(&w, &host, k, sizeof size - 1, 0, words);
        check_refused(&w, &host, k, sizeof size, 0, words);
        check_refused(&w, &host, k, size - 1, 0, words);
        check_refused(&w, &host, k, size + SURPLUS, 1, "; this version knows");
        check_works(&w, &host, k, size);
        check_works(&w, &host, k, size + SURPLUS);
    }
    world_close(&w);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
}

/* These two have no log: there is no context yet. */
static void without_a_context(void **state) {
    static const size_t wrong[] = {0, sizeof(size_t), sizeof(gpuopt_context_desc) - 1};
    static const size_t short_part[] = {0, sizeof(size_t), sizeof(gpuopt_propagator_tolerances) - 1};
    test_host host;
    struct {
        gpuopt_context_desc desc;
        unsigned char surplus[SURPLUS];
    } longer;
    gpuopt_propagator_tolerances part = GPUOPT_INIT(gpuopt_propagator_tolerances), kept;
    gpuopt_context *context;
    size_t k;
    (void)state;
    memset(&longer, 0, sizeof longer);
    longer.desc = test_context_desc(&host);
    for (k = 0; k < 3; k++) {
        longer.desc.struct_size = wrong[k];
        context = (gpuopt_context *)&host;
        assert_int_equal(gpuopt_context_create(&longer.desc, &context), GPUOPT_ERROR_ARGUMENT);
        assert_null(context);
        part.struct_size = short_part[k];
        kept = part;
        assert_int_equal(gpuopt_propagator_tolerances_tune(&part, GPUOPT_SETTINGS_SCIP), GPUOPT_ERROR_ARGUMENT);
        assert_memory_equal(&part, &kept, sizeof part);
    }
    longer.desc.struct_size = sizeof longer;
    assert_int_equal(gpuopt_context_create(&longer.desc, &context), GPUOPT_OK);
    gpuopt_context_destroy(context);
    longer.surplus[SURPLUS - 1] = 1;
    assert_int_equal(gpuopt_context_create(&longer.desc, &context), GPUOPT_ERROR_ARGUMENT);
    assert_null(context);
    assert_int_equal(host.live, 0);
}

/* A struct that has grown since its first version: older programs have the shorter one. */
static void grown(void **state) {
    typedef struct example {
        size_t struct_size;
        int64_t first, later;
    } example;
    const size_t first = offsetof(example, later);
    example given = {first, 1, 99}, own = {0, 0, 7};
    (void)state;
    assert_true(gpuopt__has_size(NULL, "call", "given", "example", &given, first, sizeof own));
    gpuopt__copy_out(&own, sizeof own, &given, given.struct_size);
    assert_true(own.struct_size == 0 && own.first == 1 && own.later == 7); /* a member that the program lacks stays */
    own.first = 2;
    gpuopt__copy_out(&given, given.struct_size, &own, sizeof own);
    assert_true(given.struct_size == first && given.first == 2 && given.later == 99);
    given.struct_size = first - 1;
    assert_false(gpuopt__has_size(NULL, "call", "given", "example", &given, first, sizeof own));
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(without_a_context),
                                          cmocka_unit_test(grown)};

TEST_MAIN(tests)
