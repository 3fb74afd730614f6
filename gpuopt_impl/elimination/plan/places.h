/* SPDX-License-Identifier: MIT
 *
 * Elimination: the width of a stored cost, and the place of every table: in the store or, with STREAM, in host memory.
 */
#ifndef GPUOPT_IMPL_ELIMINATION_PLAN_PLACES_H
#define GPUOPT_IMPL_ELIMINATION_PLAN_PLACES_H

#include "../backend.h"
#include "chunks.h"
#include "jobs.h"

/* Returns the narrowest width that holds every finite sum and "forbidden". Kernels add costs of up to 32 bits in 32
 * bits, so the sum of a whole bucket must fit, forbidden costs included. Costs of 64 bits are clamped after every
 * addition. */
static int32_t gpuopt__elimination_narrowest_bits(const gpuopt__elimination_draft *draft) {
    uint64_t forbidden = draft->plan.forbidden, most = 1;
    int64_t k;
    if (draft->plan.type == GPUOPT_COST_DOUBLE) return 64;
    for (k = 0; k < draft->bucket.count; k++) {
        uint64_t inputs = (uint64_t)((gpuopt__elimination_bucket *)draft->bucket.data)[k].inputs;
        if (inputs > most) most = inputs;
    }
    if (forbidden > UINT32_MAX / most) return 64;
    return forbidden <= UINT8_MAX ? 8 : forbidden <= UINT16_MAX ? 16 : 32;
}

/* ---- Reuse of memory ---- */

/* A free stretch of a store. The list is ascending, and the last stretch has no end. */
typedef struct gpuopt__elimination_stretch {
    int64_t at, entries;
} gpuopt__elimination_stretch;

static int64_t gpuopt__elimination_take_stretch(gpuopt__elimination_list *free_list, int64_t entries) {
    gpuopt__elimination_stretch *f = (gpuopt__elimination_stretch *)free_list->data;
    int64_t k = 0, at;
    while (f[k].entries < entries) k++;
    at = f[k].at;
    f[k].at += entries;
    f[k].entries -= entries;
    if (f[k].entries == 0) {
        memmove(f + k, f + k + 1, sizeof *f * (size_t)(free_list->count - k - 1));
        free_list->count--;
    }
    return at;
}

static gpuopt_status gpuopt__elimination_free_stretch(gpuopt__elimination_scratch *scratch,
                                                      gpuopt__elimination_list *free_list, int64_t at,
                                                      int64_t entries) {
    gpuopt__elimination_stretch *f;
    int64_t k = 0, count = free_list->count;
    if (!entries) return GPUOPT_OK;
    if (!gpuopt__elimination_list_add(scratch, free_list, 1)) return scratch->status;
    f = (gpuopt__elimination_stretch *)free_list->data;
    while (f[k].at < at) k++; /* the last stretch begins behind every table */
    memmove(f + k + 1, f + k, sizeof *f * (size_t)(count - k));
    f[k].at = at;
    f[k].entries = entries;
    if (k + 1 < free_list->count && f[k].at + f[k].entries == f[k + 1].at) {
        f[k].entries += f[k + 1].entries;
        memmove(f + k + 1, f + k + 2, sizeof *f * (size_t)(free_list->count - k - 2));
        free_list->count--;
    }
    if (k > 0 && f[k - 1].at + f[k - 1].entries == f[k].at) {
        f[k - 1].entries += f[k].entries;
        memmove(f + k, f + k + 1, sizeof *f * (size_t)(free_list->count - k - 1));
        free_list->count--;
    }
    return GPUOPT_OK;
}

/* Places the messages and partial joins of one store, job by job. The memory of a table is free again after the
 * computation of the bucket that reads it. */
static gpuopt_status gpuopt__elimination_reuse_memory(gpuopt__elimination_draft *draft, int on_host, int64_t first,
                                                      int64_t *end) {
    gpuopt__elimination_list free_list;
    gpuopt__elimination_stretch *all;
    gpuopt_status status = GPUOPT_OK;
    int64_t b, k;
    memset(&free_list, 0, sizeof free_list);
    free_list.size = sizeof(gpuopt__elimination_stretch);
    all = (gpuopt__elimination_stretch *)gpuopt__elimination_list_add(draft->scratch, &free_list, 1);
    if (!all) return draft->scratch->status;
    all->at = *end = first;
    all->entries = INT64_MAX / 2;
    for (b = 0; b < draft->bucket.count && !status; b++) {
        const gpuopt__elimination_bucket *bucket = (gpuopt__elimination_bucket *)draft->bucket.data + b;
        const gpuopt__elimination_job *job = (gpuopt__elimination_job *)draft->job.data + bucket->job, *last;
        const gpuopt__elimination_operand *operand = (gpuopt__elimination_operand *)draft->operand.data;
        for (k = 0; k < bucket->jobs; k++) {
            gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, job[k].table);
            int64_t entries = gpuopt__elimination_aligned(t->entries * draft->plan.copies);
            if (t->on_host != on_host || job[k].decision_bits) continue;
            t->at = gpuopt__elimination_take_stretch(&free_list, entries);
            if (t->at + entries > *end) *end = t->at + entries;
        }
        last = job + bucket->jobs - 1;
        if (last->decision_bits) last--; /* this job has the operands of the others again */
        for (k = job[0].operand; k < last->operand + last->operands && !status; k++) {
            const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, operand[k].table);
            if (t->source != -1 && t->on_host == on_host)
                status = gpuopt__elimination_free_stretch(draft->scratch, &free_list, t->at,
                                                          gpuopt__elimination_aligned(t->entries * draft->plan.copies));
        }
    }
    gpuopt__elimination_list_free(draft->scratch, &free_list);
    return status;
}

