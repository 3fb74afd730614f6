# SPDX-License-Identifier: MIT
"""Arrays and matrices between Python and the library, without copies where types and layout fit."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, Iterable, Optional, Sequence, Tuple

import numpy as np

from ._native import ArgumentError, UnsupportedError, ffi, lib, new

HOST, DEVICE = 0, 1
_DTYPES = {"double": np.float64, "int32_t": np.int32, "int64_t": np.int64, "uint8_t": np.uint8, "uint64_t": np.uint64}
_CTYPES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
_ALIASES = {"int": "int32_t", "signed char": "int8_t", "unsigned char": "uint8_t"}
_DLPACK_KINDS = {0: "i", 1: "u", 2: "f"}
_CPU_DEVICES, _CUDA_DEVICES = (1, 3), (2, 13)  # with CUDA's pinned host memory, and its managed memory


class Report(SimpleNamespace):
    """The arrays that a call filled in, by name: attributes, listed by vars(report). Long ones are printed in part."""

    def __repr__(self) -> str:
        parts = []
        for name, array in vars(self).items():
            text = repr(array)
            if isinstance(array, np.ndarray):
                style = {"threshold": 20, "edgeitems": 3, "separator": ", ", "max_line_width": 120}
                text = f"{array.dtype} {list(array.shape)} "
                text += np.array2string(array, prefix=f"  {name}={text}", **style)
            parts.append(f"\n  {name}={text}")
        return f"Report({','.join(parts)})"


class _Tensor(ctypes.Structure):
    """DLTensor, with which a DLManagedTensor begins (dlpack.h)."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _contiguous(shape: Sequence[int], strides: Optional[Sequence[int]]) -> bool:
    """Whether the strides, in entries, are those of C order."""
    if strides is None or 0 in shape:
        return True
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def _device_array(array: Any, stream: Optional[int]) -> Optional[Tuple[int, np.dtype, tuple, bool, Any]]:
    """(address, dtype, shape, contiguous, what to keep) of an array in device memory, or None for any other object."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is not None:
        dtype = np.dtype(interface["typestr"])
        strides = interface.get("strides")
        strides = strides and [stride // dtype.itemsize for stride in strides]
        shape = tuple(interface["shape"])
        return interface["data"][0] or 0, dtype, shape, _contiguous(shape, strides), array
    if not hasattr(array, "__dlpack_device__") or array.__dlpack_device__()[0] in _CPU_DEVICES:
        return None
    if array.__dlpack_device__()[0] not in _CUDA_DEVICES:
        raise UnsupportedError("the array is neither in host memory nor on a CUDA device")
    # Without a stream of the caller's the producer is not asked to wait; see Context.
    capsule = array.__dlpack__(stream=-1 if stream is None else stream)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    if tensor.code not in _DLPACK_KINDS or tensor.lanes != 1:
        raise ArgumentError("the array's type is not one of NumPy's numbers")
    dtype = np.dtype(f"{_DLPACK_KINDS[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tensor.strides[: tensor.ndim] if tensor.strides else None
    return (tensor.data or 0) + tensor.byte_offset, dtype, shape, _contiguous(shape, strides), (array, capsule)


def _convert(array: Any, dtype: np.dtype, name: str) -> np.ndarray:
    """A C-contiguous array of this type; the array itself if it is one. No value changes but by rounding to double."""
    array = np.asarray(array)
    if array.size == 0 and array.dtype != dtype:
        array = array.astype(dtype)
    if not np.can_cast(array.dtype, dtype, "same_kind") and not (array.dtype.kind in "iu" and dtype.kind in "iu"):
        raise ArgumentError(f"{name} has the type {array.dtype}; it must be {dtype}")
    result = np.asarray(array, dtype, order="C")
    if result is not array and dtype.kind in "iu" and not np.array_equal(result, array):
        raise ArgumentError(f"a value of {name} does not fit {dtype}")
    return result


def _refuse_mask(array: np.ndarray, name: str) -> None:
    """NumPy takes an array of bool as a mask; as numbers it would mean 0 and 1 over and over."""
    if array.dtype == bool:
        raise ArgumentError(f"{name} has the type bool; it must list numbers, such as np.flatnonzero(mask)")


class Arrays:
    """The arrays of one call. All are in host memory, or all in device memory: `where` says which."""

    def __init__(self, stream: Optional[int] = None):
        self.stream = stream
        self.where = HOST
        self.keep: list = []
        self._first: Optional[str] = None

    def _place(self, where: int, name: str) -> None:
        if self._first is not None and self.where != where:
            raise ArgumentError(f"{self._first} and {name} must both be in host memory, or both on the device")
        self.where, self._first = where, name

    def _pointer(self, array: np.ndarray) -> Any:
        self.keep.append(array)
        return ffi.cast(f"{_CTYPES[array.dtype]} *", array.ctypes.data)

    def _on_device(self, array: Any, dtype: np.dtype, shape: Optional[tuple], name: str) -> Any:
        found = _device_array(array, self.stream)
        if found is None:
            return None
        address, actual, actual_shape, contiguous, kept = found
        if actual != dtype or not contiguous:
            raise ArgumentError(f"{name}, on the device, must be a contiguous array of {dtype}")
        if shape is not None and actual_shape != shape:
            raise ArgumentError(f"{name} has the shape {list(actual_shape)}; it must be {list(shape)}")
        self.keep.append(kept)
        self._place(DEVICE, name)
        return ffi.cast(f"{_CTYPES[dtype]} *", address), actual_shape

    def read(self, array: Any, dtype: Any, shape: Optional[tuple], name: str) -> Any:
        """The pointer to an input. None: NULL. A number stands for an array with that value everywhere."""
        if array is None:
            return ffi.NULL
        dtype = np.dtype(dtype)
        found = self._on_device(array, dtype, shape, name)
        if found:
            return found[0]
        array = _convert(array, dtype, name)
        if array.ndim == 0 and shape is not None:
            array = np.full(shape, array, dtype)
        if shape is not None and array.shape != shape:
            raise ArgumentError(f"{name} has the shape {list(array.shape)}; it must be {list(shape)}")
        self._place(HOST, name)
        return self._pointer(array)

    def list(self, array: Any, name: str, most: int) -> Tuple[Any, int]:
        """The pointer to a list of int32 numbers, and its length. None: NULL, for all `most`."""
        if array is None:
            return ffi.NULL, most
        found = self._on_device(array, np.dtype(np.int32), None, name)
        if found:
            return found[0], int(np.prod(found[1]))
        array = np.atleast_1d(np.asarray(array))
        _refuse_mask(array, name)
        array = _convert(array, np.dtype(np.int32), name)
        if array.ndim != 1:
            raise ArgumentError(f"{name} has the shape {list(array.shape)}; it must have one dimension")
        self._place(HOST, name)
        return self._pointer(array), len(array)

    def write(self, out: Any, dtype: Any, shape: tuple, name: str = "out") -> Tuple[Any, Any]:
        """The pointer to an output and its array: `out`, or a new NumPy array."""
        dtype = np.dtype(dtype)
        if out is None:
            out = np.empty(shape, dtype)
        else:
            found = self._on_device(out, dtype, shape, name)
            if found:
                return found[0], out
            fits = isinstance(out, np.ndarray) and out.flags.c_contiguous and out.flags.writeable
            if not fits or out.dtype != dtype or out.shape != shape:
                raise ArgumentError(f"{name} must be a writeable, contiguous array of {dtype} {list(shape)}")
        self._place(HOST, name)
        return self._pointer(out), out

    def lists(
        self, struct: Any, start_name: str, index_name: str, items: Optional[Sequence[Any]], **values: Any
    ) -> None:
        """Sets the starts, the indices and the values in a struct that has a list of them for each of several items.
        values: as long as items, entry by entry; None: no such values. items None: no lists."""
        if items is None:
            for name, parts in values.items():
                if parts is not None:
                    raise ArgumentError(f"{name} was given without {index_name}")
            return
        sizes = [np.size(item) for item in items]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        setattr(struct, start_name, self.read(start, np.int64, None, start_name))
        for name, parts in [(index_name, items), *values.items()]:
            if parts is None:
                continue
            if [np.size(part) for part in parts] != sizes:
                raise ArgumentError(f"{name} must have as many entries as {index_name} in each list")
            dtype = dtype_of(dict(ffi.typeof(struct).item.fields)[name].type.item)
            joined = np.concatenate([np.ravel(part) for part in parts if np.size(part)] or [np.empty(0)])
            if name == index_name:
                _refuse_mask(joined, name)
            setattr(struct, name, self.read(joined, dtype, (int(start[-1]),), name))

    def must_be_host(self) -> None:
        """For calls that take host memory alone."""
        if self.where != HOST:
            raise ArgumentError(f"{self._first} must be in host memory")

    def report(self, struct: str, shapes: dict, names: Optional[Iterable[str]], out: Optional[dict]) -> Any:
        """A struct of output arrays and the Report of them. names: which ones; None: all in shapes. out: the caller's
        arrays by name; then only these."""
        result = new(struct)
        fields = dict(ffi.typeof(struct).fields)
        names = [names] if isinstance(names, str) else names
        wanted = list(out) if out is not None else list(shapes) if names is None else list(names)
        arrays = {}
        for name in wanted:
            if name not in shapes:
                raise ArgumentError(f"there is no array {name}, but {', '.join(shapes)}")
            pointer, array = self.write((out or {}).get(name), dtype_of(fields[name].type.item), shapes[name], name)
            setattr(result, name, pointer)
            arrays[name] = array
        return result, Report(**arrays)


def dtype_of(ctype: Any) -> np.dtype:
    name = _ALIASES.get(ctype.cname, ctype.cname)
    return np.dtype(_DTYPES[name])


def listing(call: Any, struct: Any, names: Sequence[str]) -> Report:
    """Reads a list in two calls: its length, and then its arrays, which the struct has beside capacity and count."""
    call(struct)
    count = struct.count
    arrays = {}
    fields = dict(ffi.typeof(struct).item.fields)
    for name in names:
        arrays[name] = np.empty(count, dtype_of(fields[name].type.item))
        setattr(struct, name, ffi.cast(fields[name].type, arrays[name].ctypes.data))
    struct.capacity = count
    if count:
        call(struct)
    return Report(**arrays)


def matrix(A: Any, target: Any, arrays: Arrays) -> None:
    """Fills a gpuopt_matrix with a SciPy sparse matrix, or a NumPy array, of two dimensions.

    CSR and CSC are used as they are: double values and int32 indices without a copy. Others are converted to CSR.
    """
    if hasattr(A, "format") and hasattr(A, "tocsr"):
        A = A if A.format in ("csr", "csc") else A.tocsr()
        layout = lib.GPUOPT_LAYOUT_CSR if A.format == "csr" else lib.GPUOPT_LAYOUT_CSC
        start, index, value, shape = A.indptr, A.indices, A.data, A.shape
    else:
        A = np.asarray(A)
        if A.ndim != 2:
            raise ArgumentError(f"the matrix has the shape {list(A.shape)}; it must have two dimensions")
        shape, layout = A.shape, lib.GPUOPT_LAYOUT_CSR
        rows, index = np.nonzero(A)
        value = A[rows, index]
        start = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))]) if shape[0] else [0]
    target.rows, target.cols = shape
    target.layout = layout
    lines = shape[0] if layout == lib.GPUOPT_LAYOUT_CSR else shape[1]
    host = Arrays()
    target.start = host.read(start, np.int64, (lines + 1,), "A.indptr")
    target.index = host.read(index, np.int32, None, "A.indices")
    target.value = host.read(value, np.float64, (len(index),), "A.data")
    arrays.keep.append(host)


def shape_of(A: Any) -> Tuple[int, int]:
    shape = np.shape(A) if not hasattr(A, "shape") else A.shape
    if len(shape) != 2:
        raise ArgumentError(f"the matrix has the shape {list(shape)}; it must have two dimensions")
    return shape[0], shape[1]
