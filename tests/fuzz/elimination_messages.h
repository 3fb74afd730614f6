/* SPDX-License-Identifier: MIT
 *
 * The messages of the elimination target: packed, damaged, and unpacked.
 */
#ifndef TESTS_FUZZ_ELIMINATION_MESSAGES_H
#define TESTS_FUZZ_ELIMINATION_MESSAGES_H

#include "tests/fuzz/elimination_input.h"

/* Checks all messages of the handle. */
void check_messages(fuzz *f);

#endif /* TESTS_FUZZ_ELIMINATION_MESSAGES_H */
