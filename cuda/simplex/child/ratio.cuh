/* SPDX-License-Identifier: MIT
 *
 * Children of one basis on the GPU: the ratio test of the dual simplex method with bound flipping, by the rules of
 * gpuopt_impl/simplex/cpu/dual.h. Break points are in the order of their steps, equal ones in that of their variables.
 * The one that blocks is found by counting the slope in buckets of steps, not one break point after the other.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_CHILD_RATIO_CUH
#define GPUOPT_CUDA_SIMPLEX_CHILD_RATIO_CUH

#include "price.cuh"
#include "products.cuh"

namespace {

/* The variables that the ratio test has to do with are list[0 .. total - 1], in no order, with their steps and units
 * of slope. Those before `first` are passed. */
struct ChildRatio {
    int total;
    ChildBest first;   /* that blocks: its step and variable; none: all are passed */
    bool some;         /* may be passed */
    int entering;      /* a variable, -1: none */
    double sigma;      /* the sign of the row */
    double size, step; /* of its entry; at which its reduced cost is 0 */
};

enum { CHILD_BUCKETS = 256 }; /* of steps */

/* Has no state: its data are the block's. */
class ChildRatioTest : ChildThreads {
  public:
    struct Data {
        int waiting[CHILD_WARPS][64];                    /* variables that a warp has yet to look at */
        unsigned long long limit;                        /* bits of a step */
        unsigned long long units, bucket[CHILD_BUCKETS]; /* of slopes */
        int few[32];
        int count, listed;
    };
    /* Steps are in work->step; by place in the list, as these are. */
    struct Arrays {
        ChildArray<uint64_t> units; /* [both] */
        ChildArray<unsigned> marks; /* [both / 32 + 1] bits, 0 between uses */

        template <class Cut>
        void cut(const ChildSizes &n, Cut cut) {
            cut(units, n.both), cut(marks, n.both / 32 + 1);
        }
    };

    __device__ void begin() const {
        for (int w = thread(); w < root->both / 32 + 1; w += threads()) arrays->marks[w] = 0;
    }

    /* The row of B^-1 at p, in rho, that of B^-1 N, in row, and the test on it. */
    __device__ ChildRatio test(ChildBlock &block, ChildProducts &products, ChildPrice &price, int p,
                               double excess) const {
        const double sigma = excess > 0 ? 1 : -1, size = fabs(excess);
        const gpuopt__simplex_slope slope =
            gpuopt__simplex_slope_of(size, point->primal * gpuopt__max(1, size), root->cols);
        ChildRatio t = {0, {0, -1}, false, -1, sigma, 0, 0};
        if (thread() == 0) data->listed = data->count = 0, data->units = 0, data->limit = bits(HUGE_VAL);
        products.line(block, p);
        const ChildBest mine = list_break_points(price, sigma, slope);
        t.total = data->listed;
        t.first = block.best<false>(mine.key, mine.index);
        find_first(slope.slack, &t);
        if (t.first.index >= 0) choose_entering(block, &t);
        return t;
    }

    /* The variables that flip, in ascending order, in flips: those that are passed and whose steps are shorter than
     * that of the entering one. Returns their number. */
    __device__ int list_flips(ChildBlock &block, const ChildRatio &t) const {
        const int words = root->both / 32 + 1, each = (words + threads() - 1) / threads();
        int mine = 0, all;
        if (!t.some) return 0;
        for (int k = thread(); k < t.total; k += threads()) {
            const int v = work->list[k];
            if (passed(t, k) && work->step[k] < t.step && v != t.entering)
                atomicOr(&arrays->marks[v / 32], 1u << v % 32);
        }
        __syncthreads();
        for (int w = each * thread(); w < min(words, each * (thread() + 1)); w++) mine += __popc(arrays->marks[w]);
        int at = block.sum_before(mine, &all);
        for (int w = each * thread(); w < min(words, each * (thread() + 1)); w++) {
            for (unsigned left = arrays->marks[w]; left != 0; left &= left - 1)
                work->flips[at++] = 32 * w + __ffs(left) - 1;
            arrays->marks[w] = 0;
        }
        __syncthreads();
        return all;
    }

