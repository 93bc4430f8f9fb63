"""Numbers in text: `loadtxt`, `genfromtxt` and `savetxt`, line by line in Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError
from tensorweb.functions import asarray
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

__all__ = [
    "genfromtxt",
    "loadtxt",
    "savetxt",
]


def _lines(file: Any) -> list[str]:
    """Return the lines of a path, an open file or a list of lines."""
    if isinstance(file, str | Path):
        return Path(file).read_text("utf-8").splitlines()
    found = [
        line.decode("utf-8") if isinstance(line, bytes) else str(line) for line in file
    ]
    return [line.rstrip("\r\n") for line in found]


def _rows(
    lines: Iterable[str], delimiter: str | None, comments: str | None
) -> list[list[str]]:
    """Return the words of lines that have any, without comments."""
    rows = []
    for line in lines:
        text = line.split(comments)[0] if comments else line
        if text.strip():
            rows.append([word.strip() for word in text.split(delimiter)])
    return rows


def _tensor(
    name: str,
    rows: list[list[Any]],
    dtype: DTypeLike,
    usecols: int | Sequence[int] | None,
    unpack: bool,
    ndmin: int,
) -> Any:
    if usecols is not None:
        columns = [usecols] if isinstance(usecols, int) else list(usecols)
        rows = [[row[i] for i in columns] for row in rows]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1:
        raise DataError(
            f"{name}: lines have {min(lengths)} to {max(lengths)} columns; take those "
            "that all have with usecols=."
        )
    x = asarray(rows, dtype=dtype) if rows else asarray([], dtype=dtype)
    axes = [axis for axis in range(x.ndim) if x.shape[axis] == 1 and x.ndim > ndmin]
    x = x.squeeze(tuple(axes)) if axes else x
    x = x.reshape((1,) * (ndmin - x.ndim) + x.shape) if x.ndim < ndmin else x
    if unpack and x.ndim == 2:
        return tuple(x.mT)
    return x


def loadtxt(
    fname: Any,
    dtype: DTypeLike = float,
    comments: str | None = "#",
    delimiter: str | None = None,
    converters: object = None,
    skiprows: int = 0,
    usecols: int | Sequence[int] | None = None,
    unpack: bool = False,
    ndmin: int = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
) -> Any:
    """Return the numbers of a text: a line is a row, words are numbers.

    `fname` is a path, an open file or a list of lines.

    Raises:
        DataError: a word is no number, or lines have different numbers of words.

    >>> np.loadtxt(["1, 2", "3, 4"], delimiter=",")
    tensor([[1., 2.],
            [3., 4.]])
    """
    wanted = as_dtype(dtype)
    if converters is not None:
        raise DataError("loadtxt: converters are not possible; convert the tensor.")
    rows = _rows(_lines(fname)[skiprows:], delimiter, comments)[:max_rows]
    number = float if wanted.kind == "float" else _whole
    values = [[_read("loadtxt", word, number) for word in row] for row in rows]
    return _tensor("loadtxt", values, wanted, usecols, unpack, ndmin)


def _whole(word: str) -> int:
    """Return a whole number, also of a text such as 3.0."""
    try:
        return int(word)
    except ValueError:
        return int(float(word))


def _read(name: str, word: str, number: Any) -> Any:
    try:
        return number(word)
    except ValueError:
        raise DataError(f"{name}: {word!r} is no number; say delimiter=.") from None


def genfromtxt(
    fname: Any,
    dtype: DTypeLike = float,
    comments: str | None = "#",
    delimiter: str | None = None,
    skip_header: int = 0,
    skip_footer: int = 0,
    converters: object = None,
    missing_values: object = None,
    filling_values: float | None = None,
    usecols: int | Sequence[int] | None = None,
    unpack: bool = False,
    *,
    ndmin: int = 0,
    max_rows: int | None = None,
) -> Any:
    """Return the numbers of a text; what is missing or no number is filled.

    It is NaN, in integers -1, unless `filling_values` says otherwise. Names of columns
    and several dtypes are not possible.

    Raises:
        DataError: lines have different numbers of words.

    >>> np.genfromtxt(["1,,3", "4,5,"], delimiter=",", dtype=int)
    tensor([[ 1, -1,  3],
            [ 4,  5, -1]])
    """
    wanted = as_dtype(dtype)
    if converters is not None or missing_values is not None:
        raise DataError("genfromtxt: converters and missing_values are not possible.")
    is_float = wanted.kind == "float"
    filling = filling_values
    if filling is None:
        filling = math.nan if is_float else -1
    lines = _lines(fname)[skip_header:]
    lines = lines[: len(lines) - skip_footer]
    rows = _rows(lines, delimiter, comments)[:max_rows]

    def value(word: str) -> Any:
        try:
            return float(word) if is_float else _whole(word)
        except ValueError:
            return filling

    values = [[value(word) for word in row] for row in rows]
    return _tensor("genfromtxt", values, wanted, usecols, unpack, ndmin)


def savetxt(
    fname: Any,
    X: ArrayLike,
    fmt: str | Sequence[str] = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
) -> None:
    r"""Write a vector or a matrix as text, a line for each row; its values are read.

    Raises:
        DataError: it has more than two axes.

    >>> import io
    >>> file = io.StringIO()
    >>> np.savetxt(file, [[1, 2], [3, 4]], fmt="%d", delimiter=",")
    >>> file.getvalue()
    '1,2\n3,4\n'
    """
    x: Tensor = asarray(X)
    if x.ndim > 2:
        raise DataError(f"savetxt: shape {x.shape} has more than two axes; reshape it.")
    rows = x.reshape(-1, 1).tolist() if x.ndim < 2 else x.tolist()
    lines = [f"{comments}{line}" for line in header.splitlines()]
    for row in rows:
        formats = [fmt] * len(row) if isinstance(fmt, str) else fmt
        words = [each % value for each, value in zip(formats, row, strict=True)]
        lines.append(delimiter.join(words))
    lines += [f"{comments}{line}" for line in footer.splitlines()]
    text = "".join(line + newline for line in lines)
    if isinstance(fname, str | Path):
        Path(fname).write_text(text, "utf-8")
    else:
        fname.write(text)
