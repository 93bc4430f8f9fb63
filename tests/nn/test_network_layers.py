"""What layers do beyond PyTorch's numbers: styles, transformations, first values."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import frames, nn

X = [[1.0, 10.0], [3.0, 30.0], [8.0, 20.0]]


class Normed(nn.Module):
    def __init__(self) -> None:
        self.norm, self.last = nn.BatchNorm1d(2), nn.Linear(2, 1, rng=0)

    def forward(self, x: tw.Tensor, train: bool = False) -> tw.Tensor:
        return self.last(self.norm(x, train=train))


def statistics_of(model: Normed) -> list[Any]:
    norm = model.norm
    kept = (norm.running_mean, norm.running_var, norm.num_batches_tracked)
    return [x.tolist() for x in kept if x is not None]


def in_place(model: Normed, x: tw.Tensor) -> Normed:
    model.requires_grad_()
    model(x, train=True).sum().backward()
    return model


def functional(model: Normed, x: tw.Tensor) -> Normed:
    gradient = tw.grad(lambda m: m(x, train=True).sum())(model)
    assert gradient.norm.running_mean is None
    return tw.tree.map(lambda p, g: p if g is None else p - 0.0 * g, model, gradient)


def with_aux(model: Normed, x: tw.Tensor) -> Normed:
    def loss(m: Normed) -> Any:
        return m(x, train=True).sum(), m

    _, found = tw.grad(loss, has_aux=True)(model)
    return found


@pytest.mark.parametrize(
    "step", [in_place, functional, with_aux, tw.jit(functional), tw.jit(with_aux)]
)
def test_statistics_are_updated_in_every_style(step: Any, device: str) -> None:
    x, model = tw.asarray(X), Normed()
    for _ in range(2):
        model = step(model, x)
    mean, variance, count = statistics_of(model)
    assert count == 2
    assert mean == pytest.approx([4 * 0.19, 20 * 0.19], rel=1e-5)
    assert variance == pytest.approx([0.81 + 13 * 0.19, 0.81 + 100 * 0.19], rel=1e-5)
    assert not model.norm.statistics.running_mean.requires_grad


def test_statistics_are_not_written_where_nobody_sees_them(cpu: str) -> None:
    model, x = Normed(), tw.asarray([X, X])
    with pytest.raises(tw.TraceError, match="inside of vmap"):
        tw.vmap(lambda x: model(x, train=True))(x)
    with pytest.raises(tw.TraceError, match="inside of checkpoint"):
        tw.grad(lambda m: tw.checkpoint(lambda x: m(x, train=True))(x[0]).sum())(model)
    assert tw.vmap(model)(x).shape == (2, 3, 1)


def test_layers_work_under_transformations(wasm: Any) -> None:
    frames.begin_program()
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1, rng=1),
        nn.GroupNorm(1, 2),
        nn.GELU(),
        nn.MaxPool2d(2),
        nn.Flatten(-3),
        nn.LayerNorm(8),
        nn.Linear(8, 3, rng=2),
    )
    x = tw.sin(tw.arange(48.0)).reshape(3, 1, 4, 4)
    labels = tw.asarray([0, 2, 1])

    def loss(model: Any, x: tw.Tensor, labels: tw.Tensor) -> tw.Tensor:
        return nn.cross_entropy(model(x), labels)

    expected = tw.grad(loss)(model, x, labels)
    one_by_one = tw.vmap(
        lambda m, x, label: tw.grad(loss)(m, x[None], label[None]), (None, 0, 0)
    )(model, x, labels)
    again = tw.grad(lambda m: loss(tw.checkpoint(m), x, labels))(model)
    recorded = tw.jit(tw.grad(loss))(model, x, labels)
    for path, a, b, c, d in zip(
        tw.tree.paths(expected),
        *[tw.tree.leaves(t) for t in (expected, one_by_one, again, recorded)],
        strict=True,
    ):
        size = 1e-5 + 1e-4 * abs(a).max().item()
        assert abs(b.mean(0) - a).max().item() < size, path
        assert abs(c - a).max().item() < size, path
        assert abs(d - a).max().item() < size, path


def test_recorded_losses_check_the_labels_of_each_call(device: str) -> None:
    x = tw.sin(tw.arange(12.0)).reshape(4, 3)

    @tw.jit
    def loss(x: tw.Tensor, labels: tw.Tensor) -> tw.Tensor:
        return nn.cross_entropy(x, labels)

    for labels in ([0, 1, 2, 0], [0, -100, 2, -100], [2, 2, 2, 2], [-100, 0, 1, 2]):
        found = loss(x, tw.asarray(labels)).item()
        assert found == pytest.approx(nn.cross_entropy(x, labels).item(), rel=1e-5)
    with pytest.raises(tw.TensorIndexError, match="label 3 is no class"):
        loss(x, tw.asarray([0, 1, 3, 0]))


HIDDEN = [[True] * 3, [False] * 3, [True, False, True]]


def test_labels_are_looked_at_once(webgpu: str) -> None:
    x, labels = tw.ones((4, 3)), tw.asarray([0, -100, 2, 1])
    loss = tw.value_and_grad(lambda x: nn.cross_entropy(x, labels))
    tw.realize(*loss(x))
    with tw.record_kernels() as kernels:
        tw.realize(*loss(x))
    again = len(kernels)
    with tw.record_kernels() as kernels:
        tw.realize(*tw.value_and_grad(lambda x: nn.cross_entropy(x, [0, 1, 2, 1]))(x))
    assert again <= len(kernels) + 2


SMOOTH: dict[str, Any] = {
    "gelu": nn.gelu,
    "gelu by tanh": lambda x: nn.gelu(x, "tanh"),
    "silu": nn.silu,
    "softplus": lambda x: nn.softplus(x, 2.0),
    "logsigmoid": nn.logsigmoid,
    "mish": nn.mish,
    "elu": lambda x: nn.elu(x, 1.0),
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
    "logsumexp": nn.logsumexp,
    "cross_entropy": lambda x: nn.cross_entropy(x, [1, 0, 2]),
    "smoothed": lambda x: nn.cross_entropy(x, [1, 0, 2], label_smoothing=0.1),
    "of probabilities": lambda x: nn.cross_entropy(x, nn.softmax(2 * x)),
    "bce": lambda x: nn.binary_cross_entropy(nn.sigmoid(x), nn.sigmoid(3 * x)),
    "with logits": lambda x: nn.binary_cross_entropy_with_logits(x, nn.sigmoid(2 * x)),
    "attention": lambda x: nn.attention(x, 2 * x, x * x, causal=True),
    "hidden rows": lambda x: nn.attention(x, x, x, mask=HIDDEN),
    "layer_norm": lambda x: nn.layer_norm(x, (4,)),
    "rms_norm": lambda x: nn.rms_norm(x, (4,)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_first_and_second_derivatives(name: str, cpu: str) -> None:
    x = tw.sin(tw.arange(12.0, dtype=tw.float64) * 2.1 + 0.3).reshape(3, 4)
    tw.check_grads(SMOOTH[name], (x,), order=2)


@pytest.mark.parametrize("name", SMOOTH)
def test_batches_are_examples_side_by_side(name: str, cpu: str) -> None:
    x = tw.sin(tw.arange(24.0, dtype=tw.float64) * 2.1).reshape(2, 3, 4)
    gradient = tw.grad(lambda x: SMOOTH[name](x).sum())
    both = tw.vmap(gradient)(x)
    for number in range(2):
        assert abs(both[number] - gradient(x[number])).max().item() < 1e-12


EXTREME = [-1e4, -100.0, -20.0, 0.0, 20.0, 100.0, 1e4]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "name", [n for n in SMOOTH if n not in ("bce", "attention", "hidden rows")]
)
def test_extreme_values_have_finite_derivatives(
    name: str, dtype: str, wasm: Any
) -> None:
    if "norm" in name and dtype == "float16":
        return  # the square of 1e4 is no float16
    x = tw.asarray([EXTREME[:4], EXTREME[2:6], EXTREME[3:]], dtype)
    gradient = tw.grad(lambda x: SMOOTH[name](x).astype("float32").mean())(x)
    assert gradient.dtype.name == dtype
    assert tw.isfinite(gradient).all()


def test_rows_of_minus_infinity(device: str) -> None:
    x = tw.asarray([[-math.inf, -math.inf], [0.0, -math.inf]])
    assert nn.logsumexp(x).tolist() == [-math.inf, 0]
    found = tw.grad(lambda x: nn.logsumexp(x)[1])(x)
    assert found.tolist() == [[0, 0], [1, 0]]
    assert tw.isnan(nn.softmax(x)[0]).all()
    assert nn.softmax(x)[1].tolist() == [1, 0]
    assert nn.cross_entropy(x[1:], [0]).item() == 0


def test_first_values_have_pytorch_s_distributions(cpu: str) -> None:
    rng = tw.random.Generator(0)

    def check_uniform(x: tw.Tensor, bound: float) -> None:
        assert abs(x).max().item() == pytest.approx(bound, rel=0.02)
        assert x.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)

    linear = nn.Linear(100, 60, rng=rng)
    check_uniform(linear.weight, 0.1)
    check_uniform(nn.Conv2d(5, 40, 4, groups=5, rng=rng).weight, 0.25)
    check_uniform(nn.ConvTranspose2d(40, 4, 5, rng=rng).weight, 0.1)
    check_uniform(nn.GRU(30, 25, rng=rng).weight_ih_l0, 0.2)
    attention = nn.MultiheadAttention(54, 2, rng=rng)
    check_uniform(attention.in_proj_weight, math.sqrt(6 / (4 * 54)))
    assert not attention.in_proj_bias.any()
    assert not attention.out_proj.bias.any()
    table = nn.Embedding(200, 50, padding_idx=3, rng=rng).weight
    assert table.std().item() == pytest.approx(1, rel=0.03)
    assert not table[3].any()
    weight = tw.zeros((40, 60))
    check_uniform(nn.init.xavier_uniform(weight, rng=rng), math.sqrt(6 / 100))
    check_uniform(nn.init.kaiming_uniform(weight, math.sqrt(5)), math.sqrt(1 / 60))
    spread = nn.init.kaiming_normal(weight, nonlinearity="relu", rng=rng).std()
    assert spread.item() == pytest.approx(math.sqrt(2 / 60), rel=0.05)
    columns = nn.init.orthogonal(tw.zeros((7, 3, 1)), gain=2.0).reshape(7, 3)
    assert abs(columns.T @ columns - 4 * tw.eye(3)).max().item() < 1e-5


def test_recurrent_layers_drop_between_layers_with_a_key(device: str) -> None:
    layer = nn.GRU(3, 4, num_layers=2, dropout=0.5, rng=0)
    x = tw.ones((5, 2, 3))
    plain, _ = layer(x)
    key = tw.random.key(0)
    assert (layer(x, key=key)[0] == layer(x, key=key)[0]).all()
    assert not (layer(x, key=key)[0] == plain).all()


def test_frozen_tables_are_not_trained(cpu: str) -> None:
    table = nn.Embedding.from_pretrained([[1.0, 2.0], [3.0, 4.0]])
    assert not list(table.parameters())
    assert table([1]).tolist() == [[3, 4]]
    assert list(nn.Embedding.from_pretrained(tw.ones((2, 2)), False).parameters())


def test_half_precision_models_keep_their_dtype(device: str) -> None:
    model = nn.Sequential(nn.Linear(3, 4, rng=0), nn.GELU(), nn.LayerNorm(4))
    model.to(dtype=tw.float16)
    x = tw.ones((2, 3), dtype=tw.float16)
    assert model(x).dtype is tw.float16
    gradient = tw.grad(lambda m: m(x).sum())(model)
    assert all(leaf.dtype is tw.float16 for leaf in tw.tree.leaves(gradient))


def test_a_row_that_gets_no_gradient_is_counted_from_the_end_too(cpu: str) -> None:
    def total(table: tw.Tensor) -> tw.Tensor:
        return nn.embedding([1, 3], table, padding_idx=-1).sum()

    assert tw.grad(total)(tw.ones((4, 1))).tolist() == [[0], [1], [0], [0]]
    layer = nn.Embedding.from_pretrained(tw.ones((4, 1)), padding_idx=-1)
    assert layer.padding_idx == 3
    with pytest.raises(tw.TensorIndexError, match="padding_idx is 4; with 4 rows"):
        nn.embedding([1], tw.ones((4, 1)), padding_idx=4)


def test_vectors_are_normalised_by_norms_of_every_power(cpu: str) -> None:
    x = tw.asarray([[3.0, -4.0]])
    assert nn.normalize(x, math.inf).tolist() == [[0.75, -1]]
    assert nn.normalize(x, 0).tolist() == [[1.5, -2]]
    zeros = tw.zeros((1, 2))
    gradient = tw.grad(lambda x: nn.normalize(x, 3.0, eps=1.0).sum())(zeros)
    assert gradient.tolist() == [[1, 1]]


@pytest.mark.parametrize("mode", ["mean", "max"])
def test_bags_compile(mode: str, device: str) -> None:
    layer = nn.EmbeddingBag(5, 3, mode=mode, rng=0)
    rows, offsets = tw.asarray([1, 2, 4, 0]), tw.asarray([0, 3])
    found = tw.jit(lambda layer, i, o: layer(i, o))(layer, rows, offsets)
    assert abs(found - layer(rows, offsets)).max().item() < 1e-6
