/* SPDX-License-Identifier: MIT
 *
 * The reader of MPS files, compared with CLP's on random models in free format and in fixed columns. These have rows of
 * all kinds, ranges of both signs, integers between markers, bounds of all kinds in any order, dropped free rows, and a
 * constant.
 */
#define _XOPEN_SOURCE 700 /* mkstemp */

#include <coin/Clp_C_Interface.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "examples/io/mip.h"
#include "tests/support/support.h"

enum { MOST = 12 };

static double draw(uint64_t *random) { return (double)test_random_int(random, -999, 999) / 4; }

/* A data line: the six fields of fixed format, or the same words with a blank between them. */
static void put(FILE *file, int fixed, const char *type, const char *set, const char *name, double value) {
    if (fixed) fprintf(file, " %-2s %-8s  %-8s  %12.12g\n", type, set, name, value);
    else fprintf(file, " %s %s %s %.12g\n", type, set, name, value);
}

static void put_bounds(FILE *file, int fixed, int32_t cols, uint64_t *random) {
    static const char *const kinds[] = {"UP", "LO", "FX", "FR", "MI", "PL", "BV", "LI", "UI"};
    int32_t k;
    fprintf(file, "BOUNDS\n");
    for (k = 0; k < cols; k++) {
        char name[16];
        int kind = (int)test_random_int(random, 0, 17);
        sprintf(name, "C%d", (int)k);
        if (kind > 8) continue;
        put(file, fixed, kinds[kind], "BND", name, kind >= 7 ? floor(draw(random)) : draw(random));
        if (kind == 1 || kind == 7) put(file, fixed, "UP", "BND", name, 260 + draw(random) / 8);
    }
}

static void write_model(const char *path, int fixed, uint64_t *random) {
    FILE *file = fopen(path, "w");
    int32_t rows = (int32_t)test_random_int(random, 1, MOST), cols = (int32_t)test_random_int(random, 1, MOST), i, j;
    int integers = 0;
    char kind[MOST], name[16], row[16];
    assert_non_null(file);
    fprintf(file, fixed ? "NAME          M\nROWS\n N  COST\n" : "NAME M FREE\nROWS\n N COST\n");
    for (i = 0; i < rows; i++) {
        kind[i] = "NELGELG"[test_random_int(random, 0, 6)];
        fprintf(file, fixed ? " %c  R%d\n" : " %c R%d\n", kind[i], (int)i);
    }
    fprintf(file, "COLUMNS\n");
    for (j = 0; j < cols; j++) {
        sprintf(name, "C%d", (int)j);
        if (test_random_int(random, 0, 3) == 0) {
            integers = !integers;
            fprintf(file, fixed ? "    M%-7d  'MARKER'                 '%s'\n" : " M%d 'MARKER' '%s'\n", (int)j,
                    integers ? "INTORG" : "INTEND");
        }
        put(file, fixed, "", name, "COST", draw(random));
        for (i = 0; i < rows; i++) {
            double value = test_random_int(random, 0, 2) ? 0 : draw(random);
            sprintf(row, "R%d", (int)i);
            if (value < 0 || value > 0) put(file, fixed, "", name, row, value);
        }
    }
    fprintf(file, "RHS\n");
    put(file, fixed, "", "RHS", "COST", draw(random));
    for (i = 0; i < rows; i++) {
        sprintf(row, "R%d", (int)i);
        if (test_random_int(random, 0, 1) && kind[i] != 'N') put(file, fixed, "", "RHS", row, draw(random));
    }
    fprintf(file, "RANGES\n");
    for (i = 0; i < rows; i++) {
        sprintf(row, "R%d", (int)i);
        if (test_random_int(random, 0, 2) == 0 && kind[i] != 'N') put(file, fixed, "", "RNG", row, draw(random));
    }
    put_bounds(file, fixed, cols, random);
    fprintf(file, "ENDATA\n");
    assert_int_equal(fclose(file), 0);
}

static int same(double a, double b) {
    if (fabs(a) >= 1e20 || fabs(b) >= 1e20) return fabs(a) >= 1e20 && fabs(b) >= 1e20 && (a > 0) == (b > 0);
    return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

static const char *difference(const mip *m, Clp_Simplex *lp) {
    const CoinBigIndex *start = Clp_getVectorStarts(lp);
    const int *length = Clp_getVectorLengths(lp), *index = Clp_getIndices(lp);
    const double *value = Clp_getElements(lp);
    const char *integer = Clp_integerInformation(lp);
    char name[64];
    int32_t i, j, k;
    if (m->matrix.rows != Clp_numberRows(lp) || m->matrix.cols != Clp_numberColumns(lp)) return "sizes";
    if (!same(m->offset, -Clp_objectiveOffset(lp))) return "the constant";
    for (i = 0; i < m->matrix.rows; i++) {
        Clp_rowName(lp, i, name);
        if (strcmp(name, m->row_name[i])) return "a row's name";
        if (!same(m->lhs[i], Clp_rowLower(lp)[i]) || !same(m->rhs[i], Clp_rowUpper(lp)[i])) return "a row's sides";
    }
    for (j = 0; j < m->matrix.cols; j++) {
        const int64_t at = m->columns.start[j];
        Clp_columnName(lp, j, name);
        if (strcmp(name, m->col_name[j])) return "a column's name";
        if (!same(m->lb[j], Clp_columnLower(lp)[j]) || !same(m->ub[j], Clp_columnUpper(lp)[j])) return "bounds";
        if (!same(m->cost[j], Clp_objective(lp)[j])) return "a cost";
        if (m->integer[j] != (integer && integer[j])) return "integrality";
        if (m->columns.start[j + 1] - at != length[j]) return "the length of a column";
        for (k = 0; k < length[j]; k++)
            if (m->columns.index[at + k] != index[start[j] + k] || !same(m->columns.value[at + k], value[start[j] + k]))
                return "an entry";
    }
    return NULL;
}

static void as_clp_reads(void **state) {
    char path[] = "/tmp/gpuopt-reader-XXXXXX", error[300];
    int descriptor = mkstemp(path), k, compared = 0;
    (void)state;
    assert_true(descriptor >= 0);
    for (k = 0; k < 400; k++) {
        uint64_t random = (uint64_t)k + 1;
        Clp_Simplex *lp = Clp_newModel();
        const char *what;
        mip m;
        write_model(path, k % 2, &random);
        Clp_setLogLevel(lp, 0);
        if (mip_read_mps(path, &m, error, sizeof error)) fail_msg("%d: %s", k, error);
        if (Clp_readMps(lp, path, 1, 0)) { /* CLP refuses crossing bounds; they are still a model */
            int32_t j, crossed = 0;
            for (j = 0; j < m.matrix.cols; j++) crossed |= m.lb[j] > m.ub[j];
            assert_true(crossed);
        } else if ((what = difference(&m, lp)) != NULL) fail_msg("%d: %s", k, what);
        else compared++;
        mip_free(&m);
        Clp_deleteModel(lp);
    }
    assert_true(compared > 200);
    close(descriptor);
    unlink(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(as_clp_reads),
};
TEST_MAIN(tests)
