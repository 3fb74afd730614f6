/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target over the readers of graphical models and of the files that go with them. For any bytes, either
 * there is an error with its place and nothing to free, or a model with all indices in range. If it is small, the
 * library's optimum is the optimum of all assignments, looked up in the functions.
 *
 * With: examples/io/cfn.c examples/io/global*.c examples/io/graphical*.c examples/io/names.c examples/io/t*.c
 * With: examples/io/uai.c examples/io/wcsp.c -lz -llzma
 * Longest input: 2048
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <math.h>

#include "examples/io/graphical.h"
#include "tests/fuzz/fuzz_file.h"

enum { ASSIGNMENTS = 2000, TEXT = 1 << 16 };

/* ---- Bytes to a file ---- */

/* Words instead of raw bytes, so that complete models arise. */
static const char *const plain_word[] = {"\n",
                                         "#",
                                         "-1",
                                         "-2",
                                         "+3",
                                         "-0",
                                         "MARKOV",
                                         "BAYES",
                                         "wcsp",
                                         "knapsack",
                                         "0.5",
                                         "1e-300",
                                         "1e300",
                                         "1e999",
                                         "-1.5",
                                         ".",
                                         "nan",
                                         "0x10",
                                         "1000",
                                         "65536",
                                         "2147483647",
                                         "2147483648",
                                         "4611686018427387904",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "99999999999999999999"};
static const char *const cfn_word[] = {"[",
                                       "]",
                                       "{",
                                       "}",
                                       "[",
                                       "]",
                                       "problem",
                                       "name",
                                       "mustbe",
                                       "<9.5",
                                       "<100",
                                       ">-5",
                                       "<-1",
                                       "v",
                                       "w",
                                       "x",
                                       "f",
                                       "g",
                                       "scope",
                                       "costs",
                                       "variables",
                                       "functions",
                                       "defaultcost",
                                       "type",
                                       "params",
                                       "\"",
                                       "\n",
                                       "#",
                                       "//",
                                       ",",
                                       ":",
                                       "-1",
                                       "0.25",
                                       "-7.5",
                                       "9223372036854775807",
                                       "-9223372036854775807"};
static const char *const global_word[] = {
    "salldiff", "walldiff",  "sgcc", "sgccdp",  "wgcc",     "wsame", "wsamegcc", "ssame",    "samong",
    "wamong",   "wvaramong", "wsum", "wvarsum", "woverlap", "max",   "knapsack", "wregular", "sregular",
    "clique",   ">=",        "=",    "disj",    "sdisj",    "hard",  "lin",      "quad",     "var",
    "dec",      "wdec",      "==",   "<=",      "<",        "!=",    ">"};

/* With names of global functions and their parameters (.wcsp), or brackets and names as well (.cfn). */
enum { PLAIN, WITH_GLOBALS, WITH_BRACKETS };

static size_t words(fuzz_bytes *b, int sort, char *text) {
    size_t at = 0;
    while (b->size > 0 && at < TEXT - 64) {
        unsigned tag = fuzz_take(b);
        if (tag < 160) at += (size_t)sprintf(text + at, "%u ", tag % 4);
        else if (sort == WITH_BRACKETS && tag < 222)
            at += (size_t)sprintf(text + at, "%s ", cfn_word[(tag - 160) % (sizeof cfn_word / sizeof *cfn_word)]);
        else if (sort != PLAIN && tag < 222 && tag >= 180)
            at += (size_t)sprintf(text + at, "%s ",
                                  global_word[(tag - 180) % (sizeof global_word / sizeof *global_word)]);
        else if (tag < 216) at += (size_t)sprintf(text + at, "%u ", tag % 16);
        else
            at += (size_t)sprintf(text + at, "%s ", plain_word[(tag - 216) % (sizeof plain_word / sizeof *plain_word)]);
    }
    return at;
}

/* A .cfn file with a valid frame. Its functions are tables of the right length, or in intention with the parameters
 * found in the rest of a piece of input. */
