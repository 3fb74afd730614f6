/* SPDX-License-Identifier: MIT
 *
 * Checks of answers by the target of linear programs: the verdicts and optima of an enumeration of all bases, and
 * proofs in exact rationals.
 */
#ifndef TESTS_FUZZ_SIMPLEX_ANSWERS_H
#define TESTS_FUZZ_SIMPLEX_ANSWERS_H

#include "tests/fuzz/simplex_input.h"

/* The integers, for the enumeration; or the model in the handle's form, with infinite bounds as in a mip. */
mip answers_model(fuzz *f, int scaled, double (*bounds)[BOTH]);
/* With integers the verdict equals the enumeration's. Powers of two as scales may shrink an infeasibility below the
 * tolerance; the header's promises hold anyway. */
void answers_verdict(fuzz *f);
/* Children of both handles, with one change each; the handles stay as they are. */
void answers_batch(fuzz *f);
/* The model twice as one of many small programs, the second time in the handles' form, a few iterations at a time. */
void answers_many(fuzz *f);

#endif /* TESTS_FUZZ_SIMPLEX_ANSWERS_H */
