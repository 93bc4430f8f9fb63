"""The format npz: a zip archive with a file of NumPy's format npy for each tensor."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import BinaryIO

from tensorweb.saving import npy
from tensorweb.saving.source import Source, Stored, refuse

START_OF_ZIP = (b"PK\x03\x04", b"PK\x05\x06")

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""A date for every entry, so that equal tensors are equal files."""


def write(
    file: BinaryIO, tensors: Mapping[str, Stored], *, deflate: bool = False
) -> None:
    """Write tensors by name, as `numpy.savez` does, or `numpy.savez_compressed`."""
    how = zipfile.ZIP_DEFLATED if deflate else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", how) as archive:
        for name, stored in tensors.items():
            entry = zipfile.ZipInfo(f"{name}.npy", EARLIEST)
            entry.compress_type = how
            with archive.open(entry, "w", force_zip64=True) as part:
                npy.write(part, stored)  # type: ignore[arg-type]  # it takes bytes


def read(source: Source) -> dict[str, Stored]:
    """Return the tensors of an archive, stored or deflated.

    Raises:
        DataError: it is damaged, or an entry is no array of numbers.
    """
    name = source.name
    tensors: dict[str, Stored] = {}
    try:
        with zipfile.ZipFile(BytesIO(source.read())) as archive:
            entries = archive.infolist()
            if any(entry.filename.endswith("/data.pkl") for entry in entries):
                refuse(
                    name,
                    "was written by torch.save and holds Python objects, which may "
                    "run any program. With PyTorch, write its tensors with "
                    "safetensors.torch.save_file(model.state_dict(), 'm.safetensors')",
                )
            for entry in entries:
                key = entry.filename.removesuffix(".npy")
                if key in tensors:
                    refuse(name, f"has {key!r} twice")
                tensors[key] = npy.read(Source(name, archive.read(entry)), key)
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
        *(NotImplementedError, RuntimeError, ValueError),
    ) as error:
        if str(error).startswith("load: "):
            raise
        refuse(name, f"is a damaged npz file ({error})")
    return tensors
