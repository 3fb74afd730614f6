/* SPDX-License-Identifier: MIT
 *
 * A caller with other headers that define macros of lower-case words: the macros of Windows, as in windef.h, rpcndr.h
 * and combaseapi.h, and every function of <tgmath.h>. Also compiled as C++.
 */
#if defined(HOST_WINDOWS)
#include <windows.h>
#else
#define near
#define far
#define pascal
#define cdecl
#define small char
#define hyper long long
#define interface struct
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#endif
#include <tgmath.h>

#include "answer.h"

int main(void) { return answer_is_wrong(); }
