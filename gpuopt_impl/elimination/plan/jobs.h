/* SPDX-License-Identifier: MIT
 *
 * From buckets to jobs: assigns the digits of a message's index to tiles, rows of a tile and entries of a row, and
 * selects functions to add up beforehand.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_JOBS_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_JOBS_H

#include "buckets.h"

/* The digits of a job before they are merged: the variables of the message; one may be split in two. */
typedef struct gpuopt__elimination_digits {
    int32_t count, tile, row; /* all of them; of the tile's number; of the row's number; the rest are entries of the
                               * row */
    int64_t size[2];          /* of the split digit: pieces, then rows of a piece */
    int32_t split;            /* the split variable of the scope, -1: none */
    int32_t rows, row_total, row_entries;
} gpuopt__elimination_digits;

/* How many of `size` values, at most `most`, make a piece: a divisor of size if one is near, else the number that
 * leaves the fewest places empty. */
static int32_t gpuopt__elimination_piece_of(int32_t size, int32_t most) {
    int32_t best = 1, idle = INT32_MAX, piece;
    for (piece = most; piece >= (most + 1) / 2 && piece > 1; piece--) {
        int32_t left = (piece - size % piece) % piece;
        if (left < idle) best = piece, idle = left;
    }
    return best;
}

/* Decides which variables of a scope make tiles, rows and entries. */
static void gpuopt__elimination_split_scope(const int32_t *domain, int32_t arity, const int32_t *scope, int64_t entries,
                                            gpuopt__elimination_digits *g) {
    int64_t product = 1;
    int32_t k = arity;
    memset(g, 0, sizeof *g);
    g->split = -1;
    while (k > 0) {
        int64_t next = product * domain[scope[k - 1]];
        if (k < arity && next > GPUOPT__ELIMINATION_ROW_MOST &&
            (product >= GPUOPT__ELIMINATION_ROW_LEAST || next > GPUOPT__ELIMINATION_ROW_LIMIT))
            break;
        product = next;
        k--;
    }
    g->row_entries = (int32_t)product;
    g->row = arity - k; /* entries of a row, for now */
    g->rows = 1;
    if (entries >= GPUOPT__ELIMINATION_TILED_FROM) {
        while (k > 0 && g->rows * (int64_t)domain[scope[k - 1]] <= GPUOPT__ELIMINATION_TILE_ROWS)
            g->rows *= domain[scope[--k]];
        if (k > 0) {
            int32_t size = domain[scope[k - 1]],
                    piece = gpuopt__elimination_piece_of(size, GPUOPT__ELIMINATION_TILE_ROWS / g->rows);
            /* The last piece may be short only if this digit alone makes the rows. */
            if (piece > 1 && (g->rows == 1 || size % piece == 0)) {
                g->split = --k;
                g->size[0] = (size + piece - 1) / piece;
                g->size[1] = piece;
                g->rows *= piece;
                g->row_total = size % piece ? size : 0;
            }
        }
    }
    g->count = arity + (g->split >= 0);
    g->tile = k + (g->split >= 0);
    g->row = arity - g->row - k;
}

/* Size and step of digit j of a scope. stride [arity]: an operand's strides, 0 for variables that it lacks. */
static void gpuopt__elimination_digit(const gpuopt__elimination_digits *g, const int32_t *domain, const int32_t *scope,
                                      const int64_t *stride, int32_t j, int64_t *size, int64_t *step) {
    int32_t k = g->split >= 0 && j > g->split ? j - 1 : j;
    *size = domain[scope[k]];
    *step = stride[k];
    if (g->split < 0 || k != g->split) return;
    *size = g->size[j > g->split];
    if (j == g->split) *step *= g->size[1];
}

/* Appends sizes and strides [operands + 1][digits] to the pool. Neighbouring digits are merged if every operand
 * passes through both with one stride. steps [operands + 1][arity]: strides by variable. */
