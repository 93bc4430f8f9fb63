"""tensorweb: tensors on your own GPU, in the browser and in ordinary Python.

Names and meanings are those of the Python Array API standard, 2025.12, wherever it has
one; `__all__` is the whole public surface.
"""

import typing as _typing
from importlib import import_module as _import_module
from sys import modules as _modules
from types import ModuleType as _ModuleType

from tensorweb import dtypes, errors, functions, random, shapes, tree
from tensorweb.advice import unknown as _unknown
from tensorweb.devices import (
    default_device,
    device,
    narrow_dtypes,
    open_device_async,
    set_default_device,
)
from tensorweb.dtypes import *
from tensorweb.errors import *
from tensorweb.evaluate import synchronize
from tensorweb.events import KernelRecord, record_kernels
from tensorweb.exchange import listen as _listen
from tensorweb.exchange import use_device
from tensorweb.functions import *
from tensorweb.plots import BarChart, Plot, bar_chart, plot
from tensorweb.progress import progress
from tensorweb.shapes import broadcast_shapes, next_position, ravel_index, unravel_index
from tensorweb.show import show
from tensorweb.tensor import Tensor
from tensorweb.tensor.tensor import answer_foreign_names as _answer_foreign_names
from tensorweb.transforms.backward import no_grad
from tensorweb.transforms.custom import custom_jvp, custom_vjp, stop_gradient
from tensorweb.transforms.gradients import grad, jvp, linearize, value_and_grad, vjp
from tensorweb.transforms.jit import jit
from tensorweb.version import VERSION as __version__

__array_api_version__ = "2025.12"


# fmt: off
__all__ = [
    "BarChart",
    "Kernel",
    "KernelRecord",
    "Plot",
    "Report",
    "ShapeDtypeStruct",
    "Tensor",
    "__array_api_version__",
    "__version__",
    "associative_scan",
    "autograd",
    "bar_chart",
    "broadcast_shapes",
    "check_grads",
    "checkpoint",
    "cond",
    "custom_jvp",
    "custom_vjp",
    "data",
    "default_device",
    "device",
    "distributions",
    "errors",
    "eval_shape",
    "fft",
    "fori_loop",
    "grad",
    "hessian",
    "inspect",
    "jacfwd",
    "jacrev",
    "jit",
    "jvp",
    "kernel",
    "linalg",
    "linearize",
    "load",
    "load_async",
    "narrow_dtypes",
    "next_position",
    "nn",
    "no_grad",
    "numpy",
    "open_device_async",
    "optim",
    "plot",
    "progress",
    "random",
    "ravel_index",
    "record_kernels",
    "save",
    "scan",
    "scipy",
    "set_default_device",
    "shapes",
    "show",
    "sparse",
    "stop_gradient",
    "switch",
    "synchronize",
    "trace",
    "tree",
    "tune",
    "tune_async",
    "unravel_index",
    "use_device",
    "value_and_grad",
    "vjp",
    "vmap",
    "warm_up",
    "warm_up_async",
    "while_loop",
]
# fmt: on

__all__ += dtypes.__all__
__all__ += errors.__all__
__all__ += functions.__all__  # type: ignore[attr-defined]  # pyright reads this, mypy the star

_answer_foreign_names(__all__)
_listen()


_LATER = (
    "autograd",
    *("data", "distributions", "fft", "linalg", "nn", "numpy", "optim", "scipy"),
    "sparse",
)
"""Modules that are imported when a program first names them; others start faster."""

_NAMES_LATER = {
    name: f"tensorweb.{module}"
    for module, names in {
        "performance.tuning": "tune tune_async",
        "performance.warming": "warm_up warm_up_async",
        "reports.report": "Report inspect trace",
        "saving.files": "load load_async save",
        "transforms.checking": "check_grads",
        "transforms.checkpoint": "checkpoint",
        "transforms.eval_shape": "ShapeDtypeStruct eval_shape",
        "transforms.jacobians": "hessian jacfwd jacrev",
        "transforms.kernel": "Kernel kernel",
        "transforms.loops": ("associative_scan cond fori_loop scan switch while_loop"),
        "transforms.vmap": "vmap",
    }.items()
    for name in names.split()
}
"""Names whose modules are imported when a program first uses them, by module."""

if _typing.TYPE_CHECKING:
    from tensorweb import (
        autograd,
        data,
        distributions,
        fft,
        linalg,
        nn,
        numpy,
        optim,
        scipy,
        sparse,
    )
    from tensorweb.performance.tuning import tune, tune_async
    from tensorweb.performance.warming import warm_up, warm_up_async
    from tensorweb.reports.report import Report, inspect, trace
    from tensorweb.saving.files import load, load_async, save
    from tensorweb.transforms.checking import check_grads
    from tensorweb.transforms.checkpoint import checkpoint
    from tensorweb.transforms.eval_shape import ShapeDtypeStruct, eval_shape
    from tensorweb.transforms.jacobians import hessian, jacfwd, jacrev
    from tensorweb.transforms.kernel import Kernel, kernel
    from tensorweb.transforms.loops import (
        associative_scan,
        cond,
        fori_loop,
        scan,
        switch,
        while_loop,
    )
    from tensorweb.transforms.vmap import vmap
else:  # A type checker shall find names that are not there.

    class _CallableModule(_ModuleType):
        """The package `tensorweb.tensor`; calling it is `functions.tensor`."""

        __call__ = staticmethod(functions.tensor)

    tensor = _modules["tensorweb.tensor"]  # after the star, which has the function
    tensor.__class__ = _CallableModule

    def __getattr__(name: str) -> object:
        """Import a module on first use, or answer a foreign name with ours."""
        if name in _LATER:
            return _import_module(f"tensorweb.{name}")
        if name in _NAMES_LATER:
            value = getattr(_import_module(_NAMES_LATER[name]), name)
            return globals().setdefault(name, value)
        raise _unknown("tensorweb", name, __all__)

    def __dir__() -> list[str]:
        """Return the names there are, also those not imported yet."""
        return sorted({*globals(), *_LATER, *_NAMES_LATER})
