# SPDX-License-Identifier: MIT
"""The shared library, its errors, and the life of its objects."""

from __future__ import annotations

import reprlib
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Any, Type

from . import _generated
from ._cffi import ffi

_SUFFIX = "dylib" if sys.platform == "darwin" else "so"
lib = ffi.dlopen(_generated.LIBRARY or str(Path(__file__).parent / f"libgpuopt.{_SUFFIX}"))


class Error(Exception):
    """A call did not work. `status` is the library's gpuopt_status, and the text is its message."""

    status = _generated.Status.OK


class ArgumentError(Error, ValueError):
    """A value, size or shape is outside its documented range."""


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory, or a capacity that was reserved is full."""


class DeviceError(Error, RuntimeError):
    """The GPU or its driver failed. The context can only be closed."""


class UnsupportedError(Error, NotImplementedError):
    """Not available on this backend or device, or too large for it."""


class NumericError(Error, ArithmeticError):
    """Singular, an unsafe pivot, or a result that cannot be represented."""


class StateError(Error, RuntimeError):
    """Called out of order, on a closed object, or while another thread uses the context."""


class PeerError(Error, RuntimeError):
    """Another rank of the group is lost or late."""


_ERRORS = {
    _generated.Status.ERROR_ARGUMENT: ArgumentError,
    _generated.Status.ERROR_MEMORY: OutOfMemoryError,
    _generated.Status.ERROR_DEVICE: DeviceError,
    _generated.Status.ERROR_UNSUPPORTED: UnsupportedError,
    _generated.Status.ERROR_NUMERIC: NumericError,
    _generated.Status.ERROR_STATE: StateError,
    _generated.Status.ERROR_PEER: PeerError,
}


def error(status: int, message: str) -> Error:
    """The exception for a status."""
    status = _generated.Status(status)
    result = _ERRORS[status](message or text(lib.gpuopt_status_string(status)))
    result.status = status
    return result


def text(chars: Any) -> str:
    return ffi.string(chars).decode("utf-8", "replace") if chars else ""


def new(name: str, **members: Any) -> Any:
    """A struct with all defaults, as by GPUOPT_INIT, and these members."""
    struct = ffi.new(f"{name} *")
    lib.gpuopt_desc_init(struct, ffi.sizeof(name))
    for key, value in members.items():
        _set(struct, key, value)
    return struct


def _set(struct: Any, key: str, value: Any) -> None:
    try:
        setattr(struct, key, value)
    except (TypeError, OverflowError) as problem:
        raise type(problem)(f"{key} = {reprlib.repr(value)}: {problem}") from None


def _value(ctype: Any, value: Any) -> Any:
    if ctype.kind == "enum":
        return _class_of(ctype)(value)
    if ctype.kind == "array":
        return tuple(value)
    if ctype.kind == "struct":
        return record(value)
    return value


def _class_of(ctype: Any) -> Type[Any]:
    return getattr(_generated, "".join(part.capitalize() for part in ctype.cname.split("_")[1:]))


def record(struct: Any) -> Any:
    """The dataclass of a struct's values."""
    ctype = ffi.typeof(struct)
    ctype = ctype.item if ctype.kind == "pointer" else ctype
    kind = _class_of(ctype)
    fields = dict(ctype.fields)
    return kind(**{key: _value(fields[key].type, getattr(struct, key)) for key in kind.__annotations__})


def _is_descriptor(ctype: Any) -> bool:
    """Whether it points to a struct that the caller fills in."""
    if ctype.kind != "pointer" or ctype.item.kind != "struct":
        return False
    try:
        ffi.sizeof(ctype.item)  # has cffi read the members: before, .fields fails an assertion
    except (ValueError, ffi.error):
        return False  # its members are not known
    return "struct_size" in dict(ctype.item.fields)


def _is_option(name: str, ctype: Any) -> bool:
    """Whether a member can be given by name: arrays, hooks and handles are arguments of a class instead."""
    return name != "struct_size" and (ctype.kind in ("primitive", "enum") or _is_descriptor(ctype))


def fill(struct: Any, options: dict, keep: list) -> None:
    """Sets members of a descriptor by name. An enum's constants may be given by name, other structs as a dict."""
    fields = dict(ffi.typeof(struct).item.fields)
    for key, value in options.items():
        if key not in fields or key == "struct_size":
            names = ", ".join(name for name, field in fields.items() if _is_option(name, field.type))
            raise TypeError(f"{ffi.typeof(struct).item.cname} has no option {key!r}, but {names}")
        ctype = fields[key].type
        if ctype.kind == "enum" and isinstance(value, str):
            names = _class_of(ctype).__members__
            if value.upper() not in names:
                raise ArgumentError(f"{key} is one of {', '.join(names).lower()}, not {value!r}")
            value = names[value.upper()]
        elif ctype.kind == "pointer" and isinstance(value, dict):
            part = new(ctype.item.cname)
            fill(part, value, keep)
            keep.append(part)
            value = part
        elif _is_descriptor(ctype) and value is not None and not isinstance(value, ffi.CData):
            raise TypeError(f"{key} must be a dict of members of {ctype.item.cname}, not {reprlib.repr(value)}")
        elif value is None and ctype.kind == "pointer":
            value = ffi.NULL
        _set(struct, key, value)


class Owner:
    """One object of the library, which is destroyed after everything that was created in it.

    The collector may end Python's objects in any order, in any thread, and during a call. So the end of one only puts
    it into a queue, and its object is destroyed once no thread uses its context and nothing depends on it.
    """

    _queue: deque = deque()
    _working = threading.Lock()

    def __init__(self, pointer: Any, destroy: Any, lock: threading.Lock, parents: tuple = ()):
        self.pointer, self.destroy, self.lock, self.parents = pointer, destroy, lock, parents
        self.dependants: set = set()
        self.keep: Any = None  # what the object refers to, such as its hooks
        for parent in parents:
            parent.dependants.add(id(self))

    def release(self) -> None:
        """Requests the end. Safe from a finalizer."""
        Owner._queue.append(self)
        Owner.collect()

    def _end(self) -> bool:
        if self.dependants or not self.lock.acquire(False):
            return False
        try:
            pointer, self.pointer = self.pointer, ffi.NULL
            self.destroy(pointer)
        finally:
            self.lock.release()
        for parent in self.parents:
            parent.dependants.discard(id(self))
        return True

    @classmethod
    def collect(cls) -> None:
        """Destroys what can be. What depends on another may come after it in the queue: goes through it until it stays."""
        if not cls._working.acquire(False):
            return
        try:
            ended = True
            while ended:
                ended = False
                for _ in range(len(cls._queue)):
                    owner = cls._queue.popleft()
                    if owner._end():
                        ended = True
                    else:
                        cls._queue.append(owner)
        finally:
            cls._working.release()
