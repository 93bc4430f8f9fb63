"""The quick part of `build.py rehearse`: artefacts are installed and compute."""

from __future__ import annotations

import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tools import about, environment, rehearsal, release
from tools.process import BuildError

pytestmark = pytest.mark.needs_processes


def skipping(step: object, *arguments: object) -> str:
    """Run a step, or skip the test where the machine lacks something."""
    assert callable(step)
    try:
        return str(step(*arguments))
    except rehearsal.Skipped as reason:
        pytest.skip(str(reason))


def test_wheel_computes_where_pip_put_it(made: Path, tmp_path: Path) -> None:
    pip = [str(environment.PYTHON), "-m", "pip", "install", "--quiet", "--no-deps"]
    target = tmp_path / "packages"
    wheel = rehearsal.wheel_of(made)
    flags = ["--disable-pip-version-check", "--no-index", "--no-compile"]
    subprocess.run([*pip, *flags, "--target", str(target), str(wheel)], check=True)
    program = f"{rehearsal.PROGRAM}\nimport tensorweb; print(tensorweb.__file__)"
    done = subprocess.run(
        [str(environment.PYTHON), "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
        check=True,
    )
    printed = f"{about.version()} {rehearsal.PRINTED}\n{target}/tensorweb/__init"
    assert done.stdout.startswith(printed)


def test_micropip_installs_the_wheel_from_an_index(made: Path) -> None:
    printed = skipping(rehearsal.in_node_pyodide, made)
    assert printed == f"{about.version()} {rehearsal.PRINTED}"


def test_index_has_one_package(made: Path) -> None:
    with rehearsal.index(rehearsal.wheel_of(made)) as address:
        with urllib.request.urlopen(f"{address}/tensorweb/") as answer:
            assert answer.headers["Content-Type"] == rehearsal.JSON_INDEX
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{address}/numpy/")
        caught.value.close()


def test_npm_package_is_imported_in_node(made: Path) -> None:
    assert rehearsal.SCRIPTS.fullmatch(rehearsal.in_node(made))


def test_npm_package_is_imported_in_a_page(made: Path) -> None:
    assert rehearsal.SCRIPTS.fullmatch(skipping(rehearsal.in_page, made))


def test_changed_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"1")
    release.write_sums(tmp_path)
    assert rehearsal.check_sums(tmp_path) == "1 files"
    (tmp_path / "a.whl").write_bytes(b"2")
    with pytest.raises(AssertionError, match=r"a\.whl has other bytes"):
        rehearsal.check_sums(tmp_path)


def test_missing_python_is_a_reason_to_skip() -> None:
    with pytest.raises(rehearsal.Skipped, match="not on this machine"):
        rehearsal.interpreter("3.99")


def test_every_step_runs_though_one_fails(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(made: Path) -> str:
        raise BuildError("out of order")

    def skip(made: Path, version: str = "") -> str:
        raise rehearsal.Skipped("not here")

    names = ("in_node_pyodide", "in_node", "in_page", "site_archive", "source_tests")
    for name in names:
        monkeypatch.setattr(rehearsal, name, fail if name == "in_node" else skip)
    for name in ("in_python", "recipe_is_read"):
        monkeypatch.setattr(rehearsal, name, skip)
    monkeypatch.setattr(rehearsal.environment, "prepare", lambda level: None)
    release.write_sums(tmp_path)
    assert rehearsal.run(tmp_path, None) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("checksums: ok: 0 files")
    assert sum(line.endswith("skipped: not here") for line in lines) == len(lines) - 2
    (failed,) = (line for line in lines if "FAILED" in line)
    assert failed.endswith("npm in Node: FAILED: out of order")
    monkeypatch.setattr(rehearsal, "in_node", skip)
    assert rehearsal.run(tmp_path, None) == 0
