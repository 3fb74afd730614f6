/* SPDX-License-Identifier: MIT
 *
 * How a job with large tables is cut for the staged kernel (staged_kernel.cuh).
 *
 * A block computes tile after tile of the message. A tile has several rows; a row has one entry, or one word of narrow
 * entries, for each thread of a team. A stage holds the parts of the tables for one tile and a group of values of the
 * eliminated variable. It consists of segments, ranges of neighbours in a table, which are copied while earlier stages
 * are added up. The rows of a tile need not be neighbours: variables that a large table lacks become rows first. The
 * copied part of that table then serves all rows, and the table is read only once.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_STAGED_PLAN_CUH
#define GPUOPT_CUDA_ELIMINATION_STAGED_PLAN_CUH

#include <algorithm>
#include <cstring>

#include "digits.cuh"

namespace {

/* A job in the form that the kernel reads. Operands that depend on the row come first; number `operands` is the
 * message. */
struct Staged {
    int64_t at, copy_stride; /* of the message */
    int64_t tiles;
    int64_t outer_size[digits_most], outer_stride[staged_operands + 1][digits_most];
    int64_t row_stride[staged_operands + 1][staged_row_digits];
    int32_t row_size[staged_row_digits]; /* the first digit runs fastest */
    int32_t entry_size[digits_most], entry_stride[staged_operands][digits_most];
    int32_t operand[staged_operands]; /* numbers in the plan */
    int32_t outer, row_digits, entry_digits;
    int32_t operands, varying, values, copies;
    int32_t entries, rows, width;     /* words of a row; rows of a tile; threads of a team */
    int32_t height, pack;             /* rows that a thread of the kernel can hold; entries of a word */
    int32_t group;                    /* values of a stage */
    int32_t decision_bits;            /* not 0: the kernel also finds the decisions, of this many bits, */
    int64_t decision, decision_words; /* from this word on; words of a copy */
    /* For one value: segments of each operand, chunks of 16 bytes in a segment, and a mask of the row digits inside
     * one. */
    int32_t segments[staged_operands], chunks[staged_operands];
    uint32_t inside[staged_operands];
    uint32_t wide, one; /* masks of operands: neighbours fill a word; one entry is the same for all of a word */
    int32_t all_segments, all_chunks;
    int32_t stage_bytes; /* distance of stages; some bytes after the segments are read for rows that a team lacks */
    /* Offsets of a thread's rows, and of a team's first row, against the first row: in shared memory in bytes, in the
     * message in entries. */
    int32_t team_rows;
    uint32_t row_place[staged_varying][staged_highest], team_place[staged_varying][staged_teams];
    int64_t row_at[staged_highest], team_at[staged_teams];
};

/* Shared memory of a block: the stages, and for each operand that is the same for all rows, the place of each entry in
 * a segment. */
inline size_t staged_shared_bytes(const Staged &p) {
    return staged_depth * static_cast<size_t>(p.stage_bytes) +
           sizeof(uint16_t) * static_cast<size_t>(p.operands - p.varying) * p.entries * p.pack;
}

/* The largest divisor of size that is at most `most`, 1 or more. */
int64_t largest_divisor(int64_t size, int64_t most) {
    int64_t part = size < most ? size : most;
    while (size % part) part--;
    return part;
}

/* Digits while a job is cut: the digits that belong neither to a row nor to the rows of a tile yet, and the digits of
 * the rows. */
struct StagedDigits {
    MessageDigits outer;
    int64_t row_size[staged_row_digits], row_stride[staged_row_digits][digits_operands + 1];
    int rows, row_digits;
};

/* Splits a digit of size `part` off outer digit j: the part that varies fastest. stride [operands + 1]: receives the
 * strides of the new digit. */
void staged_take(StagedDigits *d, int operands, int j, int64_t part, int64_t *stride) {
    MessageDigits &o = d->outer;
    for (int k = 0; k <= operands; k++) {
        stride[k] = o.stride[j][k];
        o.stride[j][k] *= part;
    }
    o.size[j] /= part;
    if (o.size[j] > 1) return;
    o.count--;
    for (int i = j; i < o.count; i++) {
        o.size[i] = o.size[i + 1];
        for (int k = 0; k <= operands; k++) o.stride[i][k] = o.stride[i + 1][k];
    }
}

