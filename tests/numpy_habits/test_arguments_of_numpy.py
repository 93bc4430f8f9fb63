"""Arguments that NumPy's functions and methods take, compared with NumPy."""

from __future__ import annotations

import io
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb.errors import DataError, DTypeError, RangeError

COMPARISONS = [
    *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
]


@pytest.mark.filterwarnings("ignore::tensorweb.errors.NarrowedDataWarning")
@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("number", [-1, 300, -(2**40), 2**70])
def test_integers_beyond_the_range_compare(
    compare: Callable[[Any, Any], Any], number: int, device: str
) -> None:
    for dtype in ("uint32", "int32"):
        own, host = np.array([0, 1, 5], dtype), numpy.array([0, 1, 5], dtype)
        assert compare(own, number).tolist() == compare(host, number).tolist()
        assert compare(number, own).tolist() == compare(number, host).tolist()
        if abs(number) < 2**63:
            wide = numpy.int64(number)
            assert compare(own, wide).tolist() == compare(host, wide).tolist()
            assert compare(wide, own).tolist() == compare(wide, host).tolist()


@pytest.mark.filterwarnings("ignore::tensorweb.errors.NarrowedDataWarning")
@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_unsigned_arrays_compare_with_signed_tensors(
    compare: Any, dtype: str, device: str
) -> None:
    signed, unsigned = [-1, 0, 7, -1, 5], [2**32 - 1, 0, 7, 0, 2**31]
    host, wide = numpy.array(signed), numpy.array(unsigned, dtype)
    own, other = np.array(signed, "int32"), np.array(wide.astype("uint32"))
    for found in (compare(own, wide), compare(own, other)):
        assert found.tolist() == compare(host, wide).tolist()
    assert compare(other, own).tolist() == compare(wide, host).tolist()
    assert np.isin(own, wide).tolist() == [False, True, True, False, False]


def test_integers_beyond_the_range_are_no_operands() -> None:
    with pytest.raises(RangeError, match="does not fit"):
        np.array([1], "uint32") + -1


@pytest.mark.parametrize("compare", COMPARISONS)
def test_uint64_compares_with_signed_integers(compare: Any) -> None:
    signed = [-1, 0, 2**62, -(2**63), 2**63 - 1]
    unsigned = [2**64 - 1, 0, 2**62, 2**63, 2**63 - 1]
    own = np.array(signed, "int64", device="cpu")
    other = np.array(unsigned, "uint64", device="cpu")
    host, wide = numpy.array(signed, "int64"), numpy.array(unsigned, "uint64")
    assert compare(own, other).tolist() == compare(host, wide).tolist()
    assert compare(other, own).tolist() == compare(wide, host).tolist()
    small = np.array([-1, 3], "int8", device="cpu")
    assert (small == np.array([255, 3], "uint64", device="cpu")).tolist() == [
        False,
        True,
    ]


@pytest.mark.parametrize("limits", [(-1, 300), (-1, 129), (5, 2**70), (None, 256)])
def test_clip_takes_limits_beyond_the_range(limits: tuple[Any, Any]) -> None:
    host = numpy.arange(0, 256, 15, dtype="uint8")
    own = np.array(host, device="cpu")
    high = min(limits[1], 255)
    expected = numpy.clip(host, None if limits[0] is None else max(limits[0], 0), high)
    assert np.clip(own, *limits).tolist() == expected.tolist()
    assert own.clip(*limits).tolist() == expected.tolist()


def test_clip_takes_limits_once() -> None:
    with pytest.raises(DataError, match="twice"):
        np.clip([1, 2], 1, 2, min=1)


METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, m: x.sum(0, initial=2, where=m),
    "sum dtype": lambda x, m: x.sum(0, "float32"),
    "prod": lambda x, m: x.prod(axis=1, initial=3),
    "max": lambda x, m: x.max(initial=9),
    "min": lambda x, m: x.min(axis=0, initial=9, where=m),
    "mean": lambda x, m: x.mean(axis=0, where=m),
    "var": lambda x, m: x.var(axis=1, mean=x.mean(axis=1, keepdims=True)),
    "std": lambda x, m: x.std(axis=1, ddof=1, where=m),
    "any": lambda x, m: x.any(axis=0, where=m),
    "all": lambda x, m: x.all(axis=0, where=m),
    "ravel K": lambda x, m: x.ravel("K"),
    "ravel F": lambda x, m: x.ravel("F"),
    "flatten": lambda x, m: x.flatten(order="F"),
    "flatten C": lambda x, m: x.flatten("C"),
    "reshape F": lambda x, m: x.reshape((3, 2), order="F"),
    "copy": lambda x, m: x.copy("C"),
    "take": lambda x, m: x.take([1, 7, -9], mode="wrap"),
    "take clip": lambda x, m: x.take([1, 7], axis=1, mode="clip"),
    "astype": lambda x, m: x.astype(dtype="int32", casting="unsafe", copy=False),
    "item": lambda x, m: x.item(1, 2),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_numpys_arguments(name: str, device: str) -> None:
    host = numpy.array([[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]], "float32")
    mask = numpy.array([[True, False, True], [True, True, False]])
    expected = METHODS[name](host, mask)
    found = METHODS[name](np.array(host), np.array(mask))
    numpy.testing.assert_allclose(numpy.asarray(found), expected, rtol=1e-6)


WRITTEN: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, y: x.sum(0, out=y),
    "max": lambda x, y: x.max(0, y),
    "mean": lambda x, y: x.mean(0, out=y),
    "std": lambda x, y: x.std(0, out=y),
    "take": lambda x, y: x.take([0, 1, 2], out=y),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_methods_write_into_out(name: str, device: str) -> None:
    host = numpy.array([[1.0, 5.0, 2.0], [4.0, 0.0, 3.0]], "float32")
    expected = WRITTEN[name](host, numpy.empty(3, "float32"))
    y = np.zeros(3)
    assert WRITTEN[name](np.array(host), y) is y
    numpy.testing.assert_allclose(y.numpy(), expected, rtol=1e-6)


def test_clip_and_round_write_into_out() -> None:
    x = np.array([1.26, 9.0])
    assert x.clip(2, 4, out=x) is x
    assert x.tolist() == [2, 4]
    assert np.array([1.26]).round(1, np.zeros(1)).tolist() == pytest.approx([1.3])


def test_astype_keeps_to_a_rule_of_casting() -> None:
    with pytest.raises(DTypeError, match="casting='safe'"):
        np.ones(2).astype(int, casting="safe")
    x = np.ones(2, "int32", device="cpu")
    assert x.astype("float64", casting="safe", copy=True).ndim == 1


def test_joining_keeps_to_a_rule_of_casting() -> None:
    parts = [np.ones(2, "float32"), np.zeros(1, "float32")]
    for join in (np.concatenate, np.hstack, np.vstack, np.stack):
        given = parts[:1] * 2
        with pytest.raises(DTypeError, match="casting='same_kind'"):
            join(given, dtype="int32")
        assert join(given, dtype="int32", casting="unsafe").dtype == "int32"
    with pytest.raises(DTypeError, match="dtype already"):
        np.concatenate(parts, out=np.zeros(3), dtype="float32")


def test_nothing_to_put_changes_nothing() -> None:
    x = np.arange(3)
    np.put(x, [0, 1], [])
    np.putmask(x, x > 0, [])
    assert x.tolist() == [0, 1, 2]


@pytest.mark.parametrize("length", [0, 1, 2, 5, 5.5, 5.25, 0.5, -1, True])
@pytest.mark.parametrize("name", ["hanning", "hamming", "blackman", "bartlett"])
def test_windows_take_floats(name: str, length: float) -> None:
    expected = getattr(numpy, name)(length)
    numpy.testing.assert_allclose(getattr(np, name)(length), expected, atol=1e-6)


