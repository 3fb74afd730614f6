/* SPDX-License-Identifier: MIT
 *
 * gpuopt: solver kernels in C, on the CPU and on NVIDIA GPUs, one step per call
 *
 * For people who write solvers: your program keeps its loop, its data structures and its decisions, and calls gpuopt
 * for one step at a time. The same calls run on a CPU (C11, no dependencies) and on a GPU (CUDA); the context chooses.
 *
 *     family              handle               a step is                                        page
 *     propagation         gpuopt_propagator    a round of bound tightening over all rows        doc/propagation.md
 *     basis inverse       gpuopt_basis         an update, FTRAN or BTRAN                        doc/basis.md
 *     linear programs     gpuopt_simplex       simplex iterations, or the parts of one          doc/simplex.md
 *     graphical models    gpuopt_elimination   a variable eliminated, a message, a value phase  doc/elimination.md
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
 * To build: compile gpuopt_impl/gpuopt.c with your program and, for the GPU, the .cu files of cuda/ with nvcc. Or
 * define GPUOPT_IMPLEMENTATION in one C or C++ file before including this header, which may be in the host's own
 * extern "C" and behind windows.h or <tgmath.h>. C11 or C++17, or later; compiler options that break IEEE arithmetic,
 * as -ffast-math does, are refused.
 *
 * What holds for every family
 * ---------------------------
 * Life       _plan says how much memory a handle takes, _create makes it, _destroy frees it (NULL is allowed). A handle
 *            belongs to its context and must be destroyed before it. Arrays of a descriptor are in host memory and
 *            are copied by _create.
 * Memory     A handle's memory is taken in _create, through the context's allocator; a step allocates nothing, and
 *            loads no kernel of this library. Four exceptions take memory during a call: a matrix in the layout
 *            that a family does not work with is transposed, see gpuopt_matrix; gpuopt_simplex_set_basis keeps the
 *            old inverse until it has the new one, or plans the pivots to it; the simplex method's REVISED on the CPU
 *            enlarges the room for factors of a basis that outgrow it; and gpuopt_knapsack_expand, _unpack and
 *            _add enlarge a pool whose size was left to the library, gpuopt_knapsack_multiple_choice_run likewise its lists, and
 *            gpuopt_knapsack_expand takes host memory for a while in long searches. The CUDA runtime's own objects,
 *            such as a stream or a graph, do not come from the allocator;
 *            pages that the GPU reads or writes directly are the allocator's, locked with cudaHostRegister.
 * Status     Almost every call returns a gpuopt_status. If it is not GPUOPT_OK, nothing that the caller can observe
 *            has changed except what the call's comment names, and the reason has gone to the log (see
 *            gpuopt_context_last_error). After GPUOPT_ERROR_DEVICE the context can only be destroyed. Calls with a
 *            NULL handle or context return GPUOPT_ERROR_ARGUMENT, and cannot log.
 * Outcome    What a step found (infeasible, optimal, ...) is not an error: it is the `outcome` in the step's info.
 * Info       A step fills an info struct with what it found. _get_info fills the same struct at any time, for the
 *            handle as it stands (propagation: with what the last round found). Before the first step the outcome is
 *            MORE, unless _create has settled the problem already. The info of a step may be NULL; the table says
 *            whether the step is then only enqueued on the GPU.
 * where      Vectors that go into or come out of a step are in host or in device memory, as the call's `where` says.
 *            Device memory needs the CUDA backend (else GPUOPT_ERROR_UNSUPPORTED) and is read and written in the order
 *            of the context's stream. Values in device memory are not checked unless the call says so.
 * Bounds     A column with lb > ub is not an error: the model is infeasible, and the first step says so. A row with
 *            lhs > rhs is an error.
 * Infinity   Bounds and sides of size 1e20 and more are infinite; the descriptor can say otherwise.
 * Threads    A context, with everything created in it, is used by one thread at a time. Different contexts are
 *            independent. There are no globals, no clocks and no signal handlers. OpenMP threads are used only where
 *            the context asks for more than one and the compiler has OpenMP switched on.
 * Forks      In a forked process, contexts of the CPU backend that were made before, and their handles, work on with
 *            one thread: the threads of the OpenMP runtime are not there. Contexts that are made there can have several
 *            threads with clang's runtime. GNU's waits without end for the threads that the forking thread had. So the
 *            destruction of a context of several threads ends those of the calling thread (omp_pause_resource_all),
 *            and a host that forks while such a context lives, or that uses OpenMP itself, calls
 *            omp_pause_resource_all(omp_pause_soft) before, or asks for one thread there. CUDA does not work in a
 *            forked process if it was used before.
 * Streams    On the CUDA backend, a context's work is ordered on its stream. Calls that return host arrays wait for it.
 *            Host arrays that were passed in may be reused as soon as the call returns. A call leaves the thread's
 *            current device or CUDA context as it was, touches no other device, and leaves no CUDA error behind; one
 *            that the host has not fetched yet stays, unless a CUDA call of this library's fails as well.
 * Bits       The same calls give the same bits with any number of threads. The table says what holds between backends.
 * Rounding   Arithmetic is IEEE 754, rounded to nearest, with no products and sums fused or reordered unless the code
 *            says so. gpuopt_context_create tests that of the build that it is in, and otherwise returns UNSUPPORTED;
 *            the log names the compiler's option. The host's rounding mode, and whether it flushes subnormal numbers to
 *            zero, may be anything at a call, in its OpenMP threads, too: calls that compute do so in C's default
 *            floating-point environment (on x86, traps included), call the hooks in it, and put the host's back.
 * Sizes      int32 indices, int64 offsets and counts, double values. A comment gives each array's shape in brackets.
 *
 *                     propagator      basis           simplex         elimination     knapsack
 *     step            round           update          iterate         step            expand
 *     info == NULL    enqueued (1)    enqueued        waits           enqueued (2)    waits
 *     where           all vectors     all vectors     all vectors     all vectors     all vectors
 *     device view     bounds          -               -               messages        -
 *     pack, unpack    -               -               -               messages        nodes
 *     matrix          CSR or CSC      CSC or CSR      CSC, CSR, dense -               -
 *     stop is asked   between rounds  - (3)           between runs    between buckets between levels
 *     CPU = GPU       same bits       up to rounding  up to rounding  same bits (4)   same bits
 *
 * (1) With the drivers HOST and COOPERATIVE, requested by name, the call can be captured in a CUDA graph, but not with
 * a trail or spare rows. (2) SLICE waits once per slice. (3) No call on a basis takes long enough, except
 * gpuopt_basis_load, which is not interrupted. (4) DOUBLE: up to rounding.
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
/* The version of this header as one number, to compare with. */
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

/* Returns a short text for a status, in static storage, never NULL. */
GPUOPT_API const char *gpuopt_status_string(gpuopt_status status);

/* What a step found. */
typedef enum gpuopt_outcome {
    GPUOPT_MORE = 0,   /* there is more to do: call again */
    GPUOPT_CONVERGED,  /* a fixpoint was reached */
    GPUOPT_OPTIMAL,    /* proven */
    GPUOPT_INFEASIBLE, /* proven */
    GPUOPT_UNBOUNDED,  /* proven */
    GPUOPT_LIMIT,      /* a limit set by the caller was reached */
    GPUOPT_FULL,       /* the memory taken at create is full, and the caller asked to be told */
    GPUOPT_IMPRECISE,  /* rounding does not allow a proof; the family says what is known instead */
    GPUOPT_CUTOFF      /* proven: no solution is better than the caller's cutoff */
} gpuopt_outcome;

/* What is known of a linear program's OPTIMAL, the strongest first; gpuopt_simplex_iterate says what each means. */
typedef enum gpuopt_certainty {
    GPUOPT_CERTAINTY_NONE = 0, /* there is no optimum yet */
    GPUOPT_CERTAINTY_EXACT,    /* the basis is optimal in exact arithmetic, proven by bounds on all errors */
    GPUOPT_CERTAINTY_ROUNDING, /* the point solves a program whose data differ from the given ones by rounding */
    GPUOPT_CERTAINTY_TOLERANCE /* within the tolerances, and so is the gap between the two objectives */
} gpuopt_certainty;

/* Returns a short text for a certainty, in static storage, never NULL. */
GPUOPT_API const char *gpuopt_certainty_string(gpuopt_certainty certainty);

/* Returns a short text for an outcome, in static storage, never NULL. */
GPUOPT_API const char *gpuopt_outcome_string(gpuopt_outcome outcome);

/* An option with a default that its comment explains. */
typedef enum gpuopt_switch { GPUOPT_DEFAULT = 0, GPUOPT_ON, GPUOPT_OFF } gpuopt_switch;

/* Where an array is. */
typedef enum gpuopt_memory_space { GPUOPT_HOST = 0, GPUOPT_DEVICE = 1 } gpuopt_memory_space;

/* ---- Structs with a size ----------------------------------------------------------------------------------------- *
 * Every struct that the caller fills or has filled begins with struct_size, and members are only ever appended, so that
 * a program compiled against another minor version keeps working. A zero member means the default. A struct that is
 * larger than the library knows is accepted if the surplus is zero.
 *
 * GPUOPT_INIT(type) is such a struct with all defaults: gpuopt_context_desc desc = GPUOPT_INIT(gpuopt_context_desc); */

/* Does what GPUOPT_INIT does, for languages without macros: sets all bytes to zero, then struct_size. */
GPUOPT_API void gpuopt_desc_init(void *desc, size_t struct_size);

/* ---- Context: a backend, a device, a stream, and the caller's services ------------------------------------------- */

/* Where work is done and with whose memory; everything else is created in a context. */
typedef struct gpuopt_context gpuopt_context;
/* The code for one kind of device, see gpuopt_backend_cpu and gpuopt_backend_cuda. */
typedef struct gpuopt_backend gpuopt_backend;
struct CUstream_st; /* a cudaStream_t is a struct CUstream_st * */

/* Returns the CPU backend. */
GPUOPT_API const gpuopt_backend *gpuopt_backend_cpu(void);
/* Returns the CUDA backend. Defined only in cuda/gpuopt_cuda.cu, so never static: a program that never names it links
 * without CUDA. One that leaves a family's unit out, cuda/FAMILY/FAMILY.cu, compiles the former with
 * -DGPUOPT_CUDA_WITHOUT_<FAMILY>; making a handle of that family on the GPU then gives UNSUPPORTED. */
extern const gpuopt_backend *gpuopt_backend_cuda(void);
/* Returns "cpu" or "cuda", or "none" for NULL. */
GPUOPT_API const char *gpuopt_backend_name(const gpuopt_backend *backend);

