/* SPDX-License-Identifier: MIT
 *
 * The dual simplex method of a handle on the GPU: the pivot, and the loop of iterations in one cooperative launch.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_RUN_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_RUN_CUH

#include "dual_ratio.cuh"
#include "../engine/products.cuh"

namespace {

template <bool REVISED>
class DualBlock : DualRatio<REVISED> {
  public:
    __device__ DualBlock(const SimplexView &view, const DualRequest &request, int pending, unsigned char *memory)
        : Base(view, request, pending, memory) {}

    __device__ void iterate() {
        report.idle = r.idle;
        for (int k = thread(); blockIdx.x == 0 && k < 2 * DUAL_BUCKETS; k += SIMPLEX_THREADS) s.bucket[k] = 0;
        while (report.pivots < r.most && pending < s.most && step()) continue;
        report.shifted = this->template agree<Largest>({shifted, 0, 0}).key;
        if (blockIdx.x > 0 || thread() > 0) return;
        *s.number = number;
        *s.report = report;
    }

  private:
    using Base = DualRatio<REVISED>;
    using Base::entering, Base::entering_key, Base::excess, Base::first_line, Base::first_row, Base::first_slot,
        Base::key, Base::leaving, Base::lines, Base::number, Base::pending, Base::r, Base::row, Base::rows, Base::s,
        Base::sh, Base::size, Base::slots, Base::sync, Base::thread, Base::v;

    gpuopt__simplex_run_report report = {};
    double shifted = 0; /* largest shift by this thread */
    /* Both variables before the pivot. The pivot exchanges slot and position. */
    int in = -1, out = -1, state_in = 0;
    double d_in = 0, x_in = 0, l_in = 0, u_in = 0, x_out = 0, l_out = 0, u_out = 0, weight_out = 0;
    double pivot = 0;

    __device__ bool steepest() const { return r.pricing == GPUOPT_DUAL_PRICING_STEEPEST_EDGE; }
    __device__ double *factors() const { return s.dual_factor; }

    __device__ bool end(gpuopt__simplex_run_end why) {
        report.end = why;
        return false;
    }

    /* Whether the objective has reached the cutoff. */
    __device__ bool cut_off() {
        if (!(r.cutoff < HUGE_VAL)) return false;
        this->put_parts(first_slot, slots, [&](int j) { return v.d[first_slot + j] * v.xn[first_slot + j]; });
        sync();
        return this->add_parts_up(s.cols) >= r.cutoff;
    }

    /* Chooses the leaving variable, unless the caller did. False: the run has ended. */
    __device__ bool choose_leaving() {
        const bool part = r.part == GPUOPT__SIMPLEX_RUN_RATIO || r.part == GPUOPT__SIMPLEX_RUN_PIVOT;
        if (part) {
            leaving = r.leaving;
            this->look_at_leaving();
        } else {
            if (cut_off()) return end(GPUOPT__SIMPLEX_END_CUTOFF);
            this->price();
            if (leaving < 0) return end(GPUOPT__SIMPLEX_END_FEASIBLE);
        }
        report.leaving = leaving;
        report.direction = excess > 0 ? 1 : -1;
        report.to_upper = excess > 0;
        report.score = this->score;
        return r.part != GPUOPT__SIMPLEX_RUN_PRICE;
    }

    /* Chooses the entering variable, unless the caller did. False: the run has ended. */
    __device__ bool choose_entering() {
        const bool pivots = r.part == GPUOPT__SIMPLEX_RUN_PIVOT;
        this->ratio_test();
        if (pivots && entering != r.entering) this->given(r.entering);
        report.entering = entering;
        if (entering < 0) return end(GPUOPT__SIMPLEX_END_NO_ENTERING);
        if (r.part != GPUOPT__SIMPLEX_RUN_ITERATE) report.pivot = fresh(row() + entering);
        if (pivots && size < r.rules.pivot) return end(GPUOPT__SIMPLEX_END_UNSAFE);
        if (r.part != GPUOPT__SIMPLEX_RUN_RATIO) return true;
        int flips = 0;
        for (int j = first_slot + thread(); j < first_slot + slots; j += SIMPLEX_THREADS) flips += flips_at(j);
        report.flips = this->template agree<Counts>(Counts::make(0, flips)).index;
        report.step = entering_key;
        return false;
    }

    /* Does one iteration or a part of one, or refuses a row. False: the run has ended. */
    __device__ bool step() {
        if (!choose_leaving()) return false;
        this->pivot_row(leaving);
        if (!choose_entering()) return false;
        if (size < r.rules.pivot) {
            if (thread() == 0 && leaving >= first_row && leaving < first_row + rows) s.refused[leaving] = 1;
            __syncthreads();
            report.bans++;
            return true;
        }
        look();
        this->pivot_column(entering, in);
        if (steepest()) {
            this->put_parts(first_line, lines, [&](int x) {
                double entry = this->rho(first_line + x);
                return entry * entry;
            });
            this->put_factors(factors(), [&](int x) { return this->rho(x); });
        }
        sync();
        pivot = fresh(s.alpha + leaving);
        if (!(fabs(pivot - fresh(row() + entering)) <= 1e-6 * size)) return end(GPUOPT__SIMPLEX_END_DRIFTED);
        report.idle = entering_key * size <= r.rules.dual ? report.idle + 1 : 0;
        flip();
        x_out = fresh(v.xb + leaving);
        double norm = steepest() ? tau() : weight_out;
        sync(); /* all threads have read what changes now */
        trade(norm);
        report.pivots++;
        pending++;
        return report.idle < GPUOPT__SIMPLEX_STALL || end(GPUOPT__SIMPLEX_END_STALLED);
    }

    /* Loads the data of the two variables. */
    __device__ void look() {
        int p = leaving, q = entering;
        in = fresh(v.slot + q), out = fresh(v.head + p);
        state_in = fresh(v.state + q);
        d_in = fresh(v.d + q), x_in = fresh(v.xn + q), l_in = fresh(v.ln + q), u_in = fresh(v.un + q);
        l_out = fresh(v.lb + p), u_out = fresh(v.ub + p);
        weight_out = fresh(s.dual_weight + p);
    }

    __device__ bool flips_at(int j) const { return this->passed(j) && j != entering && key()[j] < entering_key; }

    /* Flips the passed variables, and moves the basic variables accordingly. */
    __device__ void flip() {
        int flips = 0;
        for (int j = first_slot + thread(); j < first_slot + slots; j += SIMPLEX_THREADS) {
            if (!flips_at(j)) continue;
            bool up = v.state[j] == GPUOPT__SIMPLEX_MAY_INCREASE;
            this->moved_by()[REVISED ? v.slot[j] : j] = up ? v.un[j] - v.ln[j] : v.ln[j] - v.un[j];
            v.xn[j] = up ? v.un[j] : v.ln[j];
            v.state[j] = up ? GPUOPT__SIMPLEX_MAY_DECREASE : GPUOPT__SIMPLEX_MAY_INCREASE;
            flips++;
        }
        flips = this->template agree<Counts>(Counts::make(0, flips)).index;
        report.flips += flips;
        if (flips == 0) return;
        const double *by = this->moved_by(), *x = by;
        if (REVISED) {
            add_moved();
            sync();
            x = this->moved();
        }
        /* Placed behind the factors that tau() will need. */
        double *own = factors() + s.most;
        this->put_factors(own, [&](int at) { return fresh(x + at); });
        sync();
        this->times(sh.other, own, [&](int at) { return fresh(x + at); });
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) v.xb[first_row + i] -= sh.other[i];
        sync();
        for (int j = first_slot + thread(); j < first_slot + slots; j += SIMPLEX_THREADS)
            this->moved_by()[REVISED ? v.slot[j] : j] = 0;
    }

    /* moved = the sum of the flipped columns times their moves, in the block's rows, with eight lanes per row. */
    __device__ void add_moved() const {
        const double *by = this->moved_by();
        for (int from = 0; from < rows; from += SIMPLEX_THREADS / 8) {
            int own = from + thread() / 8, sub = thread() % 8, i = first_row + min(own, rows - 1);
            double sum = sub == 0 ? fresh(by + s.cols + i) : 0;
            for (int64_t e = s.row_start[i] + sub; e < s.row_start[i + 1]; e += 8)
                sum += s.row_val[e] * fresh(by + s.row_col[e]);
            for (int half = 4; half > 0; half /= 2) sum += __shfl_xor_sync(~0u, sum, half);
            if (own < rows && sub == 0) this->moved()[i] = sum;
        }
    }

    /* other = B^-1 times the leaving row of B^-1. Returns the squared norm of that row. */
    __device__ double tau() {
        double logical = !REVISED && out >= s.cols;
        double norm = this->add_parts_up(s.lines) + logical;
        this->times(sh.other, factors(), [&](int x) { return this->rho(x); });
        int p = leaving - first_row;
        if (thread() == 0 && p >= 0 && p < rows) sh.other[p] += logical;
        __syncthreads();
        return norm;
    }

    /* Sets a reduced cost of the wrong sign to 0 by a shift of its cost. */
    __device__ double shift(double d, int state, int variable, bool mine) {
        if (!gpuopt__simplex_dual_wrong(d, state, 0)) return d;
        if (mine) {
            shifted = gpuopt__max(shifted, fabs(d));
            this->cost()[variable] -= d;
        }
        return 0;
    }

    /* The pivot. Each block changes its own part. norm: squared norm of the leaving row. */
    __device__ void trade(double norm) {
        const double inverse = 1 / pivot, to = report.to_upper ? u_out : l_out;
        const double way = (x_out - to) / pivot;
        const bool owner = entering >= first_slot && entering < first_slot + slots;
        const double theta = shift(d_in, state_in, in, owner && thread() == 0) / pivot;
        const bool worn = r.pricing == GPUOPT_DUAL_PRICING_DEVEX && gpuopt__simplex_devex_worn(norm);
        report.step = fabs(way);
        report.direction = way < 0 ? -1 : 1;
        for (int j = first_slot + thread(); j < first_slot + slots; j += SIMPLEX_THREADS) {
            double d = v.d[j] - theta * row()[j];
            if (key()[j] >= 0 && j != entering) d = shift(d, v.state[j], v.slot[j], true);
            v.d[j] = j == entering ? -theta : d;
        }
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) {
            int at = first_row + i;
            double alpha = sh.alpha[i], *weight = s.dual_weight + at;
            if (at == leaving) v.xb[at] = x_in + way;
            else v.xb[at] -= way * alpha;
            if (at == leaving) *weight = leaving_weight(norm);
            else if (alpha != 0 && steepest())
                *weight = gpuopt__simplex_dual_steepest(*weight, alpha / pivot, sh.other[i], norm);
            else if (alpha != 0 && r.pricing == GPUOPT_DUAL_PRICING_DEVEX)
                *weight = gpuopt__simplex_devex(*weight, alpha / pivot, norm);
            if (worn) *weight = 1;
            s.u[pending * s.pitch + at] = at == leaving ? 1 : -alpha;
            if (!REVISED) s.matrix[entering * s.pitch + at] = 0;
        }
        append(inverse);
        __syncthreads();
        if (thread() == 0) exchange_variables(to, owner);
        __syncthreads();
    }

    __device__ void exchange_variables(double to, bool owner) const {
        if (owner) {
            double x = to, l = l_out, u = u_out;
            v.state[entering] = static_cast<uint8_t>(gpuopt__simplex_make_nonbasic(report.to_upper, &x, &l, &u));
            v.slot[entering] = out;
            v.xn[entering] = x;
            v.ln[entering] = l;
            v.un[entering] = u;
        }
        if (leaving >= first_row && leaving < first_row + rows) {
            v.head[leaving] = in;
            v.lb[leaving] = l_in;
            v.ub[leaving] = u_in;
        }
    }

    __device__ double leaving_weight(double norm) const {
        if (r.pricing == GPUOPT_DUAL_PRICING_DANTZIG) return norm;
        return gpuopt__max(norm / (pivot * pivot), steepest() ? 1e-4 : 1);
    }

    /* Appends a row to V. Row p of the matrix and of U become 0, and so does the tableau's entering column. */
    __device__ void append(double inverse) {
        for (int x = thread(); x < lines; x += SIMPLEX_THREADS) {
            int at = first_line + x;
            bool replaced = !REVISED && at == entering;
            s.v[pending * s.wide + at] = replaced ? inverse : sh.line[x] * inverse;
            s.matrix[at * s.pitch + leaving] = 0;
            for (int k = 0; replaced && k < pending; k++) s.v[k * s.wide + at] = 0;
        }
        if (leaving >= first_row && leaving < first_row + rows)
            for (int k = thread(); k < pending; k += SIMPLEX_THREADS) s.u[k * s.pitch + leaving] = 0;
    }
};

