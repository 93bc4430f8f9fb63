"""The page's record of what each line of a kernel's WGSL computes, reads and writes."""

from __future__ import annotations

from tensorweb.backends.wasm import WasmBackend
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


def part(span: Span | None, program: str = PROGRAM) -> str:
    """Return the text of an expression of one line."""
    if span is None:
        return ""
    return program.splitlines()[span["line"] - 1][span["column"] : span["endColumn"]]


def computed(source: KernelSource, program: str = PROGRAM) -> dict[str, str]:
    """Return the expression of each line with a text, by the line without spaces."""
    rows = source["text"].splitlines()
    return {
        rows[row].strip(): " | ".join(part(span, program) for span in piece["spans"])
        for piece in source["lines"]
        for row in range(piece["first"], piece["last"] + 1)
        if piece["spans"]
    }


def lines_of(*statements: str) -> dict[str, str]:
    """Return the expressions of the lines of a program's last kernel."""
    program = "\n".join(["import tensorweb as tw", *statements])
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(program))
    assert answer["error"] is None
    last = len(answer["kernels"]) - 1
    return computed(bridge.drive(session.source(last)), program)


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


def test_functions_of_the_library_have_the_expressions_that_call_them(
    webgpu: str,
) -> None:
    found = lines_of(
        "x = tw.realize(tw.linspace(0.0, 1.0, 35, device='webgpu'))",
        "y = tw.realize(tw.tanh(x) + tw.exp(x * 2))",
    )
    both = "tw.tanh(x) | tw.exp(x * 2)"
    assert found["fn tanh_f32(x: f32) -> f32 {"] == "tw.tanh(x)"
    assert found["fn exp_f32(x: f32) -> f32 {"] == "tw.exp(x * 2)"
    # Both of these need it, one through another function.
    assert found["fn exp_scaled_f32(x: f32, exponent: i32) -> f32 {"] == both
    assert found["return v5;"] == "tw.tanh(x) + tw.exp(x * 2)"
    assert found["result[index] = value(index);"] == "tw.tanh(x) + tw.exp(x * 2)"


def test_operands_of_a_product_that_is_summed_have_their_expressions(
    webgpu: str,
) -> None:
    found = lines_of(
        "x = tw.realize(tw.linspace(0.0, 1.0, 35, device='webgpu').reshape(7, 5))",
        "v = tw.realize(tw.linspace(0.0, 1.0, 5, device='webgpu'))",
        "y = tw.realize(x @ (v + 1))",
    )
    assert found["let v3 = (v1 + parameters.scalar0);"] == "v + 1"
    assert found["let v4 = (v0 * v3);"] == "x @ (v + 1)"
    assert found["return (a + b);"] == "x @ (v + 1)"
    assert found["store_one(output, total);"] == "x @ (v + 1)"


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


MODULES = """\
import tensorweb as tw
x = tw.realize(tw.linspace(0.0, 1.0, 35).reshape(7, 5))
y = tw.realize(tw.tanh(x @ x.T + 1) * 2)
z = tw.realize(tw.nn.softmax(y * 3, axis=1) - 1)
s = tw.realize((tw.exp(z) + z).sum(axis=0) * 5)
u = tw.realize(tw.sort(tw.square(z), axis=1))
c = tw.realize(tw.cumulative_sum(z * 4, axis=1))
g = tw.realize(tw.sin(x)[tw.asarray([1, 0])] - 7)
"""


def test_lines_of_webassembly_have_the_expressions_that_they_compute(
    wasm: WasmBackend,
) -> None:
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(MODULES, "cpu"))
    assert answer["error"] is None
    found: set[tuple[str, str]] = set()
    for index in range(len(answer["kernels"])):
        source = bridge.drive(session.source(index))
        rows = source["text"].splitlines()
        for piece in source["lines"]:
            for span in piece["spans"]:
                for row in rows[piece["first"] : piece["last"] + 1]:
                    instructions = {word.split()[0] for word in row.split("  ") if word}
                    text = part(span, MODULES)
                    found |= {(instruction, text) for instruction in instructions}
    assert found >= {
        ("f32x4.add", "x @ x.T + 1"),
        ("f32x4.mul", "tw.tanh(x @ x.T + 1) * 2"),
        ("f32x4.abs", "tw.tanh(x @ x.T + 1)"),
        ("loop", "x @ x.T"),
        ("f32x4.add", "tw.exp(z) + z"),
        ("f32x4.mul", "y * 3"),
        ("f32x4.div", "tw.nn.softmax(y * 3, axis=1)"),
        ("f32x4.mul", "(tw.exp(z) + z).sum(axis=0) * 5"),
        ("f32x4.mul", "tw.square(z)"),
        ("f32x4.mul", "z * 4"),
    }
    assert not found & {
        ("f32x4.abs", "x @ x.T + 1"),
        ("f32x4.div", "y * 3"),
        ("f32x4.abs", "tw.tanh(x @ x.T + 1) * 2"),
    }


def test_lines_of_webassembly_have_the_buffers_that_they_read_and_write(
    wasm: WasmBackend,
) -> None:
    session = Session(lambda kind, fields: None, None, True)
    program = (
        "import tensorweb as tw\nx = tw.realize(tw.ones(9) + 1)\ny = x * 2\nprint(y)"
    )
    answer = bridge.drive(session.run(program, "cpu"))
    source = bridge.drive(session.source(len(answer["kernels"]) - 1))
    rows = source["text"].splitlines()
    read, written = source["buffers"]
    assert (read["written"], written["written"]) == (False, True)
    assert (part(read["span"], program), part(written["span"], program)) == (
        "tw.ones(9) + 1",
        "x * 2",
    )
    touched = {
        (tuple(piece["buffers"]), rows[row].split("  ")[-2].split()[0])
        for piece in source["lines"]
        for row in range(piece["first"], piece["last"] + 1)
        if piece["buffers"]
    }
    assert ((0,), "v128.load") in touched
    assert all(
        ".store" in rows[p["last"]] for p in source["lines"] if p["buffers"] == [1]
    )
