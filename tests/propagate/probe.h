/* SPDX-License-Identifier: MIT
 *
 * Probing for tests: small models, the results of a pass, and their necessary properties.
 */
#ifndef TESTS_PROPAGATE_PROBE_H
#define TESTS_PROPAGATE_PROBE_H

#include "tests/propagate/batch.h"

enum { MOST = 10, POINTS = 4096, ROUNDS = 1000 };

/* Up to MOST integer columns, most of them binary, and rows of the kinds relevant for probing; all numbers are small
 * integers. */
mip draw_model(uint64_t *seed);
/* All solutions within these bounds, [count][cols]. Sums of small integers are exact. */
int32_t enumerate(const mip *m, const double *lb, const double *ub, double (*point)[MOST]);

/* Everything that a pass found. */
typedef struct found {
    gpuopt_propagator_probe_info info;
    gpuopt_propagator_probe_bounds bounds;
    gpuopt_propagator_probe_implications implications;
    gpuopt_propagator_probe_equivalences equivalences;
} found;

/* capacity: for implications, and for equivalences. */
gpuopt_propagator_probe *make_probe(gpuopt_propagator *base, int32_t nodes, int64_t changes, int64_t capacity);
/* Probes `count` columns (col NULL: all binaries) in a pass, and returns its results; free them with free_found. */
found run_probe(gpuopt_propagator_probe *probe, int32_t count, const int32_t *col);
/* Returns the results of the latest pass; free them with free_found. */
found read_all(gpuopt_propagator_probe *probe, const gpuopt_propagator_probe_info *info);
void free_found(found *f);

/* Two passes found the same, bit by bit. */
void check_same_found(const found *a, const found *b);
/* Every point within the base's bounds that satisfies the rows satisfies the results. */
void check_points(const found *f, int32_t count, double (*point)[MOST]);
/* The results follow from single propagators. lb, ub: the base's bounds, after `rounds` rounds. */
void check_alone(gpuopt_context *cpu, const gpuopt_propagator_desc *desc, int base_rounds, const found *f,
                 const double *lb, const double *ub);

#endif /* TESTS_PROPAGATE_PROBE_H */
