/* SPDX-License-Identifier: MIT
 *
 * A caller whose implementation is in another file.
 */
#include "answer.h"

int main(void) { return answer_is_wrong(); }
