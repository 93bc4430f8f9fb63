"""Bar charts as records for the page."""

from __future__ import annotations

import math

import tensorweb as tw
from tensorweb.charts import MOST_BARS

from . import records
from .streams import clip_line

MOST_TICKS = 20


def record(chart: tw.BarChart) -> records.BarChart:
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
            for text, position in chart.ticks[:MOST_TICKS]
        ],
    }


def _part(value: float) -> float:
    return min(max(float(value), 0.0), 1.0) if math.isfinite(value) else 0.0
