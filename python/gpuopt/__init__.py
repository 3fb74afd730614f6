# SPDX-License-Identifier: MIT
"""gpuopt: solver kernels, one step per call.

    Context      where work is done: threads, CPU or CUDA, hooks
    Propagator   bound propagation; NodeBatch and Probe for tree search
    Simplex      linear programs, whole or step by step; Children for strong branching and nodes; SimplexBatch
    Basis        the inverse of a basis matrix, with updates
    Elimination  graphical models, one variable after the other; Preprocessing and CostShifting
    Knapsack     branch and bound on a pool of nodes; KnapsackBatch, MultidimensionalKnapsack, MultipleChoiceKnapsack

Methods are the calls of gpuopt.h and of the headers in gpuopt/ without their prefix. Comments there have every detail.
`lib` and `ffi` are the whole library for cffi.
"""

from ._arrays import Report
from ._generated import *  # noqa: F401,F403
from ._native import (
    ArgumentError,
    DeviceError,
    Error,
    NumericError,
    OutOfMemoryError,
    PeerError,
    StateError,
    UnsupportedError,
    ffi,
    lib,
)
from .basis import Basis
from .context import Context, Handle
from .elimination import FORBIDDEN, CostShifting, Elimination, Message, Preprocessing, Tuples
from .knapsack import Knapsack, KnapsackBatch, MultidimensionalKnapsack, MultipleChoiceKnapsack
from .propagator import DeviceView, NodeBatch, Probe, Propagator
from .simplex import Children, Simplex, SimplexBatch


def version() -> str:
    """The library's version: "0.1.0"."""
    number = lib.gpuopt_version_number()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


__version__ = version()
