/* SPDX-License-Identifier: MIT
 *
 * The state of a block while simplex iterations run on the GPU. It covers the block's positions and slots, and is
 * loaded at the start of a launch and stored at its end.
 */
#ifndef GPUOPT_CUDA_SIMPLEX_ITERATIONS_BLOCK_CUH
#define GPUOPT_CUDA_SIMPLEX_ITERATIONS_BLOCK_CUH

#include <cub/block/block_scan.cuh>

#include "exchange.cuh"

namespace {

using SimplexScan = cub::BlockScan<int, SIMPLEX_THREADS, cub::BLOCK_SCAN_WARP_SCANS>;

struct SimplexShared {
    Board board;
    double factor[SIMPLEX_MOST];     /* factors of the pending rows or columns */
    double factor_sum[SIMPLEX_MOST]; /* the same, summed over the rows with changed infeasibility */
    double piece[SIMPLEX_PIECE];     /* piece of a column's entries */
    Cell best[SIMPLEX_WARPS];
    Changed changed[SIMPLEX_LISTED]; /* changes of all blocks, if they fit */
    SimplexScan::TempStorage scan;
    int count[SIMPLEX_WARPS];
    int pivots[SIMPLEX_MOST];     /* positions of this launch's pivots: dead rows of the matrix */
    double *xb, *lb, *ub, *alpha; /* [own_rows] */
    double *step;                 /* [own_rows] step at which the variable blocks */
    int2 *head; /* [own_rows] variable; whether the stored row of the matrix is dead, and counts as 0, in this launch */
    double *d, *weight, *xn, *ln, *un, *tau; /* [own_slots] */
    int2 *slot;                              /* [own_slots] variable; REVISED: number of entries in its column */
    int64_t *begin; /* [own_slots] REVISED: first entry; TABLEAU: whether the stored column of the matrix is dead */
    uint8_t *state; /* [own_slots] */
    double *row, *row_sum; /* [max(own_slots, own_lines)] */
    double *partial;       /* [SIMPLEX_GROUPS][SIMPLEX_CHUNK] */
    double *whole;         /* [rows] the whole pivot column, for immediate pivots, if it fits */
    double *u, *v;         /* [most][own_rows], [most][own_lines], if they are resident */
};

/* Cuts the arrays; with base null it only measures. */
__host__ __device__ inline size_t simplex_cut_shared(const SimplexView &s, unsigned char *base, SimplexShared *sh) {
    SharedArena arena = {base, (sizeof(SimplexShared) + 15) / 16 * 16};
    int wide = s.own_slots > s.own_lines ? s.own_slots : s.own_lines;
    double **const of_rows[] = {&sh->xb, &sh->lb, &sh->ub, &sh->alpha, &sh->step};
    double **const of_slots[] = {&sh->d, &sh->weight, &sh->xn, &sh->ln, &sh->un, &sh->tau};
    for (double **array : of_rows) arena.cut(array, s.own_rows);
    for (double **array : of_slots) arena.cut(array, s.own_slots);
    arena.cut(&sh->head, s.own_rows);
    arena.cut(&sh->slot, s.own_slots);
    arena.cut(&sh->begin, s.own_slots);
    arena.cut(&sh->state, s.own_slots);
    arena.cut(&sh->row, wide);
    arena.cut(&sh->row_sum, wide);
    arena.cut(&sh->partial, SIMPLEX_GROUPS * SIMPLEX_CHUNK);
    if (s.whole) arena.cut(&sh->whole, s.rows + 1);
    if (s.resident) {
        arena.cut(&sh->u, s.most * s.own_rows);
        arena.cut(&sh->v, s.most * s.own_lines);
    }
    return arena.used;
}

inline size_t simplex_shared_bytes(const SimplexView &s) {
    SimplexShared sh;
    return simplex_cut_shared(s, nullptr, &sh);
}

/* The state, with loading, storing and access. */
template <bool REVISED, bool DEFERRED>
class SimplexState {
  protected:
    __device__ SimplexState(const SimplexView &view, const gpuopt__simplex_run &request, int pending,
                            unsigned char *memory)
        : s(view), run(request), sh(*reinterpret_cast<SimplexShared *>(memory)), pending(pending) {
        first_row = own(s.own_rows, s.rows, &rows);
        first_slot = own(s.own_slots, s.cols, &slots);
        first_line = own(s.own_lines, s.lines, &lines);
        number = s.number[0];
        trial = s.number[1];
        if (thread() == 0) simplex_cut_shared(s, memory, &sh);
        __syncthreads();
    }

