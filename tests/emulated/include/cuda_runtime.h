/* SPDX-License-Identifier: MIT */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include "emulated/api.h"
#ifdef __cplusplus
#include "emulated/launch.h"
#endif

#endif /* EMULATED_CUDA_RUNTIME_H */
