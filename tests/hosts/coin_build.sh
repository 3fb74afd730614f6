#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Builds examples/hosts/cbc_solve and clp_solve, with Debian's COIN-OR (coinor-libcbc-dev) or another that pkg-config
# finds. Needs no Bazel.
# Usage: coin_build.sh FOLDER cpu|cuda [PROGRAM...]
#   cuda: with nvcc, for the architecture in ARCH (sm_90); objects are kept in FOLDER. GPUOPT_LIBRARY: a library
#   that is there already; the programs look for a shared one, and for the other libraries, in their own folder
set -eu
folder=$(mkdir -p "$1" && realpath "$1") backend=$2
shift 2
[ $# -gt 0 ] || set -- cbc_solve clp_solve
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
jobs=${JOBS:-$(nproc)}
read -ra coin < <(pkg-config --cflags cbc clp | sed "s/-I/-isystem /g")
read -ra libs < <(pkg-config --libs cbc clp)
flags=(-O2 -g -I.) cuda=()
if [ "$backend" = cuda ]; then flags+=(-DEXAMPLE_WITH_CUDA); fi
if [ "$backend" = cuda ] && [ -z "${GPUOPT_LIBRARY:-}" ]; then
    # shellcheck disable=SC2016 # the inner shell expands them
    printf '%s\n' cuda/*.cu cuda/*/*.cu | xargs -P "$jobs" -I{} sh -c '
        o="$1/cuda_$(echo "$2" | tr / _).o"
        [ "$o" -nt "$2" ] || "$3" -std=c++17 -O2 -arch="$4" -I. -c "$2" -o "$o"
        ' sh "$folder" {} "$nvcc" "${ARCH:-sm_90}"
    cuda=("$folder"/cuda_*.o -L"$(dirname "$nvcc")/../lib64" -lcudart_static -lrt -ldl)
fi

# object SOURCE OPTION...: compiles one file into FOLDER, with the compiler of its language, unless that has been done.
object() {
    local source=$1 compiler=(cc -std=c11 -D_GNU_SOURCE) object
    object=$folder/$(echo "$1" | tr / _).o
    shift
    if [ "$object" -nt "$source" ] &&
        [ -z "$(find gpuopt.h gpuopt gpuopt_impl examples/hosts/*.h* -newer "$object")" ]; then return; fi
    case $source in *.cpp) compiler=(c++ -std=c++17 "${coin[@]}") ;; esac
    "${compiler[@]}" "${flags[@]}" "$@" -c "$source" -o "$object"
}

if [ -n "${GPUOPT_LIBRARY:-}" ]; then
    library=("$GPUOPT_LIBRARY" "-Wl,-rpath,\$ORIGIN,--disable-new-dtags")
else
    object gpuopt_impl/gpuopt.c -fopenmp
    library=("$folder/gpuopt_impl_gpuopt.c.o" "${cuda[@]}")
fi
for source in examples/io/m*.c examples/io/lp_models.c examples/io/names.c examples/io/text.c examples/io/generate.cpp \
    examples/hosts/node_*.c; do
    object "$source" -Wall
done
for program in "$@"; do
    family=${program%_solve}
    for source in examples/hosts/"$family"_*.cpp; do object "$source" -Wall -Wextra; done
    c++ -fopenmp "$folder"/examples_io_*.o "$folder"/examples_hosts_"$family"_*.o "$folder"/examples_hosts_node_*.o \
        "${library[@]}" "${libs[@]}" -lpthread -lz -llzma -lm -o "$folder/$program"
done
