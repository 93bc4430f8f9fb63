"""Give package indexes the README with addresses, and the wheel the script of reports.

Read by hatchling, the build backend, whenever the package or its metadata is made.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
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


class CustomBuildHook(BuildHookInterface[Any]):
    """Bundles the script of reports; a release of the sources has it already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the script where its sources can be bundled.

        Raises:
            RuntimeError: it is not there, and cannot be made.
        """
        if Path(self.root, "node_modules/esbuild").is_dir():
            command = [sys.executable, "-m", "tools.bundle"]
            subprocess.run(command, cwd=self.root, check=True)
        elif not Path(self.root, "tensorweb/reports/report.js").is_file():
            raise RuntimeError("run `python3 build.py setup` before a build")


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
