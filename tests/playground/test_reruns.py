"""Dragged numbers: the result of a part that runs again is the one of a full run."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import tensorweb as tw
from tensorweb import devices
from tensorweb.playground import bridge
from tensorweb.playground.session import Session

Outcome = dict[str, object]


@pytest.fixture(autouse=True)
def print_options_stay() -> Iterator[None]:
    with tw.numpy.printoptions():
        yield


TRAINED = """
import tensorweb as tw
model = tw.nn.Linear(3, 2)
opt = tw.optim.Adam(lr=0.1)
x = tw.random.normal(tw.random.key(0), (50, 3))
y = x @ tw.asarray([[1.0, 2], [3, 4], [5, 6]])
@tw.jit
def step(model, state, y):
    loss, gradient = tw.value_and_grad(lambda m: ((m(x) - y) ** 2).mean())(model)
    model, state = opt.update(model, gradient, state)
    return model, state, loss
state = opt.init(model)
for i in range(9):
    model, state, loss = step(model, state, y)
print("trained", loss)
scale = 2.5
for i in range(3):
    model, state, loss = step(model, state, y * scale)
print(loss, tw.nn.Linear(2, 2).weight)
model(x) * scale
"""

PROGRAMS = {
    "trained": TRAINED,
    "written in place": """
import tensorweb as tw
x = tw.zeros((3, 4))
view = x[1]
x[0] = 1
y = x
k = 2.5
view += k
y[2, 1] = k
x *= 2
print(x, view, y is x)
""",
    "containers": """
from collections import Counter, OrderedDict, defaultdict, deque
import tensorweb as tw
words, seen, recent = ["a"], {1}, deque([1, 2], 2)
table, order = defaultdict(list), OrderedDict(a=1, b=2)
table["w"].append(tw.ones(2))
counts = Counter("abca")
nested = {"a": [(words, [3])]}
words += ["b"]; k = 2.5; words.append(k)
nested["a"][0][1].append(k)
seen.add(k)
recent.append(k)
table["w"].append(table["w"][0] * k)
order.move_to_end("a")
counts["a"] += 1
print(words, seen, recent, dict(table), order, counts, nested)
""",
    "objects": """
import enum
from dataclasses import dataclass, field
import tensorweb as tw
class Mood(enum.IntEnum):
    good = 1
@dataclass(slots=True)
class Point:
    x: float
    seen: list = field(default_factory=list)
class Base:
    made = 0
    def __init__(self):
        type(self).made += 1
        self.w = tw.ones(2)
class Net(Base):
    pass
point, net = Point(1.0), Net()
k = 2.5
point.x += k
point.seen.append(Mood.good)
net.w = net.w * k
net.new = 1
Net.extra = Net().made
print(point, Net.made, net.w, vars(net), Net.extra)
""",
    "closures": """
def counter(total=[0]):
    count = 0
    def add(by):
        nonlocal count
        count += by
        total[0] += 1
        return count, total[0]
    return add
add = counter()
print(add(1))
k = 2.5
print(add(k), add(k))
add.calls = 2
""",
    "defaults": """
def f(x=1, *, y=2):
    return x + y
k = 2.5
f.__defaults__ = (f() + k,)
f.__kwdefaults__ = {"y": f() + k}
print(f())
""",
    "state of a kernel": """
import tensorweb as tw
def make():
    count = 0
    def reference(x):
        nonlocal count
        count += 1
        return x + count
    return tw.kernel(
        "y[global_id.x] = x[global_id.x];",
        inputs={"x": "float32"},
        outputs={"y": "float32"},
        reference=reference,
        fallback=True,
    )
f = make()
x = tw.ones(3)
y = f(x)
k = 2.5
print(f(x) * k)
""",
    "random": """
import random
import tensorweb as tw
import tensorweb.numpy as np
random.seed(1)
np.random.seed(2)
rng = tw.random.Generator(0)
own = random.Random(5)
print(random.random(), np.random.rand(2), rng.normal(2), own.random())
first = tw.nn.Linear(2, 2)
k = 2.5
print(random.random() * k, np.random.rand(2) * k, rng.normal(2), own.random())
second = tw.nn.Linear(2, 2)
print(second.weight)
""",
    "printing": """
