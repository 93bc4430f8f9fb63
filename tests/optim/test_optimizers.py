"""Optimisers change parameters by their rules, as values and in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, DeviceError, TraceError, TransformError
from tensorweb.optim.state import new_groups
from tensorweb.tensor import Tensor

ANY: Any = tw.optim
"""The module for calls that types do not allow."""

OPTIMIZERS: dict[str, Callable[..., tw.optim.Optimizer]] = {
    "SGD": lambda params=None: tw.optim.SGD(params, lr=0.1, momentum=0.9),
    "Adam": lambda params=None: tw.optim.Adam(params, lr=0.1, amsgrad=True),
    "AdamW": lambda params=None: tw.optim.AdamW(params, lr=0.1, weight_decay=0.1),
    "RMSprop": lambda params=None: tw.optim.RMSprop(params, lr=0.01, centered=True),
    "Adagrad": lambda params=None: tw.optim.Adagrad(params, lr=0.1, lr_decay=0.01),
    "Lion": lambda params=None: tw.optim.Lion(params, lr=0.01, weight_decay=0.1),
    "NAdam": lambda params=None: tw.optim.NAdam(params, lr=0.1),
    "RAdam": lambda params=None: tw.optim.RAdam(params, lr=0.1),
    "Adamax": lambda params=None: tw.optim.Adamax(params, lr=0.1),
    "Adadelta": lambda params=None: tw.optim.Adadelta(params),
    "Adafactor": lambda params=None: tw.optim.Adafactor(params, lr=0.1),
}


def start() -> dict[str, Any]:
    """Return parameters of several shapes, with what is none between them."""
    return {
        "w": tw.asarray([[0.3, -0.2], [0.5, 0.1], [-0.4, 0.25]]),
        "name": "a layer",
        "inner": [tw.asarray([0.05, -0.1]), tw.arange(3), None],
        "scale": tw.asarray(1.2),
    }


def loss(tree: dict[str, Any]) -> Tensor:
    """Return a number that all parameters change."""
    x = tw.asarray([[0.2, -1.0, 0.5], [1.5, 0.3, -0.7], [-0.6, 0.8, 0.1]])
    found: Tensor = tw.tanh(x @ tree["w"] + tree["inner"][0]) * tree["scale"]
    return ((found - 0.25) ** 2).mean()


def numbers(tree: dict[str, Any]) -> list[float]:
    """Return all elements of the parameters."""
    leaves = (tree["w"], tree["inner"][0], tree["scale"])
    return [number for leaf in leaves for number in leaf.reshape(-1).tolist()]


def leaves(tree: dict[str, Any]) -> list[Tensor]:
    """Return the parameters."""
    return [tree["w"], tree["inner"][0], tree["scale"]]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_both_styles_give_the_same_bits(name: str, cpu: str) -> None:
    values, mine = start(), start()
    opt = OPTIMIZERS[name]()
    state = opt.init(values)
    own = OPTIMIZERS[name](mine)
    for _ in range(5):
        values, state = opt.update(values, tw.grad(loss)(values), state)
        loss(mine).backward()
        own.step()
        own.zero_grad()
    assert numbers(values) == numbers(mine)
    assert values["name"] == "a layer"
    assert loss(values).item() < loss(start()).item()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_joined_parameters_get_the_bits_of_single_ones(name: str, cpu: str) -> None:
    together, alone = start(), start()
    for tree in (together, alone):
        tree["scale"] = tw.asarray([1.2, 0.9])
    opt = OPTIMIZERS[name](together)
    each = [OPTIMIZERS[name]([leaf]) for leaf in leaves(alone)]
    for _ in range(4):
        for tree, optimizers in ((together, [opt]), (alone, each)):
            loss(tree).backward()
            # What is stored between is the same then.
            tw.realize(*[leaf.grad for leaf in leaves(tree) if leaf.grad is not None])
            for one in optimizers:
                one.step()
                one.zero_grad()
            tw.realize(*leaves(tree))
    assert numbers(together) == numbers(alone)


def test_joined_parameters_get_the_same_bits_on_the_gpu(webgpu: str) -> None:
    opt = OPTIMIZERS["Adam"]()
    grads = [tw.linspace(-1.0, 0.9, 7), tw.asarray([[1e-3, -5.0, 0.1]])]
    together = [tw.ones(7), tw.full((1, 3), 0.3)]
    alone = [leaf + 0 for leaf in together]
    state, states = opt.init(together), [opt.init(leaf) for leaf in alone]
    for _ in range(2):
        together, state = opt.update(together, grads, state)
        for n in range(2):
            alone[n], states[n] = opt.update(alone[n], grads[n], states[n])
    assert [p.tolist() for p in together] == [p.tolist() for p in alone]


def test_lion_moves_by_the_learning_rate(cpu: str) -> None:
    # Two steps by hand: m = 0, then 0.01 * 2; the second direction is the sign of
    # 0.9 * 0.02 - 0.1 * 0.1 = 0.008.
    params = tw.asarray([1.0])
    opt = tw.optim.Lion(lr=0.25, weight_decay=0.5)
    state = opt.init(params)
    params, state = opt.update(params, tw.asarray([2.0]), state)
    assert params.tolist() == pytest.approx([1 - 0.125 - 0.25])
    params, state = opt.update(params, tw.asarray([-0.1]), state)
    assert params.tolist() == pytest.approx([0.625 - 0.625 * 0.125 - 0.25])


def test_float16_is_updated_in_float32(cpu: str) -> None:
    params = tw.ones(3, dtype=tw.float16)
    opt = tw.optim.Adam(lr=0.01)
    state = opt.init(params)
    assert state.groups[0].moments["second"].dtype is tw.float32
    for _ in range(3):
        grads = tw.full(3, 1e-4, dtype=tw.float16)
        params, state = opt.update(params, grads, state)
    assert params.dtype is tw.float16
    assert params.tolist() == pytest.approx([0.97] * 3, abs=2e-3)


def test_dtypes_and_large_tensors_are_groups_of_their_own(cpu: str) -> None:
    leaves = [
        tw.ones(3),
        tw.ones(2, dtype=tw.float64),
        tw.ones(2**18),
        tw.ones(()),
    ]
    names = ["a", "b", "c", "d"]
    groups = new_groups(names, leaves, {"first": 0.0})
    assert [group.layout.names for group in groups] == [("a", "d"), ("b",), ("c",)]
    assert groups[0].moments["first"].shape == (65,)


def test_parameters_without_a_gradient_stay(cpu: str) -> None:
    params = {"a": tw.ones(2), "b": tw.ones(3)}
    opt = tw.optim.Adam(lr=0.5)
    state = opt.init(params)
    some = {"a": None, "b": tw.ones(3)}
    params, state = opt.update(params, some, state)
    assert params["a"].tolist() == [1, 1]
    every = {"a": tw.ones(2), "b": tw.ones(3)}
    params, state = opt.update(params, every, state)
    # Both have had equal gradients only; the first step of `a` is a first step.
    assert params["a"].tolist() == pytest.approx([0.5, 0.5])
    assert params["b"].tolist() == pytest.approx([0.0] * 3, abs=1e-6)


def test_a_tensor_that_occurs_twice_is_one_parameter(cpu: str) -> None:
    w = tw.ones(2)
    opt = tw.optim.SGD({"a": w, "b": w}, lr=0.5)
    (w * 2).sum().backward()
    opt.step()
    assert w.tolist() == [0, 0]
    assert opt.names == ("a",)


def test_results_of_before_keep_their_values_and_views_follow(device: str) -> None:
    w, bias = tw.ones(2), tw.zeros(2)
    before, view = w[:1].copy(), w[:1]
    opt = tw.optim.SGD([w, bias], lr=1.0)
    (w * tw.asarray([1.0, 2.0]) + bias).sum().backward()
    opt.step()
    assert (before.tolist(), view.tolist()) == ([1], [0])
    assert w.tolist() == [0, -1]
    assert w.is_leaf
    assert w.requires_grad


def test_the_learning_rate_can_be_changed(cpu: str) -> None:
    w = tw.ones(1)
    opt = tw.optim.SGD([w], lr=1.0)
    opt.lr = 0.25
    w.sum().backward()
    opt.step()
    assert w.tolist() == [0.75]
    opt.lr = tw.optim.constant(0.5)
    opt.step()
    assert w.tolist() == [0.25]


def test_schedules_count_the_steps_done(device: str) -> None:
    w = tw.zeros(1)
    opt = tw.optim.SGD([w], lr=lambda step: 1.0 / (1 + step), maximize=True)
    moved = []
    for _ in range(3):
        opt.zero_grad()
        w.sum().backward()
        opt.step()
        moved += w.tolist()
    assert moved == pytest.approx([1, 1.5, 1.5 + 1 / 3])


def test_update_is_differentiable(cpu: str) -> None:
    opt = tw.optim.SGD(lr=0.5)
    state = opt.init({"w": tw.asarray(3.0), "b": tw.asarray(1.0)})

    def after(w: Tensor) -> Tensor:
        params = {"w": w, "b": tw.asarray(1.0)}
        grads = tw.grad(lambda p: p["w"] ** 2 * p["b"])(params)
        found: Tensor = opt.update(params, grads, state)[0]["w"]
        return found**2

    # w - 0.5 * 2w = 0, and a rate of 0.5 makes the gradient 0 as well.
    assert tw.grad(after)(tw.asarray(3.0)).item() == 0
    other = tw.optim.SGD(lr=0.25)
    state = other.init({"w": tw.asarray(3.0), "b": tw.asarray(1.0)})
    opt = other
    assert tw.grad(after)(tw.asarray(3.0)).item() == pytest.approx(2 * 1.5 * 0.5)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ANY.Adam(learning_rate=1), "no option 'learning_rate'.*lr, b"),
        (lambda: tw.optim.SGD(lr=-0.1), r"lr=-0\.1"),
        (lambda: tw.optim.SGD(lr=float("nan")), "lr=nan"),
        (lambda: ANY.SGD(lr="fast"), "lr='fast'"),
        (lambda: tw.optim.SGD(0.1), r"lr=0\.1"),
        (lambda: tw.optim.SGD([], lr=0.1), "no tensor of floats"),
        (lambda: tw.optim.SGD([tw.arange(3)], lr=0.1), "no tensor of floats"),
        (lambda: tw.optim.SGD(nesterov=True), "nesterov=True needs momentum"),
        (lambda: ANY.SGD(dampening="half"), "dampening='half'"),
        (lambda: tw.optim.Adam(betas=(0.9, 1.0)), r"betas\[1\]=1\.0"),
        (lambda: ANY.Adam(betas=0.9), r"betas=0\.9"),
        (lambda: tw.optim.AdamW(weight_decay=-1), "weight_decay=-1"),
        (lambda: ANY.Adafactor(eps=0.1), r"eps=0\.1 are not two"),
        (lambda: ANY.Muon(ns_coefficients=(1, 2)), "not three numbers"),
        (lambda: tw.optim.LBFGS(line_search_fn="armijo"), "'armijo' is neither"),
        (lambda: tw.optim.linear(1.0, 0.0, steps=0), "steps=0"),
        (lambda: tw.optim.cosine(float("inf"), 3), "start=inf"),
        (lambda: tw.optim.warmup_cosine(1.0, 5, 5), "5 steps of warm-up"),
        (lambda: tw.optim.exponential(1.0, -0.5), r"rate=-0\.5"),
        (lambda: tw.optim.clip_by_global_norm([tw.ones(2)], 0), "limit=0"),
    ],
)
def test_wrong_options_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        make()


def test_a_state_of_another_model_is_refused(cpu: str) -> None:
    opt = tw.optim.Adam(lr=0.1)
    state = opt.init({"a": tw.ones(2), "b": tw.ones(3)})
    for params, said in (
        ({"a": tw.ones(2), "b": tw.ones(4)}, r"'b' has shape \(4,\).*\(3,\)"),
        ({"a": tw.ones(2), "c": tw.ones(3)}, "'c'.*the state has none"),
        ({"a": tw.ones(2)}, "it has 'b'"),
    ):
        with pytest.raises(DataError, match=said):
            opt.update(params, params, state)
    with pytest.raises(DataError, match="state is dict"):
        ANY.SGD.update(opt, {"a": tw.ones(2)}, {"a": tw.ones(2)}, {})


def test_wrong_gradients_are_refused(cpu: str) -> None:
    opt = tw.optim.SGD(lr=0.1)
    params = {"a": tw.ones(2), "b": tw.ones(3)}
    state = opt.init(params)
    for grads, said in (
        ({"a": tw.ones(2)}, "'b' is only in one"),
        ({"a": tw.ones(2), "b": tw.ones(2)}, r"'b' is shape \(2,\)"),
        ({"a": tw.ones(2), "b": 1.0}, "'b' is float"),
    ):
        with pytest.raises(DataError, match=said):
            opt.update(params, grads, state)
    with pytest.raises(TransformError, match="no parameter has a gradient"):
        opt.update(params, {"a": None, "b": None}, state)
    own = tw.optim.SGD([tw.ones(2)], lr=0.1)
    with pytest.raises(TransformError, match=r"call loss\.backward\(\) before"):
        own.step()
    with pytest.raises(TransformError, match="given no parameters"):
        opt.step()


def test_parameters_lie_on_one_device(webgpu: str) -> None:
    params = [tw.ones(2), tw.ones(2, device="cpu")]
    with pytest.raises(DeviceError, match=r"'0' on 'webgpu' and '1' on 'cpu'"):
        tw.optim.SGD(params, lr=0.1)


def test_states_are_saved_by_name(cpu: str) -> None:
    params, expected = start(), start()
    opt = OPTIMIZERS["Adam"](params)
    other = OPTIMIZERS["Adam"](expected)
    for tree, one in ((params, opt), (expected, other)):
        for _ in range(3):
            loss(tree).backward()
            one.step()
            one.zero_grad()
    kept = opt.state_dict()
    assert {"step", "learning_rate", "w.first", "inner.0.largest"} <= set(kept)
    again = OPTIMIZERS["Adam"](params)
    again.load_state_dict(kept)
    for tree, one in ((params, again), (expected, other)):
        loss(tree).backward()
        one.step()
    assert numbers(params) == numbers(expected)
    with pytest.raises(DataError, match=r"missing: 'w\.velocity'"):
        OPTIMIZERS["SGD"](params).load_state_dict(kept)
    kept["w.first"] = tw.ones(2)
    with pytest.raises(DataError, match=r"'w\.first' has shape \(2,\)"):
        again.load_state_dict(kept)


def test_states_of_lists_are_loaded_and_wrong_ones_refused(cpu: str) -> None:
    opt = tw.optim.Adam([tw.ones(2)], lr=0.5)
    saved = {name: value.tolist() for name, value in opt.state_dict().items()}
    opt.load_state_dict({**saved, "step": 3, "0.first": [1.0, 2.0]})
    state = opt.state_dict()
    assert (state["step"].item(), state["0.first"].tolist()) == (3, [1, 2])
    for wrong, said in (
        ({"0.missed": [0, 0, 0]}, r"'0\.missed' has shape \(3,\)"),
        ({"more.missed": 0}, r"not known: 'more\.missed'"),
        ({"step": "three"}, "'three'"),
    ):
        with pytest.raises(DataError, match=said):
            opt.load_state_dict({**saved, **wrong})
    assert opt.state_dict()["step"].item() == 3


def test_steps_that_were_missed_are_saved(cpu: str) -> None:
    params = {"a": tw.ones(2), "b": tw.ones(3)}
    opt = tw.optim.Adam(lr=0.5)
    state = opt.init(params)
    some = {"a": None, "b": tw.ones(3)}
    every = {"a": tw.ones(2), "b": tw.ones(3)}
    params, state = opt.update(params, some, state)
    loaded = opt.load_state_dict(opt.state_dict(state), opt.init(params))
    one, _ = opt.update(params, every, state)
    two, _ = opt.update(params, every, loaded)
    assert one["a"].tolist() == two["a"].tolist() == pytest.approx([0.5, 0.5])
    assert one["b"].tolist() == two["b"].tolist()


def test_rows_and_columns_are_saved_split_and_loaded(cpu: str) -> None:
    opt, params = tw.optim.Adafactor(lr=0.1), {"a": tw.ones((2, 3)), "b": tw.ones(4)}
    grads = {"a": tw.reshape(tw.arange(6.0), (2, 3)), "b": tw.arange(4.0)}
    params, state = opt.update(params, grads, opt.init(params))
    params, state = opt.update(params, {**grads, "a": None}, state)
    saved = opt.state_dict(state)
    assert [saved[f"a.{m}"].shape for m in ("row", "column")] == [(2, 1), (1, 3)]
    assert saved["b.row"].shape == (4,)
    loaded = opt.load_state_dict(saved, opt.init(params))
    one, _ = opt.update(params, grads, state)
    two, _ = opt.update(params, grads, loaded)
    assert one["a"].tolist() == two["a"].tolist()


def test_optimisers_that_move_real_matrices_refuse_others(cpu: str) -> None:
    with pytest.raises(DataError, match=r"'b' has shape \(2,\).*AdamW"):
        tw.optim.Muon().init({"a": tw.ones((2, 2)), "b": tw.ones(2)})
    for kind in (tw.optim.Muon, tw.optim.Adafactor):
        with pytest.raises(DataError, match="'a' is complex"):
            kind().init({"a": tw.ones((2, 2), dtype=tw.complex64)})


def test_lbfgs_needs_a_closure_and_its_own_parameters(webgpu: str) -> None:
    w = tw.ones(2)
    with pytest.raises(DataError, match="needs a closure"):
        tw.optim.LBFGS([w]).step()
    with pytest.raises(DataError, match=r"opt\.step\(closure\)"):
        tw.optim.LBFGS().init([w])
    opt = tw.optim.LBFGS([w])
    with pytest.raises(TraceError, match="reads the loss"):
        tw.jit(lambda: opt.step(lambda: w.sum()), updates=(w, opt))()


def test_a_step_calls_a_closure_and_returns_the_loss(cpu: str) -> None:
    w = tw.ones(1)
    opt = tw.optim.SGD([w], lr=0.5)

    def closure() -> Tensor:
        opt.zero_grad()
        loss = (3 * w).sum()
        loss.backward()
        return loss

    assert opt.step(closure) == 3
    assert w.tolist() == [-0.5]


def test_clipping_scales_all_gradients_alike(cpu: str) -> None:
    grads = {"a": tw.asarray([3.0, 0.0]), "b": None, "c": [tw.asarray([[4.0]])]}
    clipped = tw.optim.clip_by_global_norm(grads, 2.5)
    assert clipped["a"].tolist() == pytest.approx([1.5, 0], rel=1e-6)
    assert clipped["c"][0].tolist() == [pytest.approx([2.0], rel=1e-6)]
    assert clipped["b"] is None
    same = tw.optim.clip_by_global_norm(grads, 6)
    assert same["a"].tolist() == [3, 0]
    with pytest.raises(TransformError, match="no gradient"):
        tw.optim.clip_by_global_norm([None], 1.0)


def test_gradients_are_clipped_in_place_and_the_norm_returned(cpu: str) -> None:
    a, b, c = tw.zeros(1).requires_grad_(), tw.zeros(1).requires_grad_(), tw.zeros(1)
    (3 * a + 4 * b).sum().backward()
    assert tw.optim.clip_grad_norm_(iter([a, b, c]), 2.5) == 5
    assert a.grad is not None
    assert a.grad.item() == pytest.approx(1.5)
    assert c.grad is None


@pytest.mark.parametrize("name", ["AdamW", "NAdam", "RAdam", "Adafactor"])
def test_a_recorded_step_is_recorded_once(name: str, webgpu: str) -> None:
    opt = getattr(tw.optim, name)(lr=tw.optim.warmup_cosine(0.1, 2, 10))
    params = start()
    state = opt.init(params)

    @tw.jit
    def step(params: Any, state: Any) -> Any:
        grads = tw.optim.clip_by_global_norm(tw.grad(loss)(params), 0.1)
        return opt.update(params, grads, state)

    plain, own = start(), opt.init(start())
    for _ in range(4):
        params, state = step(params, state)
        grads = tw.optim.clip_by_global_norm(tw.grad(loss)(plain), 0.1)
        plain, own = opt.update(plain, grads, own)
    assert numbers(params) == pytest.approx(numbers(plain), rel=1e-6)
    assert step.recordings <= 2


def test_lbfgs_takes_a_loss_without_curvature() -> None:
    w = tw.asarray([1.0, 2.0])
    w.requires_grad_()
    optimizer = tw.optim.LBFGS([w], line_search_fn="strong_wolfe")

    def closure() -> tw.Tensor:
        optimizer.zero_grad()
        loss = -w.sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert (w > tw.asarray([1.0, 2.0])).all()


def test_a_rate_may_stand_behind_the_parameters() -> None:
    w = tw.asarray([1.0])
    optimizer = tw.optim.SGD([w], 0.5)
    (w * 2).sum().backward()
    optimizer.step()
    assert w.item() == 0.0
    optimizer.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0]
    optimizer.zero_grad()
    assert w.grad is None


def test_schedules_take_counts_of_python_and_stay_on_their_device(device: str) -> None:
    assert tw.optim.multistep(0.5, [2, 4], rate=0.5)(3).item() == 0.25
    with tw.device(device):
        optimizer = tw.optim.SGD([tw.ones(1)], lr=0.5)
        make = tw.optim.lr_scheduler.CosineAnnealingWarmRestarts
        scheduler = make(optimizer, T_0=2, T_mult=2)
        rates = []
        for _ in range(4):
            scheduler.step()
            rates += scheduler.get_last_lr()
        assert rates == pytest.approx([0.25, 0.5, 0.4268, 0.25], abs=1e-4)
