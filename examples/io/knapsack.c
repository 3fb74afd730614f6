/* SPDX-License-Identifier: MIT */
#include "examples/io/knapsack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/io/tokens.h"
#include "examples/io/utf8.h"

enum { MOST_ITEMS = 1 << 28 };        /* the library's limit */
#define MOST_RANGE ((int64_t)1 << 28) /* circle computes (2 R)^2 */

void knapsack_free(knapsack_model *model) {
    free(model->weight);
    free(model->profit);
    model->weight = model->profit = NULL;
}

static int allocate(knapsack_model *model, int64_t items) {
    model->items = (int32_t)items;
    model->weight = malloc(sizeof(int64_t) * ((size_t)items + 1));
    model->profit = malloc(sizeof(int64_t) * ((size_t)items + 1));
    return model->weight && model->profit ? 0 : -1;
}

/* ---- Files ---- */

static int read_items(tokens *t, knapsack_model *model) {
    int64_t items, j;
    if (tokens_whole(t, "number of items", 0, MOST_ITEMS, &items) ||
        tokens_whole(t, "capacity", 0, INT64_MAX, &model->capacity))
        return -1;
    if ((uint64_t)items > tokens_capacity(t) / 2)
        return tokens_fail(t, "there are fewer than %lld items in the file", (long long)items);
    if (allocate(model, items)) return tokens_fail(t, "out of memory");
    t->part = "item";
    for (j = 0; j < items; j++) {
        t->index = j;
        if (tokens_whole(t, "profit", 0, INT64_MAX, &model->profit[j]) ||
            tokens_whole(t, "weight", 0, INT64_MAX, &model->weight[j]))
            return -1;
    }
    t->part = NULL;
    return tokens_end(t);
}

static int read_file(const char *path, knapsack_model *model, char *error, size_t error_size) {
    tokens t;
    int failed;
    if (tokens_open(&t, path, error, error_size)) return -1;
    failed = read_items(&t, model);
    tokens_close(&t);
    return failed;
}

/* ---- Generators ---- */

static const char *const classes[] = {"uncorrelated",    "weak",           "strong",  "inverse-strong",
                                      "almost-strong",   "subset-sum",     "similar", "span",
                                      "multiple-strong", "profit-ceiling", "circle",  NULL};

static uint64_t next(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int64_t draw(uint64_t *state, int64_t first, int64_t last) {
    return first + (int64_t)(next(state) % (uint64_t)(last - first + 1));
}

/* floor(sqrt(x)), by Newton's method from above. */
static int64_t whole_root(int64_t x) {
    int64_t root = x, better;
    if (x < 2) return x;
    for (better = x / 2 + 1; better < root; better = (root + x / root) / 2) root = better;
    return root;
}

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static void draw_item(int class, int64_t r, uint64_t *state, const int64_t span[2][2], int64_t *weight,
                      int64_t *profit) {
    int64_t w = class == 3 || class == 6 || class == 7 ? 0 : draw(state, 1, r), p = 0, factor;
    int one;
    switch (class) {
    case 0: p = draw(state, 1, r); break;
    case 1: p = draw(state, most(1, w - r / 10), w + r / 10); break;
    case 2: p = w + r / 10; break;
    case 3: p = draw(state, 1, r), w = p + r / 10; break;
    case 4: p = draw(state, w + r / 10 - r / 500, w + r / 10 + r / 500); break;
    case 5: p = w; break;
    case 6: w = draw(state, 100000, 100000 + r / 1000), p = draw(state, 1, 1000); break;
    case 7:
        one = (int)draw(state, 0, 1);
        factor = draw(state, 1, 10);
        w = factor * span[one][0], p = factor * span[one][1];
        break;
    case 8: p = w + (w % 6 == 0 ? 3 * (r / 10) : 2 * (r / 10)); break;
    case 9: p = 3 * ((w + 2) / 3); break;
    default: p = whole_root(4 * (4 * r * r - (w - 2 * r) * (w - 2 * r)) / 9); break;
    }
    *weight = w;
    *profit = p;
}

/* Reads the `count` numbers after the colons. Returns 0 if some are missing, or more follow. */
static int numbers(const char *text, int count, uint64_t *number) {
    char *end;
    int k;
    for (k = 0; k < count; k++) {
        if (*text != ':' || text[1] < '0' || text[1] > '9') return 0;
        errno = 0;
        number[k] = strtoull(text + 1, &end, 10);
        if (errno) return 0;
        text = end;
    }
    return *text == 0;
}

/* Returns 0, 1 if there is no generator of this name, or -1 and the error. */
static int generate(const char *name, knapsack_model *model, char *error, size_t error_size) {
    const char *colon = strchr(name, ':');
    uint64_t number[3] = {0, 0, 0}, state;
    int64_t span[2][2], sum = 0;
    int class = 0, paper, j;
    size_t length = colon ? (size_t)(colon - name) : 0;
    if (!colon) return 1;
    paper = length == 5 && memcmp(name, "paper", 5) == 0;
    while (!paper && classes[class] && (strlen(classes[class]) != length || memcmp(name, classes[class], length) != 0))
        class ++;
    if (!paper && !classes[class]) return 1;
    if (!numbers(colon, paper ? 2 : 3, number) || number[0] < 1 || number[0] > MOST_ITEMS ||
        (!paper && (number[1] < 1 || number[1] > (uint64_t)MOST_RANGE))) {
        snprintf(error, error_size, "%s: no such model: N and R are 1 to 2^28, SEED a whole number", name);
        return -1;
    }
    if (allocate(model, (int64_t)number[0])) {
        snprintf(error, error_size, "%s: out of memory", name);
        return -1;
    }
    state = paper ? number[1] : number[2];
    for (j = 0; j < 2 && class == 7 && !paper; j++) {
        draw_item(2, (int64_t)number[1], &state, NULL, &span[j][0], &span[j][1]);
        span[j][0] = (span[j][0] + 4) / 5;
        span[j][1] = (span[j][1] + 4) / 5;
    }
    for (j = 0; j < model->items; j++) {
        if (paper) model->weight[j] = draw(&state, 1, 100), model->profit[j] = model->weight[j] + 10;
        else
            draw_item(class, (int64_t)number[1], &state, (const int64_t(*)[2])span, &model->weight[j],
                      &model->profit[j]);
        sum += model->weight[j];
    }
    model->capacity = sum / 2;
    return 0;
}

int knapsack_load(const char *name, knapsack_model *model, char *error, size_t error_size) {
    int failed;
    memset(model, 0, sizeof *model);
    failed = generate(name, model, error, error_size);
    if (failed > 0) failed = read_file(name, model, error, error_size);
    if (failed) {
        knapsack_free(model);
        utf8_escape(error, error_size); /* the name, too */
    }
    return failed;
}
