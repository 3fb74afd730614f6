/* SPDX-License-Identifier: MIT */
#include "examples/io/bas.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/names.h"
#include "examples/io/mps_scan.h"

typedef struct reader {
    mps_text *t;
    int32_t cols, rows;
    names col, row;
    uint8_t *status, *seen; /* [cols + rows] */
} reader;

static int fail(reader *r, const char *what) { return mps_fail(r->t, what, NULL); }
static int not_understood(reader *r) { return mps_fail(r->t, "not understood", r->t->line); }

static int add_names(reader *r, names *to, char **name, int32_t count) {
    int32_t k;
    for (k = 0; k < count; k++)
        if (names_add(to, name[k]) < 0) return fail(r, "out of memory, or two names of the model are the same");
    return 0;
}

/* Says where a variable is, once. */
static int set(reader *r, int32_t variable, gpuopt_simplex_variable status, const char *name) {
    if (variable < 0) return mps_fail(r->t, "the model has no such column or row", name);
    if (r->seen[variable]) return mps_fail(r->t, "this comes twice", name);
    r->seen[variable] = 1;
    r->status[variable] = (uint8_t)status;
    return 0;
}

/* A name of a fixed column may have blanks. The model's has none, or '_' if another name is the same without them.
 * Returns -1 if there is no such name, or if either may be meant. */
static int32_t find(const names *n, const char *name) {
    char bare[64], joined[64];
    size_t k, length = 0;
    int32_t found, other;
    if (!strchr(name, ' ') || strlen(name) >= sizeof bare) return names_find(n, name);
    for (k = 0; name[k]; k++) {
        joined[k] = name[k] == ' ' ? '_' : name[k];
        if (name[k] != ' ') bare[length++] = name[k];
    }
    joined[k] = bare[length] = 0;
    found = names_find(n, bare);
    other = names_find(n, joined);
    return found < 0 ? other : other < 0 ? found : -1;
}

static int32_t column(const reader *r, const char *name) { return find(&r->col, name); }
static int32_t row(const reader *r, const char *name) {
    int32_t i = find(&r->row, name);
    return i < 0 ? -1 : r->cols + i;
}
static int32_t either(const reader *r, const char *name) {
    int32_t j = column(r, name);
    return j < 0 ? row(r, name) : j;
}

/* ---- The MPS format ---- */

/* kind, one or two names; NULL: there is none. */
static int take_line(reader *r, const char *kind, const char *first, const char *second) {
    static const char *const kinds[] = {"LL", "UL", "FR", "BS"};
    static const gpuopt_simplex_variable status[] = {GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_AT_UPPER,
                                                     GPUOPT_VARIABLE_AT_ZERO, GPUOPT_VARIABLE_BASIC};
    int k;
    if (!kind || !first) return not_understood(r);
    if (strcmp(kind, "XU") == 0 || strcmp(kind, "XL") == 0) {
        if (!second) return not_understood(r);
        return set(r, column(r, first), GPUOPT_VARIABLE_BASIC, first) ||
                       set(r, row(r, second), status[kind[1] == 'U'], second)
                   ? -1
                   : 0;
    }
    if (strcmp(kind, "BS") == 0 && second && strcmp(second, "_dummy_") == 0) kind = "FR"; /* superbasic, by CLP */
    for (k = 0; k < 4; k++)
        if (strcmp(kind, kinds[k]) == 0) return set(r, either(r, first), status[k], first);
    return not_understood(r);
}

static int read_mps(reader *r, int fixed) {
    char *word[MPS_WORDS];
    int more, words, began = 0;
    mps_rewind(r->t);
    while ((more = mps_next(r->t)) != 0) {
        if (more < 0) return -1;
        if (mps_is_blank(r->t)) continue;
        words = mps_words(r->t, word);
        if (strcmp(word[0], "ENDATA") == 0) return 0;
        if (mps_is_card(r->t) && strcmp(word[0], "NAME") == 0) {
            began = 1;
            continue;
        }
        if (fixed && !mps_fields(r->t, word)) return mps_fail(r->t, "neither words nor fixed columns", r->t->line);
        if (!fixed && (words < 2 || words > 4)) return not_understood(r);
        if (take_line(r, word[0], word[1], fixed || words > 2 ? word[2] : NULL)) return -1;
        began = 1;
    }
    return began ? fail(r, "the file ends without ENDATA (truncated?)") : fail(r, "no basis in it (empty?)");
}

/* ---- HiGHS's format ---- */

/* The next line that is not empty. */
static int next_line(reader *r) {
    int more;
    do more = mps_next(r->t);
    while (more > 0 && strspn(r->t->line, " \t") == r->t->length);
    return more > 0 ? 0 : more < 0 ? -1 : fail(r, "the file ends too early (truncated?)");
}

static int take_status(reader *r, int32_t variable, const char *word, const char *end, const char *name) {
    static const gpuopt_simplex_variable status[] = {GPUOPT_VARIABLE_AT_LOWER, GPUOPT_VARIABLE_BASIC,
                                                     GPUOPT_VARIABLE_AT_UPPER, GPUOPT_VARIABLE_AT_ZERO,
                                                     GPUOPT_VARIABLE_AT_LOWER};
    if (end != word + 1 || *word < '0' || *word > '4') return mps_fail(r->t, "a status is 0 to 4, not this", word);
    return set(r, variable, status[*word - '0'], name);
}

