"""The API reference: which page has which public name, and the text of each page.

`python3 build.py docs` writes `docs/reference/`: a line for each name, to be read
wherever the repository lies, and a directive that Sphinx fills from the docstring.
A name that no page has is an error.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import tensorweb as tw
from tensorweb import dtypes
from tensorweb.numpy import ufunc
from tools import surfaces
from tools.process import ROOT

FOLDER = ROOT / "docs/reference"
LIBRARY = "tensorweb"


@dataclass(frozen=True)
class Section:
    """Names of a module that stand together.

    Attributes:
        title: the heading; empty for the only section of a page.
        homes: last parts of the files that define them; without any, all that no other
            section has.
        module: the module that offers them.
    """

    title: str
    homes: frozenset[str] = frozenset()
    module: str = LIBRARY


@dataclass(frozen=True)
class Page:
    """A page of the reference; `guide` is the page of the guide about the topic."""

    title: str
    text: str
    sections: tuple[Section, ...]
    guide: str = ""


def _sections(module: str = LIBRARY, **homes: str) -> tuple[Section, ...]:
    return tuple(
        Section(title.replace("_", " "), frozenset(names.split()), module)
        for title, names in homes.items()
    )


def _module(name: str) -> tuple[Section, ...]:
    return (Section("", module=f"{LIBRARY}.{name}"),)


PAGES: dict[str, Page] = {
    "tensor": Page(
        "The tensor",
        "Methods do what the function of their name does.",
        _sections(The_class="Tensor"),
        guide="tensors",
    ),
    "creation": Page(
        "Making tensors",
        "Functions that return tensors of shapes, numbers and data.",
        _sections(Functions="creation tensor"),
    ),
    "data_types": Page(
        "Data types and constants",
        "A dtype is an object of `tw`, and equals its name.\n\n"
        "float16 and bfloat16 are stored in 16 bits and computed in float32: sums, "
        "products and chains in one kernel round once, when they are stored. bfloat16 "
        "has float32's range with 8 binary digits.\n\n"
        "| `bfloat16` with | gives |\n|---|---|\n"
        "| a Python number, bool, integers of any size | `bfloat16` |\n"
        "| `float16`, `float32` | `float32` |\n"
        "| `float64` | `float64` |\n"
        "| `complex64`, `complex128` | the complex dtype |",
        _sections(
            Data_types="dtypes",
            Promotion_and_inspection="data_types",
            Constants="namespace",
        ),
    ),
    "elementwise": Page(
        "Elementwise functions",
        "Operands broadcast; the functions of one expression become one kernel.",
        _sections(
            Arithmetic="arithmetic",
            Exponentials_and_logarithms="exponential",
            Trigonometry="trigonometric",
            Rounding_and_limits="rounding",
            Comparison_and_logic="logic",
            Complex_numbers="complex_numbers",
        ),
    ),
    "reductions": Page(
        "Reductions",
        "Sums, means, extremes and running totals along axes.",
        _sections(Functions="reductions"),
    ),
    "movement": Page(
        "Movement",
        "Shape and order of axes change without a copy where strides allow it.",
        _sections(Shape_and_order_of_axes="manipulation", Joining="joining"),
    ),
    "indexing": Page(
        "Indexing, searching and sorting",
        "Selection by masks and indices, order, sets, and sums by group.",
        _sections(
            Searching_and_sorting="searching",
            Counts_and_sums_by_group="segments",
        ),
    ),
    "products": Page(
        "Products and windows",
        "Products of matrices, sums over named axes, sliding windows and convolutions.",
        _sections(Products="linear_algebra", Windows="windows"),
    ),
    "linalg": Page(
        "Linear algebra",
        "Decompositions, solutions and norms of matrices and of stacks of them.",
        _module("linalg"),
        guide="linalg",
    ),
    "fft": Page(
        "Fourier transforms",
        "Discrete transforms along axes, and their frequencies.",
        _module("fft"),
        guide="fft",
    ),
    "random": Page(
        "Random numbers",
        "Functions of a key: equal keys give equal numbers on every device.",
        _module("random"),
        guide="random",
    ),
    "distributions": Page(
        "Probability distributions",
        "Samples, log densities, entropies and divergences, with PyTorch's names.",
        _module("distributions"),
        guide="random",
    ),
    "special": Page(
        "Special functions",
        "Functions of mathematical physics and statistics, with SciPy's names.",
        _module("scipy.special"),
        guide="special",
    ),
    "derivatives": Page(
        "Derivatives and transformations",
        "Functions of functions: gradients, Jacobians, maps over a batch, recordings.",
        (
            *_sections(
                Gradients="gradients jacobians backward",
                Rules_of_your_own="custom checkpoint checking",
                Recording_and_mapping="jit vmap eval_shape callables",
                Loops_and_choices="loops",
            ),
            Section("Gradients of results", module="tensorweb.autograd"),
        ),
        guide="gradients",
    ),
    "nn": Page(
        "Networks",
        "Layers with PyTorch's names, and the functions that they compute.",
        (
            *_sections(
                "tensorweb.nn",
                Modules="module containers",
                Linear_layers="affine",
                Lazy_layers="lazy",
                Convolutions="convolution",
                Pooling="pooling adaptive_pooling",
                Resizing_and_padding="images padding_layers",
                Normalisation="normalization batch_statistics",
                Activations="activations activation_layers arithmetic exponential "
                "trigonometric",
                Dropout="dropout_layers",
                Attention_and_recurrence="attention_layers recurrent transformers",
                Losses="losses classification margins",
            ),
            Section("Initial values", module="tensorweb.nn.init"),
            Section("Utilities", module="tensorweb.nn.utils"),
            Section("Utilities of sequences", module="tensorweb.nn.utils.rnn"),
            Section("Computed parameters", module="tensorweb.nn.utils.parametrize"),
        ),
        guide="nn",
    ),
    "optim": Page(
        "Optimisers",
        "Optimisers of parameters, and schedules of learning rates.",
        (
            *_sections(
                "tensorweb.optim",
                Optimisers="optimizer optimizers matrix_optimizers lbfgs state",
            ),
            *_sections("tensorweb.optim", Parts_and_averages="combination"),
            Section("Schedules and gradients", module="tensorweb.optim"),
            Section(
                "Schedulers in PyTorch's style", module="tensorweb.optim.lr_scheduler"
            ),
            Section("Optax's names", module="tensorweb.optim.optax"),
        ),
        guide="optim",
    ),
    "data": Page(
        "Data sets and batches",
        "Batches of samples in a random order, with PyTorch's names.",
        (
            *_module("data"),
            Section("Transforms of images", module="tensorweb.data.transforms"),
        ),
        guide="pytorch",
    ),
    "sparse": Page(
        "Sparse matrices",
        "Matrices in coordinate form, of graphs for example; see `tw.segment_sum` too.",
        _module("sparse"),
    ),
    "solvers": Page(
        "Solvers",
        "Initial value problems and minima with SciPy's and JAX's names.",
        (
            Section("Initial value problems", module="tensorweb.scipy.integrate"),
            Section("Minima", module="tensorweb.scipy.optimize"),
        ),
        guide="gradients",
    ),
    "saving": Page(
        "Files",
        "Tensors from files and to files: safetensors, npy, npz, CSV, images, audio.",
        _sections(Functions="files"),
        guide="saving",
    ),
    "running": Page(
        "Devices and running",
        "Where tensors are computed and when, and which kernels ran.",
        _sections(
            Devices="devices exchange",
            Computing_and_debugging="debugging evaluate",
            Kernels="events",
            Reports="report",
            Kernels_of_your_own="kernel",
            Tuning_and_warming_up="tuning warming",
        ),
        guide="memory",
    ),
    "display": Page(
        "Display",
        "Plots, charts and progress: pictures in the page, text elsewhere.",
        _sections(Functions="show plots progress"),
    ),
    "shapes": Page(
        "Functions on shapes",
        "Plain functions on shapes, strides and index lists: no data, no devices.",
        (*_module("shapes"), *_sections(In_the_main_namespace="shapes")),
    ),
    "tree": Page(
        "Trees",
        "Nested tuples, lists, dicts and objects of tensors as one value.",
        _module("tree"),
    ),
    "errors": Page(
        "Errors and warnings",
        "An error says what was wrong, with which shapes, dtypes and device, and what "
        "to do. `tw.errors` has them as well.",
        _sections(Classes="errors"),
    ),
    "numpy": Page(
        "NumPy's names",
        "`import tensorweb.numpy as np`: NumPy's signatures and rules over tensors.",
        (
            *_sections(
                "tensorweb.numpy",
                Universal_functions="ufunc",
                Arrays_from_shapes_and_data="creation files text",
                Shape_and_joining="manipulation joining padding",
                Indexing="indexing",
                Sorting_searching_and_sets="sorting searching",
                Reductions_and_statistics="reductions statistics histograms",
                Mathematics="mathematics differences polynomials bits complex_numbers",
                Matrices="products matrices",
                Functions_of_functions="vectorization ufuncs",
                Data_types="dtypes data_types",
                Printing="printing",
            ),
            Section("Constants and other objects", module="tensorweb.numpy"),
        ),
        guide="numpy",
    ),
    "numpy_modules": Page(
        "NumPy's modules",
        "The modules of `tensorweb.numpy`.",
        tuple(
            Section(f"numpy.{name}", module=f"tensorweb.numpy.{name}")
            for name in (
                *("emath", "fft", "linalg", "random", "lib.stride_tricks", "testing"),
            )
        ),
        guide="numpy",
    ),
}


@cache
def names(module: str) -> dict[str, object]:
    """Return what a module offers except modules, by full name."""
    found = importlib.import_module(module)
    offered = getattr(found, "__all__", None) or [
        name
        for name, value in vars(found).items()
        if name[0] != "_" and getattr(value, "__module__", None) == module
    ]
    values = {name: getattr(found, name) for name in sorted(offered, key=natural)}
    return {
        f"{module}.{name}": value
        for name, value in values.items()
        if not isinstance(value, ModuleType) or callable(value)
    }


def modules() -> list[str]:
    """Return every module whose names have entries."""
    sections = [section for page in PAGES.values() for section in page.sections]
    return list(dict.fromkeys(section.module for section in sections))


@cache
def members(page: str) -> tuple[tuple[str, dict[str, object]], ...]:
    """Return the names of each section of a page: title, then values by full name."""
    return tuple(
        (section.title, _names_of(section)) for section in PAGES[page].sections
    )


def _names_of(section: Section) -> dict[str, object]:
    others = {
        home
        for page in PAGES.values()
        for other in page.sections
        if other.module == section.module
        for home in other.homes
    }
    return {
        name: value
        for name, value in names(section.module).items()
        if (
            _home(name, value) in section.homes
            if section.homes
            else _home(name, value) not in others
        )
    }


def _home(name: str, value: object) -> str:
    """Return the last part of the file that defines a value, or its kind."""
    if value is tw.Tensor:
        return "Tensor"
    if isinstance(value, ufunc):
        return "ufunc"
    if isinstance(value, ModuleType):
        return value.__name__.rpartition(".")[2]
    if isinstance(value, dtypes.DType):
        return "dtypes"
    topic = surfaces.TOPICS.get(name.rpartition(".")[2])
    if topic and not name.startswith("tensorweb.numpy"):
        return topic
    module = getattr(value, "__module__", None)
    return module.rpartition(".")[2] if isinstance(module, str) else "namespace"


@cache
def all_names() -> Mapping[str, str]:
    """Return the page of every public name and of the tensor's attributes.

    Raises:
        LookupError: no page has a name.
    """
    pages = {
        name: page for page in PAGES for _, found in members(page) for name in found
    }
    public = {name for module in modules() for name in names(module)}
    if missing := sorted(public - pages.keys()):
        raise LookupError(f"no page of tools/reference.py has {', '.join(missing)}")
    return {**pages, **dict.fromkeys(attributes(), "tensor")}


@cache
def attributes() -> Mapping[str, object]:
    """Return the methods and properties of `Tensor` by full name."""
    return {
        f"tensorweb.Tensor.{name}": value
        for name, value in inspect.getmembers(tw.Tensor)
        if not name.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property))
    }


@cache
def firsts() -> Mapping[int, str]:
    """Return under which name an object has its entry, by identity."""
    found: dict[int, str] = {}
    for module in modules():
        for name, value in names(module).items():
            if not isinstance(value, float | str | None):
                found.setdefault(id(value), name)
            if inspect.isfunction(value):  # layers have it without its wrapper
                found.setdefault(id(inspect.unwrap(value)), name)
            # The source pages lead to the entries of the module that defines a name.
            first = found.get(id(value), name).rpartition(".")[0]
            owner = f"{getattr(value, '__module__', '')}."
            if owner.startswith(f"{module}.") and not owner.startswith(f"{first}."):
                found[id(value)] = name
            # Sphinx describes a class under its own name, and not under another one.
            is_own = inspect.isclass(value) and name.endswith(f".{value.__name__}")
            if is_own and found[id(value)].rpartition(".")[0] == module:
                found[id(value)] = name
    return found


def texts() -> dict[Path, str]:
    """Return the text of each page of the reference that is made from the namespace.

    Raises:
        LookupError: no page has a name.
    """
    all_names()
    made = {FOLDER / f"{slug}.md": page(slug) for slug in PAGES}
    return {FOLDER / "index.md": index(), **made}


FACTS = {
    "numpy_names": "which are here, and what differs",
    "deviations": "with the reason of each difference",
    "numerics": "error bounds of every function",
    "benchmarks": "with machine and date",
}
"""Pages that people write, and what they are about."""

INTRODUCTION = """\
Every public name of `import tensorweb as tw`, by topic. `help(tw.sum)` shows the text
of an entry."""


def index() -> str:
    """Return the text of the page with all pages."""
    return "\n".join(
        [
            *("# Reference", "", INTRODUCTION, "", "## Names", ""),
            *(f"- [{row.title}]({slug}.md): {row.text}" for slug, row in PAGES.items()),
            *("", "## Facts", ""),
            *(
                f"- [{_title(FOLDER / f'{slug}.md')}]({slug}.md): {text}"
                for slug, text in FACTS.items()
            ),
            *("", "```{toctree}", ":hidden:", "", *PAGES, *FACTS, "```", ""),
        ]
    )


def _title(path: Path) -> str:
    """Return the title of a page that people write."""
    return path.read_text("utf-8").partition("\n")[0].removeprefix("# ")


def page(slug: str) -> str:
    """Return the text of a page."""
    row = PAGES[slug]
    lines = [f"# {row.title}", "", row.text]
    if row.guide:
        guide = _title(ROOT / f"docs/guide/{row.guide}.md")
        lines += ["", f"The guide: [{guide}](../guide/{row.guide}.md)."]
    for title, found in members(slug):
        if title and len(row.sections) > 1:
            lines += ["", f"## {title}"]
        lines += ["", *_section(found)]
    if slug == "tensor":
        lines += ["", "## Methods and properties", "", *_section(attributes())]
    return "\n".join(lines) + "\n"


def _section(found: Mapping[str, object]) -> Iterator[str]:
    """Yield a line for each name, then the directives."""
    yield from (_line(name, value) for name, value in found.items())
    yield ""
    yield "```{eval-rst}"
    for name, value in found.items():
        yield from _directive(name, value)
    yield "```"


def _line(name: str, value: object) -> str:
    called = f"{short(name)}{signature(value)}"
    said = summary(name, value)
    return f"- [`{called}`](#{name}): {said}"


def short(name: str) -> str:
    """Return a name as programs write it: `tw.sum`, `np.sum`, `x.sum`."""
    for module, word in (
        ("tensorweb.numpy.", "np."),
        ("tensorweb.Tensor.", "x."),
        ("tensorweb.", "tw."),
    ):
        if name.startswith(module):
            return word + name.removeprefix(module)
    raise AssertionError(f"internal: {name} is no name of ours")


def summary(name: str, value: object) -> str:
    """Return what one line says about a name."""
    first = firsts().get(id(value), name)
    if first != name:
        return f"the same as `{short(first)}`"
    if isinstance(value, dtypes.DType):
        return _where(value)
    text = inspect.getdoc(value) or ""
    if isinstance(value, float | int | str | dict | None):
        return f"`{value!r}`"
    return " ".join(text.split("\n\n")[0].split())


def _where(dtype: dtypes.DType) -> str:
    if dtype.name == "float16":
        return "on `cpu`, and on GPUs that have it"
    return "on every device" if dtype.wgsl else "on `cpu`"


def signature(value: object) -> str:
    """Return the parameters with their defaults and without types; empty for data."""
    if isinstance(value, dtypes.DType) or not (
        inspect.isroutine(value) or isinstance(value, ufunc | ModuleType)
    ):
        return ""
    called = tw.asarray if isinstance(value, ModuleType) else value
    try:
        found = inspect.signature(called)
    except (TypeError, ValueError):
        return ""
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in found.parameters.items()
        if name != "self"
    ]
    text = str(found.replace(parameters=bare, return_annotation=found.empty))
    return re.sub(r"(, /|/, )", "", text)


def _directive(name: str, value: object) -> Iterable[str]:
    """Return the lines that make the entry of a name."""
    first = firsts().get(id(value), name)
    kind = "function" if signature(value) else "data"
    if first != name:
        kind = "class" if inspect.isclass(value) else kind
        same = f"   The same as :py:obj:`{first}`."
        return [f".. py:{kind}:: {name}{signature(value)}", "", same, ""]
    if name.startswith("tensorweb.Tensor."):
        kind = "property" if isinstance(value, property) else "method"
        return [f".. auto{kind}:: {name}", ""]
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        is_listed = value is tw.Tensor
        return [f".. auto{kind}:: {name}", *([] if is_listed else ["   :members:"]), ""]
    if inspect.isfunction(value):
        return [f".. autofunction:: {name}", ""]
    if isinstance(value, ufunc | ModuleType):
        return [f".. tensorweb-entry:: {name}{signature(value)}", ""]
    return [f".. tensorweb-entry:: {name}", ""]


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts names as people do: `log2` before `log10`."""
    parts = re.findall(r"\d+|\D+", name)
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def is_dtype(value: object) -> bool:
    """Return whether a value is an element type, which has no text of its own."""
    return isinstance(value, dtypes.DType)
