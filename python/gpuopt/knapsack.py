# SPDX-License-Identifier: MIT
"""Knapsacks: branch and bound on a pool of nodes."""

from __future__ import annotations

from typing import Any, Iterable, Optional, Sequence, Tuple

import numpy as np

from . import _native
from ._arrays import Arrays, Report, shape_of
from ._generated import KnapsackInfo, KnapsackMultidimensionalInfo, KnapsackMultipleChoiceInfo
from ._native import ArgumentError, ffi
from .context import Context, Handle


class Knapsack(Handle):
    """max profit x  subject to  weight x <= capacity,  0 <= x <= copies_max,  x integer; all of it in integers.

    weight, profit  [items], 0 or more
    copies_max      [items]; None: 1

    options are members of gpuopt_knapsack_desc: search="breadth", pool=10**6, on_pool_full="stop", node_limit=10**7.
    """

    _name = "gpuopt_knapsack"

    def __init__(
        self,
        weight: Any,
        profit: Any,
        capacity: int,
        copies_max: Any = None,
        *,
        context: Optional[Context] = None,
        **options: Any,
    ):
        self.items = len(weight)
        arrays = Arrays()
        desc = _native.new("gpuopt_knapsack_desc", items=self.items, capacity=capacity)
        desc.weight = arrays.read(weight, np.int64, (self.items,), "weight")
        desc.profit = arrays.read(profit, np.int64, (self.items,), "profit")
        desc.copies_max = arrays.read(copies_max, np.int64, (self.items,), "copies_max")
        arrays.must_be_host()
        _native.fill(desc, options, arrays.keep)
        self._create(context or Context(), desc)

    def expand(self, nodes: int = 0, levels: int = 0) -> KnapsackInfo:
        """Expands levels until at least `nodes` nodes or `levels` steps are done (0: no limit), or the search ends."""
        return self._info("expand", nodes, levels)

    def get_info(self) -> KnapsackInfo:
        """The state of the search."""
        return self._info("get_info")

    def set_incumbent(self, profit: int, copies: Any = None) -> None:
        """Offers a solution: copies [items]. None: a claim that some solution has at least this profit."""
        arrays = self._arrays()
        array = arrays.read(copies, np.int64, (self.items,), "copies")
        self._call("set_incumbent", arrays.where, profit, array)

    def get_items(self, out: Any = None) -> Tuple[Any, int, int]:
        """The incumbent: copies [items], profit, weight."""
        arrays = self._arrays()
        copies, array = arrays.write(out, np.int64, (self.items,))
        profit, weight = ffi.new("int64_t *"), ffi.new("int64_t *")
        self._call("get_items", arrays.where, copies, profit, weight)
        return array, profit[0], weight[0]

    def _packed(self, function: str, *arguments: Any) -> bytes:
        size = ffi.new("uint64_t *")
        self._call(function, *arguments, ffi.NULL, 0, size)
        packed = ffi.new("char[]", size[0])
        self._call(function, *arguments, packed, size[0], size)
        return bytes(ffi.buffer(packed, size[0]))

    def pack(self, nodes: int = -1, remove: bool = False) -> bytes:
        """The next `nodes` nodes (-1: all), the incumbent and the claim, for another handle of the same problem."""
        return self._packed("pack", nodes, remove)

    def split(self, every: int = 2) -> bytes:
        """Removes one of each `every` nodes, across all levels, and packs them."""
        return self._packed("split", every)

    def unpack(self, packed: bytes, add: bool = False) -> None:
        """Unpacks nodes into an empty pool; add: beside those in the pool."""
        self._call("unpack", ffi.from_buffer(packed), len(packed), add)

    def take_share(self, part: int, parts: int) -> None:
        """Keeps one of each `parts` nodes: the share of this part."""
        self._call("take_share", part, parts)


class MultidimensionalKnapsack(Handle):
    """max profit x  subject to  weight x <= capacity,  x in {0, 1}^items, with up to 30 rows; all of it in integers.

    weight [rows][items], profit [items], capacity [rows]; options: workers=1024, node_limit=10**9.
    """

    _name = "gpuopt_knapsack_multidimensional"

    def __init__(self, weight: Any, profit: Any, capacity: Any, *, context: Optional[Context] = None, **options: Any):
        arrays, (rows, self.items) = Arrays(), shape_of(weight)
        desc = _native.new("gpuopt_knapsack_multidimensional_desc", rows=rows, items=self.items)
        desc.weight = arrays.read(weight, np.int64, (rows, self.items), "weight")
        desc.profit = arrays.read(profit, np.int64, (self.items,), "profit")
        desc.capacity = arrays.read(capacity, np.int64, (rows,), "capacity")
        arrays.must_be_host()
        _native.fill(desc, options, arrays.keep)
        self._create(context or Context(), desc)

    def run(self, nodes: int = 0, rounds: int = 0) -> KnapsackMultidimensionalInfo:
        """Searches for at least `nodes` nodes or `rounds` rounds (0: no limit), or to the end."""
        return self._info("run", nodes, rounds)

    def get_info(self) -> KnapsackMultidimensionalInfo:
        """The state of the search."""
        return self._info("get_info")

    def set_incumbent(self, copies: Any) -> None:
        """Offers a solution: copies [items], 0 or 1."""
        arrays = self._arrays()
        array = arrays.read(copies, np.int64, (self.items,), "copies")
        self._call("set_incumbent", arrays.where, array)

    def get_items(self, out: Any = None) -> Tuple[Any, int]:
        """The incumbent: copies [items], profit."""
        arrays, profit = self._arrays(), ffi.new("int64_t *")
        copies, array = arrays.write(out, np.int64, (self.items,))
        self._call("get_items", arrays.where, copies, profit)
        return array, profit[0]


