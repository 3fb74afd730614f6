# SPDX-License-Identifier: MIT
"""Bound propagation, with a trail, batches of nodes and probing for tree search."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterable, Iterator, Optional, Sequence, Tuple

import numpy as np

from . import _native
from ._arrays import Arrays, Report, listing, matrix, shape_of
from ._generated import PropagatorInfo, PropagatorProbeInfo, PropagatorTrail
from ._native import StateError, ffi, lib
from .context import Context, Handle, expect

ALL = 2**31 - 1  # rounds


class Propagator(Handle):
    """A model  lhs <= A x <= rhs,  lb <= x <= ub  whose bounds are tightened round by round.

    A         [rows][cols], a SciPy sparse matrix or a NumPy array
    lhs, rhs  [rows]; None: no such sides
    lb, ub    [cols]; None: 0 and infinity
    integer   [cols], true: integer; None: all continuous

    A number stands for an array with that value everywhere. options are members of gpuopt_propagator_desc by name:
    mode="gauss_seidel", round_limit=100, tolerances={"feasibility": 1e-7}, trail_capacity=10**6 for push and pop,
    spare={"rows": 10, "nonzeros": 1000} for add_rows.
    """

    _name = "gpuopt_propagator"

    def __init__(
        self,
        A: Any,
        lhs: Any = None,
        rhs: Any = None,
        lb: Any = None,
        ub: Any = None,
        integer: Any = None,
        *,
        context: Optional[Context] = None,
        **options: Any,
    ):
        self.rows, self.cols = shape_of(A)
        arrays, desc = Arrays(), _native.new("gpuopt_propagator_desc")
        matrix(A, desc.matrix, arrays)
        desc.lhs = arrays.read(lhs, np.float64, (self.rows,), "lhs")
        desc.rhs = arrays.read(rhs, np.float64, (self.rows,), "rhs")
        desc.lb = arrays.read(lb, np.float64, (self.cols,), "lb")
        desc.ub = arrays.read(ub, np.float64, (self.cols,), "ub")
        desc.integer = arrays.read(integer, np.uint8, (self.cols,), "integer")
        arrays.must_be_host()
        _native.fill(desc, options, arrays.keep)
        self._all_rows = self.rows + (desc.spare.rows if desc.spare else 0)
        self._create(context or Context(), desc)

    def round(self, rounds: int = 1) -> PropagatorInfo:
        """Does up to `rounds` rounds; ends earlier at a fixpoint or when the model is infeasible."""
        return self._info("round", rounds)

    def propagate(self) -> PropagatorInfo:
        """Rounds until a fixpoint, infeasibility, or a limit."""
        return self.round(ALL)

    def get_info(self) -> PropagatorInfo:
        """What the last round found."""
        return self._info("get_info")

    def get_bounds(self, cols: Any = None, out: Optional[Tuple[Any, Any]] = None) -> Tuple[Any, Any]:
        """(lb, ub), [count] each, of these columns; None: of all."""
        arrays = self._arrays()
        col, count = arrays.list(cols, "cols", self.cols)
        lb, lb_array = arrays.write(out and out[0], np.float64, (count,), "lb")
        ub, ub_array = arrays.write(out and out[1], np.float64, (count,), "ub")
        self._call("get_bounds", arrays.where, count, col, lb, ub)
        return lb_array, ub_array

    def set_bounds(self, lb: Any = None, ub: Any = None, cols: Any = None) -> None:
        """Sets lb and ub, [count] each, of these columns; None: of all. A bound that is None stays."""
        arrays = self._arrays()
        col, count = arrays.list(cols, "cols", self.cols)
        lower = arrays.read(lb, np.float64, (count,), "lb")
        upper = arrays.read(ub, np.float64, (count,), "ub")
        self._call("set_bounds", arrays.where, count, col, lower, upper)

    def set_sides(self, lhs: Any, rhs: Any, rows: Any = None) -> None:
        """Sets lhs and rhs, [count] each, of these rows; None: of all of the model's."""
        arrays = self._arrays()
        row, count = arrays.list(np.arange(self.rows) if rows is None else rows, "rows", self.rows)
        left = arrays.read(lhs, np.float64, (count,), "lhs")
        right = arrays.read(rhs, np.float64, (count,), "rhs")
        self._call("set_sides", arrays.where, count, row, left, right)

    def get_rows(self, names: Optional[Iterable[str]] = None, out: Optional[dict] = None) -> Report:
        """Activities and status of the rows at the current bounds: min_activity, max_activity, min_infinite,
        max_infinite, status [rows + spare rows]."""
        arrays, shape = self._arrays(), (self._all_rows,)
        shapes = dict.fromkeys(("min_activity", "max_activity", "min_infinite", "max_infinite", "status"), shape)
        struct, report = arrays.report("gpuopt_propagator_row_report", shapes, names, out)
        self._call("get_rows", arrays.where, struct)
        return report

    def device_view(self) -> "DeviceView":
        """The GPU's array of bounds [cols][2], valid until the next call. It has __cuda_array_interface__."""
        return DeviceView(self._device_view("device_view"), (self.cols, 2), self)

    def _device_view(self, function: str, *arguments: Any) -> Any:
        view = _native.new("gpuopt_device_view")
        self._call(function, *arguments, view)
        return view

    # ---- Tree search: a trail (trail_capacity) ----

    def push(self) -> int:
        """Opens a level; returns the trail's position at which it starts."""
        start = ffi.new("int64_t *")
        self._call("push", start)
        return start[0]

    def pop(self, levels: int = 1) -> None:
        """Undoes the changes of the latest levels."""
        self._call("pop", levels)

    @contextmanager
    def level(self) -> Iterator[int]:
        """push(), and pop() of this level, and of those opened in it, at the end of `with`."""
        levels = self.get_trail().levels
        start = self.push()
        try:
            yield start
        finally:
            if self._owner is not None:
                self.pop(self.get_trail().levels - levels)

    def commit(self) -> None:
        """Empties the trail and keeps the bounds."""
        self._call("commit")

    def get_trail(self) -> PropagatorTrail:
        """The size of the trail."""
        return self._info("get_trail", struct="gpuopt_propagator_trail")

    def get_changes(self, start: int = 0) -> Report:
        """The trail from this position on: col, upper, old_bound, new_bound, row [changes]. row -1: the caller's."""
        return listing(
            lambda struct: self._call("get_changes", 0, start, struct),
            _native.new("gpuopt_propagator_changes"),
            ("col", "upper", "old_bound", "new_bound", "row"),
        )

    def explain(self, change: int = -1) -> Report:
        """Why the bound at this position of the trail changed; -1: why the model is infeasible. row, col, and
        premises [count], positions of changes."""
        reason = _native.new("gpuopt_propagator_reason")
        report = listing(lambda struct: self._call("explain", change, struct), reason, ("premises",))
        report.row, report.col = reason.row, reason.col
        return report

    def add_rows(self, A: Any, lhs: Any = None, rhs: Any = None) -> np.ndarray:
        """Adds rows within the spare ones; A [count][cols], lhs and rhs [count]. Returns their numbers [count]."""
        arrays, rows = Arrays(), ffi.new("gpuopt_matrix *")
        matrix(A, rows, arrays)
        left = arrays.read(lhs, np.float64, (rows.rows,), "lhs")
        right = arrays.read(rhs, np.float64, (rows.rows,), "rhs")
        arrays.must_be_host()
        number, array = arrays.write(None, np.int32, (rows.rows,))
        self._call("add_rows", rows, left, right, number)
        return array

    def remove_rows(self, rows: Any) -> None:
        """Removes added rows [count]."""
        arrays = Arrays()
        row, count = arrays.list(rows, "rows", 0)
        self._call("remove_rows", count, row)

    def clone(self, context: Optional[Context] = None) -> "Propagator":
        """Another state of the same model, for example in a context of another thread. It begins with these bounds."""
        clone = Propagator.__new__(Propagator)
        clone.rows, clone.cols, clone._all_rows = self.rows, self.cols, self._all_rows
        context = context or self.context
        create, arguments = lib.gpuopt_propagator_clone, (self, context._pointer())
        if context is self.context:
            clone._create(*arguments, create=create)
        elif self.context._lock.acquire(False):
            try:
                clone._create(*arguments, create=create, context=context)
            finally:
                self.context._lock.release()
        else:
            raise StateError("the propagator's context is in use by another thread")
        return clone


