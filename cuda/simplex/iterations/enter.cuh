/* SPDX-License-Identifier: MIT
 *
 * Refactoring on the GPU: pivots columns into the slack basis one after the other, many per cooperative launch.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_ENTER_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_ENTER_CUH

#include "exchange.cuh"

namespace {

struct EnterShared {
    Board board;
    double factor[SIMPLEX_MOST];
    double piece[SIMPLEX_PIECE]; /* piece of a column's entries */
    double *alpha;               /* [own_rows] */
    double *row;                 /* [own_lines] */
    double *partial;             /* [SIMPLEX_GROUPS][SIMPLEX_CHUNK] */
    uint8_t *open;               /* [own_rows] */
};

__host__ __device__ inline size_t enter_cut_shared(const SimplexView &s, unsigned char *base, EnterShared *sh) {
    SharedArena arena = {base, (sizeof(EnterShared) + 15) / 16 * 16};
    arena.cut(&sh->alpha, s.own_rows);
    arena.cut(&sh->row, s.own_lines);
    arena.cut(&sh->partial, SIMPLEX_GROUPS * SIMPLEX_CHUNK);
    arena.cut(&sh->open, s.own_rows);
    return arena.used;
}

inline size_t enter_shared_bytes(const SimplexView &s) {
    EnterShared sh;
    return enter_cut_shared(s, nullptr, &sh);
}

/* Enters columns first .. last - 1 of s.column until K pivots are pending. s.column has variables with REVISED, slots
 * with TABLEAU. Entries up to `least` count as 0. *s.report shows the progress: the number of pivots, and the next
 * column in `entering`. SHARED: slots of all ranks, with the pivot column already in s.alpha. */
