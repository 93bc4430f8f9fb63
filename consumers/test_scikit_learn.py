"""scikit-learn with `array_api_dispatch`: tensors give what NumPy's arrays give."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import sklearn

import tensorweb as tw
from consumers.scikit_learn_cases import CASES

MODULES = (
    *("base", "cluster", "decomposition", "discriminant_analysis"),
    *("kernel_approximation", "linear_model", "metrics", "metrics.pairwise", "mixture"),
    *("model_selection", "naive_bayes", "pipeline", "preprocessing", "utils"),
    *("utils.class_weight", "utils.extmath", "utils.multiclass"),
)

NARROWS = "ignore::tensorweb.errors.NarrowedDataWarning"


def names() -> dict[str, Any]:
    """Return every public name of scikit-learn's modules."""
    found: dict[str, Any] = {"np_array": np.asarray}
    for module in MODULES:
        library = importlib.import_module(f"sklearn.{module}")
        found |= {k: v for k, v in vars(library).items() if not k.startswith("_")}
    return found


def data(wrap: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the arrays that the cases name."""
    random = np.random.default_rng(7)
    arrays = {
        "X": random.normal(size=(30, 5)) * [1, 2, 3, 4, 5],
        "Z": random.normal(size=(30, 5)),
        "S": random.random((30, 3)),
        "s": random.random(30),
        "t": random.random(30) + 0.5,
        "u": random.random(30) + 0.5,
    }
    labels = {
        "y": np.arange(30) % 3,
        "p": random.integers(0, 3, 30),
        "b": random.integers(0, 2, 30),
        "G": random.integers(0, 3, (30, 3)),
    }
    made = {name: wrap(value.astype(np.float32)) for name, value in arrays.items()}
    return made | {name: wrap(v.astype(np.int32)) for name, v in labels.items()}


def leaves(value: object) -> Iterator[Any]:
    """Yield the arrays and numbers of a result."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from leaves(part)
    else:
        yield np.asarray(value) if hasattr(value, "__array__") else value


@pytest.mark.filterwarnings(NARROWS)
@pytest.mark.parametrize("name", CASES)
def test_scikit_learn(name: str) -> None:
    tw.narrow_dtypes()
    found = []
    for wrap in (np.asarray, tw.asarray):
        with sklearn.config_context(array_api_dispatch=True), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(eval(CASES[name], names() | data(wrap)))
    expected, given = (list(leaves(result)) for result in found)
    assert len(expected) == len(given)
    for a, b in zip(expected, given, strict=True):
        if isinstance(a, str):
            assert a == b
        else:
            np.testing.assert_allclose(b, a, rtol=2e-3, atol=2e-4)
