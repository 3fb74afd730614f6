/* SPDX-License-Identifier: MIT
 *
 * The caller's one file that holds the implementation. Also compiled as C++.
 */
#define GPUOPT_IMPLEMENTATION
#include "gpuopt.h"
