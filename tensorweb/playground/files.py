"""The files of a program: modules that it imports, data, and what is missing.

Modules are imported from their texts, again in every run; data are files in the working
folder, where the page puts the reader's files as well. A run of one cell retains both,
unless their texts have changed. Messages describe missing files and packages.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

from tensorweb.errors import DataError

from . import policy
from .records import ProgramFile

CompileModule = Callable[[str, str], CodeType]
"""Compiles the text of a module of this file name."""

lost: frozenset[str] = frozenset()
"""Names of files of an earlier page that no longer exist."""


def remember_lost(names: Iterable[str]) -> None:
    """Set the names of files of an earlier page that no longer exist."""
    global lost
    lost = frozenset(names)


def path_of(name: str) -> Path:
    """Return the path of a file; raise for anything but a plain name."""
    is_plain = name == os.path.basename(name) and name not in ("", ".", "..")
    if not is_plain or "\0" in name or len(name) > policy.LONGEST_FILE_NAME:
        raise DataError(f"{name[: policy.LONGEST_FILE_NAME]!r} is no name for a file")
    return Path(name)


def file_advice(error: BaseException) -> str | None:
    """Return the message for a missing file, None for another failure.

    >>> file_advice(FileNotFoundError(2, "No such file", "/etc/nothing"))
    """
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str):
        return None
    name = error.filename.removeprefix("./")
    if os.path.basename(name) != name:
        return None
    said = f"There is no file {name!r}"
    if name in lost:
        return (
            f"{said} any more: it went when the page was loaded anew, as the browser "
            "did not keep it. Drop it on the page again, or add it in the panel Files."
        )
    there = sorted(path for path in os.listdir() if not path.startswith("."))
    near = difflib.get_close_matches(name, there, 1)
    if near:
        return f"{said}. Did you mean {near[0]!r}?"
    found = ", ".join(map(repr, there[: policy.MOST_NAMED])) or "none"
    more = (
        f" and {len(there) - policy.MOST_NAMED} more"
        if len(there) > policy.MOST_NAMED
        else ""
    )
    return (
        f"{said}. The program has these files: {found}{more}. Drop yours on the page, "
        "or add it in the panel Files."
    )


site: frozenset[str] = frozenset()
"""Import names of the packages that this site carries."""

compiled: Mapping[str, str] = {}
"""Packages that only the builder of a site can add, by import name."""

HIDDEN = frozenset({"micropip", "tensorweb", "packaging", "six"})
"""Packages not listed in messages."""


def carry(names: Iterable[str], missing: Mapping[str, str]) -> None:
    """Set the import names of the site's packages, and the packages it could add."""
    global site, compiled
    site = frozenset(names)
    compiled = missing


def import_advice(error: BaseException) -> str | None:
    """Return the message for a failed import, None to retain Python's message.

    >>> import_advice(ModuleNotFoundError("No module named 'json.x'", name="json.x"))
    """
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return None
    name = error.name.partition(".")[0]
    if name in sys.stdlib_module_names or name in sys.modules:
        return None
    missing = f"No module named {name!r}"
    if name in site:
        return f"{missing}: the site carries it, but it could not be fetched now."
    if name == "numpy":
        return f"{missing}: {_carried()}; `import tensorweb.numpy as np` has its names."
    if name in compiled:
        package = compiled[name]
        return (
            f"{missing}: {_carried()}; {package} is compiled, or needs what is, so "
            "that only who builds the site can add it: "
            f"build.py site --packages {package}."
        )
    return (
        f"{missing}: {_carried()}; packages of pure Python come with `import micropip; "
        f"await micropip.install({name!r})`, while “Allow network” is ticked and the "
        "browser is online."
    )


def _carried() -> str:
    """Return a clause that lists the packages which the site carries."""
    known = sorted(name for name in site - HIDDEN if not name.startswith("_"))
    if not known:
        return "this site carries no packages"
    *others, last = known
    return (
        f"this site carries {', '.join(others)} and {last}"
        if others
        else (f"this site carries {last}")
    )


