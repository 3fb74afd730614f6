/* SPDX-License-Identifier: MIT
 *
 * Dissections. The number of open variables at a cut of a cell is compared with the least over all cuts, one by one.
 * Nested separators separate, and leave no part too large. Graphs of known width, with and without a budget, under any
 * numbering of their variables; also a graph that is too large for annealing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/elimination/graphs.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "gpuopt_impl/elimination/order/flow.h"

enum { SMALL = 13 };

typedef struct graph {
    int32_t vertices, edges;
    int64_t start[SMALL + 1];
    int32_t adjacent[SMALL * SMALL];
    uint32_t beside[SMALL];
} graph;

static void draw(uint64_t *seed, graph *g) {
    int32_t a, b, dense = (int32_t)test_random_int(seed, 1, 5);
    memset(g, 0, sizeof *g);
    g->vertices = (int32_t)test_random_int(seed, 2, SMALL);
    for (a = 0; a < g->vertices; a++)
        for (b = 0; b < a; b++)
            if (test_random_int(seed, 0, 9) < dense) {
                g->beside[a] |= (uint32_t)1 << b;
                g->beside[b] |= (uint32_t)1 << a;
            }
    for (a = 0; a < g->vertices; a++) {
        g->start[a] = g->edges;
        for (b = 0; b < g->vertices; b++)
            if (g->beside[a] >> b & 1) g->adjacent[g->edges++] = b;
    }
    g->start[g->vertices] = g->edges;
}

/* A dissection of a graph, with no limits; its memory is at the beginning of `block`. */
static gpuopt__elimination_flow flow_of(const graph *g, gpuopt__elimination_watch *watch, void **block) {
    gpuopt__elimination_flow f;
    gpuopt__arena arena = {NULL, 0};
    memset(&f, 0, sizeof f);
    memset(watch, 0, sizeof *watch);
    watch->seconds = f.end_at = HUGE_VAL;
    f.vertices = g->vertices;
    f.start = g->start;
    f.adjacent = g->adjacent;
    f.watch = watch;
    f.most_scans = INT64_MAX;
    f.look = INT64_MAX;
    gpuopt__elimination_flow_cut(&f, &arena);
    *block = malloc(arena.used);
    assert_non_null(*block);
    arena.base = (char *)*block;
    arena.used = 0;
    gpuopt__elimination_flow_cut(&f, &arena);
    return f;
}

