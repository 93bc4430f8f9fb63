"""What to write for names of NumPy and PyTorch that are different here.

`tw.concatenate`, `x.masked_fill`, `tw.nn.mse_loss`, `model.double` and `np.matrix` are
answered from one table, and so are keywords as in `tw.jit(f, static_argnums=0)`. An
entry is the name to use, with `np.` if it is one of `tensorweb.numpy`, or a sentence
whose code stands in backticks. The tests resolve every name and run all code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection
from inspect import signature

from tensorweb.devices import fastest


def _entries(*groups: tuple[str, str]) -> dict[str, str]:
    """Return a table from entries, each with the names that share it."""
    return {name: entry for entry, names in groups for name in names.split()}


_KEY = "`key = tw.random.key(0)`"
_SEED = f"no program has one seed here; write {_KEY} and draw with it"
_GRADIENTS = (
    "gradients are followed wherever a tensor has requires_grad=True, but not inside "
    "of `with tw.no_grad():`"
)
_IN_PLACE = "write the function without `_`, and `x[...] = values` with its result"

_NUMPY_FUNCTIONS = """
    allclose angle append array_equal array_split atleast_1d atleast_2d average
    bitwise_count choose convolve corrcoef cov deg2rad degrees delete diag digitize
    dsplit flatnonzero float_power fmax fmin fmod frombuffer fromfunction fromiter
    geomspace gradient heaviside histogram hsplit inner insert interp intersect1d
    isclose kron loadtxt logspace median mgrid nan_to_num nanmax nanmean nanmedian
    nanmin nanquantile nansum ogrid percentile quantile rad2deg radians rot90 savetxt
    set_printoptions sinc trapezoid tri tril_indices triu_indices union1d vander vdot
    vectorize vsplit
