"""What steps are made of: operands, which are values of the program, and parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fuzz.ball import Ball
from fuzz.keys import drawn_key, key_text
from fuzz.program import Drawing, Unfit

Values = dict[str, Any]
Chooser = Callable[[Drawing, list[int], Values], int]


def behind(front: str, index: Any) -> Any:
    """Return the key of an index behind slices of full axes."""
    return (*(slice(None),) * front.count(":"), index)


def pick(accept: Callable[[Ball], bool], leaf: str = "float32") -> Chooser:
    """Return what chooses a value that is accepted, or makes one of a dtype."""
    return lambda draw, before, p: draw.pick(accept, leaf)


def related(accept: Callable[[Ball, Ball, Values], bool]) -> Chooser:
    """Return what chooses a value that suits the first operand."""
    return lambda draw, before, p: draw.pick(
        lambda ball: accept(draw.ball(before[0]), ball, p)
    )


def broadcast_with(draw: Drawing, before: list[int], p: Values) -> int:
    """Choose a value that combines with those before: drawn, or new."""
    shape = np.broadcast_shapes(*(draw.shape(each) for each in before))

    def accept(ball: Ball) -> bool:
        try:
            wide = np.broadcast_shapes(shape, ball.shape)
        except ValueError:
            return False
        return int(np.prod(wide)) <= draw.most

    def new() -> int:
        dtype = draw.ball(before[-1]).dtype if draw.flag(0.8) else draw.dtype()
        return draw.leaf(draw.narrowed(shape), dtype)

    return draw.pick_or(accept, new) if draw.flag(0.6) else new()


def sized(shape_of: Callable[..., Sequence[int]], dtype: str = "") -> Chooser:
    """Return what chooses a value of a shape and of the first operand's dtype."""

    def choose(draw: Drawing, before: list[int], p: Values) -> int:
        shape = tuple(shape_of(draw, draw.shape(before[0]), p))
        required = dtype or draw.ball(before[0]).dtype
        return draw.pick_or(
            lambda b: b.shape == shape and b.dtype == required,
            lambda: draw.leaf(shape, required),
        )

    return choose


def columns(draw: Drawing, shape: Any, p: Values) -> Any:
    """Return the shape of a right operand of `@`."""
    count = draw.rng.choice((1, 2, 3, 5, 17, 33, 65))
    if draw.flag(0.2):
        return shape[-1:]
    batch = tuple(n if draw.flag(0.6) else 1 for n in shape[:-2])
    return (*batch[draw.rng.randint(0, len(batch)) :], shape[-1], count)


def rows(draw: Drawing, shape: Any, p: Values) -> Any:
    """Return the shape of a transposed right operand of `@`."""
    made = columns(draw, shape, p)
    if len(made) < 2:
        raise Unfit
    return (*made[:-2], made[-1], made[-2])


def of_formula(draw: Drawing, shape: Any, p: Values) -> Any:
    """Return the shape of the second operand of `einsum`."""
    first, second = p["formula"].replace("...", "j").split("->")[0].split(",")
    if len(first) != len(shape):
        raise Unfit
    sizes = dict(zip(first, shape, strict=True))
    for letter in second:
        sizes.setdefault(letter, draw.rng.choice((1, 2, 3, 5, 33)))
    return [sizes[letter] for letter in second]


def part(draw: Drawing, before: list[int], p: Values) -> int:
    """Choose a value to be written into a part of the first operand."""
    ball = draw.ball(before[0])
    key = p.get("key", p.get("slices"))
    if len(before) > 1:
        key = behind(p.get("front", ""), draw.ball(before[1]).centre)
    shape = np.empty(ball.shape, np.bool_)[key].shape
    draw.fits(shape)
    return sized(lambda *_: draw.narrowed(shape))(draw, before, p)


def integers_below(draw: Drawing, low: int, high: int, shape: Any) -> int:
    """Make int32 numbers of a shape."""
    seed = draw.rng.randrange(1000)
    text = f"np.random.default_rng({seed}).integers({low}, {high}, {shape}, 'int32')"
    return draw.leaf((), "int32", text)


