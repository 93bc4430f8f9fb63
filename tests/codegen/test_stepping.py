"""Workgroups stepped thread by thread: accesses in order, and their mistakes."""

from __future__ import annotations

import re
import struct

import pytest

from tensorweb.codegen.stepping import Recorder, Step, read_program
from tensorweb.codegen.wgsl_program import OutsideError
from tensorweb.errors import ShaderError

HEAD = """@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
var<workgroup> block: array<f32, 4>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3u) {
"""


def stepped(text: str, count: int = 8, group: int = 0) -> Recorder:
    """Return what a workgroup of four did; its text begins in line 6."""
    program = read_program(f"{HEAD}{text}\n}}")
    data = struct.pack(f"<{count}f", *range(count))
    recorder = Recorder(program.module.arrays, {"x": data, "y": bytes(4 * count)})
    program.run(recorder, {}, (2, 1, 1), (group, 0, 0))
    return recorder


def test_other_names_of_types_stand_for_them() -> None:
    aliases = "alias Value = f32;\nalias Pair = vec2<Value>;\n"
    body = "let pair = Pair(x[i], 2);\nvar sum: Value = pair.x * pair.y;\ny[i] = sum;"
    program = read_program(f"{aliases}{HEAD}{body}\n}}")
    given = {"x": struct.pack("<4f", 1, 2, 3, 4), "y": bytes(16)}
    recorder = Recorder(program.module.arrays, given)
    program.run(recorder, {}, (1, 1, 1), (0, 0, 0))
    written = [recorder.steps[n][-1] for n in range(4)]
    assert written == [Step("write", "y", n, 2.0 * n + 2, 10) for n in range(4)]


PAIRS = """struct Pair { key: u32, value: f32 }
struct Both { first: Pair, more: array<f32, 2> }
@group(0) @binding(0) var<storage, read_write> pairs: array<Pair>;
var<workgroup> best: array<Pair, LENGTH>;
alias Best = Pair;
fn swapped(it: Best) -> Best { return Best(it.key + 1u, -it.value); }
@compute @workgroup_size(LENGTH)
fn main(@builtin(local_invocation_index) i: u32) {
%s
}
const LENGTH = 2;
"""


def pairs_after(text: str) -> Recorder:
    """Return what a workgroup of two did to the pairs (1, 0.5) and (2, 1.5)."""
    program = read_program(PAIRS % text)
    data = struct.pack("<IfIf", 1, 0.5, 2, 1.5)
    recorder = Recorder(program.module.arrays, {"pairs": data})
    program.run(recorder, {}, (1, 1, 1), (0, 0, 0))
    return recorder


def test_structs_are_values_and_elements_of_arrays() -> None:
    found = pairs_after("""best[i] = swapped(pairs[i]);
var both = Both(best[i], array(1.0, 2.0));
both.first.value *= 4;
let kept = both;
both.first.key = 9u;
pairs[i].value = both.first.value + kept.more[1];
pairs[i].key = kept.first.key + both.first.key;""")
    assert found.problems == {}
    assert found.values["pairs"] == [(11, 0.0), (12, -4.0)]
    assert found.data("pairs") == struct.pack("<IfIf", 11, 0.0, 12, -4.0)
    assert Step("write", "best", 1, (3, -1.5), 9) in found.steps[1]
    assert pairs_after("pairs[i] = Pair();").values["pairs"] == [(0, 0.0)] * 2


def test_members_of_one_struct_do_not_race() -> None:
    text = "if (i == 0) { best[1].key = 1; } else { best[1].%s = 2; }"
    assert pairs_after(text % "value").problems == {}
    (race,) = pairs_after(text % "key").problems.values()
    assert "thread 1 writes best[1]" in race


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("let one = Pair(1u);", "Pair takes 2 arguments, not 1"),
        ("let one = Pair(1u, 2u);", "f32 is expected, and this is u32"),
        ("let one: f32 = pairs[i];", "f32 is expected, and this is Pair;"),
        ("let one = pairs[i].other;", "Pair has no member 'other'"),
    ],
)
def test_mistakes_with_structs_are_named(text: str, words: str) -> None:
    with pytest.raises(ShaderError, match=f"line 9: {words}"):
        pairs_after(text)


def test_a_uniform_load_waits_before_and_after() -> None:
    text = "block[i] = f32(i);\ny[i] = workgroupUniformLoad(&block[3]);"
    program = read_program(f"{HEAD}{text}\nblock[i] = x[0];\n}}")
    recorder = Recorder(program.module.arrays, {"x": bytes(16), "y": bytes(16)})
    program.run(recorder, {}, (1, 1, 1), (0, 0, 0))
    assert recorder.values["y"] == [3.0] * 4
    assert recorder.problems == {}
    assert [step.kind for step in recorder.steps[0]].count("barrier") == 2


REVERSE = """block[i] = x[group.x * 4 + i];
workgroupBarrier();
y[i] = block[3 - i];"""


