/* SPDX-License-Identifier: MIT
 *
 * Shared by the libFuzzer targets for readers of files.
 */
#ifndef TESTS_FUZZ_FUZZ_FILE_H
#define TESTS_FUZZ_FUZZ_FILE_H

#ifndef _GNU_SOURCE
#error "_GNU_SOURCE has to be defined before the first header: memfd_create"
#endif
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

/* Makes an open file of that text, without a name of its own except path. */
static inline int fuzz_file(const char *text, size_t size, char path[32]) {
    int file = memfd_create("fuzz", 0);
    REQUIRE(file >= 0);
    REQUIRE(write(file, text, size) == (ssize_t)size);
    sprintf(path, "/proc/self/fd/%d", file);
    return file;
}

/* An error names the file, a line, a column, and the fault. */
static inline void fuzz_check_error(const char *path, const char *error) {
    long long line = 0, column = 0;
    int read = 0;
    REQUIRE(strncmp(error, path, strlen(path)) == 0);
    REQUIRE(sscanf(error + strlen(path), ":%lld:%lld: %n", &line, &column, &read) == 2 && read > 0);
    REQUIRE(line >= 1 && column >= 1 && error[strlen(path) + (size_t)read]);
}

#endif /* TESTS_FUZZ_FUZZ_FILE_H */
