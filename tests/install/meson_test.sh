#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The build with Meson: as a subproject, and installed for a caller that uses pkg-config.
# Usage: meson_test.sh
# Runs with: --all
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
needs meson meson
needs pkg-config pkg-config
cd "$work" || exit 1
check "the package" copy_package || { summary && exit; }

mkdir -p caller/subprojects && cp program.c caller && cp -r package caller/subprojects/gpuopt
cat >caller/meson.build <<'CALLER'
project('caller', 'c')
executable('program', 'program.c', dependencies: dependency('gpuopt', fallback: 'gpuopt'))
CALLER
as_subproject() { meson setup caller/build caller && meson compile -C caller/build; }
check "as a subproject" as_subproject
check "its program runs" prints_the_answer caller/build/program

installs() {
    meson setup "$1" package --buildtype=debug --default-library="$1" --prefix="$work/prefix_$1" &&
        meson install -C "$1"
}
by_pkg_config() {
    local flags
    flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix_$1" -name gpuopt.pc)") pkg-config --cflags --libs gpuopt) &&
        echo "$flags" || return
    # shellcheck disable=SC2086 # several flags
    gcc -std=c11 program.c $flags -o "by_$1"
}
for type in static shared; do
    check "install, $type" installs $type
    check "a program by pkg-config" by_pkg_config $type
    library=$(find "$work/prefix_$type" -name 'libgpuopt.*' | head -n 1)
    check "it runs" prints_the_answer env "LD_LIBRARY_PATH=$(dirname "$library")" "./by_$type"
done
soname() { readelf -d "$library" | grep -F "soname: [libgpuopt.so.$("$root/tools/version.sh" --abi)]"; }
check "the shared library has the name that CMake gives it" soname
exports() {
    nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' >exports
    grep -qx 'gpuopt_context_create@@GPUOPT_[0-9.]*' exports &&
        ! grep -vE '^gpuopt_[a-z_]+@@GPUOPT_(LAYERS_)?[0-9.]+$' exports
}
check "and exports the public calls alone, with versions" exports
summary
