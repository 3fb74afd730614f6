/* SPDX-License-Identifier: MIT
 *
 * Build: cc -O2 -I. tests/check/[a-z]*.c -lgmp -lm -o checker
 */

#include "tests/check/check.h"

int main(int argc, char **argv) {
    words answer = {.line = 1}, model = {.line = 1};
    if (argc != 3) {
        fputs("usage: checker MODEL ANSWER\n", stderr);
        return BAD_INPUT;
    }
    model.path = argv[1];
    answer.path = argv[2];
    answer.at = read_text(answer.path);
    if (strcmp(need(&answer), "answer") || strcmp(need(&answer), "1")) end(BAD_INPUT, "%s: no answer", answer.path);
    need(&answer);
    if (is(&answer, "lp")) check_program(read_mps(model.path), &answer);
    if (is(&answer, "propagation")) check_propagation(read_mps(model.path), &answer);
    model.at = read_text(model.path);
    if (is(&answer, "elimination")) check_elimination(&model, &answer);
    if (is(&answer, "knapsack")) check_knapsack(&model, &answer);
    unknown(&answer);
}
