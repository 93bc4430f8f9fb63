"""Numbers that once differed from NumPy's, each with its family."""

from __future__ import annotations

import enum
import itertools
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy_habits.comparison import difference

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb.errors import LinAlgError, NarrowedDataWarning

inf, nan = numpy.inf, numpy.nan

INFINITE = [-inf, -1.0, 0.0, 2.0, 10.0, inf]


class Level(enum.IntEnum):
    """Integers of a class of their own."""

    LOW = 3


class Length(float):
    """Floats of a class of their own."""


NUMBERS = [
    *(3, True, 2.5, 2 + 1j, Level.LOW, Length(2.5)),
    *(numpy.bool_(True), numpy.int8(3), numpy.int64(3), numpy.uint16(3)),
    *(numpy.float16(2.5), numpy.float32(2.5), numpy.float64(2.5)),
    *(numpy.complex64(2 + 1j), numpy.complex128(2 + 1j)),
]

WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    "item": lambda x, v: operator.setitem(x, 0, v),
    "all": lambda x, v: operator.setitem(x, ..., v),
    "mask": lambda x, v: operator.setitem(x, np.array([True, False, True]), v),
    "list": lambda x, v: operator.setitem(x, [0, 1], v),
    "slice": lambda x, v: operator.setitem(x, slice(1, 3), v),
    "fill": lambda x, v: x.fill(v),
    "put": lambda x, v: np.put(x, [0], v),
    "place": lambda x, v: np.place(x, [True, False, True], [v]),
    "copyto": lambda x, v: np.copyto(x, v),
    "add.at": lambda x, v: np.add.at(x, [0, 1], v),
    "iadd": lambda x, v: operator.iadd(x, v),
    "at.set": lambda x, v: x.at[0].set(v),
    "at.add": lambda x, v: x.at[[0, 1]].add(v),
    "at.multiply": lambda x, v: x.at[0].multiply(v),
    "at.divide": lambda x, v: x.at[0].divide(v),
    "full": lambda x, v: np.full(3, v),
    "full_like": lambda x, v: np.full_like(x, v),
    "linspace": lambda x, v: np.linspace(0, v, 3),
    "geomspace": lambda x, v: np.geomspace(1, v, 3),
    "where": lambda x, v: np.where([True, False, True], x, v),
    "list of": lambda x, v: np.array([v, x[0]]),
    "pad": lambda x, v: np.pad(x, 1, constant_values=v),
    "append": lambda x, v: np.append(x, v),
    "select": lambda x, v: np.select([np.array([True, False, True])], [x], v),
    "power": lambda x, v: x**v,
    "quotient": lambda x, v: v / (x + 1),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_number_of_any_class_is_python_s_number(device: str, writer: str) -> None:
    """W1: numpy.complex128 is a subclass of `complex`, not of a real class."""
    write = WRITERS[writer]
    warnings.simplefilter("ignore", NarrowedDataWarning)
    for number in NUMBERS:
        plain = number if type(number) in (bool, int, float, complex) else None
        if plain is None:
            plain = number.item() if hasattr(number, "item") else number + 0
        results = []
        for value in (number, plain):
            x = np.array([1 + 1j, 2, 3], np.complex64)
            made = write(x, value)
            results.append(numpy.asarray(x if made is None else made))
        assert numpy.allclose(*results), (number, results)


def test_an_array_is_copied_number_by_number(device: str) -> None:
    host = numpy.array([1 + 2j, -1j, 3])
    x = np.zeros(3, np.complex64)
    for i in range(3):
        x[i] = host[i]
    assert x.tolist() == host.tolist()
    x[0] = numpy.exp(1j * numpy.pi / 2)
    assert abs(x[0].item() - 1j) < 1e-6
    assert np.r_[0 : 1 : numpy.complex64(3j)].tolist() == [0, 0.5, 1]


PRODUCTS = ["ij,j->j", "ij,j->", "i,j->i", "ij,kj->i", "ij,jk,k->k", "ii,j->j", "ij->i"]


