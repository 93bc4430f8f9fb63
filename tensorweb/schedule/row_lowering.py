"""Lower a row kernel: the terms of its reductions and its results."""

from __future__ import annotations

from collections.abc import Sequence

from tensorweb.graph.attributes import Expansion, Reshape
from tensorweb.graph.node import Node
from tensorweb.schedule.chain import Blocked
from tensorweb.schedule.kernel import BY_ELEMENT, BY_ROW, Expression, result_name
from tensorweb.schedule.lowering import Space
from tensorweb.schedule.row_space import RowSpace


def lower_rows(
    space: Space, rows: RowSpace, outputs: Sequence[Node], reductions: Sequence[Node]
) -> dict[str, Expression]:
    """Return the expressions by name, of each reduction and then each result.

    Args:
        space: an empty space created with these reductions.
        rows: the index space and its rows.
        outputs: nodes that the kernel stores, one value per element or per row.
        reductions: of the rows, in order of computation.

    Raises:
        Blocked: a node must be stored first.
    """
    results = {
        f"stage{stage}": space.lower(node.inputs[0])
        for stage, node in enumerate(reductions)
    }
    for number, node in enumerate(outputs):
        if node.shape == rows.shape:
            results[result_name(BY_ELEMENT, number)] = space.lower(node)
        else:
            along = space.link(Expansion(rows.shape), node, None)
            widened = Reshape((*rows.outer, *(1 for _ in rows.inner)))
            name = result_name(BY_ROW, number)
            try:
                results[name] = space.lower(node, space.link(widened, node, along))
            except Blocked as blocked:
                if node not in blocked.nodes:
                    raise
                # Another operand has other axes, so the row kernel ends before it.
                raise Blocked(reductions[-1], *outputs) from None
    _check_addressing(space, reductions, outputs)
    rank = len(rows.outer)
    groups = (tuple(range(rank)), tuple(range(rank, rank + rows.rank)))
    expressions = {
        name: space.expression(result, groups) for name, result in results.items()
    }
    if any(len(each.groups[-1]) > 1 for each in expressions.values()):
        raise Blocked(*reductions, *outputs)
    return expressions


def _check_addressing(
    space: Space, reductions: Sequence[Node], outputs: Sequence[Node]
) -> None:
    """Check that no address or guard of a load depends on a reduction.

    Raises:
        Blocked: an address depends on a reduction, which must be stored first.
    """
    steps = space.steps
    reads = [step for step in steps if step.kind == "gather" or step.guard >= 0]
    waiting = [n for step in reads for n in (*step.args, step.guard) if n >= 0]
    found = set(waiting)
    while waiting:
        step = steps[waiting.pop()]
        if step.kind == "core":
            raise Blocked(reductions[step.slot], *outputs)
        before = {*step.args, step.guard} - found - {-1}
        found |= before
        waiting += before
