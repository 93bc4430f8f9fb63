"""The service worker's description of a site, and the files packed for it."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from tensorweb.site_server import SHARED, headers_of, read_rules
from tools import packing, policy, service

PAGE = (
    '<html lang="en" data-build=""><head>'
    '<meta http-equiv="Content-Security-Policy" content="POLICY" /></head></html>'
)
OWN = "wheels/tensorweb-1-py3-none-any.whl"
FILES = {
    "index.html": PAGE,
    "network/index.html": PAGE,
    "runtime/index.html": PAGE,
    "main.js": "main()",
    "tensor-web.js": "define()",
    "main.js.map": "{}",
    "card.png": "picture",
    "pyodide/pyodide.asm.wasm": "plain",
    "pyodide/pyodide.asm.wasm.packed": "packed",
    OWN: "ours",
    "wheels/numpy-2-cp314.whl": "theirs",
    "build.json": json.dumps({"wheel": f"{OWN}?1234"}),
    service.SCRIPT: "begin();\n",
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    policy.apply(tmp_path)
    service.write(tmp_path)
    return tmp_path


def test_table_has_the_digest_of_each_file(site: Path) -> None:
    files = service.table(site)["files"]
    assert sorted(files) == sorted({*FILES} - {service.SCRIPT, "main.js.map"})
    for path, (digest, _, _) in files.items():
        assert hashlib.sha256((site / path).read_bytes()).hexdigest() == digest


def test_files_that_the_page_never_loads_are_not_cached(site: Path) -> None:
    files = service.table(site)["files"]
    unused = {path for path, (_, _, is_kept) in files.items() if not is_kept}
    assert unused == {
        "card.png",
        "pyodide/pyodide.asm.wasm",
        "runtime/index.html",
        "tensor-web.js",
        "wheels/numpy-2-cp314.whl",
    }


def test_files_have_the_headers_that_hosts_send(site: Path) -> None:
    table = service.table(site)
    rules = read_rules(site)
    for path, (_, row, _) in table["files"].items():
        expected = SHARED | headers_of(rules, f"/{path}")
        found = dict(table["headers"][row])
        assert found.pop("Content-Type")
        assert found == expected
    kind = table["headers"][table["files"]["main.js"][1]]["Content-Type"]
    assert kind == "text/javascript; charset=utf-8"


def test_page_and_description_have_the_number_of_their_build(site: Path) -> None:
    number = service.table(site)["id"]
    assert f'data-build="{number}"' in (site / "index.html").read_text("utf-8")
    assert json.loads((site / "build.json").read_text("utf-8"))["site"] == number


def test_number_changes_with_a_file_and_with_nothing_else(site: Path) -> None:
    first = (site / service.SCRIPT).read_text("utf-8")
    service.write(site)
    assert (site / service.SCRIPT).read_text("utf-8") == first
    number = service.table(site)["id"]
    service.write(site, live=True)
    assert service.table(site)["live"] is True
    assert service.table(site)["id"] == number
    (site / OWN).write_text("ours!", "utf-8")
    service.write(site)
    assert service.table(site)["id"] != number
    assert (site / service.SCRIPT).read_text("utf-8").endswith(";\nbegin();\n")


def test_library_is_packed_whole_with_the_same_entries() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for number in range(40):
            file.writestr(f"module{number}.py", f"x = {number}\n" * 50)
    made = packing.stored(archive.getvalue())
    assert made == packing.stored(archive.getvalue())
    with (
        zipfile.ZipFile(archive) as old,
        zipfile.ZipFile(io.BytesIO(made)) as new,
    ):
        assert new.namelist() == old.namelist()
        assert all(new.read(name) == old.read(name) for name in old.namelist())
        assert {entry.compress_type for entry in new.infolist()} == {0}
    packed = packing.pack(made)
    assert packed == packing.pack(made)
    assert gzip.decompress(packed) == made
    assert len(packed) < len(archive.getvalue())