END = ".py"


class ProgramFiles:
    """Installs a program's files before a run and removes them before the next."""

    def __init__(self, compile_module: CompileModule) -> None:
        """Start without files; modules are compiled by the given function."""
        self._compile = compile_module
        self._finder = ModuleFinder({}, compile_module)
        self._data: dict[str, str] = {}

    def install(self, files: Sequence[ProgramFile], keep: bool) -> Mapping[str, str]:
        """Install files; return the modules' texts by file name.

        With `keep`, modules and files of an earlier run are retained if their texts are
        equal.

        Raises:
            DataError: a name is no valid file name, or is the name of another module.
        """
        texts = {file["name"]: file["text"] for file in files}
        modules = {name: text for name, text in texts.items() if name.endswith(END)}
        data = {name: text for name, text in texts.items() if name not in modules}
        if not keep or modules != self._finder.texts:
            self._replace_modules(modules)
        self._replace_data(data, keep)
        return modules

    def forget(self) -> None:
        """Remove the modules, so that nothing but their users holds what they made."""
        self._replace_modules({})

    def _replace_modules(self, modules: Mapping[str, str]) -> None:
        self._finder.forget()
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for name in modules:
            _check(name)
        self._finder = ModuleFinder(modules, self._compile)
        if modules:
            sys.meta_path.insert(0, self._finder)

    def _replace_data(self, data: Mapping[str, str], keep: bool) -> None:
        for name, text in self._data.items():
            path = path_of(name)
            # A file that the program has changed is a result and is retained.
            is_ours = path.is_file() and path.read_bytes() == text.encode()
            if name not in data and is_ours:
                path.unlink()
        for name, text in data.items():
            if keep and self._data.get(name) == text:
                continue
            path = path_of(name)
            if path.is_symlink():
                path.unlink()
            path.write_bytes(text.encode())
        self._data = dict(data)


class ModuleFinder(MetaPathFinder):
    """Finds the modules of one program in their texts."""

    def __init__(self, texts: Mapping[str, str], compile_module: CompileModule) -> None:
        self.texts = dict(texts)
        self._compile = compile_module

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the program, None for any other."""
        name = fullname + END
        if path is not None or name not in self.texts:
            return None
        loader = TextLoader(name, self.texts[name], self._compile)
        return spec_from_file_location(fullname, name, loader=loader)

    def forget(self) -> None:
        """Remove the modules from `sys.modules`, so that they are imported again."""
        for name in self.texts:
            module = sys.modules.get(name.removesuffix(END))
            spec = getattr(module, "__spec__", None)
            if isinstance(getattr(spec, "loader", None), TextLoader):
                del sys.modules[name.removesuffix(END)]


class TextLoader(ExecutionLoader):
    """Runs a module from its text."""

    def __init__(self, filename: str, text: str, compile_module: CompileModule) -> None:
        self._filename = filename
        self._text = text
        self._compile = compile_module

    def get_filename(self, fullname: str) -> str:
        """Return the name of the program's file."""
        return self._filename

    def get_source(self, fullname: str) -> str:
        """Return the text of the module."""
        return self._text

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module."""
        return self._compile(self._text, self._filename)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None, so that Python makes the module."""
        return None


def _check(name: str) -> None:
    """Raise for a name that Python cannot import, or that would hide another module."""
    stem = name.removesuffix(END)
    if not stem.isidentifier():
        raise DataError(f"{name!r} is no name for a module; use one like helpers.py")
    if stem in sys.stdlib_module_names or stem in site or _is_loaded(stem):
        raise DataError(
            f"{name} has the name of another module, which would hide it; "
            "rename the file"
        )


def _is_loaded(stem: str) -> bool:
    return stem == "main" or stem in sys.modules
