"""What `build.py test` selects and reports: sums, names, reasons, a run cut off."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import IO, Any

import pytest

from tools import process, reach, testing
from tools.process import ROOT, BuildError
from tools.results import Record, Results

TESTS = """
import os, signal, time
import pytest

def test_good(): pass

@pytest.mark.parametrize("x", [1, 2])
def test_skipped(x): pytest.skip("no such thing here")

@pytest.fixture
def broken():
    yield
    raise ValueError

def test_broken_at_its_end(broken): pass

def test_slow(): time.sleep(0.2)

def test_wrong(): assert False

@pytest.mark.skipif(not os.environ.get("ENDLESS"), reason="only when asked")
def test_endless(): os.kill(os.getpid(), signal.SIGKILL)

def test_never_reached(): pass
"""


def results_of(
    folder: Path, *options: str, text: str = TESTS, **variables: str
) -> Results:
    """Run the tests in a file of their own and return their report."""
    (folder / "test_it.py").write_text(text, "utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.progress"]
    command += [
        "-p",
        "xdist",
        *options,
        "--progress",
        folder / "progress",
        "-c",
        folder / "pytest.ini",
        folder,
    ]
    subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **variables},
        capture_output=True,
        check=False,
    )
    return Results.read(folder / "progress")


def short(names: list[str]) -> list[str]:
    return sorted(name.rpartition("::")[2] for name in names)


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "in two workers"])
def test_every_test_is_reported(tmp_path: Path, options: tuple[str, ...]) -> None:
    found = results_of(tmp_path, *options)
    assert found.counts() == {"passed": 3, "failed": 2, "skipped": 3}
    assert short(found.named("failed")) == ["test_broken_at_its_end", "test_wrong"]
    assert (found.unfinished(), found.not_begun()) == ([], 0)
    reasons = {reason: short(names) for reason, names in found.skips().items()}
    assert reasons == {
        "no such thing here": ["test_skipped (2 cases)"],
        "only when asked": ["test_endless"],
    }
    slowest = max(found.tests, key=lambda name: found.tests[name].seconds)
    assert short([slowest]) == ["test_slow"]


def test_run_that_is_killed_has_named_failed_and_unfinished(tmp_path: Path) -> None:
    found = results_of(tmp_path, ENDLESS="1")
    assert short(found.named("failed")) == ["test_broken_at_its_end", "test_wrong"]
    assert short(found.unfinished()) == ["test_endless"]
    assert found.not_begun() == 1
    assert found.counts() == {"passed": 2, "failed": 3, "skipped": 2}


def test_file_that_cannot_be_read_is_a_failure(tmp_path: Path) -> None:
    found = results_of(tmp_path, text="import nothing_of_this_name\n")
    assert found.counts()["failed"] == 1
    assert found.named("failed")[0].endswith("test_it.py")


def test_progress_that_ends_in_the_middle_is_read(tmp_path: Path) -> None:
    path = tmp_path / "progress"
    path.write_text('{"collected": 2}\n{"test": "a"}\n{"test": "a", "ph', "utf-8")
    assert Results.read(path).unfinished() == ["a"]
    assert Results.read(tmp_path / "missing").counts()["failed"] == 0


HOLDING = """
import signal, time
signal.signal(signal.SIGINT, signal.{reaction})
held = open({pipe!r}, "w")
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no sessions")
@pytest.mark.parametrize("reaction", ["default_int_handler", "SIG_IGN"])
def test_program_that_is_cut_off_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reaction: str
) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    child = HOLDING.format(reaction=reaction, pipe=str(pipe))
    starts = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    )
    with pytest.raises(BuildError, match="cut off after 1 s: "):
        process.status([sys.executable, "-c", starts], seconds=1)
    os.set_blocking(reader, True)  # killed processes may still be ending
    assert os.read(reader, 1) == b""  # its end: nobody holds the other side
    os.close(reader)


# The steps


