"""Write what is generated: elementwise functions and methods, pages, the protocol.

Runs inside `.venv`, by `build.py docs`; `tests/project/test_docs.py` fails when a file
is not what this would write. Code comes from the op table (`surfaces.py`); pages come
from docstrings, from `__all__` and from the comments of `shaders/math/`.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import tensorweb as tw
from tensorweb import dtypes
from tools import numpy_names, protocol, surfaces
from tools.accuracy import bounded
from tools.process import ROOT

API = ROOT / "docs" / "api.md"
NUMERICS = ROOT / "docs" / "numerics.md"

TITLES: dict[str, str] = {
    "creation": "Making tensors",
    "data_types": "Data types",
    "arithmetic": "Arithmetic",
    "exponential": "Exponentials and logarithms",
    "trigonometric": "Trigonometry",
    "rounding": "Rounding, limits and questions about numbers",
    "logic": "Comparison, logic and bits",
    "reductions": "Reductions and running totals",
    "manipulation": "Shape and order of axes",
    "joining": "Joining and repeating",
    "searching": "Selecting and searching",
    "sorting": "Sorting and sets",
    "segments": "Counts and sums by group",
    "linear_algebra": "Products",
    "windows": "Windows and convolutions",
    "callables": "Your own functions",
    "fft": "Fourier transforms",
    "random": "Random numbers",
    "linalg": "Linear algebra",
    "products": "Linear algebra",
    "norms": "Linear algebra",
    "eigenvalues": "Linear algebra",
    "solving": "Linear algebra",
    "spectral": "Linear algebra",
    "nn": "Networks",
    "optim": "Optimisers",
    "numpy": "NumPy's names",
    "files": "Saving",
    "computing": "Computing and looking inside",
    "evaluate": "Computing and looking inside",
    "events": "Computing and looking inside",
    "show": "Computing and looking inside",
    "plots": "Computing and looking inside",
    "progress": "Computing and looking inside",
    "charts": "Computing and looking inside",
    "devices": "Devices",
    "shapes": "Functions on shapes",
    "namespace": "The Array API's namespace",
    "dtypes": "Data types",
    "errors": "Errors",
    "tensor": "The tensor",
}
"""Headings by the module that defines a name; modules may share one."""

LISTED = (tw.fft, tw.linalg, tw.random, tw.nn, tw.nn.init, tw.optim)
"""Modules whose names are listed."""

OTHERS = "Further names"


def main() -> int:
    """Write all files; pages in another process if this one has old functions."""
    if surfaces.write():
        command = [sys.executable, "-m", "tools.documents"]
        return subprocess.run(command, check=False).returncode
    API.write_text(api(), "utf-8")
    NUMERICS.write_text(numerics(NUMERICS.read_text("utf-8")), "utf-8")
    numpy_names.NAMES.write_text(numpy_names.page(), "utf-8")
    protocol.FILE.write_text(protocol.text(), "utf-8")
    return 0


def api() -> str:
    """Return the page with one line for every public name."""
    groups: dict[str, list[str]] = {title: [] for title in TITLES.values()}
    for name in sorted(tw.__all__, key=_natural):
        value = getattr(tw, name)
        topic = surfaces.TOPICS.get(name) or _home(value)
        lines = groups.setdefault(TITLES.get(topic, OTHERS), [])
        lines.append(_line(name, value))
        lines += [_line(*entry) for entry in _entries_of(name, value)]
    page = ["# Every public name", "", *API_HEAD.splitlines()]
    for title, entries in groups.items():
        if entries:
            page += ["", f"## {title}", "", *entries]
    page += ["", "## Methods and properties of tensors", "", *_methods()]
    return "\n".join(page) + "\n"


API_HEAD = """\
`import tensorweb as tw`; then `help(tw.sum)` shows shapes, errors and an example. This
page is written by `python3 build.py docs` from the docstrings. Where NumPy or the
Array API would answer differently, [deviations.md](deviations.md) says so."""


def _entries_of(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the names of a module whose names are listed, and those below it."""
    if value in LISTED:
        for part in sorted(value.__all__, key=_natural):
            inner = getattr(value, part)
            yield f"{name}.{part}", inner
            yield from _entries_of(f"{name}.{part}", inner)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names as people do: `log2` before `log10`."""
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def _home(value: object) -> str:
    """Return the last part of the module that defines a value."""
    if isinstance(value, ModuleType):
        return value.__name__.rpartition(".")[2]
    if isinstance(value, dtypes.DType):
        return "dtypes"
    module = getattr(value, "__module__", None)
    return module.rpartition(".")[2] if isinstance(module, str) else "namespace"


def _line(name: str, value: object) -> str:
    """Return the entry of one public name."""
    if isinstance(value, ModuleType):
        return f"- `tw.{name}`: {_first(value)}"
    if isinstance(value, dtypes.DType):
        where = "on every device" if value.wgsl else "on `cpu`"
        where = "on `cpu`, and on GPUs that have it" if name == "float16" else where
        return f"- `tw.{name}`: {where}"
    if inspect.isfunction(value):
        return f"- `tw.{name}{_signature(value)}`: {_first(value)}"
    if inspect.isclass(value):
        return f"- `tw.{name}`: {_first(value)}"
    return f"- `tw.{name}`: `{value!r}`"


def _methods() -> Iterator[str]:
    """Yield one line for every method and property of `Tensor`, by name."""
    for name, value in inspect.getmembers(tw.Tensor):
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"- `x.{name}`: {_first(value)}"
        elif inspect.isfunction(value):
            yield f"- `x.{name}{_signature(value)}`: {_first(value)}"


def _signature(function: object) -> str:
    """Return a function's parameters with their defaults and without types."""
    assert callable(function), "internal: a signature of no function"
    signature = inspect.signature(function)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in signature.parameters.items()
        if name != "self"
    ]
    text = str(
        signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
    )
    return re.sub(r"(, /|/, )", "", text)


def _first(value: object) -> str:
    """Return the first sentence of a docstring on one line."""
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())


def numerics(page: str) -> str:
    """Return the page with its table of error bounds renewed."""
    begin, end = "<!-- bounds:begin -->\n", "<!-- bounds:end -->"
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    return head + begin + "\n".join(_bounds()) + "\n" + end + tail


def _bounds() -> Iterator[str]:
    """Yield the lines of the table, functions with equal bounds together."""
    together: dict[tuple[float, str], list[str]] = {}
    for function in bounded().values():
        key = (function.ulp, function.domain)
        together.setdefault(key, []).append(function.name)
    yield "| error, ULP | functions of `shaders/math/` | for |"
    yield "|---:|---|---|"
    for (ulp, domain), names in sorted(together.items(), key=lambda row: -row[0][0]):
        yield f"| {ulp:g} | {', '.join(f'`{name}`' for name in names)} | {domain} |"


if __name__ == "__main__":
    sys.exit(main())
