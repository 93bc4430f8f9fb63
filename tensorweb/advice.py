"""What to write for names of NumPy and PyTorch that are called otherwise here.

`tw.concatenate`, `x.masked_fill`, `tw.nn.mse_loss`, `model.eval` and `np.matrix` are
answered from one table. An entry is the name to use, with `np.` if it is one of
`tensorweb.numpy`, or a sentence whose code stands in backticks. The tests resolve every
name and run all code.
"""

from __future__ import annotations

import sys
from collections.abc import Collection

from tensorweb.devices import fastest

_KEY = "`key = tw.random.key(0)`"
_SEED = f"no program has one seed here; write {_KEY} and draw with it"
_GRADIENTS = (
    "gradients are followed wherever a tensor has requires_grad=True, but not inside "
    "of `with tw.no_grad():`"
)
_SLICES = "take slices with `x[start:end]`, or `tw.unstack(x)`"

_TENSORWEB: dict[str, str] = {
    # NumPy's functions and methods
    "absolute": "abs",
    "allclose": "np.allclose",
    "amax": "max",
    "amin": "min",
    "append": "np.append",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "argwhere": "nonzero",
    "around": "round",
    "array": "asarray",
    "array_equal": "np.array_equal",
    "array_split": "np.array_split",
    "asanyarray": "asarray",
    "ascontiguousarray": "asarray",
    "atleast_1d": "np.atleast_1d",
    "atleast_2d": "np.atleast_2d",
    "average": "np.average",
    "bitwise_count": "np.bitwise_count",
    "bitwise_not": "bitwise_invert",
    "choose": "np.choose",
    "column_stack": "write `tw.stack(columns, axis=1)`",
    "concatenate": "concat",
    "convolve": "np.convolve",
    "copy": "write `tw.asarray(x, copy=True)`",
    "copyto": "write `x[...] = values`",
    "cross": "write `tw.linalg.cross(p, q)`",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "deg2rad": "np.deg2rad",
    "degrees": "np.degrees",
    "delete": "np.delete",
    "diag": "np.diag",
    "diagonal": "write `tw.linalg.diagonal(x)`",
    "divmod": "write `divmod(x, y)`",
    "double": "float64",
    "dsplit": "np.dsplit",
    "dstack": "write `tw.stack(parts, axis=2)`",
    "fabs": "abs",
    "fill": "write `x[...] = value`",
    "flat": "write `x.ravel()`",
    "flatnonzero": "np.flatnonzero",
    "fliplr": "write `tw.flip(x, axis=1)`",
    "flipud": "write `tw.flip(x, axis=0)`",
    "float_power": "np.float_power",
    "fmax": "np.fmax",
    "fmin": "np.fmin",
    "fmod": "np.fmod",
    "frombuffer": "np.frombuffer",
    "fromfunction": "np.fromfunction",
    "fromiter": "np.fromiter",
    "geomspace": "np.geomspace",
    "gradient": "np.gradient",
    "half": "float16",
    "histogram": "np.histogram",
    "hsplit": "np.hsplit",
    "hstack": "write `tw.concat(parts, axis=1)`, axis=0 for vectors",
    "identity": "eye",
    "in1d": "isin",
    "indices": "np.indices",
    "inner": "np.inner",
    "insert": "np.insert",
    "interp": "np.interp",
    "intersect1d": "np.intersect1d",
    "invert": "bitwise_invert",
    "isclose": "np.isclose",
    "isneginf": "write `x == -tw.inf`",
    "isposinf": "write `x == tw.inf`",
    "itemsize": "write `x.dtype.itemsize`",
    "kron": "np.kron",
    "left_shift": "bitwise_left_shift",
    "loadtxt": "np.loadtxt",
    "logspace": "np.logspace",
    "long": "int64",
    "mat": "asarray",
    "median": "np.median",
    "mgrid": "np.mgrid",
    "mod": "remainder",
    "msort": "sort",
    "nan_to_num": "np.nan_to_num",
    "nanmax": "np.nanmax",
    "nanmean": "np.nanmean",
    "nanmin": "np.nanmin",
    "nansum": "np.nansum",
    "ndarray": "Tensor",
    "ndim": "write `x.ndim`",
    "ogrid": "np.ogrid",
    "percentile": "np.percentile",
    "permute": "permute_dims",
    "power": "pow",
    "product": "prod",
    "ptp": "write `x.max() - x.min()`",
    "put": "write `x[i] = v`",
    "putmask": "write `x[mask] = 0`",
    "quantile": "np.quantile",
    "rad2deg": "np.rad2deg",
    "radians": "np.radians",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "rot90": "np.rot90",
    "row_stack": "write `tw.concat(parts, axis=0)`",
    "savetxt": "np.savetxt",
    "shape": "write `x.shape`",
    "sinc": "np.sinc",
    "single": "float32",
    "size": "write `x.size`",
    "sliding_window_view": "sliding_windows",
    "split": "np.split",
    "tobytes": "write `x.numpy().tobytes()`",
    "tofile": "write `x.numpy().tofile(file)`",
    "trace": "write `tw.linalg.trace(x)`",
    "transpose": "permute_dims",
    "tri": "np.tri",
    "true_divide": "divide",
    "union1d": "np.union1d",
    "unique": "unique_values",
    "vander": "np.vander",
    "vdot": "np.vdot",
    "vectorize": "np.vectorize",
    "vsplit": "np.vsplit",
    "vstack": "write `tw.concat(parts, axis=0)`, `tw.stack(parts)` for vectors",
    # PyTorch's
    "addmm": "write `c + a @ b`",
    "as_tensor": "asarray",
    "bmm": "matmul",
    "cat": "concat",
    "clamp": "clip",
    "clone": "copy",
    "cpu": "write `x.to_device('cpu')`",
    "cuda": f"write `x.to_device({fastest()!r})`",
    "dim": "write `x.ndim`",
    "enable_grad": _GRADIENTS,
    "eq": "equal",
    "float": "float32",
    "from_numpy": "asarray",
    "ge": "greater_equal",
    "gt": "greater",
    "inference_mode": "no_grad",
    "int": "int32",
    "le": "less_equal",
    "lt": "less",
    "manual_seed": _SEED,
    "masked_fill": "where",
    "mm": "matmul",
    "mul": "multiply",
    "mv": "matmul",
    "narrow": "take a slice with `x[start:end]`",
    "ne": "not_equal",
    "neg": "negative",
    "new_zeros": "zeros_like",
    "norm": "write `tw.linalg.vector_norm(x)`",
    "numel": "write `x.size`",
    "rand": f"write {_KEY} and `tw.random.uniform(key, shape)`",
    "randint": f"write {_KEY} and `tw.random.randint(key, shape, low, high)`",
    "randn": f"write {_KEY} and `tw.random.normal(key, shape)`",
    "retain_grad": (
        "gradients are stored for leaves; for the gradient with respect to another "
        "value write `tw.grad(function)(x)` of the computation that follows it"
    ),
    "scatter_add": "write `x.at[i].add(v)`",
    "seed": _SEED,
    "set_grad_enabled": _GRADIENTS,
    "shuffle": f"write {_KEY} and `tw.random.permutation(key, x)`",
    "softmax": "write `tw.nn.softmax(x)`",
    "sub": "subtract",
    "t": "write `x.T`",
    "to": "write `x.astype(dtype)` or `x.to_device(device)`",
    "topk": "top_k",
    "type": "astype",
    "unbind": "unstack",
    "unfold": "sliding_windows",
    "unsqueeze": "expand_dims",
    "zero_": "write `x[...] = 0`",
    "zero_grad": "write `x.grad = None`",
    # PyTorch's methods that write, and methods that read single elements
    "add_": "write `x += y`",
    "bfloat16": "the shortest floats are those of `tw.float16`",
    "chunk": _SLICES,
    "clamp_": "write `x[...] = x.clip(low, high)`",
    "copy_": "write `x[...] = values`",
    "data": (
        "write `x.detach()` for its value, and `x[...] = values` inside of "
        "`with tw.no_grad():`"
    ),
    "div": "divide",
    "div_": "write `x /= y`",
    "element_size": "write `x.dtype.itemsize`",
    "expand_as": "write `tw.broadcast_to(x, y.shape)`",
    "fill_": "write `x[...] = value`",
    "gather": "write `tw.take_along_axis(x, indices, axis)`",
    "grad_fn": "write `x.requires_grad`: the graph of a result is not shown",
    "index_add": "write `x.at[i].add(v)`",
    "index_select": "write `tw.take(x, i, axis)`",
    "is_cuda": "write `x.device`",
    "logsumexp": "write `tw.nn.logsumexp(x)`",
    "masked_select": "write `x[mask]`",
    "movedim": "moveaxis",
    "mul_": "write `x *= y`",
    "new_ones": "ones_like",
    "new_tensor": "asarray",
    "normal_": f"write {_KEY} and `x[...] = tw.random.normal(key, x.shape)`",
    "pow_": "write `x **= y`",
    "register_hook": "give the function its derivative with `tw.custom_vjp`",
    "repeat_interleave": "repeat",
    "reshape_as": "write `x.reshape(y.shape)`",
    "scatter": "write `x.at[i].set(v)`",
    "scatter_": "write `x[i] = v`",
    "sub_": "write `x -= y`",
    "type_as": "write `x.astype(y.dtype)`",
    "uniform_": f"write {_KEY} and `x[...] = tw.random.uniform(key, x.shape)`",
    "view_as": "write `x.reshape(y.shape)`",
    # PyTorch's and JAX's modules and functions
    "FloatTensor": "asarray",
    "Generator": f"write {_KEY}, and `tw.random.split(key)` for more of them",
    "LongTensor": "asarray",
    "amp": "write `x.astype(tw.float16)` where half precision is enough",
    "autograd": "write `tw.grad(f)(x)`, `tw.vjp` or `loss.backward()`",
    "block_until_ready": "write `x.realize()`, or `tw.synchronize()`",
    "cdist": "write `tw.linalg.vector_norm(a[:, None] - b[None], axis=-1)`",
    "compile": "jit",
    "device_put": "write `x.to_device(device)`",
    "distributions": (
        "draw with tw.random (`tw.random.normal`, `tw.random.categorical`, ...) and "
        "write log densities out"
    ),
    "eval_shape": "write `f(x).shape`: nothing is computed before it is read",
    "func": "write `tw.grad`, `tw.vmap`, `tw.jacrev`: they are here",
    "is_tensor": "write `isinstance(x, tw.Tensor)`",
    "lax": (
        "write Python's for and if, which work in functions that are differentiated, "
        "and `tw.where` for a choice under jit"
    ),
    "lr_scheduler": (
        "schedules are functions, given as lr=: `tw.optim.cosine(0.1, 100)`"
    ),
    "make_jaxpr": "write `print(tw.explain(f(x)))`, which shows the kernels",
    "multinomial": f"write {_KEY} and `tw.random.categorical(key, tw.log(p))`",
    "rand_like": f"write {_KEY} and `tw.random.uniform(key, x.shape)`",
    "randn_like": f"write {_KEY} and `tw.random.normal(key, x.shape)`",
    "randperm": f"write {_KEY} and `tw.random.permutation(key, n)`",
    "special": "some of its functions are in tw and tw.nn: `tw.erf`, `tw.nn.logsumexp`",
    "tree_map": "write `tw.tree.map`",
    "tree_util": "write `tw.tree.map`, `tw.tree.flatten`",
    "utils": (
        "batches are slices: `x[order[start:end]]`, where order is made by "
        "`tw.random.permutation`"
    ),
}