/* Makes a row of the fastest digits: at most `most` entries. */
void staged_cut_row(StagedDigits *d, int operands, int64_t most, Staged *s) {
    int64_t entries = 1, stride[digits_operands + 1];
    s->entry_digits = 0;
    while (d->outer.count > 0 && s->entry_digits < digits_most) {
        const int j = d->outer.count - 1;
        const int64_t size = d->outer.size[j], part = largest_divisor(size, most / entries);
        if (part == 1) break;
        staged_take(d, operands, j, part, stride);
        s->entry_size[s->entry_digits] = static_cast<int32_t>(part);
        for (int k = 0; k < operands; k++) s->entry_stride[k][s->entry_digits] = static_cast<int32_t>(stride[k]);
        s->entry_digits++;
        entries *= part;
        if (part < size) break;
    }
    s->entries = static_cast<int32_t>(entries);
}

/* Multiplies the rows by `part`, taken from outer digit j. */
void staged_add_rows(StagedDigits *d, int operands, int j, int64_t part) {
    const int to = d->row_digits++;
    d->row_size[to] = part;
    staged_take(d, operands, j, part, d->row_stride[to]);
    d->rows *= static_cast<int>(part);
}

/* Entries of operand k read with the present tiles: entries for a tile, times the number of tiles, without outer digit
 * `less`. */
double staged_reads(const StagedDigits &d, const Staged &s, int k, int less) {
    double reads = 1;
    for (int j = 0; j < d.outer.count; j++) reads *= j == less ? 1.0 : static_cast<double>(d.outer.size[j]);
    for (int j = 0; j < d.row_digits; j++) reads *= d.row_stride[j][k] ? static_cast<double>(d.row_size[j]) : 1.0;
    for (int j = 0; j < s.entry_digits; j++) reads *= s.entry_stride[k][j] ? s.entry_size[j] : 1;
    return reads;
}

/* The smallest sufficient number of rows of a thread with a kernel; 0: there is none. */
constexpr int staged_height(int rows, int pack) {
    return pack > 1     ? (rows <= 10   ? 10
                           : rows <= 16 ? 16
                                        : 0)
           : rows <= 9  ? 9
           : rows <= 13 ? 13
           : rows <= 16 ? 16
           : rows <= 27 ? 27
                        : 0;
}

/* Rows of a thread: fewer if each takes more than one register. */
constexpr int staged_highest_of(int pack, bool decides) { return pack > 1 || decides ? 16 : staged_highest; }

/* The share of the threads' rows that a tile with `rows` rows uses. groups: teams. */
double staged_share(int rows, int groups, int pack) {
    return static_cast<double>(rows) / (groups * staged_height((rows + groups - 1) / groups, pack));
}

/* How many operands depend on digit j but on no digit of the rows. */
int staged_more(const StagedDigits &d, int operands, int j) {
    int more = 0;
    for (int k = 0; k < operands; k++) {
        bool varies = !d.outer.stride[j][k];
        for (int i = 0; i < d.row_digits; i++) varies |= d.row_stride[i][k] != 0;
        more += !varies;
    }
    return more;
}

/* Chooses the rows of a tile: first digits that large operands lack, then digits on which the fewest further operands
 * depend, the fastest of equal digits. apart: rows need not be neighbours. entries: of the message. */
void staged_cut_rows(StagedDigits *d, int operands, int groups, int pack, int most, bool apart, double entries,
                     const Staged &s) {
    while (apart) {
        int best = -1;
        double gain = entries / 8;
        for (int j = 0; j < d->outer.count; j++) {
            double own = 0;
            for (int k = 0; k < operands; k++)
                if (!d->outer.stride[j][k]) own += staged_reads(*d, s, k, -1) - staged_reads(*d, s, k, j);
            if (own > gain && largest_divisor(d->outer.size[j], most / d->rows) > 1) best = j, gain = own;
        }
        if (best < 0 || d->row_digits == staged_row_digits - 1) break;
        staged_add_rows(d, operands, best, largest_divisor(d->outer.size[best], most / d->rows));
    }
    while (d->outer.count > 0 && d->row_digits < staged_row_digits) {
        int best = d->outer.count - 1;
        for (int j = best - 1; apart && j >= 0; j--)
            if (staged_more(*d, operands, j) < staged_more(*d, operands, best)) best = j;
        const int64_t size = d->outer.size[best];
        int64_t part = size * d->rows <= most ? size : 1;
        double score = 0;
        for (int64_t f = 1; f * d->rows <= most && part < size; f++) {
            const int rows = static_cast<int>(f) * d->rows;
            const double own = staged_share(rows, groups, pack) * rows / (rows + 4);
            if (size % f == 0 && own > score) part = f, score = own;
        }
        if (part > 1) staged_add_rows(d, operands, best, part);
        if (part < size) break;
    }
}

