# SPDX-License-Identifier: MIT
"""Tables of an elimination: a grid of variables, its messages, and mini-bucket bounds for growing z.

python elimination.py [--plot FILE]
"""

import argparse

import gpuopt
import numpy as np


def grid(size, values, seed=1):
    """A grid whose neighbours have random costs."""
    random = np.random.default_rng(seed)
    number = np.arange(size * size).reshape(size, size)
    pairs = list(zip(number[:, :-1].ravel(), number[:, 1:].ravel()))
    pairs += list(zip(number[:-1].ravel(), number[1:].ravel()))
    return [values] * size**2, [(pair, random.integers(0, 100, (values, values))) for pair in pairs]


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plot", help="write a picture, which requires matplotlib")
    arguments = arguments.parse_args()

    domain, functions = grid(size=6, values=3)
    _, _, estimate = gpuopt.Elimination.order(domain, functions)
    print(f"width {estimate.width}, {estimate.entries:.0f} entries of {estimate.bits} bits")

    model = gpuopt.Elimination(domain, functions, semiring="min_count")
    entries = []
    while True:
        info = model.step()
        entries.append(model.message_get_info(len(entries)).entries)
        if info.outcome != gpuopt.Outcome.MORE:
            break
    values, assignment = model.assign()
    print(f"optimum {info.cost}, attained by {info.count} assignments; one of them:")
    print(np.reshape(values, (6, 6)))
    check = sum(table[tuple(values[v] for v in scope)] for scope, table in functions)
    print("its cost by the tables:", check, assignment.outcome.name)

    middle = int(np.argmax(entries))
    message = model.message_get(middle)
    print(f"the largest message: {message.table.shape} over variables {[int(v) for v in message.scope]}")

    bounds = []
    for z in range(2, estimate.width + 2):
        bound = gpuopt.Elimination(domain, functions, policy="mini_bucket", z=z)
        bounds.append((z, bound.eliminate().cost))
    print("mini-bucket bounds:", ", ".join(f"z = {z}: {cost}" for z, cost in bounds))

    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        _, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
        left.semilogy(entries, ".-")
        left.set_xlabel("step")
        left.set_ylabel("entries of the message")
        right.plot(*zip(*bounds), "o-", label="mini-buckets")
        right.axhline(info.cost, color="black", label="optimum")
        right.set_xlabel("z")
        right.legend()
        pyplot.savefig(arguments.plot, bbox_inches="tight")


if __name__ == "__main__":
    main()
