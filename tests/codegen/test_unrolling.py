"""What constants decide of a shader, and how much of two kernels is their template."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest

from tensorweb import dtypes
from tensorweb.codegen import launch_builder
from tensorweb.codegen.program import Target
from tensorweb.codegen.template import apply_marks, constant, fill, unroll
from tensorweb.graph.node import Node
from tensorweb.nodes import contraction, elementwise, movement, reduction, sorting
from tensorweb.nodes.assignment import accumulate
from tensorweb.nodes.keys import Indices
from tensorweb.ops import OPS
from tests.shader_corpus import sources, value

CONSTANTS = "const ROWS: u32 = 2u;\nconst IS_LAST: bool = false;\n"


def written(text: str) -> str:
    """Return what becomes of text below the constants."""
    return apply_marks(CONSTANTS + text).removeprefix(CONSTANTS)


def test_loops_are_nested_and_counted_by_steps() -> None:
    text = """// unroll
for (var apart = 1u; apart < 2u * ROWS; apart *= 2u) {
  // unroll
  for (var i = 0u; i < 4u; i += 2u * apart) {
    take(i, apart);
  }
}
"""
    assert written(text) == "take(0u, 1u);\ntake(2u, 1u);\ntake(0u, 2u);\n"


def test_declarations_of_an_iteration_stay_in_its_block() -> None:
    text = "// unroll\nfor (var i = 0u; i < ROWS; i++) {\n  let k = i;\n}\n"
    assert written(text) == "{\n  let k = 0u;\n}\n{\n  let k = 1u;\n}\n"


def test_a_loop_stays_where_its_condition_fails() -> None:
    loop = "for (var i = 0u; i < ROWS; i++) {\n  take(i);\n}\n"
    assert written(f"// unroll if ROWS == 3u\n{loop}") == loop
    assert written(f"// unroll if ROWS == 2u\n{loop}") == "take(0u);\ntake(1u);\n"


@pytest.mark.parametrize(
    ("condition", "want"),
    [
        ("ROWS == 2u", "yes();\n"),
        ("IS_LAST", "no();\n"),
        ("IS_LAST && x < 3u", "no();\n"),
        ("ROWS > 1u || x < 3u", "yes();\n"),
        ("IS_LAST || x < 3u", "if (x < 3u) {\n  yes();\n} else {\n  no();\n}\n"),
        ("x < 3u", "if (x < 3u) {\n  yes();\n} else {\n  no();\n}\n"),
    ],
)
def test_an_undecided_choice_is_written_out(condition: str, want: str) -> None:
    text = f"// choose\nif ({condition}) {{\n  yes();\n}} else {{\n  no();\n}}\n"
    assert written(text) == want


def test_registers_become_variables_or_constants() -> None:
    text = """  // registers
  var once: array<u32, ROWS>;
  // registers
  var often: array<array<vec4<f32>, ROWS>, 1>;
  // unroll
  for (var i = 0u; i < ROWS; i++) {
    once[i] = i;
    often[0u][i] = f(once[i]);
    often[0u][i][3u - i] = 1.0;
  }
"""
    assert (
        written(text)
        == """  var often_0_0: vec4<f32>;
  var often_0_1: vec4<f32>;
  let once_0 = 0u;
  often_0_0 = f(once_0);
  often_0_0[3u] = 1.0;
  let once_1 = 1u;
  often_0_1 = f(once_1);
  often_0_1[2u] = 1.0;
"""
    )


def test_a_register_that_a_block_assigns_stays_a_variable() -> None:
    text = """  // registers
  var best: array<u32, 1>;
  if (x) {
    best[0u] = 1u;
  }
