# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Saves compiling the library for each plug-in. The script that reads this sets root.

# built_library: prints the library to link with: GPUOPT_LIBRARY, or the one that Bazel has built from the sources as
# they are, without a sanitizer. Prints nothing if there is neither.
built_library() {
    local library
    library=${GPUOPT_LIBRARY:-$(readlink -f "${root:?}/bazel-bin/libgpuopt.a")}
    [ -f "$library" ] || return 0
    if [ -z "${GPUOPT_LIBRARY:-}" ]; then
        case $library in *-asan/* | *-tsan/*) return ;; esac
        [ -z "$(find "$root"/gpuopt.h "$root"/gpuopt "$root"/gpuopt_impl -newer "$library")" ] || return 0
    fi
    echo "$library"
}