/* ---- All places ---- */

static void gpuopt__elimination_resolve_jobs(gpuopt__elimination_draft *draft) {
    gpuopt__elimination_plan *plan = &draft->plan;
    int64_t j, k, digits;
    plan->most_operands = plan->most_rows = plan->most_entries = 0;
    plan->chunk_digits = plan->gathered = 0;
    for (j = 0; j < draft->job.count; j++) {
        gpuopt__elimination_job *job = (gpuopt__elimination_job *)draft->job.data + j;
        const gpuopt__elimination_table *r = gpuopt__elimination_draft_table(draft, job->table);
        if (job->operands > plan->most_operands) plan->most_operands = job->operands;
        if (job->rows > plan->most_rows) plan->most_rows = job->rows;
        if (job->row_entries > plan->most_entries) plan->most_entries = job->row_entries;
        job->at = r->at;
        job->on_host = job->streamed = r->on_host;
        job->count_at = job->decision_bits ? -1 : r->count_at;
        job->copy_stride = r->entries;
        for (k = job->operand; k < job->operand + job->operands; k++) {
            gpuopt__elimination_operand *operand = (gpuopt__elimination_operand *)draft->operand.data + k;
            const gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, operand->table);
            operand->at = t->at;
            operand->count_at = job->decision_bits ? -1 : t->count_at;
            operand->copy_stride = t->source == -1 ? 0 : t->entries;
            operand->condition = t->condition;
            operand->on_host = t->on_host;
            job->streamed |= t->on_host;
        }
        digits = ((int64_t)job->operands + 2) * gpuopt__elimination_job_digits(job) + 1;
        if (job->streamed && digits > plan->chunk_digits) plan->chunk_digits = digits;
    }
    plan->jobs = (int32_t)draft->job.count;
    plan->operands = (int32_t)draft->operand.count;
    plan->buckets = (int32_t)draft->bucket.count;
    plan->tables = (int32_t)draft->table.count;
    plan->scopes = draft->scope.count;
    plan->inputs = draft->input.count;
    plan->digits = draft->digit.count;
    for (j = 0; plan->chunk_digits && j < draft->bucket.count; j++) {
        const gpuopt__elimination_bucket *b = (gpuopt__elimination_bucket *)draft->bucket.data + j;
        int64_t entries = b->variable < 0 ? 0 : (int64_t)b->inputs * draft->desc->domain[b->variable];
        if (entries > plan->gathered) plan->gathered = entries;
    }
    plan->roots = 0;
    for (j = 0; j < draft->table.count; j++)
        plan->roots += gpuopt__elimination_is_root(plan, gpuopt__elimination_draft_table(draft, (int32_t)j));
}

/* Places messages and partial joins behind the functions and their counts. */
static gpuopt_status gpuopt__elimination_place_results(gpuopt__elimination_draft *draft, int64_t first,
                                                       int64_t counts) {
    gpuopt__elimination_plan *plan = &draft->plan;
    int64_t end[2] = {first, 0}; /* of the store; of the functions from the caller */
    gpuopt_status status = GPUOPT_OK;
    int32_t k;
    plan->count_shift = counts - first;
    for (k = 0; k < 2 && !plan->keep && !status; k++)
        status = gpuopt__elimination_reuse_memory(draft, k, end[k], &end[k]);
    for (k = plan->first_message; k < (int32_t)draft->table.count; k++) {
        gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, k);
        t->condition = -1;
        if (plan->keep) {
            t->at = end[t->on_host];
            end[t->on_host] += gpuopt__elimination_aligned(t->entries * plan->copies);
        }
        if (plan->semiring == GPUOPT_SEMIRING_MIN_COUNT) t->count_at = t->at + (t->on_host ? 0 : plan->count_shift);
    }
    plan->store = plan->buffer_at = end[0];
    plan->counts = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? end[0] + plan->count_shift : 0;
    plan->host_store = end[1];
    plan->buffer = 0;
    gpuopt__elimination_resolve_jobs(draft);
    return status;
}

