"""The page's question "why has this cell its value?" about a run with provenance."""

from __future__ import annotations

from typing import Any

import pytest

from tensorweb.playground import bridge
from tensorweb.playground.session import Session, handlers

PROGRAM = """
import tensorweb as tw
x = tw.asarray([[1.0, 2.0], [3.0, -4.0]])
def layer(v):
    return tw.log(v) / 2
for i in range(2):
    h = layer(x + i)
total = h.sum()
print(float(total))
"""


def ran(device: str, source: str = PROGRAM, **how: Any) -> tuple[Session, Any]:
    session = Session(lambda kind, fields: None, None, True)
    record = bridge.drive(session.run(source, device, **how))
    assert record["error"] is None
    names = {one["name"]: one["id"] for one in ask(session, "describe")}
    return session, (record, names)


def ask(session: Session, name: str, *args: Any, **how: Any) -> Any:
    answer: Any = handlers(session)[name]
    return bridge.drive(answer(*args, **how))


def why(session: Session, tensor: int, index: list[int], **how: Any) -> Any:
    return ask(session, "why", tensor, index, **how)


def test_a_cell_is_traced_to_the_data(device: str) -> None:
    session, (record, names) = ran(device, inside=True)
    assert record["inside"]
    found = why(session, names["total"], [])
    assert (found["line"], found["code"], found["value"]) == (
        8,
        "total = h.sum()",
        "nan",
    )
    (h,) = found["sources"]
    assert (h["tensor"]["id"], h["count"], h["line"]) == (names["h"], 4, 5)
    found = why(session, h["tensor"]["id"], [1, 0])
    assert [row["text"] for row in found["rows"]] == [
        "1.386 / 2 = 0.6931",
        "log(4) = 1.386",
    ]
    (v,) = found["sources"]
    assert (v["tensor"]["name"], v["line"]) == ("x + i", 7)
    assert v["cells"] == [{"index": [1, 0], "value": "4"}]
    found = why(session, v["tensor"]["id"], [1, 0])
    assert [row["text"] for row in found["rows"]] == ["3 + 1 = 4"]
    (x,) = found["sources"]
    assert x["tensor"]["id"] == names["x"]
    assert why(session, names["x"], [1, 0])["sources"] == []


def test_the_cells_that_were_read_are_a_picture(device: str) -> None:
    session, (_, names) = ran(device, inside=True)
    (h,) = why(session, names["total"], [])["sources"]
    (v,) = why(session, h["tensor"]["id"], [0, 1])["sources"]
    picture = ask(session, "heatmap", v["mask"], 0, 1, [0, 0], size="small")
    assert (picture["rows"], picture["columns"]) == (2, 2)
    cells = ask(session, "cells", v["mask"], 0, 1, [0, 0], [0, 0, 2, 2])
    assert cells["texts"] == [["0", "1"], ["0", "0"]]


def test_the_first_nan_is_found(device: str) -> None:
    session, (_, names) = ran(device, inside=True)
    found = why(session, names["total"], [], search=True)
    assert (found["line"], found["index"]) == (5, [1, 1])
    assert [row["text"] for row in found["rows"]] == [
        "nan / 2 = nan",
        "log(-3) = nan",
    ]


def test_a_cell_reaches_later_tensors(device: str) -> None:
    session, (_, names) = ran(device, inside=True)
    found = ask(session, "reached", names["x"], [1, 0])
    reached = {each["tensor"]["name"]: each for each in found}
    assert set(reached) == {"h", "total"}
    assert reached["h"]["cells"] == [{"index": [1, 0], "value": "0.6931472"}]
    assert ask(session, "reached", names["total"], []) == []


