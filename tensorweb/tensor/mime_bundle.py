"""How notebooks show a tensor: facts, a picture and text, by IPython's protocol.

JupyterLite, marimo, PyScript and IPython ask for `_repr_mimebundle_`. A display never
raises: where a value cannot be had, the text says why and what to do.
"""

from __future__ import annotations

from collections.abc import Container

from tensorweb.display.summary import summary_of
from tensorweb.errors import TensorwebError
from tensorweb.tensor.base import TensorBase
from tensorweb.tensor.printing import format_read, format_unread

PLAIN, HTML, PNG = "text/plain", "text/html", "image/png"

KINDS = (HTML, PNG, PLAIN)
"""Best first: some pages take the first that they know."""


def mime_bundle(
    x: TensorBase,
    include: Container[str] | None = None,
    exclude: Container[str] | None = None,
) -> dict[str, str]:
    """Return what a tensor looks like by MIME type; a PNG is in base64.

    Text alone for 0-d tensors, for less than two elements and where there are no
    values.

    Args:
        x: the tensor.
        include: the only types that are asked for, None for all.
        exclude: types that are not asked for.

    >>> from tensorweb.graph.node import constant
    >>> from tensorweb import dtypes
    >>> mime_bundle(TensorBase(constant(2.5, dtypes.float32, "cpu")))
    {'text/plain': 'tensor(2.5)'}
    """
    asked = [
        kind
        for kind in KINDS
        if (include is None or kind in include)
        and (exclude is None or kind not in exclude)
    ]
    if not asked:
        return {}
    try:
        made = _bundle(x, asked)
    except TensorwebError as error:
        made = {PLAIN: f"{format_unread(x)}\n{type(error).__name__}: {error}"}
    return {kind: made[kind] for kind in asked if kind in made}


def _bundle(x: TensorBase, asked: list[str]) -> dict[str, str]:
    """Return at least what is asked for and there."""
    text = format_read(x)
    summary = summary_of(x.node) if asked != [PLAIN] else None
    if summary is None:
        return {PLAIN: text}
    return {HTML: summary.html(text), PNG: summary.png(), PLAIN: text}