_LIST = "write a plain list or dict: modules look into both"
_BLOCKS = (
    "write a Module of `tw.nn.MultiheadAttention`, `tw.nn.LayerNorm` and `tw.nn.Linear`"
)
_PADDING = "write `tw.pad(x, widths)`, or padding= and padding_mode= of the convolution"
_VOLUMES = "there are windows of one and two axes"
_NEAREST = "write `x.repeat(2, axis=-1).repeat(2, axis=-2)` for nearest neighbours"

_NN: dict[str, str] = {
    "AvgPool3d": _VOLUMES,
    "Buffer": "write `self.register_buffer(name, tensor)`",
    "Conv3d": _VOLUMES,
    "ConvTranspose3d": _VOLUMES,
    "DataParallel": "there is one device",
    "EmbeddingBag": "write `tw.nn.Embedding(n, d)(i).mean(axis=-2)`",
    "Fold": "write `tw.fold`",
    "MaxPool3d": _VOLUMES,
    "ModuleDict": _LIST,
    "ModuleList": _LIST,
    "Parameter": (
        "write `self.name = tensor`: tensors of floats are parameters, those of "
        "register_buffer are not"
    ),
    "ParameterDict": _LIST,
    "ParameterList": _LIST,
    "PixelShuffle": (
        "write `image.reshape(n, channels, r, r, height, width)` and permute its axes"
    ),
    "ReflectionPad1d": _PADDING,
    "ReflectionPad2d": _PADDING,
    "ReplicationPad1d": _PADDING,
    "ReplicationPad2d": _PADDING,
    "Softmax2d": "write `tw.nn.Softmax(dim=-3)`",
    "SyncBatchNorm": "BatchNorm",
    "Transformer": _BLOCKS,
    "TransformerDecoder": _BLOCKS,
    "TransformerDecoderLayer": _BLOCKS,
    "TransformerEncoder": _BLOCKS,
    "TransformerEncoderLayer": _BLOCKS,
    "TripletMarginLoss": (
        "write `tw.nn.relu(distance(a, b) - distance(a, c) + margin).mean()`"
    ),
    "Unfold": "write `tw.sliding_windows`",
    "Upsample": _NEAREST,
    "ZeroPad1d": _PADDING,
    "ZeroPad2d": _PADDING,
    "cross_entropy_loss": "cross_entropy",
    "functional": "its functions are here: `tw.nn.relu`, `tw.nn.cross_entropy`",
    "gaussian_nll_loss": "gaussian_nll",
    "gumbel_softmax": (
        "write `tw.nn.softmax((logits + tw.random.gumbel(key, logits.shape)) / t)`"
    ),
    "hard_sigmoid": "hardsigmoid",
    "hard_swish": "hardswish",
    "huber_loss": "huber",
    "interpolate": _NEAREST,
    "l1_loss": "l1",
    "mse_loss": "mse",
    "nll_loss": "nll",
    "pad": "write `tw.pad(x, widths)`",
    "poisson_nll_loss": "poisson_nll",
    "scaled_dot_product_attention": "attention",
    "smooth_l1_loss": "smooth_l1",
    "swish": "silu",
    "train": "there is no mode; pass train=True, or key= to Dropout, with the call",
    "utils": (
        "gradients are clipped by `tw.optim.clip_by_global_norm(gradients, limit)`"
    ),
}

