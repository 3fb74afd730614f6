# SPDX-License-Identifier: MIT
"""Contexts, and what all handles share."""

from __future__ import annotations

import importlib.util
import logging
import os
import reprlib
import threading
import time
import weakref
from pathlib import Path
from typing import Any, Callable, Optional

from . import _native
from ._arrays import Arrays
from ._generated import MemoryPlan
from ._native import Owner, StateError, UnsupportedError, ffi, lib

_logger = logging.getLogger("gpuopt")
_logger.addHandler(logging.NullHandler())
_LEVELS = {0: logging.ERROR, 1: logging.WARNING, 2: logging.INFO}


def _log_by_logging(level: int, message: str) -> None:
    _logger.log(_LEVELS.get(level, logging.INFO), message)


def cuda_library() -> Optional[str]:
    """The path of libgpuopt_cuda.so: GPUOPT_CUDA_LIBRARY, or a file in an installed package `gpuopt_cuda`; else None,
    and then the library looks beside itself and where the dynamic loader does."""
    path = os.environ.get("GPUOPT_CUDA_LIBRARY")
    if path:
        return path
    package = importlib.util.find_spec("gpuopt_cuda")
    for folder in (package.submodule_search_locations or []) if package else []:
        for found in sorted(Path(folder).glob("libgpuopt_cuda.so*")):
            return str(found)
    return None


def cuda_backend(path: Optional[str] = None) -> Any:
    """Opens the CUDA backend. UnsupportedError has the reason why it cannot be used."""
    if not hasattr(lib, "gpuopt_backend_cuda_load"):
        raise UnsupportedError("this version of gpuopt cannot open the CUDA backend at run time")
    path = path or cuda_library()
    reason = ffi.new("char const **")
    backend = lib.gpuopt_backend_cuda_load(os.fsencode(path) if path else ffi.NULL, reason)
    if not backend:
        place = f" ({path})" if path else ""
        raise UnsupportedError(f"the CUDA backend cannot be used: {_native.text(reason[0])}{place}")
    return backend


class Context:
    """Where work is done: a backend, a device, a number of threads, and the caller's hooks.

    threads   of the CPU backend, 1 to 1024.
    backend   "cpu" or "cuda".
    device    CUDA's number of the GPU.
    stream    the address of a cudaStream_t, for example cupy's `stream.ptr`; None: the context has its own. Arrays on
              the device are then used in that stream's order. Without it, synchronise before a call reads them.
    log       called with (level, message); level 0: error, 1: warning, 2: info. None: the logger "gpuopt".
    stop      called without arguments during long calls; true: the call returns early with the outcome MORE, and the
              next call goes on.
    options   other members of gpuopt_context_desc.

    Ctrl-C ends a long call of the main thread in the same way, and then raises KeyboardInterrupt; handles stay usable.
    An exception of log or stop is raised when the call returns. One thread at a time may use a context; other contexts
    may run at the same time, since calls release the GIL.
    """

    def __init__(
        self,
        threads: int = 1,
        backend: str = "cpu",
        device: int = 0,
        stream: Optional[int] = None,
        log: Optional[Callable[[int, str], Any]] = None,
        stop: Optional[Callable[[], Any]] = None,
        **options: Any,
    ):
        self._owner: Optional[Owner] = None
        if backend not in ("cpu", "cuda"):
            raise _native.ArgumentError(f'backend is "cpu" or "cuda", not {backend!r}')
        self.backend, self.threads, self.stream = backend, threads, stream
        self._handles: weakref.WeakSet = weakref.WeakSet()
        self._lock = threading.Lock()
        hooks = _Hooks(log or _log_by_logging, stop)
        desc = _native.new("gpuopt_context_desc", threads=threads, device=device)
        if backend == "cuda":
            desc.backend = cuda_backend()
        if stream is not None:
            desc.stream = ffi.cast("struct CUstream_st *", stream)
        desc.log, desc.stop, desc.seconds = hooks.log, hooks.stop, hooks.seconds
        keep: list = []
        _native.fill(desc, options, keep)
        out = ffi.new("gpuopt_context **")
        status = lib.gpuopt_context_create(desc, out)
        hooks.raise_pending()
        if status:
            raise _native.error(status, hooks.latest)
        self._hooks = hooks
        self._owner = Owner(out[0], lib.gpuopt_context_destroy, self._lock)
        self._owner.keep = hooks

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError("a Context cannot be copied or pickled; make another one")

    def _pointer(self) -> Any:
        if self._owner is None:
            raise StateError("the context is closed")
        return self._owner.pointer

    def _run(self, function: Any, *arguments: Any) -> None:
        """Calls a function of the library with the GIL released, and raises what it, or a hook, reports."""
        context = self._pointer()
        if not self._lock.acquire(False):
            raise StateError("a context is used by one thread at a time, and not by its own hooks")
        try:
            status = self._status(function, arguments)
            message = _native.text(lib.gpuopt_context_last_error(context)) if status else ""
        finally:
            self._lock.release()
        if Owner._queue:
            Owner.collect()
        self._hooks.raise_pending()
        if status:
            raise _native.error(status, message)

    @staticmethod
    def _status(function: Any, arguments: tuple) -> int:
        try:
            return function(*arguments)
        except (TypeError, OverflowError) as problem:  # of an argument that is no number of its type
            values = ", ".join(reprlib.repr(value) for value in arguments if not isinstance(value, ffi.CData))
            raise type(problem)(f"arguments {values}: {problem}") from None

    def wait(self) -> None:
        """Waits until all enqueued work has finished."""
        self._run(lib.gpuopt_context_wait, self._pointer())

    def close(self) -> None:
        """Closes the context and everything created in it."""
        for handle in list(self._handles):
            handle.close()
        owner, self._owner = self._owner, None
        if owner:
            owner.release()

    def __enter__(self) -> "Context":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        owner = getattr(self, "_owner", None)
        if owner:
            owner.release()


