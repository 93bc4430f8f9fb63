"""Compare outputs of one flush with each of them computed alone.

Some values have several outputs: movements, reductions, scans, orders and casts of
them. What one kernel computes for several readers must be what it computes for one.
Data are small integers, so that every result is exact however it is computed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

import tensorweb as tw
from fuzz.ball import Array
from tensorweb import devices
from tensorweb.errors import DTypeError, ShapeError, TensorIndexError

LENGTHS = (1, 1, 1, 2, 3, 5, 16, 17, 20, 33, 36, 64)
LONG = (16, 17, 20, 33, 64)
MOST_ELEMENTS = 1 << 13

VALUES = (
    *("{x} * 2", "{x} + {y}", "-{x}", "tw.abs({x})", "tw.maximum({x}, {y})"),
    *("tw.where({x} > 1, {x}, {y})", "{x} * {x} - {y}", "{x} // 2"),
    *("{x}", "~{x}", "tw.sum({x}, axis=0, keepdims=True)", "{y} + {x}[:1]"),
)
"""What outputs are made of; `x` and `y` are data of one shape and dtype."""

MOVED = (
    "tw.permute_dims({x}, {order})",
    "tw.permute_dims({x}, {order})",
    "tw.reshape({x}, {shape})",
    "tw.reshape({x}, {shape})",
    *("tw.flip({x}, axis={axis})", "{x}[1:]", "{x}[..., ::2]", "{x}[..., :3]"),
    *("tw.roll({x}, 1, axis={axis})", "tw.concat([{x}, {x}], axis={axis})"),
    *("tw.broadcast_to({x}, (2, *{x}.shape))", "{x}[..., None]", "{x}[None]"),
    *("{x}.mT", "{x}.T", "{x}[::-1]", "{x}[..., ::-2]", "{x}[1::3]", "{x}[..., 1:-1]"),
    *(
        "tw.repeat({x}, 2, axis={axis})",
        "tw.tile({x}, (1, 2))",
        "{x}.astype('{dtype}')",
    ),
    *("tw.expand_dims({x}, axis={axis})", "{x}[..., 0]", "{x}[0]"),
)

SIMPLE = (
    *("{x} + 100", "{x} * 3", "{x} * {x}", "{x} > 1", "-{x}", "{x}", "{x}", "{x}"),
    *("{x}.astype('{dtype}')", "{x}.astype('{dtype}') + 1", "tw.where({x} > 0, 1, 0)"),
    *("tw.reshape({x}, {shape})", "{x} + {x}[:1]"),
    *("{x}.mT", "{x}.mT + 1", "tw.permute_dims({x}, {order})", "{x}[..., ::2]"),
    *("{x}.astype('{dtype}').astype('float32')", "tw.flip({x}, axis={axis})"),
)
"""Outputs that one kernel computes together, if they are of one value."""

ENDS = (
    *SIMPLE[:6],
    *("tw.sum({x}, axis={axis})", "tw.max({x}, axis={axis})", "tw.min({x})"),
    *("tw.argmax({x}, axis={axis})", "tw.any({x} > 2, axis={axis})", "tw.sum({x})"),
    *("tw.cumulative_sum({x}, axis={axis})", "tw.sort({x}, axis={axis})"),
    *("tw.argsort({x}, axis={axis})", "{x} - tw.max({x}, axis={axis}, keepdims=True)"),
    *("tw.sum({x}, axis={axis}, keepdims=True) + {x}", "tw.min({x}, axis={axis})"),
    *("tw.sum({x}.astype('float32'))", "tw.all({x} > 0, axis={axis})"),
    *("{x} + tw.sum(v0)", "{x} * tw.max(v1)", "tw.argmin({x}, axis={axis})"),
)


@dataclass(frozen=True, slots=True)
class Outputs:
    """A program with several outputs.

    Attributes:
        arrays: its data, called `a` and `b`.
        lines: what makes the values that outputs share.
        outputs: expressions of these values.
        is_recorded: whether `jit` computes them together.
    """

    arrays: tuple[Array, Array]
    lines: tuple[str, ...]
    outputs: tuple[str, ...]
    is_recorded: bool

    def computed(self, device: str, outputs: Sequence[str]) -> list[Array]:
        """Return outputs that one flush computed, of a graph of their own."""

        def build(a: tw.Tensor, b: tw.Tensor) -> list[tw.Tensor]:
            names: dict[str, Any] = {"tw": tw, "a": a, "b": b}
            exec("\n".join(self.lines), names)
            return [eval(text, names) for text in outputs]

        with tw.device(device):
            a, b = (tw.asarray(array) for array in self.arrays)
            tw.realize(a, b)
            made = (tw.jit(build) if self.is_recorded else build)(a, b)
            tw.realize(*made)
            return [output.numpy() for output in made]

    def wrong(self, device: str) -> str:
        """Return the first output that differs from the same computed alone, or ""."""
        together = self.computed(device, self.outputs)
        for got, text in zip(together, self.outputs, strict=True):
            (alone,) = self.computed(device, [text])
            if not np.array_equal(got, alone, equal_nan=alone.dtype.kind == "f"):
                return text
        return ""

    @property
    def text(self) -> str:
        """The program for people."""
        data = f"# a, b: {self.arrays[0].dtype} of shape {self.arrays[0].shape}"
        last = f"{'jit' if self.is_recorded else 'realize'}: {', '.join(self.outputs)}"
        return "\n".join((data, *self.lines, last))


def dtypes_of(device: str) -> list[str]:
    """Return the dtypes of a device that outputs are drawn in."""
    return sorted(
        name for name in devices.backend(device).dtypes if "complex" not in name
    )


class _Draft:
    """Finds forms that fit, by building their graphs on `cpu`."""

    def __init__(self, rng: random.Random, dtypes: Sequence[str]) -> None:
        self.rng = rng
        self.dtypes = dtypes
        self.lines: list[str] = []
        shape, dtype = self._shape(), rng.choice(dtypes)
        self.arrays = (self._array(shape, dtype), self._array(shape, dtype))
        given = (tw.asarray(array, device="cpu") for array in self.arrays)
        self.names: dict[str, Any] = {"tw": tw, **dict(zip("ab", given, strict=True))}

    def _shape(self) -> tuple[int, ...]:
        while True:
            if self.rng.random() < 0.5:  # matrices between axes of one element
                lengths = [self.rng.choice(LONG) for _ in range(2)]
                for _ in range(self.rng.randint(0, 2)):
                    lengths.insert(self.rng.randint(0, 3), 1)
            else:
                rank = self.rng.choice((1, 2, 3, 3, 4))
                lengths = [self.rng.choice(LENGTHS) for _ in range(rank)]
            shape = tuple(lengths)
            if prod(shape) <= MOST_ELEMENTS:
                return shape

    def _array(self, shape: tuple[int, ...], dtype: str) -> Array:
        data = np.random.default_rng(self.rng.randrange(1 << 30))
        low, high = (0, 2) if dtype == "bool" else (0 if dtype[0] == "u" else -4, 5)
        return data.integers(low, high, shape).astype(dtype)

    def _reshaped(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return another shape of that size: axes merged, split, or 1 put in."""
        lengths, rng = list(shape), self.rng
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(lengths) + 1)
            if at + 1 < len(lengths) and rng.random() < 0.6:
                lengths[at : at + 2] = [lengths[at] * lengths[at + 1]]
            elif at < len(lengths) and lengths[at] % 2 == 0 and rng.random() < 0.5:
                lengths[at : at + 1] = [lengths[at] // 2, 2]
            else:
                lengths.insert(at, 1)
        return tuple(lengths)

    def fitting(self, forms: Sequence[str], x: str) -> str:
        """Return one of the forms around `x` that its shape and dtype allow."""
        shape = eval(x, self.names).shape
        while True:
            order = self.rng.sample(range(len(shape)), len(shape))
            text = (
                self.rng.choice(forms)
                .replace("{dtype}", self.rng.choice(self.dtypes))
                .replace("{order}", str(tuple(order)))
                .replace("{shape}", str(self._reshaped(shape)))
                .replace("{axis}", str(self.rng.randrange(len(shape) or 1)))
                .replace("{x}", x)
                .replace("{y}", "b")
            )
            try:
                made = eval(text, self.names)
            except (DTypeError, ShapeError, TensorIndexError):
                continue
            if made.size and made.size <= 4 * MOST_ELEMENTS and made.ndim <= 6:
                return text

    def add(self, name: str, forms: Sequence[str], x: str) -> None:
        """Add the line of a value."""
        self.lines.append(f"{name} = {self.fitting(forms, x)}")
        exec(self.lines[-1], self.names)


def drawn(seed: str, dtypes: Sequence[str]) -> Outputs:
    """Return the random program of a seed over some dtypes."""
    rng = random.Random(seed)
    draft = _Draft(rng, dtypes)
    draft.add("v0", VALUES, "a")
    if rng.random() < 0.8:
        draft.add("v0", MOVED[:2] if rng.random() < 0.6 else MOVED, "v0")
    draft.add("v1", VALUES, rng.choice("ab"))
    outputs = []
    for _ in range(rng.choice((2, 2, 2, 3, 4))):
        if rng.random() < 0.5:
            outputs.append(draft.fitting(SIMPLE, "v0"))
            continue
        text = rng.choice(("v0", "v0", "v0", "v1"))
        for _ in range(rng.choice((0, 1, 1, 2))):
            text = draft.fitting(MOVED, text)
        outputs.append(draft.fitting(ENDS, text))
    is_recorded = rng.random() < 0.2
    return Outputs(draft.arrays, tuple(draft.lines), tuple(outputs), is_recorded)


def failures(seed: str) -> Iterator[str]:
    """Yield the program of a seed, shrunk, if outputs differ on the default device."""
    device = devices.default_device()
    program = drawn(seed, dtypes_of(device))
    if program.wrong(device):
        yield f"together wrong\n{smaller(program, device).text}"


def smaller(program: Outputs, device: str) -> Outputs:
    """Return a failing program with as few outputs as fail."""
    for number in range(len(program.outputs)):
        rest = program.outputs[:number] + program.outputs[number + 1 :]
        fewer = replace(program, outputs=rest)
        if rest and fewer.wrong(device):
            return smaller(fewer, device)
    return program
