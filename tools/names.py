"""Write the table of our names that the page's editor has before Python is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tensorweb.playground.completion import table


def write(target: Path) -> None:
    """Write names, kinds, signatures and first lines of documentation as JSON."""
    target.write_text(json.dumps(table(), ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
