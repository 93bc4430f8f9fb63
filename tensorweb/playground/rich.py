"""Rich representations of values: HTML, SVG or pictures, as in notebooks.

Methods are looked up on the class only, so that a value with a `__getattr__` for every
name is shown as text.
"""

from __future__ import annotations

import importlib
import sys
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from . import policy
from .records import Rich, RichKind
from .streams import clip

VERDICT = "application/vnd.tensorweb.verdict+json"
"""The MIME type of a puzzle's verdict."""

KINDS: Mapping[str, RichKind] = {
    VERDICT: "verdict",
    "text/html": "html",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "text/markdown": "text",
    "text/latex": "text",
}
"""Kinds by MIME type, preferred ones first."""

METHODS = {
    "text/html": "_repr_html_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
}


def rich_of(value: object) -> Rich | None:
    """Return the rich representation of a value, None if it has none.

    >>> class Bold:
    ...     def _repr_html_(self):
    ...         return "<b>bold</b>"
    >>> rich_of(Bold())
    {'kind': 'html', 'data': '<b>bold</b>'}
    """
    if _is_figure(value):
        return _picture("png", png_of(value))
    bundle = _bundle(value)
    for mime, kind in KINDS.items():
        data = bundle.get(mime)
        if data is None and mime in METHODS:
            data = _call(value, METHODS[mime])
        if data is None:
            continue
        if kind in ("png", "jpeg"):
            return _picture(kind, data)
        return _markup(kind, data)
    return None


def png_of(figure: Any) -> bytes:
    """Return a figure of matplotlib as PNG."""
    data = BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    return data.getvalue()


def forget_figures() -> None:
    """Close the figures that an earlier program left open."""
    if "matplotlib._pylab_helpers" in sys.modules:
        importlib.import_module("matplotlib._pylab_helpers").Gcf.destroy_all()


def _is_figure(value: object) -> bool:
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def _bundle(value: object) -> Mapping[str, object]:
    found = _call(value, "_repr_mimebundle_")
    if isinstance(found, tuple) and found:
        found = found[0]
    return found if isinstance(found, Mapping) else {}


def _call(value: object, method: str) -> object:
    """Call a method of the value's class; None if there is none."""
    found = getattr(type(value), method, None)
    return found(value) if callable(found) else None


def _markup(kind: RichKind, data: object) -> Rich:
    text = str(data)
    if len(text) > policy.MOST_MARKUP:
        return {"kind": "text", "data": clip(text)}
    return {"kind": kind, "data": text}


def _picture(kind: RichKind, data: object) -> Rich:
    """Return a picture from bytes or base64."""
    is_bytes = isinstance(data, (bytes, bytearray, memoryview))
    text = b64encode(data).decode() if is_bytes else "".join(str(data).split())  # type: ignore[arg-type]  # just looked
    if len(text) > policy.MOST_PICTURE:
        size = len(text) * 3 // 4
        return {"kind": "text", "data": f"The picture is too large: {size:,} bytes."}
    return {"kind": kind, "data": text}
