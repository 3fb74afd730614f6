/* SPDX-License-Identifier: MIT
 *
 * A checker of answers that shares no code with the library or the examples: doc/checking.md. Memory is released when
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

/* Exit statuses: all claims are proven; a claim is wrong; unreadable; no claim is wrong, but not all are proven. */
enum { PROVEN = 0, REFUSED = 1, BAD_INPUT = 2, UNPROVEN = 3 };

/* Prints the status and the reason as the last line, and ends the program. */
_Noreturn void end(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *allocate(int64_t count, size_t size); /* all 0, with one more at the end */
mpz_t *zeros(int count);

/* The blank-separated words of a file; cuts the file's text into them. */
typedef struct words {
    const char *path;
    char *at, *word; /* word: the latest */
    long line;
} words;

words read_text(const char *path);
char *next(words *w); /* NULL at the end */
char *need(words *w); /* bad input at the end */
int is(const words *w, const char *word);
_Noreturn void unknown(const words *w);

/* Numbers. A double is a C hex float, or decimal, which becomes the nearest double. */
int is_number(const char *word, double *value);
double number(words *w);              /* a finite one */
double *numbers(words *w, int count); /* as many numbers as there are words; there must be `count` */
int64_t whole(words *w, int64_t least, int64_t most);
int64_t *wholes(words *w, int64_t count, int64_t least, int64_t most);

/* A x - activity = 0: the variables are the columns, then the activities of the rows. The last row is the objective. */
enum { LOWER, UPPER };
typedef struct program {
    int rows, cols, maximize, *start, *row; /* the entries by variables */
    double *value, *bound[2];               /* [entries]; [cols + rows] LOWER and UPPER, may be infinite */
    char *integer;
    double offset;
    /* A linear program's values as integers, times one power of two [entries]. The basis: columns of [A, -I] that form
     * a square matrix B, by their variables [rows]; its factors. */
    mpz_t *exact;
    int *basic;
    struct step *steps;
    /* For propagation: row i has the entries first[i], next[first[i]] and so on, until a number below 0; the columns of
     * entries. */
    int *first, *next, *column;
} program;

/* Values num[k] / den. */
typedef struct fractions {
    mpz_t *num, den;
} fractions;

int factorize(program *p);                                     /* -1: singular modulo 2^62 - 57 */
fractions solve(const program *p, int transposed, mpz_t *rhs); /* B x = rhs or B' x = rhs, exactly */

/* num / (den * 2^(times * PLACES)), rounded; at least 1e-200 in size if it is not 0. */
enum { PLACES = 1074 };
double real(const mpz_t num, const mpz_t den, int times);

/* How far x, clipped to its bounds, and y [rows - 1] miss a side, bound or reduced cost that should be met, as a share
 * of the sum of its terms' sizes. Also the difference of the objectives. Changes x and y. */
typedef struct misfit {
    double share, gap;
} misfit;
misfit find_misfit(const program *p, mpz_t *const *bound, mpz_t *x, mpz_t *y);

program *read_mps(const char *path);
_Noreturn void check_program(program *p, words *answer);
_Noreturn void check_propagation(program *p, words *answer);
_Noreturn void check_elimination(words model, words *answer);
_Noreturn void check_knapsack(words model, words *answer);

#endif /* CHECK_H */
