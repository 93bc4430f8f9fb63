"""Builders that must look at values: how many, how large, which ones."""
