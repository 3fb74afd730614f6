/* SPDX-License-Identifier: MIT
 *
 * A caller with the implementation in another file.
 */
#include "answer.h"

int main(void) { return answer_is_wrong(); }
