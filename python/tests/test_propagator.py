# SPDX-License-Identifier: MIT
"""Propagation against brute force over the integer points, and against SciPy's linprog."""

import itertools

import gpuopt
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog


def random_model(seed, rows=4, cols=5, top=3):
    random = np.random.default_rng(seed)
    A = np.where(random.random((rows, cols)) < 0.6, random.integers(-4, 5, (rows, cols)), 0).astype(float)
    middle = A @ random.integers(0, top + 1, cols)
    return A, middle - random.integers(0, 3, rows), middle + random.integers(0, 3, rows)


def points(A, lhs, rhs, top=3):
    every = np.array(list(itertools.product(range(top + 1), repeat=A.shape[1])))
    activity = every @ A.T
    return every[np.all((activity >= lhs) & (activity <= rhs), axis=1)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])
def test_no_point_is_cut_off(seed, form):
    A, lhs, rhs = random_model(seed)
    with gpuopt.Propagator(form(A), lhs, rhs, ub=3, integer=np.ones(5, bool)) as propagator:
        assert propagator.propagate().outcome == gpuopt.Outcome.CONVERGED
        lb, ub = propagator.get_bounds()
    inside = points(A, lhs, rhs)
    assert len(inside) and np.all(inside >= lb) and np.all(inside <= ub)


def test_bounds_are_those_of_the_rows():
    # One row: the bounds are the least and greatest values that linprog finds.
    A, rhs = np.array([[2.0, 3.0, 5.0]]), np.array([11.0])
    propagator = gpuopt.Propagator(A, rhs=rhs, lb=[0, 1, 0], ub=[9, 9, 9])
    propagator.propagate()
    for column, (low, high) in enumerate(zip(*propagator.get_bounds())):
        for sign, bound in ((1, low), (-1, high)):
            cost = sign * np.eye(3)[column]
            found = linprog(cost, A_ub=A, b_ub=rhs, bounds=[(0, 9), (1, 9), (0, 9)])
            assert sign * found.fun == pytest.approx(bound)


@pytest.mark.parametrize("seed", range(10))
def test_trail(seed):
    A, lhs, rhs = random_model(seed)
    propagator = gpuopt.Propagator(A, lhs, rhs, ub=3, integer=1, trail_capacity=1000)
    propagator.propagate()
    before = propagator.get_bounds()
    inside = points(A, lhs, rhs)
    for value in range(4):
        with propagator.level() as start:
            propagator.set_bounds([value], [value], [0])
            infeasible = propagator.propagate().outcome == gpuopt.Outcome.INFEASIBLE
            here = inside[inside[:, 0] == value]
            lb, ub = propagator.get_bounds()
            assert not (infeasible and len(here)) and np.all(here >= lb) and np.all(here <= ub)
            changes = propagator.get_changes(start)
            for position, row in enumerate(changes.row, start):
                reason = propagator.explain(position)
                assert reason.row == row and np.all(reason.premises < position)
        assert propagator.get_trail().levels == 0
        np.testing.assert_array_equal(propagator.get_bounds(), before)


def test_batch_is_as_single_nodes():
    A, lhs, rhs = random_model(3)
    base = gpuopt.Propagator(A, lhs, rhs, ub=3, integer=1, trail_capacity=1000)
    base.propagate()
    cols = [[0], [1, 2], [], [4]]
    lb, ub = [[1], [1, 0], [], [2]], [[1], [2, 1], [], [3]]
    batch = gpuopt.NodeBatch(base, nodes=8)
    report = batch.run(cols, lb, ub)
    lower, upper = batch.get_bounds()
    changes = batch.get_changes()
    for node in range(4):
        with base.level():
            if cols[node]:
                base.set_bounds(lb[node], ub[node], cols[node])
            assert report.outcome[node] == base.propagate().outcome
            if report.outcome[node] == gpuopt.Outcome.CONVERGED:
                np.testing.assert_array_equal((lower[node], upper[node]), base.get_bounds())
        part = slice(changes.start[node], changes.start[node + 1])
        np.testing.assert_array_equal(changes.lb[part], lower[node][changes.col[part]])


@pytest.mark.parametrize("seed", range(10))
def test_probing(seed):
    A, lhs, rhs = random_model(seed, cols=7, top=1)
    base = gpuopt.Propagator(A, lhs, rhs, ub=1, integer=1)
    base.propagate()
    inside = points(A, lhs, rhs, top=1)
    probe = gpuopt.Probe(base, implications=100, equivalences=100)
    info = probe.run()
    assert info.outcome == gpuopt.Outcome.CONVERGED
    bounds = probe.get_bounds()
    assert info.bounds == len(bounds.col)
    assert np.all(inside[:, bounds.col] >= bounds.lb) and np.all(inside[:, bounds.col] <= bounds.ub)
    found = probe.get_implications()
    for number, outcome in enumerate(found.outcome):
        here = inside[inside[:, found.binary[number // 2]] == number % 2]
        part = slice(found.start[number], found.start[number + 1])
        assert not (outcome == gpuopt.Outcome.INFEASIBLE and len(here))
        assert np.all(here[:, found.col[part]] >= found.lb[part])
        assert np.all(here[:, found.col[part]] <= found.ub[part])
    pairs = probe.get_equivalences()
    for col, other, opposite in zip(pairs.col, pairs.other, pairs.opposite):
        assert np.all(inside[:, other] == (1 - inside[:, col] if opposite else inside[:, col]))


def test_added_rows_clones_and_rows():
    propagator = gpuopt.Propagator(np.ones((1, 3)), rhs=6, integer=1, spare={"rows": 2, "nonzeros": 9})
    propagator.propagate()
    clone = propagator.clone(gpuopt.Context())
    row = propagator.add_rows(sp.csr_array([[1.0, 1.0, 0.0]]), rhs=[2])
    propagator.propagate()
    np.testing.assert_array_equal(propagator.get_bounds()[1], [2, 2, 6])
    np.testing.assert_array_equal(clone.get_bounds()[1], [6, 6, 6])
    np.testing.assert_array_equal(propagator.get_rows(["max_activity"]).max_activity[:2], [10, 4])
    propagator.remove_rows(row)
    propagator.set_sides(-np.inf, 5)
    propagator.propagate()
    np.testing.assert_array_equal(propagator.get_bounds([2])[1], [5])
    with pytest.raises(gpuopt.ArgumentError):
        propagator.remove_rows(row)
