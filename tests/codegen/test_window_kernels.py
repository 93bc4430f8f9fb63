"""Tiled products over windows: edges, padding, what is computed on the way, by tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from convolutions import definition, small
from test_matmul_kernels import forget_plans

import tensorweb as tw
from tensorweb import devices
from tensorweb.codegen import compiler, policy
from tensorweb.codegen.product import contraction
from tensorweb.codegen.product.tiles import (
    SOFTWARE_TILE,
    WINDOW_TILES,
    ProductTile,
    TileChoice,
)
from tensorweb.events import record_kernels
from tensorweb.tensor import Tensor

pytestmark = pytest.mark.usefixtures("webgpu")

PADDED = {"padding": 1}


def name_of(param: tuple[ProductTile, bool]) -> str:
    return param[0].name.replace(" ", "-")


PRODUCT_TILES = [(tile, False) for tile in WINDOW_TILES] + [(SOFTWARE_TILE, True)]
"""Tiles, and whether for a GPU that is software, which loads nothing ahead."""

UNLIKE = [
    param
    for param in PRODUCT_TILES
    if name_of(param) in ("windows", "small", "software")
]
"""Enough of them for what does not depend on a tile's sizes."""

tiles_that_are_unlike = pytest.mark.parametrize(
    "is_software", UNLIKE, indirect=True, ids=name_of
)


