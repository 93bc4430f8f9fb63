"""tensorweb: tensors on your own GPU, in the browser and in ordinary Python.

Names and meanings are those of the Python Array API standard, 2025.12, wherever it has
one; `__all__` is the whole public surface.
"""

import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import NoReturn as _NoReturn

from tensorweb import errors, shapes
from tensorweb.backends.records import KernelRecord, record_kernels
from tensorweb.charts import BarChart, bar_chart
from tensorweb.devices import (
    default_device,
    device,
    open_device_async,
    set_default_device,
)
from tensorweb.dtypes import (
    DType,
    bool,
    finfo,
    float16,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from tensorweb.errors import (
    AxisError,
    BackendError,
    BlockingError,
    DataError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DTypeError,
    ExchangeError,
    LostWriteWarning,
    NarrowedDataWarning,
    RangeError,
    ShaderError,
    ShapeError,
    TensorIndexError,
    TensorwebError,
    TensorwebWarning,
    TraceError,
)
from tensorweb.evaluate import synchronize
from tensorweb.functions.arithmetic import (
    abs,
    add,
    clip,
    copysign,
    divide,
    floor_divide,
    hypot,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    positive,
    pow,
    reciprocal,
    remainder,
    rsqrt,
    sign,
    sqrt,
    square,
    subtract,
)
from tensorweb.functions.callables import fold, map, zip_with
from tensorweb.functions.comparison import (
    equal,
    greater,
    greater_equal,
    less,
    less_equal,
    not_equal,
)
from tensorweb.functions.computing import Explanation, explain, realize
from tensorweb.functions.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    from_dlpack,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from tensorweb.functions.data_types import astype, can_cast, isdtype, result_type
from tensorweb.functions.exponential import (
    erf,
    exp,
    exp2,
    expm1,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    sigmoid,
)
from tensorweb.functions.indexing import take, take_along_axis
from tensorweb.functions.joining import concat, pad, repeat, stack, tile, unstack
from tensorweb.functions.linear_algebra import (
    diff,
    dot,
    einsum,
    matmul,
    outer,
    tensordot,
    vecdot,
)
from tensorweb.functions.logic import (
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from tensorweb.functions.manipulation import (
    broadcast_arrays,
    broadcast_to,
    expand_dims,
    flatten,
    flip,
    matrix_transpose,
    moveaxis,
    permute_dims,
    ravel,
    reshape,
    roll,
    squeeze,
    swapaxes,
)
from tensorweb.functions.namespace import (
    __array_namespace_info__,
    e,
    inf,
    nan,
    newaxis,
    pi,
)
from tensorweb.functions.patterns import eye, meshgrid, tril, triu
from tensorweb.functions.reductions import (
    all,
    any,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from tensorweb.functions.rounding import (
    ceil,
    floor,
    isfinite,
    isinf,
    isnan,
    round,
    signbit,
    trunc,
)
from tensorweb.functions.searching import (
    argmax,
    argmin,
    isin,
    nonzero,
    searchsorted,
    where,
)
from tensorweb.functions.segments import bincount, segment_max, segment_min, segment_sum
from tensorweb.functions.sets import (
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from tensorweb.functions.sorting import argsort, sort, top_k
from tensorweb.functions.trigonometric import (
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from tensorweb.functions.windows import (
    avg_pool2d,
    conv1d,
    conv2d,
    max_pool2d,
    sliding_windows,
)
from tensorweb.performance.tuning import tune, tune_async
from tensorweb.performance.warming import warm_up, warm_up_async
from tensorweb.shapes import broadcast_shapes, next_position, ravel_index, unravel_index
from tensorweb.show import show
from tensorweb.tensor import Tensor
from tensorweb.tensor.tensor import answer_foreign_names as _answer_foreign_names
from tensorweb.tensor.unknown_names import advice as _advice
from tensorweb.transforms.jit import jit
from tensorweb.version import VERSION as __version__

__array_api_version__ = "2025.12"


# fmt: off
__all__ = [
    "AxisError", "BackendError", "BarChart", "BlockingError", "DType", "DTypeError",
    "DataError", "DeviceError", "DeviceLostError", "DeviceMemoryError",
    "ExchangeError", "Explanation", "KernelRecord", "LostWriteWarning",
    "NarrowedDataWarning", "RangeError",
    "ShaderError", "ShapeError", "Tensor", "TensorIndexError", "TensorwebError",
    "TensorwebWarning", "TraceError", "__array_api_version__",
    "__array_namespace_info__", "__version__", "abs", "acos", "acosh", "add", "all",
    "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh",
    "astype", "atan", "atan2", "atanh", "avg_pool2d", "bar_chart", "bincount",
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "can_cast", "ceil", "clip", "concat", "conv1d",
    "conv2d", "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod",
    "cumulative_sum", "default_device", "device", "diff", "divide", "dot", "e",
    "einsum", "empty", "empty_like", "equal", "erf", "errors", "exp", "exp2",
    "expand_dims", "explain", "expm1", "eye", "finfo", "flatten", "flip", "float16",
    "float32", "float64", "floor", "floor_divide", "fold", "from_dlpack", "full",
    "full_like", "greater", "greater_equal", "hypot", "iinfo", "inf", "int8", "int16",
    "int32", "int64", "isdtype", "isfinite", "isin", "isinf", "isnan", "jit", "less",
    "less_equal", "linspace", "log", "log1p", "log2", "log10", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "map", "matmul",
    "matrix_transpose", "max", "max_pool2d", "maximum", "mean", "meshgrid", "min",
    "minimum", "moveaxis", "multiply", "nan", "negative", "newaxis", "next_position",
    "nextafter", "nonzero", "not_equal", "ones", "ones_like", "open_device_async",
    "outer", "pad", "permute_dims", "pi", "positive", "pow", "prod", "ravel",
    "ravel_index", "realize", "reciprocal", "record_kernels", "remainder", "repeat",
    "reshape", "result_type", "roll", "round", "rsqrt", "searchsorted", "segment_max",
    "segment_min", "segment_sum", "set_default_device", "shapes", "show", "sigmoid",
    "sign", "signbit", "sin", "sinh", "sliding_windows", "sort", "sqrt", "square",
    "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "synchronize", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "top_k", "tril", "triu",
    "trunc", "tune", "tune_async", "uint8", "uint16", "uint32", "uint64",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "unravel_index",
    "unstack", "var", "vecdot", "warm_up", "warm_up_async", "where", "zeros",
    "zeros_like", "zip_with",
]
# fmt: on

_answer_foreign_names(__all__)


if not _TYPE_CHECKING:  # A type checker shall find names that are not there.

    def __getattr__(name: str) -> _NoReturn:
        """Answer a name of NumPy or PyTorch with ours."""
        text = f"module 'tensorweb' has no attribute {name!r}"
        found = None if name.startswith("__") else _advice(name, __all__)
        if found is not None:
            text += f"; {found}."
        raise AttributeError(text, name=name, obj=_sys.modules[__name__])
