"""Export a notebook as marimo's page; runs inside the environment that has marimo.

Arguments: the notebook, the folder of the page, the addresses of Pyodide and of its
lock file. `marimo export html-wasm` does the same and does not take the addresses; it
also looks for modules next to the notebook, by a program that it fetches.
"""

import asyncio
import sys
from pathlib import Path

from marimo._export.exporter import Exporter
from marimo._export.file import export_wasm
from marimo._export.requests import WASMFileExportRequest
from marimo._schemas.export_options import WASMExportOptions, WASMRuntimeConfig
from marimo._utils.marimo_path import MarimoPath

notebook, folder, pyodide, lock_file = sys.argv[1:]
Exporter().export_assets(Path(folder))
runtime = WASMRuntimeConfig(pyodide_index_url=pyodide, pyodide_lockfile_url=lock_file)
options = WASMExportOptions(mode="run", show_code=False, runtime=runtime)
request = WASMFileExportRequest(path=MarimoPath(notebook), options=options)
result = asyncio.run(export_wasm(request))
Path(folder, "index.html").write_text(result.contents, "utf-8")
