/* SPDX-License-Identifier: MIT
 *
 * Functions of many variables as machines, and machines as tables. A machine reads the values of its scope one by one,
 * goes from state to state, and adds up costs. There are two ways. The whole machine may become one table. Or its
 * states after each variable become a hidden variable, and each step a function of the state before, the variable and
 * the state behind. As there is one step for each value, the hidden variables have one assignment for each of the
 * others, and counts stay right. States from which all costs are the same, up to a constant, are merged, from the last
 * variable to the first (Mohri 2000, "Minimization algorithms for sequential transducers"). The decomposition is due to
 * Allouche et al. 2016, "Tractability-preserving transformations of global cost functions".
 */
#ifndef EXAMPLES_IO_GLOBAL_LAYERS_H
#define EXAMPLES_IO_GLOBAL_LAYERS_H

#include "examples/io/graphical_build.h"

enum {
    MACHINE_ENTRIES = 1 << 22, /* the most entries of a table of a step */
    MACHINE_STATES = 1 << 16,  /* the most states after a variable */
    MACHINE_STEPS = 1 << 22,   /* the most steps from all states together */
    MACHINE_WORK = 1 << 26     /* the most work in these */
};

typedef struct machine {
    int32_t arity;
    const int32_t *scope; /* in the order in which it is read */
    const void *self;     /* for the two functions */
    int32_t width;        /* numbers in a state */
    int32_t work;         /* of a step, in operations, roughly */
    /* Sets to [width], the first state. step: goes on from `from` by that value of scope[position], and returns its
     * cost. end: the cost of ending in that state. FORBIDDEN: there is no such step or end. */
    void (*start)(const void *self, int64_t *to);
    int64_t (*step)(builder *b, const void *self, int32_t position, int32_t value, const int64_t *from, int64_t *to);
    int64_t (*end)(builder *b, const void *self, const int64_t *state);
} machine;

enum { MACHINE_NO_MEMORY = -1, MACHINE_TOO_LARGE = -2 };

/* Both functions add functions to the model and return 0, or the fault. The first makes one table of the sum of several
 * machines over the same scope. */
int machines_as_table(builder *b, const machine *m, int32_t machines);
int machine_as_layers(builder *b, const machine *m);

#endif /* EXAMPLES_IO_GLOBAL_LAYERS_H */
