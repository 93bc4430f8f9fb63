"""Products as WebAssembly modules: edges of tiles, dtypes, views, windows, units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from convolutions import definition, small

import tensorweb as tw
from tensorweb.backends.wasm import WasmBackend
from tensorweb.codegen.wasm.compiler import compile_kernel
from tensorweb.codegen.wasm.policy import DEPTH_PART, WasmTarget
from tensorweb.codegen.wasm.product import sizes
from tensorweb.codegen.wasm.product.sizes import layout_of, sizes_of
from tensorweb.events import record_kernels
from tensorweb.schedule.kernel import Kernel
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize

pytestmark = pytest.mark.usefixtures("wasm")

Array = np.ndarray[Any, Any]
View = Callable[[Any], Any]

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]
ROWS = (2, 3, 4, 5, 7, 9)
COLUMNS = (2, 3, 4, 5, 7, 8, 9, 12, 13, 17)
DEPTHS = (1, 2, 3, 4, 5, 9)
LARGE = [(70, 66, 40), (130, 33, 90), (33, 129, 2 * DEPTH_PART + 76), (300, 5, 70)]
VIEWS: dict[str, View] = {
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[::-1, ::-1],
    "strided": lambda x: x[1::2, ::3],
    "offset": lambda x: x[1:, 3:],
}


def values(shape: tuple[int, ...], dtype: str) -> Array:
    """Return numbers of any sign; integers of any size."""
    random = np.random.default_rng(sum(shape))
    if dtype.startswith("float"):
        return np.asarray(random.standard_normal(shape), dtype)
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def kernel_of(x: tw.Tensor) -> Kernel:
    """Return the kernel that computes a tensor."""
    return plan(linearize([x.node.base]), 64)[-1].kernel


def assert_close(got: tw.Tensor, a: Array, b: Array) -> None:
    """Compare with NumPy: integers exactly, floats with a product in more digits."""
    found = np.asarray(got.numpy())
    assert found.dtype == a.dtype
    if a.dtype.kind in "iu":
        np.testing.assert_array_equal(found, a @ b)
        return
    exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
    sums = np.float32 if a.dtype == np.float16 else a.dtype
    sizes = np.abs(a).astype(np.longdouble) @ np.abs(b)
    allowed = 8 * np.finfo(sums).eps * sizes
    if a.dtype == np.float16:
        allowed += np.spacing(np.abs(exact).astype(np.float16)) / 2
    assert found.shape == exact.shape
    assert (np.abs(found - exact) <= allowed).all()


@pytest.mark.parametrize("columns", COLUMNS)
def test_tiles_end_where_matrices_do(columns: int) -> None:
    for rows in ROWS:
        for depth in DEPTHS:
            a, b = values((rows, depth), "float32"), values((depth, columns), "float32")
            assert_close(tw.asarray(a) @ tw.asarray(b), a, b)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS])
def test_every_dtype(dtype: str) -> None:
    for rows, columns, depth in [*LARGE, (4, 8, 8), (5, 3, 2)]:
        a, b = values((rows, depth), dtype), values((depth, columns), dtype)
        assert_close(tw.asarray(a) @ tw.asarray(b), a, b)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("lengths", [(9, 11, 7), (70, 66, 300)], ids=str)
def test_either_operand_may_be_transposed(
    lengths: tuple[int, int, int], dtype: str
) -> None:
    rows, columns, depth = lengths
    a, b = values((rows, depth), dtype), values((depth, columns), dtype)
    left, right = tw.asarray(a.T.copy()), tw.asarray(b.T.copy())
    assert_close(left.T @ tw.asarray(b), a, b)
    assert_close(tw.asarray(a) @ right.T, a, b)
    assert_close(left.T @ right.T, a, b)


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64"])
@pytest.mark.parametrize("side", [12, 70])
@pytest.mark.parametrize("name", VIEWS)
def test_views(name: str, side: int, dtype: str) -> None:
    host = values((2 * side, 3 * side), dtype)
    view = VIEWS[name]
    a, x = view(host), view(tw.asarray(host))
    other = values((a.shape[1], 9), dtype)
    assert_close(x @ tw.asarray(other), a, other)
    other = values((9, a.shape[0]), dtype)
    assert_close(tw.asarray(other) @ x, other, a)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 5, 4), (3, 4, 6)),
        ((300, 4, 4), (300, 4, 4)),
        ((3, 5, 4), (4, 6)),
        ((5, 4), (3, 4, 6)),
        ((2, 1, 5, 4), (3, 4, 6)),
        ((2, 3, 65, 33), (2, 3, 33, 70)),
        ((4, 33, 65), (65, 36)),
        ((3, 40, 17), (3, 17, 130)),
    ],
    ids=str,
)
def test_batches(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    for dtype in ("float32", "int8", "float64"):
        a, b = values(left, dtype), values(right, dtype)
        x, y = tw.asarray(a), tw.asarray(b)
        assert_close(x @ y, a, b)
        flipped = tw.asarray(np.swapaxes(b, -1, -2).copy()).mT
        assert_close(x @ flipped, a, b)
        assert_close(x[..., ::-1, :] @ y[..., ::-1], a[..., ::-1, :], b[..., ::-1])


def test_the_batch_becomes_rows_where_the_right_operand_has_none(
    wasm: WasmBackend,
) -> None:
    a, b = values((9, 7, 5), "float32"), values((5, 6), "float32")
    with record_kernels() as records:
        assert_close(tw.asarray(a) @ tw.asarray(b), a, b)
        permuted = tw.permute_dims(tw.asarray(a), (1, 0, 2)) @ tw.asarray(b)
        assert_close(permuted, a.transpose(1, 0, 2), b)
    assert [record.grid[0] for record in records] == [1, 1]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_few_rows_of_a_deep_product(dtype: str) -> None:
    for rows, columns, depth in ((4, 300, 100), (2, 130, 260), (8, 516, 33)):
        a, b = values((rows, depth), dtype), values((depth, columns), dtype)
        assert_close(tw.asarray(a) @ tw.asarray(b), a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_operands_are_exchanged_if_their_layout_is_transposed(dtype: str) -> None:
    for rows, columns, depth in ((10, 300, 100), (2, 130, 40), (9, 33, 270)):
        a, b = values((rows, depth), dtype), values((depth, columns), dtype)
        flipped = tw.asarray(b.T.copy()).T
        assert layout_of(kernel_of(tw.asarray(a) @ flipped), dtype, False).is_transposed
        assert_close(tw.asarray(a) @ flipped, a, b)
        assert_close(tw.asarray(b.T.copy()) @ tw.asarray(a).T, b.T, a.T)
        more = small(rows, columns, dtype=dtype)
        found = tw.asarray(a) @ flipped + tw.asarray(more)
        assert_close(found - tw.asarray(more), a, b)


def test_large_operands_are_packed_for_some_matrices_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = small(7, 40, 50), small(7, 50, 40)
    flipped = tw.asarray(np.swapaxes(b, 1, 2).copy()).mT
    monkeypatch.setattr(sizes.policy, "MOST_PACKED", 2 * 4 * 50 * 48)
    with record_kernels() as records:
        found = (tw.asarray(a) @ flipped + 1).numpy()
    np.testing.assert_array_equal(found, a @ b + 1)
    kinds = [record.kind for record in records]
    assert kinds == ["product_right", "product"] * 4
    program = compile_kernel(
        kernel_of(tw.asarray(a) @ flipped), WasmTarget(False, False)
    )
    (size,) = program.scratch_bytes
    shifts = [min(launch.words[:8]) for launch in program.launches]  # type: ignore[type-var]  # no constants among them
    assert shifts == [0, 0, -size, -size, -2 * size, -2 * size, -3 * size, -3 * size]


@pytest.mark.parametrize("depth", [0, 1])
def test_depths_of_none_and_one(depth: int) -> None:
    for dtype in ("float32", "uint8", "int64"):
        a, b = np.ones((5, depth), dtype), np.ones((depth, 9), dtype)
        x, y = tw.asarray(a), tw.asarray(b)
        assert_close(x @ y, a, b)
        np.testing.assert_array_equal((x @ y + 2).numpy(), a @ b + np.asarray(2, dtype))


@pytest.mark.parametrize("side", [3, 70])
def test_specials_spread_as_in_numpy(side: int) -> None:
    a, b = values((side, side), "float32"), values((side, side), "float32")
    a[0, 1], a[2, 2], b[1, 0], b[2, 1] = np.nan, np.inf, 0, 0
    with np.errstate(invalid="ignore"):
        expected = a @ b
    found = (tw.asarray(a) @ tw.asarray(b)).numpy()
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    negative = tw.asarray(-np.zeros((3, 3), np.float32)) @ tw.asarray(b[:3, :3])
    np.testing.assert_array_equal(negative.numpy(), np.zeros((3, 3)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(2, 9, 6), (3, 70, 33), (2, 5, 3)], ids=str)
def test_an_epilogue_is_computed_with_the_sums(
    shape: tuple[int, ...], dtype: str
) -> None:
    batch, rows, columns = shape
    a = small(batch, rows, 8, dtype=dtype)
    b = small(batch, 8, columns, dtype=dtype)
    wide = a.astype(np.float64) @ b
    row, column = small(columns, dtype=dtype), small(rows, 1, dtype=dtype)
    whole, transposed = (
        small(*shape, dtype=dtype),
        small(batch, columns, rows, dtype=dtype),
    )
    follow: list[tuple[View, Any]] = [
        (lambda p: p * 2 + tw.asarray(row), wide * 2 + row),
        (lambda p: tw.abs(p) - tw.asarray(column), np.abs(wide) - column),
        (lambda p: p + tw.asarray(whole), wide + whole),
        (lambda p: p + tw.asarray(transposed).mT, wide + np.swapaxes(transposed, 1, 2)),
        (lambda p: p > tw.asarray(row), wide > row),
        (lambda p: p.astype(tw.int8), wide.astype(np.int64).astype(np.int8)),
        (lambda p: p.astype(tw.float64) / 8, wide / 8),
    ]
    for following, expected in follow:
        with record_kernels() as records:
            found = following(tw.asarray(a) @ tw.asarray(b)).numpy()
        np.testing.assert_array_equal(found, expected)
        kinds = [record.kind for record in records]
        assert kinds[-1] == "product"
        assert "elementwise" not in kinds


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap_before_the_epilogue(dtype: str) -> None:
    for rows, columns in ((5, 8), (3, 3)):
        a, b = values((rows, 9), dtype), values((9, columns), dtype)
        found = tw.asarray(a) @ tw.asarray(b) > 50
        np.testing.assert_array_equal(found.numpy(), a @ b > 50)


def test_an_epilogue_may_split_the_axis_of_columns() -> None:
    a, b = small(6, 5), small(5, 3, 4)
    more = small(6, 4)
    product = tw.tensordot(tw.asarray(a), tw.asarray(b), axes=1)
    found = product * tw.asarray(more)[:, None, :]
    np.testing.assert_array_equal(
        found.numpy(), np.tensordot(a, b, 1) * more[:, None, :]
    )


@pytest.mark.parametrize("lengths", [(5, 9, 6), (70, 40, 300)], ids=str)
def test_operands_are_computed_before(lengths: tuple[int, int, int]) -> None:
    rows, columns, depth = lengths
    a, b = small(rows, depth), small(depth, columns)
    x, y = tw.asarray(a), tw.asarray(b)
    with record_kernels() as records:
        found = (x * 2 + 1) @ tw.where(y > 0, y, 0)
        np.testing.assert_array_equal(
            found.numpy(), (a * 2 + 1) @ np.where(b > 0, b, 0)
        )
    assert "product_left" in {record.kind for record in records}
    found = tw.ones((4, rows)) @ x
    np.testing.assert_array_equal(found.numpy(), np.ones((4, rows)) @ a)
    found = tw.pad(x, ((2, 3), (1, 0))) @ tw.asarray(small(depth + 1, columns))
    expected = np.pad(a, ((2, 3), (1, 0))) @ small(depth + 1, columns)
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize(
    ("x", "weight", "how"),
    [
        ((2, 3, 9, 8), (4, 3, 3, 3), {}),
        ((2, 3, 9, 8), (4, 3, 3, 3), {"padding": 1}),
        ((1, 4, 12, 13), (6, 2, 3, 2), {"groups": 2, "padding": ((1, 0), (2, 1))}),
        ((2, 3, 11, 12), (5, 3, 4, 3), {"stride": 2, "dilation": (1, 2)}),
        ((1, 16, 20, 20), (16, 16, 3, 3), {"padding": 1}),
        ((3, 8, 5, 5), (7, 8, 1, 1), {"stride": 2}),
        ((2, 3, 45, 53), (5, 3, 3, 3), {"padding": 1}),
        ((2, 3, 61, 57), (5, 3, 7, 5), {"stride": 2, "padding": (3, 2)}),
    ],
    ids=str,
)
def test_convolutions(
    x: tuple[int, ...], weight: tuple[int, ...], how: dict[str, Any]
) -> None:
    for dtype in ("float32", "float64", "int16"):
        host, kernel = small(*x, dtype=dtype), small(*weight, dtype=dtype)
        found = tw.conv2d(tw.asarray(host), tw.asarray(kernel), **how)
        np.testing.assert_array_equal(found.numpy(), definition(host, kernel, how))


def test_parts_of_a_result_do_not_depend_on_their_units(wasm: WasmBackend) -> None:
    a, b = values((200, 700), "float32"), values((700, 200), "float32")
    whole = (tw.asarray(a) @ tw.asarray(b)).numpy()
    for rows, columns in ((slice(0, 64), slice(0, 100)), (slice(3, 40), slice(7, 30))):
        part = tw.asarray(a[rows]) @ tw.asarray(b[:, columns].copy())
        np.testing.assert_array_equal(part.numpy(), whole[rows, columns])


@pytest.mark.parametrize("columns", [3001, 3003, 3004])
def test_units_pack_their_own_columns(columns: int) -> None:
    a, b = small(20, 30), small(2, columns, 30)
    found = tw.asarray(a) @ tw.asarray(b).mT
    np.testing.assert_array_equal(found.numpy(), a @ b.transpose(0, 2, 1))
    found = tw.asarray(a) @ (tw.asarray(b[0].T.copy()) * 2)
    np.testing.assert_array_equal(found.numpy(), a @ b[0].T * 2)


def test_units_are_many_and_cover_everything() -> None:
    for lengths in [(1, 512, 512, 512), (1, 1001, 77, 3000), (5000, 4, 4, 4)]:
        sizes = sizes_of(*lengths, "float32", is_fused=False)
        assert sizes.units(sizes.batch) >= 20 or np.prod(lengths) < 1 << 20
        assert sizes.row_blocks * sizes.unit_rows >= sizes.rows
        assert sizes.column_blocks * sizes.unit_columns >= sizes.columns
        assert sizes.unit_columns % sizes.width == 0 or sizes.column_blocks == 1


def test_merged_axes_are_taken_apart(wasm: WasmBackend) -> None:
    x, w = values((2, 4, 5, 8), "float32"), values((32, 6), "float32")
    with record_kernels() as records:
        merged = tw.permute_dims(tw.asarray(x), (0, 2, 1, 3)).reshape(2, 5, 32)
        assert_close(
            merged @ tw.asarray(w), x.transpose(0, 2, 1, 3).reshape(2, 5, 32), w
        )
    assert "copy" not in " ".join(record.name for record in records)
