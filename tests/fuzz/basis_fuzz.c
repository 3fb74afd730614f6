/* SPDX-License-Identifier: MIT
 *
 * A libFuzzer target for basis inverses: the input's bytes become a technique and calls in any order on two handles.
 * The following must hold:
 *
 *   B, kept as a plain matrix of integers, times the inverse that the handle reports is the identity;
 *   FTRAN and BTRAN solve with B; _load is refused exactly if B is singular, by elimination in integers;
 *   a second handle with only the accepted calls has the same inverse to the bit;
 *   steps allocate nothing that lasts, and nothing leaks.
 *
 * Longest input: 400
 */
#include <math.h>

#include "tests/fuzz/fuzz.h"

enum { MOST = 5, OPERATIONS = 24 };

typedef struct fuzz {
    fuzz_bytes bytes;
    fuzz_host host;
    gpuopt_context *context;
    gpuopt_basis *handle[2];
    int m;
    int b[MOST][MOST];     /* rows of B */
    int entering[MOST];    /* of the latest FTRAN */
    int has_entering;      /* there was one since the latest load or update */
    int64_t updates;       /* since the latest load */
    double largest_update; /* 1 / the smallest pivot used since the latest load: a measure of the growth of rounding */
} fuzz;

static unsigned take(fuzz *f) { return fuzz_take(&f->bytes); }
static int whole(fuzz *f) { return (int)(take(f) % 13) - 6; }

/* The determinant of whole numbers of at most 6, 5 x 5: at most 6^5 5! < 2^20 (Bareiss). */
static int64_t determinant(const fuzz *f, int b[MOST][MOST]) {
    int64_t a[MOST][MOST], last = 1, sign = 1, swap;
    int i, j, k, p;
    for (i = 0; i < f->m; i++)
        for (j = 0; j < f->m; j++) a[i][j] = b[i][j];
    for (k = 0; k < f->m; k++) {
        for (p = k; p < f->m && a[p][k] == 0; p++) continue;
        if (p == f->m) return 0;
        for (j = 0; p != k && j < f->m; j++) swap = a[k][j], a[k][j] = a[p][j], a[p][j] = swap;
        if (p != k) sign = -sign;
        for (i = k + 1; i < f->m; i++)
            for (j = f->m - 1; j > k; j--) a[i][j] = (a[k][k] * a[i][j] - a[i][k] * a[k][j]) / last;
        last = a[k][k];
    }
    return sign * last;
}

static double tolerance(const fuzz *f) { return 1e-10 * f->largest_update * f->largest_update; }

static void check(fuzz *f) {
    double inverse[2][MOST * MOST] = {{0}};
    gpuopt_basis_info info[2] = {GPUOPT_INIT(gpuopt_basis_info), GPUOPT_INIT(gpuopt_basis_info)};
    int i, j, k, r;
    for (r = 0; r < 2; r++) {
        REQUIRE(gpuopt_basis_get_info(f->handle[r], &info[r]) == GPUOPT_OK);
        REQUIRE(info[r].updates == f->updates && info[r].refused_position >= -1 && info[r].refused_position < f->m);
    }
    REQUIRE(info[0].pending == info[1].pending && info[0].pending <= info[0].deferred_updates);
    for (r = 0; r < 2; r++) REQUIRE(gpuopt_basis_get_inverse(f->handle[r], GPUOPT_HOST, inverse[r]) == GPUOPT_OK);
    REQUIRE(memcmp(inverse[0], inverse[1], sizeof inverse[0]) == 0);
    for (i = 0; i < f->m; i++)
        for (j = 0; j < f->m; j++) {
            double sum = -(i == j);
            for (k = 0; k < f->m; k++) sum += inverse[0][i * f->m + k] * f->b[k][j];
            REQUIRE(fabs(sum) <= tolerance(f));
        }
}

/* ---- Calls ---- */

