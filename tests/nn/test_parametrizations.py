"""Weights that are computed, and packed sequences, give what PyTorch gives."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import nn
from tensorweb.nn.utils import parametrize
from tensorweb.nn.utils.rnn import (
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
)

WEIGHT = [[1.0, 2.0, -2.0], [0.5, -1.0, 3.0]]
X = [[1.0, -1.0, 2.0], [0.5, 2.0, 1.0]]
COTANGENT = [[1.0, 2.0], [3.0, -1.0]]

LENGTHS: dict[int | None, tuple[Any, Any]] = {
    0: (
        [[0.8333333], [4.2947783]],
        [[2.2222223, 4.4444447, 5.5555553], [0.8292683, -2.6585367, -1.0243900]],
    ),
    1: (
        [[2.9068882, 6.2609901, -0.2773501]],
        [[-0.0999999, -0.5999999, 4.8461537], [0.2, -1.2, 3.2307692]],
    ),
    None: (
        3.7037187,
        [[1.6558441, 3.3116882, 6.6883116], [1.0779221, -3.1558442, 0.4675324]],
    ),
}
"""PyTorch's gradients of length and direction, by the axis."""


def layer() -> Any:
    made: Any = nn.Linear(3, 2, bias=False)
    made.weight = tw.tensor(WEIGHT)
    return made


def near(found: tw.Tensor, expected: Any) -> None:
    like = tw.asarray(expected)
    assert found.shape == like.shape
    assert (abs(found - like) < 2e-6 * (1 + abs(like))).all(), found


@pytest.mark.parametrize("dim", LENGTHS)
def test_length_and_direction_are_trained(dim: int | None, device: str) -> None:
    with tw.device(device):
        model = nn.utils.weight_norm(layer(), dim=dim)
        assert [name for name, _ in model.named_parameters()] == [
            "parametrizations.weight.original0",
            "parametrizations.weight.original1",
        ]
        near(model(tw.asarray(X)), tw.asarray(X) @ tw.asarray(WEIGHT).T)
        loss = tw.jit(lambda m: (m(tw.asarray(X)) * tw.asarray(COTANGENT)).sum())
        parts = tw.grad(loss)(model).parametrizations["weight"]
        near(parts.original0, LENGTHS[dim][0])
        near(parts.original1, LENGTHS[dim][1])


def test_a_spectral_norm_follows_training(device: str) -> None:
    with tw.device(device):
        model = nn.utils.spectral_norm(layer()).train()
        assert [*model.state_dict()] == [
            "parametrizations.weight.original",
            *("parametrizations.weight.0._u", "parametrizations.weight.0._v"),
        ]
        step = model.parametrizations["weight"].steps[0]
        step._u[...], step._v[...] = tw.asarray([0.6, 0.8]), tw.asarray([0, 0.6, 0.8])
        model.requires_grad_()
        (model(tw.asarray(X)) * tw.asarray(COTANGENT)).sum().backward()
        near(
            model.parametrizations["weight"].original.grad,
            [[0.7033318, 1.2658467, 1.6100656], [0.3222538, -0.6363837, -0.2708014]],
        )
        near(step._u, [-0.2169304, 0.9761871])
        near(step._v, [0.0741657, -0.3856616, 0.9196546])
        expected = [[-1.3675478, 2.0513217], [0.6837739, 0.3418869]]
        near(model.eval()(tw.asarray(X)), expected)
        near(copy.deepcopy(model)(tw.asarray(X)), expected)
        assert "dim" not in {*model.state_dict()}


def test_parametrizations_end_and_are_checked(cpu: str) -> None:
    class Doubled(nn.Module):
        def forward(self, x: tw.Tensor) -> tw.Tensor:
            return 2 * x

    model = layer()
    parametrize.register_parametrization(model, "weight", Doubled())
    parametrize.register_parametrization(model, "weight", Doubled())
    near(model.weight, [[4.0, 8.0, -8.0], [2.0, -4.0, 12.0]])
    assert type(model).__name__ == "ParametrizedLinear"
    assert parametrize.is_parametrized(model)
    opt = tw.optim.SGD(model.parameters(), lr=0.25)
    model(tw.ones((1, 3))).sum().backward()
    opt.step()
    near(model.parametrizations["weight"].original, tw.asarray(WEIGHT) - 1)
    plain = parametrize.remove_parametrizations(model, "weight")
    assert type(plain) is nn.Linear
    near(plain.weight, 4 * (tw.asarray(WEIGHT) - 1))
    assert [name for name, _ in plain.named_parameters()] == ["weight"]
    with pytest.raises(tw.DataError, match="'weight' of Linear is computed from not"):
        parametrize.remove_parametrizations(model, "weight")
    with pytest.raises(tw.DataError, match="Linear has no tensor 'w'"):
        parametrize.register_parametrization(model, "w", Doubled())
    with pytest.raises(tw.DataError, match="spectral_norm: ReLU has no 'weight'"):
        nn.utils.spectral_norm(nn.ReLU())
    with pytest.raises(tw.ShapeError, match=r"Flatten returned \(2, 3\)|returned"):
        parametrize.register_parametrization(nn.Conv1d(2, 2, 2), "weight", nn.Flatten())


