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

void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory) end(BAD_INPUT, "out of memory");
    return memory;
}

mpz_t *zeros(int count) {
    mpz_t *v = allocate((size_t)count, sizeof *v);
    while (count-- > 0) mpz_init(v[count]);
    return v;
}

char *read_text(const char *path) {
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "rb");
    if (file && getdelim(&text, &room, 0, file) < 0 && !ferror(file)) text = allocate(1, 1);
    if (!file || ferror(file)) end(BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    return text;
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

int64_t whole(words *w, int64_t least, int64_t most) {
    char *after;
    long long value;
    errno = 0;
    value = strtoll(need(w), &after, 10);
    if (errno || *after || value < least || value > most) unknown(w);
    return value;
}

int is_number(const char *word, double *value) {
    char *after;
    *value = strtod(word, &after);
    if (fabs(*value) >= 1e20) *value = copysign(INFINITY, *value);
    return *word && !*after && !isnan(*value);
}

char *read_records(words *w, record *table) {
    record *r;
    int k;
    while (next(w)) {
        for (r = table; r->name && !is(w, r->name); r++) continue;
        if (!r->name) return w->word;
        if (r->kind == 'w') r->word = need(w);
        r->count = strchr("wid", r->kind) ? 1 : (int)whole(w, r->kind == 'I' ? 0 : r->size, r->size);
        r->whole = allocate((size_t)r->count, sizeof *r->whole);
        r->real = allocate((size_t)r->count, sizeof *r->real);
        for (k = 0; k < r->count && r->kind != 'w'; k++)
            if (r->kind == 'L') r->whole[k] = *need(w);
            else if (r->kind == 'i' || r->kind == 'I') r->whole[k] = whole(w, 0, r->limit - 1);
            else if (!is_number(need(w), &r->real[k]) || isinf(r->real[k])) unknown(w);
    }
    return NULL;
}