def test_accesses_are_noted_in_order_with_their_lines() -> None:
    found = stepped(REVERSE, group=1)
    assert found.steps[1] == [
        Step("read", "x", 5, 5.0, 6),
        Step("write", "block", 1, 5.0, 6),
        Step("barrier", "", 0, 0, 7),
        Step("read", "block", 2, 6.0, 8),
        Step("write", "y", 1, 6.0, 8),
    ]
    assert len(found.steps) == 4
    assert found.problems == {}


def test_a_missing_barrier_is_a_race() -> None:
    problems = stepped(REVERSE.replace("workgroupBarrier();", "")).problems.values()
    assert len(problems) == 2  # one in each line
    for words in problems:
        assert re.match(r"Race: thread \d \w+ block\[\d\] \(line \d\), and", words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("block[0] = 1.0;", r"thread 1 writes block\[0\] .* thread 0 writes it"),
        ("y[i] = block[0]; block[i] = 2.0;", r"thread 1 reads block\[0\]"),
        ("block[i] = 1.0; storageBarrier(); y[i] = block[(i + 1) % 4];", "Race"),
        ("y[0] = f32(i);", r"thread 1 writes y\[0\]"),
        ("y[i] = x[i + 6];", r"Out of bounds: thread 2 uses x\[8\].*has 8 elements"),
        ("block[i + 1] = 1.0;", r"thread 3 uses block\[4\]"),
        ("var a: array<f32, 2>; a[i] = 1.0; y[i] = a[0];", r"uses a\[2\]"),
        ("if (i < 2) { workgroupBarrier(); }", "2 of 4 threads wait in line 6"),
        (
            "if (i < 2) { workgroupBarrier(); } else {\nworkgroupBarrier(); }",
            "2 of 4 threads wait",
        ),
    ],
)
def test_mistakes_are_named(text: str, words: str) -> None:
    problems = [*stepped(text).problems.values()]
    assert len(problems) == 1
    assert re.search(words, problems[0]), problems


def test_atomics_do_not_race() -> None:
    text = HEAD.replace("array<f32>;\nvar", "array<atomic<u32>>;\nvar")
    program = read_program(text + "atomicAdd(&y[0], i); }")
    recorder = Recorder(program.module.arrays, {"x": b"", "y": bytes(4)})
    program.run(recorder, {}, (1, 1, 1), (0, 0, 0))
    assert recorder.values["y"] == [6]
    assert recorder.problems == {}
    assert [steps[0].kind for steps in recorder.steps.values()] == ["atomic"] * 4


def test_an_endless_loop_ends() -> None:
    with pytest.raises(ShaderError, match="line 7: the loop has run 262,144 times"):
        stepped("\nloop { }")


def test_the_number_of_noted_accesses_is_limited() -> None:
    found = stepped("for (var n = 0; n < 9000; n++) { block[i] += 1.0; }")
    assert found.is_cut
    assert sum(map(len, found.steps.values())) == 1 << 14
    assert found.values["block"] == [9000.0] * 4


def test_elements_of_one_vector_do_not_race() -> None:
    shared = "var<workgroup> block: array<vec4f, 2>;"
    head = HEAD.replace("var<workgroup> block: array<f32, 4>;", shared)

    def problems(text: str) -> list[str]:
        program = read_program(f"{head}{text}\n}}")
        recorder = Recorder(program.module.arrays, {"x": b"", "y": bytes(16)})
        program.run(recorder, {}, (1, 1, 1), (0, 0, 0))
        assert sum(map(len, recorder.steps.values())) > 0
        return [*recorder.problems.values()]

    assert problems("block[0][i] = f32(i); y[i] = block[0][i];") == []
    assert problems("if (i == 0) { block[1].x = 1.0; } else { block[1].y += 1.0; }")
    assert (
        problems("if (i == 0) { block[1].x = 1.0; } if (i == 1) { block[1].z += 1.0; }")
        == []
    )
    (race,) = problems("block[0][i] = 1.0; y[i] = block[0].x;")
    assert "thread 1 reads block[0]" in race
    (race,) = problems("block[0][i] = 1.0; block[1] = block[0];")
    assert "Race" in race
    (beyond,) = problems("block[0][i + 1] = 1.0;")
    assert "thread 3 uses block[4]" in beyond


@pytest.mark.parametrize("count", [150, 3000])
def test_long_sums_run_or_are_refused_with_their_line(count: int) -> None:
    text = "\ny[0] = " + " + ".join(["x[1]"] * count) + ";"
    if count == 150:
        assert stepped(text).values["y"][0] == 150.0
        return
    with pytest.raises(OutsideError, match=r"line 7: .*several statements"):
        stepped(text)


def test_deep_parentheses_and_blocks_are_refused_with_their_line() -> None:
    for text in ("y[0] = " + "(" * 900 + "1.0" + ")" * 900 + ";", "loop {" * 40):
        with pytest.raises(OutsideError, match=r"line 7: .*several statements"):
            stepped("\n" + text + "}" * text.count("{"))