def test_gradients_stand_beside_values(device: str) -> None:
    source = """import tensorweb as tw
w = tw.asarray([1.0, 3.0])
h = w * w
n = tw.arange(2)
loss = h.sum()
"""
    session, (_, names) = ran(device, source, inside=True)
    found = ask(session, "gradients", names["loss"], [])
    gradients = {each["tensor"]["name"]: each["gradient"] for each in found}
    assert set(gradients) == {"w", "h", "loss"}
    assert (gradients["w"]["min"], gradients["w"]["max"]) == (2, 6)
    assert gradients["w"]["name"] == "gradient by w"
    cells = ask(session, "cells", gradients["w"]["id"], None, 0, [0], [0, 0, 1, 2])
    assert cells["texts"] == [["2", "6"]]
    by = [names["w"], gradients["w"]["id"]]
    check = ask(session, "check_gradient", names["loss"], [], *by)
    assert (check["index"], check["gradient"]) == ([1], "6")
    assert abs(float(check["quotient"]) - 6) < 0.01
    with pytest.raises(LookupError, match="no gradient"):
        ask(session, "gradients", names["n"], [0])


def test_parameters_of_networks_are_named_and_have_gradients(device: str) -> None:
    source = """import tensorweb as tw
model = tw.nn.Linear(3, 2)
x = tw.random.normal(tw.random.key(0), (4, 3))
loss = (model(x) ** 2).mean()
"""
    session, (_, names) = ran(device, source, inside=True)
    found = why(session, names["loss"], [])
    assert {each["tensor"]["name"] for each in found["sources"]} == {
        "x",
        "model.weight",
        "model.bias",
    }
    found = ask(session, "gradients", names["loss"], [])
    shapes = {each["tensor"]["name"]: each["gradient"]["shape"] for each in found}
    assert shapes == {
        "x": [4, 3],
        "loss": [],
        "model.weight": [2, 3],
        "model.bias": [2],
    }


def test_gradients_of_a_loop_are_those_of_its_last_step(device: str) -> None:
    source = """import tensorweb as tw
model = tw.nn.Linear(2, 1)
opt = tw.optim.SGD(model.parameters(), lr=0.02)
x = tw.asarray([[2.0, 1.0]], requires_grad=True)
for step in range(3):
    opt.zero_grad()
    x.grad = None
    loss = ((model(x) - 2 * x) ** 2).sum()
    loss.backward()
    by_x, by_weight = x.grad, model.weight.grad
    opt.step()
print(loss)
"""
    session, (_, names) = ran(device, source, inside=True)
    found = ask(session, "gradients", names["loss"], [])
    gradients = {each["tensor"]["name"]: each for each in found}
    assert set(gradients) == {"x", "loss", "model.weight", "model.bias"}
    for name, expected in (("x", "by_x"), ("model.weight", "by_weight")):
        by, gradient = (gradients[name][key]["id"] for key in ("tensor", "gradient"))
        shown, own = (
            ask(session, "cells", one, 0, 1, [0, 0], [0, 0, 1, 2])["texts"]
            for one in (gradient, names[expected])
        )
        assert shown == own
        check = ask(session, "check_gradient", names["loss"], [], by, gradient)
        assert float(check["quotient"]) == pytest.approx(float(check["gradient"]), 0.01)


def test_gradients_of_a_functional_loop_are_those_of_its_last_step(device: str) -> None:
    source = """import tensorweb as tw
w = tw.asarray(3.0)
x = tw.asarray(2.0)
step = tw.value_and_grad(lambda w, x: (w * x - 4) ** 2, argnums=(0, 1))
for i in range(3):
    loss, (by_w, by_x) = step(w, tw.exp(x * 0.5))
    w = w - 0.02 * by_w
    by_x = by_x * 0.5 * tw.exp(x * 0.5)
print(loss)
"""
    session, (_, names) = ran(device, source, inside=True)
    found = ask(session, "gradients", names["loss"], [])
    gradients = {each["tensor"]["name"]: each for each in found}
    assert set(gradients) == {"loss", "w", "x"}
    for name in ("w", "x"):
        by, gradient = (gradients[name][key]["id"] for key in ("tensor", "gradient"))
        (shown,), (own,) = (
            ask(session, "cells", one, None, None, [], [0, 0, 1, 1])["texts"]
            for one in (gradient, names[f"by_{name}"])
        )
        assert float(shown[0]) == pytest.approx(float(own[0]), 1e-5)
        check = ask(session, "check_gradient", names["loss"], [], by, gradient)
        assert float(check["quotient"]) == pytest.approx(float(check["gradient"]), 0.01)


