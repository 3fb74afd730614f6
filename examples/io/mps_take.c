/* SPDX-License-Identifier: MIT
 *
 * The data of a row, a column or a bound in a line of an MPS file.
 */
#include "examples/io/mps_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mps_out_of_memory(mps_reader *r) { return mps_fail(r->t, "out of memory", NULL); }
int mps_not_understood(mps_reader *r) { return mps_fail(r->t, "not understood", r->t->line); }

/* Reserves memory for one more. */
static int grow(mps_reader *r, void *array, size_t *capacity, size_t count, size_t size) {
    void **at = array, *more;
    size_t wanted = 2 * *capacity + 64;
    if (count < *capacity) return 0;
    more = realloc(*at, wanted * size);
    if (!more) return mps_out_of_memory(r);
    *at = more;
    *capacity = wanted;
    return 0;
}

/* A number; infinite numbers only if `infinite` is set. */
int mps_number(mps_reader *r, const char *word, int infinite, double *value) {
    char text[256], *end;
    *value = word ? strtod(word, &end) : NAN;
    if (word && !isnan(*value) && *end == 0 && end != word && (infinite || !isinf(*value))) return 0;
    snprintf(text, sizeof text, "%.200s is not a finite number", word ? word : "nothing");
    return mps_fail(r->t, text, NULL);
}

/* ---- Rows and columns ---- */

static int refuse_name(mps_reader *r, const char *what, const char *name, int32_t why) {
    char text[256];
    if (why != NAMES_TWICE) return mps_out_of_memory(r);
    snprintf(text, sizeof text, "two %s are named %.200s", what, name);
    return mps_fail(r->t, text, NULL);
}

int mps_take_row(mps_reader *r, const char *kind, const char *name) {
    mps_row *row;
    int32_t k;
    if (!kind || !name || !strchr("NELGnelg", *kind) || kind[1]) return mps_not_understood(r);
    if (grow(r, &r->row, &r->row_capacity, (size_t)r->rows.count, sizeof *r->row)) return -1;
    k = names_add(&r->rows, name);
    if (k < 0) return refuse_name(r, "rows", name, k);
    row = &r->row[k];
    memset(row, 0, sizeof *row);
    row->kind = (char)(*kind & ~0x20);
    row->line = r->t->number;
    if (row->kind != 'N') row->index = r->model_rows++;
    else row->index = r->has_objective ? DROPPED : OBJECTIVE;
    r->has_objective |= row->kind == 'N';
    return 0;
}

static mps_row *row_of(mps_reader *r, const char *name) {
    int32_t k = name ? names_find(&r->rows, name) : -1;
    if (k >= 0) return &r->row[k];
    mps_fail(r->t, "no such row", name ? name : "");
    return NULL;
}

int mps_take_column(mps_reader *r, const char *name) {
    mps_col *col;
    int32_t k;
    if (!name) return mps_not_understood(r);
    if (r->cols.count > 0 && strcmp(r->cols.name[r->cols.count - 1], name) == 0) return 0;
    if (grow(r, &r->col, &r->col_capacity, (size_t)r->cols.count, sizeof *r->col)) return -1;
    k = names_add(&r->cols, name);
    if (k < 0) return refuse_name(r, "columns", name, k);
    col = &r->col[k];
    memset(col, 0, sizeof *col);
    col->line = r->t->number;
    col->ub = INFINITY;
    col->integer = (uint8_t)r->integers;
    col->first = r->entries;
    return 0;
}

int mps_take_entry(mps_reader *r, const char *name, const char *word) {
    mps_row *row = row_of(r, name);
    size_t capacity = r->entry_capacity;
    double value;
    if (!row || mps_number(r, word, 0, &value)) return -1;
    if (row->seen == r->cols.count)
        return row->index == OBJECTIVE ? mps_fail(r->t, "the objective has this column twice, or a range", name)
                                       : mps_fail(r->t, "the row comes twice in this column", name);
    row->seen = r->cols.count;
    if (row->index == OBJECTIVE) r->col[r->cols.count - 1].cost = value;
    if (row->index < 0 || value == 0) return 0;
    if (grow(r, &r->index, &capacity, (size_t)r->entries, sizeof *r->index) ||
        grow(r, &r->value, &r->entry_capacity, (size_t)r->entries, sizeof *r->value))
        return -1;
    r->index[r->entries] = row->index;
    r->value[r->entries++] = value;
    return 0;
}

