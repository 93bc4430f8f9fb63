"""Files: what was saved is loaded, others read it, and damaged ones are refused."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError
from tensorweb.saving.safetensors import DTYPES
from tensorweb.tensor import Tensor


@dataclass
class Layer:
    """A model's part: tensors, and a setting."""

    weight: Tensor
    bias: Tensor | None
    width: int = 3


def model() -> dict[str, Any]:
    """Return a tree of several dtypes and shapes."""
    return {
        "blocks": [
            Layer(tw.asarray([[1.5, -2.0, 0.25], [0.0, 3.0, 1e-20]]), None),
            Layer(tw.arange(6).reshape((2, 3)).T, tw.asarray([True, False])),
        ],
        "scale": tw.asarray(2.5),
        "empty": tw.zeros((0, 3)),
    }


NAMES = ["blocks.0.weight", "blocks.1.weight", "blocks.1.bias", "scale", "empty"]


def lists(tree: dict[str, Any]) -> list[Any]:
    """Return the numbers of a model's tensors."""
    first, second = tree["blocks"]
    tensors = (first.weight, second.weight, second.bias, tree["scale"], tree["empty"])
    return [tensor.tolist() for tensor in tensors]


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_saved_values_are_loaded(ending: str, device: str, tmp_path: Path) -> None:
    path = tmp_path / f"model.{ending}"
    tw.save(path, model())
    flat = tw.load(path)
    assert sorted(flat) == sorted(NAMES)
    assert flat["blocks.1.weight"].tolist() == [[0, 3], [1, 4], [2, 5]]
    assert flat["blocks.1.bias"].dtype is tw.bool
    assert {tensor.device for tensor in flat.values()} == {device}
    again = tw.load(path, like=model())
    assert lists(again) == lists(model())
    assert again["blocks"][0].width == 3
    assert again["blocks"][0].bias is None
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_every_dtype_keeps_its_bits(
    dtype: tw.DType, ending: str, cpu: str, tmp_path: Path
) -> None:
    numbers = [0, 1, 1, 0] if dtype is tw.bool else [0, 1, 77, 100]
    x = tw.asarray(numbers, dtype=dtype).reshape((2, 2))
    path = tmp_path / f"x.{ending}"
    tw.save(path, x)
    found = tw.load(path)["tensor"]
    assert found.dtype is dtype
    assert found.tolist() == x.tolist()
    assert tw.load(path, like=x).tolist() == x.tolist()


def test_safetensors_aligns_every_tensor_with_its_dtype(cpu: str) -> None:
    names = ["uint8", "complex64", "float16", "int64", "bool", "int32"]
    dtypes = [getattr(tw, name) for name in names]
    file = io.BytesIO()
    tw.save(file, {dtype.name: tw.ones(3, dtype=dtype) for dtype in dtypes})
    content = file.getvalue()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    assert (8 + length) % 8 == 0
    for dtype in dtypes:
        begin, _ = header[dtype.name]["data_offsets"]
        assert begin % dtype.itemsize == 0


def test_numbers_of_npy_files_begin_at_64_bytes(cpu: str, tmp_path: Path) -> None:
    for shape in ((3,), (2, 3, 5), ()):
        tw.save(tmp_path / "x.npy", tw.ones(shape))
        content = (tmp_path / "x.npy").read_bytes()
        (length,) = struct.unpack("<H", content[8:10])
        assert (10 + length) % 64 == 0


def test_numpy_reads_and_writes_the_same(np: ModuleType, cpu: str) -> None:
    file = io.BytesIO()
    columns = np.asfortranarray(np.arange(24, dtype=np.int16).reshape(2, 3, 4))
    arrays = {"a": columns, "b": np.array([1.5, 2.5], ">f8"), "c": np.float16(0.5)}
    np.savez_compressed(file, **arrays)
    file.seek(0)
    found = tw.load(file)
    for name, array in arrays.items():
        assert found[name].tolist() == array.tolist()
    assert [found[name].dtype.name for name in "abc"] == ["int16", "float64", "float16"]