def indices(draw: Drawing, before: list[int], p: Values) -> int:
    """Choose indices along the axis, at times negative ones: computed, or new."""
    length = draw.shape(before[0])[p["axis"] if "axis" in p else p["front"].count(":")]

    if not length:
        raise Unfit

    def accept(ball: Ball) -> bool:
        is_index = ball.dtype in ("int32", "uint32") and ball.is_exact
        if not is_index or len(ball.shape) > 2 or ball.centre.size > 500:
            return False
        numbers = ball.centre.astype(np.int64)
        return bool(np.all((numbers < length) & (numbers >= -length)))

    def new() -> int:
        shape: tuple[int, ...] = (draw.rng.choice((0, 1, 3, 5, 33, 65, 500)),)
        if draw.flag(0.3):
            shape = (draw.rng.choice((1, 2)), draw.rng.choice((1, 4, 33)))
        return integers_below(draw, -length if draw.flag() else 0, length, shape)

    return draw.pick_or(accept, new) if draw.flag() else new()


def indices_along(draw: Drawing, before: list[int], p: Values) -> int:
    """Make indices for `take_along_axis`."""
    shape = list(draw.shape(before[0]))
    length, shape[p["axis"]] = shape[p["axis"]], draw.rng.randint(1, 4)
    return integers_below(draw, -length, length, tuple(shape))


def groups_of(draw: Drawing, before: list[int], p: Values) -> int:
    """Make an index of a group for each row."""
    return integers_below(draw, 0, p["count"], draw.shape(before[0])[:1])


def mask(draw: Drawing, before: list[int], p: Values) -> int:
    """Choose a mask over leading axes whose values are certain."""
    shape = draw.shape(before[0])[: draw.rng.randint(1, len(draw.shape(before[0])))]
    return draw.pick_or(
        lambda b: b.dtype == "bool" and b.is_exact and b.shape == shape,
        lambda: draw.leaf(shape, "bool"),
    )


def joins(a: Ball, b: Ball, p: Values) -> bool:
    """Whether shapes differ in the length of the axis at most."""
    shapes = [list(ball.shape) for ball in (a, b)]
    if len(a.shape) != len(b.shape):
        return False
    for shape in shapes:
        shape[p["axis"]] = 0
    return shapes[0] == shapes[1]


