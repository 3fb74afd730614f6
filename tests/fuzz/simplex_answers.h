/* SPDX-License-Identifier: MIT
 *
 * What the target of linear programs asks of answers: the verdicts and optima of an enumeration of all bases, and proofs
 * in exact rationals.
 */
#ifndef TESTS_FUZZ_SIMPLEX_ANSWERS_H
#define TESTS_FUZZ_SIMPLEX_ANSWERS_H

#include "tests/fuzz/simplex_input.h"

/* The whole numbers, for the enumeration; or the model as the handle has it, with infinite bounds as in a mip. */
mip answers_model(fuzz *f, int scaled, double (*bounds)[BOTH]);
/* Of whole numbers the verdict is the enumeration's. Powers of two as scales may turn an infeasibility into less than
 * the tolerance; what the header promises holds anyway. */
void answers_verdict(fuzz *f);
/* Children of both handles, with one change each; the handles stay as they are. */
void answers_batch(fuzz *f);
/* The model twice as one of many small programs, the second time as the handles have it, a few iterations at a time. */
void answers_many(fuzz *f);

#endif /* TESTS_FUZZ_SIMPLEX_ANSWERS_H */
