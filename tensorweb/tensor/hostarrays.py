"""Turn NumPy arrays, NumPy scalars and other buffers into nodes of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb import dtypes
from tensorweb.devices import require_dtype, stores
from tensorweb.dtypes import DType, as_dtype, integer_range
from tensorweb.errors import DataError, DTypeError, NarrowedDataWarning, RangeError
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import buffer_dtype, pack, unpack, where
from tensorweb.notices import warn_once
from tensorweb.shapes import Shape
from tensorweb.tensor.numpy_module import require_numpy

NARROWER = {
    dtypes.float64: dtypes.float32,
    dtypes.int64: dtypes.int32,
    dtypes.uint64: dtypes.uint32,
}
"""What host data become where a device lacks their dtype."""


def is_numpy_scalar(value: object) -> bool:
    """Whether a value is one of NumPy's numbers such as `np.float32(2)`."""
    return (
        getattr(value, "shape", None) == ()
        and hasattr(value, "item")
        and hasattr(value, "dtype")
        and not hasattr(value, "__dlpack__")
    )


def numpy_scalar_node(value: object, device: str, beside: DType | None = None) -> Node:
    """Return a NumPy scalar as a constant of its own dtype.

    Beside a tensor of the dtype `beside`, as in `array_node`.

    Raises:
        RangeError: the device has a narrower dtype only, which the value does not fit.
    """
    try:
        found = as_dtype(value.dtype)  # type: ignore[attr-defined]  # a NumPy scalar
    except DTypeError:
        raise unusable(value) from None
    number: float = value.item()  # type: ignore[attr-defined]  # likewise
    if stores(found, device):
        return constant(number, found, device)
    return constant(number, _stored([number], found, device, beside, ()), device)


def array_node(
    value: object,
    dtype: DType | None,
    device: str,
    beside: DType | None = None,
    must_fit: bool = False,
) -> Node:
    """Return an array or another buffer as a node.

    Without a dtype it keeps its own. 64-bit data that the device cannot store become
    32-bit, with a warning; beside a tensor whose dtype the result would have anyway
    they become that. With `must_fit` integers are never wrapped around.

    Raises:
        DataError, DTypeError: this is no array of numbers, or the device lacks a dtype.
        RangeError: integers do not fit.
    """
    view = _buffer(value)
    found = None if view is None else buffer_dtype(view.format, view.itemsize)
    if view is None or found is None:
        raise unusable(value)
    shape = tuple(view.shape or ())
    data = view.tobytes()
    if dtype is not None:
        require_dtype(dtype, device)
        wanted = dtype
        if must_fit and wanted is not found and wanted.kind in ("int", "uint"):
            _check_fit(_numbers(data, found), wanted, shape)
    elif stores(found, device):
        wanted = found
    else:
        wanted = _stored(_numbers(data, found), found, device, beside, shape)
    if wanted is not found:
        data = _converted(data, found, wanted, shape)
    return leaf(HostData(data), shape, wanted, device)


def _stored(
    numbers: Sequence[float],
    found: DType,
    device: str,
    beside: DType | None,
    shape: Shape,
) -> DType:
    """Return the dtype that data of a dtype which the device lacks become; warns."""
    if beside is not None and beside.kind == "float" and found.kind != "float":
        return beside
    near = NARROWER.get(found)
    if near is None or not stores(near, device):
        raise _unstored(found, device)
    if near.kind != "float":
        if beside is dtypes.uint32 and all(number >= 0 for number in numbers):
            near = dtypes.uint32
        _check_fit(numbers, near, shape)
    warn_once(
        NarrowedDataWarning,
        f"{found} data became {near}: device {device!r} has no 64-bit numbers, so "
        "float64 becomes float32, int64 int32 and uint64 uint32. Say "
        f'dtype=tw.{near} to mean it, or device="cpu" to keep {found}. This is said '
        "once a program, about its first such data.",
    )
    return near


def _check_fit(numbers: Sequence[float], dtype: DType, shape: Shape) -> None:
    """Raise `RangeError` for the first integer that a dtype cannot hold."""
    low, high = integer_range(dtype)
    if not len(numbers) or (low <= min(numbers) and max(numbers) <= high):
        return
    for index, number in enumerate(numbers):
        if not low <= number <= high:
            raise RangeError(
                f"asarray: {where(index, shape)} is {number}, which does not fit "
                f"{dtype} ({low} to {high}); pass dtype=tw.float32 to round it, or "
                'device="cpu" to keep it.'
            )


def _numbers(data: bytes, dtype: DType) -> Sequence[float]:
    """Return row-major bytes as Python numbers, read when they are asked for."""
    if dtype.kind == "float":
        return ()
    return memoryview(data).cast(dtype.typecode)  # type: ignore[call-overload,no-any-return]  # a dtype's letter is a native one


def _unstored(dtype: DType, device: str) -> DTypeError:
    """Return the error for data that a device can hold in no dtype of their kind."""
    try:
        require_dtype(dtype, device)
    except DTypeError as error:
        near = {"float": "float32", "int": "int32", "uint": "uint32"}[dtype.kind]
        return DTypeError(
            f"asarray: the data are {dtype}. {error} For data: pass dtype=tw.{near} "
            'to convert them, or device="cpu" to keep them.'
        )
    raise AssertionError("internal: only asked for dtypes that are not there")


def _buffer(value: object) -> memoryview | None:
    """Return a value's memory, asking `__array__` where there is no native buffer."""
    try:
        view = memoryview(value)  # type: ignore[arg-type]  # raises TypeError if it is none
    except (TypeError, ValueError, BufferError):
        view = None
    if view is not None and not view.format.startswith((">", "!")):
        return view
    if not hasattr(value, "__array__") and not hasattr(value, "__dlpack__"):
        return view
    who = f"asarray of a {type(value).__name__}"
    numpy = require_numpy(who, "give numbers, nested lists or a buffer")
    host = (
        numpy.asarray(value)
        if hasattr(value, "__array__")
        else numpy.from_dlpack(value)
    )
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    try:
        return memoryview(host)
    except (TypeError, ValueError, BufferError):
        return None


def unusable(value: object) -> Exception:
    """Return the error for a value that no tensor can be made of."""
    if isinstance(value, str):
        return DataError(
            f"the string {value[:40]!r} is no number; tensors hold numbers."
        )
    kind = getattr(value, "dtype", None)
    if kind is not None and getattr(kind, "kind", "") == "c":
        return DTypeError(
            f"dtype {kind}: tensorweb has no complex dtype; keep real and imaginary "
            "parts in two tensors."
        )
    what = f" of dtype {kind}" if kind is not None else ""
    return DataError(
        f"data of type {type(value).__name__}{what} cannot become a tensor; give "
        "numbers, nested lists of numbers, a NumPy array or a buffer."
    )


def _converted(data: bytes, old: DType, new: DType, shape: Shape) -> bytes:
    """Return bytes of one dtype as another, with NumPy where it is installed."""
    try:
        import numpy
    except ImportError:
        flat = unpack(data, old, (len(data) // old.itemsize,))
        assert isinstance(flat, list), "internal: a flat read gives a list"
        return pack(flat, new, (len(flat),))
    with numpy.errstate(all="ignore"):
        host = numpy.frombuffer(data, old.name).astype(new.name)
    return host.tobytes()