def weights(draw: Drawing, shape: Any, p: Values) -> Any:
    """Return the shape of a convolution's weights."""
    if shape[1] % p["groups"]:
        raise Unfit
    reach = 2 * p["dilation"] + 1
    if min(shape[2:]) + 2 * p["padding"] < reach:
        raise Unfit
    sizes = (draw.rng.randint(1, 3), draw.rng.randint(1, 3))
    return (p["groups"] * draw.rng.randint(1, 3), shape[1] // p["groups"], *sizes)


IMAGES = ("float32", "float16", "int32")
MULTIPLIED = ("float32", "float16", "int32", "uint32", "float64", "int64")
SUMMED = ("float32", "int32", "uint32", "float64", "int64")


def factor(least: int, most: int = 5) -> Chooser:
    """Return what chooses a value of some axes that can be multiplied."""
    return pick(lambda b: least <= len(b.shape) <= most and b.dtype in MULTIPLIED)


OPERANDS: dict[str, Chooser] = {
    "any": pick(lambda b: True),
    "numeric": pick(lambda b: b.dtype != "bool"),
    "float": pick(lambda b: b.is_float),
    "bool": pick(lambda b: b.dtype == "bool", "bool"),
    "bits": pick(lambda b: not b.is_float, "int32"),
    "integer": pick(lambda b: b.dtype[0] in "iu", "int32"),
    "ranked": pick(lambda b: b.shape != ()),
    "target": pick(lambda b: b.shape != () and b.dtype != "bool"),
    "line": pick(lambda b: b.shape != () and b.is_float),
    "filled": pick(lambda b: b.shape != () and 0 not in b.shape),
    "terms": pick(lambda b: 0 not in b.shape and b.shape != () and b.dtype in SUMMED),
    "matrix": pick(lambda b: len(b.shape) >= 2),
    "image": pick(
        lambda b: len(b.shape) >= 2 and b.is_float and min(b.shape[-2:]) >= 3, ""
    ),
    "images": pick(
        lambda b: (
            len(b.shape) == 4 and 0 < b.centre.size <= 20_000 and b.dtype in IMAGES
        ),
        "",
    ),
    "sortable": pick(
        lambda b: b.shape != () and 0 not in b.shape and "64" not in b.dtype
    ),
    "distinct": pick(
        lambda b: b.is_exact and "64" not in b.dtype and b.dtype != "bool", "int32"
    ),
    "known_line": pick(
        lambda b: b.is_exact and len(b.shape) == 1 and b.dtype in SUMMED
    ),
    "known": pick(lambda b: b.is_exact and 1 <= len(b.shape) <= 3, "bool"),
    "factor": factor(1),
    "factors": factor(2, 4),
    "vector": factor(1, 1),
    "other": broadcast_with,
    "same": related(lambda a, b, p: a.shape == b.shape),
    "exact": related(lambda a, b, p: b.is_exact and a.dtype == b.dtype),
    "joined": related(joins),
    "columns": sized(columns),
    "rows": sized(rows),
    "second": sized(of_formula),
    "few": sized(lambda draw, shape, p: (draw.rng.choice((0, 1, 5, 33)),)),
    "dot": sized(lambda draw, shape, p: shape),
    "vectors": sized(lambda draw, shape, p: (draw.length(),)),
    "weights": sized(weights),
    "reduced": sized(
        lambda draw, shape, p: [*(shape[a] for a in p["contracted"][0]), 5]
    ),
    "part": part,
    "indices": indices,
    "aligned": indices_along,
    "group": groups_of,
    "mask": mask,
}


# Parameters.


def _axis(draw: Drawing, shape: Any, p: Values) -> int:
    if not shape:
        raise Unfit
    return draw.rng.randrange(-len(shape), len(shape))


def _lengths(draw: Drawing, shape: Any, p: Values) -> Any:
    """Return a shape of as many elements."""
    made: list[int] = []
    rest = int(np.prod(shape))
    if rest == 0:
        raise Unfit
    while rest > 1 and len(made) < 4:
        divisors = [n for n in range(1, min(rest, 700) + 1) if rest % n == 0]
        made.append(draw.rng.choice(divisors))
        rest //= made[-1]
    made.append(rest)
    draw.rng.shuffle(made)
    return tuple(made)


def _wide(draw: Drawing, shape: Any, p: Values) -> Any:
    """Return a shape to broadcast to."""
    grown = (draw.rng.choice((1, 2, 3, 5)) if n == 1 else n for n in shape)
    front = (draw.rng.choice((1, 2, 3)) for _ in range(draw.rng.randint(0, 2)))
    return (*front, *grown)


def _repeats(draw: Drawing, shape: Any, p: Values) -> Any:
    if shape[p["axis"]] <= 8 and draw.flag(0.4):
        return [draw.rng.randint(0, 3) for _ in range(shape[p["axis"]])]
    return draw.rng.randint(0, 3)


def _contracted_axes(draw: Drawing, shape: Any, p: Values) -> Any:
    count = draw.rng.randint(1, 2)
    return (draw.rng.sample(range(len(shape)), count), list(range(count)))


def _number(draw: Drawing, shape: Any, p: Values) -> Any:
    dtype = p["dtype of"]
    if dtype == "bool":
        raise Unfit
    if dtype[0] == "u" or (dtype not in ("float16", "float32") and draw.flag(0.7)):
        return draw.rng.choice((1, 2, 3, 5, 7))
    return draw.rng.choice((0.5, 2, -1, 0.1, 3.7, -2.5, 1, 0.25, 1e-3, 13.0))


def _value(draw: Drawing, shape: Any, p: Values) -> Any:
    """Return a number of a new tensor's dtype."""
    if p["dtype"][0] in "iu":
        return draw.rng.choice((0, 1, 7))
    if p["dtype"] == "bool":
        return draw.flag()
    return draw.rng.choice((0.0, -0.0, 0.1, float("inf"), float("nan"), 1e-3))


class Key(tuple[Any, ...]):
    """An index key, shown as Python writes it between brackets."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the key's text."""
        return key_text(self)


def _key(draw: Drawing, shape: Any, p: Values, is_plain: bool = False) -> Key:
    numbers = np.random.default_rng(draw.rng.randrange(2**32))
    key = Key(drawn_key(draw.rng, numbers, shape, is_plain=is_plain))
    draw.fits(np.empty(shape, np.bool_)[key].shape)
    return key


def _of(*values: Any) -> Callable[..., Any]:
    return lambda draw, shape, p: draw.rng.choice(values)


def _between(low: int, high: int) -> Callable[..., int]:
    return lambda draw, shape, p: draw.rng.randint(low, high)


def _two_axes(draw: Drawing, shape: Any, p: Values) -> Any:
    if len(shape) < 2:
        raise Unfit
    return tuple(draw.rng.sample(range(len(shape)), 2))


PARAMETERS: dict[str, Callable[[Drawing, Any, Values], Any]] = {
    "axis": _axis,
    "to": _axis,
    "axes": lambda draw, shape, p: draw.axes(len(shape)),
    "along": lambda draw, shape, p: _axis(draw, shape, p) if draw.flag(0.8) else None,
    "pair": _two_axes,
    "new": lambda draw, shape, p: draw.rng.randint(-len(shape) - 1, len(shape)),
    "order": lambda draw, shape, p: tuple(
        draw.rng.sample(range(len(shape)), len(shape))
    ),
    "lengths": _lengths,
    "wide": _wide,
    "shape": lambda draw, shape, p: draw.any_shape(),
    "length": lambda draw, shape, p: draw.length(),
    "width": lambda draw, shape, p: draw.length(),
    "front": lambda draw, shape, p: ":, " * (_axis(draw, shape, p) % len(shape)),
    "key": _key,
    "slices": partial(_key, is_plain=True),
    "shift": _between(-7, 7),
    "shifts": lambda draw, shape, p: (draw.rng.randint(-7, 7), draw.rng.randint(-3, 3)),
    "count": _between(1, 3),
    "some": lambda draw, shape, p: draw.rng.randint(1, min(*shape, 9)),
    "repeats": _repeats,
    "tiles": lambda draw, shape, p: tuple(
        draw.rng.randint(1, 3) for _ in range(draw.rng.randint(1, 3))
    ),
    "widths": lambda draw, shape, p: [
        (draw.rng.randint(0, 3), draw.rng.randint(0, 2)) for _ in shape
    ],
    "offset": _of(*range(-4, 5), 2**31, -(2**33)),
    "size": _between(1, 4),
    "step": _between(1, 3),
    "dilation": _of(1, 1, 2),
    "stride": _of(1, 1, 2),
    "padding": _between(0, 2),
    "groups": _of(1, 1, 1, 2),
    "flag": _of(False, True),
    "keepdims": _of(False, False, True),
    "correction": _of(0, 0, 1, 0.5),
    "side": _of("left", "right"),
    "how": _of("add", "add", "min", "max"),
    "reduce": _of("sum", "max", "min"),
    "contracted": _contracted_axes,
    "formula": _of(
        *("ij,jk->ik", "ij,kj->ki", "ij,ij->i", "ijk,jl->ikl", "ij,ik->jk", "i,j->ij"),
        *("bij,bjk->bik", "bij,bik->bjk", "ij,j->ij", "ijk,k->ij", "...i,i->..."),
        "ij,jk->",
    ),
    "n": _number,
    "whole": _of(0, 1, 3, 7),
    "power": lambda draw, shape, p: draw.rng.choice(
        (2, 3, -1) if p["dtype of"].startswith("float") else (1, 2, 3, 5)
    ),
    "low": _between(0, 4),
    "high": _between(4, 9),
    "dtype": lambda draw, shape, p: draw.dtype(),
    "common": _of("float32", "int32"),
    "start": _between(-9, 9),
    "end": _between(-9, 9),
    "value": _value,
}
"""What texts contain; `p` has the parameters before, and the operands' dtypes."""