static size_t network(fuzz_bytes *b, char *text) {
    unsigned n = 1 + fuzz_take(b) % 4, size[4], k, places = fuzz_take(b) % 3, functions = 0;
    size_t at =
        (size_t)sprintf(text, "{{p %c%u.%.*s} [", fuzz_take(b) % 4 ? '<' : '>', fuzz_take(b), (int)places, "00");
    for (k = 0; k < n; k++) at += (size_t)sprintf(text + at, " %u", size[k] = 1 + fuzz_take(b) % 4);
    at += (size_t)sprintf(text + at, "] {");
    while (b->size > 0 && at < TEXT / 2) {
        unsigned tag = fuzz_take(b), arity = tag % (n + 1), entries = 1;
        at += (size_t)sprintf(text + at, "f%u{scope[", functions++ % 3);
        for (k = 0; k < arity; k++) at += (size_t)sprintf(text + at, "%u ", k), entries *= size[k];
        at += (size_t)sprintf(text + at, "] ");
        if (tag >= 128) {
            unsigned length = fuzz_take(b) % 24;
            fuzz_bytes parameters = {b->data, b->size < length ? b->size : length};
            at += (size_t)sprintf(text + at, "type %s params{", global_word[fuzz_take(b) % 23]);
            at += words(&parameters, fuzz_take(b) % 3, text + at);
            while (length-- > 0) fuzz_take(b);
            at += (size_t)sprintf(text + at, "}}");
        } else if (tag % 16 == 0) {
            at += (size_t)sprintf(text + at, "costs f%u}", fuzz_take(b) % 3);
        } else {
            at += (size_t)sprintf(text + at, "costs[");
            for (k = 0; k < entries && at < TEXT - 64; k++)
                at += (size_t)sprintf(text + at, "%d ", (int)fuzz_take(b) - 64);
            at += (size_t)sprintf(text + at, "]}");
        }
    }
    return at + (size_t)sprintf(text + at, "}}");
}

enum { UAI, WCSP, CFN, BESIDE };

static int file_make(fuzz_bytes *b, int raw, int format, char path[32]) {
    static char text[TEXT];
    size_t size;
    if (raw && format != CFN) return fuzz_file((const char *)b->data, b->size, path);
    if (raw) size = network(b, text);
    else size = words(b, format == CFN ? WITH_BRACKETS : format == WCSP ? WITH_GLOBALS : PLAIN, text);
    return fuzz_file(text, size, path);
}

/* ---- What must hold ---- */

/* Entries of a dense function, or tuples of a list; -1: more than 2^40. */
static int64_t length_of(const graphical_model *m, const gpuopt_elimination_function *f) {
    int64_t entries = 1;
    int32_t k;
    for (k = 0; f->tuples < 0 && k < f->arity; k++) {
        entries *= m->domain[f->scope[k]];
        if (entries > (int64_t)1 << 40) return -1;
    }
    return f->tuples < 0 ? entries : f->tuples;
}

static void check_function(const graphical_model *m, const gpuopt_elimination_function *f, uint8_t *seen) {
    int64_t length, e;
    int32_t k;
    REQUIRE(f->arity >= 0 && f->arity <= m->variables && f->tuples >= -1 && !f->count);
    REQUIRE(f->tuples == -1 || m->type == GPUOPT_COST_INT64);
    for (k = 0; k < f->arity; k++) REQUIRE(f->scope[k] >= 0 && f->scope[k] < m->variables && !seen[f->scope[k]]++);
    for (k = 0; k < f->arity; k++) seen[f->scope[k]] = 0;
    length = length_of(m, f);
    REQUIRE(length >= 0 && f->default_cost >= 0);
    for (e = 0; e < length; e++)
        REQUIRE(m->type == GPUOPT_COST_DOUBLE ? f->value[e] >= 0 && f->value[e] < INFINITY : f->cost[e] >= 0);
    for (e = 0; f->tuples >= 0 && e < length * f->arity; e++)
        REQUIRE(f->tuple[e] >= 0 && f->tuple[e] < m->domain[f->scope[e % f->arity]]);
}

