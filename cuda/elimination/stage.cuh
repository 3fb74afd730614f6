/* SPDX-License-Identifier: MIT
 *
 * How a job with large tables is cut for the kernel that brings them through shared memory (elimination/staged.cuh).
 *
 * A block takes tile after tile of the message: rows of neighbours, so many that a group of threads has an entry, or
 * a word of narrow ones, each. For a group of values of the eliminated variable all that a tile needs of the tables is
 * a stage: stretches of neighbours, segments, which are copied while earlier stages are added up. The rows of a tile
 * need not be neighbours: a variable that a large table does not have makes rows first, so that what is copied of that
 * table serves all of them and each table is read once.
 */
#ifndef GPUOPT_CUDA_ELIMINATION_STAGE_CUH
#define GPUOPT_CUDA_ELIMINATION_STAGE_CUH

#include <cstring>

#include "digits.cuh"

namespace {

constexpr int staged_consumers = 256; /* threads that add up */
constexpr int staged_producers = 2;   /* warps that bring stages, in turn */
constexpr int staged_threads = staged_consumers + 32 * staged_producers;
constexpr int staged_operands = 8;
constexpr int staged_varying = 3; /* of these, at most, depend on the row */
constexpr int staged_row_digits = 6;
constexpr int staged_depth = 4;           /* stages in shared memory */
constexpr int staged_segments_most = 256; /* of a stage */
constexpr int staged_rows_most = 64;      /* of a tile */
constexpr int staged_highest = 27;        /* rows of a thread */
constexpr int staged_teams = 4;           /* groups of threads with rows of their own, at most */
constexpr int staged_tiles_least = 4;     /* tiles for each multiprocessor, at least, and entries of one */
constexpr int staged_entries_least = 1024;
constexpr int staged_resident = 2;      /* blocks of a multiprocessor */
constexpr int64_t staged_bytes = 18432; /* of a stage, at most */
constexpr int64_t staged_gaps = 1024;   /* bytes of a segment that may have any gaps between its rows */
/* Dynamic shared memory, at most: what every device from sm_90 on has beside the kernel's own 12 KB. */
constexpr size_t staged_memory_most = 84 * 1024;

/* What the kernel reads of a job. Operands: first those that depend on the row; number `operands`: the message. */
struct Staged {
    int64_t at, copy_stride; /* of the message */
    int64_t tiles;
    int64_t outer_size[digits_most], outer_stride[staged_operands + 1][digits_most];
    int64_t row_stride[staged_operands + 1][staged_row_digits];
    int32_t row_size[staged_row_digits]; /* the first digit runs fastest */
    int32_t entry_size[digits_most], entry_stride[staged_operands][digits_most];
    int32_t operand[staged_operands]; /* their numbers */
    int32_t outer, row_digits, entry_digits;
    int32_t operands, varying, values, copies;
    int32_t entries, rows, width; /* of a row, in words; of a tile; threads of a row */
    int32_t height, pack;         /* rows of a thread; entries of a word */
    int32_t group;                /* values of a stage */
    /* Of one value: of each operand segments, their chunks of 16 bytes, and the row digits that lie in one. */
    int32_t segments[staged_operands], chunks[staged_operands];
    uint32_t inside[staged_operands];
    uint32_t wide, one; /* operands with neighbours in a word, or with the same entry for all of it */
    int32_t all_segments, all_chunks;
    int32_t beyond; /* bytes behind the last stage that rows reach which a team does not have */
    /* What the rows of a thread, and the first one of a team, add to where the first row is: in shared memory, bytes, and
     * in the message. */
    int32_t team_rows;
    uint32_t row_place[staged_varying][staged_highest], team_place[staged_varying][staged_teams];
    int64_t row_at[staged_highest], team_at[staged_teams];
};

inline size_t staged_stage_bytes(const Staged &p) { return 16 * static_cast<size_t>(p.all_chunks) * p.group; }

/* Stages; of each operand that is the same for all rows, where in a segment it has each entry of a row. */
inline size_t staged_shared_bytes(const Staged &p) {
    return staged_depth * staged_stage_bytes(p) + static_cast<size_t>(p.beyond) +
           sizeof(uint16_t) * static_cast<size_t>(p.operands - p.varying) * p.entries * p.pack;
}

/* The largest divisor of size that is at most `most`, 1 or more. */
int64_t largest_divisor(int64_t size, int64_t most) {
    int64_t part = size < most ? size : most;
    while (size % part) part--;
    return part;
}

/* Digits in the making: those that are not in the row or the tile's rows yet, and those that are. */
struct StagedDigits {
    MessageDigits outer;
    int64_t row_size[staged_row_digits], row_stride[staged_row_digits][digits_operands + 1];
    int rows, row_digits;
};

/* Takes the fastest `part` values of outer digit j away; what is left of it remains. stride [operands + 1]. */
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

/* The entries of a row: the fastest digits, at most `most` of them. */
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

void staged_add_rows(StagedDigits *d, int operands, int j, int64_t part) {
    const int to = d->row_digits++;
    d->row_size[to] = part;
    staged_take(d, operands, j, part, d->row_stride[to]);
    d->rows *= static_cast<int>(part);
}

/* Entries of operand k that are read if tiles stay as they are: all of what is outside, times what a tile needs. */
double staged_reads(const StagedDigits &d, const Staged &s, int k, int less) {
    double reads = 1;
    for (int j = 0; j < d.outer.count; j++) reads *= j == less ? 1.0 : static_cast<double>(d.outer.size[j]);
    for (int j = 0; j < d.row_digits; j++) reads *= d.row_stride[j][k] ? static_cast<double>(d.row_size[j]) : 1.0;
    for (int j = 0; j < s.entry_digits; j++) reads *= s.entry_stride[k][j] ? s.entry_size[j] : 1;
    return reads;
}

/* Rows of a thread that there are kernels for: the least that is enough; 0: none is. */
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

constexpr int staged_highest_of(int pack) { return pack > 1 ? 16 : staged_highest; }

/* The share of a tile's threads that have something to do, with so many rows. */
double staged_share(int rows, int groups, int pack) {
    return static_cast<double>(rows) / (groups * staged_height((rows + groups - 1) / groups, pack));
}

/* How many operands depend on digit j, but on no digit of the rows. */
int staged_more(const StagedDigits &d, int operands, int j) {
    int more = 0;
    for (int k = 0; k < operands; k++) {
        bool varies = !d.outer.stride[j][k];
        for (int i = 0; i < d.row_digits; i++) varies |= d.row_stride[i][k] != 0;
        more += !varies;
    }
    return more;
}

/* The rows of a tile: first variables that large operands do not have, then those that fewest operands have beside
 * these, neighbours if there is a choice. apart: else only neighbours. entries: of the message. */
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

/* Outer digits that large operands do not have run fastest: what is read again is then still in the second cache. */
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

/* How the `pack` entries of a word lie in operand k: side by side, or one is the same for all of them. */
enum StagedKind { STAGED_WIDE, STAGED_ONE, STAGED_APART };

StagedKind staged_kind(const Staged &s, int k, int pack) {
    int64_t wide = 1, same = 1;
    int j = 0;
    while (j < s.entry_digits && s.entry_stride[k][j] == wide) wide *= s.entry_size[j++];
    if (wide % pack == 0) return STAGED_WIDE;
    for (j = 0; j < s.entry_digits && !s.entry_stride[k][j]; j++) same *= s.entry_size[j];
    return same % pack == 0 || j == s.entry_digits ? STAGED_ONE : STAGED_APART;
}

/* Segments of operand k: rows that follow one another in it are one, and so are some with gaps between them. All
 * segments of a value have to begin at the same place in a chunk of 16 bytes; false: they do not. */
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

/* Whether all addresses at which segments of operand k can begin are multiples of 16 bytes. */
bool staged_aligned(const Staged &s, int k, const gpuopt__elimination_operand &o, int64_t bytes) {
    int64_t all = o.at | o.copy_stride | (s.values > 1 ? o.value_stride : 0);
    for (int j = 0; j < s.outer; j++) all |= s.outer_stride[k][j];
    return o.condition < 0 && all * bytes % 16 == 0;
}

/* Writes the digits down with the operands in their new order: those that depend on the row first, of these the wide
 * ones. */
bool staged_fill(const gpuopt__elimination_job &job, const StagedDigits &d, Staged *s) {
    int from[staged_operands + 1], count = 0;
    s->varying = 0;
    s->wide = s->one = 0;
    for (int pass = 0; pass < 3; pass++) /* wide; not wide; calm */
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

/* Groups of values, as large as a stage may be; false: not even one value fits. */
bool staged_group(Staged *s) {
    s->all_segments = s->all_chunks = 0;
    for (int k = 0; k < s->operands; k++) {
        s->all_segments += s->segments[k];
        s->all_chunks += s->segments[k] * s->chunks[k];
    }
    s->beyond = 0;
    for (int k = 0, chunk = 0; k < s->varying; chunk += s->segments[k] * s->chunks[k], k++) {
        uint32_t row = 0, team = 0;
        for (int r = 0; r < staged_highest; r++) row = row < s->row_place[k][r] ? s->row_place[k][r] : row;
        for (int t = 0; t < staged_teams; t++) team = team < s->team_place[k][t] ? s->team_place[k][t] : team;
        /* A row, with what its segment begins behind a chunk's beginning, is not longer than the segment. */
        const int32_t beyond = static_cast<int32_t>(row + team) + 16 * (s->chunks[k] + chunk - s->all_chunks);
        if (beyond > s->beyond) s->beyond = (beyond + 15) / 16 * 16;
    }
    int64_t group = staged_bytes / (16 * int64_t{s->all_chunks});
    if (group > staged_segments_most / s->all_segments) group = staged_segments_most / s->all_segments;
    if (group > s->values) group = s->values;
    if (group < 1) return false;
    const int64_t stages = (s->values + group - 1) / group;
    s->group = static_cast<int32_t>((s->values + stages - 1) / stages);
    return staged_shared_bytes(*s) <= staged_memory_most;
}

/* Where a row is: in the message (k: operands), or in what is copied of an operand. */
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

/* The rows of each team: false, if they do not lie in the same way for all of them. */
bool staged_share_rows(Staged *s, int teams, int64_t bytes) {
    s->team_rows = (s->rows + teams - 1) / teams;
    std::memset(s->row_place, 0, sizeof s->row_place); /* what there is no row for reads the first one */
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

/* Cuts a job for words of `pack` entries. most: rows of a tile; apart: they may lie apart from one another. */
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
    if (most > staged_highest_of(pack) * groups) most = staged_highest_of(pack) * groups;
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
    return staged_share_rows(s, groups, bytes) && staged_group(s);
}

/* Whether a job is computed by way of shared memory, and how. operand: the plan's, or NULL for a part of a job, whose
 * own ones only the device has; bytes: of a stored cost. */
bool find_staged(const gpuopt__elimination_job &job, const gpuopt__elimination_operand *operand, const int64_t *pool,
                 int32_t copies, int64_t bytes, int multiprocessors, Staged *s) {
    MessageDigits digits;
    const int64_t tiles = int64_t{staged_tiles_least} * multiprocessors;
    if (bytes > 4 || job.operands > staged_operands || job.entries * copies < tiles * staged_entries_least ||
        !gather_digits(job, pool, &digits))
        return false;
    s->at = job.at;
    s->copy_stride = job.copy_stride;
    s->copies = copies;
    for (int pack = static_cast<int>(4 / bytes); pack > 0; pack /= 2)
        for (int most = staged_rows_most; most >= 4; most /= 2)
            for (int apart = 1; apart >= 0; apart--)
                if (staged_cut(job, operand, digits, bytes, pack, most, apart != 0, s) && s->tiles * copies >= tiles)
                    return true;
    return false;
}

} // namespace

#endif /* GPUOPT_CUDA_ELIMINATION_STAGE_CUH */
