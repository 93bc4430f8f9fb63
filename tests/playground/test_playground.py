"""The page's Python counterpart: runs, output, failures, tensors and pictures."""

from __future__ import annotations

import builtins
import importlib
import json
import os
import signal
import sys
import warnings
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from answers import text_of_answer

from tensorweb import devices
from tensorweb.numpy.random import RandomState
from tensorweb.playground import bridge, policy, preload
from tensorweb.playground.numbers import text_of
from tensorweb.playground.session import Session
from tensorweb.playground.streams import clip


class Console:
    """A session with everything that it emits."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, Mapping[str, object]]] = []
        self.session = Session(lambda *note: self.notes.append(note), None, True)

    def run(self, source: str) -> Any:
        return self.ask(self.session.run(source))

    def ask(self, name: Any) -> Any:
        # JSON forms what the page gets.
        return json.loads(text_of_answer(bridge.drive(name)))

    def text(self, stream: str = "stdout") -> str:
        return "".join(
            str(fields["text"])
            for kind, fields in self.notes
            if kind == "output" and fields["stream"] == stream
        )

    def displays(self) -> list[Mapping[str, Any]]:
        return [fields for kind, fields in self.notes if kind == "display"]

    def tails(self) -> list[Mapping[str, object]]:
        return [fields for kind, fields in self.notes if kind == "tail"]


@pytest.fixture
def console() -> Iterator[Console]:
    main = sys.modules["__main__"]
    yield Console()
    sys.modules["__main__"] = main


def test_output_is_emitted_and_nothing_stays_replaced(console: Console) -> None:
    before = (sys.stdout, builtins.input)
    record = console.run("import sys\nprint('a')\nprint('b', file=sys.stderr)")
    assert record["error"] is None
    assert (console.text(), console.text("stderr")) == ("a\n", "b\n")
    assert (sys.stdout, builtins.input) == before


def test_program_is_the_main_module_with_fresh_names(console: Console) -> None:
    console.run("x = 1\nprint(__name__)")
    record = console.run("x")
    assert console.text() == "__main__\n"
    assert record["error"]["type"] == "NameError"


def test_last_expression_is_displayed_with_its_text(console: Console) -> None:
    console.run("a = 20\na + 1")
    shown = {"display": 0, "name": "a + 1", "text": "21", "tensor": False}
    assert console.displays() == [{**shown, "facts": "", "chart": None}]


def test_bar_chart_is_displayed_with_its_data(console: Console) -> None:
    console.run("import tensorweb as tw\ntw.bar_chart({'a': 1, 'b': 2}, unit='m')")
    (fields,) = console.displays()
    assert str(fields["text"]).startswith("m\n  a  1 ██")
    assert [bar["length"] for bar in fields["chart"]["bars"]] == [0.5, 1.0]


def test_show_displays_with_the_name_of_its_argument(console: Console) -> None:
    console.run("import tensorweb as tw\nfor n in 1, 2:\n    tw.show(n * 3)")
    shown = [(fields["name"], fields["text"]) for fields in console.displays()]
    assert shown == [("n * 3", "3"), ("n * 3", "6")]


def test_failure_names_the_sub_expression_in_utf16_columns(console: Console) -> None:
    record = console.run(
        "def f(x):\n    return 1 / x\n\ny = ['\N{ROCKET}', 3 + f(0)]\n"
    )
    error = record["error"]
    assert (error["type"], error["message"]) == (
        "ZeroDivisionError",
        "division by zero",
    )
    outer, inner = error["frames"]
    assert (outer["line"], outer["column"], outer["endColumn"]) == (4, 15, 19)
    assert (inner["line"], inner["function"], inner["code"]) == (2, "f", "return 1 / x")
    assert (inner["column"], inner["endColumn"]) == (11, 16)
    assert "playground" not in error["text"]


def test_syntax_error_has_a_location(console: Console) -> None:
    error = console.run("x = 1\ny = (2 +\n")["error"]
    assert error["type"] == "SyntaxError"
    assert error["frames"][-1]["line"] == 2
    assert error["frames"][-1]["column"] == 4


def test_endless_recursion_is_shown_short(console: Console) -> None:
    error = console.run("def f():\n    return f()\nf()")["error"]
    assert error["type"] == "RecursionError"
    assert len(error["frames"]) == 13
    assert any("skipped" in frame for frame in error["frames"])
    assert len(error["text"]) < 5000


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("input('name?')", "RuntimeError"),
        ("raise ValueError from KeyError('k')", "ValueError"),
        ("x\0y", "SyntaxError"),
        ("(" * 500 + ")" * 500, "SyntaxError"),
        ("raise BaseException('b')", "BaseException"),
        ("raise ExceptionGroup('g', [ValueError(1)])", "ExceptionGroup"),
        ("class E(Exception):\n  def __str__(self): return 1/0\nraise E", "E"),
    ],
)
def test_every_failure_becomes_a_record(
    console: Console, source: str, kind: str
) -> None:
    assert console.run(source)["error"]["type"] == kind
    assert console.run("1 + 1")["error"] is None


def test_value_that_fails_when_shown_fails_at_its_line(console: Console) -> None:
    source = (
        "class Late:\n    def __repr__(self):\n        return 1 / 0\n\n(\n  Late())"
    )
    frames = console.run(source)["error"]["frames"]
    assert [frame["line"] for frame in frames] == [6, 3]


def test_exit_and_stop_are_no_failures(console: Console) -> None:
    assert console.run("import sys\nsys.exit(3)")["error"] is None
    assert console.text("stderr") == "exit: 3\n"
    record = console.run("raise KeyboardInterrupt")
    assert (record["stopped"], record["error"]) == (True, None)


def test_pending_values_of_a_stopped_program_are_not_computed(
    console: Console, device: str
) -> None:
    source = (
        "import tensorweb as tw\nx = tw.realize(tw.arange(3.0) + 0.5)\ny = x * 2\n"
        "z = tw.ones(3)\n"
    )
    assert console.run(f"{source}raise KeyboardInterrupt")["stopped"]
    x, y, z = console.ask(console.session.describe())
    assert (x["max"], z["max"]) == (2.5, 1)
    assert "stopped before this was computed" in y["problem"]
    assert "max" not in y
    assert not console.run(source)["stopped"]
    assert console.ask(console.session.describe())[1]["max"] == 5


def test_many_lines_are_bounded_and_keep_both_ends(console: Console) -> None:
    console.run("for i in range(200_000): print(i)")
    last = console.tails()[-1]
    assert console.text().startswith("0\n1\n2\n")
    assert len(console.text()) == policy.OUTPUT_HEAD
    assert str(last["text"]).endswith("199998\n199999\n")
    total = sum(len(str(i)) + 1 for i in range(200_000))
    assert last["omitted"] == total - policy.OUTPUT_HEAD - policy.OUTPUT_TAIL
    assert len(console.notes) < 2000


def test_huge_string_is_cut_in_the_middle(console: Console) -> None:
    console.run("print('a' * 5_000_000 + 'z')\n'b' * 5_000_000")
    assert sum(len(json.dumps(fields)) for _, fields in console.notes) < 400_000
    assert str(console.tails()[-1]["text"]).endswith("z\n")
    assert len(str(console.displays()[0]["text"])) < policy.OUTPUT_TAIL + 100


def test_clip_keeps_both_ends() -> None:
    assert clip("short") == "short"
    assert clip("abcdefghij", 4) == "ab\n… 6 characters left out …\nij"


def test_top_level_await_needs_an_awaiting_host(console: Console) -> None:
    source = "import asyncio\nasync def f(): return 4\nprint(await f())"
    assert console.run(source)["error"] is None
    assert console.text() == "4\n"


TENSORS = """
import tensorweb as tw
x = tw.reshape(tw.arange(6, dtype=tw.float32), (2, 3))
y = x[:, ::-1]
z = x
weights = {"w": tw.ones((2,)), "n": 3}
layers = [tw.zeros((0,)), "text"]
bad = tw.asarray([1.0, float("nan"), float("inf"), -float("inf"), 4.0])
big = tw.asarray([2**31 - 1, -(2**31)], dtype=tw.int32)
truth = x > 1
tw.show(x + 10, name="shown")
x * 2
"""


def test_describe_lists_every_tensor_once(console: Console, device: str) -> None:
    assert console.run(TENSORS)["error"] is None
    found = {entry["name"]: entry for entry in console.ask(console.session.describe())}
    names = "x = z, y, weights['w'], layers[0], bad, big, truth, shown, x * 2"
    assert list(found) == names.split(", ")
    x, y, bad, big = found["x = z"], found["y"], found["bad"], found["big"]
    assert (x["shape"], x["dtype"], x["device"]) == ([2, 3], "float32", device)
    assert (x["min"], x["max"], x["mean"]) == (0, 5, 2.5)
    assert (y["strides"], y["offset"], y["viewOf"]) == ([3, -1], 2, "x")
    assert (bad["nan"], bad["inf"], bad["min"], bad["max"]) == (1, 2, 1, 4)
    assert bad["mean"] == 2.5
    assert (big["min"], big["max"]) == (-(2**31), 2**31 - 1)
    assert (found["truth"]["min"], found["truth"]["max"]) == (0, 1)
    assert "min" not in found["layers[0]"]


def test_shown_tensors_know_their_display(console: Console, cpu: str) -> None:
    console.run(
        "import tensorweb as tw\nfor n in 1, 2:\n    tw.show(tw.ones((n,)), 'x')\n"
        "y = tw.ones((3,))\ntw.show('text')\ny"
    )
    found = console.ask(console.session.describe())
    displays = [(entry["name"], entry["displays"]) for entry in found]
    assert displays == [("y", [3]), ("x", [0]), ("x (2)", [1])]


def test_tensors_of_the_previous_run_are_dropped(console: Console, device: str) -> None:
    console.run("import tensorweb as tw\nx = tw.ones((2,))")
    console.ask(console.session.describe())
    console.run("y = 1")
    assert console.ask(console.session.describe()) == []
    with pytest.raises(LookupError, match="no tensor number 0"):
        console.ask(console.session.heatmap(0, None, 0, [0]))


def test_text_of_names_a_value_exactly() -> None:
    assert text_of(0.10000000149011612, "float32") == "0.1"
    assert text_of(16777217, "int32") == "16777217"
    assert text_of(0.1, "float64") == "0.1"
    assert text_of(True, "bool") == "True"


def test_modules_of_a_snapshot_can_be_imported() -> None:
    in_pyodide = {"pyodide.ffi", "tensorweb.drivers.browser"}
    for name in set(preload.MODULES) - in_pyodide:
        importlib.import_module(name)


def asked(name: str, **details: object) -> Any:
    answer = bridge.respond(name, json.dumps(details))
    assert isinstance(answer, str)
    return json.loads(answer)


def test_bridge_answers_in_json(console: Console) -> None:
    sent: list[tuple[str, str]] = []
    bridge.connect(lambda kind, fields: sent.append((kind, fields)))
    record = asked("run", source="print('é')")
    assert record["error"] is None
    assert [(kind, json.loads(fields)["text"]) for kind, fields in sent] == [
        ("output", "é\n")
    ]
    with pytest.raises(LookupError, match="unknown request"):
        bridge.respond("dance", "{}")


def test_bytes_of_a_picture_are_sent_apart_from_json(console: Console) -> None:
    sent: list[tuple[str, str, bytes]] = []
    bridge.connect(
        lambda kind, fields, *buffers: sent.extend(
            (kind, fields, data) for data in buffers
        )
    )
    source = "import tensorweb as tw\ntw.show(tw.arange(20.0))"
    record = asked("run", source=source)
    assert record["error"] is None
    ((kind, fields, data),) = sent
    assert (kind, json.loads(fields)["heatmap"]["values"]) == ("picture", None)
    assert array("f", data).tolist() == list(range(20))
    asked("describe")
    whole = {"tensor": 0, "rows": None, "columns": 0, "indices": [0]}
    text, data = bridge.respond("heatmap", json.dumps(whole))
    assert json.loads(text)["values"] is None
    assert array("f", data).tolist() == list(range(20))


SPOILING = {
    "builtins": "import builtins\nbuiltins.len = builtins.print = None",
    "setters": "import builtins\nbuiltins.setattr = builtins.vars = None",
    "ours": "import tensorweb as tw\ntw.zeros = None\ntw.Tensor.sum = None",
    "depth": "import sys\nsys.setrecursionlimit(80)",
    "trace": "import sys\nsys.setprofile(lambda *what: 1 / 0)",
    "folder": "import os\nos.chdir('/')",
    "digits": "import tensorweb.numpy as np\nnp.set_printoptions(precision=2)",
    "warnings": "import warnings\nwarnings.simplefilter('error')",
    "path": "import sys\nsys.path.clear()\nsys.meta_path.clear()",
    "signal": "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
}
NEXT = """
import os, signal, colorsys
import tensorweb as tw
def deep(n): return n and deep(n - 1)
deep(200)
print(len("four"), tw.zeros(1, device="cpu").sum() + 1 / 3, os.getcwd())
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize("source", SPOILING.values(), ids=SPOILING)
def test_no_program_spoils_the_next_one(
    console: Console, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    console = Console()
    filters = [*warnings.filters]
    console.run(source)
    assert console.run(NEXT)["error"] is None
    signal.signal(signal.SIGINT, before)
    assert [*warnings.filters] == filters
    assert console.text().endswith(f"4 0.33333334 {os.getcwd()}\nTrue\n")


def test_a_seed_is_for_one_program(console: Console) -> None:
    named = "import tensorweb.numpy as np\nimport tensorweb as tw\n"
    draw = named + "with tw.device('cpu'):\n    print(np.random.rand(3).tolist())"
    assert console.run(named + "np.random.seed(5)")["error"] is None
    assert console.run(draw)["error"] is None
    with devices.device("cpu"):
        of_the_seed = RandomState(5).rand(3).tolist()
    assert console.text() != f"{of_the_seed}\n"


SINGULAR = """import tensorweb as tw
a = tw.asarray([[[2.0, 0.0], [0.0, 2.0]], [[1.0, 2.0], [2.0, 4.0]]], device="cpu")
x = 1 + tw.linalg.inv(a)
y = x * 2
"""


def test_a_singular_matrix_is_marked_where_it_was_inverted(console: Console) -> None:
    failure = console.run(SINGULAR + "print(y.sum())")["error"]
    assert failure["message"].startswith("inv: matrix 1 of the stack of (2, 2, 2)")
    found = [(frame["line"], frame["code"]) for frame in failure["frames"]]
    assert found == [(5, "print(y.sum())"), (3, "x = 1 + tw.linalg.inv(a)")]
    frame = failure["frames"][-1]
    assert found[-1][1][frame["column"] : frame["endColumn"]] == "tw.linalg.inv(a)"
    read_there = SINGULAR.replace("inv(a)", "inv(a).sum().item()")
    (frame,) = console.run(read_there)["error"]["frames"]
    assert frame["line"] == 3


def test_values_of_singular_matrices_are_looked_at_as_they_are(
    console: Console,
) -> None:
    assert console.run(SINGULAR)["error"] is None
    found = console.ask(console.session.describe())
    by_name = {entry["name"]: entry for entry in found}
    assert (by_name["y"]["size"], by_name["y"]["inf"] + by_name["y"]["nan"]) == (8, 4)
    cells = console.session.cells(by_name["x"]["id"], 1, 2, [0] * 3, [0, 0, 2, 2])
    assert console.ask(cells)["texts"] == [["1.5", "1"], ["1", "1.5"]]
