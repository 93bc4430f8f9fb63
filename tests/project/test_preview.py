"""What other sites preview of a site: absolute addresses once it knows its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import preview
from tools.bundle import WEB
from tools.process import BuildError


@pytest.fixture
def site(tmp_path: Path) -> Path:
    page = (WEB / "index.html").read_text("utf-8")
    (tmp_path / "index.html").write_text(page, "utf-8")
    return tmp_path


@pytest.mark.parametrize("end", ["", "/"])
def test_the_page_names_itself_and_its_picture(site: Path, end: str) -> None:
    preview.apply(site, f"https://example.org/a&b{end}")
    head = (site / "index.html").read_text("utf-8")
    there = "https://example.org/a&amp;b/"
    assert f'<link rel="canonical" href="{there}" />' in head
    assert f'<meta property="og:url" content="{there}" />' in head
    assert f'<meta property="og:image" content="{there}card.png" />' in head
    assert 'content="card.png"' not in head


@pytest.mark.parametrize(
    "address",
    ["example.org", "ftp://example.org/", "https:///play", "https://example.org/?a=1"],
)
def test_invalid_addresses_are_refused(site: Path, address: str) -> None:
    before = (site / "index.html").read_text("utf-8")
    with pytest.raises(BuildError, match="whole address"):
        preview.apply(site, address)
    assert (site / "index.html").read_text("utf-8") == before
