"""Bar charts: lengths, ticks, text, what is refused, and the record for the page."""

from __future__ import annotations

import json
import math

import pytest

import tensorweb as tw
from tensorweb.playground.rich_output import chart_record as record


def test_linear_bars_begin_at_zero() -> None:
    chart = tw.bar_chart({"a": 10, "b": 40, "none": 0}, unit="ms", mark=["b"])
    assert [bar.length for bar in chart.bars] == [0.25, 1.0, 0.0]
    assert [bar.is_marked for bar in chart.bars] == [False, True, False]
    assert chart.ticks == (("0", 0), ("10", 0.25), ("20", 0.5), ("30", 0.75), ("40", 1))


def test_equal_lengths_are_equal_factors_on_a_logarithmic_scale() -> None:
    chart = tw.bar_chart({"a": 20, "b": 200, "c": 2000}, log=True)
    first, second, third = (bar.length for bar in chart.bars)
    assert second - first == pytest.approx(third - second)
    assert second - first == pytest.approx(1 / 3)
    assert [text for text, _ in chart.ticks] == ["10", "100", "1k", "10k"]


@pytest.mark.parametrize("value", [1e-9, 1.0, 9.99, 10.0, 12_345.0])
@pytest.mark.parametrize("log", [False, True])
def test_one_bar_and_its_ticks_stay_on_the_axis(value: float, log: bool) -> None:
    chart = tw.bar_chart({"x": value}, log=log)
    assert 0 < chart.bars[0].length <= 1
    assert all(0 <= position <= 1 for _, position in chart.ticks)
    assert 2 <= len(chart.ticks) <= 7


def test_every_logarithmic_bar_can_be_seen() -> None:
    chart = tw.bar_chart({"x": 10.0, "y": 1e12}, log=True)
    assert chart.bars[0].length > 0.01
    assert [text for text, _ in chart.ticks][:2] == ["1", "1k"]


def test_all_zero_is_a_chart() -> None:
    assert [bar.length for bar in tw.bar_chart({"a": 0, "b": 0}).bars] == [0, 0]


def test_tensors_of_one_element_are_numbers(device: str) -> None:
    chart = tw.bar_chart({"sum": tw.sum(tw.ones(3)), "two": 2})
    assert [bar.value for bar in chart.bars] == [3.0, 2.0]


@pytest.mark.parametrize(
    ("values", "arguments", "message"),
    [
        ({}, {}, r"0 bars; give 1 to 100"),
        ({str(i): i for i in range(101)}, {}, r"101 bars.*heat map"),
        ({"a": -1}, {}, r"'a' is -1; bars begin at zero"),
        ({"a": math.nan}, {}, r"'a' is nan"),
        ({"a": math.inf}, {"log": True}, r"'a' is inf"),
        ({"a": 0}, {"log": True}, r"'a' is 0.*leave out log=True"),
        ({"a": 1}, {"mark": ["b"]}, r"names 'b', but the bars are 'a'"),
    ],
)
def test_charts_refuse_invalid_data(
    values: dict[str, float], arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tw.bar_chart(values, **arguments)  # type: ignore[arg-type]  # wrong on purpose


def test_record_for_the_page_is_json() -> None:
    chart = tw.bar_chart({"a": 1.5}, title="time", unit="µs", log=True, mark=["a"])
    found = json.loads(json.dumps(record(chart), allow_nan=False))
    assert found["heading"] == "time, µs (logarithmic)"
    assert found["bars"][0]["text"] == "1.5"
    assert found["bars"][0]["marked"]
    assert [tick["text"] for tick in found["ticks"]] == ["1", "10"]
