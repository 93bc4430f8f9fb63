"""A random program: steps of Python text, each with NumPy's rule for its results."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from fuzz.ball import FLOATS, Array, Ball, exact

Rule = Callable[[list[Ball]], "Ball | Sequence[Ball]"]

WIDE = ("float64", "int64", "uint64")
"""Dtypes that only the cpu device has."""

SMALL = ("int8", "int16", "uint8", "uint16")
"""Integers that a GPU keeps packed."""

LITERAL = 48
"""Most elements of a leaf that is written out."""

MOST_ELEMENTS = 4096
LARGE_ELEMENTS = 1 << 19


class Unfit(Exception):
    """An operation finds no operands that suit it; another one is drawn."""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement.

    Attributes:
        text: with `{out}` for its results and `{0}`, `{1}` … for its inputs.
        inputs: numbers of the values it reads.
        outputs: numbers of the values it makes.
        rule: the results' balls from those of the inputs.
        operation: its name for statistics.
        is_reading: whether it asks for values while the graph is built.
    """

    text: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    rule: Rule
    operation: str
    is_reading: bool = False

    @property
    def is_leaf(self) -> bool:
        return self.operation == "leaf"

    @property
    def line(self) -> str:
        names = [f"v{number}" for number in self.inputs]
        out = ", ".join(f"v{number}" for number in self.outputs)
        return self.text.format(*names, out=out)


@dataclass(slots=True)
class Program:
    """Steps in order, and the ball of every value.

    Attributes:
        is_wide: whether it uses dtypes that only the cpu device has.
    """

    steps: list[Step] = field(default_factory=list)
    balls: dict[int, Ball] = field(default_factory=dict)
    is_wide: bool = False

    def add(self, step: Step) -> None:
        """Append a step and compute its results' balls."""
        with np.errstate(all="ignore"):
            result = step.rule([self.balls[number] for number in step.inputs])
        balls = [result] if isinstance(result, Ball) else list(result)
        if len(balls) != len(step.outputs):
            raise Unfit
        self.balls.update(zip(step.outputs, balls, strict=True))
        self.steps.append(step)

    @property
    def sinks(self) -> list[int]:
        """Numbers of the values that no step reads."""
        used = {number for step in self.steps for number in step.inputs}
        made = [number for step in self.steps for number in step.outputs]
        return [number for number in made if number not in used]

    @property
    def count(self) -> int:
        """How many operations there are; data are none."""
        return sum(not step.is_leaf for step in self.steps)

    def rebuilt(self, steps: Sequence[Step]) -> Program:
        """Return the program of other steps, every ball computed again."""
        program = Program(is_wide=self.is_wide)
        for step in steps:
            program.add(step)
        return program


def leaf_step(text: str, number: int) -> Step:
    """Return the step that makes a tensor of a NumPy expression."""
    array: Array = np.asarray(eval(text, {"np": np}))
    ball = exact(array)
    return Step(f"{{out}} = tw.asarray({text})", (), (number,), lambda _: ball, "leaf")


def literal(array: Array) -> str:
    """Return the NumPy expression of an array, written out."""
    text = repr(array.tolist()).replace("nan", "np.nan").replace("inf", "np.inf")
    if not array.size:
        return f"np.zeros({array.shape!r}, '{array.dtype}')"
    return f"np.array({text}, '{array.dtype}')"


