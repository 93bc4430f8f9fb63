"""Names of NumPy and PyTorch that tensorweb has not, and what it calls the same thing.

One table for the module and for tensors: `tw.concatenate` and `x.cumsum` are answered
from its rows. A value with a space or a parenthesis is advice, any other is our name.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping

from tensorweb.devices import fastest

_KEY = "key = tw.random.key(0)"
_SEED = f"no program has one seed here; write {_KEY} and draw with it"
_GRADIENTS = (
    "gradients are followed wherever a tensor has requires_grad=True, but not inside "
    "of `with tw.no_grad():`"
)

DTYPES = ("float16", "float32", "float64", "int32", "int64")

NAMES: dict[str, str] = {
    # NumPy's functions and methods
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "append": "concat",
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
    "array_equal": "write tw.all(a == b)",
    "array_split": "take slices with x[a:b], or tw.unstack(x)",
    "asanyarray": "asarray",
    "ascontiguousarray": "asarray",
    "atleast_1d": "write x.reshape(-1) for a number",
    "atleast_2d": "write x[None, :] for a vector",
    "average": "mean",
    "bitwise_not": "bitwise_invert",
    "bitwise_count": "tensorweb counts no bits",
    "choose": "where",
    "column_stack": "write tw.stack(columns, axis=1)",
    "concatenate": "concat",
    "convolve": "conv1d",
    "copy": "write tw.asarray(x, copy=True)",
    "copyto": "write x[...] = values",
    "cross": "write tw.linalg.cross(a, b)",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "deg2rad": "write x * (tw.pi / 180)",
    "degrees": "write x * (180 / tw.pi)",
    "delete": "take what stays with a mask, x[mask]",
    "diag": "write tw.eye(n) * x for a matrix, tw.linalg.diagonal(x) back",
    "diagonal": "write tw.linalg.diagonal(x)",
    "divmod": "write divmod(x, y)",
    "double": "float64",
    "dsplit": "take slices with x[a:b]",
    "dstack": "write tw.stack(parts, axis=2)",
    "fabs": "abs",
    "fill": "write x[...] = value",
    "flat": "write x.ravel()",
    "flatnonzero": "write tw.nonzero(x.ravel())[0]",
    "fliplr": "write tw.flip(x, axis=1)",
    "flipud": "write tw.flip(x, axis=0)",
    "float_power": "pow",
    "fmax": "maximum",
    "fmin": "minimum",
    "fmod": "remainder",
    "frombuffer": "asarray",
    "fromfunction": "write the function of tw.meshgrid(..., indexing='ij')",
    "fromiter": "write tw.asarray(list(items))",
    "geomspace": "write tw.exp(tw.linspace(a, b, n)) with logarithms",
    "gradient": "write (x[2:] - x[:-2]) / 2",
    "half": "float16",
    "histogram": "write tw.bincount(tw.searchsorted(edges, x))",
    "hsplit": "take slices with x[:, a:b]",
    "hstack": "write tw.concat(parts, axis=1), axis=0 for vectors",
    "identity": "eye",
    "indices": "meshgrid",
    "inner": "write tw.tensordot(a, b, axes=([-1], [-1]))",
    "insert": "join slices with tw.concat",
    "interp": "find positions with tw.searchsorted and mix neighbours",
    "intersect1d": "write a[tw.isin(a, b)]",
    "invert": "bitwise_invert",
    "in1d": "isin",
    "isclose": "write tw.abs(a - b) <= atol + rtol * tw.abs(b)",
    "allclose": "write tw.all(tw.abs(a - b) <= atol + rtol * tw.abs(b))",
    "isneginf": "write x == -tw.inf",
    "isposinf": "write x == tw.inf",
    "itemsize": "write x.dtype.itemsize",
    "kron": "write a[:, None, :, None] * b[None, :, None, :] and reshape",
    "left_shift": "bitwise_left_shift",
    "loadtxt": "write tw.asarray(numpy.loadtxt(file))",
    "logspace": "write 10 ** tw.linspace(a, b, n)",
    "long": "int64",
    "mat": "asarray",
    "median": "take the middle of tw.sort(x)",
    "mgrid": "meshgrid",
    "mod": "remainder",
    "msort": "sort",
    "nan_to_num": "write tw.where(tw.isnan(x), 0, x)",
    "nanmax": "write tw.max(tw.where(tw.isnan(x), -tw.inf, x))",
    "nanmean": "write tw.sum(tw.where(ok, x, 0)) / tw.sum(ok) with ok = ~tw.isnan(x)",
    "nanmin": "write tw.min(tw.where(tw.isnan(x), tw.inf, x))",
    "nansum": "write tw.sum(tw.where(tw.isnan(x), 0, x))",
    "ndarray": "Tensor",
    "ndim": "write x.ndim",
    "ogrid": "meshgrid",
    "percentile": "write tw.sort(x) and take the element",
    "permute": "permute_dims",
    "power": "pow",
    "product": "prod",
    "ptp": "write x.max() - x.min()",
    "put": "write x[i] = v",
    "putmask": "write x[mask] = v",
    "quantile": "write tw.sort(x) and take the element",
    "rad2deg": "write x * (180 / tw.pi)",
    "radians": "write x * (tw.pi / 180)",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "rot90": "write tw.flip(x.T, axis=0)",
    "row_stack": "write tw.concat(parts, axis=0)",
    "savetxt": "write numpy.savetxt(file, x.numpy())",
    "shape": "write x.shape",
    "single": "float32",
    "sinc": "write tw.sin(tw.pi * x) / (tw.pi * x)",
    "size": "write x.size",
    "sliding_window_view": "sliding_windows",
    "split": "take slices with x[a:b], or tw.unstack(x)",
    "tobytes": "write x.numpy().tobytes()",
    "tofile": "write x.numpy().tofile(file)",
    "trace": "write tw.linalg.trace(x)",
    "transpose": "permute_dims",
    "tri": "write tw.tril(tw.ones((n, n)))",
    "true_divide": "divide",
    "union1d": "write tw.unique_values(tw.concat([a, b]))",
    "unique": "unique_values",
    "vander": "write x[:, None] ** tw.arange(n)",
    "vdot": "vecdot",
    "vectorize": "map",
    "vsplit": "take slices with x[a:b]",
    "vstack": "write tw.concat(parts, axis=0), tw.stack(parts) for vectors",
    # PyTorch's
    "addmm": "write c + a @ b",
    "as_tensor": "asarray",
    "bmm": "matmul",
    "cat": "concat",
    "clamp": "clip",
    "clone": "copy",
    "cpu": "write x.to_device('cpu')",
    "cuda": f"write x.to_device({fastest()!r})",
    "dim": "write x.ndim",
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
    "narrow": "take a slice with x[a:b]",
    "ne": "not_equal",
    "neg": "negative",
    "new_zeros": "zeros_like",
    "norm": "write tw.linalg.vector_norm(x)",
    "numel": "write x.size",
    "rand": f"write {_KEY} and tw.random.uniform(key, shape)",
    "randint": f"write {_KEY} and tw.random.randint(key, shape, low, high)",
    "randn": f"write {_KEY} and tw.random.normal(key, shape)",
    "retain_grad": (
        "gradients are kept for leaves; for others write "
        "tw.grad(function)(x) of what comes behind them"
    ),
    "scatter_add": "write x.at[i].add(v)",
    "set_grad_enabled": _GRADIENTS,
    "softmax": "write tw.nn.softmax(x)",
    "seed": _SEED,
    "shuffle": f"write {_KEY} and tw.random.permutation(key, x)",
    "sub": "subtract",
    "t": "write x.T",
    "to": "write x.astype(dtype) or x.to_device(device)",
    "topk": "top_k",
    "type": "astype",
    "unfold": "sliding_windows",
    "unbind": "unstack",
    "unsqueeze": "expand_dims",
    "zero_grad": "write x.grad = None",
    "zero_": "write x[...] = 0",
    # PyTorch's methods that write, and what reads single elements
    "add_": "write x += y",
    "bfloat16": "the shortest floats are those of tw.float16",
    "chunk": "take slices with x[a:b], or tw.unstack(x)",
    "clamp_": "write x[...] = x.clip(low, high)",
    "copy_": "write x[...] = values",
    "data": (
        "write x.detach() for its value, and x[...] = v inside of `with tw.no_grad():`"
    ),
    "div": "divide",
    "div_": "write x /= y",
    "element_size": "write x.dtype.itemsize",
    "expand_as": "write tw.broadcast_to(x, y.shape)",
    "fill_": "write x[...] = value",
    "gather": "write tw.take_along_axis(x, indices, axis)",
    "grad_fn": "write x.requires_grad: what a result was made of is not shown",
    "index_add": "write x.at[i].add(v)",
    "index_select": "write tw.take(x, indices, axis)",
    "is_cuda": "write x.device",
    "logsumexp": "write tw.nn.logsumexp(x)",
    "masked_select": "write x[mask]",
    "movedim": "moveaxis",
    "mul_": "write x *= y",
    "new_ones": "ones_like",
    "new_tensor": "asarray",
    "normal_": f"write {_KEY} and x[...] = tw.random.normal(key, x.shape)",
    "pow_": "write x **= y",
    "register_hook": "give the function its derivative with tw.custom_vjp",
    "repeat_interleave": "repeat",
    "reshape_as": "write x.reshape(y.shape)",
    "scatter": "write x.at[i].set(v)",
    "scatter_": "write x[i] = v",
    "sub_": "write x -= y",
    "type_as": "write x.astype(y.dtype)",
    "uniform_": f"write {_KEY} and x[...] = tw.random.uniform(key, x.shape)",
    "view_as": "write x.reshape(y.shape)",
    # PyTorch's and JAX's modules and functions
    "FloatTensor": "asarray",
    "Generator": f"write {_KEY}, and tw.random.split(key) for more of them",
    "LongTensor": "asarray",
    "amp": "write x.astype(tw.float16) where half precision is enough",
    "autograd": "write tw.grad(f)(x), tw.vjp or loss.backward()",
    "block_until_ready": "write x.realize(), or tw.synchronize()",
    "cdist": "write tw.linalg.vector_norm(a[:, None] - b[None], axis=-1)",
    "compile": "jit",
    "device_put": "write x.to_device(device)",
    "distributions": (
        "draw with tw.random (normal, categorical, ...) and write log densities out"
    ),
    "eval_shape": "write f(x).shape: nothing is computed before it is read",
    "func": "write tw.grad, tw.vmap, tw.jacrev: they are here",
    "is_tensor": "write isinstance(x, tw.Tensor)",
    "lax": (
        "write Python's for and if, which work in functions that are differentiated, "
        "and tw.where for a choice under jit"
    ),
    "lr_scheduler": "schedules are functions, given as lr=: tw.optim.cosine(0.1, 100)",
    "make_jaxpr": "write print(tw.explain(f(x))), which tells the kernels",
    "multinomial": f"write {_KEY} and tw.random.categorical(key, tw.log(p))",
    "rand_like": f"write {_KEY} and tw.random.uniform(key, x.shape)",
    "randn_like": f"write {_KEY} and tw.random.normal(key, x.shape)",
    "randperm": f"write {_KEY} and tw.random.permutation(key, n)",
    "special": "some of its functions are in tw and tw.nn: tw.erf, tw.nn.logsumexp",
    "tree_map": "write tw.tree.map",
    "tree_util": "write tw.tree.map, tw.tree.flatten",
    "utils": "batches are slices: x[order[i : i + n]], order = tw.random.permutation",
}


def unknown(
    module: str, name: str, names: Collection[str], rows: Mapping[str, str] = NAMES
) -> AttributeError:
    """Return the error for a name that a module has not, with what to write instead.

    `rows` are answers of the module's own.
    """
    text = f"module {module!r} has no attribute {name!r}"
    found = None if name.startswith("__") else advice(name, names, rows=rows)
    if found is not None:
        text += f"; {found}."
    return AttributeError(text, name=name, obj=sys.modules[module])


def advice(
    name: str,
    functions: Collection[str],
    methods: Collection[str] | None = None,
    rows: Mapping[str, str] = NAMES,
) -> str | None:
    """Return what to write for a foreign name, None where nothing is known.

    `functions` are the names of the module; `methods` those of a tensor, where one was
    asked.
    """
    found = rows.get(name)
    if found is None:
        if methods is not None and name in functions:
            return f"it is a function: tw.{name}(x, ...)"
        return None
    if not found.isidentifier():
        return found
    if methods is None:
        is_here = found in functions
        return f"tensorweb calls it {found if is_here else 'x.' + found}"
    if found in DTYPES:
        return f"write x.astype(tw.{found})"
    return f"tensorweb calls it {found if found in methods else 'tw.' + found}"