    const SimplexView &s;
    const gpuopt__simplex_run &run;
    SimplexShared &sh;
    int first_row, rows, first_slot, slots, first_line, lines; /* the block's own */
    int pending;                                               /* rows of V in use */
    unsigned number, trial;                                    /* of the last exchange, and of the last ratio test */
    int infeasible = 0;
    Cell local = Largest::none(); /* the thread's best slot */
    gpuopt__simplex_run_report report = {};

    __device__ static int thread() { return static_cast<int>(threadIdx.x); }

    __device__ static int own(int width, int total, int *count) {
        int first = static_cast<int>(blockIdx.x) * width;
        *count = max(0, min(width, total - first));
        return first;
    }

    /* The index of a position or slot among the block's own, or -1. */
    __device__ int own_row(int i) const { return i >= first_row && i < first_row + rows ? i - first_row : -1; }
    __device__ int own_slot(int j) const { return j >= first_slot && j < first_slot + slots ? j - first_slot : -1; }

    __device__ void load() {
        int count = 0;
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) {
            int at = first_row + i;
            sh.xb[i] = s.vec.xb[at];
            sh.lb[i] = s.vec.lb[at];
            sh.ub[i] = s.vec.ub[at];
            sh.head[i] = make_int2(s.vec.head[at], 0);
            count += gpuopt__simplex_infeasible(sh.xb[i], sh.lb[i], sh.ub[i], run.rules.primal) != 0;
        }
        for (int j = thread(); j < slots; j += SIMPLEX_THREADS) {
            int at = first_slot + j;
            sh.d[j] = s.vec.d[at];
            sh.weight[j] = run.reset_weights ? 1 : s.vec.weight[at];
            sh.xn[j] = s.vec.xn[at];
            sh.ln[j] = s.vec.ln[at];
            sh.un[j] = s.vec.un[at];
            sh.state[j] = s.vec.state[at];
            sh.begin[j] = 0;
            set_slot(j, s.vec.slot[at]);
        }
        for (int k = 0; s.resident && k < pending; k++) {
            for (int i = thread(); i < rows; i += SIMPLEX_THREADS)
                sh.u[k * s.own_rows + i] = s.u[k * s.pitch + first_row + i];
            for (int x = thread(); x < lines; x += SIMPLEX_THREADS)
                sh.v[k * s.own_lines + x] = s.v[k * s.wide + first_line + x];
        }
        __syncthreads();
        if (run.reset_weights && run.rules.pricing == GPUOPT_PRICING_STEEPEST_EDGE) start_norms();
        find_local();
        infeasible = exchange<Counts>(s, sh.board, number, Counts::make(0, count)).index;
    }

    __device__ void store() {
        __syncthreads();
        for (int i = thread(); i < rows; i += SIMPLEX_THREADS) {
            int at = first_row + i;
            s.vec.xb[at] = sh.xb[i];
            s.vec.lb[at] = sh.lb[i];
            s.vec.ub[at] = sh.ub[i];
            s.vec.head[at] = sh.head[i].x;
        }
        for (int j = thread(); j < slots; j += SIMPLEX_THREADS) {
            int at = first_slot + j;
            s.vec.d[at] = sh.d[j];
            s.vec.weight[at] = sh.weight[j];
            s.vec.xn[at] = sh.xn[j];
            s.vec.ln[at] = sh.ln[j];
            s.vec.un[at] = sh.un[j];
            s.vec.state[at] = sh.state[j];
            s.vec.slot[at] = sh.slot[j].x;
        }
        if (blockIdx.x > 0 || thread() > 0) return;
        report.infeasible = infeasible;
        s.number[0] = number;
        s.number[1] = trial;
        *s.report = report;
    }

