#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Children of a basis by HiGHS, the peer of simplex_children_bench:
highs_children.py MODEL.mps... [--processes N] [--copies N] [--bases FOLDER]

The linear relaxation of each model is solved by the dual simplex method without presolve, with tolerances of 1e-9; then
both sides of its fractional integer columns (at most --copies children, 1000), each from the root's basis with one bound
changed. Times of one process on the first 24 children, and of --processes (16) on all of them, the slowest counting;
iterations of all. With --bases, the roots' bases go to FOLDER/NAME.mps.basis, from which simplex_children_bench begins
with its option of that name. Needs the Python package highspy."""
import argparse
import math
import multiprocessing
import os
import time

import highspy


def load(path):
    highs = highspy.Highs()
    for name, value in (("output_flag", False), ("solve_relaxation", True), ("presolve", "off"), ("threads", 1),
                        ("simplex_strategy", 1), ("primal_feasibility_tolerance", 1e-9),
                        ("dual_feasibility_tolerance", 1e-9)):
        highs.setOptionValue(name, value)
    highs.readModel(path)
    return highs


def keep(highs, path, folder):
    """Writes the basis: a gpuopt_simplex_variable for each column, then for each row."""
    status = highspy.HighsBasisStatus
    number = {status.kBasic: 0, status.kLower: 1, status.kUpper: 2, status.kZero: 3, status.kNonbasic: 1}
    basis = highs.getBasis()
    with open(os.path.join(folder, os.path.basename(path) + ".basis"), "wb") as file:
        file.write(bytes(number[s] for s in list(basis.col_status) + list(basis.row_status)))


def children(job):
    """Every parts-th of the first `limit` children: how many, their iterations and seconds, and the fractional columns.
    The root's basis goes to the folder, if there is one."""
    path, part, parts, limit, folder = job
    highs = load(path)
    highs.run()
    if folder:
        keep(highs, path, folder)
    lp, basis, x = highs.getLp(), highs.getBasis(), list(highs.getSolution().col_value)
    integrality, lowers, uppers = (list(v) for v in (lp.integrality_, lp.col_lower_, lp.col_upper_))
    fractional = [j for j in range(lp.num_col_)
                  if integrality[j] != highspy.HighsVarType.kContinuous and abs(x[j] - round(x[j])) > 1e-6]
    sides = [(j, side) for j in fractional for side in (0, 1)][:limit][part::parts]
    iterations, start = 0, time.time()
    for j, side in sides:
        lower, upper = lowers[j], uppers[j]
        highs.changeColBounds(j, math.ceil(x[j]) if side else lower, upper if side else math.floor(x[j]))
        highs.setBasis(basis)
        highs.run()
        iterations += highs.getInfo().simplex_iteration_count
        highs.changeColBounds(j, lower, upper)
    return len(sides), iterations, time.time() - start, len(fractional)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--copies", type=int, default=1000)
    parser.add_argument("--bases")
    options = parser.parse_args()
    for path in options.models:
        count, iterations, seconds, fractional = children((path, 0, 1, 24, options.bases))
        print(f"{path}: {fractional} fractional; one process: {1e3 * seconds / max(1, count):.3f} ms a child, "
              f"{iterations / max(1, count):.1f} iterations", end="; ", flush=True)
        with multiprocessing.Pool(options.processes) as pool:
            parts = pool.map(children, [(path, k, options.processes, options.copies, None)
                                        for k in range(options.processes)])
        count, slowest = sum(part[0] for part in parts), max(part[2] for part in parts)
        print(f"{options.processes} processes: {count} children in {1e3 * slowest:.1f} ms, "
              f"{sum(part[1] for part in parts) / max(1, count):.1f} iterations")


if __name__ == "__main__":
    main()
