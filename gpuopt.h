/* SPDX-License-Identifier: MIT
 *
 * gpuopt: solver kernels in C, on the CPU and on NVIDIA GPUs, one step per call
 *
 * For people who write solvers. Your program keeps its loop, its data structures and its decisions, and calls gpuopt
 * for one step at a time. The same calls run on a CPU (C11, no dependencies) and on a GPU (CUDA); the context chooses.
 *
 *     family              handle               a step is                                        page
 *     propagation         gpuopt_propagator    a round of bound tightening over all rows        doc/propagation.md
 *     basis inverse       gpuopt_basis         an update, FTRAN or BTRAN                        doc/basis.md
 *     linear programs     gpuopt_simplex       simplex iterations, or the parts of one          doc/simplex.md
 *     graphical models    gpuopt_elimination   a variable eliminated, or a value phase          doc/elimination.md
 *     knapsacks           gpuopt_knapsack      an expansion of branch-and-bound nodes           doc/knapsack.md
 *
 *     gpuopt_context *context;                               // where to run; NULL: the CPU with one thread
 *     gpuopt_propagator *propagator;                         // or another family's handle
 *     gpuopt_propagator_desc model = GPUOPT_INIT(gpuopt_propagator_desc);   // zero means the default
 *     gpuopt_propagator_info info = GPUOPT_INIT(gpuopt_propagator_info);
 *     ... fill in model.matrix, model.lb, model.ub ...
 *     if (gpuopt_context_create(NULL, &context) || gpuopt_propagator_create(context, &model, NULL, &propagator)) ...
 *     while (info.outcome == GPUOPT_MORE)                    // your loop
 *         if (gpuopt_propagator_round(propagator, 1, &info)) ...
 *     gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, 0, NULL, lb, ub);
 *
 * This header is the stable core: from version 1.0 on, its calls and struct layouts only grow (doc/stability.md). The
 * headers in gpuopt/ are layers over it, which a minor version may change: search.h (inside a tree search), batch.h
 * (many small problems), knapsack_variants.h, inference.h (graphical models beyond elimination), group.h (several
 * devices or processes). doc/terms.md defines the words.
 *
 * To build: compile gpuopt_impl/gpuopt.c with your program and, for the GPU, the .cu files of cuda/ with nvcc. Or
 * define GPUOPT_IMPLEMENTATION in one C or C++ file before you include this header. C11, C++17, or later. Compiler
 * options that break IEEE arithmetic, such as -ffast-math, are refused. -DGPUOPT_WITHOUT_KNAPSACK (_PROPAGATE, _BASIS,
 * _SIMPLEX, _ELIMINATION) omits a family.
 *
 * What holds for every family
 * ---------------------------
 * Life       _create makes a handle, _destroy frees it and accepts NULL. A handle belongs to its context and must be
 *            destroyed before it. _create copies the arrays of a descriptor, which are in host memory.
 * Plans      If `plan` is not NULL, _create fills it with the memory that the handle takes. If the place for the handle
 *            is NULL, _create does nothing else. Not both are NULL.
 * Memory     _create takes a handle's memory through the context's allocator, and steps allocate nothing. A call that
 *            does allocate says so. CUDA's own objects, such as streams, do not come from the allocator.
 * Status     Calls return a gpuopt_status. If it is not GPUOPT_OK, nothing that the caller can observe has changed
 *            except what the call's comment names, and the log has the reason. After GPUOPT_ERROR_DEVICE a context can
 *            only be destroyed. A NULL handle or context gives GPUOPT_ERROR_ARGUMENT without a log message.
 * Outcome    What a step found (infeasible, optimal, ...) is not an error: it is info.outcome.
 * Info       A step fills an info struct, and _get_info fills the same struct at any time. Before the first step the
 *            outcome is MORE, unless _create settled the problem. A step's info may be NULL; see the table.
 * where      The memory of the vectors of a call: host or device memory. Device memory needs the CUDA backend
 *            (else GPUOPT_ERROR_UNSUPPORTED), is used in the order of the context's stream, and its values are not
 *            checked unless the call says so.
 * Bounds     A column with lb > ub is no error: the first step finds the model infeasible. A row with lhs > rhs
 *            is an error. Bounds and sides of size 1e20 or more are infinite; a descriptor can change that limit.
 * Threads    One thread at a time uses a context and everything created in it; -DGPUOPT_DEBUG catches a second one.
 *            There are no globals, clocks or signal handlers. doc/embedding.md covers fork(), OpenMP and debugging.
 * Streams    A context's GPU work is ordered on its stream. Calls that return host arrays wait for it. Input arrays in
 *            host memory may be reused once the call returns. The thread's current device stays as it was.
 * Bits       The same calls give the same bits with any number of threads. The table compares CPU and GPU.
 * Rounding   Arithmetic is IEEE 754, rounded to nearest, without contraction. Calls that compute do so in the default
 *            floating-point environment and restore the caller's.
 * Groups     A handle whose descriptor names a group is shared by its ranks. Calls on it are then collective: every
 *            rank makes them with the same arguments (doc/groups.md).
 * Sizes      int32 indices, int64 offsets and counts, double values. Comments give each array's shape in brackets.
 *
 *                     propagator      basis           simplex         elimination     knapsack
 *     step            round           update          iterate         step            expand
 *     info == NULL    enqueued (1)    enqueued        waits           enqueued (2)    waits
 *     device view     bounds          -               -               messages        -
 *     pack, unpack    -               -               -               messages        nodes
 *     matrix          CSR or CSC      CSC or CSR      CSC, CSR, dense -               -
 *     stop is called  between rounds  - (3)           between runs    between buckets between levels
 *     CPU = GPU       same bits       up to rounding  up to rounding  same bits (4)   same bits
 *
 * (1) With the drivers HOST and COOPERATIVE, requested by name, a CUDA graph can capture the call, unless the handle
 * has a trail or spare rows. (2) SLICE waits once per slice. (3) Only gpuopt_basis_load takes long; it cannot be
 * interrupted. (4) DOUBLE: up to rounding.
 */
#ifndef GPUOPT_H
#define GPUOPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GPUOPT_API
#define GPUOPT_API extern /* for example static, or a visibility attribute; never changes a type */
#define GPUOPT__API_EXTERN
#endif

/* ---- Version ----------------------------------------------------------------------------------------------------- */

#define GPUOPT_VERSION_MAJOR 0 /* incompatible changes; while it is 0, a new minor version may have them, too */
#define GPUOPT_VERSION_MINOR 1 /* additions */
#define GPUOPT_VERSION_PATCH 0 /* corrections */
/* The version of this header as one number, for comparisons. */
#define GPUOPT_VERSION_NUMBER (GPUOPT_VERSION_MAJOR * 10000 + GPUOPT_VERSION_MINOR * 100 + GPUOPT_VERSION_PATCH)

/* Returns the GPUOPT_VERSION_NUMBER of the linked implementation. */
GPUOPT_API int gpuopt_version_number(void);

/* ---- Status and outcome ------------------------------------------------------------------------------------------ *
 * Constants of the general part are short: GPUOPT_OK, GPUOPT_MORE, GPUOPT_HOST, GPUOPT_ON. A family's enum is called
 * gpuopt_<family>_<kind>, and its constants GPUOPT_<KIND>_<NAME>. */

/* Whether a call worked. */
typedef enum gpuopt_status {
    GPUOPT_OK = 0,                 /* done */
    GPUOPT_ERROR_ARGUMENT = -1,    /* a value, size or pointer is outside its documented range; the log says which */
    GPUOPT_ERROR_MEMORY = -2,      /* the host or device allocator returned NULL */
    GPUOPT_ERROR_DEVICE = -3,      /* the GPU or its driver failed; the context can only be destroyed */
    GPUOPT_ERROR_UNSUPPORTED = -4, /* not available on this backend or device, or too large for it */
    GPUOPT_ERROR_NUMERIC = -5,     /* singular, an unsafe pivot, or a result that cannot be represented */
    GPUOPT_ERROR_STATE = -6,       /* called out of order */
    GPUOPT_ERROR_PEER = -7         /* another rank of the group is lost or late; the group can only be destroyed */
} gpuopt_status;
/* Returns a short static text, never NULL. */
GPUOPT_API const char *gpuopt_status_string(gpuopt_status status);

/* What a step found. */
typedef enum gpuopt_outcome {
    GPUOPT_MORE = 0,   /* not finished: call again */
    GPUOPT_CONVERGED,  /* a fixpoint was reached */
    GPUOPT_OPTIMAL,    /* proven */
    GPUOPT_INFEASIBLE, /* proven */
    GPUOPT_UNBOUNDED,  /* proven */
    GPUOPT_LIMIT,      /* a limit set by the caller was reached */
    GPUOPT_FULL,       /* the memory taken by _create is full, and the caller asked to stop then */
    GPUOPT_IMPRECISE,  /* rounding does not allow a proof; the family says what is known instead */
    GPUOPT_CUTOFF      /* proven: no solution is better than the caller's cutoff */
} gpuopt_outcome;
/* Returns a short static text, never NULL. */
GPUOPT_API const char *gpuopt_outcome_string(gpuopt_outcome outcome);

