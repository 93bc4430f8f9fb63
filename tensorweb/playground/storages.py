"""The storages of tensors: which tensors share one, and how it was made."""

from __future__ import annotations

import tensorweb as tw
from tensorweb.display.cells import Budget, cells_of
from tensorweb.display.statistics import drawn
from tensorweb.frames import line_of
from tensorweb.graph.complex_pairs import pair_of
from tensorweb.graph.node import Node, complex_of
from tensorweb.graph.op import CONSTANT
from tensorweb.nodes.movement import reshape
from tensorweb.ops.structure import COPY, RESHAPE

from . import policy
from .numbers import Reader
from .pictures import heatmap_record, sendable
from .records import Heatmap, StorageMaking, StorageRecord
from .sources import is_main


def storage_of(x: tw.Tensor) -> StorageRecord:
    """Return the storage of a tensor; tensors that share one get the same id.

    Sizes are in elements of the tensor's dtype. The parts of a complex tensor count
    floats and not complex numbers, so their storage has an id of its own.
    """
    is_complex = x.dtype.kind == "complex"
    node = pair_of(x.node)
    base = node.base
    location = getattr(base, "location", None)
    line = line_of(location) if location else None
    return {
        # Addresses of objects are even.
        "id": id(base) + is_complex,
        "size": base.size // 2 if is_complex else base.size,
        "made": _making(node, base),
        "line": line.number if line and is_main(line.file) else None,
    }


def _making(node: Node, base: Node) -> StorageMaking:
    """Return how a storage was made, as far as the graph still tells.

    `reshape` copies where no strides express the result: the copy and the reshaped
    view are then of one call, and have the same location.
    """
    if base.op is CONSTANT and base.storage is None:
        return "constant"
    if base.op is not COPY:
        return "computed"
    copied_at = getattr(base, "location", None)
    while node is not base and node.inputs:
        (source,) = node.inputs
        if node.op is RESHAPE and source is base and copied_at is not None:
            is_one_call = getattr(node, "location", None) == copied_at
            return "reshape" if is_one_call else "copy"
        node = source
    return "copy"


async def storage_cells(x: tw.Tensor, reader: Reader) -> Heatmap:
    """Return a tensor's whole storage as one row of cells, in the order of memory.

    Of complex numbers the sizes are returned; a large storage is divided into blocks.
    """
    base = pair_of(x.node).base
    if x.dtype.kind == "complex":
        row = drawn(complex_of(reshape(base, (1, base.size // 2, 2))))
    else:
        row = reshape(base, (1, base.size))
    most = policy.MOST_STORAGE_CELLS
    found = cells_of(row, "mean", Budget(most, most))
    node, encoding = sendable(found.node)
    (values,) = await reader.read([node])
    return heatmap_record(found, values, encoding)
