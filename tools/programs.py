"""Programs of the documents' blocks: what Run and Open in playground run.

The Python blocks of a page share their names, as the cells of a notebook do. A block's
program is the block and, before it, the earlier blocks of the page that it needs: those
that define a name it reads, or change a value of that name. A block that imports
tensorweb begins a new program. Tests run this program.
"""

from __future__ import annotations

import ast
import builtins
import copy
import doctest
import re
import symtable
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence, Set

import tensorweb as tw

IMPORTS = {"tw": "import tensorweb as tw", "np": "import tensorweb.numpy as np"}
"""Names that examples have without an import."""


def with_needed(blocks: Sequence[str], index: int) -> list[str]:
    """Return the earlier blocks of a page that a block needs, and the block.

    >>> with_needed(["a = [1]", "b = 2", "a.append(2)", "print(a)"], 3)
    ['a = [1]', 'a.append(2)', 'print(a)']
    """
    needed = free_names(blocks[index])
    parts = [blocks[index]]
    for later, block in zip(blocks[index:0:-1], blocks[:index][::-1], strict=True):
        if _begins(later):
            break
        bound = _bound(block)
        if needed & (bound | _changed(block)):
            parts.insert(0, block)
            needed = (needed - bound) | free_names(block)
    return parts


def _begins(block: str) -> bool:
    """Return whether a block imports the library, as a program of its own does."""
    modules: set[str] = set()
    for statement in ast.parse(block).body:
        match statement:
            case ast.Import(names=names):
                modules |= {each.name for each in names}
            case ast.ImportFrom(module=str(module)):
                modules.add(module)
    return any(module.partition(".")[0] == tw.__name__ for module in modules)


GPU = re.compile(r'(?:device=|device\()"webgpu"')
"""How a program chooses WebGPU."""


def needs_gpu(program: str) -> bool:
    """Return whether a program ends with a `DeviceError` where WebGPU is missing.

    >>> needs_gpu('x = tw.ones(3, device="webgpu")'), needs_gpu("x = tw.ones(3)")
    (True, False)
    """
    return GPU.search(program) is not None


def joined(parts: Sequence[str]) -> str:
    """Return blocks as one program."""
    return "\n\n".join(part.strip("\n") for part in parts)


def free_names(code: str, given: Set[str] = frozenset(dir(builtins))) -> set[str]:
    """Return the names that code reads before it binds them, except given ones.

    >>> sorted(free_names("x = y; print(x, len(z)); w += 1"))
    ['w', 'y', 'z']
    """
    bound = {*given, "__name__", "__file__"}
    return _needed(ast.parse(code).body, bound)


def _needed(statements: Sequence[ast.stmt], bound: set[str]) -> set[str]:
    """Return the names that statements need, in order; add what they bind to `bound`.

    Statements inside of statements are read one by one too: a loop may bind a name and
    read it. Functions and classes have names of their own, and are read as one.
    """
    needed: set[str] = set()
    for statement in statements:
        match statement:
            case ast.With() | ast.AsyncWith():
                for item in statement.items:
                    needed |= _needed_by_one(_head(statement, items=[item]), bound)
                needed |= _needed(statement.body, bound)
            case ast.For() | ast.AsyncFor() | ast.While():
                needed |= _needed_by_one(_head(statement), bound)
                needed |= _needed([*statement.body, *statement.orelse], bound)
            case ast.If(body=body, orelse=orelse):
                needed |= _needed_by_one(_head(statement), bound)
                needed |= _needed_by_branches([body, orelse], bound)
            case ast.Match(cases=cases):
                for case in cases:
                    alone = ast.match_case(case.pattern, case.guard, [ast.Pass()])
                    text = ast.unparse(ast.Match(statement.subject, [alone]))
                    needed |= _globals_read(text) - bound - _bound(text)
                    bound |= _bound(text)
                needed |= _needed_by_branches([case.body for case in cases], bound)
            case ast.Try() | ast.TryStar():
                needed |= _needed(statement.body, bound)
                for handler in statement.handlers:
                    caught = ast.ExceptHandler(handler.type, handler.name, [ast.Pass()])
                    head = _head(statement, handlers=[caught], finalbody=[])
                    needed |= _needed_by_one(head, bound)
                    needed |= _needed(handler.body, bound)
                needed |= _needed([*statement.orelse, *statement.finalbody], bound)
            case _:
                needed |= _needed_by_one(statement, bound)
    return needed


