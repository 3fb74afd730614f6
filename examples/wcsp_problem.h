/* SPDX-License-Identifier: MIT
 *
 * The input of solve_wcsp: the command line, the model, its descriptor and their arrays, and plans of it.
 */
#ifndef EXAMPLES_WCSP_PROBLEM_H
#define EXAMPLES_WCSP_PROBLEM_H

#include "examples/common.h"
#include "examples/io/graphical_merge.h"
#include "examples/wcsp_report.h"

typedef struct options {
    const char *model, *backend, *order, *evidence, *agents, *solution, *certificate, *task, *policy;
    int64_t threads, ranks, restarts, order_work, seed, z, relax, memory;
    double hard, order_seconds;
    int json, reduce, plan;
} options;

/* Reads the command line. Returns 0, or prints the fault and returns -1. */
int parse_command_line(int argc, char **argv, options *o);

typedef struct problem {
    graphical_model model; /* as it was read */
    graphical_merge merge; /* the model with fewer values that is solved instead, or nothing */
    /* [variables] each; reduced: values of the eliminated model, which p->reduction may have made */
    int32_t *fixed, *agent, *condition, *given, *order, *parent, *reduced;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_order_search search; /* of desc, like the next one */
    gpuopt_elimination_memory memory;
    gpuopt_elimination_preprocessing *reduction;
} problem;

/* Reads everything and fills the descriptor. Returns 0, or -1 and the error; free_problem() in any case. */
int load_problem(const options *o, problem *p, wcsp_answer *a, char *error, size_t error_size);
void free_problem(problem *p, wcsp_answer *a);
/* Turns values of the solved model, before any reduction, into values of the model; in place. */
void expand_values(const problem *p, int32_t *value);
/* Checks the answer on the model as it was read. Returns 0, or prints the fault and returns -1. */
int check_answer(const options *o, const problem *p, const wcsp_answer *a);
/* Three quarters of the machine's memory, or 0 if the system does not report how much it has. */
uint64_t most_host_memory(void);
/* Fills a->plan for the order and the limits in p->desc. The log printer is the context's. */
gpuopt_status plan_policies(gpuopt_context *context, problem *p, log_printer *printer, wcsp_answer *a);

#endif /* EXAMPLES_WCSP_PROBLEM_H */