/* A context. The hooks are called from the thread that makes the call. */
typedef struct gpuopt_context_desc {
    size_t struct_size;            /* sizeof(gpuopt_context_desc) */
    const gpuopt_backend *backend; /* NULL: CPU */
    int32_t device;                /* CUDA ordinal */
    /* Of that device, or a green context's on it, which one thread at a time may then use; not cudaStreamPerThread;
     * borrowed; NULL: the context makes one. */
    struct CUstream_st *stream;
    /* CPU backend: 0 (meaning 1) to 1024. More than 1 needs OpenMP 3.1 of gcc or clang; without it, and with MSVC's
     * /openmp, which is OpenMP 2.0, the log warns, and 1 is used. */
    int32_t threads;
    void *user; /* passed to the hooks below */
    /* Host memory aligned as by malloc, device memory to 256 bytes; NULL on failure. Device memory is released when the
     * stream has finished with it. Both NULL: malloc, and on the GPU a memory pool of the context's own, see
     * keep_device_bytes. */
    void *(*allocate)(void *user, gpuopt_memory_space where, size_t bytes);
    void (*release)(void *user, gpuopt_memory_space where, void *memory); /* goes with allocate */
    void (*log)(void *user, int level, const char *message); /* level 0: error, 1: warning, 2: info; NULL: silence */
    /* Asked between launches or sweeps of the calls that may take long: the steps, as the table above says, and those
     * whose comments mention it. If it returns nonzero, the call stops there and returns GPUOPT_OK with the outcome
     * MORE; the next call goes on. NULL: never. For Ctrl-C and a limit of time: examples/interrupt.c. */
    int (*stop)(void *user);
    /* The host's clock, asked during calls with a limit in seconds (order_seconds of an elimination), for which it is
     * required: seconds since any moment, not going back. NULL: there are no such limits. */
    double (*seconds)(void *user);
    /* CUDA backend, without allocate: how much device memory the context's pool may hold on to for its next handles
     * when handles are destroyed, until the context is. To give memory back to the driver and to take it again costs
     * some 2 ms a GB, which can be more than the work on it. What is held, other contexts and processes cannot have: a
     * host that shares the GPU sets a limit. 1: the pool holds nothing; UINT64_MAX: all; 0: up to half of the device's
     * memory. Plans count what is held as free. */
    uint64_t keep_device_bytes;
} gpuopt_context_desc;

/* Makes a context. desc may be NULL: the CPU with one thread. ARGUMENT: a member is out of range, or the stream is
 * another device's or cudaStreamPerThread. UNSUPPORTED: there is no usable GPU (CUDA backend), or the build's
 * arithmetic is not IEEE 754 (see Rounding above). */
GPUOPT_API gpuopt_status gpuopt_context_create(const gpuopt_context_desc *desc, gpuopt_context **context);
/* Destroys a context, after everything that was created in it. */
GPUOPT_API void gpuopt_context_destroy(gpuopt_context *context);
/* Waits until all enqueued work has finished. */
GPUOPT_API gpuopt_status gpuopt_context_wait(gpuopt_context *context);
/* Returns the latest error message that went to the log (or would have, without a log hook): why the latest call that
 * failed did so. Never NULL; "" before the first error, and for NULL. Valid until the next call in this context. */
GPUOPT_API const char *gpuopt_context_last_error(const gpuopt_context *context);

/* What a handle takes, as every _plan call says beforehand: exact, and found without allocating anything that lasts. */
typedef struct gpuopt_memory_plan {
    size_t struct_size;
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

/* A sparse matrix, by rows or by columns. Either is taken everywhere; the one that a family does not work with is
 * transposed first, in temporary host memory of 12 bytes per nonzero and 8 per line (on the GPU, linear programs and,
 * up to 2^32 - 1 nonzeros, propagation: in device memory). No member will be added. */
typedef struct gpuopt_matrix {
    int32_t rows, cols;   /* 0 to 2^31 - 65; more: UNSUPPORTED */
    const int64_t *start; /* [lines + 1], start[0] = 0, non-decreasing; a line is a row (CSR) or a column (CSC) */
    const int32_t *index; /* [start[lines]], in range, none twice in a line, in any order */
    const double *value;  /* [start[lines]], finite, not 0 */
    gpuopt_layout layout;
} gpuopt_matrix;

/* The type of numbers in device memory. */
typedef enum gpuopt_data_type {
    GPUOPT_TYPE_FP64 = 0, /* double */
    GPUOPT_TYPE_FP32,     /* float */
    GPUOPT_TYPE_UINT8,    /* uint8_t */
    GPUOPT_TYPE_UINT16,   /* uint16_t */
    GPUOPT_TYPE_UINT32,   /* uint32_t */
    GPUOPT_TYPE_UINT64    /* uint64_t */
} gpuopt_data_type;

/* The backend's own array in device memory, lent until the next call on its handle, to be read on the context's
 * stream. */
typedef struct gpuopt_device_view {
    size_t struct_size;
    const void *data; /* [count] */
    int64_t count;    /* numbers in data */
    gpuopt_data_type type;
} gpuopt_device_view;

/* Several contexts that work together, see gpuopt/group.h. */
typedef struct gpuopt_group gpuopt_group;

/* ---- Propagation of  lhs <= A x <= rhs  over  lb <= x <= ub ------------------------------------------------------- *
 * Sofranac, Gleixner, Pokutta: Accelerating Domain Propagation (2020); doc/propagation.md has the method. A round
 * computes the least and the greatest activity of every row and, from these, a candidate bound for every nonzero. The
 * best candidates become the new bounds.
 *
 * Bits      JACOBI: the CPU, with any number of threads, and the GPU return the same bounds round for round.
 *           SEQUENTIAL: the same bits on every CPU.
 * Validity  No bound becomes tighter than its row implies at the bounds that it was computed from, not by a unit in the
 *           last place: errors are added outward, and a result without error is exact. Three things are on purpose: an
 *           integer column's candidate is rounded to an integer (with a slack that only loosens it), FP32 rounds
 *           coefficients, and equal bounds of the host are never moved. So no point is cut off that satisfies all rows
 *           and bounds exactly, taking the doubles of the model for what they are.
 * Verdict   INFEASIBLE is true of the model in exact arithmetic (of the bounds that the host last set and those that
 *           rounds have found since): the least or greatest activity of a row misses a side, or a column's bounds
 *           cross, by more than feasibility_tolerance and more than the errors of the computation. The tolerance only
 *           makes the verdict rarer. CONVERGED: no row can move any bound by more than the least change; a new handle
 *           with these bounds returns CONVERGED and moves nothing, in either mode. JACOBI, SEQUENTIAL and any order of
 *           the rows give the same verdict, unless a change that was too small to be made decides: one of the size of
 *           the least change times a coefficient large enough to be seen beside the feasibility tolerance, or a
 *           violation that equals the tolerance up to rounding. Terms beyond huge_value are left out of this.
 * stop      is asked between rounds on the CPU and, with the driver HOST, on the GPU. With the drivers COOPERATIVE and
 *           GRAPH all rounds of a call are one launch, which cannot be interrupted: ask for fewer rounds per call.
 * Cost      A round is one pass over A. It reads 12 bytes per nonzero (CUDA: 8 if single precision represents every
 *           coefficient exactly), 16 per row, 16 per column. Rows that may tighten a bound are read a second time. */

/* A model with its current bounds and sides. */
typedef struct gpuopt_propagator gpuopt_propagator;

/* How A and the bounds are stored. */
typedef enum gpuopt_propagator_precision {
    GPUOPT_PRECISION_FP64 = 0, /* in double precision */
    /* In single precision: two thirds of the bytes per round, half of the memory. Sums are still computed in double
     * precision, and every bound is rounded outwards. Coefficients that single precision cannot represent are rounded,
     * with a warning in the log; the result is then that of the rounded model. Sizes outside of FLT_MIN to FLT_MAX are
     * refused with ARGUMENT. */
    GPUOPT_PRECISION_FP32 = 1
} gpuopt_propagator_precision;

/* What a round reads. */
typedef enum gpuopt_propagator_mode {
    /* Only the bounds after the previous round: the result depends neither on the order of the rows nor on threads nor
     * on the device. */
    GPUOPT_MODE_JACOBI = 0,
    /* CPU only: the latest bounds. A round is one sweep over the rows in their order, and each row uses what the rows
     * before it found (the paper's Algorithm 1). Takes the fewest rounds, to the same fixpoint up to the tolerances. */
    GPUOPT_MODE_GAUSS_SEIDEL = 1
} gpuopt_propagator_mode;

/* How the CUDA backend runs the rounds of one call (section 3.7 of the paper). All drivers give the same bits. */
typedef enum gpuopt_propagator_driver {
    /* COOPERATIVE for models that fit into the shared memory of all multiprocessors together (up to about 1e6 nonzeros
     * on an H200); otherwise GRAPH, or HOST if CUDA is older than 12.4. */
    GPUOPT_DRIVER_AUTO = 0,
    GPUOPT_DRIVER_HOST,        /* a few launches per round; the host reads 4 bytes after each round ("cpu_loop") */
    GPUOPT_DRIVER_COOPERATIVE, /* all rounds in one launch with grid-wide barriers ("megakernel") */
    GPUOPT_DRIVER_GRAPH        /* the GPU loops by itself ("gpu_loop"): a CUDA graph with a while node; CUDA 12.4 */
} gpuopt_propagator_driver;

/* A model, and how to propagate it. */
typedef struct gpuopt_propagator_desc {
    size_t struct_size;      /* sizeof(gpuopt_propagator_desc) */
    gpuopt_matrix matrix;    /* A */
    const double *lhs, *rhs; /* [rows]; lhs[i] <= rhs[i]; -infinity and infinity allowed; NULL: no such sides */
    const double *lb, *ub;   /* [cols]; not NaN, lb < infinity, ub > -infinity; lb > ub: the model is infeasible */
    /* [cols], not 0: integer; NULL: all continuous. The host's own bounds are rounded when they are set, as a row's. */
    const uint8_t *integer;
    double infinity; /* sides and bounds of at least this size are infinite; 0: 1e20 (SCIP, HiGHS); at least 1 */
    /* A row violated by at most this, or bounds that cross by at most this, prove nothing; 0: 1e-6 (SCIP def.h, HiGHS
     * HConst.h); at most 0.1. If larger, 2^-47 of the sum of the sizes of the row's terms, or of its side; 2^-47 of the
     * larger bound. */
    double feasibility_tolerance;
    /* Slack in rounding an integer column's bound that is no integer; 0: 1e-6; at most 0.49. If larger, 2^-50 of its
     * size. */
    double integrality_tolerance;
    double least_change; /* a finite bound moves only by more than this; 0: 1e-9 (the paper); at most 1e9 */
    /* Added to least_change: this fraction of ub - lb, or of |bound| if the other bound is infinite; 0: none; at most
     * 1. Always added: 2^-48 |bound| (FP32: 2^-22 of the column's larger bound), since smaller changes may come from
     * rounding, and go on for ever. The bound of an integer column moves by whole units, if the candidate before
     * rounding gains the least change or the integrality tolerance. */
    double least_change_relative;
    double huge_value;   /* a larger term of an activity counts as infinite; 0: 1e100; 1 to 1e100 */
    int32_t round_limit; /* rounds since bounds or sides were last set; then the outcome is LIMIT; 0: none */
    gpuopt_propagator_precision precision; /* default FP64 */
    gpuopt_propagator_mode mode;           /* default JACOBI */
    gpuopt_propagator_driver driver;       /* default AUTO; ignored by the CPU */
    /* Whether a round skips rows that no change since their last evaluation can concern. Never changes a result. Takes
     * 12 bytes per nonzero (FP32: 8), 16 per column and 69 per row; with CUDA 4, 8 and 12. After a round with many
     * changes all rows are evaluated anyway. SEQUENTIAL needs it. Default: on with the CPU; with CUDA on from 2^21
     * nonzeros, below which it gains nothing. */
    gpuopt_switch marking;
    gpuopt_switch relative_integers; /* whether least_change_relative holds for integer columns, too; default: on */
    /* For a tree search, see below; both need marking, and with CUDA the driver COOPERATIVE or AUTO, which then means
     * that. */
    /* Changes of bounds that the trail has room for, 64 bytes each (CUDA: and 32 in device memory); 0: no trail. */
    int64_t trail_capacity;
    int32_t spare_rows;     /* room for rows to be added */
    int64_t spare_nonzeros; /* room for their entries */
} gpuopt_propagator_desc;

/* The tolerances of other codes. */
typedef enum gpuopt_propagator_settings {
    GPUOPT_SETTINGS_PAPER = 0, /* the defaults: least change 1e-9 */
    /* Least change 5% of the domain, for integer columns, too (boundstreps, def.h; SCIP takes 5% of |bound| if that is
     * less); terms beyond 1e15 (hugeval) are infinite. */
    GPUOPT_SETTINGS_SCIP,
    /* Least change 1e-3, and 30% of the domain for continuous columns (HighsDomain.cpp; there the bound of an integer
     * column must also move by 1e-3 of its new size, here by a unit). */
    GPUOPT_SETTINGS_HIGHS,
    /* Least change 1e-3 (ConstraintPropagation.hpp); terms beyond 1e8 (hugeval, PresolveOptions.hpp) are infinite. */
    GPUOPT_SETTINGS_PAPILO
} gpuopt_propagator_settings;

/* Sets `infinity`, the two tolerances, the two members for the least change, huge_value and relative_integers (if the
 * descriptor is long enough) of a descriptor, and nothing else. ARGUMENT: unknown settings, or the descriptor is too
 * short for the others. */
GPUOPT_API gpuopt_status gpuopt_propagator_desc_tune(gpuopt_propagator_desc *desc, gpuopt_propagator_settings settings);

/* What a call of _round found. */
typedef struct gpuopt_propagator_info {
    size_t struct_size;     /* sizeof(gpuopt_propagator_info) */
    gpuopt_outcome outcome; /* MORE, CONVERGED, INFEASIBLE, LIMIT or FULL */
    int32_t rounds;         /* done by this call, including one that changed nothing or proved infeasibility */
    int64_t changed;        /* bounds moved by this call; JACOBI: each side of each column counts once per round */
    int64_t nonzeros; /* in the rows that this call evaluated; fewer than rounds * nonzeros of A if rows are skipped */
    int32_t infeasible_row; /* INFEASIBLE: the lowest row found that no x within the bounds satisfies, or -1 */
    int32_t infeasible_col; /* INFEASIBLE: the lowest column whose bounds cross, or -1 */
    /* MORE and LIMIT: how far this call's last round has come, 0 to 1: the most by which one of its moves has shortened
     * the distance from the moved bound to the column's other one (as it is after the round), as a share of that
     * distance. 1: an infinite bound has become finite. Where the other one is infinite: of the larger of the bound's
     * sizes before and after, or 1 if its sign has changed. SEQUENTIAL: each move of a sweep counts by itself.
     * Otherwise, or after no rounds, 0. The same bits on the CPU and the GPU. Rounds that stay below 1e-3 crawl: they
     * may need millions for what a search finds in a few steps, see doc/propagation.md. */
    double shrinkage;
} gpuopt_propagator_info;

/* Makes a propagator. ARGUMENT: a value is outside of the ranges above; the log names it with its position.
 * UNSUPPORTED: SEQUENTIAL on the GPU or with marking OFF; a driver that the device or the CUDA version lacks; a trail
 * or spare rows with marking OFF or with the drivers HOST and GRAPH; too many rows or columns (see gpuopt_matrix). Time
 * O(nonzeros + rows + cols); on the GPU little more than copying the arrays to the device takes, where they are checked
 * and laid out. */
GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_memory_plan *plan, gpuopt_propagator **propagator);
/* Destroys a propagator, after waiting for its enqueued rounds; NULL is allowed. */
GPUOPT_API void gpuopt_propagator_destroy(gpuopt_propagator *propagator);

