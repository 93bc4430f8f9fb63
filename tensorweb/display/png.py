"""PNG files of indexed colours (https://www.w3.org/TR/png-3/), by `zlib` alone."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

SIGNATURE = b"\x89PNG\r\n\x1a\n"

BIT_DEPTH, INDEXED = 8, 3
"""A byte for each pixel: the place of its colour in the palette."""


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
    header = struct.pack(">2I5B", len(rows[0]), len(rows), BIT_DEPTH, INDEXED, 0, 0, 0)
    # Each row says how it is filtered: not at all.
    pixels = b"".join(b"\0" + row for row in rows)
    colours = bytes(part for colour in palette for part in colour)
    return SIGNATURE + b"".join(
        (
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", colours),
            _chunk(b"IDAT", zlib.compress(pixels)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)
