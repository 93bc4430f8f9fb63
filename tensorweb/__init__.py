"""tensorweb: tensors on your own GPU, in the browser and in ordinary Python."""

from tensorweb.creation import asarray
from tensorweb.tensor import Tensor
