"""Plots and progress: what they gather, print and refuse."""

from __future__ import annotations

import math
import time

import pytest

import tensorweb as tw
from tensorweb.plots import Plot
from tensorweb.progress import line_of
from tensorweb.show import set_show_hook


def shown(*values: object, **options: object) -> Plot:
    """Return what a plot shows."""
    found: list[object] = []
    before = set_show_hook(lambda value, name: found.append(value))
    try:
        tw.plot(*values, **options)  # type: ignore[arg-type]  # of any kind
    finally:
        set_show_hook(before)
    (plot,) = found
    assert isinstance(plot, Plot)
    return plot


def test_plot_takes_tensors_lists_and_named_series(device: str) -> None:
    plot = shown({"a": tw.arange(3), "b": [1, 2.5]}, title="loss")
    a, b = plot.series
    assert (a.name, a.x, a.y) == ("a", (0, 1, 2), (0, 1, 2))
    assert (b.name, b.y) == ("b", (1, 2.5))
    assert shown([1, 2], tw.asarray([3, 5])).series[0].x == (3, 5)


def test_each_series_may_have_its_own_abscissae(device: str) -> None:
    plot = shown({"a": [1, 2], "b": [3]}, {"b": [7], "a": tw.asarray([5, 4])})
    assert [one.x for one in plot.series] == [(5, 4), (7,)]


def test_histogram_counts_finite_values() -> None:
    (bins,) = shown([0, 1, 1, 4, math.nan, math.inf], kind="histogram").series
    assert sum(bins.y) == 4
    assert (bins.y[0], bins.y[10], bins.y[-1]) == (1, 2, 1)


def test_image_is_shown_as_a_tensor(capsys: pytest.CaptureFixture[str]) -> None:
    tw.plot([[1, 2]], kind="image", title="x")
    assert capsys.readouterr().out == "x = [[1, 2]]\n"


def test_plot_refuses_invalid_data() -> None:
    with pytest.raises(ValueError, match="kind is 'pie'; it must be one of 'lines'"):
        tw.plot([1], kind="pie")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ValueError, match="x has 1 values and y has 2"):
        tw.plot([1, 2], [1])
    with pytest.raises(TypeError, match="'loss' is text; give numbers, or "):
        tw.plot([["loss"]])
    with pytest.raises(ValueError, match="x has series 'c' and y has 'a'"):
        tw.plot({"a": [1]}, {"c": [1]})
    with pytest.raises(ValueError, match="13 series; give at most 12"):
        tw.plot({str(i): [i] for i in range(13)})


def test_progress_yields_everything_and_tells_the_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert list(tw.progress(iter("abc"), name="letters")) == ["a", "b", "c"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("\rletters  3 \N{MIDDLE DOT} ")
    assert captured.err.endswith("\n")
    list(tw.progress([]))
    assert "0/0" in capsys.readouterr().err


def test_progress_tells_the_last_numbers_and_draws_all(
    capsys: pytest.CaptureFixture[str], device: str
) -> None:
    def run() -> tuple[list[object], str]:
        found: list[object] = []
        before = set_show_hook(lambda value, name: found.append((value, name)))
        try:
            loop = tw.progress(range(2500), name="train")
            for step in loop:
                loop.log(loss=tw.asarray(float(step), device=device) / 2)
                if step % 2:
                    loop.log(rate=step)
        finally:
            set_show_hook(before)
        return found, capsys.readouterr().out

    found, text = run()
    plots, names = zip(*found, strict=True)
    assert len(set(names)) == 1
    loss, rate = plots[-1].series
    assert (loss.name, loss.x[-1], loss.y[-1]) == ("loss", 2499, 1249.5)
    assert rate.x == rate.y
    assert 500 < len(loss.x) <= 1000
    assert text.rstrip().endswith(
        "in all \N{MIDDLE DOT} loss 1250 \N{MIDDLE DOT} rate 2499"
    )


def test_a_shorter_line_leaves_nothing_of_a_longer_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    loop = tw.progress(range(2), name="n" * 60)
    for step in loop:
        loop.log(value=1.2345 if step == 0 else 1)
        time.sleep(0.11)
    first, *_, last = capsys.readouterr().err.rstrip("\n").split("\r")[1:]
    assert "1.234" in first
    assert len(last) >= len(first)


def test_progress_tells_rate_and_time_left() -> None:
    assert "50 /s" in line_of("", 50, 200, 1.0)
    assert "3 s left" in line_of("", 50, 200, 1.0)
    assert "1 s in all" in line_of("", 200, 200, 1.0)


def test_progress_checks_numbers_and_groups_them_by_device(device: str) -> None:
    loop = tw.progress(range(2))
    for step in loop:
        for wrong in (tw.ones(2), "much"):
            with pytest.raises(tw.DataError, match=r"progress\.log: loss"):
                loop.log(loss=wrong)
        loop.log(loss=tw.asarray([2.0 + step], device=device))
        loop.log(rate=tw.asarray(0.5, device="cpu"), step=step)
    read = {name: values for name, (_, values) in loop._curves.items()}
    assert read == {"loss": [2.0, 3.0], "rate": [0.5, 0.5], "step": [0.0, 1.0]}
