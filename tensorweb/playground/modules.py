"""The other files of a program: modules that it imports, data that it opens by name.

Modules are imported from their texts, again in every run; data are files in the
program's folder. A run of one cell retains both, unless their texts have changed.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

from tensorweb.errors import DataError

from . import imports
from .files import path_of
from .records import ProgramFile

END = ".py"


class ProgramFiles:
    """Installs a program's files before a run and removes them before the next."""

    def __init__(self) -> None:
        self._finder = ModuleFinder({})
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

    def _replace_modules(self, modules: Mapping[str, str]) -> None:
        self._finder.forget()
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for name in modules:
            _check(name)
        self._finder = ModuleFinder(modules)
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

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of the program, None for any other."""
        name = fullname + END
        if path is not None or name not in self.texts:
            return None
        loader = TextLoader(name, self.texts[name])
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

    def __init__(self, filename: str, text: str) -> None:
        self._filename = filename
        self._text = text

    def get_filename(self, fullname: str) -> str:
        """Return the name of the program's file."""
        return self._filename

    def get_source(self, fullname: str) -> str:
        """Return the text of the module."""
        return self._text

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None, so that Python makes the module."""
        return None


def _check(name: str) -> None:
    """Raise for a name that Python cannot import, or that would hide another module."""
    stem = name.removesuffix(END)
    if not stem.isidentifier():
        raise DataError(f"{name!r} is no name for a module; use one like helpers.py")
    if stem in sys.stdlib_module_names or stem in imports.site or _is_loaded(stem):
        raise DataError(
            f"{name} has the name of another module, which would hide it; "
            "rename the file"
        )


def _is_loaded(stem: str) -> bool:
    return stem == "main" or stem in sys.modules