@pytest.mark.parametrize("length", [0, 1, 2, 5])
def test_kaiser(length: float) -> None:
    expected = numpy.kaiser(length, 3)
    numpy.testing.assert_allclose(np.kaiser(length, 3), expected, atol=1e-6)


@pytest.mark.parametrize("trim", ["fb", "f", "b"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1, ()])
def test_trim_zeros_along_axes(trim: str, axis: Any) -> None:
    host = numpy.zeros((4, 5), "float32")
    host[1, 2], host[2, 3] = 1, 2
    found = np.trim_zeros(np.array(host), trim, axis=axis)
    assert found.tolist() == numpy.trim_zeros(host, trim, axis=axis).tolist()


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(2, 1), (3, 4)]),
        ("ij,ij->i", [(2, 3), (2, 1)]),
        ("i,i", [(1,), (4,)]),
        ("ijk,k->ij", [(2, 1, 3), (3,)]),
        ("ij,j,j->i", [(2, 1), (3,), (1,)]),
        ("...i,i->...", [(2, 1), (3,)]),
    ],
)
def test_einsum_broadcasts_letters_of_length_1(
    subscripts: str, shapes: list[tuple[int, ...]], device: str
) -> None:
    given = [
        numpy.arange(1, 1 + numpy.prod(shape), dtype="float32").reshape(shape)
        for shape in shapes
    ]
    found = np.einsum(subscripts, *map(np.array, given))
    numpy.testing.assert_allclose(found, numpy.einsum(subscripts, *given), rtol=1e-6)


def test_memory_is_shared_by_views() -> None:
    x = np.zeros((4, 3))
    assert np.shares_memory(x, x[1:])
    assert np.shares_memory(x[:2], x[1:])
    assert not np.shares_memory(x[:2], x[2:])
    assert np.may_share_memory(x[:, 0], x[:, 1])
    assert not np.shares_memory(x[:, 0], x[:, 1])
    assert not np.may_share_memory(x, x.copy())
    assert not np.may_share_memory(x, numpy.zeros(3))


def test_numbers_know_whether_they_are_whole() -> None:
    assert np.float32(2).is_integer()
    assert np.int32(2).is_integer()
    assert not np.float32(2.5).is_integer()
    assert np.float32(0.75).as_integer_ratio() == (3, 4)
    assert np.int32(-7).bit_count() == 3


LOADED: dict[str, tuple[str, dict[str, Any]]] = {
    "quotes": ('"1","2"\n3,4\n', {"delimiter": ",", "quotechar": '"'}),
    "column": ("a 1\nb 2\n", {"usecols": (1,)}),
    "last column": ("a 1\nb 2\n", {"usecols": -1, "dtype": "int32"}),
    "converter": ("1 2\n3 4\n", {"converters": {0: lambda word: 10 * float(word)}}),
    "for all": ("1 2\n3 4\n", {"converters": lambda word: -float(word)}),
    "comments": ("1 2 // x\n% y\n3 4\n", {"comments": ["//", "%"]}),
    "rows": ("x\n1 2\n3 4\n5 6\n", {"skiprows": 1, "max_rows": 2}),
    "axes": ("1\n2\n", {"ndmin": 2}),
    "unpack": ("1 2 3\n4 5 6\n", {"unpack": True}),
    "complex": ("1+2j 3\n", {"dtype": "complex64"}),
}


@pytest.mark.parametrize("name", LOADED)
def test_loadtxt_takes_numpys_arguments(name: str) -> None:
    text, options = LOADED[name]
    expected = numpy.loadtxt(io.StringIO(text), **options)
    found = np.loadtxt(io.StringIO(text), **options)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("1.5\n", {"dtype": "int32"}),
        ("1_000\n", {}),
        ("1 2\n3\n", {}),
        ("1 x\n", {}),
        ("300\n", {"dtype": "uint8"}),
    ],
)
def test_loadtxt_refuses_text_that_is_no_number(
    text: str, options: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"."):
        numpy.loadtxt(io.StringIO(text), **options)
    with pytest.raises(DataError, match="loadtxt"):
        np.loadtxt(io.StringIO(text), **options)


