"""Texts of numbers side by side, by NumPy's rules: shortest exact digits, aligned.

Works on plain Python numbers; `printing` calls it with the few that are shown.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tensorweb.dtypes import DType

PRECISION = 8
"""Digits behind the point, at most."""

SUPPRESSED = False
"""Whether small floats show as zero, and have no exponent."""

FORMATTER: Mapping[str, Callable[[Any], str]] | None = None
"""Functions that give the texts of numbers, by NumPy's names of kinds."""

_KINDS = {
    "bool": ("bool",),
    "int": ("int", "int_kind"),
    "uint": ("int", "int_kind"),
    "float": ("float", "float_kind"),
    "complex": ("complexfloat", "complex_kind"),
}
"""Names of formatters by kind of dtype, in addition to `all`."""

MOST_DIGITS = {16: 5, 32: 9, 64: 17}
SAFE_DIGITS = {16: 3, 32: 6, 64: 15}
SMALLEST_NORMAL = {16: 2.0**-14, 32: 2.0**-126, 64: 2.0**-1022}


def texts(values: Sequence[complex], dtype: DType, is_alone: bool) -> list[str]:
    """Return one text per number, all of one width; `is_alone` for a 0-d tensor.

    >>> from tensorweb import dtypes
    >>> texts([1.0, 2.25, -3.0], dtypes.float32, False)
    [' 1.  ', ' 2.25', '-3.  ']
    """
    for name in (*_KINDS[dtype.kind], "all") if FORMATTER else ():
        if FORMATTER and name in FORMATTER:
            return [FORMATTER[name](value) for value in values]
    if dtype.kind == "bool":
        yes = "True" if is_alone else " True"
        return [yes if value else "False" for value in values]
    if dtype.kind == "complex":
        return _complex_texts(values, dtype.part)
    if dtype.kind == "float":
        return _float_texts([value.real for value in values], dtype)
    width = max((len(str(value)) for value in values), default=0)
    return [str(value).rjust(width) for value in values]


def _complex_texts(values: Sequence[complex], part: DType) -> list[str]:
    """Return real and imaginary parts as columns of their own, a sign between them."""
    real = _float_texts([value.real for value in values], part)
    texts_of_pairs = []
    sizes = _float_texts([value.imag for value in values], part, has_signs=True)
    for first, second in zip(real, sizes, strict=True):
        digits = second.rstrip()
        texts_of_pairs.append(f"{first}{digits}j{second[len(digits) :]}")
    return texts_of_pairs


def shortest(value: float, dtype: DType) -> str:
    """Return the shortest digits that name a finite float of a dtype exactly.

    >>> from tensorweb import dtypes
    >>> shortest(0.10000000149011612, dtypes.float32)
    '1e-01'
    """
    is_normal = abs(value) >= SMALLEST_NORMAL[dtype.bits]
    start = SAFE_DIGITS[dtype.bits] if is_normal else 1
    for digits in range(start, MOST_DIGITS[dtype.bits]):
        text = f"{value:.{digits - 1}e}"
        if rounded(float(text), dtype) == value:
            return _without_zeros(text)
    return _without_zeros(f"{value:.{MOST_DIGITS[dtype.bits] - 1}e}")


def rounded(value: float, dtype: DType) -> float:
    """Return the value of a float dtype nearest to a Python float."""
    try:
        (result,) = struct.unpack(dtype.typecode, struct.pack(dtype.typecode, value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(result)


def _without_zeros(text: str) -> str:
    mantissa, exponent = text.split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{exponent}"


@dataclass(frozen=True, slots=True)
class _Parts:
    """A number before and behind its point, and its exponent (`""` without one)."""

    whole: str
    fraction: str
    exponent: str = ""


def _float_texts(
    values: Sequence[float], dtype: DType, has_signs: bool = False
) -> list[str]:
    """Return one text per float; `has_signs` writes `+` before those from 0 on."""
    finite = [value for value in values if math.isfinite(value)]
    has_exponent = _needs_exponent(finite, dtype)
    split = _scientific if has_exponent else _positional
    parts = {repr(value): split(value, dtype) for value in finite}
    right = max((len(part.fraction) for part in parts.values()), default=0)
    if has_exponent:
        parts = {repr(value): _equally_long(value, right) for value in finite}
    if has_signs:
        parts = {key: _with_sign(part) for key, part in parts.items()}
    left = max((len(part.whole) for part in parts.values()), default=0)
    exponent = max((len(part.exponent) for part in parts.values()), default=0)
    behind = right + 1 + exponent
    strange = {
        _strange(value, has_signs) for value in values if not math.isfinite(value)
    }
    left = max([left, *(len(text) - behind for text in strange)])
    result = []
    for value in values:
        if not math.isfinite(value):
            result.append(_strange(value, has_signs).rjust(left + behind))
            continue
        part = parts[repr(value)]
        text = f"{part.whole.rjust(left)}.{part.fraction.ljust(right)}"
        result.append(text + _widen(part.exponent, exponent))
    return result


def _with_sign(part: _Parts) -> _Parts:
    sign = "" if part.whole.startswith("-") else "+"
    return _Parts(sign + part.whole, part.fraction, part.exponent)


def _strange(value: float, has_sign: bool) -> str:
    text = "nan" if math.isnan(value) else f"{value}"
    return f"+{text}" if has_sign and not text.startswith("-") else text


def _needs_exponent(finite: Sequence[float], dtype: DType) -> bool:
    sizes = [abs(value) for value in finite if value != 0]
    if not sizes:
        return False
    largest, smallest = max(sizes), min(sizes)
    if largest >= 10.0 ** min(8, SAFE_DIGITS[dtype.bits]):
        return True
    if SUPPRESSED:
        return False
    ratio = rounded(largest / smallest, dtype) if smallest > 1e-300 else math.inf
    return smallest < rounded(1e-4, dtype) or ratio > 1000.0


def _positional(value: float, dtype: DType) -> _Parts:
    text = format(Decimal(shortest(value, dtype)), "f")
    integer, _, fraction = text.partition(".")
    if len(fraction) > PRECISION:
        integer, _, fraction = f"{value:.{PRECISION}f}".partition(".")
        fraction = fraction.rstrip("0")
    return _Parts(integer, fraction)


def _scientific(value: float, dtype: DType) -> _Parts:
    mantissa, exponent = shortest(value, dtype).split("e")
    integer, _, fraction = mantissa.partition(".")
    if len(fraction) > PRECISION:
        mantissa, exponent = f"{value:.{PRECISION}e}".split("e")
        integer, _, fraction = mantissa.partition(".")
        fraction = fraction.rstrip("0")
    return _Parts(integer, fraction, "e" + exponent)


def _equally_long(value: float, digits: int) -> _Parts:
    mantissa, exponent = f"{value:.{digits}e}".split("e")
    integer, _, fraction = mantissa.partition(".")
    return _Parts(integer, fraction, "e" + exponent)


def _widen(exponent: str, width: int) -> str:
    """Return `e+05` with as many digits as the widest exponent of the tensor."""
    return exponent[:2] + exponent[2:].rjust(width - 2, "0") if exponent else ""
