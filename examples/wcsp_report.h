/* SPDX-License-Identifier: MIT
 *
 * What solve_wcsp found, and how it is printed.
 */
#ifndef EXAMPLES_WCSP_REPORT_H
#define EXAMPLES_WCSP_REPORT_H

#include "gpuopt/inference.h"
#include "examples/io/agents.h"
#include "examples/io/graphical.h"

extern const char *const tasks[];    /* min, count, logz, NULL */
extern const char *const policies[]; /* as gpuopt_elimination_policy, NULL */

typedef enum task { TASK_MIN = 0, TASK_COUNT, TASK_LOGZ } task;

/* The memory of a policy. */
typedef struct wcsp_plan {
    gpuopt_elimination_estimate estimate;
    uint64_t bytes;
    int known, fits, limited; /* there is a plan; within the limit; planned with the limit, not without one */
} wcsp_plan;

typedef struct wcsp_answer {
    const char *model, *backend;
    int threads, ranks;
    task task;
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_info info;
    int32_t *value;      /* [variables] */
    int assigned;        /* not 0: value is a permitted assignment */
    int64_t cost;        /* of it, looked up in the model */
    double real;         /* the same of a DOUBLE model */
    int exact;           /* the bounds are proven equal; with TASK_LOGZ: the value is no bound */
    const char *stopped; /* the cause, in words; NULL: none */
    int unknown;         /* not 0: stopped before there was a bound on the optimum */
    int unwritten;       /* not 0: the certificate could not be written */
    uint64_t peak_predicted, peak;
    double order_seconds, seconds, eliminate_seconds, read_seconds;
    gpuopt_elimination_preprocessing_info reduction; /* rules 0: the model was not reduced */
    int32_t reduced_functions;
    double reduce_seconds;
    gpuopt_elimination_cost_shifting_info relaxation; /* scale 0: costs were not shifted */
    double bound, relax_seconds;                      /* of the relaxation, before it is rounded */
    wcsp_plan plan[7];                                /* by policy; `chosen`: its index, 0: none fits */
    int chosen;
    uint64_t limit;
    int distributed;
    agents_answer agents;
} wcsp_answer;

void print_json(const graphical_model *model, const wcsp_answer *a);
void print_words(const graphical_model *model, const wcsp_answer *a);

void print_plans_json(const graphical_model *model, const wcsp_answer *a);
void print_plans(const graphical_model *model, const wcsp_answer *a);

#endif /* EXAMPLES_WCSP_REPORT_H */
