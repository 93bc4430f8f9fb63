"""Numbers in text: `loadtxt`, `genfromtxt`, `fromstring` and `savetxt`, in Python."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

from tensorweb import functions as tw
from tensorweb.dtypes import DType, as_dtype, integer_range
from tensorweb.errors import DataError, DTypeError, ShapeError, TensorIndexError
from tensorweb.numpy.arguments import check_unused
from tensorweb.public_names import declare_public
from tensorweb.shapes import is_integer
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".lzma": lzma.open,
}
"""How files are opened, by the end of their names."""

Columns = SupportsIndex | Sequence[SupportsIndex] | None
Converter = Callable[[Any], Any]
Converters = Converter | Mapping[int, Converter] | None


def _opener_of(path: str) -> Callable[..., Any]:
    return OPENERS.get(os.path.splitext(path)[1].lower(), open)


def _read_lines(file: Any, encoding: str | None) -> Iterator[str]:
    """Yield the lines of a path, an open file or a list of lines."""
    code = "latin1" if encoding == "bytes" else encoding or "utf-8"
    if isinstance(file, str | os.PathLike):
        path = os.fspath(file)
        with _opener_of(path)(path, "rt", encoding=code) as opened:
            yield from (line.rstrip("\r\n") for line in opened)
        return
    for line in file:
        text = line.decode(code) if isinstance(line, bytes) else line
        if not isinstance(text, str):
            raise DTypeError(
                f"a line is {line!r} of type {type(line).__name__}, no text."
            )
        yield text.rstrip("\r\n")


def _split_quoted(line: str, delimiter: str | None, quote: str) -> list[str]:
    """Return the words of a line; delimiters between quotes belong to a word."""
    words, word, inside, begun = [], "", False, False
    i = 0
    while i < len(line):
        letter = line[i]
        if inside and letter == quote and line[i + 1 : i + 2] == quote:
            word, i = word + quote, i + 1
        elif letter == quote and (inside or not word.strip()):
            inside, begun = not inside, True
        elif not inside and (
            letter.isspace() if delimiter is None else letter == delimiter
        ):
            if delimiter is not None or word or begun:
                words.append(word)
            word, begun = "", False
        else:
            word += letter
        i += 1
    return [*words, word] if delimiter is not None or word or begun else words


def _strip_comment(line: str, comments: Sequence[str], quote: str | None) -> str:
    """Return a line up to the first comment outside quotes."""
    inside = False
    for i in range(len(line) if comments else 0):
        if quote is not None and line[i] == quote:
            inside = not inside
        if not inside and line.startswith(tuple(comments), i):
            return line[:i]
    return line


def _split_lines(
    lines: Iterable[str],
    delimiter: str | int | Sequence[int] | None,
    comments: Sequence[str],
    quote: str | None = None,
) -> Iterator[list[str]]:
    """Yield the words of lines that have any, without comments."""
    for line in lines:
        text = _strip_comment(line, comments, quote)
        if not text.strip():
            continue
        if quote is not None:
            assert delimiter is None or isinstance(delimiter, str), "internal: a letter"
            yield _split_quoted(text, delimiter, quote)
        elif delimiter is None or isinstance(delimiter, str):
            yield text.split(delimiter)
        else:
            yield _split_widths(text, delimiter)


def _split_widths(text: str, widths: int | Sequence[int]) -> list[str]:
    """Split a line into columns of the given widths, one each or one for all."""
    if isinstance(widths, int):
        return [text[i : i + widths] for i in range(0, len(text), widths)]
    ends = [sum(widths[: i + 1]) for i in range(len(widths))]
    return [text[end - width : end] for end, width in zip(ends, widths, strict=True)]


def _parse_usecols(name: str, usecols: Columns) -> list[int] | None:
    """Return the chosen columns, None for all.

    Raises:
        DTypeError: a column is no integer (a TypeError as well).
    """
    if usecols is None:
        return None
    is_one = is_integer(usecols) or isinstance(usecols, float)
    try:
        return list(map(operator.index, [usecols] if is_one else usecols))  # type: ignore[arg-type]  # raises TypeError
    except TypeError:
        raise DTypeError(
            f"{name}: usecols={usecols!r}; columns are an integer or several."
        ) from None


def _select_columns(
    name: str, rows: list[list[str]], columns: list[int] | None
) -> list[list[str]]:
    """Return the words of the chosen columns, row by row.

    Raises:
        DataError: rows differ in length and all columns are taken.
        TensorIndexError: a row has no such column.
    """
    for number, row in enumerate(rows, 1):
        if columns is None and len(row) != len(rows[0]):
            raise DataError(
                f"{name}: row {number} has {len(row)} columns, others have "
                f"{len(rows[0])}; choose columns that every row has with usecols=."
            )
        for column in columns or ():
            if not -len(row) <= column < len(row):
                raise TensorIndexError(
                    f"{name}: column {column} of usecols is not in row {number}, which "
                    f"has {len(row)} columns."
                )
    if columns is None:
        return rows
    return [[row[column] for column in columns] for row in rows]


def _shape_result(
    rows: Sequence[Sequence[Any]], dtype: DType, width: int, unpack: bool, ndmin: int
) -> Tensor:
    """Return rows of numbers with axes of length 1 left out, down to `ndmin` axes."""
    x = tw.asarray(rows if rows else [], dtype=dtype)
    x = x if rows else x.reshape((0, width or 1))
    if x.ndim > ndmin:
        x = x.squeeze()
    if x.ndim < ndmin:
        x = x.reshape((1,) * (ndmin - x.ndim) + x.shape)
    return x.T if unpack else x


READERS: dict[str, Callable[[str], Any]] = {
    "bool": lambda word: bool(int(word)),
    "int": int,
    "uint": int,
    "float": float,
    "complex": lambda word: complex(_python_complex(word)),
}
"""How a word becomes a number of a kind of dtypes."""


def _converter_of(dtype: DType) -> Callable[[str], Any]:
    """Return how a word becomes a number of a dtype; integers must fit."""
    read = READERS[dtype.kind]
    if dtype.kind not in ("int", "uint"):
        return lambda word: read(_check_plain(word))
    low, high = integer_range(dtype)

    def integer(word: str) -> int:
        number: int = read(_check_plain(word))
        if not low <= number <= high:
            raise ValueError(f"{dtype} is {low} to {high}")
        return number

    return integer


def _check_plain(word: str) -> str:
    if "_" in word:
        raise ValueError("no digits are set apart by _")
    return word


def _python_complex(word: str) -> str:
    """Return a complex number as Python writes it: `j` for `i` at its end."""
    text = word.strip()
    if text[:1] == "(" and text[-1:] == ")":
        text = text[1:-1].strip()
    elif "(" in text or ")" in text:
        raise ValueError("one bracket is missing")
    text = text.replace("+-", "-")
    return text[:-1] + "j" if text.endswith("i") else text


def _check_marks(
    delimiter: str | None, comments: Sequence[str], quotechar: str | None
) -> None:
    """Raise where one letter would mean two things.

    Raises:
        DTypeError: comments, delimiter and quotes are alike, or ends of lines.
    """
    letters = [x for x in (delimiter, quotechar, *comments) if x is not None]
    if len(set(letters)) < len(letters):
        raise DTypeError(
            f"loadtxt: delimiter={delimiter!r}, comments={list(comments)!r} and "
            f"quotechar={quotechar!r} must differ."
        )
    for letter in letters:
        if letter in ("\n", "\r"):
            raise DTypeError(
                f"loadtxt: {letter!r} ends a line; it has no other meaning."
            )
    if delimiter is None and any(map(str.isspace, letters)):
        raise DTypeError(
            "loadtxt: a blank separates the words; give another delimiter=."
        )


def _converters_by_position(
    name: str, converters: Converters, columns: list[int] | None, width: int
) -> dict[int, Converter]:
    """Return the functions of the chosen columns, by their order.

    Raises:
        DTypeError: a converter is no function (a TypeError as well).
    """
    if converters is None:
        return {}
    chosen = list(range(width)) if columns is None else columns
    if callable(converters):
        return dict.fromkeys(range(len(chosen)), converters)
    if not isinstance(converters, Mapping):
        raise DTypeError(
            f"{name}: converters={converters!r}; give functions by column."
        )
    by_position = {}
    for column, function in converters.items():
        if not callable(function):
            raise DTypeError(
                f"{name}: the converter of column {column} is no function."
            )
        index = operator.index(column)
        if width and not -width <= index < width:
            raise DataError(f"{name}: no column {index} for a converter, of {width}.")
        for position, chosen_column in enumerate(chosen):
            if index - chosen_column in (0, width, -width):
                by_position[position] = function
    return by_position


def loadtxt(
    fname: Any,
    dtype: DTypeLike = float,
    comments: str | Sequence[str] | None = "#",
    delimiter: str | None = None,
    converters: Converters = None,
    skiprows: int = 0,
    usecols: Columns = None,
    unpack: bool = False,
    ndmin: int = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
    *,
    quotechar: str | None = None,
    like: ArrayLike = None,
) -> Tensor:
    """Return the numbers of a text: a line is a row, words are numbers.

    `fname` is a path, also of a file compressed by gzip, bz2 or xz, an open file or a
    list of lines. `converters` are functions from a word to a number, one or by column.

    Raises:
        DataError: a word is no number, or lines have different numbers of words.
        TensorIndexError: a line has no column of `usecols`.
        DTypeError: `delimiter` or `quotechar` is not one letter.

    >>> np.loadtxt(["1, 2", "3, 4"], delimiter=",")
    tensor([[1., 2.],
            [3., 4.]])
    >>> np.loadtxt(["a 1", "b 2"], usecols=1, dtype=int)
    tensor([1, 2])
    """
    check_unused("loadtxt", like=like)
    if ndmin not in (0, 1, 2):
        raise DataError(f"loadtxt: ndmin={ndmin!r}; it is 0, 1 or 2.")
    if delimiter is not None and len(delimiter) != 1:
        raise DTypeError(f"loadtxt: delimiter={delimiter!r}; it is one letter.")
    if quotechar is not None and len(quotechar) != 1:
        raise DTypeError(f"loadtxt: quotechar={quotechar!r}; it is one letter.")
    for option, count in (("skiprows", skiprows), ("max_rows", max_rows)):
        if count is not None and operator.index(count) < 0:
            raise DataError(f"loadtxt: {option}={count} is negative.")
    target_dtype = as_dtype(dtype)
    listed: Any = [comments] if isinstance(comments, str | bytes) else comments or ()
    marks = [mark.decode() if isinstance(mark, bytes) else mark for mark in listed]
    if quotechar is not None and any(len(mark) > 1 for mark in marks):
        raise DataError("loadtxt: with quotechar= a comment begins with one letter.")
    if "" in marks:
        raise DataError("loadtxt: a comment begins with no letters; use comments=None.")
    _check_marks(delimiter, marks, quotechar)
    lines = itertools.islice(_read_lines(fname, encoding), skiprows, None)
    split_lines = _split_lines(lines, delimiter, marks, quotechar)
    rows = list(itertools.islice(split_lines, max_rows))
    columns = _parse_usecols("loadtxt", usecols)
    words = _select_columns("loadtxt", rows, columns)
    width = len(rows[0]) if rows else 0
    own = _converters_by_position("loadtxt", converters, columns, width)
    reader = _converter_of(target_dtype)
    as_bytes = encoding == "bytes"
    values = [
        [
            _convert_word("loadtxt", word, own.get(i, reader), as_bytes and i in own)
            for i, word in enumerate(row)
        ]
        for row in words
    ]
    return _shape_result(values, target_dtype, len(columns or ()), unpack, ndmin)


def _drop_other_lengths(rows: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield the rows that are as long as the first."""
    length = None
    for row in rows:
        length = len(row) if length is None else length
        if len(row) == length:
            yield row


