"""`python -m tensorweb`: it serves the playground of its version, and lists devices."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tensorweb import __main__ as command_line
from tensorweb import devices
from tensorweb.site_server import SiteServer
from tensorweb.version import VERSION
from tools.process import ROOT


def write_site(folder: Path, version: str = VERSION) -> Path:
    """Write a small site and return its folder."""
    folder.mkdir()
    described = json.dumps({"version": version})
    (folder / "build.json").write_text(described, "utf-8")
    (folder / "index.html").write_text("<title>tensorweb</title>", "utf-8")
    return folder


def archived(folder: Path) -> Path:
    """Return a site's archive, under the name that releases give it."""
    archive = folder.with_name(command_line.ARCHIVE)
    with zipfile.ZipFile(archive, "w") as target:
        for path in folder.iterdir():
            target.write(path, path.name)
    return archive


@contextmanager
def served(folder: Path, *arguments: str | Path) -> Iterator[tuple[list[str], int]]:
    """Run the command in a folder; yield what it says first, and its port."""
    command = [sys.executable, "-m", "tensorweb", "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    try:
        for line in process.stdout:
            lines.append(line)
            if "http://localhost:" in line:
                break
        yield lines, int(lines[-1].split("localhost:")[1].split("/")[0])
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def fetch(port: int, path: str) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": f"localhost:{port}"})
    text = connection.getresponse().read().decode()
    connection.close()
    return text


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the package lie in an empty folder, and begin in another one."""
    package = tmp_path / "installed"
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(
        command_line, "__file__", str(package / "tensorweb/__main__.py")
    )
    return package


def test_info_lists_version_and_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"tensorweb {VERSION}"
    assert lines[1].startswith("Python: ")
    for name in devices.DEVICES:
        assert sum(line.startswith(f"device {name}: ") for line in lines) == 1
    assert lines[-1] == f"default device: {devices.default_device()}"


def test_info_says_in_a_line_how_to_get_the_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "wgpu", None)
    others = {k: v for k, v in devices._backends.items() if k != "webgpu"}
    monkeypatch.setattr(devices, "_backends", others)
    monkeypatch.setattr(devices, "_process_default", None)
    monkeypatch.setattr(devices, "_fastest_here", None)
    (line,) = (line for line in command_line.info() if line.startswith("device webgpu"))
    assert "not here" in line
    assert 'pip install "tensorweb[gpu]"' in line


def test_missing_site_is_named_with_the_command(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command_line.main([]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"`python -m tensorweb --site {command_line.ARCHIVE}`" in line


@pytest.mark.parametrize("where", ["here", "installed"])
def test_archive_is_found(installed: Path, tmp_path: Path, where: str) -> None:
    (tmp_path / where).mkdir(exist_ok=True)
    archive = archived(write_site(tmp_path / where / "site"))
    assert command_line.find_site() == archive


def test_build_of_a_checkout_is_found(installed: Path, tmp_path: Path) -> None:
    installed.mkdir()
    built = write_site(installed / "dist")
    write_site(tmp_path / "here/dist")  # may be of another project
    assert command_line.find_site() == built


@pytest.mark.parametrize("is_archive", [False, True])
def test_site_is_served(tmp_path: Path, is_archive: bool) -> None:
    site = write_site(tmp_path / "site")
    path = archived(site) if is_archive else site
    with served(tmp_path, "serve", "--site", path) as (lines, port):
        assert fetch(port, "/") == "<title>tensorweb</title>"
    assert len(lines) == 1


def test_site_of_another_version_is_reported(tmp_path: Path) -> None:
    site = write_site(tmp_path / "site", "99.0")
    with served(tmp_path, "--site", site) as (lines, _):
        assert "tensorweb 99.0" in lines[0]
        assert VERSION in lines[0]


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_other_files_are_no_site(
    tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.zip"
    path.write_bytes(content)
    assert command_line.main(["--site", str(path)]) == 1
    assert f"{path} is no zip archive" in capsys.readouterr().err
    assert command_line.main(["--site", str(tmp_path)]) == 1
    assert "no build.json" in capsys.readouterr().err


def test_used_port_is_named_with_the_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = write_site(tmp_path / "site")
    with SiteServer(site) as server:
        port = str(server.server_port)
        arguments = ["--site", str(site), "--port", port, "--no-browser"]
        assert command_line.main(arguments) == 1
    said = capsys.readouterr().err
    assert f"port {port} is in use; choose another by --port" in said
