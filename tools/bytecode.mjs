/**
 * Adds bytecode for the page's first start: `node bytecode.mjs PYODIDE WHEEL LIBRARY OURS`.
 *
 * Python in a browser would compile each imported module at the first start, which is most
 * of an import's time. Modules that the page imports before its snapshot get bytecode, of
 * Python's standard library and of ours; all of it would double the download. Bytecode
 * holds for one version of Python, so Pyodide itself compiles.
 *
 * LIBRARY becomes the standard library as a zip archive without compression. OURS becomes
 * the files of our wheel one after another, behind a line of JSON with their sizes by path.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, wheel, library, ours] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: pyodide });
python.FS.writeFile("/wheel.whl", new Uint8Array(readFileSync(wheel)));
python.runPython(`
import importlib.util, json, marshal, sys, zipfile

sys.dont_write_bytecode = True
folder = next(path for path in sys.path if path.endswith("site-packages"))
archive = next(path for path in sys.path if path.endswith(".zip"))
wheel = zipfile.ZipFile("/wheel.whl")
wheel.extractall(folder)
from tensorweb.playground.preload import preload
preload()

modules = [getattr(module, "__file__", None) or "" for module in sys.modules.values()]

def imported(root):
    return {path.removeprefix(f"{root}/") for path in modules if path.startswith(f"{root}/")}

def bytecode(path, source):
    # The source never changes: the flags say that Python need not compare it.
    code = compile(source, path, "exec", dont_inherit=True)
    flags, no_hash = (0b01).to_bytes(4, "little"), bytes(8)
    return importlib.util.MAGIC_NUMBER + flags + no_hash + marshal.dumps(code)

known = imported(archive)
with (
    zipfile.ZipFile(archive) as old,
    zipfile.ZipFile("/library.zip", "w", zipfile.ZIP_STORED) as new,
):
    for entry in old.infolist():
        same = zipfile.ZipInfo(entry.filename, entry.date_time)
        same.external_attr = entry.external_attr
        new.writestr(same, old.read(entry))
        if entry.filename in known:
            compiled = zipfile.ZipInfo(f"{entry.filename}c", entry.date_time)
            new.writestr(compiled, bytecode(f"{archive}/{entry.filename}", old.read(entry)))

known = imported(folder)
files = {}
for path in wheel.namelist():
    files[path] = wheel.read(path)
    if path in known:
        files[importlib.util.cache_from_source(path)] = bytecode(f"{folder}/{path}", files[path])
with open("/ours", "wb") as target:
    sizes = {path: len(content) for path, content in files.items()}
    target.write(json.dumps(sizes).encode() + b"\\n" + b"".join(files.values()))
`);
writeFileSync(library, python.FS.readFile("/library.zip"));
writeFileSync(ours, python.FS.readFile("/ours"));
process.exit(0);
