"""bfloat16: 16 bits that are the upper half of a float32, computed in float32."""

from __future__ import annotations

import io
import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elementwise_cases import ENTRIES, samples
from oracles import takes
from structure_cases import REDUCTIONS, STRUCTURES, inputs_of

import tensorweb as tw
from e2e.bare.op_runner import evaluate
from tensorweb import dtypes, hostdata
from tensorweb.errors import DTypeError, ExchangeError
from tensorweb.events import record_kernels
from tensorweb.graph.node import leaf
from tensorweb.graph.op import Op
from tensorweb.graph.storage import HostData

Array = np.ndarray[Any, Any]

PATTERNS = np.arange(2**16, dtype=np.uint16)


def of_bits(bits: Array, device: str) -> tw.Tensor:
    """Return the bfloat16 numbers with these bits."""
    data = HostData(bits.astype("<u2").tobytes())
    return tw.Tensor(leaf(data, bits.shape, tw.bfloat16, device))


def bits_of(x: tw.Tensor) -> Array:
    """Return the bits of bfloat16 numbers, all NaN as one."""
    assert x.dtype is tw.bfloat16
    return without_nan(x.numpy())


def without_nan(values: Array) -> Array:
    """Return the upper halves of float32 numbers, all NaN as one."""
    bits = values.astype(np.float32).view(np.uint32) >> 16
    return np.where(np.isnan(values), 0x7FC0, bits)


def rounded(values: Array) -> Array:
    """Return the bits of the nearest bfloat16, found by comparing both neighbours."""
    values, given = np.where(np.isfinite(values), values, np.float32(0)), values
    low = values.view(np.uint32) >> 16
    high = low + 1
    edges = [(each << 16).astype(np.uint32).view(np.float32) for each in (low, high)]
    wide = values.astype(np.float64)
    below, above = (each.astype(np.float64) for each in edges)
    # Infinity stands where the next number would be.
    above = np.where(np.isinf(above), np.copysign(2.0**128, wide), above)
    first, second = abs(wide - below), abs(above - wide)
    is_low = (first < second) | ((first == second) & (low % 2 == 0))
    result = np.where(is_low, low, high)
    infinite = np.where(given > 0, 0x7F80, 0xFF80)
    result = np.where(np.isinf(given), infinite, result)
    return np.where(np.isnan(given), 0x7FC0, result)


def hard_floats() -> Array:
    """Return float32 around ties, limits and subnormals, and random bits."""
    halves = PATTERNS.astype(np.uint32) << 16
    ties = np.concatenate([halves + offset for offset in (0x7FFF, 0x8000, 0x8001)])
    random = np.random.default_rng(3).integers(0, 2**32, 40_000, dtype=np.uint32)
    return np.concatenate([ties, random]).astype(np.uint32).view(np.float32)


def normal(*shape: int, seed: int = 0) -> Array:
    """Return numbers that bfloat16 holds, as float32."""
    drawn = np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)
    return (drawn.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def test_all_patterns_survive(anywhere: str) -> None:
    x = of_bits(PATTERNS, anywhere)
    expected = (PATTERNS.astype(np.uint32) << 16).view(np.float32)
    assert np.array_equal(x.numpy().view(np.uint32), expected.view(np.uint32))
    computed = tw.realize(x.astype(tw.float32)).astype(tw.bfloat16)
    assert np.array_equal(bits_of(tw.realize(computed)), without_nan(expected))
    moved = tw.realize(tw.flip(x))
    assert np.array_equal(bits_of(moved), without_nan(expected)[::-1])


def test_float32_rounds_to_the_nearest(anywhere: str) -> None:
    values = hard_floats()
    found = tw.realize(tw.asarray(values, device=anywhere).astype(tw.bfloat16))
    assert np.array_equal(bits_of(found), rounded(values))
    # A cast in the middle of a kernel rounds as well.
    wide = tw.asarray(values, device=anywhere).astype(tw.bfloat16).astype(tw.float32)
    assert np.array_equal(without_nan(wide.numpy()), rounded(values))


def test_float64_rounds_once(anywhere: str) -> None:
    near_ties = [1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8 - 2.0**-40, 3e38, 1e39, -1e-60]
    near_ties += [2.0**-133 * (0.5 + 2.0**-30), 0.0, math.inf]
    expected = [dtypes.rounded_to(value, tw.bfloat16) for value in near_ties]
    assert expected[:2] == [1 + 2.0**-7, 1.0]
    assert tw.asarray(near_ties, dtype=tw.bfloat16).tolist() == expected
    if anywhere == "cpu":
        found = tw.asarray(near_ties, dtype=tw.float64).astype(tw.bfloat16)
        assert found.tolist() == expected


def test_python_rounds_as_devices_do() -> None:
    values = hard_floats()[::7]
    packed = hostdata.pack(values.tolist(), tw.bfloat16, values.shape)
    found = np.frombuffer(hostdata.widened(packed), np.float32)
    assert np.array_equal(without_nan(found), rounded(values))


@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 7, 64, 1001])
def test_lengths_and_views(length: int, anywhere: str) -> None:
    host = normal(length)
    x = tw.asarray(host, dtype=tw.bfloat16, device=anywhere)
    assert x.numpy().tolist() == host.tolist()
    for part in (slice(1, None), slice(None, None, 2), slice(-3, -1)):
        assert (x[part] * 2).numpy().tolist() == (host[part] * 2).tolist()
        assert x[part].numpy().tolist() == host[part].tolist()
    assert (
        x.sum().item()
        == tw.asarray(host, device=anywhere).sum().astype(tw.bfloat16).item()
    )


