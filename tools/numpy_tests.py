"""Run NumPy's own tests on `tensorweb.numpy`, and compare with reviewed lists.

`python3 build.py numpy-tests [DEVICE] [FILES…]`. The tests come with NumPy's wheel;
they are copied to `.cache/numpy-tests` with import statements of `numpy_stand_in.py`.
`tests/numpy_suite/known.toml` lists tests that do not apply, with reasons, `open.toml`
tests that apply and fail so far; any other test that does not pass is an error.
"""

from __future__ import annotations

import ast
import json
import shutil
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools import environment
from tools.known import Known, known
from tools.process import ROOT, BuildError, output, status
from tools.results import Record, Results
from tools.testing import LAVAPIPE

KNOWN = ROOT / "tests/numpy_suite/known.toml"

OPEN = ROOT / "tests/numpy_suite/open.toml"
"""Tests that do apply and do not pass yet; `--write` writes it."""

FOLDER = environment.CACHE / "numpy-tests"

FOLDERS = ("_core", "lib", "linalg", "fft")
"""Packages of NumPy whose tests are run."""

FILE_SECONDS = 600
TEST_SECONDS = 20

CLASSES = {
    "passed": "passed",
    "skipped": "skipped by NumPy",
    "number": "wrong number",
    "form": "wrong shape or dtype",
    "missing": "name or argument missing",
    "error": "error for a result",
    "accepted": "result for an error",
    "cut": "too slow, or the process ended",
}
"""Outcomes of a test, and their words in the report."""


def run(
    device: str,
    files: Sequence[str],
    is_writing: bool,
    further_arguments: Sequence[str],
) -> int:
    """Run the tests and print what they say; return the exit code.

    Args:
        device: the default device of the run.
        files: names such as `lib/function_base`; none are all that apply.
        is_writing: whether tests that no row explains go into the list of open ones.
        further_arguments: pytest's own, `-k NAME` for example.
    """
    environment.prepare("test")
    left_out = _left_out()
    selected = list(files) or [file for file in _prepared() if file not in left_out]
    if files:
        _prepared()
    listed = (*known(KNOWN), *(() if is_writing else known(OPEN)))
    rows = [row for row in listed if device in row.devices]
    started = time.monotonic()
    found = Results()
    for file in selected:
        results = _run_file(device, file, rows, further_arguments)
        found.tests |= results.tests
        print(_line(file, results, rows), flush=True)
    print(*_report(found, rows), sep="\n")
    print(f"{time.monotonic() - started:.0f} s on {device}")
    if not found.tests:
        raise BuildError("no test ran; what pytest printed says why")
    if is_writing:
        OPEN.write_text(opened(found, rows, device, selected), "utf-8")
        return 0
    return 1 if _unexplained(found, rows) else 0


def _left_out() -> set[str]:
    """Return the files of which no test applies."""
    listed = tomllib.loads(KNOWN.read_text("utf-8"))["left_out"]
    return {file for row in listed for file in row["files"]}


def _prepared() -> list[str]:
    """Copy the tests with other imports; return their names."""
    home = output([environment.PYTHON, "-c", "import numpy; print(numpy.__path__[0])"])
    shutil.rmtree(FOLDER / "tests", ignore_errors=True)
    for part in FOLDERS:
        source = Path(home.strip()) / part / "tests"
        shutil.copytree(
            source,
            FOLDER / "tests" / part,
            ignore=shutil.ignore_patterns("__pycache__", "examples"),
        )
    found = []
    for path in sorted((FOLDER / "tests").glob("*/*.py")):
        text = path.read_text("utf-8")
        for old, new in EDITS.get(f"{path.parent.name}/{path.name}", ()):
            text = text.replace(old, new)
        path.write_text(rewritten(text), "utf-8")
        if path.stem.startswith("test_"):
            found.append(f"{path.parent.name}/{path.stem.removeprefix('test_')}")
    (FOLDER / "pytest.ini").write_text(SETTINGS, "utf-8")
    return found


