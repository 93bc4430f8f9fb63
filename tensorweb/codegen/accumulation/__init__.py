"""Values added up at positions, the same way every time."""
