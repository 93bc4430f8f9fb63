"""The built site under a sub-path: packages resolve from its own origin alone."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request
from program_steps import hold_python

from conftest import SITE, site_has

LOAD = """async (program) => {
    const { loadPyodide } = await import(new URL("pyodide/pyodide.mjs", location));
    const python = await loadPyodide();
    await python.loadPackage(["micropip"]);
    return await python.runPythonAsync(program);
}"""


@pytest.fixture(scope="module")
def address(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the built site, two folders below the root of its host."""
    root = tmp_path_factory.mktemp("host")
    (root / "some").mkdir()
    (root / "some/path").symlink_to(SITE, target_is_directory=True)
    return f"{serve(root)}some/path/"


def load(page: Page, address: str, program: str) -> tuple[object, list[str]]:
    """Run `program` in a bare Pyodide of the site; also return the foreign requests."""
    foreign: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((address, "blob:", "data:")):
            foreign.append(request.url)

    page.on("request", note)
    page.goto(f"{address}build.json")
    result = page.evaluate(LOAD, program)
    page.remove_listener("request", note)
    return result, foreign


def test_micropip_installs_tensorweb_from_the_site(page: Page, address: str) -> None:
    program = """
        import micropip
        await micropip.install("tensorweb")
        import importlib.metadata
        importlib.metadata.version("tensorweb")
    """
    version, foreign = load(page, address, program)
    build = json.loads((SITE / "build.json").read_text("utf-8"))
    assert (version, foreign) == (build["version"], [])


@pytest.mark.numpy_or_not
def test_packages_load_from_the_site_with_what_they_need(
    page: Page, address: str
) -> None:
    largest = next(filter(site_has, ("matplotlib", "numpy", "packaging")))
    program = f"""
        import micropip
        await micropip.install("{largest}")
        import importlib.metadata, {largest}
        importlib.metadata.version("{largest}")
    """
    build = json.loads((SITE / "build.json").read_text("utf-8"))
    assert load(page, address, program) == (build["packages"][largest], [])


def test_page_is_isolated_by_the_server(page: Page, address: str) -> None:
    hold_python(page)
    page.goto(address)
    assert page.evaluate("crossOriginIsolated") is True


def contents(name: str) -> dict[str, bytes]:
    """The files in one file of the site, by their paths."""
    packed = gzip.decompress((SITE / name).read_bytes())
    head, _, rest = packed.partition(b"\n")
    files: dict[str, bytes] = {}
    for path, size in json.loads(head).items():
        files[path], rest = rest[:size], rest[size:]
    assert rest == b""
    return files


def test_page_has_bytecode_of_what_it_imports_at_its_start() -> None:
    [plain] = (SITE / "wheels").glob("tensorweb-*.whl")
    files, later = contents("tensorweb.packed"), contents("later.packed")
    with zipfile.ZipFile(plain) as source:
        names = set(source.namelist())
        for name in names:
            assert (later if name in later else files)[name] == source.read(name)
    assert {name for name, content in files.items() if not content} >= later.keys() - {
        ""
    }
    added = files.keys() - names
    assert all(name.endswith(".cpython-314.pyc") for name in added)
    imported = {Path(name).name.partition(".")[0] for name in added}
    assert {"node", "kernel_backend", "webgpu", "affine"} <= imported
    assert "polynomials" not in imported


def test_standard_library_has_bytecode_of_what_the_page_imports_at_its_start() -> None:
    library = SITE / "pyodide/python_stdlib.zip"
    packed = gzip.decompress(library.with_suffix(".zip.packed").read_bytes())
    head, _, rest = packed.partition(b"\n")
    gap = json.loads(head)
    start = gap["start"]
    whole = rest[:start] + contents("later.packed")[""] + rest[start:]
    assert {"argparse", "encodings.idna", "unittest"} <= set(gap["modules"])
    assert "typing" not in gap["modules"]
    with (
        zipfile.ZipFile(library) as source,
        zipfile.ZipFile(io.BytesIO(whole)) as compiled,
    ):
        names = set(source.namelist())
        assert all(compiled.read(name) == source.read(name) for name in names)
        added = set(compiled.namelist()) - names
    assert {"typing.pyc", "dataclasses.pyc", "asyncio/__init__.pyc"} <= added
    assert "turtle.pyc" not in added
