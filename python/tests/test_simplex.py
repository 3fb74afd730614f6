# SPDX-License-Identifier: MIT
"""Linear programs against SciPy's linprog (HiGHS), and a branch and bound by children against milp."""

import gpuopt
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

OUTCOMES = {0: gpuopt.Outcome.OPTIMAL, 2: gpuopt.Outcome.INFEASIBLE, 3: gpuopt.Outcome.UNBOUNDED}


def random_program(seed, rows=12, cols=20):
    random = np.random.default_rng(seed)
    A = np.where(random.random((rows, cols)) < 0.4, random.integers(-5, 10, (rows, cols)), 0).astype(float)
    point = random.integers(0, 5, cols)
    rhs = A @ point + random.integers(0, 4, rows)
    return A, rhs, random.integers(-9, 10, cols).astype(float)


def highs(A, rhs, cost, ub=None):
    return linprog(cost, A_ub=A, b_ub=rhs, bounds=[(0, ub)] * len(cost))


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_array])
@pytest.mark.parametrize("options", [{"method": "tableau"}, {"method": "revised", "algorithm": "dual"}])
def test_optimum(seed, form, options):
    A, rhs, cost = random_program(seed)
    expected = highs(A, rhs, cost, 10)
    with gpuopt.Simplex(form(A), rhs=rhs, ub=10, cost=cost, **options) as simplex:
        info = simplex.iterate()
        assert info.outcome == gpuopt.Outcome.OPTIMAL
        assert info.objective == pytest.approx(expected.fun, abs=1e-7)
        point = simplex.get_solution()
    assert cost @ point.x == pytest.approx(expected.fun, abs=1e-7)
    assert np.all(A @ point.x <= rhs + 1e-8) and np.all(point.x >= -1e-8) and np.all(point.x <= 10 + 1e-8)
    np.testing.assert_allclose(cost - A.T @ point.dual, point.reduced_cost, atol=1e-8)


def test_outcomes():
    seen = set()
    for seed in range(40):
        random = np.random.default_rng(seed)
        A, rhs, cost = random_program(seed, 6, 5)
        rhs = rhs - random.integers(0, 30, len(rhs))
        simplex = gpuopt.Simplex(A, rhs=rhs, cost=cost)
        outcome = simplex.iterate().outcome
        assert outcome == OUTCOMES[highs(A, rhs, cost).status]
        seen.add(outcome)
        if outcome == gpuopt.Outcome.INFEASIBLE:  # A x <= rhs gives y'A x <= y'rhs, but y'A x >= 0 > y'rhs
            y = simplex.get_proof(["farkas"]).farkas
            assert (y >= 0).all() and (y @ A >= -1e-7).all() and y @ rhs < 0
        if outcome == gpuopt.Outcome.UNBOUNDED:
            ray = simplex.get_proof(["ray"]).ray
            assert cost @ ray < 0 and (A @ ray <= 1e-7).all() and (ray >= 0).all()
    assert seen == set(OUTCOMES.values())


def test_iterations_by_hand():
    A, rhs, cost = random_program(1)
    simplex = gpuopt.Simplex(A, rhs=rhs, ub=10, cost=cost, algorithm="primal")
    for _ in range(1000):
        entering = simplex.price()
        if entering.variable < 0:
            break
        assert simplex.candidates(3)[0].variable == entering.variable
        leaving = simplex.ratio_test(entering.variable, entering.direction)
        if leaving.flip:
            simplex.flip(entering.variable)
        else:
            simplex.pivot(entering.variable, leaving.variable, leaving.to_upper)
    assert simplex.iterate().objective == pytest.approx(highs(A, rhs, cost, 10).fun)


def test_dual_iterations_by_hand():
    A, rhs, cost = random_program(2)
    simplex = gpuopt.Simplex(A, rhs=rhs, ub=10, cost=cost, algorithm="dual")
    pivots = 0
    for _ in range(1000):
        leaving = simplex.dual_price()
        if leaving.variable < 0:
            break
        simplex.dual_pivot(leaving.variable, simplex.dual_ratio_test(leaving.variable).variable)
        pivots += 1
    assert pivots and simplex.iterate().objective == pytest.approx(highs(A, rhs, cost, 10).fun)


