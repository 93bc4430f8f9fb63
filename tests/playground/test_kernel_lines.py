"""The page's record of what each line of a kernel's WGSL computes, reads and writes."""

from __future__ import annotations

from tensorweb.playground import bridge
from tensorweb.playground.kernel_records import KernelSource
from tensorweb.playground.records import Span
from tensorweb.playground.session import Session

PROGRAM = """\
import tensorweb as tw
x = tw.realize(tw.linspace(0.0, 1.0, 35, device="webgpu").reshape(7, 5))
y = tw.realize(tw.tanh(x @ x.T + 1) * 2)
z = tw.realize(tw.nn.softmax(y * 3, axis=1) - 1)
s = tw.realize((tw.exp(z) + z).sum(axis=0) * 5)
u = tw.realize(tw.sort(tw.square(z), axis=1))
v = x
for i in range(40):
    v = v * v + x * 0.5
tw.realize(v)
"""


def part(span: Span | None) -> str:
    """Return the text of an expression of one line."""
    if span is None:
        return ""
    return PROGRAM.splitlines()[span["line"] - 1][span["column"] : span["endColumn"]]


def computed(source: KernelSource) -> dict[str, str]:
    """Return the expression of each line with a text, by the line without spaces."""
    rows = source["text"].splitlines()
    return {
        rows[row].strip(): part(piece["span"])
        for piece in source["lines"]
        for row in range(piece["first"], piece["last"] + 1)
        if piece["span"] is not None
    }


def test_lines_of_wgsl_have_the_expressions_that_they_compute(webgpu: str) -> None:
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(PROGRAM))
    assert answer["error"] is None
    kinds = [each["kind"] for each in answer["kernels"]]
    sources = {
        kind: bridge.drive(session.source(index)) for index, kind in enumerate(kinds)
    }
    lines = {kind: computed(source) for kind, source in sources.items()}
    for kind, line, expression in [
        ("matmul", "let v2 = (core + parameters.scalar0);", "x @ x.T + 1"),
        ("matmul", "let v3 = tanh_f32(v2);", "tw.tanh(x @ x.T + 1)"),
        ("matmul", "fn main(", "x @ x.T"),
        ("rows", "let v2 = (v0 * parameters.scalar0);", "y * 3"),
        ("rows", "let v5 = exp_f32(v4);", "tw.nn.softmax(y * 3, axis=1)"),
        (
            "rows",
            "fn load0(row: u32, column: u32) -> f32 {",
            "tw.tanh(x @ x.T + 1) * 2",
        ),
        ("reduce", "let v1 = exp_f32(v0);", "tw.exp(z)"),
        ("reduce", "fn main(", "(tw.exp(z) + z).sum(axis=0)"),
        ("sort_rows", "let v1 = (v0 * v0);", "tw.square(z)"),
        ("elementwise", "let v3 = (v0 * parameters.scalar0);", "x * 0.5"),
        ("elementwise", "before1_v6 = v6;", "v * v + x * 0.5"),
    ]:
        assert lines[kind].get(line) == expression, (kind, line)
    # Functions of the library belong to no expression.
    assert "fn tanh_f32(x: f32) -> f32 {" in sources["matmul"]["text"]
    assert "fn tanh_f32(x: f32) -> f32 {" not in lines["matmul"]


def test_buffers_have_the_expressions_that_built_their_values(webgpu: str) -> None:
    session = Session(lambda kind, fields: None, None, True)
    assert bridge.drive(session.run(PROGRAM))["error"] is None
    source = bridge.drive(session.source(0))
    read, written = source["buffers"]
    assert (read["name"], read["bytes"], read["written"]) == ("input0", 4 * 35, False)
    assert part(read["span"]) == 'tw.linspace(0.0, 1.0, 35, device="webgpu")'
    assert (written["name"], written["value"]) == ("result", "float32 (7, 7)")
    assert (written["bytes"], written["written"]) == (4 * 49, True)
    assert part(written["span"]) == "tw.tanh(x @ x.T + 1) * 2"
    rows = source["text"].splitlines()
    loads = [rows[each["first"]] for each in source["lines"] if 0 in each["buffers"]]
    assert "var<storage, read> input0" in loads[0]
    assert all("input0[" in row for row in loads[1:])
    assert len(loads) > 1
