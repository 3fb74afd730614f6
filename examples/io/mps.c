/* SPDX-License-Identifier: MIT
 *
 * MPS files through CLP's reader. Two things are done around it: the file is looked over first, since CLP reports a
 * truncated file as a bad line and, guessing fixed or free format from each line's spacing, can take two
 * short fields of a free-format line for one name; and CLP's complaints are kept from stdout and turned into file:line:
 * what.
 */
#define _POSIX_C_SOURCE 200809L
#include <coin/Clp_C_Interface.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "examples/io/mip.h"

enum { MAX_LINE = 158, MAX_TOKENS = 7 }; /* CLP's cards are 160 bytes */

typedef enum section { NO_SECTION, ROWS, COLUMNS, RHS, RANGES, BOUNDS, OTHER, ENDATA } section;

typedef struct scan {
    int named;      /* there is a NAME card, without which CLP reads nothing */
    int free_named; /* and it says FREE */
    int ambiguous;  /* some line's fixed columns hold more than one word */
    int free_valid; /* every line reads as free format */
} scan;

static int is_number(const char *word) {
    char *end;
    strtod(word, &end);
    return end != word && *end == 0;
}

/* Whether the words of a data line are what free format has in this section. */
static int reads_as_free(section in, char **word, int words) {
    int bound_value, k;
    switch (in) {
    case ROWS: return words == 2;
    case COLUMNS:
        if (words == 3 && strcmp(word[1], "'MARKER'") == 0) return 1;
        /* fall through */
    case RHS:
    case RANGES:
        if (words != 3 && words != 5) return 0;
        for (k = 2; k < words; k += 2)
            if (!is_number(word[k])) return 0;
        return 1;
    case BOUNDS:
        if (words < 3 || words > 4) return 0;
        bound_value = strcmp(word[0], "FR") != 0 && strcmp(word[0], "MI") != 0 && strcmp(word[0], "PL") != 0 &&
                      strcmp(word[0], "BV") != 0;
        return words == 3 ? !bound_value : is_number(word[3]);
    default: return 1;
    }
}

/* The word of a data line that stands where a number does but is none that a model can have, or NULL. CLP reads 1e400
 * as an ordinary number. */
static const char *bad_number(section in, char **word, int words) {
    int k;
    if (in < COLUMNS || in > BOUNDS) return NULL;
    for (k = in == BOUNDS ? 3 : 2; k < words; k += 2) {
        double value = strtod(word[k], NULL);
        if (is_number(word[k]) && (isnan(value) || (isinf(value) && in == COLUMNS))) return word[k];
    }
    return NULL;
}

/* Whether CLP, reading this line in fixed columns, would take several words for one field. */
static int fields_run_together(const char *line, size_t length) {
    static const size_t field[] = {4, 14, 39};
    size_t f, k;
    for (f = 0; f < 3; f++) {
        size_t first = field[f], end = first + 8 < length ? first + 8 : length;
        int gap = 0;
        if (first >= length || line[first] == ' ' || line[first - 1] != ' ') continue;
        for (k = first; k < end; k++) {
            if (line[k] == ' ' || line[k] == '\t') gap = 1;
            else if (gap) return 1;
        }
    }
    return 0;
}

static section section_of(const char *card) {
    static const struct {
        const char *name;
        section in;
    } known[] = {{"ROWS", ROWS},     {"COLUMNS", COLUMNS}, {"RHS", RHS},
                 {"RANGES", RANGES}, {"BOUNDS", BOUNDS},   {"ENDATA", ENDATA}};
    size_t k;
    for (k = 0; k < sizeof known / sizeof *known; k++)
        if (strncmp(card, known[k].name, strlen(known[k].name)) == 0) return known[k].in;
    return OTHER;
}

