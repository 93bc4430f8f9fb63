"""Print tensors like NumPy, reading only what is shown, and display them in notebooks.

`Tensor.__repr__` and `Tensor.__str__` call this. Of more than a thousand elements the
first and last three along each axis are cut out on the device and read at once.
JupyterLite, marimo, PyScript and IPython call `mime_bundle`, which never raises: where
a value cannot be read, the text says why and what to do.

Works on plain Python numbers; `printing` calls it with the few that are shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tensorweb.devices import default_device
from tensorweb.display.summary import summary_of
from tensorweb.dtypes import DType, finfo, rounded_to
from tensorweb.errors import BlockingError, TensorwebError
from tensorweb.evaluate import read, realize
from tensorweb.graph.node import Node
from tensorweb.hostdata import unpack
from tensorweb.nodes.movement import slice_ranges
from tensorweb.nodes.selection import concat
from tensorweb.shapes import Shape
from tensorweb.tensor.base import TensorBase

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

MOST_DIGITS = {"float16": 5, "bfloat16": 4, "float32": 9, "float64": 17}
"""Digits that name every number of a dtype."""


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
    limits, most = finfo(dtype), MOST_DIGITS[dtype.name]
    is_normal = abs(value) >= limits.smallest_normal
    for digits in range(limits.precision if is_normal else 1, most):
        text = f"{value:.{digits - 1}e}"
        if rounded_to(float(text), dtype) == value:
            return _without_zeros(text)
    return _without_zeros(f"{value:.{most - 1}e}")


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
    if largest >= 10.0 ** min(8, max(3, finfo(dtype).precision)):
        return True
    if SUPPRESSED:
        return False
    ratio = rounded_to(largest / smallest, dtype) if smallest > 1e-300 else math.inf
    return smallest < rounded_to(1e-4, dtype) or ratio > 1000.0


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


THRESHOLD = 1000
"""Maximum number of elements that are printed in full."""

EDGE = 3
"""Elements shown at each end of a shortened axis."""

WIDTH = 75
"""Characters of a line."""

IMPLIED = ("float32", "int32", "bool")
"""Dtypes that a reader recognises from the numbers."""


def format_tensor(x: TensorBase) -> str:
    """Return what `repr` shows: values, and shape, dtype, device where not obvious.

    Shape and dtype alone where Python cannot wait for the device.

    >>> from tensorweb.graph.node import constant
    >>> from tensorweb import dtypes
    >>> node = constant(2.5, dtypes.float64, "cpu", (2,))
    >>> format_tensor(TensorBase(node))
    'tensor([2.5, 2.5], dtype=float64)'
    """
    try:
        return format_read(x)
    except BlockingError:
        return format_unread(x)


def format_unread(x: TensorBase) -> str:
    """Return shape and dtype instead of the values, without reading any."""
    return f"tensor(..., {', '.join(_facts(x.node, True))})"


def format_read(x: TensorBase) -> str:
    """Return what `repr` shows.

    Raises:
        BlockingError: Python cannot wait for the device here.
    """
    node = x.node
    prefix = "tensor("
    body = _values(node, ", ", " " * len(prefix), WIDTH - 1)
    facts = _facts(node, False)
    if not facts:
        return f"{prefix}{body})"
    tail = ", ".join(facts) + ")"
    text = f"{prefix}{body},"
    last_line = len(text) - (text.rfind("\n") + 1)
    is_long = last_line + 1 + len(tail) > WIDTH
    return text + ("\n" + " " * len(prefix) if is_long else " ") + tail


def format_values(x: TensorBase) -> str:
    """Return what `str` shows: the values alone, a 0-d tensor like its number."""
    node = x.node
    try:
        if node.shape:
            return _values(node, " ", "", WIDTH)
        value = unpack(read([node])[0], node.dtype, ())
    except BlockingError:
        return format_tensor(x)
    if node.dtype.kind == "complex":
        part = node.dtype.part
        return str(complex(*(_short(p, part) for p in (value.real, value.imag))))  # type: ignore[attr-defined]  # a 0-d read gives a number
    if node.dtype.kind == "float":
        value = _short(value, node.dtype)  # type: ignore[arg-type]  # a number by its dtype
    return str(value)


def format_array(x: TensorBase, separator: str, prefix: str) -> str:
    """Return the values with something between them, behind a prefix of that length."""
    return _values(x.node, separator, " " * len(prefix), WIDTH)


def _short(value: float, dtype: DType) -> float:
    """Return the float of Python with the shortest digits of one of a dtype."""
    return float(shortest(value, dtype)) if math.isfinite(value) else value


def _facts(node: Node, is_unread: bool) -> list[str]:
    """Return shape, dtype and device where the printed values do not imply them."""
    facts = []
    is_empty = node.size == 0
    if is_unread or node.size > THRESHOLD or (is_empty and node.shape != (0,)):
        facts.append(f"shape={node.shape}")
    is_implied = node.dtype.name in IMPLIED and not is_empty
    if is_unread or not is_implied:
        facts.append(f"dtype={node.dtype}")
    if node.device != _default_device():
        facts.append(f"device={node.device!r}")
    return facts


def _default_device() -> str:
    try:
        return default_device()
    except BlockingError:
        return ""


def _values(node: Node, separator: str, indent: str, width: int) -> str:
    """Return the bracketed values; `indent` is what stands before every line."""
    if node.size == 0:
        return "[]"
    is_shortened = node.size > THRESHOLD
    shown = _edges(node) if is_shortened else node
    flat = unpack(read([shown])[0], node.dtype, (shown.size,))
    words = texts(flat, node.dtype, not node.shape)  # type: ignore[arg-type]  # a flat read gives numbers
    cut = tuple(is_shortened and length > 2 * EDGE for length in node.shape)
    layout = _Layout(words, shown.shape, cut, separator)
    return layout.text(indent + " ", width)


def _edges(node: Node) -> Node:
    """Return the corners of a node: both ends of every long axis."""
    if node.base.op.kind not in ("constant", "iota"):
        realize([node])
    for axis, length in enumerate(node.shape):
        if length > 2 * EDGE:
            ends = [_end(node, axis, start) for start in (0, length - EDGE)]
            node = concat(ends, axis)
    return node


def _end(node: Node, axis: int, start: int) -> Node:
    ranges = [(0, length, 1) for length in node.shape]
    ranges[axis] = (start, EDGE, 1)
    return slice_ranges(node, ranges)


class _Layout:
    """Puts words into rows and nested brackets; `cut` marks shortened axes."""

    def __init__(
        self, words: Sequence[str], shape: Shape, cut: Sequence[bool], separator: str
    ) -> None:
        self.words = words
        self.shape = shape
        self.cut = cut
        self.separator = separator

    def text(self, indent: str, width: int) -> str:
        """Return all brackets; `indent` stands before every line but the first."""
        parts = [*self.words]
        rank = len(self.shape)
        for axis in range(rank - 1, -1, -1):
            length = self.shape[axis]
            parts = [
                self._block(axis, parts[at : at + length], indent + " " * axis, width)
                for at in range(0, len(parts), length)
            ]
        return parts[0]

    def _block(self, axis: int, items: list[str], indent: str, width: int) -> str:
        """Return one sub-array of an axis from the texts of its items."""
        if self.cut[axis]:
            items.insert(EDGE, "...")
        if axis + 1 == len(self.shape):
            row = self._row(items, indent, width - axis)
            return f"[{row[len(indent) :]}]"
        gap = self.separator.rstrip() + "\n" * (len(self.shape) - axis - 1)
        return f"[{(gap + indent).join(items)}]"

    def _row(self, items: Sequence[str], indent: str, width: int) -> str:
        """Return the items of a last axis, broken into lines that fit the width."""
        room = width - max(len(self.separator.rstrip()), 1)
        lines = []
        line = indent
        for index, item in enumerate(items):
            if len(line) + len(item) > room and len(line) > len(indent):
                lines.append(line.rstrip())
                line = indent
            line += item
            if index + 1 < len(items):
                line += self.separator
        return "\n".join([*lines, line])


PLAIN, HTML, PNG = "text/plain", "text/html", "image/png"

KINDS = (HTML, PNG, PLAIN)
"""Best first: some pages take the first that they know."""


def mime_bundle(
    x: TensorBase,
    include: Container[str] | None = None,
    exclude: Container[str] | None = None,
) -> dict[str, str]:
    """Return what a tensor looks like by MIME type; a PNG is in base64.

    Text alone for 0-d tensors, for less than two elements and where there are no
    values.

    Args:
        x: the tensor.
        include: the only types that are asked for, None for all.
        exclude: types that are not asked for.

    >>> from tensorweb.graph.node import constant
    >>> from tensorweb import dtypes
    >>> mime_bundle(TensorBase(constant(2.5, dtypes.float32, "cpu")))
    {'text/plain': 'tensor(2.5)'}
    """
    types = [
        kind
        for kind in KINDS
        if (include is None or kind in include)
        and (exclude is None or kind not in exclude)
    ]
    if not types:
        return {}
    try:
        bundle = _bundle(x, types)
    except TensorwebError as error:
        bundle = {PLAIN: f"{format_unread(x)}\n{type(error).__name__}: {error}"}
    return {kind: bundle[kind] for kind in types if kind in bundle}


def _bundle(x: TensorBase, types: list[str]) -> dict[str, str]:
    """Return the available formats, at least the requested ones."""
    text = format_read(x)
    summary = summary_of(x.node) if types != [PLAIN] else None
    if summary is None:
        return {PLAIN: text}
    return {HTML: summary.html(text), PNG: summary.png(), PLAIN: text}
