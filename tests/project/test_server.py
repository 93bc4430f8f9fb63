"""The development server: headers, types, whom and what it answers."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tensorweb.site_server import SiteServer


@pytest.fixture(params=[True, False], ids=["isolated", "plain"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SiteServer]:
    for name in ("index.html", "a.wasm", "a.mjs", "a.whl", "a.json"):
        (tmp_path / name).write_text("{}", "utf-8")
    (tmp_path / "folder").mkdir()
    with SiteServer(tmp_path, isolated=request.param) as running:
        # It ends as soon as the test asks: each wait for that is one interval.
        serve = partial(running.serve_forever, poll_interval=0.01)
        threading.Thread(target=serve, daemon=True).start()
        yield running
        running.shutdown()


def fetch(
    server: SiteServer, path: str, **headers: str
) -> tuple[int, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response.status, response.headers


def test_server_isolates_by_default(server: SiteServer) -> None:
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


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "LOCALHOST"])
def test_server_answers_under_this_machines_names(
    server: SiteServer, host: str
) -> None:
    code, _ = fetch(server, "/a.json", Host=f"{host}:{server.server_port}")
    assert code == 200


@pytest.mark.parametrize(
    "host", ["rebound.example:{port}", "localhost:1", "127.0.0.1.example:{port}", ""]
)
def test_server_refuses_other_hosts(server: SiteServer, host: str) -> None:
    asked = host.format(port=server.server_port)
    code, headers = fetch(server, "/a.json", Host=asked)
    assert code == 421
    assert headers["Content-Type"] != "application/json"


@pytest.mark.parametrize("path", ["/folder/", "/folder", "/%00", "/a.json%00", "/%ff"])
def test_server_finds_neither_folders_nor_impossible_names(
    server: SiteServer, path: str
) -> None:
    assert fetch(server, path)[0] in (301, 404)
    assert fetch(server, path.removesuffix("/") + "/")[0] == 404


@pytest.mark.parametrize("path", ["/", "/a.wasm", "/nothing"])
def test_server_forbids_guessing_types(server: SiteServer, path: str) -> None:
    assert fetch(server, path)[1]["X-Content-Type-Options"] == "nosniff"


def test_server_logs_no_closed_connections(
    server: SiteServer, capsys: pytest.CaptureFixture[str]
) -> None:
    for error in (ConnectionResetError("reset by peer"), ValueError("a mistake")):
        try:
            raise error
        except (ConnectionError, ValueError):
            server.handle_error(None, ("127.0.0.1", 1))
    shown = capsys.readouterr().err
    assert "a mistake" in shown
    assert "reset by peer" not in shown