def test_numpy_reads_saved_files(np: ModuleType, cpu: str, tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    tw.save(path, model())
    with np.load(path) as found:
        assert sorted(found) == sorted(NAMES)
        assert found["blocks.1.weight"].tolist() == [[0, 3], [1, 4], [2, 5]]
        assert found["empty"].shape == (0, 3)


def made(header: dict[str, Any] | bytes, body: bytes = b"") -> io.BytesIO:
    """Return a safetensors file, written by its description alone."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return io.BytesIO(struct.pack("<Q", len(text)) + text + body)


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_a_file_of_others_is_read(cpu: str) -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "half": entry("BF16", [2], 0, 4),
        "w": entry("F32", [1, 2], 4, 12),
    }
    body = bytes([0x80, 0x3F, 0x20, 0xC0]) + struct.pack("<ff", 0.5, -8.0)
    found = tw.load(made(header, body))
    assert found["half"].tolist() == [1.0, -2.5]
    assert found["half"].dtype is tw.bfloat16
    assert found["w"].tolist() == [[0.5, -8.0]]


def test_numbers_of_few_bits_keep_their_dtype(device: str) -> None:
    header = {"a": entry("I8", [3], 0, 3), "b": entry("U16", [1], 4, 6)}
    header["c"] = entry("BOOL", [1], 3, 4)
    found = tw.load(made(header, bytes([1, 255, 3, 1, 0, 2])))
    assert found["a"].tolist() == [1, -1, 3]
    assert found["a"].dtype is tw.int8
    assert (found["b"].tolist(), found["b"].dtype) == ([512], tw.uint16)
    assert found["c"].tolist() == [True]


ONE = {"w": entry("F32", [2], 0, 8)}

DAMAGED: dict[str, tuple[Callable[[], io.BytesIO], str]] = {
    "empty": (lambda: io.BytesIO(b""), "is empty.$"),
    "text": (lambda: io.BytesIO(b"not a file\nof tensors now"), "no number.*csv"),
    "cut header": (lambda: io.BytesIO(made(ONE).getvalue()[:30]), "is cut: its header"),
    "cut data": (lambda: made(ONE, bytes(5)), "is cut: 'w' ends at byte 8 .* are 5"),
    "long header": (lambda: io.BytesIO(b"\xff" * 20), r"begins with b'\\xff"),
    "no JSON": (lambda: made(b'{"w": '), "its header is no JSON"),
    "deep JSON": (lambda: made(b'{"a":' * 99999), "its header is no JSON"),
    "a name twice": (lambda: made(b'{"w": 1, "w": 2}'), "has 'w' twice"),
    "no entry": (lambda: made({"w": 3}), "says no dtype, shape and data_offsets of"),
    "a negative length": (
        lambda: made({"w": entry("F32", [-2], 0, 8)}, bytes(8)),
        "says no dtype, shape",
    ),
    "an unknown dtype": (
        lambda: made({"w": entry("F8_E8M0", [8], 0, 8)}, bytes(8)),
        "'w' in F8_E8M0",
    ),
    "a wrong size": (
        lambda: made({"w": entry("F32", [3], 0, 8)}, bytes(8)),
        r"shape \(3,\) in F32 8 bytes, and it needs 12",
    ),
    "swapped offsets": (
        lambda: made({"w": entry("F32", [2], 8, 0)}, bytes(8)),
        "before it begins at 8",
    ),
    "overlapping": (
        lambda: made({**ONE, "v": entry("F32", [2], 4, 12)}, bytes(12)),
        "'w' and 'v' at the same bytes",
    ),
    "a hole": (
        lambda: made({"v": entry("F32", [1], 4, 8)}, bytes(8)),
        "4 bytes before 'v' that are nothing",
    ),
    "more behind": (lambda: made(ONE, bytes(9)), "1 bytes behind its last"),
    "a damaged zip": (lambda: io.BytesIO(b"PK\3\4 no archive"), "damaged npz"),
    "a cut zip": (lambda: io.BytesIO(zipped(b"").getvalue()[:40]), "damaged npz"),
    "no npy": (lambda: zipped(b"something"), "'w', which is no npy file"),
    "objects": (
        lambda: zipped(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}")),
        "an array of Python objects",
    ),
    "no head": (lambda: zipped(npy("__import__('os')")), "describes no array"),
    "a short npy": (
        lambda: zipped(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}")),
        "0 bytes, and it needs 12",
    ),
}


def npy(head: str) -> bytes:
    """Return a npy file without any numbers."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode()


def zipped(content: bytes) -> io.BytesIO:
    """Return an archive of one entry, deflated."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w.npy", content)
    file.seek(0)
    return file


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_refused(name: str, cpu: str) -> None:
    make, said = DAMAGED[name]
    with pytest.raises(DataError, match=said):
        tw.load(make())


def test_all_that_does_not_fit_is_listed(cpu: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tw.save(path, {"a": tw.ones(2), "b": tw.ones(3), "c": tw.ones(1), "d": tw.ones(1)})
    like = {"a": tw.ones(2), "b": tw.ones(4), "d": tw.arange(1), "e": [tw.ones(1)]}
    with pytest.raises(DataError) as error:
        tw.load(path, like=like)
    for part in (
        "missing in the file: 'e.0'",
        "only in the file: 'c'",
        "'b' has shape (3,) and not (4,)",
        "'d' is float32 and not int32",
    ):
        assert part in str(error.value)


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"epochs": [3], "w": tw.ones(1)}, "'epochs.0' is int.*tw.asarray"),
        ({"a.b": tw.ones(1), "a": {"b": tw.ones(1)}}, "two tensors.*'a.b'"),
        ({"a": None}, "no tensor in the tree"),
    ],
)
def test_trees_that_cannot_be_saved(tree: Any, said: str, cpu: str) -> None:
    with pytest.raises(DataError, match=said):
        tw.save(io.BytesIO(), tree)


def test_names_of_files_say_the_format(cpu: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ends in '\.pt'.*\.safetensors or \.npz"):
        tw.save(tmp_path / "x.pt", tw.ones(1))
    with pytest.raises(DataError, match="reading bytes"):
        tw.load(io.StringIO("text"))  # type: ignore[arg-type]  # what is tested


def test_a_failure_leaves_the_file_that_was_there(
    cpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.safetensors"
    tw.save(path, tw.ones(1))
    before = path.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patched:  # what tells of tests needs it as well
        patched.setattr("json.dumps", fail)
        with pytest.raises(OSError, match="no room"):
            tw.save(path, tw.zeros(5))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_the_state_of_training_is_saved(cpu: str, tmp_path: Path) -> None:
    params = {"w": tw.asarray([3.0, -2.0])}
    opt = tw.optim.Adam(params, lr=0.1)
    (params["w"] ** 2).sum().backward()
    opt.step()
    path = tmp_path / "run.safetensors"
    tw.save(path, {"model": params, "optimizer": opt.state_dict()})
    fresh = {"w": tw.zeros(2)}
    again = tw.optim.Adam(fresh, lr=0.5)
    found = tw.load(path, like={"model": fresh, "optimizer": again.state_dict()})
    again.load_state_dict(found["optimizer"])
    assert found["model"]["w"].tolist() == params["w"].tolist()
    assert (
        again.state_dict()["w.first"].tolist() == opt.state_dict()["w.first"].tolist()
    )
    assert again.state_dict()["learning_rate"].item() == pytest.approx(0.1)


def test_the_name_of_a_header_s_notes_is_refused(cpu: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.safetensors"
    with pytest.raises(DataError, match=r"called '__metadata__'.*rename its key"):
        tw.save(path, {"__metadata__": tw.ones(2)})
    assert not list(tmp_path.iterdir())


def test_numbers_of_a_checkpoint_come_back_as_numbers(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.safetensors"
    given = {"epoch": 3, "rate": 3e-4, "is_done": True, "w": tw.ones(2)}
    tw.save(path, given)
    found = tw.load(
        path, like={"epoch": 0, "rate": 0.0, "is_done": False, "w": tw.zeros(2)}
    )
    numbers = [found[name] for name in ("epoch", "rate", "is_done")]
    assert [(type(each), each) for each in numbers] == [
        (int, 3),
        (float, 3e-4),
        (bool, True),
    ]
    assert tw.load(path, device="cpu")["epoch"].dtype is tw.int64
    with pytest.raises(DataError, match="'0' is int, and files hold tensors"):
        tw.save(path, [1, 2])


def test_files_of_torch_are_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02}")
    with pytest.raises(DataError, match=r"torch\.save .*safetensors\.torch\.save_file"):
        tw.load(path)
