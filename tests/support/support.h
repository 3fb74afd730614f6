/* SPDX-License-Identifier: MIT
 *
 * What the test programs share. A program is run as  PROGRAM BACKEND  and every test in it uses that backend.
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

/* A caller whose services are watched: allocations are counted and can be made to fail, log messages are kept. */
typedef struct test_host {
    long live;         /* blocks */
    long allocations;  /* ever */
    long fail_at;      /* the allocation with this number fails; 0: none */
    int for_good;      /* not 0: and so do all after it */
    int denies;        /* all fail, as long as this is not 0 */
    long denied;       /* how many did, since the last test_deny_memory() */
    uint64_t bytes[2]; /* live, by gpuopt_memory_space */
    uint64_t peak[2];
    char error[1024];       /* the last message of level 0 */
    char warning[256];      /* the last message of level 1 */
    char info[256];         /* the last message of level 2 */
    int messages, warnings; /* of all levels, and of level 1 */
} test_host;

/* The backend under test, from the command line. */
extern const char *test_backend_name;

/* cmocka_run_group_tests with the backend taken from argv, and all tests skipped, loudly, where there is no such
 * device. */
int test_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests, size_t count);
#define TEST_MAIN(tests) \
    int main(int argc, char **argv) { return test_main(argc, argv, __FILE__, tests, sizeof(tests) / sizeof *(tests)); }

/* A context on the backend under test, served by host (zeroed first); host may be NULL. */
gpuopt_context *test_context(test_host *host);
gpuopt_context_desc test_context_desc(test_host *host);
/* The same with tidy_matrices OFF: matrices with zeros or duplicates are refused. */
gpuopt_context *test_strict_context(test_host *host);

/* What a caller held before a _create; its peaks begin there. */
typedef struct test_held {
    uint64_t bytes[2]; /* by gpuopt_memory_space */
} test_held;
test_held test_held_by(test_host *host);
/* The _create has taken what was planned, for a while no more than that, and device memory on CUDA alone. */
void test_as_planned(const test_host *host, const test_held *before, const gpuopt_memory_plan *plan);
/* A stop hook that stops whenever it is asked, and adds 1 to the int that is the caller's `user`. */
int test_stop(void *user);
/* From now on, or no longer, all allocations of the caller fail. Returns how many did since the last call. */
long test_deny_memory(test_host *host, int denies);
/* Calls life(desc, of), which makes a context and handles and destroys them, with the first allocation failing, then
 * the second one, until none fails; then once more, where all fail from that one on. Each ends without a leak and with
 * MEMORY and a message, the last one with OK. Returns how many failed. */
long test_runs_out(gpuopt_status (*life)(const gpuopt_context_desc *desc, const void *of), const void *of);
/* The call was refused with this status, and the log has these words. */
void test_refused(test_host *host, gpuopt_status found, gpuopt_status expected, const char *words);

/* Whether the backend under test is this one. "cuda" is the emulated one, too. */
int test_on(const char *backend);
/* Whether it is cuda-emulated, where a kernel takes a hundred times as long. */
int test_emulated(void);
/* Whether kernels take a hundred times as long, so that tests repeat little: on cuda-emulated, and with the environment
 * variable GPUOPT_TEST_FEW, which tests/gpu/sanitize.sh and the sanitizers' builds of .bazelrc set. */
int test_few(void);
/* How often a test does something: so often on the CPU, so often on a GPU, and a tenth of that if test_few(). */
int test_times(int on_the_cpu, int on_the_gpu);

/* From now on, or no longer, it is an error if CUDA is asked for memory, a stream and the like; noticed by the emulated
 * GPU alone. (That a kernel is launched which no _create has loaded is always noticed there.) */
void test_forbid_allocation(int forbidden);

/* On the emulated GPU: the device is lost to the calling thread after so many of its calls for it, and how many there
 * have been, see emulated_lose_device(). Elsewhere nothing happens, and there are none. */
void test_lose_device(long calls);
long test_device_calls(void);
/* On the emulated GPU how often device memory has been taken from the driver, pools included; else 0. */
long test_driver_allocations(void);

/* Device memory for a test. Without the CUDA backend these calls fail the test. Copies go in either direction, and
 * wait. */
void *test_device_allocate(size_t bytes);
void test_device_release(void *memory);
void test_device_copy(void *to, const void *from, size_t bytes);

/* A file of the shared test data, decompressed, as a path that stays valid until the next call; NULL without
 * GPUOPT_TEST_DATA or the file. */
const char *test_data(const char *file);
/* GPUOPT_TEST_DATA, or NULL; then prints what is skipped because of that. */
const char *test_data_root(const char *skipped);

double test_random(uint64_t *state); /* in [0, 1), the same everywhere */
int64_t test_random_int(uint64_t *state, int64_t low, int64_t high);

#endif /* TESTS_SUPPORT_SUPPORT_H */
