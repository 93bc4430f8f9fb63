"""Pixels out of PNG files of indexed colours, for tests that look at pictures."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from dataclasses import dataclass

Colour = tuple[int, ...]


@dataclass(frozen=True)
class Picture:
    """A decoded picture."""

    width: int
    height: int
    pixels: list[list[Colour]]

    def cell(self, row: int, column: int, rows: int, columns: int) -> set[Colour]:
        """Return the colours inside one of equally large cells."""
        down, across = self.height // rows, self.width // columns
        lines = self.pixels[row * down : (row + 1) * down]
        first = column * across
        return {pixel for line in lines for pixel in line[first : first + across]}


def decoded(text: str) -> Picture:
    """Return the picture of a PNG in base64 whose rows are not filtered."""
    data = b64decode(text, validate=True)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        (check,) = struct.unpack_from(">I", data, at + 8 + length)
        assert check == zlib.crc32(body)
        chunks[body[:4]] = body[4:]
        at += 12 + length
    width, height, *kind = struct.unpack(">2I5B", chunks[b"IHDR"])
    assert kind == [8, 3, 0, 0, 0]
    colours = chunks[b"PLTE"]
    palette = [tuple(colours[i : i + 3]) for i in range(0, len(colours), 3)]
    raw = zlib.decompress(chunks[b"IDAT"])
    assert len(raw) == height * (width + 1)
    rows = [raw[i : i + width + 1] for i in range(0, len(raw), width + 1)]
    assert {row[0] for row in rows} == {0}
    pixels = [[palette[index] for index in row[1:]] for row in rows]
    return Picture(width, height, pixels)
