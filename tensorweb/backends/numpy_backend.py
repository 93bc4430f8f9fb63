"""Run a graph with NumPy, one call per node; movement nodes are strided views."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import cast

import numpy as np

from tensorweb import dtypes
from tensorweb.backends.numpy_rules import RULES, Array, numpy_dtype, repeated
from tensorweb.errors import DeviceMemoryError
from tensorweb.graph import CONSTANT, HostData, Node, Storage, ancestors
from tensorweb.ops.structure import GATHER
from tensorweb.view import View


class ArrayStorage(Storage):
    """A computed value: a contiguous one-dimensional array that nobody writes."""

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        """Keep the array."""
        self.array = array


class CpuBackend:
    """The backend of device `cpu`; see `devices.Backend`."""

    def __init__(self) -> None:
        self.description = f"NumPy {np.__version__}"
        self.dtypes = frozenset(dtype.name for dtype in dtypes.ALL)

    def realize(self, nodes: Sequence[Node]) -> None:
        """Compute nodes and settle their bases.

        Raises:
            DeviceMemoryError: an array does not fit the memory.
        """
        if any(not node.is_computed for node in nodes):
            _Run(nodes).compute()

    def read(self, nodes: Sequence[Node]) -> list[bytes]:
        """Compute nodes and return row-major bytes of each."""
        self.realize([node for node in nodes if not _is_constant(node)])
        return [_bytes(node) for node in nodes]

    async def read_async(self, nodes: Sequence[Node]) -> list[bytes]:
        """Do the same; NumPy never waits."""
        return self.read(nodes)

    def explain(self, nodes: Sequence[Node]) -> str:
        """Return the NumPy calls that computing the nodes takes, one a line."""
        return _explain(nodes, self.description)

    def synchronize(self) -> None:
        """Return at once: everything is done when `realize` returns."""

    def prepare(self, nodes: Sequence[Node]) -> int:
        """Return 0: NumPy compiles nothing."""
        return 0

    def finish_preparing(self) -> None:
        """Return at once."""

    async def finish_preparing_async(self) -> None:
        """Return at once."""


def _physical_memory() -> int:
    """Return the machine's memory in bytes, without end where it is not told."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows, browsers
        return sys.maxsize


MEMORY = _physical_memory()
"""An array above this is refused at once: some systems promise any memory and end the
program when it is used."""


class _Run:
    """One walk over the graph; arrays are dropped after their last use."""

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.order = [
            node
            for node in ancestors(outputs)
            if node.storage is None and node.op.kind != "movement"
        ]
        self.wanted = {id(node.base) for node in outputs}
        self.values: dict[int, Array] = {}
        self.last_use = {
            id(source.base): step
            for step, node in enumerate(self.order)
            for source in node.inputs
        }

    def compute(self) -> None:
        with np.errstate(all="ignore"):
            for step, node in enumerate(self.order):
                inputs = node.inputs
                self.evaluate(node)
                for source in inputs:
                    if self.last_use[id(source.base)] == step:
                        self.values.pop(id(source.base), None)

    def evaluate(self, node: Node) -> None:
        if node.size * node.dtype.itemsize > MEMORY and node.op is not CONSTANT:
            raise _too_large(node)
        try:
            inputs = [self.value(source) for source in node.inputs]
            if node.op is GATHER:
                inputs[0] = self.flat(node.inputs[0].base)
            result = RULES[node.op.kind](node, inputs)
            if id(node) in self.wanted:
                node.settle(ArrayStorage(contiguous(result)))
            else:
                self.values[id(node)] = result
        except MemoryError as error:
            raise _too_large(node) from error

    def value(self, node: Node) -> Array:
        if node.base is node and node.storage is None:
            return self.values[id(node)]
        if _is_constant(node):
            return repeated(node.base, node.shape)
        return look(self.flat(node.base), node.view)

    def flat(self, base: Node) -> Array:
        if base.storage is not None:
            return stored(base)
        flat = contiguous(self.values[id(base)])
        self.values[id(base)] = flat.reshape(base.shape)
        return flat


