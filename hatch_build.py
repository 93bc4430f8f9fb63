"""Give package indexes the README with addresses instead of relative links.

Read by hatchling, the build backend, whenever the metadata of the package is made.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")
"""A link or an image whose target is a file of the project."""


class CustomMetadataHook(MetadataHookInterface):
    """Fills in `readme`, which pyproject.toml leaves dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to the metadata."""
        text = Path(self.root, "README.md").read_text("utf-8")
        repository = metadata["urls"]["Repository"]
        readme = absolute(text, repository, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}


def absolute(text: str, repository: str, tag: str) -> str:
    """Return Markdown whose links to files are addresses in the repository.

    Args:
        text: Markdown with links relative to the root of the project.
        repository: the address of the repository.
        tag: of the version that the links show.
    """

    def replaced(match: re.Match[str]) -> str:
        mark, title, target = match.groups()
        kind = "raw" if mark else "blob"
        return f"{mark}[{title}]({repository}/{kind}/{tag}/{target})"

    return LINK.sub(replaced, text)
