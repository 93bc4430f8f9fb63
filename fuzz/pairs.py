"""Every operation followed by every other, on a device and on `cpu`.

A case is one first operation on data of one shape and dtype, followed by each second
operation in a kernel of its own, since compilers miscompile pairs that are correct
alone. After an inexact operation only continuous second operations are compared.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import tensorweb as tw
from fuzz.ball import FLOATS, Array
from tensorweb import devices
from tensorweb.errors import DTypeError, RangeError, ShapeError, TensorIndexError
from tensorweb.graph.op import Op
from tensorweb.ops import GROUPS

DTYPES = ("int32", "uint32", "float32", "bool", "float16")
SHAPES = ((64,), (65,), (300,), (1025,), (6, 43), (16, 64), (4, 5, 33))
VIEWS = ("{x}", "{x}[::-1]", "{x}.T", "{x}[1:]", "{x}[..., ::2]")
"""Views of the data that the first operation reads."""

REFUSALS = (DTypeError, RangeError, ShapeError, TensorIndexError, TypeError)

MOVEMENTS = (
    *("tw.flip({x}, axis=0)", "tw.roll({x}, 3, axis=-1)", "tw.permute_dims({x}, {o})"),
    *("{x}[2:]", "{x}[..., ::3]", "tw.reshape({x}, (-1,))", "tw.concat([{x}, {y}])"),
    *(
        "tw.pad({x}, 1)",
        "tw.tile({x}, 2)",
        "tw.repeat({x}, 2, axis=-1)",
        "{x} + {x}[:1]",
    ),
    *(
        "tw.take({x}, tw.asarray([3, 0, 2, 3]), axis=-1)",
        "tw.where({x} > {y}, {x}, {y})",
    ),
    *("tw.stack([{x}, {y}])", "{x}.astype('int32')", "{x}.astype('float32')"),
    *("{x}.astype('uint32')", "{x}.astype('bool')", "{x} * 3", "{x} + 1", "5 - {x}"),
    *("0 - {x}", "{x} * -1", "tw.diff({x}, axis=-1)", "tw.clip({x}, 1, 3)"),
    *("tw.minimum({x}, 2)", "tw.maximum({x}, 2)", "{x} // 2", "{x} % 3", "{x} >> 1"),
)
"""Exact operations that the op table lacks, or entries of it with a number."""

AXES = ("axis=0", "axis=-1", "axis=None")
SELECTIONS = (
    *(f"tw.{name}({{x}}, {axis})" for name in ("max", "min") for axis in AXES),
    *(f"tw.{name}({{x}}, axis=-1)" for name in ("any", "all", "count_nonzero")),
    *(f"tw.{name}({{x}}, {axis})" for name in ("argmax", "argmin") for axis in AXES),
    *("tw.sort({x}, axis=-1)", "tw.argsort({x}, axis=-1)", "tw.sort({x}, axis=0)"),
    "tw.sort({x}, axis=-1, descending=True)",
    "{x} == tw.max({x}, axis=-1, keepdims=True)",
    "tw.zeros(7, dtype={x}.dtype).at[{i}].max(tw.reshape({x}, (-1,)))",
    "tw.zeros(7, dtype={x}.dtype).at[{i}].min(tw.reshape({x}, (-1,)))",
    "tw.max(-{x}, axis=-1)",
    "tw.min(-{x}, axis=-1)",
)
"""Reductions and sorts, which select elements."""

CONTINUOUS_REDUCTIONS = (
    *(f"tw.sum({{x}}, {axis})" for axis in AXES),
    *("tw.mean({x}, axis=-1)", "tw.var({x}, axis=0)"),
    *("tw.cumulative_sum({x}, axis=-1)", "tw.cumulative_sum({x}, axis=0)"),
    *("{x} - tw.max({x}, axis=-1, keepdims=True)", "tw.max({x}, axis=-1)"),
    *("tw.matmul({x}, tw.ones({x}.shape[-1:], dtype={x}.dtype))",),
    "tw.zeros(7, dtype={x}.dtype).at[{i}].add(tw.reshape({x}, (-1,)))",
)

DISCONTINUOUS = (
    *("floor", "ceil", "trunc", "round", "sign", "floor_divide", "remainder", "pow"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("isnan", "isinf", "isfinite", "signbit", "copysign", "nextafter"),
    *("logical_not", "logical_and", "logical_or", "logical_xor"),
    *("sin", "cos", "tan", "asin", "acos", "acosh", "atanh", "erfinv", "log1p"),
)
"""Operations whose results jump, or move far, where operands move a little."""

OFF_BY_SUBNORMALS = ("nextafter",)
"""Operations whose results differ where subnormal numbers count as zero."""

SIGNED_ZEROS = (
    *("signbit", "copysign", "nextafter", "reciprocal", "rsqrt", "divide"),
    *("floor_divide", "atan2", "pow"),
)
"""Operations that distinguish -0 from 0, which GPUs need not do."""

INTERNAL = ("structure", "random")
"""Groups of the op table that are no public functions, or stand among `MOVEMENTS`."""


@dataclass(frozen=True, slots=True)
class Form:
    """One operation around `{x}`, and `{y}` of its shape and dtype.

    Attributes:
        text: what runs.
        is_exact: whether every device has the same bits.
        is_continuous: whether a small error of operands changes the result little.
        distinguishes_zeros: whether it distinguishes -0 from 0.
    """

    text: str
    is_exact: bool = True
    is_continuous: bool = True
    distinguishes_zeros: bool = False


@cache
def entries() -> tuple[Form, ...]:
    """Return every elementwise entry of the op table that is a public function."""
    groups = [each for name, each in GROUPS.items() if name not in INTERNAL]
    return tuple(_form(entry) for each in groups for entry in each if _is_public(entry))


def _is_public(entry: Op) -> bool:
    return entry.kind == "map" and hasattr(tw, entry.name) and entry.name != "where"


def _form(entry: Op) -> Form:
    operands = ("{x}", "{y}", "{y}")[: entry.arity]
    return Form(
        f"tw.{entry.name}({', '.join(operands)})",
        entry.ulp <= 0.5 and entry.name not in OFF_BY_SUBNORMALS,
        entry.name not in DISCONTINUOUS,
        entry.name in SIGNED_ZEROS,
    )


@cache
def first_operations() -> tuple[Form, ...]:
    """Return the first operations of pairs."""
    return (*entries(), *(Form(text) for text in MOVEMENTS))


@cache
def second_operations() -> tuple[Form, ...]:
    """Return the second operations of pairs."""
    return (
        *entries(),
        *(Form(text, is_continuous=False) for text in (*MOVEMENTS[-6:], *SELECTIONS)),
        *(Form(text) for text in MOVEMENTS[:12]),
        *(Form(text, is_exact=False) for text in CONTINUOUS_REDUCTIONS),
        Form("tw.prod({x}, axis=-1)", is_exact=False, is_continuous=False),
    )


@dataclass(frozen=True, slots=True)
class Case:
    """A first operation on data of one dtype, shape and view."""

    first: Form
    dtype: str
    shape: tuple[int, ...]
    view: str


@cache
def matrix() -> tuple[Case, ...]:
    """Return all cases: every first operation, dtype and shape, some view."""
    drawn = random.Random("pairs")
    return tuple(
        Case(first, dtype, shape, drawn.choice(VIEWS) if shape != (64,) else VIEWS[0])
        for first in first_operations()
        for dtype in DTYPES
        for shape in SHAPES
    )


def case_of(seed: str) -> Case | None:
    """Return the case of a seed: `3/16-5` is the sixth of part 3 of 16.

    None after the end of a part. Other seeds draw any case.
    """
    part, _, index = seed.rpartition("-")
    if "/" in part:
        number, count = (int(each) for each in part.split("/"))
        at = number + count * int(index)
        return matrix()[at] if at < len(matrix()) else None
    return random.Random(seed).choice(matrix())


def _data(case: Case) -> tuple[Array, Array]:
    """Return two arrays; floats are halves, NaN or infinite, integers may be huge."""
    draw = np.random.default_rng(sum(case.shape))
    if case.dtype == "bool":
        return draw.random(case.shape) < 0.5, draw.random(case.shape) < 0.5
    low = 0 if case.dtype[0] == "u" else -4
    made = []
    for _ in range(2):
        values: Any = draw.integers(low, 6, case.shape)
        rare = draw.random(case.shape) < 0.04
        if case.dtype in FLOATS:
            values = np.where(values == 0, 0.5, values + draw.integers(0, 2) * 0.5)
            others = np.array([np.nan, np.inf, -np.inf])
        else:
            info = np.iinfo(case.dtype)
            others = np.array([info.min, info.max, info.min + 1, 40])
        values = np.where(
            rare, others[draw.integers(0, len(others), case.shape)], values
        )
        made.append(values.astype(case.dtype))
    return made[0], made[1]


def failures(seed: str) -> Iterator[str]:
    """Yield what is wrong in the case of a seed, on the default device, in words."""
    case = case_of(seed)
    if case is not None:
        yield from wrong(case, second_operations())


def count_of(seed: str) -> int | None:
    """Return how many cases a part of the matrix has."""
    if "/" not in seed:
        return None
    number, count = (int(each) for each in seed.split("/"))
    return len(matrix()[number::count])


def wrong(case: Case, forms: Sequence[Form]) -> Iterator[str]:
    """Yield the pairs of a case that differ from those on `cpu`."""
    device = devices.default_device()
    if case.dtype not in devices.backend(device).dtypes:
        return
    arrays = _data(case)
    alone = _computed("cpu", case, Form("{x}"), arrays)
    if alone is None:
        return
    scale = _size(alone)
    for form in forms:
        if not case.first.is_exact and not form.is_continuous:
            continue
        if form.distinguishes_zeros and alone.dtype.kind == "f":
            continue
        if not form.is_exact and _may_overflow(alone):
            continue
        expected = _computed("cpu", case, form, arrays)
        if expected is None:
            continue
        got = _computed(device, case, form, arrays)
        if got is None:
            yield f"{_words(case, form)}: refused, not on cpu"
            continue
        room = 0.0 if case.first.is_exact and form.is_exact else scale
        if not _is_like(got, expected) or not _good(got, expected, room).all():
            yield f"{_words(case, form)}: {_first(got, expected)}"


def _words(case: Case, form: Form) -> str:
    inner = case.first.text.replace("{x}", case.view.replace("{x}", "x"))
    return f"{form.text.replace('{x}', f'({inner})')} of {case.dtype} {case.shape}"


def _computed(
    device: str, case: Case, form: Form, arrays: Sequence[Array]
) -> Array | None:
    """Return what a pair gives, None where the dtype or shape has no such operation."""
    with tw.device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        x, y = (
            eval(case.view.replace("{x}", "x"), {"x": tw.asarray(array)})
            for array in arrays
        )
        try:
            made = _evaluated(case.first.text, x, y)
            if made.ndim > 5 or not made.size:
                return None
            again = made if made.shape != y.shape or made.dtype != y.dtype else y
            result = _evaluated(form.text, made, again)
        except REFUSALS:
            return None
        computed: Array = result.numpy()
        return computed


def _evaluated(text: str, x: tw.Tensor, y: tw.Tensor) -> tw.Tensor:
    order = tuple(range(x.ndim))[::-1]
    names = {"tw": tw, "x": x, "y": y, "o": order}
    if "{i}" in text:
        names["i"] = tw.remainder(tw.arange(x.size), 7)
    result: tw.Tensor = eval(text.format(x="x", y="y", o="o", i="i"), names)
    return result


def _is_like(got: Array, expected: Array) -> bool:
    return bool(got.shape == expected.shape and got.dtype == expected.dtype)


def _may_overflow(values: Array) -> bool:
    """Return whether the order of additions decides if a sum is infinite."""
    if values.dtype.kind != "f":
        return False
    sizes = np.abs(values.astype(np.float64))
    total = sizes[np.isfinite(sizes)].sum()
    return bool(total > np.finfo(values.dtype).max)


def _size(values: Array) -> float:
    """Return the size of the largest finite value, 1 at least."""
    sizes = np.abs(values.astype(np.float64))
    return float(sizes[np.isfinite(sizes)].max(initial=1.0))


def _good(got: Array, expected: Array, scale: float) -> Array:
    """Return which elements agree: NaN and infinities, and floats near the largest.

    `scale` is the size of the largest operand, 0 where results are exact.
    """
    if expected.dtype.kind != "f":
        return np.asarray(got == expected)
    a, b = got.astype(np.float64), expected.astype(np.float64)
    share = 2.0**-8 if expected.dtype == np.float16 else 2.0**-13
    size = max(scale, _size(expected)) if scale else 0.0
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= share * size
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)) | near)


def _first(got: Array, expected: Array) -> str:
    if not _is_like(got, expected):
        return f"{got.dtype} {got.shape}, not {expected.dtype} {expected.shape}"
    bad = ~_good(got, expected, 0.0)
    at = tuple(int(each[0]) for each in np.nonzero(bad)) if bad.ndim else ()
    return f"{bad.sum()} of {got.size}; at {at} {got[at]!r}, not {expected[at]!r}"
