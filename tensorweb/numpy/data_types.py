"""Dtypes and constants under NumPy's names, and questions about them."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from typing import Any

from tensorweb import dtypes
from tensorweb import functions as tw
from tensorweb.dtypes import DType, as_dtype, dtype_of, integer_range, is_dtype_like
from tensorweb.errors import DataError, DTypeError, RangeError
from tensorweb.public_names import declare_public
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

e = math.e
euler_gamma = 0.57721566490153286
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi
False_, True_ = False, True

bool = bool_ = dtypes.bool
int8 = byte = dtypes.int8
int16 = short = dtypes.int16
int32 = intc = dtypes.int32
int64 = long = longlong = dtypes.int64
uint8 = ubyte = dtypes.uint8
uint16 = ushort = dtypes.uint16
uint32 = uintc = dtypes.uint32
uint64 = ulong = ulonglong = dtypes.uint64
float16 = half = dtypes.float16
float32 = single = dtypes.float32
float64 = double = dtypes.float64
complex64 = csingle = dtypes.complex64
complex128 = cdouble = dtypes.complex128
int_ = intp = dtypes.DEFAULT_INT
uint = uintp = uint32

finfo, iinfo = dtypes.finfo, dtypes.iinfo
ndarray = Tensor


class _OfKinds(type):
    """A class of NumPy's hierarchy of scalars, defined by its kinds of dtypes.

    Scalars are 0-d tensors here; their dtype decides the class.
    """

    kinds: frozenset[str]

    def __instancecheck__(cls, value: object) -> builtins.bool:
        return (
            isinstance(value, Tensor)
            and not value.shape
            and value.dtype.kind in cls.kinds
        )

    def __subclasscheck__(cls, kind: object) -> builtins.bool:
        if isinstance(kind, _OfKinds):
            return kind.kinds <= cls.kinds
        # `x.dtype.type` is NumPy's class of the numbers.
        is_numpys = isinstance(kind, type) and kind.__module__ == "numpy"
        if isinstance(kind, DType) or (is_numpys and is_dtype_like(kind)):
            return as_dtype(kind).kind in cls.kinds
        return False


class generic(metaclass=_OfKinds):
    """Any number: a 0-d tensor.

    >>> isinstance(np.ones(2).sum(), np.generic)
    True
    """

    kinds = frozenset({"bool", "int", "uint", "float", "complex"})


class number(generic):
    """A number that is no bool.

    >>> np.issubdtype(np.bool, np.number)
    False
    """

    kinds = generic.kinds - {"bool"}


class integer(number):
    """An integer.

    >>> np.issubdtype(np.arange(3).dtype, np.integer)
    True
    """

    kinds = frozenset({"int", "uint"})


class signedinteger(integer):
    """An integer with a sign.

    >>> np.issubdtype(np.uint8, np.signedinteger)
    False
    """

    kinds = frozenset({"int"})


class unsignedinteger(integer):
    """An integer without a sign.

    >>> np.issubdtype(np.uint8, np.unsignedinteger)
    True
    """

    kinds = frozenset({"uint"})


class inexact(number):
    """A floating or complex number.

    >>> np.issubdtype(np.int32, np.inexact)
    False
    """

    kinds = frozenset({"float", "complex"})


class floating(inexact):
    """A floating number.

    >>> np.issubdtype(np.zeros(3).dtype, np.floating)
    True
    """

    kinds = frozenset({"float"})


class complexfloating(inexact):
    """A complex number.

    >>> np.issubdtype(np.float32, np.complexfloating)
    False
    """

    kinds = frozenset({"complex"})


class _DTypes(type):
    """Lets every dtype be an instance of `dtype`."""

    def __instancecheck__(cls, value: object) -> builtins.bool:
        return isinstance(value, DType)


class dtype(metaclass=_DTypes):
    """The dtype of a name, a Python type, a code such as `f4`, or a dtype.

    Raises:
        DTypeError: tensorweb has none of that name, or it has fields.

    >>> np.dtype("f4"), np.dtype(int), isinstance(np.float32, np.dtype)
    (tensorweb.float32, tensorweb.int32, True)
    """

    def __new__(  # type: ignore[misc]  # as in NumPy, the dtype itself is returned
        cls,
        dtype: DTypeLike,
        align: builtins.bool = False,
        copy: builtins.bool = False,
    ) -> DType:
        """Return the one object of the dtype."""
        if isinstance(dtype, list | dict | tuple):
            raise DTypeError(
                "dtype: structured dtypes are not possible here; keep each field in a "
                "tensor of its own."
            )
        return as_dtype(float if dtype is None else dtype)


def issubdtype(arg1: DTypeLike, arg2: DTypeLike) -> builtins.bool:
    """Return whether a dtype is another one, or of a class such as `np.floating`.

    Raises:
        DTypeError: the first is no dtype and no class of them.

    >>> np.issubdtype(np.float32, np.floating), np.issubdtype("int32", np.floating)
    (True, False)
    """
    if isinstance(arg1, _OfKinds):
        kinds = arg1.kinds
        return kinds <= arg2.kinds if isinstance(arg2, _OfKinds) else False
    first = as_dtype(arg1)
    if isinstance(arg2, _OfKinds):
        return first.kind in arg2.kinds
    return first is as_dtype(arg2)


def promote_types(type1: DTypeLike, type2: DTypeLike) -> DType:
    """Return the smallest dtype that holds values of both, as results have.

    Raises:
        DTypeError: no dtype holds both.

    >>> np.promote_types("int8", "uint8")
    tensorweb.int16
    """
    return dtypes.promote(as_dtype(type1), as_dtype(type2))


typecodes = {
    name: "".join(
        dtype.char
        for dtype in dtypes.BY_NAME.values()
        if dtype.kind in kinds and dtype is not dtypes.bfloat16  # no letter of NumPy's
    )
    for name, kinds in {
        "Integer": {"int"},
        "UnsignedInteger": {"uint"},
        "Float": {"float"},
        "Complex": {"complex"},
        "AllInteger": {"int", "uint"},
        "AllFloat": {"float", "complex"},
        "All": generic.kinds,
    }.items()
}
"""Letters of the dtypes of a kind, each of which `np.dtype` takes."""


def min_scalar_type(a: ArrayLike, /) -> DType:
    """Return the smallest dtype that holds a number; of an array its own dtype.

    Of floats it is the smallest one that does not overflow.

    Raises:
        RangeError: no dtype holds the integer.

    >>> np.min_scalar_type(10), np.min_scalar_type(-260), np.min_scalar_type(1e50)
    (tensorweb.uint8, tensorweb.int16, tensorweb.float64)
    """
    if isinstance(a, int) and not isinstance(a, builtins.bool):
        for dtype in _UNSIGNED if a >= 0 else _SIGNED:
            low, high = integer_range(dtype)
            if low <= a <= high:
                return dtype
        raise RangeError(f"min_scalar_type: no dtype holds the integer {a}.")
    x = a if isinstance(a, Tensor) else tw.asarray(a, device="cpu")
    if x.ndim or x.dtype.kind == "bool":
        return x.dtype
    value: Any = x.item() if isinstance(a, Tensor) else a
    if x.dtype.kind in ("int", "uint"):
        return min_scalar_type(int(value))
    parts = (value.real, value.imag) if x.dtype.kind == "complex" else (value,)
    size = max((abs(part) for part in parts if math.isfinite(part)), default=0.0)
    part_dtype = next(dtype for dtype in _FLOATS if size <= finfo(dtype).max)
    return part_dtype if x.dtype.kind == "float" else dtypes.complex_with(part_dtype)


_UNSIGNED = (uint8, uint16, uint32, uint64)
_SIGNED = (int8, int16, int32, int64)
_FLOATS = (float16, float32, float64)


def mintypecode(
    typechars: Iterable[str], typeset: str = "GDFgdf", default: str = "d"
) -> str:
    """Return the letter of the smallest dtype of a set that holds all of some others.

    >>> np.mintypecode(["d", "f", "S"]), np.mintypecode("bhi")
    ('d', 'd')
    """
    letters = {letter for letter in typechars if letter in typeset}
    if {"F", "d"} <= letters:
        return "D"
    return min(letters, key=typeset.index, default=default)


def common_type(*arrays: ArrayLike) -> DType:
    """Return the float or complex dtype that holds all arrays; of integers float64.

    Raises:
        DTypeError: an array is of bool.

    >>> np.common_type(np.ones(2), np.arange(2, dtype="int64"))
    tensorweb.float64
    """
    result = float16
    for dtype in map(dtype_of, arrays):
        if dtype.kind == "bool":
            raise DTypeError("common_type: bool elements; convert them with astype.")
        is_exact = dtype.kind in ("int", "uint")
        result = dtypes.promote(result, float64 if is_exact else dtype)
    return result


_LADDER = {"bool": 0, "uint": 1, "int": 2, "float": 3, "complex": 4}
"""Kinds in the order in which `casting="same_kind"` may climb."""


def can_cast(from_: ArrayLike, to: DTypeLike, casting: str = "safe") -> builtins.bool:
    """Return whether values of a dtype or tensor become another dtype by a rule.

    `safe` keeps every value, `same_kind` also narrows inside a kind, `unsafe` is
    anything, `no` and `equiv` are the same dtype.

    Raises:
        DataError: the rule is none of these.

    >>> np.can_cast("int32", "float64"), np.can_cast("float64", "float32", "same_kind")
    (True, True)
    """
    start = dtype_of(from_)
    end = as_dtype(to)
    if casting in ("no", "equiv"):
        return start is end
    if casting == "unsafe":
        return True
    if casting == "same_kind":
        return _LADDER[start.kind] <= _LADDER[end.kind]
    if casting != "safe":
        raise DataError(
            f"can_cast: casting={casting!r}; rules are no, equiv, safe, same_kind and "
            "unsafe."
        )
    if start.kind in ("int", "uint") and end.kind in ("float", "complex"):
        # As NumPy: the float holds every such integer, or is the widest one.
        wide = end.bits if end.kind == "float" else end.bits // 2
        return wide >= {8: 16, 16: 32}.get(start.bits, 64)
    return tw.can_cast(start, end)


declare_public(
    __name__,
    *("False_", "True_", "e", "euler_gamma", "inf", "nan", "ndarray", "newaxis", "pi"),
    *("finfo", "iinfo", "typecodes"),
    *(name for name, value in globals().items() if isinstance(value, DType)),
)
