"""Imports the modules of a first run, so that a memory snapshot contains them.

Called by the page's worker just before it takes the snapshot; touches neither the GPU
nor any browser object, which a snapshot cannot contain.
"""

from __future__ import annotations

import gc
import importlib

from tensorweb.codegen.wasm.functions import read_all
from tensorweb.devices import DEVICES, fastest

from .bridge import drive
from .session import Session

MODULES = (
    "tensorweb.backends.kernel_backend",
    DEVICES[fastest()].module,
    DEVICES["cpu"].module,
    "tensorweb.backends.wasm",
    "tensorweb.drivers.browser",
    "tensorweb.drivers.waiting",
    "tensorweb.drivers.wasm_browser",
    "tensorweb.nn",
    "tensorweb.optim",
    "tensorweb.schedule",
    "pyodide.ffi",
)
SAMPLE = """
import random, time
from itertools import pairwise
from time import perf_counter
print(f"{1.5:.2f}")
1 + 1
"""


def preload() -> None:
    """Import the backends and run a small program, discarding its output.

    Objects that exist by then are frozen: the garbage collector need not visit them
    again, which took 14 ms before every run.
    """
    for name in MODULES:
        importlib.import_module(name)
    read_all()
    session = Session(lambda kind, fields: None, None, True)
    drive(session.run(SAMPLE))
    gc.collect()
    gc.freeze()
