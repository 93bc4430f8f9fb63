"""Imports wait for the part of the standard library that the page loads last."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tensorweb.playground import late_modules

EARLY, LATE = "early_of_a_test", "late_of_a_test"
ADDRESS = "https://site.test/later.packed"


class Site:
    """Answers requests with bytes and a status, and records their addresses."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.status = 200
        self.asked: list[str] = []

    def new(self) -> SimpleNamespace:
        def begin(method: str, address: str, is_async: bool) -> None:
            assert (method, is_async) == ("GET", False)
            self.asked.append(address)

        response = SimpleNamespace(to_bytes=lambda: self.body)
        return SimpleNamespace(
            open=begin, send=lambda: None, status=self.status, response=response
        )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site with the module that Python's archive lacks; zeros stand for it there."""
    archive = tmp_path / "library.zip"
    with zipfile.ZipFile(archive, "w") as whole:
        whole.writestr(f"{EARLY}.py", "value = 1")
        start = whole.fp.tell() if whole.fp else 0
        whole.writestr(f"{LATE}.py", "value = 2")
        end = whole.fp.tell() if whole.fp else 0
    content = archive.read_bytes()
    zeros = bytes(end - start)
    archive.write_bytes(content[:start] + zeros + content[end:])
    sizes = {"": end - start, "source.py": 1}
    body = json.dumps(sizes).encode() + b"\n" + content[start:end] + b"#"
    site = Site(gzip.compress(body))
    js = ModuleType("js")
    js.__dict__["XMLHttpRequest"] = site
    monkeypatch.setitem(sys.modules, "js", js)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.syspath_prepend(str(archive))
    late_modules.expect(json.dumps([str(archive), start, [LATE], ADDRESS]))
    yield site
    for name in (EARLY, LATE):
        sys.modules.pop(name, None)


def test_a_module_that_is_there_needs_no_request(site: Site) -> None:
    assert importlib.import_module(EARLY).value == 1
    assert site.asked == []


def test_an_import_completes_the_archive_once(site: Site) -> None:
    assert importlib.import_module(LATE).value == 2
    del sys.modules[LATE]
    assert importlib.import_module(LATE).value == 2
    assert site.asked == [ADDRESS]


def test_a_missing_file_is_an_import_error_and_asked_for_again(site: Site) -> None:
    site.status = 404
    with pytest.raises(ImportError, match=f"{LATE} could not be loaded: .* 404"):
        importlib.import_module(LATE)
    site.status = 200
    assert importlib.import_module(LATE).value == 2
