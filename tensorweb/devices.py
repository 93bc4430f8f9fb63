"""The devices by name, and which one is the default.

A device is one row here and one module that opens its backend, which is loaded when it
is first needed. Nothing here computes; backends do, see `tensorweb/protocol.py`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.errors import (
    BlockingError,
    DeviceError,
    DTypeError,
    NarrowedDataWarning,
)
from tensorweb.graph import deferred_errors
from tensorweb.notices import programs, warn_once

if TYPE_CHECKING:
    from tensorweb.protocol import Backend


@dataclass(frozen=True, slots=True)
class Device:
    """One row: where the backend lives and what is known before it is loaded.

    Attributes:
        name: what programs call it.
        module: has `open_backend()` and `open_backend_async()`.
        dtypes: names of the dtypes that it can store.
        doc: one line for people.
        varying: those of its dtypes that an open device may lack.
    """

    name: str
    module: str
    dtypes: frozenset[str]
    doc: str
    varying: frozenset[str] = frozenset()


DEVICES: dict[str, Device] = {
    row.name: row
    for row in (
        Device(
            "cpu",
            "tensorweb.backends.cpu",
            frozenset(dtypes.BY_NAME),
            "NumPy natively, WebAssembly in Pyodide: every dtype",
        ),
        Device(
            "webgpu",
            "tensorweb.backends.webgpu",
            frozenset(name for name, dtype in dtypes.BY_NAME.items() if dtype.wgsl),
            "the GPU through WebGPU: bool, integers up to 32 bits, float32, complex64, "
            "at times float16",
            varying=frozenset({"float16"}),
        ),
    )
}
"""Every device by name, from what runs everywhere to what computes fastest: new tensors
live on the last one that can be had."""

NARROWER = {
    dtypes.float64: dtypes.float32,
    dtypes.int64: dtypes.int32,
    dtypes.uint64: dtypes.uint32,
    dtypes.complex128: dtypes.complex64,
}
"""What stands for a dtype on a device without numbers of 64 bits."""

_backends: dict[str, Backend] = {}
_process_default: str | None = None
"""What `set_default_device` said last; None before."""

_context_default: ContextVar[str | None] = ContextVar("default device", default=None)
"""What `with device(…)` says in this thread and in this task of asyncio."""

_fastest_here: str | None = None
"""The last device that could be had; None until somebody needs to know."""


def as_device(device: object) -> str:
    """Return a device's name, checked; None means the default device.

    Raises:
        DeviceError: there is no such device.

    >>> as_device("cpu")
    'cpu'
    """
    if device is None:
        return default_device()
    if isinstance(device, str) and device in DEVICES:
        return device
    raise DeviceError(f"unknown device {device!r}; devices are {', '.join(DEVICES)}.")


def backend(name: str) -> Backend:
    """Return a device's backend, opening it on first use.

    Raises:
        DeviceError: the device cannot be had here; says why.
    """
    found = _backends.get(name)
    if found is None:
        _refuse_forked(name)
        module = importlib.import_module(DEVICES[name].module)
        found = _backends[name] = module.open_backend()
    return found


async def open_device_async(name: str | None = None) -> str:
    """Open a device by awaiting and return who computes, where Python cannot block.

    Without a name it is the GPU. Where a CPU stands in for one, device `cpu` is opened
    as well, and the answer says why it is the default.

    Raises:
        DeviceError: the device cannot be had here; says why.

    >>> import asyncio
    >>> asyncio.run(open_device_async("cpu")).split()[0] in ("NumPy", "WebAssembly")
    True
    """
    found = await _open_async(fastest() if name is None else as_device(name))
    if name is not None or not found.is_emulated:
        return found.description
    with contextlib.suppress(DeviceError):
        found = await _open_async(next(iter(DEVICES)))
    return f"{found.description}. {emulation_note()}"


async def _open_async(name: str) -> Backend:
    """Return a device's backend, opening it on first use by awaiting."""
    if name not in _backends:
        _refuse_forked(name)
        module = importlib.import_module(DEVICES[name].module)
        _backends[name] = await module.open_backend_async()
    return _backends[name]


def emulation_note() -> str:
    """Say of an open device that a CPU stands in for its GPU; `""` where none does."""
    for name, found in _backends.items():
        if found.is_emulated:
            return (
                f"Device {name!r} is {found.description} here, where a CPU stands in "
                f"for a GPU: device 'cpu' is faster and the default, until "
                f'tw.set_default_device("{name}").'
            )
    return ""


_forked: dict[str, Backend] = {}
"""Backends of the process that this one was forked from; kept, so that nothing on their
devices is let go of."""


def _after_fork() -> None:
    """Leave the devices to the parent: their threads and queues are not here."""
    for name, found in list(_backends.items()):
        if found.abandon():
            _forked[name] = _backends.pop(name)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _refuse_forked(name: str) -> None:
    """Raise `DeviceError` for a device that only the parent process can use."""
    if name in _forked:
        raise DeviceError(
            f"device {name!r} was opened before os.fork, and a forked process cannot "
            "use its parent's device. Start processes with "
            'multiprocessing.get_context("spawn"), open the device after the fork '
            'only, or use device="cpu" here.'
        )


def opened(name: str) -> Backend | None:
    """Return a device's backend if it has been opened."""
    return _backends.get(name)


def forget(name: str) -> None:
    """Let go of a backend whose device is lost; the next use opens a new one."""
    _backends.pop(name, None)
    deferred_errors.forget(name)


