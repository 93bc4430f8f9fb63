"""Arrays, tables, pictures and sound: each format is read by content and written."""

from __future__ import annotations

import io
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tensorweb as tw
import tensorweb.numpy as tnp
from tensorweb.errors import DataError, ShapeError
from tensorweb.saving import source


def test_npy_keeps_dtype_and_shape(np: ModuleType, device: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    x = tw.arange(6, dtype=tw.float32).reshape((2, 3)).T
    tw.save(path, x)
    assert np.load(path).tolist() == x.tolist()
    found = tw.load(path)
    assert (found.dtype, found.device, found.tolist()) == (
        tw.float32,
        device,
        x.tolist(),
    )


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "dtype", ["<f4", ">f8", "<i2", ">u4", "|b1", "<c8", ">c8", "|u1"]
)
def test_npy_of_numpy_is_read(
    np: ModuleType, dtype: str, order: str, cpu: str, tmp_path: Path
) -> None:
    array = np.asarray(np.arange(24).reshape(2, 3, 4) % 5, dtype=dtype, order=order)
    np.save(tmp_path / "x", array)
    found = tw.load(tmp_path / "x.npy")
    assert found.dtype.name == array.dtype.name
    assert found.tolist() == array.tolist()


def test_numpys_functions_take_paths_and_files(
    np: ModuleType, cpu: str, tmp_path: Path
) -> None:
    x = tnp.arange(6).reshape(2, 3)
    tnp.save(tmp_path / "x", x)
    assert np.load(tmp_path / "x.npy").tolist() == x.tolist()
    assert tnp.load(tmp_path / "x.npy").tolist() == x.tolist()
    file = io.BytesIO()
    tnp.savez_compressed(file, x, b=[1.5])
    file.seek(0)
    with tnp.load(file) as found:
        assert (sorted(found.files), found["b"].tolist()) == (["arr_0", "b"], [1.5])
    file.seek(0)
    assert np.load(file)["arr_0"].tolist() == x.tolist()


