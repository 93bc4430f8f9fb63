"""What the pages for people say is true: code runs, paths exist, made pages are fresh.

Sessions (`>>>`) run as doctests on both devices, other Python as programs whose output
is the text block that follows; the steps of recipes are followed in a copy.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from contributing import Block, blocks, copy_page, follow

import build
import tensorweb as tw
from tensorweb import frames
from tests.conftest import open_or_skip
from tools import (
    documents,
    environment,
    numpy_names,
    other_libraries,
    programs,
    reference,
    surfaces,
)

ROOT = Path(__file__).resolve().parents[2]

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]

PATH = re.compile(r"`([\w./-]+/[\w./-]*)`")

FOLDERS = (
    *("bench", "docs", "e2e", "fuzz", "shaders", "tensorweb", "tests", "tools", "web"),
)


NAMED_TEST = re.compile(r"`(test_\w+)`")


def test_tests_that_pages_name_are_there() -> None:
    files = [*ROOT.glob("e2e/test_*.py"), *ROOT.glob("tests/**/test_*.py")]
    there = {
        name
        for path in files
        for name in re.findall(
            r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE
        )
    }
    named = {
        name for page in PAGES for name in NAMED_TEST.findall(page.read_text("utf-8"))
    }
    assert len(named) > 30
    assert named <= there | {path.stem for path in files}, named - there


BLOCKS = [block for page in PAGES for block in blocks(page)]
SESSIONS = [block for block in BLOCKS if block.language == "pycon"]
SHELL = [block for block in BLOCKS if block.language == "sh"]
IS_PROGRAM = {block: block.language == "python" and not block.how for block in BLOCKS}
PROGRAMS = [
    (block, following.code if following and following.language == "text" else None)
    for block, following in zip(BLOCKS, [*BLOCKS[1:], None], strict=True)
    if IS_PROGRAM[block]
]


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    languages = {block.language for block in BLOCKS}
    assert languages <= {
        *("pycon", "python", "sh", "text", "ts", "css", "wgsl", "html")
    }


@pytest.mark.parametrize("block", SESSIONS, ids=str)
def test_sessions(block: Block, device: str) -> None:
    frames.begin_program()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    parsed = doctest.DocTestParser().get_doctest(
        block.code, {"tw": tw}, str(block), str(block.page), 0
    )
    said = io.StringIO()
    results = doctest.DocTestRunner(optionflags=flags).run(parsed, out=said.write)
    assert results.failed == 0, said.getvalue()


@pytest.mark.parametrize(("block", "output"), PROGRAMS, ids=str)
def test_programs(block: Block, output: str | None, device: str) -> None:
    """Run what Run runs: the block after the earlier blocks that it needs."""
    cells = [
        other for other in BLOCKS if other.page == block.page and IS_PROGRAM[other]
    ]
    codes, index = [cell.code for cell in cells], cells.index(block)
    parts = programs.with_needed(codes, index)
    if programs.needs_gpu(programs.joined(parts)):
        open_or_skip("webgpu")
    names = {"__name__": "__main__"}
    frames.begin_program()  # draws from a generator of its own
    for part in parts:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(part, str(block), "exec"), names)
    assert output is None or printed.getvalue() == output


ALONE = [block for block in BLOCKS if block.how == "process"]


@pytest.mark.needs_processes
@pytest.mark.parametrize("block", ALONE, ids=str)
def test_programs_in_a_process_of_their_own(block: Block, webgpu: str) -> None:
    command = [sys.executable, "-c", block.code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_pages_of_others_are_of_the_versions_that_are_tested() -> None:
    text = (ROOT / "docs/guide/notebooks.md").read_text("utf-8")
    install = (ROOT / "docs/guide/install.md").read_text("utf-8")
    for name, package, path in (
        ("pyodide/v", "pyodide", "package.json"),
        ("@pyscript/core@", "@pyscript/core", "e2e/elsewhere/package.json"),
    ):
        pins = json.loads((ROOT / path).read_text("utf-8"))["dependencies"]
        assert f"/{name}{pins[package]}/" in text
    for page in (text, install):
        versions = re.findall(r"/wheels/tensorweb-(.*)-py3-none-any\.whl", page)
        assert {*versions} == {tw.__version__}


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_commands_exist(block: Block) -> None:
    for line in block.code.splitlines():
        words = shlex.split(line, comments=True)
        assert words[:2] == ["python3", "build.py"]
        build._parser().parse_args(words[2:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_are_words(page: Path) -> None:
    words = re.findall(r"(?<!!)\[([^\]]+)\]\(", page.read_text("utf-8"))
    assert [text for text in words if re.search(r"\.md$|^\w+_\w+$", text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_and_links_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    named = [path for path in PATH.findall(text) if path.split("/")[0] in FOLDERS]
    links = re.findall(r"\]\(([^):#]+?)(?:#[\w.-]*)?\)", text)
    missing = [path for path in named if "NN-" not in path and "NAME" not in path]
    missing = [path for path in missing if not (ROOT / path).exists()]
    missing += [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_pages_from_docstrings_are_fresh() -> None:
    advice = "run `python3 build.py docs`"
    for path, text in reference.texts().items():
        assert path.read_text("utf-8") == text, advice
    page = documents.NUMERICS.read_text("utf-8")
    assert page == documents.numerics(page), advice
    assert numpy_names.NAMES.read_text("utf-8") == numpy_names.page(), advice
    for path, text in other_libraries.pages().items():
        assert path.read_text("utf-8") == text, advice


def test_layers_of_pytorch_are_public_names() -> None:
    [line] = other_libraries.TABLES["torch_layers"]()
    names = re.findall(r"`(\w+)`", line)
    assert set(names) <= {*tw.nn.__all__}
    assert "Linear" in names


def test_pages_for_other_libraries_show_every_table() -> None:
    text = "".join(other_libraries.pages().values())
    assert set(re.findall(r"<!-- table: (\w+) -->", text)) == {*other_libraries.TABLES}


def test_functions_and_methods_equal_the_op_table() -> None:
    advice = "run `python3 build.py docs`"
    assert surfaces.FUNCTIONS.read_text("utf-8") == surfaces.functions(), advice
    assert surfaces.METHODS.read_text("utf-8") == surfaces.methods(), advice


@pytest.fixture
def extended(tmp_path: Path) -> Path:
    """A copy of the page with the panel of docs/contributing/recipes.md."""
    copy_page(tmp_path)
    follow("A panel", tmp_path)
    return tmp_path / "web"


def test_adding_a_panel_takes_one_row_and_one_folder(extended: Path) -> None:
    before, after = texts(ROOT / "web"), texts(extended)
    rows = "src/panels.ts"
    assert [path for path in before if after[path] != before[path]] == [rows]
    assert {Path(path).parent for path in after.keys() - before.keys()} == {
        Path("src/panels/clock")
    }
    lines = before[rows].splitlines()
    added = [line for line in after[rows].splitlines() if line not in lines]
    assert [line.split()[0] for line in added] == ["import", "{"]


def texts(folder: Path) -> dict[str, str]:
    """Return the text of every file in a folder, by path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes().decode(
            "utf-8", "replace"
        )
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_panel_compiles(extended: Path) -> None:
    if not (environment.NODE_MODULES / "typescript").is_dir():
        pytest.skip("the TypeScript compiler is missing: run build.py setup")
    compiler = environment.npm_tool("typescript", "bin/tsc")
    done = subprocess.run(
        [*compiler, "-p", extended.parent],
        env=environment.variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
