"""Matrix products: tiles, loading of operands, convolution windows and padding."""
