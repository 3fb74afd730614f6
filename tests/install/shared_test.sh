#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The shared library: its name and exported symbols; two versions in one process; and the CUDA backend that it opens at
# run time, from which places, and with which reasons where it cannot.
# Usage: shared_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
needs cmake cmake
needs ninja ninja-build
cd "$work" || exit 1
version=$("$root/tools/version.sh") abi=$("$root/tools/version.sh" --abi)
check "the package" copy_package || { summary && exit; }
check "build" build package shared -DBUILD_SHARED_LIBS=ON "-DCMAKE_INSTALL_PREFIX=$work/prefix" || { summary && exit; }
check "install" cmake --install shared
lib=$work/prefix/lib

# ---- Name and symbols ----

soname() { readelf -d "$1" | grep -F "soname: [$2]"; }
check "the library's name has the version of the binary interface" soname "$lib/libgpuopt.so" "libgpuopt.so.$abi"
# What is exported, as "name@@version".
exported() { nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | sort; }
# All calls of the headers: those of the core, as core_api_test.sh lists them, and those of the layers.
list_expected() {
    sed -n 's/^function .*\b\(gpuopt_[a-z0-9_]*\)(.*/\1/p' "$root/tests/frame/core_api.txt" >core
    for header in "$root"/gpuopt/*.h; do
        gcc -E -P -DGPUOPT_API=API "$header" | tr '\n' ' ' | grep -oE 'API [^;({]*\(' | grep -oE 'gpuopt_[a-z0-9_]+\('
    done | tr -d '(' | sort -u | grep -vxFf core >layers
    {
        sed "s/\$/@@GPUOPT_$abi/" core | grep -v '^gpuopt_backend_cuda@'
        sed "s/\$/@@GPUOPT_LAYERS_${version%.*}/" layers
    } | sort >expected
}
symbols() { list_expected && [ "$(wc -l <expected)" -gt 100 ] && exported "$lib/libgpuopt.so" | diff expected -; }
check "it exports the headers' calls alone, with versions of core and layers" symbols
program() { gcc -std=c11 -I"$work/prefix/include" "${@:2}" -L"$lib" -lgpuopt "-Wl,-rpath,$lib" -ldl -o "$1"; }
check "a program compiles" program program program.c
check "it runs" prints_the_answer ./program
needs_versions() { readelf -V program | grep -F "Name: GPUOPT_$abi"; }
check "it needs this version of the core" needs_versions

# ---- Two versions in one process ----

IFS=. read -r major minor patch <<<"$version"
number=$((major * 10000 + minor * 100 + patch))
next_number=$((number + 100))
cp -r package package_next
sed -i "s/^\(#define GPUOPT_VERSION_MINOR\) [0-9]*/\1 $((minor + 1))/" package_next/gpuopt.h
check "build the next version" build package_next next -DBUILD_SHARED_LIBS=ON "-DGPUOPT_WITHOUT=$others"
two_versions() {
    gcc -std=c11 -DPLUGIN -fPIC -shared -Ipackage_next "$root/tests/install/two_versions.c" -Lnext -lgpuopt \
        "-Wl,-rpath,$work/next" -o plugin.so && program two_versions "$root/tests/install/two_versions.c"
}
sees() { [ "$("./two_versions" "${@:2}")" = "$1" ] || { ./two_versions "${@:2}" && return 1; }; }
check "a program with this version, and a plugin with the next one" two_versions
check "each calls its own" sees "$number $next_number $next_number $number" ./plugin.so
check "likewise with RTLD_LOCAL" sees "$number $next_number $next_number $number" local ./plugin.so
check "both libraries opened by file" sees "$number $number $number $next_number $next_number $number" \
    "$lib/libgpuopt.so" next/libgpuopt.so
mkdir copy && cp "shared/libgpuopt.so.$version" copy/libgpuopt.so
check "two copies of one version, opened with RTLD_LOCAL" sees "$number $number $number $number $number $number" \
    local ./copy/libgpuopt.so "$lib/libgpuopt.so"

# ---- The CUDA backend at run time ----

file=libgpuopt_cuda.so.$abi
# fake PLACE OPTION...: a library without CUDA, at PLACE.
fake() {
    mkdir -p "$(dirname "$1")" &&
        gcc -std=c11 -fPIC -shared -I"$root" "$root/tests/install/fake_cuda.c" "${@:2}" -o "$1"
}
# says TEXT COMMAND...
says() {
    local text
    text=$("${@:2}") || { echo "exit status $?: $text" && return 1; }
    [ "$text" = "$1" ] || { echo "$text" && return 1; }
}
nothing="none: $file was not found, or a library that it needs was not"
check "a program that opens the backend" program load "$root/tests/install/load_cuda.c"
check "no library" says "$nothing" ./load
check "no such file" says "$nothing" ./load "$work/missing.so"
check "another library" says "none: the file is not a libgpuopt_cuda.so" ./load "$lib/libgpuopt.so"
fakes() {
    fake version.so -DVERSION=9900 && fake layout.so -DLAYOUT=1 && fake fault.so '-DFAULT="no such luck"' &&
        fake good.so
}
check "imitations of the CUDA library" fakes
check "another version" says "none: libgpuopt_cuda.so is of another version than this libgpuopt" ./load ./version.so
check "other sources" says "none: libgpuopt_cuda.so and this libgpuopt were built from other sources" ./load ./layout.so
check "the library's own reason" says "none: no such luck" ./load ./fault.so
check "one that fits" says "fake: -" ./load ./good.so

# The places, from the last to the first. A program with the library inside looks beside itself, and then where that is
# installed.
fake "here/$file" -DFAULT='"here"'
check "the present folder is no such place" says "$nothing" env -C here ../load
fake "path/$file" -DFAULT='"on the path"'
check "the loader's path" says "none: on the path" env "LD_LIBRARY_PATH=$work/path" ./load
sources=(-std=c11 -I"$root" "$root/tests/install/load_cuda.c" "$root/gpuopt_impl/gpuopt.c")
alone() {
    mkdir -p alone &&
        gcc "${sources[@]}" -DGPUOPT_LOAD_CUDA "-DGPUOPT_LIBDIR=\"$work/libdir\"" -lm -ldl -o alone/load
}
check "a program with the library inside" alone
check "it finds nothing" says "$nothing" alone/load
check "the loader's path" says "none: on the path" env "LD_LIBRARY_PATH=$work/path" alone/load
fake "libdir/$file" -DFAULT='"in the folder of the installation"'
check "before it, the folder of the installation" \
    says "none: in the folder of the installation" env "LD_LIBRARY_PATH=$work/path" alone/load
fake "alone/$file" -DFAULT='"beside the program"'
check "before that, the program's folder" says "none: beside the program" env "LD_LIBRARY_PATH=$work/path" alone/load
fake "alone/$file" -DVERSION=1 && fake "libdir/$file"
check "one of another version is passed over" says "fake: -" alone/load
fake "$lib/$file" -DFAULT='"beside libgpuopt.so"'
check "a shared library looks beside itself" says "none: beside libgpuopt.so" env "LD_LIBRARY_PATH=$work/path" ./load
rm "$lib/$file"
check "a build without GPUOPT_LOAD_CUDA has the call, too" gcc "${sources[@]}" -lm -o without
check "and has a reason" says "none: this libgpuopt was compiled without GPUOPT_LOAD_CUDA" ./without

if ! has_nvcc; then
    leave "the real backend" "no nvcc"
fi
# The context alone, which takes seconds.
check "build the CUDA backend without its families" build package shared -DGPUOPT_CUDA=ON \
    -DCMAKE_CUDA_ARCHITECTURES=90-real "-DGPUOPT_CUDA_WITHOUT=$all_families"
check "install" cmake --install shared
check "its name has the same version" soname "$lib/libgpuopt_cuda.so" "$file"
cuda_symbols() {
    printf "%s@@GPUOPT_CUDA_$version\n" gpuopt__cuda_exports gpuopt_backend_cuda | sort |
        diff - <(exported "$lib/libgpuopt_cuda.so")
}
check "it exports two symbols" cuda_symbols
self_contained() { ! readelf -d "$lib/libgpuopt_cuda.so" | grep -E 'NEEDED.*(gpuopt|cuda)'; }
check "it needs no other library of CUDA or gpuopt" self_contained
check "nothing is undefined" program whole "$root/tests/install/load_cuda.c" -Wl,--no-as-needed -lgpuopt_cuda
if has_gpu; then
    check "it is found, with a GPU" says "cuda: -" ./load
else
    check "it is found, without a driver" says "none: there is no CUDA driver" ./load
fi
summary
