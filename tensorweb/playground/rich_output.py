"""The displays of a run: each value once; a tensor shown again updates its display.

A tensor that a loop shows repeatedly is one display. Its pictures are sent while the
program runs, and take at most half of the time.

Methods are looked up on the class only, so that a value with a `__getattr__` for every
name is shown as text.
"""

from __future__ import annotations

import importlib
import math
import sys
from base64 import b64encode
from collections.abc import Hashable, Mapping, Sequence
from io import BytesIO
from itertools import islice
from time import perf_counter
from types import FrameType
from typing import Any

import tensorweb as tw
from tensorweb import evaluate
from tensorweb.display import statistics
from tensorweb.display.cells import Budget, Cells, cells_of, plane
from tensorweb.display.statistics import drawn, shape_text
from tensorweb.errors import BlockingError
from tensorweb.frames import frames_in
from tensorweb.playground import policy, records, sources
from tensorweb.playground.host import flush_streams
from tensorweb.playground.pictures import (
    coloured_cells,
    heatmap_record,
    is_image,
    sendable,
)
from tensorweb.playground.program import argument_text
from tensorweb.playground.records import Rich, RichKind
from tensorweb.playground.streams import Emit, Output, clip, clip_line
from tensorweb.plots import MOST_BARS, Plot, Series

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


TOO_MUCH = "(not drawn: the pictures of one run are too large together)"

LIVE = Budget(1 << 18, 2048, 1 << 22)


class Displays:
    """The values that one run has shown, by index."""

    def __init__(self, emit: Emit, output: Output) -> None:
        self._emit = emit
        self._output = output
        self.shown: list[tuple[str | None, object]] = []
        self._numbers: dict[Hashable, int] = {}
        self._counts: dict[int, int] = {}
        self._waiting: dict[int, tw.Tensor] = {}
        self._drawn = 0
        self._plots: dict[int, Plot] = {}
        self._free_at = 0.0
        self._plot_at = 0.0
        self._can_wait = True

    def show(self, value: object, name: str | None) -> None:
        """Send a value as a new display, or update the display of a tensor."""
        caller = sys._getframe(1)
        if isinstance(value, Plot):
            self._plot(value, (_call_of(caller) if name is None else name, "plot"))
            return
        name = argument_text(caller) if name is None else clip_line(str(name))
        if not isinstance(value, tw.Tensor):
            self._add(value, name, clip(repr(value)), rich_of(value))
            return
        # Evaluated here, so that an error is raised at the program's own line.
        statistics.store([value.node])
        key = (_call_of(caller), name, value.shape, value.dtype, value.device)
        number = self._numbers.get(key)
        if number is None:
            is_short = value.size <= policy.MOST_DIGITS
            number = self._add(value, name, clip(repr(value)) if is_short else "")
            if number is None:
                return
            self._numbers[key] = number
        else:
            self.shown[number] = (name, value)
        self._counts[number] = self._counts.get(number, 0) + 1
        if value.size >= policy.LEAST_LIVE_ELEMENTS or self._counts[number] > 1:
            self._waiting[number] = value
            if perf_counter() >= self._free_at:
                self._send(number)

    def finish(self) -> None:
        """Send the last picture of each display that was updated.

        Also called before a new display, since the page shows the newest one first.
        """
        for number in list(self._waiting):
            if self._counts[number] > 1:
                self._send(number)
        for number in list(self._plots):
            self._send_plot(number)

    def _plot(self, plot: Plot, key: Hashable) -> None:
        """Send a plot now, or later if the same display was sent just before."""
        number = self._numbers.get(key)
        is_new = number is None
        if number is None:
            if len(self.shown) >= policy.MOST_DISPLAYS:
                self._output.write(f"{clip(repr(plot))}\n", "stdout")
                return
            flush_streams()
            self._output.flush()
            self.finish()
            number = self._numbers[key] = len(self.shown)
            self.shown.append((None, plot))
        self._plots[number] = plot
        if is_new or perf_counter() >= self._plot_at:
            self._send_plot(number)
            self._plot_at = perf_counter() + policy.PLOT_SECONDS

    def _send_plot(self, number: int) -> None:
        self._emit("plot", plot_record(number, self._plots.pop(number)))

    def _add(
        self,
        value: object,
        name: str | None,
        text: str,
        drawn: records.Rich | None = None,
    ) -> int | None:
        """Start a display, return its index; print the text if there are too many."""
        flush_streams()
        self._output.flush()
        if len(self.shown) >= policy.MOST_DISPLAYS:
            self._output.write((text or clip(repr(value))) + "\n", "stdout")
            return None
        is_tensor = isinstance(value, tw.Tensor)
        fields: records.Display = {
            "display": len(self.shown),
            "name": name,
            "text": text,
            "tensor": is_tensor,
            "facts": facts_of(value) if isinstance(value, tw.Tensor) else "",
            "chart": chart_record(value) if isinstance(value, tw.BarChart) else None,
        }
        if drawn is not None:
            fields["rich"] = self._bounded(drawn, text)
        self.finish()
        self.shown.append((name, value))
        self._emit("display", fields)
        return len(self.shown) - 1

    def _bounded(self, rich: records.Rich, text: str) -> records.Rich:
        """Return a rich value, or a text if the run's total size exceeds the limit."""
        self._drawn += len(rich["data"])
        if self._drawn <= policy.MOST_DRAWN:
            return rich
        return {"kind": "text", "data": f"{text}\n{TOO_MUCH}"}

    def _send(self, number: int) -> None:
        """Send the current picture of a display, if Python can wait for the device."""
        x = self._waiting.pop(number)
        if not self._can_wait or not x.shape or not x.size:
            return
        began = perf_counter()
        cells, channels = _first_cells(x)
        node, encoding = sendable(cells.node)
        try:
            (values,) = evaluate.read([node])
        except BlockingError:
            self._can_wait = False
            return
        step: records.LivePicture = {
            "display": number,
            "step": self._counts[number],
            "shape": list(x.shape),
            "dtype": str(x.dtype),
            "heatmap": heatmap_record(cells, values, encoding, channels),
        }
        self._emit("picture", step)
        now = perf_counter()
        self._free_at = now + max(policy.PICTURE_SECONDS, now - began)


