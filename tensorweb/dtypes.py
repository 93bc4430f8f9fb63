"""The element types: names, sizes, categories, promotion and limits; no arrays."""

from __future__ import annotations

import builtins
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tensorweb.errors import DTypeError, RangeError


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One element type; there is one object of each.

    It equals its name and NumPy's words for it, which dtype arguments take as well. Its
    hash is that of the object alone, as NumPy's words have different ones: look it up
    in dicts and sets by the dtype itself. Calling it makes a tensor of that dtype.

    Attributes:
        name: the Array API name, for example `float32`.
        kind: `bool`, `int`, `uint` or `float`.
        bits: bits of one element on the host.
        typecode: the letter of the standard library's `array` and `struct` modules.
        wgsl: the WGSL storage type, or `""` where WebGPU cannot hold the dtype.

    >>> float32
    tensorweb.float32
    >>> float32.itemsize
    4
    >>> float32 == "float32", float32 in (float, int)
    (True, True)
    >>> float32(3)
    tensor(3.)
    """

    name: str
    kind: str
    bits: int
    typecode: str
    wgsl: str = ""

    @property
    def itemsize(self) -> int:
        """Bytes of one element on the host."""
        return max(self.bits // 8, 1)

    @property
    def device_itemsize(self) -> int:
        """Bytes of one element on a GPU: bool and small integers take 32 bits."""
        return 2 if self.name == "float16" else 4

    def __eq__(self, other: object) -> builtins.bool:
        """Whether the other is this dtype or a word for it."""
        if self is other:
            return True
        if isinstance(other, DType) or not is_dtype_like(other):
            return False
        return as_dtype(other) is self

    __hash__ = object.__hash__

    def __call__(self, value: object = 0) -> Any:
        """Return data as a tensor of this dtype, as `asarray(value, dtype)` does."""
        return tensor_makers[0](value, self)

    def __repr__(self) -> str:
        """Return the public name."""
        return f"tensorweb.{self.name}"

    def __reduce__(self) -> str:
        """Return the name in this module, so that copies are the same object."""
        return self.name

    def __str__(self) -> str:
        """Return the bare name."""
        return self.name


tensor_makers: list[Callable[[object, DType], object]] = []
"""How calls of dtypes make tensors; `functions.creation` says it, which knows how."""

bool = DType("bool", "bool", 8, "?", "u32")
int8 = DType("int8", "int", 8, "b")
int16 = DType("int16", "int", 16, "h")
int32 = DType("int32", "int", 32, "i", "i32")
int64 = DType("int64", "int", 64, "q")
uint8 = DType("uint8", "uint", 8, "B")
uint16 = DType("uint16", "uint", 16, "H")
uint32 = DType("uint32", "uint", 32, "I", "u32")
uint64 = DType("uint64", "uint", 64, "Q")
float16 = DType("float16", "float", 16, "e", "f16")
float32 = DType("float32", "float", 32, "f", "f32")
float64 = DType("float64", "float", 64, "d")

ALL: tuple[DType, ...] = (
    bool,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16,
    float32,
    float64,
)
BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in ALL}

DEFAULT_FLOAT = float32
DEFAULT_INT = int32

CATEGORIES: dict[str, frozenset[str]] = {
    "any": frozenset({"bool", "int", "uint", "float"}),
    "numeric": frozenset({"int", "uint", "float"}),
    "integer": frozenset({"int", "uint"}),
    "integer or bool": frozenset({"int", "uint", "bool"}),
    "floating": frozenset({"float"}),
    "bool": frozenset({"bool"}),
    "uint32": frozenset({"uint32"}),
}
"""Named groups of kinds or of dtypes, as the op table uses them."""


def is_in_category(dtype: DType, category: str) -> builtins.bool:
    """Whether a dtype, or its kind, belongs to a row of `CATEGORIES`.

    >>> is_in_category(int8, "integer"), is_in_category(uint8, "uint32")
    (True, False)
    """
    return not CATEGORIES[category].isdisjoint((dtype.kind, dtype.name))


def as_dtype(value: object) -> DType:
    """Return the dtype named by a `DType`, a name, a Python type or a NumPy dtype.

    Raises:
        DTypeError: nothing of that name exists here.

    >>> as_dtype("int32") is int32
    True
    >>> as_dtype(float) is float32
    True
    """
    if isinstance(value, DType):
        return value
    if value is float:
        return DEFAULT_FLOAT
    if value is int:
        return DEFAULT_INT
    if isinstance(value, type) and value.__name__ == "bool":
        return bool
    name = value if isinstance(value, str) else getattr(value, "name", None)
    if name is None and isinstance(value, type):
        name = value.__name__
    found = BY_NAME.get(str(name))
    if found is None:
        raise DTypeError(
            f"{value!r} is not a dtype of tensorweb; use one of {', '.join(BY_NAME)}."
        )
    return found


def is_dtype_like(value: object) -> builtins.bool:
    """Whether a value is a dtype, or a name, type or NumPy dtype that stands for one.

    >>> is_dtype_like("int32"), is_dtype_like("text"), is_dtype_like(3)
    (True, False, False)
    """
    if value is None:
        return False
    try:
        as_dtype(value)
    except DTypeError:
        return False
    return True


def promote(a: DType, b: DType) -> DType:
    """Return the dtype that holds values of both, by the Array API's table.

    Beyond the standard: bool with a number gives the number's dtype, an integer with
    a float gives the float's dtype (as JAX and PyTorch do).

    Raises:
        DTypeError: `uint64` meets a signed integer, which no dtype holds.

    >>> promote(int32, uint8)
    tensorweb.int32
    >>> promote(int32, float32)
    tensorweb.float32
    """
    if a is b:
        return a
    if a.kind == "bool":
        return b
    if b.kind == "bool":
        return a
    if a.kind == b.kind:
        return a if a.bits >= b.bits else b
    if a.kind == "float":
        return a
    if b.kind == "float":
        return b
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    if signed.bits > unsigned.bits:
        return signed
    wider = BY_NAME.get(f"int{unsigned.bits * 2}")
    if wider is None:
        raise DTypeError(
            f"no integer dtype holds both {a} and {b}; convert one with astype."
        )
    return wider


def python_scalar_dtype(value: complex, dtype: DType) -> DType:
    """Return the dtype that a Python scalar takes beside an array of `dtype`.

    The scalar adopts the array's dtype unless its own kind is higher.

    >>> python_scalar_dtype(2.5, int32)
    tensorweb.float32
    """
    if isinstance(value, int):
        if value is True or value is False:
            return dtype
        return DEFAULT_INT if dtype.kind == "bool" else dtype
    if isinstance(value, float):
        return dtype if dtype.kind == "float" else DEFAULT_FLOAT
    raise DTypeError(
        f"complex number {value!r}: tensorweb has no complex dtype; "
        "keep real and imaginary parts in two tensors."
    )


def rounded_to(value: float, dtype: DType) -> float:
    """Return the nearest float of a dtype, halves to even; too large is infinite.

    >>> rounded_to(0.1, float16), rounded_to(-70000.0, float16)
    (0.0999755859375, -inf)
    """
    form = _PACKED[dtype.bits]
    try:
        rounded: float = struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return rounded


_PACKED = {16: "e", 32: "f", 64: "d"}
"""The letter of `struct` for floats of so many bits."""


def integer_range(dtype: DType) -> tuple[int, int]:
    """Return the smallest and largest value of an integer dtype.

    >>> integer_range(int8)
    (-128, 127)
    """
    if dtype.kind == "uint":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def check_integer(value: int, dtype: DType) -> None:
    """Raise `RangeError` when a Python integer does not fit an integer dtype."""
    if dtype.kind not in ("int", "uint"):
        return
    low, high = integer_range(dtype)
    if not low <= value <= high:
        raise RangeError(
            f"Python integer {value} does not fit {dtype} ({low} to {high}); "
            "give a wider dtype such as int64 (cpu) or a float."
        )


@dataclass(frozen=True, slots=True)
class IntegerInfo:
    """Limits of an integer dtype (Array API `iinfo`)."""

    bits: int
    min: int
    max: int
    dtype: DType


@dataclass(frozen=True, slots=True)
class FloatInfo:
    """Limits of a floating dtype (Array API `finfo`)."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


