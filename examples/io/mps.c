/* SPDX-License-Identifier: MIT
 *
 * MPS files. A file is read as free format (words); if it is none, as fixed format (columns), where names may have
 * spaces. Meanings where the format leaves a choice are those of CLP: see mip.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "examples/io/mip.h"
#include "examples/io/names.h"
#include "examples/io/mps_scan.h"

typedef enum section { NO_SECTION, ROWS, COLUMNS, RHS, RANGES, BOUNDS, OBJSENSE, ENDATA } section;

enum { OBJECTIVE = -1, DROPPED = -2 };

/* A row as it is declared; side and range as they come. */
typedef struct mps_row {
    int32_t index; /* in the model, OBJECTIVE or DROPPED */
    char kind;
    int has_side, has_range;
    double side, range;
    int32_t seen; /* the column that has mentioned it last, + 1 */
} mps_row;

typedef struct mps_col {
    double lb, ub, cost;
    int has_bound, has_lower; /* there is a bound card; one has set lb */
    uint8_t integer;
    int64_t first; /* of its entries */
} mps_col;

typedef struct reader {
    mps_text *t;
    int fixed; /* fixed format */
    section in;
    int sense, integers, has_objective;
    names rows, cols;
    mps_row *row; /* [rows.count] */
    mps_col *col; /* [cols.count] */
    size_t row_room, col_room, entry_room;
    int64_t entries;
    int32_t *index; /* [entries] rows of the model */
    double *value;
    int32_t model_rows;
    double offset;
    char *set[BOUNDS + 1]; /* the name of the first set of a section; others are skipped */
} reader;

static int out_of_memory(reader *r) { return mps_fail(r->t, "out of memory", NULL); }
static int not_understood(reader *r) { return mps_fail(r->t, "not understood", r->t->line); }

/* Makes room for one more. */
static int grow(reader *r, void *array, size_t *room, size_t count, size_t size) {
    void **at = array, *more;
    size_t wanted = 2 * *room + 64;
    if (count < *room) return 0;
    more = realloc(*at, wanted * size);
    if (!more) return out_of_memory(r);
    *at = more;
    *room = wanted;
    return 0;
}

/* A number; infinite ones only where `infinite` says so. */
static int number(reader *r, const char *word, int infinite, double *value) {
    char text[256], *end;
    *value = word ? strtod(word, &end) : NAN;
    if (word && !isnan(*value) && *end == 0 && end != word && (infinite || !isinf(*value))) return 0;
    snprintf(text, sizeof text, "%.200s is not a finite number", word ? word : "nothing");
    return mps_fail(r->t, text, NULL);
}

static int is_number(const char *word) {
    char *end;
    strtod(word, &end);
    return end != word && *end == 0;
}

/* ---- Rows and columns ---- */

static int refuse_name(reader *r, const char *what, const char *name, int32_t why) {
    char text[256];
    if (why != NAMES_TWICE) return out_of_memory(r);
    snprintf(text, sizeof text, "two %s are named %.200s", what, name);
    return mps_fail(r->t, text, NULL);
}

static int take_row(reader *r, const char *kind, const char *name) {
    mps_row *row;
    int32_t k;
    if (!kind || !name || !strchr("NELGnelg", *kind) || kind[1]) return not_understood(r);
    if (grow(r, &r->row, &r->row_room, (size_t)r->rows.count, sizeof *r->row)) return -1;
    k = names_add(&r->rows, name);
    if (k < 0) return refuse_name(r, "rows", name, k);
    row = &r->row[k];
    memset(row, 0, sizeof *row);
    row->kind = (char)(*kind & ~0x20);
    if (row->kind != 'N') row->index = r->model_rows++;
    else row->index = r->has_objective ? DROPPED : OBJECTIVE;
    r->has_objective |= row->kind == 'N';
    return 0;
}

static mps_row *row_of(reader *r, const char *name) {
    int32_t k = name ? names_find(&r->rows, name) : -1;
    if (k >= 0) return &r->row[k];
    mps_fail(r->t, "no such row", name ? name : "");
    return NULL;
}

static int take_column(reader *r, const char *name) {
    mps_col *col;
    int32_t k;
    if (grow(r, &r->col, &r->col_room, (size_t)r->cols.count, sizeof *r->col)) return -1;
    k = names_add(&r->cols, name);
    if (k < 0) return refuse_name(r, "columns", name, k);
    col = &r->col[k];
    memset(col, 0, sizeof *col);
    col->ub = INFINITY;
    col->integer = (uint8_t)r->integers;
    col->first = r->entries;
    return 0;
}