def facts_of(x: tw.Tensor) -> str:
    """Return dtype, shape and device in one line."""
    return f"{x.dtype} {shape_text(x.shape)} on {x.device}"


def _first_cells(x: tw.Tensor) -> tuple[Cells, int]:
    """Return the cells of the first slice of a tensor, and the count of planes."""
    last = len(x.shape) - 1
    start = [0] * len(x.shape)
    node = drawn(x.node)
    if is_image(x.shape, x.dtype):
        axes = (last - 2, last - 1, last)
        return coloured_cells(node, *axes, start, "mean", LIVE), x.shape[last]
    part = plane(node, last - 1 if last else None, last, start)
    return cells_of(part, "mean", LIVE), 1


def _call_of(frame: FrameType | None) -> Hashable:
    """Return the call stack within the program, as hashable positions."""
    calls = islice(frames_in(frame, sources.is_program), policy.DEEPEST_CALL)
    return tuple(
        (call.f_code.co_name, call.f_code.co_firstlineno, call.f_lasti)
        for call in calls
    )


def chart_record(chart: tw.BarChart) -> records.BarChart:
    """Return heading, unit, bars and ticks; lengths and positions are in [0, 1].

    Programs may construct a chart themselves, so no field is assumed to be valid.
    """
    return {
        "heading": clip_line(str(chart.heading)),
        "unit": clip_line(str(chart.unit)),
        "bars": [
            {
                "label": clip_line(str(bar.label)),
                "text": clip_line(str(bar.text)),
                "length": _part(bar.length),
                "marked": bool(bar.is_marked),
            }
            for bar in chart.bars[:MOST_BARS]
        ],
        "ticks": [
            {"text": clip_line(str(text)), "position": _part(position)}
            for text, position in chart.ticks[: policy.MOST_TICKS]
        ],
    }


def _part(value: float) -> float:
    return min(max(float(value), 0.0), 1.0) if math.isfinite(value) else 0.0


def plot_record(display: int, plot: Plot) -> records.PlotRecord:
    """Return a plot; of a long line only the minimum and maximum of each interval."""
    return {
        "display": display,
        "title": clip_line(str(plot.title)),
        "kind": "histogram" if plot.kind == "histogram" else _kind(plot.kind),
        "series": [_series(one) for one in plot.series],
    }


def _kind(kind: str) -> records.PlotKind:
    return "points" if kind == "points" else "lines"


def _series(series: Series) -> records.PlotSeries:
    kept = _drawn_indices(series.y)
    return {
        "name": clip_line(str(series.name)),
        "x": [_finite(series.x[index]) for index in kept],
        "y": [_finite(series.y[index]) for index in kept],
        "count": len(series.y),
    }


def _drawn_indices(values: Sequence[float]) -> Sequence[int]:
    """Return the indices of the points that are drawn."""
    if len(values) <= policy.MOST_POINTS:
        return range(len(values))
    step = math.ceil(2 * len(values) / policy.MOST_POINTS)
    kept: set[int] = set()
    for start in range(0, len(values), step):
        stretch = range(start, min(start + step, len(values)))
        kept |= {min(stretch, key=values.__getitem__)}
        kept |= {max(stretch, key=values.__getitem__)}
    return sorted(kept)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
