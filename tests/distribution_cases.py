"""Distributions with parameters, and values to take log densities of; in both names."""

from __future__ import annotations

from typing import Any

CASES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "normal": ("Normal", {"loc": [0.5, -1.0], "scale": [[2.0], [0.25]]}, [0.1, -3.0]),
    "log-normal": ("LogNormal", {"loc": 0.25, "scale": 0.5}, [0.1, 1.0, 4.0]),
    "laplace": ("Laplace", {"loc": [0.0, 1.0], "scale": [0.5, 3.0]}, [-2.0, 1.5]),
    "uniform": ("Uniform", {"low": [-1.0, 0.0], "high": 2.5}, [0.5, 1.0]),
    "exponential": ("Exponential", {"rate": [0.5, 4.0]}, [0.0, 1.25]),
    "bernoulli": ("Bernoulli", {"probs": [0.25, 0.9]}, [1.0, 0.0]),
    "bernoulli, logits": ("Bernoulli", {"logits": [-2.0, 30.0]}, [[1.0], [0.0]]),
    "categorical": (
        "Categorical",
        {"probs": [[1.0, 2.0, 5.0], [0.1, 0.7, 0.2]]},
        [2, 0],
    ),
    "categorical, logits": (
        "Categorical",
        {"logits": [0.5, -1.0, 3.0]},
        [[0, 1], [2, 2]],
    ),
    "vectors": (
        "MultivariateNormal",
        {"loc": [1.0, -0.5], "covariance_matrix": [[2.0, 0.6], [0.6, 0.5]]},
        [[0.0, 0.0], [1.0, 2.0], [-3.0, 0.25]],
    ),
    "vectors, factor": (
        "MultivariateNormal",
        {
            "loc": [[0.0, 1.0], [2.0, -2.0]],
            "scale_tril": [[[1.0, 0.0], [0.5, 2.0]], [[0.25, 0.0], [-1.0, 0.5]]],
        },
        [0.5, 0.25],
    ),
    "gamma": (
        "Gamma",
        {"concentration": [0.5, 3.0], "rate": [[2.0], [0.25]]},
        [0.3, 4.0],
    ),
    "chi-square": ("Chi2", {"df": [1.0, 5.0]}, [0.3, 4.0]),
    "beta": (
        "Beta",
        {"concentration1": [0.5, 3.0], "concentration0": [2.0, 1.5]},
        [0.3, 0.9],
    ),
    "shares": (
        "Dirichlet",
        {"concentration": [[0.5, 3.0, 1.0], [2.0, 2.0, 9.0]]},
        [0.2, 0.3, 0.5],
    ),
    "student": ("StudentT", {"df": [0.5, 4.0], "loc": 1.0, "scale": 2.0}, [0.3, 9.0]),
    "half normal": ("HalfNormal", {"scale": [0.5, 2.0]}, [0.3, 1.0]),
    "half cauchy": ("HalfCauchy", {"scale": [0.5, 2.0]}, [0.3, 1.0]),
    "cauchy": ("Cauchy", {"loc": [0.5, -1.0], "scale": [2.0, 0.5]}, [0.3, 40.0]),
    "gumbel": ("Gumbel", {"loc": [0.5, -1.0], "scale": [2.0, 0.5]}, [0.3, 4.0]),
    "weibull": (
        "Weibull",
        {"scale": [0.5, 2.0], "concentration": [[1.5], [4.0]]},
        [0.3, 1.0],
    ),
    "pareto": ("Pareto", {"scale": [0.5, 2.0], "alpha": [[1.5], [6.0]]}, [0.6, 3.0]),
    "inverse gamma": (
        "InverseGamma",
        {"concentration": [1.5, 5.0], "rate": [[2.0], [0.25]]},
        [0.3, 4.0],
    ),
    "binomial": (
        "Binomial",
        {"total_count": [3.0, 20.0], "probs": [0.25, 0.9]},
        [3.0, 17.0],
    ),
    "poisson": ("Poisson", {"rate": [0.5, 20.0]}, [0.0, 17.0]),
    "geometric": ("Geometric", {"probs": [0.25, 0.9]}, [3.0, 0.0]),
    "negative binomial": (
        "NegativeBinomial",
        {"total_count": [2.0, 5.5], "probs": [0.25, 0.8]},
        [3.0, 11.0],
    ),
    "one-hot categorical": (
        "OneHotCategorical",
        {"logits": [0.5, -1.0, 3.0]},
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ),
}
"""By name: the class, its parameters, and values."""

CHANCES = [0.1, 0.75]
"""Probabilities whose quantiles are taken."""

OTHERS: dict[str, dict[str, Any]] = {
    "normal": {"loc": 0.0, "scale": [1.5, 0.5]},
    "gamma": {"concentration": [1.5, 2.0], "rate": 0.75},
    "chi-square": {"df": 2.0},
    "beta": {"concentration1": 1.0, "concentration0": [0.5, 4.0]},
    "shares": {"concentration": [1.0, 2.0, 0.5]},
    "half normal": {"scale": 1.5},
    "poisson": {"rate": [2.0, 15.0]},
    "geometric": {"probs": 0.5},
    "one-hot categorical": {"probs": [0.2, 0.3, 0.5]},
    "log-normal": {"loc": [0.0, 1.0], "scale": 2.0},
    "laplace": {"loc": 0.25, "scale": [1.0, 2.0]},
    "uniform": {"low": [-2.0, 0.5], "high": 3.0},
    "exponential": {"rate": 1.5},
    "bernoulli": {"probs": [0.5, 0.125]},
    "categorical": {"probs": [0.2, 0.3, 0.5]},
    "vectors": {"loc": [0.0, 0.0], "covariance_matrix": [[1.0, -0.25], [-0.25, 3.0]]},
    "vectors, factor": {"loc": [0.5, 0.0], "scale_tril": [[2.0, 0.0], [0.5, 1.0]]},
}
"""A second distribution of the class, for the divergence."""
