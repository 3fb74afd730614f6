/* SPDX-License-Identifier: MIT
 *
 * Reads an MPS file, in free format if it can be read so, else in fixed columns. The objective's constant is minus its
 * right-hand side; a negative UP without a lower bound makes that -infinity; integer columns without bounds have 0 and
 * 1; of several free rows the first is the objective, the others are dropped.
 */
#define _GNU_SOURCE /* hsearch_r */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tests/check/check.h"

typedef enum section { NO_SECTION, OBJSENSE, ROWS, COLUMNS, RHS, RANGES, BOUNDS, ENDATA } section;

typedef struct reader {
    int fixed, decimal, integers;
    section in;
    struct hsearch_data row, col; /* names to indices from 1; -1: a free row that is dropped */
    program *p;
    char *type;          /* [rows] N, L, G or E */
    bound *side, *range; /* [rows] infinite: there is no range */
    signed char *own;    /* [cols] 1: has a lower bound of its own; -1: is integer and has no bounds yet */
    mpq_t *value;        /* [nonzeros] */
} reader;

/* The index of a name, 0: unknown; or gives a new name its index, 0: it has one. */
static int name(struct hsearch_data *names, char *word, int add) {
    ENTRY entry = {word, (void *)(intptr_t)add}, *found;
    if (hsearch_r(entry, FIND, &found, names)) return add ? 0 : (int)(intptr_t)found->data;
    if (add && !hsearch_r(entry, ENTER, &found, names)) bad_input("out of memory");
    return add;
}

static void set(bound *b, int infinite, const mpq_t value) {
    b->infinite = infinite;
    mpq_set(b->value, value);
}

/* Cuts a line into its fields; returns how many there are. */
static int cut(const char *blanks, int fixed, int coded, char *line, char **w) {
    static const int first[] = {1, 4, 14, 24, 39, 49}, last[] = {3, 12, 22, 36, 47, 61};
    int length = (int)strlen(line), n = 0, k, end;
    char *rest = NULL, *word;
    for (word = fixed ? NULL : strtok_r(line, blanks, &rest); word && n < 7; word = strtok_r(NULL, blanks, &rest))
        w[n++] = word;
    while (length > 0 && strchr(blanks, line[length - 1])) line[--length] = 0;
    for (k = coded ? 0 : 1; fixed && k < 6 && first[k] < length; k++) {
        end = last[k] < length ? last[k] : length;
        while (end > first[k] && line[end - 1] == ' ') end--;
        line[end] = 0;
        w[n++] = line + first[k] + strspn(line + first[k], " ");
    }
    return n;
}

static const char *add_row(reader *r, char **w, int n) {
    program *p = r->p;
    int index = *w[0] != 'N' ? p->rows + 1 : r->type[0] ? -1 : 1;
    if (n != 2 || !strchr("NLGE", *w[0]) || w[0][1]) return "not a row";
    if (!name(&r->row, w[1], index)) return "two rows have this name";
    if (index > 0) r->type[index - 1] = *w[0];
    p->rows += index > 1;
    return NULL;
}

static const char *add_entries(reader *r, char **w, int n) {
    program *p = r->p;
    int k, i, col = name(&r->col, w[0], 0), *end;
    if (n >= 2 && strstr(w[1], "'MARKER'")) return r->integers = !strstr(w[n - 1], "END"), NULL;
    if (n % 2 == 0 || n > 5 || (col && col != p->cols)) return "no entry, or a column in two places";
    if (!col) {
        name(&r->col, w[0], ++p->cols);
        p->integer[p->cols - 1] = (char)r->integers;
        r->own[p->cols - 1] = (signed char)-r->integers;
    }
    end = &p->start[p->cols];
    for (k = 1; k < n; k += 2) {
        if (!(i = name(&r->row, w[k], 0)) || !is_number(w[k + 1])) return "no such row, or no number";
        if (i < 0) continue;
        p->row[*end] = i - 1;
        mpq_init(r->value[*end]);
        if (number(w[k + 1], r->decimal, r->value[*end])) return "infinite";
        *end += mpq_sgn(r->value[*end]) != 0;
    }
    end[1] = *end;
    return NULL;
}

