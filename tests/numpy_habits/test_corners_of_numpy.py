"""Corners of NumPy's functions: empty, infinite and repeated things, wrong axes."""

from __future__ import annotations

import io
import itertools
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy_habits.comparison import difference

import tensorweb as tw
import tensorweb.numpy as np
from tensorweb.errors import (
    AxisError,
    DataError,
    RangeError,
    ShapeError,
    TensorIndexError,
)

inf, nan = numpy.inf, numpy.nan


def parts_of(x: Any) -> Any:
    """Return the two parts of complex numbers, so that each NaN is compared."""
    host = numpy.asarray(x)
    return numpy.stack([host.real, host.imag])


@pytest.mark.parametrize("parts", [(1, 0), (0, 1), (1, -2)])
def test_interp_of_complex_numbers_takes_each_part_alone(
    parts: tuple[int, int], device: str
) -> None:
    ends = [0.0, 10.0, inf, -inf, nan]
    for x0, x1, y0, y1 in itertools.product([-inf, 0.0], [1.0, inf], ends, ends):
        made = numpy.zeros(2, "complex64")
        with numpy.errstate(all="ignore"):
            made.real = numpy.multiply(parts[0], [y0, y1])
            made.imag = numpy.multiply(parts[1], [y0, y1])
        with numpy.errstate(all="ignore"):
            expected = numpy.interp([0.5, nan], [x0, x1], made)
        found = np.interp([0.5, nan], [x0, x1], np.asarray(made, device=device))
        numpy.testing.assert_array_equal(parts_of(found), parts_of(expected))


def test_sums_that_begin_with_minus_zero_keep_it(device: str) -> None:
    for given in ([-0.0, -0.0], [-0.0, 0.0], [], [1.0, -1.0]):
        own = np.asarray(given, "float32", device=device)
        host = numpy.asarray(given, "float32")
        for initial in (-0.0, 0.0):
            found = np.add.reduce(own, initial=initial)
            expected = numpy.add.reduce(host, initial=initial)
            assert bool(np.signbit(found)) == bool(numpy.signbit(expected))


def test_linspace_goes_below_the_least_normal_number() -> None:
    for count, endpoint in ((10, False), (7, True)):
        options: Any = {"num": count, "endpoint": endpoint, "dtype": "float64"}
        for end in (2.5e-323, -2.5e-323):
            found = np.linspace(0, end, **options, device="cpu")
            assert found.tolist() == numpy.linspace(0, end, **options).tolist()


def test_fromfile_reads_only_the_requested_count(tmp_path: Path) -> None:
    path = tmp_path / "numbers.bin"
    numpy.arange(9, dtype="float32").tofile(path)
    with path.open("ab") as file:
        file.write(b"\0\0")
    calls: list[dict[str, Any]] = [
        {"count": 2},
        {"count": 0},
        {"count": 2, "offset": 4},
        {"offset": 4},
        {"count": 5},
    ]
    with path.open("rb") as own, path.open("rb") as host:
        for options in calls:
            found = np.fromfile(own, dtype="float32", **options)
            expected = numpy.fromfile(host, dtype="float32", **options)
            assert found.tolist() == expected.tolist()
            assert own.tell() == host.tell()
    assert np.fromfile(path, "float32", 2, offset=8).tolist() == [2.0, 3.0]
    assert np.fromfile(io.BytesIO(bytes(6)), "float32").tolist() == [0.0]


def test_load_reads_arrays_that_follow_each_other(tmp_path: Path, cpu: str) -> None:
    path = tmp_path / "several.npy"
    arrays: list[Any] = [numpy.int32(1), numpy.float32([1.5, 2]), numpy.eye(3)[:, :2]]
    with path.open("wb") as file:
        for array in arrays:
            numpy.save(file, numpy.asarray(array, order="F"))
    with path.open("rb") as own, path.open("rb") as host:
        for array in arrays:
            assert np.load(own).tolist() == array.tolist() == numpy.load(host).tolist()
            assert own.tell() == host.tell()


