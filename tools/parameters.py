"""The parameters and results of public names: types in words, and what they mean.

The API reference shows them; tests require that each parameter has a meaning. What a
docstring says wins over the tables, `tools/parameter_meanings.py` and
`tools/result_meanings.py`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import tensorweb as tw
import tensorweb.numpy
from tensorweb.ops import OPS
from tools import reference
from tools.parameter_meanings import (
    LIKE,
    MEANINGS,
    PARAMETER_ERRORS,
    PARAMETER_TYPES,
    TYPES,
)
from tools.result_meanings import ONE_OPERAND, RESULT_TYPES, RESULTS, TWO_OPERANDS

LAST = {"tensorweb": "tw", "tensorweb.numpy": "np", "tensorweb.Tensor": "x"}
"""Scopes by the names that the tables write."""


class Meaning(NamedTuple):
    """What a parameter means, and the row and scope that say it; a docstring has none.

    Attributes:
        text: a phrase; empty if nothing says it.
        row: the scopes of the row.
        scope: the one of them that the entry is in.
    """

    text: str = ""
    row: str = ""
    scope: str = ""


def short(name: str) -> str:
    """Return a full name as the tables write it: `np.sum`, `x.sum`, `tw.nn.Linear`."""
    return reference.short(name) if name.count(".") else name


@cache
def meanings() -> dict[tuple[str, str], Meaning]:
    """Return the table by scope and parameter.

    Raises:
        LookupError: two rows give the same parameter of a scope a meaning.
    """
    found: dict[tuple[str, str], Meaning] = {}
    for row, texts in MEANINGS.items():
        for scope in row.split():
            for parameter, text in texts.items():
                if (scope, parameter) in found:
                    raise LookupError(f"{scope} has two meanings of {parameter}")
                found[scope, parameter] = Meaning(text, row, scope)
    return found


@cache
def models() -> dict[str, str]:
    """Return the entry whose arguments another entry has."""
    return {
        entry: model for model, entries in LIKE.items() for entry in entries.split()
    }


def signature(value: Any) -> inspect.Signature | None:
    """Return the parameters and result of a callable, as Python reports them."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    kept = [each for each in found.parameters.values() if each.name != "self"]
    if value in vars(tw.random.Generator).values() and hasattr(value, "__wrapped__"):
        kept = kept[1:]  # the key, which the generator draws
    return found.replace(parameters=kept)


def scopes(entry: str) -> Iterator[str]:
    """Yield the scopes of an entry, the narrowest first."""
    parts = entry.split(".")
    for count in range(len(parts), 0, -1):
        yield ".".join(parts[:count])
    yield "*"


def meaning(name: str, value: Any, parameter: str) -> Meaning:
    """Return what a parameter of an entry means."""
    entry = short(name)
    if text := documented(value).get(parameter):
        return Meaning(text)
    table = meanings()
    if exact := table.get((entry, parameter)):
        return exact
    model = getattr(value, "_function", None) or _model(entry)
    seen = {id(value)}
    while model is not None and id(model) not in seen:
        seen.add(id(model))
        if text := documented(model).get(parameter):
            return Meaning(text)
        full = reference.firsts().get(id(model))
        model = _model(short(full)) if full else None
    found = (table.get((scope, parameter)) for scope in scopes(entry))
    return next((each for each in found if each), Meaning())


def _model(entry: str) -> Any:
    """Return the callable whose arguments an entry has."""
    parts = entry.split(".")
    if parts[:3] == ["tw", "random", "Generator"] and len(parts) == 4:
        return getattr(tw.random, parts[3], None)
    model = models().get(entry)
    return named(model) if model else None


def named(entry: str) -> Any:
    """Return the value that the tables name."""
    first, _, rest = entry.partition(".")
    value: Any = {"tw": tw, "np": tw.numpy, "x": tw.Tensor}[first]
    for part in rest.split("."):
        value = getattr(value, part)
    return value


SECTION = re.compile(r"(Args|Attributes|Returns|Raises|Yields):\s*")


def documented(value: Any) -> dict[str, str]:
    """Return what docstrings say about parameters, of a class its bases' too."""
    found: dict[str, str] = {}
    for text in docstrings(value):
        for name, meant in _items(text, "Args", "Attributes").items():
            found.setdefault(name, meant)
    return found


