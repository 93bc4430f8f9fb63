"""The element types: names, sizes, categories, promotion and limits; no arrays."""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensorweb.errors import DTypeError, RangeError

__all__ = [
    "DType",
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
    "finfo",
    "float16",
    "float32",
    "float64",
    "iinfo",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One element type; there is one object of each.

    It equals its name and NumPy's words for it, which dtype arguments take as well. Its
    hash is that of the object alone, as NumPy's words have different ones: look it up
    in dicts and sets by the dtype itself. Calling it makes a tensor of that dtype.

    Attributes:
        name: the Array API name, for example `float32`.
        kind: `bool`, `int`, `uint`, `float` or `complex`.
        bits: bits of one element on the host.
        typecode: the letter of the standard library's `array` and `struct` modules;
            for bfloat16, which they lack, that of the package ml_dtypes.
        wgsl: the WGSL type of an element that is stored alone, or `""` where WebGPU
            cannot hold the dtype.

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
        """Bytes of one element on a GPU, where a bool takes 32 bits."""
        return 4 if self.kind == "bool" else self.itemsize

    @property
    def part(self) -> DType:
        """The float of a complex dtype's two parts; of all others the dtype itself.

        >>> complex64.part, int8.part
        (tensorweb.float32, tensorweb.int8)
        """
        if self.kind != "complex":
            return self
        return float32 if self.bits == 64 else float64

    @property
    def wide(self) -> DType:
        """The dtype of computations: float32 for 16-bit floats, else the dtype itself.

        >>> bfloat16.wide, float16.wide, float64.wide
        (tensorweb.float32, tensorweb.float32, tensorweb.float64)
        """
        return float32 if self is float16 or self is bfloat16 else self

    @property
    def char(self) -> str:
        """The letter of the dtype, which `np.dtype` takes.

        >>> float64.char, complex64.char
        ('d', 'F')
        """
        return self.typecode

    @property
    def str(self) -> builtins.str:
        """Byte order, kind and bytes, as NumPy's files have them.

        >>> int32.str, bool.str
        ('<i4', '|b1')
        """
        code = "V2" if self is bfloat16 else f"{self.kind[0]}{self.itemsize}"
        return f"|{code}" if self.itemsize == 1 else f"<{code}"

    @property
    def byteorder(self) -> builtins.str:
        """`=`, the order of this machine, or `|` where there is one byte only."""
        return "|" if self.itemsize == 1 else "="

    @property
    def alignment(self) -> int:
        """Bytes that addresses are multiples of on the host."""
        return self.part.itemsize

    @property
    def isnative(self) -> builtins.bool:
        """Whether bytes are in the order of this machine: always."""
        return True

    @property
    def names(self) -> None:
        """The names of fields: none, as no dtype has fields."""
        return

    fields = subdtype = names

    def newbyteorder(self, new_order: builtins.str = "S", /) -> DType:
        """Return the dtype in another byte order, where that is the same one.

        Raises:
            DTypeError: bytes would be in another order than this machine's.

        >>> tw.float32.newbyteorder("=")
        tensorweb.float32
        """
        same = ("=", "|", "I", "N", "<", "L", "native", "little")
        if self.itemsize > 1 and new_order not in same:
            raise DTypeError(
                f"newbyteorder({new_order!r}): bytes are in the order of this machine "
                "here; swap those of a file with NumPy or Python's array.byteswap."
            )
        return self

    def __instancecheck__(self, value: object) -> builtins.bool:
        """Whether a value is a number of this dtype, a 0-d tensor or NumPy's own.

        >>> isinstance(float32(1), float32), isinstance(1.0, float32)
        (True, False)
        """
        if getattr(value, "shape", None) != ():
            return False
        own = getattr(value, "dtype", None)
        return is_dtype_like(own) and as_dtype(own) is self

    def __subclasscheck__(self, kind: object) -> builtins.bool:
        """Whether a dtype is this one, as `issubclass(x.dtype.type, np.float32)` asks.

        >>> issubclass(float32, float32), issubclass(float32, float64)
        (True, False)
        """
        return is_dtype_like(kind) and as_dtype(kind) is self

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype of this name, for those who have imported NumPy themselves."""
        if (numpy := sys.modules.get("numpy")) is None:
            raise AttributeError("dtype: NumPy is not imported.")
        if self is bfloat16 and "ml_dtypes" not in sys.modules:
            raise AttributeError("dtype: NumPy has bfloat16 of the package ml_dtypes.")
        return numpy.dtype(self.name)  # type: ignore[no-any-return]  # of a module found by name

    @property
    def type(self) -> builtins.type[np.generic]:
        """NumPy's class of its numbers, for libraries that ask for it."""
        return self.dtype.type

    def __eq__(self, other: object) -> builtins.bool:
        """Whether the other is this dtype or a word for it."""
        if self is other:
            return True
        if isinstance(other, DType) or not is_dtype_like(other):
            return False
        return as_dtype(other) is self

    __hash__ = object.__hash__

    def __call__(self, value: Any = 0, imaginary: float | None = None) -> Any:
        """Return data as a tensor of this dtype, as `asarray(value, dtype)` does.

        A complex dtype takes two parts as well.

        Raises:
            DTypeError: a second part is given and the dtype is not complex.

        >>> complex64(1, 2)
        tensor(1.+2.j, dtype=complex64)
        """
        if imaginary is not None:
            if self.kind != "complex":
                raise DTypeError(f"{self}: one number has one part; give one only.")
            value = complex(value, imaginary)
        return tensor_makers[0](value, self)

    def __repr__(self) -> builtins.str:
        """Return the public name."""
        return f"tensorweb.{self.name}"

    def __reduce__(self) -> builtins.str:
        """Return the name in this module, so that copies are the same object."""
        return self.name

    def __str__(self) -> builtins.str:
        """Return the bare name."""
        return self.name


tensor_makers: list[Callable[[object, DType], object]] = []
"""The function by which calls of dtypes make tensors; `functions.creation` sets it."""

bool = DType("bool", "bool", 8, "?", "u32")
int8 = DType("int8", "int", 8, "b", "i32")
int16 = DType("int16", "int", 16, "h", "i32")
int32 = DType("int32", "int", 32, "i", "i32")
int64 = DType("int64", "int", 64, "q")
uint8 = DType("uint8", "uint", 8, "B", "u32")
uint16 = DType("uint16", "uint", 16, "H", "u32")
uint32 = DType("uint32", "uint", 32, "I", "u32")
uint64 = DType("uint64", "uint", 64, "Q")
float16 = DType("float16", "float", 16, "e", "f16")
bfloat16 = DType("bfloat16", "float", 16, "E", "f32")
float32 = DType("float32", "float", 32, "f", "f32")
float64 = DType("float64", "float", 64, "d")
complex64 = DType("complex64", "complex", 64, "F", "vec2f")
complex128 = DType("complex128", "complex", 128, "D")

ALL: tuple[DType, ...] = (
    *(bool, int8, int16, int32, int64),
    *(uint8, uint16, uint32, uint64),
    *(float16, bfloat16, float32, float64),
)
"""What storages hold; complex numbers are pairs of floats."""

COMPLEX: tuple[DType, ...] = (complex64, complex128)
BY_NAME: dict[str, DType] = {dtype.name: dtype for dtype in (*ALL, *COMPLEX)}

CODES: dict[str, str] = {
    **{dtype.str[1:]: dtype.name for dtype in (*ALL, *COMPLEX)},
    **{dtype.typecode: dtype.name for dtype in (*ALL, *COMPLEX)},
    **dict.fromkeys(("byte",), "int8"),
    **dict.fromkeys(("short",), "int16"),
    **dict.fromkeys(("intc", "int", "int_", "intp", "p", "n"), "int32"),
    **dict.fromkeys(("long", "longlong", "l"), "int64"),
    **dict.fromkeys(("ubyte",), "uint8"),
    **dict.fromkeys(("ushort",), "uint16"),
    **dict.fromkeys(("uintc", "uint", "uintp", "P", "N"), "uint32"),
    **dict.fromkeys(("ulong", "ulonglong", "L"), "uint64"),
    **dict.fromkeys(("half",), "float16"),
    **dict.fromkeys(("single", "float"), "float32"),
    **dict.fromkeys(("double",), "float64"),
    **dict.fromkeys(("csingle", "complex"), "complex64"),
    **dict.fromkeys(("cdouble",), "complex128"),
    "bool_": "bool",
}
"""NumPy's words and letters, without the byte order of this machine before them."""

DEFAULT_FLOAT = float32
DEFAULT_INT = int32
DEFAULT_COMPLEX = complex64

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


def complex_with(part: DType) -> DType:
    """Return the complex dtype that holds a dtype's values as parts.

    >>> complex_with(float64), complex_with(int32)
    (tensorweb.complex128, tensorweb.complex64)
    """
    if part.kind in ("int", "uint") and part.itemsize >= 4:
        return DEFAULT_COMPLEX
    return complex128 if part in (float64, complex128) else complex64


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
    if value is complex:
        return DEFAULT_COMPLEX
    if isinstance(value, type) and value.__name__ == "bool":
        return bool
    name = value if isinstance(value, str) else getattr(value, "name", None)
    if name is None and isinstance(value, type):
        name = value.__name__
    found = BY_NAME.get(str(name))
    is_numpys = isinstance(value, type) and value.__module__ == "numpy"
    if found is None and (isinstance(value, str) or is_numpys):
        code = str(name)
        code = code[1:] if code[:1] in ("<", "=", "|") else code
        found = BY_NAME.get(CODES.get(code, code))
    if found is None:
        fields = "; keep each field in a tensor of its own" * isinstance(value, list)
        names = ", ".join(BY_NAME) + fields
        raise DTypeError(f"{value!r} is not a dtype of tensorweb; use one of {names}.")
    return found


def dtype_of(value: object) -> DType:
    """Return the dtype of an array, or the one that a word for it names.

    >>> dtype_of("int32"), dtype_of(float)
    (tensorweb.int32, tensorweb.float32)
    """
    is_word = isinstance(value, DType | type | str)
    return as_dtype(value if is_word else getattr(value, "dtype", value))


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
    a float or a complex dtype gives that, and bfloat16 with float16 gives float32 (as
    JAX and PyTorch do).

    Raises:
        DTypeError: `uint64` meets a signed integer, which no dtype holds.

    >>> promote(int32, uint8)
    tensorweb.int32
    >>> promote(int32, float32), promote(bfloat16, float16), promote(bfloat16, int32)
    (tensorweb.float32, tensorweb.float32, tensorweb.bfloat16)
    >>> promote(complex64, float64)
    tensorweb.complex128
    """
    if a is b:
        return a
    if a.kind == "bool":
        return b
    if b.kind == "bool":
        return a
    if "complex" in (a.kind, b.kind):
        wide = float64 in (a.part, b.part)
        return complex128 if wide else complex64
    if a.kind == b.kind:
        if a.kind == "float" and a.bits == b.bits:
            return float32
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
    """Return the dtype that a Python scalar takes with an array of `dtype`.

    The scalar adopts the array's dtype unless its own kind is higher.

    >>> python_scalar_dtype(2.5, int32), python_scalar_dtype(1j, float64)
    (tensorweb.float32, tensorweb.complex128)
    """
    if isinstance(value, int):
        if value is True or value is False:
            return dtype
        return DEFAULT_INT if dtype.kind == "bool" else dtype
    if isinstance(value, float):
        return dtype if dtype.kind in ("float", "complex") else DEFAULT_FLOAT
    return complex_with(dtype)


def rounded_to(value: float, dtype: DType) -> float:
    """Return the nearest float of a dtype, halves to even; too large is infinite.

    >>> rounded_to(0.1, float16), rounded_to(-70000.0, float16)
    (0.0999755859375, -inf)
    """
    if dtype is float64 or value == 0 or not math.isfinite(value):
        return float(value)
    limits = _FLOAT_INFO[dtype]
    # The power of 2 between neighbours; subnormal numbers have that of the least ones.
    step = max(math.frexp(value)[1] - 1, limits.minexp) - limits.nmant
    rounded = math.ldexp(round(math.ldexp(value, -step)), step)
    return math.copysign(rounded if abs(rounded) <= limits.max else math.inf, value)


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
    nmant: int
    maxexp: int

    @property
    def tiny(self) -> float:
        """NumPy's older word for `smallest_normal`."""
        return self.smallest_normal

    @property
    def smallest_subnormal(self) -> float:
        """The smallest number above 0."""
        return self.smallest_normal * self.eps

    @property
    def epsneg(self) -> float:
        """The distance from 1 to the number below it."""
        return self.eps / 2

    @property
    def machep(self) -> int:
        """The power of 2 that `eps` is."""
        return -self.nmant

    @property
    def negep(self) -> int:
        """The power of 2 that `epsneg` is."""
        return -self.nmant - 1

    @property
    def minexp(self) -> int:
        """The power of 2 that `smallest_normal` is."""
        return 2 - self.maxexp

    @property
    def iexp(self) -> int:
        """Bits of the exponent."""
        return self.bits - self.nmant - 1

    nexp = iexp

    @property
    def precision(self) -> int:
        """Decimal digits that are kept.

        >>> finfo(float32).precision, finfo(float32).resolution
        (6, 1e-06)
        """
        return int(self.nmant * math.log10(2))

    @property
    def resolution(self) -> float:
        """The power of 10 of these digits."""
        return 10.0**-self.precision


def _limits_of(dtype: DType, mantissa: int, exponent: int) -> FloatInfo:
    largest = (2.0 - 2.0**-mantissa) * 2.0**exponent
    return FloatInfo(
        dtype.bits,
        2.0**-mantissa,
        largest,
        -largest,
        2.0 ** (1 - exponent),
        dtype,
        mantissa,
        exponent + 1,
    )


_FLOAT_INFO = {
    float16: _limits_of(float16, 10, 15),
    bfloat16: _limits_of(bfloat16, 7, 127),
    float32: _limits_of(float32, 23, 127),
    float64: _limits_of(float64, 52, 1023),
}


def iinfo(dtype: object) -> IntegerInfo:
    """Return the limits of an integer dtype, of a name or of a tensor's dtype.

    Raises:
        DTypeError: it is no integer dtype.

    >>> iinfo(int32).max
    2147483647
    """
    found = dtype_of(dtype)
    if found.kind not in ("int", "uint"):
        raise DTypeError(f"iinfo: {found} is no integer dtype; use finfo for floats.")
    low, high = integer_range(found)
    return IntegerInfo(found.bits, low, high, found)


def finfo(dtype: object) -> FloatInfo:
    """Return the limits of a floating dtype, of a name or of a tensor's dtype.

    Of a complex dtype they are those of its parts.

    Raises:
        DTypeError: it is no floating dtype.

    >>> finfo(float32).bits
    32
    """
    found = dtype_of(dtype).part
    if found.kind != "float":
        raise DTypeError(f"finfo: {found} is no floating dtype; use iinfo.")
    return _FLOAT_INFO[found]
