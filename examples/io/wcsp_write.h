/* SPDX-License-Identifier: MIT
 *
 * Writes a model as a .wcsp file, for toulbar2 and other programs that read this format.
 */
#ifndef EXAMPLES_IO_WCSP_WRITE_H
#define EXAMPLES_IO_WCSP_WRITE_H

#include "gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes an INT64 model of a MIN_SUM descriptor. The format has no negative costs: a function with some is raised by
 * its least cost. *offset receives the sum of these least costs: the cost of an assignment in the model, less its cost
 * in the file. The upper bound in the file is top less the offset; without a top it is more than any permitted sum.
 * Returns 0; or -1, and has printed why on stderr. */
int wcsp_write(const char *path, const gpuopt_elimination_desc *desc, int64_t *offset);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_IO_WCSP_WRITE_H */
