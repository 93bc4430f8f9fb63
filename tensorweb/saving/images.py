"""Pictures as tensors: decoded by the browser, by Pillow, or PNG by our own code.

The PNG decoder reads files of every kind (https://www.w3.org/TR/png-3/) with `zlib`
alone.
"""

from __future__ import annotations

import importlib.util
import io
import struct
import zlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import BinaryIO

from tensorweb import dtypes
from tensorweb.display.png import CHANNELS, SIGNATURE
from tensorweb.display.png import png as png_file
from tensorweb.drivers import browser_pictures
from tensorweb.drivers.browser_pictures import Pixels
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.storage import HostData
from tensorweb.saving.source import Source, Stored, refuse
from tensorweb.waits import Steps


def _jpeg_channels(data: bytes) -> int:
    """Return 1 for a grey picture: the header of its frame counts its components."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return 1 if data[at + 9] == 1 else 3
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return 3


def _gif_channels(data: bytes) -> int:
    """Return 4 if the first frame's control block names a transparent colour."""
    at = data.find(b"\x21\xf9\x04")
    return 4 if at >= 0 and data[at + 3] & 1 else 3


def _webp_channels(data: bytes) -> int:
    """Return 4 if the header of WebP says that there is alpha."""
    kind = data[12:16]
    if kind == b"VP8X":
        return 4 if data[20] & 0x10 else 3
    return 4 if kind == b"VP8L" and data[24] & 0x10 else 3


def _is_webp(head: bytes) -> bool:
    return head[:4] == b"RIFF" and head[8:12] == b"WEBP"


@dataclass(frozen=True)
class Kind:
    """A format of pictures: how files begin, and how many channels one has."""

    name: str
    is_start: Callable[[bytes], bool]
    channels: Callable[[bytes], int]


KINDS = (
    Kind(
        "png",
        lambda head: head.startswith(SIGNATURE),
        lambda data: parse_png(Source("", data)).channels,
    ),
    Kind("jpeg", lambda head: head.startswith(b"\xff\xd8\xff"), _jpeg_channels),
    Kind("webp", _is_webp, _webp_channels),
    Kind("gif", lambda head: head[:6] in (b"GIF87a", b"GIF89a"), _gif_channels),
)


def kind_of(head: bytes) -> Kind | None:
    """Return the kind of a picture that begins so, None for something else."""
    return next((kind for kind in KINDS if kind.is_start(head)), None)


def is_start(head: bytes) -> bool:
    """Whether a file that begins so is a picture."""
    return kind_of(head) is not None


def read(source: Source, *, can_wait: bool) -> Steps[Stored]:
    """Return a picture, `(height, width, channels)`: 1 is grey, 4 have alpha.

    Args:
        source: its file.
        can_wait: whether the caller can wait for the browser; without, PNG is decoded
            by Pillow or by Python.

    Raises:
        BlockingError: Python cannot wait for the browser here.
        DataError: it is cut or damaged, or nothing here can decode it.
    """
    data = source.read()
    kind = kind_of(data[:16])
    assert kind is not None, "internal: the caller looked at the file's beginning"
    if kind.name == "png":
        parsed = parse_png(source)
        has_decoder = browser_pictures.has_decoder() and can_wait
        if parsed.depth > 8 or not (has_decoder or _has_pillow()):
            return decode_png(parsed)
    if browser_pictures.has_decoder():
        pixels = yield from browser_pictures.decode(source.name, data, kind.name)
    else:
        pixels = _decoded_by_pillow(source.name, data, kind)
    return _select_channels(source, data, kind, pixels)


def _select_channels(source: Source, data: bytes, kind: Kind, pixels: Pixels) -> Stored:
    """Return the channels that a picture has, of red, green, blue and alpha."""
    width, height, colours = pixels
    channels = kind.channels(data)
    if channels == 4 and kind.name == "png" and not _is_opaque(colours):
        # A canvas rounds the colours of translucent pixels.
        return decode_png(parse_png(source))
    if channels == 1:
        colours = colours[::4]
    elif channels == 3:
        planes = bytearray(3 * width * height)
        for channel in range(3):
            planes[channel::3] = colours[channel::4]
        colours = bytes(planes)
    return Stored((height, width, channels), dtypes.uint8, HostData(colours))


def _is_opaque(pixels: bytes) -> bool:
    return pixels[3::4].count(255) * 4 == len(pixels)


