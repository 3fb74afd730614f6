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
 *     if (gpuopt_context_create(NULL, &context) || gpuopt_propagator_create(context, &model, &propagator)) ...
 *     while (info.outcome == GPUOPT_MORE)                    // your loop
 *         if (gpuopt_propagator_round(propagator, 1, &info)) ...
 *     gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, lb, ub);
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
 *            _add enlarge a pool whose size was left to the library, gpuopt_knapsack_choice_run likewise its lists, and
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
typedef enum gpuopt_memory { GPUOPT_HOST = 0, GPUOPT_DEVICE = 1 } gpuopt_memory;

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
    void *(*allocate)(void *user, gpuopt_memory where, size_t bytes);
    void (*release)(void *user, gpuopt_memory where, void *memory); /* goes with allocate */
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
typedef enum gpuopt_number {
    GPUOPT_NUMBER_FP64 = 0, /* double */
    GPUOPT_NUMBER_FP32,     /* float */
    GPUOPT_NUMBER_UINT8,    /* uint8_t */
    GPUOPT_NUMBER_UINT16,   /* uint16_t */
    GPUOPT_NUMBER_UINT32,   /* uint32_t */
    GPUOPT_NUMBER_UINT64    /* uint64_t */
} gpuopt_number;

/* The backend's own array in device memory, lent until the next call on its handle, to be read on the context's
 * stream. */
typedef struct gpuopt_device_view {
    size_t struct_size;
    const void *data; /* [count] */
    int64_t count;    /* numbers in data */
    gpuopt_number type;
} gpuopt_device_view;

/* ---- Groups: several contexts that work together ------------------------------------------------------------------ *
 * A group joins contexts of several devices, processes or machines. Each of them is a rank, 0 to count - 1, and has a
 * handle of the group; all ranks make the same calls:
 *
 *     gpuopt_transport transport = GPUOPT_INIT(gpuopt_transport);
 *     gpuopt_mpi_open(MPI_COMM_WORLD, &transport);                             // how ranks reach one another
 *     gpuopt_group_create(context, &transport, NULL, &group);
 *     ... each rank does its share, and finds a solution of profit `best` ...
 *     gpuopt_group_all_reduce(group, GPUOPT_REDUCE_MAX, 1, &best, NULL);       // now the best of all ranks' solutions
 *     gpuopt_group_destroy(group);
 *     gpuopt_mpi_close(&transport);
 *
 * Transport  The library has no threads, no clock and no network: a transport brings them, a struct of five functions
 *            that the host fills. Three are ready, each a file that the host adds to its build:
 *            transports/gpuopt_threads.c for threads of one process (POSIX), transports/gpuopt_mpi.c for processes
 *            (MPI), transports/gpuopt_nccl.c for processes with a GPU each (NCCL, loaded at run time). Without a
 *            transport a group has one rank, and every call works.
 * Threads    A group is a handle of its context, and used by that context's thread. A call of a rank waits for calls of
 *            the others, so each rank needs a thread or a process of its own.
 * Collective All calls are collective but for _send, _receive, _abort, _get_info and _destroy: each rank makes them, in
 *            the same order, and with the same arguments except for data and what a comment names. They first compare
 *            what the ranks were given. If that differs, or is out of range on one rank, the call returns ARGUMENT on
 *            all of them, and nothing has changed. A call may end on one rank before the others.
 * Lost ranks A rank is lost if another has waited for it for the time limit, or if it has called _abort, or was ended,
 *            as far as the transport notices. Calls that need it return GPUOPT_ERROR_PEER (or another error that the
 *            transport gave), and the group is broken: all further calls of these ranks but _get_info, _abort and
 *            _destroy return PEER at once. The others, and one that was only late, are told, and return it in their
 *            present call or in the next one. An array that such a call was to fill is then unspecified. Contexts and
 *            their other handles stay usable, whatever the transport's error, and the group can be destroyed.
 * Arrays     of _broadcast, _all_gather, _send and _receive are in host memory or in that of the context's device:
 *            `where`, which may differ from rank to rank. Those of one call do not overlap. Device memory needs the CUDA
 *            backend and a transport that takes it: else UNSUPPORTED, of a collective call on all ranks. Such an
 *            exchange comes after what was enqueued on the context's stream before, and is done when the call returns.
 *            Ranks are machines of one byte order.
 * Memory     On each rank 4,128 bytes for every rank of the group, and up to 1 KiB; a transport's own memory not
 *            included. Not planned beforehand: there is no _plan.
 * Cost       Of a collective call: one exchange of 32 bytes a rank, and what its comment says. */

/* One rank's part of a group. */
typedef struct gpuopt_group gpuopt_group;

/* How one rank reaches the others. A function returns OK when its arrays may be used again, and otherwise PEER: the
 * exchange was not done in `seconds` (a transport may leave the transfer out, and count only the wait for the others'
 * calls), a rank is known to be lost, or it sent another number of bytes; or another error of the transport's own.
 * `bytes` is 1 to 2^30; `where` is about this rank's arrays. The library calls them from the thread that uses the
 * group, and none but abandon after one has failed. */
typedef struct gpuopt_transport {
    size_t struct_size;  /* sizeof(gpuopt_transport) */
    void *user;          /* passed to the functions */
    int32_t rank, count; /* this rank, 0 to count - 1; all ranks, 1 to 65,536 */
    /* Collective: receive [count][bytes] gets each rank's send [bytes], in the order of ranks. */
    gpuopt_status (*all_gather)(void *user, double seconds, gpuopt_memory where, const void *send, uint64_t bytes,
                                void *receive);
    /* Collective: data [bytes] of rank `root` goes to all others. */
    gpuopt_status (*broadcast)(void *user, double seconds, gpuopt_memory where, int32_t root, void *data,
                               uint64_t bytes);
    /* To another rank; may wait until that one receives. What one rank sends to another arrives in that order. */
    gpuopt_status (*send)(void *user, double seconds, gpuopt_memory where, int32_t to, const void *data,
                          uint64_t bytes);
    gpuopt_status (*receive)(void *user, double seconds, gpuopt_memory where, int32_t from, void *data, uint64_t bytes);
    /* Tells the others, without waiting for their calls, that this rank makes no more: what they wait for returns PEER
     * as soon as they know rather than after the time limit, and so does all that they call later. */
    void (*abandon)(void *user);
    /* Whether `where` may be DEVICE; this rank's arrays are then in the memory of its context's device, and nothing that
     * is under way there touches them. 0: no; k + 1: if that is CUDA's device k; -1: whichever it is. */
    int32_t device_memory;
} gpuopt_transport;

/* How a group works; the same on all ranks. */
typedef struct gpuopt_group_desc {
    size_t struct_size; /* sizeof(gpuopt_group_desc) */
    /* Seconds that an exchange may take, 1e-3 to 1e9; 0: 60. It must exceed the longest time that a rank works between
     * two calls while others wait, and with a transport that counts transfers (gpuopt_mpi.h, gpuopt_nccl.h) that time
     * and a transfer's together: of up to 2^30 bytes, in all_gather from each rank. What is larger goes in several
     * exchanges, each with this limit. A call returns at the first that fails. */
    double time_limit;
} gpuopt_group_desc;

/* Makes this rank's part of a group. Collective. The transport's struct is copied; what it refers to must outlive the
 * group. transport NULL: a group of this rank alone. desc NULL: defaults. ARGUMENT: a member is out of range or
 * missing, or (on all ranks) they differ in count, desc or the library's version. PEER: not all ranks came within the
 * time limit, or one could not make its part: then it abandons the transport, unless that itself is wrong. */
GPUOPT_API gpuopt_status gpuopt_group_create(gpuopt_context *context, const gpuopt_transport *transport,
                                             const gpuopt_group_desc *desc, gpuopt_group **group);
/* Destroys this rank's part; NULL is allowed. Not collective, and waits for nobody. */
GPUOPT_API void gpuopt_group_destroy(gpuopt_group *group);

/* Who is in a group. */
typedef struct gpuopt_group_info {
    size_t struct_size;      /* sizeof(gpuopt_group_info) */
    int32_t rank;            /* of this context */
    int32_t count;           /* ranks */
    int broken;              /* not 0: a rank is lost */
    gpuopt_context *context; /* the one whose handle the group is */
    double time_limit;       /* in seconds, see gpuopt_group_desc */
    int device_memory;       /* not 0: this rank's arrays may be in device memory */
} gpuopt_group_info;
/* Fills `info`. Not collective. */
GPUOPT_API gpuopt_status gpuopt_group_get_info(gpuopt_group *group, gpuopt_group_info *info);

/* Compares bytes [size] of all ranks, such as a model that each of them has read. ARGUMENT: a rank has others, or
 * another size; the log names it. Found by a hash of 64 bits. With size 0: waits until all ranks have made the call. */
GPUOPT_API gpuopt_status gpuopt_group_agree(gpuopt_group *group, const void *bytes, uint64_t size);
/* Copies data [bytes] of rank `root` to all others. */
GPUOPT_API gpuopt_status gpuopt_group_broadcast(gpuopt_group *group, gpuopt_memory where, int32_t root, void *data,
                                                uint64_t bytes);
/* Gathers what each rank sends: its send [bytes], where `bytes` may differ from rank to rank and may be 0. On all ranks
 * receive [capacity] gets these one after the other, in the order of ranks, and sizes [count] (or NULL), in host
 * memory, the bytes of each. ARGUMENT: capacity is too small, or differs, or receive is NULL on some ranks and not on
 * others; if too small, sizes is filled in. With receive NULL and capacity 0 on all ranks only the sizes are found,
 * which is no error. Cost: one exchange if all send equally many, at most 2^30; else for each rank one broadcast for
 * each 2^30 bytes of its. */
GPUOPT_API gpuopt_status gpuopt_group_all_gather(gpuopt_group *group, gpuopt_memory where, const void *send,
                                                 uint64_t bytes, void *receive, uint64_t capacity, uint64_t *sizes);

/* What a reduction makes of the numbers of two ranks. */
typedef enum gpuopt_group_reduction {
    GPUOPT_REDUCE_MIN = 0, /* the lesser one; NaN if either is */
    GPUOPT_REDUCE_MAX,     /* the greater one; likewise */
    GPUOPT_REDUCE_SUM      /* the sum */
} gpuopt_group_reduction;
/* Reduces integer [count] or real [count], of which the other is NULL, entry by entry over all ranks, in the order of
 * ranks: all get the same bits, with any transport, but for those of a NaN, which may be another NaN on another rank.
 * NUMERIC, on all ranks: a sum of integers is beyond int64; the array is then unspecified. Cost: an exchange for each
 * 512 numbers; meant for few. */
GPUOPT_API gpuopt_status gpuopt_group_all_reduce(gpuopt_group *group, gpuopt_group_reduction reduction, int64_t count,
                                                 int64_t *integer, double *real);

/* Sends data [bytes] to another rank, which receives just as many from this one; may wait for that. Two ranks that send
 * to each other before either receives may wait for the time limit. A message of 0 bytes is none: _send and _receive
 * then wait for nobody. One of more than 2^30 bytes is one of 2^30, and then one of the others. ARGUMENT: no such other
 * rank. */
GPUOPT_API gpuopt_status gpuopt_group_send(gpuopt_group *group, gpuopt_memory where, int32_t to, const void *data,
                                           uint64_t bytes);
/* Receives data [bytes] from another rank: its messages in the order in which they were sent. PEER, also: the message
 * has another number of bytes, messages being as _send says: to receive 2^30 bytes of 2^30 + 5 is OK, and the next
 * message then has 5. ARGUMENT: no such other rank. */
GPUOPT_API gpuopt_status gpuopt_group_receive(gpuopt_group *group, gpuopt_memory where, int32_t from, void *data,
                                              uint64_t bytes);
/* Breaks the group on purpose, because this rank cannot go on: the others are told (see the transport for how soon), so
 * that they need not wait for the time limit. */
GPUOPT_API gpuopt_status gpuopt_group_abort(gpuopt_group *group);

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
    GPUOPT_MODE_SEQUENTIAL = 1
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

/* Fills `plan` with the memory that a propagator of this model takes. Errors: as _create. Time O(nonzeros + rows +
 * cols): reads every array of the descriptor once. */
GPUOPT_API gpuopt_status gpuopt_propagator_plan(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                gpuopt_memory_plan *plan);

/* Makes a propagator. ARGUMENT: a value is outside of the ranges above; the log names it with its position.
 * UNSUPPORTED: SEQUENTIAL on the GPU or with marking OFF; a driver that the device or the CUDA version lacks; a trail
 * or spare rows with marking OFF or with the drivers HOST and GRAPH; too many rows or columns (see gpuopt_matrix). Time
 * O(nonzeros + rows + cols); on the GPU little more than copying the arrays to the device takes, where they are checked
 * and laid out. */
GPUOPT_API gpuopt_status gpuopt_propagator_create(gpuopt_context *context, const gpuopt_propagator_desc *desc,
                                                  gpuopt_propagator **propagator);
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
GPUOPT_API gpuopt_status gpuopt_propagator_get_bounds(gpuopt_propagator *propagator, gpuopt_memory where, double *lb,
                                                      double *ub);
/* Sets all bounds from lb and ub [cols], in the memory that `where` says; NULL: these bounds stay. Bounds may become
 * tighter or looser; if they cross by more than the tolerance, the next _round does no rounds and returns INFEASIBLE.
 * Those of integer columns are rounded to integers, and FP32 rounds outwards. A column whose bounds are then equal is
 * fixed: rows do not move it, but are infeasible if they cannot live with it.
 * ARGUMENT: NaN, lb >= infinity or ub <= -infinity; the call waits to check device memory for it. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                      const double *lb, const double *ub);
/* Reads the bounds of `count` columns: col, lb and ub [count], all in the memory that `where` says; lb or ub may be
 * NULL. ARGUMENT: a column in host memory is out of range. One in device memory gives NaN. Cost O(count). */
GPUOPT_API gpuopt_status gpuopt_propagator_get_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, double *lb, double *ub);
/* Sets the bounds of `count` columns: col, lb and ub [count], all in the memory that `where` says; lb or ub NULL: these
 * bounds stay. A column that is listed twice is set to one of its values; if one of them crosses a lower bound that
 * stays, this may come down to it. ARGUMENT: as _set_bounds, or a column is out of range. Cost O(count), after crossing
 * bounds O(cols); with marking, the next round evaluates only rows of these columns and, on the CPU, those that were
 * infeasible; on the GPU all rows after INFEASIBLE. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_some_bounds(gpuopt_propagator *propagator, gpuopt_memory where,
                                                           int64_t count, const int32_t *col, const double *lb,
                                                           const double *ub);

/* Sets the sides of `count` distinct rows (an objective cutoff, say): row, lhs and rhs [count], all in the memory that
 * `where` says. ARGUMENT: a row is out of range, NaN, lhs > rhs, lhs >= infinity or rhs <= -infinity; the call waits to
 * check device memory for it. Cost O(count), with a trail times the open levels; on the GPU the next round evaluates
 * all rows. */