def test_load_never_unpickles() -> None:
    class Program:
        def __reduce__(self) -> Any:
            return pytest.fail, ("a pickle was run",)

    one, archive = io.BytesIO(), io.BytesIO()
    objects = numpy.array([Program(), 1], dtype=object)
    numpy.save(one, objects, allow_pickle=True)
    numpy.savez(archive, numbers=numpy.ones(2), objects=objects)
    plain = io.BytesIO(pickle.dumps(1))
    for file, words in (
        (one, "Python objects"),
        (archive, "'objects'"),
        (plain, "of numbers"),
    ):
        file.seek(0)
        with pytest.raises(DataError, match=words):
            np.load(file, allow_pickle=True)


@pytest.mark.parametrize("count", [1, 5, 6])
def test_archives_print_and_have_their_names(count: int, tmp_path: Path) -> None:
    path = str(tmp_path / "x.npz")
    numpy.savez(path, *map(numpy.float32, range(count)))
    own, host = np.load(path), numpy.load(path)
    assert repr(own) == repr(host)
    assert own.f.arr_0.item() == host.f.arr_0 == own["arr_0.npy"].item()
    for key in ("b.npy", (1, 2)):
        with pytest.raises(KeyError):
            own[key]
    with open(path, "rb") as file:
        assert repr(np.load(io.BytesIO(file.read()))).startswith("NpzFile 'object' ")


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.geomspace(-3, 3, 4),
        lambda m: m.geomspace(-3, 3, 4, endpoint=False),
        lambda m: m.geomspace(4.0, -2.0, 3),
        lambda m: m.geomspace(-1, 1, 3, dtype="complex64"),
        lambda m: m.geomspace(1, -1, 5, dtype="complex64"),
        lambda m: m.geomspace(3j, -5, 3),
        lambda m: m.geomspace(1, 100, 3, dtype="complex64"),
    ],
)
def test_geomspace_between_signs(call: Any, cpu: str) -> None:
    with numpy.errstate(all="ignore"):
        expected = parts_of(call(numpy))
    numpy.testing.assert_allclose(parts_of(call(np)), expected, atol=1e-6)


def test_unsupported_arguments_raise() -> None:
    with pytest.raises(RangeError, match="no dtype holds"):
        np.min_scalar_type(2**64)
    with pytest.raises(DataError, match="out=list"):
        np.add([1], 2, out=[3])  # type: ignore[arg-type]  # of no tensor
    with pytest.raises(DataError, match="out=list"):
        np.add([1.5], 2, out=[3], casting="unsafe")  # type: ignore[arg-type]  # too
    with pytest.raises(AxisError):
        np.lexsort((np.array(1),), axis=10)
    x = np.arange(4).reshape(2, 2)
    for key in (None, (None, 1)):
        with pytest.raises(TensorIndexError, match="no new ones"):
            x.flat[key]
        with pytest.raises(TensorIndexError, match="no new ones"):
            x.flat[key] = 1


@pytest.mark.parametrize(
    "shapes",
    [
        *(((0, 3), (0, 2)), ((4, 0), (4, 2)), ((4, 2), (4, 0)), ((0, 0), (0, 0))),
        *(((0, 3), (0,)), ((4, 0), (4,)), ((2, 4), (2, 0))),
    ],
)
def test_least_squares_of_nothing(shapes: Any, device: str) -> None:
    own = [np.ones(shape, device=device) for shape in shapes]
    host = [numpy.ones(shape, "float32") for shape in shapes]
    expected = numpy.linalg.lstsq(*host, rcond=None)
    found = np.linalg.lstsq(*own)
    for mine, theirs in zip(found, expected, strict=True):
        assert numpy.shape(mine) == numpy.shape(theirs)
        assert numpy.allclose(mine, theirs, atol=1e-6)