static void call_load(fuzz *f) {
    int b[MOST][MOST] = {{0}}, i, j, kind = (int)(take(f) % 4);
    int64_t start[MOST + 1] = {0};
    int32_t index[MOST * MOST];
    double value[MOST * MOST];
    gpuopt_matrix columns = {f->m, f->m, start, index, value, GPUOPT_LAYOUT_CSC};
    gpuopt_status status;
    for (i = 0; i < f->m; i++) b[i][i] = 1;
    for (j = 0; j < f->m; j++) {
        start[j + 1] = start[j];
        for (i = 0; i < f->m; i++) {
            if (kind) b[i][j] = take(f) & 1 ? whole(f) : kind == 1 && i == j ? 3 : 0;
            if (b[i][j] == 0) continue;
            index[start[j + 1]] = i;
            value[start[j + 1]++] = b[i][j];
        }
    }
    status = gpuopt_basis_load(f->handle[0], kind ? &columns : NULL);
    REQUIRE(status == (determinant(f, b) ? GPUOPT_OK : GPUOPT_ERROR_NUMERIC));
    if (status) return;
    REQUIRE(gpuopt_basis_load(f->handle[1], kind ? &columns : NULL) == GPUOPT_OK);
    memcpy(f->b, b, sizeof b);
    f->has_entering = 0;
    f->updates = 0;
    f->largest_update = 1;
}

/* B x = rhs, or B' y = c, for the whole numbers given. */
static void check_solution(const fuzz *f, const double *x, const int *rhs, int transposed) {
    int i, k;
    for (i = 0; i < f->m; i++) {
        double sum = -rhs[i];
        for (k = 0; k < f->m; k++) sum += (transposed ? f->b[k][i] : f->b[i][k]) * x[k];
        REQUIRE(fabs(sum) <= 100 * tolerance(f));
    }
}

static void call_ftran(fuzz *f) {
    double rhs[MOST], x[2][MOST] = {{0}}, value[MOST];
    int32_t row[MOST], count = 0;
    int i, r, sparse = take(f) & 1, bad = take(f) % 8 == 0;
    int entering[MOST];
    for (i = 0; i < f->m; i++) {
        rhs[i] = entering[i] = whole(f);
        if (entering[i]) row[count] = i, value[count++] = rhs[i];
    }
    if (bad && f->m) { /* refused: not finite, or out of range */
        rhs[0] = NAN;
        row[0] = f->m;
        value[0] = 1;
        REQUIRE((sparse ? gpuopt_basis_ftran(f->handle[0], GPUOPT_HOST, 1, row, value, x[0])
                        : gpuopt_basis_ftran(f->handle[0], GPUOPT_HOST, 0, NULL, rhs, x[0])) == GPUOPT_ERROR_ARGUMENT);
        return;
    }
    for (r = 0; r < 2; r++)
        REQUIRE((sparse ? gpuopt_basis_ftran(f->handle[r], GPUOPT_HOST, count, row, value, x[r])
                        : gpuopt_basis_ftran(f->handle[r], GPUOPT_HOST, 0, NULL, rhs, x[r])) == GPUOPT_OK);
    REQUIRE(memcmp(x[0], x[1], sizeof x[0]) == 0);
    check_solution(f, x[0], entering, 0);
    memcpy(f->entering, entering, sizeof entering);
    f->has_entering = 1;
}

static void call_btran(fuzz *f) {
    double c[MOST], y[MOST] = {0}, row[MOST] = {0};
    int i, k, rhs[MOST];
    int32_t position = (int32_t)(take(f) % (MOST + 1));
    for (i = 0; i < f->m; i++) c[i] = rhs[i] = whole(f);
    REQUIRE(gpuopt_basis_btran(f->handle[0], GPUOPT_HOST, -1, c, y) == GPUOPT_OK);
    check_solution(f, y, rhs, 1);
    REQUIRE(gpuopt_basis_btran(f->handle[0], GPUOPT_HOST, position, NULL, row) ==
            (position < f->m ? GPUOPT_OK : GPUOPT_ERROR_ARGUMENT));
    for (k = 0; position < f->m && k < f->m; k++) {
        double sum = -(k == position);
        for (i = 0; i < f->m; i++) sum += row[i] * f->b[i][k];
        REQUIRE(fabs(sum) <= tolerance(f));
    }
}