/* Does up to `rounds` (at least 1) rounds. It ends earlier at a fixpoint (CONVERGED), at the round limit (LIMIT), when
 * infeasibility is proven (INFEASIBLE; JACOBI completes that round), or when the stop hook says so (MORE). After
 * INFEASIBLE, further calls do no rounds and return INFEASIBLE until bounds or sides are set.
 * info == NULL: the GPU only enqueues the rounds. With the drivers HOST and COOPERATIVE, requested by name, the call
 * can then be captured in a CUDA graph, but not with a trail or spare rows (UNSUPPORTED); HOST enqueues all `rounds`
 * rounds. Cost: see above; at most two exchanges with the device per call (HOST: one per round). */
GPUOPT_API gpuopt_status gpuopt_propagator_round(gpuopt_propagator *propagator, int32_t rounds,
                                                 gpuopt_propagator_info *info);

/* Fills `info` with what the last _round found; before the first one: MORE after 0 rounds, even if bounds cross. Waits
 * for enqueued rounds. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_info(gpuopt_propagator *propagator, gpuopt_propagator_info *info);

/* Reads all bounds into lb and ub [cols], each of which may be NULL, in the memory that `where` says. Infinite bounds
 * are returned as IEEE infinities. lb <= ub holds unless the model is infeasible: a lower bound that exceeds the upper
 * one within the tolerance is returned as the upper one. Rounds see both, since what one of them contradicts has no
 * solution. After INFEASIBLE both are returned as they are. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, double *lb, double *ub);
/* Sets all bounds from lb and ub [cols], in the memory that `where` says; NULL: these bounds stay. Bounds may become
 * tighter or looser; if they cross by more than the tolerance, the next _round does no rounds and returns INFEASIBLE.
 * Those of integer columns are rounded to integers, and FP32 rounds outwards. A column whose bounds are then equal is
 * fixed: rows do not move it, but are infeasible if they cannot live with it.
 * ARGUMENT: NaN, lb >= infinity or ub <= -infinity; the call waits to check device memory for it. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                      int64_t count, const int32_t *col, const double *lb,
                                                      const double *ub);
/* Sets the sides of `count` distinct rows (an objective cutoff, say): row, lhs and rhs [count], all in the memory that
 * `where` says. ARGUMENT: a row is out of range, NaN, lhs > rhs, lhs >= infinity or rhs <= -infinity; the call waits to
 * check device memory for it. Cost O(count), with a trail times the open levels; on the GPU the next round evaluates
 * all rows. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_sides(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                     int64_t count, const int32_t *row, const double *lhs,
                                                     const double *rhs);

/* Bits of a row's status, each within the feasibility tolerance; 0: the row may still tighten a bound. */
typedef enum gpuopt_propagator_row {
    GPUOPT_ROW_LHS_REDUNDANT = 1, /* every x within the bounds satisfies the lhs */
    GPUOPT_ROW_RHS_REDUNDANT = 2, /* every x within the bounds satisfies the rhs */
    GPUOPT_ROW_REDUNDANT = 3,     /* both */
    GPUOPT_ROW_INFEASIBLE = 4     /* no x within the bounds satisfies the row */
} gpuopt_propagator_row;

/* Where _get_rows is to write. Each array is [rows + spare_rows] or NULL; a number that no row has stands for an empty
 * row without sides. An activity is the sum of the row's finite terms, rounded from twice the working precision; it
 * bounds a'x if the count of infinite terms is 0. */
typedef struct gpuopt_propagator_row_report {
    size_t struct_size;                   /* sizeof(gpuopt_propagator_row_report) */
    double *min_activity, *max_activity;  /* least and greatest activity */
    int32_t *min_infinite, *max_infinite; /* counts of terms that are infinite or beyond huge_value */
    uint8_t *status;                      /* GPUOPT_ROW_ bits */
} gpuopt_propagator_row_report;

/* Computes the rows' activities and status at the current bounds, into the arrays of `report`, which are in the memory
 * that `where` says. Cost: one pass over A. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory_space where,
                                                    const gpuopt_propagator_row_report *report);

/* Lends the CUDA backend's array of bounds: [cols][2] numbers, FP64 or FP32 as the precision is; pair j is (lb, ub) of
 * column j. UNSUPPORTED: on the CPU. */
GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_device_view *view);

/* ---- Basis inverse of the revised simplex method ------------------------------------------------------------------ *
 * The dense inverse of an m x m basis matrix B whose columns are replaced one at a time. Column `position` of B becomes
 * a_q; with the pivot column alpha = B^-1 a_q, the new inverse is B^-1 with row `position` set to 0, plus omega times
 * that row as it was, where omega[position] = 1 / alpha[position] and omega[i] = -alpha[i] / alpha[position] elsewhere.
 * doc/basis.md has the method, the paper that it comes from, and measured figures.
 *
 * Memory   Two m x m matrices of doubles, three with PFI or cuSOLVER, and 4 m K doubles (GPU: up to 5 m K + 70 m, and
 *          20 MB at most).
 * Outcome  There is none: an update is either made or refused with GPUOPT_ERROR_NUMERIC.
 * Bits     On one backend the same calls give the same bits; on the GPU, on devices of the same kind, with the same
 *          cuBLAS and cuSOLVER or without them. CPU and GPU agree up to rounding, because the GPU sums in a different
 *          order.
 * CUDA     From m = 512 on, cuBLAS and cuSOLVER are used where they are installed and faster than the kernels here;
 *          they are looked for at the first _plan or _create of a context, and the log warns if they are missing. Their
 *          own memory, about 170 MB of the device a context, does not come from the allocator. Kernels of theirs that
 *          updates need are loaded in _create; the others when they are first used, by gpuopt_basis_load or by
 *          gpuopt_basis_get_inverse. */

/* An inverse, with its updates. */
typedef struct gpuopt_basis gpuopt_basis;

/* How an update is carried out. In comments below, K is deferred_updates. */
typedef enum gpuopt_basis_technique {
    /* Updates are collected as B^-1 = B0^-1 + U V, where U has up to K columns; every K updates, one matrix product
     * applies them to B0^-1. The fastest; the others are the paper's, for comparison. */
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
    gpuopt_basis_technique technique; /* how updates are carried out */
    int32_t deferred_updates;         /* K of DEFERRED, 1 to 256; 0: 16 on the CPU, 64 on the GPU, 192 with cuBLAS */
    /* An update is refused unless |alpha[position]| is greater than this times max |alpha|. A load is refused if a
     * column offers no pivot greater than this, after B has been scaled by powers of two so that the largest entries
     * of its rows and columns are about 1. Below 1; 0: 1e-11 (CLP accepts pivots above 1e-8, HiGHS above 1e-10, both in
     * scaled models). */
    double pivot_tolerance;
} gpuopt_basis_desc;

/* Where a basis stands. */
typedef struct gpuopt_basis_info {
    size_t struct_size;       /* sizeof(gpuopt_basis_info) */
    int64_t updates;          /* made since the latest load */
    int32_t deferred_updates; /* K; 0 with the other techniques */
    int32_t pending;          /* updates in U V, not yet applied to B0^-1 */
    int32_t refused_position; /* of the latest load or update refused with NUMERIC; -1: none since the latest load */
} gpuopt_basis_info;

/* Makes a basis with the identity loaded. UNSUPPORTED (CUDA): the device has no cooperative launch, or COLUMN and m
 * doubles do not fit into a block's shared memory (about 29000 on an H200). */
GPUOPT_API gpuopt_status gpuopt_basis_create(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                             gpuopt_memory_plan *plan, gpuopt_basis **basis);
/* Frees a basis; NULL is allowed. */
GPUOPT_API void gpuopt_basis_destroy(gpuopt_basis *basis);

/* Inverts B. columns: B, m x m; NULL: the identity. The result replaces the inverse and discards all updates. NUMERIC:
 * B is singular or nearly so, or its inverse cannot be represented; refused_position and the log name a column that
 * depends on the others, and the old inverse stays. Time O(m^3): Gauss-Jordan elimination, or with cuSOLVER an LU
 * factorisation, with partial pivoting, sparse columns first. On the GPU, arrays in page-locked memory arrive several
 * times faster. Waits. */
