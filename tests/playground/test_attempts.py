"""Kernels of a run with an edited text: differences, problems, code that runs."""

from __future__ import annotations

from typing import Any

import pytest

import tensorweb as tw
from tensorweb.playground import bridge
from tensorweb.playground.session import Session

PROGRAM = """
import tensorweb as tw
x = tw.reshape(tw.arange(1000.0), (10, 100))
y = tw.sin(x * 2 + 1)
total = y.sum(1)
m = tw.cumulative_sum(y, axis=1) @ y.mT
shown = [total.tolist(), m.tolist()]
"""


def drive(awaited: Any) -> Any:
    return bridge.drive(awaited)


@pytest.fixture
def session(webgpu: str) -> Session:
    found = Session(lambda *_: None, None, blocking=True)
    drive(found.run(PROGRAM, webgpu))
    return found


def capture(session: Session, number: int) -> str:
    text: str = drive(session.source(number))["text"]
    assert drive(session.run(PROGRAM, "webgpu", capture=number))["captured"] == number
    return text


def kernels(session: Session) -> list[Any]:
    return session._kernels.records()


def test_every_kernel_repeats_its_own_result(session: Session) -> None:
    for number, _ in enumerate(kernels(session)):
        text = capture(session, number)
        found = drive(session.attempt(text))
        assert found["problems"] == []
        assert found["pairs"][0]["differing"] == 0


def test_an_edit_differs_where_it_computes_something_else(session: Session) -> None:
    names = [kernel["formula"] for kernel in kernels(session)]
    number = next(n for n, name in enumerate(names) if name.startswith("sum"))
    text = capture(session, number)
    edited = text.replace("return (a + b);", "return (a + 2.0 * b);")
    assert edited != text
    pair = drive(session.attempt(edited))["pairs"][0]
    assert pair["first"]["shape"] == [10]
    assert pair["differing"] == 10
    assert drive(session.heatmap(pair["difference"]["id"], None, 0, [0]))
    assert drive(session.attempt(text))["pairs"][0]["differing"] == 0


def test_problems_name_lines_of_the_text(session: Session) -> None:
    text = capture(session, 0)
    line = 1 + text[: text.index("fn main")].count("\n")
    found = drive(session.attempt(text.replace("fn main(", "fn main((")))
    assert found["pairs"] == []
    assert [each["line"] for each in found["problems"]] == [line]


def test_a_kernel_becomes_code_that_computes_the_same(session: Session) -> None:
    refused = {}
    for number, kernel in enumerate(kernels(session)):
        text = capture(session, number)
        own = session_outputs(session, text)
        try:
            code = drive(session.as_code(text))["text"]
        except LookupError as error:
            refused[kernel["name"]] = str(error)
            continue
        names: dict[str, Any] = {"tw": tw, "float": float, **inputs(session)}
        statement, call = code.rsplit("# ", 1)
        exec(statement, names)  # the statement that the page would insert
        found = eval(call.split(" = ", 1)[1], names)
        assert found.tolist() == own
    assert list(refused.values()) == []


def session_outputs(session: Session, text: str) -> Any:
    pair = drive(session.attempt(text))["pairs"][0]
    return session._tensor(pair["second"]["id"]).tolist()


def inputs(session: Session) -> dict[str, tw.Tensor]:
    """The captured storages that the kernel reads, by their names."""
    held = session._captured().capture
    pairs = zip(held.bindings, held._buffers, strict=True)
    return {
        binding.name: tw.asarray(
            memoryview(held._driver.read(buffer, 0, size)).cast("f")
        )
        for binding, buffer in pairs
        if not binding.is_written
        for size in [held._driver.buffer_size(buffer)]
    }


def test_a_capture_names_the_kernel_of_its_own_run(session: Session) -> None:
    number = len(kernels(session)) - 1
    name = kernels(session)[number]["name"]
    longer = PROGRAM.replace("x = ", "print(tw.exp(tw.arange(7.0)).tolist())\nx = ")
    run = drive(session.run(longer, "webgpu", capture=number))
    assert run["captured"] == number + 1
    assert run["kernels"][number + 1]["name"] == name


