#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The build with CMake: a caller takes the library by add_subdirectory, FetchContent, find_package and pkg-config,
# builds the README's program with it and runs it. With nvcc, the CUDA backend of one family, too.
# Usage: cmake_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
needs cmake cmake
needs ninja ninja-build
needs pkg-config pkg-config
cd "$work" || exit 1

# caller FOLDER LANGUAGE LINE...: a project whose program is the README's; the lines make gpuopt::gpuopt known to it.
caller() {
    local suffix=c
    [ "$2" != CXX ] || suffix=cpp
    mkdir -p "$1" && cp program.c "$1/program.$suffix" && {
        printf '%s\n' "cmake_minimum_required(VERSION 3.18)" "project(caller LANGUAGES $2)" \
            "set(CMAKE_CXX_STANDARD 17)" "${@:3}" "add_executable(program program.$suffix)" \
            "target_link_libraries(program PRIVATE \${TARGETS} gpuopt::gpuopt)"
    } >"$1/CMakeLists.txt"
}
check "the package" copy_package || { summary && exit; }

# ---- Within the caller's build ----

caller subdirectory C "set(GPUOPT_WITHOUT \"$others\")" "add_subdirectory($work/package gpuopt)"
check "add_subdirectory" build subdirectory subdirectory/build
check "its program runs" prints_the_answer subdirectory/build/program
check "a shared library, although the caller hides all symbols" \
    build subdirectory subdirectory/shared -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_C_VISIBILITY_PRESET=hidden -DCMAKE_C_FLAGS=-fvisibility=hidden
check "its program runs" prints_the_answer subdirectory/shared/program
installs_nothing() { cmake --install subdirectory/build --prefix nothing && [ ! -e nothing ]; }
check "its files are not part of the caller's installation" installs_nothing