GPUOPT_API gpuopt_status gpuopt_propagator_set_some_sides(gpuopt_propagator *propagator, gpuopt_memory where,
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
GPUOPT_API gpuopt_status gpuopt_propagator_get_rows(gpuopt_propagator *propagator, gpuopt_memory where,
                                                    const gpuopt_propagator_row_report *report);

/* Lends the CUDA backend's array of bounds: [cols][2] numbers, FP64 or FP32 as the precision is; pair j is (lb, ub) of
 * column j. UNSUPPORTED: on the CPU. */
GPUOPT_API gpuopt_status gpuopt_propagator_device_view(gpuopt_propagator *propagator, gpuopt_device_view *view);

/* ---- Propagation in a tree search --------------------------------------------------------------------------------- *
 * A propagator with a trail (trail_capacity) records every change of a bound, the host's and those that rows imply. So
 * a host that branches sees what changed, goes back, and asks why:
 *
 *     gpuopt_propagator_push(p, &start);                                        // a level: a node's child
 *     gpuopt_propagator_set_some_bounds(p, GPUOPT_HOST, 1, &col, NULL, &ub);    // the decision
 *     gpuopt_propagator_round(p, 1000, &info);
 *     gpuopt_propagator_get_changes(p, GPUOPT_HOST, start, &changes);           // what it led to
 *     gpuopt_propagator_pop(p, 1);                                              // back
 *
 * Trail      Changes have positions 0, 1, ... in the order in which they were made; those of one JACOBI round are
 *            ordered by column, a lower bound before the upper one. Level 0 is what the handle was created with. The
 *            trail is memory of the handle: when it is full, _round returns the outcome FULL and the calls that set
 *            bounds GPUOPT_ERROR_MEMORY; bounds are then as they were before the round (SEQUENTIAL: before the bound)
 *            or call that did not fit, and the host can pop, or empty the trail with _keep.
 * Cost       CPU: of a change, the entries of its column, when it is made and when it is taken back. _round looks only
 *            at rows in which a changed bound can have an effect; that needs the activities of rows, which are kept and
 *            updated. No call of a search costs time for all rows, columns or nonzeros, but for the first _round, one
 *            after so many changes that a full pass is faster, and one after a _pop to a level that began without a
 *            fixpoint of this kind.
 *            CUDA: _round evaluates the rows of the columns that changed, or all if many did, and all added rows. It
 *            evaluates all after _pop to a level that began without a fixpoint, after sides or rows have changed, and
 *            after FULL. To record a round it evaluates the rows that may have moved a bound once more, and if more
 *            than 4096 bounds moved, looks at all columns. Setting bounds and _pop are launches of one block, made for
 *            few changes. They do not wait for the device, unless the trail may be too short for the bounds; _push and
 *            _get_trail wait only if bounds, sides or rows have been set, or rounds enqueued, since the latest call
 *            that waited.
 * Rows       added (cuts, conflicts, an objective cutoff) take room that _create reserves (spare_rows,
 *            spare_nonzeros). They are numbered from matrix.rows on. Rows and sides belong to no level: _pop leaves
 *            them, and has those that a popped level saw change evaluated again.
 * Backend    JACOBI: CPU and CUDA have the same trails, with the same rows and premises, unless a call that sets bounds
 *            names a column twice: the CPU then records each, CUDA the last. */

/* Opens a level. *start, which may be NULL: the position of its first change. STATE: there is no trail. MEMORY: there
 * are as many levels as trail_capacity. Cost O(1). */
GPUOPT_API gpuopt_status gpuopt_propagator_push(gpuopt_propagator *propagator, int64_t *start);
/* Closes the latest `levels` levels and takes their changes back. What had been proven, and which rows were still to be
 * evaluated, is again as at the _push. ARGUMENT: levels is negative, or more than there are. */
GPUOPT_API gpuopt_status gpuopt_propagator_pop(gpuopt_propagator *propagator, int32_t levels);
/* Empties the trail and keeps the bounds: they become those of level 0. Positions start at 0 again, and changes so far
 * can no longer be explained. STATE: there is no trail. Cost O(changes, and rows still to be evaluated). */
GPUOPT_API gpuopt_status gpuopt_propagator_keep(gpuopt_propagator *propagator);

/* Where a trail stands. */
typedef struct gpuopt_propagator_trail {
    size_t struct_size;  /* sizeof(gpuopt_propagator_trail) */
    int32_t levels;      /* open levels */
    int64_t changes;     /* in the trail */
    int64_t level_start; /* the position at which the latest level begins; 0 at level 0 */
} gpuopt_propagator_trail;
/* Fills `trail`. Without a trail all members are 0. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_trail(gpuopt_propagator *propagator, gpuopt_propagator_trail *trail);

/* A part of a trail. The arrays are [capacity] each, or NULL. */
typedef struct gpuopt_propagator_changes {
    size_t struct_size; /* sizeof(gpuopt_propagator_changes) */
    int64_t capacity;   /* the caller's: at most so many changes are written */
    int64_t count;      /* filled in: changes from the given position on, whatever the capacity */
    int32_t *col;       /* the column */
    uint8_t *upper;     /* 1: its upper bound changed; 0: its lower bound */
    /* Before and after; infinite ones are IEEE infinities. Equal if the host fixed the column where it already was. */
    double *old_bound, *new_bound;
    /* The row that implies the new bound: with JACOBI, the lowest of those that do in that round. -1: the host set
     * it. */
    int32_t *row;
} gpuopt_propagator_changes;
/* Reads the changes from position `from` on: their count, and the first `capacity` of them into arrays in the memory
 * that `where` says. A bound that moved several times is there several times. ARGUMENT: from is negative or beyond the
 * end. STATE: there is no trail. Cost O(changes read); CUDA, host memory: of those that the host has not seen yet, in
 * one copy, or without one if the last _round found at most 256. */
GPUOPT_API gpuopt_status gpuopt_propagator_get_changes(gpuopt_propagator *propagator, gpuopt_memory where, int64_t from,
                                                       gpuopt_propagator_changes *changes);

/* Why a bound changed, or why there is no solution. */
typedef struct gpuopt_propagator_reason {
    size_t struct_size; /* sizeof(gpuopt_propagator_reason) */
    int64_t capacity;   /* the caller's: length of premises */
    int64_t count;      /* filled in, as the rest: premises, whatever the capacity */
    int64_t *premises;  /* [capacity] or NULL: positions of changes, ascending; unspecified if count is larger */
    int32_t row;        /* the row; -1: the host set the bound, or the bounds of a column cross */
    int32_t col;        /* of a change: its column; of infeasibility: the column whose bounds cross, or -1 */
} gpuopt_propagator_reason;
/* Explains the change at position `change` or, if that is -1, the present infeasibility. The row, with the bounds that
 * the premises set and for all others those of level 0, implies the new bound or has no solution; if bounds of a column
 * cross, the premises are those that set them. Premises that are not needed for that are left out where this is found
 * in one pass. Host arrays. ARGUMENT: there is no such change. STATE: there is no trail, or the row was changed or
 * removed after it implied the bound; -1: the verdict is not INFEASIBLE. Cost: the entries of the row, and for each the
 * changes of its bound; CUDA: and copying the row, and what the host has not seen of the trail, to the host. */
GPUOPT_API gpuopt_status gpuopt_propagator_explain(gpuopt_propagator *propagator, int64_t change,
                                                   gpuopt_propagator_reason *reason);

/* Adds rows: a matrix with the propagator's columns, and sides [rows->rows] as in the descriptor, in host memory. row
 * [rows->rows]: where to write the new rows' numbers; NULL: not. ARGUMENT: as _create. MEMORY: they do not fit into the
 * spare rows and nonzeros. Cost O(cols + nonzeros added + rows added * levels), and at times O(nonzeros of all added
 * rows); CUDA: and O(spare rows). */
GPUOPT_API gpuopt_status gpuopt_propagator_add_rows(gpuopt_propagator *propagator, const gpuopt_matrix *rows,
                                                    const double *lhs, const double *rhs, int32_t *row);
/* Removes `count` distinct added rows; their numbers are given to rows that are added later. Bounds that they implied
 * stay. ARGUMENT: a number is not that of an added row, or is there twice. */
GPUOPT_API gpuopt_status gpuopt_propagator_remove_rows(gpuopt_propagator *propagator, int64_t count,
                                                       const int32_t *row);

/* Makes another state of the same model: a propagator that shares the original's matrix and settings, and begins with
 * its bounds, sides and added rows, at level 0 with an empty trail. It may belong to another context of the same
 * backend and device, and then be used by another thread at the same time; with CUDA, to one whose stream is of the
 * same CUDA context, or of green contexts. The original must not be destroyed before it. Cost
 * O(rows + cols + spare nonzeros); waits for what the original has enqueued. */
GPUOPT_API gpuopt_status gpuopt_propagator_fork(gpuopt_propagator *original, gpuopt_context *context,
                                                gpuopt_propagator **fork);
/* Fills `plan` with the memory that a fork takes. */
GPUOPT_API gpuopt_status gpuopt_propagator_plan_fork(gpuopt_propagator *original, gpuopt_context *context,
                                                     gpuopt_memory_plan *plan);

/* ---- A batch of nodes --------------------------------------------------------------------------------------------- *
 * Propagates many nodes of a search in one call: each is a list of bounds that differ from those of one propagator, the
 * base, which does not change:
 *
 *     gpuopt_propagator_batch_create(base, &desc, &batch);
 *     gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, 1000, &results);      // outcome of each node, ...
 *     gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes);            // and what changed in it
 *
 * Result     Of each node the same bits, outcome and rounds as if the base had been given the node's bounds by
 *            gpuopt_propagator_set_some_bounds and then propagated by _round, with any number of threads and on the
 *            GPU.
 * Base       Its bounds, sides and rows as they are when _run is called. While it is INFEASIBLE, every node is, with
 *            the base's row and column, after 0 rounds. It must not be destroyed before its batches, which belong to
 *            its context. A base whose rounds a captured graph replays needs a call that changes it before the next
 *            _run.
 * Cost       Of a node: the entries of the columns that change, and the rows in which that can have an effect; on the
 *            GPU also all added rows in each round. After a change of the base the next _run takes one more pass over
 *            A on the GPU, and O(rows + cols) a thread on the CPU. If the base is not at a fixpoint, each node
 *            evaluates the rows that can still act in it, too.
 * stop       is asked between nodes on the CPU; on the GPU between launches, of which a _run has few: nodes that
 *            outgrow the room that they were run in are run again in a larger one.
 * Group      With a group in the descriptor its ranks share the nodes. Each makes a batch like the others', on a base
 *            of its own with the same model, bounds, sides and rows, and gives all nodes to each _run; of P ranks it
 *            runs about one in P of them, and gets the reports of all: the same bits as without a group, except
 *            nonzeros. Which columns changed stays with the rank that found it until _get_changes asks for all.
 *            _create, _run and _get_changes (unless `own` is set) are collective, as the group's own calls are. They
 *            compare the bases' sizes and settings, the descriptor, count, start, rounds and what is wanted of the
 *            report; that models, bounds and nodes are the same is the host's duty (gpuopt_group_agree). The bounds
 *            that a node is given are read, and checked, by the rank that runs it. What is refused or runs out of
 *            memory on one rank returns the same status on all, and the group goes on; after a DEVICE error on one the
 *            others return PEER. A stop hook ends the share of its rank. Arrays are in host memory (DEVICE:
 *            UNSUPPORTED). The group is needed by these three calls, not by _destroy. */

/* Many nodes of one base, and what the latest _run found. */
typedef struct gpuopt_propagator_batch gpuopt_propagator_batch;

/* A batch to be created. */
typedef struct gpuopt_propagator_batch_desc {
    size_t struct_size; /* sizeof(gpuopt_propagator_batch_desc) */
    int32_t nodes;      /* most nodes of a call, 1 to 65,536 */
    /* Most columns that a node may be given or change; one with more ends with the outcome FULL; 0: any number. */
    int32_t node_columns;
    /* Most bounds that the nodes of a call may be given together, and most columns that may change in all of them
     * together; 0: 32 a node. At most 2^31 - 1. With a group: for the nodes that one rank runs; 0: 32 for each of
     * these. */
    int64_t changes;
    gpuopt_group *group; /* of the base's context: its ranks share the nodes, see Group; NULL: this context runs all */
} gpuopt_propagator_batch_desc;

/* Fills `plan` with the memory that a batch takes. Errors: as _create. */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_plan(gpuopt_propagator *base, const gpuopt_propagator_batch_desc *desc,
                                                      gpuopt_memory_plan *plan);
/* Makes a batch. ARGUMENT: a member is out of range. UNSUPPORTED: the base's mode is SEQUENTIAL, or its marking OFF.
 * Time O(nonzeros + rows + cols). */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_batch_desc *desc,
                                                        gpuopt_propagator_batch **batch);
/* Destroys a batch; NULL is allowed. */
GPUOPT_API void gpuopt_propagator_batch_destroy(gpuopt_propagator_batch *batch);

/* Nodes to be propagated. All arrays are in the memory that the call's `where` says. */
typedef struct gpuopt_propagator_nodes {
    size_t struct_size; /* sizeof(gpuopt_propagator_nodes) */
    int32_t count;      /* nodes, 0 to the descriptor's */
    /* [count + 1], ascending from 0: node k is given entries start[k] to start[k + 1] - 1 of the next three. */
    const int64_t *start;
    const int32_t *col;    /* columns; distinct in each node */
    const double *lb, *ub; /* their bounds, tighter or looser than the base's; NULL: set to what the base has */
} gpuopt_propagator_nodes;

/* Where _run is to write what it found. Each array is [nodes] or NULL, in the memory that `where` says. */
typedef struct gpuopt_propagator_node_report {
    size_t struct_size;      /* sizeof(gpuopt_propagator_node_report) */
    int32_t *outcome;        /* a gpuopt_outcome: MORE, CONVERGED, INFEASIBLE, LIMIT or FULL */
    int32_t *rounds;         /* as in gpuopt_propagator_info, as the next two */
    int32_t *infeasible_row; /* of an INFEASIBLE node: the row that has no solution, or -1 */
    int32_t *infeasible_col; /* or the column whose bounds cross, or -1 */
    int64_t *changed;        /* bounds moved by rows; 0 if FULL */
    int32_t *columns;        /* columns whose bounds end up different from the base's; 0 if INFEASIBLE or FULL */
    int64_t *nonzeros;       /* in the rows that were evaluated; depends on the backend */
    int32_t *rank;           /* with a group: the rank that ran the node; else not written */
} gpuopt_propagator_node_report;

/* Propagates each node by at most `rounds` (at least 1) rounds, and waits for that; a report in device memory is
 * written in the order of the stream. Rounds are counted from the node's bounds, as is the round limit. A node with the
 * outcome MORE has had `rounds` rounds, or none if the stop hook ended the call before; the latter have no changes, and
 * are to be given again. FULL: see node_columns; such a node can be run by a batch without that limit, or by a
 * propagator. ARGUMENT: a count or start is out of range; a column is out of range, or a bound as
 * gpuopt_propagator_set_bounds refuses it. What is in device memory is checked, too. That a column is twice in a node
 * is not checked; one of its bounds then counts. MEMORY: the nodes are given more bounds than the descriptor has room
 * for (in device memory that is ARGUMENT). After an error there are no changes to read. */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_run(gpuopt_propagator_batch *batch, gpuopt_memory where,
                                                     const gpuopt_propagator_nodes *nodes, int32_t rounds,
                                                     const gpuopt_propagator_node_report *report);

/* The columns whose bounds ended up different from the base's. Arrays are in the memory that `where` says, or NULL. */
typedef struct gpuopt_propagator_node_changes {
    size_t struct_size; /* sizeof(gpuopt_propagator_node_changes) */
    int64_t capacity;   /* the caller's: length of the last three arrays */
    int64_t count;      /* filled in: columns of all nodes together, whatever the capacity */
    int64_t *start;     /* [nodes of the _run + 1]: those of node k are start[k] to start[k + 1] - 1 */
    int32_t *col;       /* [capacity]: the columns, ascending in each node */
    double *lb, *ub;    /* [capacity]: both bounds of each, as gpuopt_propagator_get_bounds returns them */
    int own;            /* with a group: not 0: as if the nodes of other ranks had no changes, without asking them */
} gpuopt_propagator_node_changes;
/* Reads the changes of all nodes of the latest _run: count and start, and the first `capacity` of the columns.
 * INFEASIBLE and FULL nodes have none. MEMORY: there are more than the descriptor has room for; count is filled in, and
 * the nodes are to be run in several calls. STATE: there was no _run, or it failed. With a group: also MEMORY if there
 * is no room on one rank (with `own`: on this one); capacity, and which arrays are NULL, may differ from rank to rank;
 * each rank sends the others 20 bytes a column. */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_changes(gpuopt_propagator_batch *batch, gpuopt_memory where,
                                                             gpuopt_propagator_node_changes *changes);
/* Reads all bounds of `count` nodes of the latest _run: node [count], lb and ub [count][cols], all in the memory that
 * `where` says; node NULL: the first `count` nodes; lb or ub may be NULL. Where a node has no changes to read, these
 * are the base's bounds. ARGUMENT: a count is out of range, or a node in host memory. One in device memory gives NaN.
 * MEMORY: as _get_changes. STATE: there was no _run, it failed, or the base has changed since. Cost O(count * cols).
 * With a group: of nodes that this rank ran (another's: ARGUMENT); node NULL: the first `count` of these. */
GPUOPT_API gpuopt_status gpuopt_propagator_batch_get_bounds(gpuopt_propagator_batch *batch, gpuopt_memory where,
                                                            int64_t count, const int32_t *node, double *lb, double *ub);

