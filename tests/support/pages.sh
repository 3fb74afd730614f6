# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Code blocks of the pages in Markdown, and programs that are shown in them.

# block LANGUAGE FILE [N]: the N-th block of this language, or the first.
block() {
    awk -v open="^\`\`\`$1\$" -v wanted="${3:-1}" '
        !inside && /^```/ { inside = 1; shown = $0 ~ open && ++count == wanted; next }
        inside && /^```$/ { inside = shown = 0 }
        shown' "$2"
}

# library: the library in this folder, for the programs below; without optimisation, in a third of the time.
library() { cc -O0 -c gpuopt_impl/gpuopt.c -o gpuopt.o; }

# compiles_and_runs NAME [OPTION...]: NAME.c as C11 and as C++17, with the library and these options; the output of the
# C program is in NAME.out.
compiles_and_runs() {
    local strict=(-Wall -Wextra -Wpedantic -Werror -I.) with=(gpuopt.o "${@:2}" -lm)
    cc -std=c11 "${strict[@]}" "$1.c" "${with[@]}" -o "$1" && ./"$1" >"$1.out" &&
        g++ -std=c++17 "${strict[@]}" -Wno-missing-field-initializers -x c++ "$1.c" -x none "${with[@]}" -o "$1_cpp" &&
        ./"$1_cpp" >/dev/null
}