/* How certain the OPTIMAL of a linear program is, strongest first; see gpuopt_simplex_iterate. */
typedef enum gpuopt_certainty {
    GPUOPT_CERTAINTY_NONE = 0, /* there is no optimum yet */
    GPUOPT_CERTAINTY_EXACT,    /* the basis is optimal in exact arithmetic, proven by bounds on all errors */
    GPUOPT_CERTAINTY_ROUNDING, /* the point solves a program whose data differ from the given ones by rounding */
    GPUOPT_CERTAINTY_TOLERANCE /* within the tolerances, and so is the gap between the two objectives */
} gpuopt_certainty;
/* Returns a short static text, never NULL. */
GPUOPT_API const char *gpuopt_certainty_string(gpuopt_certainty certainty);

/* An option; its comment gives the default. */
typedef enum gpuopt_switch { GPUOPT_DEFAULT = 0, GPUOPT_ON, GPUOPT_OFF } gpuopt_switch;

/* Where an array is. */
typedef enum gpuopt_memory_space { GPUOPT_HOST = 0, GPUOPT_DEVICE = 1 } gpuopt_memory_space;

/* ---- Structs with a size ----------------------------------------------------------------------------------------- *
 * Every struct that the caller fills or has filled begins with struct_size. Members are only ever appended, so that a
 * program compiled against another minor version keeps working. A zero member means the default. ARGUMENT, and the log
 * names the struct: it is shorter than in its first version, or longer than now with a surplus that is not zero.
 *
 * GPUOPT_INIT(type) is such a struct with all defaults: gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc); */

/* Sets all bytes to zero, then struct_size, for languages without macros. */
GPUOPT_API void gpuopt_desc_init(void *desc, size_t struct_size);

/* ---- Context: a backend, a device, a stream, and the caller's services ------------------------------------------- */

/* Where work is done, and with whose memory. */
typedef struct gpuopt_context gpuopt_context;
/* The code for one kind of device. */
typedef struct gpuopt_backend gpuopt_backend;
struct CUstream_st; /* a cudaStream_t is a struct CUstream_st * */

/* Returns the CPU backend. */
GPUOPT_API const gpuopt_backend *gpuopt_backend_cpu(void);
/* Returns the CUDA backend. Defined in cuda/gpuopt_cuda.cu alone, so a program that never calls it links without
 * CUDA. */
extern const gpuopt_backend *gpuopt_backend_cuda(void);
/* Opens libgpuopt_cuda.so at run time and returns its backend: the file `path`, or for NULL the one beside this
 * library, in the folder of its installation, or where the dynamic loader finds it. If it returns NULL, *reason is a
 * static text: no library, no driver, no device, or other versions. reason may be NULL (doc/install.md). */
GPUOPT_API const gpuopt_backend *gpuopt_backend_cuda_load(const char *path, const char **reason);
/* Returns "cpu" or "cuda", or "none" for NULL. */
GPUOPT_API const char *gpuopt_backend_name(const gpuopt_backend *backend);

/* A context. The hooks are called from the thread that makes the call. */
typedef struct gpuopt_context_desc {
    size_t struct_size;            /* sizeof(gpuopt_context_desc) */
    const gpuopt_backend *backend; /* NULL: CPU */
    int32_t device;                /* CUDA ordinal */
    /* A stream of `device`, or of a green context on it; not owned. Not cudaStreamPerThread, and only one thread at a
     * time may use it. NULL: the context creates its own. */
    struct CUstream_st *stream;
    /* CPU backend: 1 to 1024; 0: 1. Without OpenMP 3.1 it is 1, with a warning in the log. */
    int32_t threads;
    void *user; /* passed to the hooks below */
    /* Host memory aligned as by malloc, device memory to 256 bytes; NULL on failure. Device memory is released once the
     * stream has finished with it. Both NULL: malloc, and on the GPU a pool of the context's own. */
    void *(*allocate)(void *user, gpuopt_memory_space where, size_t bytes);
    void (*release)(void *user, gpuopt_memory_space where, void *memory); /* goes with allocate */
    void (*log)(void *user, int level, const char *message); /* level 0: error, 1: warning, 2: info; NULL: silence */
    /* Called during long calls, see the table above. Nonzero: the call returns GPUOPT_OK with the outcome MORE, and the
     * next call goes on. NULL: never. For Ctrl-C: examples/interrupt.c. */
    int (*stop)(void *user);
    /* A monotonic clock; limits in seconds require it. */
    double (*seconds)(void *user);
    /* CUDA, without allocate: bytes of destroyed handles' device memory that the context keeps for its next ones. 0: up
     * to half of the device's memory; 1: nothing; UINT64_MAX: all. */
    uint64_t keep_device_bytes;
    gpuopt_switch tidy_matrices; /* zeros and duplicates in a gpuopt_matrix; default on; off: ARGUMENT */
} gpuopt_context_desc;
/* Creates a context. desc NULL: the CPU with one thread. ARGUMENT: a member is out of range, or the stream is not
 * allowed. UNSUPPORTED: no usable GPU, or the build's arithmetic is not IEEE 754. */
GPUOPT_API gpuopt_status gpuopt_context_create(const gpuopt_context_desc *desc, gpuopt_context **context);
/* Destroys a context, after all its handles. */
GPUOPT_API void gpuopt_context_destroy(gpuopt_context *context);
/* Waits until all enqueued work has finished. */
GPUOPT_API gpuopt_status gpuopt_context_wait(gpuopt_context *context);
/* Returns the latest error message; "" before the first one, and for NULL. Valid until the context's next call. */
GPUOPT_API const char *gpuopt_context_last_error(const gpuopt_context *context);

/* The memory that a handle takes, exactly. */
typedef struct gpuopt_memory_plan {
    size_t struct_size;           /* sizeof(gpuopt_memory_plan) */
    uint64_t host_bytes;          /* while the handle lives */
    uint64_t device_bytes;        /* while the handle lives */
    uint64_t create_bytes;        /* host memory on top of that, during _create only */
    uint64_t create_device_bytes; /* likewise device memory */
} gpuopt_memory_plan;

/* ---- Sparse matrices and views of device memory ------------------------------------------------------------------ */

/* How a sparse matrix is stored. */
typedef enum gpuopt_layout {
    GPUOPT_LAYOUT_CSR = 0, /* row after row: start [rows + 1], index holds columns */
    GPUOPT_LAYOUT_CSC      /* column after column: start [cols + 1], index holds rows */
} gpuopt_layout;

/* A sparse matrix in host memory. Zeros are dropped and duplicates summed, with a warning; counts of nonzeros mean the
 * result. Every call takes both layouts. doc/embedding.md has details. No member will be added. */
typedef struct gpuopt_matrix {
    int32_t rows, cols;   /* 0 to 2^31 - 65; more: UNSUPPORTED */
    const int64_t *start; /* [lines + 1], start[0] = 0, non-decreasing; a line is a row (CSR) or a column (CSC) */
    const int32_t *index; /* [start[lines]], in range, in any order */
    const double *value;  /* [start[lines]], finite */
    gpuopt_layout layout; /* CSR or CSC */
} gpuopt_matrix;

/* Capacity for rows and columns added later; see gpuopt/search.h. */
typedef struct gpuopt_spare {
    size_t struct_size; /* sizeof(gpuopt_spare) */
    int32_t rows, cols; /* how many can be added; in a propagator: no columns */
    int64_t nonzeros;   /* of both together */
} gpuopt_spare;

/* The type of numbers in device memory. */
typedef enum gpuopt_data_type {
    GPUOPT_TYPE_FP64 = 0, /* double */
    GPUOPT_TYPE_FP32,     /* float */
    GPUOPT_TYPE_UINT8,    /* uint8_t */
    GPUOPT_TYPE_UINT16,   /* uint16_t */
    GPUOPT_TYPE_UINT32,   /* uint32_t */
    GPUOPT_TYPE_UINT64    /* uint64_t */
} gpuopt_data_type;

/* A handle's array in device memory, valid until the handle's next call; read it on the context's stream. */
typedef struct gpuopt_device_view {
    size_t struct_size;    /* sizeof(gpuopt_device_view) */
    const void *data;      /* [count] */
    int64_t count;         /* numbers in data */
    gpuopt_data_type type; /* of each number */
} gpuopt_device_view;

/* Several contexts that work together, see gpuopt/group.h. */
typedef struct gpuopt_group gpuopt_group;

/* ---- Propagation of  lhs <= A x <= rhs  over  lb <= x <= ub ------------------------------------------------------- *
 * Sofranac, Gleixner, Pokutta: Accelerating Domain Propagation (2020); doc/propagation.md. A round computes the least
 * and the greatest activity of every row and, from these, a candidate bound for every nonzero. The best candidates
 * become the new bounds.
 *
 * Validity  No bound becomes tighter than its row implies: errors are added outward. No point is cut off that satisfies
 *           all rows and bounds exactly, with three deliberate exceptions: candidates of integer columns are rounded to
 *           integers, FP32 rounds coefficients, and a column whose bounds the caller made equal never moves.
 * Verdict   INFEASIBLE is true in exact arithmetic: an activity misses a side, or a column's bounds cross, by more than
 *           `feasibility` and more than all errors. CONVERGED: no row can move a bound by more than the least change.
 * Bits      JACOBI returns the same bounds round for round on the CPU and the GPU. */

/* A model with its current bounds and sides. */
typedef struct gpuopt_propagator gpuopt_propagator;