/* ---- Probing ------------------------------------------------------------------------------------------------------ *
 * Sets each of many binaries to 0 and to 1, propagates both, and compares what follows: bounds that hold in either
 * case, columns that one value implies something about, pairs of equivalent binaries. A binary is an integer column
 * whose bounds in the base are 0 and 1.
 *
 *     gpuopt_propagator_probe_create(base, &desc, &probe);
 *     gpuopt_propagator_probe_run(probe, 0, NULL, 1000, &info);                 // all binaries
 *     gpuopt_propagator_probe_get_bounds(probe, &bounds);                       // their count; and again, with arrays
 *     gpuopt_propagator_set_some_bounds(base, GPUOPT_HOST, bounds.count, bounds.col, bounds.lb, bounds.ub);
 *
 * Pass       A call is one pass: every probe begins with the bounds of the base, which does not change. So the results
 *            depend neither on the order of the probes nor on threads, and are the same bits on the CPU and the GPU. A
 *            host that wants more sets in the base what a pass has found, propagates, and probes again, until nothing
 *            is found.
 * Validity   What is found holds in every point within the base's bounds that satisfies all rows, with the probed
 *            binaries 0 or 1; in propagation, see there, nothing is cut off that does.
 * stop       is asked as in batches, and between them; a hook that always says yes may end a call before the first
 *            binary.
 * Group      With a group in the descriptor its ranks share the binaries. Each probes for itself a base with the same
 *            model and bounds, and gives all binaries to each _run; of P ranks it probes a block of about one in P of
 *            them, and learns what all have found: the same bits as without a group. _create, _run, _get_implications
 *            and _get_equivalences are collective, as the group's own calls are. They compare the bases' sizes,
 *            settings and bounds, the descriptor, the binaries, rounds, capacities, and which arrays there are; that
 *            the rows are the same is the host's duty (gpuopt_group_agree). What is refused or runs out of memory on
 *            one rank returns the same status on all, and the group goes on; after a DEVICE error on one the others
 *            return PEER. A stop hook ends the block of its rank, and what those after it have found is left out. Each
 *            rank has room for all implications and equivalences that are kept. Bounds take 16 bytes a column from
 *            each rank. The group is not needed by _get_bounds and _destroy. */

/* Probing of one base, and what the latest _run found. */
typedef struct gpuopt_propagator_probe gpuopt_propagator_probe;

/* Room for probing. */
typedef struct gpuopt_propagator_probe_desc {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_desc) */
    /* Probes that are propagated at a time, two for each binary: an even number of 2 to 65,536; 0: 65,536, or fewer if
     * there are not so many columns. */
    int32_t nodes;
    /* Columns that change in these together; at least 2 for each column of the base; 0: 32 a probe or that, whichever
     * is more. Where more change, fewer probes are propagated at a time. */
    int64_t changes;
    int64_t implications; /* most of them that are kept; 0: they are only counted */
    int64_t equivalences; /* likewise */
    gpuopt_group *group;  /* of the base's context: its ranks share the binaries, see Group; NULL: it probes all */
} gpuopt_propagator_probe_desc;

/* Fills `plan` with the memory that probing takes. Errors: as _create. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_plan(gpuopt_propagator *base, const gpuopt_propagator_probe_desc *desc,
                                                      gpuopt_memory_plan *plan);
/* Makes room for probing, with a batch in it. ARGUMENT: a member is out of range. UNSUPPORTED: as
 * gpuopt_propagator_batch_create. The base must not be destroyed before. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_create(gpuopt_propagator *base,
                                                        const gpuopt_propagator_probe_desc *desc,
                                                        gpuopt_propagator_probe **probe);
/* Destroys it; NULL is allowed. */
GPUOPT_API void gpuopt_propagator_probe_destroy(gpuopt_propagator_probe *probe);

/* What a pass found. */
typedef struct gpuopt_propagator_probe_info {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_info) */
    /* INFEASIBLE: there is no solution, since a binary can be neither 0 nor 1, or the bounds of a column that hold in
     * every solution cross; it was probed on nevertheless. Else CONVERGED: all were probed; MORE: the stop hook ended
     * the call. */
    gpuopt_outcome outcome;
    int32_t probed;           /* binaries, each both ways */
    int32_t infeasible;       /* probes without a solution */
    int32_t unfinished;       /* probes that ended before a fixpoint; what they had implied by then counts */
    int32_t infeasible_col;   /* INFEASIBLE: that binary or column, the first one; else -1 */
    int32_t fixings;          /* columns that are fixed by what _get_bounds returns */
    int32_t bounds;           /* columns for which it returns bounds, these among them */
    int64_t implications;     /* pairs of a feasible probe and another column whose bounds it tightens */
    int64_t implied_binaries; /* those of them in which the column is a binary, which the probe fixes */
    int64_t equivalences;     /* pairs, as _get_equivalences returns them */
} gpuopt_propagator_probe_info;

/* Probes those of `count` distinct columns col [count], in host memory, that are binaries, in this order; col NULL: all
 * binaries, in ascending order. Each probe does at most `rounds` (at least 1) rounds. info may be NULL. If the
 * stop hook ended the call, the first info.probed binaries have been probed; the others are left to another call.
 * ARGUMENT: a number is out of range, or count exceeds the columns. After an error there are no results. Cost: that of
 * a batch of two nodes a binary, and O(columns that change). */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_run(gpuopt_propagator_probe *probe, int32_t count, const int32_t *col,
                                                     int32_t rounds, gpuopt_propagator_probe_info *info);

/* Bounds that hold in every solution, of the columns of which the base has others. Arrays are in host memory, or
 * NULL. */
typedef struct gpuopt_propagator_probe_bounds {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_bounds) */
    int64_t capacity;   /* the caller's: length of the arrays */
    int64_t count;      /* filled in, whatever the capacity */
    int32_t *col;       /* [capacity]: the columns, ascending */
    double *lb, *ub;    /* [capacity]: both bounds of each */
} gpuopt_propagator_probe_bounds;
/* Reads them: those that both values of a binary imply, or its only feasible value, for all binaries together. STATE:
 * there was no _run, or it failed. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_bounds(gpuopt_propagator_probe *probe,
                                                            gpuopt_propagator_probe_bounds *bounds);

/* What each probe implies. Arrays are in host memory, or NULL. */
typedef struct gpuopt_propagator_probe_implications {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_implications) */
    int64_t capacity;   /* the caller's: length of the last three arrays */
    int64_t count;      /* filled in, whatever the capacity */
    int32_t *binary;    /* [probed]: binary k; probe 2k set it to 0, probe 2k + 1 to 1 */
    int32_t *outcome;   /* [2 probed]: of each probe, as in gpuopt_propagator_node_report */
    int64_t *start;     /* [2 probed + 1]: those of probe p are start[p] to start[p + 1] - 1 */
    int32_t *col;       /* [capacity]: other columns, ascending in each probe */
    double *lb, *ub;    /* [capacity]: both bounds of each, if the binary has the value */
} gpuopt_propagator_probe_implications;
/* Reads them. An INFEASIBLE probe has none. MEMORY: there are more than the descriptor has room for; all but the last
 * three arrays are filled in. STATE: as above. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_implications(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_implications *implications);

/* Pairs of binaries that are equal or opposite in every solution. Arrays are in host memory, or NULL. */
typedef struct gpuopt_propagator_probe_equivalences {
    size_t struct_size; /* sizeof(gpuopt_propagator_probe_equivalences) */
    int64_t capacity;   /* the caller's: length of the arrays */
    int64_t count;      /* filled in, whatever the capacity */
    int32_t *col;       /* [capacity]: the binary that was probed, in the order of the probes */
    int32_t *other;     /* [capacity]: the one that it fixes both ways, ascending for each */
    uint8_t *opposite;  /* [capacity]: 1: other = 1 - col; 0: other = col */
} gpuopt_propagator_probe_equivalences;
/* Reads them. A pair that is found from both ends is there twice. MEMORY: there are more than the descriptor has room
 * for; the count is filled in. STATE: as above. */
GPUOPT_API gpuopt_status gpuopt_propagator_probe_get_equivalences(gpuopt_propagator_probe *probe,
                                                                  gpuopt_propagator_probe_equivalences *equivalences);

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

/* Fills plan with the memory that a basis of this descriptor takes. Errors as _create. */
GPUOPT_API gpuopt_status gpuopt_basis_plan(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                           gpuopt_memory_plan *plan);
/* Makes a basis with the identity loaded. UNSUPPORTED (CUDA): the device has no cooperative launch, or COLUMN and m
 * doubles do not fit into a block's shared memory (about 29000 on an H200). */
GPUOPT_API gpuopt_status gpuopt_basis_create(gpuopt_context *context, const gpuopt_basis_desc *desc,
                                             gpuopt_basis **basis);
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
GPUOPT_API gpuopt_status gpuopt_basis_ftran(gpuopt_basis *basis, gpuopt_memory where, const double *rhs, double *x);

/* FTRAN of a sparse column. row, val [count], count at most m: rows in 0..m - 1, none twice; values finite and not 0.
 * x [m] as in _ftran. Entries in device memory are copied to the host and checked there, so the call then waits.
 * ARGUMENT: count or an entry is out of range. DEFERRED reads count columns of the inverse; the other techniques read
 * count entries of each row. */
GPUOPT_API gpuopt_status gpuopt_basis_ftran_sparse(gpuopt_basis *basis, gpuopt_memory where, int32_t count,
                                                   const int32_t *row, const double *val, double *x);

/* BTRAN: y = B^-T c. c, y [m] may be the same array. ARGUMENT: c or y is NULL, or c is in host memory and not finite.
 * Reads the m^2 entries of the inverse. */
GPUOPT_API gpuopt_status gpuopt_basis_btran(gpuopt_basis *basis, gpuopt_memory where, const double *c, double *y);

/* BTRAN of a unit vector: y [m] = row `position` of B^-1. ARGUMENT: position is not in 0..m - 1. Reads that row, and
 * with DEFERRED up to K rows of V. */
GPUOPT_API gpuopt_status gpuopt_basis_btran_unit(gpuopt_basis *basis, gpuopt_memory where, int32_t position, double *y);

/* Replaces column `position` of B by the one whose FTRAN is alpha [m]. alpha NULL: the result of the latest FTRAN. info
 * NULL: the update is only enqueued, and alpha must be NULL or in device memory; if the pivot is too small, the update
 * is left out, and the next _get_info names its position. STATE: alpha is NULL, and there was no FTRAN since the latest
 * load or update. NUMERIC: the pivot is too small (see pivot_tolerance), or an alpha in device memory is not finite;
 * only refused_position changes. Moves 2 m^2 doubles with ELEMENT_PROPOSED, about 2 m^2 / K + m K with DEFERRED. */
GPUOPT_API gpuopt_status gpuopt_basis_update(gpuopt_basis *basis, gpuopt_memory where, int32_t position,
                                             const double *alpha, gpuopt_basis_info *info);

/* Fills info for the basis as it stands. Waits for enqueued updates. */
GPUOPT_API gpuopt_status gpuopt_basis_get_info(gpuopt_basis *basis, gpuopt_basis_info *info);

/* How far an inverse has drifted from the true inverse of B. */
typedef struct gpuopt_basis_drift {
    size_t struct_size; /* sizeof(gpuopt_basis_drift) */
    double estimate;    /* max_i |(B^-1 (B e))_i - e_i|, where e is a fixed vector of ones and minus ones */
    double norm;        /* max_ij |(B^-1 B - I)_ij|; -1: not computed */
} gpuopt_basis_drift;
/* Measures the drift. columns: B as the host has it, m x m. exact not 0: compute the norm too. Changes nothing. Time
 * O(m^2), with exact O(m * nonzeros). Waits. */
GPUOPT_API gpuopt_status gpuopt_basis_get_drift(gpuopt_basis *basis, const gpuopt_matrix *columns, int exact,
                                                gpuopt_basis_drift *drift);

/* Copies the inverse to inverse [m][m], row after row. Pending updates are applied first. Moves 2 m^2 doubles. */
GPUOPT_API gpuopt_status gpuopt_basis_get_inverse(gpuopt_basis *basis, gpuopt_memory where, double *inverse);

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
 *           there within a call of _iterate only: one that ends in the middle refreshes, and the next one goes on from
 *           the basis. The method ends where no basic variable is outside its bounds, or where one cannot be brought
 *           back, which is a proof of INFEASIBLE. What it cannot settle, and what remains to an optimum once shifts and
 *           perturbations of costs are undone, the primal method does; outcomes mean the same. Its long steps flip
 *           variables between their bounds; these flips are part of an iteration, and info.flips does not count them. A
 *           pivot costs as in the primal method, and with STEEPEST_EDGE one more product with the inverse.
 * Cost      Doubles moved per pivot, K being deferred_pivots: TABLEAU 2 rows * cols / K + K (rows + cols); REVISED
 *           2 rows^2 / K + 2 K rows, and the nonzeros of A. A refresh reads the inverse or tableau a few times. REVISED
 *           on the CPU: the entries of the factors that a product meets, those of up to K pivot columns, and the
 *           nonzeros of A in the rows where the row of the inverse is not 0; every K pivots the factors are made anew.
 * Bits      On one backend, with any number of threads, the same calls give the same bits. CPU and GPU do the same
 *           pivots unless two candidates agree up to rounding: sums are taken in the device's own order.
 * Group     With a group each rank has a block of the tableau's columns, 8 rows * cols / P bytes for P ranks, and all
 *           of A (24 bytes a nonzero, so that for a dense A most of the memory is not shared) and of what is linear in
 *           rows and cols; the blocks differ by up to 8 columns. TABLEAU and PRIMAL only, no batch, no room for rows
 *           and columns; all ranks on the same backend, on CUDA with GPUs of the same kind, one each or several on one.
 *           Each rank makes the handle from the same description, and calls on it are collective, but for _plan,
 *           _get_farkas, _get_ray and _destroy: what the ranks were given is compared first, and whether what is to be
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
 *           memory. Of a refresh: products with A on every rank; with the tableau one rank after the other where sums
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
    int32_t refresh_pivots;             /* most iterations between two refreshes; 0: 1000 */
    int64_t iteration_limit;            /* over the handle's life, then the outcome is LIMIT; 0: none */
    gpuopt_simplex_algorithm algorithm; /* 0: PRIMAL */
    gpuopt_simplex_dual_pricing dual_pricing; /* 0: STEEPEST_EDGE */
    int32_t spare_rows, spare_cols;           /* room for rows and columns to be added; the limits are on all */
    int64_t spare_nonzeros; /* room for their entries; CUDA: with any of the three 16 bytes a nonzero more */
    gpuopt_group *group;    /* of this context, whose ranks share the tableau; NULL: this context has all of it */
} gpuopt_simplex_desc;

/* Where the handle stands. */
typedef struct gpuopt_simplex_info {
    size_t struct_size;      /* sizeof(gpuopt_simplex_info) */
    gpuopt_outcome outcome;  /* MORE, OPTIMAL, INFEASIBLE, UNBOUNDED, IMPRECISE, LIMIT, CUTOFF */
    int32_t phase;           /* 1: some basic variable is outside its bounds, or the dual method iterates; else 2 */
    int64_t iterations;      /* pivots and flips since create */
    int64_t flips;           /* of them: a nonbasic variable went from one bound to the other */
    int64_t refreshes;       /* how often iterating, its parts or _refresh recomputed x and duals */
    int64_t reinversions;    /* how often the inverse was recomputed, by whatever call: also by _set_basis */
    int32_t deferred_pivots; /* K */
    double objective;        /* of the present x, offset included */
    double infeasibility;    /* sum over bounds and sides of how far the present x and A x are outside */
    /* On the original data, absolute, at the last refresh; -1 before the first one. */
    double primal_violation; /* the most that x of _get_solution, or its A x, is outside of the bounds */
    double dual_violation;   /* largest |reduced cost| of the wrong sign; -1 in phase 1 */
    /* INFEASIBLE: with y of _get_farkas (plus its low part), the least y'A x over the bounds minus the largest y'r over
     * the sides, where an infinite bound of a column counts as 1e24; with crossing bounds, lb - ub. UNBOUNDED: the gain
     * of cost'd along the ray d of _get_ray. Both less all that rounding could have added. */
    double certificate_margin;
    /* INFEASIBLE: the largest |y'A| of a column towards an infinite bound; what it may add to the sum is already taken
     * off the margin. UNBOUNDED: the most that a row's activity moves along d towards a finite side, all rounding
     * included; in units of the scaled row, if scaling is on and makes its entries smaller. */
    double certificate_residual;
    int32_t crossing; /* the first column with lb > ub; -1: none */
    /* The least tolerances with which the present point would be OPTIMAL, at the last refresh: the largest violation in
     * units of max(1, |bound|), and the largest wrong reduced cost in units of max(1, |cost|); on the original data, of
     * the point in twice the working precision (_get_low_parts). -1 as the violations. */
    double primal_reached, dual_reached;
    int64_t dual_iterations;    /* of the iterations, the pivots of the dual method */
    gpuopt_certainty certainty; /* OPTIMAL: what is known, see gpuopt_simplex_iterate */
    /* OPTIMAL: the largest share of its terms' sizes by which a side, bound or reduced cost is missed that should be
     * met; it may be infinite. -1 without an optimum. */
    double backward_error;
} gpuopt_simplex_info;