/* Reads the whole file once. With `copy`, writes it there under this NAME card. Returns 0, or -1 and the error. */
static int look_over(const char *path, scan *result, FILE *copy, const char *name_card, char *error,
                     size_t error_size) {
    char line[MAX_LINE + 3];
    long number = 0;
    section in = NO_SECTION;
    int status = -1;
    gzFile file = gzopen(path, "rb");
    memset(result, 0, sizeof *result);
    result->free_valid = 1;
    if (!file) {
        snprintf(error, error_size, "%s: cannot be opened", path);
        return -1;
    }
    while (in != ENDATA && gzgets(file, line, sizeof line)) {
        size_t length = strcspn(line, "\r\n");
        char *word[MAX_TOKENS], *rest = NULL, *next;
        const char *bad;
        int words = 0, is_card = line[0] != ' ' && line[0] != '\t' && line[0] != '*' && line[0] != '#' && length > 0;
        number++;
        if (length > MAX_LINE) {
            snprintf(error, error_size, "%s:%ld: the line is longer than %d characters", path, number, MAX_LINE);
            goto done;
        }
        line[length] = 0;
        if (number == 1 && strspn(line, " \t") == length && gzeof(file)) break;
        if (copy && is_card && in == NO_SECTION && !result->named) fprintf(copy, "%s\n", name_card);
        if (is_card && strncmp(line, "NAME", 4) == 0) {
            result->named = 1;
            result->free_named = strstr(line + 4, " FREE") != NULL;
            continue;
        }
        if (copy) fprintf(copy, "%s\n", line);
        if (is_card) {
            in = section_of(line);
            continue;
        }
        if (line[0] == '*' || line[0] == '#') continue;
        result->ambiguous |= fields_run_together(line, length);
        for (next = strtok_r(line, " \t", &rest); next && words < MAX_TOKENS; next = strtok_r(NULL, " \t", &rest))
            word[words++] = next;
        if ((bad = bad_number(in, word, words)) != NULL) {
            snprintf(error, error_size, "%s:%ld: %s is not a finite number", path, number, bad);
            goto done;
        }
        if (words > 0 && !reads_as_free(in, word, words)) result->free_valid = 0;
    }
    if (!gzeof(file) && number == 0) snprintf(error, error_size, "%s: cannot be read", path);
    else if (!gzeof(file) && in != ENDATA)
        snprintf(error, error_size, "%s:%ld: cannot be read further (damaged or truncated compression?)", path, number);
    else if (number == 0 || in == NO_SECTION) snprintf(error, error_size, "%s: no MPS section in it (empty?)", path);
    else if (in != ENDATA)
        snprintf(error, error_size, "%s:%ld: the file ends without ENDATA (truncated?)", path, number);
    else status = 0;
done:
    gzclose(file);
    return status;
}

/* ---- CLP ---- */

typedef struct complaint {
    char text[256];
    int line;
} complaint;

/* Keeps the first complaint. CLP's codes for them: 3001..3006 and 6001..6005 (CoinMessage.cpp). */
static void COINLINKAGE listen(Clp_Simplex *lp, int code, int doubles, const double *value, int ints, const int *number,
                               int strings, char **string) {
    complaint *first = (complaint *)Clp_getUserPointer(lp);
    const char *what;
    (void)doubles, (void)value;
    if (!first || first->text[0]) return;
    switch (code % 1000000) {
    case 3002: what = "not understood"; break;
    case 3003: what = "the objective has this column twice"; break;
    case 3004: what = "the row comes twice in this column"; break;
    case 3005: what = "no such row"; break;
    case 3006: what = "no such column"; break;
    case 6002: what = "unknown section"; break;
    default: return;
    }
    first->line = ints > 0 ? number[0] : 0;
    if (strings > 1 && code % 1000000 != 6002)
        snprintf(first->text, sizeof first->text, "%s: %s: <%s>", what, string[0], string[1]);
    else snprintf(first->text, sizeof first->text, "%s: <%s>", what, strings > 0 ? string[0] : "");
}

/* CLP prints its complaints; stdout belongs to the program. */
static int read_quietly(Clp_Simplex *lp, const char *path) {
    int saved, null = open("/dev/null", O_WRONLY), errors;
    fflush(stdout);
    saved = dup(STDOUT_FILENO);
    if (null >= 0) dup2(null, STDOUT_FILENO);
    errors = Clp_readMps(lp, path, 1, 0);
    fflush(stdout);
    if (saved >= 0) dup2(saved, STDOUT_FILENO), close(saved);
    if (null >= 0) close(null);
    return errors;
}

static void *copy_of(const void *from, size_t count, size_t size) {
    void *to = malloc(count * size + 1);
    if (to && from && count) memcpy(to, from, count * size);
    return to;
}

typedef void(COINLINKAGE *name_getter)(Clp_Simplex *, int, char *);