"""
    assert written(text).startswith("  var best_0: u32;\n")


SLOW = Target(is_software=True, is_slow_to_compile=True)
"""A compiler that takes long for long texts and for each word of workgroup memory."""


def test_slow_compilers_get_loops() -> None:
    x = value(2, 9999)
    whole, short = (
        next(iter(sources(sorting.sort(x, 1), target=target)))
        for target in (Target(), SLOW)
    )
    assert short.count("\n") * 2 < whole.count("\n")
    assert "for (var i = 0u; i < EACH; i++)" in short
    assert "// unroll" not in short


def added(node: Node, writes: int) -> Node:
    """Return values added at `writes` positions of a node, in no order."""
    positions = Indices(value(writes, dtype=dtypes.int32))
    values = value(writes, dtype=node.dtype)
    return accumulate("add", node, [positions], values)


@pytest.mark.parametrize(
    "node",
    [
        sorting.sort(value(3, 99_999), 1),
        sorting.sort(value(3, 99_999, dtype=dtypes.bool), 1),
        sorting.argsort(value(300, 10), 1),
        reduction.scan("cumulative_sum", value(99_999), 0),
        reduction.scan("cumulative_sum", value(99, 99), 1),
        reduction.reduce("sum", value(999, 999), (1,)),
        movement.copy(movement.permute(value(64, 64), (1, 0))),
        added(value(500), 99_991),
        added(value(500, dtype=dtypes.int32), 99_991),
        added(value(99_991), 1000),
        contraction.matmul(value(256, 256), value(256, 256)),
    ],
    ids=[
        "sort",
        "bool",
        "argsort",
        "scan",
        "short scan",
        "sum",
        "transpose",
        "added through tables",
        "added as integers",
        "added in order",
        "product",
    ],
)
def test_slow_compilers_get_little_workgroup_memory(node: Node) -> None:
    for text in sources(node, target=SLOW):
        constants = dict(re.findall(r"^const (\w+): u32 = (\d+)u;", text, re.M))
        words = 0
        for kind, size in re.findall(r"var<workgroup> \w+: array<(.+), (.+)>;", text):
            tile = constant(size.replace("TILE", "(THREADS * EACH)"), constants)
            carried = constant("THREADS * EACH + THREADS", constants)
            words += (tile or carried or 2048) * (4 if "4" in kind else 1)
        assert words <= 1200


def test_only_constants_have_values() -> None:
    assert constant("ROWS * 4u / 3u % 2u", {"ROWS": "2"}) == 0
    assert constant("parameters.ROWS", {"ROWS": "2"}) is None


def test_loops_with_bounds_of_a_slot_wait_for_it() -> None:
    text = "// unroll\nfor (var i = 0u; i < ROWS; i++) {\n  take(i);\n}\n"
    assert unroll(text) == text
    with pytest.raises(AssertionError, match="no constants"):
        apply_marks(text)


def product() -> Node:
    """Return what a large product of matrices is."""
    return contraction.matmul(value(4096, 4096), value(4096, 4096))


def softmax() -> Node:
    """Return what a softmax of few long rows is."""
    x = value(16, 4096)
    top = reduction.reduce("max", x, (1,), keepdims=True)
    e = elementwise.elementwise(
        OPS["exp"], elementwise.elementwise(OPS["subtract"], x, top)
    )
    total = reduction.reduce("sum", e, (1,), keepdims=True)
    return elementwise.elementwise(OPS["divide"], e, total)


@pytest.mark.parametrize(
    ("node", "name", "sizes", "most_written"),
    [(product(), "matmul", "tile", 0.15), (softmax(), "rows", "shape", 0.2)],
    ids=["matmul", "rows"],
)
def test_the_algorithm_is_in_the_template(
    monkeypatch: pytest.MonkeyPatch,
    node: Node,
    name: str,
    sizes: str,
    most_written: float,
) -> None:
    """Without the slots, but for sizes, most of `main` and its reductions are left."""
    seen = {}

    def watched(
        template: str,
        slots: Mapping[str, str],
        repeats: Mapping[str, Sequence[Mapping[str, str]]],
    ) -> str:
        before = {"declarations", "functions", sizes}
        kept = {slot: text if slot == sizes else "" for slot, text in slots.items()}
        empty = {
            repeat: [dict.fromkeys(slots, "") for slots in times]
            for repeat, times in repeats.items()
        }
        whole = {
            slot: "" if slot in before - {sizes} else slots[slot] for slot in slots
        }
        seen[template] = [
            len(fill(template, *given).splitlines())
            for given in ((kept, empty), (whole, repeats))
        ]
        return fill(template, slots, repeats)

    monkeypatch.setattr(launch_builder, "fill", watched)
    list(sources(node))
    from_template, every = seen[name]
    assert 1 - from_template / every < most_written
