/* SPDX-License-Identifier: MIT
 *
 * Reads an MPS file. Where a line has too many words, names from then on are at their columns, and may have blanks. The
 * objective's constant is minus its right-hand side; a negative UP without a lower bound makes that -infinity; integer
 * columns without bounds have 0 and 1; of several free rows the first is the objective, the others are dropped; of
 * several sets of sides, ranges or bounds the first counts.
 */
#define _GNU_SOURCE /* hsearch_r */
#include <search.h>

#include "tests/check/check.h"

typedef enum section { NAME, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA, SECTIONS } section;

typedef struct reader {
    int integers, fixed;
    section in;
    const char *set[SECTIONS];    /* that counts */
    struct hsearch_data row, col; /* names to indices from 1; -1: a free row that is dropped */
    program *p;
    char *type;           /* [rows] N, L, G or E */
    double *side, *range; /* [rows] */
    signed char *own;     /* [cols] 1: has a lower bound of its own; -1: is integer and has no bounds yet */
} reader;

/* The index of a name, 0: unknown; or gives a new name its index, 0: it has one. */
static int name(struct hsearch_data *names, char *word, int add) {
    ENTRY entry = {word, (void *)(intptr_t)add}, *found;
    if (hsearch_r(entry, FIND, &found, names)) return add ? 0 : (int)(intptr_t)found->data;
    if (add && !hsearch_r(entry, ENTER, &found, names)) end(BAD_INPUT, "out of memory");
    return add;
}

/* Whether this set of the section is the first. */
static int counts(reader *r, const char *set) {
    if (!r->set[r->in]) r->set[r->in] = set;
    return strcmp(r->set[r->in], set) == 0;
}

static const char *add_row(reader *r, char **w, int n) {
    int index = *w[0] != 'N' ? r->p->rows + 1 : r->type[0] ? -1 : 1;
    if (n != 2 || !strchr("NLGE", *w[0]) || w[0][1]) return "not a row";
    if (!name(&r->row, w[1], index)) return "two rows have this name";
    if (index < 0) return NULL;
    r->type[index - 1] = *w[0];
    r->range[index - 1] = *w[0] == 'E' ? 0 : INFINITY;
    r->p->rows += index > 1;
    return NULL;
}

/* COLUMNS, RHS and RANGES: the name of a column, or that of a set, which may be missing, then rows and numbers. */
static const char *add_numbers(reader *r, char **w, int n) {
    program *p = r->p;
    int k, i, col = r->in == COLUMNS, *last;
    double value;
    if (col && n >= 2 && strstr(w[1], "'MARKER'")) return r->integers = !strstr(w[n - 1], "END"), NULL;
    if (n < 2 || n > 5 || (col && n % 2 == 0)) return "neither one number nor two";
    if (!col && !counts(r, n % 2 ? w[0] : "")) return NULL;
    if (col && name(&r->col, w[0], p->cols + 1)) {
        p->integer[p->cols] = (char)r->integers;
        p->bound[UPPER][p->cols] = r->integers ? 1 : INFINITY;
        r->own[p->cols++] = (signed char)-r->integers;
        p->start[p->cols] = p->start[p->cols - 1];
    } else if (col && name(&r->col, w[0], 0) != p->cols) return "a column in two places";
    last = &p->start[p->cols];
    for (k = n % 2; k < n; k += 2) {
        if (!(i = name(&r->row, w[k], 0)) || !is_number(w[k + 1], &value)) return "no such row, or no number";
        if (i-- < 0) continue;
        if (r->in == RHS) r->side[i] = value;
        else if (r->in == RANGES) r->range[i] = r->type[i] == 'E' ? value : fabs(value);
        else if (isinf(value)) return "infinite";
        else if (value != 0) p->row[*last] = i, p->value[(*last)++] = value;
    }
    return NULL;
}

