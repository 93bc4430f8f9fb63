"""What parameters mean that several functions share, for the API reference.

A docstring's own `Args:` win. Without, the reference takes the meaning from the
narrowest scope that has the name: the entry itself, its class, its module, the library.
A scope is one full name or several, separated by spaces. `tw` stands for `tensorweb`,
`np` for `tensorweb.numpy`, `x` for `tensorweb.Tensor` and `*` for all of them.
"""

from __future__ import annotations

from tools.numpy_meanings import NUMPY_MEANINGS
from tools.training_meanings import TRAINING_MEANINGS

MEANINGS: dict[str, dict[str, str]] = {
    "*": {
        "x": "the input.",
        "x1": "the first operand.",
        "x2": "the second operand; both broadcast.",
        "a": "the input.",
        "b": "the second operand.",
        "arr": "the input.",
        "ary": "the input.",
        "array": "the input.",
        "arrays": "the inputs.",
        "other": "the second operand; both broadcast.",
        "axis": "the axis to work along; negative numbers count from the end.",
        "axis1": "one of the two axes.",
        "axis2": "the other axis.",
        "dim": "PyTorch's word for `axis`; give one of the two.",
        "keepdims": "whether reduced axes stay, with length 1.",
        "keepdim": "PyTorch's word for `keepdims`.",
        "dtype": "of the result; None chooses it from the inputs.",
        "device": "where the result lies; None for where the inputs lie, else the "
        "default device.",
        "copy": "whether to copy always (True), never (False, an error where that is "
        "impossible) or where it is necessary (None).",
        "shape": "lengths of the axes of the result; an int is one axis.",
        "correction": "subtracted from the count of values in the divisor; 1 for the "
        "variance of a sample.",
        "include_initial": "whether the result begins with the neutral element, 0 of "
        "sums and 1 of products.",
        "start": "the first number.",
        "stop": "the end of the interval.",
        "num": "count of numbers.",
        "endpoint": "whether `stop` is the last number.",
        "fill_value": "the value of every element.",
        "k": "the diagonal: 0 for the main one, above it positive, below it negative.",
        "n_rows": "count of rows.",
        "n_cols": "count of columns; None for as many as rows.",
        "descending": "whether the largest value comes first.",
        "stable": "whether equal values keep their order; they always do here.",
        "indices": "integers; negative ones count from the end.",
        "condition": "bools, or numbers of which 0 is false; it broadcasts.",
        "source": "axes to move.",
        "destination": "their new positions, in the same order.",
        "repeats": "how often: one count, or one for each element along the axis.",
        "shift": "by how many elements, towards higher indices; one count or one for "
        "each axis.",
        "decimals": "count of decimals; negative ones round to tens, hundreds and so "
        "on.",
        "side": "`left` to count the smaller values, `right` the equal ones too.",
        "sorter": "indices that sort the first operand, from `argsort`; None if it is "
        "sorted.",
        "invert": "whether to negate the result.",
        "minlength": "the least length of the result.",
        "weights": "of the elements, of the same shape; None for equal weights.",
        "min": "the lower limit, a number or array; None for no limit.",
        "max": "the upper limit, a number or array; None for no limit.",
        "prepend": "values joined to the front of the axis first.",
        "append": "values joined to the end of the axis first.",
        "indexing": "`xy`: the first coordinate runs along columns; `ij`: along rows.",
        "offset": "distance above the main diagonal; negative below it.",
        "out": "a tensor to write the result into, which is returned; None for a new "
        "one.",
        "where": "bools that broadcast to the input: which elements take part.",
        "initial": "the value that a reduction begins with; None for its neutral "
        "element.",
        "order": "accepted as in NumPy; elements lie in row-major order, so `F` is an "
        "error.",
        "casting": "which changes of dtype are allowed: `no`, `equiv`, `safe`, "
        "`same_kind` or `unsafe`.",
        "ddof": "NumPy's word for `correction`.",
        "from_": "a dtype or a tensor.",
        "to": "the dtype to reach.",
        "value": "the value to write.",
        "values": "the values to write; few are repeated.",
        "size": "size of the window, one number or one per axis.",
        "step": "distance between neighbouring windows, one number or one per axis.",
        "stride": "distance between neighbouring windows, one number or one per axis.",
        "dilation": "distance between the elements of a window, one number or one per "
        "axis.",
        "groups": "count of groups of channels, each convolved separately.",
        "operands": "the tensors.",
        "tensors": "the tensors.",
        "args": "positional arguments.",
        "kwargs": "named arguments.",
        "mean": "the mean, where it is already computed with `keepdims`.",
        "kind": "NumPy's word for the algorithm; sorting is always stable here.",
        "start_axis": "the first of the merged axes.",
        "end_axis": "the last of the merged axes.",
        "widths": "count of elements before and after: one number, one `(before, "
        "after)`, or one pair per axis.",
        "repetitions": "how often along each axis; one number is for the last axis.",
        "title": "shown above.",
        "mode": "what an index out of range does: `raise` is an error, `wrap` counts "
        "on from the other end, `clip` stays at the end.",
    },
    "tw": {
        "subscripts": "letters of the axes of each operand and of the result.",
        "log": "whether equal lengths are equal factors.",
        "mark": "labels of the bars that stand out.",
        "unit": "of the numbers, shown at the axis.",
        "forget": "whether to drop the stored choice and return to the table's tiles.",
        "families": "names of the kernels to compile, such as `matmul`; none for all.",
        "function": "the function to transform.",
        "primals": "the point, one tensor or tree for each argument.",
        "requires_grad": "whether `backward` computes a gradient for it.",
        "index": "one index per axis.",
        "position": "the index in row-major order.",
        "data": "the slices, along the first axis.",
        "segment_ids": "the segment of each slice: integers from 0.",
        "num_segments": "count of segments; None reads the largest id.",
        "largest": "whether the largest values are sought, else the smallest.",
        "shapes": "the shapes.",
        "obj": "numbers, nested lists, arrays, buffers or tensors.",
        "arrays_and_dtypes": "tensors, dtypes and Python numbers.",
        "allow": "False for an error instead, as at first.",
        "weight": "the filters; their shape is above.",
        "bias": "`(o,)`, added to each channel of the result; None for none.",
        "arguments": "the message.",
    },
    "tw.distributions": {
        "sample_shape": "shape of independent samples.",
        "batch_shape": "shape of the batch, to which the present one broadcasts.",
        "rng": "a generator, a key or a seed; None for the program's generator.",
        "value": "broadcasts with the batch and the event shape.",
        "loc": "the location: the mean.",
        "scale": "the scale, above 0.",
        "low": "the least value.",
        "high": "above every value.",
        "rate": "the inverse of the scale, above 0; of `Poisson` the mean.",
        "concentration": "the shape, above 0; of `Dirichlet` one for each share.",
        "concentration1": "the shape of x, above 0.",
        "concentration0": "the shape of 1 - x, above 0.",
        "df": "degrees of freedom, above 0.",
        "alpha": "the power of the tail, above 0.",
        "total_count": "the count of draws, or of failures.",
        "mixture_distribution": "the distribution of the components' numbers.",
        "component_distribution": "the components, along its last batch axis.",
        "transforms": "one or several, in the order in which they are applied.",
        "x": "arguments of the function.",
        "y": "values of the function.",
        "base_distribution": "a distribution with batch axes.",
        "reinterpreted_batch_ndims": "count of batch axes that belong to a sample.",
    },
    "tw.arange np.arange": {
        "start": "the first number; with one argument it is `stop` and 0 is the first.",
        "stop": "numbers are below it, or above it with a negative step.",
        "step": "the difference of neighbours.",
        "dtype": "of the result; None gives int32 of integers, float32 of floats.",
        "device": "where the result lies; None for the default device.",
    },
    "tw.zeros tw.ones tw.empty tw.eye np.zeros np.ones np.empty np.eye np.identity": {
        "dtype": "of the result; None for float32.",
        "device": "where the result lies; None for the default device.",
    },
    "tw.full np.full": {
        "dtype": "of the result; None for the dtype of the value.",
        "device": "where the result lies; None for the default device.",
    },
    "tw.linspace": {
        "dtype": "of the result; None for float32.",
        "device": "where the result lies; None for the default device.",
    },
    "tw.zeros_like tw.ones_like tw.empty_like tw.full_like": {
        "x": "the tensor whose shape, dtype and device the result has.",
        "dtype": "of the result; None for that of `x`.",
        "device": "where the result lies; None for where `x` lies.",
    },
    "tw.asarray tw.tensor": {
        "dtype": "of the result; None for bool, int32 or float32 by the numbers, and "
        "for arrays their own.",
    },
    "tw.from_dlpack": {
        "x": "an object with `__dlpack__`.",
        "copy": "False is an error, since the values are always copied.",
    },
    "tw.astype x.astype np.astype": {
        "dtype": "of the result.",
        "copy": "False lets the result share the storage if the dtype is the same.",
    },
    "tw.sum tw.prod x.sum x.prod": {
        "dtype": "of the result and of the sum; None for that of `x`, int32 or uint32 "
        "for bool and small integers.",
    },
    "tw.all tw.any tw.count_nonzero tw.max tw.min tw.mean tw.prod tw.std tw.sum tw.var "
    "x.all x.any x.count_nonzero x.max x.min x.mean x.prod x.std x.sum x.var np.all "
    "np.any np.amax np.amin np.mean np.std np.sum np.prod np.var np.count_nonzero "
    "np.nanmax np.nanmin np.nanmean np.nansum np.nanprod np.nanstd np.nanvar np.median "
    "np.nanmedian np.average np.quantile np.percentile np.nanquantile "
    "np.nanpercentile np.ptp x.ptp": {
        "axis": "the axis or axes to reduce; None for all.",
    },
    "tw.argmax tw.argmin x.argmax x.argmin np.argmax np.argmin np.nanargmax "
    "np.nanargmin": {
        "axis": "the axis to search; None for all elements in row-major order.",
    },
    "tw.expand_dims x.expand_dims np.expand_dims x.unsqueeze tw.stack np.stack": {
        "axis": "where the new axis stands in the result; `expand_dims` takes several.",
    },
    "tw.squeeze x.squeeze": {"axis": "axes of length 1 to remove; None for all."},
    "tw.flip x.flip np.flip": {"axis": "axes to reverse; None for all."},
    "tw.roll x.roll np.roll": {
        "axis": "axes to move along; None for the elements in row-major order.",
    },
    "tw.repeat x.repeat np.repeat tw.take x.take np.take x.compress np.compress": {
        "axis": "the axis; None for the elements in row-major order.",
    },
    "tw.concat np.concat np.append": {
        "arrays": "the tensors, equally long along other axes.",
        "axis": "the axis to join along; None flattens them first.",
        "values": "joined to its end.",
    },
    "tw.stack np.stack": {"arrays": "tensors of one shape."},
    "tw.unstack x.unstack": {"axis": "the axis whose slices are returned."},
    "tw.cumulative_sum tw.cumulative_prod x.cumulative_sum x.cumulative_prod "
    "np.cumulative_sum np.cumulative_prod": {
        "axis": "the axis; None for the only axis.",
    },
    "x.cumsum x.cumprod np.cumsum np.cumprod np.nancumsum np.nancumprod": {
        "axis": "the axis; None for the elements in row-major order.",
    },
    "tw.diff x.diff np.diff": {"n": "how often differences are taken."},
    "tw.top_k": {"k": "count of values."},
    "tw.broadcast_to x.broadcast_to np.broadcast_to": {
        "shape": "the shape to broadcast to.",
    },
    "tw.reshape x.reshape np.reshape x.view": {
        "shape": "the new shape, of as many elements; one length may be -1.",
        "dtype": "an error unless it is the tensor's own, as bits are not read anew.",
    },
    "tw.permute_dims x.permute_dims x.permute np.permute_dims": {
        "axes": "the old axis at each new position.",
    },
    "tw.tensordot x.tensordot np.tensordot": {
        "axes": "a count of axes, the last of the first operand and the first of the "
        "second; or two lists of axes.",
        "other": "the second operand.",
        "x2": "the second operand.",
    },
    "tw.dot tw.matmul tw.outer tw.vecdot np.matmul np.matvec np.vecmat "
    "np.vecdot np.linalg.multi_dot x.matmul x.outer x.vecdot": {
        "x1": "the first operand.",
        "x2": "the second operand.",
        "other": "the second operand.",
        "arrays": "the matrices, in the order of the product.",
        "axis": "the axis whose products are summed.",
        "axes": "for each operand and the result, the axes of its matrix or vector.",
        "keepdims": "whether the summed axis stays, with length 1.",
    },
    "tw.searchsorted": {
        "x1": "sorted values, 1-D.",
        "x2": "the values to find, of any shape.",
    },
    "tw.isin": {"x1": "the elements to test.", "x2": "the elements to look for."},
    "tw.where": {
        "x1": "the values where the condition holds.",
        "x2": "the values elsewhere.",
    },
    "tw.clip": {"x": "the values to limit."},
    "tw.bincount np.bincount": {"x": "integers from 0, 1-D."},
    "tw.meshgrid np.meshgrid": {
        "arrays": "the coordinates along each axis, 1-D.",
        "xi": "the coordinates along each axis, 1-D.",
        "copy": "accepted as in NumPy; the grids are views, which writes do not share.",
        "sparse": "whether each array has length 1 along the axes of the others.",
    },
    "tw.broadcast_arrays np.broadcast_arrays": {
        "arrays": "tensors that broadcast.",
        "args": "arrays that broadcast.",
    },
    "tw.pad x.pad": {
        "value": "of the padding.",
        "mode": "`constant`, or one of NumPy's other modes: `edge`, `reflect`, "
        "`symmetric`, `wrap` and so on.",
        "options": "of the mode, as in NumPy.",
    },
    "tw.fold tw.map tw.zip_with": {
        "function": "takes Python numbers, returns one; it is called for each element.",
        "initial": "the first value.",
        "axis": "the axis that is folded.",
        "dtype": "of the result; None for that of the numbers returned.",
    },
    "tw.sliding_windows x.sliding_windows": {
        "axis": "the axes that the windows slide along; as many as sizes.",
    },
    "tw.conv1d tw.conv2d tw.nn.conv1d tw.nn.conv2d tw.nn.conv3d": {
        "padding": "zeros around the input: a width, one per axis, `same` or `valid`.",
    },
    "tw.avg_pool2d tw.max_pool2d": {
        "stride": "distance between neighbouring windows; None for `size`.",
        "padding": "width of the border, one number or one per axis.",
    },
    "tw.device tw.open_device_async tw.set_default_device": {
        "name": "of the device, `cpu` or `webgpu`.",
        "device": "name of the device, `cpu` or `webgpu`.",
    },
    "tw.plot": {
        "y": "a list, an array, a tensor, or a mapping from names of series to them.",
        "x": "positions along the horizontal axis; None counts from 0.",
        "kind": "`lines`, `points`, `histogram` or `image`.",
    },
    "tw.show": {"x": "the object to display.", "name": "shown above it."},
    "tw.bar_chart": {"values": "a number for each label."},
    "tw.finfo tw.iinfo tw.isdtype": {
        "dtype": "a dtype, its name, or a tensor.",
        "kind": "a dtype, a name of kinds as above, or a tuple of them.",
    },
    "tw.stop_gradient": {"value": "a tensor, or a tree of tensors."},
    "tw.Kernel.wgsl": {"inputs": "the tensors, as for a call."},
    "tw.DType": {"new_order": "`=`, `|`, `S` or the machine's own order."},
    # Functions of networks, and layers.
    "tw.nn.GroupNorm tw.nn.adaptive_avg_pool1d "
    "tw.nn.adaptive_avg_pool2d tw.nn.adaptive_max_pool1d tw.nn.adaptive_max_pool2d "
    "tw.nn.conv1d tw.nn.conv2d tw.nn.conv_transpose1d tw.nn.conv_transpose2d "
    "tw.nn.dropout1d tw.nn.dropout2d tw.nn.group_norm": {
        "x": "floats; the first axis is the batch.",
    },
    "tw.nn": {
        "x": "floats of any shape.",
        "rng": "a generator, a key or a seed; None for the program's generator.",
        "key": "of `tw.random`; without one nothing is dropped.",
        "eps": "added to the divisor against division by 0.",
        "inplace": "accepted as in PyTorch; the result is a new tensor.",
        "input": "the predictions.",
        "target": "the true values, of the same shape.",
        "reduction": "`mean`, `sum` or `none` for the losses of all examples.",
        "output_size": "lengths of the result.",
        "return_indices": "whether to return `(values, indices)`.",
        "alpha": "the limit for very negative numbers is `-alpha`.",
        "threshold": "`beta x` beyond which the result is `x`.",
        "delta": "the difference from which on the loss is linear.",
        "negative_slope": "the factor of negative numbers.",
        "min_val": "the lower limit.",
        "max_val": "the upper limit.",
        "approximate": "`none` or `tanh`.",
        "start_dim": "the first of the merged axes.",
        "end_dim": "the last of the merged axes.",
        "normalized_shape": "lengths of the last axes, which are normalised together.",
        "num_groups": "count of groups, which divides the channels.",
        "h": "the state before, `(n, hidden_size)`; zeros for None.",
        "hx": "state and memory before; zeros for None.",
        "prefix": "put in front of each name.",
        "labels": "integers from 0.",
        "num_classes": "count of classes; -1 reads the largest label.",
        "x1": "the first operand.",
        "x2": "the second operand.",
    },
    "tw.nn.softplus": {"beta": "how sharp the bend at 0 is."},
    "tw.nn.CircularPad1d tw.nn.CircularPad2d tw.nn.CircularPad3d "
    "tw.nn.ConstantPad1d tw.nn.ConstantPad2d tw.nn.ConstantPad3d "
    "tw.nn.ReflectionPad1d tw.nn.ReflectionPad2d tw.nn.ReflectionPad3d "
    "tw.nn.ReplicationPad1d tw.nn.ReplicationPad2d tw.nn.ReplicationPad3d "
    "tw.nn.ZeroPad1d tw.nn.ZeroPad2d tw.nn.ZeroPad3d": {
        "padding": "width of the border, or two for each axis, beginning with the "
        "last: `(left, right, top, bottom)`.",
        "value": "of the border.",
    },
    "tw.nn.HingeEmbeddingLoss tw.nn.hinge_embedding_loss": {
        "margin": "the distance from which on different pairs do not count.",
    },
    "tw.nn.MarginRankingLoss tw.nn.margin_ranking_loss": {
        "input1": "the first scores.",
        "input2": "the second scores, of the same shape.",
        "target": "1 where the first is to be larger, -1 where the second is.",
        "margin": "by how much it is to be larger.",
    },
    "tw.nn.TripletMarginLoss tw.nn.triplet_margin_loss": {
        "anchor": "vectors `(..., size)`.",
        "positive": "vectors that are to be near, of the same shape.",
        "negative": "vectors that are to be far, of the same shape.",
        "margin": "by how much they are to be farther.",
        "p": "the power of the norm.",
        "eps": "added to differences.",
        "swap": "whether the distance of positive and negative counts if smaller.",
    },
    "tw.nn.PairwiseDistance tw.nn.pairwise_distance": {
        "p": "the power of the norm.",
        "eps": "added to differences.",
    },
    "tw.nn.PixelShuffle tw.nn.pixel_shuffle": {
        "upscale_factor": "what height and width are multiplied by.",
    },
    "tw.nn.PixelUnshuffle tw.nn.pixel_unshuffle": {
        "downscale_factor": "what height and width are divided by.",
    },
    "tw.nn.smooth_l1": {"beta": "the difference from which on the loss is linear."},
    "tw.nn.linear": {"weight": "`(out, in)`.", "bias": "`(out,)`, or None."},
    "tw.nn.bilinear": {"weight": "`(out, in1, in2)`.", "bias": "`(out,)`, or None."},
    "tw.nn.conv1d": {"weight": "`(o, c / groups, size)`.", "bias": "`(o,)`, or None."},
    "tw.nn.conv2d": {
        "weight": "`(o, c / groups, kh, kw)`.",
        "bias": "`(o,)`, or None.",
    },
    "tw.nn.conv_transpose1d tw.nn.conv_transpose2d": {
        "weight": "the filters; their shape is above.",
        "bias": "`(out,)`, or None.",
    },
    "tw.nn.layer_norm tw.nn.rms_norm": {
        "weight": "`normalized_shape`, a factor; None for none.",
        "bias": "`normalized_shape`, added; None for none.",
    },
    "tw.nn.group_norm": {
        "weight": "`(channels,)`, a factor; None for none.",
        "bias": "`(channels,)`, added; None for none.",
    },
    "tw.nn.rms_norm": {
        "eps": "added to the mean of the squares; None for that of the dtype.",
    },
    "tw.nn.normalize": {"p": "the power of the norm."},
    "tw.nn.one_hot": {"dtype": "of the result."},
    "tw.nn.adaptive_avg_pool2d tw.nn.adaptive_max_pool2d tw.nn.AdaptiveAvgPool2d "
    "tw.nn.AdaptiveMaxPool2d tw.nn.adaptive_avg_pool3d tw.nn.adaptive_max_pool3d "
    "tw.nn.AdaptiveAvgPool3d tw.nn.AdaptiveMaxPool3d": {
        "output_size": "`(h', w')`; one number is for both, None keeps a length.",
    },
    "tw.nn.Softmax tw.nn.LogSoftmax tw.nn.GLU": {
        "dim": "the axis to work along; negative numbers count from the end.",
    },
    "tw.nn.Identity": {"args": "ignored.", "kwargs": "ignored."},
    "tw.nn.Identity.forward": {"x": "any tensor."},
    "tw.nn.Bilinear.forward": {
        "x1": "`(..., in1_features)`.",
        "x2": "`(..., in2_features)`.",
    },
    "tw.nn.Embedding.forward": {"indices": "integers from 0 to num_embeddings - 1."},
    "tw.nn.Linear.forward": {"x": "`(..., in_features)`."},
    "tw.nn.GRUCell.forward tw.nn.RNNCell.forward tw.nn.LSTMCell.forward": {
        "x": "one step's input, `(n, input_size)`.",
    },
    "tw.nn.LSTM.forward": {
        "x": "`(steps, n, input_size)`, or `(n, steps, input_size)` with "
        "`batch_first`.",
    },
    "tw.nn.Module": {
        "hook": "the function to call.",
        "with_kwargs": "whether it receives the keywords of the call.",
        "param": "a tensor, or None.",
        "module": "a module, or None.",
        "fn": "a function of one module.",
        "set_to_none": "False for gradients of 0.",
        "args": "the class's own.",
        "kwargs": "the class's own.",
        "name": "the attribute's name.",
        "tensor": "the tensor, or None.",
        "persistent": "whether `state_dict` has it.",
        "requires_grad": "False for constants.",
        "device": "the device to move to; None for where it is.",
        "dtype": "the dtype of its floats; None for what they are.",
    },
    "tw.nn.Sequential": {
        "module": "the layer.",
        "name": "of the layer.",
        "layers": "modules or functions, or one dict of them by name.",
        "layer": "a module, or a function of one tensor.",
        "x": "what the first layer takes.",
        "key": "of `tw.random`, split among the layers that take one.",
        "train": "passed to the layers that take it; None passes nothing.",
    },
    "tw.zeros tw.ones tw.empty": {
        "more": "further lengths, or the dtype.",
    },
    "tw.nonzero x.nonzero": {
        "as_tuple": "False for one tensor `(count, axes)`.",
    },
    "tw.nn.LazyBatchNorm1d tw.nn.LazyBatchNorm2d tw.nn.LazyConv1d tw.nn.LazyConv2d "
    "tw.nn.LazyConvTranspose2d tw.nn.LazyLinear": {
        "settings": "arguments of the layer behind the count of input features.",
        "options": "its arguments by name.",
    },
    "tw.nn.summary": {
        "model": "a module.",
        "inputs": "the arguments of the call.",
    },
    "tw.nn.utils": {
        "parameters": "tensors.",
        "vec": "`(elements of all parameters,)`.",
        "sequences": "tensors whose axes but the first have equal lengths.",
        "batch_first": "whether the batch is axis 0 of the result, else axis 1.",
        "padding_value": "the value behind the end of short sequences.",
    },
    "x.add x.sub x.add_ x.sub_": {"alpha": "a factor of `other`."},
    "x.div x.div_": {"rounding_mode": "`floor`, `trunc`, or None for the quotient."},
    "x.to x.copy_": {
        "target": "device, dtype, or a tensor that has both.",
        "non_blocking": "accepted as in PyTorch, without effect.",
    },
    "x.masked_select": {"mask": "bools of the tensor's shape."},
    "x.narrow": {"length": "count of slices."},
    "x.norm": {"p": "the power, `fro` for 2."},
    "x.topk": {"largest": "False for the smallest values."},
    "tw.nn.init": {
        "tensor": "the tensor to write into.",
        "val": "the number.",
        "mean": "of the distribution.",
        "std": "standard deviation of the distribution.",
        "a": "the lower end.",
        "b": "the upper end.",
        "gain": "a factor; `calculate_gain` recommends one for each activation.",
        "nonlinearity": "name of the activation that follows, `relu` for example.",
        "param": "`negative_slope` of `leaky_relu`; None for its default.",
        "mode": "`fan_in` keeps the variance of results, `fan_out` that of gradients.",
    },
    "tw.nn.init.kaiming_normal tw.nn.init.kaiming_uniform": {
        "a": "`negative_slope` of `leaky_relu`.",
    },
    **TRAINING_MEANINGS,
    # Modules of the library.
    "tw.random": {
        "key": "uint32 of shape (2,).",
        "a": "the shape, above 0.",
        "b": "the second shape, above 0.",
        "alpha": "positive weights, `(..., k)`.",
        "df": "degrees of freedom, above 0.",
        "lam": "the mean, from 0.",
        "n": "the count of trials, or of rows.",
        "p": "the probability of a success, or of each category.",
        "m": "the count of columns; None for `n`.",
        "d": "the count of dimensions.",
        "shape": "of the result, to which parameters broadcast; None for theirs.",
    },
    "tw.random.ball": {"p": "the power of the norm."},
    "tw.scipy.special": {
        "x": "real numbers; all operands broadcast.",
        "y": "the second operand; both broadcast.",
        "a": "the first shape, above 0; all operands broadcast.",
        "b": "the second shape, above 0.",
        "p": "probabilities.",
        "q": "the first base, above 0.",
        "n": "the order or count, a natural number.",
        "N": "the count to choose from.",
        "k": "the count that is chosen; both broadcast.",
    },
    "tw.linalg.norm": {
        "x": "vectors or matrices.",
        "ord": "the order; None for the root of the sum of squares.",
        "axis": "one axis of vectors, or two of matrices; None for all.",
    },
    "tw.linalg.lstsq": {
        "a": "the matrix, `(m, n)`.",
        "b": "right-hand sides, `(m,)` or `(m, k)`.",
        "rcond": "the fraction of the largest singular value below which others count "
        "as 0.",
    },
    "tw.linalg": {
        "x": "the matrices, `(..., m, n)`; those before are a batch.",
        "n": "the exponent, which may be negative.",
        "dtype": "of the result; None for that of `x`, int32 of small integers.",
    },
    "tw.linalg.det tw.linalg.eig tw.linalg.eigh tw.linalg.eigvals tw.linalg.eigvalsh "
    "tw.linalg.inv tw.linalg.matrix_power tw.linalg.slogdet": {
        "x": "the square matrices, `(..., n, n)`.",
    },
    "tw.linalg.cross": {
        "x1": "the first vectors, 3 elements along the axis.",
        "x2": "the second vectors.",
        "axis": "the axis of the vectors.",
    },
    "tw.shapes": {
        "a": "the first shape.",
        "b": "the second shape.",
        "shape": "lengths of the axes.",
        "new": "the shape to reach; one length may be -1.",
        "value": "any object.",
        "axes": "axes; negative ones count from the end.",
        "axis": "the axis; negative ones count from the end.",
        "ndim": "count of axes.",
        "name": "the argument's name, for the error.",
    },
    "tw.next_position tw.ravel_index tw.unravel_index": {
        "shape": "lengths of the axes.",
    },
    "tw.tree": {
        "tree": "a tensor, or nested containers of them.",
        "others": "further trees of the same structure.",
        "function": "takes one leaf of each tree.",
        "kind": "the class.",
        "structure": "as `flatten` returns it.",
        "leaves": "as many leaves as the structure has.",
    },
    **NUMPY_MEANINGS,
}
"""By scope, then by parameter."""

