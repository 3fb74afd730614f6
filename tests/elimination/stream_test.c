/* SPDX-License-Identifier: MIT
 *
 * The policy STREAM: chunks passed through the device give the same results as all tables in its memory, message by
 * message. Without a GPU on a backend that simulates one (streaming.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuopt/search.h"
#include "gpuopt/inference.h"
#include "tests/elimination/handle.h"
#include "tests/elimination/streaming.h"

enum { MOST_VARIABLES = 40 };

static gpuopt_context *streaming_context(test_host *host) {
    gpuopt_context_desc desc = test_context_desc(host);
    gpuopt_context *context = NULL;
    if (!test_on("cuda")) desc.backend = streaming_backend();
    assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
    return context;
}

/* Small and large domains, costs of all widths, up to 2^20 assignments or, with `big`, 2^24: tiles of several rows. */
static model draw_model(uint64_t *seed, const struct model_kind *kind, int big) {
    static const int64_t largest[] = {3, 200, 5000, 1 << 28, (int64_t)1 << 40};
    int64_t assignments = 1,
            scale = largest[test_random_int(seed, 0, kind->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP ? 1 : 4)];
    int style = (int)test_random_int(seed, 0, 4);
    int32_t domain[MOST_VARIABLES], scope[MOST_VARIABLES], most = (int32_t)test_random_int(seed, 4, MOST_VARIABLES);
    int32_t n = 0, f;
    model m;
    while (n < most) {
        static const int32_t fixed[] = {2, 3, 5};
        domain[n] = style < 3 ? fixed[style] : (int32_t)test_random_int(seed, style == 3 ? 1 : 7, style == 3 ? 6 : 23);
        assignments *= domain[n];
        if (assignments > (big ? 1 << 24 : 1 << 20)) break;
        n++;
    }
    m = model_make(kind->type, kind->semiring, n, domain);
    for (f = 0; f < 3 * n; f++) {
        int32_t arity = (int32_t)test_random_int(seed, 1, 3);
        gpuopt_elimination_function *g;
        int64_t e;
        draw_permutation(seed, n, scope);
        g = model_add(&m, arity < n ? arity : n, scope, -1);
        for (e = 0; e < model_entries(&m, scope, g->arity); e++) {
            model_set(&m, g, e, (double)test_random_int(seed, 0, scale));
            if (test_random_int(seed, 0, 40)) continue; /* else forbidden */
            if (g->value) ((double *)g->value)[e] = (double)model_forbidden(&m);
            else ((int64_t *)g->cost)[e] = kind->semiring == GPUOPT_SEMIRING_MAX_SUM ? INT64_MIN : INT64_MAX;
        }
    }
    m.scale = (double)scale * m.functions;
    return m;
}

/* ---- The same, message by message ---- */

/* The results of one run; arrays have the entries of the message. */
typedef struct table {
    int64_t *cost;
    double *value;
    uint64_t *count;
} table;

static table table_of(gpuopt_elimination *e, const model *m, int32_t message) {
    gpuopt_elimination_message_info info = handle_message(e, message);
    table t = {NULL, NULL, NULL};
    assert_true(info.ready);
    if (m->type == GPUOPT_COST_INT64) t.cost = malloc((size_t)info.entries * sizeof *t.cost);
    else t.value = malloc((size_t)info.entries * sizeof *t.value);
    if (m->semiring == GPUOPT_SEMIRING_MIN_COUNT) t.count = malloc((size_t)info.entries * sizeof *t.count);
    assert_int_equal(gpuopt_elimination_message_get(e, GPUOPT_HOST, message, 0, t.cost, t.value, t.count), GPUOPT_OK);
    return t;
}

static void table_free(table t) {
    free(t.cost);
    free(t.value);
    free(t.count);
}

/* LOG_SUM_EXP on a GPU agrees up to rounding; everything else is sums of integers and agrees exactly. */
static void same_message(gpuopt_elimination *streamed, gpuopt_elimination *exact, const model *m, int32_t message,
                         uint64_t seed) {
    int64_t entries = handle_message(exact, message).entries, k;
    table a, b;
    assert_true(handle_message(streamed, message).entries == entries);
    a = table_of(streamed, m, message);
    b = table_of(exact, m, message);
    for (k = 0; k < entries; k++) {
        int same = m->type == GPUOPT_COST_INT64 ? a.cost[k] == b.cost[k]
                   : m->semiring == GPUOPT_SEMIRING_LOG_SUM_EXP && test_on("cuda")
                       ? close_to(m, a.value[k], b.value[k])
                       : !memcmp(a.value + k, b.value + k, 8);
        if (same && (!a.count || a.count[k] == b.count[k])) continue;
        model_print(m);
        fail_msg("message %d of %lld entries differs at %lld (seed %llu)", (int)message, (long long)entries,
                 (long long)k, (unsigned long long)seed);
    }
    table_free(a);
    table_free(b);
}

