/* SPDX-License-Identifier: MIT
 *
 * The implementation as MSVC's preprocessor with /openmp sees it, for a compiler with GNU's names. MSVC's macros are
 * defined, GNU's are not, and code that uses features missing in MSVC does not compile. The system headers come first,
 * in this machine's form. Also compiled as C++.
 */
#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef __GNUC__
#undef __GNUC_MINOR__
#undef __GNUC_PATCHLEVEL__
#undef __SIZEOF_INT128__
#undef __SSE2__
#undef __unix__
#undef __linux__
#undef __x86_64__
#undef _OPENMP
#define _MSC_VER 1939
#define _M_X64 100
#define _WIN32 1
#define _WIN64 1
#define _OPENMP 200203
#ifdef __cplusplus
#define _MSVC_LANG 201703L
#endif

#pragma GCC poison __atomic_load __atomic_load_n __atomic_store_n __atomic_exchange_n __atomic_fetch_add
#pragma GCC poison __atomic_compare_exchange __atomic_compare_exchange_n __sync_fetch_and_add
#pragma GCC poison __builtin_popcountll __builtin_ctzll __builtin_clzll __builtin_prefetch __builtin_expect
#pragma GCC poison __builtin_ia32_stmxcsr __builtin_ia32_ldmxcsr __attribute__ __asm__ __asm asm __extension__
#pragma GCC poison __int128 __typeof__ typeof __thread vector_size omp_get_thread_num omp_get_num_threads
#pragma GCC poison getpid omp_pause_resource_all

#define GPUOPT_IMPLEMENTATION
#include "answer.h"

static int warnings;
static void count_warning(void *user, int level, const char *message) {
    (void)user;
    warnings += level == 1 && strstr(message, "OpenMP") != NULL;
}

/* There is one thread, according to the log. */
int main(void) {
    gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc);
    gpuopt_context *context = NULL;
    desc.threads = 4;
    desc.log = count_warning;
    if (gpuopt_context_create(&desc, &context) != GPUOPT_OK) return 1;
    gpuopt_context_destroy(context);
    return warnings != 1 || answer_is_wrong();
}
