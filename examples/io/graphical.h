/* SPDX-License-Identifier: MIT
 *
 * Graphical models for the examples, tests and benchmarks: from .wcsp, .cfn and .uai files and from generators; and
 * further files that belong to them.
 */
#ifndef EXAMPLES_IO_GRAPHICAL_H
#define EXAMPLES_IO_GRAPHICAL_H

#include <stddef.h>

#include "gpuopt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The model owns all arrays, also its functions' arrays. */
typedef struct graphical_model {
    int32_t variables, functions, max_domain;
    int32_t *domain; /* [variables] */
    gpuopt_elimination_function *function;
    gpuopt_elimination_cost type; /* .uai: DOUBLE, the factors as they stand in the file; else INT64 */
    int64_t top;                  /* as in gpuopt_elimination_desc */
    /* The last `hidden` variables are not in the file: they decompose global functions into small ones. For each
     * permitted assignment of the others, exactly one of the hidden variables' assignments is permitted. beside
     * [hidden]: a variable of the file that has a function with it. */
    int32_t hidden, *beside;
    int rewritten; /* not 0: the functions differ from the file's: it is a .cfn or has functions in intention */
    /* .cfn: a cost, or a sum of one from each function, means (cost + shift) / 10^places in the file, or the negative
     * of that if the file's costs are maximised. */
    int64_t shift;
    int places, maximised;
} graphical_model;

/* Read a file (.wcsp, .cfn, .uai, or one of these compressed: .gz, .xz; it may be a pipe) or build a generated model,
 * and return 0. On failure they fill `error` with the file, line, column and fault, and return -1 with nothing to free.
 * The name - is a .wcsp file on standard input, and names that begin with /dev/ are .wcsp files.
 *
 * .wcsp    Lists of tuples with a default cost each. Costs from the header's upper bound on are forbidden, and so are
 *          sums. A function shared by a negative arity is copied with its default cost, as toulbar2 does. Functions in
 *          intention: see global.h. Refused: interval domains, negative costs, numbers beyond 63 bits.
 * .cfn     toulbar2's main format, see cfn.c: decimal and negative costs, exact to the decimal places of the bound in
 *          "mustbe", names, minimisation and maximisation. Refused: as for .wcsp.
 * .uai     MARKOV and BAYES; factors are finite and not negative.
 * Generated, with costs of 0 to 100 (Fioretto et al. 2018, section 8.1): random:N:D:P1:SEED  scalefree:N:D:SEED
 * grid:N:D:SEED, see graphical_models.c; `hard` is the share of each table that is forbidden, 0 to 1. */
int graphical_read_wcsp(const char *path, graphical_model *model, char *error, size_t error_size);
int graphical_read_cfn(const char *path, graphical_model *model, char *error, size_t error_size);
int graphical_read_uai(const char *path, graphical_model *model, char *error, size_t error_size);
int graphical_generate(const char *name, double hard, graphical_model *model, char *error, size_t error_size);
/* Reads or builds any of them, by the suffix or the prefix of the name. */
int graphical_load(const char *name, double hard, graphical_model *model, char *error, size_t error_size);
void graphical_free(graphical_model *model);

/* Makes factors costs: sign times the natural logarithm of each. */
void graphical_take_logs(graphical_model *model, int sign);

/* The cost of an assignment [variables], by looking it up in every function; 0 and *permitted = 0: it is forbidden. The
 * double is for a DOUBLE model (costs to be minimised), the integer for the others. */
void graphical_cost(const graphical_model *model, const int32_t *value, int *permitted, int64_t *cost, double *real);

/* Writes a cost of an INT64 model in the units of its file, exactly. */
enum { GRAPHICAL_COST_TEXT = 48 };
void graphical_cost_text(const graphical_model *model, int64_t cost, char text[GRAPHICAL_COST_TEXT]);

/* The file's variable for a variable: itself, or the one beside a hidden variable. */
int32_t graphical_named(const graphical_model *model, int32_t variable);

/* Writes "variable value" for each variable of the file, both numbered from 0. Returns 0, or prints that the file
 * cannot be written and returns -1. */
int graphical_write_solution(const char *path, const graphical_model *model, const int32_t *value);

/* Files that belong to a model, for the variables that are not hidden. All return 0, or -1 and the error. Evidence, as
 * in UAI: the number of pairs, then the pairs "variable value"; the number of samples, which must be 1, may come
 * before. fixed [variables]: the value, or -1.
 * Order: the variables without evidence, each once, as they are eliminated; # begins a comment. order [variables]:
 * these, then the hidden variables.
 * Agents: "variable agent" for each variable, in any order, or just the agent of each; # begins a comment. Agents are
 * any numbers of 0 or more. agent [variables]; a hidden variable has the agent of a variable beside it. */
int graphical_read_evidence(const char *path, const graphical_model *model, int32_t *fixed, char *error,
                            size_t error_size);
int graphical_read_order(const char *path, const graphical_model *model, const int32_t *fixed, int32_t *order,
                         char *error, size_t error_size);
int graphical_read_agents(const char *path, const graphical_model *model, int32_t *agent, char *error,
                          size_t error_size);

#ifdef __cplusplus
}
#endif
#endif /* EXAMPLES_IO_GRAPHICAL_H */