def _has_pillow() -> bool:
    return importlib.util.find_spec("PIL") is not None


def _decoded_by_pillow(name: str, data: bytes, kind: Kind) -> Pixels:
    """Decode a picture natively.

    Raises:
        DataError: Pillow is not installed, or cannot decode it.
    """
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise DataError(
            f"load: {name!r} is a {kind.name} file, and Python alone decodes PNG only; "
            "install Pillow for it: pip install pillow."
        ) from None
    try:
        with Image.open(io.BytesIO(data)) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGBA")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        refuse(name, f"begins like a {kind.name} file and is cut or damaged ({error})")
    return *upright.size, upright.tobytes()


def write(file: BinaryIO, stored: Stored) -> None:
    """Write a picture as PNG: `(height, width)`, or with 1, 3 or 4 channels.

    Raises:
        ShapeError: it is no picture.
        DataError: its numbers are no colours.
    """
    shape = stored.shape
    channels = shape[2] if len(shape) == 3 else 1
    if len(shape) not in (2, 3) or channels not in CHANNELS or 0 in shape:
        raise ShapeError(
            f"save: a picture has shape (height, width) or (height, width, channels) "
            f"with 1, 3 or 4 channels, and this has {shape}."
        )
    data = _bytes_of(stored)
    row = shape[1] * channels
    rows = [data[at : at + row] for at in range(0, len(data), row)]
    file.write(png_file(rows, channels))


def _bytes_of(stored: Stored) -> bytes:
    """Return a byte for each number: integers as they are, floats of 0 to 1 scaled.

    Raises:
        DataError: a number is no colour.
    """
    kind = stored.dtype.kind
    if kind == "complex":
        raise DataError(
            "save: pictures have no complex numbers; take abs(x) or x.real."
        )
    if stored.dtype is dtypes.uint8:
        return bytes(stored.data)
    numbers = stored.numbers()
    top = 255 if kind in ("int", "uint") else 1
    if not all(0 <= number <= top for number in numbers):
        low, high = min(numbers), max(numbers)
        raise DataError(
            f"save: {stored.dtype} values of a picture are 0 to {top}, and these reach "
            f"from {low:g} to {high:g}; rescale them, or use tw.clip(x, 0, {top})."
        )
    scale = 255 if top == 1 else 1
    return bytes([round(number * scale) for number in numbers])


# PNG.

SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""Numbers of a pixel by colour type: grey, colour, index of a palette's colour, grey
with alpha, colour with alpha."""

DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}

PASSES = (
    *((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)),
    *((0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)),
)
"""Of an interlaced picture: first column and row, and the steps between them."""

LARGEST = 1 << 28
"""Pixels; larger ones are a trap, since a few bytes can claim to be any number."""


@dataclass
class Png:
    """A file's header and chunks.

    Attributes:
        channels: numbers of a pixel after decoding: 1, 3, or 4 with alpha.
    """

    name: str
    width: int
    height: int
    depth: int
    kind: int
    is_interlaced: bool
    palette: bytes = b""
    transparent: bytes | None = None
    packed: list[bytes] = field(default_factory=list)

    @property
    def has_alpha(self) -> bool:
        """Whether pixels may be translucent."""
        return self.kind in (4, 6) or self.transparent is not None

    @property
    def channels(self) -> int:
        """Return the numbers of a decoded pixel."""
        return 4 if self.has_alpha else 1 if self.kind == 0 else 3


def parse_png(source: Source) -> Png:
    """Return the parts of a file, without looking at its pixels.

    Raises:
        DataError: it is cut or damaged; says at which byte.
    """
    name, data = source.name, source.read()
    png: Png | None = None
    at = len(SIGNATURE)
    while True:
        if at + 12 > len(data):
            refuse(name, f"is cut: a PNG file has a chunk at byte {at}, and this ends")
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        end = at + 12 + length
        if end > len(data):
            refuse(
                name,
                f"is cut: its chunk {kind.decode('latin-1')!r} ends at byte {end}, "
                f"and the file has {len(data)}",
            )
        if zlib.crc32(kind + body) != int.from_bytes(data[end - 4 : end], "big"):
            refuse(
                name,
                f"is damaged: the checksum of its chunk {kind.decode('latin-1')!r} "
                f"at byte {at} is wrong",
            )
        if png is None:
            png = _header(name, kind, body)
        elif kind == b"PLTE":
            png.palette = body
        elif kind == b"tRNS":
            png.transparent = body
        elif kind == b"IDAT":
            png.packed.append(body)
        elif kind == b"IEND":
            return png
        at = end


def _header(name: str, kind: bytes, body: bytes) -> Png:
    if kind != b"IHDR" or len(body) != 13:
        refuse(name, "is damaged: a PNG file has its header at byte 8")
    width, height, depth, colour, _, _, interlace = struct.unpack(">2I5B", body)
    if depth not in DEPTHS.get(colour, ()) or not 0 < width * height <= LARGEST:
        refuse(
            name,
            f"is damaged: its header says {width} x {height} pixels of colour type "
            f"{colour} with {depth} bits",
        )
    return Png(name, width, height, depth, colour, interlace == 1)


def decode_png(png: Png) -> Stored:
    """Return the pixels, `(height, width, channels)`: uint8, or uint16 of 16 bits.

    Raises:
        DataError: the pixels are damaged.
    """
    data = _unpacked(png)
    count = SAMPLES[png.kind]
    size = count * (2 if png.depth == 16 else 1)
    samples = bytearray(png.width * png.height * size)
    at = 0
    for x0, y0, dx, dy, width, height, row_bytes in _passes(png):
        lines = _unfiltered(png.name, data, at, height, row_bytes, size)
        at += height * (row_bytes + 1)
        for index, line in enumerate(lines):
            values = (
                line if png.depth >= 8 else _unpack_bits(line, png.depth, width * count)
            )
            start = ((y0 + index * dy) * png.width + x0) * size
            end = start + ((width - 1) * dx + 1) * size
            if dx == 1:
                samples[start:end] = values
            else:
                for part in range(size):
                    samples[start + part : end : dx * size] = values[part::size]
    return _to_colours(png, samples)


def _passes(png: Png) -> Iterator[tuple[int, int, int, int, int, int, int]]:
    """Yield a row of `PASSES` with its picture's width, height and bytes of a row."""
    bits = SAMPLES[png.kind] * png.depth
    for x0, y0, dx, dy in PASSES if png.is_interlaced else ((0, 0, 1, 1),):
        width = -(-(png.width - x0) // dx)
        height = -(-(png.height - y0) // dy)
        if width > 0 and height > 0:
            yield x0, y0, dx, dy, width, height, (width * bits + 7) // 8


def _unpacked(png: Png) -> bytes:
    """Return the filtered rows, one pass after the other."""
    size = sum(height * (row_bytes + 1) for *_, height, row_bytes in _passes(png))
    try:
        data = zlib.decompressobj().decompress(b"".join(png.packed), size)
    except zlib.error as error:
        refuse(png.name, f"is damaged: its pixels cannot be unpacked ({error})")
    if len(data) < size:
        refuse(
            png.name,
            f"is cut: its pixels take {size} bytes, and it has {len(data)}",
        )
    return data


def _unfiltered(
    name: str, data: bytes, at: int, height: int, width: int, step: int
) -> Iterator[bytes]:
    """Yield rows of bytes; a file has the differences from neighbouring bytes."""
    last = bytes(width)
    mask = int.from_bytes(b"\xff\0" * (width // 2 + 1), "little")
    for _ in range(height):
        kind, line = data[at], data[at + 1 : at + 1 + width]
        at += width + 1
        if kind == 1:
            line = _added_left(line, step)
        elif kind == 2:
            line = _added(line, last, mask)
        elif kind == 3:
            line = _averaged(line, last, step)
        elif kind == 4:
            line = _predicted(line, last, step)
        elif kind != 0:
            refuse(name, f"is damaged: a row has filter {kind}, and there are 0 to 4")
        yield line
        last = line


def _added(line: bytes, last: bytes, mask: int) -> bytes:
    """Add the row above, all bytes in two sums of long integers."""
    a, b = int.from_bytes(line, "little"), int.from_bytes(last, "little")
    even = ((a & mask) + (b & mask)) & mask
    odd = ((a >> 8 & mask) + (b >> 8 & mask)) & mask
    return (even | odd << 8).to_bytes(len(line) + 2, "little")[: len(line)]


def _added_left(line: bytes, step: int) -> bytes:
    result = bytearray(len(line))
    for first in range(step):
        result[first::step] = bytes([x & 255 for x in accumulate(line[first::step])])
    return bytes(result)


def _averaged(line: bytes, last: bytes, step: int) -> bytes:
    result = bytearray(line)
    for at, above in enumerate(last):
        left = result[at - step] if at >= step else 0
        result[at] = (result[at] + ((left + above) >> 1)) & 255
    return bytes(result)


def _predicted(line: bytes, last: bytes, step: int) -> bytes:
    """Add that neighbour which is nearest to left + above - corner (Paeth)."""
    result = bytearray(line)
    for first in range(min(step, len(line))):
        left = corner = 0
        for at in range(first, len(line), step):
            above = last[at]
            a, b = above - corner, left - corner
            c = a + b if a + b >= 0 else -a - b
            a = a if a >= 0 else -a
            b = b if b >= 0 else -b
            nearest = left if a <= b and a <= c else above if b <= c else corner
            left = (result[at] + nearest) & 255
            result[at] = left
            corner = above
    return bytes(result)


def _unpack_bits(line: bytes, depth: int, count: int) -> bytes:
    """Return a byte for each number of 1, 2 or 4 bits."""
    mask = (1 << depth) - 1
    shifts = range(8 - depth, -1, -depth)
    return bytes([byte >> shift & mask for byte in line for shift in shifts][:count])


def _to_colours(png: Png, samples: bytearray) -> Stored:
    """Return the numbers of a picture's pixels as colours."""
    shape = (png.height, png.width, png.channels)
    if png.kind == 3:
        return Stored(shape, dtypes.uint8, HostData(_palette_colours(png, samples)))
    if png.kind == 0 and png.depth < 8:
        samples = samples.translate(_brightness_table(png.depth))
    width = 2 if png.depth == 16 else 1
    if png.has_alpha and png.kind != 6:
        samples = _add_alpha(png, samples, width)
    if width == 1:
        return Stored(shape, dtypes.uint8, HostData(bytes(samples)))
    numbers = array("H", bytes(samples))
    numbers.byteswap()
    return Stored(shape, dtypes.uint16, HostData(numbers.tobytes()))


def _brightness_table(depth: int) -> bytes:
    """Return the byte of each brightness of a few bits: white is always 255."""
    scale = 255 // ((1 << depth) - 1)
    return bytes([min(value * scale, 255) for value in range(256)])


def _add_alpha(png: Png, samples: bytearray, width: int) -> bytearray:
    """Return red, green, blue and alpha of pixels that say it in another way."""
    size = SAMPLES[png.kind] * width
    count = len(samples) // size
    result = bytearray(4 * width * count)
    for byte in range(3 * width):
        # Grey is red, green and blue.
        sample_byte = byte if png.kind == 2 else byte % width
        result[byte :: 4 * width] = samples[sample_byte::size]
    for byte in range(width):
        if png.transparent is None:
            alpha: bytes | bytearray = samples[width + byte :: size]
        else:
            key = _transparent_pixel(png, width)
            starts = range(0, len(samples), size)
            alpha = bytes([255 * (samples[at : at + size] != key) for at in starts])
        result[3 * width + byte :: 4 * width] = alpha
    return result


def _transparent_pixel(png: Png, width: int) -> bytes:
    """Return the pixel that is the background; each number has two bytes in a file."""
    values = png.transparent or b""
    if len(values) != 2 * SAMPLES[png.kind]:
        refuse(png.name, "is damaged: its chunk 'tRNS' names no colour")
    key = b"".join([values[at + 2 - width : at + 2] for at in range(0, len(values), 2)])
    return key.translate(_brightness_table(png.depth)) if png.depth < 8 else key


def _palette_colours(png: Png, samples: bytearray) -> bytes:
    """Return the colours of indices of a palette."""
    count = len(png.palette) // 3
    if not count or max(samples) >= count:
        refuse(png.name, f"is damaged: a pixel names none of its {count} colours")
    alpha = png.transparent
    planes = [png.palette[channel::3] for channel in range(3)]
    if alpha is not None:
        planes.append(alpha + b"\xff" * (count - len(alpha)))
    result = bytearray(len(samples) * len(planes))
    for channel, plane in enumerate(planes):
        result[channel :: len(planes)] = samples.translate(plane.ljust(256, b"\0"))
    return bytes(result)