CORNERS: dict[str, Callable[[Any], Any]] = {
    "pad mean of none": lambda m: m.pad(m.array([1.0, 2.0]), 2, "mean", stat_length=0),
    "pad median": lambda m: m.pad(m.array([1.0]), 1, "median", stat_length=(1, 0)),
    "poly of a matrix": lambda m: m.poly(m.array([[1.0, 2.0], [3.0, 4.0]])),
    "poly of a rotation": lambda m: m.poly(m.array([[0.0, 1.0], [-1.0, 0.0]])),
    "poly of integers": lambda m: m.poly(m.array([[2, 0], [0, 3]])),
    "digitize NaN": lambda m: m.digitize(
        m.array([1.0, 3.0, nan]), m.array([0, 2, nan])
    ),
    "digitize down": lambda m: m.digitize(m.array([1.0, nan]), m.array([nan, 2, 0])),
    "modes": lambda m: m.ravel_multi_index(
        ([22, 41, 37], [-1, 5, 9]), (7, 6), mode=("wrap", "clip")
    ),
    "mode by columns": lambda m: m.ravel_multi_index(
        ([22, 41], [-1, 9]), (7, 6), mode=("wrap", "clip"), order="F"
    ),
    "grid": lambda m: m.mgrid[0 : 1 : numpy.complex64(3j)],
    "reciprocal": lambda m: m.reciprocal(m.array([1, 2, -1, -3, 7], "int32")),
    "reciprocal uint": lambda m: m.reciprocal(m.array([1, 2, 2**32 - 1], "uint32")),
    **{
        f"{name} {axes}": lambda m, name=name, axes=axes: getattr(m.fft, name)(
            m.arange(24.0).reshape(2, 3, 4), axes=axes
        )
        for name in ("rfftn", "irfftn", "fftn")
        for axes in ((0, 0), (0, 2, 0), (2, -1), (1, 2, 2), (0, 1))
    },
    "rfftn sizes": lambda m: m.fft.rfftn(m.ones((2, 4)), s=(3, 5), axes=(1, 1)),
    "irfftn sizes": lambda m: m.fft.irfftn(m.ones((2, 4)), s=(3, 5), axes=(1, 1)),
}


@pytest.mark.parametrize("corner", CORNERS)
def test_a_corner_is_numpy_s(corner: str, device: str) -> None:
    with numpy.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **kwargs: None)
        expected = CORNERS[corner](numpy)
    with tw.device(device):
        found = CORNERS[corner](np)
    assert not difference(found, expected)


CUBE = numpy.arange(60, dtype="float32").reshape(3, 4, 5)

PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "matmul": lambda m, x: m.matmul(x, x, axes=[(-2, -1), (-1, -2), (1, 2)]),
    "matmul first": lambda m, x: m.matmul(x, x, axes=[(-2, -1), (-1, -2), (0, 1)]),
    "matmul vector": lambda m, x: m.matmul(x, x[:, 0, 0], axes=[(1, 0), (0), (0)]),
    "matvec": lambda m, x: m.matvec(x, x, axes=[(0, 1), 1, -1]),
    "vecmat": lambda m, x: m.vecmat(x[..., 0], x, axes=[0, (0, 2), 0]),
    "vecdot axis": lambda m, x: m.vecdot(x, x[:, :1], axis=0),
    "vecdot axes": lambda m, x: m.vecdot(x, x[0, 0], axes=[2, 0]),
    "vecdot kept": lambda m, x: m.vecdot(x, x, axis=1, keepdims=True),
    "vecdot all": lambda m, x: m.vecdot(x, x, axes=[0, 0, -1], keepdims=True),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_take_the_axes_of_their_operands(name: str, device: str) -> None:
    found = PRODUCTS[name](np, np.asarray(CUBE, device=device))
    assert not difference(found, PRODUCTS[name](numpy, CUBE))


def test_products_write_into_out() -> None:
    x, target = np.ones((2, 3)), np.zeros(2)
    assert np.vecdot(x, x, out=target) is target
    assert np.matvec(x, x[0], target) is target
    assert target.tolist() == [3.0, 3.0]


