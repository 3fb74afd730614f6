/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/mip_search.h"

static int complete(mip *m) {
    int32_t j;
    if (!m->cost) m->cost = calloc((size_t)m->matrix.cols + 1, sizeof *m->cost);
    if (!m->integer) m->integer = calloc((size_t)m->matrix.cols + 1, 1);
    if (!m->cost || !m->integer || mip_rows(m) || mip_columns(m)) return -1;
    for (j = 0; m->maximize && j < m->matrix.cols; j++) m->cost[j] = -m->cost[j];
    if (m->maximize) m->offset = -m->offset;
    m->maximize = 0;
    return 0;
}

/* Fixes columns at a cheapest bound if no row prevents this: some optimum has them there. */
static int fix_free_choices(mip *m) {
    uint8_t *needed = calloc((size_t)m->matrix.cols + 1, 1); /* 1: by a row, if it decreases; 2: if it increases */
    int32_t i, j;
    int64_t e;
    if (!needed) return -1;
    for (i = 0; i < m->matrix.rows; i++)
        for (e = m->matrix.start[i]; e < m->matrix.start[i + 1]; e++) {
            int down = m->matrix.value[e] > 0 ? 1 : 2;
            if (m->lhs[i] > -1e20) needed[m->matrix.index[e]] |= (uint8_t)down;
            if (m->rhs[i] < 1e20) needed[m->matrix.index[e]] |= (uint8_t)(3 - down);
        }
    for (j = 0; j < m->matrix.cols; j++) {
        double low = m->integer[j] ? ceil(m->lb[j]) : m->lb[j], high = m->integer[j] ? floor(m->ub[j]) : m->ub[j];
        if (low > high) continue;
        if (!(needed[j] & 1) && m->cost[j] >= 0 && low > -1e20) m->ub[j] = low;
        else if (!(needed[j] & 2) && m->cost[j] <= 0 && high < 1e20) m->lb[j] = high;
    }
    free(needed);
    return 0;
}

int mip_prepare(mip *model, whole_rows *whole) {
    int result;
    memset(whole, 0, sizeof *whole);
    if (complete(model)) return -1;
    result = whole_open(whole, model);
    return result ? result : fix_free_choices(model);
}
