"""A tensor in one line of facts, with a picture where it has several elements."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tensorweb.evaluate import read
from tensorweb.graph.node import Node
from tensorweb.hostdata import Number

from .cells import Cells, cells_of, finite_range, plane
from .colours import scale_of
from .drawing import Drawing, drawing_of
from .magnitudes import drawn
from .numbers import counted, shape_text, short, values_of
from .statistics import Statistics, answer, questions, store


@dataclass(frozen=True, slots=True)
class Summary:
    """What is told of a tensor besides its values.

    Attributes:
        facts: dtype, shape, device, range, mean, and what is not finite.
        notes: what the picture shows, for people who see it and for those who do not.
        drawing: the picture.
    """

    facts: str
    notes: str
    drawing: Drawing

    def png(self) -> str:
        """Return the picture in base64, in the colours of light pages."""
        return b64encode(self.drawing.png("light")).decode()

    def html(self, text: str) -> str:
        """Return facts, picture and the values' text for pages of any colours."""
        return HTML.format(
            facts=escape(self.facts),
            sources=self._source() if self.drawing.scale.is_diverging else "",
            png=self.png(),
            width=self.drawing.width,
            height=self.drawing.height,
            notes=escape(self.notes),
            text=escape(text),
        )

    def _source(self) -> str:
        png = b64encode(self.drawing.png("dark")).decode()
        return SOURCE.format(png=png)


SOURCE = (
    '<source media="(prefers-color-scheme: dark)" srcset="data:image/png;base64,{png}">'
)

HTML = """\
<div><div>{facts}</div>
<picture>{sources}<img src="data:image/png;base64,{png}" alt="Picture: {notes}." \
width="{width}" height="{height}" style="image-rendering: pixelated"></picture>
<div><small>{notes}</small></div>
<pre style="max-height: 16em; overflow: auto">{text}</pre></div>"""
"""Takes the colours of the page around it."""


def summary_of(node: Node) -> Summary | None:
    """Return facts and a picture, None of a 0-d tensor and of less than two elements.

    Of more than two axes the last two are drawn, at the first index of the others.

    Raises:
        BlockingError: Python cannot wait here.
    """
    if not node.shape or node.size < 2:
        return None
    store([node])
    last = len(node.shape) - 1
    rows = last - 1 if last else None
    part = plane(node, rows, last, [0] * len(node.shape))
    cells = cells_of(drawn(part), "mean")
    asked = [*questions(node), cells.node]
    *numbers, values = [
        values_of(data, part) for data, part in zip(read(asked), asked, strict=True)
    ]
    statistics = answer(node, [number for (number,) in numbers])
    scale = scale_of(*finite_range(values))
    return Summary(
        facts_of(node, statistics),
        _notes(node, cells, values, scale.is_diverging),
        drawing_of(cells, values, scale),
    )


def facts_of(node: Node, found: Statistics) -> str:
    """Return one line: dtype, shape, device, range, mean and what is not finite."""
    parts = [f"{node.dtype} {shape_text(node.shape)} on {node.device}"]
    if node.dtype.kind == "complex":
        parts.append("abs(x)")
    if found.least is not None and found.greatest is not None:
        parts.append(f"{short(found.least)} … {short(found.greatest)}")
    if found.mean is not None:
        parts.append(f"mean {short(found.mean)}")
    if found.nans:
        parts.append(f"{found.nans:,} NaN")
    if found.infinities:
        parts.append(f"{found.infinities:,} Inf")
    return " · ".join(parts)


def _notes(
    node: Node, cells: Cells, values: Sequence[Number], is_diverging: bool
) -> str:
    """Return what is drawn, in words."""
    parts = [f"{cells.rows} by {cells.columns} cells"]
    if len(node.shape) > 2:
        parts.append(f"of [{', '.join(['0'] * (len(node.shape) - 2))}, :, :]")
    if cells.how == "each":
        parts.append("each one element")
    else:
        block = f"{cells.block_rows} by {cells.block_columns}"
        parts.append(f"each the mean of {block} elements")
    if node.dtype.kind == "complex":
        parts.append("drawn is abs(x)")
    nans = sum(value != value for value in values)
    infinities = sum(abs(value) == float("inf") for value in values)
    if nans:
        parts.append(f"✕ NaN in {counted(nans, 'cell')}")
    if infinities:
        parts.append(f"I infinity in {counted(infinities, 'cell')}")
    is_red = "red is negative, blue positive"
    parts.append(is_red if is_diverging else "dark is low, bright is high")
    return " · ".join(parts)
