#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many small linear programs by HiGHS, the peer of simplex_batch_bench:
    highs_batch.py FILE [--processes N] [--copies N]

FILE is what `simplex_batch_bench ... --write FILE` has written. Each of --processes (16) solves its share of the first
--copies (all) programs by the dual simplex method without presolve, with tolerances of 1e-9; the time from the first model passed
to the last verdict counts, the slowest process's. Needs the Python packages highspy and numpy."""
import argparse
import multiprocessing
import time

import highspy
import numpy


def read(name):
    data = numpy.memmap(name, dtype=numpy.uint8, mode="r")
    at = 0

    def take(kind, count):
        nonlocal at
        size = numpy.dtype(kind).itemsize * count
        part = data[at:at + size].view(kind)
        at += size
        return part

    rows, cols, copies, maximize = (int(x) for x in take(numpy.int32, 4))
    nonzeros = int(take(numpy.int64, 1)[0])
    start, index = take(numpy.int64, rows + 1), take(numpy.int32, nonzeros)
    value = take(numpy.float64, copies * nonzeros).reshape(copies, nonzeros)
    cost = take(numpy.float64, copies * cols).reshape(copies, cols)
    lb = take(numpy.float64, cols)
    ub = take(numpy.float64, copies * cols).reshape(copies, cols)
    lhs = take(numpy.float64, copies * rows).reshape(copies, rows)
    rhs = take(numpy.float64, copies * rows).reshape(copies, rows)
    return rows, cols, copies, maximize, start, index, value, cost, lb, ub, lhs, rhs


def share(task):
    name, first, step, most = task
    rows, cols, copies, maximize, start, index, value, cost, lb, ub, lhs, rhs = read(name)
    highs = highspy.Highs()
    for option, setting in (("output_flag", False), ("presolve", "off"), ("threads", 1), ("solver", "simplex"),
                            ("primal_feasibility_tolerance", 1e-9), ("dual_feasibility_tolerance", 1e-9)):
        highs.setOptionValue(option, setting)
    optimal = iterations = 0
    begin = time.perf_counter()
    for k in range(first, min(copies, most), step):
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = cols, rows
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost[k], lb, ub[k]
        lp.row_lower_, lp.row_upper_ = lhs[k], rhs[k]
        lp.sense_ = highspy.ObjSense.kMaximize if maximize else highspy.ObjSense.kMinimize
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = start.astype(numpy.int32), index, value[k]
        highs.passModel(lp)
        highs.run()
        optimal += highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        iterations += highs.getInfo().simplex_iteration_count
    return time.perf_counter() - begin, optimal, iterations


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file")
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--copies", type=int, default=1 << 30)
    given = parser.parse_args()
    tasks = [(given.file, first, given.processes, given.copies) for first in range(given.processes)]
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        results = pool.map(share, tasks, chunksize=1)
    print(f"HiGHS {highspy.Highs().version()}, {given.processes} processes: {max(r[0] for r in results):.3f} s, "
          f"{sum(r[1] for r in results)} optimal, {sum(r[2] for r in results)} iterations")


if __name__ == "__main__":
    main()
