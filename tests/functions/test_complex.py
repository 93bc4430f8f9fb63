"""Complex numbers: what is made of them, moved, combined and added, as in NumPy.

Each row is code for both NumPy and us, on the devices and on WebAssembly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.errors import DTypeError
from tests.conftest import open_or_skip

RANDOM = np.random.default_rng(5)


def numbers(*shape: int) -> Any:
    parts = RANDOM.normal(size=(2, *shape))
    return (parts[0] + 1j * parts[1]).astype(np.complex64)


A, B, V = numbers(5, 7), numbers(7, 3), numbers(7)
INDICES = np.array([3, 1], np.int32)

Code = Callable[..., Any]

MOVED: tuple[Code, ...] = (
    lambda xp, a, b, v: a.T,
    lambda xp, a, b, v: a.reshape((7, 5))[::2, ::-1],
    lambda xp, a, b, v: (a * 2j)[1:4].T.real,
    lambda xp, a, b, v: xp.reshape((a + 1).T, (35,)).imag,
    lambda xp, a, b, v: xp.concat([a, a.real], axis=1),
    lambda xp, a, b, v: xp.stack([a, a * 1j], axis=1),
    lambda xp, a, b, v: v.real[1:, None] * v[1:, None],
    lambda xp, a, b, v: xp.roll(a, 2, axis=1),
    lambda xp, a, b, v: xp.flip(a * a),
    lambda xp, a, b, v: xp.tile(a, (2, 1)),
    lambda xp, a, b, v: xp.repeat(a, 2, axis=0),
    lambda xp, a, b, v: xp.broadcast_to(v, (2, 7)) * xp.expand_dims(v, axis=0),
    lambda xp, a, b, v: xp.tril(a) + xp.pad(v, (0, 0)),
    lambda xp, a, b, v: xp.take(a, xp.asarray(INDICES), axis=1),
    lambda xp, a, b, v: a[xp.asarray(INDICES)],
    lambda xp, a, b, v: (a + v)[a.real > 0],
    lambda xp, a, b, v: xp.where(a.imag > 0, a, 2.0),
    lambda xp, a, b, v: xp.where(a.imag > 0, v, 1),
    lambda xp, a, b, v: xp.sort(v),
    lambda xp, a, b, v: xp.argsort(xp.round(a), axis=1, stable=True),
    lambda xp, a, b, v: xp.sort(xp.unique_values(xp.round(a))),
    lambda xp, a, b, v: xp.isin(a, a[0]),
)

COMBINED: tuple[Code, ...] = (
    lambda xp, a, b, v: xp.conj(a) + xp.real(a) - xp.imag(a),
    lambda xp, a, b, v: a * v / (v + 3) - 2j / v,
    lambda xp, a, b, v: (a / 2 - 1) * xp.real(v),
    lambda xp, a, b, v: 1 - a + 1 / a,
    lambda xp, a, b, v: xp.abs(a) + abs(v),
    lambda xp, a, b, v: xp.sign(a) * xp.square(v) + xp.reciprocal(-v),
    lambda xp, a, b, v: xp.round(10 * a),
    lambda xp, a, b, v: (a == a[0]) | (a != v),
    lambda xp, a, b, v: a.real * 2 == a + xp.conj(a),
    lambda xp, a, b, v: a.astype(xp.bool),
    lambda xp, a, b, v: xp.logical_not(a - a[0]),
)

SUMMED: tuple[Code, ...] = (
    lambda xp, a, b, v: a @ b,
    lambda xp, a, b, v: a.real @ (b + 1),
    lambda xp, a, b, v: (a * 2) @ b.imag,
    lambda xp, a, b, v: a @ v,
    lambda xp, a, b, v: xp.matmul(xp.stack([a, 2 * a]), b),
    lambda xp, a, b, v: xp.vecdot(a, v),
    lambda xp, a, b, v: xp.tensordot(a, b, axes=1),
    lambda xp, a, b, v: xp.einsum("ij,jk->ki", a, b),
    lambda xp, a, b, v: xp.sum(a) + xp.sum(a, axis=1),
    lambda xp, a, b, v: xp.prod(a, axis=1),
    lambda xp, a, b, v: xp.prod(a, axis=(0, 1), keepdims=True),
    lambda xp, a, b, v: xp.mean(a, axis=0),
    lambda xp, a, b, v: xp.var(a) + xp.std(a, axis=1),
    lambda xp, a, b, v: xp.any(a - a[0], axis=1),
    lambda xp, a, b, v: xp.all(a),
    lambda xp, a, b, v: xp.count_nonzero(a - a[0]),
    lambda xp, a, b, v: xp.cumulative_sum(a, axis=1),
    lambda xp, a, b, v: xp.cumulative_prod(a, axis=1, include_initial=True),
    lambda xp, a, b, v: xp.diff(a),
    lambda xp, a, b, v: xp.linspace(1, 2j, 5) + xp.linspace(0, 1, 5, dtype="complex64"),
)


def check(rows: tuple[Code, ...]) -> None:
    """Compare rows with NumPy; all are computed together."""
    operands = [tw.asarray(each) for each in (A, B, V)]
    results = [code(tw, *operands) for code in rows]
    for number, (code, result) in enumerate(zip(rows, results, strict=True)):
        expected = np.asarray(code(np, A, B, V))
        message = f"row {number}"
        assert result.shape == expected.shape, message
        got = result.numpy()
        if expected.dtype.kind in "fc" and expected.dtype.itemsize < 9:
            assert got.dtype == expected.dtype, message
        assert got.dtype.kind == expected.dtype.kind, message
        np.testing.assert_allclose(got, expected, 4e-6, 4e-6, err_msg=message)


@pytest.mark.parametrize("rows", [MOVED, COMBINED, SUMMED], ids=["moved", "by", "sum"])
def test_as_in_numpy(rows: tuple[Code, ...], device: str) -> None:
    check(rows)


@pytest.mark.usefixtures("wasm")
def test_as_in_numpy_on_webassembly() -> None:
    check((*MOVED[:8], *COMBINED[:5], SUMMED[0], SUMMED[9], SUMMED[16]))
    wide = tw.asarray(A, dtype=tw.complex128)
    np.testing.assert_allclose(((wide @ B) / 3).numpy(), A.astype(complex) @ B / 3)


def test_writes(device: str) -> None:
    x, expected = tw.asarray(A, copy=True), A.copy()
    for each in (x, expected):
        each[1] = 2.5
        each[2, 3] = 1j
        each[:, ::2] = each[:, ::2] * 2
        each[each.imag > 1] = 0
        each += 1j
        each *= each.real
        each.real = each.real * 2
        each.imag = 3.5
    np.testing.assert_allclose(x.numpy(), expected, 1e-6)
    added = tw.asarray(V).at[tw.asarray([0, 0, 1])].add(1j)
    np.testing.assert_allclose(added.numpy()[:2], V[:2] + np.array([2j, 1j]), 1e-6)
    taken = (
        tw.asarray(V).at[tw.asarray([0, 0, 1])].subtract([1j, 2, 3]).at[1].divide(2j)
    )
    expected = V[:2] - np.array([2 + 1j, 3])
    np.testing.assert_allclose(taken.numpy()[:2], expected / np.array([1, 2j]), 1e-6)
    real = tw.ones(2)
    with pytest.raises(DTypeError, match="no imaginary parts"):
        real[0] = 1j
    with pytest.raises(DTypeError, match="in place: x is float32"):
        real += 1j


def test_dtypes() -> None:
    single, wide = tw.complex64, tw.complex128
    assert tw.result_type(tw.float32, single) is single
    assert tw.result_type(tw.float64, single) is wide
    assert tw.result_type(tw.float32, 1j) is single
    assert tw.result_type(tw.float64, 1j) is wide
    assert tw.result_type(tw.int32, single, 2.5) is single
    assert tw.can_cast(tw.float32, single)
    assert not tw.can_cast(single, tw.float32)
    assert tw.finfo(single).dtype is tw.float32
    assert tw.asarray([1, 2.5, 1j]).dtype is single
    with devices.device("cpu"):
        assert tw.asarray(np.array([1j])).dtype is wide
        assert (tw.ones(2, dtype=tw.float64) * 1j).dtype is wide
        assert tw.ones(2, dtype=wide).imag.dtype is tw.float64
    assert tw.zeros(2, dtype=complex).dtype is single
    with pytest.raises(DTypeError, match=r"say which part: tw\.real"):
        tw.asarray([1j]).astype(tw.float32)


def test_webgpu_has_single_precision(webgpu: str) -> None:
    with pytest.raises(DTypeError, match="no complex128"):
        tw.zeros(2, dtype=tw.complex128)


def test_complex_numbers_refuse_operations_of_ordered_ones(device: str) -> None:
    x = tw.asarray([1j, 2.0])
    for code in (
        lambda: x < 2,
        lambda: tw.maximum(x, x),
        lambda: x.max(),
        lambda: tw.argmin(x),
    ):
        with pytest.raises(DTypeError, match=r"no order.*tw\.abs"):
            code()
    with pytest.raises(DTypeError, match=r"floor: complex64.*real dtypes"):
        tw.floor(x)
    with pytest.raises(DTypeError, match="imaginary part"):
        float(x[0])


PRINTED = (
    [1 + 2j, -3.25 - 4j],
    [1e10 + 1j, 2 - 1e-3j],
    [complex(np.nan, 1), complex(np.inf, -2), complex(1, np.nan), complex(1, -np.inf)],
    [0.1 + 100j, -3 - 0.25j, 0j],
    [complex(-0.0, -0.0)],
    [],
)


def test_texts_of_complex_numbers_equal_numpy(cpu: str) -> None:
    for data in PRINTED:
        host, x = np.array(data, np.complex64), tw.asarray(data, dtype=tw.complex64)
        assert str(x) == str(host)
        assert repr(x).removeprefix("tensor") == repr(host).removeprefix("array")
    assert str(tw.asarray(0.1 - 2j)) == "(0.1-2j)"


def test_values_come_and_go(device: str) -> None:
    x = tw.asarray([[1 + 2j, 3], [4j, 0]])
    assert x.tolist() == [[1 + 2j, 3], [4j, 0]]
    assert x[0, 0].item() == complex(x[0, 0]) == 1 + 2j
    assert (x.strides, x.T.strides, x.nbytes) == ((2, 1), (1, 2), 32)
    assert x.is_contiguous
    assert not x.T.is_contiguous
    assert np.array_equal(np.from_dlpack(x), x.numpy())
    assert np.array_equal(tw.from_dlpack(x.numpy()).numpy(), x.numpy())
    other = "cpu" if device == "webgpu" else "webgpu"
    open_or_skip(other)
    assert (x * 1j).to_device(other).tolist() == (x * 1j).tolist()
