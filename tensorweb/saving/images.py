"""Pictures as tensors: decoded by the browser, by Pillow, or PNG by our own code."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from tensorweb import dtypes
from tensorweb.display.png import CHANNELS, SIGNATURE
from tensorweb.display.png import png as png_file
from tensorweb.drivers import browser_pictures
from tensorweb.drivers.browser_pictures import Pixels
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.storage import HostData
from tensorweb.saving import png
from tensorweb.saving.source import Source
from tensorweb.saving.stored import Stored, refuse
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
        lambda data: png.parse(Source("", data)).channels,
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
        parsed = png.parse(source)
        has_decoder = browser_pictures.has_decoder() and can_wait
        if parsed.depth > 8 or not (has_decoder or _has_pillow()):
            return png.decode(parsed)
    if browser_pictures.has_decoder():
        pixels = yield from browser_pictures.decode(source.name, data, kind.name)
    else:
        pixels = _decoded_by_pillow(source.name, data, kind)
    return _select_channels(source, data, kind, pixels)


def _select_channels(source: Source, data: bytes, kind: Kind, pixels: Pixels) -> Stored:
    """Return the channels that a picture has, of red, green, blue and alpha."""
    width, height, found = pixels
    channels = kind.channels(data)
    if channels == 4 and kind.name == "png" and not _is_opaque(found):
        # A canvas rounds the colours of translucent pixels.
        return png.decode(png.parse(source))
    if channels == 1:
        found = found[::4]
    elif channels == 3:
        planes = bytearray(3 * width * height)
        for channel in range(3):
            planes[channel::3] = found[channel::4]
        found = bytes(planes)
    return Stored((height, width, channels), dtypes.uint8, HostData(found))


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