/* How A and the bounds are stored. */
typedef enum gpuopt_propagator_precision {
    GPUOPT_PRECISION_FP64 = 0, /* in double precision */
    /* In single precision, with sums in double precision and bounds rounded outwards. Coefficients are rounded, with a
     * warning. ARGUMENT: a size outside FLT_MIN to FLT_MAX. */
    GPUOPT_PRECISION_FP32 = 1
} gpuopt_propagator_precision;

/* Which bounds a round reads. */
typedef enum gpuopt_propagator_mode {
    GPUOPT_MODE_JACOBI = 0, /* those after the previous round: no order of the rows matters */
    /* The latest ones (CPU only): a round is one sweep over the rows in their order (the paper's Algorithm 1). */
    GPUOPT_MODE_GAUSS_SEIDEL = 1
} gpuopt_propagator_mode;

/* How the CUDA backend runs the rounds of one call (section 3.7 of the paper). All drivers give the same bits. */
typedef enum gpuopt_propagator_driver {
    /* COOPERATIVE if the model is small or fits into shared memory, otherwise GRAPH, or HOST before CUDA 12.4. */
    GPUOPT_DRIVER_AUTO = 0,
    GPUOPT_DRIVER_HOST,        /* a few launches per round; the CPU controls them ("cpu_loop") */
    GPUOPT_DRIVER_COOPERATIVE, /* all rounds in one launch with grid-wide barriers ("megakernel") */
    GPUOPT_DRIVER_GRAPH        /* a CUDA graph with a while node ("gpu_loop"); CUDA 12.4 */
} gpuopt_propagator_driver;

/* When a row proves something, and which moves are worth making. */
typedef struct gpuopt_propagator_tolerances {
    size_t struct_size;  /* sizeof(gpuopt_propagator_tolerances) */
    double feasibility;  /* rows violated, or bounds crossing, by at most this prove nothing; 0: 1e-6; at most 0.1 */
    double integrality;  /* when an integer column's bound is rounded; 0: 1e-6; at most 0.49 */
    double least_change; /* a finite bound moves only by more than this; 0: 1e-9 (the paper); at most 1e9 */
    /* Added to least_change: this fraction of ub - lb, or of |bound| if the other bound is infinite; at most 1. */
    double least_change_relative;
    double huge_value;               /* a larger term of an activity counts as infinite; 0: 1e100; 1 to 1e100 */
    gpuopt_switch relative_integers; /* whether least_change_relative holds for integer columns, too; default: on */
} gpuopt_propagator_tolerances;

/* The tolerances of other codes. */
typedef enum gpuopt_propagator_settings {
    GPUOPT_SETTINGS_PAPER = 0, /* the defaults: least change 1e-9 */
    GPUOPT_SETTINGS_SCIP,  /* least change 5% of the domain, integer columns included; terms beyond 1e15 are infinite */
    GPUOPT_SETTINGS_HIGHS, /* least change 1e-3, and 30% of the domain for continuous columns */
    GPUOPT_SETTINGS_PAPILO /* least change 1e-3; terms beyond 1e8 are infinite */
} gpuopt_propagator_settings;
/* Sets all tolerances. ARGUMENT: unknown settings. */
GPUOPT_API gpuopt_status gpuopt_propagator_tolerances_tune(gpuopt_propagator_tolerances *tolerances,
                                                           gpuopt_propagator_settings settings);

/* A model, and how to propagate it. */
typedef struct gpuopt_propagator_desc {
    size_t struct_size;      /* sizeof(gpuopt_propagator_desc) */
    gpuopt_matrix matrix;    /* A */
    const double *lhs, *rhs; /* [rows]; lhs[i] <= rhs[i]; -infinity and infinity allowed; NULL: no such sides */
    const double *lb, *ub;   /* [cols]; lb < infinity, NULL: 0; ub > -infinity, NULL: infinity */
    const uint8_t *integer;  /* [cols], not 0: integer; NULL: all continuous */
    double infinity;         /* sides and bounds of at least this size are infinite; 0: 1e20; at least 1 */
    const gpuopt_propagator_tolerances *tolerances; /* NULL: the defaults */
    int32_t round_limit; /* rounds since bounds or sides were last set; then the outcome is LIMIT; 0: none */
    gpuopt_propagator_precision precision; /* default FP64 */
    gpuopt_propagator_mode mode;           /* default JACOBI */
    gpuopt_propagator_driver driver;       /* default AUTO; ignored by the CPU */
    /* Whether a round skips rows without bound changes since their last evaluation. Changes no result. GAUSS_SEIDEL and
     * tree search need it. Default: on; with CUDA from 2^21 nonzeros on. */
    gpuopt_switch marking;
    /* For gpuopt/search.h, with marking and, on CUDA, the driver COOPERATIVE or AUTO. */
    int64_t trail_capacity;    /* bound changes that the trail holds, 64 to 96 bytes each; 0: no trail */
    const gpuopt_spare *spare; /* rows that can be added; NULL: none */
} gpuopt_propagator_desc;

/* What a call of _round found. */
typedef struct gpuopt_propagator_info {
    size_t struct_size;     /* sizeof(gpuopt_propagator_info) */
    gpuopt_outcome outcome; /* MORE, CONVERGED, INFEASIBLE, LIMIT or FULL */
    int32_t rounds;         /* done by this call, including one that changed nothing or proved infeasibility */
    int64_t changed;        /* bounds moved by this call; JACOBI: each bound counts once per round */
    int64_t nonzeros;       /* in the rows that this call evaluated */
    int32_t infeasible_row; /* INFEASIBLE: the lowest row found that no x within the bounds satisfies, or -1 */
    int32_t infeasible_col; /* INFEASIBLE: the lowest column whose bounds cross, or -1 */
    /* MORE and LIMIT: the largest share by which the last round shortened a domain; 1: an infinite bound became finite.
     * Else 0. If it stays below 1e-3, stop (doc/propagation.md). */
    double shrinkage;
} gpuopt_propagator_info;
/* Creates a propagator. ARGUMENT: a value is out of range; the log has its position. UNSUPPORTED: GAUSS_SEIDEL on the
 * GPU or without marking; a driver that the device lacks; a trail or spare rows without marking or with the drivers
 * HOST and GRAPH; too many rows or columns. */
GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_memory_plan *plan, gpuopt_propagator **propagator);
/* Destroys a propagator, after waiting for its enqueued rounds. */
GPUOPT_API void gpuopt_propagator_destroy(gpuopt_propagator *propagator);
/* Does up to `rounds` (at least 1) rounds. It ends earlier at a fixpoint (CONVERGED), with LIMIT or INFEASIBLE, when
 * the trail is full (FULL), or when the stop hook asks (MORE). After INFEASIBLE it does no rounds until bounds or sides
 * are set. info NULL: the GPU only enqueues them. */
GPUOPT_API gpuopt_status gpuopt_propagator_round(gpuopt_propagator *propagator, int32_t rounds,
                                                 gpuopt_propagator_info *info);
/* Fills `info` with what the last _round found. Waits for enqueued rounds. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info);
/* Reads the bounds lb and ub [count] (either may be NULL) of the columns col [count]. col NULL: all columns;
 * count is 0 or their number. Infinite bounds are IEEE infinities. ARGUMENT: a column in host memory is out of range;
 * one in device memory gives NaN. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, double *lb, double *ub);
/* Sets the bounds lb and ub [count] of the columns col [count]; lb or ub NULL: these stay. col NULL: as in _get_bounds.
 * A column listed twice gets one of its values. Bounds of integer columns are rounded to integers; FP32 rounds
 * outwards. ARGUMENT: NaN, lb >= infinity, ub <= -infinity, or a column out of range, in device memory, too. MEMORY:
 * the trail is full. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, const double *lb,
                                                      const double *ub);
/* Sets the sides lhs and rhs [count] of the distinct rows row [count]. ARGUMENT: a row is out of range, NaN, lhs > rhs,
 * lhs >= infinity or rhs <= -infinity, in device memory, too. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_sides(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                     int64_t count, const int32_t *row, const double *lhs,
                                                     const double *rhs);

/* Bits of a row's status, each within the feasibility tolerance; 0: the row may still tighten a bound. */
typedef enum gpuopt_propagator_row {
    GPUOPT_ROW_LHS_REDUNDANT = 1, /* the bounds imply the lhs */
    GPUOPT_ROW_RHS_REDUNDANT = 2, /* the bounds imply the rhs */
    GPUOPT_ROW_REDUNDANT = 3,     /* both */
    GPUOPT_ROW_INFEASIBLE = 4     /* no x within the bounds satisfies the row */
} gpuopt_propagator_row;

/* Where _get_rows writes. Each array is [rows + spare rows] or NULL; unused spare rows are empty rows without sides. An
 * activity is the sum of the row's finite terms; it bounds a'x if its count of infinite terms is 0. */
typedef struct gpuopt_propagator_row_report {
    size_t struct_size;                   /* sizeof(gpuopt_propagator_row_report) */
    double *min_activity, *max_activity;  /* least and greatest activity */
    int32_t *min_infinite, *max_infinite; /* counts of terms that are infinite or beyond huge_value */
    uint8_t *status;                      /* GPUOPT_ROW_ bits */
} gpuopt_propagator_row_report;
/* Computes the rows' activities and status at the current bounds. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                    const gpuopt_propagator_row_report *report);
/* Lends the GPU's array of bounds: [cols][2] numbers, FP64 or FP32; pair j is (lb, ub) of column j. UNSUPPORTED: on the
 * CPU. */
GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_device_view *view);

/* ---- Basis inverse of the revised simplex method ------------------------------------------------------------------ *
 * The dense inverse of an m x m basis matrix B whose columns are replaced one at a time; doc/basis.md has the method
 * and the paper that it comes from. With the pivot column alpha = B^-1 a_q, an update makes the new inverse of the old
 * one. There is no outcome: an update is made, or refused with GPUOPT_ERROR_NUMERIC. On the GPU, cuBLAS and cuSOLVER
 * are used from m = 512 on where they are installed. */

/* An inverse, with its updates. */
typedef struct gpuopt_basis gpuopt_basis;

/* How an update is carried out. In the comments below, K is deferred_updates. */
typedef enum gpuopt_basis_technique {
    /* B^-1 = B0^-1 + U V, where U has up to K columns; every K updates, one matrix product applies them to B0^-1. The
     * fastest. */
    GPUOPT_TECHNIQUE_DEFERRED = 0,
    GPUOPT_TECHNIQUE_PFI,     /* a full matrix product: 2 m^3 operations (Spampinato and Elster 2009) */
    GPUOPT_TECHNIQUE_MPFI,    /* outer product, zeroed row, matrix sum (Ploskas and Samaras 2015) */
    GPUOPT_TECHNIQUE_COLUMN,  /* one thread per column, omega in shared memory (He et al. 2018) */
    GPUOPT_TECHNIQUE_ELEMENT, /* one thread per element, into a second matrix, copied back (Bieling et al. 2010) */
    GPUOPT_TECHNIQUE_ELEMENT_MODIFIED, /* one thread per element, in place; the pivot row is saved first */
    GPUOPT_TECHNIQUE_ELEMENT_PROPOSED  /* the same with omega computed beforehand: no branch, no division */
} gpuopt_basis_technique;

/* A basis inverse to be created. */
typedef struct gpuopt_basis_desc {
    size_t struct_size;               /* sizeof(gpuopt_basis_desc) */
    int32_t m;                        /* rows and columns of B, 0 to 2^28 */
    gpuopt_basis_technique technique; /* 0: DEFERRED */
    int32_t deferred_updates;         /* K of DEFERRED, 1 to 256; 0: 16 on the CPU, 64 on the GPU, 192 with cuBLAS */
    /* An update is refused unless |alpha[position]| exceeds this times max |alpha|. A load is refused if a column
     * offers no pivot greater than this, after scaling. Below 1; 0: 1e-11. */
    double pivot_tolerance;
} gpuopt_basis_desc;

/* The state of a basis. */
typedef struct gpuopt_basis_info {
    size_t struct_size;       /* sizeof(gpuopt_basis_info) */
    int64_t updates;          /* made since the latest load */
    int32_t deferred_updates; /* K; 0 with the other techniques */
    int32_t pending;          /* updates in U V, not yet applied to B0^-1 */
    int32_t refused_position; /* of the latest load or update refused with NUMERIC; -1: none since the latest load */
} gpuopt_basis_info;
/* Creates a basis with the identity loaded. UNSUPPORTED (CUDA): no cooperative launch, or m is too large for COLUMN. */
GPUOPT_API gpuopt_status gpuopt_basis_create(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                             gpuopt_memory_plan *plan, gpuopt_basis **basis);
/* Destroys a basis. */
GPUOPT_API void gpuopt_basis_destroy(gpuopt_basis *basis);
/* Replaces the inverse by that of columns, which is B, m x m; NULL: the identity. NUMERIC: B is singular or nearly so,
 * or its inverse cannot be represented; refused_position and the log name a dependent column. Waits. */
GPUOPT_API gpuopt_status gpuopt_basis_load(gpuopt_basis *basis, const gpuopt_matrix *columns);
/* FTRAN: x = B^-1 a, which also becomes the pivot column for _update. row NULL: a is rhs [m], and count is 0 or m. Else
 * a is sparse: rhs [count] in the distinct rows row [count], not 0. x [m] may be rhs or NULL. ARGUMENT: rhs is NULL, or
 * not finite in host memory; a sparse entry is out of range, in device memory, too, for which the call waits. */
GPUOPT_API gpuopt_status gpuopt_basis_ftran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t count,
                                            const int32_t *row, const double *rhs, double *x);
/* BTRAN: y = B^-T c, with position -1. With c NULL, c is the unit vector of `position`, and y [m] row `position` of
 * B^-1. c and y [m] may be the same array. ARGUMENT: c is NULL or not finite in host memory, y is NULL, or position is
 * out of range. */
GPUOPT_API gpuopt_status gpuopt_basis_btran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position,
                                            const double *c, double *y);
/* Replaces column `position` of B by the one whose FTRAN is alpha [m]; NULL: that of the latest FTRAN. info NULL: the
 * update is only enqueued, and alpha must be NULL or in device memory; if its pivot is too small, it is left out, and
 * _get_info names its position. STATE: alpha is NULL, without an FTRAN since the latest load or update. NUMERIC: the
 * pivot is too small, or alpha in device memory is not finite; only refused_position changes. */
GPUOPT_API gpuopt_status gpuopt_basis_update(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position,
                                             const double *alpha, gpuopt_basis_info *info);
/* Fills `info`. Waits for enqueued updates. */
GPUOPT_API gpuopt_status gpuopt_basis_get_info(gpuopt_basis *basis, gpuopt_basis_info *info);
/* Reads inverse [m][m], row after row, after applying pending updates. */
GPUOPT_API gpuopt_status gpuopt_basis_get_inverse(gpuopt_basis *basis, gpuopt_memory_space where, double *inverse);

/* ---- Linear programs: the simplex method, in whole iterations or step by step ------------------------------------- *
 *     min or max  cost'x + offset   subject to   lhs <= A x <= rhs,   lb <= x <= ub
 * The primal simplex method with bounded variables, after Meyer, Albuquerque, Chopard: A multi-GPU implementation and
 * performance model for the standard simplex method (2011), and the dual one; doc/simplex.md.
 *
 * Variables 0 .. cols - 1 are the columns; variable cols + i is the activity of row i, whose bounds are the row's
 * sides. A basis has `rows` basic variables. The first basis consists of the activities.
 *
 * Memory  8 rows * cols bytes with TABLEAU, 8 rows^2 with REVISED on the GPU, plus what is linear in rows, cols and
 *         nonzeros. REVISED on the CPU keeps sparse factors, whose memory may grow during a call.
 * Bits    On one backend the same calls give the same bits. CPU and GPU do the same pivots unless two candidates agree
 *         up to rounding. */

/* A linear program being solved. */
typedef struct gpuopt_simplex gpuopt_simplex;

/* What is kept of the basis. */
typedef enum gpuopt_simplex_method {
    GPUOPT_METHOD_AUTO = 0, /* TABLEAU for dense models and groups, else REVISED; doc/simplex.md */
    GPUOPT_METHOD_TABLEAU,  /* B^-1 N, dense, of the nonbasic variables */
    GPUOPT_METHOD_REVISED   /* B^-1, on the CPU as sparse factors, on the GPU dense; pricing uses the sparse A */
} gpuopt_simplex_method;

/* Which method iterates. */
typedef enum gpuopt_simplex_algorithm {
    GPUOPT_ALGORITHM_AUTO = 0, /* DUAL where the basis is dual and not primal feasible; else, or in a group, PRIMAL */
    GPUOPT_ALGORITHM_PRIMAL,   /* the primal method */
    GPUOPT_ALGORITHM_DUAL      /* the dual one from any basis, in two phases if it is not dual feasible */
} gpuopt_simplex_algorithm;

/* How the dual method chooses the leaving variable. */
typedef enum gpuopt_simplex_dual_pricing {
    GPUOPT_DUAL_PRICING_STEEPEST_EDGE = 0, /* Forrest and Goldfarb (1992): norms of the rows of B^-1, exact at first */
    GPUOPT_DUAL_PRICING_DEVEX,             /* the same paper, with a reference framework */
    GPUOPT_DUAL_PRICING_DANTZIG            /* the largest infeasibility */
} gpuopt_simplex_dual_pricing;

/* How the primal method chooses the entering variable. */
typedef enum gpuopt_simplex_pricing {
    GPUOPT_PRICING_DEVEX = 0,    /* Forrest and Goldfarb (1992), with a reference framework */
    GPUOPT_PRICING_DANTZIG,      /* the largest reduced cost */
    GPUOPT_PRICING_STEEPEST_EDGE /* exact norms of the columns of B^-1 N; sets deferred_pivots to 1, not with factors */
} gpuopt_simplex_pricing;

/* How the primal method chooses the leaving variable. */
typedef enum gpuopt_simplex_ratio {
    GPUOPT_RATIO_HARRIS = 0, /* Harris (1973): the largest pivot among the rows that block within the tolerance */
    GPUOPT_RATIO_EXPAND,     /* Gill, Murray, Saunders, Wright (1989): the tolerance grows, every step is positive */
    GPUOPT_RATIO_TEXTBOOK    /* the smallest ratio; the larger pivot among equal ones */
} gpuopt_simplex_ratio;

/* Where a variable is. */
typedef enum gpuopt_simplex_variable {
    GPUOPT_VARIABLE_BASIC = 0, /* in the basis */
    GPUOPT_VARIABLE_AT_LOWER,  /* nonbasic, at its lower bound */
    GPUOPT_VARIABLE_AT_UPPER,  /* nonbasic, at its upper bound */
    GPUOPT_VARIABLE_AT_ZERO    /* nonbasic and free */
} gpuopt_simplex_variable;