static gpuopt_status gpuopt__elimination_merge_digits(gpuopt__elimination_draft *draft, gpuopt__elimination_job *job,
                                                      const gpuopt__elimination_digits *g, const int32_t *scope,
                                                      int32_t arity, const int64_t *steps) {
    const int32_t *domain = draft->desc->domain;
    int32_t ends[3], group, first = 0, j, k, count = 0, rows = job->operands + 1;
    int64_t length = (int64_t)g->count * (rows + 1), *merged, *out;
    merged = (int64_t *)gpuopt__elimination_scratch_take(draft->scratch, sizeof(int64_t) * (uint64_t)length);
    if (!merged) return draft->scratch->status;
    ends[0] = g->tile;
    ends[1] = g->tile + g->row;
    ends[2] = g->count;
    for (group = 0; group < 3; group++) {
        int32_t before = count;
        for (j = first; j < ends[group]; j++) {
            int joins = count > before;
            int64_t size = 0, step;
            for (k = 0; k < rows; k++) {
                gpuopt__elimination_digit(g, domain, scope, steps + (int64_t)k * arity, j, &size, &step);
                joins &= count > before && merged[(int64_t)(count - 1) * (rows + 1) + 1 + k] == step * size;
            }
            if (size == 1) continue;
            /* The last tile digit counts pieces if rows are left over, and is then not merged. */
            joins &= !(group == 0 && g->row_total && j == g->tile - 1);
            if (!joins) merged[(int64_t)count++ * (rows + 1)] = 1;
            merged[(int64_t)(count - 1) * (rows + 1)] *= size;
            for (k = 0; k < rows; k++)
                gpuopt__elimination_digit(g, domain, scope, steps + (int64_t)k * arity, j, &size,
                                          &merged[(int64_t)(count - 1) * (rows + 1) + 1 + k]);
        }
        if (group == 0) job->tile_digits = count;
        else if (group == 1) job->row_digits = count - before;
        else job->entry_digits = count - before;
        first = ends[group];
    }
    job->size = draft->digit.count;
    job->stride = job->size + count;
    out = (int64_t *)gpuopt__elimination_list_add(draft->scratch, &draft->digit, (int64_t)count * (rows + 1));
    for (j = 0; out && j < count; j++)
        for (k = 0; k <= rows; k++) out[(int64_t)k * count + j] = merged[(int64_t)j * (rows + 1) + k];
    gpuopt__elimination_scratch_give(draft->scratch, merged, sizeof(int64_t) * (uint64_t)length);
    job->tiles = 1;
    for (j = 0; out && j < job->tile_digits; j++) job->tiles *= out[j];
    return draft->scratch->status;
}

/* Finds the strides of a table in the variables of a scope; returns the stride of `variable`. */
static int64_t gpuopt__elimination_strides_of(const gpuopt__elimination_draft *draft,
                                              const gpuopt__elimination_table *t, int32_t arity, const int32_t *scope,
                                              int32_t variable, int64_t *step) {
    const int32_t *own = gpuopt__elimination_draft_scope(draft, t);
    const int64_t *stride = (const int64_t *)draft->stride.data + t->scope;
    int64_t apart = 0;
    int32_t j, k;
    for (j = 0; j < arity; j++) step[j] = 0;
    for (k = t->fixed; k < t->arity; k++) {
        if (own[k] == variable) apart = stride[k];
        for (j = 0; j < arity; j++)
            if (scope[j] == own[k]) step[j] = stride[k];
    }
    return apart;
}

/* Adds a job that joins `inputs` into table `result` and eliminates `variable` (-1: none). decides: it stores the
 * decisions instead; its tiles have one row, and its operands keep their order. */
