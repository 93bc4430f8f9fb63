"""Steps of elementwise operations, casts and choices, and of new tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.ball import (
    FLOATS,
    Array,
    Ball,
    as_dtype,
    certain,
    chosen,
    compared,
    exact,
    mapped,
    number,
    rounded,
    tested,
)
from fuzz.functions import (
    BINARY,
    BOTH,
    UNARY,
    WHOLE,
    binary_ball,
    float_dtype,
    promoted,
    unary_ball,
)
from fuzz.program import Drawing, Unfit, literal


def unary(draw: Drawing) -> None:
    name = draw.rng.choice(tuple(UNARY))
    if name in (*BOTH, *WHOLE):
        x = draw.numeric()
    else:
        x = draw.pick(lambda ball: ball.is_float or ball.centre.size < 999, "float32")
    ball = draw.ball(x)
    if ball.dtype == "bool" and name in (*BOTH, *WHOLE):
        raise Unfit
    text = f"tw.{name}({{0}})"
    if name in ("abs", "negative") and draw.flag():
        text = {"abs": "abs({0})", "negative": "-{0}"}[name]
    draw.step(text, [x], lambda balls: unary_ball(name, balls[0]), name)


SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
}

LIKELY = ("add", "subtract", "multiply", "add", "subtract", "multiply", "divide")


def broadcastable(draw: Drawing, shape: tuple[int, ...]) -> Callable[[Ball], bool]:
    """Return whether a ball broadcasts with a shape, within the limit."""

    def accept(ball: Ball) -> bool:
        try:
            wide = np.broadcast_shapes(shape, ball.shape)
        except ValueError:
            return False
        return int(np.prod(wide)) <= draw.most

    return accept


def shape_like(draw: Drawing, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts with another."""
    lengths = tuple(n if draw.flag(0.7) else 1 for n in shape)
    return lengths[draw.rng.randint(0, len(lengths)) :] if draw.flag(0.3) else lengths


def partner(draw: Drawing, x: int) -> int:
    """Return a value that combines with another: drawn, or new."""
    ball = draw.ball(x)
    fits = broadcastable(draw, ball.shape)
    if draw.flag(0.6):
        try:
            return draw.pick(fits)
        except Unfit:
            pass
    dtype = ball.dtype if draw.flag(0.8) else draw.dtype()
    return draw.leaf(shape_like(draw, ball.shape), dtype)


def scalar_text(draw: Drawing, ball: Ball, name: str) -> tuple[str, Ball]:
    """Return a Python number for an operation with a tensor, and its ball."""
    if ball.dtype == "bool":
        raise Unfit
    integer = draw.rng.choice((1, 2, 3, 5, 7))
    if name == "pow" or ball.dtype[0] == "u" or (not ball.is_float and draw.flag(0.7)):
        return repr(integer), number(integer, ball.dtype)
    value: float = draw.rng.choice((0.5, 2, -1, 0.1, 3.7, -2.5, 1, 0.25, 1e-3, 13.0))
    if isinstance(value, int):
        return repr(value), number(value, ball.dtype)
    return repr(value), number(value, float_dtype(ball.dtype))


def binary(draw: Drawing) -> None:
    name = draw.rng.choice((*BINARY, *LIKELY))
    symbol = SYMBOLS.get(name)
    x = draw.pick(lambda ball: True, "float32")
    if symbol and draw.flag(0.35):
        text, scalar = scalar_text(draw, draw.ball(x), name)
        if name == "pow" and draw.ball(x).is_float:
            text = draw.rng.choice(("2", "0.5", "-1", "3"))
            scalar = number(float(text), draw.ball(x).dtype)
            if text == "0.5":
                draw.step("{0} ** 0.5", [x], lambda b: unary_ball("sqrt", b[0]), name)
                return
        order = f"{{0}} {symbol} {text}"
        if draw.flag(0.3) and name != "pow":
            order = f"{text} {symbol} {{0}}"
            draw.step(order, [x], lambda b: binary_ball(name, scalar, b[0]), name)
        else:
            draw.step(order, [x], lambda b: binary_ball(name, b[0], scalar), name)
        return
    y = partner(draw, x)
    if name == "pow" and draw.ball(x).is_float and draw.flag(0.7):
        x = draw.floats(lambda ball: bool(np.all(ball.centre > 0)))
        y = partner(draw, x)
    text = f"tw.{name}({{0}}, {{1}})"
    if symbol and draw.flag():
        text = f"{{0}} {symbol} {{1}}"
    draw.step(text, [x, y], lambda b: binary_ball(name, b[0], b[1]), name)


COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
COMPARISON_SYMBOLS = dict(
    zip(COMPARISONS, ("==", "!=", "<", "<=", ">", ">="), strict=True)
)


def comparison_ball(name: str, a: Ball, b: Ball) -> Ball:
    dtype = promoted(a, b)
    return compared(COMPARISONS[name], as_dtype(a, dtype), as_dtype(b, dtype))


def comparison(draw: Drawing) -> None:
    name = draw.rng.choice(tuple(COMPARISONS))
    x = draw.numeric()
    symbol = COMPARISON_SYMBOLS[name]
    if draw.flag(0.4):
        text, scalar = scalar_text(draw, draw.ball(x), name)
        draw.step(
            f"{{0}} {symbol} {text}",
            [x],
            lambda b: comparison_ball(name, b[0], scalar),
            name,
        )
        return
    y = partner(draw, x)
    text = draw.rng.choice((f"tw.{name}({{0}}, {{1}})", f"{{0}} {symbol} {{1}}"))
    draw.step(text, [x, y], lambda b: comparison_ball(name, b[0], b[1]), name)


