"""Keys of graphs: shared by graphs of one structure, different for all others."""

from __future__ import annotations

import random
from itertools import product

import tensorweb as tw
from tensorweb.graph.node import Node
from tensorweb.nodes.elementwise import elementwise
from tensorweb.ops import OPS
from tensorweb.schedule.linear import linearize
from tensorweb.tensor import Tensor


def stored(count: int) -> list[Tensor]:
    return [tw.realize(tw.arange(4.0) + i) for i in range(count)]


def description(outputs: list[Node]) -> object:
    """Describe a graph in full: what each number is and which numbers it reads."""
    graph = linearize(outputs)
    numbers = graph.numbers
    rows = []
    for node in graph.nodes:
        is_bytes = (node.owner or node).storage is not None
        attrs = None if is_bytes or node.op.name == "constant" else node.attrs
        inputs = (node.owner,) if is_bytes and node.owner else node.inputs
        view = (node.view.strides, node.view.offset) if is_bytes else None
        name = "bytes" if is_bytes else node.op.name
        read = tuple(numbers[source] for source in inputs)
        rows.append((name, attrs, node.shape, view, str(node.dtype), read))
    return tuple(rows), graph.outputs


def test_one_key_for_one_structure() -> None:
    """Three sums of two stored tensors and a number, in every combination."""
    found: dict[object, object] = {}
    for a, b, c, d, e, f in product(
        range(2), range(3), *[range(4)] * 2, *[range(5)] * 2
    ):
        first, second = stored(2)
        values = [first, second]
        values.append(values[a] + (values[b] if b < 2 else 2.0))
        values.append(values[min(c, 2)] + (values[d] if d < 3 else 2.0))
        values.append(values[min(e, 3)] + (values[f] if f < 4 else 2.0))
        nodes = [x.node for x in values[2:]]
        for outputs in (nodes[2:], nodes[::-1], nodes):
            text = description(outputs)
            assert found.setdefault(linearize(outputs).key, text) == text
    assert len(set(map(str, found.values()))) == len(found)
    assert len(found) > 1000


def test_random_graphs_with_views_have_keys_of_their_own() -> None:
    draw = random.Random(5)
    found: dict[object, object] = {}
    for _ in range(3000):
        values = stored(2)
        for _ in range(draw.randint(1, 5)):
            x, y = draw.choice(values), draw.choice(values)
            values.append(draw.choice([x + y, x * 2.0, x[::-1], x[:2].sum() + y, -x]))
        node = (values[-1] + draw.choice(values)).node
        key = linearize([node]).key
        text = description([node])
        assert found.setdefault(key, text) == text
    assert len(set(map(str, found.values()))) == len(found)
    assert len(found) > 1000


def test_key_grows_with_the_graph_alone() -> None:
    parts = [x * 2.0 for x in stored(200)]
    graph = linearize([tw.concat(parts).node])
    assert len(graph.nodes) > 600
    assert isinstance(graph.key, tuple)
    assert len(graph.key) < 3 * len(graph.nodes)


def test_chains_of_any_depth() -> None:
    node = stored(1)[0].node
    for _ in range(20_000):
        node = elementwise(OPS["negative"], node)
    assert len(linearize([node]).nodes) == 20_001


def test_views_of_views_of_stored_tensors_are_explained(device: str) -> None:
    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    for y in (
        x.T[0] + 1,
        tw.roll(x, 1) + x,
        tw.diff(x.T),
        x.reshape(4)[1:] * 2,
        x.T[::-1, None, 1:] @ x[:1, 1:],
    ):
        assert "float32" in str(tw.explain(y))


def test_movements_of_a_view_are_named(webgpu: str) -> None:
    x = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert "%1 = reshape(slice(permute(%0)))" in str(tw.explain(x.T[0] + 1))
