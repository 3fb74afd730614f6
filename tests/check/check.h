/* SPDX-License-Identifier: MIT
 *
 * A checker of answers that shares no code with the library or the examples: doc/checking.md. Memory is given back when
 * the program ends.
 */
#ifndef CHECK_H
#define CHECK_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses: all that is claimed is proven; something is wrong; unreadable; not wrong, but not all proven. */
enum { PROVEN = 0, REFUSED = 1, BAD_INPUT = 2, UNPROVEN = 3 };

/* These print the reason, and end the program. */
_Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void bad_input(const char *format, ...) __attribute__((format(printf, 1, 2)));
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
int64_t whole(words *w, int64_t least, int64_t most);
_Noreturn void unknown(const words *w);
/* Reads a C hex float, or a decimal number, which becomes the nearest double or, if `decimal`, stays as it is. Returns
 * 0, or 1 or -1 if its size is at least 1e20: infinite. */
int number(const char *word, int decimal, mpq_t value);
int is_number(const char *word);

typedef struct bound {
    mpq_t value;
    int infinite; /* -1, 0 or 1 */
} bound;

/* Variables are the columns, then the activities of the rows: A x - activity = 0. The last row is the objective. Row i
 * is stored as integers, multiplied by scale[i]. */
typedef struct program {
    int rows, cols, maximize, *start, *row; /* by variables */
    mpz_t *value, *scale;
    bound *lower, *upper; /* [cols + rows] */
    char *integer;
    mpq_t offset;
} program;

typedef struct fractions { /* num[k] / den */
    mpz_t *num, den;
} fractions;

/* A square matrix B: columns of [A, -I]. */
typedef struct square {
    const program *p;
    int *variable; /* [p->rows] */
    struct factors *factors;
} square;

int factorize(square *b);                                           /* -1: singular modulo 2^62 - 57 */
fractions solve(const square *b, int transposed, const mpz_t *rhs); /* B x = rhs or B' x = rhs, exactly */

program *read_mps(const char *path, int decimal);
int check_program(program *p, words *answer, double tolerance);
int check_propagation(program *p, words *answer);
int check_elimination(words *model, words *answer);
int check_knapsack(words *model, words *answer);

#endif /* CHECK_H */
