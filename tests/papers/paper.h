/* SPDX-License-Identifier: MIT
 *
 * Shared by the programs that print the tables of a paper: options, contexts, statistics and tables.
 */
#ifndef TESTS_PAPERS_PAPER_H
#define TESTS_PAPERS_PAPER_H

#include <stddef.h>

#include "tests/bench/bench.h"

typedef struct paper {
    const char *name; /* of the program */
    int quick;        /* small sizes: a minute on two cores */
    const char *data; /* folder of public models, or NULL */
    const char *dat;  /* folder for each table as data for gnuplot, or NULL */
    int threads;      /* of the second CPU machine */
    /* Contexts on the CPU, with one thread and with `threads`, and on the first GPU; gpu is NULL if there is none. */
    machine machines[MOST_MACHINES];
    machine *one, *all, *gpu;
    int count;
} paper;

/* Reads the command line: [--quick] [--data FOLDER] [--dat FOLDER] [--threads N], and opens the contexts. Returns 0, or
 * the exit status that the program ends with, after a message. */
int paper_open(paper *p, int argc, char **argv);
void paper_close(paper *p);

/* Statistics of `count` > 0 positive values; percentile() takes 0 to 100 and interpolates. None changes the values. */
double mean(const double *value, int count);
double geometric_mean(const double *value, int count);
double percentile(const double *value, int count, double percent);

/* A table, printed as Markdown once it is complete. */
typedef struct table {
    const paper *of;
    const char *name;
    int columns, cells, capacity;
    char **cell;
} table;
/* Starts a table after printing its title. Its data goes to NAME.dat. `columns`: titles, separated by '|'. Titles say
 * "paper" where a column has the paper's own numbers. */
void table_start(table *t, const paper *of, const char *name, const char *title, const char *columns);
/* Fills the next cell; after the last column the next row starts. */
void table_text(table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A number with three significant digits; "-" if it is NaN, which stands for not measured. */
void table_number(table *t, double value);
/* Prints the table, and frees it. A row that is not complete is an error of the program. */
void table_end(table *t);

#endif /* TESTS_PAPERS_PAPER_H */
