"""`save` and `load`: tensors in the formats of other programs, by a file's ending.

A file is replaced only when all of it is written, and loaded only if all of it fits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, TypeAlias

from tensorweb import dtypes, tree
from tensorweb.devices import as_device
from tensorweb.drivers import browser_pictures
from tensorweb.errors import DataError
from tensorweb.evaluate import read as read_values
from tensorweb.functions import asarray
from tensorweb.graph.storage import HostData
from tensorweb.saving import images, npy, safetensors, tables, wav
from tensorweb.saving.source import File, Source, Stored, refuse
from tensorweb.tensor import Tensor
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.hostarrays import is_numpy_scalar
from tensorweb.trees import UNNAMED
from tensorweb.waits import Steps, run_async, run_blocking

ALONE = "tensor"
"""The name of a tensor that is saved by itself, without a tree around it."""

PLAIN = (dict, list, tuple)
"""Containers all of whose leaves are meant to be saved; objects hold settings too."""

NUMBERS = {bool: dtypes.bool, int: dtypes.int64, float: dtypes.float64}
"""The dtype that a Python number has in a file."""

Writer: TypeAlias = Callable[[BinaryIO, Any], None]


def save(file: File, tree: Any) -> None:
    """Write tensors to a file: `.safetensors`, `.npz`, `.npy`, `.csv`, `.png`, `.wav`.

    In `.safetensors` and `.npz` each tensor of a tree is named by its path through it,
    with dots: `blocks.0.wq.weight`. The others hold one tensor: `.png` a picture of
    shape `(height, width)` or `(height, width, channels)`, integers of 0 to 255 or
    floats of 0 to 1; `.wav` a pair of sound, `(samples,)` or `(samples, channels)`, and
    the samples a second; `.csv` rows of numbers, or a dict of columns.

    Values are read from their devices together, and a file that was there is replaced
    only when all is written. In the page the file lands in the program's folder.

    Args:
        file: a path, or a file opened for writing bytes, which becomes safetensors.
        tree: a tensor, or a dict, list, dataclass or model of tensors. Attributes of
            objects that are no tensors, and None, are left out. Numbers in dicts,
            `{"epoch": 3}`, become 0-d tensors of 64 bits, and numbers again where
            `load(like=)` has one.

    Raises:
        DataError: the name ends otherwise, there is no tensor, two would have one name,
            a dict or list holds something else, the format has no such numbers, or
            the file stands second.
        ShapeError: the format holds no tensor of this shape.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "line.safetensors")
    >>> tw.save(path, {"w": tw.ones((2, 3)), "b": tw.zeros(3)})
    >>> tw.load(path)["w"].shape
    (2, 3)
    """
    if not isinstance(file, str | os.PathLike):
        if isinstance(tree, str | os.PathLike):
            raise DataError(
                "save: the file comes first and what is saved second: "
                f"tw.save({os.fspath(tree)!r}, tree)."
            )
        safetensors.write(file, stored_by_name(tree))
        return
    path = os.fspath(file)
    ending = os.path.splitext(path)[1].lower()
    if ending not in WRITERS:
        what = f"ends in {ending!r}" if ending else "has no ending"
        raise DataError(
            f"save: {path!r} {what}; give the file a name that ends in "
            f"{' or '.join(WRITERS)}."
        )
    replace(path, lambda opened: WRITERS[ending](opened, tree))


def replace(path: str, write: Callable[[BinaryIO], None]) -> None:
    """Write a new file, and let it replace the file at `path` at the end."""
    partial = f"{path}.part"
    try:
        with open(partial, "wb") as opened:
            write(opened)
        os.replace(partial, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(partial)
        raise


def stored_by_name(tree: Any) -> dict[str, Stored]:
    """Return the tensors of a tree by name, read from their devices together."""
    named = named_tensors(tree)
    values = read_values([tensor.node for tensor in named.values()])
    return {
        name: Stored(tensor.shape, tensor.dtype, HostData(data))
        for (name, tensor), data in zip(named.items(), values, strict=True)
    }


def _only_tensor(tree: Any, ending: str) -> Stored:
    """Return the only tensor of a tree.

    Raises:
        DataError: there are several.
    """
    stored = stored_by_name(tree)
    if len(stored) > 1:
        raise DataError(
            f"save: a {ending} file holds one tensor, and here are {len(stored)}: "
            f"{', '.join(map(repr, stored))}; save .npz or .safetensors, or one each."
        )
    return next(iter(stored.values()))


def _write_table(file: BinaryIO, tree: Any) -> None:
    stored = stored_by_name(tree)
    tables.write(file, stored, ALONE not in stored)


def _write_sound(file: BinaryIO, tree: Any) -> None:
    if not isinstance(tree, tuple) or len(tree) != 2:
        raise DataError(
            "save: a .wav file takes a pair, the sound and its samples a second: "
            'tw.save("a.wav", (x, 44100)).'
        )
    sound, rate = tree
    wav.write(file, _only_tensor(sound, ".wav"), rate)


WRITERS: dict[str, Writer] = {
    ".safetensors": lambda file, tree: safetensors.write(file, stored_by_name(tree)),
    ".npz": lambda file, tree: npy.write_archive(file, stored_by_name(tree)),
    ".npy": lambda file, tree: npy.write(file, _only_tensor(tree, ".npy")),
    ".csv": _write_table,
    ".png": lambda file, tree: images.write(file, _only_tensor(tree, ".png")),
    ".wav": _write_sound,
}
"""How trees are written, by the end of a file's name."""