# optimises_by LEVEL CMAKE_OPTION...: of the levels with which a caller's build compiles the library, this is the last.
optimises_by() {
    rm -rf plain && cmake -S subdirectory -B plain -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "${@:2}" &&
        [ "$(grep 'gpuopt_impl/gpuopt.c"' plain/compile_commands.json | grep -oE -- ' -O[^ ]*' | tail -n 1)" = " $1" ]
}
check "without a build type it is optimised" optimises_by -O2
check "with one it is compiled as that says" optimises_by -Og -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-Og
check "so it is with flags of the caller's" optimises_by -O0 -DCMAKE_C_FLAGS=-O0

tar -czf package.tar.gz package
fetch=("include(FetchContent)" "set(GPUOPT_WITHOUT \"$others\")")
available="FetchContent_MakeAvailable(gpuopt)"
caller fetched C "${fetch[@]}" "FetchContent_Declare(gpuopt SOURCE_DIR $work/package)" "$available"
check "FetchContent from a folder" build fetched fetched/build
check "its program runs" prints_the_answer fetched/build/program
caller unpacked CXX "${fetch[@]}" "FetchContent_Declare(gpuopt URL file://$work/package.tar.gz)" "$available"
check "FetchContent from an archive, for a program in C++" build unpacked unpacked/build
check "its program runs" prints_the_answer unpacked/build/program

# ---- Installed ----

check "build, static" build package static "-DCMAKE_INSTALL_PREFIX=$work/prefix"
check "install" cmake --install static
version=$("$root/tools/version.sh")
caller found C "find_package(gpuopt $version REQUIRED)"
check "find_package" build found found/build "-DCMAKE_PREFIX_PATH=$work/prefix"
check "its program runs" prints_the_answer found/build/program
caller found_cpp CXX "find_package(gpuopt ${version%.*} REQUIRED)"
check "find_package in a project of C++ alone" build found_cpp found_cpp/build "-DCMAKE_PREFIX_PATH=$work/prefix"
check "its program runs" prints_the_answer found_cpp/build/program
other=0.$(($(cut -d. -f2 <<<"$version") + 1))
caller other C "find_package(gpuopt $other REQUIRED)"
check "another version is refused" \
    fails_with "requested version \"$other\"" configure other other/build "-DCMAKE_PREFIX_PATH=$work/prefix"
caller without_cuda C "find_package(gpuopt REQUIRED COMPONENTS cuda)"
check "a component that was not installed is named" \
    fails_with "cuda" configure without_cuda without_cuda/build "-DCMAKE_PREFIX_PATH=$work/prefix"

pc_builds() {
    local flags
    export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
    [ "$(pkg-config --modversion gpuopt)" = "$version" ] || return
    flags=$(pkg-config --cflags --libs "${@:2}" gpuopt) && echo "$flags" || return
    # shellcheck disable=SC2086 # several flags
    gcc -std=c11 program.c $flags -o "$1"
}
check "pkg-config" pc_builds by_pkg_config
check "its program runs" prints_the_answer ./by_pkg_config
moved() { mv prefix moved && build found found/moved "-DCMAKE_PREFIX_PATH=$work/moved" && mv moved prefix; }
check "the installation can be moved" moved
uninstalls() { xargs rm <static/install_manifest.txt && [ -z "$(find prefix -type f -o -type l)" ]; }
check "install_manifest.txt lists what was installed" uninstalls

# ---- Options ----

check "an unknown family is an error" \
    fails_with 'there is no family "knapsacks"' configure package unknown -DGPUOPT_WITHOUT=knapsacks
presets=$(grep -oE '"configurePreset": "(static|shared)"' "$root/CMakePresets.json" | cut -d'"' -f4)
for preset in $presets; do
    if cmake --help | grep -q -- --preset; then check "preset $preset" env -C package cmake --preset "$preset"
    else skip "preset $preset" "a CMake before 3.21"; fi
done
one_thread() { configure package one -DGPUOPT_OPENMP=OFF && ! grep -q fopenmp one/build.ninja; }
check "GPUOPT_OPENMP=OFF" one_thread

# ---- CUDA ----

if ! has_nvcc; then
    leave "the CUDA backend" "no nvcc"
fi
cuda=(-DGPUOPT_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90-real)
check "build the CUDA backend of one family, static" \
    build package cuda "-DGPUOPT_WITHOUT=simplex;elimination;knapsack" -DGPUOPT_CUDA_WITHOUT=propagate \
    "${cuda[@]}" "-DCMAKE_INSTALL_PREFIX=$work/prefix_cuda"
check "install" cmake --install cuda
# A program that names the backend, in a project that does not enable the language CUDA.
caller with_cuda C "find_package(gpuopt REQUIRED COMPONENTS cuda)" "set(TARGETS gpuopt::cuda)"
sed -i 's/gpuopt_context_create(NULL,/gpuopt_backend_cuda() == NULL || &/' with_cuda/program.c
check "find_package with the component cuda" build with_cuda with_cuda/build "-DCMAKE_PREFIX_PATH=$work/prefix_cuda"
check "its program runs" prints_the_answer with_cuda/build/program
cuda_pc_builds() {
    local flags
    export PKG_CONFIG_PATH=$work/prefix_cuda/lib/pkgconfig
    flags=$(pkg-config --cflags --libs gpuopt_cuda) && echo "$flags" || return
    # shellcheck disable=SC2086 # several flags
    gcc -std=c11 with_cuda/program.c $flags -o cuda_by_pkg_config
}
check "pkg-config" cuda_pc_builds
check "its program runs" prints_the_answer ./cuda_by_pkg_config
caller cuda_within C "set(GPUOPT_WITHOUT \"$others\")" "set(GPUOPT_CUDA_WITHOUT propagate)" \
    "add_subdirectory($work/package gpuopt)" "set(TARGETS gpuopt::cuda)"
cp with_cuda/program.c cuda_within
check "add_subdirectory with CUDA" build cuda_within cuda_within/build "${cuda[@]}"
check "its program runs" prints_the_answer cuda_within/build/program
summary
