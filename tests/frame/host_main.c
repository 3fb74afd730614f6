/* SPDX-License-Identifier: MIT
 *
 * A host whose implementation is in another file.
 */
#include "answer.h"

int main(void) { return answer_is_wrong(); }
