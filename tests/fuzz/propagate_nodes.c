/* SPDX-License-Identifier: MIT */
#include "gpuopt/search.h"
#include "tests/fuzz/propagate_nodes.h"

#include <math.h>

enum { CALLS = 4, NODES = 12, GIVEN = 4, PAST = 4 };

/* A call that the base has received: rounds, or bounds of one column. */
typedef struct past {
    int32_t rounds, col;
    double lb, ub;
} past;

typedef struct farm {
    fuzz *f;
    gpuopt_propagator_desc model;
    gpuopt_propagator *base;
    past past[CALLS * PAST];
    int pasts;
    double lb[MOST], ub[MOST]; /* of the base */
} farm;

/* The result of a separate handle for a node. */
typedef struct single {
    gpuopt_propagator_info info;
    double lb[MOST], ub[MOST];
    int32_t changed; /* columns that differ from the base's */
} single;

static unsigned take(farm *s) { return fuzz_take(&s->f->bytes); }

static void repeat(gpuopt_propagator *p, const past *q) {
    if (q->rounds > 0) REQUIRE(gpuopt_propagator_round(p, q->rounds, NULL) == GPUOPT_OK);
    else REQUIRE(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, 1, &q->col, &q->lb, &q->ub) == GPUOPT_OK);
}

static gpuopt_propagator *make_base(const farm *s) {
    gpuopt_propagator *p;
    int k;
    REQUIRE(gpuopt_propagator_create(s->f->context, &s->model, NULL, &p) == GPUOPT_OK);
    for (k = 0; k < s->pasts; k++) repeat(p, &s->past[k]);
    return p;
}

static int differs(const farm *s, const single *o, int32_t j) {
    return memcmp(&o->lb[j], &s->lb[j], sizeof *o->lb) || memcmp(&o->ub[j], &s->ub[j], sizeof *o->ub);
}

/* lb or ub NULL: the bounds of the base. */
static single run_alone(const farm *s, int64_t count, const int32_t *col, const double *lb, const double *ub,
                        int32_t rounds) {
    gpuopt_propagator *p = make_base(s);
    single o;
    int32_t j;
    memset(&o, 0, sizeof o);
    gpuopt_desc_init(&o.info, sizeof o.info);
    /* An infeasible base is reported without a round, and so are its nodes. */
    REQUIRE(gpuopt_propagator_round(p, 1, &o.info) == GPUOPT_OK);
    if (o.info.outcome != GPUOPT_INFEASIBLE || o.info.rounds > 0) {
        gpuopt_propagator_destroy(p);
        p = make_base(s);
        REQUIRE(gpuopt_propagator_set_bounds(p, GPUOPT_HOST, count, col, lb, ub) == GPUOPT_OK);
        REQUIRE(gpuopt_propagator_round(p, rounds, &o.info) == GPUOPT_OK);
    }
    REQUIRE(gpuopt_propagator_get_bounds(p, GPUOPT_HOST, 0, NULL, o.lb, o.ub) == GPUOPT_OK);
    for (j = 0; j < s->model.matrix.cols && o.info.outcome != GPUOPT_INFEASIBLE; j++) o.changed += differs(s, &o, j);
    gpuopt_propagator_destroy(p);
    return o;
}

/* Bounds of a column that a call may take. */
static void draw(farm *s, int32_t col, double *lb, double *ub) {
    input_bounds(s->f, col, lb, ub);
    if (take(s) % 2 && floor(s->lb[col]) == s->lb[col] && !s->f->planted) *ub = *lb = s->lb[col] + 0.0;
    if (!input_valid_pair(s->f, *lb, *ub)) *lb = -INFINITY, *ub = INFINITY;
}

/* ---- Batches ---- */

/* Columns that the node is given or that change in it. */
static int32_t touched(const farm *s, const single *o, int64_t count, const int32_t *col) {
    int32_t all = o->changed, k;
    for (k = 0; k < count; k++) all += !differs(s, o, col[k]);
    return all;
}

