/* SPDX-License-Identifier: MIT */
#include "tests/simplex/verdict_models.h"

#include <gmp.h>
#include <math.h>

#include "tests/simplex/answer.h"

int verdict_chance(uint64_t *seed, int one_in) { return test_random_int(seed, 1, one_in) == 1; }

static double draw_wide(uint64_t *seed, int spread) {
    return (double)test_random_int(seed, -9999, 9999) / 1000 * pow(10, (double)test_random_int(seed, -spread, spread));
}

/* A number of the model's kind around its scale; `most` for integers. */
static double draw(uint64_t *seed, enum kind kind, int spread, int most) {
    return kind == WIDE ? draw_wide(seed, spread) : (double)test_random_int(seed, -most, most);
}

/* Later rows become sums of earlier ones, in which some entries are off by a few eps. */
static void make_dependent(uint64_t *seed, drawn *d) {
    double eps = pow(10, (double)test_random_int(seed, -9, -3));
    int32_t i, j;
    for (i = 1; i < d->rows; i++) {
        int32_t one = (int32_t)test_random_int(seed, 0, i - 1), other = (int32_t)test_random_int(seed, 0, i - 1);
        double factor = (double)test_random_int(seed, -1, 1);
        if (verdict_chance(seed, 3)) continue;
        for (j = 0; j < d->cols; j++) {
            d->a[i * d->cols + j] = d->a[one * d->cols + j] + factor * d->a[other * d->cols + j];
            if (verdict_chance(seed, 3)) d->a[i * d->cols + j] += eps * (double)test_random_int(seed, -3, 3);
        }
    }
}

/* Neighbours of the exact value of a row at the point: the first is not above it, the second not below. */
static void exact_activity(const double *row, const double *point, int32_t cols, double *down, double *up) {
    mpq_t sum, a, x;
    int32_t j;
    int sign;
    mpq_inits(sum, a, x, NULL);
    for (j = 0; j < cols; j++) {
        mpq_set_d(a, row[j]);
        mpq_set_d(x, point[j]);
        mpq_mul(a, a, x);
        mpq_add(sum, sum, a);
    }
    *down = *up = mpq_get_d(sum); /* towards 0 */
    mpq_set_d(x, *down);
    sign = mpq_cmp(x, sum);
    if (sign < 0) *up = nextafter(*up, HUGE_VAL);
    if (sign > 0) *down = nextafter(*down, -HUGE_VAL);
    mpq_clears(sum, a, x, NULL);
}

void verdict_draw(uint64_t *seed, enum kind kind, drawn *d) {
    int large = verdict_chance(seed, 10), spread = kind == WIDE ? (int)test_random_int(seed, 5, 9) : 0;
    int percent = (int)test_random_int(seed, 30, 100), planted = !verdict_chance(seed, 4);
    double point[MOST];
    int32_t i, j;
    d->rows = (int32_t)test_random_int(seed, 1, large ? MOST : 7);
    d->cols = (int32_t)test_random_int(seed, 1, large ? 15 : 8);
    for (j = 0; j < d->cols; j++) {
        int form = (int)test_random_int(seed, 0, 6);
        double down = fabs(draw(seed, kind, spread, 5)), up = fabs(draw(seed, kind, spread, 5));
        point[j] =
            kind == WIDE && verdict_chance(seed, 2) ? draw_wide(seed, spread) : (double)test_random_int(seed, -3, 3);
        d->cost[j] = draw(seed, kind, spread, 5);
        d->lb[j] = form == 1 || form == 4 ? -no_bound : point[j] - down;
        d->ub[j] = form == 0 || form == 4 || form == 5 ? no_bound : point[j] + up;
        if (form == 3) d->lb[j] = d->ub[j] = point[j];
        if (form >= 5) d->lb[j] = planted && point[j] < 0 ? -no_bound : 0;
    }
    for (i = 0; i < d->rows * d->cols; i++)
        d->a[i] = test_random_int(seed, 1, 100) > percent ? 0 : draw(seed, kind, spread, 3);
    if (kind >= DEPENDENT) make_dependent(seed, d);
    for (i = 0; i < d->rows; i++) {
        double unit = kind == DEPENDENT_UNITS ? pow(10, (double)test_random_int(seed, -6, 6)) : 1, down, up;
        double less = verdict_chance(seed, 3) ? 0 : fabs(draw(seed, kind, spread, 4)) * unit;
        double more = verdict_chance(seed, 3) ? 0 : fabs(draw(seed, kind, spread, 4)) * unit;
        int form = (int)test_random_int(seed, 0, 5);
        for (j = 0; j < d->cols; j++) d->a[i * d->cols + j] *= unit;
        exact_activity(d->a + i * d->cols, point, d->cols, &down, &up);
        if (!planted && verdict_chance(seed, 3)) down = up = down + draw(seed, kind, spread, 3) * unit;
        d->lhs[i] = form == 0 || form == 1 ? -no_bound : less > 0 ? nextafter(down - less, -HUGE_VAL) : down;
        d->rhs[i] = form == 2 ? no_bound : more > 0 ? nextafter(up + more, HUGE_VAL) : up;
        if (form == 3) d->lhs[i] = down, d->rhs[i] = up;
    }
}
