#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# By abidiff, of Debian's abigail-tools: the binary interface of the core in the shared library is what
# tests/install/core.abi lists. tests/frame/core_api_test.sh compares the same in the headers; this test looks at the
# compiled library, and at what its calls take.
# Usage: abi_test.sh [--write]
#   --write  rewrites the list, and tests nothing
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
needs abidiff abigail-tools
cd "$work" || exit 1
list=$root/tests/install/core.abi
version=$("$root/tools/version.sh" --abi)

# library SOURCE FILE: with the core's calls alone, since layers may change, and the names of the release.
library() {
    sed "s/@GPUOPT_ABI@/$version/; /^GPUOPT_LAYERS/,\$d; s/^};/local: *; };/" "$1/cmake/gpuopt.map.in" >core.map &&
        gcc -std=c11 -O0 -g -fPIC -shared -fvisibility=hidden "-ffile-prefix-map=$PWD/=" \
            '-DGPUOPT_API=extern __attribute__((visibility("default")))' "$1/gpuopt_impl/gpuopt.c" \
            -Wl,--version-script=core.map "-Wl,-soname,libgpuopt.so.$version" -lm -o "$2"
}
# What only the library knows, such as the members of a handle, is no part of it. (With these options abidiff itself
# misses changes, so it compares lists.)
options=(--no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash)
# write SOURCE LIST: builds the library, and lists its interface.
write() {
    rm -rf headers && mkdir headers && cp "$1/gpuopt.h" headers && library "$1" core.so &&
        abidw --headers-dir headers --drop-private-types "${options[@]}" core.so --out-file "$2"
}

check "the package" copy_package || { summary && exit; }
check "the library and its interface" write package core.abi || { summary && exit; }
if [ "${1-}" = --write ]; then
    cp core.abi "$list"
    exit
fi
check "it is that of tests/install/core.abi; --write rewrites the list" abidiff "$list" core.abi

# changed NAME FROM TO: with this line of gpuopt.h changed, abidiff reports it.
changed() {
    rm -rf other && cp -r package other && sed -i "0,/$2/s//$3/" other/gpuopt.h &&
        ! cmp -s package/gpuopt.h other/gpuopt.h && write other other.abi && fails_with "$1" abidiff "$list" other.abi
}
check "seen: a new member" changed gpuopt_context_desc "    int32_t threads;" "    double added; int32_t threads;"
check "seen: another value" changed "GPUOPT_OPTIMAL" "^    GPUOPT_OPTIMAL\b" "    GPUOPT_NEW, GPUOPT_OPTIMAL"
summary