GPUOPT_API gpuopt_status gpuopt_basis_load(gpuopt_basis *basis, const gpuopt_matrix *columns);

/* FTRAN: x = B^-1 rhs, which also becomes the pivot column for _update. rhs, x [m] may be the same array; x may be
 * NULL. ARGUMENT: rhs is NULL, or in host memory and not finite. Reads the m^2 entries of the inverse; DEFERRED skips
 * columns whose entry of rhs is 0. */
GPUOPT_API gpuopt_status gpuopt_basis_ftran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t count,
                                            const int32_t *row, const double *rhs, double *x);

/* BTRAN: y = B^-T c. c, y [m] may be the same array. ARGUMENT: c or y is NULL, or c is in host memory and not finite.
 * Reads the m^2 entries of the inverse. */
GPUOPT_API gpuopt_status gpuopt_basis_btran(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position,
                                            const double *c, double *y);

/* Replaces column `position` of B by the one whose FTRAN is alpha [m]. alpha NULL: the result of the latest FTRAN. info
 * NULL: the update is only enqueued, and alpha must be NULL or in device memory; if the pivot is too small, the update
 * is left out, and the next _get_info names its position. STATE: alpha is NULL, and there was no FTRAN since the latest
 * load or update. NUMERIC: the pivot is too small (see pivot_tolerance), or an alpha in device memory is not finite;
 * only refused_position changes. Moves 2 m^2 doubles with ELEMENT_PROPOSED, about 2 m^2 / K + m K with DEFERRED. */
GPUOPT_API gpuopt_status gpuopt_basis_update(gpuopt_basis *basis, gpuopt_memory_space where, int32_t position,
                                             const double *alpha, gpuopt_basis_info *info);

/* Fills info for the basis as it stands. Waits for enqueued updates. */
GPUOPT_API gpuopt_status gpuopt_basis_get_info(gpuopt_basis *basis, gpuopt_basis_info *info);

/* Copies the inverse to inverse [m][m], row after row. Pending updates are applied first. Moves 2 m^2 doubles. */
GPUOPT_API gpuopt_status gpuopt_basis_get_inverse(gpuopt_basis *basis, gpuopt_memory_space where, double *inverse);

/* ---- Linear programs: the simplex method, in whole iterations or step by step ------------------------------------- *
 *     min or max  cost'x + offset   subject to   lhs <= A x <= rhs,   lb <= x <= ub
 * The primal simplex method with bounded variables, after Meyer, Albuquerque, Chopard: A multi-GPU implementation and
 * performance model for the standard simplex method (2011), and the dual one (see _algorithm). How they work and when
 * to use them, also within a tree search: doc/simplex.md.
 *
 * Variables are numbered: 0 .. cols - 1 are the columns, cols + i is the activity of row i, whose bounds are the row's
 * sides. A basis has `rows` basic variables; the first basis consists of the activities.
 *
 * Memory    8 rows * cols bytes with TABLEAU, 8 rows^2 bytes with REVISED on the GPU, plus what is linear in rows, cols
 *           and the nonzeros. REVISED on the CPU: 48 bytes for each entry that the factors of a basis have room for, at
 *           create 64, 24 a row and 4 for each nonzero of A, or of twice an average basis if these are fewer, at most
 *           rows (rows + 1); and 12 K rows. A basis whose elimination needs more doubles the room, as often as it
 *           takes, through the context's allocator, in whatever call makes them:
 *           MEMORY there means that this failed. The handle is then at the basis that it has come to, and the call can
 *           be made again.
 * Dual      From a basis that flips do not make dual feasible, phase 1 solves the program with a box of artificial
 *           bounds first (Koberstein and Suhl 2007); costs that then still have the wrong sign are shifted. The box is
 *           there within a call of _iterate only: one that ends in the middle rebuilds, and the next one goes on from
 *           the basis. The method ends where no basic variable is outside its bounds, or where one cannot be brought
 *           back, which is a proof of INFEASIBLE. What it cannot settle, and what remains to an optimum once shifts and
 *           perturbations of costs are undone, the primal method does; outcomes mean the same. Its long steps flip
 *           variables between their bounds; these flips are part of an iteration, and info.flips does not count them. A
 *           pivot costs as in the primal method, and with STEEPEST_EDGE one more product with the inverse.
 * Cost      Doubles moved per pivot, K being deferred_pivots: TABLEAU 2 rows * cols / K + K (rows + cols); REVISED
 *           2 rows^2 / K + 2 K rows, and the nonzeros of A. A rebuild reads the inverse or tableau a few times. REVISED
 *           on the CPU: the entries of the factors that a product meets, those of up to K pivot columns, and the
 *           nonzeros of A in the rows where the row of the inverse is not 0; every K pivots the factors are made anew.
 * Bits      On one backend, with any number of threads, the same calls give the same bits. CPU and GPU do the same
 *           pivots unless two candidates agree up to rounding: sums are taken in the device's own order.
 * Group     With a group each rank has a block of the tableau's columns, 8 rows * cols / P bytes for P ranks, and all
 *           of A (24 bytes a nonzero, so that for a dense A most of the memory is not shared) and of what is linear in
 *           rows and cols; the blocks differ by up to 8 columns. TABLEAU and PRIMAL only, no batch, no room for rows
 *           and columns; all ranks on the same backend, on CUDA with GPUs of the same kind, one each or several on one.
 *           Each rank makes the handle from the same description, and calls on it are collective, but for _plan,
 *           _get_proof and _destroy: what the ranks were given is compared first, and whether what is to be
 *           filled is NULL. If they differ, they return ARGUMENT, and nothing has changed. All ranks are told the
 *           same, with the bits of one rank without a group.
 *           What fails on one rank, as an allocation may, is the same status on all, but for errors of a GPU: its rank
 *           returns them, and the others PEER. PEER: a rank is lost or late, see Groups. After either the handle can
 *           only be destroyed. A rank whose descriptor cannot be read, or names no group, is late for the others. If
 *           the host of any rank stops iterating, all ranks stop. The group is needed by the collective calls, not by
 *           _destroy.
 *           Cost of a pivot: 2 rows * cols / (K P) doubles moved on each rank, and two exchanges, of 64 bytes a rank
 *           and of a column. CUDA: up to 16 ranks that are threads of one process, each with a stream of its own and
 *           without memory hooks, whose GPUs can access each other's memory or are the same, write both there while
 *           they run, up to K pivots a launch; kernels that wait give up after the group's time limit. Ranks on one
 *           GPU divide its multiprocessors; what else keeps these busy, the others wait for. _create finds out, and an
 *           info in the log says which way it is. All others launch each pivot, and copy bids and columns through host
 *           memory. Of a rebuild: products with A on every rank; with the tableau one rank after the other where sums
 *           go over columns, for which the group's time limit must allow. */

/* A linear program being solved. */
typedef struct gpuopt_simplex gpuopt_simplex;

/* What is kept of the basis. */
typedef enum gpuopt_simplex_method {
    GPUOPT_METHOD_TABLEAU = 0, /* B^-1 N, dense, of the nonbasic variables; for dense models */
    GPUOPT_METHOD_REVISED      /* B^-1, on the CPU as sparse factors, on the GPU dense; pricing uses the sparse A */
} gpuopt_simplex_method;

/* Which method iterates. */
typedef enum gpuopt_simplex_algorithm {
    GPUOPT_ALGORITHM_PRIMAL = 0, /* the primal simplex method */
    GPUOPT_ALGORITHM_DUAL,       /* the dual one from any basis, in two phases if it is not dual feasible */
    GPUOPT_ALGORITHM_AUTO        /* the dual one from bases that are dual feasible and not primal feasible */
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

/* A linear program, and how to solve it. */
typedef struct gpuopt_simplex_desc {
    size_t struct_size;   /* sizeof(gpuopt_simplex_desc) */
    gpuopt_matrix matrix; /* A; start == NULL: A is dense, see below; rows <= 2^28, rows + cols <= 2^31 - 65 */
    const double *dense;  /* A by columns: entry (i, j) is dense[j * matrix.rows + i]; finite; zeros are dropped */
    const double *cost;   /* [cols], finite; NULL: 0 */
    double offset;        /* finite */
    int maximize;         /* not 0: maximise */
    const double *lhs;    /* [rows]; NULL: no left-hand sides */
    const double *rhs;    /* [rows], not below lhs; NULL: no right-hand sides. lhs == rhs: an equation */
    const double *lb;     /* [cols]; NULL: 0 */
    const double *ub;     /* [cols]; NULL: infinity. A column with lb > ub makes the model infeasible */
    double infinity;      /* a side or bound of this size or more is infinite; at least 1; 0: 1e20 (HiGHS, SCIP) */
    gpuopt_simplex_method method;       /* 0: TABLEAU */
    gpuopt_simplex_pricing pricing;     /* 0: DEVEX */
    gpuopt_simplex_ratio ratio;         /* 0: HARRIS */
    double primal_tolerance;            /* see _iterate, 1e-12 to 1e-3; 0: 1e-9 (CLP, GLPK and HiGHS: 1e-7) */
    double dual_tolerance;              /* the same for reduced costs; both hold on the scaled model, too */
    double pivot_tolerance;             /* least |pivot|, and relative to its column; 1e-14 to 0.5; 0: 1e-7 (HiGHS) */
    gpuopt_switch scaling;              /* geometric, then equilibration, by powers of two; default on */
    gpuopt_switch perturbation;         /* bounds relaxed at random until the first optimum; off: only if it cycles */
    uint64_t seed;                      /* of the perturbation */
    int32_t deferred_pivots;            /* K, 1 to 256: pivots applied, or factored, at once; 0: 64, CPU TABLEAU: 16 */
    int32_t rebuild_pivots;             /* most iterations between two rebuilds; 0: 1000 */
    int64_t iteration_limit;            /* over the handle's life, then the outcome is LIMIT; 0: none */
    gpuopt_simplex_algorithm algorithm; /* 0: PRIMAL */
    gpuopt_simplex_dual_pricing dual_pricing; /* 0: STEEPEST_EDGE */
    int32_t spare_rows, spare_cols;           /* room for rows and columns to be added; the limits are on all */
    int64_t spare_nonzeros; /* room for their entries; CUDA: with any of the three 16 bytes a nonzero more */
    gpuopt_group *group;    /* of this context, whose ranks share the tableau; NULL: this context has all of it */
} gpuopt_simplex_desc;

/* Where the handle stands. */
typedef struct gpuopt_simplex_info {
    size_t struct_size;       /* sizeof(gpuopt_simplex_info) */
    gpuopt_outcome outcome;   /* MORE, OPTIMAL, INFEASIBLE, UNBOUNDED, IMPRECISE, LIMIT, CUTOFF */
    int32_t phase;            /* 1: some basic variable is outside its bounds, or the dual method iterates; else 2 */
    int64_t iterations;       /* pivots and flips since create */
    int64_t flips;            /* of them: a nonbasic variable went from one bound to the other */
    int64_t rebuilds;         /* how often iterating, its parts or _rebuild recomputed x and duals */
    int64_t refactorizations; /* how often the inverse was recomputed, by whatever call: also by _set_basis */
    int32_t deferred_pivots;  /* K */
    double objective;         /* of the present x, offset included */
    double infeasibility;     /* sum over bounds and sides of how far the present x and A x are outside */
    /* On the original data, absolute, at the last rebuild; -1 before the first one. */
    double primal_violation; /* the most that x of _get_solution, or its A x, is outside of the bounds */
    double dual_violation;   /* largest |reduced cost| of the wrong sign; -1 in phase 1 */
    /* INFEASIBLE: with y of _get_proof (farkas plus farkas_low), the least y'A x over the bounds minus the largest y'r over
     * the sides, where an infinite bound of a column counts as 1e24; with crossing bounds, lb - ub. UNBOUNDED: the gain
     * of cost'd along the ray d of _get_proof. Both less all that rounding could have added. */
    double certificate_margin;
    /* INFEASIBLE: the largest |y'A| of a column towards an infinite bound; what it may add to the sum is already taken
     * off the margin. UNBOUNDED: the most that a row's activity moves along d towards a finite side, all rounding
     * included; in units of the scaled row, if scaling is on and makes its entries smaller. */
    double certificate_residual;
    int32_t crossing; /* the first column with lb > ub; -1: none */
    /* The least tolerances with which the present point would be OPTIMAL, at the last rebuild: the largest violation in
     * units of max(1, |bound|), and the largest wrong reduced cost in units of max(1, |cost|); on the original data, of
     * the point in twice the working precision (x + x_low of _get_solution). -1 as the violations. */
    double primal_reached, dual_reached;
    int64_t dual_iterations;    /* of the iterations, the pivots of the dual method */
    gpuopt_certainty certainty; /* OPTIMAL: what is known, see gpuopt_simplex_iterate */
    /* OPTIMAL: the largest share of its terms' sizes by which a side, bound or reduced cost is missed that should be
     * met; it may be infinite. -1 without an optimum. */
    double backward_error;
} gpuopt_simplex_info;

/* Makes a handle, at the basis of the activities, each column at its lower bound (at its upper one or 0 if that is
 * infinite). ARGUMENT: a value is out of the ranges above; the log says where. UNSUPPORTED: more rows or columns than
 * above, (CUDA) the model is too large for the device, or a group cannot have this. Time O(nonzeros + rows + cols), and
 * to fill the inverse or tableau. */
GPUOPT_API gpuopt_status gpuopt_simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                               gpuopt_memory_plan *plan, gpuopt_simplex **simplex);
/* Destroys a handle; NULL is allowed. */
GPUOPT_API void gpuopt_simplex_destroy(gpuopt_simplex *simplex);