def _head(statement: ast.stmt, **changed: object) -> ast.stmt:
    """Return a statement that runs others with `pass` instead of them."""
    head = copy.copy(statement)
    fields = {"body": [ast.Pass()], "orelse": [], **changed}
    for name, value in fields.items():
        if name in statement._fields:
            setattr(head, name, value)
    return head


def _needed_by_one(statement: ast.stmt, bound: set[str]) -> set[str]:
    """Return the names that a statement reads; add what it binds to `bound`."""
    text = ast.unparse(statement)
    needed = _globals_read(text)
    if isinstance(statement, ast.AugAssign):
        needed |= _names(statement.target)
    needed -= bound
    bound |= _bound(text)
    return needed


def _needed_by_branches(
    branches: Iterable[Sequence[ast.stmt]], bound: set[str]
) -> set[str]:
    """Return what branches need; none sees what another binds."""
    before = set(bound)
    needed: set[str] = set()
    for branch in branches:
        own = set(before)
        needed |= _needed(branch, own)
        bound |= own
    return needed


def _globals_read(code: str) -> set[str]:
    """Return the global names that a statement reads, also inside of functions."""
    found: set[str] = set()
    tables = [symtable.symtable(code, "block", "exec")]
    is_top = True
    while tables:
        table = tables.pop()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (is_top or symbol.is_global()):
                found.add(symbol.get_name())
        is_top = False
        tables += table.get_children()
    return found


def _bound(code: str) -> set[str]:
    """Return the names that code binds at its top."""
    table = symtable.symtable(code, "block", "exec")
    return {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
    }


def _changed(code: str) -> set[str]:
    """Return the names whose values code may change: items, attributes, calls."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            found |= _names(node.value)
        if isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(
            node.ctx, ast.Load
        ):
            found |= _names(node)
    return found


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def of_session(session: str, scope: Mapping[str, object] | None = None) -> str:
    r"""Return the program of a session with prompts, which prints what it shows.

    The last expression stands alone: the page shows its value.

    Args:
        session: lines with `>>>` and what Python answers.
        scope: names that the session has without an import.

    >>> print(of_session(">>> 1 + 1\n2\n>>> x = 3\n>>> x\n3\n"))
    print(repr(1 + 1))
    x = 3
    x
    """
    examples = doctest.DocTestParser().get_examples(session)
    last = examples[-1]
    lines = [_statement(example, is_last=example is last) for example in examples]
    code = "\n".join(lines)
    scope = scope or {}
    own = scope.keys() - {"__name__", "__file__"}
    needed = free_names(code, frozenset(dir(builtins)) - own)
    imports = [
        _import(name, scope) for name in sorted(needed) if name in {*IMPORTS, *own}
    ]
    return "\n".join([*imports, *([""] if imports else []), code])


PRINTING = ("print", "plot", "show", "tw.plot", "tw.show")
"""Functions that show by themselves and return None."""


class _Printing(ast.NodeTransformer):
    """Prints the values of expressions, as a session does, also inside of blocks."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Return a call of `print` around an expression that stands alone."""
        shown = node.value
        if isinstance(shown, ast.Call) and ast.unparse(shown.func) in PRINTING:
            return node
        code = ast.unparse(shown)
        code = f"({code})" if isinstance(shown, ast.Tuple) else code
        return ast.parse(f"print(repr({code}))").body[0]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Return functions as they are."""
        return node


def _statement(example: doctest.Example, *, is_last: bool) -> str:
    source = example.source.rstrip("\n")
    [*_, last] = ast.parse(source).body
    is_value = isinstance(last, ast.Expr)
    if not example.want or example.exc_msg or (is_last and is_value):
        return source
    plain = ast.unparse(last)
    printing = ast.unparse(_Printing().visit(last))
    return source if printing == plain else printing


def _import(name: str, scope: Mapping[str, object]) -> str:
    """Return the line that gives a program a name of a module's scope."""
    value = scope.get(name)
    if name in IMPORTS:
        return IMPORTS[name]
    if getattr(tw, name, None) is value:
        return f"from tensorweb import {name}"
    module = getattr(value, "__module__", None)
    if module is None or not hasattr(value, "__name__"):
        return f"from {scope['__name__']} import {name}"
    return f"from {module} import {name}"


def link(program: str) -> str:
    """Return the part of an address with which the playground opens a program."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(program.encode()) + packer.flush()
    return "#code=" + urlsafe_b64encode(packed).decode().rstrip("=")
