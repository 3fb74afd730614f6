/* SPDX-License-Identifier: MIT
 *
 * Checks what is claimed of a linear program. The objective's activity, the last variable, is always basic.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/check/check.h"

typedef struct lp {
    program *p;
    double tolerance, primal, dual; /* the basis' largest violations */
    char *basis;                    /* [cols + rows] b, l, u or z; NULL: not given */
    square b;
    fractions duals, farkas, ray, point; /* given; values of the basic variables */
    mpq_t objective, zero;
    int crossing, valued; /* -1: none; not 0: the objective is given */
} lp;

static double ratio(const mpz_t num, const mpz_t den) {
    double value;
    mpq_t q;
    mpq_init(q);
    mpz_set(mpq_numref(q), num);
    mpz_set(mpq_denref(q), den);
    value = fabs(mpq_get_d(q));
    mpq_clear(q);
    return value;
}

/* ---- Vectors of doubles ---- */

/* Reads one, divided by the rows' scales unless that is NULL. There is room for one more number. */
static fractions read_vector(words *w, int count, const mpz_t *scale) {
    fractions v = {zeros(count + 1), {{0}}};
    mpq_t *value = allocate((size_t)whole(w, count, count), sizeof(mpq_t));
    int k;
    mpz_init_set_ui(v.den, 1);
    for (k = 0; k < count; k++) {
        mpq_init(value[k]);
        if (number(need(w), 0, value[k])) unknown(w);
        if (scale) mpz_mul(mpq_denref(value[k]), mpq_denref(value[k]), scale[k]);
        mpz_lcm(v.den, v.den, mpq_denref(value[k]));
    }
    for (k = 0; k < count; k++) {
        mpz_divexact(v.num[k], v.den, mpq_denref(value[k]));
        mpz_mul(v.num[k], v.num[k], mpq_numref(value[k]));
    }
    return v;
}

/* Subtracts times * (column k of [A, -I]) from to. */
static void subtract_column(const program *p, int k, const mpz_t times, mpz_t *to) {
    int e;
    for (e = p->start[k]; e < p->start[k + 1]; e++) mpz_submul(to[p->row[e]], times, p->value[e]);
}

/* The largest component of the ray towards a finite bound. *change: of the objective, times the ray's denominator. */
static double blocked(const program *p, const fractions *ray, mpz_t change) {
    mpz_t *activity = zeros(p->rows);
    double worst = 0;
    int k;
    for (k = 0; k < p->cols; k++) subtract_column(p, k, ray->num[k], activity);
    for (k = 0; k < p->rows; k++) mpz_neg(activity[k], activity[k]);
    for (k = 0; k < p->cols + p->rows; k++) {
        const mpz_t *value = (const mpz_t *)(k < p->cols ? &ray->num[k] : &activity[k - p->cols]);
        if (mpz_sgn(*value) && !(mpz_sgn(*value) < 0 ? p->lower : p->upper)[k].infinite)
            worst = fmax(worst, ratio(*value, ray->den));
    }
    mpz_set(change, activity[p->rows - 1]);
    return worst;
}

/* The multiple that y gives variable k in y'[A, -I], times y's denominator. */
static void multiple(const program *p, const fractions *y, int k, mpz_t sum) {
    int e;
    mpz_set_ui(sum, 0);
    for (e = p->start[k]; e < p->start[k + 1]; e++) mpz_addmul(sum, p->value[e], y->num[p->row[e]]);
}

/* The least sum of all multiples times their variables, but the objective's, within the bounds. Terms that are infinite
 * are left out; returns the largest multiple of those. */
static double least(const program *p, const fractions *y, mpq_t total) {
    double dropped = 0;
    mpq_t term;
    int k;
    mpq_init(term);
    mpq_set_ui(total, 0, 1);
    for (k = 0; k < p->cols + p->rows - 1; k++) {
        const bound *b;
        multiple(p, y, k, mpq_numref(term));
        mpz_set(mpq_denref(term), y->den);
        mpq_canonicalize(term);
        b = mpq_sgn(term) > 0 ? &p->lower[k] : &p->upper[k];
        if (b->infinite && mpq_sgn(term)) dropped = fmax(dropped, fabs(mpq_get_d(term)));
        mpq_mul(term, term, b->value);
        if (!b->infinite) mpq_add(total, total, term);
    }
    return dropped;
}