def test_neighbours_of_written_elements_stay(anywhere: str) -> None:
    host = normal(9)
    x = tw.asarray(host, dtype=tw.bfloat16, device=anywhere)
    for index in range(9):  # both halves of each word
        x[index] = float(index)
        host[index] = index
        assert x.numpy().tolist() == host.tolist()
    at = tw.asarray([8, 0, 3, 2, 5], device=anywhere)
    x[at] = tw.asarray([-1.0, -2.0, -3.0, -4.0, -5.0], dtype=tw.bfloat16)
    host[[8, 0, 3, 2, 5]] = [-1, -2, -3, -4, -5]
    assert x.numpy().tolist() == host.tolist()
    x = x.at[tw.asarray([1, 1, 2, 7] * 50, device=anywhere)].add(1.0)
    host[[1, 2, 7]] += [100, 50, 50]
    assert x.numpy().tolist() == host.tolist()


def test_totals_are_rounded_once(anywhere: str) -> None:
    x = tw.ones(1000, dtype=tw.bfloat16, device=anywhere)
    assert x.sum().item() == 1000  # adding ones in bfloat16 ends at 256
    assert x.sum().dtype is tw.bfloat16
    assert x.mean().item() == 1
    assert tw.cumulative_sum(x)[-1].item() == 1000
    zeros = tw.zeros(1, dtype=tw.bfloat16, device=anywhere)
    at = tw.zeros(1000, dtype=tw.int32, device=anywhere)
    assert zeros.at[at].add(x).item() == 1000


OWN_STEPS = "nextafter"

FLOAT_ENTRIES = [
    op for op in ENTRIES if takes(op.name, tw.bfloat16) and op.name != OWN_STEPS
]


@pytest.mark.parametrize("op", FLOAT_ENTRIES, ids=lambda op: op.name)
def test_entries_compute_in_float32(op: Op, anywhere: str) -> None:
    inputs = [
        tw.asarray(each, device=anywhere).astype(tw.bfloat16)
        for each in samples(op, tw.float32)
    ]
    tw.realize(*inputs)
    function = getattr(tw, op.name)
    found = function(*inputs)
    wide = function(*[x.astype(tw.float32) for x in inputs])
    if wide.dtype is not tw.float32:
        assert found.dtype is wide.dtype
        assert np.array_equal(found.numpy(), wide.numpy())
        return
    expected = rounded(tw.realize(wide).numpy().astype(np.float32))
    assert np.array_equal(bits_of(tw.realize(found)), expected)


NOT_ALIKE = ("cholesky", "solve")
"""Rows with an operand that is rounded before, or that is float32."""

ROWS = [
    row
    for row in (*STRUCTURES, *REDUCTIONS)
    if not row.dtypes or "float32" in row.dtypes
    if not any(word in row.code for word in NOT_ALIKE)
]


def test_structures_and_reductions(anywhere: str) -> None:
    host = inputs_of("float32")
    narrow = {name: tw.asarray(x, device=anywhere) for name, x in host.items()}
    for name, x in narrow.items():
        if x.dtype is tw.float32:
            narrow[name] = tw.realize(x.astype(tw.bfloat16))
    wide = {
        name: x.astype(tw.float32) if x.dtype is tw.bfloat16 else x
        for name, x in narrow.items()
    }
    # Software adapters take a second for each kernel.
    for row in ROWS[::9] if anywhere == "webgpu" else ROWS:
        found, right = (evaluate(row.code, tw, each) for each in (narrow, wide))
        got, exact = found.numpy(), right.numpy()
        assert got.shape == exact.shape, row.code
        if right.dtype is not tw.float32:
            assert np.array_equal(got, exact), row.code
            continue
        finite = np.isfinite(exact)
        assert np.array_equal(got[~finite], exact[~finite], equal_nan=True), row.code
        size = np.abs(exact[finite])
        error = np.abs(got[finite] - exact[finite])
        assert np.all(error <= 2.0**-7 * size + 2.0**-8 * size.max(initial=0)), row.code


