#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What building the CUDA backend costs: CPU seconds of nvcc, and the size of the object, for each translation unit, for
# one architecture and for the default ones of //cuda:archs.
# Usage: build_time.sh
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
case ${1-} in
-h | --help) help && exit ;;
esac
[ $# -eq 0 ] || { echo "build_time.sh: there are no arguments but --help" >&2 && exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "no nvcc" >&2 && exit 1; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

one=(-arch=sm_90)
mapfile -t default < <(grep -oE "gencode=[^ ']*" doc/install.md | sed 's/^/-/')
[ ${#default[@]} -gt 0 ] || exit 1

# measure UNIT OPTION...: CPU seconds and KiB.
measure() {
    local unit=$1 seconds
    shift
    { seconds=$({ time "$nvcc" -O2 "$@" -c "$unit" -o "$work/unit.o" >"$work/said" 2>&1; } 2>&1); } ||
        { cat "$work/said" >&2 && exit 1; }
    echo "$seconds $(stat -c %s "$work/unit.o")" | awk '{ printf "%.0f %.0f\n", $1 + $2, $3 / 1024 }'
}

"$nvcc" --version | tail -n 2 | head -n 1
echo "| unit | sm_90: CPU s | KiB | default: CPU s | KiB |"
echo "| --- | --- | --- | --- | --- |"
total=(0 0 0 0)
for unit in cuda/*.cu cuda/*/*.cu; do
    read -r s1 k1 < <(measure "$unit" "${one[@]}") || exit 1
    read -r s2 k2 < <(measure "$unit" "${default[@]}") || exit 1
    echo "| $unit | $s1 | $k1 | $s2 | $k2 |"
    total=($((total[0] + s1)) $((total[1] + k1)) $((total[2] + s2)) $((total[3] + k2)))
done
echo "| all | ${total[0]} | ${total[1]} | ${total[2]} | ${total[3]} |"