def test_a_large_file_is_read_when_it_is_needed(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LAZY_FROM", 1000)
    path = tmp_path / "x.safetensors"
    big = tw.arange(2000, dtype=tw.float32).reshape((2, 1000))
    tw.save(path, {"big": big, "other": big + 1})
    ranges: list[tuple[int, int | None]] = []
    plain = source.DiskSource.read

    def read(self: Any, start: int = 0, stop: int | None = None) -> bytes:
        ranges.append((start, stop))
        return plain(self, start, stop)

    monkeypatch.setattr(source.DiskSource, "read", read)
    found = tw.load(path)
    assert sum((stop or 0) - start for start, stop in ranges) < 1000
    assert found["other"].sum().item() == big.sum().item() + 2000
    read_now = sum((stop or 0) - start for start, stop in ranges)
    assert 8000 <= read_now < 10_000
    assert found["big"][1].tolist() == big[1].tolist()


def test_a_changed_file_is_noticed(
    cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LAZY_FROM", 1000)
    path = tmp_path / "x.npy"
    tw.save(path, tw.zeros(500))
    found = tw.load(path)
    path.write_bytes(bytes(7))
    with pytest.raises(DataError, match="has changed since it was loaded"):
        found.tolist()


def test_a_file_may_be_replaced_by_a_value_computed_from_it(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "LAZY_FROM", 1000)
    path = tmp_path / "x.safetensors"
    tw.save(path, {"a": tw.ones(500), "b": tw.ones(500)})
    found = tw.load(path)
    tw.save(path, {"a": found["a"] * 2})
    assert tw.load(path)["a"].sum().item() == 1000
    assert found["b"].sum().item() == 500


TABLES = {
    "header": ("a,b\n1,2\n3,4\n", [[1, 2], [3, 4]]),
    "no header": ("1.5;2\n-3;4e1\n", [[1.5, 2.0], [-3.0, 40.0]]),
    "decimal commas": ("x;y\r\n1,5;2\r\n\r\n2,25;3\r\n", [[1.5, 2.0], [2.25, 3.0]]),
    "tabs": ("a\tb\n1\t2\n", [[1, 2]]),
    "spaces": ("  1   2\n  3   4\n", [[1, 2], [3, 4]]),
    "quotes": ('"a, really","b"\n"1","2"\n', [[1, 2]]),
    "mark": ("\ufeff1,2\n", [[1, 2]]),
    "one column": ("5\n6\n", [[5], [6]]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read(name: str, device: str) -> None:
    text, expected = TABLES[name]
    found = tw.load(io.BytesIO(text.encode()))
    assert found.tolist() == expected
    is_whole = all(type(number) is int for row in expected for number in row)
    assert found.dtype is (tw.int32 if is_whole else tw.float32)


def test_empty_fields_are_nan(cpu: str) -> None:
    found = tw.load(io.BytesIO(b"a,b\n1,\nNA,4\n"))
    assert tw.isnan(found).tolist() == [[False, True], [True, False]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,x\n", "'x' in line 2, field 2, which is no number"),
        ("1,2\n3\n", "1 fields in line 2, and 2 in its first"),
        ("a,b\n", "no numbers: its only line is 'a,b'"),
        ("time\n1700000000000\n", r"'the file' has whole numbers .* loadtxt"),
        (" \n", "has no line with numbers"),
    ],
)
def test_damaged_tables_are_refused(text: str, said: str, cpu: str) -> None:
    with pytest.raises(DataError, match=said):
        tw.load(io.BytesIO(text.encode()))


def test_tables_come_back(cpu: str, tmp_path: Path) -> None:
    x = tw.asarray([[0.1, -2.0], [1e-20, float("inf")]])
    tw.save(tmp_path / "x.csv", x)
    assert (tmp_path / "x.csv").read_text() == "0.1,-2\n1e-20,inf\n"
    assert tw.load(tmp_path / "x.csv").tolist() == x.tolist()
    tw.save(tmp_path / "y.csv", {"n": tw.arange(2), "ok": tw.asarray([True, False])})
    assert (tmp_path / "y.csv").read_text() == "n,ok\n0,1\n1,0\n"
    with pytest.raises(ShapeError, match=r"\(rows,\).*'n' has \(2, 2\)"):
        tw.save(tmp_path / "z.csv", {"n": x})
    assert not (tmp_path / "z.csv").exists()


Pixels = list[list[list[int]]]


def filtered(row: bytes, last: bytes, step: int, kind: int) -> bytes:
    """Return a row of PNG as the standard's filters write it."""
    found = [kind]
    for at, byte in enumerate(row):
        left = row[at - step] if at >= step else 0
        above = last[at]
        corner = last[at - step] if at >= step else 0
        guess = left + above - corner
        near = min((left, above, corner), key=lambda value: abs(guess - value))
        of_kind = [0, left, above, (left + above) // 2, near]
        found.append((byte - of_kind[kind]) % 256)
    return bytes(found)


def packed(pixels: Pixels, depth: int) -> Iterator[bytes]:
    """Yield rows of numbers of some bits as bytes."""
    for row in pixels:
        bits = "".join(f"{number:0{depth}b}" for pixel in row for number in pixel)
        bits += "0" * (-len(bits) % 8)
        yield int(bits, 2).to_bytes(len(bits) // 8, "big")


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4)]
ADAM7 += [(1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def png(
    pixels: Pixels, colour: int, depth: int, more: bytes = b"", interlace: int = 0
) -> bytes:
    """Return a PNG file that uses every filter."""
    height, width = len(pixels), len(pixels[0])
    data = b""
    for x, y, dx, dy in ADAM7 if interlace else [(0, 0, 1, 1)]:
        part = [row[x::dx] for row in pixels[y::dy]]
        if not part or not part[0]:
            continue
        step = max(len(part[0][0]) * depth // 8, 1)
        last = bytes((len(part[0]) * len(part[0][0]) * depth + 7) // 8)
        for number, row in enumerate(packed(part, depth)):
            data += filtered(row, last, step, number % 5)
            last = row
    header = struct.pack(">2I5B", width, height, depth, colour, 0, 0, interlace)
    middle = zlib.compress(data)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            more,
            chunk(b"IDAT", middle[:9]) + chunk(b"IDAT", middle[9:]),
            chunk(b"IEND", b""),
        )
    )


def some_pixels(channels: int, top: int) -> Pixels:
    numbers = iter((7919 * n * n + 31 * n) % (top + 1) for n in range(10_000))
    return [
        [[next(numbers) for _ in range(channels)] for _ in range(11)] for _ in range(9)
    ]


PALETTE = chunk(b"PLTE", bytes([10, 20, 30, 40, 50, 60, 70, 80, 90, 255, 0, 1]))
COLOURS = [[10, 20, 30], [40, 50, 60], [70, 80, 90], [255, 0, 1]]


@pytest.mark.parametrize("interlace", [0, 1])
@pytest.mark.parametrize(
    ("colour", "depth", "channels"),
    [
        *((0, 1, 1), (0, 4, 1), (0, 8, 1), (0, 16, 1), (2, 8, 3), (2, 16, 3)),
        *((3, 2, 1), (3, 8, 1), (4, 8, 2), (4, 16, 2), (6, 8, 4), (6, 16, 4)),
    ],
)
def test_every_kind_of_png_is_read(
    colour: int, depth: int, channels: int, interlace: int, cpu: str
) -> None:
    top = 3 if colour == 3 else (1 << depth) - 1
    pixels = some_pixels(channels, top)
    more = PALETTE if colour == 3 else b""
    found = tw.load(io.BytesIO(png(pixels, colour, depth, more, interlace)))
    scale = 255 // top if depth < 8 else 1
    expected: Callable[[list[int]], list[int]] = {
        0: lambda pixel: [pixel[0] * scale],
        2: lambda pixel: pixel,
        3: lambda pixel: COLOURS[pixel[0]],
        4: lambda pixel: [pixel[0]] * 3 + [pixel[1]],
        6: lambda pixel: pixel,
    }[colour]
    assert found.dtype is (tw.uint16 if depth == 16 else tw.uint8)
    assert found.tolist() == [[expected(pixel) for pixel in row] for row in pixels]


def test_transparent_colours_of_png_are_alpha(cpu: str) -> None:
    more = PALETTE + chunk(b"tRNS", bytes([0, 128]))
    found = tw.load(io.BytesIO(png([[[0], [1], [3]]], 3, 8, more)))
    assert found.tolist() == [[[10, 20, 30, 0], [40, 50, 60, 128], [255, 0, 1, 255]]]
    key = chunk(b"tRNS", bytes([0, 5]))
    found = tw.load(io.BytesIO(png([[[5], [6]]], 0, 8, key)))
    assert found.tolist() == [[[5, 5, 5, 0], [6, 6, 6, 255]]]


GOOD = png(some_pixels(3, 255), 2, 8)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (GOOD[:-20], "is cut: .*'IDAT' ends at byte"),
        (GOOD[:40], "is cut"),
        (
            GOOD[:45] + bytes([GOOD[45] ^ 1]) + GOOD[46:],
            "checksum of its chunk 'IDAT' at byte",
        ),
        (png([[[1]]], 3, 8, PALETTE[:-1] + b"\0"), "checksum of its chunk 'PLTE'"),
        (png([[[200]]], 3, 8, PALETTE), "names none of its 4 colours"),
    ],
)
def test_damaged_png_is_refused(data: bytes, said: str, cpu: str) -> None:
    with pytest.raises(DataError, match=said):
        tw.load(io.BytesIO(data))


@pytest.mark.parametrize("channels", [None, 1, 3, 4])
def test_pictures_come_back(channels: int | None, cpu: str, tmp_path: Path) -> None:
    shape = (5, 7) if channels is None else (5, 7, channels)
    x = (tw.arange(tw.zeros(shape).size) % 256).astype(tw.uint8).reshape(shape)
    tw.save(tmp_path / "x.png", x)
    found = tw.load(tmp_path / "x.png")
    assert found.tolist() == x.reshape((5, 7, channels or 1)).tolist()


def test_floats_of_0_to_1_are_colours(device: str, tmp_path: Path) -> None:
    tw.save(tmp_path / "x.png", tw.asarray([[0.0, 0.5, 1.0]]))
    assert tw.load(tmp_path / "x.png").tolist() == [[[0], [128], [255]]]
    for wrong in ([[0.0, 1.5]], [[float("nan")]]):
        with pytest.raises(DataError, match="0 to 1"):
            tw.save(tmp_path / "y.png", tw.asarray(wrong))
    with pytest.raises(DataError, match="0 to 255"):
        tw.save(tmp_path / "y.png", tw.asarray([[-1, 3]]))
    with pytest.raises(ShapeError, match=r"has \(2, 3, 2\)"):
        tw.save(tmp_path / "y.png", tw.zeros((2, 3, 2)))


def test_a_photograph_without_pillow_names_the_package(cpu: str) -> None:
    with pytest.raises(DataError, match="pip install pillow"):
        tw.load(io.BytesIO(b"\xff\xd8\xff\xe0" + bytes(40)))


@pytest.mark.parametrize("dtype", [tw.float32, tw.int32, tw.int16, tw.uint8])
def test_sound_comes_back(dtype: tw.DType, cpu: str, tmp_path: Path) -> None:
    numbers = [[0, 1], [1, 0], [0, 0]]
    x = tw.asarray(numbers, dtype=dtype)
    tw.save(tmp_path / "x.wav", (x, 8000))
    found, rate = tw.load(tmp_path / "x.wav")
    scale = {tw.float32: 1, tw.int32: 1 << 31, tw.int16: 1 << 15, tw.uint8: 128}[dtype]
    shift = 128 if dtype is tw.uint8 else 0
    assert rate == 8000
    assert found.dtype is tw.float32
    assert found.tolist() == [[(n - shift) / scale for n in row] for row in numbers]


def test_python_reads_the_sound(cpu: str, tmp_path: Path) -> None:
    import wave

    tw.save(tmp_path / "x.wav", (tw.asarray([0, -3, 5], dtype=tw.int16), 44100))
    with wave.open(str(tmp_path / "x.wav")) as opened:
        assert (opened.getnchannels(), opened.getframerate()) == (1, 44100)
        assert struct.unpack("<3h", opened.readframes(3)) == (0, -3, 5)


def test_sound_of_24_bits_is_read(cpu: str) -> None:
    samples = b"".join(n.to_bytes(3, "little", signed=True) for n in (0, -(1 << 23), 1))
    layout = struct.pack("<HHIIHH", 1, 1, 48000, 144000, 3, 24)
    data = b"fmt " + struct.pack("<I", 16) + layout
    data += b"LIST" + struct.pack("<I", 3) + b"abc\0"
    data += b"data" + struct.pack("<I", 9) + samples
    file = b"RIFF" + struct.pack("<I", len(data) + 4) + b"WAVE" + data
    found, rate = tw.load(io.BytesIO(file))
    assert (found.tolist(), rate) == ([[0.0], [-1.0], [2.0**-23]], 48000)
    with pytest.raises(DataError, match="is cut: its samples end at byte 65"):
        tw.load(io.BytesIO(file[:-2]))


def test_values_that_a_format_cannot_hold_are_refused(cpu: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds one tensor, and here are 2: 'a', 'b'"):
        tw.save(tmp_path / "x.npy", {"a": tw.ones(1), "b": tw.ones(1)})
    with pytest.raises(DataError, match="takes a pair"):
        tw.save(tmp_path / "x.wav", tw.ones(3))
    with pytest.raises(DataError, match="like= is for safetensors and npz"):
        tw.load(io.BytesIO(GOOD), like=tw.ones(1))
    with pytest.raises(DataError, match=r"'tensor' is complex64.*x\.real"):
        tw.save(tmp_path / "x.csv", tw.asarray([1j]))
    assert os.listdir(tmp_path) == []


def test_unsupported_file_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"x' has no ending; .*\.safetensors or"):
        tw.save(tmp_path / "x", tw.ones(1))
    with pytest.raises(DataError, match=r"comes first.*save\('m\.npz', tree\)"):
        tw.save(tw.ones(1), "m.npz")  # type: ignore[arg-type]  # PyTorch's order
    assert os.listdir(tmp_path) == []
