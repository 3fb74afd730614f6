# SPDX-License-Identifier: MIT
"""Graphical models: bucket and mini-bucket elimination."""

from __future__ import annotations

from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _native
from ._arrays import Arrays
from ._generated import (
    EliminationAssignment,
    EliminationCostShiftingInfo,
    EliminationEstimate,
    EliminationInfo,
    EliminationMessageInfo,
    EliminationPreprocessingInfo,
    EliminationSemiring,
)
from ._native import ArgumentError, ffi, lib
from .context import Context, Handle

FORBIDDEN = 2**63 - 1  # an integer cost; with MAX_SUM its counterpart -2**63


class Tuples(NamedTuple):
    """A function given by a list of tuples [count][arity] with their costs [count], and a cost for all others."""

    scope: Sequence[int]
    tuples: Any
    cost: Any
    default: Union[int, float] = 0


class Message(NamedTuple):
    """A function that elimination made: its variables, and its table with one axis for each of them."""

    scope: Tuple[int, ...]
    table: np.ndarray
    counts: Optional[np.ndarray] = None


class _Model:
    """A gpuopt_elimination_desc, and what it points to."""

    def __init__(self, domain: Any, functions: Sequence[Any], options: dict):
        arrays = self.arrays = Arrays()
        sizes = np.asarray(domain)
        costs = [np.asarray(f.cost if isinstance(f, Tuples) else f[1]) for f in functions]
        defaults = [f.default for f in functions if isinstance(f, Tuples)]
        self.real = any(cost.dtype.kind == "f" for cost in costs) or any(isinstance(d, float) for d in defaults)
        desc = self.desc = _native.new("gpuopt_elimination_desc", variables=len(sizes), functions=len(functions))
        desc.domain = arrays.read(sizes, np.int32, (len(sizes),), "domain")
        table = ffi.new("gpuopt_elimination_function[]", max(len(functions), 1))
        arrays.keep.append(table)
        desc.function = table
        for number, (function, cost) in enumerate(zip(functions, costs)):
            self._fill(table[number], function, cost, sizes, f"function {number}")
        desc.type = lib.GPUOPT_COST_DOUBLE if self.real else lib.GPUOPT_COST_INT64
        options = dict(options)
        for name in ("order", "evidence"):
            if options.get(name) is not None:
                pointer, count = arrays.list(options.pop(name), name, 0)
                setattr(desc, name, pointer)
                setattr(desc, f"{name}_count", count)
        _native.fill(desc, options, arrays.keep)

    def _fill(self, target: Any, function: Any, cost: np.ndarray, sizes: np.ndarray, name: str) -> None:
        scope = np.atleast_1d(np.asarray(function[0], np.int32)) if np.size(function[0]) else np.empty(0, np.int32)
        if np.any(scope < 0) or np.any(scope >= len(sizes)):
            raise ArgumentError(f"{name} has a variable that is not there")
        target.arity = len(scope)
        target.scope = self.arrays.read(scope, np.int32, None, name)
        if isinstance(function, Tuples):
            tuples = np.asarray(function.tuples, np.int32).reshape(-1, len(scope))
            target.tuples = len(tuples)
            target.tuple = self.arrays.read(tuples, np.int32, None, name)
            target.default_value, target.default_cost = function.default, 0 if self.real else function.default
            shape: Tuple[int, ...] = (len(tuples),)
        else:
            target.tuples = -1
            shape = tuple(int(size) for size in sizes[scope])
        if self.real:
            target.value = self.arrays.read(cost, np.float64, shape, name)
        else:
            target.cost = self.arrays.read(cost, np.int64, shape, name)
        if len(function) > 2 and not isinstance(function, Tuples) and function[2] is not None:
            target.count = self.arrays.read(function[2], np.uint64, shape, name)


