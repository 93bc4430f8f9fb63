"""The npm package: equal bytes each time, complete, usable in Node and TypeScript."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import tensorweb as tw
from tools import npm_package, sboms
from tools.environment import node, npm_tool

PROGRAM = """
import { TensorWeb } from "tensorweb";
import "tensorweb/drivers";
TensorWeb.base = "https://example.org/play/";
const scripts = Object.keys(globalThis.tensorwebScripts).length;
console.log(typeof TensorWeb.prototype.run, scripts > 1);
"""

TYPED = """
import { TensorWeb, type TensorWebResult, type TensorWebState } from "tensorweb";
import "tensorweb/drivers";
const element: TensorWeb = document.createElement("tensor-web");
element.value = "print(1)";
const result: TensorWebResult = await element.run();
const shapes: number[][] = result.tensors.map(({ shape }) => shape);
element.addEventListener("tensorweb-result", ({ detail }) => detail.error?.line);
element.addEventListener("tensorweb-state", ({ detail }) => {
  const state: TensorWebState = detail.state;
  return state === "done";
});
// @ts-expect-error there is no such state
element.state === "tired";
export { shapes };
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a project that has installed the package."""
    project = tmp_path_factory.mktemp("project")
    npm_package.write(project / "node_modules/tensorweb")
    (project / "package.json").write_text('{"type": "module"}')
    return project


def test_package_is_the_same_each_time(folder: Path, tmp_path: Path) -> None:
    npm_package.write(tmp_path)
    first, second = (
        {path.name: path.read_bytes() for path in made.iterdir()}
        for made in (folder / "node_modules/tensorweb", tmp_path)
    )
    assert first == second


def test_description_names_files_that_exist(folder: Path) -> None:
    package = folder / "node_modules/tensorweb"
    said = json.loads((package / "package.json").read_text())
    assert said["name"] == "tensorweb"
    assert said["version"] == tw.__version__
    assert said["license"] == "MIT"
    exported = re.findall(r"\./[\w.-]+", json.dumps(said["exports"]))
    assert len(exported) > 4
    files = {path.name for path in package.iterdir()}
    imported = {
        name
        for path in package.glob("*.js")
        for name in re.findall(r'(?:from|import\()"\./([\w.-]+)"', path.read_text())
    }
    assert len(imported) >= 3
    named = {name.removeprefix("./") for name in exported} | imported
    assert named - {"drivers"} <= files
    assert {"README.md", "LICENSE"} <= files
    assert not [name for name in files if name.endswith(".map")]


MOST_AT_ONCE = 24_000
"""Bytes that every page with an element loads before its reader does anything."""


def test_the_first_script_is_small(folder: Path) -> None:
    package = folder / "node_modules/tensorweb"
    waiting, found = ["tensor-web.js"], dict[str, str]()
    while waiting:
        name = waiting.pop()
        found[name] = (package / name).read_text()
        parts = re.findall(r'(?:from|import)"\./([\w.-]+)"', found[name])
        waiting += [part for part in parts if part not in found]
    assert len(found) > 1
    assert sum(map(len, found.values())) <= MOST_AT_ONCE


def test_node_imports_the_package(folder: Path) -> None:
    (folder / "program.mjs").write_text(PROGRAM)
    found = subprocess.run(
        [node(), "program.mjs"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert found.stdout == "function true\n", found.stderr


def test_types_are_complete(folder: Path) -> None:
    (folder / "typed.ts").write_text(TYPED)
    options = {
        "strict": True,
        "noEmit": True,
        "module": "NodeNext",
        "target": "ES2024",
        "types": [],
    }
    settings = {"compilerOptions": options, "files": ["typed.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(settings))
    command = [*npm_tool("typescript", "bin/tsc"), "-p", folder]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_bill_names_what_is_bundled() -> None:
    names = {component.name for component in sboms.of_npm(npm_package.imported())}
    assert {"@codemirror/view", "style-mod"} <= names
    assert not names & {"pyodide", "@codemirror/merge", "esbuild"}
