#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# In a bare Debian 12: installs a compiler and one build tool's packages, builds and installs the library, builds and
# runs the README's program with it, and uninstalls it; each way in a copy of the system of its own, with optimisation.
# Prints a table of wall times.
# Usage: run.sh [FOLDER]
#   FOLDER   has such a system, made by "debootstrap --variant=minbase bookworm FOLDER", and stays as it is. Default: a
#            temporary one is made, which takes minutes
# Needs root, debootstrap and a mirror of Debian.
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
check "the package" copy_package || { summary && exit; }
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
        sh -ec "cd; $1"
}
packages() { inside "apt-get -q update && apt-get -q -y --no-install-recommends install $1"; }
is_gone() { inside "$1" && [ -z "$(find "$system/usr/local" -name '*gpuopt*' ! -type d)" ]; }

# run_way NAME PACKAGES BUILD INSTALL COMPILE UNINSTALL: a row of the table. Each is a command in the system; COMPILE
# makes /root/program.
run_way() {
    local row way=$1 system=$work/system
    row="| $way | \`$2\` |"
    cp -a "$base" "$system" && cp /etc/resolv.conf "$system/etc" &&
        cp -r package "$system/root/gpuopt" && cp program.c "$system/root" || return
    timed "packages" packages "$2" && timed "build" inside "$3" && timed "install" inside "$4" &&
        timed "compile a program" inside "$5" && check "$way: it runs" prints_the_answer inside ./program &&
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
    "meson setup --libdir=lib build gpuopt && meson compile -C build" "meson install -C build" "$pc" "cd build && ninja uninstall"

printf '\n| way | packages | their installation | build | install | program | uninstall |\n'
printf '| --- | --- | --- | --- | --- | --- | --- |\n'
printf '%s\n' "${table[@]}"
summary