class Elimination(Handle):
    """The least sum of functions over variables with finite domains, by eliminating one variable after the other.

    domain     [variables], the number of values of each
    functions  a list of (scope, table): a table has one axis for each variable of its scope. Or Tuples. Tables of
               integers are exact; FORBIDDEN forbids. If one is of floating-point numbers, all are taken as such, and
               infinity forbids (-infinity with "max_sum" and "log_sum_exp").

    options are members of gpuopt_elimination_desc: semiring="min_count", top=1000, order=[...], evidence=[...],
    batch_size=8, policy="mini_bucket", z=4, memory={"bytes": 2**30}, order_search={"heuristic": "min_fill"}.
    """

    _name = "gpuopt_elimination"

    def __init__(self, domain: Any, functions: Sequence[Any], *, context: Optional[Context] = None, **options: Any):
        model = _Model(domain, functions, options)  # owns the arrays of its descriptor
        self._of(model.desc, context or Context())

    def _of(self, desc: Any, context: Context) -> None:
        self.variables, self.semiring = desc.variables, EliminationSemiring(desc.semiring)
        self.real = desc.type == lib.GPUOPT_COST_DOUBLE
        self._domain = np.array(ffi.unpack(desc.domain, desc.variables) if desc.variables else [], np.int32)
        self._evidence = desc.evidence_count
        self._create(context, desc)

    @staticmethod
    def order(
        domain: Any, functions: Sequence[Any], *, context: Optional[Context] = None, **options: Any
    ) -> Tuple[np.ndarray, np.ndarray, EliminationEstimate]:
        """Finds an order: (order [eliminated], parent [variables], estimate). parent[v] is the variable in whose bucket
        v's first message is put, or -1. The arguments are those of the class."""
        model, arrays = _Model(domain, functions, options), Arrays()
        order, order_array = arrays.write(None, np.int32, (len(domain),))
        parent, parent_array = arrays.write(None, np.int32, (len(domain),))
        estimate = _native.new("gpuopt_elimination_estimate")
        context = context or Context()
        context._run(lib.gpuopt_elimination_order, context._pointer(), model.desc, order, parent, estimate)
        return order_array[order_array >= 0], parent_array, _native.record(estimate)

    def step(self, variables: int = 1) -> EliminationInfo:
        """Eliminates the next `variables` variables, or all that remain."""
        return self._info("step", variables)

    def eliminate(self) -> EliminationInfo:
        """Eliminates all variables that remain."""
        return self.step(2**31 - 1)

    def get_info(self, copy: int = 0) -> EliminationInfo:
        """The state of a copy of the model."""
        return self._info("get_info", copy)

    def assign(self, value: Any = None, copy: int = 0) -> Tuple[np.ndarray, EliminationAssignment]:
        """(values [variables], assignment), after the last step. value [variables] gives the values of variables that
        the order left over. If the outcome is INFEASIBLE or MORE the values mean nothing."""
        arrays = self._arrays()
        if value is None:
            value = np.zeros(self.variables, np.int32)
        elif not hasattr(value, "__cuda_array_interface__"):
            value = np.array(value, np.int32)
        pointer, array = arrays.write(value, np.int32, (self.variables,), "value")
        assignment = self._info("assign", arrays.where, copy, pointer, struct="gpuopt_elimination_assignment")
        return array, assignment

    def set_evidence(self, value: Any, copy: int = 0) -> None:
        """Sets the values [evidence] of the evidence variables of a copy; no variable is eliminated then."""
        arrays = self._arrays()
        pointer = arrays.read(value, np.int32, (self._evidence,), "value")
        self._call("set_evidence", arrays.where, copy, pointer)

    def message_get_info(self, message: int) -> EliminationMessageInfo:
        """A message, without its scope; messages are numbered in the order in which their variables are eliminated."""
        return self._info("message_get_info", message, struct="gpuopt_elimination_message_info")

    def message_get(self, message: int, copy: int = 0) -> Message:
        """The function that the elimination of a variable made; forbidden entries are FORBIDDEN or infinite."""
        info = _native.new("gpuopt_elimination_message_info")
        self._call("message_get_info", message, info)
        scope = tuple(info.scope[k] for k in range(info.arity))
        arrays, shape = Arrays(), tuple(int(size) for size in self._domain[list(scope)])
        cost, table = arrays.write(None, np.float64 if self.real else np.int64, shape)
        counted = self.semiring == EliminationSemiring.MIN_COUNT
        count, counts = arrays.write(None, np.uint64, shape) if counted else (ffi.NULL, None)
        costs = (ffi.NULL, cost) if self.real else (cost, ffi.NULL)
        self._call("message_get", 0, message, copy, *costs, count)
        return Message(scope, table, counts)

    def get_bounds(self, variable: int, values: Any, increase: bool = False, copy: int = 0) -> np.ndarray:
        """Bounds [count][domain of variable] on all assignments that extend the partial ones in values
        [count][variables], of which the variables that are eliminated after `variable` count."""
        arrays = Arrays()
        value = np.atleast_2d(np.asarray(values))
        pointer = arrays.read(value, np.int32, (len(value), self.variables), "values")
        shape = (len(value), int(self._domain[variable]) if 0 <= variable < self.variables else 0)
        bound, array = arrays.write(None, np.float64 if self.real else np.int64, shape)
        bounds = (ffi.NULL, bound) if self.real else (bound, ffi.NULL)
        self._call("get_bounds", 0, copy, variable, increase, len(value), pointer, *bounds)
        return array


