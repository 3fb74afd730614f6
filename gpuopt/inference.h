/* SPDX-License-Identifier: MIT
 *
 * gpuopt, graphical models beyond elimination: messages between agents, cost shifting, preprocessing.
 *
 * A layer over gpuopt.h. A minor version may change it; the change log then says so.
 */
#ifndef GPUOPT_INFERENCE_H
#define GPUOPT_INFERENCE_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Graphical models -------------------------------------------------------------------------------------------- */

/* A packed message (_message_pack) that serves as a function of a model. Its costs are not widened. They are loaded
 * where the handle needs them; from device memory they do not pass through host memory. No member will be added. */
typedef struct gpuopt_elimination_packed {
    const void *bytes;         /* [size]; in device memory aligned to 8 bytes */
    uint64_t size;             /* of the message, in bytes */
    gpuopt_memory_space where; /* of bytes; DEVICE: only with the CUDA backend */
    int32_t arity;             /* of the message */
    const int32_t *scope;      /* [arity] distinct variables of this model that take the place of the message's scope */
} gpuopt_elimination_packed;

/* Packed messages among the functions of a model, and what the messages of its own handle are. */
struct gpuopt_elimination_messages {
    size_t struct_size;                      /* sizeof(gpuopt_elimination_messages) */
    const gpuopt_elimination_packed *packed; /* [count]: functions as well. With several ranks: UNSUPPORTED */
    int32_t count;                           /* functions and packed messages: at most 2^29 - 1 together */
    int join_rest;  /* not 0: the functions left over in the end become one message, over all their variables */
    uint64_t model; /* the number that packed messages carry; 0: a hash of this model */
};

/* Lends a copy's table as the CUDA backend stores it. count: the message's entries. type: UINT8 to UINT64 by the bits
 * of gpuopt_elimination_message_info; DOUBLE: FP64, negated with MAX_SUM. Valid until the next step. STATE: the message
 * is not ready. UNSUPPORTED: on the CPU, or the table is in host memory (STREAM). */
GPUOPT_API gpuopt_status gpuopt_elimination_message_device_view(gpuopt_elimination *elimination, int32_t message,
                                                                int32_t copy, gpuopt_device_view *view);

/* Packs a copy's message into bytes [capacity], for an agent in another process. *size, or NULL, receives the number of
 * bytes. bytes NULL: only *size is set, which works at any time.
 *
 * Format    Little-endian on every machine. A header of 72 bytes: "GPUM"; version (4), type and semiring as uint32;
 *           bits and arity as int32; entries and offset as int64; forbidden, model and checksum as uint64; spread as
 *           double. Then the scope and its domain sizes as int32, the stored costs, and with MIN_COUNT the counts as
 *           uint64.
 * Spread    A bound on the difference of two costs: the sum of the spreads in the bucket. A handle that takes the
 *           message splits its buckets by it. Agents therefore have the mini-buckets of one handle with the same order
 *           and z, if each agent's handle eliminates one variable.
 * Checksum  The sum, in uint64, of z(w + k * 0x9e3779b97f4a7c15) over all words of 8 bytes, where w is the k-th word, k
 *           = 1, 2, ... The last word is padded with zeros, and the checksum's own word counts as 0. z is the last step
 *           of SplitMix64: x ^= x >> 30, x *= 0xbf58476d1ce4e5b9, x ^= x >> 27, x *= 0x94d049bb133111eb, x ^= x >> 31.
 * DEVICE    bytes must be aligned to 8 bytes. Costs and counts never pass through host memory.
 *
 * ARGUMENT: capacity is too small. STATE: the message is not ready. UNSUPPORTED: DEVICE, and the table is in host
 * memory (STREAM). Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_pack(gpuopt_elimination *elimination, gpuopt_memory_space where,
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
    uint64_t model;                       /* number of the model that the message belongs to */
} gpuopt_elimination_packed_info;

