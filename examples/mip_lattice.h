/* SPDX-License-Identifier: MIT
 *
 * Whether equations have an integer solution at all, for any bounds: parity, and the same for other divisors.
 */
#ifndef EXAMPLES_MIP_LATTICE_H
#define EXAMPLES_MIP_LATTICE_H

#include "examples/io/mip.h"

__extension__ typedef __int128 wide;

/* Examines the rows with lhs == rhs and scale [rows] above 0 (see whole_rows). 1: no integers satisfy all of them; 0:
 * some do, or the test would take too much work or larger numbers; -1: out of memory. */
int lattice_refutes(const mip *model, const double *scale);

#endif /* EXAMPLES_MIP_LATTICE_H */