/* Does up to `iterations` (>= 1) iterations of both phases, fewer if the outcome is known before. Fills info if it is
 * not NULL. Asks the context's stop hook after every rebuild_pivots iterations, and whenever a rebuild is due earlier.
 * Outcomes are about the original data:
 *   OPTIMAL     The point in twice the working precision violates no bound or side by more than primal_tolerance *
 *               max(1, |bound|), and no reduced cost has the wrong sign by more than dual_tolerance * max(1, |cost|).
 *               The method has gone on from there with tolerances near the rounding of that precision, as long as it
 *               could. `certainty` names the first of these that holds:
 *               EXACT      The basis is optimal in exact arithmetic: bounds on all errors prove every sign.
 *               ROUNDING   The reported x, clipped to its bounds, is feasible for a program whose data differ from
 *                          these by rounding, and the duals are for another one: no dual names an infinite side, and
 *                          each side that a dual names or x violates, and each reduced cost that should be 0 or has
 *                          the wrong sign, is missed by at most 2^-44 times the sum of its terms' sizes. Primal and
 *                          dual objective differ by at most dual_tolerance * max(1, |objective|), and the best pivot
 *                          that mends a violation moves the objective by no more than that.
 *               TOLERANCE  The objectives differ by no more than that. Up to 162 rows, neither does the best pivot
 *                          that mends a violation move the objective by more.
 *               Where the doubles have no exactly feasible point, as equations often do that balance only as decimals,
 *               the log says so once, at level 2.
 *   INFEASIBLE  Proven: certificate_margin > 0. No x whose columns without a bound are below 1e24 meets all rows. A
 *               model that misses a feasible point by less than the tolerance is not INFEASIBLE. Bounds that cross are
 *               INFEASIBLE without an iteration.
 *   UNBOUNDED   Proven: x is feasible within the tolerance, and along the ray the objective gains 1e18 before
 *               rounding could take a row further than primal_tolerance beyond its sides.
 *   CUTOFF      Proven, see _set_cutoff and _get_bound: no solution is better than the cutoff.
 *   IMPRECISE   None of these: no point was found within the tolerances, or one whose violations may move the objective
 *               by more; bases are too ill-conditioned for the arithmetic. The log says what is missing, and info how
 *               far the present point is off. More iterations do not help, another basis may.
 * Every model gets an outcome after finitely many iterations: a method that goes round in circles is stopped.
 * NUMERIC: a number of the optimum is beyond the range of double; the handle stays where it got to. */
GPUOPT_API gpuopt_status gpuopt_simplex_iterate(gpuopt_simplex *simplex, int64_t iterations, gpuopt_simplex_info *info);
/* Fills info for the handle as it stands. If there has been no rebuild since _create or _set_basis, it does one first,
 * which info.rebuilds does not count. NUMERIC, of every call that fills this info: a number of it is beyond the range
 * of double, and it stays unfilled; what else the call does is done. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_info(gpuopt_simplex *simplex, gpuopt_simplex_info *info);

/* A candidate to enter the basis. */
typedef struct gpuopt_simplex_entering {
    size_t struct_size;  /* sizeof(gpuopt_simplex_entering) */
    int32_t variable;    /* nonbasic, improves the objective of the present phase; -1: none, the phase has ended */
    int32_t direction;   /* 1: it increases, -1: it decreases */
    double reduced_cost; /* in the present phase, scaled, of the minimisation that the handle does */
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
    /* Not 0: something blocks after `step`, but _pivot would refuse its entry, `pivot`, as too small; variable is -1.
     * Let another candidate enter, see _candidates, or rebuild with reinvert. */
    int32_t unsafe;
} gpuopt_simplex_leaving;

/* The parts of an iteration, for a host that makes the decisions itself. If bounds cross (info.crossing), _price finds
 * no variable, and _ratio_test, _pivot and _flip return STATE. A rebuild that is due, after rebuild_pivots iterations
 * or when the phase has changed, is done by the next part, and stays done if that part then returns NUMERIC. A basis
 * whose new factors are singular is repaired by the part that finds it so; NUMERIC: that has not helped. */

/* Chooses the variable to enter by the pricing rule, and fills `entering`. Moves nothing. */
GPUOPT_API gpuopt_status gpuopt_simplex_price(gpuopt_simplex *simplex, gpuopt_simplex_entering *entering);
/* Chooses the variable to leave by the ratio test if the nonbasic variable `entering` moves in `direction` (1 or -1),
 * and fills `leaving`. If it names a variable, _pivot with it is not refused; if it says flip, _flip is not. Moves
 * nothing. ARGUMENT: the variable is basic, or is at its bound in that direction. */
GPUOPT_API gpuopt_status gpuopt_simplex_ratio_test(gpuopt_simplex *simplex, int32_t entering, int32_t direction,
                                                   gpuopt_simplex_leaving *leaving);
/* Moves the nonbasic variable `entering` until the basic variable `leaving` reaches its lower bound (to_upper: its
 * upper one), then exchanges the two. Other basic variables may leave their bounds: the handle is then in phase 1.
 * ARGUMENT: not nonbasic, not basic, or that bound is infinite. NUMERIC: the pivot is below pivot_tolerance, or below
 * that times the largest entry of its column. */
GPUOPT_API gpuopt_status gpuopt_simplex_pivot(gpuopt_simplex *simplex, int32_t entering, int32_t leaving, int to_upper,
                                              gpuopt_simplex_info *info);
/* Moves a nonbasic variable to its other bound. ARGUMENT: not nonbasic, or it does not have two different finite
 * bounds. */
GPUOPT_API gpuopt_status gpuopt_simplex_flip(gpuopt_simplex *simplex, int32_t variable, gpuopt_simplex_info *info);

/* Recomputes x, duals and reduced costs from the original data; if reinvert is not 0 the inverse, too. Removes the
 * perturbation of the bounds. */
GPUOPT_API gpuopt_status gpuopt_simplex_rebuild(gpuopt_simplex *simplex, int reinvert, gpuopt_simplex_info *info);

/* Gets the basis: status [cols + rows], a gpuopt_simplex_variable each. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_basis(gpuopt_simplex *simplex, gpuopt_memory_space where, uint8_t *status);
/* Sets the basis. The present one costs O(rows + cols). One that differs from it in few variables is reached by pivots;
 * any other is inverted. status [cols + rows], `rows` of them BASIC. A nonbasic variable whose
 * status names an infinite bound goes to its other one, or to 0; AT_ZERO of one that is not free is AT_LOWER. The
 * outcome is MORE again. ARGUMENT: a status is out of range, in host or device memory, or the number of BASIC ones is
 * wrong. NUMERIC: the basis is singular; the log names a variable, and the handle is what it was, to the bit. For that
 * the old inverse or tableau is kept in temporary host memory of its size while the basis is inverted; k pivots take 8
 * k^2 + 8 k bytes. MEMORY: there is not so much. Time of up to `rows` pivots, and of the copy. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_basis(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                  const uint8_t *status);

/* Change the model of a handle that lives on: the basis, its inverse and the scales stay, and the outcome is MORE
 * again. A nonbasic variable goes to its new bound; one whose bound has become infinite goes to the other one, or to
 * 0. Lists have up to one entry for each column or row, and lie all in the memory that `where` says; of entries for
 * the same column or row the last one counts. ARGUMENT: a number is out of range, or a value as for _create, also in
 * device memory. NUMERIC: a value would overflow or lose digits in the scales that _create has chosen. Refused calls
 * change nothing. Time O(count + rows + cols); x and duals are recomputed when they are needed. */