/* Describes the message in bytes [size], which in device memory are aligned to 8 bytes. ARGUMENT: the bytes are not a
 * message, cut short, of another version, damaged or inconsistent; the log says which. Any damage within one word of 8
 * bytes is detected, and so is other damage except in one case in 2^64. From device memory only the part before the
 * costs is copied to host memory; the device reads the rest. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_inspect(gpuopt_context *context, gpuopt_memory_space where,
                                                            const void *bytes, uint64_t size,
                                                            gpuopt_elimination_packed_info *message);
/* Unpacks bytes [size] into arrays, all in host memory: scope and domain [arity]; cost or value [entries], and count
 * [entries] or NULL, as _message_get returns them. They make a dense gpuopt_elimination_function for the parent's
 * model, which can also take the bytes as they are (gpuopt_elimination_packed). model: the number that the message must
 * carry, see gpuopt_elimination_messages. ARGUMENT: as _message_inspect; the message belongs to another model; or a
 * required array is NULL. No array is written then. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_unpack(gpuopt_context *context, uint64_t model, const void *bytes,
                                                           uint64_t size, int32_t *scope, int32_t *domain,
                                                           int64_t *cost, double *value, uint64_t *count);

/* A relaxation of a model. It stands for the model's mini-buckets, and costs are shifted between these to improve the
 * bound. It is a model itself and is eliminated exactly: its optimum is the bound. Each mini-bucket of a variable has a
 * copy of the variable (node splitting: Choi, Chavira, Darwiche 2007). If a variable has several copies, each of them
 * has a function of its own, its shift. The shifts of a variable's copies add up to 0. An assignment that gives all
 * copies of each variable one value therefore costs what it costs in the model, and the bound is valid with any
 * shifts. */
typedef struct gpuopt_elimination_cost_shifting gpuopt_elimination_cost_shifting;

/* A relaxation and its bound. */
typedef struct gpuopt_elimination_cost_shifting_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_cost_shifting_info) */
    /* CONVERGED: cost or value is a bound. OPTIMAL: it is the optimum, because no bucket is split or all copies agreed
     * before the last iteration. INFEASIBLE: every assignment of the model is forbidden. MORE: the stop hook asked
     * before there was a bound. */
    gpuopt_outcome outcome;
    /* Iterations done. Fewer than requested if all copies came to agree, if the stop hook asked, or if the costs of a
     * further shift do not fit memory or 63 bits. */
    int32_t iterations;
    int32_t variables;       /* of the relaxation: in order of elimination, then the evidence variables */
    const int32_t *original; /* [variables], owned by the relaxation: the model's variable that each is a copy of */
    int64_t scale;           /* INT64: the relaxation's costs are this many times the model's; DOUBLE: 1 */
    int64_t cost; /* INT64: the bound on the model's optimum, rounded up (MAX_SUM: down), since costs are whole */
    double value; /* the bound itself, rounded to double only */
} gpuopt_elimination_cost_shifting_info;

/* Creates the relaxation that MINI_BUCKET with desc->z stands for, and shifts costs `iterations` times (0 or more). The
 * arrays of desc may be reused afterwards.
 *
 * Functions  INT64, if dense tables of all functions have at most 2^24 entries: costs are shifted between functions
 *            first, in `iterations` passes over all variables, at most 50. A pass takes each value of a variable and
 *            averages its least costs in the functions that mention the variable (FGLP: Ihler, Flerova, Dechter, Otten
 *            2012). The new functions are used if they give a better bound.
 * Copies     Then costs are shifted between the copies of a variable. Each iteration eliminates the relaxation and
 *            moves each shift along the subgradient of the bound: where copies of a variable disagree in the
 *            relaxation's optimal assignment. The step length follows Polyak (1969). The best shifts are kept.
 * Bound      Never worse than that of MINI_BUCKET with the same order and z: INT64 exactly, DOUBLE up to rounding.
 *            Evidence variables have the value 0 meanwhile, but the relaxation bounds the model with other values as
 *            well.
 * Bits       Shifts of INT64 models are fractions of a cost, hence the scale; they are the same on every backend. Those
 *            of DOUBLE models add up to 0 exactly, and are the same up to rounding.
 * Time       iterations + 2 times the time of _create, all steps and _assign.
 *
 * UNSUPPORTED: a semiring other than MIN_SUM and MAX_SUM; a policy other than MINI_BUCKET; a batch of several copies;
 * join_rest; an order that leaves variables over; scaled costs, up to 256 times the model's, need tables beyond
 * memory->bytes (z = 0 is chosen for the model's own costs; a smaller z helps); or as _create. NUMERIC, ARGUMENT: as
 * _create. */
