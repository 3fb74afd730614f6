/* SPDX-License-Identifier: MIT */
#include "examples/io/tokens.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/text.h"
#include "examples/io/utf8.h"

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

static int is_bracket(char c) { return c == '{' || c == '}' || c == '[' || c == ']'; }

/* Whether no word has this character in it, unless it is quoted. */
static int ends_word(const tokens *t, char c) {
    if (is_blank(c)) return 1;
    return t->json ? c == ',' || c == ':' || c == '"' || is_bracket(c) : t->comments && c == '#';
}

static int begins_comment(const tokens *t) {
    const char *at = t->text + t->at;
    return *at == '#' ? t->comments || t->json : t->json && at[0] == '/' && at[1] == '/';
}

/* To the next word or the end. */
static void skip_blanks(tokens *t) {
    for (; t->at < t->size; t->at++) {
        char c = t->text[t->at];
        if (begins_comment(t)) {
            const char *end = memchr(t->text + t->at, '\n', t->size - t->at);
            t->at = end ? (size_t)(end - t->text) : t->size;
        } else if (!is_blank(c) && !(t->json && (c == ',' || c == ':'))) return;
        if (t->at < t->size && t->text[t->at] == '\n') {
            t->line++;
            t->line_start = (int64_t)t->at + 1;
        }
    }
    t->at = t->size; /* a comment may have ended there */
}

/* Takes a word. Returns 1; 0 at the end of the file, which is then the word's place; -1: a quotation mark has no end on
 * its line. */
static int take(tokens *t) {
    size_t first;
    int found = 1;
    skip_blanks(t);
    first = t->at;
    t->word_line = t->line;
    t->word_column = (int64_t)first - t->line_start + 1;
    t->quoted = t->json && t->at < t->size && t->text[t->at] == '"';
    if (t->quoted) {
        for (first = ++t->at; t->at < t->size && !strchr("\"\n", t->text[t->at]);) t->at++;
        if (t->at == t->size || t->text[t->at] != '"') found = -1;
    } else if (t->at == t->size) {
        found = 0;
    } else if (t->json && is_bracket(t->text[t->at])) {
        t->at++;
    } else {
        while (t->at < t->size && !ends_word(t, t->text[t->at])) t->at++;
    }
    t->word = t->text + first;
    t->length = t->at - first < 1 << 30 ? (int)(t->at - first) : 1 << 30;
    if (t->quoted && found > 0) t->at++;
    return found;
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
    utf8_escape(t->error, t->error_size);
    return -1;
}

int tokens_next(tokens *t, const char *what) {
    int found = take(t);
    if (found < 0) return tokens_fail(t, "there is no second quotation mark on the line");
    return found ? 0 : tokens_fail(t, "truncated: the file ends where %s should be", what);
}

int tokens_peek(tokens *t, const char *what) {
    size_t at = t->at;
    int64_t line = t->line, line_start = t->line_start;
    if (tokens_next(t, what)) return -1;
    t->at = at;
    t->line = line;
    t->line_start = line_start;
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

int tokens_shown(const tokens *t) { return t->length < 40 ? t->length : 40; }

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
    if (k < t->length || k == 0 || (k == 1 && (t->word[0] < '0' || t->word[0] > '9')))
        return tokens_fail(t, "%s '%.*s' is not a whole number", what, tokens_shown(t), t->word);
    if (minus && least >= 0 && (x || too_long))
        return tokens_fail(t, "%s %.*s is negative", what, tokens_shown(t), t->word);
    if (too_long) return tokens_fail(t, "%s %.*s does not fit 63 bits", what, tokens_shown(t), t->word);
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
        return tokens_fail(t, "%s '%.*s' is not a number", what, tokens_shown(t), t->word);
    if (*value < 0) return tokens_fail(t, "%s %.*s is negative", what, tokens_shown(t), t->word);
    for (k = 0; k < t->length && t->word[k] != 'e' && t->word[k] != 'E'; k++)
        is_zero &= !(t->word[k] >= '1' && t->word[k] <= '9');
    if (isinf(*value) || (*value == 0 && !is_zero))
        return tokens_fail(t, "%s %.*s does not fit a double", what, tokens_shown(t), t->word);
    return 0;
}

static int does_not_fit(tokens *t, const char *what, int places) {
    return tokens_fail(t, "%s %.*s with %d decimal places does not fit 63 bits", what, tokens_shown(t), t->word,
                       places);
}

int tokens_decimal(tokens *t, const char *what, int places, int64_t *value) {
    return tokens_next(t, what) ? -1 : tokens_decimal_behind(t, what, 0, places, value);
}

int tokens_decimal_behind(tokens *t, const char *what, int first, int places, int64_t *value) {
    int64_t x = 0;
    int minus = first < t->length && t->word[first] == '-', k, digits = 0, behind = -1; /* -1: before the point */
    for (k = first + (minus || (first < t->length && t->word[first] == '+')); k < t->length; k++) {
        char c = t->word[k];
        if (c == '.' && behind < 0) {
            behind = 0;
            continue;
        }
        if (c < '0' || c > '9')
            return tokens_fail(t, "%s '%.*s' is not a decimal number", what, tokens_shown(t), t->word);
        digits++;
        if (behind >= 0 && behind++ >= places) continue;
        if (x > (INT64_MAX - (c - '0')) / 10) return does_not_fit(t, what, places);
        x = 10 * x + (c - '0');
    }
    if (digits == 0) return tokens_fail(t, "%s '%.*s' is not a decimal number", what, tokens_shown(t), t->word);
    for (behind = behind < 0 ? 0 : behind; behind < places; behind++) {
        if (x > INT64_MAX / 10) return does_not_fit(t, what, places);
        x *= 10;
    }
    *value = minus ? -x : x;
    return 0;
}

int tokens_end(tokens *t) {
    int found;
    t->part = NULL;
    found = take(t);
    return found ? tokens_fail(t, "'%.*s' is left over after the end", tokens_shown(t), t->word) : 0;
}

int64_t tokens_count(const tokens *t) {
    tokens all = *t;
    int64_t count = 0;
    all.at = all.begin;
    while (take(&all) > 0) count++;
    return count;
}

size_t tokens_capacity(const tokens *t) { return (t->size - t->at) / (t->json ? 1 : 2) + 1; }
