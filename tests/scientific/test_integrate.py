"""Initial value problems agree with SciPy step by step, and derivatives with JAX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, TraceError
from tensorweb.scipy.integrate import odeint, solve_ivp

FILE = Path(__file__).parents[1] / "references" / "scipy.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())


class Module:
    """`cos` of tensors, for the recorded texts."""

    cos = staticmethod(tw.cos)


def field_of(text: str) -> Any:
    function = eval(f"lambda t, y: {text}", {"np": Module})
    return lambda t, y: tw.stack(function(t, y))


@pytest.mark.parametrize("name", RECORDED["solved"])
def test_steps_and_values_are_those_of_scipy(name: str, cpu: str) -> None:
    case = RECORDED["solved"][name]
    text, span, y0, options = case["problem"]
    y = tw.asarray(y0, tw.float64)
    found = solve_ivp(field_of(text), span, y, dense_output=True, **options)
    assert (found.status, found.message) == (case["status"], case["message"])
    assert found.success == (found.status == 0)
    if name == "pole":  # near it rounding decides on the steps
        assert found.t[-1].item() == pytest.approx(case["t"][-1], rel=1e-3)
        return
    assert found.nfev == case["nfev"]
    # Lengths of steps come from differences, of which half of the digits are left.
    assert found.t.tolist() == pytest.approx(case["t"], rel=1e-7)
    for row, expected in zip(found.y.tolist(), case["y"], strict=True):
        assert row == pytest.approx(expected, rel=1e-7, abs=1e-9)
    if case["dense"]:
        assert found.sol is not None
        for row, expected in zip(
            found.sol(RECORDED["dense"]).tolist(), case["dense"], strict=True
        ):
            assert row == pytest.approx(expected, rel=1e-8)


def field(y: Any, t: Any, rate: Any) -> Any:
    return {
        "x": rate * y["x"] - y["x"] * y["z"],
        "z": y["x"] * y["z"] - tw.cos(t) * y["z"],
    }


def total(y0: Any, rate: Any, **options: Any) -> Any:
    found = odeint(field, y0, [0.0, 0.7, 2.0], rate, **options)
    return (found["x"] ** 2).sum() + found["z"][-1, 0]


def start(dtype: tw.DType) -> Any:
    return {"x": tw.asarray([1.0, 0.5], dtype), "z": tw.asarray([0.3, 2.0], dtype)}


def test_trees_and_their_derivatives_are_those_of_jax(cpu: str) -> None:
    y0, rate = start(tw.float64), tw.asarray(1.5, tw.float64)
    found = odeint(field, y0, [0.0, 0.7, 2.0], rate)
    for key, value in RECORDED["odeint"]["values"].items():
        assert tw.asarray(found[key]).tolist() == [pytest.approx(v) for v in value]
    by_y, by_rate = tw.grad(total, argnums=(0, 1))(y0, rate)
    expected = RECORDED["odeint"]["grads"]
    for key, value in expected[0].items():
        assert by_y[key].tolist() == pytest.approx(value, rel=1e-6)
    assert by_rate.item() == pytest.approx(expected[1], rel=1e-6)
    forward = tw.jvp(lambda rate: total(y0, rate), (rate,), (tw.ones_like(rate),))[1]
    assert forward.item() == pytest.approx(expected[1], rel=1e-6)


def test_float32_and_both_devices(device: str) -> None:
    with tw.device(device):
        rate = tw.asarray(1.5).requires_grad_()
        total(start(tw.float32), rate, rtol=1e-4, atol=1e-4).backward()
        expected = RECORDED["odeint"]["grads"][1]
        assert rate.grad.item() == pytest.approx(expected, rel=2e-3)


def test_what_cannot_be_solved_is_refused(cpu: str) -> None:
    with pytest.raises(DataError, match="there is 'RK45' only"):
        solve_ivp(lambda t, y: y, (0, 1), [1.0], "BDF")
    with pytest.raises(DataError, match="outside of t_span, or unsorted"):
        solve_ivp(lambda t, y: y, (0, 1), [1.0], t_eval=[0.5, 2.0])
    with pytest.raises(DataError, match="the derivative of each"):
        solve_ivp(lambda t, y: y[:1], (0, 1), [1.0, 2.0])
    with pytest.raises(DataError, match=r"at t=1\.0.* became too small"):
        odeint(lambda y, t: y * y, tw.asarray(1.0, tw.float64), [0.0, 2.0])
    same = odeint(lambda y, t: -y, tw.asarray([3.0]), [2.0, 2.0])
    assert same.tolist() == [[3.0], [3.0]]


def swing(y: Any, t: Any, stiffness: Any) -> Any:
    return tw.stack([y[1], -stiffness * tw.sin(y[0])])


def test_examples_of_vmap_take_the_steps_of_the_hardest(device: str) -> None:
    start = tw.asarray([[0.1, 0.0], [2.5, -1.0]])
    stiffness = tw.asarray([1.0, 3.0])

    def last(stiffness: Any, y: Any) -> Any:
        return odeint(swing, y, [0.0, 1.0], stiffness, rtol=1e-5, atol=1e-6)[-1]

    alone = [last(k, y) for k, y in zip(stiffness, start, strict=True)]
    together = tw.vmap(last)(stiffness, start)
    assert abs(together - tw.stack(alone)).max().item() < 2e-5
    derivatives = tw.vmap(tw.grad(lambda k, y: last(k, y)[0]))(stiffness, start)
    for derivative, k, y in zip(derivatives, stiffness, start, strict=True):
        expected = tw.grad(lambda k, y=y: last(k, y)[0])(k)
        assert derivative.item() == pytest.approx(expected.item(), abs=1e-4)
    by_time = tw.vmap(
        lambda y: solve_ivp(decaying, (0.0, 1.0), y, t_eval=[0.5, 1.0], rtol=1e-5).y
    )(start[:, :1])
    assert by_time.shape == (2, 1, 2)
    assert by_time[1, 0].tolist() == pytest.approx([1.5163, 0.9197], abs=1e-3)


def test_jit_records_no_steps_that_depend_on_its_arguments(webgpu: str) -> None:
    def solved(y: Any) -> Any:
        return odeint(swing, y, [0.0, 1.0], 1.0, rtol=1e-4)[-1]

    start = tw.asarray([0.1, 0.0])
    with pytest.raises(TraceError, match=r"odeint: steps.*y, ys = tw\.scan"):
        tw.jit(solved)(start)
    with pytest.raises(TraceError, match="odeint: steps"):
        tw.jit(tw.vmap(solved))(start[None])
    moved = tw.jit(lambda y: y + solved(start))(start)
    assert moved[0].item() == pytest.approx(0.1 + solved(start)[0].item(), rel=1e-5)


def decaying(t: Any, y: Any) -> Any:
    return -y


ENDLESS = {
    "a function that ends at 0.5": lambda t, y: -tw.sqrt(0.5 - t) * y,
    "NaN": lambda t, y: y * tw.nan,
    "infinity": lambda t, y: y * tw.inf,
}


@pytest.mark.parametrize("name", ENDLESS)
def test_rates_that_are_no_numbers_end_the_steps(name: str, cpu: str) -> None:
    found = solve_ivp(ENDLESS[name], (0.0, 1.0), [1.0], dense_output=True)
    assert found.status == -1
    assert found.message == "Required step size is less than spacing between numbers."
    assert found.nfev < 600  # SciPy takes 518 in float64
    assert found.t[-1].item() <= 0.5


def test_empty_problems_are_solved_as_in_scipy(cpu: str) -> None:
    span = (0.0, 1.0)
    none = solve_ivp(decaying, span, [1.0], t_eval=[])
    assert (none.t.shape, none.y.shape, none.status) == ((0,), (1, 0), 0)
    still = solve_ivp(decaying, (2.0, 2.0), [1.0], dense_output=True)
    assert (still.t.tolist(), still.y.tolist(), still.nfev) == ([2, 2], [[1, 1]], 1)
    assert still.sol is not None
    assert still.sol(2.0).tolist() == [1.0]
    empty = solve_ivp(decaying, span, tw.zeros(0))
    assert (empty.t.tolist(), empty.y.shape, empty.status) == ([0, 1], (0, 2), 0)


def test_steps_and_times_must_be_possible(cpu: str) -> None:
    with pytest.raises(DataError, match=r"solve_ivp: the longest step, 0"):
        solve_ivp(decaying, (0.0, 1.0), [1.0], max_step=0)
    with pytest.raises(DataError, match=r"times 0\.0 to nan are not finite"):
        solve_ivp(decaying, (0.0, tw.nan), [1.0])
    with pytest.raises(DataError, match="odeint: there are no times"):
        odeint(lambda y, t: -y, tw.ones(1), [])