/* Tolerances. The first two hold on the original and on the scaled model. */
typedef struct gpuopt_simplex_tolerances {
    size_t struct_size; /* sizeof(gpuopt_simplex_tolerances) */
    double primal;      /* of bounds and sides, 1e-12 to 1e-3; 0: 1e-9 */
    double dual;        /* of reduced costs, 1e-12 to 1e-3; 0: 1e-9 */
    double pivot;       /* least |pivot|, and relative to its column; 1e-14 to 0.5; 0: 1e-7 */
} gpuopt_simplex_tolerances;

/* How a method chooses variables and pivots, and when it recomputes. */
typedef struct gpuopt_simplex_rules {
    size_t struct_size;                       /* sizeof(gpuopt_simplex_rules) */
    gpuopt_simplex_pricing pricing;           /* 0: DEVEX */
    gpuopt_simplex_dual_pricing dual_pricing; /* 0: STEEPEST_EDGE */
    gpuopt_simplex_ratio ratio;               /* 0: HARRIS */
    gpuopt_switch perturbation; /* bounds relaxed at random until the first optimum; off: only if it cycles */
    uint64_t seed;              /* of the perturbation */
    gpuopt_switch scaling;      /* geometric, then equilibration, by powers of two; default on */
    int32_t deferred_pivots;    /* K, 1 to 256: pivots applied, or factored, at once; 0: 64, CPU TABLEAU: 16 */
    int32_t rebuild_pivots;     /* most iterations between two rebuilds; 0: 1000 */
} gpuopt_simplex_rules;

/* A linear program, and how to solve it. */
typedef struct gpuopt_simplex_desc {
    size_t struct_size;   /* sizeof(gpuopt_simplex_desc) */
    gpuopt_matrix matrix; /* A; start == NULL: A is dense, see below; rows <= 2^28, rows + cols <= 2^31 - 65 */
    const double *dense;  /* A by columns: entry (i, j) is dense[j * matrix.rows + i]; finite; zeros are dropped */
    const double *cost;   /* [cols], finite; NULL: 0 */
    double offset;        /* finite */
    int maximize;         /* not 0: maximise */
    const double *lhs;    /* [rows]; NULL: no left-hand sides */
    const double *rhs;    /* [rows], not below lhs; NULL: no right-hand sides */
    const double *lb;     /* [cols]; NULL: 0 */
    const double *ub;     /* [cols]; NULL: infinity */
    double infinity;      /* a side or bound of this size or more is infinite; at least 1; 0: 1e20 */
    gpuopt_simplex_method method;                /* 0: AUTO */
    gpuopt_simplex_algorithm algorithm;          /* 0: AUTO */
    const gpuopt_simplex_tolerances *tolerances; /* NULL: the defaults */
    const gpuopt_simplex_rules *rules;           /* NULL: the defaults */
    const gpuopt_spare *spare;                   /* NULL: none */
    int64_t iteration_limit;                     /* over the handle's life, then LIMIT; 0: none */
    gpuopt_group *group;                         /* of this context, whose ranks share the tableau; NULL: none */
} gpuopt_simplex_desc;

/* The state of a handle. */
typedef struct gpuopt_simplex_info {
    size_t struct_size;                 /* sizeof(gpuopt_simplex_info) */
    gpuopt_outcome outcome;             /* MORE, OPTIMAL, INFEASIBLE, UNBOUNDED, IMPRECISE, LIMIT, CUTOFF */
    gpuopt_simplex_method method;       /* in use: TABLEAU or REVISED */
    gpuopt_simplex_algorithm algorithm; /* in use; AUTO: each basis decides */
    int32_t phase;            /* 1: some basic variable is outside its bounds, or the dual method iterates; else 2 */
    int64_t iterations;       /* pivots and flips since _create */
    int64_t flips;            /* of them, moves from one bound to the other */
    int64_t rebuilds;         /* recomputations of x and duals */
    int64_t refactorizations; /* recomputations of the inverse */
    int32_t deferred_pivots;  /* K */
    double objective;         /* of the present x, offset included */
    double infeasibility;     /* total by which the present x and A x are outside their bounds */
    /* On the original data, absolute, at the last rebuild; -1 before the first one. */
    double primal_violation; /* largest violation of a bound or side */
    double dual_violation;   /* largest |reduced cost| of the wrong sign; -1 in phase 1 */
    /* INFEASIBLE: by how much the two sides of the proof differ; with crossing bounds, lb - ub. UNBOUNDED: the gain of
     * cost'd along the ray d. Both less all rounding errors. */
    double certificate_margin;
    double certificate_residual; /* of the proof towards infinite bounds, or of the ray in rows; doc/simplex.md */
    int32_t crossing;            /* the first column with lb > ub; -1: none */
    /* The least tolerances with which the point of the last rebuild, in twice the working precision, would be OPTIMAL:
     * in units of max(1, |bound|) and of max(1, |cost|). -1 as the violations. */
    double primal_reached, dual_reached;
    int64_t dual_iterations;    /* pivots of the dual method */
    gpuopt_certainty certainty; /* of OPTIMAL */
    double backward_error; /* OPTIMAL: the largest violation as a share of its terms' sizes, maybe infinite; else -1 */
} gpuopt_simplex_info;
/* Creates a handle at the basis of the activities, each column at lb (at ub or 0 if that is infinite). ARGUMENT: a
 * value is out of range; the log says where. UNSUPPORTED: the model is too large, or an option does not go with a
 * group. */
GPUOPT_API gpuopt_status gpuopt_simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                               gpuopt_memory_plan *plan, gpuopt_simplex **simplex);
/* Destroys a handle. */
GPUOPT_API void gpuopt_simplex_destroy(gpuopt_simplex *simplex);
/* Does up to `iterations` (>= 1) iterations, fewer if the outcome is known. Outcomes are about the original data:
 *   OPTIMAL     The point, in twice the working precision, violates no bound or side by more than tolerances.primal *
 *               max(1, |bound|), and no reduced cost has the wrong sign by more than tolerances.dual * max(1, |cost|).
 *               `certainty` names the first of these that holds:
 *               EXACT      The basis is optimal in exact arithmetic.
 *               ROUNDING   x, clipped to its bounds, and the duals are each feasible for data that differ by rounding.
 *                          The two objectives differ by at most tolerances.dual * max(1, |objective|).
 *               TOLERANCE  The objectives differ by no more than that.
 *   INFEASIBLE  Proven: certificate_margin > 0. No x whose unbounded columns are below 1e24 meets all rows.
 *   UNBOUNDED   Proven: x is feasible within the tolerance, and along the ray the objective gains at least 1e18.
 *   CUTOFF      Proven: no solution is better than the cutoff (gpuopt/search.h).
 *   IMPRECISE   None of these; the log has the reason.
 * NUMERIC: a number of the optimum is beyond the range of double; the handle keeps the last basis reached. MEMORY: the
 * factors could not grow; call again. */
GPUOPT_API gpuopt_status gpuopt_simplex_iterate(gpuopt_simplex *simplex, int64_t iterations, gpuopt_simplex_info *info);
/* Fills `info`. If there was no rebuild since _create or _set_basis, does one. NUMERIC, of every call that fills this
 * info: a number is beyond the range of double. The rest of the call is done. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_info(gpuopt_simplex *simplex, gpuopt_simplex_info *info);

/* A candidate to enter the basis. */
typedef struct gpuopt_simplex_entering {
    size_t struct_size;  /* sizeof(gpuopt_simplex_entering) */
    int32_t variable;    /* nonbasic, improves the objective of the present phase; -1: none, the phase has ended */
    int32_t direction;   /* 1: it increases, -1: it decreases */
    double reduced_cost; /* scaled, of the minimisation in the present phase */
    double score;        /* reduced_cost^2 / weight; of a free variable 1e4 times that */
} gpuopt_simplex_entering;

/* A candidate to leave the basis. */
typedef struct gpuopt_simplex_leaving {
    size_t struct_size; /* sizeof(gpuopt_simplex_leaving) */
    int32_t variable;   /* basic, blocks first; -1: none, or see `unsafe` */
    int32_t flip;       /* not 0: the entering variable reaches its other bound first: call _flip */
    int32_t to_upper;   /* not 0: the leaving variable stops at its upper bound */
    double step;        /* of the entering variable, scaled, >= 0; infinite: nothing blocks, the phase is unbounded */
    double pivot;       /* the entry in the pivot column, scaled */
    int32_t unsafe;     /* not 0: what blocks has too small a pivot; try another candidate, or _rebuild with refactor */
} gpuopt_simplex_leaving;

/* One iteration by hand: _price, _ratio_test, then _pivot or _flip. If a rebuild is due, the next of these calls
 * performs it first, even if the call itself then fails with NUMERIC.
 *
 * If _price finds no variable, or nothing blocks the entering one, call _iterate for the outcome. While bounds cross,
 * _price finds no variable, and the others return STATE. NUMERIC: the basis is singular, and repairing it failed. */

