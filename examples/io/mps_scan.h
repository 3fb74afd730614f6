/* SPDX-License-Identifier: MIT
 *
 * The text of an MPS file, line by line: from a file or a pipe, compressed or not (text.h), with lines of any length.
 */
#ifndef EXAMPLES_IO_MPS_SCAN_H
#define EXAMPLES_IO_MPS_SCAN_H

#include <stddef.h>

enum { MPS_WORDS = 6 }; /* the most words of a data line */

typedef struct mps_text {
    char *text; /* all of it, then 0 */
    size_t size, at;
    const char *path;
    char *error; /* receives the first error: "PATH:LINE: FAULT" */
    size_t error_size;
    long number; /* of the latest line, from 1 */
    char *line;  /* it, ended by 0, without the line break; [longest line + 1] */
    size_t length;
    char *copy, *fields; /* its words, and its fields, are cut out of here */
} mps_text;

/* Reads everything to the end. The path - is standard input. Returns 0, or -1 and the error: it cannot be read, or it
 * is another type of file, which is named. Then there is nothing to close. */
int mps_open(mps_text *t, const char *path, char *error, size_t error_size);
void mps_close(mps_text *t);
void mps_rewind(mps_text *t);

/* Goes to the next line. Returns 1, 0 at the end, or -1 and the error: there are control characters in it. */
int mps_next(mps_text *t);
/* Whether the latest line is empty or a comment, and whether it begins a section. */
int mps_is_blank(const mps_text *t);
int mps_is_card(const mps_text *t);
/* Cuts the latest line into words. Returns how many there are, at most MPS_WORDS + 1, which means more. */
int mps_words(mps_text *t, char *word[MPS_WORDS]);
/* Cuts it into the six fields of fixed format, without blanks around them; NULL: an empty one. A tab counts as a blank.
 * Returns 0 if there is text between the fields. */
int mps_fields(mps_text *t, char *field[MPS_WORDS]);

/* Reports the fault of the latest line, and returns -1. */
int mps_fail(mps_text *t, const char *what, const char *word);

#endif /* EXAMPLES_IO_MPS_SCAN_H */
