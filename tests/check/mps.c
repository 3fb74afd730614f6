/* SPDX-License-Identifier: MIT
 *
 * Reads an MPS file: as words, else by the columns of fixed format, where names may have blanks. A file that is both
 * must have the same meaning in both. The objective's constant is minus its right-hand side. A negative UP without a
 * lower bound makes that -infinity; integer columns without bounds have 0 and 1. Of several free rows the first is the
 * objective, the others are dropped; of several sets of sides, ranges or bounds the first counts. A word that begins
 * with $ behind the second field, and is no name, begins a comment.
 */
#define _GNU_SOURCE /* hsearch_r */
#include <ctype.h>
#include <search.h>
#include <strings.h>

#include "tests/check/check.h"

typedef enum section { NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA, SECTIONS } section;

typedef struct reader {
    int fixed, is_free, begun, sense, integers;
    section in;
    const char *set[SECTIONS];    /* the set that counts */
    struct hsearch_data row, col; /* names to numbers from 1 */
    program *p;
    int rows, *index;     /* rows of the file; their numbers in p, the objective is 0; -1: dropped */
    int *seen[SECTIONS];  /* [rows] the last mention of each: the column's number, or 1 */
    char *type;           /* [rows of p] N, L, G or E */
    double *side, *range; /* [rows of p] */
    signed char *own;     /* [cols] 1: has an explicit lower bound; -1: is integer and has no bounds yet */
} reader;

/* The number of a name, 0: unknown. With `add`: numbers a new name; 0: the name is known already. */
static int name(struct hsearch_data *names, char *word, int add) {
    ENTRY entry = {word, (void *)(intptr_t)add}, *found;
    if (hsearch_r(entry, FIND, &found, names)) return add ? 0 : (int)(intptr_t)found->data;
    if (add && !hsearch_r(entry, ENTER, &found, names)) end(BAD_INPUT, "out of memory");
    return add;
}

/* A bound or a side: from 1e20 on it is infinite. */
static double limit(double value) { return fabs(value) >= 1e20 ? copysign(INFINITY, value) : value; }

/* Whether this set of the section is the first; -1: some sets have names and some have none. */
static int counts(reader *r, const char *set) {
    if (!r->set[r->in]) r->set[r->in] = set;
    return !*set != !*r->set[r->in] ? -1 : strcmp(r->set[r->in], set) == 0;
}

static const char *add_row(reader *r, char **w, int n) {
    const int type = toupper(*w[0]), index = type != 'N' ? r->p->rows : r->type[0] ? -1 : 0;
    if (n != 2 || !strchr("NLGE", type) || w[0][1]) return "not a row";
    if (!name(&r->row, w[1], r->rows + 1)) return "two rows have this name";
    r->index[r->rows++] = index;
    if (index < 0) return NULL;
    r->type[index] = (char)type;
    r->range[index] = type == 'E' ? 0 : INFINITY;
    r->p->rows += index > 0;
    return NULL;
}

/* The number of one row in a column or in a set. */
static const char *add_number(reader *r, char *row, const char *word) {
    program *p = r->p;
    const int k = name(&r->row, row, 0), mark = r->in == COLUMNS ? p->cols : 1;
    int i, *last = &p->start[p->cols];
    double value;
    if (!k || !is_number(word, &value)) return "no such row, or no number";
    if (r->seen[r->in][k - 1] == mark) return "a row twice";
    r->seen[r->in][k - 1] = mark;
    i = r->index[k - 1];
    if (isinf(value) && (r->in == COLUMNS || i == 0)) return "infinite";
    if (i == 0 && r->in == RANGES) return "a range of the objective";
    if (i < 0) return NULL;
    if (r->in != COLUMNS && i > 0) value = limit(value);
    if (r->in == RHS) r->side[i] = value;
    else if (r->in == RANGES) r->range[i] = r->type[i] == 'E' ? value : fabs(value);
    else if (value != 0) p->row[*last] = i, p->value[(*last)++] = value;
    return NULL;
}

