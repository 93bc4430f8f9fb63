"""A bar chart as the record that the page draws."""

from __future__ import annotations

import tensorweb as tw

Record = dict[str, object]


def record(chart: tw.BarChart) -> Record:
    """Return heading, unit, bars and ticks; lengths and places from 0 to 1."""
    return {
        "heading": chart.heading,
        "unit": chart.unit,
        "bars": [
            {
                "label": bar.label,
                "text": bar.text,
                "length": bar.length,
                "marked": bar.is_marked,
            }
            for bar in chart.bars
        ],
        "ticks": [{"text": text, "place": place} for text, place in chart.ticks],
    }
