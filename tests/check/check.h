/* SPDX-License-Identifier: MIT
 *
 * A checker of answers that shares no code with the library or the examples: doc/checking.md. Memory is given back when
 * the program ends.
 */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h> /* before gmp.h */
#include <stdlib.h>
#include <string.h>

#include <gmp.h>

/* Exit statuses: all that is claimed is proven; something is wrong; unreadable; not wrong, but not all proven. */
enum { PROVEN = 0, REFUSED = 1, BAD_INPUT = 2, UNPROVEN = 3 };

/* Prints the status and the reason as the last line, and ends the program. */
_Noreturn void end(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *allocate(size_t count, size_t size); /* all 0 */
mpz_t *zeros(int count);

/* The blank-separated words of a file, which is cut into them. */
typedef struct words {
    const char *path;
    char *at, *word; /* word: the latest */
    long line;
} words;

char *read_text(const char *path);
char *next(words *w); /* NULL at the end */
char *need(words *w); /* bad input at the end */
int is(const words *w, const char *word);
_Noreturn void unknown(const words *w);
int64_t whole(words *w, int64_t least, int64_t most);
/* Whether a word is a number: a C hex float, or a decimal one, which becomes the nearest double. From 1e20 on it is
 * infinite. */
int is_number(const char *word, double *value);

/* What an answer may hold: a name, then as `kind` says a word (w), a whole number (i), a double (d), or a count and so
 * many whole numbers (I), doubles (D) or letters (L). */
typedef struct record {
    const char *name;
    char kind;
    int size;      /* of I: the most; of D and L: as many as this */
    int64_t limit; /* whole numbers are 0 to limit - 1 */
    int count;     /* of what has been read; 0: nothing */
    char *word;
    int64_t *whole;
    double *real;
} record;

/* Reads up to a word that is no name in the table, which ends with an empty record, and returns it, or NULL. */
char *read_records(words *w, record *table);

/* A x - activity = 0: the variables are the columns, then the activities of the rows. The last row is the objective. */
typedef struct program {
    int rows, cols, maximize, *start, *row; /* the entries by variables */
    double *value, *lower, *upper;          /* [entries], [cols + rows] twice, may be infinite */
    char *integer;
    double offset;
    mpz_t *exact; /* [entries] values times one power of two; for linear programs */
} program;

/* Values num[k] / den. */
typedef struct fractions {
    mpz_t *num, den;
} fractions;

/* A square matrix B: the columns of [A, -I] that belong to some variables, as integers. */
typedef struct square {
    const program *p;
    int *variable; /* [p->rows] */
    struct factors *factors;
} square;

int factorize(square *b);                                     /* -1: singular modulo 2^62 - 57 */
fractions solve(const square *b, int transposed, mpz_t *rhs); /* B x = rhs or B' x = rhs, exactly */

program *read_mps(const char *path);
_Noreturn void check_program(program *p, words *answer);
_Noreturn void check_propagation(program *p, words *answer);
_Noreturn void check_elimination(words *model, words *answer);
_Noreturn void check_knapsack(words *model, words *answer);

#endif /* CHECK_H */
