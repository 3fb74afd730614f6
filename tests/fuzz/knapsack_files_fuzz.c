/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target for the reader of knapsack files and for the names of generated instances. For any bytes, the
 * result is either an error with its place and nothing to free, or a model with the numbers of the file. A file that
 * consists of the right number of integers must be read.
 *
 * With: examples/io/knapsack.c examples/io/text.c examples/io/tokens.c -lz -llzma
 * Longest input: 512
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include <errno.h>

#include "examples/io/knapsack.h"
#include "examples/io/utf8.h"
#include "tests/fuzz/fuzz_file.h"

enum { TEXT = 1 << 14 };

static const char *const word[] = {"\n",
                                   "-1",
                                   "-0",
                                   "+3",
                                   "0.5",
                                   "1e3",
                                   "x",
                                   "0x10",
                                   "007",
                                   "268435456",
                                   "268435457",
                                   "1073741824",
                                   "1073741825",
                                   "4294967296",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "18446744073709551616",
                                   "99999999999999999999"};
enum { WORDS = sizeof word / sizeof *word };

static size_t words(fuzz_bytes *b, char *text) {
    size_t at = 0;
    while (b->size > 0 && at < TEXT - 32) {
        unsigned tag = fuzz_take(b);
        if (tag < 232) at += (size_t)sprintf(text + at, "%u ", tag < 160 ? tag % 4 : tag % 16);
        else at += (size_t)sprintf(text + at, "%s ", word[(tag - 232) % WORDS]);
    }
    return at;
}

/* Reads the next word of text as a number of digits only, up to 2^63 - 1. Returns 0 if it is not one. */
static int number(const char **text, int64_t *value) {
    size_t length, blanks = strspn(*text, " \n");
    char *end;
    *text += blanks;
    length = strspn(*text, "0123456789");
    errno = 0;
    *value = strtoll(*text, &end, 10);
    *text += length;
    return length > 0 && !errno && (**text == ' ' || **text == '\n' || **text == 0);
}

/* Whether a text is a model in the strictest sense. If m is not NULL, it must be this one. */
static int whole(const char *text, const knapsack_model *m) {
    int64_t items, capacity, profit, weight, j;
    int same;
    if (!number(&text, &items) || !number(&text, &capacity)) return 0;
    same = !m || (m->items == items && m->capacity == capacity);
    for (j = 0; j < items; j++) {
        if (!number(&text, &profit) || !number(&text, &weight)) return 0;
        same = same && (!m || (m->profit[j] == profit && m->weight[j] == weight));
    }
    REQUIRE(same || text[strspn(text, " \n")] != 0);
    return text[strspn(text, " \n")] == 0;
}

/* A model from the reader or from a generator. */
static void check_model(const knapsack_model *m) {
    int32_t j;
    REQUIRE(m->items >= 0 && m->capacity >= 0 && m->weight && m->profit);
    for (j = 0; j < m->items; j++) REQUIRE(m->weight[j] >= 0 && m->profit[j] >= 0);
}

static void read_file(fuzz_bytes *b, int raw) {
    static char text[TEXT];
    char path[32], error[256] = "";
    size_t size = raw ? b->size : words(b, text);
    knapsack_model m;
    int file, failed;
    if (size >= TEXT) size = TEXT - 1;
    if (raw && size > 0) memcpy(text, b->data, size);
    text[size] = 0;
    file = fuzz_file(text, size, path);
    memset(&m, 0xA5, sizeof m);
    failed = knapsack_load(path, &m, error, sizeof error);
    close(file);
    if (failed) {
        if (!strstr(error, "cannot be read")) fuzz_check_error(path, error); /* compressed, and not rightly */
        REQUIRE(!m.weight && !m.profit);
        REQUIRE(strlen(text) < size || !whole(text, NULL));
        return;
    }
    check_model(&m);
    if (strlen(text) == size) whole(text, &m);
    knapsack_free(&m);
}

/* CLASS:N:R:SEED with N of at most four digits, or something similar. */
static void generate(fuzz_bytes *b) {
    static const char *const class[] = {"paper",          "uncorrelated", "weak",    "strong", "inverse-strong",
                                        "almost-strong",  "subset-sum",   "similar", "span",   "multiple-strong",
                                        "profit-ceiling", "circle",       "circl",   "papers"};
    char name[1024], error[1024] = ""; /* each byte may be an escape of four */
    knapsack_model m;
    int64_t sum = 0;
    int32_t j;
    size_t at = (size_t)sprintf(name, "%s:%u", class[fuzz_take(b) % 14], fuzz_take(b) * (fuzz_take(b) % 40));
    while (b->size > 0 && at < 224) {
        unsigned tag = fuzz_take(b);
        if (tag < 200) at += (size_t)sprintf(name + at, ":%u", tag < 20 ? tag : tag * (fuzz_take(b) + 1));
        else at += (size_t)sprintf(name + at, ":%s", word[(tag - 200) % WORDS]);
    }
    if (knapsack_load(name, &m, error, sizeof error)) {
        utf8_escape(name, sizeof name); /* as in messages */
        REQUIRE(strncmp(error, name, strlen(name)) == 0 && strlen(error) > strlen(name));
        REQUIRE(!m.weight && !m.profit);
        return;
    }
    REQUIRE(m.items > 0);
    check_model(&m);
    for (j = 0; j < m.items; j++) sum += m.weight[j];
    REQUIRE(m.capacity == sum / 2);
    knapsack_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_bytes b = {data, size};
    unsigned kind = fuzz_take(&b) % 4;
    if (kind == 3) generate(&b);
    else read_file(&b, kind == 2);
    return 0;
}