/* COLUMNS, RHS and RANGES: the name of a column or of a set, which may be missing, then rows and numbers. */
static const char *add_numbers(reader *r, char **w, int n) {
    program *p = r->p;
    const char *error = NULL;
    int k, col = r->in == COLUMNS, first = 1;
    if (n < 2 || n > 5 || (col && n % 2 == 0)) return "neither one number nor two";
    if (!col && (first = counts(r, n % 2 ? w[0] : "")) < 1) return first ? "sets with and without names" : NULL;
    if (col && name(&r->col, w[0], p->cols + 1)) {
        p->integer[p->cols] = (char)r->integers;
        p->bound[UPPER][p->cols] = r->integers ? 1 : INFINITY;
        r->own[p->cols++] = (signed char)-r->integers;
        p->start[p->cols] = p->start[p->cols - 1];
    } else if (col && name(&r->col, w[0], 0) != p->cols) return "a column in two places";
    for (k = n % 2; k < n && !error; k += 2) error = add_number(r, w[k], w[k + 1]);
    return error;
}

static const char *add_bound(reader *r, char **w, int n) {
    static const char kinds[] = "FR MI PL BV LO LI FX UP UI ";
    enum { FR, MI, PL, BV, LO, LI, FX, UP, UI };
    const char *found = n && strlen(w[0]) == 2 ? strstr(kinds, w[0]) : NULL;
    int kind = found ? (int)(found - kinds) / 3 : -1, valued = kind > BV, named, j;
    double value = 0, *lower, *upper;
    if (kind < 0 || n < 2 + valued || n > 4) return "no such kind of bound, or too many words";
    named = n > 3 || (n == 3 && !valued && name(&r->col, w[2], 0));
    if ((j = counts(r, named ? w[1] : "")) < 1) return j ? "sets with and without names" : NULL;
    if (!(j = name(&r->col, w[1 + named], 0))) return "no such column";
    if (n > 2 + named && !is_number(w[2 + named], &value)) return "no number";
    value = limit(value);
    lower = &r->p->bound[LOWER][--j];
    upper = &r->p->bound[UPPER][j];
    if (r->own[j] < 0) r->own[j] = 0, *upper = INFINITY;
    if (kind == FR || kind == MI || (kind == UP && value < 0 && !r->own[j])) *lower = -INFINITY;
    if (kind >= LO && kind <= FX) *lower = value;
    if (kind == BV) *lower = 0;
    if (kind == FR || kind == PL) *upper = INFINITY;
    if (kind == BV || kind >= FX) *upper = kind == BV ? 1 : value;
    if (kind != PL && kind < UP) r->own[j] = 1;
    if (kind == BV || kind == LI || kind == UI) r->p->integer[j] = 1;
    return NULL;
}

/* ---- Lines ---- */

static int is_blank(char c) { return c == ' ' || c == '\t'; }

/* Whether a word begins a comment, because it is no name of a row or, in BOUNDS, of a column. */
static int comments(reader *r, char *word) {
    return *word == '$' && (r->in == ROWS || !name(r->in == BOUNDS ? &r->col : &r->row, word, 0));
}

/* Cuts a line into words; returns 7 for more than 6. */
static int cut(reader *r, char *line, char **w) {
    const int first = r->in == BOUNDS ? 3 : r->in == ROWS ? 2 : 1;
    char *rest;
    int n = 0, k;
    for (w[0] = strtok_r(line, " \t", &rest); w[n] && n < 7; w[n] = strtok_r(NULL, " \t", &rest)) n++;
    for (k = first; k < n; k++)
        if (comments(r, w[k])) n = k;
    return n;
}

/* Cuts a line into the nonempty fields of fixed format; blanks in them become a character that no file has. Returns -1
 * if there is text between fields. */
