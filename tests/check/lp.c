/* SPDX-License-Identifier: MIT
 *
 * Checks claims about a linear program, in integers: every double is a multiple of 2^-1074. The objective's activity,
 * the last variable, is always basic.
 */

#include "tests/check/check.h"

/* The largest error of an optimal basis that is not refused, in units of max(1, |bound|) or max(1, |cost|): the
 * library's default. */
static const double tolerance = 1e-9;
typedef struct lp {
    program *p;
    int variables;
    mpz_t *bound[2];     /* [variables] times 2^PLACES; infinite bounds: 1e24 */
    double primal, dual; /* the basis' largest violations */
    /* The answer; missing parts are NULL, or NaN. */
    char *basis; /* [variables] b, l, u or z */
    double objective, *duals, *point, *farkas, *farkas_low, *ray, *ray_low, backward_error;
    const char *certainty;
} lp;

double real(const mpz_t num, const mpz_t den, int times) {
    long above, below;
    double value = mpz_get_d_2exp(&above, num) / mpz_get_d_2exp(&below, den);
    value = ldexp(value, (int)(above - below - times * PLACES));
    return fabs(value) < 1e-200 ? mpz_sgn(num) * 1e-200 : value;
}

/* Adds value * 2^PLACES. */
static void add(mpz_t to, double value) {
    mpq_t exact;
    mpq_init(exact);
    mpq_set_d(exact, isinf(value) ? copysign(1e24, value) : value);
    mpq_mul_2exp(exact, exact, PLACES);
    mpz_add(to, to, mpq_numref(exact));
    mpq_clear(exact);
}

/* `count` numbers and, if `low` is not NULL, their low parts, times 2^PLACES; with one free place behind them. */
static fractions take_vector(const double *value, const double *low, int count) {
    fractions v = {zeros(count + 1), {{0}}};
    int k;
    mpz_init_set_ui(v.den, 1);
    for (k = 0; k < count; k++) add(v.num[k], value[k]);
    for (k = 0; k < count && low; k++) add(v.num[k], low[k]);
    return v;
}

/* Whether variable k reaches a bound if it moves in this direction. */
static int stops(const lp *s, int k, int direction) { return direction && isfinite(s->p->bound[direction > 0][k]); }

/* Subtracts times * (column k of [A, -I]). */
static void subtract_column(const program *p, int k, const mpz_t times, mpz_t *from) {
    int e;
    for (e = p->start[k]; e < p->start[k + 1]; e++) mpz_submul(from[p->row[e]], times, p->exact[e]);
}

/* The coefficient of variable k in y'[A, -I], times 2^PLACES and y's denominator. */
static void multiple(const program *p, const fractions *y, int k, mpz_t sum) {
    int e;
    mpz_set_ui(sum, 0);
    for (e = p->start[k]; e < p->start[k + 1]; e++) mpz_addmul(sum, p->exact[e], y->num[p->row[e]]);
}

/* The least sum, within the bounds, of all products of y'[A, -I] with their variables, without the objective's, times
 * 4^PLACES and y's denominator. The sum itself is 0. Infinite terms are left out: *loose is their part of the sum with
 * bounds of 1e24, and the result is 0 if there are rows in them. */
static int least(const lp *s, const fractions *y, mpz_t total, mpz_t loose) {
    mpz_t z;
    int k, side, rows = 1;
    mpz_init(z);
    for (k = 0; k < s->variables - 1; k++) {
        multiple(s->p, y, k, z);
        side = mpz_sgn(z) > 0 ? LOWER : UPPER;
        if (isfinite(s->p->bound[side][k])) mpz_addmul(total, z, s->bound[side][k]);
        else mpz_submul(loose, z, s->bound[side][k]);
        rows &= k < s->p->cols || !mpz_sgn(z) || isfinite(s->p->bound[side][k]);
    }
    return rows;
}

/* ---- Bases ---- */

static void take_basis(lp *s) {
    program *p = s->p;
    int k, count = 0;
    p->basic = allocate(s->variables, sizeof(int));
    for (k = 0; k < s->variables; k++) {
        const char status = s->basis[k];
        if (status == 'b') p->basic[count++] = k;
        else if (status == 'z' ? stops(s, k, -1) || stops(s, k, 1) : !stops(s, k, status == 'l' ? -1 : status == 'u'))
            end(REFUSED, "variable %d cannot be nonbasic as '%c'", k, status);
    }
    if (count != p->rows) end(REFUSED, "the basis has %d variables for %d rows", count - 1, p->rows - 1);
    if (factorize(p)) end(REFUSED, "the basis is singular");
}

