"""Panels of the page: a row and a folder each, and no other file that names them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
ROWS = (WEB / "src/panels.ts").read_text("utf-8")
PANELS = re.findall(r'^  \{ id: "(\w+)"', ROWS, re.MULTILINE)

FRAME = [
    WEB / "index.html",
    WEB / "page.css",
    *sorted((WEB / "src/parts").glob("*.ts")),
    *(WEB / "src" / name for name in ("main.ts", "parts.ts", "page/view.ts")),
]
"""What makes and lays out the page around its panels."""


def test_every_panel_has_a_folder_and_a_row() -> None:
    folders = [path.name for path in (WEB / "src/panels").iterdir() if path.is_dir()]
    assert sorted(PANELS) == sorted(folders)
    assert len(PANELS) >= 4


def test_the_guide_names_every_panel() -> None:
    labels = re.findall(r'label: "([^"]+)", pane', ROWS)
    guide = (WEB.parent / "docs/guide/playground.md").read_text("utf-8")
    assert len(labels) == len(PANELS)
    assert [label for label in labels if f"| *{label}* |" not in guide] == []


@pytest.mark.parametrize("path", FRAME, ids=lambda path: path.name)
def test_the_frame_names_no_panel(path: Path) -> None:
    text = path.read_text("utf-8").replace('href="#editor"', "")
    names = "|".join(PANELS)
    assert re.findall(rf"#(?:{names})(?![\w-])|[\"'](?:{names})[\"']", text) == []


@pytest.mark.parametrize("name", PANELS)
def test_styles_of_a_panel_are_its_own(name: str) -> None:
    others = "|".join(set(PANELS) - {name})
    for path in (WEB / "src/panels" / name).glob("*.css"):
        assert re.findall(rf"#(?:{others})(?![\w-])", path.read_text("utf-8")) == []
