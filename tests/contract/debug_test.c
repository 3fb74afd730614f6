/* SPDX-License-Identifier: MIT
 *
 * GPUOPT_DEBUG: a call in a context that another thread is in, and a call on a handle whose context is gone, are
 * refused, whichever call it is. The library of this test is compiled with -DGPUOPT_DEBUG.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/contract/world.h"

/* Every call that takes a context or a handle, apart from those that destroy one, and with no array that a refused call
 * could do without. m: handles that it makes. */
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
    X(gpuopt_simplex_children_strong_branch, w->children, H, 0, NULL, NULL, 1, NULL)                      \
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
    gpuopt_status (*call)(const world *w, world *m); /* a _destroy, which has no status: STATE */
} named_call;
#define NAMED(name, ...) {#name, call_##name},
static const named_call calls[] = {CALLS(NAMED) DESTROYS(NAMED)};
static const int call_count = sizeof calls / sizeof *calls;

/* ---- A host that holds a call ---- */

enum { FREE, WANTED, HELD, ENDED }; /* nothing is to be held; the next hook is; it is; it was not called */

typedef struct holder {
    test_host host;
    gpuopt_context_desc desc; /* of the host alone */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread; /* whose hooks are held */
    int state, hook;  /* which hook: a letter */
    const world *w;
    world made;
    const named_call *first;
    gpuopt_status status; /* of the first call */
} holder;

static void hold(holder *h, int hook) {
    pthread_mutex_lock(&h->lock);
    if (h->state == WANTED && h->hook == hook && pthread_equal(h->thread, pthread_self())) {
        h->state = HELD;
        pthread_cond_broadcast(&h->changed);
        while (h->state == HELD) pthread_cond_wait(&h->changed, &h->lock);
    }
    pthread_mutex_unlock(&h->lock);
}

static void *allocate(void *user, gpuopt_memory_space where, size_t bytes) {
    holder *h = user;
    hold(h, 'a');
    return h->desc.allocate(h->desc.user, where, bytes);
}

static void release(void *user, gpuopt_memory_space where, void *memory) {
    holder *h = user;
    h->desc.release(h->desc.user, where, memory);
}

static void tell(void *user, int level, const char *message) {
    holder *h = user;
    hold(h, 'l');
    pthread_mutex_lock(&h->lock);
    h->desc.log(h->desc.user, level, message);
    pthread_mutex_unlock(&h->lock);
}

static int stop(void *user) {
    hold(user, 's');
    return 0;
}

static gpuopt_context *holder_open(holder *h, world *w) {
    gpuopt_context *context = NULL;
    gpuopt_context_desc desc;
    memset(h, 0, sizeof *h);
    desc = h->desc = test_context_desc(&h->host);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    desc.user = h;
    desc.allocate = allocate;
    desc.release = release;
    desc.log = tell;
    desc.stop = stop;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    world_open(w, context);
    h->w = w;
    return context;
}

static void holder_close(holder *h) {
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->lock);
}