static void same_info(const gpuopt_elimination_info *a, const gpuopt_elimination_info *b, const model *m,
                      uint64_t seed) {
    must_not(a->outcome != b->outcome ? "another outcome" : NULL, m, seed);
    must_not(a->cost != b->cost || a->count != b->count ? "another cost or count" : NULL, m, seed);
    must_not(close_to(m, a->value, b->value) ? NULL : "another value", m, seed);
}

/* The largest messages are in host memory, at least one. */
static void largest_on_host(gpuopt_elimination *e, int32_t messages) {
    int64_t least = INT64_MAX, most = 0;
    int32_t k;
    for (k = 0; k < messages; k++) {
        int64_t entries = handle_message(e, k).entries;
        gpuopt_device_view view = GPUOPT_INIT(gpuopt_device_view);
        gpuopt_status status = gpuopt_elimination_message_device_view(e, k, 0, &view);
        assert_true(status == GPUOPT_OK || status == GPUOPT_ERROR_UNSUPPORTED);
        if (status) least = entries < least ? entries : least;
        else most = entries > most ? entries : most;
    }
    assert_true(least < INT64_MAX && most <= least);
}

/* ---- Random models ---- */

/* Draws an order to search for, a given one that leaves variables over, or conditions. */
static void draw_order(uint64_t *seed, const model *m, gpuopt_elimination_desc *desc,
                       gpuopt_elimination_messages *messages, int32_t *permutation) {
    draw_permutation(seed, m->variables, permutation);
    desc->messages = messages;
    messages->join_rest = (int)test_random_int(seed, 0, 1);
    if (test_random_int(seed, 0, 1)) {
        desc->order = permutation;
        desc->order_count = (int32_t)test_random_int(seed, m->variables / 2, m->variables);
    } else if (test_random_int(seed, 0, 1)) {
        desc->evidence = permutation;
        desc->evidence_count = m->variables / 4;
    }
}

/* The data compared with the runs of a model. */
typedef struct reference {
    gpuopt_elimination *exact;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment best;
    int32_t value[MOST_VARIABLES];
} reference;

/* Memory is as planned, to the byte; the same messages, answer and assignment; and again from the start. */
static void one_run(gpuopt_context *context, test_host *host, const gpuopt_elimination_desc *desc, const model *m,
                    const reference *r, uint64_t *seed) {
    const int kept = desc->memory->retain_messages != GPUOPT_OFF;
    const uint64_t before[2] = {host->bytes[0], host->bytes[1]};
    uint64_t host_bytes, device_bytes, own[2];
    int32_t value[MOST_VARIABLES] = {0}, zero[MOST_VARIABLES] = {0}, k;
    gpuopt_elimination_estimate e;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment found;
    gpuopt_elimination *streamed;
    assert_int_equal(handle_plan(context, desc, &e), GPUOPT_OK);
    streamed = handle_create(context, desc, host);
    for (k = 0; k < 2; k++) own[k] = host->bytes[k] - before[k];
    host_bytes = own[GPUOPT_HOST] - (test_on("cuda") ? 0 : e.memory.device_bytes); /* no device: all is host memory */
    device_bytes = test_on("cuda") ? own[GPUOPT_DEVICE] : own[GPUOPT_HOST] - e.memory.host_bytes;
    assert_true(host_bytes == e.memory.host_bytes && device_bytes == e.memory.device_bytes &&
                device_bytes <= desc->memory->bytes);
    info = handle_finish(streamed, (int32_t)test_random_int(seed, 1, 30));
    same_info(&info, &r->info, m, *seed);
    for (k = 0; k < e.messages; k++) {
        assert_true(!kept || handle_message(streamed, k).ready);
        if (handle_message(streamed, k).ready) same_message(streamed, r->exact, m, k, *seed);
    }
    if (kept && e.policy == GPUOPT_POLICY_STREAM) largest_on_host(streamed, e.messages);
    if (kept && m->semiring != GPUOPT_SEMIRING_LOG_SUM_EXP) {
        gpuopt_desc_init(&found, sizeof found);
        assert_int_equal(gpuopt_elimination_assign(streamed, GPUOPT_HOST, 0, value, &found), GPUOPT_OK);
        assert_true(found.outcome == r->best.outcome && found.cost == r->best.cost);
        assert_memory_equal(&found.value, &r->best.value, sizeof found.value);
        assert_memory_equal(value, r->value, sizeof *value * (size_t)m->variables);
    }
    if (desc->evidence_count) {
        assert_int_equal(gpuopt_elimination_set_evidence(streamed, GPUOPT_HOST, 0, zero), GPUOPT_OK);
        info = handle_finish(streamed, 3);
        same_info(&info, &r->info, m, *seed);
    }
    gpuopt_elimination_destroy(streamed);
    for (k = 0; k < 2; k++) assert_true(host->bytes[k] == before[k]);
}

