/* SPDX-License-Identifier: MIT
 *
 * CLP reports a truncated file as a bad line, takes 1e400 for a number, reads nothing without a NAME card, and,
 * guessing fixed or free format from each line's spacing, can take two short fields of a free-format line for one name.
 * It minimises, whatever OBJSENSE says.
 */
#define _POSIX_C_SOURCE 200809L
#include "examples/io/mps_scan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>

typedef enum section { NO_SECTION, ROWS, COLUMNS, RHS, RANGES, BOUNDS, OTHER, ENDATA } section;

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

/* The word of a data line that should be a number but is none that a model can have, or NULL. CLP reads 1e400
 * as an ordinary number, and can crash where the number after a long name is missing. */
static const char *bad_number(section in, char **word, int words) {
    int k;
    if (in < COLUMNS || in > BOUNDS) return NULL;
    for (k = in == BOUNDS ? 3 : 2; k < words; k += 2) {
        double value = strtod(word[k], NULL);
        if (is_number(word[k]) && (isnan(value) || (isinf(value) && in == COLUMNS))) return word[k];
    }
    if (in == BOUNDS || words == 0 || words == MPS_WORDS || is_number(word[words - 1])) return NULL;
    for (k = 0; k < words; k++)
        if (strcmp(word[k], "'MARKER'") == 0) return NULL;
    return word[words - 1];
}

