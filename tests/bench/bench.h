/* SPDX-License-Identifier: MIT
 *
 * Shared by the benchmarks that measure several backends side by side.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "examples/common.h"

enum { NAME = 256, MOST_MACHINES = 4, MOST_REPEATS = 64 };

/* Bytes per second moved by a device-to-device copy on an H200. Shares of the memory bandwidth are relative to this. */
#define COPY_SPEED 4.28e12

/* A backend to be measured. */
typedef struct machine {
    gpuopt_context *context;
    const char *name; /* as given: cpu, cpu:N or cuda */
    int threads, cuda;
    log_printer printer;
} machine;

/* Copies the next word of a list separated by commas, and advances *at. Returns 0 at the end of the list. */
int next_word(const char **at, char *word);
/* Sorts values in ascending order. */
void sort_values(double *value, int count);
/* Returns the median of `count` values, and sorts them. */
double median(double *value, int count);
/* Prints an error message with the name of the call and its status. Returns -1. */
int failed(const machine *on, const char *name, const char *call, gpuopt_status status);

/* Makes contexts for the words of `list` ("cpu", "cpu:N" or "cuda"), and copies the words to `name`. Returns their
 * number, or -1 after an error message. */
int open_machines(const char *program, const char *list, machine machines[MOST_MACHINES],
                  char name[MOST_MACHINES][NAME]);
void close_machines(machine *machines, int count);

#endif /* TESTS_BENCH_BENCH_H */
