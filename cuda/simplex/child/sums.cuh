/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: sums of rows or columns, each times a number. The terms of a sum are put into
 * shared memory, and then warps add them up.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_SUMS_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_SUMS_CUH

#include "inverse.cuh"

namespace {

enum {
    CHILD_LANES = 8,       /* terms of a sum that a thread loads before it adds them */
    CHILD_TERMS = 512,     /* of a sum, in shared memory at once */
    CHILD_FEW_PAIRS = 128, /* of neighbours, of which all are summed up, wanted or not */
};

/* Two neighbours of a vector. */
struct alignas(16) ChildPair {
    double even, odd;
};

/* A row or column, in double precision or single, and the factor by which it is added. */
struct alignas(16) ChildTerm {
    const double *line;
    double value;
};

/* An entry of a list. */
struct ChildEntry {
    int index;
    double value;
};

/* Has no state: its data are the block's. */
class ChildSums : ChildThreads {
  public:
    struct Data {
        ChildTerm term[CHILD_TERMS];
        ChildEntry near[CHILD_TERMS]; /* the first ones of a list */
        union {
            ChildTerm staged[CHILD_TERMS];    /* before those that are 0 are left out */
            ChildPair partial[CHILD_THREADS]; /* sums of them */
        };
        int of_matrix, terms;
    };
    ChildView<Data> data;

