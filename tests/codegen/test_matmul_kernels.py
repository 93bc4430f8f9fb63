"""Every tile of the matrix product on many layouts, against float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.codegen import compiler
from tensorweb.codegen.product import contraction
from tensorweb.codegen.product.tiles import (
    PRODUCT_TILES,
    SKINNY_TILES,
    SOFTWARE_TILE,
    WINDOW_TILES,
    ProductTile,
    TileChoice,
    choose_tile,
    problem_of,
)
from tensorweb.codegen.program import Target
from tensorweb.events import record_kernels
from tensorweb.tensor import Tensor

pytestmark = pytest.mark.usefixtures("webgpu")

SIZES = {
    "dividing": (128, 128, 64),
    "ragged": (131, 67, 45),
    "ragged in vectors": (132, 68, 44),
    "tiny": (3, 5, 2),
}


EVERY_TILE = (*PRODUCT_TILES, *SKINNY_TILES, *WINDOW_TILES, SOFTWARE_TILE)


@pytest.fixture(params=EVERY_TILE, ids=lambda tile: tile.name)
def tile(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> ProductTile:
    chosen: ProductTile = request.param
    monkeypatch.setattr(contraction, "choose_tile", lambda *_: TileChoice(chosen, 1))
    forget_plans()
    return chosen


def forget_plans() -> None:
    from tensorweb import devices

    backend = devices.backend("webgpu")
    backend._plans.clear()  # type: ignore[attr-defined]  # tests reach inside


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray:
    generator = np.random.default_rng(sum(shape))
    if dtype == "float32":
        return generator.uniform(-1, 1, shape).astype(np.float32)
    return generator.integers(-9, 9, shape).astype(dtype)


def check(
    value: Tensor,
    a: np.ndarray,
    b: np.ndarray,
    after: Callable[..., object] | None = None,
) -> None:
    """Compare with the product in float64; errors grow with the terms' sizes."""
    with record_kernels() as records:
        got = value.numpy()
    assert "matmul" in [record.kind for record in records]
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    want = wide_a @ wide_b
    if after is not None:
        want = after(want)
    if value.dtype.kind != "float":
        np.testing.assert_array_equal(got, want)
        return
    scale = np.abs(wide_a) @ np.abs(wide_b) + 1
    assert np.max(np.abs(got - want) / scale) < 2e-6


@pytest.fixture(autouse=True)
def no_small_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tiles compute what a kernel of its own does for batches of small matrices."""
    monkeypatch.setattr(compiler, "small_products", lambda *_: None)


COMPILED_OFTEN = ("small", "narrow")
"""Tiles tested on every layout; the large ones, which take drivers on processors
seconds to compile, differ by sizes only."""

UNLIKE = [
    tile for tile in EVERY_TILE if tile.name in (*COMPILED_OFTEN, SOFTWARE_TILE.name)
]
"""Enough of them for what does not depend on a tile's sizes."""

tiles_that_are_unlike = pytest.mark.parametrize(
    "tile", UNLIKE, indirect=True, ids=lambda tile: tile.name
)

LAYOUTS = {
    tile.name: [(size, layout) for size in SIZES for layout in ("nn", "nt", "tn", "tt")]
    if tile.name in COMPILED_OFTEN
    else [("dividing", "nn"), ("ragged", "nt"), ("ragged in vectors", "tn")]
    for tile in EVERY_TILE
}


