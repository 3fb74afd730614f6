#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: highs_glpk.sh [--seconds N] [--density D] [ROWS...]
#
# HiGHS and GLPK on the programs of the simplex paper's Figure 2, meyer:ROWS:5 ROWS:D:1 (density 0.04), as rows for the
# table of tests/papers/simplex.c. Each solves with one thread, without presolve, in N seconds (30) at most; tolerances
# are their own, 1e-7. Seconds are those of solving, without reading. Fetches nothing. To get them:
#   HiGHS  pip install highspy           (PyPI; the primal and the dual simplex method)
#   GLPK   apt-get install glpk-utils    (Debian; glpsol, the primal simplex method)
# A solver that is not installed is left out. CPLEX, Gurobi and lp_solve, which the paper names, are not run: the first
# two need a licence, and the paper has no figures of any of them.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
seconds=30 density=0.04 sizes=()
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help && exit ;;
    --seconds | --density)
        [ $# -ge 2 ] || { echo "highs_glpk.sh: $1 needs a number" >&2 && exit 2; }
        if [ "$1" = --seconds ]; then seconds=$2; else density=$2; fi
        shift
        ;;
    *[!0-9]*) echo "highs_glpk.sh: $1 is no number of rows; see --help" >&2 && exit 2 ;;
    *) sizes+=("$1") ;;
    esac
    shift
done
[ ${#sizes[@]} -gt 0 ] || sizes=(20 50 100 250 500 750 1000 1250)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export PYTHONPATH="${BASH_SOURCE[0]%/*}" PYTHONDONTWRITEBYTECODE=1 # draws.py

# generate ROWS FILE: the program of examples/io/lp_models.c as an MPS file, with the costs negated: max as min.
cat >"$work/generate.py" <<'PYTHON'
import sys

from draws import Draws

m, density = int(sys.argv[1]), float(sys.argv[2])
n, numbers = 5 * m, Draws(1)
limit = int(density * 18446744073709549568.0)
cost = [numbers.decimal() for _ in range(n)]
side = [numbers.decimal() for _ in range(m)]
print("NAME meyer\nROWS\n N cost")
for i in range(m):
    print(f" L r{i}")
print("COLUMNS")
for j in range(n):
    print(f" x{j} cost {-cost[j]:.17g}")
    empty = True
    for i in range(m):
        if numbers.draw() < limit:
            print(f" x{j} r{i} {numbers.decimal():.17g}")
            empty = False
    if empty:
        i = numbers.draw() % m
        print(f" x{j} r{i} {numbers.decimal():.17g}")
print("RHS")
for i in range(m):
    print(f" side r{i} {side[i]:.17g}")
print("ENDATA")
PYTHON
cat >"$work/highs.py" <<'PYTHON'
import sys
import time

import highspy

for strategy, name in ((4, "primal"), (1, "dual")):
    lp = highspy.Highs()
    for option, value in (("output_flag", False), ("presolve", "off"), ("solver", "simplex"), ("threads", 1),
                          ("parallel", "off"), ("simplex_strategy", strategy), ("time_limit", float(sys.argv[2]))):
        lp.setOptionValue(option, value)
    lp.readModel(sys.argv[1])
    start = time.perf_counter()
    lp.run()
    taken = time.perf_counter() - start
    info = lp.getInfo()
    done = lp.getModelStatus() == highspy.HighsModelStatus.kOptimal
    print(f"HiGHS {lp.version()} {name}", f"{taken:.4g}" if done else "-",
          info.simplex_iteration_count if done else "-", f"{-info.objective_function_value:.10g}" if done else "-",
          sep="|")
PYTHON

highs="" glpk=""
python3 -c 'import highspy' 2>/dev/null && highs=yes
command -v glpsol >/dev/null && glpk=yes
[ -n "$highs$glpk" ] || { echo "highs_glpk.sh: neither highspy nor glpsol is installed" >&2 && exit 77; }
echo "| rows | cols | solver | seconds | iterations | objective |"
echo "| ---: | ---: | ------ | ------: | ---------: | --------: |"
for rows in "${sizes[@]}"; do
    python3 "$work/generate.py" "$rows" "$density" >"$work/model.mps" || exit 1
    {
        [ -z "$highs" ] || python3 "$work/highs.py" "$work/model.mps" "$seconds" | grep '^HiGHS' # without its banner
        if [ -n "$glpk" ]; then
            glpsol --freemps "$work/model.mps" --nopresol --primal --tmlim "$seconds" -w "$work/solution" >"$work/log"
            awk -v version="$(glpsol --version | sed -n '1s/.*[vV]er[a-z]* *\([0-9.]*[0-9]\).*/\1/p')" '
                /^Time used:/ { time = $3 }
                /^\*? *[0-9]+: obj =/ { sub(/^\* */, ""); iterations = $1 + 0; objective = -$4 }
                /OPTIMAL LP SOLUTION FOUND/ { good = 1 }
                END {
                    if (good) printf "GLPK %s primal|%s|%d|%.10g\n", version, time, iterations, objective
                    else printf "GLPK %s primal|-|-|-\n", version
                }' "$work/log"
        fi
    } | sed "s/^/| $rows | $((5 * rows)) | /; s/|\([^ ]\)/| \1/g; s/\([^ ]\)|/\1 |/g; s/\$/ |/"
done
