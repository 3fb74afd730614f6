/* SPDX-License-Identifier: MIT
 *
 * group_bench: knapsack searches and eliminations.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/group_bench.h"

static uint64_t mixed(uint64_t hash, const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    while (count-- > 0) hash = (hash ^ *at++) * 0x100000001b3u;
    return hash;
}

/* ---- Knapsacks ---- */

/* The search of a handle that has the group. */
static gpuopt_status search_by_group(member *m, gpuopt_knapsack *knapsack, int64_t *taken,
                                     knapsack_ranks_answer *answer) {
    gpuopt_knapsack_info info = GPUOPT_INIT(gpuopt_knapsack_info);
    gpuopt_status status = gpuopt_knapsack_expand(knapsack, 0, 0, &info);
    const double start = now();
    int64_t sent[2];
    memset(answer, 0, sizeof *answer);
    if (!status) status = gpuopt_knapsack_get_items(knapsack, GPUOPT_HOST, taken, &answer->profit, NULL);
    m->items = now() - start;
    answer->expanded = info.expanded;
    answer->rounds = info.steps;
    sent[0] = m->sent;
    sent[1] = m->bytes;
    if (!status) status = gpuopt_group_all_reduce(m->group, GPUOPT_REDUCE_SUM, 2, sent, NULL);
    answer->moves = sent[0];
    answer->moved = sent[1];
    return status;
}

/* From _create to the items; *seconds without _create. */
static gpuopt_status search_once(member *m, int64_t *taken, knapsack_ranks_answer *answer, double *seconds) {
    const job *j = m->job;
    const int by_group = strcmp(j->o->by, "group") == 0;
    gpuopt_knapsack_desc desc = GPUOPT_INIT(gpuopt_knapsack_desc);
    gpuopt_knapsack *knapsack = NULL;
    gpuopt_status status;
    double start;
    desc.items = j->knapsack.items;
    desc.weight = j->knapsack.weight;
    desc.profit = j->knapsack.profit;
    desc.capacity = j->knapsack.capacity;
    if (strcmp(j->o->search, "breadth") == 0) desc.search = GPUOPT_SEARCH_BREADTH;
    desc.pool = j->o->pool;
    desc.share_from = j->o->share_from;
    if (by_group) desc.group = m->group;
    status = gpuopt_knapsack_create(m->context, &desc, NULL, &knapsack);
    if (status) return status;
    gpuopt_context_wait(m->context);
    start = begin(m);
    m->sent = m->bytes = 0;
    if (by_group) status = search_by_group(m, knapsack, taken, answer);
    else status = knapsack_share_ranks(m->group, knapsack, &desc, j->o->round, taken, answer);
    if (!status) *seconds = ended(m, start);
    gpuopt_knapsack_destroy(knapsack);
    return status;
}

static void run_knapsack(member *m) {
    job *j = m->job;
    int64_t *taken = (int64_t *)work_memory((size_t)j->knapsack.items, sizeof(int64_t));
    double times[MOST_REPEATS], items[MOST_REPEATS];
    int k, repeat = (int)j->o->repeat;
    if (!m->group && gpuopt_group_create(m->context, NULL, NULL, &m->group)) m->failed = 1;
    for (k = -1; k < repeat && !m->failed; k++) {
        knapsack_ranks_answer answer;
        double seconds = 0;
        gpuopt_status status = search_once(m, taken, &answer, &seconds);
        if (status) m->failed = 1, failed(&m->machine, "knapsack", "solve", status);
        times[k < 0 ? 0 : k] = seconds;
        items[k < 0 ? 0 : k] = m->items;
        if (m->rank == 0) j->answer = answer;
    }
    if (!m->failed && m->rank == 0) {
        j->run = median(times, repeat);
        j->own = median(items, repeat);
        j->seen = (uint64_t)j->answer.profit;
        if (strcmp(j->o->by, "group") == 0) j->seen = mixed(j->seen, taken, (size_t)j->knapsack.items * sizeof *taken);
    }
    free(taken);
}