@pytest.mark.parametrize("subscripts", PRODUCTS)
def test_einsum_sums_in_the_dtype_of_the_result(cpu: str, subscripts: str) -> None:
    """W2: an axis that one operand alone has is no longer summed in its own dtype."""
    count = subscripts.split("->")[0].count(",") + 1
    kinds = ["bool", "int8", "uint8", "int16", "int32", "int64", "float32", "complex64"]
    for names in itertools.product(kinds, repeat=min(count, 2)):
        dtypes = [names[0], *names[1:], "int32"][:count]
        arrays = []
        for term, dtype in zip(
            subscripts.split("->")[0].split(","), dtypes, strict=True
        ):
            high = {"bool": 1, "int8": 120, "uint8": 250}.get(dtype, 30000)
            values = numpy.linspace(1, high, 3 ** len(term)).reshape((3,) * len(term))
            arrays.append(values.astype(dtype))
        if subscripts == "ij->i" and dtypes == ["bool"]:
            continue  # a bool alone is summed as `or`, in both
        expected = numpy.einsum(subscripts, *arrays)
        got = np.einsum(subscripts, *map(np.asarray, arrays))
        assert numpy.allclose(numpy.asarray(got), expected, rtol=1e-5), (dtypes, got)


def test_einsum_with_a_mask(device: str) -> None:
    mask = np.array([[True, True, False], [True, True, True]])
    x = np.array([1, 2, 3])
    assert np.einsum("ij,j->j", mask, x).tolist() == [2, 4, 3]
    assert tw.einsum("ij,j->i", mask, x * 0.5).tolist() == [1.5, 3]
    assert np.einsum("ij->i", mask).tolist() == [True, True]
    assert np.einsum("ij,ij->ij", mask, mask).dtype == "bool"
    wide = np.array([[2**30, 2**30, 2**30]])
    assert np.einsum("ij,k->k", wide, np.ones(1)).item() == 3 * 2.0**30


@pytest.mark.parametrize("pair", list(itertools.product(INFINITE, repeat=2)))
def test_medians_between_infinities(device: str, pair: tuple[float, float]) -> None:
    """W3: the mean of a number and infinity is infinite; of both infinities NaN."""
    for rows in ([*pair], [*pair, nan]):
        x = np.array(rows)
        with numpy.errstate(all="ignore"):
            expected = numpy.nanmedian(rows), numpy.median(rows)
        assert difference((np.nanmedian(x), np.median(x)), expected) is None


def test_quantiles_between_infinities(device: str) -> None:
    """W16: equal infinities stay, and both ends are exact."""
    shares = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1]
    for name, extra in (("quantile", []), ("nanquantile", [nan])):
        find = getattr(np, name)
        assert find(np.array([inf, inf, *extra]), shares).tolist() == [inf] * 7
        assert find(np.array([4, inf, *extra]), shares).tolist() == [4, *[inf] * 6]
        found = find(np.array([-inf, 4, *extra]), shares).tolist()
        assert found == [*[-inf] * 6, 4]
        ends = find(np.array([-inf, inf, *extra]), [0, 0.5, 1]).tolist()
        assert ends[0] == -inf
        assert ends[1] != ends[1]
        assert ends[2] == inf
        far = find(np.array([-3e38, 3e38, *extra]), [0, 0.25, 0.5, 1])
        assert numpy.allclose(numpy.asarray(far) / 3e38, [-1, -0.5, 0, 1], atol=1e-6)
    assert np.percentile(np.array([inf, inf]), 50).item() == inf


def test_interp_at_infinities(device: str) -> None:
    """W10: lines from and to infinite points and values."""
    at = numpy.array([-2.0, 0.0, 0.25, 0.5, 1.0, 1.5, 3.0, -inf, inf])
    for xp in ([0, 1], [-inf, 1], [0, inf], [-inf, inf]):
        for fp in itertools.product([-inf, -1.0, 10.0, inf], repeat=2):
            with numpy.errstate(all="ignore"):
                expected = numpy.interp(at, xp, fp)
            got = np.interp(np.array(at.tolist()), xp, list(fp))
            assert difference(got, expected.astype("float32")) is None, (xp, fp)
    assert np.interp([0.5, 1.5], [0, 1, 2], [0, inf, 10]).tolist() == [inf, inf]


