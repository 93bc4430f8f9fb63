"""Saving: trees of tensors as files that other libraries read, and back."""
