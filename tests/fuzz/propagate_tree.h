/* SPDX-License-Identifier: MIT
 *
 * A tree search by the propagation target: a handle with a trail, and a twin without one. The twin makes the same
 * calls. After each pop it is created again and makes only the remaining calls (as in tests/propagate/tree_walk.h).
 */
#ifndef TESTS_FUZZ_PROPAGATE_TREE_H
#define TESTS_FUZZ_PROPAGATE_TREE_H

#include "tests/fuzz/propagate_input.h"

/* The rest of the input selects the work. `model`: the model in the input, with all of its arrays. */
void tree_search(fuzz *f, gpuopt_propagator_desc model);

#endif /* TESTS_FUZZ_PROPAGATE_TREE_H */
