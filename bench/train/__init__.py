"""Training steps of three small networks, in tensorweb, in PyTorch and in the peers."""