static int cut_fixed(reader *r, char *line, char **w) {
    static const int first[] = {1, 4, 14, 24, 39, 49}, behind[] = {3, 12, 22, 36, 47, 61};
    const int length = (int)strlen(line), pairs = r->in != ROWS && r->in != BOUNDS;
    int at = 0, n = 0, f, stop, left, more;
    for (f = 0; f < 6; f++) {
        for (; at < length && at < first[f] + 2 * (pairs && f == 0); at++)
            if (!is_blank(line[at])) return -1;
        stop = length < behind[f] ? length : behind[f];
        more = stop < length && !is_blank(line[stop]) && (f < 5 || !is_blank(line[stop - 1]));
        line[stop] = 0;
        for (left = at; at < stop; at++)
            if (is_blank(line[at])) line[at] = 1;
        for (; at > left && line[at - 1] == 1;) line[--at] = 0;
        w[n] = line + left + (left < at ? strspn(line + left, "\1") : 0);
        if (left < at && line[left] == '$' && (f == 2 || f == 4) && comments(r, w[n])) return n;
        if (more) return -1;
        n += left < at;
        at = stop + 1;
    }
    return n;
}

static const char *read_sense(reader *r, char **w, int n) {
    static const char *const senses[] = {"MAX", "MAXIMIZE", "MAXIMISE", "MIN", "MINIMIZE", "MINIMISE"};
    int k;
    for (k = 0; k < 6 && n == 1 && !r->sense; k++) r->sense = strcasecmp(w[0], senses[k]) == 0;
    return r->sense && n == 1 ? NULL : "neither MAX nor MIN";
}

static const char *read_card(reader *r, char **w, int n) {
    static const char *const names[] = {"NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA"};
    int k;
    if (r->in == OBJSENSE && !r->sense) return "OBJSENSE without MAX or MIN";
    for (k = 0; k < SECTIONS && strcmp(w[0], names[k]);) k++;
    if (k == SECTIONS) return "unknown section";
    if (k == NAME && (r->begun & ~(1 << OBJSENSE))) return "NAME is no first section";
    r->begun |= 1 << k;
    if (k == NAME) return r->is_free = n > 2 && n < 7 && strcmp(w[n - 1], "FREE") == 0, NULL;
    r->in = (section)k;
    if (k == OBJSENSE && r->sense) return "OBJSENSE twice";
    if (k == OBJSENSE && n > 1) return read_sense(r, w + 1, n - 1);
    return n > 1 && *w[1] != '$' ? "words behind the name of a section" : NULL;
}

static const char *read_line(reader *r, char *line) {
    char *w[8] = {0}, *again, *c = line + strlen(line);
    const int is_card = !is_blank(*line);
    int n;
    if (c > line && c[-1] == '\r') *--c = 0;
    for (c = line; *c; c++)
        if ((unsigned char)*c < ' ' && *c != '\t') return "a control character";
    if (*line == '*' || *line == '#' || !line[strspn(line, " \t")]) return NULL;
    again = strdup(line);
    n = cut(r, line, w);
    if (r->in == OBJSENSE && !r->sense && (!is_card || toupper(*w[0]) == 'M')) return read_sense(r, w, n);
    if (is_card) return read_card(r, w, n);
    if (r->in == COLUMNS && n == 3 && strcmp(w[1], "'MARKER'") == 0) {
        r->integers = strcmp(w[2], "'INTORG'") == 0;
        return r->integers || strcmp(w[2], "'INTEND'") == 0 ? NULL : "not a marker";
    }
    if (r->fixed && (n = cut_fixed(r, again, w)) < 0) return "between the fields of fixed format";
    if (r->in < ROWS) return "not in a section";
    return r->in == ROWS ? add_row(r, w, n) : r->in == BOUNDS ? add_bound(r, w, n) : add_numbers(r, w, n);
}

/* ---- The program ---- */

