"""What lines of a program made: facts of tensors, and a program that runs as before."""

from __future__ import annotations

import ast
import textwrap
from types import CodeType
from typing import Any

import pytest

from tensorweb import frames
from tensorweb.playground import bridge, policy
from tensorweb.playground.lines import Lines
from tensorweb.playground.session import Session

PROGRAM = """
import tensorweb as tw
import doubling
def model(a, b=True):
    c = a * 2
    for i in range(3):
        c = c + i
    class Layer:
        scale = tw.ones(2)
        def __init__(self):
            self.w = tw.ones((2,
                              2))
    layer = Layer()
    if b:
        c -= 1
    return c.T
x = tw.arange(12.0).reshape(3, 4)
first, (second, *rest) = x + 1, (x[0], x * 2, 5)
state = {}
state["w"] = x * 3
for row in x:
    total = row.sum()
y = model(x)
g = doubling.double(y)
flat = x.mT.reshape(12)
y @ x
"""

HELPERS = "def double(x):\n    r = x * 2\n    return r\n"

MADE = """
17 x (3, 4) 1
18 first (3, 4) 1
18 second (4,) view 1
18 rest[0] (3, 4) 1
20 state['w'] (3, 4) 1
21 row (4,) view 3
22 total () 3
5 model c (3, 4) 1
7 model c (3, 4) 3
11-12 __init__ self.w (2, 2) 1
15 model c (3, 4) 1
16 model return (4, 3) view 1
23 y (4, 3) view 1
doubling.py 2 double r (4, 3) 1
doubling.py 3 double return (4, 3) 1
24 g (4, 3) 1
25 flat (12,) copied 1
26 return (4, 4) 1
"""


def run(source: str, **how: Any) -> tuple[Session, dict[str, Any]]:
    session = Session(lambda kind, fields: None, None, True)
    record = bridge.drive(session.run(source, "cpu", **how))
    return session, dict(record)


def in_words(made: dict[str, Any]) -> str:
    """Return a record as a line of `MADE`."""
    file = "" if made["file"] == "main.py" else made["file"]
    end = "" if made["endLine"] == made["line"] else f"-{made['endLine']}"
    view = "view" if made["view"] else "copied" if "copied" in made else ""
    parts = (
        *(file, f"{made['line']}{end}", made["function"], made["name"] or "return"),
        *(str(tuple(made["shape"])), view, str(made["count"])),
    )
    return " ".join(part for part in parts if part)


def test_lines_tell_what_they_made() -> None:
    files = [{"name": "doubling.py", "text": HELPERS}]
    session, record = run(PROGRAM, files=files)
    assert record["error"] is None
    assert [in_words(made) for made in record["lines"]] == MADE.strip().split("\n")
    assert {made["dtype"] for made in record["lines"]} == {"float32"}
    assert {made["device"] for made in record["lines"]} == {"cpu"}
    bridge.drive(session.run(""))  # the next session may have a file of that name


COPIES = """
import tensorweb as tw
def rows(x):
    return x.mT.reshape(-1)
x = tw.arange(12.0).reshape(3, 4)
inner = (x.mT.reshape(12) * 2).sum()
again = (x.mT.reshape(12) * 2).sum()
of_call = rows(x) + 1
largest = tw.exp(-inner * x).max()
"""


def test_the_line_that_copied_is_named() -> None:
    """Also for a value inside an expression, and where another line has its kernel."""
    _, record = run(COPIES)
    copied = [made["line"] for made in record["lines"] if "copied" in made]
    assert copied == [6, 7, 4]
    assert frames.copies is None


NOT_FINITE = """
import tensorweb as tw
class Layer:
    def __init__(self):
        self.scale = tw.log(tw.arange(3.0) - 1)
layer = Layer()
@tw.jit
def doubled(x):
    y = x * 2
    return y / 0
def root(x):
    y = tw.sqrt(x - 1)
    return tw.where(tw.isnan(y), 0, y)
z = root(tw.arange(3.0))
doubled(z)
named = tw.log(-z)
"""


def test_lines_with_nan_are_told_without_a_search() -> None:
    """Of an object and a pending local value; of a named one its record says so."""
    session, record = run(NOT_FINITE)
    drive = bridge.drive
    assert drive(session.nonfinite()) == []
    tensors = drive(session.describe())
    found = [
        (record["lines"][one["line"]], one["kind"])
        for one in drive(session.nonfinite())
    ]
    assert [(made["line"], made["name"], kind) for made, kind in found] == [
        (5, "self.scale", "nan"),
        (12, "y", "nan"),
    ]
    assert [one["name"] for one in tensors] == ["z", "named"]


def test_a_program_may_be_one_expression() -> None:
    """Its value is computed apart, which leaves a block without statements."""
    _, record = run("1 + 1")
    assert record["error"] is None


def test_tensors_know_the_lines_that_made_them() -> None:
    source = """
    import tensorweb as tw
    x = tw.ones(3)
    y = x + 1
    x = y * 2
    for i in range(100):
        y = y + x
    """
    session, record = run(textwrap.dedent(source))
    lines = [made["line"] for made in record["lines"]]
    assert lines == [3, 4, 5, 7]
    assert [made["count"] for made in record["lines"]] == [1, 1, 1, 100]
    tensors = {one["name"]: one["lines"] for one in bridge.drive(session.describe())}
    # What lines 3 and 4 made has no name any more.
    assert tensors == {"x": [2], "y": [3]}