/* RHS and RANGES; the set's name may be missing. */
static const char *add_sides(reader *r, char **w, int n) {
    int k = n % 2, i;
    if (n < 2) return "no right-hand side or range";
    for (; k < n; k += 2) {
        bound *b = r->in == RHS ? r->side : r->range;
        if (!(i = name(&r->row, w[k], 0)) || !is_number(w[k + 1])) return "no such row, or no number";
        if (i == 1 && r->in == RANGES) return "the objective has a range";
        if (i > 0) b[i - 1].infinite = number(w[k + 1], r->decimal, b[i - 1].value);
    }
    return NULL;
}

static const char *add_bound(reader *r, char **w, int n) {
    static const char kinds[] = "FR MI PL BV UP UI LO LI FX ";
    const char *at = strlen(w[0]) == 2 ? strstr(kinds, w[0]) : NULL;
    int kind = at ? (int)(at - kinds) / 3 : -1, valued = kind > 3, k = n == 2 + valued ? 1 : 2, j, infinite = 0;
    bound *lower, *upper;
    mpq_t value, zero;
    if (kind < 0 || n < 2 + valued || !(j = name(&r->col, w[k], 0))) return "no such column or kind of bound";
    if (valued && !is_number(w[k + 1])) return "no number";
    lower = &r->p->lower[--j];
    upper = &r->p->upper[j];
    mpq_inits(value, zero, NULL);
    mpq_set_ui(value, 1, 1);
    if (valued) infinite = number(w[k + 1], r->decimal, value);
    if (r->own[j] < 0) r->own[j] = 0;
    if (kind <= 1) set(lower, -1, zero);             /* FR, MI */
    if (kind == 0 || kind == 2) set(upper, 1, zero); /* FR, PL */
    if ((kind == 4 || kind == 5) && (infinite < 0 || mpq_sgn(value) < 0) && !r->own[j]) set(lower, -1, zero);
    if ((kind >= 3 && kind <= 5) || kind == 8) set(upper, infinite, value); /* BV, UP, UI, FX */
    if (kind >= 6) set(lower, infinite, value);                             /* LO, LI, FX */
    if (kind <= 1 || kind >= 6) r->own[j] = 1;
    if (kind == 3 || kind == 5 || kind == 7) r->p->integer[j] = 1;
    return NULL;
}

static const char *read_line(reader *r, char *line) {
    static const char *const names[] = {"", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "ENDATA"};
    char *w[8] = {0};
    int is_card = *line != ' ' && *line != '\t', k = OBJSENSE;
    int n = cut(" \t\r", r->fixed && !is_card && r->in > OBJSENSE, r->in == ROWS || r->in == BOUNDS, line, w);
    if (n == 0) return NULL;
    if (is_card && strcmp(w[0], "NAME") == 0) return r->fixed && n > 2 && !strcmp(w[2], "FREE") ? "not fixed" : NULL;
    while (is_card && k <= ENDATA && strcmp(w[0], names[k])) k++;
    if (is_card && k <= ENDATA) {
        r->in = (section)k;
        if (k != OBJSENSE || n == 1) return NULL;
        w[0] = w[1];
    } else if (is_card && r->in != OBJSENSE) {
        return "unknown section";
    }
    switch (r->in) {
    case OBJSENSE:
        r->p->maximize = strncasecmp(w[0], "MAX", 3) == 0;
        return r->p->maximize || strncasecmp(w[0], "MIN", 3) == 0 ? NULL : "neither MAX nor MIN";
    case ROWS: return add_row(r, w, n);
    case COLUMNS: return add_entries(r, w, n);
    case RHS:
    case RANGES: return add_sides(r, w, n);
    case BOUNDS: return add_bound(r, w, n);
    default: return "outside of every section";
    }
}

/* The sides of a row: doubles are added as doubles. */
static void finish_row(const reader *r, int i, bound *lower, bound *upper) {
    const bound *side = &r->side[i], *range = &r->range[i];
    int sign = mpq_sgn(range->value), up = r->type[i] == 'G' || (r->type[i] == 'E' && sign > 0);
    bound *other = up ? upper : lower;
    mpq_t size;
    mpq_init(size);
    lower->infinite = -1;
    upper->infinite = 1;
    if (i > 0 && r->type[i] != 'L') set(lower, side->infinite, side->value);
    if (i > 0 && r->type[i] != 'G') set(upper, side->infinite, side->value);
    if (range->infinite || side->infinite || (r->type[i] == 'E' && !sign)) return;
    mpq_abs(size, range->value);
    if (!up) mpq_neg(size, size);
    mpq_add(other->value, side->value, size);
    if (!r->decimal) mpq_set_d(other->value, mpq_get_d(side->value) + mpq_get_d(size));
    other->infinite = 0;
}

