"""Imports point one way: each part of the package, and what it may import.

See docs/contributing/architecture.md. Imports are read from the source, so those inside
functions count as well.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "tensorweb"

VALUES = (
    *("frames", "errors", "dtypes", "shapes", "view"),
    "hostdata",
)
GRAPH = (*VALUES, "graph", "ops")
NODES = (*GRAPH, "protocol", "devices", "nodes")
VALUES_READ = (*NODES, "evaluate", "lookups")
TENSOR = (*VALUES_READ, "advice", "display", "tensor", "public_names")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "frames": (),
    "show": (),
    "sphinx": ("version",),
    "site_server": (),
    "plots": ("show",),
    "public_names": ("advice",),
    "progress": (*TENSOR, "functions", "plots", "show"),
    "version": (),
    "waits": (),
    "dtypes": ("errors",),
    "shapes": ("errors",),
    "view": ("shapes",),
    "hostdata": ("errors", "dtypes", "shapes"),
    "graph": VALUES,
    "ops": ("graph",),
    "protocol": ("graph", "waits"),
    "devices": (*GRAPH, "protocol", "waits"),
    "advice": ("devices",),
    "evaluate": (*GRAPH, "devices", "waits"),
    "events": ("frames", "graph"),
    "memory_log": ("frames", "graph", "events"),
    "nodes": NODES,
    "lookups": VALUES_READ,
    "display": (*NODES, "evaluate"),
    "tensor": TENSOR,
    "functions": TENSOR,
    "exchange": (*TENSOR, "functions", "drivers"),
    "trees": TENSOR,
    "tree": ("errors", "tensor", "trees"),
    "transforms": (*TENSOR, "trees", "tree", "functions"),
    "fft": (*TENSOR, "functions"),
    "random": (*TENSOR, "trees", "functions", "transforms", "special", "linalg"),
    "special": (*TENSOR, "functions", "transforms"),
    "nn": (*TENSOR, "trees", "tree", "functions", "transforms", "random", "optim"),
    "data": (*TENSOR, "tree", "functions", "random", "nn"),
    "linalg": (*TENSOR, "functions"),
    "sparse": (*TENSOR, "functions"),
    "autograd": (*TENSOR, "transforms"),
    "distributions": (
        *TENSOR,
        *(
            "trees",
            "tree",
            "functions",
            "transforms",
            "random",
            "special",
            "linalg",
            "nn",
        ),
    ),
    "optim": (*TENSOR, "trees", "tree", "functions", "transforms"),
    "scipy": (
        *TENSOR,
        *("trees", "tree", "functions", "transforms", "special", "nn", "optim"),
        "plots",
    ),
    "numpy": (
        *TENSOR,
        *("trees", "functions", "fft", "linalg", "random", "saving", "transforms"),
        *("special", "version"),
    ),
    "saving": (*TENSOR, "trees", "tree", "functions", "drivers", "waits"),
    "inspection": (*TENSOR, "events", "functions", "transforms", "waits"),
    "performance": (*TENSOR, "functions", "transforms", "waits"),
    "schedule": GRAPH,
    "codegen": (*GRAPH, "schedule"),
    "drivers": ("errors", "waits"),
    "backends": (
        *NODES,
        "events",
        "memory_log",
        "schedule",
        "codegen",
        "drivers",
        "version",
        "waits",
    ),
}
"""By folder, or file at the top; the playground, reports, the package's own file and
the command line may import everything."""

OUTSIDE: dict[str, tuple[str, ...]] = {
    "numpy": ("backends", "dtypes", "functions", "tensor"),
    "wgpu": ("drivers",),
    "PIL": ("saving",),
    "wasmtime": ("drivers",),
    "sphinx": ("sphinx",),
    "docutils": ("sphinx",),
    "js": ("drivers", "playground"),
    "pyodide": ("drivers", "playground"),
    "pyodide_js": ("drivers",),
}
"""Which parts may import what is not everywhere."""

FREE = ("playground", "reports", "__init__", "__main__")

FILES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def module_of(node: ast.ImportFrom, path: Path) -> str:
    if not node.level:
        return node.module or ""
    parents = ("tensorweb", *path.relative_to(PACKAGE).parts[:-1])
    parts = parents[: len(parents) - node.level + 1]
    return ".".join((*parts, node.module) if node.module else parts)


@cache
def imports(path: Path) -> tuple[set[str], set[str]]:
    """Return the modules that a file imports, and top-level packages it needs at once.

    The modules have their full names.
    """
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = module_of(node, path)
            names = [f"{module}.{alias.name}" for alias in node.names]
            found.update(names if module == "tensorweb" else [module])
    return found, imported_at_once(tree)


def test_imports_point_one_way() -> None:
    wrong = {}
    for path in FILES:
        part = part_of(path)
        found, _ = imports(path)
        inside = {name.split(".")[1] for name in found if name.startswith("tensorweb.")}
        allowed = inside if part in FREE else {part, *MAY_IMPORT[part]}
        if inside - allowed:
            wrong[name_of(path)] = inside - allowed
    assert wrong == {}


def test_optional_packages_stay_at_their_edges() -> None:
    wrong = {}
    for path in FILES:
        part = part_of(path)
        found = {name.split(".")[0] for name in imports(path)[0]}
        misplaced = [name for name in found if part not in OUTSIDE.get(name, (part,))]
        if misplaced:
            wrong[name_of(path)] = misplaced
    assert wrong == {}


def test_tensor_base_knows_no_conversion() -> None:
    path = PACKAGE / "tensor" / "base.py"
    found, _ = imports(path)
    assert {name for name in found if name.startswith("tensorweb")} == {
        "tensorweb.errors",
        "tensorweb.evaluate",
        "tensorweb.graph",
        "tensorweb.graph.autograd",
        "tensorweb.graph.node",
        "tensorweb.graph.op",
        "tensorweb.graph.tracing",
        "tensorweb.nodes.movement",
        "tensorweb.tensor.tensor",  # for annotations alone
        "tensorweb.tensor.views",
    }


def imported_at_once(tree: ast.AST) -> set[str]:
    """Return top-level packages that importing a module imports."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        is_late = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_late or isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        found.update(name.split(".")[0] for name in _names(node))
        found |= imported_at_once(node)
    return found


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []


def test_importing_needs_the_standard_library_only() -> None:
    wrong = {}
    for path in FILES:
        if part_of(path) not in ("backends", "drivers"):
            found = imports(path)[1] & set(OUTSIDE)
            if found:
                wrong[name_of(path)] = found
    assert wrong == {}


def test_every_part_has_an_entry() -> None:
    parts = {part_of(path) for path in FILES}
    assert parts == {*MAY_IMPORT, *FREE}
