/* SPDX-License-Identifier: MIT
 *
 * A barrier for all blocks of a cooperative launch that also gathers one 32-bit word of each block. It takes one trip
 * through the L2 cache: all blocks neither wait in turn for one counter, nor does one block collect the words.
 *
 * Correctness, by the PTX manual's memory consistency model
 * ---------------------------------------------------------
 * After a barrier every thread sees, even through plain loads, all writes of all threads before the barrier:
 *   1. __syncthreads() orders the block's writes before thread 0's store (bar.sync; Causality Order, "synchronizes").
 *   2. The store is st.release.gpu. With the operations before it in causality order it is a release pattern on the
 *      block's word (Release and Acquire Patterns).
 *   3. A thread of another block reads that word with ld.acquire.gpu until it finds this barrier's number. The two are
 *      morally strong: both name the scope of the device, and they overlap completely. So the release pattern
 *      synchronizes with the acquire pattern.
 *   4. Each thread of a block waits for some blocks only. The second __syncthreads() passes on to the whole block what
 *      its threads have acquired, since causality order is transitive.
 * Two sets of words alternate. A block may write its word of barrier n + 1 while another still reads the word of
 * barrier n. The word of n + 2 cannot be written then: no block passes n + 1 before all have arrived there, and so have
 * left n. So a word is at most two barriers behind, and 32 bits of the barrier's number suffice however often they
 * wrap.
 */
#ifndef GPUOPT_CUDA_GRID_BARRIER_CUH
#define GPUOPT_CUDA_GRID_BARRIER_CUH

#include <cuda/atomic>

namespace {

/* One thread's view of the barriers. All threads of the grid call all members, in the same order. */
class GridBarrier {
  public:
    enum { SETS = 2 }; /* words: [SETS][most blocks], all 0 before the first launch */

    /* number: of the last barrier of the previous launch. */
    __device__ GridBarrier(unsigned long long *words, unsigned most_blocks, unsigned number)
        : words_(words), most_blocks_(most_blocks), number_(number) {}

    __device__ unsigned number() const { return number_; }
    /* The set, of two, for the next barrier. */
    __device__ unsigned next_set() const { return (number_ + 1) % SETS; }

    /* Announces the block's arrival. Called by one thread, after a __syncthreads(). */
    __device__ void arrive(unsigned word) {
        Word(words_[next_set() * most_blocks_ + blockIdx.x])
            .store(static_cast<unsigned long long>(number_ + 1) << 32 | word, cuda::memory_order_release);
    }

    /* Waits for every step-th block from `first` on, and calls receive(word) for each. A __syncthreads() must
     * follow. */
    template <class F>
    __device__ void wait(unsigned first, unsigned step, F receive) {
        const unsigned set = next_set();
        number_++;
        for (unsigned block = first; block < gridDim.x; block += step) {
            unsigned long long word;
            do word = Word(words_[set * most_blocks_ + block]).load(cuda::memory_order_acquire);
            while (static_cast<unsigned>(word >> 32) != number_);
            receive(static_cast<unsigned>(word));
        }
    }

  private:
    using Word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
    unsigned long long *words_;
    unsigned most_blocks_, number_;
};

} // namespace

#endif /* GPUOPT_CUDA_GRID_BARRIER_CUH */
