/* SPDX-License-Identifier: MIT
 *
 * The promises of gpuopt.h for every family, checked for all five on the backend under test.
 */
#include <stdio.h>
#include <string.h>

#include "tests/contract/families.h"

static void *created(const family *f, gpuopt_context *context, gpuopt_layout layout, int crossing) {
    anything desc = described(f, layout, crossing);
    void *handle = NULL;
    assert_int_equal(f->create(context, &desc, &handle), GPUOPT_OK);
    assert_non_null(handle);
    if (f->load) assert_int_equal(f->load(handle, layout), GPUOPT_OK);
    return handle;
}

static void check_result(const family *f, void *handle) {
    double answer[LARGEST_ANSWER / sizeof(double)];
    memset(answer, 0x55, sizeof answer);
    assert_true(f->answer_bytes <= LARGEST_ANSWER);
    assert_int_equal(f->read(handle, GPUOPT_HOST, answer), GPUOPT_OK);
    assert_true(family_agrees(f, answer));
}

static anything info_of(const family *f, void *handle) {
    anything info = sized(f->info_size);
    assert_int_equal(f->get_info(handle, &info), GPUOPT_OK);
    return info;
}

static void finish(const family *f, void *handle) {
    anything info = sized(f->info_size);
    int calls = 0;
    do {
        assert_int_equal(f->work(handle, 1, &info), GPUOPT_OK);
        assert_true(++calls < 1000);
    } while (f->outcome(&info) == GPUOPT_MORE);
    check_result(f, handle);
}

#define FOR_ALL_FAMILIES(f) for (const family *f = families; f < families + family_count; f++)

/* ---- Life, memory ---- */

static void plan_and_life(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        anything desc = described(f, GPUOPT_LAYOUT_CSR, 0);
        gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan), again = plan;
        uint64_t before[2] = {host.bytes[0], host.bytes[1]};
        long live = host.live, allocations;
        void *handle;
        assert_int_equal(f->plan(context, &desc, &plan), GPUOPT_OK);
        assert_int_equal(host.live, live);
        memcpy(host.peak, host.bytes, sizeof host.peak);
        assert_int_equal(f->create(context, &desc, &handle), GPUOPT_OK);
        assert_int_equal(host.bytes[GPUOPT_HOST] - before[GPUOPT_HOST], plan.host_bytes);
        assert_int_equal(host.bytes[GPUOPT_DEVICE] - before[GPUOPT_DEVICE], plan.device_bytes);
        assert_true(host.peak[GPUOPT_HOST] - before[GPUOPT_HOST] <= plan.host_bytes + plan.create_bytes);
        f->destroy(handle);
        assert_int_equal(f->plan_and_create(context, &desc, &again, &handle), GPUOPT_OK);
        assert_memory_equal(&again, &plan, sizeof plan);
        if (f->load) assert_int_equal(f->load(handle, GPUOPT_LAYOUT_CSC), GPUOPT_OK);
        allocations = host.allocations;
        test_forbid_allocation(1);
        finish(f, handle);
        test_forbid_allocation(0);
        assert_int_equal(host.allocations, allocations); /* neither a step nor reading the result allocates */
        f->destroy(handle);
        f->destroy(NULL);
        assert_int_equal(host.live, live);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

/* For every allocation that fails, _create returns MEMORY, leaves no handle and releases all memory. */
static void memory_may_run_out(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        anything desc = described(f, GPUOPT_LAYOUT_CSC, 0);
        long live = host.live;
        int failures = 0;
        void *handle;
        for (;; failures++) {
            gpuopt_status status;
            host.fail_at = host.allocations + failures + 1;
            handle = &host;
            status = f->create(context, &desc, &handle);
            if (status == GPUOPT_OK) break;
            assert_int_equal(status, GPUOPT_ERROR_MEMORY);
            assert_null(handle);
            assert_int_equal(host.live, live);
            assert_string_equal(gpuopt_context_last_error(context), host.error);
        }
        assert_true(failures > 0);
        f->destroy(handle);
        gpuopt_context_destroy(context);
    }
}

