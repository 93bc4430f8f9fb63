"""What other libraries must be told so that they take tensors."""
