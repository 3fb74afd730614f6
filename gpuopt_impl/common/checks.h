/* SPDX-License-Identifier: MIT
 *
 * Checks of the arguments of public calls, for all families. A check that fails logs the error with the call's name and
 * returns the status for the call to return.
 */
#ifndef GPUOPT_IMPL_CHECKS_H
#define GPUOPT_IMPL_CHECKS_H

#include <math.h>

#include "entry.h"

/* Logs why a call is refused. */
static inline gpuopt_status gpuopt__refuse(const gpuopt_context *context, gpuopt_status status, const char *call,
                                           const char *fault) {
    gpuopt__log(context, 0, "%s: %s", call, fault);
    return status;
}

/* ---- Structs ---- */

/* The least struct_size of a public struct: its size in the first version. The present size is the same, unless members
 * were appended to the core later; then a line here names the first of them. tests/frame/core_api.txt records the
 * sizes. */
static inline size_t gpuopt__first_size(const char *type, size_t size) {
    /* if (!strcmp(type, "gpuopt_TYPE")) return offsetof(gpuopt_TYPE, FIRST_LATER_MEMBER); */
    (void)type;
    return size;
}

/* Whether the caller's struct is not NULL, is at least as long as in the first version, and sets no member that this
 * version lacks. Otherwise logs the error in the context, which may be NULL. */
static inline int gpuopt__has_size(const gpuopt_context *context, const char *call, const char *name, const char *type,
                                   const void *given, size_t first, size_t size) {
    const unsigned char *byte = (const unsigned char *)given;
    size_t given_size, k;
    if (!given) {
        if (context) gpuopt__log(context, 0, "%s: %s is NULL", call, name);
        return 0;
    }
    memcpy(&given_size, given, sizeof given_size);
    if (given_size < first) {
        if (context)
            gpuopt__log(context, 0,
                        "%s: %s: struct_size is %llu, but its first version has %llu bytes; begin with GPUOPT_INIT(%s)",
                        call, type, (unsigned long long)given_size, (unsigned long long)first, type);
        return 0;
    }
    for (k = size; k < given_size; k++)
        if (byte[k]) {
            if (context)
                gpuopt__log(context, 0,
                            "%s: %s: struct_size is %llu; this version knows %llu bytes, and byte %llu is set", call,
                            type, (unsigned long long)given_size, (unsigned long long)size, (unsigned long long)k);
            return 0;
        }
    return 1;
}

