#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [MODEL [OPTION...]]
# Builds the examples and runs the main job: with a model, the example that its ending names (options are passed on);
# without, all of them on small models of our own and on generated ones large enough to see the speed.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
root=$(cd "$here/.." && pwd)
# shellcheck source=../third_party/setup.sh
. "$root/third_party/setup.sh"

need "${example_packages[@]}"
if ! (cd "$root" && bazel build --noshow_progress //examples:all) >"${TMPDIR:-/tmp}/gpuopt-examples.log" 2>&1; then
    cat "${TMPDIR:-/tmp}/gpuopt-examples.log" >&2
    exit 3
fi
programs=$root/bazel-bin/examples

# The example for a model file or generator.
example_of() {
    case $1 in
    *.mps | *.mps.gz | gen:*) echo propagate_mps ;;
    *)
        echo "$1: no example reads this; known endings: .mps .mps.gz, and gen:NAME" >&2
        return 2
        ;;
    esac
}

if [ $# -gt 0 ]; then
    example=$(example_of "$1") || exit
    exec "$programs/$example" "$@"
fi

failed=0
# show PROGRAM ARGUMENT...: runs an example under its command line; an infeasible model (1) is an answer like others.
show() {
    local program=$1
    shift
    printf '\n$ %s %s\n' "$program" "$*"
    "$programs/$program" "$@"
    [ $? -le 1 ] || failed=1
}

cd "$root" || exit 3
show quickstart
for model in examples/models/*; do show "$(example_of "$model")" "$model"; done
for model in gen:rand,1000000,1000000,10,1 gen:band,2000000,8,1 gen:rand,10000,10000,10,1; do
    show propagate_mps "$model" --backend cpu
    show propagate_mps "$model" --backend cpu --threads "$(nproc)"
    if ls /dev/nvidia[0-9]* >/dev/null 2>&1; then show propagate_mps "$model" --backend cuda; fi
done
ls /dev/nvidia[0-9]* >/dev/null 2>&1 || printf '\nNo NVIDIA GPU on this machine: everything ran on the CPU.\n'
exit $failed
