/* SPDX-License-Identifier: MIT
 *
 * A model through the calls, and the errors in the answer.
 */
#ifndef TESTS_ELIMINATION_HANDLE_H
#define TESTS_ELIMINATION_HANDLE_H

#include "tests/elimination/brute.h"
#include "tests/support/support.h"

/* The report of a handle at its end. */
typedef struct answer {
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment assignment; /* struct_size 0: there is no assignment (LOG_SUM_EXP, without keep) */
    int32_t value[MODEL_VARIABLES];
} answer;

/* Both calls must succeed; otherwise the library's log is shown. */
gpuopt_elimination *handle_create(gpuopt_context *context, const gpuopt_elimination_desc *desc, const test_host *host);
gpuopt_elimination_info handle_finish(gpuopt_elimination *elimination, int32_t at_once);
/* The info of a copy. */
gpuopt_elimination_info handle_info(gpuopt_elimination *elimination, int32_t copy);
gpuopt_elimination_message_info handle_message(gpuopt_elimination *elimination, int32_t message);

/* From plan to assign; then the handle is destroyed. order [variables] receives the order that was used: the
 * descriptor's, or the one found. */
answer handle_answer(gpuopt_context *context, gpuopt_elimination_desc *desc, const test_host *host, int32_t at_once,
                     int32_t *order);

/* The bytes that gpuopt_elimination_memory.bytes limits: device memory, on the CPU host memory. */
uint64_t handle_planned(const gpuopt_elimination_estimate *e);
gpuopt_status handle_plan(gpuopt_context *context, const gpuopt_elimination_desc *desc, gpuopt_elimination_estimate *e);
/* As handle_answer; the handle must allocate exactly the planned memory, and none later. */
answer handle_measured(gpuopt_context *context, test_host *host, const gpuopt_elimination_desc *desc);

/* The header's value of a forbidden entry in a host array, else the entry itself. */
long double entry_of(const model *m, int64_t cost, double value);
/* Equal, or with fractions and LOG_SUM_EXP equal up to rounding. */
int close_to(const model *m, long double a, long double b);
/* a is on the side of b where a bound lies: at most (MAX_SUM, LOG_SUM_EXP: at least). */
int bounds(const model *m, long double a, long double b);
long double cost_of_info(const model *m, const gpuopt_elimination_info *info);

/* NULL, or the contradiction to the reference. exact: the bound is the answer, and the assignment the first one. */
const char *answer_fault(const model *m, const brute *b, const answer *a, int exact);
/* Fails and prints the model if there is a fault. */
void must_not(const char *fault, const model *m, uint64_t seed);

/* Packs a message of copy 0, and checks that a byte less is not enough. The caller frees the bytes. */
uint8_t *handle_pack(gpuopt_elimination *elimination, int32_t message, uint64_t *size);

#endif /* TESTS_ELIMINATION_HANDLE_H */
