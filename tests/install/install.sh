# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the tests of this folder share: a folder with the files of a package, the README's program in it, and how to look
# at what it prints. A script sources this file after it has set root.
# shellcheck disable=SC2034,SC2154 # variables for whoever sources this, and of check.sh

# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=../support/pages.sh
. "$root/tests/support/pages.sh"
# shellcheck source=../../third_party/setup.sh
. "$root/third_party/setup.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }

# needs COMMAND PACKAGE: or the script ends here, with a reason.
needs() {
    command -v "$1" >/dev/null || need "$2"
    command -v "$1" >/dev/null && return
    skip "$(basename "$0")" "no $1, which Debian's $2 has"
    summary
    exit
}

# The files of a package, in $work/package: what tools/release.sh packs, without tests and pages.
copy_package() {
    mkdir -p "$work/package/tools" &&
        (cd "$root" && cp tools/version.sh "$work/package/tools" &&
            cp -r CMakeLists.txt CMakePresets.json LICENSE cmake cuda gpuopt gpuopt.h gpuopt_impl meson.build \
                "$work/package") &&
        block c "$root/README.md" >"$work/program.c" && [ -s "$work/program.c" ]
}

# With what packaging/ and python/ need, too.
copy_recipes() {
    local package=$work/package
    copy_package && mkdir -p "$package/examples" &&
        cp -r "$root"/{README.md,CHANGELOG.md,packaging,python} "$package" &&
        cp -r "$root"/examples/{quickstart.c,steps} "$package/examples" &&
        rm -rf "$package"/python/{build,*.egg-info,gpuopt/{_cffi.py,_generated.py,libgpuopt.*}}
}

prints_the_answer() {
    "$@" >"$work/program.out" || return
    cat "$work/program.out"
    grep -qx 'x in \[0, 3\]' "$work/program.out" && grep -qx 'y in \[0, 2\]' "$work/program.out"
}

# One family is enough for the README's program.
others='basis;simplex;elimination;knapsack'
all_families="propagate;$others"

# configure SOURCE BUILD OPTION...: without optimisation, which takes most of the time.
configure() { cmake -G Ninja -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Debug "${@:3}"; }
# build SOURCE BUILD OPTION...
build() { configure "$@" && cmake --build "$2"; }
# fails_with TEXT COMMAND...: the command fails, and its output has the text.
fails_with() {
    if "${@:2}" >"$work/failure.log" 2>&1; then echo "it did not fail" && return 1; fi
    grep -q -- "$1" "$work/failure.log" || { cat "$work/failure.log" && return 1; }
}