_MODULE: dict[str, str] = {
    "add_module": "write `setattr(model, name, module)`",
    "apply": "write `tw.tree.map(function, model)`, which returns another model",
    "cpu": 'write `model.to("cpu")`',
    "cuda": (
        f"write `model.to({fastest()!r})`, or call `tw.set_default_device` at first"
    ),
    "double": 'write `model.to("cpu", tw.float64)`',
    "eval": "modules have no mode: without train=True and key= a call evaluates",
    "half": "write `model.to(dtype=tw.float16)`",
    "register_forward_hook": "there are no hooks; print in forward, it works anywhere",
    "register_parameter": "write `setattr(model, name, tensor)`",
    "train": "modules have no mode: pass train=True to the call, or key= to Dropout",
    "zero_grad": (
        "write `opt.zero_grad()`, or `p.grad = None` for each of parameters()"
    ),
}

_STRUCTURED = "tensors have no fields; store each field in a tensor of its own"
_TEXT = "tensors hold numbers and no text; use lists of Python's strings"
_DATES = "tensors hold no dates; count days or seconds in integers"
_LONG = "no device computes with it; use `np.float64`, or `np.complex128`"
_MATRIX = "tensors of two axes and `@` are matrices; use `np.array`"
_ORDER = "elements lie in row-major order; leave it out"
_CALLBACK = "devices report no floating point errors; look with `np.isfinite`"
_BUFFERS = "there are no buffers to set; leave it out"
_NUMPYS_OWN = "it belongs to NumPy's package itself; import numpy for it"
_CODES = "it deals with NumPy's codes of dtypes; use `np.dtype` and `np.result_type`"
_FORMAT = "use Python's format and f-strings for a number"
_FILES = "split the text with Python's re, and make an array of lists"
_MASKED = "there are no masked arrays; use NaN and `np.nanmean`, or where="
_OBJECTS = "tensors hold numbers and no objects; use `np.vectorize` for functions"

