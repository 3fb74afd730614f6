/* SPDX-License-Identifier: MIT
 *
 * What the example programs share: words of the command line, a context on the backend asked for, names and JSON.
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stdio.h>

#include "gpuopt.h"

enum { EXIT_INFEASIBLE = 1, EXIT_BAD_INPUT = 2, EXIT_FAILED = 3 };

/* The position of word among the NULL-ended choices, or -1. */
int choice(const char *word, const char *const *choices);
/* Whether word is a whole number of 1 to most. */
int whole_number(const char *word, int64_t most, int64_t *value);

/* On --help: prints the usage on stdout and ends the program. */
void print_help(const char *usage);

/* The words of a command line: one model, --json, --help, and options, of which `take` says 1: taken with its
 * value, 2: taken, without a value, 0: a bad value, -1: there is no such option. Returns 0, or says what is wrong and
 * returns -1. */
int parse_words(int argc, char **argv, const char *usage,
                int (*take)(void *options, const char *name, const char *value), void *options, const char **model,
                int *json);

double now(void); /* seconds, of a clock that only goes forward */

/* Under whose name the library's errors and warnings are printed, on stderr. */
typedef struct speaker {
    const char *name;
    int quiet;
} speaker;

extern const char *const backends[]; /* auto, cpu, cuda, NULL */

/* A context on the backend of that name; auto means the GPU where try_gpu and there is one, else the CPU, and does not
 * say why. Its log is the speaker's, which must outlive it. */
gpuopt_status open_context(const char *wanted, int try_gpu, int threads, speaker *speaker, gpuopt_context **context,
                           const char **backend);

/* Generated models have numbers for names. */
void print_name(FILE *to, char **name, char letter, int k);
void print_json_string(const char *text); /* quoted, on stdout */

/* fclose, or that the file cannot be written, on stderr; file NULL: it could not be opened. 0 or -1. */
int close_written(FILE *file, const char *path);

#endif /* EXAMPLES_COMMON_H */
