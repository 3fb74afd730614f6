/* SPDX-License-Identifier: MIT
 *
 * The second half of a pivot or flip on the GPU: the pivot row, the update of the matrix, and new reduced costs and
 * weights.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_FOLLOW_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_FOLLOW_CUH

#include "column.cuh"

namespace {

template <bool REVISED, bool DEFERRED>
class SimplexFollow : protected SimplexColumn<REVISED, DEFERRED> {
  protected:
    using Base = SimplexColumn<REVISED, DEFERRED>;
    using Base::Base;
    using Base::dq, Base::exact, Base::for_changed, Base::leaving_alpha, Base::leaving_dead, Base::lower, Base::move,
        Base::upper, Base::value, Base::variable, Base::weight_q;
    using Base::first_line, Base::lines, Base::number, Base::pending, Base::report, Base::rows, Base::run, Base::s,
        Base::sh, Base::slots, Base::thread;

    /* ---- The pivot row ---- */

    /* factor = row p of U; factor_sum = the sum of the changed rows of U. Returns the change of the entering variable's
     * reduced cost. */
    __device__ double row_factors(int p, int total) {
        double change = 0, sum = 0;
        int k = thread();
        if (total > 0)
            for_changed(total, [&](Changed c) {
                change += c.by() * c.alpha;
                if (k < pending) sum += c.by() * fresh(s.u + k * s.pitch + c.position);
            });
        if (k < pending) {
            sh.factor[k] = p >= 0 ? fresh(s.u + k * s.pitch + p) : 0;
            sh.factor_sum[k] = sum;
        }
        return change;
    }

    /* row, row_sum = the pivot row, and the sum of the changed rows, in the block's columns of the matrix. */
    __device__ void rows_of_matrix(int p, int total) {
        for (int x = thread(); x < lines; x += SIMPLEX_THREADS) {
            const double *column = s.matrix + (first_line + x) * s.pitch;
            bool dead = this->dead_line(x);
            double sum = 0;
            sh.row[x] = p < 0 || dead || leaving_dead ? 0 : fresh(column + p);
            if (total > 0 && !dead)
                for_changed(total, [&](Changed c) {
                    if (!c.dead()) sum += c.by() * fresh(column + c.position);
                });
            sh.row_sum[x] = sum;
        }
        __syncthreads();
        if (!DEFERRED) return;
        auto line = [&](int k) { return this->own_v(k); };
        if (p >= 0) add_lines(sh.row, lines, sh.factor, pending, sh.partial, line);
        if (total > 0) add_lines(sh.row_sum, lines, sh.factor_sum, pending, sh.partial, line);
    }

    /* Appends a row to V and a column to U, and sets what the pivot replaces to 0. */
    __device__ void append(int p, double inverse) {
        int q = REVISED ? -1 : report.entering, own = q < 0 ? -1 : this->own_slot(q), row = this->own_row(p);
        for (int x = thread(); x < lines; x += SIMPLEX_THREADS)
            this->set_v(pending, x, x == own ? inverse : sh.row[x] * inverse);
        for (int k = thread(); own >= 0 && k < pending; k += SIMPLEX_THREADS) this->set_v(k, own, 0);
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) this->set_u(pending, i, i == row ? 1 : -sh.alpha[i]);
        if (thread() > 0) return;
        if (own >= 0) sh.begin[own] = 1;
        if (row >= 0) sh.head[row].y = 1;
        sh.pivots[report.pivots] = p;
    }

    /* At the end of a launch: sets dead rows and columns of the matrix to 0. */
    __device__ void clear_dead() {
        __syncthreads();
        for (int x = simplex_warp(); DEFERRED && x < lines; x += SIMPLEX_WARPS) {
            double *column = s.matrix + (first_line + x) * s.pitch;
            for (int k = simplex_lane(); k < report.pivots; k += 32) column[sh.pivots[k]] = 0;
            for (int i = simplex_lane(); this->dead_line(x) && i < s.rows; i += 32) column[i] = 0;
        }
    }

    /* ---- Immediate pivots ---- */

    /* Copies the whole pivot column to shared memory if it fits. Afterwards whole() reads it. */
    __device__ void fetch_column() {
        if (s.whole)
            for (int i = 2 * thread(); i < s.rows; i += 2 * SIMPLEX_THREADS) {
                double2 pair = __ldcg(reinterpret_cast<const double2 *>(s.alpha + i));
                sh.whole[i] = pair.x;
                sh.whole[i + 1] = pair.y;
            }
        __syncthreads();
    }
    __device__ double2 whole(int i) const {
        return s.whole ? *reinterpret_cast<const double2 *>(sh.whole + i)
                       : __ldcg(reinterpret_cast<const double2 *>(s.alpha + i));
    }

    /* Updates a column of the matrix by one warp: column -= alpha * ratio. Loads are issued well before stores, which
     * hides their latency. Columns are padded with zeros to whole pairs. Returns 1 + the column's new squared norm.
     *
     *     ratio  the column's entry in row p, divided by the pivot
     *     unit   the column was the unit vector of p before
     *     *dot   alpha times the old column */
    __device__ double update_column(double *column, int p, double ratio, bool unit, double *dot) {
        enum { PAIRS = 8 };
        double norm = 0, product = 0;
        for (int from = 2 * simplex_lane(); from < s.rows; from += 64 * PAIRS) {
            double2 old[PAIRS];
#pragma unroll
            for (int k = 0; k < PAIRS; k++)
                if (from + 64 * k < s.rows) old[k] = *reinterpret_cast<double2 *>(column + from + 64 * k);
#pragma unroll
            for (int k = 0; k < PAIRS; k++) {
                int i = from + 64 * k;
                if (i >= s.rows) continue;
                if (unit) old[k] = make_double2(0, 0);
                double2 a = whole(i);
                double2 now =
                    make_double2(i == p ? ratio : old[k].x - a.x * ratio, i + 1 == p ? ratio : old[k].y - a.y * ratio);
                product += a.x * old[k].x + a.y * old[k].y;
                norm += now.x * now.x + now.y * now.y;
                *reinterpret_cast<double2 *>(column + i) = now;
            }
        }
        if (dot) *dot = warp_sum(product);
        return 1 + warp_sum(norm);
    }

    /* Updates the block's columns, one warp per column; `row` has their entries in row p. */
    __device__ void update_own_columns(int p, double inverse) {
        for (int x = simplex_warp(); x < lines; x += SIMPLEX_WARPS) {
            bool unit = !REVISED && first_line + x == report.entering;
            double ratio = unit ? inverse : sh.row[x] * inverse, dot = 0;
            if (ratio == 0 && !(REVISED && exact())) continue;
            double norm =
                update_column(s.matrix + (first_line + x) * s.pitch, p, ratio, unit, REVISED ? &dot : nullptr);
            if (simplex_lane() > 0 || !exact()) continue;
            if (REVISED) s.tau[first_line + x] = dot;
            else sh.weight[x] = norm;
        }
    }

    /* 1 + |alpha|^2, computed by every warp. */
    __device__ double column_norm() const {
        double sum = 0;
        for (int i = 2 * simplex_lane(); i < s.rows; i += 64) {
            double2 a = whole(i);
            sum += a.x * a.x + a.y * a.y;
        }
        return 1 + warp_sum(sum);
    }

    /* ---- REVISED: from rows of the inverse to rows of B^-1 N, with eight lanes per slot ---- */

    template <class Value>
    __device__ double times_column(int j, Value value) const {
        int sub = thread() % 8, logical = sh.slot[j].x - s.cols;
        double sum = logical >= 0 && sub == 0 ? value(logical) : 0;
        for (int e = sub; e < sh.slot[j].y; e += 8)
            sum += s.col_val[sh.begin[j] + e] * value(s.col_row[sh.begin[j] + e]);
        for (int half = 4; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
        return sum;
    }

    /* to[j] = y' a_j, for the block's slots. */
    __device__ void price_out(const double *y, double *to) {
        for (int from = 0; from < slots; from += SIMPLEX_THREADS / 8) {
            int j = from + thread() / 8;
            double sum = times_column(min(j, slots - 1), [&](int i) { return fresh(y + i); });
            if (j < slots && thread() % 8 == 0) to[j] = sum;
        }
    }

    /* Shares the rows of the inverse among all blocks. Then computes the rows of B^-1 N into row and row_sum. */
    __device__ void exchange_rows(bool pivoting, bool changing) {
        for (int x = thread(); x < lines; x += SIMPLEX_THREADS) {
            if (pivoting) s.rho[first_line + x] = sh.row[x];
            if (changing) s.rho_sum[first_line + x] = sh.row_sum[x];
        }
        exchange<Counts>(s, sh.board, number, Counts::none());
        if (pivoting) price_out(s.rho, sh.row);
        if (changing) price_out(s.rho_sum, sh.row_sum);
        if (pivoting && exact()) price_out(s.tau, sh.tau);
        __syncthreads();
    }

    /* ---- Reduced costs and weights ---- */

    /* Updates reduced costs and weights of the block's slots from row and row_sum. norm: 1 + the squared norm of the
     * pivot column, for REVISED with exact norms. */
    __device__ void update_slots(bool pivoting, bool changing, double inverse, double change, double norm) {
        double step = (dq - change) * inverse;
        int q = this->own_slot(report.entering);
        bool devex = pivoting && run.rules.pricing == GPUOPT_PRICING_DEVEX, worn = gpuopt__simplex_devex_worn(weight_q);
        bool steepest = pivoting && REVISED && exact();
        for (int j = thread(); j < slots; j += SIMPLEX_THREADS) {
            double d = sh.d[j], ratio = pivoting ? sh.row[j] * inverse : 0;
            if (changing) d -= sh.row_sum[j];
            if (j == q) {
                d = pivoting ? -step : dq - change;
                if (devex) sh.weight[j] = gpuopt__max(weight_q * (inverse * inverse), 1);
                if (steepest) sh.weight[j] = gpuopt__max(norm, 2) * (inverse * inverse);
            } else if (ratio != 0) {
                d -= step * sh.row[j];
                if (devex) sh.weight[j] = gpuopt__simplex_devex(sh.weight[j], ratio, weight_q);
                if (steepest) sh.weight[j] = gpuopt__simplex_steepest(sh.weight[j], ratio, sh.tau[j], norm);
            }
            if (devex && worn) sh.weight[j] = 1;
            sh.d[j] = d;
        }
    }

    /* Compares the pivot elements from the column and from the row. The owner of the slot sets a flag, which all blocks
     * see after the next exchange. */
    __device__ void check_pivot(double pivot) {
        int q = this->own_slot(report.entering);
        if (thread() == 0 && q >= 0 && gpuopt__simplex_pivots_differ(pivot, sh.row[q])) *s.drifted = this->launch;
    }

    /* Does everything that depends on the pivot row of position p; p < 0: everything that depends on a flip. */
    __device__ void follow(int p, int total) {
        bool pivoting = p >= 0, changing = total > 0;
        double inverse = pivoting ? 1 / leaving_alpha : 1, norm = 1;
        double change = row_factors(p, total);
        rows_of_matrix(p, total);
        if (pivoting && !DEFERRED) fetch_column();
        if (pivoting && DEFERRED) append(p, inverse);
        if (REVISED) {
            if (pivoting && exact()) norm = column_norm();
            if (pivoting && !DEFERRED) {
                update_own_columns(p, inverse);
                __syncthreads();
            }
            exchange_rows(pivoting, changing);
            if (pivoting) check_pivot(leaving_alpha);
        }
        update_slots(pivoting, changing, inverse, change, norm);
        if (!REVISED && pivoting && !DEFERRED) {
            __syncthreads();
            update_own_columns(p, inverse);
        }
    }

    __device__ void flip() {
        int q = this->own_slot(report.entering), total = move();
        if (total > 0 && run.phase == 1) follow(-1, total);
        __syncthreads();
        if (thread() == 0 && q >= 0) {
            sh.xn[q] = report.direction > 0 ? upper : lower;
            sh.state[q] = report.direction > 0 ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
        }
        report.flips++;
    }

    __device__ void pivot() {
        int total = move();
        follow(report.leaving, run.phase == 1 ? total : 0);
        __syncthreads();
        if (thread() == 0) trade();
        this->cleared = report.leaving;
        pending += DEFERRED;
        report.pivots++;
    }

    /* Exchanges the two variables. */
    __device__ void trade() {
        int p = this->own_row(report.leaving), q = this->own_slot(report.entering);
        if (q >= 0) {
            double x = this->leaving_x - report.step * (report.direction * leaving_alpha), l = this->leaving_l,
                   u = this->leaving_u;
            sh.state[q] = static_cast<uint8_t>(gpuopt__simplex_make_nonbasic(report.to_upper, &x, &l, &u));
            this->set_slot(q, this->leaving_head);
            sh.xn[q] = x;
            sh.ln[q] = l;
            sh.un[q] = u;
        }
        if (p >= 0) {
            sh.head[p].x = variable;
            sh.xb[p] = value + report.direction * report.step;
            sh.lb[p] = lower;
            sh.ub[p] = upper;
        }
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_FOLLOW_CUH */
