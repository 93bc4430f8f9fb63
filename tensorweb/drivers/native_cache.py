"""Keeps small texts between runs, in the user's cache folder.

The folder is `tensorweb` in `$XDG_CACHE_HOME` (else `~/.cache`), on macOS in
`~/Library/Caches`, on Windows in `%LOCALAPPDATA%`. `TENSORWEB_CACHE` names another
folder; empty or `off` keeps nothing.
"""

from __future__ import annotations

import os
import re
import sys
from hashlib import sha256
from pathlib import Path

VARIABLE = "TENSORWEB_CACHE"


def folder() -> Path | None:
    """Return the cache folder, or None if caching is off."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return None if named.lower() in ("", "off") else Path(named)
    try:
        return _users_cache() / "tensorweb"
    except RuntimeError:  # nobody's home
        return None


def _users_cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():  # the specification ignores relative paths
        return Path(given)
    local = os.environ.get("LOCALAPPDATA")
    if sys.platform == "win32" and local:
        return Path(local)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path.home() / ".cache"


def path_of(key: str) -> Path | None:
    """Return the file of a key."""
    found = folder()
    if found is None:
        return None
    words = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:80]
    return found / f"{words}-{sha256(key.encode()).hexdigest()[:8]}.json"


def kept(key: str) -> str | None:
    """Return the text stored under a key, or None."""
    path = path_of(key)
    if path is None:
        return None
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return None


def keep(key: str, text: str | None) -> bool:
    """Store a text under a key, or remove it if None; return whether that worked."""
    path = path_of(key)
    if path is None:
        return False
    try:
        if text is None:
            path.unlink(missing_ok=True)
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(text, "utf-8")
        draft.replace(path)
    except OSError:
        return False
    return True
