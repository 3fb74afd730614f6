/* SPDX-License-Identifier: MIT
 *
 * Build: cc -O2 -I. tests/check/[a-z]*.c -lgmp -lm -o checker
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check/check.h"

static _Noreturn void end(const char *head, const char *format, va_list arguments, int status) {
    fputs(head, stdout);
    vprintf(format, arguments);
    putchar('\n');
    exit(fflush(stdout) ? BAD_INPUT : status);
}

void refuse(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end("REFUSED: ", format, arguments, REFUSED);
}

void bad_input(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    end("BAD INPUT: ", format, arguments, BAD_INPUT);
}

int main(int argc, char **argv) {
    words answer = {0}, model = {0};
    int decimal = 0, k, result = BAD_INPUT;
    double tolerance = 1e-6;
    for (k = 1; k < argc && strncmp(argv[k], "--", 2) == 0; k++) {
        if (strcmp(argv[k], "--decimal") == 0) decimal = 1;
        else if (strncmp(argv[k], "--tolerance=", 12) == 0 && is_number(argv[k] + 12)) tolerance = atof(argv[k] + 12);
        else k = argc;
    }
    if (k + 2 != argc) {
        fputs("usage: checker [--decimal] [--tolerance=T] MODEL ANSWER\n", stderr);
        return BAD_INPUT;
    }
    model.path = argv[k];
    answer.path = argv[k + 1];
    answer.at = read_text(answer.path);
    if (strcmp(need(&answer), "answer") || strcmp(need(&answer), "1")) bad_input("%s: no answer", answer.path);
    need(&answer);
    if (is(&answer, "lp")) result = check_program(read_mps(model.path, decimal), &answer, tolerance);
    else if (is(&answer, "propagation")) result = check_propagation(read_mps(model.path, decimal), &answer);
    else model.at = read_text(model.path);
    if (is(&answer, "elimination")) result = check_elimination(&model, &answer);
    else if (is(&answer, "knapsack")) result = check_knapsack(&model, &answer);
    else if (model.at) unknown(&answer);
    return fflush(stdout) ? BAD_INPUT : result;
}