LOGICAL: dict[str, Callable[[Any, Any], Any]] = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}


def logical(draw: Drawing) -> None:
    name = draw.rng.choice(tuple(LOGICAL))
    is_logical = name.startswith("logical")
    x = draw.pick(lambda ball: is_logical or not ball.is_float, "bool")
    y = partner(draw, x)

    def rule(balls: list[Ball]) -> Ball:
        if is_logical:
            balls = [as_dtype(ball, "bool") for ball in balls]
            return certain(LOGICAL[name], balls, "bool")
        dtype = promoted(*balls)
        if dtype in FLOATS:
            raise Unfit
        balls = [as_dtype(ball, dtype) for ball in balls]
        return certain(LOGICAL[name], balls, dtype)

    draw.step(f"tw.{name}({{0}}, {{1}})", [x, y], rule, name)


def inverted(draw: Drawing) -> None:
    if draw.flag():
        x = draw.pick(leaf="bool")
        draw.step(
            "tw.logical_not({0})",
            [x],
            lambda b: certain(np.logical_not, [as_dtype(b[0], "bool")], "bool"),
        )
        return
    x = draw.pick(lambda ball: not ball.is_float, "int32")
    dtype = draw.ball(x).dtype
    draw.step("~{0}", [x], lambda b: certain(np.invert, b, dtype), "bitwise_invert")


def shifted(draw: Drawing) -> None:
    x = draw.integers()
    dtype = draw.ball(x).dtype
    count = draw.rng.randrange(0, np.iinfo(dtype).bits)
    symbol, function = draw.rng.choice((("<<", np.left_shift), (">>", np.right_shift)))
    amount = np.asarray(count, dtype)
    draw.step(
        f"{{0}} {symbol} {count}",
        [x],
        lambda b: certain(lambda values: function(values, amount), b, dtype),
        "shift",
    )


TESTS: dict[str, Callable[[Any], Any]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
}


def test(draw: Drawing) -> None:
    name = draw.rng.choice(tuple(TESTS))
    x = draw.floats()
    draw.step(f"tw.{name}({{0}})", [x], lambda b: tested(TESTS[name], b[0]), name)


def cast(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    dtype = draw.dtype()
    if draw.ball(x).is_float and dtype in ("int64", "uint64"):
        raise Unfit
    draw.step(
        f"{{0}}.astype('{dtype}')", [x], lambda b: as_dtype(b[0], dtype), "astype"
    )


def where(draw: Drawing) -> None:
    condition = draw.pick(lambda ball: ball.dtype == "bool", "bool")
    try:
        x = draw.pick(broadcastable(draw, draw.shape(condition)))
    except Unfit:
        x = draw.leaf(draw.shape(condition), "float32")
    y = partner(draw, x)

    def rule(balls: list[Ball]) -> Ball:
        dtype = promoted(balls[1], balls[2])
        return chosen(balls[0], as_dtype(balls[1], dtype), as_dtype(balls[2], dtype))

    wide = np.broadcast_shapes(draw.shape(x), draw.shape(y))
    if not broadcastable(draw, draw.shape(condition))(
        Ball(np.empty(wide), np.empty(wide), "")
    ):
        raise Unfit
    draw.step("tw.where({0}, {1}, {2})", [condition, x, y], rule)


def clipped(draw: Drawing) -> None:
    x = draw.numeric()
    dtype = draw.ball(x).dtype
    low, high = sorted((draw.rng.randint(0, 4), draw.rng.randint(0, 9)))
    bounds = [number(low, dtype), number(high, dtype)]

    def rule(balls: list[Ball]) -> Ball:
        if not balls[0].is_float:
            return certain(np.clip, [balls[0], *bounds], dtype)
        return mapped(np.clip, [balls[0], *bounds], dtype, 0)

    draw.step(f"tw.clip({{0}}, {low}, {high})", [x], rule)


def nextafter(draw: Drawing) -> None:
    x = draw.floats(lambda ball: ball.is_exact and ball.has_signs)
    y = partner(draw, x)

    def rule(balls: list[Ball]) -> Ball:
        if balls[0].dtype != balls[1].dtype or not balls[1].is_float:
            raise Unfit
        dtype = balls[0].dtype
        with np.errstate(all="ignore"):
            ends = [ball.centre.astype(dtype) for ball in balls]
            near = np.nextafter(*ends).astype(np.float64)
        result = rounded(near, np.zeros(near.shape), dtype, 0)
        unknown = (balls[0].radius > 0) | (balls[1].radius > 0)
        unknown = unknown | (ends[0] == ends[1])
        radius = np.where(unknown, np.inf, result.radius)
        return Ball(result.centre, radius, dtype)

    draw.step("tw.nextafter({0}, {1})", [x, y], rule)


ELEMENTWISE = (
    *(unary,) * 10,
    *(binary,) * 14,
    *(comparison,) * 4,
    *(logical,) * 3,
    *(where,) * 4,
    *(cast,) * 4,
    *(clipped,) * 2,
    inverted,
    shifted,
    test,
    nextafter,
)


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
        outputs=2,
    )


CREATION = (eye, arange, linspace, full, like, data, data, grid)