/* Says how much memory a handle takes. Errors as _create. */
GPUOPT_API gpuopt_status gpuopt_simplex_plan(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                             gpuopt_memory_plan *plan);
/* Makes a handle, at the basis of the activities, each column at its lower bound (at its upper one or 0 if that is
 * infinite). ARGUMENT: a value is out of the ranges above; the log says where. UNSUPPORTED: more rows or columns than
 * above, (CUDA) the model is too large for the device, or a group cannot have this. Time O(nonzeros + rows + cols), and
 * to fill the inverse or tableau. */
GPUOPT_API gpuopt_status gpuopt_simplex_create(gpuopt_context *context, const gpuopt_simplex_desc *desc,
                                               gpuopt_simplex **simplex);
/* Destroys a handle; NULL is allowed. */
GPUOPT_API void gpuopt_simplex_destroy(gpuopt_simplex *simplex);

/* Does up to `iterations` (>= 1) iterations of both phases, fewer if the outcome is known before. Fills info if it is
 * not NULL. Asks the context's stop hook after every refresh_pivots iterations, and whenever a refresh is due earlier.
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
/* Fills info for the handle as it stands. If there has been no refresh since _create or _set_basis, it does one first,
 * which info.refreshes does not count. NUMERIC, of every call that fills this info: a number of it is beyond the range
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

/* The same, one of a list. No member will be added. */
typedef struct gpuopt_simplex_candidate {
    int32_t variable;    /* nonbasic, improves the objective of the present phase */
    int32_t direction;   /* as in gpuopt_simplex_entering, and so are the next two */
    double reduced_cost; /* scaled */
    double score;        /* what the list is sorted by */
} gpuopt_simplex_candidate;

/* A candidate to leave the basis. */
typedef struct gpuopt_simplex_leaving {
    size_t struct_size; /* sizeof(gpuopt_simplex_leaving) */
    int32_t variable;   /* basic, blocks first; -1: none, or see `unsafe` */
    int32_t flip;       /* not 0: the entering variable reaches its other bound first: call _flip */
    int32_t to_upper;   /* not 0: the leaving variable stops at its upper bound */
    double step;        /* of the entering variable, scaled, >= 0; infinite: nothing blocks, the phase is unbounded */
    double pivot;       /* the entry in the pivot column, scaled */
    /* Not 0: something blocks after `step`, but _pivot would refuse its entry, `pivot`, as too small; variable is -1.
     * Let another candidate enter, see _candidates, or refresh with reinvert. */
    int32_t unsafe;
} gpuopt_simplex_leaving;

/* The parts of an iteration, for a host that makes the decisions itself. If bounds cross (info.crossing), _price finds
 * no variable, and _ratio_test, _pivot and _flip return STATE. A refresh that is due, after refresh_pivots iterations
 * or when the phase has changed, is done by the next part, and stays done if that part then returns NUMERIC. A basis
 * whose new factors are singular is repaired by the part that finds it so; NUMERIC: that has not helped. */

/* Chooses the variable to enter by the pricing rule, and fills `entering`. Moves nothing. */
GPUOPT_API gpuopt_status gpuopt_simplex_price(gpuopt_simplex *simplex, gpuopt_simplex_entering *entering);
/* Lists up to `count` (at least 1) variables that could enter, with the one that _price names first and the others by
 * descending score, in candidates [count], and sets *found to their number. Moves nothing. On the host: time O(cols),
 * and at most O(cols * count) to sort. */
GPUOPT_API gpuopt_status gpuopt_simplex_candidates(gpuopt_simplex *simplex, int32_t count,
                                                   gpuopt_simplex_candidate *candidates, int32_t *found);
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

/* A candidate to leave the basis in the dual method. */
typedef struct gpuopt_simplex_dual_leaving {
    size_t struct_size;   /* sizeof(gpuopt_simplex_dual_leaving) */
    int32_t variable;     /* basic, outside its bounds; -1: none, or there is a verdict */
    int32_t to_upper;     /* not 0: it leaves at its upper bound, which it is above; else at its lower one */
    double infeasibility; /* by how much it is outside, scaled, > 0 */
    double score;         /* infeasibility^2 / weight */
} gpuopt_simplex_dual_leaving;

/* A candidate to enter the basis in the dual method. */
typedef struct gpuopt_simplex_dual_entering {
    size_t struct_size; /* sizeof(gpuopt_simplex_dual_entering) */
    int32_t variable;   /* nonbasic, blocks; -1: none, or see `unsafe` */
    int32_t flips;      /* nonbasic variables that the step passes: _dual_pivot moves them to their other bounds */
    /* Of the reduced costs, scaled, >= 0; infinite: nothing blocks, so by this basis, as far as its numbers can be relied
     * on, no point is feasible; _iterate proves it or goes on. */
    double step;
    double pivot; /* the entry in the pivot row, scaled */
    /* Not 0: _dual_pivot would refuse the entry of what blocks, `pivot`, as too small; variable is -1. Let another
     * variable leave, or refresh with reinvert. */
    int32_t unsafe;
} gpuopt_simplex_dual_entering;

/* The parts of an iteration of the dual method, of handles whose algorithm is DUAL or AUTO; else they return STATE.
 * The first one, and one after something has changed, makes the basis dual feasible: variables with two bounds flip,
 * and other reduced costs of the wrong sign become 0 by shifts of their costs, which the primal method undoes; there is
 * no phase 1. Where no variable leaves, or nothing blocks one that does, _iterate comes to the verdict, without an
 * iteration if there is nothing left to do. Calls of _iterate and of the primal method's parts may come in between. A
 * refresh that is due is done by the next part. While bounds cross, or after OPTIMAL, INFEASIBLE, UNBOUNDED or
 * IMPRECISE, _dual_price finds no variable, and the other two return STATE. NUMERIC: the basis is too close to a
 * singular one. */

/* Chooses the variable to leave by dual_pricing, and fills `leaving`. */
GPUOPT_API gpuopt_status gpuopt_simplex_dual_price(gpuopt_simplex *simplex, gpuopt_simplex_dual_leaving *leaving);
/* Chooses the variable to enter for the basic variable `leaving` by the ratio test with long steps, and fills
 * `entering`. ARGUMENT: `leaving` is not basic, or within its bounds. */
GPUOPT_API gpuopt_status gpuopt_simplex_dual_ratio_test(gpuopt_simplex *simplex, int32_t leaving,
                                                        gpuopt_simplex_dual_entering *entering);
/* Exchanges the basic variable `leaving`, which goes to the bound that it is beyond, and `entering`. If that is what
 * _dual_ratio_test names, the variables flip that its step passes. With another choice none flips, and reduced costs
 * that would get the wrong sign become 0 by shifts of their costs. ARGUMENT: as _dual_ratio_test, `entering` is not
 * nonbasic, or its reduced cost does not come to 0 in the direction of the step. NUMERIC: the pivot is below
 * pivot_tolerance, or differs in its row and its column, with another inverse, too. Info is filled if it is not
 * NULL. */
GPUOPT_API gpuopt_status gpuopt_simplex_dual_pivot(gpuopt_simplex *simplex, int32_t leaving, int32_t entering,
                                                   gpuopt_simplex_info *info);

/* Recomputes x, duals and reduced costs from the original data; if reinvert is not 0 the inverse, too. Removes the
 * perturbation of the bounds. */
GPUOPT_API gpuopt_status gpuopt_simplex_refresh(gpuopt_simplex *simplex, int reinvert, gpuopt_simplex_info *info);

/* Gets the basis: status [cols + rows], a gpuopt_simplex_variable each. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_basis(gpuopt_simplex *simplex, gpuopt_memory where, uint8_t *status);
/* Sets the basis. The present one costs O(rows + cols). One that differs from it in few variables is reached by pivots;
 * any other is inverted. status [cols + rows], `rows` of them BASIC. A nonbasic variable whose
 * status names an infinite bound goes to its other one, or to 0; AT_ZERO of one that is not free is AT_LOWER. The
 * outcome is MORE again. ARGUMENT: a status is out of range, in host or device memory, or the number of BASIC ones is
 * wrong. NUMERIC: the basis is singular; the log names a variable, and the handle is what it was, to the bit. For that
 * the old inverse or tableau is kept in temporary host memory of its size while the basis is inverted; k pivots take 8
 * k^2 + 8 k bytes. MEMORY: there is not so much. Time of up to `rows` pivots, and of the copy. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_basis(gpuopt_simplex *simplex, gpuopt_memory where, const uint8_t *status);

/* Change the model of a handle that lives on: the basis, its inverse and the scales stay, and the outcome is MORE
 * again. A nonbasic variable goes to its new bound; one whose bound has become infinite goes to the other one, or to
 * 0. Lists have up to one entry for each column or row, and lie all in the memory that `where` says; of entries for
 * the same column or row the last one counts. ARGUMENT: a number is out of range, or a value as for _create, also in
 * device memory. NUMERIC: a value would overflow or lose digits in the scales that _create has chosen. Refused calls
 * change nothing. Time O(count + rows + cols); x and duals are recomputed when they are needed. */

/* Sets lb and ub [count] of the columns col [count]; lb or ub NULL: these bounds stay. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_some_bounds(gpuopt_simplex *simplex, gpuopt_memory where, int64_t count,
                                                        const int32_t *col, const double *lb, const double *ub);
/* Sets lhs and rhs [count] of the rows row [count]. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_some_sides(gpuopt_simplex *simplex, gpuopt_memory where, int64_t count,
                                                       const int32_t *row, const double *lhs, const double *rhs);
/* Sets cost [count] of the columns col [count]. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_some_costs(gpuopt_simplex *simplex, gpuopt_memory where, int64_t count,
                                                       const int32_t *col, const double *cost);

/* Add rows (cuts) and columns (pricing), and remove them, within the room that spare_rows, spare_cols and
 * spare_nonzeros of the descriptor reserve; removing frees room. The basis, its inverse, the scales of what was there
 * and the weights stay, unless a removal needs a pivot; a new row or column gets a scale of its own. Where entries come
 * to differ widely from the first ones, that may end with IMPRECISE where a new handle, which scales all of the model,
 * does not. x and duals are recomputed when they are needed, and the outcome is MORE again. Arrays of [rows] and [cols]
 * are from then on as long as the handle now has rows and columns; batches over the handle go on. Everything is in host
 * memory. Refused calls change nothing. CUDA: the model is changed in host memory and copied to the device, so that
 * each call takes time O(nonzeros), too. UNSUPPORTED: with a group; CUDA: the handle has no spare rows, columns or
 * nonzeros, also in _remove_rows and _remove_cols. */

/* Adds rows: a matrix with the handle's columns, and sides [rows->rows] as in the descriptor. They come behind the
 * present rows, and their activities are basic, so that a dual feasible basis stays dual feasible. REVISED on the CPU
 * makes new factors when they are needed next. Else the inverse gets a
 * border: time O(rows), TABLEAU: O(cols), for each nonzero in a basic column, and of copying the inverse or tableau
 * once or, with pivots deferred, of applying them; with STEEPEST_EDGE also of a product with the inverse and A for each
 * row, in _remove_rows, too. ARGUMENT: as _create. MEMORY: they do not fit. NUMERIC: a value would overflow or lose
 * digits in its scales. */
GPUOPT_API gpuopt_status gpuopt_simplex_add_rows(gpuopt_simplex *simplex, const gpuopt_matrix *rows, const double *lhs,
                                                 const double *rhs);
/* Removes `count` distinct rows; later ones move down in their numbers. A row whose activity is nonbasic, at one of its
 * sides, is first made basic by a pivot on the largest entry: the basis may then be neither primal nor dual feasible.
 * Else both stay. ARGUMENT: there is no such row, or it is there twice. Time of copying the inverse or tableau (or of
 * new factors), and of the pivots. */
GPUOPT_API gpuopt_status gpuopt_simplex_remove_rows(gpuopt_simplex *simplex, int64_t count, const int32_t *row);
/* Adds columns: a matrix with the handle's rows, and cost, lb and ub [cols->cols] as in the descriptor. They come
 * behind the present columns, which moves the numbers of the rows' activities up, and are nonbasic at a bound as after
 * _create: if that is 0, a primal feasible basis stays primal feasible. Errors as _add_rows. Time O(nonzeros) of the
 * model; TABLEAU or STEEPEST_EDGE: and of a product with the inverse for each column. */
GPUOPT_API gpuopt_status gpuopt_simplex_add_cols(gpuopt_simplex *simplex, const gpuopt_matrix *cols, const double *cost,
                                                 const double *lb, const double *ub);
/* Removes `count` distinct columns; later ones move down in their numbers. A basic one first leaves the basis by a
 * pivot on the largest entry of its row: the basis may then be neither primal nor dual feasible. ARGUMENT: there is no
 * such column, or it is there twice. Time O(nonzeros), and of the pivots; TABLEAU: and of copying it. */
GPUOPT_API gpuopt_status gpuopt_simplex_remove_cols(gpuopt_simplex *simplex, int64_t count, const int32_t *col);

/* Sets a cutoff for the dual method, which stays until it is set again: once the bound of _get_bound is at or beyond
 * it, iterating ends with CUTOFF. It may also go on to another outcome: the primal method does not look at the cutoff,
 * nor does the dual one when the costs that it has shifted keep the bound away. Minimising: HUGE_VAL, maximising:
 * -HUGE_VAL is none. If the outcome is CUTOFF, it is MORE again. ARGUMENT: NaN. */
GPUOPT_API gpuopt_status gpuopt_simplex_set_cutoff(gpuopt_simplex *simplex, double cutoff);
/* Gets a bound that no solution's objective is better than, with infinite bounds of columns taken for 1e24: by the
 * duals of the present basis, on the original data, less all that rounding could have added. Close to the objective if
 * the basis is dual feasible; else it may say nothing, down to -infinity (maximising: up to infinity). INFEASIBLE:
 * infinity (maximising: -infinity). Time of a few products with the inverse and with A. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_bound(gpuopt_simplex *simplex, double *bound);
/* Gives the verdict on the basis as it is, with no pivot but for those that repair a basis too close to a singular
 * one, and fills info if it is not NULL: for a basis of another solver, or of the host's own. x and duals are
 * recomputed from the original data, and the perturbation of bounds is removed. OPTIMAL, within the tolerances,
 * INFEASIBLE and UNBOUNDED are proven as by _iterate; else the outcome is MORE, and info says what the point is worth.
 * Time of a refresh; beyond that, of some products with the inverse for each violated bound (in phase 1) or reduced
 * cost. */
GPUOPT_API gpuopt_status gpuopt_simplex_certify(gpuopt_simplex *simplex, gpuopt_simplex_info *info);

/* Solves with the basis, for cuts and own methods, in the host's units and with the present inverse, without
 * refinement. B [rows][rows] has the columns of the basic variables in the order of _get_head: that of A for a column,
 * -e_i for the activity of row i, since A x - activity = 0. None of these calls moves anything. ARGUMENT: a negative
 * count, a position out of range. */

/* Gets the basic variable of each position: head [rows]. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_head(gpuopt_simplex *simplex, gpuopt_memory where, int32_t *head);
/* x = B^-1 x for each of `count` right-hand sides, one after the other in x [count][rows]; the results are by position.
 * Time O(rows^2) each; with factors O(rows) and that of their entries that the vector meets. */
