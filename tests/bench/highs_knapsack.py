#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Multidimensional knapsacks by HiGHS, the peer of knapsack_multidimensional_bench:
    highs_knapsack.py FILE... [--threads N]

A FILE is what `knapsack_multidimensional_bench ... --write PREFIX` has written. Each is solved as a mixed-integer
program on --threads (16) threads, to a relative gap of 0 and an absolute one below 1, for up to --seconds (600). Prints
a line of JSON a file. Needs the Python packages highspy and numpy."""
import argparse
import json
import time

import highspy
import numpy


def read(name):
    with open(name, encoding="ascii") as file:
        rows, items = (int(x) for x in file.readline().split())
        profit = numpy.array(file.readline().split(), dtype=numpy.float64)
        weight = numpy.array([file.readline().split() for _ in range(rows)], dtype=numpy.float64)
        capacity = numpy.array(file.readline().split(), dtype=numpy.float64)
    return rows, items, profit, weight, capacity


def solve(name, threads, seconds):
    rows, items, profit, weight, capacity = read(name)
    highs = highspy.Highs()
    for option, setting in (("output_flag", False), ("threads", threads), ("parallel", "on"), ("time_limit", seconds),
                            ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.999)):
        highs.setOptionValue(option, setting)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = items, rows
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = profit, numpy.zeros(items), numpy.ones(items)
    lp.row_lower_, lp.row_upper_ = numpy.full(rows, -highspy.kHighsInf), capacity
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.integrality_ = [highspy.HighsVarType.kInteger] * items
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = numpy.arange(rows + 1, dtype=numpy.int32) * items
    lp.a_matrix_.index_ = numpy.tile(numpy.arange(items, dtype=numpy.int32), rows)
    lp.a_matrix_.value_ = weight.ravel()
    highs.passModel(lp)
    start = time.perf_counter()
    highs.run()
    took = time.perf_counter() - start
    info = highs.getInfo()
    return {"file": name, "proven": highs.getModelStatus() == highspy.HighsModelStatus.kOptimal,
            "lower": round(info.objective_function_value), "upper": info.mip_dual_bound,
            "nodes": info.mip_node_count, "seconds": round(took, 3), "threads": threads}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=600)
    given = parser.parse_args()
    for name in given.files:
        print(json.dumps(solve(name, given.threads, given.seconds)), flush=True)


if __name__ == "__main__":
    main()
