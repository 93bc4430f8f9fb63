"""Each method finds the minima of SciPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from tensorweb.errors import DataError, TraceError
from tensorweb.scipy.optimize import minimize

FILE = Path(__file__).parents[1] / "references" / "scipy.json"
RECORDED: dict[str, Any] = json.loads(FILE.read_text())["minima"]
METHODS = ["BFGS", "L-BFGS", "Newton-CG"]


class Module:
    """`np` of the recorded texts."""

    sin = staticmethod(tw.sin)

    @staticmethod
    def asarray(values: Any) -> tw.Tensor:
        return tw.asarray(values, tw.float64)


def function_of(name: str) -> Any:
    return eval(f"lambda x: {RECORDED[name]['problem'][0]}", {"np": Module})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", RECORDED)
def test_minima_are_those_of_scipy(name: str, method: str, cpu: str) -> None:
    case = RECORDED[name]
    x0 = tw.asarray(case["problem"][1], tw.float64)
    found = minimize(function_of(name), x0, method=method, tol=1e-8)
    assert (found.success, found.status) == (True, 0)
    assert found.fun.item() == pytest.approx(case["fun"], rel=1e-9, abs=1e-12)
    assert found.x.tolist() == pytest.approx(case["x"], rel=1e-6, abs=1e-7)
    assert abs(found.jac).max() <= 1e-8
    assert found.nit <= case["nit"] * (1 if method == "Newton-CG" else 1.5)
    assert found.nfev >= found.nit


def test_the_inverse_hessian_of_a_quadratic_function(cpu: str) -> None:
    found = minimize(function_of("quadratic"), tw.zeros(3, tw.float64), tol=1e-12)
    assert found.hess_inv is not None
    diagonal = found.hess_inv[tw.arange(3), tw.arange(3)]
    assert diagonal.tolist() == pytest.approx([0.5, 0.05, 0.005], rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_a_tree_with_arguments_on_each_device(method: str, device: str) -> None:
    def loss(tree: Any, x: Any, y: Any) -> Any:
        return ((x * tree["w"] + tree["b"][0] - y) ** 2).mean()

    with tw.device(device):
        x = tw.linspace(-1.0, 1.0, 12)
        start = {"w": 0.0, "b": [tw.asarray(1.0)]}
        points: list[Any] = []
        found = minimize(
            loss, start, (x, 3 * x - 2), method, tol=1e-3, callback=points.append
        )
    assert found.success
    assert found.x["w"].item() == pytest.approx(3, abs=1e-2)
    assert found.x["b"][0].item() == pytest.approx(-2, abs=1e-2)
    assert len(points) == found.nit
    assert points[-1]["w"].item() == found.x["w"].item()


def test_searches_that_end_early_say_why(cpu: str) -> None:
    rosenbrock = function_of("rosenbrock")
    x0 = tw.asarray(RECORDED["rosenbrock"]["problem"][1], tw.float64)
    found = minimize(rosenbrock, x0, options={"maxiter": 2})
    assert (found.status, found.nit, found.success) == (1, 2, False)
    found = minimize(rosenbrock, x0.astype(tw.float32), tol=0.0)
    assert (found.status, found.success) == (2, False)
    assert found.x.tolist() == pytest.approx([1.0] * 5, abs=1e-2)
    assert minimize(lambda x: x * float("nan"), 1.0).status == 3
    with pytest.raises(DataError, match="there is no method 'SLSQP'"):
        minimize(rosenbrock, x0, method="SLSQP")
    with pytest.raises(DataError, match="there is no option 'ftol'"):
        minimize(rosenbrock, x0, options={"ftol": 1.0})
    with pytest.raises(TraceError, match=r"tw\.fori_loop\(0, 100"):
        tw.vmap(lambda x: minimize(rosenbrock, x).x)(x0[None])


def test_odd_arguments_mean_what_they_do_for_scipy(cpu: str) -> None:
    def far(x: Any, goal: Any) -> Any:
        return ((x - goal) ** 2).sum()

    def stop(x: Any) -> None:
        raise StopIteration

    assert minimize(far, tw.ones(2), args=3.0).x.tolist() == pytest.approx([3, 3])
    found = minimize(far, tw.ones(2), 3.0, callback=stop)
    assert (found.nit, found.status, found.success) == (1, 99, False)
    assert found.message == "`callback` raised `StopIteration`."
    with pytest.raises(DataError, match="minimize: x0 has no numbers"):
        minimize(far, tw.zeros(0), 3.0)
