"""The page's record of the kernels of a run: counts, work, lines of the program."""

from __future__ import annotations

from tensorweb import frames
from tensorweb.playground import bridge, policy
from tensorweb.playground.records import ProgramFile
from tensorweb.playground.session import Session

LOOP = """
import tensorweb as tw
x = tw.realize(tw.arange(6, dtype=tw.float32, device="webgpu") + 1)
for _ in range(3):
    y = x * 2
    tw.realize(y)
"""


def kernels(source: str) -> list[dict[str, object]]:
    session = Session(lambda kind, fields: None, None, True)
    answer = bridge.drive(session.run(source))
    assert answer["error"] is None
    found = answer["kernels"]
    assert isinstance(found, list)
    return found


def test_kernels_tell_their_work_and_line(webgpu: str) -> None:
    _, doubled = kernels(LOOP)
    reported = {
        key: doubled[key]
        for key in ("name", "kind", "count", "flops", "loaded", "stored", "line")
    }
    assert reported == {
        "name": "elementwise multiply [6]",
        "kind": "elementwise",
        "count": 3,
        "flops": 6,
        "loaded": 24,
        "stored": 24,
        "line": 5,
    }
    assert frames.left == 0


FUSED_COPY = """
import tensorweb as tw
x = tw.reshape(tw.arange(4096.0, device="webgpu"), (64, 64))
y = tw.realize(tw.reshape(x.T, (-1,)))
z = tw.realize(tw.exp(-(y * y)))
w = tw.realize(tw.reshape(tw.reshape(y, (64, 64)).T, (-1,)))
"""


def test_kernels_tell_their_formula_and_fused_copies(webgpu: str) -> None:
    reported = [(kernel["formula"], kernel["copies"]) for kernel in kernels(FUSED_COPY)]
    # A kernel that is all copy says so in its formula.
    assert reported == [("float32(i)", True), ("exp(-x²)", False), ("copy(x)", False)]


def test_lines_of_long_runs_are_not_noted_for_ever(webgpu: str) -> None:
    source = LOOP.replace("range(3)", f"range({policy.MOST_RECORDED_LINES})")
    *_, last = kernels(source + "tw.realize(tw.exp(x))\n")
    assert last["name"] == "elementwise exp [6]"
    assert last["line"] is None


def test_values_that_are_pending_for_long_have_their_lines(webgpu: str) -> None:
    source = LOOP.replace("range(3)", "range(1)")
    pending = 'y = tw.exp(tw.arange(6.0, device="webgpu"))\n'
    later = f"for i in range({policy.MOST_RECORDED_LINES}): tw.arange(i + 1)\n"
    *_, last = kernels(source + pending + later + "tw.realize(y)\n")
    assert (last["line"], frames.left) == (source.count("\n") + 1, 0)


def test_each_line_that_launches_a_kernel_counts_its_launches(webgpu: str) -> None:
    once, found = kernels(LOOP + "z = tw.realize(x * 2)\n")
    assert "launches" not in once
    assert (found["line"], found["count"]) == (5, 4)
    assert found["launches"] == [
        {"file": "main.py", "line": 5, "count": 3},
        {"file": "main.py", "line": 7, "count": 1},
    ]
    spans = found["spans"]
    assert isinstance(spans, list)
    assert [span["line"] for span in spans] == [5, 7]


def test_seconds_are_summed_over_launches_on_request(device: str) -> None:
    session = Session(lambda kind, fields: None, None, True)
    source = LOOP.replace(', device="webgpu"', "")
    untimed = bridge.drive(session.run(source, device))["kernels"]
    timed = bridge.drive(session.run(source, device, timed=True))["kernels"]
    assert all("seconds" not in kernel for kernel in untimed)
    counts = [kernel["count"] for kernel in untimed]
    assert [kernel["count"] for kernel in timed] == counts
    assert all(kernel["seconds"] > 0 for kernel in timed if "seconds" in kernel)
    lines = [kernel["line"] for kernel in untimed]
    assert [kernel["line"] for kernel in timed] == lines


def test_kernels_name_other_files_of_the_program(webgpu: str) -> None:
    source = (
        "import tensorweb as tw, doubling\n"
        'x = tw.arange(4.0, device="webgpu") + 1\n'
        "tw.realize(doubling.double(x))\n"
    )
    text = "def double(x):\n    return x * 2\n"
    session = Session(lambda kind, fields: None, None, True)
    files: list[ProgramFile] = [{"name": "doubling.py", "text": text}]
    (kernel,) = bridge.drive(session.run(source, files=files))["kernels"]
    assert (kernel["line"], kernel["file"]) == (2, "doubling.py")
    spans = [(span["line"], span.get("file")) for span in kernel["spans"]]
    assert spans == [(2, None), (2, None), (2, "doubling.py")]
    bridge.drive(session.run(""))  # the next session may have a file of that name


def test_kernels_tell_the_expressions_that_they_compute(webgpu: str) -> None:
    source = (
        "import tensorweb as tw\n"
        'x = tw.arange(4.0, device="webgpu")\n'
        "def f(é):\n"
        "    return tw.exp(é) * 2\n"
        "y = f(x) + (x *\n"
        "    3)\n"
        "tw.realize(y)\n"
    )
    (kernel,) = kernels(source)
    spans = kernel["spans"]
    assert isinstance(spans, list)
    found = [tuple(span.values()) for span in spans]
    # Columns count UTF-16 units, not bytes.
    assert sorted(found) == [
        (2, 4, 2, 35),
        (4, 11, 4, 20),
        (4, 11, 4, 24),
        (5, 4, 6, 6),
        (5, 12, 6, 5),
    ]