def test_numpy_s_class_catches_errors_of_matrices() -> None:
    with pytest.raises(numpy.linalg.LinAlgError) as found:
        float(np.linalg.inv(np.zeros((2, 2)))[0, 0])
    assert isinstance(found.value, tw.linalg.LinAlgError)
    again = pickle.loads(pickle.dumps(found.value))
    assert isinstance(again, tw.linalg.LinAlgError)
    assert again.args == found.value.args
    assert type(found.value).__qualname__ == "LinAlgError"


def test_numpy_s_class_catches_errors_of_axes() -> None:
    with pytest.raises(numpy.exceptions.AxisError) as found:
        np.sum(np.ones(3), axis=1)
    assert isinstance(found.value, AxisError)
    assert "axis 1" in str(found.value)
    again = pickle.loads(pickle.dumps(found.value))
    assert type(again) is type(found.value)
    assert str(again) == str(found.value)


MATRICES_OF_NO_USE: dict[str, Callable[[Any], Any]] = {
    "inv": lambda m: m.linalg.inv(m.ones((2, 3))),
    "solve": lambda m: m.linalg.solve(m.ones((2, 3)), m.ones(2)),
    "tensorinv": lambda m: m.linalg.tensorinv(m.ones((4, 2, 3)), ind=1),
    "tensorsolve": lambda m: m.linalg.tensorsolve(m.ones((2, 3)), m.ones(2)),
    "a vector": lambda m: m.linalg.matrix_power(m.ones(2), 2),
    "lstsq": lambda m: m.linalg.lstsq(m.ones((4, 2)), m.ones(5)),
    "cond of nothing": lambda m: m.linalg.cond(m.ones((0, 0))),
}


@pytest.mark.parametrize("name", MATRICES_OF_NO_USE)
def test_matrices_of_no_use_are_an_error_of_linalg(name: str) -> None:
    for module in (numpy, np):
        with pytest.raises(numpy.linalg.LinAlgError):
            MATRICES_OF_NO_USE[name](module)


def test_a_threshold_is_given_once() -> None:
    for name, word in (("pinv", "rcond"), ("matrix_rank", "tol")):
        for module in (numpy, np):
            with pytest.raises(ValueError, match="both"):
                getattr(module.linalg, name)(
                    module.ones((2, 2)), **{word: 0.1, "rtol": 0.1}
                )


def test_norms_of_nothing_are_zero() -> None:
    for shape in [(0, 2), (2, 0), (0, 0)]:
        for order in (1, 2, inf, "fro", "nuc"):
            assert float(np.linalg.matrix_norm(np.zeros(shape), ord=order)) == 0
    assert float(np.linalg.vector_norm(np.zeros(0), ord=inf)) == 0
    with pytest.raises(ShapeError):
        np.linalg.vector_norm(np.zeros(0), ord=-inf)


def test_numpy_s_classes_of_numbers_are_below_the_kinds() -> None:
    assert issubclass(np.ones(1).dtype.type, np.floating)
    assert issubclass(numpy.int8, np.signedinteger)
    assert not issubclass(numpy.float32, np.integer)
    assert not issubclass(float, np.floating)


SIGNATURES: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda m, x: m.vectorize(lambda v: v.mean(), signature="(n)->()")(x),
    "outer": lambda m, x: m.vectorize(m.outer, signature="(a),(b)->(a,b)")(x, x[0, 0]),
    # Not `dot`: on some processors NumPy's BLAS warns of numbers that are none of its.
    "matvec": lambda m, x: m.vectorize(
        lambda a, v: (a * v).sum(-1), signature=" (m, n),(n) -> (m)"
    )(x, x[0, 0]),
    "two": lambda m, x: m.vectorize(
        lambda v: (v[:2], v.sum()), signature="(n)->(k),()"
    )(x),
    "fixed": lambda m, x: m.vectorize(
        lambda v, k, c: v * k + c, signature="(n)->(n)", excluded={1, "c"}
    )(x, 2.0, c=1.0),
    "otypes": lambda m, x: m.vectorize(
        lambda v: v, signature="(n)->(n)", otypes=["int32"]
    )(x),
    "numbers": lambda m, x: m.vectorize(lambda a, b: a - b, signature="(),()->()")(
        x, 1
    ),
    "nothing": lambda m, x: m.vectorize(
        lambda v: v, signature="(n)->(n)", otypes=["float32"]
    )(x[:0]),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_vectorize_calls_with_the_slices_of_a_signature(name: str) -> None:
    small = CUBE[:2, :2]
    found = SIGNATURES[name](np, np.asarray(small))
    assert not difference(found, SIGNATURES[name](numpy, small))


