/* SPDX-License-Identifier: MIT
 *
 * Shared by the example programs: the command line, opening a context on the chosen backend, names and JSON.
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <stdio.h>

#include "examples/interrupt.h"
#include "gpuopt.h"

enum { EXIT_INFEASIBLE = 1, EXIT_BAD_INPUT = 2, EXIT_FAILED = 3 };

/* The position of word among the NULL-ended choices, or -1. */
int choice(const char *word, const char *const *choices);
/* Whether word is a whole number of 1 to most. */
int whole_number(const char *word, int64_t most, int64_t *value);

/* The last call of a program with the exit status `result`. Returns it, or EXIT_BAD_INPUT, with a message on stderr, if
 * stdout could not be written. */
int finish_output(int result);

/* The options of every program, for its usage. parse_options() takes them. */
#define USAGE_SHARED                                                                                                  \
    "  --seconds S        stop after S seconds, which may be .01, and print what is known by then, as after Ctrl-C\n" \
    "                     or SIGTERM; a second signal ends at once (no limit)\n"                                      \
    "  --json             one line of JSON on stdout, nothing else\n"                                                 \
    "  --log              print everything that the library reports, not only errors and warnings, on stderr\n"       \
    "  --version          print the version and exit\n"                                                               \
    "  --help             print this and exit\n"

/* Reads a command line by getopt_long(): one model, the program's own options, and the shared ones. `values` names the
 * own options that have a value, and `flags` those that have none; both end with NULL, and flags may be NULL. take()
 * gets the name of such an option, and its value or "". It returns 1, or 0 if the value is bad. An own option replaces a
 * shared one of the same name. A second file is passed as the value of the option "". Returns 0, or prints the fault and
 * returns -1. The usage begins with "usage: NAME ". From then on a closed pipe is an error of writing, not a signal. */
int parse_options(int argc, char **argv, const char *usage, const char *const *values, const char *const *flags,
                  int (*take)(void *options, const char *name, const char *value), void *options, const char **model,
                  int *json);

double now(void); /* seconds, from a monotonic clock */

/* A line on stderr that overwrites the previous one, of at most the terminal's width, at most ten times a second. Does
 * nothing if stderr is no terminal. progress_end() ends the last line. */
int progress_is_seen(void);
void progress(const char *format, ...);
void progress_end(void);

/* The name printed before the library's errors and warnings, on stderr; with --log before all its messages. */
typedef struct log_printer {
    const char *name;
    int quiet;
} log_printer;
void write_log(const log_printer *printer, int level, const char *message); /* see the context's log hook */

extern const char *const backends[]; /* auto, cpu, cuda, NULL */

/* Opens a context on the backend of that name. auto means the GPU if try_gpu is set and there is one, else the CPU,
 * without a message. The log goes to the printer, which must outlive the context. Calls stop when interrupted() returns
 * 1, which requires interrupt_catch(). */
gpuopt_status open_context(const char *wanted, int try_gpu, int threads, log_printer *printer, gpuopt_context **context,
                           const char **backend);
/* The same on the CUDA device of that number; open_context() takes device 0. */
gpuopt_status open_context_on(int device, const char *wanted, int try_gpu, int threads, log_printer *printer,
                              gpuopt_context **context, const char **backend);

/* Generated models have numbers for names. On stdout and stderr unprintable bytes are written as \xNN. */
void print_name(FILE *to, char **name, char letter, int k);
/* Prints a line "name a b" for each of `count`. */
void print_pairs(FILE *to, char **name, char letter, int count, const double *a, const double *b);
/* JSON on stdout. Bytes of a string that are not UTF-8 become the text \xNN. A number that is not finite becomes null,
 * since JSON has no such numbers. The last function prints a comma and a member, null if it is not known. */
void print_json_string(const char *text);
void print_json_value(double value);
void print_json_number(const char *name, double value, int known);

/* Closes a file. If it could not be written, or opened (file NULL), prints that on stderr and returns -1, else 0. */
int close_written(FILE *file, const char *path);

#endif /* EXAMPLES_COMMON_H */
