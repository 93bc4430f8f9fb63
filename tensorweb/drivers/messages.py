"""Words for driver errors: sizes, limits and compiler messages with the lines around.

Both drivers raise the same texts through these functions; nothing here touches a GPU.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tensorweb.errors import ShaderError

LINES_AROUND = 2
"""Lines of generated text shown above and below the line that the compiler names."""


@dataclass(frozen=True)
class CompilerMessage:
    """One message of a shader compiler; `line` and `column` count from 1, 0 unknown."""

    text: str
    line: int = 0
    column: int = 0


NAGA_POSITION = re.compile(r"┌─ .*:(\d+):(\d+)")


def compiler_message(text: str, line: int = 0, column: int = 0) -> CompilerMessage:
    """Return a compiler's message without its own drawing of the source.

    naga (wgpu-py, Firefox) draws the line and writes its numbers into the text; Tint
    (Chromium, Node) gives them apart and adds the commands it came through.
    """
    position = NAGA_POSITION.search(text)
    if position is None:
        lines = [row for row in text.splitlines() if not row.startswith(" - While ")]
        return CompilerMessage("\n".join(lines).strip(), line, column)
    found = re.search(r"(?:parsing|validation) error: *(.*)", text)
    summary = found.group(1) if found else text.strip().splitlines()[0]
    rows = [row.strip() for row in text[position.end() :].splitlines()]
    notes = [row.lstrip("= ") for row in rows if row.startswith(("= ", "note:"))]
    text = "\n".join([summary, *notes])
    return CompilerMessage(text, int(position.group(1)), int(position.group(2)))


def size_text(size: int) -> str:
    """Return a byte count for people, `1536` as `1.5 KiB`."""
    if size < 1024:
        return f"{size} bytes"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024 or unit == "GiB":
            break
    return f"{value:.4g} {unit}"


def excerpt(source: str, line: int, column: int) -> str:
    """Return the numbered lines around `line`, with a caret under `column`."""
    lines = source.splitlines()
    first = max(line - LINES_AROUND, 1)
    last = min(line + LINES_AROUND, len(lines))
    width = len(str(last))
    shown = []
    for number in range(first, last + 1):
        mark = ">" if number == line else " "
        shown.append(f"{mark} {number:>{width}} | {lines[number - 1]}")
        if number == line and column > 0:
            shown.append(" " * (width + 2) + " | " + " " * (column - 1) + "^")
    return "\n".join(shown)


def shader_error(
    label: str, source: str, messages: Sequence[CompilerMessage]
) -> ShaderError:
    """Return the error for a shader that the device's compiler refused."""
    error = ShaderError(shader_message(label, source, messages))
    error.label, error.source = label, source
    error.reports = tuple((each.text, each.line, each.column) for each in messages)
    return error


def shader_message(label: str, source: str, messages: Sequence[CompilerMessage]) -> str:
    """Return the text of a `ShaderError`: label, messages, the lines around each."""
    parts = [f"shader {label!r}: the device's compiler refused it."]
    for message in messages:
        if message.line > 0:
            parts.append(f"line {message.line}: {message.text}")
            parts.append(excerpt(source, message.line, message.column))
        else:
            parts.append(message.text)
    return "\n".join(parts)


def refused_message(label: str, size: int, reason: str) -> str:
    """Return the text of a `ShaderError` for a module that the engine refused."""
    return (
        f"kernel {label!r}: the WebAssembly engine refused its module of {size} "
        f"bytes: {reason}"
    )


def limit_message(what: str, size: int, largest: int, device: str = "") -> str:
    """Return the text of a `DeviceMemoryError` for what no kernel can bind."""
    named = f"device {device!r}" if device else "this device"
    is_cpu = device == "cpu"
    advice = "or work in parts" if is_cpu else 'work in parts, or use device="cpu"'
    return (
        f"{what} needs {size_text(size)} ({size} bytes); {named} binds at most "
        f"{size_text(largest)} ({largest} bytes) in one tensor. Use a smaller shape, "
        f"{advice}."
    )


def memory_message(size: int) -> str:
    """Return the text of a `DeviceMemoryError` for an allocation that failed."""
    return (
        f"the device has no memory for a buffer of {size_text(size)} ({size} bytes); "
        'drop tensors you no longer need, or compute on device="cpu".'
    )


def budget_message(
    what: str, size: int, device: str, held: int, budget: int, variable: str
) -> str:
    """Return the text of a `DeviceMemoryError` for what does not fit any more.

    `variable` names what sets the budget, if it can be raised.
    """
    return (
        f"{what} needs {size_text(size)} at once; on device {device!r} tensors already "
        f"hold {size_text(held)} of the budget of {size_text(budget)}. Delete "
        "tensors that are no longer needed"
        + (f", or set {variable}." if variable else ".")
    )


def heap_message(size: int, held: int, memory: int, limit: int) -> str:
    """Return the text of a `DeviceMemoryError` for a memory that cannot grow."""
    return (
        f"the device has no memory for a buffer of {size_text(size)} ({size} bytes): "
        f"buffers hold {size_text(held)} of a WebAssembly memory of "
        f"{size_text(memory)}, which cannot grow enough; its limit is "
        f"{size_text(limit)} ({limit} bytes). Drop tensors that are no longer needed, "
        "or work in parts."
    )


def lost_message(reason: str) -> str:
    """Return the text of a `DeviceLostError`."""
    return (
        f"the GPU device was lost ({reason}) and its tensors with it; "
        "run the program again to compute on a new device."
    )
