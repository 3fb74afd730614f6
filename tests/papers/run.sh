#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: run.sh [1|2|3|4|5]... [--quick] [--data FOLDER] [--programs FOLDER]
#               [--pictures FOLDER]
#
# Prints the tables and figures of the papers whose methods this library has, in their rows and columns: the paper's own
# numbers beside those measured here, on the CPU and, where there is one, on the GPU. Without numbers: all papers.
#   1  propagation (Sofranac, Gleixner, Pokutta)       2  basis updates (Shah et al.)
#   3  bucket elimination (Fioretto et al.)            4  knapsacks (Boukedjar, Lalami, El Baz)
#   5  the simplex method (Meyer, Albuquerque, Chopard)
# --quick     small sizes: a minute a paper on two cores
# --data      the folder of public models; without it GPUOPT_TEST_DATA. Without both they are left out.
# --programs  the folder of the programs, if they are built already; else Bazel builds them, for this machine's GPU
# --pictures  where gnuplot draws the figures, as paperN_figM.svg
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../../third_party/setup.sh
. "$root/third_party/setup.sh"
names=("" propagation basis elimination knapsack simplex)
papers=() options=() programs="" pictures=""
bad() { echo "run.sh: $1; see --help" >&2 && exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help && exit ;;
    [1-5]) papers+=("$1") ;;
    --quick) options+=(--quick) ;;
    --data | --programs | --pictures)
        if [ $# -lt 2 ] || [ ! -d "$2" ]; then bad "$1 needs a folder"; fi
        folder=$(cd "$2" && pwd)
        case $1 in
        --data) GPUOPT_TEST_DATA=$folder ;;
        --programs) programs=$folder ;;
        --pictures) pictures=$folder ;;
        esac
        shift
        ;;
    *) bad "there is no option $1" ;;
    esac
    shift
done
[ ${#papers[@]} -gt 0 ] || papers=(1 2 3 4 5)
[ -z "${GPUOPT_TEST_DATA:-}" ] || options+=(--data "$GPUOPT_TEST_DATA")
if [ -z "$programs" ]; then
    targets=()
    for paper in "${papers[@]}"; do targets+=("//tests/papers:${names[paper]}"); done
    need "${example_packages[@]}" "${test_packages[@]}"
    choose_cuda
    (cd "$root" && bazel build --noshow_progress "${cuda[@]}" "${targets[@]}") >&2 || exit
    programs=$root/bazel-bin/tests/papers
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

echo "CPU: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) threads"
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c | sed 's/^ *//; s/^1 //' | paste -sd,)
echo "GPU: ${gpus:-none}"
result=0
for paper in "${papers[@]}"; do
    name=${names[paper]}
    printf '\n## Paper %s: %s\n' "$paper" "$name"
    "$programs/$name" "${options[@]}" --dat "$work" || { echo "run.sh: $name failed" >&2 && result=1; }
    figure=$root/tests/papers/$name.gp
    if [ -n "$pictures" ] && [ -f "$figure" ]; then
        (cd "$work" && gnuplot -e "folder='$pictures'" "$figure") || result=1
    fi
done
exit $result
