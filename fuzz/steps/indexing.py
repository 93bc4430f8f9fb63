"""Steps that read elements at positions: gather, take, masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.ball import Ball, moved
from fuzz.program import Drawing, Unfit


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


def gather(draw: Drawing) -> None:
    """`x[:, i]`, with an axis of whole slices before or behind."""
    x = draw.pick(lambda ball: len(ball.shape) > 0 and 0 not in ball.shape, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(len(shape))
    index, _ = indexed(draw, shape[axis])
    draw.fits((*shape, *draw.shape(index)))
    front = ":, " * axis

    def rule(balls: list[Ball]) -> Ball:
        positions = balls[1].centre.astype(np.int64)
        key = (*(slice(None),) * axis, positions)
        if not balls[1].is_exact:
            raise Unfit
        return moved(lambda x: x[key], balls[0])

    draw.step(f"{{0}}[{front}{{1}}]", [x, index], rule, "gather", is_reading=True)


def gather_pairs(draw: Drawing) -> None:
    """`x[i, j]`, at times with a slice between them."""
    x = draw.pick(lambda ball: len(ball.shape) >= 2 and 0 not in ball.shape)
    shape = draw.shape(x)
    places = sorted(draw.rng.sample(range(len(shape)), 2))
    width = draw.rng.choice((1, 3, 17))
    texts = [positions_text(draw, shape[place], (width,)) for place in places]
    indices = [draw.leaf((), "int32", text) for text in texts]
    parts = [":"] * (places[1] + 1)
    parts[places[0]], parts[places[1]] = "{1}", "{2}"
    draw.fits((*shape, width))

    def rule(balls: list[Ball]) -> Ball:
        key: list[Any] = [slice(None)] * (places[1] + 1)
        key[places[0]], key[places[1]] = balls[1].centre, balls[2].centre
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

    def rule(balls: list[Ball]) -> Ball:
        if not balls[1].is_exact:
            raise Unfit
        positions = balls[1].centre.astype(np.int64)
        return moved(lambda x: np.take(x, positions, axis), balls[0])

    draw.step(
        f"tw.take({{0}}, {{1}}, axis={axis})", [x, index], rule, "take", is_reading=True
    )


def take_along(draw: Drawing) -> None:
    x = draw.pick(lambda ball: len(ball.shape) > 0 and 0 not in ball.shape, "float32")
    shape = draw.shape(x)
    axis = draw.rng.randrange(-len(shape), len(shape))
    places = list(shape)
    places[axis] = draw.rng.randint(1, 4)
    text = positions_text(draw, shape[axis], tuple(places))
    index = draw.leaf((), "int32", text)

    def rule(balls: list[Ball]) -> Ball:
        positions = balls[1].centre.astype(np.int64)
        return moved(lambda x: np.take_along_axis(x, positions, axis), balls[0])

    draw.step(
        f"tw.take_along_axis({{0}}, {{1}}, axis={axis})",
        [x, index],
        rule,
        "take_along_axis",
        is_reading=True,
    )


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

    def rule(balls: list[Ball]) -> Ball:
        if not balls[1].is_exact:
            raise Unfit
        return moved(lambda x: x[balls[1].centre], balls[0])

    draw.step("{0}[{1}]", [x, mask], rule, "mask", is_reading=True)


def nonzero(draw: Drawing) -> None:
    x = draw.pick(lambda ball: ball.is_exact and 1 <= len(ball.shape) <= 3, "bool")
    rank = len(draw.shape(x))

    def rule(balls: list[Ball]) -> list[Ball]:
        if not balls[0].is_exact or balls[0].centre.ndim != rank:
            raise Unfit
        found = np.nonzero(balls[0].centre)
        return [
            Ball(each.astype(np.int32), np.zeros(each.shape), "int32", True)
            for each in found
        ]

    text = "{out} = tw.nonzero({0})" + ("[0]" if rank == 1 else "")
    draw.step(text, [x], rule, "nonzero", outputs=rank, is_reading=True)


ROWS = (
    *(gather,) * 3,
    *(take,) * 2,
    gather_pairs,
    take_along,
    *(masked,) * 2,
    nonzero,
)