static int take_entry(reader *r, const char *name, const char *word) {
    mps_row *row = row_of(r, name);
    size_t room = r->entry_room;
    double value;
    if (!row || number(r, word, 0, &value)) return -1;
    if (row->seen == r->cols.count)
        return row->index == OBJECTIVE ? mps_fail(r->t, "the objective has this column twice, or a range", name)
                                       : mps_fail(r->t, "the row comes twice in this column", name);
    row->seen = r->cols.count;
    if (row->index == OBJECTIVE) r->col[r->cols.count - 1].cost = value;
    if (row->index < 0 || value == 0) return 0;
    if (grow(r, &r->index, &room, (size_t)r->entries, sizeof *r->index) ||
        grow(r, &r->value, &r->entry_room, (size_t)r->entries, sizeof *r->value))
        return -1;
    r->index[r->entries] = row->index;
    r->value[r->entries++] = value;
    return 0;
}

/* ---- Sets: right-hand sides, ranges, bounds ---- */

/* Whether the set is the first of this section, which counts. */
static int counts(reader *r, const char *set) {
    size_t length = strlen(set);
    if (!r->set[r->in]) {
        r->set[r->in] = malloc(length + 1);
        if (!r->set[r->in]) return out_of_memory(r);
        memcpy(r->set[r->in], set, length + 1);
    }
    return strcmp(r->set[r->in], set) == 0;
}

/* By what is known of the row so far. */
static void set_sides(const mps_row *row, double *lhs, double *rhs) {
    double range = fabs(row->range);
    *lhs = row->kind == 'L' ? -INFINITY : row->side;
    *rhs = row->kind == 'G' ? INFINITY : row->side;
    if (!row->has_range) return;
    if (row->kind == 'L' || (row->kind == 'E' && row->range < 0)) *lhs = row->side - range;
    else *rhs = row->side + range;
}

static int take_side(reader *r, const char *name, const char *word) {
    mps_row *row = row_of(r, name);
    double value, lhs, rhs;
    int range = r->in == RANGES;
    if (!row || number(r, word, 1, &value)) return -1;
    if (range && row->index == OBJECTIVE)
        return mps_fail(r->t, "the objective has this column twice, or a range", name);
    if (range ? row->has_range : row->has_side) return mps_fail(r->t, "the row comes twice in this section", name);
    if (range) row->range = value, row->has_range = 1;
    else row->side = value, row->has_side = 1;
    if (!range && row->index == OBJECTIVE) {
        if (isinf(value)) return number(r, word, 0, &value);
        r->offset = 0 - value;
    }
    set_sides(row, &lhs, &rhs);
    if (row->index >= 0 && !(lhs < 1e20 && rhs > -1e20))
        return mps_fail(r->t, "no number can be between the sides of this row", name);
    return 0;
}