@dataclass
class Steps:
    """Stand-ins for everything that a run does.

    Attributes:
        built: name and wheels of each site.
        ran: arguments and site of each pytest.
        checked: how often the checks ran.
        progress: what each pytest writes about its tests.
        cut: whether each pytest is cut off.
        collects: whether there are browser tests of the expression.
    """

    built: list[tuple[str, Path | None]] = field(default_factory=list)
    ran: list[tuple[list[str], str]] = field(default_factory=list)
    progress: str = '{"test": "t"}\n{"test": "t", "outcome": "passed", "seconds": 1}\n'
    cut: bool = False
    collects: bool = True
    checked: int = 0

    def check(self) -> list[str]:
        self.checked += 1
        return []

    def sites(self) -> list[str]:
        """Return the sites of the runs of pytest, none for the unit tests."""
        return sorted(site for _, site in self.ran)

    def status(
        self,
        command: list[Any],
        env: dict[str, str],
        seconds: float = 0,
        log: IO[bytes] | None = None,
    ) -> int:
        if "--collect-only" in command:
            return 0 if self.collects else testing.NO_TESTS
        Path(command[command.index("--progress") + 1]).write_text(self.progress)
        words = [str(word) for word in command[command.index("--progress") + 2 :]]
        self.ran.append((words, Path(env.get("TENSORWEB_SITE", "")).name))
        if self.cut:
            raise BuildError("cut off after 9 s: pytest")
        return 0


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steps:
    done = Steps()
    monkeypatch.setattr(testing.environment, "prepare", lambda level: None)
    monkeypatch.setattr(testing.environment, "prepare_elsewhere", lambda: 0)
    monkeypatch.setattr(testing.environment, "CACHE", tmp_path)
    monkeypatch.setattr(testing.machine, "prepare", lambda: None)
    monkeypatch.setattr(testing.process, "end_as_interrupted", lambda: None)
    monkeypatch.setattr(testing.checks, "run", done.check)
    monkeypatch.setattr(
        testing.site, "build", lambda out, wheels: done.built.append((out.name, wheels))
    )
    monkeypatch.setattr(testing, "status", done.status)
    return done


DONE = '{"test": "t", "phase": "done"}\n'


def test_tests_that_depend_on_numpy_run_again_without_wheels(
    steps: Steps, capsys: pytest.CaptureFixture[str]
) -> None:
    steps.progress += DONE
    assert testing.run(Path("wheels"), testing.Selection()) == 0
    plain = "site-without-wheels"
    assert steps.built == [("dist", Path("wheels")), (plain, None)]
    assert steps.sites() == ["", "dist", plain]
    assert (["e2e", "-m", "numpy_or_not"], plain) in steps.ran
    assert capsys.readouterr().out.endswith("\n3 passed, 0 failed, 0 skipped\n")


def test_without_wheels_there_is_one_site(steps: Steps) -> None:
    steps.progress += DONE
    assert testing.run(None, testing.Selection()) == 0
    assert steps.built == [("dist", None)]
    assert steps.sites() == ["", "dist"]
    assert steps.checked == 1


def test_expression_of_browser_tests_builds_the_site(steps: Steps) -> None:
    steps.progress += DONE
    assert testing.run(None, testing.Selection(expression="name")) == 0
    assert steps.built == [("dist", None)]
    assert [words[-2:] for words, _ in steps.ran] == [["-k", "name"]] * 2
    assert steps.checked == 0


def test_expression_of_unit_tests_runs_them_alone(steps: Steps) -> None:
    steps.progress += DONE
    steps.collects = False
    assert testing.run(None, testing.Selection(expression="name")) == 0
    assert steps.built == []
    assert [site for _, site in steps.ran] == [""]
    assert steps.checked == 0


@pytest.mark.parametrize(
    ("expression", "is_selected"), [("page_panels", True), ("no_such_name", False)]
)
def test_browser_tests_are_selected_by_collecting(
    expression: str, is_selected: bool
) -> None:
    files = ["e2e/test_page_panels.py"]
    assert testing._is_any_selected(files, expression) == is_selected


