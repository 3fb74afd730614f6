/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>

#include "tests/check/check.h"

void end(int status, const char *format, ...) {
    static const char *const heads[] = {"PROVEN", "REFUSED", "BAD INPUT", "UNPROVEN"};
    va_list arguments;
    va_start(arguments, format);
    printf("%s: ", heads[status]);
    vprintf(format, arguments);
    putchar('\n');
    exit(fflush(stdout) ? BAD_INPUT : status);
}

void *allocate(int64_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) end(BAD_INPUT, "out of memory");
    return memory;
}

mpz_t *zeros(int count) {
    mpz_t *v = allocate(count, sizeof *v);
    while (count-- > 0) mpz_init(v[count]);
    return v;
}

words read_text(const char *path) {
    words w = {.path = path, .line = 1};
    size_t capacity = 0;
    FILE *file = fopen(path, "rb");
    if (file && getdelim(&w.at, &capacity, 0, file) < 0 && !ferror(file)) w.at = allocate(0, 1);
    if (!file || ferror(file)) end(BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    return w;
}

char *next(words *w) {
    for (; isspace((unsigned char)*w->at); w->at++) w->line += *w->at == '\n';
    if (!*w->at) return NULL;
    w->word = w->at;
    w->at += strcspn(w->at, " \t\r\n");
    w->line += *w->at == '\n';
    if (*w->at) *w->at++ = 0;
    return w->word;
}

char *need(words *w) {
    if (!next(w)) end(BAD_INPUT, "%s: the file ends too early", w->path);
    return w->word;
}

int is(const words *w, const char *word) { return strcmp(w->word, word) == 0; }

void unknown(const words *w) { end(BAD_INPUT, "%s: line %ld: unexpected: %s", w->path, w->line, w->word); }

int is_number(const char *word, double *value) {
    char *after;
    *value = strtod(word, &after);
    return *word && !*after && !isnan(*value);
}

double number(words *w) {
    double value;
    if (!is_number(need(w), &value) || isinf(value)) unknown(w);
    return value;
}

double *numbers(words *w, int count) {
    double *value = allocate(whole(w, count, count), sizeof *value);
    int k;
    for (k = 0; k < count; k++) value[k] = number(w);
    return value;
}

int64_t whole(words *w, int64_t least, int64_t most) {
    char *after;
    long long value;
    errno = 0;
    value = strtoll(need(w), &after, 10);
    if (errno || *after || value < least || value > most) unknown(w);
    return value;
}

int64_t *wholes(words *w, int64_t count, int64_t least, int64_t most) {
    int64_t *value = allocate(count, sizeof *value), k;
    for (k = 0; k < count; k++) value[k] = whole(w, least, most);
    return value;
}
