"""Adapters with which other libraries accept tensors."""
