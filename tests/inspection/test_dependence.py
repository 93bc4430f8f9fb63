"""The cells that a cell comes from, and those it reaches, compared with brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import tensorweb as tw
from tensorweb.graph.node import Node, pair_of, view_of
from tensorweb.graph.provenance import Provenance
from tensorweb.inspection.dependence import cell, input_masks, reached
from tensorweb.view import View

X = np.array([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75]], "float32")
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]], "float32")
LINE = np.linspace(-1, 2, 7).astype("float32")

Program = Callable[..., tw.Tensor]

EXACT: dict[str, tuple[Program, Sequence[np.ndarray]]] = {
    "elementwise": (lambda x, y: tw.exp(x) * y + 3, (X, X)),
    "broadcast": (lambda x, y: x + y, (X, LINE[:3])),
    "where": (lambda x, y: tw.where(x > 0, y, x * 0), (np.abs(X) - 0.6, X)),
    "transposed": (lambda x: x.T.reshape(6)[::-1] * 2, (X,)),
    "sliced": (lambda x: x[::-2, 1:] * 1, (X,)),
    "windows": (lambda x: tw.exp(x).sliding_windows(3, step=2).sum(1), (LINE,)),
    "sum": (lambda x: x.sum(1), (X,)),
    "max": (lambda x: x.max(0), (X,)),
    "mean": (lambda x: x.mean(), (X,)),
    "product": (lambda x, y: x @ y, (X, SQUARE)),
    "batched product": (
        lambda x, y: tw.einsum("bij,bjk->bik", x, y),
        (np.stack([X, X + 1]), np.stack([SQUARE, SQUARE])),
    ),
    "scan": (lambda x: x.cumsum(1), (X,)),
    "index": (lambda x: x[tw.asarray([1, 0, 1]), tw.asarray([2, 2, 0])], (X,)),
    "index of rows": (lambda x: x[:, tw.asarray([[2, 0], [1, 1]])], (X,)),
    "padding": (lambda x: tw.pad(x, ((1, 0), (2, 1))), (X,)),
    "concatenation": (lambda x, y: tw.concat([x, y[None]], axis=0), (X, LINE[:3])),
    "roll": (lambda x: tw.roll(x, 2), (LINE,)),
    "box": (lambda x, y: x.at[1:3].set(y), (LINE, LINE[:2])),
    "strided box": (lambda x, y: x.at[::3].set(y), (LINE, LINE[:3])),
    "scatter": (lambda x, y: x.at[tw.asarray([4, 0])].set(y), (LINE, LINE[:2])),
    "accumulation": (
        lambda x, y: x.at[tw.asarray([4, 0, 4])].add(y),
        (LINE, LINE[:3]),
    ),
    "mask": (lambda x: x[tw.asarray(LINE > 0)] * 1, (LINE,)),
    "fourier": (lambda x: tw.real(tw.fft.fft(x)), (LINE,)),
    "solve": (lambda a, b: tw.linalg.solve(a, b), (SQUARE, X.T[:, :1].copy())),
    "softmax": (lambda x: tw.nn.softmax(x, axis=1), (X,)),
    "convolution": (
        lambda x, w: tw.nn.conv2d(x, w),
        (np.arange(16, dtype="float32").reshape(1, 1, 4, 4), SQUARE[None, None]),
    ),
    "from device to device": (lambda x: tw.exp(x.to_device("cpu")).sum(0), (X,)),
}
"""Programs in which NaN spreads to everything that reads it."""


def walk(result: Node, inputs: Sequence[Node], provenance: Provenance) -> list[Node]:
    """Return the nodes between inputs and a result, inputs first."""
    order: dict[Node, None] = dict.fromkeys(inputs)

    def visit(node: Node) -> None:
        if node in order:
            return
        for source in provenance.inputs_of(node):
            visit(source)
        order[node] = None

    visit(result)
    return [node for node in order if node not in inputs]


def traced(
    program: Program, arrays: Sequence[np.ndarray], *, is_computed: bool
) -> tuple[Node, list[Node], Provenance]:
    with Provenance().open() as provenance:
        tensors = [tw.asarray(each) for each in arrays]
        result = program(*tensors)
        if is_computed:
            result.tolist()
    return pair_of(result.node), [each.node for each in tensors], provenance


def sources_of(
    result: Node, index: Sequence[int], inputs: Sequence[Node], provenance: Provenance
) -> list[np.ndarray]:
    """Return the masks of the inputs' cells that a cell comes from."""
    parts: dict[Node, Node] = {result: cell(result, index)}
    for node in reversed(walk(result, inputs, provenance)):
        mask = parts.pop(node, None)
        sources = provenance.inputs_of(node)
        if mask is None or not sources:
            continue
        for source, part in zip(sources, input_masks(node, sources, mask), strict=True):
            before = parts.get(source)
            if before is not None:
                part = (tw.Tensor(before) + tw.Tensor(part)).node
            parts[source] = part
    return [
        np.asarray(tw.Tensor(parts[each]).tolist()) > 0
        if each in parts
        else np.zeros(each.shape, bool)
        for each in inputs
    ]


