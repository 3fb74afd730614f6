/* SPDX-License-Identifier: MIT
 *
 * A tree search by the propagation target: a handle with a trail, and a twin without one that does the same calls and
 * is made again after each pop, to do only what is left (as in tests/propagate/tree_walk.h).
 */
#ifndef TESTS_FUZZ_PROPAGATE_TREE_H
#define TESTS_FUZZ_PROPAGATE_TREE_H

#include "tests/fuzz/propagate_input.h"

/* What of the input is left says what is done. `model`: the input's, with all of its arrays. */
void tree_search(fuzz *f, gpuopt_propagator_desc model);

#endif /* TESTS_FUZZ_PROPAGATE_TREE_H */
