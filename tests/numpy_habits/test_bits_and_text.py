"""`nditer`, bits, text and settings of `tensorweb.numpy` against NumPy."""

from __future__ import annotations

import io
from typing import Any

import numpy
import pytest

import tensorweb.numpy as np
from tensorweb.errors import DataError, DTypeError

TABLE = """# a b c
1, 2.5, x
4, , 6
"""

LINES = """
np.unpackbits(np.asarray([[5, 255], [0, 16]], dtype=np.uint8))
np.unpackbits(np.asarray([[5, 255], [0, 16]], dtype=np.uint8), axis=0)
np.unpackbits(np.asarray([5], dtype=np.uint8), count=12, bitorder="little")
np.unpackbits(np.asarray([[5, 9]], dtype=np.uint8), axis=1, count=5)
np.packbits(np.asarray([1, 0, 1, 1, 0, 0, 0, 1, 1], dtype=np.uint8))
np.packbits(np.asarray([[True, False], [True, True]]), axis=1, bitorder="little")
np.genfromtxt(io.StringIO(TABLE), delimiter=",")
np.genfromtxt(io.StringIO(TABLE), delimiter=",", dtype=int, usecols=(0, 2))
np.loadtxt(["1 2 3", "4 5 6"], usecols=(0, 2), unpack=True)
np.loadtxt(["a", "7"], skiprows=1, ndmin=1)
np.loadtxt(["1;2"], delimiter=";", ndmin=2)
np.emath.sqrt([4.0, 9.0])
np.emath.sqrt([-4.0, 9.0])
np.emath.log(-1.0)
np.emath.arccos([0.5, 2.0])
np.roots([1.0, -6.0, 11.0, -6.0])
np.sort(np.roots([0.0, 2.0, 0.0, 8.0, 0.0]).imag)
np.roots([0.0, 3.0])
np.sort_complex([2 + 1j, 1 - 1j, 2 - 1j])
"""


def test_lines_agree_with_numpy(cpu: str) -> None:
    shared = {"io": io, "TABLE": TABLE}
    for line in LINES.strip().split("\n"):
        got, expected = (eval(line, {"np": module, **shared}) for module in (np, numpy))
        if isinstance(got, tuple):
            got = [each.numpy() for each in got]
        elif isinstance(got, np.ndarray):
            got = got.numpy()
        assert numpy.allclose(got, expected, equal_nan=True), line
        assert numpy.shape(got) == numpy.shape(expected), line


def test_integers_are_written_in_other_bases() -> None:
    for number in (0, 1, 7, -7, 200):
        for base in (2, 3, 16, 36):
            assert np.base_repr(number, base) == numpy.base_repr(number, base)
        assert np.base_repr(number, 2, 4) == numpy.base_repr(number, 2, 4)
        for width in (None, 9):
            assert np.binary_repr(number, width) == numpy.binary_repr(number, width)


def test_nditer_reads_and_writes(cpu: str) -> None:
    x = np.asarray([[1, 2], [3, 4]])
    assert [int(v) for v in np.nditer(x)] == [1, 2, 3, 4]
    steps = np.nditer([x, [10, 20], None])
    for a, b, c in steps:
        c[...] = a * b
    assert steps.operands[2].tolist() == [[10, 40], [30, 80]]
    for v in np.nditer(x, op_flags=["readwrite"]):
        v[...] = 2 * v
    assert x.tolist() == [[2, 4], [6, 8]]
    with pytest.raises(DataError, match="ranged"):
        np.nditer(x, flags=["ranged"])


def test_settings_are_saved_and_restored(cpu: str) -> None:
    x = np.zeros(2000)
    with np.printoptions(threshold=5000, precision=2):
        assert "..." not in str(x)
        assert str(np.asarray([1 / 3])) == "[0.33]"
    assert "..." in str(x)
    assert np.seterr(divide="warn")["divide"] == "ignore"
    assert np.seterr(all="ignore")["divide"] == "warn"
    with np.errstate(over="warn"):
        assert np.geterr()["over"] == "warn"
    assert np.geterr()["over"] == "ignore"
    with pytest.raises(DataError, match="isfinite"):
        np.seterr(all="raise")
    with pytest.raises(DataError, match="floatmode"):
        np.set_printoptions(floatmode="fixed")


def test_text_that_is_written_reads_back(cpu: str) -> None:
    file = io.StringIO()
    np.savetxt(file, [[1.5, 2], [3, 4]], fmt="%.1f", header="a b")
    assert file.getvalue() == "# a b\n1.5 2.0\n3.0 4.0\n"
    assert np.loadtxt(file.getvalue().splitlines()).tolist() == [[1.5, 2], [3, 4]]
    with pytest.raises(DataError, match="'b' is no number"):
        np.loadtxt(["1 b"])
    with pytest.raises(DTypeError, match="give uint8"):
        np.unpackbits([1, 2])


@pytest.mark.parametrize(
    "options",
    [
        {"precision": 2, "suppress": True},
        {"precision": 4},
        {"formatter": {"float_kind": "{:.1f}".format}},
        {"formatter": {"all": lambda value: f"<{value:.3g}>"}, "linewidth": 30},
    ],
)
def test_options_of_printing_give_numpys_text(cpu: str, options: Any) -> None:
    rows = (
        [1 / 3, -2.5e-9, 40.0],
        [78397.55, -23250.309],
        [4.2e6, 1.0],
        [[1.0], [2.0]],
    )
    for row in rows:
        host = numpy.asarray(row, numpy.float32)
        with numpy.printoptions(**options):
            expected = (
                str(host),
                numpy.array2string(host, separator=", ", **shown(options)),
            )
        with np.printoptions(**options):
            assert str(np.asarray(host)) == expected[0]
        found = np.array2string(np.asarray(host), separator=", ", **shown(options))
        assert found == expected[1]
    assert str(np.asarray([0.5, 1e-9])) == "[5.e-01 1.e-09]"


def shown(options: dict[str, Any]) -> dict[str, Any]:
    """Return options under the names that `array2string` has for them."""
    names = {"suppress": "suppress_small", "linewidth": "max_line_width"}
    return {names.get(name, name): value for name, value in options.items()}
