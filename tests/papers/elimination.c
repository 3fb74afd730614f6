/* SPDX-License-Identifier: MIT
 *
 * The tables and figures of Fioretto, Pontelli, Yeoh, Dechter: Accelerating Exact and Approximate Inference for
 * (Distributed) Discrete Optimization with GPUs, Constraints 23(1), 2018.
 *     elimination [--quick] [--data FOLDER] [--dat FOLDER] [--threads N]
 * BE and MBE are an elimination, DPOP and ADPOP agents with a variable each (examples/io/agents.h). Seconds are of
 * plan, create, eliminate and assign together; for agents they are the simulated time of the slowest path, as in the
 * paper. doc/papers.md lists what differs from the paper.
 */
#include <stdlib.h>
#include <string.h>

#include "gpuopt/inference.h"
#include "tests/papers/elimination.h"

/* The example of Figures 1 and 3: x1 to x4 are 0 to 3. The text has its scopes; its costs are pictures. */
static const int32_t scopes[5][2] = {{0, 1}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static void must(const machine *on, const char *call, gpuopt_status status) {
    if (!status) return;
    failed(on, "example", call, status);
    exit(EXIT_FAILED);
}

static gpuopt_elimination *make(const machine *on, int32_t z, const int64_t (*cost)[4]) {
    static const int32_t domain[] = {2, 2, 2, 2}, order[] = {3, 2, 1, 0};
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_function function[5] = {{0}};
    gpuopt_elimination *e = NULL;
    int k;
    for (k = 0; k < 5; k++) {
        function[k].arity = 2;
        function[k].scope = scopes[k];
        function[k].tuples = -1;
        function[k].cost = cost[k];
    }
    desc.variables = desc.order_count = 4;
    desc.domain = domain;
    desc.functions = 5;
    desc.function = function;
    desc.order = order;
    desc.policy = z ? GPUOPT_POLICY_MINI_BUCKET : GPUOPT_POLICY_EXACT;
    desc.z = z;
    must(on, "create", gpuopt_elimination_create(on->context, &desc, NULL, &e));
    return e;
}

/* Whether message `number` eliminates this variable and goes to the parent, over the variables in the bits of
 * `scope`. */
static int is_message(gpuopt_elimination *e, int32_t number, int32_t variable, int32_t parent, unsigned scope) {
    gpuopt_elimination_message_info info = GPUOPT_INIT(gpuopt_elimination_message_info);
    unsigned has = 0;
    int k;
    if (gpuopt_elimination_message_get_info(e, number, &info)) return 0;
    for (k = 0; k < info.arity; k++) has |= 1u << info.scope[k];
    return info.variable == variable && info.parent == parent && has == scope;
}

/* Example 7: the row numbers of f23 in the joined table over x1, x2, x3 are 0 1 2 3 0 1 2 3. */
static int joins_rows(const machine *on) {
    static const int32_t domain[] = {2, 2, 2}, in[] = {1, 2}, out[] = {0, 1, 2};
    static const int64_t rows[] = {0, 1, 2, 3}, zeros[8] = {0};
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    gpuopt_elimination_function function[2] = {{0}};
    gpuopt_elimination *e = NULL;
    int64_t table[8];
    int k, good = 1;
    function[0].arity = 2;
    function[0].scope = in;
    function[0].cost = rows;
    function[1].arity = 3;
    function[1].scope = out;
    function[1].cost = zeros;
    function[0].tuples = function[1].tuples = -1;
    desc.variables = 3;
    desc.domain = domain;
    desc.functions = 2;
    desc.function = function;
    desc.order = out;
    desc.messages = &messages;
    messages.join_rest = 1;
    must(on, "create", gpuopt_elimination_create(on->context, &desc, NULL, &e));
    must(on, "step", gpuopt_elimination_step(e, 1, NULL));
    must(on, "message_get", gpuopt_elimination_message_get(e, GPUOPT_HOST, 0, 0, table, NULL, NULL));
    for (k = 0; k < 8; k++) good &= table[k] == k % 4;
    gpuopt_elimination_destroy(e);
    return good;
}

/* Example 3: B4 has f14, f24 and f34, and its message the scope x1, x2, x3. Example 4, MBE with one variable in a
 * message: B4 is split in three, and x1, x2 and x3 receive a message each; then one message a variable. Costs are
 * drawn, and the optimum is compared with all assignments. */
void worked_example(const paper *p) {
    int k, f, round, at;
    for (k = 0; k < p->count; k++)
        for (round = 0; round < 20; round++) {
            const machine *on = &p->machines[k];
            gpuopt_elimination_info exact = GPUOPT_INIT(gpuopt_elimination_info), bound = exact;
            gpuopt_elimination *be, *mbe;
            int64_t cost[5][4], best = INT64_MAX;
            uint64_t state = (uint64_t)round + 1;
            for (f = 0; f < 5; f++)
                for (at = 0; at < 4; at++) {
                    state = state * 6364136223846793005u + 1442695040888963407u;
                    cost[f][at] = (int64_t)(state >> 33) % 8;
                }
            for (at = 0; at < 16; at++) {
                int64_t sum = 0;
                for (f = 0; f < 5; f++) sum += cost[f][2 * (at >> scopes[f][0] & 1) + (at >> scopes[f][1] & 1)];
                if (sum < best) best = sum;
            }
            be = make(on, 0, (const int64_t(*)[4])cost);
            mbe = make(on, 2, (const int64_t(*)[4])cost);
            must(on, "step", gpuopt_elimination_step(be, 4, &exact));
            must(on, "step", gpuopt_elimination_step(mbe, 4, &bound));
            check(EXAMPLE, exact.cost == best && exact.outcome == GPUOPT_OPTIMAL && bound.cost <= best, "cost");
            check(EXAMPLE, is_message(be, 0, 3, 2, 7) && is_message(be, 1, 2, 1, 3) && is_message(be, 2, 1, 0, 1),
                  "Figure 2");
            for (at = 0, f = 0; f < 3; f++) /* in any order */
                at |= is_message(mbe, f, 3, 0, 1) | is_message(mbe, f, 3, 1, 2) << 1 | is_message(mbe, f, 3, 2, 4) << 2;
            check(EXAMPLE, at == 7 && is_message(mbe, 3, 2, 1, 2) && is_message(mbe, 4, 1, 0, 1), "Figure 3");
            check(EXAMPLE, joins_rows(on), "Example 7");
            gpuopt_elimination_destroy(be);
            gpuopt_elimination_destroy(mbe);
        }
}

/* The first use of a kernel loads it, and the first large handle provides memory that the context keeps. */
static void warm_up(const paper *p) {
    static const char *const names[] = {"random:16:10:0.3:1", "strip:36:10:1", "scalefree:20:25:1"};
    int k;
    for (k = 0; k < 3 && p->gpu; k++) {
        subject s;
        if (subject_load(p, names[k], 0, &s)) continue;
        subject_eliminate(p, p->gpu, &s, 0, 0, 10);
        subject_eliminate(p, p->gpu, &s, 3, 0, 10);
        subject_agents(p, p->gpu, &s, 3);
        subject_free(&s);
    }
}

int main(int argc, char **argv) {
    paper p;
    int result = paper_open(&p, argc, argv), k, good;
    if (result) return result;
    for (k = 0; k < p.count; k++) p.machines[k].printer.quiet = 1; /* that a plan does not fit is part of the tables */
    worked_example(&p);
    warm_up(&p);
    random_tables(&p);
    kernel_figures(&p);
    public_tables(&p);
    good = checks_hold();
    paper_close(&p);
    return finish_output(good ? 0 : EXIT_FAILED);
}