def test_pages_of_others_are_installed_during_the_checks(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, checked = Event(), Event()

    def install() -> int:
        begun.set()
        assert checked.wait(60)
        return 0

    def check() -> list[str]:
        assert begun.wait(60)
        checked.set()
        return []

    monkeypatch.setattr(testing.environment, "prepare_elsewhere", install)
    monkeypatch.setattr(testing.checks, "run", check)
    steps.progress += DONE
    assert testing.run(None, testing.Selection()) == 0


def test_checks_run_during_the_unit_tests(
    steps: Steps, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = Event()

    def check() -> list[str]:
        assert begun.wait(60)
        return ["mypy"]

    def status(command: list[Any], **options: Any) -> int:
        begun.set()
        return steps.status(command, **options)

    monkeypatch.setattr(testing.checks, "run", check)
    monkeypatch.setattr(testing, "status", status)
    steps.progress += DONE
    assert testing.run(None, testing.Selection()) == 1
    assert " s  checks: mypy\n" in capsys.readouterr().out


def test_browser_tests_run_during_the_unit_tests(
    steps: Steps, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun, browsed = Event(), Event()

    def build(out: Path, wheels: Path | None) -> None:
        assert begun.wait(60)

    def status(command: list[Any], log: IO[bytes] | None = None, **options: Any) -> int:
        if log is None:  # the unit tests
            begun.set()
            assert browsed.wait(60)
        else:
            log.write(b"what pytest says\n")
            browsed.set()
        return steps.status(command, **options)

    monkeypatch.setattr(testing.site, "build", build)
    monkeypatch.setattr(testing, "status", status)
    steps.progress += DONE
    assert testing.run(None, testing.Selection()) == 0
    assert steps.sites() == ["", "dist"]
    assert "\n== e2e\nwhat pytest says\n" in capsys.readouterr().out


def test_browser_tests_run_while_the_next_site_is_built(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Event()

    def build(out: Path, wheels: Path | None) -> None:
        assert wheels or begun.wait(60)

    def status(command: list[Any], log: IO[bytes] | None = None, **options: Any) -> int:
        if log is not None:
            begun.set()
        return steps.status(command, **options)

    monkeypatch.setattr(testing.site, "build", build)
    monkeypatch.setattr(testing, "status", status)
    steps.progress += DONE
    assert testing.run(Path("wheels"), testing.Selection()) == 0


def test_an_interrupt_ends_the_browser_tests(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Event()
    codes = []

    def status(command: list[Any], log: IO[bytes] | None = None, **options: Any) -> int:
        if log is None:
            assert begun.wait(60)
            while not process._bounded:
                time.sleep(0.01)
            raise KeyboardInterrupt
        begun.set()
        endless = [sys.executable, "-c", "import time; time.sleep(600)"]
        codes.append(process.status(endless, seconds=300, log=log))
        return steps.status(command, **options)

    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(testing, "status", status)
    with pytest.raises(KeyboardInterrupt):
        testing.run(Path("wheels"), testing.Selection())
    assert len(codes) == 1  # of two steps, the second has not begun
    assert codes[0] != 0


def test_quick_runs_no_browser(steps: Steps) -> None:
    steps.progress += DONE
    assert testing.run(None, testing.select(None, changed=False, quick=True)) == 0
    assert steps.built == []
    assert [words[-1] for words, _ in steps.ran] == ["--quick"]


def test_changed_runs_tests_that_the_difference_reaches(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        testing.reach, "changed_files", lambda: ["tensorweb/linalg/spectral.py"]
    )
    steps.progress += DONE
    assert testing.run(None, testing.select(None, changed=True, quick=False)) == 0
    [(words, site)] = steps.ran
    assert site == ""
    assert {"tests/linalg/test_factorizations.py", "tensorweb/linalg"} <= {*words}
    assert "tests/optim/test_optimizers.py" not in words


@pytest.mark.parametrize(
    ("changed", "reached", "unreached"),
    [
        (
            "tensorweb/numpy/ufuncs.py",
            "tests/numpy_habits/test_statistics.py",
            "tests/nn/test_network_layers.py",
        ),
        (
            "tensorweb/schedule/fusion.py",
            "tests/optim/test_optimizers.py",
            "tests/project/test_service.py",
        ),
        (
            "shaders/matmul.wgsl",
            "tests/functions/test_matmul.py",
            "tests/project/test_service.py",
        ),
        (
            "tests/nn_cases.py",
            "tests/nn/test_network_references.py",
            "tests/nn/test_network_layers.py",
        ),
        (
            "tools/wheels.py",
            "tests/project/test_wheels.py",
            "tests/functions/test_matmul.py",
        ),
        (
            "tensorweb/playground/session.py",
            "tests/in_pyodide/test_inside.py",
            "tests/linalg/test_factorizations.py",
        ),
    ],
)
def test_a_change_reaches_its_dependents(
    changed: str, reached: str, unreached: str
) -> None:
    found = reach.reached([changed]).tests
    assert reached in found
    assert unreached not in found
    assert {*reach.RULES} <= {*found}


def test_browser_tests_are_reached_from_the_page_and_from_themselves() -> None:
    assert reach.reached(["e2e/test_page_run.py"]).browser == ("e2e/test_page_run.py",)
    assert "e2e/test_page_run.py" in reach.reached(["web/src/main.ts"]).browser
    assert reach.reached(["tensorweb/nn/losses.py"]).browser == ()
    assert reach.reached(["pyproject.toml"]).tests == ("tests",)


def test_interrupted_step_names_the_running_tests(
    steps: Steps, capsys: pytest.CaptureFixture[str]
) -> None:
    steps.cut = True
    assert testing.run(None, testing.Selection()) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith("): cut off after 9 s: pytest") for line in lines)
    assert lines[lines.index("tests: unfinished") + 1] == "  t"
    assert lines[-1] == "0 passed, 2 failed, 0 skipped"


def test_summary_names_skips_by_reason_and_the_slowest() -> None:
    report = testing.Report(lines=["  1.0 s  e2e: ok"])
    tests = {f"t{i}": Record("passed", float(i), "", True) for i in range(12)}
    tests |= {f"s[{i}]": Record("skipped", 0.0, "no NumPy", True) for i in range(2)}
    report.results["e2e"] = Results(tests, len(tests))
    report.counts.update(report.results["e2e"].counts())
    lines = report.summary()
    assert lines[lines.index("slowest") + 1].split() == ["11.0", "s", "t11"]
    assert sum(" s  t" in line for line in lines) == testing.SLOWEST
    assert lines[lines.index("e2e: skipped, 2: no NumPy") + 1] == "  s (2 cases)"
    assert lines[-1] == "12 passed, 0 failed, 2 skipped"
