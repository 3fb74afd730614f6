/* SPDX-License-Identifier: MIT
 *
 * Lists in brackets, of words read with tokens.json. [ ] and { } are interchangeable.
 */
#ifndef EXAMPLES_IO_TOKENS_JSON_H
#define EXAMPLES_IO_TOKENS_JSON_H

#include "examples/io/tokens.h"

/* Whether the word taken last is one of these brackets. */
int tokens_is_bracket(const tokens *t, const char *which);
/* The same for the next word; whether it is that one. At the end of the file neither holds. */
int tokens_at_bracket(const tokens *t, const char *which);
int tokens_at_word(const tokens *t, const char *word);
/* How many words there are up to the next bracket. */
int64_t tokens_in_list(const tokens *t);

/* Take a bracket that opens or closes `what`, or a word if it is the next one. Return 0, or -1 and the error. */
int tokens_open_list(tokens *t, const char *what);
int tokens_close_list(tokens *t, const char *what);
int tokens_skip(tokens *t, const char *word);

#endif /* EXAMPLES_IO_TOKENS_JSON_H */
