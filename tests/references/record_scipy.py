"""Print what SciPy's and JAX's solvers find, which `scipy.json` keeps.

No test runs it. In an environment that has SciPy and JAX:

    python tests/references/record_scipy.py > tests/references/scipy.json
"""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

# By name: right-hand side of (t, y) with `np`, interval, begin, options.
PROBLEMS: dict[str, tuple[str, list[float], list[float], dict[str, Any]]] = {
    "decay": ("[-0.5 * y[0]]", [0, 10], [2.0], {}),
    "lotka": (
        "[1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]]",
        [0, 6],
        [1.0, 0.5],
        {"rtol": 1e-6, "atol": 1e-8, "t_eval": [0.0, 0.3, 1.7, 1.8, 4.0, 6.0]},
    ),
    "backwards": (
        "[y[1], np.cos(t) - 0.2 * y[1] - y[0]]",
        [3, -2],
        [0.3, -1.0],
        {"rtol": 1e-8, "max_step": 0.4},
    ),
    "pole": ("[y[0] * y[0]]", [0, 2], [1.0], {}),
}
# By name: a function of a vector `x` with `np`, and where to begin.
MINIMA: dict[str, tuple[str, list[float]]] = {
    "rosenbrock": (
        "(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()",
        [1.3, 0.7, 0.8, 1.9, 1.2],
    ),
    "quadratic": ("((x - 3) ** 2 * np.asarray([1.0, 10.0, 100.0])).sum()", [0, 0, 0]),
    "saddle": ("x[0] ** 4 - x[0] ** 2 + x[1] ** 2 + 0.1 * x[0]", [0.1, 1.0]),
    "himmelblau": (
        "(x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2",
        [4.0, 3.0],
    ),
    "waves": ("(np.sin(x) + 0.1 * x**2).sum()", [0.5, -0.5, 0.2]),
}
DENSE = [0.1, 0.55, 1.9, 3.3]


def main() -> None:
    """Print one line of JSON."""
    np, jax = import_module("numpy"), import_module("jax")
    jax.config.update("jax_enable_x64", True)
    integrate = import_module("scipy.integrate")
    ode = import_module("jax.experimental.ode")
    solved = {}
    for name, (text, span, y0, options) in PROBLEMS.items():
        fun = eval(f"lambda t, y: {text}", {"np": np})
        found = integrate.solve_ivp(fun, span, y0, dense_output=True, **options)
        solved[name] = {
            "problem": (text, span, y0, options),
            "t": found.t.tolist(),
            "y": found.y.tolist(),
            "nfev": found.nfev,
            "status": found.status,
            "message": found.message,
            "dense": found.sol(DENSE).tolist() if name == "lotka" else None,
        }

    def end(y0: Any, rate: Any) -> Any:
        def field(y: Any, t: Any, rate: Any) -> Any:
            return {
                "x": rate * y["x"] - y["x"] * y["z"],
                "z": y["x"] * y["z"] - jax.numpy.cos(t) * y["z"],
            }

        times = jax.numpy.asarray([0.0, 0.7, 2.0])
        return ode.odeint(field, y0, times, rate)

    y0 = {"x": jax.numpy.asarray([1.0, 0.5]), "z": jax.numpy.asarray([0.3, 2.0])}

    def total(y0: Any, rate: Any) -> Any:
        found = end(y0, rate)
        return (found["x"] ** 2).sum() + found["z"][-1, 0]

    minimize = import_module("scipy.optimize").minimize
    minima = {}
    for name, (text, x0) in MINIMA.items():
        function = eval(f"lambda x: {text}", {"np": jax.numpy})
        found = minimize(
            jax.jit(function), x0, jac=jax.jit(jax.grad(function)), tol=1e-9
        )
        minima[name] = {
            "problem": (text, x0),
            "x": found.x.tolist(),
            "fun": float(found.fun),
            "nit": found.nit,
        }
    grads = jax.grad(total, (0, 1))(y0, 1.5)
    values = end(y0, 1.5)
    print(
        json.dumps(
            {
                "dense": DENSE,
                "minima": minima,
                "solved": solved,
                "odeint": {
                    "values": {key: value.tolist() for key, value in values.items()},
                    "grads": [
                        {key: value.tolist() for key, value in grads[0].items()},
                        float(grads[1]),
                    ],
                },
            },
            separators=(",", ":"),
        )
    )


if __name__ == "__main__":
    main()
