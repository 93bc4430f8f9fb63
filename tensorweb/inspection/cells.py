"""Why does a cell have its value: the arithmetic of one line, and the cells it read.

A step explains a cell by the execution of the line that built its node: the operations
of that execution in numbers, and the cells of values from elsewhere that they read.
Those are explained by further steps, down to the data.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from math import prod

from tensorweb import dtypes, frames
from tensorweb.display.statistics import short, values_of
from tensorweb.evaluate import read_steps
from tensorweb.frames import Location
from tensorweb.graph.node import Node, leaf, pair_of
from tensorweb.graph.provenance import Provenance
from tensorweb.graph.storage import HostData
from tensorweb.hostdata import Number
from tensorweb.inspection import dependence
from tensorweb.nodes.elementwise import cast, elementwise
from tensorweb.nodes.movement import expand, expand_dims, reshape, slice_ranges
from tensorweb.nodes.reduction import reduce
from tensorweb.nodes.selection import concat, iota
from tensorweb.ops import OPS
from tensorweb.shapes import ravel_index, unravel_index
from tensorweb.transforms.rules.rule import choose, number
from tensorweb.waits import Steps

MOST_ROWS = 24
"""Most operations of a line that a step lists."""

MOST_READ = 1 << 16
"""Cells up to which a mask is computed on the CPU, and a value read as a whole."""

FIRST_TERMS = 3
"""Terms of a long sum that are shown before its last one."""

Index = tuple[int, ...]

UNSEEN = frozenset({"movement", "copy", "leaf", "constant", "iota"})
"""Kinds that compute no number, and so have no row."""

SAME = frozenset({"cast", "positive"})
"""Operations that usually give what they are given."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The cells of one input that a cell was computed from.

    Attributes:
        node: the input.
        count: how many of its cells.
        indices: the first of them, and the last.
        values: their values.
    """

    node: Node
    count: int
    indices: tuple[Index, ...]
    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One operation of a line, for one of its cells.

    Attributes:
        node: the operation.
        index: the cell; the first one that the explained cell was computed from.
        count: how many of its cells the explained cell was computed from; 0 of a value
            without cells.
        value: the cell's value.
        operands: what the cell was computed from.
    """

    node: Node
    index: Index
    count: int
    value: Number
    operands: tuple[Terms, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A value from elsewhere that a line read.

    Attributes:
        mask: which of its cells, a float32 node of ones and zeros.
        terms: their count, and the first of them.
    """

    mask: Node
    terms: Terms


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a cell has its value.

    Attributes:
        node: the value that has the cell.
        index: the cell.
        value: its value.
        location: the line that computed it, None if unknown.
        rows: the operations of the line, the last one first.
        sources: the values from elsewhere; empty for data.
    """

    node: Node
    index: Index
    value: Number
    location: Location | None
    rows: tuple[Row, ...] = ()
    sources: tuple[Source, ...] = ()


@dataclass(slots=True)
class _Lit:
    """The cells of a mask, as far as they have been read."""

    count: int
    positions: list[int] = field(default_factory=list)


def explain_cell(
    provenance: Provenance, node: Node, index: Sequence[int]
) -> Steps[Explanation]:
    """Explain one cell of a value.

    Args:
        provenance: what the program computed.
        node: the value.
        index: the cell, not negative.
    """
    whole = pair_of(node)
    order = _line_of(provenance, whole)
    device, given = yield from _followed(provenance, order)
    mask = dependence.cell(node, index, device)
    if node is not whole:
        node = whole
        mask = expand(expand_dims(mask, (len(index),)), node.shape)
        index = (*index, 0)
    masks = _masks(provenance, order, node, mask, given)
    computed = [one for one in reversed(order) if _is_row(one)][:MOST_ROWS]
    line = set(order)
    calls = {getattr(one, "location", None) for one in order} - {None}
    outside = [
        one
        for one in masks
        if _is_source(one, line, node)
        # Indices that a function makes for itself are no value that it was given.
        and not (one.op.kind == "iota" and getattr(one, "location", None) in calls)
    ]
    asked = [*computed, *outside]
    lit = yield from _lit([masks[one] for one in asked])
    found = {one: each for one, each in zip(asked, lit, strict=True) if each.positions}
    rows = {
        one: unravel_index(found[one].positions[0], one.shape)
        for one in computed
        if one in found
    }
    read: list[tuple[Node, Node]] = []
    for one, at in rows.items():
        sources = provenance.inputs_of(one)
        lit_one = dependence.cell(one, at, device)
        parts = dependence.input_masks(one, _moved(sources, given), lit_one)
        read += zip(sources, parts, strict=True)
    cells = yield from _lit([part for _, part in read])
    shown = [(one, _Lit(1, [ravel_index(at, one.shape)])) for one, at in rows.items()]
    terms = yield from _terms(
        [
            (node, _Lit(1, [ravel_index(index, node.shape)])),
            *shown,
            *((one, found[one]) for one in outside if one in found),
            *((source, each) for (source, _), each in zip(read, cells, strict=True)),
        ]
    )
    value, *terms = terms
    values, terms = terms[: len(rows)], terms[len(rows) :]
    count = len(terms) - len(read)
    operands = iter(terms[count:])
    return Explanation(
        node,
        tuple(index),
        value.values[0],
        getattr(node, "location", None),
        tuple(
            Row(
                one,
                at,
                found[one].count,
                each.values[0],
                tuple(next(operands) for _ in provenance.inputs_of(one)),
            )
            for (one, at), each in zip(rows.items(), values, strict=True)
        ),
        tuple(Source(masks[each.node], each) for each in terms[:count]),
    )


def explain_empty(provenance: Provenance, node: Node) -> Explanation:
    """Return the operations of the line of a value that has no cells."""
    order = reversed(_line_of(provenance, node))
    rows = [Row(one, (), 0, 0, ()) for one in order if _is_row(one)][:MOST_ROWS]
    return Explanation(node, (), 0, getattr(node, "location", None), tuple(rows))


def reached_cells(
    provenance: Provenance, node: Node, index: Sequence[int], targets: Sequence[Node]
) -> Steps[list[Source]]:
    """Return which cells of later values one cell reaches; no value without any.

    Args:
        provenance: what the program computed.
        node: the value.
        index: the cell, not negative.
        targets: the values that are asked for.
    """
    start = pair_of(node)
    order = provenance.ordered(targets, lambda one: one is not start)
    device, moved = yield from _followed(provenance, order)
    mask = dependence.cell(node, index, device)
    if start is not node:
        mask = expand(expand_dims(mask, (len(index),)), start.shape)
    masks = {start: mask}
    for one in order:
        sources = provenance.inputs_of(one)
        if not any(each in masks for each in sources):
            continue
        given = [masks.get(each) or dependence.empty(each, device) for each in sources]
        masks[one] = dependence.reached(one, _moved(sources, moved), given)
    asked = [one for one in dict.fromkeys(targets) if one in masks and one is not start]
    lit = yield from _lit([masks[one] for one in asked])
    found = [(one, each) for one, each in zip(asked, lit, strict=True) if each.count]
    terms = yield from _terms(found)
    return [Source(masks[each.node], each) for each in terms]


def first_nonfinite(
    provenance: Provenance, node: Node, index: Sequence[int]
) -> Steps[Explanation]:
    """Explain the first cell that is NaN or infinite, on the way to such a cell.

    The cells that it was computed from are finite; where several inputs are not, the
    way leads along the first of them.
    """
    found = yield from explain_cell(provenance, node, index)
    while True:
        sources = [(source.terms.node, source.mask) for source in found.sources]
        moved = yield from _on_cpu(
            [one for one, mask in sources if one.device != mask.device]
        )
        sources = [(moved.get(one, one), mask) for one, mask in sources]
        wrong = yield from _lit([_where_nonfinite(*each) for each in sources])
        following = [
            (source.terms.node, lit.positions[0])
            for source, lit in zip(found.sources, wrong, strict=True)
            if lit.positions
        ]
        if not following:
            return found
        node, position = following[0]
        at = unravel_index(position, node.shape)
        found = yield from explain_cell(provenance, node, at)


def _where_nonfinite(node: Node, mask: Node) -> Node:
    if node.dtype.kind != "float":
        return number(0, mask, mask.shape)
    wrong = elementwise(
        OPS["logical_or"],
        elementwise(OPS["isnan"], node),
        elementwise(OPS["isinf"], node),
    )
    return choose(wrong, mask, number(0, mask))


def _is_source(node: Node, line: Collection[Node], result: Node) -> bool:
    """Whether a node is a value from elsewhere that a line read."""
    return node is not result and node not in line and node.op.kind != "constant"


def _is_row(node: Node) -> bool:
    return node.op.kind not in UNSEEN and node.op.name not in SAME


def _execution(node: Node) -> tuple[object, ...] | None:
    """Return which execution of which line built a node; None if unknown."""
    location = getattr(node, "location", None)
    if location is None:
        return None
    return frames.line_of(location), location[2]


def _line_of(provenance: Provenance, node: Node) -> list[Node]:
    """Return the nodes that one execution of a line built for a node, inputs first.

    Values whose origin is unknown belong to the line that reads them.
    """
    own = _execution(node)

    def is_inside(one: Node) -> bool:
        return one is node or own is None or _execution(one) in (own, None)

    return provenance.ordered([node], is_inside)


def _followed(
    provenance: Provenance, order: Sequence[Node]
) -> Steps[tuple[str, dict[Node, Node]]]:
    """Return the device of the masks, and there what they follow by its value.

    Small masks are computed on the CPU: a GPU would compile some 40 kernels for them,
    which takes seconds where it is imitated by software. `""` is each node's own.
    """
    nodes = {*order, *chain.from_iterable(map(provenance.inputs_of, order))}
    if any(node.size > MOST_READ for node in nodes):
        return "", {}
    read = [each for one in order for each in _values_of(provenance, one)]
    return "cpu", (yield from _on_cpu(read))


def _values_of(provenance: Provenance, node: Node) -> Sequence[Node]:
    return dependence.followed(node, provenance.inputs_of(node))


def _on_cpu(nodes: Sequence[Node]) -> Steps[dict[Node, Node]]:
    """Return values of another device as data of the CPU."""
    others = [node for node in dict.fromkeys(nodes) if node.device != "cpu"]
    if not others:
        return {}
    found = yield from read_steps(others, is_display=True)
    data = zip(others, found, strict=True)
    return {one: leaf(HostData(x), one.shape, one.dtype, "cpu") for one, x in data}


def _moved(nodes: Sequence[Node], moved: Mapping[Node, Node]) -> list[Node]:
    return [moved.get(node, node) for node in nodes]


def _masks(
    provenance: Provenance,
    order: Sequence[Node],
    node: Node,
    mask: Node,
    given: Mapping[Node, Node],
) -> dict[Node, Node]:
    """Return the masks of the cells that masked cells come from, by node of a line."""
    masks: dict[Node, Node] = {node: mask}
    for one in reversed(order):
        if one not in masks:
            continue
        sources = provenance.inputs_of(one)
        parts = dependence.input_masks(one, _moved(sources, given), masks[one])
        for source, part in zip(sources, parts, strict=True):
            before = masks.get(source)
            if before is not None:
                part = elementwise(OPS["maximum"], before, part)
            masks[source] = part
    return masks


def _lit(masks: Sequence[Node]) -> Steps[list[_Lit]]:
    """Return how many cells of each mask are set, the first of them and the last."""
    if not masks:
        return []
    is_read = [mask.size <= MOST_READ for mask in masks]
    numbers = yield from _numbers(
        [
            mask if read else _summary(mask)
            for mask, read in zip(masks, is_read, strict=True)
        ]
    )
    found = []
    for read, own in zip(is_read, numbers, strict=True):
        if read:
            lit = list(compress(range(len(own)), own))
            found.append(_Lit(len(lit), sorted({*lit[:FIRST_TERMS], *lit[-1:]})))
            continue
        count, *positions = own
        kept = sorted({int(each) for each in positions if each >= 0})
        found.append(_Lit(int(count), kept if count else []))
    return found


def _summary(mask: Node) -> Node:
    """Return int32 count, first positions and last position of a mask; -1 for none."""
    length = prod(mask.shape)
    flat = reshape(mask, (length,))
    ramp = iota(length, dtypes.int32, mask.device)
    is_set = elementwise(OPS["greater"], flat, number(0, flat))
    none, beyond = number(-1, ramp), number(length, ramp)
    found = [reduce("sum", cast(is_set, dtypes.int32), (0,), dtype=dtypes.int32)]
    last = reduce("max", choose(is_set, ramp, none), (0,))
    before = none
    for _ in range(FIRST_TERMS):
        is_next = elementwise(
            OPS["logical_and"], is_set, elementwise(OPS["greater"], ramp, before)
        )
        first = reduce("min", choose(is_next, ramp, beyond), (0,))
        before = elementwise(OPS["minimum"], first, last)
        found.append(before)
    found.append(last)
    return concat([reshape(each, (1,)) for each in found], 0)


def _terms(asked: Sequence[tuple[Node, _Lit]]) -> Steps[list[Terms]]:
    """Return the values at the positions that were read, and their indices."""
    parts = [
        one if one.size <= MOST_READ else _picked(one, lit.positions)
        for one, lit in asked
        if lit.positions
    ]
    distinct = list(dict.fromkeys(parts))
    read = dict(zip(distinct, (yield from _numbers(distinct)), strict=True))
    numbers = iter([read[part] for part in parts])
    found = []
    for node, lit in asked:
        indices = tuple(unravel_index(each, node.shape) for each in lit.positions)
        values = tuple(next(numbers)) if indices else ()
        if indices and node.size <= MOST_READ:
            values = tuple(values[at] for at in lit.positions)
        found.append(Terms(node, lit.count, indices, values))
    return found


def _picked(node: Node, positions: Sequence[int]) -> Node:
    """Return a few elements of a node."""
    parts = []
    for position in positions:
        ranges = [(at, 1, 1) for at in unravel_index(position, node.shape)]
        parts.append(reshape(slice_ranges(node, ranges), (1,)))
    return concat(parts, 0) if len(parts) > 1 else parts[0]


def _numbers(nodes: Sequence[Node]) -> Steps[list[list[Number]]]:
    if not nodes:
        return []
    found = yield from read_steps(nodes, is_display=True)
    return [values_of(data, node) for data, node in zip(found, nodes, strict=True)]


def lit_cells(masks: Sequence[Node]) -> Steps[list[tuple[int, list[Index]]]]:
    """Return how many cells of each mask are set, and indices of some of them."""
    lit = yield from _lit(masks)
    return [
        (found.count, [unravel_index(each, mask.shape) for each in found.positions])
        for mask, found in zip(masks, lit, strict=True)
    ]


def values_at(asked: Sequence[tuple[Node, Index]]) -> Steps[list[Number]]:
    """Return the values of cells."""
    cells = [(node, _Lit(1, [ravel_index(at, node.shape)])) for node, at in asked]
    found = yield from _terms(cells)
    return [each.values[0] for each in found]


def text_of_row(row: Row) -> str:
    """Return an operation in numbers, such as `1·0.5 + 2·0.25 + … + 3·2 = 7`."""
    name = row.node.op.name
    given = row.operands
    if not row.count:
        return f"{name}: no cells"
    if row.node.op.kind == "matmul":
        left, right = given
        terms = [
            f"{_factor(a)}·{_factor(b)}"
            for a, b in zip(left.values, right.values, strict=False)
        ]
        text = _folded(terms, max(left.count, right.count), " + ")
    elif name in JOINED:
        factors = [_factor(each) for each in given[0].values]
        text = _folded(factors, given[0].count, JOINED[name])
    elif row.node.op.kind == "map" and all(each.count == 1 for each in given):
        infix = INFIX.get(name)
        numbers = [each.values[0] for each in given]
        if infix:
            text = infix.join(map(_factor, numbers))
        else:
            text = f"{name}({', '.join(map(_number, numbers))})"
    else:
        parts = [
            _folded(list(map(_number, each.values)), each.count, ", ")
            for each in given
            if each.count
        ]
        text = f"{name}({'; '.join(parts)})"
    return f"{text} = {_number(row.value)}"


JOINED = {"sum": " + ", "cumulative_sum": " + ", "prod": "·", "cumulative_prod": "·"}
"""Operations that join all their terms, and how."""

INFIX = {
    "add": " + ",
    "subtract": " - ",
    "multiply": "·",
    "divide": " / ",
    "pow": " ** ",
    "equal": " == ",
    "not_equal": " != ",
    "less": " < ",
    "less_equal": " <= ",
    "greater": " > ",
    "greater_equal": " >= ",
}


def _folded(terms: Sequence[str], count: int, infix: str) -> str:
    """Return terms joined; where some were left out, an ellipsis before the last."""
    if count > len(terms) > 1:
        terms = [*terms[:-1], "…", terms[-1]]
    return infix.join(terms)


def _number(value: Number) -> str:
    if isinstance(value, float):
        return short(value)
    return str(value)


def _factor(value: Number) -> str:
    text = _number(value)
    return f"({text})" if text.startswith("-") else text