def test_pad_of_tw_takes_numpy_s_modes() -> None:
    given: list[dict[str, Any]] = [
        *({"mode": "edge"}, {"mode": "reflect", "reflect_type": "odd"}),
        *({"mode": "constant", "constant_values": (2, 3)}, {"constant_values": 4}),
    ]
    for options in given:
        expected = numpy.pad(CUBE, 1, **options)
        assert not difference(tw.pad(tw.asarray(CUBE), 1, **options), expected)
    with pytest.raises(DataError, match="mode"):
        tw.pad([1.0], 1, mode="nonsense")


def test_rollaxis_counts_starts_as_numpy_does() -> None:
    for axis, start in itertools.product(range(-3, 3), range(-3, 4)):
        found = np.rollaxis(np.asarray(CUBE), axis, start).shape
        assert found == numpy.rollaxis(CUBE, axis, start).shape, (axis, start)
    with pytest.raises(AxisError, match="start -4"):
        np.rollaxis(np.asarray(CUBE), 0, -4)


def test_unique_of_empty_slices_is_one_of_them() -> None:
    for shape, axis in itertools.product([(2, 0), (0, 2), (0, 0), (3, 0, 2)], (0, 1)):
        options: Any = {"axis": axis, "return_index": True, "return_counts": True}
        options["return_inverse"] = True
        expected = numpy.unique(numpy.zeros(shape), **options)
        found = np.unique(np.zeros(shape), **options)
        assert not difference(found, expected), (shape, axis)