GENERATED: dict[str, tuple[str, dict[str, Any]]] = {
    "missing": ("1,,3\n4,x,6\n", {"delimiter": ","}),
    "marks": ("1 N/A\n3 4\n", {"missing_values": "N/A", "filling_values": -9}),
    "by column": ("1,,\n4,5,\n", {"delimiter": ",", "filling_values": {1: 7, 2: 8}}),
    "header": ("a b\n1 2\n3 4\n5 6\n", {"skip_header": 1, "skip_footer": 1}),
    "widths": (" 1 2 3\n 4 5 6\n", {"delimiter": 2}),
    "width of each": ("1234\n5678\n", {"delimiter": (1, 3)}),
    "column": ("a 1\nb 2\n", {"usecols": 1}),
    "dtype": ("1 2\n3 4\n", {"dtype": None}),
    "converter": ("1% 2\n3% 4\n", {"converters": {0: lambda s: float(s.strip("%"))}}),
}


@pytest.mark.parametrize("name", GENERATED)
def test_genfromtxt_takes_numpys_arguments(name: str) -> None:
    text, options = GENERATED[name]
    expected = numpy.genfromtxt(io.StringIO(text), encoding="utf-8", **options)
    found = np.genfromtxt(io.StringIO(text), encoding="utf-8", **options)
    numpy.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("ending", [".txt", ".txt.gz", ".txt.bz2", ".txt.xz"])
def test_text_is_compressed_by_its_name(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{ending}"
    np.savetxt(path, [[1, 2], [3, 4]], fmt="%d", header="one\ntwo")
    assert numpy.loadtxt(path).tolist() == [[1, 2], [3, 4]]
    assert np.loadtxt(path).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "options", [{}, {"fmt": "%.2f"}, {"fmt": "%d", "footer": "end"}, {"newline": ";\n"}]
)
@pytest.mark.parametrize("value", [[1.5, 2], [[1, 2], [3, 4]], [1 - 2j, 3]])
def test_savetxt_writes_the_bytes_of_numpy(
    value: list[Any], options: dict[str, Any]
) -> None:
    if isinstance(value[0], complex) and options.get("fmt") == "%d":
        pytest.skip("NumPy has no such format for parts")
    expected, found = io.StringIO(), io.StringIO()
    numpy.savetxt(expected, value, **options)
    np.savetxt(found, value, **options)
    assert found.getvalue() == expected.getvalue()


def test_bytes_of_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    np.arange(4).tofile(path)
    assert np.fromfile(path, dtype="int32").tolist() == [0, 1, 2, 3]
    assert np.fromfile(path, "int32", count=2, offset=4).tolist() == [1, 2]
    assert np.fromstring("1, 2,3", sep=",").tolist() == [1, 2, 3]
    assert np.fromstring("1 2\n3", dtype=int, sep=" ").dtype is tw.int32


@pytest.mark.parametrize(
    "signature", ["ff->f", "dd->d", ("f", None, "f"), "qq->q", (None, None, "d")]
)
def test_ufuncs_take_a_signature(signature: Any) -> None:
    x, y = [1, 2, 3], [4, 5, 6]
    expected = numpy.add(x, y, signature=signature)
    own = [np.array(value, "int64", device="cpu") for value in (x, y)]
    assert np.add(*own, signature=signature).tolist() == expected.tolist()
    assert np.add(*own, sig=signature).dtype == expected.dtype.name
    with pytest.raises(DataError, match="signature"):
        np.add(*own, signature="f->f")


