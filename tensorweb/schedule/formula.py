"""Format kernels as short formulas, such as `exp(-x²)·cos(c·x)` or `sum(x)`.

`backends/planning.py` requests one for each kernel of a plan; the page's list of
kernels displays it.
"""

from __future__ import annotations

from typing import NamedTuple

from tensorweb.schedule.kernel import Expression, Kernel, Step, result_kind

LONGEST = 80
"""Most characters of a formula; a longer kernel is shown as a list of operations."""

KINDS = ("elementwise", "reduce", "argreduce", "rows", "matmul", "scan", "sort")
"""Families of kernels that their expressions and op describe completely."""

_LETTERS = "xyzuvw"

_COMPARED, _ADDED, _MULTIPLIED, _RAISED, _WHOLE = range(5)
"""Precedence of operators, loosest first; `_WHOLE` is a name or a call."""

_INFIX = {
    "equal": (" == ", _COMPARED),
    "not_equal": (" ≠ ", _COMPARED),
    "less": (" < ", _COMPARED),
    "less_equal": (" ≤ ", _COMPARED),
    "greater": (" > ", _COMPARED),
    "greater_equal": (" ≥ ", _COMPARED),
    "add": (" + ", _ADDED),
    "subtract": (" - ", _ADDED),
    "multiply": ("·", _MULTIPLIED),
    "divide": (" / ", _MULTIPLIED),
    "floor_divide": (" // ", _MULTIPLIED),
    "remainder": (" % ", _MULTIPLIED),
    "matmul": (" @ ", _MULTIPLIED),
}


class _Text(NamedTuple):
    """A text and the precedence of its outermost operator."""

    text: str
    rank: int = _WHOLE

    def within(self, rank: int) -> str:
        """Return it as an operand of an operator of this precedence."""
        return self.text if self.rank >= rank else f"({self.text})"


def formula(kernel: Kernel) -> str:
    """Return a kernel's formula, `""` if it is too long or the family has none.

    Inputs are x, y, z …, or `x[…]` if an input is read at several offsets; constants
    passed to the launch are c, c2 …; `i` is an element's index.
    """
    if kernel.kind not in KINDS:
        return ""
    results = _Formula(kernel).results()
    texts = [each.text for each in results if each is not None]
    text = ", ".join(texts)
    return text if len(texts) == len(results) and len(text) <= LONGEST else ""


class _Formula:
    """Formats one kernel's expressions; None stands for a text that is too long."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._cores: list[_Text | None] = []
        """Texts of the kernel's reductions and contractions so far."""
        accesses: dict[int, set[object]] = {}
        for _, expression in kernel.expressions:
            for step in expression.steps:
                if step.kind == "load":
                    found = accesses.setdefault(step.slot, set())
                    found.add(expression.accesses[step.access])
        self._several = {slot for slot, found in accesses.items() if len(found) > 1}

    def results(self) -> list[_Text | None]:
        """Return the texts of the outputs, in order."""
        kernel = self._kernel
        if kernel.kind == "elementwise":
            return [_copied(each) for each in self._texts(kernel.expression("value"))]
        ops = kernel.op.split(",")
        is_rows = kernel.kind == "rows"
        found: list[_Text | None] = []
        inner: list[_Text | None] = []
        for number, (name, expression) in enumerate(kernel.expressions):
            if result_kind(name):
                found += self._texts(expression)
                continue
            inner += self._texts(expression)
            rest = [other for other, _ in kernel.expressions[number + 1 :]]
            if is_rows or not rest or result_kind(rest[0]):
                self._cores.append(_applied(ops[len(self._cores)], inner))
                inner = []
        return found or self._cores

    def _texts(self, expression: Expression) -> list[_Text | None]:
        """Return the texts of an expression's results."""
        texts: list[_Text | None] = []
        for step in expression.steps:
            text = self._step(step, [texts[number] for number in step.args])
            is_short = text is not None and len(text.text) <= LONGEST
            texts.append(text if is_short else None)
        return [texts[number] for number in expression.results]

    def _step(self, step: Step, given: list[_Text | None]) -> _Text | None:
        if step.kind in ("load", "gather"):
            name = input_name(step.slot)
            if step.kind == "gather" or step.slot in self._several:
                name += "[…]"
            return _Text(f"pad({name})" if step.guard >= 0 else name)
        if step.kind == "ramp":
            return _Text("i")
        if step.kind == "scalar":
            return _Text(step.name or f"c{step.slot + 1 if step.slot else ''}")
        if step.kind == "core":
            slot = max(step.slot, 0)
            return self._cores[slot] if slot < len(self._cores) else None
        if step.kind == "cast":
            return _applied(step.dtype, given)
        if step.name == "multiply" and step.args[0] == step.args[1]:
            return _applied("square", given[:1])
        return _applied(step.name, given)


def input_name(slot: int) -> str:
    """Return how formulas name an input.

    >>> input_name(0), input_name(6)
    ('x', 'x7')
    """
    return _LETTERS[slot] if slot < len(_LETTERS) else f"x{slot + 1}"


def _copied(text: _Text | None) -> _Text | None:
    """Return the text of a kernel's result: `copy(x)` for an unchanged input."""
    reads = text is not None and text.text in {*_LETTERS}
    return _applied("copy", [text]) if reads else text


def _applied(op: str, given: list[_Text | None]) -> _Text | None:
    """Return the text of an operation on texts, or None if one of them is None."""
    known = [each for each in given if each is not None]
    if len(known) < len(given):
        return None
    first = known[0]
    if op in _INFIX:
        sign, rank = _INFIX[op]
        left, right = first.within(rank), known[1].within(rank + 1)
        return _Text(f"{left}{sign}{right}", rank)
    match op:
        case "positive":
            return first
        case "negative":
            return _Text(f"-{first.within(_MULTIPLIED)}", _MULTIPLIED)
        case "reciprocal":
            return _Text(f"1 / {first.within(_RAISED)}", _MULTIPLIED)
        case "square":
            return _Text(f"{first.within(_WHOLE)}²", _RAISED)
        case "pow":
            text = f"{first.within(_WHOLE)}^{known[1].within(_WHOLE)}"
            return _Text(text, _RAISED)
    return _Text(f"{op}({', '.join(each.text for each in known)})")