static void run_batch(farm *s) {
    static int64_t start[NODES + 1], changed_start[NODES + 1];
    static int32_t col[NODES * GIVEN], outcome[NODES], rounds[NODES], row[NODES], column[NODES], columns[NODES],
        changed_col[NODES * MOST];
    static double lb[NODES * GIVEN], ub[NODES * GIVEN], changed_lb[NODES * MOST], changed_ub[NODES * MOST],
        all_lb[NODES * MOST], all_ub[NODES * MOST];
    static int64_t moved[NODES];
    gpuopt_propagator_batch_desc desc = GPUOPT_INIT(gpuopt_propagator_batch_desc);
    gpuopt_propagator_nodes nodes = GPUOPT_INIT(gpuopt_propagator_nodes);
    gpuopt_propagator_node_report report = GPUOPT_INIT(gpuopt_propagator_node_report);
    gpuopt_propagator_node_changes changes = GPUOPT_INIT(gpuopt_propagator_node_changes);
    gpuopt_propagator_batch *batch;
    const int32_t cols = s->model.matrix.cols;
    int32_t asked, sides, k, j;
    int64_t i, at = 0;
    gpuopt_status status;
    nodes.count = 1 + (int32_t)take(s) % NODES;
    for (k = 0; k < nodes.count; k++) {
        start[k] = at;
        for (j = (int32_t)take(s) % cols; j < cols && at < start[k] + GIVEN; j += 1 + (int32_t)take(s) % 8, at++)
            draw(s, col[at] = j, &lb[at], &ub[at]);
    }
    start[k] = at;
    sides = (int32_t)take(s) % 4;
    asked = 1 + (int32_t)take(s) % 20;
    nodes.start = start;
    nodes.col = col;
    nodes.lb = sides == 1 ? NULL : lb;
    nodes.ub = sides == 2 ? NULL : ub;
    report.outcome = outcome;
    report.rounds = rounds;
    report.infeasible_row = row;
    report.infeasible_col = column;
    report.changed = moved;
    report.columns = columns;
    desc.nodes = nodes.count;
    if (take(s) % 4 == 0) desc.node_columns = 1 + (int32_t)take(s) % MOST;
    REQUIRE(gpuopt_propagator_batch_create(s->base, &desc, NULL, &batch) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_batch_run(batch, GPUOPT_HOST, &nodes, asked, &report) == GPUOPT_OK);
    changes.capacity = NODES * MOST;
    changes.start = changed_start;
    changes.col = changed_col;
    changes.lb = changed_lb;
    changes.ub = changed_ub;
    REQUIRE(gpuopt_propagator_batch_get_changes(batch, GPUOPT_HOST, &changes) == GPUOPT_OK);
    status = gpuopt_propagator_batch_get_bounds(batch, GPUOPT_HOST, nodes.count, NULL, all_lb, all_ub);
    REQUIRE(status == GPUOPT_OK && changed_start[0] == 0 && changed_start[nodes.count] == changes.count);
    for (k = 0; k < nodes.count; k++) {
        const int64_t given = start[k + 1] - start[k];
        const single o = run_alone(s, given, col + start[k], nodes.lb ? lb + start[k] : NULL,
                                   nodes.ub ? ub + start[k] : NULL, asked);
        const double *node_lb = all_lb + k * cols, *node_ub = all_ub + k * cols;
        const int shown = outcome[k] != GPUOPT_INFEASIBLE && outcome[k] != GPUOPT_FULL;
        i = changed_start[k];
        if (outcome[k] == GPUOPT_FULL) {
            REQUIRE(desc.node_columns > 0 && moved[k] == 0);
            REQUIRE(o.info.outcome == GPUOPT_INFEASIBLE || touched(s, &o, given, col + start[k]) > desc.node_columns);
        } else {
            REQUIRE(outcome[k] == (int32_t)o.info.outcome && rounds[k] == o.info.rounds);
            REQUIRE(row[k] == o.info.infeasible_row && column[k] == o.info.infeasible_col);
            REQUIRE(moved[k] == o.info.changed && columns[k] == o.changed);
            REQUIRE(!shown || desc.node_columns == 0 || o.changed <= desc.node_columns);
        }
        for (j = 0; j < cols; j++) {
            const double *want_lb = shown ? o.lb : s->lb, *want_ub = shown ? o.ub : s->ub;
            REQUIRE(!memcmp(&node_lb[j], &want_lb[j], sizeof *lb) && !memcmp(&node_ub[j], &want_ub[j], sizeof *ub));
            if (!shown || !differs(s, &o, j)) continue;
            REQUIRE(i < changed_start[k + 1] && changed_col[i] == j);
            REQUIRE(!memcmp(&changed_lb[i], &o.lb[j], sizeof *lb) && !memcmp(&changed_ub[i], &o.ub[j], sizeof *ub));
            i++;
        }
        REQUIRE(i == changed_start[k + 1]);
    }
    gpuopt_propagator_batch_destroy(batch);
}