class DeviceView:
    """A handle's array in device memory, for cupy, torch, numba and others: __cuda_array_interface__, version 3."""

    _TYPES = ("<f8", "<f4", "|u1", "<u2", "<u4", "<u8")

    def __init__(self, view: Any, shape: Tuple[int, ...], handle: Handle):
        self.handle = handle
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": self._TYPES[view.type],
            "data": (int(ffi.cast("uintptr_t", view.data)), True),
            "version": 3,
            "stream": handle.context.stream,
        }


class NodeBatch(Handle):
    """Many nodes of one base, propagated in one call. A node is a list of bounds that differ from the base's.

    nodes         the most in one call, up to 65,536
    node_columns  the most columns that a node may change; 0: any number
    options       other members of gpuopt_propagator_batch_desc
    """

    _name = "gpuopt_propagator_batch"

    def __init__(self, base: Propagator, nodes: int, node_columns: int = 0, **options: Any):
        self.base, self.nodes, self._count = expect(base, Propagator, "base"), nodes, 0
        desc = _native.new("gpuopt_propagator_batch_desc", nodes=nodes, node_columns=node_columns)
        keep: list = []
        _native.fill(desc, options, keep)
        self._create(base, desc)

    def run(
        self,
        cols: Sequence[Any],
        lb: Optional[Sequence[Any]] = None,
        ub: Optional[Sequence[Any]] = None,
        rounds: int = ALL,
        names: Optional[Iterable[str]] = None,
    ) -> Report:
        """Propagates len(cols) nodes. cols[k], lb[k] and ub[k] list node k's columns and their bounds; None: those of
        the base. Returns outcome, rounds, infeasible_row, infeasible_col, changed, columns, nonzeros [nodes]."""
        arrays, count = Arrays(), len(cols)
        nodes = _native.new("gpuopt_propagator_nodes", count=count)
        arrays.lists(nodes, "start", "col", cols, lb=lb, ub=ub)
        members = ("outcome", "rounds", "infeasible_row", "infeasible_col", "changed", "columns", "nonzeros")
        struct, report = arrays.report("gpuopt_propagator_node_report", dict.fromkeys(members, (count,)), names, None)
        self._call("run", 0, nodes, rounds, struct)
        self._count = count
        return report

    def get_changes(self) -> Report:
        """The columns that changed: those of node k are entries start[k] to start[k + 1] - 1 of col, lb and ub."""
        arrays = Arrays()
        changes = _native.new("gpuopt_propagator_node_changes")
        changes.start, start = arrays.write(None, np.int64, (self._count + 1,))
        report = listing(lambda struct: self._call("get_changes", 0, struct), changes, ("col", "lb", "ub"))
        report.start = start
        return report

    def get_bounds(self, nodes: Any = None) -> Tuple[np.ndarray, np.ndarray]:
        """(lb, ub) [count][cols] of these nodes of the latest run; None: of all."""
        arrays = Arrays()
        node, count = arrays.list(nodes, "nodes", self._count)
        lb, lower = arrays.write(None, np.float64, (count, self.base.cols))
        ub, upper = arrays.write(None, np.float64, (count, self.base.cols))
        self._call("get_bounds", 0, count, node, lb, ub)
        return lower, upper


