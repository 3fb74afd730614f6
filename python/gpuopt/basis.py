# SPDX-License-Identifier: MIT
"""The inverse of a basis matrix."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _native
from ._arrays import Arrays, matrix
from ._generated import BasisDrift, BasisInfo
from ._native import ffi
from .context import Context, Handle


class Basis(Handle):
    """The dense inverse of an m x m matrix B whose columns are replaced one at a time; the identity at first.

    options are members of gpuopt_basis_desc: technique="pfi", deferred_updates=32, pivot_tolerance=1e-9.
    """

    _name = "gpuopt_basis"

    def __init__(self, m: int, *, context: Optional[Context] = None, **options: Any):
        self.m = m
        desc = _native.new("gpuopt_basis_desc", m=m)
        keep: list = []
        _native.fill(desc, options, keep)
        self._create(context or Context(), desc)

    def load(self, B: Any = None) -> None:
        """Replaces the inverse by that of B [m][m], a sparse matrix or an array; None: the identity."""
        if B is None:
            self._call("load", ffi.NULL)
            return
        arrays, columns = Arrays(), ffi.new("gpuopt_matrix *")
        matrix(B, columns, arrays)
        self._call("load", columns)

    def ftran(self, a: Any, rows: Any = None, out: Any = None) -> Any:
        """x = B^-1 a [m], and the pivot column for update. a [m], or with rows [count] the entries in these rows."""
        arrays = self._arrays()
        row, count = arrays.list(rows, "rows", self.m)
        rhs = arrays.read(a, np.float64, (count,), "a")
        x, array = arrays.write(out, np.float64, (self.m,))
        self._call("ftran", arrays.where, count, row, rhs, x)
        return array

    def btran(self, c: Any, out: Any = None) -> Any:
        """y = B^-T c [m]; c [m]."""
        arrays = self._arrays()
        rhs = arrays.read(c, np.float64, (self.m,), "c")
        y, array = arrays.write(out, np.float64, (self.m,))
        self._call("btran", arrays.where, -1, rhs, y)
        return array

    def row(self, position: int, out: Any = None) -> Any:
        """Row `position` of B^-1 [m], as BTRAN with a unit vector."""
        arrays = self._arrays()
        y, array = arrays.write(out, np.float64, (self.m,))
        self._call("btran", arrays.where, position, ffi.NULL, y)
        return array

    def update(self, position: int, alpha: Any = None) -> BasisInfo:
        """Replaces column `position` of B by the one whose FTRAN is alpha [m]; None: that of the latest ftran."""
        arrays = self._arrays()
        pivot = arrays.read(alpha, np.float64, (self.m,), "alpha")
        return self._info("update", arrays.where, position, pivot)

    def get_info(self) -> BasisInfo:
        """The state of the basis."""
        return self._info("get_info")

    def get_inverse(self, out: Any = None) -> Any:
        """B^-1 [m][m]."""
        arrays = self._arrays()
        inverse, array = arrays.write(out, np.float64, (self.m, self.m))
        self._call("get_inverse", arrays.where, inverse)
        return array

    def get_drift(self, B: Any, exact: bool = False) -> BasisDrift:
        """How far the inverse is from that of B [m][m]; exact: the norm, too."""
        arrays, columns = Arrays(), ffi.new("gpuopt_matrix *")
        matrix(B, columns, arrays)
        return self._info("get_drift", columns, exact, struct="gpuopt_basis_drift")
