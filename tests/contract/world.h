/* SPDX-License-Identifier: MIT
 *
 * A context with a handle of every kind, including the layers, each with a small problem.
 */
#ifndef TESTS_CONTRACT_WORLD_H
#define TESTS_CONTRACT_WORLD_H

#include "gpuopt/batch.h"
#include "gpuopt/group.h"
#include "gpuopt/inference.h"
#include "gpuopt/knapsack_variants.h"
#include "gpuopt/search.h"
#include "tests/contract/families.h"

/* The handles' descriptors, for making similar handles. */
typedef struct world_descs {
    gpuopt_propagator_desc propagator;
    gpuopt_propagator_batch_desc nodes;
    gpuopt_propagator_probe_desc probe;
    gpuopt_basis_desc basis;
    gpuopt_simplex_desc simplex, root; /* by the primal and the dual method */
    gpuopt_simplex_children_desc children;
    gpuopt_simplex_batch_desc programs;
    gpuopt_elimination_desc elimination, relaxed; /* relaxed: MINI_BUCKET, for shifting costs */
    gpuopt_knapsack_desc knapsack;
    gpuopt_knapsack_batch_desc knapsacks;
    gpuopt_knapsack_multidimensional_desc multidimensional;
    gpuopt_knapsack_multiple_choice_desc multiple_choice;
    gpuopt_transport transport; /* of one rank */
    gpuopt_group_desc group;
} world_descs;

typedef struct world {
    gpuopt_context *context;
    world_descs desc;
    gpuopt_propagator *propagator; /* with a trail of some changes */
    gpuopt_propagator_batch *nodes;
    gpuopt_propagator_probe *probe; /* has run */
    gpuopt_basis *basis;            /* loaded */
    gpuopt_simplex *simplex, *root; /* at the first basis; solved */
    gpuopt_simplex_children *children;
    gpuopt_simplex_batch *programs; /* one is loaded */
    gpuopt_elimination *elimination;
    gpuopt_elimination_cost_shifting *shifted;
    gpuopt_elimination_preprocessing *reduced;
    gpuopt_knapsack *knapsack;
    gpuopt_knapsack_batch *knapsacks;
    gpuopt_knapsack_multidimensional *multidimensional;
    gpuopt_knapsack_multiple_choice *multiple_choice;
    gpuopt_group *group;
    unsigned char message[512]; /* a packed one of the elimination */
    uint64_t message_size;
} world;

enum { WORLD_HANDLES = 17 };

/* Numbers for calls that need some. */
extern const gpuopt_simplex_programs world_program;
extern const gpuopt_knapsack_problems world_problem;
extern const gpuopt_matrix world_basis;

/* Fills a world in a context, which stays the caller's. */
void world_open(world *w, gpuopt_context *context);
/* Destroys the handles. */
void world_close(world *w);

#endif /* TESTS_CONTRACT_WORLD_H */
