"""The format safetensors: a header of JSON, and the bytes of all tensors behind it.

Eight bytes say how long the header is; it gives dtype, shape and range of bytes of each
tensor by name. https://huggingface.co/docs/safetensors describes it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, BinaryIO

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.errors import DataError, DTypeError
from tensorweb.graph.storage import HostData, LazyData
from tensorweb.hostdata import pack
from tensorweb.saving.source import Source, Stored, refuse
from tensorweb.shapes import Shape, size

LONGEST_HEADER = 100_000_000
"""Bytes; other readers take no longer ones."""

DEEPEST = 3
"""A header is an object of objects with lists."""

METADATA = "__metadata__"
"""Where a header keeps notes, which are no tensor."""

PARTS = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}]')
"""Strings, and where lists and objects begin and end."""

DTYPES: dict[str, DType] = {
    "F64": dtypes.float64,
    "F32": dtypes.float32,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "I64": dtypes.int64,
    "I32": dtypes.int32,
    "I16": dtypes.int16,
    "I8": dtypes.int8,
    "U64": dtypes.uint64,
    "U32": dtypes.uint32,
    "U16": dtypes.uint16,
    "U8": dtypes.uint8,
    "BOOL": dtypes.bool,
    "C64": dtypes.complex64,
}
"""The format's words; those of `FP8` are only read."""


def _bfloat16_of_codes(digits: int) -> tuple[bytes, bytes]:
    """Return the lower and the upper bytes of the numbers of all 256 codes of FP8.

    Args:
        digits: bits of the mantissa: 3 (E4M3, whose last number is NaN) or 2 (E5M2,
            with infinities as in IEEE 754).
    """
    bias = 2 ** (6 - digits) - 1
    numbers = []
    for code in range(128):
        exponent, fraction = code >> digits, code & (2**digits - 1)
        mantissa = fraction + (2**digits if exponent else 0)
        number = mantissa * 2.0 ** (max(exponent, 1) - bias - digits)
        if digits == 2 and exponent == 31:
            number = math.nan if fraction else math.inf
        numbers.append(math.nan if digits == 3 and code == 127 else number)
    data = pack([*numbers, *(-number for number in numbers)], dtypes.bfloat16, (256,))
    return data[0::2], data[1::2]


FP8 = {"F8_E4M3": _bfloat16_of_codes(3), "F8_E5M2": _bfloat16_of_codes(2)}
"""Words of 8-bit floats, and their numbers as bfloat16, which holds each of them."""

WORDS = {dtype.name: word for word, dtype in DTYPES.items()}


def write(file: BinaryIO, tensors: Mapping[str, Stored]) -> None:
    """Write tensors by name, wide dtypes first, so that all are aligned.

    Raises:
        DataError: a tensor has the name of what the format says of the file.
        DTypeError: the format has no word for a dtype.
    """
    if METADATA in tensors:
        raise DataError(
            f"save: a tensor is called {METADATA!r}, under which safetensors keeps "
            "notes; rename its key."
        )
    header: dict[str, Any] = {METADATA: {"format": "pt"}}
    ordered = sorted(tensors, key=lambda name: -tensors[name].dtype.itemsize)
    end = 0
    for name in ordered:
        stored = tensors[name]
        begin, end = end, end + len(stored.data)
        if stored.dtype.name not in WORDS:
            raise DTypeError(
                f"save: {name!r} is {stored.dtype}, for which safetensors has no word; "
                "save an .npz file, or convert with astype(tw.complex64)."
            )
        header[name] = {
            "dtype": WORDS[stored.dtype.name],
            "shape": list(stored.shape),
            "data_offsets": [begin, end],
        }
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little"))
    file.write(text)
    for name in ordered:
        file.write(tensors[name].data)


def is_start(head: bytes) -> bool:
    """Whether a file that begins so is of this format."""
    length = int.from_bytes(head[:8], "little")
    return len(head) > 8 and length <= LONGEST_HEADER and head[8:9] == b"{"


def read(source: Source) -> dict[str, Stored]:
    """Return the tensors of a file, in the order of its header.

    Raises:
        DataError: it is cut, no such file, or its parts do not fit together.
    """
    name = source.name
    length = int.from_bytes(source.read(0, 8), "little")
    if 8 + length > source.size:
        refuse(
            name,
            f"is cut: its header has {length} bytes, and the file {source.size - 8} "
            "behind its first 8",
        )
    begin = 8 + length
    header = _header(name, source.read(8, begin))
    spans = {
        key: _span(name, key, entry, source.size - begin)
        for key, entry in header.items()
        if key != METADATA
    }
    _check_spans(name, spans, source.size - begin)
    return {
        key: _stored(source.host(begin + first, begin + end), word, shape)
        for key, (word, shape, first, end) in spans.items()
    }


