"""Modules are trees of tensors: by transformations, by `backward`, by their names."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

import tensorweb as tw
from tensorweb import devices, nn

ROOT = Path(__file__).parents[2]


class Net(nn.Module):
    """Two layers, one of them in a list, and settings."""

    def __init__(self, rng: Any = 0) -> None:
        rng = nn.init.generator(rng)
        self.name, self.sizes = "net", [3, 4]
        self.first = nn.Linear(3, 4, rng=rng)
        self.rest = [nn.Linear(4, 2, bias=False, rng=rng), tw.tanh]
        self.register_buffer("scale", tw.asarray(2.0))

    def forward(self, x: tw.Tensor) -> tw.Tensor:
        hidden = nn.relu(self.first(x))
        for layer in self.rest:
            hidden = layer(hidden)
        return hidden * self.scale


def loss(model: Net, x: tw.Tensor) -> tw.Tensor:
    return (model(x) ** 2).sum()


def descended(model: Net, gradient: Net) -> Net:
    """Return a model after a step of gradient descent."""
    moved = tw.tree.map(lambda p, g: p if g is None else p - 0.01 * g, model, gradient)
    assert isinstance(moved, Net)
    return moved


X = tw.asarray([[1.0, -2.0, 3.0]], device="cpu")


def test_names_equal_pytorch(cpu: str) -> None:
    model = Net()
    names = ["first.weight", "first.bias", "rest.0.weight"]
    assert [name for name, _ in model.named_parameters()] == names
    assert list(model.state_dict()) == ["scale", *names]
    assert tw.tree.paths(model) == [*names, "scale"]  # as the attributes are
    layers = nn.Sequential(nn.Linear(2, 3), tw.relu, nn.Sequential(nn.Linear(3, 1)))
    assert tw.tree.paths(layers) == list(layers.state_dict())
    assert list(layers.state_dict())[-1] == "2.0.bias"


def test_only_tensors_are_leaves_and_settings_are_preserved(cpu: str) -> None:
    model = Net()
    leaves, structure = tw.tree.flatten(model)
    assert all(isinstance(leaf, tw.Tensor) for leaf in leaves)
    other = tw.tree.unflatten(structure, leaves)
    assert (other.name, other.sizes, other.rest[1]) == ("net", [3, 4], tw.tanh)
    model.name = "other"
    assert tw.tree.flatten(model)[1] != structure


def test_gradients_have_the_form_of_the_model(device: str) -> None:
    model = Net()
    gradient = tw.grad(loss)(model, X.to_device(device))
    assert isinstance(gradient, Net)
    assert gradient.first.weight.shape == (4, 3)
    assert gradient.scale is None
    better = descended(model, gradient)
    x = X.to_device(device)
    assert loss(better, x).item() < loss(model, x).item()
    assert tw.tree.flatten(better)[1] == tw.tree.flatten(model)[1]


def test_both_styles_find_the_same_gradients(device: str) -> None:
    model, x = Net(), X.to_device(device)
    expected = [g for g in tw.tree.leaves(tw.grad(loss)(model, x)) if g is not None]
    model.requires_grad_()
    loss(model, x).backward()
    found = [p.grad for p in model.parameters()]
    assert all(
        (a == b).all() for a, b in zip(found, expected, strict=True) if a is not None
    )
    assert len(found) == 3
    assert model.scale.grad is None


def test_jit_records_a_model_once(device: str) -> None:
    x = X.to_device(device)

    @tw.jit
    def step(model: Net, x: tw.Tensor) -> tuple[Net, tw.Tensor]:
        value, gradient = tw.value_and_grad(loss)(model, x)
        moved = descended(model, gradient)
        return moved, value

    model, plain = Net(), Net()
    values = []
    for _ in range(3):
        model, value = step(model, x)
        values.append(value.item())
        gradient = tw.grad(loss)(plain, x)
        plain = descended(plain, gradient)
    assert values[0] > values[1] > values[2]
    assert step.recordings == (1 if devices.backend(device).recorder else 0)
    assert loss(model, x).item() == pytest.approx(loss(plain, x).item(), rel=1e-5)


def test_vmap_makes_and_calls_an_ensemble(device: str) -> None:
    keys = tw.random.split(tw.random.key(1), 5)
    models = tw.vmap(lambda key: nn.Linear(3, 2, rng=key))(keys)
    assert models.weight.shape == (5, 2, 3)
    x = X.to_device(device)[0]
    found = tw.vmap(lambda m, x: m(x), (0, None))(models, x)
    third = nn.Linear(3, 2, rng=keys[2])
    assert abs(found[2] - third(x)).max().item() < 1e-6


def test_a_shared_tensor_is_one_leaf(cpu: str) -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            self.a = nn.Linear(3, 3, bias=False)
            self.b = nn.Linear(3, 3, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x: tw.Tensor) -> tw.Tensor:
            return self.b(self.a(x))

    model = Tied()
    assert len(tw.tree.leaves(model)) == 1
    assert len(list(model.parameters())) == 1
    assert list(model.state_dict()) == ["a.weight", "b.weight"]
    gradient = tw.grad(lambda m: m(X).sum())(model)
    w = model.a.weight
    expected = tw.grad(lambda w: (X @ w.T @ w.T).sum())(w)
    assert abs(gradient.a.weight - expected).max().item() < 1e-6
    moved = tw.tree.map(lambda p, g: p - g, model, gradient)
    assert moved.a.weight is moved.b.weight


def test_integers_and_no_bias_have_no_gradient_in_their_place(cpu: str) -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            self.count, self.bias = tw.asarray(3), None
            self.weight = tw.ones(2)

        def forward(self, x: tw.Tensor) -> tw.Tensor:
            return self.weight * x * self.count

    model = Counting()
    gradient = tw.grad(lambda m: m(tw.ones(2)).sum())(model)
    assert gradient.count is None
    assert gradient.weight.tolist() == [3, 3]
    tw.tree.map(lambda p, g: p, model, gradient)


def test_state_is_loaded_into_the_same_tensors(cpu: str) -> None:
    model, other = Net(0), Net(1)
    weight = model.first.weight
    assert model.load_state_dict(other.state_dict()) == ([], [])
    assert model.first.weight is weight
    assert (weight == other.first.weight).all()
    saved = model.state_dict()
    with tw.no_grad():
        weight += 1
    assert (saved["first.weight"] == other.first.weight).all()


def test_a_state_that_does_not_fit_is_listed_and_not_loaded(cpu: str) -> None:
    model = Net()
    before = model.first.weight.tolist()
    state = {
        "first.weight": tw.zeros((4, 3)),
        "first.bias": tw.zeros(5),
        "rest.0.weight": [[1.0], [2.0, 3.0]],
        "more": tw.zeros(1),
    }
    with pytest.raises(tw.DataError) as caught:
        model.load_state_dict(state)
    message = str(caught.value)
    assert "first.bias has shape (5,), the module's (4,)" in message
    assert "rest.0.weight: ragged list" in message
    assert "scale is missing" in message
    assert "more is unknown" in message
    assert model.first.weight.tolist() == before
    with pytest.raises(tw.DataError, match=r"first\.bias"):
        model.load_state_dict(state, strict=False)
    del state["first.bias"], state["rest.0.weight"]
    found = model.load_state_dict(state, strict=False)
    assert found == (["scale", "first.bias", "rest.0.weight"], ["more"])
    assert model.first.weight.tolist() != before


def test_a_model_is_shown_as_by_pytorch(cpu: str) -> None:
    assert repr(nn.Sequential(nn.Linear(3, 2), tw.relu, nn.ReLU())) == (
        "Sequential(\n"
        "  (0): Linear(in_features=3, out_features=2, bias=True)\n"
        "  (1): relu\n"
        "  (2): ReLU()\n"
        ")"
    )
    assert repr(Net()) == (
        "Net(\n"
        "  (first): Linear(in_features=3, out_features=4, bias=True)\n"
        "  (rest.0): Linear(in_features=4, out_features=2, bias=False)\n"
        ")"
    )


def test_copies_are_models_of_their_own(cpu: str) -> None:
    model = nn.Linear(3, 2)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (other.weight == model.weight).all()
        with tw.no_grad():
            other.weight += 1
        assert not (other.weight == model.weight).any()


def test_lists_and_dicts_of_pytorch_hold_modules(cpu: str) -> None:
    class Blocks(nn.Module):
        def __init__(self) -> None:
            self.blocks = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
            self.blocks.append(nn.Linear(2, 3))
            self.heads = nn.ModuleDict({"last": nn.Linear(3, 1)})
            self.scales = nn.ParameterList([tw.ones(2)])

        def forward(self, x: tw.Tensor) -> Any:
            for block in self.blocks:
                x = block(x)
            return self.heads["last"](x) * self.scales[0].sum()

    model = Blocks()
    names = [name for name, _ in model.named_parameters()]
    assert names[:2] == ["blocks.0.weight", "blocks.0.bias"]
    assert names[-3:] == ["heads.last.weight", "heads.last.bias", "scales.0"]
    gradient = tw.jit(tw.grad(lambda model: model(tw.ones(2)).sum()))(model)
    assert gradient.blocks[2].weight.shape == (3, 2)


def test_the_mode_is_what_calls_do_by_default(device: str) -> None:
    model = nn.Sequential(nn.BatchNorm1d(3), nn.Sequential(nn.Dropout(0.5)))
    x = tw.random.normal(tw.random.key(0), (64, 3))
    assert not (model(x) == 0).any()
    assert [module.training for module in model.train().modules()] == [True] * 4
    first, second = model(x), model(x)
    assert (first == 0).any()
    assert (first != second).any()
    assert model[0].num_batches_tracked.item() == 2
    model(x, train=False, key=tw.random.key(0))
    assert model[0].num_batches_tracked.item() == 2
    assert not (model.eval()(x) == 0).any()
    attention = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.5).train()
    tokens = tw.ones((2, 3, 4))
    assert (attention(tokens) != attention(tokens)).any()
    layers = nn.LSTM(3, 4, num_layers=2, dropout=0.5).train()
    assert (layers(x[:4])[0] != layers(x[:4])[0]).any()


def test_training_inside_of_transformations_needs_keys(webgpu: str) -> None:
    model, x = nn.Dropout(0.5).train(), tw.ones((8, 3))
    repeated = tw.checkpoint(lambda x: model(x))
    for call in (
        tw.jit(lambda x: model(x)),
        tw.vmap(lambda x: model(x)),
        tw.grad(lambda x: repeated(x).sum()),
    ):
        with pytest.raises(tw.TensorwebError, match="give the call a key="):
            call(x)
    assert tw.jit(lambda x, key: model(x, key=key))(x, tw.random.key(0)).shape == (8, 3)
    assert tw.jit(lambda x: model.eval()(x))(x).sum().item() == 24


def test_programs_begin_with_the_same_parameters(cpu: str) -> None:
    from tensorweb import frames

    frames.begin_program()
    first = [nn.Linear(3, 2).weight.tolist() for _ in range(2)]
    frames.begin_program()
    again = [nn.Linear(3, 2).weight.tolist() for _ in range(2)]
    assert first == again
    assert first[0] != first[1]
    one, two = (nn.Linear(3, 2, rng=tw.random.Generator(5)) for _ in range(2))
    assert (one.weight == two.weight).all()


def test_calling_a_module_without_forward_raises(cpu: str) -> None:
    class Empty(nn.Module):
        pass

    class Direct(nn.Module):
        def __call__(self, x: int) -> int:
            return x + 1

    assert Direct()(1) == 2
    with pytest.raises(tw.TensorwebError, match=r"Empty: .* forward"):
        Empty()(1)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("double", "float64"),
        ("cuda", "model.to"),
        ("nothing_like_it", "has no attribute 'nothing_like_it'$"),
    ],
)
def test_modules_answer_methods_of_pytorch(name: str, words: str, cpu: str) -> None:
    with pytest.raises(AttributeError, match=words):
        getattr(nn.Linear(2, 2), name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mse_loss", "tensorweb calls it mse"),
        ("DataParallel", "there is one device"),
        ("nothing_like_it", "has no attribute 'nothing_like_it'$"),
    ],
)
def test_the_namespace_answers_names_of_pytorch(name: str, words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        getattr(nn, name)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.Linear(0, 2), "in_features is 0; give a positive integer"),
        (lambda: nn.Linear(2, 2.5), "out_features is 2.5"),
        (lambda: nn.Linear(2, 2)(tw.ones(3)), r"shape \(3,\); .* \(\.\.\., 2\)"),
        (lambda: nn.Linear(2, 2)(tw.ones(2, dtype=tw.int32)), "astype"),
        (lambda: nn.Linear(2, 2, rng="0"), "rng is a str"),
        (lambda: nn.Sequential([nn.Linear(2, 2)]), r"Sequential\(\*layers\)"),
        (lambda: nn.Dropout(1.5), "p is 1.5"),
        (lambda: Net().register_buffer("a.b", None), "no name of an attribute"),
    ],
)
def test_bad_settings_and_inputs(make: Any, words: str, cpu: str) -> None:
    with pytest.raises(tw.TensorwebError, match=words):
        make()


def test_dropout_drops_with_a_key_only(device: str) -> None:
    x = tw.ones((50, 40))
    layers = nn.Sequential(nn.Dropout(0.25), nn.Dropout(0.0), nn.Dropout(0.25))
    assert (layers(x) == 1).all()
    y = layers(x, key=tw.random.key(1))
    assert (layers(x, key=tw.random.key(1)) == y).all()
    share = (y == 0).astype("float32").mean()
    assert share.item() == pytest.approx(1 - 0.75**2, abs=0.05)
    assert y.max().item() == pytest.approx(1 / 0.75**2)
    gradient = tw.grad(lambda x: layers(x, key=tw.random.key(1)).sum())(x)
    assert (gradient == y).all()
    assert (nn.Dropout(1.0)(x, key=tw.random.key(0)) == 0).all()


@pytest.mark.needs_processes
def test_importing_the_package_does_not_import_networks() -> None:
    program = (
        "import sys, tensorweb as tw\n"
        "assert 'tensorweb.nn' not in sys.modules and 'nn' in dir(tw)\n"
        "assert tw.nn.Linear(2, 3).weight.shape == (3, 2)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_losses_take_their_arguments_by_name() -> None:
    x, y = tw.asarray([1.0, 2.0]), tw.asarray([1.0, 4.0])
    assert nn.MSELoss()(input=x, target=y).item() == 2
    assert nn.ReLU()(input=-x).tolist() == [0, 0]


PROGRAM_OF_A_CLASS = """
class Net(tw.nn.Module):
    def __init__(self):
        self.first = tw.nn.Linear(2, 3)
    def forward(self, x):
        return self.first(x)