/* Chooses the variable to enter by the pricing rule, and fills `entering`. Moves nothing. */
GPUOPT_API gpuopt_status gpuopt_simplex_price(gpuopt_simplex *simplex, gpuopt_simplex_entering *entering);
/* Chooses the variable to leave if the nonbasic variable `entering` moves in `direction` (1 or -1), and fills
 * `leaving`. Moves nothing. ARGUMENT: the variable is basic, or is at its bound in that direction. */
GPUOPT_API gpuopt_status gpuopt_simplex_ratio_test(gpuopt_simplex *simplex, int32_t entering, int32_t direction,
                                                   gpuopt_simplex_leaving *leaving);
/* Moves the nonbasic variable `entering` until the basic variable `leaving` reaches its lower bound (to_upper: its
 * upper one), then exchanges the two. Other basic variables may leave their bounds: the handle is then in phase 1. info
 * may be NULL. ARGUMENT: not nonbasic, not basic, or that bound is infinite. NUMERIC: the pivot is below
 * tolerances.pivot, or below that times the largest entry of its column. */
GPUOPT_API gpuopt_status gpuopt_simplex_pivot(gpuopt_simplex *simplex, int32_t entering, int32_t leaving, int to_upper,
                                              gpuopt_simplex_info *info);
/* Moves a nonbasic variable to its other bound. ARGUMENT: it is basic, or does not have two different finite bounds. */
GPUOPT_API gpuopt_status gpuopt_simplex_flip(gpuopt_simplex *simplex, int32_t variable, gpuopt_simplex_info *info);
/* Recomputes x, duals and reduced costs from the original data; if refactor is not 0 the inverse, too. Removes the
 * perturbation of the bounds. */
GPUOPT_API gpuopt_status gpuopt_simplex_rebuild(gpuopt_simplex *simplex, int refactor, gpuopt_simplex_info *info);
/* Gets the basis: status [cols + rows], a gpuopt_simplex_variable each. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_basis(gpuopt_simplex *simplex, gpuopt_memory_space where, uint8_t *status);
/* Sets the basis: status [cols + rows], `rows` of them BASIC; the outcome is MORE again. A nonbasic variable whose
 * status names an infinite bound goes to its other one, or to 0. ARGUMENT: a status is out of range, in device memory,
 * too, or the number of BASIC ones is wrong. NUMERIC: the basis is singular; the log names a variable. MEMORY: no
 * memory to keep the old inverse. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_basis(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                  const uint8_t *status);

/* The next three calls change the model of a handle: basis, inverse and scales stay, and the outcome is MORE again. A
 * nonbasic variable goes to its new bound, or to the other one if that has become infinite. Lists are in the memory
 * that `where` says; col or row NULL: all, and count is 0 or their number. Of entries for one line the last counts.
 * ARGUMENT: as for _create, in device memory, too. NUMERIC: a value would overflow or lose digits when scaled. */

/* Sets lb and ub [count] of the columns col [count]; lb or ub NULL: these bounds stay. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_bounds(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                   const int32_t *col, const double *lb, const double *ub);
/* Sets lhs and rhs [count] of the rows row [count]. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_sides(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                  const int32_t *row, const double *lhs, const double *rhs);
/* Sets cost [count] of the columns col [count]. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_costs(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                  const int32_t *col, const double *cost);

/* The present point, for the original data. Each array may be NULL. */
typedef struct gpuopt_simplex_solution {
    size_t struct_size;   /* sizeof(gpuopt_simplex_solution) */
    double *x;            /* [cols] */
    double *reduced_cost; /* [cols] cost - A' dual */
    double *activity;     /* [rows] A x */
    double *dual;         /* [rows] change of the objective per unit of the row's active side */
    double *x_low;        /* [cols] low words: x + x_low is the point in twice the working precision */
    double *dual_low;     /* [rows] likewise of dual */
} gpuopt_simplex_solution;
/* Gets the present point, after a rebuild if anything has moved. NUMERIC: a number is beyond the range of double. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_solution(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                     const gpuopt_simplex_solution *solution);

/* What proves INFEASIBLE or UNBOUNDED. Each array may be NULL. */
typedef struct gpuopt_simplex_proof {
    size_t struct_size; /* sizeof(gpuopt_simplex_proof) */
    /* INFEASIBLE: y [rows] with min { y'A x : lb <= x <= ub } > max { y'r : lhs <= r <= rhs }, infinite bounds of
     * columns counting as 1e24. If bounds cross, y is 0: the bounds of column info.crossing are the proof. */
    double *farkas;
    double *farkas_low; /* [rows] low words, which the proof may need */
    /* UNBOUNDED: d [cols]; along x + t (ray + ray_low), t >= 0, no column comes
     * nearer to a finite bound, and rows move towards finite sides by at most t * certificate_residual. */
    double *ray;
    double *ray_low; /* [cols] low words */
} gpuopt_simplex_proof;
/* Gets the proof. STATE: a requested array does not belong to the outcome. Not collective. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_proof(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                  const gpuopt_simplex_proof *proof);

/* ---- Graphical models: bucket and mini-bucket elimination --------------------------------------------------------- *
 * Fioretto, Pontelli, Yeoh, Dechter: Accelerating Exact and Approximate Inference for (Distributed) Discrete
 * Optimization with GPUs (2018); doc/elimination.md. A model is a set of variables with finite domains and a set of
 * functions, which are tables over some of the variables. The cost of an assignment is the sum of the functions.
 * Eliminating a variable replaces its bucket, all functions that mention it, by one function, the message: for each
 * assignment of the bucket's other variables, the least sum over the variable's values. MINI_BUCKET splits a bucket
 * that mentions more than z variables into mini-buckets with a message each; the result is then a bound.
 *
 * Integer costs are stored in the narrowest of 8, 16, 32 and 64 bits in which no sum can overflow, which _create
 * proves. INT64 models give the same bits on every backend. */

/* A model being eliminated. */
typedef struct gpuopt_elimination gpuopt_elimination;

/* What the result of an elimination is. */
typedef enum gpuopt_elimination_semiring {
    GPUOPT_SEMIRING_MIN_SUM = 0, /* the least sum of the functions */
    GPUOPT_SEMIRING_MAX_SUM,     /* the greatest sum */
    GPUOPT_SEMIRING_LOG_SUM_EXP, /* DOUBLE: ln of the sum of exp(cost) over all assignments; ln Z of log factors */
    GPUOPT_SEMIRING_MIN_COUNT    /* INT64: MIN_SUM, and how many assignments attain it */
} gpuopt_elimination_semiring;

/* The type of a model's costs. */
typedef enum gpuopt_elimination_cost {
    GPUOPT_COST_INT64 = 0, /* exact; cost arrays are read and written */
    GPUOPT_COST_DOUBLE     /* value arrays are read and written */
} gpuopt_elimination_cost;

/* One function: a dense table, or a list of tuples with a cost for all others. The cost INT64_MAX (MAX_SUM: INT64_MIN)
 * is forbidden whatever top is. A struct of zeros is the constant 0. No member will be added. */
typedef struct gpuopt_elimination_function {
    int32_t arity;         /* variables; 0: a constant */
    const int32_t *scope;  /* [arity] distinct variables */
    int64_t tuples;        /* how many are listed; -1, or 0 with tuple NULL and costs: dense */
    const int32_t *tuple;  /* [tuples][arity] values, in the scope's order; of equal tuples the last one counts */
    const int64_t *cost;   /* [tuples]; dense: [product of the domain sizes], the scope's last variable fastest */
    const double *value;   /* the same for DOUBLE: finite; or forbidden: +infinity (MIN_SUM), else -infinity */
    int64_t default_cost;  /* of all tuples that are not listed */
    double default_value;  /* the same for DOUBLE */
    const uint64_t *count; /* MIN_COUNT, dense, as cost: how often each entry counts (a child's message); NULL: once */
} gpuopt_elimination_function;

/* What is least, in the remaining graph, for the variable that an order eliminates next. */
typedef enum gpuopt_elimination_heuristic {
    GPUOPT_HEURISTIC_BEST = 0,          /* all three, and the best order is improved by annealing */
    GPUOPT_HEURISTIC_MIN_FILL,          /* edges that its elimination adds */
    GPUOPT_HEURISTIC_WEIGHTED_MIN_FILL, /* the sum over these edges of the product of the two domain sizes */
    GPUOPT_HEURISTIC_MIN_DEGREE         /* neighbours */
} gpuopt_elimination_heuristic;

/* What is done if the tables do not fit into memory. Every policy except MINI_BUCKET gives the exact answer. */
typedef enum gpuopt_elimination_policy {
    GPUOPT_POLICY_AUTO = 0,   /* the first of the following that fits, within limits (doc/elimination.md) */
    GPUOPT_POLICY_EXACT,      /* all tables in memory */
    GPUOPT_POLICY_DROP,       /* messages are discarded once read; best values are kept for _assign */
    GPUOPT_POLICY_RECOMPUTE,  /* DROP, with the best values of as many variables as fit; _assign eliminates again */
    GPUOPT_POLICY_SLICE,      /* some variables are fixed, for each of at most 2^32 combinations of their values */
    GPUOPT_POLICY_STREAM,     /* CUDA: the largest tables lie in host memory and go through the device in chunks */
    GPUOPT_POLICY_MINI_BUCKET /* a bound; not with MIN_COUNT */
} gpuopt_elimination_policy;

