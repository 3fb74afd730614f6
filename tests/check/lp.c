/* SPDX-License-Identifier: MIT
 *
 * Checks what is claimed of a linear program, in integers: every double is a multiple of 2^-1074. The objective's
 * activity, the last variable, is always basic.
 */

#include "tests/check/check.h"

/* How wrong an optimal basis may be without being refused, in units of max(1, |bound|) or max(1, |cost|): the library's
 * default. */
static const double tolerance = 1e-9;
/* An objective that gains so much is unbounded. */
static const double far = 1e20;
enum { PLACES = 1074 };

typedef struct lp {
    const program *p;
    mpz_t *lower, *upper, one; /* times 2^PLACES; infinite ones: 1e24 */
    const int64_t *basis;      /* [cols + rows] b, l, u or z; NULL: not given */
    square b;
    double primal, dual; /* the basis' largest violations */
} lp;

/* num / (den * one^times), rounded. */
static double real(const mpz_t num, const mpz_t den, int times) {
    long above, below;
    double value = mpz_get_d_2exp(&above, num) / mpz_get_d_2exp(&below, den);
    return ldexp(value, (int)(above - below - times * PLACES));
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

static mpz_t *integers(const double *value, int count, int room) {
    mpz_t *to = zeros(room);
    int k;
    for (k = 0; k < count; k++) add(to[k], value[k]);
    return to;
}

/* A given vector and, if `low` is not NULL, its low part. There is room for one more number. */
static fractions take_vector(const record *r, const record *low) {
    fractions v = {integers(r->real, r->count, r->size + 1), {{0}}};
    int k;
    mpz_init(v.den);
    add(v.den, 1);
    for (k = 0; low && k < low->count; k++) add(v.num[k], low->real[k]);
    return v;
}

/* Subtracts times * (column k of [A, -I]) from to. */
static void subtract_column(const program *p, int k, const mpz_t times, mpz_t *to) {
    int e;
    for (e = p->start[k]; e < p->start[k + 1]; e++) mpz_submul(to[p->row[e]], times, p->exact[e]);
}

/* The multiple that y gives variable k in y'[A, -I], times 2^PLACES and y's denominator. */
static void multiple(const program *p, const fractions *y, int k, mpz_t sum) {
    int e;
    mpz_set_ui(sum, 0);
    for (e = p->start[k]; e < p->start[k + 1]; e++) mpz_addmul(sum, p->exact[e], y->num[p->row[e]]);
}

/* The least sum of all multiples times their variables, but the objective's, within the bounds, times 4^PLACES and y's
 * denominator; that sum is 0. Infinite terms are left out: *loose is the sum of the |multiples| in them, and the result
 * is 0 if there are rows in them. */
static int least(const lp *s, const fractions *y, mpz_t total, mpz_t loose) {
    const program *p = s->p;
    mpz_t z;
    int k, sign, rows = 1;
    mpz_init(z);
    mpz_set_ui(total, 0);
    mpz_set_ui(loose, 0);
    for (k = 0; k < p->cols + p->rows - 1; k++) {
        multiple(p, y, k, z);
        if (!(sign = mpz_sgn(z))) continue;
        if (isfinite((sign > 0 ? p->lower : p->upper)[k])) mpz_addmul(total, z, (sign > 0 ? s->lower : s->upper)[k]);
        else {
            mpz_abs(z, z);
            mpz_add(loose, loose, z);
            rows &= k < p->cols;
        }
    }
    return rows;
}

/* ---- Bases ---- */

static void take_basis(lp *s) {
    const program *p = s->p;
    int n = p->cols + p->rows, k, count = 0;
    s->b = (square){p, allocate((size_t)n, sizeof(int)), NULL};
    for (k = 0; k < n; k++) {
        int lower = isfinite(p->lower[k]), upper = isfinite(p->upper[k]), status = (int)s->basis[k];
        if (k == n - 1 || status == 'b') s->b.variable[count++] = k;
        else if (status == 'z' ? lower || upper : status == 'l' ? !lower : status != 'u' || !upper)
            end(REFUSED, "variable %d cannot be nonbasic as '%c'", k, status);
    }
    if (count != p->rows) end(REFUSED, "the basis has %d variables for %d rows", count - 1, p->rows - 1);
    if (factorize(&s->b)) end(REFUSED, "the basis is singular");
}

static int basic(const lp *s, int k) { return k == s->p->cols + s->p->rows - 1 || s->basis[k] == 'b'; }

/* Finds the largest violation of the basic variables' values, and returns the objective. */
static double find_point(lp *s) {
    const program *p = s->p;
    mpz_t *rhs = zeros(p->rows), outside;
    fractions x;
    int k, upper;
    mpz_init(outside);
    for (k = 0; k < p->cols + p->rows; k++)
        if (!basic(s, k) && s->basis[k] != 'z')
            subtract_column(p, k, (s->basis[k] == 'l' ? s->lower : s->upper)[k], rhs);
    x = solve(&s->b, 0, rhs);
    for (k = 0; k < 2 * p->rows; k++) {
        double bound = ((upper = k % 2) ? p->upper : p->lower)[s->b.variable[k / 2]];
        mpz_set(outside, x.num[k / 2]);
        mpz_submul(outside, x.den, (upper ? s->upper : s->lower)[s->b.variable[k / 2]]);
        if (isfinite(bound) && mpz_sgn(outside) == (upper ? 1 : -1))
            s->primal = fmax(s->primal, fabs(real(outside, x.den, 1)) / fmax(1, fabs(bound)));
    }
    printf("the point of the basis: fractions of %zu digits\n", mpz_sizeinbase(x.den, 10));
    return real(x.num[p->rows - 1], x.den, 1) + p->offset;
}

/* Whether no variable moves towards a finite bound if the nonbasic variable k moves in this direction. */
static int is_ray(const lp *s, int k, int direction) {
    const program *p = s->p;
    mpz_t *rhs = zeros(p->rows), step;
    fractions w;
    int j, free = isinf((direction > 0 ? p->upper : p->lower)[k]);
    mpz_init_set_si(step, direction);
    subtract_column(p, k, step, rhs);
    w = solve(&s->b, 0, rhs);
    for (j = 0; j < p->rows && free; j++)
        free = !mpz_sgn(w.num[j]) || isinf((mpz_sgn(w.num[j]) > 0 ? p->upper : p->lower)[s->b.variable[j]]);
    return free;
}

/* Looks at the reduced costs of the objective for the largest of the wrong sign and, with `ray` not 0, for one that is
 * a ray, which ends the search with 1. */
static int find_signs(lp *s, int ray) {
    const program *p = s->p;
    mpz_t *cost = zeros(p->rows), d;
    fractions y;
    int k, e;
    mpz_init(d);
    add(cost[p->rows - 1], p->maximize ? 1 : -1); /* the objective is the last basic variable */
    y = solve(&s->b, 1, cost);
    for (k = 0; k < p->cols + p->rows; k++) {
        double unit = 1;
        if (basic(s, k) || p->lower[k] == p->upper[k]) continue;
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

static int near(double a, double b) { return fabs(a - b) <= 1e-6 * fmax(1, fabs(b)); }

/* The bound of the duals: (-duals, 1) times the rows and the objective; maximising, its negative. */
static void check_duals(const lp *s, const record *duals, const record *objective) {
    const program *p = s->p;
    int k, sign = p->maximize ? -1 : 1;
    fractions y = take_vector(duals, NULL);
    mpz_t total, loose;
    double bound, dropped;
    mpz_inits(total, loose, NULL);
    for (k = 0; k < p->rows - 1; k++) mpz_mul_si(y.num[k], y.num[k], -sign);
    mpz_mul_si(y.num[p->rows - 1], y.den, sign);
    least(s, &y, total, loose);
    bound = real(total, y.den, 2) * sign + p->offset;
    dropped = real(loose, y.den, 1);
    printf("duals: %s bound %.17g", p->maximize ? "upper" : "lower", bound);
    printf(dropped > 0 ? " but for multiples of infinite bounds of %.3g together\n" : "\n", dropped);
    if (dropped > 1e-6 || (objective->count && !near(bound, *objective->real)))
        end(REFUSED, "the duals do not belong to the objective");
}

static _Noreturn void check_optimal(lp *s, const record *objective, int claimed) {
    double exact;
    if (!s->basis) end(UNPROVEN, "optimal, without a basis");
    exact = find_point(s);
    find_signs(s, 0);
    printf("objective of the basis: %.17g\n", exact);
    if (claimed && objective->count && !near(*objective->real, exact))
        end(REFUSED, "the objective is claimed to be %.17g", *objective->real);
    if (s->primal == 0 && s->dual == 0) end(PROVEN, "the basis is optimal");
    end(claimed && fmax(s->primal, s->dual) > tolerance ? REFUSED : UNPROVEN,
        "the basis is optimal but for violations of %.3g of the variables and %.3g of reduced costs", s->primal,
        s->dual);
}

/* Ends the program if y is a proof. */
static void try_farkas(const lp *s, const fractions *y, const char *from) {
    mpz_t total, loose, reach;
    int rows;
    mpz_inits(total, loose, reach, NULL);
    rows = least(s, y, total, loose);
    printf("%s: margin %.3g, multiples of infinite bounds %.3g%s\n", from, real(total, y->den, 2),
           real(loose, y->den, 1), rows ? "" : ", and some of rows");
    if (rows && mpz_sgn(total) > 0 && !mpz_sgn(loose)) end(PROVEN, "infeasible, by %s", from);
    add(reach, 1e24);
    mpz_submul(total, reach, loose);
    if (rows && mpz_sgn(total) > 0) end(PROVEN, "for |x_j| < 1e24: infeasible, by %s", from);
}

/* Farkas vectors: the given one; with its low part; and the exact one that gives the same multiples to the basic
 * variables but for those below 1e-9: the given one's entries are at most 2. */
static _Noreturn void check_infeasible(lp *s, const record *given, const record *low) {
    const program *p = s->p;
    mpz_t *multiples = zeros(p->rows);
    fractions y = take_vector(given, NULL);
    int k;
    if (!given->count) end(UNPROVEN, "infeasible, without a Farkas vector");
    try_farkas(s, &y, "the Farkas vector");
    if (low->count) {
        y = take_vector(given, low);
        try_farkas(s, &y, "the Farkas vector and its low part");
    }
    if (!s->basis) end(REFUSED, "the Farkas vector proves nothing");
    for (k = 0; k < p->rows; k++) {
        multiple(p, &y, s->b.variable[k], multiples[k]);
        if (fabs(real(multiples[k], y.den, 1)) < 1e-9) mpz_set_ui(multiples[k], 0);
    }
    y = solve(&s->b, 1, multiples);
    try_farkas(s, &y, "the exact Farkas vector of the basis");
    end(REFUSED, "the Farkas vector proves nothing");
}

/* The objective's gain along the ray, and the most that a row moves towards a finite side. Columns may not move towards
 * finite bounds. */
static double check_ray(const lp *s, const fractions *ray, double *gain) {
    const program *p = s->p;
    mpz_t *activity = zeros(p->rows);
    double worst = 0;
    int k, sign;
    for (k = 0; k < p->cols; k++) {
        sign = mpz_sgn(ray->num[k]);
        if (sign && isfinite((sign > 0 ? p->upper : p->lower)[k])) end(REFUSED, "column %d bounds the ray", k);
        subtract_column(p, k, ray->num[k], activity);
    }
    for (k = 0; k < p->rows - 1; k++) {
        sign = -mpz_sgn(activity[k]);
        if (sign && isfinite((sign > 0 ? p->upper : p->lower)[p->cols + k]))
            worst = fmax(worst, fabs(real(activity[k], ray->den, 1)));
    }
    *gain = real(activity[k], ray->den, 1) * (p->maximize ? -1 : 1);
    printf("the ray: rows towards finite sides %.3g, the objective improves by %.3g\n", worst, *gain);
    if (*gain <= 0) end(REFUSED, "the objective does not improve along the ray");
    return worst;
}

static _Noreturn void check_unbounded(lp *s, const record *given, const record *low) {
    fractions ray = take_vector(given, low);
    double gain = 0, worst = given->count ? check_ray(s, &ray, &gain) : INFINITY;
    if (!s->basis) end(UNPROVEN, "unbounded, without a basis");
    find_point(s);
    if (s->primal == 0 && worst == 0) end(PROVEN, "unbounded, by the ray");
    if (s->primal == 0 && find_signs(s, 1)) end(PROVEN, "unbounded, by an exact ray of the basis");
    end(s->primal > tolerance || !(worst * (far / gain) <= tolerance) ? REFUSED : UNPROVEN,
        "unbounded but for violations of %.3g at the point, %.3g when the objective has gained 1e20", s->primal,
        worst * (far / gain));
}

void check_program(program *p, words *w) {
    enum { OUTCOME, SENSE, OBJECTIVE, BASIS, DUAL, FARKAS, FARKAS_LOW, RAY, RAY_LOW };
    const int n = p->cols, m = p->rows - 1;
    record r[] = {{.name = "outcome", .kind = 'w'},
                  {.name = "sense", .kind = 'w'},
                  {.name = "objective", .kind = 'd'},
                  {.name = "basis", .kind = 'L', .size = n + m},
                  {.name = "dual", .kind = 'D', .size = m},
                  {.name = "farkas", .kind = 'D', .size = m},
                  {.name = "farkas_low", .kind = 'D', .size = m},
                  {.name = "ray", .kind = 'D', .size = n},
                  {.name = "ray_low", .kind = 'D', .size = n},
                  {0}};
    const char *outcome;
    lp s = {.p = p};
    int k;
    if (read_records(w, r)) unknown(w);
    outcome = r[OUTCOME].count ? r[OUTCOME].word : "";
    if (r[SENSE].count) p->maximize = strcmp(r[SENSE].word, "max") == 0;
    for (k = 0; k < n + m; k++)
        if (p->lower[k] > p->upper[k])
            end(strcmp(outcome, "infeasible") ? REFUSED : PROVEN, "infeasible: the bounds of variable %d cross", k);
    p->exact = integers(p->value, p->start[n + m + 1], p->start[n + m + 1]);
    s.lower = integers(p->lower, n + m + 1, n + m + 1);
    s.upper = integers(p->upper, n + m + 1, n + m + 1);
    s.basis = r[BASIS].whole;
    if (s.basis) take_basis(&s);
    if (strcmp(outcome, "infeasible") == 0) check_infeasible(&s, &r[FARKAS], &r[FARKAS_LOW]);
    if (strcmp(outcome, "unbounded") == 0) check_unbounded(&s, &r[RAY], &r[RAY_LOW]);
    if (r[DUAL].count) check_duals(&s, &r[DUAL], &r[OBJECTIVE]);
    check_optimal(&s, &r[OBJECTIVE], strcmp(outcome, "optimal") == 0);
}
