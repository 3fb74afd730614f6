/* SPDX-License-Identifier: MIT
 *
 * The private part of the reader of MPS files: the data of a file so far, and how they become a model.
 */
#ifndef EXAMPLES_IO_MPS_READER_H
#define EXAMPLES_IO_MPS_READER_H

#include "examples/io/mip.h"
#include "examples/io/mps_scan.h"
#include "examples/io/names.h"

typedef enum mps_section { NO_SECTION, ROWS, COLUMNS, RHS, RANGES, BOUNDS, OBJSENSE, ENDATA } mps_section;

enum { OBJECTIVE = -1, DROPPED = -2 };

/* A row as it is declared; side and range as they come. */
typedef struct mps_row {
    int32_t index; /* in the model, OBJECTIVE or DROPPED */
    char kind;
    int has_side, has_range;
    double side, range;
    int32_t seen; /* the column that has mentioned it last, + 1 */
    long line;    /* that declares it */
} mps_row;

typedef struct mps_col {
    double lb, ub, cost;
    int has_bound, has_lower; /* there is a bound card; one has set lb */
    uint8_t integer;
    int64_t first; /* of its entries */
    long line;     /* that it begins on */
} mps_col;

typedef struct mps_reader {
    mps_text *t;
    int fixed; /* fixed format */
    /* Of free format: by its NAME; all lines so far may also be fixed format; the first one in which a field of fixed
     * format has a blank between other characters, 0: none. */
    int is_free, alike;
    long blank;
    mps_section in;
    int sense, integers, has_objective, has_name;
    names rows, cols; /* as in the file, without blanks around them */
    mps_row *row;     /* [rows.count] */
    mps_col *col;     /* [cols.count] */
    size_t row_capacity, col_capacity, entry_capacity;
    int64_t entries;
    int32_t *index; /* [entries] rows of the model */
    double *value;
    int32_t model_rows;
    double offset;
    char *set[BOUNDS + 1]; /* the name of the first set of a section; others are skipped */
} mps_reader;

int mps_out_of_memory(mps_reader *r);
int mps_not_understood(mps_reader *r);

/* The meaning of a line's words. All return 0, or -1 and the error; a word may be NULL. _count: 1 if the set, "" for
 * one without a name, is the first of its section, 0: another, which does not count. */
int mps_number(mps_reader *r, const char *word, int infinite, double *value);
int mps_take_row(mps_reader *r, const char *kind, const char *name);
int mps_take_column(mps_reader *r, const char *name); /* unless it is the latest one */
int mps_take_entry(mps_reader *r, const char *name, const char *word);
int mps_counts(mps_reader *r, const char *set);
int mps_take_side(mps_reader *r, const char *name, const char *word);
void mps_set_sides(const mps_row *row, double *lhs, double *rhs); /* from the data of the row so far */
int mps_bound_has_value(const char *kind); /* 1: it has, 0: it has none, -1: there is no such kind */
int mps_take_bound(mps_reader *r, const char *kind, const char *name, const char *word);

/* Makes the model when all lines are read, and takes the reader's arrays. After -1 the caller frees the incomplete
 * model. */
int mps_make_model(mps_reader *r, mip *model);
/* Whether two models with columns are the same but for names. */
int mps_same_model(const mip *a, const mip *b);

#endif /* EXAMPLES_IO_MPS_READER_H */
