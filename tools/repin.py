"""Write `requirements/pyodide.txt` again, for the Pyodide in `node_modules`.

Runs inside `.venv` as `python -m tools.repin` after an update of Pyodide. The hashes of
its own release come from its lock file, which npm has checked; those of PyPI from what
PyPI offers now.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools import pins
from tools.packages import WANTED, target_of
from tools.site import PYODIDE
from tools.wheels import Target, download

HEAD = """\
# The wheels that the site fetches for Pyodide, in the versions of its release: for each
# the file on PyPI, where one is for Pyodide, and the file of the release itself.
# `.venv/bin/python -m tools.repin` writes this file again.
"""


def main() -> int:
    """Write the pins of every package in `WANTED`."""
    target = target_of(PYODIDE)
    pins.PINS.write_text(HEAD + "".join(_pin(target, name) for name in WANTED), "utf-8")
    return 0


def _pin(target: Target, name: str) -> str:
    row = target.locked[name]
    with tempfile.TemporaryDirectory() as folder:
        download(target, f"{name}=={row['version']}\n", Path(folder))
        offered = {pins.digest(path) for path in Path(folder).glob("*.whl")}
    return pins.requirement(name, row["version"], frozenset({row["sha256"], *offered}))


if __name__ == "__main__":
    sys.exit(main())