static int32_t members(uint32_t set) {
    int32_t count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

/* Variables that are open once `gone` is eliminated. */
static int32_t open_after(const graph *g, uint32_t gone) {
    uint32_t around = 0;
    int32_t v;
    for (v = 0; v < g->vertices; v++)
        if (gone >> v & 1) around |= g->beside[v];
    return members(around & ~gone);
}

/* The least number of open vertices over all parts of a cell that contain all sources and no target, after the
 * elimination of `gone`. */
static int32_t least_open(const graph *g, uint32_t cell, uint32_t gone, uint32_t sources, uint32_t targets) {
    int32_t least = SMALL + 1;
    uint32_t set;
    for (set = cell;; set = (set - 1) & cell) {
        if ((set & sources) == sources && !(set & targets) && open_after(g, gone | set) < least)
            least = open_after(g, gone | set);
        if (!set) return least;
    }
}

/* The largest component without the vertices in `without`. */
static int32_t largest_part(const graph *g, uint32_t without) {
    uint32_t left = (((uint32_t)1 << g->vertices) - 1) & ~without;
    int32_t most = 0, v;
    while (left) {
        uint32_t part = left & (0 - left), before = 0;
        while (part != before) {
            before = part;
            for (v = 0; v < g->vertices; v++)
                if (part >> v & 1) part |= g->beside[v] & ~without;
        }
        left &= ~part;
        if (members(part) > most) most = members(part);
    }
    return most;
}

static uint32_t set_of(const int32_t *vertex, int32_t from, int32_t to) {
    uint32_t set = 0;
    for (; from < to; from++) set |= (uint32_t)1 << vertex[from];
    return set;
}

/* A cell in the middle of a random order: the first part contains the first vertices of the cell and not the last ones.
 * Of all such sets it leaves the fewest variables open. */
static void few_open(void **state) {
    uint64_t seed = 31;
    int32_t k, times = (int32_t)test_times(4000, 400);
    (void)state;
    for (k = 0; k < times; k++) {
        graph g;
        gpuopt__elimination_watch watch;
        gpuopt__elimination_flow f;
        void *block;
        uint32_t before, sources, targets, first, cell;
        int32_t v, count, least, order[SMALL];
        draw(&seed, &g);
        f = flow_of(&g, &watch, &block);
        draw_permutation(&seed, g.vertices, order);
        for (v = 0; v < g.vertices; v++) {
            f.place[v] = order[v];
            f.at[order[v]] = v;
        }
        f.begin = (int32_t)test_random_int(&seed, 0, g.vertices - 2);
        f.end = (int32_t)test_random_int(&seed, f.begin + 2, g.vertices);
        f.source = (int32_t)test_random_int(&seed, 1, (f.end - f.begin) / 2);
        if (k % 2) gpuopt__elimination_flow_ends(&f, f.place[f.begin]);
        before = set_of(f.place, 0, f.begin);
        cell = set_of(f.place, f.begin, f.end);
        sources = set_of(f.place, f.begin, f.begin + f.source);
        targets = set_of(f.place, f.end - f.source, f.end);
        count = gpuopt__elimination_flow_divide(&f);
        first = set_of(f.place, f.begin, f.begin + count);
        assert_int_equal(set_of(f.place, f.begin, f.end), cell);
        assert_int_equal(set_of(f.place, 0, g.vertices), ((uint32_t)1 << g.vertices) - 1);
        assert_true((first & sources) == sources && !(first & targets));
        least = least_open(&g, cell, before, sources, targets);
        if (open_after(&g, before | first) != least)
            fail_msg("%d: %d open, at least %d", (int)k, (int)open_after(&g, before | first), (int)least);
        free(block);
    }
}

/* Nested dissection: the separator is the smallest one between the ends, and no part is larger than the balance
 * allows. */
static void separators(void **state) {
    uint64_t seed = 32;
    int32_t k, times = (int32_t)test_times(4000, 400);
    (void)state;
    for (k = 0; k < times; k++) {
        graph g;
        gpuopt__elimination_watch watch;
        gpuopt__elimination_flow f;
        void *block;
        uint32_t all, sources, targets, set;
        int32_t count, cut;
        draw(&seed, &g);
        f = flow_of(&g, &watch, &block);
        f.nested = 1;
        gpuopt__elimination_flow_begin(&f);
        f.source = (int32_t)test_random_int(&seed, 1, g.vertices / 2);
        gpuopt__elimination_flow_ends(&f, (int32_t)test_random_int(&seed, 0, g.vertices - 1));
        all = ((uint32_t)1 << g.vertices) - 1;
        sources = set_of(f.place, 0, f.source);
        targets = set_of(f.place, g.vertices - f.source, g.vertices);
        count = gpuopt__elimination_flow_divide(&f);
        cut = gpuopt__elimination_flow_separate(&f, count);
        assert_int_equal(set_of(f.place, 0, g.vertices), all);
        assert_int_equal(cut, least_open(&g, all, 0, sources, targets));
        assert_true(largest_part(&g, set_of(f.place, g.vertices - cut, g.vertices)) <= g.vertices - f.source);
        for (set = set_of(f.place, count, g.vertices - cut); set; set &= set - 1) { /* nothing between the parts */
            int32_t v = 0;
            while (!(set >> v & 1)) v++;
            assert_int_equal(g.beside[v] & set_of(f.place, 0, count), 0);
        }
        free(block);
    }
}

/* Whole dissections: a permutation; and moving vertices forward leaves no step with more open vertices. */
static void permutations(void **state) {
    uint64_t seed = 33;
    int32_t k, times = (int32_t)test_times(2000, 200);
    (void)state;
    for (k = 0; k < times; k++) {
        graph g;
        gpuopt__elimination_watch watch;
        gpuopt__elimination_flow f;
        void *block;
        int32_t order[SMALL], most[2] = {0, 0}, turn, v;
        draw(&seed, &g);
        f = flow_of(&g, &watch, &block);
        f.nested = k % 3 == 0;
        gpuopt__elimination_flow_begin(&f);
        assert_true(gpuopt__elimination_flow_run(&f, (int32_t)test_random_int(&seed, 0, g.vertices - 1),
                                                 (int32_t)test_random_int(&seed, 1, 127)));
        assert_int_equal(set_of(f.place, 0, g.vertices), ((uint32_t)1 << g.vertices) - 1);
        draw_permutation(&seed, g.vertices, order);
        memcpy(f.place, order, sizeof(int32_t) * (size_t)g.vertices);
        gpuopt__elimination_flow_hasten(&f);
        assert_int_equal(set_of(f.place, 0, g.vertices), ((uint32_t)1 << g.vertices) - 1);
        for (turn = 0; turn < 2; turn++)
            for (v = 0; v < g.vertices; v++) {
                const int32_t count = open_after(&g, set_of(turn ? f.place : order, 0, v + 1));
                if (count > most[turn]) most[turn] = count;
            }
        assert_true(most[1] <= most[0]);
        free(block);
    }
}

/* A grid, with both diagonals of each square if `king`; its variables are numbered at random unless `in_rows`. */
static model grid(int32_t length, int king, int in_rows) {
    model m = graph_model(length * length, NULL);
    int32_t *number = malloc(sizeof *number * (size_t)(length * length)), k, j;
    uint64_t seed = 5;
    assert_non_null(number);
    for (k = 0; k < length * length; k++) {
        number[k] = k;
        if (in_rows) continue;
        j = (int32_t)test_random_int(&seed, 0, k);
        number[k] = number[j];
        number[j] = k;
    }
    for (k = 0; k < length * length; k++)
        for (j = 0; j < (king ? 4 : 2); j++) {
            static const int32_t right[4] = {1, 0, 1, -1}, down[4] = {0, 1, 1, 1};
            const int32_t column = k % length + right[j], row = k / length + down[j];
            int32_t edge[2];
            if (column < 0 || column >= length || row >= length) continue;
            edge[0] = number[k];
            edge[1] = number[row * length + column];
            graph_add(&m, 2, edge);
        }
    free(number);
    return m;
}

/* The treewidth of a square grid is its length; row by row, a King's graph has a width of one more. Without a budget,
 * and with a small one. The last graph's is 30 with as few moves as for a short elimination. */
static void known_widths(void **state) {
    static const struct {
        int32_t length, king, in_rows;
        int64_t work;
        int32_t most;
    } row[] = {
        {24, 0, 1, 0, 24},       {32, 0, 0, 0, 32}, {32, 0, 1, 0, 32}, {32, 0, 0, 1000000, 32}, {24, 1, 1, 0, 25},
        {24, 1, 0, 3000000, 25}, {91, 0, 1, 0, 91}, {91, 0, 0, 0, 95}, {24, 1, 0, 0, 28},
    };
    gpuopt_context *context = test_context(NULL);
    size_t k;
    (void)state;
    for (k = 0; k < sizeof row / sizeof *row; k += test_few() ? 4 : 1) {
        model m = grid(row[k].length, row[k].king, row[k].in_rows);
        gpuopt_elimination_desc desc = model_desc(&m);
        gpuopt_elimination_order_search search = GPUOPT_INIT(gpuopt_elimination_order_search);
        int32_t *order = malloc(sizeof *order * (size_t)m.variables);
        order_cost c;
        assert_non_null(order);
        desc.order_search = &search;
        search.work = row[k].work;
        c = order_search(context, &desc, order);
        if (c.width > row[k].most || (!row[k].king && c.width < row[k].length))
            fail_msg("graph %d: width %d", (int)k, (int)c.width);
        free(order);
        model_free(&m);
    }
    gpuopt_context_destroy(context);
}

/* Above 8192 variables: no memory, at any point. */
static void large_without_memory(void **state) {
    test_host host;
    gpuopt_context *context = test_context(&host);
    model m = grid(91, 0, 1);
    gpuopt_elimination_desc desc = model_desc(&m);
    int32_t *order = malloc(sizeof *order * (size_t)m.variables);
    const long live = host.live;
    long failed = 0;
    gpuopt_status status;
    (void)state;
    assert_non_null(order);
    do {
        order[0] = -7;
        host.fail_at = host.allocations + ++failed;
        status = gpuopt_elimination_order(context, &desc, order, NULL, NULL);
        assert_int_equal(host.live, live);
        if (status) assert_true(status == GPUOPT_ERROR_MEMORY && order[0] == -7);
    } while (status);
    host.fail_at = 0;
    assert_true(failed > 4);
    free(order);
    gpuopt_context_destroy(context);
    assert_int_equal(host.live, 0);
    model_free(&m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(few_open),     cmocka_unit_test(separators),           cmocka_unit_test(permutations),
    cmocka_unit_test(known_widths), cmocka_unit_test(large_without_memory),
};
TEST_MAIN(tests)
