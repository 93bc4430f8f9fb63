"""Turn Python lists and buffers into row-major bytes, and back; no graphs."""

from __future__ import annotations

import operator
import struct
from array import array
from collections import deque
from collections.abc import Sequence
from itertools import chain
from typing import Any

from tensorweb import dtypes
from tensorweb.dtypes import DType, check_integer, rounded_to
from tensorweb.errors import DataError, RangeError
from tensorweb.shapes import Shape, size, unravel_index

Number = bool | int | float

SEQUENCES = (list, tuple, range, deque)

MOST_AXES = 64
"""Deepest nesting of lists, so that one that contains itself ends."""

MOST_ITEMS = 2**31 - 1
"""More numbers than lists hold: only ranges have them."""

_FORMATS: dict[str, tuple[str, str]] = {
    "float": ("efd", ""),
    "int": ("bhilqn", ""),
    "uint": ("BHILQN", ""),
}


def nested_shape(data: object) -> Shape:
    """Return the shape that the first items of nested sequences suggest.

    Raises:
        DataError: the nesting does not end, or there are too many numbers.

    >>> nested_shape([[1, 2, 3], [4, 5, 6]])
    (2, 3)
    """
    lengths: list[int] = []
    while isinstance(data, SEQUENCES):
        if len(lengths) == MOST_AXES:
            raise DataError(
                f"lists nest deeper than {MOST_AXES} levels; one may contain itself."
            )
        lengths.append(_length(data))
        if not data:
            break
        data = data[0]
    if size(lengths) > MOST_ITEMS:
        raise DataError(
            f"{size(lengths):,} numbers are too many for lists; let the device count "
            "them, as tw.arange does."
        )
    return tuple(lengths)


