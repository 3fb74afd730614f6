# SPDX-License-Identifier: MIT
"""Basis inverses against NumPy, elimination against enumeration, knapsacks against dynamic programming."""

import itertools

import gpuopt
import numpy as np
import pytest
import scipy.sparse as sp


@pytest.mark.parametrize("technique", ["deferred", "pfi", "mpfi", "column", "element_modified"])
def test_basis(technique):
    random = np.random.default_rng(0)
    B = random.random((8, 8)) + 4 * np.eye(8)
    basis = gpuopt.Basis(8, technique=technique, context=gpuopt.Context(threads=2))
    basis.load(sp.csc_matrix(B))
    for position in (2, 5, 2):
        column = random.random(8) + 1
        alpha = basis.ftran(column)
        np.testing.assert_allclose(alpha, np.linalg.solve(B, column))
        basis.update(position, None if position == 5 else alpha)
        B[:, position] = column
    np.testing.assert_allclose(basis.get_inverse(), np.linalg.inv(B))
    np.testing.assert_allclose(basis.btran(np.arange(8.0)), np.linalg.solve(B.T, np.arange(8.0)))
    np.testing.assert_allclose(basis.row(3), np.linalg.inv(B)[3])
    out = np.empty(8)
    assert basis.ftran([2.0], rows=[4], out=out) is out
    np.testing.assert_allclose(out, 2 * np.linalg.inv(B)[:, 4])
    assert basis.get_drift(B, exact=True).norm < 1e-12 and basis.get_info().updates == 3
    with pytest.raises(gpuopt.NumericError):
        basis.load(np.ones((8, 8)))
    with pytest.raises(gpuopt.NumericError):
        basis.update(0, np.zeros(8))


def random_graph(seed, real=False, variables=6):
    random = np.random.default_rng(seed)
    domain = random.integers(2, 4, variables)
    functions = []
    for _ in range(8):
        scope = random.choice(variables, random.integers(1, 4), replace=False)
        table = random.integers(0, 20, domain[scope])
        functions.append((scope, table / 4 if real else table))
    return domain, functions


def costs(domain, functions):
    result = np.zeros(domain, functions[0][1].dtype)
    for values in itertools.product(*map(range, domain)):
        result[values] = sum(table[tuple(values[v] for v in scope)] for scope, table in functions)
    return result


@pytest.mark.parametrize("seed", range(10))
def test_elimination(seed):
    domain, functions = random_graph(seed)
    every = costs(domain, functions)
    least = gpuopt.Elimination(domain, functions, semiring="min_count")
    info = least.eliminate()
    assert (info.outcome, info.cost, info.count) == (2, every.min(), (every == every.min()).sum())
    values, assignment = least.assign()
    assert every[tuple(values)] == assignment.cost == every.min()
    greatest = gpuopt.Elimination(domain, functions, semiring="max_sum")
    assert greatest.eliminate().cost == every.max()
    bound = gpuopt.Elimination(domain, functions, policy="mini_bucket", z=2)
    assert bound.eliminate().cost <= every.min()
    order, parent, estimate = gpuopt.Elimination.order(domain, functions)
    assert sorted(order) == list(range(len(domain))) and estimate.policy == gpuopt.EliminationPolicy.EXACT
    assert all(parent[v] == -1 or list(order).index(parent[v]) > list(order).index(v) for v in order)
    assert gpuopt.Elimination.plan(domain, functions).host_bytes > 0


def test_elimination_of_real_numbers_and_messages():
    domain, functions = random_graph(1, real=True)
    every = costs(domain, functions)
    z = gpuopt.Elimination(domain, functions, semiring="log_sum_exp")
    assert z.eliminate().value == pytest.approx(np.logaddexp.reduce(every, axis=None))
    model = gpuopt.Elimination(domain, functions, order=[0, 1, 2])
    model.eliminate()
    rest = [model.message_get(k) for k in range(3)]
    left = [m for m in rest if all(v > 2 for v in m.scope)]
    untouched = [f for f in functions if all(v > 2 for v in f[0])]
    total = np.zeros(domain[3:])
    for values in itertools.product(*map(range, domain[3:])):
        total[values] = sum(t[tuple(values[v - 3] for v in s)] for s, t in [m[:2] for m in left] + untouched)
    np.testing.assert_allclose(total, every.min(axis=(0, 1, 2)))
    given = np.array([0, 0, 0, 1, 1, 1])
    values, assignment = model.assign(given)
    assert assignment.value == pytest.approx(every[:, :, :, 1, 1, 1].min()) and every[tuple(values)] == assignment.value