class _Derived(Handle):
    """A model that the library makes of another one."""

    def elimination(self) -> Elimination:
        """The elimination of the derived model, with the options given for the model."""
        desc = _native.new("gpuopt_elimination_desc")
        self._call("get_desc", desc)
        handle = Elimination.__new__(Elimination)
        handle._of(desc, self.context)
        return handle


def _listed(pointer: Any, count: int) -> np.ndarray:
    return np.array(ffi.unpack(pointer, count) if count else [], np.int64)


class Preprocessing(_Derived):
    """A smaller model with the same answer. The arguments are those of Elimination, and

    rules  a sum of EliminationRule; 0: all
    work   entries to read at most; 0: 2**31
    """

    _name = "gpuopt_elimination_preprocessing"

    def __init__(
        self,
        domain: Any,
        functions: Sequence[Any],
        *,
        rules: int = 0,
        work: int = 0,
        context: Optional[Context] = None,
        **options: Any,
    ):
        self.variables, model = len(domain), _Model(domain, functions, options)
        create = lib.gpuopt_elimination_preprocess
        self._create(context or Context(), model.desc, rules, work, create=create, planned=False)

    def get_info(self) -> EliminationPreprocessingInfo:
        """What was done."""
        return self._info("get_info")

    def get_values(self) -> Tuple[np.ndarray, List[np.ndarray]]:
        """(original [variables of the reduced model], values): which variable of the model each is, and which of its
        values are left."""
        info = _native.new("gpuopt_elimination_preprocessing_info")
        self._call("get_info", info)
        start = _listed(info.value_start, info.variables + 1)
        value = _listed(info.value, int(start[-1]))
        return _listed(info.original, info.variables), np.split(value, start[1:-1]) if info.variables else []

    def postsolve(self, reduced: Any) -> np.ndarray:
        """The assignment of the model, [variables], for one of the reduced model."""
        arrays = Arrays()
        pointer = arrays.read(reduced, np.int32, (self.get_info().variables,), "reduced")
        value, array = arrays.write(None, np.int32, (self.variables,))
        self._call("postsolve", pointer, value)
        return array


class CostShifting(_Derived):
    """A relaxation by mini-buckets, with costs shifted between them to improve the bound. The arguments are those of
    Elimination, with policy="mini_bucket", and the number of iterations."""

    _name = "gpuopt_elimination_cost_shifting"

    def __init__(
        self,
        domain: Any,
        functions: Sequence[Any],
        iterations: int = 100,
        *,
        context: Optional[Context] = None,
        **options: Any,
    ):
        model = _Model(domain, functions, {"policy": "mini_bucket", **options})
        create = lib.gpuopt_elimination_shift_costs
        self._create(context or Context(), model.desc, iterations, create=create, planned=False)

    def get_info(self) -> EliminationCostShiftingInfo:
        """The bound."""
        return self._info("get_info")

    def get_original(self) -> np.ndarray:
        """[variables of the relaxation]: the model's variable that each is a copy of."""
        info = _native.new("gpuopt_elimination_cost_shifting_info")
        self._call("get_info", info)
        return _listed(info.original, info.variables)