static void check_model(const graphical_model *m) {
    uint8_t *seen = (uint8_t *)calloc((size_t)m->variables + 1, 1);
    int32_t largest = 0, k;
    REQUIRE(m->variables >= 0 && m->functions >= 0 && m->top >= 0 && m->shift <= 0);
    REQUIRE(m->hidden >= 0 && m->hidden <= m->variables);
    for (k = 0; k < m->hidden; k++) REQUIRE(m->beside[k] >= 0 && m->beside[k] < m->variables - m->hidden);
    for (k = 0; k < m->variables; k++) {
        REQUIRE(m->domain[k] >= 1);
        if (m->domain[k] > largest) largest = m->domain[k];
    }
    REQUIRE(m->max_domain == largest);
    for (k = 0; k < m->functions; k++) check_function(m, &m->function[k], seen);
    free(seen);
}

/* Goes to the next assignment, the last variable fastest. Returns 0 after the last one. */
static int advance(const graphical_model *m, int32_t *value) {
    int32_t k;
    for (k = m->variables - 1; k >= 0; k--) {
        if (++value[k] < m->domain[k]) return 1;
        value[k] = 0;
    }
    return 0;
}

static int same(const graphical_model *m, int64_t cost, double real, int64_t cost_two, double real_two) {
    return m->type == GPUOPT_COST_DOUBLE ? fabs(real - real_two) <= 1e-9 * (1 + fabs(real)) : cost == cost_two;
}

static void check_optimum(const graphical_model *m, gpuopt_elimination *e) {
    int32_t *value = (int32_t *)calloc((size_t)m->variables + 1, sizeof *value);
    int64_t best = INT64_MAX, cost;
    double best_real = INFINITY, real;
    int feasible = 0, permitted;
    gpuopt_elimination_info info;
    gpuopt_elimination_assignment assignment;
    gpuopt_desc_init(&info, sizeof info);
    gpuopt_desc_init(&assignment, sizeof assignment);
    do {
        graphical_cost(m, value, &permitted, &cost, &real);
        if (!permitted) continue;
        feasible = 1;
        if (cost < best) best = cost;
        if (real < best_real) best_real = real;
    } while (advance(m, value));
    REQUIRE(gpuopt_elimination_step(e, m->variables + 1, &info) == GPUOPT_OK);
    REQUIRE(info.outcome == (feasible ? GPUOPT_OPTIMAL : GPUOPT_INFEASIBLE));
    REQUIRE(gpuopt_elimination_assign(e, GPUOPT_HOST, 0, value, &assignment) == GPUOPT_OK);
    REQUIRE(assignment.outcome == info.outcome);
    if (feasible) {
        REQUIRE(same(m, best, best_real, info.cost, info.value));
        graphical_cost(m, value, &permitted, &cost, &real);
        REQUIRE(permitted && same(m, best, best_real, cost, real));
        REQUIRE(same(m, cost, real, assignment.cost, assignment.value));
    }
    free(value);
}

/* The sum of the largest costs of all functions. Costs may be refused only if it exceeds 63 bits. */
static long double largest_sum(const graphical_model *m) {
    long double sum = 0;
    int64_t e, largest;
    int32_t k;
    for (k = 0; k < m->functions; k++) {
        const gpuopt_elimination_function *f = &m->function[k];
        largest = f->default_cost;
        for (e = 0; e < length_of(m, f); e++)
            if (f->cost[e] > largest) largest = f->cost[e];
        sum += (long double)largest;
    }
    return sum;
}

