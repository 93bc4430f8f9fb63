"""Why a cell has its value: the arithmetic of its line, and the cells it read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import tensorweb as tw
from tensorweb import frames
from tensorweb.events import record_kernels
from tensorweb.graph.node import Node
from tensorweb.graph.provenance import Provenance
from tensorweb.inspection import cells
from tensorweb.inspection.cells import (
    Explanation,
    explain_cell,
    first_nonfinite,
    text_of_row,
)
from tensorweb.waits import run_blocking


@pytest.fixture(params=[0, cells.MOST_READ], ids=["large", "small"], autouse=True)
def most_read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Compute masks also as those of large values are."""
    most: int = request.param
    monkeypatch.setattr(cells, "MOST_READ", most)
    return most


def why(provenance: Provenance, node: Node, index: Sequence[int]) -> Explanation:
    with provenance.retaining():
        return run_blocking(explain_cell(provenance, node, index))


def texts(found: Explanation) -> list[str]:
    return [text_of_row(row) for row in found.rows]


def test_a_line_is_explained_in_numbers() -> None:
    with Provenance().open() as provenance:
        x = tw.asarray([[1.0, 2.0], [3.0, -4.0]])
        w = tw.asarray([[0.5], [0.25]])
        y = tw.relu(x @ w + 1)
        y.tolist()
    found = why(provenance, y.node, (1, 0))
    assert texts(found) == [
        "relu(1.5) = 1.5",
        "0.5 + 1 = 1.5",
        "3·0.5 + (-4)·0.25 = 0.5",
    ]
    assert [source.terms.node for source in found.sources] == [x.node, w.node]
    assert [source.terms.indices for source in found.sources] == [
        ((1, 0), (1, 1)),
        ((0, 0), (1, 0)),
    ]
    assert tw.Tensor(found.sources[0].mask).tolist() == [[0, 0], [1, 1]]


def test_small_masks_need_no_kernel_of_a_gpu(webgpu: str, most_read: int) -> None:
    with Provenance().open() as provenance:
        x = tw.realize(tw.arange(12.0, device=webgpu).reshape(3, 4) * 1)
        at = tw.realize(tw.asarray([2, 0], device=webgpu) * 1)
        y = tw.realize(tw.where(x[at] > 3, x[at], tw.nan))
    with record_kernels() as kernels:
        found = why(provenance, y.node, (1, 2))
    assert texts(found)[:2] == ["where(False; nan) = nan", "2 > 3 = False"]
    assert found.sources[0].terms.indices == ((0, 2),)
    nan = run_blocking(first_nonfinite(provenance, y.node, (1, 2)))
    assert texts(nan) == texts(found)
    devices = {source.mask.device for source in found.sources}
    assert devices == {"cpu" if most_read else webgpu}
    assert (len(kernels) < 3) == (most_read > 0)


def test_data_have_a_value_and_no_sources() -> None:
    with Provenance().open() as provenance:
        x = tw.asarray([1.0, 2.0])
    found = why(provenance, x.node, (1,))
    assert (found.value, found.rows, found.sources) == (2.0, (), ())


def test_a_long_sum_shows_its_first_terms_and_its_last() -> None:
    with Provenance().open() as provenance:
        x = tw.arange(100.0)
        y = x.sum()
    found = why(provenance, y.node, ())
    assert texts(found) == ["0 + 1 + 2 + … + 99 = 4950"]
    assert found.sources[0].terms.count == 100


def test_each_iteration_of_a_loop_is_a_step_of_its_own() -> None:
    with Provenance().open() as provenance:
        h = tw.asarray([2.0])
        for _ in range(3):
            h = h * h + 1
        h.tolist()
    node: Node = h.node
    seen = []
    while (found := why(provenance, node, (0,))).sources:
        seen.append(texts(found))
        node = found.sources[0].terms.node
    assert seen == [
        ["676 + 1 = 677", "26·26 = 676"],
        ["25 + 1 = 26", "5·5 = 25"],
        ["4 + 1 = 5", "2·2 = 4"],
    ]


def test_values_that_a_flush_did_not_store_are_computed_again() -> None:
    with Provenance().open() as provenance:
        x = tw.asarray([1.0, 4.0])
        root = tw.sqrt(x)
        y = root + 1
        y.tolist()
    found = why(provenance, y.node, (1,))
    (source,) = found.sources
    assert source.terms.values == (2.0,)
    assert texts(why(provenance, source.terms.node, (1,))) == ["sqrt(4) = 2"]


def test_a_jitted_function_is_seen_through() -> None:
    @tw.jit
    def doubled(x: tw.Tensor) -> tw.Tensor:
        return x * 2

    x = tw.asarray([1.0, 3.0])
    doubled(x)
    with Provenance().open() as provenance:
        y = doubled(x)
        y.tolist()
    assert texts(why(provenance, y.node, (1,))) == ["3·2 = 6"]


def test_complex_cells_come_from_complex_cells() -> None:
    with Provenance().open() as provenance:
        x = tw.asarray([1 + 2j, 3 - 1j])
        y = tw.conj(x)
        y.tolist()
    found = why(provenance, y.node, (1,))
    assert [source.terms.indices for source in found.sources] == [((1, 0), (1, 1))]


def test_the_first_nan_is_found_through_lines() -> None:
    with Provenance().open() as provenance:
        x = tw.asarray([[1.0, -1.0], [4.0, 9.0]])
        root = tw.log(x)
        scaled = root / 2
        total = scaled.sum()
        total.tolist()
    with provenance.retaining():
        found = run_blocking(first_nonfinite(provenance, total.node, ()))
    assert found.node is root.node
    assert found.index == (0, 1)
    assert texts(found) == ["log(-1) = nan"]
    assert found.location is not None
    line = frames.line_of(found.location)
    assert line is not None
    assert (
        line.number
        == test_the_first_nan_is_found_through_lines.__code__.co_firstlineno + 3
    )


@pytest.mark.parametrize("most", [{"most_bytes": 8}, {"most_nodes": 1}])
def test_a_full_provenance_drops_the_oldest(most: dict[str, int]) -> None:
    with Provenance(**most).open() as provenance:
        x = tw.asarray([1.0, 2.0])
        first = tw.exp(x).realize()
        second = tw.exp(first).realize()
    assert not provenance.is_complete
    assert not provenance.inputs_of(first.node)
    assert provenance.inputs_of(second.node)


def test_nothing_is_retained_without_a_provenance() -> None:
    with Provenance().open() as provenance:
        pass
    x = tw.exp(tw.asarray([1.0])).realize()
    assert not provenance.inputs_of(x.node)