GPUOPT_API gpuopt_status gpuopt_simplex_ftran(gpuopt_simplex *simplex, gpuopt_memory where, int64_t count, double *x);
/* y = B^-T y, the same for [count][rows] values by position; the results are by row. */
GPUOPT_API gpuopt_status gpuopt_simplex_btran(gpuopt_simplex *simplex, gpuopt_memory where, int64_t count, double *y);
/* Gets rows of B^-1 [A -I]: rows [count][cols + rows] for the positions position [count], which are in host memory;
 * entries of basic variables are 0 or 1 up to rounding. Time O(rows^2 + nonzeros) each, or of _btran. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_table_rows(gpuopt_simplex *simplex, gpuopt_memory where, int64_t count,
                                                       const int32_t *position, double *rows);

/* Gets the present point, on the original data: x, reduced_cost [cols]; activity, dual [rows]; each may be NULL.
 * dual[i] is the change of the objective per unit of the row's active side, and reduced_cost = cost - A' dual. A
 * nonbasic column whose bounds cross is at its lb. Refreshes if anything has moved since the last refresh. NUMERIC: one
 * of these numbers is beyond the range of double; none is delivered. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_solution(gpuopt_simplex *simplex, gpuopt_memory where, double *x,
                                                     double *reduced_cost, double *activity, double *dual);
/* Gets the proof of INFEASIBLE: y [rows] with min { y'A x : lb <= x <= ub } > max { y'r : lhs <= r <= rhs }, infinite
 * bounds of columns counting as 1e24; its largest entry is between 1 and 2. If that takes more than doubles, its low
 * part (_get_low_parts) is not 0. If bounds cross y is 0: the bounds of column info.crossing are the proof. STATE: the
 * outcome is another one. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_farkas(gpuopt_simplex *simplex, gpuopt_memory where, double *y);
/* Gets the proof of UNBOUNDED: ray [cols], its largest entry between 1 and 2; along x + t (ray + low part), t >= 0, no
 * column comes nearer to a finite bound, and rows move towards finite sides by at most t * certificate_residual. STATE:
 * the outcome is another one. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_ray(gpuopt_simplex *simplex, gpuopt_memory where, double *ray);

/* Gets what rounding to doubles has taken from other answers: x + this x [cols], dual + this dual [rows], and y or the
 * ray + this proof ([rows] or [cols]) are the handle's in twice the working precision. Each may be NULL. STATE: proof
 * is not NULL, and the outcome is neither INFEASIBLE nor UNBOUNDED. */
GPUOPT_API gpuopt_status gpuopt_simplex_get_low_parts(gpuopt_simplex *simplex, gpuopt_memory where, double *x,
                                                      double *dual, double *proof);

/* ---- Children of one basis ---------------------------------------------------------------------------------------- *
 * Solves many linear programs in one call, each of which differs from that of one handle, the root, in some bounds,
 * sides or costs, and begins at the root's basis: the children of a node of a search, or strong branching.
 *
 *     gpuopt_simplex_batch_create(root, &desc, &batch);
 *     gpuopt_simplex_batch_run(batch, GPUOPT_HOST, &children, 500, &report);      // outcome, bound, ... of each
 *     gpuopt_simplex_batch_branch(batch, GPUOPT_HOST, count, col, 50, &report);   // both sides of each column
 *
 * Root       Its model and basis as they are when _run is called, best an optimum; no call of the batch changes them.
 *            Rows and columns may come and go between the calls (_add_rows and its sisters).
 *            It must not be destroyed before its batches, which belong to its context. Its inverse is shared: pivots
 *            that it has deferred are applied, and weights of the dual method computed, in the root itself, so that the
 *            last bits of what it does later can differ.
 * Method     The dual simplex method, on both backends, with the root's tolerances, dual_pricing and seed. CPU: the
 *            root's `algorithm` if that is DUAL, else AUTO.
 * CPU        A child does the pivots that the root would do after _set_some_bounds, _set_some_sides and _set_some_costs
 *            with its lists, and has the outcome, objective and proof that _iterate would give then, with any number of
 *            threads. REVISED: children read the root's factors, and a thread keeps their pivots, and where there are
 *            many, factors of its own. TABLEAU: each thread has one of its own, which is brought back after each child.
 * CUDA       The root must be REVISED. A block works on a child from beginning to end; the root's inverse is only read,
 *            and a child keeps its pivots beside it (and with REFACTOR merges them into an inverse of its block's own).
 *            The same rules choose the pivots, in the device's own order of sums, ties by the lowest index. A child's
 *            result depends on the root, its own lists and the descriptor.
 *            OPTIMAL is by tolerance, on the original data, without _iterate's refinement beyond that: no bound or side
 *            is violated by more than primal_tolerance * max(1, |bound|), no reduced cost has the wrong sign by more
 *            than dual_tolerance * max(1, |cost|), and primal and dual objective differ by at most dual_tolerance *
 *            max(1, |objective|), where a reduced cost that names an infinite bound counts as 0. INFEASIBLE is proven
 *            as by _iterate. UNBOUNDED is not found: such a child, and one that runs out of safe pivots, is IMPRECISE,
 *            and left to a handle.
 * Bounds     are proven as those of _get_bound, whatever the outcome: also for a child that was stopped half way. CUDA:
 *            instead of 1e24 a column without a bound may count with one that a row implies for it.
 * Cutoff     The root's as it is when _run is called (_set_cutoff): a child whose bound has reached it is CUTOFF. It
 *            may also go on to another outcome, as a single handle may.
 * Group      With a group in the descriptor its ranks share the children. Each makes a batch like the others', on a
 *            root of its own that has had the same calls, and gives all children to each _run and _branch; of P ranks
 *            it solves about one in P of them, and gets the reports of all: the same bits as without a group, with
 *            ranks on one backend (and on the GPU, on devices of one kind). Calls are collective, as the group's own
 *            are, but for _plan and _destroy. They compare the roots' sizes, settings, bounds, costs and statuses, the
 *            descriptor, the children, and what is wanted of the report; that the matrices are the same is the host's
 *            duty. What is refused or runs out of memory on one rank returns the same status on all, and the group goes
 *            on; reports are unspecified after the latter. After a DEVICE error on one the others return PEER. A stop
 *            hook ends the share of its rank. Arrays are in host memory (DEVICE: UNSUPPORTED). Each rank's reports go
 *            to the others in pieces of up to 1 MiB, for which each has room: at most P + 1 MiB. The group is not
 *            needed by _destroy. */

/* Many children of one root. */
typedef struct gpuopt_simplex_batch gpuopt_simplex_batch;

/* What becomes of a child that has made `pivots` iterations. */
typedef enum gpuopt_simplex_when_full {
    GPUOPT_WHEN_FULL_END = 0, /* its outcome is FULL; its bound and basis are those that it has come to */
    GPUOPT_WHEN_FULL_REFACTOR /* it goes on, with an inverse of its own */
} gpuopt_simplex_when_full;

/* A batch to be created. */
typedef struct gpuopt_simplex_batch_desc {
    size_t struct_size; /* sizeof(gpuopt_simplex_batch_desc) */
    int32_t copies;     /* most children of a call, 1 to 65,536, on all ranks together */
    int32_t pivots;     /* K: iterations that a child has room for, 1 to 65,536; 0: 256 */
    int64_t changes;    /* most bounds, sides and costs of all children of a call together; 0: 8 a child */
    gpuopt_simplex_when_full when_full; /* 0: END */
    /* CUDA: not 0: a report in host memory may ask for basis, x, or farkas and farkas_low, for which the batch then has
     * room in device memory. Elsewhere they may be asked for in any case. */
    int32_t with_basis, with_x, with_farkas;
    gpuopt_group *group; /* of the root's context: its ranks share the children, see Group; NULL: it runs all */
} gpuopt_simplex_batch_desc;

/* Fills `plan` with the memory that a batch takes. Errors: as _create. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_plan(gpuopt_simplex *root, const gpuopt_simplex_batch_desc *desc,
                                                   gpuopt_memory_plan *plan);
/* Makes a batch. ARGUMENT: a member is out of range. UNSUPPORTED: the root is shared by a group; CUDA: it is a TABLEAU.
 * Memory on the CPU: about that of the root for each thread; on the GPU 20 rows^2 bytes, 10 or more for each nonzero
 * (columns count as if theirs were a multiple of 4), with 1,024 rows or more as much again (where rows count so), and
 * for each block that works at the same time 16 K rows + 8 min(K, 64) (rows + 64) + 104 (2 rows + cols), with REFACTOR
 * 20 rows^2 more. There are up to two blocks a multiprocessor, but fewer, down to one in all, where they would take more
 * than 16 GiB together; of a root whose inverse is kept for its core alone (doc/simplex.md) more of them find place in
 * the same memory. Spare rows and columns of the root count as if they were there, and each column then as if it
 * had up to min(64, rows) nonzeros. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_create(gpuopt_simplex *root, const gpuopt_simplex_batch_desc *desc,
                                                     gpuopt_simplex_batch **batch);
/* Destroys a batch; NULL is allowed. */
GPUOPT_API void gpuopt_simplex_batch_destroy(gpuopt_simplex_batch *batch);

/* Children to be solved. All arrays are in the memory that the call's `where` says. A `start` [count + 1] ascends from
 * 0: child k is given entries start[k] to start[k + 1] - 1 of the arrays after it; NULL: no child has any. Of entries
 * of a child for the same column or row the last one counts. */
typedef struct gpuopt_simplex_children {
    size_t struct_size;        /* sizeof(gpuopt_simplex_children) */
    int32_t count;             /* children, 0 to the descriptor's copies */
    const int64_t *start;      /* of the bounds */
    const int32_t *col;        /* columns */
    const double *lb, *ub;     /* their bounds; NULL: those that the root has */
    const int64_t *side_start; /* of the sides */
    const int32_t *row;        /* rows */
    const double *lhs, *rhs;   /* their sides */
    const int64_t *cost_start; /* of the costs */
    const int32_t *cost_col;   /* columns */
    const double *cost;        /* their costs */
} gpuopt_simplex_children;

/* Where _run is to write what it found. Each array is NULL or in the memory that `where` says. */
typedef struct gpuopt_simplex_child_report {
    size_t struct_size;  /* sizeof(gpuopt_simplex_child_report) */
    int32_t *outcome;    /* [count] a gpuopt_outcome as of _iterate, or FULL; MORE: no verdict within `iterations` */
    int32_t *iterations; /* [count] */
    double *bound;       /* [count] as of gpuopt_simplex_get_bound; takes the time of a few products each on the CPU */
    double *objective;   /* [count] OPTIMAL: the optimum; else of the point that the child has come to, or NaN */
    uint8_t *basis;      /* [count][cols + rows] as of gpuopt_simplex_get_basis */
    double *x;           /* [count][cols] the point that the child has come to */
    double *farkas;      /* [count][rows] as of gpuopt_simplex_get_farkas if INFEASIBLE, else 0 */
    double *farkas_low;  /* [count][rows] what rounding has taken from it, see gpuopt_simplex_get_low_parts */
    int32_t *certainty;  /* [count] a gpuopt_certainty: TOLERANCE if OPTIMAL, else NONE */
} gpuopt_simplex_child_report;

/* Does up to `iterations` (at least 1) iterations of each child, and waits for that. The stop hook is asked between
 * children on the CPU, and not on the GPU; children that had no turn are MORE after 0 iterations, with the bound NaN.
 * ARGUMENT: a count or start is out of range, or an entry as the calls that set some refuse it; also in device memory.
 * NUMERIC: a number would overflow or lose digits in the root's scales. MEMORY: there are more entries than the
 * descriptor has room for. Refused calls write nothing. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_run(gpuopt_simplex_batch *batch, gpuopt_memory where,
                                                  const gpuopt_simplex_children *children, int64_t iterations,
                                                  const gpuopt_simplex_child_report *report);
/* Strong branching: the same for two children of each of `count` columns, col [count], at the root's present point x:
 * child 2 k has the bound ub = floor(x), child 2 k + 1 has lb = floor(x) + 1, of column col[k]; where that crosses the
 * column's other bound, the child is INFEASIBLE. The present point is that of _get_solution, which moves once bounds
 * are set: a host that has tightened some since its _iterate call, and wants the split of before, gives its own bounds
 * to _run. Takes 2 * count of the descriptor's copies and changes. */
GPUOPT_API gpuopt_status gpuopt_simplex_batch_branch(gpuopt_simplex_batch *batch, gpuopt_memory where, int32_t count,
                                                     const int32_t *col, int64_t iterations,
                                                     const gpuopt_simplex_child_report *report);

/* ---- Many small linear programs ----------------------------------------------------------------------------------- *
 * Independent linear programs of one shape, each with its own data, solved in one call: on the GPU a block works on
 * each from its data to its verdict, on the CPU a thread.
 *
 *     gpuopt_simplex_many_create(context, &shape, &many);
 *     gpuopt_simplex_many_load(many, GPUOPT_HOST, &programs);             // the numbers of up to `copies` programs
 *     gpuopt_simplex_many_iterate(many, INT64_MAX, &info);                // info.optimal, info.infeasible, ...
 *     gpuopt_simplex_many_get(many, GPUOPT_HOST, 0, count, &report);      // what is asked for of each
 *
 * Shape      Rows, columns, and either dense matrices or one sparsity pattern for all.
 * Method     The simplex method with bounded variables on a dense tableau, which on the GPU is in shared memory if it
 *            fits (as rows * cols up to about 24,000 do on an H100): scales by powers of two, the basis of the
 *            activities first, devex pricing. Where that basis is not feasible, the dual method comes first, with the
 *            long-step ratio test (Maros 2003); columns whose reduced cost has the wrong sign go to their other bound
 *            or, if they have none, count with cost 0. The primal method does the rest, with Harris' ratio test; where
 *            the dual one gets nowhere, a primal phase 1, too, which minimises the sum of infeasibilities. Prices or
 *            bounds are perturbed when nothing moves, and in the primal method Bland's rule takes over at last.
 * Verdicts   are about the original data: OPTIMAL if x and its A x violate no bound or side by more than
 *            primal_tolerance * max(1, |bound|), and no reduced cost has the wrong sign by more than dual_tolerance *
 *            max(1, |cost|), by these numbers and by those of the scaled program, and primal and dual objective differ
 *            by at most dual_tolerance * max(1, |objective|), where a reduced cost that names an infinite bound counts
 *            as 0; unlike a single handle, it does not refine beyond that. INFEASIBLE and UNBOUNDED are proven as by gpuopt_simplex_iterate, with vectors that
 *            meet what _get_farkas and _get_ray say of theirs, but for rows along a ray, which move by so little that
 *            1e18 of the objective is gained within primal_tolerance. IMPRECISE: rounding allows none of these; a
 *            handle of its own may settle the program.
 * Bits       A program's results depend on its own data, the descriptor, and the iterations that each call does: not on
 *            the other programs, on how many there are, on the number of threads, or on the backend. The CPU and the
 *            GPU give the same bits. One that goes on after a limit may come to another optimal point than in one call.
 * Memory     Room for what _load is given, 25 (rows + cols) + 24 bytes a program, 16 bytes a nonzero of the shape (on
 *            the GPU also in host memory); and for each thread, or for each block where they do not fit into shared
 *            memory, 8 rows * cols for the tableau and about 110 (rows + cols).
 * Cost       Of a pivot: 16 rows * cols bytes moved, and five to eight barriers of a block. Of a call's beginning and
 *            end on a program: a few products with A; of going on with one, also a pivot for each column in its
 *            basis.
 * Group      With a group in the descriptor its ranks share the programs. Each makes a handle like the others' and
 *            gives all programs to each _load; of P ranks each reads and solves a block of about count / P of them, and
 *            _iterate and _get tell it about all: the same bits as without a group, whatever the ranks' backends.
 *            Calls are collective, as the group's own are, but for _plan, _get_info and _destroy. They compare the
 *            shapes, counts, iterations, and which arrays there are; that the numbers are the same is the host's duty
 *            (gpuopt_group_agree), and that the costly programs are not all in one block. What is refused or runs out
 *            of memory on one rank returns the same status on all, and the group goes on; after a DEVICE error on one
 *            the others return PEER. A stop hook ends the share of its rank. Arrays are in host memory (DEVICE:
 *            UNSUPPORTED). Results go to the other ranks in pieces of up to 1 MiB, for which each has room: at most
 *            P + 1 MiB. The group is not needed by _get_info and _destroy. */

/* Many linear programs of one shape. */
typedef struct gpuopt_simplex_many gpuopt_simplex_many;

/* What all programs have in common: bits of gpuopt_simplex_many_desc.shared. */
typedef enum gpuopt_simplex_shared {
    GPUOPT_SHARED_MATRIX = 1, /* value [nonzeros] */
    GPUOPT_SHARED_COST = 2,   /* cost [cols] */
    GPUOPT_SHARED_LHS = 4,    /* lhs [rows] */
    GPUOPT_SHARED_RHS = 8,    /* rhs [rows] */
    GPUOPT_SHARED_LB = 16,    /* lb [cols] */
    GPUOPT_SHARED_UB = 32     /* ub [cols] */
} gpuopt_simplex_shared;

