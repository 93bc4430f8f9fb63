"""Run a graph with NumPy, one call per node; movement nodes are strided views."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import cast

import numpy as np

from tensorweb import dtypes
from tensorweb.backends import policy
from tensorweb.backends.numpy_rules import (
    MOST_AXES,
    OVERWRITING,
    SPREADING,
    Array,
    check_shape,
    narrowed,
    number,
    numpy_dtype,
    repeated,
    rule_of,
    widened,
)
from tensorweb.errors import DeviceMemoryError, counted
from tensorweb.graph.attributes import Joining, Reduction
from tensorweb.graph.autograd import settle
from tensorweb.graph.node import Node, ancestors, attributes_of, number_of_constant
from tensorweb.graph.nonfinite import FINITE, KINDS, Found, search
from tensorweb.graph.op import CONSTANT
from tensorweb.graph.storage import HostData, Storage
from tensorweb.graph.tracing import Placeholder, value_wanted
from tensorweb.ops.structure import CAST
from tensorweb.protocol import RowTransformer, ShaderCompiler
from tensorweb.view import View
from tensorweb.waits import Steps


class ArrayStorage(Storage):
    """A computed value: an array that nobody writes, laid out as NumPy left it.

    Of bfloat16 it holds the bits; `_value` widens them for the rules.
    """

    __slots__ = ("array",)

    def __init__(self, array: Array) -> None:
        """Keep the array."""
        self.array = array

    def flat(self) -> Array:
        """Return the row-major elements in one dimension; laid out so from now on."""
        if not self.array.flags.c_contiguous:
            self.array = np.ascontiguousarray(self.array)
        return self.array.reshape(-1)


class NumpyTransformer:
    """Accepts Fourier transforms of every length, which NumPy computes."""

    def takes(self, length: int, *, is_across: bool) -> bool:
        """Return True."""
        return True

    def angles(self, length: int) -> Sequence[int]:
        """Return nothing."""
        return ()


class CpuBackend:
    """The backend of device `cpu`; see `tensorweb.protocol.Backend`.

    NumPy compiles nothing, so there is nothing to record, to tune or to prepare.
    """

    recorder = None
    tuner = None
    preparer = None
    sharer = None
    row_transformer: RowTransformer | None = NumpyTransformer()
    sorts_short_rows = True
    factors_in_halves = False
    largest_triangle = sys.maxsize
    is_emulated = False

    def __init__(self) -> None:
        self.description = f"NumPy {np.__version__}"
        self.dtypes = frozenset(dtype.name for dtype in dtypes.ALL)

    @property
    def shader_compiler(self) -> ShaderCompiler:
        """Python runs a part of WGSL."""
        # Imported now, and below: few programs have kernels of their own.
        from tensorweb.backends.custom_kernels import PYTHON

        return PYTHON

    def realize(
        self, nodes: Sequence[Node], *, alive: bool = False, step: bool = False
    ) -> None:
        """Compute nodes and settle their bases, and those only.

        Raises:
            DeviceMemoryError: an array does not fit the memory.
        """
        for node in nodes:
            if not node.is_computed:
                _Run(nodes).compute()
                return

    def read_steps(self, nodes: Sequence[Node]) -> Steps[list[bytes]]:
        """Compute nodes and return row-major bytes of each; NumPy never waits."""
        yield from ()
        self.realize([node for node in nodes if not _is_constant(node)])
        return [_bytes(node) for node in nodes]

    def explain(self, nodes: Sequence[Node]) -> str:
        """Return the NumPy calls that computing the nodes takes, one a line."""
        return _explain(nodes, self.description)

    def synchronize(self) -> None:
        """Return at once: everything is done when `realize` returns."""

    def abandon(self) -> bool:
        """Return False: a forked process has its own memory."""
        return False


def _physical_memory() -> int:
    """Return the host's memory in bytes, `sys.maxsize` where it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows, browsers
        return sys.maxsize


MEMORY = _physical_memory()
"""An array above this is refused at once: some systems promise any memory and end the
program when it is used."""


ALWAYS_FITS = 1 << 16
"""Elements of a result whose size needs no check."""


