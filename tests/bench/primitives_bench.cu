/* SPDX-License-Identifier: MIT
 *
 * Hand-written primitives of the kernels, beside CUB's: the same work, in the same run.
 *     primitives_bench [NODES]      of the lists in device memory (2^26)
 * Prints a table in Markdown:
 *   warp, block   ns from the beginning of one to the beginning of the next, which needs its result: with one block of
 *                 256 threads on a multiprocessor (alone), and a block's share of a multiprocessor with eight of them
 *                 (full)
 *   arrays        us of a whole kernel, or of several
 *   device        10^9 elements per second
 * The variants of a primitive must have the same results; otherwise the program prints a message and returns 1.
 */
#include "tests/bench/primitives_blocks.cuh"
#include "tests/bench/primitives_device.cuh"
#include "tests/bench/primitives_lists.cuh"
#include "tests/bench/primitives_sorts.cuh"
#include "tests/bench/primitives_teams.cuh"

int main(int argc, char **argv) {
    Machine m;
    const int64_t nodes = argc > 1 ? std::atoll(argv[1]) : int64_t{1} << 26;
    if (nodes < 4096 || argc > 2) {
        std::fprintf(stderr, "usage: primitives_bench [NODES, 4096 or more]\n");
        return 2;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    CHECK(cudaDeviceGetAttribute(&m.multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    m.result = on_device<uint32_t>(int64_t{8} * m.multiprocessors * most_threads);
    blocks_table(&m);
    teams_table(&m);
    lists_table(&m);
    sorts_table(&m);
    const unsigned blocks = static_cast<unsigned>(3 * m.multiprocessors);
    Search search(nodes, m.multiprocessors);
    std::printf("\n| on the device | whose | 10^9 per second |\n| --- | --- | --- |\n");
    breadth_rows(&m, &search, &blocks);
    merge_rows(&search, &blocks);
    append_rows(&m, 4 * nodes);
    return m.good ? 0 : 1;
}
