"""Methods of PyTorch's modules, lazy layers, hooks, and `nn.utils`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import nn
from tensorweb.nn.utils import clip_grad_value_, vector_to_parameters
from tensorweb.nn.utils.rnn import pad_sequence


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(tw.ones(2))
        self.inner = nn.Linear(2, 2)

    def forward(self, x: tw.Tensor) -> tw.Tensor:
        return self.inner(x) * self.factor


def test_a_parameter_is_found_and_learns(device: str) -> None:
    model = Scaled()
    assert model.factor.requires_grad
    assert next(iter(model.named_parameters()))[0] == "factor"
    model(tw.ones(2)).sum().backward()
    assert model.factor.grad is not None
    model.zero_grad(set_to_none=False)
    assert model.factor.grad.tolist() == [0, 0]
    model.zero_grad()
    assert model.factor.grad is None
    with pytest.raises(tw.DTypeError, match="Parameter"):
        nn.Parameter(tw.ones(2, dtype=tw.int32))


def test_initial_values_are_applied_as_in_pytorch(device: str) -> None:
    def begin(module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.constant_(module.weight, 2.0)
            nn.init.zeros_(module.bias.data)

    model = nn.Sequential(nn.Linear(3, 2), nn.Sequential(nn.Linear(2, 1)))
    tw.optim.SGD(model.parameters(), lr=0.1)
    assert model.apply(begin) is model
    assert model(tw.ones(3)).tolist() == [24]
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_modules_and_parameters_are_added_by_name() -> None:
    model = nn.Sequential(nn.ReLU())
    model.add_module("block 1", nn.Linear(2, 2))
    model.register_parameter("extra", nn.Parameter(tw.ones(1)))
    assert [name for name, _ in model.named_children()] == ["0", "block 1"]
    assert list(model.state_dict()) == ["extra", "block 1.weight", "block 1.bias"]
    assert model(tw.ones(2)).shape == (2,)


def test_hooks_see_calls_and_may_replace_results(device: str) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    seen: list[Any] = []
    first = model[0].register_forward_hook(
        lambda module, args, output: seen.append((args[0].shape, output.shape))
    )
    model(tw.ones((2, 3)))
    tw.grad(lambda model: model(tw.ones((2, 3))).sum())(model)
    assert seen == [((2, 3), (2, 4))] * 2
    first.remove()
    first.remove()
    doubled = model[1].register_forward_hook(lambda module, args, output: output * 2)
    model[1].register_forward_pre_hook(lambda module, args: args[0] * 0 + 3)
    assert model(tw.ones((2, 3)))[0].tolist() == [6] * 4
    doubled.remove()
    assert model(tw.ones((2, 3)))[0].tolist() == [3] * 4
    assert len(seen) == 2


def test_lazy_layers_become_ordinary_ones(device: str) -> None:
    model = nn.Sequential(
        nn.LazyConv2d(4, kernel_size=3),
        nn.LazyBatchNorm2d(),
        nn.Flatten(),
        nn.LazyLinear(5),
    )
    with pytest.raises(tw.DataError, match="call the model once on an example"):
        tw.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(tw.TraceError, match="call the model once on an example"):
        tw.grad(lambda x: model(x).sum())(tw.ones((1, 2, 4, 4)))
    model.train()
    assert model(tw.ones((2, 2, 4, 4))).shape == (2, 5)
    kinds = [type(layer) for layer in model]
    assert kinds == [nn.Conv2d, nn.BatchNorm2d, nn.Flatten, nn.Linear]
    assert (model[0].in_channels, model[3].in_features) == (2, 16)
    assert len(list(model.parameters())) == 6


def test_utilities_of_gradients_and_parameters(device: str) -> None:
    layer = nn.Linear(2, 1).requires_grad_()
    (layer(tw.asarray([30.0, -0.5]))).sum().backward()
    clip_grad_value_(layer.parameters(), 1.0)
    assert layer.weight.grad.tolist() == [[1, -0.5]]
    vector = nn.utils.parameters_to_vector(layer.parameters())
    vector_to_parameters(tw.asarray([1.0, 2.0, 3.0]), layer.parameters())
    assert (vector.shape, layer.weight.tolist()) == ((3,), [[1, 2]])
    assert layer.weight.requires_grad
    with pytest.raises(tw.ShapeError, match="3 elements"):
        vector_to_parameters(tw.ones(4), layer.parameters())
    assert nn.utils.clip_grad_norm_ is tw.optim.clip_grad_norm_
    assert nn.utils.clip_grad_norm_(layer.parameters(), 0.5, norm_type=2).item() > 1
    with pytest.raises(tw.DataError, match="norm_type is 1"):
        nn.utils.clip_grad_norm_(layer.parameters(), 0.5, 1)


def test_sequences_are_padded(device: str) -> None:
    parts = [tw.ones((2, 2)), tw.ones((1, 2))]
    padded = pad_sequence(parts, padding_value=-1)
    assert padded.shape == (2, 2, 2)
    assert padded[1].tolist() == [[1, 1], [-1, -1]]
    assert pad_sequence(parts, batch_first=True)[1].tolist() == [[1, 1], [0, 0]]


def test_a_module_takes_a_dtype_alone() -> None:
    layer = nn.Linear(2, 2, device="cpu").to(tw.float64)
    assert (layer.weight.dtype, layer.cpu().weight.device) == (tw.float64, "cpu")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (lambda: nn.Dropout(0.5), "drops nothing"),
        (lambda: nn.BatchNorm1d(2), "leaves its running statistics"),
    ],
)
def test_an_unset_mode_warns_where_gradients_are_computed(
    kind: Callable[[], nn.Module], words: str
) -> None:
    x = tw.ones((3, 2))
    model = nn.Sequential(nn.Linear(2, 2), kind())
    model(x)  # nothing is differentiated
    with pytest.warns(tw.ModeWarning, match=rf"{words}.*Call model\.train\(\)"):
        tw.grad(lambda x: model(x).sum())(x)
    model.requires_grad_()
    with pytest.warns(tw.ModeWarning, match=r"model\.eval\(\)"):
        model(x).sum().backward()
    for mode in (True, False):
        model.train(mode)(x).sum().backward()
    with tw.no_grad():
        nn.Sequential(nn.Linear(2, 2).requires_grad_(), kind())(x)


def test_train_reaches_dropout_without_a_key(device: str) -> None:
    model = nn.Sequential(nn.ReLU(), nn.Dropout(1.0))
    x = tw.ones(4)
    assert model(x, train=True).sum().item() == 0
    assert model(x, train=False).sum().item() == model(x).sum().item() == 4
    assert "training" not in vars(model[1])
    with pytest.raises(tw.TraceError, match="give the call a key="):
        tw.vmap(lambda row: model(row, train=True))(tw.ones((2, 4)))


def test_dropout_as_a_function_is_pytorchs(device: str) -> None:
    dropout = nn.functional.dropout
    x = tw.ones(64)
    first, second = dropout(x, 0.5), dropout(x, 0.5)
    assert 0 < (first == 0).sum().item() < 64
    assert (first != second).any().item()
    assert set(first.tolist()) == {0.0, 2.0}
    assert dropout(x, 0.5, training=False).sum().item() == 64
    assert 0 < (dropout(x, 0.5, key=None) == 0).sum().item() < 64
    assert dropout(x, 0.5, False, key=tw.random.key(0)).sum().item() == 64
    assert nn.dropout2d(tw.ones((1, 8, 2, 2)), 1.0).sum().item() == 0
    with pytest.raises(tw.TraceError, match="training=False"):
        tw.vmap(lambda row: dropout(row, 0.5))(tw.ones((2, 4)))


def test_a_summary_has_each_layer_and_changes_nothing() -> None:
    model = nn.Sequential(nn.LazyLinear(4), nn.Dropout(1.0), nn.LSTM(4, 2)).train()
    text = nn.summary(model, tw.ones((5, 3)))
    assert [line.split()[:2] for line in text.splitlines()] == [
        *(["layer", "class"], ["0", "Linear"], ["1", "Dropout"], ["2", "LSTM"]),
        ["total", str(sum(one.size for one in model.parameters()))],
    ]
    assert "tuple" in text
    assert model.training
    assert "_forward_hooks" not in vars(model[1])


def test_padding_takes_integers_and_names_itself(cpu: str) -> None:
    padded = pad_sequence([tw.tensor([1, 2]), tw.tensor([3])], True)
    assert padded.dtype == tw.int32
    assert padded.tolist() == [[1, 2], [3, 0]]
    with pytest.raises(tw.DataError, match="pad_sequence: give a list of tensors"):
        pad_sequence([])
    with pytest.raises(tw.ShapeError, match=r"pad_sequence: .*\(2, 1\).* differ"):
        pad_sequence([tw.ones((2, 1)), tw.ones((2, 2))])
    with pytest.raises(TypeError, match="flip"):
        pad_sequence([tw.ones(2)], padding_side="left")  # type: ignore[call-arg]


def test_a_lazy_layer_outlives_a_wrong_input(cpu: str) -> None:
    layer = nn.LazyConv2d(4, 3)
    for wrong in (tw.ones((3, 8)), tw.ones((1, 3, 2, 2))):
        with pytest.raises(tw.ShapeError):
            layer(wrong)
        assert isinstance(layer, nn.LazyConv2d)
    assert layer(tw.ones((1, 3, 8, 8))).shape == (1, 4, 6, 6)
    # An image alone has its channels first, as in PyTorch.
    assert nn.LazyConv2d(4, 3)(tw.ones((3, 8, 9))).shape == (4, 6, 7)
    with pytest.raises(tw.ShapeError, match=r"LazyBatchNorm2d: .*no axis 1"):
        nn.LazyBatchNorm2d()(tw.ones(3))


def test_parameters_are_in_the_order_of_torch(cpu: str) -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(2, 3)
            self.register_buffer("count", tw.zeros(()))
            self.norm = nn.BatchNorm1d(3)
            self.scale = nn.Parameter(tw.ones(3))

        def forward(self, x: tw.Tensor) -> tw.Tensor:
            return self.norm(self.first(x)) * self.scale

    parameters = ["scale", "first.weight", "first.bias", "norm.weight", "norm.bias"]
    averages = ["running_mean", "running_var", "num_batches_tracked"]
    buffers = ["count", *(f"norm.{name}" for name in averages)]
    net = Net()
    assert [name for name, _ in net.named_parameters()] == parameters
    assert [name for name, _ in net.named_buffers()] == buffers
    names = ["scale", "count", *parameters[1:], *buffers[1:]]
    assert list(net.state_dict()) == names