  private:
    ChildView<const ChildRoot> root;
    ChildView<const ChildPoint> point;
    ChildView<ChildWork> work;
    ChildView<Data> data;
    ChildView<Arrays> arrays;

    /* Prices the row in rho out, and lists the variables whose reduced costs reach 0. The list is short: it lacks those
     * whose steps are certainly longer than Harris' test allows. Returns the first of this thread's that block by
     * themselves. */
    __device__ ChildBest list_break_points(ChildPrice &price, double sigma, const gpuopt__simplex_slope &slope) const {
        ChildBest mine = {0, -1};
        int waiting = 0;        /* of the warp, */
        double most = HUGE_VAL; /* and the limit when it last looked */
        auto look = [&] {
            __syncwarp();
            for (int first = 0; first < waiting; first += 32)
                look_at(first + lane() < waiting ? data->waiting[warp()][first + lane()] : -1, sigma, slope, &mine);
            __syncwarp();
            waiting = 0;
            most = __shfl_sync(~0u, limit(), 0); /* the same one in all lanes */
        };
        price.price<true>(work->rho, [&](int v, int state, double entry, double d) {
            const double a = sigma * entry;
            const int may = (a > root->rules.zero ? +GPUOPT__SIMPLEX_MAY_INCREASE : 0) |
                            (a < -root->rules.zero ? +GPUOPT__SIMPLEX_MAY_DECREASE : 0);
            const bool can = static_cast<int>((state & may) != 0) & static_cast<int>(is_near(d, a, most));
            const unsigned those = __ballot_sync(~0u, can);
            if (those == 0) return;
            if (can) data->waiting[warp()][waiting + __popc(those & ((1u << lane()) - 1))] = v;
            waiting += __popc(those);
            if (waiting >= 32) look();
        });
        look();
        __syncthreads();
        return mine;
    }
    /* The step that Harris' test allows is at most that. */
    __device__ double limit() const {
        return of_bits(cuda::atomic_ref<unsigned long long, cuda::thread_scope_block>(data->limit)
                           .load(cuda::memory_order_relaxed));
    }
    /* Whether a step may be at most so long. */
    __device__ static bool is_near(double d, double a, double most) {
        return !((a < 0 ? -d : d) > most * fabs(a) * (1 + 1e-9));
    }
    /* For the lanes of a warp: puts variables into the list; -1: none. */
    __device__ __noinline__ void look_at(int v, double sigma, const gpuopt__simplex_slope &slope,
                                         ChildBest *mine) const {
        const double entry = v < 0 ? 1 : work->row[v], d = v < 0 ? 0 : point->d[v];
        const double range = v < 0 ? 0 : point->upper[v] - point->lower[v];
        const bool is = v >= 0 && is_near(d, sigma * entry, limit());
        const unsigned those = __ballot_sync(~0u, is);
        int at = lane() == 0 && those != 0 ? atomicAdd(&data->listed, __popc(those)) : 0;
        at = __shfl_sync(~0u, at, 0) + __popc(those & ((1u << lane()) - 1));
        if (!is) return;
        const double step = step_of(d, sigma * entry);
        const uint64_t units = gpuopt__simplex_slope_units(&slope, entry, range);
        work->list[at] = v;
        work->step[at] = step;
        arrays->units[at] = units;
        if (units < slope.slack) return;
        cuda::atomic_ref<unsigned long long, cuda::thread_scope_block>(data->limit)
            .fetch_min(bits(step_within(d, entry)), cuda::memory_order_relaxed);
        if (mine->index < 0 || before(step, v, *mine)) *mine = {step, v};
    }
    /* Where the reduced cost is beyond 0 by the tolerance. */
    __device__ double step_within(double d, double a) const { return (fabs(d) + root->rules.dual) / fabs(a); }
    /* Where the reduced cost of a variable with the entry a is 0. Not -0: see bits(). */
    __device__ static double step_of(double d, double a) { return fabs(gpuopt__max(0, d / a)); }
    /* Whether a break point comes before another one. */
    __device__ static bool before(double step, int v, const ChildBest &than) {
        return step < than.key || (step == than.key && v < than.index);
    }
    __device__ bool passed(const ChildRatio &t, int k) const {
        const double step = work->step[k];
        return t.first.index < 0 || step < t.first.key || (step == t.first.key && work->list[k] < t.first.index);
    }
    /* Steps are not negative, so these are in their order. */
    __device__ static uint64_t bits(double step) { return static_cast<uint64_t>(__double_as_longlong(step)); }
    __device__ static double of_bits(uint64_t step) { return __longlong_as_double(static_cast<long long>(step)); }

