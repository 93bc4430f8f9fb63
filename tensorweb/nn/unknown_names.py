"""Names of PyTorch's `torch.nn` and what `tw.nn` calls the same thing."""

from __future__ import annotations

_LIST = "write a plain list or dict: modules look into both"
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
    "cross_entropy_loss": "cross_entropy",
    "functional": "its functions are here: tw.nn.relu, tw.nn.cross_entropy",
    "gaussian_nll_loss": "gaussian_nll",
    "hard_sigmoid": "hardsigmoid",
    "hard_swish": "hardswish",
    "huber_loss": "huber",
    "l1_loss": "l1",
    "mse_loss": "mse",
    "nll_loss": "nll",
    "poisson_nll_loss": "poisson_nll",
    "scaled_dot_product_attention": "attention",
    "smooth_l1_loss": "smooth_l1",
    "swish": "silu",
    "train": _MODE,
    "utils": "gradients are clipped by tw.optim.clip_by_global_norm(grads, limit)",
}
"""By PyTorch's name; a value with a space is advice, any other is our name."""
