"""Suites of others: what a run that differs from the reviewed list says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import array_api, consumers, numpy_tests
from tools.known import Known, Verdict, compare, known
from tools.process import BuildError
from tools.results import Record, Results

ROWS = [
    Known(("test_a.py::test_x[*inf*", "test_a.py::test_y"), ("cpu",), "a rule"),
    Known(("test_b.py::*",), ("cpu",), "a part that is missing"),
]


def results(**outcomes: list[str]) -> Results:
    return Results(
        {
            f"array_api_tests/{name}": Record(outcome, is_done=True)
            for outcome, names in outcomes.items()
            for name in names
        }
    )


def test_only_unexplained_failures_are_unknown() -> None:
    run = results(
        passed=["test_a.py::test_z", "test_a.py::test_x[1, 2]", "test_b.py::test_v"],
        failed=["test_a.py::test_x[inf, 2]", "test_c.py::test_w[(a)]"],
        skipped=["test_b.py::test_u", "test_c.py::test_s"],
    )
    verdict = compare(run, ROWS, array_api.INSIDE)
    assert verdict.unknown == ("test_c.py::test_s", "test_c.py::test_w[(a)]")
    assert verdict.counts == (1, 1)
    assert verdict.passing == ()


def test_a_listed_test_that_passes_is_said() -> None:
    run = results(passed=["test_a.py::test_y"], failed=["test_b.py::test_u"])
    assert compare(run, ROWS, array_api.INSIDE) == Verdict(
        (), ("test_a.py::test_y",), (0, 1)
    )


def test_the_list_has_a_reason_and_a_device_in_every_row() -> None:
    lists = (array_api.KNOWN, consumers.KNOWN, numpy_tests.KNOWN, numpy_tests.OPEN)
    rows = [row for path in lists for row in known(path)]
    assert rows
    for row in rows:
        assert row.why
        assert row.tests or row.errors
        assert set(row.devices) <= {"cpu", "webgpu"}


def test_a_missing_suite_raises_with_the_clone_command(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"git clone .*array-api-tests"):
        array_api._found(tmp_path / "none")


def test_the_table_of_libraries_keeps_the_other_device() -> None:
    page = consumers.PAGE.read_text("utf-8")
    found = dict.fromkeys(consumers.LIBRARIES, "7 of 9")
    fresh = consumers.with_counts(page, "webgpu", found)
    assert fresh.count("| 7 of 9 |") == len(found)
    einops = [
        line.split("|")[2]
        for text in (page, fresh)
        for line in text.splitlines()
        if line.startswith("| einops")
    ]
    assert einops[0] == einops[1]
    assert consumers.with_counts(fresh, "webgpu", found) == fresh


def test_a_row_explains_tests_by_their_names_and_errors() -> None:
    row = Known(("test_a.py::*",), ("cpu",), "text", ("*DTypeError: 'S*' is not*",))
    error = "tensorweb.errors.DTypeError: 'S3' is not a dtype"
    assert row.explains("test_a.py::test_x", error)
    assert not row.explains("test_b.py::test_x", error)
    assert not row.explains("test_a.py::test_x", "AssertionError")


def test_rewritten_imports_of_numpy_keep_line_numbers() -> None:
    source = (
        "import os\nfrom numpy.testing import (\n    assert_,\n    suppress as s,\n)\n"
    )
    assert numpy_tests.rewritten(source).splitlines() == [
        "import os",
        "import tools.numpy_stand_in as _np; assert_ = _np.name('numpy.testing', "
        "'assert_'); s = _np.name('numpy.testing', 'suppress')",
        *("", "", ""),
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("Failed: DID NOT RAISE ValueError", "accepted"),
        ("AttributeError: module 'tensorweb.numpy' has no attribute 'ma'", "missing"),
        ("TypeError: sum() got an unexpected keyword argument 'where'", "missing"),
        ("AssertionError: Arrays are not equal", "number"),
        ("AssertionError: shapes (2,), (3,) mismatch", "form"),
        ("tensorweb.errors.ShapeError: shapes (2,) and (3,)", "error"),
    ],
)
def test_a_failed_test_of_numpy_has_a_class(reason: str, expected: str) -> None:
    test = Record("failed", reason=reason, is_done=True)
    assert numpy_tests.class_of(test) == expected