def test_evidence_bounds_and_tuples():
    domain, functions = random_graph(2)
    every = costs(domain, functions)
    model = gpuopt.Elimination(domain, functions, evidence=[2], batch_size=2)
    model.set_evidence([0], copy=0)
    model.set_evidence([1], copy=1)
    model.eliminate()
    assert [model.get_info(copy).cost for copy in (0, 1)] == [every[:, :, v].min() for v in (0, 1)]
    model = gpuopt.Elimination(domain, functions, order=list(range(6)))
    model.eliminate()
    bounds = model.get_bounds(4, [[0] * 6, [0] * 5 + [1]])
    for last in (0, 1):
        np.testing.assert_array_equal(bounds[last], every[..., last].min(axis=(0, 1, 2, 3)))
    few = gpuopt.Tuples([0, 1], [[0, 1], [1, 0]], [3, gpuopt.FORBIDDEN], default=7)
    assert gpuopt.Elimination([2, 2], [few]).eliminate().cost == 3
    few = gpuopt.Tuples([0, 1], [[0, 1], [1, 0]], [3.5, np.inf], default=7.0)
    assert gpuopt.Elimination([2, 2], [few]).eliminate().value == 3.5


def knapsack_optimum(weight, profit, capacity, copies):
    best = np.zeros(capacity + 1, np.int64)
    for w, p, most in zip(weight, profit, copies):
        for _ in range(most):
            best[w:] = np.maximum(best[w:], best[: capacity + 1 - w] + p)
    return best[capacity]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("search", ["dominance", "breadth"])
def test_knapsack(seed, search):
    random = np.random.default_rng(seed)
    weight, profit = random.integers(5, 60, (2, 25))
    copies = random.integers(1, 4, 25) if search == "dominance" else np.ones(25, int)
    capacity = int(weight @ copies // 2)
    knapsack = gpuopt.Knapsack(weight, profit, capacity, copies, search=search)
    knapsack.expand(levels=3)
    other = gpuopt.Knapsack(weight, profit, capacity, copies, search=search)
    if knapsack.get_info().alive:
        other.unpack(knapsack.pack())
    optimum = knapsack_optimum(weight, profit, capacity, copies)
    for handle in (knapsack, other):
        assert handle.expand().outcome == gpuopt.Outcome.OPTIMAL
        taken, gain, load = handle.get_items()
        assert gain == optimum == profit @ taken and load == weight @ taken <= capacity and np.all(taken <= copies)
    with pytest.raises(gpuopt.ArgumentError):
        knapsack.set_incumbent(optimum + 1, taken)
    with pytest.raises(gpuopt.ArgumentError):
        other.unpack(b"no nodes")


def test_parts_of_a_search():
    random = np.random.default_rng(0)
    weight = random.integers(1000, 2000, 30)
    profit, capacity = weight + 100, int(weight.sum() // 2)
    options = dict(search="breadth", pool=1 << 16)
    whole = gpuopt.Knapsack(weight, profit, capacity, **options)
    whole.expand(levels=8)
    half = gpuopt.Knapsack(weight, profit, capacity, **options)
    half.unpack(whole.split(2))
    third = gpuopt.Knapsack(weight, profit, capacity, **options)
    third.expand(levels=1)
    third.take_share(0, 1)
    found = max(handle.expand().primal_bound for handle in (whole, half))
    assert found == third.expand().primal_bound == knapsack_optimum(weight, profit, capacity, [1] * 30)
