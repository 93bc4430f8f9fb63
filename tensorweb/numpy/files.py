"""NumPy's functions for files of arrays: `load`, `save`, `savez` and its other form."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from tensorweb import functions as tw
from tensorweb.dtypes import as_dtype
from tensorweb.errors import DataError
from tensorweb.numpy.arguments import check_unused
from tensorweb.numpy.creation import frombuffer
from tensorweb.numpy.text import fromstring
from tensorweb.public_names import declare_public
from tensorweb.saving import npy
from tensorweb.saving.files import load as load_any
from tensorweb.saving.files import replace, stored_by_name
from tensorweb.saving.source import File
from tensorweb.tensor import Tensor
from tensorweb.tensor.convert import ArrayLike, DTypeLike

SHOWN = 5
"""Names of arrays that an archive is printed with."""


class NpzFile(dict[str, Tensor]):
    """The arrays of an archive by name, as `np.load` returns them.

    A name may have the ending that its file has in the archive.
    """

    def __init__(self, arrays: dict[str, Tensor], file: object) -> None:
        """Take the arrays of a file, a path or an open one."""
        super().__init__(arrays)
        self._file = file

    def __missing__(self, key: object) -> Tensor:
        """Return an array by the name of its file."""
        if isinstance(key, str) and key.endswith(".npy") and key[:-4] in self:
            return self[key[:-4]]
        raise KeyError(f"{key!r} is none of the arrays {', '.join(self)}.")

    def __repr__(self) -> str:
        """Return the file and the first names in it."""
        name = self._file if isinstance(self._file, str) else None
        name = name or getattr(self._file, "name", "object")
        names = ", ".join(self.files[:SHOWN]) + "..." * (len(self) > SHOWN)
        return f"NpzFile {name!r} with keys: {names}"

    @property
    def f(self) -> SimpleNamespace:
        """Return the arrays as attributes."""
        return SimpleNamespace(**self)

    @property
    def files(self) -> list[str]:
        """Return the names of the arrays."""
        return list(self)

    def close(self) -> None:
        """Do nothing: all arrays are read already."""

    def __enter__(self) -> NpzFile:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


def load(
    file: File,
    mmap_mode: Literal["r", "c"] | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
) -> Any:
    """Return the array of an `.npy` file, the arrays of an `.npz` file by name.

    Other files of tensors are read as well, as `tw.load` does; a large file is read
    when its values are needed, with `mmap_mode` or without. Of arrays that were saved
    after each other into an open file each call reads the next.

    Arrays of Python objects are an error, with `allow_pickle=True` too: they are saved
    as pickles, which can run any code when they are read.

    Args:
        file: a path, or a file opened for reading bytes, from its position.
        mmap_mode: "r" and "c" change nothing: tensors have values of their own.
        allow_pickle: ignored, see above.
        fix_imports: for pickles, ignored.
        encoding: for pickles, ignored.

    Raises:
        DataError: the file is damaged, of no known format, or holds Python objects; or
            a file is to be written through its array.

    >>> import io
    >>> import tensorweb.numpy as np
    >>> file = io.BytesIO()
    >>> np.save(file, np.arange(3))
    >>> _ = file.seek(0)
    >>> np.load(file)
    tensor([0, 1, 2])
    """
    if mmap_mode not in (None, "r", "c"):
        raise DataError(
            f"load: mmap_mode={mmap_mode!r} writes into the file; load it, change the "
            "tensor, and np.save it again."
        )
    arrays = load_any(file)
    return NpzFile(arrays, file) if isinstance(arrays, dict) else arrays


def save(
    file: File, arr: ArrayLike, allow_pickle: bool = True, fix_imports: object = None
) -> None:
    """Write an array as an `.npy` file; a path gets this ending if it lacks it.

    Args:
        file: a path, or a file opened for writing bytes.
        arr: the array.
        allow_pickle: ignored: no array here holds objects.
        fix_imports: ignored: it concerns pickled objects of Python 2.

    >>> import os, tempfile
    >>> import tensorweb.numpy as np
    >>> path = os.path.join(tempfile.mkdtemp(), "x")
    >>> np.save(path, np.ones((2, 3)))
    >>> np.load(path + ".npy").shape
    (2, 3)
    """
    (stored,) = stored_by_name(tw.asarray(arr)).values()
    _write_array(file, ".npy", lambda opened: npy.write(opened, stored))


def savez(
    file: File, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike
) -> None:
    """Write arrays as an `.npz` file, by name or as `arr_0`, `arr_1` and so on.

    >>> import io
    >>> import tensorweb.numpy as np
    >>> file = io.BytesIO()
    >>> np.savez(file, np.ones(2), b=np.zeros(3))
    >>> _ = file.seek(0)
    >>> np.load(file).files
    ['b', 'arr_0']
    """
    _save_archive(file, args, kwds, deflate=False)


def savez_compressed(
    file: File, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike
) -> None:
    """Write arrays as `savez` does, deflated.

    >>> import io
    >>> import tensorweb.numpy as np
    >>> file = io.BytesIO()
    >>> np.savez_compressed(file, x=np.zeros(1000))
    >>> len(file.getvalue()) < 1000
    True
    """
    _save_archive(file, args, kwds, deflate=True)


def _save_archive(
    file: File,
    args: tuple[ArrayLike, ...],
    kwds: dict[str, ArrayLike],
    *,
    deflate: bool,
) -> None:
    arrays = {name: tw.asarray(value) for name, value in kwds.items()}
    for number, value in enumerate(args):
        if f"arr_{number}" in arrays:
            raise DataError(f"savez: arr_{number} names two arrays; rename one.")
        arrays[f"arr_{number}"] = tw.asarray(value)
    stored = stored_by_name(arrays) if arrays else {}
    _write_array(
        file, ".npz", lambda opened: npy.write_archive(opened, stored, deflate=deflate)
    )


def _write_array(file: File, ending: str, write: Any) -> None:
    if not isinstance(file, str | os.PathLike):
        write(file)
        return
    path = os.fspath(file)
    replace(path if path.endswith(ending) else path + ending, write)


def fromfile(
    file: File,
    dtype: DTypeLike = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    like: ArrayLike = None,
) -> Tensor:
    """Return the numbers of a file of bytes, such as `x.tofile(path)` writes.

    `offset` are bytes to leave out. An open file is read from its position to the
    end of the last number. With `sep`, what stands between two numbers, it
    is a file of text, which is read to its end.

    Raises:
        DataError: a word of a text is no number, or `offset` is given for a text.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "x.bin")
    >>> np.arange(3).tofile(path)
    >>> np.fromfile(path, dtype=int)
    tensor([0, 1, 2])
    """
    check_unused("fromfile", like=like)
    if sep and offset:
        raise DataError(f"fromfile: offset={offset} counts bytes, and sep= says text.")
    if isinstance(file, str | os.PathLike):
        with Path(file).open("rb") as opened:
            return fromfile(opened, dtype, count, sep, offset)
    if sep:
        numbers = fromstring(file.read(), dtype, sep=sep)
        return numbers if count < 0 else numbers[:count]
    size = as_dtype(dtype).itemsize
    if offset:
        file.seek(offset, os.SEEK_CUR)
    data = file.read() if count < 0 else file.read(count * size)
    excess = len(data) % size  # no element: as in NumPy left out
    if excess and count < 0:
        file.seek(-excess, os.SEEK_CUR)
    return frombuffer(data[: len(data) - excess], dtype)


declare_public(__name__, hidden="NpzFile")
