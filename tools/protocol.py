"""Generate `web/src/page/protocol.ts` from Python's records and request handlers.

`tools/documents.py` writes it; `tests/playground/test_protocol.py` fails when the file
is not what this would write.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, NotRequired

from tensorweb.display import cells
from tensorweb.playground import records
from tensorweb.playground.session import Session, handlers
from tools.process import ROOT

FILE = ROOT / "web/src/page/protocol.ts"

HEAD = """\
/**
 * The messages of page and Python, made from Python by `python3 build.py docs`: their
 * types, and checks that refuse anything else. The records are in
 * `tensorweb/playground/records.py`, the handlers in `session.py`.
 */
"""

REFINED = {"Heatmap": "hasAllCells"}
"""Further conditions of records, by functions of `checks.ts`."""

PLAIN: Mapping[object, tuple[str, str]] = {
    str: ("string", "text(100_000)"),
    int: ("number", "count()"),
    float: ("number", "number"),
    bool: ("boolean", "flag"),
    bytes: ("Uint8Array", ""),
    types.NoneType: ("null", "oneOf(null)"),
}
"""Types of TypeScript and their checks without a limit."""

MOST_ITEMS = 10_000

CHECKS_OF_RESPONSES = (
    '{ readonly [R in keyof PythonRequests]: Check<PythonRequests[R]["value"]> }'
)


def aliases() -> dict[object, str]:
    """Return the names of the unions of texts."""
    return {
        hint: name
        for name, hint in {**vars(cells), **vars(records)}.items()
        if not name.startswith("_") and name[0].isupper() and is_texts(hint)
    }


def is_texts(hint: object) -> bool:
    """Whether a type is a literal, or a union of literals."""
    if is_union(hint):
        return all(is_texts(part) for part in typing.get_args(hint))
    return typing.get_origin(hint) is Literal


def is_union(hint: object) -> bool:
    """Whether a type is a union."""
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def type_of(hint: Any) -> str:
    """Return the TypeScript type of a Python type's JSON."""
    if hint in aliases():
        return aliases()[hint]
    arguments = typing.get_args(hint)
    if hasattr(hint, "__metadata__"):
        return type_of(arguments[0])
    if is_union(hint):
        return " | ".join(type_of(part) for part in arguments)
    match typing.get_origin(hint):
        case typing.Literal:
            return " | ".join(json.dumps(text) for text in arguments)
        case origin if origin in (list, Sequence):
            item = type_of(arguments[0])
            return f"({item})[]" if " | " in item else f"{item}[]"
    return hint.__name__ if typing.is_typeddict(hint) else PLAIN[hint][0]


def check_of(hint: Any) -> str:
    """Return the check of a value as an expression of TypeScript."""
    inner, limit = hint, None
    if hasattr(hint, "__metadata__"):
        inner, limit = typing.get_args(hint)
    if isinstance(limit, records.Signed):
        return "integer"
    if isinstance(limit, records.Matching):
        return f"matching(/^(?:{limit.pattern})$/)"
    most = None if limit is None else f"{limit.limit:_}"
    arguments = typing.get_args(inner)
    if is_texts(inner):
        texts = [text for part in parts(inner) for text in typing.get_args(part)]
        return f"oneOf({', '.join(map(json.dumps, texts))})"
    if is_union(inner):
        checks = [check_of(part) for part in arguments if part is not types.NoneType]
        found = checks[0] if len(checks) == 1 else f"either({', '.join(checks)})"
        return f"orNull({found})" if types.NoneType in arguments else found
    if typing.get_origin(inner) is list:
        return f"list({check_of(arguments[0])}, {most or f'{MOST_ITEMS:_}'})"
    if typing.is_typeddict(inner):
        return f"is{inner.__name__}"
    if most is None:
        return PLAIN[inner][1]
    return f"{ {str: 'text', int: 'count', bytes: 'bytes'}[inner] }({most})"


def parts(hint: object) -> Sequence[object]:
    """Return the members of a union, or the type alone."""
    return typing.get_args(hint) if is_union(hint) else [hint]