/* ---- Decisions ---- */

/* The buckets that a pass of the value phase computes: its own, and the buckets below with messages that lead to these.
 * With decisions, a bucket's number is its position. needed [buckets]. */
static void gpuopt__elimination_find_needed(const gpuopt__elimination_plan *plan,
                                            const gpuopt__elimination_bucket *bucket, int64_t buckets,
                                            const gpuopt__elimination_table *table, int32_t pass, uint8_t *needed) {
    int64_t b;
    for (b = buckets - 1; b >= 0; b--) {
        const int32_t reader = table[bucket[b].message].bucket;
        needed[b] = bucket[b].pass == pass || (bucket[b].pass > pass && reader < plan->steps && needed[reader]);
    }
}

/* Places the decisions of every message, and divides the value phase into as few passes as possible, each with at most
 * `most` words or with one message. Passes use the same memory. */
static void gpuopt__elimination_place_decisions(gpuopt__elimination_draft *draft, int64_t most) {
    gpuopt__elimination_plan *plan = &draft->plan;
    int64_t used = 0, b, j;
    plan->decisions = 0;
    plan->passes = 1;
    for (b = draft->bucket.count - 1; b >= 0 && plan->decides; b--) {
        gpuopt__elimination_bucket *bucket = (gpuopt__elimination_bucket *)draft->bucket.data + b;
        gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, bucket->message);
        const int32_t bits =
            bucket->variable < 0 ? 0 : gpuopt__elimination_decision_width(draft->desc->domain[bucket->variable]);
        const int64_t words = gpuopt__elimination_decision_words(t->entries, bits) * plan->copies;
        if (used > 0 && words > most - used) plan->passes++, used = 0;
        bucket->pass = plan->passes - 1;
        t->decision_bits = bits;
        t->decision = used;
        used += words;
        if (used > plan->decisions) plan->decisions = used;
    }
    for (j = 0; j < draft->job.count; j++) {
        gpuopt__elimination_job *job = (gpuopt__elimination_job *)draft->job.data + j;
        if (job->decision_bits) job->decision = gpuopt__elimination_draft_table(draft, job->table)->decision;
    }
}

/* ---- Tables in host memory ---- */

typedef struct gpuopt__elimination_message_size {
    int64_t entries;
    int32_t table;
} gpuopt__elimination_message_size;

static int gpuopt__elimination_larger_first(const void *a, const void *b) {
    const gpuopt__elimination_message_size *l = (const gpuopt__elimination_message_size *)a,
                                           *r = (const gpuopt__elimination_message_size *)b;
    return l->entries != r->entries ? (l->entries < r->entries) - (l->entries > r->entries)
                                    : (l->table > r->table) - (l->table < r->table);
}

/* The data for placing tables in host memory. */
typedef struct gpuopt__elimination_streaming {
    gpuopt__elimination_message_size *message; /* [messages] the largest first */
    int32_t messages;
    int64_t first, counts; /* ends of functions and of their counts */
    uint64_t limit, host_limit;
} gpuopt__elimination_streaming;

/* Places this many messages in host memory. Returns 3 if host memory is too small for them. Otherwise device memory
 * decides: 2 if it holds buffers of the wanted size, 1 if it holds single tiles, 0 if not even these. */
static int gpuopt__elimination_try_host(gpuopt__elimination_draft *draft, const gpuopt__elimination_streaming *s,
                                        int32_t on_host, gpuopt_status *status) {
    gpuopt__elimination_plan *plan = &draft->plan;
    const int64_t *pool = (const int64_t *)draft->digit.data;
    const gpuopt__elimination_operand *operand = (const gpuopt__elimination_operand *)draft->operand.data;
    const int counted = plan->semiring == GPUOPT_SEMIRING_MIN_COUNT;
    const uint64_t bytes = (uint64_t)gpuopt__elimination_cost_bytes(plan) + (counted ? sizeof(uint64_t) : 0);
    gpuopt_memory_plan memory;
    int64_t whole = 0, tile = 0, wanted, fitting, j;
    for (j = 0; j < s->messages; j++)
        gpuopt__elimination_draft_table(draft, s->message[j].table)->on_host = j < on_host;
    *status = gpuopt__elimination_place_results(draft, s->first, s->counts);
    if (*status) return 0;
    for (j = 0; j < draft->job.count; j++) {
        const gpuopt__elimination_job *job = (const gpuopt__elimination_job *)draft->job.data + j;
        int64_t all, one;
        if (!job->streamed) continue;
        all = gpuopt__elimination_whole_job_entries(job, pool, operand);
        one = gpuopt__elimination_one_tile_entries(job, pool, operand);
        if (all > whole) whole = all;
        if (one > tile) tile = one;
    }
    memset(&memory, 0, sizeof memory);
    draft->scratch->context->desc.backend->elimination->plan(draft->scratch->context, plan, &memory);
    if (s->host_limit && (uint64_t)plan->host_store > s->host_limit / bytes) return 3;
    if (memory.device_bytes > s->limit) return 0;
    fitting = (int64_t)((s->limit - memory.device_bytes) / bytes) / 2 & ~(int64_t)(GPUOPT__ELIMINATION_TABLE_ALIGN - 1);
    wanted = (int64_t)(s->limit / bytes / (2 * GPUOPT__ELIMINATION_BUFFERS_PART));
    plan->buffer = fitting < whole ? fitting : whole;
    plan->store += 2 * plan->buffer;
    plan->counts += counted ? 2 * plan->buffer : 0;
    return fitting < tile ? 0 : fitting < wanted && fitting < whole ? 1 : 2;
}

