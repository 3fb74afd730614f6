/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "tests/papers/paper.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Options and contexts ---- */

static void find_gpu(paper *p) {
    machine *m = &p->machines[2];
    m->printer.name = "cuda";
    if (open_context("auto", 1, 1, &m->printer, &m->context, &m->name)) return;
    if (strcmp(m->name, "cuda") == 0) {
        m->cuda = m->threads = 1;
        p->gpu = m;
        p->count = 3;
    } else {
        gpuopt_context_destroy(m->context);
    }
}

int paper_open(paper *p, int argc, char **argv) {
    static const struct option options[] = {{"quick", no_argument, NULL, 'q'},
                                            {"data", required_argument, NULL, 'd'},
                                            {"dat", required_argument, NULL, 'o'},
                                            {"threads", required_argument, NULL, 't'},
                                            {NULL, 0, NULL, 0}};
    static char name[MOST_MACHINES][NAME];
    char list[NAME];
    int64_t threads = sysconf(_SC_NPROCESSORS_ONLN);
    int option, bad = 0;
    memset(p, 0, sizeof *p);
    p->name = argv[0];
    if (threads > 16) threads = 16;
    while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
        if (option == 'q') p->quick = 1;
        if (option == 'd') p->data = optarg;
        if (option == 'o') p->dat = optarg;
        if (option == '?' || (option == 't' && !whole_number(optarg, 1024, &threads))) bad = 1;
    }
    if (bad || optind != argc) {
        fprintf(stderr, "usage: %s [--quick] [--data FOLDER] [--dat FOLDER] [--threads N]\n", argv[0]);
        return EXIT_BAD_INPUT;
    }
    p->threads = (int)threads;
    snprintf(list, sizeof list, "cpu,cpu:%d", p->threads);
    p->count = open_machines(argv[0], list, p->machines, name);
    if (p->count != 2) return EXIT_FAILED;
    p->one = &p->machines[0];
    p->all = &p->machines[1];
    find_gpu(p);
    return 0;
}

void paper_close(paper *p) { close_machines(p->machines, p->count); }

/* ---- Statistics ---- */

double mean(const double *value, int count) {
    double sum = 0;
    int k;
    for (k = 0; k < count; k++) sum += value[k];
    return sum / count;
}

double geometric_mean(const double *value, int count) {
    double sum = 0;
    int k;
    for (k = 0; k < count; k++) sum += log(value[k]);
    return exp(sum / count);
}

double percentile(const double *value, int count, double percent) {
    double *sorted = malloc((size_t)count * sizeof *sorted), at = percent / 100 * (count - 1), result;
    int below = (int)at;
    if (!sorted) return NAN;
    memcpy(sorted, value, (size_t)count * sizeof *sorted);
    sort_values(sorted, count);
    result = sorted[below];
    if (below + 1 < count) result += (at - below) * (sorted[below + 1] - sorted[below]);
    free(sorted);
    return result;
}

/* ---- Tables ---- */

static void demand(int good, const table *t, const char *what) {
    if (good) return;
    fprintf(stderr, "%s: table %s: %s\n", t->of->name, t->name, what);
    exit(EXIT_FAILED);
}

static void take(table *t, const char *text, size_t length) {
    if (t->cells == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 64;
        t->cell = realloc(t->cell, (size_t)t->capacity * sizeof *t->cell);
        demand(t->cell != NULL, t, "no memory");
    }
    t->cell[t->cells] = strndup(text, length);
    demand(t->cell[t->cells++] != NULL, t, "no memory");
}

void table_start(table *t, const paper *of, const char *name, const char *title, const char *columns) {
    memset(t, 0, sizeof *t);
    t->of = of;
    t->name = name;
    printf("\n%s\n\n", title);
    for (;; columns++) {
        size_t length = strcspn(columns, "|");
        take(t, columns, length);
        t->columns++;
        columns += length;
        if (!*columns) break;
    }
}

void table_text(table *t, const char *format, ...) {
    char text[NAME];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    take(t, text, strlen(text));
}

void table_number(table *t, double value) {
    double size = fabs(value);
    if (isnan(value)) {
        table_text(t, "-");
    } else if (value == 0 || (size >= 1e-3 && size < 1e6)) {
        int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= .1 ? 3 : size >= .01 ? 4 : 5;
        table_text(t, "%.*f", value == 0 ? 0 : digits, value);
    } else {
        table_text(t, "%.2e", value);
    }
}

/* The first column is on the left, the others on the right. */
static void print(const table *t) {
    int k, c, width[64] = {0};
    demand(t->columns <= 64, t, "too many columns");
    for (k = 0; k < t->cells; k++) {
        int length = (int)strlen(t->cell[k]);
        if (width[k % t->columns] < length) width[k % t->columns] = length;
        if (width[k % t->columns] < 3) width[k % t->columns] = 3; /* the line below the titles has dashes */
    }
    for (k = 0; k < t->cells; k++) {
        c = k % t->columns;
        printf(c ? "| %*s " : "| %-*s ", width[c], t->cell[k]);
        if (c < t->columns - 1) continue;
        puts("|");
        if (k >= t->columns) continue;
        for (c = 0; c < t->columns; c++) {
            printf("| ");
            for (int dash = c > 0; dash < width[c]; dash++) putchar('-');
            printf(c ? ": " : " ");
        }
        puts("|");
    }
    fflush(stdout);
}

/* For gnuplot: words in quotes, the titles as a comment. */
static void save(const table *t) {
    char path[4096];
    FILE *file;
    int k;
    snprintf(path, sizeof path, "%s/%s.dat", t->of->dat, t->name);
    file = fopen(path, "w");
    demand(file != NULL, t, "cannot be written");
    for (k = 0; k < t->cells; k++) {
        char *end;
        int number = (strtod(t->cell[k], &end), t->cell[k][0] && !*end);
        if (k == 0) fprintf(file, "# ");
        fprintf(file, number || strcmp(t->cell[k], "-") == 0 ? "%s" : "\"%s\"", t->cell[k]);
        fputc((k + 1) % t->columns ? ' ' : '\n', file);
    }
    if (close_written(file, path)) exit(EXIT_FAILED);
}

void table_end(table *t) {
    demand(t->cells % t->columns == 0, t, "its last row is not complete");
    print(t);
    if (t->of->dat) save(t);
    while (t->cells > 0) free(t->cell[--t->cells]);
    free(t->cell);
}