    /* Pairs of neighbours: those of a list, or all `count`. */
    struct Pairs {
        int count;
        const int *list; /* null: all */
    };
    /* Those of rows at one of which marks has an entry, in flips; all, if there are few or marks is null. */
    __device__ __noinline__ Pairs wanted(ChildBlock &block, const double *marks) const {
        const int all = (root->rows + 1) / 2;
        if (!marks || all <= CHILD_FEW_PAIRS) return {all, nullptr};
        const double *const where = ptx_global(marks);
        auto is_wanted = [&](int pair) {
            const int i = 2 * pair;
            return child_is_entry(where[i]) || (i + 1 < root->rows && child_is_entry(where[i + 1]));
        };
        return {block.gather(all, work->flips, is_wanted), work->flips};
    }
    /* Sums `terms` terms for each pair. put_terms(first, count) puts some hundreds of them into shared memory at a
     * time. place(pair) is the pair's place in the line of a term. put(pair, more, sum) takes a sum; more: it is added
     * to the one before. Each warp takes 32 pairs at a time. If the rest suffices only for half of the warps, or a
     * quarter, two or four warps share the terms of the same pairs. */
    template <bool FTRAN, class Number = double, class Stage, class Place, class Put>
    __device__ void add_up(Pairs pairs, int terms, Stage put_terms, Place place, Put put) const {
        const int blocks = (pairs.count + 31) / 32, rest = blocks & (warps() - 1); /* warps() is a power of 2 */
        const int halvings = rest == 0 || 2 * rest > warps() ? 0 : 4 * rest > warps() ? 1 : 2;
        const int whole = halvings > 0 ? blocks - rest : blocks;
        auto pair_of = [&](int block) {
            const int k = min(32 * block + lane(), pairs.count - 1); /* all lanes go the same way */
            return pairs.list ? pairs.list[k] : k;
        };
        for (int first = 0; first == 0 || first < terms; first += CHILD_TERMS) {
            put_terms(first, min(terms - first, +CHILD_TERMS));
            const int of_matrix = FTRAN ? data->of_matrix : 0, all = data->terms;
            for (int block = warp(); block < whole; block += warps()) {
                const int pair = pair_of(block);
                const ChildPair sum = sum_of<FTRAN, Number>({0, of_matrix, of_matrix, all}, place(pair));
                if (32 * block + lane() < pairs.count) put(pair, first > 0, sum);
            }
            if (halvings > 0) {
                const int parts = 1 << halvings, part = warp() & (parts - 1), block = whole + (warp() >> halvings);
                const int pair = pair_of(block);
                if (block < blocks)
                    data->partial[thread()] =
                        sum_of<FTRAN, Number>(part_of<Number>(part, halvings, of_matrix, all), place(pair));
                __syncthreads();
                if (part == 0 && 32 * block + lane() < pairs.count) {
                    ChildPair sum = data->partial[thread()];
                    for (int n = 1; n < parts; n++) {
                        const ChildPair more = data->partial[thread() + 32 * n];
                        sum.even += more.even, sum.odd += more.odd;
                    }
                    put(pair, first > 0, sum);
                }
            }
            __syncthreads();
        }
    }
    /* Puts lines first, ..., first + count - 1 of U or V as terms into shared memory, without those that are 0. */
    template <class Number>
    __device__ void stage_lines(int first, int count, const double *lines, int64_t pitch, Number number) const {
        enum { AT_ONCE = 2 };
        int at = 0;
        for (int begin = 0; warp() == 0 && begin < count; begin += 32 * AT_ONCE) {
            double value[AT_ONCE];
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const int t = begin + 32 * n + lane();
                value[n] = t < count ? number(first + t) : 0;
            }
            __syncwarp(); /* both are loaded at the same time */
#pragma unroll
            for (int n = 0; n < AT_ONCE; n++) {
                const unsigned those = __ballot_sync(~0u, value[n] != 0);
                if (those >> lane() & 1)
                    data->term[at + __popc(those & ((1u << lane()) - 1))] = {
                        lines + (first + begin + 32 * n + lane()) * pitch, value[n]};
                at += __popc(those);
            }
        }
        if (thread() == 0) data->of_matrix = data->terms = at;
        __syncthreads();
    }
    /* Puts those of the staged terms from, ..., count - 1 that are not 0 into their places, the first one to `from`.
     * Terms before of_matrix are of B0^-1. */
    __device__ void put_staged(int from, int of_matrix, int count) const {
        if (thread() == 0 && from == of_matrix) data->of_matrix = from;
        if (thread() == 0 && from == count) data->terms = from;
        for (int first = from + 32 * warp(); first < count; first += threads()) {
            const int t = first + lane();
            const ChildTerm mine = t < count ? data->staged[t] : ChildTerm{nullptr, 0};
            int at = from;
            for (int before = from + lane(); before < first; before += 32)
                at += __popc(__ballot_sync(~0u, data->staged[before].value != 0));
            const unsigned those = __ballot_sync(~0u, mine.value != 0);
            at += __popc(those & ((1u << lane()) - 1));
            if (mine.value != 0) data->term[at++] = mine;
            if (t == of_matrix - 1) data->of_matrix = at;
            if (t == count - 1) data->terms = at;
        }
        __syncthreads();
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<ChildWork> work;
    ChildView<const ChildInverse> inverse;

    /* Terms from, ..., matrix_end - 1, which are columns or rows of B0^-1, and then pivots, ..., end - 1. */
    struct Terms {
        int from, matrix_end, pivots, end;
    };
    /* A part of the terms, of which of_matrix are columns or rows of B0^-1, when they are halved so often. */
    template <class Number>
    __device__ static Terms part_of(int part, int halvings, int of_matrix, int all) {
        auto begin = [&](int count, int n) { return count * n >> halvings; };
        const int from = begin(all, part), end = begin(all, part + 1), pivots = all - of_matrix;
        if (sizeof(Number) < sizeof(double)) /* pivots are more work: some of both */
            return {begin(of_matrix, part), begin(of_matrix, part + 1), of_matrix + begin(pivots, part),
                    of_matrix + begin(pivots, part + 1)};
        const int between = min(max(from, of_matrix), end);
        return {from, between, between, end};
    }
    /* The sum of terms at i and i + 1. Those of a group are loaded at the same time: the compiler moves neither a load
     * behind the warp's barrier nor a value that is multiplied with before it. */
    template <bool FTRAN, class Number>
    __device__ __noinline__ ChildPair sum_of(Terms terms, int64_t i) const {
        ChildPair sum = {0, 0};
        auto group = [&](const ChildTerm *term, int count, auto precision) {
            using Entry = decltype(precision);
            struct alignas(2 * sizeof(Entry)) Neighbours {
                Entry even, odd;
            } x[CHILD_LANES];
#pragma unroll
            for (int n = 0; n < CHILD_LANES; n++)
                x[n] = *reinterpret_cast<const Neighbours *>(
                    reinterpret_cast<const Entry *>(ptx_global(term[min(n, count - 1)].line)) + i);
            __syncwarp();
#pragma unroll
            for (int n = 0; n < CHILD_LANES; n++) {
                const double value = n < count ? term[n].value : 0;
                sum.even += value * x[n].even, sum.odd += value * x[n].odd;
            }
        };
        auto add = [&](int begin, int last, auto precision) {
            const ChildTerm *term = data->term + begin, *const stop = data->term + last;
            for (; stop - term >= CHILD_LANES; term += CHILD_LANES) group(term, +CHILD_LANES, precision);
            if (term < stop) group(term, static_cast<int>(stop - term), precision);
        };
        add(terms.from, terms.matrix_end, Number{});
        if (FTRAN && inverse->gone[i]) sum.even = 0;
        if (FTRAN && inverse->gone[i + 1]) sum.odd = 0;
        add(terms.pivots, terms.end, double{});
        return sum;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_SUMS_CUH */
