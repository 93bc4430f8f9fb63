"""Run the tests of the page's pure functions in Node's own test runner."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.environment import node, npm_tool

HERE = Path(__file__).parent


@pytest.mark.parametrize("test", sorted(HERE.glob("*.test.ts")), ids=lambda p: p.stem)
def test_functions_of_the_page(test: Path, tmp_path: Path) -> None:
    bundle = tmp_path / f"{test.stem}.mjs"
    command: list[str | Path] = [*npm_tool("esbuild", "bin/esbuild"), test, "--bundle"]
    command += ["--platform=node", "--format=esm", "--sourcemap=inline"]
    subprocess.run([*command, f"--outfile={bundle}"], check=True)
    command = [node(), "--enable-source-maps", "--test", bundle]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