/* ---- Sets: right-hand sides, ranges, bounds ---- */

int mps_counts(mps_reader *r, const char *set) {
    size_t length = strlen(set);
    if (!r->set[r->in]) {
        r->set[r->in] = malloc(length + 1);
        if (!r->set[r->in]) return mps_out_of_memory(r);
        memcpy(r->set[r->in], set, length + 1);
    }
    if (!*set != !*r->set[r->in])
        return mps_fail(r->t, "sets with and without a name in one section: which one counts?", r->t->line);
    return strcmp(r->set[r->in], set) == 0;
}

/* From the data of the row so far. */
void mps_set_sides(const mps_row *row, double *lhs, double *rhs) {
    double range = fabs(row->range);
    *lhs = row->kind == 'L' ? -INFINITY : row->side;
    *rhs = row->kind == 'G' ? INFINITY : row->side;
    if (!row->has_range) return;
    if (row->kind == 'L' || (row->kind == 'E' && row->range < 0)) *lhs = row->side - range;
    else *rhs = row->side + range;
}

int mps_take_side(mps_reader *r, const char *name, const char *word) {
    mps_row *row = row_of(r, name);
    double value, lhs, rhs;
    int range = r->in == RANGES;
    if (!row || mps_number(r, word, 1, &value)) return -1;
    if (range && row->index == OBJECTIVE)
        return mps_fail(r->t, "the objective has this column twice, or a range", name);
    if (range ? row->has_range : row->has_side) return mps_fail(r->t, "the row comes twice in this section", name);
    if (range) row->range = value, row->has_range = 1;
    else row->side = value, row->has_side = 1;
    if (!range && row->index == OBJECTIVE) {
        if (isinf(value)) return mps_number(r, word, 0, &value);
        r->offset = 0 - value;
    }
    mps_set_sides(row, &lhs, &rhs);
    if (row->index >= 0 && !(lhs < 1e20 && rhs > -1e20))
        return mps_fail(r->t, "no number can be between the sides of this row", name);
    return 0;
}

int mps_take_bound(mps_reader *r, const char *kind, const char *name, const char *word) {
    int32_t k = name ? names_find(&r->cols, name) : -1;
    double value = 0;
    mps_col *col;
    if (k < 0) return mps_fail(r->t, "no such column", name ? name : "");
    col = &r->col[k];
    col->has_bound = 1;
    if (word && mps_number(r, word, 1, &value)) return -1; /* also where it does not count */
    if (strcmp(kind, "FR") == 0) col->lb = -INFINITY, col->ub = INFINITY, col->has_lower = 1;
    else if (strcmp(kind, "MI") == 0) col->lb = -INFINITY, col->has_lower = 1;
    else if (strcmp(kind, "PL") == 0) col->ub = INFINITY;
    else if (strcmp(kind, "BV") == 0) col->lb = 0, col->ub = 1, col->integer = 1, col->has_lower = 1;
    else {
        if (mps_number(r, word, 1, &value)) return -1;
        if (kind[1] == 'I') col->integer = 1;
        if (kind[0] == 'F') col->lb = col->ub = value, col->has_lower = 1;
        else if (kind[0] == 'L') col->lb = value, col->has_lower = 1;
        else {
            col->ub = value;
            if (value < 0 && !col->has_lower && kind[1] == 'P') col->lb = -INFINITY;
        }
    }
    return 0;
}

int mps_bound_has_value(const char *kind) {
    static const char *const with[] = {"UP", "LO", "FX", "LI", "UI"}, *const without[] = {"FR", "MI", "PL", "BV"};
    size_t k;
    for (k = 0; kind && k < sizeof with / sizeof *with; k++)
        if (strcmp(kind, with[k]) == 0) return 1;
    for (k = 0; kind && k < sizeof without / sizeof *without; k++)
        if (strcmp(kind, without[k]) == 0) return 0;
    return -1;
}