/* ---- Probing ---- */

/* The joint result of the probes, by definition. */
typedef struct findings {
    double lb[MOST], ub[MOST];
    int32_t infeasible_col;
    int64_t implications, equivalences;
} findings;

static int is_binary(const farm *s, int32_t j) { return s->f->integer[j] && s->lb[j] == 0 && s->ub[j] == 1; }

/* An implied value of a planted binary is the planted point's. */
static void check_planted(const farm *s, int32_t binary, int value, int32_t col, double lb, double ub) {
    if (!s->f->planted || s->f->x[binary] != value) return;
    REQUIRE(lb <= s->f->x[col] && s->f->x[col] <= ub);
}

static void run_probe(farm *s) {
    enum { LISTED = 2 * MOST * MOST };
    static int32_t binary[MOST], outcome[2 * MOST], col[LISTED], equal[LISTED], other[LISTED], bound_col[MOST];
    static int64_t start[2 * MOST + 1];
    static double lb[LISTED], ub[LISTED], bound_lb[MOST], bound_ub[MOST];
    static uint8_t opposite[LISTED];
    gpuopt_propagator_probe_desc desc = GPUOPT_INIT(gpuopt_propagator_probe_desc);
    gpuopt_propagator_probe_info info = GPUOPT_INIT(gpuopt_propagator_probe_info);
    gpuopt_propagator_probe_implications implications = GPUOPT_INIT(gpuopt_propagator_probe_implications);
    gpuopt_propagator_probe_equivalences equivalences = GPUOPT_INIT(gpuopt_propagator_probe_equivalences);
    gpuopt_propagator_probe_bounds bounds = GPUOPT_INIT(gpuopt_propagator_probe_bounds);
    gpuopt_propagator_probe *probe;
    findings found = {{0}, {0}, -1, 0, 0};
    const int32_t cols = s->model.matrix.cols, asked = 1 + (int32_t)take(s) % 20;
    int32_t j, k, b, at = 0, infeasible = 0;
    int64_t i;
    desc.nodes = 2 * (int32_t)(take(s) % 4);
    desc.implications = desc.equivalences = LISTED;
    implications.capacity = equivalences.capacity = LISTED;
    implications.binary = binary, implications.outcome = outcome, implications.start = start;
    implications.col = col, implications.lb = lb, implications.ub = ub;
    equivalences.col = equal, equivalences.other = other, equivalences.opposite = opposite;
    bounds.capacity = MOST, bounds.col = bound_col, bounds.lb = bound_lb, bounds.ub = bound_ub;
    REQUIRE(gpuopt_propagator_probe_create(s->base, &desc, NULL, &probe) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_probe_run(probe, 0, NULL, asked, &info) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_probe_get_implications(probe, &implications) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_probe_get_equivalences(probe, &equivalences) == GPUOPT_OK);
    REQUIRE(gpuopt_propagator_probe_get_bounds(probe, &bounds) == GPUOPT_OK);
    gpuopt_propagator_probe_destroy(probe);
    memcpy(found.lb, s->lb, sizeof found.lb);
    memcpy(found.ub, s->ub, sizeof found.ub);
    for (b = 0; b < cols; b++) {
        single o[2];
        if (!is_binary(s, b)) continue;
        REQUIRE(at < info.probed && binary[at] == b);
        for (k = 0; k < 2; k++) {
            const double value = k;
            o[k] = run_alone(s, 1, &b, &value, &value, asked);
            REQUIRE(outcome[2 * at + k] == (int32_t)o[k].info.outcome && start[2 * at + k] == found.implications);
            infeasible += o[k].info.outcome == GPUOPT_INFEASIBLE;
            for (j = 0; j < cols; j++) {
                if (o[k].info.outcome == GPUOPT_INFEASIBLE || j == b || !differs(s, &o[k], j)) continue;
                i = found.implications++;
                REQUIRE(col[i] == j && lb[i] == o[k].lb[j] && ub[i] == o[k].ub[j]);
                check_planted(s, b, k, j, lb[i], ub[i]);
            }
        }
        at++;
        if (o[0].info.outcome == GPUOPT_INFEASIBLE && o[1].info.outcome == GPUOPT_INFEASIBLE) {
            if (found.infeasible_col < 0) found.infeasible_col = b;
            continue;
        }
        for (j = 0; j < cols; j++) {
            const single *zero = o[0].info.outcome == GPUOPT_INFEASIBLE ? &o[1] : &o[0],
                         *one = o[1].info.outcome == GPUOPT_INFEASIBLE ? &o[0] : &o[1];
            found.lb[j] = fmax(found.lb[j], fmin(zero->lb[j], one->lb[j]));
            found.ub[j] = fmin(found.ub[j], fmax(zero->ub[j], one->ub[j]));
            if (j == b || zero == one || !is_binary(s, j) || !differs(s, zero, j) || !differs(s, one, j) ||
                zero->lb[j] == one->lb[j])
                continue;
            i = found.equivalences++;
            REQUIRE(equal[i] == b && other[i] == j && opposite[i] == (zero->lb[j] == 1));
            REQUIRE(!s->f->planted || (s->f->x[b] == s->f->x[j]) != opposite[i]);
        }
    }
    REQUIRE(info.probed == at && start[2 * at] == found.implications && info.infeasible == infeasible);
    REQUIRE(info.implications == found.implications && info.equivalences == found.equivalences);
    REQUIRE(found.infeasible_col < 0 || info.infeasible_col == found.infeasible_col);
    REQUIRE((info.outcome == GPUOPT_INFEASIBLE) == (info.infeasible_col >= 0));
    REQUIRE(!s->f->planted || info.outcome == GPUOPT_CONVERGED);
    for (j = 0, k = 0; j < cols; j++) {
        if (found.lb[j] == s->lb[j] && found.ub[j] == s->ub[j]) continue;
        REQUIRE(k < bounds.count && bound_col[k] == j && bound_ub[k] == found.ub[j]);
        /* A lower bound that exceeds the upper one within the tolerance is returned as the upper one. */
        REQUIRE(bound_lb[k] == found.lb[j] || (found.lb[j] > found.ub[j] && bound_lb[k] == found.ub[j]));
        REQUIRE(!s->f->planted || (bound_lb[k] <= s->f->x[j] && s->f->x[j] <= bound_ub[k]));
        k++;
    }
    REQUIRE(k == bounds.count);
}

void many_nodes(fuzz *f, gpuopt_propagator_desc model) {
    static farm state; /* too large for a sanitizer's stack */
    farm *s = &state;
    int call, k;
    memset(s, 0, sizeof *s);
    s->f = f;
    s->model = model;
    s->model.marking = GPUOPT_DEFAULT;
    if (model.matrix.cols == 0) return;
    REQUIRE(gpuopt_propagator_create(f->context, &s->model, NULL, &s->base) == GPUOPT_OK);
    for (call = 0; call < CALLS && f->bytes.size > 0; call++) {
        for (k = (int)take(s) % PAST; k > 0; k--) {
            past *q = &s->past[s->pasts];
            memset(q, 0, sizeof *q);
            if (take(s) % 2) q->rounds = 1 + (int32_t)take(s) % 3;
            else draw(s, q->col = (int32_t)take(s) % model.matrix.cols, &q->lb, &q->ub);
            s->pasts++;
            repeat(s->base, q);
        }
        REQUIRE(gpuopt_propagator_get_bounds(s->base, GPUOPT_HOST, 0, NULL, s->lb, s->ub) == GPUOPT_OK);
        if (take(s) % 2) run_batch(s);
        else run_probe(s);
    }
    gpuopt_propagator_destroy(s->base);
}