import tensorweb as tw
import tensorweb.numpy as np
np.set_printoptions(precision=3)
x = tw.linspace(0.0, 1.0, 3) / 3
print(x)
k = 2.5
print(x * k)
np.set_printoptions(precision=6)
x * k
""",
    "leaves": """
import tensorweb as tw
w = tw.ones(3).requires_grad_()
for i in range(3):
    loss = (w * w).sum()
    loss.backward()
    with tw.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
k = 2.5
loss = (w * k).sum()
loss.backward()
with tw.no_grad():
    w -= w.grad
print(w, loss)
""",
    "displays": """
import tensorweb as tw
x = tw.arange(6.0).reshape(2, 3)
tw.show(x, "before")
for i in range(2):
    tw.show(x + i, "step")
"not shown"
k = 2.5
tw.show(x * k, "after")
x + k
""",
    "rebound": """
import tensorweb as tw
x = tw.ones(3)
def f(x):
    y = x * k
    return y
k = 1
print(f(x))
k = 2.5
x = f(x) + f(x + 1)
del k
""",
    "fails": """
x = [1]
k = 2.5
x.append(k)
raise ValueError(x)
""",
}
"""Programs whose last lines run again after 2.5 was changed."""

REUSED = {
    """
import tensorweb as tw
x = tw.ones(3); y = x * 2
k = 2.5
print(x, y, k)
""": "line 3",
    """
import math
import tensorweb as tw
import tensorweb.numpy as np
k = 2.5
n = 4
x = tw.random.normal(tw.random.key(n), (3, 4))
y = tw.tanh(x @ x.T) * math.pi
z = (y * k).sum()
print(z)
v = y[0]
w = np.flip(v) + 1
print(w, v)
""": "lines 7, 8, 11, 12",
    # What the number decides may write into values.
    """
import tensorweb as tw
k = 2.5
x = tw.ones(3) * 2
if k > 2.6:
    x[0] = 5
y = x * 2
print(y)
""": "line 4",
    """
import tensorweb as tw
x = tw.ones(3) * 2
y = x + 1
x[1] = 7
k = 2.5
z = x * k + y
print(z)
""": "",
    """
import tensorweb as tw
def f(x):
    x += k
    return x
x = tw.ones(3) * 2
k = 2.5
y = f(x)
z = x * 2
print(z)
""": "",
    """
import tensorweb as tw
x = tw.ones(3) * 2
k = 2.5
y = x * k
model = tw.nn.Linear(3, 2)
z = model(x) * k
w = x + 1
""": "line 3",
    """
import tensorweb as tw
k = 2.5
x = tw.ones(3) * 2
x = x + k
y = x * 2
""": "",
}
"""Programs, and the lines whose values a first step takes of the last run."""


@pytest.mark.parametrize("source", REUSED)
def test_values_that_do_not_depend_on_the_number_are_reused(source: str) -> None:
    texts = [source.replace("2.5", value) for value in ("2.6", "2.7", "2.8")]
    page = Page()
    page.run(source)
    for text in texts:
        found = page.outcome(text, dragged=line_of(source))
        if text is texts[0]:
            again = str(found["again"]).partition(";")[0].partition(":")[0]
            reused = again.removeprefix("ran the whole program").strip()
            assert reused.removeprefix("but for ") == REUSED[source]
        expected = Page().outcome(text)
        for key in ("text", "error", "lines", "tensors"):
            assert found[key] == expected[key], key


def test_a_value_that_is_reused_is_not_computed_again() -> None:
    source = """import tensorweb as tw