/* Finds the largest violation of the basic variables' values, and returns the objective. */
static double find_point(lp *s) {
    const program *p = s->p;
    mpz_t *rhs = zeros(p->rows), outside;
    fractions x;
    int i, k, side;
    for (k = 0; k < s->variables; k++)
        if (s->basis[k] == 'l' || s->basis[k] == 'u') subtract_column(p, k, s->bound[s->basis[k] == 'u'][k], rhs);
    x = solve(s->p, 0, rhs);
    mpz_init(outside);
    for (i = 0; i < 2 * p->rows; i++) {
        k = s->p->basic[i / 2];
        side = i % 2;
        mpz_set(outside, x.num[i / 2]);
        mpz_submul(outside, x.den, s->bound[side][k]);
        if (isfinite(p->bound[side][k]) && mpz_sgn(outside) == (side == UPPER ? 1 : -1))
            s->primal = fmax(s->primal, fabs(real(outside, x.den, 1)) / fmax(1, fabs(p->bound[side][k])));
    }
    return real(x.num[p->rows - 1], x.den, 1) + p->offset;
}

/* Whether no variable reaches a bound if the nonbasic variable k moves in this direction. */
static int is_ray(const lp *s, int k, int direction) {
    mpz_t *rhs = zeros(s->p->rows), step;
    fractions moves;
    int i, free = !stops(s, k, direction);
    mpz_init_set_si(step, direction);
    subtract_column(s->p, k, step, rhs);
    moves = solve(s->p, 0, rhs);
    for (i = 0; i < s->p->rows; i++) free &= !stops(s, s->p->basic[i], mpz_sgn(moves.num[i]));
    return free;
}

/* Finds the largest of the objective's reduced costs with the wrong sign. With `ray` not 0, looks for a ray, which ends
 * the search with 1. */
static int find_signs(lp *s, int ray) {
    const program *p = s->p;
    mpz_t *cost = zeros(p->rows), d;
    fractions y;
    int k, e;
    mpz_init(d);
    add(cost[p->rows - 1], p->maximize ? 1 : -1); /* the objective is the last basic variable */
    y = solve(s->p, 1, cost);
    for (k = 0; k < s->variables; k++) {
        double unit = 1;
        if (s->basis[k] == 'b' || p->bound[LOWER][k] == p->bound[UPPER][k]) continue;
        multiple(p, &y, k, d);
        if (mpz_sgn(d) == 0 || s->basis[k] == (mpz_sgn(d) > 0 ? 'l' : 'u')) continue;
        for (e = p->start[k]; e < p->start[k + 1]; e++)
            if (p->row[e] == p->rows - 1) unit = fmax(1, fabs(p->value[e]));
        s->dual = fmax(s->dual, fabs(real(d, y.den, 1)) / unit);
        if (ray && is_ray(s, k, -mpz_sgn(d))) return 1;
    }
    return 0;
}

/* ---- Verdicts ---- */

/* Whether a claimed value, if there is one, equals this. */
static int near(double claim, double x) { return isnan(claim) || fabs(claim - x) <= 1e-6 * fmax(1, fabs(x)); }

/* The bound of the duals: (-duals, 1) times the rows and the objective; maximising, its negative. */
static void check_duals(const lp *s) {
    const program *p = s->p;
    int k, sign = p->maximize ? -1 : 1;
    fractions y = take_vector(s->duals, NULL, p->rows - 1);
    mpz_t total, loose;
    mpz_inits(total, loose, NULL);
    for (k = 0; k < p->rows - 1; k++) mpz_mul_si(y.num[k], y.num[k], -sign);
    add(y.num[k], sign);
    least(s, &y, total, loose);
    const double bound = real(total, y.den, 3) * sign + p->offset;
    printf("duals: bound %.17g, multiples of infinite bounds %.3g together\n", bound, real(loose, y.den, 3) / 1e24);
    if (real(loose, y.den, 3) > 1e18 || !near(s->objective, bound))
        end(REFUSED, "the duals do not belong to the objective");
}

/* Whether the exact point and duals of the basis could move the objective by more than `most`, if the best pivot mends
 * a violation. A violation that no pivot can mend proves that the program has no point. */