/* A caller that gives no more memory: no handle can be created, and existing handles continue to work. */
static void memory_is_denied(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        anything desc = described(f, GPUOPT_LAYOUT_CSC, 0);
        void *handle = NULL, *other = &host;
        long live;
        assert_int_equal(f->create(context, &desc, &handle), GPUOPT_OK);
        if (f->load) assert_int_equal(f->load(handle, GPUOPT_LAYOUT_CSC), GPUOPT_OK);
        live = host.live;
        test_deny_memory(&host, 1);
        assert_int_equal(f->create(context, &desc, &other), GPUOPT_ERROR_MEMORY);
        assert_null(other);
        assert_true(host.live == live && test_deny_memory(&host, 1) > 0);
        finish(f, handle);
        assert_int_equal(test_deny_memory(&host, 0), 0);
        assert_int_equal(f->create(context, &desc, &other), GPUOPT_OK);
        f->destroy(other);
        f->destroy(handle);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

/* ---- Structs and refusals ---- */

/* ARGUMENT, and the log and last_error name the call. */
static void refused(gpuopt_context *context, test_host *host, gpuopt_status status, const char *name,
                    const char *call) {
    char text[128];
    snprintf(text, sizeof text, "gpuopt_%s_%s", name, call);
    assert_int_equal(status, GPUOPT_ERROR_ARGUMENT);
    assert_int_equal(strncmp(gpuopt_context_last_error(context), text, strlen(text)), 0);
    assert_string_equal(gpuopt_context_last_error(context), host->error);
}

static void create_refuses(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        anything desc = described(f, GPUOPT_LAYOUT_CSR, 0), bad;
        void *handle = &host;
        assert_string_equal(gpuopt_context_last_error(context), "");
        refused(context, &host, f->create(context, NULL, &handle), f->name, "create");
        assert_null(handle);
        refused(context, &host, f->create(context, &desc, NULL), f->name, "create");
        refused(context, &host, f->plan(context, &desc, NULL), f->name, "create");
        assert_int_equal(f->create(NULL, &desc, &handle), GPUOPT_ERROR_ARGUMENT);
        bad = desc, bad.struct_size = 0;
        refused(context, &host, f->create(context, &bad, &handle), f->name, "create");
        bad = desc, bad.struct_size += sizeof(double), bad.byte[f->desc_size] = 1;
        refused(context, &host, f->create(context, &bad, &handle), f->name, "create");
        bad.byte[f->desc_size] = 0; /* a later version's member with its default */
        assert_int_equal(f->create(context, &bad, &handle), GPUOPT_OK);
        f->destroy(handle);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

/* A refused step changes neither the info nor the final answer. */
static void steps_refuse(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        void *handle = created(f, context, GPUOPT_LAYOUT_CSC, 0);
        anything before = info_of(f, handle), after, sizeless = sized(f->info_size);
        sizeless.struct_size = 0;
        refused(context, &host, f->work(handle, 0, &sizeless), f->name, f->step);
        refused(context, &host, f->get_info(handle, &sizeless), f->name, "get_info");
        refused(context, &host, f->get_info(handle, NULL), f->name, "get_info");
        assert_int_equal(f->work(NULL, 0, NULL), GPUOPT_ERROR_ARGUMENT);
        assert_int_equal(f->get_info(NULL, &after), GPUOPT_ERROR_ARGUMENT);
        after = info_of(f, handle);
        assert_memory_equal(&before, &after, sizeof before);
        finish(f, handle);
        f->destroy(handle);
        gpuopt_context_destroy(context);
    }
}

/* ---- Infos ---- */

static void info_at_any_time(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        gpuopt_context *context = test_context(NULL);
        void *handle = created(f, context, GPUOPT_LAYOUT_CSC, 0), *other = created(f, context, GPUOPT_LAYOUT_CSC, 0);
        anything info = info_of(f, handle), step = sized(f->info_size);
        assert_int_equal(f->outcome(&info), GPUOPT_MORE);
        assert_int_equal(f->work(handle, 0, &step), GPUOPT_OK);
        info = info_of(f, handle);
        assert_memory_equal(&info, &step, sizeof info);
        /* A step without an info does the same work. */
        assert_int_equal(f->work(other, 0, NULL), GPUOPT_OK);
        info = info_of(f, other);
        assert_memory_equal(&info, &step, sizeof info);
        finish(f, handle);
        finish(f, other);
        f->destroy(handle);
        f->destroy(other);
        gpuopt_context_destroy(context);
    }
}

/* ---- Host and device memory ---- */