/* The shape of the programs, and how to solve them. */
typedef struct gpuopt_simplex_many_desc {
    size_t struct_size;   /* sizeof(gpuopt_simplex_many_desc) */
    int32_t copies;       /* most programs at a time, 1 to 65,536, on all ranks together */
    int32_t rows, cols;   /* 0 to 512, 0 to 8,192 */
    const int64_t *start; /* the pattern, as of gpuopt_matrix; NULL: dense, all rows * cols entries line after line */
    const int32_t *index; /* [start[lines]] */
    gpuopt_layout layout; /* of the pattern and of the values: lines are rows (0: CSR) or columns (CSC) */
    uint32_t shared;      /* a sum of gpuopt_simplex_shared: arrays of which there is one for all programs */
    int maximize;         /* not 0: maximise */
    double infinity;      /* a side or bound of this size or more is infinite; at least 1; 0: 1e20 */
    double primal_tolerance; /* 1e-12 to 1e-3; 0: 1e-9 */
    double dual_tolerance;   /* 1e-12 to 1e-3; 0: 1e-9 */
    double pivot_tolerance;  /* least |pivot| on the scaled program, 1e-14 to 0.5; 0: 1e-7 */
    int64_t iteration_limit; /* of a program over all calls, then its outcome is LIMIT; 0: none */
    gpuopt_group *group;     /* of the context: its ranks share the programs, see Group; NULL: this context has all */
} gpuopt_simplex_many_desc;

/* The numbers of programs 0 to count - 1, one program after the other; an array that is shared is there once. All are
 * in the memory that the call's `where` says. */
typedef struct gpuopt_simplex_programs {
    size_t struct_size;  /* sizeof(gpuopt_simplex_programs) */
    int32_t count;       /* programs, 0 to the descriptor's copies */
    const double *value; /* [count][nonzeros] in the order of the pattern; finite, may be 0; NULL if there are none */
    const double *cost;  /* [count][cols], finite; NULL: 0 */
    const double *lhs;   /* [count][rows]; NULL: no left-hand sides */
    const double *rhs;   /* [count][rows], not below lhs; NULL: no right-hand sides */
    const double *lb;    /* [count][cols]; NULL: 0 */
    const double *ub;    /* [count][cols]; NULL: infinity. A column with lb > ub makes the program infeasible */
} gpuopt_simplex_programs;

/* Where the programs stand. */
typedef struct gpuopt_simplex_many_info {
    size_t struct_size; /* sizeof(gpuopt_simplex_many_info) */
    int32_t count;      /* programs that are loaded: the sum of the next six */
    int32_t more, optimal, infeasible, unbounded, limit, imprecise; /* how many have this outcome */
    int64_t iterations;                                             /* pivots and flips of all programs since _load */
} gpuopt_simplex_many_info;

/* What _get is to write. Each array is NULL or in the memory that `where` says. */
typedef struct gpuopt_simplex_many_report {
    size_t struct_size;  /* sizeof(gpuopt_simplex_many_report) */
    int32_t *outcome;    /* [count] a gpuopt_outcome: MORE, OPTIMAL, INFEASIBLE, UNBOUNDED, LIMIT, IMPRECISE */
    int32_t *iterations; /* [count] since _load */
    double *objective;   /* [count] of x */
    double *x;           /* [count][cols] the point that the program has come to */
    double *dual;        /* [count][rows] as of _get_solution; 0 if INFEASIBLE or UNBOUNDED */
    double *farkas;      /* [count][rows] as of _get_farkas if INFEASIBLE (0 if bounds cross), else 0 */
    double *farkas_low;  /* [count][rows] what rounding has taken from it, see gpuopt_simplex_get_low_parts */
    double *ray;         /* [count][cols] the direction of the proof if UNBOUNDED, else 0 */
    double *ray_low;     /* [count][cols] what rounding has taken from it */
    uint8_t *basis;      /* [count][cols + rows] as of gpuopt_simplex_get_basis */
    int32_t *certainty;  /* [count] a gpuopt_certainty: TOLERANCE if OPTIMAL, else NONE */
} gpuopt_simplex_many_report;

/* Says how much memory a handle takes. Errors as _create. */
GPUOPT_API gpuopt_status gpuopt_simplex_many_plan(gpuopt_context *context, const gpuopt_simplex_many_desc *desc,
                                                  gpuopt_memory_plan *plan);
/* Makes a handle, without programs. ARGUMENT: a value is out of the ranges above; the log says which. */
GPUOPT_API gpuopt_status gpuopt_simplex_many_create(gpuopt_context *context, const gpuopt_simplex_many_desc *desc,
                                                    gpuopt_simplex_many **many);
/* Destroys a handle; NULL is allowed. */
GPUOPT_API void gpuopt_simplex_many_destroy(gpuopt_simplex_many *many);

/* Takes new programs in place of the old ones, each at the basis of the activities; the arrays are copied, and waited
 * for. ARGUMENT: the count is out of range, value is NULL though there are nonzeros, or a number is not as
 * gpuopt_simplex_programs says, also in device memory; after such a number (or DEVICE) the handle has no programs. */
GPUOPT_API gpuopt_status gpuopt_simplex_many_load(gpuopt_simplex_many *many, gpuopt_memory where,
                                                  const gpuopt_simplex_programs *programs);
/* Does up to `iterations` (>= 1) pivots and flips of each program that is MORE, and waits for that. Fills info if it is
 * not NULL. The stop hook is asked between programs on the CPU, and not on the GPU; programs that had no turn stay as
 * they are. A program that is stopped goes on from its basis. */
GPUOPT_API gpuopt_status gpuopt_simplex_many_iterate(gpuopt_simplex_many *many, int64_t iterations,
                                                     gpuopt_simplex_many_info *info);
/* Fills info for the programs as they stand. */
GPUOPT_API gpuopt_status gpuopt_simplex_many_get_info(gpuopt_simplex_many *many, gpuopt_simplex_many_info *info);
/* Gets what is asked for of programs first to first + count - 1. Before a program's first iteration its arrays are 0.
 * ARGUMENT: there are no such programs. */
GPUOPT_API gpuopt_status gpuopt_simplex_many_get(gpuopt_simplex_many *many, gpuopt_memory where, int32_t first,
                                                 int32_t count, const gpuopt_simplex_many_report *report);

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

/* A packed message (_message_pack) as a function of a model. Its costs are not widened: they go to where the handle
 * needs them, from device memory without being in host memory. No member will be added. */
typedef struct gpuopt_elimination_packed {
    const void *bytes;    /* [size]; in device memory at a multiple of 8 */
    uint64_t size;        /* of the message, in bytes */
    gpuopt_memory where;  /* of bytes; DEVICE: not the CPU backend */
    int32_t arity;        /* of the message */
    const int32_t *scope; /* [arity] distinct variables of this model: those that the message's scope stands for */
} gpuopt_elimination_packed;

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
    const int32_t *condition;
    int32_t condition_count; /* variables in condition */
    /* Copies of the model, each with its own condition, eliminated side by side: 1 to 2^24; 0: 1. More than one needs
     * EXACT or MINI_BUCKET. */
    int32_t copies;
    /* ON: all messages stay until the end. OFF: a message's memory is used again once the message has been read, and
     * nothing stays for _assign, which then returns STATE, as _get_bounds does. Default: ON, except with the policies
     * DROP and RECOMPUTE, which AUTO may choose: with them there are no bounds. */
    gpuopt_switch keep;
    int join_rest; /* not 0: the functions that are left over in the end become one message, over all their variables */
    /* The number that packed messages carry and that _message_unpack asks for: any, agreed on by all agents of one
     * problem. 0: a hash of this model: type, semiring, top, domains, functions (as tables, however they are given),
     * condition, and the order and z that are used; not of the values of conditioned and sliced variables. It does not
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
/* Says how much memory a handle takes. UNSUPPORTED, with the bytes in the log: the policy does not fit the limit.
 * Searches for an order unless one is given. */
GPUOPT_API gpuopt_status gpuopt_elimination_plan(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                 gpuopt_memory_plan *plan);
/* Makes a handle, with the functions loaded and no variable eliminated. ARGUMENT, with the function and entry in the
 * log: NaN, values or variables out of range, a variable twice in a scope; or a message that is refused. NUMERIC: some
 * sum of costs does not fit 63 bits or (DOUBLE) could be infinite. UNSUPPORTED: as _plan. */
GPUOPT_API gpuopt_status gpuopt_elimination_create(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                   gpuopt_elimination **elimination);
/* Destroys a handle; NULL is allowed. */
GPUOPT_API void gpuopt_elimination_destroy(gpuopt_elimination *elimination);

/* Sets the values of a copy's conditioned variables: value [condition_count], which are checked in either memory. All
 * copies go back to where no variable is eliminated. ARGUMENT: there is no such copy, or a value is outside its
 * domain. */
GPUOPT_API gpuopt_status gpuopt_elimination_set_condition(gpuopt_elimination *elimination, gpuopt_memory where,
                                                          int32_t copy, const int32_t *value);

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
GPUOPT_API gpuopt_status gpuopt_elimination_get_info(gpuopt_elimination *elimination, gpuopt_elimination_info *info);
/* Gives the info of any copy. ARGUMENT: there is no such copy. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_get_copy_info(gpuopt_elimination *elimination, int32_t copy,
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
GPUOPT_API gpuopt_status gpuopt_elimination_assign(gpuopt_elimination *elimination, gpuopt_memory where, int32_t copy,
                                                   int32_t *value, gpuopt_elimination_assignment *assignment);

/* Bounds for branch and bound, after the last step, for `count` partial assignments at once; the tables stay where the
 * backend has them. value [count][variables]: those of the variables that are eliminated after `variable` or left over,
 * other entries are ignored; conditioned variables have the copy's values. bound[i][v], or bound_value[i][v] with
 * DOUBLE, [count][domain of variable], is at most (MAX_SUM: at least) the cost of every assignment that gives
 * `variable` the value v and agrees with value[i] on these variables: the bounds of all children of node i, if
 * variables are decided in the reverse order of their elimination. Exact without mini-buckets. Forbidden: INT64_MAX
 * (MAX_SUM: INT64_MIN), or infinity.
 * increase: not 0: by how much the bound of value[i] without `variable` rises with v: 0 or more (MAX_SUM: 0 or less;
 * DOUBLE: up to rounding). That of all variables from the last one down to a node, added to the result of the
 * elimination (gpuopt_elimination_info.cost), is the node's bound, and the increases of variables in different branches
 * of the elimination tree do not depend on one another. The sum is for the host, also where it reaches top.
 * `where` is about value and the bounds. ARGUMENT: count is negative, variable is not eliminated, or a value that is
 * read is outside its domain, in either memory: then bounds may have been written. STATE: as _assign, or the policy
 * DROP or RECOMPUTE. UNSUPPORTED: LOG_SUM_EXP, SLICE, STREAM. Waits. Time: for each partial assignment O(functions +
 * messages), with increase O(those of the variable's bucket); and the domain times the tables of the bucket. GPU, HOST:
 * in pieces of 64 partial assignments or more, and of up to 4 MiB where the tables take 64 MiB; DEVICE: all in one
 * launch. INT64: the same bits on every backend and for any count. */
GPUOPT_API gpuopt_status gpuopt_elimination_get_bounds(gpuopt_elimination *elimination, gpuopt_memory where,
                                                       int32_t copy, int32_t variable, int increase, int64_t count,
                                                       const int32_t *value, int64_t *bound, double *bound_value);

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
GPUOPT_API gpuopt_status gpuopt_elimination_message_get(gpuopt_elimination *elimination, gpuopt_memory where,
                                                        int32_t message, int32_t copy, int64_t *cost, double *value,
                                                        uint64_t *count);
/* Lends a copy's table as the CUDA backend stores it: count = entries, UINT8 to UINT64 by bits (see message_info), or
 * FP64, negated with MAX_SUM. Valid until the next step. STATE: the message is not ready. UNSUPPORTED: on the CPU, or
 * the table is in host memory (STREAM). */
GPUOPT_API gpuopt_status gpuopt_elimination_message_device_view(gpuopt_elimination *elimination, int32_t message,
                                                                int32_t copy, gpuopt_device_view *view);

/* Packs a copy's message into bytes [capacity], for an agent in another process; *size (or NULL) receives the number of
 * bytes. With bytes NULL only the size is found, at any time. The format is little-endian on every machine: a header of
 * 64 bytes ("GPUM"; version 3, type and semiring as uint32; bits and arity as int32; entries and offset as int64;
 * forbidden, model and checksum as uint64), the scope and its domain sizes as int32, the stored costs, then the counts
 * (MIN_COUNT) as uint64. The checksum is a sum of uint64 over all words of 8 bytes, the last one filled up with zeros,
 * its own taken as 0: of z(w + k 0x9e3779b97f4a7c15) for word w, the k-th from 1 on, where z is the last step of
 * SplitMix64: x ^= x >> 30, x *= 0xbf58476d1ce4e5b9, x ^= x >> 27, x *= 0x94d049bb133111eb, x ^= x >> 31.
 * DEVICE: bytes are at a multiple of 8, and costs and counts are never in host memory. ARGUMENT: capacity is too small.
 * STATE: the message is not ready. UNSUPPORTED: DEVICE, and the table is in host memory (STREAM). Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_pack(gpuopt_elimination *elimination, gpuopt_memory where,
                                                         int32_t message, int32_t copy, void *bytes, uint64_t capacity,
                                                         uint64_t *size);

/* What a packed message holds. */
typedef struct gpuopt_elimination_packed_info {
    size_t struct_size;                   /* sizeof(gpuopt_elimination_packed_info) */
    gpuopt_elimination_cost type;         /* of the costs */
    gpuopt_elimination_semiring semiring; /* of the handle that packed it */
    int32_t bits;                         /* of a stored cost */
    int32_t arity;                        /* variables in its scope */
    int64_t entries;                      /* product of the scope's domain sizes */
    uint64_t model;                       /* the number of the model that it belongs to */
} gpuopt_elimination_packed_info;

/* Says what bytes [size] hold; in device memory they are at a multiple of 8. ARGUMENT: they are not a message, cut
 * short, of another version, damaged (any change within one word of 8 bytes is found, others but for one in 2^64), or
 * inconsistent; the log says which. Device memory is read by the device, but for what comes before the costs. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_inspect(gpuopt_context *context, gpuopt_memory where,
                                                            const void *bytes, uint64_t size,
                                                            gpuopt_elimination_packed_info *message);
/* Unpacks bytes [size] in host memory into host arrays: scope and domain [arity]; cost or value [entries], and count
 * [entries] or NULL, as _message_get gives them: together a dense gpuopt_elimination_function for the parent's model,
 * which can also take the bytes as they are (gpuopt_elimination_packed). model: the
 * number that the message must carry, see gpuopt_elimination_desc. ARGUMENT: as _message_inspect, the message is of
 * another model, or an array is NULL that is needed; no array is written then. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_unpack(gpuopt_context *context, uint64_t model, const void *bytes,
                                                           uint64_t size, int32_t *scope, int32_t *domain,
                                                           int64_t *cost, double *value, uint64_t *count);

/* A relaxation of a model: its mini-buckets, with costs shifted between them so that the bound is better. It is a model
 * itself, which is eliminated exactly: the optimum of the relaxation is the bound. Each mini-bucket of a variable has a
 * copy of the variable (node splitting: Choi, Chavira, Darwiche 2007), and where a variable has several, each copy has
 * a function of its own, its shift. The shifts of a variable's copies add up to 0, so that an assignment that gives all
 * copies of a variable one value has the cost that it has in the model, and no shift makes the bound invalid. */
typedef struct gpuopt_elimination_relaxation gpuopt_elimination_relaxation;

/* What a relaxation is. */
typedef struct gpuopt_elimination_relaxation_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_relaxation_info) */
    /* CONVERGED: cost or value is a bound. OPTIMAL: it is the optimum, for no bucket is split, or all copies agreed
     * before the last iteration. INFEASIBLE: every assignment of the model is forbidden. MORE: the stop hook came
     * before the first bound. */
    gpuopt_outcome outcome;
    int32_t iterations; /* done; fewer than asked for if all copies came to agree, if asked to stop, or if memory or 63
                           bits do not hold the costs that a further shift needs */
    int32_t variables;  /* of the relaxation: in order of elimination, then conditioned ones */
    const int32_t *original; /* [variables], the relaxation's: the model's variable that each is a copy of */
    int64_t scale;           /* INT64: the relaxation's costs are this many times the model's; DOUBLE: 1 */
    int64_t cost; /* INT64: the bound on the model's optimum, rounded up (MAX_SUM: down), for costs are whole */
    double value; /* the bound as it is, rounded to double */
} gpuopt_elimination_relaxation_info;

