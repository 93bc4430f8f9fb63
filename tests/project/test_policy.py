"""What the site tells browsers: every file is strict and one document is open."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tensorweb.site_server import (
    HEADER,
    NOTHING,
    RESOURCE,
    SiteServer,
    headers_of,
    read_rules,
)
from tools import policy

PAGE = '<meta http-equiv="Content-Security-Policy" content="POLICY" />'
SCRIPT = "<script>\n  theme();\n</script>"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A small site with all documents."""
    for folder in ("embed", "network", "pyodide/deep", "runtime", "wheels"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "index.html").write_text(PAGE + SCRIPT)
    (tmp_path / "network/index.html").write_text(PAGE)
    (tmp_path / "embed/index.html").write_text(PAGE)
    (tmp_path / "runtime/index.html").write_text(PAGE)
    (tmp_path / "tensor-web.js").write_text("")
    (tmp_path / "main.js").write_text("")
    (tmp_path / "wheels/a.whl").write_text("")
    (tmp_path / "pyodide/deep/file.mjs").write_text("")
    policy.apply(tmp_path)
    return tmp_path


def sources(text: str) -> dict[str, str]:
    """Read a policy as a browser does."""
    return dict(part.strip().split(" ", 1) for part in text.split(";"))


def in_page(path: Path) -> dict[str, str]:
    found = re.search(r'content="(.*?)"', path.read_text())
    assert found
    return sources(found[1])


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/main.js", "/pyodide/deep/file.mjs"]
)
def test_every_file_is_strict(site: Path, path: str) -> None:
    headers = headers_of(read_rules(site), path)
    found = sources(headers[HEADER])
    assert found["connect-src"] == found["default-src"] == "'self'"
    is_page = path in ("/", "/index.html")
    assert found["frame-ancestors"] == ("*" if is_page else "'none'")
    # A host joins the values of all rules that fit; here must be one.
    assert headers[RESOURCE] == ("cross-origin" if is_page else "same-origin")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Embedder-Policy"] == "require-corp"


def test_pages_of_other_sites_load_the_element_and_the_wheel(site: Path) -> None:
    for path in ("/tensor-web.js", "/wheels/a.whl", "/runtime/", "/runtime/index.html"):
        headers = headers_of(read_rules(site), path)
        assert headers[RESOURCE] == "cross-origin"
        assert sources(headers[HEADER])["connect-src"] == "'self'"
        is_loaded = path.endswith((".js", ".whl"))
        assert headers.get(policy.READERS) == ("*" if is_loaded else None)
        may_be_shown = sources(headers[HEADER])["frame-ancestors"]
        assert may_be_shown == ("'none'" if is_loaded else "*")
    assert policy.READERS not in headers_of(read_rules(site), "/main.js")


@pytest.mark.parametrize("path", ["/network/", "/network/index.html"])
def test_one_document_reaches_the_network(site: Path, path: str) -> None:
    value = headers_of(read_rules(site), path)[HEADER]
    assert "," not in value  # a second policy would close it again
    found = sources(value)
    assert found["connect-src"].startswith("*")
    assert found["script-src"].split()[0] == "'self'"
    assert found["frame-ancestors"] == "'self'"
    headers = headers_of(read_rules(site), path)
    assert headers[RESOURCE] == "same-origin"


@pytest.mark.parametrize("name", policy.DOCUMENTS)
def test_documents_say_their_policy_too(site: Path, name: str) -> None:
    rules = headers_of(read_rules(site), f"/{name}")
    header = sources(rules[HEADER])
    assert header.pop("frame-ancestors")
    assert in_page(site / name) == header


def test_inline_script_is_allowed_by_its_digest(site: Path) -> None:
    allowed = in_page(site / "index.html")["script-src"]
    assert allowed.count("'sha256-") == 1
    assert "'unsafe-inline'" not in allowed


@pytest.mark.parametrize("isolated", [True, False])
def test_server_sends_the_headers_of_the_site(site: Path, isolated: bool) -> None:
    with SiteServer(site, isolated=isolated) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with urllib.request.urlopen(f"{server.url}main.js?x=1") as answer:
            sent = answer.headers
        with pytest.raises(urllib.error.HTTPError) as missing:
            urllib.request.urlopen(f"{server.url}nothing")
        server.shutdown()
    assert sources(sent[HEADER])["connect-src"] == "'self'"
    assert ("Cross-Origin-Embedder-Policy" in sent) is isolated
    assert missing.value.headers[HEADER] == NOTHING
    found = missing.value.headers[RESOURCE]
    assert found == ("same-origin" if isolated else None)
    missing.value.close()


def test_folder_without_rules_gets_none(tmp_path: Path) -> None:
    assert read_rules(tmp_path) == []