template <bool REVISED>
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1)
    simplex_dual(const __grid_constant__ SimplexView s, const __grid_constant__ DualRequest request, int pending) {
    GPUOPT_DYNAMIC_SHARED(DualShared, dual_state);
    DualBlock<REVISED>(s, request, pending, reinterpret_cast<unsigned char *>(dual_state)).iterate();
}

/* ---- Weights ---- */

/* partial[part][i] = the sum of squares at i over the part's columns of B^-1, for the stored columns. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    square_columns(const __grid_constant__ SimplexView s, int parts, bool tableau) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    int part = static_cast<int>(blockIdx.y);
    int begin = static_cast<int>(static_cast<int64_t>(s.lines) * part / parts);
    int end = static_cast<int>(static_cast<int64_t>(s.lines) * (part + 1) / parts);
    double sum = 0;
#pragma unroll 8
    for (int c = begin; c < end; c++) {
        double a = tableau && s.vec.slot[c] < s.cols ? 0 : s.matrix[c * s.pitch + i];
        sum += a * a;
    }
    s.partial[part * s.pitch + i] = sum;
}

/* Squared norms of the rows of B^-1, or ones if there are no parts. */
__global__ void __launch_bounds__(PRODUCT_THREADS)
    start_dual_weights(const __grid_constant__ SimplexView s, int parts, bool tableau) {
    int64_t i = product_thread();
    if (i >= s.rows) return;
    double sum = parts == 0 || (tableau && s.vec.head[i] >= s.cols);
    for (int part = 0; part < parts; part++) sum += s.partial[part * s.pitch + i];
    s.dual_weight[i] = sum;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_DUAL_RUN_CUH */