def _length(data: Sequence[object]) -> int:
    """Return a length; `len` raises OverflowError for very long ranges."""
    if isinstance(data, range):
        return max(-((data.start - data.stop) // data.step), 0)
    return len(data)


def flatten(data: object, shape: Shape) -> tuple[list[object], set[type]]:
    """Return the items of nested sequences in row-major order, and their types.

    Raises:
        DataError: rows differ in length or depth; names the item.
    """
    level: list[object] = [data]
    for axis, length in enumerate(shape):
        kinds = set(map(type, level))
        if not all(issubclass(kind, SEQUENCES) for kind in kinds) or (
            set(map(len, level)) != {length}  # type: ignore[arg-type]  # all are sequences
        ):
            _raise_ragged(level, axis, shape, length)
        level = list(chain.from_iterable(level))  # type: ignore[arg-type]  # as above
    kinds = set(map(type, level))
    if any(issubclass(kind, SEQUENCES) for kind in kinds):
        _raise_deeper(level, shape)
    return level, kinds


def _raise_deeper(level: Sequence[object], shape: Shape) -> None:
    for position, item in enumerate(level):
        if isinstance(item, SEQUENCES):
            raise DataError(
                f"ragged list: {_where(position, shape)} is a sequence of {len(item)} "
                f"items where {_where(0, shape)} is a number; all rows must nest alike."
            )


def _where(position: int, shape: Shape) -> str:
    index = unravel_index(position, shape)
    if len(index) == 1:
        return f"row {index[0]}"
    return "item " + "".join(f"[{i}]" for i in index)


def _raise_ragged(
    level: Sequence[object], axis: int, shape: Shape, length: int
) -> None:
    outer = shape[:axis]
    for position, row in enumerate(level):
        if not isinstance(row, SEQUENCES):
            raise DataError(
                f"ragged list: {_where(position, outer)} is {row!r}, "
                f"{_where(0, outer)} has {length} items; all rows must nest alike."
            )
        if len(row) != length:
            raise DataError(
                f"ragged list: {_where(position, outer)} has {len(row)} items, "
                f"{_where(0, outer)} has {length}; all rows must have equal lengths."
            )


def infer_dtype(
    items: Sequence[object], shape: Shape, types: set[type] | None = None
) -> DType:
    """Return bool, int32, float32 or complex64: what items need; types may be known.

    Raises:
        DataError: an item is no number; names its index.
    """
    kinds = set(map(type, items)) if types is None else types
    if not kinds:
        return dtypes.DEFAULT_FLOAT
    if kinds == {bool}:
        return dtypes.bool
    if kinds <= {bool, int}:
        return dtypes.DEFAULT_INT
    if kinds <= {bool, int, float}:
        return dtypes.DEFAULT_FLOAT
    if kinds <= {bool, int, float, complex}:
        return dtypes.DEFAULT_COMPLEX
    return _infer_slowly(items, shape)


def _infer_slowly(items: Sequence[object], shape: Shape) -> DType:
    kind = "bool"
    for position, given in enumerate(items):
        item = given.item() if hasattr(given, "item") else given
        if isinstance(item, complex):
            kind = "complex"
        elif isinstance(item, float):
            kind = "float" if kind != "complex" else kind
        elif not isinstance(item, bool) and hasattr(item, "__index__"):
            kind = "int" if kind == "bool" else kind
        elif not isinstance(item, bool):
            raise DataError(
                f"{where(position, shape)} is {_short(item)} of type "
                f"{type(item).__name__}; tensors are made of numbers"
                + ("." if not hasattr(item, "__float__") else ", float(item) is one.")
            )
    return {
        "complex": dtypes.DEFAULT_COMPLEX,
        "float": dtypes.DEFAULT_FLOAT,
        "int": dtypes.DEFAULT_INT,
        "bool": dtypes.bool,
    }[kind]


def _short(item: object) -> str:
    text = repr(item)
    return text if len(text) <= 40 else text[:37] + "..."


def where(position: int, shape: Shape) -> str:
    """Return words for the index of an item in nested lists.

    >>> where(4, (2, 3)), where(0, ())
    ('the item at [1][1]', 'the value')
    """
    if not shape:
        return "the value"
    index = unravel_index(position, shape)
    return "the item at " + "".join(f"[{i}]" for i in index)


def pack(items: Sequence[object], dtype: DType, shape: Shape) -> bytes:
    """Return numbers as bytes of a dtype; floats become integers by truncation.

    Raises:
        RangeError: an integer does not fit; names its index.
        DataError: an item is no number, or NaN or infinite for an integer dtype.
    """
    if dtype.kind == "bool":
        infer_dtype(items, shape)
        return bytes(map(bool, items))
    if dtype.kind == "complex":
        infer_dtype(items, shape)
        return _pack_slowly(_interleaved(items), dtype.part, (*shape, 2))
    try:
        if dtype is dtypes.float16:
            return struct.pack(f"{len(items)}e", *items)
        if dtype is dtypes.bfloat16:
            return _pack_slowly(items, dtype, shape)
        return array(dtype.typecode, items).tobytes()  # type: ignore[type-var]  # a wrong item raises
    except (TypeError, OverflowError, struct.error):
        infer_dtype(items, shape)
    return _pack_slowly(items, dtype, shape)


def _interleaved(items: Sequence[object]) -> list[object]:
    """Return real and imaginary part of each number, one after the other."""
    found: list[object] = []
    for item in items:
        number: Any = item if hasattr(item, "imag") else complex(item)  # type: ignore[call-overload]  # infer_dtype has seen it
        found += (number.real, number.imag)
    return found


def _pack_slowly(items: Sequence[object], dtype: DType, shape: Shape) -> bytes:
    if dtype.kind == "float":
        numbers = [_as_float(item) for item in items]
        if dtype.wide is not dtype:
            numbers = [rounded_to(number, dtype) for number in numbers]
        if dtype is dtypes.bfloat16:
            return upper_halves(array("f", numbers).tobytes())
        if dtype is dtypes.float16:
            return struct.pack(f"{len(numbers)}e", *numbers)
        return array(dtype.typecode, numbers).tobytes()
    whole = []
    for position, item in enumerate(items):
        try:
            number = int(item)  # type: ignore[call-overload]  # infer_dtype has seen it
            check_integer(number, dtype)
        except RangeError as error:
            raise RangeError(f"{where(position, shape)}: {error}") from None
        except (ValueError, OverflowError):
            raise DataError(
                f"{where(position, shape)} is {item!r}, which no {dtype} can hold."
            ) from None
        whole.append(number)
    return array(dtype.typecode, whole).tobytes()


def _as_float(item: object) -> float:
    try:
        return float(item)  # type: ignore[arg-type]  # infer_dtype has seen it
    except OverflowError:
        return float("inf") if operator.index(item) > 0 else float("-inf")  # type: ignore[arg-type]  # only integers overflow


def upper_halves(data: bytes) -> bytes:
    """Return float32 numbers as the bfloat16 ones of their upper 16 bits."""
    result = bytearray(len(data) // 2)
    result[0::2], result[1::2] = data[2::4], data[3::4]
    return bytes(result)


def widened(halves: bytes) -> bytes:
    """Return bfloat16 numbers as float32: the same bits, and 16 zeros below.

    >>> struct.unpack("<2f", widened(bytes([0x80, 0x3F, 0x20, 0xC0])))
    (1.0, -2.5)
    """
    result = bytearray(2 * len(halves))
    result[2::4], result[3::4] = halves[0::2], halves[1::2]
    return bytes(result)


def buffer_dtype(form: str, width: int) -> DType | None:
    """Return the dtype of a buffer's native format letter, None when there is none.

    >>> buffer_dtype("l", 8), buffer_dtype("f", 4)
    (tensorweb.int64, tensorweb.float32)
    """
    letter = form.lstrip("@=<")
    if letter in ("Zf", "Zd"):
        return dtypes.complex64 if letter == "Zf" else dtypes.complex128
    if letter in ("?", "c"):
        return dtypes.bool if letter == "?" else dtypes.uint8
    for kind, (letters, _) in _FORMATS.items():
        if letter and letter in letters:
            return dtypes.BY_NAME.get(f"{kind}{width * 8}")
    return None


def unpack(data: bytes, dtype: DType, shape: Shape) -> object:
    """Return row-major bytes as nested lists of Python numbers, a number for 0-d.

    >>> unpack(bytes([1, 2, 3, 4, 5, 6]), dtypes.uint8, (2, 3))
    [[1, 2, 3], [4, 5, 6]]
    """
    if size(shape) == 0:
        return _empty(shape)
    if dtype is dtypes.bfloat16:
        data, dtype = widened(data), dtypes.float32
    if dtype.kind == "complex":
        parts = memoryview(data).cast("B").cast(dtype.part.typecode)  # type: ignore[call-overload]  # a dtype's letter is a native one
        return _nest(list(map(complex, parts[::2], parts[1::2])), shape)
    if dtype.typecode == "e" or len(shape) > MOST_AXES:
        return _nest(struct.unpack(f"{size(shape)}{dtype.typecode}", data), shape)
    flat = memoryview(data).cast("B").cast(dtype.typecode)  # type: ignore[call-overload]  # a dtype's letter is a native one
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat.tolist()
    return memoryview(data).cast("B").cast(dtype.typecode, shape).tolist()  # type: ignore[call-overload]  # as above


def _empty(shape: Shape) -> object:
    """Return nested lists down to the first axis without elements."""
    outer = shape[: shape.index(0)]
    return _nest([[] for _ in range(size(outer))], outer)


def _nest(values: Sequence[object], shape: Shape) -> object:
    """Return nested lists, the innermost ones first: any rank needs no recursion."""
    items = list(values)
    for length in reversed(shape):
        items = [items[at : at + length] for at in range(0, len(items), length)]
    return items[0]
