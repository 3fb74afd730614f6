/* SPDX-License-Identifier: MIT
 *
 * Versions, names, descriptors, contexts.
 */
#ifndef GPUOPT_IMPL_CONTEXT_H
#define GPUOPT_IMPL_CONTEXT_H

#include <stdlib.h>

#include "checks.h"
#include "selftest.h"

#ifdef GPUOPT__OPENMP
#include <omp.h>
#endif

GPUOPT_API int gpuopt_version_number(void) { return GPUOPT_VERSION_NUMBER; }

GPUOPT_API const char *gpuopt_status_string(gpuopt_status status) {
    switch (status) {
    case GPUOPT_OK: return "ok";
    case GPUOPT_ERROR_ARGUMENT: return "argument out of range";
    case GPUOPT_ERROR_MEMORY: return "out of memory";
    case GPUOPT_ERROR_DEVICE: return "the device failed";
    case GPUOPT_ERROR_UNSUPPORTED: return "not supported here";
    case GPUOPT_ERROR_NUMERIC: return "numerical failure";
    case GPUOPT_ERROR_STATE: return "called out of order";
    case GPUOPT_ERROR_PEER: return "a rank of the group is lost";
    }
    return "unknown status";
}

GPUOPT_API const char *gpuopt_outcome_string(gpuopt_outcome outcome) {
    switch (outcome) {
    case GPUOPT_MORE: return "more";
    case GPUOPT_CONVERGED: return "converged";
    case GPUOPT_OPTIMAL: return "optimal";
    case GPUOPT_INFEASIBLE: return "infeasible";
    case GPUOPT_UNBOUNDED: return "unbounded";
    case GPUOPT_LIMIT: return "limit";
    case GPUOPT_FULL: return "full";
    case GPUOPT_IMPRECISE: return "imprecise";
    case GPUOPT_CUTOFF: return "cutoff";
    }
    return "unknown outcome";
}

GPUOPT_API const char *gpuopt_certainty_string(gpuopt_certainty certainty) {
    switch (certainty) {
    case GPUOPT_CERTAINTY_NONE: return "none";
    case GPUOPT_CERTAINTY_EXACT: return "exact";
    case GPUOPT_CERTAINTY_ROUNDING: return "rounding";
    case GPUOPT_CERTAINTY_TOLERANCE: return "tolerance";
    }
    return "unknown certainty";
}

GPUOPT_API void gpuopt_desc_init(void *desc, size_t struct_size) {
    if (!desc || struct_size < sizeof(size_t)) return;
    memset(desc, 0, struct_size);
    memcpy(desc, &struct_size, sizeof struct_size);
}

GPUOPT_API const char *gpuopt_backend_name(const gpuopt_backend *backend) { return backend ? backend->name : "none"; }

static void *gpuopt__default_allocate(void *user, gpuopt_memory_space where, size_t bytes) {
    (void)user;
    return where == GPUOPT_HOST ? malloc(bytes ? bytes : 1) : NULL;
}

static void gpuopt__default_release(void *user, gpuopt_memory_space where, void *memory) {
    (void)user;
    if (where == GPUOPT_HOST) free(memory);
}

