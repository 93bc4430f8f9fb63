/**
 * Adds bytecode to our wheel for the page: `node bytecode.mjs PYODIDE WHEEL OUT`.
 *
 * Python in a browser would compile each imported module at the first start, which is
 * two thirds of the import's time. Only modules that the page imports at its start get
 * bytecode: all of it would make the download three times as long. Bytecode holds for one
 * version of Python, so Pyodide itself compiles.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [pyodide, wheel, out] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: pyodide });
python.FS.writeFile("/wheel.whl", readFileSync(wheel));
python.runPython(`
import importlib.util, py_compile, sys, zipfile

sys.dont_write_bytecode = True
root = next(path for path in sys.path if path.endswith("site-packages"))
source = zipfile.ZipFile("/wheel.whl")
source.extractall(root)
import tensorweb.playground

imported = {
    module.__file__.removeprefix(f"{root}/")
    for name, module in sys.modules.items()
    if name.partition(".")[0] == "tensorweb" and module.__file__
}
with zipfile.ZipFile("/out.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
    for entry in source.infolist():
        same = zipfile.ZipInfo(entry.filename, entry.date_time)
        same.compress_type, same.external_attr = entry.compress_type, entry.external_attr
        target.writestr(same, source.read(entry))
        if entry.filename in imported:
            # The wheel's source never changes, so Python need not compare it.
            compiled = py_compile.compile(
                f"{root}/{entry.filename}",
                cfile="/module.pyc",
                doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            name = importlib.util.cache_from_source(entry.filename)
            with open(compiled, "rb") as file:
                target.writestr(zipfile.ZipInfo(name, entry.date_time), file.read(), zipfile.ZIP_DEFLATED)
`);
writeFileSync(out, python.FS.readFile("/out.whl"));
process.exit(0);
