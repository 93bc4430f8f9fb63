"""The kernel puzzles of the page: unsolved they say so, and each has a solution."""

from __future__ import annotations

from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "web/examples/49-kernel-puzzles.py").read_text(
    "utf-8"
)

SOLUTIONS = {
    "out[i] = x[i];  // 1": "out[i] = x[i] + 10.0; //",
    "out[i] = x[i];  // 2": "if (i < out_size) { out[i] = x[i] * f32(i); } //",
    "x[to];  // 3": "x[column * out_shape[0] + row]; //",
    "x[row];  // 4": "x[row] + y[column]; //",
    "out[i] = x[i];  // 5": """
  for (var back = 0u; back <= min(i, 2u); back++) { out[i] += x[i - back]; } //""",
    "block[local_index];  // 6": "block[3u - local_index]; //",
    "block[0];  // 7": "block[0] + block[4]; //",
    "out[local_index] = block[local_index];  // 8": """
for (var distance = 1u; distance < 8u; distance *= 2u) {
  var before = 0.0;
  if (local_index >= distance) { before = block[local_index - distance]; }
  workgroupBarrier();
  block[local_index] += before;
  workgroupBarrier();
}
out[local_index] = block[local_index]; //""",
    "x[global_id.x];  // 9a": """x[global_id.x];
if (local_index < 2u) {
  let i = global_id.x + 4u;
  block[local_index + 4u] = 0.0;
  if (i < x_size) { block[local_index + 4u] = x[i]; }
} //""",
    "block[local_index] * y[0];  // 9b": """dot(
  vec3f(block[local_index], block[local_index + 1u], block[local_index + 2u]),
  vec3f(y[0], y[1], y[2])); //""",
}
"""By the beginning of the line that a reader replaces."""

HALVING = """
for (var width = 4u; width > 1u; width /= 2u) {
  if (local_index < width) { block[local_index] += block[local_index + width]; }
  workgroupBarrier();
}
"""


def solved(text: str) -> str:
    """Return the program with every solution in it."""
    for wrong, right in SOLUTIONS.items():
        assert text.count(wrong) == 1, wrong
        text = text.replace(wrong, right)
    return text


def run(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    exec(compile(text, "puzzles", "exec"), {"__name__": "__main__"})
    return capsys.readouterr().out


def test_unsolved_puzzles_are_not_yet(
    cpu: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = run(TEXT, capsys)
    assert printed.count(": not yet. ") == 9
    assert "guard: not yet. Out of bounds: thread 2 uses x[6]" in printed
    assert "transpose: not yet. 11 of its 15 elements are wrong." in printed
    assert printed.endswith("\n0 of 9 are solved\n")


def all_solved() -> str:
    """Return the program with every solution in it, the dot product by halves."""
    return (
        solved(TEXT)
        .replace(
            "workgroupBarrier();\nif (local_index == 0u) {\n  out[0]",
            "workgroupBarrier();\n" + HALVING + "if (local_index == 0u) {\n  out[0]",
        )
        .replace("block[0] + block[4]", "block[0] + block[1]")
    )


def test_every_puzzle_has_a_solution(
    cpu: str, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = run(all_solved(), capsys)
    assert printed.endswith("\n9 of 9 are solved\n"), printed


def test_solutions_are_right_on_a_gpu(
    webgpu: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = all_solved().replace("return check_threads(kernel,", "kernel.check(")
    assert run(text.replace("sum(solved)", "len(solved)"), capsys) == (
        "9 of 9 are solved\n"
    )


def test_a_solution_without_its_barrier_is_a_race(
    cpu: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reverse = "block[local_index] = x[global_id.x];\nworkgroupBarrier();"
    printed = run(all_solved().replace(reverse, reverse.split("\n")[0]), capsys)
    assert "reverse: not yet. Race: " in printed
    assert printed.endswith("\n8 of 9 are solved\n")
