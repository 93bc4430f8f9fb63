"""Wheels for Pyodide: which fit, where they come from, which content is allowed."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path

import pytest

from tools import packages, pins, site, wheels
from tools.wheels import Sources, Target
from tools.wheels import download as download_with_pip

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

FILE = "numpy-2.0-py3-none-any.whl"
RELEASED = {"numpy": {"version": "2.0", "file_name": FILE, "sha256": "none"}}


@pytest.fixture(autouse=True)
def network(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """Stand in for PyPI and the CDN: both offer these files, and nothing else."""
    offered: dict[str, bytes] = {}

    def download(target: Target, requirements: str, folder: Path) -> None:
        for name, content in offered.items():
            if requirements.startswith(f"{name.split('-')[0]}=="):
                (folder / name).write_bytes(content)

    def urlopen(url: str, timeout: float) -> io.BytesIO:
        name = url.rpartition("/")[2]
        if name not in offered:
            raise OSError(f"no {name}")
        return io.BytesIO(offered[name])

    monkeypatch.setattr(wheels, "download", download)
    monkeypatch.setattr(wheels.urllib.request, "urlopen", urlopen)
    return offered


def sources(
    cache: Path, allowed: Path | None = None, released: Path | None = None
) -> Sources:
    """Return sources without a folder that allow the content of these files."""
    row = {**RELEASED["numpy"], "sha256": pins.digest(released) if released else "-"}
    lock = {**PYODIDE_LOCK, "packages": {"numpy": row}}
    known = {("numpy", "2.0"): frozenset([pins.digest(allowed)])} if allowed else {}
    return Sources(Target.of_lock(lock, "314.0.7"), cache, None, known)


def make_wheel(folder: Path, file_name: str, *needs: str) -> Path:
    """Write a small wheel; each folder gives its files another content."""
    name, version = file_name.split("-")[:2]
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {need}" for need in needs]
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / file_name, "w") as archive:
        archive.writestr(f"{name}/__init__.py", f"# {folder.name}")
        archive.writestr(f"{name}-{version}.dist-info/METADATA", "\n".join(lines))
        archive.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\n")
    return folder / file_name


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
    wheel = Sources(TARGET, tmp_path / "cache", tmp_path, {}).find("numpy")
    assert wheel is not None
    assert wheel.path == newest


def test_package_is_omitted_if_a_dependency_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path, "plots-1.0-py3-none-any.whl", "lines>=2", "x; extra == 'y'")
    make_wheel(tmp_path, "lines-2.0-py3-none-any.whl", "absent")
    make_wheel(tmp_path, "micropip-1.0-py3-none-any.whl")
    found = packages.collect(Sources(TARGET, tmp_path / "cache", tmp_path, {}), [])
    assert set(found) == {"micropip"}
    assert "plots: left out, it needs" in capsys.readouterr().out


def test_lock_file_describes_each_wheel(tmp_path: Path) -> None:
    path = make_wheel(tmp_path, "plots-1.0-py3-none-any.whl", "lines>=2")
    make_wheel(tmp_path, "lines-2.0-py3-none-any.whl")
    found = packages.collect(Sources(TARGET, tmp_path / "cache", tmp_path, {}), [])
    packages.lock_spec(TARGET, found).to_json(tmp_path / "lock.json")
    lock = json.loads((tmp_path / "lock.json").read_text("utf-8"))
    assert lock["info"]["abi_version"] == "2026_0"
    row = lock["packages"]["plots"]
    assert row["file_name"] == "../wheels/plots-1.0-py3-none-any.whl"
    assert row["sha256"] == pins.digest(path)
    assert (row["imports"], row["depends"]) == (["plots"], ["lines"])


# Which content is allowed


@pytest.mark.parametrize("source", ["PyPI", "CDN"])
def test_pinned_wheel_is_fetched_once_and_cached(
    tmp_path: Path, network: dict[str, bytes], source: str
) -> None:
    path = make_wheel(tmp_path / "good", FILE)
    network[FILE] = path.read_bytes()
    allowed, released = (path, None) if source == "PyPI" else (None, path)
    found = sources(tmp_path / "cache", allowed, released)
    wheel = found.find("numpy")
    assert wheel is not None
    assert (wheel.source, wheel.path.read_bytes()) == (source, network.pop(FILE))
    again = found.find("numpy")
    assert again is not None
    assert again.source == f"{source}, kept from an earlier build"


def test_other_content_under_the_same_name_is_refused(
    tmp_path: Path, network: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    allowed = make_wheel(tmp_path / "good", FILE)
    network[FILE] = make_wheel(tmp_path / "other", FILE).read_bytes()
    found = sources(tmp_path / "cache", allowed, allowed)
    assert found.find("numpy") is None
    assert f"{FILE}: removed, not the pinned file" in capsys.readouterr().out
    assert list((tmp_path / "cache").rglob("*.whl")) == []


@pytest.mark.parametrize("content", [b"", b"PK damaged"])
def test_cached_wheel_that_was_changed_is_fetched_again(
    tmp_path: Path, network: dict[str, bytes], content: bytes
) -> None:
    allowed = make_wheel(tmp_path / "good", FILE)
    network[FILE] = allowed.read_bytes()
    found = sources(tmp_path / "cache", allowed)
    first = found.find("numpy")
    assert first is not None
    first.path.write_bytes(content)
    again = found.find("numpy")
    assert again is not None
    assert (again.source, again.path.read_bytes()) == ("PyPI", allowed.read_bytes())


def test_package_without_a_pin_is_not_requested_from_pypi(
    tmp_path: Path, network: dict[str, bytes]
) -> None:
    network[FILE] = make_wheel(tmp_path / "any", FILE).read_bytes()
    assert sources(tmp_path / "cache").find("numpy") is None


def run_packages(tmp_path: Path, *more: str) -> int:
    """Fill a site's folder with packages from `mine`."""
    out = tmp_path / "site"
    for folder in ("wheels", "pyodide"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    arguments = [site.PYODIDE, out, tmp_path / "cache", "--wheels", tmp_path / "mine"]
    return packages.main([*map(str, arguments), *more])


def test_named_packages_that_cannot_be_had_end_the_build(
    tmp_path: Path, network: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path / "mine", "micropip-0.1-py3-none-any.whl")
    assert run_packages(tmp_path, "--packages", "pandas,micropip,Scikit_Learn") == 1
    said = capsys.readouterr().out
    assert "--packages pandas,scikit-learn: cannot be had, as said above" in said
    assert re.search(r"pandas: left out, no source gave \S+: put pandas-\S+\.whl", said)
    assert "scikit-learn: left out, no source gave" in said
    assert "--wheels" in said
    assert not (tmp_path / "site/pyodide/pyodide-lock.json").exists()


def test_a_named_package_that_lacks_another_ends_the_build(
    tmp_path: Path, network: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path / "mine", "micropip-0.1-py3-none-any.whl")
    make_wheel(tmp_path / "mine", "plots-1.0-py3-none-any.whl", "absent")
    assert run_packages(tmp_path) == 0
    assert run_packages(tmp_path, "--packages", "plots") == 1
    said = capsys.readouterr().out
    assert "plots: left out, it needs absent" in said
    assert "--packages plots: cannot be had" in said


def test_a_package_that_nobody_has_ends_the_build(
    tmp_path: Path, network: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path / "mine", "micropip-0.1-py3-none-any.whl")
    assert run_packages(tmp_path, "--packages", "pandaz") == 1
    assert "did you mean pandas?" in capsys.readouterr().out


def test_missing_packages_are_listed_by_import_name() -> None:
    found = site._compiled({"numpy"})
    assert found["sklearn"] == "scikit-learn"
    assert found["xarray"] == "xarray"  # pure, but of no use without pandas
    assert "numpy" not in found
    assert "pandas" not in site._compiled({"numpy", "pandas"})


def test_wheel_of_the_folder_is_taken_and_said_not_to_be_pinned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_wheel(tmp_path / "mine", "micropip-0.1-py3-none-any.whl")
    assert run_packages(tmp_path) == 0
    line = f"micropip 0.1: --wheels {tmp_path / 'mine'}, not a pinned file"
    assert line in capsys.readouterr().out


def test_pip_takes_the_pinned_file_of_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build number makes a file that was added later the preferred one."""
    pinned = make_wheel(tmp_path, FILE)
    later = make_wheel(tmp_path, "numpy-2.0-1-py3-none-any.whl", "more")
    links = [
        f'<a href="{path.as_uri()}#sha256={pins.digest(path)}">{path.name}</a>'
        for path in (pinned, later)
    ]
    (tmp_path / "index.html").write_text("".join(links), "utf-8")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index.html"))
    download_with_pip(TARGET, "numpy==2.0", tmp_path / "any")
    assert [path.name for path in (tmp_path / "any").iterdir()] == [later.name]
    asked = pins.requirement("numpy", "2.0", frozenset([pins.digest(pinned)]))
    download_with_pip(TARGET, asked, tmp_path / "asked")
    assert [path.name for path in (tmp_path / "asked").iterdir()] == [FILE]


def test_fetched_packages_are_pinned_to_the_release() -> None:
    release = packages.target_of(site.PYODIDE).locked
    pinned = pins.read()
    assert {name for name, _ in pinned} == set(packages.WANTED)
    for (name, version), hashes in pinned.items():
        assert version == release[name]["version"]
        assert release[name]["sha256"] in hashes
        assert all(re.fullmatch("[0-9a-f]{64}", known) for known in hashes)
