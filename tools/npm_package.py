"""Write the npm package `tensorweb`: scripts for pages, with their types.

`FILES` lists what the package offers; `package.json` is made from pyproject.toml.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tools import about, driver_scripts
from tools.process import ROOT

NAME = "tensorweb"

README = """# tensorweb

{description}. This package has the scripts for web pages; Python's part is the package
`tensorweb` on PyPI, which Pyodide installs with micropip.

- `tensorweb/drivers` (`tensorweb-drivers.js`): the scripts of the library's drivers.
  Load it where Python runs, before the first tensor, if the page's
  Content-Security-Policy forbids `eval`; its version must be that of the wheel.

```html
<script type="module">
  import "tensorweb/drivers";
</script>
```

Documentation: {documentation}
"""

DRIVER_TYPES = """\
/** The scripts of tensorweb's drivers; importing the module defines them. */
declare global {
  var tensorwebScripts: Readonly<Record<string, unknown>> & {
    /** CRC-32 of each script: those of a wheel of another version are not used. */
    readonly checksums: Readonly<Record<string, number>>;
  };
}
export {};
"""


def write(folder: Path) -> None:
    """Write the package into a folder."""
    project = about.project()
    driver_scripts.write(folder)
    types = f"{Path(driver_scripts.FILE).stem}.d.ts"
    (folder / types).write_text(DRIVER_TYPES, "utf-8")
    package = {
        "name": NAME,
        "version": project["version"],
        "description": project["description"],
        "keywords": project["keywords"],
        "license": project["license"],
        "homepage": project["urls"]["Homepage"],
        "repository": {"type": "git", "url": f"git+{project['urls']['Repository']}"},
        "bugs": project["urls"]["Issues"],
        "type": "module",
        "sideEffects": True,
        "exports": {
            "./drivers": {"types": f"./{types}", "default": f"./{driver_scripts.FILE}"},
            "./package.json": "./package.json",
        },
    }
    (folder / "package.json").write_text(f"{json.dumps(package, indent=2)}\n", "utf-8")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE")
    readme = README.format(
        description=project["description"],
        documentation=project["urls"]["Documentation"],
    )
    (folder / "README.md").write_text(readme, "utf-8")
