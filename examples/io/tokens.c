/* SPDX-License-Identifier: MIT */
#include "examples/io/tokens.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/text.h"

/* ---- The file ---- */

int tokens_open(tokens *t, const char *path, char *error, size_t error_size) {
    memset(t, 0, sizeof *t);
    t->path = path;
    t->error = error;
    t->error_size = error_size;
    t->line = 1;
    t->text = text_read(path, &t->size, error, error_size);
    if (!t->text) return -1;
    if (t->size >= 3 && memcmp(t->text, "\xEF\xBB\xBF", 3) == 0) t->at = t->begin = 3; /* a byte order mark */
    t->line_start = (int64_t)t->begin;
    return 0;
}

void tokens_close(tokens *t) {
    free(t->text);
    t->text = NULL;
}

/* ---- Words ---- */

static int is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* To the next word or the end. */
static void skip_blanks(tokens *t) {
    for (; t->at < t->size; t->at++) {
        char c = t->text[t->at];
        if (c == '#' && t->comments) t->at += strcspn(t->text + t->at, "\n");
        else if (!is_blank(c)) return;
        if (t->at < t->size && t->text[t->at] == '\n') {
            t->line++;
            t->line_start = (int64_t)t->at + 1;
        }
    }
    t->at = t->size; /* a comment may have ended there */
}

/* Takes a word. Returns 1, or 0 at the end of the file, which is then the word's place. */
static int take(tokens *t) {
    size_t first;
    skip_blanks(t);
    first = t->at;
    while (t->at < t->size && !is_blank(t->text[t->at]) && !(t->comments && t->text[t->at] == '#')) t->at++;
    t->word = t->text + first;
    t->length = t->at - first < 1 << 30 ? (int)(t->at - first) : 1 << 30;
    t->word_line = t->line;
    t->word_column = (int64_t)first - t->line_start + 1;
    return t->length > 0;
}

int tokens_fail(tokens *t, const char *format, ...) {
    va_list arguments;
    size_t used;
    snprintf(t->error, t->error_size, "%s:%lld:%lld: ", t->path, (long long)t->word_line, (long long)t->word_column);
    used = strlen(t->error);
    if (t->part) snprintf(t->error + used, t->error_size - used, "%s %lld: ", t->part, (long long)t->index);
    used = strlen(t->error);
    va_start(arguments, format);
    vsnprintf(t->error + used, t->error_size - used, format, arguments);
    va_end(arguments);
    return -1;
}

int tokens_next(tokens *t, const char *what) {
    return take(t) ? 0 : tokens_fail(t, "truncated: the file ends where %s should be", what);
}

int tokens_peek(tokens *t, const char *what) {
    if (tokens_next(t, what)) return -1;
    t->at -= (size_t)t->length;
    return 0;
}

int tokens_is(const tokens *t, const char *word) {
    return strlen(word) == (size_t)t->length && memcmp(t->word, word, (size_t)t->length) == 0;
}

int tokens_numeric(const tokens *t) {
    const char *at = t->word;
    if (*at == '-' || *at == '+') at++;
    return (*at >= '0' && *at <= '9') || *at == '.';
}

/* The number of characters of the word that an error shows. */
static int shown(const tokens *t) { return t->length < 40 ? t->length : 40; }

int tokens_whole(tokens *t, const char *what, int64_t least, int64_t most, int64_t *value) {
    int64_t x = 0;
    int k, minus, too_long = 0;
    if (tokens_next(t, what)) return -1;
    minus = t->word[0] == '-';
    for (k = minus || t->word[0] == '+'; k < t->length && t->word[k] >= '0' && t->word[k] <= '9'; k++) {
        int digit = t->word[k] - '0';
        too_long |= x > (INT64_MAX - digit) / 10;
        if (!too_long) x = 10 * x + digit;
    }
    if (k < t->length || (k == 1 && (t->word[0] < '0' || t->word[0] > '9')))
        return tokens_fail(t, "%s '%.*s' is not a whole number", what, shown(t), t->word);
    if (minus && least >= 0 && (x || too_long)) return tokens_fail(t, "%s %.*s is negative", what, shown(t), t->word);
    if (too_long) return tokens_fail(t, "%s %.*s does not fit 63 bits", what, shown(t), t->word);
    if (minus) x = -x;
    if (x < least || x > most)
        return tokens_fail(t, "%s %lld is out of range, %lld to %lld", what, (long long)x, (long long)least,
                           (long long)most);
    *value = x;
    return 0;
}

int tokens_factor(tokens *t, const char *what, double *value) {
    char *end;
    int k, has_digit = 0, is_zero = 1;
    if (tokens_next(t, what)) return -1;
    for (k = 0; k < t->length && strchr("0123456789.+-eE", t->word[k]) && t->word[k]; k++) {
        has_digit |= t->word[k] >= '0' && t->word[k] <= '9';
    }
    *value = strtod(t->word, &end); /* which stops at the blank, or the 0, that follows */
    if (k < t->length || !has_digit || end != t->word + t->length)
        return tokens_fail(t, "%s '%.*s' is not a number", what, shown(t), t->word);
    if (*value < 0) return tokens_fail(t, "%s %.*s is negative", what, shown(t), t->word);
    for (k = 0; k < t->length && t->word[k] != 'e' && t->word[k] != 'E'; k++)
        is_zero &= !(t->word[k] >= '1' && t->word[k] <= '9');
    if (isinf(*value) || (*value == 0 && !is_zero))
        return tokens_fail(t, "%s %.*s does not fit a double", what, shown(t), t->word);
    return 0;
}

int tokens_end(tokens *t) {
    t->part = NULL;
    return take(t) ? tokens_fail(t, "'%.*s' is left over after the end", shown(t), t->word) : 0;
}

int64_t tokens_count(const tokens *t) {
    tokens all = *t;
    int64_t count = 0;
    all.at = all.begin;
    while (take(&all)) count++;
    return count;
}

size_t tokens_room(const tokens *t) { return (t->size - t->at) / 2 + 1; }