class _Run:
    """One evaluation of a graph.

    Every computed node retains its array, so that none is computed twice; an array
    that only its consumers refer to is freed with them.
    """

    def __init__(self, outputs: Sequence[Node]) -> None:
        self.order = [
            node
            for node in ancestors(outputs)
            if node.storage is None and node.op.kind != "movement"
        ]
        self.wanted = {id(node.base) for node in outputs}

    def compute(self) -> None:
        self.order.reverse()
        seeker = search()
        with np.errstate(all="ignore"):
            while self.order:
                node = self.order.pop()
                if node.op is not CONSTANT or id(node) in self.wanted:
                    inputs = node.inputs if seeker else ()
                    _evaluate(node)
                    if seeker and node.dtype.kind == "float":
                        seeker.made(node, inputs, _look(node), _look)


def _evaluate(node: Node) -> None:
    """Compute a node whose inputs are computed, and drop its references to them."""
    if node.size > ALWAYS_FITS or len(node.shape) > MOST_AXES:
        if node.size * node.dtype.itemsize > MEMORY:
            raise _too_large(node)
        check_shape(node.shape, node.op.name)
    kind = node.op.kind
    look_up = _number_or_value if kind in SPREADING else _value
    try:
        if kind == "map" and _is_long_bfloat16(node):
            settle(node, ArrayStorage(_bfloat16_by_blocks(node)))
            return
        inputs = [look_up(source) for source in node.inputs]
        if kind in OVERWRITING and not _is_last_reader(node):
            inputs[0] = _value(node.inputs[0]).copy()
        result = rule_of(node.op)(node, inputs)
        if result.shape != node.shape:
            result = np.broadcast_to(result, node.shape)
        if node.dtype is dtypes.bfloat16:
            result = narrowed(result)
        settle(node, ArrayStorage(result))
    except MemoryError as error:
        raise _too_large(node) from error


def _is_long_bfloat16(node: Node) -> bool:
    """Whether a bfloat16 result has several rows and more elements than two blocks."""
    is_long = node.dtype is dtypes.bfloat16 and node.size > 2 * policy.HALF_BLOCK
    return is_long and node.shape[0] > 1


