/* SPDX-License-Identifier: MIT
 *
 * Batches of nodes and probing by the propagation target: each node and each probe beside a handle of its own, which is
 * made like the base, is given the node's bounds and propagates them.
 */
#ifndef TESTS_FUZZ_PROPAGATE_NODES_H
#define TESTS_FUZZ_PROPAGATE_NODES_H

#include "tests/fuzz/propagate_input.h"

/* What of the input is left says what is done. `model`: the input's, with all of its arrays; JACOBI. */
void many_nodes(fuzz *f, gpuopt_propagator_desc model);

#endif /* TESTS_FUZZ_PROPAGATE_NODES_H */
