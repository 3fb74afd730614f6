# SPDX-License-Identifier: MIT
"""Contexts: hooks, Ctrl-C, threads, lifetimes, errors, arrays in device memory as far as no GPU is needed."""

import copy
import enum
import gc
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time

import gpuopt
import numpy as np
import pytest
import scipy.sparse as sp


def hard_knapsack(context=None, items=200):
    """Takes minutes: even weights, an odd capacity, and all profits are the weights plus a constant."""
    random = np.random.default_rng(0)
    weight = 2 * random.integers(10**5, 2 * 10**5, items)
    return gpuopt.Knapsack(weight, weight + 10**4, int(weight.sum() // 2) | 1, search="breadth", context=context)


def test_the_stop_hook():
    calls = []

    def stop():
        calls.append(1)
        return len(calls) >= 3

    with gpuopt.Context(stop=stop) as context:
        assert hard_knapsack(context).expand().outcome == gpuopt.Outcome.MORE
    assert len(calls) >= 3


def test_ctrl_c():
    # A shell that starts programs in the background has them ignore the signal, and Python keeps to that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        is_interrupted_by_ctrl_c()
    finally:
        signal.signal(signal.SIGINT, before)


def is_interrupted_by_ctrl_c():
    knapsack = hard_knapsack()
    knapsack.expand(levels=2)
    expanded = knapsack.get_info().expanded
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        knapsack.expand()
    assert time.monotonic() - start < 60
    assert knapsack.get_info().expanded > expanded  # the handle goes on
    assert knapsack.expand(levels=1).outcome == gpuopt.Outcome.MORE


def test_exceptions_of_hooks_arrive():
    def stop():
        raise RuntimeError("from the hook")

    context = gpuopt.Context(stop=stop)
    with pytest.raises(RuntimeError, match="from the hook"):
        hard_knapsack(context).expand()

    def log(level, message):
        raise RuntimeError(message)

    with pytest.raises(RuntimeError, match="lhs"):
        gpuopt.Propagator(np.eye(2), lhs=[np.nan, 0], context=gpuopt.Context(log=log))


def test_calls_release_the_gil_and_contexts_are_independent():
    results = {}

    def work(number):
        random = np.random.default_rng(number)
        for _ in range(5):
            A = random.integers(-5, 9, (20, 30)).astype(float)
            rhs = A @ random.integers(0, 4, 30)
            info = gpuopt.Simplex(A, rhs=rhs, ub=9, cost=-random.random(30), context=gpuopt.Context()).iterate()
            results.setdefault(number % 2, []).append(info.objective)

    threads = [threading.Thread(target=work, args=(number % 2,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for objectives in results.values():  # the same programs twice
        assert len(objectives) == 10 and len(set(objectives)) == 5


def test_a_second_thread_is_refused():
    running, end = threading.Event(), threading.Event()

    def stop():
        running.set()
        return end.is_set()

    context = gpuopt.Context(stop=stop)
    knapsack = hard_knapsack(context)
    thread = threading.Thread(target=knapsack.expand)
    thread.start()
    try:
        assert running.wait(60)
        with pytest.raises(gpuopt.StateError, match="one thread"):
            context.wait()
    finally:
        end.set()
        thread.join()
    context.wait()


def test_handles_dropped_during_a_call_are_destroyed_after_it():
    queue = gpuopt.context.Owner._queue
    dropped = []

    def stop():
        if dropped:
            dropped.pop().close()
            assert len(queue) == 1
        return True

    context = gpuopt.Context(stop=stop)
    dropped.append(gpuopt.Basis(3, context=context))
    hard_knapsack(context).expand()
    gc.collect()
    assert not dropped and not queue


def test_lifetimes():
    queue = gpuopt.context.Owner._queue
    context = gpuopt.Context()
    root = gpuopt.Simplex(np.eye(3), rhs=1, cost=-np.ones(3), context=context)
    children = gpuopt.Children(root, 8)
    del context, root  # what the batch needs stays
    children.root.iterate()
    assert len(children.strong_branch([0, 1]).outcome) == 4
    cycle = [children]
    cycle.append(cycle)
    del children, cycle
    gc.collect()
    assert not queue

    with gpuopt.Context() as context:
        base = gpuopt.Propagator(np.eye(2), rhs=1, context=context)
        clone = base.clone()
    for closed in (base, clone):
        with pytest.raises(gpuopt.StateError, match="closed"):
            closed.round()
        closed.close()
    with pytest.raises(gpuopt.StateError, match="closed"):
        gpuopt.Basis(2, context=context)
    assert not queue


def test_the_log(caplog):
    messages = []
    matrix = sp.csr_matrix(([1.0, 0.0], ([0, 1], [0, 1])), shape=(2, 2))
    gpuopt.Propagator(matrix, context=gpuopt.Context(log=lambda level, text: messages.append((level, text))))
    assert messages and messages[0][0] == 1
    with caplog.at_level(logging.WARNING, "gpuopt"):
        gpuopt.Propagator(matrix)
    assert caplog.records[0].message == messages[0][1]


def test_a_limit_in_seconds():
    domain = [2] * 40
    random = np.random.default_rng(0)
    functions = [(random.choice(40, 2, replace=False), [[0, 1], [2, 0]]) for _ in range(120)]
    start = time.monotonic()
    gpuopt.Elimination.order(domain, functions, order_search={"seconds": 0.2})
    assert 0.1 < time.monotonic() - start < 30


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_handles_are_not_copied(make):
    with gpuopt.Context() as context:
        simplex = gpuopt.Simplex(np.eye(2), rhs=1, cost=-1, context=context)
        with pytest.raises(TypeError, match="a Simplex cannot be copied"):
            make(simplex)
        with pytest.raises(TypeError, match="a Context cannot be copied"):
            make(context)
        assert simplex.iterate().objective == -2  # closing the copy would have freed it


def root():
    return gpuopt.Children(gpuopt.Simplex(np.eye(2), rhs=1), 4)


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: gpuopt.Context(threads=-1), gpuopt.ArgumentError, "threads"),
        (lambda: gpuopt.Context(backend="tpu"), gpuopt.ArgumentError, "tpu"),
        (lambda: gpuopt.Context(colour=1), TypeError, "colour"),
        (lambda: gpuopt.Context(threads="2"), TypeError, "threads = '2'"),
        (lambda: gpuopt.Propagator([[np.nan]]), gpuopt.ArgumentError, "nan"),
        (lambda: gpuopt.Propagator(np.eye(2), lhs=2, rhs=1), gpuopt.ArgumentError, "lhs"),
        (lambda: gpuopt.Propagator(np.eye(2), rhs=[1, 2, 3]), gpuopt.ArgumentError, r"rhs has the shape \[3\]"),
        (lambda: gpuopt.Propagator([1.0, 2.0]), gpuopt.ArgumentError, "shape"),
        (lambda: gpuopt.Propagator(np.eye(2), mode="best"), gpuopt.ArgumentError, "jacobi, gauss_seidel"),
        (lambda: gpuopt.Propagator(np.eye(2), tolerances={"no": 1}), TypeError, "no"),
        (lambda: gpuopt.Propagator(np.eye(2)).set_bounds(ub=[1], cols=[7]), gpuopt.ArgumentError, "7"),
        (lambda: gpuopt.Propagator(np.eye(2)).set_bounds(ub=[1], cols=[2**40]), gpuopt.ArgumentError, "int32"),
        (lambda: gpuopt.Propagator(np.eye(2)).set_bounds(ub=[1], cols=[0.5]), gpuopt.ArgumentError, "int32"),
        (lambda: gpuopt.Propagator(np.eye(2)).get_bounds(cols=[True, False]), gpuopt.ArgumentError, "flatnonzero"),
        (lambda: gpuopt.Propagator(np.eye(2)).set_bounds(ub=1, cols=np.eye(2)[0] > 0), gpuopt.ArgumentError, "bool"),
        (lambda: root().strong_branch(np.array([True, False])), gpuopt.ArgumentError, "cols has the type bool"),
        (lambda: root().run([np.array([True, False])], ub=[[1, 1]]), gpuopt.ArgumentError, "col has the type bool"),
        (lambda: gpuopt.Propagator(np.eye(2)).push(), gpuopt.StateError, "trail"),
        (lambda: gpuopt.Propagator(np.eye(2) * 1j), gpuopt.ArgumentError, "complex"),
        (lambda: gpuopt.Propagator(np.eye(2)).device_view(), gpuopt.UnsupportedError, "device"),
        (lambda: gpuopt.Simplex(np.eye(2), cost=["a", "b"]), gpuopt.ArgumentError, "cost"),
        (lambda: gpuopt.Simplex(np.eye(2), bounds=(0, 1)), TypeError, "no option 'bounds', but .*method.*tolerances"),
        (lambda: gpuopt.Simplex(np.eye(2), rules="dantzig"), TypeError, "rules must be a dict"),
        (lambda: gpuopt.Simplex(np.eye(2), tolerances={"primal": "x"}), TypeError, "primal = 'x'"),
        (lambda: gpuopt.Simplex(np.eye(2)).iterate(3.5), TypeError, "arguments 3.5: "),
        (lambda: gpuopt.Simplex(np.eye(2)).iterate(2**70), OverflowError, "arguments 1180591620717411303424: "),
        (lambda: gpuopt.Simplex(np.eye(2), context=3), TypeError, "context must be a gpuopt.Context, not int"),
        (lambda: gpuopt.Simplex(sp.csr_matrix(np.eye(2) * 1j)), gpuopt.ArgumentError, r"A\.data has the type complex"),
        (lambda: gpuopt.Children(None, 2), TypeError, "root must be a gpuopt.Simplex"),
        (lambda: gpuopt.Probe(gpuopt.Simplex(np.eye(2))), TypeError, "base must be a gpuopt.Propagator"),
        (lambda: gpuopt.Simplex(np.eye(2)).set_basis([0, 0, 0, 0]), gpuopt.ArgumentError, ""),
        (lambda: gpuopt.Simplex(np.eye(2)).get_proof(["farkas"]), gpuopt.StateError, ""),
        (lambda: gpuopt.Simplex(np.eye(2)).get_solution(["y"]), gpuopt.ArgumentError, "y"),
        (lambda: gpuopt.Simplex(np.eye(2)).add_rows(np.eye(2)), gpuopt.OutOfMemoryError, ""),
        (lambda: gpuopt.Basis(2).ftran([1.0]), gpuopt.ArgumentError, "shape"),
        (lambda: gpuopt.Basis(2).ftran([1.0, 2.0], out=np.zeros(3)), gpuopt.ArgumentError, "out"),
        (lambda: gpuopt.Basis(2).update(0), gpuopt.StateError, ""),
        (lambda: gpuopt.Elimination([2, 2], [([0, 1], [1, 2])]), gpuopt.ArgumentError, "function 0"),
        (lambda: gpuopt.Elimination([2, 2], [([0, 2], np.eye(2))]), gpuopt.ArgumentError, "function 0"),
        (lambda: gpuopt.Elimination([2], [([0], [1, 2])]).assign(), gpuopt.StateError, ""),
        (lambda: gpuopt.Elimination([2], [([0], [1, 2])]).message_get_info(5), gpuopt.ArgumentError, ""),
        (lambda: gpuopt.Knapsack([1, -2], [1, 1], 3), gpuopt.ArgumentError, "item 1"),
        (lambda: gpuopt.Knapsack([1, 2], [1, 1], 2**70), OverflowError, "capacity"),
        (lambda: gpuopt.Knapsack([1, 2], [1, 1], 2.5), TypeError, "capacity = 2.5"),
    ],
)
def test_wrong_input_raises(call, kind, text):
    with pytest.raises(kind, match=text or ".") as caught:
        call()
    assert str(caught.value)


def test_errors_are_of_their_built_in_kinds_and_have_a_status():
    with pytest.raises(ValueError) as caught:
        gpuopt.Context()._run(gpuopt.lib.gpuopt_context_wait, gpuopt.ffi.NULL)
    assert caught.value.status == gpuopt.Status.ERROR_ARGUMENT
    assert issubclass(gpuopt.OutOfMemoryError, MemoryError) and issubclass(gpuopt.NumericError, ArithmeticError)


def test_no_cuda_is_an_exception_with_a_reason(monkeypatch, tmp_path):
    library = tmp_path / "libgpuopt_cuda.so"
    library.write_text("no library")
    monkeypatch.setenv("GPUOPT_CUDA_LIBRARY", str(library))
    with pytest.raises(gpuopt.UnsupportedError, match="CUDA backend|at run time"):
        gpuopt.Context(backend="cuda")


class OnDevice:
    """What cupy's arrays show of themselves; the memory is the host's, so only refusals can be tested."""

    def __init__(self, array, strides=None):
        self.array = array
        interface = dict(array.__array_interface__, version=3, strides=strides)
        self.__cuda_array_interface__ = {key: interface[key] for key in ("shape", "typestr", "data", "strides")}


class ByDLPack:
    def __init__(self, array, device):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype)


def test_arrays_in_device_memory():
    propagator = gpuopt.Propagator(np.eye(2))
    for array in (OnDevice(np.ones(2)), ByDLPack(np.ones(2), 2)):  # understood, and refused by the CPU backend
        with pytest.raises(gpuopt.UnsupportedError):
            propagator.set_bounds(ub=array)
        with pytest.raises(gpuopt.ArgumentError, match="both"):
            propagator.set_bounds(lb=np.zeros(2), ub=array)
        with pytest.raises(gpuopt.ArgumentError, match="host"):
            gpuopt.Propagator(np.eye(2), ub=array)
    with pytest.raises(gpuopt.UnsupportedError):
        propagator.get_bounds(out=(OnDevice(np.ones(2)), OnDevice(np.ones(2))))
    for array in (OnDevice(np.ones(2, np.float32)), OnDevice(np.ones(4)[::2], (16,)), OnDevice(np.ones(3))):
        with pytest.raises(gpuopt.ArgumentError):
            propagator.set_bounds(ub=array)
    with pytest.raises(gpuopt.UnsupportedError, match="CUDA device"):
        propagator.set_bounds(ub=ByDLPack(np.ones(2), 10))
    propagator.set_bounds(ub=ByDLPack(np.array([3.0, 4.0]), 1))  # host memory
    np.testing.assert_array_equal(propagator.get_bounds()[1], [3, 4])


def test_arrays_are_not_copied():
    from gpuopt._arrays import Arrays, matrix

    arrays, target = Arrays(), gpuopt.ffi.new("gpuopt_matrix *")
    A = sp.csc_matrix(np.eye(3))
    matrix(A, target, arrays)
    assert int(gpuopt.ffi.cast("uintptr_t", target.value)) == A.data.ctypes.data
    assert int(gpuopt.ffi.cast("uintptr_t", target.index)) == A.indices.ctypes.data
    bounds = np.ones(3)
    pointer = arrays.read(bounds, np.float64, (3,), "bounds")
    assert int(gpuopt.ffi.cast("uintptr_t", pointer)) == bounds.ctypes.data


def test_the_end_of_the_program():
    """Handles that are still there at the end, and one in a thread, do no harm."""
    code = "import gpuopt, numpy as np; p = gpuopt.Propagator(np.eye(2)); c = p.clone(gpuopt.Context()); p.me = p"
    subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", code], check=True, timeout=60)


def test_docstrings_explain_each_member():
    assert "OPTIMAL     proven" in gpuopt.Outcome.__doc__
    assert re.search(r"  outcome +MORE; OPTIMAL: .* see\n +_set_incumbent; LIMIT", gpuopt.KnapsackInfo.__doc__)
    for kind in vars(gpuopt).values():
        if isinstance(kind, type) and kind.__module__ == "gpuopt._generated":
            names = kind.__members__ if issubclass(kind, enum.Enum) else kind.__annotations__
            for name in names:
                assert re.search(rf"\b{name}\b", kind.__doc__), (kind, name)
