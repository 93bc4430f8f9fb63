#!/usr/bin/env python3
"""Set up, build, serve and test tensorweb: `python3 build.py --help`.

Needs Python 3.11 and nothing else; everything it fetches is pinned and goes into
`.venv`, `node_modules` and `.cache` next to this file. It parses the command line; the
modules of `tools/` do the work.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  # an older Python should say so
    sys.exit(f"build.py needs Python 3.11 or later; this is {sys.version.split()[0]}.")

from tools import (
    array_api,
    checks,
    consumers,
    environment,
    manual,
    numpy_tests,
    process,
    pyodide_build,
    rehearsal,
    release,
    server,
    site,
    testing,
)

FURTHER = ("array-api", "bench", "consumers", "fuzz", "numpy-tests")
"""Commands whose further arguments go on to what they start."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options, further = _parser().parse_known_args(arguments)
    if further and options.command not in FURTHER:
        _parser().error(f"unrecognized arguments: {' '.join(further)}")
    options.further = further
    try:
        return int(options.run(options) or 0)
    except process.BuildError as error:
        print(f"\nbuild.py {options.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="build.py", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(
        name: str, run: object, summary: str, *, wheels: bool = False
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=summary, description=summary)
        added.set_defaults(run=run)
        if wheels:
            added.add_argument(
                "--wheels",
                type=Path,
                metavar="DIR",
                help="folder of wheels for Pyodide (NumPy and others), asked first",
            )
            added.add_argument(
                "--packages",
                type=lambda text: text.split(","),
                default=[],
                metavar="NAMES",
                help="packages that Pyodide was released with, as pandas,scikit-learn; "
                "they and what they need come from --wheels or Pyodide's own host",
            )
        return added

    serve = command("serve", _serve, "build the site and serve it", wheels=True)
    serve.add_argument("--port", type=int, default=8000)
    serve.add_argument(
        "--no-isolation",
        action="store_true",
        help="leave the cross-origin isolation headers out, as many hosts do",
    )
    build = command("site", _site, "build the static site only", wheels=True)
    build.add_argument("--out", type=Path, default=process.ROOT / "dist", metavar="DIR")
    build.add_argument(
        "--address",
        metavar="URL",
        help="where the site will stand, so that previews of links show its picture",
    )
    wheel = command("wheel", _wheel, "build the wheel, also with pyodide-build")
    wheel.add_argument(
        "--out", type=Path, default=process.ROOT / "dist.wheel", metavar="DIR"
    )
    released = command(
        "release", _release, "make everything that a release publishes", wheels=True
    )
    released.add_argument(
        "--out", type=Path, default=process.ROOT / "dist/release", metavar="DIR"
    )
    released.add_argument(
        "--tag", metavar="NAME", help="the tag that is released: refuse what is unready"
    )
    rehearsed = command(
        "rehearse",
        _rehearse,
        "install each artefact of a release where its users would, and run it",
        wheels=True,
    )
    rehearsed.add_argument(
        "--release", type=Path, metavar="DIR", help="one that was made already"
    )
    command("setup", _setup, "install every tool that tests and checks need")
    command("check", _check, "run ruff, mypy and the TypeScript compiler")
    command("docs", _docs, "write the pages that are made from docstrings")
    command("first-look", _first_look, "record what the page shows at first")
    test = command("test", _test, "set up, check and run every test")
    test.add_argument("--wheels", type=Path, metavar="DIR", help="as for site")
    test.add_argument(
        "-k", metavar="EXPRESSION", help="only tests whose name matches, no checks"
    )
    test.add_argument(
        "--changed",
        action="store_true",
        help="only tests that the difference from the branch main can reach",
    )
    test.add_argument(
        "--quick",
        action="store_true",
        help="a minute: device cpu, a dtype of each kind, no browser",
    )
    suite = command("array-api", _array_api, "run the Array API's official tests")
    suite.add_argument("device", nargs="?", default="cpu")
    suite.add_argument(
        "--suite", type=Path, metavar="PATH", help="a checkout of it, or a .tgz of one"
    )
    suite.add_argument("--examples", type=int, default=5, metavar="N")
    numpys = command("numpy-tests", _numpy_tests, "run the tests of NumPy's wheel")
    numpys.add_argument("device", nargs="?", default="cpu")
    numpys.add_argument("files", nargs="*", metavar="FILE", help="lib/shape_base")
    numpys.add_argument(
        "--write", action="store_true", help="write the list of open tests"
    )
    libraries = command("consumers", _consumers, "run other people's libraries")
    libraries.add_argument("device", nargs="?", default="cpu")
    libraries.add_argument(
        "--write", action="store_true", help="write the numbers into the page"
    )
    command("bench", _bench, "measure; further arguments go to bench/")
    command("fuzz", _fuzz, "compare random graphs with NumPy: SECONDS SEED")
    return parser