/* Statuses in the order of the model. */
static int take_in_order(reader *r, int32_t first, int32_t count) {
    const char *at, *end = "";
    int32_t k;
    for (k = 0; k < count; k++, end = at + strcspn(at, " \t")) {
        for (at = end + strspn(end, " \t"); !*at; at = r->t->line + strspn(r->t->line, " \t"))
            if (next_line(r)) return -1;
        if (take_status(r, first + k, at, at + strcspn(at, " \t"), at)) return -1;
    }
    return end[strspn(end, " \t")] ? not_understood(r) : 0;
}

/* Whether two names are the same, up to '_', which HiGHS writes for a space in a name. */
static int is_like(const char *a, const char *b) {
    for (;; a++, b++) {
        a += strspn(a, "_");
        b += strspn(b, "_");
        if (*a != *b || !*a) return *a == *b;
    }
}

/* A name, without its spaces, and a status on each line. */
static int take_named(reader *r, int32_t first, int32_t count) {
    const names *names = first ? &r->row : &r->col;
    int32_t k, number;
    for (k = 0; k < count; k++) {
        char *to = r->t->copy;
        const char *from, *word;
        if (next_line(r)) return -1;
        while (r->t->length > 0 && strchr(" \t", r->t->line[r->t->length - 1])) r->t->line[--r->t->length] = 0;
        for (word = r->t->line + r->t->length; word > r->t->line && !strchr(" \t", word[-1]);) word--;
        for (from = r->t->line; from < word; from++)
            if (!strchr(" \t", *from)) *to++ = *from;
        *to = 0;
        number = names_find(names, r->t->copy);
        if (number < 0 && is_like(names->name[k], r->t->copy)) number = k;
        if (number >= 0) number += first;
        if (take_status(r, number, word, r->t->line + r->t->length, r->t->copy)) return -1;
    }
    return 0;
}

static int read_highs(reader *r, int named) {
    static const char *const heads[] = {"Columns", "Rows"};
    char *word[MPS_WORDS];
    int part;
    if (next_line(r)) return -1;
    if (mps_words(r->t, word) != 1) return not_understood(r);
    if (strcmp(word[0], "None") == 0) return fail(r, "HiGHS had no basis to write");
    if (strcmp(word[0], "Valid") != 0) return not_understood(r);
    for (part = 0; part < 2; part++) {
        int32_t first = part ? r->cols : 0, count = part ? r->rows : r->cols;
        char *end;
        if (next_line(r)) return -1;
        if (mps_words(r->t, word) != 3 || strcmp(word[0], "#") != 0 || strcmp(word[1], heads[part]) != 0)
            return not_understood(r);
        errno = 0;
        if (strtoll(word[2], &end, 10) != count || *end || errno)
            return mps_fail(r->t,
                            part ? "the model has another number of rows" : "the model has another number of columns",
                            word[2]);
        if (named ? take_named(r, first, count) : take_in_order(r, first, count)) return -1;
    }
    return 0;
}

/* ---- Both ---- */

static int read_all(reader *r, int fixed) {
    char *word[MPS_WORDS] = {NULL};
    int32_t k, basic = 0;
    int more, words = 0, failed;
    for (k = 0; k < r->cols; k++) r->status[k] = GPUOPT_VARIABLE_AT_LOWER;
    for (k = 0; k < r->rows; k++) r->status[r->cols + k] = GPUOPT_VARIABLE_BASIC;
    memset(r->seen, 0, (size_t)r->cols + (size_t)r->rows);
    mps_rewind(r->t);
    more = mps_next(r->t);
    if (more < 0) return -1;
    if (more) words = mps_words(r->t, word);
    if (words == 2 && strcmp(word[0], "HiGHS") == 0 && strcmp(word[1], "v1") == 0) failed = read_highs(r, 0);
    else if (words == 2 && strcmp(word[0], "HiGHS_basis_file") == 0 && strcmp(word[1], "v2") == 0)
        failed = read_highs(r, 1);
    else failed = read_mps(r, fixed);
    if (failed) return -1;
    for (k = 0; k < r->cols + r->rows; k++) basic += r->status[k] == GPUOPT_VARIABLE_BASIC;
    if (basic != r->rows) {
        char what[100];
        snprintf(what, sizeof what, "%d variables are basic, but the model has %d rows", (int)basic, (int)r->rows);
        return fail(r, what);
    }
    return 0;
}

/* In words, then in fixed columns; of two errors, the later one is more useful. */
static int read_either(reader *r, char *second) {
    char *first = r->t->error;
    long line;
    if (!read_all(r, 0)) return 0;
    line = r->t->number;
    r->t->error = second;
    if (!read_all(r, 1)) return 0;
    if (r->t->number > line) memcpy(first, second, r->t->error_size);
    return -1;
}

int bas_read(const char *path, const mip *model, uint8_t *status, char *error, size_t error_size) {
    reader r;
    mps_text t;
    char *second = malloc(error_size + 1);
    int failed = -1;
    memset(&r, 0, sizeof r);
    r.t = &t;
    r.cols = model->matrix.cols;
    r.rows = model->matrix.rows;
    r.status = status;
    r.seen = malloc((size_t)r.cols + (size_t)r.rows + 1);
    if (!second || !r.seen) snprintf(error, error_size, "%s: out of memory", path);
    else if (!model->col_name || !model->row_name) snprintf(error, error_size, "%s: the model has no names", path);
    else if (!mps_open(&t, path, error, error_size)) {
        failed = add_names(&r, &r.col, model->col_name, r.cols) || add_names(&r, &r.row, model->row_name, r.rows) ||
                 read_either(&r, second);
        mps_close(&t);
    }
    names_free(&r.col);
    names_free(&r.row);
    free(r.seen);
    free(second);
    return failed ? -1 : 0;
}