/* How an order is searched for. */
typedef struct gpuopt_elimination_order_search {
    size_t struct_size;                     /* sizeof(gpuopt_elimination_order_search) */
    gpuopt_elimination_heuristic heuristic; /* default BEST */
    int32_t restarts; /* runs of each heuristic with other ties, 1 to 1e6; 0: chosen by the size */
    uint64_t seed;    /* of ties and of annealing */
    double seconds;   /* BEST: a budget to find a better order, by the context's hook, up to 1e9; 0: none */
    int64_t work;     /* BEST: a budget in moves of annealing; 0: none */
} gpuopt_elimination_order_search;

/* The memory for tables, which decides the policy. */
typedef struct gpuopt_elimination_memory {
    size_t struct_size;            /* sizeof(gpuopt_elimination_memory) */
    uint64_t bytes;                /* of device memory (CPU: of host memory) to use; 0: what is free (CPU: no limit) */
    uint64_t host_bytes;           /* STREAM: for tables in host memory; 0: no limit, and AUTO does not use STREAM */
    gpuopt_switch retain_messages; /* OFF: read messages are overwritten; default: ON, except with DROP, RECOMPUTE */
} gpuopt_elimination_memory;

/* Messages from other models and to them, see gpuopt/inference.h. */
typedef struct gpuopt_elimination_messages gpuopt_elimination_messages;

/* A model, and how it is eliminated. */
typedef struct gpuopt_elimination_desc {
    size_t struct_size;                          /* sizeof(gpuopt_elimination_desc) */
    int32_t variables;                           /* 0 to 2^29 - 1 */
    const int32_t *domain;                       /* [variables] number of values, 1 or more */
    int32_t functions;                           /* 0 to 2^29 - 1 */
    const gpuopt_elimination_function *function; /* [functions] */
    gpuopt_elimination_cost type;                /* default INT64 */
    gpuopt_elimination_semiring semiring;        /* default MIN_SUM */
    /* INT64, 0 or more: a cost of at least top is forbidden (MAX_SUM: of at most -top), and so is an assignment whose
     * sum reaches it. 0: no such limit. */
    int64_t top;
    /* The variables to eliminate, in this order: [order_count], distinct. NULL: all, in an order that is searched for.
     * Variables that are missing stay in the messages' scopes, and _assign takes their values as given. */
    const int32_t *order;
    int32_t order_count;     /* 0 if order is NULL */
    const int32_t *evidence; /* [evidence_count] distinct, not in order: fixed to 0, or to what _set_evidence gives */
    int32_t evidence_count;  /* variables in evidence */
    int32_t batch_size;      /* copies of the model, each with its own evidence: 1 to 2^24, 0: 1 */
    gpuopt_elimination_policy policy; /* default AUTO */
    int32_t z;                        /* MINI_BUCKET: most variables in a mini-bucket; 0: the most that fits */
    const gpuopt_elimination_order_search *order_search; /* NULL: all by default, like the next two */
    const gpuopt_elimination_memory *memory;
    const gpuopt_elimination_messages *messages;
    gpuopt_group *group; /* of this context, whose ranks share the model; NULL: none */
} gpuopt_elimination_desc;

/* What an elimination will take, known before anything is allocated. */
typedef struct gpuopt_elimination_estimate {
    size_t struct_size;               /* sizeof(gpuopt_elimination_estimate) */
    gpuopt_elimination_policy policy; /* the one that will be used */
    int32_t bits;                     /* of a stored cost: 8, 16, 32, 64 */
    int32_t width;                    /* variables in the largest message's scope */
    int32_t z;                        /* MINI_BUCKET: the one used, else 0 */
    int32_t messages;                 /* more than variables with mini-buckets */
    int32_t levels;                   /* longest chain of buckets that wait for one another */
    int32_t sliced;                   /* SLICE: variables fixed */
    int64_t slices;                   /* combinations of their values; 1 without SLICE */
    double entries;                   /* of all messages, of one copy and slice */
    double largest;                   /* entries of the largest message */
    double operations;                /* joined rows times tables, over all copies and slices */
    double bytes_moved;               /* each table read once by each bucket that needs it, and written once */
    gpuopt_memory_plan memory;        /* as _create plans it; the library sets struct_size */
    int32_t passes;                   /* RECOMPUTE: passes of the value phase; else 1 */
    uint64_t policy_bytes[7];         /* what each policy would take; UINT64_MAX: too much; 0: not tried */
    double policy_operations[7];      /* their operations; 0: not counted */
    /* With several ranks all of the above is about this rank's part, and: */
    int32_t split;    /* variables of which it has not all values */
    double exchanged; /* bytes that it sends at most in one _step and _assign */
} gpuopt_elimination_estimate;
/* Finds an elimination order, and estimates what the elimination takes. A given desc->order is used as it is. order
 * [variables] or NULL: receives the variables to eliminate, then -1. parent [variables] or NULL: parent[v] is the
 * variable in whose bucket v's first message is put, or -1. estimate may be NULL. ARGUMENT, NUMERIC: as _create.
 * UNSUPPORTED: the policy does not fit the limit. The stop hook ends the search with the best order found so far. */
GPUOPT_API gpuopt_status gpuopt_elimination_order(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                  int32_t *order, int32_t *parent,
                                                  gpuopt_elimination_estimate *estimate);
/* Creates a handle. ARGUMENT, with the function and entry in the log: NaN, values or variables out of range, a variable
 * twice in a scope, a refused message. NUMERIC: some sum of costs does not fit 63 bits or (DOUBLE) could be infinite.
 * UNSUPPORTED, with the bytes in the log: the policy does not fit the limit. */
GPUOPT_API gpuopt_status gpuopt_elimination_create(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                   gpuopt_memory_plan *plan, gpuopt_elimination **elimination);
/* Destroys a handle. */
GPUOPT_API void gpuopt_elimination_destroy(gpuopt_elimination *elimination);

/* The state of a copy of the model. */
typedef struct gpuopt_elimination_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_info) */
    /* MORE: not all variables have been eliminated. Then OPTIMAL: cost is exact; INFEASIBLE: every assignment is
     * forbidden; CONVERGED: cost is a bound (MINI_BUCKET), or the order left variables over. */
    gpuopt_outcome outcome;
    int32_t variable;   /* eliminated last; -1: none yet */
    int64_t eliminated; /* steps done: variables, times slices */
    int64_t steps;      /* steps in all; 1 for a model without variables */
    int64_t cost;       /* after the last step; MINI_BUCKET: at most the optimum (MAX_SUM, LOG_SUM_EXP: at least) */
    double value;       /* the same for DOUBLE */
    uint64_t count;     /* MIN_COUNT: assignments that attain cost; 0 if INFEASIBLE */
    int count_overflow; /* not 0: there are 2^64 - 1 or more */
} gpuopt_elimination_info;
/* Eliminates the next `variables` (1 or more) variables, or all that remain. info is copy 0's; NULL: the work is only
 * enqueued. */
GPUOPT_API gpuopt_status gpuopt_elimination_step(gpuopt_elimination *elimination, int32_t variables,
                                                 gpuopt_elimination_info *info);
/* Fills `info` for a copy of the model; without a batch that is copy 0. ARGUMENT: there is no such copy. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_get_info(gpuopt_elimination *elimination, int32_t copy,
                                                     gpuopt_elimination_info *info);

/* What the value phase found. */
typedef struct gpuopt_elimination_assignment {
    size_t struct_size; /* sizeof(gpuopt_elimination_assignment) */
    /* OPTIMAL: cost is proven optimal, given the values of the variables that the order left over. CONVERGED: a
     * feasible assignment. INFEASIBLE: none was found, which with MINI_BUCKET proves nothing. MORE: stopped; call
     * again. */
    gpuopt_outcome outcome;
    int64_t cost; /* of the assignment, from the original functions; at least the optimum (MAX_SUM: at most) */
    double value; /* the same for DOUBLE */
} gpuopt_elimination_assignment;
/* The value phase, after the last step: gives each variable, in reverse order, its best value (doc/elimination.md).
 * value [variables] holds the values of the variables that the order left over, and receives all values unless the
 * outcome is INFEASIBLE or MORE. assignment may be NULL. ARGUMENT: a value that is read is outside its domain, in
 * device memory, too. STATE: variables remain, or retain_messages is OFF. UNSUPPORTED: LOG_SUM_EXP. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_assign(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                   int32_t copy, int32_t *value,
                                                   gpuopt_elimination_assignment *assignment);

/* A message. Messages are numbered from 0 in the order in which their variables are eliminated. */
typedef struct gpuopt_elimination_message_info {
    size_t struct_size;   /* sizeof(gpuopt_elimination_message_info) */
    int32_t variable;     /* the variable eliminated; -1: the message that join_rest makes */
    int32_t parent;       /* the variable in whose bucket the message is put; -1: none */
    int32_t arity;        /* variables in its scope */
    const int32_t *scope; /* [arity], the handle's: the separator of `variable` in the pseudo-tree */
    int64_t entries;      /* product of the scope's domain sizes */
    int ready;            /* not 0: computed, and not overwritten since */
    int32_t bits;         /* of a stored cost, an unsigned integer; DOUBLE: 64, a double */
    int64_t offset;       /* a stored cost u means offset + u; MAX_SUM: -(offset + u) */
    uint64_t forbidden;   /* stored costs of this and more are forbidden */
    uint64_t model;       /* the number that the packed message carries, see gpuopt_elimination_messages; never 0 */
} gpuopt_elimination_message_info;
/* Describes a message. ARGUMENT: there is no such message. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_get_info(gpuopt_elimination *elimination, int32_t message,
                                                             gpuopt_elimination_message_info *info);
/* Reads a copy's table: cost [entries] (INT64) or value [entries] (DOUBLE), the scope's last variable fastest, and with
 * MIN_COUNT count [entries] or NULL (else NULL). Forbidden costs are INT64_MAX (MAX_SUM: INT64_MIN), or infinite.
 * STATE: the message is not ready. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_get(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                        int32_t message, int32_t copy, int64_t *cost, double *value,
                                                        uint64_t *count);

/* ---- Knapsack: branch and bound on a pool of nodes ---------------------------------------------------------------- *
 * max p x subject to w x <= C, x in {0, 1}^n, or 0 <= x <= copies_max, x integer, exactly, in integers. After
 * Boukedjar, Lalami, El Baz: Parallel Branch and Bound on a CPU-GPU System (2012); doc/knapsack.md has the method and
 * what was added to it. A node decides some of the items. A step takes the nodes of one level, decides one more item,
 * and keeps those of their children that may beat the incumbent, the best solution known.
 *
 * Memory  20 bytes per node in the pool. A pool whose size was given never grows. One of default size doubles during a
 *         call, up to 2^26 nodes. When it cannot grow, the search continues depth first, or stops with FULL.
 * Bits    With pools of one size, counts, bounds and item sets are the same on every backend, with any number of
 *         threads, and however the work is divided between calls. */