    __device__ void set_slot(int j, int variable) {
        bool column = REVISED && variable < s.cols;
        int64_t begin = column ? s.col_start[variable] : 0;
        sh.slot[j] = make_int2(variable, column ? static_cast<int>(s.col_start[variable + 1] - begin) : 0);
        if (REVISED) sh.begin[j] = begin;
    }

    /* Whether a row or column of the matrix is dead. It must be one of the block's own. */
    __device__ bool dead_row(int i) const { return sh.head[i].y; }
    __device__ bool dead_line(int x) const { return !REVISED && sh.begin[x]; }

    /* The candidate's field that this lane writes to the record, see exchange() and ratio_test(). */
    __device__ const double *entering_field() const {
        const double *const fields[] = {sh.d,
                                        sh.weight,
                                        sh.xn,
                                        sh.ln,
                                        sh.un,
                                        reinterpret_cast<double *>(sh.slot),
                                        reinterpret_cast<double *>(sh.begin),
                                        sh.d};
        return pick(fields);
    }
    __device__ const double *leaving_field() const {
        const double *const fields[] = {sh.xb,   sh.lb, sh.ub, sh.alpha, reinterpret_cast<double *>(sh.head),
                                        sh.step, sh.xb, sh.xb};
        return pick(fields);
    }
    __device__ static const double *pick(const double *const (&fields)[RECORD_WORDS]) {
        const double *mine = fields[0];
#pragma unroll
        for (int k = 1; k < RECORD_WORDS; k++)
            if (simplex_lane() == k) mine = fields[k];
        return mine;
    }

    /* Finds the thread's best candidate among the block's slots, for the next exchange. */
    __device__ void find_local() {
        local = Largest::none();
        for (int j = thread(); j < slots; j += SIMPLEX_THREADS) {
            double score = gpuopt__simplex_score(sh.d[j], sh.weight[j], sh.state[j], run.rules.dual);
            if (score > 0) local = Largest::of(local, {score, first_slot + j, 0});
        }
    }

    /* 1 + the squared norms of the columns of B^-1 N, from the matrix. No pivots may be pending. */
    __device__ void start_norms() {
        for (int j = simplex_warp(); j < slots; j += SIMPLEX_WARPS) {
            int variable = sh.slot[j].x;
            bool stored = !REVISED || variable >= s.cols;
            const double *column = s.matrix + (REVISED ? variable - s.cols : first_slot + j) * s.pitch;
            double sum = 0;
            for (int i = simplex_lane(); i < s.rows; i += 32) {
                double a = stored ? column[i] : 0;
                for (int e = 0; !stored && e < sh.slot[j].y; e++)
                    a += s.col_val[sh.begin[j] + e] * s.matrix[s.col_row[sh.begin[j] + e] * s.pitch + i];
                sum += a * a;
            }
            sum = warp_sum(sum);
            if (simplex_lane() == 0) sh.weight[j] = 1 + sum;
        }
        __syncthreads();
    }

    /* The block's own part of row k of V, and of column k of U. */
    __device__ const double *own_v(int k) const {
        return s.resident ? sh.v + k * s.own_lines : s.v + k * s.wide + first_line;
    }
    __device__ const double *own_u(int k) const {
        return s.resident ? sh.u + k * s.own_rows : s.u + k * s.pitch + first_row;
    }
    __device__ void set_u(int k, int i, double value) {
        s.u[k * s.pitch + first_row + i] = value;
        if (s.resident) sh.u[k * s.own_rows + i] = value;
    }
    __device__ void set_v(int k, int x, double value) {
        s.v[k * s.wide + first_line + x] = value;
        if (s.resident) sh.v[k * s.own_lines + x] = value;
    }
};

} // namespace

#endif /* GPUOPT_CUDA_SIMPLEX_ITERATIONS_BLOCK_CUH */
