/* SPDX-License-Identifier: MIT
 *
 * MPS files. A file is read as free format (words). If that fails, it is read as fixed format (columns), where names
 * may have blanks. A file that is both, with two meanings, is refused. If the format leaves a choice, the meaning is as
 * in CLP, and comments are as in GLPK: see mip.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "examples/io/mps_reader.h"
#include "examples/io/utf8.h"

/* ---- Comments ---- */

/* Applies to places without a name of a later line. Behind $ the rest of a line is a comment, unless it begins the name
 * of a row, or in BOUNDS of a column. */
static int begins_comment(const mps_reader *r, const char *word) {
    return *word == '$' && (r->in == ROWS || names_find(r->in == BOUNDS ? &r->cols : &r->rows, word) < 0);
}

/* In free format from the third field on; for bounds from the fourth, since GLPK misses a column in the third. Returns
 * how many words there are before a comment, which is cut off the line. */
static int cut_words(mps_reader *r, char **word, int words) {
    int k = r->in == BOUNDS ? 3 : r->in == ROWS ? 2 : 1;
    for (; k < words && k < MPS_WORDS; k++)
        if (begins_comment(r, word[k])) {
            r->t->length = (size_t)(word[k] - r->t->copy);
            r->t->line[r->t->length] = 0;
            return k;
        }
    return words < MPS_WORDS ? words : MPS_WORDS;
}

/* In fixed format at the beginning of the third field or the fifth. */
static void cut_columns(mps_reader *r) {
    static const size_t at[] = {14, 39};
    char name[9];
    size_t length;
    int k;
    for (k = 0; k < 2 && r->t->length > at[k]; k++) {
        length = r->t->length - at[k] < 8 ? r->t->length - at[k] : 8;
        memcpy(name, r->t->line + at[k], length);
        while (length > 0 && strchr(" \t", name[length - 1])) length--;
        name[length] = 0;
        if (!begins_comment(r, name)) continue;
        r->t->length = at[k];
        r->t->line[at[k]] = 0;
    }
}

/* ---- Lines ---- */

/* Pairs of a name and a number, for a column or for a set. */
static int take_pairs(mps_reader *r, const char *head, char **pair, int pairs) {
    int k, status = 0;
    if (r->in == COLUMNS) status = mps_take_column(r, head);
    else {
        int first = mps_counts(r, head ? head : "");
        if (first < 1) return first;
    }
    for (k = 0; k < pairs && !status; k++)
        status = r->in == COLUMNS ? mps_take_entry(r, pair[2 * k], pair[2 * k + 1])
                                  : mps_take_side(r, pair[2 * k], pair[2 * k + 1]);
    return status;
}

static int take_marker(mps_reader *r, const char *kind) {
    if (strcmp(kind, "'INTORG'") == 0) r->integers = 1;
    else if (strcmp(kind, "'INTEND'") == 0) r->integers = 0;
    else return mps_not_understood(r);
    return 0;
}

/* In free format names of sets may be missing: then the number of words is even or, of a bound, one less. */
static int take_free(mps_reader *r, char **word, int words) {
    int has_value, set, first;
    double ignored;
    switch (r->in) {
    case ROWS: return words == 2 ? mps_take_row(r, word[0], word[1]) : mps_not_understood(r);
    case COLUMNS:
        if (words % 2 == 0 && mps_number(r, word[words - 1], 0, &ignored)) return -1;
        /* fall through */
    case RHS:
    case RANGES:
        set = words % 2;
        if (words < 2 || words > 5 || (!set && r->in == COLUMNS)) return mps_not_understood(r);
        return take_pairs(r, set ? word[0] : NULL, word + set, words / 2);
    case BOUNDS:
        has_value = mps_bound_has_value(word[0]);
        if (has_value < 0 || words < 2 + has_value || words > 4) return mps_not_understood(r);
        set = words == 4 || (words == 3 && !has_value && names_find(&r->cols, word[2]) >= 0);
        first = mps_counts(r, set ? word[1] : "");
        if (first < 1) return first;
        return mps_take_bound(r, word[0], word[1 + set], 2 + set < words ? word[2 + set] : NULL);
    default: return mps_not_understood(r);
    }
}