def docstrings(value: Any) -> list[str]:
    """Return the docstrings that describe a call, cleaned."""
    if not inspect.isclass(value):
        return [inspect.getdoc(value) or ""]
    found = []
    for base in value.__mro__:
        if base.__module__.startswith("tensorweb"):
            made = vars(base).get("__init__") or vars(base).get("__new__")
            found += [made.__doc__ or "" if made else "", base.__doc__ or ""]
    return [inspect.cleandoc(text) for text in found]


@cache
def _items(text: str, *titles: str) -> dict[str, str]:
    """Return the items of some sections of a docstring."""
    found: dict[str, str] = {}
    section = name = ""
    for line in text.split("\n"):
        if head := SECTION.fullmatch(line):
            section = head[1]
        elif line and line[0] != " ":
            section = ""
        elif section in titles and line.strip():
            item = re.match(r"    \*{0,2}(\w+): *(.*)", line)
            if item:
                name = item[1]
                found[name] = item[2]
            elif name:
                found[name] += " " + line.strip()
    return found


def in_words(annotation: Any) -> str:
    """Return a type in words: `int or tuple of ints`, `array_like`, `callable`."""
    if annotation is inspect.Parameter.empty:
        return ""
    if annotation is None:
        return "None"
    text = annotation if isinstance(annotation, str) else _plain(annotation)
    return _typed(text)


def _plain(annotation: Any) -> str:
    return annotation.__name__ if inspect.isclass(annotation) else str(annotation)


@cache
def _typed(text: str) -> str:
    if text in TYPES:
        return TYPES[text]
    return _words(ast.parse(text, mode="eval").body)


def _words(node: ast.expr) -> str:
    text = ast.unparse(node)
    if text in TYPES:
        return TYPES[text]
    if isinstance(node, ast.BinOp):
        parts = [_words(node.left), _words(node.right)]
        return " or ".join(dict.fromkeys(part for part in parts if part != "None"))
    if isinstance(node, ast.Subscript):
        return _subscript(ast.unparse(node.value), node.slice)
    return text.rpartition(".")[2]


def _subscript(base: str, inside: ast.expr) -> str:
    items = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if base == "Literal":
        return "str"
    if base == "tuple":
        if isinstance(items[-1], ast.Constant):  # ...
            return f"tuple of {_many(_words(items[0]))}"
        words = [_words(item) for item in items]
        if len(words) == 2 and words[0] == words[1]:
            return f"pair of {_many(words[0])}"
        return f"({', '.join(words)})"
    if base in ("Mapping", "dict"):
        return f"dict of {_many(_words(items[-1]))}"
    if base in ("list", "Sequence", "Iterable", "Iterator"):
        kind = {"Sequence": "list", "Iterable": "iterable", "Iterator": "iterator"}
        return f"{kind.get(base, base)} of {_many(_words(items[0]))}"
    return TYPES.get(base, base)


def _many(word: str) -> str:
    """Return the plural of the words of a type."""
    if not word.replace("_", "").isalnum() or word == "array_like":
        return word
    return f"{word}s"


def default(parameter: inspect.Parameter) -> str:
    """Return the default as code, empty where there is none."""
    value = parameter.default
    if value is parameter.empty:
        return ""
    text = value.__name__ if inspect.isclass(value) else repr(value)
    return text.replace("tensorweb.", "tw.")


def callables() -> Iterator[tuple[str, Any]]:
    """Yield every public callable that has an entry of its own, by full name."""
    found = {
        name: value
        for module in reference.modules()
        for name, value in reference.names(module).items()
    }
    values: dict[str, Any] = {**found, **reference.attributes()}
    for name, value in values.items():
        is_first = reference.firsts().get(id(value), name) == name
        if not is_first or not callable(value) or reference.is_dtype(value):
            continue
        yield name, value
        if inspect.isclass(value) and value is not tw.Tensor:
            yield from (
                (f"{name}.{key}", member)
                for key, member in vars(value).items()
                if key[0] != "_" and inspect.isfunction(member)
            )


class Result(NamedTuple):
    """What a function returns, and the row and name that say it.

    Attributes:
        type: in words.
        text: shape and dtype; empty if nothing says them.
        row: the text of the table's row; empty if a docstring or the op table says it.
        scope: the name in the row.
    """

    type: str
    text: str = ""
    row: str = ""
    scope: str = ""


VAGUE = re.compile("Tensor|object$|tuple$|tree|array|function|number|module")
"""Types of results that need a text: which shape, which dtype, which value."""