def test_axes_are_taken_in_the_requested_order(cpu: str) -> None:
    """W4, W5: results, distances and weights belong to the axis at their position."""
    rng = numpy.random.default_rng(0)
    host = rng.random((3, 4, 5)).astype("float32")
    x = np.asarray(host)
    positions = [rng.random(n).cumsum() for n in host.shape]
    for rank in (1, 2, 3):
        for axes in itertools.permutations(range(3), rank):
            for named in (axes, tuple(axis - 3 for axis in axes)):
                steps = [0.5, 2.0, 3.0][:rank]
                for given in ([], steps, [positions[axis] for axis in axes]):
                    expected = numpy.gradient(host, *given, axis=named)
                    got = np.gradient(x, *given, axis=named)
                    assert difference(got, expected, rtol=1e-4, atol=1e-4) is None, (
                        named
                    )
                weights = rng.random([host.shape[axis] for axis in axes])
                expected = numpy.average(host, named, weights, keepdims=True)
                got = np.average(x, named, weights, keepdims=True)
                assert numpy.allclose(numpy.asarray(got), expected, rtol=1e-5), named
    statements = """
    np.flip(x, (2, 0)); np.roll(x, (1, 2), (2, 0)); np.rot90(x, 1, (2, 0))
    np.rot90(x, 1, (0, 2)); np.moveaxis(x, (2, 0), (0, 1)); np.transpose(x, (2, 0, 1))
    np.percentile(x, 30, (2, 0)); np.median(x, (2, 0)); np.fft.fftn(x, (2, 4), (2, 0))
    np.fft.fftshift(x, (2, 0)); np.linalg.norm(x, 1, (2, 0)); np.ptp(x, (2, 0))
    np.linalg.norm(x, 1, (0, 2)); np.linalg.norm(x, axis=numpy.int64(1))
    np.expand_dims(x, (3, 0)); np.add.reduce(x, (2, 0)); np.var(x, (2, 0), ddof=1)
    np.apply_over_axes(lambda a, i: np.cumsum(a, i) if i else a[:1] ** 2, x, (2, 0))
    np.apply_over_axes(lambda a, i: np.cumsum(a, i) if i else a[:1] ** 2, x, (0, 2))
    np.tensordot(x, x, ([2, 0], [2, 0])); np.sum(x, (2, 0)); np.all(x > 0, (2, 0))
    """
    for text in filter(None, map(str.strip, statements.replace("\n", ";").split(";"))):
        names = {"x": x, "np": np, "numpy": numpy}
        host_names = {"x": host, "np": numpy, "numpy": numpy}
        got, expected = eval(text, names), eval(text, host_names)
        assert numpy.allclose(numpy.asarray(got), expected, rtol=1e-4), text


def test_numpy_s_own_shuffle_is_for_numbers(cpu: str) -> None:
    """NumPy swaps rows through views, which follow each write, and warns of that."""
    line = np.arange(9)
    with pytest.warns(UserWarning, match="you are shuffling"):
        numpy.random.shuffle(line)
    assert sorted(line.tolist()) == list(range(9))
    x = np.arange(12).reshape(6, 2)
    np.random.shuffle(x)
    assert sorted(x[:, 0].tolist()) == [0, 2, 4, 6, 8, 10]
    rows = numpy.random.permutation(x)
    assert sorted(rows[:, 0].tolist()) == [0, 2, 4, 6, 8, 10]
    with pytest.raises(ValueError, match="read-only"):
        numpy.random.permutation(line)
    assert sorted(np.random.permutation(line).tolist()) == list(range(9))


def test_statements_write_views_of_a_tensor_into_it(cpu: str) -> None:
    x = np.arange(8).reshape(4, 2)
    x[0] = x[3]
    x[:1] = x[2:3]
    operator.setitem(x, 1, x[0])
    x.__setitem__(3, x[0])
    assert x.tolist() == [[4, 5]] * 4