def _convert_word(name: str, word: str, reader: Converter, as_bytes: bool) -> Any:
    try:
        return reader(word.encode("latin1") if as_bytes else word)
    except ValueError as error:
        raise DataError(
            f"{name}: {word!r} is no number ({error}); give delimiter=, dtype= or "
            "converters=."
        ) from None


def fromstring(
    string: str | bytes,
    dtype: DTypeLike = float,
    count: int = -1,
    *,
    sep: str,
    like: ArrayLike = None,
) -> Tensor:
    """Return the numbers of one text, which `sep` divides; of bool any but 0 is true.

    Raises:
        DataError: a word is no number, or there are fewer than `count`.

    >>> np.fromstring("1, 2, 3", dtype=int, sep=",")
    tensor([1, 2, 3])
    """
    check_unused("fromstring", like=like)
    if not sep:
        raise DataError(
            "fromstring: sep is empty; of bytes np.frombuffer makes arrays."
        )
    text = string if isinstance(string, str) else string.decode("latin1")
    words = text.split(sep.strip() or None)
    if words and not words[-1].strip():
        words.pop()
    if len(words) < count:
        raise DataError(f"fromstring: {len(words)} numbers where count is {count}.")
    target_dtype = as_dtype(dtype)
    reader = _converter_of(target_dtype)
    if target_dtype.kind == "bool":
        reader = lambda word: float(word) != 0  # noqa: E731  # as C reads it
    elif target_dtype.kind == "float":  # which may end in what C's NaN carries
        words = [re.sub(r"(?i)(nan)\(\w*\)", r"\1", word) for word in words]
    words = words if count < 0 else words[:count]
    numbers = [_convert_word("fromstring", word, reader, False) for word in words]
    return tw.asarray(numbers, target_dtype)


