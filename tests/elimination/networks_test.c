/* SPDX-License-Identifier: MIT
 *
 * The reader of .cfn files on random small networks: dense tables, lists of tuples and shared tables, named and
 * numbered variables and values, negative and decimal costs, minimisation and maximisation. The optimum is compared
 * with all assignments, summed up from the drawn data; and with toulbar2, if installed.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/io/graphical.h"
#include "tests/support/support.h"

enum { VARIABLES = 4, FUNCTIONS = 7, ENTRIES = 27, TEXT = 16384 };

/* Costs are whole numbers of units of 10^-places. */
typedef struct network {
    int n, functions, places, maximised, shares_unary, size[VARIABLES], arity[FUNCTIONS], scope[FUNCTIONS][3];
    int cost[FUNCTIONS][ENTRIES], bound;
    char text[TEXT];
    size_t used;
} network;

static uint64_t state = 3;

static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 33) % n;
}

static void put_text(network *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    w->used += (size_t)vsnprintf(w->text + w->used, TEXT - w->used, format, arguments);
    va_end(arguments);
    assert_true(w->used < TEXT);
}

static void put_number(network *w, int cost) {
    static const int units[] = {1, 10, 100};
    int unit = units[w->places];
    put_text(w, "%s%d", cost < 0 ? "-" : "", abs(cost) / unit);
    if (w->places) put_text(w, ".%0*d", w->places, abs(cost) % unit);
}

static void put_cost(network *w, int cost) {
    put_text(w, " ");
    put_number(w, cost);
}

static void put_scope(network *w, int f) {
    int k;
    put_text(w, "f%d: {scope: [", f);
    for (k = 0; k < w->arity[f]; k++) put_text(w, below(2) ? " v%d" : " %d", w->scope[f][k]);
    put_text(w, "]");
}

static int entries_of(const network *w, int f) {
    int entries = 1, k;
    for (k = 0; k < w->arity[f]; k++) entries *= w->size[w->scope[f][k]];
    return entries;
}

static void put_tuples(network *w, int f) {
    int entries = entries_of(w, f), usual = w->cost[f][0], e, k;
    put_text(w, " defaultcost:");
    put_cost(w, usual);
    put_text(w, " costs: [");
    for (e = entries - 1; e > 0; e--) {
        int rest = e, value[3];
        if (w->cost[f][e] == usual) continue;
        for (k = w->arity[f] - 1; k >= 0; k--) {
            value[k] = rest % w->size[w->scope[f][k]];
            rest /= w->size[w->scope[f][k]];
        }
        for (k = 0; k < w->arity[f]; k++) put_text(w, w->scope[f][k] % 2 && below(2) ? " x%d" : " %d", value[k]);
        put_cost(w, w->cost[f][e]);
        put_text(w, " ");
    }
    put_text(w, "]}\n");
}

/* Odd variables have names for their values. */
static void draw(network *w) {
    int f, e, k, shares;
    memset(w, 0, sizeof *w);
    w->n = 1 + below(VARIABLES);
    w->functions = 1 + below(FUNCTIONS);
    w->places = below(3);
    w->maximised = below(2);
    w->bound = (below(3) ? 60 : 5) - 30 * w->maximised * below(4);
    put_text(w, "{problem: {name: random mustbe: \"%c", w->maximised ? '>' : '<');
    put_number(w, w->bound);
    put_text(w, "\"}\nvariables: {");
    for (k = 0; k < w->n; k++) {
        w->size[k] = 1 + below(3);
        if (k % 2 == 0) put_text(w, "v%d: %d ", k, w->size[k]);
        else put_text(w, "v%d: [%s] ", k, w->size[k] == 1 ? "x0" : w->size[k] == 2 ? "x0 x1" : "x0 x1 x2");
    }
    put_text(w, "}\nfunctions: {\n");
    for (f = 0; f < w->functions; f++) {
        do w->arity[f] = below(4);
        while (w->arity[f] > w->n);
        for (k = 0; k < w->arity[f]; k++) {
            int at, again;
            do {
                w->scope[f][k] = below(w->n);
                for (at = 0, again = 0; at < k; at++) again |= w->scope[f][at] == w->scope[f][k];
            } while (again);
        }
        for (e = 0; e < entries_of(w, f); e++) w->cost[f][e] = below(2) ? below(30) : below(40) - 20;
    }
    for (f = 0; f < w->functions; f++) { /* the costs of the next function, if it fits and has its own list */
        shares = f + 1 < w->functions && w->arity[f] > 0 && w->arity[f] == w->arity[f + 1] && below(2);
        for (k = 0; shares && k < w->arity[f]; k++) shares = w->size[w->scope[f][k]] == w->size[w->scope[f + 1][k]];
        put_scope(w, f);
        if (shares) {
            /* f + 1 is written behind this function with its present costs. */
            memcpy(w->cost[f], w->cost[f + 1], sizeof w->cost[f]);
            put_text(w, " costs: f%d}\n", f + 1);
            w->shares_unary |= w->arity[f] == 1; /* which toulbar2 1.1.1 refuses */
            put_scope(w, ++f);
        }
        if (below(2)) {
            put_tuples(w, f);
            continue;
        }
        put_text(w, " costs: [");
        for (e = 0; e < entries_of(w, f); e++) put_cost(w, w->cost[f][e]);
        put_text(w, "]}\n");
    }
    put_text(w, "}}\n");
}