def reach_of(
    result: Node,
    number: int,
    index: Sequence[int],
    inputs: Sequence[Node],
    provenance: Provenance,
) -> np.ndarray:
    """Return the mask of the result's cells that one cell of an input reaches."""
    masks = {
        each: (cell(each, index) if at == number else tw.zeros(each.shape).node)
        for at, each in enumerate(inputs)
    }
    for node in walk(result, inputs, provenance):
        sources = provenance.inputs_of(node)
        masks[node] = reached(node, sources, [masks[each] for each in sources])
    return np.asarray(tw.Tensor(masks[result]).tolist()) > 0


def changed(
    program: Program, arrays: Sequence[np.ndarray], number: int, index: Sequence[int]
) -> np.ndarray:
    """Return which cells of the result change when one cell of an input is NaN."""

    def result(given: Sequence[np.ndarray]) -> np.ndarray:
        node = pair_of(program(*[tw.asarray(each) for each in given]).node)
        return np.asarray(tw.Tensor(node).tolist())

    others = [np.array(each) for each in arrays]
    others[number][tuple(index)] = np.nan
    before, after = result(arrays), result(others)
    return ~((before == after) | (np.isnan(before) & np.isnan(after)))


def some(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return a first, a last and a cell between them."""
    cells = list(np.ndindex(shape))
    return sorted({cells[0], cells[len(cells) // 3], cells[-1]})


@pytest.mark.parametrize("is_computed", [True, False], ids=["computed", "pending"])
@pytest.mark.parametrize("name", EXACT)
def test_cells_are_those_that_nan_reaches(name: str, is_computed: bool) -> None:
    program, arrays = EXACT[name]
    result, inputs, provenance = traced(program, arrays, is_computed=is_computed)
    with provenance.retaining():
        found = {
            index: sources_of(result, index, inputs, provenance)
            for index in some(result.shape)
        }
        for number, array in enumerate(arrays):
            for index in some(array.shape):
                expected = changed(program, arrays, number, index)
                reach = reach_of(result, number, index, inputs, provenance)
                assert (reach == expected).all(), (number, index)
                for at, masks in found.items():
                    assert masks[number][index] == expected[at], (at, number, index)


@pytest.mark.usefixtures("webgpu")
@pytest.mark.parametrize("name", ["where", "index", "convolution", "scatter"])
def test_cells_are_found_on_webgpu(name: str) -> None:
    test_cells_are_those_that_nan_reaches(name, is_computed=True)


def test_sorted_cells_come_from_the_cells_that_were_moved_there() -> None:
    result, inputs, provenance = traced(
        lambda x: tw.sort(x, axis=1), [X], is_computed=True
    )
    (mask,) = sources_of(result, (0, 2), inputs, provenance)
    assert np.argwhere(mask).tolist() == [[0, 2]]
    (mask,) = sources_of(result, (1, 0), inputs, provenance)
    assert np.argwhere(mask).tolist() == [[1, 2]]


def test_the_index_of_a_maximum_comes_from_all_elements() -> None:
    result, inputs, provenance = traced(
        lambda x: tw.argmax(x, axis=1), [X], is_computed=True
    )
    (mask,) = sources_of(result, (1,), inputs, provenance)
    assert np.argwhere(mask).tolist() == [[1, 0], [1, 1], [1, 2]]


def test_a_stored_view_reads_its_storage() -> None:
    base = tw.asarray(X).node
    view = view_of(base, View((3, 2), (1, -3), 3))
    (mask,) = input_masks(view, view.inputs, cell(view, (2, 1)))
    assert np.argwhere(tw.Tensor(mask).tolist()).tolist() == [[0, 2]]
    assert tw.Tensor(view).tolist()[2][1] == X[0, 2]


@pytest.mark.usefixtures("webgpu")
def test_a_cell_of_an_own_kernel_comes_from_all_cells() -> None:
    double = tw.kernel(
        "let i = global_id.x; if (i < out_size) { out[i] = 2.0 * x[i]; }",
        inputs={"x": tw.float32},
        outputs={"out": tw.float32},
        name="double",
    )
    result, inputs, provenance = traced(lambda x: double(x), [LINE], is_computed=True)
    with provenance.retaining():
        (mask,) = sources_of(result, (1,), inputs, provenance)
    assert mask.all()