static int is_worth_more(const lp *s, double most) {
    const program *p = s->p;
    mpz_t *rhs = zeros(p->rows), *cost = zeros(p->rows), *unit, outside, entry, d;
    double worst = 0;
    fractions x, y, row;
    int i, k, side;
    mpz_inits(outside, entry, d, NULL);
    for (k = 0; k < s->variables; k++)
        if (s->basis[k] == 'l' || s->basis[k] == 'u') subtract_column(p, k, s->bound[s->basis[k] == 'u'][k], rhs);
    x = solve(p, 0, rhs);
    add(cost[p->rows - 1], p->maximize ? 1 : -1);
    y = solve(p, 1, cost);
    for (i = 0; i < 2 * p->rows; i++) {
        const int v = p->basic[i / 2], up = i % 2 == LOWER;
        double least = INFINITY, violation;
        mpz_set(outside, x.num[i / 2]);
        mpz_submul(outside, x.den, s->bound[i % 2][v]);
        if (!isfinite(p->bound[i % 2][v]) || mpz_sgn(outside) != (up ? -1 : 1)) continue;
        violation = fabs(real(outside, x.den, 1));
        unit = zeros(p->rows);
        mpz_ui_pow_ui(unit[i / 2], 2, PLACES);
        row = solve(p, 1, unit);
        for (k = 0; k < s->variables - 1; k++) {
            if (s->basis[k] == 'b' || p->bound[LOWER][k] == p->bound[UPPER][k]) continue;
            multiple(p, &row, k, entry); /* the basic variable moves by minus this with the nonbasic one */
            side = mpz_sgn(entry) * (up ? -1 : 1);
            if (side == 0 || s->basis[k] == (side > 0 ? 'u' : 'l')) continue;
            multiple(p, &y, k, d);
            least = fmin(least, fabs(real(d, y.den, 1) / real(entry, row.den, 1)));
        }
        if (isinf(least)) return 0;
        worst = fmax(worst, violation * least);
    }
    printf("the best pivots that mend violations move the objective by at most %.3g\n", worst);
    return worst > most;
}

/* The answer's claims beyond the basis. The worth of violations is not computed for bases of more rows than this, as in
 * the library. */
static void check_certainty(const lp *s, double objective) {
    enum { MOST_ROWS = 162 };
    const int m = s->p->rows - 1, exact = strcmp(s->certainty, "exact") == 0;
    const int rounding = strcmp(s->certainty, "rounding") == 0;
    const double most = tolerance * fmax(1, fabs(objective));
    misfit found;
    if (exact && (s->primal > 0 || s->dual > 0)) end(REFUSED, "the basis is not optimal in exact arithmetic");
    if (!s->point || !s->duals) return;
    found =
        find_misfit(s->p, s->bound, take_vector(s->point, NULL, s->p->cols).num, take_vector(s->duals, NULL, m).num);
    printf("%s: largest share %.3g, objectives differ by %.3g\n", s->certainty, found.share, found.gap);
    if (s->backward_error < found.share * (1 - 1e-12))
        end(REFUSED, "the backward error is %.17g, claimed %.17g", found.share, s->backward_error);
    if (exact) return;
    if (rounding && found.share > 0x1p-44) end(REFUSED, "the point is not good to rounding");
    if (found.gap > most) end(REFUSED, "the objectives differ by %.3g", found.gap);
    if (m <= MOST_ROWS && is_worth_more(s, 2 * most)) end(REFUSED, "the violations are worth more than the tolerance");
    if (rounding) end(PROVEN, "optimal but for rounding: the largest share is %.3g", found.share);
}

static _Noreturn void check_optimal(lp *s, int claimed) {
    double exact;
    if (!s->basis) end(UNPROVEN, "optimal, without a basis");
    exact = find_point(s);
    find_signs(s, 0);
    printf("objective of the basis: %.17g\n", exact);
    if (claimed && !near(s->objective, exact)) end(REFUSED, "the objective is claimed to be %.17g", s->objective);
    if (claimed && s->certainty) check_certainty(s, exact);
    if (s->primal == 0 && s->dual == 0) end(PROVEN, "the basis is optimal");
    end(claimed && fmax(s->primal, s->dual) > tolerance ? REFUSED : UNPROVEN,
        "the basis is optimal but for violations of %.3g of the variables and %.3g of reduced costs", s->primal,
        s->dual);
}

/* Ends the program if y is a proof. */
static void try_farkas(const lp *s, fractions y, const char *from) {
    mpz_t total, loose;
    int rows;
    mpz_inits(total, loose, NULL);
    rows = least(s, &y, total, loose);
    printf("%s: margin %.3g, multiples of infinite bounds %.3g%s\n", from, real(total, y.den, 3),
           real(loose, y.den, 3) / 1e24, rows ? "" : ", and some of rows");
    if (rows && mpz_cmp(total, loose) > 0)
        end(PROVEN, "%sinfeasible, by %s", mpz_sgn(loose) ? "for |x_j| < 1e24: " : "", from);
}

/* Farkas vectors: the given one; the same with its low part; and the exact one that gives the same multiples to the
 * basic variables, except multiples below 1e-9. (The given one's entries are at most 2.) */