/* field: type, name, name, number, name, number. */
static int take_fixed(mps_reader *r, char **field) {
    int has_value, first;
    switch (r->in) {
    case ROWS:
        if (field[2] || field[3] || field[4] || field[5]) return mps_not_understood(r);
        return mps_take_row(r, field[0], field[1]);
    case COLUMNS:
    case RHS:
    case RANGES:
        if (field[0] || !field[2] || !field[3] || !field[4] != !field[5]) return mps_not_understood(r);
        return take_pairs(r, field[1], field + 2, field[4] ? 2 : 1);
    case BOUNDS:
        has_value = mps_bound_has_value(field[0]);
        if (has_value < 0 || !field[2] || field[4] || field[5]) return mps_not_understood(r);
        first = mps_counts(r, field[1] ? field[1] : "");
        return first < 1 ? first : mps_take_bound(r, field[0], field[2], field[3]);
    default: return mps_not_understood(r);
    }
}

/* Checks whether a line of free format may also be one of fixed format. */
static void compare(mps_reader *r) {
    char *field[MPS_WORDS];
    int k;
    r->alike = mps_fields(r->t, field);
    for (k = 0; k < MPS_WORDS && r->alike && !r->blank; k++)
        if (field[k] && strchr(field[k], ' ')) r->blank = r->t->number;
}

static int take_data(mps_reader *r) {
    char *word[MPS_WORDS];
    int words = mps_words(r->t, word);
    if (r->in == COLUMNS && words == 3 && strcmp(word[1], "'MARKER'") == 0) return take_marker(r, word[2]);
    if (r->fixed) {
        cut_columns(r);
        if (!mps_fields(r->t, word)) return mps_fail(r->t, "neither free format nor fixed columns", r->t->line);
        return take_fixed(r, word);
    }
    words = cut_words(r, word, words);
    if (r->alike) compare(r);
    return take_free(r, word, words);
}

/* ---- Sections ---- */

/* The word max or min: the second one of the card, or the first one of the next line. */
static int take_sense(mps_reader *r, char **word, int words, int at) {
    static const char *const names[] = {"MAX", "MAXIMIZE", "MAXIMISE", "MIN", "MINIMIZE", "MINIMISE"};
    int k;
    if (r->sense) return mps_fail(r->t, "the sense comes twice", r->t->line);
    for (k = 0; k < 6 && words == at + 1; k++)
        if (strcasecmp(word[at], names[k]) == 0) return r->sense = k < 3 ? 1 : -1, 0;
    return mps_fail(r->t, "OBJSENSE is MAX or MIN, not this", r->t->line);
}

/* A word behind a section's name belongs to a data line that begins in the first column and has a set or column of that
 * name. Most files have no such name, so the line would be lost. */
static int take_card(mps_reader *r, char **word, int words) {
    static const char *const names[] = {"", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "OBJSENSE", "ENDATA"};
    int k;
    if (r->in == OBJSENSE && !r->sense) return mps_fail(r->t, "OBJSENSE says neither MAX nor MIN, but", r->t->line);
    if (strcmp(word[0], "NAME") == 0) {
        if (r->has_name || (r->in != NO_SECTION && r->in != OBJSENSE))
            return mps_fail(r->t, "NAME is no first section", r->t->line);
        r->has_name = 1;
        r->is_free = words > 2 && strcmp(word[words <= MPS_WORDS ? words - 1 : 0], "FREE") == 0;
        return 0;
    }
    for (k = ROWS; k <= ENDATA; k++)
        if (strcmp(word[0], names[k]) == 0) {
            if (k == OBJSENSE && r->sense) return mps_fail(r->t, "the sense comes twice", r->t->line);
            r->in = (mps_section)k;
            if (k == OBJSENSE && words > 1) return take_sense(r, word, words, 1);
            if (words > 1 && *word[1] != '$')
                return mps_fail(r->t, "a section with words behind its name, or a data line without a blank before it",
                                r->t->line);
            return 0;
        }
    return mps_fail(r->t, "unknown section", r->t->line);
}