@cache
def results() -> dict[str, str]:
    """Return the table of results by name.

    Raises:
        LookupError: two rows have a name.
    """
    found: dict[str, str] = {}
    for names, text in RESULTS.items():
        for name in names.split():
            if name in found:
                raise LookupError(f"two results of {name}")
            found[name] = text
    return found


@cache
def result_types() -> dict[str, str]:
    """Return the types of results by name, where the annotation does not say it."""
    return {
        name: kind for names, kind in RESULT_TYPES.items() for name in names.split()
    }


def result(name: str, value: Any) -> Result:
    """Return what a function or method returns."""
    entry = short(name)
    found = signature(value)
    said = section(inspect.getdoc(value) or "", "Returns")
    annotation = found.return_annotation if found else inspect.Parameter.empty
    kind = result_types().get(entry) or in_words(annotation) or "Tensor"
    if said:
        return Result(kind, " ".join(line.strip() for line in said))
    table = results()
    last = entry.rpartition(".")[2]
    is_shared = entry.count(".") == 1
    if row := table.get(entry):
        return Result(kind, row, row, entry)
    if is_shared and (row := table.get(f"*.{last}")):
        return Result(kind, row, row, f"*.{last}")
    if text := _elementwise(last) if is_shared or entry.startswith("tw.nn.") else "":
        return Result(kind, text)
    if not VAGUE.search(kind):
        return Result(kind)
    for scope in list(scopes(entry))[1:-1]:
        if row := table.get(scope):
            return Result(kind, row, row, scope)
    return Result(kind)


def _elementwise(last: str) -> str:
    """Return the result of an elementwise operation of the op table; else empty."""
    entry = OPS.get(last)
    if entry is None or entry.kind != "map":
        return ""
    return (ONE_OPERAND if entry.arity == 1 else TWO_OPERANDS).get(entry.result, "")


def fields(name: str, value: Any) -> Iterator[tuple[str, str, str, str]]:
    """Yield each parameter of an entry: name, type, default and meaning.

    A record, whose attributes are its parameters, has none.
    """
    found = signature(value)
    attributes = _items(inspect.getdoc(value) or "", "Attributes")
    if inspect.isclass(value) and found and {*found.parameters} <= {*attributes}:
        return
    for parameter in found.parameters.values() if found else ():
        stars = str(parameter).count("*", 0, 2)
        kind = in_words(parameter.annotation)
        yield (
            "*" * stars + parameter.name,
            PARAMETER_TYPES.get(parameter.name, kind) if kind == "object" else kind,
            default(parameter),
            meaning(name, value, parameter.name).text,
        )


def section(text: str, title: str) -> list[str]:
    """Return the lines of a section of a docstring, indented as they are there."""
    lines = text.split("\n")
    if f"{title}:" not in lines:
        return []
    start = lines.index(f"{title}:") + 1
    ends = (i for i in range(start, len(lines)) if lines[i] and lines[i][0] != " ")
    return [line for line in lines[start : next(ends, len(lines))] if line.strip()]


def without(lines: list[str], *titles: str) -> list[str]:
    """Return a docstring's lines without some of its sections."""
    kept = []
    is_left_out = False
    for line in lines:
        if line and line[0] != " ":
            is_left_out = line.removesuffix(":") in titles and line.endswith(":")
        if not is_left_out:
            kept.append(line)
    return kept


def errors(name: str, value: Any) -> dict[str, str]:
    """Return what an entry raises, and when.

    A class has the errors of its constructor. A method of tensors also has those of the
    function of its name, and other functions those of their model.
    """
    entry = short(name)
    twin = getattr(tw, entry[2:], None) if entry.startswith("x.") else None
    twin = twin or (None if inspect.isclass(value) else _model(entry))
    texts = [*docstrings(value), *(docstrings(twin) if callable(twin) else ())]
    found: dict[str, str] = {}
    for text in texts:
        for error, when in _items(text, "Raises").items():
            found.setdefault(error, when)
    return {**inherent_errors(value), **found}


def inherent_errors(value: Any) -> dict[str, str]:
    """Return the errors that parameters of a name have wherever they are."""
    taken = signature(value)
    names = taken.parameters.keys() if taken and not inspect.isclass(value) else ()
    return {
        error: when for name, (error, when) in PARAMETER_ERRORS.items() if name in names
    }