def genfromtxt(
    fname: Any,
    dtype: DTypeLike = float,
    comments: str | None = "#",
    delimiter: str | int | Sequence[int] | None = None,
    skip_header: int = 0,
    skip_footer: int = 0,
    converters: Converters = None,
    missing_values: str | Sequence[str] | Mapping[int, str] | None = None,
    filling_values: float | Sequence[float] | Mapping[int, float] | None = None,
    usecols: Columns = None,
    names: None = None,
    excludelist: None = None,
    deletechars: str = "",
    replace_space: str = "_",
    autostrip: bool = False,
    case_sensitive: bool = True,
    defaultfmt: str = "f%i",
    unpack: bool | None = None,
    usemask: bool = False,
    loose: bool = True,
    invalid_raise: bool = True,
    max_rows: int | None = None,
    encoding: str | None = None,
    *,
    ndmin: int = 0,
    like: ArrayLike = None,
) -> Tensor:
    """Return the numbers of a text; missing and invalid words are filled.

    It is NaN, in integers -1, unless `filling_values` are given, for all columns
    or by column. With `loose=False` a word that is no number is an error. Names of
    columns and several dtypes are not possible, so that the options of names
    (`excludelist`, `deletechars`, `replace_space`, `case_sensitive`, `defaultfmt`) have
    no effect.

    Raises:
        DataError: lines have different numbers of words, a name or mask is asked for.

    >>> np.genfromtxt(["1,,3", "4,5,"], delimiter=",", dtype=int)
    tensor([[ 1, -1,  3],
            [ 4,  5, -1]])
    """
    check_unused("genfromtxt", names=names, usemask=usemask or None, like=like)
    if max_rows is not None and (skip_footer or max_rows < 1):
        raise DataError(
            f"genfromtxt: max_rows={max_rows} and skip_footer={skip_footer}; give a "
            "positive max_rows alone."
        )
    lines = itertools.islice(_read_lines(fname, encoding), skip_header, None)
    split_lines = _split_lines(lines, delimiter, [comments] if comments else ())
    columns = _parse_usecols("genfromtxt", usecols)
    stripped: Iterable[list[str]]
    stripped = ([word.strip() for word in row] for row in split_lines)
    if skip_footer:  # the lines at the end count as they are
        listed = list(stripped)
        stripped = listed[: max(0, len(listed) - skip_footer)]
    if not invalid_raise and columns is None:
        stripped = _drop_other_lengths(stripped)
    rows = list(itertools.islice(stripped, max_rows))
    words = _select_columns("genfromtxt", rows, columns)
    target_dtype = _detect_dtype(words) if dtype is None else as_dtype(dtype)
    width = len(rows[0]) if rows else 0
    chosen = range(width) if columns is None else columns
    missing = [_value_for_column(missing_values, i, c) for i, c in enumerate(chosen)]
    filling = [_value_for_column(filling_values, i, c) for i, c in enumerate(chosen)]
    own = _converters_by_position("genfromtxt", converters, columns, width)
    default = math.nan if target_dtype.kind in ("float", "complex") else -1

    def value(word: str, i: int) -> Any:
        fill = default if filling[i] is None else filling[i]
        marks = missing[i].split(",") if isinstance(missing[i], str) else ()
        if i in own and (word or filling[i] is None):
            return own[i](word.encode("latin1") if encoding == "bytes" else word)
        if not word or word in marks:
            return fill
        try:
            return _convert_loosely(word, target_dtype)
        except ValueError:
            if loose:
                return fill
            raise DataError(f"genfromtxt: {word!r} is no number.") from None

    values = [[value(word, i) for i, word in enumerate(row)] for row in words]
    return _shape_result(values, target_dtype, len(columns or ()), bool(unpack), ndmin)


