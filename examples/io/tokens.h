/* SPDX-License-Identifier: MIT
 *
 * The words of a text file with their lines and columns, for the readers of graphical models and of the files that
 * belong to them. A line break is a blank like any other.
 */
#ifndef EXAMPLES_IO_TOKENS_H
#define EXAMPLES_IO_TOKENS_H

#include <stddef.h>
#include <stdint.h>

typedef struct tokens {
    const char *path;
    char *text;               /* the whole file, then 0 */
    size_t size, at, begin;   /* begin: of the first word, behind a byte order mark */
    int64_t line, line_start; /* the present line: its number, and the offset of its first character */
    char *word;               /* the word taken last, within text, not ended by 0; NULL: none yet */
    int length;
    int64_t word_line, word_column; /* from 1; at the end of the file if no word is left */
    int comments;                   /* not 0: from # to the end of its line everything is skipped */
    int json;   /* not 0: commas and colons are blanks, brackets and braces words; "a word"; comments: # or // before a
                   word, to the end of the line */
    int quoted; /* the word taken last was between quotation marks, which are no part of it */
    const char *part; /* the current part, for the errors: "function" and its number, or NULL */
    int64_t index;
    char *error; /* receives the first error: "PATH:LINE:COLUMN: PART INDEX: FAULT" */
    size_t error_size;
} tokens;

/* All return 0, or -1 and the error, in which `what` names the word. _open reads to the end, so a pipe works, too; the
 * path
 * - is standard input. After a failed _open there is nothing to close. */
int tokens_open(tokens *t, const char *path, char *error, size_t error_size);
void tokens_close(tokens *t);
int tokens_next(tokens *t, const char *what); /* an error at the end of the file: truncated */
int tokens_peek(tokens *t, const char *what); /* the same, but does not take the word */
int tokens_whole(tokens *t, const char *what, int64_t least, int64_t most, int64_t *value);
/* A finite decimal number of 0 or more, as factors are; a nonzero number that rounds to 0 or infinity is an error. */
int tokens_factor(tokens *t, const char *what, double *value);
/* A decimal number with or without a sign, times 10^places; further decimal places are cut off. */
int tokens_decimal(tokens *t, const char *what, int places, int64_t *value);
/* The same of the word taken last, without its first characters. */
int tokens_decimal_behind(tokens *t, const char *what, int first, int places, int64_t *value);
int tokens_end(tokens *t); /* an error unless nothing is left */

int tokens_is(const tokens *t, const char *word); /* whether the word taken last is this one */
int tokens_numeric(const tokens *t);              /* whether it begins like a number */
int64_t tokens_count(const tokens *t);            /* of all words in the file */
size_t tokens_capacity(const tokens *t);          /* the most words that can follow */
int tokens_shown(const tokens *t);                /* how many characters of the word an error shows, for %.*s */

/* Reports an error at the word taken last, formatted as by printf. Returns -1. */
int tokens_fail(tokens *t, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif /* EXAMPLES_IO_TOKENS_H */
