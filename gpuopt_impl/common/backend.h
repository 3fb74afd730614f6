/* SPDX-License-Identifier: MIT
 *
 * What a backend implements, one table of functions per family, and the host's services as every backend uses them.
 * Private; the layout may change in any release.
 */
#ifndef GPUOPT_IMPL_BACKEND_H
#define GPUOPT_IMPL_BACKEND_H

#include <stdarg.h>
#include <stdio.h> /* vsnprintf: text for the log hook; nothing here does I/O */
#include <string.h>

#include "../../gpuopt.h"
#include "../propagate/row.h"

struct gpuopt_context {
    gpuopt_context_desc desc; /* with the defaults filled in */
    int default_memory;       /* the host gave no hooks: open() of a device backend adds device memory to the default */
    void *state;              /* the backend's own */
};

/* A model as the host gave it: checked, defaults filled in. The arrays are the host's. */
typedef struct gpuopt__propagator_model {
    gpuopt_propagator_desc desc;
    gpuopt__rules rules;
    int64_t nonzeros;
    int val_single; /* every coefficient is a single-precision number */
} gpuopt__propagator_model;

/* The head of every backend's propagator. */
struct gpuopt_propagator {
    gpuopt_context *context;
    gpuopt__rules rules;
    int32_t rows, cols;
    int64_t nonzeros;
    int32_t round_limit;
    gpuopt_precision precision;
    int called; /* _round has been */
};

typedef struct gpuopt__propagator_backend {
    gpuopt_status (*plan)(gpuopt_context *, const gpuopt__propagator_model *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt__propagator_model *, gpuopt_propagator **);
    void (*destroy)(gpuopt_propagator *);
    gpuopt_status (*round)(gpuopt_propagator *, int32_t rounds, gpuopt_propagation *info); /* info may be NULL */
    gpuopt_status (*get_info)(gpuopt_propagator *, gpuopt_propagation *);
    /* col == NULL: all columns. Host arrays come checked, device arrays do not. */
    gpuopt_status (*get_bounds)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *col, double *lb,
                                double *ub);
    gpuopt_status (*set_bounds)(gpuopt_propagator *, gpuopt_memory, int64_t count, const int32_t *col, const double *lb,
                                const double *ub);
    gpuopt_status (*set_sides)(gpuopt_propagator *, int64_t count, const int32_t *row, const double *lhs,
                               const double *rhs);
    gpuopt_status (*get_rows)(gpuopt_propagator *, gpuopt_memory, const gpuopt_row_report *);
    gpuopt_status (*device_view)(gpuopt_propagator *, gpuopt_bounds_view *);
} gpuopt__propagator_backend;

/* The head of every backend's basis; basis/load.h has the plan. */
struct gpuopt_basis {
    gpuopt_context *context;
    gpuopt_basis_technique technique;
    int32_t m;
    int32_t most; /* K; of DEFERRED, and of every technique's load */
    double pivot_tolerance;
    int has_pivot_column; /* there was an FTRAN since the last load or update */
    int32_t *mark;        /* [m]: scratch of the checks */
    double *work;         /* [m] */
};

/* Host arrays come checked, device arrays do not. columns NULL: the identity. */
typedef struct gpuopt__basis_backend {
    gpuopt_status (*plan)(gpuopt_context *, const gpuopt_basis_desc *, gpuopt_memory_plan *);
    gpuopt_status (*create)(gpuopt_context *, const gpuopt_basis_desc *, gpuopt_basis **);
    void (*destroy)(gpuopt_basis *);
    gpuopt_status (*load)(gpuopt_basis *, const gpuopt_csc *columns);
    gpuopt_status (*ftran)(gpuopt_basis *, gpuopt_memory, const double *rhs, double *x);
    gpuopt_status (*btran)(gpuopt_basis *, gpuopt_memory, const double *c, double *y);
    gpuopt_status (*ftran_sparse)(gpuopt_basis *, int32_t count, const int32_t *row, const double *val, gpuopt_memory,
                                  double *x);
    gpuopt_status (*btran_unit)(gpuopt_basis *, int32_t position, gpuopt_memory, double *y);
    gpuopt_status (*update)(gpuopt_basis *, int32_t position, gpuopt_memory, const double *alpha,
                            gpuopt_basis_info *); /* info may be NULL */
    gpuopt_status (*get_info)(gpuopt_basis *, gpuopt_basis_info *);
    /* rhs: B e, in the head's work. */
    gpuopt_status (*get_drift)(gpuopt_basis *, const gpuopt_csc *columns, const double *rhs, int exact,
                               gpuopt_basis_drift *);
    gpuopt_status (*get_inverse)(gpuopt_basis *, gpuopt_memory, double *inverse);
} gpuopt__basis_backend;