/* Whether a line has control characters, which can make CLP crash. */
static int has_control(const char *line, size_t length) {
    while (length-- > 0)
        if ((unsigned char)line[length] < ' ' && line[length] != '\t') return 1;
    return 0;
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

/* Whether the line belongs to an OBJSENSE section, "OBJSENSE MAX" or with the word on a line of its own; -1: it does,
 * and is not understood. */
static int is_sense(const char *line, int is_card, int *inside, int *sense) {
    static const char *const max[] = {"MAX", "MAXIMIZE", "MAXIMISE"}, *const min[] = {"MIN", "MINIMIZE", "MINIMISE"};
    char word[2][MPS_LINE + 3], more[2]; /* a line has 160 characters at most, as sscanf is told */
    int words = sscanf(line, "%160s %160s %1s", word[0], word[1], more), at = 0, k;
    if (is_card && words > 0 && strcmp(word[0], "OBJSENSE") == 0) *inside = at = 1;
    else if (!*inside) return 0;
    if (words <= at || line[0] == '*' || line[0] == '#') return 1;
    for (k = 0; k < 3 && words == at + 1; k++) {
        if (strcasecmp(word[at], max[k]) == 0) return *sense = 1;
        if (strcasecmp(word[at], min[k]) == 0) return *sense = -1, 1;
    }
    if (at || !is_card) return -1;
    return *inside = 0;
}

/* Where a copy goes, under which NAME card, and without which lines. */
typedef struct copying {
    FILE *to;
    const char *name_card;
    const mps_crossings *without;
} copying;

static int is_crossing(const mps_crossings *crossings, const char *line) {
    int k;
    for (k = 0; k < crossings->count; k++)
        if (strcmp(crossings->bound[k].card, line) == 0) return 1;
    return 0;
}

/* Reads the whole file once and, unless copy is NULL, writes the copy. */
static int look_over(const char *path, mps_scan *result, const copying *copy, char *error, size_t error_size) {
    char line[MPS_LINE + 3];
    long number = 0;
    section in = NO_SECTION;
    int status = -1, in_sense = 0, found;
    gzFile file = gzopen(path, "rb");
    memset(result, 0, sizeof *result);
    result->free_valid = 1;
    if (!file) {
        snprintf(error, error_size, "%s: cannot be opened", path);
        return -1;
    }
    while (in != ENDATA && gzgets(file, line, sizeof line)) {
        size_t length = strcspn(line, "\r\n");
        char *word[MPS_WORDS], *rest = NULL, *next;
        const char *bad;
        int words = 0, is_card = line[0] != ' ' && line[0] != '\t' && line[0] != '*' && line[0] != '#' && length > 0;
        number++;
        if (length > MPS_LINE) {
            snprintf(error, error_size, "%s:%ld: the line is longer than %d characters", path, number, MPS_LINE);
            goto done;
        }
        if ((line[length] == 0 && !gzeof(file)) || has_control(line, length)) {
            snprintf(error, error_size, "%s:%ld: the line has a control character in it", path, number);
            goto done;
        }
        line[length] = 0;
        if (number == 1 && strspn(line, " \t") == length && gzeof(file)) break;
        if ((found = is_sense(line, is_card, &in_sense, &result->sense)) < 0) {
            snprintf(error, error_size, "%s:%ld: OBJSENSE is MAX or MIN, not this: <%s>", path, number, line);
            goto done;
        }
        if (found) {
            if (copy) fputs("*\n", copy->to); /* a comment, so that line numbers stay the same */
            continue;
        }
        if (copy && is_card && in == NO_SECTION && !result->named) fprintf(copy->to, "%s\n", copy->name_card);
        if (is_card && strncmp(line, "NAME", 4) == 0) {
            result->named = 1;
            result->free_named = strstr(line + 4, " FREE") != NULL;
            continue;
        }
        if (copy && !(in == BOUNDS && is_crossing(copy->without, line))) fprintf(copy->to, "%s\n", line);
        if (is_card) {
            in = section_of(line);
            continue;
        }
        if (line[0] == '*' || line[0] == '#') continue;
        result->ambiguous |= fields_run_together(line, length);
        for (next = strtok_r(line, " \t", &rest); next && words < MPS_WORDS; next = strtok_r(NULL, " \t", &rest)) {
            result->ambiguous |= strlen(next) > MPS_FIELD && !is_number(next);
            word[words++] = next;
        }
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

int mps_look_over(const char *path, mps_scan *result, char *error, size_t error_size) {
    return look_over(path, result, NULL, error, error_size);
}

int mps_rewrite(const char *path, const mps_scan *file, const mps_crossings *crossings, char *temporary, char *error,
                size_t error_size) {
    int as_free = file->free_named || (file->ambiguous && file->free_valid);
    copying copy = {NULL, as_free ? "NAME unnamed FREE" : "NAME unnamed", crossings};
    int descriptor = mkstemp(temporary), status;
    mps_scan again;
    copy.to = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (!copy.to) {
        if (descriptor >= 0) close(descriptor), unlink(temporary);
        snprintf(error, error_size, "%s: a temporary copy cannot be made: %s", path, strerror(errno));
        return -1;
    }
    status = look_over(path, &again, &copy, error, error_size);
    if (fclose(copy.to) && !status) {
        snprintf(error, error_size, "%s: its temporary copy cannot be written: %s", path, strerror(errno));
        status = -1;
    }
    if (status) unlink(temporary);
    return status;
}

int mps_note_crossing(mps_crossings *crossings, const char *card) {
    char line[MPS_LINE + 2], *word[MPS_WORDS], *rest = NULL, *next;
    int words = 0, upper, at = crossings->count;
    snprintf(line, sizeof line, "%s", card);
    for (next = strtok_r(line, " \t", &rest); next && words < MPS_WORDS; next = strtok_r(NULL, " \t", &rest))
        word[words++] = next;
    if (words != 4 || at == MPS_CROSSINGS || !is_number(word[3])) return 0;
    upper = strcmp(word[0], "UP") == 0 || strcmp(word[0], "UI") == 0;
    if (!upper && strcmp(word[0], "LO") && strcmp(word[0], "LI")) return 0;
    snprintf(crossings->bound[at].card, sizeof crossings->bound[at].card, "%s", card);
    snprintf(crossings->bound[at].col, sizeof crossings->bound[at].col, "%s", word[2]);
    crossings->bound[at].upper = upper;
    crossings->bound[at].value = strtod(word[3], NULL);
    crossings->count++;
    return 1;
}
