# SPDX-License-Identifier: MIT
"""Linear programs by the simplex method, whole or step by step, and children of a basis."""

from __future__ import annotations

from typing import Any, Iterable, List, Optional, Sequence, Tuple

import numpy as np

from . import _native
from ._arrays import Arrays, Report, matrix, shape_of
from ._generated import (
    SimplexBatchInfo,
    SimplexCandidate,
    SimplexDualEntering,
    SimplexDualLeaving,
    SimplexEntering,
    SimplexInfo,
    SimplexLeaving,
)
from ._native import ffi
from .context import Context, Handle, expect

ALL = 2**62  # iterations


class Simplex(Handle):
    """min cost'x + offset  subject to  lhs <= A x <= rhs,  lb <= x <= ub

    A         [rows][cols], a SciPy sparse matrix or a NumPy array; arrays in Fortran order are taken without a copy
    lhs, rhs  [rows]; None: no such sides
    lb, ub    [cols]; None: 0 and infinity
    cost      [cols]; None: 0

    Variables 0 .. cols - 1 are the columns; variable cols + i is the activity of row i. A number stands for an array
    with that value everywhere. options are members of gpuopt_simplex_desc by name: method="revised",
    algorithm="dual", rules={"pricing": "dantzig"}, tolerances={"primal": 1e-7}, spare={"rows": 10, "nonzeros": 1000}.
    """

    _name = "gpuopt_simplex"

    def __init__(
        self,
        A: Any,
        lhs: Any = None,
        rhs: Any = None,
        lb: Any = None,
        ub: Any = None,
        cost: Any = None,
        *,
        maximize: bool = False,
        offset: float = 0.0,
        context: Optional[Context] = None,
        **options: Any,
    ):
        self.rows, self.cols = shape_of(A)
        arrays = Arrays()
        desc = _native.new("gpuopt_simplex_desc", maximize=maximize, offset=offset)
        if hasattr(A, "tocsr"):
            matrix(A, desc.matrix, arrays)
        else:
            desc.matrix.rows, desc.matrix.cols = self.rows, self.cols
            desc.dense = arrays.read(np.asarray(A).T, np.float64, (self.cols, self.rows), "A")
        desc.cost = arrays.read(cost, np.float64, (self.cols,), "cost")
        desc.lhs = arrays.read(lhs, np.float64, (self.rows,), "lhs")
        desc.rhs = arrays.read(rhs, np.float64, (self.rows,), "rhs")
        desc.lb = arrays.read(lb, np.float64, (self.cols,), "lb")
        desc.ub = arrays.read(ub, np.float64, (self.cols,), "ub")
        arrays.must_be_host()
        _native.fill(desc, options, arrays.keep)
        self._create(context or Context(), desc)

    def iterate(self, iterations: int = ALL) -> SimplexInfo:
        """Does up to `iterations` iterations, fewer if the outcome is known."""
        return self._info("iterate", iterations)

    def get_info(self) -> SimplexInfo:
        """The state of the handle."""
        return self._info("get_info")

    # ---- One iteration by hand ----

    def price(self) -> SimplexEntering:
        """Chooses the variable to enter; variable -1: none, the phase has ended."""
        return self._info("price", struct="gpuopt_simplex_entering")

    def ratio_test(self, entering: int, direction: int) -> SimplexLeaving:
        """Chooses the variable to leave if `entering` moves in `direction` (1 or -1)."""
        return self._info("ratio_test", entering, direction, struct="gpuopt_simplex_leaving")

    def pivot(self, entering: int, leaving: int, to_upper: bool) -> SimplexInfo:
        """Exchanges the two; `leaving` goes to its upper or lower bound."""
        return self._info("pivot", entering, leaving, to_upper)

    def flip(self, variable: int) -> SimplexInfo:
        """Moves a nonbasic variable to its other bound."""
        return self._info("flip", variable)

    def rebuild(self, refactor: bool = False) -> SimplexInfo:
        """Recomputes x, duals and reduced costs; refactor: the inverse, too."""
        return self._info("rebuild", refactor)

    def candidates(self, count: int) -> List[SimplexCandidate]:
        """Up to `count` variables that could enter, best first."""
        found, array = ffi.new("int32_t *"), ffi.new("gpuopt_simplex_candidate[]", max(count, 1))
        self._call("candidates", count, array, found)
        return [_native.record(array[k]) for k in range(found[0])]

    def dual_price(self) -> SimplexDualLeaving:
        """The dual method: chooses the variable to leave; variable -1: none."""
        return self._info("dual_price", struct="gpuopt_simplex_dual_leaving")

    def dual_ratio_test(self, leaving: int) -> SimplexDualEntering:
        """The dual method: chooses the variable to enter for `leaving`."""
        return self._info("dual_ratio_test", leaving, struct="gpuopt_simplex_dual_entering")

    def dual_pivot(self, leaving: int, entering: int) -> SimplexInfo:
        """The dual method: exchanges the two."""
        return self._info("dual_pivot", leaving, entering)

    # ---- The basis, and solving with it ----

    def get_basis(self, out: Any = None) -> Any:
        """status [cols + rows], uint8, a SimplexVariable each."""
        arrays = self._arrays()
        status, array = arrays.write(out, np.uint8, (self.cols + self.rows,))
        self._call("get_basis", arrays.where, status)
        return array

    def set_basis(self, status: Any) -> None:
        """Sets the basis: status [cols + rows], `rows` of them BASIC."""
        arrays = self._arrays()
        pointer = arrays.read(status, np.uint8, (self.cols + self.rows,), "status")
        self._call("set_basis", arrays.where, pointer)

    def verify_basis(self) -> SimplexInfo:
        """The outcome of the basis as it is."""
        return self._info("verify_basis")

    def get_basic_variables(self, out: Any = None) -> Any:
        """head [rows], int32: the basic variable of each position."""
        arrays = self._arrays()
        head, array = arrays.write(out, np.int32, (self.rows,))
        self._call("get_basic_variables", arrays.where, head)
        return array

    def _solve(self, function: str, vectors: Any) -> np.ndarray:
        vectors = np.array(vectors, np.float64, order="C")
        shape = (self.rows,) if vectors.ndim == 1 else (len(vectors), self.rows)
        pointer, _ = Arrays().write(vectors, np.float64, shape, "the vectors")
        self._call(function, 0, 1 if vectors.ndim == 1 else len(vectors), pointer)
        return vectors

    def ftran(self, a: Any) -> np.ndarray:
        """B^-1 a by position; a [rows], or [count][rows] for several."""
        return self._solve("ftran", a)

    def btran(self, c: Any) -> np.ndarray:
        """B^-T c by row; c [rows] by position, or [count][rows] for several."""
        return self._solve("btran", c)

    def get_tableau_rows(self, positions: Any, out: Any = None) -> Any:
        """Rows of B^-1 [A -I]: [count][cols + rows] for the positions [count]."""
        host, arrays = Arrays(), self._arrays()
        position, count = host.list(positions, "positions", 0)
        rows, array = arrays.write(out, np.float64, (count, self.cols + self.rows))
        self._call("get_tableau_rows", arrays.where, count, position, rows)
        return array

    # ---- Changing the model ----

    def set_bounds(self, lb: Any = None, ub: Any = None, cols: Any = None) -> None:
        """Sets lb and ub, [count] each, of these columns; None: of all. A bound that is None stays."""
        self._set("set_bounds", cols, "cols", self.cols, lb=lb, ub=ub)

    def set_sides(self, lhs: Any, rhs: Any, rows: Any = None) -> None:
        """Sets lhs and rhs, [count] each, of these rows; None: of all."""
        self._set("set_sides", rows, "rows", self.rows, lhs=lhs, rhs=rhs)

    def set_costs(self, cost: Any, cols: Any = None) -> None:
        """Sets cost [count] of these columns; None: of all."""
        self._set("set_costs", cols, "cols", self.cols, cost=cost)

    def _set(self, function: str, lines: Any, name: str, all_lines: int, **values: Any) -> None:
        arrays = self._arrays()
        line, count = arrays.list(lines, name, all_lines)
        pointers = [arrays.read(array, np.float64, (count,), key) for key, array in values.items()]
        self._call(function, arrays.where, count, line, *pointers)

    def add_rows(self, A: Any, lhs: Any = None, rhs: Any = None) -> None:
        """Adds rows within the spare ones: A [count][cols], lhs and rhs [count]. They come after the present rows."""
        arrays, rows = Arrays(), ffi.new("gpuopt_matrix *")
        matrix(A, rows, arrays)
        left = arrays.read(lhs, np.float64, (rows.rows,), "lhs")
        self._call("add_rows", rows, left, arrays.read(rhs, np.float64, (rows.rows,), "rhs"))
        self.rows += rows.rows

    def remove_rows(self, rows: Any) -> None:
        """Removes rows [count]; the numbers of later rows move down."""
        row, count = self._list(rows, "rows")
        self._call("remove_rows", count, row[0])
        self.rows -= count

    def add_cols(self, A: Any, cost: Any = None, lb: Any = None, ub: Any = None) -> None:
        """Adds columns within the spare ones: A [rows][count], cost, lb and ub [count]."""
        arrays, cols = Arrays(), ffi.new("gpuopt_matrix *")
        matrix(A, cols, arrays)
        pointers = [
            arrays.read(array, np.float64, (cols.cols,), name)
            for array, name in ((cost, "cost"), (lb, "lb"), (ub, "ub"))
        ]
        self._call("add_cols", cols, *pointers)
        self.cols += cols.cols

    def remove_cols(self, cols: Any) -> None:
        """Removes columns [count]; the numbers of later columns move down."""
        col, count = self._list(cols, "cols")
        self._call("remove_cols", count, col[0])
        self.cols -= count

    @staticmethod
    def _list(lines: Any, name: str) -> Tuple[Any, int]:
        arrays = Arrays()
        pointer, count = arrays.list(lines, name, 0)
        return (pointer, arrays), count

    # ---- Results ----

    def get_solution(self, names: Optional[Iterable[str]] = None, out: Optional[dict] = None) -> Report:
        """The present point: x, reduced_cost [cols], activity, dual [rows], and the low words x_low, dual_low."""
        rows, cols = (self.rows,), (self.cols,)
        shapes = dict(x=cols, reduced_cost=cols, activity=rows, dual=rows, x_low=cols, dual_low=rows)
        return self._get("get_solution", "gpuopt_simplex_solution", shapes, names, out)

    def get_proof(self, names: Iterable[str], out: Optional[dict] = None) -> Report:
        """The proof: ["farkas", "farkas_low"] [rows] after INFEASIBLE, ["ray", "ray_low"] [cols] after UNBOUNDED."""
        rows, cols = (self.rows,), (self.cols,)
        shapes = dict(farkas=rows, farkas_low=rows, ray=cols, ray_low=cols)
        return self._get("get_proof", "gpuopt_simplex_proof", shapes, names, out)

    def _get(self, function: str, name: str, shapes: dict, names: Any, out: Any) -> Report:
        arrays = self._arrays()
        struct, report = arrays.report(name, shapes, names, out)
        self._call(function, arrays.where, struct)
        return report

    def set_cutoff(self, cutoff: float) -> None:
        """The dual method ends with CUTOFF once its bound reaches the cutoff. Infinite: none."""
        self._call("set_cutoff", cutoff)

    def get_bound(self) -> float:
        """A bound that no solution beats, proven for the present basis."""
        bound = ffi.new("double *")
        self._call("get_bound", bound)
        return bound[0]