template <bool REVISED, bool SHARED>
__global__ void __launch_bounds__(SIMPLEX_THREADS, 1)
    simplex_enter(const __grid_constant__ SimplexView s, int first, int last, int pending, double least) {
    GPUOPT_DYNAMIC_SHARED(EnterShared, enter_state);
    EnterShared &sh = *enter_state;
    int thread = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
    int first_row = block * s.own_rows, rows = max(0, min(s.own_rows, s.rows - first_row));
    int first_line = block * s.own_lines, lines = max(0, min(s.own_lines, s.lines - first_line));
    unsigned number = *s.number;
    int pivots = 0, k = first;
    if (thread == 0) enter_cut_shared(s, reinterpret_cast<unsigned char *>(enter_state), &sh);
    __syncthreads();
    for (int i = thread; i < rows; i += SIMPLEX_THREADS) sh.open[i] = s.open[first_row + i];
    exchange<Counts>(s, sh.board, number, Counts::none()); /* all blocks have read the number */
    for (; k < last && pending < s.most; k++) {
        int col = s.column[k] - (SHARED ? s.first : 0), wanted = s.wanted[k];
        if (SHARED) {
            if (col < 0 || col >= s.lines) col = s.lines; /* a column of another rank */
            for (int i = thread; i < rows; i += SIMPLEX_THREADS) sh.alpha[i] = fresh(s.alpha + first_row + i);
        } else if (!REVISED || col >= s.cols) {
            int at = REVISED ? col - s.cols : col;
            if (thread < pending) sh.factor[thread] = fresh(s.v + thread * s.wide + at);
            for (int i = thread; i < rows; i += SIMPLEX_THREADS)
                sh.alpha[i] = fresh(s.matrix + at * s.pitch + first_row + i);
        } else {
            int64_t begin = s.col_start[col], end = s.col_start[col + 1];
            for (int p = simplex_warp(); p < pending; p += SIMPLEX_WARPS) {
                double sum = 0;
                for (int64_t e = begin + simplex_lane(); e < end; e += 32)
                    sum += s.col_val[e] * fresh(s.v + p * s.wide + s.col_row[e]);
                sum = warp_sum(sum);
                if (simplex_lane() == 0) sh.factor[p] = sum;
            }
            for (int i = thread; i < rows; i += SIMPLEX_THREADS) sh.alpha[i] = 0;
            for (int64_t from = begin; from < end; from += SIMPLEX_PIECE) {
                int count = static_cast<int>(end - from < SIMPLEX_PIECE ? end - from : SIMPLEX_PIECE);
                const int *row_of = s.col_row + from;
                __syncthreads();
                for (int e = thread; e < count; e += SIMPLEX_THREADS) sh.piece[e] = s.col_val[from + e];
                __syncthreads();
                add_lines(sh.alpha, rows, sh.piece, count, sh.partial,
                          [&](int e) { return FreshLine{s.matrix + row_of[e] * s.pitch + first_row}; });
            }
        }
        __syncthreads();
        if (!SHARED)
            add_lines(sh.alpha, rows, sh.factor, pending, sh.partial,
                      [&](int p) { return s.u + p * s.pitch + first_row; });

        /* The largest entry at open positions, the largest entry of all, and the entry at the wanted position. */
        Cell best = Largest::none();
        double largest = 0;
        for (int i = thread; i < rows; i += SIMPLEX_THREADS) {
            largest = fmax(largest, fabs(sh.alpha[i]));
            if (sh.open[i]) best = Largest::of(best, {fabs(sh.alpha[i]), first_row + i, 0});
        }
        int w = wanted - first_row;
        bool here = wanted >= 0 && w >= 0 && w < rows;
        if (here && thread == 0 && sh.open[w]) s.alpha[wanted] = sh.alpha[w];
        if (here && thread == 0 && !sh.open[w]) s.alpha[wanted] = 0;
        Cell all = exchange<Limit>(s, sh.board, number, {0, __float_as_int(__double2float_rn(largest)), 0});
        double entry = wanted < 0 ? 0 : fresh(s.alpha + wanted);
        best = exchange<Largest>(s, sh.board, number, best, sh.alpha, first_row,
                                 [&](Cell one) { return one.index < 0 ? -1 : one.index / s.own_rows; });
        double pivot = best.index < 0 ? 0 : sh.board.record.word[0];
        int p = gpuopt__simplex_entry_position(best.index, best.key, __int_as_float(all.index), wanted, entry, least);
        if (p == wanted) pivot = entry;
        if (block == 0 && thread == 0) s.position[k] = p;
        if (p < 0) continue;

        /* The pivot row. Row p of the matrix becomes 0, and in the tableau also the entering column. */
        if (thread < pending) sh.factor[thread] = fresh(s.u + thread * s.pitch + p);
        for (int x = thread; x < lines; x += SIMPLEX_THREADS)
            sh.row[x] = fresh(s.matrix + (first_line + x) * s.pitch + p);
        __syncthreads();
        add_lines(sh.row, lines, sh.factor, pending, sh.partial, [&](int c) { return s.v + c * s.wide + first_line; });
        for (int x = thread; x < lines; x += SIMPLEX_THREADS) {
            bool entering = !REVISED && first_line + x == col;
            s.v[pending * s.wide + first_line + x] = entering ? 1 / pivot : sh.row[x] / pivot;
            s.matrix[(first_line + x) * s.pitch + p] = 0;
            for (int c = 0; entering && c < pending; c++) s.v[c * s.wide + col] = 0;
        }
        for (int i = thread; i < rows; i += SIMPLEX_THREADS) {
            s.u[pending * s.pitch + first_row + i] = first_row + i == p ? 1 : -sh.alpha[i];
            if (!REVISED && (!SHARED || col < s.lines) && first_row + i != p)
                s.matrix[col * s.pitch + first_row + i] = 0; /* p: see above */
        }
        exchange<Counts>(s, sh.board, number, Counts::none()); /* all blocks have read row p of U */
        if (p >= first_row && p < first_row + rows) {
            if (thread < pending) s.u[thread * s.pitch + p] = 0;
            if (thread == 0) sh.open[p - first_row] = 0;
        }
        __syncthreads();
        pending++;
        pivots++;
    }
    for (int i = thread; i < rows; i += SIMPLEX_THREADS) s.open[first_row + i] = sh.open[i];
    if (block > 0 || thread > 0) return;
    *s.number = number;
    s.report->pivots = pivots;
    s.report->entering = k;
}

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_ENTER_CUH */
