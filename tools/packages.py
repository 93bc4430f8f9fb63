"""Collect the wheels that the site offers to Pyodide and write its lock file.

Runs inside `.venv` (`packaging`, `pyodide-lock`) as `python -m tools.packages PYODIDE
OUT CACHE [--wheels WHEELS] [--packages NAMES]`: PYODIDE is the npm package, OUT the
site, whose `wheels/` already holds ours, CACHE keeps downloads, WHEELS is a folder of
wheels that is asked first, NAMES are further packages with commas between them.

The lock file is made of pyodide-lock's own models. Its `add_wheels_to_spec` is not
used: up to pyodide-lock 0.2 it knows platform tags of the form `emscripten_…` only and
refuses the `pyemscripten_…` wheels of PEP 783.
"""

from __future__ import annotations

import argparse
import difflib
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.utils import canonicalize_name
from pyodide_lock import (
    InfoSpec,
    PackageSpec,
    PyodideLockSpec,
    parse_top_level_import_name,
)

from tools import pins
from tools.wheels import Sources, Target, Wheel

WANTED = ("micropip", "numpy", "packaging")
REQUIRED = "micropip"


def main(arguments: list[str]) -> int:
    """Fill the site's `wheels/` and write `pyodide/pyodide-lock.json`."""
    parser = argparse.ArgumentParser(prog="tools.packages")
    for name in ("pyodide", "out", "cache"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--wheels", type=Path)
    parser.add_argument("--packages", default="")
    options = parser.parse_args(arguments)
    out = options.out
    target = target_of(options.pyodide)
    sources = Sources(target, options.cache, options.wheels, pins.read())
    names = [name for name in options.packages.split(",") if name]
    requested = [canonicalize_name(name) for name in names]
    if unknown := _unknown(requested, sources):
        print(unknown)
        return 1
    own = [target.read(path) for path in (out / "wheels").glob("tensorweb-*.whl")]
    found = collect(sources, own, requested)
    if REQUIRED not in found:
        print(f"{REQUIRED} was found nowhere; the site cannot do without it")
        return 1
    if lacking := [name for name in requested if name not in found]:
        print(f"--packages {','.join(lacking)}: cannot be had, as said above")
        return 1
    for _, wheel in sorted(found.items()):
        note = "" if wheel in own or sources.is_pinned(wheel) else ", not a pinned file"
        print(f"  {wheel.name} {wheel.version}: {wheel.source}{note}", flush=True)
        if wheel.path.parent != out / "wheels":
            shutil.copyfile(wheel.path, out / "wheels" / wheel.path.name)
    spec = lock_spec(target, found)
    spec.to_json(out / "pyodide/pyodide-lock.json", indent=1)
    return 0


def target_of(pyodide: Path) -> Target:
    """Return what the npm package `pyodide` is for."""
    package = json.loads((pyodide / "package.json").read_text("utf-8"))
    lock = json.loads((pyodide / "pyodide-lock.json").read_text("utf-8"))
    return Target.of_lock(lock, package["version"])


def _unknown(requested: Iterable[str], sources: Sources) -> str | None:
    """Say of a name that no source can have a package of it; None if all are known."""
    known = {*sources.target.locked, *sources.folder_names()}
    for name in requested:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            return (
                f"--packages {name}: Pyodide {sources.target.pyodide} was released "
                f"without such a package, and no wheel of --wheels is one{hint}"
            )
    return None


def collect(
    sources: Sources, own: Iterable[Wheel], requested: Iterable[str] = ()
) -> dict[str, Wheel]:
    """Return the wheels of the site by name, dependencies included.

    A package whose dependencies cannot all be had is left out, with a line that says
    so.
    """
    found = {wheel.name: wheel for wheel in own}
    missing: set[str] = set()
    queue = [*found, *WANTED, *requested, *sources.folder_names()]
    while queue:
        name = queue.pop()
        if name in missing:
            continue
        if name not in found:
            wheel = sources.find(name)
            if wheel is None:
                missing.add(name)
                continue
            found[name] = wheel
        queue += [need for need in found[name].needs if need not in found]
    return _complete(found, {name: sources.advice(name) for name in missing})


def lock_spec(target: Target, wheels: dict[str, Wheel]) -> PyodideLockSpec:
    """Describe `wheels`, which lie in `../wheels/` seen from the lock file."""
    info = InfoSpec(
        arch=target.arch,
        platform=target.platform,
        version=target.pyodide,
        python=target.python,
        abi_version=target.abi_version,
    )
    packages = {
        name: PackageSpec(
            name=wheel.name,
            version=wheel.version,
            file_name=f"../wheels/{wheel.path.name}",
            install_dir="site",
            sha256=pins.digest(wheel.path),
            imports=parse_top_level_import_name(wheel.path) or [],
            depends=list(wheel.needs),
        )
        for name, wheel in sorted(wheels.items())
    }
    return PyodideLockSpec(info=info, packages=packages)


def _complete(found: dict[str, Wheel], missing: dict[str, str]) -> dict[str, Wheel]:
    """Drop the packages that need one of `missing`, and their dependants."""
    for name, advice in sorted(missing.items()):
        print(f"  {name}: left out, {advice}", flush=True)
    while lacking := {
        name: sorted(set(wheel.needs) - found.keys())
        for name, wheel in found.items()
        if not found.keys() >= set(wheel.needs)
    }:
        for name, needs in sorted(lacking.items()):
            print(f"  {name}: left out, it needs {', '.join(needs)}", flush=True)
            del found[name]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