class Children(Handle):
    """Many linear programs that begin at the basis of one, the root, and differ in some bounds, sides or costs.

    batch_size  the most children of a call, up to 65,536; strong branching uses two for each column
    options     other members of gpuopt_simplex_children_desc: pivots=1000, on_pivot_limit="refactor", with_x=1, and
                roots=100 for set_roots
    """

    _name = "gpuopt_simplex_children"
    _MEMBERS: Tuple[str, ...] = ("outcome", "iterations", "bound", "objective", "certainty")

    def __init__(self, root: Simplex, batch_size: int, **options: Any):
        self.root = expect(root, Simplex, "root")
        desc = _native.new("gpuopt_simplex_children_desc", batch_size=batch_size)
        keep: list = []
        _native.fill(desc, options, keep)
        self._create(root, desc)

    def _report(self, arrays: Arrays, count: int, names: Optional[Iterable[str]]) -> Any:
        rows, cols = self.root.rows, self.root.cols
        shapes: dict = dict.fromkeys(self._MEMBERS, (count,))
        shapes.update(basis=(count, cols + rows), x=(count, cols), farkas=(count, rows), farkas_low=(count, rows))
        return arrays.report("gpuopt_simplex_child_report", shapes, self._MEMBERS if names is None else names, None)

    def set_roots(self, basis: Any, lb: Any = None, ub: Any = None, lhs: Any = None, rhs: Any = None) -> None:
        """Sets the roots that children can name, such as a search's open nodes: basis [count][cols + rows] as of
        get_basis, lb and ub [count][cols], lhs and rhs [count][rows]. None: those of the handle."""
        rows, cols = self.root.rows, self.root.cols
        count = int(np.shape(basis)[0])
        arrays, roots = self._arrays(), _native.new("gpuopt_simplex_root_list", count=count)
        roots.basis = arrays.read(basis, np.uint8, (count, cols + rows), "basis")
        for name, array, lines in (("lb", lb, cols), ("ub", ub, cols), ("lhs", lhs, rows), ("rhs", rhs, rows)):
            setattr(roots, name, arrays.read(array, np.float64, (count, lines), name))
        self._call("set_roots", arrays.where, roots)

    def run(
        self,
        cols: Optional[Sequence[Any]] = None,
        lb: Optional[Sequence[Any]] = None,
        ub: Optional[Sequence[Any]] = None,
        iterations: int = ALL,
        names: Optional[Iterable[str]] = None,
        *,
        rows: Optional[Sequence[Any]] = None,
        lhs: Optional[Sequence[Any]] = None,
        rhs: Optional[Sequence[Any]] = None,
        cost_cols: Optional[Sequence[Any]] = None,
        cost: Optional[Sequence[Any]] = None,
        roots: Any = None,
    ) -> Report:
        """Solves one child for each entry of the lists. cols[k], lb[k] and ub[k] list child k's columns and their
        bounds; rows[k], lhs[k] and rhs[k] its rows and their sides; cost_cols[k] and cost[k] columns and their costs.
        None: those of the root. roots [count] has each child's root of set_roots, or -1; None: all are of the handle.
        Returns outcome, iterations, bound, objective, certainty [count]; or those in names, which may have
        basis [count][cols + rows], x [count][cols], farkas and farkas_low [count][rows]. outcome holds numbers of
        Outcome. bound is valid for every outcome, and infinite for an INFEASIBLE child. objective is the optimum if the
        outcome is OPTIMAL, else that of the point reached, which proves nothing."""
        arrays = Arrays()
        lists = [items for items in (cols, rows, cost_cols, roots) if items is not None]
        count = len(lists[0]) if lists else 0
        if any(len(items) != count for items in lists):
            raise _native.ArgumentError(
                "cols, rows, cost_cols and roots must have as many entries as there are children"
            )
        children = _native.new("gpuopt_simplex_child_list", count=count)
        arrays.lists(children, "start", "col", cols, lb=lb, ub=ub)
        arrays.lists(children, "side_start", "row", rows, lhs=lhs, rhs=rhs)
        arrays.lists(children, "cost_start", "cost_col", cost_cols, cost=cost)
        children.root = arrays.read(roots, np.int32, (count,), "roots")
        struct, report = self._report(arrays, count, names)
        self._call("run", 0, children, iterations, struct)
        return report

    def strong_branch(
        self,
        cols: Any,
        values: Any = None,
        iterations: int = ALL,
        names: Optional[Iterable[str]] = None,
        *,
        roots: Any = None,
    ) -> Report:
        """Branches on each of the columns [count] at its value [count]; None: at the root's present point. Child 2 k
        has ub = floor(value), child 2 k + 1 has lb = floor(value) + 1. roots [count] as in run, then with values.
        Returns as run, two entries for each column."""
        arrays = Arrays()
        col, count = arrays.list(cols, "cols", 0)
        value = arrays.read(values, np.float64, (count,), "values")
        root = arrays.read(roots, np.int32, (count,), "roots")
        struct, report = self._report(arrays, 2 * count, names)
        self._call("strong_branch", 0, count, root, col, value, iterations, struct)
        return report