class _Hooks:
    """The hooks of a context, as C functions. It does not refer to the context."""

    def __init__(self, log: Callable[[int, str], Any], stop: Optional[Callable[[], Any]]):
        self.pending: Optional[BaseException] = None
        self.latest = ""

        def failed(_: Any, exception: BaseException, __: Any) -> None:
            self.pending = self.pending or exception

        @ffi.callback("void(void *, int, char const *)", onerror=failed)
        def call_log(_: Any, level: int, message: Any) -> None:
            text = _native.text(message)
            if level == 0:
                self.latest = text
            log(level, text)

        # Python handles signals when it enters a hook, so Ctrl-C arrives in one as a KeyboardInterrupt. If it was
        # another hook's, this one ends the call.
        @ffi.callback("int(void *)", error=1, onerror=failed)
        def call_stop(_: Any) -> int:
            return 1 if self.pending is not None or (stop is not None and stop()) else 0

        @ffi.callback("double(void *)", onerror=failed)
        def call_seconds(_: Any) -> float:
            return time.monotonic()

        self.log, self.stop, self.seconds = call_log, call_stop, call_seconds

    def raise_pending(self) -> None:
        pending, self.pending = self.pending, None
        if pending is not None:
            raise pending


def expect(value: Any, kind: type, name: str) -> Any:
    """The value, if it is one of this class."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a gpuopt.{kind.__name__}, not {type(value).__name__}")
    return value


class Handle:
    """A handle of the library, closed by close(), at the end of `with`, or when it is collected."""

    _name = ""  # gpuopt_propagator, ...
    _plans_only = False
    context: Context
    memory: MemoryPlan

    @classmethod
    def plan(cls, *arguments: Any, **options: Any) -> MemoryPlan:
        """The memory that the handle would take; the arguments are those of the class. Nothing is created."""
        handle = cls.__new__(cls)
        handle._plans_only = True
        handle.__init__(*arguments, **options)  # type: ignore[misc]
        return handle.memory

    def _create(
        self, parent: Any, *arguments: Any, create: Any = None, context: Any = None, planned: bool = True
    ) -> None:
        """Creates the handle in a context, or from another handle, and then maybe in another context than that one's.
        planned: whether `create`, by default the handle's own, fills a memory plan."""
        self.context = expect(context or getattr(parent, "context", parent), Context, "context")
        self._owner: Optional[Owner] = None
        self._handles: weakref.WeakSet = weakref.WeakSet()
        memory = _native.new("gpuopt_memory_plan")
        out = ffi.NULL if self._plans_only else ffi.new(f"{self._name} **")
        create = create or getattr(lib, f"{self._name}_create")
        self.context._run(create, parent._pointer(), *arguments, *([memory] if planned else []), out)
        self.memory = _native.record(memory)
        if self._plans_only:
            return
        parents = {id(owner): owner for owner in (parent._owner, self.context._owner)}
        destroy = getattr(lib, f"{self._name}_destroy")
        self._owner = Owner(out[0], destroy, self.context._lock, tuple(parents.values()))
        parent._handles.add(self)
        self.context._handles.add(self)

    def __reduce_ex__(self, _: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled; make another one from the same arrays")

    def _pointer(self) -> Any:
        if getattr(self, "_owner", None) is None:
            raise StateError(f"the {type(self).__name__} is closed")
        return self._owner.pointer  # type: ignore[union-attr]

    def _call(self, function: str, *arguments: Any) -> None:
        self.context._run(getattr(lib, f"{self._name}_{function}"), self._pointer(), *arguments)

    def _info(self, function: str, *arguments: Any, struct: Optional[str] = None) -> Any:
        """A call whose last argument is an info struct, by default the handle's own."""
        info = _native.new(struct or f"{self._name}_info")
        self._call(function, *arguments, info)
        return _native.record(info)

    def _arrays(self) -> Arrays:
        return Arrays(self.context.stream)

    def close(self) -> None:
        """Frees the handle, and those created from it. It cannot be used any more."""
        for handle in list(getattr(self, "_handles", ())):
            handle.close()
        owner, self._owner = getattr(self, "_owner", None), None
        if owner:
            owner.release()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        owner = getattr(self, "_owner", None)
        if owner:
            owner.release()
