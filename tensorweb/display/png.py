"""Writes PNG files (https://www.w3.org/TR/png-3/), by `zlib` alone."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

SIGNATURE = b"\x89PNG\r\n\x1a\n"

BIT_DEPTH = 8
GREY, COLOURED, INDEXED, TRANSLUCENT = 0, 2, 3, 6
"""A byte of brightness for each pixel; three bytes of red, green and blue; the index of
its colour in the palette; four bytes, the last of which is alpha."""

CHANNELS = {1: GREY, 3: COLOURED, 4: TRANSLUCENT}
"""The kind of a file by the bytes of a pixel."""


def indexed_png(
    rows: Sequence[bytes | bytearray], palette: Sequence[tuple[int, int, int]]
) -> bytes:
    r"""Return the file of a picture.

    Args:
        rows: for each row of pixels a byte a pixel; all of one length, not empty.
        palette: the colours that the bytes name, at most 256.

    >>> indexed_png([b"\0\1"], [(0, 0, 0), (255, 255, 255)])[:4]
    b'\x89PNG'
    """
    colours = bytes(part for colour in palette for part in colour)
    return _file(rows, len(rows[0]), INDEXED, _chunk(b"PLTE", colours))


def png(rows: Sequence[bytes | bytearray], channels: int) -> bytes:
    r"""Return the file of a picture of 1, 3 or 4 bytes a pixel.

    >>> png([b"\0\1\2", b"\3\4\5"], 3)[:4]
    b'\x89PNG'
    """
    return _file(rows, len(rows[0]) // channels, CHANNELS[channels], b"")


def _file(
    rows: Sequence[bytes | bytearray], width: int, kind: int, palette: bytes
) -> bytes:
    header = struct.pack(">2I5B", width, len(rows), BIT_DEPTH, kind, 0, 0, 0)
    # Each row says how it is filtered: not at all.
    pixels = b"".join(b"\0" + row for row in rows)
    return SIGNATURE + b"".join(
        (
            _chunk(b"IHDR", header),
            palette,
            _chunk(b"IDAT", zlib.compress(pixels)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)
