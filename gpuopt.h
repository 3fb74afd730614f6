/* SPDX-License-Identifier: MIT
 *
 * gpuopt: solver kernels, one unit of work per call
 * -------------------------------------------------
 * Work      The host owns the loop. A call does one unit (here: a propagation round) or as many as the host asks for,
 *           and reports what it found. The same calls run on a CPU and on an NVIDIA GPU: the context chooses.
 * Memory    Everything is allocated in _create through the context's allocator; a step allocates nothing. Input arrays
 *           are copied unless the comment says "borrowed". Destroying NULL is allowed. (What the CUDA runtime keeps for
 *           its own objects, a stream, a graph, 48 pinned bytes, does not come from there.)
 * Errors    Every call returns a gpuopt_status; on anything but GPUOPT_OK nothing that the host can see has changed,
 *           and the context's log hook has been told why. What a step finds (infeasible, converged, ...) is not an
 *           error: it stands in the step's info. Only GPUOPT_ERROR_DEVICE leaves a context that can but be destroyed.
 * Threads   One context, with everything created in it, is used by one thread at a time; different contexts are
 *           independent. There are no globals, no clocks, no signal handlers. OpenMP threads are used only where the
 *           context asks for more than one and the compiler has OpenMP switched on.
 * Streams   On the CUDA backend the work of a context is ordered on its stream. A step with info == NULL is enqueued
 *           and not waited for; calls that hand host arrays back wait. Host arrays that were handed in may be reused.
 * Results   The same calls give the same bits, with any number of threads, on any GPU and on the CPU, unless a comment
 *           says otherwise. Compile without -ffast-math (refused).
 * Sizes     int32 indices, int64 offsets and counts, double values. A comment gives each array's shape in brackets.
 *
 * To build: compile gpuopt_impl/gpuopt.c with the host; for the GPU, nvcc -c cuda/gpuopt_cuda.cu too. Or define
 * GPUOPT_IMPLEMENTATION in one C file before including this header.
 */
#ifndef GPUOPT_H
#define GPUOPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GPUOPT_API
#define GPUOPT_API extern /* e.g. static, or a visibility attribute; never changes a type */
#endif

/* ---- Version ----------------------------------------------------------------------------------------------------- */

#define GPUOPT_VERSION_MAJOR 0
#define GPUOPT_VERSION_MINOR 1
#define GPUOPT_VERSION_PATCH 0
#define GPUOPT_VERSION_NUMBER (GPUOPT_VERSION_MAJOR * 10000 + GPUOPT_VERSION_MINOR * 100 + GPUOPT_VERSION_PATCH)

GPUOPT_API int gpuopt_version_number(void); /* of the linked implementation */

/* ---- Status and outcome ------------------------------------------------------------------------------------------ */

typedef enum gpuopt_status {
    GPUOPT_OK = 0,
    GPUOPT_ERROR_ARGUMENT = -1,    /* a value, size or pointer is out of its documented range; the log says which */
    GPUOPT_ERROR_MEMORY = -2,      /* the host or device allocator returned NULL */
    GPUOPT_ERROR_DEVICE = -3,      /* the GPU or its driver failed; the context can only be destroyed */
    GPUOPT_ERROR_UNSUPPORTED = -4, /* not on this backend or device, or too large for it */
    GPUOPT_ERROR_NUMERIC = -5,     /* a result that cannot be represented */
    GPUOPT_ERROR_STATE = -6        /* called out of order */
} gpuopt_status;

GPUOPT_API const char *gpuopt_status_string(gpuopt_status status); /* static storage, never NULL */

typedef enum gpuopt_outcome {
    GPUOPT_MORE = 0,   /* the next call will find work */
    GPUOPT_CONVERGED,  /* fixpoint reached */
    GPUOPT_OPTIMAL,    /* proven */
    GPUOPT_INFEASIBLE, /* proven */
    GPUOPT_UNBOUNDED,  /* proven */
    GPUOPT_LIMIT       /* the host's own limit */
} gpuopt_outcome;

GPUOPT_API const char *gpuopt_outcome_string(gpuopt_outcome outcome); /* static storage, never NULL */

/* ---- Descriptors --------------------------------------------------------------------------------------------------
 * Every struct that the host fills or has filled begins with struct_size, and members are only ever appended: a host
 * compiled against another minor version keeps working. A zero member means "the default". A struct larger than the
 * library knows is accepted as long as the surplus is zero. */

/* Makes any descriptor of this header its defaults: all bytes zero, then its first member the size.
 *     gpuopt_context_desc desc;
 *     gpuopt_desc_init(&desc, sizeof desc); */
GPUOPT_API void gpuopt_desc_init(void *desc, size_t struct_size);

/* ---- Context: a backend, a device, a stream, and the host's services --------------------------------------------- */

