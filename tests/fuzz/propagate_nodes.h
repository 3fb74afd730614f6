/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes and probing by the propagation target. Each node and each probe is compared with a separate handle,
 * which is made like the base, receives the node's bounds and propagates them.
 */
#ifndef TESTS_FUZZ_PROPAGATE_NODES_H
#define TESTS_FUZZ_PROPAGATE_NODES_H

#include "tests/fuzz/propagate_input.h"

/* The rest of the input selects the work. `model`: the model in the input, with all of its arrays; JACOBI. */
void many_nodes(fuzz *f, gpuopt_propagator_desc model);

#endif /* TESTS_FUZZ_PROPAGATE_NODES_H */