template <class T>
void staged_swap(T *a, T *b) {
    const T old = *a;
    *a = *b;
    *b = old;
}

/* Sorts the outer digits such that digits that large operands lack run fastest: data that are read again are then still
 * in the L2 cache. */
void staged_order_outer(StagedDigits *d, int operands, const Staged &s) {
    MessageDigits &o = d->outer;
    double again[digits_most];
    for (int j = 0; j < o.count; j++) {
        again[j] = 0;
        for (int k = 0; k < operands; k++)
            if (!o.stride[j][k]) again[j] += staged_reads(*d, s, k, j);
    }
    for (int i = 1; i < o.count; i++)
        for (int j = i; j > 0 && again[j] < again[j - 1]; j--) {
            staged_swap(&o.size[j], &o.size[j - 1]);
            staged_swap(&again[j], &again[j - 1]);
            for (int k = 0; k <= operands; k++) staged_swap(&o.stride[j][k], &o.stride[j - 1][k]);
        }
}

/* How the `pack` entries of a word lie in operand k: side by side; one for all of them; or scattered. */
enum StagedKind { STAGED_WIDE, STAGED_ONE, STAGED_APART };

StagedKind staged_kind(const Staged &s, int k, int pack) {
    int64_t wide = 1, same = 1;
    int j = 0;
    while (j < s.entry_digits && s.entry_stride[k][j] == wide) wide *= s.entry_size[j++];
    if (wide % pack == 0) return STAGED_WIDE;
    for (j = 0; j < s.entry_digits && !s.entry_stride[k][j]; j++) same *= s.entry_size[j];
    return same % pack == 0 || j == s.entry_digits ? STAGED_ONE : STAGED_APART;
}

/* Finds the segments of operand k. Rows that follow one another in the operand make one segment, and so do some with
 * small gaps between them. All segments of a value must begin at the same offset within 16 bytes; false: they do
 * not. */
bool staged_segments(Staged *s, int k, int64_t bytes) {
    int64_t length = 1;
    bool longer = true;
    for (int j = 0; j < s->entry_digits; j++)
        length += (s->entry_size[j] - 1) * static_cast<int64_t>(s->entry_stride[k][j]);
    s->inside[k] = 0;
    s->segments[k] = 1;
    while (longer) {
        longer = false;
        for (int j = 0; j < s->row_digits; j++) {
            if (s->inside[k] >> j & 1 || s->row_stride[k][j] != length) continue;
            length *= s->row_size[j];
            s->inside[k] |= 1u << j;
            longer = true;
        }
    }
    for (int j = 0; j < s->row_digits; j++) {
        if (!s->row_stride[k][j] || s->inside[k] >> j & 1) continue;
        const int64_t with_gaps = length + (s->row_size[j] - 1) * s->row_stride[k][j];
        if (s->row_stride[k][j] * bytes % 16 == 0) s->segments[k] *= s->row_size[j];
        else if (with_gaps > 2 * length * s->row_size[j] && with_gaps * bytes > staged_gaps) return false;
        else {
            length = with_gaps;
            s->inside[k] |= 1u << j;
        }
    }
    s->chunks[k] = static_cast<int32_t>((length * bytes + 15) / 16);
    return true;
}

/* Whether every address at which a segment of operand k can begin is a multiple of 16 bytes. */
bool staged_aligned(const Staged &s, int k, const gpuopt__elimination_operand &o, int64_t bytes) {
    int64_t all = o.at | o.copy_stride | (s.values > 1 ? o.value_stride : 0);
    for (int j = 0; j < s.outer; j++) all |= s.outer_stride[k][j];
    return o.condition < 0 && all * bytes % 16 == 0;
}

/* Stores the digits with the operands in their new order: operands that depend on the row first, and of these the wide
 * ones first. False: there are none, or too many, or they are scattered. */