static void chunks_of_random_models(void **state) {
    const streaming_totals start = streaming_done;
    test_host host;
    gpuopt_context *context = streaming_context(&host);
    int32_t permutation[MOST_VARIABLES];
    long runs[2] = {0, 0}, of_bits[65] = {0};
    uint64_t seed;
    int k, count, rounds = test_few() ? 20 : 60;
    (void)state;
    for (seed = 1; seed <= (uint64_t)rounds; seed++)
        for (k = 0; k < MODEL_KINDS; k++) {
            uint64_t random = seed * 1000 + (uint64_t)k;
            model m = draw_model(&random, &model_kind[k], seed % 8 == 0);
            gpuopt_elimination_desc desc = model_desc(&m);
            gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
            gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
            gpuopt_elimination_estimate e;
            reference r;
            memset(&r, 0, sizeof r);
            desc.policy = GPUOPT_POLICY_EXACT;
            draw_order(&random, &m, &desc, &messages, permutation);
            assert_int_equal(handle_plan(context, &desc, &e), GPUOPT_OK);
            gpuopt_desc_init(&r.best, sizeof r.best);
            r.exact = handle_create(context, &desc, &host);
            r.info = handle_finish(r.exact, 100);
            if (m.semiring != GPUOPT_SEMIRING_LOG_SUM_EXP)
                assert_int_equal(gpuopt_elimination_assign(r.exact, GPUOPT_HOST, 0, r.value, &r.best), GPUOPT_OK);
            desc.policy = GPUOPT_POLICY_STREAM;
            desc.memory = &memory;
            memory.bytes = e.memory.device_bytes;
            for (count = 0; count < 6; count++) { /* into less and less, as far as it goes */
                uint64_t part = (uint64_t)test_random_int(&random, 2, 6);
                memory.bytes -= count == 0 ? 1 : memory.bytes / part;
                memory.retain_messages = test_random_int(&random, 0, 3) ? GPUOPT_ON : GPUOPT_OFF;
                if (handle_plan(context, &desc, &e)) break;
                assert_true(e.policy == GPUOPT_POLICY_STREAM ||
                            memory.retain_messages == GPUOPT_OFF); /* that may fit */
                one_run(context, &host, &desc, &m, &r, &random);
                runs[memory.retain_messages == GPUOPT_OFF]++;
                of_bits[e.bits]++;
            }
            gpuopt_elimination_destroy(r.exact);
            model_free(&m);
        }
    gpuopt_context_destroy(context);
    assert_true(runs[0] > 2 * rounds && runs[1] > rounds / 2);
    for (k = 8; k <= 64; k *= 2) assert_true(of_bits[k] > rounds / 8);
    if (test_on("cuda")) return; /* the counts are the other backend's */
    printf("%ld jobs, %ld chunks; %ld jobs cut in inner digits, %ld chunks short; %ld parts held\n",
           streaming_done.jobs - start.jobs, streaming_done.chunks - start.chunks, streaming_done.inner - start.inner,
           streaming_done.short_chunks - start.short_chunks, streaming_done.held - start.held);
    assert_true(streaming_done.chunks - start.chunks > 3 * (streaming_done.jobs - start.jobs));
    assert_true(streaming_done.inner > start.inner && streaming_done.held > start.held);
    assert_true(streaming_done.short_chunks > start.short_chunks);
}

/* ---- Min-plus products, and all assignments ---- */

/* Pairs of variables with a function over them; the first `eliminated` variables are eliminated. */
typedef struct shape {
    int32_t variables, eliminated, domain[6], pair[6][2];
} shape;

