"""The cases of the op table: code, inputs, exact results, kernels.

One text of code serves both sides: `tensorweb` is `xp`, here or in the page, or NumPy
is, with floats in float64. Elementwise cases come from the op table, others
from `structure_cases.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import elementwise_cases
import numpy as np
import random_cases
from elementwise_cases import (
    ENTRIES,
    SELDOM,
    cast_reference,
    code_of,
    float_error,
    samples,
    samples_to_cast,
    unit_at,
)
from oracles import NUMPYS, exact, result_dtype, takes
from structure_cases import (
    EVERY,
    REDUCTIONS,
    SAMPLED_REDUCTIONS,
    STRUCTURES,
    Row,
    inputs_of,
)
from tolerances import REDUCE, map_tolerance

import tensorweb as tw
from e2e.bare.op_runner import evaluate, has_run
from tensorweb import dtypes
from tensorweb.devices import DEVICES
from tensorweb.dtypes import DType
from tensorweb.graph.op import Op
from tensorweb.random.keys import FEW_WORDS

Array = np.ndarray[Any, Any]

RECORDED = Path(__file__).parent / "references" / "random.json"

STORED = (dtypes.float32, dtypes.int32, dtypes.uint32, dtypes.bool)
"""What every device stores."""

LAYOUTS: dict[str, str] = {
    "permuted": "xp.permute_dims({}, (2, 0, 1))",
    "reversed": "{}[::-1, 2:, ::-3]",
    "row": "{}[3, :, 1]",
    "expanded": "xp.broadcast_to({}[:, :1], (2, 5, 7, 11))",
    "one number": "{}[4, 6, 10]",
    "three": "{}[2, 4, 5:8]",
    "empty": "{}[:, 3:3]",
}
"""Views of a tensor of shape (5, 7, 11)."""

PACKED = ("uint8", "int8", "uint16", "int16")
"""Dtypes of which a word of a GPU's buffer holds several elements."""

NARROW = {"float64": "float32", "int64": "int32", "uint64": "uint32"}

WIDER: dict[str, type[np.floating[Any]]] = {
    "float16": np.float64,
    "float32": np.float64,
}

