#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That other Bazel workspaces can depend on this one, as a monorepo would: as a repository of its own, for the CPU and with
# CUDA, and as a folder that was copied in.
# Usage: workspace_test.sh
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
if ! command -v bazel >/dev/null; then
    skip "workspaces that depend on this one" "no bazel"
    summary
    exit
fi
work=$(mktemp -d) || exit 1

in_workspace() { (cd "$work/$1" && shift && bazel --output_base="$work/out" "$@" --noshow_progress); }
at_end() {
    in_workspace cpu shutdown >/dev/null 2>&1
    chmod -R u+w "$work" # Bazel's outputs are read-only
    rm -rf "$said" "$work"
}

# A workspace with the repositories that Bazel 4 asks for, whoever it builds for.
workspace() {
    mkdir -p "$work/$1"
    cat >"$work/$1/WORKSPACE" <<END
workspace(name = "host")
local_repository(name = "gpuopt", path = "$root")
local_repository(name = "rules_cc", path = "$root/third_party/bazel/rules_cc")
local_repository(name = "remote_coverage_tools", path = "$root/third_party/bazel/remote_coverage_tools")
load("@gpuopt//third_party/bazel:offline.bzl", "installed_or_stub")
installed_or_stub(name = "rules_java", path = "/usr/share/bazel/rules/java")
END
    cp "$root/tests/frame/answer.h" "$root/tests/frame/host_main.c" "$root/tests/frame/host_cuda.c" "$work/$1"
    sed -i 's|tests/frame/answer.h|answer.h|' "$work/$1/host_main.c"
}

# A test of the workspace: NAME SOURCE DEPENDENCY.
host_test() {
    cat <<END
cc_test(name = "$1", srcs = ["$2", "answer.h"], deps = [$3])
END
}

workspace cpu
host_test host host_main.c '"@gpuopt//:gpuopt"' >"$work/cpu/BUILD"
check "a workspace that depends on the CPU backend" in_workspace cpu test //...

workspace copy
mkdir -p "$work/copy/third_party/gpuopt"
cp -r "$root/BUILD" "$root/gpuopt.h" "$root/gpuopt_impl" "$work/copy/third_party/gpuopt"
sed -i 's|"gpuopt.h"|"third_party/gpuopt/gpuopt.h"|' "$work/copy/answer.h"
host_test host host_main.c '"//third_party/gpuopt"' >"$work/copy/BUILD"
check "a workspace with the library in //third_party/gpuopt" in_workspace copy test //:host

workspace cuda
cat >>"$work/cuda/WORKSPACE" <<END
load("@gpuopt//cuda:configure.bzl", "cuda_configure")
cuda_configure(name = "gpuopt_cuda")
END
{
    echo 'load("@gpuopt//cuda:defs.bzl", "REQUIRES_CUDA")'
    host_test host host_main.c '"@gpuopt//:gpuopt"'
    host_test host_cuda host_cuda.c '"@gpuopt//cuda:gpuopt_cuda"' |
        sed 's/)$/, target_compatible_with = REQUIRES_CUDA)/'
} >"$work/cuda/BUILD"
skips_cuda() { in_workspace cuda test //... --repo_env=GPUOPT_CUDA=0 2>&1 | grep -E '//:host_cuda +SKIPPED'; }
says_why() { in_workspace cuda build //:host_cuda --repo_env=GPUOPT_CUDA=0 2>&1 | grep 'cuda_toolkit_found'; }
check "without a toolkit, what needs CUDA is skipped" skips_cuda
check "and says why when it is asked for by name" says_why
if ! runs_all; then
    skip "a workspace that depends on the CUDA backend" "takes minutes: tests/run.sh --all"
elif command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    # For one architecture: all of them are compiled by this repository's own build.
    check "a workspace that depends on the CUDA backend" in_workspace cuda test //... --define=cuda_archs=90
else
    skip "a workspace that depends on the CUDA backend" "no nvcc"
fi

summary