_FLOAT_LIMITS: dict[str, tuple[int, int]] = {
    "float16": (10, 15),
    "float32": (23, 127),
    "float64": (52, 1023),
}


def iinfo(dtype: object) -> IntegerInfo:
    """Return the limits of an integer dtype, of a name or of a tensor's dtype.

    >>> iinfo(int32).max
    2147483647
    """
    found = as_dtype(getattr(dtype, "dtype", dtype))
    if found.kind not in ("int", "uint"):
        raise DTypeError(f"iinfo: {found} is no integer dtype; use finfo for floats.")
    low, high = integer_range(found)
    return IntegerInfo(found.bits, low, high, found)


def finfo(dtype: object) -> FloatInfo:
    """Return the limits of a floating dtype, of a name or of a tensor's dtype.

    >>> finfo(float32).bits
    32
    """
    found = as_dtype(getattr(dtype, "dtype", dtype))
    if found.kind != "float":
        raise DTypeError(f"finfo: {found} is no floating dtype; use iinfo.")
    mantissa, exponent = _FLOAT_LIMITS[found.name]
    largest = (2.0 - 2.0**-mantissa) * 2.0**exponent
    return FloatInfo(
        found.bits, 2.0**-mantissa, largest, -largest, 2.0 ** (1 - exponent), found
    )
