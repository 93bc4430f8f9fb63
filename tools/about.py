"""What pyproject.toml says of the project: version, licence, addresses, dependencies.

Artefacts that are no wheels take it from here, so that no fact is written twice.
"""

from __future__ import annotations

import tomllib
from typing import Any

from tools.process import ROOT

RESERVED = ".example/"
"""Part of addresses that stand for ones which the project has not yet."""


def project() -> dict[str, Any]:
    """Return the table `[project]`."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    table: dict[str, Any] = tomllib.loads(text)["project"]
    return table


def version() -> str:
    """Return the version."""
    return str(project()["version"])


def placeholders() -> list[str]:
    """Return the labels of addresses that nobody has filled in."""
    return [name for name, url in project()["urls"].items() if RESERVED in f"{url}/"]
