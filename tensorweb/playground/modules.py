"""The other files of a program: modules that it imports, data that it opens by name.

Modules are imported from their texts, anew in every run; data stand in the folder of
the program. A run of one cell keeps both, unless their texts have changed.
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
    """Puts a program's files where it finds them, and takes them away again."""

    def __init__(self) -> None:
        self._finder = ModuleFinder({})
        self._data: dict[str, str] = {}

    def place(self, files: Sequence[ProgramFile], keep: bool) -> Mapping[str, str]:
        """Let a program find these files, and return its modules' texts by file name.

        With `keep`, what an earlier run imported and wrote stays where texts are equal.

        Raises:
            DataError: a name cannot be a file's, or is that of another module.
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
            # What the program has written since is a result, which stays.
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
    """Finds the modules of one program by their texts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Return where a module of the program is from, None for any other."""
        name = fullname + END
        if path is not None or name not in self.texts:
            return None
        loader = TextLoader(name, self.texts[name])
        return spec_from_file_location(fullname, name, loader=loader)

    def forget(self) -> None:
        """Let the next import run a module's text again."""
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
        """Leave it to Python to make the module."""
        return None


def _check(name: str) -> None:
    """Refuse what Python could not import, or would take for another module."""
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
