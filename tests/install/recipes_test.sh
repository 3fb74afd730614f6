#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The recipes in packaging/. Conan, of PyPI in a virtual environment, builds its package and a program with it. A CMake
# script stands in for vcpkg. dpkg-buildpackage makes Debian's packages, lintian finds nothing wrong with them, and a
# program in C and one in Python run with what they contain. Each is skipped with a reason if its tool is missing.
# Usage: recipes_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
cd "$work" || exit 1
needs cmake cmake
needs ninja ninja-build
version=$("$root/tools/version.sh") abi=$("$root/tools/version.sh" --abi)
check "the package" copy_recipes || { summary && exit; }

# ---- Conan ----

conan_missing() {
    python3 -m venv venv >venv.log 2>&1 || { echo "no python3 with venv" && return; }
    venv/bin/python -m pip install -q --disable-pip-version-check conan >pip.log 2>&1 ||
        echo "pip could not install it: $(tail -n 1 pip.log | cut -c1-120)"
}
# create OPTION...: builds the package without optimisation, and a program with it, which it runs.
create() {
    venv/bin/conan create package/packaging/conan -s build_type=Debug "$@" >conan.log 2>&1 ||
        { cat conan.log && return 1; }
    grep -qx 'y in \[0, 0\]' conan.log && grep -q "gpuopt/$version" conan.log
}
reason=$(conan_missing)
if [ -n "$reason" ]; then
    skip "Conan" "$reason"
else
    export CONAN_HOME=$work/conan
    check "Conan's profile" venv/bin/conan profile detect
    check "Conan, static" create
    check "Conan, shared, without OpenMP" create -o '&:shared=True' -o '&:openmp=False'
fi

# ---- vcpkg ----

port() {
    cmake -DPORT=package/packaging/vcpkg "-DSOURCE=$work/package" "-DPACKAGES=$work/vcpkg" \
        "-DOPTIONS=-DGPUOPT_WITHOUT=${others//;/\\;};-DCMAKE_C_FLAGS_RELEASE=-O1" -P "$root/tests/install/vcpkg.cmake"
}
# vcpkg_caller TYPE: what it links with, and what the program prints.
vcpkg_caller() {
    mkdir -p caller && cp program.c caller && printf '%s\n' "cmake_minimum_required(VERSION 3.18)" "project(caller C)" \
        "find_package(gpuopt CONFIG REQUIRED)" "add_executable(main program.c)" \
        "target_link_libraries(main PRIVATE gpuopt::gpuopt)" >caller/CMakeLists.txt &&
        cmake -G Ninja -S caller -B "caller/$1" "-DCMAKE_PREFIX_PATH=$work/vcpkg" "-DCMAKE_BUILD_TYPE=$1" &&
        cmake --build "caller/$1" && prints_the_answer "caller/$1/main"
}
links_with() { grep -F "$work/vcpkg/$2/libgpuopt.a" "caller/$1/build.ninja"; }
has_no_path() { ! grep -l "$work/vcpkg" vcpkg/lib/*.a vcpkg/share/gpuopt/*; }
check "vcpkg's port" port
check "neither the library nor a file of CMake has the path" has_no_path
check "a program with the release build" vcpkg_caller Release
check "of the right folder" links_with Release lib
check "a program with the debug build" vcpkg_caller Debug
check "of the right folder" links_with Debug debug/lib
check "no header is there twice" [ ! -e vcpkg/debug/include ]

# ---- Debian ----

if ! command -v dpkg >/dev/null; then
    leave "Debian's packages" "not Debian"
fi
need dpkg-dev lintian debhelper dh-python pybuild-plugin-pyproject python3-all python3-cffi python3-numpy \
    python3-setuptools python3-wheel
# With the programs of the system, also where another Python is installed. The package's own tests are python_test.sh's.
system=(env PATH=/usr/sbin:/usr/bin:/sbin:/bin DEB_BUILD_OPTIONS=nocheck DEB_BUILD_PROFILES=nocheck
    DEB_CFLAGS_APPEND=-O1)
if ! "${system[@]}" dpkg-checkbuilddeps package/packaging/debian/control >builddeps.log 2>&1; then
    leave "Debian's packages" "$(cut -c1-200 builddeps.log)"
fi
packages() (
    mkdir debian && cp -r package "debian/gpuopt-$version" && cd debian &&
        rm -rf "gpuopt-$version/packaging/conan/test_package/build" && # Conan's
        tar -czf "gpuopt_$version.orig.tar.gz" "gpuopt-$version" && cd "gpuopt-$version" &&
        cp -r packaging/debian . && "${system[@]}" dpkg-buildpackage -us -uc
)
check "dpkg-buildpackage" packages || { summary && exit; }
cd debian || exit 1
made() {
    printf '%s\n' "libgpuopt$abi" libgpuopt-dev python3-gpuopt | sort |
        diff - <(for file in *.deb; do basename "${file%%_*}"; done | grep -v dbgsym | sort)
}
check "it makes three packages" made
if command -v lintian >/dev/null; then
    # It prints nothing. Its exit status also counts what it masks.
    tidy() { ! "${system[@]}" lintian --allow-root --display-info --pedantic ./*.changes 2>&1 | grep .; }
    check "lintian is content" tidy
else
    skip "lintian" "not installed"
fi
for file in *.deb; do dpkg-deb -x "$file" system; done
lib=$PWD/system/usr/lib/$(gcc -print-multiarch)
in_c() {
    gcc -std=c11 -Isystem/usr/include ../program.c "-L$lib" -lgpuopt -o program &&
        prints_the_answer env "LD_LIBRARY_PATH=$lib" ./program
}
in_python() {
    "${system[@]}" "PYTHONPATH=$PWD/system/usr/lib/python3/dist-packages" "LD_LIBRARY_PATH=$lib" /usr/bin/python3 \
        system/usr/share/doc/python3-gpuopt/examples/elimination.py >python.out && cat python.out &&
        grep -x "its cost by the tables: 1466 OPTIMAL" python.out
}
check "a program in C" in_c
check "a program in Python" in_python
summary