LIKE: dict[str, str] = {
    "tw.nn.avg_pool2d": "tw.nn.avg_pool1d tw.nn.avg_pool3d",
    "tw.nn.max_pool2d": "tw.nn.max_pool1d tw.nn.max_pool3d",
    "tw.nn.ConvTranspose2d": "tw.nn.conv_transpose1d tw.nn.conv_transpose2d "
    "tw.nn.conv_transpose3d",
    "tw.nn.cross_entropy": "tw.nn.nll",
    "tw.nn.dropout": "tw.nn.dropout1d tw.nn.dropout2d tw.nn.dropout3d",
    "tw.nn.fold": "tw.nn.Fold tw.nn.Unfold",
    "tw.nn.TransformerDecoderLayer.forward": "tw.nn.TransformerDecoder.forward",
    "tw.nn.GRU": "tw.nn.GRUCell tw.nn.LSTMCell tw.nn.RNNCell",
    "tw.value_and_grad": "tw.grad",
    "tw.jacrev": "tw.jacfwd tw.hessian",
    "tw.fft.fft": "tw.fft.ifft np.fft.ifft",
    "tw.fft.fftfreq": "tw.fft.rfftfreq np.fft.rfftfreq",
    "tw.fft.fftn": "tw.fft.ifftn np.fft.ifftn np.fft.fft2 np.fft.ifft2 np.fft.rfft2",
    "tw.fft.irfftn": "np.fft.irfft2",
    "tw.linalg.svd": "np.linalg.svd",
    "tw.linalg.qr": "np.linalg.qr",
    "tw.linalg.diagonal": "tw.linalg.trace",
    "tw.kernel": "tw.Kernel",
    "np.quantile": "np.percentile np.nanquantile np.nanpercentile",
}
"""Entries that take the arguments of another one, by that one."""