/* Moves the objective, row 0 until now, behind the others, and appends the activities to the columns. */
static const char *finish(reader *r) {
    program *p = r->p;
    int i, j, k;
    for (k = 0; k < p->start[p->cols]; k++) p->row[k] = p->row[k] ? p->row[k] - 1 : p->rows - 1;
    for (i = 0; i < p->rows; i++, k++) {
        double side = i ? r->side[i] : NAN, range = r->range[i]; /* NaN: none */
        j = p->cols + (i ? i - 1 : p->rows - 1);
        p->bound[LOWER][j] = fmax(-INFINITY, side - (r->type[i] == 'L' ? range : fmax(0, -range)));
        p->bound[UPPER][j] = fmin(INFINITY, side + (r->type[i] == 'L' ? 0 : fmax(0, range)));
        p->row[k] = i;
        p->value[k] = -1;
        p->start[p->cols + i + 1] = k + 1;
    }
    for (j = 0; j < p->cols + p->rows; j++)
        if (p->bound[LOWER][j] == INFINITY || p->bound[UPPER][j] == -INFINITY) return "a variable is infinite";
    p->offset = -r->side[0];
    return NULL;
}

static void make_capacity(reader *r, int most) {
    int k;
    r->p = allocate(1, sizeof *r->p);
    *r->p = (program){.rows = 1,
                      .start = allocate(most, sizeof(int)),
                      .row = allocate(most, sizeof(int)),
                      .value = allocate(most, sizeof(double)),
                      .bound = {allocate(most, sizeof(double)), allocate(most, sizeof(double))},
                      .integer = allocate(most, 1)};
    r->side = allocate(most, sizeof(double));
    r->range = allocate(most, sizeof(double));
    r->index = allocate(most, sizeof(int));
    for (k = COLUMNS; k <= RANGES; k++) r->seen[k] = allocate(most, sizeof(int));
    r->type = allocate(most, 1);
    r->own = allocate(most, 1);
    if (!hcreate_r((size_t)most, &r->row) || !hcreate_r((size_t)most, &r->col)) end(BAD_INPUT, "out of memory");
}

/* Returns the error; *line: its line. */
static const char *read_as(reader *r, const char *path, long *line) {
    char *text = read_text(path).at, *rest = text;
    const char *error = NULL;
    int most = 4;
    while (*rest) most += 2 * (*rest++ == '\n');
    make_capacity(r, most);
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; /* a byte order mark */
    for (*line = 0; r->in != ENDATA && *text && !error; text = rest) {
        rest = text + strcspn(text, "\n");
        if (*rest) *rest++ = 0;
        error = read_line(r, text);
        ++*line;
    }
    return error ? error : r->in != ENDATA ? "no ENDATA" : finish(r);
}

static int same(const void *a, const void *b, int count, size_t size) { return !memcmp(a, b, (size_t)count * size); }

static int same_program(const program *a, const program *b) {
    const int n = a->cols + a->rows, k = a->start[n];
    return a->rows == b->rows && a->cols == b->cols && same(a->start, b->start, n + 1, sizeof(int)) &&
           same(a->row, b->row, k, sizeof(int)) && same(a->value, b->value, k, sizeof(double)) &&
           same(a->bound[LOWER], b->bound[LOWER], n, sizeof(double)) &&
           same(a->bound[UPPER], b->bound[UPPER], n, sizeof(double)) && same(a->integer, b->integer, a->cols, 1) &&
           same(&a->offset, &b->offset, 1, sizeof(double));
}

program *read_mps(const char *path) {
    reader words = {.fixed = 0}, columns = {.fixed = 1};
    long line, second;
    const char *error = read_as(&words, path, &line), *other = read_as(&columns, path, &second);
    if (error && other) end(BAD_INPUT, "line %ld: %s", second > line ? second : line, second > line ? other : error);
    if (!error && !other && !words.is_free && !same_program(words.p, columns.p))
        end(BAD_INPUT, "words mean one thing, fixed columns another");
    return error ? columns.p : words.p;
}
