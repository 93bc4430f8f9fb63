"""Write the npm package `tensorweb`: custom element, its types, the drivers' script.

Python and the page are not in it: they are a site, whose folder the user of the element
names. The package is the same for the same sources, wherever and whenever it is made.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tools import about, bundle, driver_scripts
from tools.environment import npm_tool
from tools.process import ROOT, output

ELEMENT = "tensor-web"
DRIVERS = driver_scripts.FILE
DRIVERS_TYPES = DRIVERS.replace(".js", ".d.ts")

OF_DRIVERS = """\
/** The scripts of tensorweb's drivers; importing the module defines them. */
declare global {
  var tensorwebScripts: Readonly<Record<string, unknown>> & {
    /** CRC-32 of each script: those of a wheel of another version are not used. */
    readonly checksums: Readonly<Record<string, number>>;
  };
}
export {};
"""


def write(out: Path) -> None:
    """Write the package into a folder, which is empty or not there yet.

    Args:
        out: folder of the package, whose `package.json` is at its top.

    Raises:
        BuildError: a source is missing, or a tool refuses one.
    """
    out.mkdir(parents=True, exist_ok=True)
    bundle.write_element(out, bundle.source_hash())
    (out / f"{ELEMENT}.d.ts").write_text(_types(), "utf-8")
    driver_scripts.write(out)
    (out / DRIVERS_TYPES).write_text(OF_DRIVERS, "utf-8")
    shutil.copyfile(bundle.WEB / "npm/README.md", out / "README.md")
    shutil.copyfile(ROOT / "LICENSE", out / "LICENSE")
    (out / "package.json").write_text(json.dumps(_description(), indent=2) + "\n")


def imported() -> list[str]:
    """Return the npm packages that the element imports, which the package contains."""
    folder = (bundle.WEB / "src" / bundle.ELEMENT).parent
    texts = [path.read_text("utf-8") for path in sorted(folder.glob("*.ts"))]
    found = re.findall(
        r'^import .* from "([^."][^"]*)";', "\n".join(texts), re.MULTILINE
    )
    return sorted(set(found))


def _description() -> dict[str, Any]:
    """Return what `package.json` says; version and addresses are those of the wheel."""
    project = about.project()
    urls: dict[str, str] = project["urls"]
    return {
        "name": project["name"],
        "version": project["version"],
        "description": "A custom element that runs Python with tensors on WebGPU",
        "keywords": ["custom-element", *project["keywords"]],
        "homepage": urls["Homepage"],
        "bugs": urls["Issues"],
        "license": project["license"],
        "repository": {"type": "git", "url": f"git+{urls['Repository']}"},
        "type": "module",
        "exports": {
            ".": _export(ELEMENT),
            "./drivers": _export(DRIVERS.removesuffix(".js")),
            "./package.json": "./package.json",
        },
        "types": f"./{ELEMENT}.d.ts",
        "jsdelivr": f"./{ELEMENT}.js",
        "unpkg": f"./{ELEMENT}.js",
        # Both do their work when they are imported.
        "sideEffects": [f"./{ELEMENT}.js", f"./{DRIVERS}"],
        "files": ["*.js", "*.d.ts"],
    }


def _export(name: str) -> dict[str, str]:
    return {"types": f"./{name}.d.ts", "default": f"./{name}.js"}


def _types() -> str:
    """Return the declarations of the element's module, which need no other file."""
    source = bundle.WEB / "src" / bundle.ELEMENT
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "noEmit": False,
            "declaration": True,
            "emitDeclarationOnly": True,
            "rootDir": str(bundle.WEB),
            "outDir": folder,
            "typeRoots": [str(ROOT / "node_modules/@types")],
            "types": [str(ROOT / "node_modules/@webgpu/types")],
        }
        settings = {
            "extends": str(ROOT / "tsconfig.json"),
            "compilerOptions": options,
            "include": [],
            "files": [str(source), str(bundle.WEB / "src/styles.d.ts")],
        }
        file = Path(folder) / "tsconfig.json"
        file.write_text(json.dumps(settings), "utf-8")
        output([*npm_tool("typescript", "bin/tsc"), "-p", file])
        made = Path(folder) / "src" / bundle.ELEMENT.replace(".ts", ".d.ts")
        text = made.read_text("utf-8")
    assert not re.search(r"from \"\.", text), "internal: the types need other files"
    return text