def load(file: File, *, like: Any = None, device: object = None) -> Any:
    """Read the tensors of a file, whoever wrote it; its content tells what it is.

    ============================ ==================================================
    file                         what comes back
    ============================ ==================================================
    safetensors, npz             a dict of tensors by name; with `like` such a tree
    npy                          a tensor
    PNG, JPEG, WebP, GIF         uint8 of shape `(height, width, channels)`: 1 is
                                 grey, 3 are red, green and blue, 4 have alpha; of
                                 PNG with 16 bits uint16
    WAV                          a pair: float32 of shape `(samples, channels)` from
                                 -1 to 1, and the samples a second
    text (CSV)                   `(rows, columns)`; a header is left out
    ============================ ==================================================

    A tensor of a large file is read when it is needed: what nobody computes with takes
    no memory. Pictures but PNG need a browser, or Pillow.

    Args:
        file: a path, or a file opened for reading bytes; of npy arrays that follow each
            other there, each call reads the next.
        like: a tree whose tensors have the names and shapes of those in the file; what
            is no tensor in it is taken over.
        device: where the tensors shall lie; where those of `like` do, else the default
            device.

    Returns:
        see above; with `like` each tensor has the dtype of the one there. Without,
        8-bit floats (`F8_E4M3`, `F8_E5M2`) become bfloat16, which holds each of their
        values; on a device that lacks it float16 becomes float32, and 64 bits 32 with
        a warning.

    Raises:
        DataError: the file is cut or damaged or none of these, or does not fit `like`:
            names and shapes are all listed. Nothing is loaded then.
        BlockingError: a picture is decoded by the browser, and Python cannot wait for
            it here; write `await tw.load_async(file)`.

    >>> import io
    >>> file = io.BytesIO()
    >>> tw.save(file, [tw.arange(3)])
    >>> _ = file.seek(0)
    >>> tw.load(file, like=[tw.zeros(3, dtype=tw.int32)])
    [tensor([0, 1, 2])]
    """
    can_wait = browser_pictures.can_decode_now()
    return run_blocking(_load(file, like, device, can_wait=can_wait))


async def load_async(file: File, *, like: Any = None, device: object = None) -> Any:
    """Await what `load` returns, where Python cannot wait for the browser.

    Args:
        file: as `load`.
        like: as `load`.
        device: as `load`.

    Returns:
        what `load` returns.

    Raises:
        DataError: as `load`.

    >>> import asyncio, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "grey.png")
    >>> tw.save(path, tw.zeros((2, 3)))
    >>> asyncio.run(tw.load_async(path)).shape
    (2, 3, 1)
    """
    return await run_async(_load(file, like, device, can_wait=True))


