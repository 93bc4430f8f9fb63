"""Turn what people pass (numbers, lists, arrays, tensors) into nodes of the graph."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TypeAlias

from tensorweb import dtypes
from tensorweb.devices import as_device, default_device, stores, usable_dtype
from tensorweb.dtypes import DType, as_dtype, check_integer, integer_range, promote
from tensorweb.errors import DataError, DTypeError, ShapeTypeError
from tensorweb.evaluate import read, transfer
from tensorweb.graph.node import Node, constant, leaf
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import (
    MOST_AXES,
    SEQUENCES,
    flatten,
    infer_dtype,
    nested_shape,
    pack,
    where,
)
from tensorweb.nodes.elementwise import cast
from tensorweb.nodes.movement import copy as copy_node
from tensorweb.nodes.movement import expand_dims, reshape
from tensorweb.nodes.selection import concat
from tensorweb.shapes import Shape, is_integer
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.hostarrays import (
    array_node,
    check_fit,
    is_array_like,
    is_numpy_scalar,
    numbers_of,
    numpy_scalar_node,
)

ArrayLike: TypeAlias = object
"""A tensor, a number, nested lists of them, a NumPy array or any buffer."""

DTypeLike: TypeAlias = object
"""A dtype, its name, `bool`, `int`, `float` or a NumPy dtype."""

PLAIN_NUMBERS = (int, float, bool)

EXTENDED = ("clongdouble", "complex192", "complex256")
"""NumPy's complex dtypes wider than Python's, whose `item()` is of their own class."""

WIDE_UNSIGNED = (dtypes.uint32, dtypes.uint64)

EXACT = 1 << 53
"""Integers up to here are floats without rounding."""


def optional_dtype(dtype: DTypeLike) -> DType | None:
    """Return a dtype, or None for None."""
    return None if dtype is None else as_dtype(dtype)


def is_scalar(value: object) -> bool:
    """Whether a value is a Python number: it adopts the dtype of the other operand.

    NumPy's numbers are none: they have a dtype of their own.

    >>> is_scalar(2.5), is_scalar([2.5])
    (True, False)
    """
    return isinstance(value, int | float | complex) and not hasattr(value, "dtype")


def is_number(value: object) -> bool:
    """Whether a value is one of Python's numbers or of NumPy's.

    >>> is_number(2.5), is_number([2.5])
    (True, False)
    """
    return isinstance(value, int | float | complex) or is_numpy_scalar(value)


def number_of_scalar(value: object) -> complex:
    """Return one of Python's or NumPy's numbers as exactly Python's own class.

    NumPy's double precision numbers, enumerations and others are subclasses of it.

    >>> import enum
    >>> number_of_scalar(enum.IntEnum("Size", "SMALL LARGE").LARGE)
    2
    """
    if type(value) in PLAIN_NUMBERS or type(value) is complex:
        return value  # type: ignore[return-value]  # just checked
    number: object = value.item() if is_numpy_scalar(value) else value  # type: ignore[attr-defined]  # a NumPy scalar
    if isinstance(number, bool):
        return number
    if isinstance(number, int):
        return int(number)
    if isinstance(number, complex) or str(getattr(number, "dtype", "")) in EXTENDED:
        return complex(number)  # type: ignore[call-overload,no-any-return]  # a complex number
    return float(number)  # type: ignore[arg-type]  # a float, or one of extended precision


def scalar_node(value: object, other: DType, device: str) -> Node:
    """Return a Python number as a constant for an operand of dtype `other`.

    With complex numbers a real one is a float: nothing is added to its 0 imaginary
    part, and nothing multiplied by it.

    Raises:
        RangeError: an integer does not fit the tensor's dtype.
    """
    if type(value) is float:
        if other.kind == "float":
            return constant(value, other, device)
        if other.kind == "complex":
            return constant(value, other.part, device)
    if type(value) is int and other.kind == "float" and -EXACT <= value <= EXACT:
        return constant(float(value), other, device)
    number = number_of_scalar(value)
    dtype = dtypes.python_scalar_dtype(number, other)
    if type(number) is not complex:  # a real operand stays one
        dtype = dtype.part
    if dtype.kind in ("int", "uint"):
        check_integer(operator.index(number), dtype)  # type: ignore[arg-type]  # an integer by its dtype
    return constant(_as_constant(number, dtype), dtype, device)


def _as_constant(number: complex, dtype: DType) -> complex:
    if dtype.kind not in ("float", "complex") or not isinstance(number, int):
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
    devices = [value.node.device for value in values if isinstance(value, TensorBase)]
    device = devices[0] if devices else device or default_device()
    other = _common_dtype(
        [value.node for value in values if isinstance(value, TensorBase)]
    )
    nodes = [
        value.node
        if isinstance(value, TensorBase)
        else None
        if is_scalar(value)
        else host_operand(value, device, other)
        for value in values
    ]
    found = [node for node in nodes if node is not None]
    if len(found) == len(nodes):  # without numbers no dtype need be common
        return tuple(found)
    common = _common_dtype(found)
    return tuple(
        node
        if node is not None
        else as_node(value, device=device)
        if common is None
        else scalar_node(value, common, device)
        for value, node in zip(values, nodes, strict=True)
    )


def _common_dtype(nodes: Sequence[Node]) -> DType | None:
    common: DType | None = None
    for node in nodes:
        common = node.dtype if common is None else promote(common, node.dtype)
    return common


def device_of(*values: ArrayLike) -> str | None:
    """Return the device of the first tensor among values, None without one.

    >>> device_of([1.0], tw.ones(2, device="cpu")), device_of([1.0])
    ('cpu', None)
    """
    nodes = (value.node for value in values if isinstance(value, TensorBase))
    return next((node.device for node in nodes), None)


def host_operand(value: ArrayLike, device: str, other: DType | None) -> Node:
    """Return host data as an operand for tensors of dtype `other`.

    A number keeps the kind that it has alone, and takes the digits of wide tensors.
    """
    if is_scalar(value):
        return _from_number(value, _as_exact(infer_dtype([value], ()), other), device)
    if isinstance(value, SEQUENCES):
        return _from_list(value, None, device, other)
    if is_numpy_scalar(value):
        return numpy_scalar_node(value, device, other)
    return array_node(value, None, device, other)


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
    requested = optional_dtype(dtype)
    target = as_device(device)
    if copy is False and not is_number(value):
        raise DataError(
            f"asarray: copy=False, but data of type {type(value).__name__} cannot "
            "become a tensor without a copy; pass copy=None."
        )
    if isinstance(value, SEQUENCES):
        return _from_list(value, requested, target)
    if is_scalar(value):
        return _from_number(value, requested, target)
    if is_numpy_scalar(value):
        if requested is None:
            return numpy_scalar_node(value, target)
        return _from_number(value, requested, target)
    return array_node(value, requested, target)


def _from_node(
    node: Node, dtype: DType | None, device: object, copy: bool | None
) -> Node:
    target = node.device if device is None else as_device(device)
    new_dtype = usable_dtype(dtype or node.dtype, target)
    if copy is False and (target != node.device or new_dtype is not node.dtype):
        raise DataError(
            f"asarray: copy=False, but {node.dtype} on {node.device!r} must be copied "
            f"to become {new_dtype} on {target!r}."
        )
    if not stores(new_dtype, node.device):
        node = transfer(node, target)
    elif new_dtype is not (dtype or node.dtype) and target != node.device:
        _check_integers_fit(node, new_dtype)  # which the program did not name
    result = transfer(cast(node, new_dtype), target) if target != node.device else node
    result = cast(result, new_dtype)
    return copy_node(result) if copy and result is node else result


def _check_integers_fit(node: Node, dtype: DType) -> None:
    """Raise `RangeError` where a narrower dtype cannot hold integers of a node."""
    if {node.dtype.kind, dtype.kind} <= {"int", "uint"}:
        check_fit(numbers_of(read([node])[0], node.dtype), dtype, node.shape)


def _from_number(value: object, dtype: DType | None, device: str) -> Node:
    number = number_of_scalar(value)
    result_dtype = usable_dtype(dtype or infer_dtype([number], ()), device)
    if type(number) is complex and result_dtype.kind not in ("complex", "bool"):
        raise DTypeError(
            f"asarray: the value is the complex number {number!r}, and {result_dtype} "
            "holds no imaginary part; take number.real, or a complex dtype."
        )
    if result_dtype.kind in ("int", "uint"):
        return _integer(number, result_dtype, device)
    return constant(_as_constant(number, result_dtype), result_dtype, device)


def _integer(number: complex, dtype: DType, device: str) -> Node:
    try:
        integer = int(number)  # type: ignore[call-overload]  # complex numbers are out
    except (ValueError, OverflowError):
        raise DataError(
            f"the value is {number!r}, which no {dtype} can hold."
        ) from None
    check_integer(integer, dtype)
    return constant(integer, dtype, device)


def _from_list(
    value: Sequence[object],
    dtype: DType | None,
    device: str,
    other: DType | None = None,
) -> Node:
    shape = nested_shape(value)
    if isinstance(value, range) and dtype is None:
        items: Sequence[object] = value
        item_dtype = dtypes.DEFAULT_INT
    else:
        try:
            items, kinds = flatten(value, shape)
        except DataError:
            if not _holds_array(value):
                raise
            return _stack_items(list(value), (len(value),), dtype, device)
        if any(_is_array(kind) for kind in kinds):
            return _stack_items(items, shape, dtype, device)
        item_dtype = infer_dtype(items, shape, kinds) if dtype is None else dtype
    if other is not None and dtype is None:
        if other in WIDE_UNSIGNED and item_dtype is dtypes.DEFAULT_INT:
            item_dtype = _unsigned_if_fitting(items, item_dtype, other)
        item_dtype = _as_exact(item_dtype, other)
    item_dtype = usable_dtype(item_dtype, device)
    return leaf(HostData(pack(items, item_dtype, shape)), shape, item_dtype, device)


def _as_exact(dtype: DType, other: DType | None) -> DType:
    """Return the dtype of a list's numbers; a wide `other` keeps all digits."""
    if other is None or other.part is not dtypes.float64:
        return dtype
    wide = {dtypes.DEFAULT_FLOAT: dtypes.float64, dtypes.complex64: dtypes.complex128}
    return wide.get(dtype, dtype)


