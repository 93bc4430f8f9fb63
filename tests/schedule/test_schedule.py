"""What is fused and what is stored: kernels of typical graphs, by kind and number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pretend_driver import PretendDriver

import tensorweb as tw
from tensorweb import devices, evaluate
from tensorweb.backends.webgpu import WebGpuBackend
from tensorweb.events import KernelRecord, record_kernels
from tensorweb.graph.node import Node
from tensorweb.schedule.kernels import plan
from tensorweb.schedule.linear import linearize
from tensorweb.tensor import Tensor

pytestmark = pytest.mark.usefixtures("webgpu")


def kernels(value: Tensor) -> list[KernelRecord]:
    with record_kernels() as records:
        tw.realize(value)
    return records


def kinds(value: Tensor) -> list[str]:
    return [record.kind for record in kernels(value)]


def sample(*shape: int) -> Tensor:
    count = 1
    for length in shape:
        count *= length
    return tw.asarray([i % 7 - 3.0 for i in range(count)]).reshape(shape)


def test_elementwise_chain_with_broadcasting_is_one_kernel() -> None:
    x, row = sample(5, 7), sample(7)
    assert kinds(tw.exp(-x * x) * 2 + row) == ["elementwise"]


def test_movements_between_elementwise_operations_need_no_kernel() -> None:
    x, y = sample(5, 7), sample(7, 5)
    value = ((x * 2).T + y).flip(axis=0)[::2, 1:].reshape((2, 2, 4)) + 1
    assert kinds(value) == ["elementwise"]


def test_chain_before_and_after_a_reduction_is_one_kernel() -> None:
    x = sample(50, 7)
    value = tw.sqrt((x * x + 1).sum(axis=1)) * 3
    assert kinds(value) == ["reduce"]


def test_matmul_takes_bias_and_activation() -> None:
    x, w, b = sample(20, 30), sample(30, 40), sample(40)
    y = x @ w + b
    assert kinds(y * tw.sigmoid(y)) == ["matmul"]


def test_matmul_reads_transposed_operands_without_copies() -> None:
    x, w = sample(30, 20), sample(40, 30)
    assert kinds(x.T @ w.T) == ["matmul"]


def test_matrix_times_vector_is_one_parallel_reduction() -> None:
    assert kinds(sample(65, 300) @ sample(300)) == ["reduce"]


def test_dot_of_long_vectors_is_split_over_workgroups() -> None:
    x = sample(100_003)
    records = kernels(x @ (x + 1))
    assert [record.kind for record in records] == ["reduce", "reduce"]
    assert records[0].grid[0] > 10


@pytest.mark.parametrize(
    ("left", "sizes"),
    [((6, 5, 8), "[1, 30, 12, 8]"), ((3, 4, 1, 8), "[1, 12, 12, 8]")],
    ids=str,
)
def test_batch_that_repeats_its_right_operand_is_rows(
    left: tuple[int, ...], sizes: str
) -> None:
    x, w = sample(*left), sample(8, 12)
    with record_kernels() as records:
        got = (x @ w + 1).numpy()
    assert [record.name.split(" add ")[-1] for record in records] == [sizes]
    np.testing.assert_allclose(got, x.numpy() @ w.numpy() + 1, rtol=1e-6)


def test_batches_of_both_operands_stay_batches() -> None:
    x, w = sample(3, 2, 5, 8), sample(2, 8, 12)
    assert kernels(x @ w)[0].name.endswith("[6, 5, 12, 8]")
    w = sample(3, 1, 8, 12)
    assert kernels(x @ w)[0].name.endswith("[3, 10, 12, 8]")
    transposed = tw.permute_dims(sample(4, 50, 2, 8), (0, 2, 1, 3))
    assert kernels(transposed @ sample(8, 12))[0].name.endswith("[8, 50, 12, 8]")


MERGED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "rows": lambda x, w: merged_heads(x) @ w,
    "batches": lambda x, w: (
        merged_heads(x) @ tw.permute_dims(w.reshape(32, 2, 12), (1, 0, 2))
    ),
    "depth of a gradient": lambda x, w: merged_heads(x).reshape(10, 32).T @ w[:10],
    "right operand": lambda x, w: w.T @ tw.matrix_transpose(merged_heads(x)),
}


def merged_heads(x: Tensor) -> Tensor:
    """Return (batch, heads, time, depth) as (batch, time, heads * depth)."""
    return tw.permute_dims(x, (0, 2, 1, 3)).reshape(2, 5, 32)


@pytest.mark.parametrize("name", MERGED)
def test_products_take_merged_axes_apart_instead_of_copying(name: str) -> None:
    x, w = sample(2, 4, 5, 8), sample(32, 24)
    value = MERGED[name](x, w)
    with devices.device("cpu"):
        want = MERGED[name](x.to_device("cpu"), w.to_device("cpu")).numpy()
    with record_kernels() as records:
        got = value.numpy()
    assert [record.kind for record in records][-1:] in (["matmul"], ["pairs"])
    assert len(records) == 1
    np.testing.assert_array_equal(got, want)


def test_odd_merged_axes_are_copied_once() -> None:
    x = tw.permute_dims(sample(2, 4, 5, 7), (0, 2, 1, 3)).reshape(2, 5, 28)
    assert kinds(x @ sample(28, 12)) == ["elementwise", "matmul"]


@pytest.mark.parametrize("shape", [(128, 128), (2048, 128), (2048, 130), (600, 7)])
def test_sums_of_short_columns_are_one_launch(shape: tuple[int, int]) -> None:
    x = sample(*shape)
    with record_kernels() as records:
        got = x.sum(axis=0).numpy()
    assert [record.kind for record in records] == ["reduce"]
    np.testing.assert_array_equal(got, x.numpy().sum(axis=0))


def test_value_used_twice_in_one_kernel_is_computed_once() -> None:
    x = sample(5, 7)
    e = tw.exp(x)
    (record,) = kernels(e * e + e)
    assert record.source.count("= exp_f32(") == 1


def test_expensive_value_used_by_two_kernels_is_stored() -> None:
    x = sample(50, 7)
    e = tw.tan(tw.tan(tw.tan(x)))
    assert kinds(e / e.sum(axis=0)) == ["elementwise", "reduce", "elementwise"]


def test_cheap_value_used_by_two_kernels_is_computed_again() -> None:
    x = sample(50, 7)
    e = x * 2
    assert kinds(e / e.sum(axis=0)) == ["reduce", "elementwise"]


def test_normalising_columns_takes_three_kernels_with_epilogues() -> None:
    x = sample(50, 70)
    centred = x - x.mean(axis=0, keepdims=True)
    scale = tw.sqrt((centred * centred).mean(axis=0, keepdims=True) + 1e-5)
    assert kinds(centred / scale) == ["reduce", "reduce", "elementwise"]


def test_concatenation_and_padding_fuse_with_consumers() -> None:
    x, y = sample(3, 5), sample(4, 5)
    value = (tw.concat([x, y]) * 2).pad([(1, 1), (0, 2)]).sum(axis=0) + 1
    assert kinds(value) == ["reduce"]


def test_item_assignment_is_one_kernel() -> None:
    x = sample(5, 7)
    x[1:3, 2:] = sample(2, 5) * 3
    assert kinds(x) == ["elementwise"]


def test_an_assigned_tensor_is_stored_with_its_consumers() -> None:
    def assigned() -> Tensor:
        x = sample(5, 7)
        x[1:3, 2:] = sample(2, 5) * 3
        return x

    x = assigned()
    assert kinds(x + 1) == ["elementwise_several"]
    assert x.node.storage is not None
    only_sum_is_held = assigned() + 1
    assert kinds(only_sum_is_held) == ["elementwise"]


def test_flattening_a_broadcast_sum_needs_no_extra_copy() -> None:
    value = (sample(5, 1) + sample(7)).reshape((-1,)) * 2
    assert kinds(value) == ["elementwise"]


def test_sum_of_many_tensors_is_split_below_the_storage_limit() -> None:
    parts = [tw.realize(sample(5, 7) + i) for i in range(40)]
    total = sum(parts[1:], parts[0])
    records = kernels(total)
    backend = devices.backend("webgpu")
    assert isinstance(backend, WebGpuBackend)
    most = backend.traits.most_inputs
    assert len(records) >= (2 if most < 40 else 1)
    assert len(records) <= 8
    assert all(record.buffers <= most + 1 for record in records)
    assert float((total - sample(5, 7) * 40).sum()) == 35 * sum(range(40))


def test_constants_are_no_part_of_a_kernels_text() -> None:
    x = sample(5, 7)
    (twice,) = kernels(x * 2 + 1)
    (thrice,) = kernels(x * 3 + float("nan"))
    assert twice.source == thrice.source


@pytest.mark.parametrize("lengths", [((5, 7), (11, 13)), ((300, 2), (2, 301))])
def test_lengths_are_no_part_of_an_elementwise_kernels_text(
    lengths: tuple[tuple[int, int], tuple[int, int]],
) -> None:
    first, second = (kernels(sample(*n).T + sample(n[1], n[0])) for n in lengths)
    assert first[0].source == second[0].source


def test_graph_of_same_structure_shares_its_plan() -> None:
    def step(x: Tensor) -> Node:
        return (tw.exp(x) * 2).sum(axis=0).node

    a, b = tw.realize(sample(5, 7) + 2), tw.realize(sample(5, 7) + 1)
    assert linearize([step(a)]).key == linearize([step(b)]).key
    assert linearize([step(a)]).key != linearize([step(b.T)]).key


def test_loop_that_never_reads_stays_bounded() -> None:
    x = sample(5, 7)
    deepest = 0
    for _ in range(1000):
        x = x * 0.5 + 1
        deepest = max(deepest, x.node.depth)
    assert deepest <= evaluate.DEEPEST
    assert x.tolist()[0][0] == pytest.approx(2.0)


def steps_until_computed(length: int) -> int:
    """Return the length of the longest chain of scans before a flush."""
    x = tw.realize(tw.zeros(length) + 0)
    depth = 0
    for step in range(1, 200):
        x = tw.cumulative_sum(x) * 0.5
        if x.node.depth < depth:
            return step
        depth = x.node.depth
    raise AssertionError("nothing bounds the depth")


def test_large_storages_on_the_way_bound_the_depth_sooner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(devices._backends, "webgpu", WebGpuBackend(PretendDriver()))
    assert steps_until_computed(2048**2) < steps_until_computed(64) / 2


def test_reading_twice_runs_once() -> None:
    y = tw.exp(sample(5, 7))
    with record_kernels() as records:
        first, second = y.tolist(), y.tolist()
    assert first == second
    assert len(records) == 1


def test_explain_tells_graph_kernels_and_source() -> None:
    text = str(tw.explain(tw.exp(sample(5, 7)).sum(axis=0) + 1))
    for part in ("Graph", "exp(", "1 launch, 1 submit", "exp → sum → add", "fn main"):
        assert part in text


@pytest.mark.parametrize(
    "build",
    [
        lambda x: x.sum(),
        lambda x: (x + 1).max(axis=0),
        lambda x: tw.argmax(x, axis=1),
        lambda x: tw.cumulative_sum(x, axis=1),
    ],
)
def test_plans_are_plain_data(build: Callable[[Tensor], Tensor]) -> None:
    graph = linearize([build(tw.realize(sample(5, 7))).node.base])
    (planned,) = plan(graph, 6)
    assert hash(planned.kernel) == hash(plan(graph, 6)[0].kernel)
    assert planned.kernel.kind in planned.kernel.words


def test_stencil_of_stencils_stays_linear() -> None:
    x = tw.realize(sample(64))
    y = x
    for _ in range(40):
        y = y * 0.75 - y[::-1] * 0.25
    assert len(kernels(y)) <= 20
    want = x.numpy().astype("float64")
    for _ in range(40):
        want = want * 0.75 - want[::-1] * 0.25
    assert abs(y.numpy() - want).max() < 1e-5


def test_view_of_a_huge_constant_takes_no_storage() -> None:
    x = tw.realize(tw.zeros((100_000, 100_000))[5, :4])
    assert x.tolist() == [0.0] * 4
    assert (x + 1).tolist() == [1.0] * 4


def test_long_chain_is_a_loop_in_front_of_a_reduction() -> None:
    y = tw.realize(sample(5, 7))
    for _ in range(100):
        y = y * 0.5 + 1.0
    records = kernels(y.sum())
    assert [record.kind for record in records] == ["elementwise", "reduce"]
    assert max(record.source.count("let v") for record in records) <= 16
    assert max(len(record.name) for record in records) < 1000


def test_long_chain_without_a_loop_is_cut_into_kernels_of_bounded_length() -> None:
    x = tw.realize(sample(5, 7))
    y = x
    for step in range(100):
        y = y * (0.5 + step) + x
    records = kernels(y)
    assert 2 <= len(records) <= 5
    assert max(record.source.count("let v") for record in records) <= 100


def test_joining_many_tensors_is_split_below_the_storage_limit() -> None:
    parts = [tw.realize(sample(3, 5) + i) for i in range(91)]
    joined = tw.stack(parts)
    assert joined.shape == (91, 3, 5)
    assert joined.sum(axis=(1, 2)).tolist() == [
        float(sample(3, 5).sum()) + 15 * i for i in range(91)
    ]
    assert (tw.concat(parts, axis=1) * 2)[2, -5:].tolist() == [
        2 * (value + 90) for value in sample(3, 5)[2].tolist()
    ]


@pytest.mark.parametrize("shape", [(), (1,), (4,), (1, 4), (3, 1), (0,)], ids=str)
def test_stored_constants_broadcast(shape: tuple[int, ...], webgpu: str) -> None:
    stored = tw.realize(tw.full(shape, 3.0))
    assert isinstance(stored, tw.Tensor)
    fresh = tw.full(shape, 3.0)
    other = tw.realize(tw.ones((3, 0 if 0 in shape else 4)))
    assert isinstance(other, tw.Tensor)
    assert (other + stored).tolist() == (other + fresh).tolist()
    assert tw.where(other > 0, stored, -1.0).tolist() == (other * 0 + fresh).tolist()


def test_a_stored_constant_broadcasts_inside_a_concatenation(webgpu: str) -> None:
    mask = tw.zeros((4, 6), dtype=tw.bool)
    values = tw.ones((3, 4, 1)) + tw.arange(3).reshape(3, 1, 1)
    chosen = tw.where(mask, 0.0, tw.where(mask, 1.0, values))
    joined = tw.concat([chosen, chosen], axis=1)
    tw.realize(joined, mask)
    assert joined.tolist() == [[[i + 1.0] * 6] * 8 for i in range(3)]


def test_operands_of_equal_size_and_other_shapes_are_distinguished(
    device: str,
) -> None:
    a = np.arange(25.0, dtype=np.float32).reshape(5, 5)
    line = np.arange(5.0, dtype=np.float32) * 10
    x = tw.asarray(a)
    for shape in ((1, 5), (5, 1), (5,), (1, 1, 5)):
        other = line.reshape(shape)
        y = tw.asarray(other)
        assert (x + y).tolist() == (a + other).tolist()
        assert tw.sum(x * y).item() == (a * other).sum()
        assert tw.where(x > 7, y, 0.0).tolist() == np.where(a > 7, other, 0).tolist()


def test_an_index_into_tensors_of_one_size_follows_their_shapes(device: str) -> None:
    for shape in ((2, 8), (4, 4), (8, 2)):
        a = np.arange(16, dtype=np.int32).reshape(shape)
        x = tw.asarray(a)
        assert x[[1, 0], [1, 0]].tolist() == a[[1, 0], [1, 0]].tolist()
        assert x.at[[1, 0], [1, 0]].add(5).sum().item() == a.sum() + 10