    /* Break points whose numbers are from low to high: numbers of steps, or, where `step` is the only one left, of
     * variables. */
    struct Range {
        bool variables;
        uint64_t low, high, step;

        __device__ int shift() const { return max(0, 64 - __clzll(static_cast<long long>(high - low)) - 8); }
    };
    /* The number of break point k; whether it is in the range. */
    __device__ bool inside(const ChildRatio &t, const Range &range, int k, uint64_t *number) const {
        const uint64_t step = bits(work->step[k]);
        *number = range.variables ? static_cast<uint64_t>(work->list[k]) : step;
        return passed(t, k) && (!range.variables || step == range.step) && *number >= range.low &&
               *number <= range.high;
    }

    /* t->first is the first of those that block by themselves, and becomes the first of those that block because so
     * many units are taken before. data->count and units are 0. */
    __device__ void find_first(uint64_t slack, ChildRatio *t) const {
        Range range = {false, 0, ~uint64_t{0}, 0};
        uint64_t taken = 0, number; /* before the range */
        ChildBest first = t->first;
        for (bool again = false;; again = true) {
            unsigned long long mine = 0;
            for (int k = thread(); k < t->total; k += threads())
                if (inside(*t, range, k, &number)) {
                    const int at = atomicAdd(&data->count, 1);
                    mine += arrays->units[k];
                    if (at < 32) data->few[at] = k;
                }
            if (!again && mine > 0) atomicAdd(&data->units, mine);
            for (int b = thread(); b < CHILD_BUCKETS; b += threads()) data->bucket[b] = 0;
            __syncthreads();
            const int count = data->count;
            if (!again) t->some = count > 0;
            if (!again && (count == 0 || data->units < slack)) break;
            if (count <= 32) {
                first = first_of_few(count, taken, slack);
                t->some = again || count > 1;
                break;
            }
            for (int k = thread(); k < t->total; k += threads())
                if (inside(*t, range, k, &number))
                    atomicAdd(&data->bucket[(number - range.low) >> range.shift()],
                              static_cast<unsigned long long>(arrays->units[k]));
            __syncthreads();
            narrow(&range, &taken, slack);
            if (thread() == 0) data->count = 0;
            if (!range.variables && range.low == range.high)
                range = {true, 0, static_cast<uint64_t>(root->both), range.low};
            __syncthreads();
        }
        t->first = first;
    }

