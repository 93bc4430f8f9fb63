"""Every elementwise entry of the op table: all dtypes, special values, all layouts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from elementwise_cases import (
    ENTRIES,
    INTERNAL,
    STORED,
    cast_reference,
    float_error,
    samples,
    samples_to_cast,
    ulp_error,
)
from oracles import NUMPYS, exact, function, result_dtype, takes, threefry2x32
from tolerances import map_tolerance

import tensorweb as tw
from tensorweb import devices, dtypes
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError
from tensorweb.evaluate import realize
from tensorweb.graph.op import Op
from tensorweb.ops import OPS
from tensorweb.tensor.operators import operation

Array = np.ndarray[Any, Any]

CASES = [
    (device, op, dtype)
    for op in ENTRIES
    for device, dtype in STORED
    if takes(op.name, dtype)
]


def name_of(value: object) -> str:
    """Return a test id: an operation's or a dtype's name."""
    return str(getattr(value, "name", value))


def require(dtype: DType, device: str) -> None:
    """Skip where a device does not store a dtype."""
    if dtype.name not in devices.backend(device).dtypes:
        pytest.skip(f"{device} has no {dtype}")


def apply(op: Op, inputs: list[tw.Tensor]) -> tw.Tensor:
    """Return an operation by its public function, if it has one."""
    if op.name in INTERNAL:
        return tw.Tensor(operation(op.name, *inputs))
    result = getattr(tw, op.name)(*inputs)
    assert isinstance(result, tw.Tensor)
    return result


def check(op: Op, dtype: DType, got: Array, inputs: list[Array]) -> None:
    """Compare a result with NumPy's, exactly or within the table's tolerance."""
    if got.dtype.kind != "f":
        np.testing.assert_array_equal(got, exact(op.name, inputs))
        return
    error = ulp_error(op, got, inputs)
    worst = int(error.argmax()) if error.size else 0
    allowed = map_tolerance(op.name, got.dtype.name)
    assert not error.size or error.flat[worst] <= allowed, (
        f"{op.name}({', '.join(repr(x.flat[worst]) for x in inputs)}) gives "
        f"{got.flat[worst]!r}, NumPy {exact(op.name, inputs).flat[worst]!r}: "
        f"{error.flat[worst]:.2f} ULP, {allowed} allowed"
    )


def usual_dtype(op: Op) -> DType:
    """Return the first of the common dtypes that an operation takes."""
    common = (dtypes.float32, dtypes.int32, dtypes.uint32)
    return next(dtype for dtype in common if takes(op.name, dtype))


@pytest.mark.parametrize(
    ("device", "op", "dtype"), CASES, indirect=["device"], ids=name_of
)
def test_values(device: str, op: Op, dtype: DType) -> None:
    require(dtype, device)
    inputs = samples(op, dtype)
    result = apply(op, [tw.asarray(array) for array in inputs])
    assert result.dtype.name == result_dtype(op.name, dtype, op.arity)
    check(op, dtype, result.numpy(), inputs)


@pytest.mark.parametrize("op", ENTRIES, ids=name_of)
def test_entries_accept_the_documented_dtypes(op: Op, cpu: str) -> None:
    for dtype in dtypes.ALL:
        operands = [tw.ones(3, dtype=dtype)] * op.arity
        if takes(op.name, dtype):
            apply(op, operands)
        else:
            with pytest.raises(DTypeError, match=op.name):
                apply(op, operands)


@pytest.mark.parametrize(
    ("name", "dtype", "change"),
    [
        ("exp", dtypes.float32, {"numpy": "exp2"}),
        ("erf", dtypes.float32, {"numpy": lambda np, x: np.tanh(x)}),
        ("remainder", dtypes.int32, {"numpy": "fmod"}),
        ("round", dtypes.float64, {"numpy": "floor"}),
        ("logical_or", dtypes.uint8, {"numpy": "logical_xor"}),
        ("greater", dtypes.float32, {"numpy": "greater_equal"}),
        ("reciprocal", dtypes.int32, {"numpy": "reciprocal", "result": "same"}),
        ("sign", dtypes.float32, {"numpy": "sign", "result": "bool"}),
    ],
)
def test_a_wrong_row_is_found(
    name: str,
    dtype: DType,
    change: dict[str, Any],
    cpu: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    op = OPS[name]
    test_values(cpu, op, dtype)
    monkeypatch.setitem(OPS, name, replace(op, **change))
    with pytest.raises(AssertionError):
        test_values(cpu, op, dtype)


def test_an_operation_that_nobody_knows_needs_an_entry() -> None:
    assert np.isclose(function("gamma")(np.array([5.0]))[0], 24)
    with pytest.raises(LookupError, match=r"FUNCTIONS of tests/oracles\.py"):
        function("softsign")


@pytest.mark.parametrize(
    ("key", "counter", "block"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((2**32 - 1, 2**32 - 1), (2**32 - 1, 2**32 - 1), (0x1CB996FC, 0xBB002BE7)),
        (
            (0x13198A2E, 0x03707344),
            (0x243F6A88, 0x85A308D3),
            (0xC4923A9C, 0x483DF7A0),
        ),
    ],
)
def test_random_blocks_are_the_published_ones(
    key: tuple[int, int], counter: tuple[int, int], block: tuple[int, int]
) -> None:
    # From the table of known answers that came with the paper's program, Random123.
    wide = [np.array([word], np.uint64) for word in (*key, *counter)]
    found = threefry2x32((wide[0], wide[1]), (wide[2], wide[3]))
    assert tuple(int(word[0]) for word in found) == block


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "permuted": lambda x: x.transpose(2, 0, 1) if is_host(x) else x.permute(2, 0, 1),
    "reversed": lambda x: x[::-1, 2:, ::-3],
    "row": lambda x: x[3, :, 1],
    "expanded": lambda x: (
        np.broadcast_to(x[:, :1], (2, 5, 7, 11))
        if is_host(x)
        else tw.broadcast_to(x[:, :1], (2, 5, 7, 11))
    ),
    "one number": lambda x: x[4, 6, 10],
    "empty": lambda x: x[:, 3:3],
}


def is_host(x: object) -> bool:
    """Whether a layout works on the NumPy side."""
    return isinstance(x, np.ndarray)


@pytest.mark.parametrize("op", ENTRIES, ids=name_of)
def test_layouts(op: Op, device: str) -> None:
    dtype = usual_dtype(op)
    hosts = [array[-385:].reshape(5, 7, 11) for array in samples(op, dtype)]
    tensors = [tw.asarray(host) for host in hosts]
    # How a kernel reads is independent of its operation, so each one sees two views.
    layouts = [*LAYOUTS.values()][ENTRIES.index(op) % 3 :: 3]
    results = [apply(op, [layout(tensor) for tensor in tensors]) for layout in layouts]
    realize([result.node for result in results])
    for result, layout in zip(results, layouts, strict=True):
        inputs = [np.asarray(layout(host)) for host in hosts]
        assert result.shape == inputs[0].shape
        check(op, dtype, result.numpy(), inputs)


@pytest.mark.parametrize("op", [op for op in ENTRIES if op.arity == 2], ids=name_of)
def test_broadcasting(op: Op, device: str) -> None:
    dtype = usual_dtype(op)
    first, second = samples(op, dtype)
    a, b = first[-15:].reshape(5, 1, 3), second[-84:].reshape(7, 1, 4, 3)
    result = apply(op, [tw.asarray(a), tw.asarray(b)])
    assert result.shape == (7, 5, 4, 3)
    wide = [np.broadcast_to(x, result.shape) for x in (a, b)]
    check(op, dtype, result.numpy(), wide)


@pytest.mark.parametrize(("device", "dtype"), STORED, indirect=["device"], ids=name_of)
def test_where(device: str, dtype: DType) -> None:
    require(dtype, device)
    a = np.arange(35).reshape(5, 7).astype(dtype.name)
    b = np.arange(7, 0, -1).astype(dtype.name)
    condition = np.arange(5).reshape(5, 1) % 2 == 0
    result = tw.where(tw.asarray(condition), tw.asarray(a), tw.asarray(b))
    assert result.dtype == dtype
    np.testing.assert_array_equal(result.numpy(), np.where(condition, a, b))


def test_where_with_a_condition_alone_gives_positions(cpu: str) -> None:
    x = tw.asarray([[0, 3], [4, 0]])
    rows, columns = tw.where(x > 0)
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [1, 0])
    with pytest.raises(DataError, match="one of x1 and x2 is missing"):
        tw.where(x > 0, x)  # type: ignore[call-overload]  # the mistake


def test_where_keeps_special_values_apart(device: str) -> None:
    a = np.array([np.nan, np.inf, -0.0, 1.0], np.float32)
    b = np.array([1.0, np.nan, np.inf, -0.0], np.float32)
    condition = np.array([False, True, True, False])
    result = tw.where(tw.asarray(condition), tw.asarray(a), tw.asarray(b)).numpy()
    expected = np.where(condition, a, b)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


@pytest.mark.parametrize(("device", "dtype"), STORED, indirect=["device"], ids=name_of)
def test_astype_to_every_dtype(device: str, dtype: DType) -> None:
    require(dtype, device)
    have = devices.backend(device).dtypes
    source = samples_to_cast(dtype)
    x = tw.asarray(source)
    targets = [other for other in NUMPYS if other.name in have]
    results = [tw.astype(x, other) for other in targets]
    realize([result.node for result in results])
    for result, other in zip(results, targets, strict=True):
        assert result.dtype == other
        expected = cast_reference(source, other)
        if other.kind == "float":
            right = source.astype(np.float64)
            error = float_error(result.numpy(), right, np.abs(right))
            assert error.max() <= 0.5
        else:
            np.testing.assert_array_equal(result.numpy(), expected)


def test_integer_overflow_wraps(device: str) -> None:
    large = tw.asarray([2**31 - 1, -(2**31)])
    np.testing.assert_array_equal((large + 1).numpy(), [-(2**31), 1 - 2**31])
    np.testing.assert_array_equal((large * 3).numpy(), [2**31 - 3, -(2**31)])
    np.testing.assert_array_equal((-large).numpy(), [1 - 2**31, -(2**31)])
    top = tw.asarray([2**32 - 1, 5], dtype=tw.uint32)
    np.testing.assert_array_equal((top + 7).numpy(), [6, 12])
    np.testing.assert_array_equal((top - 6).numpy(), [2**32 - 7, 2**32 - 1])


def test_division_by_zero(device: str) -> None:
    x = tw.asarray([1.0, -1.0, 0.0])
    np.testing.assert_array_equal((x / 0).numpy(), [np.inf, -np.inf, np.nan])
    n = tw.asarray([7, -7, 0])
    np.testing.assert_array_equal((n // 0).numpy(), [0, 0, 0])
    np.testing.assert_array_equal((n % 0).numpy(), [0, 0, 0])
    np.testing.assert_array_equal((n / 0).numpy(), [np.inf, -np.inf, np.nan])


def test_a_chain_equals_numpy(device: str) -> None:
    x = np.linspace(-2, 2, 35, dtype=np.float32).reshape(5, 7)
    t = tw.asarray(x)
    result = tw.where(t.T > 0, tw.exp(-(t.T**2)), t.T + t[0, :5]) * 2 - 1
    expected = np.where(x.T > 0, np.exp(-(x.T**2)), x.T + x[0, :5]) * 2 - 1
    np.testing.assert_allclose(result.numpy(), expected, rtol=2e-6, atol=1e-6)