def test_nextafter_steps_to_the_next_pattern(anywhere: str) -> None:
    finite = PATTERNS[:0x7F80]
    x = of_bits(finite, anywhere)
    infinity = tw.full((), math.inf, dtype=tw.bfloat16, device=anywhere)
    assert np.array_equal(bits_of(tw.nextafter(x, infinity)), finite + 1)
    down = bits_of(tw.nextafter(x[1:], -infinity))
    assert np.array_equal(down, finite[:-1])


PAIRS = {
    "bfloat16": "bfloat16",
    "float16": "float32",
    "float32": "float32",
    "float64": "float64",
    "bool": "bfloat16",
    "int8": "bfloat16",
    "int32": "bfloat16",
    "uint64": "bfloat16",
    "complex64": "complex64",
}


@pytest.mark.parametrize("other", PAIRS)
def test_promotion_is_jaxs(other: str, cpu: str) -> None:
    x, y = tw.ones(2, dtype=tw.bfloat16), tw.ones(2, dtype=other)
    assert (x + y).dtype == PAIRS[other]
    assert (y * x).dtype == PAIRS[other]
    assert tw.result_type(tw.bfloat16, y) == PAIRS[other]


def test_numbers_adopt_it(anywhere: str) -> None:
    x = tw.asarray([1.0, 2.0], dtype=tw.bfloat16, device=anywhere)
    for result in (x + 1, 2.5 * x, x**2, x / 3, -x, x.sqrt(), True * x):
        assert result.dtype is tw.bfloat16
    assert (x + 0.1).tolist() == [1.1015625, 2.09375]
    assert (x == 1).tolist() == [True, False]
    assert (x * 1j).dtype is tw.complex64
    assert (x // 2).tolist() == [0.0, 1.0]


def close(found: tw.Tensor, exact: Array, terms: Array | float = 1.0) -> None:
    """Check a result of sums that float32 computes and bfloat16 stores."""
    assert found.dtype is tw.bfloat16
    error = np.abs(found.numpy().astype(np.float64) - exact)
    assert np.all(error <= 2.0**-8 * np.abs(exact) * 1.01 + 1e-5 * np.abs(terms))


SHAPES = [(1, 1, 1), (3, 5, 7), (33, 17, 9), (64, 128, 64), (1, 300, 5)]


@pytest.mark.parametrize(("rows", "depth", "columns"), SHAPES)
def test_products(rows: int, depth: int, columns: int, anywhere: str) -> None:
    a, b = normal(rows, depth), normal(depth, columns, seed=1)
    left = tw.asarray(a, dtype=tw.bfloat16, device=anywhere)
    right = tw.asarray(b, dtype=tw.bfloat16, device=anywhere)
    exact = a.astype(np.float64) @ b
    close(left @ right, exact, depth)
    close(right.T @ left.T, exact.T, depth)
    close(tw.einsum("ij,jk->", left, right), exact.sum(), depth * rows)


def test_convolution_and_pooling(anywhere: str) -> None:
    image = tw.asarray(normal(2, 3, 9, 7), dtype=tw.bfloat16, device=anywhere)
    kernel = tw.asarray(normal(5, 3, 3, 3), dtype=tw.bfloat16, device=anywhere)
    wide = tw.conv2d(image.astype(tw.float32), kernel.astype(tw.float32), padding=1)
    found = tw.conv2d(image, kernel, padding=1)
    close(found, wide.numpy().astype(np.float64), 10)
    pooled = tw.avg_pool2d(image, 2)
    close(pooled, tw.avg_pool2d(image.astype(tw.float32), 2).numpy())


def test_order(anywhere: str) -> None:
    host = np.concatenate([normal(1000), [math.inf, -math.inf, 0.0]])
    x = tw.asarray(host, dtype=tw.bfloat16, device=anywhere)
    assert tw.sort(x).tolist() == sorted(host.tolist())
    assert tw.sort(x, descending=True).tolist() == sorted(host.tolist(), reverse=True)
    assert tw.argsort(x).tolist() == np.argsort(host, kind="stable").tolist()
    assert tw.argmax(x).item() == 1000
    assert tw.max(x[:1000]).item() == host[:1000].max()
    patterns = of_bits(PATTERNS, anywhere)
    expected = np.sort((PATTERNS.astype(np.uint32) << 16).view(np.float32))
    assert np.array_equal(tw.sort(patterns).numpy(), expected, equal_nan=True)


def test_transformations(anywhere: str) -> None:
    x = tw.asarray(normal(4, 6), dtype=tw.bfloat16, device=anywhere)
    gradient = tw.grad(lambda v: (v * v).sum())(x)
    assert gradient.dtype is tw.bfloat16
    assert gradient.tolist() == (2 * x).tolist()
    by_row = tw.vmap(lambda row: row.max() - row.min())(x)
    assert by_row.tolist() == (x.max(axis=1) - x.min(axis=1)).tolist()
    compiled = tw.jit(lambda v: tw.exp(v) + 1)
    for _ in range(3):
        assert compiled(x).tolist() == (tw.exp(x) + 1).tolist()
    assert tw.linalg.inv(x[:3, :3] + 5 * tw.eye(3, dtype=tw.bfloat16)).dtype is (
        tw.bfloat16
    )


def test_a_model_learns(device: str) -> None:
    model = tw.nn.Linear(3, 1).to(dtype=tw.bfloat16)
    assert {p.dtype for p in model.parameters()} == {tw.bfloat16}
    optimizer = tw.optim.Adam(model.parameters(), lr=0.05)
    x = tw.asarray(normal(32, 3), dtype=tw.bfloat16)
    y = x.sum(axis=1, keepdims=True)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.05 * losses[0]
    assert {p.dtype for p in model.parameters()} == {tw.bfloat16}


KERNELS = {
    "x + 1": ["elementwise"],
    "x.sum()": ["reduce", "elementwise"],
    "tw.cumulative_sum(x)": ["scan", "elementwise"],
}


@pytest.mark.parametrize("code", KERNELS)
def test_kernels_that_ran(code: str, webgpu: str) -> None:
    x = tw.realize(tw.ones(1001, dtype=tw.bfloat16))
    with record_kernels() as ran:
        tw.realize(eval(code, {"x": x, "tw": tw}))
    assert [each.kind for each in ran] == KERNELS[code]


def test_words_and_limits() -> None:
    limits = tw.finfo(tw.bfloat16)
    assert limits.max == 3.3895313892515355e38
    assert (limits.eps, limits.bits, limits.iexp) == (2.0**-7, 16, 8)
    assert limits.smallest_normal == 2.0**-126
    assert limits.smallest_subnormal == 2.0**-133
    assert tw.bfloat16 == "bfloat16"
    assert tw.bfloat16.itemsize == 2
    assert tw.isdtype(tw.bfloat16, "real floating")
    assert tw.ones(3, dtype="bfloat16").nbytes == 6
    assert tw.can_cast(tw.bfloat16, tw.float32)
    assert not tw.can_cast(tw.bfloat16, tw.float16)
    with pytest.raises(DTypeError, match="bfloat16"):
        tw.iinfo(tw.bfloat16)


def test_printing(anywhere: str) -> None:
    x = tw.asarray([1.0, 0.1, -3.140625], dtype=tw.bfloat16, device=anywhere)
    assert repr(x) == "tensor([ 1.  ,  0.1 , -3.14], dtype=bfloat16)"
    assert repr(x[1]) == "tensor(0.1, dtype=bfloat16)"
    assert repr(x[:0]) == "tensor([], dtype=bfloat16)"
    assert str(tw.asarray([256.0, 0.5], dtype=tw.bfloat16)) == "[256.    0.5]"


@pytest.mark.parametrize("shape", [(5,), (0, 2), (), (3, 7)])
@pytest.mark.parametrize("suffix", ["safetensors", "npy", "npz"])
def test_files(suffix: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    x = tw.asarray(normal(*shape), dtype=tw.bfloat16)
    path = tmp_path / f"x.{suffix}"
    tw.save(path, x if suffix == "npy" else {"x": x})
    found = tw.load(path)
    found = found if suffix == "npy" else found["x"]
    assert found.dtype is tw.bfloat16
    assert found.shape == shape
    assert found.tolist() == x.tolist()
    if suffix == "safetensors":
        data = path.read_bytes()
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        assert header["x"]["dtype"] == "BF16"
        assert len(data) - 8 - int.from_bytes(data[:8], "little") == x.nbytes


def fp8_number(code: int, word: str) -> float:
    """Return what a code means, by the tables of the specification OFP8 of OCP."""
    sign = -1.0 if code & 0x80 else 1.0
    rest = code & 0x7F
    if word == "F8_E4M3":
        if rest == 0x7F:
            return math.nan
        exponent, fraction = rest >> 3, (rest & 7) / 8
        bias = 7
    else:
        if rest >= 0x7C:
            return sign * math.inf if rest == 0x7C else math.nan
        exponent, fraction = rest >> 2, (rest & 3) / 4
        bias = 15
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias)
    return sign * (1 + fraction) * 2.0 ** (exponent - bias)


def fp8_file(word: str, codes: bytes) -> io.BytesIO:
    entry = {"dtype": word, "shape": [len(codes)], "data_offsets": [0, len(codes)]}
    header = json.dumps({"x": entry}).encode()
    return io.BytesIO(struct.pack("<Q", len(header)) + header + codes)


@pytest.mark.parametrize("word", ["F8_E4M3", "F8_E5M2"])
def test_all_codes_of_fp8_are_read(word: str, device: str) -> None:
    found = tw.load(fp8_file(word, bytes(range(256))))["x"]
    assert found.dtype is tw.bfloat16
    expected = [fp8_number(code, word) for code in range(256)]
    got = found.tolist()
    assert str(got) == str([math.nan if math.isnan(e) else e for e in expected])
    largest = {"F8_E4M3": 448.0, "F8_E5M2": 57344.0}[word]
    assert max(value for value in got if math.isfinite(value)) == largest


def test_a_long_fp8_tensor_is_read_when_needed(tmp_path: Path, cpu: str) -> None:
    codes = np.random.default_rng(5).integers(0, 120, (1 << 20) + 3, np.uint8)
    path = tmp_path / "long.safetensors"
    path.write_bytes(fp8_file("F8_E4M3", codes.tobytes()).getvalue())
    x = tw.load(path)["x"]
    assert x[-3:].tolist() == [fp8_number(int(c), "F8_E4M3") for c in codes[-3:]]
    assert x[:2].tolist() == [fp8_number(int(c), "F8_E4M3") for c in codes[:2]]


def test_arrays_of_numpy(anywhere: str) -> None:
    host = normal(3, 5)
    x = tw.asarray(host, dtype=tw.bfloat16, device=anywhere)
    assert x.numpy().dtype == np.float32
    assert np.array_equal(np.asarray(x), host)
    large = np.asarray([1.01, 1e39, -2.0])
    assert tw.asarray(large, dtype=tw.bfloat16).tolist() == [1.0078125, math.inf, -2.0]
    assert tw.asarray(np.arange(3), dtype=tw.bfloat16).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ExchangeError, match=r"bfloat16; export x\.astype\(tw.float32"):
        np.from_dlpack(x)