@pytest.mark.parametrize(
    ("tile", "size", "layout"),
    [(tile, *case) for tile in EVERY_TILE for case in LAYOUTS[tile.name]],
    indirect=["tile"],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_layouts(tile: ProductTile, size: str, layout: str) -> None:
    m, n, k = SIZES[size]
    a, b = numbers(m, k), numbers(k, n)
    left = (
        tw.asarray(np.ascontiguousarray(a.T)).T if layout[0] == "t" else tw.asarray(a)
    )
    right = (
        tw.asarray(np.ascontiguousarray(b.T)).T if layout[1] == "t" else tw.asarray(b)
    )
    check(left @ right, a, b)


@tiles_that_are_unlike
def test_batches_and_broadcast_batches(tile: ProductTile) -> None:
    a, b = numbers(3, 1, 36, 20), numbers(2, 20, 40)
    check(tw.asarray(a) @ tw.asarray(b), a, b)


@tiles_that_are_unlike
def test_strided_and_offset_operands(tile: ProductTile) -> None:
    a, b = numbers(80, 90), numbers(70, 99)
    left, right = tw.asarray(a)[5:75:2, 3:63], tw.asarray(b)[2:62, 90:2:-1]
    check(left @ right, a[5:75:2, 3:63], b[2:62, 90:2:-1])


@pytest.mark.parametrize(
    ("tile", "columns"),
    [(tile, 40) for tile in EVERY_TILE]
    + [(tile, 41) for tile in EVERY_TILE if tile.name in COMPILED_OFTEN],
    indirect=["tile"],
    ids=lambda value: value if isinstance(value, int) else value.name,
)
def test_epilogue_with_bias_column_and_residual(
    tile: ProductTile, columns: int
) -> None:
    a, b, row = numbers(36, 20), numbers(20, columns), numbers(columns)
    column, rest = numbers(36, 1), numbers(36, columns)
    value = tw.maximum(tw.asarray(a) @ tw.asarray(b) + tw.asarray(row), 0.0)
    value = value * tw.asarray(column) - tw.asarray(rest)
    check(value, a, b, lambda y: np.maximum(y + row, 0) * column - rest)


@tiles_that_are_unlike
def test_prologue_is_fused(tile: ProductTile) -> None:
    a, b = numbers(36, 20), numbers(20, 40)
    check((tw.asarray(a) * 2) @ tw.asarray(b), a * 2, b)


@tiles_that_are_unlike
def test_product_with_its_own_transpose(tile: ProductTile) -> None:
    a = numbers(36, 36)
    x = tw.asarray(a)
    check(x @ x.T + x, a, a.T, lambda y: y + a)


@pytest.mark.parametrize(
    ("tile", "dtype"),
    [
        (tile, ("int32", "uint32")[choice])
        for number, tile in enumerate(EVERY_TILE)
        for choice in ((0, 1) if tile.name in COMPILED_OFTEN else (number % 2,))
    ],
    indirect=["tile"],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_integers_are_exact(tile: ProductTile, dtype: str) -> None:
    a = np.abs(numbers(37, 21, dtype="int32")).astype(dtype)
    b = np.abs(numbers(21, 44, dtype="int32")).astype(dtype)
    check(tw.asarray(a) @ tw.asarray(b), a, b)


@pytest.mark.parametrize("columns", [40, 41])
@pytest.mark.parametrize("splits", [3, 7])
def test_split_depth(
    monkeypatch: pytest.MonkeyPatch, columns: int, splits: int
) -> None:
    tile = PRODUCT_TILES[-1 if splits == 3 else 2]
    monkeypatch.setattr(contraction, "choose_tile", lambda *_: TileChoice(tile, splits))
    forget_plans()
    a, b, row = numbers(2, 36, 300), numbers(2, 300, columns), numbers(columns)
    value = tw.asarray(a) @ tw.asarray(b) + tw.asarray(row)
    with record_kernels() as records:
        tw.realize(value + 0)
    assert [record.kind for record in records] == ["matmul", "reduce", "elementwise"][
        : len(records)
    ]
    check(tw.asarray(a) @ tw.asarray(b) + tw.asarray(row), a, b, lambda y: y + row)
    forget_plans()


def test_infinite_and_nan_terms_arrive(tile: ProductTile) -> None:
    a, b = numbers(5, 7), numbers(7, 9)
    a[1, 2], b[3, 4] = np.inf, np.nan
    got = (tw.asarray(a) @ tw.asarray(b)).numpy()
    assert np.isnan(got[:, 4]).all()
    assert np.isinf(np.delete(got[1], 4)).all()
    assert np.isfinite(np.delete(np.delete(got, 4, 1), 1, 0)).all()


def test_table_is_ordered_and_fits_the_least_device() -> None:
    areas = [tile.rows * tile.columns for tile in PRODUCT_TILES]
    assert areas == sorted(areas, reverse=True)
    for tile in EVERY_TILE:
        assert tile.threads <= 256
        is_large = tile in SKINNY_TILES or tile.name == "wide"
        assert tile.workgroup_bytes <= (32768 if is_large else 16384)
        assert tile.threads % 32 == 0
        assert tile.workers % 32 == 0 or tile in SKINNY_TILES
        assert tile.across % 8 == 0 or tile.across in (2, 4)
        assert tile.depth % (tile.slices * 4) == 0
        assert tile.depth % 16 == 0, "vectors along depth are read four side by side"
        for extent in (tile.rows, tile.columns):
            assert extent * tile.depth // 4 % tile.threads == 0, "loads need no guard"
            assert tile.threads % (extent // 4) == 0, (
                "a thread's loads share their rows"
            )


@pytest.mark.parametrize(
    ("sizes", "name"),
    [
        ((1, 4096, 4096, 4096), "large"),
        ((1, 1024, 1024, 1024), "wide"),
        ((1, 640, 640, 640), "square"),
        ((1, 512, 512, 512), "narrow"),
        ((64, 256, 256, 256), "large"),
        ((1, 256, 256, 256), "small"),
        ((64, 512, 49, 4608), "tall"),
        ((1, 4096, 16, 4096), "small"),
        ((1, 8, 4096, 4096), "low"),
        ((1, 12, 50257, 768), "flat"),
        ((1, 4096, 5, 4096), "thin"),
        ((1, 8, 4096, 64), "small"),
        ((96, 256, 256, 64), "medium"),
        ((16, 128, 3136, 64), "medium"),
    ],
)
def test_choice_follows_the_size(sizes: tuple[int, ...], name: str) -> None:
    batch, rows, columns, depth = sizes
    target = Target(workgroup_bytes=32768)
    assert choose_tile(batch, rows, columns, depth, target).tile.name == name


@pytest.mark.parametrize(
    ("sizes", "name", "splits"),
    [
        ((1, 512, 512, 8192), "tall", 12),
        ((1, 256, 256, 8192), "wide", 16),
        ((1, 4096, 64, 4096), "medium", 8),
        ((1, 128, 128, 16384), "wide", 64),
        ((1, 1024, 1024, 1024), "wide", 1),
        ((1, 768, 3072, 4096), "large", 7),
    ],
)
def test_deep_products_are_split(
    sizes: tuple[int, ...], name: str, splits: int
) -> None:
    batch, rows, columns, depth = sizes
    target = Target(workgroup_bytes=32768)
    choice = choose_tile(batch, rows, columns, depth, target)
    assert (choice.tile.name, choice.splits) == (name, splits)


def test_cores_with_one_tile_more_keep_no_others_waiting() -> None:
    target = Target(workgroup_bytes=32768)
    for columns in range(1024, 8192, 512):
        choice = choose_tile(1, 1024, columns, 2048, target)
        groups = choice.tile.groups(1, 1024, columns) * choice.splits
        missing = -groups % target.cores
        assert missing < 0.2 * groups, (columns, choice)


def test_choice_fits_the_device() -> None:
    assert choose_tile(1, 1024, 1024, 1024, Target()).tile.name == "square"
    for accumulators, name in ((64, "broad"), (32, "medium"), (16, "small")):
        assert (
            choose_tile(
                1, 4096, 4096, 4096, Target(accumulators=accumulators)
            ).tile.name
            == name
        )
    software = choose_tile(1, 4096, 4096, 4096, Target(is_software=True))
    assert software == TileChoice(SOFTWARE_TILE, 1)


@pytest.mark.parametrize(
    ("sizes", "name", "splits"),
    [
        ((64, 64, 3136, 576), "broad windows", 1),
        ((32, 32, 3136, 288), "low windows", 1),
        ((64, 64, 12544, 147), "broad windows", 1),
        ((32, 64, 3136, 576), "broad windows", 1),
        ((2, 64, 3136, 576), "narrow", 1),
        ((1, 64, 3136, 576), "narrow", 1),
        ((32, 256, 784, 2304), "tall windows", 1),
        ((1, 512, 49, 4608), "narrow", 8),
    ],
)
def test_choice_for_windows(sizes: tuple[int, ...], name: str, splits: int) -> None:
    problem = problem_of(*sizes[:3], in_vectors=False)
    for target in (Target(), Target(tuned=((problem, "narrow"),))):
        choice = choose_tile(*sizes, target, in_vectors=False, has_windows=True)
        assert (choice.tile.name, choice.splits) == (name, splits)


def test_operands_read_one_by_one_take_smaller_tiles() -> None:
    assert choose_tile(1, 4096, 4096, 4096, in_vectors=False).tile.name == "square"
