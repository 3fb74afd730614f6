// SPDX-License-Identifier: MIT
//
// A C++ caller of the C library.
#include "answer.h"

int main() { return answer_is_wrong(); }