static _Noreturn void check_infeasible(const lp *s) {
    const int m = s->p->rows;
    mpz_t *multiples = zeros(m);
    fractions y;
    int k;
    if (!s->farkas) end(UNPROVEN, "infeasible, without a Farkas vector");
    try_farkas(s, take_vector(s->farkas, NULL, m - 1), "the Farkas vector");
    y = take_vector(s->farkas, s->farkas_low, m - 1);
    if (s->farkas_low) try_farkas(s, y, "the Farkas vector and its low part");
    for (k = 0; k < m && s->basis; k++) {
        multiple(s->p, &y, s->p->basic[k], multiples[k]);
        if (fabs(real(multiples[k], y.den, 2)) < 1e-9) mpz_set_ui(multiples[k], 0);
    }
    if (s->basis) try_farkas(s, solve(s->p, 1, multiples), "the exact Farkas vector of the basis");
    end(REFUSED, "the Farkas vector proves nothing");
}

/* The most that a row moves towards a finite side along the ray while the objective gains 1e18. Columns may not move
 * towards finite bounds. */
static double check_ray(const lp *s) {
    const program *p = s->p;
    fractions ray = take_vector(s->ray, s->ray_low, p->cols);
    mpz_t *activity = zeros(p->rows);
    double gain, worst = 0;
    int k;
    for (k = 0; k < p->cols; k++) {
        if (stops(s, k, mpz_sgn(ray.num[k]))) end(REFUSED, "column %d bounds the ray", k);
        subtract_column(p, k, ray.num[k], activity);
    }
    for (k = 0; k < p->rows - 1; k++)
        if (stops(s, p->cols + k, -mpz_sgn(activity[k]))) worst = fmax(worst, fabs(real(activity[k], ray.den, 2)));
    gain = real(activity[k], ray.den, 2) * (p->maximize ? -1 : 1);
    printf("the ray: rows towards finite sides %.3g, the objective improves by %.3g\n", worst, gain);
    if (gain <= 0) end(REFUSED, "the objective does not improve along the ray");
    return worst * (1e18 / gain);
}

static _Noreturn void check_unbounded(lp *s) {
    double worst = s->ray ? check_ray(s) : INFINITY;
    if (!s->basis) end(UNPROVEN, "unbounded, without a basis");
    find_point(s);
    if (s->primal == 0 && worst == 0) end(PROVEN, "unbounded, by the ray");
    if (s->primal == 0 && find_signs(s, 1)) end(PROVEN, "unbounded, by an exact ray of the basis");
    end(s->primal > tolerance || worst > tolerance ? REFUSED : UNPROVEN,
        "unbounded but for violations of %.3g at the point, %.3g when the objective has gained 1e18", s->primal, worst);
}

void check_program(program *p, words *w) {
    const int n = p->cols, m = p->rows - 1;
    const char *outcome = "";
    lp s = {.p = p, .variables = n + m + 1, .objective = NAN, .backward_error = INFINITY};
    int k;
    while (next(w)) {
        if (is(w, "outcome")) outcome = need(w);
        else if (is(w, "sense")) p->maximize = strcmp(need(w), "max") == 0;
        else if (is(w, "objective")) s.objective = number(w);
        else if (is(w, "basis")) {
            s.basis = allocate(whole(w, n + m, n + m) + 1, 1);
            for (k = 0; k < n + m; k++) s.basis[k] = *need(w);
            s.basis[k] = 'b'; /* the objective */
        } else if (is(w, "dual")) s.duals = numbers(w, m);
        else if (is(w, "point")) s.point = numbers(w, n);
        else if (is(w, "certainty")) s.certainty = need(w);
        else if (is(w, "backward_error")) s.backward_error = number(w);
        else if (is(w, "farkas")) s.farkas = numbers(w, m);
        else if (is(w, "farkas_low")) s.farkas_low = numbers(w, m);
        else if (is(w, "ray")) s.ray = numbers(w, n);
        else if (is(w, "ray_low")) s.ray_low = numbers(w, n);
        else unknown(w);
    }
    for (k = 0; k < n + m; k++)
        if (p->bound[LOWER][k] > p->bound[UPPER][k])
            end(strcmp(outcome, "infeasible") ? REFUSED : PROVEN, "infeasible: the bounds of variable %d cross", k);
    p->exact = take_vector(p->value, NULL, p->start[s.variables]).num;
    for (k = LOWER; k <= UPPER; k++) s.bound[k] = take_vector(p->bound[k], NULL, s.variables).num;
    if (s.basis) take_basis(&s);
    if (strcmp(outcome, "infeasible") == 0) check_infeasible(&s);
    if (strcmp(outcome, "unbounded") == 0) check_unbounded(&s);
    if (s.duals) check_duals(&s);
    check_optimal(&s, strcmp(outcome, "optimal") == 0);
}