/* Sets lb and ub [count] of the columns col [count]; lb or ub NULL: these bounds stay. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_bounds(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                   const int32_t *col, const double *lb, const double *ub);
/* Sets lhs and rhs [count] of the rows row [count]. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_sides(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                  const int32_t *row, const double *lhs, const double *rhs);
/* Sets cost [count] of the columns col [count]. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_costs(gpuopt_simplex *simplex, gpuopt_memory_space where, int64_t count,
                                                  const int32_t *col, const double *cost);

/* The present point, on the original data. Each array is NULL or in the memory that `where` says. */
typedef struct gpuopt_simplex_solution {
    size_t struct_size;   /* sizeof(gpuopt_simplex_solution) */
    double *x;            /* [cols]; a nonbasic column whose bounds cross is at its lb */
    double *reduced_cost; /* [cols] cost - A' dual */
    double *activity;     /* [rows] A x */
    double *dual;         /* [rows] change of the objective per unit of the row's active side */
    double *x_low;        /* [cols] low words: x + x_low is the point in twice the working precision */
    double *dual_low;     /* [rows] likewise of dual */
} gpuopt_simplex_solution;
/* Gets the present point. Rebuilds if anything has moved since the last rebuild. NUMERIC: a number is beyond the range
 * of double; none is delivered. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_solution(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                     const gpuopt_simplex_solution *solution);

/* What proves INFEASIBLE or UNBOUNDED. Each array is NULL or in the memory that `where` says. */
typedef struct gpuopt_simplex_proof {
    size_t struct_size; /* sizeof(gpuopt_simplex_proof) */
    /* INFEASIBLE: y [rows] with min { y'A x : lb <= x <= ub } > max { y'r : lhs <= r <= rhs }, infinite bounds of
     * columns counting as 1e24; its largest entry is between 1 and 2. If bounds cross, y is 0: the bounds of column
     * info.crossing are the proof. */
    double *farkas;
    double *farkas_low; /* [rows] low words, which the proof may need */
    /* UNBOUNDED: d [cols], its largest entry between 1 and 2; along x + t (ray + ray_low), t >= 0, no column comes nearer
     * to a finite bound, and rows move towards finite sides by at most t * certificate_residual. */
    double *ray;
    double *ray_low; /* [cols] low words */
} gpuopt_simplex_proof;
/* Gets the proof. STATE: an array is asked for that does not belong to the outcome. Not collective. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_proof(gpuopt_simplex *simplex, gpuopt_memory_space where,
                                                  const gpuopt_simplex_proof *proof);

/* ---- Graphical models: bucket and mini-bucket elimination --------------------------------------------------------- *
 * Fioretto, Pontelli, Yeoh, Dechter: Accelerating Exact and Approximate Inference for (Distributed) Discrete
 * Optimization with GPUs (2018). A model is a set of variables with finite domains and a set of functions, which are
 * tables over some of the variables; the cost of an assignment is the sum of the functions. Eliminating a variable
 * replaces all functions that mention it, its bucket, by one function, the message: for each assignment of the other
 * variables that the bucket mentions, the least sum over the variable's values. MINI_BUCKET splits a bucket that
 * mentions more than z variables into mini-buckets with a message each; the result is then a bound.
 *
 * Tables    stay with the backend. Integer costs are stored in the narrowest of 8, 16, 32 and 64 bits in which no sum
 *           can overflow, which is proven at create.
 * Agents    A solver for distributed problems (DPOP) makes a handle for each agent: the agent's functions and its
 *           children's messages are the model, its own variables the order. The message that comes out is the UTIL
 *           message to the parent; the values that come back go into _assign. As no agent knows the whole model, the
 *           agents agree on a number for it: `model` in their descriptors.
 * Pieces    Join, projection and conditioning are handles too: see order, join_rest and condition.
 * Cost      A bucket of m functions over w variables with d values takes d^w m additions and minima. Each function is
 *           read once and the message, d^(w-1) entries, is written once.
 * Bits      INT64: the same bits on every backend. DOUBLE: on one backend always the same, between backends up to
 *           rounding.
 * Stop      The stop hook is asked between buckets and between slices in _step, many times in a search for an order,
 *           and in _assign where that repeats a slice or a pass.
 * Group     With a group of several ranks each has a part of the assignments: of some variables only some values, so
 *           that a table which mentions them is on each rank for its own values alone. P ranks together have what fits
 *           none of them, each does up to 1/P of the work, and they exchange a few bytes; what is computed from tables
 *           without a split variable, every rank computes. The variables are chosen by the library: half of the ranks
 *           get about half of a variable's values, by which their work shrinks the most, the others the rest, and each
 *           half is divided again. Each rank has all functions, and may have another backend and another limit of
 *           memory; if its part does not fit, its policy is another. estimate and plan are those of a rank's part.
 *           Every rank makes the handle from the same description, of which the order must have all variables that are
 *           not conditioned (else UNSUPPORTED); the order that is used is rank 0's. _order, _plan, _create,
 *           _set_condition, _step, _get_info, _get_copy_info and _assign are collective: they compare first what the
 *           ranks were given. If that differs, they return ARGUMENT, and nothing has changed; what fails on one rank,
 *           as an allocation may, is the same status on all. PEER: a rank is lost or late, see Groups; the handle can
 *           then only be destroyed. The time limit must allow for the slowest part: ranks wait for one another at the
 *           end of _create, _step and _assign. A rank whose descriptor cannot be read, or names no group, is late for
 *           the others. All ranks are told the same. INT64: the cost, the count and, unless a rank uses SLICE, the
 *           assignment are those of one rank without a group, with EXACT; DOUBLE: up to rounding; mini-buckets give
 *           another bound. `eliminated` and `steps` are sums over ranks, and a stop hook ends the step of its own rank;
 *           the outcome is then MORE on all. Messages and _get_bounds are UNSUPPORTED. _relax and _reduce are not
 *           collective; the model that comes out keeps the group. NUMERIC may come where one rank alone does not see
 *           it: with a top near 2^63 the least costs of a part can have a sum that does not fit 63 bits. */

/* A model being eliminated. */
typedef struct gpuopt_elimination gpuopt_elimination;

/* What the result of an elimination is. */
typedef enum gpuopt_elimination_semiring {
    GPUOPT_SEMIRING_MIN_SUM = 0, /* the least sum of the functions */
    GPUOPT_SEMIRING_MAX_SUM,     /* the greatest sum */
    GPUOPT_SEMIRING_LOG_SUM_EXP, /* DOUBLE: ln of the sum over all assignments of exp(sum of functions): ln Z if the
                                    functions are logarithms of factors */
    GPUOPT_SEMIRING_MIN_COUNT    /* INT64: MIN_SUM, and how many assignments attain it */
} gpuopt_elimination_semiring;

/* The type of a model's costs. */
typedef enum gpuopt_elimination_cost {
    GPUOPT_COST_INT64 = 0, /* exact; cost arrays are read and written */
    GPUOPT_COST_DOUBLE     /* value arrays are read and written */
} gpuopt_elimination_cost;

/* One function: a dense table, or a list of tuples with a cost for all others. INT64 models read cost and default_cost,
 * DOUBLE models value and default_value. With tuples 0 cost and value must be NULL, and the function is its default
 * everywhere: so a table whose author forgot the -1 is refused (ARGUMENT) and not taken for a constant. A struct of
 * zeros is the constant 0. The cost INT64_MAX (MAX_SUM: INT64_MIN) is forbidden whatever top says. No member will be
 * added. */
typedef struct gpuopt_elimination_function {
    int32_t arity;         /* variables; 0: a constant */
    const int32_t *scope;  /* [arity] distinct variables */
    int64_t tuples;        /* -1: dense; else the number of tuples listed; 0: none, and cost and value are NULL */
    const int32_t *tuple;  /* [tuples][arity] values, in the scope's order; of equal tuples the last one counts */
    const int64_t *cost;   /* [tuples]; dense: [product of the domain sizes], the scope's last variable fastest */
    const double *value;   /* the same for DOUBLE: finite; or forbidden: +infinity (MIN_SUM), else -infinity */
    int64_t default_cost;  /* of all tuples that are not listed */
    double default_value;  /* the same for DOUBLE */
    const uint64_t *count; /* MIN_COUNT, dense, as cost: how often each entry counts (a child's message); NULL: once */
} gpuopt_elimination_function;

/* How an order is found: each step eliminates the variable with the least of what the constant says, in the remaining
 * graph. Ties are broken by the seed. */
typedef enum gpuopt_elimination_heuristic {
    GPUOPT_HEURISTIC_BEST = 0,          /* all three; the order with the fewest operations is improved further, by
                                           annealing: judged by operations times the entries of the largest message */
    GPUOPT_HEURISTIC_MIN_FILL,          /* edges that its elimination adds */
    GPUOPT_HEURISTIC_WEIGHTED_MIN_FILL, /* the sum over these edges of the product of the two domain sizes */
    GPUOPT_HEURISTIC_MIN_DEGREE         /* neighbours */
} gpuopt_elimination_heuristic;

/* What is done if the tables do not fit into memory. Every policy except MINI_BUCKET gives the exact answer. */
typedef enum gpuopt_elimination_policy {
    GPUOPT_POLICY_AUTO = 0,  /* the first of the following that fits; SLICE with at most 65536 slices, and SLICE and
                               RECOMPUTE with at most 64 times the operations */
    GPUOPT_POLICY_EXACT,     /* all tables in memory */
    GPUOPT_POLICY_DROP,      /* a message's memory is used again once the message has been read. For _assign the best
                               value of each of its entries stays instead, in 1, 2, 4, 8, 16 or 32 bits: a second pass
                               over each bucket finds it, for twice the operations; on the GPU often the first one does
                               (doc/elimination.md). Estimates count two. Not with keep ON */
    GPUOPT_POLICY_RECOMPUTE, /* DROP, with the best values of as many variables at a time as fit, the last ones first;
                               _assign eliminates again what leads to the others, in up to 1024 passes, and then no
                               message is ready. Not with keep ON */
    GPUOPT_POLICY_SLICE,  /* some variables are fixed, and the rest is eliminated for each of at most 2^32 combinations
                               of their values; the order must have all variables */
    GPUOPT_POLICY_STREAM, /* CUDA: the largest tables lie in host memory and go through the device in chunks, which are
                               copied while others are computed */
    GPUOPT_POLICY_MINI_BUCKET /* a bound; not with MIN_COUNT */
} gpuopt_elimination_policy;

/* A packed message, see gpuopt/inference.h. */
typedef struct gpuopt_elimination_packed gpuopt_elimination_packed;

/* A model, and how it is eliminated. */
typedef struct gpuopt_elimination_desc {
    size_t struct_size;                          /* sizeof(gpuopt_elimination_desc) */
    int32_t variables;                           /* 0 to 2^29 - 1 */
    const int32_t *domain;                       /* [variables] number of values, 1 or more */
    int32_t functions;                           /* 0 to 2^29 - 1 */
    const gpuopt_elimination_function *function; /* [functions] */
    gpuopt_elimination_cost type;
    gpuopt_elimination_semiring semiring;
    /* INT64, 0 or more: a cost of at least top is forbidden (MAX_SUM: of at most -top), and so is an assignment whose
     * sum reaches it. 0: no such limit. */
    int64_t top;
    /* The variables to eliminate, in this order: [order_count], distinct. NULL: all, in an order that is searched for.
     * Variables that are missing here are left over: they stay in the messages' scopes, and _assign takes their values
     * as given. */
    const int32_t *order;
    int32_t order_count; /* 0 if order is NULL */
    gpuopt_elimination_heuristic heuristic;
    /* Runs of each heuristic, with other ties: 1 to 1e6. 0: 1, or up to 8 while the elimination would take long. BEST:
     * less what would be the same. */
    int32_t restarts;
    uint64_t seed; /* of ties and of the improvement of an order */
    gpuopt_elimination_policy policy;
    /* Bytes of device memory (CPU: of host memory) to use at most; 0: what the device has free (CPU: no limit). */
    uint64_t memory_limit;
    uint64_t host_limit; /* STREAM: bytes for tables in host memory; 0: no limit, and AUTO does not use STREAM */
    int32_t z;           /* MINI_BUCKET: most variables in a mini-bucket; 0: the most that fits */
    /* Variables that are fixed instead of eliminated: to 0, until _set_condition gives other values. [condition_count],
     * distinct, none of them in order. */
    const int32_t *evidence;
    int32_t evidence_count; /* variables in condition */
    /* Copies of the model, each with its own condition, eliminated side by side: 1 to 2^24; 0: 1. More than one needs
     * EXACT or MINI_BUCKET. */
    int32_t batch_size;
    /* ON: all messages stay until the end. OFF: a message's memory is used again once the message has been read, and
     * nothing stays for _assign, which then returns STATE, as _get_bounds does. Default: ON, except with the policies
     * DROP and RECOMPUTE, which AUTO may choose: with them there are no bounds. */
    gpuopt_switch retain_messages;
    int join_rest; /* not 0: the functions that are left over in the end become one message, over all their variables */
    /* The number that packed messages carry and that _message_unpack asks for: any, agreed on by all agents of one
     * problem. 0: a hash of this model: type, semiring, top, domains, functions (as tables, however they are given),
     * evidence, and the order and z that are used; not of the values of conditioned and sliced variables. It does not
     * depend on the machine or the backend. */
    uint64_t model;
    /* A budget to search for a better order, with BEST alone; the threads of the context share the work. Seconds, up to
     * 1e9, by the context's hook `seconds`, so that the order may differ from one run to the next, and with the number
     * of threads. The graph of the functions and the first greedy run are always finished: milliseconds where it is
     * sparse, seconds for 100000 functions. A clock that goes back, or is NaN, ends the search. Both this and
     * order_work: whichever ends first. 0: no such limit; both 0: greedy runs, 60000 moves of annealing, and rotations
     * of the tree, with which a search with a budget begins, too; and if the elimination would take long, some sweeps,
     * dissections and 60000 moves more, from the best of these.
     * Annealing is for graphs of at most 8192 variables (less fixed ones and those with one value), if the cliques that
     * cover what cannot be eliminated at once, times the variables there / 64, rounded up for each size of a domain,
     * are at most 2^19: grids of up to about 63 x 63. Beyond, there are dissections and rotations. _plan and _create
     * search again, each with the whole budget: pass them the order instead. */
    double order_seconds;
    /* The same budget in moves of simulated annealing, up to 9e18, or in what takes about as long; a core makes some
     * millions in a second if there are hundreds of variables. The order is then the same on every machine, with any
     * number of threads. Up to 60000 makes no difference, and more may find the same order, or one that is judged a
     * little worse than that of less work, but none that is worse than without. 0: no such limit. */
    int64_t order_work;
    gpuopt_group *group; /* of this context, whose ranks share the model, see Group; NULL: this context has all of it */
    /* Messages that are functions as well: of this type and semiring, with the number `model`, which is then not 0, and
     * with the domain sizes of their variables. All calls read and check them, as _message_inspect does. Not with
     * several ranks; not for _relax and _reduce. */
    const gpuopt_elimination_packed *message; /* [messages] */
    int32_t messages;                         /* functions and messages: at most 2^29 - 1 together */
} gpuopt_elimination_desc;

