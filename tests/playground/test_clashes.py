"""Shapes that do not fit, as the page draws them, and edits that repair programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from answers import text_of_answer

from tensorweb.playground import bridge
from tensorweb.playground.session import Session

HEAD = """import tensorweb as tw
x = tw.ones((4, 3))
y = tw.ones(4)
w = tw.ones((2, 4))
v = tw.ones(5)
s = tw.ones((2, 4, 3))
d = {"w": w}
class Layer:
    def __init__(self): self.w = w
layer = Layer()
"""


class Console:
    """A session of which only failures are looked at."""

    def __init__(self) -> None:
        self.session = Session(lambda kind, fields: None, None, True)

    def run(self, source: str) -> Any:
        found = bridge.drive(self.session.run(source, "cpu"))
        return json.loads(text_of_answer(found))["error"]

    def clash(self, source: str) -> Any:
        return self.run(source)["clash"]


@pytest.fixture
def console() -> Iterator[Console]:
    main = sys.modules["__main__"]
    yield Console()
    sys.modules["__main__"] = main


def repaired(source: str, repair: Any) -> str:
    """Apply a repair as the page does; columns count UTF-16 units."""
    lines = source.splitlines(keepends=True)

    def offset(line: int, column: int) -> int:
        return len("".join(lines[: line - 1]).encode("utf-16-le")) + 2 * column

    data = source.encode("utf-16-le")
    start = offset(repair["line"], repair["column"])
    end = offset(repair["endLine"], repair["endColumn"])
    assert data[start:end].decode("utf-16-le") == repair["old"]
    new = data[:start] + repair["text"].encode("utf-16-le") + data[end:]
    return new.decode("utf-16-le")


TALL, WIDE = "x.mean(axis=1, keepdims=True)", "x.mean(axis=1)[:, None]"
CASES: list[tuple[str, str, list[tuple[str, int | None]], list[str]]] = [
    ("x + y", "broadcast", [("x", 1), ("y", 0)], ["y[:, None]", "x.T"]),
    ("y + v", "broadcast", [("y", 0), ("v", 0)], ["y[:, None]", "v[:, None]"]),
    (
        "(x * 2) - y",
        "broadcast",
        [("x * 2", 1), ("y", 0)],
        ["y[:, None]", "(x * 2).T"],
    ),
    (
        "x - x.mean(axis=1)",
        "broadcast",
        [("x", 1), ("x.mean(axis=1)", 0)],
        [TALL, WIDE, "x.T"],
    ),
    *(
        (
            f"x - {given})",
            "broadcast",
            [("x", 1), (f"{given})", 0)],
            [f"{given}, keepdims=True)", f"{given})[:, None]", "x.T"],
        )
        for given in ("x.mean(1", "x.mean(dim=1", "tw.mean(x, 1")
    ),
    (
        "s * tw.ones((2, 4))",
        "broadcast",
        [("s", 1), ("tw.ones((2, 4))", 0)],
        ["tw.ones((2, 4))[..., None]"],
    ),
    ("x < y", "broadcast", [("x", 1), ("y", 0)], ["y[:, None]", "x.T"]),
    ("tw.where(x > 0, x, y)", "broadcast", [("", 1), ("", 1), ("", 0)], []),
    ("tw.add(x, y)", "broadcast", [("x", 1), ("y", 0)], ["y[:, None]", "x.T"]),
    ("x @ w", "matmul", [("x", 1), ("w", 0)], ["w @ x"]),
    ("x @ (w * 2)", "matmul", [("x", 1), ("w * 2", 0)], ["(w * 2) @ x"]),
    ("x @ d['w'].T", "matmul", [("x", 1), ("d['w'].T", 0)], ["x.T"]),
    ("y @ x.T", "matmul", [("y", 0), ("x.T", 0)], ["x", "x.T @ y"]),
    ("layer.w @ s.mT", "matmul", [("layer.w", 1), ("s.mT", 1)], ["s"]),
    ("s @ tw.ones((3, 3, 5))", "matmul", [("s", 0), ("tw.ones((3, 3, 5))", 0)], []),
    ("tw.matmul(x, w)", "matmul", [("x", 1), ("w", 0)], []),
    ("x.reshape(5, 2)", "reshape", [("x", None), ("", None)], ["reshape(-1, 2)"]),
    (
        "tw.reshape(x, (8, 3))",
        "reshape",
        [("x", None), ("", None)],
        ["reshape((-1, 3))"],
    ),
    ("x.reshape([5])", "reshape", [("x", None), ("", None)], ["reshape([-1])"]),
    ("x.reshape(5, -1)", "reshape", [("x", None), ("", None)], []),
    ("tw.concat([x, w])", "concat", [("x", 1), ("w", 1)], ["x.T"]),
    (
        "tw.concat([w, s[:, 0]], axis=0)",
        "concat",
        [("w", 1), ("s[:, 0]", 1)],
        ["axis=1"],
    ),
    ("tw.concat([w, s[:, 0]])", "concat", [("w", 1), ("s[:, 0]", 1)], ["axis=1"]),
    ("tw.concat([x, y])", "concat", [("x", None), ("y", None)], []),
    (
        "tw.broadcast_to(y, (4, 3))",
        "broadcast_to",
        [("y", 0), ("", 1)],
        ["y[:, None]"],
    ),
]


@pytest.mark.parametrize(
    ("line", "rule", "operands", "labels"), CASES, ids=[case[0] for case in CASES]
)
def test_repairs_give_the_shapes_that_they_say(
    console: Console,
    line: str,
    rule: str,
    operands: list[tuple[str, int | None]],
    labels: list[str],
) -> None:
    source = f"{HEAD}'🙂'; r = {line}"
    clash = console.clash(source)
    assert clash["rule"] == rule
    found = [(operand["text"], operand["axis"]) for operand in clash["operands"]]
    assert found == operands
    assert [repair["label"] for repair in clash["repairs"]] == labels
    for repair in clash["repairs"]:
        check = f"\nassert list(r.shape) == {repair['shape']}, r.shape"
        assert console.run(repaired(source, repair) + check) is None


LAYERS = (
    HEAD
    + """import tensorweb.nn as nn