def _load(file: File, like: Any, device: object, *, can_wait: bool) -> Steps[Any]:
    source = npy.source_at(file)
    head = source.read(0, HEAD)
    if images.is_start(head):
        content: Found = yield from images.read(source, can_wait=can_wait)
    else:
        content = read(source, head)
    return _as_tensors(source.name, content, like, device)


HEAD = 32
"""Bytes that tell what a file is."""

Found: TypeAlias = "dict[str, Stored] | Stored | tuple[Stored, int] | str"
"""Tensors by name, one, sound with its rate, or the text of a table."""

READERS: tuple[tuple[Callable[[bytes], bool], Callable[[Source], Found]], ...] = (
    (lambda head: head.startswith(npy.START_OF_ZIP), npy.read_archive),
    (lambda head: head.startswith(npy.MAGIC), npy.read),
    (wav.is_start, wav.read),
    (safetensors.is_start, safetensors.read),
)
"""How files of each format begin, and what reads them."""

BINARY = (".safetensors", ".npz", ".npy", ".png", ".jpg", ".jpeg", ".webp", ".wav")
"""Names of files that are no text."""


def read(source: Source, head: bytes) -> Found:
    """Return what is in a file that is no picture.

    Raises:
        DataError: it is damaged, or of no format that is known.
    """
    for is_start, reader in READERS:
        if is_start(head):
            return reader(source)
    if not head:
        refuse(source.name, "is empty")
    ending = os.path.splitext(source.name)[1].lower()
    text = None if ending in BINARY else tables.text_of(source)
    if text is not None:
        return text
    refuse(
        source.name,
        f"has {source.size} bytes and is no safetensors, npz, npy, PNG, JPEG, WebP, "
        f"GIF or WAV file and no table of numbers: it begins with {head[:12]!r}",
    )


def _as_tensors(name: str, found: Found, like: Any, device: object) -> Any:
    """Return the content of a file as tensors, in the structure of `like` if given."""
    where = None if device is None else as_device(device)
    if like is None:
        return _tensors(name, found, as_device(where))
    if not isinstance(found, dict):
        raise DataError(
            f"load: {name!r} holds one tensor without a name, and like= is for "
            "safetensors and npz; leave it out."
        )

    def made(stored: Stored, tensor: Tensor) -> Tensor:
        target = where or tensor.device
        if stored.dtype is tensor.dtype:
            return stored.tensor(target)
        return stored.tensor("cpu").astype(tensor.dtype).to_device(target)

    return tree_like(like, found, made)


def _tensors(name: str, found: Found, device: str) -> Any:
    if isinstance(found, Stored):
        return found.tensor(device)
    if isinstance(found, str):
        return tables.read(name, found, device)
    if isinstance(found, Mapping):
        return {key: stored.tensor(device) for key, stored in found.items()}
    sound, rate = found
    return sound.tensor(device), rate


# Names of the tensors of a tree.


def named_tensors(given: Any) -> dict[str, Tensor]:
    """Return the tensors of a tree by name: `blocks.0.wq.weight`.

    Arrays count as tensors, and so do numbers that are values of plain dicts, as in
    `{"epoch": 3}`. Attributes of objects that are none are left out.

    Raises:
        DataError: two have one name, there is none, or a plain container holds
            something else.
    """
    leaves, structure = tree.flatten(given)
    remaining = iter(leaves)
    tensors: dict[str, Tensor] = {}
    for name, is_plain, is_entry in _leaf_names(structure, ""):
        leaf = next(remaining)
        tensor = _as_tensor(leaf, is_entry)
        if tensor is None:
            if is_plain and leaf is not None:
                raise DataError(
                    f"save: {name or 'the tree'!r} is {type(leaf).__name__}, and files "
                    "hold tensors; make it one with tw.asarray, or leave it out."
                )
        elif (name or ALONE) in tensors:
            raise DataError(
                f"save: two tensors of the tree are called {name!r}; rename a key."
            )
        else:
            tensors[name or ALONE] = tensor
    if not tensors:
        raise DataError("save: there is no tensor in the tree.")
    return tensors


