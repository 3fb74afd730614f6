/* SPDX-License-Identifier: MIT */
/* The library again, for its private parts, without externally visible names. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define GPUOPT_API static
#define GPUOPT_IMPLEMENTATION
#define GPUOPT_WITHOUT_PROPAGATE
#define GPUOPT_WITHOUT_BASIS
#define GPUOPT_WITHOUT_SIMPLEX
#define GPUOPT_WITHOUT_KNAPSACK
#include "tests/elimination/streaming.h"
#include "tests/support/support.h"

streaming_totals streaming_done;

/* The part of an operand in a buffer: `entries` entries of each value from `at` on; at == -1: empty. */
typedef struct held_part {
    int64_t at, entries;
} held_part;

typedef struct streaming {
    gpuopt__elimination_cpu cpu; /* its store: device memory, then host memory */
    void *memory;
    int64_t *digit;                       /* [chunk_digits] */
    gpuopt__elimination_operand *operand; /* [most_operands] */
    held_part *held[2];                   /* [most_operands] */
} streaming;

/* A job that is being run. */
typedef struct chunk_run {
    streaming *s;
    const gpuopt__elimination_job *job;
    gpuopt__elimination_chunks cut;
    gpuopt__elimination_job chunk;
    int64_t number, end; /* of the chunk; where its buffer ends in the store */
    int set;             /* the buffer */
} chunk_run;

/* ---- Memory ---- */

static uint64_t cut_handle(const gpuopt__elimination_plan *plan, void *memory, streaming *s) {
    gpuopt__arena arena;
    int k;
    arena.base = (char *)memory;
    arena.used = 0;
    gpuopt__cut(&arena, 1, sizeof *s);
    s->digit = gpuopt__cut(&arena, plan->chunk_digits, sizeof *s->digit);
    s->operand = gpuopt__cut(&arena, plan->most_operands, sizeof *s->operand);
    for (k = 0; k < 2; k++) s->held[k] = gpuopt__cut(&arena, plan->most_operands, sizeof *s->held[k]);
    return arena.used;
}

/* Bytes of the tables; `device`: without tables in host memory. */
static uint64_t cut_tables(const gpuopt_context *context, const gpuopt__elimination_plan *plan, int device,
                           void *memory, gpuopt__elimination_cpu *e) {
    gpuopt__elimination_plan all = *plan;
    if (!device) {
        all.store += plan->host_store;
        all.counts += plan->semiring == GPUOPT_SEMIRING_MIN_COUNT ? plan->host_store : 0;
    }
    return gpuopt__elimination_cpu_cut(context, &all, memory, e);
}

static void streaming_plan(const gpuopt_context *context, const gpuopt__elimination_plan *plan,
                           gpuopt_memory_plan *memory) {
    streaming s;
    memory->device_bytes = cut_tables(context, plan, 1, NULL, &s.cpu);
    memory->host_bytes += cut_tables(context, plan, 0, NULL, &s.cpu) - memory->device_bytes;
    memory->host_bytes += cut_handle(plan, NULL, &s);
}

static gpuopt_status streaming_create(gpuopt_context *context, const gpuopt__elimination_plan *plan,
                                      gpuopt_elimination **elimination) {
    streaming draft;
    uint64_t bytes;
    void *memory;
    gpuopt_status status;
    memset(&draft, 0, sizeof draft);
    bytes = cut_tables(context, plan, 0, NULL, &draft.cpu);
    status = gpuopt__allocate(context, GPUOPT_HOST, bytes, &draft.memory);
    if (status) return status;
    status = gpuopt__allocate(context, GPUOPT_HOST, cut_handle(plan, NULL, &draft), &memory);
    if (status) {
        gpuopt__release(context, GPUOPT_HOST, draft.memory);
        return status;
    }
    memset(draft.memory, 0xa5, (size_t)bytes);
    cut_tables(context, plan, 0, draft.memory, &draft.cpu);
    cut_handle(plan, memory, &draft);
    draft.cpu.head.context = context;
    *(streaming *)memory = draft;
    *elimination = &((streaming *)memory)->cpu.head;
    return GPUOPT_OK;
}

static void streaming_destroy(gpuopt_elimination *e) {
    gpuopt__release(e->context, GPUOPT_HOST, ((streaming *)e)->memory);
    gpuopt__release(e->context, GPUOPT_HOST, e);
}

/* ---- Chunks ---- */