def fastest() -> str:
    """Return the name of the device that computes fastest where it can be had.

    >>> fastest()
    'webgpu'
    """
    return next(reversed(DEVICES))


def default_device() -> str:
    """Return the name of the device that new tensors live on.

    It is `webgpu` when a GPU exists, else `cpu`, until `set_default_device` or
    `with device(…)` says otherwise. A software adapter (llvmpipe, SwiftShader) is no
    GPU: `cpu` is faster. Naming an adapter in `TENSORWEB_ADAPTER` chooses `webgpu`.

    >>> with device("cpu"):
    ...     default_device()
    'cpu'
    """
    global _fastest_here
    chosen = _context_default.get()
    if chosen is not None:
        return chosen
    if _process_default is not None:
        if _process_default not in _backends:
            backend(_process_default)  # raises here, at the line that wants a tensor
        return _process_default
    if _fastest_here is None:
        _fastest_here = _first_of(reversed(DEVICES))
    return _fastest_here


def _first_of(names: Iterable[str]) -> str:
    """Return the first device that can be had and that no CPU stands in for.

    The last one is tried only where a CPU stands in for another.

    Raises:
        BlockingError: one may be there, and Python cannot wait for it here.
    """
    *tried, last = names
    emulated = ""
    for name in tried:
        try:
            found = backend(name)
        except BlockingError:
            raise
        except DeviceError:
            continue
        if not found.is_emulated:
            return name
        emulated = emulated or name
    if not emulated:
        return last
    try:
        backend(last)
    except DeviceError:
        return emulated
    return last


def set_default_device(device: str) -> None:
    """Make a device the default for new tensors, in every thread.

    Inside `with device(…)` that device stays the default.

    Raises:
        DeviceError: the device is unknown or cannot be had here.

    >>> set_default_device("tpu")
    Traceback (most recent call last):
    ...
    tensorweb.errors.DeviceError: unknown device 'tpu'; devices are cpu, webgpu.
    """
    backend(as_device(device))
    prefer_device(device)


def prefer_device(device: str) -> None:
    """Make a device the default without opening it: the first tensor does.

    Raises:
        DeviceError: the device is unknown.

    >>> prefer_device("tpu")
    Traceback (most recent call last):
    ...
    tensorweb.errors.DeviceError: unknown device 'tpu'; devices are cpu, webgpu.
    """
    global _process_default
    _process_default = as_device(device)


@contextlib.contextmanager
def device(name: str) -> Iterator[str]:
    """Use a device as the default inside a `with` block.

    Other threads keep theirs, and so do other tasks of asyncio; a task begins with the
    default of the code that makes it, a thread with that of the process.

    Raises:
        DeviceError: the device is unknown or cannot be had here.

    >>> with device("cpu") as name:
    ...     name
    'cpu'
    """
    checked = as_device(name)
    backend(checked)
    before = _context_default.get()
    _context_default.set(checked)
    try:
        yield checked
    finally:
        _context_default.set(before)


def stores(dtype: DType, device: str) -> bool:
    """Whether a device can store a dtype; opens it only where devices differ."""
    row = DEVICES[device]
    if dtype.name not in row.dtypes:
        return False
    return dtype.name not in row.varying or dtype.name in backend(device).dtypes


def require_dtype(dtype: DType, device: str) -> None:
    """Raise `DTypeError` when a device cannot store a dtype; says which can."""
    if stores(dtype, device):
        return
    mine = DEVICES[device]
    other = [row.name for row in DEVICES.values() if dtype.name in row.dtypes]
    other = [name for name in other if name != device]
    stored = ", ".join(sorted(mine.dtypes - mine.varying))
    near = NARROWER.get(dtype)
    hint = (
        f"; tw.narrow_dtypes() gives {near} wherever {dtype} is asked for"
        if near
        else ""
    )
    raise DTypeError(
        f"device {device!r} has no {dtype}; it stores {stored}. Use "
        f'device="{other[0]}" for {dtype}, or convert with astype{hint}.'
    )


_narrowing_program: int | None = None
"""The number of the program that takes narrow dtypes where it asks for wide ones."""


def narrow_dtypes(allow: bool = True) -> None:
    """Let int64, uint64 and float64 be 32-bit dtypes on devices that lack them.

    Without it, a dtype that a device lacks is an error where it is asked for. With it
    `tw.zeros(3, dtype=tw.int64)` on `webgpu` is int32, as data of NumPy's int64 are
    anyway; one `NarrowedDataWarning` says so. Numbers that do not fit stay an error.
    It is for programs of others that ask for int64 by name, and holds for the whole
    program. `cpu` has every dtype, so that nothing changes there.

    >>> narrow_dtypes()
    >>> narrow_dtypes(False)
    """
    global _narrowing_program
    _narrowing_program = programs() if allow else None


def usable_dtype(dtype: DType, device: str) -> DType:
    """Return a dtype that is asked for, or what stands for it on a device.

    Raises:
        DTypeError: the device lacks it, and `narrow_dtypes` was not called.
    """
    if stores(dtype, device):
        return dtype
    near = NARROWER.get(dtype)
    if near is None or _narrowing_program != programs() or not stores(near, device):
        require_dtype(dtype, device)
    assert near is not None, "internal: what is not required was an error"
    warn_once(
        NarrowedDataWarning,
        f"dtype {dtype} is {near} on device {device!r}, which has no 64-bit numbers, "
        "as tw.narrow_dtypes() allows. This is said once a program.",
    )
    return near


def is_browser() -> bool:
    """Whether Python runs in a browser (Pyodide)."""
    return sys.platform == "emscripten"
