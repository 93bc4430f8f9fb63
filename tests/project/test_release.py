"""A release: the same bytes in another folder, complete, and refused if unready."""

from __future__ import annotations

import email
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import tensorweb as tw
from hatch_build import absolute
from tools import about, archives, environment, recipes, release, sboms
from tools.process import ROOT, BuildError
from tools.tracked import tracked_files

pytestmark = pytest.mark.needs_processes

AGAIN = """
from pathlib import Path
from tools import release
made = Path("made")
made.mkdir()
with release.fixed_time() as seconds:
    release.make_python(made)
    release.make_npm(made, seconds)
"""
"""Makes what is quick to make, in an unpacked source distribution."""

NOT_RELEASED = ".ci/"
"""What only this repository's own machines run."""


@pytest.fixture(scope="module")
def unpacked(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked, with the tools of this checkout."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(next(made.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    (source,) = folder.iterdir()
    for tools in (environment.VENV, environment.NODE_MODULES):
        (source / tools.name).symlink_to(tools, target_is_directory=True)
    return source


def run_in(folder: Path, *arguments: str) -> str:
    """Run Python in a folder, without a time from outside, and return its output."""
    env = {k: v for k, v in os.environ.items() if k != archives.VARIABLE}
    done = subprocess.run(
        [str(environment.PYTHON), *arguments],
        cwd=folder,
        env={**env, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# The same bytes


def test_another_folder_without_history_gives_the_same_bytes(
    made: Path, unpacked: Path
) -> None:
    run_in(unpacked, "-c", AGAIN)
    again = {p.name: p.read_bytes() for p in (unpacked / "made").iterdir()}
    assert again.keys() == {p.name for p in made.iterdir()}
    assert [p.name for p in made.iterdir() if again[p.name] != p.read_bytes()] == []


def names_in(archive: Path) -> list[str]:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as files:
            return files.namelist()
    with tarfile.open(archive) as files:
        return files.getnames()


@pytest.mark.parametrize("kind", ["zip", "tgz"])
def test_archives_depend_on_names_and_contents_alone(tmp_path: Path, kind: str) -> None:
    for name, order, age in (("a", "xyz", 0), ("b", "zxy", 10**9)):
        for letter in order:
            path = tmp_path / name / f"sub{letter}/{letter}.txt"
            path.parent.mkdir(parents=True)
            path.write_text(letter, "utf-8")
            path.chmod(0o600 if age else 0o644)
            os.utime(path, (age, age))
        target = tmp_path / f"{name}.{kind}"
        if kind == "zip":
            archives.write_zip(tmp_path / name, target, 10**9)
        else:
            archives.write_tgz(tmp_path / name, target, 10**9, "package")
    one, other = (tmp_path / f"{name}.{kind}" for name in "ab")
    assert one.read_bytes() == other.read_bytes()
    names = names_in(one)
    assert names == sorted(names)
    assert len(names) == 3


def test_time_is_that_of_the_commit_or_the_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(archives.VARIABLE, raising=False)
    with release.fixed_time() as seconds:
        assert os.environ[archives.VARIABLE] == str(seconds)
    assert archives.VARIABLE not in os.environ
    monkeypatch.setenv(archives.VARIABLE, "1700000000")
    assert archives.moment() == 1_700_000_000
    monkeypatch.setenv(archives.VARIABLE, "0")
    assert archives.moment() == archives.FIRST
    monkeypatch.delenv(archives.VARIABLE)
    monkeypatch.setattr(archives, "ROOT", tmp_path)
    monkeypatch.setattr(archives, "RECORD", tmp_path / "PKG-INFO")
    assert archives.moment() == archives.FIXED
    (tmp_path / "PKG-INFO").write_text("", "utf-8")
    os.utime(tmp_path / "PKG-INFO", (1_600_000_000, 1_600_000_000))
    assert archives.moment() == 1_600_000_000


# The source distribution


ADDED = {"PKG-INFO", *(f"tensorweb/reports/report.{kind}" for kind in ("css", "js"))}
"""Metadata, and the bundled script of reports: a wheel can be built without Node."""


def test_source_distribution_has_the_files_of_the_project(unpacked: Path) -> None:
    files = [
        path.relative_to(unpacked).as_posix()
        for path in unpacked.rglob("*")
        if path.is_file() and not {".venv", "node_modules", "made"} & {*path.parts}
    ]
    names = {path.relative_to(ROOT).as_posix() for path in tracked_files()}
    names = {name for name in names if not name.startswith(NOT_RELEASED)}
    assert {name for name in files if "__pycache__" not in name} - names == ADDED
    assert names - {*files} == set()


def test_tests_of_the_source_distribution_pass(unpacked: Path) -> None:
    tests = ["project/test_words.py", "graph", "optim/test_optax.py"]
    paths = [f"tests/{name}" for name in tests]
    output = run_in(unpacked, "-m", "pytest", "-q", "-n0", "--quick", *paths)
    assert re.search(r"\d+ passed", output)


# Metadata


def test_metadata_is_complete(made: Path) -> None:
    (wheel,) = made.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("METADATA"))
        found = email.message_from_bytes(archive.read(name))
    assert found["Version"] == tw.__version__ == about.version()
    assert found["License-Expression"] == "MIT"
    labels = {url.partition(",")[0] for url in found.get_all("Project-URL", [])}
    assert labels >= {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
    versions = [c for c in found.get_all("Classifier", []) if ":: 3." in c]
    assert [c.rpartition(".")[2] for c in versions] == ["11", "12", "13", "14"]
    needs = found.get_all("Requires-Dist", [])
    assert any(re.match(r"wgpu.*extra == 'gpu'", need) for need in needs)
    readme = found.get_payload()
    assert isinstance(readme, str)
    assert re.findall(r"\]\((?!https?:|#)", readme) == []


def test_links_of_the_readme_become_addresses() -> None:
    text = "![p](docs/p.png) [a](docs/a.md#b) [c](https://d.example/) [e](#f)"
    assert absolute(text, "https://h.example/t", "v1") == (
        "![p](https://h.example/t/raw/v1/docs/p.png) "
        "[a](https://h.example/t/blob/v1/docs/a.md#b) "
        "[c](https://d.example/) [e](#f)"
    )


def test_npm_package_offers_files_that_it_has(made: Path) -> None:
    (archive,) = made.glob("*.tgz")
    with tarfile.open(archive) as files:
        names = {name.removeprefix("package/") for name in files.getnames()}
        member = files.extractfile("package/package.json")
        assert member is not None
        package = json.load(member)
    assert (package["name"], package["version"]) == ("tensorweb", about.version())
    targets: set[str] = set()
    for entry in package["exports"].values():
        targets.update(entry.values() if isinstance(entry, dict) else [entry])
    assert {target.removeprefix("./") for target in targets} <= names
    assert {"README.md", "LICENSE"} <= names


def test_recipes_get_the_digests_of_their_artefacts(made: Path, tmp_path: Path) -> None:
    for path in (*made.glob("*.whl"), *made.glob("*.tar.gz")):
        shutil.copyfile(path, tmp_path / path.name)
    recipes.write(tmp_path)
    for recipe in recipes.RECIPES:
        (artefact,) = made.glob(recipe.artefact)
        digest = hashlib.sha256(artefact.read_bytes()).hexdigest()
        assert f'sha256: "{digest}"' in (tmp_path / recipe.name).read_text("utf-8")


# Bills of materials


def bills(folder: Path) -> dict[str, dict[str, Any]]:
    paths = folder.glob(f"*{sboms.ENDING}")
    return {path.name: json.loads(path.read_text("utf-8")) for path in paths}


def test_each_artefact_has_a_bill_that_names_its_digest(made: Path) -> None:
    found = bills(made)
    artefacts = [p for p in made.iterdir() if not p.name.endswith(sboms.ENDING)]
    assert found.keys() == {f"{path.name}{sboms.ENDING}" for path in artefacts}
    for path in artefacts:
        bill = found[f"{path.name}{sboms.ENDING}"]
        (entry,) = bill["metadata"]["component"]["hashes"]
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert entry == {"alg": "SHA-256", "content": digest}
        assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
        assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
        assert "timestamp" not in bill["metadata"]


def test_bill_of_the_wheel_lists_what_it_requires(made: Path) -> None:
    (bill,) = (bill for name, bill in bills(made).items() if ".whl" in name)
    scopes = {entry["name"]: entry["scope"] for entry in bill["components"]}
    assert scopes == {"numpy": "required", "wgpu": "optional"}
    assert bill["dependencies"][0]["dependsOn"] == ["pkg:pypi/numpy", "pkg:pypi/wgpu"]


def test_bill_of_the_site_lists_what_it_contains(tmp_path: Path) -> None:
    (tmp_path / "wheels").mkdir()
    (tmp_path / "build.json").write_text('{"python": "3.14.2"}', "utf-8")
    about_it = "Name: Plots\nVersion: 2.0\nLicense: BSD-3-Clause\n"
    for name in ("plots-2.0", "tensorweb-1.0"):
        path = tmp_path / f"wheels/{name}-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}.dist-info/METADATA", about_it)
    found = {entry.purl: entry for entry in sboms.in_site(tmp_path)}
    assert found["pkg:pypi/plots@2.0"].licence == "BSD-3-Clause"
    assert "pkg:generic/python@3.14.2" in found
    assert not any("tensorweb" in purl for purl in found)
    names = {entry.name for entry in found.values() if entry.kind == "npm"}
    assert {"pyodide", "@codemirror/state", "style-mod"} <= names
    assert not names & {"esbuild", "typescript", "@types/emscripten"}


# Notes, checksums, readiness

CHANGELOG = """# Changelog

## [Unreleased]

## [1.1.0] - 2026-02-03

### Fixed

- A bug.

## [1.0.0] - unreleased

- First.
"""


def test_notes_are_the_section_of_the_version() -> None:
    assert release.notes(CHANGELOG, "1.1.0") == "### Fixed\n\n- A bug.\n"
    assert release.notes(CHANGELOG, "1.0.0") == "- First.\n"
    for version in ("Unreleased", "2.0.0"):
        with pytest.raises(BuildError, match=f"no section of version {version}"):
            release.notes(CHANGELOG, version)


def test_changelog_has_notes_of_this_version() -> None:
    assert release.notes(release.CHANGELOG.read_text("utf-8"), tw.__version__)


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    contents = {"a": b"1", "b": b"2"}
    for name, data in reversed(contents.items()):
        (tmp_path / name).write_bytes(data)
    release.write_sums(tmp_path)
    lines = (tmp_path / release.SUMS).read_text("utf-8").splitlines()
    assert lines == [
        f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in contents.items()
    ]


def test_a_tag_needs_a_date_addresses_and_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changelog = tmp_path / "CHANGELOG.md"
    monkeypatch.setattr(release, "CHANGELOG", changelog)
    monkeypatch.setattr(release, "ROOT", tmp_path)  # without history
    urls = {"Homepage": "https://tensorweb.example"}
    project = {"version": "1.1.0", "urls": urls}
    monkeypatch.setattr(about, "project", lambda: project)
    changelog.write_text(CHANGELOG.replace("2026-02-03", "unreleased"), "utf-8")
    with pytest.raises(BuildError) as caught:
        release.run(tmp_path / "out", None, "v1.0.0")
    said = str(caught.value)
    assert "has version 1.1.0, the tag is v1.0.0" in said
    assert "no date for version 1.1.0" in said
    assert "no address yet for Homepage" in said
    changelog.write_text(CHANGELOG, "utf-8")
    urls["Homepage"] = "https://tensorweb.test/"
    assert release.unready("v1.1.0") == []


def test_release_does_not_replace_other_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious", "utf-8")
    with pytest.raises(BuildError, match="no release"):
        release.run(tmp_path, None, None)
