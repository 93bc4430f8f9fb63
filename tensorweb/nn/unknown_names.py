"""Names of PyTorch's `torch.nn`, and their equivalents in `tw.nn`."""

from __future__ import annotations

_LIST = "write a plain list or dict: modules look into both"
_BLOCKS = "write a Module of tw.nn.MultiheadAttention, LayerNorm and Linear"
_BORDERS = "write tw.pad(x, widths), or padding= and padding_mode= of the convolution"
_VOLUMES = "there are windows of one and two axes"
_MODE = "there is no mode; pass train=True, or key= to Dropout, with the call"

NAMES: dict[str, str] = {
    "Buffer": "write self.register_buffer(name, tensor)",
    "DataParallel": "there is one device",
    "ModuleDict": _LIST,
    "ModuleList": _LIST,
    "Parameter": (
        "write self.name = tensor: tensors of floats are parameters, those of "
        "register_buffer are not"
    ),
    "ParameterDict": _LIST,
    "ParameterList": _LIST,
    "AvgPool3d": _VOLUMES,
    "Conv3d": _VOLUMES,
    "ConvTranspose3d": _VOLUMES,
    "EmbeddingBag": "write tw.nn.Embedding(n, d)(i).mean(axis=-2)",
    "Fold": "write tw.fold",
    "MaxPool3d": _VOLUMES,
    "PixelShuffle": "write x.reshape(n, c, r, r, h, w) and permute its axes",
    "ReflectionPad1d": _BORDERS,
    "ReflectionPad2d": _BORDERS,
    "ReplicationPad1d": _BORDERS,
    "ReplicationPad2d": _BORDERS,
    "Softmax2d": "write tw.nn.Softmax(dim=-3)",
    "SyncBatchNorm": "BatchNorm",
    "Transformer": _BLOCKS,
    "TransformerDecoder": _BLOCKS,
    "TransformerDecoderLayer": _BLOCKS,
    "TransformerEncoder": _BLOCKS,
    "TransformerEncoderLayer": _BLOCKS,
    "TripletMarginLoss": "write relu(distance(a, p) - distance(a, n) + margin).mean()",
    "Unfold": "write tw.sliding_windows",
    "Upsample": "write x.repeat(2, axis=-1).repeat(2, axis=-2) for nearest neighbours",
    "ZeroPad1d": _BORDERS,
    "ZeroPad2d": _BORDERS,
    "cross_entropy_loss": "cross_entropy",
    "functional": "its functions are here: tw.nn.relu, tw.nn.cross_entropy",
    "gaussian_nll_loss": "gaussian_nll",
    "hard_sigmoid": "hardsigmoid",
    "hard_swish": "hardswish",
    "huber_loss": "huber",
    "gumbel_softmax": (
        "write tw.nn.softmax((logits + tw.random.gumbel(key, logits.shape)) / t)"
    ),
    "interpolate": "write x.repeat(2, axis=-1).repeat(2, axis=-2) for nearest ones",
    "l1_loss": "l1",
    "mse_loss": "mse",
    "nll_loss": "nll",
    "pad": "write tw.pad(x, widths)",
    "poisson_nll_loss": "poisson_nll",
    "scaled_dot_product_attention": "attention",
    "smooth_l1_loss": "smooth_l1",
    "swish": "silu",
    "train": _MODE,
    "utils": "gradients are clipped by tw.optim.clip_by_global_norm(grads, limit)",
}
"""By PyTorch's name; a value with a space is advice, any other is our name."""
