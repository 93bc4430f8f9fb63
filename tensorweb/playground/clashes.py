"""Shapes that do not fit, as data: the operands in the program, and edits that repair.

A repair is offered only if the rule accepts the shapes that it gives. Operands are
identified by the position of the failing expression; names are compared with the values
that they had, and nothing of the program runs.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import cast

import tensorweb as tw
from tensorweb.errors import Clash, ShapeError, TensorIndexError
from tensorweb.frames import position_of
from tensorweb.shapes import Shape, broadcast_shapes, matmul_shape

from . import policy
from .records import ClashOperand, Repair, ShapeClash
from .sources import utf16
from .streams import clip_line

ATOMS = ast.Name | ast.Attribute | ast.Subscript | ast.Call
"""Expressions that take a suffix without parentheses."""

REDUCTIONS = ("sum", "mean", "prod", "max", "min", "std", "var", "any", "all", "argmax")
"""Functions and methods with the parameters `axis` and `keepdims`."""

JOINING = frozenset({"concat", "concatenate"})


def describe_clash(error: BaseException, texts: Mapping[str, str]) -> ShapeClash | None:
    """Return the clash of an error with its operands and repairs; None for others."""
    if not isinstance(error, ShapeError | TensorIndexError) or error.clash is None:
        return None
    clash = error.clash
    try:
        code = _failing_code(error, texts)
        operands = code.operands(clash, str(error)) if code else None
        repairs = _repairs(code, clash, operands) if code else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        code, operands, repairs = None, None, []
    named = [code.text(node) if node else "" for node in operands or ()] if code else []
    named += [""] * (len(clash.shapes) - len(named))
    drawn: list[ClashOperand] = [
        {
            "text": clip_line(text, policy.LONGEST_TENSOR_NAME),
            "shape": [*shape],
            "axis": axis,
        }
        for text, shape, axis in zip(named, clash.shapes, clash.axes, strict=True)
    ]
    for operand, columns in zip(drawn, clash.columns, strict=False):
        operand["columns"] = [*columns]
    return {
        "rule": clash.rule,
        "operands": drawn[: policy.MOST_OPERANDS],
        "joined": clash.joined,
        "repairs": repairs[: policy.MOST_REPAIRS],
    }


def _failing_code(error: BaseException, texts: Mapping[str, str]) -> _Code | None:
    """Return the innermost expression of the program that led to an error."""
    found: TracebackType | None = None
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename in texts:
            found = step
        step = step.tb_next
    if found is None:
        return None
    file = found.tb_frame.f_code.co_filename
    line, end_line, column, end_column = position_of(
        found.tb_frame.f_code, found.tb_lasti
    )
    tree = ast.parse(texts[file])
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr | ast.AugAssign):
            continue
        start, end = (
            (node.lineno, node.col_offset),
            (
                node.end_lineno,
                node.end_col_offset,
            ),
        )
        if (start, end) == ((line, column), (end_line, end_column)):
            return _Code(file, texts[file], tree, node, found.tb_frame)
    return None


Operands = list[ast.expr | None]
"""The expression of each operand, None for a shape that is no tensor's."""