@dataclass
class Writer:
    """Writes each record once, after the records of its fields."""

    lines: list[str] = field(default_factory=list)
    written: set[object] = field(default_factory=set)

    def refer(self, hint: Any) -> None:
        """Write the records that a type refers to."""
        if typing.is_typeddict(hint):
            self.record(hint)
        for part in typing.get_args(hint):
            self.refer(part)

    def record(self, record: Any) -> None:
        """Write the interface and the check of a record."""
        if record in self.written:
            return
        self.written.add(record)
        hints = typing.get_type_hints(record, include_extras=True)
        for hint in hints.values():
            self.refer(hint)
        name, comments = record.__name__, field_comments(record)
        fields, checks = [], []
        for key, hint in hints.items():
            is_optional = typing.get_origin(hint) is NotRequired
            inner = typing.get_args(hint)[0] if is_optional else hint
            check = check_of(inner)
            if key in comments:
                fields.append(f"  /** {comments[key]} */")
            fields.append(f"  {key}{'?' if is_optional else ''}: {type_of(inner)};")
            checks.append(f"  {key}: {f'optional({check})' if is_optional else check},")
        self.lines += [
            "",
            f"/** {first_line(record)} */",
            f"export interface {name} {{",
        ]
        start, end = "record({", "});"
        if name in REFINED:
            start, end = f"refined({start}", f"}}), {REFINED[name]});"
        self.lines += [*fields, "}", f"export const is{name}: Check<{name}> = {start}"]
        self.lines += [*checks, end]


@cache
def definitions(module: types.ModuleType) -> dict[str, ast.ClassDef]:
    """Return the classes of a module's source by name."""
    body = ast.parse(inspect.getsource(module)).body
    return {each.name: each for each in body if isinstance(each, ast.ClassDef)}


@cache
def field_comments(record: Any) -> dict[str, str]:
    """Return the texts under the fields of a record and of its base records."""
    module = sys.modules[record.__module__]
    definition = definitions(module)[record.__name__]
    found: dict[str, str] = {}
    # Python 3.11 does not record the bases of a TypedDict, so they are read here.
    for base in definition.bases:
        if isinstance(base, ast.Name) and base.id in definitions(module):
            found |= field_comments(getattr(module, base.id))
    for before, after in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
            assert isinstance(before.target, ast.Name), "internal: a field has a name"
            found[before.target.id] = ast.literal_eval(after.value)
    return found


def first_line(documented: object) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(documented) or "").split("\n")[0]


def requests() -> Mapping[str, Callable[..., object]]:
    """Return the handlers of requests, by name."""
    return handlers(Session(lambda kind, fields: None, None, True))


def text() -> str:
    """Return the text of the file."""
    writer = Writer()
    types_of_requests: list[str] = []
    responses: list[str] = []
    for name, handler in requests().items():
        hints = typing.get_type_hints(handler, include_extras=True)
        value = hints.pop("return")
        for hint in (value, *hints.values()):
            writer.refer(hint)
        types_of_requests += _request(name, handler, hints, value)
        responses.append(f"  {name}: {check_of(value)},")
    for note in typing.get_type_hints(records.Notes, include_extras=True).values():
        writer.refer(note)
    notes = typing.get_type_hints(records.Notes)
    lines = [HEAD, _imports(), ""]
    for hint, name in aliases().items():
        lines.append(f"export type {name} = {' | '.join(map(_literal, parts(hint)))};")
    lines += writer.lines
    lines += ["", "/** The requests that Python answers. */"]
    lines += ["export interface PythonRequests {", *types_of_requests, "}"]
    lines += ["", "/** The checks of their responses. */"]
    lines += [f"export const RESPONSES: {CHECKS_OF_RESPONSES} = {{"]
    lines += [*responses, "};", "", f"/** {first_line(records.Notes)} */"]
    lines += ["export interface Notes {"]
    lines += [*(f"  {kind}: {type_of(hint)};" for kind, hint in notes.items()), "}"]
    lines += [
        "",
        "export const NOTES: { readonly [N in keyof Notes]: Check<Notes[N]> } = {",
    ]
    lines += [*(f"  {kind}: {check_of(hint)}," for kind, hint in notes.items()), "};"]
    return "\n".join(lines) + "\n"


def _imports() -> str:
    names = "bytes, count, either, flag, hasAllCells, integer, list, matching, number, "
    names += "oneOf, optional, orNull, record, refined, text, type Check"
    return f'import {{ {names} }} from "./checks";'


def _literal(hint: object) -> str:
    return " | ".join(json.dumps(text) for text in typing.get_args(hint))


def _request(
    name: str, handler: Callable[..., object], hints: Mapping[str, object], value: Any
) -> Iterator[str]:
    """Yield the entry of a request: what its handler takes and returns."""
    fields = "; ".join(f"{key}: {type_of(hint)}" for key, hint in hints.items())
    details = f"{{ {fields} }}" if fields else "Record<string, never>"
    yield f"  /** {first_line(handler)} */"
    yield f"  {name}: {{ details: {details}; value: {type_of(value)} }};"
