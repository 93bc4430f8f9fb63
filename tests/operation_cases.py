"""The cases of the op table: code, inputs, exact results, kernels.

One text of code serves both sides: `tensorweb` is `xp`, here or in the page, or NumPy
is, with floats in float64. Elementwise cases come from the rows of the op table, others
from `structure_cases.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import elementwise_cases
import numpy as np
from elementwise_cases import (
    ROWS,
    cast_reference,
    float_error,
    samples,
    samples_to_cast,
)
from oracles import exact, result_dtype, takes
from structure_cases import EVERY, REDUCTIONS, STRUCTURES, Row, inputs_of
from tolerances import REDUCE, map_tolerance

from e2e.bare.op_runner import evaluate
from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.graph.op import Op

Array = np.ndarray[Any, Any]

STORED = (dtypes.float32, dtypes.int32, dtypes.uint32, dtypes.bool)

LAYOUTS: dict[str, str] = {
    "permuted": "xp.permute_dims({}, (2, 0, 1))",
    "reversed": "{}[::-1, 2:, ::-3]",
    "row": "{}[3, :, 1]",
    "expanded": "xp.broadcast_to({}[:, :1], (2, 5, 7, 11))",
    "one number": "{}[4, 6, 10]",
    "empty": "{}[:, 3:3]",
}
"""Views of a tensor of shape (5, 7, 11)."""

NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32"}


@dataclass(frozen=True)
class Case:
    """One line of work for the page.

    Attributes:
        name: for people.
        code: what to run; the last line is an expression.
        inputs: arrays by their names in the code.
        expected: the exact result in float64, an integer dtype or bool.
        dtype: of the result.
        kernels: the templates that must run, in order.
        allowed: largest error in ULP of float32 at the size `scale`; 0 means equal.
        scale: sizes at which the error is measured, None for `expected` itself.
    """

    name: str
    code: str
    inputs: dict[str, Array]
    expected: Array
    dtype: str
    kernels: tuple[str, ...]
    allowed: float = 0.0
    scale: Array | None = field(default=None)

    def has_run(self, kernels: list[str]) -> bool:
        """Whether the templates that ran are the wanted ones."""
        *first, last = self.kernels or ("",)
        if last == "...":
            return kernels[: len(first)] == first
        return kernels == list(self.kernels)

    def error(self, got: Array) -> float:
        """Return the largest error in ULP; infinite where exact results differ."""
        if got.dtype.kind != "f":
            return 0.0 if np.array_equal(got, self.expected) else np.inf
        scale = self.expected if self.scale is None else self.scale
        sizes = np.maximum(np.abs(scale), np.abs(self.expected))
        errors = float_error(got, self.expected, sizes)
        return float(errors.max(initial=0.0))


def all_cases() -> list[Case]:
    """Return every case; the order is the page's order of work."""
    return [*elementwise(), *casts(), *choices(), *rows(REDUCTIONS), *rows(STRUCTURES)]


def elementwise() -> Iterator[Case]:
    """Yield every elementwise row on every dtype it takes, and through views.

    Compiling a kernel takes the time, so each row gets one of the views on one of its
    dtypes, both taken in turn; `tests/functions/test_elementwise.py` has all of them
    natively.
    """
    for place, op in enumerate(ROWS):
        taken = [dtype for dtype in STORED if takes(op.name, dtype)]
        for dtype in taken:
            yield _elementwise(op, dtype, samples(op, dtype), "special values", "{}")
        dtype = taken[place % len(taken)]
        cubes = [x[-385:].reshape(5, 7, 11) for x in samples(op, dtype)]
        names = list(LAYOUTS)
        for name in ("empty", names[place % 5]):
            yield _elementwise(op, dtype, cubes, name, LAYOUTS[name])


def _elementwise(
    op: Op, dtype: DType, arrays: list[Array], layout: str, view: str
) -> Case:
    letters = "ab"[: op.arity]
    seen = [np.asarray(evaluate(view.format("x"), np, {"x": x})) for x in arrays]
    result = result_dtype(op.name, dtype, op.arity)
    allowed = map_tolerance(op.name, result) if result == "float32" else 0.0
    largest = None
    if op.name in elementwise_cases.OF_OPERANDS:
        sizes = [np.nan_to_num(np.abs(x.astype(np.float64))) for x in seen]
        largest = np.maximum.reduce(sizes)
    return Case(
        f"{op.name} {dtype} {layout}",
        f"xp.{op.name}({', '.join(view.format(letter) for letter in letters)})",
        dict(zip(letters, arrays, strict=True)),
        exact(op.name, seen),
        result,
        ("elementwise",) if seen[0].size else (),
        allowed,
        largest,
    )


def casts() -> Iterator[Case]:
    """Yield the conversion of every dtype to every other one, at its limits."""
    for a in STORED:
        source = samples_to_cast(a)
        for b in STORED:
            yield Case(
                f"cast {a} {b}",
                f"xp.astype(x, xp.{b})",
                {"x": source},
                cast_reference(source, b),
                b.name,
                () if a is b else ("elementwise",),
                0.5,
            )


def choices() -> Iterator[Case]:
    """Yield `where` on every dtype."""
    for dtype in STORED:
        a, b = inputs_of(dtype.name)["x"][:, :, 0], inputs_of(dtype.name)["x"][0, :, 1]
        c = np.arange(5).reshape(5, 1) % 2 == 0
        code = "xp.where(c, a, b)"
        names = {"a": a, "b": b, "c": c}
        yield Case(
            f"where {dtype}",
            code,
            names,
            np.where(c, a, b),
            dtype.name,
            ("elementwise",),
        )


def rows(table: tuple[Row, ...]) -> Iterator[Case]:
    """Yield the rows of a table on every dtype they are for."""
    for place, row in enumerate(table):
        for dtype in row.dtypes or (EVERY[place % len(EVERY)],):
            inputs = inputs_of(dtype)
            used = {name: inputs[name] for name in inputs if row.uses(name)}
            expected = np.asarray(evaluate(row.numpy_code, np, _wide(used)))
            scale = None
            if row.within:
                sizes = {name: np.abs(x) for name, x in _wide(used).items()}
                scale = np.asarray(evaluate(row.numpy_code, np, sizes))
            name = expected.dtype.name
            yield Case(
                f"{row.code} {dtype}".replace("\n", "; "),
                row.code,
                used,
                expected,
                row.result or NARROW.get(name, name),
                tuple(row.kernels.split()),
                REDUCE[row.within] if row.within else 0.0,
                scale,
            )


def _wide(inputs: dict[str, Array]) -> dict[str, Array]:
    """Return copies, floats in float64."""
    return {
        name: x.astype(np.float64) if x.dtype.kind == "f" else x.copy()
        for name, x in inputs.items()
    }


def packed(cases: list[Case]) -> tuple[str, bytes]:
    """Return cases as the page takes them: JSON, and the bytes of all inputs."""
    places: dict[tuple[str, tuple[int, ...], bytes], int] = {}
    work = []
    for case in cases:
        names = {}
        for name, x in case.inputs.items():
            key = (x.dtype.name, x.shape, np.ascontiguousarray(x).tobytes())
            names[name] = places.setdefault(key, len(places))
        work.append({"code": case.code, "inputs": names})
    inputs = [
        {"dtype": dtype, "shape": shape, "bytes": len(data)}
        for dtype, shape, data in places
    ]
    data = b"".join(part for _, _, part in places)
    return json.dumps({"inputs": inputs, "cases": work}), data
