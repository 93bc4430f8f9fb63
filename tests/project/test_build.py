"""The build: wheel, lock files, examples index, the page's files, commands."""

from __future__ import annotations

import json
import re
import shutil
import threading
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zlib import crc32

import pytest

import build
from tensorweb.drivers import browser, browser_pictures, wasm_browser
from tensorweb.drivers.scripts import script_text
from tools import (
    bundle,
    driver_scripts,
    environment,
    examples,
    machine,
    packages,
    site,
)
from tools.process import ROOT, BuildError

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.build_wheel(tmp_path_factory.mktemp("wheel"))


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        entry = next(name for name in archive.namelist() if name.endswith("METADATA"))
        return message_from_bytes(archive.read(entry))


# The wheel


def test_wheel_runs_on_every_platform(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


def test_wheel_carries_every_shader_and_script(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    shaders = {
        f"tensorweb/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / "shaders").rglob("*.wgsl")
    }
    scripts = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tensorweb/drivers").glob("*.js")
    }
    assert shaders
    assert scripts
    assert shaders | scripts | {"tensorweb/py.typed"} <= names


def test_wheel_carries_nothing_but_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
    assert {folder.split("-")[0] for folder in folders} == {"tensorweb"}


def test_wheel_needs_numpy_outside_the_browser_only(wheel: Path) -> None:
    target = packages.target_of(site.PYODIDE)
    assert target.read(wheel).needs == ()
    needs = metadata(wheel).get_all("Requires-Dist", [])
    assert any(re.match(r"numpy.*sys_platform != .emscripten.", need) for need in needs)


def test_wheel_is_the_same_when_built_again(wheel: Path, tmp_path: Path) -> None:
    again = site.build_wheel(tmp_path)
    assert again.read_bytes() == wheel.read_bytes()


# Lock files


@pytest.mark.parametrize(
    "name",
    [
        *("package-lock.json", "e2e/elsewhere/package-lock.json"),
        *(f"requirements/{path.name}" for path in LOCKS),
    ],
)
def test_lock_file_names_no_host(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert not re.search(r"://|\"resolved\"|--index-url|--find-links", text)


@pytest.mark.parametrize("name", ["package.json", "e2e/elsewhere/package.json"])
def test_npm_packages_are_pinned_exactly(name: str) -> None:
    package = json.loads((ROOT / name).read_text("utf-8"))
    pins = {**package["dependencies"], **package.get("devDependencies", {})}
    assert [
        pin for pin in pins.values() if not re.fullmatch(r"\d+\.\d+\.\d+", pin)
    ] == []


def test_npm_packages_have_a_checksum() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))
    rows = {name: row for name, row in lock["packages"].items() if name}
    assert [name for name, row in rows.items() if "integrity" not in row] == []


def test_codemirror_is_taken_from_its_scoped_packages() -> None:
    # The plain npm package has a mis-tagged release that is CodeMirror 5.
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))
    assert "node_modules/codemirror" not in lock["packages"]


def test_playwright_still_drives_firefox() -> None:
    text = (ROOT / "requirements/test.txt").read_text("utf-8")
    version = re.search(r"^playwright==1\.(\d+)", text, re.MULTILINE)
    assert version is not None
    assert 60 <= int(version[1]) < 65


# The examples index


def test_index_takes_title_and_description_from_the_docstring(tmp_path: Path) -> None:
    second = '"""Second.\n\nPredict: what?\n\nThen look: Kernels;\nWhy? x[3]\n"""\n'
    (tmp_path / "02-b.py").write_text(second, "utf-8")
    text = (
        '"""A tour.\n\nOne line\nand another.\n\nMore.\n\nPredict: is it\nlong?\n"""\n'
        "print(1)\n"
    )
    (tmp_path / "01-a.py").write_text(text, "utf-8")
    assert examples.index(tmp_path) == [
        {
            "file": "01-a.py",
            "group": "Learn",
            "title": "A tour",
            "description": "One line and another.",
            "question": "is it long?",
            "looks": [],
        },
        {
            "file": "02-b.py",
            "group": "Learn",
            "title": "Second",
            "description": "",
            "question": "what?",
            "looks": ["Kernels", "Why? x[3]"],
        },
    ]


def test_index_refuses_an_example_without_a_question(tmp_path: Path) -> None:
    (tmp_path / "01-a.py").write_text('"""A tour.\n\nIt tells.\n"""\n', "utf-8")
    with pytest.raises(BuildError, match=r"01-a\.py: .* asks the reader something"):
        examples.index(tmp_path)


def test_index_says_which_example_lacks_a_docstring(tmp_path: Path) -> None:
    (tmp_path / "01-a.py").write_text("print(1)\n", "utf-8")
    with pytest.raises(BuildError, match=r"01-a\.py: an example starts with a docstr"):
        examples.index(tmp_path)


def test_every_example_has_a_title_and_a_description() -> None:
    entries = examples.index(ROOT / "web/examples")
    assert entries
    assert [entry["file"] for entry in entries if not entry["description"]] == []


