"""The devices by name, and which one is the default.

A device's backend is loaded when it is first needed. Nothing here computes; backends
do, through the `Backend` interface.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.errors import BlockingError, DeviceError, DTypeError
from tensorweb.graph.node import Node


class Backend(Protocol):
    """What a device must be able to do with a graph."""

    description: str
    """Who computes, for people: an adapter's name or `NumPy`."""

    dtypes: frozenset[str]
    """Names of the dtypes that the device stores as what they are."""

    def realize(self, nodes: Sequence[Node]) -> None:
        """Compute nodes and settle their bases; returns before the device is done."""

    def read(self, nodes: Sequence[Node]) -> list[bytes]:
        """Compute nodes and return row-major bytes of each, waiting for the device."""

    async def read_async(self, nodes: Sequence[Node]) -> list[bytes]:
        """Do the same by awaiting."""

    def explain(self, nodes: Sequence[Node]) -> str:
        """Say in words what computing the nodes would run, without running it."""

    def synchronize(self) -> None:
        """Wait until everything is done and raise what went wrong meanwhile."""

    def prepare(self, nodes: Sequence[Node]) -> int:
        """Begin to compile what computing nodes would run, without running it.

        Returns how many kernels are being compiled in the background.
        """

    def finish_preparing(self) -> None:
        """Wait until nothing is compiled in the background any more."""

    async def finish_preparing_async(self) -> None:
        """Do the same by awaiting."""

    def abandon(self) -> bool:
        """Stop using the device in a forked process; False where it goes on."""


@dataclass(frozen=True, slots=True)
class Device:
    """One row: where the backend lives and what is known before it is loaded."""

    name: str
    module: str
    dtypes: frozenset[str]
    doc: str


DEVICES: dict[str, Device] = {
    row.name: row
    for row in (
        Device(
            "cpu",
            "tensorweb.backends.cpu",
            frozenset(dtype.name for dtype in dtypes.ALL),
            "NumPy, natively and in Pyodide: every dtype",
        ),
        Device(
            "webgpu",
            "tensorweb.backends.webgpu",
            frozenset(dtype.name for dtype in dtypes.ALL if dtype.wgsl),
            "the GPU through WebGPU: bool, int32, uint32, float32, at times float16",
        ),
    )
}

_backends: dict[str, Backend] = {}
_process_default: list[str] = []
"""What `set_default_device` said last; empty before."""

_context_default: ContextVar[str | None] = ContextVar("default device", default=None)
"""What `with device(…)` says in this thread and in this task of asyncio."""

_probe: list[str] = []


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


async def open_device_async(name: str = "webgpu") -> str:
    """Open a device by awaiting and return who computes, where Python cannot block.

    Raises:
        DeviceError: the device cannot be had here; says why.

    >>> import asyncio
    >>> asyncio.run(open_device_async("cpu"))
    'NumPy ...'
    """
    if name not in _backends:
        _refuse_forked(name)
        module = importlib.import_module(DEVICES[as_device(name)].module)
        _backends[name] = await module.open_backend_async()
    return _backends[name].description


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


def default_device() -> str:
    """Return the name of the device that new tensors live on.

    It is `webgpu` when an adapter exists, else `cpu`, until `set_default_device` or
    `with device(…)` says otherwise.

    >>> with device("cpu"):
    ...     default_device()
    'cpu'
    """
    chosen = _context_default.get()
    if chosen is not None:
        return chosen
    if _process_default:
        preferred = _process_default[0]
        if preferred not in _backends:
            backend(preferred)  # raises here, at the line that wants a tensor
        return preferred
    if not _probe:
        try:
            backend("webgpu")
        except BlockingError:
            raise
        except DeviceError:
            _probe.append("cpu")
        else:
            _probe.append("webgpu")
    return _probe[0]


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
    _process_default[:] = [as_device(device)]


@contextmanager
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
    """Whether a device can store a dtype; opens it only where GPUs differ."""
    if dtype.name not in DEVICES[device].dtypes:
        return False
    return dtype.name != "float16" or dtype.name in backend(device).dtypes


def require_dtype(dtype: DType, device: str) -> None:
    """Raise `DTypeError` when a device cannot store a dtype; says which can."""
    if stores(dtype, device):
        return
    have = DEVICES[device].dtypes
    other = [row.name for row in DEVICES.values() if dtype.name in row.dtypes]
    other = [name for name in other if name != device]
    stored = ", ".join(sorted(have - {"float16"}))
    raise DTypeError(
        f"device {device!r} has no {dtype}; it stores {stored}. Use "
        f'device="{other[0]}" for {dtype}, or convert with astype.'
    )


def is_browser() -> bool:
    """Whether Python runs in a browser (Pyodide)."""
    return sys.platform == "emscripten"
