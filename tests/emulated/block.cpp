/* SPDX-License-Identifier: MIT
 *
 * The threads of a block: the turn of each, barriers, meetings of warps.
 */
#include "block.h"

#include <cstdio>
#include <cstring>

#include "grid.h"

namespace emulated {

namespace {

Thread *here() { return static_cast<Thread *>(own.seat); }

bool same(const Place &a, const Place &b) {
    return a.line == b.line && (a.file == b.file || strcmp(a.file, b.file) == 0) &&
           (a.what == b.what || strcmp(a.what, b.what) == 0);
}

/* A bit of a set. */
int choose(unsigned bits, Order order, Random *random) {
    if (order == Order::DESCENDING) return 31 - __builtin_clz(bits);
    if (order != Order::RANDOM) return __builtin_ctz(bits);
    unsigned by = random->below(32), turned = by ? bits >> by | bits << (32 - by) : bits;
    return (__builtin_ctz(turned) + static_cast<int>(by)) & 31;
}

/* Every thread of a kernel begins here. */
void start() {
    Thread *t = here();
    t->fibre.entered();
    t->state = State::READY;
    t->block->grid->body();
    Block *b = t->block;
    copy_wait(0);
    t->state = State::FINISHED;
    t->warp->finished |= 1u << t->lane;
    b->finished++;
    b->progress++;
    if (b->waiting) b->report_stuck();
    b->leave(t);
}

} // namespace

void Block::make_ready(Warp &w, unsigned lanes) {
    w.ready |= lanes;
    ready_slots |= 1u << w.slot;
}

void Block::make_all_ready() {
    for (Warp &w : warp) make_ready(w, w.lanes);
}

Thread *Block::next() {
    if (!ready_slots || preempted) return nullptr;
    Order order = grid->order;
    int slot = choose(ready_slots, order == Order::PRIORITY ? Order::ASCENDING : order, &grid->random);
    Warp &w = warp[static_cast<size_t>(warp_in_slot[slot])];
    int lane = choose(w.ready, order == Order::PRIORITY ? Order::RANDOM : order, &grid->random);
    w.ready &= ~(1u << lane);
    if (!w.ready) ready_slots &= ~(1u << slot);
    return thread[static_cast<size_t>(32 * warp_in_slot[slot] + lane)].get();
}

/* Switches from a thread that waits, or has finished, to the next. */
void Block::leave(Thread *t) {
    Thread *n = next();
    if (n != t) {
        own.seat = n;
        t->fibre.switch_to(n ? n->fibre : scheduler, t->state == State::FINISHED);
    }
    t->state = State::READY;
}

void Block::begin(Grid *of, uint3 at) {
    grid = of;
    index = at;
    count = of->threads.x * of->threads.y * of->threads.z;
    while (thread.size() < count) thread.push_back(std::make_unique<Thread>());
    warp.resize((count + 31) / 32);
    for (Warp &w : warp) w.ready = w.lanes = w.finished = 0; /* its meetings have ended */
    for (size_t w = 0; w < warp.size(); w++) warp_in_slot[w] = static_cast<int>(w);
    if (of->by_chance())
        for (unsigned w = 1; w < warp.size(); w++) std::swap(warp_in_slot[w], warp_in_slot[of->random.below(w + 1)]);
    for (size_t w = 0; w < warp.size(); w++) warp[static_cast<size_t>(warp_in_slot[w])].slot = static_cast<int>(w);
    ready_slots = waiting = finished = spinning = at_grid = barriers = 0;
    votes[0] = votes[1] = 0;
    bulk.clear();
    preempted = false;
    for (unsigned k = 0; k < count; k++) {
        Thread *t = thread[k].get();
        t->block = this;
        t->Seat::block = at;
        t->blocks = of->blocks;
        t->threads = of->threads;
        t->thread = {k % of->threads.x, k / of->threads.x % of->threads.y, k / of->threads.x / of->threads.y};
        t->rank = k;
        t->lane = k % 32;
        t->warp = &warp[k / 32];
        t->warp->lanes |= 1u << t->lane;
        t->copies.clear();
        t->group.clear();
        t->fibre.begin(start);
    }
    make_all_ready();
}

void Block::run() {
    preempted = false;
    Thread *n = next();
    if (!n) return;
    own.seat = n;
    scheduler.switch_to(n->fibre);
    own.seat = nullptr;
}

void Block::revive_spinning() {
    if (!spinning) return;
    for (unsigned k = 0; k < count; k++)
        if (thread[k]->state == State::SPINS) make_ready(thread[k].get());
    spinning = 0;
}

/* ---- Barriers ---- */

int sync_threads(Place place, int vote) {
    Thread *t = here();
    Block *b = t->block;
    if (b->waiting && !same(b->barrier, place))
        fatal("divergent barrier: a thread waits at %s:%d, %u others at %s:%d", place.file, place.line, b->waiting,
              b->barrier.file, b->barrier.line);
    if (b->finished)
        fatal("divergent barrier: a thread waits at %s:%d, %u others have finished", place.file, place.line,
              b->finished);
    b->barrier = place;
    unsigned which = b->barriers & 1;
    b->votes[which] += vote;
    if (++b->waiting < b->count) {
        t->state = State::AT_BARRIER;
        t->place = place;
        b->leave(t);
        return b->votes[which];
    }
    b->waiting = 0;
    b->barriers++;
    b->progress++;
    b->votes[which ^ 1] = 0;
    b->make_all_ready();
    b->leave(t);
    return b->votes[which];
}

void sync_grid(Place place) {
    Thread *t = here();
    Block *b = t->block;
    if (!b->grid->cooperative)
        fatal("a grid barrier at %s:%d in a launch that is not cooperative", place.file, place.line);
    sync_threads(place);
    t->state = State::AT_GRID;
    t->place = place;
    b->at_grid++;
    b->leave(t);
}

void Block::leave_grid_barrier() {
    at_grid = 0;
    progress++;
    make_all_ready();
}

/* ---- Warps ---- */

/* The meeting of this lane with the others of a mask. Lanes of another meeting may be waiting, unless these lanes wait
 * for one another. */
static Meeting &meeting_of(Warp *w, unsigned mask, unsigned own_bit, const Place &place) {
    std::unique_ptr<Meeting> *const slots[] = {&w->meeting[__builtin_ctz(mask)], &w->within[__builtin_ctz(mask)]};
    Meeting *usual = slots[0]->get(); /* where no other meeting is under way, the answer without a search */
    if (usual && !(*slots[1] && (*slots[1])->arrived) &&
        (!usual->arrived || (usual->mask == mask && same(usual->place, place))))
        return *usual;
    Meeting *free = nullptr, *found = nullptr;
    for (std::unique_ptr<Meeting> *slot : slots) {
        if (!*slot) *slot = std::make_unique<Meeting>();
        Meeting &m = **slot;
        const bool waits = m.arrived != 0, joins = waits && m.mask == mask && same(m.place, place);
        if (joins) found = &m;
        else if (!waits && !free) free = &m;
        else if (waits && (m.mask == mask || (m.mask & own_bit && m.arrived & mask)))
            fatal("divergent warp: lane %d is in %s at %s:%d with mask %#x, lanes %#x in %s at %s:%d with mask %#x",
                  __builtin_ctz(own_bit), place.what, place.file, place.line, mask, m.arrived, m.place.what,
                  m.place.file, m.place.line, m.mask);
    }
    if (!found && !free) fatal("divergent warp: more than two meetings of lanes %#x", mask);
    return found ? *found : *free;
}

const Deposit *meet(unsigned mask, const void *bytes, size_t size, Place place, Combine combine) {
    Thread *t = here();
    Warp *w = t->warp;
    const unsigned own_bit = 1u << t->lane;
    if (!(mask & own_bit))
        fatal("%s at %s:%d: lane %u is not in its mask %#x", place.what, place.file, place.line, t->lane, mask);
    /* Full masks are common in blocks with fewer lanes in the last warp. */
    mask &= w->lanes;
    if (mask & w->finished)
        fatal("%s at %s:%d: lanes %#x of its mask have finished", place.what, place.file, place.line,
              mask & w->finished);
    Meeting &m = meeting_of(w, mask, own_bit, place);
    m.mask = mask;
    m.place = place;
    Deposit *deposit = m.deposit[m.round & 1];
    if (combine) {
        unsigned *sum = reinterpret_cast<unsigned *>(deposit[32].bytes), mine;
        memcpy(&mine, bytes, sizeof mine);
        *sum = m.arrived ? combine(*sum, mine) : mine;
    } else if (size == 4) {
        memcpy(deposit[t->lane].bytes, bytes, 4);
    } else if (size == 8) {
        memcpy(deposit[t->lane].bytes, bytes, 8);
    } else if (size) {
        memcpy(deposit[t->lane].bytes, bytes, size);
    }
    m.arrived |= own_bit;
    if (m.arrived != mask) {
        t->state = State::AT_WARP;
        t->place = place;
        t->block->leave(t);
        return deposit;
    }
    m.arrived = 0;
    m.round++;
    t->block->make_ready(*w, mask);
    t->block->leave(t);
    return deposit;
}

/* ---- Giving way ---- */

void spin(Place place) {
    Thread *t = here();
    t->state = State::SPINS;
    t->place = place;
    t->block->spinning++;
    t->block->leave(t);
}

void spin_outside(Place place) {
    here()->block->grid->outside = true;
    spin(place);
}

void may_switch() {
    Thread *t = here();
    if (!t || !t->block->grid->by_chance()) return;
    Block *b = t->block;
    Random &random = b->grid->random;
    if (!random.one_in(8)) return;
    if (b->warp.size() > 1 && random.one_in(4)) { /* the order of warps changes */
        unsigned first = random.below(static_cast<unsigned>(b->warp.size())),
                 second = random.below(static_cast<unsigned>(b->warp.size()));
        unsigned ready = b->ready_slots, flip = (ready >> first ^ ready >> second) & 1;
        b->ready_slots ^= flip << first | flip << second;
        std::swap(b->warp_in_slot[first], b->warp_in_slot[second]);
        b->warp[static_cast<size_t>(b->warp_in_slot[first])].slot = static_cast<int>(first);
        b->warp[static_cast<size_t>(b->warp_in_slot[second])].slot = static_cast<int>(second);
        if (first == second) b->ready_slots = ready;
    }
    b->preempted = random.one_in(8);
    b->make_ready(t);
    b->leave(t);
}

/* ---- Messages ---- */

void Block::describe() const {
    std::vector<std::pair<Place, unsigned>> places;
    for (unsigned k = 0; k < count; k++) {
        const Thread &t = *thread[k];
        if (t.warp->ready >> t.lane & 1 || t.state == State::READY || t.state == State::FINISHED) continue;
        bool known = false;
        for (auto &p : places)
            if (same(p.first, t.place)) p.second++, known = true;
        if (!known) places.push_back({t.place, 1});
    }
    fprintf(stderr, "emulated: of %u threads of block %u,%u,%u, %u have finished\n", count, index.x, index.y, index.z,
            finished);
    for (auto &p : places)
        fprintf(stderr, "emulated: %u wait in %s at %s:%d\n", p.second, p.first.what, p.first.file, p.first.line);
}

void Block::report_stuck() const {
    describe();
    fatal("divergent barrier: these threads wait for ever");
}

} // namespace emulated
