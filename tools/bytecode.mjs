/**
 * Adds bytecode for the page's first start, and sets aside what a start does not read:
 * `node bytecode.mjs PYODIDE WHEEL LIBRARY OURS LATER`.
 *
 * Python in a browser would compile each imported module at the first start, which is most
 * of an import's time. Modules that the page imports before its snapshot get bytecode, of
 * Python's standard library and of ours; all of it would double the download. Bytecode
 * holds for one version of Python, so Pyodide itself compiles.
 *
 * Each file is one line of JSON and bytes. LIBRARY is the standard library as a zip archive
 * without compression, less the bytes of what is not imported at the start: its line has
 * their `start` and `end` in the archive, and the `modules` in them. OURS has the files of
 * our wheel, its line their sizes by path. Sources with bytecode are empty there. LATER has
 * the bytes that LIBRARY lacks, and then these sources and the script of reports; its line
 * has their sizes by path.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, wheel, library, ours, later] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: pyodide });
python.FS.writeFile("/wheel.whl", new Uint8Array(readFileSync(wheel)));
python.runPython(`
import importlib.util, io, json, marshal, sys, zipfile

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

def write(path, head, contents):
    with open(path, "wb") as target:
        target.write(json.dumps(head).encode() + b"\\n" + b"".join(contents))

def module_of(path):
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

known = imported(archive)
whole = io.BytesIO()
with (
    zipfile.ZipFile(archive) as old,
    zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as new,
):
    entries = old.infolist()
    for entry in entries:
        if entry.filename in known:
            compiled = zipfile.ZipInfo(f"{entry.filename}c", entry.date_time)
            new.writestr(compiled, bytecode(f"{archive}/{entry.filename}", old.read(entry)))
    start = whole.tell()
    for entry in entries:
        same = zipfile.ZipInfo(entry.filename, entry.date_time)
        same.external_attr = entry.external_attr
        new.writestr(same, old.read(entry))
    end = whole.tell()
late = [module_of(entry.filename) for entry in entries if entry.filename.endswith(".py") and entry.filename not in known]
library = whole.getvalue()
head = {"start": start, "end": end, "modules": late}
write("/library", head, [library[:start], library[end:]])

known = imported(folder)
files = {}
later = {"": library[start:end]}
for path in wheel.namelist():
    files[path] = wheel.read(path)
    if path in known:
        files[importlib.util.cache_from_source(path)] = bytecode(f"{folder}/{path}", files[path])
    if path in known or path.startswith("tensorweb/reports/report."):
        later[path], files[path] = files[path], b""
for path, contents in (("/ours", files), ("/later", later)):
    sizes = {name: len(content) for name, content in contents.items()}
    write(path, sizes, contents.values())
`);
for (const [path, target] of [["/library", library], ["/ours", ours], ["/later", later]]) {
  writeFileSync(target, python.FS.readFile(path));
}
process.exit(0);
