/* SPDX-License-Identifier: MIT */
#include "tests/contract/untidy.h"

#include <stdio.h>
#include <stdlib.h>

static void *block(untidy *u, int k, int64_t count, size_t size) {
    u->block[k] = calloc((size_t)count + 1, size);
    assert_non_null(u->block[k]);
    return u->block[k];
}

/* Whether entry k is the first of its line, up to there, with its index and a nonzero value. */
static int comes_first(const gpuopt_matrix *m, int64_t begin, int64_t k) {
    int64_t e;
    for (e = begin; e < k; e++)
        if (m->index[e] == m->index[k] && m->value[e] != 0) return 0;
    return 1;
}

static void note(untidy *u, int64_t k, int32_t line) {
    const int by_rows = u->given.layout == GPUOPT_LAYOUT_CSR;
    const int other = (int)u->given.index[k];
    if (u->zeros + u->duplicates > 0) return;
    snprintf(u->place, sizeof u->place, "the first is index[%d], in row %d and column %d", (int)k,
             by_rows ? (int)line : other, by_rows ? other : (int)line);
}

/* Every sum by itself. */
static void tidy_line(untidy *u, int32_t line, int64_t *start, int32_t *index, double *value) {
    const gpuopt_matrix *m = &u->given;
    const int64_t begin = m->start[line], end = m->start[line + 1];
    int64_t k, e, at = start[line];
    for (k = begin; k < end; k++) {
        volatile double sum = m->value[k];
        if (m->value[k] == 0) {
            note(u, k, line);
            u->zeros++;
            continue;
        }
        if (!comes_first(m, begin, k)) {
            note(u, k, line);
            u->duplicates++;
            continue;
        }
        for (e = k + 1; e < end; e++)
            if (m->index[e] == m->index[k]) sum = sum + m->value[e];
        if (sum == 0) continue;
        index[at] = m->index[k];
        value[at++] = sum;
    }
    start[line + 1] = at;
}

/* One line of entries in random order: new entries, repeated ones, and values of 0. */
static int64_t draw_line(int32_t line, int32_t width, int diagonal, int count, int with, double grain, uint64_t *seed,
                         int32_t *index, double *value) {
    int64_t used = 0, k;
    while (used < count) {
        int32_t i = (int32_t)test_random_int(seed, 0, width - 1);
        int again = 0;
        for (k = 0; k < used; k++) again |= index[k] == i;
        if (again && !(with & WITH_DUPLICATES)) {
            if (used >= width) break;
            continue;
        }
        if (used > 0 && with & WITH_DUPLICATES && test_random_int(seed, 0, 2) == 0) i = index[used - 1];
        index[used] = i;
        value[used] = grain * (double)test_random_int(seed, 1, 9) * (test_random_int(seed, 0, 1) ? 1 : -1);
        if (with & WITH_ZEROS && test_random_int(seed, 0, 3) == 0)
            value[used] = test_random_int(seed, 0, 1) ? 0.0 : -0.0;
        if (used > 0 && with & WITH_DUPLICATES && test_random_int(seed, 0, 4) == 0) /* they cancel */
            index[used] = index[used - 1], value[used] = -value[used - 1];
        used++;
    }
    for (k = 0; diagonal && k < used && index[k] != line; k++) {}
    if (diagonal && (k == used || with & WITH_DUPLICATES)) index[used] = line, value[used++] = 100 * grain;
    return used;
}

untidy untidy_draw(int32_t rows, int32_t cols, gpuopt_layout layout, int per_line, int with, double grain,
                   uint64_t seed) {
    const int by_rows = layout == GPUOPT_LAYOUT_CSR;
    const int32_t lines = by_rows ? rows : cols, width = by_rows ? cols : rows;
    const int64_t most = (int64_t)lines * (per_line + 1);
    untidy u = {{rows, cols, NULL, NULL, NULL, layout}, {rows, cols, NULL, NULL, NULL, layout}, 0, 0, "", {NULL}};
    int64_t *start = block(&u, 0, lines, sizeof *start), *tidy_start = block(&u, 1, lines, sizeof *tidy_start);
    int32_t *index = block(&u, 2, most, sizeof *index), *tidy_index = block(&u, 3, most, sizeof *tidy_index), line;
    double *value = block(&u, 4, most, sizeof *value), *tidy_value = block(&u, 5, most, sizeof *tidy_value);
    for (line = 0; line < lines; line++)
        start[line + 1] = start[line] + draw_line(line, width, rows == cols, (int)test_random_int(&seed, 1, per_line),
                                                  with, grain, &seed, index + start[line], value + start[line]);
    u.given.start = start, u.given.index = index, u.given.value = value;
    u.tidy.start = tidy_start, u.tidy.index = tidy_index, u.tidy.value = tidy_value;
    for (line = 0; line < lines; line++) tidy_line(&u, line, tidy_start, tidy_index, tidy_value);
    return u;
}

void untidy_free(untidy *u) {
    size_t k;
    for (k = 0; k < sizeof u->block / sizeof *u->block; k++) free(u->block[k]);
}
