"""The recipes of other distributions: fill in what a release knows, and check them.

`packaging/` has one for conda-forge and one for Pyodide. Their sums are zeros until
`build.py release` writes copies with the digests of its artefacts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tools.pins import digest
from tools.process import ROOT, output

SUM = re.compile(r'^(  sha256: ")0{64}(")$', re.MULTILINE)

ADDRESS = re.compile(r"^(  url: )\S.*$", re.MULTILINE)


@dataclass(frozen=True)
class Recipe:
    """A recipe, and how its own tool reads it.

    Attributes:
        path: the file.
        artefact: pattern of the file of a release that it takes.
        name: of the copy in a release.
        requirement: the package with the tool.
        oldest: the oldest Python that the tool runs on.
        program: Python that reads the recipe named by its argument, and prints what
            it found.
    """

    path: Path
    artefact: str
    name: str
    requirement: str
    oldest: tuple[int, int]
    program: str


CONDA = Recipe(
    ROOT / "packaging/conda/recipe.yaml",
    "tensorweb-*.tar.gz",
    "conda-recipe.yaml",
    "py-rattler-build>=0.73,<0.74",
    (3, 11),
    """
import sys
from rattler_build import RenderConfig, Stage0Recipe, VariantConfig
recipe = Stage0Recipe.from_file(sys.argv[1])
for variant in recipe.render(VariantConfig(), RenderConfig()):
    print(variant.recipe.package.name, variant.recipe.package.version)
""",
)

PYODIDE = Recipe(
    ROOT / "packaging/pyodide/tensorweb/meta.yaml",
    "tensorweb-*.whl",
    "pyodide-meta.yaml",
    "pyodide-build>=0.39,<0.40",
    (3, 12),
    """
import sys
from pathlib import Path
from pyodide_build.recipe.spec import MetaConfig
recipe = MetaConfig.from_yaml(Path(sys.argv[1]))
print(recipe.package.name, recipe.package.version)
""",
)

RECIPES = (CONDA, PYODIDE)


def write(made: Path) -> None:
    """Write the recipes into a release, with the digests of its artefacts."""
    for recipe in RECIPES:
        (made / recipe.name).write_text(filled(recipe, made), "utf-8")


def filled(recipe: Recipe, made: Path) -> str:
    """Return a recipe with the digest of its artefact in a release."""
    (artefact,) = made.glob(recipe.artefact)
    text = recipe.path.read_text("utf-8")
    found, count = SUM.subn(rf"\g<1>{digest(artefact)}\g<2>", text)
    assert count == 1, f"internal: {recipe.path.name} has no sum to fill in"
    return found


def read(recipe: Recipe, made: Path, python: Path, folder: Path) -> str:
    """Install a recipe's own tool, let it read the recipe, and return what it prints.

    Args:
        recipe: an entry of `RECIPES`.
        made: a release; the recipe then takes the artefact from there.
        python: of the environment to install into.
        folder: for the recipe.

    Raises:
        BuildError: the tool cannot be installed, or refuses the recipe.
    """
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet"]
    output([*pip, "--disable-pip-version-check", recipe.requirement])
    (artefact,) = made.glob(recipe.artefact)
    local = ADDRESS.sub(rf"\g<1>{artefact.resolve().as_uri()}", filled(recipe, made))
    path = folder / recipe.path.name
    path.write_text(local, "utf-8")
    return output([python, "-c", recipe.program, path], folder=folder).strip()
