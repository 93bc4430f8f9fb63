"""The service worker's description of a site, and the files packed for it."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from tensorweb.site_server import SHARED, headers_of, read_rules
from tools import packing, policy, service

PAGE = (
    '<html lang="en" data-build=""><head>'
    '<meta http-equiv="Content-Security-Policy" content="POLICY" /></head></html>'
)
OWN = "tensorweb.packed"
FILES = {
    "index.html": PAGE,
    "embed/index.html": PAGE,
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
    "build.json": "{}",
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
        "embed/index.html",
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


def test_packed_files_are_the_same_every_time() -> None:
    data = b"x = 1\n" * 5000
    assert packing.pack(data) == packing.pack(data)
    assert gzip.decompress(packing.pack(data)) == data
    assert len(packing.pack(data)) < len(data) // 100
