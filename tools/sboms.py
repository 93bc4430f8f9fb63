"""Bills of materials in CycloneDX's JSON, one for each artefact of a release.

https://cyclonedx.org/docs/1.6/json/. They name no time and no random number, so that
the same artefact has the same bill. A wheel lists what it requires, the site what it
contains.
"""

from __future__ import annotations

import email
import json
import re
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import about
from tools.environment import NODE_MODULES
from tools.pins import digest
from tools.process import ROOT

SPECIFICATION = "1.6"

ENDING = ".cdx.json"

NAME = re.compile(r"[A-Za-z0-9._-]+")

HASHES = {"sha256": "SHA-256", "sha512": "SHA-512"}

LIBRARY_LICENCE = "PSF-2.0"
"""Of Python and its standard library, which Pyodide contains."""


@dataclass(frozen=True)
class Component:
    """A package that an artefact contains or requires.

    Attributes:
        kind: of a package URL: `pypi`, `npm` or `generic`.
        name: the name there.
        version: exact; empty where the user's installer chooses one.
        licence: as the package says it, as SPDX expression where it has one.
        hashes: hexadecimal digests by `sha256` or `sha512`.
        requirement: what the artefact asks an installer for.
        scope: `required`, or `optional` for an extra, or `excluded` for tools that
            build it.
    """

    kind: str
    name: str
    version: str = ""
    licence: str = ""
    hashes: Mapping[str, str] | None = None
    requirement: str = ""
    scope: str = "required"

    @property
    def purl(self) -> str:
        """The package URL: https://github.com/package-url/purl-spec."""
        name = self.name.replace("@", "%40")
        return f"pkg:{self.kind}/{name}" + (f"@{self.version}" if self.version else "")

    def entry(self) -> dict[str, Any]:
        """Return what a bill says of it."""
        entry: dict[str, Any] = {
            "type": "library",
            "bom-ref": self.purl,
            "name": self.name,
            "purl": self.purl,
            "scope": self.scope,
        }
        if self.version:
            entry["version"] = self.version
        if self.licence:
            is_identifier = re.fullmatch(r"[\w.+-]+", self.licence) is not None
            kind = "id" if is_identifier else "name"
            entry["licenses"] = [{"license": {kind: self.licence}}]
        if self.hashes:
            found = sorted(self.hashes.items())
            entry["hashes"] = [{"alg": HASHES[k], "content": v} for k, v in found]
        if self.requirement:
            property_ = {"name": "tensorweb:requirement", "value": self.requirement}
            entry["properties"] = [property_]
        return entry


def write(artefact: Path, kind: str, components: Iterable[Component]) -> Path:
    """Write the bill of an artefact next to it and return its path.

    Args:
        artefact: the file.
        kind: of its package URL; `generic` for what no package index has.
        components: what it contains or requires.
    """
    project = about.project()
    hashes = {"sha256": digest(artefact)}
    own = Component(kind, "tensorweb", project["version"], project["license"], hashes)
    entry = own.entry()
    del entry["scope"]
    if kind == "generic":
        entry["purl"] = entry["bom-ref"] = f"{own.purl}?file_name={artefact.name}"
    entry["description"] = f"{project['description']} ({artefact.name})"
    urls = project["urls"]
    entry["externalReferences"] = [
        {"type": "website", "url": urls["Homepage"]},
        {"type": "vcs", "url": urls["Repository"]},
    ]
    found = sorted(components, key=lambda component: component.purl)
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"{entry['purl']}#{hashes['sha256']}")
    bill = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPECIFICATION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": entry},
        "components": [component.entry() for component in found],
        "dependencies": [
            {
                "ref": entry["bom-ref"],
                "dependsOn": [c.purl for c in found if c.scope != "excluded"],
            }
        ],
    }
    target = artefact.with_name(artefact.name + ENDING)
    target.write_text(f"{json.dumps(bill, indent=1)}\n", "utf-8")
    return target


def required() -> list[Component]:
    """Return what our wheel requires, and offers as extras."""
    project = about.project()
    found = [_required(text, "required") for text in project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        found += [_required(text, "optional") for text in extra]
    return found


def _required(text: str, scope: str) -> Component:
    name = NAME.match(text)
    assert name, f"internal: no name in {text!r}"
    return Component("pypi", name[0], requirement=text, scope=scope)


def builders() -> list[Component]:
    """Return the build backend of the source distribution, as the build pins it."""
    text = (ROOT / "requirements/site.txt").read_text("utf-8")
    version = re.search(r"^hatchling==([\w.]+)", text, re.MULTILINE)
    assert version, "internal: requirements/site.txt pins no hatchling"
    return [Component("pypi", "hatchling", version[1], "MIT", scope="excluded")]


def in_site(site: Path) -> list[Component]:
    """Return what a site contains: Python, wheels and npm packages."""
    built = json.loads((site / "build.json").read_text("utf-8"))
    found = [
        Component("generic", "python", built["python"], LIBRARY_LICENCE),
        *(
            _of_wheel(path)
            for path in sorted((site / "wheels").glob("*.whl"))
            if not path.name.startswith("tensorweb-")
        ),
    ]
    return found + of_npm()


def _of_wheel(wheel: Path) -> Component:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        about_it = email.message_from_bytes(archive.read(entry))
    licence = about_it["License-Expression"] or about_it["License"] or ""
    return Component(
        "pypi",
        about_it["Name"].lower(),
        about_it["Version"],
        licence.strip().partition("\n")[0],
        {"sha256": digest(wheel)},
    )


def of_npm(names: Iterable[str] | None = None) -> list[Component]:
    """Return packages whose code is bundled, and their dependencies.

    Args:
        names: the packages; None for those of the page, which are the dependencies of
            `package.json` less the bundler.
    """
    lock = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    bundled = set[str]()
    waiting = [*lock[""]["dependencies"]] if names is None else [*names]
    while waiting:
        name = waiting.pop()
        if name in bundled or name == "esbuild" or name.startswith("@types/"):
            continue
        bundled.add(name)
        waiting += lock[f"node_modules/{name}"].get("dependencies", {})
    return [_of_npm(name, lock[f"node_modules/{name}"]) for name in sorted(bundled)]


def _of_npm(name: str, locked: Mapping[str, Any]) -> Component:
    package = json.loads((NODE_MODULES / name / "package.json").read_text("utf-8"))
    return Component("npm", name, locked["version"], package.get("license", ""))
