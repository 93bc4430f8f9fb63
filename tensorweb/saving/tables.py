"""Tables of numbers as text: fields between commas, semicolons, tabs or spaces."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from tensorweb.dtypes import DType, finfo, float64, rounded_to
from tensorweb.errors import DataError, RangeError, ShapeError
from tensorweb.functions import asarray
from tensorweb.saving.source import Source, Stored, refuse
from tensorweb.tensor import Tensor

DELIMITERS = ("\t", ";", ",")
"""In this order: a comma may be a decimal point where something else divides fields."""

WHOLE = re.compile(r"[+-]?\d+")
DECIMAL_COMMA = re.compile(r"([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)")
MISSING = ("", "na", "n/a", "null", "none")

LONGEST_SHOWN = 40


def text_of(source: Source) -> str | None:
    """Return a file as text, None where it is none."""
    try:
        text = source.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def read(name: str, text: str, device: str) -> Tensor:
    """Return the numbers of a table, `(rows, columns)`; a header is left out.

    They are integers if all are, else floats with NaN for empty fields.

    Raises:
        DataError: a line has another number of fields, or a field is no number, or a
            whole number that int32 does not hold.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        refuse(name, "has no line with numbers")
    delimiter = next((mark for mark in DELIMITERS if mark in lines[0]), None)
    rows = _rows(text, delimiter)
    has_header = any(_number(word, delimiter) is None for word in rows[0][1])
    body = rows[1:] if has_header else rows
    if not body:
        refuse(name, f"has no numbers: its only line is {_shown(lines[0])}")
    width = len(rows[0][1])
    is_whole = True
    numbers: list[list[float]] = []
    for line, words in body:
        if len(words) != width:
            refuse(
                name,
                f"has {len(words)} fields in line {line}, and {width} in its first one",
            )
        try:
            row = [float(word) for word in words]
        except ValueError:
            row = _unusual(name, line, words, delimiter)
        is_whole = is_whole and all(WHOLE.fullmatch(word.strip()) for word in words)
        numbers.append(row)
    if is_whole:
        whole = [[int(word) for word in words] for _, words in body]
        try:
            return asarray(whole, device=device)
        except RangeError as error:
            refuse(
                name,
                f"has whole numbers that int32 does not hold ({error}); read it with "
                "loadtxt of tensorweb.numpy and a dtype of your choice",
            )
    return asarray(numbers, device=device)


def _rows(text: str, delimiter: str | None) -> list[tuple[int, list[str]]]:
    """Return the fields of lines that are not empty, each with the line's number."""
    if delimiter is None:
        numbered = enumerate(text.splitlines(), 1)
        return [(line, row.split()) for line, row in numbered if row.strip()]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [(reader.line_num, row) for row in reader if any(map(str.strip, row))]


def _unusual(
    name: str, line: int, words: list[str], delimiter: str | None
) -> list[float]:
    """Return the numbers of a line with empty fields or decimal commas.

    Raises:
        DataError: a field is no number.
    """
    row = []
    for column, word in enumerate(words, 1):
        number = _number(word, delimiter)
        if number is None:
            refuse(
                name,
                f"has {_shown(word)} in line {line}, field {column}, which is no "
                "number; tables of words are read with Python's module csv",
            )
        row.append(number)
    return row


def _number(word: str, delimiter: str | None) -> float | None:
    """Return the number that a field is, None for anything else."""
    word = word.strip()
    if word.lower() in MISSING:
        return float("nan")
    if delimiter != "," and (match := DECIMAL_COMMA.fullmatch(word)):
        word = f"{match[1]}.{match[2]}"
    try:
        return float(word)
    except ValueError:
        return None


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


def write(file: BinaryIO, tensors: Mapping[str, Stored], names: bool) -> None:
    """Write rows of one tensor, or tensors of one axis as columns below their names.

    Raises:
        DataError: a tensor is complex.
        ShapeError: a tensor has more axes, or columns differ in length.
    """
    columns: list[list[Any]] = []
    for name, stored in tensors.items():
        axes = len(stored.shape)
        if axes not in (1, 2) or (axes == 2 and names):
            expected = "(rows,)" if names else "(rows,) or (rows, columns)"
            raise ShapeError(
                f"save: a table has numbers of shape {expected}, and {name!r} has "
                f"{stored.shape}."
            )
        if stored.dtype.kind == "complex":
            raise DataError(
                f"save: a table has real numbers, and {name!r} is {stored.dtype}; save "
                "x.real and x.imag, or an .npz file."
            )
        texts = _texts(stored)
        count = stored.shape[1] if axes == 2 else 1
        columns += [texts[at::count] for at in range(count)]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ShapeError(f"save: columns of a table have {sorted(lengths)} numbers.")
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    if names:
        writer.writerow(tensors)
    writer.writerows(zip(*columns, strict=True))
    file.write(text.getvalue().encode())


def _texts(stored: Stored) -> list[str]:
    """Return each element as the shortest text that is the same number again."""
    if stored.dtype.kind != "float" or stored.dtype is float64:
        convert = int if stored.dtype.kind == "bool" else repr
        return [str(convert(number)) for number in stored.numbers()]
    return [_shortest(number, stored.dtype) for number in stored.numbers()]


def _shortest(number: float, dtype: DType) -> str:
    for digits in range(finfo(dtype).precision, 9):
        text = f"{number:.{digits}g}"
        if rounded_to(float(text), dtype) == number:
            return text
    return f"{number:.9g}"
