#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# gpuopt.h in surroundings that callers bring along: their own extern "C", macros of Windows and of <tgmath.h>, later
# languages than C11 and C++17, MSVC's macros with /openmp, a fork after calls with OpenMP.
# Needs gcc and g++. Uses clang and MinGW's gcc if they are installed; else reports them as skipped.
# Usage: surroundings_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
frame=$root/tests/frame
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
work=$(mktemp -d) || exit 1
at_end() { rm -rf "$said" "$work"; }
cd "$work" || exit 1

finds() { command -v "$1" >/dev/null 2>&1; }
strict=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror -I"$root")
c_compilers=(gcc) cpp_compilers=(g++)
standards=(c++20)
if ! runs_all; then
    skip "clang, C++23, all units of cuda/" "only with tests/run.sh --all"
elif finds clang && finds clang++; then
    c_compilers+=(clang) cpp_compilers+=(clang++) standards+=(c++2b)
else
    skip "clang" "not installed"
fi

# runs COMMAND...: compiles and links, with -lm, and runs.
runs() { "$@" -lm -o host && ./host; }

check "the library" gcc -O0 -c "$root/gpuopt_impl/gpuopt.c" -o gpuopt.o

# ---- A caller's own extern "C" ----

for compiler in "${cpp_compilers[@]}"; do
    check "in extern \"C\", the header alone: $compiler" \
        runs "$compiler" -std=c++17 "${strict[@]}" "$frame/host_extern_c.cpp" gpuopt.o
    check "in extern \"C\", the implementation: $compiler" \
        runs "$compiler" -std=c++17 "${strict[@]}" -DGPUOPT_IMPLEMENTATION "$frame/host_extern_c.cpp"
done

# ---- Macros ----

for compiler in "${c_compilers[@]}"; do
    check "behind macros of Windows and <tgmath.h>, the header alone: $compiler" \
        runs "$compiler" -std=c11 -I"$root" "$frame/host_macros.c" gpuopt.o
    check "behind these, the implementation: $compiler" \
        runs "$compiler" -std=c11 -I"$root" -DGPUOPT_IMPLEMENTATION "$frame/host_macros.c"
done
for compiler in "${cpp_compilers[@]}"; do
    check "behind these, the implementation as C++17: $compiler" \
        runs "$compiler" -std=c++17 -I"$root" -DGPUOPT_IMPLEMENTATION -x c++ "$frame/host_macros.c"
done
if finds x86_64-w64-mingw32-gcc; then
    check "behind windows.h itself" x86_64-w64-mingw32-gcc -std=c11 -I"$root" -DHOST_WINDOWS -DGPUOPT_IMPLEMENTATION \
        "$frame/host_macros.c" -o host.exe
else
    skip "behind windows.h itself" "no MinGW"
fi

# ---- Later languages ----

for compiler in "${cpp_compilers[@]}"; do
    for standard in "${standards[@]}"; do
        check "the implementation as strict $standard: $compiler" \
            runs "$compiler" -std="$standard" "${strict[@]}" -x c++ "$frame/host_single.c"
        check "with OpenMP: $compiler" "$compiler" -std="$standard" "${strict[@]}" -fopenmp -fsyntax-only -x c++ \
            "$frame/host_implementation.c"
    done
done
for compiler in "${c_compilers[@]}"; do
    check "the implementation as strict C23: $compiler" \
        runs "$compiler" -std=c2x "${strict[@]}" "$frame/host_single.c"
done

# The caller's side of a unit of cuda/, with the emulated GPU's headers. What C++17 warns of as well is nvcc's business.
emulated=$root/tests/emulated
cuda_unit() {
    g++ -std=c++20 -Wall -Wvolatile -Wdeprecated -Wno-unknown-pragmas -Wno-unused-variable -Werror -fsyntax-only \
        -I"$root/tests" -I"$emulated" -I"$emulated/include" -I"$root" -include "$emulated/include/emulated/nvcc.h" \
        -DGPUOPT_CUDA_WITHOUT_LIBRARIES "-DGPUOPT_UNIT=\"$1\"" "$emulated/unit.cpp"
}
for unit in "$root"/cuda/*.cu "$root"/cuda/*/*.cu; do
    unit=${unit#"$root/"}
    if runs_all || [ "$unit" = cuda/basis/basis.cu ]; then check "$unit as C++20" cuda_unit "$unit"; fi
done

# ---- MSVC, whose /openmp is OpenMP 2.0: its macros, and none of GNU's names ----

# What is left of OpenMP in the library's own lines, once the macros are MSVC's.
no_openmp() {
    gcc -std=c11 -E -I"$root" "$frame/host_msvc.c" >msvc.i && grep -q gpuopt__propagator_cpu msvc.i &&
        ! grep -nE 'pragma omp|__atomic_|omp\.h|include <unistd' msvc.i
}
for compiler in "${c_compilers[@]}"; do
    check "MSVC's macros with /openmp: $compiler" \
        runs "$compiler" -std=c11 -Wno-unknown-pragmas -I"$root" "$frame/host_msvc.c"
done
for compiler in "${cpp_compilers[@]}"; do
    check "MSVC's macros with /openmp, as C++17: $compiler" \
        runs "$compiler" -std=c++17 -Wno-unknown-pragmas -I"$root" -x c++ "$frame/host_msvc.c"
done
check "no OpenMP is left" no_openmp

# ---- A fork ----

for compiler in "${c_compilers[@]}"; do
    if ! check "a host that forks: $compiler" "$compiler" -O0 -std=gnu11 -fopenmp -I"$root" "$frame/host_fork.c" \
        "$root/gpuopt_impl/gpuopt.c" -lm -o forks; then continue; fi
    for what in after alone kept paused; do check "the child does not wait for threads: $what" ./forks $what; done
done

summary