bool staged_fill(const gpuopt__elimination_job &job, const StagedDigits &d, Staged *s) {
    int from[staged_operands + 1], count = 0;
    s->varying = 0;
    s->wide = s->one = 0;
    for (int pass = 0; pass < 3; pass++) /* varying and wide; varying; the same for all rows */
        for (int k = 0; k < job.operands; k++) {
            const StagedKind kind = staged_kind(*s, k, s->pack);
            bool varies = false;
            for (int j = 0; j < d.row_digits; j++) varies |= d.row_stride[j][k] != 0;
            if (pass != (varies ? kind != STAGED_WIDE : 2)) continue;
            if (varies && kind == STAGED_APART) return false;
            if (kind == STAGED_WIDE) s->wide |= 1u << count;
            if (kind == STAGED_ONE) s->one |= 1u << count;
            from[count++] = k;
            s->varying += varies;
        }
    if (s->varying == 0 || s->varying > staged_varying) return false;
    from[count] = job.operands;
    s->outer = d.outer.count;
    s->row_digits = d.row_digits;
    s->rows = d.rows;
    s->tiles = 1;
    for (int j = 0; j < s->outer; j++) {
        s->outer_size[j] = d.outer.size[j];
        s->tiles *= d.outer.size[j];
    }
    for (int j = 0; j < s->row_digits; j++) s->row_size[j] = static_cast<int32_t>(d.row_size[j]);
    int32_t entry_stride[staged_operands][digits_most];
    std::memcpy(entry_stride, s->entry_stride, sizeof entry_stride);
    for (int k = 0; k <= job.operands; k++) {
        for (int j = 0; j < s->outer; j++) s->outer_stride[k][j] = d.outer.stride[j][from[k]];
        for (int j = 0; j < s->row_digits; j++) s->row_stride[k][j] = d.row_stride[j][from[k]];
        if (k == job.operands) break;
        for (int j = 0; j < s->entry_digits; j++) s->entry_stride[k][j] = entry_stride[from[k]][j];
        s->operand[k] = job.operand + from[k];
    }
    return true;
}

/* The bytes that a stage needs after its segments. A team that lacks rows reads at their places. These must not be in
 * the next stage, which copies may be filling. */
int32_t staged_beyond(const Staged &s, int64_t bytes) {
    int64_t most = 0;
    for (int k = 0, chunk = 0; k < s.varying; chunk += s.segments[k] * s.chunks[k], k++) {
        uint32_t row = 0, team = 0;
        int64_t length = 1;
        for (int r = 0; r < staged_highest; r++) row = row < s.row_place[k][r] ? s.row_place[k][r] : row;
        for (int t = 0; t < staged_teams; t++) team = team < s.team_place[k][t] ? s.team_place[k][t] : team;
        for (int j = 0; j < s.entry_digits; j++)
            length += (s.entry_size[j] - 1) * static_cast<int64_t>(s.entry_stride[k][j]);
        /* Up to 15 bytes of a segment's first chunk come before its first row. */
        const int64_t beyond = 15 + row + team + length * bytes + 16 * int64_t{chunk - s.all_chunks};
        if (beyond > most) most = beyond;
    }
    return static_cast<int32_t>((most + 15) / 16 * 16);
}

/* Sets the number of values of a stage, as large as it may be. False: not even one value fits. */
bool staged_group(Staged *s, int64_t bytes) {
    s->all_segments = s->all_chunks = 0;
    for (int k = 0; k < s->operands; k++) {
        s->all_segments += s->segments[k];
        s->all_chunks += s->segments[k] * s->chunks[k];
    }
    int64_t group = staged_bytes / (16 * int64_t{s->all_chunks});
    if (group > staged_segments_most / s->all_segments) group = staged_segments_most / s->all_segments;
    if (group > s->values) group = s->values;
    if (group < 1) return false;
    const int64_t stages = (s->values + group - 1) / group;
    s->group = static_cast<int32_t>((s->values + stages - 1) / stages);
    s->stage_bytes = 16 * s->all_chunks * s->group + staged_beyond(*s, bytes);
    return staged_shared_bytes(*s) <= staged_memory_most;
}

/* The place of a row: in the message (k == operands) in entries, or in the copied part of operand k in bytes. */
int64_t staged_row(const Staged &s, int k, int row, int64_t bytes) {
    int64_t at = 0, segment = 0, scale = 1;
    for (int j = 0; j < s.row_digits; j++) {
        const int digit = row % s.row_size[j];
        row /= s.row_size[j];
        if (k == s.operands || s.inside[k] >> j & 1) at += digit * s.row_stride[k][j];
        else if (s.row_stride[k][j]) {
            segment += scale * digit;
            scale *= s.row_size[j];
        }
    }
    return k == s.operands ? at : at * bytes + segment * 16 * s.chunks[k];
}

