#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# In a bare Debian 12: installs a compiler and one build tool's packages, builds and installs the library, builds and
# runs the README's program with it, and uninstalls it; each way in a copy of the system of its own, with optimisation.
# The ways are copied sources, CMake, Meson, Debian's packages, Conan, and Python with the program of its README.
# Prints a table of wall times.
# Usage: run.sh [FOLDER]
#   FOLDER   has such a system, made by "debootstrap --variant=minbase bookworm FOLDER", and stays as it is. Default: a
#            temporary one is made, which takes minutes
# Needs root, debootstrap, a mirror of Debian and, for Conan and Python, one of PyPI.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
case ${1-} in
-h | --help)
    awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"
    exit
    ;;
esac
[ "$(id -u)" -eq 0 ] || { skip "the bare system" "not root" && summary && exit; }
needs debootstrap debootstrap
base=${1:-$work/base}
check "the package" copy_recipes || { summary && exit; }
block python "$root/python/README.md" >"$work/program.py" || exit 1
[ -d "$base/etc" ] || check "a bare Debian 12" debootstrap --variant=minbase bookworm "$base" || { summary && exit; }

table=()
# timed NAME COMMAND...: a check that adds its wall time to the row.
timed() {
    local start=$EPOCHREALTIME
    check "$way: $1" "${@:2}" || return
    row+=" $(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }') s |"
}
# inside COMMAND: in the system, in /root.
inside() {
    chroot "$system" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        ${PIP_CERT:+PIP_CERT=/root/certificates} sh -ec "cd; $1"
}
packages() { inside "apt-get -q update && apt-get -q -y --no-install-recommends install $1"; }
is_gone() { inside "$1" && [ -z "$(find "$system/usr" -name '*gpuopt*' ! -type d)" ]; }

# run_way NAME PACKAGES BUILD INSTALL COMPILE UNINSTALL: a row of the table. Each is a command in the system; COMPILE
# makes /root/program, which prints the README's answer, or with the variable `answer` what that command looks for.
run_way() {
    local row way=$1 system=$work/system
    row="| $way | \`$2\` |"
    cp -a "$base" "$system" && cp /etc/resolv.conf "$system/etc" &&
        cp -r package "$system/root/gpuopt" && cp program.c program.py "$system/root" || return
    [ -z "${PIP_CERT-}" ] || cp "$PIP_CERT" "$system/root/certificates" || return
    timed "packages" packages "$2" && timed "build" inside "$3" && timed "install" inside "$4" &&
        timed "compile a program" inside "$5" &&
        check "$way: it runs" "${answer:-prints_the_answer}" inside ./program &&
        timed "uninstall" is_gone "$6" && table+=("$row")
    rm -rf "$system"
}

cd "$work" || exit 1
configure_and_build="cmake -S gpuopt -B build && cmake --build build"
found="mkdir caller && cp program.c caller && printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(caller C)' \
    'find_package(gpuopt REQUIRED)' 'add_executable(program program.c)' \
    'target_link_libraries(program gpuopt::gpuopt)' >caller/CMakeLists.txt &&
    cmake -S caller -B caller/build && cmake --build caller/build && mv caller/build/program ."
pc="cc program.c \$(pkg-config --cflags --libs gpuopt) -o program"
uninstall="xargs rm <build/install_manifest.txt"
run_way "copied sources" "gcc libc6-dev" "cc -O2 -c gpuopt/gpuopt_impl/gpuopt.c -o gpuopt.o" true \
    "cc -Igpuopt program.c gpuopt.o -lm -o program" true
run_way "CMake, static, find_package" "gcc libc6-dev cmake make" "$configure_and_build" \
    "cmake --install build" "$found" "$uninstall"
run_way "CMake, shared, pkg-config" "gcc libc6-dev cmake make pkg-config" \
    "${configure_and_build/ -B/ -DBUILD_SHARED_LIBS=ON -B}" "cmake --install build && ldconfig" \
    "$pc" "$uninstall && ldconfig"
# Without dpkg-dev, Meson takes lib64 for the folder of libraries, where pkg-config does not look.
run_way "Meson, static, pkg-config" "gcc libc6-dev meson pkg-config" \
    "meson setup --libdir=lib build gpuopt && meson compile -C build" "meson install -C build" "$pc" \
    "cd build && ninja uninstall"
run_way "Debian packages" "build-essential cmake debhelper dh-python pybuild-plugin-pyproject python3-all python3-cffi \
python3-setuptools python3-wheel" \
    "cd gpuopt && cp -r packaging/debian . && DEB_BUILD_OPTIONS=nocheck \
dpkg-buildpackage -b -us -uc -Pnocheck" \
    "apt-get -q -y --no-install-recommends install ./lib*.deb ./python3-*.deb" "cc program.c -lgpuopt -o program" \
    "apt-get -q -y purge libgpuopt-dev python3-gpuopt libgpuopt0.1"
run_way "Conan" "gcc libc6-dev cmake make python3-venv" \
    "python3 -m venv venv && venv/bin/pip install -q conan && venv/bin/conan profile detect &&
    venv/bin/conan create gpuopt/packaging/conan" \
    "venv/bin/conan install --requires=gpuopt/$("$root/tools/version.sh") -g CMakeDeps --output-folder=found" \
    "${found/-B /-DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=/root/found -B }" "rm -r .conan2 venv found"
# The wheel of an installed package is in the virtual environment alone.
prints_the_bounds() { "$@" >program.out && cat program.out && grep -x 'at most \[3. 2. 4.\]' program.out; }
answer=prints_the_bounds run_way "Python" "gcc libc6-dev python3-venv" \
    "python3 -m venv venv && venv/bin/pip wheel -q --no-deps -w wheels gpuopt/python" \
    "venv/bin/pip install -q wheels/*.whl scipy" \
    "printf '#!/bin/sh\nvenv/bin/python program.py\n' >program && chmod +x program" \
    "venv/bin/pip uninstall -q -y gpuopt && ! find venv -name '*libgpuopt*' | grep ."

printf '\n| way | packages | their installation | build | install | program | uninstall |\n'
printf '| --- | --- | --- | --- | --- | --- | --- |\n'
printf '%s\n' "${table[@]}"
summary
