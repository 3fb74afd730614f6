/* SPDX-License-Identifier: MIT
 *
 * Orders of the graphs of public benchmarks, found within a budget of moves, against the best results published: the
 * largest table, and the joined rows. The results count pairwise contractions; eliminating one variable at a time may
 * need larger tables.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/orders.h"
#include "tests/support/support.h"

/* log2 of how much larger than published the largest table may be, after this number of moves. */
static const struct {
    const char *name;
    int64_t moves;
    int32_t more;
} allowed[] = {{"independentset_rg3", 4000000, 1},
               {"inference_DBN_13", 400000, 0},
               {"surfacecode_d21", 10000000, 1},
               {"independentset_ksg", 10000000, 5}, /* 34, with fewer rows; 33 with four times the moves */
               {"nqueens28", 16000000, 4}};

static void published(void **state) {
    gpuopt_context *context;
    size_t k;
    (void)state;
    if (!test_data_root("graphs with published orders")) skip();
    context = test_context(NULL);
    for (k = 0; k < sizeof allowed / sizeof *allowed; k++) {
        const order_known *known = order_published;
        order_graph graph;
        gpuopt_elimination_desc desc;
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        order_cost c;
        char file[96];
        int32_t *order;
        while (strcmp(known->name, allowed[k].name) != 0) known++;
        snprintf(file, sizeof file, "orders/%s.txt", known->name);
        if (order_graph_read(test_data(file), &graph)) fail_msg("%s is missing or damaged", file);
        desc = order_graph_desc(&graph);
        desc.order_search = &search;
        search.work = allowed[k].moves;
        order = malloc(sizeof *order * (size_t)desc.variables);
        assert_non_null(order);
        assert_int_equal(gpuopt_elimination_order(context, &desc, order, NULL, NULL), GPUOPT_OK);
        c = order_cost_of(&desc, order);
        printf("%-20s log2 of the largest table %.0f, published %d; of the rows %.1f, published %.1f\n", known->name,
               log2(c.largest), (int)known->published, log2(c.rows), known->rows);
        assert_true(c.width >= 0 && log2(c.largest) <= known->published + allowed[k].more);
        assert_true(log2(c.rows) <= known->rows + 0.2);
        free(order);
        order_graph_free(&graph);
    }
    gpuopt_context_destroy(context);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(published)};
TEST_MAIN(tests)
