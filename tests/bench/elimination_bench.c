/* SPDX-License-Identifier: MIT
 *
 * Times bucket elimination.
 *     elimination_bench BACKEND,... [options]      BACKEND: cpu (one thread), cpu:N (N threads), cuda
 *       --tables LIST   of the tables below (exact,mini-bucket on the CPU; with cuda all)
 *       --models LIST   for exact: files of GPUOPT_TEST_DATA/wcsp as FOLDER/NAME, other files, or generated ones
 *       --repeat N      runs (5), after one that is not counted; medians are printed
 *       --limit S       on the CPU: models that would take longer, by their operations, are skipped (60)
 *       --memory GIB    that an elimination may take on the CPU (64)
 *       --add-min RATE  of add_min_rate, for the shares in domains
 *       --smaller N     halves the tables of kernels and domains N times
 *       --bits B, --domain D  of kernels and domains: only these
 * Tables, in Markdown:
 *   exact        the usual models, every policy that is exact. Milliseconds of the search for an order, of create, of
 *                all steps, of the value phase, and of the whole, destroy included, without reading the model. Share:
 *                of a copy's 4.28 TB/s on an H200, by the moved bytes of the library's estimate.
 *   mini-bucket  the same with the z that the paper's code was measured with, and how many times faster than it.
 *   relaxed      bounds with the same z, costs shifted 0, 10 and 40 times; not printed by default.
 *   reduced      what preprocessing removes, and the operations planned before and after; likewise.
 *   bounds       look-ups of bounds for many partial assignments in a call, in either memory; likewise not by default.
 *   handles      42b and 408b, the first handle of a context and later ones, by the device memory that the context
 *                retains (keep_device_bytes); likewise not by default.
 *   kernels      one bucket: big tables, few values. Bytes: the functions and the message, once, as they are stored;
 *                share: of a copy's speed, for many eliminations enqueued in sequence ("each"); also the time of one
 *                elimination with a wait.
 *   domains      one bucket: small tables, many values. Joined rows: assignments of the message and the variable;
 *                share: of the pairs of an addition and a minimum that registers allow.
 * Answers are checked against published optima, the model itself, and in the synthetic tables at random entries.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/elimination_bench.h"

static const char *const tables[] = {"exact",   "mini-bucket", "kernels", "domains", "relaxed",
                                     "reduced", "bounds",      "handles", NULL};

/* ---- Command line ---- */

static int above_zero(const char *word, double *value) {
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == 0 && *value > 0;
}

/* Returns 1, or 0 if the text is invalid. asked: the tables, or NULL. */
static int parse(int argc, char **argv, options *o, const char **asked) {
    char word[NAME];
    const char *at;
    int64_t domain = 0;
    int k, good = argc > 1 && argv[1][0] != '-';
    memset(o, 0, sizeof *o);
    o->repeat = 5;
    o->limit = 60;
    o->memory = 64;
    *asked = NULL;
    for (k = 2; k < argc && good; k += 2) {
        const char *value = k + 1 < argc ? argv[k + 1] : "";
        if (strcmp(argv[k], "--tables") == 0) good = *(*asked = value) != 0;
        else if (strcmp(argv[k], "--models") == 0) good = *(o->models = value) != 0;
        else if (strcmp(argv[k], "--repeat") == 0) good = whole_number(value, MOST_REPEATS, &o->repeat);
        else if (strcmp(argv[k], "--limit") == 0) good = whole_number(value, 1000000, &o->limit);
        else if (strcmp(argv[k], "--memory") == 0) good = whole_number(value, 1 << 20, &o->memory);
        else if (strcmp(argv[k], "--add-min") == 0) good = above_zero(value, &o->add_min);
        else if (strcmp(argv[k], "--smaller") == 0) good = whole_number(value, 30, &o->smaller);
        else if (strcmp(argv[k], "--bits") == 0) good = whole_number(value, 32, &o->bits);
        else if (strcmp(argv[k], "--domain") == 0) good = whole_number(value, 1 << 20, &domain);
        else good = 0;
    }
    o->domain = (double)domain;
    for (at = *asked ? *asked : ""; good && next_word(&at, word);) good = choice(word, tables) >= 0;
    return good;
}

static int print_table(int table, const machine *machines, int count, const options *o) {
    int k, bad = 0;
    if (table == 0) return exact_table(machines, count, o);
    if (table == 1) return mini_bucket_table(machines, count, o);
    if (table == 4) return relaxed_table(machines, count, o);
    if (table == 5) return reduced_table(&machines[0], o);
    if (table == 6) return bounds_table(machines, count, o);
    if (table == 7) return handles_table(&machines[0], o);
    for (k = 0; k < count; k++) bad |= table == 2 ? kernel_table(&machines[k], o) : domain_table(&machines[k], o);
    return bad;
}

int main(int argc, char **argv) {
    options o;
    machine machines[MOST_MACHINES];
    char name[MOST_MACHINES][NAME], word[NAME];
    const char *asked;
    int count, bad = 0;
    if (!parse(argc, argv, &o, &asked)) {
        fprintf(
            stderr,
            "elimination_bench BACKEND,... [--tables exact,mini-bucket,kernels,domains,relaxed,reduced,bounds,handles] "
            "[--models LIST] [--repeat N] [--limit S] [--memory GIB] [--add-min RATE] [--smaller N] [--bits B] "
            "[--domain D]\n");
        return EXIT_BAD_INPUT;
    }
    count = open_machines("elimination_bench", argv[1], machines, name);
    if (count < 0) return EXIT_BAD_INPUT;
    if (!asked) asked = strstr(argv[1], "cuda") ? "exact,mini-bucket,kernels,domains" : "exact,mini-bucket";
    while (next_word(&asked, word)) bad |= print_table(choice(word, tables), machines, count, &o);
    close_machines(machines, count);
    return bad ? EXIT_FAILED : 0;
}
