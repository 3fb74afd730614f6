/* SPDX-License-Identifier: MIT
 *
 * Fibres: stacks that one thread of the system switches between.
 */
#ifndef EMULATED_FIBRE_H
#define EMULATED_FIBRE_H

#include <cstddef>

#include "include/emulated/here.h"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulated {

class Fibre {
  public:
    /* The running fibre, with the thread's own stack. Or, after begin(), a fibre with a separate stack. */
    Fibre() = default;
    ~Fibre();
    Fibre(const Fibre &) = delete;
    Fibre &operator=(const Fibre &) = delete;

    /* Makes the next switch to this fibre call entry(), which must not return. Keeps the stack of an earlier call. */
    void begin(void (*entry)());
    /* Leaves this fibre, which is running, for another one. Returns when another one switches to this. last: never. */
    void switch_to(Fibre &other, bool last = false);
    /* The first thing that entry() does. */
    void entered();

  private:
    char *stack_ = nullptr;
#if defined(__x86_64__)
    void *saved_ = nullptr; /* the stack pointer; callee-saved registers are on top */
#else
    ucontext_t saved_;
#endif
    void *fake_stack_ = nullptr; /* of the address sanitizer */
    const void *bottom_ = nullptr;
    size_t bytes_ = 0;
};

} // namespace emulated

#endif /* EMULATED_FIBRE_H */