def test_mistakes_leave_a_computed_weight_as_it_is(cpu: str) -> None:
    class First(nn.Module):
        def forward(self, x: tw.Tensor) -> tw.Tensor:
            return x[:1]

    model = parametrize.register_parametrization(layer(), "weight", nn.Identity())
    with pytest.raises(tw.ShapeError, match=r"First returned \(1, 3\)"):
        parametrize.register_parametrization(model, "weight", First())
    near(model.weight, WEIGHT)
    normed = nn.utils.weight_norm(layer())
    for model in (normed, nn.utils.spectral_norm(layer())):
        with pytest.raises(tw.DataError, match="_WeightNorm takes several, so reg"):
            nn.utils.weight_norm(model)
        with pytest.raises(tw.DataError, match=r"set original.* or call remove_param"):
            model.weight = tw.asarray(WEIGHT)
    with pytest.raises(tw.DataError, match="from 2 tensors, so it has no one orig"):
        parametrize.remove_parametrizations(normed, "weight", False)
    near(normed.weight, WEIGHT)
    assert parametrize.is_parametrized(normed, "weight")


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_packed_sequences_are_read_up_to_their_ends(kind: str, device: str) -> None:
    with tw.device(device):
        rng = tw.random.Generator(3)
        parts = [rng.normal((length, 3)) for length in (2, 4, 1)]
        model: Any = getattr(nn, kind)(3, 2, 2, bidirectional=True, batch_first=True)
        packed = pack_padded_sequence(
            *(pad_sequence(parts, batch_first=True, padding_value=9.0), [2, 4, 1]),
            batch_first=True,
            enforce_sorted=False,
        )
        output, last = tw.jit(lambda m, p: m(p))(model, packed)
        padded, lengths = pad_packed_sequence(output, batch_first=True, total_length=5)
        assert (padded.shape, lengths.tolist()) == ((3, 5, 4), [2, 4, 1])
        assert (padded[0, 2:] == 0).all()
        ends = last if kind == "LSTM" else (last,)
        for n, part in enumerate(parts):
            alone, alone_last = model(part)
            near(padded[n, : len(part)], alone)
            for end, own in zip(
                ends, alone_last if kind == "LSTM" else (alone_last,), strict=True
            ):
                near(end[:, n], own)


def test_packed_elements_are_in_pytorchs_order(device: str) -> None:
    x = tw.arange(12.0).reshape((4, 3))
    packed = pack_padded_sequence(x, tw.tensor([2, 4, 1]), enforce_sorted=False)
    assert packed.data.tolist() == [1, 0, 2, 4, 3, 7, 10]
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    again = pack_sequence([x[:2, 0], x[:, 1], x[:1, 2]])
    assert again.data.tolist() == packed.data.tolist()
    with pytest.raises(tw.DataError, match="not from 1 to 4"):
        pack_padded_sequence(x, [2, 5, 1])
    with pytest.raises(tw.ShapeError, match=r"\(2,\) lengths"):
        pack_padded_sequence(x, [2, 4])
    with pytest.raises(tw.DataError, match="total_length=3 is below 4"):
        pad_packed_sequence(packed, total_length=3)


def test_spectral_norm_follows_other_parametrizations(cpu: str) -> None:
    layer = tw.nn.Linear(5, 4)
    tw.nn.utils.spectral_norm(tw.nn.utils.weight_norm(layer), n_power_iterations=30)
    layer.train()(tw.ones((2, 5)))
    assert tw.linalg.svdvals(layer.weight)[0].item() == pytest.approx(1, abs=1e-5)
    names = {name for name, _ in layer.named_parameters()}
    assert "parametrizations.weight.original0" in names
