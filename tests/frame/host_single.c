/* SPDX-License-Identifier: MIT
 *
 * A caller of a single file, compiled with -DGPUOPT_API=static: nothing of the library is visible outside of it.
 */
#define GPUOPT_IMPLEMENTATION
#include "answer.h"

int main(void) { return answer_is_wrong(); }
