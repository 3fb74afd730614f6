#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# That other Bazel workspaces can depend on this one, as a monorepo would: as a repository of its own, in the workspace
# that doc/bazel.md shows, for the CPU and with CUDA, with each rules_cc, with other CUDA rules; and as a folder that
# was copied in. Most of it is analysed and not built; with --all a consumer of CUDA is built, for one architecture and
# one family, hardly optimised, since this repository's own build compiles everything.
# Usage: workspace_test.sh
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../support/check.sh
. "$root/tests/support/check.sh"
# shellcheck source=../../third_party/setup.sh
. "$root/third_party/setup.sh"
if ! command -v bazel >/dev/null; then
    leave "workspaces that depend on this one" "no bazel"
fi
work=$(mktemp -d) || exit 1

in_workspace() { (cd "$work/$1" && shift && bazel --output_base="$work/out" "$@" --noshow_progress --nosandbox_debug); }
at_end() {
    in_workspace host shutdown >/dev/null 2>&1
    chmod -R u+w "$work" # Bazel's outputs are read-only
    rm -rf "$said" "$said.err" "$work"
}

# ---- The workspace of doc/bazel.md ----

# shown NAME: the block of the page that begins with "# NAME".
shown() { awk -v first="# $1" '/^```/ { fence = !fence; on = 0; next } on; fence && $0 == first { on = 1 }' "$root/doc/bazel.md"; }

