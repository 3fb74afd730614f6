/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method of a handle on the GPU: the choice of the leaving variable, and the ratio test with bound
 * flips, by the rules of gpuopt_impl/simplex/cpu/dual.h. The blocking break point is found by counting the slope in
 * buckets of steps, and not one break point after the other.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_RATIO_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_RATIO_CUH

#include "dual_block.cuh"

namespace {

template <bool REVISED>
class DualRatio : protected DualState<REVISED> {
  protected:
    using Base = DualState<REVISED>;
    using Base::Base;
    using Base::first_row, Base::first_slot, Base::key, Base::number, Base::r, Base::row, Base::rows, Base::s, Base::sh,
        Base::slots, Base::sync, Base::thread, Base::v;

    int leaving = -1, entering = -1;   /* position and slot */
    double excess = 0, score = 0;      /* of the leaving variable */
    double size = 0, entering_key = 0; /* absolute entry of the entering variable, and its step */
    Cell rest = Earliest::none();      /* the first break point not passed */
    int round = 0;                     /* rounds of counting in buckets, in this launch */

    /* Chooses the leaving variable. Position -1: all are feasible or refused. */
    __device__ void price() {
        Cell best = Largest::none();
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) {
            int at = first_row + i;
            double by = gpuopt__simplex_excess(v.xb[at], v.lb[at], v.ub[at], r.rules.primal);
            if (by != 0 && !s.refused[at]) best = Largest::of(best, {by * by / s.dual_weight[at], at, 0});
        }
        best = this->template agree<Largest>(best);
        leaving = best.index;
        score = best.key;
        if (leaving >= 0) look_at_leaving();
    }

    __device__ void look_at_leaving() {
        excess =
            gpuopt__simplex_excess(fresh(v.xb + leaving), fresh(v.lb + leaving), fresh(v.ub + leaving), r.rules.primal);
    }

    /* Whether the step passes a slot. */
    __device__ bool passed(int j) const { return key()[j] >= 0 && dual_before(key()[j], j, rest); }

    /* Chooses the entering variable from the pivot row. Slot -1: none can enter. */
    __device__ void ratio_test() {
        const double slope = fabs(excess), least = r.rules.primal * gpuopt__max(1, slope);
        const gpuopt__simplex_slope budget = gpuopt__simplex_slope_of(slope, least, s.cols);
        Cell first = list(budget);
        entering = -1;
        size = 0;
        rest = first.index < 0 ? Cell{HUGE_VAL, s.cols, 0} : first; /* none blocks: all others may be passed */
        unsigned long long taken = 0;
        for_passed([&](int j) { taken += units(budget, j); });
        taken = Units::units(this->template agree<Units>(Units::make(taken)));
        if (budget.slack > 0 && taken >= budget.slack) rest = find_in_buckets(budget);
        else if (first.index < 0) return;
        choose();
    }

    /* The same for an entering variable that the caller has chosen; no variable is passed. */
    __device__ void given(int slot) {
        entering_key = fresh(key() + slot);
        entering = entering_key >= 0 ? slot : -1;
        size = fabs(fresh(row() + slot));
        rest = {-1, 0, 0};
    }

  private:
    __device__ uint64_t units(const gpuopt__simplex_slope &budget, int j) const {
        return gpuopt__simplex_slope_units(&budget, row()[j], v.un[j] - v.ln[j]);
    }
    template <class F>
    __device__ void for_passed(F f) const {
        for (int j = first_slot + thread(); j < first_slot + slots; j += SIMPLEX_THREADS)
            if (passed(j)) f(j);
    }

    /* Computes the steps at which reduced costs reach 0. Returns the first break point that blocks by itself. */
    __device__ Cell list(const gpuopt__simplex_slope &budget) {
        const double sigma = excess > 0 ? 1 : -1, zero = r.rules.zero;
        Cell first = Earliest::none();
        for (int j = first_slot + thread(); j < first_slot + slots; j += SIMPLEX_THREADS) {
            double a = sigma * row()[j], comes_to_0 = -1;
            if ((a > zero && v.state[j] & GPUOPT__SIMPLEX_MAY_INCREASE) ||
                (a < -zero && v.state[j] & GPUOPT__SIMPLEX_MAY_DECREASE)) {
                comes_to_0 = v.d[j] / a;
                comes_to_0 = comes_to_0 > 0 ? comes_to_0 : 0; /* no negative zero: its bits are compared */
                if (units(budget, j) >= budget.slack) first = Earliest::of(first, {comes_to_0, j, 0});
            }
            key()[j] = comes_to_0;
        }
        return this->template agree<Earliest>(first);
    }