"""
"""Names of `tensorweb.numpy` that `tw` and tensors do not have."""

_OF_MATRICES = "cholesky lu qr eig slogdet"
"""Names of `tensorweb.linalg` that PyTorch has elsewhere too."""

_TENSORWEB: dict[str, str] = {
    **{name: f"np.{name}" for name in _NUMPY_FUNCTIONS.split()},
    **_entries(
        ("abs", "absolute fabs"),
        ("round", "around rint"),
        (
            "asarray",
            "array asanyarray ascontiguousarray mat as_tensor from_numpy "
            "new_tensor FloatTensor LongTensor",
        ),
        ("bitwise_invert", "bitwise_not invert"),
        ("concat", "concatenate cat"),
        ("write `x[...] = values`", "copyto"),
        ("write `x[...] = value`", "fill"),
        ("write `x.dtype.itemsize`", "itemsize element_size"),
        ("write `x.ndim`", "ndim"),
        ("permute_dims", "permute transpose"),
        ("write `x[i] = v`", "put"),
        ("float32", "single float"),
        ("write `x.size`", "size numel"),
        (
            _IN_PLACE,
            "abs_ ceil_ clip_ exp_ floor_ log_ neg_ reciprocal_ relu_ round_ rsqrt_ "
            "sigmoid_ sqrt_ square_ tanh_ tril_ triu_ cos_ erf_ sign_ sin_ tan_ trunc_",
        ),
        ("write `x = x[None]`, or another view", "unsqueeze_ squeeze_ transpose_ t_"),
        ("sliding_windows", "sliding_window_view unfold"),
        ("divide", "true_divide"),
        ("write `x / y`, `x // y` or `x.div(y, rounding_mode='trunc')`", "div"),
        ("matmul", "bmm mm mv"),
        (_GRADIENTS, "enable_grad set_grad_enabled"),
        (_SEED, "manual_seed seed"),
        ("write `x.at[i].add(v)`", "scatter_add index_add"),
        ("write `x[...] = x.at[i].add(v)`", "scatter_add_ index_add_"),
        ("write `p, l, u = tw.linalg.lu(x)`, or solve at once", "lu_factor lu_solve"),
        ("take columns of `tw.linalg.svd(x)`", "null_space orth polar"),
        ("write `tw.linalg.toeplitz(i, i)`", "circulant hankel"),
        ("write `tw.linalg.solve(a, b)`", "solve_banded solveh_banded solve_circulant"),
        ("write `tw.linalg.eig(x)`", "schur hessenberg logm funm"),
        ("write `1 / (i[:, None] + i + 1)`", "hilbert"),
        *((f"write `tw.linalg.{name}(x)`", name) for name in _OF_MATRICES.split()),
        *(
            (f"write `tw.scipy.special.{name}(x)`", name)
            for name in ("digamma", "erfc")
        ),
        ("write `x.clip(0, None)`, or `x.clip(None, 1)`", "clamp_min clamp_max"),
        ("write `np.maximum.accumulate(x)`, and of minimum", "cummax cummin"),
        ("write `x.std(0), x.mean(0)`", "std_mean var_mean"),
        ("write `x[i] = v`", "put_ index_put_ index_put index_copy_ index_fill_"),
        ("write `tw.linalg.solve_triangular(a, b, lower=True)`", "triangular_solve"),
        ("leave it out: there is nothing to choose", "backends get_default_dtype"),
    ),
    "addmv": "write `c + a @ b`",
    "aminmax": "write `x.min(), x.max()`",
    "broadcast_tensors": "broadcast_arrays",
    "bucketize": "np.digitize",
    "chain_matmul": "write `a @ b @ c`",
    "cholesky_solve": "write `tw.linalg.cho_solve((a, True), b)`",
    "complex": "write `x + 1j * y`",
    "dist": "write `tw.linalg.vector_norm(x - y)`",
    "frac": "write `x - tw.trunc(x)`",
    "ger": "outer",
    "get_device": "write `x.device`",
    "histc": "np.histogram",
    "is_complex": "write `x.dtype.kind == 'complex'`",
    "kthvalue": "write `tw.sort(x)[..., 0]`",
    "lgamma": "write `tw.scipy.special.gammaln(x)`",
    "logdet": "write `tw.linalg.slogdet(x)[1]`",
    "mode": "write `np.unique(x, return_counts=True)`",
    "ndimension": "write `x.ndim`",
    "polygamma": "write `tw.scipy.special.polygamma(n, x)`",
    "symeig": "write `tw.linalg.eigh(x)`",
    "take_along_dim": "take_along_axis",
    "trapz": "np.trapezoid",
    "view_as_complex": "write `x[..., 0] + 1j * x[..., 1]`",
    "view_as_real": "write `tw.stack([x.real, x.imag], axis=-1)`",
    "amax": "write `x.max(axis=0)`",
    "amin": "write `x.min(axis=0)`",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "argwhere": "nonzero",
    "column_stack": "write `tw.stack(columns, axis=1)`",
    "copy": "write `tw.asarray(x, copy=True)`",
    "cross": "write `tw.linalg.cross(p, q)`",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "diagonal": "write `tw.linalg.diagonal(x)`",
    "divmod": "write `divmod(x, y)`",
    "double": "float64",
    "dstack": "write `tw.stack(parts, axis=2)`",
    "flat": "write `x.ravel()`",
    "fliplr": "write `tw.flip(x, axis=1)`",
    "flipud": "write `tw.flip(x, axis=0)`",
    "half": "float16",
    "hstack": "write `tw.concat(parts, axis=1)`, axis=0 for vectors",
    "identity": "eye",
    "in1d": "isin",
    "indices": "write `x.max(dim=0).indices`, or `np.indices(shape)`",
    "values": "write `x.max(dim=0).values`; `x.max(0)` is these alone, as in NumPy",
    "isneginf": "write `x == -tw.inf`",
    "isposinf": "write `x == tw.inf`",
    "left_shift": "bitwise_left_shift",
    "long": "write `tw.int32`, or `tw.int64` where the device has it",
    "mod": "remainder",
    "msort": "sort",
    "ndarray": "Tensor",
    "power": "pow",
    "product": "prod",
    "ptp": "write `x.max() - x.min()`",
    "putmask": "write `x[mask] = 0`",
    "right_shift": "bitwise_right_shift",
    "row_stack": "write `tw.concat(parts, axis=0)`",
    "shape": "write `x.shape`",
    "tobytes": "write `x.numpy().tobytes()`",
    "tofile": "write `x.numpy().tofile(file)`",
    "unique": "unique_values",
    "vstack": "write `tw.concat(parts, axis=0)`, `tw.stack(parts)` for vectors",
    "addmm": "write `c + a @ b`",
    "clamp": "clip",
    "clone": "copy",
    "cuda": (
        f"write `x.to({fastest()!r})`, and `tw.default_device()` for the device "
        "that new tensors are on"
    ),
    "eq": "equal",
    "ge": "greater_equal",
    "gt": "greater",
    "inference_mode": "no_grad",
    "int": "int32",
    "le": "less_equal",
    "lt": "less",
    "masked_fill": "write `x.masked_fill(mask, value)`",
    "masked_fill_": "write `x[mask] = value`",
    "masked_scatter_": "write `x[mask] = y[mask]`",
    "addcdiv": "write `x + value * a / b`",
    "addcdiv_": "write `x += value * a / b`",
    "addcmul": "write `x + value * a * b`",
    "addcmul_": "write `x += value * a * b`",
    "addmm_": "write `x += a @ b`",
    "baddbmm": "write `c + a @ b`",
    "bernoulli": f"write {_KEY} and `tw.random.bernoulli(key, 0.5, shape)`",
    "det": "write `tw.linalg.det(x)`",
    "inverse": "write `tw.linalg.inv(x)`",
    "lerp": "write `x + (y - x) * t`",
    "lerp_": "write `x += (y - x) * t`",
    "log_softmax": "write `x.log_softmax(0)`",
    "new_empty": "empty_like",
    "new_full": "full_like",
    "normal": f"write {_KEY} and `tw.random.normal(key, shape)`",
    "pinverse": "write `tw.linalg.pinv(x)`",
    "random_": (
        f"write {_KEY} and `x[...] = tw.random.randint(key, x.shape, low, high)`"
    ),
    "set_default_dtype": "floats are float32; give `tw.ones(3, dtype=tw.float64)`",
    "svd": "write `tw.linalg.svd(x, full_matrices=False)`, whose last result is V.mT",
    "swapdims": "swapaxes",
    "mul": "multiply",
    "narrow": "take a slice with `x[start:end]`",
    "ne": "not_equal",
    "neg": "negative",
    "new_zeros": "zeros_like",
    "norm": "write `x.norm()`, or `tw.linalg.vector_norm(x)`",
    "rand": f"write {_KEY} and `tw.random.uniform(key, shape)`",
    "randint": f"write {_KEY} and `tw.random.randint(key, shape, low, high)`",
    "randn": f"write {_KEY} and `tw.random.normal(key, shape)`",
    "shuffle": f"write {_KEY} and `tw.random.permutation(key, x)`",
    "softmax": "write `x.softmax(0)`",
    "sub": "subtract",
    "t": "write `x.T`",
    "topk": "top_k",
    "unbind": "unstack",
    "unsqueeze": "expand_dims",
    "zero_grad": "write `x.grad = None`",
    "chunk": "write `x.chunk(2)`",
    "split": "write `x.split(2)` for parts of length 2, `np.split(x, 2)` for 2 parts",
    "split_with_sizes": "write `x.split([1, 1])`",
    "tensor_split": "write `np.array_split(x, 2)`",
    "gather": "write `x.gather(axis, indices)`",
    "grad_fn": "write `x.requires_grad`: the graph of a result is not shown",
    "index_select": "write `x.index_select(axis, i)`",
    "is_cuda": "write `x.device`",
    "logsumexp": "write `x.logsumexp(0)`",
    "masked_select": "write `x[mask]`",
    "movedim": "moveaxis",
    "new_ones": "ones_like",
    "normal_": "write `tw.nn.init.normal_(x)`",
    "pow_": "write `x **= y`",
    "repeat_interleave": "repeat",
    "scatter": "write `np.put_along_axis(x.copy(), indices, 1.0, axis)`",
    "scatter_": "write `np.put_along_axis(x, indices, 1.0, axis)`",
    "uniform_": "write `tw.nn.init.uniform_(x)`",
    "Generator": f"write {_KEY}, and `tw.random.split(key)` for more of them",
    "amp": "write `x.astype(tw.bfloat16)` where half precision is enough",
    **dict.fromkeys(
        ("adam", "adamw", "apply_updates", "chain", "sgd"),
        "Optax's names are in `tw.optim.optax`",
    ),
    "block_until_ready": "write `x.realize()`, or `tw.synchronize()`",
    "cdist": "write `tw.linalg.vector_norm(a[:, None] - b[None], axis=-1)`",
    "compile": "jit",
    "device_put": "write `x.to_device(device)`",
    "func": "write `tw.grad`, `tw.vmap`, `tw.jacrev`: they are here",
    "is_tensor": "write `isinstance(x, tw.Tensor)`",
    "lax": "loops and choices are here: `tw.scan`, `tw.while_loop`, `tw.cond`, ...",
    "make_jaxpr": "write `print(tw.explain(f(x)))`, which shows the kernels",
    "multinomial": f"write {_KEY} and `tw.random.categorical(key, tw.log(p))`",
    "rand_like": f"write {_KEY} and `tw.random.uniform(key, x.shape)`",
    "randn_like": f"write {_KEY} and `tw.random.normal(key, x.shape)`",
    "randperm": f"write {_KEY} and `tw.random.permutation(key, n)`",
    "special": "write `tw.scipy.special`",
    "PRNGKey": "write `tw.random.key(0)`",
    "Array": "Tensor",
    "debug": "`print` shows values, outside of `tw.jit` and `tw.vmap`",
    "dynamic_index_in_dim": "write `x[start]`, or `x.take(start, axis)`",
    "dynamic_slice": "write `x[start + tw.arange(2)]`",
    "dynamic_slice_in_dim": "write `x[start + tw.arange(2)]`",
    "dynamic_update_slice": "write `x.at[start + tw.arange(2)].set(v)`",
    "pmap": "one device computes; `tw.vmap` maps over a batch on it",
    "remat": "checkpoint",
    "config": "precision and devices are chosen by dtypes and `tw.set_default_device`",
    "device_get": "write `x.tolist()`, or `x.cpu()`",
    "is_grad_enabled": _GRADIENTS,
    "tree_flatten": "write `tw.tree.flatten`",
    "tree_leaves": "write `tw.tree.leaves`",
    "tree_map": "write `tw.tree.map`",
    "tree_structure": "write `tw.tree.flatten(model)[1]`",
    "tree_unflatten": "write `tw.tree.unflatten`",
    "tree_util": "write `tw.tree.map`, `tw.tree.leaves`, `tw.tree.flatten`",
    "utils": "its data sets and batches are in `tw.data`",
    "detach_": "write `x = x.detach()`",
    "is_floating_point": "write `x.dtype.kind == 'float'`",
    "stride": "write `x.strides`",
    "type": "write `x.astype(dtype)`, or `x.dtype`",
    "unflatten": "write `x.reshape((2, -1))`",
}


_NN: dict[str, str] = {
    "dot_product_attention": "scaled_dot_product_attention",
    "initializers": "write `tw.nn.init.normal_(x)` and the like",
    "log_sigmoid": "logsigmoid",
    "hard_tanh": "hardtanh",
    "ChannelShuffle": "write `x.reshape((2, -1, 2)).swapaxes(0, 1)` of channels",
    "Softmin": "write `tw.nn.functional.softmin(x, dim=-1)`",
    "hardshrink": "write `tw.where(abs(x) > 0.5, x, 0.0)`",
    "softshrink": "write `tw.sign(x) * tw.nn.relu(abs(x) - 0.5)`",
    "threshold": "write `tw.where(x > 0.5, x, value)`",
    "upsample": "interpolate",
    "AlphaDropout": "write `tw.nn.Dropout(0.5)`",
    "Buffer": "write `self.register_buffer(name, tensor)`",
    "DataParallel": "there is one device",
    "Softmax2d": "write `tw.nn.Softmax(dim=-3)`",
    "SyncBatchNorm": "BatchNorm",
    "cross_entropy_loss": "cross_entropy",
    "gaussian_nll_loss": "gaussian_nll",
    "hard_sigmoid": "hardsigmoid",
    "hard_swish": "hardswish",
    "huber_loss": "huber",
    "l1_loss": "l1",
    "mse_loss": "mse",
    "nll_loss": "nll",
    "poisson_nll_loss": "poisson_nll",
    "smooth_l1_loss": "smooth_l1",
    "swish": "silu",
}

_OPTAX: dict[str, str] = {
    **_entries(
        (
            "optimisers of `tw.optim` have it; their update takes parameters, "
            "gradients and state",
            "adadelta adafactor adamax lbfgs nadam radam",
        ),
        ("losses are in `tw.nn`", "ctc_loss"),
        ("write `tw.optim.optax.multi_transform`", "partition"),
        ("write `tw.optim.optax.masked`, or set_to_zero in a chain", "freeze"),
    ),
}

_SQUARES = "write `tw.scipy.optimize.minimize(lambda z: ((f(z) - y) ** 2).sum(), v)`"

_SCIPY: dict[str, str] = {
    "constants": "write the number",
    "fft": "write `tw.fft`",
    "interpolate": "np.interp",
    "linalg": "write `tw.linalg`",
    "ndimage": "write `tw.nn.functional.conv2d`",
    "signal": "write `tw.fft.stft`, `np.convolve` or `tw.nn.functional.conv1d`",
    "sparse": "write `tw.sparse`",
    "spatial": "write `tw.linalg.vector_norm(a[:, None] - b[None], axis=-1)`",
    "stats": "write `tw.distributions`, and `np.mean`, `np.quantile`, `np.corrcoef`",
}

_INTEGRATE: dict[str, str] = {
    **_entries(
        ("write `np.trapezoid(y, x)` of a grid", "quad dblquad fixed_quad"),
        ("np.trapezoid", "trapezoid trapz simpson romb"),
        ("write `np.cumsum(y) * d`", "cumulative_trapezoid cumulative_simpson"),
        ("write `tw.scipy.integrate.solve_ivp`", "RK45 RK23 LSODA BDF Radau ode"),
    ),
}

_OPTIMIZE: dict[str, str] = {
    **_entries(
        (_SQUARES, "curve_fit fsolve least_squares leastsq root"),
        ("halve an interval in a loop", "bisect brentq newton root_scalar"),
        (
            "write `tw.scipy.optimize.minimize`",
            "basinhopping differential_evolution dual_annealing fmin fmin_bfgs "
            "fmin_cg fmin_l_bfgs_b minimize_scalar",
        ),
    ),
    "check_grad": "write `tw.check_grads(f, (x,))`",
}

_AUTOGRAD: dict[str, str] = {
    "Variable": "write `tw.asarray(x, requires_grad=True)`",
    "backward": "write `loss.backward()`",
    "detect_anomaly": "write `with tw.debug_nans():`",
    "functional": "write `tw.jacrev(f)`, `tw.hessian(f)`, `tw.vjp` or `tw.jvp`",
    "set_detect_anomaly": "write `with tw.debug_nans():`",
}

_MODULE: dict[str, str] = {
    "cuda": (
        f"write `model.to({fastest()!r})`, or call `tw.set_default_device` at first"
    ),
    "double": 'write `model.to("cpu", tw.float64)`',
    "float": "write `model.to(dtype=tw.float32)`",
    "get_parameter": "write `dict(model.named_parameters())`",
    "half": "write `model.to(dtype=tw.float16)`",
    "bfloat16": "write `model.to(dtype=tw.bfloat16)`",
    "register_backward_hook": "gradients have no hooks; `tw.vjp(model, x)` has both",
    "register_full_backward_hook": (
        "gradients have no hooks; `tw.vjp(model, x)` has both"
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
    **_entries(
        (_CODES, "ScalarType sctypeDict typename"),
        (_ORDER, "asfortranarray isfortran"),
        (_MATRIX, "asmatrix matrix"),
        (
            _DATES,
            "busday_count busday_offset busdaycalendar datetime64 "
            "datetime_as_string datetime_data is_busday isnat timedelta64",
        ),
        (_TEXT, "bytes_ char character str_ strings"),
        (_LONG, "clongdouble complex256 float128 longdouble"),
        (_NUMPYS_OWN, "core ctypeslib dtypes f2py get_include test"),
        (_STRUCTURED, "flexible rec recarray record void"),
        (_FORMAT, "format_float_positional format_float_scientific"),
        (_OBJECTS, "frompyfunc object_"),
        (_BUFFERS, "getbufsize setbufsize"),
        (_CALLBACK, "geterrcall seterrcall"),
    ),
    "bmat": "write `np.block([[a, b]])`",
    "exceptions": "errors are those of `tw.errors`",
    "flatiter": "`x.flat` is one",
    "fromregex": _FILES,
    "little_endian": "write `sys.byteorder == 'little'`",
    "ma": _MASKED,
    "memmap": "tensors lie in a device's memory; use `np.fromiter` or `np.frombuffer`",
    "nested_iters": "use loops of `np.ndindex`",
    "polynomial": "use `np.polyfit`, `np.polyval` and `np.poly1d`",
    "row_stack": "write `np.vstack(parts)`, as NumPy 2 advises",
    "show_runtime": "`np.show_config()` names the device that computes",
    "typing": "annotate tensors as `tw.Tensor`, and data for them as `object`",
}

_ALONE = "leave it out: tensors lie on one device, and values never change"
_LOSSES = "write `tw.nn.MSELoss(reduction='sum')`, or 'mean' or 'none'"
_ONE = "leave it out: there is one way to compute it"

_KEYWORDS: dict[str, str] = {
    **_entries(
        (
            _ALONE,
            "inplace memory_format names non_blocking pin_memory donate_argnames "
            "donate_argnums",
        ),
        (_LOSSES, "reduce size_average"),
        ("leave it out: derivatives are those of `tw.grad`", "jac hess hessp Dfun"),
        (_ONE, "capturable differentiable foreach fullgraph fused precision"),
        ("write `x.astype(dtype)` before, or of the result", "dtype"),
        ("write `tw.nn.Linear(2, 3).to(device)`, or `x.to(device)`", "device"),
        (f"write {_KEY} and `tw.random.normal(key, shape)`", "generator rng"),
        (
            "embed with `x[i]` of weights that are scaled by "
            "`tw.nn.normalize(x, dim=-1)`",
            "max_norm",
        ),
    ),
    "allow_unused": "a gradient that nothing depends on is 0: leave it out",
    "create_graph": (
        "derivatives of derivatives are those of functions: `tw.grad(tw.grad(f_of_x))`"
    ),
    "dim": "this has no axis: `tw.sum(x, dim=0)` and the like have one",
    "holomorphic": "gradients of complex numbers are described in the guide",
    "keepdim": "write `tw.expand_dims(x, axis)` of the result",
    "key": "write `tw.nn.dropout(x, 0.5, key=key)` where forward takes a key",
    "out": "write `x[...] = values`",
    "padding_side": "sequences are filled at the end; `tw.flip` them before and after",
    "requires_grad": "write `x.requires_grad_()`",
    "sorted": "leave it out: the largest come first",
    "sparse": "leave it out: gradients are dense",
    "args": "write the further arguments behind the times, as in JAX",
    "bounds": "minimise over `low + (high - low) * tw.sigmoid(x)` of free numbers",
    "constraints": "add what measures them to the function",
    "events": (
        "find the zero of the event on sol, with dense_output=True, and begin again "
        "there"
    ),
    "first_step": "leave it out: it follows from the tolerances, and from max_step",
    "last_epoch": "leave it out; load_state_dict of the scheduler resumes it",
    "tfirst": "write lambda y, t: f(t, y)",
    "verbose": "leave it out, and print get_last_lr() of the scheduler",
    "train": "forward has no such argument; write `model.train()`",
    "training": "write `model.train()` or `model.eval()`",
}
"""What to write for keywords of PyTorch and JAX that a function does not take."""

ADVICE: dict[str, dict[str, str]] = {
    "keywords": _KEYWORDS,
    "tensorweb": _TENSORWEB,
    "tensorweb.autograd": _AUTOGRAD,
    "tensorweb.nn": _NN,
    "tensorweb.nn.Module": _MODULE,
    "tensorweb.scipy": _SCIPY,
    "tensorweb.scipy.integrate": _INTEGRATE,
    "tensorweb.scipy.optimize": _OPTIMIZE,
    "tensorweb.numpy": _NUMPY,
    "tensorweb.numpy.random": {},
    "tensorweb.optim.optax": _OPTAX,
}
"""Entries by module or class; modules without a table use that of `tensorweb`."""

DTYPES = ("float16", "float32", "float64", "int32", "int64")


def unknown(module: str, name: str, names: Collection[str]) -> AttributeError:
    """Return the error for a name that a module lacks, with what to write instead.

    `names` are those of the module.
    """
    text = f"module {module!r} has no attribute {name!r}"
    advice = None if name.startswith("__") else _module_advice(module, name, names)
    if advice is not None:
        text += f"; {advice}"  # Python may append ". Did you mean: 'Adam'?"
    return AttributeError(text, name=name, obj=sys.modules[module])


def _module_advice(module: str, name: str, names: Collection[str]) -> str | None:
    entry = ADVICE.get(module, _TENSORWEB).get(name)
    if entry is None or not entry.isidentifier():
        return _sentence(entry)
    if entry in names:
        return f"tensorweb calls it {entry}"
    functions = sys.modules["tensorweb"].__all__
    return f"tensorweb calls it {'tw' if entry in functions else 'x'}.{entry}"


def method_advice(
    name: str, functions: Collection[str], methods: Collection[str]
) -> str | None:
    """Return what to write for a name that tensors lack, None if it has no entry.

    `functions` are those of `tw`, `methods` the names that tensors have.
    """
    entry = _TENSORWEB.get(name)
    if entry is None and name in functions:
        return f"it is a function: tw.{name}(x, ...)"
    if entry is None or not entry.isidentifier():
        return _sentence(entry)
    if entry in DTYPES:
        return f"write x.astype(tw.{entry})"
    return f"tensorweb calls it {entry if entry in methods else 'tw.' + entry}"


_UNKNOWN_KEYWORD = re.compile(
    r"got an unexpected keyword argument '(\w+)'(?:\. Did you mean '\w+'\?)?$"
)


def advise_on_keyword(error: TypeError, function: Callable[..., object]) -> None:
    """Add to the error about an unknown keyword of a function what to write instead."""
    found = _UNKNOWN_KEYWORD.search(str(error))
    advice = keyword_entry(found[1]) if found else ""
    is_random = found and found[1] in ("key", "generator")
    if found and is_random and "rng" in signature(function).parameters:
        advice = f"write rng={found[1]}, a generator, a key or a seed"
    if advice:
        error.args = (f"{error}; {advice}.",)


def keyword_entry(name: str, default: str = "") -> str:
    """Return what to write instead of a keyword of PyTorch or JAX, else a default."""
    return _sentence(_KEYWORDS.get(name)) or default


def module_method_advice(name: str) -> str | None:
    """Return what to write for a method of PyTorch's that `nn.Module` lacks."""
    return _sentence(_MODULE.get(name))


def _sentence(entry: str | None) -> str | None:
    """Return an entry that is not a plain name as text for a message."""
    if entry is not None and entry.startswith("np."):
        return f"write {entry}, with import tensorweb.numpy as np"
    return None if entry is None else entry.replace("`", "")
