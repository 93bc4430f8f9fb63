"""The page `docs/numpy_names.md`: each name of NumPy's main namespace, here or not."""

from __future__ import annotations

from collections.abc import Mapping

import tensorweb.numpy as np
from tensorweb.numpy.names import ABSENT, DIFFERENT
from tools.process import ROOT

NAMES = ROOT / "docs" / "numpy_names.md"

HEAD = """\
# NumPy's main namespace, name by name

`import tensorweb.numpy as np` has what NumPy 2 has under these names. Dtypes are those
of the library where nothing says otherwise ([numpy.md](numpy.md)); a name is called
different for what goes beyond that. What is not here answers a program with its row.
This page is written by `python3 build.py docs` from `tensorweb/numpy/names.py`, which a
test holds to NumPy's own list.
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
