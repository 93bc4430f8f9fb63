"""Steps that move elements: views, joining, padding, repeating."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.ball import Ball, as_dtype, moved, number
from fuzz.functions import promoted
from fuzz.program import Drawing, Unfit
from fuzz.steps.elementwise import scalar_text


def permute(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    rank = len(draw.shape(x))
    order = draw.rng.sample(range(rank), rank)
    if rank >= 2 and draw.flag(0.3):
        text, function = "{0}.mT", lambda x: np.swapaxes(x, -1, -2)
    elif rank >= 2 and draw.flag(0.2):
        a, b = draw.rng.sample(range(-rank, rank), 2)
        text, function = f"tw.moveaxis({{0}}, {a}, {b})", lambda x: np.moveaxis(x, a, b)
        if a % rank == b % rank:
            raise Unfit
    else:
        text, function = (
            f"tw.permute_dims({{0}}, {tuple(order)})",
            lambda x: np.transpose(x, order),
        )
    draw.move(text, x, function, "permute_dims")


def reshape(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    shape: list[int] = []
    rest = draw.ball(x).centre.size
    if rest == 0:
        raise Unfit
    while rest > 1 and len(shape) < 4:
        divisors = [n for n in range(1, min(rest, 700) + 1) if rest % n == 0]
        shape.append(draw.rng.choice(divisors))
        rest //= shape[-1]
    shape.append(rest)
    draw.rng.shuffle(shape)
    new = tuple(shape)
    draw.move(f"{{0}}.reshape({new})", x, lambda x: np.reshape(x, new), "reshape")


def flat(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) > 1, "float32")
    draw.move("tw.ravel({0})", x, np.ravel)


def expand(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    shape = draw.shape(x)
    grown = tuple(draw.rng.choice((1, 2, 3, 5)) if n == 1 else n for n in shape)
    front = tuple(draw.rng.choice((1, 2, 3)) for _ in range(draw.rng.randint(0, 2)))
    new = (*front, *grown)
    draw.fits(new)
    draw.move(f"tw.broadcast_to({{0}}, {new})", x, lambda x: np.broadcast_to(x, new))


def axis_added(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) < 7, "float32")
    rank = len(draw.shape(x))
    axis = draw.rng.randrange(-rank - 1, rank + 1)
    draw.move(
        f"tw.expand_dims({{0}}, axis={axis})", x, lambda x: np.expand_dims(x, axis)
    )


def axis_removed(draw: Drawing) -> None:
    x = draw.pick(lambda ball: 1 in ball.shape)
    axis = draw.rng.choice([a for a, n in enumerate(draw.shape(x)) if n == 1])
    draw.move(f"tw.squeeze({{0}}, axis={axis})", x, lambda x: np.squeeze(x, axis))


def flip(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    axes = draw.axes(len(draw.shape(x)))
    given = "" if axes is None else f", axis={axes!r}"
    draw.move(f"tw.flip({{0}}{given})", x, lambda x: np.flip(x, axes))


def roll(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    rank = len(draw.shape(x))
    shift: Any = draw.rng.randint(-7, 7)
    axis: Any = draw.rng.randrange(-rank, rank) if rank and draw.flag(0.6) else None
    if rank > 1 and draw.flag(0.2):
        axis = tuple(draw.rng.sample(range(rank), 2))
        shift = (shift, draw.rng.randint(-3, 3))
    given = "" if axis is None else f", axis={axis!r}"
    draw.move(f"tw.roll({{0}}, {shift!r}{given})", x, lambda x: np.roll(x, shift, axis))


def slice_text(draw: Drawing, length: int) -> str:
    """Return a slice with or without steps, at times empty or reversed."""
    rng = draw.rng
    start = rng.choice(("", "", rng.randint(-length - 1, length + 1)))
    stop = rng.choice(("", "", rng.randint(-length - 1, length + 1)))
    step = rng.choice(("", "", "", 2, 3, -1, -2, 5))
    return f"{start}:{stop}:{step}" if step != "" else f"{start}:{stop}"


def key_text(draw: Drawing, shape: tuple[int, ...], with_axes: bool = True) -> str:
    """Return a key of slices, integers, an ellipsis and new axes."""
    parts: list[str] = []
    count = draw.rng.randint(0, len(shape))
    for length in shape[:count]:
        if length and draw.flag(0.25):
            parts.append(str(draw.rng.randrange(-length, length)))
        else:
            parts.append(slice_text(draw, length))
    if with_axes and draw.flag(0.15):
        parts.insert(draw.rng.randint(0, len(parts)), "None")
    if not parts or draw.flag(0.1):
        parts.append("...")
    return ", ".join(parts)


def key_of(text: str) -> Any:
    """Return the key that a text stands for."""
    return eval(f"np.s_[{text}]", {"np": np})


def slice_step(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    text = key_text(draw, draw.shape(x))
    key = key_of(text)
    if 0 in np.empty(draw.shape(x), np.bool_)[key].shape and draw.flag(0.85):
        raise Unfit
    draw.move(f"{{0}}[{text}]", x, lambda x: x[key], "slice")


def pad(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    ball = draw.ball(x)
    widths = [(draw.rng.randint(0, 3), draw.rng.randint(0, 2)) for _ in ball.shape]
    draw.fits([n + a + b for n, (a, b) in zip(ball.shape, widths, strict=True)])
    if ball.dtype == "bool" or not widths:
        raise Unfit
    if ball.is_float:
        text, value = scalar_text(draw, ball, "pad")
    else:
        text, value = "3", number(3, ball.dtype)

    def rule(balls: list[Ball]) -> Ball:
        filled = moved(lambda x: np.pad(x, widths), balls[0])
        inside = np.pad(np.ones(balls[0].shape, np.bool_), widths)
        return Ball(
            np.where(inside, filled.centre, value.centre),
            np.where(inside, filled.radius, value.radius),
            filled.dtype,
            filled.has_signs,
        )

    draw.step(f"tw.pad({{0}}, {widths}, {text})", [x], rule)


def concat(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) > 0, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(len(shape))
    rest = shape[:axis] + shape[axis + 1 :]
    many = [x]
    for _ in range(draw.rng.choice((1, 1, 1, 2, 5))):
        try:
            many.append(
                draw.pick(
                    lambda ball: (
                        len(ball.shape) == len(shape)
                        and ball.shape[:axis] + ball.shape[axis + 1 :] == rest
                    )
                )
            )
        except Unfit:
            many.append(x)
    draw.fits((sum(draw.ball(each).centre.size for each in many),))
    draw.rng.shuffle(many)
    names = ", ".join(f"{{{index}}}" for index in range(len(many)))
    draw.step(
        f"tw.concat([{names}], axis={axis})",
        many,
        lambda balls: combined(balls, lambda *x: np.concatenate(x, axis)),
    )


def combined(balls: list[Ball], function: Any) -> Ball:
    """Return the ball of tensors of any dtypes put together."""
    dtype = balls[0].dtype
    for ball in balls[1:]:
        dtype = (
            promoted(Ball(ball.centre[:0], ball.radius, dtype), ball)
            if (ball.centre.ndim)
            else promoted(Ball(ball.centre, ball.radius, dtype), ball)
        )
    return moved(function, *[as_dtype(ball, dtype) for ball in balls])


def stack(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    shape = draw.shape(x)
    axis = draw.rng.randint(-len(shape) - 1, len(shape))
    count = draw.rng.choice((1, 2, 2, 3, 9, 17))
    many = [draw.pick(lambda ball: ball.shape == shape) for _ in range(count)]
    draw.fits((count, *shape))
    names = ", ".join(f"{{{index}}}" for index in range(len(many)))
    draw.step(
        f"tw.stack([{names}], axis={axis})",
        many,
        lambda balls: combined(balls, lambda *x: np.stack(x, axis)),
    )


def unstack(draw: Drawing) -> None:
    x = draw.pick(lambda ball: any(0 < n < 6 for n in ball.shape))
    axis = draw.rng.choice([a for a, n in enumerate(draw.shape(x)) if 0 < n < 6])
    count = draw.shape(x)[axis]
    text = f"{{out}} = tw.unstack({{0}}, axis={axis})"
    if count == 1:
        text += "[0]"

    def rule(balls: list[Ball]) -> list[Ball]:
        def part(index: int) -> Ball:
            return moved(lambda x: np.take(x, index, axis), balls[0])

        return [part(index) for index in range(count)]

    draw.step(text, [x], rule, "unstack", outputs=count)


def repeat(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    shape = draw.shape(x)
    if not shape or draw.flag(0.2):
        count = draw.rng.randint(1, 3)
        draw.fits((*shape, count))
        draw.move(f"tw.repeat({{0}}, {count})", x, lambda x: np.repeat(x, count))
        return
    axis = draw.rng.randrange(-len(shape), len(shape))
    counts: Any = draw.rng.randint(0, 3)
    if shape[axis] <= 8 and draw.flag(0.4):
        counts = [draw.rng.randint(0, 3) for _ in range(shape[axis])]
    draw.fits((*shape, 3))
    draw.step(
        f"tw.repeat({{0}}, {counts!r}, axis={axis})",
        [x],
        lambda b: moved(
            lambda x: np.repeat(x, np.asarray(counts, np.intp), axis), b[0]
        ),
    )


def tile(draw: Drawing) -> None:
    x = draw.pick(leaf="float32")
    counts = tuple(draw.rng.randint(1, 3) for _ in range(draw.rng.randint(1, 3)))
    draw.fits((*draw.shape(x), *counts))
    draw.move(f"tw.tile({{0}}, {counts})", x, lambda x: np.tile(x, counts))


def triangle(draw: Drawing) -> None:
    name = draw.rng.choice(("tril", "triu"))
    x = draw.pick(lambda ball: len(ball.shape) >= 2, "float32")
    k = draw.rng.choice((draw.rng.randint(-4, 4), 2**31, -(2**33)))
    function: Any = getattr(np, name)
    draw.move(f"tw.{name}({{0}}, k={k})", x, lambda x: function(x, k), name)


def windows(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) > 0, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(len(shape))
    size, step = draw.rng.randint(1, 4), draw.rng.randint(1, 3)
    dilation = draw.rng.choice((1, 1, 2))
    reach = (size - 1) * dilation + 1
    if shape[axis] < reach:
        raise Unfit
    draw.fits((*shape, size))

    def view(values: Any) -> Any:
        wide = np.lib.stride_tricks.sliding_window_view(values, reach, axis)
        every = [slice(None)] * values.ndim
        every[axis] = slice(None, None, step)
        return wide[(*every, slice(None, None, dilation))]

    draw.move(
        f"tw.sliding_windows({{0}}, {size}, axis={axis}, step={step}, "
        f"dilation={dilation})",
        x,
        view,
    )


MOVEMENT = (
    *(permute,) * 4,
    *(reshape,) * 4,
    *(slice_step,) * 6,
    *(expand,) * 2,
    *(flip,) * 2,
    *(pad,) * 2,
    *(concat,) * 3,
    *(stack,) * 2,
    *(roll,) * 2,
    *(repeat, tile, triangle, windows, unstack, flat, axis_added, axis_removed),
)
