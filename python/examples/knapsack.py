# SPDX-License-Identifier: MIT
"""A search's pool: nodes alive, bounds, and a search divided between two threads.

python knapsack.py [--plot FILE]
"""

import argparse
import threading

import gpuopt
import numpy as np


def problem(items=60, seed=1):
    """Strongly correlated: the profit is the weight and a constant, which is hard for bounds."""
    random = np.random.default_rng(seed)
    weight = random.integers(1000, 10000, items)
    return weight, weight + 1000, int(weight.sum() // 3)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--plot", help="write a picture, which requires matplotlib")
    arguments = arguments.parse_args()

    weight, profit, capacity = problem()
    history = []
    with gpuopt.Knapsack(weight, profit, capacity, reduction="off") as search:
        while True:
            info = search.expand(levels=1)
            history.append(info)
            if info.outcome != gpuopt.Outcome.MORE:
                break
        copies, gain, load = search.get_items()
    print(f"{info.outcome.name}: profit {gain}, weight {load} of {capacity}, {copies.sum()} items")
    print(f"{info.expanded} nodes, {info.pruned} pruned, {info.dominated} dominated, at most {info.peak} at once")

    # The same search by two threads: each has a context, and half of the nodes after some levels.
    weight, profit, capacity = problem(items=36, seed=2)
    parts = []
    for part in range(2):
        search = gpuopt.Knapsack(weight, profit, capacity, search="breadth", pool=1 << 18)
        search.expand(levels=10)
        search.take_share(part, 2)
        parts.append(search)
    threads = [threading.Thread(target=part.expand) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    best = max(part.get_info().primal_bound for part in parts)
    alone = gpuopt.Knapsack(weight, profit, capacity).expand()
    print(f"two threads: {[part.get_info().expanded for part in parts]} nodes, {best}; alone: {alone.primal_bound}")

    if arguments.plot:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        _, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
        left.plot([info.alive for info in history])
        left.set_xlabel("step")
        left.set_ylabel("nodes in the pool")
        right.plot([info.dual_bound for info in history], label="dual bound")
        right.plot([info.primal_bound for info in history], label="primal bound")
        right.set_xlabel("step")
        right.legend()
        pyplot.savefig(arguments.plot, bbox_inches="tight")


if __name__ == "__main__":
    main()
