/* SPDX-License-Identifier: MIT
 *
 * Shared code of the test programs. A program is run as  PROGRAM BACKEND  and every test in it uses that backend.
 */
#ifndef TESTS_SUPPORT_SUPPORT_H
#define TESTS_SUPPORT_SUPPORT_H

/* cmocka.h needs these four first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpuopt.h"
#include "tests/support/backends.h"

/* A caller with watched services: allocations are counted and can be made to fail, log messages are kept. */
typedef struct test_host {
    long live;         /* blocks */
    long allocations;  /* in total */
    long fail_at;      /* the allocation with this number fails; 0: none */
    int for_good;      /* not 0: all later ones fail, too */
    int denies;        /* not 0: all fail */
    long denied;       /* failures since the last test_deny_memory() */
    uint64_t bytes[2]; /* live, by gpuopt_memory_space */
    uint64_t peak[2];
    char error[1024];       /* the last message of level 0 */
    char warning[256];      /* the last message of level 1 */
    char info[256];         /* the last message of level 2 */
    int messages, warnings; /* of all levels, and of level 1 */
} test_host;

/* The backend under test, from the command line. */
extern const char *test_backend_name;

/* cmocka_run_group_tests with the backend from argv. Without such a device it skips all tests and prints so. */
int test_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests, size_t count);
#define TEST_MAIN(tests) \
    int main(int argc, char **argv) { return test_main(argc, argv, __FILE__, tests, sizeof(tests) / sizeof *(tests)); }

/* A context on the backend under test, served by host (zeroed first); host may be NULL. */
gpuopt_context *test_context(test_host *host);
gpuopt_context_desc test_context_desc(test_host *host);
/* The same with tidy_matrices OFF: matrices with zeros or duplicates are refused. */
gpuopt_context *test_strict_context(test_host *host);
/* One thread of the CPU, with whose results those of the backend under test are compared. */
gpuopt_context *test_plain_context(void);
/* A context on the backend under test whose stop hook always stops, and counts its calls in *asked. */
gpuopt_context *test_stopping_context(int *asked);

/* A caller's memory before a _create; its peaks begin there. */
typedef struct test_held {
    uint64_t bytes[2]; /* by gpuopt_memory_space */
} test_held;
test_held test_held_by(test_host *host);
/* Checks that _create has allocated the planned memory, temporarily at most the planned peak, and device memory only on
 * CUDA. */
void test_as_planned(const test_host *host, const test_held *before, const gpuopt_memory_plan *plan);
/* Checks that gpuopt_FAMILY_create plans without allocating, then allocates as planned, and that _destroy frees it.
 * Fills *plan. */
#define TEST_PLANNED(family, host, context, desc, plan)                                           \
    do {                                                                                          \
        gpuopt_##family *handle_ = NULL;                                                          \
        const long live_ = (host)->live;                                                          \
        test_held before_;                                                                        \
        gpuopt_desc_init((plan), sizeof *(plan));                                                 \
        assert_int_equal(gpuopt_##family##_create((context), (desc), (plan), NULL), GPUOPT_OK);   \
        assert_int_equal((host)->live, live_);                                                    \
        before_ = test_held_by(host);                                                             \
        assert_int_equal(gpuopt_##family##_create((context), (desc), NULL, &handle_), GPUOPT_OK); \
        assert_non_null(handle_);                                                                 \
        test_as_planned((host), &before_, (plan));                                                \
        gpuopt_##family##_destroy(handle_);                                                       \
        assert_int_equal((host)->live, live_);                                                    \
    } while (0)
/* Checks that gpuopt_FAMILY_create refuses the descriptor, to make a handle and to plan one: the log has these words,
 * the handle is NULL, the plan is unchanged, and nothing is allocated. */
#define TEST_CREATE_REFUSED(family, host, context, desc, expected, words)                                       \
    do {                                                                                                        \
        gpuopt_##family *handle_ = (gpuopt_##family *)(host);                                                   \
        gpuopt_memory_plan plan_ = GPUOPT_INIT(gpuopt_memory_plan);                                             \
        const long live_ = (host)->live;                                                                        \
        plan_.host_bytes = 77;                                                                                  \
        test_refused((host), gpuopt_##family##_create((context), (desc), NULL, &handle_), (expected), (words)); \
        assert_null(handle_);                                                                                   \
        test_refused((host), gpuopt_##family##_create((context), (desc), &plan_, NULL), (expected), (words));   \
        assert_true(plan_.host_bytes == 77 && (host)->live == live_);                                           \
    } while (0)
/* A stop hook that always stops, and adds 1 to the int at the caller's `user`. */
int test_stop(void *user);
/* Makes all allocations of the caller fail from now on, or succeed again. Returns the number of failures since the last
 * call. */
long test_deny_memory(test_host *host, int denies);
/* Calls life(desc, of), which makes a context and handles and destroys them, with the first allocation failing, then
 * the second one, until none fails. Then calls it again, each time with all allocations failing from that one on. Each
 * call must end without a leak and with MEMORY and a message, the last one with OK. Returns how many failed. */
long test_runs_out(gpuopt_status (*life)(const gpuopt_context_desc *desc, const void *of), const void *of);
/* Checks that the call was refused with this status, and that the log has these words. */
void test_refused(test_host *host, gpuopt_status found, gpuopt_status expected, const char *words);

/* Whether the backend under test is this one. "cuda" includes the emulated one. */
int test_on(const char *backend);
/* Whether the backend is cuda-emulated, where a kernel takes a hundred times as long. */
int test_emulated(void);
/* Whether kernels take a hundred times as long, so that tests repeat little: on cuda-emulated, and with the environment
 * variable GPUOPT_TEST_FEW, which tests/gpu/sanitize.sh and the sanitizers' builds of .bazelrc set. */
int test_few(void);
/* A number of repetitions for the CPU or for a GPU; a twentieth of the latter if test_few(), and at least 2. */
int test_times(int on_the_cpu, int on_the_gpu);

/* From now on, or no longer, requests to CUDA for memory, a stream and the like are errors; only the emulated GPU
 * notices. (The emulated GPU always notices a launch of a kernel that no _create has loaded.) */
void test_forbid_allocation(int forbidden);

/* On the emulated GPU: test_lose_device makes the calling thread lose the device after `calls` of its calls to the
 * device; test_device_calls returns the number of these so far. See emulated_lose_device(). Elsewhere the first does
 * nothing, and the second returns 0. */
void test_lose_device(long calls);
long test_device_calls(void);
/* On the emulated GPU how often device memory has been allocated from the driver, pools included; else 0. */
long test_driver_allocations(void);

/* Device memory for a test. Without the CUDA backend these calls fail the test. Copies work in either direction, and
 * wait. */
void *test_device_allocate(size_t bytes);
void test_device_release(void *memory);
void test_device_copy(void *to, const void *from, size_t bytes);

/* A file of the shared test data, decompressed, as a path that stays valid until the next call; NULL without
 * GPUOPT_TEST_DATA or the file. */
const char *test_data(const char *file);
/* GPUOPT_TEST_DATA, or NULL; then prints the tests skipped because of that. */
const char *test_data_root(const char *skipped);

double test_random(uint64_t *state); /* in [0, 1), the same on all machines */
int64_t test_random_int(uint64_t *state, int64_t low, int64_t high);

#endif /* TESTS_SUPPORT_SUPPORT_H */
