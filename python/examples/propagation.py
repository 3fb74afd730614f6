# SPDX-License-Identifier: MIT
"""Bounds over rounds: how propagation shrinks the domains of a random integer program, and what a decision implies.

python propagation.py [--plot FILE]
"""

import argparse

import gpuopt
import numpy as np
import scipy.sparse as sp


def model(rows, cols, seed=1):
    """Sparse rows with small coefficients that a known point satisfies."""
    random = np.random.default_rng(seed)
    A = sp.random(rows, cols, density=4 / cols, format="csr", random_state=random)
    A.data = random.integers(1, 10, A.nnz) * random.choice([-1.0, 1.0], A.nnz)
    return A, A @ random.integers(0, 6, cols)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plot", help="write a picture, which requires matplotlib")
    arguments = arguments.parse_args()

    A, activity = model(rows=120, cols=100)
    propagator = gpuopt.Propagator(A, activity - 6, activity + 6, ub=1000, integer=True, trail_capacity=10**6)
    widths = []
    while True:
        lb, ub = propagator.get_bounds()
        widths.append(np.sort(ub - lb))
        info = propagator.round()
        print(f"round {len(widths)}: {info.changed} bounds moved, {info.nonzeros} nonzeros, {info.outcome.name}")
        if info.outcome != gpuopt.Outcome.MORE:
            break

    # A decision: the trail lists what it implies, and why.
    col = int(np.argmin(np.where(ub > lb, ub - lb, np.inf)))
    middle = (lb[col] + ub[col]) // 2
    with propagator.level() as start:
        propagator.set_bounds(ub=[middle], cols=[col])
        outcome = propagator.propagate().outcome
        changes = propagator.get_changes(start)
        print(f"x{col} <= {middle:g} implies {len(changes.col) - 1} changes, {outcome.name}")
        for k in range(1, min(4, len(changes.col))):
            side, reason = ("<=", ">=")[1 - changes.upper[k]], propagator.explain(start + k)
            print(f"    x{changes.col[k]} {side} {changes.new_bound[k]:g} by row {reason.row}")
    print("after pop, the bounds are as before:", np.array_equal(propagator.get_bounds(), (lb, ub)))

    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        for number, width in enumerate(widths):
            pyplot.plot(width + 1, label=f"{number} rounds", color=pyplot.cm.viridis(number / len(widths)))
        pyplot.yscale("log")
        pyplot.xlabel("columns, by the width of their domain")
        pyplot.ylabel("values in the domain")
        pyplot.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        pyplot.savefig(arguments.plot, bbox_inches="tight")


if __name__ == "__main__":
    main()