    /* Finds the break point before `rest` at which the slope is used up. Each round determines eight bits of its step,
     * and then of its slot. The search ends early if the break point is alone in its bucket. */
    __device__ Cell find_in_buckets(const gpuopt__simplex_slope &budget) {
        unsigned long long before = 0, prefix = 0; /* units before the bucket; known bits of its steps */
        unsigned index = 0;                        /* known bits of its slots */
        int known = 0;                             /* number of known bits */
        auto bits = [&](int j) { return static_cast<unsigned long long>(__double_as_longlong(key()[j])); };
        auto within = [&](int j) {
            if (known == 0) return true;
            if (known <= 64) return bits(j) >> (64 - known) == prefix;
            return bits(j) == prefix && static_cast<unsigned>(j) >> (96 - known) == index;
        };
        auto digit = [&](int j) {
            return static_cast<int>(known < 64 ? bits(j) >> (56 - known) & 255
                                               : static_cast<unsigned>(j) >> (88 - known) & 255);
        };
        do {
            count(budget, before, [&](int j) { return within(j) ? digit(j) : -1; });
            before = sh.before;
            if (known < 64) prefix = prefix << 8 | sh.chosen;
            else index = index << 8 | static_cast<unsigned>(sh.chosen);
            known += 8;
        } while (sh.chosen_count > 1 && known < 96);
        Cell found = Earliest::none();
        for_passed([&](int j) {
            if (within(j)) found = Earliest::of(found, {key()[j], j, 0});
        });
        return this->template agree<Earliest>(found);
    }

    /* One round. sh.chosen: the first bucket with which the units reach the slack; sh.before: the units before it. */
    template <class Digit>
    __device__ void count(const gpuopt__simplex_slope &budget, unsigned long long before, Digit digit) {
        unsigned long long *set = s.bucket + round % DUAL_BUCKET_SETS * (2 * DUAL_BUCKETS);
        unsigned long long *next = s.bucket + (round + 1) % DUAL_BUCKET_SETS * (2 * DUAL_BUCKETS);
        round++;
        for (int k = thread(); k < 2 * DUAL_BUCKETS; k += SIMPLEX_THREADS) sh.bucket[k] = 0;
        __syncthreads();
        for_passed([&](int j) {
            int at = digit(j);
            if (at < 0) return;
            atomicAdd(&sh.bucket[at], static_cast<unsigned long long>(units(budget, j)));
            atomicAdd(&sh.bucket[DUAL_BUCKETS + at], 1ull);
        });
        __syncthreads();
        for (int k = thread(); k < 2 * DUAL_BUCKETS; k += SIMPLEX_THREADS) {
            if (sh.bucket[k]) atomicAdd(&set[k], sh.bucket[k]);
            if (blockIdx.x == 0) next[k] = 0; /* no longer read, and not yet added to */
        }
        sync();
        if (simplex_warp() == 0) {
            enum { EACH = DUAL_BUCKETS / 32 };
            unsigned long long own[EACH], sum = 0;
#pragma unroll
            for (int k = 0; k < EACH; k++) sum += own[k] = fresh(set + EACH * simplex_lane() + k);
            unsigned long long up_to;
            DualScan(sh.scan).InclusiveSum(sum, up_to);
            unsigned there = __ballot_sync(~0u, before + up_to >= budget.slack);
            if (simplex_lane() == (there ? __ffs(static_cast<int>(there)) - 1 : 31)) {
                unsigned long long at = before + up_to - sum;
                int k = 0;
                while (k < EACH - 1 && at + own[k] < budget.slack) at += own[k++];
                sh.before = at;
                sh.chosen = static_cast<unsigned>(EACH * simplex_lane() + k);
                sh.chosen_count = fresh(set + DUAL_BUCKETS + EACH * simplex_lane() + k);
            }
        }
        __syncthreads();
    }

    /* Harris' test among the slots not passed: the largest entry that blocks within the tolerance. If it is small,
     * takes back the last passed slot with a larger entry. */
    __device__ void choose() {
        const double good = 1e-4;
        Cell limit = Limit::none(), best = Largest::none();
        auto for_rest = [&](auto f) {
            for (int j = first_slot + thread(); j < first_slot + slots; j += SIMPLEX_THREADS)
                if (key()[j] >= 0 && !dual_before(key()[j], j, rest)) f(j);
        };
        for_rest([&](int j) { limit = Limit::of(limit, {(fabs(v.d[j]) + r.rules.dual) / fabs(row()[j]), 0, 0}); });
        limit = this->template agree<Limit>(limit);
        for_rest([&](int j) {
            if (key()[j] <= limit.key) best = Largest::of(best, {fabs(row()[j]), j, 0});
        });
        best = this->template agree<Largest>(best);
        entering = best.index;
        size = best.key;
        while (size < good) {
            Cell last = Latest::none();
            for_passed([&](int j) {
                double entry = fabs(row()[j]);
                if (entry >= good || entry > 10 * size) last = Latest::of(last, {key()[j], j, 0});
            });
            last = this->template agree<Latest>(last);
            if (last.index < 0) break;
            rest = last;
            entering = last.index;
            size = fabs(fresh(row() + entering));
        }
        entering_key = entering < 0 ? 0 : fresh(key() + entering);
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_RATIO_CUH */
