"""Build discrete Fourier transforms of pairs of real nodes; nothing here is complex."""
