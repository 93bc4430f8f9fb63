"""Steps that read and write elements at keys, indices and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.ball import Array, Ball, as_dtype, moved, number
from fuzz.program import Drawing, Unfit
from fuzz.reductions import accumulated
from fuzz.steps.elementwise import scalar_text, shape_like
from fuzz.steps.movement import key_of, key_text


def positions_text(draw: Drawing, length: int, shape: tuple[int, ...]) -> str:
    """Return a NumPy expression of positions along an axis, negative ones too."""
    seed = draw.rng.randrange(1000)
    low = -length if draw.flag() else 0
    return f"np.random.default_rng({seed}).integers({low}, {length}, {shape}, 'int32')"


def values_at(text: str) -> Any:
    return eval(text, {"np": np})


def position_shape(draw: Drawing) -> tuple[int, ...]:
    """Return a shape for positions."""
    rng = draw.rng
    if draw.flag(0.7):
        return (rng.choice((0, 1, 3, 5, 33, 65)),)
    return (rng.choice((1, 2, 3)), rng.choice((1, 4, 33)))


def indexed(draw: Drawing, length: int) -> tuple[int, bool]:
    """Return a value of positions below a length: computed, or new."""

    def accept(ball: Ball) -> bool:
        return (
            ball.dtype in ("int32", "uint32")
            and ball.is_exact
            and len(ball.shape) <= 2
            and ball.centre.size <= 500
            and bool(np.all(ball.centre < length))
            and (ball.dtype == "uint32" or bool(np.all(ball.centre >= -length)))
        )

    if draw.flag(0.5):
        try:
            return draw.pick(accept), True
        except Unfit:
            pass
    text = positions_text(draw, length, position_shape(draw))
    return draw.leaf((), "int32", text), False


def _read(
    draw: Drawing, text: str, inputs: list[int], function: Any, name: str = ""
) -> None:
    """Add a step that reads a value at exact indices or a mask."""

    def rule(balls: list[Ball]) -> Ball:
        if not balls[1].is_exact:
            raise Unfit
        at = balls[1].centre
        at = at if at.dtype == np.bool_ else at.astype(np.int64)
        return moved(lambda x: function(x, at), balls[0])

    draw.step(text, inputs, rule, name, is_reading=True)


def gather(draw: Drawing) -> None:
    """`x[:, i]`, with slices of full axes before it."""
    x = draw.pick(lambda ball: len(ball.shape) > 0 and 0 not in ball.shape, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(len(shape))
    index, _ = indexed(draw, shape[axis])
    draw.fits((*shape, *draw.shape(index)))
    front = (slice(None),) * axis
    text = f"{{0}}[{':, ' * axis}{{1}}]"
    _read(draw, text, [x, index], lambda x, i: x[(*front, i)], "gather")


def gather_pairs(draw: Drawing) -> None:
    """`x[i, j]`, at times with a slice between them."""
    x = draw.pick(lambda ball: len(ball.shape) >= 2 and 0 not in ball.shape)
    shape = draw.shape(x)
    axes = sorted(draw.rng.sample(range(len(shape)), 2))
    width = draw.rng.choice((1, 3, 17))
    texts = [positions_text(draw, shape[axis], (width,)) for axis in axes]
    indices = [draw.leaf((), "int32", text) for text in texts]
    parts = [":"] * (axes[1] + 1)
    parts[axes[0]], parts[axes[1]] = "{1}", "{2}"
    draw.fits((*shape, width))

    def rule(balls: list[Ball]) -> Ball:
        key: list[Any] = [slice(None)] * (axes[1] + 1)
        key[axes[0]], key[axes[1]] = balls[1].centre, balls[2].centre
        return moved(lambda x: x[tuple(key)], balls[0])

    draw.step(
        f"{{0}}[{', '.join(parts)}]", [x, *indices], rule, "gather", is_reading=True
    )


def take(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) > 0 and 0 not in ball.shape, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(-len(shape), len(shape))
    index, _ = indexed(draw, shape[axis])
    draw.fits((*shape, *draw.shape(index)))
    text = f"tw.take({{0}}, {{1}}, axis={axis})"
    _read(draw, text, [x, index], lambda x, i: np.take(x, i, axis))


def take_along(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) > 0 and 0 not in ball.shape, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(-len(shape), len(shape))
    lengths = list(shape)
    lengths[axis] = draw.rng.randint(1, 4)
    index = draw.leaf((), "int32", positions_text(draw, shape[axis], tuple(lengths)))
    text = f"tw.take_along_axis({{0}}, {{1}}, axis={axis})"
    _read(draw, text, [x, index], lambda x, i: np.take_along_axis(x, i, axis))


def known_mask(draw: Drawing, shape: tuple[int, ...]) -> int:
    """Return a mask over leading axes of a shape whose values are certain."""
    rank = draw.rng.randint(1, len(shape))
    part = shape[:rank]
    try:
        return draw.pick(
            lambda ball: ball.dtype == "bool" and ball.is_exact and ball.shape == part
        )
    except Unfit:
        return draw.leaf(part, "bool")


def masked(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) > 0, "float32")
    mask = known_mask(draw, draw.shape(x))
    if 0 in draw.shape(mask):
        raise Unfit
    _read(draw, "{0}[{1}]", [x, mask], lambda x, at: x[at], "mask")


def nonzero(draw: Drawing) -> None:
    x = draw.pick(lambda ball: ball.is_exact and 1 <= len(ball.shape) <= 3, "bool")
    rank = len(draw.shape(x))

    def rule(balls: list[Ball]) -> list[Ball]:
        if not balls[0].is_exact or balls[0].centre.ndim != rank:
            raise Unfit
        coordinates = np.nonzero(balls[0].centre)
        return [
            Ball(each.astype(np.int32), np.zeros(each.shape), "int32", True)
            for each in coordinates
        ]

    text = "{out} = tw.nonzero({0})" + ("[0]" if rank == 1 else "")
    draw.step(text, [x], rule, "nonzero", outputs=rank, is_reading=True)


READING = (
    *(gather,) * 3,
    *(take,) * 2,
    gather_pairs,
    take_along,
    *(masked,) * 2,
    nonzero,
)


def _target(draw: Drawing) -> int:
    return draw.pick(lambda ball: len(ball.shape) > 0, "float32")


def _copy(draw: Drawing) -> str:
    """Return how a program gets a tensor of its own to write into."""
    return draw.rng.choice(("{0}.copy()", "tw.asarray({0}, copy=True)", "+{0}"))


def _values(
    draw: Drawing, shape: tuple[int, ...], dtype: str, slot: int = 2
) -> tuple[str, list[int]]:
    """Return the text that is written, and the value in a slot of the step's inputs."""
    ball = Ball(np.zeros(()), np.zeros(()), dtype)
    if draw.flag(0.35) and dtype != "bool":
        text, _ = scalar_text(draw, ball, "pow")
        return text, []
    required = shape_like(draw, shape)
    try:
        operand = draw.pick(lambda b: b.dtype == dtype and b.shape in (shape, required))
    except Unfit:
        operand = draw.leaf(required, dtype)
    return f"{{{slot}}}", [operand]


def _written(balls: list[Ball], text: str) -> Ball:
    """Return the ball of the written value."""
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
    values, inputs = _values(draw, part, dtype, slot=1)
    draw.step(
        f"{{out}} = {_start(draw, x)}\n{{out}}[{text}] = {values}",
        [x, *inputs],
        lambda b: _put(b[0], key, _written(b, values)),
        "assign",
    )


def assign_masked(draw: Drawing) -> None:
    """`x[mask] = v`, of a number or of one value for each element named."""
    x = _target(draw)
    if 0 in draw.shape(x):
        raise Unfit
    mask = known_mask(draw, draw.shape(x))
    ball = draw.ball(x)
    part = ball.centre[draw.ball(mask).centre].shape
    values, inputs = _values(draw, part, ball.dtype)

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
    front = ":, " * axis

    def rule(balls: list[Ball]) -> Ball:
        indices = balls[1].centre
        if np.unique(indices).size < indices.size:
            raise Unfit
        at = (*(slice(None),) * axis, indices)
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


WRITING = (
    *(box,) * 4,
    assign_masked,
    assign_masked,
    scattered,
    scattered,
    *(accumulate,) * 3,
    segments,
)
