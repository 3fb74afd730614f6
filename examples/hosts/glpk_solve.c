/* SPDX-License-Identifier: MIT
 *
 * GLPK with or without the strong branching of glpk_branching.c, to compare the two.
 *
 * Build, from the repository's root, with GLPK (Debian: libglpk-dev):
 *     cc -O2 -I. examples/hosts/glpk_solve.c examples/hosts/glpk_branching.c examples/hosts/node_lp.c \
 *         gpuopt_impl/gpuopt.c -lglpk -lm -pthread -o glpk_solve
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "examples/hosts/glpk_branching.h"

static const char usage[] = "usage: glpk_solve MODEL alone|cpu|cuda [NAME=VALUE ...]\n"
                            "  MODEL           an MPS file, fixed or free\n"
                            "  cuts=1          GLPK's Gomory, mixed-integer rounding, cover and clique cuts, too\n"
                            "  presolve=0      no presolve\n"
                            "  seconds=60      when to stop\n"
                            "  iterations=100  most of each child\n"
                            "  share=0.5       of the time that strong branching may take\n"
                            "exit status: 0 optimal, 1 no solution, 2 bad input, 3 stopped or failed\n";

typedef struct search {
    glpk_branching *branching; /* NULL: GLPK alone */
    int nodes;
} search;

static void callback(glp_tree *tree, void *info) {
    search *s = info;
    glp_ios_tree_size(tree, NULL, NULL, &s->nodes);
    if (s->branching) glpk_branching_callback(tree, s->branching);
}

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The value behind "name=" among the arguments, or the default. */
static double option(int argc, char **argv, const char *name, double value) {
    size_t length = strlen(name);
    for (int k = 3; k < argc; k++)
        if (strncmp(argv[k], name, length) == 0 && argv[k][length] == '=') value = atof(argv[k] + length + 1);
    return value;
}

static int solve(glp_prob *problem, int argc, char **argv) {
    glp_iocp control;
    search s = {NULL, 0};
    double start;
    int code, status;
    glp_init_iocp(&control);
    control.msg_lev = GLP_MSG_OFF;
    control.presolve = option(argc, argv, "presolve", 1) != 0 ? GLP_ON : GLP_OFF;
    if (option(argc, argv, "cuts", 0) != 0)
        control.gmi_cuts = control.mir_cuts = control.cov_cuts = control.clq_cuts = GLP_ON;
    control.tm_lim = (int)(1000 * option(argc, argv, "seconds", 60));
    control.cb_func = callback;
    control.cb_info = &s;
    control.cb_size = glpk_branching_node_size();
    if (strcmp(argv[2], "alone") != 0) {
        s.branching = glpk_branching_open(argv[2], 1, (int)option(argc, argv, "iterations", 100),
                                          option(argc, argv, "share", 0.5));
        if (!s.branching) return fputs("out of memory\n", stderr), 3;
    }
    start = processor_seconds();
    if (!control.presolve) glp_simplex(problem, NULL); /* glp_intopt() then wants the relaxation's basis */
    code = glp_get_status(problem) == GLP_NOFEAS ? GLP_ENOPFS : glp_intopt(problem, &control);
    status = glp_mip_status(problem);
    printf("%s %s: %s", argv[1], argv[2],
           code == GLP_ENOPFS || (code == 0 && status == GLP_NOFEAS) ? "infeasible"
           : code == 0 && status == GLP_OPT                          ? "optimal"
           : code == GLP_ETMLIM                                      ? "limit"
                                                                     : "failed");
    if (status == GLP_OPT || status == GLP_FEAS) printf(", objective %.12g", glp_mip_obj_val(problem));
    printf(", nodes %d, processor seconds %.3f\n", s.nodes, processor_seconds() - start);
    if (s.branching) glpk_branching_print(s.branching, stdout);
    glpk_branching_close(s.branching);
    return code == GLP_ENOPFS || (code == 0 && status == GLP_NOFEAS) ? 1 : code == 0 && status == GLP_OPT ? 0 : 3;
}

int main(int argc, char **argv) {
    glp_prob *problem;
    int result = 2;
    if (argc < 3 || (strcmp(argv[2], "alone") != 0 && strcmp(argv[2], "cpu") != 0 && strcmp(argv[2], "cuda") != 0)) {
        fputs(usage, stderr);
        return 2;
    }
    glp_term_out(GLP_OFF);
    problem = glp_create_prob();
    if (glp_read_mps(problem, GLP_MPS_DECK, NULL, argv[1]) && glp_read_mps(problem, GLP_MPS_FILE, NULL, argv[1]))
        fprintf(stderr, "%s: not an MPS file\n", argv[1]);
    else result = solve(problem, argc, argv);
    glp_delete_prob(problem);
    glp_free_env();
    return result;
}
