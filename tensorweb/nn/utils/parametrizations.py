"""PyTorch's names of computed weights.

>>> weight_norm(tw.nn.Linear(3, 2)).weight.shape
(2, 3)
"""

from tensorweb.nn.utils.parametrize import spectral_norm, weight_norm

__all__ = ["spectral_norm", "weight_norm"]
