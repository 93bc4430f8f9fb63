"""Transformers beyond PyTorch's numbers: dropout, transformations, state."""

from __future__ import annotations

import tensorweb as tw
from tensorweb import nn


def test_a_key_drops_and_transformations_agree(device: str) -> None:
    layer = nn.TransformerDecoderLayer(4, 2, 8, dropout=0.5, batch_first=True, rng=0)
    model = nn.TransformerDecoder(layer, 2)
    x = tw.random.normal(tw.random.key(0), (3, 2, 5, 4))

    def call(x: tw.Tensor, key: tw.Tensor | None = None) -> tw.Tensor:
        return model(x, x, tgt_is_causal=True, key=key)  # type: ignore[no-any-return]  # a module's result

    key = tw.random.key(1)
    plain, dropped = call(x[0]), call(x[0], key)
    assert abs(plain - dropped).max().item() > 0.1
    for found in (tw.jit(call)(x[0], key), call(x[0], key)):
        assert abs(found - dropped).max().item() < 1e-5
    assert abs(tw.vmap(call)(x)[0] - plain).max().item() < 1e-5


def test_copies_of_a_layer_have_parameters_of_their_own(cpu: str) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
    first, second = model.layers
    assert (first.linear1.weight == second.linear1.weight).all()
    assert first.linear1.weight is not second.linear1.weight


def test_a_transformer_trains(device: str) -> None:
    model = nn.Transformer(4, 2, 1, 1, 8, batch_first=True, rng=0).eval()
    x, y = tw.random.normal(tw.random.key(0), (2, 3, 2, 4))

    def loss(model: nn.Transformer) -> tw.Tensor:
        return nn.mse(model(x, y), x)

    @tw.jit
    def step(model: nn.Transformer) -> tuple[nn.Transformer, tw.Tensor]:
        value, gradient = tw.value_and_grad(loss)(model)
        return tw.tree.map(lambda p, g: p - 0.1 * g, model, gradient), value

    losses = []
    for _ in range(5):
        model, value = step(model)
        losses.append(value.item())
    assert losses[-1] < 0.9 * losses[0]


def test_a_linear_layer_can_be_replaced(cpu: str) -> None:
    """As by an adapter, which has no weight of its own."""
    layer = nn.TransformerDecoderLayer(4, 2, 8, batch_first=True, rng=0)
    x = tw.random.normal(tw.random.key(0), (1, 3, 4))
    before = layer(x, x)
    layer.linear1 = nn.Sequential(layer.linear1)
    assert (layer(x, x) == before).all()
    encoder = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, rng=0)
    encoder.linear1 = nn.Sequential(encoder.linear1)
    assert encoder(x).shape == (1, 3, 4)
