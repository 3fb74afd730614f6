/* SPDX-License-Identifier: MIT */
#include "examples/io/cutting.h"

#include <stdio.h>
#include <string.h>

#include "examples/io/tokens.h"

enum { MOST_STOCKS_DRAWN = 12 };

static int read_model(tokens *t, cutting_model *m) {
    int64_t pieces, stocks, k;
    t->comments = 1;
    if (tokens_whole(t, "number of pieces", 1, CUTTING_PIECES, &pieces) ||
        tokens_whole(t, "number of stocks", 1, CUTTING_STOCKS, &stocks))
        return -1;
    m->pieces = (int32_t)pieces;
    m->stocks = (int32_t)stocks;
    t->part = "stock";
    for (k = 0; k < stocks; k++) {
        t->index = k;
        if (tokens_whole(t, "length", 1, INT32_MAX, &m->stock_length[k]) ||
            tokens_whole(t, "cost", 1, CUTTING_COST, &m->cost[k]))
            return -1;
    }
    t->part = "piece";
    for (k = 0; k < pieces; k++) {
        t->index = k;
        if (tokens_whole(t, "length", 1, INT32_MAX, &m->length[k]) ||
            tokens_whole(t, "demand", 0, CUTTING_DEMAND, &m->demand[k]))
            return -1;
    }
    t->part = NULL;
    return tokens_end(t);
}

static int64_t draw(uint64_t *state, int64_t first, int64_t last) { /* splitmix64 */
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return first + (int64_t)((z ^ (z >> 31)) % (uint64_t)(last - first + 1));
}

static void generate(cutting_model *m, uint64_t state) {
    int32_t k, other;
    for (k = 0; k < m->stocks; k++) {
        m->stock_length[k] = 10000 - 500 * k;
        m->cost[k] = m->stock_length[k] + 100 * k;
    }
    for (k = 0; k < m->pieces; k++) {
        do {
            m->length[k] = draw(&state, 100, 7000);
            for (other = 0; m->length[other] != m->length[k]; other++) continue;
        } while (other < k);
        m->demand[k] = draw(&state, 1, 19);
    }
    for (k = 0; k < m->stocks && m->stocks == 1; k++) m->cost[k] = 1;
}

int cutting_load(const char *name, cutting_model *model, char *error, size_t error_size) {
    unsigned long long seed;
    int pieces, stocks, used = 0, failed;
    tokens t;
    memset(model, 0, sizeof *model);
    if (strncmp(name, "cutgen:", 7) == 0) {
        if (sscanf(name, "cutgen:%9d:%9d:%19llu%n", &pieces, &stocks, &seed, &used) != 3 || name[used] || pieces < 1 ||
            pieces > CUTTING_PIECES || stocks < 1 || stocks > MOST_STOCKS_DRAWN) {
            snprintf(error, error_size,
                     "%s: no such instance: cutgen:PIECES:STOCKS:SEED, of 1 to %d pieces, 1 to %d stocks", name,
                     CUTTING_PIECES, MOST_STOCKS_DRAWN);
            return -1;
        }
        model->pieces = pieces;
        model->stocks = stocks;
        generate(model, seed);
        return 0;
    }
    if (tokens_open(&t, name, error, error_size)) return -1;
    failed = read_model(&t, model);
    tokens_close(&t);
    return failed;
}