/* The same for a pointer `given` to a struct of that type. */
#define GPUOPT__HAS_SIZE(context, call, type, given)                                 \
    gpuopt__has_size(context, call, #given, #type, 1 ? (given) : (const type *)NULL, \
                     gpuopt__first_size(#type, sizeof(type)), sizeof(type))

/* The same; then copies the struct to `own`, except for struct_size. `own` must be zero. */
#define GPUOPT__COPY_IN(context, call, type, own, given) \
    (GPUOPT__HAS_SIZE(context, call, type, given) &&     \
     (gpuopt__copy_out(own, sizeof(type), given, (given)->struct_size), 1))

/* The same for a descriptor; returns a status. family: the backend's table of functions; NULL in a build without that
 * family. */
#define GPUOPT__CHECK_STRUCT(context, call, family, type, desc, own)                                                  \
    (!(family)                                                                                                        \
         ? gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "this build of the backend leaves the family out") \
     : GPUOPT__COPY_IN(context, call, type, own, desc) ? GPUOPT_OK                                                    \
                                                       : GPUOPT_ERROR_ARGUMENT)

/* The same for a struct that a descriptor points to; NULL: the defaults, and own stays zero. */
#define GPUOPT__CHECK_PART(context, call, type, part, own) \
    (!(part) || GPUOPT__COPY_IN(context, call, type, own, part) ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT)

/* ---- Options ---- */

/* A number that is 0, for the default, or in [least, most]. */
typedef struct gpuopt__range {
    const char *name;
    double value, least, most;
} gpuopt__range;

static inline gpuopt_status gpuopt__check_ranges(const gpuopt_context *context, const char *call,
                                                 const gpuopt__range *range, size_t count) {
    size_t k;
    for (k = 0; k < count; k++)
        if (range[k].value != 0 && !(range[k].value >= range[k].least && range[k].value <= range[k].most)) {
            gpuopt__log(context, 0, "%s: %s = %g is neither 0 nor in [%g, %g]", call, range[k].name, range[k].value,
                        range[k].least, range[k].most);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

/* A constant of an enum with the values 0 .. last. */
typedef struct gpuopt__choice {
    const char *name;
    int64_t value, last;
} gpuopt__choice;

static inline gpuopt_status gpuopt__check_choices(const gpuopt_context *context, const char *call,
                                                  const gpuopt__choice *choice, size_t count) {
    size_t k;
    for (k = 0; k < count; k++)
        if (choice[k].value < 0 || choice[k].value > choice[k].last) {
            gpuopt__log(context, 0, "%s: %s = %lld is not a constant of its enum", call, choice[k].name,
                        (long long)choice[k].value);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

/* ---- Vectors ---- */

static inline gpuopt_status gpuopt__check_finite(const gpuopt_context *context, const char *call, const char *name,
                                                 int64_t count, const double *value) {
    int64_t k;
    for (k = 0; value && k < count; k++)
        if (!(fabs(value[k]) < HUGE_VAL)) {
            gpuopt__log(context, 0, "%s: %s[%lld] = %g is not finite", call, name, (long long)k, value[k]);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

static inline gpuopt_status gpuopt__check_indices(const gpuopt_context *context, const char *call, const char *name,
                                                  int64_t count, const int32_t *index, int32_t end) {
    int64_t k;
    for (k = 0; k < count; k++)
        if (index[k] < 0 || index[k] >= end) {
            gpuopt__log(context, 0, "%s: %s[%lld] = %d is not in 0..%d", call, name, (long long)k, (int)index[k],
                        (int)end - 1);
            return GPUOPT_ERROR_ARGUMENT;
        }
    return GPUOPT_OK;
}

/* Checks lower and upper bounds or sides: no NaN, low < infinity, high > -infinity; and low <= high unless they may
 * cross. NULL: no such bounds. */
static inline gpuopt_status gpuopt__check_pairs(const gpuopt_context *context, const char *call, const char *low_name,
                                                const char *high_name, int64_t count, const double *low,
                                                const double *high, double infinity, int may_cross) {
    int64_t k;
    for (k = 0; (low || high) && k < count; k++) {
        double l = low ? low[k] : -HUGE_VAL, h = high ? high[k] : HUGE_VAL;
        if (!(l < infinity))
            gpuopt__log(context, 0, "%s: %s[%lld] = %g is not below infinity", call, low_name, (long long)k, l);
        else if (!(h > -infinity))
            gpuopt__log(context, 0, "%s: %s[%lld] = %g is not above -infinity", call, high_name, (long long)k, h);
        else if (l > h && !may_cross)
            gpuopt__log(context, 0, "%s: %s[%lld] = %g exceeds %s[%lld] = %g", call, low_name, (long long)k, l,
                        high_name, (long long)k, h);
        else continue;
        return GPUOPT_ERROR_ARGUMENT;
    }
    return GPUOPT_OK;
}

/* ---- Host and device memory ---- */

static inline gpuopt_status gpuopt__check_where(const gpuopt_context *context, const char *call,
                                                gpuopt_memory_space where) {
    if (where == GPUOPT_HOST || (where == GPUOPT_DEVICE && context->desc.backend->copy)) return GPUOPT_OK;
    return where == GPUOPT_DEVICE
               ? gpuopt__refuse(context, GPUOPT_ERROR_UNSUPPORTED, call, "this backend has no device memory")
               : gpuopt__refuse(context, GPUOPT_ERROR_ARGUMENT, call, "where is neither HOST nor DEVICE");
}

/* *found: the array itself if it is in host memory, else `buffer`, to which it is copied. */
static inline gpuopt_status gpuopt__fetch(gpuopt_context *context, gpuopt_memory_space where, const void *array,
                                          uint64_t bytes, void *buffer, const void **found) {
    *found = where == GPUOPT_HOST ? array : buffer;
    if (where == GPUOPT_HOST || bytes == 0) return GPUOPT_OK;
    return context->desc.backend->copy(context, buffer, array, bytes);
}

/* Copies a result to the caller's array in `where`; wanted NULL: copies nothing. */
static inline gpuopt_status gpuopt__deliver(gpuopt_context *context, gpuopt_memory_space where, void *wanted,
                                            const void *result, uint64_t bytes) {
    if (!wanted || bytes == 0) return GPUOPT_OK;
    if (where == GPUOPT_DEVICE) return context->desc.backend->copy(context, wanted, result, bytes);
    memcpy(wanted, result, (size_t)bytes);
    return GPUOPT_OK;
}

#endif /* GPUOPT_IMPL_CHECKS_H */
