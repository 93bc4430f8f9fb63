"""The devices by name, and the default device.

A device is an entry of `DEVICES` and a module that opens its backend, loaded on first
use. Backends compute; see `tensorweb/protocol.py`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections import Counter
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tensorweb import dtypes
from tensorweb.dtypes import DType
from tensorweb.errors import (
    BlockingError,
    DeviceError,
    DTypeError,
    NarrowedDataWarning,
)
from tensorweb.frames import programs, warn_once
from tensorweb.graph import deferred_errors
from tensorweb.waits import Steps, run_async, run_blocking

if TYPE_CHECKING:
    from tensorweb.protocol import Backend


@dataclass(frozen=True, slots=True)
class Device:
    """An entry of `DEVICES`: properties of a device known before it is opened.

    Attributes:
        name: the name in programs.
        module: the module with `open_backend(name)`, which returns `Steps`.
        dtypes: names of the dtypes that it can store.
        doc: one line of documentation.
        varying: names of the dtypes that depend on the opened device.
        is_numbered: whether a machine can have several: `webgpu:1` is its second.
    """

    name: str
    module: str
    dtypes: frozenset[str]
    doc: str
    varying: frozenset[str] = frozenset()
    is_numbered: bool = False


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
            "the GPU through WebGPU: bool, integers up to 32 bits, bfloat16, float32, "
            "complex64, at times float16",
            varying=frozenset({"float16"}),
            is_numbered=True,
        ),
    )
}
"""Every device by name, from the most available to the fastest. The default is the last
one that can be opened."""

_numbered: dict[str, Device] = {}
"""Entries of further adapters, such as `webgpu:1`, by the names that programs used."""

NARROWER = {
    dtypes.float64: dtypes.float32,
    dtypes.int64: dtypes.int32,
    dtypes.uint64: dtypes.uint32,
    dtypes.complex128: dtypes.complex64,
}
"""The substitute of each 64-bit dtype on devices without 64-bit dtypes."""

_backends: dict[str, Backend] = {}
_process_default: str | None = None
"""The last argument of `set_default_device`; None before."""

_context_default: ContextVar[str | None] = ContextVar("default device", default=None)
"""The device of the enclosing `with device(…)` of this thread or asyncio task."""

_fastest_here: str | None = None
"""The cached default: the fastest device that could be opened; None before use."""


def as_device(device: object) -> str:
    """Return a device's name, checked; None means the default device.

    A number chooses one of several adapters; `webgpu` is the first one.

    Raises:
        DeviceError: there is no such device.

    >>> as_device("cpu"), as_device("webgpu:0")
    ('cpu', 'webgpu')
    """
    if device is None:
        return default_device()
    if isinstance(device, str):
        device = str(device)  # Not a subclass, whose pieces would be kept as names.
        if device in DEVICES or device in _numbered:
            return device
        kind, _, number = device.partition(":")
        if kind in DEVICES and DEVICES[kind].is_numbered and number.isdecimal():
            if int(number) == 0:
                return kind
            return _open_numbered(kind, int(number))
    is_torchs = str(device).startswith(("cuda", "gpu", "mps"))
    advice = ' The GPU is "webgpu"; tw.default_device() is the fastest.'
    raise DeviceError(
        f"unknown device {device!r}; devices are {', '.join(DEVICES)}."
        + advice * is_torchs
    )


def _open_numbered(kind: str, number: int) -> str:
    """Add an entry for a further adapter that can be opened, and return its name."""
    name = f"{kind}:{number}"
    _numbered[name] = replace(DEVICES[kind], name=name)
    try:
        backend(name)
    except DeviceError:
        del _numbered[name]
        raise
    return name


def entry(name: str) -> Device:
    """Return the entry of a device by its checked name.

    >>> entry("webgpu").is_numbered
    True
    """
    return DEVICES.get(name) or _numbered[name]


def number_of(name: str) -> int:
    """Return the number in a device's checked name, 0 without one.

    >>> number_of("webgpu"), number_of("webgpu:2")
    (0, 2)
    """
    return int(name.partition(":")[2] or 0)


def backend(name: str) -> Backend:
    """Return a device's backend, opening it on first use.

    Raises:
        DeviceError: the device cannot be opened here; the message has the reason.
    """
    found = _backends.get(name)
    return run_blocking(_open(name)) if found is None else found


async def open_device_async(name: str | None = None) -> str:
    """Open a device by awaiting, and return a description of its adapter.

    The default name is the GPU's. If a CPU emulates the GPU, device `cpu` is opened
    too, and the description explains why `cpu` is the default.

    Raises:
        DeviceError: the device cannot be opened here; the message has the reason.

    >>> import asyncio
    >>> asyncio.run(open_device_async("cpu")).split()[0] in ("NumPy", "WebAssembly")
    True
    """
    found = await run_async(_open(fastest() if name is None else as_device(name)))
    if name is not None or not found.is_emulated:
        return found.description
    with contextlib.suppress(DeviceError):
        found = await run_async(_open(next(iter(DEVICES))))
    return f"{found.description}. {emulation_note()}"


def _open(name: str) -> Steps[Backend]:
    """Return a device's backend, opening it on first use."""
    if name not in _backends:
        _refuse_forked(name)
        module = importlib.import_module(entry(name).module)
        _backends[name] = yield from module.open_backend(name)
    return _backends[name]