GPUOPT_API gpuopt_status gpuopt_elimination_shift_costs(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                        int32_t iterations,
                                                        gpuopt_elimination_cost_shifting **relaxation);
/* Destroys a relaxation; NULL is allowed. Handles created from its descriptor remain valid. */
GPUOPT_API void gpuopt_elimination_cost_shifting_destroy(gpuopt_elimination_cost_shifting *relaxation);
/* Fills `info`. */
GPUOPT_API gpuopt_status gpuopt_elimination_cost_shifting_get_info(gpuopt_elimination_cost_shifting *relaxation,
                                                                   gpuopt_elimination_cost_shifting_info *info);
/* Fills `desc` with the relaxation's descriptor for _create, with its order and the policy EXACT. The relaxation owns
 * its arrays and options. _create can refuse it only if the memory is close to memory->bytes. Copies are numbered by
 * the steps that eliminate them, and the copies of a variable are consecutive. */
GPUOPT_API gpuopt_status gpuopt_elimination_cost_shifting_get_desc(gpuopt_elimination_cost_shifting *relaxation,
                                                                   gpuopt_elimination_desc *desc);

/* The preprocessing of a model: a smaller model with the same answer, and the means to turn its assignments into those
 * of the model. */
typedef struct gpuopt_elimination_preprocessing gpuopt_elimination_preprocessing;

/* The rules of preprocessing, as bits. Those up to FUNCTIONAL apply to every semiring, and preserve counts and ln Z. A
 * rule adds a table only if it is no larger than the tables that it replaces. */
typedef enum gpuopt_elimination_rule {
    /* Generalized arc consistency (Mackworth 1977): removes a value if every entry for it in some function is forbidden
     * or, with the constant cost of all assignments added, reaches top. Also removes a variable with one value left. */
    GPUOPT_RULE_CONSISTENCY = 1,
    GPUOPT_RULE_JOIN = 2, /* adds a function to one that mentions all of its variables */
    /* Replaces a function by a sum of two where two of its variables are independent given the others (pairwise
     * decomposition: Favier, de Givry, Legarra, Schiex 2011). For up to 8 variables, and without counts. DOUBLE: up to
     * rounding. INT64: not where the largest costs sum to more than 2^47. */
    GPUOPT_RULE_SPLIT = 4,
    GPUOPT_RULE_DEGREE = 8, /* eliminates a variable with at most two neighbours (Larrosa, Dechter 2003) */
    /* Replaces a variable in its other functions by the variables that determine it: for each assignment of these, a
     * function allows at most one value of the replaced variable. */
    GPUOPT_RULE_FUNCTIONAL = 16,
    /* MIN_SUM, MAX_SUM: removes a value if another value of the variable is at least as good whatever the other
     * variables are (soft neighbourhood substitutability: Lecoutre, Roussel, Dehani 2012). */
    GPUOPT_RULE_DOMINANCE = 32,
    /* INT64 with a top: soft arc consistency. Removes a value, or forbids an entry, if a bound on all assignments with
     * it reaches top; the bound comes from shifting costs between functions as in _shift_costs. */
    GPUOPT_RULE_BOUND = 64
} gpuopt_elimination_rule;