/* What an elimination will take, known before anything is allocated. */
typedef struct gpuopt_elimination_estimate {
    size_t struct_size;               /* sizeof(gpuopt_elimination_estimate) */
    gpuopt_elimination_policy policy; /* the one that will be used */
    int32_t bits;                     /* of a stored cost: 8, 16, 32, 64 */
    int32_t width;                    /* variables in the largest message's scope */
    int32_t z;                        /* MINI_BUCKET: the one used, else 0 */
    int32_t messages;                 /* more than variables with mini-buckets */
    int32_t levels;            /* longest chain of buckets, and sums of small tables, that wait for one another */
    int32_t sliced;            /* SLICE: variables fixed */
    int64_t slices;            /* combinations of their values; 1 without SLICE */
    double entries;            /* of all messages, of one copy and slice */
    double largest;            /* entries of the largest message */
    double operations;         /* joined rows times tables, over all copies and slices; RECOMPUTE: with _assign's */
    double bytes_moved;        /* each table read once by each bucket that needs it, and written once */
    gpuopt_memory_plan memory; /* as _plan gives it; struct_size is set by the library */
    int32_t passes;            /* RECOMPUTE: passes of the value phase; else 1 */
    /* What the policies take that were tried, by their numbers: bytes of the memory that memory_limit is about (if one
     * does not fit, the least it was tried with); UINT64_MAX if a message has more than 2^44 entries. 0: not tried.
     * AUTO tries one after the other until one fits, a policy by name only itself (STREAM and SLICE: EXACT first). */
    uint64_t policy_bytes[7];
    double policy_operations[7]; /* their operations; 0 if they were not counted */
    /* With a group of several ranks, when all of the above is about this rank's part; else 0: */
    int32_t split;    /* variables of which it has not all values */
    double exchanged; /* bytes that it sends at most in one _step and _assign, beside the headers of the exchanges */
} gpuopt_elimination_estimate;

/* Finds an elimination order, and estimates what the elimination takes: this is how to get an estimate. If desc->order
 * is given, that order is used and nothing is searched for. order [variables], or NULL: receives the variables to
 * eliminate, without conditioned ones, then -1. parent [variables], or NULL: parent[v] is the variable in whose bucket
 * v's first message is put, or -1. estimate may be NULL. Pass the order to _plan and _create, so that it is not
 * searched for again. ARGUMENT and NUMERIC: as _create. UNSUPPORTED: an estimate is asked for and the policy does not
 * fit the limit; or parent is asked for, and messages of more than 2^44 entries have more than 2^26 variables together.
 * Cost: `restarts` greedy runs of each heuristic, and annealing for the budget or, without one, for about as long: some
 * milliseconds for hundreds of variables in twice as many functions, up to some hundreds of them if the elimination
 * would take long; seconds for 100000 functions. The stop hook is asked on the calling thread once there is an order,
 * after the first greedy run, and ends the search with the best order found so far. */
GPUOPT_API gpuopt_status gpuopt_elimination_order(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                  int32_t *order, int32_t *parent,
                                                  gpuopt_elimination_estimate *estimate);
/* Makes a handle, with the functions loaded and no variable eliminated. ARGUMENT, with the function and entry in the
 * log: NaN, values or variables out of range, a variable twice in a scope; or a message that is refused. NUMERIC: some
 * sum of costs does not fit 63 bits or (DOUBLE) could be infinite. UNSUPPORTED: as _plan. */
GPUOPT_API gpuopt_status gpuopt_elimination_create(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                   gpuopt_memory_plan *plan, gpuopt_elimination **elimination);
/* Destroys a handle; NULL is allowed. */
GPUOPT_API void gpuopt_elimination_destroy(gpuopt_elimination *elimination);

/* Where a copy of the model stands. */
typedef struct gpuopt_elimination_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_info) */
    /* MORE: not all variables have been eliminated. Then OPTIMAL: cost is exact; INFEASIBLE: every assignment is
     * forbidden; CONVERGED: cost is a bound (MINI_BUCKET), or the order left variables over. */
    gpuopt_outcome outcome;
    int32_t variable;   /* eliminated last; -1: none yet */
    int64_t eliminated; /* steps done: variables, times slices */
    int64_t steps;      /* steps in all; 1 for a model without variables */
    /* After the last step: the sum of the constants and of the messages without a variable. With MINI_BUCKET at most
     * the optimum (MAX_SUM, LOG_SUM_EXP: at least). */
    int64_t cost;
    double value;       /* the same for DOUBLE */
    uint64_t count;     /* MIN_COUNT: assignments that attain cost; 0 if INFEASIBLE */
    int count_overflow; /* not 0: there are 2^64 - 1 or more */
} gpuopt_elimination_info;

/* Eliminates the next `variables` (1 or more) variables, or all that remain. info is copy 0's; with info == NULL the
 * work is only enqueued (SLICE waits once per slice). Buckets that do not wait for one another are computed together if
 * one call eliminates all variables of a slice, so large counts are faster than single steps. Asked to stop, the
 * outcome is MORE and the next call goes on; `eliminated` then counts complete steps only, although more work may be
 * done. */
GPUOPT_API gpuopt_status gpuopt_elimination_step(gpuopt_elimination *elimination, int32_t variables,
                                                 gpuopt_elimination_info *info);
/* Gives the info of copy 0. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_get_info(gpuopt_elimination *elimination, int32_t copy,
                                                     gpuopt_elimination_info *info);
/* What the value phase found. */
typedef struct gpuopt_elimination_assignment {
    size_t struct_size; /* sizeof(gpuopt_elimination_assignment) */
    /* OPTIMAL: cost is proven optimal, given the values of the variables that the order left over. CONVERGED: a
     * feasible assignment. INFEASIBLE: none was found, which with MINI_BUCKET proves nothing. MORE: stopped while a
     * slice or a pass was repeated; call again. */
    gpuopt_outcome outcome;
    int64_t cost; /* of the assignment, from the original functions; at least the optimum (MAX_SUM: at most) */
    double value; /* the same for DOUBLE */
} gpuopt_elimination_assignment;

/* The value phase, after the last step: goes through the variables in reverse order and gives each the value with the
 * least sum of its bucket's functions, the smallest such value among equal ones. value [variables] holds the values of
 * the variables that the order left over, which are checked in either memory, and receives all values, also of
 * conditioned and sliced variables; it is left alone if the outcome is INFEASIBLE or MORE. assignment may be NULL.
 * STATE: variables remain, or keep is OFF. UNSUPPORTED: LOG_SUM_EXP. Waits. SLICE: the best slice is eliminated again,
 * unless it was the last one. RECOMPUTE: all passes but the first are eliminated again, and from the second call on
 * that one, too; a call after MORE goes on if copy and the values left over are the same. */
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
    uint64_t model;       /* that the packed message carries: the descriptor's or, if that is 0, the hash; never 0 */
} gpuopt_elimination_message_info;

/* Describes a message. ARGUMENT: there is no such message. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_get_info(gpuopt_elimination *elimination, int32_t message,
                                                             gpuopt_elimination_message_info *info);
/* Reads a copy's table: cost [entries] (INT64) or value [entries] (DOUBLE), the scope's last variable fastest, and with
 * MIN_COUNT count [entries] or NULL (else NULL). Forbidden costs are INT64_MAX (MAX_SUM: INT64_MIN), or infinite.
 * STATE: the message is not ready. Waits. Into device memory the table goes in pieces through host memory;
 * _device_view avoids that. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_get(gpuopt_elimination *elimination, gpuopt_memory_space where,
                                                        int32_t message, int32_t copy, int64_t *cost, double *value,
                                                        uint64_t *count);
/* ---- Knapsack: branch and bound on a pool of nodes ---------------------------------------------------------------- *
 * max p x subject to w x <= C, x in {0, 1}^n, or 0 <= x <= upper, x integer (a bounded knapsack; with upper >= C / w an
 * unbounded one), exactly, in integers. A node decides some of the items; its other items
 * are filled in greedily, which gives a solution, and a part of one more item gives Dantzig's bound on every solution
 * below the node. A step takes the nodes of one level, which have all decided the same items, decides one more item,
 * and keeps those of their children that may beat the incumbent, the best solution known.
 *
 * After Boukedjar, Lalami, El Baz: Parallel Branch and Bound on a CPU-GPU System (2012); doc/knapsack.md describes the
 * method and what was added to it.
 *
 * Memory  20 bytes per node in the pool. One whose size was given never grows; one of default size doubles when nodes
 *         do not fit, up to 2^26 nodes (1.3 GB, and while it grows half as much again), as long as the context's
 *         allocator has memory. When it cannot grow, the search continues depth first, or stops with the outcome
 *         FULL. doc/knapsack.md says what that costs; the log (level 2) says when the pool grows and when slices begin.
 *         GPU: also up to 2.9 MB of host memory, 1.4 MB of it locked, through which packed nodes go to and from the
 *         device, up to 65,536 of a list at a time.
 * Cost    A step reads its nodes once (with DOMINANCE twice, in part from a cache) and writes each child that it keeps
 *         once.
 * Bits    With pools of one size, counts, bounds and item sets are the same on every backend, with any number of
 *         threads, and however the work is divided between calls.
 * Group   With a group of several ranks each makes a handle of the same problem. A level of fewer than share_from nodes
 *         all ranks expand, alike. The children of a longer one are shared, each rank keeps a range of them, with
 *         DOMINANCE a range of weights, of about as many as any other; each gets the parents that it lacks from the
 *         others, and drops what a node of any rank dominates. So counts, bounds and item sets are those of one rank
 *         with a pool that holds all nodes, and the pools of all ranks together hold what would not fit one. Ranks may
 *         have different backends. info has sums over all ranks, except for `pool`, which is the rank's own.
 *         When one rank's nodes do not fit, all pools grow, or the level is sliced on all.
 *         _create, _expand, _set_incumbent, _set_copies, _get_items, _get_copies, _pack and _unpack are collective:
 *         they compare first what the ranks were given, `upper` too. If that differs, they return ARGUMENT, and
 *         nothing has changed; what fails on one rank, as an allocation may, is the same status on all. PEER: a rank
 *         is lost or late, see Groups; the handle can then only be destroyed. _pack gives every rank the same bytes,
 *         those of one rank: they can be unpacked by handles without a group, or by each of any number of ranks. If
 *         the host of any rank stops a call, all ranks stop, at most 64 steps later. A rank whose descriptor cannot be
 *         read, or names no group, is late for the others.
 *         UNSUPPORTED: HYBRID; _deal, _keep, _add. Memory: 8 bytes for each item and rank, 2 KiB a rank, 400 KiB.
 *         Cost: one exchange a step on a shared level, if the ranks are threads of one process whose GPUs, with memory
 *         of the library's own, access one another's: a GPU reads the parents that others have where they are. Else
 *         three, and 24 bytes a parent that is sent through host memory: with DOMINANCE about as many as lie within
 *         an item's weight of the borders of the ranges. Items are found by shared searches, too, once the pool is
 *         empty; before that by each rank alone. */

