/* SPDX-License-Identifier: MIT
 *
 * Reference answers: all assignments of a model, one after the other. Also the effect of elimination on the model's
 * scopes, computed on sets.
 */
#ifndef TESTS_ELIMINATION_BRUTE_H
#define TESTS_ELIMINATION_BRUTE_H

#include "tests/elimination/model.h"

typedef struct brute {
    int feasible;
    long double best;               /* the optimum, or ln Z */
    uint64_t count;                 /* MIN_COUNT: assignments that attain it, by the functions' counts */
    int32_t value[MODEL_VARIABLES]; /* the first optimal assignment where the last of `order` varies slowest */
} brute;

/* Tries all assignments of order [count]; the other variables have fixed values. used [functions]: adds up only these
 * functions, and does not apply `top` to the sum; NULL: adds up all. */
brute brute_force(const model *m, const int32_t *order, int32_t count, const int32_t *fixed, const uint8_t *used);

/* The variables eliminated so far, and their functions, when the message of a variable is computed. */
typedef struct subtree {
    uint8_t *function;                  /* [functions] that are in it */
    uint8_t below[MODEL_VARIABLES];     /* not 0: eliminated */
    uint8_t separator[MODEL_VARIABLES]; /* not 0: in the message's scope */
    int32_t inputs;                     /* functions and messages in the bucket */
    int32_t height;                     /* buckets on the longest way down, this one included */
} subtree;

/* The subtrees of all variables of order [count]. conditioned [variables]: not 0: evidence, in no scope. Free them with
 * subtrees_free. */
subtree *subtrees_make(const model *m, const int32_t *order, int32_t count, const uint8_t *conditioned);
void subtrees_free(subtree *trees, int32_t count);

/* Bits of a cost by the rule of the header: functions start at 0, and the sum of the largest entries or top is the
 * limit. It is the narrowest of 8, 16 and 32 that has a value for every sum below forbidden and for forbidden itself.
 * In 32 bits `inputs` forbidden costs must also add up. Else 64. */
int32_t brute_bits(const model *m, int32_t inputs);

/* The sum of the least allowed entries of these functions (MAX_SUM: of the largest, negated); used NULL: of all. */
long double brute_offset(const model *m, const uint8_t *used);

#endif /* TESTS_ELIMINATION_BRUTE_H */
