/* SPDX-License-Identifier: MIT
 *
 * Build: cc -O2 -I. tests/check/[a-z]*.c -lgmp -lm -o checker
 */

#include "tests/check/check.h"

int main(int argc, char **argv) {
    words answer;
    if (argc != 3) end(BAD_INPUT, "usage: checker MODEL ANSWER");
    answer = read_text(argv[2]);
    if (strcmp(need(&answer), "answer") || strcmp(need(&answer), "1")) end(BAD_INPUT, "%s: no answer", answer.path);
    need(&answer);
    if (is(&answer, "lp")) check_program(read_mps(argv[1]), &answer);
    if (is(&answer, "propagation")) check_propagation(read_mps(argv[1]), &answer);
    if (is(&answer, "elimination")) check_elimination(read_text(argv[1]), &answer);
    if (is(&answer, "knapsack")) check_knapsack(read_text(argv[1]), &answer);
    unknown(&answer);
}
