"""Special functions of floats; `tensorweb.scipy.special` offers them."""
