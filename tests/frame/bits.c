/* SPDX-License-Identifier: MIT
 *
 * Propagates a fixed pseudo-random model in both precisions and prints hashes of the results in one line, which is the
 * same however this file and the library are compiled. The argument is the number of threads.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpuopt.h"

enum { ROWS = 200, COLS = 150, PER_ROW = 5, ROUNDS = 8 };

static int64_t start[ROWS + 1];
static int32_t col[ROWS * PER_ROW];
static double val[ROWS * PER_ROW], lhs[ROWS], rhs[ROWS], lb[COLS], ub[COLS];
static uint8_t integer[COLS];

static uint64_t random_state = 20200101;

static int draw(int low, int high) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((random_state >> 33) % (uint64_t)(high - low + 1));
}

/* Some point satisfies every row with room to spare, so that rounds go on and none ends infeasible. The values are
 * quotients, of which a compiler can neither fold nor contract anything. */
static void build(void) {
    double point[COLS];
    int i, j, k;
    for (j = 0; j < COLS; j++) {
        integer[j] = draw(0, 3) == 0;
        point[j] = integer[j] ? draw(-50, 50) : draw(-50000, 50000) / 999.7;
        lb[j] = draw(0, 9) ? point[j] - draw(1, 1000) / 7.3 : -1e30;
        ub[j] = draw(0, 9) ? point[j] + draw(1, 1000) / 3.1 : 1e30;
    }
    for (i = 0; i < ROWS; i++) {
        double activity = 0;
        for (k = 0; k < PER_ROW; k++) {
            int64_t at = start[i] + k;
            col[at] = (i * 37 + k * (COLS / PER_ROW) + draw(0, COLS / PER_ROW - 1)) % COLS;
            val[at] = draw(1, 9999) / 333.1;
            if (draw(0, 1)) val[at] = -val[at];
            activity += val[at] * point[col[at]];
        }
        start[i + 1] = start[i] + PER_ROW;
        /* Whole numbers: the sum above may be contracted here, since this file is the host's. */
        lhs[i] = draw(0, 1) ? (double)(int64_t)activity - draw(1, 40) : -1e30;
        rhs[i] = draw(0, 1) ? (double)(int64_t)activity + draw(1, 40) : 1e30;
    }
}

static uint64_t hash(uint64_t h, const void *data, size_t bytes) {
    const unsigned char *byte = (const unsigned char *)data;
    while (bytes-- > 0) h = (h ^ *byte++) * 1099511628211u;
    return h;
}

/* Rounds one by one, each with its bounds in the hash. Returns 0 when all went well. */
static int run(gpuopt_context *context, gpuopt_propagator_desc *desc, const char *name) {
    uint64_t h = 14695981039346656037u;
    int64_t changed = 0;
    int round, rounds = 0;
    gpuopt_propagator *propagator;
    gpuopt_propagator_info info;
    gpuopt_desc_init(&info, sizeof info);
    if (gpuopt_propagator_create(context, desc, &propagator)) return 1;
    for (round = 0; round < ROUNDS; round++) {
        double low[COLS], high[COLS];
        int64_t numbers[5];
        if (gpuopt_propagator_round(propagator, 1, &info) ||
            gpuopt_propagator_get_bounds(propagator, GPUOPT_HOST, low, high))
            return 1;
        numbers[0] = info.outcome, numbers[1] = info.rounds, numbers[2] = info.changed;
        numbers[3] = info.infeasible_row, numbers[4] = info.infeasible_col;
        h = hash(h, numbers, sizeof numbers);
        h = hash(h, low, sizeof low);
        h = hash(h, high, sizeof high);
        changed += info.changed;
        rounds += info.rounds;
    }
    gpuopt_propagator_destroy(propagator);
    printf("%s %016llx rounds %d changed %lld %s; ", name, (unsigned long long)h, rounds, (long long)changed,
           gpuopt_outcome_string(info.outcome));
    return changed == 0 || info.outcome == GPUOPT_INFEASIBLE;
}

int main(int argc, char **argv) {
    int failed;
    gpuopt_context *context;
    gpuopt_context_desc context_desc;
    gpuopt_propagator_desc desc;
    build();
    gpuopt_desc_init(&context_desc, sizeof context_desc);
    context_desc.threads = argc > 1 ? atoi(argv[1]) : 1;
    if (gpuopt_context_create(&context_desc, &context)) return 1;
    gpuopt_desc_init(&desc, sizeof desc);
    desc.matrix.rows = ROWS;
    desc.matrix.cols = COLS;
    desc.matrix.start = start;
    desc.matrix.index = col;
    desc.matrix.value = val;
    desc.lhs = lhs;
    desc.rhs = rhs;
    desc.lb = lb;
    desc.ub = ub;
    desc.integer = integer;
    failed = run(context, &desc, "fp64");
    desc.precision = GPUOPT_PRECISION_FP32;
    failed |= run(context, &desc, "fp32");
    printf("\n");
    gpuopt_context_destroy(context);
    return failed;
}
