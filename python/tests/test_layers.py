# SPDX-License-Identifier: MIT
"""Batches, variants of the knapsack, preprocessing and cost shifting, against linprog and enumeration."""

import itertools

import gpuopt
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from test_families import costs, knapsack_optimum, random_graph


def programs(count, rows=6, cols=8):
    random = np.random.default_rng(0)
    value = np.where(random.random((rows, cols)) < 0.6, 1, 0) * random.integers(1, 9, (count, rows, cols)).astype(float)
    return value, random.integers(-9, 9, (count, cols)).astype(float), random.integers(-1, 20, (count, rows)) * 1.0


@pytest.mark.parametrize("dense", [True, False])
def test_small_programs(dense):
    value, cost, rhs = programs(30)
    pattern = sp.csr_matrix(value[0])
    pattern.sort_indices()
    entries = value if dense else value[:, value[0] != 0]
    batch = gpuopt.SimplexBatch((6, 8) if dense else pattern, 30, shared=gpuopt.SimplexShared.UB)
    batch.load(entries, cost=cost, rhs=rhs, ub=np.full(8, 5.0))
    info = batch.iterate()
    report = batch.get(["outcome", "objective", "x", "farkas"])
    assert info.optimal and info.infeasible and info.optimal + info.infeasible == 30
    for k in range(30):
        expected = linprog(cost[k], A_ub=value[k], b_ub=rhs[k], bounds=(0, 5))
        assert report.outcome[k] == {0: gpuopt.Outcome.OPTIMAL, 2: gpuopt.Outcome.INFEASIBLE}[expected.status]
        if expected.status == 0:
            assert report.objective[k] == pytest.approx(expected.fun, abs=1e-8) == cost[k] @ report.x[k]
        else:
            y = report.farkas[k]
            assert (y >= 0).all() and np.minimum(y @ value[k], 0).sum() * 5 > y @ rhs[k]
    np.testing.assert_array_equal(batch.get(["objective"], first=10, count=3).objective, report.objective[10:13])


def test_small_knapsacks():
    random = np.random.default_rng(0)
    weight = random.integers(1, 30, 12)
    profit, capacity, copies = random.integers(0, 40, (20, 12)), random.integers(40, 90, 20), random.integers(0, 3, 12)
    report = gpuopt.KnapsackBatch(12, 20).run(weight, profit, capacity, copies)
    for k in range(20):
        assert report.outcome[k] == gpuopt.Outcome.OPTIMAL
        assert report.primal_bound[k] == knapsack_optimum(weight, profit[k], capacity[k], copies)
        assert report.copies[k] @ profit[k] == report.primal_bound[k] and report.copies[k] @ weight <= capacity[k]


def test_several_rows():
    random = np.random.default_rng(1)
    weight, profit = random.integers(1, 50, (3, 12)), random.integers(1, 50, 12)
    capacity = weight.sum(1) // 3
    every = np.array(list(itertools.product((0, 1), repeat=12)))
    best = (every @ profit)[np.all(every @ weight.T <= capacity, axis=1)].max()
    search = gpuopt.MultidimensionalKnapsack(weight, profit, capacity, workers=64)
    search.set_incumbent(np.zeros(12, int))
    assert search.run().primal_bound == best == search.get_info().dual_bound
    copies, gain = search.get_items()
    assert gain == best == profit @ copies and np.all(weight @ copies <= capacity)


@pytest.mark.parametrize("at_most_one", [True, False])
def test_classes(at_most_one):
    random = np.random.default_rng(2)
    weight = [random.integers(5, 30, size) for size in (3, 1, 4, 2, 3)]
    profit = [random.integers(-3, 30, len(items)) for items in weight]
    choices = [range(-1 if at_most_one else 0, len(items)) for items in weight]
    found = []
    for chosen in itertools.product(*choices):
        taken = [(weight[c][k], profit[c][k]) for c, k in enumerate(chosen) if k >= 0] or [(0, 0)]
        if np.sum(taken, axis=0)[0] <= 70:
            found.append((np.sum(taken, axis=0)[1], chosen))
    search = gpuopt.MultipleChoiceKnapsack(weight, profit, 70, at_most_one)
    search.set_incumbent(found[0][1])
    best = max(gain for gain, _ in found)
    assert search.run().primal_bound == best
    chosen, gain = search.get_items()
    assert (gain, tuple(chosen)) in found and gain == best


@pytest.mark.parametrize("seed", range(10))
def test_preprocessing_and_cost_shifting(seed):
    domain, functions = random_graph(seed, variables=7)
    every = costs(domain, functions)
    rules = gpuopt.EliminationRule.DEGREE if seed % 2 else 0
    smaller = gpuopt.Preprocessing(domain, functions, rules=rules)
    original, values = smaller.get_values()
    assert len(original) == smaller.get_info().variables == len(values)
    elimination = smaller.elimination()
    assert elimination.eliminate().cost + smaller.get_info().offset == every.min()
    assert every[tuple(smaller.postsolve(elimination.assign()[0]))] == every.min()

    plain = gpuopt.Elimination(domain, functions, policy="mini_bucket", z=2).eliminate().cost
    shifted = gpuopt.CostShifting(domain, functions, 30, z=2)
    info = shifted.get_info()
    assert plain <= info.cost <= every.min()
    assert len(shifted.get_original()) == info.variables
    assert -(-shifted.elimination().eliminate().cost // info.scale) == info.cost