def test_a_changed_tensor_is_what_the_later_line_made() -> None:
    session, _ = run("import tensorweb as tw\nx = tw.zeros(3)\nx[0] = 1\n")
    assert [one["lines"] for one in bridge.drive(session.describe())] == [[1]]


def test_a_line_tells_that_its_shape_varies() -> None:
    source = "import tensorweb as tw\nfor n in (2, 3):\n    x = tw.zeros(n)\n"
    _, record = run(source)
    (made,) = record["lines"]
    assert (made["shape"], made["varies"], made["count"]) == ([3], True, 2)


def test_noted_tensors_are_not_retained() -> None:
    source = """
    import tensorweb as tw, weakref
    def f():
        local = tw.ones(3) + 1
        return weakref.ref(local)
    x = tw.ones(3) + 1
    seen = weakref.ref(x)
    del x
    print(seen(), f()())
    """
    out: list[str] = []
    session = Session(
        lambda kind, fields: out.append(fields.get("text", "")), None, True
    )
    bridge.drive(session.run(textwrap.dedent(source), "cpu"))
    assert "".join(out).strip() == "None None"


FAILURES = (
    "x = 1\ny = [x,\n     x / 0]\nz = 2",
    "for a in 1, 0:\n    b = 1 / a",
    "def f(n):\n    x = n\n    return f(n - 1) if n else 1 / x\nf(3)",
    "class A:\n    x = 1\n    def __setattr__(self, name, value):\n"
    "        value.y = name\na = A()\na.w = 3",
    "x = y = 1\nwith open('none') as f:\n    x = f",
    "try:\n    a = 1 / 0\nexcept ValueError:\n    b = 2\nfinally:\n    c = 3",
    "async def f():\n    x = 1\n    return x.y\nx = await f()",
    "def g():\n    x = yield 1\n    return x / 0\nlist(g())",
    "match 3:\n    case x:\n        y = x\n        z = y.w",
    "global q\nq: int = 3\nq.r += 1",
    "a = 1; b = a; c = b / 0; d = 4",
    "a, *b = 1",
    "x = (\n  1 +\n  'é' + None)",
)


@pytest.mark.parametrize("source", FAILURES)
def test_tracebacks_are_those_of_the_text(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, marked = run(source)
    monkeypatch.setattr(Lines, "compiled", lambda self, *rest: plainly_compiled(*rest))
    _, plain = run(source)
    assert plain["error"] is not None
    assert marked["error"] == plain["error"]


def plainly_compiled(tree: Any, file: str, flags: int = 0) -> CodeType:
    mode = "exec" if isinstance(tree, ast.Module) else "eval"
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    code = compile(tree, file, mode, flags, dont_inherit=True)
    assert isinstance(code, CodeType)
    return code


def positions(code: CodeType) -> set[object]:
    found: set[object] = {position[:2] for position in code.co_positions()}
    for one in code.co_consts:
        if isinstance(one, CodeType):
            found |= positions(one)
    return found


def test_markers_have_the_lines_of_the_text() -> None:
    marked = positions(Lines().module(PROGRAM, "main.py"))
    assert marked == positions(plainly_compiled(ast.parse(PROGRAM), "main.py"))


def test_names_and_documentation_are_those_of_the_text() -> None:
    source = """
    def f(a):
        "Words."
        b = a
        return sorted(locals())
    class A:
        x = 1
    names = f.__doc__, f(1), f.__code__.co_varnames, sorted(vars(A))[-1]
    print(names, sorted(n for n in globals() if not n.startswith("__")))
    """
    out: list[str] = []
    session = Session(
        lambda kind, fields: out.append(fields.get("text", "")), None, True
    )
    bridge.drive(session.run(textwrap.dedent(source), "cpu"))
    words = "('Words.', ['a', 'b'], ('a', 'b'), 'x') ['A', 'f', 'names']"
    assert "".join(out).strip() == words


def test_a_line_without_tensors_is_soon_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks = 0
    bound = Lines._bound

    def count(*arguments: Any) -> bool:
        nonlocal looks
        looks += 1
        return bound(*arguments)

    monkeypatch.setattr(Lines, "_bound", count)
    _, record = run("for i in range(1000):\n    x = i + 1\n")
    assert looks == policy.MOST_IDLE
    assert record["lines"] == []


def test_functions_of_an_earlier_cell_are_noted() -> None:
    session, _ = run("import tensorweb as tw\ndef f():\n    return tw.ones(2)\n")
    source = "import tensorweb as tw\ndef f():\n    return tw.ones(2)\n\nx = f()\n"
    record = bridge.drive(session.run(source, "cpu", lines=(4, 5), keep=True))
    assert [in_words(made) for made in record["lines"]] == [
        "3 f return (2,) 1",
        "5 x (2,) 1",
    ]


def test_a_program_that_is_deeply_nested_runs() -> None:
    lines = ["if 0:\n    pass"] + [f"elif 0 == {i}:\n    x = 1" for i in range(1, 700)]
    _, record = run("\n".join(lines) + "\nimport tensorweb as tw\ny = tw.ones(2)\n")
    assert record["error"] is None