EDITS = {
    "lib/test_nanfunctions.py": (
        ("assert_(len(w) == 1)", "pass"),
        ("assert_(issubclass(w[0].category, RuntimeWarning))", "pass"),
    ),
    "lib/test_function_base.py": (
        ("assert_(w[0].category is RuntimeWarning)", "pass"),
        ("assert_(w[1].category is RuntimeWarning)", "pass"),
        ("assert_(w[2].category is RuntimeWarning)", "pass"),
    ),
    "_core/test_ufunc.py": (("UNARY_OBJECT_UFUNCS.remove(np.bitwise_count)", ""),),
    "linalg/test_linalg.py": (
        ("CASES += _make_strided_cases()", ""),
        ("sv.__array_wrap__(s)", "s"),
    ),
}
"""Replacements in single files, so that their other tests can run: no ufunc takes
objects, strides are no bytes, arrays have no subclasses, nothing warns of NaN."""

SETTINGS = """[pytest]
markers =
    slow: takes long
    thread_unsafe: of NumPy's own
    parametrize: pytest's
"""


def rewritten(source: str) -> str:
    r"""Return a test file whose imports of NumPy ask the stand-in.

    >>> rewritten("import numpy as np")
    "import tools.numpy_stand_in as _np; np = _np.module('numpy')\n"
    """
    lines = source.splitlines()
    imports = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    for node in sorted(imports, key=lambda node: -node.lineno):
        parts = list(_assignments(node))
        if parts:
            first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
            before = lines[first][: node.col_offset]
            after = lines[last][node.end_col_offset or 0 :]
            text = "; ".join(["import tools.numpy_stand_in as _np", *parts])
            # As many lines as before, so that tracebacks name NumPy's own.
            empty = [""] * (last - first)
            lines[first : last + 1] = [before + text + after, *empty]
    return "\n".join(lines) + "\n"


