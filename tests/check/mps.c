/* SPDX-License-Identifier: MIT
 *
 * Reads an MPS file. Where a line has too many words, names from then on are at their columns, and may have blanks. The
 * objective's constant is minus its right-hand side; a negative UP without a lower bound makes that -infinity; integer
 * columns without bounds have 0 and 1; of several free rows the first is the objective, the others are dropped.
 */
#define _GNU_SOURCE /* hsearch_r */
#include <search.h>

#include "tests/check/check.h"

typedef enum section { NO_SECTION, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA } section;

typedef struct reader {
    int integers, fixed;
    section in;
    struct hsearch_data row, col; /* names to indices from 1; -1: a free row that is dropped */
    program *p;
    char *type;           /* [rows] N, L, G or E */
    double *side, *range; /* [rows] NaN: there is no range */
    signed char *own;     /* [cols] 1: has a lower bound of its own; -1: is integer and has no bounds yet */
} reader;

/* The index of a name, 0: unknown; or gives a new name its index, 0: it has one. */
static int name(struct hsearch_data *names, char *word, int add) {
    ENTRY entry = {word, (void *)(intptr_t)add}, *found;
    if (hsearch_r(entry, FIND, &found, names)) return add ? 0 : (int)(intptr_t)found->data;
    if (add && !hsearch_r(entry, ENTER, &found, names)) end(BAD_INPUT, "out of memory");
    return add;
}

static const char *add_row(reader *r, char **w, int n) {
    int index = *w[0] != 'N' ? r->p->rows + 1 : r->type[0] ? -1 : 1;
    if (n != 2 || !strchr("NLGE", *w[0]) || w[0][1]) return "not a row";
    if (!name(&r->row, w[1], index)) return "two rows have this name";
    if (index > 0) r->type[index - 1] = *w[0];
    r->p->rows += index > 1;
    return NULL;
}

/* COLUMNS, RHS and RANGES: the name of a column, or that of a set, which may be missing, then rows and numbers. */
static const char *add_numbers(reader *r, char **w, int n) {
    program *p = r->p;
    int k, i, col = r->in == COLUMNS, *last;
    double value;
    if (col && n >= 2 && strstr(w[1], "'MARKER'")) return r->integers = !strstr(w[n - 1], "END"), NULL;
    if (n < 2 || (col && n % 2 == 0)) return "neither one number nor two";
    if (col && name(&r->col, w[0], p->cols + 1)) {
        p->integer[p->cols] = (char)r->integers;
        r->own[p->cols++] = (signed char)-r->integers;
        p->start[p->cols] = p->start[p->cols - 1];
    } else if (col && name(&r->col, w[0], 0) != p->cols) return "a column in two places";
    last = &p->start[p->cols];
    for (k = n % 2; k < n; k += 2) {
        if (!(i = name(&r->row, w[k], 0)) || !is_number(w[k + 1], &value)) return "no such row, or no number";
        if (i < 0) continue;
        if (!col) (r->in == RHS ? r->side : r->range)[i - 1] = value;
        else if (isinf(value)) return "infinite";
        else if (value != 0) p->row[*last] = i - 1, p->value[(*last)++] = value;
    }
    return NULL;
}

static const char *add_bound(reader *r, char **w, int n) {
    static const char kinds[] = "FR MI PL BV UP UI LO LI FX ";
    const char *at = strlen(w[0]) == 2 ? strstr(kinds, w[0]) : NULL;
    int kind = at ? (int)(at - kinds) / 3 : -1, valued = kind > 3, k = n == 2 + valued ? 1 : 2, j;
    double value = 1, *lower, *upper;
    if (kind < 0 || n < 2 + valued || !(j = name(&r->col, w[k], 0))) return "no such column or kind of bound";
    if (valued && !is_number(w[k + 1], &value)) return "no number";
    lower = &r->p->lower[--j];
    upper = &r->p->upper[j];
    if (r->own[j] < 0) r->own[j] = 0;
    if (kind <= 1 || ((kind == 4 || kind == 5) && value < 0 && !r->own[j])) *lower = -INFINITY; /* FR, MI, UP, UI */
    if (kind == 0 || kind == 2) *upper = INFINITY;                                              /* FR, PL */
    if ((kind >= 3 && kind <= 5) || kind == 8) *upper = value;                                  /* BV, UP, UI, FX */
    if (kind >= 6) *lower = value;                                                              /* LO, LI, FX */
    if (kind <= 1 || kind >= 6) r->own[j] = 1;
    if (kind == 3 || kind == 5 || kind == 7) r->p->integer[j] = 1;
    return NULL;
}

