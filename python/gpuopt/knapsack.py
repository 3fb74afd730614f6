# SPDX-License-Identifier: MIT
"""Knapsacks: branch and bound on a pool of nodes."""
from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from . import _native
from ._arrays import Arrays
from ._generated import KnapsackInfo
from ._native import ffi
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
