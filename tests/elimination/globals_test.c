/* SPDX-License-Identifier: MIT
 *
 * The readers of .wcsp and .cfn files on functions in intention: random small models with one such function and unary
 * costs, written in both formats, read, and eliminated. The optimum and the number of optima are compared with all
 * assignments, evaluated by each function's definition; and with toulbar2, if installed. Scopes are small enough for
 * one table and large enough for hidden variables.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/io/graphical.h"
#include "tests/elimination/globals.h"
#include "tests/support/support.h"

/* large: more tuples than become one table */
static void draw_instance(const kind *of, int large, instance *p) {
    int k, v, tuples;
    do {
        memset(p, 0, sizeof *p);
        p->n = of->variables == 2 ? 2 : large ? 6 + below(2) : 2 + below(3);
        if (of->variables == -2) p->n = p->n / 2 * 2;
        for (k = 0, tuples = 1; k < p->n; k++) {
            p->size[k] = of->values ? of->values : large ? 3 + below(3) : 2 + below(3);
            if (of->variables == -2 && k > 0) p->size[k] = p->size[0]; /* required by toulbar2 */
            p->d = larger(p->d, p->size[k]);
            tuples *= p->size[k];
            for (v = 0; v < p->size[k]; v++) p->unary[k][v] = below(10);
        }
    } while (large && !of->values && of->variables != 2 && (tuples <= 4096 || tuples > 40000));
    of->draw(p);
}

static void write_wcsp(const kind *of, const instance *p, char *text) {
    int k, v;
    *text = 0;
    put_text(text, "random %d %d %d %d\n", p->n, p->d, p->n + 1, TOP);
    for (k = 0; k < p->n; k++) put_text(text, "%d ", p->size[k]);
    for (k = 0; k < p->n; k++) {
        put_text(text, "\n1 %d 0 %d", k, p->size[k]);
        for (v = 0; v < p->size[k]; v++) put_text(text, " %d %d", v, p->unary[k][v]);
    }
    put_text(text, "\n%d", p->n);
    for (k = 0; k < p->n; k++) put_text(text, " %d", k);
    put_text(text, " -1 %s%s\n", of->name, p->wcsp);
}

static void write_cfn(const kind *of, const instance *p, char *text) {
    int k, v;
    *text = 0;
    put_text(text, "{problem: {name: random mustbe: <%d.%02d}\nvariables: {", TOP / 100, TOP % 100);
    for (k = 0; k < p->n; k++) put_text(text, "v%d: %d ", k, p->size[k]);
    put_text(text, "}\nfunctions: {\n");
    for (k = 0; k < p->n; k++) {
        put_text(text, "u%d: {scope: [v%d] costs: [", k, k);
        for (v = 0; v < p->size[k]; v++) put_cost(text, p->unary[k][v]);
        put_text(text, "]}\n");
    }
    put_text(text, "g: {scope: [");
    for (k = 0; k < p->n; k++) put_text(text, k % 2 ? " %d" : " v%d", k);
    put_text(text, "] type: \"%s\" params: {%s}}}}\n", of->name, p->cfn);
}

/* ---- Answers ---- */

static int total(const kind *of, const instance *p, const int *value) {
    int cost = of->cost(p, value), k;
    for (k = 0; k < p->n; k++) cost += p->unary[k][value[k]];
    return cost < TOP ? cost : TOP;
}

/* The least cost of all assignments, or TOP, and how many have it. */
static int best_of_all(const kind *of, const instance *p, uint64_t *count) {
    int value[MOST] = {0}, best = TOP, k, cost;
    *count = 0;
    do {
        cost = total(of, p, value);
        if (cost < best) best = cost, *count = 0;
        *count += cost == best && cost < TOP;
        for (k = p->n - 1; k >= 0 && ++value[k] == p->size[k]; k--) value[k] = 0;
    } while (k >= 0);
    return best;
}

static void load(const char *suffix, const char *text, graphical_model *m, char path[64]) {
    char error[1024];
    FILE *file;
    snprintf(path, 64, "/tmp/gpuopt-globals-%ld%s", (long)getpid(), suffix);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fclose(file) == 0);
    if (graphical_load(path, 0, m, error, sizeof error)) fail_msg("%s\n%s", error, text);
}

