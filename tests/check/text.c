/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (!memory) bad_input("out of memory");
    return memory;
}

mpz_t *zeros(int count) {
    mpz_t *v = allocate((size_t)count, sizeof *v);
    while (count-- > 0) mpz_init(v[count]);
    return v;
}

char *read_text(const char *path) {
    size_t size = 0, room = 1 << 16, got;
    char *text = allocate(room, 1);
    FILE *file = fopen(path, "rb");
    if (!file) bad_input("%s: cannot be opened: %s", path, strerror(errno));
    while ((got = fread(text + size, 1, room - size - 1, file)) > 0) {
        size += got;
        if (size + 1 == room && !(text = realloc(text, room *= 2))) bad_input("out of memory");
    }
    if (ferror(file)) bad_input("%s: cannot be read", path);
    fclose(file);
    text[size] = 0;
    return text;
}

char *next(words *w) {
    for (; isspace((unsigned char)*w->at); w->at++) w->line += *w->at == '\n';
    if (!*w->at) return NULL;
    w->word = w->at;
    while (*w->at && !isspace((unsigned char)*w->at)) w->at++;
    w->line += *w->at == '\n';
    if (*w->at) *w->at++ = 0;
    return w->word;
}

char *need(words *w) {
    if (!next(w)) bad_input("%s: the file ends too early", w->path);
    return w->word;
}

int is(const words *w, const char *word) { return strcmp(w->word, word) == 0; }

void unknown(const words *w) { bad_input("%s: line %ld: unexpected: %s", w->path, w->line, w->word); }

int64_t whole(words *w, int64_t least, int64_t most) {
    char *end;
    long long value;
    errno = 0;
    value = strtoll(need(w), &end, 10);
    if (errno || *end || value < least || value > most) unknown(w);
    return value;
}

int is_number(const char *word) {
    char *end;
    double d = strtod(word, &end);
    return *word && !*end && !isnan(d);
}

int number(const char *word, int decimal, mpq_t value) {
    const double d = strtod(word, NULL);
    char *digits = allocate(strlen(word) + 1, 1), *to = digits;
    long exponent = 0, after = 0;
    mpq_set_ui(value, 0, 1);
    if (!is_number(word)) bad_input("'%s' is not a number", word);
    if (fabs(d) >= 1e20) return d > 0 ? 1 : -1;
    if (!decimal || d == 0 || strpbrk(word, "xX")) return mpq_set_d(value, d), 0;
    for (; *word && *word != 'e' && *word != 'E'; word++) {
        if (isdigit((unsigned char)*word) || *word == '-') *to++ = *word;
        exponent -= after && isdigit((unsigned char)*word);
        after |= *word == '.';
    }
    if (*word) exponent += strtol(word + 1, NULL, 10);
    mpz_ui_pow_ui(mpq_denref(value), 10, (unsigned long)labs(exponent));
    mpz_set_str(mpq_numref(value), digits, 10);
    if (exponent > 0) {
        mpz_mul(mpq_numref(value), mpq_numref(value), mpq_denref(value));
        mpz_set_ui(mpq_denref(value), 1);
    }
    mpq_canonicalize(value);
    return 0;
}
