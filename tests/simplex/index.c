/* SPDX-License-Identifier: MIT */
#include "tests/simplex/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

enum { LINE = 1024 };

/* Field `k` of a line, which ends there; "" where there is none. */
static const char *field(const char *line, int k, char *copy) {
    for (; k > 0 && *line; line++) k -= *line == ',';
    strcpy(copy, line);
    copy[strcspn(copy, ",\r\n")] = 0;
    return copy;
}

static int column(const char *header, const char *name) {
    char copy[LINE];
    int k;
    for (k = 0; *field(header, k, copy); k++)
        if (strcmp(copy, name) == 0) return k;
    return -1;
}

static int number(const char *line, int k) {
    char copy[LINE];
    return k < 0 ? -1 : atoi(field(line, k, copy));
}

/* The answer stands in the column status, or in the place of the objective. */
static gpuopt_outcome outcome_of(const char *line, int status) {
    char copy[LINE];
    field(line, status, copy);
    if (strcmp(copy, "infeasible") == 0) return GPUOPT_INFEASIBLE;
    return strcmp(copy, "unbounded") == 0 ? GPUOPT_UNBOUNDED : GPUOPT_OPTIMAL;
}

int index_read(const char *folder, index_entry *entry, int most) {
    const char *root = test_data_root(folder);
    char path[LINE], header[LINE], line[LINE], copy[LINE];
    FILE *file;
    int count = 0, objective, status;
    if (!root) return 0;
    snprintf(path, sizeof path, "%s/%s/index.csv", root, folder);
    file = fopen(path, "r");
    if (!file || !fgets(header, sizeof header, file)) fail_msg("cannot read %s", path);
    objective = column(header, "objective");
    status = column(header, "status") < 0 ? objective : column(header, "status");
    while (count < most && fgets(line, sizeof line, file)) {
        snprintf(entry->name, sizeof entry->name, "%.63s", field(line, 0, copy));
        entry->rows = number(line, column(header, "rows"));
        entry->cols = number(line, column(header, "cols"));
        entry->outcome = outcome_of(line, status);
        entry->objective = atof(field(line, objective, copy));
        entry++;
        count++;
    }
    fclose(file);
    return count;
}