/* Makes the relaxation that MINI_BUCKET with desc->z stands for, and shifts costs `iterations` times (0 or more).
 * INT64, if dense tables of all functions have at most 2^24 entries: first between functions, in as many passes over
 * all variables, at most 50, where each averages the least costs of each of its values over the functions that mention
 * it (FGLP: Ihler, Flerova, Dechter, Otten 2012); the functions so found are used if the bound is then better. Then
 * between the copies of a variable: each iteration eliminates the relaxation, and moves each shift along the
 * subgradient of the bound, which is where copies of a variable disagree in the relaxation's optimal assignment; the
 * length of a step follows Polyak (1969). The best shifts found are kept: the bound is never worse than that of
 * MINI_BUCKET with the same order and z, INT64 exactly, DOUBLE up to rounding. Shifts of INT64 models are parts of a
 * cost, hence the scale, and are the same on every backend; those of DOUBLE models add up to 0 exactly, and are the
 * same up to rounding. Conditioned variables have the value 0 meanwhile; the relaxation bounds the model with other
 * values as well. The arrays of desc may be reused afterwards. UNSUPPORTED: a semiring other than MIN_SUM and MAX_SUM,
 * a policy other than MINI_BUCKET, several copies, join_rest, an order that leaves variables over; tables of scaled
 * costs, which are up to 256 times the model's, do not fit memory_limit, for z = 0 is chosen for those of the model (a
 * smaller z helps); or as _create.
 * NUMERIC, ARGUMENT: as _create. Time: that of iterations + 2 times _create, all steps and _assign. */
GPUOPT_API gpuopt_status gpuopt_elimination_relax(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                  int32_t iterations, gpuopt_elimination_relaxation **relaxation);
/* Destroys a relaxation; NULL is allowed. Handles that were made from its descriptor stay. */
GPUOPT_API void gpuopt_elimination_relaxation_destroy(gpuopt_elimination_relaxation *relaxation);
/* Gives what it is. */
GPUOPT_API gpuopt_status gpuopt_elimination_relaxation_get_info(gpuopt_elimination_relaxation *relaxation,
                                                                gpuopt_elimination_relaxation_info *info);
/* Gives its descriptor, whose arrays are the relaxation's: with its order and the policy EXACT, for _create, which
 * may refuse it only where a memory_limit is near. A copy has the number of its step, and the copies of a variable
 * follow one another. */
GPUOPT_API gpuopt_status gpuopt_elimination_relaxation_get_desc(gpuopt_elimination_relaxation *relaxation,
                                                                gpuopt_elimination_desc *desc);

/* A reduction of a model: a smaller model with the same answer, and the way back from its assignments. */
typedef struct gpuopt_elimination_reduction gpuopt_elimination_reduction;

/* The rules of a reduction, as bits. Those up to FUNCTIONAL are for every semiring: counts and ln Z stay what they are.
 * A rule that adds a table does so only where it is no larger than the tables that it replaces. */
typedef enum gpuopt_elimination_rule {
    GPUOPT_RULE_CONSISTENCY = 1, /* generalized arc consistency (Mackworth 1977): a value goes that every entry of some
                                    function forbids, also those that reach top together with the constant that all
                                    assignments have; and a variable with one value left */
    GPUOPT_RULE_JOIN = 2,        /* a function is added to one that mentions all of its variables */
    GPUOPT_RULE_SPLIT = 4,       /* a function becomes a sum of two, where two of its variables are independent given
                                    the others (pairwise decomposition: Favier, de Givry, Legarra, Schiex 2011); DOUBLE:
                                    up to rounding; up to 8 variables, functions without counts; INT64: left
                                    out where the largest costs sum to more than 2^47 */
    GPUOPT_RULE_DEGREE = 8,      /* a variable with at most two neighbours is eliminated (Larrosa, Dechter 2003) */
    GPUOPT_RULE_FUNCTIONAL = 16, /* a variable that others determine by a function, which allows one value or none with
                                    each assignment of them, is replaced by them in its other functions */
    GPUOPT_RULE_DOMINANCE = 32,  /* MIN_SUM, MAX_SUM: a value goes for which another one of the variable is at least as
                                    good whatever the others are (soft neighbourhood substitutability: Lecoutre,
                                    Roussel, Dehani 2012) */
    GPUOPT_RULE_BOUND = 64       /* INT64 with a top: soft arc consistency. A value or an entry goes with which a bound
                                    on all assignments, by costs shifted between functions as in _relax, reaches top */
} gpuopt_elimination_rule;

/* What a reduction has done. */
typedef struct gpuopt_elimination_reduction_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_reduction_info) */
    /* OPTIMAL: no variable is left. INFEASIBLE: every assignment is forbidden; of the variables only those are left
     * that may not be touched, and the reduced model is forbidden, too. CONVERGED: no rule applies any more. MORE: the
     * work or the stop hook ended it before that; the reduced model is as good as any. */
    gpuopt_outcome outcome;
    uint32_t rules;               /* that were asked for and apply to the model */
    int32_t variables;            /* of the reduced model */
    int32_t variables_fixed;      /* that had one value left */
    int32_t variables_degree;     /* eliminated by DEGREE */
    int32_t variables_functional; /* replaced by FUNCTIONAL */
    int32_t functions_joined;     /* times that two became one */
    int32_t functions_split;      /* times that one became two */
    int64_t values_forbidden;     /* removed by CONSISTENCY */
    int64_t values_dominated;     /* by DOMINANCE */
    int64_t values_bounded;       /* by BOUND */
    int64_t entries_bounded;      /* of tables, forbidden by BOUND */
    int64_t entries;              /* of all functions of the reduced model but its constant */
    /* INT64: what an assignment costs in the model beyond what it costs in the reduced one. Not 0 only if top can be
     * reached and the reduced model's least costs add up to less than 0 (MAX_SUM: its greatest to more); top is then
     * another. */
    int64_t offset;
    int64_t work;               /* entries looked at: the unit of the limit */
    const int32_t *original;    /* [variables], the reduction's: the model's variable that each is */
    const int64_t *value_start; /* [variables + 1]: value_start[k] + v is where value v of variable k has, in the */
    const int32_t *value;       /* following, the number that it has in the model */
} gpuopt_elimination_reduction_info;

/* Reduces a model. rules: GPUOPT_RULE_ bits; 0: all. Rules that do not apply to the model's semiring and top are left
 * out. work: tables are changed until so many of their entries have been looked at; 0: 2^31, some seconds. What a rule
 * does at once may go beyond it. The reduced model has the same optimum, and with MIN_COUNT the same count, with
 * LOG_SUM_EXP the same ln Z: INT64 exactly but for info's offset, DOUBLE up to rounding. What eliminated variables add
 * to all assignments is in a function without variables, its first one. Variables that are conditioned, or that an
 * order leaves over, keep all their values and stay, so that any condition, message and assignment of them means what
 * it did. top is 0 if no sum can reach it. Give an upper bound that is known as top, one more than it, to have BOUND
 * use it. One thread does the work. The arrays of desc may be reused afterwards. Host memory: the tables, dense, as
 * much again for the result, and as much for BOUND, which leaves models with more than 2^24 entries alone. ARGUMENT:
 * rules has another bit, work is negative; or as _create. NUMERIC, UNSUPPORTED: as _create, where that is not about
 * memory. */
GPUOPT_API gpuopt_status gpuopt_elimination_reduce(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                   uint32_t rules, int64_t work,
                                                   gpuopt_elimination_reduction **reduction);
/* Destroys a reduction; NULL is allowed. Handles that were made from its descriptor stay. */
GPUOPT_API void gpuopt_elimination_reduction_destroy(gpuopt_elimination_reduction *reduction);
/* Gives what it has done. */
GPUOPT_API gpuopt_status gpuopt_elimination_reduction_get_info(gpuopt_elimination_reduction *reduction,
                                                               gpuopt_elimination_reduction_info *info);
/* Gives the descriptor of the reduced model, whose arrays are the reduction's, for _order, _create and _relax: with the
 * options of the original's, and its order and condition as far as their variables are left. Variables keep their
 * order, and so do the values that are left of each. */
GPUOPT_API gpuopt_status gpuopt_elimination_reduction_get_desc(gpuopt_elimination_reduction *reduction,
                                                               gpuopt_elimination_desc *desc);
/* Turns an assignment of the reduced model, reduced [its variables], as _assign gives it, into one of the model, value
 * [variables], with the same cost but for the offset, unless that is forbidden; both in host memory. So an optimal one
 * becomes an optimal one. ARGUMENT: a value is outside of its domain. STATE: INFEASIBLE. UNSUPPORTED: LOG_SUM_EXP. Time
 * O(variables + scopes and domains of what was eliminated). */
GPUOPT_API gpuopt_status gpuopt_elimination_reduction_lift(gpuopt_elimination_reduction *reduction,
                                                           const int32_t *reduced, int32_t *value);

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
typedef enum gpuopt_knapsack_when_full {
    /* The level is expanded in slices, and the search goes on from the deepest level. It ends with the same optimum. */
    GPUOPT_WHEN_FULL_DEPTH_FIRST = 0,
    /* The outcome is FULL, and no node is lost: the caller can pack and remove some, and expand again. */
    GPUOPT_WHEN_FULL_STOP
} gpuopt_knapsack_when_full;

/* A problem, and how it is searched. */
typedef struct gpuopt_knapsack_desc {
    size_t struct_size;                  /* sizeof(gpuopt_knapsack_desc) */
    int32_t items;                       /* n, 0 to 2^28 */
    const int64_t *weight;               /* [items] 0 or more, in any order */
    const int64_t *profit;               /* [items] 0 or more */
    int64_t capacity;                    /* C, 0 or more */
    gpuopt_knapsack_search search;       /* which tree; 0: DOMINANCE */
    gpuopt_knapsack_when_full when_full; /* 0: DEPTH_FIRST */
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
    const int64_t *upper;
    gpuopt_group *group; /* of this context, whose ranks share the search, see Group; NULL: this context has it */
    /* With a group: nodes of a level from which on its ranks share it; 0: 262,144, or 4,194,304 if a rank has a GPU,
     * but 1,048,576 if all access one another's memory, see Group. */
    int64_t share_from;
} gpuopt_knapsack_desc;

/* Returns in *plan what memory a handle takes, before its pool grows. It depends only on items, pool, search, reduction,
 * hybrid_threshold, the number of ranks and the context, with `upper` also on it, weight and capacity. Errors: as
 * _create's, for the descriptor. */
GPUOPT_API gpuopt_status gpuopt_knapsack_plan(gpuopt_context *context, const gpuopt_knapsack_desc *desc,
                                              gpuopt_memory_plan *plan);
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
                                                gpuopt_knapsack **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_destroy(gpuopt_knapsack *knapsack);

