/* SPDX-License-Identifier: MIT
 *
 * Examines an MPS file before CLP reads it, and rewrites it if CLP would take it for another model.
 */
#ifndef EXAMPLES_IO_MPS_SCAN_H
#define EXAMPLES_IO_MPS_SCAN_H

#include <stddef.h>

enum {
    MPS_LINE = 158, /* CLP's cards are 160 bytes */
    MPS_WORDS = 24, /* names in fixed columns may have spaces */
    MPS_FIELD = 8   /* the longest name in fixed columns */
};

typedef struct mps_scan {
    int named;      /* there is a NAME card, without which CLP reads nothing */
    int free_named; /* and it says FREE */
    int ambiguous;  /* some line's fixed columns hold more than one word, or less than one */
    int free_valid; /* every line reads as free format */
    int sense;      /* from OBJSENSE, which CLP ignores or refuses: 1 max, -1 min; 0: there is none */
} mps_scan;

/* Bounds that cross, which CLP refuses; one card each. */
enum { MPS_CROSSINGS = 256 };
typedef struct mps_crossings {
    int count;
    struct {
        char card[MPS_LINE + 2], col[MPS_LINE + 2];
        int upper;
        double value;
    } bound[MPS_CROSSINGS];
} mps_crossings;

/* Both return 0, or -1 and the error: file, line where there is one, what is wrong. */
int mps_look_over(const char *path, mps_scan *result, char *error, size_t error_size);
/* Makes a copy that CLP reads correctly, without the crossing cards. `temporary` is mkstemp's pattern, and the
 * copy's name afterwards; on an error the copy is removed. */
int mps_rewrite(const char *path, const mps_scan *file, const mps_crossings *crossings, char *temporary, char *error,
                size_t error_size);

/* Notes a card that sets an upper or lower bound, and returns 1; 0: it is none, or there is no room. */
int mps_note_crossing(mps_crossings *crossings, const char *card);

#endif /* EXAMPLES_IO_MPS_SCAN_H */
