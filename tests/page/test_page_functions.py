"""Run the tests of the page's pure functions in Node's own test runner."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.environment import node, npm_tool

TESTS = sorted(Path(__file__).parent.glob("*.test.ts"))


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script of each file."""
    folder = tmp_path_factory.mktemp("bundles")
    command = [*npm_tool("esbuild", "bin/esbuild"), *TESTS, f"--outdir={folder}"]
    command += ["--bundle", "--platform=node", "--format=esm", "--sourcemap=inline"]
    subprocess.run([*command, "--out-extension:.js=.mjs"], check=True)
    return folder


@pytest.mark.parametrize("test", TESTS, ids=lambda path: path.stem)
def test_functions_of_the_page(test: Path, bundles: Path) -> None:
    # Without `--test`, which would start a process for each file, it runs here.
    command = [node(), "--enable-source-maps", bundles / f"{test.stem}.mjs"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