TYPES = {
    "ArrayLike": "array_like",
    "DTypeLike": "dtype",
    "Any": "object",
    "object": "object",
    "Axis": "int or tuple of ints",
    "Axes": "int or tuple of ints",
    "PerAxis": "int or tuple of ints",
    "Lengths": "int or tuple of ints",
    "Size": "int or tuple of ints",
    "Length": "int",
    "Hook": "function",
    "GradientHook": "object with `remove()`",
    "HookHandle": "object with `remove()`",
    "M": "Module",
    "_Module": "Module",
    "Sections": "int or list of ints",
    "Padding": "int, tuple of ints or str",
    "Border": "int, tuple of ints or str",
    "Widths": "int or list of pairs",
    "ContractedAxes": "int or two lists of ints",
    "OperandAxes": "list of axes",
    "Shape": "tuple of ints",
    "LengthsRule": "int, tuple of ints or callable",
    "Path": "path",
    "SupportsIndex": "int",
    "SupportsFloat": "float",
    "NumberLike": "number",
    "Number": "number",
    "Rate": "float or callable",
    "Schedule": "callable",
    "Out": "Tensor",
    "TensorBase": "Tensor",
    "Rng": "Generator, Tensor or int",
    "init.Rng": "Generator, Tensor or int",
    "File": "path or file",
    "Norm": "str",
    "MatrixOrder": "float or str",
    "Kind": "str",
    "Argnums": "int or tuple of ints",
    "Bounds": "pair of floats",
    "Converters": "callable or dict of callables",
    "Columns": "int or list of ints",
    "Callable": "callable",
    "Callable[..., Any]": "callable",
    "Layer": "callable",
    "Reduction": "callable",
    "Hashable": "object",
    "T": "object",
    "Node": "object",
    "Clash": "object",
    "ArrayNamespaceInfo": "object",
    "FloatInfo": "object",
    "IntegerInfo": "object",
    "EigResult": "named tuple",
    "EighResult": "named tuple",
    "QRResult": "named tuple",
    "LstsqResult": "named tuple",
    "SVDResult": "named tuple",
    "SlogdetResult": "named tuple",
    "ValuesAndIndices": "named tuple",
    "UniqueAllResult": "named tuple",
    "UniqueCountsResult": "named tuple",
    "UniqueInverseResult": "named tuple",
    "Self": "object",
    "K": "type",
    "R": "object",
}
"""What names in annotations are called."""

PARAMETER_TYPES = {
    "device": "str",
    "out": "Tensor",
    "params": "tree of Tensors",
    "tree": "tree of Tensors",
    "grads": "tree of Tensors",
    "dtype": "dtype",
}
"""What parameters are whose annotation says nothing, by name."""

PARAMETER_ERRORS = {"axis": ("AxisError", "the axis does not exist.")}
"""Errors by parameter, for entries that do not state them."""