/* ---- Bases ---- */

/* The value of a nonbasic variable. */
static const mpq_t *at(const lp *s, int k) {
    return (const mpq_t *)(s->basis[k] == 'z' ? &s->zero : &(s->basis[k] == 'l' ? s->p->lower : s->p->upper)[k].value);
}

static void take_basis(lp *s) {
    const program *p = s->p;
    int n = p->cols + p->rows, k, size = 0;
    s->basis[n - 1] = 'b';
    s->b = (square){p, allocate((size_t)n, sizeof(int)), NULL};
    for (k = 0; k < n; k++) {
        int lower = !p->lower[k].infinite, upper = !p->upper[k].infinite;
        char status = s->basis[k];
        if (status == 'b') s->b.variable[size++] = k;
        else if (status == 'z' ? lower || upper : status == 'l' ? !lower : status != 'u' || !upper)
            refuse("variable %d cannot be nonbasic as '%c'", k, status);
    }
    if (size != p->rows) refuse("the basis has %d variables for %d rows", size - 1, p->rows - 1);
    if (factorize(&s->b)) refuse("the basis is singular");
}

/* The basic variables' values, and the largest violation. */
static void find_point(lp *s) {
    const program *p = s->p;
    mpz_t *rhs = zeros(p->rows), common, value;
    mpq_t x;
    int k;
    mpz_init_set_ui(common, 1);
    mpz_init(value);
    mpq_init(x);
    for (k = 0; k < p->cols + p->rows; k++) {
        const bound *l = &p->lower[k], *u = &p->upper[k];
        if (s->basis[k] == 'b') continue;
        mpz_lcm(common, common, mpq_denref(*at(s, k)));
        mpq_sub(x, l->value, u->value); /* nonbasic ones are outside if their bounds cross */
        if (!l->infinite && !u->infinite) s->primal = fmax(s->primal, mpq_get_d(x));
    }
    for (k = 0; k < p->cols + p->rows; k++) {
        if (s->basis[k] == 'b') continue;
        mpz_divexact(value, common, mpq_denref(*at(s, k)));
        mpz_mul(value, value, mpq_numref(*at(s, k)));
        subtract_column(p, k, value, rhs);
    }
    s->point = solve(&s->b, 0, rhs);
    mpz_mul(s->point.den, s->point.den, common);
    for (k = 0; k < p->rows; k++) {
        const bound *l = &p->lower[s->b.variable[k]], *u = &p->upper[s->b.variable[k]], *b;
        mpz_set(mpq_numref(x), s->point.num[k]); /* need not be in lowest terms */
        mpz_set(mpq_denref(x), s->point.den);
        if (!l->infinite && mpq_cmp(x, l->value) < 0) b = l;
        else if (!u->infinite && mpq_cmp(x, u->value) > 0) b = u;
        else continue;
        mpz_mul(mpq_numref(x), mpq_numref(x), mpq_denref(b->value));
        mpz_submul(mpq_numref(x), mpq_denref(x), mpq_numref(b->value));
        mpz_mul(mpq_denref(x), mpq_denref(x), mpq_denref(b->value));
        s->primal = fmax(s->primal, fabs(mpq_get_d(x)));
    }
}

/* Whether no variable moves towards a finite bound if the nonbasic variable k moves in this direction. */
static int is_ray(const lp *s, int k, int direction) {
    const program *p = s->p;
    mpz_t *rhs = zeros(p->rows), step;
    fractions w;
    int j, free = (direction > 0 ? p->upper : p->lower)[k].infinite;
    mpz_init_set_si(step, direction);
    subtract_column(p, k, step, rhs);
    w = solve(&s->b, 0, rhs);
    for (j = 0; j < p->rows && free; j++)
        free = !mpz_sgn(w.num[j]) || (mpz_sgn(w.num[j]) > 0 ? p->upper : p->lower)[s->b.variable[j]].infinite;
    return free;
}

