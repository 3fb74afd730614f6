/* SPDX-License-Identifier: MIT
 *
 * The models of paper 1: public ones, and generated ones for the sets in which there are few, and their permutations.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/papers/propagation.h"

/* rand: random columns; skew: also long rows and columns; band: consecutive columns. */
static const char *const generated[] = {"gen:rand,160000,160000,10,1",   "gen:rand,400000,400000,10,1",
                                        "gen:skew,400000,400000,10,1",   "gen:band,500000,8,1",
                                        "gen:rand,1000000,1000000,10,1", "gen:skew,1000000,1000000,10,1",
                                        "gen:band,2000000,8,1",          NULL};
static const char *const generated_quick[] = {
    "gen:rand,1000,1000,10,1",    "gen:skew,10000,10000,4,1", "gen:rand,20000,20000,3,1",
    "gen:band,40000,4,1",         "gen:rand,80000,80000,2,1", "gen:band,160000,3,1",
    "gen:rand,320000,320000,2,1", "gen:band,640000,2,1",      NULL};
enum { QUICK_BYTES = 40000 }; /* of a packed public model */

int propagation_models(const paper *p, char (*name)[NAME], int most) {
    const char *const *next = p->quick ? generated_quick : generated;
    char pattern[4096];
    glob_t found;
    int count = 0;
    if (p->data) {
        snprintf(pattern, sizeof pattern, "%s/miplib/*.mps.xz", p->data);
        if (glob(pattern, 0, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc && count < most; k++) {
                struct stat file;
                if (p->quick && (stat(found.gl_pathv[k], &file) || file.st_size > QUICK_BYTES)) continue;
                if (strlen(found.gl_pathv[k]) < NAME) strcpy(name[count++], found.gl_pathv[k]);
            }
            globfree(&found);
        }
    }
    if (count == 0) printf("Public models are left out: there is no folder of them.\n");
    for (; *next && count < most; next++) snprintf(name[count++], NAME, "%s", *next);
    return count;
}

int propagation_set(const mip *model) {
    int32_t size = model->matrix.rows > model->matrix.cols ? model->matrix.rows : model->matrix.cols, least = 10000;
    int set = 1;
    if (size < 1000) return 0;
    for (; set < SETS - 1 && size >= least; set++) least *= 2;
    return set;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void shuffle(int32_t *order, int32_t count, uint64_t *state) {
    for (int32_t k = 0; k < count; k++) order[k] = k;
    for (int32_t k = count - 1; k > 0; k--) {
        int32_t other = (int32_t)(draw(state) % (uint64_t)(k + 1)), swapped = order[k];
        order[k] = order[other];
        order[other] = swapped;
    }
}

static void *take(size_t count, size_t size) {
    void *memory = malloc((count + 1) * size);
    if (!memory) abort();
    return memory;
}

mip propagation_permuted(const mip *model, uint64_t seed, int32_t *column) {
    const gpuopt_matrix *a = &model->matrix;
    size_t rows = (size_t)a->rows, cols = (size_t)a->cols, nonzeros = (size_t)a->start[a->rows];
    int32_t *row = take(rows, sizeof *row), *index = take(nonzeros, sizeof *index);
    int64_t *start = take(rows, sizeof *start), used = 0;
    double *value = take(nonzeros, sizeof *value);
    mip p;
    memset(&p, 0, sizeof p);
    p.matrix = *a;
    p.lhs = take(rows, sizeof(double));
    p.rhs = take(rows, sizeof(double));
    p.lb = take(cols, sizeof(double));
    p.ub = take(cols, sizeof(double));
    p.integer = take(cols, 1);
    shuffle(row, a->rows, &seed);
    shuffle(column, a->cols, &seed);
    for (int32_t j = 0; j < a->cols; j++) {
        p.lb[column[j]] = model->lb[j];
        p.ub[column[j]] = model->ub[j];
        p.integer[column[j]] = model->integer[j];
    }
    for (int32_t i = 0; i < a->rows; i++) {
        p.lhs[i] = model->lhs[row[i]];
        p.rhs[i] = model->rhs[row[i]];
        start[i] = used;
        for (int64_t k = a->start[row[i]]; k < a->start[row[i] + 1]; k++, used++) {
            index[used] = column[a->index[k]];
            value[used] = a->value[k];
        }
    }
    start[a->rows] = used;
    free(row);
    p.matrix.start = start;
    p.matrix.index = index;
    p.matrix.value = value;
    return p;
}