/* What preprocessing has done. */
typedef struct gpuopt_elimination_preprocessing_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_preprocessing_info) */
    /* OPTIMAL: no variable is left. INFEASIBLE: every assignment is forbidden; only the variables that may not be
     * changed are left, and the reduced model is forbidden as well. CONVERGED: no rule applies any more. MORE: the work
     * limit or the stop hook ended it earlier; the reduced model is valid all the same. */
    gpuopt_outcome outcome;
    uint32_t rules;               /* requested ones that apply to the model */
    int32_t variables;            /* of the reduced model */
    int32_t variables_fixed;      /* removed with one value left */
    int32_t variables_degree;     /* eliminated by DEGREE */
    int32_t variables_functional; /* replaced by FUNCTIONAL */
    int32_t functions_joined;     /* how often two became one */
    int32_t functions_split;      /* how often one became two */
    int64_t values_forbidden;     /* removed by CONSISTENCY */
    int64_t values_dominated;     /* removed by DOMINANCE */
    int64_t values_bounded;       /* removed by BOUND */
    int64_t entries_bounded;      /* entries of tables that BOUND forbade */
    int64_t entries;              /* of all functions of the reduced model except its constant */
    /* INT64: the cost of an assignment in the model, less its cost in the reduced model. Not 0 only if top can be
     * reached and the reduced model's least costs sum to less than 0 (MAX_SUM: its greatest ones to more than 0); top
     * then differs, too. */
    int64_t offset;
    int64_t work; /* entries read: the unit of the limit */
    /* The preprocessing owns the next three arrays. */
    const int32_t *original;    /* [variables] the model's variable that each is */
    const int64_t *value_start; /* [variables + 1] where each variable begins in the next array */
    const int32_t *value;       /* value[value_start[k] + v]: which value of the model value v of variable k is */
} gpuopt_elimination_preprocessing_info;

/* Reduces a model. The arrays of desc may be reused afterwards.
 *
 * rules   GPUOPT_RULE_ bits; 0: all. Rules that do not apply to the model's semiring and top are skipped. To let BOUND
 *         use a known upper bound, set top to one more than it.
 * work    Tables are changed until this many of their entries have been read; one application of a rule may exceed it.
 *         0: 2^31, some seconds. One thread does the work.
 * Result  The same optimum, with MIN_COUNT the same count, with LOG_SUM_EXP the same ln Z. INT64: exactly, except for
 *         the offset in info; DOUBLE: up to rounding. The first function has no variables; it holds what eliminated
 *         variables add to all assignments. top is 0 if no sum can reach it.
 * Kept    Evidence variables, and those that an order leaves over, stay with all their values. So evidence, messages
 *         and assignments keep their meaning.
 * Memory  In host memory: the tables, dense; as much again for the result; and as much for BOUND, which skips models
 *         with more than 2^24 entries.
 *
 * ARGUMENT: rules has another bit, work is negative; or as _create. NUMERIC, UNSUPPORTED: as _create, except for what
 * concerns memory. */
GPUOPT_API gpuopt_status gpuopt_elimination_preprocess(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                       uint32_t rules, int64_t work,
                                                       gpuopt_elimination_preprocessing **reduction);
/* Destroys a preprocessing; NULL is allowed. Handles created from its descriptor remain valid. */
GPUOPT_API void gpuopt_elimination_preprocessing_destroy(gpuopt_elimination_preprocessing *reduction);
/* Fills `info`. */
GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_get_info(gpuopt_elimination_preprocessing *reduction,
                                                                   gpuopt_elimination_preprocessing_info *info);
/* Fills `desc` with the descriptor of the reduced model, for _order, _create and _shift_costs. The preprocessing owns
 * its arrays and options. The options are those of the original descriptor, and so are order and evidence, as far as
 * their variables remain. Variables keep their order, and so do the remaining values of each. */
GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_get_desc(gpuopt_elimination_preprocessing *reduction,
                                                                   gpuopt_elimination_desc *desc);
/* Turns an assignment of the reduced model, reduced [variables of the reduced model], as _assign returns it, into one
 * of the model, value [variables]; both are in host memory. The cost stays the same except for the offset, unless the
 * assignment is forbidden, so an optimal assignment becomes an optimal one. ARGUMENT: a value is outside its domain.
 * STATE: INFEASIBLE. UNSUPPORTED: LOG_SUM_EXP. Time O(variables + scopes and domains of what was eliminated). */
GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_postsolve(gpuopt_elimination_preprocessing *reduction,
                                                                    const int32_t *reduced, int32_t *value);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_INFERENCE_H */