/* Scales the rows, and moves the objective, row 0 until now, behind the others. */
static program *finish(reader *r) {
    program *p = r->p;
    int i, j, k, *seen = allocate((size_t)p->rows, sizeof(int));
    p->scale = zeros(p->rows);
    p->value = zeros(p->start[p->cols] + p->rows);
    mpq_init(p->offset);
    mpq_neg(p->offset, r->side[0].value);
    for (i = 0; i < p->rows; i++) {
        mpz_set_ui(p->scale[i], 1);
        k = p->cols + (i ? i - 1 : p->rows - 1);
        finish_row(r, i, &p->lower[k], &p->upper[k]);
    }
    for (j = 0; j < p->cols; j++) {
        if (r->own[j] < 0) p->upper[j].infinite = 0, mpq_set_ui(p->upper[j].value, 1, 1);
        for (k = p->start[j]; k < p->start[j + 1]; k++) {
            i = p->row[k] = p->row[k] ? p->row[k] - 1 : p->rows - 1;
            if (seen[i] == j + 1) bad_input("column %d has a row twice", j);
            seen[i] = j + 1;
            mpz_lcm(p->scale[i], p->scale[i], mpq_denref(r->value[k]));
        }
    }
    for (k = 0; k < p->start[p->cols]; k++) {
        mpz_divexact(p->value[k], p->scale[p->row[k]], mpq_denref(r->value[k]));
        mpz_mul(p->value[k], p->value[k], mpq_numref(r->value[k]));
    }
    for (j = 0; j < p->cols + p->rows; j++)
        if (p->lower[j].infinite > 0 || p->upper[j].infinite < 0) bad_input("variable %d has an infinite value", j);
    for (i = 0; i < p->rows; i++, k++) {
        p->row[k] = i;
        mpz_neg(p->value[k], p->scale[i]);
        p->start[p->cols + i + 1] = k + 1;
    }
    return p;
}

/* One attempt. Returns NULL, or what is wrong with the line that *line is then. */
static const char *read_as(reader *r, char *text, long *line) {
    const char *error = NULL;
    size_t most = 4, k;
    char *at;
    for (at = text; *at; at++) most += 2 * (*at == '\n');
    r->p = allocate(1, sizeof *r->p);
    r->p->start = allocate(most, sizeof(int));
    r->p->row = allocate(most, sizeof(int));
    r->p->lower = allocate(most, sizeof(bound));
    r->p->upper = allocate(most, sizeof(bound));
    r->p->integer = allocate(most, 1);
    r->value = allocate(most, sizeof(mpq_t));
    r->side = allocate(most, sizeof(bound));
    r->range = allocate(most, sizeof(bound));
    r->type = allocate(most, 1);
    r->own = allocate(most, 1);
    r->p->rows = 1;
    for (k = 0; k < most; k++) {
        mpq_inits(r->p->lower[k].value, r->p->upper[k].value, r->side[k].value, r->range[k].value, NULL);
        r->p->upper[k].infinite = r->range[k].infinite = 1;
    }
    if (!hcreate_r(most, &r->row) || !hcreate_r(most, &r->col)) bad_input("out of memory");
    for (*line = 1; !error && r->in != ENDATA && *text; ++*line, text = at) {
        at = text + strcspn(text, "\n");
        if (*at) *at++ = 0;
        if (*text != '*' && *text != '#') error = read_line(r, text);
    }
    return error || r->in == ENDATA ? error : "no ENDATA";
}

program *read_mps(const char *path, int decimal) {
    reader r = {.decimal = decimal}, again = {.decimal = decimal, .fixed = 1};
    long line, other;
    const char *error = read_as(&r, read_text(path), &line), *worse;
    if (!error) return finish(&r);
    worse = read_as(&again, read_text(path), &other);
    if (worse) bad_input("%s: line %ld: %s; in fixed columns, line %ld: %s", path, line - 1, error, other - 1, worse);
    return finish(&again);
}
