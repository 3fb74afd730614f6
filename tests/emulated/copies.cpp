/* SPDX-License-Identifier: MIT
 *
 * Asynchronous copies to shared memory (cp.async, cp.async.bulk with an mbarrier). They happen as late as allowed, when
 * a thread waits for them; or, by chance, earlier.
 */
#include <cstring>

#include "grid.h"

namespace emulated {

namespace {

Thread *here() { return static_cast<Thread *>(own.seat); }

void do_copy(const Copy &c) {
    memcpy(c.to, c.from, c.bytes);
    memset(static_cast<char *>(c.to) + c.bytes, 0, c.zeros);
}

void check_aligned(const char *what, const void *to, const void *from, unsigned bytes, unsigned by) {
    if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes) % by)
        fatal("%s: %p, %p or %u is not a multiple of %u", what, to, from, bytes, by);
}

} // namespace

void copy_async(void *to, const void *from, unsigned bytes, unsigned all) {
    check_aligned("cp.async", to, from, all, all);
    Copy copy = {to, from, bytes, all - bytes, nullptr};
    here()->copies.push_back(copy);
}

void copy_commit() {
    unsigned before = 0;
    for (unsigned n : here()->group) before += n;
    here()->group.push_back(static_cast<unsigned>(here()->copies.size()) - before);
}

void copy_wait(unsigned groups) {
    Thread *t = here();
    Random &random = t->block->grid->random;
    while (t->group.size() > groups || (t->block->grid->by_chance() && !t->group.empty() && random.one_in(4))) {
        for (unsigned k = 0; k < t->group[0]; k++) do_copy(t->copies[k]);
        t->copies.erase(t->copies.begin(), t->copies.begin() + t->group[0]);
        t->group.erase(t->group.begin());
    }
    if (groups) return;
    for (const Copy &c : t->copies) do_copy(c);
    t->copies.clear();
}

/* An mbarrier's word. */
struct Bits {
    int64_t bytes : 32; /* still expected; negative if they came first */
    uint64_t waiting : 15, arrivals : 15, parity : 1, valid : 1;
};
static_assert(sizeof(Bits) == sizeof(uint64_t), "an mbarrier has 8 bytes");

static Bits *bits_of(uint64_t *barrier) {
    auto *b = reinterpret_cast<Bits *>(barrier);
    if (!b->valid || b->arrivals == 0) fatal("mbarrier: this is none");
    return b;
}
static void end_phase(Bits *b) {
    if (b->waiting || b->bytes) return;
    b->parity ^= 1;
    b->waiting = b->arrivals;
}

void barrier_begin(uint64_t *barrier, unsigned arrivals) {
    Bits b = {};
    b.waiting = b.arrivals = arrivals & 0x7fff;
    b.valid = 1;
    memcpy(barrier, &b, sizeof b);
}

void barrier_arrive(uint64_t *barrier) {
    Bits *b = bits_of(barrier);
    if (b->waiting == 0) fatal("mbarrier: more arrivals than a phase has");
    b->waiting--;
    end_phase(b);
    may_switch();
}

void barrier_expect(uint64_t *barrier, unsigned bytes) {
    Bits *b = bits_of(barrier);
    b->bytes += bytes;
    may_switch();
}

void copy_bulk(void *to, const void *from, unsigned bytes, uint64_t *barrier) {
    check_aligned("cp.async.bulk", to, from, bytes, 16);
    here()->block->bulk.push_back({to, from, bytes, 0, barrier});
}

void barrier_wait(uint64_t *barrier, unsigned parity) {
    Block *b = here()->block;
    while (bits_of(barrier)->parity == parity) {
        if (!b->bulk.empty()) { /* any of the copies may be next */
            size_t which = b->grid->by_chance() ? b->grid->random.below(static_cast<unsigned>(b->bulk.size())) : 0;
            Copy c = b->bulk[which];
            b->bulk.erase(b->bulk.begin() + static_cast<std::ptrdiff_t>(which));
            do_copy(c);
            bits_of(c.barrier)->bytes -= c.bytes;
            end_phase(bits_of(c.barrier));
            b->progress++;
        } else {
            spin({"mbarrier wait", "", 0});
        }
    }
    may_switch();
}

} // namespace emulated
