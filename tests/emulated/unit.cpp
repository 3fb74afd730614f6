/* SPDX-License-Identifier: MIT
 *
 * A translation unit of the CUDA backend as C++, for build systems that go by the ending of a name.
 */
#include GPUOPT_UNIT
