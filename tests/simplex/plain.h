/* SPDX-License-Identifier: MIT
 *
 * Plain linear programs for tests: transports, networks, Markov chains and blends with decimal data that balance as
 * decimals. Read as doubles, their sums differ by some 1e-17, so that the doubles often have no feasible point at all.
 * Every solver that works with tolerances calls all of them optimal.
 */
#ifndef TESTS_SIMPLEX_PLAIN_H
#define TESTS_SIMPLEX_PLAIN_H

#include "tests/simplex/children.h"

enum { PLAIN_KINDS = 8 };
const char *plain_name(int kind);
/* The programs of a kind have the same rows and columns; except for networks also the same pattern. */
mip plain_model(int kind, uint64_t seed);

/* `count` equally plain children, in turn with changes of the chosen kinds (CHILDREN_BOUNDS, ...): a bound next to x
 * [cols], sides that still balance, costs. Blends have no changed sides. */
children *plain_children(int kind, const mip *m, const double *x, uint64_t seed, int32_t count, int changes);

#endif /* TESTS_SIMPLEX_PLAIN_H */
