"""Backends run a graph on a device; `devices.Backend` is what each must do."""
