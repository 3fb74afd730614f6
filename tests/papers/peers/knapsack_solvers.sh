#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Usage: knapsack_solvers.sh [--seconds N] [--seeds N] [ITEMS...]
#
# OR-tools and HiGHS on the instances of Table 1 of the knapsack paper, paper:ITEMS:1 to paper:ITEMS:10, as rows for the
# table of dominance of tests/papers/knapsack.c. Each has one thread and N seconds (10) at most for an instance. The
# optima are compared with a dynamic programme's. Fetches nothing. To get them:
#   OR-tools  pip install ortools           (PyPI; its knapsack solver by branch and bound, and CP-SAT)
#   HiGHS     pip install highspy numpy     (PyPI; the problem as a mixed-integer program)
# A solver that is not installed is left out. PYTHON names another interpreter than python3.
set -u
# Prints the comment above.
help() { awk 'NR > 3 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"; }
seconds=10 seeds=10 sizes=()
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) help && exit ;;
    --seconds | --seeds)
        [ $# -ge 2 ] || { echo "knapsack_solvers.sh: $1 needs a number" >&2 && exit 2; }
        if [ "$1" = --seconds ]; then seconds=$2; else seeds=$2; fi
        shift
        ;;
    *[!0-9]*) echo "knapsack_solvers.sh: $1 is no number of items; see --help" >&2 && exit 2 ;;
    *) sizes+=("$1") ;;
    esac
    shift
done
[ ${#sizes[@]} -gt 0 ] || sizes=(100 200 300 400 500)
export PYTHONPATH="${BASH_SOURCE[0]%/*}" PYTHONDONTWRITEBYTECODE=1 # draws.py
exec "${PYTHON:-python3}" - "$seconds" "$seeds" "${sizes[@]}" <<'PYTHON'
import sys
import time

from draws import Draws

seconds, seeds, sizes = float(sys.argv[1]), int(sys.argv[2]), [int(word) for word in sys.argv[3:]]


def instance(items, seed):
    """Weights, profits and capacity of paper:ITEMS:SEED, by the generator of examples/io/knapsack.c."""
    numbers = Draws(seed)
    weight = [1 + numbers.draw() % 100 for _ in range(items)]
    return weight, [w + 10 for w in weight], sum(weight) // 2


def programme(weight, profit, capacity):
    best = [0] * (capacity + 1)
    for w, p in zip(weight, profit):
        best = best[:w] + [max(stay, take + p) for stay, take in zip(best[w:], best)]
    return best[capacity]


# Each solver returns the optimum, or None if it has not proven one.
def branch_and_bound(weight, profit, capacity):
    solver = knapsack_solver.KnapsackSolver(knapsack_solver.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER, "")
    solver.set_time_limit(seconds)
    solver.init(profit, [weight], [capacity])
    found = solver.solve()
    return found if solver.is_solution_optimal() else None


def cp_sat(weight, profit, capacity):
    model = cp_model.CpModel()
    take = [model.new_bool_var("") for _ in weight]
    model.add(sum(w * x for w, x in zip(weight, take)) <= capacity)
    model.maximize(sum(p * x for p, x in zip(profit, take)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    return round(solver.objective_value) if solver.solve(model) == cp_model.OPTIMAL else None


def highs(weight, profit, capacity):
    count = len(weight)
    solver = highspy.Highs()
    for option, setting in (("output_flag", False), ("threads", 1), ("time_limit", seconds), ("mip_rel_gap", 0.0),
                            ("mip_abs_gap", 0.999)):
        solver.setOptionValue(option, setting)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_, program.sense_ = count, 1, highspy.ObjSense.kMaximize
    program.col_cost_ = numpy.array(profit, dtype=float)
    program.col_lower_, program.col_upper_ = numpy.zeros(count), numpy.ones(count)
    program.row_lower_, program.row_upper_ = numpy.zeros(1), numpy.array([float(capacity)])
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = numpy.array([0, count])
    program.a_matrix_.index_, program.a_matrix_.value_ = numpy.arange(count), numpy.array(weight, dtype=float)
    program.integrality_ = [highspy.HighsVarType.kInteger] * count
    solver.passModel(program)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return round(solver.getInfo().objective_function_value)


solvers = []
try:
    import ortools
    from ortools.algorithms.python import knapsack_solver
    from ortools.sat.python import cp_model
    solvers += [("OR-tools " + ortools.__version__ + ", branch and bound", branch_and_bound), ("CP-SAT", cp_sat)]
except ImportError:
    print("knapsack_solvers.sh: OR-tools is not installed", file=sys.stderr)
try:
    import highspy
    import numpy
    solvers += [("HiGHS", highs)]
except ImportError:
    print("knapsack_solvers.sh: HiGHS is not installed", file=sys.stderr)

wrong = 0
print("| n | solver | solved | ms, mean | ms, most |\n| --- | --- | --- | --- | --- |")
for size in sizes:
    instances = [instance(size, seed) for seed in range(1, seeds + 1)]
    optima = [programme(*one) for one in instances]
    for name, solve in solvers:
        times, solved = [], 0
        for one, optimum in zip(instances, optima):
            start = time.perf_counter()
            found = solve(*one)
            times.append(1e3 * (time.perf_counter() - start))
            solved += found is not None
            wrong += found is not None and found != optimum
        print(f"| {size} | {name} | {solved} of {seeds} | {sum(times) / seeds:.3g} | {max(times):.3g} |", flush=True)
if wrong:
    print(f"knapsack_solvers.sh: {wrong} optima are not the dynamic programme's", file=sys.stderr)
sys.exit(wrong > 0)
PYTHON