@tw.jit
def step(model):
    return tw.grad(lambda model: model(tw.ones((4, 2))).sum())(model)

step(tw.nn.Sequential(Net(), tw.tanh))
"""


def test_a_program_that_ends_leaves_no_class_of_a_module(cpu: str) -> None:
    names: dict[str, Any] = {"__name__": "__main__", "tw": tw}
    exec(PROGRAM_OF_A_CLASS, names)
    kind, step = ref(names["Net"]), ref(names["step"])
    names.clear()
    gc.collect()
    assert kind() is None
    assert step() is None


def test_functions_have_pytorch_s_names_in_a_module() -> None:
    import tensorweb.nn.functional as F

    x, y = tw.asarray([1.0, 2.0]), tw.asarray([0.0, 4.0])
    assert F.mse_loss(x, y).item() == nn.mse(x, y).item()
    assert F.smooth_l1_loss(x, y).item() == nn.smooth_l1(x, y).item()
    missing = [name for name in nn.__all__ if name[0].islower()]
    assert [n for n in missing if not hasattr(F, n) and n != "functional"] == [
        "init",
        "utils",
    ]


def test_layers_of_a_sequence_are_replaced() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3))
    model[1] = nn.Linear(3, 4)
    assert model(tw.ones((1, 2))).shape == (1, 4)
    setattr(model, "1", nn.Linear(3, 5))
    assert model(tw.ones((1, 2))).shape == (1, 5)
    assert len(list(model.state_dict())) == 4
    named = nn.Sequential({"first": nn.Linear(2, 3)})
    named.first = nn.Linear(2, 4)
    assert named(tw.ones((1, 2))).shape == (1, 4)


def test_the_mode_reaches_layers_of_a_block_without_it() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            self.norm = nn.BatchNorm1d(2)

        def forward(self, x: tw.Tensor) -> tw.Tensor:
            return self.norm(x)

    model, x = nn.Sequential(Block()), tw.asarray([[1.0, 2.0], [3.0, 6.0]])
    expected = model[0].norm(x, train=True)
    found = model(x, train=True)
    assert found.tolist() == expected.tolist()
    assert not any("training" in vars(part) for part in model.modules())
    model.train()
    assert model(x, train=False).tolist() != expected.tolist()
    assert all(part.training for part in model.modules())


def test_modules_of_a_dict_are_attributes() -> None:
    parts = nn.ModuleDict({"a": nn.ReLU()})
    assert parts.a is parts["a"]
    with pytest.raises(AttributeError, match="no module 'b', only a"):
        parts.b  # noqa: B018