/* Cuts a line into words. In fixed format blanks within names are part of them. */
static int cut(char *line, int fixed, char **w) {
    static const size_t first[] = {4, 14, 39};
    size_t length, field;
    char *rest, *blank;
    int n = 0;
    for (field = 0; field < 3 && fixed && strlen(line) > first[field]; field++) {
        for (length = strnlen(line + first[field], 8); length > 0 && strchr(" \r", line[first[field] + length - 1]);)
            length--;
        while ((blank = memchr(line + first[field], ' ', length))) *blank = '_';
    }
    for (w[0] = strtok_r(line, " \t\r", &rest); w[n] && n < 7; w[n] = strtok_r(NULL, " \t\r", &rest)) n++;
    return n;
}

static const char *read_line(reader *r, char *line) {
    static const char *const names[] = {"", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA"};
    char *w[8] = {0}, *again = strdup(line);
    int is_card = *line != ' ' && *line != '\t', k = OBJSENSE, n = cut(line, r->fixed && !is_card, w);
    if (n == 0 || (is_card && strcmp(w[0], "NAME") == 0)) return NULL;
    while (is_card && k <= ENDATA && strcmp(w[0], names[k])) k++;
    if (is_card && k <= ENDATA) r->in = (section)k;
    if (is_card || r->in == OBJSENSE) return k <= ENDATA || r->in == OBJSENSE ? NULL : "unknown section";
    if ((r->in == ROWS && n > 2) || (r->in == COLUMNS && n % 2 == 0)) r->fixed = 1, n = cut(again, 1, w);
    if (r->in == ROWS) return add_row(r, w, n);
    if (r->in == BOUNDS) return add_bound(r, w, n);
    return r->in == NO_SECTION ? "outside of every section" : add_numbers(r, w, n);
}

/* Moves the objective, row 0 until now, behind the others, and appends the activities to the columns. */
static program *finish(reader *r) {
    program *p = r->p;
    int i, j, k = 0;
    for (j = 0; j < p->cols; j++)
        if (r->own[j] < 0) p->upper[j] = 1;
    for (; k < p->start[p->cols]; k++) p->row[k] = p->row[k] ? p->row[k] - 1 : p->rows - 1;
    p->offset = -r->side[0];
    for (i = 0; i < p->rows; i++) {
        double side = r->side[i], range = r->range[i], *lower, *upper;
        j = p->cols + (i ? i - 1 : p->rows - 1);
        lower = &p->lower[j];
        upper = &p->upper[j];
        *lower = i ? side : -INFINITY;
        *upper = i ? side : INFINITY;
        if (r->type[i] == 'L') *lower = fmax(-INFINITY, side - fabs(range)); /* not NaN */
        if (r->type[i] == 'G') *upper = fmin(INFINITY, side + fabs(range));
        if (r->type[i] == 'E') *(range > 0 ? upper : lower) += isnan(range) ? 0 : range;
    }
    for (j = 0; j < p->cols + p->rows; j++)
        if (p->lower[j] == INFINITY || p->upper[j] == -INFINITY) end(BAD_INPUT, "variable %d is infinite", j);
    for (i = 0; i < p->rows; i++, k++) {
        p->row[k] = i;
        p->value[k] = -1;
        p->start[p->cols + i + 1] = k + 1;
    }
    return p;
}

program *read_mps(const char *path) {
    reader r = {.p = allocate(1, sizeof(program))};
    char *at, *text = read_text(path);
    const char *error = NULL;
    size_t most = 4, k;
    long line;
    for (at = text; *at; at++) most += 2 * (size_t)(*at == '\n');
    *r.p = (program){.rows = 1,
                     .start = allocate(most, sizeof(int)),
                     .row = allocate(most, sizeof(int)),
                     .value = allocate(most, sizeof(double)),
                     .lower = allocate(most, sizeof(double)),
                     .upper = allocate(most, sizeof(double)),
                     .integer = allocate(most, 1)};
    r.side = allocate(most, sizeof(double));
    r.range = allocate(most, sizeof(double));
    r.type = allocate(most, 1);
    r.own = allocate(most, 1);
    for (k = 0; k < most; k++) r.p->upper[k] = INFINITY, r.range[k] = NAN;
    if (!hcreate_r(most, &r.row) || !hcreate_r(most, &r.col)) end(BAD_INPUT, "out of memory");
    for (line = 1; r.in != ENDATA && *text; line++, text = at) {
        at = text + strcspn(text, "\n");
        if (*at) *at++ = 0;
        if (*text != '*' && *text != '#' && (error = read_line(&r, text))) end(BAD_INPUT, "line %ld: %s", line, error);
    }
    if (r.in != ENDATA) end(BAD_INPUT, "%s: no ENDATA", path);
    return finish(&r);
}
