"""Turn what people pass (numbers, lists, arrays, tensors) into nodes of the graph."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TypeAlias

from tensorweb import dtypes
from tensorweb.build.elementwise import cast
from tensorweb.build.movement import copy as copy_node
from tensorweb.build.movement import expand_dims, reshape
from tensorweb.build.selection import concat
from tensorweb.devices import as_device, default_device, require_dtype
from tensorweb.dtypes import DType, as_dtype, check_integer, promote
from tensorweb.errors import DataError, DTypeError, ShapeError
from tensorweb.evaluate import transfer
from tensorweb.graph import HostData, Node, constant, leaf
from tensorweb.hostdata import (
    SEQUENCES,
    buffer_dtype,
    flatten,
    infer_dtype,
    nested_shape,
    pack,
    unpack,
    where,
)
from tensorweb.methods.base import TensorBase
from tensorweb.shapes import Shape

ArrayLike: TypeAlias = object
"""A tensor, a number, nested lists of them, a NumPy array or any buffer."""

DTypeLike: TypeAlias = object
"""A dtype, its name, `bool`, `int`, `float` or a NumPy dtype."""

PLAIN_NUMBERS = (int, float, bool)

EXACT = 1 << 53
"""Integers up to here are floats without rounding."""


def optional_dtype(dtype: DTypeLike) -> DType | None:
    """Return a dtype, or None for None."""
    return None if dtype is None else as_dtype(dtype)


def is_scalar(value: object) -> bool:
    """Whether a value counts as a Python number: it adopts the dtype beside it.

    >>> is_scalar(2.5), is_scalar([2.5])
    (True, False)
    """
    return isinstance(value, int | float | complex) or (
        getattr(value, "shape", None) == ()
        and not isinstance(value, TensorBase)
        and hasattr(value, "item")
        and not hasattr(value, "__dlpack__")
    )


def _python_number(value: object) -> complex:
    if isinstance(value, int | float | complex):
        return value
    number: complex = value.item()  # type: ignore[attr-defined]  # a NumPy scalar
    return number


def scalar_node(value: object, beside: DType, device: str) -> Node:
    """Return a Python number as a constant in the dtype it takes beside a tensor.

    Raises:
        RangeError: an integer does not fit the tensor's dtype.
    """
    if type(value) is float and beside.kind == "float":
        return constant(value, beside, device)
    if type(value) is int and beside.kind == "float" and -EXACT <= value <= EXACT:
        return constant(float(value), beside, device)
    number = _python_number(value)
    dtype = dtypes.python_scalar_dtype(number, beside)
    if dtype.kind in ("int", "uint"):
        check_integer(operator.index(number), dtype)  # type: ignore[arg-type]  # an integer by its dtype
    return constant(_as_constant(number, dtype), dtype, device)


def _as_constant(number: complex, dtype: DType) -> complex:
    if dtype.kind != "float" or not isinstance(number, int):
        return number
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def as_operands(*values: ArrayLike, device: str | None = None) -> tuple[Node, ...]:
    """Return the nodes of operands; Python numbers adopt the tensors' dtype.

    Lists and arrays become tensors on the device of the first tensor, without one on
    `device` or the default device.
    """
    if len(values) == 1 and isinstance(values[0], TensorBase):
        return (values[0].node,)
    if len(values) == 2:
        a, b = values
        if isinstance(a, TensorBase) and isinstance(b, TensorBase):
            return a.node, b.node
        if isinstance(a, TensorBase) and type(b) in PLAIN_NUMBERS:
            return a.node, scalar_node(b, a.node.dtype, a.node.device)
        if isinstance(b, TensorBase) and type(a) in PLAIN_NUMBERS:
            return scalar_node(a, b.node.dtype, b.node.device), b.node
    if all(isinstance(value, TensorBase) for value in values):
        return tuple(value.node for value in values)  # type: ignore[attr-defined]  # just checked
    found = [value.node.device for value in values if isinstance(value, TensorBase)]
    device = found[0] if found else device or default_device()
    nodes = [
        value.node
        if isinstance(value, TensorBase)
        else None
        if is_scalar(value)
        else as_node(value, device=device)
        for value in values
    ]
    common: DType | None = None
    for node in nodes:
        if node is not None:
            common = node.dtype if common is None else promote(common, node.dtype)
    result = []
    for value, node in zip(values, nodes, strict=True):
        if node is None and common is None:
            node = as_node(value, device=device)
        elif node is None and common is not None:
            node = scalar_node(value, common, device)
        if node is not None:
            result.append(node)
    return tuple(result)


def as_node(
    value: ArrayLike,
    dtype: DTypeLike = None,
    device: object = None,
    copy: bool | None = None,
) -> Node:
    """Return the node of anything array-like; see `tensorweb.asarray`."""
    if isinstance(value, TensorBase):
        if dtype is None and device is None and not copy:
            return value.node
        return _from_node(value.node, optional_dtype(dtype), device, copy)
    wanted = optional_dtype(dtype)
    place = as_device(device)
    if copy is False and not is_scalar(value):
        raise DataError(
            f"asarray: copy=False, but data of type {type(value).__name__} cannot "
            "become a tensor without a copy; pass copy=None."
        )
    if isinstance(value, SEQUENCES):
        return _from_list(value, wanted, place)
    if is_scalar(value):
        return _from_number(value, wanted, place)
    return _from_array(value, wanted, place)


def _from_node(
    node: Node, dtype: DType | None, device: object, copy: bool | None
) -> Node:
    place = node.device if device is None else as_device(device)
    wanted = dtype or node.dtype
    if copy is False and (place != node.device or wanted is not node.dtype):
        raise DataError(
            f"asarray: copy=False, but {node.dtype} on {node.device!r} must be copied "
            f"to become {wanted} on {place!r}."
        )
    if wanted is not node.dtype and wanted.name == "float64":
        node = transfer(node, place)
        return cast(node, wanted)
    result = transfer(cast(node, wanted), place) if place != node.device else node
    result = cast(result, wanted)
    return copy_node(result) if copy and result is node else result


def _from_number(value: object, dtype: DType | None, device: str) -> Node:
    number = _python_number(value)
    if type(number) is complex:
        raise DTypeError(
            f"complex number {number!r}: tensorweb has no complex dtype; keep real "
            "and imaginary parts in two tensors."
        )
    wanted = dtype or infer_dtype([number], ())
    require_dtype(wanted, device)
    if wanted.kind in ("int", "uint"):
        return _integer(number, wanted, device)
    return constant(_as_constant(number, wanted), wanted, device)


def _integer(number: complex, dtype: DType, device: str) -> Node:
    try:
        whole = int(number)  # type: ignore[call-overload]  # complex numbers are out
    except (ValueError, OverflowError):
        raise DataError(
            f"the value is {number!r}, which no {dtype} can hold."
        ) from None
    check_integer(whole, dtype)
    return constant(whole, dtype, device)


def _from_list(value: Sequence[object], dtype: DType | None, device: str) -> Node:
    shape = nested_shape(value)
    if isinstance(value, range) and dtype is None:
        items: Sequence[object] = value
        found = dtypes.DEFAULT_INT
    else:
        items, kinds = flatten(value, shape)
        if any(_is_array(kind) for kind in kinds):
            return _stack_items(items, shape, dtype, device)
        found = infer_dtype(items, shape, kinds) if dtype is None else dtype
    require_dtype(found, device)
    return leaf(HostData(pack(items, found, shape)), shape, found, device)


def _is_array(kind: type) -> bool:
    return issubclass(kind, TensorBase) or (
        hasattr(kind, "__array__") and hasattr(kind, "__dlpack__")
    )


def _stack_items(
    items: Sequence[object], shape: Shape, dtype: DType | None, device: str
) -> Node:
    """Return tensors and numbers of one nested list joined into one tensor."""
    tensor_device = next(
        (item.node.device for item in items if isinstance(item, TensorBase)), device
    )
    nodes: list[Node] = []
    for place, item in enumerate(items):
        node = as_node(item, device=None if isinstance(item, TensorBase) else device)
        if nodes and node.shape != nodes[0].shape:
            raise DataError(
                f"ragged list: {where(place, shape)} has shape {node.shape}, "
                f"{where(0, shape)} has {nodes[0].shape}; all must be equal."
            )
        nodes.append(transfer(node, tensor_device))
    inner = nodes[0].shape
    joined = concat([expand_dims(node, (0,)) for node in nodes], 0)
    stacked = reshape(joined, (*shape, *inner))
    return _from_node(stacked, dtype, device, None)


def _from_array(value: object, dtype: DType | None, device: str) -> Node:
    """Return a NumPy array or another buffer as a tensor."""
    view = _buffer(value)
    found = None if view is None else buffer_dtype(view.format, view.itemsize)
    if view is None or found is None:
        raise _unusable(value)
    shape = tuple(view.shape or ())
    if dtype is None:
        _require_for_data(found, device)
    else:
        require_dtype(dtype, device)
    data = view.tobytes()
    if dtype is not None and dtype is not found:
        data = _converted(data, found, dtype, shape)
    return leaf(HostData(data), shape, dtype or found, device)


def _require_for_data(dtype: DType, device: str) -> None:
    """Raise when a device cannot hold an array as it is; never convert quietly."""
    try:
        require_dtype(dtype, device)
    except DTypeError as error:
        near = {"float": "float32", "int": "int32", "uint": "uint32"}[dtype.kind]
        raise DTypeError(
            f"asarray: the data are {dtype}. {error} For data: pass dtype=tw.{near} "
            'to convert them, or device="cpu" to keep them.'
        ) from None


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
    import numpy

    host = (
        numpy.asarray(value)
        if hasattr(value, "__array__")
        else numpy.from_dlpack(value)  # type: ignore[arg-type]  # has __dlpack__
    )
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    try:
        return memoryview(host)  # type: ignore[arg-type]  # arrays are buffers
    except (TypeError, ValueError, BufferError):
        return None


def _unusable(value: object) -> Exception:
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


def as_shape_arguments(shape: tuple[object, ...], name: str) -> tuple[int, ...]:
    """Return lengths given one by one or as one tuple; -1 is allowed.

    Raises:
        ShapeError: they are no integers.
    """
    given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    try:
        if hasattr(given, "__index__"):
            return (operator.index(given),)
        return tuple(operator.index(length) for length in given)  # type: ignore[attr-defined]  # raises TypeError
    except TypeError:
        raise ShapeError(f"{name}: {given!r} is no shape; give integers.") from None
