/* SPDX-License-Identifier: MIT
 *
 * Bucket elimination: what the parts of the program share.
 */
#ifndef TESTS_PAPERS_ELIMINATION_H
#define TESTS_PAPERS_ELIMINATION_H

#include "examples/io/graphical.h"
#include "tests/papers/paper.h"

/* A model, and an order: one run of min-fill, or the variables as they are numbered if that takes fewer operations. */
typedef struct subject {
    char name[NAME];
    graphical_model model;
    int32_t *order, *parent;              /* [variables] */
    int32_t *value;                       /* [variables] the assignment of the last run */
    int32_t *agent, *fixed;               /* [variables] an agent each; no evidence */
    gpuopt_elimination_estimate estimate; /* of exact elimination in that order, in the memory of a CPU */
} subject;

/* Generated, as in examples/io/graphical.h; a strip, "strip:NODES:D:SEED", which is a grid of four columns; or a file.
 * Returns 0, or -1 with a message if the file is not there. */
int subject_load(const paper *p, const char *name, double hard, subject *s);
void subject_free(subject *s);
int induced_width(const subject *s); /* of its order */
/* Takes the variables as they are numbered. */
void subject_number(const paper *p, subject *s);
/* The operations of exact elimination; infinite: too many to be counted. */
double exact_operations(const subject *s);

enum { PLAN, CREATE, ELIMINATE, ASSIGN, PHASES };

/* What a run took and found. */
typedef struct outcome {
    int done;       /* not 0: the rest is filled in; 0: it does not fit the memory, or */
    int late;       /* it would take longer than the limit */
    double seconds; /* elimination: all phases; agents: the simulated time of the slowest path */
    double phase[PHASES];
    int exact;    /* cost is the optimum, else a bound */
    int assigned; /* s->value is an assignment, of the cost `upper` */
    int64_t cost, upper;
    gpuopt_elimination_estimate estimate;
    int64_t util_messages;
} outcome;

/* The estimate alone, in the subject's order; done: the policy fits the memory. */
outcome subject_plan(const paper *p, const machine *on, subject *s, int32_t z);
/* Eliminates, if that is foreseen to take `limit` seconds at most; z 0: exactly. search 0: by the subject's order; else
 * by the library's own search, which takes part of the time. Checks the assignment. */
outcome subject_eliminate(const paper *p, const machine *on, subject *s, int32_t z, int search, double limit);
/* The same by agents with a variable each, in the subject's order. */
outcome subject_agents(const paper *p, const machine *on, subject *s, int32_t z);
/* The memory that a run may take on the CPU. */
uint64_t paper_memory(const paper *p);
/* Seconds that these operations may take on a machine, roughly. */
double foreseen(const machine *on, double operations);

/* What the program checks; each is a line at its end. */
enum { EQUAL, AGENTS, COSTS, BOUNDS, OPTIMA, EXAMPLE, CHECKS };
/* Counts a case of a check. If it does not hold, says where and remembers it. */
void check(int which, int holds, const char *where);
/* Prints all checks. Returns whether they held. */
int checks_hold(void);

void random_tables(const paper *p);  /* Tables 1 to 3 */
void kernel_figures(const paper *p); /* Figures 9 and 10, Tables 4 and 5 */
void public_tables(const paper *p);  /* Tables 6 to 10 */
void worked_example(const paper *p); /* Figures 1, 3, 6 */

#endif /* TESTS_PAPERS_ELIMINATION_H */