static gpuopt_status gpuopt__context_create(const gpuopt_context_desc *desc, const char *call,
                                            gpuopt_context **context) {
    gpuopt_context draft, *result;
    const char *fault;
    void *memory;
    gpuopt_status status;
    *context = NULL;
    memset(&draft, 0, sizeof draft);
    draft.desc.struct_size = sizeof draft.desc;
    if (desc && !GPUOPT__HAS_SIZE(NULL, NULL, gpuopt_context_desc, desc)) return GPUOPT_ERROR_ARGUMENT;
    if (desc) gpuopt__copy_out(&draft.desc, sizeof draft.desc, desc, desc->struct_size);
    if (!draft.desc.backend) draft.desc.backend = gpuopt_backend_cpu();
    if (draft.desc.threads == 0) draft.desc.threads = 1;
    fault = draft.desc.threads < 0 || draft.desc.threads > 1024 ? "threads is not in 0..1024"
            : !draft.desc.allocate != !draft.desc.release       ? "allocate and release go together"
            : (int)draft.desc.tidy_matrices < GPUOPT_DEFAULT || (int)draft.desc.tidy_matrices > GPUOPT_OFF
                ? "tidy_matrices is not a constant of its enum"
                : NULL;
    if (fault) return gpuopt__refuse(&draft, GPUOPT_ERROR_ARGUMENT, call, fault);
    fault = gpuopt__selftest();
    if (fault) {
        gpuopt__log(&draft, 0, "%s: as gpuopt.c was compiled, %s", call, fault);
        return GPUOPT_ERROR_UNSUPPORTED;
    }
    draft.process = GPUOPT__PROCESS();
    draft.memory_user = draft.desc.user;
    if (!draft.desc.allocate) {
        draft.default_memory = 1;
        draft.desc.allocate = gpuopt__default_allocate;
        draft.desc.release = gpuopt__default_release;
    }
    status = gpuopt__allocate(&draft, GPUOPT_HOST, sizeof *result + GPUOPT__MESSAGE + GPUOPT__DEBUG_BYTES, &memory);
    if (status) return status;
    result = (gpuopt_context *)memory;
    *result = draft;
    result->last_error = (char *)(result + 1);
    memset(result->last_error, 0, GPUOPT__MESSAGE);
    GPUOPT__DEBUG_BEGIN(result, result->last_error + GPUOPT__MESSAGE);
    status = result->desc.backend->open(result);
    if (status) gpuopt__release(&draft, GPUOPT_HOST, result);
    else *context = result;
    return status;
}

GPUOPT_API gpuopt_status gpuopt_context_create(const gpuopt_context_desc *desc, gpuopt_context **context) {
    GPUOPT__CALL(context, NULL, gpuopt__context_create(desc, call, context));
}

/* GNU's OpenMP runtime keeps the threads of a parallel loop, and a process forked later waits for them without end in
 * its first loop. So destroying a context of several threads ends them. clang's runtime handles forks itself. */
static void gpuopt__end_threads(const gpuopt_context *context) {
#if defined(GPUOPT__OPENMP) && defined(__GNUC__) && __GNUC__ >= 9 && !defined(__clang__) && !defined(__NVCOMPILER) && \
    (defined(__unix__) || defined(__APPLE__))
    if (gpuopt__team(context, context->desc.threads) > 1) omp_pause_resource_all(omp_pause_soft);
#else
    (void)context;
#endif
}

GPUOPT_API void gpuopt_context_destroy(gpuopt_context *context) {
    if (!context || GPUOPT__DEBUG_KEEPS(context)) return;
    gpuopt__end_threads(context);
    context->desc.backend->close(context);
    gpuopt__release(context, GPUOPT_HOST, context);
}

GPUOPT_API gpuopt_status gpuopt_context_wait(gpuopt_context *context) {
    GPUOPT__CALL(context, context, context->desc.backend->wait(context));
}

GPUOPT_API const char *gpuopt_context_last_error(const gpuopt_context *context) {
    return context ? GPUOPT__DEBUG_LAST_ERROR(context) : "";
}

static gpuopt_status gpuopt__cpu_open(gpuopt_context *context) {
#ifndef GPUOPT__OPENMP
    if (context->desc.threads > 1) {
        gpuopt__log(context, 1, "compiled without OpenMP 3.1 of gcc or clang: 1 thread instead of %d",
                    (int)context->desc.threads);
        context->desc.threads = 1;
    }
#else
    (void)context;
#endif
    return GPUOPT_OK;
}

static void gpuopt__cpu_close(gpuopt_context *context) { (void)context; }

static gpuopt_status gpuopt__cpu_wait(gpuopt_context *context) {
    (void)context;
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_CONTEXT_H */
