"""Adapters with which other libraries accept tensors: einops, and the GPU of wgpu-py.

They are neither imported nor looked for here: a row runs once its module is there,
whether the program imports that before tensorweb or after it.

einops asks subclasses of its `AbstractBackend` whose name is an imported module. Ours
is made when einops is imported, see `tensorweb/exchange.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorweb.devices import fastest, is_browser, opened
from tensorweb.errors import DataError, DeviceError
from tensorweb.functions.creation import arange, asarray
from tensorweb.functions.joining import concat, stack
from tensorweb.functions.linear_algebra import einsum
from tensorweb.tensor import Tensor


def use_device(device: Any) -> None:
    """Use a device of wgpu-py, for example pygfx's, as device `webgpu`.

    Called before the first tensor on `webgpu`; from then on both libraries can use each
    other's buffers without a copy, see `Tensor.gpu_buffer`. The device should have the
    adapter's limits: `adapter.request_device_sync(required_limits=adapter.limits)`.

    If the device is lost, `webgpu` opens one of its own until this is called again.

    Args:
        device: a `wgpu.GPUDevice`; it stays the property of the other library.

    Raises:
        DeviceError: `webgpu` is open already, or this is a browser.
        DataError: it is no device of wgpu-py.

    >>> use_device("a GPU")
    Traceback (most recent call last):
    ...
    tensorweb.errors.DataError: use_device: 'a GPU' is no wgpu.GPUDevice.
    """
    if not (hasattr(device, "queue") and hasattr(device, "adapter")):
        raise DataError(f"use_device: {device!r} is no wgpu.GPUDevice.")
    name = fastest()
    if is_browser():
        raise DeviceError("use_device: a browser's page has its own device.")
    if opened(name) is not None:
        raise DeviceError(
            f"use_device: device {name!r} is open already; call it before the first "
            "tensor of the program."
        )
    from tensorweb.drivers.native_adapters import share_device

    share_device(device)


def register(backends: Any) -> None:
    """Give einops a backend for tensors; `backends` is its module of that name."""

    class TensorwebBackend(backends.AbstractBackend):  # type: ignore[misc]  # einops has no types
        """What einops asks of a library of tensors."""

        framework_name = "tensorweb"

        def is_appropriate_type(self, tensor: object) -> bool:
            """Whether something is a tensor."""
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: object) -> Tensor:
            """Return an array as a tensor."""
            return asarray(x)

        def to_numpy(self, x: Tensor) -> Any:
            """Return a tensor as an array."""
            return x.numpy()

        def arange(self, start: int, stop: int) -> Tensor:
            """Return whole numbers."""
            return arange(start, stop)

        def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
            """Return a tensor with its axes in another order."""
            return x.permute(*axes)

        def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
            """Return tensors of one shape as one with a new first axis."""
            return stack(tensors)

        def add_axes(
            self, x: Tensor, n_axes: int, pos2len: Mapping[int, int]
        ) -> Tensor:
            """Return a tensor repeated along new axes, as a view."""
            wide = x.expand_dims(tuple(pos2len))
            lengths = enumerate(wide.shape)
            return wide.broadcast_to(tuple(pos2len.get(i, n) for i, n in lengths))

        def tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
            """Return a tensor repeated as a whole along each axis."""
            return x.tile(tuple(repeats))

        def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
            """Return tensors joined along an axis."""
            return concat(tensors, axis=axis)

        def is_float_type(self, x: Tensor) -> bool:
            """Whether means can be taken."""
            return x.dtype.kind in ("float", "complex")

        def einsum(self, pattern: str, *x: Tensor) -> Tensor:
            """Return a sum of products."""
            return einsum(pattern, *x)

    # Python knows subclasses by weak references only.
    backends.TensorwebBackend = TensorwebBackend


Row = Callable[[Any], None]

ROWS: dict[str, Row] = {"einops._backends": register}
"""Modules by name, and what is called with one that is there."""

_waiting: dict[str, Row] = {}


class Arrivals:
    """A finder of `sys.meta_path`: Python asks it for each module that is not there."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: object = None
    ) -> Any:
        """Return where the others find a module that is waited for; else None."""
        tell = _waiting.pop(name, None)
        if tell is None:
            return None
        others: list[Any] = [finder for finder in sys.meta_path if finder is not self]
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            _follow(spec.loader, tell)
        return spec


def _follow(loader: Any, tell: Row) -> None:
    """Let a loader call a row when its module is complete."""
    run = loader.exec_module

    def run_and_tell(module: Any) -> None:
        run(module)
        tell(module)

    loader.exec_module = run_and_tell


def listen() -> None:
    """Call the rows of modules that are there, and wait for the others."""
    for name, tell in ROWS.items():
        if name in sys.modules:
            tell(sys.modules[name])
        else:
            _waiting[name] = tell
    if _waiting:
        sys.meta_path.insert(0, Arrivals())
