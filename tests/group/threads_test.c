/* SPDX-License-Identifier: MIT
 *
 * Promises of transports/gpuopt_threads.c alone: a copy that has begun does not count as waiting, for its sender or for
 * any other rank.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/group/ranks.h"

/* Seconds: how long a rank waits for another's call, and how long a copy takes. */
static const double limit = 1, copy = 2;

/* An array that is slow at the first write: the system reports the write by a signal. */
enum { SLOW = 1 << 16 };
static char *slow;
static void write_slowly(int number) {
    (void)number;
    seconds_wait(copy);
    if (mprotect(slow, SLOW, PROT_READ | PROT_WRITE)) signal(SIGSEGV, SIG_DFL);
}

/* Rank 0 sends to rank 1, which copies for longer than rank 0's limit, and meanwhile rank 2 to rank 3. */
static void has_a_slow_copy(rank *r) {
    static char data[SLOW];
    const gpuopt_transport *t = &r->transport;
    double start;
    uint8_t byte = 1;
    EXPECT(r, rank_join(r, 20) == GPUOPT_OK);
    start = seconds_now();
    switch (r->number) {
    case 0:
        EXPECT(r, t->send(t->user, limit, GPUOPT_HOST, 1, data, SLOW) == GPUOPT_OK);
        EXPECT(r, seconds_now() - start > limit);
        break;
    case 1: EXPECT(r, t->receive(t->user, limit, GPUOPT_HOST, 0, slow, SLOW) == GPUOPT_OK); break;
    case 2:
        seconds_wait(0.3);
        EXPECT(r, t->send(t->user, limit, GPUOPT_HOST, 3, &byte, 1) == GPUOPT_OK);
        EXPECT(r, seconds_now() - start < copy);
        break;
    case 3: EXPECT(r, t->receive(t->user, limit, GPUOPT_HOST, 2, &byte, 1) == GPUOPT_OK); break;
    }
    EXPECT(r, gpuopt_group_agree(r->group, NULL, 0) == GPUOPT_OK); /* nobody has given up */
}
static void copies_longer_than_the_limit(void **state) {
    struct sigaction act, before;
    (void)state;
    slow = mmap(NULL, SLOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(slow != MAP_FAILED);
    memset(&act, 0, sizeof act);
    act.sa_handler = write_slowly;
    assert_int_equal(sigaction(SIGSEGV, &act, &before), 0);
    ranks_run(4, has_a_slow_copy, NULL);
    assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
    munmap(slow, SLOW);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(copies_longer_than_the_limit),
};
TEST_MAIN(tests)