/* Looks at the reduced costs of the objective for the largest of the wrong sign and, with `ray` not 0, for one that is
 * a ray, which ends the search with 1. */
static int find_signs(lp *s, int ray) {
    const program *p = s->p;
    mpz_t *cost = zeros(p->rows), d;
    fractions y;
    int k;
    mpz_init(d);
    mpz_set_si(cost[p->rows - 1], p->maximize ? 1 : -1); /* the objective is the last basic variable */
    y = solve(&s->b, 1, cost);
    for (k = 0; k < p->cols + p->rows; k++) {
        const bound *l = &p->lower[k], *u = &p->upper[k];
        if (s->basis[k] == 'b' || (!l->infinite && !u->infinite && mpq_equal(l->value, u->value))) continue;
        multiple(p, &y, k, d);
        if (mpz_sgn(d) == 0 || s->basis[k] == (mpz_sgn(d) > 0 ? 'l' : 'u')) continue;
        s->dual = fmax(s->dual, ratio(d, y.den));
        if (ray && is_ray(s, k, -mpz_sgn(d))) return 1;
    }
    return 0;
}

/* ---- Verdicts ---- */

static int verdict(const lp *s, double violation, const char *what) {
    if (violation == 0) return printf("PROVEN: %s\n", what), PROVEN;
    if (!(violation <= s->tolerance)) refuse("%s: only up to violations of %.3g", what, violation);
    printf("WITHIN TOLERANCE: %s, up to violations of %.3g\n", what, violation);
    return UNPROVEN;
}

static int near(const lp *s, double a, double b) { return fabs(a - b) <= s->tolerance * fmax(1, fabs(b)); }

/* The bound of the duals: (-duals, 1) times the rows and the objective; maximising, its negative. */
static void check_duals(lp *s) {
    const program *p = s->p;
    int k, last = p->rows - 1, sign = p->maximize ? -1 : 1;
    fractions *y = &s->duals;
    double dropped;
    mpq_t bound;
    mpq_init(bound);
    mpz_mul_si(y->num[last], y->den, sign);
    for (k = 0; k < last; k++) {
        mpz_mul(y->num[k], y->num[k], p->scale[last]);
        mpz_mul_si(y->num[k], y->num[k], -sign);
    }
    mpz_mul(y->den, y->den, p->scale[last]);
    dropped = least(p, y, bound);
    if (sign < 0) mpq_neg(bound, bound);
    mpq_add(bound, bound, p->offset);
    printf("duals: %s bound %.17g", p->maximize ? "upper" : "lower", mpq_get_d(bound));
    printf(dropped > 0 ? " but for multiples of infinite bounds of up to %.3g\n" : "\n", dropped);
    if (dropped > s->tolerance || (s->valued && !near(s, mpq_get_d(bound), mpq_get_d(s->objective))))
        refuse("the duals do not belong to the objective");
}

static int check_optimal(lp *s) {
    mpq_t exact;
    size_t digits;
    mpq_init(exact);
    if (s->duals.num) check_duals(s);
    if (!s->basis) return printf("UNPROVEN: optimal, without a basis\n"), UNPROVEN;
    find_point(s);
    find_signs(s, 0);
    mpz_set(mpq_numref(exact), s->point.num[s->p->rows - 1]);
    mpz_set(mpq_denref(exact), s->point.den);
    mpq_canonicalize(exact);
    mpq_add(exact, exact, s->p->offset);
    digits = mpz_sizeinbase(mpq_denref(exact), 10);
    printf("objective of the basis: %.17g, a fraction with %zu digits below\n", mpq_get_d(exact), digits);
    if (s->valued && !near(s, mpq_get_d(s->objective), mpq_get_d(exact)))
        refuse("the objective is claimed to be %.17g", mpq_get_d(s->objective));
    return verdict(s, fmax(s->primal, s->dual), "the basis is optimal");
}

