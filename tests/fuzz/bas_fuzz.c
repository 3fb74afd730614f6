/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target over the reader of basis files. For any bytes, either there is an error that names the file, or
 * every variable of a small model has a status. In the latter case as many variables are basic as there are rows, and a
 * second reading gives the same. Nothing else is written.
 *
 * With: examples/io/bas.c examples/io/names.c examples/io/mps_scan.c examples/io/text.c -lz -llzma
 * Longest input: 1024
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif
#include "examples/io/bas.h"
#include "tests/fuzz/fuzz_file.h"

enum { COLS = 4, ROWS = 3, TEXT = 1 << 15 };

/* Words and lines instead of raw bytes, so that complete files arise. */
static size_t words(fuzz_bytes *b, char *text) {
    static const char *const word[] = {"\n",         "\n ",
                                       " ",          "\t",
                                       "NAME",       "ENDATA\n",
                                       "XU",         "XL",
                                       "UL",         "LL",
                                       "BS",         "FR",
                                       "a",          "b",
                                       "c d",        "XU1",
                                       "r",          "s",
                                       "t",          "3",
                                       "-1.5e9",     "_dummy_",
                                       "\r\n",       "*",
                                       "\x1c",       "0",
                                       "1",          "2",
                                       "4",          "# Columns 4\n",
                                       "Valid\n",    "# Rows 3\n",
                                       "HiGHS v1\n", "HiGHS_basis_file v2\n",
                                       "_",          "#"};
    static const char *const line[] = {" XU a r\n",   " XL b s\n",         " UL b\n",     " LL cd\n",
                                       " BS a\n",     " FR cd\n",          "a 1\n",       "b 0\n",
                                       "cd 2\n",      "XU1 3\n",           "r 1\n",       "s 1\n",
                                       "t 0\n",       "1 0 0 2\n",         "1 1 2\n",     "ENDATA\n",
                                       " XU a r 7\n", " UL b _dummy_ 3\n", " XL XU1 t\n", " BS b _dummy_ 0\n"};
    static const char *const head[] = {"NAME\n", "HiGHS v1\nValid\n# Columns 4\n",
                                       "HiGHS_basis_file v2\nValid\n# Columns 4\n", ""};
    size_t at = (size_t)sprintf(text, "%s", head[fuzz_take(b) % 4]);
    while (b->size > 0 && at < TEXT - 64) {
        unsigned tag = fuzz_take(b);
        if (tag < 140) at += (size_t)sprintf(text + at, "%s", line[tag % (sizeof line / sizeof *line)]);
        else at += (size_t)sprintf(text + at, "%s ", word[tag % (sizeof word / sizeof *word)]);
    }
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char text[TEXT], *cols[] = {"a", "b", "cd", "XU1", NULL}, *rows[] = {"r", "s", "t", NULL};
    fuzz_bytes b = {data, size};
    char path[32], error[300] = "", other[300] = "";
    int raw = fuzz_take(&b) % 4 == 0, file, failed, k, basic = 0;
    size_t length = raw ? b.size : words(&b, text);
    uint8_t status[COLS + ROWS + 1], again[COLS + ROWS + 1];
    mip model;
    memset(&model, 0, sizeof model);
    model.matrix.cols = COLS;
    model.matrix.rows = ROWS;
    model.col_name = cols;
    model.row_name = rows;
    memset(status, 77, sizeof status);
    memset(again, 77, sizeof again);
    file = fuzz_file(raw ? (const char *)b.data : text, length, path);
    failed = bas_read(path, &model, status, error, sizeof error);
    REQUIRE(bas_read(path, &model, again, other, sizeof other) == failed && strcmp(error, other) == 0);
    REQUIRE(status[COLS + ROWS] == 77);
    if (failed) {
        REQUIRE(strncmp(error, path, strlen(path)) == 0 && strlen(error) > strlen(path) + 2);
    } else {
        REQUIRE(memcmp(status, again, sizeof status) == 0);
        for (k = 0; k < COLS + ROWS; k++) {
            REQUIRE(status[k] <= GPUOPT_VARIABLE_AT_ZERO);
            basic += status[k] == GPUOPT_VARIABLE_BASIC;
        }
        REQUIRE(basic == ROWS);
    }
    close(file);
    return 0;
}