@dataclass(slots=True)
class Drawing:
    """Chooses operands, shapes and numbers for the next step.

    Attributes:
        rng: the only source of randomness.
        program: what there is so far.
        most: elements that a value may have.
        roughness: how often leaves hold numbers that round, and special ones.
    """

    rng: random.Random
    program: Program
    most: int = MOST_ELEMENTS
    roughness: float = 0.3
    next_number: int = 0

    def number(self) -> int:
        """Return the number of a new value."""
        self.next_number += 1
        return self.next_number - 1

    def ball(self, number: int) -> Ball:
        return self.program.balls[number]

    def shape(self, number: int) -> tuple[int, ...]:
        return self.ball(number).shape

    def pick(
        self, accept: Callable[[Ball], bool] = lambda _: True, leaf: str = ""
    ) -> int:
        """Return a value that is accepted, recent ones sooner.

        Raises:
            Unfit: there is none, and `leaf` names no dtype to make one.
        """
        fitting = [
            number
            for number, ball in self.program.balls.items()
            if ball.known > 0.6 and accept(ball)
        ]
        if fitting and not (leaf and self.rng.random() < 0.05):
            recent = self.rng.random() ** 2
            return fitting[-1 - int(recent * len(fitting))]
        if leaf:
            made = self.leaf(self.any_shape(), leaf)
            if accept(self.ball(made)):
                return made
        raise Unfit

    def pick_or(self, accept: Callable[[Ball], bool], make: Callable[[], int]) -> int:
        """Return a value that is accepted, a new one without any."""
        try:
            return self.pick(accept)
        except Unfit:
            return make()

    def dtype(self) -> str:
        """Return a dtype that the program may use."""
        if self.program.is_wide and self.rng.random() < 0.6:
            return self.rng.choice(WIDE)
        names = ("float32", "float32", "float32", "int32", "int32", "uint32")
        small = self.rng.choice(SMALL)
        return self.rng.choice((*names, "bool", "float16", small))

    def length(self) -> int:
        lengths = (0, 1, 1, 2, 3, 3, 4, 5, 7, 8, 16, 33, 65, 130)
        return self.rng.choice(lengths)

    def any_shape(self) -> tuple[int, ...]:
        """Return a shape within the limit; at times a long one."""
        if self.most > MOST_ELEMENTS and self.rng.random() < 0.4:
            long = self.rng.choice((100_003, 1 << 17, 262_145, 130 * 1024))
            return self.rng.choice(((long,), (long // 64, 65), (3, long // 4)))
        for _ in range(20):
            rank = self.rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5))
            shape = tuple(self.length() for _ in range(rank))
            if int(np.prod(shape)) <= self.most:
                return shape
        return (3,)

    def fits(self, shape: Sequence[int]) -> None:
        """Raise `Unfit` when a result would be too large."""
        if int(np.prod(np.asarray(shape, dtype=object))) > self.most:
            raise Unfit

    def leaf(self, shape: tuple[int, ...], dtype: str, text: str = "") -> int:
        """Add a tensor of random data and return its number.

        Raises:
            Unfit: it would be too large.
        """
        self.fits(shape)
        text = text or leaf_text(self, shape, dtype)
        number = self.number()
        self.program.add(leaf_step(text, number))
        return number

    def step(
        self,
        text: str,
        inputs: Sequence[int],
        rule: Rule,
        operation: str,
        outputs: int = 1,
        is_reading: bool = False,
    ) -> None:
        """Add a step; a text without `{out}` is an expression.

        Raises:
            Unfit: the rule cannot take these operands, or the result is too large.
        """
        if "{out}" not in text:
            text = f"{{out}} = {text}"
        numbers = tuple(self.number() for _ in range(outputs))
        step = Step(text, tuple(inputs), numbers, rule, operation, is_reading)
        self.program.add(step)
        for number in numbers:
            if self.ball(number).centre.size > self.most:
                self.program.steps.pop()
                for each in numbers:
                    del self.program.balls[each]
                raise Unfit

    def narrowed(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return a shape that broadcasts to another."""
        lengths = tuple(n if self.flag(0.7) else 1 for n in shape)
        first = self.rng.randint(0, len(lengths)) if self.flag(0.3) else 0
        return lengths[first:]

    def axes(self, rank: int) -> tuple[int, ...] | int | None:
        """Return axes as reductions take them: all, one, or several."""
        kind = self.rng.random()
        if kind < 0.2 or not rank:
            return None
        if kind < 0.6:
            return self.rng.randrange(-rank, rank)
        count = self.rng.randint(0, rank)
        chosen = self.rng.sample(range(rank), count)
        return tuple(a - rank if self.rng.random() < 0.2 else a for a in chosen)

    def flag(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance


SPECIALS = {
    "float32": "[np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -3.4e38, 1e38, 16777217, "
    "1.17549435e-38, 2147483648, 0.49999997, -2.5]",
    "float16": "[np.nan, np.inf, -np.inf, -0.0, 0.0, 6e-8, 65504, -65504, 2049]",
    "float64": "[np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-310, 1e308, 2.0**53 + 2, 1e-8]",
}


def leaf_text(draw: Drawing, shape: tuple[int, ...], dtype: str) -> str:
    """Return the NumPy expression of random data of a shape and dtype."""
    rng = draw.rng
    random_text = f"np.random.default_rng({rng.randrange(1000)})"
    size = int(np.prod(shape))
    if dtype == "bool":
        text = f"{random_text}.random({shape}) < {rng.choice((0.5, 0.1, 0.9))}"
        return literal(eval(text, {"np": np})) if size <= LITERAL else text
    if dtype not in FLOATS:
        low, high = (0, 9) if dtype[0] == "u" else (-8, 9)
        if rng.random() < 0.25:
            info = np.iinfo(dtype)
            low, high = int(info.min), int(info.max)
        text = f"{random_text}.integers({low}, {high}, {shape}, '{dtype}')"
        return literal(np.asarray(eval(text, {"np": np}))) if size <= LITERAL else text
    if rng.random() < draw.roughness:
        scale = rng.choice((1, 1, 10, 1e-3, 1e4))
        text = f"({random_text}.normal(0, {scale}, {shape})).astype('{dtype}')"
        if rng.random() < 0.25:
            text = (
                f"np.where({random_text}.random({shape}) < 0.1, "
                f"{random_text}.choice(np.array({SPECIALS[dtype]}, '{dtype}'), "
                f"{shape}), {text})"
            )
    else:
        parts = rng.choice((1, 1, 2, 4))
        text = f"({random_text}.integers(-8, 9, {shape}) / {parts}).astype('{dtype}')"
    if size <= LITERAL:
        return literal(np.asarray(eval(text, {"np": np})))
    return text


def renamed(step: Step, names: dict[int, int]) -> Step:
    """Return a step that reads other values."""
    inputs = tuple(names.get(number, number) for number in step.inputs)
    return dataclasses.replace(step, inputs=inputs)
