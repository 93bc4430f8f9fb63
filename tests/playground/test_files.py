"""Names lead to no other folder, and a file that is not there is said in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tensorweb.errors import DataError
from tensorweb.playground import files


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    files.remember_lost([])


def missing(name: str) -> str | None:
    """Return the message about a missing file that a program opens."""
    try:
        Path(name).read_text()
    except OSError as error:
        return files.file_advice(error)
    raise AssertionError


@pytest.mark.parametrize("name", ["", "..", "../up", "/etc/passwd", "a\0b", "n" * 201])
def test_no_name_leads_elsewhere(name: str) -> None:
    with pytest.raises(DataError, match="no name for a file"):
        files.path_of(name)


def test_a_missing_file_lists_existing_files(folder: Path) -> None:
    assert "has these files: none. Drop" in str(missing("mine.csv"))
    (folder / "sides.csv").touch()
    (folder / ".hidden").touch()
    assert "has these files: 'sides.csv'. Drop" in str(missing("mine.npy"))
    assert missing("side.csv") == (
        "There is no file 'side.csv'. Did you mean 'sides.csv'?"
    )


def test_a_file_of_an_earlier_page_raises_with_advice() -> None:
    files.remember_lost(["mine.csv"])
    assert "went when the page was loaded anew" in str(missing("mine.csv"))


def test_other_failures_are_left_to_python(folder: Path) -> None:
    assert missing("folder/mine.csv") is None
    assert files.file_advice(PermissionError(13, "no", "mine.csv")) is None
    assert files.file_advice(FileNotFoundError("no file at all")) is None