@pytest.mark.parametrize("method", ["tableau", "revised"])
def test_tableau_rows(method):
    A, rhs, cost = random_program(3)
    simplex = gpuopt.Simplex(A, rhs=rhs, ub=10, cost=cost, method=method)
    simplex.iterate()
    every = np.hstack([A, -np.eye(len(A))])
    B = every[:, simplex.get_basic_variables()]
    np.testing.assert_allclose(simplex.get_tableau_rows(np.arange(len(A))), np.linalg.solve(B, every), atol=1e-8)
    vectors = np.arange(2.0 * len(A)).reshape(2, -1)
    np.testing.assert_allclose(simplex.ftran(vectors), np.linalg.solve(B, vectors.T).T, atol=1e-8)
    np.testing.assert_allclose(simplex.btran(vectors[1]), np.linalg.solve(B.T, vectors[1]), atol=1e-8)
    basis = simplex.get_basis()
    other = gpuopt.Simplex(A, rhs=rhs, ub=10, cost=cost, method=method)
    other.set_basis(basis)
    assert other.verify_basis().outcome == gpuopt.Outcome.OPTIMAL and other.get_info().iterations == 0


def test_changes_of_the_model():
    A, rhs, cost = random_program(4)
    simplex = gpuopt.Simplex(
        sp.csr_matrix(A[:8, :15]), rhs=rhs[:8], ub=10, cost=cost[:15], spare={"rows": 4, "cols": 5, "nonzeros": 400}
    )
    simplex.iterate()
    simplex.add_rows(sp.csr_matrix(A[8:, :15]), rhs=rhs[8:])
    simplex.add_cols(A[:, 15:], cost=cost[15:], ub=10)
    assert (simplex.rows, simplex.cols) == A.shape
    assert simplex.iterate().objective == pytest.approx(highs(A, rhs, cost, 10).fun)
    simplex.set_costs(-cost)
    simplex.set_sides(-np.inf, rhs + 1)
    simplex.set_bounds(ub=7)
    expected = highs(A, rhs + 1, -cost, 7).fun
    assert simplex.iterate().objective == pytest.approx(expected)
    assert simplex.get_bound() == pytest.approx(expected, rel=1e-6) and simplex.get_bound() <= expected + 1e-9
    simplex.remove_rows([0, 3])
    simplex.remove_cols([1])
    kept = np.delete(np.delete(A, [0, 3], 0), 1, 1)
    expected = highs(kept, np.delete(rhs + 1, [0, 3]), -np.delete(cost, 1), 7).fun
    assert simplex.iterate().objective == pytest.approx(expected)


def test_strong_branching():
    A, rhs, cost = random_program(5)
    root = gpuopt.Simplex(A, rhs=rhs, ub=10, cost=cost)
    root.iterate()
    x = root.get_solution(["x"]).x
    cols = np.flatnonzero(np.abs(x - np.round(x)) > 1e-6)
    assert len(cols)
    children = gpuopt.Children(root, 2 * len(x))
    report = children.strong_branch(cols, x[cols])
    lists = [[col] for col in cols for _ in range(2)]
    lb = [[value] for col in cols for value in (0, np.floor(x[col]) + 1)]
    ub = [[value] for col in cols for value in (np.floor(x[col]), 10)]
    again = children.run(lists, lb, ub, names=["objective", "outcome", "x"])
    for k, (col, low, high) in enumerate(zip(np.repeat(cols, 2), lb, ub)):
        bounds = [(0, 10)] * len(x)
        bounds[col] = (low[0], high[0])
        expected = linprog(cost, A_ub=A, b_ub=rhs, bounds=bounds)
        assert report.outcome[k] == again.outcome[k] == OUTCOMES[expected.status]
        if expected.status == 0:
            assert report.objective[k] == pytest.approx(expected.fun) == again.objective[k]
            assert cost @ again.x[k] == pytest.approx(expected.fun)
            assert report.bound[k] <= expected.fun + 1e-7


@pytest.mark.parametrize("seed", range(5))
def test_branch_and_bound(seed):
    A, rhs, cost = random_program(seed, 6, 8)
    root = gpuopt.Simplex(sp.csc_matrix(A), rhs=rhs, ub=5, cost=cost)
    best, stack = np.inf, [(np.zeros(8), np.full(8, 5.0))]
    while stack:
        lb, ub = stack.pop()
        root.set_bounds(lb, ub)
        info = root.iterate()
        if info.outcome != gpuopt.Outcome.OPTIMAL or info.objective > best - 1e-6:
            continue
        x = root.get_solution(["x"]).x
        col = int(np.argmax(np.abs(x - np.round(x))))
        if abs(x[col] - round(x[col])) < 1e-6:
            best = info.objective
            continue
        down, up = ub.copy(), lb.copy()
        down[col], up[col] = np.floor(x[col]), np.floor(x[col]) + 1
        stack += [(lb, down), (up, ub)]
    expected = milp(cost, constraints=LinearConstraint(A, ub=rhs), bounds=Bounds(0, 5), integrality=np.ones(8))
    assert best == pytest.approx(expected.fun)
