#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That all places have one version, and that tools/release.sh notices a place that does not and packs a release.
# Usage: release_test.sh
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=install.sh
. "$root/tests/install/install.sh"
check "all places have the same version" "$root/tools/release.sh" --check

if ! git -C "$root" rev-parse >/dev/null 2>&1; then
    leave "packing" "this is no checkout of git"
fi
version=$("$root/tools/version.sh")
# A repository of this folder's files, as they are, with the entry of the change log dated and an account in .bcr.
plant() {
    mkdir "$work/release" && cd "$work/release" &&
        (cd "$root" && git ls-files -z -co --exclude-standard | tar --null -cT -) | tar -x &&
        sed -i "s/^## \\[Unreleased\\]/## [$version] - 2026-12-01/" CHANGELOG.md &&
        grep -rl OWNER .bcr packaging | xargs sed -i 's/OWNER/somebody/' &&
        git init -q && commit
}
commit() { git add -A && git -c user.name=test -c user.email=test@example.com commit -qm test; }
# changed FILE FROM TO MESSAGE: with this change committed, it fails with the message.
changed() {
    sed -i "0,/$2/s//$3/" "$1" && ! git diff --quiet && commit && fails_with "$4" tools/release.sh "$work/dist" &&
        git reset -q --hard HEAD~1
}
check "a release in a folder of its own" plant || { summary && exit; }
check "seen: another version in MODULE.bazel" \
    changed MODULE.bazel "$version" 9.9.9 "the module's version is not $version"
check "seen: another one in gpuopt.h" \
    changed gpuopt.h "VERSION_PATCH [0-9]*" "VERSION_PATCH 77" "is not ${version%.*}.77"
check "seen: another one in vcpkg's port" \
    changed packaging/vcpkg/vcpkg.json "$version" 9.9.9 "the port's version is not $version"
check "seen: no entry in Debian's change log" \
    changed packaging/debian/changelog "gpuopt ($version" "gpuopt (9.9.9" "no entry for $version"
check "seen: another interface in Debian's package" \
    changed packaging/debian/control "libgpuopt[0-9.]*$" libgpuopt77 "is not libgpuopt"
check "seen: no entry in the change log" changed CHANGELOG.md "^## \[$version" "## [9.9.9" "the newest entry"
check "seen: no date there" changed CHANGELOG.md "\[$version\] - 2026-12-01" "[Unreleased]" "has no date yet"
uncommitted() {
    echo >>README.md && fails_with "not committed" tools/release.sh "$work/dist" && git checkout -q README.md
}
check "seen: a change that is not committed" uncommitted
packs() {
    tools/release.sh "$work/dist" && tools/release.sh "$work/again" && cmp "$work"/*/"gpuopt-$version.tar.gz" &&
        tar -tzf "$work/dist/gpuopt-$version.tar.gz" | grep -qx "gpuopt-$version/gpuopt.h" && [ -z "$(git tag)" ]
}
check "it packs the same bytes twice" packs
summary