_NUMPY: dict[str, str] = {
    "ScalarType": _CODES,
    "asfortranarray": _ORDER,
    "asmatrix": _MATRIX,
    "bmat": "write `np.block([[a, b]])`",
    "busday_count": _DATES,
    "busday_offset": _DATES,
    "busdaycalendar": _DATES,
    "bytes_": _TEXT,
    "char": _TEXT,
    "character": _TEXT,
    "clongdouble": _LONG,
    "complex256": _LONG,
    "core": _NUMPYS_OWN,
    "ctypeslib": _NUMPYS_OWN,
    "datetime64": _DATES,
    "datetime_as_string": _DATES,
    "datetime_data": _DATES,
    "dtypes": _NUMPYS_OWN,
    "exceptions": "errors are those of `tw.errors`",
    "f2py": _NUMPYS_OWN,
    "flatiter": "`x.flat` is one",
    "flexible": _STRUCTURED,
    "float128": _LONG,
    "format_float_positional": _FORMAT,
    "format_float_scientific": _FORMAT,
    "frompyfunc": _OBJECTS,
    "fromregex": _FILES,
    "get_include": _NUMPYS_OWN,
    "getbufsize": _BUFFERS,
    "geterrcall": _CALLBACK,
    "is_busday": _DATES,
    "isfortran": _ORDER,
    "isnat": _DATES,
    "little_endian": "write `sys.byteorder == 'little'`",
    "longdouble": _LONG,
    "ma": _MASKED,
    "matrix": _MATRIX,
    "memmap": "tensors lie in a device's memory; use `np.fromiter` or `np.frombuffer`",
    "nested_iters": "use loops of `np.ndindex`",
    "object_": _OBJECTS,
    "polynomial": "use `np.polyfit`, `np.polyval` and `np.poly1d`",
    "rec": _STRUCTURED,
    "recarray": _STRUCTURED,
    "record": _STRUCTURED,
    "row_stack": "write `np.vstack(parts)`, as NumPy 2 advises",
    "sctypeDict": _CODES,
    "setbufsize": _BUFFERS,
    "seterrcall": _CALLBACK,
    "show_runtime": "`np.show_config()` names the device that computes",
    "str_": _TEXT,
    "strings": _TEXT,
    "test": _NUMPYS_OWN,
    "timedelta64": _DATES,
    "typename": _CODES,
    "typing": "annotate tensors as `tw.Tensor`, and data for them as `object`",
    "void": _STRUCTURED,
}

