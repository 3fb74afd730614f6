/* SPDX-License-Identifier: MIT
 *
 * The header alone, included twice, as by two headers of a caller. Also compiled as C++.
 */
#include "gpuopt.h"
#include "gpuopt.h"

int header_only(void);
int header_only(void) { return GPUOPT_VERSION_NUMBER; }
