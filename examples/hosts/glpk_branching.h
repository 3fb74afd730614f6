/* SPDX-License-Identifier: MIT
 *
 * Strong branching in GLPK's branch and cut: the candidates of a node in one batch, by gpuopt on a GPU or on the cores.
 *
 *     glpk_branching *branching = glpk_branching_open("cuda", 1, 100, 0.5);
 *     glp_init_iocp(&control);
 *     control.cb_func = glpk_branching_callback;    // or call it from a callback of your own
 *     control.cb_info = branching;
 *     control.cb_size = glpk_branching_node_size(); // or 0: bounds that were proven are not passed on to the children
 *     glp_intopt(problem, &control);
 *     glpk_branching_close(branching);
 *
 * With a lost GPU or without memory, one warning appears on stderr, and GLPK goes on with its own rule.
 */
#ifndef EXAMPLES_HOSTS_GLPK_BRANCHING_H
#define EXAMPLES_HOSTS_GLPK_BRANCHING_H

#include <glpk.h>
#include <stdio.h>

typedef struct glpk_branching glpk_branching;

/* backend: "cpu", with so many threads, or "cuda". iterations: most of each child. share: of the time since this call
 * that strong branching may take, 0 to 1. Returns NULL without memory. If the backend is not to be had, the callback
 * leaves every decision to GLPK. */
glpk_branching *glpk_branching_open(const char *backend, int threads, int iterations, double share);
void glpk_branching_close(glpk_branching *branching); /* NULL is allowed */
int glpk_branching_node_size(void);
/* Chooses the column for GLP_IBRANCH, and tightens bounds for GLP_IPREPRO. Ignores other reasons. */
void glpk_branching_callback(glp_tree *tree, void *branching);
/* Prints one line of figures: calls, children, rows changed, seconds. */
void glpk_branching_print(const glpk_branching *branching, FILE *file);

#endif /* EXAMPLES_HOSTS_GLPK_BRANCHING_H */
