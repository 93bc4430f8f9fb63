"""What public functions return, for the API reference: shapes and dtypes.

A docstring's own `Returns:` wins. Without, the reference takes the row that names the
entry, `*.sum` for each of `tw.sum`, `np.sum` and `x.sum`, or its module or class; the
operations of the op table have theirs by arity and rule for the dtype.
"""

from __future__ import annotations

ONE_OPERAND = {
    "same": "the shape and dtype of the input.",
    "float": "the shape of the input; floats keep their dtype, integers and bool "
    "become float32.",
    "bool": "the shape of the input; bool.",
    "logical": "the shape of the input; bool.",
}
"""Results of elementwise operations of one operand, by the rule for the dtype."""

TWO_OPERANDS = {
    "same": "the broadcast shape and the promoted dtype.",
    "float": "the broadcast shape; the promoted dtype, float32 for integers and bool.",
    "bool": "the broadcast shape; bool.",
    "logical": "the broadcast shape; bool.",
}
"""Results of elementwise operations of two operands, by the rule for the dtype."""

REDUCED = "the shape without the reduced axes, which stay with length 1 if `keepdims`; "
ALONG = "the shape without the axis, which stays with length 1 if `keepdims`; "
FLOATS = "floats keep their dtype, integers and bool become float32."

RESULTS: dict[str, str] = {
    # Elementwise functions that are no entries of the op table by this name.
    "np.arcsin np.arcsinh np.arctan np.arctanh np.deg2rad np.degrees np.fabs "
    "np.rad2deg np.radians np.rint np.spacing np.sinc np.i0": ONE_OPERAND["float"],
    "*.round *.clip *.conj *.conjugate np.around np.fix np.nan_to_num np.unwrap "
    "x.contiguous x.copy x.detach x.realize x.realize_async x.requires_grad_ np.copy "
    "np.sort_complex np.reciprocal *.sort *.partition": ONE_OPERAND["same"],
    "np.isposinf np.isneginf np.iscomplex np.isreal *.isin": ONE_OPERAND["bool"],
    "np.arctan2 np.logaddexp2 np.float_power np.heaviside np.ldexp": (
        TWO_OPERANDS["float"]
    ),
    "np.fmax np.fmin np.fmod np.gcd np.lcm np.mod": TWO_OPERANDS["same"],
    "np.isclose": TWO_OPERANDS["bool"],
    "np.divmod": "two tensors of the broadcast shape and the promoted dtype.",
    "np.frexp np.modf": "two tensors of the shape of the input.",
    "np.bitwise_count": "the shape of the input; int32.",
    "tw.real tw.imag np.angle": (
        "the shape of the input; floats of half the bits of a complex dtype."
    ),
    "np.emath": "the shape of the input; complex where an element needs it.",
    "np.real_if_close": "the shape of the input; real or complex.",
    # Reductions.
    "*.sum *.prod np.nansum np.nanprod": (
        REDUCED + "the given dtype, else the input's, int32 or uint32 for bool and "
        "small integers."
    ),
    "*.max *.min np.amax np.amin np.nanmax np.nanmin *.ptp tw.nn.logsumexp": (
        REDUCED + "the dtype of the input."
    ),
    "*.mean *.std *.var np.nanmean np.nanstd np.nanvar np.median np.nanmedian "
    "tw.distributions": "`sample_shape + batch_shape + event_shape` for samples, the "
    "broadcast shape for moments, without `event_shape` for densities and entropies.",
    "tw.scipy.special": "the broadcast shape; floats of the promoted dtype.",
    "tw.linalg.solve_triangular tw.linalg.cho_solve": "the shape of `b`, broadcast "
    "with the outer axes of the matrices.",
    "tw.linalg.sqrtm": "the shape of the input; complex.",
    "tw.fft.istft": "`(..., n)`; real unless `return_complex`.",
    "tw.linalg.expm": "the shape and dtype of the input.",
    "tw.linalg.block_diag": "the sums of the blocks' lengths.",
    "tw.linalg.vector_norm": REDUCED + FLOATS,
    "np.average": REDUCED + "with `returned` the sums of the weights too.",
    "np.quantile np.percentile np.nanquantile np.nanpercentile": (
        REDUCED + "the shape of `q` stands in front of it."
    ),
    "*.any *.all": REDUCED + "bool.",
    "*.count_nonzero": REDUCED + "int32.",
    "*.argmax *.argmin np.nanargmax np.nanargmin": ALONG + "int32.",
    "tw.fold": "the shape without the axis; the dtype of the result of `function`.",
    "*.cumsum *.cumprod np.nancumsum np.nancumprod": (
        "the shape of the input; the given dtype, else the input's, int32 or uint32 "
        "for bool and small integers."
    ),
    "*.cumulative_sum *.cumulative_prod": (
        "the shape of the input, the axis one longer with `include_initial`; dtypes "
        "are those of `sum`."
    ),
    "*.diff": "the axis is `n` shorter; the dtype of the input.",
    "np.ediff1d": "1-D, one element shorter without `to_begin` and `to_end`.",
    "np.gradient": "the shape of the input for each axis; a list for several axes.",
    "np.trapezoid": "the shape without the axis.",
    # Making tensors.
    "*.zeros *.ones *.empty": "the given shape and dtype, float32 by default.",
    "*.full": "the given shape and dtype, by default that of the value.",
    "*.zeros_like *.ones_like *.empty_like *.full_like": (
        "the shape, dtype and device of the input unless others are given."
    ),
    "*.arange": (
        "1-D, `ceil((stop - start) / step)` elements; int32 of integers, float32 of "
        "floats."
    ),
    "tw.linspace": "1-D with `num` elements; float32 by default.",
    "np.linspace": "`num` numbers along a new axis; with `retstep` `(numbers, step)`.",
    "np.geomspace np.logspace": "`num` numbers along a new axis; float32 by default.",
    "tw.eye": "`(n_rows, n_cols)`; float32 by default.",
    "np.eye np.tri": "`(N, M)`; float32 by default.",
    "np.identity": "`(n, n)`; float32 by default.",
    "tw.asarray tw.tensor np.array np.asanyarray np.asarray_chkfinite np.require": (
        "the shape of the data; bool, int32 or float32 of numbers, for arrays their "
        "own dtype."
    ),
    "tw.from_dlpack": "the shape and dtype of the array.",
    "*.astype": "the shape of the input in the given dtype.",
    "np.frombuffer np.fromfile np.fromiter np.fromstring": "1-D.",
    "np.fromfunction": "what `function` returns.",
    "np.loadtxt np.genfromtxt": (
        "`(lines, columns)`, 1-D for one of them unless `ndmin` is 2."
    ),
    "np.bartlett np.blackman np.hamming np.hanning np.kaiser": "`(M,)`; float32.",
    "*.broadcast_arrays *.meshgrid": (
        "a tuple with one tensor per input, each of the common shape."
    ),
    "np.indices": "`(rank, *dimensions)`; a tuple of one array per axis if `sparse`.",
    "np.diag_indices np.diag_indices_from np.mask_indices np.tril_indices "
    "np.tril_indices_from np.triu_indices np.triu_indices_from *.nonzero np.ix_": (
        "one array per axis, int32."
    ),
    "np.vander": "`(len(x), N)`.",
    # Shapes.
    "*.reshape": (
        "the new shape, the dtype of the input; a view where strides allow it."
    ),
    "*.broadcast_to x.view x.expand": (
        "the given shape, the dtype of the input; a view."
    ),
    "*.ravel np.extract": "1-D, the dtype of the input.",
    "np.trim_zeros": "the input without the slices of zeros.",
    "*.flatten tw.nn.flatten": (
        "the merged axes are one, as long as their product; the dtype of the input."
    ),
    "*.permute_dims x.permute *.moveaxis *.swapaxes x.transpose *.matrix_transpose "
    "np.rollaxis tw.linalg.matrix_transpose": (
        "the axes in the new order, the dtype of the input; a view."
    ),
    "*.expand_dims x.unsqueeze": (
        "the shape with the new axes, the dtype of the input; a view."
    ),
    "*.squeeze": "the shape without the removed axes, the dtype of the input; a view.",
    "*.flip np.fliplr np.flipud np.rot90": "the shape and dtype of the input; a view.",
    "*.roll": "the shape and dtype of the input, elements at other indices.",
    "*.repeat": "the axis as long as the sum of the counts; the dtype of the input.",
    "*.tile": "each axis multiplied by its count; the dtype of the input.",
    "*.pad": "each axis longer by its widths; the dtype of the input.",
    "x.crop": "the shape of the input with the axes cut, as a view.",
    "*.sliding_windows np.lib.stride_tricks.sliding_window_view": (
        "the axis counts the windows, whose elements lie along new last axes; a view."
    ),
    "np.lib.stride_tricks.as_strided": (
        "the given shape, a view where strides allow it."
    ),
    "np.resize": "the given shape, the dtype of the input.",
    "*.concat": "the axis as long as all together; the promoted dtype.",
    "*.stack": "one axis more than the inputs; the promoted dtype.",
    "np.column_stack np.dstack np.hstack np.vstack np.block": (
        "the inputs side by side; the promoted dtype."
    ),
    "*.unstack": "a tuple of the slices, as views without the axis.",
    "np.split np.array_split np.dsplit np.hsplit np.vsplit": "a list of the parts.",
    "np.atleast_1d np.atleast_2d np.atleast_3d": (
        "at least that many axes; a list for several inputs."
    ),
    "np.append np.insert np.delete": (
        "the input with the slices; flattened without an axis."
    ),
    # Indexing, searching, sorting.
    "*.where": (
        "the broadcast shape and the promoted dtype; with a condition alone a tuple of "
        "indices."
    ),
    "*.take": (
        "the shape of the input with the axis replaced by the shape of `indices`; the "
        "dtype of the input."
    ),
    "*.take_along_axis": "the shape of `indices`; the dtype of the input.",
    "*.compress": "the shape of the input, as many slices as the condition selects.",
    "*.choose np.select np.piecewise": "the broadcast shape.",
    "*.argsort *.argpartition": "the shape of the input; int32 indices.",
    "*.searchsorted np.digitize": "the shape of the values; int32.",
    "np.lexsort": "one element for each key's element; int32.",
    "np.argwhere": "`(count, rank)`; int32.",
    "np.flatnonzero": "1-D; int32.",
    "tw.top_k": "`(values, indices)`, `k` long along the axis; indices are int32.",
    "tw.unique_values np.union1d np.setdiff1d np.setxor1d": "1-D, in ascending order.",
    "np.intersect1d": (
        "1-D, in ascending order; with `return_indices` a tuple of three."
    ),
    "tw.unique_all": (
        "`(values, indices, inverse_indices, counts)`; all but `inverse_indices` are "
        "1-D."
    ),
    "tw.unique_counts": "`(values, counts)`, both 1-D.",
    "tw.unique_inverse": (
        "`(values, inverse_indices)`, the latter of the shape of the input."
    ),
    "np.unique": "the distinct values, 1-D; a tuple with what else is asked for.",
    "*.bincount": (
        "1-D, as long as the largest number and one; int32, or the dtype of the "
        "weights."
    ),
    "np.histogram": "`(counts, edges)`, one edge more than counts.",
    "np.histogram2d": "`(counts, x_edges, y_edges)`.",
    "np.histogramdd": "`(counts, edges)`, edges for each axis.",
    "np.histogram_bin_edges": "1-D, one edge more than bins; " + FLOATS,
    "tw.segment_softmax": "the weights, of the shape of `logits`.",
    "tw.sparse.COO.to_dense": "of the matrix's shape.",
    "tw.segment_mean": "`(num_segments, …)`.",
    "tw.segment_sum tw.segment_max tw.segment_min": (
        "`(num_segments, …)`; the dtype of `data`."
    ),
    "np.ravel_multi_index": "an integer, or a tensor of the broadcast shape.",
    "np.unravel_index": (
        "an index for each axis: integers, or tensors of the shape of `indices`."
    ),
    # Products and windows.
    "*.matmul": "`(..., m, n)`; 1-D operands lose their axis. The promoted dtype.",
    "np.matvec np.vecmat": "`(..., m)`; the promoted dtype.",
    "*.dot *.tensordot np.inner": (
        "the remaining axes of both operands, one after the other; the promoted dtype."
    ),
    "*.outer np.linalg.multi_dot": "`(m, n)`; the promoted dtype.",
    "*.vecdot": "the broadcast shape without the axis; the promoted dtype.",
    "*.einsum": "the axes that the letters name; the promoted dtype.",
    "np.vdot": "a 0-d tensor of the promoted dtype.",
    "np.kron": "each axis as long as the product of both; the promoted dtype.",
    "*.cross tw.linalg.cross": "the broadcast shape; the promoted dtype.",
    "np.convolve np.correlate": "1-D; the promoted dtype.",
    "np.cov np.corrcoef": "`(k, k)`; float32, or a wider float of the input.",
    "*.tril *.triu": "the shape of the input; zeros in the other triangle.",
    "np.diag": "a matrix of a vector, a vector of a matrix.",
    "np.diagflat": "`(n + |k|, n + |k|)`.",
    "*.diagonal tw.linalg.diagonal": "the other axes, then the diagonal; a view.",
    "*.trace tw.linalg.trace": (
        "the shape without both axes; sums of small integers are int32."
    ),
    "tw.avg_pool2d tw.max_pool2d": "`(n, c, h', w')`; the dtype of the input.",
    "*.conv1d tw.nn.conv1d tw.nn.conv_transpose1d": (
        "`(n, o, length')`; the promoted dtype."
    ),
    "*.conv2d tw.nn.conv2d tw.nn.conv_transpose2d": (
        "`(n, o, h', w')`; the promoted dtype."
    ),
    # Linear algebra and Fourier transforms.
    "tw.linalg.cholesky": "the triangle, `(..., n, n)`; " + FLOATS,
    "tw.linalg.det tw.linalg.matrix_norm tw.linalg.norm np.linalg.cond": (
        "`(...)`; " + FLOATS
    ),
    "tw.linalg.matrix_rank np.linalg.matrix_rank": "`(...)`; int32.",
    "tw.linalg.inv": "`(..., n, n)`; " + FLOATS,
    "tw.linalg.matrix_power np.linalg.matrix_power": (
        "`(..., n, n)`; the dtype of the input, floats for a negative power."
    ),
    "tw.linalg.pinv np.linalg.pinv": "`(..., n, m)`; " + FLOATS,
    "tw.linalg.eig": (
        "`(eigenvalues, eigenvectors)`, `(..., n)` and `(..., n, n)`; complex."
    ),
    "tw.linalg.eigh np.linalg.eigh": (
        "`(eigenvalues, eigenvectors)`, `(..., n)` and `(..., n, n)`; values are real."
    ),
    "tw.linalg.eigvals": "`(..., n)`; complex.",
    "tw.linalg.eigvalsh np.linalg.eigvalsh": "`(..., n)`; real.",
    "tw.linalg.qr": "`(Q, R)`; " + FLOATS,
    "np.linalg.qr": "`(Q, R)`, or `R` alone.",
    "tw.linalg.slogdet": "`(sign, logabsdet)`, both `(...)`.",
    "tw.linalg.solve": "the shape of the right side; " + FLOATS,
    "tw.linalg.svd": "`(U, S, Vh)`; S is real.",
    "np.linalg.svd": "`(U, S, Vh)`, or `S` alone.",
    "tw.linalg.svdvals": "`(..., k)`; real.",
    "tw.linalg.lstsq": "`(x, residuals, rank, singular values)`.",
    "np.linalg.tensorinv np.linalg.tensorsolve": (
        "the axes of the inverse, or of the solution."
    ),
    "tw.fft.fft tw.fft.ifft np.fft.fft np.fft.ifft": (
        "the shape of the input with `n` points; complex64, complex128 of 64-bit "
        "numbers."
    ),
    "tw.fft.fftn tw.fft.ifftn np.fft.fftn np.fft.ifftn np.fft.fft2 np.fft.ifft2": (
        "the shape of the input with `s` points; complex64, complex128 of 64-bit "
        "numbers."
    ),
    "tw.fft.rfft tw.fft.ihfft np.fft.rfft np.fft.ihfft": (
        "`n // 2 + 1` elements along the axis; complex64, complex128 of float64."
    ),
    "tw.fft.rfftn np.fft.rfftn np.fft.rfft2": (
        "half of the last axis; complex64, complex128 of float64."
    ),
    "tw.fft.irfft tw.fft.hfft np.fft.irfft np.fft.hfft": (
        "`n` elements along the axis; float32, float64 of complex128."
    ),
    "tw.fft.irfftn np.fft.irfftn np.fft.irfft2": (
        "`s` elements along the axes; float32, float64 of complex128."
    ),
    "tw.fft.fftfreq np.fft.fftfreq": "`(n,)`; float32 by default.",
    "tw.fft.rfftfreq np.fft.rfftfreq": "`(n // 2 + 1,)`; float32 by default.",
    "tw.fft.fftshift tw.fft.ifftshift np.fft.fftshift np.fft.ifftshift": (
        "the shape and dtype of the input, along the axes moved by half."
    ),
    # Random numbers.
    "tw.random": "the given shape and dtype.",
    "tw.random.bernoulli tw.random.Generator.bernoulli": "the given shape; bool.",
    "tw.random.permutation tw.random.Generator.permutation np.random.permutation": (
        "the shape and dtype of `x`; int32 for an integer."
    ),
    "tw.random.choice tw.random.Generator.choice np.random.choice": (
        "the given shape, then the slices of `a`; its dtype."
    ),
    "tw.random.Generator.categorical": (
        "the shape without the axis, or the given one; int32."
    ),
    "tw.random.Generator.split": "`(num, 2)`; uint32.",
    "np.random": (
        "the given shape, a number without one; float32, int32 for counts and integers."
    ),
    "np.random.dirichlet np.random.multinomial np.random.multivariate_normal": (
        "`(*size, k)`."
    ),
    # Derivatives and functions of functions.
    "tw.grad": (
        "a function of the same arguments that returns the gradient; with `has_aux` "
        "`(gradient, auxiliary)`."
    ),
    "tw.jacfwd tw.hessian": (
        "a function of the same arguments that returns, for each element of the "
        "result, the derivatives by each argument."
    ),
    "tw.jit": "a function of the same arguments; without `function` a decorator.",
    "tw.custom_jvp": "a function of the same arguments.",
    "tw.stop_gradient": "the same tree; its tensors are constants.",
    "tw.map": "the shape of the input; the dtype of the numbers returned.",
    "tw.zip_with": "the broadcast shape; the dtype of the numbers returned.",
    "np.apply_along_axis": "the other axes and those of the function's results.",
    "np.apply_over_axes": "the input with the axes reduced to length 1.",
    # Networks.
    "tw.nn": "the shape and dtype of the input.",
    "tw.nn.mse tw.nn.l1 tw.nn.huber tw.nn.smooth_l1 tw.nn.nll tw.nn.kl_div "
    "tw.nn.gaussian_nll tw.nn.poisson_nll tw.nn.binary_cross_entropy "
    "tw.nn.binary_cross_entropy_with_logits": (
        "a 0-d tensor; with `reduction='none'` one loss per example."
    ),
    "tw.nn.avg_pool1d tw.nn.adaptive_avg_pool1d": (
        "`(n, channels, length')`; the dtype of the input."
    ),
    "tw.nn.avg_pool2d tw.nn.adaptive_avg_pool2d": (
        "`(n, channels, h', w')`; the dtype of the input."
    ),
    "tw.nn.max_pool1d tw.nn.adaptive_max_pool1d": (
        "`(n, channels, length')`; with `return_indices` `(values, indices)`."
    ),
    "tw.nn.max_pool2d tw.nn.adaptive_max_pool2d": (
        "`(n, channels, h', w')`; with `return_indices` `(values, indices)`."
    ),
    "tw.nn.cosine_similarity": "the broadcast shape without the axis.",
    "tw.nn.linear tw.nn.bilinear": "`(..., out)`; the promoted dtype.",
    "tw.nn.embedding": "`(..., size)`; the dtype of the weight.",
    "tw.nn.glu": "the axis half as long; the dtype of the input.",
    "tw.nn.one_hot": "`(..., num_classes)`; the given dtype.",
    "tw.nn.init": "the tensor itself, filled.",
    "tw.nn.init.calculate_gain": "a factor.",
    "tw.nn.Linear.forward tw.nn.Bilinear.forward": "`(..., out_features)`.",
    "tw.nn.Embedding.forward": "`(..., embedding_dim)`.",
    "tw.nn.GRUCell.forward tw.nn.RNNCell.forward": "`(n, hidden_size)`.",
    "tw.nn.LSTMCell.forward": "`(state, memory)`, both `(n, hidden_size)`.",
    "tw.nn.LSTM.forward": (
        "`(states, (last states, last memories))`; states are `(steps, n, "
        "hidden_size)`, or `(n, steps, hidden_size)` with `batch_first`."
    ),
    "tw.nn.Unflatten.forward": "the axis replaced by the lengths.",
    "tw.nn.Module.forward": "the class's own.",
    "tw.nn.Sequential.forward": "what the last layer returns.",
    "tw.nn.Module.to tw.nn.Module.requires_grad_ tw.nn.Sequential.append": (
        "the module itself."
    ),
    "tw.nn.Module.state_dict tw.optim.Optimizer.state_dict": "tensors by name.",
    "tw.nn.Module.named_modules tw.nn.Module.named_children "
    "tw.nn.Module.named_parameters tw.nn.Module.named_buffers": "names and values.",
    "tw.optim.Optimizer.init tw.optim.Optimizer.load_state_dict tw.optim.State": (
        "the state."
    ),
    "tw.optim.Optimizer.update": "`(tree, state)` after the step.",
    "tw.optim.clip_by_global_norm tw.tree.map tw.tree.unflatten": (
        "a tree of the same structure."
    ),
    "tw.optim.constant tw.optim.cosine tw.optim.exponential tw.optim.linear "
    "tw.optim.multistep tw.optim.one_cycle tw.optim.step_decay "
    "tw.optim.warm_restarts tw.optim.warmup_cosine": (
        "a function from the step count to the rate."
    ),
    "tw.optim.MultiSteps.init tw.optim.multi_transform.init": "the state.",
    "tw.optim.MultiSteps.update tw.optim.multi_transform.update": (
        "`(params, state)` after the step."
    ),
    "tw.optim.masked": "an optimiser with `init` and `update`.",
    "tw.optim.incremental_update": "a tree of the same structure.",
    "tw.optim.optax.apply_updates": ("a tree of the same structure."),
    "tw.optim.optax.global_norm": "the norm, 0-d.",
    "tw.optim.optax.softmax_cross_entropy "
    "tw.optim.optax.softmax_cross_entropy_with_integer_labels "
    "tw.optim.optax.cosine_similarity": "the shape without the axis.",
    "tw.optim.optax.sigmoid_binary_cross_entropy tw.optim.optax.squared_error "
    "tw.optim.optax.l2_loss tw.optim.optax.huber_loss": TWO_OPERANDS["same"],
    "tw.optim.optax.smooth_labels": ONE_OPERAND["same"],
    "tw.optim.lr_scheduler.LRScheduler.get_last_lr": "the rates, floats.",
    "tw.optim.lr_scheduler.LRScheduler.state_dict": "numbers by name.",
    "tw.data.default_collate": "the batch.",
    "tw.data.random_split": "one subset for each length.",
    "x.split x.chunk": "the slices, which are views.",
    "x.masked_fill": "of the shape that both broadcast to.",
    # Shapes, trees, devices.
    "tw.shapes.align_shapes": "both padded shapes and the broadcast shape.",
    "tw.shapes.matmul_shape": "the batch shape, m, k and n.",
    "tw.shapes.is_integer": "whether the value is one.",
    "tw.tree.flatten": "`(leaves, structure)`.",
    "tw.tree.register": "the class itself.",
    "tw.realize": "the tensors, one without a tuple.",
    "tw.record_kernels": "the records, appended to as kernels run.",
    "tw.tune tw.tune_async": "names of the tiles by the problem.",
    "tw.default_device": "the name of the device.",
    "tw.open_device_async": "a description of the adapter.",
    "tw.explain": "the text, which `print` shows.",
    "tw.bar_chart": "the plot, which `print` shows.",
    "tw.__array_namespace_info__": (
        "an object with the functions of the Array API's inspection."
    ),
    "tw.finfo": "with `bits`, `eps`, `max`, `min`, `smallest_normal` and `dtype`.",
    "tw.iinfo": "with `bits`, `max`, `min` and `dtype`.",
    # NumPy's names.
    "np.load": "an array, a dict of arrays by name, or what `tw.load` returns.",
    "np.einsum_path": "the order of products, and a text about its cost.",
    "np.poly np.polyadd np.polysub np.polymul np.polyder np.polyint": (
        "coefficients, the highest power first; a `poly1d` if an argument is one."
    ),
    "np.polydiv": "`(quotient, remainder)`.",
    "np.polyfit": (
        "coefficients, the highest power first; with `full` or `cov` a tuple."
    ),
    "np.polyval": "the shape of `x`; a `poly1d` if `x` is one.",
    "np.roots": "1-D, the zeros; complex unless all are real.",
    "np.interp": "the shape of `x`; float32, float64 of 64-bit floats.",
    "np.packbits": "uint8, the axis an eighth as long.",
    "np.unpackbits": "uint8, the axis eight times as long.",
    "np.ndenumerate": "each index and its element.",
    "np.ndindex": "each index.",
    "np.get_printoptions np.printoptions np.geterr np.seterr": "the settings.",
    "np.show_config": "nothing, or version and device for `mode='dicts'`.",
    "np.random.Generator.spawn np.random.default_rng": "generators.",
    "np.ufunc.reduce": "the axis reduced.",
    "np.ufunc.accumulate": "the shape of the input.",
    "np.ufunc.reduceat": "the axis as long as `indices`.",
    "np.ufunc.outer": "the shape of the first operand, then that of the second.",
    # Methods of tensors.
    "x.clamp x.clone x.neg x.log_softmax x.softmax": ONE_OPERAND["same"],
    "x.cpu x.to x.type x.type_as x.bool x.double x.float x.half x.bfloat16 x.int "
    "x.long": ("the shape of the tensor; the dtype that is asked for."),
    "x.add_ x.sub_ x.mul_ x.div_ x.copy_ x.fill_ x.zero_ x.clamp_": "the tensor.",
    "x.eq x.ne x.lt x.le x.gt x.ge": TWO_OPERANDS["bool"],
    "x.div": TWO_OPERANDS["float"],
    "x.sub x.mul": TWO_OPERANDS["same"],
    "x.mm x.bmm x.mv": "`(..., m, k)` and `(..., k, n)` give `(..., m, n)`.",
    "x.movedim x.swapdims x.t": "the shape with its axes in another order.",
    "x.expand_as x.view_as x.reshape_as": "the shape of `other`.",
    "x.gather": "the shape of `index`.",
    "x.index_select": "the axis as long as `index`.",
    "x.narrow": "the axis as long as `length`.",
    "x.repeat_interleave": "the axis as long as all repetitions.",
    "x.unbind": "the shape without the axis.",
    "x.masked_select": "`(elements where the mask is True,)`.",
    "x.logsumexp x.norm": REDUCED + FLOATS,
    "x.topk": "the axis as long as `k`.",
    "x.item x.item_async": "a number of Python.",
    "x.tolist x.tolist_async": "nested lists of numbers of Python.",
    "x.as_integer_ratio": "`(numerator, denominator)`.",
    "x.numpy x.numpy_async x.to_device": "the shape and dtype of the tensor.",
}
"""By name."""