static gpuopt_status gpuopt__elimination_add_job(gpuopt__elimination_draft *draft, int32_t bucket, int32_t level,
                                                 int32_t result, int32_t variable, int32_t inputs, const int32_t *input,
                                                 int decides) {
    const gpuopt__elimination_table *r = gpuopt__elimination_draft_table(draft, result);
    const int32_t *scope = gpuopt__elimination_draft_scope(draft, r);
    int32_t arity = r->arity, k, j, pass;
    gpuopt__elimination_digits g;
    gpuopt__elimination_job *job =
        (gpuopt__elimination_job *)gpuopt__elimination_list_add(draft->scratch, &draft->job, 1);
    gpuopt__elimination_operand *operand;
    uint64_t step_bytes = sizeof(int64_t) * (uint64_t)arity * ((uint64_t)inputs + 2);
    int64_t *steps, *step;
    gpuopt_status status;
    if (!job) return draft->scratch->status;
    job->operand = (int32_t)draft->operand.count;
    operand = (gpuopt__elimination_operand *)gpuopt__elimination_list_add(draft->scratch, &draft->operand, inputs);
    steps = (int64_t *)gpuopt__elimination_scratch_take(draft->scratch, step_bytes);
    if (!operand || !steps) return draft->scratch->status;
    job->entries = r->entries;
    job->operands = inputs;
    job->values = variable < 0 ? 1 : draft->desc->domain[variable];
    job->level = level;
    job->bucket = bucket;
    job->table = result;
    job->maximum = draft->plan.semiring == GPUOPT_SEMIRING_LOG_SUM_EXP && variable >= 0 &&
                   ((gpuopt__elimination_bucket *)draft->bucket.data)[bucket].part > 0;
    if (decides) job->decision_bits = gpuopt__elimination_decision_width(job->values);
    gpuopt__elimination_split_scope(draft->desc->domain, arity, scope, decides ? 0 : r->entries, &g);
    job->rows = g.rows;
    job->row_total = g.row_total;
    job->row_entries = g.row_entries;
    step = steps;
    for (pass = 0; pass < 2; pass++) /* first the operands that depend on the row */
        for (k = 0; k < inputs; k++) {
            const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, input[k]);
            int varying = 0;
            int64_t apart = gpuopt__elimination_strides_of(draft, t, arity, scope, variable, step);
            for (j = 0; j < arity; j++) /* variables of the tile, then of the row */
                varying |= step[j] != 0 && ((j >= g.tile - (g.split >= 0) && j < g.tile + g.row - (g.split >= 0)));
            if (varying == pass) continue;
            operand->value_stride = apart;
            operand->table = input[k];
            operand->condition = -1;
            job->varying += varying;
            operand++;
            step += arity;
        }
    gpuopt__elimination_strides_of(draft, r, arity, scope, variable, step);
    status = gpuopt__elimination_merge_digits(draft, job, &g, scope, arity, steps);
    gpuopt__elimination_scratch_give(draft->scratch, steps, step_bytes);
    return status;
}

/* ---- Partial joins ---- */

/* The dependence of a table on the entries of a row: 0: on no variable of the row, 1: on no other variable, 2: on both.
 * in_row [variables] == mark: a variable of the row. */
static int gpuopt__elimination_nearness(const gpuopt__elimination_draft *draft, const gpuopt__elimination_table *t,
                                        int32_t variable, const int32_t *in_row, int32_t mark) {
    const int32_t *scope = gpuopt__elimination_draft_scope(draft, t);
    int inside = 0, outside = 0;
    int32_t k;
    for (k = t->fixed; k < t->arity; k++) {
        if (scope[k] == variable) continue;
        if (in_row[scope[k]] == mark) inside = 1;
        else outside = 1;
    }
    return !inside ? 0 : !outside ? 1 : 2;
}

/* Adds up tables of one kind, greedily, while the sum stays small. The sum replaces them in the list `input`, and the
 * level of the bucket exceeds the level of the job. */