static const char *add_bound(reader *r, char **w, int n) {
    static const char kinds[] = "FR MI PL BV LO LI FX UP UI ";
    enum { FR, MI, PL, BV, LO, LI, FX, UP, UI };
    const char *found = strlen(w[0]) == 2 ? strstr(kinds, w[0]) : NULL;
    int kind = found ? (int)(found - kinds) / 3 : -1, valued = kind > BV, named = n > 2 + valued, j;
    double value = 0, *lower, *upper;
    if (kind < 0 || n < 2 + valued || !(j = name(&r->col, w[1 + named], 0))) return "no such column or kind of bound";
    if (valued && !is_number(w[2 + named], &value)) return "no number";
    if (!counts(r, named ? w[1] : "")) return NULL;
    lower = &r->p->bound[LOWER][--j];
    upper = &r->p->bound[UPPER][j];
    if (r->own[j] < 0) r->own[j] = 0, *upper = INFINITY;
    if (kind == FR || kind == MI || (kind == UP && value < 0 && !r->own[j])) *lower = -INFINITY;
    if (kind >= BV && kind <= FX) *lower = value;
    if (kind == FR || kind == PL) *upper = INFINITY;
    if (kind == BV || kind >= FX) *upper = kind == BV ? 1 : value;
    if (kind != PL && kind < UP) r->own[j] = 1;
    if (kind == BV || kind == LI || kind == UI) r->p->integer[j] = 1;
    return NULL;
}

/* Cuts a line into words. In fixed format blanks within names are part of them. */
static int cut(char *line, int fixed, char **w) {
    static const int first[] = {4, 14, 39};
    char *at, *rest, *stop, *end = line + strlen(line);
    int n = 0, k;
    for (k = 0; k < 3 && fixed && end - line > first[k]; k++) {
        stop = end - line < first[k] + 8 ? end : line + first[k] + 8;
        for (at = line + first[k]; at + strspn(at, " \r") < stop; at++)
            if (*at == ' ') *at = '_';
    }
    for (w[0] = strtok_r(line, " \t\r", &rest); w[n] && n < 7; w[n] = strtok_r(NULL, " \t\r", &rest)) n++;
    return n;
}

static const char *read_line(reader *r, char *line) {
    static const char *const names[] = {"NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA"};
    char *w[8] = {0}, *again = strdup(line);
    int is_card = *line != ' ' && *line != '\t', n = cut(line, r->fixed && !is_card, w), k;
    for (k = 0; k < SECTIONS && is_card && n > 0; k++)
        if (strcmp(w[0], names[k]) == 0) return r->in = (section)k, NULL;
    if (n == 0 || r->in == OBJSENSE) return NULL;
    if (is_card || r->in == NAME) return "not in a section";
    if ((r->in == ROWS && n > 2) || (r->in == COLUMNS && n % 2 == 0)) r->fixed = 1, n = cut(again, 1, w);
    return r->in == ROWS ? add_row(r, w, n) : r->in == BOUNDS ? add_bound(r, w, n) : add_numbers(r, w, n);
}

/* Moves the objective, row 0 until now, behind the others, and appends the activities to the columns. */
static program *finish(reader *r) {
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
        if (p->bound[LOWER][j] == INFINITY || p->bound[UPPER][j] == -INFINITY)
            end(BAD_INPUT, "variable %d is infinite", j);
    p->offset = -r->side[0];
    return p;
}

program *read_mps(const char *path) {
    reader r = {.p = allocate(1, sizeof(program))};
    char *text = read_text(path).at, *rest = text;
    const char *error;
    int most = 4;
    long line;
    while (*rest) most += 2 * (*rest++ == '\n');
    *r.p = (program){.rows = 1,
                     .start = allocate(most, sizeof(int)),
                     .row = allocate(most, sizeof(int)),
                     .value = allocate(most, sizeof(double)),
                     .bound = {allocate(most, sizeof(double)), allocate(most, sizeof(double))},
                     .integer = allocate(most, 1)};
    r.side = allocate(most, sizeof(double));
    r.range = allocate(most, sizeof(double));
    r.type = allocate(most, 1);
    r.own = allocate(most, 1);
    if (!hcreate_r((size_t)most, &r.row) || !hcreate_r((size_t)most, &r.col)) end(BAD_INPUT, "out of memory");
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3; /* a byte order mark */
    for (line = 1; r.in != ENDATA && *text; line++, text = rest) {
        rest = text + strcspn(text, "\n");
        if (*rest) *rest++ = 0;
        if (*text != '*' && *text != '#' && (error = read_line(&r, text))) end(BAD_INPUT, "line %ld: %s", line, error);
    }
    if (r.in != ENDATA) end(BAD_INPUT, "%s: no ENDATA", path);
    return finish(&r);
}
