"""Files go in and out by name; no name leads out of the folder of programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensorweb.errors import DataError
from tensorweb.playground import files


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inner = tmp_path / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    return inner


def test_files_are_listed_by_name(folder: Path) -> None:
    files.write("b.txt", "YWI=")
    assert files.write("a.txt", "") == [
        {"name": "a.txt", "bytes": 0},
        {"name": "b.txt", "bytes": 2},
    ]
    (folder / ".hidden").touch()
    (folder / "folder").mkdir()
    (folder / "link").symlink_to("b.txt")
    assert len(files.listing()) == 2
    assert files.read("b.txt") == {"data": "YWI="}


@pytest.mark.parametrize("name", ["", "..", "../up", "/etc/passwd", "a\0b", "n" * 201])
def test_no_name_leads_elsewhere(name: str) -> None:
    for act in (files.read, lambda name: files.write(name, "")):
        with pytest.raises(DataError, match="no name for a file"):
            act(name)


def test_a_link_is_neither_read_nor_written_through(folder: Path) -> None:
    secret = folder.parent / "secret"
    secret.write_text("kept")
    (folder / "link").symlink_to(secret)
    with pytest.raises(DataError, match="no file"):
        files.read("link")
    files.write("link", "")
    assert secret.read_text() == "kept"


def test_what_is_too_large_or_gone_is_said(folder: Path) -> None:
    with pytest.raises(DataError, match="there is no file 'gone'"):
        files.read("gone")
    with (folder / "large").open("wb") as file:
        file.truncate(files.MOST_BYTES + 1)
    with pytest.raises(DataError, match="24,000,001 bytes"):
        files.read("large")