typedef struct gpuopt_context gpuopt_context;
typedef struct gpuopt_backend gpuopt_backend;
struct CUstream_st; /* a cudaStream_t is a struct CUstream_st * */

GPUOPT_API const gpuopt_backend *gpuopt_backend_cpu(void);
/* Defined in cuda/gpuopt_cuda.cu alone: a host that never names it links without CUDA. */
GPUOPT_API const gpuopt_backend *gpuopt_backend_cuda(void);
GPUOPT_API const char *gpuopt_backend_name(const gpuopt_backend *backend); /* "cpu", "cuda" */

typedef enum gpuopt_memory { GPUOPT_HOST = 0, GPUOPT_DEVICE = 1 } gpuopt_memory;

typedef struct gpuopt_context_desc {
    size_t struct_size;            /* sizeof(gpuopt_context_desc) */
    const gpuopt_backend *backend; /* NULL: CPU */
    int32_t device;                /* CUDA ordinal */
    struct CUstream_st *stream;    /* borrowed; NULL: the context makes one of its own */
    int32_t threads;               /* CPU backend, to 1024; 0: 1. More than 1 needs OpenMP; else 1, and the log told */
    void *user;                    /* passed to the hooks below */
    void *(*allocate)(void *user, gpuopt_memory where, size_t bytes); /* 256-byte aligned on the device, as malloc on */
    void (*release)(void *user, gpuopt_memory where, void *memory);   /* the host; NULL, both: malloc and cudaMalloc */
    void (*log)(void *user, int level, const char *message); /* NULL: silence. level 0 error, 1 warning, 2 info */
} gpuopt_context_desc;

/* UNSUPPORTED: no usable GPU (CUDA backend). The hooks are called from the thread that makes the call. */
GPUOPT_API gpuopt_status gpuopt_context_create(const gpuopt_context_desc *desc, gpuopt_context **context);
GPUOPT_API void gpuopt_context_destroy(gpuopt_context *context);       /* after everything that was created in it */
GPUOPT_API gpuopt_status gpuopt_context_wait(gpuopt_context *context); /* until all enqueued work has finished */

/* What a handle takes, from its _plan call: exact, and found without allocating anything that lasts. */
typedef struct gpuopt_memory_plan {
    size_t struct_size;
    uint64_t host_bytes;   /* while the handle lives */
    uint64_t device_bytes; /* while the handle lives */
    uint64_t create_bytes; /* host memory on top of that, during _create only */
} gpuopt_memory_plan;

/* ---- Sparse rows ------------------------------------------------------------------------------------------------- */

typedef struct gpuopt_csr {
    int32_t rows, cols;   /* 0 to 2^31 - 65 */
    const int64_t *start; /* [rows + 1], start[0] = 0, non-decreasing */
    const int32_t *col;   /* [start[rows]], 0 <= col < cols, no column twice in a row, in any order */
    const double
        *val; /* [start[rows]], finite, not 0; where it is used in single precision, FLT_MIN to FLT_MAX in size */
} gpuopt_csr;

/* ---- Propagation of  lhs <= A x <= rhs  over  lb <= x <= ub ------------------------------------------------------- *
 * Sofranac, Gleixner, Pokutta: Accelerating Domain Propagation (2020). A round computes every row's least and greatest
 * activity and, from them, a bound candidate for every nonzero; the best candidates become the new bounds.
 *
 * Rounds    JACOBI, the default: a round reads only the bounds of the round before, so that the result depends neither
 *           on the order of rows nor on threads nor on the device: CPU and GPU return the same bits, round for round.
 *           SEQUENTIAL (CPU only, the paper's Algorithm 1): a round is one sweep over the rows in their order; each
 *           sees what the rows before it found. Fewest rounds; ends in the same fixpoint up to the tolerances.
 * Validity  Bounds are never tightened beyond what the row implies. Rows that cannot improve anything are filtered out
 *           with ordinary arithmetic and a rigorous error bound; for the others activities are summed in twice the
 *           working precision (Ogita, Rump, Oishi: Accurate Sum and Dot Product, 2005), so that taking a column's own
 *           term out again does not cancel. Infinite terms are counted, never added. A candidate whose remaining error
 *           could exceed the feasibility tolerance by scale is dropped.
 * Cost      A round is one pass over A: 12 bytes a nonzero (8 where single precision holds all of A exactly, which the
 *           CUDA backend sees by itself), 16 a row, 16 a column; rows that pass the filter are read again. */

typedef struct gpuopt_propagator gpuopt_propagator;

