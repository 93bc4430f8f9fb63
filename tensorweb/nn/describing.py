"""The representation of a module, in PyTorch's format, one module per line."""

from __future__ import annotations

from collections.abc import Sequence


def described(name: str, settings: str, children: Sequence[tuple[str, object]]) -> str:
    """Return a module's name and settings, and its submodules indented."""
    if not children:
        return f"{name}({settings})"
    lines = [settings] if settings else []
    for inner, child in children:
        text = child if isinstance(child, str) else repr(child)
        lines.append(f"({inner}): {text}")
    body = "\n".join(lines).replace("\n", "\n  ")
    return f"{name}(\n  {body}\n)"