int measure_knapsack(const options *o, const char *name) {
    const char *at = o->ranks;
    char error[512], word[NAME];
    int result = 0;
    int64_t ranks;
    double first = 0;
    uint64_t seen = 0;
    job j;
    memset(&j, 0, sizeof j);
    j.o = o;
    j.work = run_knapsack;
    if (knapsack_load(name, &j.knapsack, error, sizeof error)) {
        fprintf(stderr, "%s: %s\n", name, error);
        return EXIT_BAD_INPUT;
    }
    while (!result && next_word(&at, word) && whole_number(word, MOST_RANKS, &ranks)) {
        const knapsack_ranks_answer *a = &j.answer;
        j.ranks = (int)ranks;
        result = run_job(&j) ? EXIT_FAILED : 0;
        if (result) break;
        if (first == 0) first = j.run, seen = j.seen;
        printf("| %s, %s | %d | %.3f | %.3f | %.2f | %lld | %lld | %.1f%% | %lld | %lld | %lld | %s |\n", name,
               o->search, j.ranks, 1e3 * j.run, 1e3 * j.own, first / j.run, (long long)a->expanded,
               (long long)a->common,
               100 * (double)a->most / (double)(a->expanded > a->common ? a->expanded - a->common : 1),
               (long long)a->rounds, (long long)a->moves, (long long)a->moved, seen == j.seen ? "yes" : "NO");
        fflush(stdout);
        if (seen != j.seen) result = EXIT_FAILED;
    }
    knapsack_free(&j.knapsack);
    return result;
}

/* ---- Eliminations ---- */

static gpuopt_elimination_desc describe(const job *j, gpuopt_group *group, gpuopt_elimination_memory *memory) {
    gpuopt_elimination_desc desc = GPUOPT_INIT(gpuopt_elimination_desc);
    gpuopt_desc_init(memory, sizeof *memory);
    desc.variables = j->graphical.variables;
    desc.domain = j->graphical.domain;
    desc.functions = j->graphical.functions;
    desc.function = j->graphical.function;
    desc.type = j->graphical.type;
    desc.top = j->graphical.top;
    desc.order = j->order;
    desc.order_count = j->order ? desc.variables : 0;
    desc.memory = memory;
    memory->bytes = (uint64_t)j->o->memory << 20;
    desc.group = group;
    return desc;
}

enum { CREATE, STEPS, OWN, ASSIGN, PHASES };

static gpuopt_status eliminate_once(member *m, int32_t *value, gpuopt_elimination_info *info, double *seconds) {
    gpuopt_elimination_memory memory;
    const gpuopt_elimination_desc desc = describe(m->job, m->group, &memory);
    gpuopt_elimination *elimination = NULL;
    double start = begin(m);
    gpuopt_status status = gpuopt_elimination_create(m->context, &desc, NULL, &elimination);
    if (!status) status = gpuopt_context_wait(m->context);
    if (status) return status;
    seconds[CREATE] = ended(m, start);
    start = begin(m);
    status = gpuopt_elimination_step(elimination, INT32_MAX, NULL);
    if (!status) status = gpuopt_context_wait(m->context);
    seconds[OWN] = now() - start;
    if (!status) status = gpuopt_elimination_get_info(elimination, 0, info);
    if (!status) seconds[STEPS] = ended(m, start), start = begin(m);
    if (!status) status = gpuopt_elimination_assign(elimination, GPUOPT_HOST, 0, value, NULL);
    if (!status) seconds[ASSIGN] = ended(m, start);
    gpuopt_elimination_destroy(elimination);
    return status;
}

