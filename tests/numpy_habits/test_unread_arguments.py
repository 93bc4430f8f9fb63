"""Arguments that functions of `tensorweb.numpy` take: each is read, or says nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tensorweb.numpy as np

FOLDER = Path(np.__file__).parent

NOTHING = {
    "allow_pickle": "nothing is pickled or unpickled",
    "assume_unique": "a promise that makes NumPy quicker",
    "check_valid": "a test of NumPy's that gives a warning",
    "fix_imports": "of pickles",
    "hermitian": "a promise that makes NumPy quicker",
    "overwrite_input": "a permission that makes NumPy quicker; tensors never change",
    "subok": "tensors have no subclasses",
    "verbose": "words of an error",
    "writeable": "results are copies",
}
"""Arguments that say nothing here, wherever they stand."""

ONE_WAY = {
    ("choice", "shuffle"): "a permission that makes NumPy quicker",
    ("einsum", "optimize"): "pairs from left to right",
    ("genfromtxt", "autostrip"): "numbers have no blanks",
    ("genfromtxt", "case_sensitive"): "names of columns, which there are not",
    ("genfromtxt", "defaultfmt"): "names of columns, which there are not",
    ("genfromtxt", "deletechars"): "names of columns, which there are not",
    ("genfromtxt", "excludelist"): "names of columns, which there are not",
    ("genfromtxt", "replace_space"): "names of columns, which there are not",
    ("info", "maxwidth"): "the docstring is printed as it is",
    ("isin", "kind"): "ways that make NumPy quicker",
    ("load", "encoding"): "of pickles",
    ("meshgrid", "copy"): "docs/reference/deviations.md: values of their own",
    ("multivariate_normal", "tol"): "of check_valid",
    ("unique", "sorted"): "always sorted",
}
"""Arguments of single functions that have one meaning here whatever they are."""


def functions() -> Iterator[ast.FunctionDef]:
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                decorators = {ast.unparse(each) for each in node.decorator_list}
                if not decorators & {"overload", "typing.overload"}:
                    yield node


def unread(function: ast.FunctionDef) -> set[str]:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    read = {
        node.id
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
    }
    return {each.arg for each in named} - read - {"self", "cls"}


def test_every_argument_is_read_or_says_nothing() -> None:
    ignored = {
        (function.name, argument)
        for function in functions()
        for argument in unread(function)
    }
    assert {pair for pair in ignored if pair[1] not in NOTHING} == ONE_WAY.keys()


def test_the_table_has_no_argument_that_is_read_everywhere() -> None:
    found = {argument for function in functions() for argument in unread(function)}
    assert NOTHING.keys() <= found
