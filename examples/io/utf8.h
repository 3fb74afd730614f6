/* SPDX-License-Identifier: MIT
 *
 * Text of files in messages and in JSON: unprintable bytes and bytes that are not UTF-8 are escaped. Needs only the C
 * library.
 */
#ifndef EXAMPLES_IO_UTF8_H
#define EXAMPLES_IO_UTF8_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of the character that a text begins with, or 0: it is no UTF-8. The text is ended by 0. */
static inline size_t utf8_length(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* longer forms are not allowed */
    size_t length = c[0] < 0x80 ? 1 : c[0] >> 5 == 6 ? 2 : c[0] >> 4 == 14 ? 3 : c[0] >> 3 == 30 ? 4 : 0, k;
    uint32_t code = length > 1 ? c[0] & (0x7Fu >> length) : c[0];
    for (k = 1; k < length; k++) {
        if ((c[k] & 0xC0) != 0x80) return 0;
        code = code << 6 | (c[k] & 0x3F);
    }
    return length && code >= least[length] && code <= 0x10FFFF && !(code >= 0xD800 && code < 0xE000) ? length : 0;
}

/* Bytes of the printable character at the start, or 0: its first byte must be escaped, as for the control characters
 * from U+0000 to U+001F and from U+007F to U+009F. */
static inline size_t utf8_printable(const char *text) {
    const unsigned char *c = (const unsigned char *)text;
    return c[0] < 0x20 || c[0] == 0x7F || (c[0] == 0xC2 && c[1] < 0xA0) ? 0 : utf8_length(text);
}

/* Writes \xNN in place of each unprintable byte of a text. Text beyond the size is cut off. */
static inline void utf8_escape(char *text, size_t size) {
    size_t length = strlen(text), at = 0, step;
    for (; text[at]; at += step) {
        char escaped[5];
        step = utf8_printable(text + at);
        if (step) continue;
        if (at + 5 > size) break;
        snprintf(escaped, sizeof escaped, "\\x%02X", (unsigned)(unsigned char)text[at]);
        if (length + 3 >= size) length = size - 4;
        memmove(text + at + 4, text + at + 1, length - at);
        memcpy(text + at, escaped, step = 4);
        length += 3;
        text[length] = 0;
    }
    text[at] = 0;
}

#endif /* EXAMPLES_IO_UTF8_H */
