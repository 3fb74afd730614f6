/* SPDX-License-Identifier: MIT
 *
 * gpuopt, graphical models beyond an elimination: messages between agents, relaxations, preprocessing.
 *
 * A layer over gpuopt.h: a minor version may change what is here, and the change log says so.
 */
#ifndef GPUOPT_INFERENCE_H
#define GPUOPT_INFERENCE_H

#include "../gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Graphical models -------------------------------------------------------------------------------------------- */

/* A packed message (_message_pack) as a function of a model. Its costs are not widened: they go to where the handle
 * needs them, from device memory without being in host memory. No member will be added. */
struct gpuopt_elimination_packed {
    const void *bytes;         /* [size]; in device memory at a multiple of 8 */
    uint64_t size;             /* of the message, in bytes */
    gpuopt_memory_space where; /* of bytes; DEVICE: not the CPU backend */
    int32_t arity;             /* of the message */
    const int32_t *scope;      /* [arity] distinct variables of this model: those that the message's scope stands for */
};

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
    uint64_t model;                       /* the number of the model that it belongs to */
} gpuopt_elimination_packed_info;

/* Says what bytes [size] hold; in device memory they are at a multiple of 8. ARGUMENT: they are not a message, cut
 * short, of another version, damaged (any change within one word of 8 bytes is found, others but for one in 2^64), or
 * inconsistent; the log says which. Device memory is read by the device, but for what comes before the costs. Waits. */
GPUOPT_API gpuopt_status gpuopt_elimination_message_inspect(gpuopt_context *context, gpuopt_memory_space where,
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
typedef struct gpuopt_elimination_cost_shifting gpuopt_elimination_cost_shifting;

/* What a relaxation is. */
typedef struct gpuopt_elimination_cost_shifting_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_cost_shifting_info) */
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
} gpuopt_elimination_cost_shifting_info;

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
GPUOPT_API gpuopt_status gpuopt_elimination_shift_costs(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                        int32_t iterations,
                                                        gpuopt_elimination_cost_shifting **relaxation);
/* Destroys a relaxation; NULL is allowed. Handles that were made from its descriptor stay. */
GPUOPT_API void gpuopt_elimination_cost_shifting_destroy(gpuopt_elimination_cost_shifting *relaxation);
/* Gives what it is. */
GPUOPT_API gpuopt_status gpuopt_elimination_cost_shifting_get_info(gpuopt_elimination_cost_shifting *relaxation,
                                                                   gpuopt_elimination_cost_shifting_info *info);
/* Gives its descriptor, whose arrays are the relaxation's: with its order and the policy EXACT, for _create, which
 * may refuse it only where a memory_limit is near. A copy has the number of its step, and the copies of a variable
 * follow one another. */
GPUOPT_API gpuopt_status gpuopt_elimination_cost_shifting_get_desc(gpuopt_elimination_cost_shifting *relaxation,
                                                                   gpuopt_elimination_desc *desc);

/* A reduction of a model: a smaller model with the same answer, and the way back from its assignments. */
typedef struct gpuopt_elimination_preprocessing gpuopt_elimination_preprocessing;

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
                                    on all assignments, by costs shifted between functions as in _shift_costs, reaches top */
} gpuopt_elimination_rule;

/* What a reduction has done. */
typedef struct gpuopt_elimination_preprocessing_info {
    size_t struct_size; /* sizeof(gpuopt_elimination_preprocessing_info) */
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
} gpuopt_elimination_preprocessing_info;

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
GPUOPT_API gpuopt_status gpuopt_elimination_preprocess(gpuopt_context *context, const gpuopt_elimination_desc *desc,
                                                       uint32_t rules, int64_t work,
                                                       gpuopt_elimination_preprocessing **reduction);
/* Destroys a reduction; NULL is allowed. Handles that were made from its descriptor stay. */
GPUOPT_API void gpuopt_elimination_preprocessing_destroy(gpuopt_elimination_preprocessing *reduction);
/* Gives what it has done. */
GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_get_info(gpuopt_elimination_preprocessing *reduction,
                                                                   gpuopt_elimination_preprocessing_info *info);
/* Gives the descriptor of the reduced model, whose arrays are the reduction's, for _order, _create and _shift_costs:
 * with the options of the original's, and its order and condition as far as their variables are left. Variables keep
 * their order, and so do the values that are left of each. */
GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_get_desc(gpuopt_elimination_preprocessing *reduction,
                                                                   gpuopt_elimination_desc *desc);
/* Turns an assignment of the reduced model, reduced [its variables], as _assign gives it, into one of the model, value
 * [variables], with the same cost but for the offset, unless that is forbidden; both in host memory. So an optimal one
 * becomes an optimal one. ARGUMENT: a value is outside of its domain. STATE: INFEASIBLE. UNSUPPORTED: LOG_SUM_EXP. Time
 * O(variables + scopes and domains of what was eliminated). */
GPUOPT_API gpuopt_status gpuopt_elimination_preprocessing_postsolve(gpuopt_elimination_preprocessing *reduction,
                                                                    const int32_t *reduced, int32_t *value);

#ifdef __cplusplus
}
#endif

#endif /* GPUOPT_INFERENCE_H */