/* Where the search stands. Counts are over the handle's life, without the searches that recover items. */
typedef struct gpuopt_knapsack_info {
    size_t struct_size; /* sizeof(gpuopt_knapsack_info) */
    /* MORE; OPTIMAL: `lower` is the optimum; INFEASIBLE: no solution reaches the claim, see _set_incumbent; LIMIT:
     * node_limit; FULL: see GPUOPT_WHEN_FULL_STOP. */
    gpuopt_outcome outcome;
    int32_t level;      /* of the nodes that are expanded next; -1: none is left */
    int64_t expanded;   /* nodes that were branched on */
    int64_t pruned;     /* nodes and children dropped by their bound, or because nothing was left to decide */
    int64_t dominated;  /* children dropped by dominance */
    int64_t alive;      /* nodes in the pool now */
    int64_t peak;       /* the most that were in the pool after a step */
    int64_t steps;      /* levels, or slices of them; a level that is skipped does not count */
    int64_t slices;     /* of these steps, those that took only a part of a level */
    int64_t lower;      /* the profit of the incumbent */
    int64_t upper;      /* no solution has more profit; a claim does not change it; falls during the search */
    int64_t pool;       /* nodes that fit now */
    int32_t free_items; /* items that _create left undecided, a bundle of equal ones as one: the number of levels */
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
GPUOPT_API gpuopt_status gpuopt_knapsack_set_incumbent(gpuopt_knapsack *knapsack, gpuopt_memory where, int64_t profit,
                                                       const uint8_t *taken);
/* As _set_incumbent with items, for handles with and without `upper`. copies: [items] in memory `where`, how many of
 * each item the solution takes. ARGUMENT: copies is NULL, or holds a number that is negative or more than `upper`
 * (without it: 1); and as there. */
GPUOPT_API gpuopt_status gpuopt_knapsack_set_copies(gpuopt_knapsack *knapsack, gpuopt_memory where, int64_t profit,
                                                    const int64_t *copies);

/* Returns the incumbent, at any time: taken [items] as 1 and 0 in memory `where`, in the order of the descriptor; its
 * profit and its weight, each one number in host memory. Any may be NULL. A node carries only its last 32 decisions;
 * earlier ones are recovered, 32 at a time, by searches within the free part of the pool, so the call is cheapest once
 * the search has ended. It may find a better solution, which is then the incumbent. The stop hook is not asked. STATE:
 * taken is not NULL, and the handle was made with `upper`. */
GPUOPT_API gpuopt_status gpuopt_knapsack_get_items(gpuopt_knapsack *knapsack, gpuopt_memory where, uint8_t *taken,
                                                   int64_t *profit, int64_t *weight);
/* As _get_items, for handles with and without `upper`. copies: [items] in memory `where`, how many of each item. */
GPUOPT_API gpuopt_status gpuopt_knapsack_get_copies(gpuopt_knapsack *knapsack, gpuopt_memory where, int64_t *copies,
                                                    int64_t *profit, int64_t *weight);

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
/* Takes one of each `every` nodes (1: all) out of the pool, from all its levels, and packs them: with 2 it is half of
 * the work, and not a piece of one end of it, as with _pack. Otherwise as _pack with remove. Cost: as _pack, and
 * O(nodes in the pool), on the GPU within its memory. ARGUMENT: every is less than 1, or capacity is too small. */
GPUOPT_API gpuopt_status gpuopt_knapsack_deal(gpuopt_knapsack *knapsack, int64_t every, void *bytes, uint64_t capacity,
                                              uint64_t *size);
/* Drops all nodes but one of each `parts`, from all levels: the share of part 0 <= part < parts. Handles of a problem,
 * with pools of one size, that have made the same calls hold the same nodes, on any backend; if each of `parts` of them
 * then keeps a part of its own, they share the work, and no node has had to travel. OPTIMAL and `upper` then refer only
 * to what each of them holds; what is dropped is not counted as pruned. Cost: O(nodes in the pool), on the GPU within
 * its memory. ARGUMENT: parts is less than 1, or there is no such part. */
GPUOPT_API gpuopt_status gpuopt_knapsack_keep(gpuopt_knapsack *knapsack, int64_t part, int64_t parts);
/* As _unpack, but the nodes are added to those in the pool, the root included, if there are any. STATE: the pool is not
 * empty, and the search is by DOMINANCE. UNSUPPORTED: both together do not fit the pool. Cost: O(size), and at times
 * O(nodes in the pool). */
GPUOPT_API gpuopt_status gpuopt_knapsack_add(gpuopt_knapsack *knapsack, const void *bytes, uint64_t size);

/* ---- Knapsack: a batch of small ones ------------------------------------------------------------------------------ *
 * Solves many small knapsacks in one call, as pricing in column generation asks for: max p x subject to w x <= C,
 * 0 <= x <= upper, x integer, exactly, in integers. They have the same number of items; weights, profits, capacities
 * and numbers of copies are each knapsack's own, or the same for all.
 *
 *     gpuopt_knapsack_batch_create(context, &desc, &batch);
 *     gpuopt_knapsack_batch_run(batch, GPUOPT_HOST, &problems, &report);    // outcome, profit, copies of each
 *
 * Method     Depth-first branch and bound with Dantzig's bound, each knapsack by one thread, after Horowitz, Sahni:
 *            Computing Partitions with Applications to the Knapsack Problem (1974), and for several copies Martello,
 *            Toth: Knapsack Problems (1990). doc/knapsack.md says which instances are hard.
 * Doubles    Profits that are doubles, such as the duals y of a linear program, are scaled to integers by the host. Let
 *            these integers p, rather than y, be the duals from then on, and a bound stays proven: in Farley's, the sum
 *            of demand * p over the largest of all knapsacks' upper / cost, the scale cancels. examples/cutting_stock.c
 *            does so.
 * Bits       The same results and node counts on every backend, with any number of threads. Of several solutions of
 *            the same profit it is always the same one.
 * stop       is asked between knapsacks on the CPU, and not on the GPU, where node_limit bounds the time. */

/* Room for small knapsacks that are solved together. */
typedef struct gpuopt_knapsack_batch gpuopt_knapsack_batch;

/* A batch to be created. */
typedef struct gpuopt_knapsack_batch_desc {
    size_t struct_size; /* sizeof(gpuopt_knapsack_batch_desc) */
    int32_t items;      /* n of each knapsack, 1 to 256. One with fewer has others without profit */
    int32_t count;      /* most knapsacks of a call, 1 to 2^24 */
} gpuopt_knapsack_batch_desc;

/* Fills `plan` with the memory that a batch takes. Errors: as _create. */
GPUOPT_API gpuopt_status gpuopt_knapsack_batch_plan(gpuopt_context *context, const gpuopt_knapsack_batch_desc *desc,
                                                    gpuopt_memory_plan *plan);
/* Makes a batch. ARGUMENT: a member is out of range. Memory on the GPU: for each knapsack 24 bytes an item and 36 more,
 * for what is in host memory; and 40 bytes an item for each thread, of which there are up to 1024 a multiprocessor. On
 * the CPU next to none. */
GPUOPT_API gpuopt_status gpuopt_knapsack_batch_create(gpuopt_context *context, const gpuopt_knapsack_batch_desc *desc,
                                                      gpuopt_knapsack_batch **batch);
/* Destroys a batch; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_batch_destroy(gpuopt_knapsack_batch *batch);

/* Knapsacks to be solved. All arrays are in the memory that the call's `where` says. Those of knapsack k begin at k
 * times the array's stride: 0 if all knapsacks have the same, else at least the descriptor's items (capacity: at least
 * 1), and at most 2^27. */
typedef struct gpuopt_knapsack_problems {
    size_t struct_size;      /* sizeof(gpuopt_knapsack_problems) */
    int32_t count;           /* knapsacks, 0 to the descriptor's */
    const int64_t *weight;   /* [items] of each: 0 or more; an item that is heavier than the capacity is not taken */
    const int64_t *profit;   /* [items] of each: any; an item with 0 or less is not taken */
    const int64_t *capacity; /* one of each: 0 or more */
    const int32_t *upper;    /* [items] of each: most copies, 0 or more; NULL: 1 of each item */
    int64_t weight_stride, profit_stride, capacity_stride, upper_stride; /* of these arrays, see above */
    int64_t node_limit; /* nodes of each knapsack, after which it ends with LIMIT; 0: 2^20 */
} gpuopt_knapsack_problems;

/* Where _run is to write what it found. Each array is NULL or in the memory that `where` says. */
typedef struct gpuopt_knapsack_report {
    size_t struct_size; /* sizeof(gpuopt_knapsack_report) */
    int32_t *outcome;   /* [count] a gpuopt_outcome: OPTIMAL; LIMIT: node_limit; MORE: had no turn before the stop */
    int64_t *lower;     /* [count] profit of the best solution found */
    int64_t *upper;     /* [count] no solution has more: OPTIMAL: the same; MORE: 2^63 - 1 */
    int64_t *nodes;     /* [count] nodes searched */
    int32_t *taken;     /* [count][items] copies of each item in the best solution found */
} gpuopt_knapsack_report;

/* Solves the knapsacks, and waits for that. ARGUMENT: a member is out of range; a capacity, a weight or a number of
 * copies is negative, also in device memory: the log names the first knapsack in which one is. NUMERIC: the profits of
 * all copies of a knapsack together, of each item as many as fit without others, exceed 2^63 - 1; likewise. Refused
 * calls write nothing. Cost: O(items^2) for each knapsack, and O(items) a node at worst, of which there may be
 * exponentially many. */
GPUOPT_API gpuopt_status gpuopt_knapsack_batch_run(gpuopt_knapsack_batch *batch, gpuopt_memory where,
                                                   const gpuopt_knapsack_problems *problems,
                                                   const gpuopt_knapsack_report *report);

/* ---- Knapsack: several constraints -------------------------------------------------------------------------------- *
 * The multidimensional knapsack: max p x subject to W x <= C, x in {0, 1}^n, with up to 30 rows, exactly, in integers.
 *
 *     gpuopt_knapsack_multi_create(context, &desc, &knapsack);
 *     while (info.outcome == GPUOPT_MORE)                                  // your loop
 *         if (gpuopt_knapsack_multi_run(knapsack, 1 << 26, 0, &info)) ...
 *     gpuopt_knapsack_multi_get_items(knapsack, GPUOPT_HOST, taken, &profit);
 *
 * Method  Depth-first branch and bound by many workers, who share their open nodes. Bounds are Lagrangian, with the
 *         duals of the linear relaxation and of variations of it as multipliers; the items are in the order of their
 *         reduced costs, largest first, and those that the first solution and the bound settle are fixed. After
 *         Freville: The Multidimensional 0-1 Knapsack Problem: An Overview (2004), and for the order Vimont, Boussier,
 *         Vasquez: Reduced Costs Propagation in an Efficient Implicit Enumeration for the 01 Multidimensional Knapsack
 *         Problem (2008). doc/knapsack.md has the figures.
 * Memory  For each worker 8 bytes for each of 16 numbers (up to 8 rows), 32 (up to 20) or 48, 3 bits for each item in
 *         whole words, and 12 more, in host memory or on the GPU there. It never grows.
 * Bits    With the same number of workers, counts and item sets are the same on every backend, with any number of
 *         threads, and however the work is divided between calls. */

/* A search of a multidimensional knapsack. */
typedef struct gpuopt_knapsack_multi gpuopt_knapsack_multi;

/* A problem, and how it is searched. */
typedef struct gpuopt_knapsack_multi_desc {
    size_t struct_size;      /* sizeof(gpuopt_knapsack_multi_desc) */
    int32_t items;           /* n, 0 to 4096 */
    int32_t rows;            /* constraints, 0 to 30 */
    const int64_t *weight;   /* [rows][items] 0 or more */
    const int64_t *profit;   /* [items] 0 or more */
    const int64_t *capacity; /* [rows] 0 or more */
    /* Parts that the search is divided into, up to 2^20, raised to a power of two; 0: 65,536. More than the machine has
     * threads, and on a GPU many more. */
    int32_t workers;
    int64_t node_limit; /* nodes in the handle's life, after which a call ends with LIMIT; 0: no limit */
} gpuopt_knapsack_multi_desc;

/* Returns in *plan what memory a handle takes. It depends only on items, rows, workers and the context. ARGUMENT: as
 * _create. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multi_plan(gpuopt_context *context, const gpuopt_knapsack_multi_desc *desc,
                                                    gpuopt_memory_plan *plan);
/* Creates a search: solves linear relaxations, finds a first solution, and fixes items. If that settles the problem,
 * the outcome is OPTIMAL at once. ARGUMENT: a member is out of range; for a negative number the log names it. NUMERIC:
 * of the items that fit all rows, the profits or the weights of a row are more than 2^58 together. Cost: on the host,
 * not interrupted by the stop hook, for up to 26 linear programs O(rows (items + rows)) a pivot each, with about as
 * many pivots as items; and O(items^2). Meanwhile it takes up to the plan's create_bytes more of host memory. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multi_create(gpuopt_context *context, const gpuopt_knapsack_multi_desc *desc,
                                                      gpuopt_knapsack_multi **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_multi_destroy(gpuopt_knapsack_multi *knapsack);

/* Where the search stands. */
typedef struct gpuopt_knapsack_multi_info {
    size_t struct_size;     /* sizeof(gpuopt_knapsack_multi_info) */
    gpuopt_outcome outcome; /* MORE; OPTIMAL: `lower` is the optimum; LIMIT: node_limit */
    int32_t free_items;     /* that _create left undecided */
    int32_t busy;           /* workers with a node */
    int64_t nodes;          /* that were visited: an item, or the end, with all items of larger reduced cost decided */
    int64_t rounds;         /* of all workers, each of up to 128 nodes; between them they share */
    int64_t lower;          /* the profit of the best solution known */
    int64_t upper;          /* no solution has more: the best bound of _create, and `lower` at the end */
} gpuopt_knapsack_multi_info;

/* Searches until at least `nodes` nodes have been visited, or `rounds` rounds made, or the search ends (0: no such
 * limit). A round is never divided, so `nodes` and node_limit may be exceeded by up to 128 nodes a worker. Fills *info,
 * which may be NULL. The stop hook is asked after each round; if it stops the call, the next one goes on to the same
 * result. Waits for the device after each round. ARGUMENT: a negative number. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multi_run(gpuopt_knapsack_multi *knapsack, int64_t nodes, int32_t rounds,
                                                   gpuopt_knapsack_multi_info *info);
/* Fills *info with where the search stands. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multi_get_info(gpuopt_knapsack_multi *knapsack,
                                                        gpuopt_knapsack_multi_info *info);
/* Tells the search of a solution, at any time: taken [items] in memory `where`, nonzero for its items. It is kept if it
 * is better. ARGUMENT: the items are too heavy, which is also checked in device memory. Cost: O(rows items) on the
 * host. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multi_set_incumbent(gpuopt_knapsack_multi *knapsack, gpuopt_memory where,
                                                             const uint8_t *taken);
/* Returns the best solution known, at any time: taken [items] as 1 and 0 in memory `where`, and its profit, one number
 * in host memory. Either may be NULL. */
GPUOPT_API gpuopt_status gpuopt_knapsack_multi_get_items(gpuopt_knapsack_multi *knapsack, gpuopt_memory where,
                                                         uint8_t *taken, int64_t *profit);

/* ---- Knapsack: one item of each class ----------------------------------------------------------------------------- *
 * The multiple-choice knapsack: items are in classes, of each of which exactly one is taken, or at most one, with the
 * most profit within an integer capacity, exactly.
 *
 *     gpuopt_knapsack_choice_create(context, &desc, &knapsack);
 *     while (info.outcome == GPUOPT_MORE)                                  // your loop
 *         if (gpuopt_knapsack_choice_run(knapsack, 1 << 24, 0, &info)) ...
 *     gpuopt_knapsack_choice_get_items(knapsack, GPUOPT_HOST, chosen, &profit);
 *
 * Method  Dynamic programming over a list of states, weight and profit of what classes have decided so far, which
 *         begins at the solution of the linear relaxation and takes one class more in each step, those around the break
 *         item first. States are dropped that another one dominates, or whose bound does not beat the best solution;
 *         each state gives a solution as well. After Pisinger: A Minimal Algorithm for the Multiple-Choice Knapsack
 *         Problem (1995); the bound is Dantzig's, over the classes that are left. doc/knapsack.md says more.
 * Memory  72 bytes of host memory for each state that fits a list. Lists whose size was given never grow; those of
 *         default size double when states do not fit, up to 2^26 states (4.8 GB, and while they grow half as much
 *         again), as long as the context's allocator has memory. When they cannot grow, the outcome is FULL, and the
 *         next call tries again. On the GPU also device memory, if a step from a full list may make 2^18 states: 48
 *         bytes for each that fits a list, and up to 270 MB for the heaps by which lists are merged; where there is
 *         none to grow, steps that no longer fit are made on the host.
 * Where   The lists are in host memory. On the CPU, steps that make 2^15 states or more are divided among the
 *         context's threads. On the GPU, those that make 2^18 or more (states times items that may be of use) are
 *         copied to the device and back; shorter ones take less time on the host, and are made there by one thread.
 *         Vectors may be in device memory.
 * Bits    With lists that are large enough, bounds, counts and items are the same on every machine and backend, with
 *         any number of threads, and however the work is divided between calls. */

/* A search of a multiple-choice knapsack. */
typedef struct gpuopt_knapsack_choice gpuopt_knapsack_choice;

/* A problem, and how it is searched. */
typedef struct gpuopt_knapsack_choice_desc {
    size_t struct_size;    /* sizeof(gpuopt_knapsack_choice_desc) */
    int32_t classes;       /* m, 0 to 2^26 */
    int32_t at_most_one;   /* 0: exactly one item of each class is taken; else one or none */
    const int64_t *begin;  /* [classes + 1] class c has the items begin[c] .. begin[c + 1] - 1; up to 2^28 in all */
    const int64_t *weight; /* [items] 0 or more */
    const int64_t *profit; /* [items] of any sign */
    int64_t capacity;      /* 0 or more */
    int64_t states;        /* that fit a list, up to 2^31; 0: 2^16, and it grows, see Memory above */
    int64_t state_limit;   /* states expanded in the handle's life, after which a call ends with LIMIT; 0: no limit */
} gpuopt_knapsack_choice_desc;

/* Returns in *plan what memory a handle takes, before its lists grow. It depends only on begin, states and the context.
 * ARGUMENT: as _create. */
GPUOPT_API gpuopt_status gpuopt_knapsack_choice_plan(gpuopt_context *context, const gpuopt_knapsack_choice_desc *desc,
                                                     gpuopt_memory_plan *plan);
/* Creates a search: leaves out dominated items, solves the linear relaxation, and finds a first solution. If that
 * settles the problem, the outcome is OPTIMAL at once, or INFEASIBLE: the lightest items are too heavy, or a class of
 * which one is to be taken has none. ARGUMENT: a member is out of range, or begin decreases; for a negative weight the
 * log names the item. NUMERIC: of the items that fit by themselves, the largest weights of the classes, or the largest
 * sizes of profits, are more than 2^60 together. Cost: O(items log items) on the host, not interrupted by the stop
 * hook. Meanwhile it takes up to the plan's create_bytes more of host memory. */
GPUOPT_API gpuopt_status gpuopt_knapsack_choice_create(gpuopt_context *context, const gpuopt_knapsack_choice_desc *desc,
                                                       gpuopt_knapsack_choice **knapsack);
/* Destroys a search; NULL is allowed. */
GPUOPT_API void gpuopt_knapsack_choice_destroy(gpuopt_knapsack_choice *knapsack);

/* Where the search stands. Counts are over the handle's life, without those of recovering items. */
typedef struct gpuopt_knapsack_choice_info {
    size_t struct_size; /* sizeof(gpuopt_knapsack_choice_info) */
    /* MORE; OPTIMAL: `lower` is the optimum; INFEASIBLE: there is no solution; LIMIT: state_limit; FULL: the states of
     * the next step do not fit. */
    gpuopt_outcome outcome;
    int32_t level;    /* classes decided */
    int32_t levels;   /* classes to be decided at most: those with a choice */
    int64_t expanded; /* states that were expanded: each with every item of a class that may be of use */
    int64_t steps;    /* classes expanded; one without a choice left does not count */
    int64_t alive;    /* states in the list now */
    int64_t peak;     /* the most after a step */
    int64_t states;   /* that fit a list now */
    int64_t lower;    /* the profit of the best solution known; INFEASIBLE: 0 */
    int64_t upper;    /* no solution has more: the linear relaxation's bound, and `lower` at the end */
} gpuopt_knapsack_choice_info;

/* Decides class after class, until at least `states` states have been expanded, or `steps` steps made, or the search
 * ends (0: no such limit). A step is never divided, so `states` and state_limit may be exceeded by a list. Fills *info,
 * which may be NULL. The stop hook is asked after each step; if it stops the call, the next one goes on to the same
 * result. After FULL, a call tries the step again. ARGUMENT: a negative number.
 * Cost: O(s n log n) a step, for s states and the class's n items that may be of use; a step whose states turn out not
 * to fit is made again in longer lists. */
GPUOPT_API gpuopt_status gpuopt_knapsack_choice_run(gpuopt_knapsack_choice *knapsack, int64_t states, int32_t steps,
                                                    gpuopt_knapsack_choice_info *info);
/* Fills *info with where the search stands. */
GPUOPT_API gpuopt_status gpuopt_knapsack_choice_get_info(gpuopt_knapsack_choice *knapsack,
                                                         gpuopt_knapsack_choice_info *info);
/* Tells the search of a solution, at any time: chosen [classes] in memory `where`, the item of each class (an index
 * into the descriptor's arrays), or -1 for none with at_most_one. It is kept if it is better. ARGUMENT: an item is not
 * of its class, or they are too heavy, which is also checked in device memory. Cost: O(classes) on the host. */
GPUOPT_API gpuopt_status gpuopt_knapsack_choice_set_incumbent(gpuopt_knapsack_choice *knapsack, gpuopt_memory where,
                                                              const int32_t *chosen);
/* Returns the best solution known, at any time: chosen [classes], as above, in memory `where`, and its profit, one
 * number in host memory. Either may be NULL. A state carries only its last 64 bits of decisions; earlier ones are
 * recovered by going through the levels again, in memory that the handle has: usually about twice as many states as the
 * search expanded; where lists outgrow the handle's on the way, which has not been seen, as many as the search's for
 * each 64 bits of decisions. The stop hook is not asked. STATE: INFEASIBLE. */
GPUOPT_API gpuopt_status gpuopt_knapsack_choice_get_items(gpuopt_knapsack_choice *knapsack, gpuopt_memory where,
                                                          int32_t *chosen, int64_t *profit);

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