def _stored(host: HostData, word: str, shape: Shape) -> Stored:
    """Return a tensor of a word; FP8 is widened to bfloat16 when it is read."""
    if word in DTYPES:
        return Stored(shape, DTYPES[word], host)

    def widened(start: int, stop: int) -> bytes:
        # Whole numbers are read alone: both ends are even.
        codes, result = host.part(start // 2, stop // 2), bytearray(stop - start)
        result[0::2], result[1::2] = map(bytes(codes).translate, FP8[word])
        return bytes(result)

    return Stored(shape, dtypes.bfloat16, LazyData(2 * host.nbytes, widened))


def _is_shallow(text: bytes) -> bool:
    """Whether lists and objects lie in each other as in a header, and not deeper.

    A parser calls itself for each, which would end Python in a browser.
    """
    depth = 0
    for found in PARTS.finditer(text):
        part = found[0]
        depth += (part in b"[{") - (part in b"]}")
        if depth > DEEPEST:
            return False
    return True


Span = tuple[str, Shape, int, int]
"""A tensor's dtype and shape, and the range of its bytes in the data."""


def _header(name: str, text: bytes) -> dict[str, Any]:
    """Return the header's object.

    Raises:
        DataError: it is no JSON, no object, or names a tensor twice.
    """

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) != len(items):
            names = [key for key, _ in items]
            twice = next(key for key in names if names.count(key) > 1)
            refuse(name, f"has {twice!r} twice in its header")
        return result

    if not _is_shallow(text):
        refuse(name, "is no safetensors file: its header is no JSON of tensors")
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=pairs)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        refuse(name, f"is no safetensors file: its header is no JSON ({error})")
    if not isinstance(header, dict):
        refuse(name, "is no safetensors file: its header is no object")
    return header


def _span(name: str, key: str, entry: Any, most: int) -> Span:
    """Return the dtype, shape and range of bytes of a header's entry.

    Raises:
        DataError: its entry is none, or says what cannot be.
    """
    entry = entry if isinstance(entry, dict) else {}
    word, shape = entry.get("dtype"), entry.get("shape")
    offsets = entry.get("data_offsets")
    if (
        not isinstance(word, str)
        or not _are_counts(shape)
        or not _are_counts(offsets)
        or len(offsets) != 2
    ):
        refuse(name, f"says no dtype, shape and data_offsets of {key!r}")
    if word not in DTYPES and word not in FP8:
        refuse(
            name,
            f"has {key!r} in {word}, which tensorweb has not; it reads "
            f"{', '.join((*DTYPES, *FP8))}",
        )
    begin, end = offsets
    if begin > end:
        refuse(name, f"ends {key!r} at byte {end}, before it begins at {begin}")
    if end > most:
        refuse(
            name,
            f"is cut: {key!r} ends at byte {end} of the data, and there are {most}",
        )
    width = 1 if word in FP8 else DTYPES[word].itemsize
    if size(shape) * width != end - begin:
        refuse(
            name,
            f"gives {key!r} of shape {tuple(shape)} in {word} {end - begin} bytes, and "
            f"it needs {size(shape) * width}",
        )
    return word, tuple(shape), begin, end


def _are_counts(value: Any) -> bool:
    """Whether a value is a list of whole numbers from 0 on."""
    return isinstance(value, list) and all(
        type(number) is int and number >= 0 for number in value
    )


def _check_spans(name: str, spans: Mapping[str, Span], length: int) -> None:
    """Raise unless the tensors lie behind one another and fill the data.

    Raises:
        DataError: two overlap, or there are bytes between or behind them.
    """
    last, reached = "", 0
    for key, (_, _, begin, end) in sorted(spans.items(), key=lambda row: row[1][2:]):
        if begin < reached:
            refuse(name, f"has {last!r} and {key!r} at the same bytes")
        if begin > reached:
            refuse(name, f"has {begin - reached} bytes before {key!r} that are nothing")
        last, reached = key, end
    if reached != length:
        refuse(name, f"has {length - reached} bytes behind its last tensor")