static void *first_thread(void *user) {
    holder *h = user;
    pthread_mutex_lock(&h->lock);
    h->thread = pthread_self();
    h->state = WANTED;
    pthread_mutex_unlock(&h->lock);
    h->status = h->first->call(h->w, &h->made);
    pthread_mutex_lock(&h->lock);
    if (h->state == WANTED) h->state = ENDED;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

/* Waits until the first call is held. 0: it has ended, for it did not call its hook. */
static int await(holder *h) {
    int held;
    pthread_mutex_lock(&h->lock);
    while (h->state != HELD && h->state != ENDED) pthread_cond_wait(&h->changed, &h->lock);
    held = h->state == HELD;
    pthread_mutex_unlock(&h->lock);
    return held;
}

static void let_go(holder *h) {
    pthread_mutex_lock(&h->lock);
    h->state = FREE;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

/* Whether a refused call has put no handle anywhere: it has cleared its place, if it has one. */
static int made_nothing(const world *made) {
    uintptr_t untouched, word;
    size_t k;
    memset(&untouched, 0x55, sizeof untouched);
    for (k = 0; k + sizeof word <= sizeof *made; k += sizeof word) {
        memcpy(&word, (const char *)made + k, sizeof word);
        if (word && word != untouched) return 0;
    }
    return 1;
}

/* Every call is refused, with the message `why`, and does nothing else. */
static void check_all_refused(holder *h, const char *why, int destroys) {
    int k;
    for (k = 0; k < call_count; k++) {
        const int destroy = strstr(calls[k].name, "_destroy") != NULL;
        world made;
        char expected[512];
        gpuopt_status status;
        if (destroy && !destroys) continue;
        memset(&made, 0x55, sizeof made);
        h->host.error[0] = '\0';
        status = calls[k].call(h->w, &made);
        snprintf(expected, sizeof expected, "%s: %s", calls[k].name, why);
        if (status != GPUOPT_ERROR_STATE || strcmp(h->host.error, expected) != 0 || !made_nothing(&made))
            fail_msg("%s: status %d: %s", calls[k].name, (int)status, h->host.error);
    }
}

/* ---- Two threads ---- */

static const named_call *find(const char *name) {
    int k;
    for (k = 0; k < call_count; k++)
        if (strcmp(calls[k].name, name) == 0) return calls + k;
    fail_msg("there is no call %s", name);
    return NULL;
}

static void two_threads(void **state) {
    /* Calls of all families and layers, and the hook that holds each: a(llocate), s(top), l(og). */
    static const struct {
        const char *name;
        int hook;
        gpuopt_status status;
    } first[] = {{"gpuopt_propagator_create", 'a', GPUOPT_OK},
                 {"gpuopt_propagator_clone", 'a', GPUOPT_OK},
                 {"gpuopt_propagator_batch_create", 'a', GPUOPT_OK},
                 {"gpuopt_propagator_probe_create", 'a', GPUOPT_OK},
                 {"gpuopt_propagator_round", 's', GPUOPT_OK},
                 {"gpuopt_propagator_probe_get_bounds", 'l', GPUOPT_ERROR_ARGUMENT},
                 {"gpuopt_basis_create", 'a', GPUOPT_OK},
                 {"gpuopt_basis_get_info", 'l', GPUOPT_ERROR_ARGUMENT},
                 {"gpuopt_simplex_create", 'a', GPUOPT_OK},
                 {"gpuopt_simplex_iterate", 's', GPUOPT_OK},
                 {"gpuopt_simplex_children_create", 'a', GPUOPT_OK},
                 {"gpuopt_simplex_batch_create", 'a', GPUOPT_OK},
                 {"gpuopt_elimination_create", 'a', GPUOPT_OK},
                 {"gpuopt_elimination_get_info", 'l', GPUOPT_ERROR_ARGUMENT},
                 {"gpuopt_elimination_shift_costs", 'a', GPUOPT_OK},
                 {"gpuopt_elimination_preprocess", 'a', GPUOPT_OK},
                 {"gpuopt_knapsack_create", 'a', GPUOPT_OK},
                 {"gpuopt_knapsack_expand", 's', GPUOPT_OK},
                 {"gpuopt_knapsack_batch_create", 'a', GPUOPT_OK},
                 {"gpuopt_knapsack_multidimensional_create", 'a', GPUOPT_OK},
                 {"gpuopt_knapsack_multiple_choice_create", 'a', GPUOPT_OK},
                 {"gpuopt_group_create", 'a', GPUOPT_OK},
                 {"gpuopt_group_get_info", 'l', GPUOPT_ERROR_ARGUMENT}};
    size_t k;
    (void)state;
    for (k = 0; k < sizeof first / sizeof *first; k++) {
        holder h;
        world w;
        gpuopt_context *context = holder_open(&h, &w);
        pthread_t thread;
        char why[256];
        h.first = find(first[k].name);
        h.hook = first[k].hook;
        assert_int_equal(pthread_create(&thread, NULL, first_thread, &h), 0);
        if (await(&h)) {
            snprintf(why, sizeof why, "another thread is in %s of the same context", first[k].name);
            check_all_refused(&h, why, 1);
            assert_string_equal(gpuopt_context_last_error(context), "another thread is in a call of this context");
            let_go(&h);
        } else if (!test_on("cuda")) fail_msg("%s does not call its hook", first[k].name);
        assert_int_equal(pthread_join(thread, NULL), 0);
        /* The first call has not noticed, and the handles are as they were. */
        assert_int_equal(h.status, first[k].status);
        if (first[k].status) assert_int_equal(strncmp(gpuopt_context_last_error(context), first[k].name, 20), 0);
        else assert_string_equal(gpuopt_context_last_error(context), "");
        world_close(&h.made);
        world_close(&w);
        gpuopt_context_destroy(context);
        assert_int_equal(h.host.live, 0);
        holder_close(&h);
    }
}

/* ---- Handles that outlive their context ---- */

static gpuopt_context *kept; /* so that a sanitizer does not take it for lost */

static void handles_outlive_their_context(void **state) {
    static const char *const words[] = {"gpuopt_context_destroy: handles outlive their context, which is kept: ",
                                        "1 gpuopt_propagator,",
                                        "1 gpuopt_propagator_batch,",
                                        "1 gpuopt_propagator_probe,",
                                        "1 gpuopt_basis,",
                                        "2 gpuopt_simplex,",
                                        "1 gpuopt_simplex_children,",
                                        "1 gpuopt_simplex_batch,",
                                        "1 gpuopt_elimination,",
                                        "1 gpuopt_elimination_cost_shifting,",
                                        "1 gpuopt_elimination_preprocessing,",
                                        "1 gpuopt_knapsack,",
                                        "1 gpuopt_knapsack_batch,",
                                        "1 gpuopt_knapsack_multidimensional,",
                                        "1 gpuopt_knapsack_multiple_choice,",
                                        "1 gpuopt_group"};
    static holder h; /* its hooks are called for as long as the context is there */
    world w;
    size_t k;
    long alone;
    (void)state;
    kept = holder_open(&h, &w);
    world_close(&w);
    alone = h.host.live;
    world_open(&w, kept);
    gpuopt_context_destroy(kept);
    for (k = 0; k < sizeof words / sizeof *words; k++) {
        if (!strstr(h.host.error, words[k])) fail_msg("without %s: %s", words[k], h.host.error);
        assert_ptr_equal(strstr(h.host.error, words[0]), h.host.error);
    }
    check_all_refused(&h, "the context was destroyed before its handles", 0);
    assert_string_equal(gpuopt_context_last_error(kept), h.host.error);
    world_close(&w);
    assert_int_equal(h.host.live, alone);
    gpuopt_context_destroy(kept);
    assert_string_equal(h.host.error, "gpuopt_context_destroy: the context was destroyed before its handles");
}

/* ---- A hook that destroys the context ---- */

static int destroy(void *user) {
    gpuopt_context_destroy(*(gpuopt_context **)user);
    return 0;
}

static void destroyed_by_a_hook(void **state) {
    static gpuopt_context *context;
    test_host host;
    gpuopt_context_desc desc = test_context_desc(&host);
    gpuopt_propagator_desc model = GPUOPT_INIT(gpuopt_propagator_desc);
    gpuopt_propagator *propagator;
    (void)state;
    families[PROPAGATOR].fill(&model, GPUOPT_LAYOUT_CSR, 0);
    desc.allocate = NULL, desc.release = NULL, desc.log = NULL; /* user is the context's */
    desc.user = &context;
    desc.stop = destroy;
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_create(context, &model, NULL, &propagator), GPUOPT_OK);
    assert_int_equal(gpuopt_propagator_round(propagator, 3, NULL), GPUOPT_OK);
    if (!test_on("cuda")) /* which may not ask so soon */
        assert_string_equal(gpuopt_context_last_error(context),
                            "gpuopt_context_destroy: it is called within gpuopt_propagator_round");
    gpuopt_propagator_destroy(propagator);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(two_threads),
                                          cmocka_unit_test(handles_outlive_their_context),
                                          cmocka_unit_test(destroyed_by_a_hook)};

TEST_MAIN(tests)