static void chunks_of(const shape *of, int64_t largest, int32_t bits) {
    static const int32_t order[] = {0, 1, 2, 3, 4, 5};
    test_host host;
    gpuopt_context *context = streaming_context(&host);
    model m = model_make(GPUOPT_COST_INT64, GPUOPT_SEMIRING_MIN_SUM, of->variables, of->domain);
    uint64_t seed = 5, part;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_estimate exact, e;
    int32_t f, runs = 0;
    reference r;
    memset(&r, 0, sizeof r);
    for (f = 0; f < 6 && of->pair[f][1]; f++) {
        gpuopt_elimination_function *g = model_add(&m, 2, of->pair[f], -1);
        int64_t n, entries = model_entries(&m, of->pair[f], 2);
        for (n = 0; n < entries; n++) model_set(&m, g, n, (double)test_random_int(&seed, 0, largest));
    }
    desc = model_desc(&m);
    desc.order = order;
    desc.order_count = of->eliminated;
    desc.policy = GPUOPT_POLICY_EXACT;
    assert_int_equal(handle_plan(context, &desc, &exact), GPUOPT_OK);
    assert_int_equal(exact.bits, bits);
    gpuopt_desc_init(&r.best, sizeof r.best);
    r.exact = handle_create(context, &desc, &host);
    r.info = handle_finish(r.exact, 10);
    assert_int_equal(gpuopt_elimination_assign(r.exact, GPUOPT_HOST, 0, r.value, &r.best), GPUOPT_OK);
    desc.policy = GPUOPT_POLICY_STREAM;
    for (part = 2; part < 6; part++, runs++) {
        desc.memory = &memory;
        memory.bytes = exact.memory.device_bytes / part;
        if (handle_plan(context, &desc, &e)) break;
        one_run(context, &host, &desc, &m, &r, &seed);
    }
    assert_true(runs >= 2);
    gpuopt_elimination_destroy(r.exact);
    model_free(&m);
    gpuopt_context_destroy(context);
}

/* Variable 0 shares functions with 2, 3 and 4, variable 1 with 2, 3 and 5. After both, eliminating 2 is a batch, 3, of
 * min-plus products of two messages, all in host memory. */
static void chunks_of_products(void **state) {
    static const shape products = {6, 6, {71, 68, 75, 66, 73, 70}, {{0, 2}, {0, 3}, {0, 4}, {1, 2}, {1, 3}, {1, 5}}};
    (void)state;
    chunks_of(&products, 20, 8);
    chunks_of(&products, 5000, 16);
    chunks_of(&products, 1 << 20, 32);
}

/* A message with a prime number of rows: for any number of rows of tiles and chunks, some have fewer. */
static void chunks_of_rows(void **state) {
    static const shape rows = {3, 1, {8, 401, 400}, {{0, 1}, {0, 2}}};
    const streaming_totals start = streaming_done;
    (void)state;
    chunks_of(&rows, 20, 8);
    chunks_of(&rows, 5000, 16);
    chunks_of(&rows, 1 << 20, 32);
    assert_true(test_on("cuda") || streaming_done.short_rows >= start.short_rows + 6);
}

/* Compared with all assignments. Host memory stays within its limit, and AUTO streams only if there is a limit. */
static void all_assignments(void **state) {
    test_host host;
    gpuopt_context *context = streaming_context(&host);
    int32_t order[MODEL_VARIABLES], k, part;
    (void)state;
    for (k = 0; k < MODEL_KINDS; k++) {
        uint64_t seed = 21 + (uint64_t)k;
        model m = model_dense(&seed, model_kind[k].type, model_kind[k].semiring, 6, 9);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
        gpuopt_elimination_estimate exact, e;
        int runs = 0;
        brute b;
        assert_int_equal(handle_plan(context, &desc, &exact), GPUOPT_OK);
        assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
        b = brute_force(&m, order, m.variables, NULL, NULL);
        for (part = 15; part >= 1; part -= 2) {
            answer a;
            desc.policy = GPUOPT_POLICY_STREAM;
            desc.memory = &memory;
            memory.bytes = exact.memory.device_bytes * (uint64_t)part / 16;
            memory.host_bytes = 0;
            if (handle_plan(context, &desc, &e)) break;
            assert_int_equal(e.policy, GPUOPT_POLICY_STREAM);
            memory.host_bytes = e.memory.host_bytes;
            a = handle_answer(context, &desc, &host, 2, order);
            must_not(answer_fault(&m, &b, &a, 1), &m, seed);
            memory.host_bytes = 256; /* not a table that would be put there */
            host.error[0] = 0;
            assert_int_equal(handle_plan(context, &desc, &e), GPUOPT_ERROR_UNSUPPORTED);
            assert_non_null(strstr(host.error, "byte"));
            desc.policy = GPUOPT_POLICY_AUTO;
            memory.host_bytes = 0;
            assert_true(handle_plan(context, &desc, &e) || e.policy != GPUOPT_POLICY_STREAM);
            runs++;
        }
        assert_true(runs > 0);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(chunks_of_random_models),
                                          cmocka_unit_test(chunks_of_products), cmocka_unit_test(chunks_of_rows),
                                          cmocka_unit_test(all_assignments)};
TEST_MAIN(tests)
