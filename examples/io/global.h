/* SPDX-License-Identifier: MIT
 *
 * Functions in intention of .wcsp and .cfn files, that is, arithmetic and global cost functions, and their
 * decompositions. In the words of toulbar2's documentation of its formats, with n variables in the scope:
 *
 *   >= > <= < = disj sdisj        a table of both variables; in .cfn only with integer costs that are minimised
 *   salldiff var dec decbi, salldiffdp var, walldiff (walldifferent) hard lin quad
 *                                 pairs, if equal values are forbidden or cost is by the pair; else a sum over values
 *   sgcc var dec wdec, sgccdp var, wgcc hard lin quad, wsame, wsamegcc, ssame
 *                                 a sum over values; soft sgcc var: one function that counts all values
 *   samong var, samongdp var, wamong, wvaramong, wsum, wvarsum, woverlap, max, smaxdp, knapsack
 *                                 a count, a sum or a maximum along the scope
 *   wregular, sregular var, sregulardp var
 *                                 an automaton, made deterministic
 *   clique                        pairs
 *
 * A function over at most 4096 tuples becomes one table, except for pairs. Any other function is decomposed exactly
 * into tables with hidden variables (global_layers.h), or refused if these become too large. In sgcc wdec the weights
 * are the costs, and the cost before them is not used; sgccdp has the costs of sgcc dec. sgcc var, ssame and sregular
 * count changes of variables to values that need not be in their domains. All this is as in toulbar2. Refused, by name:
 * all others, sregular edit, knapsacks over more than two values, and functions with costs if the file's costs are
 * maximised, except wregular.
 */
#ifndef EXAMPLES_IO_GLOBAL_H
#define EXAMPLES_IO_GLOBAL_H

#include "examples/io/graphical_build.h"
#include "examples/io/tokens.h"

enum global_metric { METRIC_NONE, METRIC_HARD, METRIC_LIN, METRIC_QUAD, METRIC_VAR, METRIC_DEC, METRIC_WDEC };
enum global_form {
    FORM_ALLDIFF,
    FORM_GCC,
    FORM_SAMEGCC,
    FORM_SAME,
    FORM_TWO_LISTS, /* ssame */
    FORM_AMONG,
    FORM_VARAMONG,
    FORM_SUM,
    FORM_VARSUM,
    FORM_OVERLAP,
    FORM_REGULAR,
    FORM_WEIGHTED_REGULAR,
    FORM_MAX,
    FORM_KNAPSACK,
    FORM_CLIQUE,
    FORM_ARITHMETIC
};
enum global_comparator { COMPARE_EQ, COMPARE_LE, COMPARE_LT, COMPARE_NE, COMPARE_GT, COMPARE_GE };

typedef struct global_kind {
    const char *name;
    enum global_form form;
    unsigned metrics;       /* bits of the permitted metrics */
    const char *parameters; /* a letter each, see global.c */
} global_kind;

typedef struct global_list {
    int64_t *number;
    int64_t count; /* of numbers in all rows */
    int32_t width; /* of a row */
} global_list;

/* A global function, as it is read. */
typedef struct global {
    const global_kind *kind;
    int32_t arity, *scope;
    enum global_metric metric;
    enum global_comparator comparator;
    int64_t cost;
    int64_t number[6]; /* the parameters that are numbers, in the file's order, without the cost */
    global_list list[3];
    int numbers, lists;
} global;

/* How a format writes parameters. */
typedef struct global_format {
    int tagged; /* .cfn: names of parameters, and lists in brackets; else lists with their lengths before them */
    int places, maximised;                              /* of costs */
    int (*variable)(void *self, tokens *t, int64_t *v); /* reads one */
    void *self;
} global_format;

/* The kind with the last word as its name, or NULL. */
const global_kind *global_find(const tokens *t);
/* Reads the parameters of g; its kind and scope have been read. Returns 0, or -1 and the error. */
int global_read(tokens *t, const global_format *format, const graphical_model *model, global *g);
/* Adds the function to the model. Costs from `top` on are forbidden for any costs of other functions. Returns NULL, or
 * the fault of the function. */
const char *global_add(builder *b, const global *g, int64_t top);
/* Whether one of its costs is negative. */
int global_any_negative(const global *g);
void global_free(global *g);

#endif /* EXAMPLES_IO_GLOBAL_H */
