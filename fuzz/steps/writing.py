"""Steps that write at keys: assignment, and values that accumulate."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.ball import Array, Ball, as_dtype
from fuzz.folds import accumulated
from fuzz.maps import number
from fuzz.program import Drawing, Unfit
from fuzz.steps.elementwise import scalar_text, shape_beside
from fuzz.steps.indexing import known_mask, positions_text, values_at
from fuzz.steps.movement import key_of, key_text


def _target(draw: Drawing) -> int:
    return draw.pick(lambda ball: len(ball.shape) > 0, "float32")


def _copy(draw: Drawing) -> str:
    """Return how a program gets a tensor of its own to write into."""
    return draw.rng.choice(("{0}.copy()", "tw.asarray({0}, copy=True)", "+{0}"))


def _values(draw: Drawing, shape: tuple[int, ...], dtype: str) -> tuple[str, list[int]]:
    """Return the text of what is written and the value it reads, if it is a tensor."""
    ball = Ball(np.zeros(()), np.zeros(()), dtype)
    if draw.flag(0.35) and dtype != "bool":
        text, _ = scalar_text(draw, ball, "pow")
        return text, []
    wanted = shape_beside(draw, shape)
    try:
        found = draw.pick(lambda b: b.dtype == dtype and b.shape in (shape, wanted))
    except Unfit:
        found = draw.leaf(wanted, dtype)
    return "{1}", [found]


def _written(balls: list[Ball], text: str) -> Ball:
    """Return the ball of what is written."""
    if len(balls) > 1:
        return as_dtype(balls[-1], balls[0].dtype)
    return number(float(text), balls[0].dtype)


def _put(ball: Ball, key: Any, values: Ball) -> Ball:
    """Return the ball of `x[key] = v`."""
    centre, radius = ball.centre.copy(), np.array(ball.radius)
    try:
        centre[key] = values.centre
        radius[key] = values.radius
    except ValueError:
        raise Unfit from None
    return Ball(centre, radius, ball.dtype, ball.has_signs and values.has_signs)


def _start(draw: Drawing, x: int) -> str:
    copy = _copy(draw)
    if copy == "+{0}" and draw.ball(x).dtype == "bool":
        copy = "{0}.copy()"
    return copy


def box(draw: Drawing) -> None:
    """`x[1:3, ::2] = v`."""
    x = _target(draw)
    shape, dtype = draw.shape(x), draw.ball(x).dtype
    text = key_text(draw, shape, with_axes=False)
    key = key_of(text)
    part = np.empty(shape, np.bool_)[key].shape
    values, inputs = _values(draw, part, dtype)
    draw.step(
        f"{{out}} = {_start(draw, x)}\n{{out}}[{text}] = {values}",
        [x, *inputs],
        lambda b: _put(b[0], key, _written(b, values)),
        "assign",
    )


def masked(draw: Drawing) -> None:
    """`x[mask] = v`, of a number or of one value for each element named."""
    x = _target(draw)
    if 0 in draw.shape(x):
        raise Unfit
    mask = known_mask(draw, draw.shape(x))
    ball = draw.ball(x)
    part = ball.centre[draw.ball(mask).centre].shape
    values, inputs = _values(draw, part, ball.dtype)
    if inputs:
        values = "{2}"

    def rule(balls: list[Ball]) -> Ball:
        if not balls[1].is_exact:
            raise Unfit
        return _put(balls[0], balls[1].centre, _written([balls[0], *balls[2:]], values))

    draw.step(
        f"{{out}} = {_start(draw, x)}\n{{out}}[{{1}}] = {values}",
        [x, mask, *inputs],
        rule,
        "assign mask",
        is_reading=True,
    )


def scattered(draw: Drawing) -> None:
    """`x[:, indices] = v` at positions that do not repeat."""
    x = _target(draw)
    shape, dtype = draw.shape(x), draw.ball(x).dtype
    axis = draw.rng.randrange(len(shape))
    if not shape[axis]:
        raise Unfit
    count = draw.rng.randint(1, min(shape[axis], 40))
    seed = draw.rng.randrange(1000)
    text = (
        f"np.random.default_rng({seed}).permutation({shape[axis]})[:{count}]"
        ".astype('int32')"
    )
    index = draw.leaf((), "int32", text)
    key = (*(slice(None),) * axis, values_at(text))
    part = np.empty(shape, np.bool_)[key].shape
    values, inputs = _values(draw, part, dtype)
    if inputs:
        values = "{2}"
    front = ":, " * axis

    def rule(balls: list[Ball]) -> Ball:
        places = balls[1].centre
        if np.unique(places).size < places.size:
            raise Unfit
        at = (*(slice(None),) * axis, places)
        return _put(balls[0], at, _written([balls[0], *balls[2:]], values))

    draw.step(
        f"{{out}} = {_start(draw, x)}\n{{out}}[{front}{{1}}] = {values}",
        [x, index, *inputs],
        rule,
        "assign indices",
        is_reading=True,
    )


UFUNCS: dict[str, Any] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def accumulate(draw: Drawing) -> None:
    """`x.at[:, indices].add(v)`, where equal positions add up."""
    x = draw.pick(lambda b: len(b.shape) > 0 and b.dtype != "bool", "float32")
    shape, dtype = draw.shape(x), draw.ball(x).dtype
    axis = draw.rng.randrange(len(shape))
    if not shape[axis]:
        raise Unfit
    how = draw.rng.choice(("add", "add", "min", "max"))
    count = draw.rng.choice((1, 3, 33, 65, 500))
    draw.fits((*shape[:axis], count, *shape[axis + 1 :]))
    text = positions_text(draw, shape[axis], (count,))
    index = draw.leaf((), "int32", text)
    key = (*(slice(None),) * axis, values_at(text))
    part = np.empty(shape, np.bool_)[key].shape
    values, inputs = _values(draw, part, dtype)
    if inputs:
        values = "{2}"

    def rule(balls: list[Ball]) -> Ball:
        written = _written([balls[0], *balls[2:]], values)
        at = (*(slice(None),) * axis, balls[1].centre)

        def write(target: Array, given: Array, name: str) -> Array:
            UFUNCS[name].at(target, at, given)
            return target

        return accumulated(balls[0], written, write, how)

    front = ":, " * axis
    draw.step(
        f"{{0}}.at[{front}{{1}}].{how}({values})",
        [x, index, *inputs],
        rule,
        f"at {how}",
        is_reading=True,
    )


def segments(draw: Drawing) -> None:
    """`segment_sum` and its siblings."""
    how = draw.rng.choice(("sum", "max", "min"))
    x = draw.pick(
        lambda b: len(b.shape) > 0 and 0 not in b.shape and b.dtype != "bool", "float32"
    )
    shape, dtype = draw.shape(x), draw.ball(x).dtype
    if dtype not in ("float32", "int32", "uint32", "float64", "int64"):
        raise Unfit
    groups = draw.rng.choice((1, 3, 9))
    seed = draw.rng.randrange(1000)
    text = f"np.random.default_rng({seed}).integers(0, {groups}, {shape[:1]}, 'int32')"
    index = draw.leaf((), "int32", text)
    name = {"sum": "add"}.get(how, how)
    if dtype.startswith("float"):
        start: float = {"sum": 0.0, "max": -np.inf, "min": np.inf}[how]
    else:
        info = np.iinfo(dtype)
        start = {"sum": 0, "max": info.min, "min": info.max}[how]

    def rule(balls: list[Ball]) -> Ball:
        empty = np.full((groups, *balls[0].shape[1:]), start, balls[0].centre.dtype)
        base = Ball(empty, np.zeros(empty.shape), dtype)

        def write(target: Array, given: Array, ufunc: str) -> Array:
            UFUNCS[ufunc].at(target, balls[1].centre, given)
            return target

        return accumulated(base, balls[0], write, name)

    draw.step(
        f"tw.segment_{how}({{0}}, {{1}}, {groups})",
        [x, index],
        rule,
        f"segment_{how}",
        is_reading=True,
    )


ROWS = (*(box,) * 4, masked, masked, scattered, scattered, *(accumulate,) * 3, segments)
