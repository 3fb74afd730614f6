/* SPDX-License-Identifier: MIT */
#include "examples/io/tokens_json.h"

#include <string.h>

/* Reads one word ahead, without an error at the end of the file. Returns whether there is one. */
static int look(tokens *t) {
    char ignored[1];
    int failed;
    t->error = ignored;
    t->error_size = sizeof ignored;
    failed = tokens_next(t, "");
    t->error = NULL;
    return !failed;
}

int tokens_is_bracket(const tokens *t, const char *which) {
    return !t->quoted && t->length == 1 && t->word[0] && strchr(which, t->word[0]) != NULL;
}

int tokens_at_bracket(const tokens *t, const char *which) {
    tokens next = *t;
    return look(&next) && tokens_is_bracket(&next, which);
}

int tokens_at_word(const tokens *t, const char *word) {
    tokens next = *t;
    return look(&next) && tokens_is(&next, word);
}

int64_t tokens_in_list(const tokens *t) {
    tokens next = *t;
    int64_t count = 0;
    while (look(&next) && !tokens_is_bracket(&next, "[]{}")) count++;
    return count;
}

int tokens_open_list(tokens *t, const char *what) {
    if (tokens_next(t, what)) return -1;
    if (tokens_is_bracket(t, "[{")) return 0;
    return tokens_fail(t, "'%.*s' where %s should begin with a bracket", tokens_shown(t), t->word, what);
}

int tokens_close_list(tokens *t, const char *what) {
    if (tokens_next(t, "the closing bracket")) return -1;
    if (tokens_is_bracket(t, "]}")) return 0;
    return tokens_fail(t, "'%.*s' where %s should end with a bracket", tokens_shown(t), t->word, what);
}

int tokens_skip(tokens *t, const char *word) { return tokens_at_word(t, word) ? tokens_next(t, word) : 0; }