/* Divides the rows among the teams. False: the rows of the teams do not have the same places relative to the first. */
bool staged_share_rows(Staged *s, int teams, int64_t bytes) {
    s->team_rows = (s->rows + teams - 1) / teams;
    std::memset(s->row_place, 0, sizeof s->row_place); /* missing rows read the first one */
    std::memset(s->team_place, 0, sizeof s->team_place);
    std::memset(s->row_at, 0, sizeof s->row_at);
    std::memset(s->team_at, 0, sizeof s->team_at);
    for (int n = 0; n <= s->varying; n++) { /* the operands that depend on the row; then the message */
        const int k = n < s->varying ? n : s->operands;
        for (int row = 0; row < s->rows; row++) {
            const int team = row / s->team_rows, r = row % s->team_rows;
            const int64_t at = staged_row(*s, k, row, bytes);
            if (at != staged_row(*s, k, team * s->team_rows, bytes) + staged_row(*s, k, r, bytes)) return false;
            if (k == s->operands) {
                if (team == 0) s->row_at[r] = at;
                if (r == 0) s->team_at[team] = at;
            } else {
                if (team == 0) s->row_place[k][r] = static_cast<uint32_t>(at);
                if (r == 0) s->team_place[k][team] = static_cast<uint32_t>(at);
            }
        }
    }
    return true;
}

/* Cuts a job for words of `pack` entries. most: the most rows of a tile; apart: they need not be neighbours. */
bool staged_cut(const gpuopt__elimination_job &job, const gpuopt__elimination_operand *operand,
                const MessageDigits &digits, int64_t bytes, int pack, int most, bool apart, Staged *s) {
    StagedDigits d;
    d.outer = digits;
    d.rows = 1;
    d.row_digits = 0;
    staged_cut_row(&d, job.operands, staged_consumers * int64_t{pack}, s);
    if (s->entries % pack) return false;
    s->entries /= pack;
    s->width = staged_consumers;
    while (s->width / 2 >= s->entries && s->width > 64) s->width /= 2;
    if (2 * s->entries <= s->width) return false;
    const int groups = staged_consumers / s->width;
    most = std::min(most, staged_highest_of(pack, s->decision_bits != 0) * groups);
    staged_cut_rows(&d, job.operands, groups, pack, most, apart, static_cast<double>(job.entries), *s);
    if (d.rows < 4) return false;
    staged_order_outer(&d, job.operands, *s);
    s->operands = job.operands;
    s->values = job.values;
    s->pack = pack;
    if (!staged_fill(job, d, s)) return false;
    s->height = staged_height((d.rows + groups - 1) / groups, pack);
    for (int k = 0; k < s->operands; k++) {
        if (!staged_segments(s, k, bytes)) return false;
        if (!operand || !staged_aligned(*s, k, operand[s->operand[k]], bytes)) s->chunks[k]++;
    }
    return staged_share_rows(s, groups, bytes) && staged_group(s, bytes);
}

/* Whether a job is so large, with so few and so narrow tables, that cutting it for the staged kernel is tried. */
bool staged_is_tried(const gpuopt__elimination_job &job, int32_t copies, int64_t bytes, int multiprocessors) {
    return job.rows > 1 && bytes <= 4 && job.operands <= staged_operands &&
           job.entries * copies >= int64_t{staged_tiles_least} * multiprocessors * staged_entries_least;
}

/* Whether a job suits the staged kernel, and how it is cut. operand: the operands of the plan, or NULL for a chunk of a
 * job, with operands only on the device. pool: the array with the job's digits. bytes: of a stored cost. decisions: the
 * job of the message's decisions if these are to be found as well, or NULL. */
bool find_staged(const gpuopt__elimination_job &job, const gpuopt__elimination_operand *operand, const int64_t *pool,
                 int32_t copies, int64_t bytes, int multiprocessors, const gpuopt__elimination_job *decisions,
                 Staged *s) {
    MessageDigits digits;
    const int64_t tiles = int64_t{staged_tiles_least} * multiprocessors;
    if (!staged_is_tried(job, copies, bytes, multiprocessors) || !gather_digits(job, pool, &digits)) return false;
    s->at = job.at;
    s->copy_stride = job.copy_stride;
    s->copies = copies;
    s->decision_bits = decisions ? decisions->decision_bits : 0;
    s->decision = decisions ? decisions->decision : 0;
    s->decision_words = gpuopt__elimination_decision_words(job.entries, s->decision_bits);
    for (int pack = decisions ? 1 : static_cast<int>(4 / bytes); pack > 0; pack /= 2)
        for (int most = staged_rows_most; most >= 4; most /= 2)
            for (int apart = 1; apart >= 0; apart--)
                if (staged_cut(job, operand, digits, bytes, pack, most, apart != 0, s) && s->tiles * copies >= tiles)
                    return true;
    return false;
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_STAGED_PLAN_CUH */