def _bfloat16_by_blocks(node: Node) -> Array:
    """Return the bits of an elementwise bfloat16 result, computed in blocks of rows.

    The operation computes in float32. In blocks, these intermediate arrays stay in the
    processor's cache.
    """
    sources = [(_bits_or_number(source), source.dtype) for source in node.inputs]
    rule, length = rule_of(node.op), node.shape[0]
    step = max(1, policy.HALF_BLOCK * length // node.size)
    result = np.empty(node.shape, np.uint16)
    for start in range(0, length, step):
        rows = slice(start, start + step)
        inputs = []
        for array, dtype in sources:
            is_full = array.ndim == len(node.shape) and array.shape[0] == length
            part = array[rows] if is_full else array
            # A constant is a float32 scalar already.
            is_bits = dtype is dtypes.bfloat16 and part.dtype == np.uint16
            inputs.append(widened(part) if is_bits else part)
        result[rows] = narrowed(rule(node, inputs))
    return result


def _bits_or_number(node: Node) -> Array:
    """Return a constant as a scalar array, otherwise the elements as stored."""
    return number(node.base) if _is_constant(node) else _elements(node)


def _is_last_reader(node: Node) -> bool:
    """Whether nobody else can ever read the array of a node's first input.

    An array that NumPy forbids to write shows one number many times.
    """
    storage = node.inputs[0].storage
    return (
        type(storage) is ArrayStorage
        and storage.array.flags.writeable
        and _holders(node) == ALONE
    )


def _holders(node: Node) -> int:
    return sys.getrefcount(node.inputs[0])


ALONE = _holders(
    Node(
        CONSTANT, (Node(CONSTANT, (), 0, (), dtypes.bool, ""),), 0, (), dtypes.bool, ""
    )
)
"""The reference count that `_holders` returns if nothing else refers to the input."""


def _number_or_value(node: Node) -> Array:
    """Return a constant as a scalar array, otherwise the elements."""
    return _value(node, is_broadcast=False)


def _value(node: Node, *, is_broadcast: bool = True) -> Array:
    """Return the elements of a computed node, of a constant, or of a view of either.

    Args:
        node: a node whose base has a value.
        is_broadcast: whether a constant is broadcast to its shape, else a scalar array.
    """
    if node.storage is None and _is_constant(node):
        return repeated(node.base, node.shape) if is_broadcast else number(node.base)
    found = _elements(node)
    return widened(found) if node.dtype is dtypes.bfloat16 else found


def _elements(node: Node) -> Array:
    """Return the elements of a computed node or its view; bfloat16 as uint16 bits."""
    storage = node.storage
    if type(storage) is ArrayStorage:
        return storage.array
    if len(node.shape) > MOST_AXES:
        check_shape(node.shape, node.op.name)
    if storage is not None:
        return stored(node).reshape(node.shape)
    return look(stored(node.base), node.view)


def _look(node: Node) -> Found:
    """Return what is not finite in a computed node or a view of one."""
    if isinstance(node.base.storage, Placeholder):
        return FINITE  # nobody knows the argument of a traced function
    values = _value(node)
    has = {"nan": np.isnan(values).any(), "inf": np.isinf(values).any()}
    return frozenset(kind for kind in KINDS if has[kind])


def _is_constant(node: Node) -> bool:
    """Whether a node looks at one number that takes no storage."""
    return node.base.op is CONSTANT and node.base.storage is None


def _bytes(node: Node) -> bytes:
    """Return the row-major bytes of a computed or constant node."""
    try:
        if _is_constant(node):
            values = repeated(node.base, node.shape)
            is_narrow = node.dtype is dtypes.bfloat16
            return (narrowed(values) if is_narrow else values).tobytes()
        if type(node.storage) is ArrayStorage:
            return node.storage.array.tobytes()
        base = node.base
        if node.view.is_contiguous:
            start = node.view.offset if node.size else 0
            return stored(base)[start : start + node.size].tobytes()
        check_shape(node.shape, node.op.name)
        return look(stored(base), node.view).tobytes()
    except MemoryError as error:
        raise _too_large(node) from error


def _too_large(node: Node) -> DeviceMemoryError:
    return DeviceMemoryError(
        f"{node.op.name}: {node.dtype} of shape {node.shape} takes "
        f"{node.size * node.dtype.itemsize:,} bytes, more than device 'cpu' can give."
    )


def stored(base: Node) -> Array:
    """Return the one-dimensional array of a computed base."""
    if isinstance(base.storage, HostData):
        is_narrow = base.dtype is dtypes.bfloat16
        dtype = np.dtype(np.uint16) if is_narrow else numpy_dtype(base.dtype)
        data = base.storage.data
        return np.frombuffer(data, dtype) if len(data) else np.empty(0, dtype)
    if isinstance(base.storage, Placeholder):
        raise value_wanted(base)
    return cast(ArrayStorage, base.storage).flat()


def look(flat: Array, view: View) -> Array:
    """Return a view's elements on flat storage without a copy; checks the bounds."""
    if 0 in view.shape:
        return np.empty(view.shape, flat.dtype)
    if not view.shape:
        return flat[view.offset : view.offset + 1].reshape(())
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
            names[id(node)] = repr(number_of_constant(node))
            continue
        arguments = [_argument(source, names) for source in node.inputs]
        if node.op is CAST or node.op.kind in ("reduce", "argreduce", "concat"):
            arguments.append(f"{_detail(node)}")
        names[id(node)] = f"t{len(lines) + 1}"
        lines.append(
            f"{names[id(node)]} = {_call_name(node)}({', '.join(arguments)})"
            f"  -> {_kind(node)}"
        )
    if not lines:
        return f"cpu, {description}: nothing to compute, the values are there."
    calls = counted(len(lines), "call")
    return "\n".join([f"cpu, {description}: {calls}, one after another", *lines])


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
        return f"axis {attributes_of(node, Joining).axis}"
    if node.op is CAST:
        return str(node.dtype)
    axes = attributes_of(node, Reduction).axes
    return ("axis " if len(axes) == 1 else "axes ") + ", ".join(map(str, axes))


def _kind(node: Node) -> str:
    return f"{node.dtype}[{', '.join(map(str, node.shape))}]"