/* The start of a table in host memory within the store: behind the device, at `at` in its own store. */
static int64_t host_entry(const gpuopt__elimination_plan *plan, int64_t at) { return plan->store + at; }

static int64_t host_count(const gpuopt__elimination_plan *plan, int64_t at) { return plan->counts + at; }

static void move_costs(streaming *s, int64_t to, int64_t from, int64_t entries) {
    int64_t bytes = gpuopt__elimination_cost_bytes(&s->cpu.head.plan);
    memcpy((char *)s->cpu.store + to * bytes, (char *)s->cpu.store + from * bytes, (size_t)(entries * bytes));
}

static void move_counts(streaming *s, int64_t to, int64_t from, int64_t entries) {
    memcpy(s->cpu.counts + to, s->cpu.counts + from, sizeof(uint64_t) * (size_t)entries);
}

/* Fills entries from .. end - 1 of a buffer with garbage. */
static void spoil(streaming *s, int64_t from, int64_t end) {
    const gpuopt__elimination_plan *plan = &s->cpu.head.plan;
    int64_t bytes = gpuopt__elimination_cost_bytes(plan);
    memset((char *)s->cpu.store + from * bytes, 0x5a, (size_t)((end - from) * bytes));
    if (plan->semiring == GPUOPT_SEMIRING_MIN_COUNT)
        memset(s->cpu.counts + from + plan->count_shift, 0x5a, sizeof(uint64_t) * (size_t)(end - from));
}

/* Copies the chunk's part of operand k, unless the buffer still has it from the chunk before the last. */
static void fill_part(chunk_run *run, int32_t k) {
    streaming *s = run->s;
    const gpuopt__elimination_plan *plan = &s->cpu.head.plan;
    const gpuopt__elimination_operand *whole = &plan->operand[run->job->operand + k], *part = &s->operand[k];
    const gpuopt__elimination_table *table = &plan->table[whole->table];
    const int64_t entries = part->value_stride;
    held_part *held = &s->held[run->set][k], now;
    int32_t v;
    now.at = gpuopt__elimination_chunk_at(run->job, plan->digit, k, &run->cut, run->number);
    now.entries = entries;
    assert_true(part->at >= plan->buffer_at + run->set * plan->buffer);
    assert_true(part->at + entries * run->job->values <= run->end);
    assert_true(run->job->values == 1 || entries <= whole->value_stride);
    if (held->at == now.at && held->entries == now.entries) {
        streaming_done.held++;
        return;
    }
    *held = now;
    spoil(s, part->at, part->at + entries * run->job->values);
    for (v = 0; v < run->job->values; v++) {
        int64_t from = now.at + v * whole->value_stride;
        assert_true(whole->at + from >= table->at && whole->at + from + entries <= table->at + table->entries);
        move_costs(s, part->at + v * entries, host_entry(plan, whole->at + from), entries);
        if (part->count_at >= 0)
            move_counts(s, part->count_at + v * entries, host_count(plan, whole->count_at + from), entries);
    }
}

static void run_chunk(chunk_run *run) {
    streaming *s = run->s;
    gpuopt__elimination_plan *plan = &s->cpu.head.plan, kept = *plan;
    const gpuopt__elimination_job *job = run->job;
    int64_t begin = plan->buffer_at + run->set * plan->buffer, to;
    int32_t k;
    run->end = begin + plan->buffer;
    gpuopt__elimination_make_chunk(job, plan->digit, plan->operand, &run->cut, run->number, begin, plan->count_shift,
                                   &run->chunk, s->operand, s->digit);
    for (k = 0; k < job->operands; k++)
        if (plan->operand[job->operand + k].on_host) fill_part(run, k);
    to = gpuopt__elimination_chunk_at(job, plan->digit, job->operands, &run->cut, run->number);
    assert_true(to >= 0 && to + run->chunk.entries <= job->entries);
    if (job->on_host) {
        assert_true(run->chunk.at >= begin && run->chunk.at + run->chunk.entries <= run->end);
        spoil(s, run->chunk.at, run->end);
    } else {
        assert_true(run->chunk.at == job->at + to);
    }
    plan->digit = s->digit;
    plan->operand = s->operand;
    gpuopt__elimination_cpu_run_job(&s->cpu, &run->chunk);
    plan->digit = kept.digit;
    plan->operand = kept.operand;
    if (!job->on_host) return;
    move_costs(s, host_entry(plan, job->at + to), run->chunk.at, run->chunk.entries);
    if (job->count_at >= 0)
        move_counts(s, host_count(plan, job->count_at + to), run->chunk.count_at, run->chunk.entries);
}

