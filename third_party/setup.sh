# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What examples/run.sh, tests/run.sh and tests/papers/run.sh need of the system: Debian's packages, installed where that
# is possible and named where it is not, and the GPU and the CUDA toolkit, if there are any.
# shellcheck disable=SC2034 # variables for whoever sources this

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
example_packages=(bazel-bootstrap bazel-rules-java g++ zlib1g-dev liblzma-dev libglpk-dev)
# To run the tests, beside those.
test_packages=(coinor-libclp-dev libcmocka-dev libgmp-dev xz-utils gzip binutils bsdutils patch)
# For tests/run.sh --all, beside those: sanitizers and fuzzers want clang with its OpenMP; checks of the sources; the
# reference; another rules_cc; MPI; the Python package and the site.
all_packages=(bazel-rules-cc clang libclang-rt-14-dev libomp-dev clang-format cppcheck shellcheck doxygen graphviz
    libopenmpi-dev openmpi-bin python3-venv)

has_gpu() { ls /dev/nvidia[0-9]* >/dev/null 2>&1; }

# find_nvcc: prints where it is, in the places where cuda/configure.bzl looks.
find_nvcc() {
    local path
    for path in "${CUDA_PATH:-}/bin/nvcc" "${CUDA_HOME:-}/bin/nvcc" /usr/local/cuda/bin/nvcc "$(command -v nvcc)"; do
        [ -x "$path" ] && echo "$path" && return
    done
    return 1
}
has_nvcc() { find_nvcc >/dev/null; }
# fast_compile NVCC: prints its option to compile device code in the least time, however slow that code runs. Since CUDA
# 12.9 there is a level for this; before, code for a debugger compiles fastest.
fast_compile() { if "$1" --help 2>/dev/null | grep -q Ofast-compile; then echo -Ofc=max; else echo -G; fi; }

# choose_cuda: sets cuda to the options with which Bazel builds for this machine and nothing else, and cuda_missing to why
# that leaves CUDA out, or to nothing.
choose_cuda() {
    local archs
    if ! has_gpu; then
        cuda=(--repo_env=GPUOPT_CUDA=0) cuda_missing="there is no NVIDIA GPU here"
    elif ! has_nvcc; then
        cuda=(--repo_env=GPUOPT_CUDA=0) cuda_missing="there is no CUDA toolkit here"
    else
        archs=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d . | sort -un | paste -sd,)
        cuda_missing="" cuda=(${archs:+"--//cuda:archs=$archs"})
    fi
}

# choose_all_cuda: as choose_cuda, but without a GPU the CUDA code is still compiled for the newest one, in the least
# time. The option replaces the one in .bazelrc, and so repeats it.
choose_all_cuda() {
    local nvcc
    choose_cuda
    if ! has_gpu && nvcc=$(find_nvcc); then
        cuda=(--//cuda:archs=120 "--//cuda:copts=--Werror=all-warnings,$(fast_compile "$nvcc")") cuda_missing=""
    fi
}