ADVICE: dict[str, dict[str, str]] = {
    "tensorweb": _TENSORWEB,
    "tensorweb.nn": _NN,
    "tensorweb.nn.Module": _MODULE,
    "tensorweb.numpy": _NUMPY,
    "tensorweb.numpy.random": {},
}
"""By the module or class that is asked; other modules answer as `tensorweb` does."""

DTYPES = ("float16", "float32", "float64", "int32", "int64")


def unknown(module: str, name: str, names: Collection[str]) -> AttributeError:
    """Return the error for a name that a module lacks, with what to write instead.

    `names` are those of the module.
    """
    text = f"module {module!r} has no attribute {name!r}"
    found = None if name.startswith("__") else _module_advice(module, name, names)
    if found is not None:
        text += f"; {found}."
    return AttributeError(text, name=name, obj=sys.modules[module])


def _module_advice(module: str, name: str, names: Collection[str]) -> str | None:
    found = ADVICE.get(module, _TENSORWEB).get(name)
    if found is None or not found.isidentifier():
        return _sentence(found)
    if found in names:
        return f"tensorweb calls it {found}"
    functions = sys.modules["tensorweb"].__all__
    return f"tensorweb calls it {'tw' if found in functions else 'x'}.{found}"


def method_advice(
    name: str, functions: Collection[str], methods: Collection[str]
) -> str | None:
    """Return what to write for a name that tensors lack, None if nothing is known.

    `functions` are those of `tw`, `methods` the names that tensors have.
    """
    found = _TENSORWEB.get(name)
    if found is None and name in functions:
        return f"it is a function: tw.{name}(x, ...)"
    if found is None or not found.isidentifier():
        return _sentence(found)
    if found in DTYPES:
        return f"write x.astype(tw.{found})"
    return f"tensorweb calls it {found if found in methods else 'tw.' + found}"


def module_method_advice(name: str) -> str | None:
    """Return what to write for a method of PyTorch's that `nn.Module` lacks."""
    return _sentence(_MODULE.get(name))


def _sentence(entry: str | None) -> str | None:
    """Return an entry that is no plain name as it stands in a message."""
    if entry is not None and entry.startswith("np."):
        return f"write {entry}, with import tensorweb.numpy as np"
    return None if entry is None else entry.replace("`", "")
