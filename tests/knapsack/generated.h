/* SPDX-License-Identifier: MIT
 *
 * Knapsacks of the literature, as the examples generate them.
 */
#ifndef TESTS_KNAPSACK_GENERATED_H
#define TESTS_KNAPSACK_GENERATED_H

#include "tests/knapsack/models.h"

/* The model that examples/io/knapsack.h has under the formatted name, of MODEL_MOST items at most. */
model model_generated(const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;

#endif /* TESTS_KNAPSACK_GENERATED_H */