static gpuopt_status gpuopt__elimination_join_kind(gpuopt__elimination_draft *draft, int32_t number, int kind,
                                                   const int32_t *in_row, int32_t mark, int64_t most,
                                                   const int32_t *level, int32_t *inputs, int32_t *input,
                                                   int32_t *chosen, int32_t *variables) {
    const gpuopt__elimination_bucket bucket = *((gpuopt__elimination_bucket *)draft->bucket.data + number);
    int32_t start, k, j;
    for (start = 0; start < *inputs; start++) {
        int32_t count = 0, arity = 0, kept = 0, sum, above = 0, seen = gpuopt__elimination_next_union(draft);
        int64_t entries = 1;
        for (k = start; k < *inputs; k++) {
            const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, input[k]);
            const int32_t *scope = gpuopt__elimination_draft_scope(draft, t);
            int64_t grown = entries;
            if (t->source == -2 || gpuopt__elimination_nearness(draft, t, bucket.variable, in_row, mark) != kind) {
                if (k == start) break;
                continue;
            }
            for (j = t->fixed; j < t->arity && grown <= most; j++)
                if (draft->mark[scope[j]] != seen) grown *= draft->desc->domain[scope[j]];
            if (grown > most) {
                if (k == start) break; /* too large by itself */
                continue;
            }
            entries = grown;
            for (j = t->fixed; j < t->arity; j++)
                if (draft->mark[scope[j]] != seen) draft->mark[scope[j]] = seen, variables[arity++] = scope[j];
            chosen[count++] = k;
        }
        if (count < 2) continue;
        sum = gpuopt__elimination_add_table(draft, arity, variables);
        if (sum < 0) return draft->scratch->status;
        gpuopt__elimination_draft_table(draft, sum)->source = -2;
        gpuopt__elimination_draft_table(draft, sum)->bucket = bucket.position;
        for (k = 0; k < count; k++) { /* chosen: positions, then tables */
            int32_t at = chosen[k];
            chosen[k] = input[at];
            input[at] = -1;
            if (level[chosen[k]] > above) above = level[chosen[k]];
        }
        if (gpuopt__elimination_add_job(draft, number, above, sum, -1, count, chosen, 0)) return draft->scratch->status;
        if (((gpuopt__elimination_bucket *)draft->bucket.data)[number].level <= above)
            ((gpuopt__elimination_bucket *)draft->bucket.data)[number].level = above + 1;
        input[start] = sum;
        for (k = 0; k < *inputs; k++)
            if (input[k] >= 0) input[kept++] = input[k];
        *inputs = kept;
    }
    return GPUOPT_OK;
}

static gpuopt_status gpuopt__elimination_partial_joins(gpuopt__elimination_draft *draft, int32_t number,
                                                       int32_t *in_row, const int32_t *level, int32_t *inputs,
                                                       int32_t *input, int32_t *chosen) {
    const gpuopt__elimination_bucket *bucket = (gpuopt__elimination_bucket *)draft->bucket.data + number;
    const gpuopt__elimination_table *message = gpuopt__elimination_draft_table(draft, bucket->message);
    const int32_t *scope = gpuopt__elimination_draft_scope(draft, message);
    gpuopt_status status = GPUOPT_OK;
    int64_t most = message->entries / 256;
    gpuopt__elimination_digits g;
    int32_t k, kind, *variables, length = message->arity + 1;
    gpuopt__elimination_split_scope(draft->desc->domain, message->arity, scope, message->entries, &g);
    for (k = g.tile + g.row - (g.split >= 0); k < message->arity; k++) in_row[scope[k]] = number + 1;
    if (most > GPUOPT__ELIMINATION_PARTIAL_MOST) most = GPUOPT__ELIMINATION_PARTIAL_MOST;
    variables = (int32_t *)gpuopt__elimination_scratch_take(draft->scratch, sizeof(int32_t) * (uint64_t)length);
    if (!variables) return draft->scratch->status;
    for (kind = 0; kind < 3 && !status; kind++)
        status = gpuopt__elimination_join_kind(draft, number, kind, in_row, number + 1, most, level, inputs, input,
                                               chosen, variables);
    gpuopt__elimination_scratch_give(draft->scratch, variables, sizeof(int32_t) * (uint64_t)length);
    return status;
}

/* ---- All jobs ---- */