static void check_model(const kind *of, const instance *p, const graphical_model *m, int best, uint64_t count,
                        const char *text) {
    gpuopt_context *context = test_context(NULL);
    gpuopt_elimination *e = NULL;
    gpuopt_elimination_desc desc;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment found;
    int32_t *value = calloc((size_t)m->variables + 1, sizeof *value), k;
    int given[MOST];
    assert_non_null(value);
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&found, sizeof found);
    assert_int_equal(m->variables - m->hidden, p->n);
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.semiring = GPUOPT_SEMIRING_MIN_COUNT;
    desc.top = m->top;
    assert_int_equal(gpuopt_elimination_create(context, &desc, NULL, &e), GPUOPT_OK);
    assert_int_equal(gpuopt_elimination_step(e, INT32_MAX, &info), GPUOPT_OK);
    if (info.outcome != (best < TOP ? GPUOPT_OPTIMAL : GPUOPT_INFEASIBLE) ||
        (best < TOP && (info.cost + m->shift != best || info.count != count)))
        fail_msg("cost %lld, %llu times, where all assignments say %d, %llu times\n%s",
                 (long long)(info.cost + m->shift), (unsigned long long)info.count, best, (unsigned long long)count,
                 text);
    if (best < TOP) {
        assert_int_equal(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &found), GPUOPT_OK);
        for (k = 0; k < p->n; k++) given[k] = value[k];
        assert_int_equal(total(of, p, given), best);
    }
    gpuopt_elimination_destroy(e);
    gpuopt_context_destroy(context);
    free(value);
}

/* toulbar2's result for the file: the optimum, or TOP. */
static int ask_toulbar2(const char *path) {
    char command[128], line[512];
    int optimum = -1;
    FILE *pipe;
    snprintf(command, sizeof command, "toulbar2 %s 2>&1", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe)) {
        if (strncmp(line, "No solution", 11) == 0) optimum = TOP;
        if (strncmp(line, "Optimum: ", 9) == 0) optimum = atoi(line + 9);
    }
    pclose(pipe);
    return optimum;
}

/* Returns whether a model had hidden variables. */
static int try_kind(const kind *of, int others, int *asked) {
    static char text[TEXT];
    int large, times, best, hidden = 0;
    char path[64];
    graphical_model m;
    uint64_t count;
    instance p;
    for (large = 0; large < (of->variables == 2 ? 1 : 2); large++) {
        for (times = large || test_few() ? 4 : 20; times > 0; times--) {
            draw_instance(of, large, &p);
            best = best_of_all(of, &p, &count);
            write_wcsp(of, &p, text);
            load(".wcsp", text, &m, path);
            hidden |= m.hidden > 0;
            assert_true(m.hidden == 0 || large);
            check_model(of, &p, &m, best, count, text);
            graphical_free(&m);
            if (others && of->toulbar2 && times % 4 == 0) {
                int answer = ask_toulbar2(path);
                if (answer != best) fail_msg("toulbar2 says %d, not %d\n%s", answer, best, text);
                ++*asked;
            }
            remove(path);
            if (of->wcsp_only) continue;
            write_cfn(of, &p, text);
            load(".cfn", text, &m, path);
            check_model(of, &p, &m, best, count, text);
            graphical_free(&m);
            remove(path);
        }
    }
    return hidden;
}

static void test_functions_in_intention(void **unused) {
    static const kind *const all[] = {counting_kinds, other_kinds};
    int others = system("command -v toulbar2 >/dev/null 2>&1") == 0, asked = 0, with_hidden = 0, k;
    (void)unused;
    for (k = 0; k < 2; k++) {
        const kind *of;
        for (of = all[k]; of->name; of++) {
            int hidden = try_kind(of, others, &asked);
            /* Small tables, and pairs, stay unchanged. */
            if (of->variables == 2 || of->values > 0 || strcmp(of->name, "clique") == 0) assert_false(hidden);
            with_hidden += hidden;
        }
    }
    assert_in_range(with_hidden, 18, 21); /* of 21 that may have them */
    if (others) printf("toulbar2 was asked %d times\n", asked);
    else printf("SKIPPED: what toulbar2 says (it is not installed)\n");
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_functions_in_intention)};
TEST_MAIN(tests)
