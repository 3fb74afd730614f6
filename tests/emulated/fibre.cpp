/* SPDX-License-Identifier: MIT */
#include "fibre.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulated {

namespace {

constexpr size_t page = 4096;
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t stack_bytes = 512 * 1024; /* reserved; untouched pages cost nothing */
#else
constexpr size_t stack_bytes = 256 * 1024;
#endif

} // namespace

__thread Own own;

#if defined(__x86_64__)
extern "C" void emulated_switch(void **save, void *to);
asm(".text\n"
    ".globl emulated_switch\n"
    ".type emulated_switch, @function\n"
    "emulated_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    retq\n"
    ".size emulated_switch, .-emulated_switch\n");
#endif

Fibre::~Fibre() {
    if (stack_) munmap(stack_, page + stack_bytes);
}

void Fibre::begin(void (*entry)()) {
    if (!stack_) { /* the lowest page stops an overflow */
        void *memory = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED) perror("emulated: a fibre's stack"), abort();
        stack_ = static_cast<char *>(memory);
        mprotect(stack_, page, PROT_NONE);
        bottom_ = stack_ + page;
        /* They begin at other lines of a page each, or the processor's first cache would hold a few of them at a time. */
        static std::atomic<unsigned> made;
        bytes_ = stack_bytes - made++ * 9 % 64 * 64;
    }
    fake_stack_ = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(bottom_, bytes_); /* a fibre that was left for good */
#endif
#if defined(__x86_64__)
    auto top = reinterpret_cast<uintptr_t *>(stack_ + page + bytes_);
    *--top = 0; /* the return address of entry(): the stack is aligned as after a call */
    *--top = reinterpret_cast<uintptr_t>(entry);
    for (int k = 0; k < 6; k++) *--top = 0;
    saved_ = top;
#else
    getcontext(&saved_);
    saved_.uc_stack.ss_sp = stack_ + page;
    saved_.uc_stack.ss_size = bytes_;
    saved_.uc_link = nullptr;
    makecontext(&saved_, entry, 0);
#endif
}

void Fibre::switch_to(Fibre &other, bool last) {
    own.left = this;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(last ? nullptr : &fake_stack_, other.bottom_, other.bytes_);
#endif
    (void)last;
#if defined(__x86_64__)
    emulated_switch(&saved_, other.saved_);
#else
    swapcontext(&saved_, &other.saved_);
#endif
    entered();
}

void Fibre::entered() {
#if defined(__SANITIZE_ADDRESS__)
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &bytes);
    if (own.left && !own.left->stack_) own.left->bottom_ = bottom, own.left->bytes_ = bytes; /* a thread's own stack */
#endif
}

} // namespace emulated