def _assignments(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.partition(".")[0] == "numpy":
                path = alias.name if alias.asname else "numpy"
                yield f"{alias.asname or 'numpy'} = _np.module({path!r})"
    elif node.module and node.module.partition(".")[0] == "numpy":
        for alias in node.names:
            variable = alias.asname or alias.name
            yield f"{variable} = _np.name({node.module!r}, {alias.name!r})"


def _run_file(
    device: str, file: str, rows: Sequence[Known], further_arguments: Sequence[str]
) -> Results:
    folder, _, topic = file.partition("/")
    progress = FOLDER / f"{device}.{folder}.{topic}.progress"
    progress.unlink(missing_ok=True)
    env = environment.variables() | LAVAPIPE
    env |= {
        "TENSORWEB_NUMPY_TESTS_DEVICE": device,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }
    path = FOLDER / "tests" / folder / f"test_{topic}.py"
    if not path.exists():
        raise BuildError(f"NumPy has no tests {file}; names are like lib/shape_base.")
    command: list[str | Path] = [environment.PYTHON, "-m", "pytest", path]
    command += ["-c", FOLDER / "pytest.ini", "--rootdir", FOLDER, "-q", "-rN"]
    command += ["-p", "tools.numpy_stand_in", "-p", "tools.progress"]
    command += ["-p", "no:cacheprovider", "-p", "no:xdist", "--disable-warnings"]
    command += ["--tb=no", "--no-header", "-m", "not slow", "--progress", progress]
    command += ["--timeout", str(TEST_SECONDS), *further_arguments]
    for row in rows:
        for pattern in row.tests if row.ends else ():
            command += ["--deselect", f"tests/{pattern}"]
    log = FOLDER / f"{device}.{folder}.{topic}.log"
    with open(log, "wb") as file_of_log:
        try:
            status(command, env=env, seconds=FILE_SECONDS, log=file_of_log)
        except BuildError as error:
            print(error)
    results = Results.read(progress)
    missed = results.not_begun()
    if missed or not results.tests:
        results.tests[f"tests/{folder}/test_{topic}.py::and {missed} not begun"] = (
            Record("failed", reason="ended before")
        )
    return results


def class_of(test: Record) -> str:
    """Return the outcome of a test, a key of `CLASSES`."""
    if test.is_done and test.outcome in ("passed", "skipped"):
        return test.outcome
    reason = test.reason
    if not test.is_done or "Timeout" in reason:
        return "cut"
    if "DID NOT RAISE" in reason:
        return "accepted"
    kind = reason.partition(":")[0].rpartition(".")[2]
    words = ("has no attribute", "unexpected keyword", "positional argument", "missing")
    if kind in ("AttributeError", "TypeError", "ImportError", "NameError") and any(
        word in reason for word in words
    ):
        return "missing"
    if kind in ("AssertionError", "assert") or reason.startswith("assert"):
        is_form = any(word in reason for word in ("dtype", "shape", "isinstance"))
        return "form" if is_form else "number"
    return "error"


def _unexplained(found: Results, rows: Sequence[Known]) -> list[str]:
    return [
        name
        for name, test in found.tests.items()
        if class_of(test) not in ("passed", "skipped")
        and not _explained(name, test, rows)
    ]


def _explained(name: str, test: Record, rows: Sequence[Known]) -> Known | None:
    if "::" not in name:  # a file that could not be read
        return None
    short = name.partition("tests/")[2] or name
    return next((row for row in rows if row.explains(short, test.reason)), None)


def opened(
    found: Results, rows: Sequence[Known], device: str, files: Sequence[str]
) -> str:
    """Return the list of the tests that no row explains, by what became of them.

    What the list has of other devices and of files that did not run stays. Cases of
    one test are one line where none of them passes.
    """
    good = {
        name.partition("[")[0]
        for name, test in found.tests.items()
        if class_of(test) == "passed"
    }
    names: dict[tuple[str, str], set[str]] = {}
    for row in known(OPEN):
        for each in row.devices:
            kept = {t for t in row.tests if each != device or _file_of(t) not in files}
            names.setdefault((each, row.why), set()).update(kept)
    for name in _unexplained(found, rows):
        family = name.partition("[")[0]
        shown = f"{family}[*" if family not in (name, *good) else name
        why = f"open: {CLASSES[class_of(found.tests[name])]}"
        short = shown.partition("tests/")[2] or shown
        names.setdefault((device, why), set()).add(short)
    lines = ["# Tests of NumPy's that do not pass yet. `build.py numpy-tests --write`."]
    for (each, why), tests in sorted(names.items()):
        if tests:
            lines += ["", "[[known]]", f'devices = ["{each}"]', f'why = "{why}"']
            lines += ["tests = [", *(f"  {json.dumps(t)}," for t in sorted(tests)), "]"]
    return "\n".join(lines) + "\n"


def _file_of(test: str) -> str:
    """Return the name of a test's file, `lib/shape_base` for example."""
    return test.partition(".py")[0].replace("/test_", "/")


def _line(file: str, found: Results, rows: Sequence[Known]) -> str:
    """Return the counts of a file."""
    counts = Counter(map(class_of, found.tests.values()))
    unknown = len(_unexplained(found, rows))
    shown = ", ".join(f"{counts[key]} {key}" for key in CLASSES if counts[key])
    return f"{file}: {shown}" + (f"; {unknown} unexplained" if unknown else "")


def _report(found: Results, rows: Sequence[Known]) -> list[str]:
    """Return the lines that compare a run with the lists."""
    total: Counter[str] = Counter()
    explained: Counter[str] = Counter()
    by_row: Counter[Known] = Counter()
    lines = []
    for name, test in found.tests.items():
        key = class_of(test)
        row = None if key in ("passed", "skipped") else _explained(name, test, rows)
        if row is not None:
            by_row[row] += 1
            explained[key] += 1
        else:
            total[key] += 1
        if key not in ("passed", "skipped") and row is None:
            lines.append(f"UNEXPLAINED {key}: {name}: {test.reason[:200]}")
    lines.append(f"\n{len(found.tests)} tests")
    lines += [f"{by_row[row]:6} listed: {row.why}" for row in rows if by_row[row]]
    lines += [f"{total[key]:6} {words}" for key, words in CLASSES.items()]
    shown = ", ".join(f"{count} {key}" for key, count in explained.items())
    lines.append(f"{explained.total():6} in the list ({shown})")
    return lines
