/* SPDX-License-Identifier: MIT
 *
 * The floating-point environment. Rounding mode, treatment of subnormal numbers and traps belong to a thread, and a
 * caller may have set them to anything. A public call runs in C's default environment and restores the caller's when it
 * returns (entry.h). The bodies of parallel loops do the same, because their threads belong to the caller's OpenMP
 * runtime.
 */
#ifndef GPUOPT_IMPL_ENVIRONMENT_H
#define GPUOPT_IMPL_ENVIRONMENT_H

#include <fenv.h>
#include <float.h>
#include <string.h>

#include "api.h"

#if defined(__SSE2__) && defined(__GNUC__)
/* One register controls all of it; reading it takes about as long as an addition. */
enum { GPUOPT__ENVIRONMENT_DEFAULT = 0x1F80, GPUOPT__ENVIRONMENT_MASK = 0xFFC0 /* all but the exception flags */ };
typedef unsigned gpuopt__environment;

static inline int gpuopt__environment_is_default(void) {
    return (__builtin_ia32_stmxcsr() & GPUOPT__ENVIRONMENT_MASK) == GPUOPT__ENVIRONMENT_DEFAULT;
}
static inline void gpuopt__environment_save(gpuopt__environment *caller) {
    *caller = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(GPUOPT__ENVIRONMENT_DEFAULT);
}
static inline void gpuopt__environment_restore(const gpuopt__environment *caller) { __builtin_ia32_ldmxcsr(*caller); }
#else
typedef fenv_t gpuopt__environment;

/* Tests the arithmetic itself, since no function of C reports whether subnormal numbers are flushed to zero. Does not
 * detect traps. */
static inline int gpuopt__environment_is_default(void) {
    volatile double one = 1, tiny = 0x1p-60, least = DBL_MIN, half = 0.5;
    return one + tiny == one && one - tiny == one && least * half > 0;
}
static inline void gpuopt__environment_save(gpuopt__environment *caller) {
    fegetenv(caller);
    fesetenv(FE_DFL_ENV);
}
static inline void gpuopt__environment_restore(const gpuopt__environment *caller) { fesetenv(caller); }
#endif

/* Keeps the compiler from moving memory accesses across a change of the environment. */
#if defined(__GNUC__)
#define GPUOPT__BARRIER() __asm__ volatile("" ::: "memory")
#else
#define GPUOPT__BARRIER() ((void)0)
#endif

typedef struct gpuopt__environment_scope {
    gpuopt__environment caller;
    int changed;
} gpuopt__environment_scope;

static inline void gpuopt__environment_enter(gpuopt__environment_scope *scope) {
    memset(&scope->caller, 0, sizeof scope->caller); /* gcc does not see that it is read only if it was saved */
    scope->changed = !gpuopt__environment_is_default();
    if (scope->changed) gpuopt__environment_save(&scope->caller);
    GPUOPT__BARRIER();
}
static inline void gpuopt__environment_leave(const gpuopt__environment_scope *scope) {
    GPUOPT__BARRIER();
    if (scope->changed) gpuopt__environment_restore(&scope->caller);
}

#endif /* GPUOPT_IMPL_ENVIRONMENT_H */
