/* SPDX-License-Identifier: MIT
 *
 * The caller's own revised simplex method, with gpuopt_basis as the inverse: prices by BTRAN, solves for the entering
 * column by FTRAN, and updates the inverse after each pivot. Then it measures the drift, inverts the last basis again,
 * and shows that an update is refused if it would make the basis singular.
 *
 * Build, from the repository's root:
 *     cc -O2 -I. examples/steps/revised_simplex.c gpuopt_impl/gpuopt.c -lm -o revised_simplex
 */
#include "examples/steps/steps.h"
#include "gpuopt/search.h"

enum { M = 3, N = 6 }; /* rows; columns, of which the last M are slacks */

/* max 5 x + 4 y + 3 z;  2 x + 3 y + z <= 5,  4 x + y + 2 z <= 11,  3 x + 4 y + 2 z <= 8;  x, y, z >= 0
 * The optimum is 13, at (2, 0, 1); the duals (1, 0, 1) prove it. */
static const int64_t start[N + 1] = {0, 3, 6, 9, 10, 11, 12};
static const int32_t row[12] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
static const double value[12] = {2, 4, 3, 3, 1, 4, 1, 2, 2, 1, 1, 1}, cost[N] = {5, 4, 3}, b[M] = {5, 11, 8};

/* The reduced cost of column j with the duals y. */
static double reduced(int j, const double *y) {
    double d = cost[j];
    int64_t k;
    for (k = start[j]; k < start[j + 1]; k++) d -= y[row[k]] * value[k];
    return d;
}

/* FTRAN of column j, which the next update takes. */
static void enter(gpuopt_basis *basis, int j, double *alpha) {
    must(gpuopt_basis_ftran(basis, GPUOPT_HOST, (int32_t)(start[j + 1] - start[j]), row + start[j], value + start[j],
                            alpha));
}

/* Copies the columns of the basis into one matrix. */
static void gather(const int *head, int64_t *first, int32_t *index, double *entry) {
    int i;
    for (i = 0, first[0] = 0; i < M; i++) {
        int64_t count = start[head[i] + 1] - start[head[i]];
        memcpy(index + first[i], row + start[head[i]], (size_t)count * sizeof *index);
        memcpy(entry + first[i], value + start[head[i]], (size_t)count * sizeof *entry);
        first[i + 1] = first[i] + count;
    }
}

int main(int argc, char **argv) {
    gpuopt_basis_desc desc = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    gpuopt_basis_drift drift = GPUOPT_INIT(gpuopt_basis_drift);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    gpuopt_basis *basis = NULL;
    int head[M] = {3, 4, 5}, i, j, q, r, right; /* the basic column of each row: at first the slacks */
    double x[M], y[M], alpha[M], inverse[M * M], entry[M * M], best, objective = 0;
    int64_t first[M + 1];
    int32_t index[M * M];
    const gpuopt_matrix columns = {M, M, first, index, entry, GPUOPT_LAYOUT_CSC};

    open_context(argc, argv);
    desc.m = M;
    must(gpuopt_basis_create(context, &desc, &plan, &basis)); /* the identity: the slacks' inverse */
    printf("an inverse of %d rows takes %.0f bytes\n", M, (double)plan.host_bytes + (double)plan.device_bytes);
    memcpy(x, b, sizeof x);
    for (;;) {
        for (i = 0; i < M; i++) y[i] = cost[head[i]];
        must(gpuopt_basis_btran(basis, GPUOPT_HOST, -1, y, y)); /* -1: of a whole vector; y becomes the duals */
        for (j = 0, q = -1, best = 1e-9; j < N; j++)
            if (reduced(j, y) > best) best = reduced(q = j, y);
        if (q < 0) break; /* no column improves */
        enter(basis, q, alpha);
        for (i = 0, r = -1; i < M; i++) /* the ratio test */
            if (alpha[i] > 1e-9 && (r < 0 || x[i] / alpha[i] < x[r] / alpha[r])) r = i;
        if (r < 0) return finish(0); /* unbounded, which this program is not */
        must(gpuopt_basis_update(basis, GPUOPT_HOST, r, NULL, &info));
        best = x[r] / alpha[r];
        for (i = 0; i < M; i++) x[i] -= best * alpha[i];
        x[r] = best;
        printf("column %d enters for column %d\n", q, head[r]);
        head[r] = q;
    }
    right = near(y[0], 1) && near(y[1], 0) && near(y[2], 1);

    gather(head, first, index, entry);
    must(gpuopt_basis_get_info(basis, &info));
    must(gpuopt_basis_get_drift(basis, &columns, 1, &drift));
    printf("%d updates, drift %.1e\n", (int)info.updates, drift.norm);
    right = right && info.updates > 0 && drift.norm < 1e-12;

    must(gpuopt_basis_load(basis, &columns));                    /* inverts the basis again */
    must(gpuopt_basis_ftran(basis, GPUOPT_HOST, 0, NULL, b, x)); /* no list of rows: a dense vector */
    for (i = 0; i < M; i++) objective += cost[head[i]] * x[i];
    must(gpuopt_basis_get_inverse(basis, GPUOPT_HOST, inverse));
    must(gpuopt_basis_btran(basis, GPUOPT_HOST, 1, NULL, y)); /* row 1 of the inverse */
    for (i = 0; i < M; i++) right = right && near(y[i], inverse[M + i]);

    enter(basis, head[1], NULL); /* is in the basis already */
    right = right && gpuopt_basis_update(basis, GPUOPT_HOST, 0, NULL, &info) == GPUOPT_ERROR_NUMERIC;
    printf("refused: %s\n", gpuopt_context_last_error(context));
    must(gpuopt_basis_get_info(basis, &info));
    right = right && info.refused_position == 0 && info.updates == 0;

    printf("optimum %g\n", objective);
    gpuopt_basis_destroy(basis);
    return finish(right && near(objective, 13));
}
