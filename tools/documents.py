"""Write what is generated: elementwise functions and methods, pages, the protocol.

Runs inside `.venv`, by `build.py docs`; `tests/project/test_docs.py` fails when a file
is not what this would write. Code comes from the op table (`surfaces.py`); pages come
from docstrings and `__all__` (`reference.py`), from the comments of `shaders/math/` and
from the library's own tables (`other_libraries.py`).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from tools import numpy_names, other_libraries, protocol, reference, surfaces
from tools.accuracy import bounded

NUMERICS = reference.FOLDER / "numerics.md"


def main() -> int:
    """Write all files; pages in another process if this one has old functions."""
    if surfaces.write():
        command = [sys.executable, "-m", "tools.documents"]
        return subprocess.run(command, check=False).returncode
    for path, text in reference.texts().items():
        path.write_text(text, "utf-8")
    NUMERICS.write_text(numerics(NUMERICS.read_text("utf-8")), "utf-8")
    numpy_names.NAMES.write_text(numpy_names.page(), "utf-8")
    for path, text in other_libraries.pages().items():
        path.write_text(text, "utf-8")
    protocol.FILE.write_text(protocol.text(), "utf-8")
    return 0


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
