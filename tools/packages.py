"""Collect the wheels that the site offers to Pyodide and write its lock file.

Runs inside `.venv` (`packaging`, `pyodide-lock`) as `python -m tools.packages PYODIDE
OUT CACHE [WHEELS]`: PYODIDE is the npm package, OUT the site, whose `wheels/` already
holds ours, CACHE keeps downloads, WHEELS is a folder of wheels that is asked first.

The lock file is made of pyodide-lock's own models. Its `add_wheels_to_spec` is not
used: up to pyodide-lock 0.2 it knows platform tags of the form `emscripten_…` only and
refuses the `pyemscripten_…` wheels of PEP 783.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

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
    pyodide, out, cache, *rest = map(Path, arguments)
    target = target_of(pyodide)
    sources = Sources(target, cache, rest[0] if rest else None, pins.read())
    own = [target.read(path) for path in (out / "wheels").glob("tensorweb-*.whl")]
    found = collect(sources, own)
    if REQUIRED not in found:
        print(f"{REQUIRED} was found nowhere; the site cannot do without it")
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


def collect(sources: Sources, own: Iterable[Wheel]) -> dict[str, Wheel]:
    """Return the wheels of the site by name, dependencies included.

    A package whose dependencies cannot all be had is left out, with a line that says
    so.
    """
    found = {wheel.name: wheel for wheel in own}
    missing: set[str] = set()
    queue = [*found, *WANTED, *sources.folder_names()]
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
    return _complete(found, missing)


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


def _complete(found: dict[str, Wheel], missing: set[str]) -> dict[str, Wheel]:
    """Drop the packages that need one of `missing`, and those that need these."""
    for name in sorted(missing):
        print(f"  {name}: found nowhere, left out", flush=True)
    while lacking := {
        name for name, wheel in found.items() if not found.keys() >= set(wheel.needs)
    }:
        for name in sorted(lacking):
            print(f"  {name}: left out, a dependency is missing", flush=True)
            del found[name]
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