    /* The range becomes that of the bucket in which the slack ends. Every warp finds it for itself. */
    __device__ void narrow(Range *range, uint64_t *taken, uint64_t slack) const {
        enum { EACH = CHILD_BUCKETS / 32 };
        const int shift = range->shift();
        unsigned long long sum = 0;
        for (int b = EACH * lane(); b < EACH * (lane() + 1); b++) sum += data->bucket[b];
        unsigned long long upto = sum;
        for (int by = 1; by < 32; by *= 2) {
            const unsigned long long other = __shfl_up_sync(~0u, upto, by);
            if (lane() >= by) upto += other;
        }
        const int of = __ffs(__ballot_sync(~0u, *taken + upto >= slack)) - 1;
        *taken += __shfl_sync(~0u, upto - sum, of);
        int bucket = EACH * of;
        while (*taken + data->bucket[bucket] < slack) *taken += data->bucket[bucket++];
        range->low += static_cast<uint64_t>(bucket) << shift;
        range->high = min(range->high, range->low + ((uint64_t{1} << shift) - 1));
    }

    /* Of at most 32 break points in data->few. Every warp finds it for itself. */
    __device__ ChildBest first_of_few(int count, uint64_t taken, uint64_t slack) const {
        const int k = lane() < count ? data->few[lane()] : -1;
        const double step = k < 0 ? 0 : work->step[k];
        const int v = k < 0 ? -1 : work->list[k];
        const unsigned long long units = k < 0 ? 0 : arrays->units[k];
        unsigned long long sum = taken;
        for (int n = 0; n < count; n++) {
            const double of_other = __shfl_sync(~0u, step, n);
            const int other = __shfl_sync(~0u, v, n);
            const unsigned long long its = __shfl_sync(~0u, units, n);
            if (other == v || before(of_other, other, {step, v})) sum += its;
        }
        ChildBest first = {step, sum >= slack ? v : -1};
        for (int half = 16; half > 0; half /= 2) {
            const double of_other = __shfl_xor_sync(~0u, first.key, half);
            const int other = __shfl_xor_sync(~0u, first.index, half);
            if (other >= 0 && (first.index < 0 || before(of_other, other, first))) first = {of_other, other};
        }
        return first;
    }

    /* Harris' test among those that are not passed: the largest entry of those that block within the tolerance. If it
     * is small, the last one that was passed and has a larger entry is taken back. */
    __device__ void choose_entering(ChildBlock &block, ChildRatio *t) const {
        const double good = 1e-4;
        double limit = of_bits(data->limit); /* that of variables which block by themselves, so are not passed */
        for (int k = thread(); k < t->total; k += threads()) {
            if (passed(*t, k) || work->step[k] >= limit) continue;
            const int v = work->list[k];
            limit = gpuopt__min(limit, step_within(point->d[v], work->row[v]));
        }
        limit = block.smallest(limit);
        ChildBest mine = {0, -1};
        for (int k = thread(); k < t->total; k += threads()) {
            if (work->step[k] > limit || passed(*t, k)) continue;
            const int v = work->list[k];
            const double size = fabs(work->row[v]);
            if (mine.index < 0 || size > mine.key || (size == mine.key && v < mine.index)) mine = {size, v};
        }
        const ChildBest chosen = block.best<true>(mine.key, mine.index);
        t->entering = chosen.index;
        if (chosen.index < 0) return;
        t->size = chosen.key;
        t->step = step_of(point->d[t->entering], t->sigma * work->row[t->entering]);
        for (ChildBest from = t->first; t->some && t->size < good;) {
            mine = {0, -1};
            for (int k = thread(); k < t->total; k += threads()) {
                const int v = work->list[k];
                const double size = fabs(work->row[v]);
                if (!before(work->step[k], v, from) || !(size >= good || size > 10 * t->size)) continue;
                if (mine.index < 0 || !before(work->step[k], v, mine)) mine = {work->step[k], v};
            }
            const double step = block.largest(mine.index < 0 ? -1 : mine.key);
            if (step < 0) break;
            from = {step, last_variable(block, mine.index >= 0 && mine.key == step ? mine.index : -1)};
            t->entering = from.index;
            t->size = fabs(work->row[from.index]);
            t->step = step;
        }
    }
    __device__ static int last_variable(ChildBlock &block, int v) { return block.best<true>(v, v).index; }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_CHILD_RATIO_CUH */