/* Farkas vectors: the given one and, if some multiple of an infinite bound is not exactly 0, the one that gives the
 * same multiples to the basic variables but for those that are 0 up to rounding. */
static int check_infeasible(lp *s) {
    const program *p = s->p;
    mpz_t *multiples = zeros(p->rows);
    fractions y = s->farkas;
    double dropped, largest = 0;
    mpq_t margin;
    int k = s->crossing;
    mpq_init(margin);
    if (k >= 0) {
        if (p->lower[k].infinite || p->upper[k].infinite || mpq_cmp(p->lower[k].value, p->upper[k].value) <= 0)
            refuse("these bounds do not cross");
        return verdict(s, 0, "infeasible: the bounds of a column cross");
    }
    if (!y.num) refuse("infeasible: no proof");
    dropped = least(p, &y, margin);
    printf("Farkas: margin %.3g, multiples of infinite bounds %.3g\n", mpq_get_d(margin), dropped);
    if (mpq_sgn(margin) <= 0) refuse("the Farkas vector proves nothing");
    if (dropped == 0 || !s->basis) return verdict(s, dropped, "infeasible, by the Farkas vector");
    for (k = 0; k < p->rows; k++) {
        multiple(p, &y, s->b.variable[k], multiples[k]);
        largest = fmax(largest, ratio(multiples[k], y.den));
    }
    for (k = 0; k < p->rows; k++)
        if (ratio(multiples[k], y.den) < 1e-9 * largest) mpz_set_ui(multiples[k], 0);
    y = solve(&s->b, 1, multiples);
    if (least(p, &y, margin) == 0 && mpq_sgn(margin) > 0)
        return verdict(s, 0, "infeasible, by the Farkas vector of the basis");
    return verdict(s, dropped, "infeasible, by the Farkas vector");
}

static int check_unbounded(lp *s) {
    double worst = INFINITY;
    mpz_t change;
    mpz_init(change);
    if (s->ray.num) {
        worst = blocked(s->p, &s->ray, change);
        printf("ray: towards finite bounds %.3g, the objective %+.3g\n", worst,
               ratio(change, s->ray.den) * mpz_sgn(change));
        if (mpz_sgn(change) * (s->p->maximize ? 1 : -1) <= 0) refuse("the objective does not improve along the ray");
    }
    if (!s->basis) return verdict(s, INFINITY, "unbounded, without a basis");
    find_point(s);
    if (s->primal == 0 && (worst == 0 || find_signs(s, 1))) return verdict(s, 0, "unbounded");
    return verdict(s, fmax(worst, s->primal), "unbounded");
}

int check_program(program *p, words *w, double tolerance) {
    lp s = {.p = p, .tolerance = tolerance, .crossing = -1};
    const char *outcome = "";
    int n = p->cols, m = p->rows - 1, k;
    mpq_inits(s.objective, s.zero, NULL);
    while (next(w)) {
        if (is(w, "outcome")) outcome = need(w);
        else if (is(w, "sense")) p->maximize = strcmp(need(w), "max") == 0;
        else if (is(w, "objective")) s.valued = !number(need(w), 0, s.objective);
        else if (is(w, "crossing")) s.crossing = (int)whole(w, 0, n - 1);
        else if (is(w, "ray")) s.ray = read_vector(w, n, NULL);
        else if (is(w, "dual")) s.duals = read_vector(w, m, (const mpz_t *)p->scale);
        else if (is(w, "farkas")) s.farkas = read_vector(w, m, (const mpz_t *)p->scale);
        else if (is(w, "basis")) {
            s.basis = allocate((size_t)whole(w, n + m, n + m) + 1, 1);
            for (k = 0; k < n + m; k++) s.basis[k] = *need(w);
        } else unknown(w);
    }
    if (s.basis) take_basis(&s);
    if (strcmp(outcome, "optimal") == 0) return check_optimal(&s);
    if (strcmp(outcome, "infeasible") == 0) return check_infeasible(&s);
    if (strcmp(outcome, "unbounded") == 0) return check_unbounded(&s);
    return printf("UNPROVEN: nothing is claimed\n"), UNPROVEN;
}
