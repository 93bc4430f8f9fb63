"""What NumPy keeps in `np.lib`: views of windows in `stride_tricks`.

>>> np.lib.stride_tricks.sliding_window_view([1, 2, 3], 2)
tensor([[1, 2],
        [2, 3]])
"""

from tensorweb.numpy.lib import stride_tricks

__all__ = ["stride_tricks"]
