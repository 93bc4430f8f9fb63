"""The API reference: every parameter has a meaning, every function a result."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
from pathlib import Path

import pytest

import tensorweb as tw
import tensorweb.numpy as np
from tools import parameters, reference
from tools.parameter_meanings import LIKE, MEANINGS, PARAMETER_TYPES, TYPES
from tools.sphinx_entries import field_list

CALLABLES = dict(parameters.callables())


def test_every_parameter_has_a_type_and_a_meaning() -> None:
    missing = [
        f"{name}: {parameter}"
        for name, value in CALLABLES.items()
        for parameter, kind, _, text in parameters.fields(name, value)
        if not text or not (kind or name.startswith("tensorweb.numpy.atleast_"))
    ]
    assert missing == [], "write Args in the docstring, or a row of the tables"
    assert len(CALLABLES) > 1000


def test_types_are_words_or_public_names() -> None:
    public = {name.rpartition(".")[2] for name in reference.all_names()}
    known = {*public, *(f"{name}s" for name in public), "None", "NumPy"}
    private = {}
    for name, value in CALLABLES.items():
        types = [row[1] for row in parameters.fields(name, value)]
        if not inspect.isclass(value):
            types.append(parameters.result(name, value).type)
        for word in re.findall(r"\b[A-Z]\w*", " ".join(types)):
            if word not in known:
                private[name] = word
    assert private == {}


def test_every_result_is_described() -> None:
    missing = []
    for name, value in CALLABLES.items():
        found = None if inspect.isclass(value) else parameters.result(name, value)
        if found and parameters.VAGUE.search(found.type) and not found.text:
            missing.append(name)
    assert missing == []


def test_every_entry_has_an_example() -> None:
    """Except errors, and methods that the example of their class or function shows.

    The methods of a kernel in WGSL need a GPU, which examples have not.
    """
    shown = ("tensorweb.random.Generator.", "tensorweb.Kernel.")
    shown += tuple(f"tensorweb.distributions.{x}." for x in tw.distributions.__all__)
    missing = [
        name
        for name, value in CALLABLES.items()
        if ">>>" not in (inspect.getdoc(value) or "")
        and not (inspect.isclass(value) and issubclass(value, BaseException))
        and name.rpartition(".")[2] not in ("forward", "extra_repr")
        and not name.startswith(shown)
    ]
    assert missing == []


def test_every_row_about_parameters_is_used() -> None:
    used, scopes = set(), set()
    for name, value in CALLABLES.items():
        found = parameters.signature(value)
        for parameter in found.parameters if found else ():
            meant = parameters.meaning(name, value, parameter)
            used.add((meant.row, parameter))
            scopes.add((meant.row, meant.scope))
    rows = {(row, name) for row, texts in MEANINGS.items() for name in texts}
    named = {(row, scope) for row in MEANINGS for scope in row.split()}
    assert rows - used == set()
    assert named - scopes == set()


def test_every_row_about_results_is_used() -> None:
    used = {
        parameters.result(name, value).scope
        for name, value in CALLABLES.items()
        if not inspect.isclass(value)
    }
    assert parameters.results().keys() - used == set()
    entries = {parameters.short(name) for name in CALLABLES}
    assert parameters.result_types().keys() - entries == set()


def test_models_and_names_of_types_are_used() -> None:
    entries = {parameters.short(name) for name in CALLABLES}
    assert {*LIKE, *parameters.models()} - entries == set()
    annotations = {
        str(each.annotation)
        for value in CALLABLES.values()
        if (found := parameters.signature(value))
        for each in (*found.parameters.values(), Annotated(found.return_annotation))
    }
    text = " ".join(annotations)
    assert [name for name in TYPES if name not in text] == []
    names = {
        row[0]
        for name, value in CALLABLES.items()
        for row in parameters.fields(name, value)
    }
    assert PARAMETER_TYPES.keys() - names == set()


class Annotated:
    """An annotation, as a parameter has one."""

    def __init__(self, annotation: object) -> None:
        self.annotation = annotation


def test_two_meanings_of_a_parameter_are_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(MEANINGS, "tw.nn.GLU tw.nn.Softmax", {"dim": "another one."})
    monkeypatch.setattr(parameters, "meanings", parameters.meanings.__wrapped__)
    with pytest.raises(LookupError, match=r"tw\.nn\.GLU has two meanings of dim"):
        parameters.meanings()


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("ArrayLike", "array_like"),
        ("SupportsIndex | Iterable[SupportsIndex]", "int or iterable of ints"),
        ("int | None", "int"),
        ("tuple[float, float]", "pair of floats"),
        ("tuple[int, str]", "(int, str)"),
        ("Mapping[str, Any]", "dict of objects"),
        ("Sequence[ArrayLike]", "list of array_like"),
        ("Callable[[int], int] | None", "callable"),
        ("builtins.bool", "bool"),
    ],
)
def test_types_are_words(annotation: str, words: str) -> None:
    assert parameters.in_words(annotation) == words


def test_a_docstring_wins_over_the_table() -> None:
    meant = parameters.meaning("tensorweb.fft.fft", tw.fft.fft, "axis")
    assert meant.text == "the axis of the transform."
    assert meant.row == ""


def test_an_optimiser_says_what_its_base_says() -> None:
    meant = parameters.meaning("tensorweb.optim.AdamW", tw.optim.AdamW, "betas")
    assert meant.text == "decay rates of both moving averages, below 1."


def test_an_entry_shows_types_defaults_results_and_errors() -> None:
    text = field_list("tensorweb.Tensor.sum", tw.Tensor.sum)
    assert "<strong>axis</strong> (<em>int or tuple of ints</em>, default <code" in text
    assert "<em>Tensor</em>" in text
    assert 'href="errors.html#tensorweb.AxisError"' in text
    assert "href" not in field_list("tensorweb.nn.MSELoss", tw.nn.MSELoss)
    drawn = field_list("tensorweb.random.Generator.normal", tw.random.Generator.normal)
    assert "<strong>key" not in drawn
    assert "<strong>shape" in drawn
    assert "<strong>*shape</strong>" in field_list(
        "tensorweb.Tensor.reshape", tw.Tensor.reshape
    )


def test_results_of_the_op_table_are_true() -> None:
    """What the reference says of a result's dtype is what it is."""
    x = tw.asarray([[1, 0, 2]], dtype="int8")
    wrong = []
    for name, value in reference.names("tensorweb").items():
        last = name.rpartition(".")[2]
        entry = parameters.OPS.get(last)
        if entry is None or entry.kind != "map" or entry.accepts == "floating":
            continue
        text = parameters.result(name, value).text
        made = value(*[x] * entry.arity)
        kinds = {"same dtype": "int8", "and dtype": "int8", "promoted": "int8"}
        kinds = {**kinds, "float32": "float32", "; bool.": "bool"}
        said = [dtype for words, dtype in kinds.items() if words in text]
        if str(made.dtype) != said[-1] or made.shape != x.shape:
            wrong.append(f"{name}: {text} but {made.dtype}")
    assert wrong == []