class SimplexBatch(Handle):
    """Many small linear programs of one shape: up to 512 rows and 8,192 columns, dense or with one sparsity pattern.

    batch_size  the most programs in one load
    A           [rows][cols], a sparse matrix whose pattern all programs have, or a pair (rows, cols): dense
    options     other members of gpuopt_simplex_batch_desc: maximize=1, tolerances={...}, iteration_limit=1000
    """

    _name = "gpuopt_simplex_batch"

    def __init__(self, A: Any, batch_size: int, *, context: Optional[Context] = None, **options: Any):
        arrays = Arrays()
        self.rows, self.cols = A if isinstance(A, tuple) else shape_of(A)
        self._sparse = None if isinstance(A, tuple) else A if A.format in ("csr", "csc") else A.tocsr()
        self.nonzeros = self.rows * self.cols if self._sparse is None else len(self._sparse.indices)
        desc = _native.new("gpuopt_simplex_batch_desc", batch_size=batch_size, rows=self.rows, cols=self.cols)
        if self._sparse is not None:
            target = ffi.new("gpuopt_matrix *")
            matrix(self._sparse, target, arrays)
            desc.start, desc.index, desc.layout = target.start, target.index, target.layout
        _native.fill(desc, options, arrays.keep)
        self._shared = desc.shared
        self._create(context or Context(), desc)

    def load(
        self,
        value: Any,
        cost: Any = None,
        lhs: Any = None,
        rhs: Any = None,
        lb: Any = None,
        ub: Any = None,
        count: Optional[int] = None,
    ) -> None:
        """Replaces the programs. value [count][nonzeros], in the pattern's order (dense: [count][rows][cols]), cost,
        lb, ub [count][cols], lhs, rhs [count][rows]. An array that the option `shared` names, a sum of SimplexShared,
        has no first axis. count: by default that of the first array that is not shared."""
        arrays = self._arrays()
        given = dict(value=value, cost=cost, lhs=lhs, rhs=rhs, lb=lb, ub=ub)
        lines: dict = dict(value=(self.nonzeros,), cost=(self.cols,), lhs=(self.rows,), rhs=(self.rows,))
        if self._sparse is None:
            lines["value"] = (self.rows, self.cols)
        lines.update(lb=(self.cols,), ub=(self.cols,))
        own = [name for bit, name in enumerate(given) if not self._shared >> bit & 1]
        if count is None:
            count = next((np.shape(given[name])[0] for name in own if np.ndim(given[name])), 1)
        programs = _native.new("gpuopt_simplex_programs", count=count)
        for name, array in given.items():
            shape = (count, *lines[name]) if name in own else lines[name]
            setattr(programs, name, arrays.read(array, np.float64, shape, name))
        self._call("load", arrays.where, programs)

    def iterate(self, iterations: int = ALL) -> SimplexBatchInfo:
        """Does up to `iterations` iterations of each program that is not finished."""
        return self._info("iterate", iterations)

    def get_info(self) -> SimplexBatchInfo:
        """The state of the programs."""
        return self._info("get_info")

    def get(
        self,
        names: Iterable[str] = ("outcome", "objective", "x"),
        first: int = 0,
        count: Optional[int] = None,
        out: Optional[dict] = None,
    ) -> Report:
        """Results of the programs from `first` on: outcome, iterations, objective, certainty [count]; x, ray, ray_low
        [count][cols]; dual, farkas, farkas_low [count][rows]; basis [count][cols + rows]."""
        arrays = self._arrays()
        count = self.get_info().count - first if count is None else count
        shapes: dict = dict.fromkeys(("outcome", "iterations", "objective", "certainty"), (count,))
        shapes.update(dict.fromkeys(("x", "ray", "ray_low"), (count, self.cols)))
        shapes.update(dict.fromkeys(("dual", "farkas", "farkas_low"), (count, self.rows)))
        shapes["basis"] = (count, self.cols + self.rows)
        struct, report = arrays.report("gpuopt_simplex_batch_report", shapes, names, out)
        self._call("get", arrays.where, first, count, struct)
        return report
