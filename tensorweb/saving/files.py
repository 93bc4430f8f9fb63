"""`save` and `load`: trees of tensors as files, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeAlias

from tensorweb.devices import as_device
from tensorweb.errors import DataError
from tensorweb.evaluate import read as read_values
from tensorweb.saving import npz, safetensors
from tensorweb.saving.naming import named_tensors, tree_like
from tensorweb.saving.stored import Stored
from tensorweb.tensor import Tensor

File: TypeAlias = "str | os.PathLike[str] | BinaryIO"

Writer: TypeAlias = Callable[[BinaryIO, Mapping[str, Stored]], None]

WRITERS: dict[str, Writer] = {
    ".safetensors": safetensors.write,
    ".npz": npz.write,
}
"""By the end of a file's name."""


def save(file: File, tree: Any) -> None:
    """Write the tensors of a tree to a file, `.safetensors` or `.npz`.

    Each is called by its way through the tree, with dots: `blocks.0.wq.weight`. Values
    are read from their devices together, and a file that was there is replaced only
    when all is written. In the page the file lands in the program's folder.

    Args:
        file: a path, or a file opened for writing bytes, which becomes safetensors.
        tree: a tensor, or a dict, list, dataclass or model of tensors. Attributes of
            objects that are no tensors, and None, are left out.

    Raises:
        DataError: the name ends otherwise, there is no tensor, two would have one name,
            or a dict or list holds something else.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "line.safetensors")
    >>> tw.save(path, {"w": tw.ones((2, 3)), "b": tw.zeros(3)})
    >>> tw.load(path)["w"].shape
    (2, 3)
    """
    write: Writer = safetensors.write
    if isinstance(file, str | os.PathLike):
        path = os.fspath(file)
        ending = os.path.splitext(path)[1].lower()
        if ending not in WRITERS:
            raise DataError(
                f"save: {path!r} ends in {ending or 'nothing'!r}; give the file a "
                f"name that ends in {' or '.join(WRITERS)}."
            )
        write = WRITERS[ending]
    named = named_tensors(tree)
    values = read_values([tensor.node for tensor in named.values()])
    stored = {
        name: Stored(tensor.shape, tensor.dtype, data)
        for (name, tensor), data in zip(named.items(), values, strict=True)
    }
    if not isinstance(file, str | os.PathLike):
        write(file, stored)
        return
    partial = f"{path}.part"
    try:
        with open(partial, "wb") as opened:
            write(opened, stored)
        os.replace(partial, path)
    except BaseException:
        if os.path.exists(partial):
            os.remove(partial)
        raise


def load(file: File, *, like: Any = None, device: object = None) -> Any:
    """Read the tensors of a file that `save`, PyTorch users or NumPy wrote.

    What the file is is told by its content: safetensors, or npz, stored or deflated.

    Args:
        file: a path, or a file opened for reading bytes.
        like: a tree whose tensors have the names and shapes of those in the file; what
            is no tensor in it is taken over.
        device: where the tensors shall lie; where those of `like` do, else the default
            device.

    Returns:
        a dict of tensors by name; with `like` such a tree, each tensor in the dtype of
        the one there. Without, bfloat16 becomes float32; a device without a dtype of
        fewer than 32 bits takes it as 32 bits, and 64 become 32 with a warning.

    Raises:
        DataError: the file is cut or damaged or none of these, or does not fit `like`:
            names and shapes are all listed. Nothing is loaded then.

    >>> import io
    >>> file = io.BytesIO()
    >>> tw.save(file, [tw.arange(3)])
    >>> _ = file.seek(0)
    >>> tw.load(file, like=[tw.zeros(3, dtype=tw.int32)])
    [tensor([0, 1, 2])]
    """
    where = None if device is None else as_device(device)
    if isinstance(file, str | os.PathLike):
        name = os.fspath(file)
        with open(file, "rb") as opened:
            data = opened.read()
    else:
        name = str(getattr(file, "name", "the file"))
        data = file.read()
        if not isinstance(data, bytes):
            raise DataError(
                f"load: {name!r} gives {type(data).__name__}; open it for reading "
                'bytes, with open(path, "rb").'
            )
    is_zip = data.startswith(npz.START_OF_ZIP)
    found = (npz if is_zip else safetensors).read(name, memoryview(data))
    if like is None:
        where = as_device(where)
        return {key: stored.tensor(where) for key, stored in found.items()}

    def made(stored: Stored, tensor: Tensor) -> Tensor:
        value = stored.tensor("cpu").astype(tensor.dtype)
        return value.to_device(where or tensor.device)

    return tree_like(like, found, made)
