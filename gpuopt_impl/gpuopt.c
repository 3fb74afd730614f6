/* SPDX-License-Identifier: MIT */
#define GPUOPT_IMPLEMENTATION
#include "../gpuopt.h"