static int sum_of(const network *w, const int *value) {
    int sum = 0, f, k;
    for (f = 0; f < w->functions; f++) {
        int e = 0;
        for (k = 0; k < w->arity[f]; k++) e = e * w->size[w->scope[f][k]] + value[w->scope[f][k]];
        sum += w->cost[f][e];
    }
    return sum;
}

/* The best sum of all assignments that keep the bound; returns whether there is one. */
static int best_of_all(const network *w, int *best) {
    int value[VARIABLES] = {0}, found = 0, k;
    do {
        int sum = sum_of(w, value);
        if ((w->maximised ? sum > w->bound : sum < w->bound) &&
            (!found || (w->maximised ? sum > *best : sum < *best))) {
            *best = sum;
            found = 1;
        }
        for (k = w->n - 1; k >= 0 && ++value[k] == w->size[k]; k--) value[k] = 0;
    } while (k >= 0);
    return found;
}

static int optimum_of(const network *w, const graphical_model *m, int64_t *cost) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_elimination *e = NULL;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_info info;
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&info, sizeof info);
    assert_int_equal(m->variables, w->n);
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.top = m->top;
    assert_int_equal(gpuopt_elimination_create(context, &desc, NULL, &e), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_step(e, INT32_MAX, &info), GPUOPT_OK);
    *cost = info.cost;
    gpuopt_elimination_destroy(e);
    gpuopt_context_destroy(context);
    return info.outcome == GPUOPT_OPTIMAL;
}

/* toulbar2's optimum as a number of units. Returns 1, 0 if there is none, -1 if the output has neither. */
static int ask_toulbar2(const char *path, int places, int *best) {
    char command[128], line[512];
    int found = -1;
    FILE *pipe;
    snprintf(command, sizeof command, "toulbar2 %s 2>&1", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe)) {
        double value;
        if (strncmp(line, "No solution", 11) == 0) found = 0;
        if (sscanf(line, "Optimum: %lf", &value) != 1) continue;
        value *= places == 2 ? 100 : places == 1 ? 10 : 1;
        *best = (int)(value < 0 ? value - 0.5 : value + 0.5);
        found = 1;
    }
    pclose(pipe);
    return found;
}

static void test_random_networks(void **unused) {
    static network w;
    int others = system("command -v toulbar2 >/dev/null 2>&1") == 0, times, best = 0, found, other = 0;
    int solved[2] = {0, 0};
    char path[64], error[1024];
    (void)unused;
    snprintf(path, sizeof path, "/tmp/gpuopt-networks-%ld.cfn", (long)getpid());
    for (times = 0; times < 1000; times++) {
        graphical_model m;
        int64_t cost;
        FILE *file;
        draw(&w);
        file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(w.text, file) >= 0 && fclose(file) == 0);
        if (graphical_read_cfn(path, &m, error, sizeof error)) fail_msg("%s\n%s", error, w.text);
        found = best_of_all(&w, &best);
        if (optimum_of(&w, &m, &cost) != found) fail_msg("not %s\n%s", found ? "solved" : "infeasible", w.text);
        assert_int_equal(m.places, w.places);
        if (found && (m.maximised ? -(cost + m.shift) : cost + m.shift) != best)
            fail_msg("%lld instead of %d\n%s", (long long)(cost + m.shift), best, w.text);
        solved[found]++;
        /* toulbar2 1.1.1 loses the sign of a bound as -0.85. */
        if (others && times % 4 == 0 && !w.shares_unary && (w.bound >= 0 || w.bound <= -100)) {
            int answer = ask_toulbar2(path, w.places, &other);
            if (answer != found || (found && other != best)) fail_msg("toulbar2: %d, %d\n%s", answer, other, w.text);
        }
        graphical_free(&m);
    }
    remove(path);
    assert_true(solved[0] > 50 && solved[1] > 500);
    if (!others) printf("SKIPPED: what toulbar2 says (it is not installed)\n");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks)};
TEST_MAIN(tests)