def _unsigned_if_fitting(items: Sequence[object], dtype: DType, other: DType) -> DType:
    """Return the unsigned dtype `other` if it holds all integers of a list.

    No other dtype of 32 bits holds what both hold.
    """
    low, high = integer_range(other)
    fits = all(low <= item <= high for item in items)  # type: ignore[operator]  # integers by their dtype
    return other if fits else dtype


def _is_array(kind: type) -> bool:
    return issubclass(kind, TensorBase) or is_array_like(kind)


def _holds_array(value: object, depth: int = 0) -> bool:
    """Whether an array is among the items of nested lists, or in lists of them."""
    if not isinstance(value, SEQUENCES):
        return _is_array(type(value))
    return depth < MOST_AXES and any(_holds_array(item, depth + 1) for item in value)


def _stack_items(
    items: Sequence[object], shape: Shape, dtype: DType | None, device: str
) -> Node:
    """Return tensors and numbers of one nested list joined into one tensor."""
    tensor_device = next(
        (item.node.device for item in items if isinstance(item, TensorBase)), device
    )
    nodes: list[Node] = []
    other = _common_dtype([x.node for x in items if isinstance(x, TensorBase)])
    for index, item in enumerate(items):
        if isinstance(item, TensorBase):
            node = item.node
        elif is_scalar(item) and not isinstance(item, int):
            item_dtype = infer_dtype([item], ())
            node = _from_number(item, _as_exact(item_dtype, other), tensor_device)
        elif is_number(item) or isinstance(item, SEQUENCES):
            node = as_node(item, device=tensor_device)
        else:
            node = host_operand(item, tensor_device, other)
        if nodes and node.shape != nodes[0].shape:
            raise DataError(
                f"ragged list: {where(index, shape)} has shape {node.shape}, "
                f"{where(0, shape)} has {nodes[0].shape}; all must be equal."
            )
        nodes.append(transfer(node, tensor_device))
    inner = nodes[0].shape
    joined = concat([expand_dims(node, (0,)) for node in nodes], 0)
    stacked = reshape(joined, (*shape, *inner))
    return _from_node(stacked, dtype, device, None)


def as_shape_arguments(shape: tuple[object, ...], name: str) -> tuple[int, ...]:
    """Return lengths given one by one or as one tuple; -1 is allowed.

    Raises:
        ShapeTypeError: they are no integers.
    """
    lengths = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    try:
        if is_integer(lengths):
            return (operator.index(lengths),)
        return tuple(operator.index(length) for length in lengths)  # type: ignore[attr-defined]  # raises TypeError
    except TypeError:
        raise ShapeTypeError(
            f"{name}: {lengths!r} is no shape; give integers."
        ) from None
