/* SPDX-License-Identifier: MIT
 *
 * The header alone, and twice: a host's own headers may each include it. Also compiled as C++.
 */
#include "gpuopt.h"
#include "gpuopt.h"

int header_only(void);
int header_only(void) { return GPUOPT_VERSION_NUMBER; }
