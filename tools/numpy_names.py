"""The page `docs/numpy_names.md`: each name of NumPy's main namespace, here or not."""

from __future__ import annotations

from collections.abc import Mapping

import tensorweb.numpy as np
from tensorweb.advice import ADVICE
from tools.process import ROOT

ABSENT = ADVICE["tensorweb.numpy"]

_SUMS = "integers are summed in 32 bits and wrap around"
_INDICES = "indices are int32"
_STABLE = "always stable, whatever `kind` says"
_COUNTS = "counts are int32; the range is read unless edges are given"
_READS = "reads how many values there are"
_SETTING = "stored and returned, but nothing is reported"
_WHOLE = "all values are sorted, which is one of the orders allowed"

DIFFERENT: dict[str, str] = {
    "apply_along_axis": "Python calls the function once for each slice, with a tensor",
    "argmax": _INDICES,
    "argmin": _INDICES,
    "argpartition": f"{_WHOLE}; {_INDICES}",
    "argsort": f"{_STABLE}; {_INDICES}",
    "argwhere": _INDICES,
    "bincount": "counts are int32, sums of weights float32; reads the greatest number",
    "bitwise_count": "counts are int32",
    "bool": "tensorweb's dtype",
    "count_nonzero": _INDICES,
    "cumprod": _SUMS,
    "cumsum": _SUMS,
    "cumulative_prod": _SUMS,
    "cumulative_sum": _SUMS,
    "digitize": f"reads the edges, to see whether they rise; {_INDICES}",
    "dtype": "makes tensorweb's dtypes; none has fields",
    "emath": "reads one number, to see whether the result is complex",
    "errstate": _SETTING,
    "extract": _READS,
    "flatnonzero": _INDICES,
    "genfromtxt": "no names and no masks; one dtype for all",
    "geterr": _SETTING,
    "histogram": _COUNTS,
    "histogram2d": _COUNTS,
    "histogramdd": _COUNTS,
    "info": "prints the docstring; does not search",
    "int_": "int32",
    "intersect1d": _READS,
    "intp": "int32",
    "lexsort": _INDICES,
    "loadtxt": "one dtype for all",
    "mean": "integers and bool give float32",
    "nanargmax": f"{_INDICES}; reads whether there is nothing but NaN",
    "nanargmin": f"{_INDICES}; reads whether there is nothing but NaN",
    "nanpercentile": "reads how many numbers there are along the axis",
    "nanquantile": "reads how many numbers there are along the axis",
    "ndarray": "is `tw.Tensor`, which cannot be a base of classes with `view`",
    "nditer": "elements are tensors; writes are there when the loop is over; no orders",
    "nonzero": f"{_INDICES}; {_READS}",
    "partition": _WHOLE,
    "percentile": "reads `q`",
    "piecewise": "every function gets all of `x`, and its results are chosen from",
    "polydiv": "reads the coefficients",
    "prod": _SUMS,
    "quantile": "reads `q`",
    "random": "NumPy's distributions from a hidden key, not its numbers",
    "reciprocal": "of the integer 0 it is 0; bool gives float32",
    "roots": "reads the coefficients; complex64 or complex128, unless all are real",
    "searchsorted": _INDICES,
    "set_printoptions": "no floatmode, sign, nanstr, infstr and legacy",
    "setdiff1d": _READS,
    "seterr": f"{_SETTING}; `raise`, `print`, `call` and `log` are refused",
    "setxor1d": _READS,
    "show_config": "tells tensorweb's version and device",
    "sort": _STABLE,
    "std": "integers and bool give float32",
    "sum": _SUMS,
    "ufunc": "methods are here; `casting` is same_kind, safe or unsafe, `order` K",
    "uint": "uint32",
    "uintp": "uint32",
    "union1d": _READS,
    "unique": f"{_READS}; {_INDICES}",
    "unique_all": _READS,
    "unique_counts": _READS,
    "unique_inverse": _READS,
    "unique_values": _READS,
    "var": "integers and bool give float32",
    "vectorize": "reads the elements and calls Python for each",
    "where": f"with a condition alone as `nonzero`: {_INDICES}",
}
"""Names that are here and differ beyond dtypes of 32 bits: how."""

NAMES = ROOT / "docs" / "numpy_names.md"

HEAD = """\
# NumPy's main namespace, name by name

`import tensorweb.numpy as np` has what NumPy 2 has under these names. Dtypes are those
of the library where nothing says otherwise ([numpy.md](numpy.md)); a name is called
different for what goes beyond that. A program that asks for a name that is not here
gets an error with its line. This page is written by `python3 build.py docs`; a test
compares it with NumPy's own list.
"""


def page() -> str:
    """Return the page: how many names there are, and a row for each."""
    rows = dict.fromkeys(np.__all__, "same")
    rows |= dict.fromkeys(DIFFERENT, "different")
    rows |= dict.fromkeys(ABSENT, "not here")
    counts = {
        kind: sum(each == kind for each in rows.values())
        for kind in ("same", "different", "not here")
    }
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    notes: Mapping[str, str] = {**DIFFERENT, **ABSENT}
    lines = [
        f"| `{name}` | {rows[name]} | {notes.get(name, '')} |"
        for name in sorted(rows, key=lambda name: (name.lower(), name))
    ]
    table = [
        "| name | here | what differs, or what to write |",
        "|---|---|---|",
        *lines,
    ]
    return "\n".join([HEAD, f"{len(rows)} names: {told}.", "", *table]) + "\n"