def test_groups_name_examples_and_each_has_a_picture() -> None:
    folder = ROOT / "web/examples"
    numbers = sorted(path.stem[:2] for path in folder.glob("*.py"))
    grouped = [number for group in examples.GROUPS.values() for number in group]
    assert sorted(grouped) == numbers
    pictures = {path.stem for path in (folder / "pictures").glob("*.webp")}
    assert pictures == {path.stem for path in folder.glob("*.py")}


def test_an_example_with_data_is_one_text_of_several_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "DATA", {"01": ("words.txt",)})
    (tmp_path / "data").mkdir()
    (tmp_path / "data/words.txt").write_text("eins\nzwei é\n", "utf-8")
    path = tmp_path / "01-a.py"
    path.write_text("print(1)\n", "utf-8")
    assert examples.source(path) == (
        '#!tensorweb files\n[["main.py","print(1)\\n"],'
        '["words.txt","eins\\nzwei é\\n"]]'
    )


def test_all_data_of_examples_is_used() -> None:
    used = {name for names in examples.DATA.values() for name in names}
    assert used == {path.name for path in (ROOT / "web/examples/data").iterdir()}


# The page's files


def test_quoted_names_get_the_hash_and_others_stay() -> None:
    text = "import('./worker.js'); \"worker.js\" my-worker.js 'x/worker.js'"
    assert bundle.rewrite(text, {"worker.js": "worker-1.js"}) == (
        "import('./worker-1.js'); \"worker-1.js\" my-worker.js 'x/worker.js'"
    )


def test_npm_packages_of_the_tests_outlive_a_change_of_the_lock_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[list[str]] = []

    def install(command: list[str], **_: object) -> None:
        # As `npm ci` does: earlier files are removed.
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()
        ran.append([str(word) for word in command])

    locks = iter(["one", "two", "three"])
    monkeypatch.setattr(environment, "NODE_MODULES", tmp_path)
    monkeypatch.setattr(environment, "npm", lambda: ["npm"])
    monkeypatch.setattr(environment, "output", install)
    for level in ("site", "test", "site"):
        lock = next(locks)
        monkeypatch.setattr(environment, "digest", lambda path, lock=lock: lock)
        environment._install_npm_packages(level)
        environment._install_npm_packages(level)
    assert ["--omit=dev" in command for command in ran] == [True, False, False]


def test_site_is_not_built_over_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious", "utf-8")
    with pytest.raises(BuildError, match="not a site"):
        site.build(tmp_path, None)


def test_site_says_that_a_wheels_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no such folder"):
        site.build(tmp_path / "site", tmp_path / "none")


def test_drivers_file_has_shared_code_and_its_checksums() -> None:
    text = driver_scripts.text()
    checksums = json.loads(text.partition('"checksums": ')[2].partition("}")[0] + "}")
    values = re.findall(r'^"(\S+)":$', text, re.MULTILINE)
    joined = [*browser.PARTS, *wasm_browser.PARTS, browser_pictures.SCRIPT]
    assert sorted(values) == sorted(joined)
    assert {name: crc32(script_text(name).encode()) for name in values} == checksums


# The commands


def test_unknown_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build.main(["site", "--wheel", "x", "--colour"])
    assert "unrecognized arguments: --colour" in capsys.readouterr().err


@pytest.mark.parametrize("is_fresh", [True, False])
def test_serve_does_not_wait_for_the_documents(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_fresh: bool
) -> None:
    steps: list[object] = []
    is_served, is_built = threading.Event(), threading.Event()

    def make(*_: object, has_fresh_pages: bool = True, **__: object) -> None:
        if steps:
            is_served.wait(10)
        steps.append(has_fresh_pages)
        is_built.set()
        if len(steps) > 1:
            raise BuildError("a dead link")

    def serve(*_: object, **__: object) -> None:
        steps.append("served")
        is_built.clear()
        is_served.set()
        assert is_fresh or is_built.wait(10)

    monkeypatch.setattr(build.manual, "is_fresh", lambda: is_fresh)
    monkeypatch.setattr(build.site, "build", make)
    monkeypatch.setattr(build.server, "serve", serve)
    before = {*threading.enumerate()}
    build.main(["serve"])
    for thread in {*threading.enumerate()} - before:
        thread.join()
    assert steps == ([True, "served"] if is_fresh else [False, "served", True])
    assert ("a dead link" in capsys.readouterr().err) is not is_fresh


def test_bench_passes_its_arguments_on(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[object]] = []
    monkeypatch.setattr(build.environment, "prepare", lambda level: None)
    monkeypatch.setattr(
        build.process, "status", lambda command, env: started.append(command)
    )
    build.main(["bench", "--quick", "launches"])
    assert started[0][1:] == ["-m", "bench", "--quick", "launches"]


def test_missing_browser_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "chromium", lambda: None)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(machine.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(BuildError, match=r"sudo apt-get install -y .*chromium"):
        machine.prepare()
