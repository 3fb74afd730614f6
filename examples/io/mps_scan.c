/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "examples/io/mps_scan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "examples/io/text.h"
#include "examples/io/utf8.h"

/* ---- The whole text ---- */

static int fail_to_read(mps_text *t, const char *what) {
    snprintf(t->error, t->error_size, "%s: %s", t->path, what);
    utf8_escape(t->error, t->error_size);
    mps_close(t);
    return -1;
}

/* The type of a file that is no MPS file, or NULL. */
static const char *something_else(const mps_text *t) {
    static const struct {
        const char *magic;
        size_t length;
        const char *what;
    } known[] = {
        {"BZh", 3, "this is compressed by bzip2: unpack it first, for example bzip2 -dc FILE | PROGRAM -"},
        {"\x28\xB5\x2F\xFD", 4, "this is compressed by zstd: unpack it first, for example zstd -dc FILE | PROGRAM -"},
        {"PK\x03\x04", 4, "this is a zip archive: unpack it first"},
        {"\xFF\xFE", 2, "this is UTF-16: it must be UTF-8 or ASCII"},
        {"\xFE\xFF", 2, "this is UTF-16: it must be UTF-8 or ASCII"},
        {"<?xml", 5, "this is XML, not an MPS file"}};
    static const char *const goals[] = {"min",      "max",      "minimize", "maximize",
                                        "minimise", "maximise", "minimum",  "maximum"};
    const char *at = t->text + t->at, *end = t->text + t->size;
    size_t k, length;
    for (k = 0; k < sizeof known / sizeof *known; k++)
        if (t->size >= known[k].length && memcmp(t->text, known[k].magic, known[k].length) == 0) return known[k].what;
    while (at < end && strchr(" \t\r\n", *at)) at++;
    for (length = 0; at + length < end && !strchr(" \t\r\n:", at[length]);) length++;
    if (length > 0 && *at == '\\') return "this is in LP format, not an MPS file"; /* a comment there */
    for (k = 0; k < sizeof goals / sizeof *goals; k++)
        if (strlen(goals[k]) == length && strncasecmp(at, goals[k], length) == 0)
            return "this is in LP format, not an MPS file";
    return NULL;
}

int mps_open(mps_text *t, const char *path, char *error, size_t error_size) {
    const char *what;
    size_t longest = 0, length, at;
    memset(t, 0, sizeof *t);
    t->path = path;
    t->error = error;
    t->error_size = error_size;
    t->text = text_read(path, &t->size, error, error_size);
    if (!t->text) return -1;
    mps_rewind(t);
    if ((what = something_else(t)) != NULL) return fail_to_read(t, what);
    for (at = 0; at < t->size; at += length + 1) {
        const char *end = memchr(t->text + at, '\n', t->size - at);
        length = end ? (size_t)(end - t->text) - at : t->size - at;
        if (length > longest) longest = length;
    }
    t->line = malloc(longest + 1);
    t->copy = malloc(longest + 1);
    t->fields = malloc(longest + MPS_WORDS + 1); /* each ended by 0 */
    return t->line && t->copy && t->fields ? 0 : fail_to_read(t, "out of memory");
}

void mps_close(mps_text *t) {
    free(t->text);
    free(t->line);
    free(t->copy);
    free(t->fields);
    t->text = t->line = t->copy = t->fields = NULL;
}

void mps_rewind(mps_text *t) {
    t->at = t->size >= 3 && memcmp(t->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* a byte order mark */
    t->number = 0;
}

/* ---- Lines ---- */

int mps_fail(mps_text *t, const char *what, const char *word) {
    if (word) snprintf(t->error, t->error_size, "%s:%ld: %s: <%.200s>", t->path, t->number, what, word);
    else snprintf(t->error, t->error_size, "%s:%ld: %s", t->path, t->number, what);
    utf8_escape(t->error, t->error_size);
    return -1;
}

static int is_gap(char c) { return c == ' ' || c == '\t'; }

int mps_next(mps_text *t) {
    const char *end;
    size_t k;
    if (t->at >= t->size) return 0;
    end = memchr(t->text + t->at, '\n', t->size - t->at);
    t->length = end ? (size_t)(end - t->text) - t->at : t->size - t->at;
    memcpy(t->line, t->text + t->at, t->length);
    t->at += t->length + 1;
    t->number++;
    if (t->length > 0 && t->line[t->length - 1] == '\r') t->length--;
    t->line[t->length] = 0;
    for (k = 0; k < t->length; k++)
        if ((unsigned char)t->line[k] < ' ' && t->line[k] != '\t')
            return mps_fail(t, "the line has a control character in it", NULL);
    return 1;
}

int mps_is_blank(const mps_text *t) {
    return t->line[0] == '*' || t->line[0] == '#' || strspn(t->line, " \t") == t->length;
}

int mps_is_card(const mps_text *t) { return !is_gap(t->line[0]); }

int mps_words(mps_text *t, char *word[MPS_WORDS]) {
    char *at = t->copy;
    int words = 0;
    memcpy(t->copy, t->line, t->length + 1);
    for (;;) {
        while (is_gap(*at)) at++;
        if (!*at) return words;
        if (words == MPS_WORDS) return MPS_WORDS + 1;
        word[words++] = at;
        while (*at && !is_gap(*at)) at++;
        if (*at) *at++ = 0;
    }
}

int mps_fields(mps_text *t, char *field[MPS_WORDS]) {
    static const size_t first[] = {1, 4, 14, 24, 39, 49}, last[] = {2, 11, 21, 35, 46, 60};
    char *to = t->fields;
    size_t k = 0, end;
    int f;
    for (f = 0; f < MPS_WORDS; f++) {
        field[f] = NULL;
        for (; k < first[f] && k < t->length; k++)
            if (!is_gap(t->line[k])) return 0; /* between the fields */
        end = t->length < last[f] + 1 ? t->length : last[f] + 1;
        while (end > k && is_gap(t->line[end - 1])) end--;
        while (k < end && is_gap(t->line[k])) k++;
        if (k < end) field[f] = to;
        for (; k < end; k++) *to++ = is_gap(t->line[k]) ? ' ' : t->line[k];
        if (field[f]) *to++ = 0;
        k = last[f] + 1;
    }
    /* Text behind the last field is a comment, unless it is the rest of a number. */
    return t->length <= k || is_gap(t->line[k]) || is_gap(t->line[k - 1]);
}
