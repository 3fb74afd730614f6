/* SPDX-License-Identifier: MIT
 *
 * The private part of agents.h: the division of work among agents, and their models.
 */
#ifndef EXAMPLES_IO_AGENTS_PARTS_H
#define EXAMPLES_IO_AGENTS_PARTS_H

#include "gpuopt/inference.h"
#include "examples/io/agents.h"

/* A table of a UTIL message in transit. */
typedef struct message {
    struct message *next; /* in the inbox, by the variable's position in the order */
    int32_t to, via;      /* the part that it is for; the part to which it goes next */
    int32_t position, arity;
    int32_t *name; /* [arity] the variables */
    void *bytes;   /* [size] in `memory` */
    uint64_t size;
    const agents_memory *memory;
} message;

typedef struct part {
    int32_t agent, up; /* up: the part of the parent, -1: none */
    int32_t own;       /* number of variables that it eliminates: owned[first ..] */
    int64_t first;
    int32_t variables; /* of its handle */
    int32_t *name;     /* [variables] ascending */
    message *inbox;    /* tables for this part and for parts above it */
    gpuopt_elimination *elimination;
    double ready; /* the time at which all that it waits for has arrived */
} part;

/* The variables outside of a part with values that it or a part below it needs: the content of its VALUE message. */
typedef struct needs {
    int32_t count, capacity;
    int32_t *name; /* [count] */
} needs;

typedef struct simulation {
    gpuopt_context *context;
    const gpuopt_elimination_desc *desc;
    const int32_t *fixed;
    const agents_memory *memory; /* of messages that this process makes */
    agents_answer *answer;
    uint64_t model; /* the number that the agents have agreed on */
    int32_t parts;
    int exact;          /* no part has split a bucket */
    part *part;         /* [parts] parents before children */
    int32_t *part_of;   /* [variables] -1: evidence */
    int32_t *position;  /* [variables] in the order, INT32_MAX: evidence */
    int32_t *owned;     /* [order_count] the parts' own variables, in the order */
    int32_t *local;     /* [variables] their numbers in the handle that is being made, else -1 */
    int32_t *functions; /* [functions] by part */
    int64_t *of_part;   /* [parts + 1] where the functions of each part begin */
    needs *need;        /* [parts] */
    double *busy;       /* [parts] the time until which each agent is busy; agents are numbered from 0 here */
} simulation;

/* The data for the model of one part. */
typedef struct draft {
    gpuopt_elimination_function *function; /* [functions] the part's */
    gpuopt_elimination_packed *message;    /* [messages] its children's */
    int32_t functions, messages;
    int32_t *numbers; /* all scopes, in the handle's numbers */
    int32_t *domain, *order, *condition, *given;
    int32_t conditions;
} draft;

/* Makes the parts, from the roots down: a variable joins its parent's part if both have the same agent, except with
 * policy MINI_BUCKET. The arrays of s are allocated already. */
gpuopt_status make_parts(simulation *s, const int32_t *parent, const int32_t *agent);
/* Assigns each function to the part that eliminates the first of its variables, and constants to the last part. */
void share_functions(simulation *s);
/* The part that eliminates the first of these variables; `otherwise` if none of them is eliminated. */
int32_t meets_first(const simulation *s, int32_t arity, const int32_t *variable, int32_t otherwise);

/* Finds the values that each part needs. A variable of a function is needed by the function's part, and by all parts up
 * to the part that decides the variable: values go down from part to part. */
gpuopt_status find_needs(simulation *s);

/* Makes the functions and variables of the part, in the numbers of its handle, and p->name. The caller frees them in
 * any case. */
gpuopt_status make_draft(simulation *s, part *p, draft *d);
void free_draft(draft *d);
extern const agents_memory agents_host;
void free_messages(message *list);

/* Makes the handle of the part from its functions and its inbox, eliminates, and adds the result to s->answer. The time
 * used only for the estimate, which is for the report, is added to *start. */
gpuopt_status eliminate_part(simulation *s, part *p, gpuopt_elimination_estimate *estimate,
                             gpuopt_elimination_info *info, double *start);
/* Takes the tables of the part's UTIL message: those to forward, out of its inbox, and its own, packed. *tables [list]
 * is the caller's in any case. */
gpuopt_status make_util(const simulation *s, part *p, int32_t messages, message **tables);
/* Counts a UTIL message between agents. */
void count_util(agents_answer *answer, const message *tables);
/* Inserts each table into the inbox of `via`, at the position of its variable and after equal positions. */
void deliver(simulation *s, message *tables);

/* Adds up estimates; takes the maximum where a sum is meaningless. */
void add_estimate(gpuopt_elimination_estimate *sum, const gpuopt_elimination_estimate *e);
/* Adds the result of a root: the components of a model are independent. */
void add_root(const simulation *s, gpuopt_elimination_info *sum, const gpuopt_elimination_info *info);

/* The arrays of s, for s->desc; agents_release frees all memory of s. */
gpuopt_status agents_allocate(simulation *s);
void agents_release(simulation *s);

#endif /* EXAMPLES_IO_AGENTS_PARTS_H */