images = tw.ones((8, 5, 7, 3))
flat = nn.Linear(105, 6)
conv = nn.Conv2d(3, 4, 3)
gray = nn.Conv2d(1, 4, kernel_size=3)
norm = nn.BatchNorm2d(num_features=3)
labels = tw.zeros((4, 1), dtype="int32")
steps = tw.ones((2, 7, 5))
words = tw.zeros((2, 7), dtype="int32")
model = nn.Sequential(nn.ReLU(), nn.Linear(3, 4), nn.Linear(9, 2))
first = nn.Sequential(nn.Linear(11, 4), nn.ReLU())
lengths = nn.LayerNorm(4)
loss = nn.CrossEntropyLoss()
"""
)

FITTED: list[tuple[str, str, list[int | None], list[str]]] = [
    ("flat(images)", "expected", [3, 3], ["images.flatten(1)", "nn.Linear(3, 6)"]),
    (
        "flat(images * 2)",
        "expected",
        [3, 3],
        ["(images * 2).flatten(1)", "nn.Linear(3, 6)"],
    ),
    ("nn.Linear(4, 2)(x)", "expected", [1, 1], ["x.T", "nn.Linear(3, 2)"]),
    ("lengths(x)", "expected", [1, 1], ["x.T", "nn.LayerNorm(3)"]),
    (
        "conv(images)",
        "expected",
        [1, 1],
        ["images.moveaxis(-1, 1)", "nn.Conv2d(5, 4, 3)"],
    ),
    (
        "gray(images[0, :, :, 0])",
        "expected",
        [1, 1],
        ["images[0, :, :, 0][None]", "images[0, :, :, 0][None, None]"],
    ),
    ("gray(s)", "expected", [1, 1], ["s[:, None]"]),
    (
        "norm(images)",
        "expected",
        [1, 1],
        ["images.moveaxis(-1, 1)", "nn.BatchNorm2d(num_features=5)"],
    ),
    (
        "nn.LSTM(3, 2)(s.mT)",
        "expected",
        [2, 2],
        ["s", "s.mT.moveaxis(-1, 0)", "nn.LSTM(4, 2)"],
    ),
    ("model(x)", "expected", [1, 1], ["nn.Linear(4, 2)"]),
    ("first(x)", "expected", [1, 1], ["nn.Linear(3, 4)"]),
    ("first(tw.ones((11, 3)))", "expected", [1, 1], ["nn.Linear(3, 4)"]),
    ("tw.nn.functional.linear(x, w.T)", "expected", [1, 1], []),
    (
        "tw.nn.functional.cross_entropy(x, labels)",
        "aligned",
        [None, 1],
        ["labels.squeeze(1)"],
    ),
    ("loss(steps, words)", "aligned", [2, 1], ["steps.mT"]),
    (
        "tw.nn.functional.mse_loss(labels * 1.0, y)",
        "aligned",
        [1, None],
        ["(labels * 1.0).squeeze(1)", "y[:, None]"],
    ),
    ("tw.einsum('ij,jk->ik', x, w)", "aligned", [1, 0], []),
    ("tw.einsum('ij,jk->ik', w, x.T)", "aligned", [1, 0], ["x"]),
    ("tw.einsum('ij,kj->ik', x, w)", "aligned", [1, 1], ["x.T"]),
    ("tw.stack([x, w.T])", "aligned", [1, 1], []),
    ("tw.stack([x, x.T])", "aligned", [0, 0], ["x.T", "x"]),
    (
        "tw.stack([y, tw.ones((1, 4))])",
        "aligned",
        [0, 0],
        ["y[None]", "tw.ones((1, 4)).squeeze(0)"],
    ),
]


@pytest.mark.parametrize(
    ("line", "rule", "axes", "labels"), FITTED, ids=[case[0] for case in FITTED]
)
def test_repairs_of_layers_give_operands_the_shapes_that_they_say(
    console: Console, line: str, rule: str, axes: list[int | None], labels: list[str]
) -> None:
    source = f"{LAYERS}'🙂'; r = {line}"
    clash = console.clash(source)
    assert clash["rule"] == rule
    assert [operand["axis"] for operand in clash["operands"]] == axes
    for operand in clash["operands"]:
        assert len(operand["columns"]) == len(operand["shape"])
    assert [repair["label"] for repair in clash["repairs"]] == labels
    for repair in clash["repairs"]:
        text, shape = repair["label"], tuple(repair["shape"])
        is_layer = "(" in text and text.startswith("nn.")
        check = "" if is_layer else f"\nassert ({text}).shape == {shape}"
        assert console.run(repaired(source, repair) + check) is None


def test_a_layer_is_not_changed_if_another_call_may_have_made_it(
    console: Console,
) -> None:
    source = LAYERS + "n = 105\nother = nn.Linear(n, 6)\nother(images)"
    labels = [repair["label"] for repair in console.clash(source)["repairs"]]
    assert labels == ["images.flatten(1)"]


def test_a_reduction_keeps_its_axis_in_the_line_that_named_it(console: Console) -> None:
    source = (
        f"{HEAD}m = x.mean(axis=1)\n"
        "def centred(of, m):\n    return of - m\nr = centred(x, m)"
    )
    clash = console.clash(source.replace("r = centred(x, m)", "r = x - m"))
    labels = ["m = x.mean(axis=1, keepdims=True)", "m[:, None]", "x.T"]
    assert [each["label"] for each in clash["repairs"]] == labels
    assert clash["repairs"][0]["line"] == HEAD.count("\n") + 1
    check = "\nassert r.shape == (4, 3)"
    edited = repaired(
        source.replace("r = centred(x, m)", "r = x - m"), clash["repairs"][0]
    )
    assert console.run(edited + check) is None
    # In another function the name is that of a parameter: the same line made it.
    clash = console.clash(source)
    assert console.run(repaired(source, clash["repairs"][0]) + check) is None


def test_an_assignment_changes_the_value_only(console: Console) -> None:
    source = HEAD + "x[:, :] = y"
    clash = console.clash(source)
    assert clash["rule"] == "broadcast_to"
    assert [each["text"] for each in clash["operands"]] == ["y", "x[:, :]"]
    assert [repair["label"] for repair in clash["repairs"]] == ["y[:, None]"]
    assert console.run(repaired(source, clash["repairs"][0])) is None


def test_an_update_in_place_keeps_the_shape_of_its_target(console: Console) -> None:
    source = HEAD + "x += y"
    clash = console.clash(source)
    assert [repair["label"] for repair in clash["repairs"]] == ["y[:, None]"]
    assert console.run(repaired(source, clash["repairs"][0])) is None


@pytest.mark.parametrize("line", ["v += y", "v[:] = y"])
def test_no_repair_changes_the_shape_of_a_target(console: Console, line: str) -> None:
    assert console.clash(HEAD + line)["repairs"] == []


def test_the_innermost_call_of_the_program_is_repaired(console: Console) -> None:
    source = HEAD + "def f(a, b):\n    return (a +\n        b)\nf(x, b=y)"
    clash = console.clash(source)
    assert [each["text"] for each in clash["operands"]] == ["a", "b"]
    texts = [repaired(source, repair) for repair in clash["repairs"]]
    assert "        b[:, None])" in texts[0]
    assert console.run(texts[0]) is None


def test_shapes_inside_the_library_have_no_names(console: Console) -> None:
    found = console.clash(HEAD + "[*map(lambda a: tw.add(a, y), [x * 2])]")
    assert [each["text"] for each in found["operands"]] == ["a", "y"]
    found = console.clash(HEAD + "[*map(tw.add, [x], [y])]")
    assert [each["text"] for each in found["operands"]] == ["", ""]
    assert found["repairs"] == []


def test_looking_a_name_up_runs_nothing(console: Console) -> None:
    source = HEAD + (
        "calls = []\n"
        "class Lazy:\n"
        "    def __getattr__(self, name): calls.append(name); return x\n"
        "lazy = Lazy()\n"
        "try:\n    lazy.a + y\nfinally:\n    before = len(calls)"
    )
    assert [each["text"] for each in console.clash(source)["operands"]] == [
        "lazy.a",
        "y",
    ]
    assert console.session._names["calls"] == ["a"]


def test_other_errors_have_no_clash(console: Console) -> None:
    assert "clash" not in console.run("1 / 0")
    assert "clash" not in console.run("import tensorweb as tw\ntw.zeros(-1)")
    assert "clash" not in console.run("x = (")


NETWORK = HEAD + "from tensorweb import nn\nimage = tw.ones((2, 3, 6, 7))\n"
WORDS = HEAD + "from tensorweb import nn\nwords = tw.ones((2, 5, 12))\n"


@pytest.mark.parametrize(
    ("call", "reaches", "axis"),
    [
        ("nn.MaxPool2d(7)(image)", [7, 7], 2),
        ("nn.AvgPool2d((2, 9), padding=(0, 0))(image)", [2, 9], 3),
        ("tw.max_pool2d(image, 8)", [8, 8], 2),
        ("nn.Conv2d(3, 4, (3, 5), dilation=2)(image)", [5, 9], 3),
        ("nn.Unfold(7)(image)", [7, 7], 2),
    ],
)
def test_a_window_larger_than_the_input_is_drawn(
    console: Console, call: str, reaches: list[int], axis: int
) -> None:
    error = console.run(NETWORK + call)
    clash = error["clash"]
    assert (clash["rule"], clash["repairs"]) == ("window", [])
    image, window = clash["operands"]
    assert (image["text"], image["shape"], image["axis"]) == (
        "image",
        [2, 3, 6, 7],
        axis,
    )
    assert (window["shape"], window["axis"]) == (reaches, axis - 2)
    assert window["columns"] == [2, 3]
    assert "(2, 3, 6, 7)" in error["message"]


def test_an_index_out_of_range_is_drawn_and_the_table_made_larger(
    console: Console,
) -> None:
    source = WORDS + "table = nn.Embedding(10, 4)\ny = table(tw.asarray([3, 11]))"
    clash = console.clash(source)
    index, rows = clash["operands"]
    assert clash["rule"] == "index"
    assert (index["shape"], index["axis"], index["columns"]) == ([11], 0, [0])
    assert (rows["shape"], rows["axis"]) == ([10, 4], 0)
    (repair,) = clash["repairs"]
    assert (repair["label"], repair["shape"]) == ("nn.Embedding(12, 4)", [12, 4])
    assert console.run(repaired(source, repair) + "\nassert y.shape == (2, 4)") is None
    row, table = console.clash(HEAD + "s[0, -5]")["operands"]
    assert (row["shape"], row["columns"]) == ([-5], [1])
    assert (table["text"], table["axis"]) == ("s", 1)


@pytest.mark.parametrize(
    ("call", "rule", "operands"),
    [
        (
            "nn.scaled_dot_product_attention(words, words[:, :, :8], words)",
            "aligned",
            [([2, 5, 12], 2), ([2, 5, 8], 2), ([2, 5, 12], None)],
        ),
        (
            "nn.scaled_dot_product_attention(words, words, words[:, 1:])",
            "aligned",
            [([2, 5, 12], None), ([2, 5, 12], 1), ([2, 4, 12], 1)],
        ),
        (
            "nn.MultiheadAttention(8, 2, batch_first=True)(words, words, words)",
            "expected",
            [([2, 5, 12], 2), ([-1, -1, 8], 2)],
        ),
        (
            "nn.MultiheadAttention(12, 2, batch_first=True)"
            "(words, words, words[:, 1:])",
            "aligned",
            [([2, 5, 12], None), ([2, 5, 12], 1), ([2, 4, 12], 1)],
        ),
        (
            "nn.MultiheadAttention(12, 2)(words, words[:, 1:], words)",
            "aligned",
            [([2, 5, 12], 1), ([2, 4, 12], 1), ([2, 5, 12], 1)],
        ),
        (
            "nn.scaled_dot_product_attention("
            "words, words, words, attn_mask=tw.ones((4, 4)) > 0)",
            "broadcast_to",
            [([4, 4], 1), ([2, 5, 5], 2)],
        ),
        (
            "tw.conv2d(words[None], tw.ones((4, 3, 2, 2)))",
            "aligned",
            [([1, 2, 5, 12], 1), ([4, 3, 2, 2], 1)],
        ),
    ],
)
def test_operands_of_attention_are_drawn(
    console: Console, call: str, rule: str, operands: list[tuple[list[int], int | None]]
) -> None:
    clash = console.clash(WORDS + call)
    assert clash["rule"] == rule
    drawn = [(each["shape"], each["axis"]) for each in clash["operands"]]
    assert drawn == operands


def test_attention_is_made_for_a_width_that_its_heads_divide(console: Console) -> None:
    for heads, labels in ((2, ["nn.MultiheadAttention(12, 2)"]), (8, [])):
        source = WORDS + (
            f"layer = nn.MultiheadAttention(8, {heads})\nlayer(words, words, words)"
        )
        repairs = console.clash(source)["repairs"]
        assert [repair["label"] for repair in repairs] == labels
        for repair in repairs:
            assert console.run(repaired(source, repair)) is None
