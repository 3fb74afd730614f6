/* SPDX-License-Identifier: MIT
 *
 * Paper 1, section 3.6: how the shape of A alone changes the time of a round. The paper argues this without numbers.
 */
#include <stdlib.h>

#include "tests/papers/propagation.h"

static void print_shape(const paper *p, table *t, int rows, int cols, int length) {
    char name[NAME], error[512];
    mip model;
    double nonzeros;
    snprintf(name, sizeof name, "gen:rand,%d,%d,%d,1", rows, cols, length);
    if (mip_load(name, &model, error, sizeof error)) {
        fprintf(stderr, "%s: %s\n", p->name, error);
        exit(EXIT_FAILED);
    }
    nonzeros = (double)mip_nonzeros(&model);
    table_text(t, "%d", rows);
    table_text(t, "%d", cols);
    table_text(t, "%.0f", nonzeros);
    table_number(t, nonzeros / rows);
    table_number(t, nonzeros / cols);
    table_number(t, 1e6 * propagation_quiet(p->one, &model));
    table_number(t, 1e6 * propagation_quiet(p->all, &model));
    table_number(t, 1e6 * propagation_quiet(p->gpu, &model));
    mip_free(&model);
}

void propagation_shapes(const paper *p) {
    const int nonzeros = p->quick ? 100000 : 1000000, middle = nonzeros / 10;
    table t;
    table_start(
        &t, p, "paper1_shapes",
        "Section 3.6. A full round that changes nothing, us, for the same number of nonzeros (but for repeated "
        "entries, which are dropped): first with more and shorter rows, then with more and shorter columns. GPU: "
        "HOST. The paper has no numbers; it expects short rows and short columns to be faster.",
        "rows|columns|nonzeros|entries a row|entries a column|1 thread|threads|GPU");
    for (int length = 1000; length >= 1; length /= 10) print_shape(p, &t, nonzeros / length, middle, length);
    for (int cols = middle / 100; cols <= 10 * middle; cols *= 10) print_shape(p, &t, middle, cols, 10);
    table_end(&t);
}