@dataclass
class _Code:
    """The failing expression, its file, and the frame that ran it."""

    file: str
    source: str
    tree: ast.Module
    node: ast.expr | ast.AugAssign
    frame: FrameType

    def text(self, node: ast.AST) -> str:
        """Return the source of a node."""
        return ast.get_source_segment(self.source, node) or ""

    def operands(self, clash: Clash, message: str) -> Operands | None:
        """Return the operands' expressions, None if they cannot be identified."""
        match clash.rule:
            case "broadcast" | "matmul":
                return self._of_operator(clash.shapes)
            case "concat":
                items = self._joined()
                return self._checked(items, clash.shapes) if items else None
            case "reshape":
                return self._of_call(clash.shapes, fixed=True)
            case "aligned":
                return self._aligned(clash.shapes)
            case "expected":
                return self._input(clash, message)
            case "window":
                return self._known(clash.shapes[0], is_first=True)
            case "index":
                return self._known(clash.shapes[1], is_first=False)
            case "broadcast_to":
                return self._assigned(clash.shapes) or self._of_call(
                    clash.shapes, fixed=True
                )

    def _of_operator(self, shapes: Sequence[Shape]) -> Operands | None:
        node = self.node
        if isinstance(node, ast.BinOp):
            return self._checked([node.left, node.right], shapes)
        if isinstance(node, ast.AugAssign):
            return self._checked([node.target, node.value], shapes)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            pair = [node.left, node.comparators[0]]
            # Python calls a comparison of the right operand if the left has none.
            is_known = any(self.shape(each) is not None for each in pair)
            return self._checked(pair, shapes) if is_known else None
        return self._of_call(shapes, fixed=False)

    def _of_call(self, shapes: Sequence[Shape], *, fixed: bool) -> Operands | None:
        """Return the arguments of a call, whose shapes must all be known."""
        if not isinstance(self.node, ast.Call):
            return None
        tensors = [*self.node.args]
        if isinstance(self.node.func, ast.Attribute):
            tensors.insert(0, self.node.func.value)
        count = 1 if fixed else len(shapes)
        for start in range(2):
            part = tensors[start : start + count]
            if [self.shape(node) for node in part] == [*shapes[:count]]:
                return [*part, None] if fixed else [*part]
        return None

    def _aligned(self, shapes: Sequence[Shape]) -> Operands | None:
        """Return the first arguments, or the items of the first, if one is known."""
        given = self._joined() or self._given()
        found = self._checked(given[: len(shapes)], shapes)
        return found if found and any(map(self.shape, given)) else None

    def _input(self, clash: Clash, message: str) -> Operands | None:
        """Return the input of a layer, and None for the shape that it takes.

        The input of a model counts if it is that of its first layer.
        """
        given = self._given()
        is_own = not clash.layer or clash.layer in (self._callee(), self._maker())
        if not given or not (is_own or re.match(r"layer 0(\.0)*: ", message)):
            return None
        known = [node for node in given if self.shape(node) == clash.shapes[0]]
        if is_own and not known and self.shape(given[0]) is None:
            known = given[:1]
        return [known[0], None] if len(known) == 1 else None

    def _known(self, shape: Shape, *, is_first: bool) -> Operands | None:
        """Return the only tensor of a shape that is indexed or passed, and None."""
        given = self._given()
        if isinstance(self.node, ast.Subscript):
            given = [self.node.value]
        known = [node for node in given if self.shape(node) == shape]
        if len(known) != 1:
            return None
        return [known[0], None] if is_first else [None, known[0]]

    def _given(self) -> list[ast.expr]:
        """Return the arguments of a call that are no texts."""
        if not isinstance(self.node, ast.Call):
            return []
        every = [*self.node.args, *(each.value for each in self.node.keywords)]
        return [each for each in every if not isinstance(_literal(each), str)]

    def _callee(self) -> str:
        """Return the name of a function that is called, or of a layer's class."""
        assert isinstance(self.node, ast.Call), "internal: no call"
        try:
            value = self._value(self.node.func)
        except LookupError:
            return _last_name(self.node.func)
        named = value if isinstance(value, FunctionType | type) else type(value)
        return named.__name__

    def _maker(self) -> str:
        """Return the name of the class of a layer that is made and called at once."""
        assert isinstance(self.node, ast.Call), "internal: no call"
        func = self.node.func
        return _last_name(func.func) if isinstance(func, ast.Call) else ""

    def making(self, layer: str, length: int) -> tuple[ast.Call, ast.expr] | None:
        """Return the only call that makes a layer for a length, and this argument.

        None if another call makes such a layer for a length that has to be computed.
        """
        found: dict[object, list[tuple[ast.Call, ast.expr]]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and _last_name(node.func) == layer:
                every = [*node.args, *(each.value for each in node.keywords)]
                for each in every[:1]:
                    found.setdefault(_literal(each), []).append((node, each))
        made = found.get(length, [])
        return made[0] if len(made) == 1 and None not in found else None

    def reduction(self, node: ast.expr) -> ast.Call | None:
        """Return the call by whose result a name was assigned, if it is known."""
        try:
            value = self._value(node)
        except LookupError:
            return None
        location = getattr(getattr(value, "node", None), "location", None)
        if location is None or location[0].co_filename != self.file:
            return None
        line, *_ = position_of(*location[:2])
        for each in ast.walk(self.tree):
            if isinstance(each, ast.Assign) and each.lineno == line:
                is_it = [*map(self.text, each.targets)] == [self.text(node)]
                return (
                    each.value if is_it and isinstance(each.value, ast.Call) else None
                )
        return None

    def _assigned(self, shapes: Sequence[Shape]) -> Operands | None:
        """Return value and target of `x[key] = value`, which fails at its target."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign) and node.targets[0] is self.node:
                found = self._checked([node.value], shapes[:1])
                return [*found, node.targets[0]] if found else None
        return None

    def _joined(self) -> list[ast.expr]:
        node = self.node
        if not isinstance(node, ast.Call) or not node.args:
            return []
        first = node.args[0]
        return [*first.elts] if isinstance(first, ast.List | ast.Tuple) else []

    def _checked(
        self, nodes: Sequence[ast.expr], shapes: Sequence[Shape]
    ) -> Operands | None:
        """Return expressions if none is known to have another shape."""
        if len(nodes) != len(shapes):
            return None
        known = [self.shape(node) for node in nodes]
        fits = all(a in (None, b) for a, b in zip(known, shapes, strict=True))
        return [*nodes] if fits else None

    def shape(self, node: ast.expr) -> Shape | None:
        """Return the shape of an expression whose value can be looked up."""
        if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
            shape = self.shape(node.value)
            if shape is None or node.attr == "T":
                return shape and shape[::-1]
            return (*shape[:-2], *shape[:-3:-1])
        try:
            value = self._value(node)
        except LookupError:
            return None
        # `isinstance` would also run the program's `__class__`.
        is_tensor = issubclass(type(value), tw.Tensor)
        return cast("tw.Tensor", value).shape if is_tensor else None

    def _value(self, node: ast.expr) -> object:
        """Return the value of a name, an attribute or an item, without running code.

        Raises:
            LookupError: it is another expression, or has no value.
        """
        if isinstance(node, ast.Name):
            scopes = (self.frame.f_locals, self.frame.f_globals)
            for scope in scopes:
                if node.id in scope:
                    return scope[node.id]
            raise LookupError
        if isinstance(node, ast.Attribute):
            value = self._value(node.value)
            try:
                fields = object.__getattribute__(value, "__dict__")
            except AttributeError:
                raise LookupError from None
            if type(value) is ModuleType or type(fields) is dict:
                return fields[node.attr]
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            value = self._value(node.value)
            if type(value) in (dict, list, tuple):
                return value[node.slice.value]  # type: ignore[index]  # one of these
        raise LookupError

    def replaced(
        self, node: ast.expr | ast.AugAssign, text: str, shape: Shape, label: str = ""
    ) -> Repair:
        """Return the repair that replaces an expression."""
        return self._edit(
            (node.lineno, node.col_offset),
            (node.end_lineno or node.lineno, node.end_col_offset or 0),
            text,
            shape,
            label or text,
        )

    def _edit(
        self,
        start: tuple[int, int],
        end: tuple[int, int],
        text: str,
        shape: Shape,
        label: str,
    ) -> Repair:
        lines = self.source.splitlines()
        part = [line.encode() for line in lines[start[0] - 1 : end[0]]]
        part[-1] = part[-1][: end[1]]
        part[0] = part[0][start[1] :]
        return {
            "label": clip_line(label, policy.LONGEST_TENSOR_NAME),
            "shape": [*shape],
            "file": self.file,
            "line": start[0],
            "column": utf16(lines, *start) or 0,
            "endLine": end[0],
            "endColumn": utf16(lines, *end) or 0,
            "old": b"\n".join(part).decode(),
            "text": text,
        }

    def arguments_replaced(
        self, nodes: Sequence[ast.expr], text: str, shape: Shape, label: str
    ) -> Repair:
        """Return the repair that replaces neighbouring arguments of a call."""
        first, last = nodes[0], nodes[-1]
        return self._edit(
            (first.lineno, first.col_offset),
            (last.end_lineno or last.lineno, last.end_col_offset or 0),
            text,
            shape,
            label,
        )


def _repairs(code: _Code, clash: Clash, operands: Operands | None) -> list[Repair]:
    """Return the edits whose shapes the rule accepts."""
    match clash.rule:
        case "broadcast" | "broadcast_to" | "matmul" | "aligned":
            return _of_operands(code, clash, operands) if operands else []
        case "expected":
            found = _of_operands(code, clash, operands) if operands else []
            return [*found, *_of_layer(code, clash)]
        case "reshape":
            return _of_reshape(code, clash)
        case "concat":
            return _of_concat(code, clash, operands)
        case "window":
            return []
        case "index":
            return _of_table(code, clash)


def _result(clash: Clash, shapes: Sequence[Shape]) -> Shape | None:
    """Return a rule's result's shape, None if it does not accept the shapes."""
    try:
        if clash.rule == "matmul":
            return _product_shape(*shapes)
        result = broadcast_shapes(*shapes)
    except ShapeError:
        return None
    if clash.rule == "broadcast_to" and result != shapes[1]:
        return None
    is_larger = len(result) > max(map(len, clash.shapes))
    return None if is_larger and any(len(s) > 1 for s in clash.shapes) else result


def _product_shape(a: Shape, b: Shape) -> Shape:
    """Return the shape of `a @ b`, vectors included."""
    left = a if len(a) > 1 else (1, *a)
    right = b if len(b) > 1 else (*b, 1)
    batch, m, _, n = matmul_shape(left, right)
    return (*batch, *(m,) * (len(a) > 1), *(n,) * (len(b) > 1))


def _of_operands(code: _Code, clash: Clash, operands: Operands) -> list[Repair]:
    """Return changes of single operands, or the swap of a product's operands."""
    found: list[tuple[int, Repair]] = []
    is_augmented = isinstance(code.node, ast.AugAssign)
    fixed = clash.shapes[0] if is_augmented else None
    for at, node in enumerate(operands):
        if node is None or (is_augmented and at == 0):
            continue
        if clash.rule == "broadcast_to" and at == 1:
            continue
        others = [shape for i, shape in enumerate(clash.shapes) if i != at]
        own = clash.shapes[at]
        changes = [
            *_kept_axis(code, node, own),
            *(
                (cost, node, text, shape)
                for cost, text, shape in _changes(code, node, own, others)
            ),
        ]
        if clash.fits:
            changes += [(1, node, *more) for more in _more(code, node, own)]
        for cost, changed, text, shape in changes:
            shapes = [*clash.shapes]
            shapes[at] = shape
            result = _result(clash, shapes)
            if clash.fits:
                result = shape if clash.fits(shapes) else None
            if clash.rule == "broadcast" and text.endswith("T"):
                cost += 2  # the others leave the larger shape as it is
            if result is not None and fixed in (None, result):
                label = text if changed is node else f"{code.text(node)} = {text}"
                found.append((cost, code.replaced(changed, text, result, label)))
    if clash.rule == "matmul" and isinstance(code.node, ast.BinOp):
        result = _result(clash, [*reversed(clash.shapes)])
        if result is not None:
            left, right = (_atom(code, node) for node in operands if node)
            found.append((1, code.replaced(code.node, f"{right} @ {left}", result)))
    found.sort(key=lambda each: each[0])
    repairs = [repair for _, repair in found]
    if not clash.fits:
        return repairs
    first = {(each["old"], *each["shape"]): each for each in reversed(repairs)}
    return [each for each in repairs if each in first.values()]


def _changes(
    code: _Code, node: ast.expr, shape: Shape, others: Sequence[Shape]
) -> Iterator[tuple[int, str, Shape]]:
    """Yield changes of an operand: a cost, the new text and the new shape."""
    text = _atom(code, node)
    rank = len(shape)
    if rank > 1:
        suffix = "T" if rank == 2 else "mT"
        is_undone = isinstance(node, ast.Attribute) and node.attr == suffix
        transposed = (
            text.removesuffix(f".{suffix}") if is_undone else f"{text}.{suffix}"
        )
        yield 1, transposed, (*shape[:-2], shape[-1], shape[-2])
    if rank and (rank == 1 or rank < max(map(len, others), default=0)):
        for at in range(1, rank + 1):
            is_last = at == rank > 1
            index = "..., None" if is_last else ", ".join([*[":"] * at, "None"])
            yield 2, f"{text}[{index}]", (*shape[:at], 1, *shape[at:])
    if rank == 1:
        yield 3, f"{text}[None, :]", (1, *shape)
    for other in others:
        is_other = other not in (shape, shape[::-1])
        if is_other and other and min(other) >= 0 and prod(other) == prod(shape):
            lengths = ", ".join(map(str, other))
            yield 4, f"{text}.reshape({lengths})", other


def _more(code: _Code, node: ast.expr, shape: Shape) -> Iterator[tuple[str, Shape]]:
    """Yield changes by which inputs of layers and operands of one shape get to fit."""
    text = _atom(code, node)
    rank = len(shape)
    for at in range(rank):
        if shape[at] == 1:
            yield f"{text}.squeeze({at})", (*shape[:at], *shape[at + 1 :])
    if rank > 2:
        for to in (0, 1):
            yield f"{text}.moveaxis(-1, {to})", (*shape[:to], shape[-1], *shape[to:-1])
        yield f"{text}.moveaxis(1, -1)", (shape[0], *shape[2:], shape[1])
    for begin in range(min(rank - 1, 2)):
        given = str(begin or "")
        yield f"{text}.flatten({given})", (*shape[:begin], prod(shape[begin:]))
    yield f"{text}[None]", (1, *shape)
    yield f"{text}[None, None]", (1, 1, *shape)


def _of_layer(code: _Code, clash: Clash) -> list[Repair]:
    """Return the layer made for the length that its input has."""
    given, expected = clash.shapes
    fixed = [axis for axis, length in enumerate(expected) if length >= 0]
    made = code.making(clash.layer, expected[fixed[0]]) if len(fixed) == 1 else None
    column = clash.columns[1][fixed[0]]
    if made is None or column not in clash.columns[0]:
        return []
    call, argument = made
    length = given[clash.columns[0].index(column)]
    asked = (*expected[: fixed[0]], length, *expected[fixed[0] + 1 :])
    if not length or clash.fits is None or not clash.fits([given, asked]):
        return []
    return [_remade(code, call, argument, length, given)]


def _of_table(code: _Code, clash: Clash) -> list[Repair]:
    """Return the layer made with as many rows as the index needs."""
    (index,), (rows, *rest) = clash.shapes
    made = code.making(clash.layer, rows) if clash.layer and index >= 0 else None
    if made is None:
        return []
    return [_remade(code, *made, index + 1, (index + 1, *rest))]


def _remade(
    code: _Code, call: ast.Call, argument: ast.expr, length: int, shape: Shape
) -> Repair:
    """Return the repair that makes a layer for another length."""
    whole, part = code.text(call), code.text(argument)
    at = whole.index(part, len(code.text(call.func)))
    label = f"{whole[:at]}{length}{whole[at + len(part) :]}"
    return code.replaced(argument, str(length), shape, label)


def _kept_axis(
    code: _Code, node: ast.expr, shape: Shape
) -> Iterator[tuple[int, ast.expr, str, Shape]]:
    """Yield a reduction along one axis that keeps this axis with length 1.

    That of a name is in the line that assigned it.
    """
    if isinstance(node, ast.Name | ast.Attribute):
        made = code.reduction(node)
        if made is None:
            return
        node = made
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if name not in REDUCTIONS or "keepdims" in given or None in given:
        return
    positional = [*node.args[-1:], None][0]
    asked = given.get("axis", given.get("dim", positional))
    axis = None if asked is None else _literal(asked)
    if type(axis) is not int or not -len(shape) - 1 <= axis <= len(shape):
        return
    at = axis % (len(shape) + 1)
    call = code.text(node).removesuffix(")").rstrip().removesuffix(",")
    yield 0, node, f"{call}, keepdims=True)", (*shape[:at], 1, *shape[at:])


def _last_name(node: ast.expr) -> str:
    """Return the last name of `a.b.c`, or of `c`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _atom(code: _Code, node: ast.expr) -> str:
    """Return the text of an expression that can take a suffix."""
    text = code.text(node)
    return text if isinstance(node, ATOMS) else f"({text})"


def _of_reshape(code: _Code, clash: Clash) -> list[Repair]:
    """Return requested shapes in which one length is left to the library."""
    if not isinstance(code.node, ast.Call):
        return []
    old, new = clash.shapes
    given = [each for each in code.node.args if _literal(each) == new]
    lengths = [each for each in code.node.args if type(_literal(each)) is int]
    if not given and tuple(map(_literal, lengths)) != new:
        return []
    requested = given[:1] or lengths
    form = "({})" if given else "{}"
    if given and isinstance(given[0], ast.List):
        form = "[{}]"
    found: list[Repair] = []
    for at in range(len(new)):
        known = prod(new[:at] + new[at + 1 :])
        if -1 in new or known == 0 or prod(old) % known:
            continue
        texts = ["-1" if i == at else str(length) for i, length in enumerate(new)]
        text = form.format(", ".join(texts) + "," * (form == "({})" and len(new) == 1))
        shape = (*new[:at], prod(old) // known, *new[at + 1 :])
        found.append(
            code.arguments_replaced(requested, text, shape, f"reshape({text})")
        )
    return found


def _literal(node: ast.expr) -> object:
    """Return an integer, or integers as a tuple; None for other expressions."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return None
    return tuple(value) if isinstance(value, list) else value


def _of_concat(code: _Code, clash: Clash, operands: Operands | None) -> list[Repair]:
    """Return axes along which the shapes can be joined, and transposed operands."""
    node = code.node
    if not isinstance(node, ast.Call) or operands is None:
        return []
    name = _last_name(node.func)
    found: list[Repair] = []
    given = next((each for each in node.keywords if each.arg == "axis"), None)
    for axis in range(len(clash.shapes[0])):
        result = _joined_shape(clash.shapes, axis)
        if result is None or name not in JOINING or len(node.args) != 1:
            continue
        if given is not None:
            label = f"axis={axis}"
            found.append(code.replaced(given.value, str(axis), result, label))
        else:
            items = node.args[0]
            text = f"{code.text(items)}, axis={axis}"
            found.append(code.replaced(items, text, result, f"axis={axis}"))
    axis = clash.joined or 0
    for at, operand in enumerate(operands):
        if operand is None or len(clash.shapes[at]) != 2:
            continue
        shapes = [*clash.shapes]
        shapes[at] = shapes[at][::-1]
        result = _joined_shape(shapes, axis)
        if result is not None:
            text = f"{_atom(code, operand)}.T"
            found.append(code.replaced(operand, text, result))
    return found


def _joined_shape(shapes: Sequence[Shape], axis: int) -> Shape | None:
    """Return the shape of tensors joined along an axis, None if they differ."""
    rests = [(*shape[:axis], *shape[axis + 1 :]) for shape in shapes]
    ranks = {len(shape) for shape in shapes}
    if len(ranks) > 1 or any(a != b for a, b in pairwise(rests)):
        return None
    first = shapes[0]
    return (*first[:axis], sum(s[axis] for s in shapes), *first[axis + 1 :])