static void run_elimination(member *m) {
    job *j = m->job;
    gpuopt_elimination_memory memory;
    const gpuopt_elimination_desc desc = describe(j, m->group, &memory);
    int32_t *value = (int32_t *)work_memory((size_t)desc.variables, sizeof *value);
    gpuopt_elimination_estimate *estimate = &j->estimate[m->rank];
    gpuopt_elimination_info info = GPUOPT_INIT(gpuopt_elimination_info);
    double seconds[PHASES] = {0}, all[PHASES][MOST_REPEATS];
    int k, p, repeat = (int)j->o->repeat;
    gpuopt_status status;
    gpuopt_desc_init(estimate, sizeof *estimate);
    status = gpuopt_elimination_order(m->context, &desc, NULL, NULL, estimate);
    for (k = -1; k < repeat && !status; k++) {
        status = eliminate_once(m, value, &info, seconds);
        for (p = 0; p < PHASES; p++) all[p][k < 0 ? 0 : k] = seconds[p];
    }
    if (status) m->failed = 1, failed(&m->machine, "elimination", "order, create, step or assign", status);
    if (!m->failed) j->rank_seconds[m->rank] = median(all[OWN], repeat);
    if (!m->failed && m->rank == 0) {
        j->run = median(all[STEPS], repeat);
        j->create = median(all[CREATE], repeat);
        j->assign = median(all[ASSIGN], repeat);
        j->seen = mixed((uint64_t)info.cost, value, (size_t)desc.variables * sizeof *value);
    }
    free(value);
}

/* Searches for an order, as one rank would. */
static void run_order(member *m) {
    job *j = m->job;
    gpuopt_elimination_memory memory;
    const gpuopt_elimination_desc desc = describe(j, NULL, &memory);
    int32_t *order = (int32_t *)work_memory((size_t)desc.variables, sizeof *order);
    gpuopt_status status = gpuopt_elimination_order(m->context, &desc, order, NULL, NULL);
    if (status) m->failed = 1, failed(&m->machine, "elimination", "order", status), free(order);
    else j->order = order;
}

static void print_elimination(const job *j, const char *name, double first, int same) {
    static const char *const policy[] = {"auto", "exact", "drop", "recompute", "slice", "stream", "mini-bucket"};
    int r;
    printf("| %s | %d | %s | %.3f | %.3f |", name, j->ranks, policy[j->estimate[0].policy], 1e3 * j->create,
           1e3 * j->run);
    for (r = 0; r < j->ranks; r++) printf("%s %.3f", r ? "," : "", 1e3 * j->rank_seconds[r]);
    printf(" | %.3f | %.2f |", 1e3 * j->assign, first / (j->run + j->assign));
    for (r = 0; r < j->ranks; r++) printf("%s %.3g", r ? "," : "", j->estimate[r].operations);
    printf(" |");
    for (r = 0; r < j->ranks; r++) printf("%s %.3g", r ? "," : "", 1e-9 * j->estimate[r].bytes_moved);
    printf(" | %s |\n", same ? "yes" : "NO");
    fflush(stdout);
}

int measure_elimination(const options *o, const char *name) {
    const char *at = o->ranks;
    char error[512], word[NAME];
    int result;
    int64_t ranks;
    double first = 0;
    uint64_t seen = 0;
    job j;
    memset(&j, 0, sizeof j);
    j.o = o;
    if (graphical_load(name, 0, &j.graphical, error, sizeof error)) {
        fprintf(stderr, "%s: %s\n", name, error);
        return EXIT_BAD_INPUT;
    }
    j.ranks = 1;
    j.work = run_order;
    result = run_job(&j) ? EXIT_FAILED : 0;
    j.work = run_elimination;
    while (!result && next_word(&at, word) && whole_number(word, MOST_RANKS, &ranks)) {
        j.ranks = (int)ranks;
        result = run_job(&j) ? EXIT_FAILED : 0;
        if (result) break;
        if (first == 0) first = j.run + j.assign, seen = j.seen;
        print_elimination(&j, name, first, j.seen == seen);
        if (j.seen != seen) result = EXIT_FAILED;
    }
    free(j.order);
    graphical_free(&j.graphical);
    return result;
}