ERRORS: dict[str, tuple[Callable[[Any], Any], type[Exception]]] = {
    "pad": (
        lambda m: m.pad(m.array([1.0]), 0, "maximum", stat_length=0),
        ShapeError,
    ),
    "delete True": (lambda m: m.delete(m.arange(3), True), ShapeError),
    "delete short mask": (lambda m: m.delete(m.arange(3), [True, False]), ShapeError),
    "delete floats": (
        lambda m: m.delete(m.arange(3), m.array([], "float32")),
        TensorIndexError,
    ),
    "axis and axes": (
        lambda m: m.vecdot(m.ones(3), m.ones(3), axis=0, axes=[0, 0]),
        DataError,
    ),
    "signature of two": (
        lambda m: m.vectorize(lambda x: x, signature="(),()->()")([1, 2]),
        DataError,
    ),
    "signature of few axes": (
        lambda m: m.vectorize(lambda x: x, signature="(n)->()")(1),
        ShapeError,
    ),
    "signature of lengths": (
        lambda m: m.vectorize(lambda x, y: x, signature="(n),(n)->(n)")(
            [1, 2], [1, 2, 3]
        ),
        ShapeError,
    ),
    "signature of results": (
        lambda m: m.vectorize(lambda x: x, signature="()->(),()")(1),
        DataError,
    ),
    "signature of nothing": (
        lambda m: m.vectorize(lambda x: x, signature="()->()")(m.zeros((0, 5))),
        DataError,
    ),
    "signature of no form": (
        lambda m: m.vectorize(lambda x: x, signature="(n)->n")([1]),
        DataError,
    ),
    "signature of a short result": (
        lambda m: m.vectorize(lambda x: x[:-1], signature="(n)->(n)")([1, 2, 3]),
        ShapeError,
    ),
    "word": (lambda m: m.sum(m.ones(3), axis="x"), DataError),
    "fraction": (lambda m: m.sum(m.ones(3), axis=0.5), DataError),
    "unique": (lambda m: m.unique(m.ones((2, 2)), axis=0.5), DataError),
    "concatenate": (lambda m: m.concatenate([m.ones(3)], axis="x"), DataError),
    "delete word": (lambda m: m.delete(m.ones(3), [0], axis="x"), DataError),
    "modes": (
        lambda m: m.ravel_multi_index(([1], [1]), (7, 6), mode=("wrap",)),
        DataError,
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_of_numpy_s_classes(name: str) -> None:
    call, own = ERRORS[name]
    with pytest.raises(Exception) as expected:  # noqa: PT011  # any class of NumPy's
        call(numpy)
    with pytest.raises(own) as found:
        call(np)
    assert isinstance(found.value, expected.type)


def test_points_of_histogramdd_are_rows_of_an_array_and_columns_of_a_list() -> None:
    points = [[0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]
    for sample, host in ((points, points), (np.asarray(points), numpy.array(points))):
        found, edges = np.histogramdd(sample, bins=2)
        expected, host_edges = numpy.histogramdd(host, bins=2)
        assert found.shape == expected.shape
        assert found.tolist() == expected.tolist()
        assert len(edges) == len(host_edges)
    found, edges = np.histogramdd([[], []], bins=([0, 1], [0, 1]))
    assert found.tolist() == [[0.0]]
    with pytest.raises(ValueError, match="bins"):
        np.histogramdd(np.ones((1, 10)), bins=2**10)


@pytest.mark.parametrize(
    "ends",
    [
        (0, 1, inf),
        (0, 1, -inf),
        (1, 0, -inf),
        (0, 2e-16, 1.7e308),
        (0, -2e-16, -1.7e308),
        (0, -2e-16, 1.7e308),
        (1, 1.5, 1e300),
    ],
)
def test_arange_of_steps_beyond_the_end(ends: tuple[float, ...]) -> None:
    assert np.arange(*ends).tolist() == numpy.arange(*ends).tolist()


def test_grids_take_the_dtype_of_their_ends(cpu: str) -> None:
    ends = [np.asarray(x, "float64", device="cpu") for x in (0.1, 0.33, 0.1)]
    found = np.mgrid[slice(*ends),]
    assert found.dtype == "float64"
    assert found.tolist() == numpy.mgrid[0.1:0.33:0.1,].tolist()
    empty = np.ix_(np.zeros(0, "float32"), [])
    assert [x.dtype.name for x in empty] == ["float32", "int32"]


def test_arguments_that_numpy_refuses() -> None:
    x = np.arange(6).reshape(2, 3)
    for call in (
        lambda: np.select([np.asarray([1, 0])], [np.asarray([1, 2])]),
        lambda: np.average(x, weights=[1, 2, 3]),
        lambda: np.gradient(x * 1.0, np.arange(3)),
        lambda: np.vectorize(3),
        lambda: np.histogram(x, 5.5),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="minlength"):
        np.bincount([1, 2], minlength=-1)


def test_vectorize_decorates() -> None:
    @np.vectorize(signature="(n)->()", otypes=["float32"])
    def total(row: Any) -> Any:
        """Return the sum."""
        return row.sum()

    assert total([[1, 2], [3, 4]]).tolist() == [3.0, 7.0]
    assert total.__name__ == "total"
    assert total.__doc__ == "Return the sum."


def test_vectorize_takes_dtypes_of_results_that_are_set_later() -> None:
    same = np.vectorize(lambda x: x)
    same.otypes = "i"
    assert same(np.zeros((0, 5), "int32")).shape == (0, 5)


def test_quantiles_have_the_digits_of_both() -> None:
    x = np.asarray([1.0, 2.0, 4.0], "float32", device="cpu")
    q = np.asarray(0.3, "float64", device="cpu")
    host = numpy.quantile(x.numpy(), numpy.float64(0.3))
    assert np.quantile(x, q).dtype == host.dtype == "float64"
    assert np.quantile(x, q).item() == host
    assert np.quantile(x, 0.3).dtype == "float32"
    found = np.nanquantile(np.zeros((3, 0)), [0.2, 0.4], axis=1)
    assert numpy.isnan(found.numpy()).tolist() == [[True] * 3] * 2


def test_positions_in_shapes() -> None:
    narrow = np.asarray([[19, 3], [7, 19]], "int8")
    host = numpy.ravel_multi_index(narrow.numpy(), (20, 20))
    assert np.ravel_multi_index(narrow, (20, 20)).tolist() == host.tolist()
    with pytest.raises(OverflowError):
        np.ravel_multi_index(np.asarray([[1], [1]]), (2**20, 2**20))
    wide = np.asarray([[1], [1]], "int64", device="cpu")
    assert np.ravel_multi_index(wide, (2**20, 2**20)).tolist() == [2**20 + 1]
    for module in (numpy, np):
        none = module.zeros((3, 0), "int64" if module is numpy else "int32")
        assert module.ravel_multi_index(none, (2, 1, 0), mode="clip").shape == (0,)
        for call in (
            lambda m: m.unravel_index(-1, (2, 2)),
            lambda m: m.unravel_index(m.asarray([0]), ()),
            lambda m: m.ravel_multi_index((0, 2), (2, 2)),
            lambda m: m.ravel_multi_index(m.asarray([[0]] * 3), (2, 1, 0)),
            lambda m: m.unravel_index(1, (2**40, 2**40)),
        ):
            with pytest.raises(ValueError, match=r"ind|shape|dim|invalid"):
                call(module)
        with pytest.raises(TypeError):
            module.unravel_index([], (2, 2))


def test_shapes_that_are_not_made_of_integers_are_type_errors_too() -> None:
    for call in (
        lambda m: m.zeros((2.0, 3)),
        lambda m: m.zeros(3).reshape((3.0, 1)),
        lambda m: m.ndindex(2.5),
    ):
        for module in (numpy, np):
            with pytest.raises(TypeError):
                call(module)
        with pytest.raises(ShapeError):
            call(np)


def test_objects_whose_array_is_a_tensor() -> None:
    class Holder:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.asarray([3, 1, 3])

    assert np.bincount(Holder()).tolist() == [0, 1, 0, 2]
    assert np.asarray(Holder()).tolist() == [3, 1, 3]


def test_edges_have_the_digits_of_values_and_range() -> None:
    x = np.asarray([1.0], "float32", device="cpu")
    ends = np.asarray([1.0 + 2.0**-40, 2.0], "float64", device="cpu")
    counts, edges = np.histogram(x, bins=1, range=ends)
    assert counts.tolist() == [0]
    assert edges.dtype == "float64"
    close = np.asarray([1.0, 1.0 + 2e-16] * 3, "float64", device="cpu")
    with pytest.raises(ValueError, match="bins"):
        np.histogram(close, bins=10)


def test_insert_takes_a_mask_with_the_end() -> None:
    for mask in ([True] * 4, [True, False, True, False], [False] * 3 + [True]):
        found = np.insert([1, 2, 3], np.asarray(mask), 9).tolist()
        assert found == numpy.insert([1, 2, 3], numpy.array(mask), 9).tolist()


def test_bits_of_nothing() -> None:
    for shape in ((2, 0), (0, 2), (0,)):
        for axis in range(len(shape)):
            for name in ("packbits", "unpackbits"):
                x = numpy.zeros(shape, "uint8")
                found = getattr(np, name)(np.asarray(x), axis=axis)
                assert found.shape == getattr(numpy, name)(x, axis=axis).shape
    with pytest.raises(ValueError, match="count"):
        np.unpackbits(np.asarray([1], "uint8"), count=-9)


def test_complex_numbers_are_neither_infinity() -> None:
    for name in ("isposinf", "isneginf"):
        for module in (numpy, np):
            with pytest.raises(TypeError):
                getattr(module, name)(module.asarray([1j]))


def test_numbers_of_einsum_s_axes() -> None:
    x, y = np.ones((2, 3)), np.ones((3, 4))
    for first in (20, 27, 51):
        assert np.einsum(x, [0, first], y, [first, 2], [0, 2]).shape == (2, 4)
    # Without a result the axes are in the order of their numbers.
    x = np.asarray([[1, 2, 3], [4, 5, 6]])
    for axes in ([0, 1], [1, 0], [30, 2], [2, 30]):
        expected = numpy.einsum(x.numpy(), axes)
        assert np.einsum(x, axes).tolist() == expected.tolist()
    for axis in (52, -1):
        with pytest.raises(ValueError, match="axis"):
            np.einsum(x, [0, axis])


def test_load_takes_pickle_s_argument_and_reads_none() -> None:
    file = io.BytesIO()
    np.save(file, np.arange(3))
    file.seek(0)
    assert np.load(file, allow_pickle=True).tolist() == [0, 1, 2]
    file = io.BytesIO()
    numpy.save(file, numpy.array([None]), allow_pickle=True)
    file.seek(0)
    with pytest.raises(DataError):
        np.load(file, allow_pickle=True)


@pytest.mark.filterwarnings("ignore:Some errors")  # of NumPy
def test_rows_that_are_left_out_are_not_counted() -> None:
    text = "1 1\n2 2\n0\n3 3\n4 4\n5  5\n6\n7 7\n"
    for count in (2, 3, 4, 6, None):
        found, expected = (
            m.genfromtxt(io.StringIO(text), max_rows=count, invalid_raise=False)
            for m in (np, numpy)
        )
        assert found.tolist() == expected.tolist()


def test_lengths_one_by_one_go_with_an_order() -> None:
    x = np.arange(10)
    expected = x.numpy().reshape(2, 5, order="F").tolist()
    assert x.reshape(2, 5, order="F").tolist() == expected
    assert x.reshape((2, -1), order="F").tolist() == expected


EINSUMS = (
    *("ij,jk,kl->il", "a,b,c->abc", "acdf,jbje,gihb,hfac", "eb,cb,fb->cef"),
    *("dd,fb,be,cdb->cef", "bca,cdb,dbf,afc->", "dcc,fce,ea,dbf->ab", "ab,cd,ef"),
    *("acdf,jbje,gihb,hfac,gfac,gifabc,hfac", "chd,bde,agbc,hiad,bdi,cgh,agdb"),
    *("a,ac,ab,ad,cd,bd,bc->", "ij,jk", "ii", "cab,cdd->ab", "ab,bc,cd,de,ea->"),
)


@pytest.mark.parametrize("subscripts", EINSUMS)
@pytest.mark.parametrize(
    "optimize", ["greedy", "optimal", False, True, ("greedy", 0), ("optimal", 40)]
)
def test_einsum_path_is_numpys(subscripts: str, optimize: Any) -> None:
    lengths = dict(
        zip("abcdefghijkl", [2, 3, 4, 5, 4, 3, 2, 6, 5, 4, 3, 2], strict=True)
    )
    terms = subscripts.partition("->")[0].split(",")
    host = [numpy.ones([lengths[letter] for letter in term], "f4") for term in terms]
    own = [np.asarray(array) for array in host]
    expected = numpy.einsum_path(subscripts, *host, optimize=optimize)
    assert np.einsum_path(subscripts, *own, optimize=optimize) == expected


def test_einsum_path_takes_an_order() -> None:
    x = np.ones((2, 2))
    asked = ["einsum_path", (0, 2), (0, 1)]
    path, text = np.einsum_path("ij,jk,kl->il", x, x, x, optimize=asked)
    assert path == asked
    assert (
        text == numpy.einsum_path("ij,jk,kl->il", *[x.numpy()] * 3, optimize=asked)[1]
    )
    assert np.einsum_path("...i,i", np.ones((5, 2)), x[0])[0] == [*asked[:1], (0, 1)]
    for wrong in (["einsum_path", (0, 1)], ["einsum_path", (0, 3), (0, 1)], "best"):
        with pytest.raises(DataError, match="einsum:"):
            np.einsum_path("ij,jk,kl->il", x, x, x, optimize=wrong)
