"""The files of a program: imported anew, found by name, distinguished in failures."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorweb.playground import bridge
from tensorweb.playground import files as program_files
from tensorweb.playground.records import ProgramFile
from tensorweb.playground.session import Session


class Player:
    def __init__(self) -> None:
        self.printed = ""
        self._session = Session(self._take, None, True)

    def _take(self, kind: str, fields: Any) -> None:
        self.printed += str(fields.get("text", "")) if kind == "output" else ""

    def run(self, source: str, *, keep: bool = False, **files: str) -> Any:
        """Run a program; `helpers_py` is the file `helpers.py`."""
        self.printed = ""
        sent: list[ProgramFile] = [
            {"name": ".".join(name.rsplit("_", 1)), "text": text}
            for name, text in files.items()
        ]
        asked = self._session.run(source, files=sent, keep=keep)
        return bridge.drive(asked)["error"]


@pytest.fixture
def player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Player]:
    monkeypatch.chdir(tmp_path)
    main, path = sys.modules["__main__"], list(sys.meta_path)
    yield Player()
    sys.modules["__main__"], sys.meta_path[:] = main, path
    sys.modules.pop("helpers", None)


USES = "import helpers\nprint(helpers.area(3))"


def test_a_changed_module_is_imported_anew(player: Player) -> None:
    assert player.run(USES, helpers_py="def area(x): return x * x") is None
    assert player.printed == "9\n"
    assert player.run(USES, helpers_py="def area(x): return -x") is None
    assert player.printed == "-3\n"
    assert player.run(USES)["type"] == "ModuleNotFoundError"


def test_what_ended_programs_made_is_freed(player: Player) -> None:
    """Also out of cycles, in the program and in its files; plans are passed over."""
    made: list[weakref.ref[type]] = []
    source = "import helpers\nclass Mine: pass\nhelpers.made += [Mine, helpers.Its]"
    for _ in range(3):
        its = "made = []\nclass Its:\n    def __init__(self): made.append(self)\n"
        assert player.run(source, helpers_py=its) is None
        made += [weakref.ref(one) for one in sys.modules["helpers"].made]
        alive = [ref() is not None for ref in made]
        assert alive == [False] * (len(made) - 2) + [True] * 2
    assert gc.get_freeze_count() > 0
    assert player.run("") is None
    assert not any(ref() for ref in made)


def test_values_of_the_last_run_are_freed_before_a_collection(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    looped = "import tensorweb as tw\nx = tw.ones(3)\nfor _ in range(9): x = x + 1"
    bridge.drive(player._session.run(looped, "cpu", inside=True))
    kernels = weakref.ref(player._session._kernels)
    film = weakref.ref(player._session._lines.film(1)[0][1].node)
    alive: list[bool] = []
    monkeypatch.setattr(gc, "collect", lambda: alive.append(bool(kernels() or film())))
    assert player.run("") is None
    assert alive == [False]


def test_imports_persist_between_cells(player: Player) -> None:
    counts = (
        "import helpers\nhelpers.n = getattr(helpers, 'n', 0) + 1\nprint(helpers.n)"
    )
    for keep, files, printed in (
        (False, {"helpers_py": ""}, "1\n"),
        (True, {"helpers_py": ""}, "2\n"),
        (True, {"helpers_py": "#"}, "1\n"),
        (False, {"helpers_py": "#"}, "1\n"),
    ):
        assert player.run(counts, keep=keep, **files) is None
        assert player.printed == printed


def test_a_failure_names_the_file_of_each_frame(player: Player) -> None:
    broken = "def area(x):\n    é = 'é'; return é / x\n"
    failure = player.run(USES, helpers_py=broken)
    lines = [(one["file"], one["line"], one["function"]) for one in failure["frames"]]
    assert lines == [("main.py", 2, "<module>"), ("helpers.py", 2, "area")]
    assert failure["frames"][1]["code"] == "é = 'é'; return é / x"
    assert failure["frames"][1]["column"] == 20
    assert 'File "helpers.py", line 2, in area\n    é = ' in failure["text"]
    assert failure["hidden"] == 0


def test_a_module_that_cannot_be_compiled_says_where(player: Player) -> None:
    failure = player.run(USES, helpers_py="x = 1\ny = (")
    lines = [(one["file"], one["line"]) for one in failure["frames"]]
    assert lines == [("main.py", 1), ("helpers.py", 2)]


@pytest.mark.parametrize("name", ["random_py", "tensorweb_py", "main_py", "numpy_py"])
def test_a_module_that_would_hide_another_is_refused(
    player: Player, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(program_files, "site", frozenset({"numpy"}))
    failure = player.run("import random", **{name: ""})
    assert "has the name of another module" in failure["message"]
    assert player.run("import random; random.random()") is None


def test_data_are_found_by_name_and_leave_with_their_program(player: Player) -> None:
    reads = "with open('sides.csv') as file: print(file.read())"
    assert player.run(reads, sides_csv="é,4\r\n") is None
    assert Path("sides.csv").read_bytes() == "é,4\r\n".encode()
    assert player.run(reads)["type"] == "FileNotFoundError"


def test_files_overwritten_by_a_program_persist(player: Player) -> None:
    assert (
        player.run(
            "with open('a.txt', 'w') as file: file.write('result')", a_txt="data"
        )
        is None
    )
    assert player.run("") is None
    assert Path("a.txt").read_text() == "result"
    assert player.run("", a_txt="data") is None
    assert Path("a.txt").read_text() == "data"


@pytest.mark.parametrize("name", ["../up.txt", "a/b.txt", "..", "a\0.txt"])
def test_names_with_folders_are_refused(player: Player, name: str) -> None:
    files: list[ProgramFile] = [{"name": name, "text": "x"}]
    run = bridge.drive(player._session.run("", files=files))
    assert run["error"]
    assert list(Path().iterdir()) == []


def test_a_display_in_a_module_is_named_by_its_own_line(
    cpu: str, player: Player
) -> None:
    notes: list[Any] = []
    session = Session(lambda kind, fields: notes.append((kind, fields)), None, True)
    files: list[ProgramFile] = [
        {
            "name": "helpers.py",
            "text": "import tensorweb as tw\ndef draw(y): tw.show(y + 1)",
        }
    ]
    source = "import helpers, tensorweb as tw\nx = tw.ones(2)\nhelpers.draw(x)"
    assert bridge.drive(session.run(source, files=files))["error"] is None
    assert [fields["name"] for kind, fields in notes if kind == "display"] == ["y + 1"]
