# SPDX-License-Identifier: MIT
"""An inverse under updates: how far it drifts from the true one, by technique, and when a reload pays.

python basis.py [--plot FILE]
"""

import argparse
import time

import gpuopt
import numpy as np


def drift(technique, m=120, updates=300, every=20):
    """Replaces random columns. Returns the drift after every few updates, and the seconds an update took."""
    random = np.random.default_rng(1)
    B = random.standard_normal((m, m))
    basis = gpuopt.Basis(m, technique=technique)
    basis.load(B)
    norms, seconds = [], 0.0
    for number in range(updates):
        column = random.standard_normal(m)
        start = time.perf_counter()
        alpha = basis.ftran(column)
        position = int(np.argmax(np.abs(alpha) * random.random(m)))  # a large pivot
        basis.update(position)
        seconds += time.perf_counter() - start
        B[:, position] = column
        if number % every == every - 1:
            norms.append(basis.get_drift(B, exact=True).norm)
    np.testing.assert_allclose(basis.get_inverse() @ B, np.eye(m), atol=1e-6)
    return norms, seconds / updates


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plot", help="write a picture, which requires matplotlib")
    arguments = arguments.parse_args()

    results = {}
    for technique in ("deferred", "pfi", "mpfi", "element_modified"):
        results[technique], seconds = drift(technique)
        print(f"{technique:17} drift {results[technique][-1]:.1e} after 300 updates, {1e6 * seconds:.0f} us an update")

    # A bad pivot is refused, and the inverse stays as it was.
    basis = gpuopt.Basis(3)
    try:
        basis.update(0, np.array([0.0, 1.0, 1.0]))
    except gpuopt.NumericError as error:
        print("refused:", error)
    print("updates made:", basis.get_info().updates)

    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        for (technique, norms), style in zip(results.items(), ("-", "-", "--", "-")):  # of pfi and mpfi the same
            pyplot.semilogy(np.arange(1, len(norms) + 1) * 20, norms, style, label=technique)
        pyplot.xlabel("updates")
        pyplot.ylabel("largest entry of |B^-1 B - I|")
        pyplot.legend()
        pyplot.savefig(arguments.plot, bbox_inches="tight")


if __name__ == "__main__":
    main()