def test_a_run_without_provenance_says_so(device: str) -> None:
    session, (record, names) = ran(device)
    assert "inside" not in record
    with pytest.raises(LookupError, match="retained no provenance"):
        why(session, names["total"], [])


def test_cells_that_do_not_exist_are_refused(device: str) -> None:
    session, (_, names) = ran(device, inside=True)
    for index in ([0], [2, 0], [0, 0, 0]):
        with pytest.raises(LookupError, match="no cell"):
            why(session, names["x"], index)
    with pytest.raises(LookupError):
        why(session, 1 << 21, [0, 0])


def test_the_next_run_forgets(device: str) -> None:
    session, _ = ran(device, inside=True)
    bridge.drive(session.run("import tensorweb as tw\nx = tw.ones((2, 2))", device))
    ask(session, "describe")
    with pytest.raises(LookupError):
        why(session, 0, [0, 0])


ALIGNED = """
import tensorweb as tw
x = tw.asarray([[1.0, 2.0], [3.0, -4.0]])
w = tw.asarray([[0.5], [0.25]])
b = tw.asarray([1.0, 2.0])
y = x @ w + b
none = tw.ones((0, 2)) + b
print(float(y.sum()))
"""


def test_operands_of_rows_are_aligned(device: str) -> None:
    session, (_, names) = ran(device, ALIGNED, inside=True)
    add, product = why(session, names["y"], [1, 0])["rows"]
    found = ask(session, "aligned", add["aligned"])
    assert (found["rule"], found["infix"], found["result"]["id"]) == (
        "broadcast",
        " + ",
        names["y"],
    )
    first, second = found["operands"]
    assert (first["tensor"]["name"], second["tensor"]["name"]) == ("x @ w", "b")
    assert second["repeated"]["strides"] == [0, 1]
    cells = ask(session, "cells", second["repeated"]["id"], 0, 1, [0, 0], [0, 0, 6, 6])
    assert cells["texts"] == [["1", "2"], ["1", "2"]]
    found = ask(session, "aligned", product["aligned"])
    assert [each["tensor"]["name"] for each in found["operands"]] == ["x", "w"]
    total = ask(session, "partial_sum", product["aligned"], [1, 0], 1)
    assert total["value"] == "1.5"
    with pytest.raises(LookupError, match="no product"):
        ask(session, "aligned", names["b"])


def test_operands_without_cells_are_aligned(device: str) -> None:
    session, (_, names) = ran(device, ALIGNED, inside=True)
    found = why(session, names["none"], [0, 0])
    assert (found["value"], found["line"]) == ("no cells", 7)
    (row,) = found["rows"]
    assert row["text"] == "add: no cells"
    found = ask(session, "aligned", row["aligned"])
    assert [each["tensor"]["shape"] for each in found["operands"]] == [[0, 2], [2]]


def test_the_variable_of_a_derivative_is_the_value_that_was_given(device: str) -> None:
    source = """
import tensorweb as tw
v = tw.asarray(3.0)
w = v * 2
loss, g = tw.value_and_grad(lambda w: w * w)(w)
old, w = w, w - g
"""
    session, (_, names) = ran(device, source, inside=True)
    (given,) = why(session, names["loss"], [])["sources"]
    assert (given["tensor"]["id"], given["line"]) == (names["old"], 4)


def test_indices_that_a_function_makes_for_itself_are_no_source(device: str) -> None:
    source = """
import tensorweb as tw
x = tw.asarray([[3.0, 1.0], [2.0, 4.0]])
order = tw.argsort(x, axis=1)
y = tw.take_along_axis(x, order, axis=1)
z = tw.arange(3) * 2
"""
    session, (_, names) = ran(device, source, inside=True)
    found = why(session, names["y"], [0, 0])["sources"]
    assert {one["tensor"]["name"] for one in found} == {"x", "order"}
    (given,) = why(session, names["z"], [1])["sources"]
    assert given["tensor"]["name"] == "tw.arange(3)"
