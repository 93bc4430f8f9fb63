"""The format WAV: sound as numbers, one row a sample, one column a channel.

http://soundfile.sapp.org/doc/WaveFormat/ describes its chunks.
"""

from __future__ import annotations

import struct
from array import array
from typing import BinaryIO

from tensorweb import dtypes
from tensorweb.errors import DataError, ShapeError
from tensorweb.graph.storage import HostData
from tensorweb.saving.source import Source, Stored, refuse

INTEGERS, FLOATS, EXTENSIBLE = 1, 3, 0xFFFE

CODES = {
    "uint8": (INTEGERS, 8),
    "int16": (INTEGERS, 16),
    "int32": (INTEGERS, 32),
    "float32": (FLOATS, 32),
    "float64": (FLOATS, 64),
}
"""How dtypes are written: each keeps its bits."""


def is_start(head: bytes) -> bool:
    """Whether a file that begins so is of this format."""
    return head[:4] == b"RIFF" and head[8:12] == b"WAVE"


def read(source: Source) -> tuple[Stored, int]:
    """Return the sound, `(samples, channels)` in float32 of -1 to 1, and its rate.

    Raises:
        DataError: it is cut or damaged, or of an encoding that is not read.
    """
    name, data = source.name, source.read()
    layout: tuple[int, int, int, int] | None = None
    at = 12
    while at + 8 <= len(data):
        kind, length = (
            data[at : at + 4],
            int.from_bytes(data[at + 4 : at + 8], "little"),
        )
        begin = at + 8
        if kind == b"data":
            if begin + length > len(data):
                refuse(
                    name,
                    f"is cut: its samples end at byte {begin + length}, and the file "
                    f"has {len(data)}",
                )
            if layout is None:
                refuse(name, f"is damaged: it has no chunk 'fmt ' before byte {at}")
            code, channels, rate, bits = layout
            numbers = _numbers(name, data[begin : begin + length], code, bits)
            shape = (len(numbers) // channels, channels)
            del numbers[shape[0] * channels :]
            return Stored(shape, dtypes.float32, HostData(numbers.tobytes())), rate
        if kind == b"fmt ":
            layout = _layout(name, data[begin : begin + length])
        at = begin + length + length % 2
    refuse(name, "is cut: it has no chunk 'data' with samples")


def _layout(name: str, chunk: bytes) -> tuple[int, int, int, int]:
    """Return encoding, channels, samples a second, and bits of a number."""
    if len(chunk) < 16:
        refuse(name, f"is damaged: its chunk 'fmt ' has {len(chunk)} bytes, not 16")
    code, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", chunk)
    if code == EXTENSIBLE and len(chunk) >= 26:
        (code,) = struct.unpack_from("<H", chunk, 24)
    if (code, bits) not in {*CODES.values(), (INTEGERS, 24)} or channels == 0:
        refuse(
            name,
            f"is sound of encoding {code} with {bits} bits in {channels} channels; "
            "save it as PCM of 8, 16, 24 or 32 bits, or as floats",
        )
    return code, channels, rate, bits


def _numbers(name: str, data: bytes, code: int, bits: int) -> array[float]:
    """Return samples as float32; integers are divided by full scale."""
    width = bits // 8
    data = data[: len(data) // width * width]
    if code == FLOATS:
        return array("f", array("f" if bits == 32 else "d", data))
    if bits == 8:
        return array("f", [(byte - 128) / 128 for byte in data])
    if bits == 24:
        # A byte of zeros below makes them numbers of 32 bits.
        wide = bytearray(len(data) // 3 * 4)
        for byte in range(3):
            wide[byte + 1 :: 4] = data[byte::3]
        data, bits = bytes(wide), 32
    full = 1 << (bits - 1)
    return array(
        "f", [number / full for number in array({16: "h", 32: "i"}[bits], data)]
    )


def write(file: BinaryIO, stored: Stored, rate: int) -> None:
    """Write sound, `(samples,)` or `(samples, channels)`, in the bits of its dtype.

    Raises:
        ShapeError: it is no sound.
        DataError: the format has no such numbers, or the rate is none.
    """
    if len(stored.shape) not in (1, 2) or stored.shape[1:] == (0,):
        raise ShapeError(
            "save: sound has shape (samples,) or (samples, channels), and this has "
            f"{stored.shape}."
        )
    if stored.dtype.name not in CODES:
        raise DataError(
            f"save: sound is {', '.join(CODES)}, and this is {stored.dtype}; convert "
            "it with astype(tw.float32), from -1 to 1."
        )
    if type(rate) is not int or not 0 < rate < 1 << 32:
        raise DataError(f"save: the rate is {rate!r}; give samples a second, as 44100.")
    code, bits = CODES[stored.dtype.name]
    channels = stored.shape[1] if len(stored.shape) == 2 else 1
    data = bytes(stored.data)
    frame = channels * bits // 8
    layout = struct.pack("<HHIIHH", code, channels, rate, rate * frame, frame, bits)
    file.write(b"RIFF" + struct.pack("<I", 36 + len(data) + len(data) % 2) + b"WAVE")
    file.write(b"fmt " + struct.pack("<I", len(layout)) + layout)
    file.write(b"data" + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2))
