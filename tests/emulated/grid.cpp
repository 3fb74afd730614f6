/* SPDX-License-Identifier: MIT
 *
 * Grids: workers, their turns, shared memory; messages.
 */
#include "grid.h"

#include "device.h"
#include "emulated.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulated {

namespace {

constexpr size_t dynamic_capacity = 256 * 1024, page = 4096;
constexpr unsigned long most_idle = 200000;

/* Workers without a grid; workers run until the process ends. */
std::vector<Worker *> &idle_workers() {
    static auto *all = new std::vector<Worker *>;
    return *all;
}

void wait_for(sem_t *s) {
    while (sem_wait(s)) continue;
}

/* Finds the program's thread-local memory of this thread. */
int find_range(dl_phdr_info *info, size_t, void *range) {
    auto *found = static_cast<Range *>(range);
    auto *mine = reinterpret_cast<char *>(&own), *from = static_cast<char *>(info->dlpi_tls_data);
    for (int k = 0; k < info->dlpi_phnum; k++)
        if (info->dlpi_phdr[k].p_type == PT_TLS && from && mine >= from && mine < from + info->dlpi_phdr[k].p_memsz)
            *found = {from, info->dlpi_phdr[k].p_memsz};
    return 0;
}

unsigned char garbage(Random *random) {
    static const unsigned char bytes[] = {0xCD, 0xFF, 0x7F, 0x01};
    return bytes[random->below(4)];
}

void work(Worker *w) {
    own.worker = w;
    dl_iterate_phdr(find_range, &w->statics);
    for (;;) {
        wait_for(&w->turn);
        w->run_blocks();
    }
}

Worker *new_worker() {
    auto *w = new Worker;
    auto *memory = static_cast<char *>(mmap(nullptr, dynamic_capacity + page, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (memory == MAP_FAILED) perror("emulated: shared memory"), abort();
    mprotect(memory + dynamic_capacity, page, PROT_NONE);
    w->dynamic = memory;
    sem_init(&w->turn, 0, 0);
    std::thread(work, w).detach();
    return w;
}

} // namespace

/* ---- Blocks ---- */

namespace {

/* The part of all static shared memory that a kernel uses: the part changed by some of its first blocks. */
struct Used {
    size_t from = 0, to = 0;
    int unchanged = 0; /* number of blocks without further changes */
    bool is_known() const { return unchanged >= 4; }
};
std::map<const void *, Used> &used_by() {
    static auto *all = new std::map<const void *, Used>;
    return *all;
}

} // namespace

/* Static shared memory consists of the program's thread-local variables, without the emulator's own. Dynamic shared
 * memory ends at the limit of the launch. */
void Worker::clear_shared_memory() {
    const unsigned char byte = filled = grid->by_chance() ? garbage(&grid->random) : 0xCD;
    const Used &used = used_by()[grid->kernel];
    const Own kept = own;
    if (used.is_known()) memset(statics.from + used.from, byte, used.to - used.from);
    else memset(statics.from, byte, statics.bytes);
    own = kept;
#if defined(__SANITIZE_ADDRESS__)
    __asan_poison_memory_region(dynamic, dynamic_capacity);
    __asan_unpoison_memory_region(dynamic_shared(), grid->bytes);
#endif
    memset(dynamic_shared(), byte, grid->bytes);
}

void Worker::learn_shared_memory() {
    Used &used = used_by()[grid->kernel];
    if (used.is_known()) return;
    const size_t mine = static_cast<size_t>(reinterpret_cast<char *>(&own) - statics.from);
    auto changed = [&](size_t at) {
        return static_cast<unsigned char>(statics.from[at]) != filled && (at < mine || at >= mine + sizeof own);
    };
    size_t from = 0, to = statics.bytes;
    while (from < to && !changed(from)) from++;
    while (to > from && !changed(to - 1)) to--;
    used.unchanged++;
    if (from == to || (used.from < used.to && from >= used.from && to <= used.to)) return;
    if (used.from == used.to) used.from = from, used.to = to;
    used.from = std::min(used.from, from);
    used.to = std::max(used.to, to);
    used.unchanged = 0;
}

void Worker::run_block(unsigned number) {
    const dim3 &n = grid->blocks;
    clear_shared_memory();
    block.begin(grid, {number % n.x, number / n.x % n.y, number / n.x / n.y});
    for (;;) {
        block.run();
        if (block.progress != seen) grid->idle = 0;
        seen = block.progress;
        if (block.finished == block.count) {
            learn_shared_memory();
            break;
        }
        if (block.at_grid == block.count) {
            at_barrier = true;
            if (++grid->at_barrier == grid->blocks.x * grid->blocks.y * grid->blocks.z) {
                for (Worker *w : grid->live) w->at_barrier = false, w->block.leave_grid_barrier();
                grid->at_barrier = 0;
            }
        } else if (!block.preempted && !block.spinning) {
            block.report_stuck();
        } else if (++grid->idle > most_idle) {
            for (const Worker *w : grid->live) w->block.describe();
            fatal("the grid hangs: no thread has made progress for long, and some wait for memory to change");
        }
        if (grid->outside && grid->idle > 2 * grid->live.size()) pause();
        do pass_turn();
        while (at_barrier);
        if (!block.ready_slots || grid->random.one_in(2)) block.revive_spinning();
    }
}

void Worker::run_blocks() {
    while (grid->started < grid->sequence.size()) run_block(grid->sequence[grid->started++]);
    std::vector<Worker *> &live = grid->live;
    grid->outside = false;
    for (size_t k = 0; k < live.size(); k++)
        if (live[k] == this) {
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
            break;
        }
    if (live.empty()) sem_post(&grid->launcher);
    else if (grid->at_barrier)
        fatal("a block has finished while %u others wait for the grid's barrier", grid->at_barrier);
    else sem_post(&live[grid->by_chance() ? grid->random.below(static_cast<unsigned>(live.size())) : 0]->turn);
}

/* Lets another live block run, if there is one. */
void Worker::pass_turn() {
    std::vector<Worker *> &live = grid->live;
    if (live.size() < 2) return;
    size_t mine = 0;
    while (live[mine] != this) mine++;
    size_t by = grid->by_chance() ? 1 + grid->random.below(static_cast<unsigned>(live.size()) - 1) : 1;
    Seat *seat = own.seat;
    sem_post(&live[(mine + by) % live.size()]->turn);
    wait_for(&turn);
    own.seat = seat;
}

/* Lets the launching thread lend the runtime to others for a while. */
void Worker::pause() {
    Seat *seat = own.seat;
    grid->paused = this;
    sem_post(&grid->launcher);
    wait_for(&turn);
    own.seat = seat;
}

void *dynamic_shared() {
    Worker *w = own.worker;
    return w->dynamic + dynamic_capacity - (w->grid->bytes + 63) / 64 * 64;
}

void run_grid(Grid *grid, unsigned live, uint64_t seed) {
    static uint64_t launches = 0;
    grid->random.state = seed * 0x100000001B3u + ++launches;
    if (seed) grid->order = static_cast<Order>(1 + grid->random.below(3));
    size_t blocks = size_t{grid->blocks.x} * grid->blocks.y * grid->blocks.z;
    grid->sequence.resize(blocks);
    for (unsigned k = 0; k < blocks; k++) grid->sequence[k] = k;
    if (grid->by_chance() && grid->random.one_in(2))
        for (unsigned k = 1; k < blocks; k++) std::swap(grid->sequence[k], grid->sequence[grid->random.below(k + 1)]);
    sem_init(&grid->launcher, 0, 0);
    for (size_t k = 0; k < live && k < blocks; k++) {
        if (idle_workers().empty()) idle_workers().push_back(new_worker());
        grid->live.push_back(idle_workers().back());
        idle_workers().pop_back();
        grid->live[k]->grid = grid;
        grid->live[k]->at_barrier = false;
    }
    const std::vector<Worker *> all = grid->live;
    sem_post(&grid->live[0]->turn);
    for (;;) {
        wait_for(&grid->launcher);
        if (!grid->paused) break;
        Worker *next = grid->paused;
        grid->paused = nullptr;
        grid->outside = false;
        grid->idle = 0;
        lend();
        sem_post(&next->turn);
    }
    sem_destroy(&grid->launcher);
    idle_workers().insert(idle_workers().end(), all.rbegin(), all.rend());
}

/* ---- Messages ---- */

static uint64_t &seed_value() {
    static const char *text = getenv("GPUOPT_EMULATED_SEED");
    static uint64_t value = text ? strtoull(text, nullptr, 10) : 0;
    return value;
}
uint64_t seed() { return seed_value(); }

const char *name_of(const void *code) {
    static char name[512];
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_symbolize_pc(const_cast<void *>(code), "%f", name, sizeof name);
#else
    Dl_info info = {};
    snprintf(name, sizeof name, "%p", code);
    if (dladdr(code, &info) && info.dli_fname)
        snprintf(
            name, sizeof name, "%s (addr2line -fCe %s %#lx)", info.dli_sname ? info.dli_sname : "?", info.dli_fname,
            static_cast<unsigned long>(static_cast<const char *>(code) - static_cast<const char *>(info.dli_fbase)));
#endif
    return name;
}

void fatal(const char *format, ...) {
    va_list arguments;
    fflush(stdout);
    fprintf(stderr, "emulated: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    if (const Seat *s = own.seat)
        fprintf(stderr, "emulated: in thread %u,%u,%u of block %u,%u,%u of the kernel %s\n", s->thread.x, s->thread.y,
                s->thread.z, s->block.x, s->block.y, s->block.z,
                name_of(static_cast<const Thread *>(s)->block->grid->kernel));
    fprintf(stderr, "emulated: GPUOPT_EMULATED_SEED=%llu\n", static_cast<unsigned long long>(seed()));
    abort();
}

} // namespace emulated

void emulated_set_seed(unsigned long long seed) { emulated::seed_value() = seed; }
