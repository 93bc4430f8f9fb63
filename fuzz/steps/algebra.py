"""Steps that multiply and add: products of matrices, einsum, convolutions, pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz import reductions as rules
from fuzz.ball import Array, Ball, as_dtype
from fuzz.functions import binary_ball
from fuzz.program import Drawing, Unfit
from fuzz.steps.reductions import mean_ball

SUPPORTED = ("float32", "float16", "int32", "uint32", "float64", "int64")


def _operand(draw: Drawing, least: int, most: int = 5) -> int:
    return draw.pick(
        lambda b: least <= len(b.shape) <= most and b.dtype in SUPPORTED, "float32"
    )


def _partner(draw: Drawing, x: int, shape: tuple[int, ...], dtype: str = "") -> int:
    """Return a value of a shape and of the dtype of another, drawn or new."""
    required = dtype or draw.ball(x).dtype
    try:
        return draw.pick(lambda b: b.shape == shape and b.dtype == required)
    except Unfit:
        return draw.leaf(shape, required)


def _two(function: Any) -> Any:
    """Return the rule of a contraction of two tensors of one dtype."""

    def rule(balls: list[Ball]) -> Ball:
        return rules.contracted(balls[0], balls[1], function, balls[0].dtype)

    return rule


def matmul(draw: Drawing) -> None:
    x = _operand(draw, 1)
    shape = draw.shape(x)
    columns = draw.rng.choice((1, 2, 3, 5, 17, 33, 65))
    other: tuple[int, ...] = (shape[-1], columns)
    if draw.flag(0.2):
        other = (shape[-1],)
    elif len(shape) > 2:
        batch = tuple(n if draw.flag(0.6) else 1 for n in shape[:-2])
        other = (*batch[draw.rng.randint(0, len(batch)) :], *other)
    draw.fits(other)
    y = _partner(draw, x, other)
    draw.fits((*shape[:-1], other[-1]))
    text, function = "{0} @ {1}", np.matmul
    if len(other) > 1 and draw.flag(0.3):
        y = _partner(draw, x, (*other[:-2], other[-1], other[-2]))
        text = "{0} @ {1}.mT"
        draw.step(
            text,
            [x, y],
            _two(lambda a, b: np.matmul(a, np.swapaxes(b, -1, -2))),
            "matmul",
        )
        return
    draw.step(text, [x, y], _two(function), "matmul")


def tensordot(draw: Drawing) -> None:
    x = _operand(draw, 2, 4)
    shape = draw.shape(x)
    count = draw.rng.randint(1, 2)
    axes = draw.rng.sample(range(len(shape)), count)
    columns = draw.rng.choice((1, 2, 5))
    other = (*(shape[axis] for axis in axes), columns)
    y = _partner(draw, x, other)
    pairs = (axes, list(range(count)))
    draw.fits((*shape, columns))
    draw.step(
        f"tw.tensordot({{0}}, {{1}}, axes={pairs})",
        [x, y],
        _two(lambda a, b: _tensordot(a, b, axes)),
    )


def _tensordot(a: Any, b: Any, axes: list[int]) -> Any:
    """Return the product over axes of `a` and the first of `b`.

    BLAS, which `np.tensordot` calls, skips zeros: to it 0 times infinity is 0.
    """
    letters = "abcdefgh"[: a.ndim]
    others = "".join(letters[axis] for axis in axes) + "z"
    rest = "".join(letter for letter in letters if letter not in others)
    return np.einsum(f"{letters},{others}->{rest}z", a, b)


EINSUMS = (
    ("ij,jk->ik", "ij", "jk"),
    ("ij,kj->ki", "ij", "kj"),
    ("ij,ij->i", "ij", "ij"),
    ("ijk,jl->ikl", "ijk", "jl"),
    ("ij,ik->jk", "ij", "ik"),
    ("bij,bjk->bik", "bij", "bjk"),
    ("bij,bik->bjk", "bij", "bik"),
    ("i,j->ij", "i", "j"),
    ("ij,j->ij", "ij", "j"),
    ("ijk,k->ij", "ijk", "k"),
    ("...i,i->...", "ji", "i"),
    ("ij,jk->", "ij", "jk"),
)


def _einsum(text: str, a: Array, b: Array) -> Any:
    """Return what NumPy gives, axes that one operand has alone summed beforehand.

    Where there are infinities or empty axes that is something else.
    """
    if text == "ij,jk->":
        return np.einsum("j,j->", a.sum(axis=0), b.sum(axis=1))
    return np.einsum(text, a, b)


def einsum(draw: Drawing) -> None:
    text, first, second = draw.rng.choice(EINSUMS)
    x = _operand(draw, len(first), len(first))
    sizes = dict(zip(first, draw.shape(x), strict=True))
    for letter in second:
        sizes.setdefault(letter, draw.rng.choice((1, 2, 3, 5, 33)))
    y = _partner(draw, x, tuple(sizes[letter] for letter in second))
    if "..." not in text:
        draw.fits([sizes[letter] for letter in text.split("->")[1]])
    draw.step(
        f"tw.einsum('{text}', {{0}}, {{1}})",
        [x, y],
        _two(lambda a, b: _einsum(text, a, b)),
    )


def vecdot(draw: Drawing) -> None:
    x = _operand(draw, 1)
    y = _partner(draw, x, draw.shape(x))
    draw.step(
        "tw.vecdot({0}, {1})",
        [x, y],
        _two(lambda a, b: np.sum(a * b, axis=-1, dtype=a.dtype)),
    )


def outer(draw: Drawing) -> None:
    x = _operand(draw, 1, 1)
    y = _partner(draw, x, (draw.length(),))
    draw.fits((*draw.shape(x), *draw.shape(y)))
    draw.step(
        "tw.outer({0}, {1})",
        [x, y],
        lambda b: binary_ball(
            "multiply",
            Ball(b[0].centre[:, None], b[0].radius[:, None], b[0].dtype),
            b[1],
        ),
    )


def windowed(x: Array, sizes: tuple[int, int], stride: int, dilation: int) -> Array:
    """Return windows of the last two axes as two new last axes."""
    reach = [(size - 1) * dilation + 1 for size in sizes]
    wide = np.lib.stride_tricks.sliding_window_view(x, reach, (-2, -1))
    return np.asarray(wide[..., ::stride, ::stride, ::dilation, ::dilation])


def convolution(draw: Drawing) -> None:
    groups = draw.rng.choice((1, 1, 1, 2))
    x = draw.pick(
        lambda b: (
            len(b.shape) == 4
            and b.dtype in ("float32", "float16", "int32")
            and b.shape[1] % groups == 0
            and 0 not in b.shape
            and b.centre.size <= 20_000
        )
    )
    n, channels, height, width = draw.shape(x)
    outputs = groups * draw.rng.randint(1, 3)
    sizes = (draw.rng.randint(1, 3), draw.rng.randint(1, 3))
    stride, padding = draw.rng.choice((1, 1, 2)), draw.rng.randint(0, 2)
    dilation = draw.rng.choice((1, 1, 2))
    if min(height, width) + 2 * padding < 2 * dilation + 1:
        raise Unfit
    draw.fits((n, outputs, height + 2 * padding, width + 2 * padding))
    weight = _partner(draw, x, (outputs, channels // groups, *sizes))

    def convolve(image: Array, kernel: Array) -> Array:
        edges = [(0, 0), (0, 0), (padding, padding), (padding, padding)]
        parts = windowed(np.pad(image, edges), sizes, stride, dilation)
        results = [
            np.einsum("nchwij,ocij->nohw", a, b)
            for a, b in zip(
                np.split(parts, groups, 1), np.split(kernel, groups, 0), strict=True
            )
        ]
        return np.concatenate(results, 1)

    def rule(balls: list[Ball]) -> Ball:
        # NaN and infinity are multiplied by the padding's zeros, too.
        return rules.contracted(balls[0], balls[1], convolve, balls[0].dtype)

    draw.step(
        f"tw.conv2d({{0}}, {{1}}, stride={stride}, padding={padding}, "
        f"dilation={dilation}, groups={groups})",
        [x, weight],
        rule,
    )


def pooling(draw: Drawing) -> None:
    x = draw.pick(lambda b: len(b.shape) >= 2 and b.is_float and min(b.shape[-2:]) >= 3)
    size, stride = draw.rng.randint(1, 3), draw.rng.randint(1, 2)
    if draw.flag():
        draw.step(
            f"tw.max_pool2d({{0}}, {size}, stride={stride})",
            [x],
            lambda b: rules.extreme(
                b[0],
                lambda x: windowed(x, (size, size), stride, 1).max((-2, -1)),
                lambda x: windowed(x, (size, size), stride, 1).max((-2, -1)),
            ),
        )
        return

    def rule(balls: list[Ball]) -> Ball:
        ball = balls[0]
        parts = Ball(
            windowed(ball.centre, (size, size), stride, 1),
            windowed(ball.radius, (size, size), stride, 1),
            ball.dtype,
        )
        return mean_ball(parts, (-2, -1), False)

    draw.step(f"tw.avg_pool2d({{0}}, {size}, stride={stride})", [x], rule)


def fold_scalar(draw: Drawing) -> None:
    """A product with a 0-d value, which is broadcast."""
    x = draw.floats()
    y = draw.pick(lambda b: b.shape == () and b.dtype == draw.ball(x).dtype)
    draw.step(
        "{0} * {1}",
        [x, y],
        lambda b: binary_ball("multiply", as_dtype(b[0], b[1].dtype), b[1]),
        "multiply",
    )


ALGEBRA = (
    *(matmul,) * 4,
    *(einsum,) * 2,
    tensordot,
    vecdot,
    outer,
    convolution,
    pooling,
    fold_scalar,
)
