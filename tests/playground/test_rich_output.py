"""What a run shows: displays that are shown again, their pictures, and their pace."""

from __future__ import annotations

import importlib
import json
import sys
import types
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tensorweb.playground import bridge, policy
from tensorweb.playground.session import Session


class Console:
    """A session with everything that it emits."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, Mapping[str, Any]]] = []
        self.session = Session(lambda *note: self.notes.append(note), None, True)

    def run(self, source: str) -> list[dict[str, Any]]:
        """Run a program and return its tensors."""
        source = f"import tensorweb as tw\n{source}"
        record = bridge.drive(self.session.run(source))
        assert record["error"] is None
        return json.loads(json.dumps(bridge.drive(self.session.describe())))  # type: ignore[no-any-return]  # JSON

    def messages(self, kind: str) -> list[Mapping[str, Any]]:
        return [fields for known, fields in self.notes if known == kind]


@pytest.fixture
def console() -> Iterator[Console]:
    main = sys.modules["__main__"]
    yield Console()
    sys.modules["__main__"] = main


LOOP = """
for i in range(200):
    tw.show(tw.full((8, 8), i), name="x")
"""


def test_tensor_shown_in_a_loop_is_one_display(console: Console, device: str) -> None:
    tensors = console.run(LOOP)
    assert [fields["name"] for fields in console.messages("display")] == ["x"]
    (x,) = tensors
    assert (x["name"], x["displays"], x["mean"]) == ("x", [0], 199)


def test_pictures_come_while_the_program_runs_and_the_last_is_right(
    console: Console, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "PICTURE_SECONDS", 0.0)
    console.run(LOOP)
    pictures = console.messages("picture")
    steps = [picture["step"] for picture in pictures]
    assert steps[0] == 1
    assert steps == sorted(set(steps))
    assert steps[-1] == 200
    assert pictures[-1]["heatmap"]["rows"] == 8


def test_pictures_in_colour_come_in_colour(console: Console, device: str) -> None:
    console.run("tw.show(tw.ones((3, 10, 12, 4)))")
    (picture,) = console.messages("picture")
    heatmap = picture["heatmap"]
    assert (heatmap["channels"], heatmap["rows"], heatmap["columns"]) == (4, 10, 12)


def test_pictures_leave_the_program_most_of_its_time(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "PICTURE_SECONDS", 1000.0)
    console.run(LOOP)
    assert [picture["step"] for picture in console.messages("picture")] == [1, 200]


@pytest.mark.parametrize(
    "source",
    [
        "tw.show(tw.ones(20))\ntw.show(tw.ones(20))",
        "for n in (20, 30): tw.show(tw.ones(n))",
        "for n in (20, 30): tw.show(tw.ones(20), name=str(n))",
        "def look(x): tw.show(x)\nlook(tw.ones(20))\nlook(tw.ones(20))",
        "for n in (20, 30): tw.show(n)",
    ],
)
def test_other_calls_names_and_shapes_are_other_displays(
    console: Console, source: str
) -> None:
    console.run(source)
    assert len(console.messages("display")) == 2


def test_digits_of_many_elements_are_not_sent(console: Console, device: str) -> None:
    console.run("tw.show(tw.ones(24))\ntw.show(tw.ones(25))")
    few, many = console.messages("display")
    assert few["text"].startswith("tensor(")
    assert (many["text"], many["facts"]) == ("", f"float32 (25,) on {device}")
    (text,) = [bridge.drive(console.session.text(1))["text"]]
    assert text.startswith("tensor(")


def test_plot_of_a_loop_is_one_display_with_its_last_state(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy, "PLOT_SECONDS", 1000.0)
    console.run("for n in range(1, 5000, 7): tw.plot(range(n), title='n')\ntw.show(1)")
    first, last = console.messages("plot")
    assert (first["display"], last["display"]) == (0, 0)
    (series,) = last["series"]
    assert (series["count"], series["y"][0], series["y"][-1]) == (4999, 0, 4998)
    assert len(series["y"]) <= policy.MOST_POINTS + 2
    assert [note["display"] for note in console.messages("display")] == [1]


def test_displays_of_a_loop_precede_later_displays(
    console: Console, device: str
) -> None:
    """The page puts the newest display in front."""
    plot = "    tw.plot([0, i], title='a')\n    tw.plot([i, 0], title='b')\n"
    console.run(f"{LOOP}{plot}tw.show(tw.ones((4, 4)), name='after')")
    kinds = ("display", "picture", "plot")
    sent = [
        (kind, fields["display"], fields.get("step", 1))
        for kind, fields in console.notes
        if kind in kinds
    ]
    after = sent.index(("display", 3, 1))
    assert ("picture", 0, 200) in sent[:after]
    assert {display for _, display, _ in sent[after:]} == {3}
    # Both plots of the first iteration exist before either is drawn again.
    assert [display for kind, display, _ in sent if kind == "plot"][:2] == [1, 2]


def test_progress_of_the_page_goes_to_its_output(console: Console) -> None:
    console.run("for _ in tw.progress(range(3)): pass")
    text = "".join(str(note["text"]) for note in console.messages("output"))
    assert "3/3" in text
    assert {note["stream"] for note in console.messages("output")} == {"stdout"}


def test_progress_draws_one_curve_of_what_it_is_told(console: Console) -> None:
    console.run(
        "import time\nloop = tw.progress(range(4))\nfor step in loop:\n"
        "    loop.log(loss=tw.asarray(step))\n    time.sleep(0.11)\n    if step: break"
    )
    plots = console.messages("plot")
    assert {note["display"] for note in plots} == {0}
    assert plots[-1]["series"][0]["y"] == [0, 1]


def test_complex_tensors_are_shown_as_their_sizes(console: Console) -> None:
    console.run("tw.show(tw.ones((10, 12)) * 1j)")
    (picture,) = console.messages("picture")
    assert (picture["dtype"], picture["heatmap"]["encoding"]) == (
        "complex64",
        "float32",
    )


def test_matplotlib_finds_its_backend_after_a_session_has_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """matplotlib is imported by a program, thus later than every module of ours."""
    Session(lambda *note: None, None, True)
    agg = types.ModuleType("matplotlib.backends.backend_agg")
    agg.FigureCanvasAgg = type("FigureCanvasAgg", (), {})  # type: ignore[attr-defined]  # a stand-in
    for module in (types.ModuleType("matplotlib"), agg):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    name = bridge.FIGURES.removeprefix("module://")
    monkeypatch.delitem(sys.modules, name, raising=False)  # doctests import everything
    assert importlib.import_module(name).FigureCanvas is agg.FigureCanvasAgg
