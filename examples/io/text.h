/* SPDX-License-Identifier: MIT
 *
 * A whole text file in memory, for the readers of models.
 */
#ifndef EXAMPLES_IO_TEXT_H
#define EXAMPLES_IO_TEXT_H

#include <stddef.h>

/* Reads a file to its end, so a pipe works, too; the path - is standard input. Data compressed by gzip or xz are
 * unpacked, for any file name. Returns the text with a 0 behind it, which the caller frees, and its size; or NULL and
 * the error: the path and the fault. */
char *text_read(const char *path, size_t *size, char *error, size_t error_size);

#endif /* EXAMPLES_IO_TEXT_H */