def test_an_entry_states_the_errors_that_its_code_raises() -> None:
    lacking = {}
    for name, value in CALLABLES.items():
        function = inspect.unwrap(value.__init__ if inspect.isclass(value) else value)
        code = getattr(function, "__code__", None)
        # Those of dataclasses have no file.
        if not code or not Path(code.co_filename).is_file():
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        raised = {
            ast.unparse(node.exc.func).rpartition(".")[2]
            for node in ast.walk(tree)
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        }
        errors = {error for error in raised if error.endswith("Error")}
        if lack := errors - parameters.errors(name, value).keys():
            lacking[name] = lack
    assert lacking == {}


X = tw.asarray([[1.0, 2.0], [3.0, 4.0]])
KEY = tw.random.key(0)
GENERATOR = tw.random.Generator(0)
ARGUMENTS: dict[str, tuple[object, ...]] = {
    "tw.random.choice": (KEY, X, 2),
    "tw.random.permutation": (KEY, X),
    "tw.random.Generator.categorical": (GENERATOR, X),
    "tw.random.Generator.choice": (GENERATOR, X, 2),
    "tw.random.Generator.permutation": (GENERATOR, X),
    "tw.optim.optax.softmax_cross_entropy_with_integer_labels": (X, [0, 1]),
    "np.apply_along_axis": (len,),
    "np.compress": ([True, False], X),
    "np.packbits": ([1, 0],),
    "np.unpackbits": (X.astype("uint8"),),
    "np.quantile": (X, 0.5),
    "np.nanquantile": (X, 0.5),
    "np.ufunc.reduce": (np.add, X),
    "np.ufunc.accumulate": (np.add, X),
    "np.ufunc.reduceat": (np.add, X, [0, 1]),
    "np.lib.stride_tricks.sliding_window_view": (X, 2),
}
"""Arguments before `axis`, where they are not tensors of two axes."""


def test_an_axis_that_does_not_exist_is_the_stated_error() -> None:
    found = {}
    for name, value in CALLABLES.items():
        taken = parameters.signature(value)
        entry = parameters.short(name)
        if inspect.isclass(value) or not taken or "axis" not in taken.parameters:
            continue
        if entry.startswith("tw.shapes."):
            continue  # these take counts of axes instead of tensors
        before = itertools.takewhile(
            lambda each: each.name != "axis", taken.parameters.values()
        )
        given = [X for each in before if each.default is each.empty]
        if entry.startswith("x."):
            given = [X, *(tw.asarray([0, 1]) for _ in given)]
        options = {"arr": X} if entry == "np.apply_along_axis" else {}
        with pytest.raises(Exception) as raised:  # noqa: PT011  # compared below
            value(*ARGUMENTS.get(entry, given), axis=7, **options)
        found[entry] = raised.type.__name__
    assert {k: v for k, v in found.items() if v != "AxisError"} == {}
    assert len(found) > 150
