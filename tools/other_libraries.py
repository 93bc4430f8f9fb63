"""Tables of the guide for readers who know NumPy, PyTorch or JAX.

They come from the tables that the library itself uses: its advice about unknown names,
PyTorch's words for arguments, the names of its modules. `documents.py` writes them into
the pages between two comments; a test compares them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import numpy

import tensorweb as tw
from tensorweb.advice import ADVICE
from tensorweb.devices import fastest
from tensorweb.tensor.arguments import WORDS
from tools import numpy_names
from tools.process import ROOT

JAX = {
    *("block_until_ready", "device_put", "lax", "make_jaxpr"),
    *("tree_map", "tree_util", "PRNGKey", "config", "device_get", "tree_flatten"),
    *("tree_leaves", "tree_structure", "tree_unflatten", "Array", "debug", "pmap"),
    *("dynamic_index_in_dim", "dynamic_slice", "dynamic_slice_in_dim", "remat"),
    "dynamic_update_slice",
}
"""Names of the advice that JAX alone has."""

FORMER = frozenset(["in1d", "mat", "msort", "product", "sliding_window_view"])
"""Names of NumPy that are not in NumPy 2's main namespace."""

TRANSFORMATIONS = (
    *("grad", "value_and_grad", "vjp", "jvp", "linearize", "jacrev", "jacfwd"),
    *("hessian", "vmap", "jit", "checkpoint", "custom_vjp", "custom_jvp"),
    *("scan", "while_loop", "fori_loop", "cond", "switch", "associative_scan"),
    "eval_shape",
)
"""JAX's names of transformations of functions, of loops and choices."""

JAX_RANDOM = (
    *("key", "split", "fold_in", "bits", "uniform", "normal", "truncated_normal"),
    *("exponential", "gumbel", "bernoulli", "randint", "categorical", "permutation"),
    *("choice", "cauchy", "laplace", "logistic", "rademacher", "gamma", "loggamma"),
    *("beta", "dirichlet", "chisquare", "t", "poisson", "binomial", "multinomial"),
    *("multivariate_normal", "orthogonal", "ball"),
)
"""Names of `jax.random`."""


def pages() -> dict[Path, str]:
    """Return the text of each page, with its tables renewed."""
    return {
        path: renewed(path.read_text("utf-8"))
        for path in (ROOT / "docs/guide" / f"{slug}.md" for slug in SLUGS)
    }


SLUGS = ("numpy", "pytorch", "jax")

REGION = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def renewed(page: str) -> str:
    """Return a page with the lines of each of its tables replaced.

    Raises:
        KeyError: it names a table that there is not.
    """
    return REGION.sub(lambda m: m[1] + "\n".join(TABLES[m[2]]()) + "\n" + m[3], page)


def library(name: str) -> str:
    """Return from which library readers know a name of the advice about `tw`."""
    if name in JAX:
        return "jax"
    known = hasattr(numpy, name) or hasattr(numpy.ndarray, name)
    return "numpy" if known or name in FORMER else "pytorch"


def _names_of(where: str) -> Iterator[str]:
    """Yield the table of a library's names that `tw` does not have."""
    advice = ADVICE["tensorweb"]
    return _table({name: advice[name] for name in advice if library(name) == where})


def _table(advice: Mapping[str, str]) -> Iterator[str]:
    """Yield a table of names and what to write, equal advice together."""
    together: dict[str, list[str]] = {}
    for name in sorted(advice, key=lambda name: (name.lower(), name)):
        together.setdefault(_shown(name, advice[name]), []).append(f"`{name}`")
    yield "| name | here |"
    yield "|---|---|"
    for shown, names in together.items():
        yield f"| {', '.join(names)} | {shown} |"


def _shown(name: str, entry: str) -> str:
    """Return an entry of the advice as a cell of a table."""
    if name == "cuda":  # the advice names the fastest device of this machine
        entry = entry.replace(repr(fastest()), "'webgpu'")
    if entry == f"np.{name}":
        return "of this name in `tensorweb.numpy`"
    if entry.startswith("np."):
        return f"`{entry}` of `tensorweb.numpy`"
    if entry.isidentifier():
        is_function = entry in tw.__all__ or entry in dir(tw.nn)
        module = "tw" if entry in tw.__all__ else "tw.nn"
        return f"`{module}.{entry}`" if is_function else f"`x.{entry}`"
    return entry.removeprefix("write ").replace("|", "\\|")


def _numpy_summary() -> Iterator[str]:
    """Yield how many names of NumPy's are here."""
    yield numpy_names.summary()


def _words() -> Iterator[str]:
    """Yield the table of PyTorch's words for arguments."""
    yield "| PyTorch's word | also called |"
    yield "|---|---|"
    for word, ours in WORDS.items():
        yield f"| `{word}=` | {', '.join(f'`{name}=`' for name in ours)} |"
    yield "| `input=` | the first argument |"


def _layers() -> Iterator[str]:
    """Yield the names of layers and losses."""
    layers = [
        name
        for name in dir(tw.nn)
        if inspect.isclass(getattr(tw.nn, name))
        and name != "Module"
        and not name.startswith("_")
    ]
    yield ", ".join(f"`{name}`" for name in sorted(layers)) + "."


def _transformations() -> Iterator[str]:
    """Yield the table of JAX's transformations."""
    yield from _documented("jax", "tw", TRANSFORMATIONS, tw)


def _random() -> Iterator[str]:
    """Yield the table of the functions of `jax.random`."""
    yield from _documented("jax.random", "tw.random", JAX_RANDOM, tw.random)


def _documented(
    theirs: str, ours: str, names: Iterable[str], module: object
) -> Iterator[str]:
    """Yield a table of names that both have, with our signature and first sentence."""
    yield f"| `{theirs}` | here | |"
    yield "|---|---|---|"
    for name in names:
        line = (inspect.getdoc(getattr(module, name)) or "").split("\n")[0]
        yield f"| `{name}` | `{ours}.{name}` | {line} |"


TABLES: dict[str, Callable[[], Iterator[str]]] = {
    "numpy_names": lambda: _names_of("numpy"),
    "numpy_summary": _numpy_summary,
    "torch_words": _words,
    "torch_keywords": lambda: _table(ADVICE["keywords"]),
    "torch_names": lambda: _names_of("pytorch"),
    "torch_nn": lambda: _table(ADVICE["tensorweb.nn"]),
    "torch_module": lambda: _table(ADVICE["tensorweb.nn.Module"]),
    "torch_layers": _layers,
    "jax_names": lambda: _names_of("jax"),
    "jax_transformations": _transformations,
    "jax_random": _random,
}
"""Functions that yield the lines of a table, by its name in the pages."""
