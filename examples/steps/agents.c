/* SPDX-License-Identifier: MIT
 *
 * Two agents of a distributed problem: the child eliminates its variable and packs the message, as for a parent in
 * another process. The parent inspects and unpacks it, uses it as a function of its model, and decides; the child then
 * assigns its own variable. Evidence and bounds give the cost of each of the parent's choices.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/agents.c gpuopt_impl/gpuopt.c -lm -o agents
 */
#include "examples/steps/steps.h"
#include "gpuopt/inference.h"
#include "gpuopt/search.h"

enum { A = 3, B = 4, AGREED = 2026 }; /* values of a, the child's variable, and of b, the parent's */

static const int64_t shared[A * B] = {4, 9, 2, 7, 8, 1, 6, 3, 5, 5, 0, 9}; /* cost of a and b together; b is fastest */
static const int64_t child_cost[A] = {2, 6, 5}, parent_cost[B] = {3, 1, 5, 4};

/* The cost of the child's variable with the parent's b: 6 (a = 0), 7 (a = 1), 4 (a = 0), 9 (a = 0 or 1). */
static int64_t least(int b) {
    int64_t best = INT64_MAX;
    int a;
    for (a = 0; a < A; a++)
        if (child_cost[a] + shared[a * B + b] < best) best = child_cost[a] + shared[a * B + b];
    return best;
}

int main(int argc, char **argv) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_elimination_messages messages = GPUOPT_INIT(gpuopt_elimination_messages);
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    gpuopt_elimination_message_info message = GPUOPT_INIT(gpuopt_elimination_message_info);
    gpuopt_elimination_packed_info seen = GPUOPT_INIT(gpuopt_elimination_packed_info);
    gpuopt_elimination_assignment decided = GPUOPT_INIT(gpuopt_elimination_assignment);
    gpuopt_elimination *child = NULL, *parent = NULL, *cases = NULL;
    const int32_t domain[] = {A, B}, scope_ab[] = {0, 1}, var_a = 0, var_b = 1, first = 0;
    const gpuopt_elimination_function functions[] = {{2, scope_ab, -1, NULL, shared, NULL, 0, 0, NULL},
                                                     {1, &var_a, -1, NULL, child_cost, NULL, 0, 0, NULL}};
    const gpuopt_elimination_function own = {1, &first, -1, NULL, parent_cost, NULL, 0, 0, NULL};
    gpuopt_elimination_packed packed = {NULL, 0, GPUOPT_HOST, 1, &first};
    int64_t table[B], unpacked[B], bound[B], optimum = INT64_MAX;
    int32_t scope[1], size_of[1], value[2] = {0, 0}, b;
    uint64_t size = 0;
    void *bytes;
    int right;

    for (b = 0; b < B; b++)
        if (least(b) + parent_cost[b] < optimum) optimum = least(b) + parent_cost[b];
    open_context(argc, argv);

    /* The child has both variables and eliminates its own. */
    desc.variables = 2, desc.domain = domain;
    desc.functions = 2, desc.function = functions;
    desc.order = &var_a, desc.order_count = 1;
    messages.model = AGREED; /* no agent has the whole model, so they agree on a number for it */
    desc.messages = &messages;
    must(gpuopt_elimination_create(context, &desc, NULL, &child));
    must(gpuopt_elimination_step(child, 1, &info));
    must(gpuopt_elimination_message_get_info(child, 0, &message));
    must(gpuopt_elimination_message_get(child, GPUOPT_HOST, 0, 0, table, NULL, NULL));
    right = message.arity == 1 && message.scope[0] == var_b && message.entries == B;
    for (b = 0; b < B; b++) right = right && table[b] == least(b);
    must(gpuopt_elimination_message_pack(child, GPUOPT_HOST, 0, 0, NULL, 0, &size));
    bytes = memory_for(size);
    must(gpuopt_elimination_message_pack(child, GPUOPT_HOST, 0, 0, bytes, size, NULL));

    /* The parent has the bytes; b is variable 0 of its model. */
    must(gpuopt_elimination_message_inspect(context, GPUOPT_HOST, bytes, size, &seen));
    printf("a message of %d bytes: %d variable, %d costs of %d bits\n", (int)size, (int)seen.arity, (int)seen.entries,
           (int)seen.bits);
    must(gpuopt_elimination_message_unpack(context, AGREED, bytes, size, scope, size_of, unpacked, NULL, NULL));
    right = right && seen.model == AGREED && size_of[0] == B && memcmp(unpacked, table, sizeof table) == 0;
    packed.bytes = bytes, packed.size = size;
    desc.variables = 1, desc.domain = domain + 1;
    desc.functions = 1, desc.function = &own;
    desc.order = &first;
    messages.packed = &packed, messages.count = 1;
    must(gpuopt_elimination_create(context, &desc, NULL, &parent));
    free(bytes);
    must(gpuopt_elimination_step(parent, 1, &info));
    right = right && info.outcome == GPUOPT_OPTIMAL && info.cost == optimum;
    must(gpuopt_elimination_get_bounds(parent, GPUOPT_HOST, 0, first, 0, 1, value, bound,
                                       NULL)); /* of all values of b */
    for (b = 0; b < B; b++) {
        printf("b = %d costs %d\n", (int)b, (int)bound[b]);
        right = right && bound[b] == least(b) + parent_cost[b];
    }
    must(gpuopt_elimination_assign(parent, GPUOPT_HOST, 0, value + 1, &decided)); /* b, which goes to the child */
    must(gpuopt_elimination_assign(child, GPUOPT_HOST, 0, value, &decided));      /* a, given b */
    right = right && decided.cost + parent_cost[value[1]] == optimum;
    printf("optimum %d, a = %d, b = %d\n", (int)info.cost, (int)value[0], (int)value[1]);

    /* The same without messages: a copy of the child's model for each value of b, side by side. */
    desc.variables = 2, desc.domain = domain;
    desc.functions = 2, desc.function = functions;
    desc.messages = NULL;
    desc.order = &var_a;
    desc.evidence = &var_b, desc.evidence_count = 1;
    desc.batch_size = B;
    must(gpuopt_elimination_create(context, &desc, NULL, &cases));
    for (b = 0; b < B; b++) must(gpuopt_elimination_set_evidence(cases, GPUOPT_HOST, b, &b));
    must(gpuopt_elimination_step(cases, 1, NULL));
    for (b = 0; b < B; b++) {
        must(gpuopt_elimination_get_info(cases, b, &info));
        right = right && info.outcome == GPUOPT_OPTIMAL && info.cost == least(b);
    }
    gpuopt_elimination_destroy(cases);
    gpuopt_elimination_destroy(parent);
    gpuopt_elimination_destroy(child);
    return finish(right);
}