def test_ufuncs_broadcast_to_out() -> None:
    y = np.zeros((2, 3))
    assert np.add(1, [1, 2, 3], out=y) is y
    assert y.tolist() == [[2, 3, 4], [2, 3, 4]]


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
def test_lengths_of_transforms_may_be_none(name: str) -> None:
    host = numpy.arange(24.0, dtype="float32").reshape(2, 3, 4)
    axes = (0, 1, 2)
    expected = getattr(numpy.fft, name)(host, s=(4, 3, 6), axes=axes)
    found = getattr(np.fft, name)(np.array(host), s=(4, None, 6), axes=axes)
    numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rule", ["doane", "stone"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rules_for_bins(rule: str, seed: int) -> None:
    drawn = numpy.random.default_rng(seed).gamma(2.0, size=60).astype("float32")
    expected = numpy.histogram_bin_edges(drawn, bins=rule)
    found = np.histogram_bin_edges(np.array(drawn), bins=rule)
    numpy.testing.assert_allclose(found, expected, rtol=1e-5)
    expected = numpy.histogram_bin_edges(drawn, bins=rule, range=(0.5, 9))
    found = np.histogram_bin_edges(np.array(drawn), bins=rule, range=(0.5, 9))
    numpy.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint32", "int32", "uint64"])
@pytest.mark.parametrize("ends", [(0, 120), (100, 3), (7, 7)])
def test_ramps_of_whole_numbers_never_wrap_around(
    dtype: str, ends: tuple[int, int]
) -> None:
    host = numpy.array([5, 120, 90], dtype)
    expected = numpy.pad(host, 13, mode="linear_ramp", end_values=ends)
    own = np.array(host, device="cpu")
    found = np.pad(own, 13, mode="linear_ramp", end_values=ends)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("axis", [0, 1, (1, 0), (0, 1)])
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_with_weights(name: str, axis: Any) -> None:
    host = numpy.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], "float32")
    if name == "nanquantile":
        host[1, 1] = numpy.nan
    weights = numpy.array([[1.0, 2.0, 0.0], [1.0, 3.0, 2.0]], "float32")
    options: dict[str, Any] = {"axis": axis, "method": "inverted_cdf"}
    whole = getattr(numpy, name)(host, [0.3, 0.8], weights=weights, **options)
    found = getattr(np, name)(np.array(host), [0.3, 0.8], weights=weights, **options)
    numpy.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("axis", [0, 1])
def test_quantiles_with_a_weight_per_index_of_an_axis(axis: int) -> None:
    host = numpy.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]], "float32")
    weights = numpy.array([1.0, 3.0, 2.0][: host.shape[axis]], "float32")
    options: dict[str, Any] = {"axis": axis, "method": "inverted_cdf"}
    expected = numpy.quantile(host, 0.4, weights=weights, **options)
    found = np.quantile(np.array(host), 0.4, weights=weights, **options)
    numpy.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("columns", [1, 2])
def test_polyfit_gives_covariances_and_errors(columns: int) -> None:
    x = numpy.array([0.0, 1.0, 2.0, 3.0, 5.0])
    y = numpy.array([[1.0, 2.0], [3.0, 1.0], [2.0, 0.0], [5.0, 4.0], [7.0, 3.0]])
    y = y[:, 0] if columns == 1 else y
    own = [np.array(each, "float64", device="cpu") for each in (x, y)]
    for cov in (True, "unscaled"):
        expected = numpy.polyfit(x, y, 2, cov=cov)
        for found, each in zip(np.polyfit(*own, 2, cov=cov), expected, strict=True):
            numpy.testing.assert_allclose(found, each, rtol=1e-8)
    full, host = np.polyfit(*own, 2, full=True), numpy.polyfit(x, y, 2, full=True)
    for found, each in zip(full, host, strict=True):
        numpy.testing.assert_allclose(numpy.ravel(found), numpy.ravel(each), rtol=1e-8)


def test_numbers_without_axes_are_scalars() -> None:
    assert np.isscalar(np.float32(1))
    assert np.isscalar(np.ones(3).sum())
    assert not np.isscalar(np.ones(3))


def test_parts_of_complex_numbers_after_a_write(device: str) -> None:
    x = np.ones((2, 4)) + 1j * np.ones((2, 4))
    x[0, :] = [np.nan, np.inf, -np.inf, 3]
    found = [str(number) for number in x.real.ravel()]
    assert found == ["nan", "inf", "-inf", "3.0", "1.0", "1.0", "1.0", "1.0"]