def emulation_note() -> str:
    """Return a note if a CPU emulates the GPU of an open device, else `""`."""
    for name, found in _backends.items():
        if found.is_emulated:
            return (
                f"Device {name!r} is {found.description} here, where a CPU stands in "
                f"for a GPU: device 'cpu' is faster and the default, until "
                f'tw.set_default_device("{name}").'
            )
    return ""


_forked: dict[str, Backend] = {}
"""Backends of the parent process; retained, so that the child frees none of their
buffers."""


def _after_fork() -> None:
    """Abandon the parent's devices, whose threads do not exist in a forked child."""
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


def all_opened() -> list[Backend]:
    """Return the backends of all devices that have been opened."""
    return list(_backends.values())


_losses: Counter[str] = Counter()
"""By device, how often it was lost."""


def losses(name: str) -> int:
    """Return how often a device was lost, with all values on it."""
    return _losses[name]


def forget(name: str) -> None:
    """Drop a backend whose device is lost; the next use opens a new one."""
    _losses[name] += 1
    _backends.pop(name, None)
    deferred_errors.forget(name)


def fastest() -> str:
    """Return the name of the device that is fastest if it can be opened.

    >>> fastest()
    'webgpu'
    """
    return next(reversed(DEVICES))


def default_device() -> str:
    """Return the name of the default device of new tensors.

    It is `webgpu` when a GPU exists, else `cpu`, unless `set_default_device` or
    `with device(…)` sets another one. A software adapter (llvmpipe, SwiftShader) is no
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
    """Return the first device that can be opened and is not emulated by a CPU.

    The last device is opened only if another one is emulated.

    Raises:
        BlockingError: a device may exist, and Python cannot wait for it here.
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


class device(contextlib.ContextDecorator, str):
    """A device's name, which in a `with` block is the default device.

    As a decorator it is so in each call of a function. The default is set for this
    thread and asyncio task only. A new task begins with the default of the code that
    creates it, a new thread with the default of the process. As in PyTorch,
    `x.to(tw.device("cpu"))` is `x.to("cpu")`.

    Raises:
        DeviceError: the device is unknown or cannot be had here.

    >>> with device("cpu") as name:
    ...     name
    'cpu'
    """

    def __new__(cls, name: object) -> device:
        """Check the name."""
        made = super().__new__(cls, as_device(name))
        made._before = []
        return made

    _before: list[str | None]

    @property
    def type(self) -> str:
        """The name without the adapter's number."""
        return self.partition(":")[0]

    def _recreate_cm(self) -> device:
        return device(self)  # calls in different threads do not share `_before`

    def __enter__(self) -> str:
        """Open the device and make it the default."""
        backend(name := str(self))
        self._before.append(_context_default.get())
        _context_default.set(name)
        return name

    def __exit__(self, *_: object) -> None:
        """Restore the default."""
        _context_default.set(self._before.pop())


def stores(dtype: DType, device: str) -> bool:
    """Whether a device can store a dtype; opens it only for dtypes that vary."""
    row = entry(device)
    if dtype.name not in row.dtypes:
        return False
    return dtype.name not in row.varying or dtype.name in backend(device).dtypes


def require_dtype(dtype: DType, device: str) -> None:
    """Raise `DTypeError` if a device cannot store a dtype; names one that can."""
    if stores(dtype, device):
        return
    mine = entry(device)
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
"""Index (see `programs`) of the program that called `narrow_dtypes`."""


def narrow_dtypes(allow: bool = True) -> None:
    """Replace int64, uint64 and float64 by 32-bit dtypes on devices that lack them.

    By default, requesting a dtype that a device lacks is an error. After this call
    `tw.zeros(3, dtype=tw.int64)` on `webgpu` is int32, as NumPy data of int64 always
    become, with one `NarrowedDataWarning`. Values that do not fit are still an error.
    The setting is for existing programs that name int64, and lasts until the program
    ends. It changes nothing on `cpu`, which has every dtype.

    >>> narrow_dtypes()
    >>> narrow_dtypes(False)
    """
    global _narrowing_program
    _narrowing_program = programs() if allow else None


def usable_dtype(dtype: DType, device: str) -> DType:
    """Return the requested dtype, or its substitute on a device (`narrow_dtypes`).

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