@pytest.fixture(autouse=True, params=PRODUCT_TILES, ids=name_of)
def is_software(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[bool]:
    tile, is_software = request.param
    monkeypatch.setattr(contraction, "choose_tile", lambda *_: TileChoice(tile, 1))
    monkeypatch.setattr(compiler, "convolution", lambda *_: None)
    pipelines = devices.backend("webgpu")._pipelines  # type: ignore[attr-defined]  # tests reach inside
    target = replace(pipelines.target, is_software=is_software)
    monkeypatch.setattr(pipelines, "target", target)
    forget_plans()
    yield is_software
    forget_plans()


def computed(value: Tensor, kernels: int = 1) -> tuple[np.ndarray, str]:
    """Return the result and the text of the product, the last of these kernels."""
    with record_kernels() as records:
        result = value.numpy()
    assert len(records) == kernels
    assert records[-1].kind == "matmul"
    return result, records[-1].source


EDGES = [
    ((2, 4, 12, 16), (8, 4, 3, 3), PADDED),
    ((3, 5, 13, 11), (67, 5, 3, 3), PADDED),
    ((1, 3, 23, 29), (65, 3, 7, 7), {"stride": 2, "padding": 3}),
    ((1, 16, 19, 19), (35, 16, 2, 2), {"dilation": 3}),
    ((5, 3, 5, 4), (130, 3, 1, 1), PADDED),
]
"""Windows that are compiled apart: only tiles that are unlike see all of them."""


@pytest.mark.parametrize(
    ("is_software", "shape", "weights", "how"),
    [
        (tile, *case)
        for tile in PRODUCT_TILES
        for case in (EDGES if tile in UNLIKE else EDGES[1:2])
    ],
    indirect=["is_software"],
    ids=lambda value: (
        name_of(value)
        if isinstance(value, tuple) and isinstance(value[0], ProductTile)
        else None
    ),
)
def test_edges(shape: tuple[int, ...], weights: tuple[int, ...], how: dict) -> None:
    x, weight = small(*shape), small(*weights)
    got, _ = computed(tw.conv2d(tw.asarray(x), tw.asarray(weight), **how))
    np.testing.assert_array_equal(got, definition(x, weight, how))


@tiles_that_are_unlike
@pytest.mark.parametrize(
    ("window", "how", "has_bits"),
    [
        ((16, 16), {"padding": 5}, True),
        ((17, 3), {"padding": (5, 1)}, False),
        ((17, 3), {"padding": (0, 1)}, True),
        ((3, 5), {"padding": ((0, 2), (3, 0)), "dilation": (2, 3)}, True),
        ((3, 3), {}, False),
    ],
)
def test_padding_is_a_mask_where_it_fits(
    window: tuple[int, int],
    how: dict,
    has_bits: bool,
    is_software: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "LEAST_MASK_TESTS", 0)
    x, weight = small(2, 3, 19, 23), small(37, 3, *window)
    got, source = computed(tw.conv2d(tw.asarray(x), tw.asarray(weight), **how))
    np.testing.assert_array_equal(got, definition(x, weight, how))
    assert ("padding_mask" in source) is (has_bits and not is_software)


@tiles_that_are_unlike
@pytest.mark.parametrize("channels", [1, 120])
def test_padding_is_a_mask_where_it_pays(channels: int, is_software: bool) -> None:
    x, weight = small(1, channels, 5, 6), small(37, channels, 3, 3)
    got, source = computed(tw.conv2d(tw.asarray(x), tw.asarray(weight), padding=1))
    np.testing.assert_array_equal(got, definition(x, weight, PADDED))
    assert ("padding_mask" in source) is (channels > 1 and not is_software)


@tiles_that_are_unlike
def test_values_computed_from_loads_wait_for_them(is_software: bool) -> None:
    x, weight = small(2, 5, 13, 11), small(9, 5, 3, 3)
    given = tw.realize(tw.asarray(x)), tw.realize(tw.asarray(weight))
    value = tw.conv2d(tw.maximum(given[0], 0) + 2, given[1], padding=1)
    got, source = computed(value)
    want = definition(np.maximum(x, 0) + 2, weight, PADDED)
    np.testing.assert_array_equal(got, want)
    if is_software:
        assert "right_load" not in source
        return
    loop = source[source.index("for (var depth") :]
    stored, multiplied = loop.index("= vec4<Value>(right("), loop.index("fma(")
    assert stored < multiplied < loop.rindex("workgroupBarrier")
    assert "right_load" in loop[stored:multiplied]
    assert "select(0, " not in source[source.index("fn right(") :]


@tiles_that_are_unlike
@pytest.mark.parametrize("fill", [0, 3])
def test_padding_around_padding(fill: int, is_software: bool) -> None:
    x, weight = small(2, 5, 9, 11), small(9, 5, 3, 3)
    widths = ((0, 0), (0, 0), (1, 2), (2, 1))
    framed = tw.realize(tw.asarray(x)).pad(widths, value=fill)
    got, _ = computed(tw.conv2d(framed, tw.asarray(weight), padding=2))
    wide = np.pad(x, widths, constant_values=fill)
    np.testing.assert_array_equal(got, definition(wide, weight, {"padding": 2}))


@tiles_that_are_unlike
def test_guards_that_only_a_load_has(is_software: bool) -> None:
    x, weight = small(2, 5, 9, 11), small(9, 5, 3, 3)
    given, zeros = tw.realize(tw.asarray(x)), tw.zeros((2, 5, 3, 11))
    for parts in ((given, zeros), (zeros, given)):
        value = tw.conv2d(tw.concat(parts, axis=2), tw.asarray(weight), padding=1)
        got, source = computed(value)
        seen = np.concatenate([part.numpy() for part in parts], 2)
        np.testing.assert_array_equal(got, definition(seen, weight, PADDED))
        assert "padding_mask" not in source


@tiles_that_are_unlike
def test_chosen_rows_are_stored_before() -> None:
    x, weight = small(2, 5, 13, 11), small(9, 5, 3, 3)
    order = np.array([3, 0, 7, 7, 12, 1], np.int32)
    rows = tw.realize(tw.asarray(order))
    chosen = tw.take(tw.asarray(x), rows, axis=2)
    value = tw.conv2d(chosen, tw.asarray(weight), padding=1)
    got, _ = computed(value, kernels=2)
    np.testing.assert_array_equal(got, definition(x[:, :, order], weight, PADDED))


@tiles_that_are_unlike
@pytest.mark.parametrize("dtype", ["int32", "bool"])
def test_other_dtypes_are_exact(dtype: str, is_software: bool) -> None:
    x = (
        small(2, 5, 13, 11, dtype=np.int32) > 0
        if dtype == "bool"
        else small(2, 5, 13, 11, dtype=np.int32)
    )
    weight = small(9, 5, 3, 3, dtype=np.int32)
    value = tw.asarray(x)
    value = tw.where(value, 3, -1) if dtype == "bool" else value
    got, _ = computed(tw.conv2d(value, tw.asarray(weight), padding=1))
    seen = np.where(x, 3, -1) if dtype == "bool" else x
    np.testing.assert_array_equal(got, definition(seen, weight, PADDED))


@tiles_that_are_unlike
def test_nothing_in_the_padding_arrives() -> None:
    x, weight = small(3, 2, 9, 8), small(4, 2, 3, 3)
    x[:, :, :, 0] = x[:, :, :, -1] = np.nan
    x[:, :, 0] = np.inf
    x[1] = 1
    got, _ = computed(tw.conv2d(tw.asarray(x), tw.asarray(weight), padding=1))
    with np.errstate(invalid="ignore"):
        want = definition(x, weight, PADDED)
    np.testing.assert_array_equal(got[1], want[1])
    np.testing.assert_array_equal(got[:, :, 2:-1, 2:-2], want[:, :, 2:-1, 2:-2])
    assert np.isnan(got[0, :, 3, [0, 1, -2, -1]]).all()


@tiles_that_are_unlike
def test_infinite_terms_are_added_once() -> None:
    x, weight = np.ones((1, 5, 9, 8), np.float32), np.ones((3, 5, 3, 3), np.float32)
    x[0, 4, 4, 4] = np.inf
    got, _ = computed(tw.conv2d(tw.asarray(x), tw.asarray(weight), padding=1))
    np.testing.assert_array_equal(got, definition(x, weight, PADDED))


@tiles_that_are_unlike
def test_both_operands_in_windows() -> None:
    x, seen = small(4, 3, 10, 9), small(4, 36, 8, 7)
    windows = tw.asarray(x).sliding_windows((3, 3), axis=(2, 3))
    got, _ = computed(tw.einsum("nohw,nchwyx->ocyx", tw.asarray(seen), windows))
    neighbourhoods = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    want = np.einsum("nohw,nchwyx->ocyx", seen.astype(float), neighbourhoods)
    np.testing.assert_array_equal(got, want)