def test_a_run_captures_no_kernel_that_it_does_not_launch(session: Session) -> None:
    assert drive(session.run("", "webgpu", capture=0))["captured"] is None
    found = drive(session.run("print(1)", "webgpu", capture=0))
    assert found["error"] is None
    assert found["captured"] is None
    with pytest.raises(LookupError, match="captured no kernel"):
        drive(session.attempt("fn main() {}"))


def test_a_capture_is_forgotten_with_the_next_run(session: Session) -> None:
    capture(session, 0)
    drive(session.run(PROGRAM, "webgpu"))
    with pytest.raises(LookupError, match="captured no kernel"):
        drive(session.attempt("fn main() {}"))


OWN = """
import tensorweb as tw
sums = tw.kernel(
    '''
    part[local_index] = select(0, x[global_id.x] + more, global_id.x < x_size);
    workgroupBarrier();
    if (local_index == 0) { y[workgroup_id.x] = part[0] + part[1]; }
    ''',
    header="var<workgroup> part: array<i32, 2>;",
    inputs={"x": "int32", "more": "int32"},
    outputs={"y": "int32"},
    shape=3,
    grid=5,
    workgroup_size=2,
    name="sums",
)
print(sums(tw.arange(5, dtype="int32") * 1, 10).tolist())
"""


def capture_own(session: Session) -> str:
    drive(session.run(OWN, "webgpu"))
    names = [kernel["name"] for kernel in kernels(session)]
    number = next(n for n, name in enumerate(names) if "sums" in name)
    text: str = drive(session.source(number))["text"]
    drive(session.run(OWN, "webgpu", capture=number))
    return text


def test_a_kernel_of_the_program_becomes_code_that_compiles(session: Session) -> None:
    text = capture_own(session)
    assert "const x_size" in text
    statement, _ = drive(session.as_code(text))["text"].rsplit("# ", 1)
    names: dict[str, Any] = {"tw": tw}
    exec(statement, names)  # the statement that the page would insert
    x = tw.arange(5, dtype=tw.int32)
    assert names["edited"](x, 10).tolist() == [21, 25, 14]


LARGEST = """
import tensorweb as tw
x = tw.sin(tw.arange(9000.0))
print(tw.argmax(x).tolist())
"""


def test_threads_with_scratch_storages_of_structs_are_stepped(session: Session) -> None:
    drive(session.run(LARGEST, "webgpu"))
    number, text = next(
        (number, text)
        for number, _ in enumerate(kernels(session))
        if "struct Value" in (text := drive(session.source(number))["text"])
    )
    drive(session.run(LARGEST, "webgpu", capture=number))
    found = drive(session.threads(text, [0, 0, 0]))
    assert found["problems"] == []
    pairs = [each for each in found["steps"] if ", " in each["value"]]
    assert {each["kind"] for each in pairs} == {"read", "write"}
    assert found["mistakes"] == []


def test_threads_of_a_captured_kernel_are_stepped(session: Session) -> None:
    text = capture_own(session)
    found = drive(session.threads(text, [2, 0, 0]))
    assert found["problems"] == []
    assert (found["workgroup"], found["groups"]) == ([2, 1, 1], [3, 1, 1])
    arrays = [each["name"] for each in found["arrays"]]
    assert arrays == ["x", "y", "part"]
    steps = [
        (each["thread"], each["kind"], arrays[each["array"]], each["at"], each["value"])
        for each in found["steps"]
        if each["kind"] != "barrier"
    ]
    assert steps == [
        (0, "read", "x", 4, "4"),
        (0, "write", "part", 0, "14"),
        (0, "read", "part", 0, "14"),
        (0, "read", "part", 1, "0"),
        (0, "write", "y", 2, "14"),
        (1, "write", "part", 1, "0"),
    ]
    # The buffer is longer than the tensor, and select computes both values.
    (mistake,) = found["mistakes"]
    assert "thread 1 uses x[5]" in mistake["text"]
    assert "x has 5 elements" in mistake["text"]
    (problem,) = drive(session.threads("fn main() { switch }", [0, 0, 0]))["problems"]
    assert problem["line"] == 1
    assert "write if and else" in problem["text"]
