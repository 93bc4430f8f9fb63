"""Values of statements that do not depend on a number that was dragged.

Such a statement binds names of its own to tensors or numbers that it computes by
functions without state, from values of other such statements. Its value of the last run
is the one that it would compute again, if nothing has written into it since.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType

from tensorweb import notices

from .lines import Lines

REUSED = "__tensorweb_reused__"
"""The name by which the statements find their values."""

Code = Callable[[ast.Module | ast.Expression, str], CodeType]

Start = tuple[int, int]
"""First line and column of a statement."""

PURE = frozenset({"tensorweb", "tensorweb.numpy", "math"})

PARTS = frozenset({"linalg", "fft", "random"})
"""Parts of `tensorweb` whose functions have no state; those of layers may draw."""

STATEFUL = frozenset(
    (
        *("show", "plot", "load", "save", "jit", "seed", "fill", "put", "sort"),
        *("partition", "resize", "backward", "realize", "copyto", "place", "putmask"),
        *("set_default_device", "use_device", "set_printoptions", "seterr", "loadtxt"),
    )
)
"""Functions and methods that write into an argument, or have another effect."""

FUNCTIONS = frozenset(
    ("abs", "bool", "float", "int", "len", "max", "min", "round", "str", "sum", "tuple")
)

NODES = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.keyword, ast.BinOp),
    *(ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List),
    *(ast.Subscript, ast.Slice, ast.Starred, ast.operator, ast.unaryop, ast.boolop),
    *(ast.cmpop, ast.expr_context),
)


def reusable(
    tree: ast.Module, names: Mapping[str, object], lines: Lines, changed: int
) -> dict[Start, object]:
    """Return values of the last run by where their statements begin.

    The first statement that may write into values of others ends the search.

    Args:
        tree: the program, which differs from the last one in one statement only.
        names: its names after the last run.
        lines: what the lines of that run made.
        changed: the line of the number.
    """
    bound = Counter(_bound(tree))
    if notices.have_been_issued(names) or bound.keys() & {*FUNCTIONS, "print"}:
        return {}
    modules: dict[str, str] = {}
    # Names of tensors and numbers, and those of equal values in both runs.
    plain, same = set[str](), set[str]()
    found: dict[Start, object] = {}
    for statement in tree.body:
        match statement:
            case ast.Import(aliases) if all(one.name in PURE for one in aliases):
                modules |= {one.asname or one.name: one.name for one in aliases}
            case ast.Expr(ast.Constant()):
                pass
            case ast.FunctionDef(decorator_list=[]):
                values = (*statement.args.defaults, *statement.args.kw_defaults)
                if any(
                    value and not isinstance(value, ast.Constant) for value in values
                ):
                    return found
            case ast.Expr(ast.Call(ast.Name("print"), args, [])):
                if not all(_is_pure(each, plain, modules) for each in args):
                    return found
            case ast.Assign([ast.Name(name)], value) if bound[name] == 1:
                if not _is_pure(value, plain, modules):
                    return found
                plain.add(name)
                end = statement.end_lineno or statement.lineno
                is_changed = statement.lineno <= changed <= end
                if is_changed or not _is_pure(value, same, modules):
                    continue
                result = names.get(name)
                if lines.is_unchanged(name, statement.lineno, result):
                    same.add(name)
                    if not isinstance(value, ast.Constant):
                        found[statement.lineno, statement.col_offset] = result
            case _:
                return found
    return found


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield the names that anything in a program binds, once for each binding."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(name, ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                yield name
            case ast.ClassDef(name) | ast.ExceptHandler(_, str(name)):
                yield name
            case ast.alias(name, other):
                yield other or name.partition(".")[0]
            case ast.Global(names) | ast.Nonlocal(names):
                yield from names
            case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
                yield name


def _is_pure(value: ast.expr, known: set[str], modules: Mapping[str, str]) -> bool:
    """Whether an expression depends on known values only, and has no effect."""
    for node in ast.walk(value):
        match node:
            case ast.Name(name):
                if name not in {*known, *modules, *FUNCTIONS}:
                    return False
            case ast.Attribute(_, attribute):
                if attribute in STATEFUL or attribute.endswith("_"):
                    return False
            case ast.Call(function):
                if not _is_known(function, known, modules):
                    return False
            case _ if not isinstance(node, NODES):
                return False
    return True


def _is_known(function: ast.expr, known: set[str], modules: Mapping[str, str]) -> bool:
    """Whether a function is one without state, or a method of a known value."""
    path: list[str] = []
    while isinstance(function, ast.Attribute):
        path.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return bool(path)
    if function.id in modules:
        parts = path[1:]
        is_part = modules[function.id] == "tensorweb" and {*parts} <= PARTS
        return bool(path) and (not parts or is_part)
    return function.id in known if path else function.id in FUNCTIONS


@contextmanager
def reusing(compile_tree: Code, values: Mapping[Start, object]) -> Iterator[Code]:
    """Return the function that compiles statements to take these values.

    They can run inside the `with` block only.
    """

    def compiled(tree: ast.Module | ast.Expression, file: str) -> CodeType:
        for statement in tree.body if isinstance(tree, ast.Module) else ():
            start = statement.lineno, statement.col_offset
            if isinstance(statement, ast.Assign) and start in values:
                reused = ast.parse(f"{REUSED}[{start}]", mode="eval").body
                for node in ast.walk(reused):
                    if isinstance(node, ast.expr):
                        ast.copy_location(node, statement.value)
                statement.value = reused
        return compile_tree(tree, file)

    vars(builtins)[REUSED] = values
    try:
        yield compiled
    finally:
        # Values of this run must not outlive it.
        vars(builtins).pop(REUSED, None)
