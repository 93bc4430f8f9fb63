"""`build.py wheel`: the same wheel twice, and a line where it cannot be built twice."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tools import in_pyodide, pyodide_build
from tools.process import BuildError

INFO = "tensorweb-1.dist-info"


def wheel(path: Path, **changes: str) -> Path:
    """Write a wheel; its files are changed by the name before their suffix."""
    files = {
        "tensorweb/a.py": changes.get("a", "1"),
        f"{INFO}/WHEEL": f"Generator: {changes.get('tool', 'x')}\nTag: "
        f"{changes.get('tag', 'py3-none-any')}\n",
        f"{INFO}/RECORD": changes.get("record", "digests"),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, []),
        ({"tool": "another", "record": "others"}, []),
        ({"a": "2"}, ["tensorweb/a.py"]),
        ({"tag": "py3-none-emscripten"}, [f"{INFO}/WHEEL"]),
    ],
)
def test_differences_of_archives_are_those_of_contents(
    tmp_path: Path, changes: dict[str, str], found: list[str]
) -> None:
    one = wheel(tmp_path / "one.whl")
    other = wheel(tmp_path / "other.whl", **changes)
    assert pyodide_build.differences(one, other) == found


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is run, by the last part of the program's name and its first words."""
    commands: list[str] = []

    def output(command: list[Any], **_: Any) -> str:
        words = [Path(command[0]).name, *map(str, command[1:3])]
        commands.append(" ".join(words))
        if words[1] == "build":
            wheel(Path(command[-1]) / "tensorweb.whl")
        return ""

    def status(command: list[Any], *, env: dict[str, str]) -> int:
        commands.append(f"{Path(env[in_pyodide.PYTHON]).name} runs {command[-1]}")
        return 0

    monkeypatch.setattr(pyodide_build, "output", output)
    monkeypatch.setattr(pyodide_build, "status", status)
    monkeypatch.setattr(pyodide_build, "HOME", tmp_path / "home")
    monkeypatch.setattr(pyodide_build, "OLDEST_PYTHON", (3, 11))
    monkeypatch.setattr(pyodide_build.environment, "prepare", lambda level: None)
    monkeypatch.setattr(
        pyodide_build.site, "build_wheel", lambda out: wheel(out / "ours.whl")
    )
    return commands


def test_wheels_are_compared_and_the_tests_run_again(
    ran: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pyodide_build.run(tmp_path / "out") == 0
    steps = [line for line in ran if line.startswith("pyodide")]
    assert [step.split()[1] for step in steps] == ["xbuildenv", "build", "venv"]
    assert ran[-1] == "python runs tests/in_pyodide/test_inside.py"
    assert capsys.readouterr().out.endswith("pyodide-build's wheel holds the same\n")


def test_different_wheels_are_a_failure(
    ran: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = wheel(tmp_path / "changed.whl", a="2")
    monkeypatch.setattr(
        pyodide_build.site, "build_wheel", lambda out: shutil.copy(ours, out)
    )
    with pytest.raises(BuildError, match=r"differ in tensorweb/a\.py"):
        pyodide_build.run(tmp_path / "out")


def test_an_old_python_is_said_in_one_line(
    ran: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(pyodide_build, "OLDEST_PYTHON", (9, 1))
    assert pyodide_build.run(tmp_path / "out") == 0
    built, said = capsys.readouterr().out.splitlines()
    assert built.endswith("ours.whl")
    assert said.startswith("not built with pyodide-build as well: it needs Python 9.1")
    assert ran == []


def test_an_environment_that_cannot_be_fetched_is_said_in_one_line(
    ran: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(command: list[Any], **_: Any) -> str:
        raise BuildError("failed: pip install\nlong story\nERROR: no such host")

    monkeypatch.setattr(pyodide_build, "output", fail)
    assert pyodide_build.run(tmp_path / "out") == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "not built with pyodide-build as well: ERROR: no such host"
    ]