class Probe(Handle):
    """Propagates binaries at 0 and at 1, and compares the two results.

    implications, equivalences  the most that are kept; 0: they are only counted
    options                     other members of gpuopt_propagator_probe_desc
    """

    _name = "gpuopt_propagator_probe"

    def __init__(self, base: Propagator, implications: int = 0, equivalences: int = 0, **options: Any):
        self.base, self._probed = expect(base, Propagator, "base"), 0
        desc = _native.new("gpuopt_propagator_probe_desc", implications=implications, equivalences=equivalences)
        keep: list = []
        _native.fill(desc, options, keep)
        self._create(base, desc)

    def run(self, cols: Any = None, rounds: int = ALL) -> PropagatorProbeInfo:
        """Probes the binaries among these columns, in this order; None: all. The base does not change."""
        arrays = Arrays()
        col, count = arrays.list(cols, "cols", 0)
        info = self._info("run", count, col, rounds)
        self._probed = info.probed
        return info

    def get_bounds(self) -> Report:
        """Bounds that hold in every solution: col, lb, ub [count]. Pass them to the base's set_bounds."""
        return listing(
            lambda struct: self._call("get_bounds", struct),
            _native.new("gpuopt_propagator_probe_bounds"),
            ("col", "lb", "ub"),
        )

    def get_implications(self) -> Report:
        """Probe 2 k sets binary[k] to 0, and probe 2 k + 1 to 1. outcome [2 probed] of each; it implies entries
        start[p] to start[p + 1] - 1 of col, lb, ub."""
        arrays = Arrays()
        struct = _native.new("gpuopt_propagator_probe_implications")
        struct.binary, binary = arrays.write(None, np.int32, (self._probed,))
        struct.outcome, outcome = arrays.write(None, np.int32, (2 * self._probed,))
        struct.start, start = arrays.write(None, np.int64, (2 * self._probed + 1,))
        report = listing(lambda part: self._call("get_implications", part), struct, ("col", "lb", "ub"))
        report.binary, report.outcome, report.start = binary, outcome, start
        return report

    def get_equivalences(self) -> Report:
        """Pairs of binaries with other = col, or with opposite = 1: other = 1 - col; col, other, opposite [count]."""
        return listing(
            lambda struct: self._call("get_equivalences", struct),
            _native.new("gpuopt_propagator_probe_equivalences"),
            ("col", "other", "opposite"),
        )
