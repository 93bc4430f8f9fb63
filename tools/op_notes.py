"""Notes of the API reference that the op table knows: derivatives and error bounds."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator

from tensorweb.graph.op import FLAT, Derivative, Op
from tensorweb.ops import OPS

LONGEST = 80
"""Longer formulas are left out."""


def notes(name: str) -> list[str]:
    """Return sentences about the operation of a public name; none for other names."""
    module, _, last = name.rpartition(".")
    is_ours = module in ("tensorweb", "tensorweb.numpy", "tensorweb.nn")
    entry = OPS.get(last) if is_ours else None
    return list(_notes(entry)) if entry and entry.kind == "map" else []


def _notes(entry: Op) -> Iterator[str]:
    if entry.derivative is FLAT:
        if entry.result not in ("bool", "logical"):
            yield "Derivative: zero."
    elif entry.derivative is not None:
        formula = _formula(entry, entry.derivative)
        words = f"Derivative: {formula}" if formula else "Derivative: of every order"
        steep = "; where it is infinite or NaN, a cotangent of 0 gives 0"
        yield f"{words}{steep if entry.derivative.is_steep else ''}."
    if entry.result == "float" or entry.ulp > 0.5:
        yield f"Error of a float32 result: at most {entry.ulp:g} ULP on any device."


def _formula(entry: Op, derivative: Derivative) -> str:
    """Return the partial derivatives as code, read from the table's lambda."""
    operands = ("x",) if entry.arity == 1 else ("x1", "x2")
    body = _body(derivative)
    if body is None or len(body[1]) != len(operands):
        return ""
    renamed = dict(zip(body[0], ("", "y", *operands), strict=True))
    parts = []
    for operand, factor in zip(operands, body[1], strict=True):
        text = re.sub(r"\bxp\.", "", ast.unparse(factor))
        text = re.sub(r"\w+", lambda found: renamed.get(found[0], found[0]), text)
        text = "0" if text == "None" else text
        parts.append(f"`∂y/∂{operand} = {text}`")
    formula = ", ".join(parts)
    return formula if len(formula) <= LONGEST else ""


def _body(derivative: Derivative) -> tuple[list[str], list[ast.expr]] | None:
    """Return parameters and the returned tuple of a derivative that is a lambda."""
    if derivative.local.__name__ != "<lambda>":
        return None
    lines = textwrap.dedent(inspect.getsource(derivative.local))
    start = lines.index("lambda")
    for end in range(len(lines), start, -1):
        try:
            tree = ast.parse(lines[start:end].strip(), mode="eval").body
        except SyntaxError:
            continue
        if isinstance(tree, ast.Lambda) and isinstance(tree.body, ast.Tuple):
            return [each.arg for each in tree.args.args], tree.body.elts
    return None
