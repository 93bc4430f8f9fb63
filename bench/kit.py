"""What a benchmark in Pyodide needs: the wheel, and this package's Python as a zip."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent

INSIDE = (
    "__init__",
    "cases",
    "ceilings",
    "families",
    "family_programs",
    "first_calls",
    "launches",
    "numpy_cases",
    "profiles",
    "programs",
    "train/__init__",
    "train/gpt2",
    "train/models",
    "train/trainer",
    "workloads",
)


class BenchError(Exception):
    """A benchmark cannot run here; the message says what is missing."""


def wheel(given: Path | None, folder: Path) -> Path:
    """Return the wheel that was given, or build a fresh one into `folder`.

    Raises:
        BenchError: the given file is not there.
    """
    if given is not None:
        if not given.is_file():
            raise BenchError(f"--wheel {given}: no such file")
        return given.resolve()
    from tools import site

    return site.build_wheel(folder)


def sources(folder: Path) -> Path:
    """Write the modules that run inside Pyodide to `folder` as a zip."""
    target = folder / "bench.zip"
    with zipfile.ZipFile(target, "w") as archive:
        for name in INSIDE:
            archive.write(BENCH / f"{name}.py", f"bench/{name}.py")
        for path in sorted((BENCH / "shaders").glob("*.wgsl")):
            archive.write(path, f"bench/shaders/{path.name}")
    return target


def node() -> str:
    """Return the Node program: the build's own, or the one beside this package."""
    packed = ROOT / "node"
    if packed.is_file():
        return str(packed)
    from tools import environment

    return str(environment.node())


def npm_version(package: str) -> str | None:
    """Return the version of an installed npm package, None when it is not there."""
    for folder in (BENCH, ROOT):
        path = folder / "node_modules" / package / "package.json"
        if path.is_file():
            return str(json.loads(path.read_text("utf-8"))["version"])
    return None


def versions() -> dict[str, str]:
    """Return the versions of what is measured and of what it stands on."""
    packages = {
        "jax-js": "@jax-js/jax",
        "TF.js": "@tensorflow/tfjs-core",
        "ONNX Runtime Web": "onnxruntime-web",
        "Dawn (npm webgpu)": "webgpu",
        "Pyodide": "pyodide",
    }
    found = {name: npm_version(package) for name, package in packages.items()}
    found["Python"] = sys.version.split()[0]
    return {name: version for name, version in found.items() if version}