static void check_elimination(const graphical_model *m) {
    fuzz_host host = {0, 1 << 20, 0};
    gpuopt_context *context = fuzz_context(&host);
    gpuopt_elimination_estimate estimate;
    gpuopt_elimination_desc desc;
    gpuopt_elimination *e = NULL;
    gpuopt_elimination_memory memory = GPUOPT_INIT(gpuopt_elimination_memory);
    gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
    gpuopt_status status;
    double assignments = 1;
    int32_t k;
    for (k = 0; k < m->variables; k++) assignments *= m->domain[k];
    gpuopt_desc_init(&desc, sizeof desc);
    gpuopt_desc_init(&estimate, sizeof estimate);
    desc.variables = m->variables;
    desc.domain = m->domain;
    desc.functions = m->functions;
    desc.function = m->function;
    desc.type = m->type;
    desc.top = m->top;
    desc.memory = &memory;
    desc.order_search = &search;
    memory.bytes = 1 << 20;
    search.restarts = 1;
    status = gpuopt_elimination_order(context, &desc, NULL, NULL, &estimate);
    if (assignments > ASSIGNMENTS || m->variables > 1000) /* large tables: too large to write out, or for the limit */
        REQUIRE(status == GPUOPT_OK || status == GPUOPT_ERROR_MEMORY || status == GPUOPT_ERROR_UNSUPPORTED ||
                status == GPUOPT_ERROR_NUMERIC || status == GPUOPT_ERROR_ARGUMENT);
    else {
        REQUIRE(status == GPUOPT_OK || (status == GPUOPT_ERROR_NUMERIC && largest_sum(m) > 0x1p62));
        REQUIRE(gpuopt_elimination_create(context, &desc, NULL, &e) == status);
        if (e) check_optimum(m, e);
        gpuopt_elimination_destroy(e);
    }
    fuzz_context_end(context, &host);
}

/* ---- The readers ---- */

static void read_model(const char *path, int format) {
    graphical_model m;
    char error[256] = "";
    int failed;
    memset(&m, 0xA5, sizeof m);
    if (format == UAI) failed = graphical_read_uai(path, &m, error, sizeof error);
    else if (format == WCSP) failed = graphical_read_wcsp(path, &m, error, sizeof error);
    else failed = graphical_read_cfn(path, &m, error, sizeof error);
    if (failed) {
        if (!strstr(error, "cannot be read")) fuzz_check_error(path, error); /* compressed, and not rightly */
        REQUIRE(!m.domain && !m.function && m.functions == 0 && !m.beside);
        return;
    }
    check_model(&m);
    REQUIRE((m.type == GPUOPT_COST_DOUBLE) == (format == UAI));
    if (format == UAI) graphical_take_logs(&m, -1);
    check_elimination(&m);
    graphical_free(&m);
}

/* Together with a model of three variables. */
static void read_beside(const char *path, unsigned which) {
    static int32_t domain[] = {2, 3, 1};
    int32_t fixed[3] = {-1, -1, -1}, result[3] = {-1, -1, -1}, k;
    graphical_model m;
    char error[256] = "";
    int failed, left = 3;
    memset(&m, 0, sizeof m);
    m.variables = 3;
    m.domain = domain;
    if (which == 0) failed = graphical_read_evidence(path, &m, result, error, sizeof error);
    else if (which == 1) failed = graphical_read_agents(path, &m, result, error, sizeof error);
    else {
        if (which == 2) fixed[1] = 2, left = 2;
        failed = graphical_read_order(path, &m, fixed, result, error, sizeof error);
    }
    if (failed) {
        if (!strstr(error, "cannot be read")) fuzz_check_error(path, error);
        return;
    }
    for (k = 0; k < 3 && which == 0; k++) REQUIRE(result[k] >= -1 && result[k] < domain[k]);
    for (k = 0; k < 3 && which == 1; k++) REQUIRE(result[k] >= 0);
    for (k = 0; k < left && which >= 2; k++) { /* each once, and none that is fixed */
        REQUIRE(result[k] >= 0 && result[k] < 3 && fixed[result[k]] < 0);
        fixed[result[k]] = 0;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes b = {data, size};
    unsigned kind = fuzz_take(&b);
    char path[32];
    unsigned which = kind / 2 % 16;
    int format = which < 2 ? UAI : which < 6 ? WCSP : which < 12 ? CFN : BESIDE;
    int file = file_make(&b, kind & 1, format, path);
    if (format != BESIDE) read_model(path, format);
    else read_beside(path, which - 12);
    close(file);
    return 0;
}