static void host_or_device(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        test_host host;
        gpuopt_context *context = test_context(&host);
        void *handle = created(f, context, GPUOPT_LAYOUT_CSC, 0), *device;
        unsigned char answer[LARGEST_ANSWER], painted[sizeof answer];
        memset(answer, 0x55, sizeof answer);
        memcpy(painted, answer, sizeof answer);
        assert_int_equal(f->write(handle, (gpuopt_memory_space)2, f->vector), GPUOPT_ERROR_ARGUMENT);
        assert_int_equal(f->read(handle, (gpuopt_memory_space)2, answer), GPUOPT_ERROR_ARGUMENT);
        if (!test_on("cuda")) {
            assert_int_equal(f->write(handle, GPUOPT_DEVICE, f->vector), GPUOPT_ERROR_UNSUPPORTED);
            assert_int_equal(f->read(handle, GPUOPT_DEVICE, answer), GPUOPT_ERROR_UNSUPPORTED);
            assert_memory_equal(answer, painted, sizeof answer);
            finish(f, handle);
        } else {
            size_t bytes = f->vector_bytes > f->answer_bytes ? f->vector_bytes : f->answer_bytes;
            device = test_device_allocate(bytes);
            test_device_copy(device, f->vector, f->vector_bytes);
            assert_int_equal(f->write(handle, GPUOPT_DEVICE, device), GPUOPT_OK);
            finish(f, handle);
            assert_int_equal(f->read(handle, GPUOPT_DEVICE, device), GPUOPT_OK);
            assert_int_equal(gpuopt_context_wait(context), GPUOPT_OK);
            test_device_copy(answer, device, f->answer_bytes);
            assert_true(family_agrees(f, answer));
            test_device_release(device);
        }
        f->destroy(handle);
        gpuopt_context_destroy(context);
        assert_int_equal(host.live, 0);
    }
}

/* ---- Models ---- */

static void rows_or_columns(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        gpuopt_context *context = test_context(NULL);
        int layout;
        for (layout = GPUOPT_LAYOUT_CSR; layout <= GPUOPT_LAYOUT_CSC && f->has_matrix; layout++) {
            void *handle = created(f, context, (gpuopt_layout)layout, 0);
            finish(f, handle);
            f->destroy(handle);
        }
        gpuopt_context_destroy(context);
    }
}

/* lb > ub: creates a handle, and its first step returns INFEASIBLE. */
static void crossing_bounds(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        gpuopt_context *context = test_context(NULL);
        if (f->has_bounds) {
            void *handle = created(f, context, GPUOPT_LAYOUT_CSC, 1);
            anything info = info_of(f, handle);
            assert_int_equal(f->outcome(&info), GPUOPT_MORE);
            assert_int_equal(f->work(handle, 0, &info), GPUOPT_OK);
            assert_int_equal(f->outcome(&info), GPUOPT_INFEASIBLE);
            info = info_of(f, handle);
            assert_int_equal(f->outcome(&info), GPUOPT_INFEASIBLE);
            f->destroy(handle);
        }
        gpuopt_context_destroy(context);
    }
}

/* ---- Stopping ---- */

static int asked, stop_at;
static int stop_now(void *user) {
    (void)user;
    return ++asked >= stop_at;
}

/* After any number of stops the work continues and ends with the same answer. */
static void stopping(void **state) {
    (void)state;
    FOR_ALL_FAMILIES(f) {
        int when, stopped = 0;
        for (when = 1; when <= 3; when++) {
            gpuopt_context_desc desc = test_context_desc(NULL);
            gpuopt_context *context;
            void *handle;
            anything info = sized(f->info_size);
            desc.stop = stop_now;
            asked = 0, stop_at = INT32_MAX;
            assert_int_equal(gpuopt_context_create(&desc, &context), GPUOPT_OK);
            handle = created(f, context, GPUOPT_LAYOUT_CSC, 0);
            asked = 0, stop_at = when;
            assert_int_equal(f->work(handle, 1, &info), GPUOPT_OK);
            stopped += asked >= when && f->outcome(&info) == GPUOPT_MORE;
            stop_at = INT32_MAX;
            finish(f, handle);
            f->destroy(handle);
            gpuopt_context_destroy(context);
        }
        /* A single launch of the CUDA backend may do all of so small a problem. */
        if (f->asks_stop && !test_on("cuda")) assert_true(stopped > 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plan_and_life),  cmocka_unit_test(memory_may_run_out), cmocka_unit_test(memory_is_denied),
    cmocka_unit_test(create_refuses), cmocka_unit_test(steps_refuse),       cmocka_unit_test(info_at_any_time),
    cmocka_unit_test(host_or_device), cmocka_unit_test(rows_or_columns),    cmocka_unit_test(crossing_bounds),
    cmocka_unit_test(stopping),
};

TEST_MAIN(tests)
