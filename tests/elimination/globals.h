/* SPDX-License-Identifier: MIT
 *
 * Functions in intention for globals_test: each draws its parameters, writes them in both formats, and evaluates an
 * assignment by its definition.
 */
#ifndef TESTS_ELIMINATION_GLOBALS_H
#define TESTS_ELIMINATION_GLOBALS_H

enum { TOP = 1000, MOST = 8, TEXT = 16384 };

typedef struct instance {
    int n, d, size[MOST]; /* variables, the largest domain, the domains */
    int unary[MOST][MOST];
    int metric, comparator, cost, low, high, to, states, lists[2][MOST], listed[2], rows, row[64][5], place[MOST];
    char wcsp[TEXT], cfn[TEXT]; /* the parameters in both formats */
} instance;

typedef struct kind {
    const char *name;
    void (*draw)(instance *p);
    int (*cost)(const instance *p, const int *value);
    int variables; /* 0: any number; 2: two; -2: an even number */
    int values;    /* 0: any number */
    int wcsp_only; /* in .cfn only with whole costs */
    int toulbar2;  /* 0: it wants more of the model than this test writes */
} kind;

extern const kind counting_kinds[], other_kinds[]; /* up to one without a name */

enum { HARD, LIN, QUAD, VAR, DEC, WDEC }; /* metrics */

int below(int n); /* a random number */
int larger(int a, int b);
void put_text(char *text, const char *format, ...);
void put_cost(char *text, int cost);           /* a number of hundredths, as .cfn files have it */
void metric_and_cost(instance *p, int metric); /* with a cost drawn here */

#endif /* TESTS_ELIMINATION_GLOBALS_H */
