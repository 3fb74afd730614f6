/* SPDX-License-Identifier: MIT
 *
 * What benchmarks have in common that measure several backends side by side.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "examples/common.h"

enum { NAME = 256, MOST_MACHINES = 4, MOST_REPEATS = 64 };

/* What a device-to-device copy moves on an H200, bytes a second: shares of the memory's speed are shares of this. */
#define COPY_SPEED 4.28e12

typedef struct machine {
    gpuopt_context *context;
    const char *name; /* as asked for: cpu, cpu:N, cuda */
    int threads, cuda;
    speaker speaker;
} machine;

/* The next of the words between commas; 0: that was the last. */
int next_word(const char **at, char *word);
/* Sorts. */
double median(double *value, int count);
/* Says what failed, with the status in words. Returns -1. */
int failed(const machine *on, const char *name, const char *call, gpuopt_status status);

/* Contexts for the words of `list` ("cpu", "cpu:N" or "cuda"), whose names are kept in `name`. Returns how many, or -1:
 * `program` has said what there is not. */
int open_machines(const char *program, const char *list, machine machines[MOST_MACHINES],
                  char name[MOST_MACHINES][NAME]);
void close_machines(machine *machines, int count);

#endif /* TESTS_BENCH_BENCH_H */
