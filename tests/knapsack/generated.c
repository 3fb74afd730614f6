/* SPDX-License-Identifier: MIT */
#include "tests/knapsack/generated.h"

#include <stdio.h>
#include <string.h>

#include "examples/io/knapsack.h"

model model_generated(const char *format, ...) {
    knapsack_model from;
    model m;
    char name[64], error[256];
    size_t bytes;
    va_list values;
    va_start(values, format);
    vsnprintf(name, sizeof name, format, values);
    va_end(values);
    if (knapsack_load(name, &from, error, sizeof error)) fail_msg("%s", error);
    assert_true(from.items <= MODEL_MOST);
    memset(&m, 0, sizeof m);
    m.items = from.items;
    m.capacity = from.capacity;
    bytes = (size_t)from.items * sizeof(int64_t);
    memcpy(m.weight, from.weight, bytes);
    memcpy(m.profit, from.profit, bytes);
    knapsack_free(&from);
    return m;
}