def _serve(options: argparse.Namespace) -> None:
    out = process.ROOT / "dist"
    build = partial(site.build, out, options.wheels, packages=options.packages)
    is_fresh = manual.is_fresh()
    build(live=True, has_fresh_pages=is_fresh)
    if not is_fresh:
        again = partial(_add_documents, partial(build, live=True))
        threading.Thread(target=again, daemon=True).start()
    server.serve(out, options.port, isolated=not options.no_isolation)


def _add_documents(build: Callable[[], None]) -> None:
    """Build the site again, with its documents, while an earlier one is served."""
    print("building the documents, half a minute; docs/ has the last ones", flush=True)
    try:
        build()
    except process.BuildError as error:
        print(f"the documents could not be built: {error}", file=sys.stderr)


def _site(options: argparse.Namespace) -> None:
    site.build(options.out, options.wheels, options.address, options.packages)


def _wheel(options: argparse.Namespace) -> int:
    return pyodide_build.run(options.out)


def _release(options: argparse.Namespace) -> int:
    packages = {*release.PACKAGES, *options.packages}
    return release.run(options.out, options.wheels, options.tag, sorted(packages))


def _rehearse(options: argparse.Namespace) -> int:
    return rehearsal.run(options.release, options.wheels)


def _setup(options: argparse.Namespace) -> int:
    environment.prepare("test")
    return environment.prepare_elsewhere()


def _check(options: argparse.Namespace) -> int:
    environment.prepare("test")
    return 1 if checks.run() else 0


def _docs(options: argparse.Namespace) -> int:
    environment.prepare("test")
    return process.status(
        [environment.PYTHON, "-m", "tools.documents"], env=environment.variables()
    )


def _first_look(options: argparse.Namespace) -> int:
    environment.prepare("test")
    out = process.ROOT / "dist"
    site.build(out, None)
    command: list[str | Path] = [environment.PYTHON, "-m", "tools.first_look", out]
    return process.status(command, env=environment.variables())


def _test(options: argparse.Namespace) -> int:
    selection = testing.select(options.k, changed=options.changed, quick=options.quick)
    return testing.run(options.wheels, selection)


def _array_api(options: argparse.Namespace) -> int:
    return array_api.run(
        options.device, options.suite, options.examples, options.further
    )


def _consumers(options: argparse.Namespace) -> int:
    return consumers.run(options.device, options.write, options.further)


def _numpy_tests(options: argparse.Namespace) -> int:
    return numpy_tests.run(
        options.device, options.files, options.write, options.further
    )


def _bench(options: argparse.Namespace) -> int:
    return _module("bench", options.further)


def _fuzz(options: argparse.Namespace) -> int:
    return _module("fuzz", options.further)


def _module(name: str, arguments: list[str]) -> int:
    """Run one of the project's own programs with further arguments."""
    environment.prepare("test")
    return process.status(
        [environment.PYTHON, "-m", name, *arguments], env=environment.variables()
    )


if __name__ == "__main__":
    sys.exit(main())
