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


def solve(A, rhs, cost, bounds):
    """The optimum by HiGHS, or NaN if there is none."""
    expected = linprog(cost, A_ub=A, b_ub=rhs, bounds=bounds)
    return expected.fun if expected.status == 0 else np.nan


def test_children_of_sides_and_costs():
    A, rhs, cost = random_program(6)
    rows, cols = A.shape
    root = gpuopt.Simplex(A, rhs=rhs, ub=10, cost=cost)
    optimum = root.iterate().objective
    children = gpuopt.Children(root, 3 * rows)
    # Child k has row k's side lowered; then column k's cost changed; then both, and a bound.
    side = [[side - 2] for side in rhs]
    report = children.run(rows=[[k] for k in range(rows)], rhs=side, lhs=[[-np.inf]] * rows)
    costs = [[-cost[k], 1.5] for k in range(rows)]
    lists = [[k, cols - 1] for k in range(rows)]
    priced = children.run(cost_cols=lists, cost=costs)
    both = children.run(
        [[k] for k in range(rows)], None, [[3]] * rows, rows=[[k] for k in range(rows)], lhs=[[-np.inf]] * rows,
        rhs=side, cost_cols=lists, cost=costs, names=["objective", "x"],
    )  # fmt: skip
    moved = 0
    for k in range(rows):
        other_rhs, other_cost, bounds = rhs.copy(), cost.copy(), [(0, 10)] * cols
        other_rhs[k] -= 2
        other_cost[lists[k]] = costs[k]
        assert report.objective[k] == pytest.approx(solve(A, other_rhs, cost, bounds), nan_ok=True)
        assert priced.objective[k] == pytest.approx(solve(A, rhs, other_cost, bounds), nan_ok=True)
        moved += not np.isclose(report.objective[k], optimum)
        bounds[k] = (0, 3)
        assert both.objective[k] == pytest.approx(solve(A, other_rhs, other_cost, bounds), nan_ok=True)
        if not np.isnan(both.objective[k]):
            assert np.all(A @ both.x[k] <= other_rhs + 1e-7) and both.x[k, k] <= 3 + 1e-9
    assert moved
    assert len(children.run().outcome) == 0
    for message, arguments in {
        "rhs was given without row": dict(rhs=side),
        "as many entries as row": dict(rows=[[0], [1, 2]], rhs=[[1, 2], [3]]),
        "as many entries as there are children": dict(cols=[[0]], ub=[[1]], rows=[[0], [1]], rhs=[[1], [1]]),
    }.items():
        with pytest.raises(gpuopt.ArgumentError, match=message):
            children.run(**arguments)


def test_children_of_several_roots():
    A, rhs, cost = random_program(7)
    rows, cols = A.shape
    root = gpuopt.Simplex(A, rhs=rhs, ub=10, cost=cost)
    children = gpuopt.Children(root, 4 * cols, roots=3)
    lb, ub = np.zeros((3, cols)), np.full((3, cols), 10.0)
    bases, points = [], []
    for k in range(3):  # open nodes: bounds of their own, and the basis of their relaxation
        ub[k, k] = 2
        root.set_bounds(lb[k], ub[k])
        assert root.iterate().outcome == gpuopt.Outcome.OPTIMAL
        bases.append(root.get_basis())
        points.append(root.get_solution(["x"]).x)
    with pytest.raises(gpuopt.StateError):
        children.run(cols=[[0]], ub=[[1]], roots=[0])
    sides = np.array([rhs, rhs + 1, rhs])
    children.set_roots(bases, lb, ub, np.full((3, rows), -np.inf), sides)
    pairs = [(k, col) for k in range(3) for col in np.flatnonzero(np.abs(points[k] - np.round(points[k])) > 1e-6)]
    named, branched = zip(*pairs)
    assert len(set(named)) > 1
    report = children.strong_branch(branched, [points[k][col] for k, col in pairs], roots=named)
    for entry, (k, col) in enumerate(pairs):
        for side in range(2):
            bounds = np.column_stack([lb[k], ub[k]])
            bounds[col, 1 - side] = np.floor(points[k][col]) + side
            expected = solve(A, sides[k], cost, bounds)
            assert report.objective[2 * entry + side] == pytest.approx(expected, nan_ok=True) or (
                np.isnan(expected) and report.outcome[2 * entry + side] == gpuopt.Outcome.INFEASIBLE
            )
    root.set_bounds(0, 10)
    again = children.run(roots=[2, -1, 0])
    for objective, k in zip(again.objective, (2, -1, 0)):
        bounds = [(0, 10)] * cols if k < 0 else np.column_stack([lb[k], ub[k]])
        assert objective == pytest.approx(solve(A, rhs if k < 0 else sides[k], cost, bounds))
    with pytest.raises(gpuopt.ArgumentError):
        children.run(roots=[3])


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


def test_one_name_of_an_array():
    simplex = gpuopt.Simplex(np.eye(2), rhs=1, cost=-1)
    simplex.iterate()
    assert vars(simplex.get_solution("dual")).keys() == {"dual"}


def test_an_infeasible_child_has_an_infinite_bound():
    for maximize, worst in (False, np.inf), (True, -np.inf):
        root = gpuopt.Simplex([[1.0, 1.0]], lhs=1.5, ub=1, cost=1, maximize=maximize)
        root.iterate()
        report = gpuopt.Children(root, 2).run([[0, 1], [0]], [[0, 0], [0]], [[0, 0], [0.5]])
        assert list(report.outcome) == [gpuopt.Outcome.INFEASIBLE, gpuopt.Outcome.OPTIMAL]
        assert report.bound[0] == worst and np.isfinite(report.bound[1])


def test_a_report_prints_long_arrays_in_part():
    simplex = gpuopt.Simplex(np.ones((2, 5000)), rhs=1, cost=-1)
    simplex.iterate()
    text = repr(simplex.get_solution())
    assert len(text) < 2000
    assert "reduced_cost=float64 [5000] [" in text and " ..., " in text
    assert "activity=float64 [2] [1., 1.]" in text and "..." not in text.split("activity=")[1].split("dual=")[0]