class MultipleChoiceKnapsack(Handle):
    """Items in classes, of which exactly one of each class is taken, or with at_most_one one or none.

    weight, profit  for each class, the weights (0 or more) and profits of its items
    capacity        0 or more

    options are members of gpuopt_knapsack_multiple_choice_desc: states=10**6, state_limit=10**9.
    """

    _name = "gpuopt_knapsack_multiple_choice"

    def __init__(
        self,
        weight: Sequence[Any],
        profit: Sequence[Any],
        capacity: int,
        at_most_one: bool = False,
        *,
        context: Optional[Context] = None,
        **options: Any,
    ):
        self.classes = len(weight)
        arrays, sizes = Arrays(), [len(items) for items in weight]
        if sizes != [len(items) for items in profit]:
            raise ArgumentError("weight and profit have different numbers of items")
        self._begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        desc = _native.new("gpuopt_knapsack_multiple_choice_desc", classes=self.classes, capacity=capacity)
        desc.at_most_one = at_most_one
        desc.begin = arrays.read(self._begin, np.int64, None, "begin")
        for name, lists in (("weight", weight), ("profit", profit)):
            joined = np.concatenate([np.asarray(items) for items in lists if len(items)] or [np.empty(0)])
            setattr(desc, name, arrays.read(joined, np.int64, (int(self._begin[-1]),), name))
        _native.fill(desc, options, arrays.keep)
        self._create(context or Context(), desc)

    def run(self, states: int = 0, steps: int = 0) -> KnapsackMultipleChoiceInfo:
        """Expands at least `states` states or makes `steps` steps (0: no limit), or goes on to the end."""
        return self._info("run", states, steps)

    def get_info(self) -> KnapsackMultipleChoiceInfo:
        """The state of the search."""
        return self._info("get_info")

    def set_incumbent(self, chosen: Any) -> None:
        """Offers a solution: chosen [classes], the item within each class; -1: none."""
        chosen = np.asarray(chosen)
        arrays = Arrays()
        array = arrays.read(np.where(chosen < 0, -1, chosen + self._begin[:-1]), np.int32, (self.classes,), "chosen")
        self._call("set_incumbent", 0, array)

    def get_items(self) -> Tuple[np.ndarray, int]:
        """The incumbent: chosen [classes], the item within each class (-1: none), and the profit."""
        profit = ffi.new("int64_t *")
        chosen, array = Arrays().write(None, np.int32, (self.classes,))
        self._call("get_items", 0, chosen, profit)
        return np.where(array < 0, -1, array - self._begin[:-1]), profit[0]


class KnapsackBatch(Handle):
    """Many small knapsacks of `items` items (1 to 256), up to `count` in a call."""

    _name = "gpuopt_knapsack_batch"

    def __init__(self, items: int, count: int, *, context: Optional[Context] = None):
        self.items = items
        self._create(context or Context(), _native.new("gpuopt_knapsack_batch_desc", items=items, count=count))

    def run(
        self,
        weight: Any,
        profit: Any,
        capacity: Any,
        copies_max: Any = None,
        node_limit: int = 0,
        names: Optional[Iterable[str]] = None,
    ) -> Report:
        """Solves as many knapsacks as the largest array has rows. weight, profit, copies_max [count][items] or, for
        all, [items]; capacity [count] or a number. Returns outcome, primal_bound, dual_bound, nodes [count] and copies
        [count][items]."""
        arrays = Arrays()
        given = dict(weight=weight, profit=profit, capacity=capacity, copies_max=copies_max)
        values = {name: np.asarray(array) for name, array in given.items() if array is not None}
        shared = {name: array.ndim == (0 if name == "capacity" else 1) for name, array in values.items()}
        count = max([len(values[name]) for name in values if not shared[name]], default=1)
        problems = _native.new("gpuopt_knapsack_problems", count=count, node_limit=node_limit)
        for name, array in values.items():
            line = () if name == "capacity" else (self.items,)
            shape = line if shared[name] else (count, *line)
            dtype = np.int32 if name == "copies_max" else np.int64
            setattr(problems, name, arrays.read(array, dtype, shape, name))
            setattr(problems, f"{name}_stride", 0 if shared[name] else 1 if name == "capacity" else self.items)
        shapes: dict = dict.fromkeys(("outcome", "primal_bound", "dual_bound", "nodes"), (count,))
        shapes["copies"] = (count, self.items)
        struct, report = arrays.report("gpuopt_knapsack_report", shapes, names, None)
        self._call("run", 0, problems, struct)
        return report