/* Whether a line of OBJSENSE, which may begin in the first column, is a word and no section. */
static int is_sense(const mps_reader *r, char **word) {
    return r->in == OBJSENSE && r->sense == 0 && (!mps_is_card(r->t) || strncasecmp(word[0], "M", 1) == 0);
}

static int read_lines(mps_reader *r) {
    char *word[MPS_WORDS];
    int more, words, status = 0;
    while (!status && r->in != ENDATA && (more = mps_next(r->t)) != 0) {
        if (more < 0) return -1;
        if (mps_is_blank(r->t)) continue;
        if (r->in != OBJSENSE && !mps_is_card(r->t)) {
            status = take_data(r);
            continue;
        }
        words = mps_words(r->t, word);
        if (is_sense(r, word)) status = take_sense(r, word, words, 0);
        else if (mps_is_card(r->t)) status = take_card(r, word, words);
        else status = mps_not_understood(r);
    }
    if (status || r->in == ENDATA) return status;
    if (r->in == NO_SECTION) {
        snprintf(r->t->error, r->t->error_size, "%s: no MPS section in it (empty?)", r->t->path);
        utf8_escape(r->t->error, r->t->error_size);
        return -1;
    }
    return mps_fail(r->t, "the file ends without ENDATA (truncated?)", NULL);
}

/* ---- Both formats ---- */

/* *blank: see mps_reader; 0 also if the file cannot be fixed format. */
static int read_as(mps_text *t, int fixed, mip *model, long *blank) {
    mps_reader r;
    int failed, k;
    memset(&r, 0, sizeof r);
    memset(model, 0, sizeof *model);
    r.t = t;
    r.fixed = fixed;
    r.alike = !fixed;
    mps_rewind(t);
    failed = read_lines(&r);
    if (!failed && mps_make_model(&r, model)) {
        failed = -1;
        mip_free(model);
    }
    *blank = r.alike && !r.is_free ? r.blank : 0;
    names_free(&r.rows);
    names_free(&r.cols);
    free(r.row);
    free(r.col);
    free(r.index);
    free(r.value);
    for (k = 0; k <= BOUNDS; k++) free(r.set[k]);
    return failed;
}

/* A file that is free format and has a blank within a field of fixed format: refuses it if it is also fixed format with
 * another model. */
static int refuse_two_meanings(mps_text *t, mip *model, long blank, char *second) {
    char *error = t->error;
    mip other;
    long ignored;
    t->error = second;
    if (read_as(t, 1, &other, &ignored)) return 0;
    ignored = mps_same_model(model, &other);
    mip_free(&other);
    if (ignored) return 0;
    t->error = error;
    t->number = blank;
    mip_free(model);
    return mps_fail(
        t, "this means one thing in words, another in fixed columns (\"NAME x FREE\" says that it is words)", NULL);
}

int mip_read_mps(const char *path, mip *model, char *error, size_t error_size) {
    char *second = malloc(error_size + 1);
    mps_text t;
    long line, blank;
    int failed;
    memset(model, 0, sizeof *model);
    if (!second) return snprintf(error, error_size, "%s: out of memory", path), -1;
    failed = mps_open(&t, path, error, error_size);
    if (!failed) {
        failed = read_as(&t, 0, model, &blank);
        if (!failed && blank) failed = refuse_two_meanings(&t, model, blank, second);
        else if (failed) { /* of two errors, the later one is more useful */ line = t.number;
            t.error = second;
            failed = read_as(&t, 1, model, &blank);
            if (failed && t.number > line) memcpy(error, second, error_size);
        }
        mps_close(&t);
    }
    free(second);
    return failed;
}