static int take_bound(reader *r, const char *kind, const char *name, const char *word) {
    int32_t k = name ? names_find(&r->cols, name) : -1;
    double value = 0;
    mps_col *col;
    if (k < 0) return mps_fail(r->t, "no such column", name ? name : "");
    col = &r->col[k];
    col->has_bound = 1;
    if (strcmp(kind, "FR") == 0) col->lb = -INFINITY, col->ub = INFINITY, col->has_lower = 1;
    else if (strcmp(kind, "MI") == 0) col->lb = -INFINITY, col->has_lower = 1;
    else if (strcmp(kind, "PL") == 0) col->ub = INFINITY;
    else if (strcmp(kind, "BV") == 0) col->lb = 0, col->ub = 1, col->integer = 1, col->has_lower = 1;
    else {
        if (number(r, word, 1, &value)) return -1;
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

/* 1: a kind of bound with a value, 0: without one, -1: no kind. */
static int bound_has_value(const char *kind) {
    static const char *const with[] = {"UP", "LO", "FX", "LI", "UI"}, *const without[] = {"FR", "MI", "PL", "BV"};
    size_t k;
    for (k = 0; kind && k < sizeof with / sizeof *with; k++)
        if (strcmp(kind, with[k]) == 0) return 1;
    for (k = 0; kind && k < sizeof without / sizeof *without; k++)
        if (strcmp(kind, without[k]) == 0) return 0;
    return -1;
}

/* ---- Lines ---- */

/* Pairs of a name and a number, for a column or for a set. */
static int take_pairs(reader *r, const char *head, char **pair, int pairs) {
    int k, status = 0;
    if (r->in == COLUMNS) {
        if (!head) return not_understood(r);
        if (r->cols.count == 0 || strcmp(r->cols.name[r->cols.count - 1], head) != 0) status = take_column(r, head);
    } else {
        int first = counts(r, head ? head : "");
        if (first < 1) return first;
    }
    for (k = 0; k < pairs && !status; k++)
        status =
            r->in == COLUMNS ? take_entry(r, pair[2 * k], pair[2 * k + 1]) : take_side(r, pair[2 * k], pair[2 * k + 1]);
    return status;
}

static int take_marker(reader *r, const char *kind) {
    if (strcmp(kind, "'INTORG'") == 0) r->integers = 1;
    else if (strcmp(kind, "'INTEND'") == 0) r->integers = 0;
    else return not_understood(r);
    return 0;
}

/* In free format names of sets may be missing: then the number of words is even or, of a bound, one less. */
static int take_free(reader *r, char **word, int words) {
    int has_value, set, first;
    switch (r->in) {
    case ROWS: return words == 2 ? take_row(r, word[0], word[1]) : not_understood(r);
    case COLUMNS:
        if (words % 2 == 0 && !is_number(word[words - 1])) return number(r, word[words - 1], 0, &(double){0});
        /* fall through */
    case RHS:
    case RANGES:
        set = words % 2;
        if (words < 2 || words > 5 || (!set && r->in == COLUMNS)) return not_understood(r);
        return take_pairs(r, set ? word[0] : NULL, word + set, words / 2);
    case BOUNDS:
        has_value = bound_has_value(word[0]);
        if (has_value < 0 || words < 2 + has_value || words > 4) return not_understood(r);
        set = words == 4 || (words == 3 && !has_value && names_find(&r->cols, word[2]) >= 0);
        first = counts(r, set ? word[1] : "");
        return first < 1 ? first : take_bound(r, word[0], word[1 + set], has_value ? word[2 + set] : NULL);
    default: return not_understood(r);
    }
}

/* field: type, name, name, number, name, number. */
static int take_fixed(reader *r, char **field) {
    int has_value, first;
    switch (r->in) {
    case ROWS: return take_row(r, field[0], field[1]);
    case COLUMNS:
    case RHS:
    case RANGES:
        if (field[0] || !field[2] || !field[3] || !field[4] != !field[5]) return not_understood(r);
        return take_pairs(r, field[1], field + 2, field[4] ? 2 : 1);
    case BOUNDS:
        has_value = bound_has_value(field[0]);
        if (has_value < 0 || !field[2]) return not_understood(r);
        first = counts(r, field[1] ? field[1] : "");
        return first < 1 ? first : take_bound(r, field[0], field[2], field[3]);
    default: return not_understood(r);
    }
}

static int take_data(reader *r) {
    char *word[MPS_WORDS];
    int words = mps_words(r->t, word);
    if (words > MPS_WORDS) words = MPS_WORDS;
    if (r->in == COLUMNS && words == 3 && strcmp(word[1], "'MARKER'") == 0) return take_marker(r, word[2]);
    if (!r->fixed) return take_free(r, word, words);
    if (!mps_fields(r->t, word)) return mps_fail(r->t, "neither free format nor fixed columns", r->t->line);
    return take_fixed(r, word);
}

/* The word that says max or min: the second one of the card, or the first one of the next line. */
static int take_sense(reader *r, char **word, int words, int at) {
    static const char *const names[] = {"MAX", "MAXIMIZE", "MAXIMISE", "MIN", "MINIMIZE", "MINIMISE"};
    int k;
    for (k = 0; k < 6 && words == at + 1; k++)
        if (strcasecmp(word[at], names[k]) == 0) return r->sense = k < 3 ? 1 : -1, 0;
    return mps_fail(r->t, "OBJSENSE is MAX or MIN, not this", r->t->line);
}

static int take_card(reader *r, char **word, int words) {
    static const char *const names[] = {"", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "OBJSENSE", "ENDATA"};
    int k;
    if (strcmp(word[0], "NAME") == 0) return 0; /* the format is seen from the lines */
    for (k = ROWS; k <= ENDATA; k++)
        if (strcmp(word[0], names[k]) == 0) {
            r->in = (section)k;
            return k == OBJSENSE && words > 1 ? take_sense(r, word, words, 1) : 0;
        }
    return mps_fail(r->t, "unknown section", r->t->line);
}

/* Whether a line of OBJSENSE, which may begin in the first column, is a word and no section. */
static int is_sense(const reader *r, char **word) {
    return r->in == OBJSENSE && r->sense == 0 && (!mps_is_card(r->t) || strncasecmp(word[0], "M", 1) == 0);
}

static int read_lines(reader *r) {
    char *word[MPS_WORDS];
    int more, words, status = 0;
    while (!status && r->in != ENDATA && (more = mps_next(r->t)) != 0) {
        if (more < 0) return -1;
        if (mps_is_blank(r->t)) continue;
        words = mps_words(r->t, word);
        if (is_sense(r, word)) status = take_sense(r, word, words, 0);
        else if (mps_is_card(r->t)) status = take_card(r, word, words);
        else status = take_data(r);
    }
    if (status || r->in == ENDATA) return status;
    if (r->in == NO_SECTION) {
        snprintf(r->t->error, r->t->error_size, "%s: no MPS section in it (empty?)", r->t->path);
        return -1;
    }
    return mps_fail(r->t, "the file ends without ENDATA (truncated?)", NULL);
}

/* ---- The model ---- */

static int make_model(reader *r, mip *model) {
    size_t n = (size_t)r->cols.count, m = (size_t)r->model_rows;
    int64_t *start = malloc(sizeof *start * (n + 1));
    int32_t k;
    model->matrix.rows = model->columns.rows = r->model_rows;
    model->matrix.cols = model->columns.cols = r->cols.count;
    model->columns.layout = GPUOPT_LAYOUT_CSC;
    model->columns.start = start;
    model->columns.index = r->index ? r->index : calloc(1, sizeof *r->index);
    model->columns.value = r->value ? r->value : calloc(1, sizeof *r->value);
    r->index = NULL;
    r->value = NULL;
    model->cost = malloc(sizeof(double) * (n + 1));
    model->lb = malloc(sizeof(double) * (n + 1));
    model->ub = malloc(sizeof(double) * (n + 1));
    model->lhs = malloc(sizeof(double) * (m + 1));
    model->rhs = malloc(sizeof(double) * (m + 1));
    model->integer = malloc(n + 1);
    model->row_name = calloc(m + 1, sizeof(char *));
    model->col_name = calloc(n + 1, sizeof(char *));
    model->offset = r->offset;
    model->maximize = r->sense > 0;
    if (!start || !model->columns.index || !model->columns.value || !model->cost || !model->lb || !model->ub ||
        !model->lhs || !model->rhs || !model->integer || !model->row_name || !model->col_name)
        return -1;
    start[n] = r->entries;
    for (k = 0; k < r->cols.count; k++) {
        start[k] = r->col[k].first;
        model->cost[k] = r->col[k].cost;
        model->lb[k] = r->col[k].lb;
        model->ub[k] = r->col[k].integer && !r->col[k].has_bound ? 1 : r->col[k].ub;
        model->integer[k] = r->col[k].integer;
        model->col_name[k] = names_take(&r->cols, k);
    }
    for (k = 0; k < r->rows.count; k++) {
        int32_t i = r->row[k].index;
        if (i < 0) continue;
        set_sides(&r->row[k], &model->lhs[i], &model->rhs[i]);
        model->row_name[i] = names_take(&r->rows, k);
    }
    return mip_rows(model);
}

static int read_as(mps_text *t, int fixed, mip *model) {
    reader r;
    int failed, k;
    memset(&r, 0, sizeof r);
    r.t = t;
    r.fixed = fixed;
    mps_rewind(t);
    failed = read_lines(&r);
    if (!failed && make_model(&r, model)) {
        failed = mps_fail(t, "out of memory", NULL);
        mip_free(model);
    }
    names_free(&r.rows);
    names_free(&r.cols);
    free(r.row);
    free(r.col);
    free(r.index);
    free(r.value);
    for (k = 0; k <= BOUNDS; k++) free(r.set[k]);
    return failed;
}

int mip_read_mps(const char *path, mip *model, char *error, size_t error_size) {
    char *second = malloc(error_size + 1);
    mps_text t;
    long line;
    int failed;
    memset(model, 0, sizeof *model);
    if (!second) return snprintf(error, error_size, "%s: out of memory", path), -1;
    failed = mps_open(&t, path, error, error_size);
    if (!failed) {
        failed = read_as(&t, 0, model);
        if (failed) { /* of two errors, the one further down tells more */
            line = t.number;
            t.error = second;
            failed = read_as(&t, 1, model);
            if (failed && t.number > line) memcpy(error, second, error_size);
        }
        mps_close(&t);
    }
    free(second);
    return failed;
}