def _is_constant(node: Node) -> bool:
    """Whether a node looks at one number that takes no storage."""
    return node.base.op is CONSTANT and node.base.storage is None


def _bytes(node: Node) -> bytes:
    """Return the row-major bytes of a computed or constant node."""
    try:
        if _is_constant(node):
            return repeated(node.base, node.shape).tobytes()
        return look(stored(node.base), node.view).tobytes()
    except MemoryError as error:
        raise _too_large(node) from error


def _too_large(node: Node) -> DeviceMemoryError:
    return DeviceMemoryError(
        f"{node.op.name}: {node.dtype} of shape {node.shape} takes "
        f"{node.size * node.dtype.itemsize:,} bytes, more than device 'cpu' can give."
    )


def contiguous(array: Array) -> Array:
    """Return row-major elements in one dimension, without a copy if they lie so."""
    return np.ascontiguousarray(array).reshape(-1)


def stored(base: Node) -> Array:
    """Return the one-dimensional array of a computed base."""
    if isinstance(base.storage, HostData):
        dtype = numpy_dtype(base.dtype)
        data = base.storage.data
        return np.frombuffer(data, dtype) if len(data) else np.empty(0, dtype)
    return cast(ArrayStorage, base.storage).array


def look(flat: Array, view: View) -> Array:
    """Return a view's elements on flat storage without a copy; checks the bounds."""
    if 0 in view.shape:
        return np.empty(view.shape, flat.dtype)
    itemsize = flat.dtype.itemsize
    return np.ndarray(
        view.shape,
        flat.dtype,
        flat.data,
        view.offset * itemsize,
        tuple(stride * itemsize for stride in view.strides),
    )


def _explain(nodes: Sequence[Node], description: str) -> str:
    run = _Run(nodes)
    names: dict[int, str] = {}
    lines: list[str] = []
    for node in run.order:
        if node.op.kind == "constant" and id(node) not in run.wanted:
            names[id(node)] = repr(node.attrs)
            continue
        arguments = [_argument(source, names) for source in node.inputs]
        if node.op.name == "cast" or node.op.kind in ("reduce", "argreduce", "concat"):
            arguments.append(f"{_detail(node)}")
        names[id(node)] = f"t{len(lines) + 1}"
        lines.append(
            f"{names[id(node)]} = {_call_name(node)}({', '.join(arguments)})"
            f"  -> {_kind(node)}"
        )
    if not lines:
        return f"cpu, {description}: nothing to compute, the values are there."
    count = "1 call" if len(lines) == 1 else f"{len(lines)} calls"
    return "\n".join([f"cpu, {description}: {count}, one after another", *lines])


def _argument(source: Node, names: dict[int, str]) -> str:
    name = names.get(id(source.base), "input")
    if source.base is source:
        return name if name != "input" else f"input {_kind(source)}"
    strides = ", ".join(map(str, source.view.strides))
    return f"{name} seen as {_kind(source)} by strides ({strides})"


def _call_name(node: Node) -> str:
    if isinstance(node.op.numpy, str) and node.op.numpy:
        suffix = ".at" if node.op.kind == "accumulate" else ""
        return f"numpy.{node.op.numpy}{suffix}"
    return {"matmul": "numpy.matmul", "concat": "numpy.concatenate"}.get(
        node.op.name, node.op.name
    )


def _detail(node: Node) -> str:
    if node.op.kind == "concat":
        return f"axis {node.attrs}"
    if node.op.name == "cast":
        return str(node.dtype)
    axes = cast(tuple[int, ...], node.attrs)
    return ("axis " if len(axes) == 1 else "axes ") + ", ".join(map(str, axes))


def _kind(node: Node) -> str:
    return f"{node.dtype}[{', '.join(map(str, node.shape))}]"