struct gpuopt_backend {
    const char *name;
    gpuopt_status (*open)(gpuopt_context *);
    void (*close)(gpuopt_context *);
    gpuopt_status (*wait)(gpuopt_context *);
    const gpuopt__propagator_backend *propagator;
    const gpuopt__basis_backend *basis;
    const struct gpuopt__simplex_backend *simplex;         /* simplex/engine.h */
    const struct gpuopt__elimination_backend *elimination; /* elimination/plan.h */
    const struct gpuopt__knapsack_backend *knapsack;       /* knapsack/backend.h; NULL: there is none */
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static inline void
gpuopt__log(const gpuopt_context *context, int level, const char *format, ...) {
    char message[256];
    va_list arguments;
    if (!context->desc.log) return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    context->desc.log(context->desc.user, level, message);
}

static inline gpuopt_status gpuopt__allocate(const gpuopt_context *context, gpuopt_memory where, uint64_t bytes,
                                             void **memory) {
    *memory = bytes <= SIZE_MAX ? context->desc.allocate(context->desc.user, where, (size_t)bytes) : NULL;
    if (*memory) return GPUOPT_OK;
    gpuopt__log(context, 0, "no %s memory for %llu bytes", where == GPUOPT_DEVICE ? "device" : "host",
                (unsigned long long)bytes);
    return GPUOPT_ERROR_MEMORY;
}

static inline void gpuopt__release(const gpuopt_context *context, gpuopt_memory where, void *memory) {
    if (memory) context->desc.release(context->desc.user, where, memory);
}

/* A handle is one block of memory cut into arrays. Called with base == NULL it measures; called again with the block,
 * it hands out the same cuts. 256 bytes: what the device's vector loads and copies like. */
typedef struct gpuopt__arena {
    char *base;
    uint64_t used;
} gpuopt__arena;

static inline void *gpuopt__cut(gpuopt__arena *arena, int64_t count, size_t size) {
    uint64_t at = arena->used;
    arena->used += ((uint64_t)count * size + 255) & ~(uint64_t)255;
    return arena->base ? arena->base + at : NULL;
}

static inline gpuopt_propagator gpuopt__propagator_head(gpuopt_context *context,
                                                        const gpuopt__propagator_model *model) {
    gpuopt_propagator head;
    head.context = context;
    head.rules = model->rules;
    head.rows = model->desc.matrix.rows;
    head.cols = model->desc.matrix.cols;
    head.nonzeros = model->nonzeros;
    head.round_limit = model->desc.round_limit;
    head.precision = model->desc.precision;
    head.called = 0;
    return head;
}

/* The pattern of A by columns: the rows of column j are col_row[col_start[j] .. col_start[j + 1] - 1], ascending; from,
 * or NULL: where by rows each of these entries is. */
static inline void gpuopt__transpose(int32_t rows, int32_t cols, const int64_t *start, const int32_t *col,
                                     int64_t *col_start, int32_t *col_row, int64_t *from) {
    int64_t k, sum = 0;
    int32_t i, j;
    memset(col_start, 0, sizeof(int64_t) * ((size_t)cols + 1));
    for (k = 0; k < start[rows]; k++) col_start[col[k]]++;
    for (j = 0; j <= cols; j++) { /* where each column begins; filling moves it to where it ends */
        int64_t count = col_start[j];
        col_start[j] = sum;
        sum += count;
    }
    for (i = 0; i < rows; i++)
        for (k = start[i]; k < start[i + 1]; k++) {
            int64_t at = col_start[col[k]]++;
            col_row[at] = i;
            if (from) from[at] = k;
        }
    for (j = cols; j > 0; j--) col_start[j] = col_start[j - 1];
    col_start[0] = 0;
}

/* Structs that begin with their size, between a host and a library of different versions. In: what the host's struct
 * has not stays as it is in the library's; what the library's has not must be zero. Out: as much as both have. */
static inline int gpuopt__copy_in(void *to, size_t to_size, const void *from, size_t from_size) {
    const unsigned char *byte = (const unsigned char *)from;
    size_t k, head = sizeof(size_t);
    if (from_size < head) return 0;
    for (k = to_size; k < from_size; k++)
        if (byte[k]) return 0;
    memcpy((char *)to + head, byte + head, (from_size < to_size ? from_size : to_size) - head);
    return 1;
}

static inline void gpuopt__copy_out(void *to, size_t to_size, const void *from, size_t from_size) {
    size_t head = sizeof(size_t);
    memcpy((char *)to + head, (const char *)from + head, (from_size < to_size ? from_size : to_size) - head);
}

#endif /* GPUOPT_IMPL_BACKEND_H */
