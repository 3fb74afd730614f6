# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the two commands, examples/run.sh and tests/run.sh, need of the system: Debian's packages, installed where that is
# possible and named where it is not.

# need PACKAGE...: those that are missing are installed.
need() {
    local package missing=()
    command -v dpkg-query >/dev/null || return 0 # not Debian: whoever builds here knows what to install
    for package in "$@"; do
        dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "not root, so these Debian packages are not installed, and what needs them will fail: ${missing[*]}" >&2
        return 0
    fi
    echo "installing ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    { apt-get -q update && apt-get -q -y --no-install-recommends install "${missing[@]}"; } >&2 ||
        echo "apt-get could not install all of: ${missing[*]}" >&2
}

# To build the examples.
example_packages=(bazel-bootstrap bazel-rules-java g++ coinor-libclp-dev zlib1g-dev)
# To run all tests; the sanitizers and the fuzzer want clang with its OpenMP.
test_packages=(libcmocka-dev libgmp-dev xz-utils gzip binutils bsdutils clang libclang-rt-14-dev libomp-dev
    clang-format cppcheck)