typedef enum gpuopt_precision {
    GPUOPT_FP64 = 0, /* A and the bounds in double */
    /* A and the bounds stored in single precision (two thirds of the bytes moved, half of the memory). Sums are still
     * taken in double, and every bound is rounded outwards. Coefficients that single precision cannot hold are rounded,
     * which the log says once: the result is then that of the rounded model. */
    GPUOPT_FP32 = 1
} gpuopt_precision;

typedef enum gpuopt_propagation_mode { GPUOPT_JACOBI = 0, GPUOPT_SEQUENTIAL = 1 } gpuopt_propagation_mode;

/* How the CUDA backend runs several rounds in one call (section 3.7 of the paper). All give the same bits. */
typedef enum gpuopt_propagation_driver {
    /* COOPERATIVE for models that fit the shared memory of all multiprocessors (up to about 1e6 nonzeros on an H200),
     * else GRAPH, else HOST: what the device and the CUDA version have. */
    GPUOPT_DRIVER_AUTO = 0,
    GPUOPT_DRIVER_HOST,        /* a few launches a round; the host reads 4 bytes after each ("cpu_loop") */
    GPUOPT_DRIVER_COOPERATIVE, /* all rounds in one launch with grid-wide barriers ("megakernel") */
    /* The GPU loops by itself ("gpu_loop"): a CUDA graph whose while-node repeats the round; CUDA 12.4. The paper's own
     * form, a kernel that launches kernels and waits for them, is gone: CUDA 12 removed device-side synchronisation. */
    GPUOPT_DRIVER_GRAPH
} gpuopt_propagation_driver;

/* Whether rows none of whose columns changed in the round before are skipped. Never changes a result. Costs
 * a column-wise copy of A's pattern: 4 bytes a nonzero and 8 a column. A round after which much changed is a full pass
 * all the same. */
typedef enum gpuopt_propagation_marking {
    GPUOPT_MARKING_AUTO = 0, /* CPU: on; CUDA: on from 2^21 nonzeros, below which a round is too short to gain */
    GPUOPT_MARKING_ON,
    GPUOPT_MARKING_OFF /* every round is a full pass; not with SEQUENTIAL */
} gpuopt_propagation_marking;

typedef struct gpuopt_propagator_desc {
    size_t struct_size; /* sizeof(gpuopt_propagator_desc) */
    gpuopt_csr matrix;
    const double *lhs, *rhs; /* [rows]; lhs[i] <= rhs[i]; -infinity and infinity allowed; NULL: no such side */
    const double *lb, *ub;   /* [cols]; not NaN, lb < infinity, ub > -infinity */
    const uint8_t *integer;  /* [cols], not 0: integer; NULL: all continuous. Rounded are the bounds that rows imply */
    double infinity;         /* |side or bound| >= this is infinite; 0: 1e20 (SCIP, HiGHS); at least 1 */
    /* A row or column violated by no more is feasible; 0: 1e-6 (SCIP def.h, HiGHS HConst.h); at most 0.1. */
    double feasibility_tolerance;
    double integrality_tolerance; /* slack before an integer bound's candidate is rounded; 0: 1e-6; at most 0.49 */
    double least_change;          /* a finite bound moves only by more than this; 0: 1e-9 (the paper); at most 1e9 */
    /* ... plus this fraction (at most 1) of ub - lb, or of |bound| where the other bound is infinite; 0: none. And plus
     * 2^-48 |bound| (FP32: 2^-22 of the column's larger bound), since less is rounding. */
    double least_change_relative;
    double huge_value;   /* a term of an activity larger than this counts as infinite; 0: 1e100; 1 to 1e100 */
    int32_t round_limit; /* rounds since bounds or sides were last set, then the outcome is LIMIT; 0: none */
    gpuopt_precision precision;
    gpuopt_propagation_mode mode;
    gpuopt_propagation_driver driver; /* ignored by the CPU */
    gpuopt_propagation_marking marking;
} gpuopt_propagator_desc;

/* Named tolerances: fills the five tolerance members and least_change_relative of a descriptor, nothing else. */
typedef enum gpuopt_propagator_settings {
    GPUOPT_SETTINGS_PAPER = 0, /* the defaults: 1e-9 absolute */
    GPUOPT_SETTINGS_SCIP,      /* 5% (boundstreps, def.h); terms beyond 1e15 (hugeval) infinite */
    GPUOPT_SETTINGS_HIGHS,     /* 1e-3 and 30% of the domain (HighsDomain.cpp) */
    /* 1e-3 (ConstraintPropagation.hpp); terms beyond 1e8 (hugeval, PresolveOptions.hpp) infinite. */
    GPUOPT_SETTINGS_PAPILO
} gpuopt_propagator_settings;
GPUOPT_API gpuopt_status gpuopt_propagator_desc_tune(gpuopt_propagator_desc *desc, gpuopt_propagator_settings settings);