# workspace NAME: a folder with the page's files and two programs.
workspace() {
    local name
    mkdir -p "$work/$1/third_party"
    for name in WORKSPACE BUILD .bazelignore; do
        shown $name >"$work/$1/$name"
        [ -s "$work/$1/$name" ] || { echo "doc/bazel.md has no $name" && return 1; }
    done
    ln -s "$root" "$work/$1/third_party/gpuopt"
    cp "$root/tests/frame/answer.h" "$root/tests/frame/host_cuda.c" "$work/$1"
    sed 's|tests/frame/answer.h|answer.h|' "$root/tests/frame/host_main.c" >"$work/$1/host.c"
    sed -i 's|srcs = \["host.c"\]|srcs = ["host.c", "answer.h"]|' "$work/$1/BUILD"
}
check "doc/bazel.md has a whole workspace" workspace host
runs_for_cpu() { in_workspace host run //:host; }
check "its CPU program is built and run" runs_for_cpu

skips_cuda() {
    in_workspace host build //... --repo_env=GPUOPT_CUDA=0 --show_result=9 >"$work/skips" 2>&1 || { cat "$work/skips" && return 1; }
    grep -E '//:host_cuda was skipped' "$work/skips"
}
says_why() { in_workspace host build //:host_cuda --repo_env=GPUOPT_CUDA=0 2>&1 | grep 'cuda_toolkit_found'; }
check "without a toolkit, what needs CUDA is skipped" skips_cuda
check "and says why when it is asked for by name" says_why

# ---- What nvcc is given ----

# arguments OPTION...: those of each call of nvcc.
arguments() { in_workspace host aquery 'mnemonic("CudaCompile", deps(//:host_cuda))' "$@" 2>"$said.err" || { cat "$said.err" && return 1; }; }
# each PATTERN OPTION...: whether each call has an argument that matches.
each() {
    local pattern=$1 calls
    shift
    arguments "$@" >"$work/calls" || return
    calls=$(grep -c '^action ' "$work/calls")
    echo "$calls calls, $(grep -cE -- "$pattern" "$work/calls") with $pattern"
    [ "$calls" -gt 1 ] && [ "$(grep -cE -- "$pattern" "$work/calls")" -eq "$calls" ]
}
of_each_unit() {
    arguments >"$work/calls" || return
    diff <(cd "$root" && printf '%s\n' cuda/*.cu cuda/*/*.cu | sort) <(grep -oE '^action .*' "$work/calls" | grep -oE 'cuda/[a-z_/]+\.cu' | sort)
}
gencodes() { arguments "$@" >"$work/calls" && grep -oE 'gencode=[^ '\'']*' "$work/calls" | sort -u; }
by_default() { diff <(gencodes) <(grep -oE 'gencode=[^ '\'']*' "$root/doc/install.md" | sort -u); }
lowest_and_highest() {
    diff <(gencodes --@gpuopt//cuda:archs=120,86,80) - <<END
gencode=arch=compute_120,code=[sm_120,compute_120]
gencode=arch=compute_80,code=[sm_80,compute_80]
gencode=arch=compute_86,code=[sm_86]
END
}
leaves_out() {
    arguments --@gpuopt//cuda:without=knapsack,basis >"$work/calls" && ! grep -E 'Compiling.*(knapsack|basis)' "$work/calls" &&
        each WITHOUT_KNAPSACK --@gpuopt//cuda:without=knapsack,basis && grep -q WITHOUT_BASIS "$work/calls"
}
links_libraries() {
    each LINK_LIBRARIES --@gpuopt//cuda:libraries=link &&
        in_workspace host aquery --include_param_files 'mnemonic("CppLink", //:host_cuda)' --@gpuopt//cuda:libraries=link 2>&1 |
            grep -e -lcublas
}
uses_no_libraries() { each WITHOUT_LIBRARIES --@gpuopt//cuda:libraries=none; }
opens_libraries() { arguments >"$work/calls" && ! grep LIBRARIES "$work/calls"; }
refuses_word() { in_workspace host build --nobuild //:host_cuda --@gpuopt//cuda:libraries=both 2>&1 | grep 'is both, not one of open, link, none'; }
refuses_unknown() { in_workspace host build --nobuild //:host_cuda --@gpuopt//cuda:without=knapsak 2>&1 | grep 'no knapsak.cu'; }
uses_compiler() { each "^ +$(command -v gcc-12 || command -v gcc) " --repo_env=CC="$(command -v gcc-12 || command -v gcc)"; }
debugs() { each '^ +-g ' -c dbg && ! grep -q NDEBUG "$work/calls"; }
drops_warnings() { each "NDEBUG" -c opt --copt=-Wall --cxxopt=-std=c++20 --copt=-fno-plt && ! grep -E -- '-Wall|c\+\+20' "$work/calls" && grep -q fno-plt "$work/calls"; }

if ! nvcc=$(find_nvcc); then
    skip "what nvcc is given" "no nvcc"
else
    check "nvcc compiles each unit of cuda/" of_each_unit
    check "by default for the architectures of doc/install.md" by_default
    check "PTX is that of the lowest and the highest architecture asked for" lowest_and_highest
    check "families are left out" leaves_out
    check "a family that there is not is no family to leave out" refuses_unknown
    check "cuBLAS and cuSOLVER are linked" links_libraries
    check "or never used" uses_no_libraries
    check "by default they are opened at run time" opens_libraries
    check "another word is refused" refuses_word
    check "options for nvcc" each lineinfo --@gpuopt//cuda:copts=-lineinfo
    check "the host compiler is that of the cc toolchain" uses_compiler
    check "-c dbg is for CUDA, too" debugs
    check "options of the host go to its compiler, warnings and standard do not" drops_warnings
fi

# ---- Each rules_cc ----

# loads_with FOLDER [FILE]: all is analysed with this rules_cc, and the provider comes from FILE of it or from Bazel.
loads_with() {
    in_workspace host build --nobuild //... --override_repository=rules_cc="$1" || return
    if [ -n "${2:-}" ]; then grep "$2" "$work/out/external/gpuopt_cuda/defs.bzl"; else ! grep rules_cc "$work/out/external/gpuopt_cuda/defs.bzl"; fi
}
without_provider() { ! grep -r CcInfo "$root/third_party/bazel/rules_cc" && loads_with "$root/third_party/bazel/rules_cc"; }
check "rules_cc without CcInfo, as 0.0.1 and 0.0.2" without_provider

cp -r "$root/third_party/bazel/rules_cc" "$work/rules_cc_new"
mkdir "$work/rules_cc_new/cc/common"
touch "$work/rules_cc_new/cc/common/BUILD"
echo 'NativeCcInfo = CcInfo' >"$work/rules_cc_new/cc/common/native.bzl"
echo 'native_cc_common = cc_common' >>"$work/rules_cc_new/cc/common/native.bzl"
printf 'load(":native.bzl", "NativeCcInfo")\n\nCcInfo = NativeCcInfo\n' >"$work/rules_cc_new/cc/common/cc_info.bzl"
printf 'load(":native.bzl", "native_cc_common")\n\ncc_common = native_cc_common\n' >"$work/rules_cc_new/cc/common/cc_common.bzl"
check "rules_cc with CcInfo in a file of its own, as 0.0.17 and later" \
    loads_with "$work/rules_cc_new" '@rules_cc//cc/common:cc_info.bzl'

# Bazel 4.2.3 has no use_cpp_toolchain(), which 0.0.4 loads from it.
debian=/usr/share/bazel/rules/cc
loads_with_debian() {
    cp -r $debian "$work/rules_cc_debian" && sed -i 's|, "use_cpp_toolchain"||
        s|use_cpp_toolchain()|["@bazel_tools//tools/cpp:toolchain_type"]|' "$work"/rules_cc_debian/cc/private/rules_impl/*.bzl &&
        loads_with "$work/rules_cc_debian"
}
if [ -d $debian ]; then
    check "Debian's rules_cc 0.0.4, with what Bazel 4 lacks" loads_with_debian
else
    skip "Debian's rules_cc" "no package bazel-rules-cc"
fi

# ---- Other CUDA rules ----

# rules_cuda's cuda_library, played by a rule with the same attributes that only preprocesses: what that needs is what
# the compiler needs. No repository @gpuopt_cuda is there.
own_rules() {
    workspace own && shown cuda/BUILD >"$work/own/own_BUILD" && [ -s "$work/own/own_BUILD" ] || return
    mkdir -p "$work/own/cuda" "$work/own/rules_cuda/cuda"
    mv "$work/own/own_BUILD" "$work/own/cuda/BUILD"
    sed -i '/^# For CUDA/,$d' "$work/own/WORKSPACE"
    echo 'local_repository(name = "rules_cuda", path = "rules_cuda")' >>"$work/own/WORKSPACE"
    echo rules_cuda >>"$work/own/.bazelignore"
    rm "$work/own/BUILD"
    touch "$work/own/rules_cuda/WORKSPACE" "$work/own/rules_cuda/cuda/BUILD"
    cat >"$work/own/rules_cuda/cuda/defs.bzl" <<END
SOURCES = [".cu", ".cu.cc"]
HEADERS = [".cuh", ".h", ".hpp", ".hh", ".inl"]

def _cuda_library_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    headers = depset(ctx.files.hdrs, transitive = [c.headers for c in contexts])
    outputs = []
    for src in ctx.files.srcs:
        out = ctx.actions.declare_file("_objs/%s/%s.i" % (ctx.label.name, src.basename))
        args = ctx.actions.args()
        args.add_all(["-E", "-x", "cu", "-arch=sm_90", src, "-o", out])
        args.add_all(depset(transitive = [c.includes for c in contexts]), before_each = "-I")
        args.add_all(depset(transitive = [c.quote_includes for c in contexts]), before_each = "-I")
        args.add_all(depset(transitive = [c.system_includes for c in contexts]), before_each = "-isystem")
        ctx.actions.run(
            executable = "$nvcc",
            arguments = [args],
            inputs = depset([src], transitive = [headers]),
            outputs = [out],
            use_default_shell_env = True,
        )
        outputs.append(out)
    return [DefaultInfo(files = depset(outputs)), cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])]

cuda_library = rule(
    implementation = _cuda_library_impl,
    attrs = {
        "alwayslink": attr.bool(),
        "copts": attr.string_list(),
        "defines": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = HEADERS),
        "host_copts": attr.string_list(),
        "host_defines": attr.string_list(),
        "host_linkopts": attr.string_list(),
        "host_local_defines": attr.string_list(),
        "includes": attr.string_list(),
        "linkopts": attr.string_list(),
        "local_defines": attr.string_list(),
        "rdc": attr.bool(),
        "srcs": attr.label_list(allow_files = SOURCES + HEADERS),
    },
)
END
}
preprocesses() {
    local unit
    in_workspace own build //cuda:gpuopt_cuda || return
    for unit in "$root"/cuda/*.cu "$root"/cuda/*/*.cu; do
        grep -q 'gpuopt_status' "$work/own/bazel-bin/cuda/_objs/gpuopt_cuda/$(basename "$unit").i" || return
    done
}
if ! runs_all; then
    skip "the sources, for other CUDA rules" "takes a minute: tests/run.sh --all"
elif [ -z "$nvcc" ]; then
    skip "the sources, for other CUDA rules" "no nvcc"
else
    check "a workspace with the page's target for rules_cuda" own_rules &&
        check "nvcc finds all that it includes among the sources that are handed out" preprocesses
fi

# ---- Finding a toolkit ----

# An imitation of a toolkit for two kinds of machine, and of machines of both kinds.
for kind in x86_64-linux sbsa-linux; do
    mkdir -p "$work/toolkit/targets/$kind/lib" "$work/toolkit/targets/$kind/include"
    echo "$kind" >"$work/toolkit/targets/$kind/lib/libcudart_static.a"
done
mkdir -p "$work/toolkit/bin" "$work/toolkit/nvvm"
printf '#!/bin/sh\n' >"$work/toolkit/bin/nvcc" && chmod +x "$work/toolkit/bin/nvcc"
ln -s targets/x86_64-linux/lib "$work/toolkit/lib64"

# finds KIND MACHINE: the runtime for this kind, on this machine, in the workspace "paths".
finds() {
    mkdir -p "$work/$2" && printf '#!/bin/sh\necho %s\n' "$2" >"$work/$2/uname" && chmod +x "$work/$2/uname"
    PATH=$work/$2:$PATH in_workspace paths build --nobuild @gpuopt_cuda//:cudart &&
        [ "$(cat "$work/out/external/gpuopt_cuda/lib/libcudart_static.a")" = "$1" ]
}
toolkit_of() { # a line of the WORKSPACE in the place of cuda_configure()
    workspace paths && sed -i '/cuda_configure()/d' "$work/paths/WORKSPACE" && cat >>"$work/paths/WORKSPACE"
}
check "a workspace that says where its toolkit is" toolkit_of <<<"cuda_configure(path = \"$work/toolkit\")"
check "the runtime for x86_64" finds x86_64-linux x86_64
check "the runtime for Arm servers" finds sbsa-linux aarch64
finds_nothing() { ! finds x86_64-linux riscv64 && grep 'CUDA_FOUND = False' "$work/out/external/gpuopt_cuda/defs.bzl"; }
rm "$work/toolkit/lib64"
check "none for a machine that the toolkit is not for" finds_nothing

# Bazel 4 has no module extensions, so the test plays Bazel's part: the root module and another that it depends on.
rm -rf "$work/paths"
{
    echo 'load("@gpuopt//cuda:configure.bzl", "cuda_repository")'
    printf 'def %s(**kwargs):\n    return struct(**kwargs)\n\n' module_extension tag_class
    grep -v '^load(' "$root/cuda/extension.bzl"
    printf '\n%s\n' 'def play(paths):' \
        '    modules = [struct(tags = struct(toolkit = [struct(path = path)])) for path in paths]' \
        '    cuda.implementation(struct(modules = modules))'
} >"$work/extension.bzl"
plays_module() {
    toolkit_of <<END
load("//:extension.bzl", "play")
play(["$work/toolkit", "/nowhere"])
END
    cp "$work/extension.bzl" "$work/paths" && finds x86_64-linux x86_64
}
check "the module extension: the root module says where the toolkit is" plays_module

# ---- The whole of it, and a copy ----

if ! runs_all; then
    skip "a program with the CUDA backend" "takes a minute: tests/run.sh --all"
elif [ -z "$nvcc" ]; then
    skip "a program with the CUDA backend" "no nvcc"
else
    runs_with_cuda() { in_workspace host run //:host_cuda --@gpuopt//cuda:archs=90 "--@gpuopt//cuda:copts=$(fast_compile "$nvcc")" --@gpuopt//cuda:without=basis,elimination,propagate,simplex; }
    check "a program with the CUDA backend is built and run" runs_with_cuda
fi

copied() {
    workspace copy && mkdir -p "$work/copy/vendored/gpuopt" || return
    cp -r "$root/BUILD" "$root/gpuopt.h" "$root/gpuopt" "$root/gpuopt_impl" "$work/copy/vendored/gpuopt"
    sed -i 's|"gpuopt.h"|"vendored/gpuopt/gpuopt.h"|' "$work/copy/answer.h"
    sed -i 's|@gpuopt//:gpuopt|//vendored/gpuopt|' "$work/copy/BUILD"
    sed -i '/^# For CUDA/,$d' "$work/copy/WORKSPACE"
    sed -i '/REQUIRES_CUDA"/d; /host_cuda"/,$d' "$work/copy/BUILD"
    sed -i '$d' "$work/copy/BUILD"
    in_workspace copy run //:host
}
check "a workspace with the library as a folder of its own" copied
summary