class Foreign:
    """An array of bfloat16 as ml_dtypes and JAX have it: bits, and a dtype's name."""

    dtype = "bfloat16"

    def __init__(self, bits: Array) -> None:
        self.bits = bits
        self.shape = bits.shape

    def view(self, dtype: str) -> Array:
        """Return the bits as integers."""
        return self.bits.view(dtype)

    def __len__(self) -> int:
        return len(self.bits)

    def __dlpack__(self) -> None:
        raise BufferError("no bfloat16")

    def __array__(self, *_: object) -> Array:
        return self.bits.view("V2")


def test_arrays_of_other_libraries(anywhere: str) -> None:
    x: Any = Foreign(np.array([0x3F80, 0xC020], np.uint16))
    found = tw.asarray(x, device=anywhere)
    assert found.dtype is tw.bfloat16
    assert found.tolist() == [1.0, -2.5]
    assert tw.from_dlpack(x).tolist() == [1.0, -2.5]
    assert tw.asarray(x, dtype=tw.float32).tolist() == [1.0, -2.5]
    assert tw.asarray(x, dtype=tw.int32).tolist() == [1, -2]


def test_integers_round_once(anywhere: str) -> None:
    bits = (32, 64) if anywhere == "cpu" else (32,)
    for dtype, high in [
        (f"{kind}{n}", n - 1) for kind in ("int", "uint") for n in bits
    ]:
        for top in (24, 30, high - dtype.startswith("int")):
            # Just above, at and just below the middle of two bfloat16.
            middle = 2**top + 2 ** (top - 8)
            numbers = [middle + 1, middle, middle - 1, 2**top + 3, 3]
            answers = [2**top + 2 ** (top - 7), *[2**top] * 3, 3]
            if dtype.startswith("int"):
                numbers += [-number for number in numbers]
                answers += [-answer for answer in answers]
            x = tw.asarray(numbers, dtype=dtype)
            assert x.astype("bfloat16").tolist() == answers, dtype
            assert [n.astype("bfloat16").item() for n in x] == answers, dtype