x = tw.exp(tw.ones(3))
k = 2.5
y = x * k
"""
    page = Page()
    page.run(source)
    before = page.session._names["x"]
    page.run(source.replace("2.5", "2.6"), dragged=3)
    assert page.session._names["x"] is before


def test_values_that_are_reused_are_freed_with_their_program() -> None:
    source = "import tensorweb as tw\nx = tw.exp(tw.ones(3))\nk = 2.5\n"
    page = Page()
    page.run(source)
    page.run(source, dragged=3)
    node = weakref.ref(page.session._names["x"].node)
    page.run("x = 1")
    assert node() is None


def test_values_of_a_lost_device_are_not_reused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = "import tensorweb as tw\nk = 2.5\nx = tw.exp(tw.ones(3))\n"
    page = Page()
    page.run(source)
    before = page.session._names["x"]
    monkeypatch.setitem(devices._losses, "cpu", devices.losses("cpu") + 1)
    page.run(source.replace("2.5", "2.6"), dragged=2)
    assert page.session._names["x"] is not before


WHOLE = {
    "import os\nx = 1\nk = 2.5\n": "line 1 imports os",
    "x = 1\nf = open\nk = 2.5\n": "line 2 uses open()",
    "import tensorweb as tw\ntw.Tensor.x = 1\nk = 2.5\n": "line 2 changes tw",
    "x = (i for i in [])\nk = 2.5\n": "x has a generator",
    "x = [iter([1])]\nk = 2.5\n": "x has a list_iterator",
    "k = 2.5\n": "it begins with this number",
    "x = set()\nfor i in (3, 17, 4, 5, 6):\n    x.add(i)\nk = 2.5\nprint(x)\n": (
        "x has a set whose copy has another order"
    ),
    # Only with 17 the copy has another order: its table is smaller.
    "x = set()\nfor i in range(5):\n    x.add(i)\nk = 2.5\nx.add(17)\n": (
        "x has a set whose copy has another order"
    ),
    "import tensorweb as tw\nw = tw.ones(2).requires_grad_()\ny = w * w\nk = 2.5\n": (
        "y has a value whose backward pass is still to come"
    ),
}


class Page:
    """A session, and what it sent in its last run."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, Mapping[str, object]]] = []
        self.session = Session(lambda *note: self.notes.append(note), None, True)

    def run(self, source: str, **how: Any) -> dict[str, Any]:
        self.notes.clear()
        return dict(bridge.drive(self.session.run(source, "cpu", **how)))

    def outcome(self, source: str, **how: Any) -> Outcome:
        """Return what the page shows of a run."""
        run = self.run(source, **how)
        tensors = bridge.drive(self.session.describe())
        texts = [fields["text"] for kind, fields in self.notes if kind == "output"]
        others = [note for note in self.notes if note[0] not in ("output", "picture")]
        facts = {name: run[name] for name in ("error", "lines", "stopped")}
        return {"text": "".join(map(str, texts)), "others": others, **facts} | {
            "tensors": [without_storage(dict(one)) for one in tensors],
            "again": run.get("again"),
        }


def without_storage(tensor: dict[str, Any]) -> dict[str, Any]:
    """Return a record without the id of a storage, which is an address."""
    return tensor | {"storage": tensor["storage"] | {"id": 0}}


def line_of(source: str) -> int:
    return source[: source.index("2.5")].count("\n") + 1


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_part_that_runs_again_equals_a_full_run(name: str) -> None:
    source = PROGRAMS[name]
    line = line_of(source)
    texts = [source.replace("2.5", value) for value in ("2.6", "2.7", "2.8")]
    full = [Page().outcome(text) for text in texts]
    page = Page()
    page.run(source)
    for text, expected in zip(texts, full, strict=True):
        found = page.outcome(text, dragged=line)
        again = str(found.pop("again"))
        assert again.startswith("ran line") is (text is not texts[0]), again
        del expected["again"]
        for key, fact in expected.items():
            assert found[key] == fact, key


@pytest.mark.parametrize("source", WHOLE)
def test_a_program_that_cannot_be_restored_runs_from_its_start(source: str) -> None:
    page = Page()
    page.run(source)
    for value in ("2.6", "2.7"):
        dragged = source.replace("2.5", value)
        run = page.run(dragged, dragged=line_of(source))
        assert run["again"] == f"ran the whole program: {WHOLE[source]}"
