#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: glpk_basis.sh [--seconds N] [ROWS | MODEL]...
#
# GLPK, on the CPU with one thread, on the problems of paper 2: random dense ones with ROWS rows, shah:ROWS:1, and
# MODELs of GPUOPT_TEST_DATA/netlib. Without any: 500 1000 maros-r7 qap12 stocfor3. A row for each: the iterations, the
# optimum, and the seconds of its primal simplex method without presolve, N (60) at most. The paper compares objectives
# with this method. Its own GLPK-based solver, whose source is supplemental material of the paper, is not run here.
# Fetches nothing. To get GLPK: apt-get install glpk-utils (Debian).
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
seconds=60
case ${1:-} in
-h | --help) help && exit ;;
--seconds)
    [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "glpk_basis.sh: --seconds needs a number" >&2 && exit 2; }
    seconds=$2 && shift 2
    ;;
esac
command -v glpsol >/dev/null || { echo "glpk_basis.sh: glpsol is not installed; see --help" && exit; }
[ $# -gt 0 ] || set -- 500 1000 maros-r7 qap12 stocfor3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="${BASH_SOURCE[0]%/*}" PYTHONDONTWRITEBYTECODE=1 # draws.py

# The problem of examples/io/lp_models.c as an MPS file.
cat >"$work/shah.py" <<'PYTHON'
import sys

from draws import Draws

m, numbers = int(sys.argv[1]), Draws(1)
cost = [numbers.decimal() for _ in range(m)]
side = [numbers.decimal() for _ in range(m)]
print("NAME shah\nROWS\n N cost")
for i in range(m):
    print(f" L r{i}")
print("COLUMNS")
for j in range(m):
    print(f" c{j} cost {cost[j]:.6f}")
    for i in range(m):
        sign = "-" if numbers.draw() % 3 == 0 else ""
        print(f" c{j} r{i} {sign}{numbers.decimal():.6f}")
print("RHS")
for i in range(m):
    print(f" rhs r{i} {side[i]:.6f}")
print("ENDATA")
PYTHON

# solve NAME FILE OPTION...: prints a row of the table.
solve() {
    local name=$1 file=$2 begin end
    begin=$(date +%s.%N)
    glpsol "${@:3}" "$file" --primal --nopresol --tmlim "$seconds" -o "$work/answer" >"$work/log" 2>&1
    end=$(date +%s.%N)
    awk -v name="$name" -v whole="$(awk "BEGIN { print $end - $begin }")" '
        /^[* #]+[0-9]+: obj/ { sub(/^[*# ]+/, ""); iterations = $1 + 0 }
        /^Time used/ { seconds = $3 }
        /^Status:/ { status = $2 } /^Objective:/ { objective = $4 }
        END { printf "| %s | %d | %s | %s | %s | %.1f |\n", name, iterations, status, objective, seconds, whole }
    ' "$work/log" "$work/answer"
}

echo "GLPK: $(glpsol --version | head -n 1); CPU: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
printf '\n| problem | iterations | status | optimum | seconds | with reading |\n| --- | --: | --- | --: | --: | --: |\n'
for problem; do
    if [[ $problem =~ ^[0-9]+$ ]]; then
        python3 "$work/shah.py" "$problem" >"$work/model.mps" || exit
        solve "shah:$problem:1" "$work/model.mps" --max --freemps
    elif xz -dc "${GPUOPT_TEST_DATA:-}/netlib/$problem.mps.xz" >"$work/model.mps" 2>/dev/null; then
        solve "$problem" "$work/model.mps" --mps
    else
        echo "$problem is left out: it is not in GPUOPT_TEST_DATA/netlib"
    fi
done
