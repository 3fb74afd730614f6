/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "examples/io/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include "examples/io/utf8.h"

typedef struct buffer {
    char *text;
    size_t size, capacity;
} buffer;

/* Reserves memory for more bytes and a 0 behind them. Returns how many, at most 2^30; 0: out of memory. */
static size_t more(buffer *b) {
    size_t left = b->capacity - b->size;
    if (left <= 1) {
        size_t capacity = b->capacity ? 2 * b->capacity : (size_t)1 << 16;
        char *text = b->capacity <= SIZE_MAX / 2 ? realloc(b->text, capacity) : NULL;
        if (!text) return 0;
        b->text = text;
        b->capacity = capacity;
        left = capacity - b->size;
    }
    return left - 1 < (size_t)1 << 30 ? left - 1 : (size_t)1 << 30;
}

static const char damaged[] = "cannot be read further (damaged or truncated compression?)";

/* Both return NULL, or the fault. This one reads a file that gzip has compressed, or any other unchanged. */
static const char *read_file(gzFile file, buffer *b) {
    size_t capacity;
    int got = 1, code;
    while (got > 0) {
        if (!(capacity = more(b))) return "out of memory";
        got = gzread(file, b->text + b->size, (unsigned)capacity);
        if (got > 0) b->size += (size_t)got;
    }
    gzerror(file, &code);
    if (got < 0 && code == Z_ERRNO) return strerror(errno); /* for example, a folder */
    return got < 0 || (code != Z_OK && code != Z_STREAM_END) ? damaged : NULL;
}

static const char *unpack_xz(const buffer *packed, buffer *b) {
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret code = lzma_stream_decoder(&stream, UINT64_MAX, LZMA_CONCATENATED);
    stream.next_in = (const uint8_t *)packed->text;
    stream.avail_in = packed->size;
    while (code == LZMA_OK) {
        size_t capacity = more(b);
        if (!capacity) code = LZMA_MEM_ERROR;
        if (code != LZMA_OK) break;
        stream.next_out = (uint8_t *)b->text + b->size;
        stream.avail_out = capacity;
        code = lzma_code(&stream, LZMA_FINISH);
        b->size += capacity - stream.avail_out;
    }
    lzma_end(&stream);
    return code == LZMA_STREAM_END ? NULL : code == LZMA_MEM_ERROR ? "out of memory" : damaged;
}

char *text_read(const char *path, size_t *size, char *error, size_t error_size) {
    buffer b = {NULL, 0, 0}, unpacked = {NULL, 0, 0};
    static const unsigned char xz[] = {0xFD, '7', 'z', 'X', 'Z', 0};
    const char *fault;
    gzFile file;
    errno = 0;
    file = strcmp(path, "-") == 0 ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path, "rb");
    if (!file) {
        snprintf(error, error_size, "%s: cannot be opened: %s", path, errno ? strerror(errno) : "out of memory");
        utf8_escape(error, error_size);
        return NULL;
    }
    fault = read_file(file, &b);
    gzclose(file);
    if (!fault && b.size >= sizeof xz && memcmp(b.text, xz, sizeof xz) == 0) {
        fault = unpack_xz(&b, &unpacked);
        free(b.text);
        b = unpacked;
    }
    if (fault) {
        snprintf(error, error_size, "%s: %s%s", path, fault == damaged ? "" : "cannot be read: ", fault);
        utf8_escape(error, error_size);
        free(b.text);
        return NULL;
    }
    b.text[b.size] = 0;
    *size = b.size;
    return b.text;
}