RESULT_TYPES: dict[str, str] = {
    "tw.grad tw.jacfwd tw.hessian tw.jit": "function",
    "np.divmod np.frexp np.modf": "pair of Tensors",
    "tw.record_kernels": "context manager of list of KernelRecords",
    "tw.trace": "Report, which is a context manager",
    "np.errstate np.printoptions": "context manager",
    "tw.stop_gradient tw.tree.map tw.tree.unflatten "
    "tw.optim.clip_by_global_norm": "tree",
    "tw.nn.max_pool1d tw.nn.max_pool2d tw.nn.adaptive_max_pool1d "
    "tw.nn.adaptive_max_pool2d np.linspace": "Tensor or pair of Tensors",
    "np.polyadd np.polysub np.polymul np.polyder np.polyint "
    "np.polyval": "Tensor or poly1d",
    "np.polyfit np.indices np.where np.ravel_multi_index np.linalg.qr "
    "np.linalg.svd": "Tensor or tuple of Tensors",
    "np.gradient np.atleast_1d np.atleast_2d "
    "np.atleast_3d": "Tensor or list of Tensors",
    "np.ufunc.outer": "Tensor",
    "x.item x.item_async": "number",
    "x.tolist x.tolist_async": "list or number",
    "x.numpy x.numpy_async": "NumPy array",
    "np.allclose tw.shapes.is_integer": "bool",
    "tw.nn.Module.to tw.nn.Module.requires_grad_": "module",
}
"""Types of results by name, where the annotation does not say them."""
