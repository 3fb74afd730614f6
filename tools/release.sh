#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Checks that all places have the version of gpuopt.h, and packs the committed files.
# Usage: release.sh [--check] [FOLDER]
#   FOLDER   gets gpuopt-VERSION.tar.gz, the same bytes whenever the commit is the same. Prints its SHA-256, and its
#            SHA-512 for vcpkg's port. Default: dist
#   --check  packs nothing, and accepts a change log whose newest entry is [Unreleased]
# Makes no tag and no upload. CMake, Meson, pkg-config and the shared libraries take the version from gpuopt.h.
set -eu
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
check=
case ${1-} in
-h | --help) help && exit ;;
--check) check=1 && shift ;;
-*) echo "release.sh: there is no option $1; see --help" >&2 && exit 2 ;;
esac
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
to=${1:-$root/dist}
cd "$root"
version=$(tools/version.sh) abi=$(tools/version.sh --abi)
major=${version%%.*}

failed=0
# has FILE LINE WHAT: the file has this line, as a basic regular expression.
has() {
    grep -qx -- "$2" "$1" || { echo "$1: $3" >&2 && failed=1; }
}
escaped=${version//./\\.}
has MODULE.bazel "    version = \"$escaped\"," "the module's version is not $version"
has MODULE.bazel "    compatibility_level = $major,.*" "the compatibility level is not $major"
has CITATION.cff "version: $escaped" "the version is not $version"
has doc/bazel.md "bazel_dep(name = \"gpuopt\", version = \"$escaped\")" "the example has another version than $version"
has doc/install.md ".*find_package(gpuopt ${escaped%\\.*} REQUIRED).*" "the example has another version than ${version%.*}"
has packaging/vcpkg/vcpkg.json "  \"version\": \"$escaped\"," "the port's version is not $version"
has packaging/debian/changelog "gpuopt ($escaped-[^)]*) .*" "there is no entry for $version"
has packaging/debian/control "Package: libgpuopt${abi//./\\.}" "the shared library's package is not libgpuopt$abi"
newest=$(grep -m 1 '^## ' CHANGELOG.md)
case $newest in
"## [$version] - "[0-9]*) ;;
"## [Unreleased]")
    [ -n "$check" ] || { echo "CHANGELOG.md: $version has no date yet" >&2 && failed=1; }
    ;;
*) echo "CHANGELOG.md: the newest entry is \"$newest\", not $version" >&2 && failed=1 ;;
esac
if [ -z "$check" ]; then
    if grep -rn OWNER .bcr packaging >&2; then echo ".bcr, packaging: OWNER stands for an account" >&2 && failed=1; fi
    [ -z "$(git status --porcelain)" ] || { echo "git: there are changes that are not committed" >&2 && failed=1; }
fi
[ $failed -eq 0 ] || exit 1
echo "all places have version $version"
[ -z "$check" ] || exit 0

mkdir -p "$to"
archive=$to/gpuopt-$version.tar.gz
git archive --format=tar --prefix="gpuopt-$version/" HEAD | gzip -9n >"$archive.new"
mv "$archive.new" "$archive"
sha256sum "$archive"
sha512sum "$archive"
