"""Other people's libraries on tensors: `python3 build.py consumers DEVICE`."""
