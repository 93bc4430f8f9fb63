"""The build: wheel, lock files, examples index, server, packages for Pyodide."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import threading
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

import build
from tools import bundle, examples, machine, packages, site, testing
from tools.process import ROOT, BuildError
from tools.server import SiteServer
from tools.wheels import Sources, Target

PYODIDE_LOCK = {
    "info": {
        "abi_version": "2026_0",
        "arch": "wasm32",
        "platform": "emscripten_5_0_3",
        "python": "3.14.2",
    },
    "packages": {},
}
TARGET = Target.of_lock(PYODIDE_LOCK, "314.0.7")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return site.build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(params=[True, False], ids=["isolated", "plain"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SiteServer]:
    for name in ("index.html", "a.wasm", "a.mjs", "a.whl", "a.json"):
        (tmp_path / name).write_text("{}", "utf-8")
    with SiteServer(tmp_path, isolated=request.param) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def make_wheel(folder: Path, file_name: str, *needs: str) -> Path:
    name, version = file_name.split("-")[:2]
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    with zipfile.ZipFile(folder / file_name, "w") as archive:
        archive.writestr(f"{name}/__init__.py", "")
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join(lines))
    return folder / file_name


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        entry = next(name for name in archive.namelist() if name.endswith("METADATA"))
        return message_from_bytes(archive.read(entry))


def fetch(
    server: SiteServer, path: str, **headers: str
) -> tuple[int, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers


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
    assert TARGET.read(wheel).needs == ()
    needs = metadata(wheel).get_all("Requires-Dist", [])
    assert any(re.match(r"numpy.*sys_platform != .emscripten.", need) for need in needs)


def test_wheel_is_the_same_when_built_again(wheel: Path, tmp_path: Path) -> None:
    again = site.build_wheel(tmp_path)
    assert again.read_bytes() == wheel.read_bytes()


# Lock files


@pytest.mark.parametrize(
    "name",
    ["package-lock.json", *(f"requirements/{g}.txt" for g in ("node", "site", "test"))],
)
def test_lock_file_names_no_host(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert not re.search(r"://|\"resolved\"|--index-url|--find-links", text)


def test_npm_packages_are_pinned_exactly() -> None:
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    pins = {**package["dependencies"], **package["devDependencies"]}
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
    (tmp_path / "02-b.py").write_text('"""Second."""\n', "utf-8")
    text = '"""A tour.\n\nOne line\nand another.\n\nMore.\n"""\nprint(1)\n'
    (tmp_path / "01-a.py").write_text(text, "utf-8")
    assert examples.index(tmp_path) == [
        {
            "file": "01-a.py",
            "title": "A tour",
            "description": "One line and another.",
        },
        {"file": "02-b.py", "title": "Second", "description": ""},
    ]


def test_index_says_which_example_lacks_a_docstring(tmp_path: Path) -> None:
    (tmp_path / "01-a.py").write_text("print(1)\n", "utf-8")
    with pytest.raises(BuildError, match=r"01-a\.py: an example starts with a docstr"):
        examples.index(tmp_path)


def test_every_example_has_a_title_and_a_description() -> None:
    entries = examples.index(ROOT / "web/examples")
    assert entries
    assert [entry["file"] for entry in entries if not entry["description"]] == []


# The server


def test_server_isolates_unless_told_otherwise(server: SiteServer) -> None:
    _, headers = fetch(server, "/")
    expected = ("same-origin", "require-corp") if server.isolated else (None, None)
    assert (
        headers["Cross-Origin-Opener-Policy"],
        headers["Cross-Origin-Embedder-Policy"],
    ) == expected


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/a.wasm", "application/wasm"),
        ("/a.mjs", "text/javascript; charset=utf-8"),
        ("/a.whl", "application/zip"),
        ("/a.json", "application/json"),
    ],
)
def test_server_names_the_type(server: SiteServer, path: str, kind: str) -> None:
    code, headers = fetch(server, path)
    assert (code, headers["Content-Type"]) == (200, kind)


def test_server_answers_304_for_an_unchanged_file(server: SiteServer) -> None:
    _, headers = fetch(server, "/a.wasm")
    asked = {"If-Modified-Since": headers["Last-Modified"]}
    code, _ = fetch(server, "/a.wasm", **asked)
    assert code == 304


# The page's files


def test_quoted_names_get_the_hash_and_others_stay() -> None:
    text = "import('./worker.js'); \"worker.js\" my-worker.js 'x/worker.js'"
    assert bundle.rewrite(text, {"worker.js": "worker-1.js"}) == (
        "import('./worker-1.js'); \"worker-1.js\" my-worker.js 'x/worker.js'"
    )


def test_site_is_not_built_over_foreign_files(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious", "utf-8")
    with pytest.raises(BuildError, match="not a site"):
        site.build(tmp_path, None)


def test_site_says_that_a_wheels_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="no such folder"):
        site.build(tmp_path / "site", tmp_path / "none")


# Packages for Pyodide


@pytest.mark.parametrize(
    ("file_name", "fits"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-py2.py3-none-any.whl", True),
        ("a-1-cp314-cp314-pyemscripten_2026_0_wasm32.whl", True),
        ("a-1-cp313-cp313-pyemscripten_2025_0_wasm32.whl", False),
        ("a-1-cp314-cp314-manylinux_2_28_x86_64.whl", False),
        ("a-1.whl", False),
    ],
)
def test_only_wheels_for_this_pyodide_fit(file_name: str, fits: bool) -> None:
    assert TARGET.fits(Path(file_name)) is fits


def test_packages_come_from_the_folder_newest_first(tmp_path: Path) -> None:
    make_wheel(tmp_path, "numpy-2.9.0-py3-none-any.whl")
    newest = make_wheel(tmp_path, "numpy-2.10.0-py3-none-any.whl")
    wheel = Sources(TARGET, tmp_path / "cache", tmp_path).find("numpy")
    assert wheel is not None
    assert wheel.path == newest


def test_package_is_left_out_when_what_it_needs_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path, "plots-1.0-py3-none-any.whl", "lines>=2", "x; extra == 'y'")
    make_wheel(tmp_path, "lines-2.0-py3-none-any.whl", "absent")
    make_wheel(tmp_path, "micropip-1.0-py3-none-any.whl")
    found = packages.collect(Sources(TARGET, tmp_path / "cache", tmp_path), [])
    assert set(found) == {"micropip"}
    assert "plots: left out, a dependency is missing" in capsys.readouterr().out


def test_lock_file_describes_each_wheel(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, "plots-1.0-py3-none-any.whl", "lines>=2")
    make_wheel(tmp_path, "lines-2.0-py3-none-any.whl")
    found = packages.collect(Sources(TARGET, tmp_path / "cache", tmp_path), [])
    packages.lock_spec(TARGET, found).to_json(tmp_path / "lock.json")
    lock = json.loads((tmp_path / "lock.json").read_text("utf-8"))
    assert lock["info"]["abi_version"] == "2026_0"
    row = lock["packages"]["plots"]
    assert row["file_name"] == "../wheels/plots-1.0-py3-none-any.whl"
    assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (row["imports"], row["depends"]) == (["plots"], ["lines"])


# The commands


def test_unknown_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        build.main(["site", "--wheel", "x", "--colour"])
    assert "unrecognized arguments: --colour" in capsys.readouterr().err


def test_bench_passes_its_arguments_on(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[object]] = []
    monkeypatch.setattr(build.environment, "prepare", lambda level: None)
    monkeypatch.setattr(
        build.process, "status", lambda command, env: started.append(command)
    )
    build.main(["bench", "--quick", "launches"])
    assert started[0][1:] == ["-m", "bench", "--quick", "launches"]


def test_counts_come_from_the_results_file(tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text(
        '<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/>'
        "</testsuites>",
        "utf-8",
    )
    counts = testing.count(results)
    assert counts == {"passed": 3, "failed": 3, "skipped": 3}


def test_missing_browser_is_named_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "chromium", lambda: None)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 1000, raising=False)
    monkeypatch.setattr(machine.shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(BuildError, match=r"sudo apt-get install -y .*chromium"):
        machine.prepare()
