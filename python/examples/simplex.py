# SPDX-License-Identifier: MIT
"""A linear program's path: one iteration per call, with the caller's own pricing rule, and strong branching at the end.

python simplex.py [--plot FILE]
"""

import argparse

import gpuopt
import numpy as np


def path(simplex, choose):
    """Iterates by hand. Returns the points (x, objective) on the way; choose picks one of the candidates."""
    points = []
    while True:
        points.append((simplex.get_solution(["x"]).x, simplex.get_info().objective))
        candidates = simplex.candidates(simplex.cols)
        if not candidates:
            return points
        entering = choose(candidates)
        leaving = simplex.ratio_test(entering.variable, entering.direction)
        if leaving.flip:
            simplex.flip(entering.variable)
        else:
            simplex.pivot(entering.variable, leaving.variable, leaving.to_upper)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plot", help="write a picture, which requires matplotlib")
    arguments = arguments.parse_args()

    # Many half planes around the origin: the path in two dimensions can be seen.
    angles = np.linspace(-0.4, 2.0, 25)
    A = np.round(np.column_stack([np.cos(angles), np.sin(angles)]), 6)
    rules = {
        "devex": lambda candidates: candidates[0],
        "largest reduced cost": lambda candidates: max(candidates, key=lambda c: abs(c.reduced_cost)),
        "highest index": lambda candidates: max(candidates, key=lambda c: c.variable),
    }
    paths = {}
    for name, choose in rules.items():
        simplex = gpuopt.Simplex(A, rhs=1, cost=[1.0, 0.9], maximize=True, algorithm="primal")
        paths[name] = path(simplex, choose)
        info = simplex.iterate()
        print(
            f"{name}: {len(paths[name]) - 1} pivots, {info.outcome.name}, {info.objective:.6f}, {info.certainty.name}"
        )

    # Strong branching: both sides of every column, in one call, from the basis of the relaxation.
    random = np.random.default_rng(1)
    A = random.integers(1, 30, (15, 25)).astype(float)
    root = gpuopt.Simplex(A, rhs=A.sum(1) // 3, ub=1, cost=random.integers(10, 30, 25), maximize=True)
    print(f"relaxation: {root.iterate().objective:.4f}")
    x = root.get_solution(["x"]).x
    cols = np.flatnonzero(np.abs(x - np.round(x)) > 1e-6)
    report = gpuopt.Children(root, 2 * len(cols)).strong_branch(cols, x[cols])
    gain = root.get_info().objective - np.reshape(report.objective, (-1, 2))
    best = np.argmax(np.prod(np.maximum(gain, 1e-6), axis=1))
    print(
        f"branch on x{cols[best]} = {x[cols[best]]:.3f}: the bound falls by {gain[best][0]:.3f} or {gain[best][1]:.3f}"
    )

    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        for (name, points), size in zip(paths.items(), (12, 7, 4)):  # two of the paths are the same
            pyplot.plot(*np.transpose([x for x, _ in points]), "o-", markersize=size, label=name)
        pyplot.legend(title="the path by pricing rule")
        pyplot.gca().set(aspect="equal", xlabel="x0", ylabel="x1")
        pyplot.savefig(arguments.plot, bbox_inches="tight")


if __name__ == "__main__":
    main()