def test_an_array_of_a_tensor_is_read_only(device: str) -> None:
    """W7: what is written into it would not reach the tensor."""
    x = np.zeros(3)
    host = numpy.asarray(x)
    with pytest.raises(ValueError, match="read-only"):
        host[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        numpy.asarray(x, numpy.float32)[0] = 5
    for copied in (x.numpy(), numpy.array(x), numpy.asarray(x, numpy.float64)):
        copied[0] = 5
        assert copied[0] == 5
    assert numpy.array(x, copy=True).flags.writeable
    assert x.tolist() == [0, 0, 0]


def test_divisors_of_the_least_integers(cpu: str) -> None:
    """W8: they have no absolute value in their own dtype."""
    for bits in (8, 16, 32, 64):
        kind = f"int{bits}"
        least = -(2 ** (bits - 1))
        values = numpy.array([least, least + 1, -64, -6, -1, 0, 1, 6, 96, -least - 1])
        values = values.astype(kind)
        for name in ("gcd", "lcm"):
            with numpy.errstate(all="ignore"):
                expected = getattr(numpy, name).outer(values, values)
            got = getattr(np, name).outer(np.asarray(values), np.asarray(values))
            assert got.tolist() == expected.tolist(), (kind, name)
        counts = np.bitwise_count(np.asarray(values))
        assert counts.tolist() == numpy.bitwise_count(values).tolist()
    assert np.gcd.reduce(np.array([64, -(2**31)])).item() == 64


def test_unique_with_nan_along_an_axis(device: str) -> None:
    """W9: NaN of a vector are one value, along axis 0 too."""
    for rows in ([nan, 1, nan], [nan, nan], [1, 2, 1], [[nan, 1], [nan, 1], [1, 2]]):
        for equal_nan in (True, False):
            options: dict[str, Any] = {
                **{"return_index": True, "return_inverse": True, "return_counts": True},
                **{"axis": 0, "equal_nan": equal_nan},
            }
            expected = numpy.unique(numpy.array(rows), **options)
            got = np.unique(np.array(rows), **options)
            assert difference(got, expected) is None, (rows, equal_nan)


SINGULAR: list[Any] = [
    [[0, 0], [0, 0]],
    [[1, 1], [1, 1]],
    [[1, 0], [0, 0]],
    [[2, 1], [1, 3]],
    [[[1, 1], [1, 1]], [[1, 0], [0, 1]]],
]


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, inf, -inf, "fro"])
def test_condition_numbers_of_singular_matrices(device: str, p: Any) -> None:
    """W11: they are infinite, by every norm."""
    for rows in SINGULAR:
        matrix = numpy.array(rows, "float32")
        expected = numpy.linalg.cond(matrix, p)
        got = numpy.asarray(np.linalg.cond(np.array(rows, np.float32), p))
        large = numpy.asarray(expected) > 1e6  # infinite but for a rounding
        small = numpy.asarray(expected) < 1e-6
        assert numpy.array_equal(got > 1e6, large), (rows, got, expected)
        assert numpy.allclose(
            got[~large & ~small], expected[~large & ~small], rtol=1e-4
        )
    spoilt = np.array([[nan, 1], [1, 1]])
    if p not in (None, 2, -2):
        assert numpy.isnan(numpy.asarray(np.linalg.cond(spoilt, p)))


POLYNOMIALS = """
P([1, 2]) == P([1, 2])
P([1, 2]) != P([1, 2])
P([1, 2]) == P([1, 3])
P([0, 1, 2]) == P([1, 2])
P([1, 2]) == P([1, 2, 3])
str(P([1, 2, 3]))
str(P([1, 2, 3], variable="z"))
str(P([1.5, -2, 0, 3]))
str(P([1j, 2 + 1j, 0]))
str(P([0]))
str(P([-1, 0, 0]))
str(P(list(range(1, 40))))
repr(P([1.0, 2.5]))
repr(P([1, 2, 3]) / P([1, 1]))
repr(P([1, 2, 4]) / 2)
repr(np.polyadd(P([1, 2]), [1]))
repr(np.polysub([1], P([1, 2])))
repr(np.polymul(P([1, 2]), P([1, 2])))
repr(np.polydiv(P([1.0, 2, 3]), [1.0, 1]))
repr(np.polyder(P([1, 2, 3])))
repr(np.polyint(P([3, 2, 3])))
repr(np.polyval(P([1, 2]), P([1, 1])))
repr(P([1, 2])(P([1, 1])))
repr(P([]))
repr(P([1, 2]) * np.array([1, 2]))
repr(1 - P([1, 2]))
repr(+P([1, 2]) ** 2)
P(P([1], variable="q")).variable
"""


@pytest.mark.parametrize("text", POLYNOMIALS.strip().splitlines())
def test_polynomials_agree_with_numpy(cpu: str, text: str) -> None:
    """W12: they compare, divide, print, and functions of them give them."""
    expected = eval(text, {"np": numpy, "P": numpy.poly1d})
    assert eval(text, {"np": np, "P": np.poly1d}) == expected


def test_coefficients_of_a_polynomial_are_written(cpu: str) -> None:
    p, q = np.poly1d([1, 2, 3]), numpy.poly1d([1, 2, 3])
    for power, value in ((0, 9), (2, 4), (5, 7)):
        p[power] = value
        q[power] = value
    assert repr(p) == repr(q)
    assert p[9].item() == q[9] == 0
    with pytest.raises(ValueError, match="power"):
        p[-1] = 1
    with pytest.raises(TypeError):
        hash(p)
    assert numpy.allclose(numpy.sort(numpy.asarray(p.r)), numpy.sort(q.r), atol=1e-5)
    assert numpy.asarray(p).tolist() == q.coeffs.tolist()


