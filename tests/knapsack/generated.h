/* SPDX-License-Identifier: MIT
 *
 * The instances of the literature, as the examples generate them.
 */
#ifndef TESTS_KNAPSACK_GENERATED_H
#define TESTS_KNAPSACK_GENERATED_H

#include "tests/knapsack/models.h"

/* The model that examples/io/knapsack.h generates for the formatted name, with at most MODEL_MOST items. */
model model_generated(const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#endif /* TESTS_KNAPSACK_GENERATED_H */