/* A search: the problem, the incumbent and the pool of nodes. */
typedef struct gpuopt_knapsack gpuopt_knapsack;

/* Which tree is searched. */
typedef enum gpuopt_knapsack_search {
    /* Decides the items around the break item first and drops nodes that another node of their step dominates. */
    GPUOPT_SEARCH_DOMINANCE = 0,
    /* The paper's tree: items in the order of profit per weight, and no dominance. */
    GPUOPT_SEARCH_BREADTH,
    /* The same tree divided as in the paper, for comparison: the CPU expands lists of up to hybrid_threshold nodes;
     * longer ones are copied to the GPU and back. On the CPU backend the same as BREADTH. */
    GPUOPT_SEARCH_HYBRID
} gpuopt_knapsack_search;

/* What happens when the children of a level do not fit the pool, and it does not grow. */
typedef enum gpuopt_knapsack_on_pool_full {
    /* The level is expanded in slices, and the search goes on from the deepest level. It ends with the same optimum. */
    GPUOPT_ON_POOL_FULL_DEPTH_FIRST = 0,
    /* The outcome is FULL, and no node is lost: the caller can pack and remove some, and expand again. */
    GPUOPT_ON_POOL_FULL_STOP
} gpuopt_knapsack_on_pool_full;

/* A problem, and how it is searched. */
typedef struct gpuopt_knapsack_desc {
    size_t struct_size;                        /* sizeof(gpuopt_knapsack_desc) */
    int32_t items;                             /* n, 0 to 2^28 */
    const int64_t *weight;                     /* [items] 0 or more, in any order */
    const int64_t *profit;                     /* [items] 0 or more */
    int64_t capacity;                          /* C, 0 or more */
    gpuopt_knapsack_search search;             /* which tree; 0: DOMINANCE */
    gpuopt_knapsack_on_pool_full on_pool_full; /* 0: DEPTH_FIRST */
    /* Nodes that fit, up to 2^40, raised to 2 items + 8 if it is less. 0: 2^20, or 8 items + 32 if that is more, and it
     * grows (with HYBRID it does not), see Memory above. A pool in device memory grows there. */
    int64_t pool;
    int64_t node_limit; /* nodes expanded in the handle's life, after which a step ends with LIMIT; 0: no limit */
    /* Whether _create fixes an item where the other choice could not beat the first incumbent, and makes bundles of
     * equal ones that are left: 10 of them are decided as bundles of 5, 3, 1 and 1. DEFAULT: ON with DOMINANCE, OFF
     * with the others, as in the paper. Items that do not fit, or have no profit or no weight, are settled in any
     * case. */
    gpuopt_switch reduction;
    int32_t hybrid_threshold; /* HYBRID: see there; 0: 5000, as in the paper */
    /* [items] How many copies of each item may be taken, 0 or more; NULL: 1. Of an item of which u copies fit, the
     * search decides floor(log2 u) + 1 pieces, each of which is some of the copies (u = 10: 5, 3, 1 and 1). What
     * depends on the number of items (memory, pool, cost, free_items, packed nodes) depends on that of pieces then. */
    const int64_t *copies_max;
    gpuopt_group *group; /* of this context, whose ranks share the search, see Group; NULL: this context has it */
    /* With a group: nodes of a level from which on its ranks share it; 0: 262,144, or 4,194,304 if a rank has a GPU,
     * but 1,048,576 if all access one another's memory, see Group. */
    int64_t share_from;
} gpuopt_knapsack_desc;

/* Creates a search: sorts the items, finds a first incumbent, fixes items, and puts the root into the pool. If that
 * settles the problem, the outcome is OPTIMAL at once. ARGUMENT: a member is out of range; for a negative weight,
 * profit or upper the log names the item. NUMERIC: Dantzig's bound of the whole problem exceeds 2^63 - 1 (larger sums
 * of weights or profits are allowed). UNSUPPORTED: more than 2^28 pieces. Cost: O(items log items) time on the host,
 * not interrupted by the stop hook. With DOMINANCE and reduction, 64 to 4096 items whose weights form at most 64
 * groups, with gaps 64 times as wide as those within, take up to 15 s more, mostly far less, and up to 300 MB of host
 * memory, which are given back, in no plan, and done without if they are not there. The stop hook is asked many times
 * in each of these seconds; it may end them, and the handle has what was found until then. For lack of memory or time
 * other items may be left undecided, and then handles of one problem cannot exchange nodes; if that is so on one rank
 * of a group, all ranks do without what these groups give. */
GPUOPT_API gpuopt_status gpuopt_knapsack_create(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                                gpuopt_memory_plan *plan, gpuopt_knapsack **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_destroy(gpuopt_knapsack *knapsack);

/* Where the search stands. Counts are over the handle's life, without the searches that recover items. */
typedef struct gpuopt_knapsack_info {
    size_t struct_size; /* sizeof(gpuopt_knapsack_info) */
    /* MORE; OPTIMAL: `lower` is the optimum; INFEASIBLE: no solution reaches the claim, see _set_incumbent; LIMIT:
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
 * ends (0: no such limit). A step is never divided, so `nodes` may be exceeded by what one step expands. Fills *info,
 * which may be NULL. The stop hook is asked after each step; if it stops the call, the outcome is MORE, unless that
 * step ended the search, and the next call goes on to the same result. ARGUMENT: a negative number. Waits for the
 * device after each step. Cost: a step whose children turn out not to fit is made again, in a larger pool or on a
 * slice. With DOMINANCE and reduction, once 4 nodes an item (a bundle is one) have been expanded and if 64 items or
 * more are free, up to two other knapsack problems are solved on the host, with at most 64 nodes an item each,
 * uninterrupted and without being counted (doc/knapsack.md, Surrogates). They take host memory meanwhile, as a handle
 * of these items with a pool of 65,536 nodes; if there is none, the search goes on without. */
GPUOPT_API gpuopt_status gpuopt_knapsack_expand(gpuopt_knapsack *knapsack, int64_t nodes, int32_t levels,
                                                gpuopt_knapsack_info *info);
/* Fills *info with where the search stands. */
GPUOPT_API gpuopt_status gpuopt_knapsack_get_info(gpuopt_knapsack *knapsack, gpuopt_knapsack_info *info);

/* Tells the search of a solution, at any time. taken: [items] in memory `where`, nonzero for the items of a solution,
 * and `profit`, which must be theirs; the solution becomes the incumbent if it is better. taken == NULL: a claim that
 * some solution has at least this profit. From then on only such solutions are searched for: if there is one, the
 * search ends with OPTIMAL, and its items can be had as always; else with INFEASIBLE. Of several claims the largest
 * counts. ARGUMENT: profit is negative or not that of the items, or the items are too heavy, which is also checked in
 * device memory. STATE: taken is not NULL, and the handle was made with `upper`. Cost: O(items) time on the host. */
GPUOPT_API gpuopt_status gpuopt_knapsack_set_incumbent(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                       int64_t profit, const uint8_t *taken);
/* As _set_incumbent with items, for handles with and without `upper`. copies: [items] in memory `where`, how many of
 * each item the solution takes. ARGUMENT: copies is NULL, or holds a number that is negative or more than `upper`
 * (without it: 1); and as there. */
GPUOPT_API gpuopt_status gpuopt_knapsack_set_copies(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                    int64_t profit, const int64_t *copies);

/* Returns the incumbent, at any time: taken [items] as 1 and 0 in memory `where`, in the order of the descriptor; its
 * profit and its weight, each one number in host memory. Any may be NULL. A node carries only its last 32 decisions;
 * earlier ones are recovered, 32 at a time, by searches within the free part of the pool, so the call is cheapest once
 * the search has ended. It may find a better solution, which is then the incumbent. The stop hook is not asked. STATE:
 * taken is not NULL, and the handle was made with `upper`. */
GPUOPT_API gpuopt_status gpuopt_knapsack_get_items(gpuopt_knapsack *knapsack, gpuopt_memory_space where, uint8_t *taken,
                                                   int64_t *profit, int64_t *weight);
/* As _get_items, for handles with and without `upper`. copies: [items] in memory `where`, how many of each item. */
GPUOPT_API gpuopt_status gpuopt_knapsack_get_copies(gpuopt_knapsack *knapsack, gpuopt_memory_space where,
                                                    int64_t *copies, int64_t *profit, int64_t *weight);

/* Packs nodes into bytes, for a checkpoint or for another process with a handle of the same problem. The `nodes` nodes
 * that would be expanded next (-1: all) go into bytes [capacity], in host memory; *size (may be NULL) is how many bytes
 * they take. bytes == NULL: only *size. remove, if not 0: takes them out of the pool, so that two handles share the
 * work; OPTIMAL and `upper` then refer only to what each of them holds. The incumbent and the claim are packed too.
 * ARGUMENT: capacity is too small. Cost: as _get_items, and O(size). doc/knapsack.md describes the format, which is the
 * same on every machine. */
GPUOPT_API gpuopt_status gpuopt_knapsack_pack(gpuopt_knapsack *knapsack, int64_t nodes, int remove, void *bytes,
                                              uint64_t capacity, uint64_t *size);
/* Unpacks nodes, with the incumbent if it is better, and the claim, from bytes [size] in host memory. The pool must be
 * empty, or hold nothing but the root, which is replaced; else STATE. The handle's counts continue and do not come from
 * the bytes. ARGUMENT: the bytes are not packed nodes, cut short, damaged, or of another problem, search or reduction.
 * UNSUPPORTED: the nodes do not fit the pool, nor one of default size grown; those of a handle with a pool of at most
 * this size always do. Cost: O(size), all of which is checked. */
GPUOPT_API gpuopt_status gpuopt_knapsack_unpack(gpuopt_knapsack *knapsack, const void *bytes, uint64_t size);

#ifdef __cplusplus
}

extern "C++" { /* where the host includes this header in its own extern "C", too */
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