/* What a call of _round found. */
typedef struct gpuopt_propagation {
    size_t struct_size;
    gpuopt_outcome outcome; /* MORE, CONVERGED, INFEASIBLE or LIMIT */
    int32_t rounds;         /* done by this call, the one that changed nothing or proved infeasibility included */
    int64_t changed;        /* bounds moved by this call; JACOBI: each side of each column counts once a round */
    int64_t nonzeros;       /* in the rows that it evaluated: fewer than rounds * nonzeros of A where marking skips */
    int32_t infeasible_row; /* INFEASIBLE: lowest row that no x within the bounds satisfies, or -1 */
    int32_t infeasible_col; /* INFEASIBLE: lowest column whose bounds cross, or -1 */
} gpuopt_propagation;

/* Reads every array of the descriptor once, for the exact lengths and whether single precision holds A. */
GPUOPT_API gpuopt_status gpuopt_propagator_plan(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                gpuopt_memory_plan *plan);

/* ARGUMENT with the entry's position in the log: anything out of the ranges above. UNSUPPORTED: SEQUENTIAL or
 * MARKING_OFF with it, on a backend that has it not; a driver that the device or the CUDA version lacks. Time
 * O(nonzeros + rows + cols). */
GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_propagator **propagator);
GPUOPT_API void gpuopt_propagator_destroy(gpuopt_propagator *propagator);

/* Up to `rounds` (>= 1) rounds; stops earlier at a fixpoint, the limit, or when infeasibility is proven: the round that
 * proves it is completed (JACOBI), and further calls return INFEASIBLE with no round until bounds or sides are set.
 * info == NULL: enqueued only; with the drivers HOST and COOPERATIVE, asked for by name, the call may then be captured
 * in a CUDA graph; HOST enqueues every one of the rounds. At most two exchanges with the device a call (HOST: one a
 * round). */
GPUOPT_API gpuopt_status gpuopt_propagator_round(gpuopt_propagator *propagator, int32_t rounds,
                                                 gpuopt_propagation *info);

/* What the last _round found; waits for it. STATE: there was none yet. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagation *info);

/* All bounds: lb and ub [cols], in the memory that `where` says; either may be NULL. Infinite ones come out as IEEE
 * infinities. lb <= ub holds unless the outcome is INFEASIBLE: bounds that met within the tolerance come out equal to
 * ub. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory where, double *lb,
                                                      double *ub);
/* Bounds may go either way; NaN is refused. Crossing ones are allowed, here as in _create: the next _round says
 * INFEASIBLE and does no round. With NULL that side stays. FP32: rounded outwards. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                      const double *lb, const double *ub);
/* The same for `count` columns: col, lb and ub [count], all in the memory that `where` says. A column that comes twice
 * in col is set to one of its values; one out of range in device memory is refused by _set and gives NaN in _get. Setting costs O(count), and with marking the next round looks at their rows
 * only. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, double *lb, double *ub);
GPUOPT_API gpuopt_status gpuopt_propagator_set_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, const double *lb,
                                                           const double *ub);

/* New sides for `count` rows (an objective cutoff, say), from host arrays [count]; rows distinct. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_some_sides(gpuopt_propagator *propagator, int64_t count,
                                                          const int32_t *row, const double *lhs, const double *rhs);

/* What the current bounds make of the rows. Each array [rows] or NULL, in the memory that `where` says. An activity is
 * the sum of its finite terms, rounded from twice the precision; it is the row's bound where its count of infinite
 * terms is 0. */
enum {
    GPUOPT_ROW_LHS_REDUNDANT = 1,
    GPUOPT_ROW_RHS_REDUNDANT = 2,
    GPUOPT_ROW_REDUNDANT = 3,
    GPUOPT_ROW_INFEASIBLE = 4
};
typedef struct gpuopt_row_report {
    size_t struct_size;
    double *min_activity, *max_activity;
    int32_t *min_infinite, *max_infinite; /* terms that are infinite or beyond huge_value */
    uint8_t *status; /* GPUOPT_ROW_ bits, each within the feasibility tolerance; 0: the row can still act */
} gpuopt_row_report;
GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory where,
                                                    const gpuopt_row_report *report);

/* The CUDA backend's own bounds, lent until the next call on this handle, to be read on the context's stream: pair j is
 * (lb, ub) of column j, of double (FP64) or float (FP32). UNSUPPORTED on the CPU. */
typedef struct gpuopt_bounds_view {
    size_t struct_size;
    const void *pairs; /* [cols][2], device */
    gpuopt_precision precision;
} gpuopt_bounds_view;
GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_bounds_view *view);

#ifdef __cplusplus
}
#endif
#endif /* GPUOPT_H */

#ifdef GPUOPT_IMPLEMENTATION
#include "gpuopt_impl/all.h"
#endif