RELATIVES: dict[str, tuple[str, ...]] = {
    "float32": ("float64", "float16"),
    "int32": ("int8", "int16", "int64"),
    "uint32": ("uint8", "uint16", "uint64"),
}
"""The dtypes on which a row for a dtype is tried as well, where they are stored."""


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
        slow: the templates where a compiler is slow, if others.
    """

    name: str
    code: str
    inputs: dict[str, Array]
    expected: Array
    dtype: str
    kernels: tuple[str, ...]
    allowed: float = 0.0
    scale: Array | None = field(default=None)
    slow: tuple[str, ...] = ()

    def has_run(self, kernels: list[str]) -> bool:
        """Whether the templates that ran are the expected ones."""
        return has_run(kernels, self.kernels)

    def error(self, got: Array) -> float:
        """Return the largest error in ULP; infinite where exact results differ."""
        if got.dtype.kind != "f":
            return 0.0 if np.array_equal(got, self.expected) else np.inf
        errors = float_error(got, self.expected, self._sizes())
        return float(errors.max(initial=0.0))

    def unit(self) -> Array:
        """Return the unit of errors for each number of a result of floats."""
        return unit_at(self._sizes(), self.dtype)

    def _sizes(self) -> Array:
        scale = self.expected if self.scale is None else self.scale
        return np.asarray(np.maximum(np.abs(scale), np.abs(self.expected)))


def all_cases(device: str = "webgpu", *, sampled: bool = False) -> list[Case]:
    """Return every case for the dtypes of a device, in the page's order of work.

    Each entry of the op table is in them. With `sampled`, and always on `webgpu`, not
    every dtype meets every entry and view: each pair of an entry and a kind of dtype,
    and of a dtype and a view, is in some case.
    """
    sampled = sampled or device == "webgpu"
    stored = [dtype for dtype in NUMPYS if dtype.name in DEVICES[device].dtypes]
    stored = [dtype for dtype in stored if dtype.name not in DEVICES[device].varying]
    if device == "webgpu":
        stored = [dtype for dtype in stored if dtype.name not in SELDOM]
    return [
        *elementwise(stored, sampled=sampled),
        *casts(stored),
        *choices(stored),
        *rows(SAMPLED_REDUCTIONS if sampled else REDUCTIONS, stored, sampled=sampled),
        *rows(STRUCTURES, stored, sampled=sampled),
        *random_numbers(),
    ]


def elementwise(stored: Sequence[DType], *, sampled: bool) -> Iterator[Case]:
    """Yield every elementwise entry on every dtype it takes, and through views.

    Compiling a shader takes the time: with `sampled` an entry gets float32, one other
    dtype, one view and an empty one, by its index.
    `tests/functions/test_elementwise.py` has all of them natively.
    """
    for index, op in enumerate(ENTRIES):
        taken = [dtype for dtype in stored if takes(op.name, dtype)]
        others = [dtype for dtype in taken if dtype is not dtypes.float32]
        tried = taken
        if sampled and others:
            tried = [dtype for dtype in taken if dtype is dtypes.float32]
            tried.append(others[index % len(others)])
        for dtype in tried:
            yield _elementwise(op, dtype, samples(op, dtype), "special values", "{}")
        names = tuple(LAYOUTS)
        for offset, name in enumerate(
            (names[index % 6], names[-1]) if sampled else names
        ):
            dtype = taken[(index + offset) % len(taken)]
            cubes = [x[-385:].reshape(5, 7, 11) for x in samples(op, dtype)]
            yield _elementwise(op, dtype, cubes, name, LAYOUTS[name])


def _elementwise(
    op: Op, dtype: DType, arrays: list[Array], layout: str, view: str
) -> Case:
    letters = "abc"[: op.arity]
    seen = [np.asarray(evaluate(view.format("x"), np, {"x": x})) for x in arrays]
    result = result_dtype(op.name, dtype, op.arity)
    is_float = result.startswith("float")
    allowed = map_tolerance(op.name, result) if is_float else 0.0
    largest = None
    if op.name in elementwise_cases.OF_OPERANDS:
        sizes = [np.nan_to_num(np.abs(x.astype(np.float64))) for x in seen]
        largest = np.maximum.reduce(sizes)
    return Case(
        f"{op.name} {dtype} {layout}",
        code_of(op, *[view.format(letter) for letter in letters]),
        dict(zip(letters, arrays, strict=True)),
        exact(op.name, seen),
        result,
        ("elementwise",) if seen[0].size else (),
        allowed,
        largest,
    )


def casts(stored: Sequence[DType]) -> Iterator[Case]:
    """Yield the conversion of every dtype to every other one, at its limits."""
    for a in stored:
        source = samples_to_cast(a)
        for b in stored:
            yield Case(
                f"cast {a} {b}",
                f"xp.astype(x, xp.{b})",
                {"x": source},
                cast_reference(source, b),
                b.name,
                () if a is b else ("elementwise",),
                0.5,
            )


def choices(stored: Sequence[DType]) -> Iterator[Case]:
    """Yield `where` on every dtype."""
    for dtype in stored:
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


def random_numbers() -> Iterator[Case]:
    """Yield keys, bits and samples that another program has recorded."""
    recorded = json.loads(RECORDED.read_text("utf-8"))
    for index, seed in enumerate(random_cases.SEEDS):
        key = f"xp.random.key({seed})"
        words = [
            (f"xp.random.split({key}, {n})", found)
            for n, found in zip(
                random_cases.COUNTS, recorded["split"][index], strict=True
            )
        ]
        words += [
            (f"xp.random.bits({key}, {shape})", found)
            for shape, found in zip(
                random_cases.SHAPES, recorded["bits"][index], strict=True
            )
        ]
        for code, found in words:
            expected = np.array(found, np.uint32)
            # Python itself computes few words of a key that it knows.
            kernels = ("elementwise",) if expected.size > FEW_WORDS else ()
            yield Case(code, code, {}, expected, "uint32", kernels)


def rows(
    table: tuple[Row, ...], stored: Sequence[DType] = STORED, *, sampled: bool = False
) -> Iterator[Case]:
    """Yield the rows of a table on every dtype they are for and its relatives.

    With `sampled` each row gets one of its dtypes and one relative of that, by its
    index, because compiling takes the time.
    `tests/functions/test_structures.py` has all of them natively.
    """
    names = {dtype.name for dtype in stored}
    for index, row in enumerate(table):
        taken = row.dtypes or (EVERY[index % len(EVERY)],)
        for dtype in [taken[index % len(taken)]] if sampled else taken:
            yield _row(row, dtype)
            if "dtype=" not in row.code:
                related = [name for name in RELATIVES.get(dtype, ()) if name in names]
                if ".linalg." in row.code:  # its operand would be rounded before
                    related = [name for name in related if name != "float16"]
                if sampled and related:
                    related = [related[index // len(taken) % len(related)]]
                yield from (_row(row, name) for name in related)


def _row(row: Row, dtype: str) -> Case:
    inputs = inputs_of(dtype)
    used = {name: inputs[name] for name in inputs if row.uses(name)}
    widest = np.float64 if ".linalg." in row.code else np.longdouble  # LAPACK's
    expected = _narrow(evaluate(row.numpy_code, np, _wide(used, widest)))
    scale = None
    if row.within:
        sizes = {name: np.abs(x) for name, x in _wide(used, widest).items()}
        scale = _narrow(evaluate(row.numpy_code, np, sizes))
    result = row.result or _result(row, dtype, used, expected.dtype.name)
    kernels, slow = tuple(row.kernels.split()), tuple(row.slow.split())
    if result in PACKED:
        kernels = tuple(row.packed.split()) or packed_kernels(kernels)
        slow = packed_kernels(slow)
    return Case(
        f"{row.code} {dtype}".replace("\n", "; "),
        row.code,
        used,
        expected,
        result,
        kernels,
        REDUCE[row.within] if row.within else 0.0,
        scale,
        slow,
    )


def packed_kernels(kernels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the templates that run where the result has 8 or 16 bits an element.

    Elementwise kernels write whole words themselves. A stencil is one of them there,
    and what other kernels write is packed by one more launch.
    """
    if kernels == ("stencil",):
        return ("elementwise",)
    is_packed = not kernels or kernels[-1] in ("elementwise", "...")
    return kernels if is_packed else (*kernels, "elementwise")


def _result(row: Row, dtype: str, used: dict[str, Array], found: str) -> str:
    """Return the dtype of a row's result: that of NumPy's, which is wider at times."""
    if dtype in EVERY:
        return NARROW.get(found, found)
    with tw.device("cpu"):
        tensors = {name: tw.asarray(x) for name, x in used.items()}
        return str(evaluate(row.code, tw, tensors).dtype)


def _wide(inputs: dict[str, Array], widest: type[np.floating[Any]]) -> dict[str, Array]:
    """Return copies, floats in float64, and that in the widest of what there is."""
    wider = {**WIDER, "float64": widest}
    return {
        name: x.astype(wider.get(x.dtype.name, x.dtype)) for name, x in inputs.items()
    }


def _narrow(result: Any) -> Array:
    """Return a result, floats in float64."""
    found = np.asarray(result)
    return found.astype(np.float64) if found.dtype.kind == "f" else found
