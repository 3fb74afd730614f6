/* SPDX-License-Identifier: MIT
 *
 * How a public call begins and ends. One of the macros below is the body of each call on a context or a handle. It
 * refuses a NULL handle, and evaluates the expression `work` between gpuopt__enter and gpuopt__leave. The expression
 * usually calls one function of the family. It may use `call`, the name of the public call for the log.
 *
 * The work runs in C's default floating-point environment (environment.h). With GPUOPT_DEBUG, two misuses are detected
 * (debug.h). The last error needs nothing here, since gpuopt__log keeps it. Handles of a group agree before the work:
 * see each family's ranks/.
 */
#ifndef GPUOPT_IMPL_ENTRY_H
#define GPUOPT_IMPL_ENTRY_H

#include "debug.h"

/* A public call from its start to its return. */
typedef struct gpuopt__entry {
    gpuopt__environment_scope environment;
    gpuopt__debug_scope debug;
} gpuopt__entry;

/* Enters a call in a context; NULL: the call makes one. type, place: of the handle that the call makes, and where it
 * puts the handle; or NULL. After an error, gpuopt__leave must not follow. */
static inline gpuopt_status gpuopt__enter(gpuopt__entry *entry, gpuopt_context *context, const char *call,
                                          const char *type, void *place) {
    if (!GPUOPT__DEBUG_ENTERS(&entry->debug, context, call, type, place, 0)) return GPUOPT_ERROR_STATE;
    gpuopt__environment_enter(&entry->environment);
    if (!entry->environment.changed || gpuopt__environment_is_default()) return GPUOPT_OK;
    gpuopt__environment_leave(&entry->environment); /* it could not be set */
    GPUOPT__DEBUG_LEAVES(&entry->debug);
    return GPUOPT_ERROR_UNSUPPORTED;
}

static inline void gpuopt__leave(const gpuopt__entry *entry) {
    gpuopt__environment_leave(&entry->environment);
    GPUOPT__DEBUG_LEAVES(&entry->debug);
}

/* The parts of all calls: enters, and leaves with gpuopt_result. type, place: as for gpuopt__enter. */
#define GPUOPT__CALL_ENTERS(in, type, place)                                           \
    const char *const call = __func__;                                                 \
    gpuopt__entry gpuopt_entry;                                                        \
    gpuopt_status gpuopt_result = gpuopt__enter(&gpuopt_entry, in, call, type, place); \
    if (gpuopt_result) return gpuopt_result
#define GPUOPT__CALL_LEAVES()     \
    gpuopt__leave(&gpuopt_entry); \
    return gpuopt_result

/* A call on a handle that belongs to the context `in`. */
#define GPUOPT__CALL(handle, in, work)           \
    if (!(handle)) return GPUOPT_ERROR_ARGUMENT; \
    GPUOPT__CALL_ENTERS(in, NULL, NULL);         \
    gpuopt_result = work;                        \
    GPUOPT__CALL_LEAVES()

/* ---- Structs that a call fills ---- */

/* Gives the caller's struct those members that both versions have, if the call has succeeded; to NULL: none. */
static inline gpuopt_status gpuopt__give(gpuopt_status status, void *to, const void *filled, size_t size) {
    size_t to_size;
    if (status || !to) return status;
    memcpy(&to_size, to, sizeof to_size);
    gpuopt__copy_out(to, to_size, filled, size);
    return GPUOPT_OK;
}

/* A call that fills the caller's struct *to, which begins with its size. The work fills in `filled`, which is zero
 * before. */
#define GPUOPT__CALL_FILLS(handle, in, type, to, work)                                                 \
    type filled;                                                                                       \
    memset(&filled, 0, sizeof filled);                                                                 \
    GPUOPT__CALL(handle, in,                                                                           \
                 GPUOPT__HAS_SIZE(in, call, type, to) ? gpuopt__give(work, to, &filled, sizeof filled) \
                                                      : GPUOPT_ERROR_ARGUMENT)

/* The same where `to` may be NULL. Here `filled` is a pointer, and then NULL. */
#define GPUOPT__CALL_MAY_FILL(handle, in, type, to, work)                                                             \
    type gpuopt_filled;                                                                                               \
    memset(&gpuopt_filled, 0, sizeof gpuopt_filled);                                                                  \
    type *const filled = (to) ? &gpuopt_filled : NULL;                                                                \
    GPUOPT__CALL(handle, in,                                                                                          \
                 !(to) || GPUOPT__HAS_SIZE(in, call, type, to) ? gpuopt__give(work, to, filled, sizeof gpuopt_filled) \
                                                               : GPUOPT_ERROR_ARGUMENT)

/* ---- Life of handles ---- */

/* A call that puts a handle of a type, made from `base`, at *place. */
#define GPUOPT__CALL_MAKES(type, base, in, place, work) \
    if (place) *(place) = NULL;                         \
    if (!(base)) return GPUOPT_ERROR_ARGUMENT;          \
    GPUOPT__CALL_ENTERS(in, #type, place);              \
    gpuopt_result = work;                               \
    GPUOPT__CALL_LEAVES()

/* The same with a plan of its memory. With `plan`, the expression `planning` fills in `planned` first, which is zero
 * before. With `plan` and without `place`, the call ends there. */
#define GPUOPT__CALL_CREATES(type, base, in, plan, planning, place, work)            \
    gpuopt_memory_plan planned;                                                      \
    if (place) *(place) = NULL;                                                      \
    if (!(base)) return GPUOPT_ERROR_ARGUMENT;                                       \
    GPUOPT__CALL_ENTERS(in, #type, place);                                           \
    memset(&planned, 0, sizeof planned);                                             \
    if (plan)                                                                        \
        gpuopt_result = GPUOPT__HAS_SIZE(in, call, gpuopt_memory_plan, plan)         \
                            ? gpuopt__give(planning, plan, &planned, sizeof planned) \
                            : GPUOPT_ERROR_ARGUMENT;                                 \
    if (!gpuopt_result && ((place) || !(plan))) gpuopt_result = work;                \
    GPUOPT__CALL_LEAVES()

/* A call that destroys a handle. `work` has no value. */
#define GPUOPT__CALL_DESTROYS(type, handle, in, work)                                            \
    gpuopt__debug_scope gpuopt_scope;                                                            \
    if (!(handle) || !GPUOPT__DEBUG_ENTERS(&gpuopt_scope, in, __func__, #type, NULL, 1)) return; \
    work;                                                                                        \
    GPUOPT__DEBUG_LEAVES(&gpuopt_scope)

#endif /* GPUOPT_IMPL_ENTRY_H */
