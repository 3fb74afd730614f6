/* SPDX-License-Identifier: MIT
 *
 * Shared by the benchmarks: lists of words, medians, and contexts on several backends.
 */
#include "tests/bench/bench.h"

#include <stdlib.h>
#include <string.h>

int next_word(const char **at, char *word) {
    size_t length = strcspn(*at, ",");
    if (!**at) return 0;
    snprintf(word, NAME, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ',');
    return 1;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void sort_values(double *value, int count) { qsort(value, (size_t)count, sizeof *value, by_size); }

double median(double *value, int count) {
    sort_values(value, count);
    return value[count / 2];
}

int failed(const machine *on, const char *name, const char *call, gpuopt_status status) {
    fprintf(stderr, "%s, %s: %s: %s\n", on->name, name, call, gpuopt_status_string(status));
    return -1;
}

/* Makes a context for "cpu", "cpu:N" or "cuda". Returns 0, or -1 after an error message. */
static int open_machine(const char *program, const char *name, machine *m) {
    char backend[NAME];
    const char *opened, *colon = strchr(name, ':');
    int64_t threads = 1;
    snprintf(backend, sizeof backend, "%.*s", (int)strcspn(name, ":"), name);
    m->name = name;
    m->cuda = strcmp(backend, "cuda") == 0;
    m->printer.name = name;
    if ((strcmp(backend, "cpu") == 0 || (m->cuda && !colon)) && (!colon || whole_number(colon + 1, 1024, &threads)) &&
        open_context(backend, 0, (int)threads, &m->printer, &m->context, &opened) == GPUOPT_OK) {
        m->threads = (int)threads;
        return 0;
    }
    fprintf(stderr, "%s: no backend %s here\n", program, name);
    return -1;
}

int open_machines(const char *program, const char *list, machine machines[MOST_MACHINES],
                  char name[MOST_MACHINES][NAME]) {
    int count = 0;
    memset(machines, 0, MOST_MACHINES * sizeof *machines);
    for (; count < MOST_MACHINES && next_word(&list, name[count]); count++) {
        if (open_machine(program, name[count], &machines[count]) == 0) continue;
        close_machines(machines, count);
        return -1;
    }
    return count;
}

void close_machines(machine *machines, int count) {
    while (count-- > 0) gpuopt_context_destroy(machines[count].context);
}