static char **take_names(Clp_Simplex *lp, int count, name_getter get) {
    char **name = calloc((size_t)count + 1, sizeof *name);
    int k;
    for (k = 0; name && k < count; k++) {
        name[k] = malloc((size_t)Clp_lengthNames(lp) + 16);
        if (!name[k]) break;
        get(lp, k, name[k]);
    }
    if (!name || k == count) return name;
    while (k-- > 0) free(name[k]);
    free(name);
    return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* A name that comes twice, which CLP does not mind, or NULL. */
static const char *repeated_name(char **name, int count) {
    char **sorted = copy_of(name, (size_t)count, sizeof *name);
    const char *repeated = NULL;
    int k;
    if (sorted) qsort(sorted, (size_t)count, sizeof *sorted, by_name);
    for (k = 1; sorted && !repeated && k < count; k++)
        if (strcmp(sorted[k - 1], sorted[k]) == 0) repeated = sorted[k];
    free(sorted);
    return repeated;
}

/* CLP keeps columns; a propagator takes rows. */
static int take_model(Clp_Simplex *lp, mip *model) {
    int m = Clp_numberRows(lp), n = Clp_numberColumns(lp), i, j;
    const CoinBigIndex *first = n ? Clp_getVectorStarts(lp) : NULL;
    const int *length = n ? Clp_getVectorLengths(lp) : NULL, *row = n ? Clp_getIndices(lp) : NULL;
    const double *element = n ? Clp_getElements(lp) : NULL;
    const char *integer = Clp_integerInformation(lp);
    int64_t nonzeros = 0, *start = calloc((size_t)m + 2, sizeof *start), *at;
    int32_t *col;
    double *val;
    for (j = 0; j < n; j++) nonzeros += length[j];
    col = malloc(sizeof *col * (size_t)(nonzeros + 1));
    val = malloc(sizeof *val * (size_t)(nonzeros + 1));
    model->matrix.rows = m;
    model->matrix.cols = n;
    model->matrix.start = start;
    model->matrix.col = col;
    model->matrix.val = val;
    model->lhs = copy_of(Clp_rowLower(lp), (size_t)m, sizeof(double));
    model->rhs = copy_of(Clp_rowUpper(lp), (size_t)m, sizeof(double));
    model->lb = copy_of(Clp_columnLower(lp), (size_t)n, sizeof(double));
    model->ub = copy_of(Clp_columnUpper(lp), (size_t)n, sizeof(double));
    model->integer = calloc((size_t)n + 1, 1);
    model->row_name = take_names(lp, m, Clp_rowName);
    model->col_name = take_names(lp, n, Clp_columnName);
    if (!start || !col || !val || !model->lhs || !model->rhs || !model->lb || !model->ub || !model->integer ||
        !model->row_name || !model->col_name)
        return -1;
    for (j = 0; j < n; j++) {
        const int *r = row + first[j];
        for (i = 0; i < length[j]; i++) start[r[i] + 2]++;
        model->integer[j] = integer && integer[j];
    }
    for (i = 0; i < m; i++) start[i + 2] += start[i + 1];
    at = start + 1; /* where each row's next entry goes; ends up as the starts */
    for (j = 0; j < n; j++)
        for (i = 0; i < length[j]; i++) {
            int64_t k = at[row[first[j] + i]]++;
            col[k] = j;
            val[k] = element[first[j] + i];
        }
    return 0;
}

/* Makes a copy of the file that CLP reads as it is meant: temporary is mkstemp's pattern, and its name afterwards. Returns
 * 0, or -1 and the error. */
static int rewrite(const char *path, int as_free, char *temporary, char *error, size_t error_size) {
    scan again;
    int descriptor = mkstemp(temporary), status;
    FILE *copy = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!copy) {
        if (descriptor >= 0) close(descriptor), unlink(temporary);
        snprintf(error, error_size, "%s: a temporary copy cannot be made: %s", path, strerror(errno));
        return -1;
    }
    status = look_over(path, &again, copy, as_free ? "NAME unnamed FREE" : "NAME unnamed", error, error_size);
    if (fclose(copy) && !status) {
        snprintf(error, error_size, "%s: its temporary copy cannot be written: %s", path, strerror(errno));
        status = -1;
    }
    if (status) unlink(temporary);
    return status;
}

int mip_read_mps(const char *path, mip *model, char *error, size_t error_size) {
    char temporary[] = "/tmp/gpuopt-mps-XXXXXX";
    complaint first;
    scan file;
    Clp_Simplex *lp;
    int errors, as_free, rewritten;
    memset(model, 0, sizeof *model);
    memset(&first, 0, sizeof first);
    if (look_over(path, &file, NULL, NULL, error, error_size)) return -1;
    as_free = file.ambiguous && file.free_valid && !file.free_named;
    rewritten = as_free || !file.named;
    if (rewritten && rewrite(path, as_free, temporary, error, error_size)) return -1;
    lp = Clp_newModel();
    Clp_setLogLevel(lp, 0);
    Clp_setUserPointer(lp, &first);
    Clp_registerCallBack(lp, listen);
    errors = read_quietly(lp, rewritten ? temporary : path);
    if (rewritten) unlink(temporary);
    if (errors) {
        if (first.text[0]) snprintf(error, error_size, "%s:%d: %s", path, first.line - !file.named, first.text);
        else snprintf(error, error_size, "%s: CLP's reader found %d errors", path, errors);
    } else if (take_model(lp, model)) {
        errors = -1;
        snprintf(error, error_size, "%s: out of memory", path);
    } else {
        const char *row = repeated_name(model->row_name, model->matrix.rows);
        const char *col = repeated_name(model->col_name, model->matrix.cols);
        errors = row || col;
        if (errors)
            snprintf(error, error_size, "%s: two %s are named %s", path, row ? "rows" : "columns", row ? row : col);
    }
    if (errors) mip_free(model);
    Clp_deleteModel(lp);
    return errors ? -1 : 0;
}