/* Places the largest messages in host memory, as few as possible. */
static gpuopt_status gpuopt__elimination_place_on_host(gpuopt__elimination_draft *draft,
                                                       gpuopt__elimination_streaming *s, int *fits) {
    gpuopt__elimination_plan *plan = &draft->plan;
    const uint64_t message_bytes = sizeof *s->message * (uint64_t)plan->messages;
    int32_t k, low, high, enough, found;
    gpuopt_status status = GPUOPT_OK;
    s->message = (gpuopt__elimination_message_size *)gpuopt__elimination_scratch_take(draft->scratch, message_bytes);
    if (!s->message) return draft->scratch->status;
    s->messages = 0;
    for (k = plan->first_message; k < plan->first_message + plan->messages; k++) {
        gpuopt__elimination_message_size m = {gpuopt__elimination_draft_table(draft, k)->entries, k};
        if (m.entries > GPUOPT__ELIMINATION_TABLE_ALIGN) s->message[s->messages++] = m;
    }
    gpuopt__elimination_sort(s->message, s->messages, sizeof *s->message, gpuopt__elimination_larger_first);
    for (enough = 2; enough > 0 && !*fits && !status; enough--) {
        for (low = 1, high = s->messages; low < high && !status;) {
            int32_t middle = low + (high - low) / 2;
            if (gpuopt__elimination_try_host(draft, s, middle, &status) >= enough) high = middle;
            else low = middle + 1;
        }
        found = !status && s->messages > 0 ? gpuopt__elimination_try_host(draft, s, low, &status) : 0;
        *fits = !status && found >= enough && found < 3;
    }
    gpuopt__elimination_scratch_give(draft->scratch, s->message, message_bytes);
    return status;
}

/* Places all tables: functions first, then computed tables. stream_limit == 0: everything in one store. Otherwise
 * stream_limit is the available device memory in bytes, and host_limit limits the tables in host memory (0: no
 * limit). */
static gpuopt_status gpuopt__elimination_place_tables(gpuopt__elimination_draft *draft, uint64_t stream_limit,
                                                      uint64_t host_limit, int *fits) {
    gpuopt__elimination_plan *plan = &draft->plan;
    gpuopt__elimination_streaming s;
    int32_t k;
    memset(&s, 0, sizeof s);
    s.limit = stream_limit;
    s.host_limit = host_limit;
    *fits = !stream_limit;
    plan->bits = gpuopt__elimination_narrowest_bits(draft);
    plan->condition_rows = 0;
    for (k = 0; k < plan->first_message; k++) {
        gpuopt__elimination_table *t = gpuopt__elimination_draft_table(draft, k);
        t->condition = t->fixed > 0 ? plan->condition_rows++ : -1;
        if (k == plan->first_device) { /* no function from the caller comes later */
            plan->function_store = s.first;
            plan->function_counts = s.counts;
        }
        t->at = s.first;
        s.first += gpuopt__elimination_aligned(t->entries);
        if (!draft->desc->function[t->function].count) continue;
        t->count_at = s.counts;
        s.counts += gpuopt__elimination_aligned(t->entries);
    }
    if (plan->first_device == plan->first_message) {
        plan->function_store = s.first;
        plan->function_counts = s.counts;
    }
    gpuopt__elimination_place_decisions(draft, INT64_MAX);
    return stream_limit ? gpuopt__elimination_place_on_host(draft, &s, fits)
                        : gpuopt__elimination_place_results(draft, s.first, s.counts);
}

#endif /* GPUOPT_IMPL_ELIMINATION_PLAN_PLACES_H */