def _convert_loosely(word: str, dtype: DType) -> Any:
    """Return a number; of a text such as 3.0 or True in an integer dtype as well."""
    if dtype.kind == "bool":
        return {"true": True, "false": False}.get(word.lower()) or bool(int(word))
    if dtype.kind in ("float", "complex"):
        return READERS[dtype.kind](word)
    try:
        return int(word)
    except ValueError:
        return int(float(word))


def _detect_dtype(words: Sequence[Sequence[str]]) -> DType:
    """Return the smallest of int, float and complex that represents all words."""
    for dtype in map(as_dtype, (int, float, complex)):
        with contextlib.suppress(ValueError):
            for word in itertools.chain(*words):
                if word:
                    READERS[dtype.kind](word)
            return dtype
    raise DataError(
        "genfromtxt: a word is no number; take other columns with usecols=."
    )


def _value_for_column(values: Any, order: int, column: int) -> Any:
    """Return the option of a column: one for all, in a list, or by index."""
    if isinstance(values, Mapping):
        return values.get(column)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        return values
    return values[order] if order < len(values) else None


def savetxt(
    fname: Any,
    X: ArrayLike,
    fmt: str | Sequence[str] = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None:
    r"""Write a vector or a matrix as text, a line for each row; its values are read.

    A path that ends in `.gz`, `.bz2` or `.xz` is compressed; a file may be open for
    text or for bytes.

    Raises:
        ShapeError: it has no axis, or more than two.
        DataError: there are not as many formats as columns.

    >>> import io
    >>> file = io.StringIO()
    >>> np.savetxt(file, [[1, 2], [3, 4]], fmt="%d", delimiter=",")
    >>> file.getvalue()
    '1,2\n3,4\n'
    """
    x: Tensor = tw.asarray(X)
    if x.ndim not in (1, 2):
        raise ShapeError(
            f"savetxt: shape {x.shape} has not one or two axes; reshape it."
        )
    x = x.reshape(-1, 1) if x.ndim < 2 else x
    is_complex = x.dtype.kind == "complex"
    line_format = _row_format(fmt, delimiter, x.shape[1], is_complex)
    lines = [_comment_lines(header, comments)] if header else []
    for row in x.tolist():
        if is_complex:
            row = [part for number in row for part in (number.real, number.imag)]
        # A negative imaginary part has its own sign, as in NumPy.
        lines.append((line_format % tuple(row)).replace("+-", "-"))
    lines += [_comment_lines(footer, comments)] if footer else []
    _write_text(fname, "".join(line + newline for line in lines), encoding)


def _comment_lines(text: str, comments: str) -> str:
    return comments + text.replace("\n", f"\n{comments}")


def _row_format(
    fmt: str | Sequence[str], delimiter: str, width: int, is_complex: bool
) -> str:
    """Return the format of a row of numbers, or of their two parts."""
    if not isinstance(fmt, str | list | tuple):
        raise DataError(f"savetxt: fmt={fmt!r}; give a format or a list of them.")
    if isinstance(fmt, list | tuple):
        if len(fmt) != width:
            raise DataError(f"savetxt: {len(fmt)} formats for {width} columns.")
        return delimiter.join(fmt)
    count = fmt.count("%") - 2 * fmt.count("%%")
    if is_complex and count == 1:
        return delimiter.join([f" ({fmt}+{fmt}j)"] * width)
    if count == 1:
        return delimiter.join([fmt] * width)
    if count != width * (2 if is_complex else 1):
        raise DataError(
            f"savetxt: fmt={fmt!r} has {count} formats for {width} columns."
        )
    return fmt


def _write_text(file: Any, text: str, encoding: str | None) -> None:
    """Write a text into a path or an open file, of text or of bytes."""
    code = encoding or "utf-8"
    if isinstance(file, str | os.PathLike):
        path = os.fspath(file)
        with _opener_of(path)(path, "wt", encoding=code, newline="") as opened:
            opened.write(text)
        return
    is_text = isinstance(file, io.TextIOBase)
    try:
        file.write(text if is_text else text.encode(code))
    except TypeError:
        file.write(text)


declare_public(__name__)
