"""Steps that make tensors from numbers."""

from __future__ import annotations

import numpy as np

from fuzz.ball import Array, Ball, exact, rounded
from fuzz.maps import number
from fuzz.program import Drawing, literal


def _made(draw: Drawing, text: str, ball: Ball, name: str) -> None:
    draw.step(text, [], lambda _: ball, name)


def eye(draw: Drawing) -> None:
    rows, columns = draw.length(), draw.length()
    k = draw.rng.choice((draw.rng.randint(-5, 5), 2**31, -(2**32)))
    draw.fits((rows, columns))
    dtype = draw.rng.choice(("float32", "int32", "bool"))
    _made(
        draw,
        f"tw.eye({rows}, {columns}, k={k}, dtype='{dtype}')",
        exact(np.eye(rows, columns, min(max(k, -999), 999), dtype)),
        "eye",
    )


def arange(draw: Drawing) -> None:
    start, step = draw.rng.randint(-9, 9), draw.rng.choice((1, 2, 3, -1, -4))
    stop = start + step * draw.length()
    dtype = draw.rng.choice(("int32", "float32"))
    _made(
        draw,
        f"tw.arange({start}, {stop}, {step}, dtype='{dtype}')",
        exact(np.arange(start, stop, step).astype(dtype)),
        "arange",
    )


def linspace(draw: Drawing) -> None:
    start, stop = draw.rng.uniform(-9, 9), draw.rng.uniform(-9, 9)
    count, endpoint = draw.length(), draw.flag(0.7)
    centre = np.linspace(start, stop, count, endpoint=endpoint)
    ball = rounded(centre, np.full(centre.shape, 1e-14), "float32", 0.5)
    text = f"tw.linspace({start}, {stop}, {count}, endpoint={endpoint})"
    _made(draw, text, ball, "linspace")


def full(draw: Drawing) -> None:
    shape = draw.any_shape()
    dtype = draw.rng.choice(("float32", "int32", "float16", "uint32"))
    value = (
        draw.rng.choice((0, 1, 7))
        if dtype[0] in "iu"
        else draw.rng.choice((0.0, -0.0, 0.1, float("inf"), float("nan"), 1e-3))
    )
    text = repr(value).replace("inf", "np.inf").replace("nan", "np.nan")
    one = number(value, dtype)
    ball = Ball(np.full(shape, one.centre), np.full(shape, one.radius), dtype, True)
    _made(draw, f"tw.full({shape}, {text}, dtype='{dtype}')", ball, "full")


def like(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    name = draw.rng.choice(("zeros", "ones"))
    function = {"zeros": np.zeros, "ones": np.ones}[name]

    def rule(balls: list[Ball]) -> Ball:
        made: Array = function(balls[0].shape, balls[0].centre.dtype)
        return Ball(made, np.zeros(made.shape), balls[0].dtype, True)

    draw.step(f"tw.{name}_like({{0}})", [x], rule, f"{name}_like")


def data(draw: Drawing) -> None:
    draw.leaf(draw.any_shape(), draw.dtype())


def grid(draw: Drawing) -> None:
    lengths = (draw.length(), draw.length())
    draw.fits(lengths)
    rows: Array = np.arange(lengths[0], dtype=np.int32)
    columns: Array = np.arange(lengths[1], dtype=np.float32)
    made = np.meshgrid(rows, columns, indexing="ij")
    draw.step(
        f"{{out}} = tw.meshgrid(tw.asarray({literal(rows)}), "
        f"tw.asarray({literal(columns)}), indexing='ij')",
        [],
        lambda _: [exact(each) for each in made],
        "meshgrid",
        outputs=2,
    )


ROWS = (eye, arange, linspace, full, like, data, data, grid)