/* Small tables shall have several chunks too. */
enum { LEAST_BYTES = 64, WANTED_CHUNKS = 4 };

static void run_job(streaming *s, const gpuopt__elimination_job *job) {
    const gpuopt__elimination_plan *plan = &s->cpu.head.plan;
    chunk_run run;
    int64_t entries = 0, most = 0;
    int32_t k;
    memset(&run, 0, sizeof run);
    run.s = s;
    run.job = job;
    gpuopt__elimination_cut_chunks(job, plan->digit, plan->operand, plan->buffer,
                                   LEAST_BYTES / gpuopt__elimination_cost_bytes(plan), WANTED_CHUNKS, &run.cut);
    spoil(s, plan->buffer_at, plan->buffer_at + 2 * plan->buffer);
    for (k = 0; k < job->operands; k++) s->held[0][k].at = s->held[1][k].at = -1;
    for (run.number = 0; run.number < run.cut.count; run.number++, run.set ^= 1) {
        run_chunk(&run);
        entries += run.chunk.entries;
        if (run.chunk.entries > most) most = run.chunk.entries;
        streaming_done.short_chunks += run.chunk.entries < most;
        streaming_done.short_rows += run.chunk.entries < most && run.chunk.row_total && run.chunk.tile_digits == 1;
    }
    assert_true(entries == job->entries);
    streaming_done.jobs++;
    streaming_done.chunks += (long)run.cut.count;
    streaming_done.inner += run.cut.digit > 0;
}

static gpuopt_status streaming_run(gpuopt_elimination *e, const int32_t *list, int32_t from, int32_t to) {
    for (; from < to; from++) {
        const gpuopt__elimination_job *job = &e->plan.job[list[from]];
        if (job->streamed) run_job((streaming *)e, job);
        else gpuopt__elimination_cpu_run_job((gpuopt__elimination_cpu *)e, job);
    }
    return GPUOPT_OK;
}

/* ---- Tables as the CPU sees them ---- */

/* Moves tables in host memory to their places in the store, or back (sign -1). */
static void shift_tables(gpuopt__elimination_plan *plan, int sign) {
    int32_t k;
    for (k = plan->first_message; k < plan->tables; k++) {
        gpuopt__elimination_table *t = &plan->table[k];
        if (!t->on_host) continue;
        t->at += sign * host_entry(plan, 0);
        if (t->count_at >= 0) t->count_at += sign * host_count(plan, 0);
    }
}

static gpuopt_status streaming_assign(gpuopt_elimination *e, int32_t copy, int32_t from, int32_t to, int32_t *value,
                                      gpuopt__elimination_total *total) {
    gpuopt_status status;
    shift_tables(&e->plan, 1);
    status = gpuopt__elimination_cpu_assign(e, copy, from, to, value, total);
    shift_tables(&e->plan, -1);
    return status;
}

static gpuopt_status streaming_read(gpuopt_elimination *e, int32_t table, int32_t copy, int64_t first, int64_t count,
                                    void *cost, uint64_t *counts) {
    gpuopt_status status;
    shift_tables(&e->plan, 1);
    status = gpuopt__elimination_cpu_read(e, table, copy, first, count, cost, counts);
    shift_tables(&e->plan, -1);
    return status;
}

static gpuopt_status streaming_view(gpuopt_elimination *e, int32_t table, int32_t copy, const void **view) {
    const gpuopt__elimination_table *t = &e->plan.table[table];
    if (t->on_host) return GPUOPT_ERROR_UNSUPPORTED;
    *view = gpuopt__elimination_cpu_cost(e, t->at + copy * t->entries);
    return GPUOPT_OK;
}

const gpuopt_backend *streaming_backend(void) {
    static struct gpuopt__elimination_backend table;
    static gpuopt_backend backend;
    table = gpuopt__elimination_cpu_table;
    table.has_stream = 1;
    table.plan = streaming_plan;
    table.create = streaming_create;
    table.destroy = streaming_destroy;
    table.run = streaming_run;
    table.assign = streaming_assign;
    table.read = streaming_read;
    table.view = streaming_view;
    backend = *gpuopt_backend_cpu();
    backend.name = "streaming";
    backend.elimination = &table;
    return &backend;
}