def test_small_integers_do_not_wrap(cpu: str) -> None:
    """W13: powers and rounded numbers of them are computed in wider integers."""
    for kind in ("int8", "uint8", "int16", "uint16"):
        info = numpy.iinfo(kind)
        values = numpy.array([info.min, 0, 1, 5, 12, 13, 49, 50, 51, 75, 99, info.max])
        host = values.astype(kind)
        x = np.asarray(host)
        got = np.vander(x[3:6], 4).tolist()
        assert got == numpy.vander(host[3:6], 4).tolist(), kind
        inside = abs(values + 50) < info.max - 51
        for decimals in (-1, -2):
            expected = numpy.round(host[inside], decimals)
            assert np.round(x, decimals)[inside].tolist() == expected.tolist(), kind


def test_differences_of_unsigned_integers_and_numbers(cpu: str) -> None:
    """W14: a Python integer that is subtracted has a sign, as in NumPy."""
    for kind in ("uint8", "uint16", "uint32"):
        x, host = np.array([5, 10], kind), numpy.array([5, 10], kind)
        for text in (
            *("np.diff(x, append=0)", "np.diff(x, prepend=7)", "np.polysub(5, x)"),
            *("np.diff(x, prepend=[9], append=[0, 1])", "np.polysub([1, 20], x)"),
        ):
            got = eval(text, {"np": np, "x": x})
            assert got.tolist() == eval(text, {"np": numpy, "x": host}).tolist(), text


def test_quotients_and_powers_of_complex_zeros(device: str) -> None:
    """W15: by 0 each part is divided alone, and 0 has no negative power."""
    tops = [complex(inf, inf), complex(1, inf), complex(nan, 1), 1 + 1j, 1, 0j]
    for top in tops:
        for zero in (0j, complex(-0.0, 0), complex(0, -0.0)):
            with numpy.errstate(all="ignore"):
                expected = numpy.array([top], complex) / zero
            got = np.array([top], np.complex64) / zero
            assert numpy.array_equal(numpy.asarray(got), expected, equal_nan=True), top
    for power in (-1, -2, -1.0, -0.5, -1 + 0j):
        found = numpy.asarray(np.array([0j, 1j]) ** power)
        with numpy.errstate(all="ignore"):
            expected = numpy.array([0j, 1j]) ** power
        assert numpy.isnan([found[0].real, found[0].imag]).all(), power
        assert numpy.allclose(found[1], expected[1], atol=1e-6)


def test_flat_takes_a_bool_for_the_first_element(cpu: str) -> None:
    """W16."""
    x = np.arange(6).reshape(2, 3)
    assert x.flat[True].item() == 0
    assert x.flat[False].shape == (0,)
    x.flat[True] = 9
    x.flat[False] = 7
    assert x.tolist() == [[9, 1, 2], [3, 4, 5]]


def test_negative_powers_of_matrices(device: str) -> None:
    """W17: the powers of the inverse, in both modules."""
    rows = [[1.0, 2.0], [3.0, 5.0]]
    for module in (tw.linalg, np.linalg):
        for n in (-1, -2, -3):
            got = numpy.asarray(module.matrix_power(np.array(rows), n))
            expected = numpy.linalg.matrix_power(numpy.array(rows), n)
            assert numpy.allclose(got, expected, rtol=1e-3), n
        with pytest.raises(LinAlgError):
            numpy.asarray(module.matrix_power(np.ones((2, 2)), -1))


def test_clip_computes_in_the_dtype_of_the_result(device: str) -> None:
    """2049 has no float16, the dtype of the lower limit."""
    values = {"a": ([2049], "int16"), "low": (0.0, "float16"), "high": (4e3, "float32")}
    own = [np.array(x, dtype) for x, dtype in values.values()]
    host = [numpy.array(x, dtype) for x, dtype in values.values()]
    for given in (own, [own[0], *host[1:]]):
        found = np.clip(*given)
        assert found.dtype.name == numpy.clip(*host).dtype.name
        assert found.tolist() == numpy.clip(*host).tolist() == [2049.0]
