"""What the pages for people say is true: code runs, paths exist, made pages are fresh.

Sessions (`>>>`) run as doctests on both devices, other Python as programs whose output
is the text block that follows; the steps of CONTRIBUTING.md are followed in a copy.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import re
import shutil
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

import build
import tensorweb as tw
from tools import documents

ROOT = Path(__file__).resolve().parents[2]

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]

BLOCK = re.compile(
    r"(?:^ *<!-- insert: (?P<insert>[^\n]*) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)

PATH = re.compile(r"`([\w./-]+/[\w./-]*)`")

FOLDERS = (
    *("bench", "docs", "e2e", "fuzz", "shaders", "tensorweb", "tests", "tools", "web"),
)


@dataclass(frozen=True)
class Block:
    """One fenced block: its page, language, code and where it is to be inserted."""

    page: Path
    language: str
    code: str
    insert: str

    def __str__(self) -> str:
        words = re.findall(r"\w+", self.code)[:3]
        return f"{self.page.stem} {self.language} {' '.join(words)}"


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    return [
        Block(
            page,
            match["language"],
            textwrap.dedent(match["code"]),
            match["insert"] or "",
        )
        for match in BLOCK.finditer(page.read_text("utf-8"))
    ]


BLOCKS = [block for page in PAGES for block in blocks(page)]
SESSIONS = [block for block in BLOCKS if block.language == "pycon"]
SHELL = [block for block in BLOCKS if block.language == "sh"]
STEPS = [block for block in BLOCKS if block.insert]
PROGRAMS = [
    (block, following.code if following and following.language == "text" else None)
    for block, following in zip(BLOCKS, [*BLOCKS[1:], None], strict=True)
    if block.language == "python" and not block.insert
]


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    languages = {block.language for block in BLOCKS}
    assert languages <= {"pycon", "python", "sh", "text", "ts"}


@pytest.mark.parametrize("block", SESSIONS, ids=str)
def test_sessions(block: Block, device: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    parsed = doctest.DocTestParser().get_doctest(
        block.code, {"tw": tw}, str(block), str(block.page), 0
    )
    said = io.StringIO()
    results = doctest.DocTestRunner(optionflags=flags).run(parsed, out=said.write)
    assert results.failed == 0, said.getvalue()


@pytest.mark.parametrize(("block", "output"), PROGRAMS, ids=str)
def test_programs(block: Block, output: str | None, device: str) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.code, str(block), "exec"), {"__name__": "__main__"})
    assert output is None or printed.getvalue() == output


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_commands_exist(block: Block) -> None:
    for line in block.code.splitlines():
        words = line.partition("#")[0].split()
        assert words[:2] == ["python3", "build.py"]
        arguments = " ".join(words[2:]).replace('"', "")
        command, _, expression = arguments.partition(" -k ")
        given = [command, *(["-k", expression] if expression else [])]
        build._parser().parse_args(given)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_and_links_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    named = [path for path in PATH.findall(text) if path.split("/")[0] in FOLDERS]
    links = re.findall(r"\]\(([^):]+?)(?:#[\w-]*)?\)", text)
    missing = [path for path in named if "NN-" not in path and "NAME" not in path]
    missing = [path for path in missing if not (ROOT / path).exists()]
    missing += [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_pages_from_docstrings_are_fresh() -> None:
    advice = "run `python3 build.py docs`"
    assert documents.API.read_text("utf-8") == documents.api(), advice
    page = documents.NUMERICS.read_text("utf-8")
    assert page == documents.numerics(page), advice


def test_adding_an_operation_takes_the_steps_that_are_told(tmp_path: Path) -> None:
    for name in ("tensorweb", "shaders", "tests"):
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=leave)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    for step in STEPS:
        insert(step, tmp_path)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    files = [
        "tests/functions/test_elementwise.py",
        "tests/functions/test_public_names.py",
    ]
    files += [
        "tensorweb/functions/arithmetic.py",
        "--doctest-modules",
        "-k",
        "softsign",
    ]
    done = subprocess.run(
        [*command, *files], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.search(r"\d\d passed", done.stdout), done.stdout


def insert(step: Block, project: Path) -> None:
    """Put a block before the first or last line of a text, or before the text."""
    name, _, place = step.insert.partition(" before ")
    which, _, line = place.partition(": ")
    text = (project / name).read_text("utf-8")
    if which == "text":
        assert line in text, f"{name} has no {line}"
        changed = text.replace(line, f"{step.code.strip()} {line}", 1)
        (project / name).write_text(changed, "utf-8")
        return
    lines = text.split("\n")
    at = [number for number, text in enumerate(lines) if text == line]
    assert at, f"{name} has no line {line!r}"
    gap = "\n\n" if step.code.startswith("def ") else ""
    gap = "\n" if step.code.lstrip().startswith("def ") and not gap else gap
    indent = line[: len(line) - len(line.lstrip())] or ("    " if line == ")" else "")
    code = textwrap.indent(step.code, indent).rstrip("\n") + gap
    lines.insert(at[0 if which == "first" else -1], code)
    (project / name).write_text("\n".join(lines), "utf-8")


def test_typescript_compiles(tmp_path: Path) -> None:
    compiler = ROOT / "node_modules/typescript/bin/tsc"
    node = shutil.which("node")
    if node is None or not compiler.is_file():
        pytest.skip("the TypeScript compiler needs Node: run build.py setup")
    (block,) = [block for block in BLOCKS if block.language == "ts"]
    page = json.dumps(str(ROOT / "web/src/page/page"))
    code = block.code.replace('"../page/page"', page)
    (tmp_path / "clock.ts").write_text(code, "utf-8")
    options = {"extends": str(ROOT / "tsconfig.json"), "include": ["clock.ts"]}
    options["compilerOptions"] = {"types": [str(ROOT / "node_modules/@webgpu/types")]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(options), "utf-8")
    done = subprocess.run(
        [node, compiler, "-p", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
