/* SPDX-License-Identifier: MIT
 *
 * GPUOPT_DEBUG refuses every call in a context that another thread is in, and every call on a handle of a destroyed
 * context. The library of this test is compiled with -DGPUOPT_DEBUG.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/contract/debug_calls.h"

/* ---- A caller that holds a call ---- */

enum { FREE, WANTED, HELD, ENDED }; /* nothing to hold; hold at the next hook; a hook holds; the hook was not called */

typedef struct holder {
    test_host host;
    gpuopt_context_desc desc; /* only for the caller's hooks */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread; /* the thread with the held hooks */
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

/* Waits until the hook holds the first call. Returns 0 if the call has ended without calling its hook. */
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

/* Whether a refused call has returned no handle: it has cleared its place, if it has one. */
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
        /* The first call has not noticed, and the handles are unchanged. */
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

static gpuopt_context *kept; /* so that a sanitizer does not report it as lost */

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
    static holder h; /* its hooks are called as long as the context exists */
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
    if (!test_on("cuda")) /* which may not call it so soon */
        assert_string_equal(gpuopt_context_last_error(context),
                            "gpuopt_context_destroy: it is called within gpuopt_propagator_round");
    gpuopt_propagator_destroy(propagator);
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(two_threads),
                                          cmocka_unit_test(handles_outlive_their_context),
                                          cmocka_unit_test(destroyed_by_a_hook)};

TEST_MAIN(tests)