static void call_update(fuzz *f) {
    int32_t position = (int32_t)(take(f) % (MOST + 1));
    gpuopt_basis_info info = GPUOPT_INIT(gpuopt_basis_info);
    int b[MOST][MOST], i, own = take(f) & 1;
    int64_t before, after;
    double alpha[MOST];
    gpuopt_status status;
    for (i = 0; i < f->m; i++) alpha[i] = NAN;
    if (own && f->m) REQUIRE(gpuopt_basis_update(f->handle[0], GPUOPT_HOST, 0, alpha, &info) == GPUOPT_ERROR_ARGUMENT);
    status = gpuopt_basis_update(f->handle[0], GPUOPT_HOST, position, NULL, &info);
    if (position >= f->m) {
        REQUIRE(status == GPUOPT_ERROR_ARGUMENT);
        return;
    }
    if (!f->has_entering) {
        REQUIRE(status == GPUOPT_ERROR_STATE);
        return;
    }
    before = determinant(f, f->b);
    memcpy(b, f->b, sizeof b);
    for (i = 0; i < f->m; i++) b[i][position] = f->entering[i];
    after = determinant(f, b); /* the pivot is after / before: integers, so far from the tolerance or 0 */
    if (after == 0 && f->updates == 0 && f->m == 1) REQUIRE(status == GPUOPT_ERROR_NUMERIC);
    if (status) {
        REQUIRE(status == GPUOPT_ERROR_NUMERIC && after == 0);
        REQUIRE(gpuopt_basis_get_info(f->handle[0], &info) == GPUOPT_OK && info.refused_position == position);
        return;
    }
    REQUIRE(gpuopt_basis_update(f->handle[1], GPUOPT_HOST, position, NULL, &info) == GPUOPT_OK);
    f->has_entering = 0;
    f->updates++;
    memcpy(f->b, b, sizeof b);
    if (after == 0) { /* rounding hid that: the inverse means nothing; a fresh start */
        int r;
        for (r = 0; r < 2; r++) REQUIRE(gpuopt_basis_load(f->handle[r], NULL) == GPUOPT_OK);
        memset(f->b, 0, sizeof f->b);
        for (i = 0; i < f->m; i++) f->b[i][i] = 1;
        f->updates = 0;
        f->largest_update = 1;
        return;
    }
    f->largest_update *= fmax(1, fabs((double)before / (double)after));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const calls[])(fuzz *) = {call_load, call_ftran, call_ftran, call_btran, call_update, call_update};
    fuzz f;
    gpuopt_basis_desc d = GPUOPT_INIT(gpuopt_basis_desc);
    gpuopt_memory_plan plan = GPUOPT_INIT(gpuopt_memory_plan);
    uint64_t before;
    int n, k;
    memset(&f, 0, sizeof f);
    f.bytes.data = data;
    f.bytes.size = size;
    f.context = fuzz_context(&f.host);
    f.m = d.m = (int32_t)(take(&f) % (MOST + 1));
    f.largest_update = 1;
    d.technique = (gpuopt_basis_technique)(take(&f) % 7);
    d.deferred_updates = (int32_t)(take(&f) % 5);
    for (k = 0; k < 2; k++) {
        before = f.host.live;
        REQUIRE(gpuopt_basis_create(f.context, &d, &plan, NULL) == GPUOPT_OK);
        REQUIRE(gpuopt_basis_create(f.context, &d, NULL, &f.handle[k]) == GPUOPT_OK);
        REQUIRE(f.host.live == before + plan.host_bytes);
    }
    for (k = 0; k < f.m; k++) f.b[k][k] = 1;
    before = f.host.live;
    for (n = 0; n < OPERATIONS && f.bytes.size; n++) {
        calls[take(&f) % 6](&f);
        REQUIRE(f.host.live == before);
        if (take(&f) & 1) check(&f); /* which applies pending updates */
    }
    check(&f);
    for (k = 0; k < 2; k++) gpuopt_basis_destroy(f.handle[k]);
    fuzz_context_end(f.context, &f.host);
    return 0;
}
