"""Values say how they are drawn by the methods that notebooks know; all is bounded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tensorweb.playground import bridge, records, rich_output
from tensorweb.playground.session import Session


@pytest.fixture
def shown() -> Iterator[Any]:
    main = sys.modules["__main__"]
    notes: list[tuple[str, Any]] = []
    session = Session(lambda *note: notes.append(note), None, True)

    def run(source: str) -> list[Any]:
        notes.clear()
        assert bridge.drive(session.run(source))["error"] is None
        return [fields for kind, fields in notes if kind == "display"]

    yield run
    sys.modules["__main__"] = main


class Everything:
    """Answers every name, as mock objects do."""

    def __getattr__(self, name: str) -> Any:
        return lambda *values: f"<b>{name}</b>"


class Bundle:
    """Offers several kinds at once."""

    def __init__(self, *found: object) -> None:
        self.found = found

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        return self.found if len(self.found) > 1 else self.found[0]


def drawn(method: str, value: object) -> records.Rich | None:
    return rich_output.rich_of(type("Drawn", (), {method: lambda self: value})())


def test_each_method_is_a_kind() -> None:
    assert drawn("_repr_html_", "<b>x</b>") == {"kind": "html", "data": "<b>x</b>"}
    assert drawn("_repr_svg_", "<svg/>") == {"kind": "svg", "data": "<svg/>"}
    assert drawn("_repr_png_", b"\x89PNG") == {"kind": "png", "data": "iVBORw=="}
    assert drawn("_repr_jpeg_", "iVBO\nRw==") == {"kind": "jpeg", "data": "iVBORw=="}
    assert drawn("_repr_markdown_", "# a") == {"kind": "text", "data": "# a"}
    assert drawn("_repr_latex_", "$a$") == {"kind": "text", "data": "$a$"}
    assert drawn("_repr_html_", None) is None


def test_of_a_bundle_the_best_is_taken() -> None:
    both = {"text/plain": "p", "image/png": b"", "text/html": "h"}
    assert rich_output.rich_of(Bundle(both)) == {"kind": "html", "data": "h"}
    assert rich_output.rich_of(Bundle({"text/latex": "$"}, {})) == {
        "kind": "text",
        "data": "$",
    }
    assert rich_output.rich_of(Bundle(None)) is None


def test_objects_without_declared_representations_are_plain() -> None:
    assert rich_output.rich_of(Everything()) is None
    assert rich_output.rich_of(Bundle) is None
    assert rich_output.rich_of(7) is None


def test_too_large_output_is_reported() -> None:
    page = drawn("_repr_html_", "<p>" * 1_000_000)
    assert page is not None
    assert page["kind"] == "text"
    assert len(page["data"]) < 30_000
    picture = drawn("_repr_png_", bytes(3_000_000))
    assert picture == {
        "kind": "text",
        "data": "The picture is too large: 3,000,000 bytes.",
    }


def test_pictures_of_one_run_are_bounded_together(shown: Any) -> None:
    source = (
        "class P:\n"
        "    def _repr_png_(self): return bytes(2_000_000)\n"
        "import tensorweb as tw\n"
        "for _ in range(9): tw.show(P())\n"
    )
    kinds = [fields["rich"]["kind"] for fields in shown(source)]
    assert kinds == ["png"] * 4 + ["text"] * 5
    assert [fields["rich"]["kind"] for fields in shown(source)] == kinds