/* A search: the problem, the incumbent and the pool of nodes. */
typedef struct gpuopt_knapsack gpuopt_knapsack;

/* Which tree is searched. */
typedef enum gpuopt_knapsack_search {
    GPUOPT_SEARCH_DOMINANCE = 0, /* items around the break item first; nodes that another one dominates are dropped */
    GPUOPT_SEARCH_BREADTH,       /* the paper's tree: items by profit per weight, no dominance */
    GPUOPT_SEARCH_HYBRID /* the same, divided as in the paper: the CPU expands lists of up to hybrid_threshold nodes */
} gpuopt_knapsack_search;

/* What happens when the children of a level do not fit the pool, and it does not grow. */
typedef enum gpuopt_knapsack_on_pool_full {
    GPUOPT_ON_POOL_FULL_DEPTH_FIRST = 0, /* the level is expanded in slices, deepest level first, to the same optimum */
    GPUOPT_ON_POOL_FULL_STOP             /* the outcome is FULL, and no node is lost: pack and remove some, and go on */
} gpuopt_knapsack_on_pool_full;

/* A problem, and how it is searched. */
typedef struct gpuopt_knapsack_desc {
    size_t struct_size;                        /* sizeof(gpuopt_knapsack_desc) */
    int32_t items;                             /* n, 0 to 2^28 */
    const int64_t *weight;                     /* [items] 0 or more, in any order */
    const int64_t *profit;                     /* [items] 0 or more */
    int64_t capacity;                          /* C, 0 or more */
    gpuopt_knapsack_search search;             /* 0: DOMINANCE */
    gpuopt_knapsack_on_pool_full on_pool_full; /* 0: DEPTH_FIRST */
    int64_t pool;       /* nodes that fit, up to 2^40, at least 2 items + 8; 0: 2^20 or 8 items + 32, and it grows */
    int64_t node_limit; /* nodes expanded in the handle's life, then LIMIT; 0: none */
    /* Whether _create fixes items where the other choice could not beat the first incumbent, and bundles equal ones.
     * DEFAULT: ON with DOMINANCE, OFF with the others. */
    gpuopt_switch reduction;
    int32_t hybrid_threshold;  /* HYBRID: see there; 0: 5000 */
    const int64_t *copies_max; /* [items] most copies of each item, 0 or more; NULL: 1 */
    gpuopt_group *group;       /* of this context, whose ranks share the search; NULL: none */
    int64_t share_from;        /* with a group: levels of this many nodes are shared; 0: chosen (doc/groups.md) */
} gpuopt_knapsack_desc;
/* Creates a search with a first incumbent, and with the root in the pool. If that settles the problem, the outcome is
 * OPTIMAL at once. ARGUMENT: a member is out of range; for an array the log names the item. NUMERIC: Dantzig's bound of
 * the problem exceeds 2^63 - 1. UNSUPPORTED: with copies, more than 2^28 pieces. With DOMINANCE it may take up to 15 s
 * more, and 300 MB of temporary host memory that no plan counts (doc/knapsack.md). */
GPUOPT_API gpuopt_status gpuopt_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                gpuopt_memory_plan *plan, gpuopt_knapsack **knapsack);
/* Destroys a search. */
GPUOPT_API void gpuopt_knapsack_destroy(gpuopt_knapsack *knapsack);

/* The state of a search. Counts are over the handle's life, without the searches that recover items. */
typedef struct gpuopt_knapsack_info {
    size_t struct_size; /* sizeof(gpuopt_knapsack_info) */
    /* MORE; OPTIMAL: primal_bound is the optimum; INFEASIBLE: no solution reaches the claim, see _set_incumbent; LIMIT:
     * node_limit; FULL: see GPUOPT_ON_POOL_FULL_STOP. */
    gpuopt_outcome outcome;
    int32_t level;        /* of the nodes that are expanded next; -1: none is left */
    int64_t expanded;     /* nodes that were branched on */
    int64_t pruned;       /* nodes and children dropped by their bound, or because nothing was left to decide */
    int64_t dominated;    /* children dropped by dominance */
    int64_t alive;        /* nodes in the pool now */
    int64_t peak;         /* the most that were in the pool after a step */
    int64_t steps;        /* levels, or slices of them; a level that is skipped does not count */
    int64_t slices;       /* of these steps, those that took only a part of a level */
    int64_t primal_bound; /* the profit of the incumbent */
    int64_t dual_bound;   /* no solution has more profit; a claim does not change it; falls during the search */
    int64_t pool;         /* nodes that fit now */
    int32_t free_items;   /* items that _create left undecided, a bundle of equal ones as one: the number of levels */
} gpuopt_knapsack_info;
/* Expands level after level, until at least `nodes` nodes have been expanded, or `levels` steps made, or the search
 * ends (0: no such limit). A step is never divided. ARGUMENT: a negative number. Waits for the device after each step.
 * */
GPUOPT_API gpuopt_status gpuopt_knapsack_expand(gpuopt_knapsack *knapsack, int64_t nodes, int32_t levels,
                                                gpuopt_knapsack_info *info);
/* Fills `info`. */
GPUOPT_API gpuopt_status gpuopt_knapsack_get_info(gpuopt_knapsack *knapsack, gpuopt_knapsack_info *info);
/* Offers a solution, at any time: copies [items] of each item, at most copies_max (without it 1), and their profit. It
 * becomes the incumbent if it is better. copies NULL: a claim that some solution has at least this profit. Then only
 * such solutions are searched for; INFEASIBLE: there is none. ARGUMENT: profit is negative or not that of the copies,
 * or a number is out of range, or they are too heavy, in device memory, too. */
GPUOPT_API gpuopt_status gpuopt_knapsack_set_incumbent(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                       int64_t profit, const int64_t *copies);
/* Returns the incumbent, at any time: copies [items] of each item, and its profit and weight, one number each in host
 * memory. Any may be NULL. */
GPUOPT_API gpuopt_status gpuopt_knapsack_get_items(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                   int64_t *copies, int64_t *profit, int64_t *weight);
/* Packs nodes, the incumbent and the claim into bytes [capacity], in host memory, for a checkpoint or for another
 * handle of the same problem: the `nodes` nodes that would be expanded next (-1: all). *size (may be NULL): how many
 * bytes they take. bytes NULL: only *size. remove not 0: takes the nodes out of the pool; OPTIMAL and dual_bound then
 * refer to the rest. ARGUMENT: capacity is too small. doc/knapsack.md has the format. */
GPUOPT_API gpuopt_status gpuopt_knapsack_pack(gpuopt_knapsack *knapsack, int64_t nodes, int remove, void *bytes,
                                              uint64_t capacity, uint64_t *size);
/* Unpacks nodes, a better incumbent and the claim from bytes [size] in host memory. add 0: the pool must be empty, or
 * hold nothing but the root, which is replaced. Else the nodes join those in the pool, but with DOMINANCE it must be
 * empty. ARGUMENT: the bytes are not packed nodes, damaged, or of another problem, search or reduction. STATE: the pool
 * holds other nodes. UNSUPPORTED: the nodes do not fit the pool, or add with a group. */
GPUOPT_API gpuopt_status gpuopt_knapsack_unpack(gpuopt_knapsack *knapsack, const void *bytes, uint64_t size, int add);

#ifdef __cplusplus
}

extern "C++" { /* where this header is included in an extern "C" of the caller's, too */
/* See GPUOPT_INIT. */
template <class Struct>
inline Struct gpuopt_init() {
    Struct result = Struct();
    result.struct_size = sizeof result;
    return result;
}
}
#define GPUOPT_INIT(type) gpuopt_init<type>()
#else
/* A struct of this type with every option at its default: all bytes are zero except for struct_size. */
#define GPUOPT_INIT(type) ((type){.struct_size = sizeof(type)})
#endif

#endif /* GPUOPT_H */

#ifdef GPUOPT_IMPLEMENTATION
#include "gpuopt_impl/all.h"
#endif