/* Adds the jobs of one bucket. level [tables]: for a message 1 + the level of its bucket; 0 for functions. */
static gpuopt_status gpuopt__elimination_bucket_jobs(gpuopt__elimination_draft *draft, int32_t number, int32_t *in_row,
                                                     int32_t *level) {
    gpuopt__elimination_bucket *bucket = (gpuopt__elimination_bucket *)draft->bucket.data + number;
    const gpuopt__elimination_table *message = gpuopt__elimination_draft_table(draft, bucket->message);
    int32_t inputs = bucket->inputs, k, *remaining;
    double joined = (double)message->entries * (bucket->variable < 0 ? 1 : draft->desc->domain[bucket->variable]);
    gpuopt_status status = GPUOPT_OK;
    bucket->job = (int32_t)draft->job.count;
    bucket->level = 0;
    for (k = 0; k < inputs; k++) {
        int32_t own = level[((int32_t *)draft->input.data)[bucket->input + k]];
        if (own > bucket->level) bucket->level = own;
    }
    remaining =
        (int32_t *)gpuopt__elimination_scratch_take(draft->scratch, sizeof(int32_t) * 2 * ((uint64_t)inputs + 1));
    if (!remaining) return draft->scratch->status;
    if (inputs) memcpy(remaining, (int32_t *)draft->input.data + bucket->input, sizeof(int32_t) * (size_t)inputs);
    /* Not with counts, since every input has separate counts. */
    if (joined >= GPUOPT__ELIMINATION_PARTIAL_FROM && draft->plan.semiring != GPUOPT_SEMIRING_MIN_COUNT)
        status = gpuopt__elimination_partial_joins(draft, number, in_row, level, &inputs, remaining,
                                                   remaining + bucket->inputs + 1);
    bucket = (gpuopt__elimination_bucket *)draft->bucket.data + number;
    if (!status)
        status = gpuopt__elimination_add_job(draft, number, bucket->level, bucket->message, bucket->variable, inputs,
                                             remaining, 0);
    bucket = (gpuopt__elimination_bucket *)draft->bucket.data + number;
    if (!status && draft->plan.decides && bucket->variable >= 0 && draft->desc->domain[bucket->variable] > 1)
        status = gpuopt__elimination_add_job(draft, number, bucket->level, bucket->message, bucket->variable,
                                             bucket->inputs, (int32_t *)draft->input.data + bucket->input, 1);
    gpuopt__elimination_scratch_give(draft->scratch, remaining, sizeof(int32_t) * 2 * ((uint64_t)bucket->inputs + 1));
    bucket->jobs = (int32_t)draft->job.count - bucket->job;
    level[bucket->message] = bucket->level + 1;
    if (bucket->level >= draft->plan.levels) draft->plan.levels = bucket->level + 1;
    return status;
}

static gpuopt_status gpuopt__elimination_draft_jobs(gpuopt__elimination_draft *draft) {
    int32_t k, count = (int32_t)draft->bucket.count, tables = (int32_t)draft->table.count, *in_row, *level;
    uint64_t in_row_bytes = sizeof(int32_t) * ((uint64_t)draft->plan.variables + 1);
    uint64_t level_bytes = sizeof(int32_t) * ((uint64_t)tables + 1);
    gpuopt_status status = GPUOPT_OK;
    in_row = (int32_t *)gpuopt__elimination_scratch_take(draft->scratch, in_row_bytes);
    level = (int32_t *)gpuopt__elimination_scratch_take(draft->scratch, level_bytes);
    if (!in_row || !level) {
        gpuopt__elimination_scratch_give(draft->scratch, in_row, in_row_bytes);
        return draft->scratch->status;
    }
    memset(in_row, 0, (size_t)in_row_bytes);
    memset(level, 0, (size_t)level_bytes);
    draft->plan.levels = 0;
    for (k = 0; k < count && !status; k++) status = gpuopt__elimination_bucket_jobs(draft, k, in_row, level);
    gpuopt__elimination_scratch_give(draft->scratch, in_row, in_row_bytes);
    gpuopt__elimination_scratch_give(draft->scratch, level, level_bytes);
    return status;
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_JOBS_H */
