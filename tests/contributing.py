"""Follow the recipes of the documents in a copy of the project.

A comment above a fenced block says where its code belongs: before the first or last
line of a text in a file, before some text in a line, or in a new file.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

RECIPES = (
    ROOT / "docs/contributing/recipes.md",
    ROOT / "docs/contributing/extending.md",
)

BLOCK = re.compile(
    r"(?:^ *<!-- (?P<how>insert|file|page|process): (?P<where>[^\n]*) -->\n)?"
    r"^(?P<indent> *)```(?P<language>\w+)\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)

GAPS = {"def ": "\n\n", "class ": "\n\n", "    def ": "\n"}
"""Empty lines between what begins so and the line before which it is inserted."""


@dataclass(frozen=True)
class Block:
    """One fenced block: its page, heading, language and code, and where that belongs.

    `how` is `insert`, `file`, `page` for what runs in a page of others, `process` for a
    program that needs a process of its own, or empty for a block that is no step.
    """

    page: Path
    heading: str
    language: str
    code: str
    how: str
    where: str

    def __str__(self) -> str:
        words = re.findall(r"\w+", self.code)[:3]
        return f"{self.page.stem} {self.language} {' '.join(words)}"


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    text = page.read_text("utf-8")
    return [
        Block(
            page,
            _heading(text[: match.start()]),
            match["language"],
            re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE),
            match["how"] or "",
            match["where"] or "",
        )
        for match in BLOCK.finditer(text)
    ]


def _heading(before: str) -> str:
    """Return the last heading of a text, empty where there is none."""
    headings = re.findall(r"^#+ (.*)$", before, re.MULTILINE)
    return headings[-1] if headings else ""


def follow(heading: str, project: Path) -> set[str]:
    """Follow a recipe's steps in a copy of the project; return the files they touch."""
    steps = [
        block
        for page in RECIPES
        for block in blocks(page)
        if block.heading == heading and block.how
    ]
    assert steps, f"no recipe has steps under {heading!r}"
    for step in steps:
        if step.how == "file":
            path = project / step.where
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.code, "utf-8")
        else:
            _insert(step, project)
    return {step.where.partition(" before ")[0] for step in steps}


def _insert(step: Block, project: Path) -> None:
    """Put a block before the first or last line of a text, or before the text."""
    name, _, target = step.where.partition(" before ")
    which, _, line = target.partition(": ")
    path = project / name
    text = path.read_text("utf-8")
    if which == "text":
        assert line in text, f"{name} has no {line}"
        path.write_text(text.replace(line, f"{step.code.strip()} {line}", 1), "utf-8")
        return
    lines = text.split("\n")
    at = [number for number, text in enumerate(lines) if text == line]
    assert at, f"{name} has no line {line!r}"
    gap = next((gap for start, gap in GAPS.items() if step.code.startswith(start)), "")
    lines.insert(at[0 if which == "first" else -1], step.code.removesuffix("\n") + gap)
    path.write_text("\n".join(lines), "utf-8")


FOLDERS = ("tensorweb", "shaders", "tests", "tools", "docs", "e2e/bare", "web/src/page")
FILES = ("conftest.py", "pyproject.toml", "build.py")


def copy_library(project: Path) -> None:
    """Copy the library, its tests and its tools, without the page."""
    for name in FOLDERS:  # with what Python compiled
        shutil.copytree(ROOT / name, project / name)
    for name in FILES:
        shutil.copyfile(ROOT / name, project / name)


def changed(project: Path) -> set[str]:
    """Return the files of a copy that the project has not, or has otherwise."""
    found = set()
    for path in project.rglob("*"):
        name = path.relative_to(project).as_posix()
        if path.is_dir() or "__pycache__" in name or "_cache/" in name:
            continue
        original = ROOT / name
        if not original.is_file() or original.read_bytes() != path.read_bytes():
            found.add(name)
    return found


def copy_page(project: Path) -> None:
    """Copy the page's sources and the compiler's options; the packages stay shared."""
    shutil.copytree(ROOT / "web", project / "web")
    shutil.copyfile(ROOT / "tsconfig.json", project / "tsconfig.json")
    packages = project / "node_modules"
    packages.symlink_to(ROOT / "node_modules", target_is_directory=True)
