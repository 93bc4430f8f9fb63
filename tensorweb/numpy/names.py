"""What of NumPy's main namespace is different here, and what is not here, and why.

`docs/numpy_names.md` is made of these tables; a name that is in neither and is here is
the same. A name of `ABSENT` answers a program that asks for it with its row.
"""

from __future__ import annotations

_STRUCTURED = "tensors have no fields; keep each field in a tensor of its own"
_WORDS = "tensors hold numbers and no text; use lists of Python's strings"
_DATES = "tensors hold no dates; count days or seconds in integers"
_LONG = "no device computes with it; use np.float64, or np.complex128"
_MATRIX = "tensors of two axes and `@` are matrices; use np.array"
_ORDER = "elements lie in row-major order; leave it out"
_CALLBACK = "devices report no floating point errors; look with np.isfinite"
_BUFFERS = "there are no buffers to set; leave it out"
_NUMPYS_OWN = "it belongs to NumPy's package itself; import numpy for it"
_CODES = "it deals with NumPy's codes of dtypes; use np.dtype and np.result_type"
_NUMBERS = "use Python's format and f-strings for a number"
_FILES = "take the words apart with Python's re, and make an array of lists"
_MASKED = "there are no masked arrays; use NaN and np.nanmean, or where="
_OBJECTS = "tensors hold numbers and no objects; use np.vectorize for functions"

ABSENT: dict[str, str] = {
    "ScalarType": _CODES,
    "asfortranarray": _ORDER,
    "asmatrix": _MATRIX,
    "bmat": "write np.block(...)",
    "busday_count": _DATES,
    "busday_offset": _DATES,
    "busdaycalendar": _DATES,
    "bytes_": _WORDS,
    "char": _WORDS,
    "character": _WORDS,
    "clongdouble": _LONG,
    "complex256": _LONG,
    "core": _NUMPYS_OWN,
    "ctypeslib": _NUMPYS_OWN,
    "datetime64": _DATES,
    "datetime_as_string": _DATES,
    "datetime_data": _DATES,
    "dtypes": _NUMPYS_OWN,
    "exceptions": "errors are those of tw.errors",
    "f2py": _NUMPYS_OWN,
    "flatiter": "x.flat is what it is for",
    "flexible": _STRUCTURED,
    "float128": _LONG,
    "format_float_positional": _NUMBERS,
    "format_float_scientific": _NUMBERS,
    "frompyfunc": _OBJECTS,
    "fromregex": _FILES,
    "get_include": _NUMPYS_OWN,
    "getbufsize": _BUFFERS,
    "geterrcall": _CALLBACK,
    "is_busday": _DATES,
    "isfortran": _ORDER,
    "isnat": _DATES,
    "little_endian": "write sys.byteorder == 'little'",
    "longdouble": _LONG,
    "ma": _MASKED,
    "matrix": _MATRIX,
    "memmap": "tensors lie in a device's memory; use np.fromiter or np.frombuffer",
    "nested_iters": "use loops of np.ndindex",
    "object_": _OBJECTS,
    "polynomial": "use np.polyfit, np.polyval and np.poly1d",
    "rec": _STRUCTURED,
    "recarray": _STRUCTURED,
    "record": _STRUCTURED,
    "row_stack": "write np.vstack(...), as NumPy 2 says",
    "sctypeDict": _CODES,
    "setbufsize": _BUFFERS,
    "seterrcall": _CALLBACK,
    "show_runtime": "np.show_config() tells what computes",
    "str_": _WORDS,
    "strings": _WORDS,
    "test": _NUMPYS_OWN,
    "timedelta64": _DATES,
    "typename": _CODES,
    "typing": "tensors and what becomes one are tw.Tensor and object",
    "void": _STRUCTURED,
}
"""What is not here: why, or what to write instead."""

_SUMS = "integers are summed in 32 bits and wrap around"
_POSITIONS = "positions are int32"
_STABLE = "always stable, whatever `kind` says"
_COUNTS = "counts are int32; the range is read unless edges are given"
_READS = "reads how many values there are"
_SETTING = "kept and given back, but nothing is reported"
_WHOLE = "all values are sorted, which is one of the orders allowed"

DIFFERENT: dict[str, str] = {
    "apply_along_axis": "Python calls the function once for each slice, with a tensor",
    "argmax": _POSITIONS,
    "argmin": _POSITIONS,
    "argpartition": f"{_WHOLE}; {_POSITIONS}",
    "argsort": f"{_STABLE}; {_POSITIONS}",
    "argwhere": _POSITIONS,
    "bincount": "counts are int32, sums of weights float32; reads the greatest number",
    "bitwise_count": "counts are int32",
    "bool": "tensorweb's dtype",
    "count_nonzero": _POSITIONS,
    "cumprod": _SUMS,
    "cumsum": _SUMS,
    "cumulative_prod": _SUMS,
    "cumulative_sum": _SUMS,
    "digitize": f"reads the edges, to see whether they rise; {_POSITIONS}",
    "dtype": "makes tensorweb's dtypes; none has fields",
    "emath": "reads one number, to see whether the result is complex",
    "errstate": _SETTING,
    "extract": _READS,
    "flatnonzero": _POSITIONS,
    "genfromtxt": "no names and no masks; one dtype for all",
    "geterr": _SETTING,
    "histogram": _COUNTS,
    "histogram2d": _COUNTS,
    "histogramdd": _COUNTS,
    "info": "prints the docstring; does not search",
    "int_": "int32",
    "intersect1d": _READS,
    "intp": "int32",
    "lexsort": _POSITIONS,
    "loadtxt": "one dtype for all",
    "mean": "integers and bool give float32",
    "nanargmax": f"{_POSITIONS}; reads whether there is nothing but NaN",
    "nanargmin": f"{_POSITIONS}; reads whether there is nothing but NaN",
    "nanpercentile": "reads how many numbers there are along the axis",
    "nanquantile": "reads how many numbers there are along the axis",
    "ndarray": "is `tw.Tensor`, which cannot be a base of classes with `view`",
    "nditer": "elements are tensors; writes are there when the loop is over; no orders",
    "nonzero": f"{_POSITIONS}; {_READS}",
    "partition": _WHOLE,
    "percentile": "reads `q`",
    "piecewise": "every function gets all of `x`, and its results are chosen from",
    "polydiv": "reads the coefficients",
    "prod": _SUMS,
    "quantile": "reads `q`",
    "random": "NumPy's distributions from a hidden key, not its numbers",
    "reciprocal": "of the integer 0 it is 0; bool gives float32",
    "roots": "reads the coefficients; complex64 or complex128, unless all are real",
    "searchsorted": _POSITIONS,
    "set_printoptions": "no floatmode, sign, nanstr, infstr and legacy",
    "setdiff1d": _READS,
    "seterr": f"{_SETTING}; `raise`, `print`, `call` and `log` are refused",
    "setxor1d": _READS,
    "show_config": "tells tensorweb's version and device",
    "sort": _STABLE,
    "std": "integers and bool give float32",
    "sum": _SUMS,
    "ufunc": "methods are here; `casting` is same_kind, safe or unsafe, `order` K",
    "uint": "uint32",
    "uintp": "uint32",
    "union1d": _READS,
    "unique": f"{_READS}; {_POSITIONS}",
    "unique_all": _READS,
    "unique_counts": _READS,
    "unique_inverse": _READS,
    "unique_values": _READS,
    "var": "integers and bool give float32",
    "vectorize": "reads the elements and calls Python for each",
    "where": f"with a condition alone as `nonzero`: {_POSITIONS}",
}
"""What is here and differs beyond dtypes of 32 bits: how."""
