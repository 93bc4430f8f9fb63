"""Images resized, padded and cut: transformations, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import nn

CALLS: dict[str, Callable[[tw.Tensor], tw.Tensor]] = {
    "bilinear": lambda x: nn.interpolate(x, (5, 3), mode="bilinear"),
    "area": lambda x: nn.interpolate(x, (1, 3), mode="area"),
    "nearest": lambda x: nn.interpolate(x, scale_factor=2),
    "reflect": lambda x: nn.pad(x, (1, 2, 1, 0), "reflect"),
    "pixels": lambda x: nn.pixel_unshuffle(nn.pixel_shuffle(x, 2), 2),
    "positions": lambda x: nn.grid_sample(
        x, nn.affine_grid(x[:, 0, :2, :3], (x.shape[0], 1, 3, 2))
    ),
    "windows": lambda x: nn.fold(nn.unfold(x, 2), (3, 4), 2),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_images_map_and_compile(call: Callable[..., Any], device: str) -> None:
    x = tw.random.normal(tw.random.key(0), (2, 1, 4, 3, 4))

    def derivative(x: tw.Tensor) -> Any:
        return tw.grad(lambda x: (call(x) ** 2).sum())(x)

    one_by_one = tw.stack([derivative(part) for part in x])
    for found in (tw.vmap(derivative)(x), tw.jit(tw.vmap(derivative))(x)):
        assert abs(found - one_by_one).max().item() < 1e-5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: nn.interpolate(x, 4, antialias=True), "antialias=True is not here"),
        (lambda x: nn.interpolate(x), "give one of size and scale_factor"),
        (lambda x: nn.interpolate(x, 4, 2.0), "give one of size and scale_factor"),
        (lambda x: nn.interpolate(x, 4, mode="cubic"), "mode is 'cubic'"),
        (lambda x: nn.interpolate(x, 4, mode="linear"), r"takes \(n, channels, length"),
        (lambda x: nn.interpolate(x, 4, align_corners=True), "not for mode 'nearest'"),
        (lambda x: nn.interpolate(x, scale_factor=0.1), "leave 1 or more"),
        (lambda x: nn.pixel_shuffle(x, 2), "4 times as many channels"),
        (lambda x: nn.pad(x, (1, 2, 3)), "two widths for each"),
        (lambda x: nn.pad(x, (3, 0), "reflect"), "2 wide at most"),
        (lambda x: nn.pad(x, (1, 0), "reflect", 1.0), "takes none"),
        (lambda x: nn.fold(x[0], 3, 2), "windows of 4 elements"),
        (lambda x: nn.grid_sample(x, x), r"\(n, h', w', 2\)"),
        (lambda x: nn.grid_sample(x, x, "bicubic"), "mode is 'bicubic'"),
        (lambda x: nn.affine_grid(x[0], (2, 1, 3, 3)), r"\(n, 2, 3\)"),
        (lambda x: nn.embedding_bag([1, 2], x[0, 0]), "or \\(n,\\) with offsets"),
        (lambda x: nn.Conv3d(2, 2, 2)(x), r"takes \(n, 2, d, h, w\)"),
        (lambda x: nn.max_pool3d(x[0], 2), r"takes \(n, channels, d, h, w\)"),
    ],
)
def test_what_does_not_fit_is_named(call: Callable[..., Any], words: str) -> None:
    with pytest.raises((tw.errors.DataError, tw.errors.ShapeError), match=words):
        call(tw.ones((1, 2, 3, 3)))