def _leaf_names(
    structure: tree.Structure, name: str, is_plain: bool = True, is_entry: bool = False
) -> Iterator[tuple[str, bool, bool]]:
    """Yield of each leaf the name and two facts about what holds it.

    They are whether only plain containers do, and whether the innermost is a dict.
    """
    if structure.kind is None:
        yield name, is_plain, is_entry
        return
    if not structure.parts:
        return
    keys = structure.names or range(len(structure.parts))
    is_plain = is_plain and issubclass(structure.kind, PLAIN)
    unnamed = getattr(structure.kind, UNNAMED, None)
    for key, part in zip(keys, structure.parts, strict=True):
        inner = f"{name}.{key}" if name else str(key)
        is_inside = is_plain and issubclass(structure.kind, dict)
        yield from _leaf_names(
            part, name if key == unnamed else inner, is_plain, is_inside
        )


def _as_tensor(leaf: Any, is_entry: bool) -> Tensor | None:
    """Return a tensor or an array as a tensor, None for something else.

    A number in a dict keeps all its digits.
    """
    if isinstance(leaf, Tensor):
        return leaf
    if is_entry and isinstance(leaf, bool | int | float):
        return asarray(leaf, dtype=NUMBERS[type(leaf)], device="cpu")
    is_array = hasattr(leaf, "__array__") and not isinstance(leaf, TensorBase)
    return asarray(leaf, device="cpu") if is_array or is_numpy_scalar(leaf) else None


def tree_like(
    like: Any, found: Mapping[str, Any], made: Callable[[Any, Tensor], Tensor]
) -> Any:
    """Return a tree with what has the names of its tensors; other leaves stay.

    Args:
        like: the tree.
        found: by name, each with a `shape` and a `dtype`.
        made: makes a tensor of one of them, like another tensor.

    Raises:
        DataError: names, shapes or kinds of dtypes do not fit; all are listed.
    """
    leaves, structure = tree.flatten(like)
    described = list(_leaf_names(structure, ""))
    names = [name or ALONE for name, *_ in described]
    expected = {
        name: tensor
        for name, leaf, (*_, is_entry) in zip(names, leaves, described, strict=True)
        if (tensor := _as_tensor(leaf, is_entry)) is not None
    }
    said = []
    missing = [name for name in expected if name not in found]
    extra = [name for name in found if name not in expected]
    if missing:
        said.append(f"missing in the file: {', '.join(map(repr, missing))}")
    if extra:
        said.append(f"only in the file: {', '.join(map(repr, extra))}")
    for name, tensor in expected.items():
        stored = found.get(name)
        if stored is not None and stored.shape != tensor.shape:
            said.append(f"{name!r} has shape {stored.shape} and not {tensor.shape}")
        elif stored is not None and not _converts(stored.dtype.kind, tensor.dtype.kind):
            said.append(f"{name!r} is {stored.dtype} and not {tensor.dtype}")
    if said:
        raise DataError(f"load: the file does not fit the tree: {'; '.join(said)}.")
    filled = {name: made(found[name], tensor) for name, tensor in expected.items()}
    return tree.unflatten(
        structure,
        [
            _as_before(leaf, filled.get(name, leaf))
            for name, leaf in zip(names, leaves, strict=True)
        ],
    )


def _as_before(leaf: Any, found: Any) -> Any:
    """Return a tensor as a Python number where one was."""
    is_number = isinstance(leaf, bool | int | float) and isinstance(found, Tensor)
    return type(leaf)(found.item()) if is_number else found


def _converts(stored: str, expected: str) -> bool:
    """Whether stored numbers of one kind of dtype may be loaded as another kind."""
    return stored == expected or {stored, expected} == {"int", "uint"}
